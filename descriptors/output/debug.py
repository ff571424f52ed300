"""What the debugger's commands print, as plain data for JSON, and the table of addresses that ``read`` shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from descriptors.debug.candidates import Candidate
from descriptors.debug.decode import Decoded
from descriptors.debug.diff import Diff
from descriptors.operands.operand import ElementType, Major
from descriptors.proof import read_model
from descriptors.proof.addresses import address_bits, address_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Rows and columns of 16-byte pieces that are shown unless all are asked for.
_ROWS, _COLUMNS = 32, 16


def read_table(
    found: Decoded, element: ElementType, major: Major, fetched: NDArray[np.uint32], everything: bool
) -> Iterator[str]:
    """Lines of a table of what the tensor core fetches, a cell for every 16 bytes, the contiguous dimension across.

    Args:
        found: the word.
        element: the element type.
        major: the contiguous dimension.
        fetched: the address of every element, as ``fetched_addresses`` gives them.
        everything: show all rows and columns.
    """
    yield f"read model: {read_model.evidence(arch=found.arch, dtype=element, major=major)}"
    yield from (f"warning: {remark}" for remark in found.warnings)
    elements, (down, across) = element.per_16_bytes, ("mn", "k") if major is Major.K else ("k", "mn")
    in_bytes = fetched // (8 // address_bits(element))
    rows = (in_bytes if major is Major.K else in_bytes.T)[:, ::elements].tolist()
    most, widest = (len(rows), len(rows[0])) if everything else (_ROWS, _COLUMNS)
    shown = [row[:widest] for row in rows[:most]]
    width = max(len(f"{max(map(max, shown)):#x}"), len(str(len(shown[0]) * elements)))
    corner = f"{down} \\ {across}"
    margin = max(len(corner), len(str(len(rows))))
    yield " ".join([f"{corner:>{margin}} ", *(f"{j * elements:>{width}}" for j in range(len(shown[0])))])
    for i, row in enumerate(shown):
        yield " ".join([f"{i:>{margin}} ", *(f"{f'{place:#x}':>{width}}" for place in row)])
    left_out = ((len(rows) - len(shown), "rows"), (len(rows[0]) - len(shown[0]), "columns"))
    notes = [f"{count} more {name}" for count, name in left_out if count]
    if notes:
        yield f"{' and '.join(notes)}: --all shows them"
    yield f"a cell is the byte address of 16 bytes, {elements} elements along {across}"


def read_record(found: Decoded, element: ElementType, major: Major, fetched: NDArray[np.uint32]) -> dict[str, Any]:
    """What the tensor core fetches, as plain data: an address for every element."""
    return {
        "word": f"0x{found.word:016x}",
        "arch": found.arch,
        "dtype": element.name,
        "major": str(major),
        "shape": fetched.shape,
        "unit": address_unit(element),
        "evidence": read_model.evidence(arch=found.arch, dtype=element, major=major),
        "warnings": [_remark(remark) for remark in found.warnings],
        "addresses": fetched.tolist(),
    }


def _remark(remark: Any) -> dict[str, str]:
    return {"kind": remark.kind, "field": remark.field, "text": remark.text}


def decode_record(found: Decoded) -> dict[str, Any]:
    """A decoded word as plain data."""
    return {
        "word": f"0x{found.word:016x}",
        "arch": found.arch,
        "fields": {row.name: row.value if isinstance(row.value, int) else str(row.value) for row in found.fields},
        "stored": {row.name: row.stored for row in found.fields},
        "meanings": {row.name: row.meaning for row in found.fields},
        "dont_care": found.dont_care,
        "unknown_bits": f"0x{found.unknown_bits:016x}",
        "warnings": [_remark(remark) for remark in found.warnings],
        "notes": [_remark(remark) for remark in found.notes],
    }


def diff_record(found: Diff) -> dict[str, Any]:
    """A comparison as plain data."""

    def plain(value: Any) -> Any:
        return value if isinstance(value, int) else str(value)

    return {
        "word": f"0x{found.word:016x}",
        "arch": found.arch,
        "dtype": found.element.name,
        "major": str(found.major),
        "shape": found.shape,
        "layout": str(found.layout),
        "base": found.base,
        "same": found.ok,
        "elements": found.shape[0] * found.shape[1],
        "differing": found.differing,
        "mismatches": [
            {"coordinate": one.coordinate, "unit": one.unit, "expected": one.expected, "found": one.found}
            for one in found.mismatches
        ],
        "picture": {"rows": found.picture.rows, "block": found.picture.block},
        "right_word": None if found.right_word is None else f"0x{found.right_word:016x}",
        "right_major": None if found.right_major is None else str(found.right_major),
        "changes": [
            {"field": one.field, "found": plain(one.found), "right": plain(one.right)} for one in found.changes
        ],
        "illegal": found.illegal,
        "reason": found.reason,
    }


def candidate_record(found: Candidate) -> dict[str, Any]:
    """A candidate as plain data."""
    record: dict[str, Any] = {
        "major": str(found.major),
        "swizzle": str(found.swizzle),
        "fits": found.fit is not None,
        "reason": found.reason,
        "illegal": found.illegal,
    }
    if found.fit is not None:
        descriptor = found.fit.descriptor
        record |= {
            "layout": str(found.fit.layout),
            "canonical": str(found.fit.match.layout),
            "form": str(found.fit.match.form),
            "leading_byte_offset": descriptor.leading_byte_offset,
            "stride_byte_offset": descriptor.stride_byte_offset,
            "dont_care": found.fit.match.dont_care,
            "word": f"0x{descriptor.encode():016x}",
        }
    return record
