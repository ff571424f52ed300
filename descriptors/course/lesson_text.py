"""Text of the course for a terminal: the list of lessons with the progress, a lesson, an exercise.

Invariant: the list has a line for each lesson, and the text of an exercise contains its name.

>>> from descriptors.course.source import EXAMPLE, parse
>>> print(tell_exercise("1.1", parse(EXAMPLE).exercises[0]))
1.1  two
Two elements, 4 apart.
start from: 2:?
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from textwrap import indent

from descriptors.course.catalog import find, find_lesson
from descriptors.course.figures import figure
from descriptors.course.progress import Receipt
from descriptors.course.source import FIGURES, Exercise, Lesson, Part
from descriptors.errors import DescriptorError

Counts = Callable[[str], Mapping[str, int]]


def tell_list(lessons: Iterable[Lesson], counts: Counts) -> str:
    """Return a line for each lesson: its number, title, minutes, and the number of solved exercises.

    >>> from descriptors.course.source import EXAMPLE, parse
    >>> print(tell_list([parse(EXAMPLE)], lambda name: {}))
     1  Steps                                             5 min  0 of 1 solved
    """
    lines = []
    for lesson in lessons:
        solved = sum(bool(counts(f"{lesson.number}.{k + 1}").get("solved")) for k in range(len(lesson.exercises)))
        total = len(lesson.exercises)
        lines.append(f"{lesson.number:>2}  {lesson.title:<48} {lesson.minutes:>2} min  {solved} of {total} solved")
    return "\n".join(lines)


def tell_lesson(lesson: Lesson) -> str:
    """Return the text of a lesson, with its figures as tables.

    >>> from descriptors.course.source import EXAMPLE, parse
    >>> print(tell_lesson(parse(EXAMPLE)).splitlines()[0])
    1. Steps
    """
    pieces = [f"{lesson.number}. {lesson.title}\n\nAim: {lesson.aim}."]
    for part in lesson.parts:
        if part.kind in FIGURES:
            pieces.append(figure(part.kind, part.text).text(width=110))
        elif part.kind == "exercise":
            pieces.append(tell_exercise(f"{lesson.number}.{part.text}", lesson.exercises[int(part.text) - 1]))
        elif part.kind == "cute":
            cpp, _, dsl = part.text.partition("\n---\n")
            pieces.append(f"CuTe C++:\n{indent(cpp, '    ')}\n\nCuTe DSL:\n{indent(dsl, '    ')}")
        else:
            pieces.append(part.text)
    return "\n\n".join(pieces)


def tell_place(number: str) -> str:
    """Return the text of an exercise, below the figure directly before it in the lesson, if there is one.

    >>> print(tell_place("1.6").splitlines()[0])
    1.6  your multiplication: A
    """
    lesson, exercise = find_lesson(number.partition(".")[0]), find(number)
    place = lesson.parts.index(Part("exercise", number.partition(".")[2]))
    above, text = lesson.parts[place - 1], tell_exercise(number, exercise)
    return f"{figure(above.kind, above.text).text(width=110)}\n\n{text}" if above.kind in FIGURES else text


def tell_exercise(number: str, exercise: Exercise) -> str:
    """Return the question of an exercise, and the text to start from."""
    return f"{number}  {exercise.name}\n{exercise.ask.strip()}\nstart from: {exercise.starter}"


def tell_receipt(receipt: Receipt, exercises: Collection[str]) -> str:
    """Return the content of a line that was handed in, with the number of existing exercises.

    Raises:
        DescriptorError: if it contains an exercise that the course does not have.

    >>> tell_receipt(Receipt("Ada 4711", ("1.1", "1.2")), ["1.1", "1.2", "1.3"])
    'Ada 4711: 2 of 3 solved: 1.1-2'
    """
    if unknown := [exercise for exercise in receipt.solved if exercise not in exercises]:
        raise DescriptorError(f"course: {unknown[0]} is not an exercise of the course; {receipt}")
    spans = f": {receipt.spans}" if receipt.solved else ""
    return f"{receipt.name}: {len(receipt.solved)} of {len(exercises)} solved{spans}"
