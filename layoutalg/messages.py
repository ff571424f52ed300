"""Error messages of the commands, the page and the MCP tools: a fact, notes and ways out, bounded in length.

A message reads ``<operation>: <fact>; <note>; <note>``. The command line prints its parts on lines of their own:

>>> message = Message.parse("slice: mode 2 does not exist; layout = (4,8):(8,1); use mode 0 or 1")
>>> print(message.text("layoutalg eval"))
layoutalg eval: error: slice: mode 2 does not exist
  note: layout = (4,8):(8,1)
  help: use mode 0 or 1
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

#: The longest message, in characters. A longer one repeats input, and its middle is left out.
MOST_OF_A_MESSAGE = 2000

#: Operations that the user of a command does not call: shared parts of the library that check arguments and texts.
_INTERNAL = frozenset({"answer", "canonical", "check", "legality", "notation", "operand", "ptx", "save"})

#: Operations of `descriptors` that its other commands call.
_DERIVING = frozenset({"accumulator", "claim", "derive", "idesc", "match", "picture", "plan", "solver"})

#: The verbs that open a way out.
_WAY_OUT = re.compile(r"(?:add|give|pass|use|write) ")

#: A quoted text, in which a semicolon separates nothing. An apostrophe inside a word opens no quotation.
_QUOTED = re.compile(r"(?<![^\s(\[{=])(['\"])(?:(?!\1).)*\1(?!\w)")


class Message(NamedTuple):
    """An error message in parts.

    Args:
        fact: what is the case, after the name of the operation.
        notes: operands, supported values, sources.
        help: ways out.
    """

    fact: str
    notes: tuple[str, ...] = ()
    help: tuple[str, ...] = ()

    @classmethod
    def parse(cls, sentence: str, ways_out: tuple[str, ...] = ()) -> Message:
        """Split a sentence at its semicolons, except those in quotations and parentheses.

        Args:
            sentence: the message of an error.
            ways_out: further ways out, which the error knows as data.

        >>> Message.parse("notation: 'a; b' is no layout (see b; c); give a layout")
        Message(fact="notation: 'a; b' is no layout (see b; c)", notes=(), help=('give a layout',))
        """
        fact, *rest = _parts(shortened(" ".join(sentence.split())))
        notes = tuple(part for part in rest if not _WAY_OUT.match(part))
        return cls(fact, notes, tuple(part for part in rest if _WAY_OUT.match(part)) + ways_out)

    @classmethod
    def of(cls, error: Exception) -> Message:
        """Return the message of an error, with the ways out that it knows."""
        return cls.parse(getattr(error, "sentence", str(error)), getattr(error, "ways_out", ()))

    def __str__(self) -> str:
        return "; ".join([self.fact, *self.notes, *self.help])

    def text(self, place: str) -> str:
        """Return the lines that a terminal shows.

        Args:
            place: the command, or a file and line.

        >>> print(Message("legality: N is 100").text("descriptors plan"))
        descriptors plan: error: N is 100
        """
        notes = [f"  note: {note}" for note in self.notes]
        ways_out = [f"  help: {way_out}" for way_out in self.help]
        return "\n".join([f"{place}: error: {_without_operation(self.fact, place)}", *notes, *ways_out])

    def record(self, kind: str) -> dict[str, Any]:
        """Return plain data for JSON.

        Args:
            kind: the class of the error.
        """
        return {"type": kind, "message": str(self), "fact": self.fact, "notes": [*self.notes], "help": [*self.help]}


def _parts(sentence: str) -> list[str]:
    inner = [match.span() for match in _QUOTED.finditer(sentence)]
    inner += _parentheses(sentence)
    breaks = [match.span() for match in re.finditer("; ", sentence)]
    breaks = [span for span in breaks if not any(start < span[0] < stop for start, stop in inner)]
    starts, stops = [0, *(stop for _, stop in breaks)], [*(start for start, _ in breaks), len(sentence)]
    return [sentence[start:stop] for start, stop in zip(starts, stops, strict=True)]


def _parentheses(sentence: str) -> list[tuple[int, int]]:
    """Return where each parenthesis that is closed begins and ends."""
    begins, spans = list[int](), []
    for match in re.finditer(r"[()]", sentence):
        if match[0] == "(":
            begins.append(match.start())
        elif begins:
            spans.append((begins.pop(), match.end()))
    return spans


def _without_operation(fact: str, place: str) -> str:
    """Return a fact without the operation that opens it, if the place names it or if it is internal."""
    operation, colon, rest = fact.partition(": ")
    named = (
        f" {operation}" in place
        or operation in _INTERNAL
        or (place.startswith("descriptors ") and operation in _DERIVING)
    )
    return rest if colon and named else fact


def shortened(message: str, most: int = MOST_OF_A_MESSAGE) -> str:
    """Return a message of bounded length: its beginning, its end, and the number of characters left out between.

    >>> shortened("found " + "x" * 5000 + "; give another", 60)
    'found xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ... (4960 characters left out) ... xxxxxx; give another'
    """
    if len(message) <= most:
        return message
    end = most // 3
    begin = most - end
    return f"{message[:begin]} ... ({len(message) - most} characters left out) ... {message[-end:]}"
