"""Metadata of a sparse A lie where CUTLASS's own fragments have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tmem_maps import digest, in_order, rows

from descriptors import DescriptorError
from descriptors.tmem.operand_cells import sparse_metadata

_TYPES = {"tfloat32_t": "tf32", "half_t": "f16", "uint8_t": "e4m3", "float_e2m1_t": "e2m1"}


@pytest.mark.parametrize("row", rows("E"), ids=lambda row: row["name"])
def test_metadata_lie_where_cutlass_has_them(row: dict[str, Any]) -> None:
    maker, value, extents, tiles = row["name"].split()
    (m, k), count = map(int, extents.split("x")), int(tiles.removeprefix("tiles"))
    metadata = sparse_metadata(m, k * count, _TYPES[value], ws=maker.endswith("ws"))
    assert digest(in_order(metadata.cells())) == row["sha256"]


def test_each_row_of_the_published_rule_is_there() -> None:
    for dtype, k, bits in (("tf32", 16, 2), ("bf16", 32, 1)):
        metadata = sparse_metadata(128, k, dtype)
        for m, j in np.ndindex(128, k):
            lane = m % 8 + 8 * (j // (k // 2)) + 16 * (m // 16)
            assert metadata.cell(m, j) == (lane, 0, 16 * (m // 8 % 2) + bits * (j % (k // 2)))
    eight, four = sparse_metadata(128, 64, "e5m2"), sparse_metadata(128, 128, "e2m1")
    assert all(eight.cell(m, j) == (m, j // 32, j % 32) for m, j in np.ndindex(128, 64))
    assert all(four.cell(m, j) == (m, j // 64, j // 2 % 32) for m, j in np.ndindex(128, 128))


def test_copies_of_few_rows_fill_the_lanes() -> None:
    for rows_of_a in (64, 32):
        metadata = sparse_metadata(rows_of_a, 32, "f16", ws=True)
        assert metadata.modes[-1] == "copy"
        assert {int(lane) for lane in metadata.cells()[..., 0].ravel()} == set(range(128))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 64, "k": 32, "dtype": "f16"}, "A has 64 rows per CTA, for which .*; ws = False; supported: 128$"),
        ({"m": 16, "k": 32, "dtype": "f16", "ws": True}, "A has 16 rows per CTA, .*; supported: 128, 64, 32"),
        ({"m": 128, "k": 16, "dtype": "f16"}, "K is 16, which is not a multiple of 32"),
        ({"m": 128, "k": 32, "dtype": "f16", "ws": 1}, "ws is 1, which is neither"),
    ],
)
def test_what_has_no_known_arrangement_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        sparse_metadata(**arguments)
