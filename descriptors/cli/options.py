"""Options that several commands share, each a decorator of a command's function.

>>> import click
>>> given = click.Command("decode", params=[], callback=arch_option(lambda arch: arch))
>>> [parameter.name for parameter in given.callback.__click_params__]
['arch']

What was typed where nothing like it is taken, and who takes it: a word, a layout, a tile, an instruction.

Law: what one command is told to leave to another, the other takes.

>>> for text in ("0x4000404000010000", "(64,16):(64,1)", "128x64", "m64n128k16", "nonsense"):
...     print(elsewhere(text) or "-")
a word is read by descriptors decode
a layout is matched by descriptors match, and derived by descriptors derive --layout
a tile is given by --tile
an instruction is given by --mma
-

How the values of options are read: extents, numbers of bytes, 64-bit words, an architecture that is not said.

A callback gives the value, or refuses what was typed and says what it must be like; what it assumed is noted for the
end of the answer.

>>> import click
>>> option = click.Option(["--tile"])
>>> numbers("x")(click.Context(click.Command("derive")), option, "128x64")
(128, 64)

Names that options take, for the shell's completion: each from the table that it is checked against.

>>> import click
>>> complete(click.Context(click.Command("derive")), click.Option(["--swizzle"]), "128")
['128B', '128B_BASE32B']

A tile instead of a layout: the options by which the commands for debugging are asked as ``derive`` is.

Law: a question by ``--tile --swizzle --stages --order`` is that with the layout which ``derive`` makes of them.

What ``--check`` asks: whether NVIDIA's own compiler, through the CuTe DSL, writes the word that was derived.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import click

from descriptors import oracle
from descriptors.answers import record, tell
from descriptors.oracle.words import WordRequest, descriptor_words
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derive
from descriptors.smem.operands.operand import major_of
from descriptors.smem.operands.swizzled import plain
from descriptors.text import word_text
from layoutalg.cli.console import NotThereError, json_text

#: What a text looks like, and who takes it.
_TAKERS = (
    (r"0x[0-9a-f_']+|(?=.*[a-f])[0-9a-f]{16}|\d{16,20}", "a word is read by descriptors decode"),
    (r"m\d+n\d+k\d+", "an instruction is given by --mma"),
    (r"\d+(x\d+)+", "a tile is given by --tile"),
    (
        r".*(:\s*[\d(]|\bo\b.*\bo\b).*",
        "a layout is matched by descriptors match, and derived by descriptors derive --layout",
    ),
)


def elsewhere(text: str) -> str:
    """Who takes a text that a command does not; "" where it looks like nothing that any takes."""
    found = (taker for pattern, taker in _TAKERS if re.fullmatch(pattern, text.strip(), re.IGNORECASE | re.ASCII))
    return next(found, "")


class OptionsOnly(click.Command):
    """A command without arguments, which says who takes what it was given as one.

    Before it asks for the options that are missing: who typed a word meant another command.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options, after a look at what is none."""
        for text in self.make_parser(ctx).parse_args(list(args))[1]:
            if taker := elsewhere(text):
                raise click.UsageError(f"{self.name} takes options only, found {text[:60]!r}; {taker}", ctx)
        return super().parse_args(ctx, args)


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
    # The first letter is looked at first: extents have none, and a pattern takes long to compile.
    if text is not None and text[:1] in ("m", "M") and re.fullmatch(_INSTRUCTION, text, re.IGNORECASE | re.ASCII):
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


def answered(answer: object, as_json: bool, **options: Any) -> str:
    """What a command prints of an answer: its plain data as JSON, or its text with the notes."""
    return json_text(record(answer, **options)) if as_json else noted(tell(answer, **options))


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


def complete(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Names that an option takes, for the shell's completion; where it takes several, the last one begun."""
    before, comma, last = begun.rpartition(",")
    names = _choices(context, parameter.name or "")
    return [before + comma + name for name in names if name.casefold().startswith(last.casefold())]


