"""The read model: the byte address of every element that the tensor core reads for a shared-memory descriptor word.

Every derivation is verified against this model, so it shares no code with them: bit positions, swizzle codes, strides
and exclusive-or are defined here again, in plain integers. The bits of the word are: start address [0,14), LBO [16,30),
SBO [32,46), base offset [49,52); on sm90 the swizzle from 62 on; on sm100 the version [46,49), LBO mode 52 and the
swizzle from 61 on. sm107 has the fields of sm100, with 15 bits for the start, [0,15), and LBO, [16,31). The first three
fields count 16 bytes. For element (i, k) of an operand, with i along M or N, s bytes per element, and W = 16, 32, 64 or
128 bytes for no swizzle, 32B, 64B or 128B::

    K-major    b = k*s   offset = (i//8)*SBO + (i%8)*W + b%16 + (b//16)*(16 if swizzled else LBO)
    MN-major   b = i*s   offset = (b//16)*SBO + b%16 + (k%8)*16 + (k//8)*LBO               without swizzle
                         offset = (b//W)*LBO + b%W + (k%8)*W + (k//8)*SBO                  swizzled
    address = start + offset
    address ^= ((address >> 7) - base_offset & 2**B - 1) << 4      for B = 1, 2, 3 of 32B, 64B, 128B

If bit 52 of an sm100 word is set (LBO mode 1), LBO is an address and not a stride. Then, for a K-major operand and
with p = start//16%8 + b//16, the number of a 16-byte piece in its line of 128 bytes, ::

    address = start + (i//8)*SBO + (i%8)*128 + b               where p < 8
    address = LBO   + (i//8)*SBO + (i%8)*128 + b%16 + (p-8)*16      beyond the line

with the same exclusive-or. This mode is for the instructions with K = 96 of sm_103a, whose 48 bytes of K may cross from
one swizzle atom to the next. PTX allows it for 128B, K-major and base offset 0 only, and states that LBO points to the
second chunk. NVIDIA's kernels rely on LBO being the line of the pieces beyond the first line.

Start, LBO and SBO count 16 bytes, and the exclusive-or does not change the low four bits. So 16 bytes stay together,
and addresses are computed for 16-byte pieces.

The exclusive-or applies to the *absolute* address, so that a start inside a swizzle atom works. The sum is not taken
modulo the 18-bit window of the start address: the hardware faults beyond shared memory (:data:`WINDOWS`). sm100 also
has 128B with 32-byte atoms: 4 rows of k instead of 8, and Swizzle<2,5,2> on the address.
Evidence: on sm90 measured on a GPU, word by word (``tests/vectors/hopper``); on the others documented, not measured.
Source: PTX ISA 9.1, "Matrix descriptor format" of both, "Asynchronous warpgroup level matrix shared memory layout"
(wgmma) and "Shared memory layout and canonical layouts" (tcgen05). All formulas of sm90 follow from the measurement.
LBO mode 1: PTX ISA 9.1, tcgen05 "Absolute address mode for K dimension being 48B" and its restrictions; CUTLASS
``sm103_blockscaled_mma_warpspecialized.hpp``.

Invariant: for every swizzle, each byte of a group of 8 rows is read once.

>>> for code, width in ((0, 16), (1, 128), (2, 64), (3, 32)):
...     word = code << 62 | 8 * width >> 4 << 32
...     read = read_rows(word, "sm90", dtype="u8", major="K", shape=(8, width))
...     assert sorted(address for row in read for address in row) == list(range(8 * width)), code
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from descriptors.errors import ChoiceError, DescriptorError, as_flag, as_integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: The address of every element: ``rows[mn][k]``.
Rows = list[list[int]]

#: The end of the range of a start address: 14 bits in units of 16 bytes, 15 bits on sm107. An operand that reaches it,
#: or the end of the CTA's shared memory, has no meaning. Measured on sm90: an operand past the end of the CTA's memory
#: ended in "illegal address", and so did each start + offset of 2**18 or more, although it was inside modulo 2**18.
#: Single pieces just past the end were read, with undefined values (``wgmma_window.json``).
WINDOWS = {"sm90": 1 << 18, "sm100": 1 << 18, "sm107": 1 << 19}


class Pattern(NamedTuple):
    """A swizzle: bytes of a row, number and position of the changed bits, and rows of k in an MN-major group."""

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
_PATTERNS["sm107"] = _PATTERNS["sm100"]
# Storage bits of an element, and bits between the starts of two elements within 16 bytes. They differ for 16-byte
# containers, which have 16 narrow elements at their front.
_ELEMENTS = {
    "f16": (16, 16),
    "bf16": (16, 16),
    "tf32": (32, 32),
    "s1z4m11": (16, 16),
    "e4m3": (8, 8),
    "e5m2": (8, 8),
    "s8": (8, 8),
    "u8": (8, 8),
    "e2m3": (8, 6),
    "e3m2": (8, 6),
    "e2m1_unpacksmem": (8, 4),
    "e2m1": (4, 4),
}

#: Bytes that are read and permuted as a unit.
_PIECE = 16
#: Bytes of a line, and the largest K extent, in bytes, of an operand with an absolute LBO.
_LINE, _LONGEST = 128, 48
_MOST_ROWS, _MOST_ELEMENTS = 1 << 16, 1 << 28
_FARTHEST = 1 << 28  # so that bit addresses fit 32 bits


def read_rows(
    word: int, arch: str = "sm100", *, dtype: object, major: object, shape: object, in_bits: bool = False
) -> Rows:
    """Return the shared-memory address from which the tensor core reads each element of an operand: ``rows[mn][k]``.

    The formulas are in this module's docstring. Addresses are not taken modulo the window. If an address is beyond the
    end of the CTA's shared memory, or at the latest beyond :data:`WINDOWS`, the instruction faults or reads undefined
    values.

    Types under 8 bits: two packed ``e2m1`` share a byte and therefore an address; the one with the even index along the
    contiguous dimension is in the low half. For types in 16-byte containers (``e2m3``, ``e3m2``, ``e2m1_unpacksmem``)
    the result is the container's address plus the element's number in it, as if each element had a byte: the layouts
    of these types are those of an 8-bit type. With ``in_bits``, the result is the address of the element's bits.
    Source: PTX ISA 9.1, tcgen05 "Packing formats of elements in tensor and shared memory".

    Args:
        word: the 64-bit descriptor, including reserved bits.
        arch: the architecture of the word: ``"sm90"``, ``"sm100"`` or ``"sm107"``.
        dtype: name of the element type, or a value whose ``str`` is one.
        major: ``"K"`` or ``"MN"``, or a value whose ``str`` is one.
        shape: (MN, K) extents in elements.
        in_bits: return the addresses of the lowest *bits*, not of the bytes: 8 times those of whole-byte types; the odd
            one of two packed ``e2m1`` is 4 bits further, and in a 16-byte container element j starts at bit 4j or 6j.

    Raises:
        DescriptorError: for an unknown name; for a shape that is not two positive integers up to 65536, or is too large
            for the word; or for a word without meaning: on sm100 a version other than 1, an invalid swizzle code, or an
            absolute leading byte address that is not allowed; on sm107 also the half of a row of a compressed operand,
            which this model does not cover.

    >>> word = 1 << 62 | 64 << 32 | 1 << 16 | 0x400 >> 4      # 128B, SBO 1024, start 0x400
    >>> rows = read_rows(word, "sm90", dtype="bf16", major="K", shape=(64, 16))
    >>> [hex(row[0]) for row in rows[:3]]
    ['0x400', '0x490', '0x520']
    >>> read_rows(1 << 46 | 8 << 32 | 1 << 16, dtype="e2m3", major="K", shape=(1, 4), in_bits=True)
    [[0, 6, 12, 18]]
    """
    walked = _walk(word, arch, dtype, major, shape)
    lines = list(_lines(walked, in_bits=in_bits))
    return lines if walked.k_major else [list(column) for column in zip(*lines, strict=True)]


def read_addresses(
    word: int | Sequence[int],
    arch: str = "sm100",
    *,
    dtype: object,
    major: object,
    shape: tuple[int, int],
    in_bits: bool = False,
) -> NDArray[np.uint32]:
    """Return the byte address from which the tensor core reads each element of an operand, as an array.

    Invariant: the numbers are those of :func:`read_rows`.

    Args:
        word: the 64-bit descriptor; or several that differ only in the start address, and in LBO if it is an address.
        arch: the architecture of the word: ``"sm90"``, ``"sm100"`` or ``"sm107"``.
        dtype: name of the element type, or a value whose ``str`` is one.
        major: ``"K"`` or ``"MN"``, or a value whose ``str`` is one.
        shape: (MN, K) extents in elements.
        in_bits: return the addresses of the lowest bits, as in :func:`read_rows`.

    Returns:
        array of shape (MN, K), dtype uint32; of shape (words, MN, K) for several words.

    Raises:
        DescriptorError: as :func:`read_rows`; or if several words differ in more than addresses.

    >>> word = 1 << 62 | 64 << 32 | 1 << 16 | 0x400 >> 4      # 128B, SBO 1024, start 0x400
    >>> addresses = read_addresses(word, arch="sm90", dtype="bf16", major="K", shape=(64, 16))
    >>> [hex(address) for address in addresses[:3, 0]]
    ['0x400', '0x490', '0x520']
    """
    import numpy as np

    words: Sequence[int] = word if isinstance(word, (tuple, list)) else (word,)
    walks = [_walk(each, arch, dtype, major, shape) for each in words]
    kinds = {(walk.word.line is None, *walk.word[2:]) for walk in walks}
    if len(kinds) != 1:
        raise DescriptorError(f"read_addresses: the {len(words)} words do not differ in the start address only")
    first = walks[0]
    unit, within = first.within(in_bits=as_flag(in_bits, "read_addresses: in_bits"))
    pieces = np.array([list(chain.from_iterable(_pieces(walk))) for walk in walks], dtype=np.uint32)
    elements = unit * pieces[..., None] + np.array(within, dtype=np.uint32)
    result: NDArray[np.uint32] = elements.reshape(len(walks), first.height, -1)[..., : first.length]
    result = result if first.k_major else result.swapaxes(1, 2)
    return result if words is word else result[0]


class _Word(NamedTuple):
    """The fields of a word, in bytes: start, LBO as an address or as a stride, SBO, base offset, swizzle."""

    start: int
    line: int | None
    leading: int
    stride: int
    base: int
    pattern: Pattern


class _Walk(NamedTuple):
    """The checked parameters of the address computation for an operand.

    Invariant: the 16-byte piece that begins at byte ``b`` along the contiguous dimension, in row ``r`` across it, has
    the offset ``b%span + b//span*span_step + r%rows*pattern.span + r//rows*group_step``.

    Args:
        word: the fields.
        k_major: whether K is the contiguous dimension.
        length, height: extents along the contiguous dimension and across it.
        storage, step: storage bits of an element, and bits between two elements within 16 bytes.
        span, span_step: number of contiguous bytes, and bytes from one such run to the next.
        rows, group_step: number of rows of a group, and bytes from one group to the next.
    """

    word: _Word
    k_major: bool
    length: int
    height: int
    storage: int
    step: int
    span: int
    span_step: int
    rows: int
    group_step: int

    def begins(self, b: int) -> int:
        """Return the address from which the offset of byte b of a row counts: the start, or the line in LBO.

        The line in LBO begins with the first byte of K that does not fit in the line of the start.
        """
        start, line = self.word.start, self.word.line
        if line is None or start % _LINE + b < _LINE:
            return start
        return line + start % _LINE - _LINE

    def within(self, *, in_bits: bool) -> tuple[int, list[int]]:
        """Return the units per byte of an address, and the starts of the elements of a piece, in these units."""
        unit, each = (8, self.step) if in_bits else (1, self.storage / 8)
        return unit, [int(j * each) for j in range(8 * _PIECE // self.storage)]


def _walk(word: int, arch: object, dtype: object, major: object, shape: object) -> _Walk:
    """Return the parameters for a word; the errors are those of :func:`read_rows`."""
    name, type_name, major_name = _names(arch, dtype, major)
    mn, k = _extents(shape)
    parts = _fields(as_integer(word, "read_addresses: word", maximum=2**64 - 1), name)
    pattern, (storage, step) = parts.pattern, _ELEMENTS[type_name]
    if parts.line is not None:
        _check_absolute(word, parts, parts.line, major_name, k * storage)
    # Along the contiguous dimension, bytes come in spans; across it, rows come in groups.
    if major_name == "K":
        length, height, span, rows = k, mn, _PIECE, 8
        span_step, group_step = (_PIECE if pattern.bits else parts.leading), parts.stride
    else:
        length, height, span, rows = mn, k, pattern.span, pattern.rows
        span_step, group_step = (parts.leading, parts.stride) if pattern.bits else (parts.stride, parts.leading)
    reach = max(parts.start, parts.line or 0) + (length * storage - 1) // 8 // span * span_step
    reach += (height - 1) // rows * group_step
    if reach > _FARTHEST:
        raise DescriptorError(
            f"read_addresses: the operand reaches address {reach:#x}, beyond the limit {_FARTHEST:#x}; {word:#018x}"
        )
    return _Walk(parts, major_name == "K", length, height, storage, step, span, span_step, rows, group_step)


def _pieces(w: _Walk) -> Iterator[list[int]]:
    """Yield the addresses of all pieces, row by row across the contiguous dimension: a list for each group of rows."""
    begin = range(0, -(-w.length * w.storage // 8), _PIECE)
    along = [b % w.span + b // w.span * w.span_step + w.begins(b) for b in begin]
    (span, bits, position, _), base, mask = w.word.pattern, w.word.base, (1 << w.word.pattern.bits) - 1
    for r in range(0, w.height, w.rows):
        group, many = r // w.rows * w.group_step, min(w.rows, w.height - r)
        pieces = [b + across for across in range(group, group + many * span, span) for b in along]
        yield [b ^ ((b >> 7) - base & mask) << position for b in pieces] if bits else pieces


def _lines(w: _Walk, *, in_bits: bool = False) -> Iterator[list[int]]:
    """Yield the addresses of the elements along the contiguous dimension, a list for each row across it."""
    unit, within = w.within(in_bits=in_bits)
    whole = len(within) * -(-w.length // len(within))
    for pieces in _pieces(w):
        if unit > 1:
            pieces = [unit * b for b in pieces]
        elements = [b + at for b in pieces for at in within]
        yield from (elements[first : first + w.length] for first in range(0, len(elements), whole))


def _fields(word: int, arch: str) -> _Word:
    """Return the fields of a word, at the documented positions."""
    code = word >> 62 if arch == "sm90" else word >> 61
    version = word >> 46 & 7
    if arch != "sm90" and version != 1:
        right = f"with version 1 it is {word & ~(7 << 46) | 1 << 46:#018x}"
        raise DescriptorError(
            f"read_addresses: the version of the {arch} word {word:#018x} is {version}, not 1; {right}"
        )
    if arch == "sm107" and word >> 53 & 1:
        raise DescriptorError(f"read_addresses: bit 53 is 1, but a compressed B is not supported; {word:#018x}")
    pattern = _PATTERNS[arch].get(code)
    if pattern is None:
        raise DescriptorError(f"read_addresses: the swizzle code is {code}, not 0, 1, 2, 4 or 6; {word:#018x}")
    last = WINDOWS[arch] // 16 - 1
    start, leading, stride = (word & last) << 4, (word >> 16 & last) << 4, (word >> 32 & 0x3FFF) << 4
    absolute = arch != "sm90" and bool(word >> 52 & 1)
    return _Word(start, leading if absolute else None, 0 if absolute else leading, stride, word >> 49 & 7, pattern)


def _check_absolute(word: int, parts: _Word, line: int, major: str, k_bits: int) -> None:
    """Check the conditions of an absolute LBO, by PTX and by NVIDIA's kernels."""
    pattern, base = parts.pattern, parts.base
    other_swizzle = f"another swizzle, with rows of {pattern.span} bytes and {pattern.bits} bits"
    for need, wrong, fact in (
        ("swizzle 128B", pattern is not _128B, other_swizzle),
        ("a K-major operand", major != "K", "an MN-major operand"),
        ("base offset 0", base != 0, f"base offset {base}"),
        (f"at most {_LONGEST} bytes of K", k_bits > 8 * _LONGEST, f"{k_bits // 8} bytes of K"),
        (f"an LBO that is a multiple of {_LINE}", line % _LINE != 0, f"an LBO that is {line % _LINE} bytes off"),
    ):
        if wrong:
            raise DescriptorError(
                f"read_addresses: an absolute leading byte address (bit 52) needs {need}, but is used with {fact}; "
                f"{word:#018x}"
            )


def _names(arch: object, dtype: object, major: object) -> tuple[str, str, str]:
    """Return the names of the architecture, the type and the dimension."""
    return _named("arch", arch, _PATTERNS), _named("dtype", dtype, _ELEMENTS), _named("major", major, ("K", "MN"))


def _named(what: str, value: object, choices: Iterable[str]) -> str:
    """Return the choice that a value names by its ``str``, in upper or lower case."""
    name, names = str(value), tuple(choices)
    if name in names:
        return name
    exact = {choice.casefold(): choice for choice in names}
    if name.casefold() not in exact:
        raise ChoiceError(f"read_addresses: {what}", value, names)
    return exact[name.casefold()]


def _extents(shape: object) -> tuple[int, int]:
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise DescriptorError("read_addresses: shape is not two extents (MN, K)")
    mn, k = (as_integer(extent, "read_addresses: an extent", minimum=1, maximum=_MOST_ROWS) for extent in shape)
    if mn * k > _MOST_ELEMENTS:
        raise DescriptorError(f"read_addresses: the shape has {mn * k} elements, more than {_MOST_ELEMENTS}")
    return mn, k
