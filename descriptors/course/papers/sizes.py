"""Items of lesson 3: how much memory, the shortest form, another form.

Law: the shortest form has as many modes as there are breaks, and one.

>>> from random import Random
>>> from descriptors.course.papers.item import make
>>> make(KINDS[1], Random(1)).exercise.solution
'(8,4,2):(2,18,76)'
"""

from __future__ import annotations

from random import Random

from descriptors.course.papers.item import Draft, Kind, below, listed, pick, some, two, unknown
from layoutalg import Layout, coalesce, cosize, flatten, rank


def memory(rng: Random) -> Draft | None:
    """Size and cosize of a layout with holes."""
    m, n = some(rng, (3, 4, 5, 6, 8), 2)
    s, t = pick(rng, ((n + 1 + below(rng, 4), 1), (1, m + 1 + below(rng, 4)), (2, 2 * m + 2), (2 * n + 1, 2), (3, 0)))
    layout = Layout((m, n), (s, t))
    many, places = m * n, cosize(layout)
    if len({many, places, places - 1}) < 3:
        return None
    return Draft(
        ask=f"The size and the cosize of `{layout}`, as two numbers.",
        judge="numbers",
        operands=(f"size({layout})", f"cosize({layout})"),
        starter=unknown(2),
        hints=(
            "The first number needs no strides at all.",
            f"The last coordinate is ({m - 1}, {n - 1}): where does it lie?",
            f"Its offset is {places - 1}, and offset 0 is a place too.",
        ),
        solution=listed((many, places)),
        why=f"There are {m}*{n} coordinates. The largest offset is {places - 1}, and one more place is needed.",
        slips=(
            (listed((many, many)), "cosize is taken for size"),
            (listed((many, places - 1)), "the largest offset is taken for the number of places"),
            (listed((many, m * s + n * t)), "the extents are multiplied with the strides, not the last coordinates"),
            (listed((places, many)), "size and cosize are exchanged"),
            (listed((many, max(m * s, n * t))), "only the largest stride is looked at"),
        ),
    )


def shortest(rng: Random) -> Draft | None:
    """A nested layout of four modes, some of which continue the one before."""
    extents = [pick(rng, (2, 3, 4)) for _ in range(4)]
    joined = _breaks(rng)
    strides = [pick(rng, (1, 2, 3))]
    for k in range(3):
        follows = extents[k] * strides[k]
        strides.append(follows if joined[k] else follows + pick(rng, (1, 2, 4)))
    (a, b, c, d), (s, t, u, v) = extents, strides
    if a * b * c * d > 150 or v > 150:
        return None
    layout = Layout(((a, b), (c, d)), ((s, t), (u, v)))
    right, flat = coalesce(layout), flatten(layout)
    if rank(right) < 2:
        return None
    return Draft(
        ask=f"The shortest form of `{layout}`: the same function of the index with as few modes as there can be.",
        judge="coalesce",
        operands=(str(layout),),
        starter="?",
        hints=(
            f"Write the modes side by side without brackets: {a}:{s}, {b}:{t}, {c}:{u}, {d}:{v}.",
            f"{a} steps of {s} lead to {a * s}. Does the second mode start there? And so for each pair of neighbours.",
            f"{rank(right)} modes remain.",
        ),
        solution=str(right),
        why="A mode is joined to the one before it where its stride is that one's extent times its stride.",
        slips=(
            (f"{a * b * c * d}:{s}", "all is joined to one mode, though steps do not continue"),
            (str(flat), "nothing is joined, only brackets are left out"),
            (two(a * b, c * d, s, u), "what stands in one bracket is joined"),
            (two(a, b * c * d, s, t), "all but the first mode is joined"),
            (two(a * b * c, d, s, v), "all but the last mode is joined"),
            (f"{right.shape}:{right.stride[::-1]}".replace(" ", ""), "the strides are written in the other order"),  # type: ignore[index]
        ),
    )


def _breaks(rng: Random) -> list[bool]:
    """Which of three borders between modes are none: one or two of them."""
    return pick(
        rng,
        ([True, False, True], [False, True, False], [True, False, False], [False, False, True], [True, True, False]),
    )


def another(rng: Random) -> Draft:
    """Another way to write a single mode."""
    n, d = pick(rng, (8, 12, 16, 18, 20, 24)), pick(rng, (1, 2, 3, 5))
    halves = [k for k in range(2, n) if n % k == 0]
    given, mine = some(rng, halves, 2)
    taken = two(given, n // given, d, given * d)
    right = two(mine, n // mine, d, mine * d)
    return Draft(
        ask=f"A layout that is the same function of the index as `{n}:{d}`, with at least two modes and not `{taken}`.",
        judge="different",
        operands=(f"{n}:{d}", taken),
        starter=two("?", "?", "?", "?"),
        hints=(
            f"Split {n} into two factors.",
            f"The first mode keeps the stride {d}.",
            "The second mode starts where the first ends: its stride is the first extent times the first stride.",
        ),
        solution=right,
        why="Any split is right in which the second stride is the first extent times the first stride.",
        slips=(
            (two(mine, n // mine, d, d), "both modes keep the stride"),
            (two(mine, n // mine, n // mine * d, d), "the second mode is counted first"),
            (two(mine, n // mine, d, mine), "the second stride is the extent alone"),
            (taken, "the layout that is given is written again"),
            (two(mine, n // mine, d, n * d), "the second mode starts after all elements"),
        ),
    )


#: The kinds of this module.
KINDS = (
    Kind("memory", 3, 1, memory),
    Kind("shortest", 3, 2, shortest),
    Kind("another form", 3, 2, another),
)
