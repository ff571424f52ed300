"""Table of the canonical atoms of shared memory, the smallest tiles that the swizzle modes permute.

Each atom is defined once, in bytes, with the swizzle on byte addresses. A recast to the width of an element type gives
the atom of that type, including its swizzle (``S<3,4,3>`` on bytes is ``S<3,3,3>`` on 16-bit elements). Every
shared-memory tile that CuTe builds for a tensor core is one of these atoms, repeated by ``tile_to_shape``.

Invariant: an atom in 4-byte elements stores element j of a row where the atom in bytes stores byte 4*j of that row.

>>> from descriptors.smem.operands.operand import as_element_type
>>> u8, tf32 = as_element_type("u8"), as_element_type("tf32")
>>> for atom in ATOMS:
...     bytes_, elements = atom.in_elements(u8), atom.in_elements(tf32)
...     for i, j in ((i, j) for i in range(4) for j in range(4)):
...         row, place = ((i, j), (i, 4 * j)) if atom.major is Major.K else ((j, i), (4 * j, i))
...         assert 4 * elements(row) == bytes_(place), atom.name
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import lcm

from descriptors.errors import Advice, DescriptorError
from descriptors.smem.operands.operand import ElementType, Major, SwizzleMode, as_major, as_swizzle_mode, choose
from descriptors.smem.operands.swizzled import plain
from descriptors.text import tuple_text
from layoutalg import ComposedLayout, Layout, recast_layout, size, tile_to_shape
from layoutalg.frozen import frozen

_GMMA = (
    "CUTLASS include/cute/atom/mma_traits_sm90_gmma.hpp, Layout_{}_Atom_Bits; CuTe DSL tcgen05.make_smem_layout_atom"
)
_UMMA = (
    "CuTe DSL tcgen05.make_smem_layout_atom (MN_SW128_32B: 8 rows); CUTLASS include/cute/atom/mma_traits_sm100.hpp, "
    "Layout_MN_SW128_32B_Atom_Bits, has 4 rows, the same tile unless atoms are stacked MN first"
)
_UMMA_4 = "CUTLASS include/cute/atom/mma_traits_sm100.hpp, Layout_MN_SW128_32B_Atom_Bits"


@frozen
class Atom:
    """A canonical atom.

    Args:
        name: the name in CuTe.
        major: the contiguous dimension.
        mode: the swizzle mode.
        rows: the (MN, K) layout before swizzling; coordinates and offsets count bytes.
        source: where the atom is published.

    >>> print(ATOMS[3].name, ATOMS[3].rows, ATOMS[3].mode.swizzle)
    K_SW128 (8,128):(128,1) S<3,4,3>
    """

    name: str
    major: Major
    mode: SwizzleMode
    rows: Layout
    source: str

    def in_elements(self, element: ElementType) -> Layout | ComposedLayout:
        """Return the atom with coordinates and offsets in elements.

        Invariant: the byte offset of element (i, k) is its element offset times the element's bytes.

        >>> from descriptors.smem.operands.operand import as_element_type
        >>> print(ATOMS[3].in_elements(as_element_type("bf16")), ATOMS[3].in_elements(as_element_type("e2m1")))
        S<3,3,3> o 0 o (8,64):(64,1) S<3,5,3> o 0 o (8,256):(256,1)
        """
        swizzle = self.mode.swizzle
        in_bytes = self.rows if swizzle is None else ComposedLayout(swizzle, 0, self.rows)
        in_elements: Layout | ComposedLayout = recast_layout(element.storage_bits, 8, in_bytes)
        return in_elements


def _atom(name: str, major: Major, mode: SwizzleMode, source: str = "", height: int = 8) -> Atom:
    span = mode.span_bytes
    rows = Layout((height, span), (span, 1)) if major is Major.K else Layout((span, height), (1, span))
    return Atom(name, major, mode, rows, source or _GMMA.format(name))


#: Every canonical atom. CUTLASS and the PTX ISA define 128B_BASE32B, with 32-byte units, for MN-major only.
ATOMS = (
    _atom("K_INTER", Major.K, SwizzleMode.NONE),
    _atom("K_SW32", Major.K, SwizzleMode.B32),
    _atom("K_SW64", Major.K, SwizzleMode.B64),
    _atom("K_SW128", Major.K, SwizzleMode.B128),
    _atom("MN_INTER", Major.MN, SwizzleMode.NONE),
    _atom("MN_SW32", Major.MN, SwizzleMode.B32),
    _atom("MN_SW64", Major.MN, SwizzleMode.B64),
    _atom("MN_SW128", Major.MN, SwizzleMode.B128),
    _atom("MN_SW128_32B", Major.MN, SwizzleMode.B128_BASE32B, _UMMA),
)

#: Atoms of another source for a mode; the names are ours. The pattern of 32-byte units repeats after 4 rows: CUTLASS
#: C++ has an atom of 4 rows, the CuTe DSL one of 8. Stacked along MN first, they make different tiles.
OTHER_ATOMS = (_atom("MN_SW128_32B_4ROWS", Major.MN, SwizzleMode.B128_BASE32B, _UMMA_4, height=4),)


def atoms_of(major: Major, mode: SwizzleMode) -> tuple[Atom, ...]:
    """Return every atom of a major and a swizzle mode, the canonical one first.

    >>> [atom.name for atom in atoms_of(Major.MN, SwizzleMode.B128_BASE32B)]
    ['MN_SW128_32B', 'MN_SW128_32B_4ROWS']
    """
    return tuple(atom for atom in ATOMS + OTHER_ATOMS if atom.major is major and atom.mode is mode)


def canonical_atom(major: Major | str, mode: SwizzleMode | str, name: str | None = None) -> Atom:
    """Return the canonical atom of a major and a swizzle mode, or another of their atoms by its name.

    Args:
        major: the major or its name.
        mode: the swizzle mode or its name.
        name: the name of the atom; the canonical one if None.

    Raises:
        DescriptorError: if the major and mode have no atom, or none with this name.
        ChoiceError: if a name is unknown.

    >>> canonical_atom(Major.MN, SwizzleMode.B64).name
    'MN_SW64'
    >>> print(canonical_atom(Major.MN, SwizzleMode.B128_BASE32B, "MN_SW128_32B_4ROWS").rows)
    (128,4):(1,128)
    """
    major, mode = as_major(major), as_swizzle_mode(mode)
    atoms = atoms_of(major, mode)
    if atoms and name is not None:
        by_name = choose("derive: atom", name, {atom.name: atom for atom in ATOMS + OTHER_ATOMS})
        if by_name not in atoms:
            names = " or ".join(atom.name for atom in atoms)
            raise DescriptorError(f"derive: {by_name.name} is not an atom of {major}-major {mode}; supported: {names}")
        return by_name
    if atoms:
        return atoms[0]
    modes = ", ".join(str(atom.mode) for atom in ATOMS if atom.major is major)
    raise DescriptorError(f"atom: swizzle {mode} has no {major}-major atom; {major}-major swizzles: {modes}")


@lru_cache(maxsize=1 << 8)
def atom_in_elements(
    major: Major, mode: SwizzleMode, element: ElementType, name: str | None = None
) -> Layout | ComposedLayout:
    """Return the atom that ``canonical_atom`` selects, in elements. The results are cached.

    Raises:
        DescriptorError: as ``canonical_atom``.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> print(atom_in_elements(Major.K, SwizzleMode.B64, as_element_type("bf16")))
    S<2,3,3> o 0 o (8,32):(32,1)
    """
    return canonical_atom(major, mode, name).in_elements(element)


def smem_tile(
    atom: Layout | ComposedLayout,
    tile: tuple[int, ...],
    order: tuple[int, ...],
    element: ElementType | None = None,
    reads: tuple[int, int] | None = None,
) -> Layout | ComposedLayout:
    """Repeat an atom over a tile, and stack the modes in the given order.

    Args:
        atom: a canonical atom, in elements.
        tile: extents (MN, K) or (MN, K, stages), in elements.
        order: position of each mode in the stacking order; ``(0, 1)`` stacks along MN first.
        element: the element type, for the proposals of an error.
        reads: extents (MN, K) that one instruction reads, for the proposals of an error.

    Raises:
        DescriptorError: if the atom does not divide the tile.

    >>> print(smem_tile(Layout((8, 64), (64, 1)), (128, 128), (0, 1)))
    ((8,16),(64,2)):((64,512),(1,8192))
    """
    rows = plain(atom)
    for mode, (extent, unit) in enumerate(zip(tile, map(size, rows), strict=False)):
        if extent % unit:
            raise _not_whole(rows, mode, tile, element, reads)
    tiled: Layout | ComposedLayout = tile_to_shape(atom, tile, order)
    return tiled


def _not_whole(
    rows: Layout, mode: int, tile: tuple[int, ...], element: ElementType | None, reads: tuple[int, int] | None
) -> DescriptorError:
    """Return the error for a tile whose extent is not a multiple of the atom's or the instruction's."""
    dimension, extent, unit = "K" if mode else "MN", tile[mode], size(rows[mode])
    about = f"tile = {tuple_text(tile)}, atom = {rows}"
    if not isinstance(extent, int) or element is None:  # an extent with symbols has no proposals
        return DescriptorError(
            f"derive: tile {dimension} is {extent}, which is not a multiple of the atom's {unit}; {about}"
        )
    part = 1 if reads is None else reads[mode]
    contiguous = rows.stride[mode] == 1  # type: ignore[index]  # an atom has two modes
    proposals = list[Advice]()
    for whole in dict.fromkeys((extent, *multiples(extent, part))) if contiguous else ():
        resized = {"tile": replaced(tile, mode, whole)} if whole != extent else {}
        if whole % unit == 0:
            proposals.append(Advice(resized))
        elif modes := _fitting(whole, element):
            proposals.append(Advice({**resized, "swizzle": str(modes[-1])}))
    whole = lcm(unit, part)
    proposals.append(Advice({"tile": replaced(tile, mode, -(-extent // whole) * whole)}))
    units = [size(rows[0]), size(rows[1])]
    extents = [-(-n // atom) * atom if isinstance(n, int) else n for n, atom in zip(tile[:2], units, strict=True)]
    proposals.append(Advice({"tile": (*extents, *tile[2:])}))
    if reads is not None and extent % part and part != unit:
        rule = f"the instruction's {dimension} ({part}); tile = {tuple_text(tile)}, mma = {tuple_text(reads)}"
    else:
        rule = f"{unit}, the {dimension} of an atom in {element} elements; {about}"
    return DescriptorError(
        f"derive: tile {dimension} is {extent}, which is not a multiple of {rule}",
        proposals=[*proposals[:2], *turned(tile), *proposals[2:]],
    )


def multiples(extent: int, part: int) -> tuple[int, ...]:
    """Return the multiples of ``part`` around an extent, the smaller first.

    >>> multiples(100, 16), multiples(10, 16)
    ((96, 112), (16,))
    """
    return tuple(whole for whole in (extent // part * part, -(-extent // part) * part) if whole)


def replaced(tile: Sequence[int], mode: int, extent: int) -> tuple[int, ...]:
    """Return the tile with another extent in one mode.

    >>> replaced((128, 100, 4), 1, 96)
    (128, 96, 4)
    """
    return (*tile[:mode], extent, *tile[mode + 1 :])


def turned(tile: Sequence[int], name: str = "tile") -> list[Advice]:
    """Return the proposal for a tile, or an operand, that was written K x MN; none if both extents are equal.

    >>> turned((64, 128))
    [Advice(changes={'tile': (128, 64)}, when='if you wrote K x MN')]
    """
    k, mn, *stages = tile
    return [Advice({name: (mn, k, *stages)}, "if you wrote K x MN")] if k != mn else []


def _fitting(extent: int, element: ElementType) -> list[SwizzleMode]:
    """Return the swizzle modes whose row divides an extent, the widest last."""
    # Without 128B_BASE32B, which is as wide as 128B and supported for one type only.
    modes = (mode for mode in SwizzleMode if mode is not SwizzleMode.B128_BASE32B)
    return [mode for mode in modes if extent % (mode.span_bytes * 8 // element.storage_bits) == 0]
