"""Padded tiles: core matrices that lie apart are derived, copied and counted; padded rows are refused, and why."""

from __future__ import annotations

from typing import Any

import pytest

from descriptors import NotCanonicalError, TmaError, candidates, derive, tma_plan, verify
from layoutalg import Layout, accesses, tile_to_shape

# Core matrices of 8 rows of 16 bytes, 16 more bytes after each: the steps between them are LBO and SBO.
APART = {
    "K": ("((8,8),(8,8)):((8,72),(1,576))", (0x480, 0x90)),
    "MN": ("((8,8),(8,8)):((1,72),(8,576))", (0x480, 0x90)),
}


@pytest.mark.parametrize("arch", ["sm90", "sm100"])
@pytest.mark.parametrize("major", ["K", "MN"])
def test_core_matrices_that_lie_apart_are_derived_and_proved(major: str, arch: Any) -> None:
    text, offsets = APART[major]
    d = derive(layout=text, dtype="bf16", mma=(64, 16), arch=arch)
    assert (str(d.major), str(d.swizzle)) == (major, "none")
    assert (d.descriptor.leading_byte_offset, d.descriptor.stride_byte_offset) == offsets
    assert verify(d, bases=(0, 0x30)).ok
    assert [str(one.major) for one in candidates(text, "bf16", shape=(64, 16), arch=arch) if one.usable] == [major]


def test_swizzled_groups_that_lie_apart_keep_their_mode() -> None:
    d = derive(layout="S<3,3,3> o 0 o ((8,8),64):((64,1024),1)", dtype="bf16", mma=(64, 16))
    assert d.descriptor.stride_byte_offset == 2048
    plan = tma_plan(d)
    assert (plan.box, len(plan.boxes), plan.verify()) == ((64, 8), 8, 4096)


@pytest.mark.parametrize(
    "tile",
    [tile_to_shape(Layout((8, 64), (72, 1)), (64, 128)), Layout((64, 64), (72, 1)), Layout((64, 64), (1, 72))],
    ids=str,
)
def test_padded_rows_are_refused_in_bytes(tile: Any) -> None:
    reason = r"s 144 bytes apart, only 16, 32, 64 or 128"
    with pytest.raises(NotCanonicalError, match=reason):
        derive(layout=tile, dtype="bf16", mma=(64, 16))


def test_a_copy_fills_padded_core_matrices_where_each_starts_at_128_bytes() -> None:
    aligned = derive(layout="((8,8),(8,8)):((8,128),(1,1024))", dtype="bf16", mma=(64, 16))
    plan = tma_plan(aligned)
    assert (plan.box, len(plan.boxes), plan.verify()) == ((8, 8), 64, 4096)
    for text, _ in APART.values():
        with pytest.raises(TmaError, match="starts at byte 144 of shared memory, which is not a multiple of 128"):
            tma_plan(derive(layout=text, dtype="bf16", mma=(64, 16)))


def test_what_padding_is_for_is_counted() -> None:
    # A row a lane, 16 bytes each: rows 128 bytes apart meet in the same banks, 144 bytes apart they do not.
    by_row = Layout((32, 8), (1, 32))
    for pitch, cost in ((64, 32), (72, 4)):
        assert sum(one.wavefronts for one in accesses(Layout((32, 64), (pitch, 1)), by_row, 2, 16, store=True)) == cost
    # A core matrix a lane: 128 bytes apart, and with 16 bytes of padding.
    by_matrix = Layout((8, 8), (8, 64))
    for step, cost in ((64, 8), (72, 1)):
        matrices = Layout(((8, 8), 8), ((8, step), 1))
        assert sum(one.wavefronts for one in accesses(matrices, by_matrix, 2, 16, store=True)) == cost
