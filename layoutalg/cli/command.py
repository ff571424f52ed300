"""The command ``layoutalg``: evaluate expressions of the algebra, draw layouts, list the operations.

Exit status: 0 for an answer, 1 where ``same`` finds a difference, 2 for bad input, which is told in one line on
standard error. The algebra is imported when a command needs it, so that ``--help`` and shell completion stay quick.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

import click

from layoutalg.cli import analysis as analysis_cli
from layoutalg.errors import LayoutError

_EPILOG = (
    "Exit status: 0 for an answer, 1 where `same` finds a difference, 2 for bad input. "
    'Shell completion for bash: eval "$(_LAYOUTALG_COMPLETE=bash_source layoutalg)"; zsh and fish likewise.'
)

# An expression may begin with a minus sign, which is no option then.
_EXPRESSIONS = {"ignore_unknown_options": True}


@click.group(epilog=_EPILOG, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, help="Show the version and exit.")
@click.pass_context
def command(context: click.Context, version: bool) -> None:
    """CuTe's layout algebra on the command line.

    Layouts are written as CuTe writes them: (8,16):(1,8), S<3,4,3> o 0 o (8,64):(64,1).
    """
    if version:
        from layoutalg import __version__

        _print(f"layoutalg {__version__}")
        context.exit()
    if context.invoked_subcommand is None:
        _print(context.get_help())


@command.command("eval", context_settings=_EXPRESSIONS)
@click.argument("expression")
@click.option("--json", "as_json", is_flag=True, help="Write the value as JSON.")
def eval_(expression: str, as_json: bool) -> None:
    """Evaluate EXPRESSION and print its value.

    \b
    layoutalg eval "zipped_divide(((8,16),(64,2)):((64,512),(1,8192)), (64,16))"
    layoutalg eval "coalesce((2,(1,6)):(1,(6,2)), target_profile=(1,1))"
    layoutalg eval "recast_layout(128, 16, S<3,4,3> o 0 o (8,64):(64,1))"
    layoutalg eval "((8,16):(1,8))(3,_)"

    `layoutalg ops` lists the operations. - reads the expression from standard input.
    """
    from layoutalg.cli.expression import evaluate
    from layoutalg.cli.output import describe, shown

    value = evaluate(_source(expression))
    _print(json.dumps(describe(value)) if as_json else shown(value))


@command.command(context_settings=_EXPRESSIONS)
@click.argument("layout")
@click.option("--json", "as_json", is_flag=True, help="Write all offsets as JSON, nested by mode.")
@click.option("--rows", type=click.IntRange(1, 1024), help="The most rows drawn.  [default: 64]")
@click.option("--columns", type=click.IntRange(1, 1024), help="The most columns drawn.  [default: what the line holds]")
@click.option("--all", "everything", is_flag=True, help="Draw all rows, columns and slices.")
@click.option("--color/--no-color", default=None, help="Colour cells by offset modulo 8.  [default: on a terminal]")
def show(
    layout: str, as_json: bool, rows: int | None, columns: int | None, everything: bool, color: bool | None
) -> None:
    """Draw the offset table of LAYOUT: mode 0 down, mode 1 across, a table for each slice of further modes.

    LAYOUT is a layout or any expression that gives one. - reads it from standard input.

    \b
    layoutalg show "(4,(2,4)):(2,(1,8))"
    layoutalg show "S<2,1,3> o 0 o (8,8):(8,1)"
    """
    from layoutalg.cli.expression import evaluate
    from layoutalg.cli.output import describe, need_few_cells, nested_offsets, shown
    from layoutalg.drawing.picture import draw
    from layoutalg.layouts.composed import ComposedLayout
    from layoutalg.layouts.layout import Layout

    value = evaluate(_source(layout))
    if not isinstance(value, (Layout, ComposedLayout)):
        raise LayoutError(f"show: the operand must be a layout, found {shown(value)[:120]}")
    if as_json:
        _print(json.dumps(describe(value) | {"offsets": nested_offsets(value)}))
        return
    if everything:
        need_few_cells(value, "use --rows and --columns")
        limits: dict[str, int | None] = {"max_rows": None, "max_columns": None, "max_grids": None}
    else:
        limits = {"max_rows": rows or 64, "max_columns": columns or 256}
        if columns is None:
            limits["width"] = _line_width()
    _print(draw(value).text(color=_wants_color(color), **limits))


@command.command(context_settings=_EXPRESSIONS)
@click.argument("first")
@click.argument("second")
def same(first: str, second: str) -> None:
    """Compare two layouts as functions of the index, whatever their shapes; exit status 1 if they differ.

    \b
    layoutalg same "(4,8):(1,4)" "coalesce((4,8):(1,4))"
    """
    from layoutalg.cli.expression import evaluate
    from layoutalg.cli.output import difference

    found = difference(evaluate(_source(first)), evaluate(_source(second)))
    _print(found or "same")
    if found:
        raise click.exceptions.Exit(1)


@command.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Write the list as JSON.")
def ops(name: str | None, as_json: bool) -> None:
    """List the operations of the algebra, or explain the one called NAME."""
    import inspect

    from layoutalg.cli.expression import OPERATIONS, operations

    functions = operations()
    if name is not None:
        if name not in functions:
            raise LayoutError(f"ops: NAME must be an operation (`layoutalg ops` lists them), found {name[:60]!r}")
        _print(f"{name}{_parameters(functions[name])}\n\n{inspect.getdoc(functions[name])}")
        return
    summaries = {key: _summary(function) for key, function in functions.items()}
    if as_json:
        _print(json.dumps(summaries))
        return
    width = max(map(len, functions))
    for topic, names in OPERATIONS.items():
        _print(f"{topic}")
        for key in names:
            _print(f"  {key:<{width}}  {summaries[key]}")


for _analysis in analysis_cli.commands:
    command.add_command(_analysis)


def _summary(function: Any) -> str:
    """The first line of an operation's docstring, without its markup."""
    first = (function.__doc__ or "").strip().split("\n", 1)[0]
    return re.sub(r":\w+:`([^`]*)`", r"\1", first).replace("``", "")


