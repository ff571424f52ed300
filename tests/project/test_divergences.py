"""Every row of docs/divergences.md: what we do is what the page says, and what the definition says by enumeration."""

from __future__ import annotations

import json
import subprocess
import sys

import judge
import pytest
from cases import comparable, decode, encode, run, spelled, spelled_value
from dsl import comparable as comparable_text
from each import each
from places import ROOT
from postconditions import REFUSED, fault

import layoutalg
from layoutalg import Layout, LayoutError, oracle
from layoutalg.notation.expression import evaluate
from layoutalg.oracle.expressions import Case
from layoutalg.oracle.expressions import evaluate as evaluate_cases
from layoutalg.tuples.int_tuple import text

DATA = json.loads((ROOT / "tests" / "vectors" / "divergences.json").read_text(encoding="utf-8"))
ROWS = [(row, case) for row in DATA["rows"] for case in row["cases"]]
CASES = [case for _, case in ROWS] + [case for choice in DATA["semantics"] for case in choice["examples"]]


def name(case):
    return spelled(case["operation"], case["operands"])


@each("case", CASES, ids=name)
def test_we_do_what_the_page_says(case):
    if "refused" in case:
        with pytest.raises(LayoutError) as caught:
            run(case["operation"], case["operands"])
        assert type(caught.value).__name__ == case["refused"]
    else:
        assert encode(run(case["operation"], case["operands"])) == case["answer"]


@each("case", CASES, ids=name)
def test_what_the_page_says_is_what_the_definition_says(case):
    try:
        arguments = tuple(map(decode, case["operands"]))
    except LayoutError:
        assert "refused" in case  # an operand that is no layout
        return
    answer = REFUSED if "refused" in case else decode(case["answer"])
    sliced = case["operation"] == "call" and "null" in json.dumps(case["operands"])
    assert fault("slice_" if sliced else case["operation"], arguments, answer) is None


@each("case", CASES, ids=name)
def test_the_line_on_the_page_can_be_typed_into_the_command(case):
    if "refused" in case:
        with pytest.raises(LayoutError):
            evaluate(name(case))
    else:
        assert comparable(encode(evaluate(name(case)))) == comparable(case["answer"])


WRONG = [
    pytest.param(row, peer, answer.removeprefix("wrong: "), id=f"{row['row']}-{peer}")
    for row in DATA["rows"]
    for peer, answer in row["peers"].items()
    if answer.startswith("wrong: ") and len(row["cases"]) == 1
]


@each(("row", "peer", "answer"), WRONG)
def test_an_answer_called_wrong_fails_the_definition(row, peer, answer):
    case = row["cases"][0]
    try:
        value = evaluate(answer if ", " not in answer else f"({answer})")
    except LayoutError:
        return  # no layout at all: an extent of 0 or below
    if not isinstance(value, type(decode(case["answer"])) if "answer" in case else Layout):
        return  # the peer's strides are not on record
    assert fault(case["operation"], tuple(map(decode, case["operands"])), value) is not None


@each("row", [row for row in DATA["rows"] if any("wrong: " in answer for answer in row["peers"].values())])
def test_a_row_that_calls_an_answer_wrong_quotes_what_the_tool_documents(row):
    assert row["documented"]


@each("row", DATA["rows"])
def test_a_row_shows_a_difference_in_words_that_the_page_explains(row):
    kinds = {kind.split(":")[0].split(",")[0] for kind in DATA["cells"]}
    for answer in row["peers"].values():
        assert any(answer.startswith(kind) for kind in kinds), answer
    assert any(answer != "agrees" and not answer.startswith("not ") for answer in row["peers"].values())


@each("inverse", ["(2,2):(1,3)", "1:0", "16:0"])
def test_a_quasi_inverse_of_the_page_satisfies_what_cute_documents(inverse):
    layout = decode("(3,2):(1,2)" if inverse == "(2,2):(1,3)" else "(4,4):(0,0)")
    offsets = judge.values(layout)
    assert [judge.at(layout, judge.at(decode(inverse), offset)) for offset in offsets] == offsets


def test_the_inverses_of_row_78_do_not():
    for source, inverse in (("(2,4):(2,1)", "(2,2):(2,1)"), ("(2,2,2):(1@0,1@0,1@1)", "(2,2):(2,4)")):
        assert fault("left_inverse", (decode(source),), decode(inverse)) is not None


#: Calls of a swizzle, which the DSL does not have; the oracle asks for it in front of an identity layout.
ASKED_OTHERWISE = {65, 66}
ASKED = [(row, case) for row, case in ROWS if row["row"] not in ASKED_OTHERWISE]


@pytest.mark.skipif(not oracle.available(), reason="nvidia-cutlass-dsl is not installed")
def test_the_cells_of_the_dsl_are_what_it_answers():
    questions = [Case(case["operation"], _tuples(case["operands"])) for _, case in ASKED]
    for (row, case), answer in zip(ASKED, evaluate_cases(questions), strict=True):
        cell = row["peers"]["CuTe DSL"]
        place = f"row {row['row']}, {name(case)}: {cell}; it answers {answer.status}: {answer.text}"
        several = len(row["cases"]) > 1
        if answer.status == "crashed":
            assert cell.startswith("crashes"), place
        elif answer.status == "rejected":
            agrees = cell.startswith("agrees") and "refused" in case
            assert agrees or cell.startswith(("refuses", "crashes")) or "not offered" in cell, place
        elif cell == "agrees" or (several and cell.startswith("agrees")):
            own = "" if "refused" in case else spelled_value(case["answer"])
            assert comparable_text(answer.text) == comparable_text(own) or answer.text in cell, place
        else:
            assert answer.text.replace(" + ", ", ") in cell or several, place


def _tuples(data):
    """Operands as the oracle takes them, without the options, which the DSL does not have."""
    return tuple(_tuples(item) for item in data if not isinstance(item, dict)) if isinstance(data, list) else data


AGREED = [
    pytest.param(row, answer.split(", as ")[1], id=f"{row['row']}-{peer}")
    for row in DATA["rows"]
    for peer, answer in row["peers"].items()
    if answer.startswith("agrees, as ") and len(row["cases"]) == 1
]


@each(("row", "answer"), AGREED)
def test_an_answer_that_agrees_in_other_text_is_the_same_function(row, answer):
    assert judge.values(decode(answer)) == judge.values(decode(row["cases"][0]["answer"]))


def test_all_rows_are_numbered_and_name_every_peer_and_its_version():
    numbers = [row["row"] for row in DATA["rows"]]
    assert len(set(numbers)) == len(numbers)  # a row keeps its number; those of removed rows stay free
    assert all(list(row["peers"]) == list(DATA["peers"]) for row in DATA["rows"])
    assert "4.8.1" in DATA["peers"]["CuTe DSL"] and "0.3.2" in DATA["peers"]["tensor-layouts"]


def test_the_page_is_up_to_date():
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_divergences.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_text_of_a_tuple_is_that_of_the_notation():
    assert text(evaluate("slice_and_offset((_,5), (4,8):(8,1))")) == "((4):(8),5)"
    assert layoutalg.LayoutError is LayoutError
