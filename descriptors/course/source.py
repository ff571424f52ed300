"""Parse lessons: Markdown with fenced blocks, one file `NN-name.md` per lesson.

The first block is `lesson`, in TOML: title, aim, minutes, misconception, teacher, and the new terms. A `figure` is an
expression whose layout is drawn, a `picture` lines of Python that make one. An `exercise`, in TOML, is followed by
three `hint` blocks, a `solution` (the answer, a line of three dashes, the reason) and a `wrong` block with lines of the
form ``answer -> message of the judge -> the mistake that leads to it``. An exercise with a ``line`` is a part of the
multiplication that each student builds in a file; ``line`` is the name of its line there. A `cute` block shows the
preceding idea in CuTe C++, a line of three dashes, and the CuTe DSL. A `vote`, in TOML, is a question for a show of
hands; its judge accepts exactly one of its choices. A `slide` has a heading after ``#`` and lines of text, and shows a
figure or an example that directly follows it. Votes and slides are for the teacher and are not on the lesson's page.

Invariant: the parts of a lesson are in the order of its text.

>>> lesson = parse(EXAMPLE)
>>> lesson.title, [part.kind for part in lesson.parts], lesson.exercises[0].wrong[0]
('Steps', ['text', 'figure', 'exercise'], ('2:3', 'is 3 at index 1', 'the end of the first is taken for the next'))
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from descriptors.errors import DescriptorError
from layoutalg.frozen import frozen

#: The smallest lesson that the parser accepts.
EXAMPLE = """
```lesson
title = "Steps"
aim = "take a step"
minutes = 5
misconception = "steps are sizes"
teacher = "Walk."
words = { step = "how far the next element lies" }
```
A *step* is how far the next element lies.
```slide
# A step
From 0 to 4.
```
```figure
2:4
```
```exercise
name = "two"
ask = "Two elements, 4 apart."
judge = "function"
operands = ["2:4"]
starter = "2:?"
```
```hint
one
```
```hint
two
```
```hint
three
```
```solution
2:4
---
The second lies at 4.
```
```wrong
2:3 -> is 3 at index 1 -> the end of the first is taken for the next
```
```vote
ask = "Where does the second of `2:4` lie?"
judge = "numbers"
operands = ["(2:4)(1)"]
choices = ["1", "2", "4"]
```
"""

#: The blocks that are shown.
FIGURES = ("figure", "picture")

_FENCE = re.compile(
    r"^```(lesson|figure|picture|cute|exercise|hint|solution|wrong|vote|slide)\n(.*?)^```$\n?", re.M | re.S
)
_BELONGING = ("hint", "solution", "wrong")
_EXERCISE = {"name", "ask", "judge", "operands", "starter"}
_VOTE = {"ask", "judge", "operands", "choices"}
_LESSON = {"title", "aim", "minutes", "misconception", "teacher", "words"}


@frozen
class Exercise:
    """An exercise: a question, the judge of its answers, hints, and known wrong answers. Answers are texts as typed."""

    name: str
    ask: str
    judge: str
    operands: tuple[Any, ...]
    starter: str
    size: int | None
    hints: tuple[str, ...]
    solution: str
    why: str
    wrong: tuple[tuple[str, str, str], ...]
    line: str = ""

    def mistake(self, answer: str) -> str | None:
        """Return the mistake that leads to an answer, if the lesson lists it; otherwise None.

        For a list of numbers, an answer with the same first wrong number counts as listed.

        >>> parse(EXAMPLE).exercises[0].mistake(" 2 : 3")
        'the end of the first is taken for the next'
        """
        mistakes = {_normalized(wrong): mistake for wrong, _, mistake in self.wrong}
        mistakes_at = {self._first_difference(wrong): mistake for wrong, _, mistake in reversed(self.wrong)}
        return mistakes.get(_normalized(answer)) or (
            mistakes_at.get(position) if (position := self._first_difference(answer)) else None
        )

    def _first_difference(self, answer: str) -> tuple[int, str] | None:
        """Return the position and value of the first number that differs from the solution, or None."""
        right, numbers = (_NUMBERS.split(text.strip(" ()[].")) for text in (self.solution, answer))
        if len(right) < 2 or len(numbers) != len(right) or not all(map(str.isdecimal, [*right, *numbers])):
            return None
        return next(((k, m) for k, (r, m) in enumerate(zip(right, numbers, strict=True)) if m != r), None)


_NUMBERS = re.compile(r"[,;\s]+")


def _normalized(answer: str) -> str:
    """Return an answer without spaces, outer brackets and case."""
    return "".join(answer.split()).strip("[]").casefold()


@frozen
class Vote:
    """A question for a show of hands; its judge accepts exactly one of the choices."""

    ask: str
    judge: str
    operands: tuple[Any, ...]
    choices: tuple[str, ...]
    size: int | None = None


@frozen
class Part:
    """A part of a lesson: ``text``, a ``figure`` or ``picture`` (see ``figures``), ``cute``, or an ``exercise``."""

    kind: str
    text: str


@frozen
class Slide:
    """A slide: its heading, its lines, and the figure or example that directly follows it, if there is one."""

    heading: str
    lines: tuple[str, ...]
    shown: Part | None = None


@frozen
class Lesson:
    """A lesson: its aim, its parts in order, its exercises, votes and slides."""

    number: int
    title: str
    aim: str
    minutes: int
    misconception: str
    teacher: str
    words: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
    exercises: tuple[Exercise, ...]
    votes: tuple[Vote, ...] = ()
    slides: tuple[Slide, ...] = ()


def parse(text: str, number: int = 1) -> Lesson:
    """Parse a lesson.

    Args:
        text: the text of the file.
        number: the number of the lesson.

    Raises:
        DescriptorError: if a block is missing, misplaced or malformed.

    >>> parse("# no lesson")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: lesson 1: the first block is not `lesson`; '# no lesson'
    """
    blocks = list(_blocks(text))
    if not blocks or blocks[0][0] != "lesson":
        raise DescriptorError(f"lesson {number}: the first block is not `lesson`; {text.strip()[:40]!r}")
    head = _table(blocks[0][1], _LESSON, set(), f"lesson {number}")
    parts: list[Part] = []
    exercises: list[Exercise] = []
    votes: list[Vote] = []
    slides: list[Slide] = []
    rest = blocks[1:]
    while rest:
        kind, body = rest.pop(0)
        match kind:
            case "exercise":
                belonging, rest = _until_text(rest)
                exercises.append(_exercise(body, belonging, f"lesson {number}, exercise {len(exercises) + 1}"))
                parts.append(Part(kind, str(len(exercises))))
            case "vote":
                votes.append(_vote(body, f"lesson {number}, vote {len(votes) + 1}"))
            case "slide":
                slides.append(_slide(body, rest, f"lesson {number}, slide {len(slides) + 1}"))
            case "hint" | "solution" | "wrong" | "lesson":
                raise DescriptorError(f"lesson {number}: a block `{kind}` does not belong to an exercise")
            case _:
                parts.append(Part(kind, body.strip()))
    head |= {"words": tuple(head.pop("words").items()), "votes": tuple(votes), "slides": tuple(slides)}
    return Lesson(number, parts=tuple(parts), exercises=tuple(exercises), **head)


def _slide(body: str, rest: list[tuple[str, str]], place: str) -> Slide:
    """Return a slide with the figure or example that follows it."""
    heading, *lines = body.strip().splitlines() or [""]
    if not heading.startswith("# "):
        raise DescriptorError(f"{place}: the first line {heading[:40]!r} is not a heading after `#`")
    kind, text = rest[0] if rest else ("", "")
    shown = Part(kind, text.strip()) if kind in FIGURES else None
    example = re.match(r"\s*^```python\n(.*?)^```$", text, re.M | re.S) if kind == "text" else None
    return Slide(heading[2:], tuple(lines), Part("python", example[1].strip()) if example else shown)


def _blocks(text: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of a lesson and the text between them, in order."""
    blocks, end = [], 0
    for match in _FENCE.finditer(text):
        blocks += [("text", text[end : match.start()]), (match[1], match[2])]
        end = match.end()
    return [(kind, body) for kind, body in [*blocks, ("text", text[end:])] if kind != "text" or body.strip()]


