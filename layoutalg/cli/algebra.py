"""Commands of the algebra itself: evaluate an expression, draw a layout, compare two, list operations and fragments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from inspect import Signature, getdoc, signature
from itertools import chain, islice
from typing import Any

import click

from layoutalg.cli.console import Status, color_option, complain, json_text, line_width, say, wants_color
from layoutalg.cli.options import EXPRESSIONS, is_file, json_option, lines_of, source
from layoutalg.cli.values import (
    difference,
    need_few_cells,
    noted,
    noted_text,
    record,
    record_offsets,
    record_step,
    value_text,
)
from layoutalg.compilers.encoding import Encoding, dump_encodings
from layoutalg.drawing.text_table import table
from layoutalg.errors import LayoutError
from layoutalg.fragments.families import FAMILIES, LANES, MMA_TYPES, SPARSE_MMA_TYPES, WGMMA_TYPES, Family, family_of
from layoutalg.fragments.fragment import Fragment
from layoutalg.fragments.fragment_names import fragment, is_name, names
from layoutalg.frozen import arguments
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.messages import Message
from layoutalg.notation.expression import OPERATIONS, entries, evaluate, evaluate_with_notes, hint, operations
from layoutalg.notation.tiled import is_around, is_line_of_print, passages


@click.command("eval", context_settings=EXPRESSIONS)
@click.argument("expression", required=False)
@click.option("--file", "path", metavar="FILE", help="File with one expression per line; # starts a comment line.")
@json_option("Print JSON; for several lines, one object per line.")
@click.option("--explain", "explained", is_flag=True, help="Also print the steps to the value, or to the refusal.")
@click.option("--check", "compared", is_flag=True, help="Also compare with the CuTe DSL; exit status 1 if it differs.")
def eval_(expression: str | None, path: str | None, as_json: bool, explained: bool, compared: bool) -> Status:
    """Evaluate EXPRESSION and print its value. With --file, or - for standard input, evaluate each line.

    \b
    layoutalg eval "zipped_divide(((8,16),(64,2)):((64,512),(1,8192)), (64,16))"
    layoutalg eval "size(Layout<Shape<_8,_64>,Stride<_64,_1>>{})"
    layoutalg eval "recast_layout(128, 16, S<3,4,3> o 0 o (8,64):(64,1))"
    layoutalg eval "((8,16):(1,8))(3,_)"
    layoutalg eval --explain "logical_divide((4,8):(8,1), 8:2)"
    layoutalg eval --check "right_inverse((4,8):(8,1))"
    layoutalg eval "zipped_divide((10,64):(64,1), (16,16), round_up=True)"
    layoutalg eval --file expressions.txt --json

    `layoutalg ops` lists the operations. EXPRESSION may also be a tensor that CuTe prints, or a message of a C++
    compiler with one layout in it. If a line is refused, the error with the line number goes to standard error, the
    other lines are evaluated, and the exit status is 2. If the input is a Triton IR dump, each distinct tensor layout
    is printed once.
    """
    if (expression is None) == (path is None):
        raise click.UsageError("give one of EXPRESSION, - (lines of standard input) and --file (lines of a file)")
    if path is not None or expression == "-":
        if compared or explained:
            raise click.UsageError(f"{'--check' if compared else '--explain'} needs one EXPRESSION")
        return _lines_or_dump(lines_of("-" if path is None else path), as_json)
    text = str(expression)
    if compared and explained:
        raise click.UsageError("--check and --explain cannot be combined")
    if compared:
        return _evaluate_both(text, as_json)
    if explained:
        return _explain(text, as_json)
    try:
        value, notes = evaluate_with_notes(text)
    except LayoutError as error:
        if is_file(text):
            raise LayoutError(f"{error}; use --file {text} to evaluate its lines") from None
        raise
    if type(value) is tuple and passages(text) and not is_around(passages(text)):
        _say_entries(text, as_json)
    else:
        say(json_text(noted(value, notes)) if as_json else noted_text(value, notes))
    return Status.ANSWER


def _explain(text: str, as_json: bool) -> Status:
    """Print the value of an expression and its steps, or the steps of a refusal, which is raised after them."""
    from layoutalg.explanations.explanation import explain  # imported only for --explain

    explanation = explain(text)
    steps = {"steps": [record_step(step) for step in explanation.steps]}
    if not explanation.error:
        say(json_text(record(explanation.value) | steps) if as_json else str(explanation))
        return Status.ANSWER
    if not as_json:
        say(explanation.steps_text)
        raise LayoutError(explanation.error)
    error = Message.parse(explanation.error).record(explanation.error_type)
    say(json_text({"error": error, **steps}))
    return Status.BAD_INPUT


def _say_entries(text: str, as_json: bool, number: int | None = None) -> None:
    """Answer each print of a text with several, after its label."""
    for label, value in entries(text):
        fields: dict[str, Any] = ({} if number is None else {"line": number}) | ({"label": label} if label else {})
        say(json_text(fields | record(value)) if as_json else f"{f'{label}: ' if label else ''}{value_text(value)}")


#: Lines of a dump that are read: ten times those of a large kernel.
_MOST_LINES = 1 << 16


def _lines_or_dump(lines: Iterator[str], as_json: bool) -> Status:
    """Answer each line as it comes; or each tensor, of a text that begins as a dump of Triton does."""
    head = []
    for line in lines:
        head.append(line)
        if line.strip() and not line.startswith("//"):
            break
    if not head or re.match(r"#\w+ = (?:#tt|loc\()", head[-1]) is None:
        return _each_line(chain(head, lines), as_json)
    dump = [*head, *islice(lines, _MOST_LINES)]
    if len(dump) > _MOST_LINES:
        raise LayoutError(f"eval: the dump has more than {_MOST_LINES} lines")
    return _each_tensor("".join(dump), as_json)


def _each_tensor(dump: str, as_json: bool) -> Status:
    """Answer every tensor of a dump, once; bad input if one is refused."""
    status = Status.ANSWER
    for type_text, encoding in dump_encodings(dump):
        if isinstance(encoding, Encoding):
            answer = {"type": type_text, "encoding": encoding.name, **record(encoding.layout)}
            say(json_text(answer) if as_json else str(encoding))
            continue
        status = Status.BAD_INPUT
        if as_json:
            say(json_text({"type": type_text, "error": Message.of(encoding).record(type(encoding).__name__)}))
        else:
            complain(Message.of(encoding).text(f"layoutalg eval: {type_text}"))
    return status


def _each_line(lines: Iterable[str], as_json: bool) -> Status:
    """Answer every line that is neither empty nor a comment; bad input if one is refused."""
    status = Status.ANSWER
    for number, text in _with_prints(lines):
        try:
            if "\n" in text and not is_around(passages(text)):
                _say_entries(text, as_json, number)
                continue
            value, notes = evaluate_with_notes(text)
            say(json_text({"line": number, **noted(value, notes)}) if as_json else noted_text(value, notes))
        except LayoutError as error:
            status = Status.BAD_INPUT
            message = Message.of(error)
            if as_json:
                say(json_text({"line": number, "error": message.record(type(error).__name__)}))
            else:
                complain(message.text(f"layoutalg eval: line {number}"))
    return status


def _with_prints(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield every line that is neither empty nor a comment, with its number; the lines of a print are one text."""
    printed: list[str] = []
    start = 0
    for number, line in enumerate(chain(lines, [""]), 1):
        inside = any(map(str.strip, printed[1:])) or (bool(printed) and is_line_of_print(printed[0], False))
        if is_line_of_print(line, inside):
            start = start if printed else number
            printed.append(line)
            continue
        if printed:
            yield start, "".join(printed).rstrip() + "\n" * inside
            printed = []
        text = line.strip()
        if text.endswith(":"):  # the label of a print in the next line
            start, printed = number, [line]
        elif text and (not text.startswith("#") or "#tt" in text):
            yield number, text


