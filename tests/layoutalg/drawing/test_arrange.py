"""A plate arranged: a cell shows what it holds, its fill covers it once, and all lies on the canvas."""

from __future__ import annotations

from typing import Any

from drawn import Drawn, cells, corner, read
from each import each
from hypothesis import assume, given
from hypothesis import strategies as st

from layoutalg import Layout, draw, size
from layoutalg.drawing.arrange import MOST_NUMBERS, Style, arrange, style_of
from layoutalg.drawing.metrics import width
from layoutalg.drawing.plate import Mark, Panel, Plate

extents = st.recursive(
    st.integers(1, 5), lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=4
)
small = (
    st.tuples(extents, extents).map(Layout).filter(lambda layout: size(layout) <= 150 and size(layout, mode=[1]) <= 100)
)


def drawn_and_style(layout: Layout, **options: Any) -> tuple[Drawn, Style]:
    picture = draw(layout, **options)
    return read(picture.svg()), style_of(picture.plate().panels)


@given(small)
def test_the_number_drawn_in_each_cell_is_the_offset(layout: Layout) -> None:
    picture, style = drawn_and_style(layout)
    assume(style.size)  # wider tables have no numbers
    words = cells(picture, *corner(picture), style.width, style.height)
    rows, columns = size(layout, mode=[0]), size(layout, mode=[1])
    for i in range(rows):
        for j in range(columns):
            assert words[i, j] == [str(layout(i, j))]


@given(small, st.sampled_from(["offset", "block", "mode", "thread", "value"]))
def test_the_fills_cover_every_cell_once_with_its_role(layout: Layout, colour: str) -> None:
    picture, style = drawn_and_style(layout, colour=colour)
    roles = draw(layout, colour=colour).plate().panels[0].roles
    left, top = corner(picture)
    fills: dict[tuple[int, int], str] = {}
    for role, (x, y, wide, high) in picture.filled:
        for i in range(round((y - top) / style.height), round((y + high - top) / style.height)):
            for j in range(round((x - left) / style.width), round((x + wide - left) / style.width)):
                assert (i, j) not in fills
                fills[i, j] = role
    assert fills == {(i, j): role for i, row in enumerate(roles) for j, role in enumerate(row)}


def inside(picture: Drawn) -> None:
    """Every text lies on the canvas, by the table of widths."""
    for x, y, word, element in picture.texts:
        face = (element.get("class") or "").split()
        long = width(word, float(element.attrib["font-size"]), mono="m" in face, bold="b" in face)
        start = x - {"middle": long / 2, "end": long}.get(element.get("text-anchor") or "", 0)
        assert start >= 0, word
        assert start + long <= picture.width, word
        assert 0 < y < picture.height, word


PICTURES = [
    draw(Layout(4)),
    draw(Layout((), ())),
    draw(Layout((3,), (2,))),
    draw(Layout((4, 4, 3, 5))),
    draw(Layout((2, 3, 2, 2, 2))),
    draw(Layout((40, 4)), title="A title that is longer than the table that it stands over, and says it again " * 3),
    draw(Layout(((2, 2, 2, 2), (2, 2, 2, 2)), ((1, 4, 16, 64), (2, 8, 32, 128)))),
    draw(Layout((1, 2000))),
    draw(Layout((2000, 1))),
    draw(Layout((128, 128)), label="none"),
    draw(Layout((8, 8)), before=Layout(64)),
    draw(Layout((100, 10)), before=Layout((10, 100))),
    draw(Layout((8, 8), (10**12, 10**15))),
]


@each("picture", PICTURES, ids=lambda picture: str(picture.layout))
def test_no_text_runs_off_the_canvas(picture: Any) -> None:
    inside(read(picture.svg()))


@given(small)
def test_no_text_of_a_random_layout_runs_off_the_canvas(layout: Layout) -> None:
    inside(read(draw(layout, colour="block", label="coord").svg()))


def numbers(layout: Layout, **options: Any) -> list[str]:
    """What is written inside the table."""
    picture, style = drawn_and_style(layout, **options)
    words = cells(picture, *corner(picture), style.width, style.height)
    rows, columns = size(layout, mode=[0]), size(layout, mode=[1])
    return [word for i in range(rows) for j in range(columns) for word in words.get((i, j), ())]


def test_every_cell_is_numbered_up_to_a_thousand_then_every_block_then_none() -> None:
    assert len(numbers(Layout((32, 32)))) == MOST_NUMBERS
    nested = Layout(((8, 8), (16, 8)), ((1, 128), (8, 1024)))
    assert sorted(map(int, numbers(nested))) == sorted(nested((0, i), (0, j)) for i in range(8) for j in range(8))
    assert numbers(Layout((64, 128))) == []
    assert numbers(Layout(((2, 64), (2, 64)))) == []  # blocks too small for a number


def test_a_wide_table_has_narrower_cells_and_smaller_type() -> None:
    styles = [drawn_and_style(Layout((4, columns)))[1] for columns in (8, 40, 128)]
    assert styles == sorted(styles, key=lambda style: -style.width)
    assert [style.size > 0 for style in styles] == [True, True, False]


def test_cells_without_numbers_fill_their_room_and_are_never_lost() -> None:
    assert drawn_and_style(Layout((512, 512)))[1] == Style(2, 2, 0)
    assert drawn_and_style(Layout((128, 128)))[1] == Style(6, 5, 0)
    assert drawn_and_style(Layout((2, 4096)))[1] == Style(2, 8, 0)


def test_a_mark_is_a_frame_around_its_cells() -> None:
    plate = draw(Layout((4, 4))).plate()
    panel = plate.panels[0]
    marked = Panel(panel.grid, panel.roles, (), (Mark(1, 1, 2, 2, "subtile"),))
    with_mark = arrange(Plate("", plate.notation, "d", "c", (marked,)))
    assert [shape.role for shape in with_mark.shapes if getattr(shape, "role", "") == "subtile"] == ["subtile"]


def test_what_was_left_out_is_said_below() -> None:
    plate = draw(Layout((4, 4))).plate()
    noted = arrange(Plate("", plate.notation, "d", "c", plate.panels, note="shown: 4 of 9 rows"))
    assert "shown: 4 of 9 rows" in str(noted)
