"""Lessons on paper: a handout without answers and with room for them, a book of solutions for the teacher, the card.

Law: a handout holds no solution.

>>> from descriptors.course.source import EXAMPLE, parse
>>> lesson = parse(EXAMPLE)
>>> ["The second lies at 4." in "".join(of(lesson)) for of in (solutions_of, questions_of)]
[True, False]
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from builder.markup import document, inline, standalone
from builder.pages import body, exercise_of
from descriptors.course.card import Section, sections
from descriptors.course.grading import grade
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


def card() -> str:
    """The card as an HTML document for two pages of A4: notation and operations, and the rest."""
    sections_html = [
        f'<section class="{one.kind}"><h2>{escape(one.title)}</h2>{_table(one)}</section>' for one in sections()
    ]
    front = sum(one.kind == "operations" for one in sections())
    sides = ("".join(sections_html[:front]), "".join(sections_html[front:]))
    body = "".join(f'<div class="side">{side}</div>' for side in sides)
    return standalone(
        "Layouts on a card", f"<main><h1>Layouts on a card</h1>{body}</main>", "card", ["sheet.css", "card.css"]
    )


def _table(section: Section) -> str:
    if section.kind == "words":
        words = (f"<dt>{one.written} <b>{one.value}</b></dt><dd>{inline(one.words)}</dd>" for one in section.rows)
        return f"<dl>{''.join(words)}</dl>"
    lines = []
    for row in section.rows:
        value = f"<td><code>{escape(row.value)}</code></td>"
        if section.kind == "bits":
            value = "".join(f'<td class="bit{one if one in "YZ" else ""}">{one}</td>' for one in row.value.split())
        lines.append(f"<tr><th><code>{escape(row.written)}</code></th>{value}<td>{inline(row.words)}</td></tr>")
    return f"<table>{''.join(lines)}</table>"
