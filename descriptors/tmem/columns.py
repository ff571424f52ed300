"""The columns of tensor memory that an instruction needs: for what, where each part goes, how many to allocate.

The parts are accumulators, an A operand, scale factors and metadata. Law: each part is as wide as what lies in it,
copies to it included, and nothing that the instruction needs is missing.

>>> made = tmem_plan(128, 8, 64, "e2m1", scale_dtype="ue4m3")
>>> [(part.name, part.column, part.columns) for part in made.parts], made.allocate
([('D', 0, 8), ('SFA', 8, 4), ('SFB', 12, 4)], 32)
>>> [part.name for part in tmem_plan(128, 64, 64, "bf16", a_source="tmem", sparse=True, accumulators=2).parts]
['D0', 'D1', 'A', 'E']

Parts follow one another in the order given, each at the next column that is a multiple of its alignment; an
allocation is a power of two, 32 at least; an SM holds as many CTAs as have their columns free at once.
Source: PTX ISA 9.1, tcgen05.alloc; CuTe DSL 4.8.1 ``get_num_tmem_alloc_cols`` (NVIDIA's code): the sum of the parts,
rounded up.

Law: parts do not overlap, each is aligned, and what is allocated is the least power of two that holds them.

>>> wanted = [Part(name, columns, align) for name, columns, align in (("D0", 96, 1), ("D1", 96, 1), ("E", 5, 4))]
>>> made = plan_columns(wanted)
>>> [(part.name, part.column) for part in made.parts], made.used, made.allocate, made.ctas
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
    """Something that takes columns.

    Args:
        name: ``D``, ``A``, ``SFA``, ``SFB``, ``E``, with a number where there are several.
        columns: how many.
        align: what its first column must be a multiple of.
        column: its first column, from the start of the allocation.
        lane: its first lane, 16 where it shares the columns of another.
        fragment: what lies there, where that is known.
        shared: how many of its columns are the last of the parts before it.
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
    """The columns of a CTA.

    Args:
        parts: what lies where, in the order of the columns.
        allocate: columns to allocate.
        notes: what else there is to know.
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
        """Columns up to the last that holds something."""
        return max(part.column + part.columns for part in self.parts)

    @property
    def exclusive(self) -> bool:
        """Whether the allocation must be an exclusive one: no other may live."""
        return self.allocate > COLUMNS

    @property
    def ctas(self) -> int:
        """CTAs whose columns an SM can hold at once."""
        return max(1, COLUMNS // self.allocate)

    @property
    def evidence(self) -> str:
        """How it is known, all in all; beyond sm100, whose layouts were evaluated, as the table of targets says."""
        if self.arch != "sm100":
            return known(self.arch)
        return weakest(NVIDIA, *(part.fragment.evidence for part in self.parts if part.fragment is not None))

    def part(self, name: str) -> Part:
        """The part of a name.

        Raises:
            DescriptorError: if there is none.
        """
        for part in self.parts:
            if part.name == name:
                return part
        names = ", ".join(part.name for part in self.parts)
        raise DescriptorError(f"tmem plan: a part must be one of {names}, found {name!r}")


def plan_columns(parts: Iterable[Part], *, ctas: int = 1, notes: Iterable[str] = (), arch: str = "sm100") -> ColumnPlan:
    """Give each part its columns.

    Args:
        parts: the parts, in order; one with a lane shares the columns of the part before it.
        ctas: CTAs that must fit an SM at once.
        notes: what else there is to know.
        arch: the architecture: sm107 has 576 columns, of which an exclusive allocation takes more than 512.

    Raises:
        DescriptorError: if they do not fit; it says what takes how many.

    >>> plan_columns([Part("D", 256), Part("SFA", 4), Part("SFB", 8)]).allocate
    512
    >>> plan_columns([Part("D", 512), Part("SFA", 16)], arch="sm107").allocate
    544
    >>> plan_columns([Part("D", 256), Part("SFA", 16)], ctas=2)
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: tmem plan: 2 CTAs must fit 512 columns, find 512 each; D 256, SFA 16 columns
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
        raise DescriptorError("tmem plan: there must be a part, found none")
    sizes = ", ".join(f"{part.name} {part.columns}" for part in placed_parts if not part.lane)
    most, allocate = architecture(arch).exclusive_columns, allocation(end)
    if end > most:
        way = f"; an exclusive allocation of sm107 has {EXCLUSIVE_COLUMNS}" if end <= EXCLUSIVE_COLUMNS else ""
        raise DescriptorError(f"tmem plan: the parts must fit {most} columns, need {end}; {sizes} columns{way}")
    if allocate * count > (most if count == 1 else COLUMNS):
        each = f"find {allocate} each; {sizes} columns"
        raise DescriptorError(f"tmem plan: {count} CTAs must fit {COLUMNS} columns, {each}")
    return ColumnPlan(tuple(placed_parts), allocate, (*notes, *([_EXCLUSIVE] if allocate > COLUMNS else ())), arch)


