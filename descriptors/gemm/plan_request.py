"""What a plan is asked for: the instruction as people say it and the tile they stage, checked and typed.

Law: every value is what the rooms behind work on, and the tile is whole instructions in every direction.

>>> loop = main_loop("m64n128k16", "bf16", tile=(128, 256, 64))
>>> loop.arch, loop.kind, loop.blocks, [t == b * e for t, b, e in zip(loop.tile, loop.blocks, loop.extents)]
('sm90', 'f16', (2, 2, 4), [True, True, True])
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from operator import floordiv, mul, ne

from descriptors.errors import Advice, DescriptorError, as_flag, as_integer, brief
from descriptors.gemm.metadata import arrangement
from descriptors.gemm.multicast import as_cluster
from descriptors.smem.instructions.facts import ShapeRow
from descriptors.smem.instructions.idesc import as_kind
from descriptors.smem.instructions.instruction_name import InstructionName, is_mma, read_instruction
from descriptors.smem.instructions.legality import check_extents, check_operand, check_transposed_b, check_types
from descriptors.smem.instructions.rules import (
    MODES,
    Legality,
    dense_k,
    kind_of,
)
from descriptors.smem.operands.atoms import multiples, replaced
from descriptors.smem.operands.operand import (
    ElementType,
    Major,
    MajorName,
    SwizzleMode,
    as_element_type,
    as_major,
    choose,
)
from descriptors.smem.words.descriptor import Arch, architecture, assumed_architecture
from descriptors.targets import has_tcgen05, has_wgmma
from descriptors.text import extents_text
from layoutalg.frozen import frozen

#: The most stages that are planned; far more than any kernel has.
MOST_STAGES = 64

#: Where A may lie, as people say it, and as the tables of instructions do.
SOURCES = {"smem": "smem", "shared": "smem", "registers": "rmem", "rmem": "rmem"}


#: Type of the factors, and elements along K that share one, where accumulators are promoted: sm90, 8-bit floats.
PROMOTED = ("f32", 128)
#: Of sm100, where as many share a power of two: the instructions of kind mxf8f6f4, of K 32, take it four times.
REPEATED, REPEATED_KIND, _REPEATED_K = ("ue8m0", 128), "mxf8f6f4", 32


@frozen
class MainLoop:
    """An instruction and the tile of one stage, with nothing left open but the layouts.

    Args:
        arch: the architecture.
        kind: the kind of instruction, as the tables have it.
        extents: M, N and K of the instruction; M over both CTAs where ``cta_group`` is 2.
        tile: M, N and K of a stage, over both CTAs.
        a, b: the element types in shared memory.
        d: the type of the accumulators.
        a_major, b_major: the contiguous dimensions.
        cta_group: CTAs that work on one instruction.
        scale: type of the scale factors and elements that share one; None without.
        legality: how the tables of instructions are read.
        row: the row of the tables that allows the shape; None where nothing is checked.
        a_source: where the instruction takes A from: ``smem``, or ``rmem``, the registers of its warpgroup.
        cluster: CTAs along M and along N that share their copies.
        sparse: whether A is stored without its zeros; K counts them.
    """

    arch: Arch
    kind: str
    extents: tuple[int, int, int]
    tile: tuple[int, int, int]
    a: ElementType
    b: ElementType
    d: str
    a_major: Major
    b_major: Major
    cta_group: int = 1
    scale: tuple[str, int] | None = None
    legality: Legality = "strict"
    row: ShapeRow | None = None
    a_source: str = "smem"
    cluster: tuple[int, int] = (1, 1)
    sparse: bool = False

    @property
    def name(self) -> str:
        """The instruction's shape: ``m64n128k16``."""
        return "m{}n{}k{}".format(*self.extents)

    @property
    def instruction_scale(self) -> tuple[str, int] | None:
        """The same as one instruction has it: a factor for 128 elements is one for 32 that four K blocks take."""
        return (self.scale[0], 32) if self.scale == REPEATED else self.scale

    def stored(self, matrix: str, k: int) -> int:
        """How many of so many elements along K an operand stores: half, of a sparse A."""
        return k // 2 if self.sparse and matrix == "A" else k

    @property
    def blocks(self) -> tuple[int, int, int]:
        """Instructions along M, N and K of the tile."""
        m, n, k = (whole // one for whole, one in zip(self.tile, self.extents, strict=True))
        return m, n, k


def main_loop(
    instruction: str | Sequence[int],
    dtype: str | ElementType,
    *,
    tile: Sequence[int],
    b_dtype: str | ElementType | None = None,
    d_dtype: str | None = None,
    arch: str | None = None,
    kind: str | None = None,
    a_major: Major | MajorName = Major.K,
    b_major: Major | MajorName = Major.K,
    cta_group: int | None = None,
    scale_dtype: str | None = None,
    scale_vector: int | None = None,
    a_source: str = "smem",
    cluster: Sequence[int] | None = None,
    sparse: bool = False,
    legality: Legality = "strict",
) -> MainLoop:
    """Read and check the arguments of ``plan`` that name the instruction and the tile.

    Args:
        instruction, dtype, tile, b_dtype, d_dtype, arch, kind, a_major, b_major, cta_group, scale_dtype,
        scale_vector, a_source, cluster, sparse, legality: as ``plan`` has them.

    Raises:
        IllegalError: if there is no such instruction; the nearest are named.
        DescriptorError: if an argument is malformed, or the tile is not whole instructions.

    >>> main_loop("m64n100k16", "bf16", tile=(64, 100, 64))
    Traceback (most recent call last):
    descriptors.smem.instructions.rules.IllegalError: legality: N must be 8..256 step 8, found 100; sm90 f16 dense,
    M 64, K 16; nearest are m64n96k16, m64n104k16 (PTX ISA 9.1, wgmma.mma_async (matrix shape; register fragments
    and shared-memory layout))
    """
    name, whole = named_instruction(instruction), three(tile, "the tile")
    extents = name.extents
    if is_mma(name.text, arch):
        raise DescriptorError(f"plan: mma.sync is planned by mma_plan; instruction = {name.text or extents}")
    if name.ws:
        raise DescriptorError(f"plan: the weight-stationary form is not planned; instruction = {name.text}")
    a, b = types_of(name, dtype, b_dtype)
    vector = None if scale_vector is None else as_integer(scale_vector, "plan: scale_vector")
    if (vector, name.scale_vector) != (REPEATED[1], 32):  # four instructions, of 32 each, share a factor for 128
        vector = name.settle("scale_vector", name.scale_vector, vector, "plan")
    scaled = scale_dtype is not None or vector not in (None, PROMOTED[1])
    pair = name.settle("cta_group", name.cta_group, cta_group, "plan")
    pair = 1 if pair is None else as_integer(pair, "plan: cta_group", minimum=1, maximum=2)
    kind = name.settle("kind", name.kind, kind, "plan")
    newer = pair == 2 or kind is not None or scaled
    of = name.settle_arch(arch, "plan") or architecture(assumed_architecture(m=None if newer else extents[0]))
    mode = choose("plan: legality", legality, MODES)
    named = kind_of_request(of, a, b, kind, scale_dtype, vector)
    d = name.settle("d_dtype", name.d, d_dtype, "plan")
    d = ("s32" if named in ("i8", "ti16") else "f32") if d is None else d
    majors = as_major(a_major), as_major(b_major)
    place = choose("plan: a_source", a_source, SOURCES)
    if place == "rmem" and not has_wgmma(of):
        raise DescriptorError(f"plan: A in registers must be of sm90, where wgmma reads them, found arch {of}")
    zeros_left_out = as_flag(sparse, "plan: sparse") or name.sparse
    usual = dense_k(of, named) * (1 + zeros_left_out)
    check_types(of, named, a, b, d, wide=extents[2] > usual, legality=mode)
    row = _shape(of, named, extents, pair, mode, place, zeros_left_out, whole)
    stored_k = extents[2] // (1 + zeros_left_out)
    # The order of registers is the instruction's own: A gets there from a tile of any major.
    read = [(b, majors[1])] if place == "rmem" else [(a, majors[0]), (b, majors[1])]
    for element, major in read:
        check_operand(of, named, element, major, _any_swizzle(element, major, of), legality=mode)
    check_transposed_b(
        of, named, n=extents[1], b_dtype=b, b_major=majors[1], cta_group=pair, m=extents[0], a_source=place,
        sparse=zeros_left_out, legality=mode,
    )  # fmt: skip
    loop = MainLoop(
        arch=of, kind=named, extents=extents, tile=whole, a=a, b=b, d=d.casefold(), a_major=majors[0],
        b_major=majors[1], cta_group=pair, scale=_scale(of, named, stored_k, scale_dtype, vector, mode, zeros_left_out),
        legality=mode, row=row, a_source=place, cluster=as_cluster(cluster, pair), sparse=zeros_left_out,
    )  # fmt: skip
    _check_tile(loop)
    if loop.scale == REPEATED:
        check_groups(loop.tile)
    if loop.sparse:
        _check_sparse(loop)
    if has_wgmma(loop.arch) and loop.scale is not None and loop.d != "f32":
        raise DescriptorError(f"plan: accumulators that are promoted must be f32, found {loop.d}")
    return loop


def named_instruction(instruction: object) -> InstructionName:
    """Return the instruction of a name, or of M, N and K.

    Raises:
        DescriptorError: if it names none.

    >>> named_instruction("wgmma.m64n8k32").mnemonic, named_instruction((128, 256, 16)).extents
    ('wgmma', (128, 256, 16))
    """
    if isinstance(instruction, (tuple, list)):
        return InstructionName("", "", three(instruction, "the instruction"))
    return read_instruction(instruction, "plan")


def types_of(
    name: InstructionName, dtype: str | ElementType, b_dtype: str | ElementType | None
) -> tuple[ElementType, ElementType]:
    """Return the types of A and of B: those that were given, which must be those of the name, if it states any.

    Raises:
        DescriptorError: if a given type contradicts the name.

    >>> types_of(named_instruction("m64n128k32.f32.e4m3.e5m2"), "e4m3", None)[1].name
    'e5m2'
    """
    a = as_element_type(name.settle("dtype", name.a, as_element_type(dtype), "plan"))
    b = name.settle("b_dtype", name.b, None if b_dtype is None else as_element_type(b_dtype), "plan")
    return a, a if b is None else as_element_type(b)


def three(value: object, what: str, maximum: int = 1 << 16) -> tuple[int, int, int]:
    """Three extents that somebody typed, each of at most so much.

    Raises:
        DescriptorError: if they are something else.

    >>> three([128, 128, 64], "the tile")
    (128, 128, 64)
    """
    if not isinstance(value, (tuple, list)) or len(value) != 3:
        near = "; N x K alone is an operand, which descriptors derive takes" if what == "the tile" else ""
        raise DescriptorError(f"plan: {what} must be M x N x K, found {brief(value)}{near}")
    m, n, k = (as_integer(one, f"plan: an extent of {what}", minimum=1, maximum=maximum) for one in value)
    return m, n, k


def kind_of_request(
    arch: str, a: ElementType, b: ElementType, kind: str | None, scale_dtype: str | None, vector: int | None
) -> str:
    """The kind that was named, or the one that types and scale factors mean.

    Raises:
        IllegalError: if no kind takes the types.
        DescriptorError: if there is no such kind.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> e2m1 = as_element_type("e2m1")
    >>> kind_of_request("sm100", e2m1, e2m1, None, None, 16)
    'mxf4nvf4'
    """
    vector = None if vector is None else as_integer(vector, "plan: scale_vector")
    if has_wgmma(arch):
        known = kind_of(arch, a, b)
        promoted = known == "f8" and vector == PROMOTED[1] and scale_dtype in (None, PROMOTED[0])
        scaled = not promoted and (scale_dtype is not None or vector is not None)
        if kind not in (None, known) or scaled:
            what = f"kind {brief(kind)}" if kind not in (None, known) else "scale factors"
            raise DescriptorError(
                f"plan: a kind with its options must be of sm100 here, found {what}; arch = sm90",
                proposals=[
                    Advice({"scale_vector": PROMOTED[1], "scale_dtype": PROMOTED[0]}),
                    Advice({"kind": None, "scale_vector": None, "scale_dtype": None}),
                ],
            )
        return known
    scale = "ue8m0" if scale_dtype is None and vector in (32, REPEATED[1]) else scale_dtype
    if vector == REPEATED[1]:
        named = as_kind(a, b, kind=kind, scale_dtype=scale, scale_vector=32, arch=arch)
        if (named, scale) != (REPEATED_KIND, REPEATED[0]):
            raise DescriptorError(
                f"plan: a factor for {vector} elements must be {REPEATED[0]} of kind {REPEATED_KIND} in {arch}, whose "
                f"instructions of K 32 take one factor, found {scale} of {named}"
            )
        return named
    return as_kind(a, b, kind=kind, scale_dtype=scale, scale_vector=vector, arch=arch)


def _any_swizzle(element: ElementType, major: Major, arch: str) -> SwizzleMode:
    """A mode that an operand has if it may have this major at all."""
    special = has_tcgen05(arch) and major is Major.MN and element.storage_bits == 32
    return SwizzleMode.B128_BASE32B if special else SwizzleMode.B128


def _scale(
    arch: str, kind: str, k: int, dtype: str | None, vector: int | None, legality: Legality, sparse: bool
) -> tuple[str, int] | None:
    if kind == "f8":
        return None if vector is None else PROMOTED
    if not kind.startswith("mx"):
        if dtype is not None or vector is not None:
            raise DescriptorError(
                f"plan: scale factors must be of a kind that has them, found kind {kind}",
                proposals=[Advice({"scale_vector": 32})],
            )
        return None
    from descriptors.tmem.block_scaled import factors_of

    if vector == REPEATED[1]:
        if sparse:
            raise DescriptorError(
                "plan: a factor for 128 elements must be of a dense A, found a sparse one",
                proposals=[Advice({"scale_vector": 16}), Advice({"scale_vector": 32})],
            )
        if k != _REPEATED_K:
            raise DescriptorError(
                f"plan: a factor for 128 elements must be of instructions of K {_REPEATED_K}, found {k}"
            )
        return REPEATED
    try:
        return factors_of(kind, dtype, vector, k=k, arch=arch, legality=legality)[:2]
    except DescriptorError as error:
        if sparse and vector is not None:
            error.args = (f"{error}; a sparse A has its elements counted as it stores them, half of those along K",)
        raise


def _shape(
    arch: str,
    kind: str,
    extents: tuple[int, int, int],
    pair: int,
    legality: Legality,
    a_source: str,
    sparse: bool,
    tile: tuple[int, int, int],
) -> ShapeRow | None:
    """The row that allows the shape; a refusal that names the nearest legal ones."""

    def advise(near: tuple[int, int, int]) -> Advice:
        whole = tuple(-(-extent // part) * part for extent, part in zip(tile, near, strict=True))
        return Advice({"instruction": near, "tile": whole})

    return check_extents(
        arch, kind, extents, cta_group=pair, sparse=sparse, a_source=a_source, legality=legality, advise=advise
    )


def _check_sparse(loop: MainLoop) -> None:
    """Refuse what this plan knows no metadata for."""
    if has_wgmma(loop.arch) and loop.scale is not None:
        raise DescriptorError(
            "plan: accumulators that are promoted must be of a dense A, found a sparse one",
            proposals=[Advice({"scale_vector": None, "scale_dtype": None})],
        )
    one = arrangement(loop.a, loop.arch)
    if loop.tile[2] % one.covered:
        raise DescriptorError(
            f"plan: tile K is {loop.tile[2]}, which is not a multiple of the {one.covered} whose metadata are packed "
            f"together; tile = {extents_text(loop.tile)}",
            proposals=resized(loop.tile, 2, one.covered),
        )
    rows = 128 * loop.cta_group
    if has_tcgen05(loop.arch) and loop.extents[0] != rows:
        raise DescriptorError(
            "plan: M of a sparse instruction must be 128 rows a CTA in sm100, of which alone CUTLASS has metadata, "
            f"found {loop.extents[0]}; cta_group = {loop.cta_group}",
            proposals=[
                Advice({"instruction": (rows, *loop.extents[1:]), "tile": (whole, *loop.tile[1:])})
                for whole in (loop.tile[0], *multiples(loop.tile[0], rows))
            ],
        )


def check_groups(tile: tuple[int, int, int]) -> None:
    """Refuse a tile whose K is no multiple of the elements that share a factor, where those are 128.

    >>> check_groups((128, 128, 64))
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: plan: tile K is 64, which is not a multiple of the 128 elements that share a
    factor; tile = 128x128x64
    """
    group = PROMOTED[1]
    if tile[2] % group:
        raise DescriptorError(
            f"plan: tile K is {tile[2]}, which is not a multiple of the {group} elements that share a factor; tile = "
            f"{extents_text(tile)}",
            proposals=resized(tile, 2, group),
        )


def smaller(tile: tuple[int, int, int], parts: tuple[int, int, int]) -> list[Advice]:
    """Return smaller tiles of whole parts: those with one extent changed first, then the largest.

    >>> print(*smaller((64, 512, 128), (64, 256, 16))[:3])
    tile=(64, 256, 128) tile=(64, 512, 64) tile=(64, 512, 32)
    """
    counts = tuple(map(floordiv, tile, parts))
    sizes = [sorted({one for part in (1, 2, 4, 8, count) if (one := count // part)}) for count in counts]
    others = [blocks for blocks in product(*sizes) if blocks != counts]
    others.sort(key=lambda one: (sum(map(ne, one, counts)), -prod(one)))
    return [Advice({"tile": tuple(map(mul, blocks, parts))}) for blocks in others]


def resized(tile: tuple[int, int, int], mode: int, part: int) -> list[Advice]:
    """Return the tiles with a multiple of ``part`` in one mode, the nearest first."""
    near = multiples(tile[mode], part)
    return [Advice({"tile": replaced(tile, mode, whole)}) for whole in (*near, near[-1] + part, near[-1] + 2 * part)]


def _check_tile(loop: MainLoop) -> None:
    about = f"tile = {extents_text(loop.tile)}, instruction = {loop.name}"
    for mode, (letter, whole, part) in enumerate(zip("MNK", loop.tile, loop.extents, strict=True)):
        if whole % part:
            m, n, k = loop.tile
            tiles = resized(loop.tile, mode, part)
            raise DescriptorError(
                f"plan: tile {letter} is {whole}, which is not a multiple of the instruction's {letter} ({part}); "
                f"{about}",
                proposals=[*tiles[:2], Advice({"tile": (m, k, n)}, "if you wrote M x K x N"), *tiles[2:]],
            )
