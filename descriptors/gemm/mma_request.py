"""Check the arguments of ``mma_plan``, choose the warps, and return them as a typed ``MmaLoop``.

One warp executes the instruction. It has 16 x 8 accumulators and reads 32 bytes along K of each row of A and B, for all
element types. Instructions with half of that K are refused, because ``ldmatrix.x4`` fills whole ones. The table in
:mod:`descriptors.check.warp_multiplications` lists which types an architecture supports together.

Invariant: the chosen warps divide the tile, and no thread has more than ``MOST_REGISTERS`` accumulator registers.

>>> loop = mma_loop("mma.m16n8k16", "bf16", tile=(128, 128, 32))
>>> loop.arch, loop.d, loop.warps, loop.blocks
('sm80', 'f32', (2, 2), (4, 8, 2))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from descriptors.check.ptx.ptx_module import Instruction
from descriptors.check.warp_multiplications import SCALES, warp_findings
from descriptors.errors import Advice, DescriptorError, as_integer, brief
from descriptors.gemm.epilogue import BITS, RESULTS
from descriptors.gemm.plan_request import named_instruction, resized, smaller, three, types_of
from descriptors.smem.instructions.instruction_name import InstructionName, warp_architecture
from descriptors.smem.instructions.rules import type_name
from descriptors.smem.operands.operand import ElementType, Major, MajorName, as_element_type, as_major, choose
from descriptors.targets import NEWEST, WARP_ARCHITECTURES, tensor_arches
from descriptors.text import extents_text
from layoutalg.frozen import frozen, replace

#: The largest number of warps in a CTA, the number of warps that the automatic choice aims at, and the largest number
#: of accumulator registers of a thread.
MOST_WARPS, USUAL_WARPS, MOST_REGISTERS = 16, 4, 128
#: Bytes that an instruction reads along K of each row of an operand.
K_BYTES = 32


@frozen
class MmaLoop:
    """An instruction of ``mma.sync`` and the tile of one stage.

    Args:
        arch: a key of ``WARP_ARCHITECTURES``.
        extents: M, N and K of the instruction.
        tile: M, N and K of a stage, in elements.
        warps: number of warps along M and along N.
        a, b: the element types.
        d: the type of the accumulators.
        c: the type of C in global memory.
        a_major, b_major: the contiguous dimensions.
        kind: the kind of an instruction with 4-bit or 6-bit elements or with scale factors; "" for other instructions.
        scale: type of the scale factors, elements along K that share one, and the PTX qualifier; None without.
    """

    arch: str
    extents: tuple[int, int, int]
    tile: tuple[int, int, int]
    warps: tuple[int, int]
    a: ElementType
    b: ElementType
    d: str
    c: str
    a_major: Major
    b_major: Major
    kind: str = ""
    scale: tuple[str, int, str] | None = None

    @property
    def name(self) -> str:
        """The instruction's shape: ``m16n8k16``."""
        return "m{}n{}k{}".format(*self.extents)

    @property
    def opcode(self) -> str:
        """The instruction with its qualifiers.

        >>> mma_loop("mma.m16n8k8", "tf32", tile=(64, 64, 32)).opcode
        'mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32'
        """
        kind = f".kind::{self.kind}" if self.kind else ""
        after = ""
        if self.scale is not None:
            kind, after = f"{kind}.block_scale.scale_vec::{self.scale[2]}", f".{self.scale[0]}"
        types = f"{self.d}.{type_name(self.a)}.{type_name(self.b)}.{self.d}"
        return f"mma.sync.aligned.{self.name}.row.col{kind}.{types}{after}"

    @property
    def threads(self) -> int:
        """Number of threads of a CTA."""
        return 32 * self.warps[0] * self.warps[1]

    @property
    def blocks(self) -> tuple[int, int, int]:
        """Number of instructions that a warp executes along M, N and K of the tile."""
        (m, n, k), (down, across) = self.tile, self.warps
        return m // (16 * down), n // (8 * across), k // self.extents[2]

    @property
    def registers(self) -> int:
        """Number of 32-bit registers that hold the accumulators of a thread."""
        return self.blocks[0] * self.blocks[1] * (2 if self.d == "f16" else 4)


