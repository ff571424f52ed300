"""What a student typed: a layout, numbers, words of 64 bits, short answers in a row.

Law: what is read is written as it was, whatever stands between.

>>> integers_of("(0, 2, 0x10)"), integers_of("0;2 16"), parts_of("yes, no;yes")
((0, 2, 16), (0, 2, 16), ('yes', 'no', 'yes'))
>>> print(layout_of("(4,8):(8,1)"))
(4,8):(8,1)
"""

from __future__ import annotations

import re

from descriptors.errors import DescriptorError
from layoutalg import ComposedLayout, Layout, evaluate


def layout_of(text: str) -> Layout | ComposedLayout:
    """A layout.

    Raises:
        DescriptorError: if it is something else.
        LayoutError: if it cannot be read.
    """
    value = evaluate(text)
    if not isinstance(value, (Layout, ComposedLayout)):
        raise DescriptorError(f"answer: it must be a layout, as (4,8):(8,1), found {text}")
    return value


_NUMBER = re.compile(r"-?(?:0x[0-9a-f]{1,16}|[0-9]{1,20})")


def parts_of(text: str) -> tuple[str, ...]:
    """What stands between commas, semicolons or spaces, in small letters; brackets around it all are left out."""
    return tuple(re.split(r"[,;\s]+", text.strip(" \t\r\n()[].").lower()))


def integers_of(text: str, count: int | None = None) -> tuple[int, ...]:
    """Numbers, decimal or hexadecimal.

    Args:
        text: what was typed.
        count: how many there must be; any number of them if left out.

    Raises:
        DescriptorError: if something else stands there, or there are more or fewer.
    """
    parts = parts_of(text)
    strange = [part for part in parts if not _NUMBER.fullmatch(part)]
    if strange:
        raise DescriptorError(f"answer: it must be numbers with commas, found {strange[0][:20]!r}")
    if count is not None and len(parts) != count:
        raise DescriptorError(f"answer: it must be {count} number{'s' * (count != 1)}, found {len(parts)}")
    return tuple(int(part, 0) if "x" in part else int(part) for part in parts)


def words_of(text: str, count: int = 1) -> tuple[int, ...]:
    """Words of 64 bits, as 0x4000004000010000.

    Raises:
        DescriptorError: if they are not that many, or no such words.
    """
    words = integers_of(text, count)
    if not all(0 <= word < 1 << 64 for word in words):
        raise DescriptorError(f"answer: a word must have 64 bits, as 0x4000004000010000, found {text[:40]}")
    return words
