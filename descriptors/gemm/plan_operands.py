"""Derive one operand of a main loop: its layout, its descriptors and their steps, and its copies.

The descriptors are kept in the form that a kernel uses: one descriptor, and the numbers that are added to it for a
block along M or N, a K block and a stage. The proof of the product adds them as the kernel does. The arguments of the
tensor map contain the extents of the matrices in global memory as symbols M, N and K.

An instruction of a CTA pair reads half of its rows of A, and half of its rows of B, from each CTA. The rows of B are
the columns of the product, so a CTA holds half of every N block: local row x of CTA v is the row ::

    x + (x / run + v) run            with the run N / 2 of the instruction

of the tile. Of A it holds one run, half of the tile's rows: M blocks are then the rows of its accumulators in order.
Source: PTX ISA 9.1, tcgen05 matrix shapes and CTA pairs; CuTe ``mma_traits_sm100.hpp``, the B layouts of 2-SM atoms;
CUDA Driver API, ``cuTensorMapEncodeTiled``.

Invariant: the sums are the descriptors of the derivation, for every base address. Both CTAs of a pair together hold
every row of the tile once, and no box has rows of two runs.

>>> from descriptors.gemm.plan_request import main_loop
>>> a = operand(main_loop("m64n128k16", "bf16", tile=(128, 128, 64)), "A", 3, base=2048)
>>> all(a.word_at(i, k, s) == a.derivation.word(i, k, s, 2048) for i in range(2) for k in range(4) for s in range(3))
True
>>> run = run_of(main_loop("m256n64k16", "bf16", tile=(256, 192, 64), cta_group=2), "B")
>>> run, sorted(row_of(x, v, run) for v in (0, 1) for x in range(96)) == list(range(192))
(32, True)
>>> b = operand(main_loop("m64n128k16", "bf16", tile=(128, 128, 64), b_major="MN"), "B", 2)
>>> arguments = dict(encode_arguments(b))
>>> arguments["globalDim"], arguments["globalStrides"], arguments["boxDim"]
('{N, K}', '{N * 2}', '{64, 64}')
"""

from __future__ import annotations

from math import gcd

from descriptors.errors import Advice, DescriptorError
from descriptors.gemm.multicast import cut, in_pieces
from descriptors.gemm.plan_request import MainLoop
from descriptors.records import Record, each
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derived
from descriptors.smem.derivation.request import Reader, TileSpec, request_of, stacking
from descriptors.smem.instructions.legality import check_operand
from descriptors.smem.instructions.transpose import transpose_bit
from descriptors.smem.operands.operand import Major, Matrix, SwizzleMode, SwizzleName, as_swizzle_mode, major_of
from descriptors.smem.tma.tma_plan import Box, Dimension, TmaPlan
from descriptors.smem.tma.tma_planner import tma_plan
from layoutalg.frozen import frozen, replace

#: Swizzle modes in the order in which they are tried by default. Wider modes have fewer bank conflicts and boxes.
_WIDEST = (SwizzleMode.B128, SwizzleMode.B128_BASE32B, SwizzleMode.B64, SwizzleMode.B32, SwizzleMode.NONE)


