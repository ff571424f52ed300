r"""The multiplications of a kernel: their operands by name, the known descriptors, and their accumulations.

``wgmma`` and ``tensor_mma`` parse the operands of an instruction; ``instruction_forms`` checks that they are legal. If
the operands do not match the instruction, the result is None. An *accumulation* is a sequence of multiplications into
one accumulator. They may be in different blocks, because compilers put a multiplication into a block of its own if an
elected thread issues it. Two multiplications follow one another if a path leads from the first to the second, no loop
begins or ends between them, and there is no commit between them.
Source: PTX ISA 9.1, wgmma.mma_async (imm-trans), tcgen05.mma (instruction descriptor, cta_group): Syntax; the
definition of an accumulation is ours.

Invariant: all operands must match: with an additional operand the result is None.

>>> from descriptors.check.ptx.ptx_operands import operands
>>> def of(text): return wgmma(Instruction(1, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", operands(text)))
>>> of("{a,b,c,d}, x, y, p, 1, 1, 0, 1").b_transposed, of("{a,b,c,d}, x, y, p, 1, 1, 0, 1, 1") is None
(1, True)

Invariant: the shape of an operand in shared memory is that of one CTA.

>>> [_cta_share(cta_group, 256, 16) for cta_group in (1, 2)]
[(256, 16), (128, 16)]

Invariant: instructions follow one another across branches, but not across loop boundaries.

>>> from descriptors.check.ptx.control_flow import blocks
>>> from descriptors.check.ptx.ptx_module import parse
>>> function = parse(".version 8.8\n.entry k() { a; @p bra L; b; L: c; M: d; @q bra M; ret; }").functions[0]
>>> follow = Follow(function, blocks(function))
>>> follow(0, 2), follow(0, 3), follow(0, 4)
(True, True, False)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Literal

from descriptors.check.ptx.constant_folding import Values, number
from descriptors.check.ptx.control_flow import Block
from descriptors.check.ptx.kernel_words import SmemOperand, Use, instruction_of, word_arch
from descriptors.check.ptx.known_bits import NOTHING, Known, exactly
from descriptors.check.ptx.ptx_module import Function, Instruction
from descriptors.check.ptx.ptx_operands import Address, Negated, Operand, Vector, names
from descriptors.check.ptx.start_addresses import Shifts
from descriptors.errors import DescriptorError
from descriptors.smem.instructions.idesc import Instruction as Described
from descriptors.smem.instructions.idesc import decode_idesc
from descriptors.smem.instructions.tables import DENSE_K
from descriptors.smem.words.descriptor import Arch
from layoutalg.frozen import frozen, replace

_SHAPE = re.compile(r"m(\d{1,4})n(\d{1,4})k(\d{1,4})\Z")
_WGMMA_KINDS = {
    "f16": "f16",
    "bf16": "f16",
    "tf32": "tf32",
    "e4m3": "f8",
    "e5m2": "f8",
    "s8": "i8",
    "u8": "i8",
    "b1": "b1",
}


@frozen
class WgmmaOpcode:
    """The parsed opcode of a ``wgmma.mma_async``.

    Args:
        shape, types, kind, sparse, extra: as in ``Wgmma``.
    """

    shape: tuple[int, int, int]
    types: tuple[str, str, str]
    kind: str
    sparse: bool
    extra: tuple[str, ...]


@frozen
class Wgmma:
    """A ``wgmma.mma_async``.

    Args:
        shape: M, N, K.
        types: the qualifiers of the types of D, A and B.
        kind: the kind of the tables to which the type of A belongs; "" if there is none.
        sparse: whether it is ``.sp``.
        d: the registers of D.
        a: A: a register with a descriptor, or a vector of registers.
        b: B: a register with a descriptor.
        scale_d: scale-d, which decides whether it adds to D: a predicate, or 0 or 1.
        scales: immediates that may negate A and B.
        transposes: immediates that make operands in shared memory MN-major.
        extra: qualifiers after the types.
        metadata: sp-meta and sp-sel of a sparse instruction; empty for a dense one.
    """

    shape: tuple[int, int, int]
    types: tuple[str, str, str]
    kind: str
    sparse: bool
    d: Operand
    a: Operand
    b: Operand
    scale_d: Operand
    scales: tuple[Operand, ...]
    transposes: tuple[Operand, ...]
    extra: tuple[str, ...] = ()
    metadata: tuple[Operand, ...] = ()

    @property
    def from_registers(self) -> bool:
        """Whether A is in registers."""
        return isinstance(self.a, Vector)

    @property
    def a_transposed(self) -> Operand:
        """The immediate imm-trans-a; 0 if there is none."""
        return self.transposes[0] if self.transposes and not self.from_registers else 0

    @property
    def b_transposed(self) -> Operand:
        """The immediate imm-trans-b; 0 if there is none."""
        return self.transposes[-1] if self.transposes else 0


def wgmma_opcode(instruction: Instruction) -> WgmmaOpcode | None:
    """Parse the opcode of a ``wgmma.mma_async``; None if it has no shape or not three types.

    >>> wgmma_opcode(Instruction(1, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", ())).kind
    'f16'
    """
    words = [w for w in instruction.qualifiers[2:] if w not in ("sync", "aligned", "sp")]
    shape = _SHAPE.match(words[0]) if words else None
    if shape is None or len(words) < 4:
        return None
    return WgmmaOpcode(
        shape=(int(shape[1]), int(shape[2]), int(shape[3])),
        types=(words[1], words[2], words[3]),
        kind=_WGMMA_KINDS.get(words[2], ""),
        sparse="sp" in instruction.qualifiers,
        extra=tuple(words[4:]),
    )


def wgmma(instruction: Instruction) -> Wgmma | None:
    """Parse the operands of a ``wgmma.mma_async``; None if they do not match its syntax.

    >>> wgmma(Instruction(1, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", ())) is None
    True
    """
    opcode = wgmma_opcode(instruction)
    if opcode is None:
        return None
    kind, sparse = opcode.kind, opcode.sparse
    operands = list(instruction.operands)
    first, operands = operands[:3], operands[3 + 2 * sparse :]
    if len(first) < 3 or not operands:
        return None
    scaled, transposed = kind in ("f16", "tf32", "f8"), kind == "f16"
    descriptors = 1 - isinstance(first[1], Vector) + 1
    tail = operands[1:]
    expected = (2 if scaled else 0) + (descriptors if transposed else 0)
    if len(tail) != expected and not (kind == "tf32" and len(tail) > 2):
        return None
    return Wgmma(
        shape=opcode.shape,
        types=opcode.types,
        kind=kind,
        sparse=sparse,
        d=first[0],
        a=first[1],
        b=first[2],
        scale_d=operands[0],
        scales=tuple(tail[:2]) if scaled else (),
        transposes=tuple(tail[2:]),
        extra=opcode.extra,
        metadata=instruction.operands[3:5] if sparse else (),
    )


@frozen
class TensorMma:
    """A ``tcgen05.mma``.

    Args:
        kind: the qualifier without ``.kind::``.
        cta_group: 1 or 2; 0 if there is no such qualifier.
        ws: whether it is ``.ws``.
        sparse: whether it is ``.sp``.
        ashift: whether it is ``.ashift``.
        scale_name: the qualifier of the scale vector, as ``4X`` or ``block16``; "" without one.
        block_scaled: whether it is ``.block_scale``.
        d: the address of D.
        a: A: a register with a descriptor, or an address in tensor memory.
        b: B: a register with a descriptor.
        idesc: the register with the instruction descriptor.
        mask: mask of the lanes whose results are not written; None without one.
        scales: the addresses of the scale factors.
        enable: enable-input-d, which decides whether it adds to D: a predicate.
        tail: further operands: the scale of D, or the mask of zero columns.
        table: the address of the lookup table that decompresses B; None without one.
    """

    kind: str
    cta_group: int
    ws: bool
    sparse: bool
    ashift: bool
    scale_name: str
    block_scaled: bool
    d: Operand
    a: Operand
    b: Operand
    idesc: Operand
    mask: Operand | None
    scales: tuple[Operand, ...]
    enable: Operand
    tail: tuple[Operand, ...]
    table: Operand | None = None

    @property
    def in_tensor_memory(self) -> bool:
        """Whether A is in tensor memory."""
        return isinstance(self.a, Address)

    @property
    def scale_vector(self) -> int | None:
        """The number of elements that share a scale factor; None without scale factors or if it is not given."""
        if not self.block_scaled:
            return None
        vectors = {"1X": 32, "2X": 32, "4X": 16, "block16": 16, "block32": 32}
        return vectors.get(self.scale_name, 32 if self.kind != "mxf4nvf4" else None)

    @property
    def k(self) -> int:
        """K of a dense instruction in elements; 0 for an unknown kind."""
        return DENSE_K.get(("sm100", self.kind), 0)


def tensor_opcode(instruction: Instruction) -> TensorMma | None:
    """Parse the opcode of a ``tcgen05.mma``, without its operands; None if it has no kind.

    >>> tensor_opcode(Instruction(1, "tcgen05.mma.cta_group::2.kind::f16", ())).cta_group
    2
    """
    words = instruction.qualifiers[2:]
    parts = dict(w.split("::", 1) for w in words if "::" in w)
    if "kind" not in parts:
        return None
    name = parts.get("scale_vec", "") or next((w for w in words if w in ("block16", "block32")), "")
    group = parts.get("cta_group", "0")
    return TensorMma(
        kind=parts["kind"], cta_group=int(group) if group in ("1", "2") else 0, ws="ws" in words, sparse="sp" in words,
        ashift="ashift" in words, scale_name=name, block_scaled="block_scale" in words, d="", a="", b="", idesc="",
        mask=None, scales=(), enable="", tail=(), table="" if "decompress" in parts else None,
    )  # fmt: skip


def tensor_mma(instruction: Instruction) -> TensorMma | None:
    """Parse the operands of a ``tcgen05.mma``; None if they do not match its syntax.

    >>> from descriptors.check.ptx.ptx_operands import operands
    >>> mma = Instruction(1, "tcgen05.mma.cta_group::2.kind::f16", operands("[d], x, y, i, {m0,m1}, p, 3"))
    >>> tensor_mma(mma).cta_group, tensor_mma(mma).tail
    (2, (3,))
    """
    opcode = tensor_opcode(instruction)
    if opcode is None:
        return None
    sparse, scaled, decompressed = opcode.sparse, opcode.block_scaled, opcode.table is not None
    operands = list(instruction.operands)
    extra = sparse + decompressed
    if len(operands) < 5 + extra or not isinstance(operands[0], Address):
        return None
    d, a, b = operands[:3]
    rest = operands[3 + extra :]
    if not all(isinstance(instruction, Address) for instruction in operands[3 : 3 + extra]):
        return None
    idesc, rest = rest[0], rest[1:]
    mask = rest.pop(0) if rest and isinstance(rest[0], Vector) else None
    scales = tuple(rest[:2]) if scaled else ()
    rest = rest[len(scales) :]
    if any(not isinstance(s, Address) for s in scales) or len(scales) != 2 * scaled or not 1 <= len(rest) <= 2:
        return None
    if not isinstance(rest[0], str | Negated | int) or not isinstance(idesc, str | int):
        return None
    return replace(
        opcode, d=d, a=a, b=b, idesc=idesc, mask=mask, scales=scales, enable=rest[0], tail=tuple(rest[1:]),
        table=operands[2 + extra] if decompressed else None,
    )  # fmt: skip


@frozen
class Side:
    """A or B of a multiplication.

    Args:
        matrix: ``A`` or ``B``.
        operand: the operand of the instruction: a register with a descriptor, registers, or an address.
        dtype: the element type in memory; "" if it is not known.
        major: ``K`` or ``MN``.
        shape: MN and K that the instruction reads from the memory of one CTA.
    """

    matrix: Literal["A", "B"]
    operand: Operand
    dtype: str
    major: Literal["K", "MN"]
    shape: tuple[int, int]


#: Names of element types in 8-bit containers.
_CONTAINERS = {"e2m1": "e2m1_unpacksmem"}


@frozen
class Multiplication:
    """A parsed MMA instruction.

    Args:
        index: index of the instruction in its function.
        line: its line in the text.
        opcode: the opcode with its qualifiers.
        operands: the operands in shared memory.
        result: name of D: its registers, or its address in tensor memory.
        view: the parsed operands.
        use: the parameters of a ``tcgen05.mma`` that its instruction descriptor must match; None for ``wgmma``.
        idescs: the possible values of the instruction descriptor; empty if too little of it is known.
        described: the instruction that descriptor and instruction describe together; None if it is not known.
        adds: whether it adds to D; None if that is not known.
    """

    index: int
    line: int
    opcode: str
    operands: tuple[SmemOperand, ...]
    result: str
    view: Wgmma | TensorMma
    use: Use | None = None
    idescs: tuple[int, ...] = ()
    described: Described | None = None
    adds: bool | None = None

    @property
    def elsewhere(self) -> str:
        """Name of an A that is not in shared memory; "" if A is in shared memory."""
        return "" if any(operand.matrix == "A" for operand in self.operands) else str(self.view.a)


def multiplications(function: Function, values: Values, target: str = "") -> Iterator[Multiplication]:
    """Yield the multiplications of a function in order, without those whose operands do not match their syntax.

    Args:
        function: the function.
        values: the operands of its instructions as ``fold`` returns them.
        target: the ``.target`` of its module; "" for any.
    """
    shifts = Shifts(function)
    for index in function.having("wgmma.mma_async", "tcgen05.mma"):
        instruction, registers = function.code[index], values.get(index, {})
        if instruction.opcode.startswith("wgmma.mma_async") and (wgmma_view := wgmma(instruction)):
            operands = tuple(_wgmma_operands(wgmma_view, registers, shifts))
            yield Multiplication(
                index, instruction.line, instruction.opcode, operands, ",".join(names(wgmma_view.d)), wgmma_view,
                adds=_adds_to_d(wgmma_view.scale_d, registers),
            )  # fmt: skip
        elif instruction.opcode.startswith("tcgen05.mma") and (tensor_view := tensor_mma(instruction)):
            yield _make_tensor_multiplication(
                index, instruction.line, instruction.opcode, tensor_view, registers, target, shifts
            )


def _adds_to_d(operand: object, values: Mapping[str, Known]) -> bool | None:
    constant = number(operand, values, 1) if isinstance(operand, str | int) else None
    return None if constant is None else bool(constant)


def _value_of(operand: object, values: Mapping[str, Known]) -> Known:
    return values.get(operand, NOTHING) if isinstance(operand, str) else NOTHING


def wgmma_sides(view: Wgmma) -> tuple[Side, Side]:
    """Return A and B of a ``wgmma``, in registers or in shared memory."""
    m, n, k = view.shape
    return (
        Side("A", view.a, view.types[1], _major_of_transpose(view.a_transposed), (m, k // (1 + view.sparse))),
        Side("B", view.b, view.types[2], _major_of_transpose(view.b_transposed), (n, k)),
    )


def _major_of_transpose(transposed: Operand) -> Literal["K", "MN"]:
    return "MN" if transposed == 1 else "K"


def tensor_sides(view: TensorMma, described: Described) -> tuple[Side, Side]:
    """Return A and B of a ``tcgen05.mma``, in tensor memory or in shared memory, as one CTA of a pair has them.

    Args:
        view: the parsed operands.
        described: the instruction that they and the instruction descriptor describe.
    """
    k = described.k
    a, b = (_stored_type(described, dtype) for dtype in (described.a_dtype, described.b_dtype))
    if view.table is not None:
        b = ""  # indices of 3 bits
    return (
        Side(
            "A",
            view.a,
            a,
            _major_text(described.a_major),
            _cta_share(described.cta_group, described.m, k // (1 + described.sparse)),
        ),
        Side("B", view.b, b, _major_text(described.b_major), _cta_share(described.cta_group, described.n, k)),
    )


def use_of(view: TensorMma, target: str = "") -> Use:
    """Return the parameters of a ``tcgen05.mma`` that its instruction descriptor must match."""
    return Use(
        kind=view.kind, cta_group=view.cta_group or 1, sparse=view.sparse, ws=view.ws, ashift=view.ashift,
        a_source="tmem" if view.in_tensor_memory else "smem", scale_vector=view.scale_vector,
        target=target,
    )  # fmt: skip


@lru_cache(maxsize=1024)
def described_by(word: int, use: Use) -> Described | None:
    """Return the instruction that a descriptor and its use describe; None if there is none.

    >>> described_by(0x08200490, Use("f16")).m, described_by(0x08200490, Use("no kind"))
    (128, None)
    """
    try:
        return instruction_of(decode_idesc(word, use.kind, use.arch), use)
    except DescriptorError:
        return None


def _wgmma_operands(view: Wgmma, values: Mapping[str, Known], shifts: Shifts) -> Iterator[SmemOperand]:
    for side in wgmma_sides(view):
        if not isinstance(side.operand, Vector):
            yield _smem_operand(side, "sm90", values, shifts)


def _smem_operand(side: Side, arch: Arch, values: Mapping[str, Known], shifts: Shifts) -> SmemOperand:
    word = _value_of(side.operand, values), *_shifts_of(side.operand, shifts)
    return SmemOperand(side.matrix, arch, side.dtype, side.major, side.shape, *word)


def _make_tensor_multiplication(
    index: int, line: int, opcode: str, view: TensorMma, values: Mapping[str, Known], target: str, shifts: Shifts
) -> Multiplication:
    use = use_of(view, target)
    known_bits = exactly(view.idesc) if isinstance(view.idesc, int) else _value_of(view.idesc, values)
    words = known_bits.values(32)
    described = _common_instruction(words, use) if view.k else None
    # Without the instruction descriptor, the type, major and shape of the operands are not known.
    operands = tuple(_tensor_operands(view, described, values, shifts, word_arch(target)))
    d = view.d if isinstance(view.d, Address) else Address("")
    place = values.get(d.base, NOTHING)
    result = f"{place.base or d.base}+{place.offset + d.offset}"
    return Multiplication(
        index, line, opcode, operands, result, view, use, words, described, _adds_to_d(view.enable, values)
    )  # fmt: skip


def _common_instruction(words: tuple[int, ...], use: Use) -> Described | None:
    """Return the instruction if all possible descriptors agree on extents, types and majors, else None."""
    instructions = [described_by(word, use) for word in words]
    contents = {
        (
            instruction.m,
            instruction.n,
            instruction.k,
            instruction.a_dtype,
            instruction.b_dtype,
            instruction.a_major,
            instruction.b_major,
        )
        if instruction
        else None
        for instruction in instructions
    }
    return instructions[0] if len(contents) == 1 else None


def _tensor_operands(
    view: TensorMma, described: Described | None, values: Mapping[str, Known], shifts: Shifts, arch: Arch
) -> Iterator[SmemOperand]:
    if described is not None and described.m and described.n:
        sides = tensor_sides(view, described)
    else:
        sides = Side("A", view.a, "", "K", (0, 0)), Side("B", view.b, "", "K", (0, 0))
    for side in sides:
        if not isinstance(side.operand, Address):
            yield _smem_operand(side, arch, values, shifts)


def _shifts_of(operand: object, shifts: Shifts) -> tuple[tuple[int, ...], tuple[str, ...]]:
    return (shifts(operand), shifts.variables(operand)) if isinstance(operand, str) else ((), ())


def _stored_type(instruction: Described, dtype: str) -> str:
    """Return a type as it is stored in shared memory; "" for packed 4- and 6-bit types of doubled K (no model)."""
    if not instruction.kind.endswith("f8f6f4"):
        return dtype
    doubled = instruction.k == 2 * DENSE_K["sm100", instruction.kind] * (1 + instruction.sparse)
    return "" if doubled and dtype[:2] in ("e2", "e3") else _CONTAINERS.get(dtype, dtype)


def _major_text(major: object) -> Literal["K", "MN"]:
    return "MN" if str(major) == "MN" else "K"


def _cta_share(cta_group: int, extent: int, k: int) -> tuple[int, int]:
    """Return MN and K of an operand in the memory of one CTA; each CTA of a pair has one half of MN."""
    return extent // cta_group, k


class Follow:
    """A test whether one instruction follows another, as multiplications of one accumulation do.

    Args:
        function: the function.
        graph: its basic blocks.
    """

    def __init__(self, function: Function, graph: list[Block]) -> None:
        self.graph = graph
        self.block = [number for number, block in enumerate(graph) for _ in range(block.start, block.end)]
        back = [(number, target) for number, block in enumerate(graph) for target in block.next if target <= number]
        heads, ends = {graph[target].start for _, target in back}, {graph[number].end for number, _ in back}
        marks = sorted(heads | ends | {index + 1 for index in function.having(*_CLOSING)})
        #: For each instruction, the number of loop boundaries and commits at or before it.
        self.borders = []
        count = 0
        for index in range(len(function.code) + 1):
            while count < len(marks) and marks[count] <= index:
                count += 1
            self.borders.append(count)

    def __call__(self, first: int, second: int) -> bool:
        """Return whether the second instruction, which is later in the text, follows the first."""
        if self.borders[first] != self.borders[second]:
            return False
        goal, waiting, visited = self.block[second], [self.block[first]], set[int]()
        while waiting:
            number = waiting.pop()
            if number == goal:
                return True
            if number not in visited:
                visited.add(number)
                waiting.extend(follower for follower in self.graph[number].next if number < follower <= goal)
        return False


_CLOSING = ("wgmma.commit_group", "wgmma.wait_group", "tcgen05.commit")


def chains(function: Function, mmas: list[Multiplication], graph: list[Block]) -> Iterator[list[Multiplication]]:
    """Yield the accumulations of a function.

    Args:
        function: the function.
        mmas: its multiplications.
        graph: its basic blocks.
    """
    follow = Follow(function, graph)
    # Multiplications into several accumulators may be interleaved.
    accumulations: list[list[Multiplication]] = []
    latest: dict[tuple[str, str], list[Multiplication]] = {}
    for mma in mmas:
        chain = latest.get((mma.result, mma.opcode))
        if chain is None or not follow(chain[-1].index, mma.index):
            chain = latest[mma.result, mma.opcode] = []
            accumulations.append(chain)
        chain.append(mma)
    yield from accumulations
