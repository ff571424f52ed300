"""Bisected boundaries beside the walk over all modes, and composition with the one as with the other."""

from __future__ import annotations

import random

import pytest
from seeds import seeds_of

from layoutalg import Layout
from layoutalg.layouts import number_composition
from layoutalg.layouts.layout import trusted
from layoutalg.layouts.number_composition import boundaries, quick_composition, skipped
from layoutalg.layouts.plain_composition import compose_carefully
from layoutalg.tuples.int_tuple import compact_strides


@pytest.mark.parametrize("seed", seeds_of("test_bisected_boundaries_say_what_a_walk_says"))
def test_bisected_boundaries_say_what_a_walk_says(seed: int) -> None:
    rng, far = random.Random(seed), 0
    for _ in range(4000):
        extents = [rng.choice([2, 2, 3, 4, 5]) for _ in range(rng.randint(1, 9))]
        bounds = boundaries(extents)
        for step in [rng.choice(bounds) * rng.choice([1, 1, 1, 2, 3]) + rng.choice([0, 0, 0, 1]) for _ in range(4)]:
            first, rest = skipped(bounds, step)
            assert step == rest * bounds[first] and all(step % p == 0 for p in bounds[: first + 1])
            walked, left = 0, step
            while walked < len(extents) - 1 and left % extents[walked] == 0:
                left //= extents[walked]
                walked += 1
            assert (first, rest) in ((walked, left), (0, step)), (extents, step)
            far += first == walked > 0
    assert far > 4000


@pytest.mark.parametrize("seed", seeds_of("test_composition_is_the_same_bisected_and_walked"))
def test_composition_is_the_same_bisected_and_walked(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, same = random.Random(seed), 0
    for _ in range(3000):
        shape = tuple(rng.choice([2, 2, 3, 4]) for _ in range(rng.randint(2, 12)))
        a = Layout(shape, tuple(rng.randrange(1, 5000) for _ in shape))
        parts, step = [], 1
        for n in shape:
            parts.append((n, step * rng.choice([1, 1, 1, 2, 3, -1, 0]) + rng.choice([0, 0, 0, 0, 0, 0, 1])))
            step *= n
        some = rng.sample(parts, rng.randint(1, len(parts)))
        b = Layout(tuple(n for n, _ in some), tuple(t for _, t in some))
        monkeypatch.setattr(number_composition, "MANY", 1)
        bisected = quick_composition(a, b)
        monkeypatch.setattr(number_composition, "MANY", 1000)
        assert bisected == quick_composition(a, b), (a, b)
        if bisected is not None:
            same += 1
            assert bisected == compose_carefully(a, b), (a, b)
    assert same > 300


def test_many_modes_are_bisected() -> None:
    """With as many modes as pieces, whose indices no 64 bits number: the quick way has the answer of the walk."""
    rank = 3 * number_composition.MANY
    a = trusted((2,) * rank, (7, 1) * (rank // 2))
    b = trusted(a.shape, compact_strides(a.shape))
    assert quick_composition(a, b) == compose_carefully(a, b) == a
