"""Items of lesson 6: a matrix cut into tiles, a strided tiler that may not divide, a tile stacked in either order.

Law: the two orders of stacking are kinds of their own.

>>> from random import Random
>>> from descriptors.course.papers.item import make
>>> [make(kind, Random(1)).exercise.solution for kind in KINDS[3:]]
['((2,8),(2,3)):((1,4),(2,32))', '((2,8),(2,3)):((1,12),(2,4))']
"""

from __future__ import annotations

from functools import partial
from random import Random

from descriptors.course.papers.item import OR_NONE, Draft, Kind, pick, two
from layoutalg import Layout, LayoutError, cosize, logical_divide, tile_to_shape, zipped_divide


def cut(rng: Random) -> Draft | None:
    """A matrix by a tile: where in the tile, and which tile."""
    r, c, down, across = (pick(rng, (2, 3, 4)) for _ in range(4))
    m, n = r * down, c * across
    s, t = pick(rng, ((n, 1), (1, m), (n + 2, 1), (1, m + 1)))
    matrix = Layout((m, n), (s, t))
    right = str(zipped_divide(matrix, (r, c)))
    if (r, c) == (down, across):
        return None
    name = f"(({r},{c}),({down},{across}))"
    return Draft(
        ask=(
            f"The zipped divide of `{matrix}` by `({r},{c})`: the first mode is where in the tile, the second "
            "which tile."
        ),
        judge="zipped_divide",
        operands=(str(matrix), (r, c)),
        starter=f"(({r},{c}),(?,?)):((?,?),(?,?))",
        hints=(
            f"How many tiles of {r} rows lie below one another, and how many of {c} columns side by side?",
            "Inside the tile the strides are those of the matrix.",
            f"The next tile below starts {r} rows later, the next one on the right {c} columns later.",
        ),
        solution=right,
        why=f"{down} by {across} tiles; from one to the next it is {r}*{s} down and {c}*{t} to the right.",
        slips=(
            (f"{name}:(({s},{t}),({s},{t}))", "the steps from tile to tile are those inside the tile"),
            (f"{name}:(({s},{t}),({c * t},{r * s}))", "the steps down and to the right are exchanged"),
            (f"(({r},{down}),({c},{across})):(({s},{r * s}),({t},{c * t}))", "the directions are not zipped"),
            (f"{name}:(({s},{t}),({r * c},{r * c * down}))", "the tiles are taken to lie one behind the other"),
            (f"(({r},{c}),({across},{down})):(({s},{t}),({r * s},{c * t}))", "the numbers of tiles are exchanged"),
        ),
    )


def strided(rng: Random, *, exists: bool) -> Draft | None:
    """A row of elements by a strided tiler, which must fill it in whole tiles."""
    r, d = pick(rng, (2, 3, 4, 5, 6)), pick(rng, (1, 2, 3, 4))
    n = pick(rng, (12, 16, 18, 20, 24, 30, 32, 36))
    target, tiler = Layout(n, 1), Layout(r, d)
    right = _divided(target, tiler)
    if (right is not None) is not exists or cosize(tiler) > n or n == r:
        return None
    rest = max(1, n // r)
    full = n % (r * d) == 0
    slips = [
        (two(r, rest, d, r * d), "the groups are taken to lie one behind the other"),
        (two(r, rest, 1, r), "the tiler's stride is left out"),
        (two(r, rest, d, d), "the groups start as far apart as the elements of one"),
        (two(rest, r, 1, rest), "the numbers of groups and of elements are exchanged"),
    ]
    if exists:
        slips.insert(1, ("none", "a stride is taken for a reason that there is none"))
    else:
        slips.insert(0, (two(r, -(-n // r), d, 1), "the number of groups is rounded up"))
    return Draft(
        ask=(
            f"The logical divide of `{target}` by `{tiler}`: the first mode takes {r} elements {d} apart, "
            "the second says "
            f"where such groups start, so that each element is in one group. {OR_NONE}"
        ),
        judge="lawful",
        operands=("logical_divide", str(target), str(tiler)),
        starter="(?,?):(?,?)",
        hints=(
            f"How many groups of {r} are needed for {n} elements?",
            f"The first group is {', '.join(str(d * i) for i in range(r))}: which elements lie between?",
            f"Groups that fill each other's gaps fill {r * d} elements together: how often does that go into {n}?",
        ),
        solution=str(right) if exists else "none",
        why=(
            f"The second mode is the complement of {tiler} in {n}."
            if exists
            else f"Groups fill whole stretches of {r * d}, and {n} is no multiple of {r * d}."
        ),
        slips=tuple(slips),
    ) if full is exists else None  # fmt: skip


def _divided(target: Layout, tiler: Layout) -> Layout | None:
    try:
        found = logical_divide(target, tiler)
    except LayoutError:
        return None
    return found if isinstance(found, Layout) else None


def stacked(rng: Random, order: tuple[int, int]) -> Draft | None:
    """A tile repeated over a matrix, down first or across first."""
    r, c, down, across = (pick(rng, (2, 3, 4, 8)) for _ in range(4))
    if r * c * down * across > 256 or (down == across and r == c):
        return None
    tile = Layout((r, c), (c, 1) if rng.random() < 0.5 else (1, r))
    s, t = tile.stride  # type: ignore[misc]
    m, n, block = r * down, c * across, r * c
    right, other = tile_to_shape(tile, (m, n), order), tile_to_shape(tile, (m, n), order[::-1])
    words = "down first and then across" if order == (0, 1) else "across first and then down"
    shape = f"(({r},{down}),({c},{across}))"
    return Draft(
        ask=f"The layout of {m} by {n} elements that is made of the tile `{tile}`, one behind the other, {words}.",
        judge="tile_to_shape",
        operands=(str(tile), (m, n), order),
        starter=f"(({r},?),({c},?)):(({s},?),({t},?))",
        hints=(
            "How many elements has one tile? That is how far away the next one starts.",
            f"{down} tiles lie below one another, {across} side by side.",
            f"A whole line of tiles has {block * (down if order == (0, 1) else across)} elements.",
        ),
        solution=str(right),
        why=f"The next tile starts {block} later; after a whole line of them the other direction goes on.",
        slips=(
            (str(other), "the order is exchanged: the same picture, another memory"),
            (f"{shape}:(({s},{block}),({t},{block}))", "both directions go on with the next tile"),
            (f"{shape}:(({s},{r * _whole(s)}),({t},{c * _whole(t)}))", "the tile's own strides go on"),
            (f"{shape}:(({t},{block}),({s},{block * down}))", "the strides inside the tile are exchanged"),
            (two(m, n, n, 1), "it is stored row after row, without tiles"),
        ),
    )


def _whole(stride: object) -> int:
    assert isinstance(stride, int)
    return stride


#: The kinds of this module; the two of a strided tiler ask in the same words.
KINDS = (
    Kind("cut", 6, 2, cut),
    Kind("divides", 6, 2, partial(strided, exists=True)),
    Kind("does not divide", 6, 3, partial(strided, exists=False), none=True),
    Kind("stack down", 6, 2, partial(stacked, order=(0, 1))),
    Kind("stack across", 6, 2, partial(stacked, order=(1, 0))),
)
