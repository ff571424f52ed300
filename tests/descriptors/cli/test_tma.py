"""The command `descriptors tma`, and the code that `derive --emit` prints."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from each import each
from places import ROOT
from refusals import refusal

from descriptors import derive, tma_plan
from descriptors.cli.command import main
from descriptors.smem.emitters.emit import LANGUAGES, emit

TILE = ["--dtype", "bf16", "--major", "K", "--swizzle", "128B", "--tile", "128x128"]


def changed(option: str, value: str) -> list[str]:
    at = TILE.index(option) + 1
    return [*TILE[:at], value, *TILE[at + 1 :]]


def test_tma_tells_the_tensor_map_and_every_box(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tma", *TILE, "--rank", "2"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    for line in (
        "layout       S<3,3,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))",
        "data type    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 (9)",
        "swizzle      CU_TENSOR_MAP_SWIZZLE_128B (3)",
        "interleave   CU_TENSOR_MAP_INTERLEAVE_NONE (0)",
        "dimensions   K, MN (fastest first)",
        "box          64 x 128, 16384 bytes of shared memory",
        "Coordinates and shared memory count from the start of the tile",
        "The tile must start at a multiple of 1024 bytes of shared memory,",
        "and in the tensor at a multiple of 1 along MN and 8 along K.",
        "     0   0   0              0",
        "     1  64   0          16384",
        "proved: 16384 elements in 2 boxes (copy model: documented, not measured on a Blackwell GPU)",
    ):
        assert line in captured.out
    assert captured.out.isascii()
    assert not [line for line in captured.out.splitlines() if line.rstrip() != line or len(line) > 150]


def test_tma_as_json_holds_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tma", *changed("--tile", "128x128x2"), "--order", "1,0,2", "--rank", "2", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    plan = tma_plan(derive((128, 128, 2), "bf16", "K", "128B", (64, 16), (1, 0, 2)), rank=2)
    assert record["box"] == list(plan.box) == [64, 8]
    assert record["tensor_map"]["swizzle"] == {"name": "CU_TENSOR_MAP_SWIZZLE_128B", "code": 3}
    assert [one["name"] for one in record["tensor_map"]["dimensions"]] == ["K", "MN"]
    assert len(record["boxes"]) == len(plan.boxes) == 64
    last = plan.boxes[-1]
    assert record["boxes"][-1] == {
        "stage": 1,
        "origin": list(last.origin),
        "coordinates": list(last.coordinates),
        "offset_bytes": last.offset_bytes,
    }
    assert record["proved"] == {"elements": 128 * 128 * 2, "boxes": 64, "evidence": record["evidence"]}
    assert record["origin_multiples"] == [1, 8]
    assert (record["alignment_bytes"], record["box_bytes"], record["transaction_bytes"]) == (1024, 1024, 1024)


def test_a_higher_rank_is_told_with_its_condition(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tma", *TILE, "--rank", "3"]) == 0
    printed = capsys.readouterr().out
    assert main(["tma", *TILE]) == 0
    assert capsys.readouterr().out == printed, "the fewest boxes are what is planned where no rank is named"
    assert "dimensions   K, MN, K/64 (fastest first)" in printed
    assert "the extent along K, presented as 2 digits, is a multiple of 64" in printed
    assert "and in the tensor at a multiple of 1 along MN and 64 along K." in printed
    assert "proved: 16384 elements in 1 box (" in printed


def test_a_long_list_of_boxes_is_cut_but_not_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tma", *changed("--tile", "512x128"), "--order", "1,0", "--rank", "2"]) == 0
    printed = capsys.readouterr().out
    assert "128 boxes of 64 x 8" in printed
    assert "... and 96 more (--json has them all)" in printed


@each(
    ("layout", "options", "box"),
    [
        ("(64,64):(64,1)", ["--swizzle", "128B"], "64 x 64"),
        ("S<3,3,3> o 0 o (64,64):(64,1)", [], "64 x 64"),
        ("S<3,3,3> o 0 o (64,64):(1,64)", [], "64 x 64"),
        ("S<3,3,3> o 0 o (64,16):(64,1)", [], "16 x 64"),
        ("S<3,3,3> o 0 o (64,64,4):(64,1,4096)", [], "64 x 64"),
        ("S<3,3,3> o 0 o ((64,16),1,4):((64,1),0,16)", [], "64 x 64"),
    ],
)
def test_a_layout_needs_no_instruction(
    layout: str, options: list[str], box: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A copy does not depend on what one instruction reads; a partitioned layout says it anyway."""
    assert main(["tma", "--dtype", "bf16", "--layout", layout, *options]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert f" of {box}, " in first and any(line.startswith("proved: ") for line in lines)


def test_an_explicit_layout_can_be_planned(capsys: pytest.CaptureFixture[str]) -> None:
    layout = "((8,16),(8,4)):((8,64),(1,1024))"
    assert main(["tma", "--dtype", "bf16", "--swizzle", "none", "--layout", layout, "--mma", "128x16"]) == 0
    assert "box          8 x 128" in capsys.readouterr().out


@each(
    ("arguments", "reason"),
    [
        ([], "--dtype is missing; --dtype: Element type: f16 bf16"),
        (changed("--dtype", "bf17"), "dtype is "),
        (changed("--swizzle", ""), "swizzle is "),
        (changed("--tile", "128x100"), "tile K is 100, which is not a multiple of 64, the K of an atom"),
        (changed("--tile", "9" * 400), "is not of the form 128x128"),
        ([*TILE, "--rank", "1"], "rank is "),
        ([*TILE, "--rank", "6"], "rank is "),
        ([*TILE, "--rank", "two"], "'two' is not a valid integer"),
        ([*TILE, "--mma", "64x100"], "instruction reads a 64x100 bf16 operand"),
        ([*TILE, "--emit", "cuda"], "no such option"),
        (["--dtype", "bf16"], "neither --tile nor --layout is given"),
        (["--dtype", "bf16", "--layout", "nonsense"], "nonsense"),
        (["--dtype", "bf16", "--swizzle", "none", "--major", "K", "--tile", "8"], "is not (MN, K)"),
        (["--dtype", "e2m3", "--swizzle", "64B", "--major", "K", "--tile", "128x64"], "cuTensorMapEncodeTiled"),
        ([*changed("--dtype", "e2m3"), "--arch", "sm90"], "sm90 has no tensor map"),
    ],
)
def test_a_mistake_is_one_line_on_standard_error_and_status_2(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tma", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("descriptors tma: error: ")
    assert reason in refusal(captured.err)
    assert refusal(captured.err)
    assert len(captured.err) < 600


def test_help_shows_examples_and_they_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tma", "--help"]) == 0
    printed = capsys.readouterr().out
    examples = [line.split()[1:] for line in printed.splitlines() if line.strip().startswith("descriptors tma ")]
    assert len(examples) == 3
    for example in examples:
        assert main(example) == 0
        capsys.readouterr()


@pytest.mark.parametrize("language", LANGUAGES)
def test_derive_prints_the_code_of_each_language(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", *TILE, "--mma", "64x16", "--emit", language]) == 0
    assert capsys.readouterr().out == emit(derive((128, 128), "bf16", "K", "128B", (64, 16)), language)


def test_planning_loads_neither_the_dsl_nor_a_symbol() -> None:
    code = (
        "import sys; from descriptors import cli; "
        f"cli.main(['tma', *{TILE!r}]); sys.exit(sorted({{'sympy', 'cutlass', 'rich'}} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("arch", ["sm90", "sm100", "sm107"])
def test_a_plan_has_one_grade_of_evidence(arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--tile", "128x64", "--dtype", "bf16", "--major", "K", "--swizzle", "128B", "--arch", arch]
    assert main(["tma", *options, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data.get("evidence", data["proved"]["evidence"]) == data["proved"]["evidence"]
    assert main(["tma", *options]) == 0
    assert ("measured on a Hopper" in capsys.readouterr().out) == (arch == "sm90")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_code_is_emitted_for_a_base_that_it_would_ignore(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", *TILE, "--mma", "64x16", "--emit", language, "--base", "128"]) == 2
    assert "--base and --emit cannot be combined, because the code takes the address" in capsys.readouterr().err
