"""What a command writes as JSON is of the schema that ``schema`` prints for it, and what is changed in it is not."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete
from each import each
from jsonschema import Draft202012Validator
from places import ROOT
from programs import ANSWERED
from refusals import refusal

from layoutalg.cli.console import SCHEMA

sys.path.insert(0, str(ROOT / "scripts"))
from make_commands import PROGRAMS, every

Json = Any

#: Whose own examples are too long for a test, or ask somebody else.
SLOW = {"check", "formulas", "idesc", "plan", "search"}
#: What no example shows: other architectures, words that mean nothing, forms of an answer that are seldom.
MORE = """
layoutalg eval "(1,_,True)"
layoutalg eval "S<3,4,3>"
layoutalg eval "E(1)"
layoutalg eval "m*4"
layoutalg eval "(4,8):(1,m)"
layoutalg eval "leading_dim((4,8),(8,2))"
layoutalg eval "is_congruent(4, 5)"
layoutalg eval "slice_and_offset((1,_), (4,8):(1,4))"
layoutalg eval "make_composed_layout((4,8):(1,4), 0, S<1,0,1> o 0 o (4,8):(8,1))"
layoutalg draw "(4,4):(1@0,1@1)"
layoutalg draw "(4,4):(4,1)" --level 2x2
layoutalg show "(2,2):(1@0,1@1)"
layoutalg ops coalesce
layoutalg banks "(8,64):(64,1)" --access "(7,8):(1,8)" --element-bytes 2
descriptors derive --dtype bf16 --major MN --swizzle 128B --tile 128x64x3 --mma 64x16 --arch sm90 --base 2048
descriptors derive --dtype e2m1 --major K --swizzle 128B --tile 128x768 --mma 128x96 --arch sm103
descriptors derive --dtype e2m1 --major K --swizzle 128B --tile 128x768 --mma 128x96 --arch sm103 --subtile 0,1
descriptors derive --dtype bf16 --major K --swizzle 128B --tile 128x64 --mma 64x16 --arch sm107 --no-verify
descriptors derive --dtype bf16 --major K --swizzle 128B --tile 128x64 --mma 64x16 --arch sm90 --subtile 1,0
descriptors derive --dtype bf16 --major K --swizzle 128B --tile "64*m x 64*k" --mma 64x16 --symbolic --arch sm90
descriptors draw levels --dtype u8 --major K --swizzle none --tile 128x64 --cp 128x256b --arch sm100
descriptors draw chunks --dtype bf16 --major K --swizzle 128B --tile 64x64 --mma 64x16 --arch sm90
descriptors draw tile --dtype bf16 --major K --swizzle 128B --tile 64x64 --mma 64x16
descriptors draw atoms --dtype bf16 --major K --swizzle 128B --tile 64x64 --mma 64x16 --arch sm90
descriptors draw advance --dtype bf16 --major K --swizzle 128B --tile 64x64x3 --mma 64x16
descriptors draw boxes --dtype bf16 --major MN --swizzle 64B --tile 64x64 --arch sm90
descriptors draw tile --dtype bf16 --layout "(64,17):(17,1)" --arch sm90
descriptors draw swizzle --swizzle 64B
descriptors draw word 0xffffffffffffffff --arch sm90
descriptors match "(64,16):(16,1)" --dtype bf16 --swizzle 32B
descriptors candidates "(64,16):(64,1)" --dtype bf16 --arch sm90
descriptors decode 0xffffffffffffffff --arch sm90
descriptors decode 0xffffffffffffffff --arch sm107
descriptors decode 0x4000404000010000 --arch sm100
descriptors diff 0x4000404000010000 "(64,16):(16,1)" --dtype bf16 --major K --symbolic
descriptors diff 0x4000004000010000 "(64,16):(16,1)" --dtype bf16 --major K --arch sm90
descriptors idesc --a e2m1 --m 128 --n 256 --scale-dtype ue4m3
descriptors decode-idesc 0xffffffff --kind ti16 --arch sm107
descriptors decode-idesc 0xffffffff --kind mxf4 --arch sm107
descriptors shapes --arch sm90 --kind tf32
descriptors shapes --arch all
descriptors shapes tcgen05.m128n128k16
descriptors shapes wgmma.m64n128k16
descriptors check docs/kernels/hang.ptx
descriptors check docs/kernels/hang.ptx no/such.ptx
descriptors explain docs/kernels/hang.ptx
descriptors explain docs/kernels/hang.ptx --rounds
descriptors tma --dtype bf16 --major K --swizzle 128B --tile 64x64 --arch sm90
descriptors tensor-map "type=bf16 extents=64x9x9x2 strides=128x1152x10368 lower=-1,-1 upper=-1,-1 channels=64 pixels=128"
descriptors tensor-map "type=bf16 extents=512x64 strides=1001 box=64x64 swizzle=128B"
descriptors plan bf16 --tile 64x16x32 --arch sm90 --top 1
descriptors plan bf16 --tile 128x16x32 --arch sm100 --top 1
descriptors plan bf16 --problem 512x512x512 --top 1 --arch sm90
descriptors plan bf16 --conv 8x16x16x64 --filters 64x3x3 --padding 1 --arch sm90 --top 1
descriptors plan m64n8k16 bf16 --tile 64x8x32 --conv 2x9x7x24 --filters 12x3x2
descriptors plan m64n8k16 bf16 --tile 64x8x32 --conv 2x9x7x24 --filters 12x3x2 --stride 2 --a-swizzle none --b-swizzle none
descriptors plan wgmma.sp.m64n8k32 bf16 --tile 64x8x64
descriptors plan m64n16k16 bf16 --tile 64x16x32 --a registers
descriptors plan m64n64k16 bf16 --tile 64x64x32 --c-dtype bf16 --store tma --terms bias,alpha-beta
descriptors plan m64n16k32 e4m3 --tile 64x16x128 --scale-vector 128
descriptors plan m128n16k16 bf16 --tile 128x16x32 --accumulators 2
descriptors plan m128n8k64 e2m1 --kind mxf4nvf4 --scale-vector 16 --tile 128x8x256
descriptors plan mma.m16n8k16 bf16 --arch sm80 --tile 32x32x32
descriptors plan mma.m16n8k64 e2m1 --tile 64x64x128 --scale-vector 16
descriptors tmem ld 32x32b.x8.max.abs.NaN.f32
descriptors tmem ld red.32x32b.x8.max.sp::2:4.f32.b2
descriptors tmem scale-factors --mn 128 --k 256 --vector 32 --step 64 --base 1024
descriptors tmem shift --height 3 --width 9 --channels 16 --filters 16 --taps 1x3 --stride 1x2 --no-verify
descriptors tmem shift --height 3 --width 9 --channels 16 --filters 16 --taps 1x3 --padding 0x3 --no-verify
descriptors tmem check "alloc d 48"
descriptors search --tile 63x16 --dtype bf16 --mma 64x16
descriptors formulas --bits 16 --swizzle 128B --prove
""".strip().splitlines()  # noqa: E501

#: Objects whose keys are names of things, and not of the form.
NAMED = {"linear": {""}, "ops": {"operations"}, "plan": {"accumulators.columns"}, "shapes": {""}}
NAMED |= {
    "tmem shift": {"evidence_of", "views.evidence_of"},
    "check": {"launches.parameters", "files.launches.parameters"},
}
#: Keys of values that are numbers in one answer and texts in another, and of measures, which are no counts.
EITHER = {
    "check": {"derived", "file"},
    "decode": {"expected", "found"},
    "derive": {"bytes", "extent", "leading_byte_offset", "stride_byte_offset", "tile"},
    "diff": {"found", "right"},
    "draw": {"cells", "value"},
    "eval": {"offset", "shape", "size", "stride", "value"},
    "show": {"offset", "offsets", "shape", "size", "stride"},
    "tensor-map": {"found", "right"},
}
MEASURES = {
    "plan": {"copies", "microseconds", "multiply", "shared", "steps", "teraflops"},
    "sectors": {"efficiency"},
    "tensor-map": {"lands_at_byte", "layout_has_it_at_byte"},
    "tmem shift": {"saved"},
}


def writes_json(command: click.Command) -> bool:
    words = {word for one in command.params for word in one.opts}
    return "--json" in words or (command.name == "formulas" and "--format" in words)


#: Every command that writes JSON, as it is typed: its program, and its own words.
COMMANDS = {
    tuple(context.command_path.split(" ", 1)): one
    for program in PROGRAMS
    for context, one in every(program)
    if writes_json(one)
}


def printed(*words: str) -> tuple[int, str]:
    """What a program prints, by its words."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()):
        status = import_module(f"{words[0]}.cli.command").main(list(words[1:]))
    return status, out.getvalue()


