"""Options of several commands of ``layoutalg``, and functions that read their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import click

from layoutalg.analysis.swizzle_search import AccessPattern
from layoutalg.cli.console import standard_input
from layoutalg.errors import LayoutError, brief
from layoutalg.fragments.fragment import Fragment
from layoutalg.fragments.fragment_accesses import moves_of_name, split_access, transfers
from layoutalg.fragments.fragment_names import is_name
from layoutalg.fragments.tiled_copy import TiledCopy
from layoutalg.layouts.modes import need_layout
from layoutalg.notation.expression import evaluate
from layoutalg.notation.printed import parse_encoding, parse_pointer

#: Settings of a command whose argument is an expression: one that begins with a minus sign is not an option.
EXPRESSIONS = {"ignore_unknown_options": True}

#: A decorator that adds an option to the function of a command.
Option = Callable[[Callable[..., Any]], Callable[..., Any]]


def json_option(help: str) -> Option:
    """Return the option ``--json`` with a help text."""
    return click.option("--json", "as_json", is_flag=True, help=help)


def _printed_bytes(context: click.Context, parameter: click.Parameter, value: int | None) -> int:
    """Return the value of ``--element-bytes``, or the element size in a printed tensor if the option is missing."""
    layout = context.params.get("layout")
    pointer = parse_pointer(layout) if value is None and layout is not None else None
    if value is None and (pointer is None or pointer.bits % 8):
        raise click.MissingParameter(ctx=context, param=parameter)
    return pointer.bits // 8 if pointer is not None else int(value or 0)


def element_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--element-bytes`` of a tile and ``--bytes`` of an access to it."""
    width = click.option(
        "--bytes",
        "width",
        type=int,
        metavar="BYTES",
        help="Bytes that a lane moves at once.  [default: one element; for a compiler's encoding, up to 16]",
    )
    element = click.option(
        "--element-bytes",
        type=int,
        callback=_printed_bytes,
        metavar="BYTES",
        help="Bytes per element of LAYOUT; required unless LAYOUT is a printed tensor, which contains it.",
    )
    return element(width(function))


#: The most characters of an expression on standard input: eight times the limit of a shell argument, read in seconds.
MOST_TYPED = 1 << 20


def source(argument: str) -> str:
    """Return an expression: the argument, or for ``-`` the text of standard input.

    Raises:
        OSError: if standard input is closed.
        LayoutError: if it has more than ``MOST_TYPED`` characters.
    """
    if argument != "-":
        return argument
    text = standard_input().read(MOST_TYPED + 1)
    if len(text) > MOST_TYPED:
        raise LayoutError(f"notation: standard input has more than {MOST_TYPED} characters")
    return text


def lines_of(path: str) -> Iterator[str]:
    """Yield the lines of a file, or for ``-`` of standard input.

    Raises:
        click.UsageError: if the file cannot be read or is not UTF-8 text.
        OSError: if standard input is closed.
        LayoutError: if a line has more than ``MOST_TYPED`` characters.
    """
    try:
        with nullcontext(standard_input()) if path == "-" else Path(path).open(encoding="utf-8") as stream:
            while line := stream.readline(MOST_TYPED + 1):
                if len(line) > MOST_TYPED:
                    raise LayoutError(f"notation: a line has more than {MOST_TYPED} characters")
                yield line
    except UnicodeDecodeError:
        raise click.UsageError(f"{brief(path)} is not UTF-8 text") from None
    except OSError as error:
        if path == "-":
            raise
        raise click.UsageError(f"--file cannot read {path}: {error.strerror}") from None


def is_file(text: str) -> bool:
    """Return whether a text is the path of a file."""
    with suppress(OSError, ValueError):
        return Path(text).is_file()
    return False


def layout_of(text: str, operation: str) -> Any:
    """Evaluate an expression whose value must be a layout.

    Raises:
        LayoutError: if it is not; the message begins with ``operation``.

    >>> print(layout_of("coalesce((4,8):(8,32))", "banks"))
    32:8
    """
    return need_layout(evaluate(text), operation)


#: The help text of ``--access``.
ACCESS_HELP = (
    "Layout (threads, values) -> index into LAYOUT, or the name of a fragment (`layoutalg atoms`) that moves all of "
    'LAYOUT; optionally followed by the bytes and the direction of a move: "TV@16B,load". Repeatable.'
)


def access_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--access``, which is repeatable, and the options for accesses without a width or direction of their own."""
    store = click.option(
        "--store", is_flag=True, help="Accesses without a direction are stores.  [default: loads; stores for C and D]"
    )
    access = click.option(
        "--access", "texts", required=True, multiple=True, metavar="TV[@16B][,load]", help=ACCESS_HELP
    )
    return access(element_options(store(function)))


def access_of(
    text: str, tile: Any, element_bytes: int, width: int | None, store: bool, operation: str
) -> AccessPattern:
    """Parse an access: a thread-value layout or a fragment, optionally with its width and direction.

    Args:
        text: the access, such as ``(8,8):(1,8)@16B,store``.
        tile: the layout that the access moves.
        element_bytes: bytes of an element of the tile.
        width: bytes of a move if the text has none.
        store: whether it is a store if the text has no direction.
        operation: the operation that a message begins with.

    Raises:
        LayoutError: if the text is neither, or the fragment does not move such a tile.

    >>> from layoutalg import Layout
    >>> print(access_of("(8,8):(1,8)@16B,store", Layout((8, 8), (8, 1)), 2, None, False, "banks"))
    AccessPattern(Layout((8, 8), (1, 8)), 16, True)
    """
    lanes, bytes_moved, direction = split_access(text)
    if is_name(lanes):
        return moves_of_name(text, tile, element_bytes, width, store)
    bytes_moved = width if bytes_moved is None else bytes_moved
    stores = store if direction is None else direction
    fragment = _fragment_of(lanes, stores)
    if fragment is not None:
        return transfers(fragment, tile, element_bytes, bytes_moved, stores)
    return AccessPattern(layout_of(lanes, operation), element_bytes if bytes_moved is None else bytes_moved, stores)


def _fragment_of(text: str, stores: bool) -> Fragment | None:
    """Return the fragment of a compiler's encoding of registers or of a tiled copy; None for any other text."""
    encoding = parse_encoding(text)
    if encoding is not None:
        return encoding.fragment()
    copy = evaluate(text) if "Copy" in text or "copy" in text else None
    return copy.fragment("D" if stores else "S") if isinstance(copy, TiledCopy) else None


def dimensions(text: str) -> Any:
    """Parse names or names with sizes, such as ``a,b`` or ``a=4,b=8``.

    >>> dimensions("lane,register"), dimensions("lane=32,register=8")
    (['lane', 'register'], {'lane': 32, 'register': 8})
    """
    if not text.isprintable():  # the answer contains the names as they are
        raise click.BadParameter(f"{text!r} is not a list of printable names, such as lane,register")
    parts = [part.partition("=") for part in text.split(",") if part]
    if not any(sign for _, sign, _ in parts):
        return [name for name, _, _ in parts]
    try:
        return {name: int(number) for name, _, number in parts}
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of NAME=SIZE, such as lane=32,register=8") from None
