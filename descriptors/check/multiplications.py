"""Every multiplication of a function with all that its text says: operands, words, instruction descriptor.

Source: PTX ISA 9.1, wgmma.mma_async (imm-trans), tcgen05.mma (instruction descriptor, cta_group).

Law: an operand in shared memory is as large as the share of one CTA.

>>> [_share(use, "B", 256, 16) for use in (Use("f16"), Use("f16", cta_group=2))]
[(256, 16), (128, 16)]

Accumulations: multiplications into one accumulator that follow one another, in whatever blocks.

Compilers put a multiplication into a block of its own where one thread is elected for it. Two follow one another if a
path leads from the first to the second, no loop begins or ends between them, and nothing is committed there.
Source: what an accumulation is, is ours.

Law: every multiplication is in one chain, in order.

>>> from descriptors.check.flow import blocks
>>> from descriptors.check.ptx_module import parse
>>> function = parse(".version 8.8\\n.entry k() { a; @p bra L; b; L: c; M: d; @q bra M; ret; }").functions[0]
>>> follow = Follow(function, blocks(function))
>>> follow(0, 2), follow(0, 3), follow(0, 4)
(True, True, False)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Literal

from descriptors.check.acts import Values, number
from descriptors.check.flow import Block
from descriptors.check.instruction_uses import Use, instruction_of
from descriptors.check.kernel_words import Operand
from descriptors.check.known import NOTHING, Known
from descriptors.check.ptx_module import Function
from descriptors.check.ptx_operands import Address, Vector, names
from descriptors.check.views import TensorMma, Wgmma, tensor_mma, wgmma
from descriptors.errors import DescriptorError
from descriptors.frozen import frozen
from descriptors.smem.instructions.idesc import Instruction as Described
from descriptors.smem.instructions.idesc import decode_idesc

#: Types that kinds with 8-bit containers keep in them, and what such an operand is called.
_CONTAINERS = {"e2m1": "e2m1_unpacksmem"}


@frozen
class Multiplication:
    """One MMA instruction, read.

    Args:
        index: of the instruction in its function.
        line: in the text.
        opcode: with its qualifiers.
        operands: those in shared memory.
        result: what names D: its registers, or the address in tensor memory.
        view: its parts.
        use: what a ``tcgen05.mma`` says of its instruction descriptor; None for ``wgmma``.
        idesc: the instruction descriptor, if it is a constant.
        described: what both say together; None where that is not known.
        adds: whether D is added to; None where that is not known.
    """

    index: int
    line: int
    opcode: str
    operands: tuple[Operand, ...]
    result: str
    view: Wgmma | TensorMma
    use: Use | None = None
    idesc: int | None = None
    described: Described | None = None
    adds: bool | None = None


def multiplications(function: Function, values: Values) -> Iterator[Multiplication]:
    """The multiplications of a function, in order; those that are not understood are left out."""
    for index, one in enumerate(function.code):
        known = values.get(index, {})
        if one.opcode.startswith("wgmma.mma_async") and (first := wgmma(one)):
            yield Multiplication(
                index, one.line, one.opcode, tuple(_wgmma_operands(first, known)), ",".join(names(first.d)), first,
                adds=_adds(first.scale_d, known),
            )  # fmt: skip
        elif one.opcode.startswith("tcgen05.mma") and (second := tensor_mma(one)):
            yield _tensor(index, one.line, one.opcode, second, known)


def _adds(operand: object, known: Mapping[str, Known]) -> bool | None:
    found = number(operand, known, 1) if isinstance(operand, str | int) else None
    return None if found is None else bool(found)


def _word(operand: object, known: Mapping[str, Known]) -> Known:
    return known.get(operand, NOTHING) if isinstance(operand, str) else NOTHING


def _wgmma_operands(view: Wgmma, known: Mapping[str, Known]) -> Iterator[Operand]:
    m, n, k = view.shape
    sides: tuple[tuple[Literal["A", "B"], object, str, object, tuple[int, int]], ...] = (
        ("A", view.a, view.types[1], view.a_transposed, (m, k // (1 + view.sparse))),
        ("B", view.b, view.types[2], view.b_transposed, (n, k)),
    )
    for matrix, operand, dtype, transposed, shape in sides:
        if not isinstance(operand, Vector):
            yield Operand(matrix, "sm90", dtype, "MN" if transposed == 1 else "K", shape, _word(operand, known))


def _tensor(index: int, line: int, opcode: str, view: TensorMma, known: Mapping[str, Known]) -> Multiplication:
    use = Use(
        kind=view.kind, cta_group=view.cta_group or 1, sparse=view.sparse, ws=view.ws, ashift=view.ashift,
        a_source="tmem" if view.in_tensor_memory else "smem", scale_vector=view.scale_vector,
    )  # fmt: skip
    word = number(view.idesc, known) if isinstance(view.idesc, str | int) else None
    described = None
    if word is not None and view.k:
        word &= 0xFFFFFFFF
        try:
            described = instruction_of(decode_idesc(word, use.kind), use)
        except DescriptorError:
            described = None
    # Without the instruction descriptor the words of the operands are known, but not what they are of.
    operands = tuple(_tensor_operands(view, use, described, known))
    d = view.d if isinstance(view.d, Address) else Address("")
    place = known.get(d.base, NOTHING)
    result = f"{place.base or d.base}+{place.offset + d.offset}"
    return Multiplication(
        index, line, opcode, operands, result, view, use, word, described, _adds(view.enable, known)
    )  # fmt: skip


def _tensor_operands(
    view: TensorMma, use: Use, described: Described | None, known: Mapping[str, Known]
) -> Iterator[Operand]:
    for matrix, operand in (("A", view.a), ("B", view.b)):
        if isinstance(operand, Address):
            continue
        word = _word(operand, known)
        if described is None or not described.m or not described.n:
            yield Operand("A" if matrix == "A" else "B", "sm100", "", "K", (0, 0), word)
        elif matrix == "A":
            shape = _share(use, "A", described.m, described.k // (1 + use.sparse))
            yield Operand("A", "sm100", _stored(view.kind, described.a_dtype), _major(described.a_major), shape, word)
        else:
            shape = _share(use, "B", described.n, described.k)
            yield Operand("B", "sm100", _stored(view.kind, described.b_dtype), _major(described.b_major), shape, word)


def _stored(kind: str, dtype: str) -> str:
    return _CONTAINERS.get(dtype, dtype) if kind.endswith("f8f6f4") else dtype


def _major(major: object) -> Literal["K", "MN"]:
    return "MN" if str(major) == "MN" else "K"


def _share(use: Use, matrix: str, extent: int, k: int) -> tuple[int, int]:
    """MN and K of an operand in the shared memory of one CTA; two of a pair hold a half each."""
    return extent // use.cta_group, k


class Follow:
    """Whether one instruction of a function follows another, as multiplications of one accumulation do.

    Args:
        function: the function.
        graph: its basic blocks.
    """

    def __init__(self, function: Function, graph: list[Block]) -> None:
        self.graph = graph
        self.block = [number for number, one in enumerate(graph) for _ in range(one.start, one.end)]
        back = [(number, to) for number, one in enumerate(graph) for to in one.next if to <= number]
        heads, ends = {graph[to].start for _, to in back}, {graph[number].end for number, _ in back}
        closed = {index for index, one in enumerate(function.code) if one.opcode.startswith(_CLOSING)}
        marks = sorted(heads | ends | {index + 1 for index in closed})
        #: For each instruction the number of borders at or before it.
        self.borders = []
        passed = 0
        for index in range(len(function.code) + 1):
            while passed < len(marks) and marks[passed] <= index:
                passed += 1
            self.borders.append(passed)

    def __call__(self, first: int, second: int) -> bool:
        """Whether the second, which stands further down, follows the first."""
        if self.borders[first] != self.borders[second]:
            return False
        wanted, waiting, seen = self.block[second], [self.block[first]], set[int]()
        while waiting:
            number = waiting.pop()
            if number == wanted:
                return True
            if number not in seen:
                seen.add(number)
                waiting.extend(to for to in self.graph[number].next if number < to <= wanted)
        return False


_CLOSING = ("wgmma.commit_group", "wgmma.wait_group", "tcgen05.commit")


def chains(function: Function, found: list[Multiplication], graph: list[Block]) -> Iterator[list[Multiplication]]:
    """The accumulations of a function.

    Args:
        function: the function.
        found: its multiplications.
        graph: its basic blocks.
    """
    follow = Follow(function, graph)
    chain = found[:1]
    for before, after in pairwise(found):
        same = after.result == before.result and after.opcode == before.opcode
        if not same or not follow(before.index, after.index):
            yield chain
            chain = []
        chain.append(after)
    yield chain
