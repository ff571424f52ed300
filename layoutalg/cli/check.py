"""Compare the value of an expression with the value that the CuTe DSL computes (``eval --check``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from layoutalg import oracle
from layoutalg.algebra.coalesce import coalesce
from layoutalg.cli.console import NotThereError, Status, json_text, say
from layoutalg.cli.values import difference, need_few_cells, noted, noted_text, value_text
from layoutalg.errors import LayoutError, NotationError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import size
from layoutalg.messages import Message
from layoutalg.notation.expression import evaluate, evaluate_with_notes
from layoutalg.oracle.expressions import SymbolError, evaluate_expressions, operations_of, rows_of, syntax

#: Text for each way in which the DSL's answer agrees.
_AGREES = {
    "text": "the same",
    "function": "the same function, written {value}",
    "sum": "the same offsets, written {value}",
    "slice": "the same slice except for a constant offset, which a slice leaves out: {value}",
    "refusal": "also refuses it, {status}: {text}",
}


def evaluate_checked(source: str, as_json: bool) -> Status:
    """Evaluate an expression here and in the DSL; print the value, and in a line how the two agree.

    Raises:
        LayoutError: if the text is no expression, or neither of the two has a value.
        NotThereError: if the CuTe DSL is not installed, or breaks.
    """
    names = _names(source)
    try:
        value, notes = evaluate_with_notes(source)
    except NotationError:
        raise  # no expression, and nothing to ask
    except LayoutError as refusal:
        return _refused(source, refusal, names, as_json)
    comparison = beside(value, *_dsl_answer(source), apart=names[:1] in (["()"], ["slice_"]))
    line = _line(comparison, names, f"the algebra gives {comparison['ours']}")
    if as_json:
        say(json_text(noted(value, notes) | {"check": comparison}))
    else:
        say(f"{noted_text(value, notes)}\n{line}")
    return Status.ANSWER if comparison["agrees"] else Status.DIFFERENCE


def _refused(source: str, refusal: LayoutError, names: list[str], as_json: bool) -> Status:
    """Print the DSL's answer where the algebra refuses: bad input, unless the DSL has a value."""
    comparison = beside_refusal(*_dsl_answer(source))
    if as_json:
        say(json_text({"error": Message.of(refusal).record(type(refusal).__name__), "check": comparison}))
    else:
        say(_line(comparison, names, f"this is refused: {refusal}"))
    if comparison["value"] is not None:
        return Status.DIFFERENCE
    if as_json:
        return Status.BAD_INPUT
    raise refusal


def beside(value: Any, status: str, text: str, *, apart: bool) -> dict[str, Any]:
    """Return the comparison of the DSL's answer with our value, as plain data.

    Args:
        value: our value.
        status: status of the DSL's answer.
        text: the DSL's value, or the reason why there is none.
        apart: whether the value is a slice, whose constant offset is separate.
    """
    comparison = _answer_record(status, text) | {"ours": value_text(value)}
    theirs = _values_of(text) if status == "ok" else []
    for their in theirs:
        comparison["value"] = value_text(their)
        try:
            comparison["how"] = (
                "text" if comparison["value"] == comparison["ours"] else agreement(value, their, apart=apart)
            )
        except LayoutError as error:  # too large to be compared offset by offset
            comparison["text"] = str(error)
    return comparison | {"agrees": comparison["how"] is not None}


def beside_refusal(status: str, text: str) -> dict[str, Any]:
    """Return the comparison of the DSL's answer with our refusal, as plain data; only a refusal agrees with it."""
    agrees = status == "rejected"
    return _answer_record(status, text) | {"agrees": agrees, "how": "refusal" if agrees else None}


def agreement(ours: Any, theirs: Any, *, apart: bool = False) -> str | None:
    """Return how two values of different text are equal (``function``, ``sum`` or ``slice``), or None.

    Raises:
        LayoutError: if they are layouts too large to be compared offset by offset.

    >>> agreement(evaluate("(2,4):(1,2)"), evaluate("8:1")), agreement(8, 9)
    ('function', None)
    >>> agreement(evaluate("((4):(8),5)"), evaluate("(S<0,0,0> o 1 o (4):(8),4)"))
    'sum'
    """
    if _same(ours, theirs):
        return "function"
    pairs = [value if type(value) is tuple else (value, 0) for value in (ours, theirs)]
    if not all(len(pair) == 2 and _is_layout(pair[0]) and type(pair[1]) is int for pair in pairs):
        return None
    (a, a_offset), (b, b_offset) = pairs
    if size(a) != size(b):
        return None
    need_few_cells(a, "larger layouts are not compared")
    differences = {a(index) - b(index) for index in range(size(a))}
    if differences == {b_offset - a_offset}:
        return "sum"
    return "slice" if apart and len(differences) == 1 else None


def _names(source: str) -> list[str]:
    """Return the names in the syntax tree of an expression.

    Raises:
        LayoutError: if the text is no expression.
    """
    try:
        return list(operations_of(syntax(source)))
    except SymbolError:
        return []


def _dsl_answer(source: str) -> tuple[str, str]:
    """Return the status of the DSL's answer, and its value or the reason why there is none."""
    if not oracle.available():
        raise NotThereError(f"--check: {oracle.MISSING}")
    try:
        (answer,) = evaluate_expressions([source])
    except SymbolError as error:
        return "not asked", f"it has no symbols for positive integers, as in {error.text}"
    except oracle.OracleError as error:
        raise NotThereError(f"--check: {error}") from error
    return answer.status, answer.text


def _answer_record(status: str, text: str) -> dict[str, Any]:
    has_value = status == "ok"
    return {
        "agrees": False,
        "how": None,
        "status": status,
        "value": text if has_value else None,
        "ours": None,
        "text": "" if has_value else " ".join(text.split()),
    }


def _line(comparison: dict[str, Any], names: Iterable[str], ours: str) -> str:
    """Return the DSL's answer in one line of text."""
    by = f"CuTe DSL {oracle.version()}"
    if comparison["agrees"]:
        return f"{by}: {_AGREES[comparison['how']].format(**comparison)}"
    if comparison["value"] is None:
        outcome = f"no value to compare with, {comparison['status']}: {comparison['text']}"
    elif comparison["text"]:
        outcome = f"another text, {comparison['value']}, and not compared: {comparison['text']}"
    else:
        outcome = f"different, it gives {comparison['value']} where {ours}"
    rows = rows_of(names) if comparison["status"] != "not asked" else ""
    return f"{by}: {outcome}" + (f"; docs/divergences.md has known differences of {rows}" if rows else "")


def _values_of(text: str) -> list[Any]:
    """Return the value of the DSL's text in a list; an empty list if it has none, such as for an extent of 0."""
    layout, apart, offset = text.partition(" + ")
    try:
        return [evaluate(f"({layout},{offset})" if apart else text)]
    except LayoutError:
        return []


def _same(ours: Any, theirs: Any) -> bool:
    """Whether two values are the same function of the index, or tuples of such."""
    if type(ours) is tuple and type(theirs) is tuple:
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    if isinstance(ours, Layout) and isinstance(theirs, Layout) and coalesce(ours) == coalesce(theirs):
        return True
    return not difference(ours, theirs)


def _is_layout(value: Any) -> bool:
    return isinstance(value, (Layout, ComposedLayout))
