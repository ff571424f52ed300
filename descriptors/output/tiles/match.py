"""An operand in its canonical form: the form, its layout, LBO and SBO.

Law: text and data have the same two offsets.

>>> from descriptors import match
>>> told = match("(64,16):(64,1)", "bf16", swizzle="128B")
>>> [int(line.split()[1]) for line in tell(told).splitlines()[2:]] == [record(told)[LEADING], record(told)[STRIDE]]
True
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from descriptors import text
from descriptors.smem.instructions.transpose import transpose_note
from descriptors.smem.operands.canonical import Match
from descriptors.smem.operands.forms import LEADING, STRIDE
from descriptors.smem.operands.operand import Major

#: What people call the two offsets.
SHORT = {LEADING: "LBO", STRIDE: "SBO"}


@text.tell.register(Match)
def tell(match: Match) -> str:
    """A match for a person.

    >>> from descriptors import match
    >>> print(tell(match("(64,16):(64,1)", "bf16", swizzle="128B")).splitlines()[-1])
    SBO        1024 bytes
    """
    offsets = (
        f"{short}        {getattr(match, name)} bytes{unread_mark(name, match.dont_care)}"
        for name, short in SHORT.items()
    )
    lines = [f"form       {match.form}, in 16-byte units", f"canonical  {match.layout}", *offsets]
    return "\n".join([*lines, transpose_note(None)] if match.form.major is Major.MN else lines)


def unread_mark(field: str, dont_care: Iterable[str]) -> str:
    """What stands behind the value of a field that changes nothing."""
    return "  (changes nothing)" if field in dont_care else ""


def record(match: Match) -> dict[str, Any]:
    """A match as plain data."""
    return {
        "form": str(match.form),
        "canonical": str(match.layout),
        LEADING: match.leading_byte_offset,
        STRIDE: match.stride_byte_offset,
        "dont_care": match.dont_care,
        "transposed": match.form.major is Major.MN,
    }
