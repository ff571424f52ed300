"""The command ``descriptors``: from a tile to its tensor-core descriptors, told step by step.

Exit status: 0 for an answer, 2 for bad input, which is told in one line on standard error. The derivation is imported
when a command needs it, so that ``--help`` and shell completion stay quick.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence

import click

_EPILOG = (
    "Exit status: 0 for an answer, 2 for bad input. "
    'Shell completion for bash: eval "$(_DESCRIPTORS_COMPLETE=bash_source descriptors)"; zsh and fish likewise.'
)


def _version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            click.echo(f"descriptors {version('layoutalg')}")
        except PackageNotFoundError:
            click.echo("descriptors, run from a checkout that is not installed")
        context.exit()


@click.group(epilog=_EPILOG, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.pass_context
def command(context: click.Context) -> None:
    """Tensor-core shared-memory descriptors, derived from layouts."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _numbers(separator: str) -> Callable[[click.Context, click.Parameter, str | None], tuple[int, ...] | None]:
    """A callback that reads ``128x128`` or ``0,1``."""

    def read(_: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, ...] | None:
        if text is None:
            return None
        parts = text.split(separator)
        # Sixteen digits are more than any extent has, and far from what int() refuses to read.
        if not all(part.isascii() and part.isdigit() and len(part) <= 16 for part in parts):
            shown = text if len(text) <= 40 else text[:37] + "..."
            example = separator.join(("128", "128") if separator == "x" else ("0", "1"))
            raise click.BadParameter(f"must be numbers like {example}, found {shown!r}", param=parameter)
        return tuple(map(int, parts))

    return read


def _complete(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Names that an option takes, for the shell's completion; the tables are read only when it asks."""
    from descriptors.operand import ELEMENT_TYPES, Major, SwizzleMode
    from descriptors.record import WORDS

    choices: dict[str, Iterable[str]] = {
        "dtype": ELEMENT_TYPES,
        "major": map(str, Major),
        "swizzle": map(str, SwizzleMode),
        "arch": WORDS,
    }
    return [name for name in choices[parameter.name or ""] if name.casefold().startswith(begun.casefold())]


@command.command()
@click.option(
    "--dtype",
    required=True,
    shell_complete=_complete,
    help="f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 s8 u8 (e2m1 is packed, two a byte).",
)
@click.option(
    "--major",
    required=True,
    shell_complete=_complete,
    help="K or MN: the dimension that is contiguous in shared memory.",
)
@click.option("--swizzle", required=True, shell_complete=_complete, help="none, 32B, 64B, 128B or 128B_BASE32B.")
@click.option("--tile", required=True, callback=_numbers("x"), help="MNxK or MNxKxSTAGES, in elements.")
@click.option("--mma", required=True, callback=_numbers("x"), help="MNxK that one instruction reads, in elements.")
@click.option(
    "--order",
    callback=_numbers(","),
    help="Stacking order of the atoms: 0,1 along MN first; 1,0 along K first.  [default: the contiguous one last]",
)
@click.option(
    "--arch", default="sm100", shell_complete=_complete, show_default=True, help="sm90 (wgmma) or sm100 (tcgen05)."
)
@click.option("--json", "as_json", is_flag=True, help="Write the whole record as JSON.")
def derive(
    dtype: str,
    major: str,
    swizzle: str,
    tile: tuple[int, ...],
    mma: tuple[int, ...],
    order: tuple[int, ...] | None,
    arch: str,
    as_json: bool,
) -> None:
    """Derive the descriptor of a shared-memory tile and show every step.

    \b
    descriptors derive --dtype bf16 --major K --swizzle 128B --tile 128x128 --mma 64x16
    descriptors derive --dtype bf16 --major MN --swizzle 64B --tile 128x128 --mma 64x16 --order 1,0
    descriptors derive --dtype e4m3 --major K --swizzle 64B --tile 128x64 --mma 64x32 --arch sm90 --json

    The steps: the tile of canonical atoms, its partition into what one MMA instruction reads, the same in 16-byte
    units, the canonical form whose two free steps are LBO and SBO, and the offset of each operand in the tile.
    """
    from descriptors.derive import derive as derive_tile
    from descriptors.story import as_record, tell

    derivation = derive_tile(tile, dtype, major, swizzle, mma, order, arch)
    click.echo(json.dumps(as_record(derivation)) if as_json else tell(derivation))


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
