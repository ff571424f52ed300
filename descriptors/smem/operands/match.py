"""Partition a tile into operands, recast them to 16-byte units and match a canonical form: steps 2 to 5 of `derive`.

The tensor core reads 16 bytes at a time. An operand therefore has a canonical form only if its elements fill whole
16-byte units: they are contiguous along the major dimension, and every other stride is a multiple of 16 bytes.
``in_16_bytes`` checks this before it recasts, and names the mode that fails; a recast alone would also accept units
that are only partly used. ``matched_steps`` is the entry point for internal callers, with numbers or symbols, and
``match`` the public one.
Source: article "Blackwell MMA SMEM Descriptor", sections 3.5.2, 3.5.3; CUTLASS ``make_umma_desc``.

Invariant: a layout with a swizzle, and the same plain layout with ``swizzle=``, have the same match.

>>> swizzled = {"32B": "S<1,3,3> o 0 o (64,16):(16,1)", "128B": "S<3,3,3> o 0 o (64,16):(64,1)"}
>>> all(match(text, "bf16") == match(text.split(" o ")[2], "bf16", swizzle=mode) for mode, text in swizzled.items())
True

Invariant: the steps change coordinates, not offsets: each element and each 16-byte unit of an operand keeps its place.

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
from descriptors.text import counted, tuple_text
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
    """The results of steps 2 to 5 of a derivation.

    Args:
        partitioned: step 2, in elements: ``((MN, K), (MN subtiles, K subtiles, stages...))``.
        recast: step 3, in 16-byte units.
        match: step 4: the first operand in canonical form.
        advance: step 5: the layout from a subtile to its offset from the first, in 16-byte units.
    """

    partitioned: Tile
    recast: Tile
    match: Match
    advance: Layout


#: Cached, because many tiles share the same operand and form.
_matched = lru_cache(maxsize=1 << 10)(match_form)


def matched_steps(tile: Tile, operand: tuple[int, int], element: ElementType, target: Form) -> MatchedSteps:
    """Return steps 2 to 5 for a tile whose extents are numbers or contain symbols.

    Args:
        tile: modes (MN, K, ...), in elements.
        operand: extents (MN, K) of what one instruction reads, in elements.
        element: the element type.
        target: the canonical form to match.

    Raises:
        NotCanonicalError: if the operand does not have the form.
        DescriptorError: as ``partition`` and ``in_16_bytes``.
        UndecidedError: if the result depends on the values of symbols.

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
    """Divide a tile into ``((MN, K), (MN subtiles, K subtiles, stages...))``.

    Args:
        tile: modes (MN, K, ...), in elements.
        operand: extents (MN, K) of what one instruction reads, in elements.

    Raises:
        DescriptorError: if the operand does not divide the tile, or would end inside an atom or mode.

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
            "derive: the operands are not all the same part of the tile, because one ends inside an atom or mode; "
            f"tile = {tile}, mma = {tuple_text(operand)}"
        ) from error
    return subtiles


def other_tiles(extents: Sequence[int], i: int, part: int) -> list[Advice]:
    """Return proposals for a tile whose extent ``i`` is not a multiple of ``part``; none for extents with symbols."""
    if not all(isinstance(extent, int) for extent in extents):
        return []
    near = multiples(extents[i], part)
    further = [near[0] - part, near[-1] + part, near[-1] + 2 * part, near[-1] + 3 * part]
    wholes = [*near, *(whole for whole in further if whole > 0)]
    resized = [Advice({"tile": replaced(extents, i, whole)}) for whole in wholes]
    return [*resized[: len(near)], *turned(extents), *resized[len(near) :]]


def in_16_bytes(partitioned: Tile, element: ElementType, form: Form) -> Tile:
    """Recast a partitioned tile to 16-byte units.

    Args:
        partitioned: the result of ``partition``, in elements.
        element: the element type.
        form: the canonical form that the operand is to match; its major is checked here.

    Raises:
        DescriptorError: if the operand ends, or a subtile starts, inside a 16-byte unit.
        NotCanonicalError: if the operand's elements do not fill whole 16-byte units.

    >>> from descriptors.smem.operands.forms import form
    >>> from descriptors.smem.operands.operand import as_element_type
    >>> cut = Layout(((64, 16), (2, 4)), ((64, 1), (4096, 16)))
    >>> print(in_16_bytes(cut, as_element_type("bf16"), form("K", "128B")))
    ((64,2),(2,4)):((8,1),(512,2))
    """
    _check_units(partitioned, element, form)
    return _recast(partitioned, element, form.major.contiguous_mode)


def _check_units(partitioned: Tile, element: ElementType, form: Form) -> None:
    """Check that the operand, its elements and the subtiles start and end at multiples of 16 bytes."""
    whole, contiguous = element.per_16_bytes, form.major.contiguous_mode
    operand, rest = plain(partitioned)
    extent = size(operand, mode=[contiguous])
    if extent % whole:
        raise DescriptorError(
            f"derive: the instruction's {form.major} is {extent}, which is not a multiple of {whole} {element} "
            f"elements (16 bytes); partitioned = {partitioned}"
        )

    _check_whole(operand, element, form)
    for i, subtiles in enumerate(rest):
        for _, step in _strides(flatten(subtiles), i):
            if step % whole:
                raise DescriptorError(
                    f"derive: the subtiles along {'K' if i else 'MN'} are {step} elements apart, which is not a "
                    f"multiple of 16 bytes ({whole} {element} elements); partitioned = {partitioned}"
                )
    if start_of(partitioned) % whole:
        raise DescriptorError(
            f"derive: the tile starts at offset {start_of(partitioned)}, which is not a multiple of 16 bytes "
            f"({whole} {element} elements); partitioned = {partitioned}"
        )


def _check_whole(operand: Layout, element: ElementType, form: Form) -> None:
    """Check that the elements of an operand fill whole 16-byte units.

    Raises:
        NotCanonicalError: if they do not; it names the first elements that are elsewhere.
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
        rule = f"a 16-byte unit of {whole} {element} elements has"
        why = begins(along, 1, at, at * step, offset, rule, element.storage_bits)
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
                f"{axis.named(0)} and the next of {axis.dimension} are {bytes_text(step, element.storage_bits)} apart, "
                "which is not a multiple of 16 bytes"
            )
            raise failure(
                path, f"steps of whole 16 bytes ({whole} {element} elements)", f"a step of {step} elements", why
            )


