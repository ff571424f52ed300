"""Lessons as pages of a browser: with an engine they have cells that run, without one they say what to type instead.

Figures are SVG within the page. Law: whether live or not, a page has every example, figure and exercise of its lesson,
with three hints and the solution.

>>> from descriptors.course.source import EXAMPLE, parse
>>> lesson = parse(EXAMPLE)
>>> [exercises_of(lesson, live)[0].count("<details") for live in (True, False)]
[4, 4]

The first page holds the first steps on each kind of machine, what to click and what to type, whose text is
`course/start.md`. A file that was not built is not linked.

>>> from descriptors.course.catalog import lessons
>>> ["href" in first_steps(lessons(), built) for built in ((), (WHEEL, "01.ipynb"))]
[False, True]
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

from builder.markup import LIVE, STILL, Example, document, inline, markdown, part, pieces
from builder.notebooks import WHEEL
from descriptors.course.catalog import folder
from descriptors.course.figures import figure
from descriptors.course.source import FIGURES, Lesson
from descriptors.show.browser.folder import fill_template

#: How the course is taken on pages without an engine, and on pages that have one.
_HOW = (
    "Examples are typed into Python, and <code>layoutalg course</code> in a terminal judges answers.",
    "Examples run in the page, and answers are judged there.",
)

#: What is asked for below a figure that can be changed.
_CHANGE = {
    "figure": "Draw another layout in its place",
    "picture": "Change it: lines of Python, the last of which is the picture",
}


@dataclass(frozen=True, slots=True)
class Engine:
    """Where the files of the engine lie, as a page names them: the page's script, and the worker with its questions."""

    script: str
    worker: str


def page(lesson: Lesson, lessons: Sequence[Lesson] = (), engine: Engine | None = None) -> str:
    """One lesson as an HTML document.

    Args:
        lesson: what is on it.
        lessons: the course, for the ways to the next and to the last.
        engine: what runs its cells; None for a page on which nothing runs.

    Raises:
        DescriptorError: if markdown-it-py is not installed.
    """
    live = engine is not None
    main = f"<article>{body(lesson, exercises_of(lesson, live), live)}</article>"
    return _whole(f"{lesson.number}. {lesson.title}", main, _ways(lesson, lessons), engine)


def index(lessons: Sequence[Lesson], engine: Engine | None = None, start: str = "", home: str = "") -> str:
    """The page that leads to the others, and with an engine makes the line that a student hands in.

    ``start`` is HTML: the first steps on each kind of machine; ``home`` the address of the documentation, if any.
    """
    header = f'<header><nav aria-label="Site"><a href="{escape(home)}">Documentation</a></nav></header>' if home else ""
    rows = "".join(
        f'<li value="{one.number}"><a href="{one.number:02}.html">{escape(one.title)}</a>'
        f'<span class="quiet">{one.minutes} min: {escape(one.aim)}. '
        f'<span data-lesson="{one.number}" data-count="{len(one.exercises)}"></span></span></li>'
        for one in lessons
    )
    main = part(
        "index.html",
        count=str(len(lessons)),
        exercises=str(sum(len(one.exercises) for one in lessons)),
        hours=f"{sum(one.minutes for one in lessons) / 60:.0f}",
        rows=rows,
        how=_HOW[engine is not None],
        teacher=', <a href="lines.html">lines that were handed in</a>' if engine else "",
        hand=part("hand.html") if engine else "",
        start=start,
    )
    return _whole("Layouts: a course", main, header, engine)


def annex() -> str:
    """What the lessons leave out, as a page to read.

    Raises:
        DescriptorError: if markdown-it-py is not installed.
    """
    texts = pieces((folder() / "annex.md").read_text(encoding="utf-8"))
    shown = (_text(one) if isinstance(one, str) else _example(one, k, False) for k, one in enumerate(texts))
    return _whole("Annex", f"<article>{''.join(shown)}</article>", _way("", ""), None)


def lines_page(engine: Engine) -> str:
    """The teacher's page that reads lines which were handed in."""
    return _whole("Lines that were handed in", part("lines.html"), _way("", ""), engine)


def body(lesson: Lesson, exercises: Sequence[str], live: bool = False) -> str:
    """What stands on a page: the text with its examples and figures, and the exercises as they are given.

    Raises:
        DescriptorError: if markdown-it-py is not installed.
    """
    aim = f'<p class="aim">Aim: {escape(lesson.aim)}. {lesson.minutes} minutes.</p>'
    pieces_html, examples, figures = [f"<h1>{lesson.number}. {escape(lesson.title)}</h1>{aim}"], 0, 0
    for one in lesson.parts:
        if one.kind in FIGURES:
            figures += 1
            pieces_html.append(_figure(one.kind, one.text, figures, live))
        elif one.kind == "exercise":
            pieces_html.append(exercises[int(one.text) - 1])
        elif one.kind == "cute":
            pieces_html.append(_cute(one.text))
        else:
            for piece in pieces(one.text):
                examples += isinstance(piece, Example)
                pieces_html.append(_text(piece) if isinstance(piece, str) else _example(piece, examples, live))
    return "".join(pieces_html)


