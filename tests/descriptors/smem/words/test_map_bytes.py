"""Tensor maps: the driver's verdict and its 128 bytes, as two GPUs recorded them; and how maps are written down."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator
from typing import Any

import pytest
from each import each
from places import ROOT

from descriptors import DescriptorError, Im2colWindow, TensorMap, TmaError, parse_tensor_map, tell, tensor_map
from descriptors.smem.tma.map_notation import arguments_text

HOPPER = ROOT / "tests" / "vectors" / "hopper"


def recorded(gpu: str, step: int = 1) -> Iterator[dict[str, Any]]:
    """The calls that a GPU's driver answered, every ``step``-th of them."""
    with lzma.open(HOPPER / gpu / "tensor_maps.jsonl.xz", "rt") as lines:
        facts = json.loads(next(lines))
        assert facts["driver"] == "580.159.04"
        yield from (json.loads(line) for number, line in enumerate(lines) if number % step == 0)


def of_call(call: dict[str, Any]) -> TensorMap:
    """The map that a call asks for."""
    box = call.get("box")
    if box is None:
        box = Im2colWindow(tuple(call["lower"]), tuple(call["upper"]), call["channels"], call["pixels"])
    return tensor_map(
        call["type"],
        call["address"],
        call["dim"],
        call["strides"],
        box,
        call["element_strides"],
        interleave=call["interleave"],
        swizzle=call["swizzle"],
        l2_promotion=call["l2"],
        oob_fill=call["oob"],
    )


def taken(call: dict[str, Any]) -> bool:
    """Whether the driver takes the arguments, as we say; a code that names nothing is refused at once."""
    try:
        return not of_call(call).refusals()
    except DescriptorError:
        return False


@pytest.mark.parametrize(("gpu", "step"), [("h100", 3), ("h200", 1)])
def test_the_verdict_and_the_bytes_are_the_drivers(gpu: str, step: int) -> None:
    verdicts, kinds = set(), set()
    for call in recorded(gpu, step):
        assert taken(call) == (call["result"] == 0), call
        if call["result"] == 0:
            data, one = bytes.fromhex(call["bytes"]), of_call(call)
            assert one.to_bytes() == data, call
            assert TensorMap.decode(int.from_bytes(data, "little")) == one, call
        verdicts.add(call["result"])
        kinds.add(call["kind"])
    assert (verdicts, kinds) == ({0, 1}, {"tiled", "im2col"})


def test_a_flipped_bit_is_another_map_or_none() -> None:
    """No bit is lost in reading: what reads comes back as it was."""
    calls = [call for call in recorded("h200", 300) if call["result"] == 0]
    draw = random.Random(0)
    read = 0
    for call in calls:
        number = int.from_bytes(bytes.fromhex(call["bytes"]), "little")
        for bit in draw.sample(range(1024), 60):
            try:
                other = TensorMap.decode(number ^ 1 << bit)
            except DescriptorError:
                continue
            read += 1
            assert other.encode() == number ^ 1 << bit
            assert other != TensorMap.decode(number)
    assert read > 100


def test_a_map_is_read_as_it_is_written_down() -> None:
    for call in recorded("h200", 40):
        if call["result"]:
            continue
        one, data = of_call(call), bytes.fromhex(call["bytes"])
        words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, 128, 8)]
        gdb = "\n".join(f"0x7ffe{i:03x} <map+{i}>:\t{words[i]:#018x}\t{words[i + 1]:#018x}" for i in range(0, 16, 2))
        halves = [int.from_bytes(data[i : i + 4], "little") for i in range(0, 128, 4)]
        for text in (arguments_text(one), data.hex(), f"0x{data[::-1].hex()}", gdb, str(halves), str(words)):
            assert parse_tensor_map(text) == one, text
        array = "\n".join(f"    [{i}] = {word}" for i, word in enumerate(words))
        for text in (data.hex(" ", 4), " ".join(f"{word:016x}" for word in words), f"$1 = {{opaque = {words}}}",
                     f"(CUtensorMap) map = {{\n  opaque = {{\n{array}\n  }}\n}}"):  # fmt: skip
            assert parse_tensor_map(text) == one, text


def test_what_a_debugger_prints_of_equal_elements_and_what_is_told_here_are_read() -> None:
    one = tensor_map("u8", 4096, (64,), (), (32,), swizzle="32B")
    data = one.to_bytes()
    words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, 128, 8)]
    assert words[10:] == [0] * 6
    assert parse_tensor_map(f"{{opaque = {{{', '.join(map(str, words[:10]))}, 0 <repeats 6 times>}}}}") == one
    told = tell(one).splitlines()
    assert parse_tensor_map("\n".join(told[told.index("The 128 bytes, in the order of memory") + 1 :])) == one


def test_arguments_are_read_as_c_has_them() -> None:
    written = "type = bf16, extents = {512, 64}, strides = {1024}, box = { 64, 8 };  swizzle=128B"
    assert parse_tensor_map(written) == tensor_map("bf16", 0, (512, 64), (1024,), (64, 8), swizzle="128B")


def test_the_drivers_own_names_are_read() -> None:
    assert parse_tensor_map(
        "tensorDataType=CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 globalAddress=0x100 globalDim={512,64} globalStrides={1024} "
        "boxDim={64,8} elementStrides={1,1} interleave=CU_TENSOR_MAP_INTERLEAVE_NONE "
        "swizzle=CU_TENSOR_MAP_SWIZZLE_128B l2Promotion=CU_TENSOR_MAP_L2_PROMOTION_L2_256B "
        "oobFill=CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA"
    ) == tensor_map("bf16", 256, (512, 64), (1024,), (64, 8), swizzle="128B", l2_promotion="256B", oob_fill="NAN")


GOOD = "type=bf16 extents=512x64 strides=1024 box=64x8"


@each(
    ("text", "message"),
    [
        ("", "is not a map; a map is written as NAME=VALUE arguments, or as its bytes"),
        ("0x12", "'0x12' is not a map; a map is written as NAME=VALUE arguments"),
        ("00" * 128, "no map was written there"),
        ("ff" * 128, r"rank of the im2col map is 8, which is not in \[3, 5\]"),
        ("type=bf16", "extents is missing"),
        (f"{GOOD} box=64x8", "box is given twice"),
        (f"{GOOD} pixels=3", "lower is missing"),
        (f"{GOOD} swizle=128B", "an argument NAME=VALUE is "),
        (f"{GOOD} swizzle=256B", "swizzle is "),
        (f"{GOOD} swizzle=7", "swizzle is "),
        (f"{GOOD} element_strides=1", "element_strides has 1 number, but a map of 2 dimensions has 2"),
        ("type=bf16 extents=512x64 strides=1024 box=64xeight", "box is '64xeight', which is not a list of numbers"),
        ("type=bf16 extents=512x64 strides=-16 box=64x8", "strides"),
        (f"{GOOD} address=1x2", r"address is \(1, 2\), which is not one number"),
        ("opaque = {0 <repeats 16 times>}", "no map was written there"),
        ("opaque = {1, 2}", "is not a map; a map is written as NAME=VALUE arguments"),
        ("1" * 20_000, "is not a text of at most"),
    ],
)
def test_bad_input_says_what_must_hold(text: str, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        parse_tensor_map(text)


def test_what_the_driver_refuses_is_not_encoded() -> None:
    one = parse_tensor_map(f"{GOOD} swizzle=64B")
    with pytest.raises(TmaError, match=r"boxDim\[0\] is 128 bytes, wider than the 64 bytes of the swizzle"):
        one.encode()
