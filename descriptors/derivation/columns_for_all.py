"""Operands that cross atoms, for every size of the tile at once: its columns of 16 bytes, with symbols in the extents.

Operand j along K begins at piece 3*j and names line (3*j + 2) // 8, whatever the number of lines: both are the tile's,
by the theorem of ``cut_tile``, if K is cut into lines of 8 pieces that follow one another, of which there are a
multiple of three, and all other steps are whole lines. Nothing here is a power of two: all of it is decided over the
integers, with symbols for positive numbers.

Law: numbers for the symbols give tiles that are proved with numbers.

>>> from descriptors import derive, proved
>>> for tile in ((128, 768), (256, 1536), (128, 768, 2)):
...     print(proved(derive(tile, "e2m1", "K", "128B", (128, 96), kind="mxf4", cta_group=2, capacity=None)).claim)
for every tile 128*m x 768*k, any base that is a multiple of 1024
for every tile 128*m x 768*k, any base that is a multiple of 1024
for every tile 128*m x 768*k x s, any base that is a multiple of 1024
"""

from __future__ import annotations

from math import prod
from typing import Any

from descriptors.derivation.parts.crossing import LINE, PIECES, Columns, columns
from descriptors.operands.atoms import atom_in_elements, smem_tile
from descriptors.operands.operand import ElementType, Major, SwizzleMode
from descriptors.requests.arguments import TileSpec
from descriptors.theorem.affine import Affine, modes, stored
from descriptors.theorem.digits import normal
from descriptors.theorem.walk_model import fields, walk, xor
from descriptors.words.descriptor import SmemDescriptor
from layoutalg import ComposedLayout, Layout


def columns_for_all(
    extents: tuple[Any, ...], element: ElementType, reads: tuple[int, int], order: tuple[int, ...]
) -> tuple[Layout | ComposedLayout, Columns | None]:
    """A tile with symbols in its extents, and its columns; None if its operands do not cross atoms.

    Raises:
        DescriptorError, UndecidedError: if the tile is none for all values of the symbols, or its columns are not.
    """
    tile = smem_tile(atom_in_elements(Major.K, SwizzleMode.B128, element), extents, order)
    return tile, columns(tile, element, TileSpec(Major.K, SwizzleMode.B128, reads, extents, order, None))


def hold_for_all(tile: Layout | ComposedLayout, cut: Columns, element: ElementType, reads: tuple[int, int]) -> bool:
    """Whether the words that follow from the columns of a tile read it, for every value of its symbols.

    Raises:
        UndecidedError: if that depends on the values.

    >>> from dataclasses import replace
    >>> from descriptors.operands.operand import as_element_type
    >>> from layoutalg import symbol
    >>> e2m1, reads = as_element_type("e2m1"), (128, 96)
    >>> tile, cut = columns_for_all((128 * symbol("m"), 768 * symbol("k")), e2m1, reads, (0, 1))
    >>> late = replace(cut.crossing, lines=Layout(cut.crossing.lines.shape, 8 + cut.crossing.lines.stride))
    >>> hold_for_all(tile, cut, e2m1, reads), hold_for_all(tile, replace(cut, crossing=late), e2m1, reads)
    (True, False)
    """
    name, whole, form = element.name, element.per_16_bytes, stored(tile)
    told = fields(SmemDescriptor("sm100", 0, 0, SwizzleMode.B128, leading_is_absolute=True).encode(), "sm100")
    walked = walk(told._replace(stride=cut.match.stride_byte_offset // 16), name, "K", reads)
    pieces, choice = cut.advance.outer, cut.advance.inner
    if walked is None or not isinstance(pieces, Layout) or not isinstance(choice, Layout):
        return False
    steps, lines = modes(pieces, whole), modes(cut.crossing.lines, whole)[0]
    read = [normal([*walked[0], *steps[0]]), normal([(LINE * whole, 1), *lines]), *map(normal, steps[2:])]
    conditions = (
        form.xor == xor(told.pattern, name) and form.start == 0 and cut.advance.offset == 0,
        read == list(map(normal, form.modes)),
        normal([(whole, 1), *steps[1]]) == read[1] and prod(n for n, _ in lines) % PIECES == 0,
        modes(choice) == _every_third(form, reads, whole),
        all(n == 1 or d % (LINE * whole) == 0 for mode in (steps[0], lines, *steps[2:]) for n, d in mode),
    )
    return all(conditions)


def _every_third(form: Affine, reads: tuple[int, int], whole: int) -> list[list[tuple[Any, Any]]]:
    """What chooses the pieces at which operands begin: every one of a mode, but every third along K."""
    found, below = list[list[tuple[Any, Any]]](), 1
    for i, mode in enumerate(form.modes):
        many = prod((n for n, _ in mode), start=1)
        many = many // (reads[0], whole)[i] if i < 2 else many
        every = PIECES if i == 1 else 1
        found.append([(many // every, every * below)])
        below = below * many
    return found
