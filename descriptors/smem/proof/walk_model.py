"""The walk of the read model over an operand: its numbers, checked and named, and its addresses in plain Python.

The walk itself is that of :mod:`descriptors.smem.proof.read_model`, which says what it is and how it is known, and
computes it by arrays; here its numbers are checked and named, and for an operand or two the sums are done as they
stand.
Law: element by element the rows are what ``read_addresses`` returns, or ``read_bit_addresses``.

>>> word = 1 << 62 | 64 << 32 | 1 << 16 | 0x400 >> 4
>>> rows = read_rows([word], "sm90", dtype="bf16", major="K", shape=(64, 16))[0]
>>> [hex(row[0]) for row in rows[:3]]
['0x400', '0x490', '0x520']

What a shared-memory descriptor word tells the read model: its fields, where the model itself says that they lie.

The positions of the bits and the codes of the swizzles are written out here again, and shared with no code that is
judged. In bits: start address [0,14), LBO [16,30), SBO [32,46), base offset [49,52), the swizzle from 62 on of sm90; of
sm100 the version [46,49), LBO mode 52, the swizzle from 61 on. The first three count 16 bytes.
Source: PTX ISA 9.1, "Matrix descriptor format" of wgmma and tcgen05.

Law: of words that differ in the start address alone, the starts are told one by one and the rest once.

>>> words = [1 << 62 | 64 << 32 | 1 << 16 | start >> 4 for start in (0x400, 0x420)]
>>> starts, lines, (leading, stride, base, pattern) = common_fields(words, "sm90")
>>> starts, lines, leading, stride, base, pattern.span
([1024, 1056], [], 16, 1024, 0, 128)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from descriptors.errors import ChoiceError, DescriptorError, as_integer


class Pattern(NamedTuple):
    """A swizzle: its row in bytes, how many bits of the row number go where, the rows of k in an MN-major group."""

    span: int
    bits: int
    position: int
    rows: int


_NONE, _32B, _64B, _128B = Pattern(16, 0, 4, 8), Pattern(32, 1, 4, 8), Pattern(64, 2, 4, 8), Pattern(128, 3, 4, 8)
_128B_BASE32B = Pattern(128, 2, 5, 4)
_PATTERNS = {
    "sm90": {0: _NONE, 1: _128B, 2: _64B, 3: _32B},
    "sm100": {0: _NONE, 1: _128B_BASE32B, 2: _128B, 4: _64B, 6: _32B},
}
#: Bytes of a line, within which K lies unless LBO is absolute, and the most of K that an operand has then.
_WORD_MODEL_LINE, _LONGEST = 128, 48


def named(what: str, value: object, choices: Iterable[str]) -> str:
    """The choice that a value names by its ``str``, whatever its case.

    Raises:
        ChoiceError: if it names none.
    """
    found, names = str(value), tuple(choices)
    if found in names:
        return found
    exact = {choice.casefold(): choice for choice in names}
    if found.casefold() not in exact:
        raise ChoiceError(f"read_addresses: {what}", value, names)
    return exact[found.casefold()]


def arch_named(value: object) -> str:
    """The architecture that a value names: ``"sm90"`` or ``"sm100"``.

    Raises:
        ChoiceError: if it names none.
    """
    return named("arch", value, _PATTERNS)


def common_fields(words: Sequence[int], arch: str) -> tuple[list[int], list[int], tuple[int, int, int, Pattern]]:
    """All start addresses, all LBO that are addresses, and the other fields, which must be the same in every word."""
    rows = [_fields(as_integer(word, "read_addresses: word", maximum=2**64 - 1), arch) for word in words]
    absolute = {row[1] is not None for row in rows}
    others = {row[2:] for row in rows}
    if len(others) != 1 or len(absolute) != 1:
        raise DescriptorError(
            "read_addresses: several words must differ in the start address alone, found "
            f"{max(len(others), len(absolute))} kinds"
        )
    return [row[0] for row in rows], [row[1] for row in rows if row[1] is not None], others.pop()


def _fields(word: int, arch: str) -> tuple[int, int | None, int, int, int, Pattern]:
    """Start, LBO where it is an address, LBO where it is a step, SBO in bytes, base offset, and the swizzle."""
    code = word >> 62 if arch == "sm90" else word >> 61
    if arch == "sm100":
        version = word >> 46 & 7
        if version != 1:
            raise DescriptorError(
                f"read_addresses: the version of an sm100 word must be 1, found {version}; {word:#018x}"
            )
    pattern = _PATTERNS[arch].get(code)
    if pattern is None:
        raise DescriptorError(f"read_addresses: the swizzle code must be 0, 1, 2, 4 or 6, found {code}; {word:#018x}")
    start, leading, stride = ((word >> low & 0x3FFF) << 4 for low in (0, 16, 32))
    absolute = arch == "sm100" and bool(word >> 52 & 1)
    return start, leading if absolute else None, 0 if absolute else leading, stride, word >> 49 & 7, pattern


def check_absolute(word: object, major: str, pattern: Pattern, base: int, lines: Sequence[int], k_bits: int) -> None:
    """Refuse an absolute LBO where PTX has none, or nobody shows one."""
    for must, wrong, found in (
        ("swizzle 128B", pattern is not _128B, f"another: rows of {pattern.span} bytes, {pattern.bits} bits"),
        ("a K-major operand", major != "K", "an MN-major one"),
        ("base offset 0", base != 0, str(base)),
        (f"an operand of at most {_LONGEST} bytes of K", k_bits > 8 * _LONGEST, f"{k_bits // 8} bytes"),
        (
            f"a line: a multiple of {_WORD_MODEL_LINE}",
            any(one % _WORD_MODEL_LINE for one in lines),
            f"LBO {max(o % _WORD_MODEL_LINE for o in lines)} off",
        ),
    ):
        if wrong:
            shown = f"{word[0] if isinstance(word, (tuple, list)) else word:#018x}"
            raise DescriptorError(
                f"read_addresses: an absolute leading byte address (bit 52) must have {must}, found {found}; {shown}"
            )


Rows = list[list[int]]

# Bits that an element takes up in its 16 bytes, and bits between the starts of two elements there. They differ where
# 16 narrow elements sit at the front of a 16-byte container.
_ELEMENTS = {
    "f16": (16, 16),
    "bf16": (16, 16),
    "tf32": (32, 32),
    "e4m3": (8, 8),
    "e5m2": (8, 8),
    "s8": (8, 8),
    "u8": (8, 8),
    "e2m3": (8, 6),
    "e3m2": (8, 6),
    "e2m1_unpacksmem": (8, 4),
    "e2m1": (4, 4),
}

#: Bytes of a line, within which K lies unless LBO is absolute.
_LINE = 128
_MOST_ROWS, _MOST_ELEMENTS = 1 << 16, 1 << 28
_FARTHEST = 1 << 28  # so that bit addresses fit 32 bits


class Walk(NamedTuple):
    """A walk over an operand, checked, before any address of it is computed.

    An element has an index ``i`` along the contiguous dimension and a row ``r`` across it. Law: with
    ``b = i*storage//8`` its offset is ``b%piece + b//piece*piece_step + r%rows*pattern.span + r//rows*group_step``.

    Args:
        starts: the start address of each word.
        lines: its LBO where that is an address, for each word; empty where it is a step.
        several: whether there are several words, so that the result has an axis of them.
        k_major: whether K is the contiguous dimension.
        length, height: extents along the contiguous dimension and across it.
        storage, step: bits of an element, and between two elements within 16 bytes.
        piece, piece_step: bytes of a piece, and from one to the next.
        rows, group_step: rows of a group, and bytes from one to the next.
        base: the base offset.
        pattern: the swizzle.
    """

    starts: Sequence[int]
    lines: Sequence[int]
    several: bool
    k_major: bool
    length: int
    height: int
    storage: int
    step: int
    piece: int
    piece_step: int
    rows: int
    group_step: int
    base: int
    pattern: Pattern

    def begins(self, word: int, b: int) -> int:
        """Where the offsets of a word are counted from at byte b of a row: its start, or the line that LBO names.

        The byte that begins the other line is as many bytes of K on as the first line has left.
        """
        start = self.starts[word]
        if not self.lines or start % _LINE + b < _LINE:
            return start
        return self.lines[word] + start % _LINE - _LINE


def walk(word: int | Sequence[int], arch: str, dtype: object, major: object, shape: object) -> Walk:
    """The walk that one word describes, or several.

    Args:
        word, arch, dtype, major, shape: as for :func:`read_addresses`, whose errors these are too.

    >>> found = walk(1 << 62 | 64 << 32 | 1 << 16, "sm90", "bf16", "K", (64, 16))
    >>> found.piece_step, found.group_step, found.pattern.span
    (16, 1024, 128)
    """
    arch, name, major_name = names(arch, dtype, major)
    mn, k = _extents(shape)
    several = isinstance(word, (tuple, list))
    words: Sequence[int] = word if isinstance(word, (tuple, list)) else (word,)
    starts, lines, (leading, stride, base, pattern) = common_fields(words, arch)
    storage, step = _ELEMENTS[name]
    if lines:
        check_absolute(words[0], major_name, pattern, base, lines, k * storage)
    # Along the contiguous dimension b counts bytes in pieces; across it, rows come in groups.
    if major_name == "K":
        length, height, piece, rows = k, mn, 16, 8
        piece_step, group_step = (16 if pattern.bits else leading), stride
    else:
        length, height, piece, rows = mn, k, pattern.span, pattern.rows
        piece_step, group_step = (leading, stride) if pattern.bits else (stride, leading)
    reach = max(*starts, *lines, 0) + (length * storage - 1) // 8 // piece * piece_step
    reach += (height - 1) // rows * group_step
    if reach > _FARTHEST:
        shown = f"{words[0]:#018x}" + (f" and {len(starts) - 1} more" if len(starts) > 1 else "")
        raise DescriptorError(f"read_addresses: a walk must end below {_FARTHEST:#x}, reaches {reach:#x}; {shown}")
    return Walk(
        starts, lines, several, major_name == "K", length, height, storage, step, piece, piece_step, rows, group_step,
        base, pattern,
    )  # fmt: skip


def names(arch: object, dtype: object, major: object) -> tuple[str, str, str]:
    """The architecture, the type and the dimension that these name.

    Raises:
        ChoiceError: if one names none.
    """
    return arch_named(arch), named("dtype", dtype, _ELEMENTS), named("major", major, ("K", "MN"))


def read_rows(
    words: Sequence[int], arch: str = "sm100", *, dtype: object, major: object, shape: tuple[int, int],
    in_bits: bool = False,
) -> list[Rows]:  # fmt: skip
    """The address of every element of the operand of each word: ``rows[word][mn][k]``.

    Args:
        words: descriptors that differ in addresses alone.
        arch, dtype, major, shape: as for ``read_model.read_addresses``, whose errors these are too.
        in_bits: addresses of the lowest bits, not of the bytes.

    >>> read_rows([1 << 62, 1 << 62 | 2], "sm90", dtype="bf16", major="K", shape=(8, 16))[1][1][:3]
    [176, 178, 180]
    """
    walked = walk(list(words), arch, dtype, major, shape)
    across = [
        r % walked.rows * walked.pattern.span + r // walked.rows * walked.group_step for r in range(walked.height)
    ]
    read = []
    for number in range(len(walked.starts)):
        lines = _lines(walked, number, across)
        if in_bits:
            lines = [_bits(walked, line) for line in lines]
        read.append(lines if walked.k_major else [list(column) for column in zip(*lines, strict=True)])
    return read


def _lines(w: Walk, word: int, across: Sequence[int]) -> Rows:
    """The addresses along the contiguous dimension, one list for each row across it."""
    at = [i * w.storage // 8 for i in range(w.length)]
    along = [b % w.piece + b // w.piece * w.piece_step + w.begins(word, b) for b in at]
    if not w.pattern.bits:
        return [[place + row for place in along] for row in across]
    mask, position, base = (1 << w.pattern.bits) - 1, w.pattern.position, w.base
    lines = []
    for row in across:
        sums = [place + row for place in along]
        lines.append([one ^ (((one >> 7) - base & mask) << position) for one in sums])
    return lines


def _bits(w: Walk, line: Sequence[int]) -> list[int]:
    per_container = 128 // w.storage
    return [(one & ~15) * 8 + i % per_container * w.step for i, one in enumerate(line)]


def _extents(shape: object) -> tuple[int, int]:
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise DescriptorError("read_addresses: shape must be two extents (MN, K)")
    mn, k = (as_integer(extent, "read_addresses: an extent", minimum=1, maximum=_MOST_ROWS) for extent in shape)
    if mn * k > _MOST_ELEMENTS:
        raise DescriptorError(f"read_addresses: the shape must have at most {_MOST_ELEMENTS} elements, found {mn * k}")
    return mn, k
