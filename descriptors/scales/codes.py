"""The small floating-point formats of block-scaled products, all their codes, exactly: e2m1, ue8m0, ue4m3 and their
kin.

A code is read as sign, exponent and mantissa, most significant first; a value is written as a fraction of integers, so
that nothing is rounded but where a number is encoded: to the nearest value that the format has, of two as near the one
with the even code, and what is beyond the largest to the largest (saturation, as ``cvt.rn.satfinite`` has it). ue8m0
has no zero and rounds what is below its least value up to it; its way of rounding can be asked for, as its users take
powers of two that are not exceeded (``down``) or not below (``up``).
Source: OCP Microscaling Formats (MX) 1.0, sections 5.3 and 5.4; OCP 8-bit floating point (OFP8) 1.0; PTX ISA 9.1,
alternate floating-point data formats (ue4m3 is e4m3 without a sign: 7 bits, and the highest bit is 0).

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
from typing import Literal, TypeAlias

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.frozen import frozen
from descriptors.operands.operand import choose

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
    values, wanted = _magnitudes(name), abs(exact)
    sign = (1 << one.bits - 1) if exact < 0 else 0
    above = next((i for i, (known, _) in enumerate(values) if known >= wanted), len(values) - 1)
    if values[above][0] <= wanted or above == 0 or how == "up":
        return sign | values[above][1]
    (low, low_code), (high, high_code) = values[above - 1], values[above]
    if how == "down" or wanted - low < high - wanted:
        return sign | low_code
    if wanted - low > high - wanted:
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
    found = [(value, code) for code in codes if (value := decode_scale(code, name)) is not None]
    return tuple(sorted(found))


def _power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)
