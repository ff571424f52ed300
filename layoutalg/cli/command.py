"""The command ``layoutalg``: evaluate expressions of the algebra, draw layouts, list the operations.

Exit status: 0 for an answer, 1 where ``same`` or ``--check`` finds a difference, 2 for bad input, which is told in one
line on standard error, 3 where ``--check`` finds no CuTe DSL. Each command is imported when it is called, so that
``--help`` and shell completion stay quick.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from layoutalg.cli.console import Commands, run, say
from layoutalg.errors import LayoutError

#: Every command: the module that has it in its ``commands``, and what it does in a few words.
COMMANDS = {
    "atoms": (
        "layoutalg.cli.algebra",
        "List what registers of instructions hold, under names that are layouts everywhere, or explain NAME.",
    ),
    "banks": (
        "layoutalg.cli.analysis",
        "Count the wavefronts that shared memory needs when threads move their values of the tile LAYOUT.",
    ),
    "draw": ("layoutalg.cli.draw", "Draw LAYOUT: in the terminal, or with -o into a file."),
    "eval": (
        "layoutalg.cli.algebra",
        "Evaluate EXPRESSION and print its value; of a file or of standard input (-) that of every line.",
    ),
    "f2": (
        "layoutalg.cli.analysis",
        "Show LAYOUT as a matrix over GF(2): which bit of the index goes to which bits of the offset.",
    ),
    "find-swizzle": (
        "layoutalg.cli.analysis",
        "Find the smallest swizzle with which the accesses to the tile LAYOUT have no bank conflict.",
    ),
    "linear": (
        "layoutalg.cli.analysis",
        "Write LAYOUT as the linear layout that Triton uses: bases for each named dimension.",
    ),
    "ops": ("layoutalg.cli.algebra", "List the operations of the algebra, or explain the one called NAME."),
    "schema": ("layoutalg.cli.schema", "Write what COMMAND answers with --json as JSON Schema."),
    "sectors": (
        "layoutalg.cli.analysis",
        "Count the sectors of global memory, 32 bytes each, that warps touch when they move their values of LAYOUT.",
    ),
    "same": (
        "layoutalg.cli.algebra",
        "Compare two layouts as functions of the index, whatever their shapes; exit status 1 if they differ.",
    ),
    "show": (
        "layoutalg.cli.algebra",
        "Draw the offset table of LAYOUT: mode 0 down, mode 1 across, a table for each slice of further modes.",
    ),
}

_EPILOG = (
    "Exit status: 0 for an answer, 1 where `same` or --check finds a difference, 2 for bad input, "
    "3 where something that was asked for is not installed. "
    'Shell completion for bash: eval "$(_LAYOUTALG_COMPLETE=bash_source layoutalg)"; zsh and fish likewise.'
)


@click.group(
    cls=Commands,
    table=COMMANDS,
    one_line=True,
    others="layoutalg.commands",
    epilog=_EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--version", is_flag=True, help="Show the version and exit.")
@click.pass_context
def command(context: click.Context, version: bool) -> None:
    """CuTe's layout algebra on the command line.

    Layouts are written as CuTe writes them: (8,16):(1,8), S<3,4,3> o 0 o (8,64):(64,1).
    """
    if version:
        from layoutalg import __version__

        say(f"layoutalg {__version__}")
        context.exit()
    if context.invoked_subcommand is None:
        say(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    >>> main(["eval", "composition((4,8):(8,1), 16:2)"])
    (2,8):(16,1)
    0
    """
    return run(command, "layoutalg", [LayoutError], arguments)
