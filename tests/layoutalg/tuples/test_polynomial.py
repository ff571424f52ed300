"""Polynomials: a multiple of a sum is divided by it, beginning at the leading term."""

from __future__ import annotations

from typing import Any

import pytest
from each import each

from layoutalg import UndecidedError
from layoutalg.tuples.polynomial import Polynomial

M, N = Polynomial.symbol("m"), Polynomial.symbol("n")


SUMS = [M + 1, 2 * M + 1, M + N, M * N + 1, M * M + M + 1, 3 * N + 2, M * N + N + 1]


@each("divisor", SUMS, ids=str)
@each("quotient", [1, 2, M, M + 2, 2 * N, M * N + 3], ids=str)
def test_a_multiple_of_a_sum_is_divided_by_it(divisor: Any, quotient: Any) -> None:
    assert divmod(quotient * divisor, divisor) == (quotient, 0)
    assert divmod(quotient * divisor + 1, divisor) == (quotient, 1)


def test_the_division_by_a_sum_begins_at_its_leading_term() -> None:
    assert divmod(M * N + N, M + 1) == (N, 0)
    with pytest.raises(UndecidedError, match=r"whether m\+1 divides m\*n; give it as m\*\*2\*n\+m\*n if it does"):
        divmod(M * N, M + 1)