_EXCLUSIVE = "more than 512 columns: tcgen05.alloc.exclusive, which no other allocation of the SM may live beside"
_NOT_SHIFTED = "a second accumulator of M 64 begins 16 lanes on, in the columns of the first"
_NARROW_HALVES = (
    "a block of scale factors for each half of B: that such N multiplies is the word of facebookexperimental/triton "
    "#3653, not measured here"
)
_SFA_OF_64 = "SFA has 64 rows here and the copy 128: its last block writes 2 columns more than are read"


#: A factor for 128 elements, which four instructions of K 32 take, and the kind that may have it.
_REPEATED, _REPEATED_KIND = ("ue8m0", 128), "mxf8f6f4"


@frozen
class _Mma:
    """The multiplication that a plan is for, its arguments checked."""

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
    """Plan the tensor memory of a CTA that multiplies tiles with one shape of instruction.

    Args:
        m: M of the instruction, over both CTAs where ``cta_group`` is 2.
        n: N of the instruction.
        k: K of the tile that is in tensor memory at once: of A if it lies there, of scale factors, of metadata
            (zeros counted); where there is none of them it may be left out.
        dtype: element type of A.
        d_dtype: type of the accumulator; f32, or s32 for integers, if left out.
        b_dtype: element type of B; that of A if left out.
        kind: the kind; found from the types if left out.
        cta_group: 1 or 2.
        ws: whether the weight-stationary form is meant.
        sparse: whether A is stored without its zeros: its metadata need columns.
        a_source: where A lies: ``smem`` or ``tmem``.
        scale_dtype: type of the scale factors of a block-scaled kind.
        scale_vector: elements that share a factor.
        accumulators: how many are kept at once: 2 to multiply into one while the other is read.
        stages: how many tiles of A, scale factors and metadata are kept at once.
        interleaved: whether two accumulators of M 64 share their columns.
        overlapping: whether two accumulators may share as many columns as they need more than there are: the last of
            the first are the first of the second, so that a kernel must read those before it writes the other.
        blocks: instructions along M and along N of a tile: an accumulator for each, and the scale factors of all rows;
            accumulators are numbered M blocks first.
        ctas: CTAs that must fit an SM at once.
        arch: the architecture.
        legality: how the tables of instructions are read.

    Raises:
        IllegalError: if there is no such instruction.
        DescriptorError: if an argument is malformed, or the parts do not fit.

    >>> print(tmem_plan(128, 256, 64, "bf16", accumulators=2).headline)
    512 columns used, 512 allocated, 1 CTAs an SM
    >>> tmem_plan(64, 256, 64, "bf16", accumulators=2, interleaved=True).allocate
    256
    >>> [part.columns for part in tmem_plan(128, 64, 128, "e2m1", kind="mxf4", blocks=(2, 1)).parts]
    [64, 64, 8, 4]
    >>> made = tmem_plan(128, 256, 256, "e2m1", kind="mxf4", accumulators=2, overlapping=True)
    >>> [(part.name, part.column, part.shared) for part in made.parts], made.used
    ([('D0', 0, 0), ('D1', 232, 24), ('SFA', 488, 0), ('SFB', 496, 0)], 512)
    >>> tmem_plan(128, 256, 256, "e2m1", scale_dtype="ue4m3", accumulators=2, arch="sm107").allocate
    576
    """
    b, arch = dtype if b_dtype is None else b_dtype, tensor_memory_arch(arch, "tmem plan")
    m, cta_group = as_integer(m, "tmem plan: M"), as_integer(cta_group, "tmem plan: cta_group")
    kind_name = as_kind(dtype, b, kind=kind, scale_dtype=scale_dtype, scale_vector=scale_vector, arch=arch)
    vector = _vector(kind_name, scale_dtype, scale_vector, arch)
    if k is None and (vector or sparse or a_source != "smem"):
        raise DescriptorError("tmem plan: K must be given: of the tile whose A, scale factors or metadata lie there")
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
            rule = "tmem plan: N of a tile with scale factors must be one instruction where its halves lie apart"
            one = Advice({"blocks": (mma.blocks[0], 1)})
            raise DescriptorError(f"{rule}, found {mma.blocks[1]} of them", proposals=[one])
    most = architecture(arch).exclusive_columns
    return plan_columns(_overlapped(mma, list(_parts(mma)), most), ctas=ctas, notes=notes, arch=arch)


def _vector(kind: str, dtype: str | None, vector: int | None, arch: str) -> int:
    """Return the number of elements that share a scale factor: as given, or as the kind has it; 0 of a kind without.

    Raises:
        DescriptorError: if the kind has no such scale factors.
    """
    rows: list[ScaleRow] = rows_of("SCALES", arch, kind)
    if not rows and (dtype, vector) == (None, None):
        return 0
    factors = {(row.dtype, shared): None for row in rows for k in row.k for shared in (row.vector, row.shared(k))}
    if kind == _REPEATED_KIND:
        factors[_REPEATED] = None
    fitting = [one for one in factors if dtype in (None, one[0]) and vector in (None, one[1])]
    if not fitting:
        legal = ", ".join(f"{name} by {shared}" for name, shared in factors) or "none"
        found = f"{dtype or 'any type'} by {'any number' if vector is None else brief(vector)}"
        raise DescriptorError(f"tmem plan: scale factors of kind {kind} must be {legal}, found {found}")
    return usual_vector(kind, dtype, arch=arch) if vector is None else vector


