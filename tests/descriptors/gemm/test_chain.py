"""Chains: what is right is proved, and of what is spoilt the link and the first element are those of a simulation.

The simulation is written here, element by element and in plain integers, from what PTX and the CUDA guide define: where
a tensor copy lands, what a descriptor word reads, what ldmatrix, stmatrix and tcgen05.ld move.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from each import each
from seeds import seeds_of

from descriptors import DescriptorError, chain, derive, parse_chain, parse_tensor_map, tma_plan
from descriptors.gemm.memory_links import TensorCopy
from descriptors.smem.words.tensor_map import SWIZZLE_NAMES, tensor_map
from layoutalg import Layout, evaluate, fragment, make_tiled_copy_tv, parse_layout

Memory = dict[int, Any]

SPANS = {"none": 16, "32B": 32, "64B": 64, "128B": 128}
XORS = {"none": 0, "32B": 1, "64B": 3, "128B": 7}
TMA_CODES = {"none": "NONE", "32B": "32B", "64B": "64B", "128B": "128B"}


# The machine ----------------------------------------------------------------------------------------------------------


def landed(address: int, swizzle: str) -> int:
    """The byte where the copy engine puts, and the tensor core finds, what lies at an address before the swizzle."""
    return address ^ (address // 128 & XORS[swizzle]) << 4


def copied(box: tuple[int, int], boxes: list[tuple[tuple[int, int], int]], swizzle: str, size: int) -> Memory:
    """Shared memory after copies: byte to the coordinates (fastest first) of the element that begins there."""
    memory: Memory = {}
    pitch = max(box[0] * size, SPANS[swizzle] if swizzle != "none" else 0)
    for (x, y), base in boxes:
        for j in range(box[1]):
            for i in range(box[0]):
                memory[landed(base + j * pitch + i * size, swizzle)] = (x + i, y + j)
    return memory


def fetched(word: int, row: int, k: int, major: str, size: int) -> int:
    """The byte that a wgmma operand's word reads element (row, k) from."""
    start, lbo, sbo = ((word >> at & 0x3FFF) << 4 for at in (0, 16, 32))
    swizzle = {0: "none", 1: "128B", 2: "64B", 3: "32B"}[word >> 62]
    span = SPANS[swizzle]
    if major == "K":
        chunk, byte = divmod(k * size, 16)
        at = row // 8 * sbo + row % 8 * span + chunk * (16 if swizzle != "none" else lbo) + byte
    else:
        chunk, byte = divmod(row * size, span)
        across, along = (sbo, lbo) if swizzle != "none" else (lbo, sbo)
        at = chunk * along + byte + k % 8 * span + k // 8 * across
    return landed(start + at, swizzle)


