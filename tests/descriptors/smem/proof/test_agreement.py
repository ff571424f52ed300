"""The theorem as it is used: one exclusive-or on both sides, any extents; and the base, which moves both alike."""

from __future__ import annotations

import random
from itertools import product

import pytest
from seeds import seeds_of
from spoilt import right

from descriptors import verify
from descriptors.smem.derivation.basis import verdict
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.proof.theorem import Affine, agreement, agreement_for_all, at, bounds
from descriptors.smem.words.descriptor import WINDOW_BYTES
from layoutalg import cosize, symbol
from layoutalg.frozen import replace


@pytest.mark.parametrize("seed", seeds_of("test_sums_may_carry_and_extents_be_any_number"))
def test_sums_may_carry_and_extents_be_any_number(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(3000):
        n, m, step, other = rng.choice([2, 3, 5, 7]), rng.choice([2, 3, 6]), rng.randrange(40), rng.randrange(40)
        xor = rng.choice([(0, 0, 0), (2, 1, 3), (3, 0, 3)])
        mine = Affine(step, [[(n, step), (m, n * step)], [(3, other)]], xor)
        start, last = step + rng.choice([0, 0, 0, 8]), other + rng.choice([0, 0, 0, 1])
        theirs = Affine(start, [[(m * n, step)], [(3, last)]], xor)
        wrong = [where for where in product(range(n * m), range(3)) if at(mine, where) != at(theirs, where)]
        theorem = agreement(mine, theirs)
        assert (theorem.outcome == "equal") == (not wrong)
        assert not wrong or theorem.at in wrong
        low, high = bounds(mine)
        plain = mine._replace(xor=(0, 0, 0))
        sums = [at(plain, where) for where in product(range(n * m), range(3))]
        assert (low, high) == (min(sums), max(sums))


@pytest.mark.parametrize("seed", seeds_of("test_what_is_proved_at_0_holds_at_every_base_from_which_the_tile_fits"))
def test_what_is_proved_at_0_holds_at_every_base_from_which_the_tile_fits(seed: int) -> None:
    """The enumerating proof walks the same words from bases on and off the pattern's alignment."""
    rng = random.Random(seed)
    for _ in range(150):
        d = replace(right(rng), capacity=None)  # the window of addresses is wider than shared memory
        assert verdict(d).outcome == "equal"
        step = 16 if d.swizzle is SwizzleMode.NONE else 128
        room = WINDOW_BYTES - cosize(d.smem_tile) * d.element.storage_bits // 8 - 1024
        bases = [step * rng.randrange(room // step) for _ in range(3)] + [room // 1024 * 1024]
        assert verify(d, bases=bases).ok, (d.smem_tile, bases)


def test_symbols_are_decided_for_all_values_or_not_at_all() -> None:
    m, k = symbol("m"), symbol("k")
    one = Affine(0, [[(8, 2), (m, 16)], [(k, 16 * m)]])
    assert agreement_for_all(one, Affine(0, [[(8 * m, 2)], [(k, 16 * m)]]))
    assert not agreement_for_all(one, Affine(0, [[(8 * m, 2)], [(k, 16 * k)]]))
    assert not agreement_for_all(one, one._replace(start=m))
    assert not agreement_for_all(one, one._replace(xor=(1, 0, 3)))
