"""The command ``descriptors``.

Exit status: 0 if there is an answer, 1 if a comparison found a difference, 2 for bad input (one line on standard
error), 3 if ``--check`` finds no CuTe DSL. Each command is imported when it is called, so that ``--help`` and shell
completion are fast.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from descriptors.cli.values import elsewhere
from descriptors.errors import DescriptorError, LayoutError
from layoutalg.cli.console import Commands, run, say

#: The commands under the headings of ``--help``: name, module, summary.
HEADINGS = {
    "Derive": {
        "derive": ("descriptors.cli.derive", "Compute and verify the descriptors of a tile or layout."),
        "emit": ("descriptors.cli.emit", "Generate code for several operands: CUDA, C header, PTX, CuTe DSL, Python."),
        "formulas": ("descriptors.cli.sweep", "Print LBO, SBO and advance as formulas in the tile size."),
        "search": ("descriptors.cli.sweep", "Rank the shared-memory layouts of a tile by cost."),
        "idesc": ("descriptors.cli.instructions", "Build a tcgen05.mma instruction descriptor."),
        "shapes": ("descriptors.cli.instructions", "List the supported instructions: types, shapes, majors, swizzles."),
    },
    "Debug a descriptor": {
        "decode": ("descriptors.cli.words", "Print the fields of a descriptor, with warnings."),
        "diff": ("descriptors.cli.words", "Compare a descriptor with a layout and print the corrected descriptor."),
        "read": ("descriptors.cli.words", "Print the addresses that a descriptor reads."),
        "match": ("descriptors.cli.words", "Match a layout with its canonical form; print LBO and SBO."),
        "candidates": (
            "descriptors.cli.words",
            "List the swizzles and majors that fit a layout, and why the others do not.",
        ),
        "decode-idesc": ("descriptors.cli.instructions", "Print the fields of an instruction descriptor."),
    },
    "Check a kernel": {
        "check": ("descriptors.cli.check", "Check a PTX or CUDA kernel, or the expected values in a TOML file."),
        "explain": ("descriptors.cli.check", "Summarize what a kernel does with tensor cores and mbarriers."),
        "chain": (
            "descriptors.cli.chain",
            "Compare tensor map, layout, descriptor, fragment and store; name the first mismatch.",
        ),
    },
    "Copy with TMA": {
        "tma": ("descriptors.cli.tma", "Plan the tensor map and the copies that fill a tile."),
        "tensor-map": (
            "descriptors.cli.tma",
            "Decode and validate a tensor map; compare it with a descriptor or layout.",
        ),
    },
    "Plan a kernel": {
        "plan": ("descriptors.cli.plan", "Plan and verify a GEMM or convolution main loop; generate the program."),
        "tmem": ("descriptors.cli.tmem", "Plan Blackwell's tensor memory: accumulators, loads, copies, scale factors."),
    },
    "Look": {
        "draw": ("descriptors.cli.draw", "Draw a tile, a descriptor or a bank access: SVG, TikZ, text, HTML."),
        "explore": ("descriptors.cli.explore", "Open the interactive explorer in a browser."),
    },
    "Learn": {
        "course": ("descriptors.cli.course", "Work through lessons and check your answers."),
    },
    "Automate": {
        "atlas": ("descriptors.cli.sweep", "Derive and verify a range of operands; write the results to a file."),
        "schema": ("descriptors.cli.schema", "Print the JSON Schema of a command's --json output."),
    },
}

#: All commands by name: module, summary.
COMMANDS = {name: row for rows in HEADINGS.values() for name, row in rows.items()}

_EPILOG = (
    "Exit status: 0 if there is an answer, 1 if a difference or an error was found, or nothing was found, 2 for bad "
    "input, 3 if a tool that the command needs is not installed. "
    'Shell completion for bash: eval "$(_DESCRIPTORS_COMPLETE=bash_source descriptors)"; for zsh and fish, use '
    "zsh_source and fish_source."
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
    headings=HEADINGS,
    elsewhere=elsewhere,
    epilog=_EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.pass_context
def command(context: click.Context) -> None:
    """Derive, verify and debug the shared-memory descriptors of wgmma and tcgen05.mma.

    `descriptors COMMAND --help` shows the options and examples of a command.
    """
    if context.invoked_subcommand is None:
        say(context.get_help())


def line_for(arguments: Sequence[str]) -> list[str]:
    """Return the command line of this program for words typed to another one; empty if it has no such command."""
    return ["descriptors", *arguments] if arguments[0] in COMMANDS else []


def main(arguments: Sequence[str] | None = None, undecided: int = 0) -> int:
    """Run the command and return its exit status; ``undecided`` is that of an answer that leaves a question open.

    >>> main(["derive", "--dtype", "bf17", "--major", "K", "--swizzle", "none", "--tile", "8x8", "--mma", "8x8"])
    2
    """
    return run(command, "descriptors", [DescriptorError, LayoutError], arguments, undecided)
