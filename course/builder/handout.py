"""Lessons on paper: a handout without answers, a book of solutions for the teacher, the card.

Law: a handout holds no solution.

>>> from descriptors.course.source import EXAMPLE, parse
>>> lesson = parse(EXAMPLE)
>>> ["The second lies at 4." in "".join(of(lesson)) for of in (solutions_of, questions_of)]
[True, False]
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from builder.markup import document, inline, markdown, standalone
from builder.pages import exercise_of
from descriptors.course.card import Section, sections
from descriptors.course.figures import figure
from descriptors.course.source import FIGURES, Lesson

#: What a handout keeps of the text: tables, and lists of cases that an exercise asks about.
_LIST = re.compile(r"(?:^\|.*\n)+|(?:^- \([a-z]\).*(?:\n  .*)*\n?)+", re.M)


def handout(lessons: Iterable[Lesson]) -> str:
    """All lessons for print on some twenty pages: what the slides say, the figures, the exercises with a line each."""
    return document("Layouts: a handout", "".join(f"<article>{_sheet(one)}</article>" for one in lessons))


def _sheet(lesson: Lesson) -> str:
    """A lesson on paper; its pictures stand where its text has them, before the exercises that are about them."""
    pieces = [f"<h1>{lesson.number}. {escape(lesson.title)}</h1>", f"<p>Aim: {inline(lesson.aim)}.</p><ul>"]
    heads = [one.heading if one.heading.endswith("?") else f"{one.heading}." for one in lesson.slides]
    lines = [inline(" ".join(one.lines)) for one in lesson.slides]
    pieces += [f"<li><b>{inline(head)}</b> {line}</li>" for head, line in zip(heads, lines, strict=True)]
    pieces.append("</ul>")
    questions = questions_of(lesson)
    for part in lesson.parts:
        if part.kind in FIGURES:
            pieces.append(f'<figure class="small">{figure(part.kind, part.text).svg()}</figure>')
        elif part.kind == "exercise":
            pieces.append(questions[int(part.text) - 1])
        elif part.kind == "text":
            pieces += [markdown(one) for one in _LIST.findall(part.text)]
    return "".join(pieces)


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
    """Every exercise with a line for the answer."""
    return [
        exercise_of(lesson, number, f'<p class="line">{escape(one.starter.strip()).replace(chr(10), "<br>")}</p>')
        for number, one in enumerate(lesson.exercises, 1)
    ]


def solutions_of(lesson: Lesson) -> list[str]:
    """Every exercise with its solution, why it is right, and what the listed wrong answers are told."""
    pieces = []
    for number, one in enumerate(lesson.exercises, 1):
        wrong = "".join(
            f"<li><code>{escape(mine)}</code>: {inline(slip)}</li>" for mine, _, slip in one.wrong if "\n" not in mine
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