def mma_loop(
    instruction: str | Sequence[int] | None,
    dtype: str | ElementType,
    *,
    tile: Sequence[int],
    warps: Sequence[int] | None = None,
    arch: str | None = None,
    b_dtype: str | ElementType | None = None,
    d_dtype: str | None = None,
    c_dtype: str | None = None,
    a_major: Major | MajorName = Major.K,
    b_major: Major | MajorName = Major.K,
    kind: str | None = None,
    scale_dtype: str | None = None,
    scale_vector: int | None = None,
) -> MmaLoop:
    """Read and check the arguments of ``mma_plan`` that name the instruction, the tile and the warps.

    Args:
        instruction, dtype, tile, warps, arch, b_dtype, d_dtype, c_dtype, a_major, b_major, kind, scale_dtype,
        scale_vector: as in ``mma_plan``.

    Raises:
        DescriptorError: if the instruction does not exist, or no number of warps divides the tile and has enough
            registers.

    >>> mma_loop("mma.m16n8k16", "bf16", tile=(128, 100, 32))
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: plan: tile N is 100, which is not a multiple of 16, which ldmatrix.x4 loads of \
B; tile = 128x100x32
    """
    name = None if instruction is None else named_instruction(instruction)
    if name is not None:
        _check_name(name)
        d_dtype = name.settle("d_dtype", name.d, d_dtype, "plan")
        kind = name.settle("kind", name.kind, kind, "plan")
        scale_dtype = name.settle("scale_dtype", name.scale_dtype, scale_dtype, "plan")
        scale_vector = name.settle("scale_vector", name.scale_vector, scale_vector, "plan")
    a, b, extents = _types(name, dtype, b_dtype)
    scale_dtype, scale_vector = _factors(scale_dtype, scale_vector)
    tile_extents = three(tile, "the tile")
    d = ("s32" if a.name in ("s8", "u8") else "f32") if d_dtype is None else str(d_dtype).casefold()
    c = choose("plan: c_dtype", d if c_dtype is None else c_dtype, {name: name for name in BITS})
    named = _kind(a, b, kind, scale_dtype, scale_vector, extents[2])
    architecture_name = _architecture(
        arch if name is None or name.arch is None else name.settle_arch(arch, "plan"), a, b, named
    )
    _check_tile(tile_extents, extents, a)
    scale = _scale(named, kind, a, b, extents[2], scale_dtype, scale_vector)
    loop = MmaLoop(
        architecture_name, extents, tile_extents, (1, 1), a, b, d, c, as_major(a_major), as_major(b_major), named, scale
    )
    _check_instruction(loop)
    if c not in RESULTS.get(d, ()) or BITS[c] < 16:
        legal = ", ".join(name for name in RESULTS.get(d, ()) if BITS[name] >= 16)
        raise DescriptorError(f"plan: C is {c}, which {d} accumulators are not converted to; supported: {legal}")
    return replace(loop, warps=_warps(loop, warps))


def _check_name(name: InstructionName) -> None:
    """Check that the name has no part that is not supported.

    Raises:
        DescriptorError: if it names a sparse instruction, or a CTA group.
    """
    if name.sparse:
        raise DescriptorError(f"plan: sparse mma.sync instructions are not supported; instruction = {name.text}")
    if name.cta_group is not None:
        raise DescriptorError(f"plan: mma.sync has no cta_group; instruction = {name.text}")


