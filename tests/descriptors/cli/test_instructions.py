"""The commands idesc and instructions: words, fields and tables, for a person and as JSON."""

from __future__ import annotations

import json
import re
from typing import Any

import click
import pytest
from click.testing import CliRunner
from each import each
from refusals import refusal

from descriptors.cli.command import main
from descriptors.cli.instructions import commands
from descriptors.errors import DescriptorError
from descriptors.oracle import available
from descriptors.oracle.instructions import InstructionWord
from descriptors.smem.instructions import tables as shapes
from descriptors.smem.instructions.idesc import idesc
from descriptors.smem.instructions.rules import kind_row


def run(*arguments: str) -> Any:
    group = click.Group("descriptors", commands={str(command.name): command for command in commands})
    return CliRunner().invoke(group, arguments)


def test_the_command_builds_a_word_and_names_its_fields() -> None:
    done = run("idesc", "--a", "bf16", "--m", "128", "--n", "256", "--b-major", "mn")
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[0] == "0x08410490  sm100 instruction descriptor of kind f16"
    assert [line.split() for line in done.output.splitlines() if " n " in line] == [["[17,23)", "n", "256"]]


def test_the_flags_of_the_command_are_those_of_the_function() -> None:
    flags = ("--negate-a", "--negate-b", "--sparse", "--ws")
    done = run("idesc", "--a", "f16", "--m", "32", "--n", "64", *flags, "--json")
    assert done.exit_code == 0, done.output
    same = idesc("f16", m=32, n=64, negate_a=True, negate_b=True, sparse=True, ws=True)
    assert int(json.loads(done.output)["word"], 16) == same
    saturated = run("idesc", "--a", "s8", "--m", "128", "--n", "64", "--saturate", "--json")
    assert int(json.loads(saturated.output)["word"], 16) == idesc("s8", m=128, n=64, saturate=True)


def test_the_command_reads_a_word_as_json() -> None:
    record = json.loads(run("decode-idesc", "0x10401480", "--kind", "mxf4nvf4", "--json").output)
    assert record["fields"]["m"] == 256 and record["fields"]["scale_dtype"] == "ue4m3"
    assert record["unknown_bits"] == "0x00001000" and record["warnings"]


@pytest.mark.parametrize(
    "arguments", [("--arch", "sm100", "--kind", "f16"), ("--arch", "sm90"), ("--kind", "mxf4nvf4")]
)
def test_the_command_shows_the_tables_and_every_row_in_json(arguments: tuple[str, ...]) -> None:
    done = run("shapes", *arguments)
    assert done.exit_code == 0, done.output
    assert all(len(line) > 5 for line in done.output.splitlines())
    record = json.loads(run("shapes", *arguments, "--json").output)
    assert record.pop("schema") == 1 and record["SHAPES"]
    record.pop("evidence", None)
    assert all(row["source"] for rows in record.values() for row in rows)


@pytest.mark.parametrize("kind", [row.kind for row in shapes.KINDS if row.arch == "sm100"])
def test_the_printed_table_has_a_line_for_every_row_and_a_text_for_every_source(kind: str) -> None:
    lines = run("shapes", "--arch", "sm100", "--kind", kind).output.splitlines()
    tables = (shapes.TYPES, shapes.SHAPES, shapes.TRANSPOSED_B, shapes.OPERANDS, shapes.SCALES)
    rows = [row for table in tables for row in table if (row.arch, row.kind) == ("sm100", kind)]
    rows = [row for row in rows if getattr(row, "k", 0) not in (96, (96,))]  # of later targets
    sources = {row.disputed or row.source for row in rows} | {kind_row("sm100", kind).source}
    assert len(lines) == 3 + len(rows) + len(sources)
    assert sum("lenient only" in line for line in lines) == sum(bool(row.disputed) for row in rows)


@pytest.mark.parametrize(
    "arguments",
    [
        ("decode-idesc", "0xzz", "--kind", "f16"),
        ("decode-idesc", "1" * 5000, "--kind", "f16"),
        ("decode-idesc", "1", "--kind", "f32"),
        ("idesc", "--a", "bf16", "--m", "128", "--n", "24", "--a-source", "tmem"),
        ("idesc", "--a", "bf16", "--m", "128", "--n", "20"),
        ("shapes", "--kind", "fp4"),
        ("shapes", "--arch", "sm80"),
    ],
)
def test_bad_input_to_a_command_is_an_error_of_the_family(arguments: tuple[str, ...]) -> None:
    assert isinstance(run(*arguments).exception, DescriptorError)


