"""The line that a student hands in: a name, the exercises that were solved, and a checksum of both.

The checksum notices a slip in copying, and a line that was passed on under another name. It is no proof of work: its
rule is public, and whoever reads this module can make any line. Law: a line says what it was made of, and one sign
changed is noticed.

>>> line = str(Handed("Ada 4711", ("5.1", "1.2", "1.1")))
>>> line
'layoutalg-1; Ada 4711; 1.1-2 5.1; N8AX-CSQ4'
>>> read(line).solved
('1.1', '1.2', '5.1')
>>> read(line.replace("Ada", "Eve"))
Traceback (most recent call last):
descriptors.errors.DescriptorError: course: a line must have the checksum of its name and exercises, found N8AX-CSQ4; \
layoutalg-1; Eve 4711; 1.1-2 5.1; N8AX-CSQ4
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from hashlib import sha256

from descriptors.errors import DescriptorError

#: Digits of a checksum: those that nobody takes for another.
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LINE = re.compile(r"layoutalg-1;([^;]*);([^;]*); ?([0-9A-Za-z]{4}) ?-? ?([0-9A-Za-z]{4})\b", re.I)
_RANGE = re.compile(r"(\d{1,2})\.(\d{1,2})(?:-(\d{1,2}))?")


@dataclass(frozen=True, slots=True)
class Handed:
    """What was handed in; its text is the line.

    Args:
        name: the student's name or number, of at most 60 signs and without a semicolon.
        solved: exercises, as 5.1; in any order.

    Raises:
        DescriptorError: if the name is empty or no name, or what was solved is no exercise.
    """

    name: str
    solved: tuple[str, ...]

    def __post_init__(self) -> None:
        name = _plain(self.name)
        if not name or len(name) > 60 or ";" in name or not name.isprintable():
            raise DescriptorError(
                f"course: a name must be 1 to 60 signs on one line without a semicolon, found {name[:70]!r}"
            )
        if wrong := [one for one in self.solved if not re.fullmatch(r"\d{1,2}\.\d{1,2}", one)]:
            raise DescriptorError(f"course: an exercise must be written as 5.1, found {wrong[0][:20]!r}")
        solved = sorted(set(self.solved), key=_place)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "solved", tuple(solved))

    @property
    def spans(self) -> str:
        """The exercises, those that follow one another as a span.

        >>> Handed("Ada", ("1.1", "1.2", "1.3", "5.1")).spans
        '1.1-3 5.1'
        """
        runs: list[list[int]] = []
        for lesson, number in map(_place, self.solved):
            if runs and runs[-1][0] == lesson and runs[-1][2] == number - 1:
                runs[-1][2] = number
            else:
                runs.append([lesson, number, number])
        return " ".join(f"{one}.{first}" + (f"-{last}" if last > first else "") for one, first, last in runs)

    @property
    def checksum(self) -> str:
        """Forty bits of a hash of name and exercises, as eight digits."""
        told = f"layoutalg course 1\n{self.name.casefold()}\n{self.spans}".encode()
        bits = int.from_bytes(sha256(told).digest()[:5], "big")
        digits = "".join(_DIGITS[bits >> 5 * k & 31] for k in reversed(range(8)))
        return f"{digits[:4]}-{digits[4:]}"

    def __str__(self) -> str:
        return f"layoutalg-1; {self.name}; {self.spans}; {self.checksum}"


def read(text: str) -> Handed:
    """What a line says, which may stand among other words, as in a table that was exported.

    Raises:
        DescriptorError: if there is no line, or its checksum is that of another.

    >>> read("4711, layoutalg-1; ada 4711; 1.1\\u20132 5.1;  n8ax-csq4 , late").name
    'ada 4711'
    """
    found = _LINE.search(_plain(text))
    if found is None:
        raise DescriptorError(
            f"course: a line must read as layoutalg-1; NAME; EXERCISES; CHECKSUM, found {text.strip()[:60]!r}"
        )
    exercises = _spread(found[2].strip())
    given = "".join({"O": "0", "I": "1", "L": "1"}.get(one, one) for one in (found[3] + found[4]).upper())
    handed = Handed(found[1], exercises)
    if f"{given[:4]}-{given[4:]}" != handed.checksum:
        wrong = f"found {given[:4]}-{given[4:]}; {found[0]}"
        raise DescriptorError(f"course: a line must have the checksum of its name and exercises, {wrong}")
    return handed


def _plain(text: str) -> str:
    """A text as it was typed: what a word processor makes of spaces and hyphens is taken back."""
    return re.sub("[\u2010-\u2015\u2212]", "-", " ".join(unicodedata.normalize("NFC", text).split()))


def _place(exercise: str) -> tuple[int, int]:
    lesson, _, number = exercise.partition(".")
    return int(lesson), int(number)


def _spread(spans: str) -> tuple[str, ...]:
    found: list[str] = []
    for span in spans.split():
        match = _RANGE.fullmatch(span)
        if match is None:
            raise DescriptorError(f"course: exercises must be written as 1.1-4 5.1, found {span[:20]!r}")
        found += [f"{int(match[1])}.{k}" for k in range(int(match[2]), int(match[3] or match[2]) + 1)]
    return tuple(found)
