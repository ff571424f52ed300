"""The teacher's page: sessions, what to do the day before, each lesson on a card, the names in CuTe, the licence.

Its text is `course/teacher.md`; what stands in double braces there is computed from the lessons and from the files that
were built. Law: no place is left open.

>>> from descriptors.lessons.source import lessons
>>> "{{" in teacher_page(lessons(), {"index.html": 2000})
False
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

from descriptors.lessons.markup import inline, markdown
from descriptors.lessons.source import Lesson, folder
from descriptors.lessons.teaching.documents import document
from descriptors.lessons.teaching.names import table
from descriptors.lessons.teaching.notes import script, slips

#: How long a session is, in minutes, and how many students a course is made for.
SESSION, SEATS = 90, 60
#: The sessions: what each is about, and its first lesson.
SESSIONS = (
    ("Layouts are functions", 1),
    ("The algebra", 4),
    ("Memory and swizzles", 8),
    ("What the tensor core reads", 11),
)


def teacher_page(course: Sequence[Lesson], files: Mapping[str, int]) -> str:
    """The page as an HTML document.

    Args:
        course: the lessons.
        files: what was built: the bytes of each file by its name.

    Raises:
        DescriptorError: if markdown-it-py is not installed.
    """
    total = sum(files.values())
    places = {
        "sessions": sessions(course),
        "lessons": "".join(map(_lesson, course)),
        "names": table(),
        "count": str(len(files)),
        "bytes": megabytes(total),
        "seats": str(SEATS),
        "seats_bytes": megabytes(SEATS * total),
        "papers": "",
    }
    text = markdown((folder() / "teacher.md").read_text(encoding="utf-8"))
    text = re.sub(r"<p>\{\{(\w+)\}\}</p>|\{\{(\w+)\}\}", lambda found: places[found[1] or found[2]], text)
    return document("For the teacher", f"<main>{text}</main>", "teacher", ["sheet.css", "teacher.css"])


def megabytes(count: int) -> str:
    """A number of bytes for a person, rounded up.

    >>> megabytes(1_240_000), megabytes(20)
    ('1.3 MB', '0.1 MB')
    """
    tenths = -(-count // 100_000)
    return f"{tenths // 10}.{tenths % 10} MB"


def by_session(course: Sequence[Lesson]) -> list[tuple[str, list[Lesson]]]:
    """The sessions that have lessons yet, each with its lessons; what comes before the first is done at home.

    >>> from descriptors.lessons.source import lessons
    >>> [(name, len(found)) for name, found in by_session(lessons()[:4])][-1]
    ('The algebra', 1)
    """
    bounds = [*(first for _, first in SESSIONS), 1000]
    found = [("At home, before", [one for one in course if one.number < bounds[0]])]
    for (name, first), end in zip(SESSIONS, bounds[1:], strict=True):
        found.append((name, [one for one in course if first <= one.number < end]))
    return [(name, held) for name, held in found if held]


def sessions(course: Sequence[Lesson]) -> str:
    """The table of sessions as HTML: each lesson with its aim and minutes, and what is left of the session."""
    lines = []
    for name, held in by_session(course):
        for one in held:
            title = f'<a href="#lesson-{one.number}">{one.number}. {escape(one.title)}</a>'
            cells = f'<td>{title}</td><td>{inline(one.aim)}</td><td class="number">{one.minutes}</td>'
            lines.append(f"<tr><td>{escape(name)}</td>{cells}</tr>")
            name = ""
        left = SESSION - sum(one.minutes for one in held)
        if held[0].number >= SESSIONS[0][1]:
            told = f"{left} left of {SESSION}" if left >= 0 else f"{-left} more than {SESSION}: leave one for home"
            lines.append(f'<tr class="sum"><td></td><td colspan="3">{told}</td></tr>')
    head = "".join(f'<th scope="col">{one}</th>' for one in ("session", "lesson", "aim", "minutes"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _lesson(lesson: Lesson) -> str:
    steps, expected, paper = script(lesson)
    told = "".join(f"<li>{inline(step)}</li>" for step in steps)
    wrong = "".join(
        f"<tr><td>{where}</td><td><code>{escape(mine)}</code></td><td>{inline(says)}</td><td>{inline(hint)}</td></tr>"
        for where, mine, says, hint in slips(lesson)
    )
    head = "".join(f'<th scope="col">{one}</th>' for one in ("exercise", "answer", "what is wrong", "ask"))
    last = len(lesson.exercises)
    different = (
        f"All do {lesson.number}.1 and {lesson.number}.2; {lesson.number}.{last} is for those who are done early. Who "
        "is stuck begins with the first hint, on paper, with the small numbers of the figure."
    )
    rows = {"Cures": inline(lesson.misconception), "Slips": inline(expected), "On paper": inline(paper)}
    rows["For whom"] = different
    terms = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows.items() if value)
    slides = f'<a href="{lesson.number:02}-slides.html">Slides</a>'
    return (
        f'<article id="lesson-{lesson.number}"><h3>{lesson.number}. {escape(lesson.title)}</h3>'
        f"<p>Aim: {inline(lesson.aim)}. {lesson.minutes} minutes, {last} exercises. {slides}</p><ul>{told}</ul>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{wrong}</tbody></table><dl>{terms}</dl></article>"
    )
