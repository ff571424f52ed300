"""Lattices of operands: all combinations of tiles, instructions, types, majors, swizzles, orders and architectures.

Extents are given as ranges: ``64:256:64`` is 64, 128, 192 and 256. A lattice is iterated and never stored in memory.

Invariant: the computed length of a lattice is the number of its points, and no point occurs twice.

>>> points = lattice("64:192:64x32,48,64", "64,128xauto", dtypes="bf16,e4m3,e2m1", archs="sm100")
>>> walked = [tuple(point.items()) for point in points]
>>> len(points) == len(walked) == len(set(walked)) > 400
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import prod
from typing import Any

from descriptors.errors import DescriptorError, brief
from descriptors.smem.instructions.tables import K_BITS
from descriptors.smem.operands.operand import (
    ELEMENT_TYPES,
    Major,
    SwizzleMode,
    as_element_type,
    as_major,
    as_swizzle_mode,
)
from descriptors.smem.words.descriptor import MNEMONICS, architecture
from layoutalg.frozen import frozen

#: The arguments of one derivation, as plain data.
Point = dict[str, Any]

#: The name for the K of the instruction in a shape, if K follows from the type.
AUTO = "auto"

_MOST_VALUES = 1 << 20


#: The largest number of points of a lattice: about a year of derivations on the cores of a laboratory.
MOST_POINTS = 10**11


def extents(text: object) -> tuple[int, ...]:
    """Return the numbers of a range: ``"64"``, ``"64,128"``, ``"64:256"`` (step 1) or ``"64:256:64"``, ends included.

    Raises:
        DescriptorError: if the text is not a range of positive numbers.

    >>> extents("64:256:64,512")
    (64, 128, 192, 256, 512)
    """
    every: list[int] = []
    for part in str(text).split(",") if isinstance(text, (str, int)) else [""]:
        numbers = part.split(":")
        if not 1 <= len(numbers) <= 3 or not all(n.isascii() and n.isdigit() and len(n) <= 9 for n in numbers):
            raise DescriptorError(f"atlas: {brief(text)} is not a range of extents, such as 64:256:64 or 64,128")
        first, last, step = (*map(int, numbers), *(map(int, numbers[:1]) if len(numbers) == 1 else ()), 1)[:3]
        if first < 1 or last < first or step < 1 or (last - first) // step >= _MOST_VALUES:
            raise DescriptorError(
                f"atlas: range {brief(text)} does not run upwards from 1 or more, or has over {_MOST_VALUES} values"
            )
        every += range(first, last + 1, step)
    return tuple(dict.fromkeys(every))


@frozen
class Lattice:
    """A set of points in a fixed order.

    Args:
        tiles: extents of MN, of K, and of the stages (empty for tiles with two modes).
        mmas: extents of MN and of K that one instruction reads; K is empty if it follows from the type.
        dtypes: names of element types.
        majors: majors.
        swizzles: swizzle modes.
        orders: stacking orders of MN and K; None is the default of ``derive``. Stages are stacked last.
        archs: architectures.
        operands: ``"A"``, ``"B"``, or None for either.
        legality: as in ``derive``.

    Points whose operand does not divide the tile are left out.

    >>> points = lattice(tile="64:256:64x64", mma="64xauto", dtypes="bf16", swizzles="128B", archs="sm100")
    >>> len(points), next(iter(points))["mma"]
    (16, (64, 16))
    """

    tiles: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    mmas: tuple[tuple[int, ...], tuple[int, ...]]
    dtypes: tuple[str, ...]
    majors: tuple[str, ...]
    swizzles: tuple[str, ...]
    orders: tuple[tuple[int, ...] | None, ...]
    archs: tuple[str, ...]
    operands: tuple[str | None, ...] = (None,)
    legality: str = "strict"

    def __iter__(self) -> Iterator[Point]:
        others = (self.archs, self.operands, self.majors, self.swizzles, self.orders)
        for dtype in self.dtypes:
            for tile, mma in self.shapes(dtype):
                for arch, operand, major, swizzle, order in product(*others):
                    staged = order if order is None or len(tile) == 2 else (*order, 2)
                    yield {
                        "arch": arch, "dtype": dtype, "operand": operand, "major": major, "swizzle": swizzle,
                        "tile": tile, "mma": mma, "order": staged, "legality": self.legality,
                    }  # fmt: skip

    def __len__(self) -> int:
        others = prod(map(len, (self.archs, self.operands, self.majors, self.swizzles, self.orders)))
        rows = _dividing(self.tiles[0], self.mmas[0])
        shapes = sum(rows * _dividing(self.tiles[1], self._depths(dtype)) for dtype in self.dtypes)
        return shapes * (len(self.tiles[2]) or 1) * others

    def _depths(self, dtype: str) -> tuple[int, ...]:
        """Return the extents of K that an instruction of the type reads."""
        return self.mmas[1] or (K_BITS // as_element_type(dtype).storage_bits,)

    def shapes(self, dtype: str) -> Iterator[tuple[tuple[int, ...], tuple[int, int]]]:
        """Yield every tile of a type with every operand that divides it."""
        depths = self._depths(dtype)
        stages: list[tuple[int, ...]] = [(count,) for count in self.tiles[2]] or [()]
        deep = [k for k in self.tiles[1] if any(k % depth == 0 for depth in depths)]
        wide = (mn for mn in self.tiles[0] if any(mn % rows == 0 for rows in self.mmas[0]))
        for mn, k in ((mn, k) for mn in wide for k in deep):
            for rows, depth in product(self.mmas[0], depths):
                if mn % rows == 0 and k % depth == 0:
                    yield from (((mn, k, *stage), (rows, depth)) for stage in stages)


def _dividing(wholes: tuple[int, ...], parts: tuple[int, ...]) -> int:
    """Return the number of pairs of a whole and a part that divides it."""
    return sum(whole % part == 0 for part in parts for whole in wholes)


def lattice(
    tile: str,
    mma: str = "64,128xauto",
    *,
    dtypes: str | Iterable[str] = "all",
    majors: str | Iterable[str] = "all",
    swizzles: str | Iterable[str] = "all",
    orders: str | Iterable[tuple[int, ...] | None] = "all",
    archs: str | Iterable[str] = "all",
    operands: str | Iterable[str | None] = "either",
    legality: str = "strict",
) -> Lattice:
    """Return a lattice from ranges and lists of names, as the command accepts them.

    Args:
        tile: ranges MNxK or MNxKxSTAGES, such as ``"64:256:64x64,128"``.
        mma: ranges MNxK; K may be ``auto``: 32 bytes, what a dense instruction of the type reads.
        dtypes: names separated by commas, a list of names, or ``"all"``.
        majors: majors, likewise.
        swizzles: swizzle modes, likewise.
        orders: ``"mn"`` (along MN first), ``"k"``, ``"default"``, several separated by commas, or ``"all"``.
        archs: architectures, as for ``dtypes``.
        operands: ``"A"``, ``"B"``, ``"either"``, or several.
        legality: as in ``derive``.

    Raises:
        DescriptorError: if a range or name is wrong, or there are more than a hundred billion points.
    """
    ranges = str(tile).split("x")
    reads = str(mma).split("x")
    if len(ranges) not in (2, 3) or len(reads) != 2:
        name, value, form = ("tile", tile, "MNxK or MNxKxSTAGES") if len(reads) == 2 else ("mma", mma, "MNxK")
        raise DescriptorError(f"atlas: {name} is {brief(value)}, which is not of the form {form}")
    points = Lattice(
        tiles=(extents(ranges[0]), extents(ranges[1]), extents(ranges[2]) if len(ranges) == 3 else ()),
        mmas=(extents(reads[0]), () if reads[1] == AUTO else extents(reads[1])),
        dtypes=tuple(as_element_type(name).name for name in _names(dtypes, ELEMENT_TYPES)),
        majors=tuple(str(as_major(name)) for name in _names(majors, [str(major) for major in Major])),
        swizzles=tuple(str(as_swizzle_mode(name)) for name in _names(swizzles, [str(mode) for mode in SwizzleMode])),
        orders=tuple(_order(name) for name in _names(orders, ("mn", "k"))),
        archs=tuple(architecture(name) for name in _names(archs, MNEMONICS)),
        operands=tuple(_matrix(name) for name in _names(operands, ("A", "B"))),
        legality=legality,
    )
    if not len(points):
        raise DescriptorError(
            f"atlas: the lattice has no points, because no tile is a multiple of an instruction's extents; "
            f"tile = {tile}, mma = {mma}"
        )
    if len(points) > MOST_POINTS:
        raise DescriptorError(f"atlas: the lattice has {len(points)} points, and the maximum is {MOST_POINTS}")
    return points


def _names(names: Any, every: Iterable[str]) -> tuple[Any, ...]:
    if isinstance(names, str):
        names = every if names == "all" else names.split(",")
    try:
        return tuple(dict.fromkeys(names))
    except TypeError:
        raise DescriptorError(f"atlas: {brief(names)} is not a list of names") from None


def _order(name: Any) -> tuple[int, int] | None:
    known: dict[Any, tuple[int, int] | None] = {"mn": (0, 1), "k": (1, 0), "default": None, None: None}
    known |= {(0, 1): (0, 1), (1, 0): (1, 0)}
    if name not in known:
        raise DescriptorError(f"atlas: {brief(name)} is not an order; supported: mn, k, default")
    return known[name]


def _matrix(name: Any) -> str | None:
    if name not in ("A", "B", "either", None):
        raise DescriptorError(f"atlas: {brief(name)} is not an operand; supported: A, B, either")
    return None if name in ("either", None) else str(name)
