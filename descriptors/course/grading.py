"""What an answer is worth: judged by the law of the operation, by enumeration, or by what a tensor core would read.

No exercise has a key: the solution of its file is one right answer among others, and goes through the same judge.

Law: what is not right comes with a hint.

>>> from descriptors.course.source import EXAMPLE, parse
>>> (exercise,) = parse(EXAMPLE).exercises
>>> [grade(exercise, answer) for answer in ("2:4", "(2,1):(4,7)", "2:3")]
[None, None, 'is 3 at index 1, must be 4']

No two judges have one name.

>>> len(JUDGES) == sum(len(module.JUDGES) for module in _ROOM)
True
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from descriptors.course.catalog import find
from descriptors.course.judges import accesses, layouts, multiplication, order, threads, tiles, words
from descriptors.course.judges.answers import written_layout
from descriptors.course.source import Exercise, Vote
from descriptors.errors import DescriptorError
from layoutalg import LayoutError, broken_law, evaluate, law_names, size

_ROOM = (layouts, threads, accesses, tiles, words, order, multiplication)

#: The judges that are no law of one operation, by the names that exercises give.
JUDGES: dict[str, Callable[..., str | None]] = {
    name: judge for module in _ROOM for name, judge in module.JUDGES.items()
}


def grade(exercise: Exercise | Vote, answer: str) -> str | None:
    """What is wrong with an answer, as a hint; None if it is right.

    Args:
        exercise: the question, or a vote.
        answer: what the student typed.

    >>> from descriptors.course.source import EXAMPLE, parse
    >>> grade(parse(EXAMPLE).exercises[0], "2:?")
    'is still to be filled in: 2:?'
    """
    mine = re.sub(rf"^{exercise.line} *= *", "", answer.strip()) if isinstance(exercise, Exercise) else answer.strip()
    if not attempted(mine):
        return f"is still to be filled in: {' '.join(mine.split())[:60]}"
    try:
        if exercise.judge in law_names():
            wrong = broken_law(exercise.judge, written_layout(mine), *map(_operand, exercise.operands))
        else:
            wrong = JUDGES[exercise.judge](mine, *exercise.operands)
        if wrong is None and exercise.size is not None and size(written_layout(mine)) != exercise.size:
            wrong = f"has {size(written_layout(mine))} elements, must have {exercise.size}"
    except (LayoutError, DescriptorError) as error:
        return f"cannot be read: {str(error).removeprefix('answer: ')}"
    return wrong


#: How a verdict begins on what is no answer at all, whatever the question.
_UNREAD = "your answer cannot be read"


def attempt(answer: str, judgement: str) -> bool:
    """Whether an answer was an attempt: nothing is left to be filled in, and its verdict is on an answer.

    >>> attempt("8:1", "right"), attempt("x", check("5.1", "x")), attempt("?:1", check("5.1", "?:1"))
    (True, False, False)
    """
    return attempted(answer) and not judgement.startswith(_UNREAD)


def attempted(answer: str) -> bool:
    """Whether anything was tried: nothing is left to be filled in.

    >>> attempted("(4,?):(1,?)"), attempted("(4,8):(1,4)")
    (False, True)
    """
    return "?" not in answer


def check(where: str, answer: str) -> str:
    """What an answer to the exercise of a place is worth, as a notebook's cell asks it.

    >>> check("5.1", "6:1")[:75]
    'your answer reaches offset 2 twice: by (a 0, yours 2) and by (a 1, yours 0)'
    >>> check("5.1", "(3,2):(6,1)")
    'right'
    """
    return verdict(find(where), answer)


def verdict(exercise: Exercise, answer: str) -> str:
    """What a student is told of an answer: where it is wrong, and the slip that leads there, where that is known.

    >>> from descriptors.course.source import EXAMPLE, parse
    >>> verdict(parse(EXAMPLE).exercises[0], "2:3")
    'your answer is 3 at index 1, must be 4. Perhaps: the end of the first is taken for the next.'
    """
    wrong, slip = grade(exercise, answer), exercise.slip(answer)
    if wrong and not slip and exercise.judge == "numbers":
        slip = layouts.reading(answer, *exercise.operands)
    if wrong and not slip and (short := re.search(r"\b0x[0-9a-f]{14,15}\b|\b0x[0-9a-f]{17,}\b", answer.lower())):
        slip = f"a word has 16 hexadecimal digits, this one {len(short[0]) - 2}"
    return f"your answer {wrong}{f'. Perhaps: {slip}.' if slip else ''}" if wrong else "right"


def _operand(value: Any) -> Any:
    return evaluate(value) if isinstance(value, str) else value
