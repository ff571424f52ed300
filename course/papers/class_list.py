"""The class list: students and the seeds of their papers, and the student to whom a name or a file belongs.

A line of the file is a student: a name, and after a comma the seed. Seeds that are not in the file are drawn: at
random, or from a seed of the teacher, so that the papers can be drawn again. No student can guess such a seed and draw
the paper before the examination.

>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     path = Path(folder) / "names.txt"
...     _ = path.write_text("Ada Lovelace, a-7\\nBob\\n", encoding="utf-8")
...     seeds = students(str(path), "spring")
>>> seeds
{'Ada Lovelace': 'a-7', 'Bob': 'lemon-glass-14'}
>>> student_named("lovelace, ada", seeds), student_of_file("quiz1_ADA_Lovelace", seeds), student_named("Eve", seeds)
('Ada Lovelace', 'Ada Lovelace', '')
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from random import Random, SystemRandom

from descriptors.errors import DescriptorError, brief
from papers.item import below, pick

#: The seed of each student, by the name as it is written in the class list.
Seeds = Mapping[str, str]

_WORDS = (
    "acorn amber apple arrow badge basin birch blaze bread brick brook cabin candle canoe cedar chalk cherry "
    "cliff cloud clover coast copper coral crane daisy delta dune eagle ember fern field flame flint forest "
    "fox garden glass grape harbor hazel heron honey island ivory jacket kettle lantern lemon maple marble "
    "meadow mint moss oak ocean olive otter paper pearl pebble pepper pine planet"
).split()


def students(names: str, seed: str = "", *, draw: bool = True) -> dict[str, str]:
    """Return the seed of each student of a class.

    Args:
        names: the number of students, or a file with one student per line: a name, and after a comma the seed.
        seed: from which seeds that the file does not have are drawn; default: at random.
        draw: whether to draw seeds that the file does not have; if not, they are refused.

    Raises:
        DescriptorError: if the file cannot be read or is empty, a seed is missing, or two students have one name or
            one seed.

    >>> list(students("2"))
    ['student 1', 'student 2']
    """
    if names.isdecimal() and names.isascii() and len(names) <= 4:
        pairs = [(f"student {k}", "") for k in range(1, int(names) + 1)]
    else:
        pairs = _pairs(names)
    if not pairs:
        raise DescriptorError(
            f"class: {brief(names)} has no students; write one student per line: a name, and after a comma the seed"
        )
    if not (draw or seed) and (missing := [name for name, own in pairs if not own]):
        raise DescriptorError(
            f"class: {len(missing)} of {len(pairs)} students have no seed, the first is {brief(missing[0])}; "
            "give the file class.txt that was written with the papers"
        )
    _refuse_twice("name", (" ".join(sorted(_words(name))) for name, _ in pairs))
    _refuse_twice("seed", (own for _, own in pairs if own))
    seeds, given_seeds = dict[str, str](), {own for _, own in pairs}
    for name, own in pairs:
        rng = Random(f"class:{seed}:{name}") if seed else SystemRandom()
        while not own or (own in given_seeds and (name, own) not in pairs):
            own = f"{pick(rng, _WORDS)}-{pick(rng, _WORDS)}-{10 + below(rng, 90)}"
        seeds[name] = own
        given_seeds.add(own)
    return seeds


def _pairs(names: str) -> list[tuple[str, str]]:
    try:
        text = Path(names).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise DescriptorError(
            f"class: {brief(names)} is neither a number of students nor a text file of names in UTF-8"
        ) from error
    parts = [line.partition(",") for line in text.splitlines() if line.strip()]
    return [(unicodedata.normalize("NFC", name.strip()), own.strip()) for name, _, own in parts]


def _refuse_twice(kind: str, values: Iterable[str]) -> None:
    earlier_values = set[str]()
    for value in values:
        if value in earlier_values:
            raise DescriptorError(
                f"class: two students have the {kind} {brief(value)}; give each student a {kind} of their own"
            )
        earlier_values.add(value)


def class_text(seeds: Seeds) -> str:
    """Return the class list as a file."""
    return "".join(f"{name}, {seed}\n" for name, seed in seeds.items())


def _words(name: str) -> set[str]:
    """Return the words of a name, without accents and case.

    >>> sorted(_words("Müller, Zoë")) == sorted(_words("zoe_muller"))
    True
    """
    return set(re.findall(r"[^\W_]+", _folded(name)))


def _folded(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(c for c in letters if not unicodedata.combining(c) and c not in "'\u2019")


def student_named(name: str, seeds: Seeds) -> str:
    """Return the student with a name, whose words may be in another order; "" if this is not exactly one."""
    return _only(student for student in seeds if _words(student) == _words(name))


def student_of_file(stem: str, seeds: Seeds) -> str:
    """Return the student whose name is in the name of a file; "" if it is not clear who that is.

    >>> seeds = {"Ada Lovelace": "a", "Ada King": "b", "Bo": "c"}
    >>> [student_of_file(stem, seeds) for stem in ("Ada Lovelace_17_file", "king-quiz2", "AdaKing", "ada", "bo")]
    ['Ada Lovelace', 'Ada King', 'Ada King', '', 'Bo']
    """
    words, together = _words(stem), re.sub(r"[\W_]+", "", _folded(stem))
    rules: tuple[Callable[[set[str]], bool], ...] = (
        lambda own: own <= words,
        lambda own: (
            len("".join(own)) > 5 and any("".join(order) in together for order in (sorted(own), sorted(own)[::-1]))
        ),
        lambda own: any(len(word) > 2 and not word.isdecimal() and word in words for word in own),
    )
    for rule in rules:
        if matching := [student for student in seeds if rule(_words(student))]:
            longest = [name for name in matching if not any(_words(name) < _words(other) for other in matching)]
            return _only(longest)
    return ""


def has_name(stem: str, student: str) -> bool:
    """Return whether all words of a student's name are in the name of a file."""
    return _words(student) <= _words(stem)


def _only(names: Iterable[str]) -> str:
    several = list(names)
    return several[0] if len(several) == 1 else ""
