"""Judge a student's multiplication, C = A times B transposed, by simulating the layouts and words in a file.

A is 64 by 128 elements of bf16, B is 32 by 128. The lessons define how both are stored in global memory. The student's
copies move them to shared memory. The student's words and steps determine what the tensor core reads, eight times 16
along K. The student's last layout moves the sums from registers to C. The simulation records which element is stored at
each address, and reports the first wrong element with the line that led to it. The addresses that the tensor core reads
come from the read model, and the registers of the sums are computed here: neither comes from a derivation.

Invariant: a file with only right lines multiplies; if a line is changed, the verdict names this line.

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
'word_b: in step 0 the tensor core reads element (8,0) of B at byte 17984, which holds (4,0) of B'
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
#: The addresses of A and B in shared memory, in bytes; the space before them is for barriers.
A_BASE, B_BASE = 1024, 1024 + 2 * M * K

#: An element: its matrix, its row, its k.
Element = tuple[str, int, int]


class WorkbookError(Exception):
    """A mistake in a student's file; the message begins with the name of the line."""


class Workbook(NamedTuple):
    """The values in a student's file, by the names of their lines."""

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
    """Return the values in a file by their names; a line is ``name = value``, and a comment begins with ``#``.

    >>> lines_of("a = 4:1  # four\\nb=?")
    {'a': '4:1', 'b': '?'}
    """
    pairs = (line.partition("#")[0].partition("=") for line in re.split(r"[\r\n]+", text))
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}


def multiplies(answer: str) -> str | None:
    """Judge the lines of a file; a mistake begins with the name of a line."""
    try:
        workbook = _parse_workbook(lines_of(answer))
        shared = _fill_shared_memory(workbook)
        if wrong := ordered(workbook.order, ("mma", "read")):
            raise WorkbookError(f"order: {wrong}")
        _check_result(workbook, _multiply(workbook, shared))
    except WorkbookError as error:
        return str(error)
    except DescriptorError as error:
        return f"order: {error}"
    return None


def _parse_workbook(lines: Mapping[str, str]) -> Workbook:
    missing = [name for name in Workbook._fields if name not in lines]
    if missing:
        raise WorkbookError(f"has no line {missing[0]}; write {missing[0]} = and its value")
    values: dict[str, Any] = {}
    for name in Workbook._fields:
        try:
            values[name] = _READERS.get(name, written_layout)(lines[name])
            if name in _SIZES:
                _SIZES[name](values[name])
        except (LayoutError, DescriptorError) as error:
            raise WorkbookError(f"{name}: {error}") from error
    return Workbook(**values)


def _mode_checker(*counts: int) -> Callable[[Any], None]:
    """Return a check that a layout has modes with these numbers of elements."""

    def check(layout: Any) -> None:
        if counts_of(layout) != counts:
            raise DescriptorError(f"it has modes of {list(counts_of(layout))} elements, must have {list(counts)}")

    return check