def test_shapes_takes_the_type_that_one_has_in_mind(capsys: pytest.CaptureFixture[str]) -> None:
    for typed, kind in (("s8", "i8"), ("e4m3", "f8f6f4"), ("bf16", "f16"), ("mxf4", "mxf4"), ("int8", "i8")):
        assert main(["shapes", typed, "--arch", "sm100"]) == 0
        by_type = capsys.readouterr().out
        assert main(["shapes", "--kind", kind, "--arch", "sm100"]) == 0
        assert capsys.readouterr().out == by_type
    assert main(["shapes", "s9"]) == 2
    assert "supported: f16, bf16, " in capsys.readouterr().err


@pytest.mark.skipif(not available(), reason="the CuTe DSL is not installed")
def test_the_word_is_compared_with_the_dsls(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["idesc", "--a", "e2m1", "--m", "128", "--n", "8", "--scale-dtype", "ue4m3", "--check"]
    assert main(line) == 0
    assert re.search("CuTe DSL .*: the same word", capsys.readouterr().out)
    assert main([*line, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["check"]["agrees"] is True


@each(
    ("answer", "said"),
    [
        (InstructionWord("ok", 0x08400481), "different, it has 0x08400481, but 0x08400480 is derived"),
        (InstructionWord("rejected", None, text="no such"), "no word to compare with, rejected: no such"),
    ],
)
def test_another_word_of_the_dsl_is_a_difference(
    answer: InstructionWord, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("descriptors.oracle.available", lambda: True)
    monkeypatch.setattr("descriptors.oracle.version", lambda: "4")
    monkeypatch.setattr("descriptors.oracle.instructions.instruction_words", lambda requests: [answer])
    assert main(["idesc", "--a", "e2m1", "--m", "128", "--n", "256", "--scale-dtype", "ue4m3", "--check"]) == 1
    assert said in capsys.readouterr().out


@each(
    ("arguments", "said"),
    [
        (["--a", "s8", "--m", "128", "--n", "64"], "--check needs --saturate for integers"),
        (["--a", "bf16", "--m", "64", "--n", "64", "--ws"], "--check and --ws cannot be combined"),
    ],
)
def test_what_the_dsl_has_not_is_not_compared(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["idesc", *arguments, "--check"]) == 2
    assert said in capsys.readouterr().err


def test_shapes_names_the_extent_that_no_instruction_has(capsys: pytest.CaptureFixture[str]) -> None:
    for shape, part in (
        ("m64n100k16", "N is 8..256 step 8 with M 64 and K 16"),
        ("m32n64k16", "M is 64 with K 16"),
        ("m64n64k17", "K is"),
    ):
        assert main(["shapes", shape, "--arch", "sm90"]) == 2
        assert part in " ".join(capsys.readouterr().err.split())


def test_an_architecture_that_lacks_the_named_instruction_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shapes", "wgmma.m64n128k16", "--arch", "sm100"]) == 2
    assert "sm100 has no wgmma; instruction = wgmma.m64n128k16" in refusal(capsys.readouterr().err)
    assert main(["shapes", "wgmma.m64n128k16"]) == 0
    assert "sm90 kind f16" in capsys.readouterr().out


@pytest.mark.parametrize(("arch", "has_k_96"), [("sm100", False), ("sm103", True), ("sm107", True), ("sm110", False)])
def test_shapes_lists_k_96_for_the_architectures_that_have_it(arch: str, has_k_96: bool) -> None:
    for kind in ("mxf4", "mxf4nvf4"):
        record = json.loads(run("shapes", "--arch", arch, "--kind", kind, "--json").output)
        assert any(row["k"] == 96 for row in record["SHAPES"]) is has_k_96
        assert any(96 in row["k"] for row in record["SCALES"]) is has_k_96


def test_the_note_on_the_architecture_names_the_one_whose_table_is_printed() -> None:
    for arguments, table, note in (
        (["wgmma.m64n128k16"], "sm90 kind f16", "note: assuming sm90, by the instruction wgmma.m64n128k16"),
        (["m64n128k16"], "sm100 kind f16", "note: assuming sm100, because no --arch is given; Hopper: sm90"),
        (["m64n128k16", "--arch", "sm90"], "sm90 kind f16", ""),
    ):
        lines = run("shapes", *arguments).output.splitlines()
        assert lines[0].startswith(table)
        assert [line for line in lines if line.startswith("note: assuming")] == [note] * bool(note)