def turned(pointers: list[int], count: int, trans: bool) -> dict[tuple[int, int], int]:
    """ldmatrix of 16-bit elements: (lane, value) to the byte that it is loaded from."""
    where = {}
    for lane in range(32):
        for register in range(count):
            for half in (0, 1):
                row, column = (2 * (lane % 4) + half, lane // 4) if trans else (lane // 4, 2 * (lane % 4) + half)
                where[lane, 2 * register + half] = pointers[8 * register + row] + 2 * column
    return where


def a_fragment(thread: int, value: int) -> tuple[int, int]:
    """Row and column of a value of A of a K block of wgmma with 16-bit elements."""
    register, half = divmod(value, 2)
    row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (register % 2)
    return row, 8 * (register // 2) + 2 * (thread % 4) + half


def d_fragment(thread: int, value: int) -> tuple[int, int]:
    """Row and column of a value of D of wgmma."""
    return 16 * (thread // 32) + thread % 32 // 4 + 8 * (value // 2 % 2), 8 * (value // 4) + 2 * (
        thread % 4
    ) + value % 2


def cell(shape: str, num: int, lane: int, register: int) -> tuple[int, int]:
    """Lane and column that tcgen05.ld brings to a register."""
    return {
        "32x32b": (lane, register),
        "16x64b": (lane // 4 + 8 * (lane % 2), lane // 2 % 2 + 2 * register),
        "16x128b": (lane // 4 + 8 * (register % 2), lane % 4 + 4 * (register // 2)),
        "16x256b": (lane // 4 + 8 * (register // 2 % 2), 2 * (lane % 4) + register % 2 + 8 * (register // 4)),
    }[shape]


# Copies, layouts, words -----------------------------------------------------------------------------------------------


class Operand:
    """A right operand, and how its chain is written; a spoilt one differs in what is said."""

    def __init__(self, rng: random.Random) -> None:
        self.major, self.swizzle = rng.choice(["K", "MN"]), rng.choice(["none", "32B", "64B", "128B"])
        self.rows, self.columns = rng.choice([64, 128, 192]), rng.choice([64, 128])
        self.mma = (64, 16)
        d = derive((self.rows, self.columns), "bf16", self.major, self.swizzle, self.mma, arch="sm90", verify=False)
        plan = tma_plan(d, rank=2)
        self.box, self.layout, self.advance = plan.box, str(d.smem_tile), str(d.advance)
        self.boxes = [((box.coordinates[0], box.coordinates[1]), box.offset_bytes) for box in plan.boxes]
        self.word = d.descriptor.encode()
        self.words = {(i, k): d.word(i, k) for i in range(self.rows // 64) for k in range(self.columns // 16)}
        self.tma_swizzle = self.swizzle

    def coordinate(self, row: int, column: int) -> tuple[int, int]:
        return (column, row) if self.major == "K" else (row, column)

    @property
    def links(self) -> list[str]:
        places = ";".join(f"{x},{y}@{at}" for (x, y), at in self.boxes)
        extents = (self.columns, self.rows) if self.major == "K" else (self.rows, self.columns)
        tma = f"type=bf16 extents={extents[0]}x{extents[1]} strides={2 * extents[0]} box={self.box[0]}x{self.box[1]}"
        word = f"word {self.word:#x} mma={self.mma[0]}x{self.mma[1]} advance={self.advance} major={self.major}"
        return [
            f"tma {tma} swizzle={TMA_CODES[self.tma_swizzle]} boxes={places} major={self.major}",
            f"layout {self.layout}",
            word,
        ]

    def first_wrong(self) -> tuple[tuple[int, int], tuple[int, int] | None] | None:
        """The first element that the words read elsewhere, and what they read for it."""
        memory = copied(self.box, self.boxes, self.tma_swizzle, 2)
        step = {key: word - self.words[0, 0] for key, word in self.words.items()}
        for row in range(self.rows):
            for k in range(self.columns):
                word = self.word + step[row // 64, k // 16]
                found = memory.get(fetched(word, row % 64, k % 16, self.major, 2))
                if found != self.coordinate(row, k):
                    other = None if found is None else found[:: 1 if self.major == "MN" else -1]
                    return (row, k), other
        return None


def spoilt_words(rng: random.Random, one: Operand) -> str:
    """Change one thing; what was changed."""
    kind = rng.choice(["steps", "swizzle", "start", "boxes", "copy"])
    if kind == "steps":  # LBO and SBO swapped
        low, high = one.word >> 16 & 0x3FFF, one.word >> 32 & 0x3FFF
        one.word = one.word & ~(0x3FFF << 16 | 0x3FFF << 32) | high << 16 | low << 32
    elif kind == "swizzle":
        one.word = one.word & (1 << 62) - 1 | rng.randrange(4) << 62
    elif kind == "start":
        one.word += rng.choice([1, 2, 64])
    elif kind == "boxes" and len(one.boxes) > 1:
        one.boxes = [(at, place) for (at, _), (_, place) in zip(one.boxes, one.boxes[::-1], strict=True)]
    else:
        one.tma_swizzle = rng.choice([name for name in SPANS if SPANS[name] >= SPANS[one.swizzle] or name == "none"])
    return kind


@each("number", range(8))
@each("seed", seeds_of("chains of words"))
def test_copy_layout_and_words_of_a_derivation_are_one_chain(seed: int, number: int) -> None:
    one = Operand(random.Random(f"{seed} {number}"))
    report = chain(one.links, tile=(one.rows, one.columns)).verify()
    assert one.first_wrong() is None
    assert report.ok, report.headline
    assert report.headline == f"proved: {one.rows * one.columns} elements through tma, layout, word"


@each("number", range(16))
@each("seed", seeds_of("chains of spoilt words"))
def test_a_word_or_copy_that_is_spoilt_is_found_with_the_first_element_and_what_is_read_for_it(
    seed: int, number: int
) -> None:
    rng = random.Random(f"{seed} {number}")
    one = Operand(rng)
    kind = spoilt_words(rng, one)
    links = one.links
    report = chain([links[0], links[2]], tile=(one.rows, one.columns)).verify()
    wrong = one.first_wrong()
    assert report.ok is (wrong is None)
    if wrong is None:
        return
    first = report.legs[0].links[1].first
    assert first is not None
    assert (first.element, first.other) == (wrong[0], "" if wrong[1] is None else f"({wrong[1][0]},{wrong[1][1]})")
    # With the layout between them it is told which of the two it is.
    whole = chain(links, tile=(one.rows, one.columns)).verify().legs[0]
    assert whole.wrong == ((2,) if kind in ("steps", "swizzle", "start") else (1,))


def test_a_narrower_box_leaves_the_rest_of_the_tile_where_it_was() -> None:
    links = ["tma type=bf16 extents=512x128 strides=1024 box=32x128 swizzle=128B boxes=0,0@0"]
    report = chain([*links, "layout S<3,3,3> o 0 o (128,64):(64,1)"], tile="128x64").verify()
    first = report.legs[0].links[1].first
    assert first is not None and first.element == (0, 32)
    assert str(first) == "tma leaves (0,32) nowhere in shared memory, layout has it at byte 0x40, where no element is"
    assert report.legs[0].links[1].differing == 128 * 32
    whole = [links[0] + ";32,0@64"]
    with pytest.raises(
        DescriptorError, match="a box begins at 0x40 of shared memory, which is not a multiple of 128 bytes"
    ):
        chain([*whole, "layout S<3,3,3> o 0 o (128,64):(64,1)"], tile="128x64").verify()


def test_a_tensor_whose_rows_lie_elsewhere_than_the_map_says_is_told() -> None:
    links = ["tensor (128,64):(512,1)", "tma type=bf16 extents=512x256 strides=1040 box=64x128 swizzle=128B"]
    report = chain([*links, "layout S<3,3,3> o 0 o (128,64):(64,1)"], tile="128x64").verify()
    assert not report.ok and report.legs[0].wrong == (2,)
    assert (
        chain([links[0], links[1].replace("1040", "1024"), "layout S<3,3,3> o 0 o (128,64):(64,1)"], tile="128x64")
        .verify()
        .ok
    )


def test_what_lies_outside_of_the_tensor_is_nowhere_and_is_counted() -> None:
    links = [
        "tma type=bf16 extents=512x100 strides=1024 box=64x128 swizzle=128B",
        "layout S<3,3,3> o 0 o (128,64):(64,1)",
    ]
    report = chain(links, tile="128x64").verify()
    assert report.headline == "proved: 6400 of 8192 elements, which are there, through tma, layout"


def test_element_strides_and_five_dimensions() -> None:
    """Every second row; and the rows of a tile as three digits of a tensor."""
    links = [
        "tensor (64,64):(1024,1)",
        "tma type=bf16 extents=512x256 strides=1024 box=64x128 element_strides=1x2 swizzle=128B",
    ]
    assert chain([*links, "layout S<3,3,3> o 0 o (64,64):(64,1)"], tile="64x64").verify().ok
    five = "tma type=bf16 extents=64x4x2x2x4 strides=128,512,1024,2048 box=64x4x2x2x4 swizzle=128B"
    rows = ["tensor (64,64):(64,1)", five, "layout S<3,3,3> o 0 o (64,64):(64,1)"]
    assert chain(rows, tile="64x64").verify().ok
    assert not chain([rows[0], five.replace("512,1024", "1024,512"), rows[2]], tile="64x64").verify().ok
    with pytest.raises(DescriptorError, match="no link says where the tile is in it; add a link tensor"):
        chain(rows[1:], tile="64x64").verify()


# Registers ------------------------------------------------------------------------------------------------------------


def loaded(table: dict[tuple[int, int], int], columns: int, trans: bool, along: bool) -> dict[tuple[int, int], int]:
    """(thread, value) to the byte that it comes from: four warps, 16 rows each, ldmatrix.x4 one after the other."""
    where = {}
    for warp in range(4):
        for piece in range(columns // 16):
            pointers = []
            for matrix in range(4):
                row, column = 16 * warp + 8 * (matrix % 2), 16 * piece + 8 * (matrix // 2)
                pointers += [table[(row + i, column) if along else (row, column + i)] for i in range(8)]
            for (lane, value), byte in turned(pointers, 4, trans).items():
                where[32 * warp + lane, 8 * piece + value] = byte
    return where


@each("major", ["K", "MN"])
@each("trans", [False, True])
def test_ldmatrix_gives_a_of_wgmma_if_and_only_if_it_turns_what_is_mn_major(major: str, trans: bool) -> None:
    along = major == "K"
    strides = (64, 1) if along else (1, 64)
    table = {(r, c): landed(2 * (r * strides[0] + c * strides[1]), "128B") for r in range(64) for c in range(64)}
    lies = {byte: element for element, byte in table.items()}
    comes = {key: lies[byte] for key, byte in loaded(table, 64, trans, along).items()}
    held = {(t, 8 * block + v): (a_fragment(t, v)[0], 16 * block + a_fragment(t, v)[1])
            for block in range(4) for t in range(128) for v in range(8)}  # fmt: skip
    wrong = sorted((element, comes[key]) for key, element in held.items() if comes[key] != element)
    links = [f"layout S<3,3,3> o 0 o (64,64):({strides[0]},{strides[1]})", f"ldmatrix.x4{'.trans' * trans} warps=4x1"]
    report = chain([*links, "fragment wgmma.m64n64k16.A"], tile="64x64").verify()
    assert report.ok is (not wrong) is (trans is not along)
    if wrong:
        first = report.legs[0].links[2].first
        assert first is not None and (first.element, first.other) == (
            wrong[0][0],
            f"({wrong[0][1][0]},{wrong[0][1][1]})",
        )


def test_pointers_of_ldmatrix_that_are_given_are_followed() -> None:
    """A thread points at row lane % 16, columns 8 (lane / 16) on; with rows of 8 too many another matrix is loaded."""
    links = ["layout (16,64):(64,1)", "", "fragment mma.m16n8k16.A.bf16"]
    right = "ldmatrix.x4 warps=1x1 pointers=((16,2),4):((64,8),16)"
    assert chain([links[0], right, links[2]], tile="16x64").verify().ok
    links[1] = right.replace("(16,2),4):((64,8)", "(8,2,2),4):((64,8,512)")
    report = chain(links, tile="16x64").verify()
    assert str(report.legs[0].links[2].first) == (
        "ldmatrix.x4 leaves (0,8) in value 2 of thread 0, mma.m16n8k16.A.bf16 has it in value 4 of thread 0, "
        "where (8,0) is"
    )
    with pytest.raises(
        DescriptorError, match="the address 0x8 of thread 0, instruction 1, is not a multiple of 16 bytes"
    ):
        chain([links[0], right.replace(",16)", ",4)"), links[2]], tile="16x64").verify()


def test_ldmatrix_reads_16_bytes_from_where_a_thread_points_whatever_the_layout_has_there() -> None:
    links = ["layout (16,(4,4)):(8,(1,128))", "ldmatrix.x4", "fragment mma.m16n8k16.A.bf16"]
    report = chain(links, tile="16x16").verify()
    assert str(report.legs[0].links[2].first) == (
        "ldmatrix.x4 leaves (0,4) nowhere in registers, mma.m16n8k16.A.bf16 has it in value 0 of thread 2, "
        "where no element is"
    )


@each("name", ["x1", "x2", "x4"])
def test_stmatrix_takes_from_registers_what_ldmatrix_leaves_in_them(name: str) -> None:
    for trans in ("", ".trans"):
        layout = "layout S<3,3,3> o 0 o (64,64):(64,1)"
        links = [layout, f"ldmatrix.{name}{trans} warps=4x1", f"stmatrix.{name}{trans} warps=4x1", layout]
        assert chain(links, tile="64x64").verify().ok
        other = [*links[:2], f"stmatrix.{name}{'' if trans else '.trans'} warps=4x1", layout]
        assert chain(other, tile="64x64").verify().legs[0].wrong == (2,)


def test_bytes_are_turned_by_the_matrices_of_bytes() -> None:
    """A of 8 bits, M contiguous: ldmatrix.m16n16 gives the registers of mma.m16n8k32."""
    links = ["layout (16,32):(1,16)", "ldmatrix.m16n16.x2.trans.b8.16x32", "fragment mma.m16n8k32.A.e4m3"]
    assert chain(links, tile="16x32", dtype="e4m3").verify().ok
    stored = ["fragment mma.m16n8k16.C.f32", "convert e4m3", "stmatrix.m16n8.x1.trans.b8", "layout (16,8):(1,16)"]
    assert chain(stored, tile="16x8", dtype="f32").verify().ok
    with pytest.raises(DescriptorError, match="bf16 elements do not have 8 bits"):
        chain([links[0], links[1]], tile="16x32").verify()


@pytest.mark.parametrize(("name", "count", "shape"), [("A", "x4", "16x32"), ("B", "x2.8x32", "8x32")])
def test_what_ldmatrix_leaves_of_4_bits_must_be_shifted_and_of_6_bits_not(name: str, count: str, shape: str) -> None:
    rows = shape.partition("x")[0]
    layout = f"layout ({rows},32):(32,1)"
    four = f"ldmatrix.m8n16.{count}.b8x16.b4x16_p64"
    held = f"fragment mma.m16n8k32.{name}.e2m1"
    proofs = [
        chain([layout, four, *shift, held], tile=shape, dtype="e2m1_unpacksmem").verify()
        for shift in ([], ["shift 2"], ["shift 1"], ["shift 1", "shift 1"])
    ]
    assert [proof.ok for proof in proofs] == [False, True, False, True]
    assert "in value 0 of thread 0, from bit 2 of its byte, where no element is" in proofs[0].headline
    six = [layout, f"ldmatrix.m8n16.{count}.b8x16.b6x16_p32", f"fragment mma.m16n8k32.{name}.e3m2"]
    assert chain(six, tile=shape, dtype="e3m2").verify().ok
    with pytest.raises(DescriptorError, match=r"e2m1 elements do not have 8 bits; .* are e2m1_un"):
        chain([layout, four], tile=shape, dtype="e2m1").verify()


# Results --------------------------------------------------------------------------------------------------------------


@each("shape", ["32x32b", "16x64b", "16x128b", "16x256b"])
def test_what_tcgen05_ld_leaves_is_what_a_store_takes_only_of_the_shape_that_has_the_quads(shape: str) -> None:
    columns, num = 32, {"32x32b": 16, "16x64b": 8, "16x128b": 4, "16x256b": 2}[shape]
    count = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4}[shape] * num
    width = 16
    held: dict[tuple[int, int], tuple[int, int]] = {}
    for warp in range(4):
        instruction = 0
        for first in range(0, columns, width):
            for half in [0] if shape == "32x32b" else [0, 16]:
                for lane in range(32):
                    for register in range(count):
                        row, column = cell(shape, num, lane, register)
                        held[32 * warp + lane, instruction * count + register] = (
                            32 * warp + half + row,
                            first + column,
                        )
                instruction += 1
    # stmatrix.x4, 16 rows by 16 columns, two below one another in the 32 rows of a warp.
    wanted = {}
    for warp in range(4):
        for piece in range(4):
            for lane in range(32):
                for value in range(8):
                    row, column = d_fragment(lane, value)
                    at = (32 * warp + 16 * (piece % 2) + row, 16 * (piece // 2) + column)
                    wanted[32 * warp + lane, 8 * piece + value] = at
    wrong = sorted((element, held[key]) for key, element in wanted.items() if held[key] != element)
    links = ["accumulator 128x32", f"tcgen05.ld.{shape}.x{num}", "convert bf16", "stmatrix.x4 warps=4x1"]
    links += [
        "layout S<2,3,3> o 0 o (128,32):(32,1)",
        "tma type=bf16 extents=64x128 strides=128 box=32x128 swizzle=64B",
    ]
    report = chain(links, tile="128x32", dtype="f32").verify()
    assert report.ok is (not wrong) is (shape == "16x256b")
    if wrong:
        first = report.legs[0].links[3].first
        assert first is not None and report.legs[0].wrong == (3,)
        assert (first.element, first.other) == (wrong[0][0], f"({wrong[0][1][0]},{wrong[0][1][1]})")
        thread, value = next(key for key, element in wanted.items() if element == first.element)
        assert first.expected == f"from value {value} of thread {thread}"


def test_a_store_box_by_box_brings_every_element_home_and_swapped_boxes_do_not() -> None:
    links = ["fragment wgmma.m64n128k16.D", "convert bf16", "stmatrix.x4 warps=4x1"]
    links += ["layout S<3,3,3> o 0 o (64,(64,2)):(64,(1,4096))"]
    tma = "tma type=bf16 extents=128x64 strides=256 box=64x64 swizzle=128B"
    assert chain([*links, tma], tile="64x128", dtype="f32").verify().ok
    report = chain([*links, f"{tma} boxes=0,0@8192;64,0@0"], tile="64x128", dtype="f32").verify()
    assert str(report.legs[0].links[4].first) == (
        "layout has (0,0) at byte 0x0, tma takes it from byte 0x2000, where (0,64) is"
    )
    other = chain([*links, tma.replace("swizzle=128B", "swizzle=NONE")], tile="64x128", dtype="f32").verify()
    assert other.legs[0].wrong == (4,) and other.legs[0].links[4].first.element == (1, 0)  # type: ignore[union-attr]
    narrow = chain([*links, f"{tma} boxes=0,0@0"], tile="64x128", dtype="f32").verify()
    assert str(narrow.legs[0].links[4].first) == "layout has (0,64) at byte 0x2000, tma does not move it"


def test_a_store_at_the_edge_writes_what_is_inside_of_the_tensor() -> None:
    links = ["fragment wgmma.m64n128k16.D", "convert bf16", "stmatrix.x4 warps=4x1"]
    links += ["layout S<3,3,3> o 0 o (64,(64,2)):(64,(1,4096))"]
    tma = "tma type=bf16 extents=200x130 strides=400 box=64x64 swizzle=128B origin=100,70"
    report = chain([*links, tma], tile="64x128", dtype="f32").verify()
    count, last = (200 - 100) * (130 - 70), report.legs[0].links[4]
    assert report.ok and (report.legs[0].elements, last.compared) == (count, count)
    swapped = chain([*links, f"{tma} boxes=100,70@8192;164,70@0"], tile="64x128", dtype="f32").verify()
    assert swapped.legs[0].links[4].differing == count  # box 1 has 64 columns, all rows of which are inside
    with pytest.raises(DescriptorError, match="the whole tile is outside the tensor"):
        chain([*links, tma.replace("100,70", "200,70")], tile="64x128", dtype="f32").verify()


def test_threads_store_what_they_hold_as_a_tiled_copy_says() -> None:
    links = ["fragment wgmma.m64n8k16.D", "store", "tensor (64,8):(8,1)"]
    assert chain(links, tile="64x8", dtype="f32").verify().ok
    wrong = chain([links[0], "store threads=(16,8):(8,1) values=(4,1)", links[2]], tile="64x8", dtype="f32").verify()
    assert wrong.legs[0].wrong == (1,)
    loads = [
        "tensor (64,64):(64,1)",
        "load threads=(16,8):(8,1) values=(1,8)",
        "store threads=(16,8):(8,1) values=(1,8)",
    ]
    assert chain([*loads, "layout S<3,3,3> o 0 o (64,64):(64,1)"], tile="64x64").verify().ok


def test_accumulators_of_a_pair_and_of_64_rows_lie_in_their_lanes() -> None:
    """Layout B: columns of the second half in the upper lanes; layout F: 16 lanes of each quarter."""
    pair = ["accumulator 128x64 cta_group=2", "tcgen05.ld.32x32b.x32"]
    home = "fragment ((32,2,2),32):((1,32,2048),64)"  # warps 0 and 1 the first 32 columns, 2 and 3 the others
    assert chain([*pair, home], tile="64x64", dtype="f32").verify().ok
    assert not chain([*pair, "fragment ((32,2,2),32):((1,2048,32),64)"], tile="64x64", dtype="f32").verify().ok
    half = ["accumulator 64x32", "tcgen05.ld.16x256b.x4", "fragment wgmma.m64n32k16.D", "store"]
    assert chain(half, tile="64x32", dtype="f32").verify().ok


def copied_cells(shape: str, row: int) -> list[int]:
    """The lanes where tcgen05.cp writes a row."""
    return {
        "128x256b": [row],
        "128x128b": [row],
        "64x128b.warpx2::02_13": [row, row + 64],
        "64x128b.warpx2::01_23": [row % 32 + 64 * (row // 32) + extra for extra in (0, 32)],
        "32x128b.warpx4": [row, row + 32, row + 64, row + 96],
    }[shape]


@each("shape", ["128x256b", "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23", "32x128b.warpx4"])
def test_tcgen05_cp_brings_rows_of_shared_memory_to_lanes(shape: str) -> None:
    """Elements of 16 bits, two a column; the cells are written down as a table of bits and compared with a layout."""
    rows, columns = int(shape.split("x")[0]), 64
    layouts = {
        "64x128b.warpx2::02_13": "(64,64,2):(131072,1,8388608)",
        "64x128b.warpx2::01_23": "((32,2),64,2):((131072,8388608),1,4194304)",
        "32x128b.warpx4": "(32,64,4):(131072,1,4194304)",
    }
    text = layouts.get(shape, "(128,64,1):(131072,1,0)")
    cells = parse_layout(text)
    for row in range(rows):
        assert [cells(row, 0, copy) >> 17 for copy in range(cells.shape[2])] == copied_cells(shape, row)
    links = [f"layout S<3,3,3> o 0 o ({rows},64):(64,1)", f"tcgen05.cp.{shape}", f"cells {text}"]
    assert chain(links, tile=(rows, columns)).verify().ok
    word = f"tcgen05.cp.{shape} 0x4000404000010000 advance=(1,8):(0,1)"
    wrong = chain([links[0].replace("<3,3,3>", "<2,3,3>"), word, links[2]], tile=(rows, columns))
    if "256b" not in shape:  # 8 copies of 16 bytes of a row
        first = wrong.verify().legs[0].links[2].first
        assert first is not None and first.element == (4, 0) and first.lies.startswith("in lane 4, column 16")


def test_registers_stored_to_tensor_memory_are_a_of_the_instruction() -> None:
    """A of tcgen05.mma from tensor memory: 16-bit elements, two a column, a row a lane."""
    links = ["fragment (128,64):(1,128)", "tcgen05.st.32x32b.x32", "cells (128,64):(131072,1)"]
    assert chain(links, tile="128x64").verify().ok
    report = chain([links[0], "tcgen05.st.16x64b.x32", links[2]], tile="128x64").verify()
    assert report.legs[0].wrong == (2,)


def test_links_may_be_values_of_the_algebra() -> None:
    tile = evaluate("S<3,3,3> o 0 o (64,64):(64,1)")
    one = parse_tensor_map("type=bf16 extents=512x256 strides=1024 box=64x64 swizzle=128B")
    copy = make_tiled_copy_tv(8, Layout((16, 8), (8, 1)), Layout((1, 8)))
    assert chain([one, tile, copy, copy, tile, one], tile=(64, 64)).verify().ok
    assert chain([fragment("wgmma.m64n64k16.D"), "store", Layout((64, 64), (64, 1))], tile=(64, 64)).verify().ok


# Verdicts -------------------------------------------------------------------------------------------------------------


def test_what_is_not_decided_is_named_and_what_stands_behind_it_is_not_reached() -> None:
    map_text = "type=bf16 extents=64x512 strides=128 box=64x128 swizzle=128B_ATOM_32B_FLIP_8B"
    report = chain([f"tma {map_text}", "layout (128,64):(64,1)"], tile="128x64").verify()
    assert report.verdict == "incomplete"
    assert report.headline == (
        "incomplete: link 1, tma, where elements land with this swizzle of the tensor map was not measured; "
        "link 2, layout, not reached, because tma is not decided"
    )
    assert "measured on a Hopper GPU" not in report.evidence
    open_end = chain(["layout (64,16):(16,1)", "ldmatrix.x4 warps=4x1"], tile="64x16").verify()
    assert open_end.verdict == "incomplete" and "no later link says where" in open_end.headline


WHOLE = """\
dtype = "bf16"
tile = "128x128x64"
instruction = "m64n128k16"
A = ["tma type=bf16 extents=4096x4096 strides=8192 box=64x128 swizzle=128B",
     "layout S<3,3,3> o 0 o (128,64):(64,1)", "word"]
B = ["tma type=bf16 extents=4096x4096 strides=8192 box=64x64 swizzle=128B major=MN",
     "layout S<3,3,3> o 0 o ((64,2),64):((1,4096),64)", "word 0x4000004002000000 major=MN advance=(1,4):(0,128)"]
D = ["fragment wgmma.m64n128k16.D warpgroups=2x1", "convert bf16", "stmatrix.x4 warps=8x1",
     "layout S<3,3,3> o 0 o (128,(64,2)):(64,(1,8192))",
     "tma type=bf16 extents=4096x4096 strides=8192 box=64x128 swizzle=128B"]
"""


def test_a_whole_product_is_proved_leg_by_leg_and_a_missing_leg_is_said() -> None:
    report = parse_chain(WHOLE).verify()
    assert report.ok and [leg.elements for leg in report.legs] == [8192, 8192, 16384]
    without = parse_chain(re.sub(r"(?s)B = \[.*?\]\n", "", WHOLE)).verify()
    assert without.ok and without.headline.endswith("; not given: B")
    wrong = parse_chain(WHOLE.replace("0x4000004002000000", "0x4000020000400000")).verify()
    assert wrong.headline.startswith(
        "wrong: B, link 3, word: layout has (0,8) at byte 0x400, word reads it from byte 0x2000"
    )


def refusals() -> Iterator[tuple[list[str], str]]:
    layout = "layout (64,16):(16,1)"
    yield ["layuot (8,8):(8,1)"], r"link 1: a link is .*did you mean layout\?"
    yield (
        [layout, "word 0x1 mma=64x16 steps=3"],
        r"link 2: word: an option is .steps., which is not supported; supported: mma, advance, major, sparse",
    )
    yield [layout, "word 0xz mma=64x16"], "link 2: word '0xz' is not a number"
    yield [layout, "word 0x1"], "link 2: word: mma is missing, what one instruction reads"
    yield [layout, "word 0x1 mma=64x8"], "the tile has 2 blocks, and no advance is given; .* derive --steps` prints"
    yield ["word mma=64x16"], "no number is given, and no layout is before it"
    yield ["layout (64,8):(8,1)"], r"link 1, layout: \(64,8\):\(8,1\) has modes of 64 and 8 elements, not of 64 and 16"
    yield (
        ["tensor (64,16):(16,1)", "layout (64,8):(8,1)"],
        r"link 2, layout: \(64,8\):\(8,1\) has modes of 64 and 8 elements, not of 64 and 16",
    )
    yield (
        ["tma type=bf16 extents=64x64 strides=128 box=16x64 swizle=128B"],
        r"an option is .swizle., which is not supported \(did you mean swizzle.\); supported: boxes, .*, strides, ",
    )
    yield ["ldmatrix.x4"], "link 1, ldmatrix: ldmatrix.x4: no layout of shared memory is before it"
    yield [layout, "stmatrix.x4"], "no layout of shared memory is after it"
    yield [layout, "ldmatrix.x4 warps=3x1"], "pieces of 16x16 in 3x1 warps do not cover the tile of 64x16"
    yield [layout, "ldmatrix.x4 now"], "now is not an option like NAME=VALUE"
    yield (
        [layout, "tcgen05.ld.32x32b.x8"],
        "it takes elements from tensor memory, but layout leaves them in shared memory",
    )
    yield [layout, "fragment mma.m16n8k16.C"], "it has elements in registers, but layout leaves them in shared memory"
    yield (
        ["tma type=bf16 extents=64x64 strides=128 box=128x64 swizzle=128B"],
        "wider than the 128 bytes of the swizzle",
    )
    yield (
        ["tma type=u8 extents=64x64 strides=128 box=64x64"],
        "the map's elements have 8 bits .UINT8., and those of the tile 16 .bf16.",
    )
    yield ["tma type=bf16 extents=64x64 strides=128 box=48x16"], "is not a whole number of boxes of 48x16"
    yield ["tma type=bf16 extents=64x64 strides=128 box=48x64"], "a tile of 64x48 is the whole box"
    yield (
        ["tma type=bf16 extents=64x64 strides=128 box=16x64 boxes=0,0"],
        "boxes 0,0 is not written like 0,0@0;64,0@0x4000",
    )
    yield ["fragment ((32,2)):(1)"], "fragment"
    yield ["accumulator 128"], "accumulator '128' is not 2 extents"
    yield (
        ["accumulator 128x16"],
        "the tile of 64x16 is not a whole number of accumulators of 128x16, the part that a CTA has",
    )
    yield ["convert f17"], "is .f17., which is not supported"
    yield ["shift 2"], "no link before it leaves elements in registers"
    yield (
        ["fragment mma.m16n8k16.A.bf16 warps=4x1", "shift 1"],
        "shift: 1 is not from 0 to 0, the free bits of bf16 elements",
    )
    wide = "tma type=bf16 extents=64x64 strides=128 box=32x64 boxes=0,0@0"
    yield [wide], "the boxes copy 2048 elements, more than the 1024 of the tile"
    yield ["tma type=bf16 extents=64x64 strides=128 box=16x64 origin=64,0"], "the whole tile is outside the tensor"
    yield ["layout (64,16):(16,1) base=0xffffffffffffffff"], "base '0xf*' is not a number below"
    yield ["fragment (100000,100000):(0,0)"], "values, more than 4194304"
    yield ["accumulator 64x16 columns=600"], "from column 600 on exceeds the 512 columns"
    yield (
        ["fragment mma.m16n8k16.C warps=4x1", "stmatrix.x4.32x8 warps=4x1", "layout (64,16):(16,1)"],
        "pieces of 32x8 in 4x1 warps do not cover .*, or append the rows .*, like ldmatrix.x4.16x16",
    )
    yield ["load"], "no fragment says what each thread loads"
    yield [""], "a link is .*, which is not supported"
    yield ["tcgen05.ld.32x32b"], ".32x32b. is not a shape with a repetition count, such as 16x256b.x8"


@each(("links", "said"), list(refusals()), ids=lambda one: str(one)[:40])
def test_a_link_that_cannot_be_is_refused_by_its_number(links: list[str], said: str) -> None:
    with pytest.raises(DescriptorError, match=said):
        chain(links, tile="64x16").verify()


@each(
    ("toml", "said"),
    [
        ("tile = ", "the file is not TOML"),
        ('tile = "8x8"', "the file has tile, and not exactly tile with either links or some of A, B and D"),
        ('tile = "8x8"\nlinks = ["layout (8,8):(8,1)"]\nA = []', "the file has tile, links, A, and not exactly tile"),
        ('tile = "8x8"\nlinks = "layout"', "links is 'layout', not a list of texts"),
        ('tile = "8x8"\nlinks = []', r"links is \[\], not a list of links"),
        ('tile = "8x8"\nA = ["layout (8,8):(8,1)"]', "tile '8x8' is not 3 extents like 128x128x64"),
        ('tile = 8\nlinks = ["layout (8,8):(8,1)"]', "tile 8 is not 2 extents like 128x64"),
        ('tile = "8x8"\nlinks = ["x"]\ntypo = 1', "a key of the file is .typo., which is not supported"),
        ('tile = "8x8"\nlinks = ["x"]\ndtype = 3', "dtype is 3, not text"),
        ('tile = "8x8"\nlinks = ["x"]\narch = "sm80"', "supported: sm90, sm100"),
        ('tile = "8x8"\nlinks = ["x"]\ninstruction = "64x16"', "instruction '64x16' is not written like m64n128k16"),
    ],
    ids=lambda one: str(one)[:30],
)
def test_a_file_that_says_no_chain_is_refused(toml: str, said: str) -> None:
    with pytest.raises(DescriptorError, match=said):
        parse_chain(toml)


# Scale factors --------------------------------------------------------------------------------------------------------


class Factors:
    """The factors of 128 rows on their way from global memory to an instruction, and how their chain is written."""

    def __init__(self, rng: random.Random) -> None:
        self.depth, self.count = rng.choice([1, 2, 3]), rng.choice([1, 2, 4])
        self.bytes = 512 * self.depth
        self.source, self.target = 16 * rng.randrange(64), 128 * rng.randrange(64)
        self.copied_to, self.copied_from = self.target, self.source
        self.word = 1 << 46 | 8 << 32 | 1 << 16 | self.target // 16
        self.advance = [32 * j for j in range(self.depth)]
        first = 4 * rng.randrange(64)
        self.columns = [first + 4 * j for j in range(self.depth)]
        blocks = range(0, 4 * self.depth, self.count)
        self.pointers = [q % 4 << 30 | first + q // 4 * 4 for q in blocks]

    @property
    def links(self) -> list[str]:
        advance, columns = (",".join(map(str, one)) for one in (self.advance, self.columns))
        return [
            f"tensor ((32,4),(4,{self.depth})):((16,4),(1,512)) address={self.source}",
            f"bulk {self.bytes} from={self.copied_from} to={self.copied_to}",
            f"tcgen05.cp.32x128b.warpx4 {self.word:#x} advance=0;{advance} columns={columns} blocks={self.depth}",
            f"factors {','.join(map(hex, self.pointers))} count={self.count}",
        ]

    def first_wrong(self) -> tuple[tuple[int, int], tuple[int, int] | None] | None:
        """The first factor that an instruction reads elsewhere, and what it reads for it."""
        lies = {
            self.source + q // 4 * 512 + r % 32 * 16 + r // 32 * 4 + q % 4: (r, q)
            for r in range(128)
            for q in range(4 * self.depth)
        }
        shared: Memory = {
            self.copied_to + i: lies[self.copied_from + i] for i in range(self.bytes) if self.copied_from + i in lies
        }
        start, strided = (self.word & 0x3FFF) << 4, (self.word >> 32 & 0x3FFF) << 4
        cells: Memory = {}
        for step, column in zip(self.advance, self.columns, strict=True):
            for row in range(32):
                for byte in range(16):
                    for lane in range(row, 128, 32):  # a copy in the lanes of each warp
                        at = start + 16 * step + row // 8 * strided + row % 8 * 16 + byte
                        cells[lane, column + byte // 4, byte % 4] = shared.get(at)
        for r in range(128):
            for q in range(4 * self.depth):
                pointer = self.pointers[q // self.count]
                found = cells.get((r % 32, (pointer & 0xFFFF) + r // 32, (pointer >> 30) + q % self.count))
                if found != (r, q):
                    return (r, q), found
        return None


def spoilt_factors(rng: random.Random, one: Factors) -> None:
    """Change one thing."""
    match rng.choice(["start", "stride", "advance", "columns", "pointer", "id", "to", "from", "bytes"]):
        case "start":
            one.word += rng.choice([1, 2, 32])
        case "stride":
            one.word ^= rng.choice([1, 2, 24]) << 32
        case "advance":
            one.advance[-1] += rng.choice([1, 16, 32])
        case "columns":
            one.columns[-1] += rng.choice([1, 2, 4])
        case "pointer":
            one.pointers[rng.randrange(len(one.pointers))] += rng.choice([1, 4])
        case "id":
            at = rng.randrange(len(one.pointers))
            one.pointers[at] = one.pointers[at] & 0xFFFF | (one.pointers[at] >> 30) + one.count & 3 << 30
        case "to":
            one.copied_to += rng.choice([16, 128])
        case "from":
            one.copied_from += rng.choice([16, 512])
        case _:
            one.bytes -= 16


@each("number", range(8))
@each("seed", seeds_of("chains of factors"))
def test_factors_come_from_global_memory_to_the_instruction(seed: int, number: int) -> None:
    one = Factors(random.Random(f"{seed} {number}"))
    tile, links = (128, 4 * one.depth), one.links
    assert one.first_wrong() is None
    assert chain(links, tile=tile, dtype="u8").verify().ok
    cells = f"cells ((32,4),(4,{one.depth}),4):((262144,4),(1,16),8388608)"
    places = [links[0], links[1], f"layout ((32,4),(4,{one.depth})):((16,4),(1,512)) base={one.target}", links[2]]
    if not one.columns[0]:  # a layout of cells begins at column 0
        assert chain([*places, cells, links[3]], tile=tile, dtype="u8").verify().ok
    assert chain([*places, links[3]], tile=tile, dtype="u8").verify().ok


@each("number", range(24))
@each("seed", seeds_of("chains of spoilt factors"))
def test_factors_that_go_astray_are_found_with_the_first_and_what_is_read_for_it(seed: int, number: int) -> None:
    rng = random.Random(f"{seed} {number}")
    one = Factors(rng)
    spoilt_factors(rng, one)
    wrong = one.first_wrong()
    report = chain(one.links, tile=(128, 4 * one.depth), dtype="u8").verify()
    assert report.ok is (wrong is None), report.headline
    if wrong is not None:
        first = report.legs[0].links[3].first
        assert first is not None
        assert (first.element, first.other) == (wrong[0], "" if wrong[1] is None else f"({wrong[1][0]},{wrong[1][1]})")


def test_links_of_factors_that_cannot_be_are_refused() -> None:
    links = Factors(random.Random(1)).links
    for text, rule in (
        ("bulk 500", "bytes is 500, which is not a multiple of 16"),
        ("bulk", "a number of bytes"),
        ("bulk 0", "the number of bytes is 0, not 16 to"),
    ):
        with pytest.raises(DescriptorError, match=rule):
            chain([links[0], text], tile="128x4", dtype="u8").verify()
    with pytest.raises(DescriptorError, match="pointers are for 128 rows of 2 factors, and the tile has 128 rows of 4"):
        one = ["cells ((32,4),4,4):((262144,4),1,8388608)", "factors 0,0x80000000"]
        chain(one, tile="128x4", dtype="u8").verify()


# Convolutions ---------------------------------------------------------------------------------------------------------

IM2COL = "tma type=bf16 extents=72x9x9x2 strides=144x1296x11664 lower=-1,-1 upper=-1,-1 channels=64 pixels=128"
CONVOLVED = [
    "convolution 2x9x9x72 filters=96x3x3 stride=2 padding=1 tap=1,0",
    f"{IM2COL} element_strides=1x2x2x1 swizzle=128B boxes=0,-1,-1,0,0,1@0",
    "layout S<3,3,3> o 0 o (128,64):(64,1)",
    "word 0x4000004000010000 mma=64x16 advance=(2,4):(512,2)",
]


def test_im2col_copies_are_followed_to_the_word() -> None:
    report = chain(CONVOLVED, tile="128x64").verify()
    assert report.ok and report.legs[0].elements == 2 * 5 * 4 * 64  # one of five columns reads the padding


@each(
    ("before", "after"),
    [
        ("0,1@0", "1,0@0"),  # the offsets of another tap
        ("0,-1,-1,0,0,1@0", "0,-1,-1,0@0"),  # none
        ("element_strides=1x2x2x1", ""),
        ("lower=-1,-1", "lower=0,-1"),
        ("stride=2 ", "stride=2x1 "),
        ("extents=72x9x9x2 strides=144x1296x11664", "extents=72x9x9x2 strides=144x11664x1296"),
    ],
)
def test_a_chain_tells_the_first_pixel_that_another_map_gathers(before: str, after: str) -> None:
    links = [link.replace(before, after) for link in CONVOLVED]
    assert links != CONVOLVED
    report = chain(links, tile="128x64").verify()
    assert report.verdict == "wrong" and report.legs[0].wrong[0] == 2


@each(
    ("link", "message"),
    [
        ("convolution 2x9x9 filters=96x3x3", "convolution '2x9x9' is not 4 extents like 8x56x56x64"),
        ("convolution 2x9x9x72", "filters '' is not 3 extents"),
        ("convolution 2x9x9x72 filters=96x3x3 tap=3,0", "tap 3,0 is not one of 3x3 taps"),
        ("convolution 2x9x9x72 filters=96x3x3 operand=C", "operand"),
        ("convolution 2x9x9x72 filters=96x3x3 taps=1", "an option"),
    ],
)
def test_a_convolution_that_is_none_is_refused(link: str, message: str) -> None:
    with pytest.raises(DescriptorError) as error:
        chain([link, *CONVOLVED[1:]], tile="128x64").verify()
    assert message in str(error.value)


def test_an_im2col_map_alone_says_not_how_the_tile_lies() -> None:
    with pytest.raises(DescriptorError, match="add a link convolution, before a load"):
        chain(CONVOLVED[1:], tile="128x64").verify()


@each(
    ("layout", "word", "dtype", "tile", "reason"),
    [
        (
            "layout S<3,3,3> o 0 o (64,64):(64,1)",
            "word mma=64x32",
            "bf16",
            "64x64",
            "no dense sm90 instruction reads a 64x32 bf16 operand; a sparse one does: add sparse=1 to the link",
        ),
        (
            "layout S<2,4,3> o 0 o (64,128):(1,64)",
            "word 0x8000002000000000 mma=64x32 major=MN advance=(1,4):(0,128)",
            "e4m3",
            "64x128",
            "no sm90 instruction reads MN-major e4m3 operands with swizzle 64B",
        ),
    ],
)
def test_a_word_of_an_operand_that_no_instruction_reads_is_not_decided(
    layout: str, word: str, dtype: str, tile: str, reason: str
) -> None:
    report = chain([layout, word], tile=tile, dtype=dtype, arch="sm90").verify()
    assert report.verdict == "incomplete" and "measured on" not in report.evidence
    assert report.headline.startswith(f"incomplete: link 2, word, {reason}")
    assert report.legs[0].links[1].compared == report.legs[0].elements


def test_a_sparse_instruction_reads_the_blocks_of_a_word_that_says_so() -> None:
    links = ["layout S<3,3,3> o 0 o (64,64):(64,1)", "word mma=64x32 sparse=1"]
    assert chain(links, tile="64x64", arch="sm90").verify().verdict == "proved"


def test_elements_that_share_an_address_are_read_from_it_and_are_counted() -> None:
    links = ["layout ((8,16),64):((64,0),1) swizzle=128B", "word mma=64x16"]
    report = chain(links, tile="128x64", arch="sm90").verify()
    assert report.verdict == "proved"
    assert report.headline == (
        "proved: 8192 elements, of which 8192 share an address with another one, through layout, word"
    )
    spoilt = [links[0], "word 0x4000000000010000 mma=64x16 advance=(2,4):(0,4)"]
    assert chain(spoilt, tile="128x64", arch="sm90").verify().verdict == "wrong"


def test_elements_that_no_layout_stores_together_do_not_share_an_address() -> None:
    report = chain(["layout (128,64):(64,1)", "layout (128,64):(0,1)"], tile="128x64").verify()
    assert report.verdict == "wrong" and report.legs[0].links[1].differing == 127 * 64


@pytest.mark.parametrize(
    ("tile", "advance", "way_out"),
    [
        ("64x64", "0,2,4,6", "advance=0;0,2,4,6"),
        ("64x64", "(0,2,4,6)", "advance=0;0,2,4,6"),
        ("128x16", "0,0x200", "advance=0,0x200;0"),
        ("128x64", "0,2,4,6", "advance=R0,R1;0,2,4,6"),
        ("64x64", "7", "advance=7;K0,K1,K2,K3"),
    ],
)
def test_an_advance_of_one_list_is_refused_with_the_form_of_two(tile: str, advance: str, way_out: str) -> None:
    columns = tile.partition("x")[2]
    links = [f"layout S<3,3,3> o 0 o ({tile.replace('x', ',')}):({columns},1)"]
    links.append(f"word 0x4000004000010000 mma=64x16 advance={advance}")
    with pytest.raises(DescriptorError) as error:
        chain(links, tile=tile, arch="sm90").verify()
    assert f"advance={advance.strip('()')} is one list of numbers" in str(error.value)
    assert str(error.value).endswith(f"like {way_out}")


def test_two_lists_of_an_advance_with_other_counts_than_the_blocks_are_refused() -> None:
    links = ["layout S<3,3,3> o 0 o (128,64):(64,1)", "word 0x4000004000010000 mma=64x16 advance=0;0,2,4,6"]
    with pytest.raises(DescriptorError, match="the advance has 1 and 4 numbers, and the tile 2 and 4 blocks"):
        chain(links, tile="128x64", arch="sm90").verify()


@each("name", SWIZZLE_NAMES[1:])
def test_the_text_of_a_tensor_copy_names_the_swizzle_of_its_map(name: str) -> None:
    text = str(TensorCopy(tensor_map("u8", 0, (512, 512), (512,), (32, 16), swizzle=name)))
    operand_name = {"128B_ATOM_32B": "128B_BASE32B"}.get(name, name)  # the option --swizzle accepts it
    assert text == f"box 32x16, swizzle {operand_name}"
