"""Record a student's progress in a file, and write and read the line that the student hands in.

Invariant: recorded counts can be read again.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as place:
...     progress = Progress(Path(place) / "course.json")
...     progress.note("5.1", tried=1)
...     progress.note("5.1", tried=1, solved=1)
...     Progress(Path(place) / "course.json").of("5.1") == {"tried": 2, "solved": 1}
True

The line consists of a name, the solved exercises, and a checksum of both. The checksum detects copying errors and lines
that were passed on under another name. It is not a proof of work: the rule is public, and anybody can write any line.

Invariant: a line can be read again, and a changed character is detected.

>>> line = str(Receipt("Ada 4711", ("5.1", "1.2", "1.1")))
>>> line
'layoutalg-1; Ada 4711; 1.1-2 5.1; N8AX-CSQ4'
>>> read_receipt(line).solved
('1.1', '1.2', '5.1')
>>> read_receipt(line.replace("Ada", "Eve"))
Traceback (most recent call last):
descriptors.errors.DescriptorError: course: checksum N8AX-CSQ4 does not belong to this name and these exercises; \
layoutalg-1; Eve 4711; 1.1-2 5.1; N8AX-CSQ4
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from descriptors.errors import DescriptorError
from layoutalg.files import write_whole
from layoutalg.frozen import frozen


class Progress:
    """Counts by exercise, in a JSON file that is written whole after each change.

    Args:
        path: the file; it need not exist.

    Raises:
        DescriptorError: if the file exists and is not a progress file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._counts: dict[str, dict[str, int]] = {}
        if os.path.lexists(path):
            try:
                saved = json.loads(path.read_text(encoding="utf-8"))
                self._counts = {str(k): {str(n): int(c) for n, c in v.items()} for k, v in saved["exercises"].items()}
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise DescriptorError(f"course: {path} is not a progress file of this course") from error
            except OSError as error:
                raise _unwritable(path, error) from None

    def of(self, exercise: str) -> Mapping[str, int]:
        """Return the counts of an exercise: ``tried``, ``hints``, ``solved``."""
        return dict(self._counts.get(exercise, {}))

    def solved(self) -> tuple[str, ...]:
        """Return the solved exercises, such as 5.1."""
        return tuple(sorted(exercise for exercise, counts in self._counts.items() if counts.get("solved")))

    def note(self, exercise: str, **counts: int) -> None:
        """Add to the counts of an exercise and write the file; several processes may do this at the same time.

        Raises:
            DescriptorError: if the file cannot be written.
        """
        try:
            self._note(exercise, counts)
        except OSError as error:
            raise _unwritable(self.path, error) from None

    def _note(self, exercise: str, counts: Mapping[str, int]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(self.path.parent):
            self._counts = Progress(self.path)._counts
            own_counts = self._counts.setdefault(exercise, {})
            for name, count in counts.items():
                own_counts[name] = own_counts.get(name, 0) + count
            text = json.dumps({"schema": 1, "exercises": self._counts}, indent=1, sort_keys=True)
            write_whole({self.path: f"{text}\n".encode()})


def _unwritable(path: Path, error: OSError) -> DescriptorError:
    """Return the error for a progress file that cannot be read or written."""
    why = error.strerror or type(error).__name__
    return DescriptorError(
        f"course: your progress cannot be kept in {path}: {why}; set XDG_CONFIG_HOME to a folder that can be written"
    )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other writers, if the system has locks; the lock ends with its process."""
    try:
        from fcntl import LOCK_EX, flock
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)


#: Digits of a checksum, without letters that look like other digits.
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LINE = re.compile(r"layoutalg-1;([^;]*);([^;]*); ?([0-9A-Za-z]{4}) ?-? ?([0-9A-Za-z]{4})\b", re.I)
_RANGE = re.compile(r"(\d{1,2})\.(\d{1,2})(?:-(\d{1,2}))?")


@frozen
class Receipt:
    """The exercises that a student hands in; its text is the line.

    Args:
        name: the student's name or number, at most 60 characters without a semicolon.
        solved: numbers of exercises, such as 5.1, in any order.

    Raises:
        DescriptorError: if the name or an exercise is not of this form.
    """

    name: str
    solved: tuple[str, ...]

    def __post_init__(self) -> None:
        name = _normalized(self.name)
        if not name or len(name) > 60 or ";" in name or not name.isprintable():
            raise DescriptorError(
                f"course: name {name[:70]!r} is not 1 to 60 characters on one line without a semicolon"
            )
        if wrong := [exercise for exercise in self.solved if not re.fullmatch(r"\d{1,2}\.\d{1,2}", exercise)]:
            raise DescriptorError(f"course: {wrong[0][:20]!r} is not an exercise, such as 5.1")
        solved = sorted(set(self.solved), key=_numbers_of)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "solved", tuple(solved))

    @property
    def spans(self) -> str:
        """The exercises as text, with consecutive ones as a range.

        >>> Receipt("Ada", ("1.1", "1.2", "1.3", "5.1")).spans
        '1.1-3 5.1'
        """
        runs: list[list[int]] = []
        for lesson, number in map(_numbers_of, self.solved):
            if runs and runs[-1][0] == lesson and runs[-1][2] == number - 1:
                runs[-1][2] = number
            else:
                runs.append([lesson, number, number])
        return " ".join(f"{lesson}.{first}" + (f"-{last}" if last > first else "") for lesson, first, last in runs)

    @property
    def checksum(self) -> str:
        """The first 40 bits of a hash of name and exercises, as eight digits."""
        signed = f"layoutalg course 1\n{self.name.casefold()}\n{self.spans}".encode()
        bits = int.from_bytes(sha256(signed).digest()[:5], "big")
        digits = "".join(_DIGITS[bits >> 5 * k & 31] for k in reversed(range(8)))
        return f"{digits[:4]}-{digits[4:]}"

    def __str__(self) -> str:
        return f"layoutalg-1; {self.name}; {self.spans}; {self.checksum}"


def read_receipt(text: str) -> Receipt:
    """Return the content of a line, which may be surrounded by other text, as in an exported table.

    Raises:
        DescriptorError: if the text contains no line, or its checksum is wrong.

    >>> read_receipt("4711, layoutalg-1; ada 4711; 1.1\\u20132 5.1;  n8ax-csq4 , late").name
    'ada 4711'
    """
    match = _LINE.search(_normalized(text))
    if match is None:
        raise DescriptorError(
            f"course: {text.strip()[:60]!r} is not a line of the form 'layoutalg-1; NAME; EXERCISES; CHECKSUM'"
        )
    exercises = _expand(match[2].strip())
    code = "".join({"O": "0", "I": "1", "L": "1"}.get(letter, letter) for letter in (match[3] + match[4]).upper())
    receipt = Receipt(match[1], exercises)
    if f"{code[:4]}-{code[4:]}" != receipt.checksum:
        raise DescriptorError(
            f"course: checksum {code[:4]}-{code[4:]} does not belong to this name and these exercises; {match[0]}"
        )
    return receipt


def _normalized(text: str) -> str:
    """Return a text with plain spaces and hyphens, which word processors replace."""
    return re.sub("[\u2010-\u2015\u2212]", "-", " ".join(unicodedata.normalize("NFC", text).split()))


def _numbers_of(exercise: str) -> tuple[int, int]:
    lesson, _, number = exercise.partition(".")
    return int(lesson), int(number)


def _expand(spans: str) -> tuple[str, ...]:
    numbers: list[str] = []
    for span in spans.split():
        match = _RANGE.fullmatch(span)
        if match is None:
            raise DescriptorError(f"course: {span[:20]!r} is not an exercise or a range of exercises, such as 1.1-4")
        numbers += [f"{int(match[1])}.{k}" for k in range(int(match[2]), int(match[3] or match[2]) + 1)]
    return tuple(numbers)
