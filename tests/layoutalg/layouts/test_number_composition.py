"""The quick composition of numbers beside the careful one, and what it leaves to that."""

from __future__ import annotations

import random
from typing import Any

import pytest
from seeds import seeds_of

from layoutalg import Layout, LayoutError, composition, size
from layoutalg.layouts.layout import need_readable
from layoutalg.layouts.number_composition import coalesced, quick_composition
from layoutalg.layouts.plain_composition import compose_carefully


def nested(rng: random.Random, leaves: list[tuple[int, int]], levels: int = 3) -> tuple[Any, Any]:
    """Extents and strides of leaves, put into brackets here and there."""
    shape: list[Any] = []
    stride: list[Any] = []
    left = list(leaves)
    while left:
        if levels and rng.random() < 0.3:
            some = rng.randint(1, len(left))
            inner = nested(rng, left[:some], levels - 1)
            shape.append(inner[0])
            stride.append(inner[1])
            left = left[some:]
        else:
            n, d = left.pop(0)
            shape.append(n)
            stride.append(d)
    return tuple(shape), tuple(stride)


def random_pair(rng: random.Random) -> tuple[Layout, Layout]:
    """A layout, compact and in order half of the time, and some of the steps through it, mostly at its boundaries."""
    shape = [rng.choice([1, 2, 2, 3, 4, 6]) for _ in range(rng.randint(1, 6))]
    stride = [rng.choice([0, 1, 2, 7, 24, rng.randrange(-5, 5000), 2**62]) for _ in shape]
    parts, step, compact = [], 1, rng.random() < 0.5
    for i, n in enumerate(shape):
        if compact:
            stride[i] = step * rng.choice([1, 1, 1, 2])
        gone = rng.choice([1, 1, 1, 2, 3, -1, 0]) * step + rng.choice([0] * 8 + [1])
        parts.append((n * rng.choice([1, 1, 2]), gone))
        step *= n
    some = rng.sample(parts, rng.randint(1, len(parts)))
    b = Layout(*some[0]) if rng.random() < 0.1 else Layout(*nested(rng, some))
    return Layout(*nested(rng, list(zip(shape, stride, strict=True)))), b


@pytest.mark.parametrize("seed", seeds_of("test_the_quick_composition_is_the_careful_one"))
def test_the_quick_composition_is_the_careful_one(seed: int) -> None:
    rng, same, left = random.Random(seed), 0, 0
    for _ in range(6000):
        a, b = random_pair(rng)
        quick = quick_composition(a, b)
        try:
            careful = need_readable(compose_carefully(a, b), "composition")
        except LayoutError:
            assert quick is None, (a, b)
            continue
        if quick is None:
            left += 1
            assert composition(a, b) == careful, (a, b)
        else:
            same += 1
            assert repr(quick) == repr(careful), (a, b)
            assert all(quick(i) == careful(i) for i in range(min(64, size(b)))), (a, b)
    assert same > 3000 and left > 300


def deep(leaf: int) -> Any:
    """A leaf in 63 pairs of brackets."""
    value: Any = leaf
    for _ in range(63):
        value = (value,)
    return value


@pytest.mark.parametrize(
    "a, b",
    [
        (Layout((6, 2), (1, 7)), Layout((3, 2), (2, 3))),  # the sum of two leaves carries
        (Layout((6, 2), (1, 7)), Layout(4, 4)),  # no whole turns
        (Layout((4, 2), (1, 8)), Layout(2, -1)),  # below zero
        (Layout((4, 2), (-1, 8)), Layout(2, 1)),  # a result below zero
        (Layout((4, 2), (2**62, 1)), Layout(2, 3)),  # a result beyond 64 bits
        (Layout((4, 2), (1, 8)), Layout(deep(2), deep(1))),  # nested as deeply as a layout may be
    ],
    ids=str,
)
def test_what_is_not_plain_is_left_to_the_careful_way(a: Layout, b: Layout) -> None:
    assert quick_composition(a, b) is None


def test_a_last_mode_of_one_stays_unless_it_goes_on() -> None:
    assert coalesced((2, 1), (4, 5)) == ([2, 1], [4, 5])
    assert coalesced((2, 1), (4, 8)) == ([2], [4])
    assert coalesced((1, 1), (4, 8)) == ([1], [8])
    assert coalesced((), ()) == ([1], [0])
