"""Whole expressions in the CuTe DSL: the same answers as its operations asked one by one, and nested."""

from __future__ import annotations

from typing import Any

import pytest
from cases import spelled
from oracle_cases import cases
from seeds import seeds_of

from layoutalg import NotationError, evaluate, oracle
from layoutalg.cli.values import value_text
from layoutalg.notation.expression import OPERATIONS
from layoutalg.oracle import expressions
from layoutalg.oracle import expressions as algebra
from layoutalg.oracle.expressions import Answer, Case, SymbolError, evaluate_expressions
from layoutalg.oracle.service import Reply

needs_oracle = pytest.mark.skipif(not oracle.available(), reason="nvidia-cutlass-dsl is not installed")

#: Expressions that the two evaluate to the same text, of every operation at least one.
SAME = """
Layout((4,8))
Layout((4,8), (8,1))
ComposedLayout(S<3,4,3>, 0, (8,64):(64,1))
Swizzle(2, 4, 3)
E(1, 0)
(4,8):(E(0),E(1))
make_layout(4:1, 8:4)
make_layout((4:1, 8:4))
make_layout((4,8), stride=(8,1))
make_layout((4,8))
make_ordered_layout((2,3,4), (2,0,1))
make_layout_like((4,8):(16,2))
make_composed_layout(S<3,4,3>, 8, 8:1)
make_identity_layout((4,(8,2)))
make_layout_tv((4,8):(8,1), (2,4):(4,1))
(size(4:1))
size((4,8):(1,4), mode=[1])
size((4,8):(1,4), None)
cosize((4,8):(8,1), mode=None)
depth((2,(3,4)), mode=None)
cosize((4,8):(8,1))
rank((2,(3,4)):(1,(2,6)), mode=[1])
depth((2,(3,4)))
leading_dim((4,8), (8,1))
is_congruent((4,8), (1,1))
is_weakly_congruent(4, (2,2))
product((2,(3,4)))
crd2idx((2,3), (4,8):(1,4))
idx2crd(5, (4,8))
idx2crd(5, (4,8):(8,1))
max_common_layout((4,8):(1,4), 32:1)
max_common_vector((4,8):(1,4), 32:1)
get((4,8):(1,4), [1])
get((4,8):(1,4), None)
select((4,8,2):(1,4,32), [2,0])
flatten((4,(8,2)):(1,(4,32)))
append((2,3), 4)
prepend(4:1, 8:4)
group_modes((2,3,4), 0, 2)
slice_((4,8):(8,1), (_,5))
slice_((_,5), (4,8):(8,1))
slice_(coord=(_,5), src=(4,8):(8,1))
slice_(((1,_),((_,0),_)), ((3,2),((2,3),2)):((4,1),((2,15),100)))
slice_(_, (3,2):(1,3))
slice_((_,3), S<3,4,3> o 0 o (8,64):(64,1))
slice_((4,8), (_,5))
((8,16):(1,8))(3,_)
(S<3,4,3> o 0 o (8,64):(64,1))(3, 5)
S<3,4,3>(123)
((4,8):(1@0,1@1))(2,3)
dice((4,8):(1,4), (_,1))
dice((_,1), (4,8):(1,4))
dice((_,(1,_)), (4,(2,8)):(1,(4,16)))
dice((_,1), S<3,4,3> o 0 o (8,64):(64,1))
dice((4,8), (_,1))
coalesce((2,(1,6)):(1,(6,2)), target_profile=(1,1))
filter((4,1,8):(0,5,1))
filter_zeros((4,8):(0,1))
filter_zeros((4,8):(0,1), None)
composition((6,2):(8,2), (4,3):(3,1))
complement(4:2, 24)
complement(4:2)
right_inverse((4,8):(8,1))
left_inverse((4,8):(8,1))
nullspace((4,2):(0,1))
logical_divide((8,8):(8,1), (_,4))
zipped_divide(((8,16),(64,2)):((64,512),(1,8192)), (64,16))
tiled_divide((8,8):(8,1), (4,2))
flat_divide((8,8):(8,1), (4,2))
logical_product((2,2):(1,2), 4:1)
zipped_product((2,2):(1,2), 4:1)
tiled_product((2,2):(1,2), 4:1)
flat_product((2,2):(1,2), 4:1)
blocked_product((2,2):(1,2), (3,4):(1,3))
raked_product((2,2):(1,2), (3,4):(1,3))
tile_to_shape((8,8):(8,1), (16,16), (0,1))
tile_to_shape((8,8):(8,1), (16,16))
tile_to_shape((8,8):(8,1), (16,16,3), None)
tile_to_shape(8:1, 32)
recast_layout(128, 16, S<3,4,3> o 0 o (8,64):(64,1))
upcast((8,8):(8,1), 4)
downcast((8,8):(8,1), 2)
((4,8):(1,4))[1]
(S<3,4,3> o 0 o (8,64):(64,1))[1]
coalesce(zipped_divide(((8,16),(64,2)):((64,512),(1,8192)), (64,16))[1])
size(composition(right_inverse((4,8):(8,1)), make_layout(size(2:1))), mode=[0])
with_shape((8,4):(4,1), (2,16))
left_inverse((4,8):(0,1), strict=False)
complement(64:2@0, (128,64))
zipped_divide((10,64):(1@0,1@1), (16,16), round_up=True)
tile_to_shape((3,3):(1,3), (5,8), round_up=True)
tuple_add((1,2,3), (4,5))
tuple_sub((10,8), (3,2,5))
product_each((2,(3,4)))
shape_div((4,5,6), 40)
ceil_div((8,10,6), (3,4))
increment_coord((3,2), (4,8))
[4:1, (2,_)]
"""

