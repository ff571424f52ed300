"""The word of the chosen subtile as fields that can be changed, and what a changed word would read.

Law: a word that nobody changed is none to compare; a changed one is compared with the tile, element by element.

>>> from descriptors import derive
>>> from descriptors.explorer.parts.question import question
>>> looked = View(derive((128, 128), "bf16", "K", "128B", (64, 16)), cell=(70, 21))
>>> edited_word(looked, question({})), hex(edited_word(looked, question({"edit": {"stride_byte_offset": "512"}})))
(None, '0x4000402000010202')
"""

from __future__ import annotations

import re
from typing import Any

from descriptors.debug.decode import decode
from descriptors.debug.diff import Diff, diff
from descriptors.errors import DescriptorError, brief
from descriptors.explorer.parts.question import Question
from descriptors.output.words.decoded import record as decoded_record
from descriptors.output.words.diff import record, tell
from descriptors.stages.pieces import misread
from descriptors.stages.view import View
from descriptors.text import word_text
from descriptors.words.bitfield import Field, span
from descriptors.words.descriptor import WORDS


def own_word(view: View) -> int:
    """The word of the subtile in which the chosen element lies."""
    return view.derivation.word(*view.subtile, view.stage, view.base)


def edited_word(view: View, q: Question) -> int | None:
    """The word that a question puts in place of the subtile's own; None where it puts none.

    Raises:
        DescriptorError: if it is no word, or a field cannot hold its value.
    """
    if not q.word.strip() and not q.edit:
        return None
    number = _word(q.word) if q.word.strip() else own_word(view)
    layout = WORDS[view.derivation.arch]
    for name, text in q.edit:
        field = layout[name]
        number = number & ~field.mask | field.store(_given(field, text), layout.name) << field.low
    return number


def word_fields(view: View, word: int) -> list[dict[str, Any]]:
    """Every field of a word, lowest first: name, bits, value, what it means, and what it may be.

    >>> from descriptors import derive
    >>> looked = View(derive((128, 128), "bf16", "K", "128B", (64, 16)))
    >>> [(one["name"], one["value"]) for one in word_fields(looked, own_word(looked))][1:3]
    [('leading_byte_offset', 16), ('stride_byte_offset', 1024)]
    """
    d = view.derivation
    read = decode(word, d.arch, dtype=d.element, major=d.major, shape=d.mma)
    told = decoded_record(read)
    return [
        {
            "name": field.name,
            "low": field.low,
            "bits": field.bits,
            "span": span(field),
            "unit": field.unit,
            "value": told["fields"][field.name],
            "stored": told["stored"][field.name],
            "meaning": told["meanings"][field.name],
            "idle": field.name in d.dont_care,
            "choices": [str(meaning) for meaning, _ in field.codes],
        }
        for field in read_fields(d.arch)
    ]


def read_fields(arch: str) -> tuple[Field, ...]:
    """The fields of an architecture's word."""
    return next(word.fields for name, word in WORDS.items() if name == arch)


def compared(view: View) -> dict[str, Any] | None:
    """What the changed word reads of the chosen subtile; None where none was changed."""
    if view.word is None:
        return None
    found = difference(view, view.word)
    wrong = misread(view)
    return {
        "word": word_text(view.word),
        "own": word_text(own_word(view)),
        "ok": found.ok,
        "headline": found.headline,
        "text": tell(found),
        "fields": word_fields(view, view.word),
        "wrong": wrong[:64],
        "differing": found.differing,
        **{key: record(found)[key] for key in ("right_word", "changes", "reason", "illegal")},
    }


def difference(view: View, word: int) -> Diff:
    """A word against the chosen subtile of the tile."""
    d = view.derivation
    return diff(
        word, d.smem_tile, d.arch, dtype=d.element, major=d.major, shape=d.mma,
        subtile=(*view.subtile, *view.anatomy.stage_coordinate), base=view.base, pattern_start=view.base,
    )  # fmt: skip


def _word(text: str) -> int:
    found = re.fullmatch(r"0[xX][0-9a-fA-F_']{1,24}", text.strip(), re.ASCII)
    if found is None:
        raise DescriptorError(f"explore: a word must be hexadecimal, like 0x4000404000010000, found {brief(text)}")
    return int(re.sub("['_]", "", found[0]), 16)


def _given(field: Field, text: str) -> Any:
    """A field's value as it was typed."""
    if field.codes:
        return next((meaning for meaning, _ in field.codes if str(meaning) == text.strip()), text)
    if not re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}|\d{1,18}", text.strip(), re.ASCII):
        raise DescriptorError(f"explore: {field.name} must be a number, found {brief(text)}")
    return int(text, 16 if "x" in text.casefold() else 10)
