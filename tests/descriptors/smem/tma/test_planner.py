"""Tensor copies: the boxes fill the tile exactly, are as large as can be, and are those of NVIDIA's own code."""

from __future__ import annotations

import random
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seeds import seeds_of

from descriptors import Derivation, DescriptorError, TmaError, derive, tma_plan
from descriptors.oracle import available
from descriptors.smem.operands.operand import ELEMENT_TYPES, Major, SwizzleMode
from descriptors.smem.operands.swizzled import plain
from layoutalg import ComposedLayout, Layout, Swizzle, offsets

ALGEBRA: dict[str, Any] = {"legality": "off", "verify": False}

#: The rule that every copy keeps, since it writes a box and no more.
DENSE = "a tensor copy writes a dense box, each element once"

#: Types whose 16 elements are widened to 16 bytes on the way: only rows of 128 bytes can be copied.
PADDED = ("e2m3", "e3m2", "e2m1_unpacksmem")


def tile(extents: tuple[int, ...], dtype: str, major: str, swizzle: str, order: Any = None) -> Derivation:
    """A tile of atoms, cut into single atoms."""
    per_16 = ELEMENT_TYPES[dtype].per_16_bytes
    mma = (8, per_16) if major == "K" else (per_16, 8)
    return derive(extents, dtype, major, swizzle, mma, order, capacity=None, **ALGEBRA)


def row_elements(dtype: str, swizzle: str) -> int:
    modes = {str(mode): mode for mode in SwizzleMode}
    return modes[swizzle].span_bytes * 8 // ELEMENT_TYPES[dtype].storage_bits


def test_the_two_boxes_of_the_articles_kmajor_tile() -> None:
    plan = tma_plan(derive((128, 128), "bf16", "K", "128B", (64, 16), (0, 1)), rank=2)
    assert plan.box == (64, 128)
    assert [dimension.name for dimension in plan.dimensions] == ["K", "MN"]
    assert [(box.origin, box.coordinates, box.offset_bytes) for box in plan.boxes] == [
        ((0, 0), (0, 0), 0),
        ((0, 64), (64, 0), 16384),
    ]
    assert (plan.swizzle_name, plan.swizzle_code) == ("CU_TENSOR_MAP_SWIZZLE_128B", 3)
    assert plan.data_type_name == "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16"
    assert (plan.alignment_bytes, plan.box_bytes, plan.transaction_bytes) == (1024, 16384, 16384)
    assert plan.verify() == 128 * 128


def test_the_four_boxes_of_the_articles_mnmajor_tile() -> None:
    plan = tma_plan(derive((128, 128), "bf16", "MN", "64B", (64, 16), (1, 0)), rank=2)
    assert plan.box == (32, 128)
    assert [dimension.name for dimension in plan.dimensions] == ["MN", "K"]
    assert [(box.origin, box.offset_bytes) for box in plan.boxes] == [((32 * i, 0), 8192 * i) for i in range(4)]
    assert (plan.swizzle_name, plan.swizzle_code) == ("CU_TENSOR_MAP_SWIZZLE_64B", 2)
    assert plan.verify() == 128 * 128


def test_the_other_stacking_order_leaves_a_box_an_atom() -> None:
    assert tma_plan(tile((128, 128), "bf16", "K", "128B", (1, 0)), rank=2).box == (64, 8)
    assert tma_plan(tile((128, 128), "bf16", "MN", "64B", (0, 1)), rank=2).box == (32, 8)


def test_digits_of_a_dimension_join_boxes() -> None:
    d = tile((128, 128), "bf16", "K", "128B", (0, 1))
    plan = tma_plan(d, rank=3)
    assert (plan.box, len(plan.boxes)) == ((64, 128, 2), 1)
    assert [(one.name, one.step, one.extent) for one in plan.dimensions] == [
        ("K", 1, 64),
        ("MN", 1, None),
        ("K/64", 64, None),
    ]
    unswizzled = tma_plan(tile((128, 128), "bf16", "K", "none", (1, 0)), rank=4)
    assert (unswizzled.box, len(unswizzled.boxes)) == ((8, 8, 16, 16), 1)
    assert unswizzled.verify() == 128 * 128


