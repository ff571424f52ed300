"""The slides of a lesson: one HTML file, for a beamer and for print, with the speaker's notes behind a key.

What stands on them is a rule over the lesson's source, and nothing is typed twice:

- The title with the aim; in the speaker's notes, the teacher's.
- An idea for each *stretch* of the text: down to the example or the figure that ends it. It says the words that the
  stretch defines (in italics) as the glossary does, and its sentences with bold words; or else its first sentence. A
  block `slide` says something else instead, a line each, the first as the heading if it begins with ``#``. What is too
  long to stand beside its figure or example, or has a table, has a slide before it. The whole text is in the notes.
- Every exercise, to be done by hand first; in the notes, what is right and what wrong answers are told.
- The votes; a lesson without any votes on its first exercise.
- The misconception that the lesson cures, and its new words.

Law: each exercise has its slide, and each new word stands on the last one.

>>> from descriptors.course.source import EXAMPLE, parse
>>> slides = sheets(parse(EXAMPLE))
>>> [sheet.kind for sheet in slides]
['title', 'idea', 'exercise', 'vote', 'cure', 'words']
>>> slides[1].lines, slides[-1].lines
(('*step*: how far the next element lies',), ('*step*: how far the next element lies',))

Without its script the file is a page to scroll; it has a slide each, and the right choice of a vote is folded.

>>> text = deck(parse(EXAMPLE))
>>> text.count('<section class="sheet'), "<summary>answer</summary><p>C: <code>4</code></p>" in text
(6, True)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape

from builder.markup import inline, markdown, part, standalone
from builder.teacher import script
from descriptors.course.figures import figure
from descriptors.course.grading import grade
from descriptors.course.source import FIGURES, Lesson, Part, Vote

_FENCED = re.compile(r"^```\w*\n(.*?)^```$\n?", re.M | re.S)
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z*`(])")
_PARAGRAPH = re.compile(r"\n\n(?:- |\d{1,2}\. )?|(?:^|\n)(?:- |\d{1,2}\. )")
_TABLE = re.compile(r"^\|.*\n?", re.M)
_HEADING = re.compile(r"^#+ (.+)\n?", re.M)
_BOLD = re.compile(r"\*\*[^*]+\*\*")
#: How many words may stand beside a figure, and beside an example.
BESIDE = (30, 60)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A slide: what kind it is, what it says, and what the speaker says.

    ``figure`` is the part of the lesson that is drawn; ``choices`` are those of a vote, and ``right`` is which of them
    is.
    """

    kind: str
    heading: str
    lines: tuple[str, ...] = ()
    code: str = ""
    table: str = ""
    figure: Part | None = None
    choices: tuple[str, ...] = ()
    right: int = 0
    notes: tuple[str, ...] = ()


def sheets(lesson: Lesson) -> list[Sheet]:
    """The slides of a lesson, in order."""
    steps, expected, _ = script(lesson)
    notes = (*steps, *([f"Expect: {expected}"] if expected else []))
    slides = [Sheet("title", lesson.title, (f"Aim: {lesson.aim}",), notes=notes)]
    slides += _ideas(lesson)
    slides += [_exercise_sheet(lesson, number) for number in range(1, len(lesson.exercises) + 1)]
    slides += [_vote_sheet(one) for one in votes(lesson)]
    slides.append(Sheet("cure", "What many believe", tuple(sentences(lesson.misconception))))
    words = tuple(f"*{word}*: {meaning}" for word, meaning in lesson.words)
    return [*slides, Sheet("words", "New words", words)] if words else slides


def votes(lesson: Lesson) -> tuple[Vote, ...]:
    """The votes of a lesson, or one on its first exercise: the solution among wrong answers.

    >>> from descriptors.course.source import EXAMPLE, parse
    >>> [vote.choices for vote in votes(parse(EXAMPLE.partition("```vote")[0]))]
    [('2:3', '2:4')]
    """
    if lesson.votes:
        return lesson.votes
    first = lesson.exercises[0]
    choices = sorted({first.solution, *(answer for answer, _ in first.wrong[:3])})
    return (Vote(first.ask, first.judge, first.operands, tuple(choices), first.size),)


