"""Parse the operands of PTX instructions: registers and names, numbers, vectors, addresses.

Any other text is kept unchanged as ``Other``.
Source: PTX ISA 9.1, Instruction Operands; Constants.

Invariant: the number of operands of a text is the number of its commas outside of brackets, plus one.

>>> texts = ["%r1, [%r2+4], {%f0,%f1}, 0x10, %p1", "%r3|%p1, -1", "[%rd1, {%r1, %r2}], [%r3]"]
>>> [len(operands(text)) for text in texts]
[5, 2, 2]
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TypeAlias

from descriptors.errors import DescriptorError, brief
from layoutalg.frozen import frozen


@frozen
class Vector:
    """Operands in braces."""

    items: tuple[Operand, ...]


@frozen
class Address:
    """An address in brackets: ``[base+offset]``, with further operands in ``rest``.

    Args:
        base: a register or a name; "" if there is only a number.
        offset: offset in bytes, or in columns of tensor memory.
        rest: further operands, such as the coordinates of a tensor copy.
    """

    base: str
    offset: int = 0
    rest: tuple[Operand, ...] = ()


@frozen
class Pair:
    """Two results of one instruction: ``a|b``."""

    first: str
    second: str


@frozen
class Negated:
    """A negated predicate: ``!p``."""

    name: str


@frozen
class Other:
    """A text that is not a known operand."""

    text: str


Operand: TypeAlias = "str | int | Vector | Address | Pair | Negated | Other"

_NAME = re.compile(r"[A-Za-z_$%][\w$%.]*\Z", re.ASCII)
_NUMBER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?\Z", re.ASCII)
_FLOAT = re.compile(r"0[fFdD]([0-9a-fA-F]{8}|[0-9a-fA-F]{16})\Z", re.ASCII)
_SUM = re.compile(r"([A-Za-z_$%][\w$%.]*)?\s*(?:([-+])?\s*(-?(?:0[xX][0-9a-fA-F]+|\d+)))?\Z", re.ASCII)
_PAIR = re.compile(r"([\w$%.]+)\s*\|\s*([\w$%.]+)\Z", re.ASCII)


def alone(operand: Operand) -> Operand:
    """Return the operand inside a vector of one, and any other operand as it is.

    The assembler accepts a vector of one in place of some registers, such as the scale factors of ``mma.sync``.

    >>> alone(Vector(("%r1",))), alone("%r1"), alone(Vector(("%r1", "%r2")))
    ('%r1', '%r1', Vector(items=('%r1', '%r2')))
    """
    return operand.items[0] if isinstance(operand, Vector) and len(operand.items) == 1 else operand


#: Largest depth of nested brackets that is parsed; PTX has two.
DEPTH = 8


def operands(text: str, depth: int = 0) -> tuple[Operand, ...]:
    """Parse the operands of an instruction.

    Args:
        text: the text of the operands.
        depth: number of brackets around the text; beyond ``DEPTH``, operands are kept as text.

    >>> operands("%r1, [%r2+0x10], 0f3f800000")
    ('%r1', Address(base='%r2', offset=16, rest=()), 1065353216)
    """
    if not text:
        return ()
    parts = split(text) if "{" in text or "[" in text or "(" in text else text.split(",")
    return tuple([_parse_operand(part.strip(), depth) for part in parts])


def split(text: str) -> list[str]:
    """Split a text at its commas outside of brackets.

    >>> split("a, {b, c}, [d, {e}]")
    ['a', ' {b, c}', ' [d, {e}]']
    """
    parts, depth, start = [], 0, 0
    for place in _MARKS.finditer(text):
        mark = place[0]
        if mark == ",":
            if depth == 0:
                parts.append(text[start : place.start()])
                start = place.end()
        else:
            depth += 1 if mark in "{[(" else -1
    return [*parts, text[start:]]


_MARKS = re.compile(r"[,{}\[\]()]")


# Most operands of a text repeat.
@lru_cache(maxsize=1 << 14)
def _parse_operand(text: str, depth: int) -> Operand:
    if _NAME.match(text):
        return text
    if _NUMBER.match(text):
        return number(text)
    first = text[:1]
    if depth == DEPTH:
        return Other(text)
    if first == "{" and text.endswith("}"):
        return Vector(operands(text[1:-1].strip(), depth + 1))
    if first == "[" and text.endswith("]"):
        return _parse_address(text[1:-1].strip(), depth + 1)
    if first == "!" and _NAME.match(text[1:].strip()):
        return Negated(text[1:].strip())
    if match := _FLOAT.match(text):
        return int(match[1], 16)
    if match := _PAIR.match(text):
        return Pair(match[1], match[2])
    return Other(text)


#: Largest number of digits of a number; 64 bits need at most 64.
DIGITS = 1024


def number(text: str) -> int:
    """Parse a PTX integer: decimal, hexadecimal, binary or octal, with an optional sign and suffix ``U``.

    Raises:
        DescriptorError: if it has more than ``DIGITS`` digits.

    >>> number("0x10U"), number("-1"), number("010")
    (16, -1, 8)
    """
    digits = text.rstrip("U").lstrip("+-")
    if len(digits) > DIGITS:
        raise DescriptorError(f"ptx: the number {brief(text, 40)} has more than {DIGITS} digits")
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit() and not set(digits) & {"8", "9"}
    value = int(digits, 8) if octal else int(digits, 0) if digits[:1] != "0" or not digits.isdigit() else int(digits)
    return -value if text.startswith("-") else value


def _parse_address(text: str, depth: int) -> Operand:
    first, *rest = split(text)
    match = _SUM.match(first.strip())
    if match is None:
        return Other(f"[{text}]")
    offset = number(match[3]) if match[3] else 0
    others = tuple(_parse_operand(part.strip(), depth) for part in rest)
    return Address(match[1] or "", -offset if match[2] == "-" else offset, others)


@lru_cache(maxsize=1 << 14)
def names(operand: Operand) -> tuple[str, ...]:
    """Return the registers and names in an operand, in order.

    >>> names(operands("[%rd1, {%r1, %r2}]")[0])
    ('%rd1', '%r1', '%r2')
    """
    if isinstance(operand, str):
        return (operand,)
    match operand:
        case Vector(items):
            return tuple(name for item in items for name in names(item))
        case Address(base, _, rest):
            return (*((base,) if base else ()), *(name for item in rest for name in names(item)))
        case Pair(first, second):
            return (first, second)
        case Negated(name):
            return (name,)
        case Other(text):
            return tuple(WORD.findall(text))
    return ()


WORD = re.compile(r"(?<![\w$%.#])[A-Za-z_$%][\w$%#]*", re.ASCII)
