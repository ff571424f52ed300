"""The inputs of scripts/bench.py: varied and well-formed, drawn from a seeded generator.

They are plain data, so that they can be sent to the process that runs the CuTe DSL: a tuple is a list, a layout is
``{"layout": [shape, stride]}``, with ``"swizzle": [bits, base, shift]`` beside it for a swizzled one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

Rng = random.Random
POWERS = (2, 4, 8, 16)


def strides_of(rng: Rng, extents: list[int], gap: float = 0.0) -> list[int]:
    """Injective strides in a random order of the modes, with a gap after some of them."""
    strides, current = [0] * len(extents), 1
    for mode in rng.sample(range(len(extents)), len(extents)):
        strides[mode] = current
        current *= extents[mode] * (2 if rng.random() < gap else 1)
    return strides


def nest(leaves: list[Any], groups: list[int]) -> list[Any]:
    """Group consecutive leaves into modes: one leaf alone is an integer mode."""
    leaves_left: Iterator[Any] = iter(leaves)
    return [next(leaves_left) if count == 1 else [next(leaves_left) for _ in range(count)] for count in groups]


def layout(rng: Rng, sizes: tuple[int, ...] = (2, 3, 4, 6, 8), modes: int | None = None, gap: float = 0.0) -> Any:
    groups = [rng.choice((1, 1, 2)) for _ in range(modes or rng.choice((2, 3)))]
    extents = [rng.choice(sizes) for _ in range(sum(groups))]
    return {"layout": [nest(extents, groups), nest(strides_of(rng, extents, gap), groups)]}


def tile(rng: Rng) -> Any:
    """A rank-2 tile of powers of two, stacked from an atom or flat, and a tiler that divides both modes."""
    extents = [rng.choice((8, 16)), rng.choice((4, 8, 16)), rng.choice((16, 32, 64)), rng.choice((2, 4))]
    groups = rng.choice(([2, 2], [1, 1], [2, 1]))
    extents = extents[: sum(groups)]
    tiler = [rng.choice((2, 4, 8)), rng.choice((2, 4))]
    return [{"layout": [nest(extents, groups), nest(strides_of(rng, extents), groups)]}, tiler]


def swizzled_tile(rng: Rng) -> Any:
    plain, tiler = tile(rng)
    return [{"swizzle": rng.choice(([3, 4, 3], [2, 4, 3], [1, 4, 3])), **plain}, tiler]


def composition_case(rng: Rng) -> Any:
    outer = layout(rng, POWERS)
    total = size(outer["layout"][0])
    inner: list[int] = []
    while len(inner) < 4 and size(inner) * 4 <= total:
        inner.append(rng.choice((2, 4)))
    groups = rng.choice(([1] * len(inner), [len(inner)])) if len(inner) != 1 else [1]
    return [outer, {"layout": [nest(inner, groups), nest(strides_of(rng, inner), groups)]}]


def complement_case(rng: Rng) -> Any:
    operand = layout(rng, POWERS, gap=0.5)
    return [operand, 4 * cosize(operand)]


def product_case(rng: Rng) -> Any:
    return [layout(rng, POWERS, modes=2), layout(rng, (2, 3, 4), modes=2)]


def atom_case(rng: Rng) -> Any:
    rows, width = rng.choice((4, 8)), rng.choice((16, 32, 64))
    atom = {"layout": [[rows, width], rng.choice(([width, 1], [1, rows]))]}
    return [atom, [rows * rng.choice((2, 8, 16)), width * rng.choice((2, 3, 4))], rng.choice(([0, 1], [1, 0]))]


def upcast_case(rng: Rng) -> Any:
    rows, width = rng.choice((8, 16, 64)), rng.choice((16, 32, 64))
    plain = rng.choice(
        ([[rows, width], [width, 1]], [[[8, rows], [width, 2]], [[width, 8 * width], [1, 8 * width * rows]]])
    )
    return [{"layout": plain}, rng.choice((2, 4, 8))]


def coordinate_case(rng: Rng) -> Any:
    operand = layout(rng, modes=2)
    return [operand, [rng.randrange(size(mode)) for mode in operand["layout"][0]]]


def slice_case(rng: Rng) -> Any:
    operand, coordinate = coordinate_case(rng)
    coordinate[rng.randrange(2)] = None
    return [coordinate, operand]


def common_case(rng: Rng) -> Any:
    extents = [rng.choice(POWERS) for _ in range(3)]
    return [{"layout": [extents, strides_of(rng, extents)]}, {"layout": [extents, strides_of(rng, extents)]}]


def zeros_case(rng: Rng) -> Any:
    operand = layout(rng, modes=3)
    operand["layout"][1][rng.randrange(3)] = 0
    operand["layout"][0] = [
        size(mode) if stride == 0 else mode for mode, stride in zip(*operand["layout"], strict=True)
    ]
    return [operand]


def size(shape: Any) -> int:
    total = 1
    for item in shape if isinstance(shape, list) else [shape]:
        total *= size(item) if isinstance(item, list) else item
    return total


def cosize(plain: Any) -> int:
    def last(shape: Any, stride: Any) -> int:
        if isinstance(shape, list):
            return sum(map(last, shape, stride))
        return int((shape - 1) * stride)

    return last(*plain["layout"]) + 1
