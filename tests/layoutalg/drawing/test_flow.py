"""Tables side by side: every one once, in its order, without touching."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from layoutalg.drawing.arrange import ACROSS, group, lines, place_groups
from layoutalg.drawing.figure import Figure
from layoutalg.drawing.shapes import Arrow, Box


def block(wide: float, high: float) -> Figure:
    figure = Figure()
    figure.box(-5, -7, wide, high, "c0")
    return figure


@given(st.integers(1, 40), st.integers(1, 12), st.integers(0, 8))
def test_every_item_stands_in_one_line(count: int, most: int, stacked: int) -> None:
    in_lines = lines(list(range(count)), most, stacked)
    assert sorted(item for line in in_lines for item in line) == list(range(count))
    assert all(0 < len(line) <= most for line in in_lines)
    assert in_lines == lines(list(range(count)), most, stacked)
    if stacked and count <= stacked * most:
        assert [line[0] for line in in_lines] == list(range(min(stacked, count)))
    else:
        assert len(in_lines) == -(-count // most)


@given(st.lists(st.tuples(st.integers(20, 700), st.integers(20, 300)), min_size=1, max_size=9), st.integers(0, 3))
def test_tables_do_not_touch(sizes: list[tuple[int, int]], stacked: int) -> None:
    figure = group([block(*size) for size in sizes], stacked, "name")
    boxes = [shape.bounds() for shape in figure.scene("A", "b", 0).shapes if isinstance(shape, Box)]
    assert len(boxes) == len(sizes)
    for number, one in enumerate(boxes):
        for other in boxes[number + 1 :]:
            assert one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]


def test_groups_stand_beside_one_another_or_below_where_that_is_too_wide() -> None:
    for wide, beside in ((100, True), (ACROSS, False)):
        figure = Figure()
        foot = place_groups(figure, [block(wide, 80), block(100, 40)], 10.5)
        shapes = figure.scene("A", "b", 0).shapes
        one, other = (shape.bounds() for shape in shapes if isinstance(shape, Box))
        (arrow,) = (shape for shape in shapes if isinstance(shape, Arrow))
        start, end = arrow.points
        assert (one[1] == other[1]) == beside
        assert (start[1] == end[1]) == beside
        assert foot >= 11 + 80 - 7
        assert one[2] < start[0] < end[0] < other[0] if beside else one[3] < start[1] < end[1] < other[1]
