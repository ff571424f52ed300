"""Execute ``mma.sync``: check that the registers of A and B hold the elements that the instruction expects.

If the origins of all bytes of a fragment are known, it must be a matrix there, with the rows and K of the instruction:
the address of a byte is the sum of a term for its row and a term for its K. A and B must have the same K at the same
position: if their steps of K are the same, they must be in the same order. Rows may be in any order, because the stores
of D may restore it; if they do not follow one another, the fragment is undecided. From one multiplication of an
accumulation to the next, A and B must advance by the same number of elements of K; otherwise the fragment is undecided.

A multiplication of bytes that are computed, or that a tensor copy brings, is not checked, and reported as undecided.

Source: PTX ISA 9.1, matrix fragments for mma: a register has four bytes of K, whatever the type (register r of lane t:
row t/4 + 8(r%2), bytes from 16(r/2) + 4(t%4) on of A; row t/4, bytes from 16r + 4(t%4) on of B).

Invariant: a fragment of a matrix in memory is accepted with any pitch; with two lanes exchanged it is not.

>>> from descriptors.check.execution.contents import word_from
>>> def word(t, r):
...     return word_from(4096 + 512 * (t // 4 + 8 * (r % 2)) + 16 * (r // 2) + 4 * (t % 4))
>>> matrix = matrix_of(tuple(tuple(word(t, r) for t in range(32)) for r in range(4)), 16)
>>> matrix.rows[:3], matrix.steps[:3], matrix.rest
((4096, 4608, 5120), (0, 1, 2), None)
>>> matrix_of(tuple(tuple(word(t ^ (t < 8), r) for t in range(32)) for r in range(4)), 16).rest
(2, 4)
"""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import pairwise
from math import gcd
from typing import NamedTuple

from descriptors.check.execution.contents import addresses_of
from descriptors.check.execution.fragment import Fragment
from descriptors.check.execution.lanes import Cause, Unknown, first_unknown, lane_values
from descriptors.check.execution.launch import WARP
from descriptors.check.execution.machine import Handler, Machine, items_of
from descriptors.check.execution.origins import origins
from descriptors.check.execution.program import Step
from descriptors.check.execution.warp_events import check_whole_warp
from descriptors.check.ptx.ptx_module import Instruction
from descriptors.check.ptx.ptx_operands import Vector
from descriptors.check.ptx.warp_mma import WarpMma, selectors_of, stored_bits, warp_mma

#: Largest number of iterations of an instruction that are checked per warp: more than a ring has stages.
ROUNDS = 12
#: Least distance of the rows of a matrix in bytes; at a smaller distance, a tile may have been swizzled beforehand.
_APART = 256


class Matrix(NamedTuple):
    """A fragment as it is stored in global memory.

    Args:
        rows: address of K 0 of each row.
        steps: offset of each byte of K.
        rest: row and byte of K of the first byte that is at another address than its row and K give; None if there
            is none.
        apart: least distance in bytes between the starts of consecutive contiguous pieces.
    """

    rows: tuple[int, ...]
    steps: tuple[int, ...]
    rest: tuple[int, int] | None
    apart: int

    @property
    def start(self) -> int:
        """The least address of row 0."""
        return self.rows[0] + min(self.steps)

    def unit(self, size: int) -> int:
        """Return the distance from one element of K to the next in bytes, where an element has ``size`` bytes."""
        return _unit(self.steps[::size])


@lru_cache(maxsize=1024)
def _unit(element_steps: tuple[int, ...]) -> int:
    return reduce(gcd, (step - min(element_steps) for step in element_steps), 0) or 1


@lru_cache(maxsize=1024)
def matrix_of(words: tuple[tuple[int, ...], ...], rows: int) -> Matrix:
    """Return a fragment by the origins of its bytes.

    Args:
        words: origins of each register and lane.
        rows: 16 or 8 for A, 8 for B.
    """
    pairs = rows // 8
    place: dict[tuple[int, int], int] = {}
    for register, lane_words in enumerate(words):
        for lane, word in enumerate(lane_words):
            m, k = lane // 4 + 8 * (register % pairs), 16 * (register // pairs) + 4 * (lane % 4)
            for byte, address in enumerate(addresses_of(word)):
                place[m, k + byte] = address
    extent = 16 * len(words) // pairs
    bases = tuple([place[m, 0] for m in range(rows)])
    steps = tuple([place[0, k] - bases[0] for k in range(extent)])
    rest = next(
        (position for position in sorted(place) if place[position] != bases[position[0]] + steps[position[1]]), None
    )
    addresses = sorted(set(place.values()))
    starts = [
        address
        for before, address in zip([addresses[0] - 2, *addresses], addresses, strict=False)
        if address - before > 1
    ]
    apart = min((after - before for before, after in pairwise(starts)), default=0)
    return Matrix(bases, steps, rest, apart)


