"""Numbers with symbols: equal, different or less where all values say so, and else not decided."""

from __future__ import annotations

from typing import Any

import pytest

from layoutalg import UndecidedError
from layoutalg.tuples.polynomial import Polynomial, same

M, N = Polynomial.symbol("m"), Polynomial.symbol("n")


@pytest.mark.parametrize(
    ("a", "b"), [(1, M), (M, 1), (2, M + 1), (M, N), (2 - M, 1), (M * N, M), (1, 2 - M), (0, M - 1)]
)
def test_numbers_that_are_equal_for_some_values_only_are_not_decided(a: Any, b: Any) -> None:
    with pytest.raises(UndecidedError, match="cannot decide whether"):
        same(a, b)


@pytest.mark.parametrize(
    ("a", "b"), [(1, 1 - M), (1 - M, 1), (0, M), (M, 0), (1, 2 * M), (M, M + 1), (M + N, 1), (0, 1)]
)
def test_numbers_that_are_never_equal_are_different(a: Any, b: Any) -> None:
    assert same(a, b) is False


@pytest.mark.parametrize(
    ("a", "b", "less"),
    [(0, M, True), (M, 0, False), (1, M + 1, True), (M, M, False), (M, 1, False), (1, M, None), (M, N, None)],
)
def test_an_order_is_told_where_all_values_have_it(a: Any, b: Any, less: bool | None) -> None:
    if less is None:
        with pytest.raises(UndecidedError, match="cannot decide whether"):
            assert bool(a < b)
        return
    assert (a < b) is less and (b > a) is less
    assert (a >= b) is not less and (b <= a) is not less
