"""Small integers as the bits of an element type, which a host program fills matrices with.

Law: no two numbers have one code, and -x differs from x in the sign alone.

>>> [hex(code_of("bf16", x)) for x in (-1, 0, 1, 3)], [code_of("e2m1", x) for x in (1, 2, 3)]
(['0xbf80', '0x0', '0x3f80', '0x4040'], [2, 4, 5])
"""

from __future__ import annotations

#: Bits of exponent and of mantissa of each floating-point type; IEEE's bias in all of them (OCP 8-bit and MX formats).
_FIELDS = {
    "f16": (5, 10), "bf16": (8, 7), "tf32": (8, 23), "e4m3": (4, 3), "e5m2": (5, 2), "e2m3": (2, 3), "e3m2": (3, 2),
    "e2m1": (2, 1),
}  # fmt: skip


def code_of(dtype: str, value: int) -> int:
    """The bits of an integer from -3 to 3, the types' own: of u8 from 0.

    Args:
        dtype: the element type.
        value: the integer.

    >>> code_of("s8", -2), code_of("e4m3", -2), code_of("e5m2", 3)
    (254, 192, 66)
    """
    if dtype in ("s8", "u8"):
        return value & 0xFF
    exponent, mantissa = _FIELDS[dtype]
    size = abs(value)
    sign = int(value < 0) << (exponent + mantissa)
    if not size:
        return 0
    power = size.bit_length() - 1
    bias = (1 << (exponent - 1)) - 1
    return sign | (power + bias) << mantissa | (size - (1 << power)) << mantissa >> power
