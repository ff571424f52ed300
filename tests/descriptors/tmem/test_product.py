"""The reference of a block-scaled product, against exact fractions; and packed scale factors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from seeds import seed_of_this_run

from descriptors import DescriptorError
from descriptors.tmem.scale_product import block_scaled_product, decode_scale, pack_scales, unpack_scales, values_of


@pytest.mark.parametrize(
    ("dtype", "other", "scale", "vector"),
    [
        ("e2m1", None, "ue4m3", 16),
        ("e2m1", None, "ue8m0", 16),
        ("e2m1", None, "ue8m0", 32),
        ("e4m3", "e2m3", "ue8m0", 32),
    ],
)
def test_a_product_is_the_sum_of_its_fractions(dtype: str, other: str | None, scale: str, vector: int) -> None:
    rng = np.random.default_rng(seed_of_this_run())
    m, n, k = 5, 3, 2 * vector
    limits = {"e2m1": 16, "e4m3": 0x78, "e2m3": 64}
    a, b = rng.integers(0, limits[dtype], (m, k)), rng.integers(0, limits[other or dtype], (n, k))
    low, high = (120, 134) if scale == "ue8m0" else (0, 0x7F)
    factors = [rng.integers(low, high, (rows, k // vector)) for rows in (m, n)]
    c = rng.integers(-8, 8, (m, n))
    product = block_scaled_product(a, b, *factors, a_dtype=dtype, b_dtype=other, scale_dtype=scale, vector=vector, c=c)

    def value(code: Any, name: str) -> Fraction:
        decoded = decode_scale(int(code), name)
        assert decoded is not None
        return decoded

    for i, j in np.ndindex(m, n):
        exact = Fraction(int(c[i, j])) + sum(
            value(a[i, q], dtype) * value(b[j, q], other or dtype)
            * value(factors[0][i, q // vector], scale) * value(factors[1][j, q // vector], scale)
            for q in range(k)
        )  # fmt: skip
        assert Fraction(float(product[i, j])) == exact


def test_packed_factors_read_back_and_the_rest_is_zero() -> None:
    rng = np.random.default_rng(seed_of_this_run())
    codes = rng.integers(1, 255, (200, 6), dtype=np.uint8)
    packed = pack_scales(codes, 32)
    assert packed.shape == (2 * 2 * 512,) and np.count_nonzero(packed) == codes.size
    assert (unpack_scales(packed, 200, 192, 32) == codes).all()


def test_what_is_no_number_stays_none() -> None:
    assert np.isnan(values_of([0xFF], "ue8m0")).all() and np.isnan(values_of([0x7F], "ue4m3")).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: values_of([16], "e2m1"), "codes of e2m1 are not all integers from 0 to 15"),
        (lambda: values_of([0.5], "e2m1"), "codes of e2m1 are not all integers"),
        (
            lambda: block_scaled_product([[1] * 32], [[1] * 32], [[1, 1]], [[1]]),
            r"factors of A have shape \(1, 2\), which does not",
        ),
        (
            lambda: block_scaled_product([[1] * 32], [[1] * 64], [[1]], [[1, 1]]),
            "K of A is .* and K of B is",
        ),
        (lambda: pack_scales([1, 2], 16), "codes is not a matrix of integers from 0 to 255"),
        (lambda: unpack_scales(np.zeros(5), 8, 64, 16), r"packed has shape \(5,\) and .* these factors are 512 bytes"),
    ],
)
def test_what_is_no_product_is_refused(call: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        call()


def test_a_code_of_nine_bits_is_no_byte() -> None:
    with pytest.raises(DescriptorError, match="codes is not a matrix of integers from 0 to 255"):
        pack_scales([[256]], 16)
    assert pack_scales([[255]], 16)[0] == 255


def test_k_is_a_multiple_of_the_vector() -> None:
    with pytest.raises(DescriptorError, match=r"K is 48, which is not a multiple of the vector \(32\)"):
        block_scaled_product([[2] * 48], [[2] * 48], [[127]], [[127]])
