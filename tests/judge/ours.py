"""The package under test, asked the way the oracle is asked: a case of texts, and an answer as text."""

from __future__ import annotations

from typing import Any

import layoutalg
from layoutalg.oracle.expressions import Answer, Case
from layoutalg.oracle.service import write_tuple


def ours(case: Case) -> Answer:
    """What the package answers, in the oracle's form."""
    arguments = [_value(argument) for argument in case.arguments]
    try:
        return Answer("ok", _show(_operation(case.operation)(*arguments)))
    except layoutalg.LayoutError as error:
        return Answer("rejected", f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001 - anything else is a finding, and the run goes on
        return Answer("crashed", f"{type(error).__name__}: {error}")


def _value(argument: Any) -> Any:
    if isinstance(argument, tuple):
        return tuple(map(_value, argument))
    return layoutalg.parse_layout(argument) if isinstance(argument, str) else argument


def _operation(name: str) -> Any:
    match name:
        case "text":
            return lambda value: value
        case "call":
            return lambda layout, coordinate: layout(coordinate)
        case "concatenate":
            return layoutalg.make_layout
    return getattr(layoutalg, name)


def _show(value: Any) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], layoutalg.Layout | layoutalg.ComposedLayout):
        layout, offset = value
        return f"{layout} + {write_tuple(offset)}"
    return write_tuple(value)
