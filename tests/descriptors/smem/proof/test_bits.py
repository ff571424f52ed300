"""Maps under different exclusive-ors: what is decided is what the walk over all coordinates says."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest
from seeds import seeds_of

from descriptors.smem.proof.theorem import Affine, agreement, at

XORS = [(0, 0, 0), (1, 0, 3), (2, 0, 3), (3, 0, 3), (2, 1, 2)]


def random_map(rng: random.Random) -> Affine:
    """Eight or six rows and a few columns, on the diagonal or off it."""
    rows = rng.choice([[(8, 8)], [(8, 9)], [(2, 9), (4, 18)], [(4, 8), (2, 32)], [(4, 8), (2, 36)], [(2, 8), (4, 16)]])
    columns = rng.choice([[(2, 64)], [(2, 1)], [(2, 72)], [(2, 80)]])
    return Affine(rng.choice([0, 0, 0, 64, 8]), [rows, columns], rng.choice(XORS), rng.choice([0, 0, 0, 0, 1]))


@pytest.mark.parametrize("seed", seeds_of("test_a_verdict_is_that_of_the_walk_over_all_coordinates"))
def test_a_verdict_is_that_of_the_walk_over_all_coordinates(seed: int) -> None:
    rng, outcomes = random.Random(seed), Counter[str]()
    for _ in range(8000):
        one, other = random_map(rng), random_map(rng)
        wrong = [where for where in product(range(8), range(2)) if at(one, where) != at(other, where)]
        verdict = agreement(one, other)
        outcomes[verdict.outcome] += 1
        if verdict.outcome == "different":
            assert verdict.at in wrong, (one, other)
        elif verdict.outcome == "equal":
            assert not wrong, (one, other)
    assert outcomes["equal"] > 30 and outcomes["open"] < outcomes.total() // 50, outcomes


def test_a_digit_that_is_no_power_of_two_may_move_by_whole_periods() -> None:
    xor = (3, 0, 3)
    for extent, step, outcome in ((3, 64, "equal"), (3, 128, "equal"), (3, 72, "different")):
        mine, theirs = [(8, 9), (extent, step)], [(8, 8), (extent, step)]
        assert agreement(Affine(0, [mine]), Affine(0, [theirs], xor)).outcome == outcome


def test_sums_that_carry_prove_nothing() -> None:
    """They agree on every bit alone and on every pair, and still nothing is concluded."""
    mine = Affine(0, [[(3, 9)]])
    assert agreement(mine, Affine(0, [[(3, 8)]], (3, 0, 3))).outcome == "open"
