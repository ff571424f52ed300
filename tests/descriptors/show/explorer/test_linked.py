"""Linked selection in a real browser: what a field, a mode or a subtile concerns is lit, and the other way round."""

from __future__ import annotations

from typing import Any

import pytest
from acts import click, settled, text, visit

from descriptors.show.explorer.answer import answer
from descriptors.show.explorer.page import PRESETS
from descriptors.show.explorer.server import Server


@pytest.fixture
def home(page: Any, server: Server) -> Any:
    visit(page, server.url)
    return page


def lit(home: Any, **body: Any) -> set[tuple[int, int]]:
    """The elements of the tile that are lit on the tab Tile, by the places of the boxes."""
    grid = answer({**body, "want": ["stage"]})["stage"]["grids"][0]
    wide, high = grid["width"] / grid["columns"], grid["height"] / grid["rows"]
    cells = set()
    for box in home.locator("#marks .lit").evaluate_all(
        "all => all.map(one => ['x', 'y', 'width', 'height'].map(key => Number(one.getAttribute(key))))"
    ):
        row, column = round((box[1] - grid["y"]) / high), round((box[0] - grid["x"]) / wide)
        if column >= grid["columns"]:  # in memory, or enlarged
            continue
        rows, columns = round(box[3] / high), round(box[2] / wide)
        cells |= {(i, k) for i in range(row, row + rows) for k in range(column, column + columns)}
    return cells


def mode(home: Any, name: str) -> Any:
    return home.locator("#steps [data-mode]", has_text=name).first


def test_a_field_lights_the_elements_that_it_is_counted_for(home: Any) -> None:
    home.hover("[data-row=stride_byte_offset] th")
    assert lit(home) == {(i, k) for i in range(8, 64) for k in range(16)}
    assert home.locator("#marks .arrow").count() == 2
    assert "896 of 1024 elements are 1 to 7 steps of 1024 bytes further" in text(home, "#lit")
    home.hover("[data-row=leading_byte_offset] th")
    assert lit(home) == set()
    assert text(home, "#lit") == "leading_byte_offset: affects no element of the subtile"
    home.hover("h1")
    assert lit(home) == set()


def test_both_offsets_of_a_tile_that_has_both_are_lit(home: Any) -> None:
    settled(home, lambda: home.select_option("#preset", "1"))
    for field, cells in (
        ("leading_byte_offset", {(i, k) for i in range(32, 64) for k in range(16)}),
        ("stride_byte_offset", {(i, k) for i in range(64) for k in range(8, 16)}),
    ):
        home.hover(f"[data-row={field}] th")
        assert lit(home, **PRESETS[1]["question"]) == cells, field


def test_a_field_is_lit_by_the_keyboard_too_and_follows_the_chosen_subtile(home: Any) -> None:
    grid = answer({"want": ["stage"]})["stage"]["grids"][0]
    settled(home, lambda: click(home, grid, 70, 21))
    home.locator("#marks [class=cell]").first.wait_for(state="attached")
    home.wait_for_function("document.querySelector('[data-row=stride_byte_offset]')")
    home.mouse.move(0, 0)
    home.focus("[data-field=stride_byte_offset]")
    home.wait_for_selector("#marks .lit", state="attached")
    assert lit(home) == {(i, k) for i in range(72, 128) for k in range(16, 32)}


def test_a_mode_lights_the_walk_from_the_chosen_element(home: Any) -> None:
    grid = answer({"want": ["stage"]})["stage"]["grids"][0]
    settled(home, lambda: click(home, grid, 11, 85))
    for name, cells in (
        ("MN 16:512", {(8 * n + 3, 85) for n in range(16)}),
        ("MN 8:64", {(8 + n, 85) for n in range(8)}),
        ("K 2:8192", {(11, 21), (11, 85)}),
    ):
        mode(home, name).focus()
        assert lit(home) == cells, name
    assert "2 positions, 16384 bytes apart; from element (11,85)" in text(home, "#lit")
    assert [
        mode(home, name).locator("b").text_content() for name in ("MN 8:64", "MN 16:512", "K 64:1", "K 2:8192")
    ] == ["3", "1", "21", "1"], "the digits of the element: 3 * 64 + 512 + 21 + 8192"


def test_an_element_that_is_pointed_at_says_what_concerns_it(home: Any) -> None:
    grid = answer({"want": ["stage"]})["stage"]["grids"][0]
    box = home.locator("#marks").bounding_box()
    scale = box["width"] / home.evaluate("document.getElementById('marks').viewBox.baseVal.width")
    place = lambda i, k: (  # noqa: E731
        box["x"] + scale * (grid["x"] + (k + 0.5) * grid["width"] / grid["columns"]),
        box["y"] + scale * (grid["y"] + (i + 0.5) * grid["height"] / grid["rows"]),
    )
    home.mouse.move(*place(17, 5))
    assert home.locator("[data-row=stride_byte_offset].on .count").text_content() == "×2"
    assert home.locator("[data-row=leading_byte_offset].on").count() == 0
    assert mode(home, "MN 16:512").locator("b").text_content() == "2"
    home.mouse.move(*place(100, 40))
    assert home.locator("#subtiles .on").get_attribute("data-subtile") == "1,2"
    assert home.locator("[data-row].on").count() == 0, "it is not of the chosen subtile"
    home.mouse.move(0, 0)
    assert mode(home, "MN 16:512").locator("b").text_content() == "0", "the chosen element's again"


def test_who_works_with_keys_stays_where_they_are(home: Any) -> None:
    focused = "document.activeElement.dataset.subtile ?? document.activeElement.id"
    home.focus("[data-subtile='1,2']")
    settled(home, lambda: home.keyboard.press("Enter"))
    assert text(home, "#picked").startswith("element (64,32)")
    assert home.evaluate(focused) == "1,2"
    home.focus("[data-field=stride_byte_offset]")
    settled(home, lambda: home.fill("[data-field=stride_byte_offset]", "512") or home.keyboard.press("Enter"))
    assert home.evaluate("document.activeElement.dataset.field") == "stride_byte_offset"
    home.focus("#reset")
    settled(home, lambda: home.keyboard.press("Enter"))
    assert home.evaluate(focused) == "word"


def test_arrow_keys_change_the_digits(home: Any) -> None:
    home.focus("#scroll")
    settled(home, lambda: home.keyboard.press("Shift+ArrowDown"))
    assert mode(home, "MN 16:512").locator("b").text_content() == "1"
    assert home.locator("[data-row=stride_byte_offset].on").count() == 1


@pytest.mark.parametrize(("tab", "least"), [("atom", 1), ("banks", 8), ("memory", 16)])
def test_what_is_pointed_at_is_lit_on_other_tabs_too(home: Any, tab: str, least: int) -> None:
    settled(home, lambda: home.click(f"#tab-{tab}"))
    home.hover("[data-subtile='0,0']")
    assert home.locator("#marks .lit").count() >= least
    if tab == "memory":
        places = home.locator("#marks .lit").count()
        assert places == 1 + 32, "of 16 lines of a tile whose subtiles are 2 of the 8 pieces of a line"
