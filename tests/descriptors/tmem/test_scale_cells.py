"""Scale factors lie in tensor memory where CUTLASS's own fragments have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from tmem_maps import digest, in_order, rows

from descriptors import DescriptorError
from descriptors.tmem.scale_cells import padded_rows, scale_cells


@each("row", rows("SF"), ids=lambda row: row["name"])
def test_scale_factors_lie_where_cutlass_has_them(row: dict[str, Any]) -> None:
    """CuTe's domain is ((MN, copy), (vector, factors)), tiles: K tiles follow, each of few factors."""
    vector, count, _, _, mn, tiles, mode = row["name"].split()
    factors, number = int(count), int(tiles.removeprefix("tiles"))
    depth = int(vector) * factors * number
    cells = scale_cells(int(mn), depth, int(vector), halves=mode.endswith("2by2")).cells()[:, :depth]
    ours = np.moveaxis(cells, 2, 1)  # (mn, copy, k): the last two as CuTe counts them
    assert digest(in_order(ours)) == row["sha256"]


def test_rows_are_padded_to_whole_copies() -> None:
    assert [padded_rows(n) for n in (8, 128, 136, 192, 256)] == [128, 128, 256, 256, 256]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((100, 64, 16), "MN is 100, which is not a multiple of 32"),
        ((128, 64, 8), "the vector is 8, which is not supported; supported: 16, 32"),
        ((128, 65536, 16), "columns, tensor memory has 512"),
        ((128, 0, 16), "K is "),
    ],
)
def test_what_has_no_place_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        scale_cells(*arguments)
