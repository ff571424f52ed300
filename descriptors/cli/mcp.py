"""The command ``mcp``: offer the commands as tools for a coding agent, over standard input and output.

Each tool is a command. Its schema follows from the options of the command, and a call runs the command in its own
process, as if it were typed, so an agent gets the same output as a person. Options that write files or color text are
excluded, and so are options that read files, except those in ``READS``.

Invariant: the arguments of a tool are the options and arguments of its command, under each of their names.

>>> [name for name, tool in tools().items() if set(tool.schema["properties"]) != set(tool.parameters) | set(_ADDED)]
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
#: Options that tools do not have, by their parameter names: they write or read files, select colors, or are set by the
#: tool itself.
_LEFT_OUT = {"color", "as_json", "as_sarif", "picture_path", "write", "init", "rules", "rule", "path", "help"}
#: The arguments that name files to read, by tool.
READS = {"check": ("files", "baseline", "I")}
#: The arguments of every tool in addition to the options of its command.
_ADDED = {
    "json": {"type": "boolean", "description": "Return the complete answer as JSON instead of text."},
    "text": {"type": "string", "description": "Standard input, for an argument that is -."},
}
#: Limits of an answer in characters and of a call in seconds; an answer that exceeds one says so.
MOST, SECONDS = 6000, 120
#: Limit of all arguments of a call except ``text``, in characters; some systems limit the length of a command line.
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
    """A command as a tool of an agent.

    Args:
        name: the name of the tool.
        description: the help text of the command.
        parameters: options and arguments, by their names in the schema.
        schema: the JSON Schema of the arguments.
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
    command = _command(program, path)
    selected = [parameter for parameter in command.params if parameter.name not in _LEFT_OUT]
    parameters = {key: parameter for parameter in selected for key in _spellings(parameter)}
    schema = {
        "type": "object",
        "properties": {**{key: _schema(parameter) for key, parameter in parameters.items()}, **_ADDED},
        "required": [_spellings(parameter)[0] for parameter in selected if parameter.required],
        "additionalProperties": False,
    }
    text = (command.help or "").replace("\b\n", "").strip()
    return AgentTool(name, text, parameters, schema)


def _command(program: str, path: str) -> click.Command:
    command: click.Command = import_module(f"{program}.cli.command").command
    for word in path.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word) or command
    return command


def _spellings(parameter: click.Parameter) -> list[str]:
    """Return the long names of a parameter in the form of JSON keys."""
    long = [word for word in parameter.opts if word.startswith("--")]
    return [word.lstrip("-").replace("-", "_") for word in long or parameter.opts[:1]]


def _schema(parameter: click.Parameter) -> dict[str, Any]:
    """Return the schema of a parameter, with its help text."""
    kind: dict[str, Any]
    if isinstance(parameter, click.Option) and parameter.is_flag:
        kind = {"type": "boolean"}
    elif isinstance(parameter.type, click.Choice):
        kind = {"type": "string", "enum": [str(choice) for choice in parameter.type.choices]}
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


def command_line(name: str, call_arguments: Mapping[str, Any]) -> list[str]:
    """Return the command line of a call.

    Args:
        name: name of the tool.
        call_arguments: arguments of the call, as JSON values.

    Raises:
        DescriptorError: if the tool or an argument does not exist, or an argument has another type.

    >>> command_line("plan", {"instruction_and_dtype": ["m64n128k16", "bf16"], "tile": "128x128x64", "sparse": False})
    ['descriptors', 'plan', '--tile=128x128x64', '--', 'm64n128k16', 'bf16']
    """
    if name not in TOOLS:
        raise DescriptorError(f"mcp: there is no tool {brief(name)}; supported: {', '.join(TOOLS)}")
    tool = tools()[name]
    options, arguments = list[str](), list[str]()
    for key, value in call_arguments.items():
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
        if others := [name for name in _spellings(parameter) if name != key and call_arguments.get(name) is not None]:
            raise DescriptorError(f"mcp: {key} and {others[0]} of {name} are the same argument, and both are given")
        if isinstance(parameter, click.Argument):
            arguments += map(str, values)
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            options += [parameter.opts[0]] * bool(value)
        elif parameter.nargs > 1:
            options += [parameter.opts[0], *map(str, values)]
        else:
            options += [f"{parameter.opts[0]}={item}" for item in values]
    if call_arguments.get("json"):
        options.append("--json")
    if (length := sum(map(len, [*options, *arguments]))) > LONGEST:
        raise DescriptorError(
            f"mcp: the arguments of {name} have {length} characters, more than {LONGEST}; pass a long input "
            "in text, with - as the argument"
        )
    program, path = TOOLS[name]
    return [program, *path.split(), *options, *(["--", *arguments] if arguments else [])]


#: The Python types of an argument, by its JSON Schema type. A number may be passed for a text, and a text for a number,
#: because the command parses it.
_TYPES: Mapping[str, tuple[type, ...]] = {
    "boolean": (bool,), "integer": (int, str), "string": (str, int, float), "array": (list, str, int, float),
}  # fmt: skip


