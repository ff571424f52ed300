"""The command ``mcp``: the commands as tools of a coding agent, over standard input and output.

A tool is a command, its schema is read off the command's own table of options, and a call runs it in a process of its
own, as it would be typed; so an agent is told what a person is told. Of options stand out those that write files or
colour text.

Law: a tool's arguments are options and arguments of its command, each once.

>>> [name for name, one in tools().items() if set(one.schema["properties"]) != set(one.parameters) | set(_ADDED)]
[]
>>> words = command_line("decode", {"word": "0x4000004000010000", "arch": "sm90"})
>>> words
['descriptors', 'decode', '--arch=sm90', '--', '0x4000004000010000']
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

import click

from descriptors.errors import DescriptorError
from layoutalg import __version__
from layoutalg.cli.console import SCHEMA, NotThereError, Status
from layoutalg.frozen import frozen
from layoutalg.installation import pip_install

#: The tools: program and command.
TOOLS = {
    "derive": ("descriptors", "derive"),
    "decode": ("descriptors", "decode"),
    "diff": ("descriptors", "diff"),
    "plan": ("descriptors", "plan"),
    "check": ("descriptors", "check"),
    "tmem_plan": ("descriptors", "tmem plan"),
    "tmem_accumulator": ("descriptors", "tmem accumulator"),
    "tmem_ld": ("descriptors", "tmem ld"),
    "tmem_cp": ("descriptors", "tmem cp"),
    "tmem_scale_factors": ("descriptors", "tmem scale-factors"),
    "tmem_block_scaled": ("descriptors", "tmem block-scaled"),
    "banks": ("layoutalg", "banks"),
    "find_swizzle": ("layoutalg", "find-swizzle"),
    "eval": ("layoutalg", "eval"),
}
#: Options that are no question: they write files, colour, or are said by the tool itself.
_LEFT_OUT = {"color", "as_json", "as_sarif", "picture_path", "write", "init", "rules", "rule", "file", "help"}
#: What every tool takes beside its command's options.
_ADDED = {
    "json": {"type": "boolean", "description": "Answer as JSON, whole, instead of as text."},
    "text": {"type": "string", "description": "What goes to standard input, where an argument is -."},
}
#: Characters of an answer, and seconds of a call; both can be too few, and then it is said.
MOST, SECONDS = 6000, 120
#: What an exit status means.
VERDICTS = {
    Status.ANSWER: "answered",
    Status.DIFFERENCE: "wrong",
    Status.BAD_INPUT: "refused",
    Status.NOT_THERE: "unavailable",
}


@frozen
class AgentTool:
    """A command as an agent sees it.

    Args:
        name: of the tool.
        description: what the command says of itself.
        parameters: options and arguments, by the name that they have in the schema.
        schema: of the arguments, as JSON Schema.
    """

    name: str
    description: str
    parameters: Mapping[str, click.Parameter]
    schema: Mapping[str, Any]


@cache
def tools() -> Mapping[str, AgentTool]:
    """Every tool, by name."""
    return {name: _tool(name) for name in TOOLS}


def _tool(name: str) -> AgentTool:
    program, path = TOOLS[name]
    one = _command(program, path)
    parameters = {_spelled(each): each for each in one.params if each.name not in _LEFT_OUT}
    schema = {
        "type": "object",
        "properties": {**{key: _schema(each) for key, each in parameters.items()}, **_ADDED},
        "required": [key for key, each in parameters.items() if each.required],
        "additionalProperties": False,
    }
    text = (one.help or "").replace("\b\n", "").strip()
    return AgentTool(name, text, parameters, schema)


def _command(program: str, path: str) -> click.Command:
    found: click.Command = import_module(f"{program}.cli.command").command
    for word in path.split():
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), word) or found
    return found


def _spelled(parameter: click.Parameter) -> str:
    """The name that a person types, as a name of JSON."""
    long = [word for word in parameter.opts if word.startswith("--")]
    word = long[0] if long else parameter.opts[0]
    return word.lstrip("-").replace("-", "_")


def _schema(parameter: click.Parameter) -> dict[str, Any]:
    """The type of a parameter, with its words of help."""
    kind: dict[str, Any]
    if isinstance(parameter, click.Option) and parameter.is_flag:
        kind = {"type": "boolean"}
    elif isinstance(parameter.type, click.Choice):
        kind = {"type": "string", "enum": [str(one) for one in parameter.type.choices]}
    elif isinstance(parameter.type, click.types.IntParamType):
        kind = {"type": "integer"}
        bounds = {"minimum": getattr(parameter.type, "min", None), "maximum": getattr(parameter.type, "max", None)}
        kind |= {key: bound for key, bound in bounds.items() if bound is not None}
    else:
        kind = {"type": "string"}
    if parameter.nargs != 1 or parameter.multiple:
        kind = {"type": "array", "items": kind}
    if words := getattr(parameter, "help", None):
        kind["description"] = words
    return kind


def command_line(name: str, given: Mapping[str, Any]) -> list[str]:
    """What a person would type for a call.

    Args:
        name: of the tool.
        given: its arguments, as JSON has them.

    Raises:
        DescriptorError: if there is no such tool, or it has no such argument, or one is of another type.

    >>> command_line("plan", {"words": ["m64n128k16", "bf16"], "tile": "128x128x64", "stages": 4, "sparse": False})
    ['descriptors', 'plan', '--tile=128x128x64', '--stages=4', '--', 'm64n128k16', 'bf16']
    """
    if name not in TOOLS:
        raise DescriptorError(f"mcp: a tool must be one of {', '.join(TOOLS)}, found {name!r}")
    tool = tools()[name]
    options, arguments = list[str](), list[str]()
    for key, value in given.items():
        if key in _ADDED or value is None:
            continue
        parameter = tool.parameters.get(key)
        if parameter is None:
            raise DescriptorError(f"mcp: {name} takes {', '.join([*tool.parameters, *_ADDED])}, found {key!r}")
        values = value if isinstance(value, list) else [value]
        if isinstance(value, dict) or any(isinstance(one, list | dict) for one in values):
            raise DescriptorError(f"mcp: {key} of {name} must be {_schema(parameter)['type']}, found {value!r}")
        if isinstance(parameter, click.Argument):
            arguments += [str(one) for one in values]
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            options += [parameter.opts[0]] * bool(value)
        else:
            options += [f"{parameter.opts[0]}={one}" for one in values]
    if given.get("json"):
        options.append("--json")
    program, path = TOOLS[name]
    return [program, *path.split(), *options, *(["--", *arguments] if arguments else [])]


@frozen
class AgentAnswer:
    """What a call says.

    Args:
        verdict: ``answered``, ``wrong`` (or nothing was found), ``incomplete``, ``refused``, or ``unavailable``.
        command: as a person types it.
        text: the answer, its verdict first; cut where it is long, which it says.
    """

    verdict: str
    command: str
    text: str


def call(name: str, given: Mapping[str, Any], seconds: float = SECONDS) -> AgentAnswer:
    """Run a tool.

    Args:
        name: of the tool.
        given: its arguments, as JSON has them.
        seconds: that it may take.

    >>> call("eval", {"expression": "size((4,(2,3)):(1,(4,8)))"})
    AgentAnswer(verdict='answered', command="layoutalg eval -- 'size((4,(2,3)):(1,(4,8)))'", text='24')
    """
    import shlex

    try:
        program, *words = command_line(name, given)
    except DescriptorError as error:
        return AgentAnswer("refused", "", str(error))
    typed = shlex.join([program, *words])
    function = "descriptors" if program == "descriptors" else "main"
    run = [sys.executable, "-c", f"import sys; from layoutalg.cli import {function} as run; sys.exit(run())", *words]
    try:
        done = subprocess.run(
            run, input=given.get("text", ""), capture_output=True, encoding="utf-8", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return AgentAnswer("incomplete", typed, f"incomplete: no answer after {seconds:g} s; in a terminal: {typed}")
    verdict = VERDICTS.get(Status(done.returncode) if done.returncode in set(Status) else Status.BAD_INPUT, "refused")
    said = done.stdout.strip() or done.stderr.strip()
    if verdict == "answered" and "incomplete" in said:
        verdict = "incomplete"
    if verdict in ("refused", "unavailable"):
        said = "\n".join(filter(None, [done.stderr.strip(), done.stdout.strip()]))
    return AgentAnswer(verdict, typed, _cut(said, typed, bool(given.get("json"))))


def _cut(text: str, typed: str, as_json: bool) -> str:
    if len(text) <= MOST or as_json:  # half of JSON is none
        return text
    kept = text[:MOST].rsplit("\n", 1)[0]
    left = text.count("\n") - kept.count("\n")
    return f"{kept}\n... {left} lines more; whole in a terminal: {typed}"


#: What a call gives beside its text. Of the answers it says no more than that they are some: a client refuses what is
#: not of a tool's schema, and whole ones are four times as long as all that the tools take.
_RESULT = {
    "type": "object",
    "properties": {
        "verdict": {"enum": [*VERDICTS.values(), "incomplete"]},
        "command": {"type": "string", "description": "As a person types it."},
        "answers": {
            "type": "array",
            "items": {"type": "object", "properties": {"schema": {"const": SCHEMA}}, "required": ["schema"]},
            "description": "With json, what the command wrote, a line each; its schema: descriptors schema COMMAND.",
        },
    },
    "required": ["verdict", "command"],
    "additionalProperties": False,
}


def result(answer: AgentAnswer, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a call gives beside its text: the verdict, the command, and where JSON was asked for the answers as data.

    >>> result(call("eval", {"expression": "size(8:1)", "json": True}), {"json": True})["answers"]
    [{'schema': 1, 'kind': 'int', 'text': '8', 'value': 8}]
    """
    import json

    plain: dict[str, Any] = {"verdict": answer.verdict, "command": answer.command}
    if given.get("json"):
        plain["answers"] = [json.loads(line) for line in answer.text.splitlines() if line.startswith('{"schema": ')]
    return plain


