"""What a command prints of an answer: its text with remarks, lines broken at words and coloured on a terminal, or JSON.

A remark is kept while the command line is read, and stands below the answer; what was assumed, and why, an answer may
have in its own text. In a pipe a text stays as it was written.

>>> import click
>>> with click.Context(click.Command("derive")):
...     note("two halves are read with the high one first")
...     print(noted("0x1"))
0x1
note: two halves are read with the high one first
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping
from typing import Any

import click

from descriptors.answers import record, tell
from descriptors.text import counted
from layoutalg import Picture
from layoutalg.cli.console import dressed, json_text, printable, terminal_width, wants_color

#: What means something in an answer, and how a terminal shows it: words to copy, verdicts, what is not sure.
COLOURS: Mapping[str, str] = {
    r"(?<![^ ])0x[0-9a-f]{8}(?:[0-9a-f]{8})?\b": "1",
    r"^(?:proved(?!, with)|same)\b": "32",
    r"^(?:disproved|different|wrong|refused|no word|but no|warning)\b|\berror:|\bno\b(?=; )": "1;31",
    r"^proved, with \d+ warnings?\b": "33",
    r"^incomplete\b|\bassumed\b.*|(?:documented, )?not measured on [^;)]*|NVIDIA's code, evaluated": "33",
    r"^note:.*|^more: .*": "2",
    r"^(?:right word|change): .*": "1",
}


def note(text: str, label: str = "note") -> None:
    """Keep a remark on how the command line was read, for the end of the answer."""
    click.get_current_context().meta.setdefault(_NOTES, []).append(printable(f"{label}: {text}"))


def assume(what: str, because: str) -> None:
    """Keep what was assumed and why: a remark, unless the answer asks for it to say it itself."""
    note(f"{what} is assumed, {because}")
    click.get_current_context().meta[_BECAUSE] = because


def assumption() -> str:
    """Why the architecture was assumed, "" where it was not; an answer that asks says it, so that no remark does."""
    meta = click.get_current_context().meta
    reason: str = meta.pop(_BECAUSE, "")
    meta[_NOTES] = [one for one in meta.get(_NOTES, ()) if not reason or not one.endswith(f" is assumed, {reason}")]
    return reason


_NOTES, _BECAUSE = "descriptors.notes", "descriptors.because"


def noted(answer: str) -> str:
    """An answer, and below it how the command line was read where that was not plain."""
    return "\n".join([answer, *click.get_current_context().meta.get(_NOTES, ())])


def with_options(text: str) -> str:
    """Return a text of an answer with the options of the command in place of the parameters that an assumption names.

    >>> with_options("assumed: the tile starts at 0x0 (base checks it), all 64x16 (shape names what it reads)")
    'assumed: the tile starts at 0x0 (--base checks it), all 64x16 (--mma names what it reads)'
    """
    return re.sub(_PARAMETERS, lambda match: _OPTIONS[match[1]], text)


#: The parameters that an assumption names, and the options that set them.
_OPTIONS = {"base": "--base", "pattern_start": "--pattern-start", "shape": "--mma"}
_PARAMETERS = rf"\b({'|'.join(_OPTIONS)})(?= (?:checks it|decides|names what it reads|names the part)\b)"


def for_terminal(answer: str) -> str:
    """A text with its remarks, as a terminal shows it."""
    return dressed(noted(with_options(answer)), terminal_width(sys.stdout), COLOURS if wants_color() else None)


def answered(answer: object, as_json: bool, **options: Any) -> str:
    """What a command prints of an answer: its plain data as JSON, or its text."""
    return with_options(json_text(record(answer, **options))) if as_json else for_terminal(tell(answer, **options))


def draw_beside(answer: object, path: str | None) -> None:
    """Write the picture of an answer to a file, if there is a path, and note it; a foreign file is not replaced."""
    if path is None:
        return
    from descriptors.show.pictures.kinds import picture  # a picture is not needed otherwise

    (answer if isinstance(answer, Picture) else picture(answer)).save(path, replace=False)  # type: ignore[arg-type]
    note(f"wrote {path}")


def smt2_text(*answers: Any, base: int = 0) -> str:
    """What answers claim, as a text that any solver decides; ``base`` as ``claim`` has it."""
    from descriptors.smem.claims.claim import claim, claims_text  # few ask for it

    return claims_text([claim(one, base=base) if base else claim(one) for one in answers]).removesuffix("\n")


class Progress:
    """A line on a terminal that says how far a work on many files is, after a while.

    Args:
        files: how many there are; of one alone nothing is said.
    """

    #: Seconds before it shows.
    PATIENCE = 2.0

    def __init__(self, files: int) -> None:
        self.files, self.number, self.shown = files, 0, False
        self.begun = time.monotonic()

    def tell(self, name: str) -> None:
        """The next file."""
        self.number += 1
        if self.files < 2 or time.monotonic() - self.begun < self.PATIENCE:
            return
        if (width := terminal_width(sys.stderr)) is not None:
            line = f"{self.number} of {counted(self.files, 'file')}: {printable(name)}"
            self._write(line[: width - 1])
            self.shown = True

    def clear(self) -> None:
        """Take the line away."""
        if self.shown:
            self._write("")
            self.shown = False

    def _write(self, line: str) -> None:
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()
