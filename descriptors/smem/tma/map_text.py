"""Print tensor maps and their comparisons as text, and convert them into plain data.

Invariant: text and data have the same verdict.

>>> from descriptors.smem.tma.map_notation import parse_tensor_map
>>> for swizzle in ("128B", "64B"):
...     map_ = parse_tensor_map(f"type=bf16 extents=512x256 strides=1024 box=64x128 swizzle={swizzle}")
...     assert record_tensor_map(map_)["taken"] == ("accepted by" in tell_tensor_map(map_)) == (swizzle == "128B")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from descriptors.errors import DescriptorError
from descriptors.records import PAIR, Record, Row, each, within
from descriptors.smem.debug.word_text import record_diff, tell_diff
from descriptors.smem.operands.operand import Major
from descriptors.smem.tma.map_check import BoxCheck, MapChanges, WordCheck, box_layout, refused
from descriptors.smem.tma.map_notation import ARGUMENTS, arguments_text
from descriptors.smem.words.tensor_map import (
    FILLS,
    INTERLEAVES,
    PADDED,
    PROMOTIONS,
    SWIZZLE_NAMES,
    Im2colWindow,
    TensorMap,
)
from descriptors.targets import is_measured, known
from descriptors.text import aligned, counted, extents_text

#: The driver that accepts or rejects a map, and the evidence: ``scripts/probe_wgmma tensor_maps``, on an H100 and H200.
DRIVER = "driver 580.159.04 of a Hopper GPU"
EVIDENCE = "by rules that match its answers to 16848 recorded calls"


def remarks(one: TensorMap) -> Iterator[str]:
    r"""Yield notes on a map that the driver accepts: unexpected effects, and further requirements of the manuals.

    >>> from descriptors.smem.tma.map_notation import parse_tensor_map
    >>> map_ = parse_tensor_map("type=u8 extents=64x8 strides=64 box=16x7 element_strides=1x2 swizzle=32B")
    >>> print(*remarks(map_), sep="\n")
    rows of 16 bytes are 32 bytes apart, and the copy does not write the bytes between them
    4 of the 7 elements of a box along dimension 1 are copied, because its element stride is 2
    """
    if not isinstance(one.box, Im2colWindow):
        row, pitch = one.row_bytes, one.row_pitch_bytes
        if one.data_type.code in PADDED:
            yield f"each 16 bytes of a row contain {2 * one.data_type.bits} bytes of elements, and padding"
        if row < pitch:
            yield f"rows of {row} bytes are {pitch} bytes apart, and the copy does not write the bytes between them"
        for i, (extent, step) in enumerate(zip(one.box, one.element_strides, strict=True)):
            if i == 0 and step > 1 and not one.interleave:
                yield "the element stride of dimension 0 is ignored without interleave"
            elif i != one.slice_dimension and extent % max(step, 1):
                yield (
                    f"{-(-extent // step)} of the {extent} elements of a box along dimension {i} are copied, because "
                    f"its element stride is {step}"
                )
        if one.slice_dimension is not None and one.box[one.slice_dimension] > 1:
            yield f"a box has one slice along dimension {one.slice_dimension}, that of its coordinate there"
    if one.interleave == 2 and one.swizzle != 1:
        yield "the driver's manual requires swizzle 32B with interleave 32B, but the driver accepts the map's swizzle"
    if one.swizzle and one.address % 128:
        yield "with a swizzle, the CUDA C++ Programming Guide requires a global address that is a multiple of 128"
    span = (8 * one.slice_bytes or one.data_type.bits) * (one.extents or (0,))[0] // 8
    for i, (stride, extent) in enumerate(zip(one.strides, one.extents[1:], strict=False), 1):
        if extent > 1 and stride < span:
            yield (
                f"the tensor overlaps itself: the stride of dimension {i} is {stride} bytes, but the dimensions before "
                f"it span {span}"
            )
        span = max(span, stride * extent)


def tell_tensor_map(one: TensorMap, arch: str = "sm90") -> str:
    r"""Return the text of a tensor map, with the verdict for an architecture.

    >>> from descriptors.smem.tma.map_notation import parse_tensor_map
    >>> map_ = parse_tensor_map("type=bf16 extents=512x256 strides=1024 box=32x128 swizzle=128B")
    >>> print(*tell_tensor_map(map_).splitlines()[1:4], sep="\n")
       accepted by the driver 580.159.04 of a Hopper GPU, by rules that match its answers to 16848 recorded calls
       box        128 rows of 64 bytes, 128 bytes apart; a copy counts 8192 bytes
       K-major    S<3,3,3> o 0 o (128,32):(64,1) (MN, K), in elements
    """
    refusals = one.refusals(arch)
    by = f"by the {DRIVER}, {EVIDENCE}" if is_measured(arch) else f"for {arch} by the rules of the {DRIVER}"
    lines = [f"{_kind(one)} tensor map: {arguments_text(one)}"]
    lines.append(f"   {'refused' if refusals else 'accepted'} {by}")
    lines += [f"   {refusal}" for refusal in refusals]
    if not refusals:
        lines += aligned([*_box(one), *(("note", text) for text in remarks(one))], indent=3, gap=3)
    lines += ["", *_dimensions(one)]
    if not one.refusals():
        data = one.to_bytes()
        lines += ["", "The 128 bytes, in the order of memory"]
        lines += [f"   {data[i : i + 32].hex(' ', 4)}" for i in range(0, 128, 32)]
    return "\n".join([*lines, f"known: {known(arch)}"])


def _kind(one: TensorMap) -> str:
    return "im2col" if isinstance(one.box, Im2colWindow) else "tiled"


def _box(one: TensorMap) -> Iterator[tuple[str, str]]:
    """Yield the rows that describe a copy of one box."""
    counted_bytes = f"a copy counts {counted(one.transaction_bytes, 'byte')}"
    if isinstance(one.box, Im2colWindow):
        channels = f"a slice of {one.slice_bytes} bytes" if one.interleave else f"{one.box.channels} channels"
        yield "box", f"{one.box.pixels} pixels of {channels}; {counted_bytes}"
        return
    rows = one.landing_extents[1:]
    if one.interleave:
        yield "box", f"{extents_text(rows)} slices of {one.slice_bytes} bytes, one behind the other; {counted_bytes}"
    else:
        many = f"{extents_text(rows)} rows" if rows else "one row"
        apart = f", {one.row_pitch_bytes} bytes apart" if rows else ""
        yield "box", f"{many} of {one.row_bytes} bytes{apart}; {counted_bytes}"
    for major in Major:
        try:
            yield f"{major}-major", f"{box_layout(one, None, major)} (MN, K), in elements"
        except DescriptorError:
            return


def _dimensions(one: TensorMap) -> list[str]:
    """Return the table of the dimensions, fastest first."""
    window = isinstance(one.box, Im2colWindow)
    heads = ["dimension", "extent", "stride in bytes", *([] if window else ["box"]), "element stride"]
    rows = [heads]
    for i, extent in enumerate(one.extents):
        own = one.slice_bytes or one.data_type.bits // 8 or f"{one.data_type.bits}/8"
        stride = one.strides[i - 1] if i else own
        box = [] if isinstance(one.box, Im2colWindow) else [one.box[i]]
        rows.append([str(value) for value in (i, extent, stride, *box, one.element_strides[i])])
    return list(aligned(rows, ">", indent=3))


#: A reason why the driver rejects a map, as plain data.
REFUSAL = Record("Refusal", **each(str, "argument message rule"), of_architecture=bool)


def _map(name: str, **box: Row) -> Record:
    """Return the declaration of the tensor maps with one kind of box, under the names of ``cuda.h``."""
    return Record(
        name,
        kind=Row(str, _kind),
        taken=bool,
        by=Row(str, lambda tensor_map: DRIVER),
        evidence=str,
        refusals=[REFUSAL],
        notes=[str],
        tensorDataType=Row(str, "data_type.name"),
        globalAddress=Row(int, "address"),
        globalDim=Row([int], "extents"),
        globalStrides=Row([int], "strides"),
        **box,
        elementStrides=Row([int], "element_strides"),
        interleave=Row(str, lambda tensor_map: INTERLEAVES[tensor_map.interleave]),
        swizzle=Row(str, lambda tensor_map: SWIZZLE_NAMES[tensor_map.swizzle]),
        l2Promotion=Row(str, lambda tensor_map: PROMOTIONS[tensor_map.l2_promotion]),
        oobFill=Row(str, lambda tensor_map: FILLS[tensor_map.oob_fill]),
        landing_extents=([int], None),
        transaction_bytes=(int, None),
        bytes=("^[0-9a-f]{256}$", None),
    )


#: Tiled maps, and im2col maps.
TILED = _map("TiledMap", boxDim=Row([int], "box"))
IM2COL = _map(
    "Im2colMap",
    pixelBoxLowerCorner=Row([int], "box.lower"),
    pixelBoxUpperCorner=Row([int], "box.upper"),
    channelsPerPixel=Row(int, "box.channels"),
    pixelsPerColumn=Row(int, "box.pixels"),
)


def record_tensor_map(one: TensorMap, arch: str = "sm90") -> dict[str, Any]:
    """Return a tensor map as plain data, under the names of ``cuda.h``, with the verdict for an architecture."""
    refusals = one.refusals(arch)
    return (IM2COL if isinstance(one.box, Im2colWindow) else TILED)(
        one,
        taken=not refusals,
        evidence=EVIDENCE if is_measured(arch) else known(arch),
        refusals=refusals,
        notes=() if refusals else tuple(remarks(one)),
        landing_extents=None if refusals else one.landing_extents,
        transaction_bytes=None if refusals else one.transaction_bytes,
        bytes=None if one.refusals() else one.to_bytes().hex(),
    )


def tell_map_changes(found: MapChanges) -> str:
    """Return the text of a comparison of two maps.

    >>> from descriptors.smem.tma.map_check import map_changes
    >>> from descriptors.smem.tma.map_notation import parse_tensor_map
    >>> texts = [f"type=u8 extents=64x8 strides=64 box=64x8 swizzle={swizzle}" for swizzle in ("64B", "32B")]
    >>> print(tell_map_changes(map_changes(*map(parse_tensor_map, texts))))
    refused: the driver does not accept the second map; boxDim[0] is 64 bytes, wider than the 32 bytes of the swizzle \
