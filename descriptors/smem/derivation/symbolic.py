"""Derive closed forms: the descriptors of a tile whose extents contain symbols, such as ``(64*m, 64*k)``.

The steps are those of ``derive`` (``steps``), applied to layouts with symbols for positive integers. The results are
formulas for LBO, SBO and every step of the start address, in bytes, for all tiles of the family. If the algebra cannot
decide a question for all values of the symbols, the error names the missing fact.
Limits that depend on numbers are not checked: whether a tile fits in shared memory, and whether an offset fits in its
field. A tile is read from values, or from one line of text.

Invariant: after substitution of numbers for the symbols, every formula equals the result of ``derive``.

>>> from descriptors.smem.derivation.derive import derive
>>> family = derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16), order=(1, 0))
>>> for m, k in ((1, 1), (2, 1), (1, 2), (2, 3)):
...     formula = family.substitute({"m": m, "k": k})
...     number = derive((64 * m, 64 * k), "bf16", "K", "128B", (64, 16), order=(1, 0))
...     assert formula.stride_byte_offset == number.descriptor.stride_byte_offset
...     assert all(formula.advance(i) == number.advance(i) for i in range(4 * m * k))

Invariant: a tile in one line of text equals the tile of its parts, which may be text or numbers.

>>> parts = ("128", "64*m", "8*max", 48)
>>> all(parse_tile(f"{a} x {b}") == symbolic_extents((a, b)) for a in parts for b in parts)
True
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product as cartesian
from typing import Any, TypeAlias

from descriptors.errors import DescriptorError, NotCanonicalError, advised, brief
from descriptors.smem.derivation.crossing import is_48_bytes_of_k
from descriptors.smem.derivation.request import Reader, TileSpec, reader, request
from descriptors.smem.derivation.steps import Steps, steps, stored_tile
from descriptors.smem.instructions.rules import Legality
from descriptors.smem.operands.canonical import Match
from descriptors.smem.operands.forms import LEADING, STRIDE, form
from descriptors.smem.operands.match import matched_steps, partition
from descriptors.smem.operands.operand import ElementType, Major, MajorName, SwizzleMode, SwizzleName
from descriptors.smem.operands.swizzled import plain
from descriptors.smem.words.descriptor import Arch, SmemDescriptor
from descriptors.text import counted, tuple_text
from layoutalg import ComposedLayout, Layout, LayoutError, UndecidedError, flatten, size, substitute, symbols_of
from layoutalg.frozen import frozen, replace

#: A number, or a polynomial of ``layoutalg`` in symbols for positive integers; sympy accepts both.
Expression: TypeAlias = Any


def symbolic_extents(tile: Any) -> tuple[Expression, ...]:
    """Convert the two or three extents of a tile into numbers and polynomials.

    Raises:
        DescriptorError: if there are not two or three extents, or one is not a positive number or expression.

    >>> print(*symbolic_extents(("8*m", 64)))
    8*m 64
    """
    if not isinstance(tile, (tuple, list)) or len(tile) not in (2, 3):
        raise DescriptorError(f"derive: tile {brief(tile)} is not (MN, K) or (MN, K, stages)")
    extents = []
    for i, extent in enumerate(tile):
        try:
            value = Layout(_read(extent) if isinstance(extent, str) else extent).shape
        except UndecidedError:
            raise
        except LayoutError as error:
            raise DescriptorError(f"derive: tile extent {i} is not a positive number or expression; {error}") from None
        if isinstance(value, tuple):
            raise DescriptorError(f"derive: tile extent {i} is {brief(extent)}, which is not a number or expression")
        extents.append(value)
    return tuple(extents)


def _read(extent: str) -> Any:
    from layoutalg import parse_int_tuple  # needed only for text

    return parse_int_tuple(extent)


def parse_tile(text: str) -> tuple[Expression, ...]:
    """Parse a tile whose extents contain symbols.

    The extents are separated by commas, by an ``x`` with spaces around it, or by an ``x`` alone; in the last case no
    symbol may have an x in its name. With commas, parentheses around the whole tile are allowed.

    Raises:
        DescriptorError: if there are not two or three extents, or one cannot be read.

    >>> print(*parse_tile("8*m x 64*k"), *parse_tile("8*mx64*k"), *parse_tile("(8*max, 64)"))
    8*m 64*k 8*m 64*k 8*max 64
    """
    if "," in text:
        inner = text.strip()
        if inner.startswith("(") and inner.endswith(")"):
            inner = inner[1:-1]
        parts = inner.split(",")
    else:
        parts = re.split(r"\s+x\s+", text) if re.search(r"\s+x\s+", text) else text.split("x")
    return symbolic_extents(tuple(part.strip() for part in parts))


def offsets_of(d: SymbolicDerivation) -> Iterator[tuple[str, Any]]:
    """Yield LBO and SBO, in bytes, with the names of their fields."""
    yield LEADING, d.leading_byte_offset
    yield STRIDE, d.stride_byte_offset


#: Values to try for each symbol if the operand does not have the canonical form for all values.
_TRIED = (1, 2, 3)


@frozen
class Step:
    """A loop over subtiles: their number, and the difference of the start address from one to the next.

    Args:
        dimension: ``"MN"``, ``"K"`` or ``"stage"``. A dimension may have several steps, the fastest first.
        extent: number of subtiles.
        bytes: difference of the start address from one subtile to the next.

    >>> print(Step("K", 4, 32))
    K: 4 subtiles, 32 bytes apart
    """

    dimension: str
    extent: Expression
    bytes: Expression

    def __str__(self) -> str:
        return f"{self.dimension}: {counted(self.extent, 'subtile')}, {counted(self.bytes, 'byte')} apart"


@frozen
class SymbolicDerivation:
    """Every step from a tile with symbols to the formulas of its descriptors.

    Args:
        tile: extents (MN, K), then the stages if there are any, in elements.
        mma: extents (MN, K) of what one instruction reads, in elements.
        order: position of each tile mode in the stacking order of the atoms.
        element: the element type.
        major: the contiguous dimension.
        swizzle: the swizzle mode.
        arch: ``"sm90"`` or ``"sm100"``.
        smem_tile: step 1, in elements.
        partitioned: step 2, in elements.
        recast: step 3, in 16-byte units.
        match: step 4: the canonical form with its layout, its offsets and the fields without effect.
        advance: step 5, in 16-byte units.
    """

    tile: tuple[Expression, ...]
    mma: tuple[int, int]
    order: tuple[int, ...]
    element: ElementType
    major: Major
    swizzle: SwizzleMode
    arch: Arch
    smem_tile: Layout | ComposedLayout
    partitioned: Layout | ComposedLayout
    recast: Layout | ComposedLayout
    match: Match
    advance: Layout

    @property
    def leading_byte_offset(self) -> Expression:
        """The leading byte offset."""
        return self.match.leading_byte_offset

    @property
    def stride_byte_offset(self) -> Expression:
        """The stride byte offset."""
        return self.match.stride_byte_offset

    @property
    def dont_care(self) -> tuple[str, ...]:
        """The descriptor fields without effect for this operand."""
        return self.match.dont_care

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols, sorted."""
        return tuple(symbols_of(self.tile))

    @property
    def steps(self) -> tuple[Step, ...]:
        """The loops over subtiles with an extent other than 1, and their steps of the start address."""
        names = ("MN", "K", *["stage"] * (len(self.advance) - 2))
        return tuple(
            Step(name, leaf.shape, 16 * leaf.stride)
            for name, mode in zip(names, self.advance, strict=True)
            for leaf in flatten(mode)
            if leaf.shape != 1
        )

    def substitute(self, values: Mapping[Any, Any]) -> SymbolicDerivation:
        """Return the derivation with symbols replaced by numbers or other expressions.

        Invariant: the offsets, and ``advance`` as a function of the subtile, equal those of ``derive`` for the numbers.

        Args:
            values: the new values, by symbol of sympy or by name. Other symbols remain.

        Raises:
            LayoutError: if a value is not a positive integer.

        >>> d = derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16))
        >>> print(d.substitute({"m": 2, "k": 2}).steps[-1])
        K: 2 subtiles, 16384 bytes apart
        """

        def put(value: Any) -> Any:
            return substitute(value, values)

        match = replace(
            self.match,
            layout=put(self.match.layout),
            leading_byte_offset=put(self.leading_byte_offset),
            stride_byte_offset=put(self.stride_byte_offset),
        )
        return replace(
            self,
            tile=put(self.tile),
            smem_tile=put(self.smem_tile),
            partitioned=put(self.partitioned),
            recast=put(self.recast),
            match=match,
            advance=put(self.advance),
        )


