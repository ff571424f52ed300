"""NVIDIA's CuTe IR tests through the public functions: each static result is the recorded one, and none differs."""

from __future__ import annotations

import pytest
from cute_ir import RECORDED, compare, compare_values, group, read_cases, same_for_numbers, table

from layoutalg import Layout, evaluate

COUNTS, COMPARED = table(read_cases(RECORDED))


def count(kind, *verdicts):
    return sum(COUNTS[kind, verdict] for verdict in verdicts)


def test_every_static_result_is_the_recorded_one_or_the_same_function():
    wrong = [(case, ours) for case, ours in COMPARED if group(case) == "static" and not ours.verdict.startswith("same")]
    assert not wrong
    assert count("static", "same") > 250 and count("static", "same function") < 30


def test_no_dynamic_result_differs_and_most_agree_for_all_values_of_the_symbols():
    wrong = [ours for case, ours in COMPARED if group(case) == "dynamic" and ours.verdict in ("different", "refused")]
    assert not wrong
    assert count("dynamic", "same", "same function") > 50 > 10 > count("dynamic", "undecided")


#: Uses that CuTe IR rejects for the kind of an operand or result, where tuples have no kinds here, and of operands that
#: it does not support.
KINDS = (
    "to_coord",
    "to_stride",
    "make_identity_layout",
    "make_layout",
    "flatten",
    "cosize",
    "layout_eval",
    "tuple_product",
)


def test_what_cute_ir_rejects_is_refused_or_answered_otherwise_unless_only_the_kind_of_a_tuple_is_wrong():
    accepted = {case["operation"] for case, ours in COMPARED if ours.verdict == "accepted"}
    assert accepted <= set(KINDS)
    assert count("rejected", "refused too") > 70


@pytest.mark.parametrize(
    ("answer", "expected", "verdict"),
    [
        ("(4,2):(1,4)", "(4,2):(1,4)", "same"),
        ("(4,1):(1,0)", "(4,1):(1,4)", "same function"),
        ("8:1", "(4,2):(1,4)", "same function"),
        ("(2,4):(1,2)", "(4,2):(1,4)", "different"),  # the same offsets, but modes of other sizes
        ("(4,2):(1,5)", "(4,2):(1,4)", "different"),
        ("(4,m):(1,4)", "(4,?):(1,4)", "same"),
        ("(4,m):(1,4)", "(4,?):(1,?)", "more exact"),
        ("(4,m):(1,4)", "(4,?):(1,8)", "different"),
        ("(4,m):(1,4)", "(4,(?,?)):(1,(4,8))", "different"),
    ],
)
def test_the_reader_tells_a_harmless_difference_from_another_function(answer, expected, verdict):
    assert compare_values(evaluate(answer), "layout", expected) == verdict


def test_the_reader_finds_a_wrong_result():
    case = {
        "operation": "complement",
        "operands": [["layout", "4:2"], ["shape", "24"]],
        "result": ["layout", "(2,3):(1,8)"],
    }
    assert compare(case).verdict == "same"
    assert compare({**case, "result": ["layout", "(2,3):(1,9)"]}).verdict == "different"
    dynamic = {"operation": "logical_divide", "operands": [["layout", "?:1"], ["tile", "[4:1]"]]}
    assert same_for_numbers({**dynamic, "result": ["layout", "((4,?)):((1,4))"]})
    assert not same_for_numbers({**dynamic, "result": ["layout", "((4,?)):((1,5))"]})
    assert isinstance(evaluate("4:1"), Layout)
