"""Values of options that contradict one another, or lie out of range, are refused with the value and what is legal."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refusal

from descriptors.cli.command import main
from descriptors.cli.mcp import call

SCALED = "tmem plan --a e4m3 --m 128 --n 256 --scale-dtype ue8m0"
BLOCK = "tmem block-scaled --m 128 --n 128"
DRAW = "draw tile --dtype bf16 --major K --swizzle 128B --mma 64x16"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("plan wgmma.m64n128k16 bf16 --tile 128x128x64 --arch sm100", "sm100 has no wgmma"),
        ("plan wgmma.m64n128k16 bf16 --tile 128x128x64 --arch sm80", "sm80 has no wgmma"),
        ("plan wgmma.m64n128k16 bf16 --tile 128x128x64 --cta-group 2", "cta_group is 2, but must be 1"),
        ("plan mma.sp.m16n8k16 bf16 --tile 128x128x32", "sparse mma.sync instructions are not supported"),
        ("shapes wgmma.m64n128k16 --arch sm100", "sm100 has no wgmma"),
        ("shapes mma.m16n8k16", "mma.sync reads registers"),
        ("shapes tcgen05.kind::tf32.m128n128k8.f32.bf16.bf16", "no instruction with"),
        ("plan m64n128k16 bf16 --tile 128x128x64 --stages 0", "stages is 0, but the minimum is 1"),
        ("plan m64n128k16 bf16 --tile 128x128x64 --smem 0", "shared memory is 0, but the minimum is 1024"),
        ("plan m64n128k16 bf16 --tile 128x128x64 --warpgroups 0", "warpgroups is 0, but the minimum is 1"),
        ("plan mma.m16n8k16 bf16 --tile 128x128x32 --stages 0", "stages is 0, but the minimum is 1"),
        ("plan mma.m16n8k16 bf16 --tile 128x128x32 --smem 0", "shared memory is 0, but the minimum is 1024"),
        ("plan bf16 --tile 128x128x64 --stages 0", "stages is 0, but the minimum is 1"),
        ("plan bf16 --problem 3000x3000x3000 --smem 0", "--smem cannot be combined with"),
        ("plan bf16 --problem 3000x3000x3000 --stages 0", "--stages cannot be combined with"),
        ("plan bf16 --problem 3000x3000x3000 --warpgroups 0", "--warpgroups cannot be combined with"),
        (
            "plan m128n128k64 e2m1 --tile 128x128x256 --scale-vector 0",
            "has no scale factors any by 0; supported: ue8m0 by 32",
        ),
        ("idesc --a e2m1 --m 128 --n 128 --scale-vector 0", "are ue8m0 by 0, but must be ue8m0 by 32"),
        ("idesc --a bf16 --m 128 --n 128 --scale-vector 0", "kind f16 has no scale factors"),
        (
            "tmem plan --a e2m1 --m 128 --n 128 --k 128 --scale-vector 0",
            "has no scale factors any type by 0; supported: ue8m0 by 32",
        ),
        (f"{SCALED} --k 33", "K is 33, which is not a multiple of the instruction's K (32)"),
        (f"{SCALED} --k 100", "K is 100, which is not a multiple of the instruction's K (32)"),
        ("tmem plan --a bf16 --m 128 --n 64 --sparse --k 48", "not a multiple of the instruction's K (32)"),
        ("tmem accumulator --m 128 --n 40 --d s32", "N is 40, but must be 8 or 16..256 step 16; for sm100 i8"),
        ("tmem ld --m 128 --n 40 --d s32", "N is 40, but must be 8 or 16..256 step 16; for sm100 i8"),
        ("tmem accumulator --m 128 --n 64 --d f16 --kind tf32", "dtype is f16, which kind tf32 does not have"),
        ("tmem accumulator --m 128 --n 64 --d f16 --kind i8", "dtype is f16, which kind i8 does not have"),
        ("tmem accumulator --m 128 --n 64 --d f32 --kind i8", "dtype is f32, which kind i8 does not have"),
        ("tmem accumulator --m 128 --n 64 --d s32 --arch sm103", "dtype is s32, which sm103 does not have"),
        (f"{BLOCK} --a e2m1 --k 128 --step 0", "K of the instruction is 0"),
        (
            f"{BLOCK} --a e2m1 --k 128 --scale-vector 0",
            "kind mxf4 has no scale factors any by 0; supported: ue8m0 by 32",
        ),
        (
            f"{BLOCK} --a e2m1 --k 768 --step 96 --arch sm110",
            "sm110 has no instruction with K 96, only sm_103a and sm_107a have",
        ),
        (f"{BLOCK} --a e4m3 --k 768 --step 96 --arch sm110", "kind mxf8f6f4 has K 32"),
        (f"{DRAW} --tile 128x128 --stage 1", "the tile has no stage 1; supported: 0"),
        (f"{DRAW} --tile 64x64x2 --stage 2", "the tile has no stage 2; supported: 0 to 1"),
        (f"{DRAW.replace('tile', 'banks', 1)} --tile 128x128 --number 99", "--number needs --access"),
        ("plan m64n128k256 b1 --tile 64x128x256", "No plan of a b1 product is supported"),
        ("atlas rows.jsonl --tile 64x60 --dtype bf16", "no tile is a multiple of an instruction's extents"),
        ("formulas --major K --swizzle 128B_BASE32B", "supported with swizzle 128B_BASE32B: MN-major with 32 bits"),
        ("formulas --major MN --swizzle 128B_BASE32B --bits 16", "MN-major with 32 bits"),
        ("check --json --sarif kernel.ptx", "--json and --sarif cannot be combined"),
        ("plan m64n128k16 bf16 --tile 128x128x64 --emit header --name 9x", "name '9x' is not an identifier"),
    ],
)
def test_a_value_is_refused_with_what_is_legal(
    command: str, reason: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 2
    captured = capsys.readouterr()
    assert reason in (captured.out or refusal(captured.err))
    assert not list(tmp_path.iterdir())


def test_zero_is_an_argument_of_a_tool_too() -> None:
    answer = call("plan", {"instruction_and_dtype": ["m64n128k16", "bf16"], "tile": "128x128x64", "stages": 0})
    assert (answer.verdict, "stages is 0, but the minimum is 1" in answer.text) == ("refused", True)


@pytest.mark.parametrize("name", ["wgmma.m64n128k16", "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"])
def test_the_assumed_architecture_is_that_of_the_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", name, "bf16", "--tile", "128x128x64"]) == 0
    assert f"sm90, assumed, by the instruction {name}" in capsys.readouterr().out


@pytest.mark.parametrize(("tile", "offered"), [("100000x100000", False), ("60x64", True)])
def test_padding_is_offered_where_it_finds_something(
    tile: str, offered: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "--tile", tile, "--dtype", "bf16", "--mma", "64x16"]) == 1
    assert ("--pad would round the tile up" in capsys.readouterr().out) == offered


def test_a_file_without_sections_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty.toml"
    path.write_text("")
    for options in ([], ["--init"]):
        assert main(["check", str(path), *options]) == 2
        assert "the file has no section [operand.NAME] or [plan.NAME]" in capsys.readouterr().err


def test_a_plan_of_warps_is_checked_as_any_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "warps.toml"
    path.write_text('[plan.p]\ninstruction = "mma.m16n8k16"\ndtype = "bf16"\ntile = "128x128x32"\nwarps = "2x2"\n')
    assert main(["check", str(path), "--init"]) == 0
    path.write_text(path.read_text() + capsys.readouterr().out)
    assert main(["check", str(path)]) == 0
    assert "6 values hold, of 1 section" in capsys.readouterr().out
    assert main(["check", str(path), "--init"]) == 0
    assert capsys.readouterr().out == "# every section has a table expect\n"
    path.write_text(path.read_text().replace("warps = [2, 2]", "warps = [4, 1]"))
    assert main(["check", str(path)]) == 1
    path.write_text('[plan.p]\ninstruction = "mma.m16n8k16"\ndtype = "bf16"\ntile = "64x64x32"\nsplits = 2\n')
    assert main(["check", str(path)]) == 2
    assert "plan.p.splits is not an argument of mma_plan" in capsys.readouterr().err
