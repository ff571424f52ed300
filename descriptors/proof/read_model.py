"""The read model: from a shared-memory descriptor word to the byte address of every element the tensor core reads.

The judge of every derivation, so it shares no code with them: the field positions, the walk and the swizzle are
written out here again, in plain integers. For element (i, k) of an operand, i along M or N, with s bytes an element
and W = 16, 32, 64 or 128 bytes for no swizzle, 32B, 64B or 128B::

    K-major    b = k*s   offset = (i//8)*SBO + (i%8)*W + b%16 + (b//16)*(16 if swizzled else LBO)
    MN-major   b = i*s   offset = (b//16)*SBO + b%16 + (k%8)*16 + (k//8)*LBO               without swizzle
                         offset = (b//W)*LBO + b%W + (k%8)*W + (k//8)*SBO                  swizzled
    address = start + offset
    address ^= ((address >> 7) - base_offset & 2**B - 1) << 4      for B = 1, 2, 3 of 32B, 64B, 128B

The exclusive-or takes the *absolute* address, which is why a start inside a swizzle atom works. The sum is not taken
modulo the 18-bit window of the start address: there is nothing to read beyond shared memory, and the hardware faults
(:data:`WINDOW`). sm100 adds 128B with
32-byte atoms: 4 rows of k instead of 8, and Swizzle<2,5,2> on the address.
Evidence: on sm90 measured on a GPU, word by word (``tests/vectors/hopper``); on sm100 documented, not measured.
Source: PTX ISA 9.1, "Asynchronous warpgroup level matrix shared memory layout" (wgmma) and "Shared memory layout and
canonical layouts" (tcgen05); the walk of sm90 in full is the measurement's.

Law: whatever the swizzle, a group of 8 rows is read byte by byte, each once.

>>> for code, width in ((0, 16), (1, 128), (2, 64), (3, 32)):
...     word = code << 62 | 8 * width >> 4 << 32
...     read = read_addresses(word, "sm90", dtype="u8", major="K", shape=(8, width))
...     assert sorted(read.ravel().tolist()) == list(range(8 * width)), code
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from descriptors.errors import ChoiceError, DescriptorError, as_integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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


class _Pattern(NamedTuple):
    """A swizzle: its row in bytes, how many bits of the row number go where, the rows of k in an MN-major group."""

    span: int
    bits: int
    position: int
    rows: int


_NONE, _32B, _64B, _128B = _Pattern(16, 0, 4, 8), _Pattern(32, 1, 4, 8), _Pattern(64, 2, 4, 8), _Pattern(128, 3, 4, 8)
_128B_BASE32B = _Pattern(128, 2, 5, 4)
_PATTERNS = {
    "sm90": {0: _NONE, 1: _128B, 2: _64B, 3: _32B},
    "sm100": {0: _NONE, 1: _128B_BASE32B, 2: _128B, 4: _64B, 6: _32B},
}
#: One past the last address that a start address can hold: 14 bits that count 16 bytes. A walk that reaches it, or the
#: end of the block's shared memory before it, has no meaning: measured on sm90, an operand past the end of the block's
#: memory ended in "illegal address", and so did each start + offset of 2**18 or more, though taken modulo 2**18 it was
#: inside. Single pieces just past the end were read too, with undefined values (``wgmma_window.json``).
WINDOW = 1 << 18
_MOST_ROWS, _MOST_ELEMENTS = 1 << 16, 1 << 28
_FARTHEST = 1 << 28  # so that bit addresses fit 32 bits


def read_addresses(
    word: int | Sequence[int],
    arch: str = "sm100",
    *,
    dtype: object,
    major: object,
    shape: tuple[int, int],
) -> NDArray[np.uint32]:
    """The byte address in shared memory that the tensor core reads each element of an operand from.

    Law: the walk of this module's docstring. Nothing is taken modulo the window, so that a walk out of shared memory is
    seen: an address from the end of the block's shared memory on, :data:`WINDOW` at the latest, means that the
    instruction faults or reads undefined values.

    Types under 8 bits: two packed ``e2m1`` share a byte and so an address, the one with the even index along the
    contiguous dimension in the low half. Of types in 16-byte containers (``e2m3``, ``e3m2``, ``e2m1_unpacksmem``) the
    result is the element's *place*, container + number in it, as if each had a byte: the layouts of these types are
    those of an 8-bit type. :func:`read_bit_addresses` tells where their bits really are.

    Args:
        word: the 64-bit descriptor, reserved bits and all; or several that differ in the start address alone.
        arch: ``"sm90"`` or ``"sm100"``.
        dtype: name of the element type, or anything whose ``str`` is one.
        major: ``"K"`` or ``"MN"``, likewise.
        shape: (MN, K) extents in elements.

    Returns:
        array of shape (MN, K), dtype uint32; of shape (words, MN, K) for several words.

    Raises:
        DescriptorError: on an unknown name, a shape that is not two positive integers up to 65536 or so big that the
            walk leaves all measure, or a word without meaning on sm100: a version other than 1, an invalid swizzle
            code, an absolute leading byte address; or if several words differ in more than the start address.

    >>> word = 1 << 62 | 64 << 32 | 1 << 16 | 0x400 >> 4      # 128B, SBO 1024, start 0x400
    >>> addresses = read_addresses(word, arch="sm90", dtype="bf16", major="K", shape=(64, 16))
    >>> [hex(address) for address in addresses[:3, 0]]
    ['0x400', '0x490', '0x520']
    """
    return _read(word, arch, dtype, major, shape)[0]


def read_bit_addresses(
    word: int | Sequence[int],
    arch: str = "sm100",
    *,
    dtype: object,
    major: object,
    shape: tuple[int, int],
) -> NDArray[np.uint32]:
    """The address of each element's lowest *bit*: 8 times its byte address for whole-byte types.

    For packed ``e2m1`` the odd one of two elements is 4 bits on; in a 16-byte container, element j starts at bit 4j or
    6j. The arguments, the result's shape and the errors are those of :func:`read_addresses`.
    Source: PTX ISA 9.1, tcgen05 "Packing formats of elements in tensor and shared memory".

    >>> word = 1 << 46 | 8 << 32 | 1 << 16
    >>> read_bit_addresses(word, arch="sm100", dtype="e2m1", major="K", shape=(1, 4)).tolist()
    [[0, 4, 8, 12]]
    >>> read_bit_addresses(word, arch="sm100", dtype="e2m3", major="K", shape=(1, 4)).tolist()
    [[0, 6, 12, 18]]
    """
    import numpy as np

    addresses, index, (storage, step) = _read(word, arch, dtype, major, shape)
    in_container = (index % (128 // storage)) * step
    result: NDArray[np.uint32] = (addresses & np.uint32(0xFFFFFFF0)) * np.uint32(8) + in_container.astype(np.uint32)
    return result


def evidence(*, arch: str, dtype: object, major: object) -> str:
    """How the model is known for an operand, in words fit for a report.

    Raises:
        ChoiceError: on an unknown name.

    >>> evidence(arch="sm90", dtype="bf16", major="MN")
    'measured on a Hopper GPU'
    >>> evidence(arch="sm100", dtype="bf16", major="K")
    'documented, not measured on a Blackwell GPU'
    """
    arch, name, major_name = _names(arch, dtype, major)
    if arch == "sm100":
        return "documented, not measured on a Blackwell GPU"
    if name in ("f16", "bf16") or (major_name == "K" and name in ("tf32", "e4m3", "e5m2", "s8", "u8")):
        return "measured on a Hopper GPU"
    return "no wgmma instruction reads such an operand"


def _read(
    word: int | Sequence[int], arch: str, dtype: object, major: object, shape: object
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], tuple[int, int]]:
    """The addresses, the index along the contiguous dimension (to broadcast), and the element's bits."""
    import numpy as np

    arch, name, major_name = _names(arch, dtype, major)
    mn, k = _extents(shape)
    starts, leading, stride, base, pattern = _common_fields(word if isinstance(word, (tuple, list)) else (word,), arch)
    storage, step = _ELEMENTS[name]
    # Along the contiguous dimension b counts bytes in pieces; across it, rows come in groups.
    if major_name == "K":
        length, height, piece, rows = k, mn, 16, 8
        piece_step, group_step = (16 if pattern.bits else leading), stride
    else:
        length, height, piece, rows = mn, k, pattern.span, pattern.rows
        piece_step, group_step = (leading, stride) if pattern.bits else (stride, leading)
    reach = max(starts) + (length * storage - 1) // 8 // piece * piece_step + (height - 1) // rows * group_step
    if reach > _FARTHEST:
        first = word[0] if isinstance(word, (tuple, list)) else word
        shown = f"{first:#018x}" + (f" and {len(starts) - 1} more" if len(starts) > 1 else "")
        raise DescriptorError(f"read_addresses: a walk must end below {_FARTHEST:#x}, reaches {reach:#x}; {shown}")
    index, row = np.arange(length, dtype=np.uint32), np.arange(height, dtype=np.uint32)
    b = index * np.uint32(storage) >> np.uint32(3)
    # b % piece + b // piece * step, and likewise the rows, with one division; sums are modulo 2**32.
    along = b + b // np.uint32(piece) * np.uint32((piece_step - piece) % 2**32)
    across = row * np.uint32(pattern.span) + row // np.uint32(rows) * np.uint32(
        (group_step - rows * pattern.span) % 2**32
    )
    if major_name == "K":
        index, along, across = index[None, :], along[None, :], across[:, None]
    else:
        index, along, across = index[:, None], along[:, None], across[None, :]
    addresses: NDArray[np.uint32] = along + across
    if isinstance(word, (tuple, list)):
        addresses = addresses + np.array(starts, dtype=np.uint32)[:, None, None]
    else:
        addresses += np.uint32(starts[0])
    if pattern.bits:
        number = (addresses >> np.uint32(7)) + np.uint32(8 - base)  # 8 is 0 modulo the mask and keeps the sum positive
        number &= np.uint32((1 << pattern.bits) - 1)
        addresses ^= number << np.uint32(pattern.position)
    return addresses, index, (storage, step)