def test_the_tile_without_a_swizzle_has_boxes_of_16_bytes() -> None:
    plan = tma_plan(tile((128, 128), "bf16", "K", "none", (0, 1)), rank=2)
    assert (plan.box, len(plan.boxes), plan.swizzle_code, plan.alignment_bytes) == ((8, 128), 16, 0, 128)


def test_stages_are_filled_one_by_one() -> None:
    plan = tma_plan(tile((128, 128, 3), "bf16", "K", "128B", (0, 2, 1)), rank=2)
    assert [(box.stage, box.origin[1], box.offset_bytes) for box in plan.boxes] == [
        (stage, 64 * half, 16384 * stage + 49152 * half) for stage in range(3) for half in range(2)
    ]
    two = derive(layout=Layout((64, 16, 2, 3), (16, 1, 3072, 1024)), dtype="bf16", swizzle="32B", mma=(64, 16))
    assert [(box.stage, box.offset_bytes) for box in tma_plan(two, rank=2).boxes] == [
        (i + 2 * j, 6144 * i + 2048 * j) for j in range(3) for i in range(2)
    ]


def test_a_dimension_of_more_than_256_elements_is_cut_where_a_box_can_begin() -> None:
    assert tma_plan(tile((512, 64), "bf16", "K", "64B"), rank=2).box == (32, 256)
    assert tma_plan(tile((264, 64), "bf16", "K", "32B"), rank=2).box == (16, 132)  # 132 rows of 32 bytes: 33 x 128
    assert tma_plan(tile((264, 64), "bf16", "K", "none"), rank=2).box == (
        8,
        88,
    )  # 132 rows of 16 bytes are no multiple of 128
    assert tma_plan(tile((8 * 67, 16), "bf16", "K", "none"), rank=2).box == (8, 8)


TYPES = sorted(ELEMENT_TYPES)


