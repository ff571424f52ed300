"""Two maps over digits are one iff their normal forms are: beside the values at every index."""

from __future__ import annotations

import random
from math import prod

import pytest
from seeds import seeds_of

from descriptors.smem.proof.digits import Digit, common, cut, first_difference, listed, normal, value
from layoutalg import symbol

SHAPES = [(24,), (2, 12), (12, 2), (3, 8), (8, 3), (2, 3, 4), (4, 3, 2), (3, 2, 2, 2), (1, 24, 1), (6, 4), (4, 6)]


def maps(rng: random.Random) -> list[Digit]:
    """A map over 24 indices: compact more often than not, so that two of them often agree."""
    shape, below = rng.choice(SHAPES), 1
    steps = []
    for n in shape:
        steps.append(rng.choice([below, below, below, below, 0, -below, rng.randrange(9)]))
        below *= n
    return list(zip(shape, steps, strict=True))


@pytest.mark.parametrize("seed", seeds_of("test_the_verdict_is_that_of_all_values"))
def test_the_verdict_is_that_of_all_values(seed: int) -> None:
    rng, equal = random.Random(seed), 0
    for _ in range(6000):
        one, other = maps(rng), maps(rng)
        wrong = [i for i in range(24) if value(one, i) != value(other, i)]
        difference = first_difference(one, other)
        assert difference in wrong if wrong else difference is None, (one, other)
        assert [value(normal(one), i) for i in range(24)] == [value(one, i) for i in range(24)]
        equal += not wrong
    assert equal > 200


@pytest.mark.parametrize("seed", seeds_of("test_common_digits_take_both_maps_apart"))
def test_common_digits_take_both_maps_apart(seed: int) -> None:
    rng, shared = random.Random(seed), 0
    for _ in range(1000):
        one, other = maps(rng), maps(rng)
        shared_digits = common(one, other)
        if shared_digits is None:
            continue
        shared += 1
        assert prod(n for n, _, _ in shared_digits) == 24
        for side, mine in enumerate((one, other)):
            digits = [(row[0], row[1 + side]) for row in shared_digits]
            assert [value(digits, i) for i in range(24)] == [value(mine, i) for i in range(24)]
    assert shared > 100


def test_symbols_are_joined_where_they_are_the_same_polynomial() -> None:
    m, k = symbol("m"), symbol("k")
    assert normal([(8, 64), (m, 512), (k, 512 * m)]) == [(8 * m * k, 64)]
    assert normal([(8, 64), (m, 512 * k)]) == [(8, 64), (m, 512 * k)]


@pytest.mark.parametrize("seed", seeds_of("test_a_map_is_cut_wherever_it_is_a_sum_over_blocks"))
def test_a_map_is_cut_wherever_it_is_a_sum_over_blocks(seed: int) -> None:
    rng, whole = random.Random(seed), 0
    for _ in range(3000):
        one, extent = maps(rng), rng.choice([1, 2, 3, 4, 6, 8, 12, 24])
        values, halves = [value(one, i) for i in range(24)], cut(one, extent)
        assert values == listed(one)
        blocks = [values[i : i + extent] for i in range(0, 24, extent)]
        sums = all(x - block[0] == y for block in blocks for x, y in zip(block, values, strict=False))
        assert (halves is not None) == sums, (one, extent)
        if halves is not None:
            head, tail = map(listed, halves)
            assert values == [x + y for y in tail for x in head]
            assert halves == (normal(halves[0]), normal(halves[1]))
            whole += 1
    assert 1000 < whole < 2900
