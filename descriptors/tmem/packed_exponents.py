"""Pack UE8M0 scale factors of 8-bit floats, four per 32-bit word, and transpose them for ``tcgen05.cp``.

A factor scales ``vector`` elements of a row along K, usually 128. Four consecutive factors along K are the bytes of a
32-bit word, the first in the lowest byte. The words of all rows at one K are contiguous, with rows padded to a multiple
of four, so that the words of a tile are a contiguous multiple of 16 bytes, which TMA can copy::

    byte = 4 (m + 4 ceil(M / 4) (k / (4 vector))) + (k / vector) % 4

After the copy, shared memory contains the words of 128 rows in row order. ``tcgen05.cp.32x128b.warpx4``, which copies
them to tensor memory, reads 32 rows of 16 bytes: lane l gets the words of rows l, l + 32, l + 64 and l + 96, which must
be adjacent, at ``4 (row % 32) + row / 32``. No tensor map can do this: bytes that a box makes adjacent in shared memory
are adjacent in global memory in runs of at least 16 bytes, and these are words of 4 bytes, 128 bytes apart. So a warp
reads 4 x 32 words and writes them as 32 x 4 between the TMA copy and ``tcgen05.cp``, or the host writes them in that
order: ``pack_scales``.

An instruction of kind mxf8f6f4 has K 32 and reads one byte: if 128 elements share a factor, four K steps read the same
byte. Source: the README of DeepGEMM (SM100: four UE8M0 in one integer, transposed and aligned for TMA); PTX ISA 9.1,
tcgen05.cp and scale factor layouts. Nothing about sm100 was measured.

Invariant: the transposed words are the blocks that ``pack_scales`` makes.

>>> import numpy as np
>>> from descriptors.tmem.scale_product import pack_scales
>>> codes = np.arange(256 * 8).reshape(256, 8) % 251
>>> words = pack_exponents(codes)
>>> blocks = transpose_exponents(words)              # axes (four factors along K, 128 rows, 32 lanes, 4 words)
>>> bool((blocks.swapaxes(0, 1).astype("<u4").reshape(-1).view(np.uint8) == pack_scales(codes, 32)).all())
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from descriptors.errors import DescriptorError, as_array, as_integer
from descriptors.tmem.scale_cells import BLOCK_ROWS, FACTORS
from descriptors.tmem.scale_factors import Place
from layoutalg import Layout, make_layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Rows are padded to a multiple of this, so that their words are a multiple of 16 bytes; lanes that one copy writes.
PADDED_ROWS, LANES = 4, 32


def exponents_layout(m: int, k: int, vector: int = 128) -> Layout:
    """Return the layout of the packed exponents of an operand in global memory: (m, k) -> byte.

    Args:
        m: number of rows.
        k: number of elements along K.
        vector: number of elements that share a factor.

    Raises:
        DescriptorError: if an argument is not a positive integer.

    >>> print(exponents_layout(130, 1024))
    (130,(128,4,2)):(4,(0,1,528))
    """
    rows, depth = as_integer(m, "exponents: M", minimum=1), as_integer(k, "exponents: K", minimum=1)
    each = as_integer(vector, "exponents: the vector", minimum=1)
    words = -(-depth // (FACTORS * each))
    return make_layout(Layout(rows, 4), Layout((each, FACTORS, words), (0, 1, 4 * _padded(rows))))


def pack_exponents(codes: Any) -> NDArray[Any]:
    """Pack UE8M0 codes into words of four consecutive codes along K; missing rows and codes are zero.

    Args:
        codes: M rows with one code for each ``vector`` elements along K, as a quantizer writes them.

    Returns:
        32-bit words: axes (four factors along K, row).

    Raises:
        DescriptorError: if the codes are not a matrix of bytes.

    >>> [[hex(word) for word in row] for row in pack_exponents([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]])]
    [['0x4030201', '0x9080706', '0x0', '0x0'], ['0x5', '0xa', '0x0', '0x0']]
    """
    import numpy as np

    array = as_array(codes)
    if array.ndim != 2 or array.dtype.kind not in "iu" or (array.size and (array.min() < 0 or array.max() > 255)):
        raise DescriptorError("pack_exponents: codes is not a matrix of integers from 0 to 255")
    rows, count = array.shape
    whole = np.zeros((_padded(rows), -(-count // FACTORS) * FACTORS), np.uint32)
    whole[:rows, :count] = array
    bytes_of_words = whole.reshape(len(whole), -1, FACTORS) << (8 * np.arange(FACTORS, dtype=np.uint32))
    return np.ascontiguousarray(bytes_of_words.sum(2, dtype=np.uint32).T)


def unpack_exponents(words: Any, m: int, count: int) -> NDArray[Any]:
    """Return the codes of packed exponents, one row for each row of the operand, without the padding.

    Args:
        words: the words, as ``pack_exponents`` returns them.
        m: number of rows.
        count: number of factors along K.

    Raises:
        DescriptorError: if the words have another shape.

    >>> unpack_exponents(pack_exponents([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]), 2, 5).tolist()
    [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]
    """
    import numpy as np

    array = _words(words, "unpack_exponents")
    rows = as_integer(m, "unpack_exponents: M", minimum=1)
    factors = as_integer(count, "unpack_exponents: factors along K", minimum=1)
    shape = (-(-factors // FACTORS), _padded(rows))
    if array.shape != shape:
        raise DescriptorError(
            f"unpack_exponents: words has shape {array.shape}; {rows} rows of {factors} factors have shape {shape}"
        )
    codes = array.T[..., None] >> (8 * np.arange(FACTORS, dtype=np.uint32)) & 0xFF
    return codes.reshape(shape[1], -1)[:rows, :factors].astype(np.uint8)


def transpose_exponents(words: Any) -> NDArray[Any]:
    """Return the words in the order that ``tcgen05.cp`` reads: those of rows 32 apart are adjacent.

    Args:
        words: the words, as ``pack_exponents`` returns them; missing rows up to a multiple of 128 become zero.

    Returns:
        32-bit words: axes (four factors along K, block of 128 rows, lane, row / 32).

    Raises:
        DescriptorError: if the words are not such a matrix.

    >>> import numpy as np
    >>> transpose_exponents(np.arange(128)[None])[0, 0, :2].tolist()
    [[0, 32, 64, 96], [1, 33, 65, 97]]
    """
    import numpy as np

    array = _words(words, "transpose_exponents")
    blocks = -(-array.shape[1] // BLOCK_ROWS)
    whole = np.zeros((len(array), blocks * BLOCK_ROWS), np.uint32)
    whole[:, : array.shape[1]] = array
    return np.ascontiguousarray(whole.reshape(len(array), blocks, BLOCK_ROWS // LANES, LANES).swapaxes(2, 3))


def exponent_places(k: int, vector: int = 128, step: int = 32) -> tuple[Place, ...]:
    """Return the column and the byte (the scale factor id) from which each K step reads the factors of 128 rows.

    Args:
        k: number of elements along K in tensor memory, at most 65536.
        vector: number of elements that share a factor, a multiple of ``step``.
        step: K of the instruction.

    Raises:
        DescriptorError: if K is too large, or if K or ``vector`` is not a multiple of ``step``.

    >>> [(place.column, place.byte) for place in exponent_places(1024)][::4]
    [(0, 0), (0, 1), (0, 2), (0, 3), (4, 0), (4, 1), (4, 2), (4, 3)]
    """
    depth = as_integer(k, "exponents: K", minimum=1, maximum=1 << 16)
    each = as_integer(vector, "exponents: the vector", minimum=1)
    unit = as_integer(step, "exponents: K of a step", minimum=1)
    if depth % unit or each % unit:
        name, value = ("K", depth) if depth % unit else ("the vector", each)
        raise DescriptorError(f"exponents: {name} is {value}, which is not a multiple of the K of a step ({unit})")
    factors = (j * unit // each for j in range(depth // unit))
    return tuple(Place(factor // FACTORS * (BLOCK_ROWS // LANES), factor % FACTORS) for factor in factors)


def _padded(rows: int) -> int:
    return -(-rows // PADDED_ROWS) * PADDED_ROWS


def _words(value: Any, where: str) -> NDArray[Any]:
    import numpy as np

    array = as_array(value)
    if array.ndim != 2 or array.dtype.kind not in "iu" or array.shape[1] % PADDED_ROWS:
        raise DescriptorError(
            f"{where}: words is not a matrix of integers whose second extent is a multiple of {PADDED_ROWS}; "
            f"shape = {array.shape}, type = {array.dtype}"
        )
    return array.astype(np.uint32)
