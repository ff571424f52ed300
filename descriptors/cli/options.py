"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import re
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
            example = separator.join(("128", "128") if separator == "x" else ("0", "1"))
            raise click.BadParameter(f"must be numbers like {example}, found {_quoted(text)}", param=parameter)
        return tuple(map(int, parts))

    return read


def tile_extents(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    """A callback that reads ``128x128``; with ``--symbolic`` the text stays, for its extents are expressions."""
    return text if context.params.get("symbolic") else numbers("x")(context, parameter, text)


def address(_: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """A callback that reads a number of bytes, decimal or hexadecimal."""
    if text is None:
        return None
    try:
        if len(text) <= 20:
            return int(text, 0)
    except ValueError:
        pass
    raise click.BadParameter(f"must be a number of bytes like 1024 or 0x400, found {_quoted(text)}", param=parameter)


def word(_: click.Context, parameter: click.Parameter, text: str) -> int:
    """A callback that reads a 64-bit word, decimal or hexadecimal."""
    if re.fullmatch("0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20}", text):
        number = int(text, 0 if "x" in text.lower() else 10)
        if number < 2**64:
            return number
    raise click.BadParameter(f"must be a 64-bit word, 0x... or decimal, found {_quoted(text)}", param=parameter)


def _quoted(text: str) -> str:
    """A text that was refused, short enough for one line."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def capacity(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """A callback that reads a number of bytes or ``none``."""
    return None if text is None or text.casefold() == "none" else address(context, parameter, text)


def complete(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Names that an option takes, for the shell's completion; where it takes several, the last one begun."""
    before, comma, last = begun.rpartition(",")
    names = _choices(context, parameter.name or "")
    return [before + comma + name for name in names if name.casefold().startswith(last.casefold())]


def _choices(context: click.Context, option: str) -> Iterable[str]:
    """The names by the option's own; the tables are read only when the shell asks."""
    from descriptors.emitters.emit import LANGUAGES
    from descriptors.instructions.rules import ARCHES, MODES
    from descriptors.instructions.selection import select_rows
    from descriptors.operands.explicit import UNITS
    from descriptors.operands.operand import ELEMENT_TYPES, Major, SwizzleMode
    from descriptors.output.closed_forms import WRITERS
    from descriptors.output.formulas import TABLE_WRITERS

    arch = context.params.get("arch")
    rows = select_rows(arch if arch in ARCHES else "sm100")
    types = dict.fromkeys(dtype for row in rows.kinds for dtype in row.dtypes)
    choices: dict[str, Iterable[str]] = {
        "dtype": ELEMENT_TYPES,
        "a_dtype": types,
        "b_dtype": types,
        "d_dtype": dict.fromkeys(dtype for row in rows.types for dtype in row.d),
        "scale_dtype": dict.fromkeys(row.dtype for row in rows.scales),
        "major": map(str, Major),
        "swizzle": map(str, SwizzleMode),
        "expected": map(str, SwizzleMode),
        "arch": ARCHES,
        "unit": UNITS,
        "operand": ("A", "B"),
        "cp": (row.shape for row in rows.copies),
        "kind": (row.kind for row in rows.kinds),
        "legality": MODES,
        "emit": LANGUAGES,
        "form": WRITERS if context.command.name == "derive" else TABLE_WRITERS,
    }
    return choices[option]


#: A decorator of a command's function.
Option = Callable[[Callable[..., Any]], Callable[..., Any]]


def together(*options: Option) -> Option:
    """Several options as one decorator, in the order in which ``--help`` shows them."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def json_option(help: str) -> Option:
    """``--json``, with what it writes."""
    return click.option("--json", "as_json", is_flag=True, help=help)


def dtype_option(*, required: bool = True) -> Option:
    """``--dtype``, the element type."""
    return click.option(
        "--dtype", required=required, shell_complete=complete, help="f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 s8 u8."
    )


#: ``--arch``, whose descriptors they are.
arch_option = click.option(
    "--arch", default="sm100", show_default=True, shell_complete=complete, help="sm90 (wgmma) or sm100 (tcgen05)."
)

#: ``--unit`` of a layout to look at.
unit_option = click.option(
    "--unit", default="elements", show_default=True, shell_complete=complete, help="elements, bytes or cute."
)

#: What an operand must be for some instruction to read it.
instruction_options = together(
    click.option("--kind", shell_complete=complete, help="Kind of the instruction, as in descriptors shapes.  "
                 "[default: by the type]"),
    click.option("--cta-group", type=click.IntRange(1, 2), help="CTAs that share the instruction.  [default: either]"),
    click.option("--sparse", is_flag=True, help="The instruction is a sparse one."),
)  # fmt: skip

#: ``--legality`` of the commands that only hand it on.
legality_option = click.option(
    "--legality",
    default="strict",
    show_default=True,
    shell_complete=complete,
    help="strict, lenient or off, as in derive.",
)

#: Which operand of the instruction a tile is.
which_option = click.option("--operand", shell_complete=complete, help="A (MN is M) or B (MN is N).  [default: either]")

#: What a descriptor and a layout both are of: ``--dtype --major --swizzle --unit``.
operand_options = together(
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


def word_options(*, known: bool, shape: str) -> Option:
    """What describes the operand of a word; ``known``: the word cannot be read without its type and major."""
    return together(
        arch_option,
        dtype_option(required=known),
        click.option(
            "--major", required=known, shell_complete=complete, help="K or MN: the dimension that is contiguous."
        ),
        click.option("--shape", "--mma", "shape", callback=numbers("x"), help=shape),
        json_option("Write the answer as JSON."),
    )
