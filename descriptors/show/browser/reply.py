"""A question of a page as JSON, answered as JSON: what a worker calls, and a server can.

Law: whatever text comes, the answer is a record.

>>> echo = {"echo": lambda asked: {"ok": True, "asked": asked}}
>>> reply(echo, "echo", '{"tile": "8x8"}')
'{"ok": true, "asked": {"tile": "8x8"}}'
>>> [json.loads(reply(echo, path, text))["ok"] for path, text in (("echo", "{"), ("roof", "1"))]
[False, False]
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from descriptors.errors import LayoutError
from layoutalg.messages import Message, shortened

#: Functions that answer, each under its name: a record for whatever JSON holds.
Answers = Mapping[str, Callable[[object], dict[str, Any]]]


def reply(answers: Answers, path: str, text: str) -> str:
    """The answer to a question.

    Args:
        answers: what can be asked.
        path: the name of one of them.
        text: the question, in JSON.

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
    except Exception as error:  # noqa: BLE001  a page that waits has to hear of it, as of what a browser does not have
        first = shortened(str(error).partition("\n")[0])
        return _refused(type(error).__name__, f"page: the question has no answer ({type(error).__name__}: {first})")


#: What a question may end in: a refusal of the engine, or a text too deep or too large for it.
REFUSALS = (LayoutError, RecursionError, MemoryError, OverflowError)


def refusal(error: Exception) -> dict[str, Any]:
    """An error as data: its kind and its sentence.

    >>> refusal(LayoutError("size: one\\ntwo"))
    {'type': 'LayoutError', 'message': 'size: one two', 'fact': 'size: one two', 'notes': [], 'help': []}
    """
    if isinstance(error, LayoutError):
        return Message.of(error).record(type(error).__name__)
    fact = f"page: the question needs more memory than there is ({type(error).__name__})"
    return Message(fact).record(type(error).__name__)


def _refused(kind: str, fact: str) -> str:
    return json.dumps({"ok": False, "error": Message(fact).record(kind)})