def _types(
    name: InstructionName | None, dtype: str | ElementType, b_dtype: str | ElementType | None
) -> tuple[ElementType, ElementType, tuple[int, int, int]]:
    """Return the types of A and B and the extents of the instruction.

    e2m1 elements are packed only if both operands are e2m1 and the instruction's K is not 32; otherwise each has a
    byte.
    """
    if name is None:
        a = as_element_type(dtype)
        b = a if b_dtype is None else as_element_type(b_dtype)
    else:
        a, b = types_of(name, dtype, b_dtype)
    extents = None if name is None else name.extents
    if b != a or (extents is not None and extents[2] == K_BYTES):
        unpacked = {as_element_type("e2m1"): as_element_type("e2m1_unpacksmem")}
        a, b = unpacked.get(a, a), unpacked.get(b, b)
    return a, b, extents if extents is not None else (16, 8, K_BYTES * 8 // a.storage_bits)


def _factors(dtype: object, vector: object) -> tuple[str | None, int | None]:
    """Check the type of the scale factors and the number of elements that share one."""
    if dtype is not None:
        dtype = choose("plan: scale_dtype", dtype, {name: name for names in SCALES.values() for name in names})
    return dtype, None if vector is None else as_integer(vector, "plan: scale_vector", minimum=1)


def _kind(a: ElementType, b: ElementType, kind: str | None, scale: str | None, vector: int | None, k: int) -> str:
    """Return the given kind, or the first that supports the element types and the scale factors."""
    if kind is not None:
        return choose("plan: kind", kind, {name: name for name in ("f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4")})
    kinds = _scaled_kinds(a, b)
    if kinds and (a.storage_bits == 4 or scale is not None or vector is not None):
        fit = (row.kind for row in _scale_rows(kinds, k) if scale in (None, row.dtype) and vector in (None, row.vector))
        return next(fit, kinds[0])
    return "f8f6f4" if min(a.bits, b.bits) < 8 else ""


def _scaled_kinds(a: ElementType, b: ElementType) -> tuple[str, ...]:
    """Return the kinds with scale factors that support two element types, the most common first."""
    if a.storage_bits == 4:
        return "mxf4", "mxf4nvf4"
    return ("mxf8f6f4",) if a.storage_bits == 8 and {a.name, b.name}.isdisjoint({"s8", "u8"}) else ()


class _ScaleRow(NamedTuple):
    """Scale factors that a kind supports: their type, the elements that share one, and the PTX qualifier."""

    kind: str
    dtype: str
    vector: int
    qualifier: str


def _scale_rows(kinds: Sequence[str], k: int) -> list[_ScaleRow]:
    """Return the scale factors that kinds support, for instructions whose K is ``k``."""
    return [
        _ScaleRow(kind, dtype, k // int(qualifier[0]), qualifier)
        for kind in kinds
        for (of, qualifier), dtypes in SCALES.items()
        if of == kind and qualifier
        for dtype in dtypes
    ]


def _scale(
    named: str, kind: str | None, a: ElementType, b: ElementType, k: int, dtype: str | None, vector: int | None
) -> tuple[str, int, str] | None:
    """Return the scale factors that match the request; if several do, those with the fewest elements per factor.

    Args:
        named: the kind of the instruction.
        kind: the kind that the caller gave; None if it follows from the other arguments.
    """
    rows = _scale_rows([named], k)
    if not rows and dtype is None and vector is None:
        return None
    fit = [row for row in rows if dtype in (None, row.dtype) and vector in (None, row.vector)]
    if fit:
        return min(fit, key=lambda row: row.vector)[1:]
    subject, every = f"{a} by {b}", _scale_rows(_scaled_kinds(a, b), k)
    if kind is not None:
        subject, every = f"kind {named}", rows
    legal = ", ".join(dict.fromkeys(f"{row.dtype} for {row.vector}" for row in every)) or "none"
    request = "".join([f" of type {dtype}" if dtype else "", f" for {vector} elements" if vector else ""])
    raise DescriptorError(
        f"plan: {subject} has no scale factors{request}; supported: {legal}",
        proposals=[
            Advice({name: getattr(row, name.removeprefix("scale_"))})
            for name in ("scale_vector", "scale_dtype")
            for row in every
        ],
    )


def _architecture(arch: object, a: ElementType, b: ElementType, kind: str) -> str:
    if arch is None:
        return "sm120" if kind else "sm89" if {a.name, b.name} & {"e4m3", "e5m2"} else "sm80"
    name = warp_architecture(arch) or str(arch).casefold().replace("_", "").rstrip("af")
    if name in tensor_arches():
        names = ", ".join(WARP_ARCHITECTURES)
        raise DescriptorError(
            f"plan: mma.sync is not planned for {name}; supported: {names}",
            proposals=[Advice({"arch": arch}) for arch in WARP_ARCHITECTURES],
        )
    return choose(
        "plan: arch",
        name if name in WARP_ARCHITECTURES else arch,
        {known_name: known_name for known_name in WARP_ARCHITECTURES},
    )


def _check_tile(tile: tuple[int, int, int], extents: tuple[int, int, int], a: ElementType) -> None:
    whole_k = K_BYTES * 8 // a.storage_bits
    if extents != (16, 8, whole_k):
        name = "m{}n{}k{}".format(*extents)
        raise DescriptorError(f"plan: the instruction is {name}, and with {a} only m16n8k{whole_k} is supported")
    why = ("the instruction's rows", "which ldmatrix.x4 loads of B", "the instruction's K")
    for mode, (letter, extent, part, reason) in enumerate(zip("MNK", tile, (16, 16, whole_k), why, strict=True)):
        if extent % part:
            raise DescriptorError(
                f"plan: tile {letter} is {extent}, which is not a multiple of {part}, {reason}; tile = "
                f"{extents_text(tile)}",
                proposals=resized(tile, mode, part),
            )


def _check_instruction(loop: MmaLoop) -> None:
    """Check that the assembler accepts the instruction for the target, by the table of the checker."""
    findings = warp_findings(
        Instruction(1, loop.opcode, ()), WARP_ARCHITECTURES[loop.arch].target, NEWEST, lambda name: None
    )
    finding = next((text for rule, text in findings if rule != "form-operands"), "")
    if finding:
        raise DescriptorError(f"plan: {loop.arch} does not have {loop.opcode}; {finding}")


def _warps(loop: MmaLoop, warps: Sequence[int] | None) -> tuple[int, int]:
    """Return the given warps after checking them, or the number of warps that reads the least shared memory."""
    (m, n, _), tile = loop.tile, extents_text(loop.tile)
    if warps is not None:
        if not isinstance(warps, (tuple, list)) or len(warps) != 2:
            raise DescriptorError(f"plan: warps is {brief(warps)}, not a number of warps along M and one along N")
        down, across = (as_integer(count, "plan: a number of warps", minimum=1, maximum=MOST_WARPS) for count in warps)
        if not _fits(loop, down, across):
            raise DescriptorError(
                f"plan: {down}x{across} warps do not fit the tile {tile}; they must divide its {m // 16} x {n // 16} "
                f"blocks of 16 x 16, be at most {MOST_WARPS}, and have at most {MOST_REGISTERS} accumulators a thread"
            )
        return down, across
    candidates = [(x, y) for x in range(1, MOST_WARPS + 1) for y in range(1, MOST_WARPS // x + 1) if _fits(loop, x, y)]
    if not candidates:
        raise DescriptorError(
            f"plan: the accumulators of the tile {tile} need more than {MOST_REGISTERS} registers a thread; no number "
            f"of warps up to {MOST_WARPS} that divides the tile needs fewer",
            proposals=smaller(loop.tile, (16, 16, loop.tile[2])),
        )
    return min(candidates, key=lambda warps: _cost(loop, *warps))


def _fits(loop: MmaLoop, down: int, across: int) -> bool:
    """Check that warps divide the tile and that their threads have enough registers for the accumulators."""
    (m, n, _), registers = loop.tile, 2 if loop.d == "f16" else 4
    if down * across > MOST_WARPS or m % (16 * down) or n % (16 * across):
        return False
    return m * n * registers // (128 * down * across) <= MOST_REGISTERS


def _cost(loop: MmaLoop, down: int, across: int) -> tuple[int, int, int]:
    """Return the key that ranks warps: few warps, but at least ``USUAL_WARPS``; then little that each warp reads."""
    (m, n, _), count = loop.tile, down * across
    return max(count, USUAL_WARPS), m // down + n // across, down