def exercises_of(lesson: Lesson, live: bool = False) -> list[str]:
    """Every exercise with a box for an answer or the command that judges one; hints and solution are folded."""
    sections_html = []
    for number, one in enumerate(lesson.exercises, 1):
        where = f"{lesson.number}.{number}"
        folds = [("hint", f"hint {k}", inline(hint)) for k, hint in enumerate(one.hints, 1)]
        right = f"<code>{escape(one.solution)}</code>. {inline(one.why)}"
        folds.append(("solution", "solution" if live else "solution, after an attempt", right))
        rest = "".join(part("folded.html", kind=kind, name=name, text=text) for kind, name, text in folds)
        command = f"layoutalg course {where} &quot;{escape(one.starter)}&quot;"
        box = part("try.html", where=where, control=_control(f"a{where}", one.starter))
        sections_html.append(
            exercise_of(lesson, number, (box if live else f"<p>Check it: <code>{command}</code></p>") + rest)
        )
    return sections_html


def exercise_of(lesson: Lesson, number: int, rest: str) -> str:
    """The question of an exercise, and what follows it, as HTML."""
    one = lesson.exercises[number - 1]
    where = f"{lesson.number}.{number}"
    return part("exercise.html", where=where, name=escape(one.name), ask=inline(one.ask), rest=rest)


def _text(text: str) -> str:
    """Markdown as HTML in which a long line is scrolled by key, too."""
    return markdown(text).replace("<pre>", '<pre tabindex="0">')


def _example(one: Example, number: int, live: bool) -> str:
    if not live:
        return part("typed.html", number=str(number), shown=escape(one.source))
    rows, typed = str(one.typed.count("\n") + 1), escape(one.typed)
    return part("example.html", number=str(number), rows=rows, typed=typed, printed=escape(one.printed))


def _cute(text: str) -> str:
    """The same in CuTe: C++ beside the DSL."""
    cpp, _, dsl = text.partition("\n---\n")
    return part("cute.html", cpp=escape(cpp.strip()), dsl=escape(dsl.strip()))


def _figure(kind: str, text: str, number: int, live: bool) -> str:
    """A figure above what it was drawn from: with an engine a box in which that can be changed."""
    if live:
        control = _control(f"f{number}", text)
        under = part("draw.html", number=str(number), kind=kind, ask=_CHANGE[kind], control=control)
    else:
        code = (
            f"<code>{escape(text)}</code>"
            if kind == "figure"
            else f'<pre tabindex="0" aria-label="How the figure is drawn">{escape(text)}</pre>'
        )
        under = f"<figcaption>{code}</figcaption>"
    return part("figure.html", number=str(number), svg=figure(kind, text).svg(), under=under)


def _control(name: str, text: str) -> str:
    """A box to type in: of one line, or of as many as stand in it."""
    more = f'id="{name}" spellcheck="false" autocapitalize="off"'
    if "\n" in text:
        return f'<textarea {more} class="code" rows="{text.count(chr(10)) + 1}">\n{escape(text)}</textarea>'
    return f'<input {more} class="code" value="{escape(text)}">'


def _ways(lesson: Lesson, lessons: Sequence[Lesson]) -> str:
    numbers = [one.number for one in lessons]
    at = numbers.index(lesson.number) if lesson.number in numbers else -1
    if at < 0:
        return ""
    before = _way_to("prev", lessons[at - 1]) if at else ""
    return _way(before, _way_to("next", lessons[at + 1]) if at + 1 < len(lessons) else "")


def _way(before: str, after: str) -> str:
    return part("header.html", before=before, after=after)


def _way_to(rel: str, one: Lesson) -> str:
    return f'<a rel="{rel}" href="{one.number:02}.html">{one.number}. {escape(one.title)}</a>'


def _whole(title: str, main: str, header: str, engine: Engine | None) -> str:
    if engine is None:
        return document(title, main, header, policy=STILL)
    settings = json.dumps({"worker": engine.worker}).replace("<", "\\u003c")
    return document(title, main, header, part("live.html", held=settings, script=engine.script), LIVE)


_MADE_BY = "the file of the package (in a checkout <code>python3 -m pip wheel . --no-deps</code> makes it)"


def first_steps(course: Sequence[Lesson], built: Collection[str]) -> str:
    """The text as HTML.

    Args:
        course: the lessons.
        built: the names of the files beside the page.

    Raises:
        DescriptorError: if markdown-it-py is not installed.
    """
    notebooks = [f"{one.number:02}.ipynb" for one in course]
    linked = ", ".join(_file(name) for name in notebooks if name in built)
    places = {
        "wheel": _file(WHEEL) if WHEEL in built else _MADE_BY,
        "wheelname": WHEEL,
        "notebooks": linked or "the notebook of a lesson",
    }
    return fill_template(_text((folder() / "start.md").read_text(encoding="utf-8")), places)


def _file(name: str) -> str:
    return f'<a href="{name}">{name}</a>'
