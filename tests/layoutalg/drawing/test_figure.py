"""Furniture of figures: legends in lines, zoom guides that meet their ends, bars of the right height."""

from __future__ import annotations

from typing import Any

from layoutalg import Figure
from layoutalg.drawing.shapes import Area, Arrow, Box, Lines, Text


def shapes(figure: Figure) -> tuple[Any, ...]:
    return figure.scene("Test", "Of furniture.", 0).shapes


def test_a_legend_that_fits_is_one_line_and_one_that_does_not_stands_in_columns() -> None:
    entries = [(f"c{number}", f"kind {number}") for number in range(8)]
    one, two = Figure(), Figure()
    assert one.legend(0, 0, entries, 2000) == 16
    assert two.legend(0, 0, entries, 600) == 40
    assert two.bounds()[2] <= 600
    lefts = [shape.x for shape in shapes(two) if isinstance(shape, Box)]
    assert lefts[:4] == lefts[4:]


def test_a_legend_shows_borders_as_frames_and_points_as_dots() -> None:
    figure = Figure()
    figure.legend(0, 0, [("atom", "an atom"), ("dot:subtile", "a start"), ("c0", "kind 0")])
    frame, dot, fill = (shape for shape in shapes(figure) if isinstance(shape, Box))
    assert (frame.fill, frame.stroke) == (None, "atom")
    assert (dot.fill, dot.radius) == ("subtile", dot.width / 2)
    assert fill.fill == "c0"
    assert Figure().legend(0, 7, []) <= 23


def test_a_zoom_leads_from_the_part_to_the_corner_of_what_enlarges_it() -> None:
    figure = Figure()
    figure.box(0, 0, 1, 1, "c0")
    figure.zoom((0, 0, 10, 10), (110, 0, 50, 100), gap=60)
    area, guide = (shape for shape in shapes(figure) if isinstance(shape, (Area, Lines)))
    assert isinstance(area, Area)
    assert isinstance(guide, Lines)
    assert area.points == ((60, 0), (110, 0), (110, 100), (60, 55))
    assert guide.segments == ((60, 55, 110, 100),)  # in the gap alone


def test_bars_are_as_high_as_their_share() -> None:
    figure = Figure()
    figure.bars(0, 0, 40, 100, [8, 0, 2, 4], 8, "bad")
    heights = [shape.height for shape in shapes(figure) if isinstance(shape, Box)]
    assert heights == [100, 25, 50]


def test_a_bracket_opens_towards_what_it_holds() -> None:
    below, above = Figure(), Figure()
    below.bracket(0, 50, 100, "held")
    above.bracket(0, 50, 100, "held", above=True)
    for figure, opens in ((below, -6), (above, 6)):
        line = next(shape for shape in shapes(figure) if isinstance(shape, Arrow))
        assert line.points[0][1] - line.points[1][1] == opens
        assert line.head == 0


def test_headings_leave_room_for_their_lines() -> None:
    assert Figure().heading(0, 0, "Title") < Figure().heading(0, 0, "Title", "A sentence.")
    assert Figure().heading(0, 0, "a word " * 60, room=300) > Figure().heading(0, 0, "a word")
    assert Figure().panel_heading(0, 0, "Title", ["one", "two"], right="more") == 52


def test_a_table_writes_its_labels_into_the_middle_of_cells() -> None:
    figure = Figure()
    figure.table(0, 0, 20, 10, [["c0", "c1"]], [["a", ""]], size=10, hair=False)
    (text,) = (shape for shape in shapes(figure) if isinstance(shape, Text))
    assert [(x, word) for x, _, word in text.items] == [(10, "a")]
