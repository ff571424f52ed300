"""Each step of an explanation is right, decided by enumeration, and the last one is the answer of the operation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import corpus
import pytest
from each import each
from hypothesis import given
from strategies import any_layouts, composition_pairs, drawn, layouts, tiled, tiled_whole

from layoutalg import Layout, LayoutError, NotationError, broken_law, evaluate, explain, law_names, size
from layoutalg.explanations.explanation import steps_of
from layoutalg.explanations.step import ExplanationStep
from layoutalg.notation.expression import operations


def walk(step: ExplanationStep) -> Iterator[ExplanationStep]:
    """The step and all steps below it, in the order of the text."""
    yield step
    for below in step.steps:
        yield from walk(below)


def leaves(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, tuple) else [value]


def offsets(layout: Any) -> list[int]:
    """The offsets at all indices, first mode fastest, computed from shape and stride alone."""
    values = [0]
    for s, d in zip(leaves(layout.shape), leaves(layout.stride), strict=True):
        values = [value + x * d for x in range(s) for value in values]
    return values


def truth(condition: str) -> bool:
    """Evaluate the relations of a condition by Python's arithmetic."""
    python = re.sub(r"(?<![<>!])=", "==", condition).replace(" mod ", " % ")
    assert re.fullmatch(r"[-\d+*%<>=!(),/ ]+", python), condition
    return all(bool(eval(part)) for part in python.split(", "))  # noqa: S307  digits and signs alone


def check_step(step: ExplanationStep) -> None:
    """Recompute the result of one step from its operands, by enumeration, and its condition."""
    if step.condition and not step.steps:
        assert truth(step.condition) == step.holds, step
    if step.result is None or not step.holds:
        return
    operands, result = step.operands, step.result
    plain = [operand for operand in operands if isinstance(operand, Layout)]
    if step.operation in law_names():
        fault = broken_law(step.operation, result, *operands)
        assert fault is None, f"{step}\n{fault}"
    elif step.operation == "":
        assert offsets(result) == offsets(operands[0]), step
    elif step.operation == "offsets":
        assert set(offsets(result)) == set(offsets(operands[0])), step
    elif step.operation == "size":
        assert result == len(offsets(operands[0])), step
    elif step.operation == "cosize":
        values = [0, *offsets(operands[0])]
        assert result == max(values) - min(values) + 1, step
    elif step.operation == "make_layout":
        first, second = map(offsets, plain)
        assert offsets(result) == [x + y for y in second for x in first], step
    elif step.operation == "make_ordered_layout":
        assert sorted(offsets(result)) == list(range(len(offsets(result)))), step
    elif step.operation == "()":
        assert step.condition or result is not None
    else:
        raise AssertionError(f"no judge for {step.operation}")


def check(operation: str, *operands: Any) -> None:
    """Explain an operation, check each step, and compare the last one with the operation."""
    explanation = explain(f"{operation}({', '.join(map(notation, operands))})")
    value, error = None, None
    try:
        value = operations()[operation](*operands)
    except LayoutError as refusal:
        error = refusal
    assert explanation.value == value
    assert (explanation.error, explanation.error_type) == (
        ("", "") if error is None else (str(error), type(error).__name__)
    )
    (shown,) = explanation.steps
    top = steps_of(operation, *operands) or shown
    steps = list(walk(top))
    for step in steps:
        check_step(step)
    assert top.result == value, f"{explanation}\nmust be {value}"
    assert top.holds == (error is None), f"{explanation}\n{error}"
    failed = [step for step in steps if not step.holds and not step.steps]
    assert failed == ([] if error is None else steps[-1:]), f"the condition that fails is the last step\n{explanation}"
    assert shown == top and not any("No steps are shown" in step.text for step in steps), explanation


