"""Thousands of random cases through the package and the CuTe DSL, with a judge between them.

The seed is printed; ``LAYOUTALG_SEED=N`` repeats a run and ``LAYOUTALG_CASES=N`` changes its length.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable

import pytest
from support_oracle import OPERATIONS, SLICES, STAYS_SWIZZLED, compare, satisfies, summary
from support_oracle_cases import DRAWERS, cases

from descriptors import oracle
from descriptors.oracle.algebra import Case, evaluate
from descriptors.oracle.worker import run_isolated

SEED = os.environ.get("LAYOUTALG_SEED") or str(random.SystemRandom().randrange(2**32))
NUMBER = int(os.environ.get("LAYOUTALG_CASES", "2400"))

needs_oracle = pytest.mark.skipif(not oracle.available(), reason="nvidia-cutlass-dsl is not installed")


def test_every_operation_is_drawn_and_judged() -> None:
    assert sorted(DRAWERS) == OPERATIONS
    assert NUMBER < 2000 or {case.operation for case in cases(0, NUMBER)} == set(OPERATIONS)


@needs_oracle
def test_random_cases_agree_with_the_dsl_wherever_its_answer_satisfies_the_definition(
    record_property: Callable[[str, object], None],
) -> None:
    drawn = cases(SEED, NUMBER)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    findings = []
    for case, answer in zip(drawn, evaluate(drawn), strict=True):
        kind, finding = compare(case, answer)
        counts[case.operation][kind] += 1
        findings += [finding] if finding else []
    head = f"oracle: CuTe DSL {oracle.version()}, LAYOUTALG_SEED={SEED}, {len(drawn)} cases"
    record_property("note", f"{head}\n{summary(counts)}")
    shown = "\n".join(map(str, findings[:40]))
    assert sum(counts[operation][STAYS_SWIZZLED] for operation in SLICES) <= 3
    assert not findings, f"LAYOUTALG_SEED={SEED}: {len(findings)} of {len(drawn)} cases\n{shown}"


@needs_oracle
def test_a_native_crash_costs_one_case_and_no_more() -> None:
    good = Case("composition", ("(4,6):(1,4)", "2:2"))
    crash = Case("tile_to_shape", ("(2,2):(-1,2)", (4, 4), (0, 1)))
    answers = evaluate([good, crash, good, crash, good])
    assert [answer.status for answer in answers] == ["ok", "crashed", "ok", "crashed", "ok"]
    assert answers[0].text == "2:2"


def test_a_silent_question_is_ended_and_the_next_one_answered() -> None:
    def work(questions: list[str], report: Callable[[str, object], None]) -> None:
        for question in questions:
            if question == "sleep":
                time.sleep(60)
            report("ok", question)

    found = list(run_isolated(["a", "sleep", "b"], work, each_s=0.3, batch=8))
    assert found == [("ok", "a"), ("timeout", "no answer in 0.3 s"), ("ok", "b")]


@needs_oracle
def test_the_judge_sees_where_the_dsl_is_wrong() -> None:
    wrong = [
        Case("composition", ("(4,6,8):(2,3,5)", "6:3")),
        Case("composition", ("(6,2):(1,7)", "(3,2):(2,3)")),
        Case("complement", ("(2,2):(2,3)", 12)),
        Case("logical_divide", ("(3,4):(4,1)", "2:1")),
        Case("make_ordered_layout", ((2, 3, 4), (0, 0, 0))),
    ]
    for case, answer in zip(wrong, evaluate(wrong), strict=True):
        assert answer.status == "ok" and not satisfies(case.operation, case.arguments, answer.text), case


def test_the_judge_accepts_right_answers_and_refuses_wrong_ones() -> None:
    assert satisfies("composition", ("(6,2):(8,2)", "(4,3):(3,1)"), "((2,2),3):((24,2),8)")
    assert not satisfies("composition", ("(6,2):(8,2)", "(4,3):(3,1)"), "((2,2),3):((24,2),2)")
    assert not satisfies("composition", ("(6,2):(8,2)", "(4,3):(3,1)"), "(2,2,3):(24,2,8)")
    assert satisfies("complement", ("4:2", 24), "(2,3):(1,8)")
    assert not satisfies("complement", ("4:2", 24), "(2,2):(1,8)")
    assert satisfies("slice_and_offset", ((None, 24), "S<3,4,3> o 0 o (16,64):(64,1)"), "S<3,4,3> o 16 o (16):(64) + 8")
    assert not satisfies(
        "slice_and_offset", ((None, 24), "S<3,4,3> o 0 o (16,64):(64,1)"), "S<3,4,3> o 16 o (16):(64) + 24"
    )
