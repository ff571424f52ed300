"""Items of lesson 5: a complement that may not exist, a right inverse, the index of an offset.

Law: a complement and its layout reach each offset once.

>>> from random import Random
>>> from descriptors.course.papers.item import make
>>> [make(kind, Random(1)).exercise.solution for kind in KINDS[:2]]
['4:1', 'none']
"""

from __future__ import annotations

from random import Random

from descriptors.course.papers.item import OR_NONE, Draft, Kind, below, pick, some, two
from layoutalg import Layout, LayoutError, complement, cosize, right_inverse, size


def exists(rng: Random) -> Draft | None:
    """The places where copies of a layout with gaps start."""
    a, target = _operands(rng)
    right = _rest(a, target)
    if right is None or size(right) * size(a) != target or size(right) < 2:
        return None
    reached = sorted({a(i) for i in range(size(a))})
    gap = next(k for k in range(target) if k not in reached)
    copies = size(right)
    return Draft(
        ask=_ask(a, target),
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


def missing(rng: Random) -> Draft | None:
    """A layout that has no complement: its modes overlap, or the second starts in the middle of the first."""
    a, target = _operands(rng)
    if target < cosize(a) or target % size(a) or _rest(a, target) is not None:
        return None
    reached = sorted(a(i) for i in range(size(a)))
    copies = max(1, target // size(a))
    return Draft(
        ask=_ask(a, target),
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


def _rest(a: Layout, target: int) -> Layout | None:
    try:
        found = complement(a, target)
    except LayoutError:
        return None
    return found if isinstance(found, Layout) else None


def _reason(a: Layout, target: int) -> str:
    try:
        complement(a, target)
    except LayoutError as error:
        return str(error).partition(": ")[2].partition(";")[0]
    return ""


def _ask(a: Layout, target: int) -> str:
    return (
        f"A complement of `{a}` in {target}: where copies of it start that together reach each offset once. {OR_NONE}"
    )


def _shape(a: Layout) -> tuple[int, ...]:
    return a.shape  # type: ignore[return-value]


def _stride(a: Layout) -> tuple[int, ...]:
    return a.stride  # type: ignore[return-value]


def _extents(a: Layout) -> list[int]:
    return [s for _, s in sorted(zip(_stride(a), _shape(a), strict=True))]


#: The kinds of this module; the two of a complement ask in the same words.
KINDS = (
    Kind("complement", 5, 2, exists),
    Kind("no complement", 5, 3, missing, none=True),
    Kind("inverse", 5, 2, inverse),
    Kind("lost index", 5, 1, lost),
)
