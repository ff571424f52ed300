"""A dump of Triton, put to the command as a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from layoutalg.cli.command import main

DUMP = """// -----// IR Dump //----- //
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @kernel(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %1 = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %2 = ttg.memdesc_index %1[%c] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> ->
      !ttg.memdesc<32x48xf16, #shared, #smem>
"""


def test_every_tensor_of_a_dump_is_answered_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kernel.ttgir"
    path.write_text(DUMP, encoding="utf-8")
    assert main(["eval", "--file", str(path)]) == 2
    answer = capsys.readouterr()
    assert answer.out.splitlines() == [
        "slice of Triton, 64xi32 in registers: ((8,16),4):((0,1),16)",
        "nvmma_shared of Triton, 3x64x64xf16 in shared memory: S<3,3,3> o 0 o (64,64,3):(64,1,4096)",
    ]
    assert "memdesc<32x48xf16, #shared, #smem>: error: nvmma_shared" in answer.err
    assert main(["eval", "--file", str(path), "--json"]) == 2
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row.get("encoding", "refused") for row in rows] == ["slice", "nvmma_shared", "refused"]


def test_lines_that_are_no_dump_keep_their_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lines.txt"
    path.write_text(
        "\n# a comment\n(4,8):(8,1)\n(4,\n#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, "
        "order = [1, 0]}> 4x4\n",
        encoding="utf-8",
    )
    assert main(["eval", "--file", str(path)]) == 2
    answer = capsys.readouterr()
    assert answer.out.splitlines() == ["(4,8):(8,1)", "(4,4):(4,1)"] and "line 4" in answer.err


def test_a_print_says_the_bytes_of_an_element(capsys: pytest.CaptureFixture[str]) -> None:
    shared = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>"
    tile = f"!ttg.memdesc<64x64xf16, {shared}, #smem>"
    threads = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"
    assert main(["banks", tile, "--access", f"{threads} 64x64,store"]) == 0
    assert "16 store accesses of a warp: 64 wavefronts, 0 of them" in capsys.readouterr().out
    assert main(["banks", tile, "--access", f"{threads} 32x64@2B"]) == 0
    assert "128 load accesses" in capsys.readouterr().out
    assert main(["banks", "(64,64):(64,1)", "--access", f"{threads} 64x64"]) == 2
    assert "--element-bytes is missing" in capsys.readouterr().err
    assert main(["draw", tile.replace("64x64", "8x64"), "--colour-by", "bank"]) == 0


def test_a_tiled_copy_is_an_access_and_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    copy = """Tiled Copy
  Tiler MN:        (16:1,64:1)
  TV Layout tiled: ((8,16),8):((128,1),16)
Copy Atom
  ThrID:           1:0
  TV Layout Src:   (1,8):(0,1)
  TV Layout Dst:   (1,8):(0,1)
  Value type:      f16"""
    assert main(["banks", "S<3,3,3> o 0 o (64,64):(64,1)", "--element-bytes", "2", "--access", copy]) == 0
    assert "16 load accesses of a warp: 64 wavefronts, 0 of them" in capsys.readouterr().out
    assert main(["draw", copy]) == 0
    assert "T122 V7" in capsys.readouterr().out
    assert main(["eval", copy]) == 0
    assert capsys.readouterr().out.startswith("a tiled copy: 128 threads")


COPY = "make_tiled_copy_tv(universal.128, (16,8):(8,1), (1,8):(8,1))"


def test_a_tiled_copy_is_an_operand_and_its_json_has_threads_tile_and_layouts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["eval", f"partition_S({COPY}, (64,64):(64,1), 5)"]) == 0
    assert capsys.readouterr().out == "(((8,1),4,1):((1,0),1024,0),40)\n"
    assert main(["eval", COPY, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["threads"], answer["tiler"]) == (128, ["16", "64"])
    assert answer["layout_src_tv"] == "((8,16),(8,1)):((128,1),(16,0))"
    assert main(["eval", "make_tiled_mma(mma.m16n8k16.f16, (2,2,1))", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tile_mnk"] == [32, 16, 16]
    assert main(["banks", "S<3,3,3> o 0 o (64,64):(64,1)", "--element-bytes", "2", "--access", COPY]) == 0
    assert "64 wavefronts, 0 of them" in capsys.readouterr().out


def test_prints_in_a_file_are_answered_among_its_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    atom = "Copy_Atom\n  ThrID: _32:_1\n  ValLayoutSrc: (_32,_8):(_8,_1)\n  ValLayoutDst: (_32,(_2,_4)):(_2,(_1,_64))\n"
    path = tmp_path / "log.txt"
    path.write_text(f"(4,8):(8,1)\nload:\n{atom}\nstore: {atom}8\n", encoding="utf-8")
    assert main(["eval", "--file", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith("   ")] == [
        "(4,8):(8,1)",
        "load: a copy atom: 32 threads",
        "store: a copy atom: 32 threads",
        "8",
    ]
    assert main(["eval", "--file", str(path), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["line"] for row in rows] == [1, 2, 8, 12] and rows[1]["label"] == "load"


def test_copies_of_one_tile_are_compared_by_their_elements(capsys: pytest.CaptureFixture[str]) -> None:
    by_atom = COPY.replace("universal.128", "universal.64")
    assert main(["same", COPY, by_atom]) == 0
    assert main(["same", COPY, COPY.replace("(8,1), (1,8)", "(1,16), (1,8)")]) == 1
    assert "S: differ at index 1" in capsys.readouterr().out
