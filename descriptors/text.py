"""Words and tables written down: hexadecimal words, tuples as CuTe writes them, columns as wide as they must be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table(rows: Iterable[Iterable[str]]) -> list[str]:
    """Lines of a table whose columns are as wide as they must be.

    >>> table([("M", "64"), ("cta_group", "1")])
    ['M          64', 'cta_group  1']
    """
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return [line.rstrip() for line in lines]


def word_text(word: int) -> str:
    """A 64-bit word in hexadecimal, all sixteen digits.

    >>> word_text(0x10000)
    '0x0000000000010000'
    """
    return f"0x{word:016x}"


def aligned(rows: Sequence[tuple[str, ...]], sides: str) -> Iterator[str]:
    """Lines of a table, each column to its side: ``<`` or ``>``."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True))
        yield ("   " + "  ".join(cells)).rstrip()


def tuple_text(values: Iterable[object]) -> str:
    """A tuple as CuTe writes it: without spaces."""
    return f"({','.join(map(str, values))})"
