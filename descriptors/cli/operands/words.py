"""The commands ``descriptors decode`` and ``read``: what a word says, and what it makes the tensor core read."""

from __future__ import annotations

from typing import Any

import click

from descriptors.cli.asking.completion import complete
from descriptors.cli.asking.options import word_options
from descriptors.cli.asking.tiles import derived_tile, tile_options
from descriptors.cli.asking.values import noted, word
from descriptors.debug.decode import decode as decode_word
from descriptors.debug.expectation import expectations
from descriptors.debug.read import read as read_word
from descriptors.errors import DescriptorError
from descriptors.output.words import decoded, fetched
from descriptors.text import extents_text
from layoutalg.cli.console import Status, json_text, say


def _word_or_none(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """A callback that reads a 64-bit word, if there is one."""
    return None if text is None else word(context, parameter, text)


#: What ``--shape`` is of a word.
READS = "MNxK that one instruction reads, in elements."


@click.command()
@click.argument("word", callback=word)
@word_options(known=False, shape=READS)
@click.option(
    "--expect",
    "expected",
    multiple=True,
    shell_complete=complete,
    metavar="SWIZZLE|FIELD=VALUE",
    help="What it must say, like 64B or stride_byte_offset=512; exit status 1 if it does not. May be repeated.",
)
def decode(
    word: int, arch: Any, dtype: str | None, major: Any, shape: tuple[int, int] | None, as_json: bool,
    expected: tuple[str, ...],
) -> Status:  # fmt: skip
    """Name every field of the descriptor WORD, in bytes, with warnings.

    \b
    descriptors decode 0x4000404000010000
    descriptors decode 0x4000004000010002 --arch sm90 --dtype bf16 --major K --shape 64x16
    descriptors decode 0x4000404000010000 --expect 128B --expect stride_byte_offset=1024

    The major, the type and the shape are not in the word: the more of them is told, the more can be said.
    """
    found = decode_word(word, arch, dtype=dtype, major=major, shape=shape)
    meant = expectations(found, expected)
    say(json_text(decoded.record(found, meant)) if as_json else noted(decoded.tell(found, meant)))
    return Status.ANSWER if all(one.met for one in meant) else Status.DIFFERENCE


@click.command()
@click.argument("word", callback=_word_or_none, required=False)
@word_options(known=True, shape=READS)
@tile_options("WORD")
@click.option("--all", "everything", is_flag=True, help="Show every row and column.")
def read(
    word: int | None, arch: Any, dtype: str, major: Any, shape: tuple[int, int] | None, as_json: bool,
    everything: bool, **given: Any,
) -> None:  # fmt: skip
    """Show what the tensor core would fetch for the descriptor WORD, or for that of a tile at address 0.

    \b
    descriptors read 0x4000404000010000 --dtype bf16 --major K --shape 64x16
    descriptors read 0x8000002001000000 --arch sm90 --dtype f16 --major MN --shape 64x16 --json
    descriptors read --tile 64x64 --swizzle 64B --mma 64x16 --dtype bf16 --major K

    A cell is the shared-memory address of 16 bytes, which the tensor core always reads together.
    """
    tile = derived_tile(word, "WORD", given, dtype=dtype, major=major, mma=shape, arch=arch)
    if tile is not None:
        word, shape = tile.descriptor.encode(), tile.mma
    if shape is None:
        raise click.UsageError("--shape is missing: MNxK that one instruction reads, like 64x16")
    if len(shape) != 2:
        raise DescriptorError(f"read: --shape must be MNxK, like 64x16, found {extents_text(shape)}")
    assert word is not None  # it was typed, or the tile's
    found = read_word(word, arch, dtype=dtype, major=major, shape=shape)
    say(json_text(fetched.record(found)) if as_json else noted(fetched.tell(found, everything)))


#: The commands that the group registers.
commands = [decode, read]
