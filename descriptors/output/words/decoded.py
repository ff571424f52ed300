"""A decoded descriptor word: its fields, and the remarks on it.

Law: the stored numbers, put back at their bits, and the unknown bits are the word.

>>> from descriptors import decode
>>> from descriptors.smem.words.descriptor import WORDS
>>> for word in (0x4000404000010000 ^ 3 << bit for bit in range(63)):
...     told = record(decode(word, "sm90"))
...     put = sum(stored << WORDS["sm90"][name].low for name, stored in told["stored"].items())
...     assert word_text(put | int(told["unknown_bits"], 16)) == told["word"] == word_text(word)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descriptors import text
from descriptors.output.words.fields import field_cells, number_or_text
from descriptors.output.words.pages import page
from descriptors.smem.debug.decode import Decoded, Expectation
from descriptors.smem.debug.warnings import Remark
from descriptors.smem.words.bitfield import span
from descriptors.text import aligned, word_text


@text.tell.register(Decoded)
def tell(decoded: Decoded, expected: Sequence[Expectation] = ()) -> str:
    """A decoded word for a person: a line for each field, then warnings and notes, then what was expected of it.

    >>> from descriptors import decode
    >>> for line in tell(decode(0x4000404000010000, "sm100", dtype="bf16", major="K")).splitlines()[:4]:
    ...     print(line)
    0x4000404000010000: sm100 shared-memory descriptor of an operand: bf16 K-major
       field                bits            value    in the word
       start_address        [0,14)        0 bytes   0 x 16 bytes  where the operand starts
       leading_byte_offset  [16,30)      16 bytes   1 x 16 bytes  not read; CUTLASS writes 16 bytes, others 0
    """
    rows = _fields(decoded)
    remarks = [*(f"warning: {one}" for one in decoded.warnings), *(f"note: {one}" for one in decoded.notes)]
    return "\n".join([decoded.headline, *aligned(rows, "<<>><", indent=3), *remarks, *map(str, expected)])


def _fields(decoded: Decoded) -> list[tuple[str, ...]]:
    """The table of the fields, its heading first."""
    rows: list[tuple[str, ...]] = [("field", "bits", "value", "in the word", "")]
    for row in decoded.fields:
        rows.append((row.name, span(row.field), *field_cells(row.field, row.stored, row.value), row.meaning))
    return rows


@text.html.register(Decoded)
def _html(decoded: Decoded) -> str:
    return page(tell(decoded), [("fields", _fields(decoded))], text.image(decoded))


def record(decoded: Decoded, expected: Sequence[Expectation] = ()) -> dict[str, Any]:
    """A decoded word as plain data, with what was expected of it."""
    told = {
        "word": word_text(decoded.word),
        "arch": decoded.arch,
        "fields": {row.name: number_or_text(row.value) for row in decoded.fields},
        "stored": {row.name: row.stored for row in decoded.fields},
        "meanings": {row.name: row.meaning for row in decoded.fields},
        "dont_care": decoded.dont_care,
        "unknown_bits": word_text(decoded.unknown_bits),
        "warnings": [record_remark(remark) for remark in decoded.warnings],
        "notes": [record_remark(remark) for remark in decoded.notes],
    }
    return told | {"expected": [_record_expectation(one) for one in expected]} if expected else told


def _record_expectation(one: Expectation) -> dict[str, Any]:
    expected, found = number_or_text(one.expected), number_or_text(one.found)
    return {"field": one.field, "expected": expected, "found": found, "met": one.met}


def record_remark(remark: Remark) -> dict[str, str]:
    """A remark as plain data."""
    return {"kind": remark.kind, "field": remark.field, "text": remark.text}