[CUDA Driver API, cuTensorMapEncodeTiled]
    different: 1 argument of the maps
       swizzle  64B -> 32B
    """
    both = [*refused(found.first_refusals, "the first map"), *refused(found.second_refusals, "the second map")]
    if found.first_refusals == found.second_refusals:
        both = refused(found.first_refusals, "either map")
    rows = [(name, f"{one} -> {other}") for name, one, other in found.changes]
    return "\n".join([*both, found.headline, *aligned(rows, indent=3)])


#: The comparison of two maps as plain data.
record_map_changes = Record(
    "MapChanges",
    same=Row(bool, lambda comparison: not comparison.changes),
    changes=[{"argument": Row(str, lambda change: ARGUMENTS[change[0]]), "first": str, "second": str}],
    refusals=Row({"first": Row([REFUSAL], "first_refusals"), "second": Row([REFUSAL], "second_refusals")}, "."),
)


def tell_box_check(comparison: BoxCheck) -> str:
    """Return the text of a comparison of a box with a layout; for a rejected map, only the reasons and the headline."""
    ending = f"known: {known(comparison.arch)}"
    if comparison.refusals:
        return "\n".join([*refused(comparison.refusals), comparison.headline, ending])
    lines = [comparison.headline, f"   layout   {comparison.layout}"]
    if comparison.first is not None:
        (mn, k), landed, home = comparison.first
        lines.append(f"   first    ({mn},{k}) lands at byte {landed:g}, the layout has it at {home:g}")
    return "\n".join([*lines, ending])


#: The comparison of a box with a layout as plain data.
record_box_check = Record(
    "BoxCheck",
    box=[int],
    shape=[int],
    differing=int,
    layout=str,
    first=({"coordinate": PAIR, "lands_at_byte": float, "layout_has_it_at_byte": float}, None),
    refusals=[REFUSAL],
    evidence=Row(str, lambda box_check: known(box_check.arch)),
)


def tell_word_check(comparison: WordCheck, name_of: Callable[[str], str] = str) -> str:
    """Return the text of a comparison of a word with a box; for a rejected map, only the reasons and the headline.

    Args:
        comparison: the comparison.
        name_of: as in ``tell_diff``.
    """
    diff = comparison.diff
    if not comparison.refusals:
        return tell_diff(diff, name_of)
    return "\n".join([*refused(comparison.refusals), diff.summary(name_of), f"known: {diff.evidence}"])


#: The comparison of a word with a box as plain data.
record_word_check = Record(**within("diff", **record_diff.rows), refusals=[REFUSAL])
