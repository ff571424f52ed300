"""The arguments of a derivation, checked and made one thing: a tile, and what one instruction reads of it.

Law: a tile of atoms, and the layout that it comes to, ask for the same: all but the order, which a layout has not.

>>> from descriptors.operands.atoms import canonical_atom, smem_tile
>>> from descriptors.operands.operand import as_element_type
>>> bf16 = as_element_type("bf16")
>>> for major, mode in ((Major.K, SwizzleMode.B128), (Major.MN, SwizzleMode.B64)):
...     made = smem_tile(canonical_atom(major, mode).in_elements(bf16), (128, 64), (0, 1))
...     told = explicit(made, bf16, None, None, (64, 16), None, "elements", None)
...     assert told[:4] == specified((128, 64), bf16, major, mode, (64, 16), None, None)[:4]
"""

from __future__ import annotations

import re
from typing import NamedTuple

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.instructions import tables
from descriptors.matching.partition import Tile
from descriptors.operands.explicit import Unit, contiguous_major, explicit_tile, tile_of_partition
from descriptors.operands.operand import ElementType, Major, Matrix, SwizzleMode, as_major, as_swizzle_mode, choose
from descriptors.operands.swizzled import plain, start_of
from descriptors.text import tuple_text
from descriptors.words.descriptor import Arch
from layoutalg import cosize, size

#: What an operation says that was not told what one instruction reads.
MMA_MISSING = "{}: mma is missing: (MN, K) that one instruction reads, or its name, like m64n128k16, with the operand"


class TileSpec(NamedTuple):
    """What both ways to give a tile come to.

    Args:
        major: the contiguous dimension.
        swizzle: the swizzle mode.
        reads: extents (MN, K) that one instruction reads, in elements.
        extents: extents of the tile, in elements.
        order: position of each mode in the stacking order of the atoms; () for an explicit layout.
        layout: an explicit layout, in elements; None for a tile of atoms, which is made when all else is checked.
        atom: name of the atom; None for the canonical one.
    """

    major: Major
    swizzle: SwizzleMode
    reads: tuple[int, int]
    extents: tuple[int, ...]
    order: tuple[int, ...]
    layout: Tile | None
    atom: str | None = None


def specified(
    tile: object, element: ElementType, major: object, swizzle: object, reads: tuple[int, int] | None, order: object,
    capacity: int | None,
) -> TileSpec:  # fmt: skip
    """A tile of canonical atoms.

    Raises:
        DescriptorError: if an argument is malformed, or the tile larger than the capacity.

    >>> from descriptors.operands.operand import as_element_type
    >>> specified((128, 64), as_element_type("bf16"), "MN", "64B", (64, 16), None, None).order
    (1, 0)
    """
    contiguous, mode = as_major(major), as_swizzle_mode(swizzle)
    extents = _extents("tile", tile, (2, 3))
    if reads is None:
        raise DescriptorError(MMA_MISSING.format("derive"))
    stacking = _order(order, contiguous, len(extents))
    _check_capacity(size(extents), element, capacity, f"tile = {tuple_text(extents)}, dtype = {element}")
    return TileSpec(contiguous, mode, reads, extents, stacking, None)


def explicit(
    given: object, element: ElementType, major: object, swizzle: object, reads: tuple[int, int] | None, order: object,
    unit: Unit, capacity: int | None,
) -> TileSpec:  # fmt: skip
    """An explicit layout, partitioned already if nothing says what one instruction reads.

    Raises:
        DescriptorError: if it is no tile, or larger than the capacity.

    >>> from descriptors.operands.operand import as_element_type
    >>> text = "S<3,3,3> o 0 o ((64,16),1,4):((64,1),0,16)"
    >>> explicit(text, as_element_type("bf16"), None, None, None, None, "elements", None).reads
    (64, 16)
    """
    if order is not None:
        raise DescriptorError(f"derive: an explicit layout must come without an order, found {brief(order)}")
    tile, mode = explicit_tile(given, element, swizzle, unit)
    if reads is None:
        tile, reads = tile_of_partition(tile)
    rows = plain(tile)
    if len(rows) < 2:
        raise DescriptorError(f"derive: a layout must have modes (MN, K) or more, found {tile}")
    contiguous = contiguous_major(rows, element) if major is None else as_major(major)
    _check_capacity(start_of(tile) + cosize(rows), element, capacity, f"layout = {tile}")
    return TileSpec(contiguous, mode, reads, tuple(size(m) for m in rows), (), tile)


