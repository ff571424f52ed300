"""Findings: ranked by the documented columns, with the memory that all stages take."""

from __future__ import annotations

from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from descriptors.smem.operands.operand import Major, SwizzleMode, as_element_type
from descriptors.sweep.finding import COLUMNS, KEYS, Finding
from descriptors.sweep.search import search, survey

PRODUCERS = ["tma", "rows", "columns"]


@given(
    st.sampled_from(["bf16", "e4m3", "tf32"]),
    st.sampled_from([64, 128, 192]),
    st.sampled_from([32, 64, 128]),
    st.integers(1, 20),
    st.sampled_from([1000, 40000, 232448]),
    st.sampled_from(PRODUCERS),
)
@settings(max_examples=15)
def test_findings_are_sorted_by_the_documented_columns_and_ties_keep_the_order_of_enumeration(
    dtype: str, mn: int, k: int, stages: int, smem: int, producer: str
) -> None:
    reads = (64, 256 // as_element_type(dtype).storage_bits)
    outcome = survey(tile=(mn, k), dtype=dtype, mma=reads, stages=stages, smem=smem, producer=producer)
    assert outcome.key == KEYS["tma" if producer == "tma" else "stores"] and set(outcome.key) <= set(COLUMNS)
    first = [Major.K, Major.MN]
    widest = [SwizzleMode.B128, SwizzleMode.B128_BASE32B, SwizzleMode.B64, SwizzleMode.B32, SwizzleMode.NONE]

    def cost(one: Finding) -> list[float]:
        costs = [not one.fits if name == "fits" else getattr(one, name) for name in outcome.key]
        return [float("inf") if value is None else value for value in costs]

    def place(one: Finding) -> tuple[int, int, bool]:
        return first.index(one.major), widest.index(one.swizzle), (one.order == (0, 1)) != (one.major is Major.K)

    for one, other in pairwise(outcome.findings):
        assert (cost(one), place(one)) < (cost(other), place(other))


@pytest.mark.parametrize(("stages", "smem"), [(1, 16384), (2, 32767), (6, 232448), (15, 232448), (16, 262144)])
def test_memory_is_stages_times_the_tile_and_fits_says_whether_it_is_there(stages: int, smem: int) -> None:
    for one in search(tile=(128, 64), dtype="bf16", mma=(64, 16), stages=stages, smem=smem):
        assert one.stage_bytes == 128 * 64 * 2
        assert one.total_bytes == stages * one.stage_bytes + one.padding_bytes
        assert one.fits == (one.total_bytes <= smem)
        assert one.alignment_bytes == max(128, one.swizzle.alignment_bytes)
        assert one.waste_bytes == one.slack_bytes == one.alignment_bytes - 16
        assert not one.carries
        assert one.proof.bases == tuple(range(0, stages * 16384, 16384))
