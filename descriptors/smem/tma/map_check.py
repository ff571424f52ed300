"""Compare a tensor map with another map, with the layout that its box fills, or with a descriptor that reads the box.

A map that the driver rejects copies nothing, so every comparison includes the reasons for a rejection. A type or
swizzle that only ``sm100`` has is such a reason only if the comparison is for ``sm90``.

Invariant: the elements of a box land where its layout has them.

>>> from descriptors.smem.tma.map_notation import parse_tensor_map
>>> map_ = parse_tensor_map("type=bf16 extents=512x256 strides=1024 box=32x128 swizzle=128B")
>>> print(box_layout(map_, "bf16", "K"))
S<3,3,3> o 0 o (128,32):(64,1)
>>> box_check(map_, box_layout(map_, "bf16", "K"), dtype="bf16", major="K").differing
0
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.errors import DescriptorError, advised, as_integer
from descriptors.smem.debug.candidates import as_shape
from descriptors.smem.debug.diff import Diff, diff
from descriptors.smem.instructions.legality import operand_refusal
from descriptors.smem.operands.explicit import Given, Unit, as_unit, explicit_tile
from descriptors.smem.operands.operand import (
    ELEMENT_TYPES,
    ElementType,
    Major,
    MajorName,
    SwizzleMode,
    as_element_type,
    as_major,
)
from descriptors.smem.operands.swizzled import plain, start_of, swizzle_on_elements
from descriptors.smem.tma.copy_model import landing_bits
from descriptors.smem.tma.map_notation import ARGUMENTS, arguments
from descriptors.smem.tma.tma_plan import DESTINATION_BYTES, check_destination
from descriptors.smem.words.descriptor import Arch, architecture, assumed_architecture
from descriptors.smem.words.tensor_map import (
    DATA_TYPES,
    SWIZZLE_NAMES,
    Im2colWindow,
    MapRefusal,
    TensorMap,
    as_tensor_map,
)
from descriptors.text import Told, counted
from layoutalg import ComposedLayout, Layout, make_layout, offsets, size
from layoutalg.frozen import frozen, replace

#: The largest number of elements of a box.
_MOST_ELEMENTS = 228 * 1024 * 2


def refused(refusals: Sequence[MapRefusal], which: str = "the map") -> list[str]:
    """Return the line that the driver rejects a map, with the reasons; no line if it accepts the map.

    >>> refused([MapRefusal("boxDim[0]", "is 300, which is not in [1, 256]", "a book")])
    ['refused: the driver does not accept the map; boxDim[0] is 300, which is not in [1, 256] [a book]']
    """
    reasons = "; ".join(map(str, refusals))
    return [f"refused: the driver does not accept {which}; {reasons}"] if refusals else []


@frozen
class MapChanges(Told):
    """The differences of two tensor maps.

    Args:
        changes: name of each argument that differs, with its value in the first and in the second map.
        first_refusals, second_refusals: why the driver rejects the map.
    """

    changes: tuple[tuple[str, str, str], ...]
    first_refusals: tuple[MapRefusal, ...] = ()
    second_refusals: tuple[MapRefusal, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the maps are equal, and the driver accepts them."""
        return not (self.changes or self.first_refusals or self.second_refusals)

    @property
    def headline(self) -> str:
        """The comparison in one line."""
        count = len(self.changes)
        return f"different: {counted(count, 'argument')} of the maps" if count else "same: all arguments of the maps"


def map_changes(one: TensorMap, other: TensorMap, arch: Arch = "sm100") -> MapChanges:
    """Compare the arguments of two maps.

    Args:
        one, other: the maps.
        arch: the architecture for which the driver must accept both.

    >>> from descriptors.smem.tma.map_notation import parse_tensor_map
    >>> one = parse_tensor_map("type=u8 extents=64x8 strides=64 box=32x8 swizzle=32B")
    >>> other = parse_tensor_map("type=u8 extents=64x8 strides=64 box=32x8 swizzle=64B")
    >>> map_changes(one, other).changes
    (('swizzle', '32B', '64B'),)
    """
    first, second = (arguments(as_tensor_map(each)) for each in (one, other))
    rows = ((name, first.get(name, "default"), second.get(name, "default")) for name in ARGUMENTS)
    return MapChanges(tuple(row for row in rows if row[1] != row[2]), one.refusals(arch), other.refusals(arch))