def instruction_extents(
    mma: object, cp: object, element: ElementType, arch: Arch, matrix: Matrix | None = None, cta_group: int = 1
) -> tuple[int, int] | None:
    """What one instruction reads, in elements; None if only the layout can tell.

    Raises:
        DescriptorError: if it is malformed, unknown, or given twice.

    >>> from descriptors.operands.operand import as_element_type
    >>> instruction_extents(None, "128x256b", as_element_type("bf16"), "sm100")
    (128, 16)
    """
    if cp is None:
        if mma is None:
            return None
        mn, k = _extents("mma", _operand_of(mma, matrix, cta_group) if isinstance(mma, str) else mma, (2,))
        return mn, k
    if mma is not None:
        raise DescriptorError(f"derive: give either mma or cp, found both; mma = {brief(mma)}, cp = {brief(cp)}")
    if arch != "sm100":
        raise DescriptorError(f"derive: tcgen05.cp must have arch sm100, found {arch}")
    row = choose("derive: cp", cp, {row.shape: row for row in tables.COPIES})
    return row.lanes, row.bits // element.storage_bits


def _operand_of(instruction: str, matrix: Matrix | None, cta_group: int) -> tuple[int, int]:
    """What an instruction named as in PTX, ``m64n128k16``, reads of an operand in the memory of one CTA."""
    named = re.fullmatch(r"m(\d{1,9})n(\d{1,9})k(\d{1,9})", instruction.casefold(), re.ASCII)
    if named is None:
        raise DescriptorError(f"derive: mma must be (MN, K), or named like m64n128k16, found {brief(instruction)}")
    m, n, k = map(int, named.groups())
    m, n = m // cta_group, n // cta_group
    if matrix is None:
        raise DescriptorError(
            f"derive: an instruction must come with its operand, found {instruction} alone; A reads {m}x{k}, B {n}x{k}"
        )
    return (m, k) if matrix == "A" else (n, k)


def _extents(name: str, value: object, ranks: tuple[int, ...]) -> tuple[int, ...]:
    modes = "(MN, K)" if ranks == (2,) else "(MN, K) or (MN, K, stages)"
    if not isinstance(value, (tuple, list)) or len(value) not in ranks:
        whole = name == "mma" and isinstance(value, (tuple, list)) and len(value) == 3
        named = "; an instruction M x N x K is given by name, like m64n128k16, with the operand" if whole else ""
        raise DescriptorError(f"derive: {name} must be {modes}, found {brief(value)}{named}")
    return tuple(as_integer(extent, f"derive: {name} extent {i}", minimum=1) for i, extent in enumerate(value))


def _order(value: object, major: Major, modes: int) -> tuple[int, ...]:
    if value is None:
        # Atoms stacked along the other dimension first leave the contiguous one, which no TMA box of a swizzled tile
        # can cross, for last: the boxes are then as large as they can be (article, sections 3.1 and 4.1).
        return (0, 1, 2)[:modes] if major is Major.K else (1, 0, 2)[:modes]
    if not isinstance(value, (tuple, list)) or len(value) != modes:
        raise DescriptorError(f"derive: order must have one position for each of {modes} modes, found {brief(value)}")
    order = tuple(as_integer(position, "derive: a position in order") for position in value)
    if sorted(order) != list(range(modes)):
        raise DescriptorError(f"derive: order must be a permutation of 0..{modes - 1}, found {tuple_text(order)}")
    return order


def _check_capacity(elements: int, element: ElementType, capacity: int | None, about: str) -> None:
    if capacity is None:
        return
    needed = elements * element.storage_bits // 8
    if needed > capacity:
        raise DescriptorError(
            f"derive: a tile must fit {capacity} bytes of shared memory, needs {brief(needed)}; {about}; "
            "capacity none derives any tile"
        )
