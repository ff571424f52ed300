"""Every major and swizzle mode tried on a layout: the descriptor, or the reason why it does not fit.

Law: a line and a row for each, in one order; a word in the row is in the line.

>>> from descriptors import candidates
>>> found = candidates("(64,16):(64,1)", "bf16", arch="sm90")
>>> for line, row in zip(tell(found).splitlines(), record(found), strict=True):
...     assert line.startswith(f"{row['major']}-major {row['swizzle']}: ") and row.get("word", "") in line
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descriptors.smem.debug.candidates import Candidate
from descriptors.smem.instructions.transpose import transpose_note
from descriptors.smem.operands.operand import Major
from descriptors.text import word_text


def tell(candidates: Sequence[Candidate]) -> str:
    """Candidates for a person, a line each; then what those that are MN-major take of the instruction.

    >>> from descriptors import candidates
    >>> print(tell(candidates("(64,16):(64,1)", "bf16", arch="sm90")[:1]))
    K-major 128B: fits; LBO 16, SBO 1024, word 0x4000004000010000
    """
    transposed = {one.fit.descriptor.arch for one in candidates if one.fit and one.major is Major.MN and one.usable}
    return "\n".join([*map(str, candidates), *map(transpose_note, sorted(transposed))])


def record(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    """Candidates as plain data."""
    return [_candidate_record(candidate) for candidate in candidates]


def _candidate_record(candidate: Candidate) -> dict[str, Any]:
    told: dict[str, Any] = {
        "major": str(candidate.major),
        "swizzle": str(candidate.swizzle),
        "fits": candidate.fit is not None,
        "reason": candidate.reason,
        "illegal": candidate.illegal,
    }
    if candidate.fit is not None:
        descriptor = candidate.fit.descriptor
        told |= {
            "layout": str(candidate.fit.layout),
            "canonical": str(candidate.fit.match.layout),
            "form": str(candidate.fit.match.form),
            "leading_byte_offset": descriptor.leading_byte_offset,
            "stride_byte_offset": descriptor.stride_byte_offset,
            "dont_care": candidate.fit.match.dont_care,
            "word": word_text(descriptor.encode()),
            "transposed": candidate.major is Major.MN,
        }
    return told
