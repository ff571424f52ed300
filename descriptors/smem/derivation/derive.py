"""Derive the descriptors of all operands of a tile: check the request, take the five ``steps``, and verify the result.

Invariant: every step has the start of an operand at the same offset, counted in the unit of that step.

>>> from descriptors.smem.operands.swizzled import plain
>>> d = derive((128, 128), "bf16", "MN", "64B", (64, 16))
>>> starts = [(plain(d.partitioned)((0, 0), (i, k)), d.advance(i, k)) for i in range(2) for k in range(8)]
>>> all(2 * elements == 16 * units for elements, units in starts)
True
>>> [16 * units for _, units in starts] == [offset for row in d.offsets_bytes() for offset in row]
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from descriptors.errors import advised, as_flag
from descriptors.smem.derivation.derivation import Derivation, first_word
from descriptors.smem.derivation.proved import proved
from descriptors.smem.derivation.request import Request, reader, request
from descriptors.smem.derivation.steps import steps
from descriptors.smem.instructions.rules import Legality
from descriptors.smem.operands.explicit import Given, Unit
from descriptors.smem.operands.operand import ElementType, Major, MajorName, Matrix, SwizzleMode, SwizzleName, choose
from descriptors.smem.operands.swizzled import start_of
from descriptors.smem.words.descriptor import SMEM_BYTES, Arch, SmemDescriptor

__all__ = ["SMEM_BYTES", "derive", "derived"]

#: The ways to prove a derivation.
_PROOFS = {"walk": "walk", "theorem": "theorem"}


@advised
def derive(
    tile: Sequence[int] | None = None,
    dtype: str | ElementType | None = None,
    major: Major | MajorName | None = None,
    swizzle: SwizzleMode | SwizzleName | None = None,
    mma: Sequence[int] | str | None = None,
    order: Sequence[int] | None = None,
    arch: Arch | None = None,
    *,
    layout: Given | None = None,
    unit: Unit = "elements",
    operand: Matrix | None = None,
    cp: str | None = None,
    kind: str | None = None,
    cta_group: int | None = None,
    sparse: bool = False,
    legality: Legality = "strict",
    capacity: int | Literal["arch"] | None = "arch",
    verify: bool | Literal["walk", "theorem"] = True,
    atom: str | None = None,
) -> Derivation:
    """Derive the shared-memory descriptor of a tile, and every step towards it.

    Invariant: with the tile at an aligned address ``a``, the descriptor of subtile (i, j) has the start address
    ``a + descriptor.start_address + offsets_bytes()[i][j]``, and all its other fields are unchanged. For operands that
    cross atoms, the leading byte address changes too: ``a + descriptor.leading_byte_offset + lines_bytes()[i][j]``.

    Args:
        tile: extents (MN, K), or (MN, K, stages), in elements, of a tile of canonical atoms; an alternative is
            ``layout``.
        dtype: name of the element type: f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 e2m1_unpacksmem s8 u8.
        major: ``"K"`` or ``"MN"``: the contiguous dimension. It is inferred from an explicit layout.
        swizzle: ``"none"``, ``"32B"``, ``"64B"``, ``"128B"`` or ``"128B_BASE32B"``. It is inferred from an explicit
            layout with a swizzle. For a plain layout the default is none, or the mode that reads the addresses of the
            layout, for a slice whose swizzle is part of its strides.
        mma: extents (MN, K) that one instruction reads from this shared memory, in elements: (M, K) of an A operand,
            (N, K) of a B operand; with ``cta_group`` 2 half of M or N. Or the instruction's name, ``"m64n128k16"``,
            together with ``operand``. Without it, ``layout`` must be partitioned:
            ``((MN, K), MN subtiles, K subtiles, stages...)``, as by ``partition_A``.
        order: position of each tile mode in the stacking order of the atoms. The default has the contiguous dimension
            last, so that one TMA box can hold whole columns of atoms: (0, 1) for K-major, (1, 0) for MN-major. If only
            the positions of MN and K are given, the stages are last.
        arch: ``"sm90"`` (wgmma) or ``"sm100"`` (tcgen05). The default is the architecture in the instruction's name,
            such as ``"wgmma.m64n128k16"``, else sm100.
        layout: an explicit tile instead of ``tile``: a layout (MN, K, stages...), plain or after a swizzle; its
            notation; or a pair of a layout and an offset, as ``local_tile`` and ``slice_and_offset`` return.
        unit: unit of the layout: ``"elements"``, ``"bytes"``, or ``"cute"`` for elements with a swizzle on bytes.
        operand: ``"A"`` (MN is M) or ``"B"`` (MN is N); None for either.
        cp: a shape of ``tcgen05.cp``, such as ``"128x256b"``, instead of ``mma``.
        kind: the kind of instruction, for the legality check; None to infer it from the type.
        cta_group: 1 or 2, for the legality check; None for either.
        sparse: whether the instruction is sparse, for the legality check.
        legality: ``"strict"`` accepts the operands that every source allows, ``"lenient"`` those that any source
            allows, ``"off"`` any operand that divides the tile.
        capacity: bytes of shared memory that the tile must fit in, ``"arch"`` for that of the architecture. With None,
            tiles of any size are derived; ``advance_report`` then reports their end, and the subtiles within the
            address field are proved.
        atom: name of the atom of ``tile``, if the mode has more than the canonical one: ``"MN_SW128_32B_4ROWS"`` is
            the atom of CUTLASS C++ for 128B_BASE32B, which has 8 rows in the CuTe DSL.
        verify: how to prove that every descriptor reads its subtile (``proved``). ``"theorem"``, or True, proves it for
            every aligned address at once. ``"walk"`` also compares every element with the measured read model. False
            skips the proof.

    Raises:
        DescriptorError: if an argument is unknown or malformed, the atom or the operand does not divide the tile, or
            the tile exceeds shared memory.
        IllegalError: if no instruction reads such an operand.
        NotCanonicalError: if the operand has no canonical form; the error names the mode that fails.
        ProofError: if the descriptors do not read the tile.
        LayoutError: if a step of the algebra has no result.

    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16), order=(0, 1), arch="sm100")
    >>> print(d.smem_tile)
    S<3,3,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))
    >>> print(d.canonical, d.advance)
    ((8,8),(1,2)):((8,64),(0,1)) (2,(4,2)):(512,(2,1024))
    >>> hex(d.descriptor.encode())
    '0x4000404000010000'
    >>> hex(derive(layout=d.smem_tile, dtype="bf16", mma=(64, 16)).descriptor.encode())
    '0x4000404000010000'
    """
    method = choose("derive: verify", verify, _PROOFS) if isinstance(verify, str) else as_flag(verify, "derive: verify")
    by = reader(
        arch, dtype, mma, operand=operand, cp=cp, kind=kind, cta_group=cta_group, sparse=sparse, legality=legality
    )
    checked = request(
        by, tile, layout, major=major, swizzle=swizzle, order=order, unit=unit, capacity=capacity, atom=atom
    )
    derivation = derived(checked)
    if method:
        proved(derivation, walk=method == "walk")
    return derivation


def derived(checked: Request) -> Derivation:
    """Return the derivation for a checked request, without a proof.

    Raises:
        DescriptorError: if a step has no result, or a field cannot store its value.

    >>> from descriptors.smem.derivation.request import reader
    >>> by = reader("sm100", "bf16", (64, 16))
    >>> hex(derived(request(by, (128, 128), major="K", swizzle="128B")).descriptor.encode())
    '0x4000404000010000'
    """
    spec, by = checked.spec, checked.reader
    taken = steps(by, spec)
    start, match, crossing = 16 * start_of(taken.recast), taken.match, taken.crossing
    descriptor = SmemDescriptor(
        by.arch,
        match.leading_byte_offset if crossing is None else start + 16 * crossing.goes_on(0),
        match.stride_byte_offset,
        spec.swizzle,
        start_address=start,
        leading_is_absolute=crossing is not None,
    )
    first_word(descriptor)  # raises here if a field cannot store its value, or the architecture lacks the swizzle
    return Derivation(
        tile=spec.extents,
        mma=spec.reads,
        order=spec.order,
        element=by.element,
        major=spec.major,
        swizzle=spec.swizzle,
        **taken._asdict(),
        descriptor=descriptor,
        operand=by.matrix,
        instruction=by.name,
        capacity=checked.capacity,
    )