@cache
def validator(program: str, name: str) -> Draft202012Validator:
    """The schema that a program prints for a command."""
    schema = json.loads(printed(program, "schema", *name.split())[1])
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def lines(program: str, name: str) -> Iterator[list[str]]:
    """Command lines with JSON: of the table of all commands, of the command's help, and those of this module."""
    head = [program, *name.split()]
    if name in ANSWERED[program] and "json" not in ANSWERED[program][name]:
        yield [*head, *ANSWERED[program][name]]
    for line in map(str.strip, (COMMANDS[program, name].help or "").splitlines() if name not in SLOW else ()):
        if line.startswith(f"{program} {name} ") and not set(line.split()) & {
            "--check",
            "-o",
            "\\",
            ">",
            "--steps",
            "--emit",
            "--smt2",
        }:
            yield shlex.split(line)
    for line in MORE:
        if shlex.split(line)[: len(head)] == head:
            yield shlex.split(line)


@cache
def answers(program: str, name: str) -> list[Json]:
    """What a command answers."""
    found = list[Json]()
    for line in lines(program, name):
        formatted = name == "formulas" or (name == "derive" and "--symbolic" in line)
        status, out = printed(*line, *(["--format", "json"] if formatted else ["--json"]))
        assert status in (0, 1, 2) and out, line
        found += [json.loads(one) for one in out.splitlines()]
    return found


