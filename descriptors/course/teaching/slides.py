"""The slides of a lesson: one HTML file, for a beamer and for print, with the speaker's notes behind a key.

What stands on them is said by :mod:`descriptors.course.teaching.sheets`. Without its script the file is a page to
scroll. Law: a slide each, and the right choice of a vote is folded.

>>> from descriptors.course.source import EXAMPLE, parse
>>> made = deck(parse(EXAMPLE))
>>> made.count('<section class="sheet'), "<summary>answer</summary><p>C: <code>4</code></p>" in made
(6, True)
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from descriptors.course.figures import figure
from descriptors.course.markup import inline, markdown, part
from descriptors.course.source import Lesson
from descriptors.course.teaching.documents import document
from descriptors.course.teaching.sheets import Sheet, sheets

_LETTERS = "ABCDEFGH"


def deck(lesson: Lesson) -> str:
    """The slides of a lesson as an HTML document."""
    made = sheets(lesson)
    name = f"{lesson.number}. {lesson.title}"
    sections = "".join(_section(name, sheet, number, len(made)) for number, sheet in enumerate(made, 1))
    body = part("slides.html", sheets=sections, count=str(len(made)))
    return document(name, body, "slides", ["sheet.css", "slides.css"], "slides.js")


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
    much = sum(map(len, (*sheet.lines, *sheet.choices, sheet.table))) + 60 * sheet.code.count("\n")
    return " longer" if much > 750 else " long" if much > 380 else ""


def _lines(sheet: Sheet) -> str:
    return "".join(f"<p>{inline(line)}</p>" for line in sheet.lines)


def _terms(sheet: Sheet) -> str:
    """Words with their meanings as a list; other lines as they are."""
    pieces, listed = [], False
    for line in sheet.lines:
        word, _, meaning = line.partition(": ")
        term = word.startswith("*") and not word.startswith("**") and word.endswith("*")
        if term != listed:
            pieces.append("<dl>" if term else "</dl>")
        pieces.append(f"<dt>{inline(word)}</dt><dd>{inline(meaning)}</dd>" if term else f"<p>{inline(line)}</p>")
        listed = term
    return "".join(pieces) + ("</dl>" if listed else "")


def _idea(sheet: Sheet) -> str:
    shown = f'<pre tabindex="0">{escape(sheet.code)}</pre>' if sheet.code else ""
    if sheet.figure:
        shown = f"<figure>{figure(sheet.figure.kind, sheet.figure.text).svg()}</figure>"
    return _terms(sheet) + (markdown(sheet.table) if sheet.table else "") + shown


def _exercise(sheet: Sheet) -> str:
    return (
        f'<p class="way">By hand first, in pairs</p>{_lines(sheet)}'
        f'<p class="starter"><code>{escape(sheet.code)}</code></p>'
    )


def _vote(sheet: Sheet) -> str:
    choices = "".join(f"<li><code>{escape(choice)}</code></li>" for choice in sheet.choices)
    right = f"{_LETTERS[sheet.right]}: <code>{escape(sheet.choices[sheet.right])}</code>"
    folded = f"<details><summary>answer</summary><p>{right}</p></details>"
    return f'{_lines(sheet)}<ol class="choices">{choices}</ol>{folded}'


def _cure(sheet: Sheet) -> str:
    """A misconception: its first sentence is what is believed, the others what is so."""
    believed, *rest = sheet.lines
    told = "".join(f"<p>{inline(line)}</p>" for line in rest)
    return f'<p class="believed"><span class="way">Not so:</span> {inline(believed)}</p><p class="way">But:</p>{told}'


_BODIES: dict[str, Callable[[Sheet], str]] = {
    "title": _lines,
    "idea": _idea,
    "exercise": _exercise,
    "vote": _vote,
    "cure": _cure,
    "words": _terms,
}
