"""Packed exponents arrive where the instructions take them, once they are transposed; and not before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from descriptors import (
    DescriptorError,
    exponent_places,
    exponents_layout,
    pack_exponents,
    pack_scales,
    transpose_exponents,
    unpack_exponents,
)
from descriptors.tmem.landing_model import landing


def landed(blocks: NDArray[Any]) -> NDArray[Any]:
    """Tensor memory, (lane, column, byte), after a copy of each block of 32 rows of 16 bytes to four columns."""
    cells = np.zeros((128, 4 * len(blocks), 4), np.uint8)
    for number, block in enumerate(blocks):
        words = block.astype("<u4").reshape(32, 4)
        for row, word, (lane, column) in landing("32x128b.warpx4", lane=0, column=4 * number):
            cells[lane, column] = words[row, word : word + 1].view(np.uint8)
    return cells


@pytest.mark.parametrize("vector", [32, 128])
def test_each_k_step_takes_the_factor_of_its_row_and_k(vector: int) -> None:
    k = 8 * vector
    codes = np.random.default_rng(3).integers(0, 255, (128, k // vector))
    words = pack_exponents(codes)
    cells = landed(transpose_exponents(words)[:, 0])
    rows = np.arange(128)
    for step, place in enumerate(exponent_places(k, vector)):
        taken = cells[rows % 32, place.column + rows // 32, place.byte]
        assert (taken == codes[:, 32 * step // vector]).all()
    without = landed(words.reshape(-1, 32, 4))
    assert any(
        (without[rows % 32, at.column + rows // 32, at.byte] != codes[:, 32 * i // vector]).any()
        for i, at in enumerate(exponent_places(k, vector))
    )


@pytest.mark.parametrize(("m", "count"), [(1, 1), (5, 3), (128, 4), (130, 9)])
def test_packed_exponents_lie_as_the_layout_says(m: int, count: int) -> None:
    codes = np.random.default_rng(m).integers(0, 255, (m, count))
    words = pack_exponents(codes)
    memory, layout = words.astype("<u4").reshape(-1).view(np.uint8), exponents_layout(m, 128 * count)
    assert all(memory[layout(row, 128 * q + 127)] == codes[row, q] for row in range(m) for q in range(count))
    assert (unpack_exponents(words, m, count) == codes).all()
    assert words.shape[1] * 4 % 16 == 0


def test_the_transposed_words_are_the_blocks_that_the_host_packs() -> None:
    codes = np.random.default_rng(1).integers(0, 255, (300, 12))
    blocks = transpose_exponents(pack_exponents(codes))
    assert (blocks.swapaxes(0, 1).astype("<u4").reshape(-1).view(np.uint8) == pack_scales(codes, 32)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pack_exponents([[256]]), "codes is not a matrix of integers from 0 to 255"),
        (lambda: pack_exponents([[1], [2, 3]]), "codes is not a matrix of integers from 0 to 255"),
        (lambda: unpack_exponents(np.zeros((1, 8), int), 3, 4), r"has shape \(1, 8\); .* have shape \(1, 4\)"),
        (lambda: transpose_exponents(np.zeros((1, 3), int)), "second extent is a multiple of 4; shape"),
        (lambda: exponent_places(2**62), "K is 4611686018427387904, but the maximum is 65536"),
        (lambda: exponent_places(2**62, 2**62), "K is "),
        (lambda: exponent_places(48), r"K is 48, which is not a multiple of the K of a step \(32\)"),
        (lambda: exponent_places(64, 16), r"the vector is 16, which is not a multiple of the K of a step \(32\)"),
        (lambda: exponents_layout(0, 128), "M is "),
    ],
)
def test_what_are_no_exponents_is_refused(call: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        call()
