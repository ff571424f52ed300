"""The five steps from a tile to the descriptors of its operands, for extents with numbers or symbols.

1. ``smem_tile``    the canonical atom repeated over the tile (``tile_to_shape``), in elements; or any layout;
2. ``partitioned``  the tile divided into the operands of one instruction (``zipped_divide``): ((MN, K), rest);
3. ``recast``       the same in 16-byte units (``recast_layout`` to 128 bits), the unit of the descriptor's fields;
4. ``match``        one operand in canonical form, whose two free strides are LBO and SBO;
5. ``advance``      the rest of step 3: from a subtile to its offset from the first, in 16-byte units.

Operands with 48 bytes of K (K = 96) that cross from one swizzle atom to the next are not equal parts of the tile. Their
steps 2 to 5 describe columns of 16 bytes, and their words differ in two fields (``crossing``).

No stride is written by hand: every number or polynomial follows from the algebra and the tables of ``atoms`` and
``canonical``.
Source: article "Blackwell MMA SMEM Descriptor", sections 3.5, 4.5 and 5; CUTLASS ``make_umma_desc`` and
``DescriptorIterator`` in ``include/cute/atom/mma_traits_sm100.hpp``.

Invariant: the steps of a tile with symbols, after substitution, are the steps of the tile with these numbers.

>>> from descriptors.smem.derivation.request import reader, request
>>> from layoutalg import substitute, symbol
>>> by, m, k = reader("sm100", "bf16", (64, 16)), symbol("m"), symbol("k")
>>> spec = request(by, (128, 192), major="K", swizzle="128B").spec
>>> formulas, numbers = steps(by, spec._replace(extents=(64 * m, 64 * k))), steps(by, spec)
>>> substitute(formulas.match.stride_byte_offset, {"m": 2, "k": 3}) == numbers.match.stride_byte_offset
True
>>> advance = substitute(formulas.advance, {"m": 2, "k": 3})
>>> all(advance(i) == numbers.advance(i) for i in range(24))
True
"""

from __future__ import annotations

from typing import NamedTuple

from descriptors.errors import DescriptorError
from descriptors.smem.derivation.crossing import Crossing, columns
from descriptors.smem.derivation.request import Reader, TileSpec
from descriptors.smem.operands.atoms import atom_in_elements, smem_tile
from descriptors.smem.operands.canonical import Match
from descriptors.smem.operands.forms import form
from descriptors.smem.operands.match import Tile, matched_steps
from descriptors.smem.operands.operand import ElementType
from descriptors.targets import has_tcgen05


class Steps(NamedTuple):
    """The results of the five steps for a tile.

    Args:
        atom: the canonical atom, in elements.
        smem_tile: step 1, in elements.
        partitioned: step 2, in elements.
        recast: step 3, in 16-byte units.
        match: step 4.
        advance: step 5, in 16-byte units.
        crossing: where K continues for operands that cross from one swizzle atom to the next; None if no operand does.
    """

    atom: Tile
    smem_tile: Tile
    partitioned: Tile
    recast: Tile
    match: Match
    advance: Tile
    crossing: Crossing | None


def stored_tile(element: ElementType, spec: TileSpec) -> tuple[Tile, Tile]:
    """Return the atom and step 1: the atom repeated over the tile, or the explicit layout.

    Raises:
        DescriptorError: if there is no such atom, or it does not divide the tile.
    """
    atom = atom_in_elements(spec.major, spec.swizzle, element, spec.atom)
    if spec.layout is not None:
        return atom, spec.layout
    return atom, smem_tile(atom, spec.extents, spec.order, element, spec.reads)


def steps(by: Reader, spec: TileSpec) -> Steps:
    """Return the five steps of a tile, whose extents may contain symbols.

    Args:
        by: the instruction that reads the tile.
        spec: the tile.

    Raises:
        DescriptorError: if a step has no result.
        NotCanonicalError: if the operand has no canonical form.
        UndecidedError: if the result depends on the values of symbols.
    """
    target = form(spec.major, spec.swizzle)
    atom, tile = stored_tile(by.element, spec)
    try:
        return Steps(atom, tile, *matched_steps(tile, spec.reads, by.element, target), None)
    except DescriptorError:
        if by.cp is not None or not has_tcgen05(by.arch):
            raise
        cut = columns(tile, by.element, spec.major, spec.swizzle, spec.reads)
        if cut is None:
            raise
    return Steps(atom, tile, cut.partitioned, cut.recast, cut.match, cut.advance, cut.crossing)
