"""Options and arguments that several commands of ``layoutalg`` share, and how their values are read.

Values of expressions as a command answers with them: as text, as data, with all offsets, two of them compared.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import get_int_max_str_digits
from typing import Any

import click

from layoutalg.algebra.symbols import prove, symbols_of
from layoutalg.analysis.swizzle_search import AccessPattern
from layoutalg.cli.console import standard_input
from layoutalg.errors import LayoutError
from layoutalg.fragments.moves import moves
from layoutalg.fragments.names import fragment, is_name
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import need_layout, size
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.notation.expression import evaluate
from layoutalg.tuples.int_tuple import text

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
    given = click.option("--access", "given", required=True, multiple=True, metavar="TV[@16B][,load]", help=ACCESS_HELP)
    return given(element_options(store(function)))


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

    found = re.fullmatch(r"(.*?)(?:@\s*(\d{1,3})\s*[bB])?(?:\s*,\s*(load|store))?\s*", text, re.DOTALL)
    lanes, moved, direction = found.groups() if found else (text, None, None)
    bytes_moved = int(moved) if moved else width
    if is_name(lanes):
        named = fragment(lanes)
        matrix = named.name.split(".")[0].endswith(
            "matrix"
        )  # has its own width and direction, which options leave alone
        moved_bytes = (int(moved) if moved else None) if matrix else bytes_moved
        says = direction == "store" if direction else (True if store and not matrix else None)
        return moves(named, tile, element_bytes, moved_bytes, says)
    stored = store if direction is None else direction == "store"
    return AccessPattern(layout_of(lanes, operation), element_bytes if bytes_moved is None else bytes_moved, stored)


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


#: The most offsets that one answer holds.
MOST_CELLS = 1 << 20


def tell(value: Any) -> str:
    """A value as `eval` prints it: CuTe notation; ``None`` and truth values by their Python names.

    >>> tell((8, (None, 4))), tell(None), tell(True)
    ('(8,(_,4))', 'None', 'True')
    """
    try:
        return str(value) if value is None else text(value)
    except ValueError as error:  # an integer of more digits than Python prints
        raise LayoutError(
            f"value: a number must have at most {get_int_max_str_digits()} digits to be printed"
        ) from error


def record(value: Any) -> dict[str, Any]:
    """A value as plain data: its ``kind``, its ``text`` in CuTe notation, its parts; int tuples as nested lists.

    >>> record((8, 2))
    {'kind': 'tuple', 'text': '(8,2)', 'value': [8, 2]}
    """
    told = {"text": tell(value)}
    match value:
        case Layout():
            return {
                "kind": "layout",
                **told,
                "shape": _numbers(value.shape),
                "stride": _numbers(value.stride),
                "size": _numbers(size(value)),
            }
        case ComposedLayout():
            parts = {"outer": record(value.outer), "offset": _numbers(value.offset), "inner": record(value.inner)}
            shape, total = _numbers(value.shape), _numbers(size(value))
            return {"kind": "composed_layout", **told, "shape": shape, **parts, "size": total}
        case Swizzle():
            return {"kind": "swizzle", **told, "bits": value.bits, "base": value.base, "shift": value.shift}
        case tuple() if any(isinstance(item, (Layout, ComposedLayout, Swizzle)) for item in value):
            return {"kind": "tuple", **told, "items": [record(item) for item in value]}
        case tuple():
            return {"kind": "tuple", **told, "value": _numbers(value)}
        case None | bool() | int():
            return {"kind": "none" if value is None else type(value).__name__, **told, "value": value}
    return {"kind": type(value).__name__, **told}


def _numbers(value: Any) -> Any:
    """An int tuple as nested lists of numbers; a basis stride or symbols, which JSON has no number for, as text."""
    if isinstance(value, tuple):
        return [_numbers(item) for item in value]
    return value if value is None or isinstance(value, int) else str(value)


def record_offsets(layout: Any) -> dict[str, Any]:
    """A layout as plain data, with all its offsets.

    >>> from layoutalg import Layout
    >>> record_offsets(Layout((2, 2), (2, 1)))["offsets"]
    [[0, 1], [2, 3]]
    """
    return record(layout) | {"offsets": _nested_offsets(layout)}


def _nested_offsets(layout: Any) -> Any:
    """All offsets, nested by top-level mode: ``offsets[i][j]`` is ``layout(i, j)``."""
    need_few_cells(layout, "draw a part of it with --rows and --columns")
    if not isinstance(layout.shape, tuple):
        return [_numbers(layout(index)) for index in range(layout.shape)]
    extents = [size(mode) for mode in layout.shape]

    def level(prefix: tuple[int, ...]) -> Any:
        if len(prefix) == len(extents):
            return _numbers(layout(prefix))
        return [level((*prefix, index)) for index in range(extents[len(prefix)])]

    return level(())


def need_few_cells(layout: Any, otherwise: str) -> None:
    """Refuse a layout with more offsets than one answer holds.

    Raises:
        LayoutError: if the size exceeds ``MOST_CELLS``; the message ends with what to do ``otherwise``.
    """
    if size(layout) > MOST_CELLS:
        raise LayoutError(f"show: the size must be at most {MOST_CELLS}, found {size(layout)}; {otherwise}")


def difference(first: Any, second: Any) -> str:
    """How two values differ, in one line; empty if they do not."""
    if not all(isinstance(value, (Layout, ComposedLayout)) for value in (first, second)):
        return "" if first == second else f"{tell(first)} is not {tell(second)}"
    if symbols_of(first) or symbols_of(second):
        proof = prove(first, second)
        return "" if proof else str(proof)
    if size(first) != size(second):
        return f"sizes differ: {size(first)} and {size(second)}"
    if first == second:
        return ""
    need_few_cells(first, "larger layouts are not compared")
    for index in range(size(first)):
        if first(index) != second(index):
            return f"differ at index {index}: {tell(first(index))} and {tell(second(index))}"
    return ""