@st.composite
def derivations(draw: st.DrawFn) -> Derivation:
    """Tiles of every type, major, swizzle and order that a tensor copy can fill, of at most 30,000 elements."""
    dtype, major = draw(st.sampled_from(TYPES)), draw(st.sampled_from(["K", "MN"]))
    swizzles = ["128B"] if dtype in PADDED else ["none", "32B", "64B", "128B"]
    swizzle = draw(st.sampled_from([*swizzles, "128B_BASE32B"] if major == "MN" else swizzles))
    atom = (8, row_elements(dtype, swizzle)) if major == "K" else (row_elements(dtype, swizzle), 8)
    room = 30_000 // prod(atom)
    along = draw(st.integers(1, room))
    counts = (along, draw(st.integers(1, max(1, min(6, room // along)))))
    if draw(st.booleans()):
        counts = counts[::-1]
    stages = draw(st.lists(st.integers(1, 3), max_size=1))
    extents = (atom[0] * counts[0], atom[1] * counts[1], *stages)
    return derive(
        extents,
        dtype,
        major,
        swizzle,
        atom,
        tuple(draw(st.permutations(range(len(extents))))),
        capacity=None,
        **ALGEBRA,
    )


@given(derivations(), st.integers(2, 5), st.integers(0, 9))
def test_every_element_lands_where_the_tile_has_it(d: Derivation, rank: int, place: int) -> None:
    plan = tma_plan(d, rank)
    assert plan.verify(place * plan.alignment_bytes) == prod(d.tile)


@given(derivations(), st.integers(2, 5))
def test_the_limits_of_the_driver_hold(d: Derivation, rank: int) -> None:
    plan = tma_plan(d, rank)
    assert 2 <= len(plan.dimensions) <= rank
    assert all(1 <= extent <= 256 for extent in plan.box)
    inner = plan.box[0] * d.element.storage_bits // 8
    assert inner % 16 == 0
    assert inner == d.swizzle.span_bytes or d.swizzle is SwizzleMode.NONE
    assert all(box.offset_bytes % 128 == 0 for box in plan.boxes)
    # Strides of the tensor map are steps of a dimension: whole 16 bytes, whatever the tensor's own stride is.
    first = plan.dimensions[0]
    assert (first.step, first.mode) == (1, d.major.contiguous_mode)
    for dimension in plan.dimensions[1:]:
        if dimension.mode == first.mode:
            assert dimension.step * d.element.bits % 128 == 0
    if d.element.name in PADDED:
        assert plan.box[0] == 128


@given(derivations())
def test_no_box_of_the_tensors_own_dimensions_is_larger(d: Derivation) -> None:
    """By trial: every pair of extents that divide the tile and keep the limits, dense in the layout or not."""
    plan = tma_plan(d, rank=2)
    layout: Any = plain(d.smem_tile)
    table = offsets(layout).reshape(*d.tile[:2], -1)[:, :, 0]
    rows = table if d.major is Major.K else table.T  # the contiguous dimension last
    limit = 256 if d.swizzle is SwizzleMode.NONE else plan.box[0]
    unit = d.element.storage_bits
    best = 0
    for wide in (n for n in range(1, limit + 1) if rows.shape[1] % n == 0 and n * unit % 128 == 0):
        for high in (n for n in range(1, 257) if rows.shape[0] % n == 0):
            whole = (high == rows.shape[0] or wide * high * unit % 1024 == 0) and wide * high > best
            if whole and (rows[:high, :wide].ravel() == np.arange(high * wide)).all():
                best = wide * high
    assert prod(plan.box) == best


@given(derivations())
def test_a_higher_rank_never_needs_more_boxes(d: Derivation) -> None:
    plans = [tma_plan(d, rank) for rank in (2, 3, 4, 5)]
    counts = [len(plan.boxes) for plan in plans]
    assert tma_plan(d) == plans[counts.index(min(counts))]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize(("dtype", "swizzle"), [("e2m1", "128B"), ("e2m3", "128B"), ("e2m1_unpacksmem", "128B")])
def test_what_hoppers_driver_refuses_is_refused(dtype: str, swizzle: str) -> None:
    d = derive((64, 256), dtype, "K", swizzle, (8, 32), arch="sm90", **ALGEBRA)
    with pytest.raises(TmaError, match="sm90 has no tensor map with "):
        tma_plan(d, rank=2)
    assert tma_plan(replace(d, descriptor=replace(d.descriptor, arch="sm100")), rank=2).evidence.startswith(
        "documented"
    )


@pytest.mark.parametrize(
    ("derivation", "message", "rule"),
    [
        (
            {"tile": (128, 128), "dtype": "e2m3", "major": "K", "swizzle": "64B", "mma": (128, 32)},
            "e2m3 in 16-byte containers does not support swizzle 64B; supported: none, 128B, 128B_BASE32B",
            "CUDA Driver API, cuTensorMapEncodeTiled",
        ),
        (
            {"tile": (128, 128), "dtype": "e2m1_unpacksmem", "major": "K", "swizzle": "none", "mma": (128, 32)},
            "a box has 16 elements along dimension 0, but a box of e2m1_unpacksmem in 16-byte containers has 128",
            "CUDA Driver API, cuTensorMapEncodeTiled; PTX ISA 9.1, restrictions on tensor copy instructions",
        ),
        (
            {"layout": "(((8,8)),(8,2)):(((8,72)),(1,600))", "dtype": "bf16", "mma": (8, 8), "swizzle": "none"},
            "the box at (8,0) starts at byte 144 of shared memory, which is not a multiple of 128",
            "CUDA C++ Programming Guide, tensor memory access",
        ),
    ],
)
def test_a_tile_that_no_copy_fills_is_refused_with_its_rule(
    derivation: dict[str, Any], message: str, rule: str
) -> None:
    d = derive(**derivation, **ALGEBRA)
    assert refused(d) == f"tma: {message}; tile = {d.smem_tile} [{rule}]"


def test_a_box_narrower_than_the_swizzled_row_leaves_the_rest_of_each_row_alone() -> None:
    """Recorded of a GPU in ``tma_short``: rows a span apart, and the bytes of the rows alone counted."""
    plan = tma_plan(derive(layout="S<3,3,3> o 0 o (64,16):(64,1)", dtype="bf16", mma=(64, 16), arch="sm90"), rank=2)
    assert (plan.box, plan.transaction_bytes, plan.box_bytes, plan.verify()) == ((16, 64), 2048, 8192, 1024)
    spoilt = replace(plan, layout=ComposedLayout(Swizzle(3, 3, 3), 0, Layout((64, 16), (16, 1))))
    with pytest.raises(TmaError, match="element"):
        spoilt.verify()


def test_a_contiguous_dimension_that_is_not_the_tensors_is_refused() -> None:
    d = tile((64, 64), "bf16", "K", "none")
    for layout in (Layout((64, (8, 8)), (1, (512, 64))), Layout((64, (2, 32)), (64, (32, 1))), Layout((1, 1), (0, 0))):
        rule = "dimension 0 of the tensor does not have stride 1 in shared memory"
        assert refused(replace(d, smem_tile=layout)) == f"tma: {rule}; tile = {layout} [{DENSE}]"
    for stride in (0, -1):
        layout = Layout((64, 64), (stride, 1))
        rule = f"a stride is {stride}, which is not positive"
        assert refused(replace(d, smem_tile=layout)) == f"tma: {rule}; tile = {layout} [{DENSE}]"


def refused(derivation: Derivation) -> str:
    """The whole line of a refusal, at whose end stands the rule."""
    with pytest.raises(TmaError) as error:
        tma_plan(derivation, rank=2)
    assert str(error.value).endswith(f" [{error.value.rule}]")
    return str(error.value)


@pytest.mark.parametrize("rank", [1, 6, 0, -1, "2", 2.0, True])
def test_a_rank_that_no_tensor_map_has_is_refused(rank: Any) -> None:
    with pytest.raises(DescriptorError, match="tma: rank is "):
        tma_plan(tile((64, 64), "bf16", "K", "none"), rank)


@pytest.mark.skipif(not available(), reason="the CuTe DSL is not installed")
@pytest.mark.parametrize("seed", seeds_of("test_boxes_are_those_of_the_cute_dsls_own_copies"))
def test_boxes_are_those_of_the_cute_dsls_own_copies(seed: int) -> None:
    from dsl_emitted import BoxRequest, copy_boxes

    rng = random.Random(seed)
    requests, ours = [], []
    for _ in range(150):
        dtype, major = rng.choice(["bf16", "f16", "tf32", "e4m3", "s8", "e2m1"]), rng.choice(["K", "MN"])
        swizzle = rng.choice(
            ["none", "32B", "64B", "128B", *(["128B_BASE32B"] if (dtype, major) == ("tf32", "MN") else [])]
        )
        row = row_elements(dtype, swizzle)
        rows, pieces = 8 * rng.randint(1, 70), rng.randint(1, 4)
        extents = (rows, row * pieces) if major == "K" else (row * pieces, rows)
        d = tile(extents, dtype, major, swizzle, rng.choice([(0, 1), (1, 0)]))
        requests.append(BoxRequest(dtype, major, swizzle, str(plain(d.smem_tile)), extents))
        ours.append(tma_plan(d, rank=2))
    for request, plan, answer in zip(requests, ours, copy_boxes(requests), strict=True):
        assert answer.status == "ok", (request, answer.text)
        modes = tuple(dimension.mode for dimension in plan.dimensions)
        extents = dict(zip(answer.modes, answer.box, strict=True))
        theirs = tuple(extents.get(mode, 1) for mode in modes)
        if plan.box != theirs:  # the DSL also cuts where the next box would begin off a multiple of 128 bytes
            assert prod(theirs) * plan.element.storage_bits % 1024, (request, theirs)
