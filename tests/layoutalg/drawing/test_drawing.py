"""Pictures show the offsets of the layout, each in its place, and say what they leave out."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layoutalg import ComposedLayout, E, Layout, LayoutError, Picture, Swizzle, UndecidedError, draw, size, symbol
from layoutalg.drawing import html, text
from layoutalg.drawing.grid import drawing

extents = st.recursive(
    st.integers(1, 4), lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=4
)
small_layouts = (
    st.lists(extents, min_size=1, max_size=3).map(lambda modes: Layout(tuple(modes))).filter(lambda x: size(x) <= 256)
)


@given(small_layouts)
def test_every_offset_stands_in_its_row_and_column(layout: Layout) -> None:
    picture = drawing(layout)
    cells = [cell for grid in picture.grids for row in zip(*grid.cells, strict=True) for cell in row]
    assert cells == [layout(index) for index in range(size(layout))]


@given(small_layouts)
def test_the_text_table_holds_every_offset_after_its_edge(layout: Layout) -> None:
    drawn = text.table(layout, None, None, None)
    after_edge = " ".join(line.partition("|")[2] for line in drawn.splitlines())
    assert sorted(map(int, re.findall(r"\d+", after_edge))) == sorted(layout(index) for index in range(size(layout)))


def test_a_nested_mode_has_one_line_of_coordinates_for_each_leaf() -> None:
    assert text.table(Layout(((2, 2), (2, 2)), ((1, 4), (2, 8)))).splitlines() == [
        "((2,2),(2,2)):((1,4),(2,8))",
        "",
        "      [1,1]     0       1",
        "      [1,0]     0  1    0  1",
        "[0,1] [0,0]  +-------+------",
        "    0     0  |  0  2 |  8 10",
        "          1  |  1  3 |  9 11",
        "             +-------+------",
        "    1     0  |  4  6 | 12 14",
        "          1  |  5  7 | 13 15",
    ]


def test_rank_one_is_a_single_row() -> None:
    assert text.table(Layout(4, 3)).splitlines()[2:] == ["[0]    0 1 2 3", "     +--------", "     | 0 3 6 9"]


def test_rank_three_is_a_table_for_each_slice_titled_like_it() -> None:
    drawn = text.table(Layout((2, 2, (1, 3))))
    assert [line for line in drawn.splitlines() if line.startswith("(_")] == ["(_,_,0)", "(_,_,1)", "(_,_,2)"]


def test_basis_strides_show_coordinates() -> None:
    assert "(1,2)" in text.table(Layout((2, 3), (E(0), E(1))))


def test_a_swizzled_layout_shows_the_swizzled_offsets() -> None:
    tile = ComposedLayout(Swizzle(1, 0, 1), 0, Layout((2, 2), (2, 1)))
    assert drawing(tile).grids[0].cells == ((0, 1), (3, 2))


def test_a_large_layout_is_cut_and_says_so() -> None:
    drawn = text.table(Layout((1000, 10**12)), max_rows=4, width=60)
    assert drawn.splitlines()[-1] == "shown: 4 of 1000 rows, 8 of 1000000000000 columns"
    assert max(map(len, drawn.splitlines())) <= 60


def test_many_slices_are_cut_without_walking_through_them() -> None:
    assert "8 of 1000000000000 tables" in text.table(Layout((2, 2, 10**12)))


def test_colour_wraps_the_same_characters() -> None:
    layout = Layout((4, 8), (8, 1))
    colored = text.table(layout, color=True)
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == text.table(layout)


class _Cells(HTMLParser):
    """Collects cells, and checks that every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.widths: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.widths.append(0)
        if tag in ("td", "th"):
            self.widths[-1] += int(dict(attrs).get("colspan") or 1)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] == "td":
            self.cells.append(data)


@given(small_layouts)
def test_the_html_table_is_well_formed_and_holds_every_offset(layout: Layout) -> None:
    parser = _Cells()
    parser.feed(layout._repr_html_())
    assert parser.open == []
    if len(drawing(layout).grids) <= 16:
        assert sorted(map(int, parser.cells)) == sorted(layout(index) for index in range(size(layout)))


def test_html_header_rows_span_the_same_columns() -> None:
    parser = _Cells()
    parser.feed(html.table(Layout(((2, 2), (2, 3)))))
    assert set(parser.widths[:2]) == {2 + 6}


def test_a_large_layout_shows_its_notation_instead() -> None:
    shown = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((128, 128), (128, 1)))._repr_html_()
    assert shown == "<code>S&lt;3,4,3&gt; o 0 o (128,128):(128,1)</code> (16384 elements)"


def test_what_is_no_layout_is_refused() -> None:
    with pytest.raises(LayoutError, match="draw: the operand must be a layout, found S<3,4,3>"):
        draw(Swizzle(3, 4, 3))  # type: ignore[arg-type]


@given(small_layouts)
def test_a_picture_shows_the_tables_of_its_layout(layout: Layout) -> None:
    picture = draw(layout)
    assert picture == Picture(layout)
    assert str(picture) == picture.text() == text.table(layout)
    assert picture.text(color=True, max_rows=2, max_columns=3, max_grids=1, width=40) == text.table(
        layout, 2, 3, 1, 40, True
    )
    assert picture.html() == picture._repr_html_() == layout._repr_html_() == html.table(layout)


def test_a_notebook_shows_the_notation_of_a_layout_with_symbols() -> None:
    assert Layout((8 * symbol("m"), 64))._repr_html_() == "<code>(8*m,64):(1,8*m)</code> (512*m elements)"
    with pytest.raises(UndecidedError):
        str(draw(Layout(symbol("m"))))


def test_any_function_on_a_shape_can_be_drawn() -> None:
    class Squares:
        shape = (2, 3)

        def __call__(self, *coord: tuple[int, int]) -> int:
            return (coord[0][0] + 2 * coord[0][1]) ** 2

        def __str__(self) -> str:
            return "squares"

    assert str(draw(Squares())).splitlines() == [
        *("squares", "", "[1]     0  1  2", "[0]  +---------", "  0  |  0  4 16", "  1  |  1  9 25")
    ]
