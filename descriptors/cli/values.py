"""Callbacks that read the values of options and arguments, and the names that a shell completes.

A callback returns the value, or refuses the text and names the expected form. If it assumes a value, it leaves a note
for the end of the answer.

>>> import click
>>> derive = click.Context(click.Command("derive"))
>>> numbers("x")(derive, click.Option(["--tile"]), "128x64")
(128, 64)

Completion offers the names of the table that the option is checked against.

>>> complete(derive, click.Option(["--swizzle"]), "128")
['128B', '128B_BASE32B']

A text that belongs to another command is recognized:

>>> for text in ("0x4000404000010000", "(64,16):(64,1)", "128x64", "m64n128k16", "nonsense"):
...     print(elsewhere(text) or "-")
use `descriptors decode` for a descriptor
use `descriptors match` or `descriptors derive --layout` for a layout
use --tile for a tile
use --mma for an instruction
-
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import click

from descriptors.cli.terminal import assume, note
from descriptors.text import ambiguous_digits

#: Pattern of a text, and what accepts such a text.
_TAKERS = (
    (r"0x[0-9a-f_']+|(?=.*[a-f])[0-9a-f]{16}|\d{16,20}", "use `descriptors decode` for a descriptor"),
    (r"m\d+n\d+k\d+", "use --mma for an instruction"),
    (r"\d+(x\d+)+", "use --tile for a tile"),
    (
        r".*(:\s*[\d(]|\bo\b.*\bo\b|#ttn?g\.|Layout\(|Transform\().*",
        "use `descriptors match` or `descriptors derive --layout` for a layout",
    ),
)


def elsewhere(text: str) -> str:
    """Return the way to pass a text that a command does not accept, or "" if no command accepts it."""
    takers = (taker for pattern, taker in _TAKERS if re.fullmatch(pattern, text.strip(), re.IGNORECASE | re.ASCII))
    return next(takers, "")


def numbers(separator: str) -> Callable[[click.Context, click.Parameter, str | None], tuple[int, ...] | None]:
    """Return a callback that reads ``128x128`` or ``0,1``."""

    def read(_: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, ...] | None:
        if text is None:
            return None
        parts = text.strip("()").replace(",", separator).casefold().split(separator)
        # Sixteen digits are more than any extent has, and far from what int() refuses to read.
        if not all(part.isascii() and part.isdigit() and len(part) <= 16 for part in parts):
            example = separator.join(("128", "128") if separator == "x" else ("0", "1"))
            raise click.BadParameter(f"{_quoted(text)} is not of the form {example}", param=parameter)
        return tuple(map(int, parts))

    return read


def extents_or_name(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    """Read ``64x16``, or return the name of an instruction, such as ``m64n128k16``, unchanged."""
    if text is not None and is_instruction(text):
        return text
    if text is not None and re.search("m\\d+n", text, re.IGNORECASE | re.ASCII):
        fact = f"{_quoted(text)} is neither MNxK, such as 64x16, nor an instruction, such as m64n128k16"
        raise click.BadParameter(fact, param=parameter)
    return numbers("x")(context, parameter, text)


def is_instruction(text: str) -> bool:
    """Return whether a text is the name of an instruction.

    >>> is_instruction("M64N128K16"), is_instruction("wgmma.sp.m64n128k32"), is_instruction("bf16")
    (True, True, False)
    """
    # Test the first letter first: the parser of names takes long to load, and extents start with a digit.
    if text[:1].casefold() not in ("m", "w", "t"):
        return False
    from descriptors.smem.instructions.instruction_name import is_instruction_name

    return is_instruction_name(text)


def tile_extents(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    """Read ``128x128``; with ``--symbolic`` return the text, whose extents are expressions."""
    if context.params.get("symbolic"):
        return text
    if text is not None and re.search(r"[a-wyz]", text, re.IGNORECASE):
        raise click.BadParameter(
            f"{_quoted(text)} is not of the form 128x128; add --symbolic if it contains symbols", param=parameter
        )
    return numbers("x")(context, parameter, text)


def address(_: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Read a number of bytes, decimal or hexadecimal."""
    if text is None:
        return None
    try:
        if len(text) <= 20:
            return int(text, 0)
    except ValueError:
        pass
    raise click.BadParameter(f"{_quoted(text)} is not a number of bytes, such as 1024 or 0x400", param=parameter)


