"""Labels beside a table: in the middle of what they hold for, and never so many that they touch."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layoutalg.drawing.arrange import column_labels, height_above, label_interval, row_labels, width_beside
from layoutalg.drawing.figure import Figure
from layoutalg.drawing.grid import Axis
from layoutalg.drawing.shapes import Text


def texts(axis: Axis, step: float, *, down: bool) -> list[Text]:
    figure = Figure()
    (row_labels if down else column_labels)(figure, axis, step)
    left, top, _, _ = figure.bounds()
    shapes: tuple[Any, ...] = figure.scene("Axis", "One.", 0).moved(-(-left // 1 * 1), -(-top // 1 * 1))
    return [shape for shape in shapes if isinstance(shape, Text)]


@given(st.integers(1, 600), st.floats(1, 40), st.floats(1, 60), st.booleans())
def test_labels_that_are_written_have_their_room(count: int, step: float, need: float, again: bool) -> None:
    skip = label_interval(count, step, need, again=again)
    assert skip * step >= need or skip >= count
    assert skip >= count or not again or (count - (count - 1) // skip * skip) * step >= need
    assert skip == 1 or again or skip / 2 * step < need


@pytest.mark.parametrize("down", [True, False])
@given(shape=st.lists(st.integers(1, 12), min_size=1, max_size=3).map(tuple), step=st.sampled_from([2, 5, 14, 30]))
def test_no_two_labels_of_a_line_touch(down: bool, shape: tuple[int, ...], step: float) -> None:
    for line in texts(Axis.of(shape, 1, None), step, down=down):
        boxes = [Text(line.role, line.size, (item,), line.anchor, line.mono).bounds() for item in line.items]
        for one, other in pairwise(boxes):  # digits have no tails, for which the boxes leave room
            assert one[2] <= other[0] or one[3] <= other[1] + 0.3 * line.size


def test_a_slower_leaf_is_written_over_the_middle_of_its_run() -> None:
    lines = texts(Axis.of((4, 2), 1, None), 20, down=False)
    slow = [[word for _, _, word in line.items] for line in lines]
    assert slow == [["[1,0]"], [*"01230123"], ["[1,1]"], ["0", "1"]]
    first, second = (x for x, _, _ in lines[3].items)
    assert second - first == 80


def test_a_table_of_one_row_has_no_labels_beside_it() -> None:
    assert width_beside(Axis((), (), 1)) == height_above(Axis((), (), 1)) == 0
    assert texts(Axis((), (), 1), 20, down=True) == []
