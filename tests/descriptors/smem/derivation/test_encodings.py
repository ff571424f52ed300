"""Words of what other compilers write: where they say a word themselves, it is the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from each import each
from places import VECTORS

from descriptors import DescriptorError, candidates, derive, diff, match
from descriptors.cli.command import main
from layoutalg import LayoutError

MOSAIC = json.loads((VECTORS / "mosaic.json").read_text(encoding="utf-8"))["cases"]
TYPES = {"bf16": "bf16", "f32": "tf32", "f8E4M3FN": "e4m3"}
NVMMA = "#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = {turned}, elementBitWidth = {bits}}}>"


def written(case: dict[str, Any]) -> str:
    return f"{case['text']} {case['shape'][0]}x{case['shape'][1]}x{case['type']}"


@each("case", MOSAIC, ids=lambda one: f"{one['type']} {one['shape']} {one['swizzle']}")
def test_a_tile_of_mosaic_has_the_strides_that_mosaic_encodes(case):
    dtype, theirs = TYPES[case["type"]], case["operand"]
    ours = derive(layout=written(case), dtype=dtype, mma=(64, case["k"]), arch="sm90", legality="off", capacity=None)
    assert (str(ours.major), str(ours.swizzle)) == (theirs["major"], f"{case['swizzle']}B")
    assert ours.descriptor.stride_byte_offset == theirs["stride"]
    row = case["swizzle"] // (256 // 8)
    if row > 1:  # the next instruction reads on in the same rows
        assert ours.word(0, 1) - ours.word(0, 0) == theirs["next_k"] // 16


@each("case", [one for one in MOSAIC if "turned" in one], ids=lambda one: f"{one['shape']} {one['swizzle']}")
def test_a_tile_of_mosaic_with_k_down_has_the_strides_that_mosaic_encodes(case):
    theirs, text = case["turned"], f"select({written(case)}, [1, 0])"
    extent = min(case["swizzle"], case["shape"][1])  # two atoms wide, where there are two: LBO is the step between them
    ours = derive(layout=text, dtype="bf16", mma=(extent, 16), arch="sm90", legality="off", capacity=None)
    word = ours.descriptor
    assert (str(ours.major), word.stride_byte_offset) == ("MN", theirs["stride"])
    if extent == case["swizzle"]:
        assert word.leading_byte_offset == theirs["leading"]
    assert ours.word(0, 1) - ours.word(0, 0) == theirs["next_k"] // 16


@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize("turned", [False, True])
def test_a_tile_of_triton_has_the_word_of_the_same_tile_of_atoms(width: int, turned: bool) -> None:
    text = NVMMA.format(width=width, turned=str(turned).lower(), bits=16) + " 128x64xf16"
    major: Any = "MN" if turned else "K"
    order: Any = (1, 0) if turned else None
    tile = derive(tile=(128, 64), dtype="f16", major=major, swizzle=f"{width}B", mma=(64, 16), arch="sm90", order=order)  # type: ignore[call-overload]
    ours = derive(layout=text, dtype="f16", mma=(64, 16), arch="sm90")
    assert [ours.word(i, j) for i in range(2) for j in range(4)] == [
        tile.word(i, j) for i in range(2) for j in range(4)
    ]
    assert diff(tile.descriptor.encode(), text, "sm90", dtype="f16", major=major, shape=(64, 16)).ok
    assert any(one.usable and str(one.swizzle) == f"{width}B" for one in candidates(text, "f16", shape=(64, 16)))


def test_what_has_no_word_says_why() -> None:
    text = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}> 64x128xf16"
    with pytest.raises(LayoutError, match="swizzle is "):
        match(text, "f16", "K")
    tmem = "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1> 128x64xf32"
    with pytest.raises(DescriptorError, match="the layout is in tmem, not in shared memory"):
        match(tmem, "tf32", "K")
    registers = "#ttg.linear<{register = [[0, 1]], lane = [[1, 0]], warp = [], block = []}> 2x2xf16"
    with pytest.raises(DescriptorError, match="the layout is not in shared memory: linear of Triton"):
        match(registers, "f16", "K")


def test_the_type_of_a_print_need_not_be_typed(capsys: pytest.CaptureFixture[str]) -> None:
    text = NVMMA.format(width=128, turned="false", bits=16)
    assert main(["match", f"{text} 128x64xbf16"]) == 0
    assert "128B" in capsys.readouterr().out
    assert main(["candidates", f"#shared = {text} 64x16"]) == 2  # 64 columns are a row
    assert "the smallest tile with a swizzle of 128 bytes has 8 rows of 64 elements" in capsys.readouterr().err
    assert main(["derive", "--layout", f"#shared = {text} 128x64", "--mma", "64x16"]) == 0
    answer = capsys.readouterr().out
    assert "0x4000404000010000" in answer and "assuming dtype f16" in answer
    assert main(["match", "(64,16):(64,1)"]) == 2
    assert "--dtype is missing" in capsys.readouterr().err
