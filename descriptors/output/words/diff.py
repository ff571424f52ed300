"""A word compared with a layout: what is read from elsewhere, a picture of it, and the right word.

Law: the text says that all is the same if and only if the data does, and has a line for each mismatch of the data.

>>> from descriptors import diff
>>> tile = "S<3,3,3> o 0 o (64,16):(64,1)"
>>> found = [diff(1 << 62 | sbo << 32, tile, "sm90", dtype="bf16", major="K") for sbo in (16, 32, 64, 128)]
>>> [tell(one).count("is stored at") for one in found] == [len(record(one)["mismatches"]) for one in found]
True
>>> [record(one)["same"] for one in found]
[False, False, True, False]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from descriptors import text
from descriptors.output.words.fields import number_or_text
from descriptors.output.words.pages import page
from descriptors.smem.debug.diff import Diff
from descriptors.smem.instructions.transpose import transpose_note
from descriptors.smem.operands.operand import Major
from descriptors.text import word_text

#: Rows that are shown of a picture that is wrong for the most part.
_ROWS = 8


@text.tell.register(Diff)
def tell(diff: Diff) -> str:
    """A comparison for a person: the verdict, the right word, then what differs.

    >>> from descriptors import diff
    >>> found = diff(1 << 62 | 32 << 32, "S<3,3,3> o 0 o (64,16):(64,1)", arch="sm90", dtype="bf16", major="K")
    >>> print(tell(found).splitlines()[1])
    right word: 0x4000004000010000; change stride_byte_offset 512 -> 1024
    """
    differs = [] if diff.ok else [*_right_word(diff), *(f"   {one}" for one in diff.mismatches), *_picture(diff)]
    return "\n".join([diff.headline, *_transposed(diff), *differs])


@text.html.register(Diff)
def _html(diff: Diff) -> str:
    changes = [("field", "found", "right"), *((one.field, one.found, one.right) for one in diff.changes)]
    wrong = [
        ("element", "stored at", "read at"),
        *((one.coordinate, one.expected, one.found) for one in diff.mismatches),
    ]
    return page(tell(diff), [("what to change", changes), ("elements read from elsewhere", wrong)], text.image(diff))


def _transposed(diff: Diff) -> Iterator[str]:
    """What the instruction must be told beside the word, if it reads the layout at all."""
    if (diff.right_major or diff.major) is Major.MN:
        yield transpose_note(diff.arch)


def _picture(diff: Diff) -> Iterator[str]:
    """The picture; where most of it is wrong, only its first rows."""
    ruler, *rows, legend = str(diff.picture).splitlines()
    mostly = 2 * diff.differing > diff.shape[0] * diff.shape[1]
    shown = rows[:_ROWS] if mostly else rows
    yield from [ruler, *shown]
    if len(shown) < len(rows):
        yield f"   ... and {len(rows) - len(shown)} more rows (--json has them all)"
    yield legend


def _right_word(diff: Diff) -> Iterator[str]:
    """What would mend it."""
    if diff.right_word is None:
        yield f"no word reads this layout: {diff.reason}"
        return
    changes = [str(change) for change in diff.changes]
    if diff.right_major is not diff.major:
        changes.append(f"major {diff.major} -> {diff.right_major}")
    yield f"right word: {word_text(diff.right_word)}; change {', '.join(changes) or 'nothing'}"
    if diff.illegal:
        yield f"but no instruction reads such an operand: {diff.illegal}"


def record(diff: Diff) -> dict[str, Any]:
    """A comparison as plain data."""
    return {
        "word": word_text(diff.word),
        "arch": diff.arch,
        "dtype": diff.element.name,
        "major": str(diff.major),
        "shape": diff.shape,
        "layout": str(diff.layout),
        "base": diff.base,
        "same": diff.ok,
        "elements": diff.shape[0] * diff.shape[1],
        "differing": diff.differing,
        "mismatches": [
            {"coordinate": one.coordinate, "unit": one.unit, "expected": one.expected, "found": one.found}
            for one in diff.mismatches
        ],
        "picture": {"rows": diff.picture.rows, "block": diff.picture.block},
        "right_word": None if diff.right_word is None else word_text(diff.right_word),
        "right_major": None if diff.right_major is None else str(diff.right_major),
        "transposed": (diff.right_major or diff.major) is Major.MN,
        "changes": [
            {"field": one.field, "found": number_or_text(one.found), "right": number_or_text(one.right)}
            for one in diff.changes
        ],
        "illegal": diff.illegal,
        "reason": diff.reason,
    }
