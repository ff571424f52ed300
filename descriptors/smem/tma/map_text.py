"""Tensor maps for a person and for a program: the verdict, the box, every argument, the bytes; and comparisons.

Law: text and data give one verdict.

>>> from descriptors.smem.tma.map_notation import parse_tensor_map
>>> for swizzle in ("128B", "64B"):
...     one = parse_tensor_map(f"type=bf16 extents=512x256 strides=1024 box=64x128 swizzle={swizzle}")
...     assert record_tensor_map(one)["taken"] == ("taken" in tell_tensor_map(one)) == (swizzle == "128B")
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

#: Who takes a map or does not, and how that is known: ``scripts/probe_wgmma tensor_maps``, on an H100 and an H200.
DRIVER = "driver 580.159.04 of a Hopper GPU"
EVIDENCE = "by rules that gave its answer to 16848 recorded calls"


def remarks(one: TensorMap) -> Iterator[str]:
    """What the driver takes and a person may not have meant, or that a manual asks for beyond it.

    >>> from descriptors.smem.tma.map_notation import parse_tensor_map
    >>> one = parse_tensor_map("type=u8 extents=64x8 strides=64 box=16x7 element_strides=1x2 swizzle=32B")
    >>> print(*remarks(one), sep="\\n")
    rows of 16 bytes lie 32 bytes apart, and the rest of each is left alone
    4 of a box of 7 land along dimension 1, with element stride 2
    """
    if not isinstance(one.box, Im2colWindow):
        row, pitch = one.row_bytes, one.row_pitch_bytes
        if one.data_type.code in PADDED:
            yield f"each 16 bytes of a row hold {2 * one.data_type.bits} bytes of elements, and padding"
        if row < pitch:
            yield f"rows of {row} bytes lie {pitch} bytes apart, and the rest of each is left alone"
        for i, (extent, step) in enumerate(zip(one.box, one.element_strides, strict=True)):
            if i == 0 and step > 1 and not one.interleave:
                yield "the element stride of dimension 0 is ignored without interleave"
            elif i != one.slice_dimension and extent % max(step, 1):
                yield f"{-(-extent // step)} of a box of {extent} land along dimension {i}, with element stride {step}"
        if one.slice_dimension is not None and one.box[one.slice_dimension] > 1:
            yield f"a box has one slice along dimension {one.slice_dimension}, that of its coordinate there"
    if one.interleave == 2 and one.swizzle != 1:
        yield "the driver takes it, its manual asks for swizzle 32B with interleave 32B; it swizzles as said"
    if one.swizzle and one.address % 128:
        yield "the CUDA C++ Programming Guide asks for a global address of whole 128 bytes with a swizzle"
    span = (8 * one.slice_bytes or one.data_type.bits) * (one.extents or (0,))[0] // 8
    for i, (stride, extent) in enumerate(zip(one.strides, one.extents[1:], strict=False), 1):
        if extent > 1 and stride < span:
            yield f"the tensor overlaps itself: dimension {i} advances {stride} bytes, what lies before has {span}"
        span = max(span, stride * extent)


def tell_tensor_map(one: TensorMap, arch: str = "sm90") -> str:
    """Return the text of a tensor map, with the verdict for an architecture.

    >>> from descriptors.smem.tma.map_notation import parse_tensor_map
    >>> one = parse_tensor_map("type=bf16 extents=512x256 strides=1024 box=32x128 swizzle=128B")
    >>> print(*tell_tensor_map(one).splitlines()[1:4], sep="\\n")
       taken by the driver 580.159.04 of a Hopper GPU, by rules that gave its answer to 16848 recorded calls
       box        128 rows of 64 bytes, 128 bytes apart; a copy counts 8192 bytes
       K-major    S<3,3,3> o 0 o (128,32):(64,1) (MN, K), in elements
    """
    refusals = one.refusals(arch)
    by = f"by the {DRIVER}, {EVIDENCE}" if is_measured(arch) else f"for {arch} by the rules of the {DRIVER}"
    lines = [f"{_kind(one)} tensor map: {arguments_text(one)}"]
    lines.append(f"   {'refused' if refusals else 'taken'} {by}")
    lines += [f"   {refusal}" for refusal in refusals]
    if not refusals:
        lines += aligned([*_box(one), *(("note", text) for text in remarks(one))], indent=3, gap=3)
    lines += ["", *_dimensions(one)]
    if not one.refusals():
        data = one.to_bytes()
        lines += ["", "The 128 bytes, as they lie in memory"]
        lines += [f"   {data[i : i + 32].hex(' ', 4)}" for i in range(0, 128, 32)]
    return "\n".join([*lines, f"known: {known(arch)}"])


def _kind(one: TensorMap) -> str:
    return "im2col" if isinstance(one.box, Im2colWindow) else "tiled"


def _box(one: TensorMap) -> Iterator[tuple[str, str]]:
    """What a copy of one box does."""
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
    """A row for each dimension, fastest first."""
    window = isinstance(one.box, Im2colWindow)
    heads = ["dimension", "extent", "stride in bytes", *([] if window else ["box"]), "element stride"]
    rows = [heads]
    for i, extent in enumerate(one.extents):
        own = one.slice_bytes or one.data_type.bits // 8 or f"{one.data_type.bits}/8"
        stride = one.strides[i - 1] if i else own
        box = [] if isinstance(one.box, Im2colWindow) else [one.box[i]]
        rows.append([str(value) for value in (i, extent, stride, *box, one.element_strides[i])])
    return list(aligned(rows, ">", indent=3))


#: A rule of the driver that a map breaks.
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


#: Maps of boxes of a tensor, and of windows of a convolution.
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
    """Two maps, argument by argument, for a person.

    >>> from descriptors.smem.tma.map_check import map_changes
    >>> from descriptors.smem.tma.map_notation import parse_tensor_map
    >>> texts = [f"type=u8 extents=64x8 strides=64 box=64x8 swizzle={swizzle}" for swizzle in ("64B", "32B")]
    >>> print(tell_map_changes(map_changes(*map(parse_tensor_map, texts))))
    refused: the driver does not take the second map; boxDim[0]: must be at most the 32 bytes of the swizzle, found 64 \
