"""Explicit layouts: any layout gives the words of the tile that it is, or an error that teaches."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from derived import ALGEBRA, derive_or_none, tiles
from each import each
from hypothesis import given
from hypothesis import strategies as st

from descriptors import DescriptorError, FieldError, NotCanonicalError, SmemDescriptor, derive, plain
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.verify import verify
from descriptors.smem.operands.explicit import contiguous_major
from descriptors.smem.operands.operand import SwizzleMode, as_element_type
from descriptors.smem.operands.swizzled import swizzle_on_elements
from descriptors.smem.proof.addresses import fetched_rows, stored_rows
from layoutalg import (
    ComposedLayout,
    Layout,
    local_tile,
    make_layout,
    offsets,
    parse_layout,
    recast_layout,
    slice_and_offset,
    zipped_divide,
)

BF16: dict[str, Any] = {"dtype": "bf16", "mma": (64, 16)}


def same(d: Derivation, layout: Any, **more: Any) -> None:
    """The layout must have the words and offsets of the derivation."""
    arguments = {"dtype": d.element, "mma": d.mma, "arch": d.arch, "swizzle": d.swizzle, "major": d.major, **more}
    own = derive(layout=layout, **ALGEBRA, **arguments)
    assert (own.words(), own.offsets_bytes()) == (d.words(), d.offsets_bytes())


@given(arguments=tiles())
def test_a_layout_gives_the_words_of_the_tile_that_it_is(arguments: dict[str, Any]) -> None:
    d = derive_or_none(arguments)
    if d is None:
        return
    same(d, d.smem_tile)
    same(d, str(d.smem_tile))
    same(d, d.smem_tile, swizzle=None)
    same(d, plain(d.smem_tile))
    same(d, recast_layout(8, d.element.storage_bits, d.smem_tile), unit="bytes", swizzle=None)
    if d.swizzle.swizzle is not None:
        same(d, ComposedLayout(d.swizzle.swizzle, 0, plain(d.smem_tile)), unit="cute", swizzle=None)


@given(arguments=tiles())
def test_a_partition_gives_the_words_of_its_tile(arguments: dict[str, Any]) -> None:
    d = derive_or_none(arguments)
    if d is None:
        return
    operand, rest = plain(d.partitioned)
    partitioned = make_layout(operand, *rest)
    whole: Any = partitioned
    if isinstance(d.smem_tile, ComposedLayout):
        whole = ComposedLayout(d.smem_tile.outer, 0, partitioned)
    same(d, whole, mma=None)


@given(arguments=tiles(), data=st.data())
def test_a_slice_of_a_larger_tile_starts_where_it_lies(arguments: dict[str, Any], data: st.DataObject) -> None:
    d = derive_or_none(arguments)
    if d is None:
        return
    table: Any = d.words()
    mn = data.draw(st.integers(0, len(table) - 1))
    k = data.draw(st.integers(0, len(table[0]) - 1))
    # The part stays in the form of a swizzle after a layout: its offset is between the two.
    parts, coordinate = zipped_divide(plain(d.smem_tile), d.mma), ((None, None), (mn, k))
    part, offset = slice_and_offset(coordinate, parts)
    tile = ComposedLayout(swizzle_on_elements(d.swizzle, d.element), offset, part)
    arguments = {"dtype": d.element, "mma": d.mma, "arch": d.arch, "major": d.major}
    own = derive(layout=tile, **ALGEBRA, **arguments)
    assert own.words() == ((table[mn][k],),)


@pytest.mark.parametrize("major", ["K", "MN"])
@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
def test_what_local_tile_and_slices_return_can_be_derived(major: str, swizzle: str) -> None:
    d = derive((128, 128, 3), "bf16", major, swizzle, (64, 16))
    stage = derive(layout=slice_and_offset((None, None, 2), d.smem_tile), major=major, swizzle=swizzle, **BF16)
    assert stage.words() == tuple(tuple(cell[2] for cell in row) for row in d.words())  # type: ignore[union-attr]
    half = derive(layout=local_tile(d.smem_tile, (64, 128), (1, 0, 1)), major=major, swizzle=swizzle, **BF16)
    assert half.words()[0] == tuple(cell[1] for cell in d.words()[1])  # type: ignore[index,union-attr]
    assert verify(half).ok


@pytest.mark.parametrize("mode", [mode for mode in SwizzleMode if mode.swizzle])
def test_what_is_added_after_a_swizzle_may_be_any_number_of_its_periods(mode: SwizzleMode) -> None:
    d = derive((128, 64), "tf32", "MN", mode, (64, 8), legality="off")
    later = derive(layout=(d.smem_tile, mode.period_bytes // 4), dtype="tf32", mma=(64, 8), legality="off")
    assert later.descriptor == d.descriptor.at(mode.period_bytes)
    assert (offsets(later.smem_tile) == offsets(d.smem_tile) + mode.period_bytes // 4).all()
    with pytest.raises(DescriptorError, match=f"offset after the {mode} swizzle is .*, which is not a multiple"):
        derive(layout=(d.smem_tile, mode.period_bytes // 8), dtype="tf32", mma=(64, 8), legality="off")


@pytest.mark.parametrize("unit", ["elements", "cute"])
def test_stages_may_be_nested_and_many(unit: str) -> None:
    swizzle = "S<3,4,3>" if unit == "cute" else "S<3,3,3>"
    tile = f"{swizzle} o 0 o (64,64,(2,3),2):(64,1,(4096,8192),24576)"
    d = derive(layout=tile, unit=unit, **BF16)
    assert d.tile == (64, 64, 6, 2)
    table: Any = d.offsets_bytes()
    assert table[0][1][3][1] == 32 + 8192 * 3 + 49152
    assert verify(d).ok


def test_the_layout_that_cutlass_prints_for_a_pipelined_a_operand() -> None:
    d = derive(layout="S<3,4,3> o 0 o ((128,16),1,4,6):((64,1),0,16,8192)", unit="cute", dtype="bf16", operand="A")
    assert (d.mma, d.tile, hex(d.descriptor.encode())) == ((128, 16), (128, 64, 6), "0x4000404000010000")
    assert d.offsets_bytes(stage=5)[0][3] == 96 + 5 * 16384


@each(
    ("wrong", "message"),
    [
        ({"layout": "(64,64):(64,2)"}, "derive: neither dimension is contiguous over 8 bf16 elements (16 bytes), so "),
        ({"layout": "64:1"}, "derive: the layout 64:1 does not have the modes (MN, K, ...)"),
        ({"layout": "(64):(1)"}, "derive: the layout (64):(1) does not have the modes (MN, K, ...)"),
        ({"layout": 7}, "derive: 7 is not a layout, its notation, or a pair of a layout and an offset; "),
        ({"layout": (Layout((64, 64)), "x")}, "derive: (Layout((64, 64), (1, 64)), 'x') is not a layout, its "),
        ({"layout": "S<3,3,3>"}, "derive: Swizzle(3, 3, 3) is not a layout, its notation, or a pair of a "),
        ({"layout": "(64,64):(1@0,1@1)"}, "derive: (64,64):(1@0,1@1) is not a plain layout with integer strides, nor "),
        ({"layout": "(64,64):(64,1)", "mma": None}, "derive: mma is missing, and the layout is not partitioned as "),
        ({"layout": "(64,64):(64,1)", "order": (0, 1)}, "derive: an explicit layout has no stacking order, "),
        (
            {"layout": "(64,64):(64,1)", "unit": "bits"},
            "derive: unit is 'bits', which is not supported (did you mean bytes?); supported: elements",
        ),
        (
            {"layout": "S<2,3,3> o 0 o (64,64):(64,1)", "swizzle": "128B"},
            "operand: the layout has swizzle 64B, but swizzle 128B was given",
        ),
        ({"layout": "S<3,3,3> o 4 o (64,64):(64,1)"}, "derive: the tile starts at offset 4, which is not a "),
        ({"layout": (parse_layout("S<3,3,3> o 0 o (64,64):(64,1)"), 8)}, "derive: the offset after the 128B swizzle "),
        (
            {"layout": "S<3,4,3> o 3 o (64,64):(128,2)", "unit": "bytes"},
            "derive: the layout's offset is 3 bytes, which is not a whole number of bf16 elements; ",
        ),
        (
            {"layout": "(64,(16,4)):(64,(1,20))", "swizzle": "128B"},
            "derive: the subtiles along K are 20 elements apart, which is not a multiple of 16 bytes ",
        ),
        (
            {"layout": "(1024,128):(128,1)", "swizzle": "128B"},
            "derive: the tile needs ",
        ),
        ({"layout": "S<3,3,3> o 116160 o (64,64):(64,1)"}, "derive: the tile needs "),
        ({"layout": "S<3,3,3> o -1024 o (64,64):(64,1)"}, "sm100 shared-memory descriptor: start_address is "),
        (
            {"layout": "(96,64):(64,1)", "swizzle": "128B"},
            "derive: tile MN is 96, which is not a multiple of the instruction's MN (64); ",
        ),
    ],
    ids=lambda value: str(value["layout"])[:30] if isinstance(value, dict) else "",
)
def test_what_is_no_tile_is_refused_with_the_reason(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError) as caught:
        derive(**{**BF16, **wrong})
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def with_leaf(value: Any, at: int, new: int) -> Any:
    """A nested tuple with one leaf replaced, counted from the left."""
    leaves = [new if i == at else leaf for i, leaf in enumerate(flatten_leaves(value))]
    return rebuilt(value, iter(leaves))


def flatten_leaves(value: Any) -> list[int]:
    return [leaf for item in value for leaf in flatten_leaves(item)] if isinstance(value, tuple) else [value]


def rebuilt(value: Any, leaves: Any) -> Any:
    return tuple(rebuilt(item, leaves) for item in value) if isinstance(value, tuple) else next(leaves)


def a_word_reads(tile: ComposedLayout, d: Derivation) -> bool:
    """Whether any LBO and SBO make the tensor core read the first operand of a tile: tried by the read model."""
    addresses = [row[: d.mma[1]] for row in stored_rows(tile, d.element)[: d.mma[0]]]
    rows = plain(tile)
    whole, span = d.element.per_16_bytes, d.swizzle.span_bytes * 8 // d.element.storage_bits
    if str(d.major) == "K":
        leading, stride = (0, whole), (8, 0)
    elif d.swizzle is SwizzleMode.NONE:
        leading, stride = (0, 8), (whole, 0)
    else:
        leading, stride = (span, 0), (0, 4 if d.swizzle is SwizzleMode.B128_BASE32B else 8)

    def step(at: tuple[int, int]) -> int:
        """What the field must be: the step to the first element that it is needed for."""
        return rows(*at) * d.element.storage_bits // 8 if at[0] < d.mma[0] and at[1] < d.mma[1] else 0

    start = tile.offset * d.element.storage_bits // 8
    try:
        word = SmemDescriptor(d.arch, step(leading), step(stride), d.swizzle, start).encode()
    except FieldError:
        return False
    fetched = fetched_rows([word], arch=d.arch, element=d.element, major=d.major, shape=d.mma)[0]
    return bool(fetched == addresses)


@given(arguments=tiles(), data=st.data())
def test_a_changed_tile_is_proved_or_no_word_reads_it(arguments: dict[str, Any], data: st.DataObject) -> None:
    d = derive_or_none(arguments)
    if d is None:
        return
    rows = plain(d.smem_tile)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(flatten_leaves(rows.stride)) - 1))
        step = data.draw(st.sampled_from([0, 1, 8, 16, 24, 32, 64, 128, 256, 512, 1024, 4096, -16, 7]))
        rows = Layout(rows.shape, with_leaf(rows.stride, at, step))
    offset = data.draw(st.sampled_from([0, 0, 32, 1024, 3]))
    layout = ComposedLayout(swizzle_on_elements(d.swizzle, d.element), offset, rows)
    try:
        own = derive(layout=layout, dtype=d.element, mma=d.mma, major=d.major, arch=d.arch, **ALGEBRA)
        own.words()
    except NotCanonicalError:
        with suppress(DescriptorError):  # beyond the window of addresses: no word either
            assert not a_word_reads(layout, d)
    except DescriptorError as error:
        assert 0 < len(str(error)) < 900
    else:
        assert verify(own).ok
        assert a_word_reads(layout, d)


def test_the_contiguous_dimension_is_told_by_the_layout() -> None:
    bf16 = as_element_type("bf16")
    assert str(contiguous_major(Layout((64, 16), (16, 1)), bf16)) == "K"
    assert str(contiguous_major(Layout(((8, 8), 16), ((1, 128), 8)), bf16)) == "MN"
