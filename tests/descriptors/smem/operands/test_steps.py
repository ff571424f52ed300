"""Where rows and columns must begin, in words: the break that is named is the first one, and counted as users count."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptors.smem.operands.canonical import Axis, axis_of, begins, bytes_text, first_break
from descriptors.smem.operands.operand import Major, as_element_type
from layoutalg import Layout


@given(leaves=st.lists(st.tuples(st.integers(1, 4), st.integers(-9, 9)), min_size=1, max_size=4))
def test_the_break_that_is_named_is_the_first_index_that_lies_elsewhere(leaves: list[tuple[int, int]]) -> None:
    mode = Layout(tuple(extent for extent, _ in leaves), tuple(stride for _, stride in leaves))
    places = [mode(i) for i in range(prod(extent for extent, _ in leaves))]
    at, step, offset = first_break(mode)
    apart = [i for i, place in enumerate(places) if len(places) > 1 and place != i * places[1]]
    if apart:
        assert (at, step, offset) == (apart[0], places[1], places[apart[0]])


def test_with_a_step_asked_for_the_first_index_is_at_fault_where_it_has_another() -> None:
    assert first_break(Layout((4, 2), (8, 64)), 4) == (1, 4, 8)
    assert first_break(Layout((4, 2), (8, 64)), 8) == (4, 8, 64)


@pytest.mark.parametrize(
    ("mode", "major", "dtype", "text"),
    [
        (0, Major.K, "bf16", "row 3"),
        (1, Major.K, "bf16", "columns 24 to 31"),
        (0, Major.MN, "e4m3", "rows 48 to 63"),
        (1, Major.MN, "e4m3", "column 3"),
        (1, Major.K, None, "16-byte unit 3"),
    ],
)
def test_an_axis_counts_elements_wherever_their_type_is_known(
    mode: int, major: Major, dtype: str | None, text: str
) -> None:
    assert axis_of(mode, major, None if dtype is None else as_element_type(dtype)).named(3) == text


def test_one_is_one() -> None:
    assert Axis("row", "MN", 1).counted(1) == "1 row"
    assert bytes_text(1, 8) == "1 byte"
    sentence = begins(Axis("row", "MN", 1), 1, 1, 8, 1, "a field gives", 8)
    assert sentence == "row 1 of MN begins 1 byte after row 0, where a field gives 8 bytes"