def _common_fields(words: Sequence[int], arch: str) -> tuple[list[int], int, int, int, _Pattern]:
    """All start addresses, and the other fields, which must be the same in every word."""
    rows = [_fields(as_integer(word, "read_addresses: word", maximum=2**64 - 1), arch) for word in words]
    others = {row[1:] for row in rows}
    if len(others) != 1:
        raise DescriptorError(
            f"read_addresses: several words must differ in the start address alone, found {len(others)} kinds"
        )
    return ([row[0] for row in rows], *others.pop())


def _fields(word: int, arch: str) -> tuple[int, int, int, int, _Pattern]:
    """Start, LBO and SBO in bytes, base offset, and the swizzle."""
    code = word >> 62 if arch == "sm90" else word >> 61
    if arch == "sm100":
        version = word >> 46 & 7
        if version != 1:
            raise DescriptorError(
                f"read_addresses: the version of an sm100 word must be 1, found {version}; {word:#018x}"
            )
        if word >> 52 & 1:
            raise DescriptorError(
                "read_addresses: the leading byte offset must be relative, found bit 52 set "
                f"(absolute: only for K=96 on sm_103a); {word:#018x}"
            )
    pattern = _PATTERNS[arch].get(code)
    if pattern is None:
        raise DescriptorError(f"read_addresses: the swizzle code must be 0, 1, 2, 4 or 6, found {code}; {word:#018x}")
    return (word & 0x3FFF) << 4, (word >> 16 & 0x3FFF) << 4, (word >> 32 & 0x3FFF) << 4, word >> 49 & 7, pattern


def _names(arch: object, dtype: object, major: object) -> tuple[str, str, str]:
    names = []
    for what, value, choices in (("arch", arch, _PATTERNS), ("dtype", dtype, _ELEMENTS), ("major", major, ("K", "MN"))):
        found = str(value)
        if found not in choices:
            exact = {choice.casefold(): choice for choice in choices}
            if found.casefold() not in exact:
                raise ChoiceError(f"read_addresses: {what}", value, choices)
            found = exact[found.casefold()]
        names.append(found)
    return names[0], names[1], names[2]


def _extents(shape: object) -> tuple[int, int]:
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise DescriptorError("read_addresses: shape must be two extents (MN, K)")
    mn, k = (as_integer(extent, "read_addresses: an extent", minimum=1, maximum=_MOST_ROWS) for extent in shape)
    if mn * k > _MOST_ELEMENTS:
        raise DescriptorError(f"read_addresses: the shape must have at most {_MOST_ELEMENTS} elements, found {mn * k}")
    return mn, k
