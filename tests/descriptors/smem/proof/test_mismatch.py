"""Which mismatches are shown first."""

from __future__ import annotations

from typing import Any

from descriptors.smem.debug.diff import diff

BF16_K: dict[str, Any] = {"arch": "sm90", "dtype": "bf16", "major": "K"}


def test_the_first_mismatches_are_one_for_each_run_that_moves_together() -> None:
    difference = diff(1 << 62 | 64 << 32, "S<2,3,3> o 0 o (64,16):(32,1)", **BF16_K)
    assert [one.coordinate for one in difference.mismatches[:4]] == [(1, 0), (1, 8), (2, 0), (2, 8)]
