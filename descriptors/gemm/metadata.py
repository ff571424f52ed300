"""Compress 2:4 sparse matrices, and pack the metadata that give the position of each stored element.

At most two of every four elements of a row of A along K are not zero; for tf32, at most one of every two. A sparse
instruction gets only the stored elements, half of K, and four bits of metadata for each group: the positions of its two
stored elements, two bits each, with the first in the low bits (codes 4, 8, 9, c, d, e). For tf32 the code is 4 or e for
the first or second of two elements. Elements of 4 bits, which only sm100 supports, are stored in pairs: two of four
pairs, of every eight elements.

``wgmma.mma_async.sp`` reads the codes from one register of the threads. For 8-bit elements, one register of 128 threads
has the codes of K 64. For other elements, only half of the threads are read, and a selector chooses the half. The two
halves hold the codes of two K blocks, so that all bits are used. Packed for sm90, the 32-bit words for the 128 threads
of a warpgroup follow one another; first all along K, then the next 64 rows::

    word = ((m/64) (K / covered) + k / covered) 128 + thread

``tcgen05.mma.sp`` reads the codes from tensor memory. Packed for sm100, they have the format that
``tcgen05.cp.128x128b`` copies to four columns: 16 bytes for each of 128 lanes; first all along K, then the next 128
rows. For 4-bit and 8-bit elements an instruction reads two columns. For others it reads one of two columns: it gets an
even column, and the selector in its instruction descriptor chooses between this column and the next.

Source: PTX ISA 9.1, wgmma.mma_async.sp, sparse matrix storage; tcgen05.mma.sp, sparse matrices; CUTLASS
``mma_traits_sm90_gmma_sparse.hpp``, ``mma_traits_sm100.hpp``, ``sm1xx_sparse_config.inl``. The format for sm90 was
measured on Hopper (``scripts/probe_wgmma sparse``); the format for sm100 was not measured.

Invariant: ``expand`` inverts ``compress``, and ``unpack_metadata`` inverts ``pack_metadata``.

>>> import numpy as np
>>> dense = np.arange(64 * 64).reshape(64, 64) * np.tile([0, 1, 0, 1], 16)
>>> values, positions = compress(dense, "bf16")
>>> (expand(values, positions, "bf16") == dense).all(), values.shape
(np.True_, (64, 32))
>>> words = pack_metadata(positions, "bf16")
>>> words.shape, hex(words[0, 0, 0]), (unpack_metadata(words, "bf16") == positions).all()
((1, 1, 128), '0xdddddddd', np.True_)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from descriptors.errors import DescriptorError, as_array, as_integer
from descriptors.smem.operands.operand import ElementType, as_element_type
from descriptors.smem.words.descriptor import Arch, architecture
from descriptors.targets import has_wgmma
from layoutalg import Layout, make_layout, offsets
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The codes of tf32, by the position of the stored element.
_CODES_OF_TWO = (0x4, 0xE)


@frozen
class Arrangement:
    """The format of the metadata for an element type and an architecture.

    Args:
        arch: the architecture, such as ``"sm90"`` or ``"sm100"``.
        bits: bits of an element of A.
        rows: rows of A whose metadata are packed together.
        depth: K of an instruction, with zeros counted.
        covered: K, with zeros counted, whose metadata are packed together: in the words of a warpgroup, or in four
            columns.
    """

    arch: Arch
    bits: int
    rows: int
    depth: int
    covered: int

    @property
    def group(self) -> int:
        """Number of elements, with zeros counted, that share a code of four bits."""
        return {4: 8, 32: 2}.get(self.bits, 4)

    @property
    def together(self) -> int:
        """Number of elements that are stored or left out together."""
        return 2 if self.bits == 4 else 1

    @property
    def stored(self) -> int:
        """Number of elements of a group that are stored."""
        return self.group // 2

    @property
    def blocks(self) -> int:
        """Number of K blocks whose metadata are packed together."""
        return self.covered // self.depth

    @property
    def selectors(self) -> int:
        """Number of K blocks that use the same register or column, distinguished by their selectors."""
        return self.blocks if has_wgmma(self.arch) else 1 if self.bits <= 8 else 2

    @property
    def block_bits(self) -> int:
        """Number of bits that are packed together."""
        return self.rows * self.covered // self.group * 4


def arrangement(dtype: str | ElementType, arch: str = "sm90") -> Arrangement:
    """Return the format of the metadata for an element type.

    Args:
        dtype: the element type of A.
        arch: the architecture, such as ``"sm90"`` or ``"sm100"``.

    Raises:
        DescriptorError: if the element type is not supported.

    >>> arrangement("tf32"), arrangement("e4m3").blocks
    (Arrangement(arch='sm90', bits=32, rows=64, depth=16, covered=32), 1)
    """
    element, of = as_element_type(dtype), architecture(arch)
    bits = element.storage_bits
    hopper = has_wgmma(of)
    if bits not in ((8, 16, 32) if hopper else (4, 8, 16, 32)) or (hopper and element.bits != bits):
        legal = "8, 16 or 32 bits on sm90" if hopper else f"4, 8, 16 or 32 bits on {of}"
        raise DescriptorError(f"metadata: {element} elements of A are not supported; supported: elements of {legal}")
    depth = 512 // bits
    if has_wgmma(of):
        return Arrangement(of, bits, 64, depth, depth * (1 if bits == 8 else 2))
    return Arrangement(of, bits, 128, depth, depth * (2 if bits <= 8 else 4))


def metadata_layout(m: int, k: int, dtype: str | ElementType, arch: str = "sm90") -> Layout:
    """Return the layout of the packed metadata of a matrix: (m, k), with zeros counted, to a bit.

    A 32-bit element has two bits of metadata, a 4-bit element half a bit, other elements one bit. The bits of the
    elements of a group are its code.

    Args:
        m: rows of A, a multiple of 64 (sm90) or 128 (sm100).
        k: K, with zeros counted, a multiple of the K that is packed together.
        dtype, arch: as in ``arrangement``.

    Raises:
        DescriptorError: if the extents are not such multiples; the message has the next multiple.

    >>> print(metadata_layout(64, 64, "bf16"))
    ((8,2,4,1),(16,2,2,1)):((128,16,1024,0),(1,32,64,0))
    >>> print(metadata_layout(128, 128, "e4m3", "sm100"))
    ((128,1),(32,4,1)):((128,0),(1,32,0))
    """
    packing = arrangement(dtype, arch)
    rows, depth = as_integer(m, "metadata: M", minimum=1), as_integer(k, "metadata: K", minimum=1)
    for name, extent, unit in (("M", rows, packing.rows), ("K", depth, packing.covered)):
        if extent % unit:
            raise DescriptorError(
                f"metadata: {name} is {extent}, which is not a multiple of the {unit} whose metadata are packed "
                f"together; pad it with zeros to {-(-extent // unit) * unit}; dtype = {as_element_type(dtype)}, arch = "
                f"{packing.arch}"
            )
    blocks_m, blocks_k, each = rows // packing.rows, depth // packing.covered, packing.block_bits
    down, across = _within(packing)
    along_m = Layout((*(n for n, _ in down), blocks_m), (*(s for _, s in down), blocks_k * each * (blocks_m > 1)))
    along_k = Layout((*(n for n, _ in across), blocks_k), (*(s for _, s in across), each * (blocks_k > 1)))
    return make_layout(along_m, along_k)


def _within(packing: Arrangement) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return extents and strides, in bits, of the metadata that are packed together: along M, and along K.

    On sm90 each thread has 32 bits, one thread after the other. On sm100 each lane of tensor memory has 128 bits, in
    four columns.
    """
    if has_wgmma(packing.arch):
        if packing.bits == 8:
            return [(8, 128), (2, 32), (4, 1024)], [(32, 1), (2, 64)]
        unit = packing.bits // 16
        return [(8, 128), (2, 16), (4, 1024)], [(16 // unit, unit), (2, 32), (2, 64)]
    if packing.bits == 4:
        return [(128, 128)], [(2, 0), (32, 1), (4, 32)]
    if packing.bits == 8:
        return [(128, 128)], [(32, 1), (4, 32)]
    unit = packing.bits // 16
    return [(8, 128), (2, 16), (8, 2048)], [(16 // unit, unit), (2, 1024), (4, 32)]


def compress(dense: Any, dtype: str | ElementType) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the stored elements of a sparse matrix, and the position of each in its group.

    If a group has fewer nonzero elements than are stored, zeros are stored too.

    Args:
        dense: M x K numbers.
        dtype: the element type that the numbers will have, which determines the groups.

    Returns:
        M x K/2 numbers, and M x K/2 positions from 0 on, which increase within a group.

    Raises:
        DescriptorError: if ``dense`` is not a matrix of whole groups, or a group has too many nonzero elements.

    >>> values, positions = compress([[0, 5, 0, 7, 1, 0, 0, 0]], "f16")
    >>> values.tolist(), positions.tolist()
    ([[5, 7, 1, 0]], [[1, 3, 0, 1]])
    >>> compress([[1, 2, 3, 0]], "f16")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: compress: in row 0, 3 of the 4 elements from column 0 on are not zero, more than
    2; dtype = f16
    """
    import numpy as np

    packing, matrix = arrangement(dtype, "sm100"), _matrix(dense, "compress: the values")
    if matrix.shape[1] % packing.group:
        raise DescriptorError(
            f"compress: K is {matrix.shape[1]}, which is not a multiple of {packing.group}; dtype = "
            f"{as_element_type(dtype)}"
        )
    groups, unit = matrix.reshape(len(matrix), -1, packing.group), packing.together
    units = (groups != 0).reshape(*groups.shape[:2], -1, unit).any(3)
    overfull = np.argwhere(units.sum(2) > packing.stored // unit)
    if len(overfull):
        row, group = (int(x) for x in overfull[0])
        unit_name = "elements" if unit == 1 else "pairs of elements"
        raise DescriptorError(
            f"compress: in row {row}, {int(units[row, group].sum())} of the {packing.group // unit} {unit_name} from "
            f"column {group * packing.group} on are not zero, more than {packing.stored // unit}; dtype = "
            f"{as_element_type(dtype)}"
        )
    first = np.sort(np.argsort(~units, axis=2, kind="stable")[:, :, : packing.stored // unit], axis=2)
    positions = (unit * first[..., None] + np.arange(unit)).reshape(*groups.shape[:2], -1)
    values = np.take_along_axis(groups, positions, 2)
    return values.reshape(len(matrix), -1), positions.reshape(len(matrix), -1).astype(np.uint8)


def expand(values: Any, positions: Any, dtype: str | ElementType) -> NDArray[Any]:
    """Return the matrix with its zeros, from the stored elements and their positions.

    Args:
        values, positions: the results of ``compress``.
        dtype: the element type, which determines the groups.

    Raises:
        DescriptorError: if the arguments are not two matrices of the same shape, or a position is not in its group.

    >>> expand([[5, 7]], [[1, 3]], "f16").tolist()
    [[0, 5, 0, 7]]
    """
    import numpy as np

    packing, stored = arrangement(dtype, "sm100"), _matrix(values, "expand: the values")
    places = _positions(positions, packing, "expand")
    if stored.shape != places.shape:
        raise DescriptorError(
            f"expand: the positions have shape {places.shape} and the values {stored.shape}, which is not the same"
        )
    dense = np.zeros((len(stored), stored.shape[1] // packing.stored, packing.group), stored.dtype)
    np.put_along_axis(dense, places.reshape(*dense.shape[:2], -1), stored.reshape(*dense.shape[:2], -1), 2)
    return dense.reshape(len(stored), -1)


def pack_metadata(positions: Any, dtype: str | ElementType, arch: str = "sm90") -> NDArray[Any]:
    """Return packed metadata: the register of every thread, or the columns of every lane.

    Args:
        positions: the positions from ``compress``.
        dtype, arch: as in ``arrangement``.

    Returns:
        32-bit words. For sm90: axes (64 rows, K covered, thread of a warpgroup). For sm100: (128 rows, K covered, lane,
        column of four).

    Raises:
        DescriptorError: if positions do not increase within a group, or the extents are not multiples of those that are
            packed together.

    >>> import numpy as np
    >>> pack_metadata(np.tile([0, 1], (64, 32)), "e4m3").shape, pack_metadata(np.ones((128, 32), int), "tf32").shape
    ((1, 2, 128), (2, 2, 128))
    """
    import numpy as np

    packing = arrangement(dtype, arch)
    checked = _positions(positions, packing, "pack_metadata")
    units = checked[:, :: packing.together] // packing.together
    codes = np.array(_CODES_OF_TWO)[units] if packing.stored == 1 else units[:, ::2] | units[:, 1::2] << 2
    nibbles = np.zeros(codes.size, np.uint32)
    nibbles[_places(len(checked), 2 * checked.shape[1], dtype, packing)] = codes
    words = (nibbles.reshape(-1, 8) << (4 * np.arange(8, dtype=np.uint32))).sum(1, dtype=np.uint32)
    result: NDArray[Any] = words.reshape(
        len(checked) // packing.rows, 2 * checked.shape[1] // packing.covered, *_pack(packing)
    )
    return result


def unpack_metadata(words: Any, dtype: str | ElementType, arch: str = "sm90") -> NDArray[Any]:
    """Return the positions in packed metadata.

    Args:
        words: the result of ``pack_metadata``.
        dtype, arch: as in ``arrangement``.

    Raises:
        DescriptorError: if ``words`` has another shape or type, or contains an invalid code.

    >>> import numpy as np
    >>> unpack_metadata(np.full((1, 1, 128), 0xE4E4E4E4, np.uint32), "tf32")[0, :4].tolist()
    [0, 1, 0, 1]
    """
    import numpy as np

    packing, array = arrangement(dtype, arch), as_array(words)
    if array.ndim != 2 + len(_pack(packing)) or array.shape[2:] != _pack(packing) or array.dtype.kind not in "iu":
        axes = " x ".join(map(str, _pack(packing)))
        raise DescriptorError(
            f"unpack_metadata: the words have shape {array.shape} of {array.dtype}, not integers of shape blocks of M "
            f"x blocks of K x {axes}"
        )
    nibbles = (array.astype(np.uint32).reshape(-1, 1) >> (4 * np.arange(8, dtype=np.uint32)) & 15).ravel()
    rows, depth = array.shape[0] * packing.rows, array.shape[1] * packing.covered
    codes = nibbles[_places(rows, depth, dtype, packing)]
    if packing.stored == 1:
        legal, unit_positions = np.isin(codes, _CODES_OF_TWO), codes >> 3
    else:
        legal = (codes & 3) < (codes >> 2)
        units = np.stack([codes & 3, codes >> 2], 2).reshape(rows, -1, 1)
        unit_positions = (packing.together * units + np.arange(packing.together)).reshape(rows, -1)
    if not legal.all():
        row, group = (int(x) for x in np.argwhere(~legal)[0])
        raise DescriptorError(
            f"unpack_metadata: {int(codes[row, group]):x}, in row {row} from column {group * packing.group} on, is not "
            f"a code; the codes are {'4, e' if packing.stored == 1 else '4, 8, 9, c, d, e'}"
        )
    positions: NDArray[Any] = unit_positions.astype(np.uint8)
    return positions


def _pack(packing: Arrangement) -> tuple[int, ...]:
    """Return the shape of the metadata that are packed together, in 32-bit words."""
    return (128,) if has_wgmma(packing.arch) else (128, 4)


def _places(m: int, k: int, dtype: str | ElementType, packing: Arrangement) -> NDArray[Any]:
    """Return the place of the code of each group, in units of four bits: axes (row, group)."""
    layout = metadata_layout(m, k, dtype, packing.arch)
    along_m, along_k = (offsets(layout[mode]).ravel(order="F") for mode in (0, 1))
    places: NDArray[Any] = (along_m[:, None] + along_k[None, :: packing.group]) // 4
    return places


def _matrix(value: Any, subject: str) -> NDArray[Any]:
    """Return a caller's value as an array after checking that it is a matrix of numbers."""
    array = as_array(value)
    if array.ndim != 2 or array.dtype.kind not in "iufV":  # V: the narrow types of ml_dtypes
        raise DescriptorError(f"{subject} have shape {array.shape} of {array.dtype}, not M x K numbers")
    return array


def _positions(value: Any, packing: Arrangement, operation: str) -> NDArray[Any]:
    """Return the positions as an array after checking that each group is complete and its positions increase."""
    import numpy as np

    array = _matrix(value, f"{operation}: the positions")
    is_complete = array.dtype.kind in "iu" and array.shape[1] % packing.stored == 0
    if not is_complete or (array.size and (array.min() < 0 or array.max() >= packing.group)):
        raise DescriptorError(
            f"{operation}: the positions are not whole groups of {packing.stored} integers from 0 to "
            f"{packing.group - 1}"
        )
    if packing.together == 2 and ((array[:, ::2] % 2 != 0) | (array[:, 1::2] != array[:, ::2] + 1)).any():
        raise DescriptorError(f"{operation}: the positions of 4-bit elements are not those of pairs, 2 i and 2 i + 1")
    units = array[:, :: packing.together]
    if packing.stored > 1 and (units[:, ::2] >= units[:, 1::2]).any():
        row, group = (int(x) for x in np.argwhere(units[:, ::2] >= units[:, 1::2])[0])
        both = array[row, packing.stored * group : packing.stored * (group + 1)].tolist()
        raise DescriptorError(f"{operation}: the positions {both} of a group in row {row} do not increase")
    return array.astype(np.uint32)
