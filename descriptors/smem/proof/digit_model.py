"""The read model as maps over digits: extents and steps instead of addresses.

``read_model`` computes the address of each element. Here the same address is a sum over the digits of i along MN and of
k along K, followed by an exclusive-or. Both are models of the hardware and share no code, so that tests can compare
them. In elements, with ``p`` elements per 16 bytes; W = 1, 2, 4 or 8 units of 16 bytes for no swizzle, 32B, 64B or
128B; LBO and SBO in such units::

    K-major                k: (p, 1), (.., p or, without a swizzle, p*LBO)      i: (8, p*W), (.., p*SBO)
    MN-major, no swizzle   i: (p, 1), (.., p*SBO)                               k: (8, p),   (.., p*LBO)
    MN-major, swizzled     i: (p*W, 1), (.., p*LBO)                             k: (8, p*W), (.., p*SBO)

with 4 instead of 8 rows of k for 128B with 32-byte atoms, and a shorter digit if the operand ends inside it. Then, in
units of 16 bytes, with r the number of the 128-byte line minus the base offset: bits 0 to B-1 ^= bits 0 to B-1 of r, or
bits 1 to 2 ^= bits 0 to 1 of r for 32-byte atoms. Source: as ``read_model``.

Invariant: the digits give the addresses of the read model.

>>> from descriptors.smem.proof.read_model import read_addresses
>>> word = 0x4000404000010000
>>> parts, rows = fields(word, "sm100"), read_addresses(word, "sm100", dtype="bf16", major="K", shape=(64, 16))
>>> i, k = walk(parts, "bf16", "K", (64, 16))
>>> i, k, tuple(parts.pattern)
(((8, 64), (8, 512)), ((8, 1), (2, 8)), (8, 3, 0, 8))
>>> plain = [8 * parts.start + sum(x % n * d + x // n * e for x, ((n, d), (_, e)) in ((9, i), (13, k)))]
>>> [2 * (at ^ (at >> 6 & 7) << 3) for at in plain] == [rows[9, 13]]
True
"""

from __future__ import annotations

from typing import Any, NamedTuple

from descriptors.errors import DescriptorError

#: Elements per 16 bytes; an element in a 16-byte container counts as a byte.
_PER_16_BYTES = {
    "tf32": 4, "f16": 8, "bf16": 8, "s1z4m11": 8, "e4m3": 16, "e5m2": 16, "s8": 16, "u8": 16, "e2m3": 16, "e3m2": 16,
    "e2m1_unpacksmem": 16, "e2m1": 32,
}  # fmt: skip


class Pattern(NamedTuple):
    """A swizzle, in 16-byte units: width of a row, number and position of the changed bits, rows of k of an atom."""

    span: int
    bits: int
    position: int
    rows: int

    def __repr__(self) -> str:
        return f"Pattern{tuple(self)}"


_NONE, _32B, _64B, _128B = Pattern(1, 0, 0, 8), Pattern(2, 1, 0, 8), Pattern(4, 2, 0, 8), Pattern(8, 3, 0, 8)
_PATTERNS = {
    "sm90": {0: _NONE, 1: _128B, 2: _64B, 3: _32B},
    "sm100": {0: _NONE, 1: Pattern(8, 2, 1, 4), 2: _128B, 4: _64B, 6: _32B},
}
_PATTERNS["sm107"] = _PATTERNS["sm100"]
#: Masks of the address fields: of the start address and of LBO.
_ADDRESS = {"sm90": 0x3FFF, "sm100": 0x3FFF, "sm107": 0x7FFF}


class Fields(NamedTuple):
    """The fields of a descriptor word, in 16-byte units.

    Args:
        start: the start address.
        leading: the leading byte offset.
        stride: the stride byte offset.
        base_offset: number of lines by which the pattern starts later.
        pattern: the swizzle.
        absolute: whether the leading byte offset is the address of a line.
    """

    start: Any
    leading: Any
    stride: Any
    base_offset: int
    pattern: Pattern
    absolute: bool


