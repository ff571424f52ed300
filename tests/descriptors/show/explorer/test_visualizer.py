"""The ten things that a swizzle visualizer shows, each in the page as a person sees it; docs/pictures.md names them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from acts import click, put, settled, text, visit
from places import ROOT

from descriptors.show.explorer.answer import answer
from descriptors.show.explorer.server import Server


@pytest.fixture
def home(page: Any, server: Server) -> Any:
    visit(page, server.url)
    return page


def show_tab(home: Any, tab: str) -> None:
    if home.get_attribute(f"#tab-{tab}", "aria-selected") != "true":
        settled(home, lambda: home.click(f"#tab-{tab}"))


def table(home: Any) -> list[list[str]]:
    """The picture as a table, without what stands beside its rows."""
    return [line.split()[1:] for line in str(home.text_content("#astext pre")).splitlines()]


def fill(home: Any, tab: str, row: int, column: int, panel: int = 0, **body: Any) -> str:
    """The colour that a person sees in a cell of the picture."""
    grid = answer({**body, "tab": tab, "want": ["stage"]})["stage"]["grids"][panel]
    home.evaluate("document.getElementById('scroll').scrollIntoView({ block: 'start' })")
    box, wide = (
        home.locator("#svg svg").bounding_box(),
        home.evaluate("document.querySelector('#svg svg').viewBox.baseVal.width"),
    )
    x = grid["x"] + (column + 0.2) * grid["width"] / grid["columns"]
    y = grid["y"] + (row + 0.3) * grid["height"] / grid["rows"]
    met = "([x, y]) => document.elementsFromPoint(x, y).map(one => getComputedStyle(one).fill)"
    fills = home.evaluate(met, [box["x"] + x * box["width"] / wide, box["y"] + y * box["width"] / wide])
    return str(next(one for one in fills if one.startswith("rgb") and one != "rgb(0, 0, 0)"))


def test_1_a_single_swizzle_tile(home: Any) -> None:
    show_tab(home, "atom")
    assert "One swizzle atom of 8 × 64 elements" in text(home, "#said")
    assert table(home)[1][:3] == ["72", "73", "74"]


def test_2_the_full_grid_with_the_borders_of_its_tiles(home: Any) -> None:
    assert "32 swizzle atoms" in text(home, "#said")
    assert home.locator("#svg .s-atom").count() >= 1
    settled(home, lambda: home.uncheck("#levels [value=atom]"))
    assert home.locator("#svg .s-atom").count() == 0


def test_3_the_address_inspector(home: Any) -> None:
    grid = answer({"want": ["stage"]})["stage"]["grids"][0]
    settled(home, lambda: click(home, grid, 11, 21))
    assert home.locator("#bits .turned").count() == 2
    assert "line 11, bank 6 of 32" in text(home, "#facts")


def test_4_the_organisation_of_banks(home: Any) -> None:
    show_tab(home, "banks")
    rows = [row for row in table(home) if len(row) == 8]
    assert rows[:8] == [list("01234567")] * 8, "row-major: the logical column at every place"
    assert rows[8:10] == [list("01234567"), list("10325476")], "swizzled"


def test_5_the_formula(home: Any) -> None:
    assert text(home, "#general") == "address ^ ((address >> 7 & 7) << 4); slot = column ^ (line & 7)"
    settled(home, lambda: home.fill("#cell", "11,21") or home.press("#cell", "Enter"))
    assert text(home, "#formula") == "0x5aa ^ ((0x5aa >> 7 & 7) << 4) = 0x59a"


def test_6_a_slot_is_highlighted(home: Any) -> None:
    show_tab(home, "banks")
    put(home, "slot", "3")
    assert "With the swizzle slot 3 holds the columns 3, 2, 1, 0, 7, 6, 5, 4" in text(home, "#said")
    grids = answer({"tab": "banks", "slot": 3, "want": ["stage"]})["stage"]["grids"]
    framed = home.locator("#svg path.s-tile[stroke-width='2']").evaluate_all(
        "all => all.map(one => one.getBBox()).map(one => [one.x, one.y])"
    )
    known = [
        [grid["x"] + 3 * grid["width"] / 8, grid["y"] + row * grid["height"] / 8] for grid in grids for row in range(8)
    ]
    assert len(framed) == 16, "slot 3 of eight lines, without the swizzle and with it"
    assert all(at == pytest.approx(place, abs=2) for at, place in zip(framed, known, strict=True))


def test_7_colours_by_logical_column(home: Any) -> None:
    assert "Color and number: the logical column of 16 bytes" in text(home, "#said")
    assert table(home)[1][:8] == list("01234567")
    seen = [[fill(home, "tile", row, 8 * column + 2, colour="column") for column in range(8)] for row in (2, 13, 77)]
    assert len(set(seen[0])) == 8 and seen[0] == seen[1] == seen[2], "a colour a column, whatever the row"
    show_tab(home, "banks")
    plain, swizzled = ([fill(home, "banks", row, 3, panel) for row in range(8)] for panel in (0, 1))
    assert len(set(plain)) == 1, "down a column of places: one colour without the swizzle"
    assert len(set(swizzled)) == 8, "and eight with it"


def test_8_with_and_without_the_swizzle(home: Any) -> None:
    put(home, "colour", "bank")
    assert [row[0] for row in table(home)[1:9]] == list("01234567")
    settled(home, lambda: home.uncheck("#looks [name=swizzled]"))
    assert [row[0] for row in table(home)[1:9]] == list("00000000")
    assert "shared memory, without the swizzle" in text(home, "#svg")


def test_9_banks_of_other_sizes(home: Any) -> None:
    show_tab(home, "banks")
    put(home, "bank_bytes", "8")
    assert "A line is 32 banks of 8 bytes" in text(home, "#said")
    assert len(table(home)[1]) == 16


def test_10_other_numbers_of_banks_in_a_row(home: Any) -> None:
    show_tab(home, "banks")
    put(home, "banks", "16")
    assert "A line is 16 banks of 4 bytes" in text(home, "#said")
    assert len(table(home)[1]) == 4


def test_the_table_of_the_documentation_names_these_tests() -> None:
    document = (ROOT / "docs" / "pictures.md").read_text(encoding="utf-8")
    named = re.findall(r"`(test_\d+_\w+)`", document)
    assert named == [name for name in globals() if re.match(r"test_\d+_", name)]
