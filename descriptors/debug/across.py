"""One operand that crosses from one swizzle atom to the next: where it is stored, and the word that reads it.

Such an operand is no layout of its own, so that it stays a part of its tile: its addresses are cut out of those of the
tile, and its word comes from the columns of 16 bytes that the tile is made of
(``descriptors.derivation.parts.crossing``).

Law: the word reads the operand, wherever the tile lies.

>>> from descriptors.operands.operand import as_element_type
>>> from layoutalg import ComposedLayout, Layout, Swizzle
>>> tile = ComposedLayout(Swizzle(3, 5, 3), 0, Layout((8, (256, 3)), (256, (1, 2048))))
>>> for k, base in ((k, base) for k in range(8) for base in (0, 4096)):
...     one = across(tile, SwizzleMode.B128, as_element_type("e2m1"), (8, 96), (0, k))
...     word = one.fitted("sm100", base, 0, absolute=True).descriptor.encode()
...     read = fetched_rows([word], arch="sm100", element=one.element, major=Major.K, shape=(8, 96))[0]
...     assert read == one.stored(base, 0), k
"""

from __future__ import annotations

from dataclasses import replace

from descriptors.debug.fit import Fit
from descriptors.derivation.parts.crossing import Columns, columns
from descriptors.errors import DescriptorError
from descriptors.frozen import frozen
from descriptors.matching.partition import Tile
from descriptors.operands.operand import LINE_BYTES, ElementType, Major, SwizzleMode
from descriptors.operands.swizzled import plain, start_of
from descriptors.proof.addresses import address_unit, fetched_rows, stored_rows
from descriptors.proof.mismatch import first_mismatches
from descriptors.proof.walk_model import Rows
from descriptors.requests.arguments import TileSpec
from descriptors.text import tuple_text
from descriptors.words.descriptor import Arch, SmemDescriptor
from layoutalg import size


@frozen
class Across:
    """An operand of a tile whose operands cross atoms.

    Args:
        tile: modes (MN, K, stages...), in elements.
        element: the element type.
        shape: extents (MN, K) of the operand, in elements.
        at: which operand of the tile.
        columns: the tile cut into columns of 16 bytes.
    """

    tile: Tile
    element: ElementType
    shape: tuple[int, int]
    at: tuple[int, ...]
    columns: Columns

    @property
    def first(self) -> int:
        """Where the operand begins, before the swizzle, from the layout's offset 0, in bytes."""
        begins = self.columns.advance(*self.at)
        assert isinstance(begins, int)
        return 16 * (start_of(self.columns.recast) + begins)

    @property
    def line(self) -> int:
        """The line in which K goes on, likewise."""
        mn, k, *stages = self.at
        begins = self.columns.advance(mn, 0, *stages)
        assert isinstance(begins, int)
        return 16 * (start_of(self.columns.recast) + begins + self.columns.crossing.goes_on(k))

    def stored(self, base: int, pattern_start: int) -> Rows:
        """The address of every element, ``stored[mn][k]``, in the unit of ``address_bits``.

        Args:
            base: address of the layout's offset 0, in bytes.
            pattern_start: an address where the swizzle pattern starts, in bytes.

        Raises:
            DescriptorError: if the tile does not lie in the address window.
        """
        whole = stored_rows(self.tile, self.element, base=base, pattern_start=pattern_start)
        (mn, k), (i, j, *stages) = self.shape, self.at
        cut = [row[j * k : (j + 1) * k] for row in whole[i * mn : (i + 1) * mn]]
        for stage in stages:
            cut = [[one[stage] for one in row] for row in cut]
        return cut

    def fitted(self, arch: Arch, base: int, pattern_start: int, *, absolute: bool) -> Fit:
        """The descriptor of the operand, proved.

        Args:
            arch: ``"sm100"``.
            base: address of the layout's offset 0, in bytes.
            pattern_start: an address where the swizzle pattern starts, in bytes.
            absolute: whether LBO shall be an address also where K does not go on in another line.

        Raises:
            DescriptorError: if no word reads the operand there.
        """
        crosses, match = self.columns.crossing.crosses(self.at[1]), self.columns.match
        if crosses:
            match = replace(match, form=replace(match.form, unread=()), idle=())
        descriptor = SmemDescriptor(
            arch,
            base + self.line if crosses or absolute else match.leading_byte_offset,
            match.stride_byte_offset,
            match.form.mode,
            start_address=base + self.first,
            base_offset=pattern_start // LINE_BYTES % 8,
            leading_is_absolute=crosses or absolute,
        )
        stored = self.stored(base, pattern_start)
        read = fetched_rows([descriptor.encode()], arch=arch, element=self.element, major=Major.K, shape=self.shape)[0]
        if stored != read:
            wrong = first_mismatches(stored, read, unit=address_unit(self.element), most=1)[0]
            raise DescriptorError(f"canonical: the word must read the layout, {wrong}; layout = {self.tile}")
        return Fit(match, descriptor, self.tile)


def across(
    tile: Tile, mode: SwizzleMode, element: ElementType, shape: tuple[int, int], at: tuple[int, ...]
) -> Across | None:
    """An operand of a tile whose operands cross atoms; None of a tile where that is not in the way.

    Args:
        tile: modes (MN, K, stages...), in elements.
        mode: its swizzle mode.
        element: the element type.
        shape: extents (MN, K) of the operand, in elements.
        at: which operand of the tile.

    Raises:
        DescriptorError: if there is no such operand, or the operands cross where no word can.
    """
    extents = tuple(size(one) for one in plain(tile))
    cut = columns(tile, element, TileSpec(Major.K, mode, shape, extents, (), tile))
    if cut is None:
        return None
    many = tuple(size(one) for one in cut.advance)
    if len(at) != len(many) or not all(0 <= one < extent for one, extent in zip(at, many, strict=True)):
        raise DescriptorError(
            f"operand: a subtile must lie in {tuple_text(many)}, found {tuple_text(at)}; tile = {tile}"
        )
    return Across(tile, element, shape, at, cut)
