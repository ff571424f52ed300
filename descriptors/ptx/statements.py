"""A PTX text cut into statements: directives, labels, instructions, and the braces of blocks, each with its line.

All of the text is read: comments and strings are passed over, braces of vectors are told from those of blocks by where
they stand, and directives that end with their line are ended there.
Source: PTX ISA 9.1, Syntax.

Law: nothing but comments and white space is lost.

>>> text = ".version 8.8\\n{ .reg .b32 %r<2>; L: mov.b32 %r0, {%r1, 0}; /* ; */ }\\n"
>>> wanted = "".join(re.sub(r"/\\*.*?\\*/", "", text).split())
>>> "".join("".join(one.text.split()) + _END[one.kind] for one in statements(text)) == wanted
True
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from descriptors.errors import DescriptorError, brief

#: What a text may have at most: in bytes, and in nested blocks.
LIMIT, DEPTH = 32 << 20, 64


class Statement(NamedTuple):
    """One statement.

    Args:
        kind: ``directive``, ``code``, ``label``, ``open`` or ``close`` (the braces of a block).
        text: without what ends it; of ``open`` the head before the brace.
        line: where it begins, from 1.
    """

    kind: str
    text: str
    line: int


_END = {"directive": ";", "code": ";", "label": ":", "open": "{", "close": "}", "line": ""}

# Directives that end with their line. A section of debug data has its own braces, which _section passes over.
_LINE = re.compile(r"\.(version|target|address_size|file|loc)\b[^\n]*?(?=//|/\*|\n|;|$)")
_SKIP = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_LABEL = re.compile(r"([A-Za-z_$%][\w$%]*)\s*:(?!:)")
_STOP = re.compile(r'[;{}"]|//|/\*')
_FAST = re.compile(r'[^;{}"/]*;')
_SECTION = re.compile(r"\.section\b[^{;]*\{[^}]*\}")


def statements(text: str) -> Iterator[Statement]:
    """The statements of a PTX text, in order.

    Raises:
        DescriptorError: if the text is too long, or a brace, a string or a comment is not closed.

    >>> [one.kind for one in statements(".version 8.8\\n.entry k() { ret; }")]
    ['line', 'open', 'code', 'close']
    """
    if len(text) > LIMIT:
        raise DescriptorError(f"ptx: a text must have at most {LIMIT} bytes, found {len(text)}")
    place, line, depth, counted = 0, 1, 0, 0
    while True:
        if found := _SKIP.match(text, place):
            place = found.end()
        if place >= len(text):
            break
        line, counted = line + text.count("\n", counted, place), place
        kind, body, place = _next(text, place, line)
        depth += {"open": 1, "close": -1}.get(kind, 0)
        if depth < 0 or depth > DEPTH:
            what = "closed must be open" if depth < 0 else f"open must be one of at most {DEPTH} nested"
            raise DescriptorError(f"ptx: a block that is {what}, found a brace too many; line {line}")
        yield Statement(kind, body, line)
    if depth:
        raise DescriptorError(f"ptx: every block must be closed, found {depth} open at the end")


def _next(text: str, place: int, line: int) -> tuple[str, str, int]:
    """The kind and text of the statement that begins here, and where the next may."""
    first = text[place]
    if first in "{};":
        return {"{": "open", "}": "close", ";": "directive"}[first], "", place + 1
    if first == ".":
        if found := _LINE.match(text, place):
            return "line", found[0].strip(), found.end()
        if found := _SECTION.match(text, place):
            return "line", found[0], found.end()
    elif found := _LABEL.match(text, place):
        return "label", found[1], found.end()
    if found := _FAST.match(text, place):
        return ("directive" if first == "." else "code"), found[0][:-1].rstrip(), found.end()
    return _slow(text, place, line)


def _slow(text: str, start: int, line: int) -> tuple[str, str, int]:
    """A statement with braces, strings or comments inside."""
    place, depth, parts, kept = start, 0, [], start
    head = text.startswith(".", start) and re.match(r"(?:\.\w+\s+)*\.(?:entry|func)\b", text[start : start + 200])
    while found := _STOP.search(text, place):
        mark, place = found[0], found.end()
        if mark in ("//", "/*"):
            parts.append(text[kept : found.start()])
            end = text.find("\n" if mark == "//" else "*/", place)
            if end < 0:
                raise DescriptorError(f"ptx: a comment must end before the text does; line {line}")
            place = kept = end + (0 if mark == "//" else 2)
        elif mark == '"':
            place = text.find('"', place) + 1
            if not place:
                raise DescriptorError(f"ptx: a string must be closed; line {line}")
        elif mark == ";" and depth == 0:
            parts.append(text[kept : found.start()])
            return ("directive" if text[start] == "." else "code"), "".join(parts).strip(), place
        elif mark == "{" and head and depth == 0:
            parts.append(text[kept : found.start()])
            return "open", "".join(parts).strip(), place
        elif mark in "{}":
            depth += 1 if mark == "{" else -1
            if depth < 0:
                break
    shown = brief(text[start : start + 40])
    raise DescriptorError(f"ptx: a statement must end with a semicolon, found {shown}; line {line}")
