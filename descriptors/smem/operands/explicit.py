"""Explicit layouts as tiles: any layout, as a value or as a person pastes it, its unit, its swizzle mode, its major.

A tile need not be a canonical atom repeated: a hand-made layout, a slice of a larger tile, one stage of a pipelined
buffer, or what ``partition_A`` made of one can be described just as well if it has a canonical form. Offsets and
swizzle may be counted in one of three units, which differ for every type that is not one byte wide:

- ``"elements"``: coordinates, offsets and swizzle in elements; 128B on a 16-bit type is ``S<3,3,3>``;
- ``"bytes"``: offsets and swizzle in bytes (coordinates of bytes or of elements); 128B is ``S<3,4,3>``;
- ``"cute"``: the layout in elements, the swizzle on byte addresses, as CuTe's C++ and DSL print shared-memory layouts;
  128B is ``S<3,4,3>``.

A tile is a value, an expression of the algebra, or what CuTe prints of a tensor in shared memory. A print says more
than a layout, and what it says is held against what was asked for: width and type of an element, memory, unit.

A plain layout may be a slice whose swizzle folded into its strides. Where the bits that a swizzle reads do not move
within a slice, or move by themselves, the slice of a swizzled tile is an ordinary layout: eight columns of the 128B
atom are ``(8,8):(1,72)``. A tensor core still reads them, with the word of the tile's mode. A swizzle is its own
inverse, so the layout before it is the swizzle of the layout after it; that this is a layout again is found mode by
mode, and compared offset by offset.
Source: CUTLASS ``include/cute/swizzle_layout.hpp`` (slices decay; the way back is derived here),
``include/cute/pointer_swizzle.hpp``.

Law: one tile, written in each of the three units, is one tile.

>>> from descriptors.smem.operands.operand import as_element_type
>>> rows = {"elements": "S<3,3,3> o 0 o (8,64):(64,1)", "cute": "S<3,4,3> o 0 o (8,64):(64,1)"}
>>> rows["bytes"] = "S<3,4,3> o 0 o (8,64):(128,2)"
>>> len({explicit_tile(text, as_element_type("bf16"), unit=unit) for unit, text in rows.items()})
1

Law: the readings of a slice have its offsets.

>>> slice_ = Layout((8, 8), (1, 72))
>>> all(reading(i) == slice_(i) for reading, _ in swizzled_readings(slice_, as_element_type("bf16")) for i in range(64))
True

Law: an expression is the layout that ``layoutalg.evaluate`` makes of it.

>>> from layoutalg import evaluate
>>> text = "coalesce((8,4):(1,8))"
>>> evaluated(text) == evaluate(text)
True
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from descriptors.errors import Advice, DescriptorError
from descriptors.smem.operands.operand import ELEMENT_TYPES, ElementType, SwizzleMode
from descriptors.smem.operands.swizzled import plain, start_of, swizzle_on_elements
from layoutalg import ComposedLayout, Layout, NotationError, Swizzle, make_layout, size

if TYPE_CHECKING:
    from layoutalg import Pointer


from collections.abc import Mapping
from typing import Literal, TypeAlias

from descriptors.errors import brief
from descriptors.smem.operands.operand import Major, as_swizzle_mode, choose
from descriptors.smem.operands.swizzled import around, recognise
from layoutalg import (
    LayoutError,
    coalesce,
    composition,
    cosize,
    flatten,
    from_offsets,
    recast_layout,
)

#: A thread block's shared memory has fewer elements; of what has more, a slice is no part.
_MOST_COMPARED = 1 << 19
#: More elements of half a byte than a thread block's shared memory has, so that no layout in it reaches further.
_LAST_OFFSET = 1 << 20


def swizzled_readings(
    tile: Layout | ComposedLayout, element: ElementType
) -> Iterator[tuple[ComposedLayout, SwizzleMode]]:
    """The tile as each swizzle mode after a plain layout, where it is one.

    Law: each reading maps every coordinate to the place that the tile does.

    Args:
        tile: a layout with modes, in elements, with no swizzle that does anything; of one that no shared memory holds
            there are no readings.
        element: the element type.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> columns = Layout((8, 8), (1, 72))
    >>> found = {str(mode): reading for reading, mode in swizzled_readings(columns, as_element_type("bf16"))}
    >>> print(found["128B"])
    S<3,3,3> o 0 o (8,8):(1,64)
    """
    try:
        held = size(plain(tile)) <= _MOST_COMPARED and cosize(plain(tile)) <= _LAST_OFFSET
    except LayoutError:  # an offset beyond 64 bits
        held = False
    for mode in SwizzleMode:
        if mode is not SwizzleMode.NONE and held:
            reading = _before(swizzle_on_elements(mode, element), plain(tile), start_of(tile))
            if reading is not None:
                yield reading, mode


def _before(swizzle: Swizzle, rows: Layout, start: int) -> ComposedLayout | None:
    """``start + rows`` as the swizzle after a plain layout, None where it is not."""
    first = swizzle(start)
    modes = [from_offsets([swizzle(start + part(i)) - first for i in range(size(part))]) for part in rows]
    if first < 0 or any(part is None for part in modes):
        return None
    reading = ComposedLayout(swizzle, first, make_layout(*(part for part in modes if part is not None)))
    # Each mode by itself is one thing; that the modes add up without a carry is another.
    return reading if all(reading(i) == start + rows(i) for i in range(size(rows))) else None


#: Generic addresses of shared memory differ in their lowest 24 bits alone: the window of a thread block begins at a
#: multiple of 16 MiB in the address space that the pointers of C++ are printed in.
_WINDOW_BITS = 24

#: Types that CuTe prints under a name of its own width, and what they are here.
_TYPES = {"f32": ("tf32",), "i8": ("s8", "u8"), "si8": ("s8",), "ui8": ("u8",)}


def evaluated(text: str) -> Any:
    """The value of an expression: a layout, or a pair of a layout and what is added to its offsets.

    Raises:
        LayoutError: if the text is no expression, or an operation refuses its operands.
        DescriptorError: if it is the word of a descriptor.

    >>> evaluated("local_tile((128,64):(64,1), (64,32), (0,1))")
    (Layout((64, 32), (64, 1)), 32)
    """
    if re.fullmatch(r"0[xX][0-9a-fA-F_']+", text.strip()):
        raise DescriptorError(f"operand: a layout must be written shape:stride, found the word {text}; decode reads it")
    from layoutalg import evaluate  # the whole algebra, which a derivation from a tile does without

    value = evaluate(text)
    if not isinstance(value, (Layout, ComposedLayout, Swizzle, tuple)):
        raise NotationError(
            f"notation: a layout is written shape:stride or S<b,m,s> o offset o layout, found {value}; text = {text!r}",
            text,
        )
    return value


def base_of(layout: object) -> int | None:
    """The shared-memory address at which a printed tensor's layout starts, in bytes; None if it does not say.

    >>> base_of("Sw<3,4,3> o smem_ptr[16b](0x7f2a00000400) o (8,64):(64,1)")
    1024
    """
    pointer = _pointer(layout)
    base = None if pointer is None else pointer.base
    return None if base is None else base % (1 << _WINDOW_BITS)


def printed_types(layout: object) -> list[str]:
    """The element types that a print may be of, the one that it names first; none where it does not say.

    >>> printed_types("tensor<ptr<bf16, smem> o 8:1>"), printed_types("smem_ptr[8b](0x0) o 8:1")[:2]
    (['bf16'], ['e4m3', 'e5m2'])
    """
    pointer = _pointer(layout)
    if pointer is None:
        return []
    wide = [one for one in ELEMENT_TYPES.values() if one.storage_bits == pointer.bits]
    return [one.name for one in wide if _may_be(pointer.type, one)]


def check_print(source: object, element: ElementType, unit: str) -> bool:
    """Whether the text is a print whose swizzle counts elements by now, whatever the unit of other layouts.

    Raises:
        DescriptorError: if the print says something else than what was asked for.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> check_print("tensor<ptr<bf16, smem, align<1024>, S<3,4,3>> o 8:1>", as_element_type("bf16"), "cute")
    True
    """
    pointer = _pointer(source)
    if pointer is None:
        _check_in_memory(source)
        return False
    if pointer.space not in ("", "smem"):
        raise DescriptorError(f"operand: a layout must lie in shared memory, found {pointer.space}; layout = {source}")
    if pointer.bits != element.storage_bits or not _may_be(pointer.type, element):
        theirs = f"{pointer.type or 'elements'} of {pointer.bits} bits"
        raise DescriptorError(
            f"operand: dtype must be what the printed layout has, {theirs}, found {element}, of "
            f"{element.storage_bits}; layout = {source}"
        )
    if pointer.swizzle is not None and unit == "bytes":
        raise DescriptorError(
            f"operand: the unit of a printed pointer must be cute, as its swizzle permutes bytes and its layout counts "
            f"elements, found bytes; layout = {source}"
        )
    return pointer.swizzle is not None


def _check_in_memory(source: object) -> None:
    """Refuse what another compiler wrote of registers, whose threads and values are no rows and columns."""
    if not isinstance(source, str):
        return
    from layoutalg import parse_encoding  # as below

    encoding = parse_encoding(source)
    if encoding is not None and encoding.space != "smem":
        raise DescriptorError(f"operand: a layout must lie in shared memory, found {encoding}")


def _pointer(text: object) -> Pointer | None:
    if not isinstance(text, str):
        return None
    from layoutalg import parse_pointer  # only where something was pasted

    return parse_pointer(text)


def _may_be(type_text: str, element: ElementType) -> bool:
    """Whether CuTe prints an element type so; a name with E and M in it is that of the format, as in f8E4M3FN."""
    format_name = re.search(r"E\dM\d", type_text)
    name = format_name[0].lower() if format_name else type_text
    return not name or element.name in _TYPES.get(name, (name, f"{name}_unpacksmem"))


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
    source: object, element: ElementType, swizzle: object = None, unit: Unit = "elements"
) -> tuple[Layout | ComposedLayout, SwizzleMode]:
    """A layout as a tile counted in elements, and its swizzle mode.

    Law: the tile maps each coordinate to the place that the given layout does.

    Args:
        source: a plain layout, a swizzle after one, or a pair of such a layout and an integer that is added after the
            swizzle; or an expression that is one of these, or what CuTe prints of a tensor in shared memory.
        element: the element type.
        swizzle: name of the swizzle mode that is applied to the offsets of a plain layout; "none" if left out, so that
            a plain layout is stored exactly as it is written. A swizzled layout has its own, and no other.
        unit: one of ``UNITS``.

    Raises:
        NotCanonicalError: if the swizzle is none that the hardware has; the nearest one is named.
        DescriptorError: if it is no such layout, or its swizzle is not the mode that ``swizzle`` says.
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
    mode = None if permutation is None else recognise(permutation, 8 if unit == "cute" else bits, layout)
    asked_mode = None if swizzle is None else as_swizzle_mode(swizzle)
    if mode is not None and asked_mode is not None and mode is not asked_mode:
        raise DescriptorError(
            f"operand: the layout has swizzle {mode}, but swizzle {asked_mode} was given; leave the "
            f"swizzle out, or give the layout without its own; layout = {layout}"
        )
    mode = mode or asked_mode or SwizzleMode.NONE
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
            f"found {partitioned}",
            proposals=[Advice({"mma": (rows, columns)}) for columns in (16, 32, 64, 8) for rows in (64, 128)],
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
        what = "both are" if majors else "neither is"
        raise DescriptorError(
            f"derive: one dimension must be contiguous over {element.per_16_bytes} {element} elements (16 bytes) to "
            f"tell the major from the layout, {what}; layout = {tile}"
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
            "derive: layout must be a layout, its notation, or a pair of a layout and an offset, found "
            f"{brief(source)}; a layout is written shape:stride, like (64,16):(64,1)"
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
