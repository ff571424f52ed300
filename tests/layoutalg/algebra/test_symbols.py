"""Symbols: polynomials compute as the integers they stand for, and substitution commutes with the algebra."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import layoutalg as la
from layoutalg import Layout, LayoutError, UndecidedError, parse_layout, prove, substitute, symbols_of
from layoutalg.tuples.polynomial import Polynomial, same

M, K = Polynomial.symbol("m"), Polynomial.symbol("k")
NUMBERS = st.fixed_dictionaries({"m": st.integers(1, 6), "k": st.integers(1, 6)})


@st.composite
def polynomials(draw: st.DrawFn) -> Any:
    terms = draw(st.lists(st.tuples(st.sampled_from([1, 1, 2, 3, 4, 8, 16, -1]), st.sampled_from([M, K, M * K, 1]))))
    return sum((c * x for c, x in terms), start=draw(st.sampled_from([0, 0, 1, 8])))


def at(value: Any, numbers: dict[str, int]) -> Any:
    return value.substitute(numbers) if isinstance(value, Polynomial) else value


OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "divmod": divmod,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "same": same,
}


@given(polynomials(), polynomials(), st.sampled_from(sorted(OPERATORS)), NUMBERS)
@settings(max_examples=600)
def test_every_operator_that_answers_agrees_with_the_integers(
    a: Any, b: Any, name: str, numbers: dict[str, int]
) -> None:
    divides = name in ("//", "%", "divmod")
    if divides and at(b, numbers) <= 0:
        return
    try:
        answer = OPERATORS[name](a, b)
    except (UndecidedError, ZeroDivisionError):
        return
    expected = OPERATORS[name](at(a, numbers), at(b, numbers))
    parts = answer if isinstance(answer, tuple) else (answer,)
    assert tuple(at(part, numbers) for part in parts) == (expected if isinstance(expected, tuple) else (expected,))


def test_sympy_goes_in_and_comes_out() -> None:
    m, k = sympy.symbols("m k", positive=True, integer=True)
    expression = 8 * m * k + 3 * m**2 - 1
    polynomial = Polynomial.of(expression)
    assert sympy.simplify(sympy.sympify(polynomial) - expression) == 0
    assert Polynomial.of(m - m + 4) == 4
    assert str(Layout((8 * m, 64 * k))) == "(8*m,64*k):(1,8*m)"


@pytest.mark.parametrize(
    "expression",
    [sympy.Symbol("x"), sympy.Symbol("x", positive=True, integer=True) / 2, sympy.Rational(1, 2), sympy.pi],
    ids=str,
)
def test_what_is_no_integer_polynomial_in_positive_integers_is_refused(expression: sympy.Expr) -> None:
    with pytest.raises(LayoutError):
        Layout(expression)


EXTENTS = st.sampled_from([1, 2, 4, 8, M, K, 2 * M, 4 * K, 8 * M, 16 * K])


@st.composite
def symbolic_layouts(draw: st.DrawFn) -> Layout:
    """Compact or gapped layouts in any mode order, with symbols in extents and so in strides."""
    extents = draw(st.lists(EXTENTS, min_size=1, max_size=4))
    order = draw(st.permutations(range(len(extents))))
    strides: list[Any] = [0] * len(extents)
    current: Any = draw(st.sampled_from([1, 1, 1, 2]))
    for i in order:
        strides[i] = current
        current = current * extents[i] * draw(st.sampled_from([1, 1, 1, 2, 4]))
    return Layout(tuple(extents), tuple(strides))


TILERS = st.sampled_from([2, 4, 8, (2,), (4, 2), (1, 4), Layout(2, 4), Layout((2, 2), (4, 1)), M, (2 * M,)])
OPERATIONS: dict[str, Any] = {
    "coalesce": lambda a, b, t: la.coalesce(a),
    "filter": lambda a, b, t: la.filter(a),
    "composition": lambda a, b, t: la.composition(a, b),
    "composition by a tiler": lambda a, b, t: la.composition(a, t),
    "complement": lambda a, b, t: la.complement(a, la.size(b) * la.cosize(a)),
    "right_inverse": lambda a, b, t: la.right_inverse(a),
    "left_inverse": lambda a, b, t: la.left_inverse(a),
    "nullspace": lambda a, b, t: la.nullspace(a),
    "logical_divide": lambda a, b, t: la.logical_divide(a, t),
    "zipped_divide": lambda a, b, t: la.zipped_divide(a, t),
    "tiled_divide": lambda a, b, t: la.tiled_divide(a, t),
    "flat_divide": lambda a, b, t: la.flat_divide(a, t),
    "logical_product": lambda a, b, t: la.logical_product(a, b),
    "blocked_product": lambda a, b, t: la.blocked_product(a, b),
    "raked_product": lambda a, b, t: la.raked_product(a, b),
    "tile_to_shape": lambda a, b, t: la.tile_to_shape(a, tuple(2 * K * la.size(mode) for mode in a)),
    "make_ordered_layout": lambda a, b, t: la.make_ordered_layout(a.shape, tuple(range(la.rank(a)))[::-1]),
    "upcast": lambda a, b, t: la.upcast(a, 4),
    "downcast": lambda a, b, t: la.downcast(a, 4),
    "group_modes": lambda a, b, t: la.group_modes(a, 0),
}


@given(symbolic_layouts(), symbolic_layouts(), TILERS, st.sampled_from(sorted(OPERATIONS)), NUMBERS)
@settings(max_examples=500)
def test_substituting_numbers_commutes_with_every_operation(
    a: Layout, b: Layout, tiler: Any, name: str, numbers: dict[str, int]
) -> None:
    operate = OPERATIONS[name]
    try:
        symbolic = operate(a, b, tiler)
    except LayoutError:
        return  # refused for all values, or not decided for all; the next test counts how often
    first, second, tile = (substitute(part, numbers) for part in (a, b, tiler))
    if name == "tile_to_shape":
        numeric = la.tile_to_shape(first, tuple(2 * numbers["k"] * la.size(mode) for mode in first))
    else:
        numeric = operate(first, second, tile)
    assert la.coalesce(substitute(symbolic, numbers)) == la.coalesce(numeric)


@given(symbolic_layouts(), symbolic_layouts(), TILERS, st.sampled_from(sorted(OPERATIONS)), NUMBERS)
@settings(max_examples=200)
def test_a_refusal_that_is_decided_holds_for_the_numbers_too(
    a: Layout, b: Layout, tiler: Any, name: str, numbers: dict[str, int]
) -> None:
    try:
        OPERATIONS[name](a, b, tiler)
    except UndecidedError:
        return
    except LayoutError:
        if name != "tile_to_shape" and not {1} & set(numbers.values()):
            with pytest.raises(LayoutError):
                OPERATIONS[name](*(substitute(part, numbers) for part in (a, b, tiler)))


def test_every_operation_decides_for_some_layouts_with_symbols() -> None:
    a = parse_layout("(8,4*m):(4*m,1)")
    decided: Counter[str] = Counter()
    for name, operate in OPERATIONS.items():
        for b, tiler in ((Layout((2, K)), 2), (Layout((2, 4)), (4, 2)), (Layout((2, K)), M)):
            try:
                decided[name] += bool(symbols_of(operate(a, b, tiler)))
            except LayoutError:
                continue
    assert set(OPERATIONS) - set(+decided) <= {"nullspace"}, decided  # its kernel has no symbols here


def test_what_cannot_be_decided_names_the_missing_fact() -> None:
    m = sympy.Symbol("m", positive=True, integer=True)
    with pytest.raises(UndecidedError, match=r"cannot decide whether 16 divides 8\*m; give it as 16\*m"):
        la.logical_divide(Layout(8 * m), 16)


def test_the_layouts_of_a_descriptor_derivation_have_closed_forms() -> None:
    m, k = sympy.symbols("m k", positive=True, integer=True)
    tile = la.tile_to_shape(Layout((8, 64), (64, 1)), (128 * m, 128 * k), (0, 1))
    parts = la.zipped_divide(tile, (64, 16))
    assert str(parts) == "((64,16),(2*m,(4,2*k))):((64,1),(4096,(16,8192*m)))"
    assert str(la.recast_layout(128, 16, parts)[1]) == "(2*m,(4,2*k)):(512,(2,1024*m))"


def test_a_proof_holds_for_all_values_and_a_counterexample_shows_one() -> None:
    assert prove(parse_layout("(8,m):(1,8)"), parse_layout("8*m:1"))
    proof = prove(parse_layout("(8,m):(1,8)"), parse_layout("(8,m):(1,4*m)"))
    assert not proof
    values = dict(proof.counterexample)
    pair = [substitute(parse_layout(text), values) for text in ("(8,m):(1,8)", "(8,m):(1,4*m)")]
    assert proof.index is not None and tuple(layout(proof.index) for layout in pair) == proof.found
    assert not prove(parse_layout("(4,m):(1,4)"), parse_layout("(4,2*m):(1,4)"))


@given(symbolic_layouts())
def test_notation_reads_symbols_back(layout: Layout) -> None:
    assert parse_layout(str(layout)) == layout
