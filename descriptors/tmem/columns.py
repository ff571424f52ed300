"""Plan the tensor-memory columns of a CTA: assign columns to each part and choose the allocation size.

The parts are accumulators, an A operand, scale factors and metadata.

Invariant: each part has the width of its contents, including what copies write to it, and the plan contains every part
that the instruction needs.

>>> plan = tmem_plan(128, 8, 64, "e2m1", scale_dtype="ue4m3")
>>> [(part.name, part.column, part.columns) for part in plan.parts], plan.allocate
([('D', 0, 8), ('SFA', 8, 4), ('SFB', 12, 4)], 32)
>>> [part.name for part in tmem_plan(128, 64, 64, "bf16", a_source="tmem", sparse=True, accumulators=2).parts]
['D0', 'D1', 'A', 'E']

The parts are placed in the given order, each at the next column that is a multiple of its alignment. An allocation is a
power of two, at least 32. An SM runs as many CTAs at once as fit their allocations into its columns.
Source: PTX ISA 9.1, tcgen05.alloc; CuTe DSL 4.8.1 ``get_num_tmem_alloc_cols`` (NVIDIA's code): the sum of the parts,
rounded up.

Invariant: parts do not overlap, each is aligned, and the allocation is the smallest power of two that holds them.

>>> parts = [Part(name, columns, align) for name, columns, align in (("D0", 96, 1), ("D1", 96, 1), ("E", 5, 4))]
>>> plan = plan_columns(parts)
>>> [(part.name, part.column) for part in plan.parts], plan.used, plan.allocate, plan.ctas
([('D0', 0), ('D1', 96), ('E', 192)], 197, 256, 2)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from descriptors.errors import Advice, DescriptorError, advised, as_flag, as_integer, brief
from descriptors.smem.instructions.facts import ScaleRow, ShapeRow
from descriptors.smem.instructions.idesc import as_kind
from descriptors.smem.instructions.legality import usual_vector
from descriptors.smem.instructions.rules import Legality, rows_of
from descriptors.smem.operands.operand import choose
from descriptors.targets import architecture, known
from descriptors.text import Told
from descriptors.tmem.accumulator import accumulator
from descriptors.tmem.geometry import (
    BELIEVED,
    COLUMNS,
    EXCLUSIVE_COLUMNS,
    LEAST_COLUMNS,
    NVIDIA,
    allocation,
    tensor_memory_arch,
    weakest,
)
from descriptors.tmem.operand_cells import ALIGNED_COLUMNS, operand_a, sparse_metadata
from descriptors.tmem.scale_cells import check_halves, padded_rows, scale_cells, scale_cells_of_64
from descriptors.tmem.tmem_fragment import HALF, TmemFragment
from layoutalg.frozen import frozen, replace


@frozen
class Part:
    """A range of tensor-memory columns with one purpose.

    Args:
        name: ``D``, ``A``, ``SFA``, ``SFB`` or ``E``, with a number if there are several.
        columns: number of columns.
        align: the first column is a multiple of this number.
        column: first column, relative to the allocation.
        lane: first lane; 16 if the part shares the columns of the part before it.
        fragment: layout of the contents, if known.
        shared: number of columns that it shares with the end of the parts before it.
    """

    name: str
    columns: int
    align: int = 1
    column: int = 0
    lane: int = 0
    fragment: TmemFragment | None = None
    shared: int = 0


@frozen
class ColumnPlan(Told):
    """A plan of the tensor-memory columns of a CTA.

    Args:
        parts: the parts with their columns, in column order.
        allocate: number of columns to allocate.
        notes: remarks for the user.
        arch: the architecture.
    """

    parts: tuple[Part, ...]
    allocate: int
    notes: tuple[str, ...] = ()
    arch: str = "sm100"

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return f"{self.used} columns used, {self.allocate} allocated, {self.ctas} CTAs an SM"

    @property
    def used(self) -> int:
        """Number of columns up to the end of the last part."""
        return max(part.column + part.columns for part in self.parts)

    @property
    def exclusive(self) -> bool:
        """Whether the allocation is exclusive, that is, excludes any other allocation on the SM."""
        return self.allocate > COLUMNS

    @property
    def ctas(self) -> int:
        """Number of CTAs whose allocations fit an SM at once."""
        return max(1, COLUMNS // self.allocate)

    @property
    def evidence(self) -> str:
        """Weakest grade of evidence of the parts; for other targets than sm100, the grade of the target table."""
        if self.arch != "sm100":
            return known(self.arch)
        return weakest(NVIDIA, *(part.fragment.evidence for part in self.parts if part.fragment is not None))

    def part(self, name: str) -> Part:
        """Return the part with a name.

        Raises:
            DescriptorError: if no part has this name.
        """
        for part in self.parts:
            if part.name == name:
                return part
        names = ", ".join(part.name for part in self.parts)
        raise DescriptorError(f"tmem plan: {name!r} is not a part of this plan; its parts: {names}")


def plan_columns(parts: Iterable[Part], *, ctas: int = 1, notes: Iterable[str] = (), arch: str = "sm100") -> ColumnPlan:
    """Assign columns to each part.

    Args:
        parts: the parts, in order; a part with a nonzero lane shares the columns of the part before it.
        ctas: number of CTAs that must fit an SM at once.
        notes: remarks for the user.
        arch: the architecture; sm107 has 576 columns, and an allocation of more than 512 is exclusive.

    Raises:
        DescriptorError: if there is no part, or the parts do not fit; the message lists the size of each part.

    >>> plan_columns([Part("D", 256), Part("SFA", 4), Part("SFB", 8)]).allocate
    512
    >>> plan_columns([Part("D", 512), Part("SFA", 16)], arch="sm107").allocate
    544
    >>> plan_columns([Part("D", 256), Part("SFA", 16)], ctas=2)
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: tmem plan: 2 CTAs need 1024 columns, an SM has 512; D 256, SFA 16 columns
    """
    arch = tensor_memory_arch(arch, "tmem plan")
    count = as_integer(ctas, "tmem plan: CTAs", minimum=1, maximum=COLUMNS // LEAST_COLUMNS)
    placed_parts: list[Part] = []
    end = 0
    for part in parts:
        start = -(-(end - part.shared) // part.align) * part.align
        if part.lane and placed_parts:
            start = placed_parts[-1].column
        placed_parts.append(replace(part, column=start))
        end = start + part.columns
    if not placed_parts:
        raise DescriptorError("tmem plan: the plan has no parts")
    sizes = ", ".join(f"{part.name} {part.columns}" for part in placed_parts if not part.lane)
    most, allocate = architecture(arch).exclusive_columns, allocation(end)
    if end > most:
        note = f"; an exclusive allocation of sm107 has {EXCLUSIVE_COLUMNS}" if end <= EXCLUSIVE_COLUMNS else ""
        raise DescriptorError(f"tmem plan: the parts need {end} columns, {arch} has {most}; {sizes} columns{note}")
    if allocate * count > (most if count == 1 else COLUMNS):
        need = f"{count} {'CTA needs' if count == 1 else 'CTAs need'} {allocate * count} columns"
        raise DescriptorError(f"tmem plan: {need}, an SM has {COLUMNS}; {sizes} columns")
    return ColumnPlan(tuple(placed_parts), allocate, (*notes, *([_EXCLUSIVE] if allocate > COLUMNS else ())), arch)


_EXCLUSIVE = "more than 512 columns: tcgen05.alloc.exclusive, which no other allocation of the SM may live beside"
_NOT_SHIFTED = "a second accumulator of M 64 begins 16 lanes on, in the columns of the first"
_NARROW_HALVES = (
    "a block of scale factors for each half of B: that such N multiplies is the word of facebookexperimental/triton "
    "#3653, not measured here"
)
_SFA_OF_64 = "SFA has 64 rows here and the copy 128: its last block writes 2 columns more than are read"


#: A scale factor for 128 elements, which four instructions with K 32 share, and the kind that supports it.
_REPEATED, _REPEATED_KIND = ("ue8m0", 128), "mxf8f6f4"


@frozen
class _Mma:
    """The checked arguments of the multiplication to plan."""

    m: int
    n: int
    k: int
    dtype: str
    d_dtype: str
    kind: str
    cta_group: int
    ws: bool
    sparse: bool
    a_source: str
    vector: int
    accumulators: int
    stages: int
    interleaved: bool
    legality: Legality
    blocks: tuple[int, int]
    overlapping: bool
    arch: str


@advised
def tmem_plan(
    m: int,
    n: int,
    k: int | None = None,
    dtype: str = "bf16",
    d_dtype: str | None = None,
    *,
    b_dtype: str | None = None,
    kind: str | None = None,
    cta_group: int = 1,
    ws: bool = False,
    sparse: bool = False,
    a_source: str = "smem",
    scale_dtype: str | None = None,
    scale_vector: int | None = None,
    accumulators: int = 1,
    stages: int = 1,
    interleaved: bool = False,
    overlapping: bool = False,
    blocks: Sequence[int] = (1, 1),
    ctas: int = 1,
    arch: str = "sm100",
    legality: Legality = "strict",
) -> ColumnPlan:
    """Plan the tensor memory of a CTA that multiplies tiles with one instruction shape.

    Args:
        m: M of the instruction, over both CTAs if ``cta_group`` is 2.
        n: N of the instruction.
        k: K of the tile that is in tensor memory at once, of A, scale factors or metadata (zeros counted); optional if
            none of them is in tensor memory.
        dtype: element type of A.
        d_dtype: accumulator type; by default f32, or s32 for integers.
        b_dtype: element type of B; by default that of A.
        kind: the instruction kind; by default inferred from the types.
        cta_group: 1 or 2.
        ws: whether the instruction is weight-stationary (``.ws``).
        sparse: whether A is stored without its zeros, so that its metadata needs columns.
        a_source: memory of A: ``smem`` or ``tmem``.
        scale_dtype: type of the scale factors of a block-scaled kind.
        scale_vector: number of elements that share a scale factor.
        accumulators: number of accumulators kept at once: 2 to multiply into one while the other is read.
        stages: number of tiles of A, scale factors and metadata kept at once.
        interleaved: whether two accumulators with M 64 share their columns.
        overlapping: whether two accumulators may share columns if they do not fit otherwise: the last columns of the
            first are the first of the second, and a kernel must read them before it writes the second.
        blocks: number of instructions along M and along N of a tile: each has an accumulator, and the scale factors are
            those of all rows; accumulators are numbered along M first.
        ctas: number of CTAs that must fit an SM at once.
        arch: the architecture.
        legality: how strictly the instruction tables are read, as in ``derive``.

    Raises:
        IllegalError: if the instruction does not exist.
        DescriptorError: if an argument is malformed, or the parts do not fit.

    >>> print(tmem_plan(128, 256, 64, "bf16", accumulators=2).headline)
    512 columns used, 512 allocated, 1 CTAs an SM
    >>> tmem_plan(64, 256, 64, "bf16", accumulators=2, interleaved=True).allocate
    256
    >>> [part.columns for part in tmem_plan(128, 64, 128, "e2m1", kind="mxf4", blocks=(2, 1)).parts]
    [64, 64, 8, 4]
    >>> plan = tmem_plan(128, 256, 256, "e2m1", kind="mxf4", accumulators=2, overlapping=True)
    >>> [(part.name, part.column, part.shared) for part in plan.parts], plan.used
    ([('D0', 0, 0), ('D1', 232, 24), ('SFA', 488, 0), ('SFB', 496, 0)], 512)
    >>> tmem_plan(128, 256, 256, "e2m1", scale_dtype="ue4m3", accumulators=2, arch="sm107").allocate
    576
    """
    b, arch = dtype if b_dtype is None else b_dtype, tensor_memory_arch(arch, "tmem plan")
    m, cta_group = as_integer(m, "tmem plan: M"), as_integer(cta_group, "tmem plan: cta_group")
    kind_name = as_kind(dtype, b, kind=kind, scale_dtype=scale_dtype, scale_vector=scale_vector, arch=arch)
    vector = _vector(kind_name, scale_dtype, scale_vector, arch)
    if k is None and (vector or sparse or a_source != "smem"):
        raise DescriptorError("tmem plan: K of the tile is missing; A, scale factors or metadata are in tensor memory")
    mma = _Mma(
        m, n, 1 if k is None else as_integer(k, "tmem plan: K", minimum=1, maximum=1 << 16), dtype,
        ("s32" if kind_name in ("i8", "ti16") else "f32") if d_dtype is None else d_dtype, kind_name, cta_group, ws,
        as_flag(sparse, "tmem plan: sparse"), choose("tmem plan: a_source", a_source, {"smem": "smem", "tmem": "tmem"}),
        vector, as_integer(accumulators, "tmem plan: accumulators", minimum=1, maximum=COLUMNS),
        as_integer(stages, "tmem plan: stages", minimum=1, maximum=COLUMNS),
        as_flag(interleaved, "tmem plan: interleaved"), legality,
        _as_blocks(blocks), as_flag(overlapping, "tmem plan: overlapping"), arch,
    )  # fmt: skip
    if vector or mma.sparse or mma.a_source != "smem":
        _check_depth(mma)
    notes = [_NOT_SHIFTED] if interleaved else []
    if vector and (cta_group, m) == (2, 128):
        check_halves(as_integer(n, "tmem plan: N"), "tmem plan")
        notes += [_SFA_OF_64] * (mma.blocks[0] == 1) + [_NARROW_HALVES] * (n < 256)
        if mma.blocks[1] > 1:
            raise DescriptorError(
                f"tmem plan: the tile has {mma.blocks[1]} instructions along N; with scale factors, cta_group 2 and "
                "M 128, only one along N is supported",
                proposals=[Advice({"blocks": (mma.blocks[0], 1)})],
            )
    most = architecture(arch).exclusive_columns
    return plan_columns(_overlapped(mma, list(_parts(mma)), most), ctas=ctas, notes=notes, arch=arch)


def _vector(kind: str, dtype: str | None, vector: int | None, arch: str) -> int:
    """Return the number of elements that share a scale factor; 0 if the kind has no scale factors.

    Args:
        kind: the instruction kind.
        dtype: type of the scale factors; None for any type.
        vector: the number that the user gave; None for the usual one of the kind.
        arch: the architecture.

    Raises:
        DescriptorError: if the kind does not support such scale factors.
    """
    rows: list[ScaleRow] = rows_of("SCALES", arch, kind)
    if not rows and (dtype, vector) == (None, None):
        return 0
    factors = {(row.dtype, shared): None for row in rows for k in row.k for shared in (row.vector, row.shared(k))}
    if kind == _REPEATED_KIND:
        factors[_REPEATED] = None
    if not any(dtype in (None, name) and vector in (None, shared) for name, shared in factors):
        legal = ", ".join(f"{name} by {shared}" for name, shared in factors) or "none"
        wanted = f"{dtype or 'any type'} by {'any number' if vector is None else brief(vector)}"
        raise DescriptorError(f"tmem plan: kind {kind} has no scale factors {wanted}; supported: {legal}")
    return usual_vector(kind, dtype, arch=arch) if vector is None else vector


def _check_depth(mma: _Mma) -> None:
    """Check that K is a multiple of the K of an instruction of the kind.

    Raises:
        DescriptorError: if it is not; the message lists K of the instructions.
    """
    rows: list[ShapeRow] = rows_of("SHAPES", mma.arch, mma.kind)
    depths = sorted({row.k for row in rows if row.sparse == mma.sparse})
    if depths and all(mma.k % depth for depth in depths):
        raise DescriptorError(
            f"tmem plan: K is {mma.k}, which is not a multiple of the instruction's K "
            f"({' or '.join(map(str, depths))}); kind {mma.kind}"
        )


def _overlapped(mma: _Mma, parts: list[Part], most: int) -> list[Part]:
    """Return the parts; if requested, the first part of the second accumulator set shares the columns that lack."""
    if not mma.overlapping:
        return parts
    if mma.accumulators != 2 or mma.interleaved:
        conflict = "interleaved" if mma.interleaved else f"with accumulators = {mma.accumulators}"
        raise DescriptorError(
            f"tmem plan: overlapping accumulators {conflict} are not supported; overlapping needs 2 accumulators that "
            "are not interleaved"
        )
    need = sum(-(-part.columns // part.align) * part.align for part in parts)
    shared = -(-max(0, need - most) // ALIGNED_COLUMNS) * ALIGNED_COLUMNS
    first = mma.blocks[0] * mma.blocks[1]
    whole = sum(part.columns for part in parts[:first])
    if shared >= whole:
        raise DescriptorError(
            f"tmem plan: the parts need {need} columns, {mma.arch} has {most}, so two accumulators would share all of "
            f"their columns; each accumulator is {whole} columns",
            proposals=[Advice({"accumulators": 1})],
        )
    parts[first] = replace(parts[first], shared=shared)
    return parts


def _as_blocks(value: Sequence[int]) -> tuple[int, int]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise DescriptorError(f"tmem plan: blocks is {brief(value)}, which is not two numbers, along M and along N")
    m, n = (as_integer(count, "tmem plan: blocks", minimum=1, maximum=COLUMNS) for count in value)
    return m, n


def _parts(mma: _Mma) -> Iterator[Part]:
    yield from _accumulators(mma)
    for i in range(mma.stages):
        number = str(i) if mma.stages > 1 else ""
        if mma.a_source == "tmem":
            stored_k = mma.k // 2 if mma.sparse else mma.k
            a = operand_a(mma.m, stored_k, _as_stored(mma), cta_group=mma.cta_group, sparse=mma.sparse, ws=mma.ws)
            yield Part(f"A{number}", a.columns, fragment=a)
        yield from _scales(mma, number)
        if mma.sparse:
            rows = mma.m // mma.cta_group
            e = sparse_metadata(rows, mma.k, _as_stored(mma), ws=mma.ws)
            for block in range(mma.blocks[0]):
                suffix = "" if mma.blocks[0] == 1 else f".{block}" if number else str(block)
                yield Part(f"E{number}{suffix}", e.columns, ALIGNED_COLUMNS, fragment=e)


def _as_stored(mma: _Mma) -> str:
    """Return the type of A as stored in tensor memory: in the f8f6f4 kinds, a 4-bit element takes a byte."""
    return "e2m1_unpacksmem" if mma.dtype == "e2m1" and mma.kind.endswith("f8f6f4") else mma.dtype


def _accumulators(mma: _Mma) -> Iterator[Part]:
    d = accumulator(
        mma.m, mma.n, mma.d_dtype, cta_group=mma.cta_group, ws=mma.ws, sparse=mma.sparse, kind=mma.kind,
        a_source=mma.a_source, legality=mma.legality, arch=mma.arch,
    )  # fmt: skip
    if as_flag(mma.interleaved, "tmem plan: interleaved") and HALF.name not in d.name:
        raise DescriptorError(
            f"tmem plan: M is {mma.m}, with which accumulators cannot be interleaved; {d.name}; M 64 can"
        )
    if mma.interleaved and mma.a_source == "tmem":
        # A and D of one instruction begin at the same lane, so interleaving would need two copies of A.
        raise DescriptorError("tmem plan: accumulators cannot be interleaved if A is in tmem; A in smem is supported")
    count = mma.accumulators * mma.blocks[0] * mma.blocks[1]
    for i in range(count):
        name = f"D{i}" if count > 1 else "D"
        yield Part(name, d.columns, lane=16 if mma.interleaved and i % 2 else 0, fragment=d)


def _scales(mma: _Mma, number: str) -> Iterator[Part]:
    if not mma.vector:
        return
    rows, halves = mma.m // mma.cta_group * mma.blocks[0], (mma.cta_group, mma.m) == (2, 128)
    stored_k = mma.k // 2 if mma.sparse else mma.k  # scale_vector counts stored elements of A
    sfa, more = _sfa(rows, stored_k, mma.vector)
    yield Part(f"SFA{number}", sfa.columns + more, fragment=replace(sfa, evidence=BELIEVED) if halves else sfa)
    n = padded_rows(mma.n * mma.blocks[1], halves=halves)
    sfb = scale_cells(n, stored_k, mma.vector, halves=halves, name="SFB")
    yield Part(f"SFB{number}", sfb.columns, fragment=sfb)


def _sfa(rows: int, k: int, vector: int) -> tuple[TmemFragment, int]:
    """Return the scale factors of A, and the number of columns that copies write beyond them.

    A copy transfers a whole block of 512 bytes: if the CTA has 64 rows, the last copy writes 4 columns instead of 2.
    """
    if rows == 64:
        return scale_cells_of_64(k, vector), 2
    return scale_cells(padded_rows(rows), k, vector, name="SFA"), 0