def _until_text(blocks: list[tuple[str, str]]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    end = next((k for k, (kind, _) in enumerate(blocks) if kind not in _BELONGING), len(blocks))
    return blocks[:end], blocks[end:]


def _exercise(body: str, belonging: list[tuple[str, str]], place: str) -> Exercise:
    head = _table(body, _EXERCISE, {"size", "line"}, place)
    kinds = [kind for kind, _ in belonging]
    if kinds != ["hint", "hint", "hint", "solution", "wrong"]:
        raise DescriptorError(
            f"{place}: the blocks of the exercise are {kinds}, not three hints, a solution and wrong answers"
        )
    *hints, (_, solution), (_, wrong) = belonging
    answer, _, why = solution.partition("\n---\n")
    wrong_answers = [_wrong_answer(line) for line in wrong.splitlines()]
    if not why or not all(map(all, wrong_answers)):
        raise DescriptorError(
            f"{place}: the solution has no reason, or a wrong answer has no message or no mistake after `->`"
        )
    hint_texts = tuple(hint.strip() for _, hint in hints)
    size = head.pop("size", None)
    return Exercise(
        size=size, hints=hint_texts, solution=answer.strip(), why=why.strip(), wrong=tuple(wrong_answers), **head
    )


def _wrong_answer(line: str) -> tuple[str, str, str]:
    """Parse a wrong answer, the message of its judge, and the mistake; three empty texts if a part is missing. ``\\n``
    is a new line.
    """
    pieces = [piece.strip() for piece in line.replace("\\n", "\n").split(" -> ")]
    return (pieces[0], pieces[1], pieces[2]) if len(pieces) == 3 else ("", "", "")


def _vote(body: str, place: str) -> Vote:
    head = _table(body, _VOTE, {"size"}, place)
    return Vote(choices=tuple(head.pop("choices")), **head)


def _table(body: str, needed: set[str], more: set[str], place: str) -> dict[str, Any]:
    try:
        table = tomllib.loads(body)
    except tomllib.TOMLDecodeError as error:
        raise DescriptorError(f"{place}: a block is not TOML; {error}") from error
    if not needed <= set(table) <= needed | more:
        raise DescriptorError(
            f"{place}: a block has the keys {', '.join(table)}; the keys are {', '.join(sorted(needed))}"
        )
    if "operands" in table:
        table["operands"] = tuple(tuple(item) if isinstance(item, list) else item for item in table["operands"])
    return table