def _choices(context: click.Context, option: str) -> Iterable[str]:
    """The names by the option's own; the tables are read only when the shell asks."""
    found = _of_instructions(context)
    return found[option] if option in found else _of_operands(context)[option]


def _of_instructions(context: click.Context) -> dict[str, Iterable[str]]:
    """The names that are in the tables of instructions."""
    from descriptors.smem.instructions.rules import ARCHES, MODES, select_rows
    from descriptors.smem.operands.operand import ELEMENT_TYPES

    arch = context.params.get("arch")
    rows = select_rows(arch if arch in ARCHES else "sm100")
    types = dict.fromkeys(dtype for row in rows.kinds for dtype in row.dtypes)
    return {
        "a_dtype": types,
        "b_dtype": ELEMENT_TYPES if context.command.name == "plan" else types,
        "d_dtype": dict.fromkeys(dtype for row in rows.types for dtype in row.d),
        "scale_dtype": dict.fromkeys(row.dtype for row in rows.scales),
        "arch": ARCHES,
        "cp": (row.shape for row in rows.copies),
        "kind": (row.kind for row in rows.kinds),
        "legality": MODES,
    }


def _of_operands(context: click.Context) -> dict[str, Iterable[str]]:
    """The names of what an operand is, and of what is written of it."""
    from descriptors.check.finding import ALL_RULES
    from descriptors.gemm.plan_request import SOURCES
    from descriptors.gemm.programs.emit_plan import PLAN_LANGUAGES
    from descriptors.show.explorer.question import TABS
    from descriptors.show.stages.view import COLOURS
    from descriptors.smem.derivation.closed_forms import WRITERS
    from descriptors.smem.emitters.emit import LANGUAGES
    from descriptors.smem.operands.atoms import ATOMS, OTHER_ATOMS
    from descriptors.smem.operands.explicit import UNITS
    from descriptors.smem.operands.operand import ELEMENT_TYPES, Major, SwizzleMode
    from descriptors.sweep.formulas import TABLE_WRITERS
    from descriptors.tmem.shift_steps import QUARTERS, STARTS

    return {
        "dtype": ELEMENT_TYPES,
        **dict.fromkeys(("major", "a_major", "b_major"), tuple(map(str, Major))),
        **dict.fromkeys(("swizzle", "a_swizzle", "b_swizzle", "expected"), tuple(map(str, SwizzleMode))),
        "a_source": SOURCES,
        "unit": UNITS,
        "operand": ("A", "B"),
        "quarters": QUARTERS,
        "start": STARTS,
        "atom": (atom.name for atom in ATOMS + OTHER_ATOMS),
        "emit": PLAN_LANGUAGES if context.command.name == "plan" else LANGUAGES,
        "language": LANGUAGES,
        **dict.fromkeys(("only", "without"), ALL_RULES),
        "tab": TABS,
        "colour": COLOURS,
        "form": WRITERS if context.command.name == "derive" else TABLE_WRITERS,
    }


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


#: ``--stages``, the third extent of a tile by its own name.
stages_option = click.option(
    "--stages", type=click.IntRange(1, 1 << 16), help="Copies of the tile, as a third extent.  [default: one]"
)

order_option = click.option(
    "--order",
    callback=numbers(","),
    help="Stacking order of the atoms: 0,1 along MN first; 1,0 along K first.  [default: the contiguous one last]",
)

#: What a tile does not tell of itself.
_NEEDED = ("major", "swizzle")

_swizzle_option = click.option(
    "--swizzle", shell_complete=complete, help="Of the tile: none, 32B, 64B, 128B or 128B_BASE32B."
)

major_option = click.option(
    "--major", shell_complete=complete, help="Of the tile: K or MN, the dimension that is contiguous."
)


def tile_options(instead_of: str, *, swizzle: bool = True) -> Option:
    """The options of a tile.

    Args:
        instead_of: the argument that they replace.
        swizzle: whether ``--swizzle`` is one of them; not where the command has it for layouts too.
    """
    tile = click.option(
        "--tile", callback=numbers("x"), help=f"Instead of {instead_of} a tile of atoms, MNxK or MNxKxSTAGES."
    )
    return together(tile, *([_swizzle_option] if swizzle else []), stages_option, order_option)


