"""Lessons as pages: a page each with hints that open, a handout for print without answers, and a book of solutions.

The Markdown is turned into HTML by markdown-it-py, which the extra ``course`` brings; figures are SVG within the page,
which therefore needs no other file and no network. Law: a handout holds no solution.

>>> from descriptors.lessons.source import EXAMPLE, parse
>>> lesson = parse(EXAMPLE)
>>> ["The second lies at 4." in "".join(of(lesson)) for of in (exercises_of, solutions_of, questions_of)]
[True, True, False]
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from descriptors.errors import DescriptorError
from descriptors.lessons.figures import figure
from descriptors.lessons.source import FIGURES, Exercise, Lesson

_STYLE = """
body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff}
pre{overflow-x:auto;padding:.6rem;background:#f3f3f3}svg{max-width:100%;height:auto}
section.exercise{border-left:.25rem solid #1f5f99;padding-left:1rem;margin:1.5rem 0}
:focus-visible{outline:.2rem solid #1f5f99}.lines{border-bottom:1px solid #555;height:2rem}
@media print{section.exercise{break-inside:avoid}article{break-before:page}}
@media (prefers-color-scheme:dark){body{color:#eee;background:#161616}pre{background:#262626}}
"""


def page(lesson: Lesson) -> str:
    """One lesson as an HTML document, its hints and solutions folded.

    Raises:
        DescriptorError: if markdown-it-py is not installed.
    """
    return _document(f"{lesson.number}. {lesson.title}", _body(lesson, exercises_of(lesson)))


def handout(lessons: Iterable[Lesson]) -> str:
    """All lessons for print, with room for answers and without hints or solutions; it raises as :func:`page`."""
    return _document("Layouts: a handout", "".join(_body(one, questions_of(one)) for one in lessons))


def solution_book(lessons: Iterable[Lesson]) -> str:
    """For the teacher: of each lesson the aim, the misconception, the notes, and every solution with wrong answers."""
    pieces = []
    for one in lessons:
        notes = f"<p><b>Aim:</b> {escape(one.aim)}. {one.minutes} minutes.</p>"
        notes += f"<p><b>Cures:</b> {_inline(one.misconception)}</p>"
        head = f"<h1>{one.number}. {escape(one.title)}</h1>{notes}<p>{_inline(one.teacher)}</p>"
        pieces.append(f"<article>{head}{''.join(solutions_of(one))}</article>")
    return _document("Layouts: the book of solutions", "".join(pieces))


def index(lessons: Iterable[Lesson]) -> str:
    """The page that leads to the others."""
    rows = "".join(
        f'<li><a href="{one.number:02}.html">{escape(one.title)}</a>, {one.minutes} min: {escape(one.aim)}</li>'
        for one in lessons
    )
    more = '<p>For print: <a href="handout.html">handout</a>. For teachers: <a href="solutions.html">solutions</a>.</p>'
    return _document("Layouts: a course", f"<h1>Layouts: a course</h1><ol>{rows}</ol>{more}")


def exercises_of(lesson: Lesson) -> list[str]:
    """Every exercise with its hints and its solution, each folded."""
    pieces = []
    for number, one in enumerate(lesson.exercises, 1):
        hints = "".join(_folded(f"hint {k}", _inline(hint)) for k, hint in enumerate(one.hints, 1))
        solution = _folded("solution, after an attempt", f"<code>{escape(one.solution)}</code>. {_inline(one.why)}")
        command = f'layoutalg course {lesson.number}.{number} "{one.starter}"'
        check = f"<p>Check it: <code>{escape(command)}</code></p>"
        pieces.append(_exercise(lesson, number, one, check + hints + solution))
    return pieces


def questions_of(lesson: Lesson) -> list[str]:
    """Every exercise with lines to write on."""
    lines = '<div class="lines"></div>' * 2
    return [_exercise(lesson, number, one, lines) for number, one in enumerate(lesson.exercises, 1)]


def solutions_of(lesson: Lesson) -> list[str]:
    """Every exercise with its solution, why it is right, and what the listed wrong answers are told."""
    pieces = []
    for number, one in enumerate(lesson.exercises, 1):
        wrong = "".join(f"<li><code>{escape(mine)}</code>: {escape(says)}</li>" for mine, says in one.wrong)
        right = f"<p><b>Right:</b> <code>{escape(one.solution)}</code>. {_inline(one.why)}</p><ul>{wrong}</ul>"
        pieces.append(_exercise(lesson, number, one, right))
    return pieces


def _exercise(lesson: Lesson, number: int, one: Exercise, rest: str) -> str:
    name = f"{lesson.number}.{number} {escape(one.name)}"
    return f'<section class="exercise"><h3>{name}</h3><p>{_inline(one.ask)}</p>{rest}</section>'


def _folded(name: str, text: str) -> str:
    return f"<details><summary>{name}</summary><p>{text}</p></details>"


def _inline(text: str) -> str:
    """A sentence with code in backquotes, as HTML; no more of Markdown stands in a sentence."""
    pieces = escape(text.strip(), quote=False).split("`")
    return "".join(f"<code>{piece}</code>" if k % 2 else piece for k, piece in enumerate(pieces))


def _body(lesson: Lesson, exercises: list[str]) -> str:
    try:
        from markdown_it import MarkdownIt
    except ImportError as error:
        raise DescriptorError(
            "course: pages must have markdown-it-py, found none; pip install 'layoutalg[course]'"
        ) from error
    write = MarkdownIt("commonmark")
    pieces = [f"<h1>{lesson.number}. {escape(lesson.title)}</h1><p>Aim: {escape(lesson.aim)}.</p>"]
    for part in lesson.parts:
        if part.kind == "text":
            pieces.append(write.render(part.text))
        elif part.kind in FIGURES:
            caption = f"<figcaption><code>{escape(part.text)}</code></figcaption>"
            pieces.append(f"<figure>{figure(part.kind, part.text).svg()}{caption}</figure>")
        else:
            pieces.append(exercises[int(part.text) - 1])
    return f"<article>{''.join(pieces)}</article>"


def _document(title: str, body: str) -> str:
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    whole = f"<head>{head}<style>{_STYLE}</style></head><body><main>{body}</main></body>"
    return f'<!doctype html>\n<html lang="en">{whole}</html>\n'
