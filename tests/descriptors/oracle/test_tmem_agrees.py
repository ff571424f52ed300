"""Tensor memory as the installed CuTe DSL has it: every accumulator, every load and store, scale factors."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from dsl_tmem import accumulators, moves, scale_layouts
from tmem_maps import in_order

from descriptors import oracle
from descriptors.tmem.accumulator import accumulator
from descriptors.tmem.moves import MOST, tmem_move
from descriptors.tmem.scale_cells import scale_cells
from descriptors.tmem.scale_factors import scale_memory
from layoutalg import cosize, offsets, parse_layout

pytestmark = pytest.mark.skipif(not oracle.available(), reason="nvidia-cutlass-dsl is not installed")

D = [
    *((m, n, pair, "f32") for m, n, pair in ((64, 8, 1), (64, 256, 1), (128, 16, 1), (128, 256, 1))),
    *((m, n, pair, "f32") for m, n, pair in ((128, 32, 2), (128, 256, 2), (256, 32, 2), (256, 256, 2))),
    *((m, 64, pair, "f16") for m, pair in ((64, 1), (128, 1), (128, 2))),
    (128, 32, 1, "s32"),
]


def test_the_fragments_of_accumulators_are_those_of_the_dsl() -> None:
    for (m, n, pair, dtype), reply in zip(D, accumulators(D), strict=True):
        assert reply.status == "ok", reply.value
        text, columns = reply.value
        d_fragment = accumulator(m, n, dtype, cta_group=pair, kind="i8" if dtype == "s32" else "f16")
        assert (str(d_fragment.layout), d_fragment.columns) == (str(parse_layout(text)[0]), columns)


def test_every_load_and_store_is_that_of_the_dsl() -> None:
    requests = [
        (direction, shape, 1 << shift, packed)
        for direction in ("ld", "st")
        for shape, most in MOST.items()
        for shift in range(most.bit_length())
        for packed in (False, True)
    ]
    refused = []
    for (direction, shape, num, packed), reply in zip(requests, moves(requests), strict=True):
        if reply.status != "ok":
            refused.append((direction, shape, num, packed))
            continue
        qualifier = {"ld": ".pack::16b", "st": ".unpack::16b"}[direction] if packed else ""
        move = tmem_move(f"{shape}.x{num}{qualifier}", direction)
        cells = move.cells.cells()[:, :, 0].astype(np.int64)  # the first bit of each register
        columns = 32 * move.registers // move.lanes
        number = cells[..., 0] * columns + cells[..., 1] // (1 + packed)
        theirs = parse_layout(reply.value)
        assert (offsets(theirs).reshape(number.shape, order="F") == number).all(), (shape, num, packed)
    assert refused == []


SCALES = [
    (128, 8, 64, 16, 1),
    (128, 128, 256, 16, 1),
    (128, 256, 256, 32, 1),
    (256, 256, 256, 16, 2),
    (128, 256, 64, 16, 2),
]


def test_scale_factors_are_those_of_the_dsl() -> None:
    for (m, n, k, vector, pair), reply in zip(SCALES, scale_layouts(SCALES), strict=True):
        assert reply.status == "ok", reply.value
        halves = (pair, m) == (2, 128)
        for name, rows, apart in (("sfa", m // pair, False), ("sfb", -(-n // 128) * 128, halves)):
            if halves and name == "sfa":
                continue  # the DSL's layout is no oracle there: see below
            assert _bytes(reply.value[f"{name} memory"]) == _ours(offsets(scale_memory(rows, k, vector)))
            cells = scale_cells(rows, k, vector, halves=apart).cells()
            assert _bits(reply.value[f"{name} cells"]) == in_order(np.moveaxis(cells, 2, 1)).tolist()


def test_the_dsl_has_no_layout_of_sfa_for_a_pair_with_m_128() -> None:
    """Two M tiles of 64 rows, 8 bytes apart: they overlap, and their end is no end of a block."""
    (reply,) = scale_layouts([(128, 256, 64, 16, 2)])
    layout = parse_layout(reply.value["sfa memory"])
    assert re.search(r":\(.*,8,0\)$", reply.value["sfa memory"])
    factors = 2 * 128 * 4  # of both tiles, as it counts rows
    assert cosize(layout) == 520 == len(set(offsets(layout).ravel().tolist())) < factors


def _bytes(text: str) -> list[int]:
    """The DSL's ((rows, k), M tiles, K tiles) as ours: rows, then k, the first fastest."""
    return _ours(offsets(parse_layout(text)))


def _ours(layout: Any) -> list[int]:
    numbers: list[int] = layout.ravel(order="F").tolist()
    return numbers


def _bits(text: str) -> list[list[int]]:
    """Places of ((rows, copies), (vector, factors)), M tiles, K tiles: bytes of tensor memory."""
    places = 8 * offsets(parse_layout(text)).ravel(order="F").astype(np.int64)
    bits: list[list[int]] = np.stack([places >> 21, places >> 5 & 0xFFFF, places & 31], axis=-1).tolist()
    return bits