INSTRUCTIONS = """\
layoutalg derives and proves what tensor cores read of shared memory and tensor memory. Ask it instead of reckoning a
descriptor word, LBO, SBO, a swizzle or a bank count. The verdict stands in the first line. `incomplete` is missing
evidence, not a pass; `refused` says in the same line what to ask instead."""


@click.command()
def mcp() -> Status:
    """Serve the commands as tools to a coding agent, over standard input and output (Model Context Protocol).

    \b
    claude mcp add layoutalg -- /path/to/layoutalg mcp
    {"mcpServers": {"layoutalg": {"command": "/path/to/layoutalg", "args": ["mcp"]}}}

    The tools are derive, decode, diff, plan, check, tmem_..., banks, find_swizzle and eval; an argument is an option of
    the command. It reads files that are named to check, and writes none. /path/to/layoutalg is the installed program
    (which layoutalg). It needs the extra mcp: pip install '.[mcp]' in a checkout. Exit status 3 without it.
    """
    try:
        import_module("mcp")
    except ImportError as error:
        raise NotThereError(f"mcp: the package mcp is not installed: {pip_install('mcp')}") from error
    import anyio

    anyio.run(_serve)
    return Status.ANSWER


async def _serve() -> None:
    import anyio
    from mcp import types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    async def listed(context: Any, given: Any) -> types.ListToolsResult:
        marks = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=one.name,
                    description=one.description,
                    input_schema=dict(one.schema),
                    output_schema=_RESULT,
                    annotations=marks,
                )
                for one in tools().values()
            ]
        )

    async def called(context: Any, given: types.CallToolRequestParams) -> types.CallToolResult:
        asked = given.arguments or {}
        answer = await anyio.to_thread.run_sync(call, given.name, asked)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=result(answer, asked),
            is_error=answer.verdict in ("refused", "unavailable"),
        )

    server: Any = Server(
        "layoutalg", version=__version__, instructions=INSTRUCTIONS, on_list_tools=listed, on_call_tool=called
    )
    async with stdio_server() as (receiving, sending):
        await server.run(receiving, sending, server.create_initialization_options())
