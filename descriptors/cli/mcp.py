"""The command ``mcp``: offer the commands as tools for a coding agent, over standard input and output.

Each tool is a command. Its schema follows from the options of the command, and a call runs the command in its own
process, as if it were typed, so an agent gets the same output as a person. Options that write files or color text are
excluded, and so are options that read files, except those in ``READS``.

Invariant: the arguments of a tool are the options and arguments of its command, under each of their names.

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

from descriptors.errors import DescriptorError, brief
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
#: Options that are no question, by the name that their command has for them: they write or read files, color, or are
#: said by the tool itself.
_LEFT_OUT = {"color", "as_json", "as_sarif", "picture_path", "write", "init", "rules", "rule", "path", "help"}
#: The arguments that name files to read, of each tool that has some.
READS = {"check": ("files", "baseline", "I")}
#: What every tool takes beside its command's options.
_ADDED = {
    "json": {"type": "boolean", "description": "Answer as JSON, whole, instead of as text."},
    "text": {"type": "string", "description": "What goes to standard input, where an argument is -."},
}
#: Characters of an answer, and seconds of a call; both can be too few, and then it is said.
MOST, SECONDS = 6000, 120
#: Characters of all arguments of a call but ``text``: a command line holds no more on every system.
LONGEST = 20_000
#: The meaning of each exit status.
VERDICTS = {
    Status.ANSWER: "answered",
    Status.DIFFERENCE: "wrong",
    Status.BAD_INPUT: "refused",
    Status.NOT_THERE: "unavailable",
    Status.UNDECIDED: "incomplete",
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
    """Return all tools by name."""
    return {name: _tool(name) for name in TOOLS}


def _tool(name: str) -> AgentTool:
    program, path = TOOLS[name]
    one = _command(program, path)
    taken = [each for each in one.params if each.name not in _LEFT_OUT]
    parameters = {key: each for each in taken for key in _spellings(each)}
    schema = {
        "type": "object",
        "properties": {**{key: _schema(each) for key, each in parameters.items()}, **_ADDED},
        "required": [_spellings(each)[0] for each in taken if each.required],
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


def _spellings(parameter: click.Parameter) -> list[str]:
    """Return the names that a person types, as names of JSON."""
    long = [word for word in parameter.opts if word.startswith("--")]
    return [word.lstrip("-").replace("-", "_") for word in long or parameter.opts[:1]]


def _schema(parameter: click.Parameter) -> dict[str, Any]:
    """Return the schema of a parameter, with its help text."""
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
    if parameter.nargs > 1:
        kind |= {"minItems": parameter.nargs, "maxItems": parameter.nargs}
    if words := getattr(parameter, "help", None) or parameter.metavar:
        kind["description"] = words
    return kind


def command_line(name: str, given: Mapping[str, Any]) -> list[str]:
    """Return the command line of a call.

    Args:
        name: name of the tool.
        given: arguments of the call, as JSON values.

    Raises:
        DescriptorError: if the tool or an argument does not exist, or an argument has another type.

    >>> command_line("plan", {"instruction_and_dtype": ["m64n128k16", "bf16"], "tile": "128x128x64", "sparse": False})
    ['descriptors', 'plan', '--tile=128x128x64', '--', 'm64n128k16', 'bf16']
    """
    if name not in TOOLS:
        raise DescriptorError(f"mcp: there is no tool {brief(name)}; supported: {', '.join(TOOLS)}")
    tool = tools()[name]
    options, arguments = list[str](), list[str]()
    for key, value in given.items():
        if value is None:
            continue
        if key in _ADDED:
            _check_type(name, key, value, _ADDED[key])
            continue
        parameter = tool.parameters.get(key)
        if parameter is None:
            raise DescriptorError(
                f"mcp: {name} has no argument {brief(key)}; supported: {', '.join([*tool.parameters, *_ADDED])}"
            )
        values = value if isinstance(value, list) else [value]
        _check_type(name, key, value, tool.schema["properties"][key])
        if others := [one for one in _spellings(parameter) if one != key and given.get(one) is not None]:
            raise DescriptorError(f"mcp: {key} and {others[0]} of {name} are the same argument, and both are given")
        if isinstance(parameter, click.Argument):
            arguments += [str(one) for one in values]
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            options += [parameter.opts[0]] * bool(value)
        elif parameter.nargs > 1:
            options += [parameter.opts[0], *map(str, values)]
        else:
            options += [f"{parameter.opts[0]}={one}" for one in values]
    if given.get("json"):
        options.append("--json")
    if (length := sum(map(len, [*options, *arguments]))) > LONGEST:
        raise DescriptorError(
            f"mcp: the arguments of {name} have {length} characters, more than {LONGEST}; pass a long input "
            "in text, with - as the argument"
        )
    program, path = TOOLS[name]
    return [program, *path.split(), *options, *(["--", *arguments] if arguments else [])]


#: The types of Python that an argument of a type of JSON Schema may have: a number may be given where a text is asked
#: for, and a text where a number is, which the command then reads.
_TYPES: Mapping[str, tuple[type, ...]] = {
    "boolean": (bool,), "integer": (int, str), "string": (str, int, float), "array": (list, str, int, float),
}  # fmt: skip


def _check_type(name: str, key: str, value: Any, schema: Mapping[str, Any]) -> None:
    """Refuse an argument of another type than the schema says, and a text that no command line can hold."""
    kind = schema["type"]
    wrong = not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")
    if wrong or (key == "text" and not isinstance(value, str)):
        raise DescriptorError(f"mcp: {key} of {name} is {brief(value)}, which is not {kind}")
    if isinstance(value, int) and abs(value) >> 128:
        raise DescriptorError(f"mcp: {key} of {name} has {value.bit_length()} bits, more than 128")
    if isinstance(value, list):
        for one in value:
            _check_type(name, key, one, {"type": "string"})
    if isinstance(value, str):
        if "\0" in value and key != "text":
            raise DescriptorError(f"mcp: {key} of {name} contains the character NUL")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise DescriptorError(f"mcp: {key} of {name} contains half of a surrogate pair, which is not Unicode text")


@frozen
class AgentAnswer:
    """The result of a call.

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
    code = f"import sys; from layoutalg.cli import {function} as run; sys.exit(run(undecided={Status.UNDECIDED:d}))"
    run = [sys.executable, "-c", code, *words]
    try:
        done = subprocess.run(
            run, input=given.get("text", ""), capture_output=True, encoding="utf-8", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return AgentAnswer("incomplete", typed, f"incomplete: no answer after {seconds:g} s; in a terminal: {typed}")
    except OSError as error:
        return AgentAnswer("refused", typed, f"mcp: the command could not be started: {error.strerror}")
    verdict = VERDICTS.get(Status(done.returncode) if done.returncode in set(Status) else Status.BAD_INPUT, "refused")
    said = done.stdout.strip() or done.stderr.strip()
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
        "verdict": {"enum": [*VERDICTS.values()]},
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
layoutalg computes and verifies the shared-memory descriptors that tensor cores read, and checks kernels. Do not
calculate a descriptor, LBO, SBO, a swizzle or a bank count by hand: call derive or another tool. The verdict is in the
first line of an answer. `incomplete` means missing evidence, not a pass. `refused` explains what is not supported and
what is."""


@click.command()
def mcp() -> Status:
    """Serve the commands as tools to a coding agent, over standard input and output (Model Context Protocol).

    \b
    claude mcp add layoutalg -- /path/to/layoutalg mcp
    {"mcpServers": {"layoutalg": {"command": "/path/to/layoutalg", "args": ["mcp"]}}}

    The tools are derive, decode, diff, plan, check, tmem_..., banks, find_swizzle and eval. Their arguments are the
    options of the commands. The server reads only the files that are passed to check (kernels, TOML files, headers, a
    baseline), and writes none. /path/to/layoutalg is the installed program (`which layoutalg`). It needs the extra mcp:
    pip install '.[mcp]' in a checkout. Without it, the exit status is 3.
    """
    try:
        import_module("mcp")
    except ImportError as error:
        raise NotThereError(f"mcp: the package mcp is not installed; use {pip_install('mcp')}") from error
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
    async with stdio_server() as (receiving, sending), anyio.create_task_group() as tasks:
        forwarded, read = anyio.create_memory_object_stream[Any]()

        async def forward() -> None:
            async with forwarded:
                async for message in receiving:
                    await forwarded.send(_read_again(message) if isinstance(message, Exception) else message)

        tasks.start_soon(forward)
        await server.run(read, sending, server.create_initialization_options())


def _read_again(error: Exception) -> Any:
    """Return the message that the transport did not read because of half of a surrogate pair, or the error.

    Without this the transport drops the message, and the client waits for an answer to it. A tool refuses the text.
    """
    import json

    from mcp import types
    from mcp.shared.message import SessionMessage
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return error
    try:
        message = json.loads(error.errors()[0]["input"])
        return SessionMessage(types.jsonrpc_message_adapter.validate_python(message, by_name=False))
    except (ValueError, TypeError, RecursionError):
        return error
