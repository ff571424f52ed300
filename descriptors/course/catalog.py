"""Find the lessons on disk, and a lesson or an exercise by its number, such as 5 or 5.1.

Invariant: every exercise is found by its number.

>>> all(find(number) is exercise for number, exercise in exercises().items())
True
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from descriptors.course.source import Exercise, Lesson, parse
from descriptors.errors import DescriptorError


def folder() -> Path:
    """Return the folder of the lessons: in the installed package, or at the root of a checkout."""
    packed = Path(__file__).parent / "texts"
    return packed if packed.exists() else Path(__file__).resolve().parents[2] / "course"


@cache
def lessons() -> tuple[Lesson, ...]:
    """Return every lesson, in the order of its number.

    >>> [lesson.number for lesson in lessons()] == sorted(lesson.number for lesson in lessons())
    True
    """
    files = sorted(folder().glob("[0-9][0-9]-*.md"))
    return tuple(parse(path.read_text(encoding="utf-8"), int(path.name[:2])) for path in files)


def find_lesson(number: str) -> Lesson:
    """Return the lesson with a number.

    Raises:
        DescriptorError: if the lesson does not exist.

    >>> find_lesson("5").title
    'Complement and inverses'
    """
    for lesson in lessons():
        if number == str(lesson.number):
            return lesson
    numbers = ", ".join(str(lesson.number) for lesson in lessons())
    fact = f"lesson {number[:20]} does not exist" if number else "no lesson is given"
    raise DescriptorError(f"course: {fact}; lessons: {numbers}")


@cache
def exercises() -> dict[str, Exercise]:
    """Return every exercise of the course by its number, such as 5.1 for the first of lesson 5.

    >>> exercises()["5.1"].name
    'fill the gaps'
    """
    return {f"{lesson.number}.{k}": exercise for lesson in lessons() for k, exercise in enumerate(lesson.exercises, 1)}


def find(name: str) -> Exercise:
    """Return the exercise with a number such as 5.1.

    Raises:
        DescriptorError: if the exercise does not exist.

    >>> find("5.99")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: course: lesson 5 has no exercise 99; its exercises are 1 to 5
    """
    if name in exercises():
        return exercises()[name]
    lesson, _, number = name.partition(".")
    last = len(find_lesson(lesson).exercises)
    fact = f"lesson {lesson} has no exercise {number[:20]}" if number else f"no exercise of lesson {lesson} is given"
    raise DescriptorError(f"course: {fact}; its exercises are 1 to {last}")
