#!/usr/bin/env python3
"""Measure the explorer in headless Chromium, and print a table of its budgets.

Usage: python scripts/explorer_budgets.py [--pyodide DIR] [--times N]    DIR: node_modules/pyodide, for the static site

First paint is taken from the browser's own paint entries, and when all is shown from the page's clock; a click and a
change of tile from the input event until the answer is on the page, by the page's own clock; the site's size is the sum
of its files, each compressed by gzip. Another program that works at the same time makes all of them longer.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "judge"), str(ROOT / "scripts" / "lib")]

import browsers  # noqa: E402
from acts import click, open_drawers, settled  # noqa: E402
from ended import end  # noqa: E402

from descriptors.show.explorer.answer import answer  # noqa: E402
from descriptors.show.explorer.page import page  # noqa: E402
from descriptors.show.explorer.server import Server, write_site  # noqa: E402
from descriptors.text import aligned  # noqa: E402

PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"
#: What is measured, and how much it may be, in milliseconds or megabytes.
BUDGETS = {
    "first paint": 300,
    "all shown": 500,
    "click": 100,
    "tile to words": 100,
    "tile to picture": 200,
    "size": 8,
    "ready": 10_000,
}


def clock(opened: Any, name: str) -> float:
    """A time that the page took for its last answer."""
    return float(opened.get_attribute("html", f"data-{name}"))


def measured(opened: Any, times: int) -> dict[str, list[float]]:
    """Clicks and changes of the tile, on a page whose engine runs."""
    grid = answer({"want": ["stage"]})["stage"]["grids"][0]
    open_drawers(opened)
    times_by_name: dict[str, list[float]] = {"click": [], "tile to words": [], "tile to picture": []}
    for number in range(times):
        settled(opened, lambda n=number: click(opened, grid, 8 * n % 128, 24 * n % 128))  # type: ignore[misc]
        times_by_name["click"].append(clock(opened, "drawn"))
    for number in range(times):
        tile = f"128x{(64, 192, 128, 256)[number % 4]}"
        settled(opened, lambda t=tile: opened.fill("#controls [name=tile]", t))  # type: ignore[misc]
        times_by_name["tile to words"].append(clock(opened, "told"))
        times_by_name["tile to picture"].append(clock(opened, "drawn"))
    return times_by_name


def rows(kind: str, times_by_name: dict[str, list[float]]) -> list[tuple[str, ...]]:
    """Lines of the table."""
    table = []
    for name, values in times_by_name.items():
        unit, budget = "MB" if name == "size" else "ms", BUDGETS[name]
        verdict = "within" if median(values) <= budget else "OVER"
        numbers = [f"{value:.2f}" if unit == "MB" else f"{value:.0f}" for value in (median(values), max(values))]
        table.append((kind, name, *numbers, f"{budget} {unit}", verdict))
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pyodide", type=Path, help="node_modules/pyodide")
    parser.add_argument("--times", type=int, default=8)
    options = parser.parse_args()
    table: list[tuple[str, ...]] = [("where", "what", "median", "most", "budget", "")]
    with TemporaryDirectory() as folder, browsers.browser() as chromium:
        table += frozen(chromium, Path(folder), options.times)
        table += served(chromium, options.times)
        if options.pyodide is not None:
            table += static(chromium, Path(folder) / "site", options.pyodide, options.times)
    print("\n".join(aligned(table, "<<>>><")))
    return 0 if all(row[-1] != "OVER" for row in table) else 1


def paints(chromium: Any, url: str, times: int) -> dict[str, list[float]]:
    """When fresh pages are first painted, and when all is shown."""
    samples_by_name: dict[str, list[float]] = {"first paint": [], "all shown": []}
    for _ in range(times):
        context = chromium.new_context(viewport={"width": 1400, "height": 1000})
        opened = context.new_page()
        opened.goto(url)
        opened.wait_for_selector("html[data-painted]", state="attached")
        opened.wait_for_timeout(300)
        samples_by_name["first paint"].append(float(opened.evaluate(PAINT)))
        samples_by_name["all shown"].append(clock(opened, "painted"))
        context.close()
    return samples_by_name


def frozen(chromium: Any, folder: Path, times: int) -> list[tuple[str, ...]]:
    """A page from disk."""
    target = folder / "page.html"
    target.write_text(page({}), encoding="utf-8")
    return rows("file", paints(chromium, target.as_uri(), times))


def served(chromium: Any, times: int) -> list[tuple[str, ...]]:
    """The local server."""
    server = Server({})
    Thread(target=server.serve_forever, daemon=True).start()
    opened = chromium.new_page()
    opened.goto(server.url)
    samples_by_name = {**paints(chromium, server.url, times), **measured(opened, times)}
    server.shutdown()
    return rows("server", samples_by_name)


def static(chromium: Any, folder: Path, pyodide: Path, times: int) -> list[tuple[str, ...]]:
    """The static site with Pyodide, each time with a cold cache."""
    write_site(folder, pyodide)
    size = sum(len(gzip.compress(one.read_bytes())) for one in folder.rglob("*") if one.is_file()) / 1e6
    ready = []
    with browsers.served(folder) as url:
        for number in range(3):
            context = chromium.new_context(viewport={"width": 1400, "height": 1000})
            opened = context.new_page()
            opened.goto(url)
            opened.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
            ready.append(clock(opened, "ready"))
            samples_by_name = measured(opened, times) if number == 2 else {}
            context.close()
        samples_by_name = {**paints(chromium, url, times), "ready": ready, "size": [size], **samples_by_name}
    return rows("site", samples_by_name)


if __name__ == "__main__":
    end(main)