@lru_cache(maxsize=1024)
def order_of(steps: tuple[int, ...], size: int) -> tuple[tuple[int, ...], bool]:
    """Return the steps of K per element, from 0 on and in their own unit, and True if the bytes of each are contiguous.

    >>> order_of((16, 17, 18, 19, 0, 1, 2, 3), 2)
    ((8, 9, 0, 1), True)
    """
    element_steps = steps[::size]
    together = all(step == element_steps[index // size] + index % size for index, step in enumerate(steps))
    unit = _unit(element_steps)
    return tuple([(step - min(element_steps)) // unit for step in element_steps]), together


def _advance_together(operands: tuple[Matrix, Matrix], first: tuple[Matrix, Matrix], size: int) -> bool:
    """Check that A and B are at the same element of K, counted from the first multiplication of the accumulation.

    >>> a, b, c = (Matrix((start, start + 512), (0, 1, 2, 3), None, 0) for start in (4096, 4128, 4160))
    >>> _advance_together((b, c), (a, b), 2), _advance_together((b, a), (a, a), 2)
    (True, False)
    """
    moved = [matrix.start - before.start for matrix, before in zip(operands, first, strict=True)]
    units = [matrix.unit(size) for matrix in operands]
    return moved[0] * units[1] == moved[1] * units[0]


def _multiply(machine: Machine, fragment: Fragment, step: Step) -> None:
    machine.count -= 1  # it changes nothing, so that it does not count as a step
    check_whole_warp(machine, fragment, step, "fragment-aligned")
    view = _view(step.instruction)
    if not machine.follows or view is None or fragment.lane_count < WARP or machine.iteration(fragment, step) > ROUNDS:
        return
    if view.scaled:
        _check_selectors(machine, fragment, step, view)
    why = _check_operands(machine, fragment, step, view, _accumulation(machine, fragment, step))
    if not machine.notes.fragments.get(step.place):
        machine.notes.fragments[step.place] = why


def _accumulation(machine: Machine, fragment: Fragment, step: Step) -> tuple[int, int, int]:
    """Return the accumulation of a multiplication: CTA, warp, and the line of the first one, which D takes along."""
    target, source = (items_of(step.instruction.operands[place])[0] for place in (0, 3))
    value = first_unknown(machine.value(fragment, source))
    line = step.instruction.line
    key = (fragment.cta, fragment.warp, line)
    if value is not None and value.why is Cause.ACCUMULATOR:
        key = (fragment.cta, fragment.warp, value.line)
    else:
        machine.accumulations.pop(key, None)
    machine.set(fragment, target, Unknown(Cause.ACCUMULATOR, key[2]))
    return key


@lru_cache(maxsize=4096)
def _view(instruction: Instruction) -> WarpMma | None:
    view = warp_mma(instruction)
    return view if len(instruction.operands) > 3 else None


def _check_operands(
    machine: Machine, fragment: Fragment, step: Step, view: WarpMma, accumulation: tuple[int, int, int]
) -> str:
    """Check the operands of a multiplication and report errors; return why it is undecided, or ""."""
    bits = stored_bits(view)
    if bits in (0, 64):
        return "64-bit elements and quads of threads are not checked"
    a, b = (_locate_operand(machine, fragment, step, number) for number in (1, 2))
    if isinstance(a, str):
        return a
    if isinstance(b, str):
        return b
    size = max(1, bits // 8)
    why = _compare_operands(machine, step, a, b, size, bool(view.sparse))
    if not why and not _advance_together((a, b), machine.accumulations.setdefault(accumulation, (a, b)), size):
        why = "A and B advance differently along K in one accumulation"
    return why or (_check_scales(machine, fragment, step, view) if view.scaled else "")


def _check_selectors(machine: Machine, fragment: Fragment, step: Step, view: WarpMma) -> None:
    """Report byte-ids and thread-ids in registers, which no assembler checks, that do not exist."""
    for matrix, pair, legal in zip("ab", step.instruction.operands[-3::2], selectors_of(view), strict=True):
        items = pair.items if isinstance(pair, Vector) else ()
        for selector, item, numbers in zip(("byte-id", "thread-id"), items, legal, strict=False):
            wrong = {
                v for v in lane_values(machine.value(fragment, item), fragment.lane_count) if isinstance(v, int)
            } - {*numbers}
            if isinstance(item, str) and wrong:
                fact = f"{selector}-{matrix} in {item} is {min(wrong)}; there are {', '.join(map(str, numbers))}"
                machine.report("fragment-selector", step, fact)


def _check_scales(machine: Machine, fragment: Fragment, step: Step, view: WarpMma) -> str:
    """Return why the scale factors are undecided; "" if the selected threads hold those of their rows."""
    operands = step.instruction.operands[-4:]
    for letter, scale, pair, threads in zip("AB", operands[::2], operands[1::2], (2, 1), strict=True):
        items = pair.items if isinstance(pair, Vector) else ()
        ids = [machine.value(fragment, item) for item in items]
        words = origins(machine, fragment, scale)
        if len(ids) != 2 or not isinstance(ids[0], int) or not isinstance(ids[1], int):
            return f"the selectors of the scale factors of {letter} are unknown"
        if not 0 <= ids[0] < 4:  # reported by ``_check_selectors``
            return ""
        lanes = [lane for lane in range(WARP) if lane % 4 // threads == ids[1]]
        words_by_row = {lane // 4 + 8 * (lane % 2) if threads == 2 else lane // 4: words[lane] for lane in lanes}
        if any(isinstance(word, Unknown) for word in words_by_row.values()):
            return f"the origin of the scale factors of {letter} is unknown"
        addresses = [addresses_of(words_by_row[row])[ids[0]] for row in sorted(words_by_row)]  # type: ignore[arg-type]  # all are known
        if len({after - before for before, after in pairwise(addresses)}) > 1:
            return f"the scale factors of {letter} are not equally spaced in memory"
    return ""


def _locate_operand(machine: Machine, fragment: Fragment, step: Step, number: int) -> Matrix | str:
    """Return A or B as it is stored in global memory, or why that is unknown."""
    letter, operand = " AB"[number], step.instruction.operands[number]
    items = operand.items if isinstance(operand, Vector) else (operand,)
    words = [origins(machine, fragment, item) for item in items]
    for lane_words in words:
        if any(isinstance(word, Unknown) for word in lane_words):
            return f"the origin of {letter} is unknown"
    pairs = 1 if number == 2 or ".m8n8" in step.instruction.opcode else 2
    if not words or len(words) % pairs:
        return f"{letter} does not have the registers of its form"
    return matrix_of(tuple(words), 8 * pairs)


def _compare_operands(machine: Machine, step: Step, a: Matrix, b: Matrix, size: int, sparse: bool) -> str:
    """Report errors of the operands, and return why they are undecided; "" if they are decided."""
    for letter, matrix in (("A", a), ("B", b)):
        if matrix.rest is not None:
            row, byte = matrix.rest
            if matrix.apart > _APART:
                fact = f"byte {byte} of K in row {row} of {letter} comes from another position than in row 0"
                machine.report("fragment-matrix", step, fact)
                return ""
            return f"{letter} is not a matrix in memory, for example because its tile was swizzled beforehand"
    (order_a, whole_a), (order_b, whole_b) = order_of(a.steps, size), order_of(b.steps, size)
    if sparse:
        return "the metadata of sparse instructions are not checked"
    if not (whole_a and whole_b) or sorted(order_a) != sorted(order_b):
        return "A and B have different steps of K"
    if order_a != order_b:
        k = next(k for k, (x, y) in enumerate(zip(order_a, order_b, strict=True)) if x != y)
        fact = f"at k = {k}, A has element {order_a[k]} of K and B has element {order_b[k]}"
        machine.report("fragment-order", step, fact)
        return ""
    for letter, matrix in (("A", a), ("B", b)):
        if len({after - before for before, after in pairwise(matrix.rows)}) > 1:
            return f"the rows of {letter} are not equally spaced in memory"
    return ""


WARP_MMA: dict[str, Handler] = {"mma": _multiply}
