"""Sentences and small calculations that several kinds of items share.

Law: a picture of a layout has its offsets, row by row.

>>> rows_of(Layout((2, 3), (3, 1)))
'row 0: `0 1 2`; row 1: `3 4 5`'
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from layoutalg import Layout, size

#: What is added to a question that may have no answer, and how that is answered.
OR_NONE = "If there is none, answer `none`."


def rows_of(layout: Layout) -> str:
    """The offsets of a layout of two modes, row by row."""
    rows, columns = map(size, layout)
    told = [" ".join(str(layout(r, c)) for c in range(columns)) for r in range(rows)]
    return "; ".join(f"row {r}: `{row}`" for r, row in enumerate(told))


def listed(numbers: Iterable[Any]) -> str:
    """Numbers as an answer has them.

    >>> listed([1, 2])
    '1, 2'
    """
    return ", ".join(map(str, numbers))


def spoken(numbers: Iterable[Any]) -> str:
    """Numbers as a sentence has them.

    >>> spoken([2, 3, 5])
    '2, 3 and 5'
    """
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}" if first else last


def unknown(number: int) -> str:
    """As many numbers to fill in.

    >>> unknown(2)
    '?, ?'
    """
    return ", ".join("?" * number)


def two(first: Any, second: Any, d: Any, e: Any) -> str:
    """A layout of two modes, without a check.

    >>> two(4, 8, 8, 1)
    '(4,8):(8,1)'
    """
    return f"({first},{second}):({d},{e})"


def both(a: Any, b: Any) -> str:
    """A pair, as the notation writes it.

    >>> both(2, 3)
    '(2,3)'
    """
    return f"({a},{b})"
