"""The whole way of scale factors, proved; and the bytes that each K step reads."""

from __future__ import annotations

import json
from typing import Any

import pytest
from places import VECTORS

from descriptors import DescriptorError
from descriptors.smem.instructions.tables import SCALES
from descriptors.tmem.landing_model import COPY_SHAPES, landing
from descriptors.tmem.scale_cells import scale_cells
from descriptors.tmem.scale_factors import Place, scale_factors, scale_memory

CASE = json.loads((VECTORS / "nvfp4_case.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "arguments",
    [
        {"mn": 128, "k": 64, "vector": 16},
        {"mn": 8, "k": 64, "vector": 16},
        {"mn": 256, "k": 256, "vector": 32},
        {"mn": 192, "k": 512, "vector": 16},
        {"mn": 128, "k": 64, "vector": 32},  # of one instruction of K 64
        {"mn": 128, "k": 32, "vector": 32},  # of one of K 32
        {"mn": 64, "k": 256, "vector": 16, "of_64": True},
        {"mn": 256, "k": 64, "vector": 16, "halves": True},
        {"mn": 256, "k": 128, "vector": 32, "halves": True},
        {"mn": 256, "k": 256, "vector": 16, "halves": True},
        {"mn": 256, "k": 384, "vector": 32, "step": 64, "halves": True},
    ],
    ids=str,
)
def test_every_factor_lands_in_its_bytes(arguments: dict[str, Any]) -> None:
    report = scale_factors(**arguments).verify()
    assert report.ok and report.bits == report.elements * 8 * (2 if "halves" in arguments else 4)


def test_a_proof_fails_where_a_copy_is_left_out_or_moved() -> None:
    from dataclasses import replace

    factors = scale_factors(256, 128, 16)
    assert not replace(factors, steps=factors.steps[:-1]).verify().ok
    assert (
        not replace(factors, steps=tuple(step._replace(column=step.column ^ 4) for step in factors.steps)).verify().ok
    )


def test_of_several_k_blocks_the_halves_are_copied_only_where_blocks_of_one_k_touch() -> None:
    from dataclasses import replace

    factors = scale_factors(256, 128, 16, halves=True)
    assert [place.column for place in factors.places] == [0, 4]
    assert not replace(factors, memory=scale_memory(256, 128, 16)).verify().ok, "K first, as in global memory"


@pytest.mark.parametrize("n", [64, 128, 192, 256])
@pytest.mark.parametrize("k", [64, 256])
def test_halves_in_blocks_of_their_own_are_copied_to_where_the_instruction_reads_them(n: int, k: int) -> None:
    """Row by row: memory has half h of four factors in block 2 j + h, and no copy writes a column of another."""
    factors = scale_factors(n, k, 16, halves=True)
    assert factors.verify().ok and factors.bytes == 1024 * (k // 64) and factors.columns == 4 * (k // 64)
    for row in range(n):
        half, inside = divmod(row, n // 2)
        for q in range(k // 16):
            block = 2 * (q // 4) + half
            assert factors.memory(row, 16 * q) == 512 * block + 16 * (inside % 32) + 4 * (inside // 32) + q % 4
            cell = factors.cells.cell(row, 16 * q, 0)
            place = factors.places[q // 4]
            assert (cell.lane, cell.column) == (inside % 32 + 64 * half, place.column + inside // 32)
    assert [step.column for step in factors.steps] == [4 * j for j in range(k // 64)]


def test_halves_of_fewer_rows_cannot_be_copied_from_one_block_whatever_the_word() -> None:
    """A word of a source goes to one column in every lane; halves of N < 256 want two words in one column."""
    for name in COPY_SHAPES:
        columns = {
            word: {place[1] for _, w, place in landing(name, lane=0, column=0) if w == word} for word in range(4)
        }
        assert columns == {word: {word} for word in range(4)}, name
    for n in (64, 128, 192, 256):
        memory, cells = scale_memory(n, 64, 16), scale_cells(n, 64, 16, halves=True)
        words = [memory(row, 0) % 16 // 4 for row in (0, n // 2)]
        assert cells.cell(0, 0, 0).column == cells.cell(n // 2, 0, 0).column
        assert (words[0] == words[1]) == (n == 256)


def test_the_ids_of_k_steps_are_those_of_the_table() -> None:
    for row in SCALES:
        if row.name.startswith("block"):
            continue  # K = 96
        step = row.k[0]
        factors = scale_factors(128, 4 * step, row.vector, step=step)
        assert {place.byte for place in factors.places} == set(row.ids)


def test_the_pointers_are_those_of_the_compiler() -> None:
    factors = scale_factors(128, 256, 32, step=64)
    message = ["+0", "+0x80000000 (id 2)", "+4 columns", "+4 columns +0x80000000 (id 2)"]
    assert message == CASE["block32_k_blocks"]["pointers"]
    assert [place.pointer(0) for place in factors.places] == [0, 0x80000000, 4, 0x80000004]
    assert Place(0, 0).pointer(8) == 8


def test_a_pair_with_64_rows_each_reads_fewer_columns_than_its_copies_write() -> None:
    factors = scale_factors(64, 128, 16, of_64=True)
    assert (factors.cells.columns, factors.columns) == (4, 6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mn": 128, "k": 64, "vector": 16, "of_64": True}, "MN is 128, but of_64 is for a CTA with 64 rows"),
        (
            {"mn": 96, "k": 64, "vector": 16, "halves": True},
            "N is 96, for which no copies .*; supported: N 64, 128, 192, 256",
        ),
        (
            {"mn": 512, "k": 64, "vector": 16, "halves": True},
            "N is 512, for which no copies .*; supported: N 64, 128, 192, 256",
        ),
        ({"mn": 128, "k": 64, "vector": 16, "step": 80}, "K of a step is 80, .*; supported: 16, 32, 48, 64, 96, 128"),
        ({"mn": 128, "k": 48, "vector": 16}, r"K is 48, which is not a multiple of the K of a step \(64\)"),
        ({"mn": 128, "k": 96, "vector": 32, "step": 64}, r"K is 96, which is not a multiple of the K of a step \(64\)"),
        ({"mn": 128, "k": 64, "vector": 16, "halves": 1}, "halves is 1, which is neither"),
    ],
)
def test_what_has_no_way_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        scale_factors(**arguments)
