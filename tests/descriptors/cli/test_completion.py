"""The shell completes every option that has a list of names, with the very names that its refusal lists."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click
import pytest
from each import each
from programs import ANSWERED, FAMILY

from descriptors.cli.command import COMMANDS, command, main
from descriptors.smem.instructions import tables

GROUP = click.Context(command, info_name="descriptors")

#: Options that stand in no refusal's list, or take more than one name of it.
OTHERS = {("idesc", "--a"), ("idesc", "--b"), ("idesc", "--d"), ("idesc", "--scale-dtype")}

#: What else must be said, or left out, for an option to be looked at.
MAP, WORD = ANSWERED["descriptors"]["tensor-map"][0], "0x4000404000010000"
_TILE = ["--tile", "64x64", "--dtype", "bf16"]
LINES = {
    ("diff", "--swizzle"): ["0x4000404000010000", *_TILE, "--major", "K"],
    ("read", "--swizzle"): [*_TILE, "--major", "K"],
    ("candidates", "--swizzle"): [*_TILE, "--major", "K"],
    ("candidates", "--major"): [*_TILE, "--swizzle", "64B"],
    ("draw", "--cp"): "levels --dtype u8 --major K --swizzle none --tile 128x64".split(),
    ("derive", "--cp"): ["--dtype", "u8", "--major", "K", "--swizzle", "none", "--tile", "128x64"],
    ("plan", "--pixels"): "m64n8k16 bf16 --tile 64x8x32 --conv 2x9x7x24 --filters 12x3x2".split(),
    ("plan", "--kind"): "m128n64k16 bf16 --tile 128x64x16".split(),
    ("derive", "--format"): FAMILY,
    ("explore", "--unit"): ["--html", os.devnull, "--layout", "(64,64):(64,1)", "--mma", "64x16"],
    ("tensor-map", "--dtype"): [MAP, WORD, "--major", "K"],
    ("tensor-map", "--major"): [MAP, WORD],
    ("tensor-map", "--arch"): [MAP, WORD, "--major", "K"],
    ("tensor-map", "--shape"): [MAP, WORD, "--major", "K"],
    ("tensor-map", "--unit"): [MAP, "(64,64):(64,1)", "--major", "K"],
    ("emit", "--dtype"): ["python", "a: --major K --swizzle 128B --tile 64x64 --mma 64x16"],
}


def of(name: str) -> click.Command:
    subcommand = command.get_command(GROUP, name)
    assert subcommand is not None
    return subcommand


def options(name: str) -> list[click.Option]:
    return [one for one in of(name).params if isinstance(one, click.Option) and not one.is_flag]


#: What takes any identifier, or any folder: nothing is offered, and nothing refused.
FREE = {("emit", "--name"), ("check", "-I"), ("explain", "-I"), ("check", "--baseline"), ("check", "--write-baseline")}
FREE |= {("atlas", "--order"), ("atlas", "--operand")}
FREE |= {("explore", f"--{name}") for name in ("html", "site", "pyodide", "url")}
FREE |= {("course", "--hand-in"), ("course", "--verify"), ("course", "--seed"), ("course", "--grade")}
#: Whose refusal names the command that lists them: they are many.
LISTED = {("check", "--rule"), ("check", "--ignore"), ("check", "--explain")}
OPTIONS = [one for name in COMMANDS for option in options(name) if (one := (name, option.opts[0])) not in FREE | LISTED]


def completed(name: str, option: str, begun: str = "", **params: str) -> list[str]:
    """What the shell is offered for the value of an option."""
    context = click.Context(of(name), info_name=name, parent=GROUP)
    context.params = {**params}
    (option_,) = (one for one in options(name) if one.opts[0] == option)
    return [item.value for item in option_.shell_complete(context, begun)]


@each(("name", "option"), [one for one in OPTIONS if one not in OTHERS])
def test_what_is_offered_is_what_a_refusal_lists(
    name: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = LINES.get((name, option), ANSWERED["descriptors"][name])
    output = [str(tmp_path / "rows.jsonl")] if name == "atlas" else []
    assert main([name, *output, *line, option, "nonsense"]) == 2
    refusal = capsys.readouterr().err
    listed = re.search(r"note: supported: (.*)|'nonsense' is not one of (.*)", refusal)
    names = re.findall(r"[^,' ]+", listed[1] or listed[2]) if listed else []
    assert completed(name, option) == names


@pytest.mark.parametrize(("name", "option"), sorted(OTHERS), ids=" ".join)
def test_the_types_of_an_instruction_are_those_of_the_tables(name: str, option: str) -> None:
    kinds = [dtype for row in tables.KINDS if row.arch == "sm100" for dtype in row.dtypes]
    results = [dtype for row in tables.TYPES if row.arch == "sm100" for dtype in row.d]
    scales = [row.dtype for row in tables.SCALES if row.arch == "sm100"]
    expected = {"--a": kinds, "--b": kinds, "--d": results, "--scale-dtype": scales}[option]
    assert completed(name, option) == list(dict.fromkeys(expected)) != []


def test_what_is_begun_is_completed_whatever_its_case() -> None:
    assert completed("search", "--major", "m") == ["MN"]
    assert completed("search", "--major", "K") == ["K"]
    assert completed("derive", "--swizzle", "128b") == ["128B", "128B_BASE32B"]
    assert completed("derive", "--dtype", "x") == []


def test_kinds_are_those_of_the_architecture() -> None:
    assert completed("shapes", "--kind", arch="sm90") == ["f16", "tf32", "f8", "i8", "b1"]
    assert completed("shapes", "--kind", arch="sm9") == completed("shapes", "--kind", arch="sm100")


def test_of_several_names_the_last_is_completed() -> None:
    assert completed("atlas", "--dtype", "bf16,e4") == ["bf16,e4m3"]
    assert completed("atlas", "--swizzle", "none,6") == ["none,64B"]


@pytest.mark.parametrize(("name", "option"), sorted(LISTED))
def test_rules_are_offered_as_they_are_listed(name: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--rules"]) == 0
    listed = capsys.readouterr().out
    offered = completed(name, option)
    assert len(offered) > 30
    assert all(re.search(rf"^\s*{re.escape(rule)}\s", listed, re.MULTILINE) for rule in offered)
    assert completed(name, option, "wgmma-s") == [rule for rule in offered if rule.startswith("wgmma-s")]
