"""From a tile specification to the descriptor of every operand in it: five steps of layout algebra.

1. ``smem_tile``    the canonical atom repeated over the tile (``tile_to_shape``), in elements;
2. ``partitioned``  the tile cut into what one instruction reads (``zipped_divide``): ((MN, K), rest);
3. ``recast``       the same in 16-byte units (``recast_layout`` to 128 bits), the unit of the descriptor's fields;
4. ``canonical``    one operand in canonical form (``match``), whose two free steps are LBO and SBO;
5. ``advance``      the rest of step 3: from subtile to its offset from the first, in 16-byte units.

No stride is written by hand: every number comes out of the algebra and the tables of ``atoms`` and ``canonical``.
Source: article "Blackwell MMA SMEM Descriptor", sections 3.5 and 4.5; CUTLASS ``make_umma_desc`` and
``DescriptorIterator`` in ``include/cute/atom/mma_traits_sm100.hpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from descriptors import canonical
from descriptors.atoms import canonical_atom, smem_tile
from descriptors.canonical import plain
from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.operand import ElementType, Major, SwizzleMode, as_element_type, as_major, as_swizzle_mode
from descriptors.record import Derivation, SmemDescriptor, architecture
from layoutalg import ComposedLayout, Layout, recast_layout, size, zipped_divide

#: Shared memory that one thread block can use on sm90 and sm100 (CUDA C++ Programming Guide, compute capabilities).
SMEM_BYTES = 227 * 1024


def derive(
    tile: Sequence[int],
    dtype: str | ElementType,
    major: str | Major,
    swizzle: str | SwizzleMode,
    mma: Sequence[int],
    order: Sequence[int] | None = None,
    arch: str = "sm100",
) -> Derivation:
    """Derive the shared-memory descriptor of a tile of canonical atoms, and every step towards it.

    Law: with the tile at address ``a``, the operand of subtile (i, j) is described by the descriptor with start address
    ``a + offsets_bytes()[i][j]``, all its other fields unchanged.

    Args:
        tile: extents (MN, K), or (MN, K, stages), in elements.
        dtype: name of the element type: f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 s8 u8.
        major: ``"K"`` or ``"MN"``: the contiguous dimension.
        swizzle: ``"none"``, ``"32B"``, ``"64B"``, ``"128B"`` or ``"128B_BASE32B"``.
        mma: extents (MN, K) that one instruction reads, in elements.
        order: position of each tile mode in the stacking order of the atoms. Default: the contiguous dimension last,
            so that one TMA box can hold whole columns of atoms: (0, 1) for K-major, (1, 0) for MN-major.
        arch: ``"sm90"`` or ``"sm100"``.

    Raises:
        DescriptorError: if an argument is unknown or malformed, the atom does not divide the tile or the operand the
            tile, the operand has no canonical form, or the tile exceeds shared memory.
        LayoutError: if a step of the algebra has no result.

    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16), order=(0, 1), arch="sm100")
    >>> print(d.smem_tile)
    S<3,3,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))
    >>> print(d.canonical, d.advance)
    ((8,8),(1,2)):((8,64),(0,1)) (2,(4,2)):(512,(2,1024))
    >>> hex(d.descriptor.encode())
    '0x4000404000010000'
    """
    element, contiguous, mode = as_element_type(dtype), as_major(major), as_swizzle_mode(swizzle)
    name = architecture(arch)
    extents, operand = _extents("tile", tile, (2, 3)), _extents("mma", mma, (2,))
    stacking = _order(order, contiguous, len(extents))
    _check_capacity(extents, element)
    atom = canonical_atom(contiguous, mode).in_elements(element)
    tiled = smem_tile(atom, extents, stacking)
    _check_partition(extents, operand)
    partitioned = zipped_divide(tiled, operand)
    recast = _recast(partitioned, element, contiguous)
    first, rest = plain(recast)
    found = canonical.match(first, contiguous, mode)
    descriptor = SmemDescriptor(name, found.leading_byte_offset, found.stride_byte_offset, mode)
    descriptor.encode()  # raises here if a field cannot hold its value or the architecture lacks the swizzle
    return Derivation(
        tile=extents,
        mma=(operand[0], operand[1]),
        order=stacking,
        element=element,
        major=contiguous,
        swizzle=mode,
        atom=atom,
        smem_tile=tiled,
        partitioned=partitioned,
        recast=recast,
        match=found,
        advance=rest,
        descriptor=descriptor,
    )


def _recast(partitioned: Layout | ComposedLayout, element: ElementType, major: Major) -> Layout | ComposedLayout:
    """The partitioned tile in 16-byte units; an operand that ends within such a unit has none."""
    extent = size(plain(partitioned)[0], mode=[major.contiguous_mode])
    if extent % element.per_16_bytes:
        raise DescriptorError(
            f"derive: an operand must be a multiple of {element.per_16_bytes} {element} elements (16 bytes) along "
            f"{major}, found {extent}; partitioned = {partitioned}"
        )
    return recast_layout(128, element.storage_bits, partitioned)


def _extents(name: str, value: object, ranks: tuple[int, ...]) -> tuple[int, ...]:
    modes = "(MN, K)" if ranks == (2,) else "(MN, K) or (MN, K, stages)"
    if not isinstance(value, (tuple, list)) or len(value) not in ranks:
        raise DescriptorError(f"derive: {name} must be {modes}, found {brief(value)}")
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
        raise DescriptorError(f"derive: order must be a permutation of 0..{modes - 1}, found {_text(order)}")
    return order


def _check_capacity(extents: tuple[int, ...], element: ElementType) -> None:
    needed = prod(extents) * element.storage_bits // 8
    if needed > SMEM_BYTES:
        raise DescriptorError(
            f"derive: a tile must fit {SMEM_BYTES} bytes of shared memory, needs {brief(needed)}; "
            f"tile = {_text(extents)}, dtype = {element}"
        )


def _check_partition(extents: tuple[int, ...], operand: tuple[int, ...]) -> None:
    for i, part in enumerate(operand):
        if extents[i] % part:
            raise DescriptorError(
                f"derive: tile extent {i} must be a multiple of the mma's {part}, found {extents[i]}; "
                f"tile = {_text(extents)}, mma = {_text(operand)}"
            )


def _text(extents: tuple[int, ...]) -> str:
    return f"({','.join(map(str, extents))})"
