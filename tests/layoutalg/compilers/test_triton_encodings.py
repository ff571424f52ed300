"""Triton's encodings: the layouts that its own linear layouts are, in every way that the text may come."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from each import each
from places import VECTORS

from layoutalg import LayoutError, NotationError, evaluate, parse_encoding, parse_layout, parse_pointer

CASES = json.loads((VECTORS / "triton.json").read_text(encoding="utf-8"))["encodings"]
NVMMA = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>"
BLOCKED = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"


def coordinates(bases: dict[str, Any], rank: int, **inputs: int) -> tuple[int, ...]:
    """Where Triton's bases lead: the exclusive-or of those whose bit is set."""
    at = [0] * rank
    for name, value in inputs.items():
        for bit, row in enumerate(bases[name]):
            if value >> bit & 1:
                at = [one ^ other for one, other in zip(at, row, strict=True)]
    return tuple(at)


def spread(count: int) -> list[int]:
    """A few numbers below a power of two: its bits, all of them, and what lies between."""
    return sorted({0, count - 1, count // 3, 5 * count // 7, *(1 << bit for bit in range(count.bit_length() - 1))})


def written(case: dict[str, Any]) -> list[str]:
    """The type of the dump, and the class with the extents behind it."""
    extents = "x".join(map(str, case["shape"])) + {8: "xi8", 16: "xf16", 32: "xf32"}[case["bits"]]
    return [case["text"], f"{case['gluon']} {extents}"]


@each("case", [one for one in CASES if "register" in one["bases"]], ids=lambda one: one["text"][:90])
def test_threads_hold_what_triton_says(case):
    bases, shape = case["bases"], case["shape"]
    for text in written(case):
        layout = evaluate(text)
        for lane, warp, value in product(
            spread(32), spread(1 << len(bases["warp"])), spread(1 << len(bases["register"]))
        ):
            at = coordinates(bases, len(shape), lane=lane, warp=warp, register=value)
            index = (
                sum(one * step for one, step in zip(at, [1, *shape, 0][: len(shape)], strict=True))
                if len(shape) < 3
                else at[0] + shape[0] * (at[1] + shape[1] * at[2])
            )
            assert layout(lane + 32 * warp, value) == index


@each("case", [one for one in CASES if "offset" in one["bases"]], ids=lambda one: one["text"][:120])
def test_elements_lie_in_shared_memory_where_triton_says(case):
    bases, rank = case["bases"], len(case["shape"])
    holes = [1 << bit for bit, row in enumerate(bases["offset"]) if not any(row)]
    for text in written(case):
        layout = parse_layout(text)
        for offset in spread(1 << len(bases["offset"])):
            at = coordinates(bases, rank, offset=offset)
            assert layout(at if rank > 1 else at[0]) == offset & ~sum(holes)


@each("case", [one for one in CASES if "row" in one["bases"]], ids=lambda one: one["text"][:120])
def test_elements_lie_in_tensor_memory_where_triton_says(case):
    bases = case["bases"]
    still = {name: sum(1 << bit for bit, row in enumerate(bases[name]) if not any(row)) for name in ("row", "col")}
    for text in written(case):
        layout = evaluate(text)
        for row, column in product(spread(128), spread(1 << len(bases["col"]))):
            lane, place = row & ~still["row"], column & ~still["col"]
            assert layout(coordinates(bases, 2, row=row, col=column)) == lane * 2**21 // case["bits"] + place


@each(
    ("text", "layout"),
    [
        (f"#shared = {NVMMA} 128x64", "S<3,3,3> o 0 o (128,64):(64,1)"),
        (f"{NVMMA} [128, 64]", "S<3,3,3> o 0 o (128,64):(64,1)"),
        (f"#a = {NVMMA}\n#smem = #ttg.shared_memory\n!ttg.memdesc<128x64xf16, #a, #smem, mutable>",
         "S<3,3,3> o 0 o (128,64):(64,1)"),
        (f"!ttg.memdesc<3x128x64xf16, {NVMMA}, #ttg.shared_memory, mutable>", "S<3,3,3> o 0 o (128,64,3):(64,1,8192)"),
        (f"!ttg.memdesc<128x64xf16, {NVMMA}, #ttg.shared_memory, mutable, 3x128x64>", "S<3,3,3> o 0 o (128,64):(64,1)"),
        (f"#b = {BLOCKED}\n%0 = tt.load %1 : tensor<64x64x!tt.ptr<f16>, #b>", "((8,16),(8,4)):((512,1),(64,16))"),
        (NVMMA.replace("}>", ", CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]}> 8x64"),
         "S<3,3,3> o 0 o (8,64):(64,1)"),
        ("ttgl.NVMMASharedLayout(128, 16) 128x64", "S<3,3,3> o 0 o (128,64):(64,1)"),
        ("gl.allocate_shared_memory(gl.float16, [128, 64], gl.SwizzledSharedLayout(8, 1, 8, order=[1, 0]))",
         "S<3,3,3> o 0 o (128,64):(64,1)"),
        (f"select({NVMMA} 128x64xf16, [1, 0])", "S<3,3,3> o 0 o (64,128):(1,64)"),
        ("#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, unpacked = true> 128x64xf16",
         "(128,64):(131072,2)"),
    ],
)  # fmt: skip
def test_a_text_is_read_in_the_form_in_which_people_have_it(text: str, layout: str) -> None:
    value = evaluate(text)
    assert str(value) == layout or value == evaluate(layout)


def test_a_print_says_how_wide_an_element_is_and_where_it_lies() -> None:
    pointer = parse_pointer(f"!ttg.memdesc<128x64xbf16, {NVMMA}, #smem>")
    assert pointer is not None
    assert (pointer.bits, pointer.space, pointer.type, str(pointer.swizzle)) == (16, "smem", "bf16", "S<3,4,3>")
    assert parse_pointer(f"{BLOCKED} 64x64xf16") is None


@each(
    ("pairs", "bases", "shape", "memory"),
    [
        # The two tables of Triton's description of the class, element by element; None is padding.
        ([[2, 2]], [[2], [1]], [4], [0, 2, None, None, 1, 3]),
        ([[8, 1]], [[0, 1], [0, 2], [2, 0], [4, 0], [1, 0]], [8, 4],
         [*((0, j) for j in range(4)), *((2, j) for j in range(4)), None, *((4, j) for j in range(4)),
          *((6, j) for j in range(4)), None, *((1, j) for j in range(4)), *((3, j) for j in range(4)), None,
          *((5, j) for j in range(4)), *((7, j) for j in range(4))]),
        ([[2, 1], [4, 2]], [[1], [2], [4]], [8], [0, 1, None, 2, 3, None, None, None, 4, 5, None, 6, 7]),
    ],
)  # fmt: skip
def test_padding_lies_where_triton_describes_it(pairs: Any, bases: Any, shape: list[int], memory: list[Any]) -> None:
    layout = evaluate(f"PaddedSharedLayout({pairs}, {bases}, [], {shape})")
    for offset, at in enumerate(memory):
        if at is not None:
            assert layout(at) == offset


@each(
    ("text", "said"),
    [
        (f"#shared = {NVMMA}", "the extents of the tensor are unknown"),
        (f"{NVMMA} 128x32",
         "the tensor is 128x32, and the smallest tile with a swizzle of 128 bytes has 8 rows of 64 elements"),
        (f"{NVMMA} 96x64", "the extents 96x64 are not all powers of two"),
        (f"!ttg.memdesc<128x64xf32, {NVMMA}, #smem>", "elementBitWidth is 16, and f32 has 32 bits"),
        (f"!ttg.memdesc<64x64xf16, {NVMMA}, #smem, mutable, 128x64>",
         "the type is the part 64x64 of an allocation of 128x64"),
        (NVMMA.replace("}>", ", CGALayout = [[1, 0]]}> 256x64"), "several thread blocks share the tensor (CGALayout"),
        (NVMMA.replace("}>", ", CTAsPerCGA = [2, 1], CTASplitNum = [2, 1]}> 256x64"), "share the tensor (CTASplitNum)"),
        (NVMMA.replace("transposed", "transpose") + " 64x64",
         "transpose is not a field; supported: swizzlingByteWidth, transposed"),
        (NVMMA.replace("128", "96") + " 64x64", "swizzlingByteWidth is 96; supported: 0, 32, 64, 128"),
        (NVMMA.replace("false", "true").replace("16}", "16, rank = 3}") + " 64x16x8",
         "transposed is true for 3 dimensions"),
        (NVMMA.replace(", elementBitWidth = 16", "") + " 64x64",
         "the field elementBitWidth is missing; fields: swizzlingByteWidth, transposed"),
        (BLOCKED.replace("[4, 8]", "[4]") + " 64x64", "threadsPerWarp is [4], which does not have 2 numbers"),
        (BLOCKED.replace("[4, 8]", "[4, 7]") + " 64x64", "threadsPerWarp is [4, 7], which are not all powers of two"),
        (BLOCKED.replace("[1, 0]", "[1, 1]") + " 64x64",
         "order is [1, 1], which does not contain each dimension from 0 on once"),
        (f"{BLOCKED} 64x64x64", "the tensor is 64x64x64, and the encoding has 2 dimensions"),
        ("tensor<64x64xf16, #blocked>", "give the line that defines #blocked too"),
        (f"#a = {BLOCKED}\n#b = {NVMMA}", "the text has the attributes #a, #b and no tensor"),
        (f"#a = {BLOCKED}\n tensor<64x64xf16, #a> tensor<64x32xf16, #a>",
         "the text has 2 tensors; tensor<64x64xf16, #a>; tensor<64x32xf16, #a>"),
        ("#ttg.amd_mfma<{version = 3}> 64x64", "ttg.amd_mfma is not a supported encoding; supported: blocked"),
        ("#ttg.nvidia_mma<{versionMajor = 1, warpsPerCTA = [4, 1], instrShape = [16, 8]}> 64x64",
         "versionMajor is 1; supported: 2, 3"),
        ("#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1> 128x64",
         "the type of an element is unknown"),
        ("#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, twoCTAs = true> 128x64xf32",
         "twoCTAs, CTAMode or fp4Padded is set; supported: the layout of one thread block"),
        (f"{BLOCKED[:60]} 64x64", "expected"),
        (f"{BLOCKED} 64x64 {NVMMA} 64x64", "the text has a second encoding"),
        ("f(BlockedLayout([1], [32], [4], [0]), SwizzledSharedLayout(1, 1, 1, [0]), [64])",
         "the text has a second encoding"),
        ("load(p, BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]), mask=m[2, 4])",
         "the extents of the tensor are unknown"),
        ("tensor<64x64xf,6, #tg.blocked<{order = [1, 0]}>>", "has no extents or no encoding"),
        ("#ttg.linear<{register = [[0, 1], 2]}> 4x4", "register is [[0, 1], 2], which is not a list of bases"),
        ("#ttg.padded_shared<[48:+8] {order = [1, 0], shape = [64, 64]}> 64x64", "are not all powers of two"),
        ("NVMMASharedLayout(128, 16, 2, False, False, [], 7) 64x64", "7 arguments, more than the 6 of the class"),
        ("BlockedLayout([1], [32], [4], [0]) 99999999999x9999999",
         "are not positive, or have more than 1073741824 elements"),
        ("#ttg.slice<{dim = 0, parent = " * 40, "levels of brackets"),
    ],
)  # fmt: skip
def test_what_cannot_be_honoured_is_refused_by_its_name(text: str, said: str) -> None:
    with pytest.raises(LayoutError) as error:
        evaluate(text)
    assert said in str(error.value)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(NotationError, match="notation: 7 is not a string"):
        parse_encoding(7)  # type: ignore[arg-type]
