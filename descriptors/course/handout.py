"""Lessons on paper: a handout without answers and with room for them, and a book of solutions for the teacher.

Law: a handout holds no solution.

>>> from descriptors.course.source import EXAMPLE, parse
>>> lesson = parse(EXAMPLE)
>>> ["The second lies at 4." in "".join(of(lesson)) for of in (solutions_of, questions_of)]
[True, False]
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from descriptors.course.grading import grade
from descriptors.course.markup import document, inline
from descriptors.course.pages import body, exercise_of
from descriptors.course.source import Lesson

#: Squared paper, 36 squares by 6: lines, as printers leave out what is only a background.
_SQUARES = (
    '<svg class="squares" viewBox="-1 -1 722 122" role="img" aria-label="squared paper"><path fill="none" d="'
    + "".join(f"M{x} 0v120" for x in range(0, 721, 20))
    + "".join(f"M0 {y}h720" for y in range(0, 121, 20))
    + '"/></svg>'
)


def handout(lessons: Iterable[Lesson]) -> str:
    """All lessons for print, with room for answers and without hints or solutions.

    Raises:
        DescriptorError: if markdown-it-py is not installed.
    """
    articles = "".join(f"<article>{body(one, questions_of(one))}</article>" for one in lessons)
    return document("Layouts: a handout", articles)


def solution_book(lessons: Iterable[Lesson]) -> str:
    """For the teacher: of each lesson the aim, the misconception, the notes, and every solution with wrong answers."""
    pieces = []
    for one in lessons:
        notes = f"<p><b>Aim:</b> {escape(one.aim)}. {one.minutes} minutes.</p>"
        notes += f"<p><b>Cures:</b> {inline(one.misconception)}</p>"
        head = f"<h1>{one.number}. {escape(one.title)}</h1>{notes}<p>{inline(one.teacher)}</p>"
        pieces.append(f"<article>{head}{''.join(solutions_of(one))}</article>")
    return document("Layouts: the book of solutions", "".join(pieces))


def questions_of(lesson: Lesson) -> list[str]:
    """Every exercise with squared paper to try on, and a line for the answer."""
    return [
        exercise_of(lesson, number, f'{_SQUARES}<p class="line">{escape(one.starter)}</p>')
        for number, one in enumerate(lesson.exercises, 1)
    ]


def solutions_of(lesson: Lesson) -> list[str]:
    """Every exercise with its solution, why it is right, and what the listed wrong answers are told."""
    pieces = []
    for number, one in enumerate(lesson.exercises, 1):
        wrong = "".join(
            f"<li><code>{escape(mine)}</code>: your answer {escape(grade(one, mine) or '')}</li>"
            for mine, _ in one.wrong
        )
        right = f"<p><b>Right:</b> <code>{escape(one.solution)}</code>. {inline(one.why)}</p><ul>{wrong}</ul>"
        pieces.append(exercise_of(lesson, number, right))
    return pieces
