"""Which mismatches of a word and a layout are shown: the first element of each run that is off by as much."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from descriptors.smem.debug.diff import diff
from descriptors.smem.proof.read_model import read_addresses
from layoutalg import offsets


def first_of_runs(addresses: np.ndarray, fetched: np.ndarray, along: int) -> list[tuple[int, int]]:
    """Element by element: wrong, and not off by as much as the one before it."""
    off = fetched.astype(np.int64) - addresses
    places = []
    for i, k in np.ndindex(*off.shape):
        before = (i - 1, k) if along == 0 else (i, k - 1)
        if off[i, k] and not (min(before) >= 0 and off[before] == off[i, k]):
            places.append((i, k))
    return places


@pytest.mark.parametrize(
    ("layout", "major", "firsts"),
    [
        ("(64,2):(1,64)", "MN", [(i, 1) for i in range(0, 64, 8)]),
        ("(2,64):(64,1)", "K", [(1, k) for k in range(0, 64, 8)]),
    ],
)
def test_the_first_element_of_each_run_is_shown(layout: str, major: Any, firsts: list[tuple[int, int]]) -> None:
    difference = diff(1 << 62, layout, arch="sm90", dtype="bf16", major=major)
    addresses = 2 * offsets(difference.layout).astype(np.int64)
    fetched = read_addresses(1 << 62, arch="sm90", dtype="bf16", major=major, shape=difference.shape)
    assert [one.coordinate for one in difference.mismatches] == first_of_runs(
        addresses, fetched, "MN K".split().index(major)
    )[:8]
    assert [one.coordinate for one in difference.mismatches] == firsts
