"""Items of lesson 1: offsets by hand, strides from a picture, and from a sentence.

Law: the solution of a picture is read off its first row and column.

>>> from random import Random
>>> from descriptors.course.papers.item import make
>>> make(KINDS[1], Random(1)).exercise.solution
'(2,5):(1,0)'
"""

from __future__ import annotations

from random import Random

from descriptors.course.papers.item import Draft, Kind, below, listed, pick, rows_of, some, spoken, two, unknown
from layoutalg import Layout


def offsets(rng: Random) -> Draft:
    """Offsets of a matrix at indices, two of which lie beyond its first column."""
    m, n = pick(rng, (3, 4, 5, 6)), pick(rng, (4, 5, 6, 8))
    s, t = pick(rng, ((n, 1), (n + 1, 1), (n + 2, 1), (2 * n, 2), (2, 3 * m), (1, m + 2)))
    layout = Layout((m, n), (s, t))
    wanted = sorted((2 + below(rng, m - 2), *some(rng, range(m, m * n), 3)))
    right = [layout(i) for i in wanted]
    name, first = str(layout), wanted[0]
    return Draft(
        ask=f"The offsets of `{name}` at the indices {spoken(wanted)}, as four numbers with commas.",
        judge="numbers",
        operands=tuple(f"({name})({i})" for i in wanted),
        starter=unknown(4),
        hints=(
            f"Turn each index into a coordinate first; the first coordinate runs from 0 to {m - 1}.",
            f"Index i is the coordinate (i mod {m}, i div {m}): the remainder, and how often {m} goes into i.",
            f"Index {first} is ({first % m}, {first // m}): add {first % m} times {s} and {first // m} times {t}.",
        ),
        solution=listed(right),
        why=f"The coordinates are {spoken(f'({i % m},{i // m})' for i in wanted)}; each times its stride, added up.",
        slips=(
            (listed(layout(i // n, i % n) for i in wanted), "the rightmost coordinate is counted first, as in C"),
            (listed(i % m * t + i // m * s for i in wanted), "the strides are exchanged"),
            (listed(wanted), "the index is taken for the offset"),
            (listed(i * s for i in wanted), "the index runs on along the first mode beyond its end"),
            (listed(right[:3]), "one index is left out"),
        ),
    )


def picture(rng: Random) -> Draft:
    """Strides from the offsets of a small matrix."""
    m, n = pick(rng, (2, 3, 4)), pick(rng, (3, 4, 5))
    s, t = pick(
        rng, ((n, 1), (n + 1, 1), (n + 3, 1), (1, m), (1, m + 1), (1, m + 2), (0, 1), (1, 0), (2 * n, 2), (3, 3 * m))
    )
    layout = Layout((m, n), (s, t))
    return Draft(
        ask=f"A layout of {m} by {n} elements whose offsets are these: {rows_of(layout)}.",
        judge="shaped",
        operands=(str(layout),),
        starter=two(m, n, "?", "?"),
        hints=(
            "How far is it from the first element to the one below it, and to the one on its right?",
            "The step down is the first stride, the step to the right the second.",
            f"The shape is ({m},{n}), as the picture has {m} rows.",
        ),
        solution=str(layout),
        why=f"One row down the offset grows by {s}, one column to the right by {t}.",
        slips=(
            (two(m, n, t, s), "the strides are exchanged"),
            (two(n, m, t, s), "the columns are written first"),
            (two(m, n, n, 1), "the strides are those of a matrix stored row after row without gaps"),
            (two(m, n, 1, m), "the strides are those of a matrix stored column after column without gaps"),
            (two(m, n, m, n), "the extents are taken for the strides"),
            (two(m, n, s + 1, t), "the first stride is counted from 1"),
        ),
    )


def gaps(rng: Random) -> Draft:
    """A matrix with unused elements after each row or column."""
    m, n, gap = pick(rng, (3, 4, 6, 8)), pick(rng, (3, 5, 8, 10)), 1 + below(rng, 4)
    rows = rng.random() < 0.5
    line, count = (n, "row") if rows else (m, "column")
    right = (line + gap, 1) if rows else (1, line + gap)
    layout = Layout((m, n), right)
    turned = (right[1], right[0])
    wider = two(m, n + gap, *right) if rows else two(m + gap, n, *right)
    elements = "one unused element" if gap == 1 else f"{gap} unused elements"
    return Draft(
        ask=f"A matrix of {m} rows and {n} columns that is stored {count} after {count}, each followed by {elements}.",
        judge="shaped",
        operands=(str(layout),),
        starter=two(m, n, "?", "?"),
        hints=(
            "An unused element is no coordinate: the shape has none of them.",
            f"Along a {count} the elements are neighbours.",
            f"From one {count} to the next there are {line} elements and {gap} unused.",
        ),
        solution=str(layout),
        why=f"A {count} has {line} elements and takes {line + gap} places: that is the stride from one to the next.",
        slips=(
            (wider, "the unused elements are counted in the shape"),
            (two(m, n, *((n, 1) if rows else (1, m))), "the unused elements are left out"),
            (two(m, n, *turned), "rows and columns are exchanged"),
            (two(m, n, *((gap, 1) if rows else (1, gap))), "the gap alone is taken for the stride"),
            (two(m, n, *((m + gap, 1) if rows else (1, n + gap))), "the other extent is used"),
        ),
    )


#: The kinds of this module.
KINDS = (
    Kind("offsets", 1, 1, offsets),
    Kind("picture", 1, 1, picture),
    Kind("gaps", 1, 2, gaps),
)
