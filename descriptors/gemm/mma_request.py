"""What is asked for of a main loop of ``mma.sync``: the instruction, the tile, the warps, with nothing left open.

The instruction is one of a warp: 16 x 8 of the accumulators, and 32 bytes along K of each row of A and B, whatever the
type; shapes of half of that are refused, for ``ldmatrix.x4`` fills whole ones. Which types go together on which target
is the table of :mod:`descriptors.check.warp_multiplications`.

Law: the warps that are chosen divide the tile, and no thread has more accumulators than it has registers for.

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
from descriptors.text import counted, extents_text
from layoutalg.frozen import frozen, replace

#: The most threads of a block that are planned, in warps, the fewest where nobody says how many, and the accumulators
#: that a thread is to have at most.
MOST_WARPS, USUAL_WARPS, MOST_REGISTERS = 16, 4, 128
#: Bytes along K of an operand of an instruction.
K_BYTES = 32


@frozen
class MmaLoop:
    """An instruction and the tile of one stage.

    Args:
        arch: a key of ``WARP_ARCHITECTURES``.
        extents: M, N and K of the instruction.
        tile: M, N and K of a stage.
        warps: along M and along N.
        a, b: the element types.
        d: the type of the accumulators.
        c: the type of C in global memory.
        a_major, b_major: the contiguous dimensions.
        kind: of an instruction of 4 or 6 bits, or with scale factors; "" of others.
        scale: type of the scale factors, elements along K that share one, PTX's qualifier; None without.
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
        """Threads of a CTA."""
        return 32 * self.warps[0] * self.warps[1]

    @property
    def blocks(self) -> tuple[int, int, int]:
        """Instructions of a warp along M, N and K of the tile."""
        (m, n, k), (down, across) = self.tile, self.warps
        return m // (16 * down), n // (8 * across), k // self.extents[2]

    @property
    def registers(self) -> int:
        """Accumulators of a thread, in registers of 32 bits."""
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
        scale_vector: as ``mma_plan`` has them.

    Raises:
        DescriptorError: if there is no such instruction, or the tile is not whole instructions of whole warps.

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
    whole = three(tile, "the tile")
    d = ("s32" if a.name in ("s8", "u8") else "f32") if d_dtype is None else str(d_dtype).casefold()
    c = choose("plan: c_dtype", d if c_dtype is None else c_dtype, {name: name for name in BITS})
    named = _kind(a, b, kind, scale_dtype, scale_vector, extents[2])
    of = _architecture(arch if name is None or name.arch is None else name.settle_arch(arch, "plan"), a, b, named)
    _check_tile(whole, extents, a)
    scale = _scale(named, kind, a, b, extents[2], scale_dtype, scale_vector)
    loop = MmaLoop(of, extents, whole, (1, 1), a, b, d, c, as_major(a_major), as_major(b_major), named, scale)
    _check_instruction(loop)
    if c not in RESULTS.get(d, ()) or BITS[c] < 16:
        legal = ", ".join(name for name in RESULTS.get(d, ()) if BITS[name] >= 16)
        raise DescriptorError(f"plan: C of {d} accumulators must be of {legal}, found {c}")
    return replace(loop, warps=_warps(loop, warps))


def _check_name(name: InstructionName) -> None:
    """Refuse forms of an instruction that are not planned.

    Raises:
        DescriptorError: for a sparse one, and for a pair of CTAs.
    """
    if name.sparse:
        raise DescriptorError(f"plan: a sparse mma.sync is not planned; instruction = {name.text}")
    if name.cta_group is not None:
        raise DescriptorError(f"plan: mma.sync has no cta_group; instruction = {name.text}")