@frozen
class StagedOperand:
    """All stages of an operand in the shared memory of one CTA.

    Args:
        matrix: ``"A"`` or ``"B"``.
        derivation: the derivation of the tile (MN, K, stages).
        tma: the copies that fill the tile.
        base: address of the operand in the CTA's shared memory, in bytes.
        word: the descriptor of the first subtile.
        mn_steps, k_steps, stage_steps: the numbers that are added to the descriptor for each block along M or N, each
            K block and each stage, in the 16-byte units of the start address. With K 96, LBO is an address too, and
            bits [16,30) of a step advance it.
        transposed: the transpose bit of the instruction.
        run: number of consecutive rows of the tile in a CTA: all rows of the CTA, except for B of a pair, where it is
            half of an N block.
        ctas: number of CTAs of the cluster that need the same tile and share its copies.
        sparse: whether the operand is stored without its zeros: with half of K in global memory and in the tile.
    """

    matrix: Matrix
    derivation: Derivation
    tma: TmaPlan
    base: int
    word: int
    mn_steps: tuple[int, ...]
    k_steps: tuple[int, ...]
    stage_steps: tuple[int, ...]
    transposed: int
    run: int
    ctas: int = 1
    sparse: bool = False

    def word_at(self, mn: int, k: int, stage: int) -> int:
        """Return the descriptor of one block.

        The sum does not carry out of the start address, because all blocks are in shared memory.
        """
        return self.word + self.mn_steps[mn] + self.k_steps[k] + self.stage_steps[stage]

    @property
    def bit(self) -> str:
        """The name and position of the transpose bit."""
        return transpose_bit(self.derivation.arch, self.matrix)

    @property
    def stage_bytes(self) -> int:
        """Size of one stage in bytes."""
        d = self.derivation
        return d.tile[0] * d.tile[1] * d.element.storage_bits // 8

    @property
    def alignment_bytes(self) -> int:
        """Required alignment of the operand's address, in bytes."""
        return max(self.tma.alignment_bytes, self.derivation.swizzle.alignment_bytes)

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The boxes of the first stage. Those of the other stages differ only in their addresses."""
        return tuple(box for box in self.tma.boxes if box.stage == 0)

    def first_row(self, box: Box, cta: int = 0) -> int:
        """Return the row of the tile, over both CTAs of a pair, at which a box of one CTA begins."""
        return row_of(box.origin[0], cta, self.run)

    def coordinates(self, box: Box, cta: int = 0) -> tuple[int, ...]:
        """Return the coordinates of a box in the tile, along the tensor map's dimensions; CTA v adds v runs of rows."""
        rows = self.first_row(box, cta) - box.origin[0]
        pairs = zip(self.tma.dimensions, box.coordinates, strict=True)
        return tuple(first + (0 if dimension.mode else dimension.index(rows)) for dimension, first in pairs)

    @property
    def own_boxes(self) -> int:
        """Number of boxes that each CTA issues. The r-th CTA of those that share them issues the r-th part."""
        return len(self.boxes) // self.ctas

    @property
    def transaction_bytes(self) -> int:
        """Bytes that the copies of one stage add to a CTA's transaction count, whichever CTA issues them."""
        return len(self.boxes) * self.tma.transaction_bytes


def operand(
    loop: MainLoop, matrix: Matrix, stages: int, *, swizzle: SwizzleMode | SwizzleName | None = None, base: int = 0
) -> StagedOperand:
    """Derive an operand, and plan its copies.

    Args:
        loop: the instruction and the tile.
        matrix: ``"A"`` or ``"B"``.
        stages: number of stages.
        swizzle: the swizzle mode; by default the widest that fits.
        base: address of the operand, in bytes.

    Raises:
        DescriptorError: if no layout can be both read by the instruction and filled by copies.

    >>> from descriptors.gemm.plan_request import main_loop
    >>> operand(main_loop("m64n32k16", "bf16", tile=(64, 32, 64), b_major="MN"), "B", 2).derivation.swizzle
    SwizzleMode.B64
    """
    try:
        staged = _widest_mode(loop, matrix, stages, None if swizzle is None else _mode(loop, matrix, swizzle), base)
    except DescriptorError as error:
        error.proposals = tuple(_as_plan_arguments(loop, matrix, advice) for advice in error.proposals)
        raise
    ctas = loop.cluster["BA".index(matrix)]
    return replace(staged, tma=cut(staged.tma, ctas, matrix), ctas=ctas)


def _as_plan_arguments(loop: MainLoop, matrix: Matrix, advice: Advice) -> Advice:
    """Return the advice for an operand as changes of the arguments of ``plan``."""
    changes = {
        name if name == "legality" else f"{matrix.lower()}_{name}": value
        for name, value in advice.changes.items()
        if name != "tile"
    }
    if "tile" in advice.changes:
        mn, k, *_ = advice.changes["tile"]
        k = k * loop.tile[2] // loop.stored(matrix, loop.tile[2])
        m, n = (mn * loop.cta_group, loop.tile[1]) if matrix == "A" else (loop.tile[0], mn * loop.cta_group)
        changes["tile"] = (m, n, k)
    return Advice(changes)