def staged(tile: tuple[int, ...] | None, stages: int | None) -> tuple[int, ...] | None:
    """The extents of a tile with its stages.

    Raises:
        click.UsageError: if they are given twice, or without a tile.

    >>> staged((128, 64), 4)
    (128, 64, 4)
    """
    if stages is None:
        return tile
    if tile is None:
        raise click.UsageError("--stages goes only with --tile")
    if len(tile) != 2:
        raise click.UsageError("--stages goes only with a --tile MNxK; give the stages once")
    return (*tile, stages)


def derived_tile(
    instead: object, name: str, given: dict[str, Any], own: tuple[str, ...] = (), **reader: Any
) -> Derivation | None:
    """The tile that a command was asked about; None where it was given what the tile replaces.

    Args:
        instead: what it was given instead, None for nothing.
        name: what that is called.
        given: the command's options, of which those of a tile are taken out.
        own: those of a tile's options that the command itself has, so that they stay and go with anything.
        reader: the other arguments of ``derive``. An ``mma`` of None is the whole tile; no instruction need exist.

    Raises:
        click.UsageError: if it was given both, or neither, or options of a tile without one.
    """
    asked: Mapping[str, Any] = {
        one: given[one] if one in own else given.pop(one) for one in ("tile", "stages", "swizzle", "order")
    }
    if (asked["tile"] is None) == (instead is None):
        found = "neither" if instead is None else "both"
        raise click.UsageError(f"give either {name} or --tile, found {found}")
    tile = staged(asked["tile"], asked["stages"])
    if tile is None:
        for one in ("swizzle", "order"):
            if asked[one] is not None and one not in own:
                raise click.UsageError(f"--{one} goes only with --tile")
        return None
    need({"tile": tile, "swizzle": asked["swizzle"], "major": major_of(asked["swizzle"], reader["major"])}, *_NEEDED)
    mma = reader.pop("mma") or tile[:2]
    picked = {"swizzle": asked["swizzle"], "order": asked["order"], "mma": mma, **reader}
    return derive(tile=tile, legality="off", capacity=None, verify=False, **picked)


def check(d: Derivation) -> tuple[str, dict[str, Any]]:
    """The DSL's word of the same tile beside ours: a line for a person, and plain data.

    Both are words of a first subtile at address 0; bits that change nothing may differ.

    Raises:
        NotThereError: if the CuTe DSL is not installed, or breaks.
    """
    if not oracle.available():
        raise NotThereError(f"--check: {oracle.MISSING}")
    asked = WordRequest(d.element.name, str(d.major), str(d.swizzle), str(plain(d.smem_tile)), d.mma, d.arch)
    if d.crossing is not None:
        column = (d.mma[0], d.element.per_16_bytes)
        asked = replace(asked, mma=column, arch="sm103", columns=(0, 0))
    try:
        (answer,) = descriptor_words([asked])
    except oracle.OracleError as error:
        raise NotThereError(f"--check: {error}") from error
    ours = d.descriptor.at(0).encode()
    agrees = answer.word is not None and not (answer.word ^ ours) & ~d.dont_care_mask()
    theirs = None if answer.word is None else word_text(answer.word)
    told = {"agrees": agrees, "status": answer.status, "word": theirs, "ours": word_text(ours), "text": answer.text}
    return _line(told, differ=answer.word != ours), told


def _line(told: dict[str, Any], *, differ: bool) -> str:
    by = f"CuTe DSL {oracle.version()}"
    if told["word"] is None:
        return f"{by}: no word to compare with, {told['status']}: {' '.join(str(told['text']).split())}"
    if not told["agrees"]:
        return f"{by}: different, it writes {told['word']} where {told['ours']} is derived"
    return f"{by}: the same word{', but for bits that change nothing: ' + told['word'] if differ else ''}"