def _covers_b(layout: Any) -> None:
    """Check that a layout has as many elements as B."""
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
    "a_global": _mode_checker(M, K),
    "b_global": _mode_checker(N, K),
    "a_steps": _mode_checker(M, STEP, K // STEP),
    "b_order": _covers_b,
    "a_shared": _mode_checker(M, K),
    "b_shared": _mode_checker(N, K),
    "copy_a": _mode_checker(128, M * K // 128),
    "c_fragment": _mode_checker(128, M * N // 128),
}


def _global_memory() -> dict[str, dict[int, Element]]:
    """Return global memory: A in rows followed by 8 unused places, B in blocks of 8 by 8, row after row of blocks."""
    a = {136 * m + k: ("A", m, k) for m in range(M) for k in range(K)}
    b = {1024 * (n // 8) + 64 * (k // 8) + 8 * (n % 8) + k % 8: ("B", n, k) for n in range(N) for k in range(K)}
    return {"A": a, "B": b}


def _fill_shared_memory(workbook: Workbook) -> dict[int, Element]:
    """Return shared memory after the student's copies: the element at the address of its first byte."""
    memory, shared = _global_memory(), dict[int, Element]()
    for name, layout, places in (
        ("A", workbook.a_global, workbook.places[0]),
        ("B", workbook.b_global, workbook.places[1]),
    ):
        rows, line = counts_of(layout)[0], f"{name.lower()}_global"
        for index in range(rows * K):
            place = offset_of(layout, index)
            _check_element(
                f"{line}: the element", (name, index % rows, index // rows), memory[name].get(place), f"at {place}"
            )
        if places != max(memory[name]) + 1:
            raise WorkbookError(f"places: {name} takes {max(memory[name]) + 1} places, not {places}")
    if mistake := shared_out(str(workbook.copy_a), "(64,128):(136,1)", 128, M * K // 128, 8):
        raise WorkbookError(f"copy_a: it {mistake}")
    for thread, value in product(range(128), range(M * K // 128)):
        index = offset_of(workbook.copy_a, thread, value)
        _store(workbook, shared, "a_shared", A_BASE, index, memory["A"][workbook.a_global(index)])
    for place in range(N * K):
        _store(workbook, shared, "b_shared", B_BASE, offset_of(workbook.b_order, place), memory["B"][place])
    turns = wavefronts([2 * offset_of(workbook.a_shared, row) for row in range(8)], 16)
    if workbook.turns[0] != turns:
        raise WorkbookError(f"turns: 8 rows of a_shared take {turns} turns without a swizzle, not {workbook.turns[0]}")
    return shared


def _store(workbook: Workbook, shared: dict[int, Element], line: str, base: int, index: int, element: Element) -> None:
    """Store an element at its address; an address must not be written twice."""
    rows = M if base == A_BASE else N
    if not 0 <= index < rows * K:
        raise WorkbookError(f"b_order: index {index} is beyond the last of B")
    byte = base + 2 * workbook.swizzle(offset_of(getattr(workbook, line), index))
    if byte in shared:
        raise WorkbookError(
            f"{line}: {_element_text(element)} is copied to byte {byte}, which holds {_element_text(shared[byte])}"
        )
    shared[byte] = element


def _element_text(element: Element | None) -> str:
    return "nothing" if element is None else f"({element[1]},{element[2]}) of {element[0]}"


def _check_element(fact: str, right: Element, element: Element | None, place: str) -> None:
    if element != right:
        raise WorkbookError(f"{fact} {_element_text(right)} {place}, which holds {_element_text(element)}")


def _multiply(workbook: Workbook, shared: dict[int, Element]) -> list[list[int]]:
    """Return the sums, by rows: in each step the tensor core reads an operand of A and an operand of B."""
    sums = [[0] * N for _ in range(M)]
    memory = _global_memory()["A"]
    for step in range(K // STEP):
        a = _read_operand(
            "word_a" if step == 0 else "steps_a", workbook.word_a + workbook.steps_a[step], M, "A", step, shared
        )
        b = _read_operand(
            "word_b" if step == 0 else "steps_b", workbook.word_b + workbook.steps_b[step], N, "B", step, shared
        )
        for m, k in product(range(M), range(STEP)):
            place = offset_of(workbook.a_steps, m, k, step)
            _check_element(
                f"a_steps: in step {step} the element", ("A", m, 16 * step + k), memory.get(place), f"at {place}"
            )
        for m, row in enumerate(a):
            for n, column in enumerate(b):
                sums[m][n] += sum(map(int.__mul__, row, column))
    return sums


def _read_operand(line: str, word: int, rows: int, name: str, step: int, shared: dict[int, Element]) -> list[list[int]]:
    """Return the numbers that the tensor core reads with a word."""
    addresses = read(word & (1 << 64) - 1, "sm90", dtype="bf16", major="K", shape=(rows, STEP)).addresses
    for mn, k in product(range(rows), range(STEP)):
        address = addresses[mn][k]
        right, element = (name, mn, STEP * step + k), shared.get(address)
        if element != right:
            fact = f"in step {step} the tensor core reads element ({mn},{right[2]}) of {name} at byte {address}"
            raise WorkbookError(f"{line}: {fact}, which holds {_element_text(element)}")
    return [[_number(shared[address]) for address in row] for row in addresses]


def _number(element: Element) -> int:
    """Return the value of an element: a small number that differs from those of its neighbors."""
    name, mn, k = element
    return (3 * mn + 5 * k + mn * k) % 7 - 3 if name == "A" else (2 * mn + 3 * k + mn * k) % 5 - 2


def _check_result(workbook: Workbook, sums: list[list[int]]) -> None:
    """Move the sums from the registers to C, and compare C with the product by its definition."""
    c: dict[int, int] = {}
    for thread, value in product(range(128), range(M * N // 128)):
        row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (value // 2 % 2)
        column = 8 * (value // 4) + 2 * (thread % 4) + value % 2
        index = offset_of(workbook.c_fragment, thread, value)
        if index != row + M * column:
            fact = f"value {value} of thread {thread} is element ({row},{column}), index {row + M * column}"
            raise WorkbookError(f"c_fragment: {fact}, not {index}")
        c[index] = sums[row][column]
    for m, n in product(range(M), range(N)):
        right = sum(_number(("A", m, k)) * _number(("B", n, k)) for k in range(K))
        if c[m + M * n] != right:  # an error in this module: all addresses were right
            raise WorkbookError(f"comes to {c[m + M * n]} at ({m},{n}), must be {right}")


#: The judges, by the names that exercises use.
JUDGES: dict[str, Callable[..., str | None]] = {"multiplies": multiplies}
