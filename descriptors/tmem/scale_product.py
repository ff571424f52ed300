"""Compute block-scaled products by their definition, in numpy, and convert the small floating-point formats they use.

A block-scaled MMA, with its scale factors packed as it reads them, computes:

    D[m,n] = C[m,n] + sum over k of  A[m,k] SFA[m,k/vector]  B[n,k] SFB[n,k/vector]

Here the computation is in float64, which represents every product of the narrow formats exactly, and their sums as long
as no two terms are further apart than 2**53. The order and the width of the hardware's additions are not documented.
Source: PTX ISA 9.1, tcgen05.mma with block scaling; OCP Microscaling Formats (MX) 1.0, section 6.2.

Invariant: unpacking packed scale factors returns them, and the product is that of the scaled matrices.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> codes = rng.integers(0, 127, (8, 4), dtype=np.uint8)
>>> packed = pack_scales(codes, 16)
>>> (unpack_scales(packed, 8, 64, 16) == codes).all(), packed.shape
(np.True_, (512,))

The formats are e2m1, ue8m0, ue4m3 and related ones, with all their codes. A code consists of sign, exponent and
mantissa, most significant first. Decoded values are exact fractions of integers; only encoding rounds. It rounds to the
nearest value of the format, of two equally near values to the one with the even code, and saturates beyond the largest
value, as ``cvt.rn.satfinite`` does. ue8m0 has no zero; smaller numbers are rounded up to its smallest value. Its users
need powers of two that are not above a number (``down``) or not below it (``up``), so the rounding can be selected.
Source: OCP Microscaling Formats (MX) 1.0, sections 5.3 and 5.4; OCP 8-bit floating point (OFP8) 1.0; PTX ISA 9.1,
alternate floating-point data formats (ue4m3 is e4m3 without a sign: 7 bits, and the highest bit is 0).

Invariant: encoding a value of a format returns its code, or the code of an equal value.

>>> for name, small_format in FORMATS.items():
...     for code in range(1 << small_format.bits):
...         value = decode_scale(code, name)
...         assert value is None or decode_scale(encode_scale(value, name), name) == value, (name, code)
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from descriptors.errors import DescriptorError, as_array, as_integer, brief
from descriptors.smem.operands.operand import choose
from descriptors.tmem.scale_factors import memory_bytes, scale_memory
from layoutalg import offsets
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: Rounding modes of ``encode_scale``.
Rounding: TypeAlias = Literal["nearest", "up", "down"]
ROUNDINGS: dict[str, Rounding] = {"nearest": "nearest", "up": "up", "down": "down"}


@frozen
class Format:
    """A small floating-point format.

    Args:
        bits: bits per code.
        exponent: bits of the exponent.
        mantissa: bits of the mantissa.
        bias: exponent bias.
        signed: whether the highest bit is a sign.
        not_numbers: codes, without sign, that are infinity or NaN.
    """

    bits: int
    exponent: int
    mantissa: int
    bias: int
    signed: bool
    not_numbers: tuple[int, ...] = ()


#: The formats by PTX's names. ue4m3 has 8 bits, of which the highest is unused; this module requires it to be 0.
FORMATS = {
    "e2m1": Format(4, 2, 1, 1, True),
    "e2m3": Format(6, 2, 3, 1, True),
    "e3m2": Format(6, 3, 2, 3, True),
    "e4m3": Format(8, 4, 3, 7, True, (0x7F,)),
    "e5m2": Format(8, 5, 2, 15, True, (0x7C, 0x7D, 0x7E, 0x7F)),
    "ue4m3": Format(8, 4, 3, 7, False, (0x7F,)),
    "ue8m0": Format(8, 8, 0, 127, False, (0xFF,)),
}


def decode_scale(code: int, name: str) -> Fraction | None:
    """Return the value of a code; None for NaN and for the infinities of e5m2.

    Args:
        code: all bits of the code.
        name: the format: ``e2m1``, ``ue8m0``, ``ue4m3``, ``e4m3``, ``e5m2``, ``e2m3``, ``e3m2``.

    Raises:
        DescriptorError: if the format does not exist, or the code is out of range.

    >>> [str(decode_scale(code, "e2m1")) for code in range(8)]
    ['0', '1/2', '1', '3/2', '2', '3', '4', '6']
    >>> decode_scale(127, "ue8m0"), decode_scale(0x38, "ue4m3"), decode_scale(0xFF, "ue8m0")
    (Fraction(1, 1), Fraction(1, 1), None)
    """
    fmt = choose("scale: format", name, FORMATS)
    code = as_integer(code, f"scale: a code of {name}", maximum=(1 << fmt.bits) - 1)
    sign = -1 if fmt.signed and code >> fmt.bits - 1 else 1
    magnitude = code & (1 << fmt.bits - 1) - 1 if fmt.signed else code
    if magnitude in fmt.not_numbers or (name == "ue4m3" and code > 0x7F):
        return None
    exponent, mantissa = magnitude >> fmt.mantissa, magnitude & (1 << fmt.mantissa) - 1
    if fmt.mantissa and exponent == 0:  # subnormal values have the exponent of the smallest normal value
        return sign * mantissa * _power(1 - fmt.bias - fmt.mantissa)
    return sign * ((1 << fmt.mantissa) + mantissa) * _power(exponent - fmt.bias - fmt.mantissa)


def encode_scale(value: float | Fraction, name: str, rounding: Rounding = "nearest") -> int:
    """Return the code of a number, rounded to a value of the format; numbers beyond the largest value saturate.

    Args:
        value: a finite number, not negative if the format has no sign.
        name: the format, as for ``decode_scale``.
        rounding: ``nearest`` (ties to the even code), ``up`` or ``down`` (in magnitude).

    Raises:
        DescriptorError: if the value is not finite, or negative for a format without a sign.

    >>> encode_scale(5, "e2m1"), encode_scale(2.5, "e2m1"), encode_scale(-100, "e2m1")
    (6, 4, 15)
    >>> encode_scale(3, "ue8m0"), encode_scale(3, "ue8m0", "up"), encode_scale(0, "ue8m0")
    (128, 129, 0)
    """
    fmt, mode = choose("scale: format", name, FORMATS), choose("scale: rounding", rounding, ROUNDINGS)
    try:
        exact = value if isinstance(value, Fraction) else Fraction(value) if isfinite(value) else None
    except (TypeError, ValueError, OverflowError):
        exact = None
    if exact is None:
        raise DescriptorError(f"scale: {brief(value)} is not a finite number, so {name} cannot represent it")
    if exact < 0 and not fmt.signed:
        raise DescriptorError(f"scale: {brief(value)} is negative, and {name} has no sign")
    values, magnitude = _magnitudes(name), abs(exact)
    sign = (1 << fmt.bits - 1) if exact < 0 else 0
    above = next((i for i, (known, _) in enumerate(values) if known >= magnitude), len(values) - 1)
    if values[above][0] <= magnitude or above == 0 or mode == "up":
        return sign | values[above][1]
    (low, low_code), (high, high_code) = values[above - 1], values[above]
    if mode == "down" or magnitude - low < high - magnitude:
        return sign | low_code
    if magnitude - low > high - magnitude:
        return sign | high_code
    return sign | (low_code if low_code % 2 == 0 else high_code)


def largest(name: str) -> Fraction:
    """Return the largest value of a format.

    >>> [int(largest(name)) for name in ("e2m1", "ue4m3", "e4m3", "e2m3", "e3m2")]
    [6, 448, 448, 7, 28]
    """
    return _magnitudes(name)[-1][0]


@cache
def _magnitudes(name: str) -> tuple[tuple[Fraction, int], ...]:
    """Return the values that are not negative, ascending, with their codes."""
    fmt = choose("scale: format", name, FORMATS)
    codes = range(1 << (fmt.bits - fmt.signed))
    magnitudes = [(value, code) for code in codes if (value := decode_scale(code, name)) is not None]
    return tuple(sorted(magnitudes))


def _power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def values_of(codes: Any, name: str) -> NDArray[Any]:
    """Return the values of an array of codes as float64; NaN and infinity become NaN.

    Raises:
        DescriptorError: if an element is not a code of the format.

    >>> values_of([0, 1, 7, 15], "e2m1").tolist()
    [0.0, 0.5, 6.0, -6.0]
    """
    import numpy as np

    fmt = choose("scale: format", name, FORMATS)
    array = as_array(codes)
    if array.dtype.kind not in "iu" or (array.size and (array.min() < 0 or int(array.max()) >> fmt.bits)):
        raise DescriptorError(f"scale: codes of {name} are not all integers from 0 to {(1 << fmt.bits) - 1}")
    values = [decode_scale(code, name) for code in range(1 << fmt.bits)]
    table = np.array([np.nan if value is None else float(value) for value in values])
    result: NDArray[Any] = table[array.astype(np.int64)]
    return result


def block_scaled_product(
    a: Any, b: Any, scale_a: Any, scale_b: Any, *, a_dtype: str = "e2m1", b_dtype: str | None = None,
    scale_dtype: str = "ue8m0", vector: int = 32, c: Any = None,
) -> NDArray[Any]:  # fmt: skip
    """Return the block-scaled product of two matrices of codes, M x N in float64.

    Args:
        a: codes of A, M x K.
        b: codes of B, N x K, as the K-major operand is stored.
        scale_a: codes of the factors of A, M x K/vector.
        scale_b: codes of the factors of B, N x K/vector.
        a_dtype: format of A.
        b_dtype: format of B; by default that of A.
        scale_dtype: format of the factors, ``ue8m0`` or ``ue4m3``.
        vector: number of elements that share a factor.
        c: matrix to add, M x N.

    Raises:
        DescriptorError: if the extents do not match, or a code is not in its format.

    >>> a = [[2] * 32, [4] * 32]                # 1.0 and 2.0
    >>> block_scaled_product(a, a, [[127], [128]], [[127], [127]]).tolist()
    [[32.0, 64.0], [128.0, 256.0]]
    """
    vector = as_integer(vector, "block_scaled_product: vector", minimum=1)
    values_a, values_b = values_of(a, a_dtype), values_of(b, a_dtype if b_dtype is None else b_dtype)
    factors = values_of(scale_a, scale_dtype), values_of(scale_b, scale_dtype)
    for name, matrix, scale in (("A", values_a, factors[0]), ("B", values_b, factors[1])):
        if matrix.ndim != 2 or scale.ndim != 2 or scale.shape != (matrix.shape[0], matrix.shape[1] // vector):
            raise DescriptorError(
                f"block_scaled_product: the factors of {name} have shape {scale.shape}, which does not match {name} of "
                f"shape {matrix.shape}; factors are rows by K/{vector}"
            )
    k_a, k_b = values_a.shape[1], values_b.shape[1]
    if k_a != k_b:
        raise DescriptorError(f"block_scaled_product: K of A is {k_a} and K of B is {k_b}")
    if k_a % vector:
        raise DescriptorError(f"block_scaled_product: K is {k_a}, which is not a multiple of the vector ({vector})")
    result: NDArray[Any] = (values_a * factors[0].repeat(vector, 1)) @ (values_b * factors[1].repeat(vector, 1)).T
    if c is None:
        return result
    added = as_array(c)
    if added.shape != result.shape or added.dtype.kind not in "iuf":
        raise DescriptorError(
            f"block_scaled_product: C is not a matrix of numbers of shape {result.shape}; shape = {added.shape}, "
            f"type = {added.dtype}"
        )
    summed: NDArray[Any] = result + added
    return summed


def pack_scales(codes: Any, vector: int) -> NDArray[Any]:
    """Pack scale factor codes, rows by factors along K, into the blocks of bytes that copies read, padded with zeros.

    >>> pack_scales([[1, 2, 3, 4]], 16)[:5].tolist()
    [1, 2, 3, 4, 0]
    """
    import numpy as np

    vector, array = as_integer(vector, "pack_scales: the vector", minimum=1), as_array(codes)
    if array.ndim != 2 or array.dtype.kind not in "iu" or (array.size and (array.min() < 0 or array.max() > 255)):
        raise DescriptorError("pack_scales: codes is not a matrix of integers from 0 to 255")
    mn, count = array.shape
    places = offsets(scale_memory(mn, count * vector, vector))[:mn, : count * vector : vector]
    packed = np.zeros(memory_bytes(mn, count * vector, vector), dtype=np.uint8)
    packed[places] = array
    return packed


def unpack_scales(packed: Any, mn: int, k: int, vector: int) -> NDArray[Any]:
    """Return the scale factor codes from packed memory, rows by factors along K, without the padding.

    >>> unpack_scales(pack_scales([[1, 2, 3, 4]], 16), 1, 64, 16).tolist()
    [[1, 2, 3, 4]]
    """
    array, size = as_array(packed), memory_bytes(mn, k, vector)
    if array.shape != (size,) or array.dtype.kind not in "iu":
        raise DescriptorError(
            f"unpack_scales: packed has shape {array.shape} and type {array.dtype}, but these factors are {size} bytes"
        )
    result: NDArray[Any] = array[offsets(scale_memory(mn, k, vector))[:mn, :k:vector]]
    return result
