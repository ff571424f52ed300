"""Explicit layouts as tiles: any layout of the algebra, its unit, its swizzle mode, its contiguous dimension.

A tile need not be a canonical atom repeated: a hand-made layout, a slice of a larger tile, one stage of a pipelined
buffer, or what ``partition_A`` made of one can be described just as well if it has a canonical form. Offsets and
swizzle may be counted in one of three units, which differ for every type that is not one byte wide:

- ``"elements"``: coordinates, offsets and swizzle in elements; 128B on a 16-bit type is ``S<3,3,3>``;
- ``"bytes"``: offsets and swizzle in bytes (coordinates of bytes or of elements); 128B is ``S<3,4,3>``;
- ``"cute"``: the layout in elements, the swizzle on byte addresses, as CuTe's C++ and DSL print shared-memory layouts;
  128B is ``S<3,4,3>``.

Source: CUTLASS ``include/cute/swizzle_layout.hpp``, ``include/cute/pointer_swizzle.hpp``.

Law: one tile, written in each of the three units, is one tile.

>>> from descriptors.operands.operand import as_element_type
>>> rows = {"elements": "S<3,3,3> o 0 o (8,64):(64,1)", "cute": "S<3,4,3> o 0 o (8,64):(64,1)"}
>>> rows["bytes"] = "S<3,4,3> o 0 o (8,64):(128,2)"
>>> len({explicit_tile(text, as_element_type("bf16"), unit=unit) for unit, text in rows.items()})
1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from descriptors.errors import DescriptorError, brief
from descriptors.operands.operand import ElementType, Major, SwizzleMode, as_swizzle_mode, choose
from descriptors.operands.pasted import check_print, evaluated
from descriptors.operands.swizzled import around, plain, recognise, swizzle_on_elements
from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    Swizzle,
    coalesce,
    composition,
    flatten,
    make_layout,
    recast_layout,
    size,
)

Unit: TypeAlias = Literal["elements", "bytes", "cute"]
UNITS: Mapping[str, Unit] = {"elements": "elements", "bytes": "bytes", "cute": "cute"}

#: What can be given for a layout: the layout itself or its notation, or a pair with what is added to its offsets, as
#: ``slice_and_offset`` and ``local_tile`` return it.
Given = Layout | ComposedLayout | str | tuple[Layout | ComposedLayout, int]


def as_unit(unit: object) -> Unit:
    """The unit with this name.

    Raises:
        ChoiceError: if there is none.
    """
    return choose("derive: unit", unit, UNITS)


def explicit_tile(
    given: object, element: ElementType, swizzle: object = None, unit: Unit = "elements"
) -> tuple[Layout | ComposedLayout, SwizzleMode]:
    """A layout as a tile counted in elements, and its swizzle mode.

    Law: the tile maps each coordinate to the place that the given layout does.

    Args:
        given: a plain layout, a swizzle after one, or a pair of such a layout and an integer that is added after the
            swizzle; or an expression that is one of these, or what CuTe prints of a tensor in shared memory.
        element: the element type.
        swizzle: name of the swizzle mode; for a plain layout "none" if left out, for a swizzled one its own.
        unit: one of ``UNITS``.

    Raises:
        NotCanonicalError: if the swizzle is none that the hardware has; the nearest one is named.
        DescriptorError: if it is no such layout, or its swizzle is not the mode that ``swizzle`` says.
        LayoutError: if the notation is wrong.

    >>> from descriptors.operands.operand import as_element_type
    >>> tile, mode = explicit_tile("S<3,4,3> o 0 o (8,64):(64,1)", as_element_type("bf16"), unit="cute")
    >>> print(tile, mode)
    S<3,3,3> o 0 o (8,64):(64,1) 128B
    """
    layout, added = _split(given)
    unit = "elements" if check_print(given, element, unit) else unit
    permutation, offset, rows = _parts(layout)
    bits = 8 if unit == "bytes" else element.storage_bits
    if unit == "bytes":
        rows = recast_layout(element.storage_bits, 8, rows)
    mode = None if permutation is None else recognise(permutation, 8 if unit == "cute" else bits, layout)
    wanted = None if swizzle is None else as_swizzle_mode(swizzle)
    if mode is not None and wanted is not None and mode is not wanted:
        raise DescriptorError(f"derive: the layout's swizzle must be {wanted}, is {mode}; layout = {layout}")
    mode = mode or wanted or SwizzleMode.NONE
    start = offset + _folded(added, bits, mode, layout)
    if start * bits % element.storage_bits:
        raise DescriptorError(f"derive: an offset must be whole {element} elements, found {start} bytes")
    start = start * bits // element.storage_bits
    if mode.swizzle is None and start == 0:
        return rows, mode
    return ComposedLayout(swizzle_on_elements(mode, element), start, rows), mode


def tile_of_partition(partitioned: Layout | ComposedLayout) -> tuple[Layout | ComposedLayout, tuple[int, int]]:
    """The tile (MN, K, ...) and the operand's extents of a partition ``((MN, K), MN subtiles, K subtiles, ...)``.

    Raises:
        DescriptorError: if the first mode does not have two.

    >>> tile, operand = tile_of_partition(Layout(((64, 16), 2, 4), ((64, 1), 4096, 16)))
    >>> print(tile, operand)
    ((64,2),(16,4)):((64,4096),(1,16)) (64, 16)
    """
    inner = plain(partitioned)
    if not isinstance(inner.shape, tuple) or not isinstance(inner.shape[0], tuple) or len(inner.shape[0]) != 2:
        raise DescriptorError(
            "derive: without an mma shape a layout must be partitioned, ((MN,K), MN subtiles, K subtiles, ...), "
            f"found {partitioned}; give the mma to have it cut"
        )
    operand, rest = inner[0], list(inner)[1:]
    modes = [make_layout(mode, step) for mode, step in zip(operand, rest, strict=False)]
    modes += list(operand)[len(modes) :]
    tile = make_layout(*modes, *rest[2:])
    extents = size(operand, mode=[0]), size(operand, mode=[1])
    return around(partitioned, tile), extents


def contiguous_major(tile: Layout, element: ElementType) -> Major:
    """The dimension of a plain tile whose elements lie side by side, 16 bytes at least.

    Raises:
        DescriptorError: if neither or both are contiguous.

    >>> from descriptors.operands.operand import as_element_type
    >>> contiguous_major(Layout((64, 16), (1, 64)), as_element_type("bf16"))
    Major.MN
    """
    found = []
    for major in Major:
        run = next(iter(flatten(coalesce(tile[major.contiguous_mode]))), None)
        if run is not None and run.stride == 1 and size(run) >= element.per_16_bytes:
            found.append(major)
    if len(found) != 1:
        what = "both are" if found else "neither is"
        raise DescriptorError(
            f"derive: one dimension must be contiguous over {element.per_16_bytes} {element} elements (16 bytes) to "
            f"tell the major from the layout, {what}; layout = {tile}"
        )
    return found[0]


def _split(given: object) -> tuple[Layout | ComposedLayout, int]:
    given = evaluated(given) if isinstance(given, str) else given
    layout, added = given if isinstance(given, tuple) and len(given) == 2 else (given, 0)
    if isinstance(layout, str):
        from layoutalg import parse_layout  # only where notation was given

        layout = parse_layout(layout)
    if not isinstance(layout, (Layout, ComposedLayout)) or isinstance(added, bool) or not isinstance(added, int):
        raise DescriptorError(
            "derive: layout must be a layout, its notation, or a pair of a layout and an offset, found "
            f"{brief(given)}; a layout is written shape:stride, like (64,16):(64,1)"
        )
    return layout, added


def _parts(layout: Layout | ComposedLayout) -> tuple[Swizzle | None, int, Layout]:
    """The swizzle, the inner offset and the plain layout of a layout."""
    swizzle, offset, inner = None, 0, layout
    if isinstance(inner, ComposedLayout) and isinstance(inner.outer, Swizzle):
        swizzle, offset, inner = inner.outer, inner.offset, inner.inner
    if isinstance(inner, ComposedLayout) and isinstance(inner.outer, Layout) and inner.offset == 0:
        try:  # a layout after a layout: one layout, where the algebra has it
            inner = composition(inner.outer, inner.inner)
        except LayoutError as error:
            raise DescriptorError(f"derive: a layout must be plain, or a swizzle after a plain one; {error}") from error
    strides = [leaf.stride for leaf in flatten(inner)] if isinstance(inner, Layout) else [None]
    if not isinstance(inner, Layout) or not isinstance(offset, int) or not all(isinstance(s, int) for s in strides):
        raise DescriptorError(
            f"derive: a layout must be plain with integer strides, or a swizzle after such a one, found {layout}"
        )
    if not isinstance(inner.shape, tuple) or len(inner) < 1:
        raise DescriptorError(f"derive: a layout must have modes (MN, K) or more, found {layout}")
    return swizzle, offset, inner


def _folded(added: int, unit_bits: int, mode: SwizzleMode, layout: object) -> int:
    """What is added after the swizzle, added before it instead: the same where it is whole periods of the pattern."""
    if mode.swizzle is not None and added * unit_bits % (8 * mode.period_bytes):
        raise DescriptorError(
            f"derive: what is added after a {mode} swizzle must be a multiple of {mode.period_bytes} bytes, found "
            f"{added} units of {unit_bits} bits; layout = {layout}"
        )
    return added
