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

TYPES = ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "e2m1")


def sparse(rng: np.random.Generator, m: int, k: int, dtype: str) -> NDArray[Any]:
    """Numbers of which at most half of every group along K are not zero; of 4 bits in pairs."""
    group = 2 if dtype == "tf32" else 4
    kept = rng.random((m, k // group, group)).argsort(axis=2) < group // 2
    if dtype == "e2m1":
        kept = kept.reshape(m, k)[:, : k // 2].repeat(2, axis=1)
        return rng.integers(-3, 4, kept.shape) * kept
    return (rng.integers(-3, 4, kept.shape) * kept).reshape(m, k)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("seed", seeds_of(2))
def test_what_an_instruction_reads_puts_every_stored_element_back(dtype: str, seed: int) -> None:
    """By the models, which share no code with the packer, on both architectures."""
    dense = sparse(np.random.default_rng(seed), 128, 512, dtype)
    values, positions = compress(dense, dtype)
    assert values.shape == positions.shape == (128, 256)
    assert (expand(values, positions, dtype) == dense).all()
    for arch in ("sm90", "sm100") if dtype != "e2m1" else ("sm100",):
        one, words = arrangement(dtype, arch), pack_metadata(positions, dtype, arch)
        assert (unpack_metadata(words, dtype, arch) == positions).all()
        assert words.size * 32 == 128 * 512 * {"tf32": 2, "e2m1": 0.5}.get(dtype, 1)
        read = np.zeros_like(dense)
        for first in range(0, 128, one.rows):
            for k in range(0, 512, one.depth):
                pack, inside = divmod(k // one.depth, one.blocks)
                held = words[first // one.rows, pack]
                if arch == "sm90":
                    selected = wgmma_selected(held, one.bits, inside)
                else:
                    # Even columns are given, and of 16 and 32 bits the selector says which of two is read.
                    wide = one.bits <= 8
                    at = (2 * inside, 0) if wide else (inside // 2 * 2, inside % 2)
                    selected = tcgen05_selected(held, at[0], one.bits, at[1])
                stored = values[first : first + one.rows, k // 2 : k // 2 + one.depth // 2]
                np.put_along_axis(read[first : first + one.rows, k : k + one.depth], selected, stored, 1)
        assert (read == dense).all()


def test_an_odd_column_is_given_to_no_instruction() -> None:
    """CUTLASS makes the lowest bit of the column the selector of 16 and 32 bits, and gives the even column."""
    cells = np.arange(128 * 4, dtype=np.uint32).reshape(128, 4) << 16 | 0xEEEE
    assert (tcgen05_selected(cells, 1, 16) == -1).all() and (tcgen05_selected(cells, 0, 8, 1) == -1).all()
    assert (tcgen05_selected(cells, 2, 16) >= 0).all()


@pytest.mark.parametrize("dtype", ["f16", "tf32", "s8", "e2m1"])
def test_packed_metadata_of_sm100_are_the_cells_of_tensor_memory(dtype: str) -> None:
    """Against the layout of CUTLASS's fragments: 16 bytes a lane, four columns."""
    one = arrangement(dtype, "sm100")
    cells = sparse_metadata(128, 2 * one.covered, dtype)
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
        (
            lambda: compress([[1, 2, 3, 0]], "f16"),
            "in row 0, 3 of the 4 elements from column 0 on are not zero, more than 2",
        ),
        (lambda: compress([[1, 2]], "tf32"), "2 of the 2 elements from column 0 on are not zero, more than 1"),
        (lambda: compress([[1, 0]], "f16"), "K is 2, which is not a multiple of 4"),
        (lambda: compress([["a"]], "f16"), "the values have shape \\(1, 1\\) of <U1, not M x K numbers"),
        (
            lambda: compress([[0, 1, 2, 0, 0, 0, 0, 3]], "e2m1"),
            "3 of the 4 pairs of elements from column 0 on are not zero, more than 2",
        ),
        (
            lambda: pack_metadata([[0, 1]], "e2m1"),
            "e2m1 elements of A are not supported; supported: elements of 8, 16 or 32 bits on sm90",
        ),
        (lambda: pack_metadata([[0, 2, 4, 5]], "e2m1", "sm100"), "are not those of pairs"),
        (
            lambda: pack_metadata([[4, 5, 0, 1]], "e2m1", "sm100"),
            "positions \\[4, 5, 0, 1\\] of a group in row 0 do not increase",
        ),
        (
            lambda: pack_metadata(np.zeros((64, 32), int), "f16"),
            "positions \\[0, 0\\] of a group in row 0 do not increase",
        ),
        (lambda: pack_metadata([[0, 4]], "f16"), "not whole groups of 2 integers from 0 to 3"),
        (
            lambda: pack_metadata(np.tile([0, 1], (65, 16)), "f16"),
            "M is 65, which is not a multiple of the 64 .* zeros to 128",
        ),
        (
            lambda: pack_metadata(np.tile([0, 1], (64, 8)), "f16"),
            "K is 32, which is not a multiple of the 64 .* zeros to 64",
        ),
        (
            lambda: unpack_metadata(np.zeros((1, 1, 128), np.uint32), "f16"),
            "0, in row 0 from column 0 on, is not a code; the codes are 4, 8, 9, c, d, e",
        ),
        (
            lambda: unpack_metadata(np.full((1, 1, 128), 0x8), "tf32"),
            "8, in row 0 .* is not a code; the codes are 4, e",
        ),
        (lambda: unpack_metadata(np.zeros((1, 128), np.uint32), "f16"), "blocks of M x blocks of K x 128"),
        (lambda: expand([[1, 2]], [[0, 1, 2, 3]], "f16"), "positions have shape \\(1, 4\\) and the values \\(1, 2\\)"),
    ],
)
def test_what_is_no_sparse_matrix_is_refused_with_a_reason(call: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        call()