@frozen
class BoxCheck(Told):
    """The comparison of a box of a tensor map with the layout that it fills.

    Args:
        box: extents (MN, K) of the box, in elements.
        shape: extents (MN, K) of the layout.
        layout: the layout, in elements.
        differing: number of elements that land at another address.
        first: coordinate (MN, K) of the first of them, the byte where it lands, and the byte where the layout has it.
        refusals: why the driver rejects the map.
        arch: the architecture for which the driver must accept the map.
    """

    box: tuple[int, int]
    shape: tuple[int, int]
    layout: Layout | ComposedLayout
    differing: int
    first: tuple[tuple[int, int], float, float] | None
    refusals: tuple[MapRefusal, ...] = ()
    arch: Arch = "sm90"

    @property
    def ok(self) -> bool:
        """Whether every element lands where the layout has it, and the driver accepts the map."""
        return not (self.differing or self.refusals)

    @property
    def headline(self) -> str:
        """The comparison in one line."""
        elements = self.box[0] * self.box[1]
        part = "" if self.box == self.shape else f"; the layout has {self.shape[0]} x {self.shape[1]}"
        what = f"of the box, {self.box[0]} x {self.box[1]} (MN x K)"
        if not self.differing:
            return f"same: all {counted(elements, 'element')} {what}, land where the layout has them{part}"
        return f"different: {self.differing} of {counted(elements, 'element')} {what}, land elsewhere{part}"


def box_layout(one: TensorMap, dtype: str | ElementType | None, major: Major | MajorName) -> Layout | ComposedLayout:
    """Return the layout (MN, K) of one box in shared memory, in elements, with dimension 0 along the major.

    For an interleaved tensor, the elements of a slice are along the major.

    Args:
        one: a tiled map.
        dtype: the element type; the default is that of the map's data type, ``u8`` for bytes.
        major: the contiguous dimension.

    Raises:
        DescriptorError: if the map is im2col, has a swizzle that no tensor core reads, or elements of another size.

    >>> from descriptors.smem.tma.map_notation import parse_tensor_map
    >>> print(box_layout(parse_tensor_map("type=u8 extents=64x8 strides=64 box=64x8"), None, "MN"))
    (64,8):(1,64)
    """
    element, mode = box_element(one, dtype), _box_mode(one)
    inner, *others = one.landing_extents
    pitch = one.row_pitch_bytes * 8 // element.storage_bits
    strides = [pitch]
    for extent in others[:-1]:
        strides.append(strides[-1] * extent)
    rows = Layout(tuple(others), tuple(strides)) if len(others) > 1 else Layout(*(others or [1]), *strides)
    modes = (rows, Layout(inner, 1)) if as_major(major) is Major.K else (Layout(inner, 1), rows)
    both = make_layout(*modes)
    return both if mode.swizzle is None else ComposedLayout(swizzle_on_elements(mode, element), 0, both)


def _box_mode(one: TensorMap) -> SwizzleMode:
    """Return the swizzle mode of a map whose box has a layout.

    Raises:
        DescriptorError: if the map is im2col, or has a swizzle that no tensor core reads.
    """
    if isinstance(one.box, Im2colWindow):
        raise DescriptorError("tensor map: an im2col map has no box with a layout; tiled maps have one")
    if one.mode is None:
        raise DescriptorError(
            f"tensor map: no tensor core reads swizzle {SWIZZLE_NAMES[one.swizzle]}, so its box has no layout here"
        )
    return one.mode


def box_element(one: TensorMap, dtype: str | ElementType | None) -> ElementType:
    """Return the element type of a map's elements: ``dtype``, or by default the first type with its data type.

    Raises:
        DescriptorError: if the types have different sizes, or no operand has such elements.
    """
    code = as_tensor_map(one).data_type.code
    types = [name for name, (_, known) in DATA_TYPES.items() if known == code and name in ELEMENT_TYPES]
    if dtype is None and not types:
        raise DescriptorError(f"tensor map: no operand has {one.data_type} elements, and dtype is missing")
    element = as_element_type(("u8" if "u8" in types else types[0]) if dtype is None else dtype)
    if dtype is not None and element.bits != one.data_type.bits:
        raise DescriptorError(
            f"tensor map: {element} has {element.bits} bits, but the map's {one.data_type} has {one.data_type.bits}"
        )
    return element


