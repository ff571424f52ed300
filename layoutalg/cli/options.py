"""Options and arguments that several commands of ``layoutalg`` share, and how their values are read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from layoutalg.expression import evaluate
from layoutalg.layouts.modes import need_layout

#: Settings of a command whose argument is an expression, which may begin with a minus sign and be no option.
EXPRESSIONS = {"ignore_unknown_options": True}

#: A decorator of a command's function.
Option = Callable[[Callable[..., Any]], Callable[..., Any]]


def json_option(help: str) -> Option:
    """``--json``, with what it writes."""
    return click.option("--json", "as_json", is_flag=True, help=help)


def element_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--element-bytes`` of a tile and ``--bytes`` of an access to it."""
    moved = click.option("--bytes", "width", type=int, help="Bytes that a lane moves at once.  [default: one element]")
    element = click.option("--element-bytes", type=int, required=True, help="Bytes of an element of LAYOUT.")
    return element(moved(function))


def source(argument: str) -> str:
    """An expression; that on standard input for ``-``."""
    if argument == "-" and sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.read() if argument == "-" else argument


def layout_of(text: str, operation: str) -> Any:
    """The layout that a text is, for an operation that takes nothing else.

    >>> print(layout_of("coalesce((4,8):(8,32))", "banks"))
    32:8
    """
    return need_layout(evaluate(text), operation)


def dimensions(text: str) -> Any:
    """Names, or names with sizes, from ``a,b`` or ``a=4,b=8``.

    >>> dimensions("lane,register"), dimensions("lane=32,register=8")
    (['lane', 'register'], {'lane': 32, 'register': 8})
    """
    parts = [part.partition("=") for part in text.split(",") if part]
    if not any(sign for _, sign, _ in parts):
        return [name for name, _, _ in parts]
    try:
        return {name: int(number) for name, _, number in parts}
    except ValueError:
        raise click.BadParameter(f"sizes must be integers, as in lane=32,register=8, found {text!r}") from None
