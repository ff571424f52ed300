"""Shapes know where they end, and moving one moves its bounds."""

from __future__ import annotations

from typing import Any

import pytest
from each import each

from layoutalg.drawing.metrics import width
from layoutalg.drawing.shapes import Area, Arrow, Box, Cells, Lines, Text

SHAPES: list[tuple[Any, tuple[float, float, float, float]]] = [
    (Cells("c0", ((0, 0, 10, 5), (20, 5, 10, 5))), (0, 0, 30, 10)),
    (Lines("ink", 2, ((0, 0, 10, 0), (5, -4, 5, 4))), (0, -4, 10, 4)),
    (Lines("ink", 2, ((0, 0, 3, 4),)), (-0.8, -0.6, 3.8, 4.6)),
    (Box(1, 2, 10, 20, "c0"), (1, 2, 11, 22)),
    (Box(1, 2, 10, 20, None, "ink", 4), (-1, 0, 13, 24)),
    (Area("beam", ((0, 0), (10, 5), (3, 9))), (0, 0, 10, 9)),
    (Arrow("accent", ((0, 0), (10, 0)), 2, 8), (-4, -4, 14, 4)),
    (Arrow("accent", ((0, 0), (10, 0)), 2, 0), (-1, -1, 11, 1)),
    (Text("ink", 10, ((0, 0, "ab"), (0, 20, "abcd")), mono=True), (0, -9.5, 24.4, 22.8)),
    (Text("ink", 10, ((0, 0, "abcd"),), "end", True), (-24.4, -9.5, 0, 2.8)),
    (Text("ink", 10, ((0, 0, "abcd"),), "middle", True), (-12.2, -9.5, 12.2, 2.8)),
    (Text("ink", 10, ((0, 0, "abcd"),), "start", True, False, 90), (-2.8, 0, 9.5, 24.4)),
    (Text("ink", 10, ((0, 0, "abcd"),), "start", True, False, -90), (-9.5, -24.4, 2.8, 0)),
]


@each(("shape", "bounds"), SHAPES)
def test_a_shape_ends_where_it_ends_and_moved_by_as_much_further(shape: Any, bounds: tuple[float, ...]) -> None:
    assert shape.bounds() == pytest.approx(bounds)
    left, top, right, bottom = bounds
    assert shape.moved(7, -3).bounds() == pytest.approx((left + 7, top - 3, right + 7, bottom - 3))
    assert shape.moved(7, -3).moved(-7, 3) == shape


def test_the_bounds_of_a_text_are_those_of_its_face() -> None:
    plain, bold = (Text("ink", 13, ((0, 0, "Widths"),), bold=bold).bounds()[2] for bold in (False, True))
    assert (plain, bold) == (width("Widths", 13), width("Widths", 13, bold=True))
