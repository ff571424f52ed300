"""Who holds what is the thread-value layout read backwards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layoutalg import Layout, LayoutError, Swizzle, cosize, size
from layoutalg.pictures.quantities import holders, holders_text

extents = st.integers(1, 4)
maps = st.tuples(st.tuples(extents, extents), st.tuples(st.integers(0, 5), st.integers(0, 5))).map(
    lambda drawn: Layout(*drawn)
)


@given(maps, st.integers(0, 5))
def test_a_thread_and_value_hold_an_element_exactly_if_they_map_to_it(map_: Layout, spare: int) -> None:
    count = cosize(map_) + spare
    all_holders = holders(map_, count)
    assert len(all_holders) == count
    threads, values = size(map_, mode=[0]), size(map_, mode=[1])
    pairs = {(k, t, v) for k, held in enumerate(all_holders) for t, v in held}
    assert pairs == {(map_(t, v), t, v) for t in range(threads) for v in range(values)}
    assert sum(map(len, all_holders)) == threads * values


@pytest.mark.parametrize(
    ("map_", "message"),
    [
        (Layout((4, 2, 2)), r"thread_values \(4,2,2\):\(1,4,8\) do not have two modes \(threads, values\)"),
        (Swizzle(3, 4, 3), r"do not have two modes"),
        (Layout((4, 2), (1, 8)), "value 1 of thread 0 is element 8, and the tile has 8 elements"),
        (Layout((4, 2), (-1, 8)), "value 1 of thread 0 is element 8, and the tile has 8 elements"),
        (Layout((2**20, 2)), "the access has 2097152 elements, more than 1048576"),
    ],
)
def test_what_is_no_map_into_the_tile_is_refused(map_: Layout, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        holders(map_, 8)


def test_an_element_without_a_holder_shows_nothing_and_one_with_many_says_how_many() -> None:
    assert [holders_text(held) for held in ((), ((3, 1),), ((0, 0), (4, 2)))] == [None, "T3 V1", "T0 V0 +1"]
