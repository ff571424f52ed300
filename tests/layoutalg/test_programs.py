"""The names of the CuTe DSL's programs that are no algebra."""

from __future__ import annotations

import pytest

from layoutalg import LayoutError, Swizzle, jit, make_swizzle


def test_a_decorated_function_is_the_function_itself() -> None:
    def one() -> int:
        return 1

    assert jit(one) is one


def test_the_options_of_the_dsls_decorator_are_refused_in_words() -> None:
    with pytest.raises(LayoutError, match="jit: None is not a function"):
        jit(None)  # type: ignore[type-var]


def test_a_swizzle_has_two_names() -> None:
    assert make_swizzle(2, 4, 3) == Swizzle(2, 4, 3)
    with pytest.raises(LayoutError):
        make_swizzle(-1, 4, 3)
