"""The slides of a lesson: one HTML file, for a beamer and for print, with the speaker's notes behind a key.

The author of a lesson writes them, a block `slide` each: no slide is cut out of a text. Around them stand the title
with the aim and the teacher's notes, the list of exercises, the votes, and the misconception that the lesson cures.

Law: each slide of the source is one, with the figure or example that follows it there.

>>> from descriptors.course.source import EXAMPLE, parse
>>> slides = sheets(parse(EXAMPLE))
>>> [sheet.kind for sheet in slides], slides[1].lines
(['title', 'idea', 'exercises', 'vote', 'cure'], ('From 0 to 4.',))

Without its script the file is a page to scroll; it has a slide each, and the right choice of a vote is folded.

>>> text = deck(parse(EXAMPLE))
>>> text.count('<section class="sheet'), "<summary>answer</summary><p>C: <code>4</code></p>" in text
(5, True)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from builder.markup import inline, part, standalone
from builder.teacher import script
from descriptors.course.figures import figure
from descriptors.course.grading import grade
from descriptors.course.source import Lesson, Part, Vote

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A slide: what kind it is, what it says, and what the speaker says.

    ``shown`` is the figure or example of the lesson that stands on it; ``choices`` are those of a vote, and ``right``
    is which of them is.
    """

    kind: str
    heading: str
    lines: tuple[str, ...] = ()
    shown: Part | None = None
    choices: tuple[str, ...] = ()
    right: int = 0
    notes: tuple[str, ...] = ()


def sheets(lesson: Lesson) -> list[Sheet]:
    """The slides of a lesson, in order."""
    steps, expected, _ = script(lesson)
    notes = (*steps, *([f"Expect: {expected}"] if expected else []))
    names = tuple(f"{lesson.number}.{k} {one.name}" for k, one in enumerate(lesson.exercises, 1))
    return [
        Sheet("title", lesson.title, (f"Aim: {lesson.aim}",), notes=notes),
        *(Sheet("idea", one.heading, one.lines, one.shown) for one in lesson.slides),
        Sheet("exercises", "Exercises: by hand first, in pairs", names),
        *map(_vote_sheet, lesson.votes),
        Sheet("cure", "What many believe", tuple(_SENTENCE.split(lesson.misconception))),
    ]


def _vote_sheet(vote: Vote) -> Sheet:
    judgements = [grade(vote, choice) for choice in vote.choices]
    right = judgements.index(None)
    notes = (f"`{mine}`: your answer {says}" for mine, says in zip(vote.choices, judgements, strict=True) if says)
    return Sheet("vote", "Hands up", (vote.ask,), choices=vote.choices, right=right, notes=tuple(notes))


_LETTERS = "ABCDEFGH"


def deck(lesson: Lesson) -> str:
    """The slides of a lesson as an HTML document."""
    slides = sheets(lesson)
    name = f"{lesson.number}. {lesson.title}"
    sections = "".join(_section(name, sheet, number, len(slides)) for number, sheet in enumerate(slides, 1))
    body = part("slides.html", sheets=sections, count=str(len(slides)))
    return standalone(name, body, "slides", ["sheet.css", "slides.css"], "slides.js")


def _section(name: str, sheet: Sheet, number: int, count: int) -> str:
    level = "h1" if sheet.kind == "title" else "h2"
    running = "" if sheet.kind == "title" else f'<p class="running">{escape(name)}</p>'
    heading = f'<{level} id="h{number}" tabindex="-1">{inline(sheet.heading)}</{level}>'
    notes = "".join(f"<p>{inline(note)}</p>" for note in sheet.notes) or "<p>No notes.</p>"
    kind = f"sheet {sheet.kind}{_length(sheet)}"
    return (
        f'<section class="{kind}" id="s{number}" aria-labelledby="h{number}">{running}{heading}'
        f'<div class="body">{_BODIES[sheet.kind](sheet)}</div>'
        f'<aside class="notes" aria-label="Notes of slide {number}">{notes}</aside>'
        f'<p class="number" aria-hidden="true">{number} / {count}</p></section>\n'
    )


def _length(sheet: Sheet) -> str:
    """The class of a slide with much on it, whose letters are smaller."""
    code = sheet.shown.text.count("\n") + 1 if sheet.shown and sheet.shown.kind == "python" else 0
    much = sum(map(len, (*sheet.lines, *sheet.choices))) + 45 * code
    return " longer" if much > 750 else " long" if much > 380 else ""


def _lines(sheet: Sheet) -> str:
    return "".join(f"<p>{inline(line)}</p>" for line in sheet.lines)


def _idea(sheet: Sheet) -> str:
    if sheet.shown is None:
        return _lines(sheet)
    if sheet.shown.kind == "python":
        return f'{_lines(sheet)}<pre tabindex="0">{escape(sheet.shown.text)}</pre>'
    return f"{_lines(sheet)}<figure>{figure(sheet.shown.kind, sheet.shown.text).svg()}</figure>"


def _exercises(sheet: Sheet) -> str:
    return f"<ul>{''.join(f'<li>{inline(line)}</li>' for line in sheet.lines)}</ul>"


def _vote(sheet: Sheet) -> str:
    choices = "".join(f"<li><code>{escape(choice)}</code></li>" for choice in sheet.choices)
    right = f"{_LETTERS[sheet.right]}: <code>{escape(sheet.choices[sheet.right])}</code>"
    folded = f"<details><summary>answer</summary><p>{right}</p></details>"
    return f'{_lines(sheet)}<ol class="choices">{choices}</ol>{folded}'


def _cure(sheet: Sheet) -> str:
    """A misconception: its first sentence is what is believed, the others what is so."""
    believed, *rest = sheet.lines
    cure = "".join(f"<p>{inline(line)}</p>" for line in rest)
    return f'<p class="believed"><span class="way">Not so:</span> {inline(believed)}</p><p class="way">But:</p>{cure}'


_BODIES: dict[str, Callable[[Sheet], str]] = {
    "title": _lines,
    "idea": _idea,
    "exercises": _exercises,
    "vote": _vote,
    "cure": _cure,
}
