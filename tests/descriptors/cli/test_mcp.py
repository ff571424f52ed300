"""The tools of a coding agent, asked by the client of the protocol's own package."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from each import each

from descriptors.cli.mcp import TOOLS, call, command_line, tools
from descriptors.errors import DescriptorError

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
    ("plan", {"words": ["m64n128k16", "bf16"], "tile": "128x128x64", "stages": 4}, "answered", "proved"),
    ("plan", {"words": ["m64n128k16", "bf16"], "stagess": 4}, "refused", "stagess"),
    ("banks", BANKS, "answered", "wavefronts"),
    ("find_swizzle", SWIZZLE, "answered", "S<"),
    ("eval", {"expression": "size((4,(2,3)):(1,(4,8)))"}, "answered", "24"),
    ("eval", {"expression": "size("}, "refused", "size("),
    ("check", {"files": ["-"], "text": KERNEL}, "wrong", "wgmma"),
    ("check", {"files": ["no/such.ptx"]}, "refused", "no/such.ptx"),
    ("tmem_ld", {"shape": "32x32b", "m": 128, "n": 64}, "answered", "lane"),
    ("derive", {"tile": ["a", ["b"]]}, "refused", "must be string"),
    ("nothing", {}, "refused", "derive"),
)


@each("name, given, verdict, part", CALLS)
def test_a_call_says_what_the_command_says(name: str, given: Mapping[str, Any], verdict: str, part: str) -> None:
    answer = call(name, given)
    assert answer.verdict == verdict and part in answer.text, answer


def test_a_call_that_takes_too_long_is_incomplete() -> None:
    answer = call("eval", {"expression": "24"}, seconds=0.01)
    assert answer.verdict == "incomplete" and answer.text.startswith("incomplete: no answer")


def test_a_long_answer_says_that_it_is_cut() -> None:
    answer = call("eval", {"expression": "-", "text": "size(4:1)\n" * 4000})
    assert len(answer.text) < 6200 and "lines more; whole in a terminal: layoutalg eval" in answer.text


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
    with pytest.raises(DescriptorError, match="a tool must be one of derive, decode"):
        command_line("solve", {})
