"""A field of a descriptor word, as answers write it down.

Law: a number in the word times the unit is the value beside it.

>>> field = Field("stride_byte_offset", low=32, bits=14, unit=16)
>>> cells = [field_cells(field, stored, field.load(stored)) for stored in range(64)]
>>> all(int(value.split()[0]) == 16 * int(stored.split()[0]) for value, stored in cells)
True
"""

from __future__ import annotations

from typing import Any

from descriptors.smem.words.bitfield import Field
from descriptors.text import counted


def field_cells(field: Field, stored: int, value: Any) -> tuple[str, str]:
    """What a field is worth and what the word holds, as two cells of a table.

    >>> field_cells(Field("stride_byte_offset", low=32, bits=14, unit=16), 64, 1024)
    ('1024 bytes', '64 x 16 bytes')
    """
    if field.unit > 1:
        return counted(value, "byte"), f"{stored} x {field.unit} bytes"
    return str(value), f"code {stored}" if field.codes else str(stored)


def number_or_text(value: Any) -> int | str:
    """A value that JSON can hold: a number as it is, anything else in its own notation.

    >>> from descriptors import SwizzleMode
    >>> number_or_text(1024), number_or_text(SwizzleMode.B128)
    (1024, '128B')
    """
    return value if isinstance(value, int) else str(value)
