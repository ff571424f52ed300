"""The static site: written whole, and run in a browser that finds no name but the loopback address."""

from __future__ import annotations

import json
import re
import zlib
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import browsers
import pytest
from acts import click, open_drawers, put, settled, text
from refusals import refuses

from descriptors.cli import main
from descriptors.show.browser.folder import PYODIDE
from descriptors.show.explorer.answer import answer
from descriptors.show.explorer.page import PRESETS, about_page
from descriptors.show.explorer.page import page as page_of


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--site", "x"], "--site and --pyodide need each other"),
        (["--pyodide", "x"], "--site and --pyodide need each other"),
        (["--site", "x", "--pyodide", "nowhere"], "--pyodide is nowhere, which has no pyodide.mjs"),
        (["--html", "x/y/z.html"], "--html cannot write x/y/z.html"),
        (["--html", "x.html", "--site", "x"], "--html and --site cannot be combined"),
        (["--html", "x.html", "--tile", "7x7"], "tile MN is 7, which is not a multiple"),
        (["--html", "x.html", "--cell", "7"], "cell is [7], which is not two numbers"),
    ],
)
def test_what_cannot_be_written_is_said_in_one_line(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["explore", *arguments]) == 2
    refusal = capsys.readouterr().err
    assert refuses(refusal, message)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "pyodide"
    fake.mkdir()
    for name in PYODIDE:
        (fake / name).write_bytes(b"x")
    (tmp_path / "site").write_text("a file")
    assert main(["explore", "--site", str(tmp_path / "site"), "--pyodide", str(fake)]) == 2
    assert "which cannot be written" in capsys.readouterr().err


def tags(html: str) -> dict[str, str]:
    """What a program that shows posted links reads of a page."""
    found = re.findall(r'<meta (?:property|name)="([^"]+)" content="([^"]*)">', html)
    return {name: unescape(text) for name, text in found} | {"title": unescape(html.split("<title>")[1].split("<")[0])}


def test_a_posted_link_has_a_title_a_description_and_a_picture(tmp_path: Path) -> None:
    package = tmp_path / "pyodide"
    package.mkdir()
    for name in PYODIDE:
        (package / name).write_bytes(b"x")
    place = tmp_path / "site"
    options = ["--tile", "64x64", "--mma", "64x16", "--url", "https://example.org/tiles"]
    assert main(["explore", "--site", str(place), "--pyodide", str(package), *options]) == 0
    seen = tags((place / "index.html").read_text(encoding="utf-8"))
    assert seen["og:title"] == seen["title"] == "64x64 bf16 K-major 128B, mma 64x16, sm100"
    word = answer({"tile": "64x64", "want": ["told"]})["told"]["word"]
    assert seen["og:description"] == seen["description"] and word in seen["description"]
    assert seen["og:url"] == "https://example.org/tiles/"
    assert seen["og:image"] == "https://example.org/tiles/picture.png"
    assert seen["twitter:card"] == "summary_large_image"
    data = (place / "picture.png").read_bytes()
    wide, high = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and (wide, high) == (1200, 630)
    assert (seen["og:image:width"], seen["og:image:height"]) == ("1200", "630")
    lines = zlib.decompress(data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8])
    pixels = [lines[1 + (1 + 3 * wide) * y :][: 3 * wide] for y in (80, 80 + 65)]
    first, second = ([row[3 * (652 + 65 * j) :][:3] for j in range(8)] for row in pixels)
    assert len(set(first)) == 8  # eight columns of 16 bytes, and in the next line every two have changed places
    assert second == [first[j ^ 1] for j in range(8)]


def test_the_page_about_the_site_leads_to_states_that_have_answers() -> None:
    html = about_page("https://example.org/tiles")
    assert tags(html)["og:image"] == "https://example.org/tiles/picture.png"
    links = [unescape(one) for one in re.findall(r'href="\./(#[^"]+)"', html)]
    assert len(links) == len(PRESETS) - 1 + 2
    for link in links:
        state = dict(part.split("=", 1) for part in link[1:].split("&"))
        texts = {key: unquote(text) for key, text in state.items()}
        body = {key: json.loads(text) if key == "edit" else text for key, text in texts.items()}
        found = answer({**body, "want": ["told", "pasted"]})
        assert found["ok"] and "error" not in found["told"] and "error" not in (found["pasted"] or {}), link
    assert "No Blackwell GPU was measured" in html


def test_only_the_site_has_a_page_about_it() -> None:
    assert 'href="about.html"' in page_of({}, "worker")
    assert "about.html" not in page_of({}, "server") + page_of({})


@pytest.fixture
def site(page: Any, tmp_path: Path) -> Any:
    """The page of the static site, its engine running."""
    package = browsers.node_package("pyodide")
    assert main(["explore", "--site", str(tmp_path / "site"), "--pyodide", str(package)]) == 0
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    with browsers.served(tmp_path / "site") as url:
        page.goto(url)
        page.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
        open_drawers(page)
        yield page
    assert all(re.match(r"http://127\.0\.0\.1|blob:|data:", one) for one in requests), requests


def test_the_engine_answers_in_the_browser_without_any_network(site: Any, tmp_path: Path) -> None:
    assert site.get_attribute("html", "data-ready") != "no", text(site, "#status")
    grid = answer({"want": ["stage"]})["stage"]["grids"][0]
    settled(site, lambda: click(site, grid, 11, 21))
    assert text(site, "#picked").startswith("element (11,21): byte 1434 (0x59a)")
    for choice in ({"swizzle": "64B"}, {"dtype": "e4m3"}, {"mma": "64x32"}, {"arch": "sm90"}):
        for name, value in choice.items():
            put(site, name, value) if name != "dtype" else site.select_option("#controls [name=dtype]", value)
    known = answer(
        {"swizzle": "64B", "dtype": "e4m3", "mma": "64x32", "arch": "sm90", "cell": "11,21", "want": ["told", "proof"]}
    )
    site.locator("#proof", has_text=known["proof"]["headline"]).wait_for()
    assert text(site, "#headword") == known["told"]["word"]
    settled(site, lambda: site.select_option("#preset", "0"))
    field = site.locator("[data-field=stride_byte_offset]")
    settled(site, lambda: field.fill("512") or field.press("Tab"))
    assert "right word: 0x4000404000010000" in text(site, "#edited pre")
    site.fill("#paste", "0x4000404000010000\n(64,16):(64,1)")
    site.click("#tell")
    site.locator("#pasted pre", has_text="different: 896").wait_for()
    site.click("#untell")
    settled(site, lambda: site.click("#reset"))
    for name in ("atom", "banks", "memory", "tensor", "registers"):
        settled(site, lambda name=name: site.click(f"#tab-{name}"))  # type: ignore[misc]
        assert site.locator("#svg svg").count() == 1, name
    site.select_option("#controls [name=swizzle]", "128B_BASE32B")
    site.locator("#problem", has_text="legality: swizzle is 128B_BASE32B, but must be none").wait_for()
    with site.expect_download() as waiting:
        put(site, "swizzle", "32B")
        site.click("#savepage")
    waiting.value.save_as(tmp_path / "saved.html")
    assert (tmp_path / "saved.html").read_text(encoding="utf-8").startswith("<!doctype html>")