def word(_: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Read a 64-bit word: a hexadecimal or decimal number, also in C notation, or two 32-bit halves."""
    if text is None:
        return None
    number = _two_halves(text) if len(text) <= 60 else None
    if number is None and (match := re.fullmatch(_WORD, text.strip(), re.ASCII | re.IGNORECASE)):
        digits = re.sub("[_']", "", match["digits"])
        if not match["hex"] and ((len(digits) == 16 and not match["suffix"]) or not digits.isdigit()):
            _refuse_bare(digits, parameter)
        number = int(digits, 16 if match["hex"] else 10)
    if number is not None and number < 2**64:
        return number
    if number is not None:
        raise click.BadParameter(f"{_quoted(text)} has more than 64 bits", param=parameter)
    taker = elsewhere(text)
    other = f"; {taker}" if taker else ""
    raise click.BadParameter(
        f"{_quoted(text)} is not a 64-bit word in hexadecimal (0x...) or decimal{other}", param=parameter
    )


_WORD = r"(?P<hex>0x)?(?P<digits>[0-9a-f](?:[_']?[0-9a-f]){0,19})(?P<suffix>u|u?ll?|ll?u)?"


def _two_halves(text: str) -> int | None:
    """Return the word of two hexadecimal halves, high half first, as debuggers print registers; else None."""
    halves = re.fullmatch(r"\s*0x([0-9a-f]{1,8})u?[\s,:]+0x([0-9a-f]{1,8})u?\s*", text, re.ASCII | re.IGNORECASE)
    if halves is None:
        return None
    number = int(halves[1], 16) << 32 | int(halves[2], 16)
    note(f"the first half is read as the high half: {number:#018x}")
    return number


def _refuse_bare(digits: str, parameter: click.Parameter) -> None:
    """Refuse digits without 0x that may be hexadecimal, and name both readings."""
    raise click.BadParameter(ambiguous_digits(digits), param=parameter)


def arch_or_assumed(context: click.Context, _: click.Parameter, name: str | None) -> str:
    """Read ``--arch``; if it is not given, use the architecture of the word or instruction, else ``sm100``."""
    if name is not None:
        return name
    from descriptors.smem.words.descriptor import assumed_architecture

    word_value, mma, name = (context.params.get(key) for key in ("word", "mma", "name"))
    arch, because = assumed_architecture(), "because no --arch is given; Hopper: sm90"
    if isinstance(word_value, int):
        arch, because = (
            assumed_architecture(word_value),
            f"by the version bits [46,49) of the word, {word_value >> 46 & 7}",
        )
    elif isinstance(mma, str):
        from descriptors.smem.derivation.request import named_instruction

        instruction = named_instruction(mma)
        newer = instruction.cta_group == 2 or instruction.kind is not None
        arch = instruction.arch or assumed_architecture(m=None if newer else instruction.extents[0])
        because = f"by the instruction {mma}"
    elif isinstance(name, str) and is_instruction(name):
        from descriptors.smem.derivation.request import named_instruction

        if (stated := named_instruction(name, "shapes").arch) is not None:
            arch, because = stated, f"by the instruction {name}"
    assume(arch, because)
    return arch


def printed_dtype(required: bool) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """Return a callback that reads ``--dtype``, or takes it from a layout that a compiler printed."""

    def read(context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
        layout = context.params.get("layout")
        if text is not None or not isinstance(layout, str):
            if text is None and required:
                raise click.MissingParameter(ctx=context, param=parameter)
            return text
        from descriptors.smem.operands.explicit import printed_types

        names = printed_types(layout)
        if not names and required:
            raise click.MissingParameter(ctx=context, param=parameter)
        if len(names) > 1:
            note(
                f"assuming dtype {names[0]}, because LAYOUT states only the element width; "
                f"other types of this width: {', '.join(names[1:])}"
            )
        return names[0] if names else None

    return read


def _quoted(text: str) -> str:
    """Quote a refused text, shortened to one line."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def capacity(context: click.Context, parameter: click.Parameter, text: str | None) -> int | str | None:
    """Read a number of bytes or ``none``; if no text is given, return ``arch``, the capacity of the architecture."""
    if text is None:
        return "arch"
    return None if text.casefold() == "none" else address(context, parameter, text)


def named_texts(context: click.Context, parameter: click.Parameter, rows: tuple[str, ...]) -> dict[str, str]:
    """Read repeated ``NAME=VALUE`` texts; the last value of a name counts."""
    values: dict[str, str] = {}
    for row in rows:
        name, sign, value = row.partition("=")
        if not (name and sign and value):
            raise click.BadParameter(f"{row[:60]!r} is not of the form {parameter.metavar}", context, parameter)
        values[name] = value
    return values


def named_integers(context: click.Context, parameter: click.Parameter, rows: tuple[str, ...]) -> dict[str, int]:
    """Read repeated ``NAME=INTEGER`` texts, decimal or hexadecimal."""
    values: dict[str, int] = {}
    for name, value in named_texts(context, parameter, rows).items():
        if not re.fullmatch(r"-?(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})", value):
            raise click.BadParameter(f"{name} is {value[:60]!r}, which is not an integer", context, parameter)
        values[name] = int(value, 0) if "x" in value.lower() else int(value)
    return values


def complete(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    """Return the values that complete a text; for an option with several names, those that complete the last name."""
    before, comma, last = text.rpartition(",")
    names = _choices(context, parameter.name or "")
    return [before + comma + name for name in names if name.casefold().startswith(last.casefold())]


def _choices(context: click.Context, name: str) -> Iterable[str]:
    """Return the names that an option accepts. The tables are imported only for completion."""
    from descriptors.smem.derivation.arguments import ARGUMENTS

    instruction_names = _instruction_names(context)
    if name in instruction_names:
        return instruction_names[name]
    argument_names = dict.fromkeys(("a_major", "b_major", "contiguous"), "major") | dict.fromkeys(
        ("a_swizzle", "b_swizzle", "expected"), "swizzle"
    )
    argument = ARGUMENTS.get(argument_names.get(name, name))
    return argument.choices if argument else _answer_names(context)[name]


def _instruction_names(context: click.Context) -> dict[str, Iterable[str]]:
    """Return the names in the instruction tables of an architecture, by option."""
    from descriptors.smem.instructions.instruction_name import is_mma
    from descriptors.smem.instructions.rules import select_rows
    from descriptors.smem.operands.operand import ELEMENT_TYPES
    from descriptors.targets import WARP_ARCHITECTURES, tensor_arches

    arch = context.params.get("arch")
    rows = select_rows(arch if arch in tensor_arches() else "sm100")
    types = dict.fromkeys(dtype for row in rows.kinds for dtype in row.dtypes)
    of_warps = context.command.name == "plan" and is_mma((context.params.get("words") or ("",))[0])
    return {
        "arch": WARP_ARCHITECTURES if of_warps else tensor_arches(),
        "a_dtype": types,
        "b_dtype": ELEMENT_TYPES if context.command.name == "plan" else types,
        "d_dtype": dict.fromkeys(dtype for row in rows.types for dtype in row.d),
        "scale_dtype": dict.fromkeys(row.dtype for row in rows.scales),
        "kind": (row.kind for row in rows.kinds),
    }


def _answer_names(context: click.Context) -> dict[str, Iterable[str]]:
    """Return the names of plan settings, pictures, rules and output formats, by option."""
    from descriptors.check.rules import ALL_RULES
    from descriptors.gemm.epilogue import BITS, STORES, TERMS
    from descriptors.gemm.plan_request import SOURCES
    from descriptors.gemm.programs.emit_plan import PLAN_LANGUAGES
    from descriptors.show.explorer.question import TABS
    from descriptors.show.stages.view import COLOURS
    from descriptors.smem.derivation.closed_forms import WRITERS
    from descriptors.smem.emitters.emit import LANGUAGES
    from descriptors.sweep.formulas import TABLE_WRITERS
    from descriptors.tmem.shift_steps import QUARTERS, STARTS

    return {
        "a_source": SOURCES,
        "pixels": ("A", "B"),
        "c_dtype": BITS,
        "store": STORES,
        "terms": TERMS,
        "quarters": QUARTERS,
        "start": STARTS,
        "emit": PLAN_LANGUAGES if context.command.name == "plan" else LANGUAGES,
        "language": (*LANGUAGES, "constexpr"),
        **dict.fromkeys(("only", "without", "rule"), ALL_RULES),
        "tab": TABS,
        "colour": COLOURS,
        "form": WRITERS if context.command.name == "derive" else TABLE_WRITERS,
    }