#: Calls and slices of swizzled layouts, of which the DSL's function of that name answers something else.
DIFFERENT = {
    "slice_and_offset((_,10,_), S<3,3,4> o 0 o (8,16,16):(256,1,16))": "S<3,3,4> o 8 o (8,16):(256,16) + 10",
    "slice_and_offset((0,2,_), S<2,0,3> o 0 o (1,6,3):(3,3,1))": "(3):(-1) + 6",
    "slice_and_offset((5,0), S<3,3,4> o 37 o (9,3):(1,9))": "x:x o 0 o x:x + 42",
    "slice_((5,0), S<3,3,4> o 37 o (9,3):(1,9))": "x:x o 0 o x:x",
    "(S<3,4,3> o 0 o (8,64):(64,1))(3,_)": "208",
}

#: And those whose offset the DSL says apart.
APART = {
    "slice_and_offset((_,5), (4,8):(8,1))": "(4):(8) + 5",
    "local_tile((8,8):(8,1), (4,4), (0,1))": "(4,4):(8,1) + 4",
    "local_partition((8,8):(8,1), (2,2):(1,2), 3)": "(4,4):(16,2) + 9",
}


@needs_oracle
def test_every_operation_has_an_expression_on_which_the_two_agree() -> None:
    sources = [line for line in SAME.splitlines() if line]
    answers = evaluate_expressions([*sources, *APART])
    assert [answer.text.replace("None", "_") for answer in answers] == [
        *(value_text(evaluate(source)) for source in sources), *APART.values(),
    ]  # fmt: skip
    text = "\n".join([*sources, *APART])
    groups = [names for group, names in OPERATIONS.items() if group != "Copies and MMAs"]  # compared with recorded data
    names = [name for names in groups for name in names if f"{name}(" not in text]
    assert names == ["elem_less"]  # of which the DSL knows no result while it traces


@needs_oracle
def test_the_function_of_the_dsl_that_has_the_name_is_asked() -> None:
    answers = evaluate_expressions(DIFFERENT)
    assert [(answer.status, answer.text) for answer in answers] == [("ok", text) for text in DIFFERENT.values()]


def as_expression(case: Case) -> str:
    """A case as one types it."""
    arguments: Any = [_lists(argument) for argument in case.arguments]
    if case.operation == "text":
        return spelled("", arguments)
    if case.operation == "call":
        return spelled(f"({arguments[0]})", arguments[1:])
    return spelled("make_layout" if case.operation == "concatenate" else case.operation, arguments)


def _lists(data: Any) -> Any:
    return [_lists(item) for item in data] if isinstance(data, tuple) else data


@needs_oracle
@pytest.mark.parametrize("seed", seeds_of("test_an_expression_has_the_answer_of_its_operation_asked_alone"))
def test_an_expression_has_the_answer_of_its_operation_asked_alone(seed: int) -> None:
    questions = cases(f"expressions {seed}", 240)
    alone, whole = algebra.evaluate(questions), evaluate_expressions(map(as_expression, questions))
    for case, first, second in zip(questions, alone, whole, strict=True):
        assert (first.status, first.status == "ok" and first.text) == (
            second.status, second.status == "ok" and second.text,
        ), (case, first, second)  # fmt: skip


@needs_oracle
def test_a_refusal_and_a_crash_are_answers_and_cost_no_other() -> None:
    sources = ["size(4:1)", "composition((5,3):(7,1), 7:1)", "tile_to_shape((2,2):(-1,2), (4,4), (0,1))", "size(8:1)"]
    answers = evaluate_expressions(sources)
    assert [answer.status for answer in answers] == ["ok", "rejected", "crashed", "ok"]
    assert [answers[0].text, answers[3].text] == ["4", "8"]
    assert "unable to compute the following composition" in answers[1].text


def test_the_module_of_expressions_is_asked_and_its_replies_are_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(answerer: str, questions: list[Any], **_: Any) -> list[Reply]:
        assert (answerer, questions) == ("layoutalg.oracle.dsl.expressions", [{"size": [{":": [4, 1]}]}])
        return [Reply("timeout", "no answer in 20 s")]

    monkeypatch.setattr(expressions, "ask", ask)
    assert evaluate_expressions(["size(4:1)"]) == [Answer("timeout", "no answer in 20 s")]


@pytest.mark.parametrize(("source", "error"), [("size(4:1", NotationError), ("8:m", SymbolError)])
def test_nobody_is_asked_about_what_has_no_tree(source: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        evaluate_expressions(["size(4:1)", source])
