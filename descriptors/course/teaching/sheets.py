"""What stands on the slides of a lesson: a rule over its source, and nothing typed twice.

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
>>> made = sheets(parse(EXAMPLE))
>>> [sheet.kind for sheet in made]
['title', 'idea', 'exercise', 'vote', 'cure', 'words']
>>> made[1].lines, made[-1].lines
(('*step*: how far the next element lies',), ('*step*: how far the next element lies',))
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from descriptors.course.grading import grade
from descriptors.course.source import FIGURES, Lesson, Part, Vote
from descriptors.course.teaching.notes import script

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
    told = (*steps, *([f"Expect: {expected}"] if expected else []))
    made = [Sheet("title", lesson.title, (f"Aim: {lesson.aim}",), notes=told)]
    made += _ideas(lesson)
    made += [_exercise(lesson, number) for number in range(1, len(lesson.exercises) + 1)]
    made += [_vote(one) for one in votes(lesson)]
    made.append(Sheet("cure", "What many believe", tuple(sentences(lesson.misconception))))
    words = tuple(f"*{word}*: {meaning}" for word, meaning in lesson.words)
    return [*made, Sheet("words", "New words", words)] if words else made


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
    for part in lesson.parts:
        if part.kind == "text":
            yield from _idea(lesson, waiting.text, waiting.slide)
            *whole, last = _stretches(part.text)
            for text, code in whole:
                yield from _idea(lesson, text, "", code)
            if last[1]:
                yield from _idea(lesson, last[0], part.slide, last[1])
            waiting = Part("text", "" if last[1] else last[0], part.slide)
        elif part.kind in FIGURES:
            yield from _idea(lesson, waiting.text, waiting.slide, figure=part)
            waiting = Part("text", "")
    yield from _idea(lesson, waiting.text, waiting.slide)


def _stretches(text: str) -> list[tuple[str, str]]:
    """The text before each example, and the example; what follows the last one has none."""
    found: list[tuple[str, str]] = []
    said = ""
    for k, piece in enumerate(_FENCED.split(text)):
        if k % 2:
            found.append((said, piece.strip("\n")))
        said = "" if k % 2 else piece.strip()
    return [*found, (said, "")] if said else found


def _idea(lesson: Lesson, text: str, slide: str, code: str = "", figure: Part | None = None) -> Iterator[Sheet]:
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


def _exercise(lesson: Lesson, number: int) -> Sheet:
    one = lesson.exercises[number - 1]
    notes = (
        f"Right: `{one.solution}`. {one.why}",
        *(f"`{mine}`: your answer {grade(one, mine)}" for mine, _ in one.wrong),
    )
    return Sheet("exercise", f"{lesson.number}.{number} {one.name}", (one.ask,), one.starter, notes=notes)


def _vote(vote: Vote) -> Sheet:
    told = [grade(vote, choice) for choice in vote.choices]
    right = told.index(None)
    notes = (f"`{mine}`: your answer {says}" for mine, says in zip(vote.choices, told, strict=True) if says)
    return Sheet("vote", "Hands up", (vote.ask,), choices=vote.choices, right=right, notes=tuple(notes))
