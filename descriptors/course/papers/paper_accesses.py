"""The traces of lab 2: a tile that is written in one way and read in another, to be laid out for both.

An answer is a layout of the tile in bytes, with a swizzle or with padding; it scores the turns that all accesses of the
trace take together. The par is the least of many candidates, so that somebody may do better than the key.

Law: the key takes no more turns than the tile as it is.

>>> from random import Random
>>> from descriptors.course.judges.traces import counted
>>> from descriptors.course.papers.item import make
>>> for kind in KINDS:
...     exercise = make(kind, Random(1)).exercise
...     rows, width = exercise.operands[0]
...     plain = counted(f"({rows},{width}):({width},1)", *exercise.operands[:2], exercise.operands[3:])
...     print(exercise.solution, exercise.operands[2], plain)
S<2,4,3> o 0 o (32,64):(64,1) 8 20
S<2,4,3> o 0 o (32,64):(64,1) 8 20
S<3,4,3> o 0 o (32,64):(64,1) 3 20
S<2,4,3> o 0 o (32,64):(64,1) 9 24
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random

from descriptors.course.judges.traces import Step
from descriptors.course.papers.item import Draft, Kind, below, pick
from layoutalg import Swizzle, evaluate, size, wavefronts


def trace(rng: Random, patterns: tuple[str, ...], *, padding: bool) -> Draft | None:
    """A tile and its accesses."""
    rows, width = pick(rng, ((32, 64), (32, 128), (16, 128), (16, 256), (64, 64)))
    steps = tuple(_step(rng, name, rows, width) for name in patterns)
    widest = max(count for _, count, _ in steps)
    room = rows * (width + widest) if padding else rows * width
    tried = _candidates(rows, width, widest, padding=padding)
    found = sorted((_turns(steps, rows, swizzle, pitch), name) for name, swizzle, pitch in tried)
    par, key = found[0]
    plain = f"({rows},{width}):({width},1)"
    if par == next(turns for turns, name in found if name == plain):
        return None
    told = "; ".join(
        f"{_SAID[name]} from row {first % rows}, byte {first // rows} on (lane to row + {rows}*byte: "
        f"{first} + `{access}`)"
        for name, (access, _, first) in zip(patterns, steps, strict=True)
    )
    more = f"{room - rows * width} bytes more than it needs" if padding else "no byte to spare"
    wrong = [name for turns, name in found if turns > par]
    return Draft(
        ask=(
            f"A tile of {rows} rows of {width} bytes. A warp accesses it like this: {told}. A layout from "
            "(row, byte) to the "
            f"byte address with which this takes the fewest turns together; there are {room} bytes, {more}."
        ),
        judge="trace",
        operands=((rows, width), room, par, *steps),
        starter=f"S<?,?,?> o 0 o ({rows},{width}):({width},1)",
        hints=(
            f"As it is, `{plain}`: which of the accesses meets in banks?",
            f"Pieces of {widest} bytes must stay together and start at a multiple of {widest}.",
            "Let the bits of the row in which lanes that meet differ change the bits of the place in the line.",
        ),
        solution=key,
        why=f"It takes {par} turns, the fewest of all swizzles{' and paddings' if padding else ''} that were tried.",
        slips=_misplaced(rows, width, widest, wrong),
    )


def _misplaced(rows: int, width: int, widest: int, wrong: list[str]) -> tuple[tuple[str, str], ...]:
    return (
        (f"({rows},{width}):({width},1)", "the tile is left as it is"),
        (f"({rows},{width}):(1,{rows})", "the tile is turned round, which tears the pieces of a row apart"),
        *((name, "a swizzle or a padding that frees only part of it") for name in wrong[:2]),
        (f"({rows},{width}):({width + 2 * widest},1)", "there is more padding than room"),
        (f"({rows},{width}):({width // 2},1)", "rows overlap"),
    )


#: The accesses that traces are made of, as they are told.
_SAID = {
    "rows": "32 lanes store 16 bytes each, along the rows",
    "column 4": "32 lanes load 4 bytes each, down a column",
    "column 8": "32 lanes load 8 bytes each, down a column",
    "column 16": "32 lanes load 16 bytes each, down a column",
    "fragment": "32 lanes load 4 bytes each, 4 lanes a row, 8 rows",
    "far rows": "16 lanes load 16 bytes each, down every second row of a column",
}


def _step(rng: Random, name: str, rows: int, width: int) -> Step:
    """An access as lanes to row + rows * byte, from a row and a byte on that leave room for all lanes."""
    if name == "rows":
        lines = 512 // width
        return f"({width // 16},{lines}):({16 * rows},1)", 16, lines * below(rng, rows // lines)
    if name == "fragment":
        place = 8 * below(rng, rows // 8) + rows * 16 * below(rng, width // 16)
        return f"(4,8):({4 * rows},1)", 4, place
    if name == "far rows":
        down = min(16, rows // 2)
        return f"({down},{16 // down}):(2,{16 * rows})", 16, rows * 16 * below(rng, width // 16 - 16 // down + 1)
    count, down = int(name.split()[1]), min(rows, 32)
    pieces = width // count - 32 // down + 1
    return f"({down},{32 // down}):(1,{count * rows})", count, rows * count * below(rng, pieces)


def _candidates(rows: int, width: int, widest: int, *, padding: bool) -> list[tuple[str, Swizzle, int]]:
    """What is tried: the tile as it is, every swizzle that stays in it, and a padding of each row."""
    bits = (rows * width).bit_length() - 1
    plain, still = f"({rows},{width})", Swizzle(0, 4, 3)
    found = [(f"{plain}:({width},1)", still, width)]
    low = widest.bit_length() - 1
    for count in range(1, 6):
        for base in range(low, 7):
            found += [
                (f"S<{count},{base},{shift}> o 0 o {plain}:({width},1)", Swizzle(count, base, shift), width)
                for shift in range(count, bits - base - count + 1)
            ]
    return [*found, (f"{plain}:({width + widest},1)", still, width + widest)] if padding else found


def _turns(steps: Sequence[Step], rows: int, swizzle: Swizzle, pitch: int) -> int:
    """The turns of all accesses, of their lanes alone."""
    total = 0
    for access, count, first in steps:
        lanes = evaluate(access)
        where = [divmod(first + lanes(lane), rows) for lane in range(size(lanes))]
        total += wavefronts([swizzle(row * pitch + byte) for byte, row in where], count)
    return total


#: The kinds of this module, from one pair of accesses to three.
KINDS = (
    Kind("trace of a column", 10, 1, partial(trace, patterns=("rows", "column 16"), padding=False)),
    Kind("trace of words", 10, 2, partial(trace, patterns=("rows", "column 4"), padding=False)),
    Kind("trace with padding", 10, 2, partial(trace, patterns=("fragment", "far rows"), padding=True)),
    Kind("trace of three", 10, 3, partial(trace, patterns=("rows", "column 8", "fragment"), padding=False)),
)
