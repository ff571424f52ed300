"""Options that several commands share, each a decorator of a command's function.

The options of ``derive`` follow from the table of its arguments. A command that uses one differently passes its own
help text.

>>> import click
>>> command = click.command()(together(option("tile"), option("order", help="Of the tile."))(lambda **values: values))
>>> command.main(["--tile", "128x64", "--order", "1,0"], standalone_mode=False)
{'tile': (128, 64), 'order': (1, 0)}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from descriptors.cli.values import (
    address,
    arch_or_assumed,
    capacity,
    complete,
    elsewhere,
    extents_or_name,
    numbers,
    printed_dtype,
)
from descriptors.errors import Advice, DescriptorError, advising
from descriptors.smem.derivation.arguments import ARGUMENTS, Argument
from descriptors.smem.operands.operand import major_of
from layoutalg.cli.console import color_option

#: The widest first column of ``--help``.
_COLUMN = 26

#: A decorator of a command's function.
Option = Callable[[Callable[..., Any]], Callable[..., Any]]


class Grouped(click.Option):
    """An option that ``--help`` lists under a heading.

    Args:
        group: the heading.
    """

    def __init__(self, *arguments: Any, group: str, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.group = group


def output(name: str, *value: str, **settings: Any) -> Option:
    """Return an option that ``--help`` lists under *Output*; ``value`` is the name of its parameter."""
    return click.option(name, *value, cls=Grouped, group="Output", **settings)


class Guide(click.Command):
    """A command that, for an unknown option, names the command that supports it."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options for ``--help`` under their headings; those without a heading come last."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if row is not None:
                groups.setdefault(getattr(parameter, "group", ""), []).append(row)
        # Padding makes the columns of all sections equally wide.
        width = min(_COLUMN, max(len(option) for rows in groups.values() for option, _ in rows))
        for group in sorted(groups, key=lambda name: not name):
            with formatter.section(group or ("Other" if len(groups) > 1 else "Options")):
                formatter.write_dl([(option.ljust(width), text) for option, text in groups[group]], col_max=_COLUMN)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; a refusal of an option names the way."""
        try:
            self.look(ctx, args)
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if way := _WAYS.get(self.name or "", {}).get(error.option_name) or _operand_option_way(
                self.name, error.option_name
            ):
                raise click.UsageError(f"No such option {error.option_name!r}; {way}", ctx) from None
            raise

    def look(self, ctx: click.Context, args: list[str]) -> None:
        """Refuse a command line before its options are read."""


def _operand_option_way(command: str | None, name: str) -> str:
    """Return the way to pass an option of ``derive`` that belongs to one operand of ``emit``, or ""."""
    is_operand_option = command == "emit" and name.removeprefix("--").replace("-", "_") in ARGUMENTS
    return f'give it in quotes with the operand\'s name: "a: {name} ..."' if is_operand_option else ""


_EACH = "use {0}a-{1} and {0}b-{1}, one for each operand"
#: For each command, options that it does not have, and what to use instead.
_WAYS: Mapping[str, Mapping[str, str]] = {
    "plan": {
        "--mma": "give the instruction as the first argument: descriptors plan m64n128k16 bf16",
        "--dtype": "give the type after the instruction: descriptors plan m64n128k16 bf16",
        "--epilogue": "use --terms, --c-dtype and --store for the epilogue",
        "--swizzle": _EACH.format("--", "swizzle"),
        "--major": _EACH.format("--", "major"),
    },
    "draw": {"--format": "use the suffix of -o: -o tile.svg, .tex, .txt or .html"},
    "tma": {"--box": "use `descriptors tensor-map` for a map with its box"},
}


class OptionsOnly(Guide):
    """A command without arguments. An argument is refused with the command or option that accepts it.

    This comes before the check for missing options, because the user meant another command.
    """

    def look(self, ctx: click.Context, args: list[str]) -> None:
        """Refuse an argument that another command or option accepts."""
        for text in self.make_parser(ctx).parse_args(list(args))[1]:
            if taker := elsewhere(text):
                raise click.UsageError(f"{self.name} takes only options, not {text[:60]!r}; {taker}", ctx)


def together(*options: Option) -> Option:
    """Combine options into one decorator, in the order in which ``--help`` lists them."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def json_option(help: str) -> Option:
    """Return the options ``--json``, with its help, and ``--color`` for the text."""
    as_json = click.option("--json", "as_json", is_flag=True, help=help, cls=Grouped, group="Output")
    return together(as_json, color_option)


#: ``--smt2`` of the commands whose answer is a claim.
smt2_option = click.option(
    "--smt2",
    is_flag=True,
    help="Print the claim as SMT-LIB 2; `z3 FILE` or `cvc5 FILE` decides it.",
    cls=Grouped,
    group="Verification",
)


def option(name: str, **settings: Any) -> Option:
    """Return the option for an argument of ``derive``.

    Args:
        name: name of the argument.
        settings: settings of ``click.option`` that replace the defaults, such as the help text.
    """
    row = ARGUMENTS[name]
    merged = {"help": row.help, "cls": Grouped, "group": row.group, **_settings(row), **settings}
    if name == "dtype":  # a printed layout may state it
        merged |= {"callback": printed_dtype(merged["required"]), "required": False}
    return click.option(f"--{name.replace('_', '-')}", **merged)


