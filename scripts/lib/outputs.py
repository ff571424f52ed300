"""Where a script writes to, as ``argparse`` reads it."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path


def written(text: str) -> Path:
    """A path to write to; ``-`` is no file of that name, and standard output tells how the script gets on."""
    if text == "-":
        raise ArgumentTypeError("must be a path, found -, and standard output has the report")
    return Path(text)
