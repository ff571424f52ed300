"""Options and arguments that several commands of ``layoutalg`` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from layoutalg.analysis.swizzle_search import AccessPattern
from layoutalg.cli.console import standard_input
from layoutalg.errors import LayoutError
from layoutalg.fragments.fragment_accesses import moves
from layoutalg.fragments.fragment_names import fragment, is_name
from layoutalg.layouts.modes import need_layout
from layoutalg.notation.expression import evaluate

#: Settings of a command whose argument is an expression, which may begin with a minus sign and be no option.
EXPRESSIONS = {"ignore_unknown_options": True}

#: A decorator of a command's function.
Option = Callable[[Callable[..., Any]], Callable[..., Any]]


def json_option(help: str) -> Option:
    """``--json``, with what it writes."""
    return click.option("--json", "as_json", is_flag=True, help=help)


def element_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--element-bytes`` of a tile and ``--bytes`` of an access to it."""
    width = click.option("--bytes", "width", type=int, help="Bytes that a lane moves at once.  [default: one element]")
    element = click.option("--element-bytes", type=int, required=True, help="Bytes of an element of LAYOUT.")
    return element(width(function))


#: Characters of an expression on standard input: eight times what a shell hands over as one argument, read in seconds.
MOST_TYPED = 1 << 20


def source(argument: str) -> str:
    """An expression; that on standard input for ``-``, of at most ``MOST_TYPED`` characters.

    Raises:
        OSError: if there is no input.
        LayoutError: if there is more of it.
    """
    if argument != "-":
        return argument
    text = standard_input().read(MOST_TYPED + 1)
    if len(text) > MOST_TYPED:
        raise LayoutError(f"notation: standard input must have at most {MOST_TYPED} characters, found more")
    return text


def layout_of(text: str, operation: str) -> Any:
    """The layout that a text is, for an operation that takes nothing else.

    >>> print(layout_of("coalesce((4,8):(8,32))", "banks"))
    32:8
    """
    return need_layout(evaluate(text), operation)


#: What ``--access`` takes.
ACCESS_HELP = (
    "(threads, values) -> index into LAYOUT, or the name of a fragment (`layoutalg atoms`) that moves all of LAYOUT. "
    'Behind it may stand the bytes of a move and its direction, "TV@16B,load". Give it for each access.'
)


def access_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--access``, as often as there are accesses, and what holds for those that do not say it themselves."""
    store = click.option(
        "--store", is_flag=True, help="Accesses that do not say it are stores.  [default: loads; stores of C and D]"
    )
    access = click.option(
        "--access", "texts", required=True, multiple=True, metavar="TV[@16B][,load]", help=ACCESS_HELP
    )
    return access(element_options(store(function)))


def access_of(
    text: str, tile: Any, element_bytes: int, width: int | None, store: bool, operation: str
) -> AccessPattern:
    """The access that a text is: a thread-value layout or a fragment, its width and its direction where it says them.

    Raises:
        LayoutError: if it is neither, or a fragment that does not move such a tile.

    >>> from layoutalg import Layout
    >>> print(access_of("(8,8):(1,8)@16B,store", Layout((8, 8), (8, 1)), 2, None, False, "banks"))
    AccessPattern(Layout((8, 8), (1, 8)), 16, True)
    """
    import re

    match = re.fullmatch(r"(.*?)(?:@\s*(\d{1,3})\s*[bB])?(?:\s*,\s*(load|store))?\s*", text, re.DOTALL)
    lanes, width_text, direction = match.groups() if match else (text, None, None)
    bytes_moved = int(width_text) if width_text else width
    if is_name(lanes):
        matrices = fragment(lanes)
        matrix = matrices.name.split(".")[0].endswith(
            "matrix"
        )  # has its own width and direction, which options leave alone
        moved_bytes = (int(width_text) if width_text else None) if matrix else bytes_moved
        says = direction == "store" if direction else (True if store and not matrix else None)
        return moves(matrices, tile, element_bytes, moved_bytes, says)
    stores = store if direction is None else direction == "store"
    return AccessPattern(layout_of(lanes, operation), element_bytes if bytes_moved is None else bytes_moved, stores)


def dimensions(text: str) -> Any:
    """Names, or names with sizes, from ``a,b`` or ``a=4,b=8``.

    >>> dimensions("lane,register"), dimensions("lane=32,register=8")
    (['lane', 'register'], {'lane': 32, 'register': 8})
    """
    if not text.isprintable():  # a name stands in the answer as it is
        raise click.BadParameter(f"names must be printable, as in lane,register, found {text!r}")
    parts = [part.partition("=") for part in text.split(",") if part]
    if not any(sign for _, sign, _ in parts):
        return [name for name, _, _ in parts]
    try:
        return {name: int(number) for name, _, number in parts}
    except ValueError:
        raise click.BadParameter(f"sizes must be integers, as in lane=32,register=8, found {text!r}") from None
