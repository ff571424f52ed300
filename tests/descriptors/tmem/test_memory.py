"""Scale factors in memory: CUTLASS's own layouts, the published formula, the descriptor word of NVIDIA's compiler."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from places import VECTORS
from tmem_maps import digest, rows

from descriptors import DescriptorError
from descriptors.tmem.scale_factors import copy_steps, memory_bytes, scale_memory
from layoutalg import offsets, size

CASE = json.loads((VECTORS / "nvfp4_case.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", rows("SFG"), ids=lambda row: row["name"])
def test_the_layout_is_that_of_cutlass(row: dict[str, Any]) -> None:
    vector, extents = row["name"].split()
    mn, k = map(int, extents.split("x"))
    memory = scale_memory(mn, k, int(vector))
    places = offsets(memory)
    assert digest(places.T.reshape(-1, 1)) == row["sha256"]
    assert size(memory) == row["count"]


@pytest.mark.parametrize("row", rows("SFS"), ids=lambda row: row["name"])
def test_in_shared_memory_cutlass_has_the_blocks_of_one_k_side_by_side(row: dict[str, Any]) -> None:
    vector, _, _, extents = row["name"].split()
    _, n, k = map(int, extents.split("x"))
    memory = scale_memory(n, k, int(vector), rows_first=True)
    assert digest(offsets(memory).T.reshape(-1, 1)) == row["sha256"]
    assert (memory == scale_memory(n, k, int(vector))) == (k == 4 * int(vector)), "of one block along K both are one"


def test_the_layout_is_the_published_formula() -> None:
    for mn, k, vector in ((128, 64, 16), (300, 200, 32), (8, 1024, 16)):
        memory, blocks = scale_memory(mn, k, vector), -(-k // (4 * vector))
        for x, q in np.ndindex(mn, k // vector):
            byte = (x // 128 * blocks + q // 4) * 512 + x % 32 * 16 + x % 128 // 32 * 4 + q % 4
            assert memory(x, q * vector) == byte == memory(x, q * vector + vector - 1)
        assert memory_bytes(mn, k, vector) == -(-mn // 128) * blocks * 512


def test_the_word_of_a_block_is_that_of_the_compiler() -> None:
    (step,) = copy_steps(128, 64, 16, rows=128)
    assert step.word == int(CASE["smem_desc_address_0"]["scale factors, for tcgen05.cp.32x128b.warpx4"], 16)
    assert memory_bytes(128, 64, 16) == CASE["smem_bytes"]["SFA"] == memory_bytes(8, 64, 16)


def test_blocks_are_copied_to_the_columns_of_their_rows_and_factors() -> None:
    steps = copy_steps(256, 128, 16, rows=256, base=1024)
    starts = [(step.word & 0x3FFF) * 16 for step in steps]
    assert starts == [1024, 2048, 1536, 2560] and [step.column for step in steps] == [0, 4, 8, 12]


def test_a_copy_of_two_halves_takes_two_blocks_that_touch() -> None:
    steps = copy_steps(256, 128, 16, rows=256, halves=True)
    assert [((step.word & 0x3FFF) * 16, step.column) for step in steps] == [(0, 0), (1024, 4)]
    assert {step.word >> 32 & 0x3FFF for step in steps} == {8}  # 128 bytes from 8 rows to the next


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scale_memory(0, 64, 16), "MN is "),
        (lambda: scale_memory(128, 64, 48), "the vector is 48, which is not supported; supported: 16, 32, 64"),
        (lambda: copy_steps(128, 64, 16, rows=128, base=8), "is not a multiple of 16"),
        (lambda: copy_steps(128, 64, 16, rows=128, base=-16), "the address is "),
        (lambda: scale_memory(128, 64, 16, rows_first=1), "rows_first is 1, which is neither"),
    ],
)
def test_what_has_no_layout_is_refused(call: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        call()
