"""Parse answers of students: a layout, numbers, 64-bit words, several short answers.

Invariant: the separators between numbers do not matter.

>>> integers_of("(0, 2, 0x10)"), integers_of("0;2 16"), integers_of("size 32 and cosize 38"), parts_of("yes, no;yes")
((0, 2, 16), (0, 2, 16), (32, 38), ('yes', 'no', 'yes'))
>>> print(layout_of("(4,8):(8,1)"))
(4,8):(8,1)
"""

from __future__ import annotations

import re

from descriptors.errors import DescriptorError
from layoutalg import ComposedLayout, Layout, evaluate


def layout_of(text: str) -> Layout | ComposedLayout:
    """Return the layout of an expression of the algebra.

    Raises:
        DescriptorError: if the value is not a layout.
        LayoutError: if the text cannot be parsed.
    """
    value = evaluate(text)
    if not isinstance(value, (Layout, ComposedLayout)):
        raise DescriptorError(f"answer: {text} is not a layout, such as (4,8):(8,1)")
    return value


#: Functions that may occur in an answer: the constructors of layouts and swizzles.
_CONSTRUCTORS = ("Layout", "make_layout", "Swizzle", "make_swizzle", "ComposedLayout", "make_composed_layout", "o")
#: Notation of CuTe programs around numbers, and the parentheses around a single number.
_CUTE = re.compile(r"\bcute(?:\.|::)|\bmake_(?:shape|stride|coord|tuple)\b|\{\}|\bInt(?=<)")
_SINGLE = re.compile(r"(?<![\w>)\]])\(\s*(\d+)\s*\)|(?<=[\s(,:])<(\d+)>")
_MOST_NESTED = 64  # the parser refuses deeper nesting
_CALL, _APPLIED = re.compile(r"\b([A-Za-z_]\w*)\s*\("), re.compile(r"[)>\]]\s*[(\[]")


def written(text: str) -> str:
    """Convert an answer to the notation of this project, also from CuTe notation; `8` is the layout `8:1`.

    Raises:
        DescriptorError: if it is an expression that must be computed first.

    >>> written("Swizzle<2,0,2>"), written("Sw<3,4,3> o 0 o (8,128):(128,1)"), written(" 8 ")
    ('S<2,0,2>', 'S<3,4,3> o 0 o (8,128):(128,1)', '8:1')
    >>> written("make_layout(make_shape(Int<4>{}, 8), make_stride(1, 4))"), written("cute.make_layout(8, stride=(2))")
    ('make_layout((4, 8), (1, 4))', 'make_layout(8, stride=2)')
    >>> written("complement(4:2, 24)")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: answer: the operation complement is not computed; write the resulting layout,
    such as (4,8):(8,1)
    """
    text = _CUTE.sub("", text.strip(" \t\r\n`.'\""))
    text = re.sub(r"\b(?:swizzle|sw|s)\s*<", "S<", text, flags=re.I).replace("make_swizzle(", "Swizzle(")
    for _ in range(_MOST_NESTED):  # each pass removes one level of parentheses
        simpler = _SINGLE.sub(r"\1\2", text)
        if simpler == text:
            break
        text = simpler
    operation = next((name for name in _CALL.findall(text) if name not in _CONSTRUCTORS), "")
    if operation or _APPLIED.search(text):
        subject = f"the operation {operation[:40]}" if operation else f"{text[:40]}"
        raise DescriptorError(f"answer: {subject} is not computed; write the resulting layout, such as (4,8):(8,1)")
    if _has_shape_alone(text):
        raise DescriptorError(f"answer: {text[:40]} has no strides; write a layout with strides, such as (4,8):(8,1)")
    return f"{text}:1" if text.isdecimal() else text


def _has_shape_alone(text: str) -> bool:
    """Return whether a call that constructs a layout has only one argument."""
    calls = {call.end() - 1 for call in re.finditer(r"\b(?:make_l|L)ayout\s*\(", text)}
    brackets: list[tuple[int, bool]] = []  # open brackets: position, and if a comma follows
    for place, letter in enumerate(text if calls else ""):
        if letter in "([":
            brackets.append((place, False))
        elif letter == "," and brackets:
            brackets[-1] = (brackets[-1][0], True)
        elif letter in ")]" and brackets:
            start, has_comma = brackets.pop()
            if start in calls and not has_comma:
                return True
    return any(start in calls and not has_comma for start, has_comma in brackets)


def written_layout(text: str) -> Layout | ComposedLayout:
    """Parse a layout that is not an operation; the errors are those of :func:`written` and :func:`layout_of`."""
    return layout_of(written(text))


#: Words that students write with their numbers.
_UNITS = set("and bank banks byte bytes cosize i index is size tcgen05 tma turn turns wgmma".split())
_NUMBER = re.compile(r"[+-]?(?:0x[0-9a-f]{1,16}|0b[01]{1,64}|[0-9]{1,20})")


def parts_of(text: str) -> tuple[str, ...]:
    """Split a text at commas, semicolons and spaces, in lower case and without brackets."""
    return tuple(re.sub(r"[()\[\],;`'\"=]", " ", text.strip(" \t\r\n.")).lower().split()) or ("",)


def integers_of(text: str, count: int | None = None) -> tuple[int, ...]:
    """Parse numbers, decimal or hexadecimal.

    Args:
        text: the typed text.
        count: the required number of numbers; default: any.

    Raises:
        DescriptorError: if the text contains something else, or another number of numbers.
    """
    parts = [part for part in parts_of(text) if part.rstrip(":") not in _UNITS]
    unknown = [part for part in parts if not _NUMBER.fullmatch(part)]
    if unknown or not parts:
        raise DescriptorError(f"answer: {(unknown or [text])[0][:20]!r} is not a number; write numbers with commas")
    if count is not None and len(parts) != count:
        raise DescriptorError(f"answer: it has {len(parts)} number{'s' * (len(parts) != 1)}, must have {count}")
    return tuple(int(part, 0) if "x" in part or "0b" in part else int(part) for part in parts)


#: The 16 digits of a word: together or in groups of four, with or without 0x.
WORD = re.compile(r"(?<![0-9a-z])(?:0x)?[0-9a-f]{4}(?:[ _]?[0-9a-f]{4}){3}(?![0-9a-z_])", re.I)


def _digits(word: str) -> str:
    return re.sub(r"[ _]", "", word.lower().removeprefix("0x"))


def words_of(text: str, count: int = 1) -> tuple[int, ...]:
    """Parse 64-bit words such as 0x0123456789abcdef; the digits may be in groups, such as 0x0123 4567 89ab cdef.

    Raises:
        DescriptorError: if the text has another number of words, or a word does not fit into 64 bits.
    """
    words = integers_of(WORD.sub(lambda word: f"0x{_digits(word[0])}", text), count)
    if not all(0 <= word < 1 << 64 for word in words):
        raise DescriptorError(f"answer: {text[:40]} is not a 64-bit word, such as 0x0123456789abcdef")
    return words
