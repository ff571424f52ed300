"""A tensor map against what it must agree with: another map, the layout that its box is to fill, a word that reads it.

No box of a map that the driver refuses lands anywhere, so that every comparison has those refusals; that of another
architecture is none of them, unless the word is of the one that lacks the type or the swizzle.

Law: the box of a plan's map fills the tile that the plan was made for, and the layout of the box is where it lands.

>>> from descriptors.smem.tma.map_notation import parse_tensor_map
>>> one = parse_tensor_map("type=bf16 extents=512x256 strides=1024 box=32x128 swizzle=128B")
>>> print(box_layout(one, "bf16", "K"))
S<3,3,3> o 0 o (128,32):(64,1)
>>> box_check(one, box_layout(one, "bf16", "K"), dtype="bf16", major="K").differing
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
from descriptors.smem.words.tensor_map import DATA_TYPES, Im2colWindow, MapRefusal, TensorMap, as_tensor_map
from descriptors.text import Told, counted
from layoutalg import ComposedLayout, Layout, make_layout, offsets, size
from layoutalg.frozen import frozen, replace

#: The most elements of a box that are compared: what one can have.
_MOST_ELEMENTS = 228 * 1024 * 2


def refused(refusals: Sequence[MapRefusal], which: str = "the map") -> list[str]:
    """A line that says that the driver refuses a map, and why; none if it does not.

    >>> refused([MapRefusal("boxDim[0]", "must lie in [1, 256], found 300", "a book")])
    ['refused: the driver does not take the map; boxDim[0]: must lie in [1, 256], found 300 [a book]']
    """
    reasons = "; ".join(map(str, refusals))
    return [f"refused: the driver does not take {which}; {reasons}"] if refusals else []


@frozen
class MapChanges(Told):
    """Two tensor maps, argument by argument.

    Args:
        changes: name of each argument that differs, what the first map has, and what the second.
        first_refusals, second_refusals: why the driver takes the map not.
    """

    changes: tuple[tuple[str, str, str], ...]
    first_refusals: tuple[MapRefusal, ...] = ()
    second_refusals: tuple[MapRefusal, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether none differs, of maps that the driver takes."""
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
        arch: whose driver must accept both.

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
    """Where one box of a tensor map lands, against the layout that it is to fill.

    Args:
        box: its extents (MN, K), in elements.
        shape: extents (MN, K) of the layout.
        layout: in elements.
        differing: elements that land elsewhere.
        first: coordinate (MN, K) of the first of them, the byte where it lands, and the byte where the layout has it.
        refusals: why the driver takes the map not.
        arch: the architecture whose driver must accept the map.
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
        """Whether every element lands where the layout has it, of a map that the driver takes."""
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
    """The layout (MN, K) of one box in shared memory, in elements: dimension 0 lies along the major.

    Of an interleaved tensor the elements of a slice do.

    Args:
        one: the map, tiled.
        dtype: the element type; default: that of the map's data type, ``u8`` for bytes.
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
    """The swizzle mode of a map whose box has a layout.

    Raises:
        DescriptorError: if the map is im2col, or has a swizzle that no tensor core reads.
    """
    kind = "im2col" if isinstance(one.box, Im2colWindow) else "another swizzle's"
    if one.mode is None or kind == "im2col":
        raise DescriptorError(f"tensor map: of a tiled map there is a layout, this one is {kind}")
    return one.mode


def box_element(one: TensorMap, dtype: str | ElementType | None) -> ElementType:
    """The element type that a map's elements are: the one that is said, or the first that has its data type.

    Raises:
        DescriptorError: if they have different sizes, or no operand has such elements.
    """
    code = as_tensor_map(one).data_type.code
    types = [name for name, (_, known) in DATA_TYPES.items() if known == code and name in ELEMENT_TYPES]
    if dtype is None and not types:
        raise DescriptorError(f"tensor map: no operand has {one.data_type} elements; give the type that they hold")
    element = as_element_type(("u8" if "u8" in types else types[0]) if dtype is None else dtype)
    if dtype is not None and element.bits != one.data_type.bits:
        raise DescriptorError(
            f"tensor map: {element} must have as many bits as the map's {one.data_type}, found {element.bits} and "
            f"{one.data_type.bits}"
        )
    return element


@advised
def box_check(
    one: TensorMap, layout: Given, *, dtype: str | ElementType | None = None, major: Major | MajorName,
    unit: Unit = "elements", arch: Arch | None = None,
) -> BoxCheck:  # fmt: skip
    """Follow every element of one box to shared memory, by the copy model, and compare with a layout.

    Args:
        one: the map, tiled.
        layout: modes (MN, K), at least as large as the box, which fills it from its first element on.
        dtype: the element type; default: that of the map.
        major: which of the two dimension 0 of the map is.
        unit: what the layout's offsets and swizzle count.
        arch: whose driver must accept the map; ``"sm100"`` if left out and ``"sm90"`` lacks its type or swizzle.

    Raises:
        DescriptorError: as `box_layout`; if the layout is smaller than the box.
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
        raise DescriptorError(f"tensor map: the layout must have the box, {box[0]} x {box[1]}, found {tile}")
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
    """A word against the box of a tensor map.

    Args:
        diff: the word against the layout of the box.
        refusals: why the driver takes the map not.
    """

    diff: Diff
    refusals: tuple[MapRefusal, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the word reads every element from where it lands, of a map that the driver takes."""
        return self.diff.ok and not self.refusals

    @property
    def wrong(self) -> bool:
        """Whether the driver refuses the map, or an element is read from elsewhere; neither if it is undecided."""
        return self.diff.verdict == "different" or bool(self.refusals)


def word_check(
    one: TensorMap, word: int, arch: Arch | None = None, *, dtype: str | ElementType | None = None,
    major: Major | MajorName, shape: tuple[int, int] | None = None, base: int | None = None,
) -> WordCheck:  # fmt: skip
    """Compare what the tensor core reads for a word with where the elements of a box land.

    The address of the box is assumed as ``diff`` assumes that of a tile. The copy permutes absolute addresses, so the
    swizzle pattern starts at address 0. The verdict is undecided where the instruction
    reads more than the box fills.

    Args:
        one: the map, tiled.
        word: the 64-bit descriptor.
        arch: ``"sm90"``, ``"sm100"``, ``"sm103"``, ``"sm107"`` or ``"sm110"``; default: as the word says.
        dtype: the element type; default: that of the map.
        major: which of the two dimension 0 of the map is.
        shape: extents (MN, K) that one instruction reads, in elements, of which those that the box fills are compared;
            the whole box if left out.
        base: address where the box lands, in bytes, a multiple of 128; assumed if left out.

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
    found = diff(
        number, layout, name, dtype=element, major=major, shape=compared, base=base, pattern_start=0,
        alignment=DESTINATION_BYTES,
    )  # fmt: skip
    if compared != reads and reads is not None:
        illegal = operand_refusal(name, element, found.right_major or found.major, _box_mode(one), reads)
        found = replace(found, reads=reads, illegal=illegal)
    return WordCheck(found, one.refusals(name))