def _mode(loop: MainLoop, matrix: Matrix, swizzle: SwizzleMode | SwizzleName) -> SwizzleMode:
    """Return the given swizzle mode. If it is the name of an atom, check that the atom has the operand's major."""
    major_of(swizzle, loop.a_major if matrix == "A" else loop.b_major, matrix)
    return as_swizzle_mode(swizzle)


def _widest_mode(loop: MainLoop, matrix: Matrix, stages: int, swizzle: SwizzleMode | None, base: int) -> StagedOperand:
    """Return the operand with the given swizzle mode, or with the widest mode that fits."""
    if swizzle is not None:
        return _in_mode(loop, matrix, stages, swizzle, base)
    errors: list[DescriptorError] = []
    for mode in _WIDEST:
        try:
            return _in_mode(loop, matrix, stages, mode, base)
        except DescriptorError as error:
            errors.append(error)
    raise errors[-1]


def _in_mode(loop: MainLoop, matrix: Matrix, stages: int, swizzle: SwizzleMode, base: int) -> StagedOperand:
    """Return the operand with a swizzle mode, before its boxes are divided among the CTAs of a cluster."""
    index = "AB".index(matrix)
    element, major = ((loop.a, loop.a_major), (loop.b, loop.b_major))[index]
    pair = loop.cta_group
    # A in registers may have either major, because threads load it and no instruction reads it by a descriptor.
    legality = "off" if matrix == "A" and loop.a_source == "rmem" else loop.legality
    check_operand(loop.arch, loop.kind, element, major, swizzle, legality=legality)
    reads = (loop.extents[index] // pair, loop.stored(matrix, loop.extents[2]))
    reader = Reader(
        loop.arch, element, reads, matrix, kind=loop.kind, cta_group=pair, sparse=loop.sparse, legality=legality
    )
    tile = (loop.tile[index] // pair, loop.stored(matrix, loop.tile[2]), stages)
    derivation = derived(request_of(reader, TileSpec(major, swizzle, reads, tile, stacking(major, 3))))
    run, counts = run_of(loop, matrix), (loop.blocks[index], loop.blocks[2], stages)
    mn_steps, k_steps, stage_steps = _steps(derivation, counts)
    return StagedOperand(
        matrix=matrix,
        derivation=derivation,
        tma=within(tma_plan(derivation, rank=2), run, matrix),
        base=base,
        word=derivation.word(0, 0, 0, base),
        mn_steps=mn_steps,
        k_steps=k_steps,
        stage_steps=stage_steps,
        transposed=int(major is Major.MN),
        run=run,
        sparse=loop.sparse and matrix == "A",
    )


def _steps(d: Derivation, counts: tuple[int, int, int]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return the numbers added to the first descriptor for each block along M or N, each K block and each stage.

    With K 96, operands cross atoms, and a step also moves the address in LBO: the sums are of whole descriptors.
    """
    if d.crossing is None:
        along_mn, along_k, along_stages = d.advance
        return (
            tuple(map(along_mn, range(counts[0]))),
            tuple(map(along_k, range(counts[1]))),
            tuple(map(along_stages, range(counts[2]))),
        )
    first = d.word(0, 0, 0)
    return (
        tuple(d.word(i, 0, 0) - first for i in range(counts[0])),
        tuple(d.word(0, k, 0) - first for k in range(counts[1])),
        tuple(d.word(0, 0, s) - first for s in range(counts[2])),
    )


def run_of(loop: MainLoop, matrix: Matrix) -> int:
    """Return the number of consecutive rows of the tile in a CTA: all its rows, or half of an N block for B of a pair.

    >>> from descriptors.gemm.plan_request import main_loop
    >>> run_of(main_loop("m64n64k16", "bf16", tile=(64, 192, 64)), "B")
    192
    """
    if matrix == "B":
        return loop.extents[1] // 2 if loop.cta_group == 2 else loop.tile[1]
    return loop.tile[0] // loop.cta_group


def row_of(local: int, cta: int, run: int) -> int:
    """Return the row of the tile for a row of a CTA.

    Args:
        local: the row, counted in the CTA.
        cta: index of the CTA in its pair, 0 or 1; 0 without a pair.
        run: number of consecutive rows of the tile in a CTA.

    >>> [row_of(x, 1, 32) for x in (0, 31, 32)]
    [32, 63, 96]
    """
    return local + (local // run + cta) * run


def within(plan: TmaPlan, run: int, matrix: Matrix) -> TmaPlan:
    """Return the copies with boxes cut so that no box has rows of two runs, which are not adjacent in the tile.

    Args:
        plan: the copies.
        run: number of consecutive rows of the tile in a CTA.
        matrix: ``"A"`` or ``"B"``, for messages.

    Raises:
        DescriptorError: if a box cannot be cut there.
    """
    along = [dimension for dimension in plan.dimensions if dimension.mode == 0]
    rows = max(dimension.box * dimension.step for dimension in along)
    pieces = rows // gcd(rows, run)
    if pieces == 1:
        return plan
    slow = plan.dimensions[-1]
    if slow.mode != 0 or slow.box % pieces:
        raise DescriptorError(
            f"plan: a box of {matrix} has {rows} rows, which cannot be cut into runs of {run} rows; each CTA of a pair "
            f"has half of every N block; {matrix} is {plan.major}-major, swizzle {plan.swizzle}"
        )
    return in_pieces(plan, pieces)


def dimension_name(matrix: Matrix, dimension: Dimension) -> str:
    """Return ``"M"``, ``"N"`` or ``"K"`` for a dimension of an operand's tensor.

    >>> dimension_name("B", Dimension(0, 1, None, 64))
    'N'
    """
    return "K" if dimension.mode else {"A": "M", "B": "N"}[matrix]


#: The arguments of ``cuTensorMapEncodeTiled`` as source text, in plain data.
ENCODE_ARGUMENTS = Record(
    "EncodeArguments",
    **each(str, "tensorDataType tensorRank globalAddress globalDim globalStrides boxDim elementStrides interleave"),
    **each(str, "swizzle l2Promotion oobFill"),
)


def encode_arguments(side: StagedOperand) -> tuple[tuple[str, str], ...]:
    """Return names and values of the ``cuTensorMapEncodeTiled`` arguments after the tensor map, in order.

    Args:
        side: the operand.
    """
    return map_arguments(side.tma, side.matrix, halved=side.sparse)


def map_arguments(tma: TmaPlan, matrix: Matrix, *, halved: bool = False) -> tuple[tuple[str, str], ...]:
    """Return names and values of the ``cuTensorMapEncodeTiled`` arguments for the copies of an operand.

    Args:
        tma: the copies.
        matrix: ``"A"`` or ``"B"``.
        halved: whether K / 2 elements are stored along K: without zeros, or with two elements in each stored one.
    """
    names = [dimension_name(matrix, dimension) for dimension in tma.dimensions]
    if halved:
        names = [name.replace("K", "K / 2") for name in names]
    bits = tma.element.bits
    scaled = {4: " / 2", 6: " * 3 / 4"}.get(bits, f" * {bits // 8}" if bits > 8 else "")
    return (
        ("tensorDataType", tma.data_type_name),
        ("tensorRank", str(len(names))),
        ("globalAddress", matrix),
        ("globalDim", f"{{{', '.join(names)}}}"),
        ("globalStrides", f"{{{', '.join(name + scaled for name in names[:-1])}}}"),
        ("boxDim", f"{{{', '.join(map(str, tma.box))}}}"),
        ("elementStrides", f"{{{', '.join('1' for _ in names)}}}"),
        ("interleave", tma.interleave_name),
        ("swizzle", tma.swizzle_name),
        ("l2Promotion", "CU_TENSOR_MAP_L2_PROMOTION_NONE"),
        ("oobFill", "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE"),
    )
