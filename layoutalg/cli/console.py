"""Run a program of this project: print its answer or refusal, handle interrupts and closed pipes, return its status.

Both commands and the scripts of the course use this module, so that they behave alike: an answer is printed on standard
output, a refusal on standard error as ``PROGRAM COMMAND: error: FACT``. With ``--json`` both are JSON on standard
output.

Source: Click 8. Its own ``main`` reports an error if the reader closes the pipe early; this module does not.
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import IntEnum
from functools import cached_property
from importlib import import_module
from io import TextIOWrapper, UnsupportedOperation
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, Protocol, TextIO

import click

from layoutalg.messages import Message, shortened

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The number of new objects after which a process that runs one command collects garbage; Python's is 700 or 2,000.
_SELDOM = 100_000

#: The version of the JSON output, whose schemas are in ``layoutalg.cli.schema``. It is increased if a key is removed or
#: changes its meaning.
SCHEMA = 1


class Status(IntEnum):
    """The exit status of a program."""

    ANSWER = 0
    DIFFERENCE = 1  # a comparison or proof failed, or a search found nothing
    BAD_INPUT = 2
    NOT_THERE = 3  # the CuTe DSL, or a GPU
    UNDECIDED = 4  # an answer with an open question; the exit status is then the argument ``undecided`` of ``run``
    INTERRUPTED = 130  # the value that a shell reports for SIGINT


class NotThereError(Exception):
    """A tool or device that an answer needs is not on this machine."""


class SavablePicture(Protocol):
    """The methods of a picture that this module uses."""

    def svg(self) -> str:
        """Return the picture as SVG text."""

    def save(self, path: str, *, replace: bool) -> None:
        """Write the picture to a file in the format of its suffix."""


class Commands(click.Group):
    """A group of commands that imports each command when it is called.

    Args:
        arguments: positional arguments of ``click.Group``.
        headings: for each heading of ``--help``, its commands: name, module whose ``commands`` contains it, summary.
        elsewhere: returns a hint for the first word of a command line that is not a command, or "".
        others: the entry point group by which other packages add commands to this program, or "".
        options: keyword arguments of ``click.Group``.
    """

    def __init__(
        self,
        *arguments: Any,
        headings: Mapping[str, Mapping[str, tuple[str, str]]],
        elsewhere: Callable[[str], str] = lambda text: "",
        others: str = "",
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.headings, self.elsewhere, self.brought_by = headings, elsewhere, others
        self.table = {name: row for rows in headings.values() for name, row in rows.items()}

    @cached_property
    def others(self) -> dict[str, EntryPoint]:
        """The commands of other packages by name; loaded only for a command that the table does not contain."""
        if not self.brought_by:
            return {}
        from importlib.metadata import entry_points  # takes as long to import as Click

        return {entry.name: entry for entry in entry_points(group=self.brought_by)}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called.

        Raises:
            click.UsageError: if there is no such command; the message suggests the nearest one.
        """
        if args[0] in self.table or args[0].startswith("-") or args[0] in self.others:
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches  # imported only for a refusal

        known = self.list_commands(ctx)
        near = get_close_matches(args[0], known, n=1)
        hint = self.elsewhere(args[0]) or _other_program(args)
        hint = hint or (f"did you mean {near[0]}?" if near else f"one of {', '.join(known)}")
        typed = args[0] if len(args[0]) <= 40 else args[0][:37] + "..."
        raise click.UsageError(f"No such command {typed!r}; {hint}", ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of the table."""
        return [*self.table, *(name for name in self.others if name not in self.table)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        if cmd_name not in self.table:
            loaded: click.Command | None = self.others[cmd_name].load() if cmd_name in self.others else None
            return loaded
        commands: list[click.Command] = import_module(self.table[cmd_name][0]).commands
        return next((command for command in commands if command.name == cmd_name), None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands for ``--help`` without importing them; commands of other packages come last."""
        others = {name: _purpose(entry) for name, entry in self.others.items() if name not in self.table}
        lists = {heading: {name: text for name, (_, text) in rows.items()} for heading, rows in self.headings.items()}
        longest = max(map(len, {**self.table, **others}))
        for heading, rows in (lists | ({"Other packages": others} if others else {})).items():
            with formatter.section(heading):
                # Padding makes the columns of all sections equally wide.
                formatter.write_dl([(name.ljust(longest), text) for name, text in rows.items()])


def _other_program(arguments: Sequence[str]) -> str:
    """Return a command line of either program that accepts these arguments, as a way out; "" if there is none."""
    from shlex import join  # imported only for a refusal

    for program in ("layoutalg", "descriptors"):
        with suppress(ImportError):
            if line := import_module(f"{program}.cli.command").line_for(arguments):
                return f"use `{shortened(join(line), 200)}`"
    return ""


def _purpose(command: EntryPoint) -> str:
    """Return the first paragraph of a command's docstring, read from its source: an import would load its package."""
    from ast import FunctionDef, get_docstring, parse
    from importlib.machinery import PathFinder
    from pathlib import Path

    package, *names = command.module.split(".")
    spec = PathFinder.find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        with suppress(OSError, SyntaxError, ValueError):
            definitions = parse(Path(folder, *names).with_suffix(".py").read_text("utf-8")).body
            for node in definitions:
                if isinstance(node, FunctionDef) and node.name == command.attr and (text := get_docstring(node)):
                    return text.split("\n\n")[0]
    return f"Part of {command.module}."


def say(text: str) -> None:
    """Print an answer. Unlike ``click.echo``, keep its color codes and do not flush."""
    if sys.stdout is None:
        raise OSError("standard output is closed")
    sys.stdout.write(text + "\n")


def standard_input() -> TextIO:
    """Return standard input.

    Raises:
        OSError: if the shell closed it, so that Python has no stream.
    """
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin


def terminal_width(stream: TextIO | None) -> int | None:
    """Return the number of columns of a stream's terminal; None if the stream does not go to a terminal."""
    if stream is None or not stream.isatty():
        return None
    from shutil import get_terminal_size  # imported only for a terminal

    return get_terminal_size().columns


def line_width() -> int:
    """Return the terminal's width; without a terminal, enough for 32 columns of a 128 x 128 tile."""
    return terminal_width(sys.stdout) or 240


def _remember(context: click.Context, _: click.Parameter, choice: bool | None) -> None:
    context.meta[_CHOICE] = choice


_CHOICE = "layoutalg.color"

#: The option ``--color`` of every command with colored output; :func:`wants_color` reads it.
color_option = click.option(
    "--color/--no-color",
    default=None,
    expose_value=False,
    callback=_remember,
    help="Color the output.  [default: on a terminal]",
)


def wants_color() -> bool:
    """Return whether to color an answer: ``--color`` decides, else whether a terminal shows it.

    Without ``--color``, the environment variables ``NO_COLOR`` and ``TERM=dumb`` turn colors off.
    """
    context = click.get_current_context(silent=True)
    choice: bool | None = context.meta.get(_CHOICE) if context else None
    if choice is not None:
        return choice
    return (
        sys.stdout is not None
        and sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )


def dressed(text: str, width: int | None = None, colours: Mapping[str, str] | None = None) -> str:
    r"""Format a text for a terminal: wrap its lines at words and color the matches of patterns.

    The continuation of a line is indented to the last of its columns that leaves enough room. Wrapping removes no
    characters except spaces.

    Args:
        text: plain lines whose columns are two spaces apart.
        width: number of columns of the terminal; None does not wrap.
        colours: patterns, each with the ANSI code for its matches; a later pattern takes precedence.

    >>> print(dressed("word  it is a long story", 16))
    word  it is a
          long story
    >>> print(dressed("change base_offset 1 -> 0, swizzle 128B -> 64B", 44))
    change base_offset 1 -> 0,
      swizzle 128B -> 64B
    >>> print(dressed("plan --stages 7 --tile 128x64", 24))
    plan --stages 7
      --tile 128x64
    >>> dressed("proved: all", None, {"^proved": "32"})
    '\x1b[32mproved\x1b[0m: all'
    """
    return "\n".join(part for line in text.split("\n") for part in _dressed_line(line, width, colours or {}))


def _dressed_line(line: str, width: int | None, colours: Mapping[str, str]) -> Iterator[str]:
    codes = [""] * len(line)
    for pattern, code in colours.items():
        for match in re.finditer(pattern, line):
            codes[match.start() : match.end()] = [code] * (match.end() - match.start())
    columns = [0, *(match.end() for match in re.finditer("^ +|  +", line))]
    room = width or len(line)
    indent = max(column for column in columns if column <= room // 2)
    start, margin = 0, 0
    while len(line) - start > room - margin:
        end = _break(line, start + (0 if margin else indent), start + room - margin)
        if not end:
            break
        yield " " * margin + _coloured(line[start:end].rstrip(), codes[start:])
        start, margin = end, indent or 2
    yield " " * margin + _coloured(line[start:], codes[start:])


def _break(line: str, start: int, stop: int) -> int:
    """Return where to break a line: after the last space in [start, stop], else after the next space; 0 for nowhere.

    A space after a comma, semicolon or colon shortly before the last space is preferred. The spaces around an arrow or
    an equals sign are not used, and the space between an option and its value only if there is no other.
    """
    spaces = re.finditer(r"(?<!->)(?<! =) (?!-> |= )", line[: stop + 1])
    ends = [match.end() for match in spaces if match.start() >= start]
    ends = [end for end in ends if not line[: end - 1].rpartition(" ")[2].startswith("--")] or ends
    clauses = [end for end in ends if line[end - 2] in ",;:" and end > stop - _CLAUSE]
    return max(clauses or ends, default=line.find(" ", stop) + 1)


#: The most columns that stay empty so that a line ends with a comma, semicolon or colon.
_CLAUSE = 24


def _coloured(text: str, codes: Sequence[str]) -> str:
    runs = groupby(zip(text, codes, strict=False), key=lambda pair: pair[1])
    parts = ((code, "".join(letter for letter, _ in run)) for code, run in runs)
    return "".join(f"\x1b[{code}m{part}\x1b[0m" if code else part for code, part in parts)


def json_text(answer: Mapping[str, Any]) -> str:
    """Return an answer as one line of JSON that begins with the version of the format.

    >>> json_text({"same": True})
    '{"schema": 1, "same": true}'
    """
    from json import dumps  # imported only here, because most answers are text

    return dumps({"schema": SCHEMA, **answer})


def save_picture(picture: SavablePicture, output: str, *, as_json: bool) -> str:
    """Write a picture to the file of ``-o`` and return the answer to print; for ``-`` the answer is the picture.

    Raises:
        click.UsageError: if both the picture and JSON were to go to standard output.
        LayoutError: if ``save`` of the picture raises it.
    """
    if output == "-":
        if as_json:
            raise click.UsageError("-o - and --json cannot be combined, because both write to standard output")
        return picture.svg()
    picture.save(output, replace=False)
    return json_text({"written": output}) if as_json else printable(f"wrote {output}")


def run(
    command: click.Command,
    name: str,
    refusals: Iterable[type[Exception]] = (),
    arguments: Sequence[str] | None = None,
    undecided: int = Status.ANSWER,
) -> int:
    """Run a program and return its exit status.

    Args:
        command: the command. It may return a ``Status``; None means ``Status.ANSWER``.
        name: the name of the program.
        refusals: the errors that describe bad input. Any other error is a bug and is raised.
        arguments: the command line after the name; default: the command line of this process.
        undecided: the exit status of an answer with an open question.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:
        _collect_seldom()
        _pass_utf8()
    try:
        status = _invoke(command, name, words)
        if sys.stdout is not None:  # None if the shell closed standard output
            sys.stdout.flush()
        if status is Status.UNDECIDED:
            return int(undecided)
        return int(status) if isinstance(status, int) else int(Status.ANSWER)
    except BrokenPipeError:
        _empty_output()
        return int(Status.ANSWER)  # the reader closed the pipe; that is not an error
    except (KeyboardInterrupt, click.Abort):
        complain("")  # ends the line on which the terminal shows ^C
        return int(Status.INTERRUPTED)
    except NotThereError as error:
        return _refuse(error, Message.of(error), place_of(command, name, words), words, Status.NOT_THERE)
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        place = context.command_path if context else place_of(command, name, words)
        return _refuse(error, usage_message(error, place), place, words)
    except (OSError, UnicodeError) as error:
        _empty_output()
        unnamed = isinstance(error, OSError) and error.errno is not None and error.filename is None
        fact = f"{error}: standard output" if unnamed else str(error)  # errors of files contain the file's name
        return _refuse(error, Message(fact), place_of(command, name, words), [])  # the output itself may have failed
    except tuple(refusals) as error:
        return _refuse(error, Message.of(error), place_of(command, name, words), words)


def place_of(command: click.Command, name: str, arguments: Sequence[str]) -> str:
    """Return the command of a command line with its groups, such as ``descriptors tmem plan``."""
    for word in arguments:
        if isinstance(command, click.Group):
            context = click.Context(command)
            if word in command.list_commands(context) and (inner := command.get_command(context, word)):
                command, name = inner, f"{name} {word}"
    return name


def _collect_seldom() -> None:
    """Collect garbage far less often than by default, and not at the end of the process.

    Most objects of a process that runs one command are modules, which are never garbage. Collecting would take a tenth
    of the time of a short command. A second call in the same process changes nothing.
    """
    gc.set_threshold(max(_SELDOM, gc.get_threshold()[0]))
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def _pass_utf8() -> None:
    """Use UTF-8 for pipes and files: pictures and pages declare it, and the default of Windows is another encoding."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding != "utf-8" and not stream.isatty():
            stream.reconfigure(encoding="utf-8")


def usage_message(error: click.ClickException, place: str) -> Message:
    """Return the message for a wrong command line, with the values of a missing option and a pointer to ``--help``."""
    more = f"see `{place} --help`"
    if not isinstance(error, click.MissingParameter) or error.param is None:
        sentence = re.sub(r"(?<!\.)\.$", "", error.format_message())
        if not sentence[:2].isupper():  # the name of an argument keeps its case
            sentence = sentence[:1].lower() + sentence[1:]
        return Message.parse(sentence, (more,))
    values = (getattr(error.param, "help", None) or "").split("  [default")[0].rstrip(".")
    name = error.param.human_readable_name if isinstance(error.param, click.Argument) else error.param.opts[0]
    example = _example(error, place, name)
    return Message(
        f"{name} is missing",
        (f"{name}: {values}",) if any(sign in values for sign in ":,`") else (),  # otherwise it repeats the name
        (*((f"use, for example, `{example}`",) if example else ()), more),
    )


def _example(error: click.MissingParameter, place: str, name: str) -> str:
    """Return the first example in a command's help that has the missing option, or any argument; "" by default."""
    lines = [line.strip() for line in (error.ctx.command.help or "").splitlines()] if error.ctx else []
    examples = [line for line in lines if line.startswith(f"{place} ") and not line.endswith("\\")]
    if name.startswith("-"):
        examples = [line for line in examples if name in line.split()]
    return examples[0] if examples else ""


def _invoke(command: click.Command, name: str, arguments: Sequence[str]) -> object:
    """Run a command as Click's ``main`` does, but let its errors pass."""
    variable = f"_{name}_COMPLETE".replace("-", "_").replace(".", "_").upper()
    if instruction := os.environ.get(variable):
        from click.shell_completion import shell_complete  # imported only for shell completion

        return shell_complete(command, {}, name, variable, instruction)
    try:
        with command.make_context(name, list(arguments)) as context:
            return command.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code


def _empty_output() -> None:
    """Discard buffered output, so that Python's flush at exit does not fail."""
    with suppress(UnsupportedOperation, AttributeError):  # a stream in memory, or a closed standard output
        output = sys.stdout.fileno()
        saved, nowhere = os.dup(output), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, output)
        sys.stdout.flush()
        os.dup2(saved, output)
        os.close(saved)
        os.close(nowhere)


def _refuse(
    error: Exception, message: Message, place: str, arguments: Sequence[str], status: Status = Status.BAD_INPUT
) -> int:
    """Print a refusal on standard error, or as JSON on standard output if the command line requests JSON."""
    if sys.stdout is None or not _requests_json(arguments):  # None if the shell closed standard output
        complain(message.text(place))
        return int(status)
    try:
        say(json_text({"error": message.record(type(error).__name__)}))
        sys.stdout.flush()
    except OSError:
        _empty_output()  # the reader closed the pipe; the status is still that of a refusal
    return int(status)


def _requests_json(arguments: Sequence[str]) -> bool:
    """Return whether a command line that was not parsed contains an option for JSON."""
    return not {"--json", "--format=json"}.isdisjoint(arguments) or ("--format", "json") in pairwise(arguments)


def printable(line: str) -> str:
    """Return a line with its control characters escaped, so that typed input cannot control a terminal.

    >>> printable("wrote x" + chr(27) + "[31m.svg") == "wrote x" + chr(92) + "x1b[31m.svg"
    True
    """
    return "".join([character if character.isprintable() else ascii(character)[1:-1] for character in line])


def complain(text: str) -> None:
    """Print lines of bounded length on standard error, or nothing if standard error is closed."""
    if sys.stderr is not None:
        width = terminal_width(sys.stderr)
        with suppress(OSError):
            for line in text.split("\n"):
                print(dressed(shortened(printable(line)), width), file=sys.stderr)