def _evaluate_both(text: str, as_json: bool) -> Status:
    from layoutalg.cli.check import evaluate_checked  # no oracle unless it is asked for

    return evaluate_checked(text, as_json)


@click.command(context_settings=EXPRESSIONS)
@click.argument("layout")
@json_option("Print all offsets as JSON, nested by mode.")
@click.option("--rows", type=click.IntRange(1, 1024), metavar="N", help="Maximum number of rows.  [default: 64]")
@click.option(
    "--columns",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="Maximum number of columns.  [default: the width of the line]",
)
@click.option("--all", "everything", is_flag=True, help="Print all rows, columns and slices.")
@color_option
def show(layout: str, as_json: bool, rows: int | None, columns: int | None, everything: bool) -> None:
    """Print the offsets of LAYOUT as a table: mode 0 down, mode 1 across, one table per slice of further modes.

    LAYOUT is a layout or any expression that gives one. - reads it from standard input. Cells are coloured by offset
    modulo 8.

    \b
    layoutalg show "(4,(2,4)):(2,(1,8))"
    layoutalg show "S<2,1,3> o 0 o (8,8):(8,1)"
    """
    value = evaluate(source(layout))
    if not isinstance(value, (Layout, ComposedLayout)):
        raise LayoutError(f"show: {value_text(value)[:120]} is not a layout, such as (8,8):(8,1)")
    if as_json:
        say(json_text(record_offsets(value)))
    else:
        limits = _no_limits(value) if everything else _limits(rows, columns)
        say(table(value, color=wants_color(), **limits))


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
    """Compare two layouts as functions of the index, ignoring their shapes; exit status 1 if they differ.

    \b
    layoutalg same "(4,8):(1,4)" "coalesce((4,8):(1,4))"
    """
    mismatch = difference(evaluate(source(first)), evaluate(source(second)))
    if mismatch and is_name(first) and is_name(second):
        mismatch += f"; `layoutalg feeds {first} {second}` compares what threads hold"
    say(mismatch or "same")
    return Status.DIFFERENCE if mismatch else Status.ANSWER


