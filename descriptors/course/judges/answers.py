"""What a student typed: a layout, numbers, words of 64 bits, short answers in a row.

Invariant: what is read is written as it was, whatever stands between.

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
    """A layout of a question, which may be an expression of the algebra.

    Raises:
        DescriptorError: if it is something else.
        LayoutError: if it cannot be read.
    """
    value = evaluate(text)
    if not isinstance(value, (Layout, ComposedLayout)):
        raise DescriptorError(f"answer: it must be a layout, as (4,8):(8,1), found {text}")
    return value


#: What may be called in an answer: what writes a layout or a swizzle down.
_WRITTEN = ("Layout", "make_layout", "Swizzle", "make_swizzle", "ComposedLayout", "make_composed_layout", "o")
#: What a program in CuTe writes around the same numbers, and what encloses a single number.
_CUTE = re.compile(r"\bcute(?:\.|::)|\bmake_(?:shape|stride|coord|tuple)\b|\{\}|\bInt(?=<)")
_SINGLE = re.compile(r"(?<![\w>)\]])\(\s*(\d+)\s*\)|(?<=[\s(,:])<(\d+)>")
_MOST_NESTED = 64  # deeper nesting cannot be read
_CALL, _APPLIED = re.compile(r"\b([A-Za-z_]\w*)\s*\("), re.compile(r"[)>\]]\s*[(\[]")


def written(text: str) -> str:
    """An answer in the notation of this project, from that of CuTe too; `8` is the layout `8:1`.

    Raises:
        DescriptorError: if it is an expression that somebody else would have to work out.

    >>> written("Swizzle<2,0,2>"), written("Sw<3,4,3> o 0 o (8,128):(128,1)"), written(" 8 ")
    ('S<2,0,2>', 'S<3,4,3> o 0 o (8,128):(128,1)', '8:1')
    >>> written("make_layout(make_shape(Int<4>{}, 8), make_stride(1, 4))"), written("cute.make_layout(8, stride=(2))")
    ('make_layout((4, 8), (1, 4))', 'make_layout(8, stride=2)')
    >>> written("complement(4:2, 24)")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: answer: it must be worked out, as (4,8):(8,1), found the operation complement
    """
    text = _CUTE.sub("", text.strip(" \t\r\n`.'\""))
    text = re.sub(r"\b(?:swizzle|sw|s)\s*<", "S<", text, flags=re.I).replace("make_swizzle(", "Swizzle(")
    for _ in range(_MOST_NESTED):  # each pass removes one level of parentheses
        simpler = _SINGLE.sub(r"\1\2", text)
        if simpler == text:
            break
        text = simpler
    operation = next((name for name in _CALL.findall(text) if name not in _WRITTEN), "")
    if operation or _APPLIED.search(text):
        found = f"the operation {operation[:40]}" if operation else f"{text[:40]}"
        raise DescriptorError(f"answer: it must be worked out, as (4,8):(8,1), found {found}")
    if _has_shape_alone(text):
        raise DescriptorError(f"answer: a layout must have its strides, as (4,8):(8,1), found {text[:40]}")
    return f"{text}:1" if text.isdecimal() else text


def _has_shape_alone(text: str) -> bool:
    """Return whether some call that makes a layout has only one argument."""
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
    """A layout that was worked out; it raises as :func:`written` and :func:`layout_of`."""
    return layout_of(written(text))


#: Words that students write beside their numbers.
_SAID = set("and bank banks byte bytes cosize i index is size tcgen05 tma turn turns wgmma".split())
_NUMBER = re.compile(r"[+-]?(?:0x[0-9a-f]{1,16}|0b[01]{1,64}|[0-9]{1,20})")


def parts_of(text: str) -> tuple[str, ...]:
    """What stands between commas, semicolons or spaces, in small letters; brackets are left out."""
    return tuple(re.sub(r"[()\[\],;`'\"=]", " ", text.strip(" \t\r\n.")).lower().split()) or ("",)


def integers_of(text: str, count: int | None = None) -> tuple[int, ...]:
    """Numbers, decimal or hexadecimal.

    Args:
        text: what was typed.
        count: how many there must be; any number of them if left out.

    Raises:
        DescriptorError: if something else stands there, or there are more or fewer.
    """
    parts = [part for part in parts_of(text) if part.rstrip(":") not in _SAID]
    strange = [part for part in parts if not _NUMBER.fullmatch(part)]
    if strange or not parts:
        raise DescriptorError(f"answer: it must be numbers with commas, found {(strange or [text])[0][:20]!r}")
    if count is not None and len(parts) != count:
        raise DescriptorError(f"answer: it must be {count} number{'s' * (count != 1)}, found {len(parts)}")
    return tuple(int(part, 0) if "x" in part or "0b" in part else int(part) for part in parts)


#: A word as its 16 digits: in a row or in groups of four, after 0x or not.
WORD = re.compile(r"(?<![0-9a-z])(?:0x)?[0-9a-f]{4}(?:[ _]?[0-9a-f]{4}){3}(?![0-9a-z_])", re.I)


def _digits(word: str) -> str:
    return re.sub(r"[ _]", "", word.lower().removeprefix("0x"))


def words_of(text: str, count: int = 1) -> tuple[int, ...]:
    """Words of 64 bits, as 0x0123456789abcdef; the 16 digits may stand in groups, as 0x0123 4567 89ab cdef.

    Raises:
        DescriptorError: if they are not that many, or no such words.
    """
    words = integers_of(WORD.sub(lambda word: f"0x{_digits(word[0])}", text), count)
    if not all(0 <= word < 1 << 64 for word in words):
        raise DescriptorError(f"answer: a word must have 64 bits, as 0x0123456789abcdef, found {text[:40]}")
    return words
