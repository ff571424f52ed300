"""What is right, operation by operation: the post-condition of every answer and the reason for every refusal.

:func:`broken` says where an answer breaks the definition of its operation, which is the public law of
``layoutalg.laws``; :func:`fault` also where it breaks a promise of this project (the form of the answer, or that there
is one). Both by enumeration, with no algorithm of the algebra at work.
"""

from __future__ import annotations

from typing import Any

from exact import EXACT
from house import POSSIBLE, PROMISES
from notation import essential, spelt
from texts import TEXTS

from layoutalg.laws.law import WITH_OFFSET, breach, law_names
from layoutalg.laws.points import NoAnswerError, TooLargeError

REFUSED = object()  # in place of an answer

OPERATIONS = sorted({*law_names(), *TEXTS})


def fault(operation: str, arguments: tuple[Any, ...], answer: Any) -> str | None:
    """What is wrong with an answer (or with :data:`REFUSED`); None if it is right.

    Raises:
        TooLargeError: if the enumeration would be too long.
    """
    possible = _possible(operation, arguments)
    if answer is REFUSED:
        return "refused, though there is an answer" if possible else None
    if possible is False:
        return f"found {spelt(answer)}, but there is no answer"
    return broken(operation, arguments, answer) or _form(operation, arguments, answer)


def _possible(operation: str, arguments: tuple[Any, ...]) -> bool | None:
    """Whether there is an answer; None where nobody knows."""
    for table in (EXACT, TEXTS):
        if operation in table:
            return table[operation](*arguments) is not None
    return POSSIBLE[operation](*arguments)


def _form(operation: str, arguments: tuple[Any, ...], answer: Any) -> str | None:
    if operation in EXACT or operation in TEXTS:
        right = EXACT[operation](*arguments) if operation in EXACT else spelt(TEXTS[operation](*arguments))
        return None if spelt(answer) == right else f"found {spelt(answer)}, the form is {right}"
    promise = PROMISES.get(operation)
    return promise(answer, *arguments) if promise else None


def broken(operation: str, arguments: tuple[Any, ...], answer: Any) -> str | None:
    """Where an answer breaks the definition of the operation; None if nowhere.

    Raises:
        TooLargeError: if the enumeration would be too long.
    """
    if operation in TEXTS:
        right = TEXTS[operation](*arguments)
        agrees = right is not None and spelt(essential(answer)) == spelt(essential(right))
        return None if agrees else f"found {spelt(answer)}, must be {spelt(right)}"
    try:
        return breach(operation, arguments, answer)
    except NoAnswerError:
        return f"found {spelt(answer)}, but there is no answer"


__all__ = ["OPERATIONS", "REFUSED", "WITH_OFFSET", "TooLargeError", "broken", "fault", "spelt"]