def _recast(partitioned: Tile, element: ElementType, contiguous: int) -> Tile:
    try:
        recast: Tile = recast_layout(128, element.storage_bits, partitioned)
    except LayoutError:
        # A contiguous run may be written as modes that are not whole units, like (12,2):(1,12). Merge its modes.
        operand, rest = plain(partitioned)
        modes = [coalesce(mode) if i == contiguous else mode for i, mode in enumerate(operand)]
        merged = around(partitioned, make_layout(make_layout(*modes), rest))
        recast = recast_layout(128, element.storage_bits, merged)
    return recast


def _strides(modes: Any, mode: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the strides of modes with an extent other than 1, with the path of the mode."""
    for leaf in modes:
        if size(leaf) != 1:  # an extent with symbols counts, even if their values may make it 1
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
    """Return the canonical form of an operand's layout, with its leading and stride byte offsets.

    Invariant: LBO and SBO, put into the form, give back the layout.

    Args:
        layout: the operand of one instruction, with modes (MN, K): a plain or swizzled layout, its notation, or a pair
            of a layout and an offset.
        dtype: the element type or its name.
        major: ``"K"`` or ``"MN"``; inferred from the layout if None.
        swizzle: the swizzle mode; inferred from the layout if None.
        unit: unit of the layout: ``"elements"``, ``"bytes"``, or ``"cute"`` for elements with a swizzle on bytes.

    Raises:
        NotCanonicalError: if the layout does not have the form; it names the mode that fails and the expected value.
        DescriptorError: if the layout does not have two modes, or an argument is unknown.

    Source: as ``canonical``.

    >>> matched = match("(64,16):(64,1)", "bf16", "K", "128B")
    >>> print(matched.layout, matched.leading_byte_offset, matched.stride_byte_offset, matched.dont_care)
    ((8,8),(1,2)):((8,64),(0,1)) 16 1024 ('leading_byte_offset',)
    """
    element = as_element_type(dtype)
    tile, mode = explicit_tile(layout, element, swizzle, as_unit(unit))
    rows = plain(tile)
    if len(rows) != 2:
        raise DescriptorError(
            f"canonical: the layout has {counted(len(rows), 'mode')}, but an operand has two (MN,K); layout = {tile}"
        )
    major_name = major_of(swizzle, major)
    contiguous = contiguous_major(rows, element) if major_name is None else as_major(major_name)
    operand = size(rows, mode=[0]), size(rows, mode=[1])
    matched = matched_steps(rows, operand, element, form(contiguous, mode)).match
    return replace(matched, stored=stored_text(tile, element))