@advised
def derive_symbolic(
    tile: Sequence[Any],
    dtype: str | ElementType,
    major: Major | MajorName,
    swizzle: SwizzleMode | SwizzleName,
    mma: Sequence[int],
    order: Sequence[int] | None = None,
    arch: Arch = "sm100",
    *,
    legality: Legality = "strict",
) -> SymbolicDerivation:
    """Derive the formulas of a tile's descriptors: ``derive`` for all values of the symbols in its extents.

    Invariant: ``derive_symbolic(tile, ...).substitute(values)`` has the offsets and the steps of ``derive`` for these
    values.

    Args:
        tile: extents (MN, K), or (MN, K, stages), in elements: numbers, text such as ``"64*m"``, or expressions of
            sympy in positive integer symbols.
        dtype: as in ``derive``; ``major``, ``swizzle``, ``order``, ``arch`` and ``legality`` likewise.
        major: the contiguous dimension.
        swizzle: the swizzle mode.
        mma: extents (MN, K) that one instruction reads, in elements; without symbols.
        order: position of each tile mode in the stacking order of the atoms.
        arch: ``"sm90"``, ``"sm100"``, ``"sm103"``, ``"sm107"`` or ``"sm110"``.
        legality: level of the legality check.

    Raises:
        UndecidedError: if an answer depends on the values of the symbols; the error names the missing fact.
        DescriptorError: if an argument is malformed, or there is no descriptor for any values.
        IllegalError: if no instruction reads such an operand.
        LayoutError: if an extent is not a polynomial in positive integer symbols.

    >>> d = derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16), order=(1, 0))
    >>> print(d.stride_byte_offset, *d.steps, sep="; ")
    1024*k; MN: m subtiles, 8192*k bytes apart; K: 4 subtiles, 32 bytes apart; K: k subtiles, 1024 bytes apart
    >>> derive_symbolic(("8*m", "64*k"), "bf16", "K", "128B", (64, 16))
    Traceback (most recent call last):
    layoutalg.errors.UndecidedError: cannot decide whether 64 divides 8*m; give it as 64*m if it does
    """
    by, extents = reader(arch, dtype, mma, legality=legality), symbolic_extents(tile)
    # The other arguments are checked as for numbers, with a tile of single elements.
    spec = request(by, (1,) * len(extents), major=major, swizzle=swizzle, order=order).spec
    return formulas(by, spec._replace(extents=extents))


