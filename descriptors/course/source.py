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
    """A question, the judge of its answers, and what helps; answers are texts, as a student types them."""

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

    def slip(self, answer: str) -> str | None:
        """The slip that leads to an answer: it is listed, or a list of numbers whose first wrong one stands in a list.

        >>> parse(EXAMPLE).exercises[0].slip(" 2 : 3")
        'the end of the first is taken for the next'
        """
        listed = {_bare(wrong): slip for wrong, _, slip in self.wrong}
        first = {self._first_wrong(wrong): slip for wrong, _, slip in reversed(self.wrong)}
        return listed.get(_bare(answer)) or (first.get(at) if (at := self._first_wrong(answer)) else None)

    def _first_wrong(self, answer: str) -> tuple[int, str] | None:
        """Where a list of numbers leaves the solution, and the number there."""
        right, mine = (_NUMBERS.split(one.strip(" ()[].")) for one in (self.solution, answer))
        if len(right) < 2 or len(mine) != len(right) or not all(map(str.isdecimal, [*right, *mine])):
            return None
        return next(((k, m) for k, (r, m) in enumerate(zip(right, mine, strict=True)) if m != r), None)


_NUMBERS = re.compile(r"[,;\s]+")


def _bare(answer: str) -> str:
    """An answer without what does not matter to a reader."""
    return "".join(answer.split()).strip("[]").casefold()


@frozen
class Vote:
    """A question for a show of hands, and its choices, one of which its judge accepts."""

    ask: str
    judge: str
    operands: tuple[Any, ...]
    choices: tuple[str, ...]
    size: int | None = None


@frozen
class Part:
    """A piece of a lesson: ``text``, a ``figure`` or ``picture`` (see ``figures``), ``cute``, an ``exercise``."""

    kind: str
    text: str


@frozen
class Slide:
    """A slide: its heading, its lines, and the example or figure that follows it in the lesson, if one does."""

    heading: str
    lines: tuple[str, ...]
    shown: Part | None = None


@frozen
class Lesson:
    """A lesson: what it is for, its parts in order, its exercises."""

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
        text: of the file.
        number: of the lesson.

    Raises:
        DescriptorError: if a block is missing, stands where it may not, or says what no block says.

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


def _slide(body: str, rest: list[tuple[str, str]], where: str) -> Slide:
    """A slide, which shows the figure or the example that comes next."""
    heading, *lines = body.strip().splitlines() or [""]
    if not heading.startswith("# "):
        raise DescriptorError(f"{where}: the first line {heading[:40]!r} is not a heading after `#`")
    kind, text = rest[0] if rest else ("", "")
    shown = Part(kind, text.strip()) if kind in FIGURES else None
    example = re.match(r"\s*^```python\n(.*?)^```$", text, re.M | re.S) if kind == "text" else None
    return Slide(heading[2:], tuple(lines), Part("python", example[1].strip()) if example else shown)


def _blocks(text: str) -> list[tuple[str, str]]:
    """Every fenced block of the lesson's own kinds, and the text between them, in order."""
    blocks, at = [], 0
    for match in _FENCE.finditer(text):
        blocks += [("text", text[at : match.start()]), (match[1], match[2])]
        at = match.end()
    return [(kind, body) for kind, body in [*blocks, ("text", text[at:])] if kind != "text" or body.strip()]


def _until_text(blocks: list[tuple[str, str]]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    end = next((k for k, (kind, _) in enumerate(blocks) if kind not in _BELONGING), len(blocks))
    return blocks[:end], blocks[end:]


def _exercise(body: str, belonging: list[tuple[str, str]], where: str) -> Exercise:
    head = _table(body, _EXERCISE, {"size", "line"}, where)
    kinds = [kind for kind, _ in belonging]
    if kinds != ["hint", "hint", "hint", "solution", "wrong"]:
        raise DescriptorError(
            f"{where}: the blocks of the exercise are {kinds}, not three hints, a solution and wrong answers"
        )
    *hints, (_, solution), (_, wrong) = belonging
    answer, _, why = solution.partition("\n---\n")
    slips = [_wrong(line) for line in wrong.splitlines()]
    if not why or not all(all(slip) for slip in slips):
        raise DescriptorError(
            f"{where}: the solution has no reason, or a wrong answer has no message or no mistake after `->`"
        )
    hint_texts = tuple(hint.strip() for _, hint in hints)
    size = head.pop("size", None)
    return Exercise(size=size, hints=hint_texts, solution=answer.strip(), why=why.strip(), wrong=tuple(slips), **head)


def _wrong(line: str) -> tuple[str, str, str]:
    """A wrong answer, the words of its judge and its slip, or nothing where one is missing; ``\\n`` is a new line."""
    pieces = [piece.strip() for piece in line.replace("\\n", "\n").split(" -> ")]
    return (pieces[0], pieces[1], pieces[2]) if len(pieces) == 3 else ("", "", "")


def _vote(body: str, where: str) -> Vote:
    head = _table(body, _VOTE, {"size"}, where)
    return Vote(choices=tuple(head.pop("choices")), **head)


def _table(body: str, needed: set[str], more: set[str], where: str) -> dict[str, Any]:
    try:
        table = tomllib.loads(body)
    except tomllib.TOMLDecodeError as error:
        raise DescriptorError(f"{where}: a block is not TOML; {error}") from error
    if not needed <= set(table) <= needed | more:
        raise DescriptorError(
            f"{where}: a block has the keys {', '.join(table)}; the keys are {', '.join(sorted(needed))}"
        )
    if "operands" in table:
        table["operands"] = tuple(tuple(one) if isinstance(one, list) else one for one in table["operands"])
    return table
