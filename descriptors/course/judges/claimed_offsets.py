"""Judges of counterexamples to sentences on canonical forms: layouts of operands of which the sentence is false.

Law: a layout that no word can read is no counterexample to what is said of words.

>>> formula("(64,16):(64,2)", "bf16", "sbo", "8 x bytes")[:60]
'has no word: derive: one dimension must be contiguous over 8'
>>> formula("((8,8),(8,2)):((8,64),(1,512))", "bf16", "sbo", "8 x bytes")
"""

from __future__ import annotations

from collections.abc import Callable

from descriptors.course.judges.typed import layout_of
from descriptors.errors import DescriptorError
from descriptors.smem.debug.diff import diff
from descriptors.smem.debug.read import read
from descriptors.smem.operands.canonical import Match
from descriptors.smem.operands.match import match
from descriptors.smem.operands.operand import Major, as_element_type
from descriptors.smem.words.descriptor import SmemDescriptor
from layoutalg import size

#: What is said of an offset: its value from the extent of K and the bytes of an element.
_FORMULAS: dict[str, Callable[[int, int], int]] = {
    "K x bytes": lambda k, each: k * each,
    "8 x bytes": lambda k, each: 8 * each,
}
#: The most operands of a tile that is looked at.
MOST = 64
#: The name of the field that a sentence is about.
_NAMES = {"lbo": "leading_byte_offset", "sbo": "stride_byte_offset"}


def formula(answer: str, dtype: str, name: str, said: str) -> str | None:
    """A layout of an operand, without a swizzle and K-major, whose LBO or SBO is another than a sentence says."""
    found = _matched(answer, dtype)
    if isinstance(found, str):
        return found
    if found.form.major is not Major.K:
        return "is MN-major, where the sentence is about K-major"
    if _NAMES[name] in found.dont_care:
        return f"has a word in which {name} is not looked at"
    element = as_element_type(dtype)
    value = _FORMULAS[said](_extents(answer)[1], element.storage_bits // 8)
    right = getattr(found, _NAMES[name])
    return None if right != value else f"has the {name} of the sentence: {value}"


def row_step(answer: str, dtype: str, units: int) -> str | None:
    """A K-major layout that one word reads, whose rows are not so many 16-byte units apart."""
    found = _matched(answer, dtype)
    if isinstance(found, str):
        return found
    if found.form.major is not Major.K:
        return "is MN-major, where the sentence is about K-major"
    step = found.form.mode.span_bytes // 16
    return None if step != units else f"has rows {units} units of 16 bytes apart, as the sentence says"


def swapped(answer: str, dtype: str) -> str | None:
    """An MN-major layout whose word steps along K by LBO: with another LBO elements of other k move, and no others."""
    found = _matched(answer, dtype)
    if isinstance(found, str):
        return found
    if found.form.major is not Major.MN:
        return "is K-major, where the sentence is about MN-major"
    shape = _extents(answer)
    words = [
        SmemDescriptor("sm90", found.leading_byte_offset + more, found.stride_byte_offset, found.form.mode).encode()
        for more in (0, 4096)
    ]
    one, other = (read(word, "sm90", dtype=dtype, major="MN", shape=shape).addresses for word in words)
    moved = {(i, k) for i, row in enumerate(one) for k, place in enumerate(row) if place != other[i][k]}
    if not moved:
        return "is too small: no step of LBO is taken in it"
    along_mn = any(k == 0 for _, k in moved)
    return "has an LBO that steps along MN, as the sentence says" if along_mn else None


def split(answer: str, dtype: str, rows: int, k: int) -> str | None:
    """A tile that one word cannot tell, though each of its operands has a word."""
    layout = str(layout_of(answer))
    try:
        match(layout, dtype)
    except DescriptorError:
        pass
    else:
        return "can be told by one word"
    extents = _extents(answer)
    if extents[0] % rows or extents[1] % k:
        return f"is no tile of operands of {rows} by {k}: it has {extents[0]} by {extents[1]}"
    if extents[0] // rows * (extents[1] // k) > MOST:
        return f"has more than {MOST} operands: a smaller tile will do"
    for at in ((i, j) for i in range(extents[0] // rows) for j in range(extents[1] // k)):
        found = diff(0, layout, "sm90", dtype=dtype, major="K", shape=(rows, k), subtile=at, base=0)
        if found.right_word is None:
            return f"has an operand without a word, {at}: {found.reason}"
    return None


def _matched(answer: str, dtype: str) -> Match | str:
    try:
        return match(str(layout_of(answer)), dtype)
    except DescriptorError as error:
        return f"has no word: {error}"


def _extents(answer: str) -> tuple[int, int]:
    layout = layout_of(answer)
    return size(layout, mode=[0]), size(layout, mode=[1])


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "formula": formula,
    "row step": row_step,
    "swapped": swapped,
    "split": split,
}
