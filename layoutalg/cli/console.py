"""Run a program of this project: print its answer or refusal, handle interrupts and closed pipes, return its status.

Both commands and the scripts of the course use it, so that they behave alike: an answer is printed on standard output,
a refusal on standard error as ``PROGRAM COMMAND: error: FACT``. With ``--json`` both are JSON on standard output.
Source: Click 8, whose own ``main`` makes an error of a reader that has seen enough.
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

#: The version of what the commands write as JSON, whose schemas ``layoutalg.cli.schema`` has; a key that goes, or means
#: something else, makes it another one.
SCHEMA = 1


class Status(IntEnum):
    """How a program ends."""

    ANSWER = 0
    DIFFERENCE = 1  # what was compared or proved does not hold, or nothing was found
    BAD_INPUT = 2
    NOT_THERE = 3  # the CuTe DSL, or a GPU
    UNDECIDED = 4  # an answer that leaves a question open; the program ends with 0, unless ``run`` is told otherwise
    INTERRUPTED = 130  # as a shell says of SIGINT


class NotThereError(Exception):
    """What an answer needs is not on this machine."""


class SavablePicture(Protocol):
    """What this module asks of a picture."""

    def svg(self) -> str:
        """As text."""

    def save(self, path: str, *, replace: bool) -> None:
        """Into a file, as its suffix says."""


class Commands(click.Group):
    """A group of commands that imports each command when it is called.

    Args:
        headings: for each heading of ``--help``, its commands: name, module whose ``commands`` has it, summary.
        elsewhere: returns a hint for a text that is no command, or "".
        others: the entry point group by which other packages add commands to this program, or "".
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
        """The commands of other packages, by name; looked for only where the table has not what is asked for."""
        if not self.brought_by:
            return {}
        from importlib.metadata import entry_points  # as long to load as Click

        return {one.name: one for one in entry_points(group=self.brought_by)}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called, or a refusal that names the one that was meant."""
        if args[0] in self.table or args[0].startswith("-") or args[0] in self.others:
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches  # only where something is refused

        known = self.list_commands(ctx)
        near = get_close_matches(args[0], known, n=1)
        hint = self.elsewhere(args[0]) or (f"did you mean {near[0]}?" if near else f"one of {', '.join(known)}")
        typed = args[0] if len(args[0]) <= 40 else args[0][:37] + "..."
        raise click.UsageError(f"No such command {typed!r}; {hint}", ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return [*self.table, *(name for name in self.others if name not in self.table)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported now."""
        if cmd_name not in self.table:
            brought: click.Command | None = self.others[cmd_name].load() if cmd_name in self.others else None
            return brought
        commands: list[click.Command] = import_module(self.table[cmd_name][0]).commands
        return next((one for one in commands if one.name == cmd_name), None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands for ``--help`` without importing them; commands of other packages come last."""
        others = {name: _purpose(one) for name, one in self.others.items() if name not in self.table}
        lists = {heading: {name: text for name, (_, text) in rows.items()} for heading, rows in self.headings.items()}
        longest = max(map(len, {**self.table, **others}))
        for heading, rows in (lists | ({"Other packages": others} if others else {})).items():
            with formatter.section(heading):
                # Padding makes the columns of all sections equally wide.
                formatter.write_dl([(name.ljust(longest), text) for name, text in rows.items()])


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
            for one in definitions:
                if isinstance(one, FunctionDef) and one.name == command.attr and (text := get_docstring(one)):
                    return text.split("\n\n")[0]
    return f"Part of {command.module}."


def say(text: str) -> None:
    """Print an answer; unlike ``click.echo`` it keeps what the text is coloured with, and the buffer full."""
    if sys.stdout is None:
        raise OSError("standard output is closed")
    sys.stdout.write(text + "\n")


def standard_input() -> TextIO:
    """What is typed, or comes through a pipe.

    Raises:
        OSError: if the shell closed it, where Python has no stream.
    """
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin


def terminal_width(stream: TextIO | None) -> int | None:
    """The columns of the terminal that a stream goes to; None where it goes to none."""
    if stream is None or not stream.isatty():
        return None
    from shutil import get_terminal_size  # only before a terminal

    return get_terminal_size().columns


def line_width() -> int:
    """The terminal's width; where the output is no terminal, room for 32 columns of a 128 x 128 tile."""
    return terminal_width(sys.stdout) or 240


def _remember(context: click.Context, _: click.Parameter, choice: bool | None) -> None:
    context.meta[_CHOICE] = choice


_CHOICE = "layoutalg.color"

#: ``--color`` of every command whose answer may have colours: :func:`wants_color` reads it.
color_option = click.option(
    "--color/--no-color",
    default=None,
    expose_value=False,
    callback=_remember,
    help="Color the output.  [default: on a terminal]",
)


def wants_color() -> bool:
    """Whether an answer is coloured: as ``--color`` says, else on a terminal, but for ``NO_COLOR`` and a dumb one."""
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
    """A text for a terminal: its lines broken at words, and what means something in colour.

    A line goes on below the last of its columns that leaves room; no character but spaces is lost.

    Args:
        text: plain lines, their columns two spaces apart.
        width: columns of the terminal; no line is broken without.
        colours: patterns, each with how a terminal shows what it matches; a later one wins.

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
    '\\x1b[32mproved\\x1b[0m: all'
    """
    return "\n".join(part for line in text.split("\n") for part in _dressed_line(line, width, colours or {}))


def _dressed_line(line: str, width: int | None, colours: Mapping[str, str]) -> Iterator[str]:
    shown_as = [""] * len(line)
    for pattern, how in colours.items():
        for match in re.finditer(pattern, line):
            shown_as[match.start() : match.end()] = [how] * (match.end() - match.start())
    columns = [0, *(match.end() for match in re.finditer("^ +|  +", line))]
    room = width or len(line)
    indent = max(column for column in columns if column <= room // 2)
    at, before = 0, 0
    while len(line) - at > room - before and (end := _break(line, at + bool(before == 0) * indent, at + room - before)):
        yield " " * before + _coloured(line[at:end].rstrip(), shown_as[at:])
        at, before = end, indent or 2
    yield " " * before + _coloured(line[at:], shown_as[at:])


def _break(line: str, start: int, stop: int) -> int:
    """Where a line is broken: behind a space in [start, stop], else behind the first after it; 0 for nowhere.

    The last space there, but rather one behind a comma not far before it, and none of an arrow, of an equation, or
    between an option and its value.
    """
    spaces = re.finditer(r"(?<!->)(?<! =) (?!-> |= )", line[: stop + 1])
    ends = [match.end() for match in spaces if match.start() >= start]
    ends = [end for end in ends if not line[: end - 1].rpartition(" ")[2].startswith("--")] or ends
    clauses = [end for end in ends if line[end - 2] in ",;:" and end > stop - _CLAUSE]
    return max(clauses or ends, default=line.find(" ", stop) + 1)


#: Columns that a line leaves empty for the sake of a comma.
_CLAUSE = 24


def _coloured(text: str, shown_as: Sequence[str]) -> str:
    runs = groupby(zip(text, shown_as, strict=False), key=lambda one: one[1])
    parts = ((how, "".join(letter for letter, _ in run)) for how, run in runs)
    return "".join(f"\x1b[{how}m{part}\x1b[0m" if how else part for how, part in parts)


def json_text(answer: Mapping[str, Any]) -> str:
    """An answer as JSON, on one line, with the version of its form first.

    >>> json_text({"same": True})
    '{"schema": 1, "same": true}'
    """
    from json import dumps  # most answers are text

    return dumps({"schema": SCHEMA, **answer})


def save_picture(picture: SavablePicture, output: str, *, as_json: bool) -> str:
    """Write a picture where ``-o`` says, and give what is told of that: of ``-``, standard output, the picture itself.

    Raises:
        click.UsageError: if standard output should be two things.
        LayoutError: as ``save`` of the picture.
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
        command: what it does. It may return a ``Status``; nothing means an answer.
        name: of the program.
        refusals: the errors that say what is wrong with the input; any other is a bug, and stays a traceback.
        arguments: the command line after the name; that of this process if left out.
        undecided: the exit status of an answer that leaves a question open.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:
        _collect_seldom()
        _pass_utf8()
    try:
        status = _invoke(command, name, words)
        if sys.stdout is not None:  # closed before the program began
            sys.stdout.flush()
        if status is Status.UNDECIDED:
            return int(undecided)
        return int(status) if isinstance(status, int) else int(Status.ANSWER)
    except BrokenPipeError:
        _empty_output()
        return int(Status.ANSWER)  # the reader has seen enough
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
        fact = f"{error}: standard output" if unnamed else str(error)  # every file that is written is named
        return _refuse(error, Message(fact), place_of(command, name, words), [])  # the output itself may have failed
    except tuple(refusals) as error:
        return _refuse(error, Message.of(error), place_of(command, name, words), words)


def place_of(command: click.Command, name: str, arguments: Sequence[str]) -> str:
    """Return the command of a command line with its groups, as ``descriptors tmem plan``."""
    for word in arguments:
        if isinstance(command, click.Group):
            context = click.Context(command)
            if word in command.list_commands(context) and (inner := command.get_command(context, word)):
                command, name = inner, f"{name} {word}"
    return name


def _collect_seldom() -> None:
    """Look for garbage a hundredth as often, and not at all at the end, in a process that is this one command.

    Most of what such a process makes are modules, which live as long as it does: Python would look at them again and
    again, for a tenth of the time that a short command takes.
    """
    gc.set_threshold(100 * gc.get_threshold()[0])
    atexit.register(gc.freeze)


def _pass_utf8() -> None:
    """Read and write UTF-8 through pipes and files: pictures and pages say that they are, and Windows has another."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding != "utf-8" and not stream.isatty():
            stream.reconfigure(encoding="utf-8")


def usage_message(error: click.ClickException, place: str) -> Message:
    """Return what is wrong with a command line, for a missing option also its values, and where to read more."""
    more = f"see `{place} --help`"
    if not isinstance(error, click.MissingParameter) or error.param is None:
        sentence = re.sub(r"(?<!\.)\.$", "", error.format_message())
        return Message.parse(sentence[:1].lower() + sentence[1:], (more,))
    values = (getattr(error.param, "help", None) or "").split("  [default")[0].rstrip(".")
    name = error.param.human_readable_name if isinstance(error.param, click.Argument) else error.param.opts[0]
    return Message(f"{name} is missing", (f"{name}: {values}",) if values else (), (more,))


def _invoke(command: click.Command, name: str, arguments: Sequence[str]) -> object:
    """What Click's ``main`` does, but for its errors."""
    variable = f"_{name}_COMPLETE".replace("-", "_").replace(".", "_").upper()
    if instruction := os.environ.get(variable):
        from click.shell_completion import shell_complete  # only when the shell asks

        return shell_complete(command, {}, name, variable, instruction)
    try:
        with command.make_context(name, list(arguments)) as context:
            return command.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code


def _empty_output() -> None:
    """Let what is still buffered go nowhere, so that Python's own flush at exit has nothing to complain about."""
    with suppress(UnsupportedOperation, AttributeError):  # a stream in memory never fails, nor one that is not there
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
    """Print a refusal on standard error, or as JSON where the answer was to be JSON."""
    if sys.stdout is None or not _asks_json(arguments):  # Python has no stream where the shell closed it
        complain(message.text(place))
        return int(status)
    try:
        say(json_text({"error": message.record(type(error).__name__)}))
        sys.stdout.flush()
    except OSError:
        _empty_output()  # nobody reads it, but it is a refusal still
    return int(status)


def _asks_json(arguments: Sequence[str]) -> bool:
    """Whether an answer was to be JSON, as far as arguments tell that no command has read."""
    return not {"--json", "--format=json"}.isdisjoint(arguments) or ("--format", "json") in pairwise(arguments)


def printable(line: str) -> str:
    """A line of which no control character reaches a terminal, whatever was typed.

    >>> printable("wrote x" + chr(27) + "[31m.svg") == "wrote x" + chr(92) + "x1b[31m.svg"
    True
    """
    return "".join([one if one.isprintable() else ascii(one)[1:-1] for one in line])


def complain(text: str) -> None:
    """Print lines of bounded length on standard error, if there is one; ``print`` would take standard output then."""
    if sys.stderr is not None:
        width = terminal_width(sys.stderr)
        with suppress(OSError):
            for line in text.split("\n"):
                print(dressed(shortened(printable(line)), width), file=sys.stderr)
