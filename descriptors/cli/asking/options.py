"""Options that several commands share, each a decorator of a command's function.

>>> import click
>>> given = click.Command("decode", params=[], callback=arch_option(lambda arch: arch))
>>> [parameter.name for parameter in given.callback.__click_params__]
['arch']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from descriptors.cli.asking.completion import complete
from descriptors.cli.asking.values import arch_or_assumed, numbers

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
