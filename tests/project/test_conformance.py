"""The conformance suite: this package passes it, the judge agrees with it, and the file is what the script writes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import judge
import pytest
from cases import decode, encode, run, spelled
from cute_marks import dsl_marks
from each import each
from places import ROOT
from postconditions import REFUSED, fault

import layoutalg
from layoutalg import LayoutError, NotationError, oracle
from layoutalg.oracle.service import read

FILE = ROOT / "tests" / "vectors" / "conformance.json"
SUITE = json.loads(FILE.read_text(encoding="utf-8"))
#: What CuTe answers, beside our answer.
CUTE = {"dsl", "dsl_answer", "cpp", "cpp_answer"}
OPERATIONS = sorted({case["operation"] for case in SUITE["cases"]})


def cases_of(operation):
    return [case for case in SUITE["cases"] if case["operation"] == operation]


@each("operation", OPERATIONS)
def test_every_answer_and_every_refusal_with_its_reason_is_that_of_the_file(operation):
    for case in cases_of(operation):
        try:
            found = {"answer": encode(run(operation, case["operands"]))}
        except LayoutError as error:
            found = {"refused": type(error).__name__, "reason": str(error)}
        assert found == {key: case[key] for key in found}, spelled(operation, case["operands"])
        assert len(case) == 2 + len(found) + len(CUTE & case.keys())


@each("operation", OPERATIONS)
def test_the_judge_agrees_with_every_case_by_enumeration(operation):
    for case in cases_of(operation):
        answer = REFUSED if "refused" in case else decode(case["answer"])
        assert fault(operation, tuple(map(decode, case["operands"])), answer) is None, spelled(
            operation, case["operands"]
        )


def test_the_judge_notices_a_wrong_answer():
    composition = decode("(6,2):(1,7)"), decode("(3,2):(2,3)")
    assert fault("composition", composition, decode("(3,2):(2,3)"))  # what every other implementation answers
    assert fault("composition", composition, REFUSED) is None
    assert fault("composition", (decode("(5,3):(7,1)"), decode("2:3")), REFUSED)
    assert fault("complement", (decode("4:2"), 24), decode("(2,3):(1,9)"))
    assert fault("left_inverse", (decode("(4,8):(1,5)"),), decode("4:1"))
    assert fault("slice_and_offset", ((0, 2, None), decode("S<2,0,3> o 0 o (1,6,3):(3,3,1)")), (decode("(3):(1)"), 6))


ALGEBRA = """
    size cosize flatten group_modes select append prepend crd2idx idx2crd make_ordered_layout make_layout_like
    coalesce filter filter_zeros composition complement right_inverse left_inverse nullspace max_common_layout
    max_common_vector logical_divide zipped_divide tiled_divide flat_divide logical_product zipped_product tiled_product
    flat_product blocked_product raked_product tile_to_shape upcast downcast recast_layout slice_and_offset dice
    local_tile local_partition
""".split()


def test_the_suite_covers_the_algebra():
    assert set(OPERATIONS) == {*ALGEBRA, "call"} <= {*dir(layoutalg), "call"}
    assert len(SUITE["cases"]) == SUITE["cases in all"] >= 3000
    assert SUITE["of them refused"] >= 300


@each("who", ["dsl", "cpp"])
def test_every_case_has_a_mark_of_what_cute_answers_and_the_head_counts_them(who):
    for case in SUITE["cases"]:
        assert case[who] in SUITE["marks"], case
        assert (f"{who}_answer" in case) == (case[who] in ("form", "other")), case
        assert "refused" not in case or case[who] not in ("form", "refused"), case  # there a refusal is the same
    counted = Counter(case[who] for case in SUITE["cases"])
    assert {name: counted[name] for name in SUITE["marks"]} == {
        name: count for name, count in SUITE["asked"][who].items() if name != "version"
    }
    assert min(counted[name] for name in ("same", "form", "other", "refused")) > 0
    assert who != "dsl" or not counted["unasked"]


@each("who", ["dsl", "cpp"])
def test_what_cute_answers_otherwise_is_no_function_of_ours_and_what_it_writes_otherwise_is(who):
    for case in SUITE["cases"]:
        if "answer" not in case or f"{who}_answer" not in case:
            continue
        theirs = values(case[f"{who}_answer"])
        assert (theirs == values(told(case["answer"]))) == (case[who] == "form"), case


def told(answer):
    """An answer of the file as CuTe's are printed."""
    if isinstance(answer, list) and isinstance(answer[0], str):
        return " + ".join(map(str, answer))
    return str(answer).replace(" ", "") if isinstance(answer, list) else str(answer)


def values(text):
    """The sizes of the modes and the values, by the judge's own reader; the text of what is no layout."""
    layout, apart, offset = text.partition(" + ")
    before, colon, _ = layout.partition(":")
    if not colon or "x" in layout or before.count("(") != before.count(")"):  # a number, x:x, a tuple of layouts
        return text
    function = read(layout)
    shape = function.shape if isinstance(function.shape, tuple) else (function.shape,)
    start = int(offset) if apart else 0
    return [judge.count(mode) for mode in shape], [one + start if start else one or 0 for one in judge.values(function)]


@pytest.mark.skipif(not oracle.available(), reason="nvidia-cutlass-dsl is not installed")
def test_the_dsl_answers_as_the_marks_say():
    step = 29
    cases = SUITE["cases"][::step] + [case for case in SUITE["cases"] if case["dsl"] == "crash"][:3]
    assert oracle.version() in SUITE["asked"]["dsl"]["version"], "another version: scripts/make_conformance.py --mark"
    for case, mark in zip(cases, dsl_marks(cases), strict=True):
        assert mark == {name: case[name] for name in ("dsl", "dsl_answer") if name in case}, case


def test_the_file_is_small_and_has_one_case_a_line():
    text = FILE.read_text(encoding="utf-8")
    assert len(text) < 3_000_000
    lines = [line for line in text.splitlines() if line.startswith('    {"operation"')]
    assert len(lines) == len(SUITE["cases"])


def test_the_kinds_of_refusal_are_explained():
    kinds = {case["refused"] for case in SUITE["cases"] if "refused" in case}
    assert kinds <= set(SUITE["kinds"])
    assert (
        all(issubclass(getattr(layoutalg, kind), LayoutError) for kind in kinds) and NotationError.__name__ not in kinds
    )


def test_the_file_is_what_the_script_writes():
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_conformance.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
