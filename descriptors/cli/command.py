"""The command ``descriptors``: derive descriptors, read them, look for what is wrong with them.

Exit status: 0 for an answer, 1 for a comparison that found a difference, 2 for bad input, which is told in one line on
standard error. Each command is imported when it is called, so that ``--help`` and shell completion stay quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

#: Every command: the module that has it in its ``commands``, and what it does in a few words.
COMMANDS = {
    "derive": ("descriptors.cli.derive", "From a tile or a layout to its descriptors, step by step, proved."),
    "match": ("descriptors.cli.derive", "Whether a layout has a canonical form, and its LBO and SBO."),
    "candidates": ("descriptors.cli.debug", "Which swizzles and majors fit a layout, and why the others do not."),
    "decode": ("descriptors.cli.debug", "Name every field of a descriptor word, with warnings."),
    "read": ("descriptors.cli.debug", "What the tensor core would fetch with a descriptor word."),
    "diff": ("descriptors.cli.debug", "Where a descriptor word and a layout disagree, and how to mend the word."),
    "shapes": ("descriptors.cli.instructions", "The legal instructions: types, shapes, majors, swizzles."),
    "idesc": ("descriptors.cli.instructions", "Build the instruction descriptor of tcgen05.mma."),
    "decode-idesc": ("descriptors.cli.instructions", "Name every field of an instruction descriptor."),
    "tma": ("descriptors.cli.tma", "The tensor map, boxes and offsets that fill a tile."),
    "search": ("descriptors.cli.search", "Every way to lay a tile out, proved, the cheapest first."),
    "formulas": ("descriptors.cli.formulas", "LBO, SBO and advance as formulas in the tile, for every operand."),
    "atlas": ("descriptors.cli.atlas", "Derive and prove a whole lattice of operands to a file."),
}

_EPILOG = (
    "Exit status: 0 for an answer, 1 for a difference found, 2 for bad input. "
    'Shell completion for bash: eval "$(_DESCRIPTORS_COMPLETE=bash_source descriptors)"; zsh and fish likewise.'
)


class Commands(click.Group):
    """A group that knows its commands by name and imports one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        found: list[click.Command] = import_module(COMMANDS[cmd_name][0]).commands
        return next((one for one in found if one.name == cmd_name), None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list for ``--help``, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def _version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            click.echo(f"descriptors {version('layoutalg')}")
        except PackageNotFoundError:
            click.echo("descriptors, run from a checkout that is not installed")
        context.exit()


@click.group(
    cls=Commands,
    epilog=_EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.pass_context
def command(context: click.Context) -> None:
    """Tensor-core shared-memory descriptors, derived from layouts and proved."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    >>> main(["derive", "--dtype", "bf17", "--major", "K", "--swizzle", "none", "--tile", "8x8", "--mma", "8x8"])
    2
    """
    from descriptors.errors import DescriptorError, LayoutError

    try:
        status = command.main(args=arguments, prog_name="descriptors", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        return _refuse(f"descriptors: {error.format_message()} (descriptors --help)")
    except (DescriptorError, LayoutError) as error:
        return _refuse(f"descriptors: {error}")
    except (KeyboardInterrupt, click.Abort):
        return 130
    except BrokenPipeError:
        # The reader has seen enough. Python's own flush at exit must not complain about it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, UnicodeError) as error:
        return _refuse(f"descriptors: {error}")


def _refuse(message: str) -> int:
    """One line on standard error, whatever the message holds, and the status for bad input."""
    print(" ".join(message.split()), file=sys.stderr)
    return 2
