"""One form tried on one operand: the descriptor that it gives, proved, or the reason why there is none.

Law: the word of a fit reads the layout of the fit, swizzle and all.

>>> from descriptors.debug.read import read
>>> from descriptors.operands.operand import as_element_type
>>> one = fitted(Layout((64, 16), (64, 1)), as_element_type("bf16"), Major.K, SwizzleMode.B128, "sm100", base=1024)
>>> found = read(one.descriptor.encode(), dtype="bf16", major="K", shape=(64, 16)).addresses
>>> found == tuple(tuple(1024 + 2 * one.layout(i, k) for k in range(16)) for i in range(64))
True
"""

from __future__ import annotations

from descriptors.debug.reading import as_extents
from descriptors.errors import DescriptorError
from descriptors.frozen import frozen
from descriptors.instructions.operands import check_operand
from descriptors.instructions.rules import kind_of
from descriptors.matching.canonical import Match, match_form
from descriptors.matching.forms import form
from descriptors.matching.partition import in_16_bytes, partition
from descriptors.operands.operand import LINE_BYTES, ElementType, Major, SwizzleMode
from descriptors.operands.swizzled import parts, plain, swizzle_on_elements
from descriptors.proof.addresses import address_unit, fetched_rows, stored_rows
from descriptors.proof.mismatch import first_mismatches
from descriptors.text import tuple_text
from descriptors.words.descriptor import Arch, SmemDescriptor
from layoutalg import ComposedLayout, Layout, Swizzle, make_layout, size


@frozen
class Fit:
    """A canonical form that an operand has, with the descriptor it gives.

    Args:
        match: the form, with the operand in it.
        descriptor: what the tensor core is told.
        layout: the operand in elements, with the swizzle.
    """

    match: Match
    descriptor: SmemDescriptor
    layout: Layout | ComposedLayout


def fitted(
    operand: Layout | ComposedLayout,
    element: ElementType,
    major: Major,
    mode: SwizzleMode,
    arch: Arch,
    *,
    base: int = 0,
    pattern_start: int = 0,
) -> Fit:
    """The descriptor of an operand in one form, proved by the read model.

    Args:
        operand: modes (MN, K) in elements; its swizzle, if it has one, is replaced by that of ``mode``.
        element: the element type.
        major: the contiguous dimension.
        mode: the swizzle mode.
        arch: ``"sm90"`` or ``"sm100"``.
        base: address of the layout's offset 0, in bytes.
        pattern_start: an address where the swizzle pattern starts, in bytes.

    Raises:
        NotCanonicalError: if the operand does not have the form.
        DescriptorError: if no word of this architecture reads it.

    >>> from descriptors.operands.operand import as_element_type
    >>> fit = fitted(Layout((64, 16), (64, 1)), as_element_type("bf16"), Major.K, SwizzleMode.B128, "sm100")
    >>> print(fit.layout, hex(fit.descriptor.encode()))
    S<3,3,3> o 0 o (64,16):(64,1) 0x4000404000010000
    """
    rows, _, offset = parts(operand)
    wanted = form(major, mode)
    shape = (size(rows, mode=[0]), size(rows, mode=[1]))
    found = match_form(plain(in_16_bytes(partition(rows, shape), element, wanted))[0], wanted, element)
    placed: Layout | ComposedLayout = rows
    if offset or mode is not SwizzleMode.NONE:
        placed = ComposedLayout(swizzle_on_elements(mode, element), offset, rows)
    shifted = pattern_start % mode.alignment_bytes
    descriptor = SmemDescriptor(
        arch,
        found.leading_byte_offset,
        found.stride_byte_offset,
        mode,
        start_address=base + offset * element.storage_bits // 8,
        base_offset=0 if mode is SwizzleMode.NONE else shifted // LINE_BYTES % 8,
    )
    stored = stored_rows(placed, element, base=base, pattern_start=pattern_start)
    fetched = fetched_rows([descriptor.encode()], arch=arch, element=element, major=major, shape=shape)[0]
    if stored != fetched:
        wrong = first_mismatches(stored, fetched, unit=address_unit(element), most=1)[0]
        raise DescriptorError(f"canonical: the word must read the layout, {wrong}; layout = {placed}, form = {wanted}")
    return Fit(found, descriptor, placed)


def operand_of(
    tile: Layout | ComposedLayout, shape: tuple[int, int], subtile: tuple[int, ...]
) -> Layout | ComposedLayout:
    """The operand of one subtile of a tile, as a layout of modes (MN, K).

    Args:
        tile: modes (MN, K, stages...), plain or a swizzle after a plain layout.
        shape: extents (MN, K) of an operand, in elements.
        subtile: coordinate (mn, k, stages...) among the operands.

    Raises:
        DescriptorError: if the shape does not divide the tile, or there is no such subtile.

    >>> print(operand_of(Layout((128, 64), (64, 1)), (64, 16), (1, 2)))
    S<0,4,3> o 4128 o (64,16):(64,1)
    """
    rows, swizzle, offset = parts(tile)
    operand, rest = partition(rows, shape)
    extents = tuple(size(mode) for mode in rest)
    if len(subtile) != len(extents) or not all(0 <= at < extent for at, extent in zip(subtile, extents, strict=True)):
        raise DescriptorError(
            f"operand: a subtile must lie in {tuple_text(extents)}, found {tuple_text(subtile)}; tile = {tile}"
        )
    moved, modes = offset + rest(*subtile), make_layout(*operand)
    if swizzle is None and not moved:
        return modes
    return ComposedLayout(swizzle or Swizzle(0, 4, 3), moved, modes)  # S<0,4,3>: none, as CuTe writes it


def as_shape(shape: object, tile: Layout | ComposedLayout) -> tuple[int, int]:
    """The extents (MN, K) of an operand: those given, or the first two of the tile.

    Raises:
        DescriptorError: if the tile has fewer than two modes, or the shape is not two extents.

    >>> as_shape(None, Layout(((8, 8), 16), ((64, 512), 1)))
    (64, 16)
    """
    rows = plain(tile)
    if not isinstance(rows.shape, tuple) or len(rows) < 2:
        raise DescriptorError(f"operand: a layout must have modes (MN, K), found {tile}")
    if shape is None:
        return size(rows, mode=[0]), size(rows, mode=[1])
    return as_extents(shape, "operand: a shape", "operand: an extent")


def illegal_because(arch: str, element: ElementType, major: Major, mode: SwizzleMode) -> str:
    """Why no instruction reads an operand of this kind; "" if one does, by the widest reading of the sources.

    >>> from descriptors.operands.operand import as_element_type
    >>> illegal_because("sm90", as_element_type("e4m3"), Major.K, SwizzleMode.B128)
    ''
    """
    try:
        check_operand(arch, kind_of(arch, element), element, major, mode, legality="lenient")
    except DescriptorError as error:
        return str(error)
    return ""