@advised
def box_check(
    one: TensorMap, layout: Given, *, dtype: str | ElementType | None = None, major: Major | MajorName,
    unit: Unit = "elements", arch: Arch | None = None,
) -> BoxCheck:  # fmt: skip
    """Compare where the elements of one box land, by the copy model, with a layout.

    Args:
        one: a tiled map.
        layout: modes (MN, K), at least as large as the box, which fills the layout from its first element on.
        dtype: the element type; the default is that of the map.
        major: the dimension of the operand that dimension 0 of the map is.
        unit: unit of the layout's offsets and swizzle.
        arch: the architecture for which the driver must accept the map. The default is ``"sm90"``, or ``"sm100"`` if
            ``"sm90"`` lacks its type or swizzle.

    Raises:
        DescriptorError: as `box_layout`; or if the layout is smaller than the box.
        LayoutError: if the notation is wrong.

    >>> from descriptors.smem.tma.map_notation import parse_tensor_map
    >>> one = parse_tensor_map("type=bf16 extents=512x256 strides=1024 box=32x8 swizzle=64B")
    >>> box_check(one, "S<3,3,3> o 0 o (8,64):(64,1)", major="K").first
    ((1, 0), 64.0, 144.0)
    """
    import numpy as np

    element, contiguous = box_element(one, dtype), as_major(major).contiguous_mode
    _box_mode(one)
    inner, rows = one.landing_extents[0], size(Layout(one.landing_extents[1:])) if one.rank > 1 else 1
    box = (inner, rows) if contiguous == 0 else (rows, inner)
    tile, _ = explicit_tile(layout, element, unit=as_unit(unit))
    shape = (size(plain(tile)[0]), size(plain(tile)[1]))
    if box[0] > shape[0] or box[1] > shape[1] or inner * rows > _MOST_ELEMENTS:
        raise DescriptorError(f"tensor map: the box, {box[0]} x {box[1]}, does not fit in the layout {tile}")
    bits = element.storage_bits
    homes = offsets(tile).astype(np.int64).reshape(*shape, -1)[: box[0], : box[1], 0] * bits
    start = start_of(tile) * bits // 8
    landed = landing_bits(one.landing_rows, [start], bits=bits, swizzle=one.swizzle)[0].reshape(rows, inner)
    landed = landed.T if contiguous == 0 else landed
    wrong = np.argwhere(homes != landed)
    first = None
    if arch is None:
        arch = "sm100" if any(refusal.of_architecture for refusal in one.refusals()) else "sm90"
    if len(wrong):
        mn, k = map(int, wrong[0])
        first = ((mn, k), int(landed[mn, k]) / 8, int(homes[mn, k]) / 8)
    return BoxCheck(box, shape, tile, len(wrong), first, one.refusals(arch), architecture(arch))


@frozen
class WordCheck(Told):
    """The comparison of a descriptor with the box of a tensor map.

    Args:
        diff: the comparison of the descriptor with the layout of the box.
        refusals: why the driver rejects the map.
    """

    diff: Diff
    refusals: tuple[MapRefusal, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the descriptor reads every element from where it lands, and the driver accepts the map."""
        return self.diff.ok and not self.refusals

    @property
    def wrong(self) -> bool:
        """Whether the driver rejects the map, or an element is read from another address; False if undecided."""
        return self.diff.verdict == "different" or bool(self.refusals)


def word_check(
    one: TensorMap, word: int, arch: Arch | None = None, *, dtype: str | ElementType | None = None,
    major: Major | MajorName, shape: tuple[int, int] | None = None, base: int | None = None,
) -> WordCheck:  # fmt: skip
    """Compare what the tensor core reads for a word with where the elements of a box land.

    The address of the box is assumed in the same way as ``diff`` assumes that of a tile. The copy permutes absolute
    addresses, so the swizzle pattern starts at address 0. The verdict is undecided if the instruction reads more than
    the box fills.

    Args:
        one: a tiled map.
        word: the 64-bit descriptor.
        arch: ``"sm90"``, ``"sm100"``, ``"sm103"``, ``"sm107"`` or ``"sm110"``; the default follows from the word.
        dtype: the element type; the default is that of the map.
        major: the dimension of the operand that dimension 0 of the map is.
        shape: extents (MN, K) that one instruction reads, in elements, of which the part in the box is compared; the
            default is the whole box.
        base: address where the box lands, in bytes, a multiple of 128; None to assume one.

    Raises:
        DescriptorError: as `box_layout` and `descriptors.diff`.

    >>> from descriptors.smem.tma.map_notation import parse_tensor_map
    >>> one = parse_tensor_map("type=bf16 extents=512x64 strides=1024 box=64x64 swizzle=128B")
    >>> word_check(one, 0x4000404000010000, major="K").ok, word_check(one, 0x4000402000010000, major="K").ok
    (True, False)
    >>> word_check(one, 0x4000404000010000, major="K", shape=(128, 16)).diff.verdict
    'undecided'
    """
    layout, element = box_layout(one, dtype, major), box_element(one, dtype)
    if base is not None:
        check_destination(as_integer(base, "tensor map: base"))
    number = as_integer(word, "tensor map: the word", maximum=2**64 - 1)
    name = assumed_architecture(number) if arch is None else architecture(arch)
    reads = None if shape is None else as_shape(shape, layout)
    box = as_shape(None, layout)
    compared = None if reads is None else (min(reads[0], box[0]), min(reads[1], box[1]))
    comparison = diff(
        number, layout, name, dtype=element, major=major, shape=compared, base=base, pattern_start=0,
        alignment=DESTINATION_BYTES,
    )  # fmt: skip
    if compared != reads and reads is not None:
        illegal = operand_refusal(name, element, comparison.right_major or comparison.major, _box_mode(one), reads)
        comparison = replace(comparison, reads=reads, illegal=illegal)
    return WordCheck(comparison, one.refusals(name))
