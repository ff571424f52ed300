"""Items of lesson 2: the offsets of a nested mode, and a matrix in blocks.

Law: the inner steps are those of one block.

>>> from random import Random
>>> from descriptors.course.papers.item import make
>>> make(KINDS[1], Random(1)).exercise.solution
'((2,4),(4,2)):((4,16),(1,8))'
"""

from __future__ import annotations

from random import Random

from descriptors.course.papers.item import Draft, Kind, below, listed, pick, some, spoken, two, unknown
from layoutalg import Layout


def splits(rng: Random) -> Draft:
    """Offsets of one nested mode."""
    inner, outer = pick(rng, (2, 3, 4)), pick(rng, (3, 4, 5))
    s = pick(rng, (1, 2, 3))
    t = pick(rng, (s * inner + 1, s * inner + 4, 10, 16, 20))
    layout = Layout((inner, outer), (s, t))
    wanted = sorted((1 + below(rng, inner - 1), *some(rng, range(inner, inner * outer), 2)))
    last = wanted[-1]
    return Draft(
        ask=f"The offsets of the one nested mode `{layout}` at the indices {spoken(wanted)}, as three numbers.",
        judge="numbers",
        operands=tuple(f"({layout})({i})" for i in wanted),
        starter=unknown(3),
        hints=(
            f"The inner extent is {inner}: which remainder, and how often does {inner} go into the index?",
            f"Index i is (i mod {inner}, i div {inner}).",
            f"Index {last} is ({last % inner}, {last // inner}).",
        ),
        solution=listed(layout(i) for i in wanted),
        why=f"They are {spoken(f'({i % inner},{i // inner})' for i in wanted)}, times ({s},{t}).",
        slips=(
            (
                listed(i // outer * s + i % outer * t for i in wanted),
                "the outer extent is counted first, as the rightmost in C",
            ),
            (listed(i // inner * s + i % inner * t for i in wanted), "remainder and quotient are exchanged"),
            (listed(i * s for i in wanted), "the inner step is taken for all of the mode"),
            (listed(wanted), "the index is taken for the offset"),
            (listed(i * t for i in wanted), "the outer step is taken for all of the mode"),
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


#: The kinds of this module.
KINDS = (Kind("splits", 2, 1, splits), Kind("blocks", 2, 2, blocks))
