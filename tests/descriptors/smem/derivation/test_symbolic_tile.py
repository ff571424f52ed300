"""A tile with symbols is read from values of any kind, and from one line of text."""

from __future__ import annotations

import pytest
import sympy

from descriptors.smem.derivation.symbolic import derive_symbolic, parse_tile

ONE = {"dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}


def test_sympy_expressions_text_and_polynomials_are_the_same_extent() -> None:
    m, k = sympy.symbols("m k", positive=True, integer=True)
    family = derive_symbolic((64 * m, 64 * k), **ONE)  # type: ignore[arg-type]
    assert family == derive_symbolic(("64*m", "64*k"), **ONE) == derive_symbolic(family.tile, **ONE)  # type: ignore[arg-type]
    assert hash(family) == hash(derive_symbolic(family.tile, **ONE))  # type: ignore[arg-type]
    assert sympy.sympify(family.steps[-1].bytes) == 8192 * m
    assert family.substitute({m: 2}).symbols == ("k",)


@pytest.mark.parametrize("text", ["64*m x 64*k", "64*mx64*k", "(64*m,64*k)", " 64*m , 64*k ", "64*m  x  64*k"])
def test_a_tile_is_read_from_a_command_line(text: str) -> None:
    assert tuple(map(str, parse_tile(text))) == ("64*m", "64*k")


def test_spaces_or_commas_allow_symbols_with_an_x_in_their_name() -> None:
    assert tuple(map(str, parse_tile("64*max x 64*x"))) == ("64*max", "64*x")
    assert tuple(map(str, parse_tile("64*x,64*k,stages"))) == ("64*x", "64*k", "stages")
