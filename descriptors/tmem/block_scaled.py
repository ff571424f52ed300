"""Derive everything for the block-scaled multiplication of one tile: descriptors, scale factors, columns.

The operands come from ``derive``, the factors from ``scale_factors``, the columns from ``tmem_plan``, and the
instruction descriptor of each K step from ``idesc``, with the scale factor ids that are in the pointers of the step.

Invariant: the pointers of a K step contain the same ids as its instruction descriptor.

>>> multiplication = block_scaled(128, 64, 256, "e2m1", scale_dtype="ue8m0")
>>> from descriptors.smem.instructions.idesc import decode_idesc
>>> words = [decode_idesc(step.idesc, multiplication.kind) for step in multiplication.steps]
>>> ids = [(word["sfa_id"], word["sfb_id"]) for word in words]
>>> [(step.sfa >> 30, step.sfb >> 30) for step in multiplication.steps] == ids
True
>>> [hex(step.sfa) for step in multiplication.steps]
['0x40', '0x80000040', '0x44', '0x80000044']

Kind, scale factors and swizzle follow from the types unless they are given.

Invariant: these defaults are in the instruction tables.

>>> from descriptors.smem.instructions.legality import check_scale
>>> for kind in ("mxf8f6f4", "mxf4", "mxf4nvf4"):
...     dtype, vector, name = factors_of(kind, None, None)
...     assert check_scale(kind, dtype, vector, k=dense_k("sm100", kind)).name == name
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from descriptors.errors import Advice, DescriptorError, advised, as_integer
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derive
from descriptors.smem.derivation.verify import Report, verify
from descriptors.smem.instructions.facts import ScaleRow
from descriptors.smem.instructions.idesc import as_kind, idesc
from descriptors.smem.instructions.legality import usual_vector
from descriptors.smem.instructions.rules import Legality, as_arch, as_mode, check_target_k, dense_k, rows_of, type_name
from descriptors.smem.operands.operand import Matrix, SwizzleMode, SwizzleName, as_element_type
from descriptors.text import Told, word_text
from descriptors.tmem.columns import ColumnPlan, tmem_plan
from descriptors.tmem.geometry import weakest
from descriptors.tmem.landing_proof import Landing
from descriptors.tmem.scale_factors import ScaleFactors, scale_factors
from layoutalg.frozen import frozen, replace


def scaled_kind(
    a: str, b: str, kind: str | None, scale_dtype: str | None, vector: int | None, arch: str = "sm100"
) -> str:
    """Return the block-scaled kind for element types and scale factors.

    Raises:
        IllegalError: if no kind supports the types.
        DescriptorError: if the kind has no scale factors.

    >>> scaled_kind("e4m3", "e2m1", None, None, None), scaled_kind("e2m1", "e2m1", None, "ue4m3", None)
    ('mxf8f6f4', 'mxf4nvf4')
    """
    if scale_dtype is None and not (isinstance(vector, int) and vector == 16):
        scale_dtype = "ue8m0"
    mma_kind = as_kind(a, b, kind=kind, scale_dtype=scale_dtype, scale_vector=vector, arch=arch)
    if not mma_kind.startswith("mx"):
        raise DescriptorError(f"block-scaled: kind {mma_kind} has no scale factors")
    return mma_kind


def factors_of(
    kind: str,
    dtype: str | None,
    vector: int | None,
    *,
    k: int | None = None,
    arch: str = "sm100",
    legality: Legality = "strict",
) -> tuple[str, int, str]:
    """Return the type of the scale factors, the number of elements that share one, and PTX's qualifier.

    Args:
        kind: a kind with scale factors.
        dtype: type of the factors; by default the usual one of the kind.
        vector: number of elements that share a factor; by default the usual one of the kind.
        k: K of the instruction, in stored elements; by default the usual one of the kind.
        arch: the architecture.
        legality: how the tables are read if they differ: mxf8f6f4 with K 64 has one factor per row in PTX's table, and
            two in NVIDIA's compiler, which is the lenient reading.

    Raises:
        DescriptorError: if the kind does not support such factors.

    >>> factors_of("mxf4nvf4", None, None), factors_of("mxf4nvf4", "ue8m0", None)
    (('ue4m3', 16, '4X'), ('ue8m0', 32, '2X'))
    >>> [factors_of("mxf8f6f4", None, None, k=64, arch="sm107", legality=mode)[1] for mode in ("strict", "lenient")]
    [64, 32]
    """
    step = dense_k(arch, kind) if k is None else k
    every: list[ScaleRow] = rows_of("SCALES", arch, kind)
    rows = [row for row in every if step == row.k[0]]
    if not rows:
        depths = ", ".join(map(str, sorted({row.k[0] for row in every})))
        raise DescriptorError(
            f"block-scaled: K of the instruction is {step}, which {arch} does not have; kind {kind} has K {depths}"
        )
    if as_mode(legality) == "lenient" and any(row.factors for row in rows):
        rows = [row for row in rows if not row.factors]
    first = [row for row in rows if dtype in (None, row.dtype) and vector in (None, row.vector, row.shared(step))]
    if not first:
        legal = ", ".join(dict.fromkeys(f"{row.dtype} by {row.vector}" for row in rows))
        request = f"{dtype or 'any'} by {'any' if vector is None else vector}"
        raise DescriptorError(
            f"block-scaled: kind {kind} has no scale factors {request}; supported: {legal}",
            proposals=[Advice({"scale_vector": vector}) for vector in (16, 32)],
        )
    usual_dtype = "ue4m3" if dtype is None and kind == "mxf4nvf4" else first[0].dtype
    usual = usual_dtype, usual_vector(kind, dtype, k=step, arch=arch)
    row = min(first, key=lambda one: (one.dtype != usual[0], one.vector != usual[1]))
    return row.dtype, row.shared(step), row.name


def factors_disputed(kind: str, k: int, arch: str) -> tuple[str, ...]:
    """Return the sources that disagree about the number of factors per row; empty if the sources agree.

    >>> factors_disputed("mxf8f6f4", 32, "sm107"), len(factors_disputed("mxf8f6f4", 64, "sm107"))
    ((), 1)
    """
    rows: list[ScaleRow] = [row for row in rows_of("SCALES", arch, kind) if k == row.k[0]]
    return tuple(row.disputed for row in rows if row.disputed) if any(row.factors for row in rows) else ()


def vector_of(qualifier: str) -> str:
    """Return the part of the opcode that names the number of elements that share a factor.

    >>> vector_of("4X"), vector_of("block16")
    ('.scale_vec::4X', '.block16')
    """
    return f".scale_vec::{qualifier}" if qualifier.endswith("X") else f".{qualifier}"


def widest_swizzle(k: int, dtype: str) -> SwizzleMode:
    """Return the widest swizzle whose span divides the rows of a K-major tile.

    >>> str(widest_swizzle(64, "e2m1")), str(widest_swizzle(256, "e2m1"))
    ('32B', '128B')
    """
    row = k * as_element_type(dtype).storage_bits // 8
    fitting = [mode for mode in (SwizzleMode.B128, SwizzleMode.B64, SwizzleMode.B32) if row % mode.span_bytes == 0]
    return fitting[0] if fitting else SwizzleMode.NONE


#: An operand: its extent along M or N, its type and swizzle, and its name.
_Side: TypeAlias = tuple[int, str, SwizzleMode | SwizzleName | None, Matrix]


class MmaStep(NamedTuple):
    """A ``tcgen05.mma``: its operand descriptors at address 0, its instruction descriptor, and its factor pointers."""

    a: int
    b: int
    idesc: int
    sfa: int
    sfb: int


@frozen
class BlockScaled(Told):
    """The block-scaled multiplication of a tile, from the view of one CTA.

    Args:
        kind: the kind of the instructions.
        qualifier: qualifier of the scale factors: ``1X``, ``2X``, ``4X``, ``block16`` or ``block32``.
        m: M of the instruction.
        n: N of the instruction.
        k: K of the tile.
        cta_group: 1 or 2.
        scale_dtype: type of the factors.
        a: operand A in shared memory.
        b: operand B in shared memory.
        sfa: the factors of A.
        sfb: the factors of B.
        plan: the tensor-memory columns.
        steps: the instructions along K.
    """

    kind: str
    qualifier: str
    m: int
    n: int
    k: int
    cta_group: int
    scale_dtype: str
    a: Derivation
    b: Derivation
    sfa: ScaleFactors
    sfb: ScaleFactors
    plan: ColumnPlan
    steps: tuple[MmaStep, ...]

    @property
    def headline(self) -> str:
        """The answer in one line."""
        words = ", ".join(word_text(one) for one in self.steps[0][:2])
        return f"{self.ptx}: A and B {words}, idesc {word_text(self.steps[0].idesc, 32)}, {self.plan.headline}"

    @property
    def ptx(self) -> str:
        """The instruction, without operands.

        >>> block_scaled(128, 8, 64, "e2m1", scale_dtype="ue4m3").ptx
        'tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X'
        """
        return f"tcgen05.mma.cta_group::{self.cta_group}.kind::{self.kind}.block_scale{vector_of(self.qualifier)}"

    def verify(self) -> tuple[Report, Report, Landing, Landing]:
        """Verify the descriptors of both operands with the read model, and the copies of both scale factors.

        >>> [str(report) for report in block_scaled(128, 8, 64, "e2m1", scale_dtype="ue4m3").verify()[:2]]
        ['proved: 8192 elements in 1 subtile', 'proved: 512 elements in 1 subtile']
        """
        return verify(self.a), verify(self.b), self.sfa.verify(), self.sfb.verify()

    @property
    def evidence(self) -> str:
        """Weakest grade of evidence of columns and scale factors."""
        if self.plan.arch != "sm100":
            return self.plan.evidence
        return weakest(self.plan.evidence, self.sfa.evidence, self.sfb.evidence)


@advised
def block_scaled(
    m: int,
    n: int,
    k: int,
    a_dtype: str,
    b_dtype: str | None = None,
    *,
    scale_dtype: str | None = None,
    scale_vector: int | None = None,
    kind: str | None = None,
    cta_group: int = 1,
    a_swizzle: SwizzleMode | SwizzleName | None = None,
    b_swizzle: SwizzleMode | SwizzleName | None = None,
    accumulators: int = 1,
    step: int | None = None,
    arch: str = "sm100",
    legality: Legality = "strict",
) -> BlockScaled:
    """Derive the descriptors, layouts and columns of a block-scaled multiplication of one K-major tile.

    Args:
        m: M of the instruction, over both CTAs if ``cta_group`` is 2.
        n: N of the instruction.
        k: K of the tile: one or more K steps.
        a_dtype: element type of A as stored in shared memory: ``e2m1`` is packed, ``e2m1_unpacksmem`` is not.
        b_dtype: element type of B; by default that of A.
        scale_dtype: ``ue8m0`` or ``ue4m3``; by default the usual one of the kind.
        scale_vector: number of elements that share a factor; by default the usual one of the kind.
        kind: ``mxf8f6f4``, ``mxf4`` or ``mxf4nvf4``; by default inferred from the types.
        cta_group: 1 or 2.
        a_swizzle: swizzle of A; by default the widest whose span divides a row of the tile.
        b_swizzle: swizzle of B, likewise.
        accumulators: number of accumulators kept at once.
        step: K of the instruction; by default the usual one of the kind. With 96, K of the tile is a multiple of 768.
        arch: the architecture.
        legality: how strictly the instruction tables are read.

    Raises:
        IllegalError: if the instruction does not exist.
        DescriptorError: if an argument is malformed, or something does not fit.

    >>> multiplication = block_scaled(128, 8, 64, "e2m1", scale_dtype="ue4m3")
    >>> [hex(word) for word in multiplication.steps[0][:3]], multiplication.plan.allocate
    (['0xc000401000010000', '0xc000400000010000', '0x8020480'], 32)
    """
    b_type = a_dtype if b_dtype is None else b_dtype
    arch = as_arch(arch)
    mma_kind = scaled_kind(a_dtype, b_type, kind, scale_dtype, scale_vector, arch)
    step = dense_k(arch, mma_kind) if step is None else as_integer(step, "block-scaled: K of the instruction")
    check_target_k(arch, mma_kind, step)
    dtype, vector, qualifier = factors_of(mma_kind, scale_dtype, scale_vector, k=step, arch=arch, legality=legality)
    depth = as_integer(k, "block-scaled: K", minimum=1, maximum=1 << 14)
    if depth % step:
        raise DescriptorError(
            f"block-scaled: K is {depth}, which is not a multiple of the instruction's K ({step}); kind {mma_kind}"
        )
    types = type_name(a_dtype), type_name(b_type)
    m, cta_group = as_integer(m, "block-scaled: M"), as_integer(cta_group, "block-scaled: cta_group")
    plan = tmem_plan(
        m, n, depth, types[0], b_dtype=types[1], kind=mma_kind, cta_group=cta_group, scale_dtype=dtype,
        scale_vector=vector, accumulators=accumulators, arch=arch, legality=legality,
    )  # fmt: skip
    sides: tuple[_Side, _Side] = (m, a_dtype, a_swizzle, "A"), (n, b_type, b_swizzle, "B")
    a, b = (_operand(side, depth, step, mma_kind, cta_group, legality, arch) for side in sides)
    twofold = (cta_group, m) == (2, 128)
    sfa = scale_factors(m // cta_group, depth, vector, step=step, of_64=twofold)
    sfb = scale_factors(n, depth, vector, step=step, halves=twofold)

    def word(sfa_id: int, sfb_id: int) -> int:
        return idesc(
            *types, m=m, n=n, k=step, kind=mma_kind, arch=arch, scale_dtype=dtype, scale_vector=vector,
            cta_group=cta_group, sfa_id=sfa_id,
            sfb_id=sfb_id, legality=legality,
        )  # fmt: skip

    steps = []
    for i, (at_a, at_b) in enumerate(zip(sfa.places, sfb.places, strict=True)):
        pointers = (at.pointer(plan.part(name).column) for at, name in ((at_a, "SFA"), (at_b, "SFB")))
        steps.append(MmaStep(_word(a, i), _word(b, i), word(at_a.byte, at_b.byte), *pointers))
    sfa, sfb = (replace(factors, first=plan.part(name).column) for factors, name in ((sfa, "SFA"), (sfb, "SFB")))
    return BlockScaled(mma_kind, qualifier, m, n, depth, cta_group, dtype, a, b, sfa, sfb, plan, tuple(steps))


def _operand(side: _Side, k: int, step: int, kind: str, cta_group: int, legality: Legality, arch: str) -> Derivation:
    """Return an operand of one CTA, not verified yet."""
    mn, dtype, swizzle_name, which = side
    swizzle = widest_swizzle(k, dtype) if swizzle_name is None else swizzle_name
    return derive(
        (mn // cta_group, k), dtype, "K", swizzle, (mn // cta_group, step), operand=which, kind=kind,
        cta_group=cta_group, arch=arch, legality=legality, verify=False,
    )  # fmt: skip


def _word(operand: Derivation, step: int) -> int:
    word = operand.words()[0][step]
    assert isinstance(word, int)
    return word
