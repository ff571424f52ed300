"""The tools of a coding agent, asked by the client of the protocol's own package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from each import each

from descriptors.cli.command import main as descriptors
from descriptors.cli.mcp import LONGEST, READS, TOOLS, call, command_line, tools
from descriptors.errors import DescriptorError
from layoutalg.cli.command import main as layoutalg

KERNEL = """\
.version 8.0
.target sm_90a
.address_size 64
.entry k() { .reg .b64 d; .reg .f32 r<4>; mov.b64 d, 0;
 wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {r0, r1, r2, r3}, d, d, 1, 1, 1, 0, 0; ret; }
"""
#: A call, its verdict, and what it says.
WORD = {"dtype": "bf16", "major": "K", "swizzle": "128B", "arch": "sm90"}
BANKS = {"layout": "(64,64):(64,1)", "access": ["(32,8):(1,64)@16B"], "element_bytes": 2}
SWIZZLE = {"layout": "(8,64):(64,1)", "access": ["(8,8):(1,8)"], "element_bytes": 2, "bytes": 16}
CALLS: tuple[tuple[str, Mapping[str, Any], str, str], ...] = (
    ("derive", {"tile": "128x64", "mma": "64x16", **WORD}, "answered", "0x4000004000010000"),
    ("decode", {"word": "0xC000004000010000", "arch": "sm90"}, "answered", "if 128B was meant, its code is 1"),
    ("decode", {"word": "word", "arch": "sm90"}, "refused", "word"),
    ("decode", {"arch": "sm90"}, "refused", "WORD"),
    (
        "plan",
        {"instruction_and_dtype": ["m64n128k16", "bf16"], "tile": "128x128x64", "stages": 4},
        "answered",
        "proved",
    ),
    ("plan", {"instruction_and_dtype": ["m64n128k16", "bf16"], "stagess": 4}, "refused", "stagess"),
    ("banks", BANKS, "answered", "wavefronts"),
    ("find_swizzle", SWIZZLE, "answered", "S<"),
    ("eval", {"expression": "size((4,(2,3)):(1,(4,8)))"}, "answered", "24"),
    ("eval", {"expression": "size("}, "refused", "size("),
    ("check", {"files": ["-"], "text": KERNEL}, "wrong", "wgmma"),
    ("check", {"files": ["no/such.ptx"]}, "refused", "no/such.ptx"),
    ("tmem_ld", {"shape": "32x32b", "m": 128, "n": 64}, "answered", "lane"),
    ("derive", {"tile": ["a", ["b"]]}, "refused", "not string"),
    ("nothing", {}, "refused", "derive"),
)


@each("name, given, verdict, part", CALLS)
def test_a_call_says_what_the_command_says(name: str, given: Mapping[str, Any], verdict: str, part: str) -> None:
    answer = call(name, given)
    assert answer.verdict == verdict and part in answer.text, answer


def test_the_positional_arguments_of_plan_are_named_and_described_as_in_its_help() -> None:
    tool = tools()["plan"]
    assert tool.schema["required"] == ["instruction_and_dtype"]
    assert tool.schema["properties"]["instruction_and_dtype"]["description"] == "[INSTRUCTION] DTYPE"
    assert call("plan", {"words": ["m64n128k16", "bf16"], "tile": "128x128x64"}).verdict == "refused"


def test_an_argument_has_every_name_of_its_option() -> None:
    word = {"word": "0x4000004000010000", "tile": "64x64", **WORD}
    assert call("diff", {**word, "mma": "64x16"}).text == call("diff", {**word, "shape": "64x16"}).text
    both = call("diff", {**word, "mma": "64x16", "shape": "64x16"})
    assert (both.verdict, "are the same argument, and both are given" in both.text) == ("refused", True)


def test_a_call_that_takes_too_long_is_incomplete() -> None:
    answer = call("eval", {"expression": "24"}, seconds=0.01)
    assert answer.verdict == "incomplete" and answer.text.startswith("incomplete: no answer")


def test_a_long_answer_says_that_it_is_cut() -> None:
    answer = call("eval", {"expression": "-", "text": "size(4:1)\n" * 4000})
    assert len(answer.text) < 6200 and "more lines; for the complete output, run: layoutalg eval" in answer.text


def test_no_argument_becomes_an_option_of_another_name() -> None:
    assert command_line("decode", {"word": "--arch=sm100"})[-2:] == ["--", "--arch=sm100"]
    assert command_line("derive", {"name": "--emit=cuda"}) == ["descriptors", "derive", "--name=--emit=cuda"]


def test_no_tool_writes_a_file() -> None:
    named = {name for one in tools().values() for name in one.parameters}
    assert not named & {"o", "output", "draw", "write_baseline", "init"}


def test_the_schemas_are_small_and_say_every_type() -> None:
    for one in tools().values():
        assert one.description and set(one.schema["required"]) <= set(one.parameters)
        assert all("type" in value for value in one.schema["properties"].values())
    assert sum(len(str(dict(one.schema)) + one.description) for one in tools().values()) < 50_000


def test_a_client_of_the_protocol_lists_and_calls_the_tools(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="mcp is of the extra `mcp`")
    import anyio
    from mcp import ClientSession, StdioServerParameters, stdio_client

    async def talk() -> tuple[Any, Any, Any]:
        words = ["-c", "from descriptors.cli.mcp import mcp; mcp()"]
        there = StdioServerParameters(command=sys.executable, args=words, cwd=tmp_path, env=dict(os.environ))
        async with (
            stdio_client(there) as (
                receiving,
                sending,
            ),
            ClientSession(receiving, sending) as session,
        ):
            await session.initialize()
            listed = await session.list_tools()
            right = await session.call_tool("decode", {"word": "0x4000004000010000", "arch": "sm90"})
            wrong = await session.call_tool("decode", {"word": "word", "json": True})
            return listed, right, wrong

    listed, right, wrong = anyio.run(talk)
    assert all(set(one.output_schema["properties"]) == {"verdict", "command", "answers"} for one in listed.tools)
    assert "answers" not in right.structured_content and wrong.structured_content["answers"][0]["error"]["message"]
    assert [one.name for one in listed.tools] == list(TOOLS)
    assert not right.is_error and right.structured_content["verdict"] == "answered"
    assert "64 x 16 bytes" in right.content[0].text
    assert wrong.is_error and wrong.structured_content["verdict"] == "refused"


def test_an_unknown_tool_is_an_error_with_the_names() -> None:
    with pytest.raises(DescriptorError, match=r"there is no tool .solve.; supported: derive, decode"):
        command_line("solve", {})


#: A call of each tool that is answered, so that what one argument holds is looked at.
ANSWERED: Mapping[str, Mapping[str, Any]] = {
    "derive": {"tile": "128x64", "mma": "64x16", **WORD},
    "decode": {"word": "0x4000004000010000", "arch": "sm90"},
    "diff": {"word": "0x4000004000010000", "layout": "S<3,3,3> o 0 o (64,64):(64,1)", "dtype": "bf16", "major": "K"},
    "plan": {"instruction_and_dtype": ["m64n128k16", "bf16"], "tile": "128x128x64"},
    "check": {"files": ["-"], "text": KERNEL},
    "tmem_plan": {"m": 128, "n": 64, "a": "bf16"},
    "tmem_accumulator": {"m": 128, "n": 64},
    "tmem_ld": {"shape": "32x32b", "m": 128, "n": 64},
    "tmem_cp": {"shape": "128x256b", "tile": "128x64", "dtype": "u8"},
    "tmem_scale_factors": {"mn": 128, "k": 64, "vector": 32},
    "tmem_block_scaled": {"a": "e2m1", "m": 128, "n": 64, "k": 64},
    "banks": BANKS,
    "find_swizzle": SWIZZLE,
    "eval": {"expression": "8:1"},
}
OPENED: set[str] = set()
sys.addaudithook(lambda event, found: OPENED.add(str(found[0])) if event == "open" else None)


@each("name", list(TOOLS))
def test_no_argument_but_the_documented_ones_reads_a_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every argument is given the name of a file, with the others as they are: only those of ``READS`` open it."""
    monkeypatch.chdir(tmp_path)
    secret, opening = tmp_path / "secret.ptx", set()
    secret.write_text("// the secret\n", encoding="utf-8")
    (tmp_path / "standard_input").write_text(KERNEL, encoding="utf-8")
    for key, kind in tools()[name].schema["properties"].items():
        if kind["type"] not in ("string", "array") or key == "text":
            continue
        given = {**ANSWERED[name], key: [str(secret)] if kind["type"] == "array" else str(secret)}
        program, *words = command_line(name, given)
        OPENED.clear()
        with (tmp_path / "standard_input").open(encoding="utf-8") as kernel, monkeypatch.context() as replaced:
            replaced.setattr(sys, "stdin", kernel)
            {"descriptors": descriptors, "layoutalg": layoutalg}[program](words)
        told = capsys.readouterr()
        if str(secret) in OPENED:
            opening.add(key)
        elif key not in READS.get(name, ()):
            assert "the secret" not in told.out + told.err
    assert opening <= set(READS.get(name, ())), "documented as read: the files that are named to check"
    assert {one.name for one in tmp_path.iterdir()} == {"secret.ptx", "standard_input"}, "no tool writes a file"
    assert (name == "check") == bool(opening)