def _parameters(function: Any) -> str:
    """The parameters of an operation as a reader wants them: without types."""
    from inspect import Signature, signature

    declared = signature(function).parameters.values()
    bare = [parameter.replace(annotation=parameter.empty) for parameter in declared]
    return str(Signature(bare))


def _source(argument: str) -> str:
    return sys.stdin.read() if argument == "-" else argument


def _line_width() -> int:
    """The terminal's width; where the output is no terminal, room for 32 columns of a 128 x 128 tile."""
    from shutil import get_terminal_size

    return get_terminal_size().columns if sys.stdout.isatty() else 240


def _wants_color(asked: bool | None) -> bool:
    if asked is not None:
        return asked
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    >>> main(["eval", "composition((4,8):(8,1), 16:2)"])
    (2,8):(16,1)
    0
    """
    try:
        status = command.main(args=arguments, prog_name="layoutalg", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        return _refuse(f"layoutalg: {error.format_message()} (layoutalg --help)")
    except LayoutError as error:
        return _refuse(f"layoutalg: {error}")
    except (KeyboardInterrupt, click.Abort):
        return 130
    except BrokenPipeError:
        _abandon_output()
        return 0  # the reader has seen enough
    except (OSError, UnicodeError) as error:
        _abandon_output()
        return _refuse(f"layoutalg: {error}")


def _abandon_output() -> None:
    """Let Python's flush at exit succeed where the output has failed: what is still buffered goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(message: str) -> int:
    """One line on standard error, whatever the message holds, and the status for bad input."""
    print(" ".join(message.split()), file=sys.stderr)
    return 2
