"""How a command line is read: each value from its text, what is noted of it, and what the shell may complete.

A callback gives the value, or refuses what was typed and says what it must be like; what it assumed is noted for the
end of the answer.

>>> import click
>>> derive = click.Context(click.Command("derive"))
>>> numbers("x")(derive, click.Option(["--tile"]), "128x64")
(128, 64)

Names that an option takes are completed from the table that it is checked against.

>>> complete(derive, click.Option(["--swizzle"]), "128")
['128B', '128B_BASE32B']

Law: what one command leaves to another, the other takes.

>>> for text in ("0x4000404000010000", "(64,16):(64,1)", "128x64", "m64n128k16", "nonsense"):
...     print(elsewhere(text) or "-")
a word is read by descriptors decode
a layout is matched by descriptors match, and derived by descriptors derive --layout
a tile is given by --tile
an instruction is given by --mma
-
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import click

from descriptors.cli.terminal import assume, note
from descriptors.text import ambiguous_digits

#: What a text looks like, and who takes it.
_TAKERS = (
    (r"0x[0-9a-f_']+|(?=.*[a-f])[0-9a-f]{16}|\d{16,20}", "a word is read by descriptors decode"),
    (r"m\d+n\d+k\d+", "an instruction is given by --mma"),
    (r"\d+(x\d+)+", "a tile is given by --tile"),
    (
        r".*(:\s*[\d(]|\bo\b.*\bo\b|#ttn?g\.|Layout\(|Transform\().*",
        "a layout is matched by descriptors match, and derived by descriptors derive --layout",
    ),
)


def elsewhere(text: str) -> str:
    """Who takes a text that a command does not; "" where it looks like nothing that any takes."""
    takers = (taker for pattern, taker in _TAKERS if re.fullmatch(pattern, text.strip(), re.IGNORECASE | re.ASCII))
    return next(takers, "")


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
    if text is not None and is_instruction(text):
        return text
    if text is not None and re.search("m\\d+n", text, re.IGNORECASE | re.ASCII):
        must = "must be MNxK like 64x16, or an instruction like m64n128k16"
        raise click.BadParameter(f"{must}, found {_quoted(text)}", param=parameter)
    return numbers("x")(context, parameter, text)


def is_instruction(text: str) -> bool:
    """Whether a text is the name of an instruction.

    >>> is_instruction("M64N128K16"), is_instruction("wgmma.sp.m64n128k32"), is_instruction("bf16")
    (True, True, False)
    """
    # The first letter is looked at first: extents have none, and the reader of names takes long to load.
    if text[:1].casefold() not in ("m", "w", "t"):
        return False
    from descriptors.smem.instructions.instruction_name import is_instruction_name

    return is_instruction_name(text)


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


def word(_: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """A callback that reads a 64-bit word: hexadecimal, decimal, as C writes either, or two halves of 32 bits."""
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
    raise click.BadParameter(ambiguous_digits(digits), param=parameter)


def arch_or_assumed(context: click.Context, _: click.Parameter, name: str | None) -> str:
    """A callback that reads ``--arch``; without it, what the word or the instruction says, else ``sm100``."""
    if name is not None:
        return name
    from descriptors.smem.words.descriptor import assumed_architecture

    word_value, mma = context.params.get("word"), context.params.get("mma")
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
    else:
        arch, because = assumed_architecture(), "as --arch is not given; sm90 is Hopper"
    assume(arch, because)
    return arch


def printed_dtype(required: bool) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """A callback that reads ``--dtype``; without it, what the layout says, if it is a print."""

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
            note(f"dtype {names[0]} is assumed, as LAYOUT says its width alone; the others are {', '.join(names[1:])}")
        return names[0] if names else None

    return read


def _quoted(text: str) -> str:
    """A text that was refused, short enough for one line."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def capacity(context: click.Context, parameter: click.Parameter, text: str | None) -> int | str | None:
    """A callback that reads a number of bytes or ``none``; without a text it is that of the architecture."""
    if text is None:
        return "arch"
    return None if text.casefold() == "none" else address(context, parameter, text)


def named_texts(context: click.Context, parameter: click.Parameter, rows: tuple[str, ...]) -> dict[str, str]:
    """What ``NAME=VALUE``, given again and again, says."""
    found: dict[str, str] = {}
    for row in rows:
        name, sign, value = row.partition("=")
        if not (name and sign and value):
            raise click.BadParameter(f"must be {parameter.metavar}, found {row[:60]!r}", context, parameter)
        found[name] = value
    return found


def named_integers(context: click.Context, parameter: click.Parameter, rows: tuple[str, ...]) -> dict[str, int]:
    """The same where values are integers, decimal or hexadecimal."""
    found: dict[str, int] = {}
    for name, value in named_texts(context, parameter, rows).items():
        if not re.fullmatch(r"-?(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})", value):
            raise click.BadParameter(f"{name} must be an integer, found {value[:60]!r}", context, parameter)
        found[name] = int(value, 0) if "x" in value.lower() else int(value)
    return found


def complete(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Names that an option takes, for the shell's completion; where it takes several, the last one begun."""
    before, comma, last = begun.rpartition(",")
    names = _choices(context, parameter.name or "")
    return [before + comma + name for name in names if name.casefold().startswith(last.casefold())]


def _choices(context: click.Context, name: str) -> Iterable[str]:
    """The names by the option's own; the tables are read only when the shell asks."""
    from descriptors.smem.derivation.arguments import ARGUMENTS

    of = _of_instructions(context)
    if name in of:
        return of[name]
    same = dict.fromkeys(("a_major", "b_major", "contiguous"), "major") | dict.fromkeys(
        ("a_swizzle", "b_swizzle", "expected"), "swizzle"
    )
    argument = ARGUMENTS.get(same.get(name, name))
    return argument.choices if argument else _of_answers(context)[name]


def _of_instructions(context: click.Context) -> dict[str, Iterable[str]]:
    """The names that the tables of instructions have for an architecture."""
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


def _of_answers(context: click.Context) -> dict[str, Iterable[str]]:
    """The names of what is looked at, and of what is written of it."""
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
