"""Producers: stores as wide as the values lie side by side, each counted by the bank model."""

from __future__ import annotations

import numpy as np
import pytest

from descriptors.errors import DescriptorError
from descriptors.smem.operands.operand import as_element_type
from descriptors.sweep import search as producers
from descriptors.sweep.search import as_producer, search, stores
from layoutalg import Layout, accesses, wavefronts


def test_a_producer_may_move_as_many_values_as_the_limit_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(producers, "_MOST_VALUES", 256)
    assert as_producer("(32,8):(1,32)", (64, 64)) == Layout((32, 8), (1, 32))
    with pytest.raises(DescriptorError, match="search: producer moves 264 values, and the maximum is 256"):
        as_producer("(33,8):(1,33)", (64, 64))


def test_a_producer_may_reach_the_last_element_and_none_beyond() -> None:
    assert as_producer("(32,2):(1,32)", (8, 8)) == Layout((32, 2), (1, 32))
    for layout in ("(32,2):(1,33)", "(32,2):(1,-1)"):
        with pytest.raises(DescriptorError, match=r"search: producer has offsets .* outside of the tile's \[0,64\)"):
            as_producer(layout, (8, 8))


def test_a_thread_value_layout_costs_what_its_accesses_cost() -> None:
    rows, columns = "((8,4),8):((512,1),64)", "(32,8):(1,64)"
    for text, tv in ((rows, Layout(((8, 4), 8), ((512, 1), 64))), (columns, Layout((32, 8), (1, 64)))):
        for producer in (text, tv):
            for one in search(tile=(64, 64), dtype="bf16", mma=(64, 16), producer=producer, major="K"):
                warp_accesses = accesses(one.derivation.smem_tile, tv, 2, 16, store=True)
                assert one.wavefronts == sum(each.wavefronts for each in warp_accesses)
                assert one.conflicts == sum(each.conflicts for each in warp_accesses)
                assert one.store_bytes == 16


@pytest.mark.parametrize(
    ("values", "strides", "width"), [(8, 1, 16), (4, 1, 8), (6, 1, 4), (2, 1, 4), (3, 1, 2), (8, 2, 2)]
)
def test_stores_are_as_wide_as_the_values_lie_side_by_side_and_aligned(values: int, strides: int, width: int) -> None:
    flat = np.arange(1024, dtype=np.int64)[:, None] * 16
    moves = np.arange(32)[:, None] * (values * strides) + np.arange(values) * strides
    cost = stores(flat, moves, as_element_type("bf16"))
    assert cost is not None and cost.store_bytes == width


def test_stores_of_several_warps_and_idle_lanes_add_up() -> None:
    flat = np.arange(4096, dtype=np.int64)[:, None] * 32
    moves = np.arange(40)[:, None] * 32  # 128 bytes apart: one bank
    moves[3] = -1
    assert stores(flat, moves, as_element_type("tf32")) == (4, 31 + 8, 30 + 7)


def test_elements_in_containers_are_stored_by_the_container_only() -> None:
    (by_row, by_column) = (
        search(tile=(64, 64), dtype="e2m3", mma=(64, 32), major="K", producer=producer)
        for producer in ("rows", "columns")
    )
    assert {one.store_bytes for one in by_row} == {16} and {one.store_bytes for one in by_column} == {None}


def test_stores_that_do_not_start_aligned_are_as_narrow_as_their_alignment() -> None:
    flat = np.arange(1024, dtype=np.int64)[:, None] * 16
    for start, width in ((0, 8), (1, 2), (2, 4), (4, 8)):
        cost = stores(flat, start + np.arange(128).reshape(32, 4), as_element_type("bf16"))
        assert cost is not None and cost.store_bytes == width


def test_stores_have_no_share_in_the_exception_for_loads() -> None:
    flat = np.arange(1024, dtype=np.int64)[:, None] * 16
    in_pairs = np.arange(32)[:, None] // 2 * 8 + np.arange(8)
    cost = stores(flat, in_pairs, as_element_type("bf16"))
    assert cost == (16, 4, 0)
    assert cost.wavefronts == 2 * wavefronts([lane // 2 * 16 for lane in range(32)], 16)
