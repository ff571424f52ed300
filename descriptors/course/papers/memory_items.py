"""Items of lessons 7 to 10: who holds an element, turns of an access, swizzles, and the traces of lab 2.

A trace is a tile that is written in one way and read in another, to be laid out for both. Its answer is a layout of the
tile in bytes, with a swizzle or with padding; it scores the turns that all accesses of the trace take together. The par
is the least of many candidates, so that somebody may do better than the key.

Law: the thread and the value of a key hold the element that is asked for, the key of a count is what the model of the
banks counts, and of a picture of bits the key is the swizzle that was drawn.

>>> from random import Random
>>> from descriptors.course.papers.item import make
>>> named = {kind.name: kind for kind in KINDS}
>>> [make(named[name], Random(1)).exercise.solution for name in ("holder", "turns", "bits")]
['11, 7', '4', 'S<1,5,3>']

The key of a trace takes no more turns than the tile as it is.

>>> from descriptors.course.judges.accesses import turns_of
>>> for name in ("trace of words", "trace with padding", "trace of three"):
...     exercise = make(named[name], Random(1)).exercise
...     rows, width = exercise.operands[0]
...     plain = turns_of(f"({rows},{width}):({width},1)", *exercise.operands[:2], exercise.operands[3:])
...     print(exercise.solution, exercise.operands[2], plain)
S<2,4,3> o 0 o (32,64):(64,1) 8 20
S<3,4,3> o 0 o (32,64):(64,1) 3 20
S<2,4,3> o 0 o (32,64):(64,1) 9 24
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random

from descriptors.course.judges.accesses import Step, least_pitch
from descriptors.course.papers.item import Draft, Kind, below, listed, pick, spoken, unknown
from layoutalg import Layout, Swizzle, evaluate, size, wavefronts


def holder(rng: Random) -> Draft | None:
    """The thread and the value of one element."""
    t0, t1, v0, v1 = pick(rng, (2, 4)), pick(rng, (2, 4, 8)), pick(rng, (2, 4)), pick(rng, (2, 3))
    rows, columns = v0 * t0, t1 * v1
    shared = Layout(((t0, t1), (v0, v1)), ((v0, rows), (1, rows * t1)))
    row, column = below(rng, rows), below(rng, columns)
    thread, value = row // v0 + t0 * (column % t1), row % v0 + v0 * (column // t1)
    element = row + rows * column
    if thread == value or not row % v0 or thread in (row, column) or value in (row, column):
        return None
    return Draft(
        ask=(
            f"A tile of {rows} by {columns} elements is counted column after column, so that element (i, "
            "j) has the number "
            f"i + {rows}*j. `{shared}` leads from (thread, value) to that number. Which thread holds element ({row}, "
            f"{column}), and as which of its values? Two numbers."
        ),
        judge="owner",
        operands=(str(shared), (rows, columns), row, column),
        starter="?, ?",
        hints=(
            f"The number of the element is {row} + {rows}*{column} = {element}.",
            f"A thread's first {v0} values are neighbours in a column: row {row} is value {row % v0} of them.",
            f"Down the rows there are {t0} threads; the next column belongs to thread {t0} and so on.",
        ),
        solution=f"{thread}, {value}",
        why=(
            f"({thread % t0},{thread // t0}) of the thread and ({value % v0},{value // v0}) of the value give "
            f"{element}."
        ),
        slips=(
            (f"{value}, {thread}", "thread and value are exchanged"),
            (f"{row // v0 * t1 + column % t1}, {value}", "the threads are counted across first"),
            (f"{thread}, {row % v0 * v1 + column // t1}", "the values are counted across first"),
            (f"{row % (t0 * t1)}, {column % (v0 * v1)}", "row and column are taken for thread and value"),
            (f"{element % (t0 * t1)}, {element // (t0 * t1)}", "the threads are taken to hold neighbours one by one"),
            (f"{thread}, {row % v0}", "the second group of values is left out"),
        ),
    )


def shares(rng: Random) -> Draft | None:
    """A layout (thread, value) in which each thread has runs of neighbours."""
    threads, run, runs = pick(rng, (4, 8, 16, 32)), pick(rng, (2, 4, 8)), pick(rng, (1, 2, 3, 4))
    values, total = run * runs, threads * run * runs
    if total > 256:
        return None
    near = f"({threads},({run},{runs})):({run},(1,{threads * run}))"
    alone = f"({threads},{run}):({run},1)"
    piece = f"`{run}` neighbours" if runs == 1 else f"{runs} pieces of `{run}` neighbours each"
    return Draft(
        ask=(
            f"{threads} threads hold the elements 0 to {total - 1}, each once, {values} a thread, in "
            f"{piece}; a piece starts "
            f"at a multiple of {run}. A layout from (thread, value) to the element that does this."
        ),
        judge="shared out",
        operands=(f"{total}:1", threads, values, run),
        starter=f"({threads},?):(?,?)",
        hints=(
            "Begin with the values of thread 0: which are the first of them?",
            f"The next thread starts {run} or {values} elements later; both can be made right.",
            f"A mode of values may be nested: ({run},{runs}).",
        ),
        solution=alone if runs == 1 else near,
        why="Inside a piece the step is 1; the steps of threads and pieces may be exchanged.",
        slips=(
            (f"({threads},{values}):(1,{threads})", "neighbours go to different threads"),
            (f"({values},{threads}):(1,{values})", "values are written first"),
            (f"({threads},{values}):({run},1)", "threads with several pieces overlap"),
            (f"({threads},({run},{runs})):({run},(1,{run}))", "the second piece is that of the next thread"),
            (f"({threads},{values}):({values * 2},1)", "there are holes between threads"),
            (f"({threads},{run}):({run},1)", "only the first piece is written"),
            (f"({threads},{values}):(0,1)", "all threads hold the same"),
        ),
    )


#: Lanes of a warp, and the bytes that all banks serve in a turn.
LANES, LINE = 32, 128


def column(rng: Random) -> Draft | None:
    """The turns of 32 lanes that go down a column of a row-major tile."""
    count = pick(rng, (4, 8, 16))
    pitch = count * (1 + below(rng, 48))
    right = wavefronts([lane * pitch for lane in range(LANES)], count)
    at_once = LINE // count
    phases = LANES // at_once
    if pitch > 768 or right == phases:
        return None
    words = count // 4
    return Draft(
        ask=(
            f"32 lanes load {count} bytes each from one column of a row-major tile: lane i starts at byte "
            f"{pitch}*i. How many "
            "turns (wavefronts) does shared memory take?"
        ),
        judge="turns",
        operands=((f"(32,{count}):({pitch},1)", "32:1", 1, count),),
        starter="?",
        hints=(
            "There are 32 banks of 4 bytes. Which bank does lane 0 start in, which one lane 1?",
            f"128 bytes are served at a time: the lanes go in {phases} group{'s' * (phases > 1)} of {at_once}.",
            f"Neighbours are {pitch // 4} banks apart, counted modulo 32: after how many lanes is it the "
            "same bank again?",
        ),
        solution=str(right),
        why=f"In each group of {at_once} lanes one bank has to serve {right // phases} words, one after another.",
        slips=(
            (str(phases), "conflicts are not counted, only bytes"),
            (str(LANES), "all lanes are taken to meet in one bank"),
            (str(right * 2), "each group is counted twice"),
            (str(right // phases), "one group of lanes is counted, not the whole warp"),
            (str(right * words), "the words of one lane are taken to meet"),
            (str(max(1, pitch // LINE)), "the lines between lanes are counted"),
            ("1", "lanes are taken never to meet"),
        ),
    )


def padded(rng: Random) -> Draft | None:
    """The smallest pitch of rows with which a column takes no turns beyond those that its bytes need."""
    count = pick(rng, (4, 8, 16))
    width = count * pick(rng, (4, 6, 8, 12, 16, 20, 24, 32, 40, 48))
    need = LANES * count // LINE
    right = least_pitch(LANES, width, count)
    if width > 512 or right == width:
        return None
    return Draft(
        ask=(
            f"A tile of 32 rows has {width} bytes a row. 32 lanes load {count} bytes each, lane i the "
            "first of row i. How many "
            f"bytes from row to row, a multiple of {count} and at least {width}, are the fewest with which this takes "
            f"{need} turn{'s' * (need > 1)}, as few as {LANES * count} bytes can?"
        ),
        judge="pitch",
        operands=(LANES, width, count),
        starter="?",
        hints=(
            f"With {width} bytes from row to row it takes {_turns(width, count)} turns: in which banks do lanes meet?",
            f"Count the pitch in pieces of {count} bytes: a line of 128 bytes has {LINE // count} of them.",
            f"A pitch of an odd number of pieces meets all {LINE // count} pieces of the line before it comes back.",
        ),
        solution=str(right),
        why=(
            f"{right} = {right // count}*{count}, and {right // count} is odd: all banks take part before one "
            "is used again."
        ),
        slips=(
            (str(width), "the rows are left as they are"),
            (str(right - width), "the padding is taken for the pitch"),
            (str(width + LINE), "a whole line is added, which changes no bank"),
            (str(right + count), "one piece more is added"),
            (str(width + 4), "a bank is added, though the lanes load more"),
            (str(right + 2 * count), "the next pitch that would do is taken"),
        ),
    )


def _turns(pitch: int, count: int) -> int:
    return wavefronts([lane * pitch for lane in range(LANES)], count)


def address(rng: Random) -> Draft | None:
    """Where a swizzle leads three addresses."""
    swizzle = pick(rng, (Swizzle(3, 4, 3), Swizzle(2, 4, 3), Swizzle(1, 4, 3)))
    bytes_asked = sorted(16 * (1 + below(rng, 127)) for _ in range(3))
    right = [swizzle(a) for a in bytes_asked]
    if len(set(bytes_asked)) < 3 or any(map(int.__eq__, bytes_asked[:2], right)):
        return None
    b, m, s = swizzle.bits, swizzle.base, swizzle.shift
    bits = f"{m + s} to {m + s + b - 1}" if b > 1 else f"{m + s}"
    one = bytes_asked[0]
    return Draft(
        ask=f"The byte addresses to which `{swizzle}` leads the addresses {spoken(bytes_asked)}, as three numbers.",
        judge="numbers",
        operands=tuple(f"({swizzle})({a})" for a in bytes_asked),
        starter=unknown(3),
        hints=(
            "Write the address in binary; the lowest bit is bit 0.",
            f"Bit{'s' * (b > 1)} {bits} {'are' if b > 1 else 'is'} XORed onto the bit{'s' * (b > 1)} {s} lower.",
            f"In {one} bits {m + s} and up are {one >> (m + s)}, those from {m} up are {one >> m}.",
        ),
        solution=listed(right),
        why=f"The {b} bits from {m + s} up are XORed onto those from {m} up; the others stay.",
        slips=(
            (listed(bytes_asked), "the addresses are taken to stay"),
            (listed(a ^ (a >> (m + s) & (2**b - 1)) for a in bytes_asked), "the XOR goes to the lowest bits"),
            (listed(a + ((a >> (m + s) & (2**b - 1)) << m) for a in bytes_asked), "the bits are added, not XORed"),
            (listed(a ^ ((a >> m & (2**b - 1)) << (m + s)) for a in bytes_asked), "the XOR goes upward"),
            (listed(Swizzle(b, m - 1, s)(a) for a in bytes_asked), "the unit is taken for two bytes, not one"),
            (listed(right[:2]), "one address is left out"),
        ),
    )


def numbers(rng: Random) -> Draft:
    """The three numbers of a swizzle from the bits that it changes."""
    b, m = 1 + below(rng, 3), below(rng, 6)
    s = b + below(rng, 3)
    right = Swizzle(b, m, s)
    pairs = spoken(f"bit {m + k} by bit {m + s + k}" for k in range(b))
    return Draft(
        ask=f"The swizzle `S<B,M,S>` in which an address is changed, by XOR, like this: {pairs}; and nothing else is.",
        judge="same map",
        operands=(str(right), 2 << m + s + b),
        starter="S<?,?,?>",
        hints=(
            "B is how many bits are changed.",
            "M is the lowest bit that is changed.",
            f"S is the distance from a bit that is changed to the bit that changes it: {m + s} - {m}.",
        ),
        solution=str(right),
        why=f"{b} bit{'s' * (b > 1)} from bit {m} up, changed by those {s} higher.",
        slips=(
            (f"S<{b},{m},{m + s}>", "S is taken for the place of the upper bits, not their distance"),
            (f"S<{b},{m + s},{s}>", "M is taken for the lowest bit that changes others"),
            (f"S<{b},{s},{max(m, b)}>", "M and S are exchanged"),
            (f"S<{b},{m + 1},{s}>", "bits are counted from 1"),
            (f"S<{b},{m},{-s}>", "the bits change those above them"),
            (f"S<{m + b},{m},{m + b + s}>", "B is taken for the end of the bits"),
        ),
    )


def elements(rng: Random) -> Draft:
    """A swizzle of bytes as one of elements."""
    b, (name, size) = 1 + below(rng, 3), pick(rng, (("bf16", 2), ("f16", 2), ("tf32", 4), ("f64", 8), ("f32", 4)))
    low, shift = 4 + below(rng, 2), pick(rng, (3, 4, 5))
    down = size.bit_length() - 1
    return Draft(
        ask=(
            f"`S<{b},{low},{shift}>` swizzles byte addresses. The swizzle of offsets counted in {name} "
            f"elements, of {size} "
            "bytes each, that moves every element to the same bytes."
        ),
        judge="in elements",
        operands=(f"S<{b},{low},{shift}>", size),
        starter="S<?,?,?>",
        hints=(
            f"The offset of element x in bytes is {size}*x: in binary its bits move up by {down}.",
            "So bits of an offset in elements lie lower than those of the address. Which of the three "
            "numbers is a place?",
            "B is a count and S a distance: they stay.",
        ),
        solution=f"S<{b},{low - down},{shift}>",
        why=f"{size} bytes an element: what is bit {low} of an address is bit {low - down} of an offset in elements.",
        slips=(
            (f"S<{b},{low},{shift}>", "the unit is not changed: bytes are taken for elements"),
            (f"S<{b},{low + down},{shift}>", "the bits are moved up, not down"),
            (f"S<{b},{low},{shift + 1}>", "the distance is changed, not the place"),
            (f"S<{b},{low - down},{max(b, shift - down)}>", "the distance is made smaller as well"),
            (f"S<{b},{max(0, low - size)},{shift}>", "the bytes of an element are taken for bits of the address"),
        ),
    )


def smallest(rng: Random) -> Draft | None:
    """The smallest swizzle with which a column is read without conflicts."""
    count = pick(rng, (4, 8, 16))
    lanes = 128 // count
    width, rows = pick(rng, (32, 64, 128, 256)), lanes * pick(rng, (1, 2, 4))
    every = rows // lanes
    if width < count or width * rows > 8192:
        return None
    low, step = count.bit_length() - 1, (width * every).bit_length() - 1
    bits = wavefronts([width * every * lane for lane in range(lanes)], count).bit_length() - 1  # those that meet
    if bits == 0:
        return None
    from_bit = max(7, step)
    right = f"S<{bits},{low},{from_bit - low}>"
    return Draft(
        ask=(
            f"A row-major tile of {rows} rows of {width} bytes. {lanes} lanes load {count} bytes each from "
            "its first column, "
            f"{'one row after another' if every == 1 else f'every {every} rows'}. The swizzle of byte "
            "addresses with the "
            "fewest bits with which this takes one turn."
        ),
        judge="smallest",
        operands=(f"({rows},{width}):({width},1)", 1, (f"{lanes}:{every}", count)),
        starter="S<?,?,?>",
        hints=(
            f"Lanes are {width * every} bytes apart; banks come again after 128 bytes. Which bits of the "
            "address differ "
            "between lanes that meet?",
            f"The {count} bytes of a lane must stay together: no bit below bit {low} may change.",
            f"{2**bits} lanes meet in a bank, which takes {bits} bit{'s' * (bits > 1)} to tell apart.",
        ),
        solution=right,
        why=(
            f"{bits} bits from bit {from_bit} up tell the lanes apart that meet; they are XORed onto those "
            f"from {low} up."
        ),
        slips=_misjudged(bits, low, from_bit),
    )


def _misjudged(bits: int, low: int, from_bit: int) -> tuple[tuple[str, str], ...]:
    return (
        (f"S<{bits},{low},{max(bits, from_bit - low - 1)}>", "the bits that are read lie one too low"),
        (f"S<{bits - 1},{low},{from_bit - low}>" if bits > 1 else f"S<0,{low},3>", "one bit is missing"),
        (f"S<{bits},{low - 1},{from_bit - low + 1}>", "a bit inside a lane's bytes is changed"),
        (f"S<{bits},{low},{from_bit - low + 4}>", "the bits that are read lie above those that differ"),
        (f"S<{bits},{low - 2},{from_bit - low}>", "the unit is taken for words, not bytes"),
        ("S<0,4,3>", "no bits are changed"),
    )


def trace(rng: Random, patterns: tuple[str, ...], *, padding: bool) -> Draft | None:
    """A tile and its accesses."""
    rows, width = pick(rng, ((32, 64), (32, 128), (16, 128), (16, 256), (64, 64)))
    steps = tuple(_step(rng, name, rows, width) for name in patterns)
    widest = max(count for _, count, _ in steps)
    room = rows * (width + widest) if padding else rows * width
    tried = _candidates(rows, width, widest, padding=padding)
    candidates = sorted((_trace_turns(steps, rows, swizzle, pitch), name) for name, swizzle, pitch in tried)
    par, key = candidates[0]
    plain = f"({rows},{width}):({width},1)"
    if par == next(turns for turns, name in candidates if name == plain):
        return None
    accesses = "; ".join(
        f"{_SAID[name]} from row {first % rows}, byte {first // rows} on (lane to row + {rows}*byte: "
        f"{first} + `{access}`)"
        for name, (access, _, first) in zip(patterns, steps, strict=True)
    )
    more = f"{room - rows * width} bytes more than it needs" if padding else "no byte to spare"
    wrong = [name for turns, name in candidates if turns > par]
    return Draft(
        ask=(
            f"A tile of {rows} rows of {width} bytes. A warp accesses it like this: {accesses}. A layout from "
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
    layouts = [(f"{plain}:({width},1)", still, width)]
    low = widest.bit_length() - 1
    for count in range(1, 6):
        for base in range(low, 7):
            layouts += [
                (f"S<{count},{base},{shift}> o 0 o {plain}:({width},1)", Swizzle(count, base, shift), width)
                for shift in range(count, bits - base - count + 1)
            ]
    return [*layouts, (f"{plain}:({width + widest},1)", still, width + widest)] if padding else layouts


def _trace_turns(steps: Sequence[Step], rows: int, swizzle: Swizzle, pitch: int) -> int:
    """The turns of all accesses, of their lanes alone."""
    total = 0
    for access, count, first in steps:
        lanes = evaluate(access)
        where = [divmod(first + lanes(lane), rows) for lane in range(size(lanes))]
        total += wavefronts([swizzle(row * pitch + byte) for byte, row in where], count)
    return total


#: The kinds of this module, in the order of the lessons.
KINDS = (
    Kind("holder", 7, 2, holder),
    Kind("shares", 7, 3, shares),
    Kind("turns", 8, 2, column),
    Kind("padding", 8, 3, padded),
    Kind("address", 9, 2, address),
    Kind("bits", 9, 1, numbers),
    Kind("elements", 9, 3, elements),
    Kind("smallest swizzle", 10, 3, smallest),
    Kind("trace of a column", 10, 1, partial(trace, patterns=("rows", "column 16"), padding=False)),
    Kind("trace of words", 10, 2, partial(trace, patterns=("rows", "column 4"), padding=False)),
    Kind("trace with padding", 10, 2, partial(trace, patterns=("fragment", "far rows"), padding=True)),
    Kind("trace of three", 10, 3, partial(trace, patterns=("rows", "column 8", "fragment"), padding=False)),
)
