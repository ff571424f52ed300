"""The tokenizer of CuTe notation. Each token has its position in the text, for error messages.

Invariant: the texts of the tokens in order are the text without its blanks.

>>> text = "S<3,4,3> o 0 o (8, 64):(64, 1)"
>>> "".join(token.text for token in tokenize(text)).replace(" ", "") == text.replace(" ", "")
True
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from layoutalg.errors import NotationError
from layoutalg.frozen import frozen
from layoutalg.tuples.int_tuple import safe_text

#: A name, which may have parts separated by dots as in PTX instructions: ``mma.m16n8k16.C``, ``pack::16b``.
_NAME = r"[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)?)*"
_TOKEN = rf"\s*(?:(?P<swizzle>Sw?\s*<)|(?P<int>_?[-+]?_?\d+)|(?P<name>{_NAME})|(?P<mark>[()<>,:@=_*+-]))"

Kind: TypeAlias = Literal["int", "name", "mark", "swizzle", "end"]


@frozen
class Token:
    """A token of the notation: its kind (``int``, ``name``, ``mark``, ``swizzle``, ``end``), text and position."""

    kind: Kind
    text: str
    position: int


def tokenize(text: str) -> list[Token]:
    """Split a text into tokens, followed by one of kind ``end``.

    Raises:
        NotationError: at the first character that does not belong to a token, or if the text is not a string.

    >>> [token.text for token in tokenize("(4,8):(8,1)")][:5]
    ['(', '4', ',', '8', ')']
    """
    if not isinstance(text, str):
        raise NotationError(f"notation: {safe_text(text)} is not a string")
    import re  # imported here, since it takes a tenth of the import time of the package; re caches the pattern

    pattern = re.compile(_TOKEN, re.ASCII)
    tokens = []
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = pattern.match(text, position)
        if match is None:
            start = position + len(text[position:]) - len(text[position:].lstrip())
            raise NotationError(
                f"notation: unexpected character {text[start]!r} at position {start}; text = {quoted(text, start)}",
                text,
                start,
            )
        kind: Any = match.lastgroup
        tokens.append(Token(kind, match.group(kind), match.start(kind)))
        position = match.end()
    tokens.append(Token("end", "", len(text)))
    return tokens


def quoted(text: str, position: int = 0) -> str:
    """Return a text in quotation marks for an error message, shortened to about 80 characters around a position.

    >>> quoted("4:1" + "," * 200, 150)
    "'...,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,...'"
    """
    if len(text) <= 80:
        return repr(text)
    start = 0 if position < 60 else min(position - 37, len(text) - 77)
    end = start + (77 if start == 0 else 74)
    return repr(f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}")