@click.command()
@click.argument("name", required=False)
@json_option("Print the list as JSON.")
def ops(name: str | None, as_json: bool) -> None:
    """List the operations of the algebra, or explain the operation NAME."""
    if name is not None:
        text = explained(name)
        say(json_text({"name": name, "text": text}) if as_json else text)
    else:
        say(json_text({"operations": record_operations()}) if as_json else tell_operations())


@click.command()
@click.argument("name", required=False)
@json_option("Print the list as JSON.")
def atoms(name: str | None, as_json: bool) -> None:
    """List the register fragments of instructions, or explain the fragment NAME.

    The name of a fragment is accepted wherever a layout is.

    \b
    layoutalg atoms mma.m16n8k16.A.f16
    layoutalg show mma.m16n8k16.C
    """
    if name is not None:
        named = fragment(name)
        say(json_text(record_fragment(named)) if as_json else tell_fragment(named))
    else:
        say(json_text({"families": record_families(), "names": list(names())}) if as_json else tell_families())


#: Printed in place of a docstring if Python runs without docstrings.
_NO_DOCUMENTATION = "(no documentation: Python runs with -OO)"


def tell_operations() -> str:
    """Return the text that lists the operations by topic, with their summaries.

    >>> tell_operations().splitlines()[2]
    '  ComposedLayout        The function coordinate -> outer(offset + inner(coordinate)).'
    """
    return "\n".join(_operation_lines(record_operations()))


def _operation_lines(summaries: dict[str, str]) -> Iterator[str]:
    width = max(map(len, summaries))
    for topic, members in OPERATIONS.items():
        yield topic
        yield from (f"  {name:<{width}}  {summaries[name]}" for name in members)


def record_operations() -> dict[str, str]:
    """Return the summary of each operation by its name."""
    return {name: _summary(function) for name, function in operations().items()}


def explained(name: str) -> str:
    """Return the parameters and the docstring of an operation.

    Raises:
        LayoutError: if there is no such operation.

    >>> explained("coalesce").splitlines()[0]
    'coalesce(layout, target_profile=None)'
    """
    functions = operations()
    if name not in functions:
        near = hint(name, functions)
        raise LayoutError(f"ops: {name[:60]!r} is not an operation{near}; use `layoutalg ops` to list them")
    return f"{name}{_parameters(functions[name])}\n\n{getdoc(functions[name]) or _NO_DOCUMENTATION}"