def _settings(row: Argument) -> dict[str, Any]:
    """Return the settings of ``click.option`` for the value of an argument."""
    if row.kind == "flag":
        return {"is_flag": True}
    settings: dict[str, Any] = {"required": row.required, "metavar": row.metavar}
    if row.name in _CALLBACKS or row.kind in _CALLBACKS:
        settings["callback"] = _CALLBACKS.get(row.name) or _CALLBACKS[row.kind]
    if row.bounds:
        settings["type"] = click.IntRange(*row.bounds)
    if row.choices:
        settings["shell_complete"] = complete
    if row.default is not None and row.name != "arch":  # a note reports an assumed architecture
        settings |= {"default": str(row.default), "show_default": True}
    return settings


#: Callbacks by kind of value, or by argument where the value has several forms.
_CALLBACKS: Mapping[str, Callable[..., Any]] = {
    "extents": numbers("x"), "positions": numbers(","), "instruction": extents_or_name, "bytes": address,
    "arch": arch_or_assumed, "capacity": capacity,
}  # fmt: skip

#: ``--unit`` of a layout to look at.
unit_option = option("unit", help="Unit of LAYOUT: elements, bytes or cute.")

#: Options that select the instruction.
instruction_options = together(option("kind"), option("cta_group"), option("sparse"))

#: ``--legality`` of commands that only pass it on.
legality_option = option("legality", help="strict, lenient or off (see descriptors derive).")

#: ``--major`` of a tile beside a layout.
major_option = option("major", help="Contiguous dimension of the tile.")


def dtype_option(*, required: bool = True) -> Option:
    """Return the option ``--dtype``."""
    return option("dtype", required=required)


def word_options(*, known: bool, shape: str) -> Option:
    """Return the options that describe the operand of a descriptor; with ``known``, type and major are required."""
    return together(
        option("arch"),
        dtype_option(required=known),
        option("major", required=known, help="Contiguous dimension in shared memory."),
        click.option("--shape", "--mma", "shape", metavar="MNxK", callback=numbers("x"), help=shape),
        json_option("Print JSON."),
    )


def need(options: dict[str, Any], *names: str) -> None:
    """Refuse a command line that gives a tile and leaves out what a tile needs.

    The name of an atom, such as ``K_SW128``, gives the swizzle and the major. A shape of ``tcgen05.cp`` replaces
    ``mma``.

    Raises:
        click.UsageError: if options are missing; it names them and their values.
        DescriptorError: if the atom has another major.
    """
    missing = [name for name in names if _value(options, name) is None] if options.get("tile") is not None else []
    if missing:
        first, *others = missing
        also = f" (also missing: {', '.join(f'--{name}' for name in others)})" if others else ""
        values = "; ".join(f"--{name}: {_VALUES[name]}" for name in missing)
        raise click.UsageError(f"--{first} is missing{also}; {values}")


def _value(options: dict[str, Any], name: str) -> object:
    if name == "major":
        return major_of(options["swizzle"], options["major"])
    return options["mma"] or options["cp"] if name == "mma" else options[name]


#: Values of the options that a tile needs.
_VALUES = {
    "major": "K or MN, the contiguous dimension",
    "swizzle": "none, 32B, 64B, 128B or 128B_BASE32B (descriptors search ranks them)",
    "mma": "MNxK that one instruction reads, such as 64x16",
}


def tile_options(instead_of: str, *, swizzle: bool = True) -> Option:
    """Return the options of a tile.

    Args:
        instead_of: the argument that they replace.
        swizzle: whether to include ``--swizzle``.
    """
    tile = option("tile", help=f"Tile of canonical atoms, in elements, instead of {instead_of}.")
    owner = "the tile, or of a plain LAYOUT" if instead_of == "LAYOUT" else "the tile"
    mode = option("swizzle", help=f"Swizzle of {owner}: none, 32B, 64B, 128B or 128B_BASE32B.")
    return together(tile, *([mode] if swizzle else []), option("stages"), option("order"))


@contextmanager
def advising_tile(options: dict[str, Any], attempt: Callable[[dict[str, Any]], object]) -> Iterator[None]:
    """Add advice to the errors of a block: changes of the typed options that work.

    Args:
        options: options of a tile, as typed.
        attempt: the work of the block with other options.
    """
    stages = options.get("stages")

    def with_typed_stages(advice: Advice) -> Advice:
        """Return the advice with the stages in ``--stages`` if they were typed there."""
        tile = advice.changes.get("tile", ())
        if stages is None or len(tile) != 3:
            return advice
        changed_stages = {} if tile[2] == stages else {"stages": tile[2]}
        return advice._replace(changes={**advice.changes, "tile": tile[:2], **changed_stages})

    with advising(lambda changes: attempt({**options, **changes}), options):
        try:
            yield
        except DescriptorError as error:
            proposals = [
                advice for advice in error.proposals if stages is None or "not a number of stages" not in advice.when
            ]
            error.proposals = tuple(map(with_typed_stages, proposals))
            raise


def staged(tile: tuple[int, ...] | None, stages: int | None) -> tuple[int, ...] | None:
    """Return the extents of a tile with its stages.

    Raises:
        click.UsageError: if the stages are given twice, or without a tile.

    >>> staged((128, 64), 4)
    (128, 64, 4)
    """
    if stages is None:
        return tile
    if tile is None:
        raise click.UsageError("--stages needs --tile")
    if len(tile) != 2:
        raise click.UsageError("the stages are given twice, in --tile and in --stages; give them once")
    return (*tile, stages)
