"""Plans of tensor copies: where a tile may begin, what the barrier counts, and a proof that finds what is wrong."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import pytest

from descriptors import Derivation, TmaError, TmaPlan, derive, tma_plan
from descriptors.smem.operands.operand import ELEMENT_TYPES
from descriptors.smem.words.tensor_map import SWIZZLES
from layoutalg import ComposedLayout, Layout, Swizzle

ALGEBRA: dict[str, Any] = {"legality": "off", "verify": False}


def tile(extents: tuple[int, ...], dtype: str, major: str, swizzle: str, order: Any = None) -> Derivation:
    """A tile of atoms, cut into single atoms."""
    per_16 = ELEMENT_TYPES[dtype].per_16_bytes
    mma = (8, per_16) if major == "K" else (per_16, 8)
    return derive(extents, dtype, major, swizzle, mma, order, capacity=None, **ALGEBRA)


def test_where_the_tile_may_begin_in_the_tensor() -> None:
    assert tma_plan(tile((128, 128), "bf16", "MN", "64B"), rank=2).origin_multiples == (8, 1)
    assert tma_plan(tile((128, 128), "bf16", "MN", "64B"), rank=3).origin_multiples == (32, 1)
    assert tma_plan(tile((128, 128), "bf16", "K", "none", (1, 0)), rank=4).origin_multiples == (8, 8)
    assert tma_plan(tile((128, 256), "e2m1", "K", "128B"), rank=2).origin_multiples == (1, 32)
    assert tma_plan(tile((128, 256), "e2m3", "K", "128B"), rank=3).origin_multiples == (1, 128)


def test_padding_is_not_counted_by_the_barrier() -> None:
    for dtype, bits in (("bf16", 16), ("e2m1", 4), ("e2m1_unpacksmem", 4), ("e2m3", 6)):
        plan = tma_plan(tile((64, 256), dtype, "K", "128B"), rank=2)
        assert plan.transaction_bytes * 8 == prod(plan.box) * bits
        assert plan.box_bytes == 64 * 128
    assert tma_plan(tile((64, 256), "e2m3", "K", "128B"), rank=2).global_alignment_bytes == 32


def plans() -> list[TmaPlan]:
    return [
        tma_plan(tile((128, 128), "bf16", "K", "128B"), rank=2),
        tma_plan(tile((128, 128), "bf16", "MN", "64B"), rank=2),
        tma_plan(tile((64, 64, 2), "tf32", "MN", "128B_BASE32B"), rank=3),
    ]


@pytest.mark.parametrize("plan", plans(), ids=str)
def test_the_proof_finds_a_wrong_plan(plan: TmaPlan) -> None:
    first, last = plan.boxes[0], plan.boxes[-1]
    others = [mode for mode in SWIZZLES if mode is not plan.swizzle and mode.alignment_bytes <= plan.alignment_bytes]
    wrong = [
        replace(plan, boxes=plan.boxes[:-1]),
        replace(plan, boxes=(*plan.boxes, first)),
        replace(plan, boxes=(*plan.boxes[:-1], replace(last, offset_bytes=last.offset_bytes + 1024))),
        replace(plan, boxes=(*plan.boxes[:-1], first)),
        replace(plan, boxes=(replace(first, offset_bytes=last.offset_bytes), *plan.boxes[1:])),
        *(replace(plan, swizzle=mode) for mode in others),
    ]
    for one in wrong:
        with pytest.raises(
            TmaError, match=r"tma: (elements are copied . to . times, not once|element .* lands at byte)"
        ):
            one.verify()
    with pytest.raises(TmaError, match=f"address 64 is not a multiple of {plan.alignment_bytes} bytes"):
        plan.verify(64)


def test_a_place_that_two_elements_share_is_found() -> None:
    d = derive(layout=Layout((64, 16, 2), (16, 1, 1024)), dtype="bf16", swizzle="32B", mma=(64, 16))
    shared = Layout((64, 16, 2), (16, 1, 0))
    twice = replace(tma_plan(d, rank=2), layout=ComposedLayout(Swizzle(1, 3, 3), 0, shared))
    boxes = tuple(replace(box, offset_bytes=0) for box in twice.boxes)
    with pytest.raises(TmaError, match="two elements land at the same address"):
        replace(twice, boxes=boxes).verify()
