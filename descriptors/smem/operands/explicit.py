"""Convert explicit layouts, as values or pasted text, into tiles in elements with a swizzle mode and a major.

A tile need not be a repeated canonical atom. A hand-made layout, a slice of a larger tile, one stage of a pipelined
buffer or a result of ``partition_A`` has descriptors too if it has a canonical form. Offsets and swizzle may be counted
in one of three units, which differ for every type that is not one byte wide:

- ``"elements"``: coordinates, offsets and swizzle in elements; 128B on a 16-bit type is ``S<3,3,3>``;
- ``"bytes"``: offsets and swizzle in bytes (coordinates of bytes or of elements); 128B is ``S<3,4,3>``;
- ``"cute"``: the layout in elements, the swizzle on byte addresses, as CuTe's C++ and DSL print shared-memory layouts;
  128B is ``S<3,4,3>``.

A tile is a value, an expression of the algebra, or CuTe's printout of a tensor in shared memory. A printout also has
the width and type of an element, the memory and the unit; these are compared with the other arguments.

A plain layout may be a slice of a swizzled tile. If the bits that the swizzle reads are constant in the slice, or
independent of those it changes, the slice is an ordinary layout: eight columns of the 128B atom are ``(8,8):(1,72)``. A
tensor core reads them with the descriptor of the tile's mode. A swizzle is its own inverse, so the layout before it is
the swizzle of the layout after it. ``swizzled_readings`` constructs that layout mode by mode, and compares all offsets.
Source: CUTLASS ``include/cute/swizzle_layout.hpp`` (slices decay; the inverse is derived here),
``include/cute/pointer_swizzle.hpp``.

Invariant: a tile has the same value in each of the three units.

>>> from descriptors.smem.operands.operand import as_element_type
>>> rows = {"elements": "S<3,3,3> o 0 o (8,64):(64,1)", "cute": "S<3,4,3> o 0 o (8,64):(64,1)"}
>>> rows["bytes"] = "S<3,4,3> o 0 o (8,64):(128,2)"
>>> len({explicit_tile(text, as_element_type("bf16"), unit=unit) for unit, text in rows.items()})
1

Invariant: the readings of a slice have its offsets.

>>> slice_ = Layout((8, 8), (1, 72))
>>> all(reading(i) == slice_(i) for reading, _ in swizzled_readings(slice_, as_element_type("bf16")) for i in range(64))
True

Invariant: an expression is evaluated as ``layoutalg.evaluate`` does.

>>> from layoutalg import evaluate
>>> text = "coalesce((8,4):(1,8))"
>>> evaluated(text) == evaluate(text)
True
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from descriptors.errors import Advice, DescriptorError, brief
from descriptors.smem.operands.operand import ELEMENT_TYPES, ElementType, Major, SwizzleMode, as_swizzle_mode, choose
from descriptors.smem.operands.swizzled import around, plain, recognize, start_of, swizzle_on_elements
from descriptors.text import bits_text
from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    NotationError,
    Swizzle,
    coalesce,
    composition,
    cosize,
    flatten,
    from_offsets,
    make_layout,
    recast_layout,
    size,
)

if TYPE_CHECKING:
    from layoutalg import Pointer

#: More elements than the shared memory of a CTA has.
_MOST_COMPARED = 1 << 19
#: Larger than every offset of a layout in the shared memory of a CTA, in elements of half a byte.
_LAST_OFFSET = 1 << 20


def swizzled_readings(
    tile: Layout | ComposedLayout, element: ElementType
) -> Iterator[tuple[ComposedLayout, SwizzleMode]]:
    """Yield the tile as a swizzle after a plain layout, for each swizzle mode for which that is possible.

    Invariant: each reading maps every coordinate to the same offset as the tile.

    Args:
        tile: a layout with modes, in elements, without an effective swizzle. A layout that is too large for shared
            memory has no readings.
        element: the element type.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> columns = Layout((8, 8), (1, 72))
    >>> readings = {str(mode): reading for reading, mode in swizzled_readings(columns, as_element_type("bf16"))}
    >>> print(readings["128B"])
    S<3,3,3> o 0 o (8,8):(1,64)
    """
    try:
        fits = size(plain(tile)) <= _MOST_COMPARED and cosize(plain(tile)) <= _LAST_OFFSET
    except LayoutError:  # an offset beyond 64 bits
        fits = False
    for mode in SwizzleMode:
        if mode is not SwizzleMode.NONE and fits:
            reading = _before(swizzle_on_elements(mode, element), plain(tile), start_of(tile))
            if reading is not None:
                yield reading, mode


def _before(swizzle: Swizzle, rows: Layout, start: int) -> ComposedLayout | None:
    """Return ``start + rows`` as the swizzle after a plain layout, or None if it is not one."""
    first = swizzle(start)
    modes = [from_offsets([swizzle(start + part(i)) - first for i in range(size(part))]) for part in rows]
    if first < 0 or any(part is None for part in modes):
        return None
    reading = ComposedLayout(swizzle, first, make_layout(*(part for part in modes if part is not None)))
    # The modes are converted one by one; their sum is right only if the additions have no carry.
    return reading if all(reading(i) == start + rows(i) for i in range(size(rows))) else None


#: The shared-memory window of a CTA starts at a multiple of 16 MiB in the generic address space, in which pointers of
#: C++ are printed. The shared-memory address is the lowest 24 bits.
_WINDOW_BITS = 24

#: Types that CuTe prints under another name, and their names here.
_TYPES = {"f32": ("tf32",), "i8": ("s8", "u8"), "si8": ("s8",), "ui8": ("u8",)}


def evaluated(text: str) -> Any:
    """Evaluate an expression to a layout, or to a pair of a layout and an integer added to its offsets.

    Raises:
        LayoutError: if the text is not an expression, or an operation rejects its operands.
        DescriptorError: if the text is a descriptor word.

    >>> evaluated("local_tile((128,64):(64,1), (64,32), (0,1))")
    (Layout((64, 32), (64, 1)), 32)
    """
    if re.fullmatch(r"0[xX][0-9a-fA-F_']+", text.strip()):
        raise DescriptorError(
            f"operand: {text} is a number, not a layout; a layout is written shape:stride, like (64,16):(64,1); decode "
            "prints the fields of a descriptor"
        )
    from layoutalg import evaluate  # imported here, because a derivation from a tile does not need all of the algebra

    value = evaluate(text)
    if not isinstance(value, (Layout, ComposedLayout, Swizzle, tuple)):
        raise NotationError(
            f"notation: {text!r} evaluates to {value}, which is not a layout; write shape:stride or S<b,m,s> o offset "
            "o layout",
            text,
        )
    return value


def base_of(layout: object) -> int | None:
    """Return the shared-memory address in a printout of a tensor, in bytes, or None if it has no address.

    >>> base_of("Sw<3,4,3> o smem_ptr[16b](0x7f2a00000400) o (8,64):(64,1)")
    1024
    """
    pointer = _pointer(layout)
    base = None if pointer is None else pointer.base
    return None if base is None else base % (1 << _WINDOW_BITS)


def printed_types(layout: object) -> list[str]:
    """Return the names of the element types that a printout may have; none if the text is not a printout of a tensor.

    >>> printed_types("tensor<ptr<bf16, smem> o 8:1>"), printed_types("smem_ptr[8b](0x0) o 8:1")[:2]
    (['bf16'], ['e4m3', 'e5m2'])
    """
    pointer = _pointer(layout)
    if pointer is None:
        return []
    elements = [element for element in ELEMENT_TYPES.values() if element.storage_bits == pointer.bits]
    return [element.name for element in elements if _may_be(pointer.type, element)]


def check_print(source: object, element: ElementType, unit: str) -> bool:
    """Check a printout of a tensor against the arguments; return whether it has a swizzle.

    The swizzle of a printed tensor counts elements after parsing, whatever the unit.

    Raises:
        DescriptorError: if the printout contradicts an argument, or is not of shared memory.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> check_print("tensor<ptr<bf16, smem, align<1024>, S<3,4,3>> o 8:1>", as_element_type("bf16"), "cute")
    True
    """
    pointer = _pointer(source)
    if pointer is None:
        _check_in_memory(source)
        return False
    if pointer.space not in ("", "smem"):
        raise DescriptorError(f"operand: the layout is in {pointer.space}, not in shared memory; layout = {source}")
    if pointer.bits != element.storage_bits or not _may_be(pointer.type, element):
        theirs = f"{pointer.type or 'elements'} of {pointer.bits} bits"
        raise DescriptorError(
            f"operand: the printed layout has {theirs}, but dtype is {element}, of {element.storage_bits} bits; "
            f"layout = {source}"
        )
    if pointer.swizzle is not None and unit == "bytes":
        raise DescriptorError(
            "operand: unit is bytes, but a printed tensor has unit cute, since its swizzle permutes bytes and its "
            f"layout counts elements; layout = {source}"
        )
    return pointer.swizzle is not None


def _check_in_memory(source: object) -> None:
    """Check that an encoding of another compiler is one of shared memory, not of registers."""
    if not isinstance(source, str):
        return
    from layoutalg import parse_encoding  # imported here, because most layouts are not encodings

    encoding = parse_encoding(source)
    if encoding is not None and encoding.space != "smem":
        raise DescriptorError(f"operand: the layout is not in shared memory: {encoding}")


def _pointer(text: object) -> Pointer | None:
    if not isinstance(text, str):
        return None
    from layoutalg import parse_pointer  # imported here, because most layouts are not printed pointers

    return parse_pointer(text)


def _may_be(type_text: str, element: ElementType) -> bool:
    """Return whether CuTe may print an element type in this way, such as e4m3 as f8E4M3FN."""
    format_name = re.search(r"E\dM\d", type_text)
    name = format_name[0].lower() if format_name else type_text
    return not name or element.name in _TYPES.get(name, (name, f"{name}_unpacksmem"))


Unit: TypeAlias = Literal["elements", "bytes", "cute"]
UNITS: Mapping[str, Unit] = {"elements": "elements", "bytes": "bytes", "cute": "cute"}

#: The types of a layout argument: the layout, its notation, or a pair of a layout and an integer added to its offsets,
#: as ``slice_and_offset`` and ``local_tile`` return it.
Given = Layout | ComposedLayout | str | tuple[Layout | ComposedLayout, int]


def as_unit(unit: object) -> Unit:
    """Return the unit with this name.

    Raises:
        ChoiceError: if there is no such unit.
    """
    return choose("derive: unit", unit, UNITS)


def explicit_tile(
    source: object, element: ElementType, swizzle: object = None, unit: Unit = "elements"
) -> tuple[Layout | ComposedLayout, SwizzleMode]:
    """Convert a layout into a tile in elements, and return it with its swizzle mode.

    Invariant: the tile maps each coordinate to the same address as the layout.

    Args:
        source: a plain layout, a swizzle after one, or a pair of such a layout and an integer that is added after the
            swizzle; or an expression for one of these, or CuTe's printout of a tensor in shared memory.
        element: the element type.
        swizzle: the swizzle mode, or its name, that is applied to the offsets of a plain layout. None means no swizzle
            for a plain layout, and the layout's own for a swizzled one.
        unit: one of ``UNITS``.

    Raises:
        NotCanonicalError: if the hardware does not have the layout's swizzle; the error names the nearest mode.
        DescriptorError: if the source is not such a layout, or its swizzle is not the mode ``swizzle``.
        LayoutError: if the notation is wrong.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> tile, mode = explicit_tile("S<3,4,3> o 0 o (8,64):(64,1)", as_element_type("bf16"), unit="cute")
    >>> print(tile, mode)
    S<3,3,3> o 0 o (8,64):(64,1) 128B
    """
    layout, added = _split(source)
    unit = "elements" if check_print(source, element, unit) else unit
    permutation, offset, rows = _parts(layout)
    bits = 8 if unit == "bytes" else element.storage_bits
    if unit == "bytes":
        rows = recast_layout(element.storage_bits, 8, rows)
    mode = None if permutation is None else recognize(permutation, 8 if unit == "cute" else bits, layout)
    requested_mode = None if swizzle is None else as_swizzle_mode(swizzle)
    if mode is not None and requested_mode is not None and mode is not requested_mode:
        raise DescriptorError(
            f"operand: the layout has swizzle {mode}, but swizzle {requested_mode} was given; leave the "
            f"swizzle out, or give the layout without its own; layout = {layout}"
        )
    mode = mode or requested_mode or SwizzleMode.NONE
    start = offset + _folded(added, bits, mode, layout)
    if start * bits % element.storage_bits:
        raise DescriptorError(
            f"derive: the layout's offset is {start} bytes, which is not a whole number of {element} elements; "
            f"layout = {layout}"
        )
    start = start * bits // element.storage_bits
    if mode.swizzle is None and start == 0:
        return rows, mode
    return ComposedLayout(swizzle_on_elements(mode, element), start, rows), mode


def tile_of_partition(partitioned: Layout | ComposedLayout) -> tuple[Layout | ComposedLayout, tuple[int, int]]:
    """Return the tile (MN, K, ...) and the operand of a partition ``((MN, K), MN subtiles, K subtiles, ...)``.

    Raises:
        DescriptorError: if the first mode does not have two modes.

    >>> tile, operand = tile_of_partition(Layout(((64, 16), 2, 4), ((64, 1), 4096, 16)))
    >>> print(tile, operand)
    ((64,2),(16,4)):((64,4096),(1,16)) (64, 16)
    """
    inner = plain(partitioned)
    if not isinstance(inner.shape, tuple) or not isinstance(inner.shape[0], tuple) or len(inner.shape[0]) != 2:
        raise DescriptorError(
            "derive: mma is missing, and the layout is not partitioned as ((MN,K), MN subtiles, K subtiles, ...); "
            f"layout = {partitioned}",
            proposals=[Advice({"mma": (rows, columns)}) for columns in (16, 32, 64, 8) for rows in (64, 128)],
        )
    operand, rest = inner[0], list(inner)[1:]
    modes = [make_layout(mode, step) for mode, step in zip(operand, rest, strict=False)]
    modes += list(operand)[len(modes) :]
    tile = make_layout(*modes, *rest[2:])
    extents = size(operand, mode=[0]), size(operand, mode=[1])
    return around(partitioned, tile), extents


def contiguous_major(tile: Layout, element: ElementType) -> Major:
    """Return the dimension of a plain tile along which at least 16 bytes of elements are contiguous.

    Raises:
        DescriptorError: if neither or both dimensions are contiguous.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> contiguous_major(Layout((64, 16), (1, 64)), as_element_type("bf16"))
    Major.MN
    """
    majors = []
    for major in Major:
        run = next(iter(flatten(coalesce(tile[major.contiguous_mode]))), None)
        if run is not None and run.stride == 1 and size(run) >= element.per_16_bytes:
            majors.append(major)
    if len(majors) != 1:
        which = "both dimensions are" if majors else "neither dimension is"
        raise DescriptorError(
            f"derive: {which} contiguous over {element.per_16_bytes} {element} elements (16 bytes), so the layout does "
            f"not determine the major; layout = {tile}"
        )
    return majors[0]


def _split(source: object) -> tuple[Layout | ComposedLayout, int]:
    source = evaluated(source) if isinstance(source, str) else source
    layout, added = source if isinstance(source, tuple) and len(source) == 2 else (source, 0)
    if isinstance(layout, str):
        from layoutalg import parse_layout  # only where notation was given

        layout = parse_layout(layout)
    if not isinstance(layout, (Layout, ComposedLayout)) or isinstance(added, bool) or not isinstance(added, int):
        raise DescriptorError(
            f"derive: {brief(source)} is not a layout, its notation, or a pair of a layout and an offset; a layout is "
            "written shape:stride, like (64,16):(64,1)"
        )
    return layout, added


def _parts(layout: Layout | ComposedLayout) -> tuple[Swizzle | None, int, Layout]:
    """Return the swizzle, the offset before it and the plain layout of a layout."""
    swizzle, offset, inner = None, 0, layout
    if isinstance(inner, ComposedLayout) and isinstance(inner.outer, Swizzle):
        swizzle, offset, inner = inner.outer, inner.offset, inner.inner
    if isinstance(inner, ComposedLayout) and isinstance(inner.outer, Layout) and inner.offset == 0:
        try:  # a layout after a layout may be one layout
            inner = composition(inner.outer, inner.inner)
        except LayoutError as error:
            raise DescriptorError(
                f"derive: the layout is not a plain layout, nor a swizzle after a plain layout; {error}"
            ) from error
    strides = [leaf.stride for leaf in flatten(inner)] if isinstance(inner, Layout) else [None]
    if not isinstance(inner, Layout) or not isinstance(offset, int) or not all(isinstance(s, int) for s in strides):
        raise DescriptorError(
            f"derive: {layout} is not a plain layout with integer strides, nor a swizzle after such a layout"
        )
    if not isinstance(inner.shape, tuple) or len(inner) < 1:
        raise DescriptorError(f"derive: the layout {layout} does not have the modes (MN, K, ...)")
    return swizzle, offset, inner


def _folded(added: int, unit_bits: int, mode: SwizzleMode, layout: object) -> int:
    """Move an offset from after the swizzle to before it, which is the same for whole periods of the pattern."""
    if mode.swizzle is not None and added * unit_bits % (8 * mode.period_bytes):
        raise DescriptorError(
            f"derive: the offset after the {mode} swizzle is {bits_text(added * unit_bits)}, which is not a multiple "
            f"of {mode.period_bytes} bytes; layout = {layout}"
        )
    return added
