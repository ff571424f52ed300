"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click


def numbers(separator: str) -> Callable[[click.Context, click.Parameter, str | None], tuple[int, ...] | None]:
    """A callback that reads ``128x128`` or ``0,1``."""

    def read(_: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, ...] | None:
        if text is None:
            return None
        parts = text.split(separator)
        # Sixteen digits are more than any extent has, and far from what int() refuses to read.
        if not all(part.isascii() and part.isdigit() and len(part) <= 16 for part in parts):
            shown = text if len(text) <= 40 else text[:37] + "..."
            example = separator.join(("128", "128") if separator == "x" else ("0", "1"))
            raise click.BadParameter(f"must be numbers like {example}, found {shown!r}", param=parameter)
        return tuple(map(int, parts))

    return read


def tile_extents(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    """A callback that reads ``128x128``; with ``--symbolic`` the text stays, for its extents are expressions."""
    return text if context.params.get("symbolic") else numbers("x")(context, parameter, text)


def address(_: click.Context, parameter: click.Parameter, text: str) -> int:
    """A callback that reads a number of bytes, decimal or hexadecimal."""
    try:
        if len(text) <= 20:
            return int(text, 0)
    except ValueError:
        pass
    shown = text if len(text) <= 40 else text[:37] + "..."
    raise click.BadParameter(f"must be a number of bytes like 1024 or 0x400, found {shown!r}", param=parameter)


def capacity(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """A callback that reads a number of bytes or ``none``."""
    return None if text is None or text.casefold() == "none" else address(context, parameter, text)


def complete(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Names that an option takes, for the shell's completion; the tables are read only when it asks."""
    from descriptors.instructions.tables import COPIES
    from descriptors.operands.explicit import UNITS
    from descriptors.operands.operand import ELEMENT_TYPES, Major, SwizzleMode
    from descriptors.words.descriptor import WORDS

    choices: dict[str, Iterable[str]] = {
        "dtype": ELEMENT_TYPES,
        "major": map(str, Major),
        "swizzle": map(str, SwizzleMode),
        "arch": WORDS,
        "unit": UNITS,
        "operand": ("A", "B"),
        "cp": (row.shape for row in COPIES),
        "emit": ("cuda", "ptx", "cutedsl", "python"),
    }
    return [name for name in choices[parameter.name or ""] if name.casefold().startswith(begun.casefold())]


_OPERAND = (
    click.option(
        "--dtype",
        required=True,
        shell_complete=complete,
        help="f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 s8 u8 (e2m1 is packed, e2m1_unpacksmem is not).",
    ),
    click.option(
        "--major",
        shell_complete=complete,
        help="K or MN: the dimension that is contiguous in shared memory. A layout tells it by itself.",
    ),
    click.option(
        "--swizzle",
        shell_complete=complete,
        help="none, 32B, 64B, 128B or 128B_BASE32B. A swizzled layout tells it by itself.",
    ),
    click.option(
        "--unit",
        default="elements",
        show_default=True,
        shell_complete=complete,
        help="What a layout counts: elements, bytes, or cute (elements, but the swizzle on bytes, as CuTe prints).",
    ),
)


def operand_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that describe an operand: ``--dtype --major --swizzle --unit``."""
    for option in reversed(_OPERAND):
        function = option(function)
    return function
