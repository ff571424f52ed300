"""From a tile to the descriptor of every operand in it: checked, taken through the five ``steps``, and proved.

Before the steps the operand is checked against the tables of instructions (``request``); after them the result is
proved.

Law: in every step an operand begins at the same place, counted in the unit of that step.

>>> from descriptors.smem.operands.swizzled import plain
>>> d = derive((128, 128), "bf16", "MN", "64B", (64, 16))
>>> places = [(plain(d.partitioned)((0, 0), (i, k)), d.advance(i, k)) for i in range(2) for k in range(8)]
>>> all(2 * elements == 16 * units for elements, units in places)
True
>>> [16 * units for _, units in places] == [offset for row in d.offsets_bytes() for offset in row]
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

#: How a derivation can be proved.
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

    Law: with the tile at an aligned address ``a``, the operand of subtile (i, j) is described by the descriptor with
    start address ``a + descriptor.start_address + offsets_bytes()[i][j]``, all its other fields unchanged; but for
    operands that cross atoms, whose leading byte address moves too: ``a + descriptor.leading_byte_offset +
    lines_bytes()[i][j]``.

    Args:
        tile: extents (MN, K), or (MN, K, stages), in elements: a tile of canonical atoms. Or give ``layout``.
        dtype: name of the element type: f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 e2m1_unpacksmem s8 u8.
        major: ``"K"`` or ``"MN"``: the contiguous dimension. An explicit layout tells it by itself.
        swizzle: ``"none"``, ``"32B"``, ``"64B"``, ``"128B"`` or ``"128B_BASE32B"``. An explicit layout that is
            composed with a swizzle tells it by itself; for a plain one the default is none, or the mode that is read
            where the layout's elements lie (a slice whose swizzle folded into its strides).
        mma: extents (MN, K) that one instruction reads from this shared memory, in elements: (M, K) of an A operand,
            (N, K) of a B operand; with ``cta_group`` 2 half of M or N. Or the instruction's name, ``"m64n128k16"``,
            if ``operand`` says which of the two. Without it, ``layout`` must be partitioned:
            ``((MN, K), MN subtiles, K subtiles, stages...)``, as ``partition_A`` makes it.
        order: position of each tile mode in the stacking order of the atoms. Default: the contiguous dimension last,
            so that one TMA box can hold whole columns of atoms: (0, 1) for K-major, (1, 0) for MN-major. If only the
            positions of MN and K are given, the stages are last.
        arch: ``"sm90"`` (wgmma) or ``"sm100"`` (tcgen05); if left out, the one that the instruction's name states, as
            ``"wgmma.m64n128k16"`` does, else sm100.
        layout: an explicit tile instead of ``tile``: a layout (MN, K, stages...), plain or after a swizzle; its
            notation; or a pair of a layout and an offset, as ``local_tile`` and ``slice_and_offset`` return.
        unit: what the layout counts: ``"elements"``, ``"bytes"``, or ``"cute"`` for elements with a swizzle on bytes.
        operand: ``"A"`` (MN is M) or ``"B"`` (MN is N); either if left out.
        cp: a shape of ``tcgen05.cp``, such as ``"128x256b"``, instead of ``mma``.
        kind: the kind of instruction, for its legality; found from the type if left out.
        cta_group: 1 or 2, for its legality; either if left out.
        sparse: whether the instruction is a sparse one, for its legality.
        legality: ``"strict"`` takes the operands that every source allows, ``"lenient"`` those that any does, ``"off"``
            any operand that divides the tile.
        capacity: bytes of shared memory that the tile must fit, ``"arch"`` for those of the architecture; None to
            derive tiles of any size, whose ``advance_report`` then says how far they reach; what words can name is
            proved.
        atom: name of the atom that ``tile`` is made of, where a mode has more than the canonical one:
            ``"MN_SW128_32B_4ROWS"`` is that of CUTLASS C++ for 128B_BASE32B, which has 8 rows in the CuTe DSL.
        verify: how to prove the result, that every word reads its subtile (``proved``): by ``"theorem"``, as True does,
            for every aligned address at once; by ``"walk"`` every element by the measured read model too. False: not.

    Raises:
        DescriptorError: if an argument is unknown or malformed, the atom does not divide the tile or the operand the
            tile, or the tile exceeds shared memory.
        IllegalError: if no instruction reads such an operand.
        NotCanonicalError: if the operand has no canonical form; the mode that fails is named.
        ProofError: if the words do not read the tile.
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
    how = choose("derive: verify", verify, _PROOFS) if isinstance(verify, str) else as_flag(verify, "derive: verify")
    by = reader(
        arch, dtype, mma, operand=operand, cp=cp, kind=kind, cta_group=cta_group, sparse=sparse, legality=legality
    )
    asked = request(
        by, tile, layout, major=major, swizzle=swizzle, order=order, unit=unit, capacity=capacity, atom=atom
    )
    made = derived(asked)
    if how:
        proved(made, walk=how == "walk")
    return made


def derived(asked: Request) -> Derivation:
    """The five steps, for what is checked and typed already; nothing is proved yet.

    Raises:
        DescriptorError: if a step has no result, or a field cannot hold its value.

    >>> from descriptors.smem.derivation.request import reader
    >>> by = reader("sm100", "bf16", (64, 16))
    >>> hex(derived(request(by, (128, 128), major="K", swizzle="128B")).descriptor.encode())
    '0x4000404000010000'
    """
    spec, by = asked.spec, asked.reader
    found = steps(by, spec)
    start, match, crossing = 16 * start_of(found.recast), found.match, found.crossing
    descriptor = SmemDescriptor(
        by.arch,
        match.leading_byte_offset if crossing is None else start + 16 * crossing.goes_on(0),
        match.stride_byte_offset,
        spec.swizzle,
        start_address=start,
        leading_is_absolute=crossing is not None,
    )
    first_word(descriptor)  # raises here if a field cannot hold its value or the architecture lacks the swizzle
    return Derivation(
        tile=spec.extents,
        mma=spec.reads,
        order=spec.order,
        element=by.element,
        major=spec.major,
        swizzle=spec.swizzle,
        **found._asdict(),
        descriptor=descriptor,
        operand=by.matrix,
        instruction=by.name,
        capacity=asked.capacity,
    )
