"""Copies by interleaved tensor maps: as they are put to a GPU, what an H200 did, and what the library says of them."""

from __future__ import annotations

import doctest
import json
from typing import Any

import numpy as np
import pytest
from places import ROOT

from descriptors import DescriptorError, chain
from descriptors.gemm.memory_links import TensorCopy
from descriptors.gemm.places import Tile
from descriptors.smem.operands.operand import as_element_type
from descriptors.smem.tma.map_check import box_check, box_layout
from descriptors.smem.tma.map_notation import arguments_text, parse_tensor_map
from descriptors.smem.tma.map_text import remarks, tell_tensor_map
from descriptors.smem.words.tensor_map import Im2colWindow
from probes import interleave
from probes.interleave import FIRST, POISON, ROOM, WORDS, controls, drawn, expected, taken

RECORD: dict[str, Any] = json.loads((ROOT / "tests/vectors/hopper/h200/interleave.json").read_text(encoding="utf-8"))
CASES = drawn(len(RECORD["cases"]), RECORD["seed"])
TYPES = {"FLOAT32": "tf32", "INT32": "tf32", "BFLOAT16": "bf16", "FLOAT16": "f16", "UINT8": "u8"}


def test_the_examples_run() -> None:
    assert doctest.testmod(interleave).failed == 0


def test_every_copy_on_record_is_as_it_is_defined_here() -> None:
    rows = RECORD["cases"]
    said = [(arguments_text(one), list(place), base) for one, place, base in CASES]
    assert [(row["map"], row["place"], row["base"]) for row in rows] == said
    assert all(parse_tensor_map(row["map"]) == one for row, (one, _, _) in zip(rows, CASES, strict=True))
    assert not any(row["differing"] or row["late"] or row["controls_that_passed"] for row in rows)
    assert sum(row["controls"] for row in rows) == 278


def test_what_is_drawn_has_everything() -> None:
    maps = [one for one, _, _ in CASES]
    assert {(one.interleave, one.swizzle) for one in maps} == {(i, s) for i in (1, 2) for s in range(4)}
    assert {one.rank for one in maps} == {3, 4, 5} and not any(one.refusals() for one in maps)
    assert sum(isinstance(one.box, Im2colWindow) for one in maps) == len(maps) // 4
    assert any(isinstance(one.box, tuple) and one.box[-2] > 1 for one in maps)
    differ = [(other != expected(case)).any() for case in CASES[:40] for other in controls(case)]
    assert sum(differ) >= 40


def test_the_library_says_where_every_byte_lands_and_how_many_count() -> None:
    memory = np.arange(1, WORDS + 1, dtype=np.uint32).view(np.uint8)
    for case in CASES:
        one, place, base = case
        element = as_element_type(TYPES[one.data_type.name])
        count = one.transaction_bytes * 8 // element.storage_bits
        assert one.transaction_bytes == len(taken(one, place)[0]) * one.slice_bytes
        there, inside, shared = TensorCopy(one, ((place, base),))._places(Tile(count, 1, element))
        found = np.full(ROOM, POISON, np.uint8)
        for byte in range(element.storage_bits // 8):
            source = np.where(inside, there // 8 + byte, 0)
            found[shared // 8 - FIRST + byte] = np.where(inside, memory[source], 0)
        assert (found == expected(case)).all(), arguments_text(one)


def test_a_slice_of_eight_channels_is_the_core_matrices_of_an_operand_without_swizzle() -> None:
    """NC/8HWC8: 64 pixels of a row of 8 channels each, 16 bytes a pixel, eight of them a core matrix."""
    one = parse_tensor_map("type=bf16 extents=64x4x2 strides=1024x4096 box=64x1x1 interleave=16B")
    assert str(box_layout(one, None, "K")) == "((64,1,1),8):((8,512,512),1)"
    assert box_check(one, "(64,8):(8,1)", major="K").ok and not box_check(one, "(64,8):(16,1)", major="K").ok
    tensor = "(64,8):(8,1)"
    links = [f"tensor {tensor}", f"tma {arguments_text(one)} boxes=0,0,0@0", "layout (64,8):(8,1)"]
    assert chain(links, tile="64x8", dtype="bf16").verify().ok
    spoilt = [links[0], links[1].replace("0,0,0@0", "0,1,0@0"), links[2]]
    assert not chain(spoilt, tile="64x8", dtype="bf16").verify().ok


def test_the_text_of_a_map_says_what_of_its_box_lands() -> None:
    one = parse_tensor_map(
        "type=bf16 extents=64x8x512 strides=1024x8192 box=8x3x16 element_strides=1x2x1 interleave=16B"
    )
    said = tell_tensor_map(one)
    assert "8x1x16 slices of 16 bytes, one behind the other; a copy counts 2048 bytes" in said
    assert list(remarks(one)) == ["a box has one slice along dimension 1, that of its coordinate there"]
    with pytest.raises(DescriptorError, match=r"boxes=0,0,0@0;0,0,0@0x4000$"):
        chain(["tensor (256,8):(8,1)", f"tma {arguments_text(one)}"], tile="256x8", dtype="bf16").verify()
    with pytest.raises(DescriptorError, match=r"the box of 8x8x1x16 .* is larger than the tile of 64x8"):
        chain(["tensor (64,8):(8,1)", f"tma {arguments_text(one)}"], tile="64x8", dtype="bf16").verify()
