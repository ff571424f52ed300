"""Rows are spelled as people write them."""

from __future__ import annotations

import pytest

from descriptors.smem.instructions.facts import spell


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((8,), "8"),
        ((64, 128), "64, 128"),
        (tuple(range(8, 257, 8)), "8..256 step 8"),
        ((8, 16, 24, *range(32, 257, 16)), "8..32 step 8, 48..256 step 16"),
        ((), ""),
    ],
)
def test_numbers_are_spelled_in_runs(values: tuple[int, ...], text: str) -> None:
    assert spell(values) == text