def fields(word: int, arch: str) -> Fields:
    """Decode the fields of a word that determine the addresses.

    Args:
        word: the 64 bits.
        arch: the architecture of the word: ``"sm90"``, ``"sm100"`` or ``"sm107"``.

    Raises:
        DescriptorError: if the word has no meaning: a version other than 1 on sm100 or sm107, an invalid swizzle code,
            or the half of a row of a compressed operand.

    >>> fields(0x4000404000010004, "sm100")
    Fields(start=4, leading=1, stride=64, base_offset=0, pattern=Pattern(8, 3, 0, 8), absolute=False)
    """
    newer, address = arch != "sm90", _ADDRESS[arch]
    pattern = _PATTERNS[arch].get(word >> 61 if newer else word >> 62)
    if pattern is None or (newer and word >> 46 & 7 != 1) or (arch == "sm107" and word >> 53 & 1):
        raise DescriptorError(
            f"walk: the {arch} word {word:#x} has an unsupported swizzle code, version or half of a compressed row"
        )
    parts = word & address, word >> 16 & address, word >> 32 & 0x3FFF, word >> 49 & 7
    return Fields(*parts, pattern, newer and bool(word >> 52 & 1))


def unplaced(word: int, absolute: bool, arch: str = "sm100") -> int:
    """Return a word without its start address; with ``absolute``, also without its leading byte address.

    >>> hex(unplaced(0x4000404000010004, False)), hex(unplaced(0x4000404000010004, True))
    ('0x4000404000010000', '0x4000404000000000')
    """
    address = _ADDRESS[arch]
    return word & ~(address << 16 | address if absolute else address)


def placing(start: int, line: int) -> int:
    """Return the number to add to such a word for a start address and a leading byte address, in 16-byte units.

    Invariant: if no field overflows, the numbers of two additions can be added.

    >>> placing(4, 8) + placing(1, 16) == placing(5, 24) == 5 + (24 << 16)
    True
    """
    return start + (line << 16)


def per_16_bytes(dtype: str) -> int:
    """Return the number of elements per 16 bytes; an element in a 16-byte container counts as a byte.

    >>> per_16_bytes("bf16"), per_16_bytes("e2m1")
    (8, 32)
    """
    return _PER_16_BYTES[dtype]


def xor(pattern: Pattern, dtype: str) -> tuple[int, int, int]:
    """Return the exclusive-or on offsets in elements: (number of bits, lowest changed bit, distance to the read bits).

    >>> xor(fields(0x4000404000010000, "sm100").pattern, "bf16")
    (3, 3, 3)
    """
    below = per_16_bytes(dtype).bit_length() - 1
    return (pattern.bits, pattern.position + below, 3 - pattern.position) if pattern.bits else (0, 0, 0)


def walk(
    told: Fields, dtype: str, major: str, shape: tuple[int, int]
) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """Return the digits (extent, step) along MN and along K, in elements relative to the start address.

    Args:
        told: the fields of the word; the start address is not used.
        dtype: the element type.
        major: ``"K"`` or ``"MN"``.
        shape: extents (MN, K) that one instruction reads, in elements.

    Returns:
        both maps, or None if an extent ends inside a digit.
    """
    (span, bits, _, rows), whole = told.pattern, _PER_16_BYTES[dtype]
    mn, k = shape
    if major == "K":
        along = _cut(k, ((whole, 1), (0, whole if bits else whole * told.leading)))
        across = _cut(mn, ((8, whole * span), (0, whole * told.stride)))
        return None if along is None or across is None else (across, along)
    further, down = (told.leading, told.stride) if bits else (told.stride, told.leading)
    along = _cut(mn, ((whole * span, 1), (0, whole * further)))
    across = _cut(k, ((rows, whole * span), (0, whole * down)))
    return None if along is None or across is None else (along, across)


def _cut(extent: int, digits: tuple[tuple[int, Any], tuple[int, Any]]) -> tuple[Any, ...] | None:
    """Divide an extent by a first digit; return both digits, or None if the extent is not a multiple of the first."""
    (first, step), (_, rest) = digits
    if extent <= first:
        return ((extent, step),)
    return None if extent % first else ((first, step), (extent // first, rest))
