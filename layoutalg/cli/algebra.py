"""Commands of the algebra itself: evaluate an expression, draw a layout, compare two, list the operations."""

from __future__ import annotations

from typing import Any

import click

from layoutalg.cli.atoms import record_families, record_fragment, tell_families, tell_fragment
from layoutalg.cli.console import Status, json_text, line_width, say, wants_color
from layoutalg.cli.listing import explained, record_operations, tell_operations
from layoutalg.cli.options import EXPRESSIONS, json_option, source
from layoutalg.cli.values import difference, need_few_cells, record, record_offsets, tell
from layoutalg.drawing.text import table
from layoutalg.errors import LayoutError
from layoutalg.fragments.names import fragment, names
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.notation.expression import evaluate


@click.command("eval", context_settings=EXPRESSIONS)
@click.argument("expression")
@json_option("Write the value as JSON.")
@click.option(
    "--check", "compared", is_flag=True, help="Compare the value with the CuTe DSL's too; exit status 1 if it differs."
)
def eval_(expression: str, as_json: bool, compared: bool) -> Status:
    """Evaluate EXPRESSION and print its value.

    \b
    layoutalg eval "zipped_divide(((8,16),(64,2)):((64,512),(1,8192)), (64,16))"
    layoutalg eval "coalesce((2,(1,6)):(1,(6,2)), target_profile=(1,1))"
    layoutalg eval "recast_layout(128, 16, S<3,4,3> o 0 o (8,64):(64,1))"
    layoutalg eval "((8,16):(1,8))(3,_)"
    layoutalg eval "right_inverse((4,8):(8,1))" --check

    `layoutalg ops` lists the operations. - reads the expression from standard input.
    """
    text = source(expression)
    if compared:
        return _checked(text, as_json)
    value = evaluate(text)
    say(json_text(record(value)) if as_json else tell(value))
    return Status.ANSWER


def _checked(text: str, as_json: bool) -> Status:
    from layoutalg.cli.check import evaluate_checked  # no oracle unless it is asked for

    return evaluate_checked(text, as_json)


@click.command(context_settings=EXPRESSIONS)
@click.argument("layout")
@json_option("Write all offsets as JSON, nested by mode.")
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
    value = evaluate(source(layout))
    if not isinstance(value, (Layout, ComposedLayout)):
        raise LayoutError(f"show: the operand must be a layout, found {tell(value)[:120]}")
    if as_json:
        say(json_text(record_offsets(value)))
    else:
        limits = _no_limits(value) if everything else _limits(rows, columns)
        say(table(value, color=wants_color(color), **limits))


def _no_limits(value: Layout | ComposedLayout) -> dict[str, Any]:
    need_few_cells(value, "use --rows and --columns")
    return {"max_rows": None, "max_columns": None, "max_grids": None}


def _limits(rows: int | None, columns: int | None) -> dict[str, Any]:
    limits = {"max_rows": rows or 64, "max_columns": columns or 256}
    return limits if columns else {**limits, "width": line_width()}


@click.command(context_settings=EXPRESSIONS)
@click.argument("first")
@click.argument("second")
def same(first: str, second: str) -> int:
    """Compare two layouts as functions of the index, whatever their shapes; exit status 1 if they differ.

    \b
    layoutalg same "(4,8):(1,4)" "coalesce((4,8):(1,4))"
    """
    found = difference(evaluate(source(first)), evaluate(source(second)))
    say(found or "same")
    return Status.DIFFERENCE if found else Status.ANSWER


@click.command()
@click.argument("name", required=False)
@json_option("Write the list as JSON.")
def ops(name: str | None, as_json: bool) -> None:
    """List the operations of the algebra, or explain the one called NAME."""
    if name is not None:
        say(explained(name))
    else:
        say(json_text({"operations": record_operations()}) if as_json else tell_operations())


@click.command()
@click.argument("name", required=False)
@json_option("Write the list as JSON.")
def atoms(name: str | None, as_json: bool) -> None:
    """List what registers of instructions hold, under names that are layouts everywhere, or explain NAME.

    \b
    layoutalg atoms mma.m16n8k16.A.f16
    layoutalg show mma.m16n8k16.C
    """
    if name is not None:
        one = fragment(name)
        say(json_text(record_fragment(one)) if as_json else tell_fragment(one))
    else:
        say(json_text({"families": record_families(), "names": list(names())}) if as_json else tell_families())


#: The commands that the group registers.
commands: list[click.Command] = [eval_, show, same, ops, atoms]
