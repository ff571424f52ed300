"""Every ``tcgen05.cp``, a line each: what it reads, and where that lands.

Law: text and data name the same copies.

>>> from descriptors.tmem.copies import tmem_copies
>>> made = tmem_copies()
>>> told = [line.split()[0] for line in tell(made).splitlines()[1 : len(made) + 1]]
>>> told == [one["copy"] for one in record(made)["copies"]]
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descriptors.text import aligned
from descriptors.tmem.copies import TmemCopy


def tell(copies: Sequence[TmemCopy]) -> str:
    """The copies for a person.

    >>> from descriptors.tmem.copies import tmem_copies
    >>> print(tell(tmem_copies()).splitlines()[1])
    128x256b               128  256   8        1       (128,256,1):(2097152,1,0)
    """
    rows: list[tuple[object, ...]] = [
        ("copy", "rows", "bits", "columns", "copies", "(row, bit, copy) -> bit of tensor memory")
    ]
    rows += [(one.name, one.rows, one.bits, one.columns, one.copies, one.cells.layout) for one in copies]
    grades = dict.fromkeys(one.cells.evidence for one in copies)
    known = [(" ".join(one.name for one in copies if one.cells.evidence == grade), grade) for grade in grades]
    return "\n".join([*aligned(rows), *(f"known of {names}: {grade}" for names, grade in known)])


def record(copies: Sequence[TmemCopy]) -> dict[str, Any]:
    """The copies as plain data.

    >>> from descriptors.tmem.copies import tmem_copies
    >>> record(tmem_copies())["copies"][0]["rows"]
    128
    """
    told = [
        {
            "copy": one.name,
            "rows": one.rows,
            "bits": one.bits,
            "columns": one.columns,
            "copies": one.copies,
            "layout": str(one.cells.layout),
            "evidence": one.cells.evidence,
        }
        for one in copies
    ]
    return {"copies": told}
