"""Items of lessons 6 to 8: who holds an element, turns of an access, swizzles.

Law: the thread and the value of a key hold the element that is asked for, the key of a count is what the model of the
banks counts, and of a picture of bits the key is the swizzle that was drawn.

>>> from random import Random
>>> from papers.item import make
>>> named = {kind.name: kind for kind in KINDS}
>>> [make(named[name], Random(1)).exercise.solution for name in ("holder", "turns", "bits")]
['11, 7', '4', 'S<1,5,3>']
"""

from __future__ import annotations

from random import Random

from descriptors.course.judges.accesses import least_pitch
from layoutalg import Layout, Swizzle, wavefronts
from papers.item import Draft, Kind, below, listed, pick, spoken, unknown


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
    piece = f"one piece of {run} neighbours" if runs == 1 else f"{runs} pieces of {run} neighbours each"
    return Draft(
        ask=(
            f"{threads} threads hold the elements 0 to {total - 1}, each once, {values} a thread, in "
            f"{piece}; a piece starts "
            f"at a multiple of {run}. A TV layout, from (thread, value) to the element, that does this."
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


#: Threads of a warp, and the bytes that all banks serve in a turn.
THREADS, LINE = 32, 128


def column(rng: Random) -> Draft | None:
    """The turns of 32 threads that go down a column of a row-major tile."""
    count = pick(rng, (4, 8, 16))
    pitch = count * (1 + below(rng, 48))
    right = wavefronts([thread * pitch for thread in range(THREADS)], count)
    at_once = LINE // count
    phases = THREADS // at_once
    if pitch > 768 or right == phases:
        return None
    words = count // 4
    return Draft(
        ask=(
            f"32 threads load {count} bytes each from one column of a row-major tile: thread i starts at byte "
            f"{pitch}*i. How many "
            "turns (wavefronts) does shared memory take?"
        ),
        judge="turns",
        operands=((f"(32,{count}):({pitch},1)", "32:1", 1, count),),
        starter="?",
        hints=(
            "There are 32 banks of 4 bytes. Which bank does thread 0 start in, which one thread 1?",
            f"128 bytes are served at a time: the threads go in {phases} group{'s' * (phases > 1)} of {at_once}.",
            f"Neighbours are {pitch // 4} banks apart, counted modulo 32: after how many threads is it the "
            "same bank again?",
        ),
        solution=str(right),
        why=f"In each group of {at_once} threads one bank has to serve {right // phases} words, one after another.",
        slips=(
            (str(phases), "conflicts are not counted, only bytes"),
            (str(THREADS), "all threads are taken to meet in one bank"),
            (str(right * 2), "each group is counted twice"),
            (str(right // phases), "one group of threads is counted, not the whole warp"),
            (str(right * words), "the words of one thread are taken to meet"),
            (str(max(1, pitch // LINE)), "the lines between threads are counted"),
            ("1", "threads are taken never to meet"),
        ),
    )


def padded(rng: Random) -> Draft | None:
    """The smallest pitch of rows with which a column takes no turns beyond those that its bytes need."""
    count = pick(rng, (4, 8, 16))
    width = count * pick(rng, (4, 6, 8, 12, 16, 20, 24, 32, 40, 48))
    need = THREADS * count // LINE
    right = least_pitch(THREADS, width, count)
    if width > 512 or right == width:
        return None
    return Draft(
        ask=(
            f"A tile of 32 rows has {width} bytes a row. 32 threads load {count} bytes each, thread i the "
            "first of row i. How many "
            f"bytes from row to row, a multiple of {count} and at least {width}, are the fewest with which this takes "
            f"{need} turn{'s' * (need > 1)}, as few as {THREADS * count} bytes can?"
        ),
        judge="pitch",
        operands=(THREADS, width, count),
        starter="?",
        hints=(
            f"With {width} bytes from row to row it takes {_turns(width, count)} turns. Which threads meet?",
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
            (str(width + 4), "a bank is added, though the threads load more"),
            (str(right + 2 * count), "the next pitch that would do is taken"),
        ),
    )


def _turns(pitch: int, count: int) -> int:
    return wavefronts([thread * pitch for thread in range(THREADS)], count)


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
        ask=f"The byte addresses to which `{swizzle}` sends the addresses {spoken(bytes_asked)}, as three numbers.",
        judge="numbers",
        operands=tuple(f"({swizzle})({a})" for a in bytes_asked),
        starter=unknown(3),
        hints=(
            "Write the address in binary; the lowest bit is bit 0.",
            f"Bit{'s' * (b > 1)} {bits} {'are' if b > 1 else 'is'} xored into the bit{'s' * (b > 1)} {s} lower.",
            f"In {one} bits {m + s} and up are {one >> (m + s)}, those from {m} up are {one >> m}.",
        ),
        solution=listed(right),
        why=f"The {b} bits from {m + s} up are xored into those from {m} up; the others stay.",
        slips=(
            (listed(bytes_asked), "the addresses are taken to stay"),
            (listed(a ^ (a >> (m + s) & (2**b - 1)) for a in bytes_asked), "the exclusive or goes to the lowest bits"),
            (listed(a + ((a >> (m + s) & (2**b - 1)) << m) for a in bytes_asked), "the bits are added, not xored"),
            (listed(a ^ ((a >> m & (2**b - 1)) << (m + s)) for a in bytes_asked), "the exclusive or goes upward"),
            (listed(Swizzle(b, m - 1, s)(a) for a in bytes_asked), "the unit is taken for two bytes, not one"),
            (listed(right[:2]), "one address is left out"),
        ),
    )


def numbers(rng: Random) -> Draft:
    """The three numbers of a swizzle from the bits that it changes."""
    b, m = 1 + below(rng, 3), below(rng, 6)
    s = b + below(rng, 3)
    right = Swizzle(b, m, s)
    pairs = spoken(f"bit {m + s + k} into bit {m + k}" for k in range(b))
    return Draft(
        ask=f"The swizzle `S<B,M,S>` that xors these bits of an address and no others: {pairs}.",
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


#: The kinds of this module, in the order of the lessons.
KINDS = (
    Kind("holder", 6, 2, holder),
    Kind("shares", 6, 3, shares),
    Kind("turns", 7, 2, column),
    Kind("padding", 7, 3, padded),
    Kind("address", 8, 2, address),
    Kind("bits", 8, 1, numbers),
    Kind("elements", 8, 3, elements),
)
