"""Block-scaled products by their definition, in numpy, and the small floating-point formats that go into them.

What a block-scaled MMA computes, with its scale factors packed as it reads them:

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

The formats are e2m1, ue8m0, ue4m3 and their kin, with all their codes, exactly. A code is read as sign, exponent and
mantissa, most significant first; a value is written as a fraction of integers, so that nothing is rounded but where a
number is encoded: to the nearest value that the format has, of two as near the one with the even code, and what is
beyond the largest to the largest (saturation, as ``cvt.rn.satfinite`` has it). ue8m0 has no zero and rounds what is
below its least value up to it; its way of rounding can be asked for, as its users take powers of two that are not
exceeded (``down``) or not below (``up``). Source: OCP Microscaling Formats (MX) 1.0, sections 5.3 and 5.4; OCP 8-bit
floating point (OFP8) 1.0; PTX ISA 9.1, alternate floating-point data formats (ue4m3 is e4m3 without a sign: 7 bits,
and the highest bit is 0).

Law: encoding a value of the format gives its code back, or that of an equal value.

>>> for name, one in FORMATS.items():
...     for code in range(1 << one.bits):
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


#: How a number between two values is encoded.
Rounding: TypeAlias = Literal["nearest", "up", "down"]
ROUNDINGS: dict[str, Rounding] = {"nearest": "nearest", "up": "up", "down": "down"}


@frozen
class Format:
    """A format of few bits.

    Args:
        bits: bits of a code.
        exponent: bits of the exponent.
        mantissa: bits of the mantissa.
        bias: of the exponent.
        signed: whether the highest bit is a sign.
        not_numbers: codes, without their sign, that are no number.
    """

    bits: int
    exponent: int
    mantissa: int
    bias: int
    signed: bool
    not_numbers: tuple[int, ...] = ()


#: Every format, by PTX's name. ue4m3 takes 8 bits of which the highest is not used; here it must be 0.
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
    """What a code is worth; None for one that is no number (and for the infinities of e5m2).

    Args:
        code: all bits of it.
        name: the format: ``e2m1``, ``ue8m0``, ``ue4m3``, ``e4m3``, ``e5m2``, ``e2m3``, ``e3m2``.

    Raises:
        DescriptorError: if there is no such format, or no such code.

    >>> [str(decode_scale(code, "e2m1")) for code in range(8)]
    ['0', '1/2', '1', '3/2', '2', '3', '4', '6']
    >>> decode_scale(127, "ue8m0"), decode_scale(0x38, "ue4m3"), decode_scale(0xFF, "ue8m0")
    (Fraction(1, 1), Fraction(1, 1), None)
    """
    one = choose("scale: format", name, FORMATS)
    code = as_integer(code, f"scale: a code of {name}", maximum=(1 << one.bits) - 1)
    sign = -1 if one.signed and code >> one.bits - 1 else 1
    magnitude = code & (1 << one.bits - 1) - 1 if one.signed else code
    if magnitude in one.not_numbers or (name == "ue4m3" and code > 0x7F):
        return None
    exponent, mantissa = magnitude >> one.mantissa, magnitude & (1 << one.mantissa) - 1
    if one.mantissa and exponent == 0:  # below the normal values the exponent is that of the least of them
        return sign * mantissa * _power(1 - one.bias - one.mantissa)
    return sign * ((1 << one.mantissa) + mantissa) * _power(exponent - one.bias - one.mantissa)


def encode_scale(value: float | Fraction, name: str, rounding: Rounding = "nearest") -> int:
    """The code of the value nearest to a number; beyond the largest, that of the largest.

    Args:
        value: a finite number, not negative where the format has no sign.
        name: the format, as for ``decode_scale``.
        rounding: ``nearest`` (of two as near, the even code), ``up`` or ``down`` (in magnitude).

    Raises:
        DescriptorError: if the format has no such number, whatever the rounding.

    >>> encode_scale(5, "e2m1"), encode_scale(2.5, "e2m1"), encode_scale(-100, "e2m1")
    (6, 4, 15)
    >>> encode_scale(3, "ue8m0"), encode_scale(3, "ue8m0", "up"), encode_scale(0, "ue8m0")
    (128, 129, 0)
    """
    one, how = choose("scale: format", name, FORMATS), choose("scale: rounding", rounding, ROUNDINGS)
    try:
        exact = value if isinstance(value, Fraction) else Fraction(value) if isfinite(value) else None
    except (TypeError, ValueError, OverflowError):
        exact = None
    if exact is None or (exact < 0 and not one.signed):
        kind = "finite number" if one.signed else "finite number of at least 0"
        raise DescriptorError(f"scale: a value of {name} must be a {kind}, found {brief(value)}")
    values, magnitude = _magnitudes(name), abs(exact)
    sign = (1 << one.bits - 1) if exact < 0 else 0
    above = next((i for i, (known, _) in enumerate(values) if known >= magnitude), len(values) - 1)
    if values[above][0] <= magnitude or above == 0 or how == "up":
        return sign | values[above][1]
    (low, low_code), (high, high_code) = values[above - 1], values[above]
    if how == "down" or magnitude - low < high - magnitude:
        return sign | low_code
    if magnitude - low > high - magnitude:
        return sign | high_code
    return sign | (low_code if low_code % 2 == 0 else high_code)


def largest(name: str) -> Fraction:
    """The largest value of a format.

    >>> [int(largest(name)) for name in ("e2m1", "ue4m3", "e4m3", "e2m3", "e3m2")]
    [6, 448, 448, 7, 28]
    """
    return _magnitudes(name)[-1][0]


@cache
def _magnitudes(name: str) -> tuple[tuple[Fraction, int], ...]:
    """Every value that is not negative, ascending, with its code."""
    one = choose("scale: format", name, FORMATS)
    codes = range(1 << (one.bits - one.signed))
    magnitudes = [(value, code) for code in codes if (value := decode_scale(code, name)) is not None]
    return tuple(sorted(magnitudes))


def _power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def values_of(codes: Any, name: str) -> NDArray[Any]:
    """The values of an array of codes, as float64; what is no number is NaN.

    Raises:
        DescriptorError: if a code is none of the format.

    >>> values_of([0, 1, 7, 15], "e2m1").tolist()
    [0.0, 0.5, 6.0, -6.0]
    """
    import numpy as np

    one = choose("scale: format", name, FORMATS)
    array = as_array(codes)
    if array.dtype.kind not in "iu" or (array.size and (array.min() < 0 or int(array.max()) >> one.bits)):
        raise DescriptorError(f"scale: codes of {name} must be integers of {one.bits} bits, found others")
    values = [decode_scale(code, name) for code in range(1 << one.bits)]
    table = np.array([np.nan if value is None else float(value) for value in values])
    result: NDArray[Any] = table[array.astype(np.int64)]
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
    values_a, values_b = values_of(a, a_dtype), values_of(b, a_dtype if b_dtype is None else b_dtype)
    factors = values_of(scale_a, scale_dtype), values_of(scale_b, scale_dtype)
    for name, matrix, scale in (("A", values_a, factors[0]), ("B", values_b, factors[1])):
        if matrix.ndim != 2 or scale.ndim != 2 or scale.shape != (matrix.shape[0], matrix.shape[1] // vector):
            rule = f"block_scaled_product: the factors of {name} must be rows by K/{vector}"
            raise DescriptorError(f"{rule}, found {scale.shape} for {matrix.shape}")
    if values_a.shape[1] != values_b.shape[1] or values_a.shape[1] % vector:
        must = f"block_scaled_product: K of A and B must be one multiple of {vector}"
        raise DescriptorError(f"{must}, found {values_a.shape[1]} and {values_b.shape[1]}")
    result: NDArray[Any] = (values_a * factors[0].repeat(vector, 1)) @ (values_b * factors[1].repeat(vector, 1)).T
    if c is None:
        return result
    added = as_array(c)
    if added.shape != result.shape or added.dtype.kind not in "iuf":
        raise DescriptorError(f"block_scaled_product: C must be numbers, {result.shape}, found {added.shape}")
    summed: NDArray[Any] = result + added
    return summed


def pack_scales(codes: Any, vector: int) -> NDArray[Any]:
    """Codes of scale factors, rows by factors along K, as the bytes that copies read: blocks, padded with zeros.

    >>> pack_scales([[1, 2, 3, 4]], 16)[:5].tolist()
    [1, 2, 3, 4, 0]
    """
    import numpy as np

    vector, array = as_integer(vector, "pack_scales: the vector", minimum=1), as_array(codes)
    if array.ndim != 2 or array.dtype.kind not in "iu" or (array.size and (array.min() < 0 or array.max() > 255)):
        raise DescriptorError("pack_scales: codes must be a matrix of bytes, found something else")
    mn, count = array.shape
    places = offsets(scale_memory(mn, count * vector, vector))[:mn, : count * vector : vector]
    packed = np.zeros(memory_bytes(mn, count * vector, vector), dtype=np.uint8)
    packed[places] = array
    return packed


def unpack_scales(packed: Any, mn: int, k: int, vector: int) -> NDArray[Any]:
    """The codes of scale factors out of memory, rows by factors along K, without the padding.

    >>> unpack_scales(pack_scales([[1, 2, 3, 4]], 16), 1, 64, 16).tolist()
    [[1, 2, 3, 4]]
    """
    array, size = as_array(packed), memory_bytes(mn, k, vector)
    if array.shape != (size,) or array.dtype.kind not in "iu":
        raise DescriptorError(f"unpack_scales: the memory must be {size} bytes, found {array.shape}")
    result: NDArray[Any] = array[offsets(scale_memory(mn, k, vector))[:mn, :k:vector]]
    return result
