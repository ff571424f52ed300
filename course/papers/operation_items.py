"""Items of lessons 4 to 6: compositions, complements and divisions, each of which may not exist.

Law: a kind that has no answer is answered by `none`, a complement and its layout reach each offset once, and the two
orders of stacking are kinds of their own.

>>> from random import Random
>>> from papers.item import make
>>> named = {kind.name: kind for kind in KINDS}
>>> [make(named[name], Random(1)).exercise.solution for name in ("composition", "no composition")]
['((3,2),3):((4,13),1)', 'none']
>>> [make(named[name], Random(1)).exercise.solution for name in ("complement", "no complement")]
['4:1', 'none']
>>> [make(named[name], Random(1)).exercise.solution for name in ("stack down", "stack across")]
['((2,8),(2,3)):((1,4),(2,32))', '((2,8),(2,3)):((1,12),(2,4))']
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from layoutalg import (
    Layout,
    LayoutError,
    complement,
    composition,
    cosize,
    flatten,
    logical_divide,
    rank,
    right_inverse,
    size,
    tile_to_shape,
    zipped_divide,
)
from papers.item import OR_NONE, Draft, Kind, below, pick, some, two

_HINTS = (
    "Take b mode by mode, and write down the indices of a that it visits.",
    "Is the step from one offset to the next always the same, or the same in whole groups?",
)


def composition_of(rng: Random) -> Draft | None:
    """A composition in which a step of b leaves a mode of a at its end."""
    a, b = _pair(rng)
    right = _result(composition, a, b)
    if cosize(b) > size(a) or right is None or rank(flatten(right)) <= rank(flatten(b)) or str(right) == str(b):
        return None
    visited = [b(i) for i in range(3)]
    return Draft(
        ask=_ask_composition(a, b),
        judge="lawful",
        operands=("composition", str(a), str(b)),
        starter="?",
        hints=(*_HINTS, f"b begins {visited}, where a is {[a(i) for i in visited]}."),
        solution=str(right),
        why=f"The offsets are {[a(b(i)) for i in range(size(b))]}, and this layout has them in the modes of b.",
        slips=(
            (_naive(a, b), "the strides are multiplied, though b runs over the end of a's first mode"),
            ("none", "a step that leaves a mode at its end is taken for one that breaks it"),
            (str(b), "b is not led through a"),
            (_swapped(a, b), "b is applied last"),
            (f"{b.shape}:{_scaled(b, _last_stride(a))}".replace(" ", ""), "only the last stride of a is used"),
            (f"{size(b)}:{a(b(1))}", "the first step is taken for all of them"),
        ),
    )


def no_composition(rng: Random) -> Draft | None:
    """A composition that no layout is."""
    a, b = _pair(rng)
    if cosize(b) > size(a) or _result(composition, a, b) is not None:
        return None
    values = [a(b(i)) for i in range(size(b))]
    places = ", ".join(map(str, values))
    return Draft(
        ask=_ask_composition(a, b),
        judge="lawful",
        operands=("composition", str(a), str(b)),
        starter="?",
        hints=(*_HINTS, f"Write down a(b(i)) for all {size(b)} indices, and the step between neighbours."),
        solution="none",
        why=f"a(b(i)) is {places}. A step of b runs over the end of a mode of a in the middle, so that no strides fit.",
        slips=(
            (_naive(a, b), "the strides are multiplied, though b runs over the end of a's first mode"),
            (_rounded(a, b), "a quotient that is no integer is rounded, as published programs do"),
            (str(b), "b is not led through a"),
            (f"{size(b)}:{values[1]}", "the first step is taken for all of them"),
            (f"{b.shape}:{_scaled(b, _last_stride(a))}".replace(" ", ""), "only the last stride of a is used"),
        ),
    )


def broken(rng: Random) -> Draft | None:
    """A layout b to be found that has no composition with a."""
    m, n = pick(rng, (4, 6, 8, 9, 10)), pick(rng, (3, 4, 5, 6))
    a = Layout((m, n), (1, m + pick(rng, (1, 2, 3))))
    bad = [k for k in range(2, m) if m % k]
    good = [k for k in range(2, m) if m % k == 0]
    if not bad or not good:
        return None
    step = pick(rng, bad)
    count = next((c for c in range(2, m) if _result(composition, a, Layout(c, step)) is None), None)
    if count is None or count * step > m * n:
        return None
    fits = good[0]
    return Draft(
        ask=f"A layout b for which a = `{a}` and b have no composition.",
        judge="no composition",
        operands=(str(a),),
        starter="?:?",
        hints=(
            f"The first mode has {m} coordinates. Which steps do not fit into {m}?",
            "Follow such a step over the end of the first mode: are the offsets still the same step apart?",
            f"{step} does not divide {m}: try a layout with that stride, long enough to leave the first mode.",
        ),
        solution=f"{count}:{step}",
        why=f"a at its indices is {[a(step * i) for i in range(count)]}: no single stride leads through all of them.",
        slips=(
            (f"{m // fits}:{fits}", "a step that divides the first mode stays inside it"),
            (f"{m * n // fits}:{fits}", "a step that divides the first mode leaves it at its end"),
            (f"{n}:{m}", "a step of the whole first mode moves in the second alone"),
            (f"2:{step}", "two elements are always a layout"),
            (str(Layout((m, n), (1, m))), "b is the identity of the indices"),
        ),
    )


def _result(operation: Callable[..., object], *operands: object) -> Layout | None:
    """The layout that an operation gives; None if it gives none, or none without a swizzle."""
    try:
        layout = operation(*operands)
    except LayoutError:
        return None
    return layout if isinstance(layout, Layout) else None


def _pair(rng: Random) -> tuple[Layout, Layout]:
    """Two layouts, the second of which stays within the indices of the first."""
    m, n = pick(rng, (4, 6, 8, 9, 12)), pick(rng, (2, 3, 4, 6))
    a = Layout((m, n), pick(rng, ((n, 1), (1, m + 1), (1, m + 3), (2, 2 * m + 3), (3, 1))))
    step, total = pick(rng, (2, 3, 4, 6)), m * n
    longest = (total - 1) // step + 1
    if rng.random() < 0.6:
        return a, Layout(pick(rng, range(3, max(4, min(longest, 8) + 1))), step)
    count = pick(rng, range(2, max(3, min(longest, 6) + 1)))
    return a, Layout((count, 2 if step == 2 else 3), (step, 1))


def _ask_composition(a: Layout, b: Layout) -> str:
    return f"The composition of a = `{a}` and b = `{b}`, that is the layout with the offsets a(b(i)). {OR_NONE}"


def _scaled(b: Layout, factor: int) -> int | tuple[int, ...]:
    return tuple(factor * d for d in b.stride) if isinstance(b.stride, tuple) else factor * b.stride  # type: ignore


def _first_stride(a: Layout) -> int:
    return a.stride[0]  # type: ignore


def _last_stride(a: Layout) -> int:
    return a.stride[-1]  # type: ignore


def _naive(a: Layout, b: Layout) -> str:
    return f"{b.shape}:{_scaled(b, _first_stride(a))}".replace(" ", "")


def _swapped(a: Layout, b: Layout) -> str:
    return str(_result(composition, b, a) or b)


def _rounded(a: Layout, b: Layout) -> str:
    """What rounding up gives: part of the first mode, the rest of the second."""
    first, step = a.shape[0], b.stride if isinstance(b.stride, int) else b.stride[0]  # type: ignore
    total = size(b)
    inside = max(1, -(-first // step))  # type: ignore[operator]
    return two(inside, max(1, total // inside), _first_stride(a) * step, _last_stride(a))  # type: ignore[operator]


def complement_of(rng: Random) -> Draft | None:
    """The places where copies of a layout with gaps start."""
    a, target = _operands(rng)
    right = _result(complement, a, target)
    if right is None or size(right) * size(a) != target or size(right) < 2:
        return None
    reached = sorted({a(i) for i in range(size(a))})
    gap = next(k for k in range(target) if k not in reached)
    copies = size(right)
    return Draft(
        ask=_ask_complement(a, target),
        judge="lawful",
        operands=("complement", str(a), target),
        starter="?",
        hints=(
            f"The layout reaches {', '.join(map(str, reached))}. Where is the first gap?",
            f"One copy reaches {size(a)} of {target} offsets: {copies} copies are needed.",
            f"The second copy starts at {gap}.",
        ),
        solution=str(right),
        why=f"The copies start at {', '.join(map(str, sorted(right(i) for i in range(copies))))}; their order is free.",
        slips=(
            (f"{target - size(a)}:1", "the offsets that are missing are counted, not the copies"),
            (f"{copies}:{max(reached) + 1}", "copies follow one another, and gaps stay open"),
            (f"{copies}:1", "copies start at neighbouring places, though some of those are taken"),
            (f"{copies // 2 or 1}:{gap}", "there are too few copies"),
            (f"{copies * 2}:{gap}", "there are too many copies"),
            (str(a), "the layout itself is written"),
            ("none", "gaps are taken for a reason that there is none"),
        ),
    )


def no_complement(rng: Random) -> Draft | None:
    """A layout that has no complement: its modes overlap, or the second starts in the middle of the first."""
    a, target = _operands(rng)
    if target < cosize(a) or target % size(a) or _result(complement, a, target) is not None:
        return None
    reached = sorted(a(i) for i in range(size(a)))
    copies = max(1, target // size(a))
    return Draft(
        ask=_ask_complement(a, target),
        judge="lawful",
        operands=("complement", str(a), target),
        starter="?",
        hints=(
            f"The layout reaches {', '.join(map(str, reached))}. Where would the second copy start?",
            "Try to fill the first gap: what does that copy reach besides?",
            "Does one of them reach an offset that is taken already, whatever you do?",
        ),
        solution="none",
        why="No places of copies that are themselves a layout reach each offset once: " + _reason(a, target) + ".",
        slips=(
            (f"{copies}:1", "copies start at neighbouring places, though some of those are taken"),
            (f"{copies}:{max(reached) + 1}", "copies follow one another, and gaps stay open"),
            (f"{max(1, target - size(a))}:1", "the offsets that are missing are counted, not the copies"),
            (two(2, copies, 1, max(reached) + 1), "the first gap is filled, and what it hits is not looked at"),
            (str(a), "the layout itself is written"),
        ),
    )


def inverse(rng: Random) -> Draft:
    """The right inverse of a compact layout."""
    m, n = some(rng, (2, 3, 4, 5, 6, 8), 2)
    three = rng.random() < 0.5
    k = pick(rng, (2, 3))
    a = Layout((m, n, k), pick(rng, ((n * k, k, 1), (n, 1, m * n), (k, m * k, 1)))) if three else Layout((m, n), (n, 1))
    right = right_inverse(a)
    total = size(a)
    one = right(1)
    return Draft(
        ask=f"A layout r of {total} elements with a(r(i)) = i at every index, where a = `{a}`.",
        judge="right_inverse",
        operands=(str(a),),
        starter="?",
        hints=(
            "Which index of a has offset 1, which has offset 2?",
            f"Offset 1 is index {one}: that is the first stride.",
            f"The modes come in the order of the strides of a; the first extent is {_extents(a)[0]}.",
        ),
        solution=str(right),
        why="Sorted by their strides, the modes of a give the extents; the strides count the indices before each mode.",
        slips=(
            (str(a), "the layout itself is written"),
            (f"{total}:1", "every offset is taken for its own index"),
            (f"{total}:{one}", "the first step is taken for all of them"),
            (
                two(_extents(a)[0], _extents(a)[1], 1, _extents(a)[0]),
                "the strides are those of the offsets, not of the indices",
            ),
            (str(Layout(tuple(reversed(_shape(a))), tuple(reversed(_stride(a))))), "the modes are only turned round"),
        ),
        size=total,
    )


def lost(rng: Random) -> Draft | None:
    """The index that has an offset."""
    m, n = some(rng, (3, 4, 5, 6, 8), 2)
    a = Layout((m, n), (n, 1))
    offset = n + 1 + below(rng, m * n - n - 1)
    row, column = offset // n, offset % n
    index = row + m * column
    return Draft(
        ask=f"The index i at which `{a}` has the offset {offset}.",
        judge="numbers",
        operands=(f"(right_inverse({a}))({offset})",),
        starter="?",
        hints=(
            f"Which coordinate lies at {offset}? Divide by {n}, the larger stride.",
            f"The coordinate is ({row}, {column}).",
            "An index counts the first mode first.",
        ),
        solution=str(index),
        why=(
            f"{offset} = {row}*{n} + {column}*1 is the coordinate ({row}, {column}); its index is {row} + {column}*{m}."
        ),
        slips=(
            (str(offset), "offset and index are taken for the same"),
            (str(a(offset)), "the layout is applied once more instead of undone"),
            (str(row * m + column), "the coordinate is turned round"),
            (str(row + n * column), "the index is counted with the wrong extent"),
            (str(index + 1), "indices are counted from 1"),
        ),
    )


def _operands(rng: Random) -> tuple[Layout, int]:
    """A layout of one mode or two, and a number of offsets."""
    r, d = pick(rng, (2, 3, 4)), pick(rng, (1, 2, 3, 4))
    if rng.random() < 0.3:
        return Layout(r, max(d, 2)), r * max(d, 2) * pick(rng, (1, 2, 3))
    e = pick(rng, (d + 1, d * r - 1, d * r, 2 * d * r, 3 * d * r, d))
    q = pick(rng, (2, 3))
    return Layout((r, q), (d, e)), pick(rng, (e * q, 2 * e * q, r * q * 2, r * q * 4))


def _reason(a: Layout, target: int) -> str:
    try:
        complement(a, target)
    except LayoutError as error:
        return str(error).partition(": ")[2].partition(";")[0]
    return ""


def _ask_complement(a: Layout, target: int) -> str:
    return (
        f"A complement of `{a}` in {target}: where copies of it start that together reach each offset once. {OR_NONE}"
    )


def _shape(a: Layout) -> tuple[int, ...]:
    return a.shape  # type: ignore[return-value]


def _stride(a: Layout) -> tuple[int, ...]:
    return a.stride  # type: ignore[return-value]


def _extents(a: Layout) -> list[int]:
    return [s for _, s in sorted(zip(_stride(a), _shape(a), strict=True))]


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
    right = _result(logical_divide, target, tiler)
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


#: The kinds of this module, in the order of the lessons.
KINDS = (
    Kind("composition", 4, 2, composition_of),
    Kind("no composition", 4, 3, no_composition, none=True),
    Kind("break a composition", 4, 3, broken),
    Kind("complement", 5, 2, complement_of),
    Kind("no complement", 5, 3, no_complement, none=True),
    Kind("inverse", 5, 2, inverse),
    Kind("lost index", 5, 1, lost),
    Kind("cut", 6, 2, cut),
    Kind("divides", 6, 2, partial(strided, exists=True)),
    Kind("does not divide", 6, 3, partial(strided, exists=False), none=True),
    Kind("stack down", 6, 2, partial(stacked, order=(0, 1))),
    Kind("stack across", 6, 2, partial(stacked, order=(1, 0))),
)
