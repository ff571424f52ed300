"""Check and convert the arguments of ``derive`` into typed values: a ``Reader``, a ``TileSpec`` and a ``Request``.

A ``Reader`` is the instruction that reads the tile. A ``Request`` is a reader with a tile. ``reader`` and ``request``
check and convert arguments. A caller that has typed values constructs a ``Reader`` and a ``TileSpec``, and combines
them with ``request_of``.

Invariant: converted arguments equal the typed values, so that later code does not parse a name or check a number again.

>>> bf16 = as_element_type("bf16")
>>> by = reader("SM90", "BF16", [64, 16], operand="a")
>>> by == Reader("sm90", bf16, (64, 16), "A")
True
>>> spec = TileSpec(Major.K, SwizzleMode.B128, (64, 16), (128, 64), stacking(Major.K, 2))
>>> request(by, [128, 64], major="k", swizzle="128b", order=[0, 1]) == request_of(by, spec)
True

Invariant: a tile of atoms and its layout have the same specification, except the order, which a layout does not have.

>>> from descriptors.smem.operands.atoms import canonical_atom, smem_tile
>>> for major, mode in ((Major.K, SwizzleMode.B128), (Major.MN, SwizzleMode.B64)):
...     tile = smem_tile(canonical_atom(major, mode).in_elements(bf16), (128, 64), (0, 1))
...     of_layout = tile_of_layout(tile, bf16, None, None, (64, 16), None, "elements", None)
...     assert of_layout[:4] == tile_of_atoms((128, 64), bf16, major, mode, (64, 16), None, None)[:4]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from descriptors.errors import Advice, DescriptorError, as_flag, as_integer, brief
from descriptors.smem.instructions import tables
from descriptors.smem.instructions.facts import ScaleRow
from descriptors.smem.instructions.idesc import as_kind
from descriptors.smem.instructions.instruction_name import InstructionName, read_instruction
from descriptors.smem.instructions.legality import check_extents, check_operand_tile, check_scale, check_types
from descriptors.smem.instructions.rules import MODES, Legality, dense_k, kind_of, rows_of
from descriptors.smem.operands.atoms import canonical_atom
from descriptors.smem.operands.explicit import Given, Unit, as_unit, contiguous_major, explicit_tile, tile_of_partition
from descriptors.smem.operands.forms import form
from descriptors.smem.operands.match import Tile, matched_steps, other_tiles
from descriptors.smem.operands.operand import (
    MATRICES,
    ElementType,
    Major,
    MajorName,
    Matrix,
    SwizzleMode,
    SwizzleName,
    as_element_type,
    as_major,
    as_swizzle_mode,
    choose,
    major_of,
)
from descriptors.smem.operands.swizzled import plain, start_of
from descriptors.smem.words.descriptor import Arch, architecture, assumed_architecture
from descriptors.targets import has_tcgen05, shared_bytes
from descriptors.text import tuple_text
from layoutalg import LayoutError, cosize, size
from layoutalg.frozen import frozen, replace

#: The message of an operation without ``mma``; the placeholder is the name of the operation.
MMA_MISSING = "{}: mma is missing: (MN, K) that one instruction reads, or its name, like m64n128k16, with the operand"


class TileSpec(NamedTuple):
    """A tile of canonical atoms, or an explicit layout.

    Args:
        major: the contiguous dimension.
        swizzle: the swizzle mode.
        reads: extents (MN, K) that one instruction reads, in elements.
        extents: extents of the tile, in elements; polynomials if they contain symbols.
        order: position of each mode in the stacking order of the atoms; () for an explicit layout.
        layout: an explicit layout, in elements; None for a tile of atoms.
        atom: name of the atom; None for the canonical one.
    """

    major: Major
    swizzle: SwizzleMode
    reads: tuple[int, int]
    extents: tuple[Any, ...]
    order: tuple[int, ...]
    layout: Tile | None = None
    atom: str | None = None


def tile_of_atoms(
    tile: object, element: ElementType, major: object, swizzle: object, reads: tuple[int, int] | None, order: object,
    capacity: int | None,
) -> TileSpec:  # fmt: skip
    """Return the specification of a tile of canonical atoms.

    Args:
        tile, major, swizzle, order: as in ``derive``.
        element: the element type.
        reads: extents (MN, K) that one instruction reads, in elements.
        capacity: bytes of shared memory that the tile must fit in; None for no limit.

    Raises:
        DescriptorError: if an argument is malformed, or the tile is larger than the capacity.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> tile_of_atoms((128, 64), as_element_type("bf16"), "MN", "64B", (64, 16), None, None).order
    (1, 0)
    """
    contiguous, mode = as_major(major), as_swizzle_mode(swizzle)
    extents = _extents("tile", tile, (2, 3))
    if reads is None:
        raise DescriptorError(MMA_MISSING.format("derive"))
    positions = _order(order, contiguous, len(extents))
    _check_capacity(extents, size(extents), element, capacity, f"tile = {tuple_text(extents)}, dtype = {element}")
    return TileSpec(contiguous, mode, reads, extents, positions)


def tile_of_layout(
    layout: object, element: ElementType, major: object, swizzle: object, reads: tuple[int, int] | None, order: object,
    unit: Unit, capacity: int | None,
) -> TileSpec:  # fmt: skip
    """Return the specification of an explicit layout.

    Args:
        layout, major, swizzle, order, unit: as in ``derive``.
        element: the element type.
        reads: extents (MN, K) that one instruction reads, in elements; None if the layout is partitioned.
        capacity: bytes of shared memory that the tile must fit in; None for no limit.

    Raises:
        DescriptorError: if the layout is not a tile, or is larger than the capacity.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> text = "S<3,3,3> o 0 o ((64,16),1,4):((64,1),0,16)"
    >>> tile_of_layout(text, as_element_type("bf16"), None, None, None, None, "elements", None).reads
    (64, 16)
    """
    if order is not None:
        raise DescriptorError(f"derive: an explicit layout has no stacking order, but order is {brief(order)}")
    tile, mode = explicit_tile(layout, element, swizzle, unit)
    if reads is None:
        tile, reads = tile_of_partition(tile)
    rows = plain(tile)
    if len(rows) < 2:
        raise DescriptorError(f"derive: the layout {tile} does not have the modes (MN, K, ...)")
    contiguous = contiguous_major(rows, element) if major is None else as_major(major)
    _check_capacity((), start_of(tile) + cosize(rows), element, capacity, f"layout = {tile}")
    return TileSpec(contiguous, mode, reads, tuple(size(m) for m in rows), (), tile)


def instruction_extents(mma: object, cp: object, element: ElementType, arch: Arch) -> tuple[int, int] | None:
    """Return the extents that one instruction reads, in elements; None if neither ``mma`` nor ``cp`` is given.

    Args:
        mma: extents (MN, K) of the operand, or None.
        cp: a shape of ``tcgen05.cp``, or None.
        element: the element type.
        arch: the architecture.

    Raises:
        DescriptorError: if an argument is malformed or unknown, or both are given.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> instruction_extents(None, "128x256b", as_element_type("bf16"), "sm100")
    (128, 16)
    """
    if cp is None:
        if mma is None:
            return None
        mn, k = _extents("mma", mma, (2,))
        return mn, k
    if mma is not None:
        raise DescriptorError(f"derive: both mma and cp are given; mma = {brief(mma)}, cp = {brief(cp)}")
    if not has_tcgen05(arch):
        raise DescriptorError(f"derive: {arch} has no tcgen05.cp; it needs tcgen05, as on sm100")
    row = choose("derive: cp", cp, {row.shape: row for row in tables.COPIES})
    return row.lanes, row.bits // element.storage_bits


def named_instruction(instruction: str, where: str = "derive") -> InstructionName:
    """Parse the name of an instruction that reads descriptors.

    Args:
        instruction: the name.
        where: the operation, for the error messages.

    Raises:
        DescriptorError: if the text is not an instruction, or is an ``mma.sync``, which reads registers.

    >>> named_instruction("wgmma.mma_async.sp.sync.aligned.m64n8k32").sparse
    True
    """
    name = read_instruction(instruction, where, "mma must be (MN, K), or named like m64n128k16")
    if name.mnemonic == "mma":
        raise DescriptorError(
            f"{where}: mma.sync reads registers and has no descriptors; instruction = {name.text}; its main loop is "
            "planned by descriptors plan mma.m16n8k16"
        )
    return name


def _operand_shape(name: InstructionName, matrix: Matrix | None, cta_group: int, sparse: bool) -> tuple[int, int]:
    """Return the operand shape that a named instruction reads from the memory of one CTA.

    The A of a sparse instruction is stored without its zeros, so its K is halved.
    """
    m, n, k = name.extents
    m, n, k_of_a = m // cta_group, n // cta_group, k // (1 + sparse)
    if matrix is None:
        raise DescriptorError(
            f"derive: operand is missing; {name.text} reads {m}x{k_of_a} of A and {n}x{k} of B",
            proposals=[Advice({"operand": "A"}), Advice({"operand": "B"})],
        )
    return (m, k_of_a) if matrix == "A" else (n, k)


def _check_named(
    name: InstructionName, arch: Arch, element: ElementType, other: str | None, legality: Legality
) -> None:
    """Check that the architecture has the instruction of a name: its types, its extents and its scale factors.

    Args:
        name: the name, with the kind, the CTAs and the sparsity that were given beside it.
        arch: the architecture.
        element: the type of the operand.
        other: the type of the other operand; None for the same one.
        legality: how to read the rows.

    Raises:
        IllegalError: if there is no such instruction; the nearest legal ones are named.
    """
    scaled = name.scale_dtype is not None or name.scale_vector is not None
    kind = name.kind
    if kind is None and scaled and has_tcgen05(arch):
        kind = as_kind(
            element, other, scale_dtype=name.scale_dtype or "ue8m0", scale_vector=name.scale_vector, arch=arch
        )
    elif kind is None:
        kind = kind_of(arch, element, other)
    k = name.extents[2]
    d = name.d or ("s32" if kind in ("i8", "ti16") else "f32")
    wide = k > dense_k(arch, kind) * (1 + name.sparse)
    check_types(arch, kind, element, other or element, d, wide=wide, legality=legality)
    check_extents(
        arch, kind, name.extents, cta_group=name.cta_group or 1, sparse=name.sparse, ws=name.ws, legality=legality
    )
    if scaled:
        rows: list[ScaleRow] = [
            row for row in rows_of("SCALES", arch, kind)
            if k in row.k and name.scale_dtype in (None, row.dtype) and name.scale_vector in (None, row.vector)
        ]  # fmt: skip
        dtype, vector = (rows[0].dtype, rows[0].shared(k)) if rows else ("ue8m0", 32)
        check_scale(kind, name.scale_dtype or dtype, name.scale_vector or vector, k=k, legality=legality, arch=arch)


def _extents(name: str, value: object, ranks: tuple[int, ...]) -> tuple[int, ...]:
    modes = "(MN, K)" if ranks == (2,) else "(MN, K) or (MN, K, stages)"
    if not isinstance(value, (tuple, list)) or len(value) not in ranks:
        is_mnk = name == "mma" and isinstance(value, (tuple, list)) and len(value) == 3
        hint = "; an instruction M x N x K is given by name, like m64n128k16, with the operand" if is_mnk else ""
        raise DescriptorError(f"derive: {name} {brief(value)} is not {modes}{hint}")
    return tuple(as_integer(extent, f"derive: {name} extent {i}", minimum=1) for i, extent in enumerate(value))


def stacking(major: Major, modes: int) -> tuple[int, ...]:
    """Return the default stacking order of atoms: the contiguous dimension last.

    A TMA box of a swizzled tile cannot cross atoms along the contiguous dimension. With this dimension last, the boxes
    are as large as possible (article, sections 3.1 and 4.1).

    >>> stacking(Major.K, 2), stacking(Major.MN, 3)
    ((0, 1), (1, 0, 2))
    """
    return (0, 1, 2)[:modes] if major is Major.K else (1, 0, 2)[:modes]


def _order(value: object, major: Major, modes: int) -> tuple[int, ...]:
    if value is None:
        return stacking(major, modes)
    if modes == 3 and isinstance(value, (tuple, list)) and len(value) == 2:
        value = (*value, 2)  # the stages come last
    if not isinstance(value, (tuple, list)) or len(value) != modes:
        raise DescriptorError(f"derive: order {brief(value)} does not have one position for each of {modes} modes")
    order = tuple(as_integer(position, "derive: a position in order") for position in value)
    if sorted(order) != list(range(modes)):
        raise DescriptorError(f"derive: order {tuple_text(order)} is not a permutation of 0..{modes - 1}")
    return order


def _check_capacity(
    tile: tuple[int, ...], elements: int, element: ElementType, capacity: int | None, about: str
) -> None:
    if capacity is None:
        return
    needed = elements * element.storage_bits // 8
    if needed <= capacity:
        return
    proposals, staged = [Advice({"capacity": None})], ""
    text = str(needed) if needed.bit_length() <= 64 else f"more than 2**{needed.bit_length() - 1}"
    if len(tile) == 3:
        m, n, k = tile
        staged = f" for {tile[2]} stages of {m}x{n}"
        stages = capacity * k // needed
        proposals = [
            Advice({"tile": (m, n, stages) if stages > 1 else (m, n)}),
            Advice({"tile": (m, k)}, f"if {k} is K and not a number of stages, for A"),
            Advice({"tile": (n, k)}, f"if {k} is K and not a number of stages, for B"),
        ]
    raise DescriptorError(
        f"derive: the tile needs {text} bytes{staged}, but a CTA has {capacity} bytes of shared memory; {about}",
        proposals=proposals,
    )


#: Cached, because many tiles share the same operand.
_legal = lru_cache(maxsize=1 << 12)(check_operand_tile)


@frozen
class Reader:
    """The instruction that reads a tile, as far as it is known, and the level of the legality check.

    Args:
        arch: the architecture.
        element: the element type.
        extents: extents (MN, K) that the instruction reads, in elements; None if they follow from the layout.
        matrix: ``"A"`` or ``"B"``; None for either.
        cp: a shape of ``tcgen05.cp``; None for an MMA instruction.
        kind: the kind of instruction; None for the one that follows from the type.
        cta_group: 1 or 2; None for either.
        sparse: whether the instruction is sparse.
        legality: level of the legality check: ``"strict"``, ``"lenient"`` or ``"off"``.
    """

    arch: Arch
    element: ElementType
    extents: tuple[int, int] | None
    matrix: Matrix | None = None
    cp: str | None = None
    kind: str | None = None
    cta_group: int | None = None
    sparse: bool = False
    legality: Legality = "strict"

    @property
    def name(self) -> str:
        """``"mma"``, or the name of the copy instruction.

        >>> reader("sm100", "u8", cp="128x256b").name
        'tcgen05.cp.128x256b'
        """
        return "mma" if self.cp is None else f"tcgen05.cp.{self.cp}"

    def check(self, spec: TileSpec) -> None:
        """Check that an instruction reads the tile's operands, unless legality is off.

        Raises:
            IllegalError: if no MMA instruction reads such an operand.
            DescriptorError: if the copy does not read it, or does not divide the tile (also with legality off).
        """
        for mode, (extent, part) in enumerate(zip(spec.extents, spec.reads, strict=False) if self.cp else ()):
            if isinstance(extent, int) and extent % part:
                raise DescriptorError(
                    f"derive: tile {'K' if mode else 'MN'} is {extent}, which is not a multiple of the {part} "
                    f"that {self.name} copies of {self.element}; tile = {tuple_text(spec.extents)}",
                    proposals=other_tiles(spec.extents, mode, part),
                )
        if self.legality == "off":
            return
        if self.cp is None:
            _legal(
                self.arch, self.element, spec.major, spec.swizzle, spec.reads, kind=self.kind, matrix=self.matrix,
                cta_group=self.cta_group, sparse=self.sparse, legality=self.legality,
            )  # fmt: skip
        elif spec.major is not Major.K:
            # The copy has no transpose qualifier, in contrast to the instruction descriptor of tcgen05.mma.
            raise DescriptorError(
                f"derive: {self.name} reads K-major tiles only, and the tile is {spec.major}-major; PTX ISA 9.1, "
                "tcgen05.cp"
            )


def reader(
    arch: Arch | None,
    dtype: str | ElementType | None,
    mma: Sequence[int] | str | None = None,
    *,
    operand: Matrix | None = None,
    cp: str | None = None,
    kind: str | None = None,
    cta_group: int | None = None,
    sparse: bool = False,
    legality: Legality = "strict",
    where: str = "derive",
) -> Reader:
    """Return the reader that these arguments of ``derive`` describe.

    Args:
        arch, dtype, mma, operand, cp, kind, cta_group, sparse, legality: as in ``derive``.
        where: the operation, for the error messages.

    Raises:
        DescriptorError: if an argument is unknown or malformed.

    >>> reader("SM90", "BF16", (64, 16), operand="a").extents
    (64, 16)
    """
    element = as_element_type(dtype)
    if kind is not None and not isinstance(kind, str):
        raise DescriptorError(f"{where}: kind {brief(kind)} is not a name")
    mode = choose("legality", legality, MODES)
    matrix = None if operand is None else choose(f"{where}: operand", operand, MATRICES)
    pair = None if cta_group is None else as_integer(cta_group, f"{where}: cta_group", minimum=1, maximum=2)
    without_zeros = as_flag(sparse, f"{where}: sparse")
    named = None
    if isinstance(mma, str) and cp is None:
        name = named_instruction(mma, where)
        arch, without_zeros = name.settle_arch(arch, where), without_zeros or name.sparse
        kind = name.settle("kind", name.kind, kind, where)
        pair = name.settle("cta_group", name.cta_group, pair, where)
        pair = 1 if pair is None else pair
        name.settle("dtype", {"A": name.a, "B": name.b}.get(matrix or ""), element, where)
        mma = _operand_shape(name, matrix, pair, without_zeros)
        named = replace(name, sparse=without_zeros, kind=kind, cta_group=pair)
    target = architecture(assumed_architecture() if arch is None else arch)
    if named is not None and mode != "off":
        _check_named(named, target, element, other=named.b if matrix == "A" else named.a, legality=mode)
    extents = instruction_extents(mma, cp, element, target)
    return Reader(
        arch=target,
        element=element,
        extents=extents,
        matrix=matrix,
        cp=cp,
        kind=kind,
        cta_group=pair,
        sparse=without_zeros,
        legality=mode,
    )


@frozen
class Request:
    """A tile and the instruction that reads it: the input of the five steps.

    Args:
        reader: the instruction.
        spec: the tile.
        capacity: bytes of shared memory that the tile was checked against; None if it was not checked.
    """

    reader: Reader
    spec: TileSpec
    capacity: int | None


def request(
    by: Reader,
    tile: Sequence[int] | None = None,
    layout: Given | None = None,
    *,
    major: Major | MajorName | None = None,
    swizzle: SwizzleMode | SwizzleName | None = None,
    order: Sequence[int] | None = None,
    unit: Unit = "elements",
    capacity: int | Literal["arch"] | None = None,
    atom: str | None = None,
) -> Request:
    """Return the request that these arguments of ``derive`` describe.

    Args:
        by: the instruction that reads the tile.
        tile, layout, major, swizzle, order, unit, capacity, atom: as in ``derive``.

    Raises:
        DescriptorError: if an argument is unknown or malformed, or the tile exceeds the capacity.
        IllegalError: if no instruction reads such an operand.

    >>> checked = request(reader("sm100", "bf16", (64, 16)), (128, 64), major="mn", swizzle="64b", capacity=1 << 17)
    >>> checked.spec.major, checked.spec.swizzle, checked.spec.order, checked.capacity
    (Major.MN, SwizzleMode.B64, (1, 0), 131072)
    """
    layout_unit = as_unit(unit)
    if (tile is None) == (layout is None):
        raise DescriptorError(
            "derive: neither a tile nor a layout is given; give a tile of atoms, such as 128x64, or a layout, such as "
            "(64,64):(64,1)"
            if tile is None
            else "derive: both a tile and a layout are given; a tile consists of atoms, a layout maps each element"
        )
    contiguous = major_of(swizzle, major, by.matrix)
    if isinstance(capacity, str) and capacity == "arch":
        capacity = shared_bytes(by.arch)
    limit = None if capacity is None else as_integer(capacity, "derive: capacity", minimum=16)
    spec = (
        tile_of_atoms(tile, by.element, contiguous, swizzle, by.extents, order, limit)
        if layout is None
        else tile_of_layout(layout, by.element, contiguous, swizzle, by.extents, order, layout_unit, limit)
    )
    if spec.layout is not None and swizzle is None and spec.swizzle is SwizzleMode.NONE:
        spec = _read_mode(spec, spec.layout, by)
    if atom is not None:
        if layout is not None:
            raise DescriptorError(f"derive: an explicit layout has no atom, but atom is {brief(atom)}")
        spec = spec._replace(atom=canonical_atom(spec.major, spec.swizzle, atom).name)
    return request_of(by, spec, limit)


def request_of(by: Reader, spec: TileSpec, capacity: int | None = None) -> Request:
    """Return the request for typed values, after checking that an instruction reads such an operand.

    Args:
        by: the instruction that reads the tile.
        spec: the tile.
        capacity: bytes of shared memory that the tile was checked against; None if it was not checked.

    Raises:
        IllegalError: if no MMA instruction reads such an operand.
        DescriptorError: if the copy does not read it.
    """
    by.check(spec)
    return Request(by, spec, capacity)


def _read_mode(spec: TileSpec, tile: Tile, by: Reader) -> TileSpec:
    """Return a plain tile with the swizzle mode whose canonical form it has, because a slice may hide its swizzle.

    No swizzle is tried first. A mode that an instruction reads is preferred to one that no instruction reads.
    """
    readings = [spec]
    if not _fits(spec, by, legal=True):
        from descriptors.smem.operands.explicit import swizzled_readings  # rarely needed

        readings += [spec._replace(layout=layout, swizzle=mode) for layout, mode in swizzled_readings(tile, by.element)]
    for legal in (True, False):
        for reading in readings:
            if _fits(reading, by, legal=legal):
                return reading
    return spec


def _fits(spec: TileSpec, by: Reader, *, legal: bool) -> bool:
    """Return whether the tile's operand has the canonical form of its mode and, if ``legal``, an instruction."""
    if spec.layout is None:
        return True
    try:
        if legal:
            by.check(spec)
        matched_steps(spec.layout, spec.reads, by.element, form(spec.major, spec.swizzle))
    except (DescriptorError, LayoutError):
        return False
    return True
