"""Check the arguments of ``plan`` that name the instruction and the tile, and return them as a typed ``MainLoop``.

Invariant: the tile is a whole number of instructions along M, N and K.

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

#: The largest number of stages that can be planned; far more than any kernel uses.
MOST_STAGES = 64

#: Accepted names of the memory from which the instruction reads A, and the name in the tables of instructions.
SOURCES = {"smem": "smem", "shared": "smem", "registers": "rmem", "rmem": "rmem"}


#: Type of the scale factors of promoted accumulators (sm90, 8-bit floats), and elements along K that share a factor.
PROMOTED = ("f32", 128)
#: The same for tcgen05, where four instructions of kind mxf8f6f4 with K 32 use one factor; then the kind and that K.
REPEATED, REPEATED_KIND, _REPEATED_K = ("ue8m0", 128), "mxf8f6f4", 32


@frozen
class MainLoop:
    """An instruction and the tile of one stage. Only the layouts are not chosen yet.

    Args:
        arch: the architecture.
        kind: the kind of instruction, as named in the tables of instructions.
        extents: M, N and K of the instruction; M over both CTAs if ``cta_group`` is 2.
        tile: M, N and K of a stage, in elements, over both CTAs.
        a, b: the element types in shared memory.
        d: the type of the accumulators.
        a_major, b_major: the contiguous dimensions.
        cta_group: number of CTAs that execute one instruction together.
        scale: type of the scale factors and number of elements that share one; None without scale factors.
        legality: how the tables of instructions are read.
        row: the table row that allows the shape; None if the shape is not checked.
        a_source: where the instruction reads A from: ``smem``, or ``rmem``, the registers of its warpgroup.
        cluster: CTAs along M and along N that share their copies.
        sparse: whether A is stored without its zeros. K counts the zeros.
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
        """The scale of one instruction: if 128 elements share a factor, four K blocks of 32 elements each use it."""
        return (self.scale[0], 32) if self.scale == REPEATED else self.scale

    def stored(self, matrix: str, k: int) -> int:
        """Return how many of ``k`` elements along K an operand stores: half of them if it is a sparse A."""
        return k // 2 if self.sparse and matrix == "A" else k

    @property
    def blocks(self) -> tuple[int, int, int]:
        """Number of instructions along M, N and K of the tile."""
        m, n, k = (whole // part for whole, part in zip(self.tile, self.extents, strict=True))
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
        scale_vector, a_source, cluster, sparse, legality: as in ``plan``.

    Raises:
        IllegalError: if the instruction does not exist; the message names the nearest shapes.
        DescriptorError: if an argument is malformed, or the tile is not a whole number of instructions.

    >>> main_loop("m64n100k16", "bf16", tile=(64, 100, 64))
    Traceback (most recent call last):
    descriptors.smem.instructions.rules.IllegalError: legality: N is 100, but must be 8..256 step 8; for sm90 f16 dense,
    M 64, K 16; the nearest shapes are m64n96k16, m64n104k16 (PTX ISA 9.1, wgmma.mma_async (matrix shape; register
    fragments and shared-memory layout))
    """
    name, tile_extents = named_instruction(instruction), three(tile, "the tile")
    extents = name.extents
    if is_mma(name.text, arch):
        raise DescriptorError(f"plan: {name.text or extents} is an instruction of mma.sync, which mma_plan plans")
    if name.ws:
        raise DescriptorError(f"plan: weight-stationary instructions are not supported; instruction = {name.text}")
    a, b = types_of(name, dtype, b_dtype)
    vector = None if scale_vector is None else as_integer(scale_vector, "plan: scale_vector")
    if (vector, name.scale_vector) != (REPEATED[1], 32):  # four instructions, of 32 each, share a factor for 128
        vector = name.settle("scale_vector", name.scale_vector, vector, "plan")
    scaled = scale_dtype is not None or vector not in (None, PROMOTED[1])
    pair = name.settle("cta_group", name.cta_group, cta_group, "plan")
    pair = 1 if pair is None else as_integer(pair, "plan: cta_group", minimum=1, maximum=2)
    kind = name.settle("kind", name.kind, kind, "plan")
    newer = pair == 2 or kind is not None or scaled
    target = name.settle_arch(arch, "plan") or architecture(assumed_architecture(m=None if newer else extents[0]))
    mode = choose("plan: legality", legality, MODES)
    named = kind_of_request(target, a, b, kind, scale_dtype, vector)
    d = name.settle("d_dtype", name.d, d_dtype, "plan")
    d = ("s32" if named in ("i8", "ti16") else "f32") if d is None else d
    majors = as_major(a_major), as_major(b_major)
    place = choose("plan: a_source", a_source, SOURCES)
    if place == "rmem" and not has_wgmma(target):
        raise DescriptorError(f"plan: A in registers is not supported on {target}, only on sm90 (wgmma)")
    zeros_left_out = as_flag(sparse, "plan: sparse") or name.sparse
    usual = dense_k(target, named) * (1 + zeros_left_out)
    check_types(target, named, a, b, d, wide=extents[2] > usual, legality=mode)
    row = _shape(target, named, extents, pair, mode, place, zeros_left_out, tile_extents)
    stored_k = extents[2] // (1 + zeros_left_out)
    # A in registers is loaded from a tile of either major, because the instruction defines the register order.
    operands = [(b, majors[1])] if place == "rmem" else [(a, majors[0]), (b, majors[1])]
    for element, major in operands:
        check_operand(target, named, element, major, _any_swizzle(element, major, target), legality=mode)
    check_transposed_b(
        target, named, n=extents[1], b_dtype=b, b_major=majors[1], cta_group=pair, m=extents[0], a_source=place,
        sparse=zeros_left_out, legality=mode,
    )  # fmt: skip
    scale = _scale(target, named, stored_k, scale_dtype, vector, mode, zeros_left_out)
    loop = MainLoop(
        arch=target, kind=named, extents=extents, tile=tile_extents, a=a, b=b, d=d.casefold(), a_major=majors[0],
        b_major=majors[1], cta_group=pair, scale=scale, legality=mode, row=row, a_source=place,
        cluster=as_cluster(cluster, pair), sparse=zeros_left_out,
    )  # fmt: skip
    _check_tile(loop)
    if loop.scale == REPEATED:
        check_groups(loop.tile)
    if loop.sparse:
        _check_sparse(loop)
    if has_wgmma(loop.arch) and loop.scale is not None and loop.d != "f32":
        raise DescriptorError(
            f"plan: the accumulators are {loop.d}, but with scale factors sm90 needs f32 accumulators"
        )
    return loop


def named_instruction(instruction: object) -> InstructionName:
    """Return the instruction given by its name, or by M, N and K.

    Raises:
        DescriptorError: if the name is not an instruction's.

    >>> named_instruction("wgmma.m64n8k32").mnemonic, named_instruction((128, 256, 16)).extents
    ('wgmma', (128, 256, 16))
    """
    if isinstance(instruction, (tuple, list)):
        return InstructionName("", "", three(instruction, "the instruction"))
    return read_instruction(instruction, "plan")


def types_of(
    name: InstructionName, dtype: str | ElementType, b_dtype: str | ElementType | None
) -> tuple[ElementType, ElementType]:
    """Return the types of A and of B, which must agree with the instruction's name if the name states types.

    Raises:
        DescriptorError: if a given type contradicts the name.

    >>> types_of(named_instruction("m64n128k32.f32.e4m3.e5m2"), "e4m3", None)[1].name
    'e5m2'
    """
    a = as_element_type(name.settle("dtype", name.a, as_element_type(dtype), "plan"))
    b = name.settle("b_dtype", name.b, None if b_dtype is None else as_element_type(b_dtype), "plan")
    return a, a if b is None else as_element_type(b)


def three(value: object, subject: str, maximum: int = 1 << 16) -> tuple[int, int, int]:
    """Return M, N and K from a caller's value.

    Args:
        value: a tuple or list of three extents.
        subject: the subject of messages, such as ``"the tile"``.
        maximum: the largest allowed extent.

    Raises:
        DescriptorError: if the value is not three integers from 1 to ``maximum``.

    >>> three([128, 128, 64], "the tile")
    (128, 128, 64)
    """
    if not isinstance(value, (tuple, list)) or len(value) != 3:
        note = (
            "; a tile of one operand (MN x K) is an argument of `descriptors derive`" if subject == "the tile" else ""
        )
        raise DescriptorError(f"plan: {subject} is {brief(value)}, not M x N x K{note}")
    m, n, k = (as_integer(extent, f"plan: an extent of {subject}", minimum=1, maximum=maximum) for extent in value)
    return m, n, k


def kind_of_request(
    arch: str, a: ElementType, b: ElementType, kind: str | None, scale_dtype: str | None, vector: int | None
) -> str:
    """Return the given kind after checking it, or the kind that the types and scale factors imply.

    Raises:
        IllegalError: if no kind accepts the types.
        DescriptorError: if the kind does not exist, or does not support the types or scale factors.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> e2m1 = as_element_type("e2m1")
    >>> kind_of_request("sm100", e2m1, e2m1, None, None, 16)
    'mxf4nvf4'
    """
    vector = None if vector is None else as_integer(vector, "plan: scale_vector")
    if has_wgmma(arch):
        implied = kind_of(arch, a, b)
        promoted = implied == "f8" and vector == PROMOTED[1] and scale_dtype in (None, PROMOTED[0])
        scaled = not promoted and (scale_dtype is not None or vector is not None)
        if kind not in (None, implied) or scaled:
            factors = (
                {"scale_dtype": scale_dtype, "scale_vector": vector} if kind in (None, implied) else {"kind": kind}
            )
            names = " with ".join(f"{name} {brief(value)}" for name, value in factors.items() if value is not None)
            raise DescriptorError(
                f"plan: {names} is not supported for {a} by {b} on {arch}",
                proposals=[
                    Advice({"scale_vector": PROMOTED[1], "scale_dtype": PROMOTED[0]}),
                    Advice({"kind": None, "scale_vector": None, "scale_dtype": None}),
                ],
            )
        return implied
    scale = "ue8m0" if scale_dtype is None and vector in (32, REPEATED[1]) else scale_dtype
    if vector == REPEATED[1]:
        named = as_kind(a, b, kind=kind, scale_dtype=scale, scale_vector=32, arch=arch)
        if (named, scale) != (REPEATED_KIND, REPEATED[0]):
            raise DescriptorError(
                f"plan: kind {named} with {scale} scale factors does not support one factor for {vector} elements; on "
                f"{arch} only kind {REPEATED_KIND} with {REPEATED[0]} does, whose instructions of K 32 use one factor"
            )
        return named
    return as_kind(a, b, kind=kind, scale_dtype=scale, scale_vector=vector, arch=arch)


def _any_swizzle(element: ElementType, major: Major, arch: str) -> SwizzleMode:
    """Return a swizzle mode that is legal for the operand if its major is legal."""
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
                f"plan: instructions of kind {kind} have no scale factors",
                proposals=[Advice({"scale_vector": 32})],
            )
        return None
    from descriptors.tmem.block_scaled import factors_of

    if vector == REPEATED[1]:
        if sparse:
            raise DescriptorError(
                "plan: A is sparse, and scale factors for 128 elements are supported for dense A only",
                proposals=[Advice({"scale_vector": 16}), Advice({"scale_vector": 32})],
            )
        if k != _REPEATED_K:
            raise DescriptorError(
                f"plan: K of the instruction is {k}, and scale factors for 128 elements need K {_REPEATED_K}"
            )
        return REPEATED
    try:
        return factors_of(kind, dtype, vector, k=k, arch=arch, legality=legality)[:2]
    except DescriptorError as error:
        if sparse and vector is not None:
            error.args = (f"{error}; scale_vector counts stored elements, and a sparse A stores half of those along K",)
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
    """Return the table row that allows the shape.

    Raises:
        IllegalError: if the shape is illegal; the message and the proposals name the nearest legal shapes.
    """

    def advise(near: tuple[int, int, int]) -> Advice:
        tile_extents = tuple(-(-extent // part) * part for extent, part in zip(tile, near, strict=True))
        return Advice({"instruction": near, "tile": tile_extents})

    return check_extents(
        arch, kind, extents, cta_group=pair, sparse=sparse, a_source=a_source, legality=legality, advise=advise
    )


def _check_sparse(loop: MainLoop) -> None:
    """Check that the metadata of a sparse loop are supported."""
    if has_wgmma(loop.arch) and loop.scale is not None:
        raise DescriptorError(
            "plan: A is sparse, and scale factors on sm90 are supported for dense A only",
            proposals=[Advice({"scale_vector": None, "scale_dtype": None})],
        )
    covered = arrangement(loop.a, loop.arch).covered
    if loop.tile[2] % covered:
        raise DescriptorError(
            f"plan: tile K is {loop.tile[2]}, which is not a multiple of the {covered} whose metadata are packed "
            f"together; tile = {extents_text(loop.tile)}",
            proposals=resized(loop.tile, 2, covered),
        )
    rows = 128 * loop.cta_group
    if has_tcgen05(loop.arch) and loop.extents[0] != rows:
        raise DescriptorError(
            f"plan: M of the sparse instruction is {loop.extents[0]}, and on {loop.arch} only 128 rows per CTA are "
            f"supported; CUTLASS defines the metadata of those only; cta_group = {loop.cta_group}",
            proposals=[
                Advice({"instruction": (rows, *loop.extents[1:]), "tile": (tile_m, *loop.tile[1:])})
                for tile_m in (loop.tile[0], *multiples(loop.tile[0], rows))
            ],
        )


def check_groups(tile: tuple[int, int, int]) -> None:
    """Check that tile K is a multiple of the 128 elements that share a scale factor.

    Raises:
        DescriptorError: if it is not.

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
    """Return smaller tiles that are multiples of ``parts``: first those with one changed extent, largest first.

    >>> print(*smaller((64, 512, 128), (64, 256, 16))[:3])
    tile=(64, 256, 128) tile=(64, 512, 64) tile=(64, 512, 32)
    """
    counts = tuple(map(floordiv, tile, parts))
    sizes = [sorted({size for part in (1, 2, 4, 8, count) if (size := count // part)}) for count in counts]
    others = [blocks for blocks in product(*sizes) if blocks != counts]
    others.sort(key=lambda blocks: (sum(map(ne, blocks, counts)), -prod(blocks)))
    return [Advice({"tile": tuple(map(mul, blocks, parts))}) for blocks in others]


def resized(tile: tuple[int, int, int], mode: int, part: int) -> list[Advice]:
    """Return the tiles with a multiple of ``part`` in one mode, the nearest first."""
    near = multiples(tile[mode], part)
    return [Advice({"tile": replaced(tile, mode, extent)}) for extent in (*near, near[-1] + part, near[-1] + 2 * part)]


def _check_tile(loop: MainLoop) -> None:
    about = f"tile = {extents_text(loop.tile)}, instruction = {loop.name}"
    for mode, (letter, extent, part) in enumerate(zip("MNK", loop.tile, loop.extents, strict=True)):
        if extent % part:
            m, n, k = loop.tile
            tiles = resized(loop.tile, mode, part)
            raise DescriptorError(
                f"plan: tile {letter} is {extent}, which is not a multiple of the instruction's {letter} ({part}); "
                f"{about}",
                proposals=[*tiles[:2], Advice({"tile": (m, k, n)}, "if you wrote M x K x N"), *tiles[2:]],
            )