def sentences(text: str) -> list[str]:
    """The sentences of a text; an item of a list begins a new one, and headings are none.

    >>> sentences("It is so. `a:b` is *this*: A stride." + chr(10) + "- One." + chr(10) + "- Two.")
    ['It is so.', '`a:b` is *this*:', 'A stride.', 'One.', 'Two.']
    """
    whole = (" ".join(piece.split()) for piece in _PARAGRAPH.split(_HEADING.sub("\n\n", text)))
    return [one for piece in whole if piece for one in _SENTENCE.split(piece)]


def _ideas(lesson: Lesson) -> Iterator[Sheet]:
    waiting = Part("text", "")
    for one in lesson.parts:
        if one.kind == "text":
            yield from _idea_sheets(lesson, waiting.text, waiting.slide)
            *whole, last = _stretches(one.text)
            for text, code in whole:
                yield from _idea_sheets(lesson, text, "", code)
            if last[1]:
                yield from _idea_sheets(lesson, last[0], one.slide, last[1])
            waiting = Part("text", "" if last[1] else last[0], one.slide)
        elif one.kind in FIGURES:
            yield from _idea_sheets(lesson, waiting.text, waiting.slide, figure=one)
            waiting = Part("text", "")
    yield from _idea_sheets(lesson, waiting.text, waiting.slide)


def _stretches(text: str) -> list[tuple[str, str]]:
    """The text before each example, and the example; what follows the last one has none."""
    stretches: list[tuple[str, str]] = []
    said = ""
    for k, piece in enumerate(_FENCED.split(text)):
        if k % 2:
            stretches.append((said, piece.strip("\n")))
        said = "" if k % 2 else piece.strip()
    return [*stretches, (said, "")] if said else stretches


def _idea_sheets(lesson: Lesson, text: str, slide: str, code: str = "", figure: Part | None = None) -> Iterator[Sheet]:
    """What a stretch says and shows: on one slide, or on two; nothing if it is a heading alone."""
    defined = [(word, meaning) for word, meaning in lesson.words if _italic(word).search(text)]
    said, table = sentences(_TABLE.sub("", text)), "".join(_TABLE.findall(text))
    lines = [f"*{word}*: {meaning}" for word, meaning in defined] + [one for one in said if _BOLD.search(one)]
    named = ", ".join(word for word, _ in defined) or next(iter(_HEADING.findall(text)), "")
    if slide:
        lines = slide.splitlines()
        named = lines.pop(0).lstrip("# ") if lines[0].startswith("#") else named
    elif not lines:
        lines = said[:1]
    heading = named[:1].upper() + named[1:] or lesson.title
    notes = tuple(text.split("\n\n"))
    if (table or len(" ".join(lines).split()) > BESIDE[code != ""]) and (code or figure):
        yield Sheet("idea", heading, tuple(lines), table=table, notes=notes)
        lines, table = [], ""
    if lines or table or code or figure:
        yield Sheet("idea", heading, tuple(lines), code, table, figure, notes=notes)


def _italic(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\*)\*{re.escape(word)}s?\*(?!\*)", re.I)


def _exercise_sheet(lesson: Lesson, number: int) -> Sheet:
    one = lesson.exercises[number - 1]
    notes = (
        f"Right: `{one.solution}`. {one.why}",
        *(f"`{mine}`: your answer {grade(one, mine)}" for mine, _ in one.wrong),
    )
    return Sheet("exercise", f"{lesson.number}.{number} {one.name}", (one.ask,), one.starter, notes=notes)


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
    body = f'<pre tabindex="0">{escape(sheet.code)}</pre>' if sheet.code else ""
    if sheet.figure:
        body = f"<figure>{figure(sheet.figure.kind, sheet.figure.text).svg()}</figure>"
    return _terms(sheet) + (markdown(sheet.table) if sheet.table else "") + body


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
    cure = "".join(f"<p>{inline(line)}</p>" for line in rest)
    return f'<p class="believed"><span class="way">Not so:</span> {inline(believed)}</p><p class="way">But:</p>{cure}'


_BODIES: dict[str, Callable[[Sheet], str]] = {
    "title": _lines,
    "idea": _idea,
    "exercise": _exercise,
    "vote": _vote,
    "cure": _cure,
    "words": _terms,
}