def _check_type(name: str, key: str, value: Any, schema: Mapping[str, Any]) -> None:
    """Refuse an argument whose type differs from the schema, and a text that cannot be part of a command line."""
    kind = schema["type"]
    wrong = not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")
    if wrong or (key == "text" and not isinstance(value, str)):
        raise DescriptorError(f"mcp: {key} of {name} is {brief(value)}, which is not {kind}")
    if isinstance(value, int) and abs(value) >> 128:
        raise DescriptorError(f"mcp: {key} of {name} has {value.bit_length()} bits, more than 128")
    if isinstance(value, list):
        for item in value:
            _check_type(name, key, item, {"type": "string"})
    if isinstance(value, str):
        if "\0" in value and key != "text":
            raise DescriptorError(f"mcp: {key} of {name} contains the character NUL")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise DescriptorError(f"mcp: {key} of {name} contains half of a surrogate pair, which is not Unicode text")


@frozen
class AgentAnswer:
    """The result of a call.

    Args:
        verdict: ``answered``, ``wrong`` (or no result), ``incomplete``, ``refused``, or ``unavailable``.
        command: the command line.
        text: the output of the command; a long output is cut, with a remark.
    """

    verdict: str
    command: str
    text: str


def call(name: str, arguments: Mapping[str, Any], seconds: float = SECONDS) -> AgentAnswer:
    """Run a tool.

    Args:
        name: the name of the tool.
        arguments: its arguments, as JSON values.
        seconds: the time limit.

    >>> call("eval", {"expression": "size((4,(2,3)):(1,(4,8)))"})
    AgentAnswer(verdict='answered', command="layoutalg eval -- 'size((4,(2,3)):(1,(4,8)))'", text='24')
    """
    import shlex

    try:
        program, *words = command_line(name, arguments)
    except DescriptorError as error:
        return AgentAnswer("refused", "", str(error))
    typed = shlex.join([program, *words])
    function = "descriptors" if program == "descriptors" else "main"
    code = f"import sys; from layoutalg.cli import {function} as run; sys.exit(run(undecided={Status.UNDECIDED:d}))"
    run = [sys.executable, "-c", code, *words]
    try:
        completed = subprocess.run(
            run, input=arguments.get("text", ""), capture_output=True, encoding="utf-8", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return AgentAnswer("incomplete", typed, f"incomplete: no answer after {seconds:g} s; in a terminal: {typed}")
    except OSError as error:
        return AgentAnswer("refused", typed, f"mcp: the command could not be started: {error.strerror}")
    verdict = VERDICTS.get(
        Status(completed.returncode) if completed.returncode in set(Status) else Status.BAD_INPUT, "refused"
    )
    output = completed.stdout.strip() or completed.stderr.strip()
    if verdict in ("refused", "unavailable"):
        output = "\n".join(filter(None, [completed.stderr.strip(), completed.stdout.strip()]))
    return AgentAnswer(verdict, typed, _cut(output, typed, bool(arguments.get("json"))))


def _cut(text: str, typed: str, as_json: bool) -> str:
    if len(text) <= MOST or as_json:  # JSON cannot be cut
        return text
    beginning = text[:MOST].rsplit("\n", 1)[0]
    left = text.count("\n") - beginning.count("\n")
    return f"{beginning}\n... {left} more lines; for the complete output, run: {typed}"


#: The schema of the structured result. It does not describe the answers in detail, because a client refuses a result
#: that differs from the schema, and the complete schemas are four times as long as those of the arguments.
_RESULT = {
    "type": "object",
    "properties": {
        "verdict": {"enum": [*VERDICTS.values()]},
        "command": {"type": "string", "description": "The command line."},
        "answers": {
            "type": "array",
            "items": {"type": "object", "properties": {"schema": {"const": SCHEMA}}, "required": ["schema"]},
            "description": "With json: the output of the command, one record per line; see descriptors schema COMMAND.",
        },
    },
    "required": ["verdict", "command"],
    "additionalProperties": False,
}


def result(answer: AgentAnswer, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the structured result of a call: the verdict, the command line, and the answers as data if JSON was
    requested.

    >>> result(call("eval", {"expression": "size(8:1)", "json": True}), {"json": True})["answers"]
    [{'schema': 1, 'kind': 'int', 'text': '8', 'value': 8}]
    """
    import json

    plain: dict[str, Any] = {"verdict": answer.verdict, "command": answer.command}
    if arguments.get("json"):
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

    async def list_tools(context: Any, request: Any) -> types.ListToolsResult:
        marks = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=dict(tool.schema),
                    output_schema=_RESULT,
                    annotations=marks,
                )
                for tool in tools().values()
            ]
        )

    async def call_tool(context: Any, request: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = request.arguments or {}
        answer = await anyio.to_thread.run_sync(call, request.name, arguments)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=result(answer, arguments),
            is_error=answer.verdict in ("refused", "unavailable"),
        )

    server: Any = Server(
        "layoutalg", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
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
