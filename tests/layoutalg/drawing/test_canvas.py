"""A canvas gives a scene that holds every shape, wherever it was drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layoutalg import LayoutError
from layoutalg.drawing.figure import Canvas
from layoutalg.drawing.shapes import Cells, Lines, Scene

places = st.floats(-500, 500, width=16)


@given(st.lists(st.tuples(places, places, st.text(max_size=40), st.sampled_from(["start", "middle", "end"]))))
def test_nothing_runs_off_the_scene(items: list[tuple[float, float, str, str]]) -> None:
    canvas = Canvas()
    for x, y, text, anchor in items:
        canvas.text(x, y, text, anchor=anchor)
        canvas.arrow([(x, y), (y, x)])
        canvas.cells(x, y, 3, 4, [["c0", None]])
    scene = canvas.scene("Words", "Anywhere.", 10)
    for shape in scene.shapes:
        left, top, right, bottom = shape.bounds()
        assert left >= 10 - 1e-6
        assert top >= 10 - 1e-6
        assert right <= scene.width - 10 + 1e-6
        assert bottom <= scene.height - 10 + 1e-6


def test_a_scene_placed_in_a_canvas_is_moved_as_a_whole() -> None:
    part = Canvas()
    part.cells(0, 0, 10, 10, [["c0", "c1"]])
    canvas = Canvas()
    canvas.place(part.scene("Part", "Two cells.", 0), 100, 50)
    canvas.place(part, 0, 0)
    assert canvas.bounds() == (0, 0, 120, 60)
    assert [shape for shape in canvas.scene("All", "Four cells.", 0).shapes if isinstance(shape, Cells)] == [
        Cells("c0", ((100, 50, 10, 10),)),
        Cells("c1", ((110, 50, 10, 10),)),
        Cells("c0", ((0, 0, 10, 10),)),
        Cells("c1", ((10, 0, 10, 10),)),
    ]


def test_a_border_lies_on_paper_that_is_wider() -> None:
    canvas = Canvas()
    canvas.border(0, 0, 40, 20, "atom", columns=[10, 20])
    casing, line = canvas.scene("Border", "Around.", 0).shapes
    assert isinstance(casing, Lines)
    assert isinstance(line, Lines)
    assert (casing.role, line.role, casing.segments) == ("paper", "atom", line.segments)
    assert casing.width > line.width
    assert len(line.segments) == 6


def test_inside_a_table_a_level_has_no_frame() -> None:
    canvas = Canvas()
    canvas.border(0, 0, 40, 20, "chunk", rows=[10], outer=False)
    assert canvas.bounds() == (0, 10 - 1.6, 40, 10 + 1.6)
    canvas.border(0, 0, 40, 20, "chunk", outer=False)
    assert len(canvas.scene("Lines", "One.", 0).shapes) == 2


def test_an_empty_canvas_is_its_margin() -> None:
    assert Canvas().scene("Nothing", "At all.", 5) == Scene("Nothing", "At all.", 10, 10, ())


def test_a_paragraph_says_where_the_next_line_stands() -> None:
    canvas = Canvas()
    assert canvas.paragraph(0, 100, "one line", 500, size=10) == 115
    assert canvas.paragraph(0, 100, "two lines of words", 60, size=10) == 130


@pytest.mark.parametrize("draw", ["text", "box", "lines", "arrow", "area", "cells", "dot"])
def test_every_shape_refuses_a_role_that_there_is_not(draw: str) -> None:
    canvas = Canvas()
    calls = {
        "text": lambda: canvas.text(0, 0, "a", "red"),
        "box": lambda: canvas.box(0, 0, 1, 1, None, "red"),
        "lines": lambda: canvas.lines([(0, 0, 1, 1)], "red"),
        "arrow": lambda: canvas.arrow([(0, 0), (1, 1)], "red"),
        "area": lambda: canvas.area([(0, 0), (1, 1), (2, 0)], "red"),
        "cells": lambda: canvas.cells(0, 0, 1, 1, [["red"]]),
        "dot": lambda: canvas.dot(0, 0, 1, "red"),
    }
    with pytest.raises(LayoutError, match="is not a role; supported: c0"):
        calls[draw]()
