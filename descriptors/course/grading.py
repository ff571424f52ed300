"""Grade answers to exercises: by the law of an operation, by enumeration, or by the addresses a tensor core reads.

Answers are not compared with a key: the solution in the file is one of several correct answers, and is graded by the
same judge.

Invariant: a wrong answer gets a hint.

>>> from descriptors.course.source import EXAMPLE, parse
>>> (exercise,) = parse(EXAMPLE).exercises
>>> [grade(exercise, answer) for answer in ("2:4", "(2,1):(4,7)", "2:3")]
[None, None, 'is 3 at index 1, must be 4']

Invariant: no two judges have the same name.

>>> len(JUDGES) == sum(len(module.JUDGES) for module in _JUDGE_MODULES)
True
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from descriptors.course.catalog import find
from descriptors.course.judges import accesses, layouts, multiplication, order, threads, tiles, words
from descriptors.course.judges.answers import plain, without_prose, written_layout
from descriptors.course.judges.layouts import says_none
from descriptors.course.source import Exercise, Vote
from descriptors.errors import DescriptorError
from layoutalg import LayoutError, broken_law, evaluate, law_names, size
from layoutalg.frozen import frozen

_JUDGE_MODULES = (layouts, threads, accesses, tiles, words, order, multiplication)

#: The judges other than laws of an operation, by the names that exercises use.
JUDGES: dict[str, Callable[..., str | None]] = {
    name: judge for module in _JUDGE_MODULES for name, judge in module.JUDGES.items()
}


@frozen
class GradedAnswer:
    """An answer with the verdict of its judge.

    Args:
        reading: the answer as it was read, without remarks and prose.
        hint: the mistake; None if the answer is correct.
        is_read: whether the answer could be read. If not, the hint says why.
    """

    reading: str
    hint: str | None
    is_read: bool = True


def grade(exercise: Exercise | Vote, answer: str) -> str | None:
    """Return a hint about the mistake in an answer; None if the answer is correct.

    Args:
        exercise: the exercise, or a vote.
        answer: the text that the student typed.

    >>> from descriptors.course.source import EXAMPLE, parse
    >>> grade(parse(EXAMPLE).exercises[0], "2:?")
    'is still to be filled in: 2:?'
    """
    return judge(exercise, answer).hint


def judge(exercise: Exercise | Vote, answer: str) -> GradedAnswer:
    """Return the judgement of an answer, which may have prose around it.

    >>> from descriptors.course.source import EXAMPLE, parse
    >>> judge(parse(EXAMPLE).exercises[0], "I think it is 2:4, because 4 is the step").reading
    '2:4'
    >>> judge(parse(EXAMPLE).exercises[0], "2:4 or 2:3").is_read
    False
    """
    text = plain(answer)
    if isinstance(exercise, Exercise):
        text = re.sub(rf"^{exercise.line} *= *", "", text)
    if not attempted(text):
        return GradedAnswer(text, f"is still to be filled in: {' '.join(text.split())[:60]}", False)
    judgement = _judge(exercise, text)
    reading = None if judgement.is_read else without_prose(text)
    if reading is not None and (second := _judge(exercise, reading)).is_read:
        return second
    return judgement


def _judge(exercise: Exercise | Vote, text: str) -> GradedAnswer:
    try:
        if exercise.judge in law_names():
            hint = broken_law(exercise.judge, written_layout(text), *map(_operand, exercise.operands))
        else:
            hint = JUDGES[exercise.judge](text, *exercise.operands)
        if hint is None and exercise.size is not None and size(written_layout(text)) != exercise.size:
            hint = f"has {size(written_layout(text))} elements, must have {exercise.size}"
    except (LayoutError, DescriptorError) as error:
        if says_none(text):
            return GradedAnswer(text, "says that there is none, but there is one")
        return GradedAnswer(text, f"cannot be read: {str(error).removeprefix('answer: ')}", False)
    return GradedAnswer(text, hint)


#: The beginning of a verdict on a text that cannot be parsed as an answer.
_UNREAD = "your answer cannot be read"


def attempt(answer: str, judgement: str) -> bool:
    """Return whether an answer counts as an attempt: it is filled in completely, and could be read.

    >>> attempt("8:1", "right"), attempt("x", check("5.1", "x")), attempt("?:1", check("5.1", "?:1"))
    (True, False, False)
    """
    return attempted(answer) and not judgement.startswith(_UNREAD)


def attempted(answer: str) -> bool:
    """Return whether an answer is filled in completely.

    >>> attempted("(4,?):(1,?)"), attempted("(4,8):(1,4)")
    (False, True)
    """
    return "?" not in answer


def check(where: str, answer: str) -> str:
    """Return the verdict on an answer to the exercise with a number such as 5.1, for a cell of a notebook.

    >>> check("5.1", "6:1")[:75]
    'your answer reaches offset 2 twice: by (a 0, yours 2) and by (a 1, yours 0)'
    >>> check("5.1", "(3,2):(6,1)")
    'right'
    """
    return verdict(find(where), answer)


def verdict(exercise: Exercise, answer: str) -> str:
    """Return the verdict for a student: the mistake in an answer, and its likely cause if that is known.

    >>> from descriptors.course.source import EXAMPLE, parse
    >>> verdict(parse(EXAMPLE).exercises[0], "2:3")
    'your answer is 3 at index 1, must be 4. Perhaps: the end of the first is taken for the next.'
    """
    judgement = judge(exercise, answer)
    hint, mistake = judgement.hint, mistake_of(exercise, judgement)
    return f"your answer {hint}{f'. Perhaps: {mistake}.' if mistake else ''}" if hint else "right"


def mistake_of(exercise: Exercise, judgement: GradedAnswer) -> str | None:
    """Return the likely cause of a wrong answer; None if it is not known, or the answer is correct."""
    answer = judgement.reading
    if judgement.hint is None:
        return None
    mistake = exercise.mistake(answer)
    if not mistake and exercise.judge == "numbers":
        mistake = layouts.reading(answer, *exercise.operands)
    if not mistake and (short := re.search(r"\b0x[0-9a-f]{14,15}\b|\b0x[0-9a-f]{17,}\b", answer.lower())):
        mistake = f"a word has 16 hexadecimal digits, this one {len(short[0]) - 2}"
    return mistake


def _operand(value: Any) -> Any:
    return evaluate(value) if isinstance(value, str) else value