def _summary(function: Callable[..., Any]) -> str:
    """Return the first line of an operation's docstring without markup."""
    first = (function.__doc__ or _NO_DOCUMENTATION).strip().split("\n", 1)[0]
    return re.sub(r":\w+:`([^`]*)`", r"\1", first).replace("``", "")


def _parameters(function: Callable[..., Any]) -> str:
    """Return the parameters of an operation without types."""
    declared = signature(function).parameters.values()
    return str(Signature([parameter.replace(annotation=parameter.empty) for parameter in declared]))


#: Names of the rows and columns of a tile, by operand.
_TILES = {"A": "M x K", "B": "N x K", "C": "M x N", "D": "M x N", "SFA": "M x K", "SFB": "N x K"}


def tell_families() -> str:
    """Return the text that lists the families of fragments: names, tile, threads, content and grade, then the sources.

    >>> print(tell_families().splitlines()[1])
      tile 64 x N, 128 threads; measured on Hopper; b1 is PTX's text [1]
    """
    return "\n".join(_family_lines())


def _family_lines() -> Iterator[str]:
    sources = list(dict.fromkeys(family.source for family in FAMILIES))
    for family in FAMILIES:
        yield family.form
        yield f"  tile {family.tile}, {family.threads} threads; {family.grade} [{sources.index(family.source) + 1}]"
        yield f"  {family.holds}"
    yield "Shapes and types"
    yield "  wgmma       N 8..256 step 8; " + "; ".join(f"k{k}: {types}" for k, types in WGMMA_TYPES.items())
    for shape, widths in MMA_TYPES.items():
        yield f"  mma.{shape:<10}  {' '.join(widths.values())}"
    for shape, widths in SPARSE_MMA_TYPES.items():
        yield f"  mma.sp.{shape:<10}  {' '.join(widths.values())}"
    yield "  tcgen05.ld  " + ", ".join(f"{shape}.x1..x{most}" for shape, most in LANES.items())
    yield "  ldmatrix    x1 (8x8), x2 (16x8), x4 (16x16), or the tile in the name: ldmatrix.x4.32x8"
    yield from (f"[{number}] {source}" for number, source in enumerate(sources, 1))


def record_families() -> list[dict[str, Any]]:
    """Return the families of fragments as plain data."""
    return [_record_family(family) for family in FAMILIES]


def _record_family(family: Family) -> dict[str, Any]:
    return dict(zip(family.__match_args__, arguments(family), strict=True))


def tell_fragment(named: Fragment) -> str:
    """Return the text for a fragment: layout, tile, threads, content, source and grade.

    >>> from layoutalg.fragments.fragment_names import fragment
    >>> print(tell_fragment(fragment("mma.m16n8k16.C")).splitlines()[1])
    tile     16 x 8 (M x N); an index is row + 16 * column
    """
    family = family_of(named.name)
    tile = _TILES.get((named.name.split(".") + ["", ""])[2], "rows x columns")
    if named.name.startswith("tcgen05"):
        tile = "lanes x columns"
    rows = (
        f"{named.name}  {named.layout}",
        f"tile     {named.shape[0]} x {named.shape[1]} ({tile}); an index is row + {named.shape[0]} * column",
        f"threads  {named.threads}, {named.values} values each",
        f"holds    {family.holds}",
        f"source   {family.source}",
        f"grade    {family.grade}",
    )
    return "\n".join(rows)


def record_fragment(named: Fragment) -> dict[str, Any]:
    """Return a fragment as plain data."""
    fields = {"name": named.name, "layout": str(named.layout), "tile": list(named.shape)}
    return fields | {"threads": named.threads, "values": named.values, "family": _record_family(family_of(named.name))}


#: The commands that the group registers.
commands: list[click.Command] = [eval_, show, same, ops, atoms]
