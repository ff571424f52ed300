"""Every code of every format, against formulas of the test's own; and every rounding, against the nearest by search."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from math import ldexp
from typing import Any

import pytest
from seeds import seed_of_this_run

from descriptors import DescriptorError
from descriptors.tmem.scale_product import FORMATS, decode_scale, encode_scale, largest

E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def test_all_16_codes_of_e2m1() -> None:
    assert [decode_scale(code, "e2m1") for code in range(16)] == [*E2M1, *(-value for value in E2M1)]


def test_all_256_codes_of_ue8m0() -> None:
    assert [decode_scale(code, "ue8m0") for code in range(255)] == [Fraction(2) ** (code - 127) for code in range(255)]
    assert decode_scale(255, "ue8m0") is None


def test_all_256_codes_of_ue4m3() -> None:
    for code in range(256):
        exponent, mantissa = code >> 3, code & 7
        value = ldexp(8 + mantissa, exponent - 10) if exponent else ldexp(mantissa, -9)
        assert decode_scale(code, "ue4m3") == (None if code >= 0x7F else Fraction(value))


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "e2m3", "e3m2"])
def test_signed_formats_are_those_of_numpys_kin(name: str) -> None:
    exponent, mantissa, bias = {"e4m3": (4, 3, 7), "e5m2": (5, 2, 15), "e2m3": (2, 3, 1), "e3m2": (3, 2, 3)}[name]
    for code in range(1 << (1 + exponent + mantissa)):
        sign, e, m = code >> exponent + mantissa, code >> mantissa & (1 << exponent) - 1, code & (1 << mantissa) - 1
        top = e == (1 << exponent) - 1
        if (name == "e4m3" and top and m == 7) or (name == "e5m2" and top):
            assert decode_scale(code, name) is None
        else:
            value = ldexp(m + (1 << mantissa if e else 0), (e or 1) - bias - mantissa)
            assert decode_scale(code, name) == Fraction(-value if sign else value)


@pytest.mark.parametrize("name", FORMATS)
def test_encoding_takes_the_nearest_and_of_two_the_even_code(name: str) -> None:
    rng = random.Random(seed_of_this_run())
    value_of = {
        code: value for code in range(1 << FORMATS[name].bits) if (value := decode_scale(code, name)) is not None
    }
    values = sorted({value for value in value_of.values() if value >= 0})
    numbers = [rng.choice(values) * Fraction(rng.randrange(1, 64), 16) for _ in range(50)]
    numbers += [(a + b) / 2 for a, b in pairwise(values)]
    numbers += [-value for value in numbers] if FORMATS[name].signed else []
    for value in numbers:
        code = encode_scale(value, name)
        least = min(abs(value_of[one] - value) for one in value_of)
        assert abs(value_of[code] - value) == least
        nearest = {
            one for one in value_of if abs(value_of[one] - value) == least and (value_of[one] < 0) <= (value < 0)
        }
        assert code % 2 == 0 or len({value_of[one] for one in nearest}) == 1


def test_the_other_roundings_never_go_the_other_way() -> None:
    for value in (3, 5.5, 0.3, 1e30):
        down, up = (decode_scale(encode_scale(value, "ue8m0", how), "ue8m0") for how in ("down", "up"))  # type: ignore[arg-type]
        assert down is not None and up is not None and down <= Fraction(value) <= up == 2 * down


def test_what_is_beyond_the_largest_becomes_the_largest() -> None:
    assert [decode_scale(encode_scale(1e9, name), name) for name in ("e2m1", "ue4m3", "e5m2")] == [6, 448, 57344]
    assert encode_scale(-1e9, "e4m3") == 0xFE and largest("ue8m0") == Fraction(2) ** 127


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: decode_scale(16, "e2m1"), "a code of e2m1 is 16, but the maximum is 15"),
        (lambda: decode_scale(0, "e8m0"), "format is "),
        (lambda: encode_scale(-1, "ue8m0"), "-1 is negative, and ue8m0 has no sign"),
        (lambda: encode_scale(float("nan"), "e2m1"), "nan is not a finite number, so e2m1 cannot represent it"),
        (lambda: encode_scale(float("inf"), "ue4m3"), "inf is not a finite number, so ue4m3 cannot represent it"),
        (lambda: encode_scale("x", "e2m1"), "'x' is not a finite number"),
        (lambda: encode_scale(1, "e2m1", "away"), "supported: nearest, up, down"),
    ],
)
def test_what_has_no_code_is_refused(call: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        call()
