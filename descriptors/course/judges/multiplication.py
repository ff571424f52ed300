"""A student's own multiplication, run on a simulated machine: C = A times B transposed, by layouts and words of a file.

A is 64 by 128 elements of bf16, B 32 by 128. Global memory holds both as the lessons say. The student's copies bring
them to shared memory, the student's words and steps say what the tensor core reads, eight times 16 along K, and the
student's last layout takes the sums out of the registers. Every place in memory knows which element lies there, so that
the first wrong one is told with the line that led to it. What the tensor core reads is the read model's, where a thread
holds its sums is said here again: neither is taken from a derivation.

Invariant: a file that has every line right multiplies, and one with a line changed is told that line.

>>> lines = '''
... a_global = (64,128):(136,1)
... b_global = ((8,4),(8,16)):((8,1024),(1,64))
... places = 8696, 4096
... a_steps = (64,16,8):(136,1,16)
... b_order = (8,8,16,4):(32,1,256,8)
... a_shared = ((8,8),(64,2)):((64,512),(1,4096))
... b_shared = ((8,4),(64,2)):((64,512),(1,2048))
... copy_a = ((16,8),(8,8)):((512,1),(64,8))
... turns = 8
... swizzle = S<3,3,3>
... word_a = 0x4000004000010040
... word_b = 0x4000004000010440
... steps_a = 0, 2, 4, 6, 512, 514, 516, 518
... steps_b = 0, 2, 4, 6, 256, 258, 260, 262
... order = fence, mma, commit, wait 0, read
... c_fragment = ((4,8,4),(2,2,4)):((128,1,16),(64,8,512))
... '''
>>> multiplies(lines)
>>> multiplies(lines.replace("0x4000004000010440", "0x4000002000010440"))
'word_b: in step 0 the tensor core reads element (8,0) of B at byte 17984, where (4,0) of B lies'
>>> multiplies(lines.replace("S<3,3,3>", "S<2,3,3>"))[:51]
'word_a: in step 0 the tensor core reads element (4,'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import product
from math import prod
from typing import Any, NamedTuple

from descriptors.course.judges.accesses import swizzle_of
from descriptors.course.judges.answers import integers_of, words_of, written_layout
from descriptors.course.judges.layouts import counts_of, offset_of
from descriptors.course.judges.order import ordered
from descriptors.course.judges.threads import shared_out
from descriptors.errors import DescriptorError
from descriptors.smem.debug.read import read
from layoutalg import LayoutError, wavefronts

#: M, N and K of the product, and the K of one instruction.
M, N, K, STEP = 64, 32, 128, 16
#: Where A and B begin in shared memory, in bytes: before them is room for barriers.
A_BASE, B_BASE = 1024, 1024 + 2 * M * K

#: An element: its matrix, its row, its k.
Element = tuple[str, int, int]


class Slip(Exception):
    """What is wrong, with the line that it is in."""


class Own(NamedTuple):
    """The lines of a file by their names, read as what they are."""

    a_global: Any
    b_global: Any
    places: tuple[int, ...]
    a_steps: Any
    b_order: Any
    a_shared: Any
    b_shared: Any
    copy_a: Any
    turns: tuple[int, ...]
    swizzle: Any
    word_a: int
    word_b: int
    steps_a: tuple[int, ...]
    steps_b: tuple[int, ...]
    order: str
    c_fragment: Any


def lines_of(text: str) -> dict[str, str]:
    """The values of a file by their names: a line ``name = value`` each; what follows ``#`` is a remark.

    >>> lines_of("a = 4:1  # four\\nb=?")
    {'a': '4:1', 'b': '?'}
    """
    pairs = (line.partition("#")[0].partition("=") for line in re.split(r"[\r\n]+", text))
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}


def multiplies(answer: str) -> str | None:
    """Whether the lines of a file, as text, multiply; what is wrong begins with the name of a line."""
    try:
        own = _own(lines_of(answer))
        shared = _filled(own)
        if wrong := ordered(own.order, ("mma", "read")):
            raise Slip(f"order: {wrong}")
        _held(own, _sums(own, shared))
    except Slip as slip:
        return str(slip)
    except DescriptorError as error:
        return f"order: {error}"
    return None


def _own(lines: Mapping[str, str]) -> Own:
    missing = [name for name in Own._fields if name not in lines]
    if missing:
        raise Slip(f"has no line {missing[0]}; a line is: {missing[0]} = and its value")
    values: dict[str, Any] = {}
    for name in Own._fields:
        try:
            values[name] = _READERS.get(name, written_layout)(lines[name])
            if name in _SIZES:
                _SIZES[name](values[name])
        except (LayoutError, DescriptorError) as error:
            raise Slip(f"{name}: {error}") from error
    return Own(**values)


def _modes(*counts: int) -> Callable[[Any], None]:
    """A check that a layout has modes of so many elements."""

    def checked(layout: Any) -> None:
        if counts_of(layout) != counts:
            raise DescriptorError(f"it has modes of {list(counts_of(layout))} elements, must have {list(counts)}")

    return checked


def _covers_b(layout: Any) -> None:
    """A check that a layout has as many elements as B."""
    if prod(counts_of(layout)) != N * K:
        raise DescriptorError(f"it has {prod(counts_of(layout))} elements, must have {N * K}")


_READERS: dict[str, Callable[[str], Any]] = {
    "places": lambda text: integers_of(text, 2),
    "turns": lambda text: integers_of(text, 1),
    "swizzle": swizzle_of,
    "word_a": lambda text: words_of(text)[0],
    "word_b": lambda text: words_of(text)[0],
    "steps_a": lambda text: integers_of(text, K // STEP),
    "steps_b": lambda text: integers_of(text, K // STEP),
    "order": str,
}
_SIZES: dict[str, Callable[[Any], None]] = {
    "a_global": _modes(M, K),
    "b_global": _modes(N, K),
    "a_steps": _modes(M, STEP, K // STEP),
    "b_order": _covers_b,
    "a_shared": _modes(M, K),
    "b_shared": _modes(N, K),
    "copy_a": _modes(128, M * K // 128),
    "c_fragment": _modes(128, M * N // 128),
}


def _global_memory() -> dict[str, dict[int, Element]]:
    """Global memory as it is: A in rows with 8 places behind each, B in blocks of 8 by 8, row after row of blocks."""
    a = {136 * m + k: ("A", m, k) for m in range(M) for k in range(K)}
    b = {1024 * (n // 8) + 64 * (k // 8) + 8 * (n % 8) + k % 8: ("B", n, k) for n in range(N) for k in range(K)}
    return {"A": a, "B": b}


def _filled(own: Own) -> dict[int, Element]:
    """Shared memory, byte by byte of the elements' beginnings, after the student's copies."""
    memory, shared = _global_memory(), dict[int, Element]()
    for name, layout, room in (("A", own.a_global, own.places[0]), ("B", own.b_global, own.places[1])):
        rows, line = counts_of(layout)[0], f"{name.lower()}_global"
        for index in range(rows * K):
            place = offset_of(layout, index)
            _same(f"{line}: the element", (name, index % rows, index // rows), memory[name].get(place), f"at {place}")
        if room != max(memory[name]) + 1:
            raise Slip(f"places: {name} takes {max(memory[name]) + 1} places, says {room}")
    if torn := shared_out(str(own.copy_a), "(64,128):(136,1)", 128, M * K // 128, 8):
        raise Slip(f"copy_a: it {torn}")
    for thread, value in product(range(128), range(M * K // 128)):
        index = offset_of(own.copy_a, thread, value)
        _store(own, shared, "a_shared", A_BASE, index, memory["A"][own.a_global(index)])
    for place in range(N * K):
        _store(own, shared, "b_shared", B_BASE, offset_of(own.b_order, place), memory["B"][place])
    took = wavefronts([2 * offset_of(own.a_shared, row) for row in range(8)], 16)
    if own.turns[0] != took:
        raise Slip(f"turns: 8 rows of a_shared take {took} turns without a swizzle, says {own.turns[0]}")
    return shared


def _store(own: Own, shared: dict[int, Element], line: str, base: int, index: int, element: Element) -> None:
    """One element to its place; a copy that runs over what is there already is wrong."""
    rows = M if base == A_BASE else N
    if not 0 <= index < rows * K:
        raise Slip(f"b_order: index {index} is beyond the last of B")
    byte = base + 2 * own.swizzle(offset_of(getattr(own, line), index))
    if byte in shared:
        raise Slip(f"{line}: {_said(element)} comes to byte {byte}, where {_said(shared[byte])} lies")
    shared[byte] = element


def _said(element: Element | None) -> str:
    return "nothing" if element is None else f"({element[1]},{element[2]}) of {element[0]}"


def _same(what: str, right: Element, element: Element | None, where: str) -> None:
    if element != right:
        raise Slip(f"{what} {_said(right)} {where}, where {_said(element)} lies")


def _sums(own: Own, shared: dict[int, Element]) -> list[list[int]]:
    """What the tensor core adds up, row by row: each step reads an operand of A and one of B by its word."""
    sums = [[0] * N for _ in range(M)]
    memory = _global_memory()["A"]
    for step in range(K // STEP):
        a = _operand("word_a" if step == 0 else "steps_a", own.word_a + own.steps_a[step], M, "A", step, shared)
        b = _operand("word_b" if step == 0 else "steps_b", own.word_b + own.steps_b[step], N, "B", step, shared)
        for m, k in product(range(M), range(STEP)):
            place = offset_of(own.a_steps, m, k, step)
            _same(f"a_steps: in step {step} the element", ("A", m, 16 * step + k), memory.get(place), f"at {place}")
        for m, row in enumerate(a):
            for n, column in enumerate(b):
                sums[m][n] += sum(map(int.__mul__, row, column))
    return sums


def _operand(line: str, word: int, rows: int, name: str, step: int, shared: dict[int, Element]) -> list[list[int]]:
    """The numbers that the tensor core reads by a word."""
    addresses = read(word & (1 << 64) - 1, "sm90", dtype="bf16", major="K", shape=(rows, STEP)).addresses
    for mn, k in product(range(rows), range(STEP)):
        at = addresses[mn][k]
        right, element = (name, mn, STEP * step + k), shared.get(at)
        if element != right:
            which = f"element ({mn},{right[2]}) of {name} at byte {at}"
            raise Slip(f"{line}: in step {step} the tensor core reads {which}, where {_said(element)} lies")
    return [[_number(shared[at]) for at in row] for row in addresses]


def _number(element: Element) -> int:
    """The value of an element: small, and unlike its neighbours'."""
    name, mn, k = element
    return (3 * mn + 5 * k + mn * k) % 7 - 3 if name == "A" else (2 * mn + 3 * k + mn * k) % 5 - 2


def _held(own: Own, sums: list[list[int]]) -> None:
    """The sums out of the registers into C, and C beside the product by its definition."""
    c: dict[int, int] = {}
    for thread, value in product(range(128), range(M * N // 128)):
        row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (value // 2 % 2)
        column = 8 * (value // 4) + 2 * (thread % 4) + value % 2
        index = offset_of(own.c_fragment, thread, value)
        if index != row + M * column:
            held = f"value {value} of thread {thread} is element ({row},{column}), index {row + M * column}"
            raise Slip(f"c_fragment: {held}, says {index}")
        c[index] = sums[row][column]
    for m, n in product(range(M), range(N)):
        right = sum(_number(("A", m, k)) * _number(("B", n, k)) for k in range(K))
        if c[m + M * n] != right:  # every place was right, so that this cannot be a student's slip
            raise Slip(f"comes to {c[m + M * n]} at ({m},{n}), must be {right}")


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {"multiplies": multiplies}
