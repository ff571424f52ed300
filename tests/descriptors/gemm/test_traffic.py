"""What a stage moves, counted the long way."""

from __future__ import annotations

from itertools import product

import pytest

from descriptors import plan
from descriptors.gemm.schedule import read_bytes, traffic


@pytest.mark.parametrize("a_source", ["smem", "registers"])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (2, 1, 4), (2, 2, 2), (3, 2, 1)])
def test_bytes_read_are_those_of_every_instruction(m: int, n: int, k: int, a_source: str) -> None:
    loop_plan = plan("m64n32k16", "bf16", tile=(64 * m, 32 * n, 16 * k), stages=1, a_source=a_source, verify=False)
    bytes_read = count = 0
    for _, j, _ in product(range(m), range(n), range(k)):
        count += 1
        bytes_read += 32 * 16 * 2 + (64 * 16 * 2 if a_source == "smem" or j == 0 else 0)
    moved = traffic(loop_plan)
    assert moved.read_bytes == read_bytes(loop_plan) == bytes_read
    assert moved.operations == count * 2 * 64 * 32 * 16
    assert moved.wavefronts == moved.core_matrices == bytes_read // 128
    assert moved.per_byte_copied == moved.operations / ((64 * m + 32 * n) * 16 * k * 2)


def test_a_pair_moves_half_in_each_cta() -> None:
    loop_plan = plan("m256n128k32", "e4m3", tile=(256, 128, 128), cta_group=2, stages=2, verify=False)
    moved = traffic(loop_plan)
    assert moved.operations == 256 * 128 * 128
    assert (moved.read_bytes, read_bytes(loop_plan)) == (24576, 49152)


def test_scale_factors_are_copied_too() -> None:
    loop_plan = plan("m128n128k64", "e2m1", tile=(128, 128, 256), kind="mxf4", stages=2, verify=False)
    assert loop_plan.scales is not None
    assert traffic(loop_plan).copied_bytes == 2 * 128 * 128 + loop_plan.scales.stage_bytes