def notation(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({','.join(map(notation, value))},)"
    return "_" if value is None else str(value)


@given(any_layouts)
def test_coalesce_and_the_inverses(layout: Any) -> None:
    for operation in ("coalesce", "right_inverse", "left_inverse"):
        check(operation, layout)


@given(layouts)
def test_nullspace(layout: Layout) -> None:
    check("nullspace", layout)


@given(composition_pairs)
def test_composition(pair: tuple[Layout, Layout]) -> None:
    check("composition", *pair)


@given(drawn(lambda source: (corpus.layout(source, kinds=("arbitrary",)), corpus.layout(source, 48))))
def test_composition_of_unrelated_layouts(pair: tuple[Layout, Layout]) -> None:
    check("composition", *pair)


@given(tiled)
def test_composition_and_logical_divide_mode_by_mode(pair: tuple[Any, Any]) -> None:
    check("composition", *pair)
    check("logical_divide", *pair)


@given(tiled_whole)
def test_the_forms_of_the_divides(pair: tuple[Any, Any]) -> None:
    for operation in ("zipped_divide", "tiled_divide", "flat_divide"):
        check(operation, *pair)


@given(drawn(lambda source: (corpus.layout(source), corpus.layout(source, 24))))
def test_divides_by_a_layout(pair: tuple[Layout, Layout]) -> None:
    check("logical_divide", *pair)
    check("zipped_divide", *pair)


@given(drawn(lambda source: (corpus.layout(source), source.integer(1, 120))))
def test_complement(pair: tuple[Layout, int]) -> None:
    check("complement", *pair)
    check("logical_divide", *pair)


@given(drawn(lambda source: (corpus.layout(source, 24), corpus.layout(source, 12))))
def test_products(pair: tuple[Layout, Layout]) -> None:
    for operation in ("logical", "zipped", "tiled", "flat", "blocked", "raked"):
        check(f"{operation}_product", *pair)


@given(tiled_whole)
def test_products_mode_by_mode(pair: tuple[Any, Any]) -> None:
    check("logical_product", *pair)
    check("zipped_product", *pair)


def _atom_and_shape(source: corpus.Source) -> tuple[Any, ...]:
    atom = corpus.layout(source, 24)
    rank = len(atom) + source.integer(0, 1)
    sizes = [size(mode) for mode in atom] + [1] * (rank - len(atom))
    shape = tuple(part * source.integer(1, 3) + (source.integer(0, 9) == 9) for part in sizes)
    return (atom, shape) if source.integer(0, 1) else (atom, shape, tuple(corpus.shuffled(source, rank)))


@given(drawn(_atom_and_shape))
def test_tile_to_shape(operands: tuple[Any, ...]) -> None:
    check("tile_to_shape", *operands)


def test_each_operation_of_an_expression_is_explained_in_the_order_of_evaluation() -> None:
    explanation = explain("size(coalesce((2,4):(1,2))) ")
    assert [step.operation for step in explanation.steps] == ["coalesce", "size"]
    assert explanation.value == 8


def test_a_refusal_ends_the_expression() -> None:
    explanation = explain("coalesce(complement((4,4):(1,3), 24))")
    assert [step.operation for step in explanation.steps] == ["complement"]
    assert "is not injective" in explanation.error and explanation.value is None


@each(
    "source",
    ["coalesce((8*m,64):(64,1))", "composition((4,8):(1@0,1@1), 4:2)", "upcast((8,64):(64,1), 4)", "cosize(8:2)"],
)
def test_what_has_no_steps_says_so_and_has_its_result(source: str) -> None:
    explanation = explain(source)
    (step,) = explanation.steps
    assert step.result == explanation.value == evaluate(source)
    assert "No steps are shown for" in step.text and not step.steps


def test_a_composed_layout_is_kept_and_its_layout_is_looked_for() -> None:
    explanation = explain("(6,2):(8,2) o (4,3):(3,1)")
    assert explanation.value == evaluate("(6,2):(8,2) o (4,3):(3,1)")
    assert explanation.steps[-1].result == evaluate("composition((6,2):(8,2), (4,3):(3,1))")


def test_a_call_of_a_layout_is_the_sum_of_coordinates_times_strides() -> None:
    (step,) = explain("((4,8):(8,1))(11)").steps
    assert step.condition == "3*8 + 2*1 = 26" and step.result == 26


def test_a_text_that_is_no_expression_is_refused() -> None:
    with pytest.raises(NotationError):
        explain("coalesce(4:1")


def test_lines_of_words_fit_into_a_terminal() -> None:
    text = str(explain("tile_to_shape((8,64):(64,1), (128,128), (1,0))"))
    assert max(len(line) for line in text.splitlines() if line.endswith(".")) <= 80
