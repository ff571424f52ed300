"""A tile cut into operands, counted in 16-byte units, and matched with a canonical form: steps 2 to 5 of a derivation.

The tensor core fetches 16 bytes at a time, so that an operand has canonical form only if its elements lie in whole such
units: contiguous along the major dimension, and every other step a multiple of 16 bytes. ``in_16_bytes`` checks that,
naming the mode that fails, before it recasts; a recast alone also accepts units that are only partly used. Whoever asks
for the form of a layout asks ``matched_steps``, for numbers and for symbols; ``match`` is its public door.
Source: article "Blackwell MMA SMEM Descriptor", sections 3.5.2, 3.5.3; CUTLASS ``make_umma_desc``.

Law: a swizzle that the layout brings along and the same one named beside a plain layout make one match.

>>> swizzled = {"32B": "S<1,3,3> o 0 o (64,16):(16,1)", "128B": "S<3,3,3> o 0 o (64,16):(64,1)"}
>>> all(match(text, "bf16") == match(text.split(" o ")[2], "bf16", swizzle=mode) for mode, text in swizzled.items())
True

Law: coordinates move and offsets stay: an element, or 16 bytes, of an operand lies where it lies in the tile.

>>> from descriptors.smem.operands.forms import form
>>> from descriptors.smem.operands.operand import as_element_type
>>> tile, bf16 = Layout((16, 64), (64, 1)), as_element_type("bf16")
>>> cut = partition(tile, (8, 16))
>>> pieces, at = in_16_bytes(cut, bf16, form("K", "128B")), [(i, j) for i in range(16) for j in range(0, 64, 8)]
>>> all(8 * pieces((i % 8, j % 16 // 8), (i // 8, j // 16)) == tile(i, j) for i, j in at)
True
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from descriptors.errors import Advice, DescriptorError, NotCanonicalError, advised
from descriptors.smem.operands.atoms import multiples, replaced, turned
from descriptors.smem.operands.canonical import Axis, Match, axis_of, begins, bytes_text, first_break, match_form
from descriptors.smem.operands.explicit import Given, Unit, as_unit, contiguous_major, explicit_tile
from descriptors.smem.operands.forms import Form, form
from descriptors.smem.operands.operand import (
    ElementType,
    Major,
    MajorName,
    SwizzleMode,
    SwizzleName,
    as_element_type,
    as_major,
    major_of,
)
from descriptors.smem.operands.swizzled import around, plain, start_of, stored_text
from descriptors.text import tuple_text
from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    UndecidedError,
    coalesce,
    flatten,
    make_layout,
    recast_layout,
    size,
    zipped_divide,
)
from layoutalg.frozen import replace

Tile = Layout | ComposedLayout


class MatchedSteps(NamedTuple):
    """A tile from its operands to their canonical form.

    Args:
        partitioned: step 2, in elements: ``((MN, K), (MN subtiles, K subtiles, stages...))``.
        recast: step 3, in 16-byte units.
        match: step 4: the first operand in canonical form.
        advance: step 5: from subtile to its offset from the first, in 16-byte units.
    """

    partitioned: Tile
    recast: Tile
    match: Match
    advance: Layout


#: One operand has few forms, whatever the tile that it is cut from.
_matched = lru_cache(maxsize=1 << 10)(match_form)


def matched_steps(tile: Tile, operand: tuple[int, int], element: ElementType, target: Form) -> MatchedSteps:
    """Steps 2 to 5 of a tile, of numbers or with symbols in its extents.

    Args:
        tile: modes (MN, K, ...), in elements.
        operand: extents (MN, K) of what one instruction reads, in elements.
        element: the element type.
        target: the canonical form that the operand shall have.

    Raises:
        NotCanonicalError: if it does not.
        DescriptorError: as ``partition`` and ``in_16_bytes``.
        UndecidedError: if that depends on the values of symbols.

    >>> from descriptors.smem.operands.forms import form
    >>> from descriptors.smem.operands.operand import as_element_type
    >>> steps = matched_steps(Layout((128, 64), (64, 1)), (64, 16), as_element_type("bf16"), form("K", "128B"))
    >>> print(steps.match.layout, steps.advance)
    ((8,8),(1,2)):((8,64),(0,1)) (2,4):(512,2)
    """
    partitioned = partition(tile, operand)
    recast = in_16_bytes(partitioned, element, target)
    first, advance = plain(recast)
    return MatchedSteps(partitioned, recast, _matched(first, target, element), advance)


def partition(tile: Tile, operand: tuple[int, int]) -> Tile:
    """The tile as ``((MN, K), (MN subtiles, K subtiles, stages...))``.

    Args:
        tile: modes (MN, K, ...), in elements.
        operand: extents (MN, K) of what one instruction reads, in elements.

    Raises:
        DescriptorError: if the operand does not divide the tile, or not between its atoms.

    >>> print(partition(Layout((128, 64), (64, 1)), (64, 16)))
    ((64,16),(2,4)):((64,1),(4096,16))
    """
    extents = [size(mode) for mode in plain(tile)]
    for i, part in enumerate(operand):
        if extents[i] % part:
            dimension = "K" if i else "MN"
            raise DescriptorError(
                f"derive: tile {dimension} is {extents[i]}, which is not a multiple of the instruction's {dimension} "
                f"({part}); tile = {tuple_text(extents)}, mma = {tuple_text(operand)}",
                proposals=other_tiles(extents, i, part),
            )
    try:
        subtiles: Tile = zipped_divide(tile, operand)
    except UndecidedError:
        raise
    except LayoutError as error:
        raise DescriptorError(
            f"derive: every operand must be the same part of the tile, found that one ends inside an atom or mode; "
            f"tile = {tile}, mma = {tuple_text(operand)}"
        ) from error
    return subtiles


def other_tiles(extents: Sequence[int], i: int, part: int) -> list[Advice]:
    """Return the tiles that may be meant by one with an extent that is no whole number of instructions."""
    if not all(isinstance(extent, int) for extent in extents):  # a symbol has no neighbors
        return []
    near = multiples(extents[i], part)
    further = [near[0] - part, near[-1] + part, near[-1] + 2 * part, near[-1] + 3 * part]
    wholes = [*near, *(whole for whole in further if whole > 0)]
    resized = [Advice({"tile": replaced(extents, i, whole)}) for whole in wholes]
    return [*resized[: len(near)], *turned(extents), *resized[len(near) :]]


def in_16_bytes(partitioned: Tile, element: ElementType, form: Form) -> Tile:
    """The partitioned tile in 16-byte units.

    Args:
        partitioned: what ``partition`` returned, in elements.
        element: the element type.
        form: the canonical form that the operand shall have.

    Raises:
        DescriptorError: if the operand ends, or a subtile starts, within 16 bytes.
        NotCanonicalError: if the operand's elements do not fill whole 16-byte units.

    >>> from descriptors.smem.operands.forms import form
    >>> from descriptors.smem.operands.operand import as_element_type
    >>> cut = Layout(((64, 16), (2, 4)), ((64, 1), (4096, 16)))
    >>> print(in_16_bytes(cut, as_element_type("bf16"), form("K", "128B")))
    ((64,2),(2,4)):((8,1),(512,2))
    """
    _refuse_parts(partitioned, element, form)
    return _recast(partitioned, element, form.major.contiguous_mode)


def _refuse_parts(partitioned: Tile, element: ElementType, form: Form) -> None:
    """Refuse what does not lie in whole units of 16 bytes, with the reason."""
    whole, contiguous = element.per_16_bytes, form.major.contiguous_mode
    operand, rest = plain(partitioned)
    extent = size(operand, mode=[contiguous])
    if extent % whole:
        raise DescriptorError(
            f"derive: an operand must be a multiple of {whole} {element} elements (16 bytes) along "
            f"{form.major}, found {extent}; partitioned = {partitioned}"
        )

    _check_whole(operand, element, form)
    for i, subtiles in enumerate(rest):
        for _, step in _strides(flatten(subtiles), i):
            if step % whole:
                raise DescriptorError(
                    f"derive: every subtile must start at a multiple of 16 bytes ({whole} {element} elements), found a "
                    f"step of {step} elements; partitioned = {partitioned}"
                )
    if start_of(partitioned) % whole:
        raise DescriptorError(
            f"derive: a tile must start at a multiple of 16 bytes ({whole} {element} elements), found offset "
            f"{start_of(partitioned)}; partitioned = {partitioned}"
        )


def _check_whole(operand: Layout, element: ElementType, form: Form) -> None:
    """Refuse an operand whose elements do not fill whole 16-byte units.

    Raises:
        NotCanonicalError: naming the elements that lie elsewhere.
    """
    whole, contiguous = element.per_16_bytes, form.major.contiguous_mode
    other = 1 - contiguous

    def failure(mode: tuple[int, ...], expected: str, found: str, why: str) -> NotCanonicalError:
        return NotCanonicalError(
            form=str(form), mode=mode, expected=expected, found=found, layout=str(operand), why=why, unit="elements"
        )

    first, *others = flatten(coalesce(operand[contiguous]))
    if first.stride != 1 or size(first) % whole:
        at, step, offset = first_break(operand[contiguous], 1)
        along = Axis("column" if contiguous else "row", str(form.major), 1)
        why = begins(along, 1, at, at * step, offset, f"as 16 bytes hold {whole} {element}", element.storage_bits)
        actual = Major.MN if contiguous else Major.K
        other_major = next(iter(flatten(coalesce(operand[other])))).stride == 1
        why += f"; the layout is contiguous along {actual}" if other_major else ""
        error = failure(
            (contiguous,), f"{whole} contiguous {element} elements (16 bytes) first", str(operand[contiguous]), why
        )
        error.proposals = (Advice({"major": str(actual)}),) if other_major else ()
        raise error
    for path, step in (*_strides(others, contiguous), *_strides(flatten(operand[other]), other)):
        if step % whole:
            axis = axis_of(path[0], form.major, element)
            why = (
                f"{axis.named(0)} and the next of {axis.dimension} must lie whole 16 bytes apart, found "
                f"{bytes_text(step, element.storage_bits)}"
            )
            raise failure(
                path, f"steps of whole 16 bytes ({whole} {element} elements)", f"a step of {step} elements", why
            )


def _recast(partitioned: Tile, element: ElementType, contiguous: int) -> Tile:
    try:
        recast: Tile = recast_layout(128, element.storage_bits, partitioned)
    except LayoutError:
        # A contiguous run written as modes that are not whole units each, like (12,2):(1,12), is one mode after all.
        operand, rest = plain(partitioned)
        modes = [coalesce(mode) if i == contiguous else mode for i, mode in enumerate(operand)]
        merged = around(partitioned, make_layout(make_layout(*modes), rest))
        recast = recast_layout(128, element.storage_bits, merged)
    return recast


def _strides(modes: Any, mode: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """The strides that are taken at all, with the mode they belong to."""
    for leaf in modes:
        if size(leaf) != 1:  # an extent with symbols counts as taken, even where they may make it 1
            yield (mode,), leaf.stride


@advised
def match(
    layout: Given,
    dtype: str | ElementType,
    major: Major | MajorName | None = None,
    swizzle: SwizzleMode | SwizzleName | None = None,
    *,
    unit: Unit = "elements",
) -> Match:
    """The canonical form of an operand's layout, with its leading and stride byte offsets.

    Law: LBO and SBO, put into the form, give back the layout.

    Args:
        layout: what one instruction reads, modes (MN, K): plain, or after a swizzle; its notation; or a pair with an
            offset.
        dtype: name of the element type.
        major: ``"K"`` or ``"MN"``; told by the layout if left out.
        swizzle: the swizzle mode; told by the layout if left out.
        unit: what the layout counts: ``"elements"``, ``"bytes"``, or ``"cute"`` for elements with a swizzle on bytes.

    Raises:
        NotCanonicalError: naming the nearest form, the mode that fails, what is expected there and what was found.
        DescriptorError: if it is no layout of two modes, or an argument is unknown.

    Source: as ``canonical``.

    >>> found = match("(64,16):(64,1)", "bf16", "K", "128B")
    >>> print(found.layout, found.leading_byte_offset, found.stride_byte_offset, found.dont_care)
    ((8,8),(1,2)):((8,64),(0,1)) 16 1024 ('leading_byte_offset',)
    """
    element = as_element_type(dtype)
    tile, mode = explicit_tile(layout, element, swizzle, as_unit(unit))
    rows = plain(tile)
    if len(rows) != 2:
        raise DescriptorError(f"canonical: an operand must be a layout of two modes (MN,K), found {tile}")
    major_name = major_of(swizzle, major)
    contiguous = contiguous_major(rows, element) if major_name is None else as_major(major_name)
    operand = size(rows, mode=[0]), size(rows, mode=[1])
    found = matched_steps(rows, operand, element, form(contiguous, mode)).match
    return replace(found, stored=stored_text(tile, element))
