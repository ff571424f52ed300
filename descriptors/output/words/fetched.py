"""What a descriptor word makes the tensor core read: a table of addresses, or the address of every element.

Law: a cell of the table is the address of the first of its elements.

>>> from descriptors.smem.debug.read import read
>>> found = read(0x4000404000010000, dtype="bf16", major="K", shape=(16, 32))
>>> table = [line.split()[1:] for line in tell(found, everything=True).splitlines()[2:-1]]
>>> [[int(cell, 16) for cell in row] for row in table] == [list(row[::8]) for row in record(found)["addresses"]]
True
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from descriptors.output.words.decoded import record_remark
from descriptors.smem.debug.read import Fetched
from descriptors.smem.operands.operand import Major
from descriptors.smem.proof.addresses import address_bits, address_unit
from descriptors.text import aligned, word_text

#: Rows and columns of 16-byte pieces that are shown unless all are asked for.
_ROWS, _COLUMNS = 32, 16


def tell(fetched: Fetched, everything: bool = False) -> str:
    """What is fetched for a person: a cell for every 16 bytes, the contiguous dimension across.

    Args:
        fetched: what ``read`` returned.
        everything: show all rows and columns.

    >>> from descriptors.smem.debug.read import read
    >>> print(tell(read(0x4000404000010000, "sm100", dtype="bf16", major="K", shape=(2, 16))))
    read model: documented, not measured on a Blackwell GPU
    mn \\ k     0    8
         0   0x0 0x10
         1  0x90 0x80
    a cell is the byte address of 16 bytes, 8 elements along k
    """
    return "\n".join(_sentences(fetched, everything))


def _sentences(fetched: Fetched, everything: bool) -> Iterator[str]:
    yield f"read model: {fetched.evidence}"
    yield from (f"warning: {remark}" for remark in fetched.decoded.warnings)
    down, across = ("mn", "k") if fetched.major is Major.K else ("k", "mn")
    elements, pieces = fetched.element.per_16_bytes, _pieces(fetched)
    rows, columns = (len(pieces), len(pieces[0])) if everything else (_ROWS, _COLUMNS)
    shown = [row[:columns] for row in pieces[:rows]]
    width = len(f"{max(map(max, shown)):#x}")  # of every column, so that addresses stand in a grid
    # The space at the end of the first cell sets the numbers of the rows apart.
    table = [[f"{down} \\ {across} ", *(f"{j * elements:>{width}}" for j in range(len(shown[0])))]]
    table += [[f"{i} ", *(f"{f'{place:#x}':>{width}}" for place in row)] for i, row in enumerate(shown)]
    yield from aligned(table, ">", gap=1)
    left_out = ((len(pieces) - len(shown), "rows"), (len(pieces[0]) - len(shown[0]), "columns"))
    notes = [f"{count} more {name}" for count, name in left_out if count]
    if notes:
        yield f"{' and '.join(notes)}: --all shows them"
    yield f"a cell is the byte address of 16 bytes, {elements} elements along {across}"


def _pieces(fetched: Fetched) -> list[tuple[int, ...]]:
    """Byte addresses of the 16-byte pieces, the contiguous dimension across."""
    rows = fetched.addresses if fetched.major is Major.K else tuple(zip(*fetched.addresses, strict=True))
    counted = 8 // address_bits(fetched.element)  # an address of bits counts eighths of a byte
    return [tuple(place // counted for place in row[:: fetched.element.per_16_bytes]) for row in rows]


def record(fetched: Fetched) -> dict[str, Any]:
    """What is fetched as plain data: an address for every element."""
    return {
        "word": word_text(fetched.decoded.word),
        "arch": fetched.decoded.arch,
        "dtype": fetched.element.name,
        "major": str(fetched.major),
        "shape": (len(fetched.addresses), len(fetched.addresses[0])),
        "unit": address_unit(fetched.element),
        "evidence": fetched.evidence,
        "warnings": [record_remark(remark) for remark in fetched.decoded.warnings],
        "addresses": fetched.addresses,
    }