def formulas(by: Reader, spec: TileSpec) -> SymbolicDerivation:
    """Return the closed forms for a checked reader and specification.

    Raises:
        UndecidedError, DescriptorError: as ``derive_symbolic``.
    """
    SmemDescriptor(by.arch, 0, 0, spec.swizzle).encode()  # raises here if the architecture lacks the swizzle
    if is_48_bytes_of_k(by.element, spec.major, spec.swizzle, spec.reads):
        raise DescriptorError(
            "derive: operands with 48 bytes of K have no closed forms, because they cross from one swizzle atom to the "
            f"next; give numbers for the symbols of tile = {tuple_text(spec.extents)}"
        )
    taken = _steps(by, spec)
    assert isinstance(taken.advance, Layout)  # only operands that cross atoms have a composed advance
    return SymbolicDerivation(
        tile=spec.extents,
        mma=spec.reads,
        order=spec.order,
        element=by.element,
        major=spec.major,
        swizzle=spec.swizzle,
        arch=by.arch,
        smem_tile=taken.smem_tile,
        partitioned=taken.partitioned,
        recast=taken.recast,
        match=taken.match,
        advance=taken.advance,
    )


def _steps(by: Reader, spec: TileSpec) -> Steps:
    """Return the steps for all values of the symbols.

    Raises:
        UndecidedError: if the operand has the canonical form for some values only; the error names an example.
    """
    try:
        return steps(by, spec)
    except NotCanonicalError as error:
        operand, _ = plain(partition(stored_tile(by.element, spec)[1], spec.reads))
        names, target = symbols_of(operand), form(spec.major, spec.swizzle)
        for numbers in cartesian(_TRIED, repeat=len(names)) if names else ():
            values = dict(zip(names, numbers, strict=True))
            try:
                matched_steps(substitute(operand, values), spec.reads, by.element, target)
            except DescriptorError:
                continue
            case = ", ".join(f"{name} = {number}" for name, number in values.items())
            raise UndecidedError(
                f"cannot decide whether the operand has a canonical form: it has one for {case}, but for other values "
                f"{str(error).removeprefix('canonical: ')}; give the tile with {case}"
            ) from error
        raise


def subtiles(derivation: SymbolicDerivation) -> Expression:
    """Return the number of operands of the tile.

    >>> print(subtiles(derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16))))
    4*k*m
    """
    return size(derivation.advance)