def _check_depth(mma: _Mma) -> None:
    """Refuse a K that is not a multiple of the K of any instruction of the kind.

    Raises:
        DescriptorError: naming the K of the instructions.
    """
    rows: list[ShapeRow] = rows_of("SHAPES", mma.arch, mma.kind)
    depths = sorted({row.k for row in rows if row.sparse == mma.sparse})
    if depths and all(mma.k % depth for depth in depths):
        raise DescriptorError(
            f"tmem plan: K is {mma.k}, which is not a multiple of the instruction's K "
            f"({' or '.join(map(str, depths))}); kind {mma.kind}"
        )


def _overlapped(mma: _Mma, parts: list[Part], most: int) -> list[Part]:
    """The parts, the first of the second set of accumulators with the columns that it must share."""
    if not mma.overlapping:
        return parts
    if mma.accumulators != 2 or mma.interleaved:
        found = "interleaved" if mma.interleaved else mma.accumulators
        raise DescriptorError(f"tmem plan: overlapping accumulators must be 2, in columns of their own, found {found}")
    need = sum(-(-part.columns // part.align) * part.align for part in parts)
    shared = -(-max(0, need - most) // ALIGNED_COLUMNS) * ALIGNED_COLUMNS
    first = mma.blocks[0] * mma.blocks[1]
    whole = sum(part.columns for part in parts[:first])
    if shared >= whole:
        rule = f"tmem plan: two accumulators must have columns of their own, need {need} of {most}"
        raise DescriptorError(f"{rule}; each is {whole} columns", proposals=[Advice({"accumulators": 1})])
    parts[first] = replace(parts[first], shared=shared)
    return parts


def _as_blocks(value: Sequence[int]) -> tuple[int, int]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise DescriptorError(f"tmem plan: blocks must be along M and along N, found {brief(value)}")
    m, n = (as_integer(one, "tmem plan: blocks", minimum=1, maximum=COLUMNS) for one in value)
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
                one = "" if mma.blocks[0] == 1 else f".{block}" if number else str(block)
                yield Part(f"E{number}{one}", e.columns, ALIGNED_COLUMNS, fragment=e)


def _as_stored(mma: _Mma) -> str:
    """The type of A as it lies in tensor memory: 4 bits of a kind that has 8-bit types too take a byte."""
    return "e2m1_unpacksmem" if mma.dtype == "e2m1" and mma.kind.endswith("f8f6f4") else mma.dtype


def _accumulators(mma: _Mma) -> Iterator[Part]:
    d = accumulator(
        mma.m, mma.n, mma.d_dtype, cta_group=mma.cta_group, ws=mma.ws, sparse=mma.sparse, kind=mma.kind,
        a_source=mma.a_source, legality=mma.legality, arch=mma.arch,
    )  # fmt: skip
    if as_flag(mma.interleaved, "tmem plan: interleaved") and HALF.name not in d.name:
        raise DescriptorError(f"tmem plan: interleaved accumulators must have M 64, found {mma.m}; {d.name}")
    if mma.interleaved and mma.a_source == "tmem":
        # A and D of one instruction begin at one lane, so that A would have to be there twice.
        raise DescriptorError("tmem plan: interleaved accumulators must have A in smem, found tmem")
    count = mma.accumulators * mma.blocks[0] * mma.blocks[1]
    for i in range(count):
        name = f"D{i}" if count > 1 else "D"
        yield Part(name, d.columns, lane=16 if mma.interleaved and i % 2 else 0, fragment=d)


def _scales(mma: _Mma, number: str) -> Iterator[Part]:
    if not mma.vector:
        return
    rows, halves = mma.m // mma.cta_group * mma.blocks[0], (mma.cta_group, mma.m) == (2, 128)
    stored_k = mma.k // 2 if mma.sparse else mma.k  # the elements that share a factor are counted as A stores them
    sfa, more = _sfa(rows, stored_k, mma.vector)
    yield Part(f"SFA{number}", sfa.columns + more, fragment=replace(sfa, evidence=BELIEVED) if halves else sfa)
    n = padded_rows(mma.n * mma.blocks[1], halves=halves)
    sfb = scale_cells(n, stored_k, mma.vector, halves=halves, name="SFB")
    yield Part(f"SFB{number}", sfb.columns, fragment=sfb)


def _sfa(rows: int, k: int, vector: int) -> tuple[TmemFragment, int]:
    """The factors of A, and columns that are written beside them.

    A block of 512 bytes is copied as a whole: where the CTA has 64 rows, the last copy writes 4 columns for 2.
    """
    if rows == 64:
        return scale_cells_of_64(k, vector), 2
    return scale_cells(padded_rows(rows), k, vector, name="SFA"), 0
