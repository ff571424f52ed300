"""What ``eval --check`` asks: whether the CuTe DSL makes the same of the expression, along the same syntax tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from layoutalg import oracle
from layoutalg.algebra.coalesce import coalesce
from layoutalg.cli.console import NotThereError, Status, json_text, say
from layoutalg.cli.values import difference, need_few_cells, record, tell
from layoutalg.errors import LayoutError, NotationError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import size
from layoutalg.messages import Message
from layoutalg.notation.expression import evaluate
from layoutalg.oracle.expressions import SymbolError, evaluate_expressions, operations_of, rows_of, syntax

#: How the DSL's answer agrees, in words.
_AGREES = {
    "text": "the same",
    "function": "the same function, which it writes {value}",
    "sum": "the same offsets, which it writes {value}",
    "slice": "the same slice but for a constant, which a slice leaves out: {value}",
    "refusal": "refuses it too, {status}: {text}",
}


def evaluate_checked(source: str, as_json: bool) -> Status:
    """Evaluate an expression here and in the DSL; print the value, and in a line how the two agree.

    Raises:
        LayoutError: if the text is no expression, or neither of the two has a value.
        NotThereError: if the CuTe DSL is not installed, or breaks.
    """
    names = _names(source)
    try:
        value = evaluate(source)
    except NotationError:
        raise  # no expression, and nothing to ask
    except LayoutError as refusal:
        return _refused(source, refusal, names, as_json)
    comparison = beside(value, *_dsl_answer(source), apart=names[:1] in (["()"], ["slice_"]))
    line = _line(comparison, names, f"the algebra gives {comparison['ours']}")
    say(json_text(record(value) | {"check": comparison}) if as_json else f"{tell(value)}\n{line}")
    return Status.ANSWER if comparison["agrees"] else Status.DIFFERENCE


def _refused(source: str, refusal: LayoutError, names: list[str], as_json: bool) -> Status:
    """Tell what the DSL does where the algebra refuses: bad input, unless the DSL has a value."""
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
    """The DSL's answer beside our value, as plain data.

    Args:
        value: ours.
        status: what became of the question.
        text: the DSL's value, or the reason.
        apart: whether the value is a slice, whose constant stands apart.
    """
    comparison = _answer_record(status, text) | {"ours": tell(value)}
    theirs = _values_of(text) if status == "ok" else []
    for their in theirs:
        comparison["value"] = tell(their)
        try:
            comparison["how"] = (
                "text" if comparison["value"] == comparison["ours"] else agreement(value, their, apart=apart)
            )
        except LayoutError as error:  # too large to be compared offset by offset
            comparison["text"] = str(error)
    return comparison | {"agrees": comparison["how"] is not None}


def beside_refusal(status: str, text: str) -> dict[str, Any]:
    """The DSL's answer where ours is a refusal, as plain data; only a refusal agrees with one."""
    agrees = status == "rejected"
    return _answer_record(status, text) | {"agrees": agrees, "how": "refusal" if agrees else None}


def agreement(ours: Any, theirs: Any, *, apart: bool = False) -> str | None:
    """How two values of different text are the same all the same: ``function``, ``sum``, ``slice``; or None.

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
    """The names in the syntax tree of an expression.

    Raises:
        LayoutError: if the text is no expression.
    """
    try:
        return list(operations_of(syntax(source)))
    except SymbolError:
        return []


def _dsl_answer(source: str) -> tuple[str, str]:
    """What became of the question, and the DSL's value or the reason."""
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
    """The DSL's answer in one line for a person."""
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
    """The value of the DSL's text, alone; nothing where it is none: an extent of 0, say."""
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