@each("name, given", [(name, dict(given)) for name, given in ANSWERED.items()])
def test_the_calls_of_that_test_are_answered(name: str, given: dict[str, Any]) -> None:
    assert call(name, given).verdict in ("answered", "wrong")


def test_a_baseline_that_is_none_is_refused_without_its_text(tmp_path: Path) -> None:
    secret = tmp_path / "passwords"
    secret.write_text("root:x:0:0", encoding="utf-8")
    answer = call("check", {"files": ["-"], "text": KERNEL, "baseline": str(secret)})
    assert answer.verdict == "refused" and "root" not in answer.text


@each(
    "name, given, part",
    [
        ("eval", {"file": "/etc/hostname"}, "no argument 'file'"),
        ("eval", {"path": "/etc/hostname"}, "no argument 'path'"),
        ("eval", {"expression": "-", "text": 5}, "text of eval is 5, which is not string"),
        ("eval", {"expression": True}, "is True, which is not string"),
        ("eval", {"expression": ["4:1", "8:1"]}, "is ['4:1', '8:1'], which is not string"),
        ("eval", {"expression": {}}, "is {}, which is not string"),
        ("eval", {"expression": "4:1", "check": "false"}, "is 'false', which is not boolean"),
        ("eval", {"expression": "4:1", "json": 1}, "is 1, which is not boolean"),
        ("eval", {"expression": "a\0b"}, "contains the character NUL"),
        ("check", {"files": ["a\0b"]}, "contains the character NUL"),
        ("eval", {"expression": "\ud800"}, "half of a surrogate pair"),
        ("eval", {"expression": "-", "text": "\udfff"}, "half of a surrogate pair"),
        ("eval", {"expression": "(" * 200_000}, f"200000 characters, more than {LONGEST}"),
        ("plan", {"instruction_and_dtype": ["bf16"] * 200_000}, f"800000 characters, more than {LONGEST}"),
        ("plan", {"instruction_and_dtype": [None]}, "is None, which is not string"),
        ("plan", {"instruction_and_dtype": ["m64n64k16", "bf16"], "stages": 10**5000}, "has 16610 bits, more than 128"),
        ("plan", {"instruction_and_dtype": ["m64n64k16", "bf16"], "stages": 1.5}, "is 1.5, which is not integer"),
        ("eval", {"x" * 200_000: 1}, "supported: expression, explain, check, json, text"),
        ("x" * 200_000, {}, "supported: derive"),
    ],
)
def test_an_argument_that_no_command_line_holds_is_refused_in_words(
    name: str, given: dict[str, Any], part: str
) -> None:
    answer = call(name, given)
    assert answer.verdict == "refused" and part in answer.text
    assert answer.text.startswith("mcp: ") and len(answer.text) < 600, "no error of Python, and not the whole input"


