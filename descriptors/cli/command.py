"""The command ``descriptors``: derive descriptors, read them, look for what is wrong with them.

Exit status: 0 for an answer, 1 for a comparison that found a difference, 2 for bad input, which is told in one line on
standard error, 3 where ``--check`` finds no CuTe DSL. Each command is imported when it is called, so that ``--help``
and shell completion stay quick.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from descriptors.cli.values import elsewhere
from descriptors.errors import DescriptorError, LayoutError, options_message
from layoutalg.cli.console import Commands, run, say

#: Every command: the module that has it in its ``commands``, and what it does in a few words.
COMMANDS = {
    "derive": ("descriptors.cli.derive", "From a tile or a layout to its descriptors, step by step, proved."),
    "draw": (
        "descriptors.cli.draw",
        "A tile, its levels, banks, words and boxes as pictures: SVG, TikZ, text, HTML.",
    ),
    "explore": (
        "descriptors.cli.explore",
        "The engine in a web page: tiles, addresses, banks, words, steps, code.",
    ),
    "emit": (
        "descriptors.cli.emit",
        "The code of several operands as one text: cuda, header, ptx, cutedsl or python.",
    ),
    "match": ("descriptors.cli.words", "Whether a layout has a canonical form, and its LBO and SBO."),
    "candidates": (
        "descriptors.cli.words",
        "Which swizzles and majors fit a layout, and why the others do not.",
    ),
    "decode": ("descriptors.cli.words", "Name every field of a descriptor word, with warnings."),
    "read": ("descriptors.cli.words", "What the tensor core would fetch with a descriptor word."),
    "diff": (
        "descriptors.cli.words",
        "Where a descriptor word and a layout disagree, and how to mend the word.",
    ),
    "shapes": ("descriptors.cli.instructions", "The legal instructions: types, shapes, majors, swizzles."),
    "idesc": ("descriptors.cli.instructions", "Build the instruction descriptor of tcgen05.mma."),
    "decode-idesc": ("descriptors.cli.instructions", "Name every field of an instruction descriptor."),
    "check": ("descriptors.cli.check", "What is wrong with a kernel in PTX, or with a TOML file of words relied on."),
    "explain": ("descriptors.cli.check", "The story of a kernel in PTX: its MMAs, operands, tiles, tensor memory."),
    "tma": ("descriptors.cli.tma", "The tensor map, boxes and offsets that fill a tile."),
    "tensor-map": (
        "descriptors.cli.tma",
        "What a tensor map says, whether the driver takes it, and what it disagrees with.",
    ),
    "chain": (
        "descriptors.cli.chain",
        "Tensor map, layout, word, fragment, store: the first link that disagrees with its neighbour.",
    ),
    "plan": ("descriptors.cli.plan", "One instruction and its main loop whole, proved as a product."),
    "tmem": (
        "descriptors.cli.tmem",
        "Blackwell's tensor memory: layouts, columns, loads, copies, scale factors.",
    ),
    "search": ("descriptors.cli.sweep", "Every way to lay a tile out, proved, the cheapest first."),
    "formulas": ("descriptors.cli.sweep", "LBO, SBO and advance as formulas in the extents of the tile."),
    "atlas": ("descriptors.cli.sweep", "Derive and prove a whole lattice of operands to a file."),
    "schema": ("descriptors.cli.schema", "What a command writes with --json, as JSON Schema."),
    "course": ("descriptors.cli.course", "Lessons on layouts and descriptors, with a judge for every answer."),
}

_EPILOG = (
    "Exit status: 0 for an answer, 1 for a difference found, 2 for bad input, 3 where something that was asked for is "
    "not installed. "
    'Shell completion for bash: eval "$(_DESCRIPTORS_COMPLETE=bash_source descriptors)"; zsh and fish likewise.'
)


def _version(context: click.Context, _: click.Parameter, flag: bool) -> None:
    if flag:
        from importlib.metadata import PackageNotFoundError, version  # as long to load as all the rest of --help

        try:
            say(f"descriptors {version('layoutalg')}")
        except PackageNotFoundError:
            say("descriptors, run from a checkout that is not installed")
        context.exit()


@click.group(
    cls=Commands,
    table=COMMANDS,
    elsewhere=elsewhere,
    epilog=_EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.pass_context
def command(context: click.Context) -> None:
    """Tensor-core shared-memory descriptors, derived from layouts and proved."""
    if context.invoked_subcommand is None:
        say(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    >>> main(["derive", "--dtype", "bf17", "--major", "K", "--swizzle", "none", "--tile", "8x8", "--mma", "8x8"])
    2
    """
    return run(command, "descriptors", [DescriptorError, LayoutError], arguments, options_message)
