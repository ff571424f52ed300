"""Laws of the algebra with symbols in the strides, decided by z3 and cvc5 for all their values.

Both sides are written as CuTe defines a layout: the index taken apart by the shape, times the strides. What the package
answers is on one side, what the operation is defined to be on the other.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from seeds import seed_of_this_run

from descriptors.smem.claims.layout_terms import mode_term
from descriptors.smem.claims.question import Question
from descriptors.smem.claims.solver import ask
from descriptors.smem.claims.terms import INTEGERS
from layoutalg import (
    Layout,
    LayoutError,
    coalesce,
    complement,
    composition,
    logical_divide,
    parse_layout,
    size,
    substitute,
    symbol,
    symbols_of,
)

NAMES = ("a", "b", "c")
STRIDES = tuple(map(symbol, NAMES))


def at(layout: Any, index: str) -> str:
    return mode_term(layout.shape, layout.stride, index, INTEGERS)


def differ(one: str, other: str, end: int) -> Question:
    """Whether two terms differ at an index x below an end, for some positive values of the symbols."""
    known = [f"(declare-const {name} Int)\n(assert (<= 1 {name}))" for name in NAMES]
    known.append(f"(declare-const x Int)\n(assert (and (<= 0 x) (< x {end})))")
    return Question("law", "UFNIA", "\n".join(known), f"(not (= {one} {other}))", "Do they differ?")


def drawn(rng: random.Random) -> tuple[Layout, Layout]:
    """A layout with symbols for its strides, and a layout of numbers whose values index it."""
    inner = tuple(rng.choice([1, 2, 3, 4, 6, 8]) for _ in range(rng.choice([2, 3])))
    outer = Layout(tuple(rng.choice([2, 3, 4, 6]) for _ in range(3)), STRIDES)
    steps = tuple(rng.choice([1, 2, 3, 4, 6, 12, 24]) for _ in inner)
    return outer, Layout(inner, steps)


def test_a_composition_is_one_layout_after_the_other_whatever_the_strides() -> None:
    """By z3: cvc5 decides half of these in seconds, and the others not."""
    pytest.importorskip("z3", reason="z3 is not installed: pip install '.[test]'")
    rng, composed = random.Random(f"{seed_of_this_run()} composition"), 0
    while composed < 12:
        outer, inner = drawn(rng)
        try:
            answer = composition(outer, inner)
        except LayoutError:
            continue
        composed += 1
        defined = at(outer, at(inner, "x"))
        assert ask(differ(at(answer, "x"), defined, size(inner)), "z3").outcome == "unsat", (outer, inner)
        wrong = substitute(answer, {name: stride + 1 for name, stride in zip(NAMES, STRIDES, strict=True)})
        moves = bool(symbols_of(answer))
        assert ask(differ(at(wrong, "x"), defined, size(inner)), "z3").outcome == ("sat" if moves else "unsat")


def test_a_composition_that_another_implementation_gives_is_refuted(solver: str) -> None:
    """The CuTe DSL gives (2,3):(6,3) for (4,6,8):(2,3,5) o 6:3, which we refuse (docs/divergences.md)."""
    outer, inner = parse_layout("(4,6,8):(2,3,5)"), parse_layout("6:3")
    defined = at(outer, at(inner, "x"))
    for wrong in ("(2,3):(6,3)", "6:6"):
        assert ask(differ(at(parse_layout(wrong), "x"), defined, 6), solver).outcome == "sat"


def test_what_coalesces_or_is_divided_stays_the_same_function(solver: str) -> None:
    a, b, _ = STRIDES
    for layout in (
        Layout((2, 3, 4), (a, 2 * a, 6 * a)),
        Layout((2, 1, 4), (a, b, 2 * a)),
        Layout((4, (2, 2)), (a, (b, 2 * b))),
    ):
        assert ask(differ(at(coalesce(layout), "x"), at(layout, "x"), size(layout)), solver).outcome == "unsat"
    for layout, tiler in (
        (Layout((4, 6), (a, b)), "2:2"),
        (Layout((8, 6), (a, b)), "(2,2):(1,4)"),
        (Layout(24, a), "4:3"),
    ):
        cut = parse_layout(tiler)
        rest = complement(cut, size(layout))
        quotient, inner = (
            at(logical_divide(layout, cut), "x"),
            at(Layout((cut.shape, rest.shape), (cut.stride, rest.stride)), "x"),
        )
        assert ask(differ(quotient, at(layout, inner), size(layout)), solver).outcome == "unsat"
        off = at(Layout((cut.shape, size(rest)), (cut.stride, 1)), "x")
        assert ask(differ(quotient, at(layout, off), size(layout)), solver).outcome == "sat"


def test_a_complement_has_each_offset_once_beside_the_layout(solver: str) -> None:
    """Two coordinates (x, u) and (y, v) of a layout and its complement never come to one offset."""
    for text, end in (("4:2", 24), ("(2,4):(1,6)", 48), ("(4,6):(1,8)", 96)):
        layout = parse_layout(text)
        rest = complement(layout, end)
        both = [f"(+ {at(layout, x)} {at(rest, u)})" for x, u in (("x", "u"), ("y", "v"))]
        known = [f"(declare-const {name} Int)" for name in "xyuv"]
        known += [f"(assert (and (<= 0 {one}) (< {one} {size(layout)})))" for one in "xy"]
        known += [f"(assert (and (<= 0 {one}) (< {one} {size(rest)})))" for one in "uv"]
        premises = "\n".join([*known, "(assert (not (and (= x y) (= u v))))"])
        same = Question("complement", "UFNIA", premises, f"(= {both[0]} {both[1]})", "Is an offset there twice?")
        assert size(layout) * size(rest) >= end and ask(same, solver).outcome == "unsat"
        assert (
            ask(same._replace(denial=f"(= {at(layout, 'x')} (+ {at(layout, 'y')} {at(layout, 'u')}))"), solver).outcome
            == "sat"
        )
