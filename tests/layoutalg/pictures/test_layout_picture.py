"""Pictures of layouts: the same cells in every face, figures equal to their files, refusals in one line."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from drawn import read
from each import each
from hypothesis import given
from hypothesis import strategies as st
from places import ROOT

from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    LayoutPicture,
    Picture,
    Swizzle,
    UndecidedError,
    draw,
    fragment,
    size,
    symbol,
)
from layoutalg.drawing import html_table as html
from layoutalg.drawing import text_table as text

sys.path.append(str(ROOT / "scripts"))  # at the end: the package of attacks has the name of a script
from make_figures import FIGURES, LAYOUTS, files

extents = st.recursive(
    st.integers(1, 4), lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=4
)
small_layouts = (
    st.lists(extents, min_size=1, max_size=3).map(lambda modes: Layout(tuple(modes))).filter(lambda x: size(x) <= 256)
)


@each("name", FIGURES)
def test_a_figure_is_its_files_byte_for_byte(name: str) -> None:
    picture = FIGURES[name]()
    for path, write in files(name).items():
        assert path.read_text(encoding="utf-8") == write(picture), f"{path.name}: run scripts/make_figures.py"


def test_every_file_of_figures_is_of_a_figure() -> None:
    paths = {path for name in FIGURES for path in files(name)}
    assert {path for folder in {path.parent for path in paths} for path in folder.iterdir()} == paths


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_figure_has_words_for_who_does_not_see_it(name: str) -> None:
    picture = read(LAYOUTS[name]().svg())
    assert picture.title
    assert re.fullmatch(r"(A|[0-9]+) tables? of .+\. A cell .+\.", picture.description)


@given(small_layouts)
def test_the_text_of_a_picture_is_the_table_of_the_layout(layout: Layout) -> None:
    picture = draw(layout)
    assert isinstance(picture, Picture)
    assert picture == LayoutPicture(layout)
    assert str(picture) == picture.text() == text.table(layout)
    assert picture.text(max_rows=2, max_columns=3, max_grids=1, width=40) == text.table(layout, 2, 3, 1, 40)
    plain = re.sub("\x1b[^m]*m", "", picture.text(color=True))
    tables, _, legend = plain.rpartition("\n\n")
    assert tables == picture.text()
    assert "offset" in legend
    assert legend.isascii()
    assert layout._repr_html_() == html.table(layout)


def test_every_face_shows_every_offset() -> None:
    layout = Layout((3, 4), (40, 7))
    offsets = {str(layout(i, j)) for i in range(3) for j in range(4)}
    picture = draw(layout)
    assert offsets <= {word for _, _, word, _ in read(picture.svg()).texts}
    assert offsets <= set(re.findall(r"\{(\d+)\};", picture.tikz()))
    assert offsets <= set(picture.text().split())
    assert offsets <= {str(cell) for row in picture.record()["panels"][0]["cells"] for cell in row}
    assert picture.svg() in picture.html()


def test_a_layout_with_symbols_is_drawn_where_its_size_is_known() -> None:
    assert Layout((8 * symbol("m"), 64))._repr_html_() == "<code>(8*m,64):(1,8*m)</code> (512*m elements)"
    assert "2*m" in draw(Layout((3, 2), (symbol("m"), 1))).svg()
    with pytest.raises(UndecidedError):
        str(draw(Layout(symbol("m"))))


def test_a_notebook_shows_a_picture_of_a_large_layout_and_the_notation_of_one_that_is_larger() -> None:
    tag = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((128, 128), (128, 1)))._repr_html_()
    assert tag.startswith('<img alt="S&lt;3,4,3&gt; o 0 o (128,128):(128,1). The offsets of S&lt;3,4,3&gt;')
    assert Layout((512, 512))._repr_html_() == "<code>(512,512):(1,512)</code> (262144 elements)"


TILE = Layout((4, 4))
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"colour": "red"}, "draw: 'red' is not a colour; supported: offset, bank, block, mode, thread, value, none"),
    ({"label": 3}, "draw: 3 is not a label; supported: offset, index, coord, bank, .*, none"),
    ({"colour": "bank"}, "draw: banks depend on the bytes per element, which are unknown; give element_bytes=2"),
    ({"label": "bank"}, "draw: banks depend on the bytes per element"),
    ({"element_bytes": 0}, "draw: element_bytes is 0, which is not positive"),
    ({"element_bytes": "2"}, "draw: element_bytes is '2', which is not an integer"),
    ({"levels": [(2, 0)]}, "draw: the number of columns of a level is 0, which is not positive"),
    ({"levels": [2]}, r"draw: the levels \[2\] are not pairs of rows and columns"),
    ({"levels": 7}, "draw: the levels 7 are not pairs of rows and columns"),
    ({"levels": [(1, 1)] * 4}, "draw: there are 4 levels; supported: at most 3"),
    ({"before": 17}, "draw: 17 is not a layout"),
]


@each(("options", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_cannot_be_drawn_is_refused_before_anything_is(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LayoutError, match=message) as refused:
        draw(TILE, **options)
    assert "\n" not in str(refused.value)


def test_what_is_no_layout_is_refused() -> None:
    with pytest.raises(LayoutError, match="draw: S<3,4,3> is not a layout"):
        draw(Swizzle(3, 4, 3))  # type: ignore[arg-type]


def test_a_picture_of_a_million_cells_is_refused_as_a_scene_and_cut_as_text(tmp_path: Path) -> None:
    picture = draw(Layout((1024, 1024)))
    for face in (picture.svg, picture.tikz, picture.html, picture.record, picture.plate):
        with pytest.raises(LayoutError, match="1024 rows of 1024 columns in 1 table, more than 262144 cells"):
            face()
    assert picture.text().endswith("shown: 32 of 1024 rows, 32 of 1024 columns")


def test_threads_are_told_by_default_where_there_is_a_map() -> None:
    picture = draw(TILE, thread_values=Layout((4, 4)))
    assert (picture.colour, picture.label) == ("thread", "thread")
    assert "T3 V2" in picture.text()


def test_a_fragment_is_its_tile_with_who_holds_what() -> None:
    one = fragment("mma.m16n8k16.C")
    picture = draw(one)
    cells = picture.plate().panels[0].grid.cells
    assert picture.title == one.name
    for thread in range(32):
        for value in range(4):
            row, column = one.element(thread, value)
            assert cells[row][column] == f"T{thread} V{value}"
    rows_across = draw(Layout((16, 8), (8, 1)), thread_values=one)
    assert rows_across.plate().panels[0].grid.cells == cells
    for layout in (Layout((8, 16)), Layout(128), Layout((16, 8, 1))):
        with pytest.raises(LayoutError, match=r"draw: the layout .* does not have the shape of mma.m16n8k16.C, 16 x 8"):
            draw(layout, thread_values=one)


def test_a_line_holds_the_columns_that_fit_the_wider_of_two_tables() -> None:
    lines = draw(Layout((2, 2)), before=Layout((2, 30))).text(width=30).splitlines()
    assert max(map(len, lines[1:])) <= 30
    assert lines[0] == "The same cells, before and after"
    assert "(2,30):(1,2)" in lines
    assert "(2,2):(1,2)" in lines


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
    assert read(draw(Squares()).svg()).title == "squares"


def test_levels_that_are_asked_for_take_the_place_of_those_of_the_nesting() -> None:
    levels = draw(Layout((4, (2, 2))), levels=[(2, 2), (4, 2)]).plate().panels[0].levels
    assert [(level.rows, level.columns, level.role) for level in levels] == [(2, 2, "chunk"), (4, 2, "atom")]
