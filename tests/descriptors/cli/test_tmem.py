"""The group `descriptors tmem`, from its program: answers, JSON, refusals in one line, grades in every output."""

from __future__ import annotations

import json
import shlex

import click
import pytest
from each import each
from refusals import refusal

from descriptors.cli.command import main
from descriptors.cli.tmem import COMMANDS, tmem

ANSWERED = {
    "plan": "--m 128 --n 256 --k 64 --accumulators 2",
    "accumulator": "--m 128 --n 256 --cta-group 2",
    "operand": "--m 128 --k 64 --dtype bf16",
    "metadata": "--m 128 --k 32 --dtype bf16",
    "ld": "16x256b --m 128 --n 64",
    "cp": "128x256b --tile 128x64 --dtype bf16 --swizzle 128B",
    "scale-factors": "--mn 128 --k 256 --vector 32 --step 64",
    "block-scaled": "--a e2m1 --scale-dtype ue4m3 --m 128 --n 8 --k 64",
    "shift": "--images 2 --height 9 --width 9 --channels 16 --filters 16 --taps 3x3 --padding 1x1",
    "check": "'alloc d 64' 'mma d 64'",
}


def run(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    status = main(["tmem", *shlex.split(line)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_group_has_an_answer_for_each_command() -> None:
    assert list(ANSWERED) == list(COMMANDS)


@each("name", COMMANDS)
def test_every_command_answers_and_says_how_it_is_known(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(f"{name} {ANSWERED[name]}", capsys)
    assert status == (1 if name == "check" else 0) and err == ""
    assert "not measured on a Blackwell GPU" in out
    assert all(line == line.rstrip() for line in out.splitlines())


@each("name", COMMANDS)
def test_every_command_writes_json_with_its_grade(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(f"{name} {ANSWERED[name]} --json", capsys)
    data = json.loads(out)
    assert data["schema"] == 1 and "not measured on a Blackwell GPU" in out


@each("name", COMMANDS)
def test_every_command_has_help_with_an_example_that_answers(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    context = click.Context(tmem, info_name="tmem")
    subcommand = tmem.get_command(context, name)
    assert subcommand is not None
    assert run(f"{name} --help", capsys)[0] == 0
    examples = [
        line.strip() for line in (subcommand.help or "").splitlines() if line.strip().startswith("descriptors tmem")
    ]
    assert examples
    for line in examples:
        assert main(shlex.split(line)[1:]) in (0, 1), line
        capsys.readouterr()


@each("name", COMMANDS)
def test_every_option_is_completed_or_takes_any_value(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    context = click.Context(tmem, info_name="tmem")
    subcommand = tmem.get_command(context, name)
    assert subcommand is not None
    for option in subcommand.params:
        for begun in ("", "zzz"):
            assert isinstance(option.shell_complete(click.Context(subcommand, parent=context), begun), list)


def test_the_group_alone_shows_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run("", capsys)
    assert status == 0 and all(name in out for name in COMMANDS)


def test_the_worked_case_prints_every_word(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(f"block-scaled {ANSWERED['block-scaled']}", capsys)
    for word in ("0xc000401000010000", "0xc000400000010000", "0x0000400800010000", "0x08020480", "allocate 32 columns"):
        assert word in out
    assert out.count("proved: ") == 4


def test_a_clean_sequence_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run("check 'alloc d 32' 'dealloc d'", capsys)
    assert (status, out.splitlines()[0]) == (0, "no finding in 2 events; at most 32 columns at once")


@each(
    ("line", "words"),
    [
        ("plan --m 128 --n 256 --k 64 --accumulators 3", "the parts need 768 columns, sm100 has 512; D0 256, D1 256"),
        ("plan --m 128 --n 256 --k 64 --ctas 3", "3 CTAs need 768 columns, an SM has 512; D 256 columns"),
        ("accumulator --m 96 --n 64", "M is 96, but must be 64 or 128"),
        ("accumulator --m 128", "--n is missing"),
        ("operand --m 128 --k 24 --dtype bf16", "K is 24, which is not a multiple of 16"),
        ("metadata --m 64 --k 32 --dtype bf16", "A has 64 rows per CTA, for which no layout of the metadata is known"),
        ("ld", "neither a SHAPE nor an accumulator is given"),
        ("ld 16x256b.x64", ".16x256b has no .x64; supported: x1, x2, x4, x8, x16, x32"),
        ("ld --m 128", "an accumulator needs both --m and --n"),
        (
            "ld 16x64b.x1 --m 128 --n 64 --st",
            "--st, --offset and --target need a SHAPE and cannot be combined with an accumulator",
        ),
        ("cp 64x128b", "multicast is absent, but must be warpx2::02_13 or warpx2::01_23"),
        ("cp --tile 128x64 --dtype bf16", "--tile and --dtype need each other and a SHAPE"),
        ("cp 128x256b --swizzle 64B", "--tile and --dtype need each other and a SHAPE"),
        ("cp 128x256b --tile 64x64 --dtype bf16", "tile MN is 64, but tcgen05.cp.128x256b copies 128 rows"),
        ("scale-factors --mn 128 --k 64 --vector 8", "the vector is 8, which is not supported; supported: 16, 32"),
        ("scale-factors --mn 128 --k 64 --vector 16 --base 8", "is not a multiple of 16"),
        ("block-scaled --a bf16 --m 128 --n 8 --k 64", "sm100 has no kind of MMA instruction for bf16"),
        ("block-scaled --a e2m1 --m 128 --n 8 --k 64 --a-swizzle 99B", "swizzle is "),
        (
            "shift --height 9 --width 30 --channels 16 --filters 16 --taps 3x3 --stride 1x3 --dilation 1x4",
            "the step of a view is 12, the least common multiple of stride and dilation along W",
        ),
        (
            "shift --height 9 --width 9 --channels 16 --filters 16 --taps 3x3 --stride 1x2 --row 1",
            "--row, --tile, --draw and --emit need",
        ),
        ("shift --height 9 --width 9 --channels 16 --filters 16 --taps 3x3 --padding 1x999", "pixelBoxLowerCorner"),
        ("shift --height 9 --width 9 --channels 16 --filters 16 --taps 3x3 --emit c", "'ptx'"),
        (
            "shift --height 9 --width 9 --channels 16 --filters 32 --taps 3x3 --emit ptx --cta-group 2",
            "not supported, only one CTA",
        ),
        (
            "shift --height 9 --width 9 --channels 16 --filters 16 --taps 3",
            "taps is (3,), which is not two numbers, along H and W",
        ),
        ("shift --height 9 --width 9 --channels 16 --filters 16 --taps 3x3 --row 7", "an output row is "),
        ("shift --height 9 --width 9 --channels 16 --filters 16 --taps 3xx", "is not of the form 128x128"),
        ("shift --height 9 --width 9 --channels 16 --filters 16", "--taps is missing"),
        ("check free", "'free' is not an event"),
        ("check", "EVENT... is missing"),
        ("nothing", "no such command 'nothing'"),
    ],
)
def test_bad_input_is_one_line_and_status_2(line: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(line, capsys)
    assert (status, out) == (2, "") and words in refusal(err)


def test_a_refusal_is_json_where_json_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run("accumulator --m 96 --n 64 --json", capsys)
    assert (status, err) == (2, "") and "M is 96, but must be 64 or 128" in json.loads(out)["error"]["message"]
