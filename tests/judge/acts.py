"""What a person does on the page of the explorer, and when the page has answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def visit(page: Any, url: str) -> None:
    """Open a page, wait until its script has shown everything, and pull out its drawers."""
    page.goto(url)
    page.wait_for_selector("html[data-painted]", state="attached")
    open_drawers(page)


def open_drawers(page: Any) -> None:
    """Pull out the drawers with the controls."""
    page.evaluate("document.querySelectorAll('.drawer').forEach(one => { one.open = true; })")


def settled(page: Any, act: Callable[[], object], timeout: float = 60_000) -> None:
    """Do something, and wait until all that follows is shown."""
    page.evaluate("delete document.documentElement.dataset.settled")
    act()
    page.wait_for_selector("html[data-settled]", state="attached", timeout=timeout)


def click(page: Any, grid: dict[str, Any], row: int, column: int) -> None:
    """Click the middle of a cell of the picture, whose map says where it is."""
    page.evaluate("document.getElementById('scroll').scrollIntoView({ block: 'center' })")
    box = page.locator("#svg svg").bounding_box()
    wide = page.evaluate("document.querySelector('#svg svg').viewBox.baseVal.width")
    scale = box["width"] / wide
    x = box["x"] + scale * (grid["x"] + (column + 0.5) * grid["width"] / grid["columns"])
    y = box["y"] + scale * (grid["y"] + (row + 0.5) * grid["height"] / grid["rows"])
    page.mouse.click(round(x), round(y))  # a browser tells a page whole pixels


def text(page: Any, selector: str) -> str:
    """What an element says."""
    return str(page.text_content(selector)).strip()


def put(page: Any, name: str, value: str) -> None:
    """Give a control of the form a value, and wait for the answer."""
    control = page.locator(f"#controls [name={name}], #looks [name={name}]")
    if control.evaluate("one => one.tagName") == "SELECT":
        settled(page, lambda: control.select_option(value))
    else:
        settled(page, lambda: control.fill(value))