def pruned(value: Json) -> Json:
    """An answer with the first of each kind of item alone, where a list is longer than tuples are."""
    if isinstance(value, dict):
        return {key: pruned(one) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    kinds = {str(sorted(one)) if isinstance(one, dict) else str(type(one)): one for one in reversed(value)}
    return [pruned(one) for one in (value if len(value) <= 4 else reversed(kinds.values()))]


def slots(value: Json, place: str = "") -> Iterator[tuple[Json, str | int, str]]:
    """Every key of an answer and every place of a list: what holds it, the key, the names down to it."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key, place
        yield from slots(value[key], f"{place}.{key}".lstrip(".") if isinstance(key, str) else place)


def spoilt(name: str, key: str, value: Json) -> Iterator[Json]:
    """Values of another type."""
    either = key in EITHER.get(name, ())
    if not (name == "check" and either):
        yield {"no such key": []}
    if type(value) is int and key not in MEASURES.get(name, ()):
        yield value + 0.5
    if type(value) in (int, float, bool) and not either:
        yield "seven"
    if type(value) in (str, bool) and not either:
        yield 7


@pytest.mark.parametrize(("program", "name"), COMMANDS, ids=[" ".join(one) for one in COMMANDS])
def test_an_answer_is_of_the_schema_and_no_longer_when_it_is_changed(program: str, name: str) -> None:
    schema = validator(program, name)
    tried, missed = set[object](), set[tuple[str, str]]()
    held: dict[str, list[set[str]]] = {}
    for answer in answers(program, name):
        schema.validate(answer)
        answer = pruned(answer)
        assert schema.is_valid(answer)
        for holder, key, place in slots(answer):
            value = holder[key]
            if isinstance(holder, dict):
                held.setdefault(place, []).append(set(holder))
            last = key if isinstance(key, str) else place.rpartition(".")[2]
            kind = (place, key if isinstance(key, str) else None, type(value))
            if kind in tried:
                continue
            tried.add(kind)
            for other in spoilt(name, last, value):
                holder[key] = other
                assert not schema.is_valid(answer), (place, key, other)
            holder[key] = value
            if isinstance(key, str) and place not in NAMED.get(name, ()):
                del holder[key]
                if schema.is_valid(answer):
                    missed.add((place, key))
                    holder[f"{key}_"] = value
                    assert not schema.is_valid(answer), f"{place}: {key} under another name"
                    del holder[f"{key}_"]
                holder[key] = value
    assert tried and not {(place, key) for place, key in missed if all(key in keys for keys in held[place])}


def test_every_command_with_json_has_one() -> None:
    for program in PROGRAMS:
        known = [name for of, name in COMMANDS if of == program]
        listed = printed(program, "schema")[1].splitlines()
        assert len(known) > 8 and sorted(listed) == sorted(known)


@each(("program", "name"), COMMANDS)
def test_a_refusal_is_of_the_schema_and_nothing_is_not(program: str, name: str) -> None:
    status, out = printed(
        program, *name.split(), "--nonsense", *(["--format=json"] if name == "formulas" else ["--json"])
    )
    assert status == 2
    validator(program, name).validate(json.loads(out))
    for answer in ({}, {"schema": SCHEMA}, {**json.loads(out), "schema": SCHEMA + 1}, []):
        assert not validator(program, name).is_valid(answer)


def test_recorded_answers_are_of_the_schemas() -> None:
    count = 0
    for one in json.loads((ROOT / "tests/vectors/outputs.json").read_text(encoding="utf-8")):
        words = shlex.split(one["command"])
        name = next(
            (name for of, name in COMMANDS if of == words[0] and words[1:][: len(name.split())] == name.split()), ""
        )
        if name and isinstance(one["out"], str) and one["out"].startswith('{"schema"'):
            count += 1
            for line in one["out"].splitlines():
                validator(words[0], name).validate(json.loads(line))
    assert count > 20


def test_lines_are_answered_each(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("4:1\nsize(\n(8,2)\n", encoding="utf-8")
    status, out = printed("layoutalg", "eval", "--file", str(tmp_path / "lines.txt"), "--json")
    assert status == 2 and [set(json.loads(line)) & {"line", "error"} for line in out.splitlines()][1] == {
        "line",
        "error",
    }
    for line in out.splitlines():
        validator("layoutalg", "eval").validate(json.loads(line))


@each(
    ("words", "part"),
    [
        (("layoutalg", "schema", "nonsense"), "atoms, banks, draw"),
        (("layoutalg", "schema", "bank"), "did you mean banks?"),
        (("descriptors", "schema", "tmem"), "tmem plan"),
        (("descriptors", "schema", "atlas"), "is not a command that writes JSON"),
    ],
)
def test_another_name_is_refused_with_the_list(words: tuple[str, ...], part: str, capsys: Any) -> None:
    status = import_module(f"{words[0]}.cli.command").main(list(words[1:]))
    told = capsys.readouterr()
    assert (status, told.out) == (2, "") and part in refusal(told.err)


def test_the_shell_completes_commands_in_their_words() -> None:
    for program, words, incomplete, offered in (
        ("layoutalg", [], "f", ["feeds", "f2", "find-swizzle"]),
        ("descriptors", ["tmem"], "s", ["scale-factors", "shift"]),
    ):
        group = import_module(f"{program}.cli.command").command
        complete = ShellComplete(group, {}, program, "_COMPLETE")
        assert [one.value for one in complete.get_completions(["schema", *words], incomplete)] == offered