[CUDA Driver API, cuTensorMapEncodeTiled]
    different: 1 argument of the maps
       swizzle  64B -> 32B
    """
    both = [*refused(found.first_refusals, "the first map"), *refused(found.second_refusals, "the second map")]
    if found.first_refusals == found.second_refusals:
        both = refused(found.first_refusals, "either map")
    rows = [(name, f"{one} -> {other}") for name, one, other in found.changes]
    return "\n".join([*both, found.headline, *aligned(rows, indent=3)])


#: Two maps, argument by argument, as plain data.
record_map_changes = Record(
    "MapChanges",
    same=Row(bool, lambda changes_found: not changes_found.changes),
    changes=[{"argument": Row(str, lambda change: ARGUMENTS[change[0]]), "first": str, "second": str}],
    refusals=Row({"first": Row([REFUSAL], "first_refusals"), "second": Row([REFUSAL], "second_refusals")}, "."),
)


def tell_box_check(changes_found: BoxCheck) -> str:
    """A box against a layout, for a person; of a map that is refused no more than whether it would fit."""
    ending = f"known: {known(changes_found.arch)}"
    if changes_found.refusals:
        return "\n".join([*refused(changes_found.refusals), changes_found.headline, ending])
    lines = [changes_found.headline, f"   layout   {changes_found.layout}"]
    if changes_found.first is not None:
        (mn, k), landed, home = changes_found.first
        lines.append(f"   first    ({mn},{k}) lands at byte {landed:g}, the layout has it at {home:g}")
    return "\n".join([*lines, ending])


#: A box against a layout, as plain data.
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


def tell_word_check(found: WordCheck, name_of: Callable[[str], str] = str) -> str:
    """A word against a box, for a person; of a map that is refused no more than whether it would fit.

    Args:
        found: the comparison.
        name_of: as ``tell_diff`` has it.
    """
    if not found.refusals:
        return tell_diff(found.diff, name_of)
    return "\n".join([*refused(found.refusals), found.diff.summary(name_of), f"known: {found.diff.evidence}"])


#: A word against a box, as plain data.
record_word_check = Record(**within("diff", **record_diff.rows), refusals=[REFUSAL])
