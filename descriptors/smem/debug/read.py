"""Return the address of every element that the tensor core reads for a descriptor word.

Source: the read model of :mod:`descriptors.smem.proof.read_model`, which states its evidence.

Invariant: the word of a derivation reads the addresses where its tile stores the elements.

>>> from descriptors import derive
>>> d = derive((64, 16), "bf16", "MN", "64B", (64, 16))
>>> addresses = read(d.words(1024)[0][0], dtype="bf16", major="MN", shape=(64, 16)).addresses
>>> addresses == tuple(tuple(1024 + 2 * d.smem_tile(i, k) for k in range(16)) for i in range(64))
True
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.smem.debug.decode import Decoded, decode
from descriptors.smem.debug.warnings import as_extents
from descriptors.smem.instructions.legality import read_evidence
from descriptors.smem.operands.operand import ElementType, Major, MajorName, as_element_type, as_major
from descriptors.smem.proof.addresses import fetched_rows
from descriptors.smem.words.descriptor import Arch, with_version
from layoutalg.frozen import frozen

#: The largest number of elements.
_MOST_ELEMENTS = 1 << 20


@frozen
class Fetched:
    """The addresses that the tensor core reads for a word.

    Args:
        decoded: the decoded word, with its warnings.
        element: the element type.
        major: the contiguous dimension.
        addresses: the address of element (mn, k), ``addresses[mn][k]``, in bytes, or in bits for smaller elements.
        evidence: how the read model of this operand is known.
    """

    decoded: Decoded
    element: ElementType
    major: Major
    addresses: tuple[tuple[int, ...], ...]
    evidence: str


def read(
    word: int,
    arch: Arch | None = None,
    *,
    dtype: ElementType | str,
    major: Major | MajorName,
    shape: tuple[int, int],
) -> Fetched:
    """Return the address of every element that the tensor core reads for a descriptor word.

    Args:
        word: the 64-bit word.
        arch: ``"sm90"`` or ``"sm100"``; by the version bits of the word if left out.
        dtype: name of the element type.
        major: the contiguous dimension, ``"K"`` or ``"MN"``.
        shape: extents (MN, K) that one instruction reads, in elements.

    Raises:
        DescriptorError: if an argument is malformed, the word has no meaning, or the shape is too large for a list.

    >>> read(0x4000404000010000, "sm100", dtype="bf16", major="K", shape=(64, 16)).addresses[1][:2]
    (144, 146)
    """
    extents = as_extents(shape, "read: shape", "read: an extent")
    if extents[0] * extents[1] > _MOST_ELEMENTS:
        raise DescriptorError(
            f"read: the shape has {extents[0] * extents[1]} elements, more than the {_MOST_ELEMENTS} that can be listed"
        )
    element, contiguous = as_element_type(dtype), as_major(major)
    decoded = decode(word, arch, dtype=element, major=contiguous, shape=extents)
    number = with_version(decoded.word, decoded.arch)
    fetched = fetched_rows([number], arch=decoded.arch, element=element, major=contiguous, shape=extents)[0]
    return Fetched(
        decoded=decoded,
        element=element,
        major=contiguous,
        addresses=tuple(map(tuple, fetched)),
        evidence=read_evidence(
            decoded.arch, element, contiguous, decoded["swizzle"], extents, absolute=decoded.absolute
        ),
    )