def _types(
    name: InstructionName | None, dtype: str | ElementType, b_dtype: str | ElementType | None
) -> tuple[ElementType, ElementType, tuple[int, int, int]]:
    """The types of A and B and the instruction's extents: e2m1 is packed where both are and K is 64, else in bytes."""
    if name is None:
        a = as_element_type(dtype)
        b = a if b_dtype is None else as_element_type(b_dtype)
    else:
        a, b = types_of(name, dtype, b_dtype)
    extents = None if name is None else name.extents
    if b != a or (extents is not None and extents[2] == K_BYTES):
        in_bytes = {as_element_type("e2m1"): as_element_type("e2m1_unpacksmem")}
        a, b = in_bytes.get(a, a), in_bytes.get(b, b)
    return a, b, extents if extents is not None else (16, 8, K_BYTES * 8 // a.storage_bits)


def _factors(dtype: object, vector: object) -> tuple[str | None, int | None]:
    """What was said of scale factors, checked."""
    if dtype is not None:
        dtype = choose("plan: scale_dtype", dtype, {name: name for names in SCALES.values() for name in names})
    return dtype, None if vector is None else as_integer(vector, "plan: scale_vector", minimum=1)


def _kind(a: ElementType, b: ElementType, kind: str | None, scale: str | None, vector: int | None, k: int) -> str:
    """Return the kind that was named, or the first that has the element types and the scale factors."""
    if kind is not None:
        return choose("plan: kind", kind, {name: name for name in ("f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4")})
    kinds = _scaled_kinds(a, b)
    if kinds and (a.storage_bits == 4 or scale is not None or vector is not None):
        fit = (row.kind for row in _scale_rows(kinds, k) if scale in (None, row.dtype) and vector in (None, row.vector))
        return next(fit, kinds[0])
    return "f8f6f4" if min(a.bits, b.bits) < 8 else ""


def _scaled_kinds(a: ElementType, b: ElementType) -> tuple[str, ...]:
    """Return the kinds with scale factors that two element types have, the usual one first."""
    if a.storage_bits == 4:
        return "mxf4", "mxf4nvf4"
    return ("mxf8f6f4",) if a.storage_bits == 8 and {a.name, b.name}.isdisjoint({"s8", "u8"}) else ()


class _ScaleRow(NamedTuple):
    """Scale factors that a kind has: their type, the elements that share one, and the qualifier of PTX."""

    kind: str
    dtype: str
    vector: int
    qualifier: str


def _scale_rows(kinds: Sequence[str], k: int) -> list[_ScaleRow]:
    """Return the scale factors of kinds, for instructions with K elements a row."""
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
    """Return the scale factors that were named, or the finest of the kind.

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
    request = f"{dtype or 'any type'} for {vector or 'any number of elements'}"
    raise DescriptorError(
        f"plan: scale factors of {subject} must be {legal}, found {request}",
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
            f"plan: arch of mma.sync must be one of {names}, found {name}",
            proposals=[Advice({"arch": one}) for one in WARP_ARCHITECTURES],
        )
    return choose("plan: arch", name if name in WARP_ARCHITECTURES else arch, {one: one for one in WARP_ARCHITECTURES})


def _check_tile(tile: tuple[int, int, int], extents: tuple[int, int, int], a: ElementType) -> None:
    whole_k = K_BYTES * 8 // a.storage_bits
    if extents != (16, 8, whole_k):
        name = "m{}n{}k{}".format(*extents)
        raise DescriptorError(f"plan: the instruction of {a} must be m16n8k{whole_k} in a main loop, found {name}")
    why = ("the instruction's rows", "which ldmatrix.x4 loads of B", "the instruction's K")
    for mode, (letter, extent, part, reason) in enumerate(zip("MNK", tile, (16, 16, whole_k), why, strict=True)):
        if extent % part:
            raise DescriptorError(
                f"plan: tile {letter} is {extent}, which is not a multiple of {part}, {reason}; tile = "
                f"{extents_text(tile)}",
                proposals=resized(tile, mode, part),
            )


def _check_instruction(loop: MmaLoop) -> None:
    """Refuse what no assembler takes for the target: its own table says so."""
    told = warp_findings(
        Instruction(1, loop.opcode, ()), WARP_ARCHITECTURES[loop.arch].target, NEWEST, lambda name: None
    )
    wrong = next((text for rule, text in told if rule != "form-operands"), "")
    if wrong:
        raise DescriptorError(f"plan: mma.sync must have such types on {loop.arch}, {wrong}; {loop.opcode}")


def _warps(loop: MmaLoop, warps: Sequence[int] | None) -> tuple[int, int]:
    """The warps that were named, or those that read least of shared memory."""
    m, n, _ = loop.tile
    if warps is not None:
        if not isinstance(warps, (tuple, list)) or len(warps) != 2:
            raise DescriptorError(f"plan: warps must be M x N of them, found {brief(warps)}")
        down, across = (as_integer(one, "plan: a number of warps", minimum=1, maximum=MOST_WARPS) for one in warps)
        one = _fitting(loop, down, across)
        if one is None:
            raise DescriptorError(
                f"plan: warps must divide the {m // 16} x {n // 16} blocks of 16 x 16, be {MOST_WARPS} at most, and "
                f"have {MOST_REGISTERS} accumulators a thread at most, found {down}x{across}; "
                f"tile = {extents_text(loop.tile)}"
            )
        return down, across
    every = [(x, y) for x in range(1, MOST_WARPS + 1) for y in range(1, MOST_WARPS // x + 1) if _fitting(loop, x, y)]
    if not every:
        raise DescriptorError(
            f"plan: the accumulators must fit {counted(MOST_REGISTERS, 'register')} of each thread of {MOST_WARPS} "
            f"warps, find none that divide the tile; tile = {extents_text(loop.tile)}",
            proposals=smaller(loop.tile, (16, 16, loop.tile[2])),
        )
    return min(every, key=lambda one: _cost(loop, *one))


def _fitting(loop: MmaLoop, down: int, across: int) -> int | None:
    """Accumulators of a thread of so many warps; None if they do not do."""
    (m, n, _), each = loop.tile, 2 if loop.d == "f16" else 4
    if down * across > MOST_WARPS or m % (16 * down) or n % (16 * across):
        return None
    registers = m * n * each // (128 * down * across)
    return registers if registers <= MOST_REGISTERS else None


def _cost(loop: MmaLoop, down: int, across: int) -> tuple[int, int, int]:
    """Few warps, but some; then little that each reads."""
    (m, n, _), count = loop.tile, down * across
    return max(count, USUAL_WARPS), m // down + n // across, down
