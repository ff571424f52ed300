"""What a block-scaled MMA computes, and scale factors packed as it reads them: the reference, in numpy.

    D[m,n] = C[m,n] + sum over k of  A[m,k] SFA[m,k/vector]  B[n,k] SFB[n,k/vector]

in float64, which holds every product of the narrow formats exactly and their sums as long as no two terms are further
apart than 2**53; in which order and how wide the hardware adds is documented nowhere.
Source: PTX ISA 9.1, tcgen05.mma with block scaling; OCP Microscaling Formats (MX) 1.0, section 6.2.

Law: packed scale factors read back, and the product is that of the scaled matrices.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> codes = rng.integers(0, 127, (8, 4), dtype=np.uint8)
>>> packed = pack_scales(codes, 16)
>>> (unpack_scales(packed, 8, 64, 16) == codes).all(), packed.shape
(np.True_, (512,))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from descriptors.errors import DescriptorError, as_integer
from descriptors.operands.operand import choose
from descriptors.scales.codes import FORMATS, decode_scale
from descriptors.scales.memory import memory_bytes, scale_memory
from layoutalg import offsets

if TYPE_CHECKING:
    from numpy.typing import NDArray


def values_of(codes: Any, name: str) -> NDArray[Any]:
    """The values of an array of codes, as float64; what is no number is NaN.

    Raises:
        DescriptorError: if a code is none of the format.

    >>> values_of([0, 1, 7, 15], "e2m1").tolist()
    [0.0, 0.5, 6.0, -6.0]
    """
    import numpy as np

    one = choose("scale: format", name, FORMATS)
    found = _array(codes)
    if found.dtype.kind not in "iu" or (found.size and (found.min() < 0 or int(found.max()) >> one.bits)):
        raise DescriptorError(f"scale: codes of {name} must be integers of {one.bits} bits, found others")
    values = [decode_scale(code, name) for code in range(1 << one.bits)]
    table = np.array([np.nan if value is None else float(value) for value in values])
    result: NDArray[Any] = table[found.astype(np.int64)]
    return result


def block_scaled_product(
    a: Any, b: Any, scale_a: Any, scale_b: Any, *, a_dtype: str = "e2m1", b_dtype: str | None = None,
    scale_dtype: str = "ue8m0", vector: int = 32, c: Any = None,
) -> NDArray[Any]:  # fmt: skip
    """The product of two matrices of codes with their scale factors, M x N in float64.

    Args:
        a: codes of A, M x K.
        b: codes of B, N x K: K-major, as the operand lies.
        scale_a: codes of the factors of A, M x K/vector.
        scale_b: those of B, N x K/vector.
        a_dtype: format of A.
        b_dtype: format of B; that of A if left out.
        scale_dtype: format of the factors, ``ue8m0`` or ``ue4m3``.
        vector: elements that share a factor.
        c: what is added, M x N.

    Raises:
        DescriptorError: if extents do not go together, or a code is none of its format.

    >>> a = [[2] * 32, [4] * 32]                # 1.0 and 2.0
    >>> block_scaled_product(a, a, [[127], [128]], [[127], [127]]).tolist()
    [[32.0, 64.0], [128.0, 256.0]]
    """
    vector = as_integer(vector, "block_scaled_product: vector", minimum=1)
    left, right = values_of(a, a_dtype), values_of(b, a_dtype if b_dtype is None else b_dtype)
    factors = values_of(scale_a, scale_dtype), values_of(scale_b, scale_dtype)
    for name, matrix, scale in (("A", left, factors[0]), ("B", right, factors[1])):
        if matrix.ndim != 2 or scale.ndim != 2 or scale.shape != (matrix.shape[0], matrix.shape[1] // vector):
            rule = f"block_scaled_product: the factors of {name} must be rows by K/{vector}"
            raise DescriptorError(f"{rule}, found {scale.shape} for {matrix.shape}")
    if left.shape[1] != right.shape[1] or left.shape[1] % vector:
        must = f"block_scaled_product: K of A and B must be one multiple of {vector}"
        raise DescriptorError(f"{must}, found {left.shape[1]} and {right.shape[1]}")
    result: NDArray[Any] = (left * factors[0].repeat(vector, 1)) @ (right * factors[1].repeat(vector, 1)).T
    if c is None:
        return result
    added = _array(c)
    if added.shape != result.shape or added.dtype.kind not in "iuf":
        raise DescriptorError(f"block_scaled_product: C must be numbers, {result.shape}, found {added.shape}")
    summed: NDArray[Any] = result + added
    return summed


def _array(value: Any) -> NDArray[Any]:
    """What was given as an array; an empty one of objects where numpy makes none of it."""
    import numpy as np

    try:
        return np.asarray(value)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return np.empty(0, dtype=object)


def pack_scales(codes: Any, vector: int) -> NDArray[Any]:
    """Codes of scale factors, rows by factors along K, as the bytes that copies read: blocks, padded with zeros.

    >>> pack_scales([[1, 2, 3, 4]], 16)[:5].tolist()
    [1, 2, 3, 4, 0]
    """
    import numpy as np

    vector, found = as_integer(vector, "pack_scales: the vector", minimum=1), _array(codes)
    if found.ndim != 2 or found.dtype.kind not in "iu" or (found.size and (found.min() < 0 or found.max() > 255)):
        raise DescriptorError("pack_scales: codes must be a matrix of bytes, found something else")
    mn, count = found.shape
    places = offsets(scale_memory(mn, count * vector, vector))[:mn, : count * vector : vector]
    packed = np.zeros(memory_bytes(mn, count * vector, vector), dtype=np.uint8)
    packed[places] = found
    return packed


def unpack_scales(packed: Any, mn: int, k: int, vector: int) -> NDArray[Any]:
    """The codes of scale factors out of memory, rows by factors along K, without the padding.

    >>> unpack_scales(pack_scales([[1, 2, 3, 4]], 16), 1, 64, 16).tolist()
    [[1, 2, 3, 4]]
    """
    found, size = _array(packed), memory_bytes(mn, k, vector)
    if found.shape != (size,) or found.dtype.kind not in "iu":
        raise DescriptorError(f"unpack_scales: the memory must be {size} bytes, found {found.shape}")
    result: NDArray[Any] = found[offsets(scale_memory(mn, k, vector))[:mn, :k:vector]]
    return result
