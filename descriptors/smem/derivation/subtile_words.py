"""Print the descriptor word of every subtile of a tile as a table, or that of one subtile.

>>> from descriptors import derive
>>> d = derive((64, 64), "bf16", "K", "128B", (64, 16))
>>> tell_subtile(d, (0, 1)).split()[0] in tell_words(d)
True
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from descriptors.errors import DescriptorError, FieldError
from descriptors.records import WORD, Record, Row, each, evidence_row
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.explanation import names
from descriptors.text import aligned, known_line, tuple_text, word_text
from layoutalg import size

#: The largest number of subtiles in a printed table; a record has all of them.
MOST_LISTED = 4096


def tell_words(d: Derivation, base: int = 0) -> str:
    """Return the text table of the words of all subtiles.

    Args:
        d: the result of ``derive``.
        base: address of the tile, in bytes.

    Raises:
        DescriptorError: as ``Derivation.words``.

    >>> from descriptors import derive
    >>> print(tell_words(derive((128, 16), "bf16", "K", "32B", (64, 16), arch="sm90")).splitlines()[2])
         0  0xc000001000010000  0xc000001000010080
    """
    mn, k = (name.lower() for name in names(d))
    title = f"Descriptor word of subtile ({mn}, {k}) of a tile at address {base}"
    if size(d.advance) > MOST_LISTED:
        table = [f"   {size(d.advance)} subtiles are too many to list (--json has them all)."]
    else:
        words = tuple(zip(*_texts(d.words(base)), strict=True))  # k runs down, because three words fill 80 columns
        table = list(subtile_table(words, k, across=mn, columns=3))
    return "\n".join([title, *table, *known_line(d.arch), *_warning_lines(d, base)])


def words_record(d: Derivation, base: int = 0) -> Any:
    """Return the words of all subtiles as plain data, nested like the offsets; None if one starts beyond its field."""
    try:
        return _texts(d.words(base))
    except FieldError:
        return None


def tell_subtile(d: Derivation, subtile: Sequence[int], base: int = 0) -> str:
    """Return the text of a subtile: its word, and its distance from the first.

    Args:
        d: the result of ``derive``.
        subtile: (mn, k), then its stage if the tile has stages.
        base: address of the tile, in bytes.

    Raises:
        DescriptorError: if there is no such subtile.

    >>> from descriptors import derive
    >>> d = derive((128, 64, 4), "bf16", "K", "128B", (64, 16), arch="sm90")
    >>> print(tell_subtile(d, (0, 2, 3)))
    0x4000004000010c04  subtile (0,2,3) of a tile at address 0, 49216 bytes after the first
    """
    record = subtile_record(d, subtile, base)
    place = f"subtile {tuple_text(subtile)} of a tile at address {base}, {record['offset_bytes']} bytes after the first"
    on = f"; K goes on in the line at {record['line_bytes']}" if "line_bytes" in record else ""
    return "\n".join([f"{record['word']}  {place}{on}", *known_line(d.arch), *_warning_lines(d, base)])


#: A subtile of a derivation as plain data. The caller passes all rows except the evidence.
SUBTILE = Record(
    "SubtileWord",
    subtile=[int],
    **each(int, "base offset_bytes"),
    word=WORD,
    line_bytes=Row(int, optional=True),
    evidence=evidence_row(),
    warnings=[str],
)


def subtile_record(d: Derivation, subtile: Sequence[int], base: int = 0) -> dict[str, Any]:
    """Return a subtile as plain data.

    Args:
        d, subtile, base: as in ``tell_subtile``.

    Raises:
        DescriptorError: if there is no such subtile.
    """
    if len(subtile) != len(d.advance):
        raise DescriptorError(
            f"derive: subtile {tuple_text(subtile)} does not have the {len(d.advance)} coordinates "
            f"(mn,k{',stages' * (len(d.advance) > 2)})"
        )
    mn, k, *stages = subtile
    at: Any = tuple(stages) if stages else 0
    line = None if d.crossing is None else d.descriptor_at(base).leading_byte_offset + d.line_of(mn, k, at)
    return SUBTILE(
        d,
        subtile=tuple(subtile),
        base=base,
        offset_bytes=d.offset_of(mn, k, at),
        word=d.word(mn, k, at, base),
        line_bytes=line,
        warnings=d.warnings_at(base),
    )


def _warning_lines(d: Derivation, base: int) -> list[str]:
    return [f"warning: {warning}" for warning in d.warnings_at(base)]


def subtile_table(
    table: object, mn: str = "mn", stage: str = "", *, across: str = "k", columns: int = 16
) -> Iterator[str]:
    r"""Yield the lines of a table with a cell for each subtile; for a tile with stages, a table for each stage.

    Args:
        table: nested as ``Derivation.offsets_bytes``; a cell is a number or a text.
        mn: name of the first dimension, which runs down.
        across: name of the second dimension.
        stage: the stages selected so far, for a tile with several modes of stages.
        columns: the largest number of columns per line.

    >>> print("\n".join(subtile_table(((0, 32), (8192, 8224)))))
       mn \ k     0     1
            0     0    32
            1  8192  8224
    """
    assert isinstance(table, tuple)
    first = table[0]
    if isinstance(first, tuple) and isinstance(first[0], tuple):
        for i in range(len(first[0])):
            of_stage = tuple(tuple(cell[i] for cell in row) for row in table)
            yield from subtile_table(of_stage, mn, f"{stage},{i}" if stage else str(i), across=across, columns=columns)
        return
    if stage:
        yield f"   stage ({stage})" if "," in stage else f"   stage {stage}"
    count = len(first) if isinstance(first, tuple) else 1
    for start in range(0, count, columns):
        stop = min(start + columns, count)
        rows = [(f"{mn} \\ {across}", *map(str, range(start, stop)))]
        for i, row in enumerate(table):
            assert isinstance(row, tuple)
            rows.append((str(i), *map(str, row[start:stop])))
        yield from aligned(rows, ">", indent=3)


def _texts(table: object) -> Any:
    """Return a table of words in hexadecimal."""
    return word_text(table) if isinstance(table, int) else tuple(map(_texts, table))  # type: ignore[call-overload]
