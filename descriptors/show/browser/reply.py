"""Answer JSON questions of a page with JSON records. The worker in the browser calls ``reply``.

Invariant: the answer to any text is a record.

>>> echo = {"echo": lambda question: {"ok": True, "question": question}}
>>> reply(echo, "echo", '{"tile": "8x8"}')
'{"ok": true, "question": {"tile": "8x8"}}'
>>> [json.loads(reply(echo, path, text))["ok"] for path, text in (("echo", "{"), ("roof", "1"))]
[False, False]
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from descriptors.errors import LayoutError
from layoutalg.messages import Message, shortened

#: Functions that answer questions, by name. Each accepts any JSON value and returns a record.
Answers = Mapping[str, Callable[[object], dict[str, Any]]]


def reply(answers: Answers, path: str, text: str) -> str:
    """Return the answer to a question as JSON.

    Args:
        answers: the functions that answer.
        path: the name of the function to call.
        text: the question as JSON.

    >>> reply({}, "roof", "{}")  # doctest: +ELLIPSIS
    '{"ok": false, "error": {"type": "KeyError", ...}}'
    """
    if path not in answers:
        return _refused("KeyError", f"page: no answer has the name {path[:40]}")
    try:
        question = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _refused("JSONDecodeError", f"page: the question is not JSON ({error})")
    try:
        return json.dumps(answers[path](question))
    except Exception as error:  # noqa: BLE001  the page waits for an answer, also if a module is missing in the browser
        first = shortened(str(error).partition("\n")[0])
        return _refused(type(error).__name__, f"page: the question has no answer ({type(error).__name__}: {first})")


#: The errors of a question that is refused, or that is too deep or too large for the engine.
REFUSALS = (LayoutError, RecursionError, MemoryError, OverflowError)


def refusal(error: Exception) -> dict[str, Any]:
    r"""Return an error as plain data: its type and its message.

    >>> refusal(LayoutError("size: one\ntwo"))
    {'type': 'LayoutError', 'message': 'size: one two', 'fact': 'size: one two', 'notes': [], 'help': []}
    """
    if isinstance(error, LayoutError):
        return Message.of(error).record(type(error).__name__)
    fact = f"page: the question needs more memory than there is ({type(error).__name__})"
    return Message(fact).record(type(error).__name__)


def _refused(kind: str, fact: str) -> str:
    return json.dumps({"ok": False, "error": Message(fact).record(kind)})
