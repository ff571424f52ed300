"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import click

from descriptors.cli.elsewhere import elsewhere


def numbers(separator: str) -> Callable[[click.Context, click.Parameter, str | None], tuple[int, ...] | None]:
    """A callback that reads ``128x128`` or ``0,1``."""

    def read(_: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, ...] | None:
        if text is None:
            return None
        parts = text.strip("()").replace(",", separator).casefold().split(separator)
        # Sixteen digits are more than any extent has, and far from what int() refuses to read.
        if not all(part.isascii() and part.isdigit() and len(part) <= 16 for part in parts):
            example = separator.join(("128", "128") if separator == "x" else ("0", "1"))
            raise click.BadParameter(f"must be numbers like {example}, found {_quoted(text)}", param=parameter)
        return tuple(map(int, parts))

    return read


def extents_or_name(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    """A callback that reads ``64x16``, or leaves the name of an instruction, ``m64n128k16``, as it is."""
    if text is not None and re.fullmatch(_INSTRUCTION, text, re.IGNORECASE | re.ASCII):
        return text
    return numbers("x")(context, parameter, text)


_INSTRUCTION = r"m\d{1,9}n\d{1,9}k\d{1,9}"


def tile_extents(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    """A callback that reads ``128x128``; with ``--symbolic`` the text stays, for its extents are expressions."""
    if context.params.get("symbolic"):
        return text
    if text is not None and re.search(r"[a-wyz]", text, re.IGNORECASE):
        raise click.BadParameter(
            f"must be numbers like 128x128, found {_quoted(text)}; symbols go with --symbolic", param=parameter
        )
    return numbers("x")(context, parameter, text)


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
    """A callback that reads a 64-bit word: hexadecimal, decimal, as C writes either, or two halves of 32 bits."""
    number = _two_halves(text) if len(text) <= 60 else None
    if number is None and (found := re.fullmatch(_WORD, text.strip(), re.ASCII | re.IGNORECASE)):
        digits = re.sub("[_']", "", found["digits"])
        if not found["hex"] and ((len(digits) == 16 and not found["suffix"]) or not digits.isdigit()):
            _refuse_bare(digits, parameter)
        number = int(digits, 16 if found["hex"] else 10)
    if number is not None and number < 2**64:
        return number
    taker = "" if number is not None else elsewhere(text)
    other = f"; {taker}" if taker else ""
    raise click.BadParameter(f"must be a 64-bit word, 0x... or decimal, found {_quoted(text)}{other}", param=parameter)


_WORD = r"(?P<hex>0x)?(?P<digits>[0-9a-f](?:[_']?[0-9a-f]){0,19})(?P<suffix>u|u?ll?|ll?u)?"


def _two_halves(text: str) -> int | None:
    """The word of two hexadecimal numbers of at most 32 bits, the high half first, as a debugger shows registers."""
    halves = re.fullmatch(r"\s*0x([0-9a-f]{1,8})u?[\s,:]+0x([0-9a-f]{1,8})u?\s*", text, re.ASCII | re.IGNORECASE)
    if halves is None:
        return None
    number = int(halves[1], 16) << 32 | int(halves[2], 16)
    note(f"two halves are read with the high one first: {number:#018x}")
    return number


def _refuse_bare(digits: str, parameter: click.Parameter) -> None:
    """Refuse digits that may be meant as hexadecimal, and name what they could be."""
    or_decimal = f", or {digits}u for the decimal number, {int(digits):#018x}" if digits.isdigit() else ""
    raise click.BadParameter(f"must say which number is meant: 0x{digits}{or_decimal}", param=parameter)


def note(text: str, label: str = "note") -> None:
    """Keep a remark on how the command line was read, for the end of the answer."""
    click.get_current_context().meta.setdefault(_NOTES, []).append(f"{label}: {text}")


def noted(answer: str) -> str:
    """An answer, and below it how the command line was read where that was not plain."""
    return "\n".join([answer, *click.get_current_context().meta.get(_NOTES, ())])


_NOTES = "descriptors.notes"


def arch_or_assumed(context: click.Context, _: click.Parameter, name: str | None) -> str:
    """A callback that reads ``--arch``; without it, what the word or the instruction says, else ``sm100``."""
    if name is not None:
        return name
    found, mma = context.params.get("word"), context.params.get("mma")
    if isinstance(found, int):
        version = found >> 46 & 7
        arch, because = ("sm100" if version == 1 else "sm90"), f"by the version bits [46,49) of the word, {version}"
    elif isinstance(mma, str):
        arch, because = "sm90", f"by the instruction {mma}"
    else:
        arch, because = "sm100", "as --arch is not given; sm90 is Hopper"
    note(f"{arch} is assumed, {because}")
    return arch


def _quoted(text: str) -> str:
    """A text that was refused, short enough for one line."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def capacity(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """A callback that reads a number of bytes or ``none``."""
    return None if text is None or text.casefold() == "none" else address(context, parameter, text)


def need(given: dict[str, Any], *names: str) -> None:
    """Refuse a command line that gives a tile and leaves out what a tile needs.

    Raises:
        click.UsageError: naming the first option that is missing.
    """
    for name in names if given.get("tile") is not None else ():
        if given[name] is None:
            raise click.UsageError(f"--{name} is missing, which a tile does not tell as a layout does: {_TELLS[name]}")


#: What the options take that a tile must come with.
_TELLS = {
    "major": "one of K, MN, the dimension that is contiguous",
    "swizzle": "one of none, 32B, 64B, 128B, 128B_BASE32B",
    "mma": "MNxK that one instruction reads, like 64x16",
}


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
    from descriptors.operands.atoms import ATOMS, OTHER_ATOMS
    from descriptors.operands.explicit import UNITS
    from descriptors.operands.operand import ELEMENT_TYPES, Major, SwizzleMode
    from descriptors.output.tiles.closed_forms import WRITERS
    from descriptors.output.tiles.formulas import TABLE_WRITERS
    from descriptors.shift.steps import QUARTERS, STARTS

    arch = context.params.get("arch")
    rows = select_rows(arch if arch in ARCHES else "sm100")
    types = dict.fromkeys(dtype for row in rows.kinds for dtype in row.dtypes)
    choices: dict[str, Iterable[str]] = {
        "dtype": ELEMENT_TYPES,
        "a_dtype": types,
        "b_dtype": ELEMENT_TYPES if context.command.name == "plan" else types,
        "d_dtype": dict.fromkeys(dtype for row in rows.types for dtype in row.d),
        "scale_dtype": dict.fromkeys(row.dtype for row in rows.scales),
        "major": map(str, Major),
        "a_major": map(str, Major),
        "b_major": map(str, Major),
        "swizzle": map(str, SwizzleMode),
        "a_swizzle": map(str, SwizzleMode),
        "b_swizzle": map(str, SwizzleMode),
        "expected": map(str, SwizzleMode),
        "arch": ARCHES,
        "unit": UNITS,
        "operand": ("A", "B"),
        "cp": (row.shape for row in rows.copies),
        "kind": (row.kind for row in rows.kinds),
        "legality": MODES,
        "quarters": QUARTERS,
        "start": STARTS,
        "atom": (atom.name for atom in ATOMS + OTHER_ATOMS),
        "emit": LANGUAGES,
        "language": LANGUAGES,
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
    "--arch",
    callback=arch_or_assumed,
    shell_complete=complete,
    help="sm90 (wgmma) or sm100 (tcgen05).  [default: as the word or the instruction says, else sm100]",
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
