"""The rules of fragments against the layouts that CUTLASS's own headers gave, and the laws they obey."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from each import each
from places import ROOT

from layoutalg import Layout, offsets, parse_layout, size
from layoutalg.fragments.fragment import quads, row_pointers, turned_quads
from layoutalg.fragments.fragment_names import fragment, names
from layoutalg.fragments.tiled_mma import make_tiled_mma


@cache
def vectors() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((ROOT / "tests" / "vectors" / "fragments.json").read_text())
    return loaded


def digest(table: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(table, dtype="<u4").tobytes()).hexdigest()


def table_of(layout: Layout) -> np.ndarray:
    """All indices, a row for each thread."""
    threads = int(size(layout[0]))
    return np.array(offsets(layout)).reshape(-1, order="F").reshape(-1, threads).T


#: Our name of each case that CUTLASS calls by its own.
OPERATIONS = {
    "SM120_16x8x64_TN_VS e2m1 ue4m3 vec16": "mma.m16n8k64.{}",
    "SM120_16x8x32_TN_VS e4m3 ue8m0 vec32": "mma.m16n8k32.{}.e4m3",
    "GMMA::CLayout_64x8": "wgmma.m64n8k16.D",
    "GMMA::ALayout_64x32": "wgmma.m64n8k32.A",
    "SM80_16x8x8_F32F16F16F32_TN": "mma.m16n8k8.{}.f16",
    "SM80_16x8x16_F32F16F16F32_TN": "mma.m16n8k16.{}.f16",
    "SM80_16x8x4_F32TF32TF32F32_TN": "mma.m16n8k4.{}.tf32",
    "SM80_16x8x8_F32TF32TF32F32_TN": "mma.m16n8k8.{}.tf32",
    "SM80_16x8x16_S32S8S8S32_TN": "mma.m16n8k16.{}.s8",
    "SM80_16x8x32_S32S8S8S32_TN": "mma.m16n8k32.{}.s8",
    "SM80_16x8x64_S32S4S4S32_TN": "mma.m16n8k64.{}.s4",
    "SM80_8x8x4_F64F64F64F64_TN": "mma.m8n8k4.{}.f64",
    "SM89_16x8x32_F32E4M3E4M3F32_TN": "mma.m16n8k32.{}.e4m3",
    "SM80_16x8x256_S32U1U1S32_TN_ANDPOPC": "mma.m16n8k256.{}.b1",
}


def ours(case: dict[str, Any]) -> Any:
    name = OPERATIONS[case["name"]].format(case["operand"])
    return fragment(name if case["operand"] in "AB" else name.rpartition(".")[0] if name.count(".") == 3 else name)


@each("case", vectors()["registers"]["cases"], ids=lambda case: f"{case['name']} {case['operand']}")
def test_the_operands_of_mma_and_wgmma_are_held_as_in_cutlass(case: dict[str, Any]) -> None:
    one = ours(case)
    assert (one.threads, one.values) == (case["threads"], case["values"])
    mine = table_of(one.layout)
    assert (mine == table_of(parse_layout(case["cute"]))).all()
    rows = one.shape[0]
    assert digest(np.stack([mine.reshape(-1) % rows, mine.reshape(-1) // rows], 1)) == case["sha256_le_u32"]


def in_bits(registers: Layout, rows: int, bits: int) -> np.ndarray:
    """A fragment as CuTe counts ldmatrix: (thread, bit of its registers) to a bit of rows of 128 bits."""
    index = table_of(registers)
    first = (index % rows) * 128 + index // rows * bits
    return (first[..., None] + np.arange(bits)).reshape(len(index), -1)


#: Types as the CuTe DSL calls them.
DSL_TYPES = {"Float4E2M1FN": "e2m1", "Float8E4M3FN": "e4m3", "Float8E5M2": "e5m2"}


def scaled_name(atom: str, mnk: str) -> str:
    """Our name of a block-scaled atom: of the DSL's all words of PTX, of C++'s shape and type."""
    if atom.startswith("sm120"):
        _, *sparse, shape, _ = atom.split(".")
        m, n, k = shape.split("x")
        packed = int(k) == (128 if sparse else 64)
        return f"mma.{'sp.' * bool(sparse)}m{m}n{n}k{k}.block_scale.{'e2m1' if packed else 'e4m3'}"
    kind, *types, vector, scale = atom.split()
    a, b = (DSL_TYPES.get(one, one) for one in types)
    shape = "m{}n{}k{}".format(*re.findall(r"\d+", mnk))
    return f"mma.sync.aligned.{shape}.row.col.kind::{kind}.block_scale.scale_vec::{vector}.f32.{a}.{b}.f32.{scale}"


@each("row", vectors()["block_scaled"]["rows"], ids=lambda row: " ".join(row[1:5]))
def test_block_scaled_operands_are_held_as_nvidia_has_them(row: list[str]) -> None:
    _, atom, mnk, tiling, operand, layout = row
    name = scaled_name(atom, mnk)
    if operand == "E":
        mine = fragment(f"{name.partition('.block')[0]}.E").layout
    elif tiling == "atom":
        mine = make_tiled_mma(name).tv_layout(operand)  # type: ignore[arg-type]
    else:
        warps, across = map(int, tiling.split("x"))
        permutation = (16 * warps, Layout((8, across, 2), (1, 16, 8)), None)
        mine = make_tiled_mma(name, (warps, across, 1), permutation).tv_layout(operand)  # type: ignore[arg-type]
    theirs = table_of(parse_layout(layout))
    assert table_of(mine).shape == theirs.shape
    assert (table_of(mine) == theirs).all()


def test_a_sparse_a_holds_half_of_what_its_atom_has() -> None:
    """Two of four elements are stored, in pairs of 4 bits and one by one: the n-th stored of a register is one of its
    n-th groups with zeros."""
    for name in ("mma.sp.m16n8k32.f16", "mma.sp.m16n8k64.e4m3", "mma.sp.m16n8k128.e2m1"):
        head, dtype = name.rsplit(".", 1)
        stored, whole = fragment(f"{head}.A.{dtype}"), make_tiled_mma(name).fragment("A")
        for thread in range(32):
            elements = [stored.element(thread, value) for value in range(stored.values)]
            twice = [whole.element(thread, value) for value in range(whole.values)]
            assert elements == [(m, k // 2) for m, k in twice[::2]]


def test_metadata_of_a_sparse_wgmma_are_held_as_in_cutlass() -> None:
    """The one published layout that was read off the traits of CUTLASS 4.2.0 here, of wgmma.sp in tf32."""
    assert str(fragment("wgmma.sp.m64n8k16.E.tf32").layout) == "((2,2,8,4),(8,2)):((512,0,1,16),(64,8))"
    assert fragment("wgmma.mma_async.sp.sync.aligned.m64n8k32.E.bf16").element(4 * 3 + 1, 16 + 5) == (8 + 3, 16 + 5)
    assert fragment("wgmma.sp.m64n8k64.E").element(32 + 4 * 3 + 3, 5) == (16 + 8 + 3, 32 + 5)
    assert fragment("wgmma.sp.m64n8k64.A.s8").layout == fragment("wgmma.m64n8k32.A.s8").layout


ALL_MATRICES = vectors()["matrices"]["cases"]
MATRICES = [case for case in ALL_MATRICES if "_U8x" not in case["name"]]
#: Registers of matrices of bytes, (thread, bit) to the bit of the rows: CUTLASS copy_traits_sm100.hpp, version 4.2.0.
BYTES = {
    "SM100_U8x8_LDSM_T": "((4,8),(8,2,2,2)):((256,8),(1,128,64,1024))",
    "SM100_U8x16_LDSM_T": "((4,8),(8,2,2,2,2)):((256,8),(1,128,64,1024,2048))",
    "SM100_U8x4_STSM_T": "((4,8),(8,2,2)):((256,8),(1,128,64))",
    "SM100_U8x8_STSM_T": "((4,8),(8,2,2,2)):((256,8),(1,128,64,1024))",
    "SM100_U8x16_STSM_T": "((4,8),(8,2,2,4)):((256,8),(1,128,64,1024))",
}
POINTED = {case["name"]: case for case in ALL_MATRICES if "_U8x" in case["name"]}


@each("name", BYTES)
def test_matrices_of_bytes_are_moved_as_in_cutlass(name: str) -> None:
    """CUTLASS permutes rows and bytes around ``ldmatrix.m16n16``, so that what it loads is what stmatrix stores."""
    head, height, word = ("ldmatrix", 16, "m16n16") if "LDSM" in name else ("stmatrix", 8, "m16n8")
    count = int(re.findall(r"_U8x(\d+)_", name)[0]) // (8 if head == "ldmatrix" else 4)
    one = fragment(f"{head}.{word}.x{count}.trans.b8.{height * count}x16")
    mine = in_bits(one.layout, one.shape[0], 8)
    if head == "ldmatrix":
        # Of the number of their byte, bit 1 says which register, bits 0 and 2 are of ours which byte of it.
        byte = np.arange(8 * count)
        ours = byte % 2 + byte // 4 % 2 * 2 + byte // 2 % 2 * 4 + byte // 8 * 8
        bits = mine.reshape(32, -1, 8)[:, ours].reshape(32, -1)
        mine = table_of(parse_layout(POINTED[name]["cute"]))[bits // 128, 0] + bits % 128
    assert (mine == table_of(parse_layout(BYTES[name]))).all()


@each("name", POINTED)
def test_threads_point_at_every_row_of_matrices_of_bytes(name: str) -> None:
    theirs = table_of(parse_layout(POINTED[name]["cute"]))
    assert digest(theirs) == POINTED[name]["sha256_le_u32"]
    height, count = (16, int("x16" in name) + 1) if "LDSM" in name else (8, int("x8" in name) + 1)
    rows = in_bits(row_pointers(count, 1, 16, height), height * count, 8)
    assert sorted(theirs[: len(rows), 0].tolist()) == rows[:, 0].tolist()


@each("case", MATRICES, ids=lambda case: f"{case['name']} {case['operand']}")
def test_ldmatrix_and_stmatrix_move_what_they_move_in_cutlass(case: dict[str, Any]) -> None:
    registers, turned = re.findall(r"SM\d+_U\d+x(\d)_(?:LD|ST)SM_(\w)", case["name"])[0]
    count = int(registers) if turned == "N" else int(registers) // 2
    in_registers = (case["operand"] == "DST") == ("LDSM" in case["name"])
    if in_registers:
        head = "ldmatrix" if "LDSM" in case["name"] else "stmatrix"
        one = fragment(f"{head}.x{count}{'.trans' * (turned == 'T')}.{8 * count}x8")
        mine = in_bits(one.layout, one.shape[0], 16)
    else:  # the rows that threads point at; of x1 and x2 the other threads repeat them, and are not looked at
        mine = in_bits(row_pointers(count, 1, 8), 8 * count, 16)
    theirs = table_of(parse_layout(case["cute"]))
    assert (mine == theirs[: len(mine)]).all()
    assert digest(theirs) == case["sha256_le_u32"]


@each("case", vectors()["tensor_memory"]["cases"], ids=lambda case: case["name"])
def test_tcgen05_ld_and_st_reach_the_cells_they_reach_in_cutlass(case: dict[str, Any]) -> None:
    words = case["ptx"].replace(".red", "").replace(".max.f32", "")  # a reduction loads the same, and one register more
    one = fragment(words)
    index, lanes = table_of(one.layout), one.shape[0]
    lane, column, low = index % lanes, index // lanes, np.zeros_like(index)
    if "pack" not in case["ptx"]:  # a value is a cell, which the table has as two halves
        lane, column = (np.repeat(part, 2, axis=1) for part in (lane, column))
        low = np.tile([0, 16], (len(index), one.values))
    assert (one.threads, lane.size) == (case["threads"], case["count"])
    assert digest(np.stack([part.reshape(-1) for part in (lane, column, low)], 1)) == case["sha256_le_u32"]


# Laws -----------------------------------------------------------------------------------------------------------------

SOME = [name for number, name in enumerate(names()) if number % 7 == 0 or not name.startswith("wgmma")]
#: In how many threads each bit of metadata is, where more than one selector may ask for it.
TIMES_OF_METADATA = {"m16n8k8": 4, "m16n8k16 16": 4, "m16n8k16 32": 2, "m16n8k32": 2, "m16n8k64 4": 2}
WIDTHS = {"tf32": "32", "f16": "16", "bf16": "16", "s4": "4", "u4": "4"}


@each("name", SOME)
def test_every_element_of_the_tile_is_held_as_often_as_the_rule_says(name: str) -> None:
    one = fragment(name)
    rows, columns = one.shape
    words = name.replace(".sp.", ".").split(".")
    times = {"SFA": 2, "SFB": 4}.get(words[2] if len(words) > 2 else "", 1)
    if ".sp." in name and words[2] == "E":  # every selector finds them in lanes of its own
        shape, width = words[1], WIDTHS.get(words[-1], "8")
        of_warp = TIMES_OF_METADATA.get(shape, TIMES_OF_METADATA.get(f"{shape} {width}", 1))
        times = of_warp if words[0] == "mma" else 1 + (not shape.endswith("k64"))
    times_held = Counter(table_of(one.layout).reshape(-1).tolist())
    if name.startswith("tcgen05") and "pack" in name:
        assert set(times_held.values()) == {1}
        assert len(times_held) == rows * columns
    else:
        assert times_held == dict.fromkeys(range(rows * columns), times)


@pytest.mark.parametrize(("down", "across"), [(1, 1), (2, 1), (1, 4), (2, 2)])
def test_trans_gives_each_thread_the_transposed_matrix(down: int, across: int) -> None:
    plain, turned = quads(down, across, 2), turned_quads(down, across)
    rows = 8 * down
    for thread in range(32):
        for value in range(2 * down * across):
            row, column = plain(thread, value) % rows, plain(thread, value) // rows
            other = turned(thread, value)
            assert (other % rows % 8, other // rows % 8) == (column % 8, row % 8)
            assert (other % rows // 8, other // rows // 8) == (row // 8, column // 8)


def test_ldmatrix_brings_what_mma_takes() -> None:
    assert fragment("ldmatrix.x4").layout == fragment("mma.m16n8k16.A.bf16").layout
    assert fragment("ldmatrix.x4.s8").layout == fragment("mma.m16n8k32.A.s8").layout
    assert fragment("ldmatrix.x4.tf32").layout == fragment("mma.m16n8k8.A.tf32").layout
    assert fragment("stmatrix.x2").layout == fragment("mma.m16n8k8.C").layout
    assert fragment("ldmatrix.x2.8x16").layout == fragment("mma.m16n8k16.B.f16").layout


def test_ldmatrix_trans_brings_b_of_a_tile_whose_rows_run_along_k() -> None:
    """Memory holds k x n, rows of 8 n; the instruction wants n x k."""
    brought, operand = fragment("ldmatrix.x2.trans"), fragment("mma.m16n8k16.B.f16")
    for thread in range(32):
        for value in range(4):
            k, n = brought.element(thread, value)
            assert operand.element(thread, value) == (n, k)


def test_tcgen05_ld_16x256b_brings_the_accumulators_of_mma() -> None:
    assert fragment("tcgen05.ld.16x256b.x1").layout == fragment("mma.m16n8k16.C").layout
    assert fragment("tcgen05.ld.16x128b.x1").layout == fragment("mma.m16n8k4.A.tf32").layout


def test_a_warp_of_wgmma_holds_what_mma_holds() -> None:
    whole, piece = fragment("wgmma.m64n64k16.D"), fragment("mma.m16n8k16.C")
    for thread in range(128):
        for value in range(whole.values):
            row, column = piece.element(thread % 32, value % 4)
            assert whole.element(thread, value) == (row + 16 * (thread // 32), column + 8 * (value // 4))
