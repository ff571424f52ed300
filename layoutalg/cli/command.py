"""The command ``layoutalg``.

Exit status: 0 if there is an answer, 1 if ``same`` or ``--check`` finds a difference, 2 for bad input (one line on
standard error), 3 if ``--check`` finds no CuTe DSL. Each command is imported when it is called, so that ``--help`` and
shell completion are fast.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from layoutalg.cli.console import Commands, run, say
from layoutalg.errors import LayoutError

#: The commands under the headings of ``--help``: name, module, summary.
HEADINGS = {
    "Compute": {
        "eval": ("layoutalg.cli.algebra", "Evaluate an expression; with - or a file, one per line."),
        "same": ("layoutalg.cli.algebra", "Compare two layouts as functions; exit status 1 if they differ."),
        "ops": ("layoutalg.cli.algebra", "List the operations, or explain one."),
    },
    "Look": {
        "show": ("layoutalg.cli.algebra", "Print the offsets of a layout as a table."),
        "draw": ("layoutalg.cli.draw", "Draw a layout in the terminal, or to a file with -o."),
    },
    "Analyze": {
        "banks": ("layoutalg.cli.analysis", "Count the shared-memory wavefronts of an access."),
        "sectors": ("layoutalg.cli.analysis", "Count the global-memory sectors (32 bytes) of an access."),
        "find-swizzle": ("layoutalg.cli.analysis", "Find the smallest swizzle that makes an access conflict-free."),
        "f2": ("layoutalg.cli.analysis", "Print a layout as a matrix over GF(2)."),
        "linear": ("layoutalg.cli.analysis", "Convert a layout to Triton's linear layout."),
        "atoms": ("layoutalg.cli.algebra", "List the register fragments of instructions, or explain one."),
        "feeds": ("layoutalg.cli.feeds", "Decide whether the registers of one instruction are those of the next."),
    },
    "Automate": {
        "schema": ("layoutalg.cli.schema", "Print the JSON Schema of a command's --json output."),
    },
}

#: All commands by name: module, summary.
COMMANDS = {name: row for rows in HEADINGS.values() for name, row in rows.items()}

_EPILOG = (
    "Exit status: 0 if there is an answer, 1 if `same` or --check finds a difference or `feeds` finds values that move "
    "between threads, 2 for bad input, "
    "3 if a tool that the command needs is not installed. "
    'Shell completion for bash: eval "$(_LAYOUTALG_COMPLETE=bash_source layoutalg)"; for zsh and fish, use '
    "zsh_source and fish_source."
)


@click.group(
    cls=Commands,
    headings=HEADINGS,
    others="layoutalg.commands",
    epilog=_EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--version", is_flag=True, help="Show the version and exit.")
@click.pass_context
def command(context: click.Context, version: bool) -> None:
    """Compute with CuTe layouts.

    \b
    layoutalg eval "zipped_divide((8,8):(8,1), (4,2))"
    layoutalg eval --explain "composition((6,2):(8,2), (4,3):(3,1))"
    layoutalg draw "S<3,4,3> o 0 o (8,64):(64,1)"

    Layouts are written as CuTe and the CuTe DSL print them, or as C++ types: (8,16):(1,8), S<3,4,3> o 0 o
    (8,64):(64,1), Layout<Shape<_8,_64>,Stride<_64,_1>>.
    """
    if version:
        from layoutalg import __version__

        say(f"layoutalg {__version__}")
        context.exit()
    if context.invoked_subcommand is None:
        say(context.get_help())


def line_for(arguments: Sequence[str]) -> list[str]:
    """Return the command line of this program for words that are not a command of the program that the user called.

    An operation of the algebra and a layout are evaluated; the result is empty if no command accepts the words.

    >>> line_for(["coalesce", "(4,8):(1,4)"])
    ['layoutalg', 'eval', 'coalesce((4,8):(1,4))']
    """
    from layoutalg.notation.expression import OPERATIONS  # imported only for a refusal

    word, *operands = arguments
    if word in COMMANDS:
        return ["layoutalg", *arguments]
    if any(word in names for names in OPERATIONS.values()):
        return ["layoutalg", "eval", f"{word}({', '.join(operands)})"] if operands else ["layoutalg", "ops", word]
    return ["layoutalg", "eval", " ".join(arguments)] if any(sign in word for sign in ":(<") else []


def main(arguments: Sequence[str] | None = None, undecided: int = 0) -> int:
    """Run the command and return its exit status; ``undecided`` is that of an answer that leaves a question open.

    >>> main(["eval", "composition((4,8):(8,1), 16:2)"])
    (2,8):(16,1)
    0
    """
    return run(command, "layoutalg", [LayoutError], arguments, undecided=undecided)
