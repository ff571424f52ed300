"""Items of lessons 1 to 3: offsets and strides, nested modes and blocks, sizes and forms of a layout.

Law: the solution of a picture is read off its first row and column, the inner steps of a matrix in blocks are those of
one block, and the shortest form has as many modes as there are breaks, and one.

>>> from random import Random
>>> from papers.item import make
>>> named = {kind.name: kind for kind in KINDS}
>>> [make(named[name], Random(1)).exercise.solution for name in ("picture", "blocks", "shortest")]
['(2,5):(1,0)', '((2,4),(4,2)):((4,16),(1,8))', '(8,4,2):(2,18,76)']
"""

from __future__ import annotations

from random import Random

from layoutalg import Layout, coalesce, cosize, flatten, rank
from papers.item import Draft, Kind, below, listed, pick, rows_of, some, spoken, two, unknown


def offsets(rng: Random) -> Draft:
    """Offsets of a matrix at indices, two of which lie beyond its first column."""
    m, n = pick(rng, (3, 4, 5, 6)), pick(rng, (4, 5, 6, 8))
    s, t = pick(rng, ((n, 1), (n + 1, 1), (n + 2, 1), (2 * n, 2), (2, 3 * m), (1, m + 2)))
    layout = Layout((m, n), (s, t))
    indices = sorted((2 + below(rng, m - 2), *some(rng, range(m, m * n), 3)))
    right = [layout(i) for i in indices]
    name, first = str(layout), indices[0]
    return Draft(
        ask=f"The offsets of `{name}` at the indices {spoken(indices)}, as four numbers with commas.",
        judge="numbers",
        operands=tuple(f"({name})({i})" for i in indices),
        starter=unknown(4),
        hints=(
            f"Turn each index into a coordinate first; the first coordinate runs from 0 to {m - 1}.",
            f"Index i is the coordinate (i mod {m}, i div {m}): the remainder, and how often {m} goes into i.",
            f"Index {first} is ({first % m}, {first // m}): add {first % m} times {s} and {first // m} times {t}.",
        ),
        solution=listed(right),
        why=f"The coordinates are {spoken(f'({i % m},{i // m})' for i in indices)}; each times its stride, added up.",
        slips=(
            (listed(layout(i // n, i % n) for i in indices), "the rightmost coordinate is counted first, as in C"),
            (listed(i % m * t + i // m * s for i in indices), "the strides are exchanged"),
            (listed(indices), "the index is taken for the offset"),
            (listed(i * s for i in indices), "the index runs on along the first mode beyond its end"),
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


def splits(rng: Random) -> Draft:
    """Offsets of one nested mode."""
    inner, outer = pick(rng, (2, 3, 4)), pick(rng, (3, 4, 5))
    s = pick(rng, (1, 2, 3))
    t = pick(rng, (s * inner + 1, s * inner + 4, 10, 16, 20))
    layout = Layout((inner, outer), (s, t))
    indices = sorted((1 + below(rng, inner - 1), *some(rng, range(inner, inner * outer), 2)))
    last = indices[-1]
    return Draft(
        ask=f"The offsets of the one nested mode `{layout}` at the indices {spoken(indices)}, as three numbers.",
        judge="numbers",
        operands=tuple(f"({layout})({i})" for i in indices),
        starter=unknown(3),
        hints=(
            f"The inner extent is {inner}: which remainder, and how often does {inner} go into the index?",
            f"Index i is (i mod {inner}, i div {inner}).",
            f"Index {last} is ({last % inner}, {last // inner}).",
        ),
        solution=listed(layout(i) for i in indices),
        why=f"They are {spoken(f'({i % inner},{i // inner})' for i in indices)}, times ({s},{t}).",
        slips=(
            (
                listed(i // outer * s + i % outer * t for i in indices),
                "the outer extent is counted first, as the rightmost in C",
            ),
            (listed(i // inner * s + i % inner * t for i in indices), "remainder and quotient are exchanged"),
            (listed(i * s for i in indices), "the inner step is taken for all of the mode"),
            (listed(indices), "the index is taken for the offset"),
            (listed(i * t for i in indices), "the outer step is taken for all of the mode"),
        ),
    )


def blocks(rng: Random) -> Draft | None:
    """A matrix in blocks, with an order inside the block and an order of the blocks."""
    r, c, down, across = pick(rng, (2, 3, 4)), pick(rng, (2, 4)), pick(rng, (2, 3, 4)), pick(rng, (2, 3, 4))
    inside_rows, blocks_rows = rng.random() < 0.5, rng.random() < 0.5
    if inside_rows == blocks_rows and rng.random() < 0.5:
        return None
    right = _blocks((r, c, down, across), r * c, rows=inside_rows, of_blocks=blocks_rows)
    order = {True: "row after row", False: "column after column"}
    return Draft(
        ask=(
            f"A matrix of {r * down} by {c * across} elements in blocks of {r} rows and {c} columns, "
            "without gaps. Inside "
            f"a block the elements go {order[inside_rows]}; the blocks go {order[blocks_rows]} of blocks."
        ),
        judge="shaped",
        operands=(right,),
        starter=f"(({r},{down}),({c},{across})):((?,?),(?,?))",
        hints=(
            "Start with one block: which element follows element (0,0) in memory?",
            f"A block has {r * c} elements: that is where the next block starts.",
            f"A {'row' if blocks_rows else 'column'} of blocks has "
            f"{r * c * (across if blocks_rows else down)} elements.",
        ),
        solution=right,
        why=(
            f"Each direction has a step inside a block, and a step from block to block of {r * c} or a whole "
            "line of it."
        ),
        slips=_misread(r, c, down, across, inside_rows, blocks_rows),
    )


def _misread(
    r: int, c: int, down: int, across: int, inside_rows: bool, blocks_rows: bool
) -> tuple[tuple[str, str], ...]:
    return (
        (
            _blocks((r, c, down, across), r * c, rows=inside_rows, of_blocks=not blocks_rows),
            "the blocks go in the other order",
        ),
        (
            _blocks((r, c, down, across), r * c, rows=not inside_rows, of_blocks=blocks_rows),
            "the elements of a block go in the other order",
        ),
        (
            _blocks((r, c, down, across), 1, rows=inside_rows, of_blocks=blocks_rows),
            "the steps between blocks are counted in blocks",
        ),
        (two(r * down, c * across, c * across, 1), "there are no blocks: it is stored row after row"),
        (two(r * down, c * across, 1, r * down), "there are no blocks: it is stored column after column"),
    )


def _blocks(counts: tuple[int, int, int, int], block: int, *, rows: bool, of_blocks: bool) -> str:
    r, c, down, across = counts
    d, e = (c, 1) if rows else (1, r)
    f, g = (block * across, block) if of_blocks else (block, block * down)
    return f"(({r},{down}),({c},{across})):(({d},{f}),({e},{g}))"


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
    own, mine = some(rng, halves, 2)
    model = two(own, n // own, d, own * d)
    right = two(mine, n // mine, d, mine * d)
    return Draft(
        ask=f"A layout that is the same function of the index as `{n}:{d}`, with at least two modes and not `{model}`.",
        judge="different",
        operands=(f"{n}:{d}", model),
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
            (model, "the layout that is given is written again"),
            (two(mine, n // mine, d, n * d), "the second mode starts after all elements"),
        ),
    )


#: The kinds of this module, in the order of the lessons.
KINDS = (
    Kind("offsets", 1, 1, offsets),
    Kind("picture", 1, 1, picture),
    Kind("gaps", 1, 2, gaps),
    Kind("splits", 2, 1, splits),
    Kind("blocks", 2, 2, blocks),
    Kind("memory", 3, 1, memory),
    Kind("shortest", 3, 2, shortest),
    Kind("another form", 3, 2, another),
)
