"""What a derivation is asked for: made once from what a caller typed, and typed from there on.

A ``Reader`` is the instruction that reads the tile, a ``Request`` that with the tile. Law: every value in them is
already what the steps work on, so that nothing behind this door reads a name, or checks a number, again.

>>> by = reader("SM90", "BF16", [64, 16], operand="a"), reader("sm90", as_element_type("bf16"), (64, 16), operand="A")
>>> typed = request(by[1], (128, 64), major=Major.K, swizzle=SwizzleMode.B128)
>>> request(by[0], [128, 64], major="k", swizzle="128b", order=[0, 1]) == typed
True
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from descriptors.errors import DescriptorError, as_flag, as_integer, brief
from descriptors.frozen import frozen
from descriptors.instructions.operands import check_operand_tile
from descriptors.instructions.rules import MODES, Legality
from descriptors.matching.canonical import match_form
from descriptors.matching.forms import form
from descriptors.matching.partition import Tile, in_16_bytes, partition
from descriptors.operands.atoms import canonical_atom
from descriptors.operands.explicit import Given, Unit, as_unit
from descriptors.operands.operand import (
    MATRICES,
    ElementType,
    Major,
    MajorName,
    Matrix,
    SwizzleMode,
    SwizzleName,
    as_element_type,
    choose,
    major_of,
)
from descriptors.operands.swizzled import plain
from descriptors.requests.arguments import TileSpec, explicit, instruction_extents, specified
from descriptors.words.descriptor import Arch, architecture
from layoutalg import LayoutError

#: The tables are asked once for each kind of operand.
_legal = lru_cache(maxsize=1 << 12)(check_operand_tile)


@frozen
class Reader:
    """The instruction that reads a tile, as far as it is known, and how strictly it must exist.

    Args:
        arch: ``"sm90"`` or ``"sm100"``.
        element: the element type.
        extents: extents (MN, K) that it reads, in elements; None if only the layout can tell.
        matrix: ``"A"`` or ``"B"``; None for either.
        cp: a shape of ``tcgen05.cp``; None for an MMA instruction.
        kind: the kind of instruction; None for the one that the type means.
        cta_group: 1 or 2; None for either.
        sparse: whether it is a sparse one.
        legality: how the tables of instructions are read.
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
        """``"mma"``, or the copy.

        >>> reader("sm100", "u8", cp="128x256b").name
        'tcgen05.cp.128x256b'
        """
        return "mma" if self.cp is None else f"tcgen05.cp.{self.cp}"

    def check(self, spec: TileSpec) -> None:
        """Refuse an operand that no instruction reads, unless legality is off.

        Raises:
            IllegalError: if no MMA instruction reads it.
            DescriptorError: if a copy does not.
        """
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
                f"derive: {self.name} must read a K-major tile (PTX ISA 9.1, tcgen05.cp), found {spec.major}"
            )


def reader(
    arch: Arch,
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
    """The instruction that these arguments of ``derive`` name.

    Args:
        arch, dtype, mma, operand, cp, kind, cta_group, sparse, legality: as ``derive`` has them.
        where: the operation, for the error messages.

    Raises:
        DescriptorError: if one is unknown or malformed.

    >>> reader("SM90", "BF16", (64, 16), operand="a").extents
    (64, 16)
    """
    element, name = as_element_type(dtype), architecture(arch)
    if kind is not None and not isinstance(kind, str):
        raise DescriptorError(f"{where}: kind must be a name, found {brief(kind)}")
    mode = choose("legality", legality, MODES)
    matrix = None if operand is None else choose(f"{where}: operand", operand, MATRICES)
    pair = None if cta_group is None else as_integer(cta_group, f"{where}: cta_group", minimum=1, maximum=2)
    extents = instruction_extents(mma, cp, element, name, matrix, pair or 1)
    return Reader(
        arch=name,
        element=element,
        extents=extents,
        matrix=matrix,
        cp=cp,
        kind=kind,
        cta_group=pair,
        sparse=as_flag(sparse, f"{where}: sparse"),
        legality=mode,
    )


@frozen
class Request:
    """A tile and what reads it: all that the five steps need.

    Args:
        reader: the instruction.
        spec: the tile.
        capacity: bytes of shared memory that the tile was checked against; None if it was not.
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
    capacity: int | None = None,
    atom: str | None = None,
) -> Request:
    """The tile that these arguments of ``derive`` name, as a reader reads it.

    Args:
        by: what reads it.
        tile, layout, major, swizzle, order, unit, capacity, atom: as ``derive`` has them.

    Raises:
        DescriptorError: if an argument is unknown or malformed, or the tile exceeds the capacity.
        IllegalError: if no instruction reads such an operand.

    >>> made = request(reader("sm100", "bf16", (64, 16)), (128, 64), major="mn", swizzle="64b", capacity=1 << 17)
    >>> made.spec.major, made.spec.swizzle, made.spec.order, made.capacity
    (Major.MN, SwizzleMode.B64, (1, 0), 131072)
    """
    counted = as_unit(unit)
    if (tile is None) == (layout is None):
        found = "neither; a tile is (MN, K) of atoms, a layout says where each element lies" if tile is None else "both"
        raise DescriptorError(f"derive: give either a tile or a layout, found {found}")
    contiguous = major_of(swizzle, major, by.matrix)
    limit = None if capacity is None else as_integer(capacity, "derive: capacity", minimum=16)
    spec = (
        specified(tile, by.element, contiguous, swizzle, by.extents, order, limit)
        if layout is None
        else explicit(layout, by.element, contiguous, swizzle, by.extents, order, counted, limit)
    )
    if spec.layout is not None and swizzle is None and spec.swizzle is SwizzleMode.NONE:
        spec = _told(spec, spec.layout, by)
    if atom is not None:
        if layout is not None:
            raise DescriptorError(f"derive: an explicit layout must come without an atom, found {brief(atom)}")
        spec = spec._replace(atom=canonical_atom(spec.major, spec.swizzle, atom).name)
    by.check(spec)
    return Request(by, spec, limit)


def _told(spec: TileSpec, tile: Tile, by: Reader) -> TileSpec:
    """A plain tile with the swizzle mode whose canonical form it has, none first: a slice hides its mode in strides.

    The mode that an instruction reads goes before one that no instruction does.
    """
    readings = [spec]
    if not _fits(spec, by, checked=True):
        from descriptors.operands.decayed import swizzled_readings  # of what is seldom given

        readings += [spec._replace(layout=layout, swizzle=mode) for layout, mode in swizzled_readings(tile, by.element)]
    for checked in (True, False):
        for reading in readings:
            if _fits(reading, by, checked=checked):
                return reading
    return spec


def _fits(spec: TileSpec, by: Reader, *, checked: bool) -> bool:
    """Whether the tile's first operand has the canonical form of its mode, and an instruction that reads it."""
    if spec.layout is None:
        return True
    try:
        if checked:
            by.check(spec)
        wanted = form(spec.major, spec.swizzle)
        match_form(plain(in_16_bytes(partition(spec.layout, spec.reads), by.element, wanted))[0], wanted)
    except (DescriptorError, LayoutError):
        return False
    return True
