"""The command `descriptors plan`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from refusals import refusal, refuses

from descriptors import plan
from descriptors.cli.command import main

HOPPER = "plan m64n128k16 bf16 --arch sm90 --tile 128x128x64 --stages 4 --b-major MN"


def test_words_steps_and_places_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(HOPPER.split()) == 0
    short = capsys.readouterr().out.splitlines()
    one = plan("m64n128k16", "bf16", tile=(128, 128, 64), stages=4, b_major="MN")
    assert len(short) <= 14 and short[0].startswith("m64n128k16, bf16 by bf16 into f32 (sm90)")
    for side in (one.a, one.b):
        at = next(i for i, line in enumerate(short) if line.split()[0] == side.matrix)
        assert short[at].split()[1] == f"{side.word:#018x}" and f"transpose bit {side.transposed}" in short[at]
        assert f"{', '.join(map(str, side.k_steps))} for K block" in short[at + 1]
        assert f"{', '.join(map(str, side.stage_steps))} for stage" in short[at + 1]
    assert any(f"{one.transaction_bytes} bytes a stage, for expect_tx" in line for line in short)
    assert short[-2].startswith("proved: ") and short[-1].startswith("more: --steps")
    assert main([*HOPPER.split(), "--steps"]) == 0
    assert capsys.readouterr().out.splitlines()[: len(short) - 2] == short[:-2]


def test_a_plan_is_told_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*HOPPER.split(), "--steps"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    for line in (
        "%b_desc, %p, 1, 1, 0, 1;",
        "0, 2, 4, 6 for K block 0 to 3",
        "0, 128, 256, 384 for K block 0 to 3",
        "imm-trans-b of wgmma.mma_async = 1",
        "globalDim = {N, K}, globalStrides = {N * 2}, boxDim = {64, 64}",
        "box at (N, K) + (64, 0) to 73728 + 16384 s",
        "registers  64 a thread, of 255",
        "an 8th stage needs 29824 bytes more",
        "mbarrier.arrive.expect_tx full[s], 32768",
        "proved: 128x128x64 product, 4 stages, 16384 accumulators (models: measured on a Hopper GPU)",
    ):
        assert line in captured.out
    assert captured.out.isascii()
    assert not [line for line in captured.out.splitlines() if line.rstrip() != line or len(line) > 150]


def test_a_plan_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*HOPPER.split(), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["operands"]["B"]["word"] == "0x4000004002001000"
    assert printed["instruction"]["ptx"].count("%d") == 64 and printed["proof"]["ok"] is True


@pytest.mark.parametrize(
    "line",
    [
        "plan m64n100k16 bf16 --tile 64x100x64",
        "plan m64n128k16 bf16 --tile 128x64x128",
        "plan m64n128k16 bf16 --tile 128x128",
        "plan m64n128k16 bf16 --tile 128x128x64 --stages 8",
        "plan m64n128k16 bf17 --tile 128x128x64",
        "plan m64n128k16 bf16",
        "plan bf16 m64n128k16 --tile 128x128x64",
        "plan m64n128k16 bf16 --tile 128x128x64 --a-swizzle 256B",
    ],
)
def test_bad_input_is_one_line_and_status_2(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and refusal(captured.err)


WARPS = "plan mma.m16n8k16 bf16 --tile 64x64x32 --b-major MN"


def test_a_main_loop_of_warps(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main([*WARPS.split(), "--draw", str(tmp_path / "loop.svg")]) == 0
    out = capsys.readouterr().out
    assert "sm80, assumed" in out and "ldmatrix.x4.trans" in out and "\nproved: 64x64x32 product, 4 stages" in out
    assert (tmp_path / "loop.svg").read_text().startswith("<svg")
    assert main([*WARPS.split(), "--arch", "sm80", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["warps"] == [2, 2] and printed["operands"]["B"]["conflicts"] == {"copies": 0, "loads": 0}
    assert main([*WARPS.split(), "--arch", "sm80", "--emit", "cuda", "--name", "loop"]) == 0
    assert "loop(const TypeA* a" in capsys.readouterr().out


def test_an_architecture_of_warps_has_one_instruction_of_a_type(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("plan e2m1 --tile 64x64x128 --arch sm120 --scale-vector 16".split()) == 0
    assert "kind::mxf4nvf4.block_scale.scale_vec::4X" in capsys.readouterr().out


@pytest.mark.parametrize(
    "more, way",
    [
        ("--a-swizzle 64B", "--a-swizzle cannot be combined with an INSTRUCTION of mma.sync"),
        ("--cluster 2x1", "--cluster cannot be combined with an INSTRUCTION of mma.sync"),
        ("--emit header", "cannot be written as header; supported: cuda"),
        ("--emit cuda --json", "--emit and --json cannot be combined"),
        ("--name x", "--name needs --emit"),
    ],
)
def test_what_a_loop_of_warps_has_not_is_refused(more: str, way: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WARPS.split(), *more.split()]) == 2
    said = capsys.readouterr()
    assert way in (said.out or refusal(said.err))


@pytest.mark.parametrize(("line", "option"), [
    ("bf16 --problem 512x512x512", "--smem 100000"),
    ("bf16 --problem 512x512x512", "--legality off"),
    ("mma.m16n8k16 bf16 --tile 64x64x32", "--legality off"),
    ("bf16 --tile 128x128x64", "--steps"),
    ("m64n128k16 bf16 --tile 128x128x64", "--top 2"),
])  # fmt: skip
def test_an_option_that_would_be_ignored_is_refused(line: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(f"plan {line} {option}".split()) == 2
    assert f"{option.split()[0]} cannot be combined with" in capsys.readouterr().err


def test_warps_are_of_mma_sync(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*HOPPER.split(), "--warps", "2x2"]) == 2
    assert (
        "--warps cannot be combined with an INSTRUCTION of wgmma or tcgen05, such as m64n128k16; it needs an "
        "INSTRUCTION of mma.sync" in refusal(capsys.readouterr().err)
    )


CONVOLUTION = "plan m64n8k16 bf16 --tile 64x8x32 --conv 2x9x7x24 --filters 12x3x2 --stride 2x1 --padding 1"


def test_a_convolution_is_told_with_its_maps_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(CONVOLUTION.split()) == 0
    out = capsys.readouterr().out
    assert "2x9x7x24 by 12 filters of 3x2, stride 2x1, padding 1x1: 2x5x8x12" in out
    assert "lower=-1,-1 upper=0,-1 channels=32 pixels=64 element_strides=1x1x2x1" in out
    assert "rows of all tiles and taps are the convolution's" in out
    assert main([*CONVOLUTION.split(), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["convolution"]["output"] == [2, 5, 8, 12] and len(made["convolution"]["steps"]) == 6
    step = {"tap": [2, 1], "pixels": [0, -1, -1, 0], "offsets": [1, 2], "filters": [0, 5, 0]}
    assert made["convolution"]["steps"][5] == step
    assert made["operands"]["A"]["tensor_map"]["pixelBoxLowerCorner"] == "-1,-1"
    assert made["proof"]["gathered"].endswith("of all tiles and taps are the convolution's")


def test_a_convolution_is_proposed_with_the_command_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    given = "--conv 2x9x7x24 --filters 12x3x2 --stride 2x1 --padding 1x1"
    assert main(f"plan bf16 --tile 64x8x32 --arch sm90 {given} --top 1".split()) == 0
    out = capsys.readouterr().out.replace("\\\n", " ")  # one line of the shell
    line = " ".join(next(line for line in out.splitlines() if "descriptors plan" in line).split())
    assert given in line and main(line.split()[1:]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--conv 2x9x7x24", "--conv needs --filters KxRxS"),
        ("--filters 12x3x2", "--filters needs --conv NxHxWxC"),
        ("--padding 1", "--padding needs --conv NxHxWxC"),
        ("--conv 2x9x7 --filters 12x3x2", "the activations are (2, 9, 7), not N x H x W x C"),
        ("--conv 2x9x7x24 --filters 12x3x2 --stride 9", "elementStrides[1] is 9, which is not in [1, 8]"),
        ("--conv 2x9x7x24 --filters 12x3x2 --dilation 0", "the dilation is 0, but the minimum is 1"),
        ("--conv 2x9xax24 --filters 12x3x2", "is not of the form 128x128"),
    ],
)
def test_half_a_convolution_is_refused(options: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(f"plan m64n8k16 bf16 --tile 64x8x32 {options}".split()) == 2
    captured = capsys.readouterr()
    assert refuses(captured.err, message) and not captured.out


def test_a_convolution_goes_not_with_a_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("plan bf16 --problem 512x512x512 --conv 2x9x7x24 --filters 12x3x2".split()) == 2
    assert "--conv and --problem cannot be combined" in capsys.readouterr().err


def test_the_tile_of_a_convolution_is_chosen_and_its_command_is_typed(capsys: pytest.CaptureFixture[str]) -> None:
    asked = "plan bf16 --conv 2x9x7x24 --filters 12x3x2 --padding 1 --arch sm90"
    assert main(f"{asked} --top 1".split()) == 0
    typed = " ".join(capsys.readouterr().out.replace("\\\n", " ").splitlines()[-1].split())
    assert main(typed.split()[1:]) == 0
    written = capsys.readouterr().out
    assert main(f"{asked} --emit cuda".split()) == 0 and capsys.readouterr().out == written
    assert main(asked.replace("bf16", "m64n16k16 bf16").split()) == 2
    assert "use --tile MxNxK, or leave out INSTRUCTION" in capsys.readouterr().err


@pytest.mark.parametrize(("option", "instead"), [
    ("--sparse", "use an INSTRUCTION and a --tile with --sparse"),
    ("--scale-vector 128", "use an INSTRUCTION and a --tile with --scale-vector"),
    ("--steps", "use --steps with one of the commands that plan prints"),
    ("--stages 2", "use --stages with one of the commands that plan prints"),
])  # fmt: skip
def test_what_a_choice_of_tiles_does_not_take_has_another_way(
    option: str, instead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(f"plan e4m3 --problem 512x512x512 {option}".split()) == 2
    assert instead in capsys.readouterr().err


def test_a_tile_and_a_problem_are_refused_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("plan bf16 --problem 3000x3000x3000 --tile 128x128x64".split()) == 2
    assert refusal(capsys.readouterr().err).startswith("--tile and --problem cannot be combined; use --tile for")
