"""Print the answer of a command: its text with remarks, wrapped and colored on a terminal, or JSON.

Commands collect remarks while they read the command line, and print them below the answer. If the text of an answer
already states why an architecture was assumed, its command removes that remark. In a pipe, text is not changed.

>>> import click
>>> with click.Context(click.Command("derive")):
...     note("two halves are read with the high one first")
...     print(noted("0x1"))
0x1
note: two halves are read with the high one first
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from descriptors.answers import record, tell
from layoutalg import Picture
from layoutalg.cli.console import dressed, json_text, printable, terminal_width, wants_color
from layoutalg.files import is_foreign, write_whole

if TYPE_CHECKING:
    from descriptors.smem.debug.diff import Diff

#: Patterns in an answer, with their colors: words to copy, verdicts, uncertain statements.
COLOURS: Mapping[str, str] = {
    r"(?<![^ ])0x[0-9a-f]{8}(?:[0-9a-f]{8})?\b": "1",
    r"^(?:proved(?!, with)|same)\b": "32",
    r"^(?:disproved|different|wrong|refused|no word|but no|warning)\b|\berror:|\bno\b(?=; )": "1;31",
    r"^proved, with \d+ warnings?\b": "33",
    r"^incomplete\b|\bassumed\b.*|(?:documented, )?not measured on [^;)]*|NVIDIA's code, evaluated": "33",
    r"^note:.*|^more: .*": "2",
    r"^(?:right word|change): .*": "1",
}


class _Assumption(NamedTuple):
    """A value that was assumed because the command line does not name it."""

    value: str
    reason: str

    def __str__(self) -> str:
        return f"note: assuming {self.value}, {self.reason}"


_REMARKS = "descriptors.remarks"


def _remarks() -> list[str | _Assumption]:
    """Return the remarks of the command that runs, in the order in which they are printed; callers change the list."""
    remarks: list[str | _Assumption] = click.get_current_context().meta.setdefault(_REMARKS, [])
    return remarks


def note(text: str, label: str = "note") -> None:
    """Keep a remark on how the command line was read, for the end of the answer."""
    _remarks().append(f"{label}: {text}")


def assume(value: str, reason: str) -> None:
    """Keep the architecture that was assumed, and why: a remark, unless ``take_assumption`` removes it."""
    _remarks().append(_Assumption(value, reason))


def take_assumption() -> str:
    """Remove the remark on the assumed architecture, and return the reason for an answer that prints it; "" if none."""
    remarks = _remarks()
    assumptions = [remark for remark in remarks if isinstance(remark, _Assumption)]
    remarks[:] = [remark for remark in remarks if not isinstance(remark, _Assumption)]
    return assumptions[-1].reason if assumptions else ""


def noted(answer: str) -> str:
    """Return an answer, and below it the remarks on how the command line was read."""
    return "\n".join([answer, *(printable(str(remark)) for remark in _remarks())])


def for_terminal(answer: str) -> str:
    """Return a text with its remarks, with colors and line breaks for a terminal."""
    return dressed(noted(answer), terminal_width(sys.stdout), COLOURS if wants_color() else None)


def answered(answer: object, as_json: bool, **options: Any) -> str:
    """Return the output of a command: the plain data of the answer as JSON, or its text."""
    return json_text(record(answer, **options)) if as_json else for_terminal(tell(answer, **options))


def option_name(parameter: str) -> str:
    """Return the option of a command that sets a parameter of ``diff``.

    >>> option_name("pattern_start"), option_name("shape")
    ('--pattern-start', '--mma')
    """
    return f"--{'mma' if parameter == 'shape' else parameter.replace('_', '-')}"


def diff_record(answer: object, diff: Diff) -> dict[str, Any]:
    """Return a comparison as plain data, whose sentences name options.

    Args:
        answer: the comparison, or the answer that contains it.
        diff: the comparison.
    """
    assumptions = tuple(assumption.text(option_name) for assumption in diff.assumptions)
    data: dict[str, Any] = record(answer, assumptions=assumptions, open_questions=diff.questions(option_name))
    return data


def draw_beside(answer: object, path: str | None) -> None:
    """Write the picture of an answer to a file, if there is a path, and note it; a foreign file is not replaced."""
    if path is None:
        return
    from descriptors.show.pictures.kinds import picture  # a picture is not needed otherwise

    (answer if isinstance(answer, Picture) else picture(answer)).save(path, replace=False)  # type: ignore[arg-type]
    note(f"wrote {path}")


def write_own(option: str, path: str, text: str) -> None:
    """Write a text to the file that an option names; a file that this program did not write is not replaced.

    Raises:
        click.UsageError: if the file cannot be written or must not be replaced.
    """
    target, data = Path(path), text.encode()
    try:
        if is_foreign(target, data):
            raise click.UsageError(
                f"{option}: {path} exists and was not written by this program; give another path, or remove it"
            )
        write_whole({target: data})
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise click.UsageError(f"{option} cannot write {path}: {reason}") from None


def smt2_text(*answers: Any, base: int = 0) -> str:
    """Return what answers claim, as a text that any solver decides; ``base`` as ``claim`` has it."""
    from descriptors.smem.claims.claim import claim, claims_text  # few ask for it

    return claims_text([claim(answer, base=base) for answer in answers]).removesuffix("\n")
