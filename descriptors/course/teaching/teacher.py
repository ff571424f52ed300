"""The teacher's page: sessions, what to do the day before, each lesson on a card, the names in CuTe, the licence.

Its text is `course/teacher.md`; what stands in double braces there is computed from the lessons and from the files that
were built. Law: no place is left open.

>>> from descriptors.course.source import lessons
>>> "{{" in teacher_page(lessons(), {"index.html": 2000})
False
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from descriptors.course.markup import inline, markdown
from descriptors.course.source import Lesson, folder
from descriptors.course.teaching.documents import document
from descriptors.course.teaching.names import table
from descriptors.course.teaching.notes import exercise_minutes, script, slips

#: How long a session is, in minutes, and how many students a course is made for.
SESSION, SEATS = 90, 60


@dataclass(frozen=True, slots=True)
class Session:
    """A session: what it is about, the number of its first lesson, and whether it is held in class."""

    name: str
    first: int
    in_class: bool = True


#: The sessions, in order.
SESSIONS = (
    Session("Before, at home", 0, in_class=False),
    Session("1. Layouts are functions", 1),
    Session("2. The algebra", 4),
    Session("3. Memory and swizzles", 8),
    Session("4. What the tensor core reads", 11),
    Session("Optional, or homework", 14, in_class=False),
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


def by_session(course: Sequence[Lesson]) -> list[tuple[Session, list[Lesson]]]:
    """The sessions that have lessons yet, each with its lessons.

    >>> from descriptors.course.source import lessons
    >>> [(session.name, len(held)) for session, held in by_session(lessons()) if session.first == 1]
    [('1. Layouts are functions', 3)]
    """
    ends = [*(session.first for session in SESSIONS[1:]), 1000]
    found = [(one, [x for x in course if one.first <= x.number < end]) for one, end in zip(SESSIONS, ends, strict=True)]
    return [(session, held) for session, held in found if held]


def sessions(course: Sequence[Lesson]) -> str:
    """The table of sessions as HTML: each lesson with its aim and minutes, and how they go into the session."""
    lines = []
    for session, held in by_session(course):
        for one in held:
            title = f'<a href="#lesson-{one.number}">{one.number}. {escape(one.title)}</a>'
            cells = f"<td>{title}</td><td>{inline(one.aim)}</td>" + "".join(
                f'<td class="number">{count}</td>' for count in (one.minutes, exercise_minutes(one))
            )
            lines.append(f"<tr><td>{escape(session.name) if one is held[0] else ''}</td>{cells}</tr>")
        if session.in_class:
            lines.append(f'<tr class="sum"><td></td><td colspan="4">{fitting(held)}</td></tr>')
    head = "".join(
        f'<th scope="col">{one}</th>' for one in ("session", "lesson", "aim", "minutes", "of these exercises")
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def fitting(held: Sequence[Lesson]) -> str:
    """How lessons go into one session: what is left of it, or for how long exercises are done in class.

    >>> from descriptors.course.source import lessons
    >>> fitting([one for one in lessons() if 1 <= one.number <= 3])
    '75 of 90 minutes'
    """
    whole, exercises = sum(one.minutes for one in held), sum(map(exercise_minutes, held))
    if whole <= SESSION:
        return f"{whole} of {SESSION} minutes"
    left = SESSION - (whole - exercises)
    return (
        f"{whole} minutes; in {SESSION} there are {left} for exercises, of {exercises}: the later ones are done at home"
    )


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
