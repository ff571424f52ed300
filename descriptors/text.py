"""Words and tables written down: hexadecimal words, tuples as CuTe writes them, columns as wide as they must be.

One writer each, for messages and answers alike, so that a word or a tuple reads the same wherever it stands.

Law: a word shows all its bits, four a digit, and reads back; a column of a table begins at one place in every line.

>>> all(len(word_text(w, b)) == 2 + b // 4 and int(word_text(w, b), 16) == w for b in (32, 64) for w in range(1 << 9))
True
>>> {line.index("|") for line in aligned([("m", "|"), ("stages", "|"), ("", "|")])}
{8}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from descriptors.targets import is_measured, known

#: How a fact about ``tcgen05`` is known that PTX's manual has: nobody here could ask a GPU.
DOCUMENTED = known("sm100")


class Told:
    """An answer that tells itself: ``str`` is its story, and a notebook shows its page."""

    __slots__ = ()

    def __str__(self) -> str:
        from descriptors.answers import tell  # only what is printed needs a writer

        return tell(self)

    def _repr_html_(self) -> str:
        from descriptors.answers import page

        return page(self)


def word_text(word: int, bits: int = 64) -> str:
    """A word in hexadecimal, all its digits.

    >>> word_text(0x10000), word_text(0x08200490, 32)
    ('0x0000000000010000', '0x08200490')
    """
    return f"0x{word:0{bits // 4}x}"


def many(count: int, name: str) -> str:
    """The name of one thing or of several.

    >>> many(2, "core matrix"), many(1, "swizzle atom"), many(2, "copy"), many(2, "box")
    ('core matrices', 'swizzle atom', 'copies', 'boxes')
    """
    if count == 1:
        return name
    if name.endswith(("access", "box")):
        return name + "es"
    return name[:-1] + "ies" if name.endswith("copy") else name.replace("matrix", "matrice") + "s"


def counted(number: int, what: str) -> str:
    """A number of things, one or many.

    >>> counted(1, "subtile"), counted(16, "byte")
    ('1 subtile', '16 bytes')
    """
    return f"{number} {many(number, what)}"


def indices_text(count: int) -> str:
    """Return the numbers of so many things that are counted from 0, in words.

    >>> indices_text(1), indices_text(4)
    ('0', '0 to 3')
    """
    return "0" if count == 1 else f"0 to {count - 1}"


def printable(text: str) -> str:
    """A text for a terminal: what it might obey, as Python writes it.

    >>> printable(f"n{chr(27)}[31mx.ptx"), printable("größer.ptx")
    ('n\\\\x1b[31mx.ptx', 'größer.ptx')
    """
    if text.isprintable():
        return text
    return "".join([one if one.isprintable() else ascii(one)[1:-1] for one in text])


def bits_text(bits: int) -> str:
    """A size in bytes, or in bits where it is not whole bytes.

    >>> bits_text(128), bits_text(12)
    ('16 bytes', '12 bits')
    """
    return counted(bits // 8, "byte") if bits % 8 == 0 else counted(bits, "bit")


def some(values: Iterable[object], most: int = 8) -> str:
    """Values in a row; of many the first ones, and the last.

    >>> some(range(4)), some(range(40))
    ('0, 1, 2, 3', '0, 1, 2, 3, 4, 5, ..., 39')
    """
    return ", ".join(some_texts(values, most))


def some_texts(values: Iterable[object], most: int = 8) -> list[str]:
    """The same, one by one.

    >>> some_texts(range(40), 4)
    ['0', '1', '...', '39']
    """
    texts = list(map(str, values))
    return texts if len(texts) <= most else [*texts[: most - 2], "...", texts[-1]]


def listed(label: str, values: Iterable[str], width: int = 80) -> list[str]:
    """A label and what it names, in lines of which none is broken within a value; it goes on under the first.

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
    """A tuple as CuTe writes it: without spaces.

    >>> tuple_text((64, 16))
    '(64,16)'
    """
    return f"({','.join(map(str, values))})"


def extents_text(extents: Iterable[object]) -> str:
    """Extents as people write them.

    >>> extents_text((128, 64))
    '128x64'
    """
    return "x".join(map(str, extents))


def ambiguous_digits(digits: str) -> str:
    """Return the refusal of digits that may be a hexadecimal or a decimal number.

    >>> ambiguous_digits("12"), ambiguous_digits("a0")
    ('must say which number is meant: 0x12, or 12u for the decimal number, 0x000000000000000c', 'must say which number \
is meant: 0xa0')
    """
    or_decimal = f", or {digits}u for the decimal number, {int(digits):#018x}" if digits.isdigit() else ""
    return f"must say which number is meant: 0x{digits}{or_decimal}"


def known_line(arch: str) -> list[str]:
    """The line that ends an answer about an architecture of which nothing was measured; none of ``sm90``.

    >>> known_line("sm100"), known_line("sm90")
    (['known: documented, not measured on a Blackwell GPU'], [])
    >>> known_line("sm107")
    ['known: documented, words compiled by the CuTe DSL 4.8.1, not measured on a Rubin GPU']
    """
    return [] if is_measured(arch) else [f"known: {known(arch)}"]


def known_record(arch: str) -> dict[str, str]:
    """The same in plain data, by the name that derivations and proofs have for it.

    >>> known_record("sm100")["evidence"] == DOCUMENTED, known_record("sm90")
    (True, {})
    """
    return {} if is_measured(arch) else {"evidence": known(arch)}


def aligned(rows: Iterable[Iterable[object]], sides: str = "<", *, indent: int = 0, gap: int = 2) -> list[str]:
    """Lines of a table whose columns are as wide as they must be.

    Args:
        rows: the cells, as many in each row.
        sides: the side of each column, ``<`` or ``>``; a single one for all of them.
        indent: spaces before a line.
        gap: spaces between two columns.

    >>> aligned([("M", 64), ("cta_group", 1)])
    ['M          64', 'cta_group  1']
    >>> aligned([("M", 64), ("N", 8)], ">", indent=1, gap=1)
    [' M 64', ' N  8']
    """
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    sides = sides * len(widths) if len(sides) == 1 else sides
    put = {"<": str.ljust, ">": str.rjust}
    lines = ((put[s](cell, width) for cell, width, s in zip(row, widths, sides, strict=True)) for row in cells)
    return [(" " * indent + (" " * gap).join(line)).rstrip() for line in lines]


def ranges_text(values: Sequence[int]) -> str:
    """Numbers, those that follow one another as a range.

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
