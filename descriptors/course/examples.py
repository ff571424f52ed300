"""The examples in the text of a lesson: what is typed and what Python prints, taken apart from the text around them.

Law: the pieces hold every example of the text, in order.

>>> lines = ["Add:", "```python", ">>> 1 + 1", "2", "", "```", "So."]
>>> pieces(chr(10).join(lines))
['Add:', Example(typed='1 + 1', printed='2', shown='>>> 1 + 1\\n2'), 'So.']
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from doctest import DocTestParser

_CODE = re.compile(r"^```python\n(.*?)^```$\n?", re.M | re.S)


@dataclass(frozen=True, slots=True)
class Example:
    """Lines of Python without prompts, what they print (of an error its last line), and both as the text has them."""

    typed: str
    printed: str
    shown: str


def pieces(text: str) -> list[str | Example]:
    """A text in Markdown, and its examples, in order.

    >>> error = ["```python", ">>> 0 / 0", "Traceback (most recent call last):", "Error: no", "```"]
    >>> pieces(chr(10).join(error))[0].printed
    'Error: no'
    """
    found: list[str | Example] = []
    for k, piece in enumerate(_CODE.split(text)):
        if k % 2:
            found.append(_example(piece))
        elif piece.strip():
            found.append(piece.strip())
    return found


def _example(block: str) -> Example:
    parts = DocTestParser().get_examples(block)
    printed = "".join(part.exc_msg or part.want for part in parts)
    typed = "".join(part.source for part in parts)
    return Example(typed.rstrip(), printed.replace("<BLANKLINE>", "").rstrip(), block.strip())
