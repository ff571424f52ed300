"""make_layout_tv: whose element is whose, by enumeration."""

from __future__ import annotations

from random import Random

import pytest
from seeds import seeds_of

from layoutalg import Layout, LayoutError, make_layout_tv, make_ordered_layout, raked_product, size


@pytest.mark.parametrize("seed", seeds_of("test_every_element_has_one_thread_and_one_value"))
def test_every_element_has_one_thread_and_one_value(seed: int) -> None:
    random = Random(seed)
    for _ in range(40):
        modes = random.choice([1, 2, 3])
        threads, values = (
            make_ordered_layout(
                tuple(random.choice([1, 2, 3, 4]) for _ in range(modes)), tuple(random.sample(range(modes), modes))
            )
            for _ in range(2)
        )
        tiler, tv = make_layout_tv(threads, values)
        owner, count = raked_product(threads, values), int(size(threads))
        assert tiler == tuple(a * b for a, b in zip(threads.shape, values.shape, strict=True))  # type: ignore[arg-type]
        for thread in range(count):
            for value in range(int(size(values))):
                assert owner(tv(thread, value)) == thread + count * value


def test_values_of_a_thread_lie_together() -> None:
    _, tv = make_layout_tv(Layout((2, 3), (3, 1)), Layout((2, 2), (2, 1)))
    assert [(tv(4, v) % 4, tv(4, v) // 4) for v in range(4)] == [(2, 2), (2, 3), (3, 2), (3, 3)]


@pytest.mark.parametrize(("threads", "values"), [(Layout(4, 2), Layout(2)), (Layout(4), Layout(2, 0))])
def test_numbers_with_gaps_are_refused(threads: Layout, values: Layout) -> None:
    with pytest.raises(LayoutError):
        make_layout_tv(threads, values)
