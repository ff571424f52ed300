"""Bisected boundaries beside the walk over all of them, and composition with the one as with the other."""

from __future__ import annotations

import random
from typing import Any

import pytest
from seeds import seeds_of

from layoutalg import Layout, LayoutError
from layoutalg.layouts import plain_composition
from layoutalg.layouts.boundaries import boundaries, is_clean, skipped
from layoutalg.layouts.plain_composition import compose_carefully


@pytest.mark.parametrize("seed", seeds_of("test_bisected_boundaries_say_what_a_walk_says"))
def test_bisected_boundaries_say_what_a_walk_says(seed: int) -> None:
    rng, clean = random.Random(seed), 0
    for _ in range(4000):
        extents = [rng.choice([2, 2, 3, 4, 5]) for _ in range(rng.randint(1, 9))]
        bounds = boundaries(extents)
        steps = [rng.choice(bounds) * rng.choice([1, 1, 1, 2, 3]) + rng.choice([0, 0, 0, 1]) for _ in range(4)]
        modes = [(rng.choice([2, 2, 3]), step) for step in rng.sample(steps, rng.randint(0, 3))]
        walked = all(sum(t % p * (n - 1) for n, t in modes) < p for p in bounds[1:])
        assert is_clean(bounds, modes) == walked, (bounds, modes)
        clean += walked
        for step in steps:
            first, rest = skipped(bounds, step)
            assert step == rest * bounds[first] and all(step % p == 0 for p in bounds[: first + 1])
    assert 400 < clean < 3600


def composed(a: Layout, b: Layout) -> Any:
    try:
        return compose_carefully(a, b)
    except LayoutError as error:
        return str(error)


@pytest.mark.parametrize("seed", seeds_of("test_composition_is_the_same_bisected_and_walked"))
def test_composition_is_the_same_bisected_and_walked(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, refused = random.Random(seed), 0
    for _ in range(3000):
        shape = tuple(rng.choice([2, 2, 3, 4]) for _ in range(rng.randint(2, 12)))
        a = Layout(shape, tuple(rng.randrange(1, 5000) for _ in shape))
        parts, step = [], 1
        for n in shape:
            parts.append((n, step * rng.choice([1, 1, 1, 2, 3, -1, 0]) + rng.choice([0, 0, 0, 0, 0, 0, 1])))
            step *= n
        chosen = rng.sample(parts, rng.randint(1, len(parts)))
        b = Layout(tuple(n for n, _ in chosen), tuple(t for _, t in chosen))
        monkeypatch.setattr(plain_composition, "MANY", 1)
        bisected = composed(a, b)
        monkeypatch.setattr(plain_composition, "MANY", 1000)
        assert bisected == composed(a, b), (a, b)
        refused += isinstance(bisected, str)
    assert 300 < refused < 2900
