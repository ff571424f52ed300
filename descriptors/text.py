"""Format values for messages and answers: hexadecimal words, tuples as CuTe writes them, aligned tables.

There is one function for each kind of value, so that a word or a tuple has the same form everywhere.

Invariant: a word has a digit for every four bits and can be read back; a column of a table starts at the same position
in every line.

>>> all(len(word_text(w, b)) == 2 + b // 4 and int(word_text(w, b), 16) == w for b in (32, 64) for w in range(1 << 9))
True
>>> {line.index("|") for line in aligned([("m", "|"), ("stages", "|"), ("", "|")])}
{8}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from descriptors.targets import is_measured, known

#: Evidence for a fact about ``tcgen05`` from the PTX manual, which was not measured.
DOCUMENTED = known("sm100")


class Told:
    """An answer with a text for ``str`` and a page for notebooks."""

    __slots__ = ()

    def __str__(self) -> str:
        from descriptors.answers import tell  # imported only if an answer is printed

        return tell(self)

    def _repr_html_(self) -> str:
        from descriptors.answers import page

        return page(self)


def word_text(word: int, bits: int = 64) -> str:
    """Return a word in hexadecimal, with leading zeros.

    >>> word_text(0x10000), word_text(0x08200490, 32)
    ('0x0000000000010000', '0x08200490')
    """
    return f"0x{word:0{bits // 4}x}"


def many(count: int, name: str) -> str:
    """Return a noun in the singular or the plural.

    >>> many(2, "core matrix"), many(1, "swizzle atom"), many(2, "copy"), many(2, "box")
    ('core matrices', 'swizzle atom', 'copies', 'boxes')
    """
    if count == 1:
        return name
    if name.endswith(("access", "box")):
        return name + "es"
    return name[:-1] + "ies" if name.endswith("copy") else name.replace("matrix", "matrice") + "s"


def counted(number: int, what: str) -> str:
    """Return a number with its noun in the singular or the plural.

    >>> counted(1, "subtile"), counted(16, "byte")
    ('1 subtile', '16 bytes')
    """
    return f"{number} {many(number, what)}"


def indices_text(count: int) -> str:
    """Return the indices of ``count`` items, counted from 0, in words.

    >>> indices_text(1), indices_text(4)
    ('0', '0 to 3')
    """
    return "0" if count == 1 else f"0 to {count - 1}"


def printable(text: str) -> str:
    """Return a text for a terminal, with control characters as Python escapes them.

    >>> printable(f"n{chr(27)}[31mx.ptx"), printable("größer.ptx")
    ('n\\\\x1b[31mx.ptx', 'größer.ptx')
    """
    if text.isprintable():
        return text
    return "".join([character if character.isprintable() else ascii(character)[1:-1] for character in text])


def bits_text(bits: int) -> str:
    """Return a size in bytes, or in bits if it is not a whole number of bytes.

    >>> bits_text(128), bits_text(12)
    ('16 bytes', '12 bits')
    """
    return counted(bits // 8, "byte") if bits % 8 == 0 else counted(bits, "bit")


def some(values: Iterable[object], most: int = 8) -> str:
    """Return values separated by commas; if there are more than ``most``, the first ones and the last.

    >>> some(range(4)), some(range(40))
    ('0, 1, 2, 3', '0, 1, 2, 3, 4, 5, ..., 39')
    """
    return ", ".join(some_texts(values, most))


def some_texts(values: Iterable[object], most: int = 8) -> list[str]:
    """Return the texts of values as a list; if there are more than ``most``, the first ones and the last.

    >>> some_texts(range(40), 4)
    ['0', '1', '...', '39']
    """
    texts = list(map(str, values))
    return texts if len(texts) <= most else [*texts[: most - 2], "...", texts[-1]]


def listed(label: str, values: Iterable[str], width: int = 80) -> list[str]:
    """Return lines with a label and its values; lines break between values and are indented by the label's width.

    >>> listed("change: ", ["swizzle 128B -> 64B", "version 0 -> 1"], 40)
    ['change: swizzle 128B -> 64B,', '        version 0 -> 1']
    >>> listed("change: ", ["version 0 -> 1"])
    ['change: version 0 -> 1']
    """
    lines = [label]
    for value in values:
        if lines[-1] == label:
            lines[-1] += value
        elif len(lines[-1]) + len(value) + 3 <= width:
            lines[-1] += f", {value}"
        else:
            lines[-1] += ","
            lines.append(" " * len(label) + value)
    return lines


def tuple_text(values: Iterable[object]) -> str:
    """Return a tuple as CuTe writes it, without spaces.

    >>> tuple_text((64, 16))
    '(64,16)'
    """
    return f"({','.join(map(str, values))})"


def extents_text(extents: Iterable[object]) -> str:
    """Return extents in the form ``128x64``.

    >>> extents_text((128, 64))
    '128x64'
    """
    return "x".join(map(str, extents))


def ambiguous_digits(digits: str) -> str:
    """Return the fact and the way out for digits that may be a hexadecimal or a decimal number.

    >>> ambiguous_digits("12"), ambiguous_digits("a0")
    ('12 may be hexadecimal or decimal; write 0x12, or 12u for the decimal number 0x000000000000000c', 'a0 has
    hexadecimal \
digits but no 0x; write 0xa0')
    """
    if digits.isdigit():
        decimal = f"{digits}u for the decimal number {int(digits):#018x}"
        return f"{digits} may be hexadecimal or decimal; write 0x{digits}, or {decimal}"
    return f"{digits} has hexadecimal digits but no 0x; write 0x{digits}"


def known_line(arch: str) -> list[str]:
    """Return the last line of an answer about an architecture that was not measured; nothing for ``sm90``.

    >>> known_line("sm100"), known_line("sm90")
    (['known: documented, not measured on a Blackwell GPU'], [])
    >>> known_line("sm107")
    ['known: documented, words compiled by the CuTe DSL 4.8.1, not measured on a Rubin GPU']
    """
    return [] if is_measured(arch) else [f"known: {known(arch)}"]


def known_record(arch: str) -> dict[str, str]:
    """Return the evidence about an architecture that was not measured, as plain data; empty for ``sm90``.

    >>> known_record("sm100")["evidence"] == DOCUMENTED, known_record("sm90")
    (True, {})
    """
    return {} if is_measured(arch) else {"evidence": known(arch)}


def aligned(rows: Iterable[Iterable[object]], sides: str = "<", *, indent: int = 0, gap: int = 2) -> list[str]:
    """Return the lines of a table with aligned columns.

    Args:
        rows: the cells; all rows have the same number of them.
        sides: alignment of each column, ``<`` (left) or ``>`` (right); a single one applies to all columns.
        indent: number of spaces before a line.
        gap: number of spaces between columns.

    >>> aligned([("M", 64), ("cta_group", 1)])
    ['M          64', 'cta_group  1']
    >>> aligned([("M", 64), ("N", 8)], ">", indent=1, gap=1)
    [' M 64', ' N  8']
    """
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    sides = sides * len(widths) if len(sides) == 1 else sides
    justify = {"<": str.ljust, ">": str.rjust}
    lines = (
        (justify[side](cell, width) for cell, width, side in zip(row, widths, sides, strict=True)) for row in cells
    )
    return [(" " * indent + (" " * gap).join(line)).rstrip() for line in lines]


def ranges_text(values: Sequence[int]) -> str:
    """Return numbers separated by commas, with consecutive numbers as a range.

    >>> ranges_text((0, 1, 2, 3, 8))
    '0..3, 8'
    """
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs)
