"""`tcgen05.cp` writes the cells that CUTLASS's own traits say, all shapes and multicasts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from each import each
from places import VECTORS
from tmem_maps import digest, rows

from descriptors import DescriptorError
from descriptors.tmem.copies import tmem_copy
from descriptors.tmem.geometry import BELIEVED, NVIDIA

_NAMES = {
    "128dp256bit": "128x256b",
    "128dp128bit": "128x128b",
    "4dp256bit": "4x256b",
    "4x32dp128bit": "32x128b.warpx4",
    "2x64dp128bitlw0213": "64x128b.warpx2::02_13",
    "2x64dp128bitlw0123": "64x128b.warpx2::01_23",
}
PTXAS = json.loads((VECTORS / "tmem_ptxas.json").read_text(encoding="utf-8"))


@each("row", rows("CP"), ids=lambda row: row["name"])
def test_a_copy_is_that_of_cutlass(row: dict[str, Any]) -> None:
    copy = tmem_copy(_NAMES[row["name"].split()[0]])
    cells = copy.cells.cells()  # (row, bit, copy)
    row_of, bit_of = np.arange(copy.rows)[:, None, None], np.arange(copy.bits)[None, :, None]
    # CuTe numbers the source bits with the rows fastest; of 01_23 in two halves, of the refresh by the lanes it goes
    # to.
    source = row_of + copy.rows * bit_of
    if copy.name.endswith("01_23"):
        source = row_of % 32 + 32 * bit_of + 4096 * (row_of // 32)
    elif copy.name == "4x256b":
        source = 32 * row_of + 128 * bit_of
    source = np.broadcast_to(source, cells.shape[:-1])
    order = np.concatenate([cells, source[..., None]], axis=-1)
    if copy.name.endswith("01_23"):  # 32 rows, bits, halves, copies
        order = order.reshape(2, 32, copy.bits, 2, 4).transpose(3, 0, 2, 1, 4)
    else:
        order = order.transpose(2, 1, 0, 3)
    assert digest(order.reshape(-1, 4)) == row["sha256"]


@each("case", PTXAS["copies"], ids=lambda case: case["asked"])
def test_a_copy_exists_where_the_assembler_takes_it(case: dict[str, Any]) -> None:
    try:
        tmem_copy(case["asked"])
    except DescriptorError:
        assert not case["accepted"]
    else:
        assert case["accepted"]


def test_the_source_of_the_refresh_is_only_believed() -> None:
    assert tmem_copy("4x256b").cells.evidence == BELIEVED
    assert tmem_copy(".128X256B").cells.evidence == NVIDIA


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("64x128b", "multicast is absent, but must be warpx2::02_13 or warpx2::01_23"),
        ("128x256b.warpx4", "multicast is warpx4, but must be absent"),
        ("256x256b", "supported: 128x256b"),
        (None, "None is not the name of a shape"),
    ],
)
def test_what_is_no_copy_is_refused(name: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        tmem_copy(name)
