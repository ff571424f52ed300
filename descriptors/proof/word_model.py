"""What a shared-memory descriptor word tells the read model: its fields, where the model itself says that they lie.

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
_LINE, _LONGEST = 128, 48


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
            f"a line: a multiple of {_LINE}",
            any(one % _LINE for one in lines),
            f"LBO {max(o % _LINE for o in lines)} off",
        ),
    ):
        if wrong:
            shown = f"{word[0] if isinstance(word, (tuple, list)) else word:#018x}"
            raise DescriptorError(
                f"read_addresses: an absolute leading byte address (bit 52) must have {must}, found {found}; {shown}"
            )
