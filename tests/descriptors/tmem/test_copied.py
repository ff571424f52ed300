"""Tiles copied to tensor memory: the words are those of NVIDIA's compiler, the columns those of the operand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from each import each

from descriptors import DescriptorError, derive
from descriptors.tmem.copied import tmem_copied
from descriptors.tmem.geometry import BELIEVED
from descriptors.tmem.operand_cells import operand_a


def test_the_words_are_those_of_cutlass_for_an_operand_of_f16() -> None:
    assert tmem_copied((128, 64), "f16", "128B", "128x256b").steps[0].word == 0x4000404000010000
    assert tmem_copied((128, 64), "f16", "none", "128x256b").steps[0].word == 0x0000400800800000


def test_the_words_are_those_of_the_operand_itself() -> None:
    for swizzle in ("none", "32B", "64B", "128B"):
        words = derive((128, 64), "bf16", "K", swizzle, (128, 16), verify=False).words()[0]
        assert tuple(step.word for step in tmem_copied((128, 64), "bf16", swizzle, "128x256b").steps) == words


def test_the_columns_are_those_of_the_operand() -> None:
    copied, operand = tmem_copied((128, 64), "bf16", "128B", "128x256b"), operand_a(128, 64, "bf16")
    assert [step.column for step in copied.steps] == [0, 8, 16, 24]
    assert (copied.cells.cells()[:, :, 0] == operand.cells()).all()
    assert copied.cells.columns == operand.columns


def test_four_rows_are_the_first_of_eight_and_go_to_a_lane_of_each_quarter() -> None:
    copied = tmem_copied((4, 64), "bf16", "128B", "4x256b")
    assert [(step.word & 0x3FFF, step.column) for step in copied.steps] == [(0, 0), (2, 8), (4, 16), (6, 24)]
    for row, k in np.ndindex(4, 64):
        assert copied.memory(row, k) * 2 == (128 * row + 2 * k) ^ (row << 4)
        assert copied.cells.cell(row, k, 0) == (32 * row, k // 2, 16 * (k % 2))
    assert copied.evidence == BELIEVED and copied.derivation.tile == (8, 64)
    assert str(copied.verify()) == "proved: 256 elements, 4096 bits of tensor memory, written by 4 copies"


def test_four_rows_copied_from_the_next_four_are_disproved() -> None:
    copied = tmem_copied((4, 64), "bf16", "128B", "4x256b")
    late_steps = tuple(step._replace(word=step.word + 32) for step in copied.steps)  # 4 rows of 128 bytes
    assert replace(copied, steps=late_steps).verify().wrong > 0
    assert not replace(copied, steps=tuple(step._replace(lane=31) for step in copied.steps)).verify().ok


@each(
    ("arguments", "message"),
    [
        (((64, 64), "bf16", "128B", "128x256b"), "tile MN is 64, but tcgen05.cp.128x256b copies 128 rows"),
        (((128, 64, 2), "bf16", "128B", "128x256b"), r"tile is \(128, 64, 2\), which is not two extents"),
        ((128, "bf16", "128B", "128x256b"), "tile is 128, which is not two extents"),
        (((4,), "bf16", "128B", "4x256b"), r"tile is \(4,\), which is not two extents"),
        ((("4", 64), "bf16", "128B", "4x256b"), "MN of the tile"),
        (((4, 8), "bf16", "none", "4x256b"), "which is not a multiple of"),
        (((8, 16), "bf16", "none", "4x256b"), "tile MN is 8, but tcgen05.cp.4x256b copies 4 rows"),
        (((256, 64), "bf16", "128B", "128x256b"), "tile MN is 256, but tcgen05.cp.128x256b copies 128 rows"),
        (((128, 64), "bf16", "128B", "64x128b"), "multicast is absent, but must be"),
        (((128, 8), "bf16", "128B", "128x256b"), "which is not a multiple of"),
        (((128, 2048), "bf16", "none", "128x256b"), "bytes of shared memory|needs|must"),
    ],
)
def test_what_a_copy_cannot_read_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        tmem_copied(*arguments)
