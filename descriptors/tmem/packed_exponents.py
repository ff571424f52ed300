"""Scale factors as they are shipped beside 8-bit floats: four exponents of UE8M0 a word, and why they are transposed.

A factor is for ``vector`` elements along K, 128 as a rule, of a row. Four that follow one another along K are the bytes
of a 32-bit word, the first in the lowest; words of one K follow one another row by row, rows padded to four, so that a
tile's are one piece of whole 16 bytes, which the copy engine takes::

    byte = 4 (m + 4 ceil(M / 4) (k / (4 vector))) + (k / vector) % 4

So 128 rows arrive in shared memory in their order, a word each. ``tcgen05.cp.32x128b.warpx4``, which brings them to
tensor memory, takes 32 rows of 16 bytes: lane l gets the words of rows l, l + 32, l + 64 and l + 96, which must be side
by side, at ``4 (row % 32) + row / 32``. No tensor map does that: what a box has side by side in shared memory is side
by side in global memory, 16 bytes at least, and these are 4 bytes, 128 apart. Hence a warp reads 4 x 32 words and
writes them as 32 x 4 between the copy and ``tcgen05.cp``, or the host writes them so at once: ``pack_scales``.

An instruction of kind mxf8f6f4 has K 32 and takes one byte: where 128 elements share a factor, four K steps take the
same one. Source: the README of DeepGEMM (SM100: four UE8M0 in one integer, transposed and aligned for TMA); PTX ISA
9.1, tcgen05.cp and scale factor layouts. What is said of sm100 nobody measured.

Law: transposed, the words are the blocks that ``pack_scales`` makes.

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

#: Rows are padded to whole 16 bytes of words; lanes of one copy.
PADDED_ROWS, LANES = 4, 32


def exponents_layout(m: int, k: int, vector: int = 128) -> Layout:
    """The packed exponents of an operand in global memory: (m, k) to a byte.

    Args:
        m: rows.
        k: elements along K.
        vector: elements that share a factor.

    Raises:
        DescriptorError: if one is no positive number.

    >>> print(exponents_layout(130, 1024))
    (130,(128,4,2)):(4,(0,1,528))
    """
    rows, depth = as_integer(m, "exponents: M", minimum=1), as_integer(k, "exponents: K", minimum=1)
    each = as_integer(vector, "exponents: the vector", minimum=1)
    words = -(-depth // (FACTORS * each))
    return make_layout(Layout(rows, 4), Layout((each, FACTORS, words), (0, 1, 4 * _padded(rows))))


def pack_exponents(codes: Any) -> NDArray[Any]:
    """Codes of UE8M0 as words of four, K first of the bytes, rows first of the words; padded with zeros.

    Args:
        codes: M rows of one code for each ``vector`` elements along K, as a quantizer leaves them.

    Returns:
        32-bit words: axes (four factors along K, row).

    Raises:
        DescriptorError: if they are no matrix of bytes.

    >>> [[hex(word) for word in row] for row in pack_exponents([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]])]
    [['0x4030201', '0x9080706', '0x0', '0x0'], ['0x5', '0xa', '0x0', '0x0']]
    """
    import numpy as np

    array = as_array(codes)
    if array.ndim != 2 or array.dtype.kind not in "iu" or (array.size and (array.min() < 0 or array.max() > 255)):
        raise DescriptorError("pack_exponents: codes must be a matrix of bytes, found something else")
    rows, count = array.shape
    whole = np.zeros((_padded(rows), -(-count // FACTORS) * FACTORS), np.uint32)
    whole[:rows, :count] = array
    bytes_of_words = whole.reshape(len(whole), -1, FACTORS) << (8 * np.arange(FACTORS, dtype=np.uint32))
    return np.ascontiguousarray(bytes_of_words.sum(2, dtype=np.uint32).T)


def unpack_exponents(words: Any, m: int, count: int) -> NDArray[Any]:
    """The codes of packed exponents, a row for each row of the operand, without the padding.

    Args:
        words: as ``pack_exponents`` returns them.
        m: rows.
        count: factors along K.

    Raises:
        DescriptorError: if they are no such words.

    >>> unpack_exponents(pack_exponents([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]), 2, 5).tolist()
    [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]
    """
    import numpy as np

    array = _words(words, "unpack_exponents")
    rows = as_integer(m, "unpack_exponents: M", minimum=1)
    factors = as_integer(count, "unpack_exponents: factors along K", minimum=1)
    shape = (-(-factors // FACTORS), _padded(rows))
    if array.shape != shape:
        raise DescriptorError(f"unpack_exponents: words must be {shape[0]} x {shape[1]}, found {array.shape}")
    codes = array.T[..., None] >> (8 * np.arange(FACTORS, dtype=np.uint32)) & 0xFF
    return codes.reshape(shape[1], -1)[:rows, :factors].astype(np.uint8)


def transpose_exponents(words: Any) -> NDArray[Any]:
    """What the transposing warp leaves in shared memory: the words of rows 32 apart side by side, as they are copied.

    Args:
        words: as ``pack_exponents`` returns them; rows are padded with zeros to 128.

    Returns:
        32-bit words: axes (four factors along K, block of 128 rows, lane, row / 32).

    Raises:
        DescriptorError: if they are no such words.

    >>> import numpy as np
    >>> transpose_exponents(np.arange(128)[None])[0, 0, :2].tolist()
    [[0, 32, 64, 96], [1, 33, 65, 97]]
    """
    import numpy as np

    array = _words(words, "transpose_exponents")
    blocks = -(-array.shape[1] // BLOCK_ROWS)
    whole = np.zeros((len(array), blocks * BLOCK_ROWS), np.uint32)
    whole[:, : array.shape[1]] = array
    turned = whole.reshape(len(array), blocks, BLOCK_ROWS // LANES, LANES).swapaxes(2, 3)
    return np.ascontiguousarray(turned)


def exponent_places(k: int, vector: int = 128, step: int = 32) -> tuple[Place, ...]:
    """Where each K step of an instruction takes the factors of 128 rows: columns on, and the byte, which is the id.

    Args:
        k: elements along K that are in tensor memory, at most 65536.
        vector: elements that share a factor, a multiple of the step.
        step: K of the instruction.

    Raises:
        DescriptorError: if K is too large or no whole number of steps, or if a step would have several factors.

    >>> [(place.column, place.byte) for place in exponent_places(1024)][::4]
    [(0, 0), (0, 1), (0, 2), (0, 3), (4, 0), (4, 1), (4, 2), (4, 3)]
    """
    depth = as_integer(k, "exponents: K", minimum=1, maximum=1 << 16)
    each = as_integer(vector, "exponents: the vector", minimum=1)
    unit = as_integer(step, "exponents: K of a step", minimum=1)
    if depth % unit or each % unit:
        rule = f"exponents: K and the vector must be multiples of a step's {unit}"
        raise DescriptorError(f"{rule}, found {depth} and {each}")
    factors = (j * unit // each for j in range(depth // unit))
    return tuple(Place(factor // FACTORS * (BLOCK_ROWS // LANES), factor % FACTORS) for factor in factors)


def _padded(rows: int) -> int:
    return -(-rows // PADDED_ROWS) * PADDED_ROWS


def _words(value: Any, where: str) -> NDArray[Any]:
    import numpy as np

    array = as_array(value)
    if array.ndim != 2 or array.dtype.kind not in "iu" or array.shape[1] % PADDED_ROWS:
        must = f"{where}: words must be a matrix whose rows are multiples of {PADDED_ROWS}"
        raise DescriptorError(f"{must}, found {array.shape} of {array.dtype}")
    return array.astype(np.uint32)
