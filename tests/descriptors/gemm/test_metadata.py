"""Metadata of a sparse A: compressed and packed as the instructions read them, on sm90 and sm100."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from seeds import seeds_of

from descriptors import (
    DescriptorError,
    compress,
    expand,
    metadata_layout,
    pack_metadata,
    sparse_metadata,
    unpack_metadata,
)
from descriptors.gemm.metadata import arrangement
from descriptors.gemm.sparse_model import tcgen05_selected, wgmma_selected

TYPES = ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8")


def sparse(rng: np.random.Generator, m: int, k: int, dtype: str) -> NDArray[Any]:
    """Numbers of which at most half of every group along K are not zero."""
    group = 2 if dtype == "tf32" else 4
    kept = rng.random((m, k // group, group)).argsort(axis=2) < group // 2
    return (rng.integers(-3, 4, kept.shape) * kept).reshape(m, k)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("seed", seeds_of(2))
def test_what_an_instruction_reads_puts_every_stored_element_back(dtype: str, seed: int) -> None:
    """By the models, which share no code with the packer, on both architectures."""
    dense = sparse(np.random.default_rng(seed), 128, 256, dtype)
    values, positions = compress(dense, dtype)
    assert values.shape == positions.shape == (128, 128)
    assert (expand(values, positions, dtype) == dense).all()
    for arch in ("sm90", "sm100"):
        one, words = arrangement(dtype, arch), pack_metadata(positions, dtype, arch)
        assert (unpack_metadata(words, dtype, arch) == positions).all()
        assert words.size * 32 == 128 * 256 * (2 if dtype == "tf32" else 1)
        read = np.zeros_like(dense)
        for first in range(0, 128, one.rows):
            for k in range(0, 256, one.depth):
                pack, inside = divmod(k // one.depth, one.blocks)
                held = words[first // one.rows, pack]
                if arch == "sm90":
                    selected = wgmma_selected(held, one.bits, inside)
                else:
                    selected = tcgen05_selected(held[:, 4 // one.blocks * inside :], one.bits)
                stored = values[first : first + one.rows, k // 2 : k // 2 + one.depth // 2]
                np.put_along_axis(read[first : first + one.rows, k : k + one.depth], selected, stored, 1)
        assert (read == dense).all()


@pytest.mark.parametrize("dtype", ["f16", "tf32", "s8"])
def test_packed_metadata_of_sm100_are_the_cells_of_tensor_memory(dtype: str) -> None:
    """Against the layout of CUTLASS's fragments: 16 bytes a lane, four columns."""
    one = arrangement(dtype, "sm100")
    cells = sparse_metadata(128, 2 * one.covered, "f16" if dtype == "f16" else dtype)
    layout = metadata_layout(128, 2 * one.covered, dtype, "sm100")
    for m, k in np.ndindex(128, 2 * one.covered):
        index = (m, k % one.depth, k // one.depth)
        lane, column, bit = cells.cell(*index)
        assert layout(m, k) == (128 * 128 * (column // 4)) + 128 * lane + 32 * (column % 4) + bit


def test_a_group_with_fewer_has_zeros_stored_beside_them() -> None:
    values, positions = compress([[0, 0, 0, 9], [0, 0, 0, 0]], "bf16")
    assert values.tolist() == [[0, 9], [0, 0]]
    assert positions.tolist() == [[0, 3], [0, 1]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compress([[1, 2, 3, 0]], "f16"), "at most 2 must not be zero, found 3 in row 0 from column 0"),
        (lambda: compress([[1, 2]], "tf32"), "of 2 elements along K at most 1 must not be zero"),
        (lambda: compress([[1, 0]], "f16"), "K must be a multiple of 4, found 2"),
        (lambda: compress([["a"]], "f16"), "must be M x K numbers"),
        (lambda: compress([[0.0] * 4], "e2m1"), "must have 8, 16 or 32 bits in sm90, found e2m1"),
        (lambda: pack_metadata(np.zeros((64, 32), int), "f16"), "must grow, found \\[0, 0\\] in row 0"),
        (lambda: pack_metadata([[0, 4]], "f16"), "whole numbers from 0 to 3"),
        (lambda: pack_metadata(np.tile([0, 1], (65, 16)), "f16"), "M must be a multiple of 64.*give 128, with zeros"),
        (lambda: pack_metadata(np.tile([0, 1], (64, 8)), "f16"), "K must be a multiple of 64.*found 32: give 64"),
        (lambda: unpack_metadata(np.zeros((1, 1, 128), np.uint32), "f16"), "one of 4, 8, 9, c, d, e, found 0 in row 0"),
        (lambda: unpack_metadata(np.full((1, 1, 128), 0x8), "tf32"), "one of 4, e, found 8"),
        (lambda: unpack_metadata(np.zeros((1, 128), np.uint32), "f16"), "blocks of M x blocks of K x 128"),
        (lambda: expand([[1, 2]], [[0, 1, 2, 3]], "f16"), "a position for each value"),
    ],
)
def test_what_is_no_sparse_matrix_is_refused_with_a_reason(call: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        call()
