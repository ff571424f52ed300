"""What is right, operation by operation: the post-condition of every answer and the reason for every refusal.

:func:`fault` says what is wrong with an answer, or with refusing, by enumeration, with none of the package at work.
"""

from __future__ import annotations

from typing import Any

import judge
from exact import EXACT
from judge import TooLarge
from laws import LAWS, REFUSED


def fault(operation: str, arguments: tuple[Any, ...], answer: Any) -> str | None:
    """What is wrong with an answer (or with :data:`REFUSED`); None if it is right.

    Raises:
        TooLarge: if the enumeration would be too long.
    """
    if operation in EXACT:
        right = EXACT[operation](*arguments)
        found = None if answer is REFUSED else normal(answer)
        return None if found == right else f"found {found}, the right one is {right}"
    return LAWS[operation](answer, *arguments)


def normal(value: Any) -> Any:
    """A value in comparable form."""
    if hasattr(value, "shape") or hasattr(value, "bits"):
        return judge.normal(value)
    return tuple(map(normal, value)) if isinstance(value, tuple) else value


__all__ = ["REFUSED", "TooLarge", "fault", "normal"]
