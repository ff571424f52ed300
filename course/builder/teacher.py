"""The teacher's page: sessions, what to do the day before, each lesson on a card, the names in CuTe, the licence.

Its text is `course/teacher.md`; what stands in double braces there is computed from the lessons and from the files that
were built. Law: no place is left open.

>>> from descriptors.course.catalog import lessons
>>> "{{" in teacher_page(lessons(), {"index.html": 2000})
False

The teacher's text of a lesson is its steps, the slips to expect and the way on paper, in this order.

>>> steps, expected, paper = script(lessons()[0])
>>> steps[1].partition(",")[0], paper
('3 min: before anyone computes it', 'print the figure, the exercises are one line each.')

What the words of this course are called in CuTe stands there for a course on CUDA that follows. A name of the DSL is
looked up below ``cutlass.cute``; the C++ names are those of ``include/cute`` of CUTLASS, which an installed package of
it confirms. Where the DSL has the operation, its name is the name here.

>>> {row.ours for row in ROWS if row.dsl and row.ours and row.ours != row.dsl}
{'derive'}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from builder.markup import inline, markdown, standalone
from descriptors.course.catalog import folder
from descriptors.course.source import Lesson

_EXERCISES = re.compile(r"(\d+) min: (?:in pairs|exercises?)\b")
_WITHOUT, _SLIPS = "Without machines:", "Expected slips:"


def script(lesson: Lesson) -> tuple[list[str], str, str]:
    """The teacher's text of a lesson taken apart: the steps of its minutes, the expected slips, the way on paper.

    >>> from descriptors.course.catalog import lessons
    >>> len(script(lessons()[0])[0])
    5
    """
    text = " ".join(lesson.teacher.split())
    text, _, paper = text.partition(_WITHOUT)
    text, _, slips = text.partition(_SLIPS)
    return re.split(r"(?<=\.) (?=\d+ min:)", text.strip()), slips.strip(), paper.strip()


def exercise_minutes(lesson: Lesson) -> int:
    """How many of the minutes of a lesson are for exercises, as its steps say.

    >>> from descriptors.course.catalog import lessons
    >>> exercise_minutes(lessons()[0])
    22
    """
    return sum(int(count) for count in _EXERCISES.findall(" ".join(lesson.teacher.split())))


def slips(lesson: Lesson) -> list[tuple[str, str, str, str]]:
    """Three wrong answers to expect, of as many exercises: which one, the answer, what is wrong, what to ask.

    What is wrong is the slip that leads there; what to ask is the first hint.

    >>> from descriptors.course.catalog import lessons
    >>> slips(lessons()[4])[0][:2]
    ('5.1', '6:1')
    """
    return [
        (f"{lesson.number}.{number}", one.wrong[0][0], one.wrong[0][2], one.hints[0])
        for number, one in enumerate(lesson.exercises[:3], 1)
    ]


@dataclass(frozen=True, slots=True)
class Named:
    """One thing and its names: here, in the DSL, in C++, each empty where there is none; and what differs."""

    what: str
    ours: str
    dsl: str
    cpp: str
    differs: str = ""


def _same(what: str, *names: str) -> tuple[Named, ...]:
    return tuple(Named(what, name, name, name) for name in names)


#: Every row of the table, in the order of the lessons.
ROWS: tuple[Named, ...] = (
    *_same("a layout", "make_layout"),
    Named("call a layout", "crd2idx", "crd2idx", "crd2idx", "C++: layout(i, j) as well; DSL: layout((i, j))"),
    *_same("index to coordinate", "idx2crd"),
    *_same("compact in an order", "make_ordered_layout"),
    *_same("how large", "size", "cosize", "rank", "depth"),
    Named("one mode", "get", "get", "get", "C++: get<0>(layout), layout<0>(layout)"),
    Named("a slice", "slice_", "slice_", "slice", "C++: the coordinate holds _, the DSL None"),
    Named("same nesting", "is_congruent", "is_congruent", "congruent", "C++: a type, true or false when compiled"),
    *_same("shortest form", "coalesce", "filter", "filter_zeros", "flatten", "group_modes"),
    *_same("compose, fill, invert", "composition", "complement", "right_inverse", "left_inverse"),
    *_same("widest common part", "max_common_layout", "max_common_vector"),
    *_same("cut", "logical_divide", "zipped_divide", "tiled_divide", "flat_divide"),
    *_same("build", "logical_product", "blocked_product", "raked_product", "tile_to_shape"),
    *_same("whose part", "local_tile", "local_partition"),
    Named("thread and value", "make_layout_tv", "make_layout_tv", "", "C++: inside make_tiled_copy"),
    *_same("tiled instruction", "make_tiled_mma"),
    Named("coordinates as values", "make_identity_layout", "make_identity_layout", "make_identity_layout"),
    Named("swizzle", "make_swizzle", "make_swizzle", "Swizzle", "C++: the type Swizzle<B,M,S>, also make_swizzle<Y,Z>"),
    Named("layout and swizzle", "make_composed_layout", "make_composed_layout", "make_composed_layout"),
    Named("another unit", "recast_layout", "recast_layout", "recast_layout", "C++: recast_layout<Old, New>(layout)"),
    Named("larger, smaller unit", "upcast", "", "upcast", "C++: upcast<N>(layout), downcast<N>(layout)"),
    Named("atom of wgmma", "", "nvgpu.warpgroup.make_smem_layout_atom", "Layout_K_SW128_Atom", "namespace GMMA"),
    Named("atom of tcgen05", "", "nvgpu.tcgen05.make_smem_layout_atom", "Layout_K_SW128_Atom", "namespace UMMA"),
    Named("word of wgmma", "derive", "", "make_gmma_desc", "DSL: made inside gemm"),
    Named("word of tcgen05", "derive", "nvgpu.tcgen05.make_umma_smem_desc", "make_umma_desc", "C++: a SmemDescriptor"),
    Named(
        "TMA copy", "", "nvgpu.cpasync.make_tiled_tma_atom", "make_tma_copy", "C++: make_tma_atom for the atom alone"
    ),
    Named("wgmma: before", "", "nvgpu.warpgroup.fence", "warpgroup_arrive"),
    Named("wgmma: close a group", "", "nvgpu.warpgroup.commit_group", "warpgroup_commit_batch"),
    Named("wgmma: wait", "", "nvgpu.warpgroup.wait_group", "warpgroup_wait", "C++: warpgroup_wait<N>()"),
)


def table() -> str:
    """The names as an HTML table.

    >>> table().count("<tr>") == len(ROWS) + 1
    True
    """
    head = "".join(f'<th scope="col">{one}</th>' for one in ("what", "here", "CuTe DSL", "CuTe C++", "differs"))
    lines = []
    for row in ROWS:
        names = "".join(f"<td><code>{escape(name)}</code></td>" for name in (row.ours, row.dsl, row.cpp))
        lines.append(f"<tr><td>{escape(row.what)}</td>{names}<td>{escape(row.differs)}</td></tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


#: How long a session is, in minutes, and how many students a course is made for.
SESSION, SEATS = 90, 60


@dataclass(frozen=True, slots=True)
class Session:
    """A session: what it is about, and the number of its first lesson."""

    name: str
    first: int


#: The sessions, in order.
SESSIONS = (
    Session("1. Layouts are functions", 1),
    Session("2. Sizes and composition", 3),
    Session("3. What is left over, and tiles", 5),
    Session("4. Memory", 7),
    Session("5. What the tensor core reads", 9),
    Session("6. Mend words, multiply", 10),
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
    return standalone("For the teacher", f"<main>{text}</main>", "teacher", ["sheet.css", "teacher.css"])


def megabytes(count: int) -> str:
    """A number of bytes for a person, rounded up.

    >>> megabytes(1_240_000), megabytes(20)
    ('1.3 MB', '0.1 MB')
    """
    tenths = -(-count // 100_000)
    return f"{tenths // 10}.{tenths % 10} MB"


def by_session(course: Sequence[Lesson]) -> list[tuple[Session, list[Lesson]]]:
    """The sessions that have lessons yet, each with its lessons.

    >>> from descriptors.course.catalog import lessons
    >>> [(session.name, len(held)) for session, held in by_session(lessons()) if session.first == 1]
    [('1. Layouts are functions', 2)]
    """
    ends = [*(session.first for session in SESSIONS[1:]), 1000]
    pairs = [(one, [x for x in course if one.first <= x.number < end]) for one, end in zip(SESSIONS, ends, strict=True)]
    return [(session, held) for session, held in pairs if held]


def sessions(course: Sequence[Lesson]) -> str:
    """The table of sessions as HTML: each lesson with its aim and minutes, and the minutes of the session."""
    lines = []
    for session, lessons in by_session(course):
        for one in lessons:
            title = f'<a href="#lesson-{one.number}">{one.number}. {escape(one.title)}</a>'
            cells = f"<td>{title}</td><td>{inline(one.aim)}</td>" + "".join(
                f'<td class="number">{count}</td>' for count in (one.minutes, exercise_minutes(one))
            )
            lines.append(f"<tr><td>{escape(session.name) if one is lessons[0] else ''}</td>{cells}</tr>")
        minutes = sum(one.minutes for one in lessons)
        lines.append(f'<tr class="sum"><td></td><td colspan="4">{minutes} of {SESSION} minutes</td></tr>')
    head = "".join(
        f'<th scope="col">{one}</th>' for one in ("session", "lesson", "aim", "minutes", "of these exercises")
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _lesson(lesson: Lesson) -> str:
    steps, expected, paper = script(lesson)
    items = "".join(f"<li>{inline(step)}</li>" for step in steps)
    wrong = "".join(
        f"<tr><td>{where}</td><td><code>{escape(mine)}</code></td><td>{inline(says)}</td><td>{inline(hint)}</td></tr>"
        for where, mine, says, hint in slips(lesson)
    )
    head = "".join(f'<th scope="col">{one}</th>' for one in ("exercise", "answer", "what is wrong", "ask"))
    last = len(lesson.exercises)
    own = [f"{lesson.number}.{k}" for k, one in enumerate(lesson.exercises, 1) if one.line]
    different = (
        f"All do {lesson.number}.1, {lesson.number}.2, and for their multiplication {', '.join(own)}; the others are "
        "for whoever has time. Who is stuck begins with the first hint, on paper."
    )
    rows = {"Cures": inline(lesson.misconception), "Slips": inline(expected), "On paper": inline(paper)}
    rows["For whom"] = different
    terms = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows.items() if value)
    slides = f'<a href="{lesson.number:02}-slides.html">Slides</a>'
    return (
        f'<article id="lesson-{lesson.number}"><h3>{lesson.number}. {escape(lesson.title)}</h3>'
        f"<p>Aim: {inline(lesson.aim)}. {lesson.minutes} minutes, {last} exercises. {slides}</p><ul>{items}</ul>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{wrong}</tbody></table><dl>{terms}</dl></article>"
    )