def test_a_long_input_goes_into_the_text() -> None:
    answer = call("eval", {"expression": "-", "text": "(" * 200_000})
    assert answer.verdict == "refused" and len(answer.text) < 3000 and "Errno" not in answer.text


def test_a_message_that_is_half_unicode_is_answered_too() -> None:
    pytest.importorskip("mcp", reason="mcp is of the extra `mcp`")
    words = [sys.executable, "-c", "from descriptors.cli.mcp import mcp; mcp()"]
    start = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    asked = {"name": "eval", "arguments": {"expression": "a\ud800"}}
    frames = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked},
    ]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin and server.stdout
        server.stdin.write("".join(json.dumps(frame) + "\n" for frame in frames))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
    assert answers[1]["id"] == 2 and "half of a surrogate pair" in answers[1]["result"]["content"][0]["text"]


@each(
    "name, given, typed",
    [
        ("tmem_accumulator", {"m": 64, "n": 128, "tiles": [2, 1]}, "--tiles 2 1"),
        (
            "tmem_plan",
            {"a": "e2m1", "scale_dtype": "ue4m3", "m": 128, "n": 128, "k": 256, "blocks": [1, 2]},
            "--blocks 1 2",
        ),
    ],
)
def test_an_option_with_two_values_is_given_as_an_array(name: str, given: Mapping[str, Any], typed: str) -> None:
    answer = call(name, given)
    assert answer.verdict == "answered" and typed in answer.command, answer
    option = typed.split()[0].removeprefix("--")
    assert call(name, {**given, option: [1]}).verdict == "refused"


def test_text_and_json_of_a_check_have_one_verdict() -> None:
    empty = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry incomplete(){ ret; }\n"
    asked = {"files": ["-"], "text": empty}
    assert call("check", asked).verdict == call("check", asked | {"json": True}).verdict == "incomplete"


@each("name", ["check", "diff"])
def test_the_verdict_of_a_text_takes_one_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry incomplete(){ ret; }\n"
    word = {"word": "0x4000004000010000", "layout": "S<3,3,3> o 0 o (64,48):(64,1)", "dtype": "bf16", "major": "K"}
    asked = {"check": {"files": ["-"], "text": empty}, "diff": word | {"arch": "sm90", "shape": "64x48"}}[name]
    runs = []

    def run(words: list[str], **options: Any) -> Any:
        runs.append(words)
        return started(words, **options)

    started = subprocess.run
    monkeypatch.setattr(subprocess, "run", run)
    assert (call(name, asked).verdict, len(runs)) == ("incomplete", 1)
    typed = [sys.executable, "-m", "descriptors", *runs[0][3:]]
    assert started(typed, input=empty, capture_output=True, encoding="utf-8", check=False).returncode == 0
