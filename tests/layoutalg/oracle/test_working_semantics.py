"""The CuTe DSL on basis strides, broadcasts, overlaps and tiles that round up: the same function, or a broken law."""

from __future__ import annotations

import pytest
from corpus import SeededSource
from cute_ir import same_function
from seeds import seeds_of
from working import PRODUCTS, call, expression

from layoutalg import Layout, LayoutError, broken_law, evaluate, oracle, parse_layout
from layoutalg.oracle.expressions import Answer, evaluate_expressions

needs_oracle = pytest.mark.skipif(not oracle.available(), reason="nvidia-cutlass-dsl is not installed")
NUMBER = 600


def verdict(operation: str, operands: tuple[str, ...], dsl: Answer) -> str:
    """How our answer and the DSL's relate: agree, both refuse, or who is right by the law of the operation."""
    try:
        ours = evaluate(expression(operation, operands))
    except LayoutError:
        ours = None
    try:
        theirs = parse_layout(dsl.text) if dsl.status == "ok" else None
    except LayoutError:  # "x:x", an extent of 0
        theirs = None
    if ours is None:
        if theirs is None:
            return "both refuse"
        return "the DSL breaks the law" if broken(operation, theirs, operands) else "WE REFUSE"
    if theirs is None:
        return "the DSL refuses"
    if same_function(ours, theirs):
        return "agree"
    return "the DSL breaks the law" if broken(operation, theirs, operands) else "ANOTHER RIGHT ANSWER"


def broken(operation: str, answer: object, operands: tuple[str, ...]) -> str | None:
    assert isinstance(answer, Layout)
    return broken_law(operation, answer, *operands)


@needs_oracle
@pytest.mark.parametrize("seed", seeds_of("test_the_dsl_agrees_in_the_working_semantics_or_breaks_the_law"))
def test_the_dsl_agrees_in_the_working_semantics_or_breaks_the_law(seed: int) -> None:
    # The copies of a coordinate block go along the last mode of the coordinate here and in CuTe IR, along the first in
    # the DSL: its products are not compared.
    source = SeededSource(f"working {seed}")
    calls = [case for case in (call(source) for _ in range(NUMBER)) if case[0] not in PRODUCTS]
    answers = evaluate_expressions([expression(*case) for case in calls])
    wrong = []
    agreed = 0
    for (operation, operands), answer in zip(calls, answers, strict=True):
        found = verdict(operation, operands, answer)
        agreed += found == "agree"
        if found.isupper():
            wrong.append(f"{found}: {expression(operation, operands)}, the DSL gives {answer.text}")
    assert not wrong, "\n".join(wrong[:20])
    assert agreed > len(calls) // 2
