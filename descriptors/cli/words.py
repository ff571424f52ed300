"""The commands ``descriptors decode`` and ``read``: what a word says, and what it makes the tensor core read."""

from __future__ import annotations

from json import dumps
from typing import Any

import click

from descriptors.cli.options import noted, word, word_options
from descriptors.debug.decode import decode as decode_word
from descriptors.debug.read import read as read_word
from descriptors.errors import DescriptorError
from descriptors.output import decoded, fetched
from layoutalg.cli.console import say

#: What ``--shape`` is of a word.
READS = "MNxK that one instruction reads, in elements."


@click.command()
@click.argument("word", callback=word)
@word_options(known=False, shape=READS)
def decode(word: int, arch: Any, dtype: str | None, major: Any, shape: tuple[int, int] | None, as_json: bool) -> None:
    """Name every field of the descriptor WORD, in bytes, with warnings.

    \b
    descriptors decode 0x4000404000010000
    descriptors decode 0x4000004000010002 --arch sm90 --dtype bf16 --major K --shape 64x16

    The major, the type and the shape are not in the word: the more of them is told, the more can be said.
    """
    found = decode_word(word, arch, dtype=dtype, major=major, shape=shape)
    say(dumps(decoded.record(found)) if as_json else noted(decoded.tell(found)))


@click.command()
@click.argument("word", callback=word)
@word_options(known=True, shape=READS)
@click.option("--all", "everything", is_flag=True, help="Show every row and column.")
def read(
    word: int, arch: Any, dtype: str, major: Any, shape: tuple[int, int] | None, as_json: bool, everything: bool
) -> None:
    """Show what the tensor core would fetch for the descriptor WORD.

    \b
    descriptors read 0x4000404000010000 --dtype bf16 --major K --shape 64x16
    descriptors read 0x8000002001000000 --arch sm90 --dtype f16 --major MN --shape 64x16 --json

    A cell is the shared-memory address of 16 bytes, which the tensor core always reads together.
    """
    if shape is None or len(shape) != 2:
        raise DescriptorError("read: --shape must be MNxK, as in 64x16")
    found = read_word(word, arch, dtype=dtype, major=major, shape=shape)
    say(dumps(fetched.record(found)) if as_json else noted(fetched.tell(found, everything)))


#: The commands that the group registers.
commands = [decode, read]
