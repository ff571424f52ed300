"""The read model: from a shared-memory descriptor word to the byte address of every element the tensor core reads.

The judge of every derivation, so it shares no code with them: the walk and the swizzle are written out here again, in
plain integers, and the field positions in :mod:`descriptors.smem.proof.walk_model`. For element (i, k) of an operand, i
along M or N, with s bytes an element and W = 16, 32, 64 or 128 bytes for no swizzle, 32B, 64B or 128B::

    K-major    b = k*s   offset = (i//8)*SBO + (i%8)*W + b%16 + (b//16)*(16 if swizzled else LBO)
    MN-major   b = i*s   offset = (b//16)*SBO + b%16 + (k%8)*16 + (k//8)*LBO               without swizzle
                         offset = (b//W)*LBO + b%W + (k%8)*W + (k//8)*SBO                  swizzled
    address = start + offset
    address ^= ((address >> 7) - base_offset & 2**B - 1) << 4      for B = 1, 2, 3 of 32B, 64B, 128B

With bit 52 of an sm100 word set (LBO mode 1) LBO is an address, and the offset of a K-major operand has no part of it.
With p = start//16%8 + b//16, the number of a piece of 16 bytes in its line of 128 bytes, ::

    address = start + (i//8)*SBO + (i%8)*128 + b               where p < 8
    address = LBO   + (i//8)*SBO + (i%8)*128 + b%16 + (p-8)*16      beyond the line

and the exclusive-or as ever. This is for the instructions with K = 96 of sm_103a, whose 48 bytes of K may cross from
one swizzle atom to the next. PTX has it for 128B, K-major and base offset 0 alone and says that LBO points to the
second chunk; that its line stands for the pieces beyond is what NVIDIA's kernels rely on.

The exclusive-or takes the *absolute* address, which is why a start inside a swizzle atom works. The sum is not taken
modulo the 18-bit window of the start address: there is nothing to read beyond shared memory, and the hardware faults
(:data:`WINDOW`). sm100 adds 128B with 32-byte atoms: 4 rows of k instead of 8, and Swizzle<2,5,2> on the address.
Evidence: on sm90 measured on a GPU, word by word (``tests/vectors/hopper``); on sm100 documented, not measured.
Source: PTX ISA 9.1, "Asynchronous warpgroup level matrix shared memory layout" (wgmma) and "Shared memory layout and
canonical layouts" (tcgen05); the walk of sm90 in full is the measurement's. LBO mode 1: PTX ISA 9.1, tcgen05 "Absolute
address mode for K dimension being 48B" and its restrictions; CUTLASS ``sm103_blockscaled_mma_warpspecialized.hpp``.

Law: whatever the swizzle, a group of 8 rows is read byte by byte, each once.

>>> for code, width in ((0, 16), (1, 128), (2, 64), (3, 32)):
...     word = code << 62 | 8 * width >> 4 << 32
...     read = read_addresses(word, "sm90", dtype="u8", major="K", shape=(8, width))
...     assert sorted(read.ravel().tolist()) == list(range(8 * width)), code
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from descriptors.smem.proof.walk_model import Walk, names, walk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: One past the last address that a start address can hold: 14 bits that count 16 bytes. A walk that reaches it, or the
#: end of the block's shared memory before it, has no meaning: measured on sm90, an operand past the end of the block's
#: memory ended in "illegal address", and so did each start + offset of 2**18 or more, though taken modulo 2**18 it was
#: inside. Single pieces just past the end were read too, with undefined values (``wgmma_window.json``).
WINDOW = 1 << 18


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
        word: the 64-bit descriptor, reserved bits and all; or several that differ in the start address alone, and in
            LBO where that is an address.
        arch: ``"sm90"`` or ``"sm100"``.
        dtype: name of the element type, or anything whose ``str`` is one.
        major: ``"K"`` or ``"MN"``, likewise.
        shape: (MN, K) extents in elements.

    Returns:
        array of shape (MN, K), dtype uint32; of shape (words, MN, K) for several words.

    Raises:
        DescriptorError: on an unknown name, a shape that is not two positive integers up to 65536 or so big that the
            walk leaves all measure, or a word without meaning on sm100: a version other than 1, an invalid swizzle
            code, an absolute leading byte address where none can be; or if several words differ in more than addresses.

    >>> word = 1 << 62 | 64 << 32 | 1 << 16 | 0x400 >> 4      # 128B, SBO 1024, start 0x400
    >>> addresses = read_addresses(word, arch="sm90", dtype="bf16", major="K", shape=(64, 16))
    >>> [hex(address) for address in addresses[:3, 0]]
    ['0x400', '0x490', '0x520']
    """
    return _read(walk(word, arch, dtype, major, shape))[0]


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

    walked = walk(word, arch, dtype, major, shape)
    addresses, index = _read(walked)
    in_container = (index % (128 // walked.storage)) * walked.step
    result: NDArray[np.uint32] = (addresses & np.uint32(0xFFFFFFF0)) * np.uint32(8) + in_container.astype(np.uint32)
    return result


def evidence(*, arch: str, dtype: object, major: object, absolute: bool = False) -> str:
    """How the model is known for an operand, in words fit for a report; ``absolute`` for words of LBO mode 1.

    Raises:
        ChoiceError: on an unknown name.

    >>> evidence(arch="sm90", dtype="bf16", major="MN")
    'measured on a Hopper GPU'
    >>> evidence(arch="sm100", dtype="bf16", major="K")
    'documented, not measured on a Blackwell GPU'
    """
    arch, name, major_name = names(arch, dtype, major)
    if absolute:
        return "documented in part, completed by NVIDIA's kernels for sm_103a, not measured on a Blackwell GPU"
    if arch == "sm100":
        return "documented, not measured on a Blackwell GPU"
    if name in ("f16", "bf16") or (major_name == "K" and name in ("tf32", "e4m3", "e5m2", "s8", "u8")):
        return "measured on a Hopper GPU"
    return "no wgmma instruction reads such an operand"


def _read(walked: Walk) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The addresses, and the index along the contiguous dimension (to broadcast)."""
    import numpy as np

    w, pattern = walked, walked.pattern
    index, row = np.arange(w.length, dtype=np.uint32), np.arange(w.height, dtype=np.uint32)
    b = index * np.uint32(w.storage) >> np.uint32(3)
    # b % piece + b // piece * step, and likewise the rows, with one division; sums are modulo 2**32.
    along = b + b // np.uint32(w.piece) * np.uint32((w.piece_step - w.piece) % 2**32)
    across = row * np.uint32(pattern.span) + row // np.uint32(w.rows) * np.uint32(
        (w.group_step - w.rows * pattern.span) % 2**32
    )
    if w.k_major:
        index, along, across = index[None, :], along[None, :], across[:, None]
    else:
        index, along, across = index[:, None], along[:, None], across[None, :]
    addresses = _placed(along + across, w, b)
    if pattern.bits:
        number = (addresses >> np.uint32(7)) + np.uint32(8 - w.base)  # 8 is 0 modulo the mask, the sum positive
        number &= np.uint32((1 << pattern.bits) - 1)
        addresses ^= number << np.uint32(pattern.position)
    return addresses, index


def _placed(offsets: NDArray[np.uint32], w: Walk, b: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The offsets from each start address, or from where LBO says; for one word without an axis of words."""
    import numpy as np

    if not w.several and not w.lines:
        offsets += np.uint32(w.starts[0])
        return offsets
    begun = np.array(w.starts, dtype=np.uint32)[:, None, None]
    if w.lines:
        places = [[w.begins(word, x) for x in b.tolist()] for word in range(len(w.starts))]
        begun = np.array(places, dtype=np.int64).astype(np.uint32)[:, None, :]
    placed: NDArray[np.uint32] = offsets + begun
    return placed if w.several else placed[0]
