"""Thousands of random cases through the package and the CuTe DSL, with a judge between them.

``LAYOUTALG_SEED=N`` draws other cases than those of the release and ``LAYOUTALG_CASES=N`` changes how many.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable

import pytest
from bounds import excess, kind_of, summary
from dsl import SIMPLER, SLICES, STAYS_SWIZZLED, compare, satisfies
from oracle_cases import DRAWERS, cases
from ours import ours
from postconditions import OPERATIONS
from seeds import seeds_of

from layoutalg import oracle
from layoutalg.oracle.expressions import Answer, Case, evaluate
from layoutalg.oracle.worker import run_isolated

NUMBER = int(os.environ.get("LAYOUTALG_CASES", "2400"))

needs_oracle = pytest.mark.skipif(not oracle.available(), reason="nvidia-cutlass-dsl is not installed")


def test_every_operation_is_drawn_and_judged() -> None:
    assert sorted(DRAWERS) == OPERATIONS
    assert NUMBER < 2000 or {case.operation for case in cases("0", NUMBER)} == set(OPERATIONS)


def test_a_longer_run_begins_with_the_cases_of_a_shorter_one() -> None:
    assert cases("7", 500)[:300] == cases("7", 300)


@needs_oracle
@pytest.mark.parametrize(
    "seed", seeds_of("test_random_cases_agree_with_the_dsl_wherever_its_answer_satisfies_the_definition")
)
def test_random_cases_agree_with_the_dsl_wherever_its_answer_satisfies_the_definition(
    seed: int, record_property: Callable[[str, object], None]
) -> None:
    questions = cases(str(seed), NUMBER)
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    findings = []
    for case, answer in zip(questions, evaluate(questions), strict=True):
        kind, finding = compare(case, ours(case), answer)
        counts[case.operation, kind_of(case)][kind] += 1
        findings += [finding] if finding else []
    head = f"oracle: CuTe DSL {oracle.version()}, LAYOUTALG_SEED={seed}, {len(questions)} cases"
    record_property("note", f"{head}\n{summary(counts)}")
    first_findings = "\n".join(map(str, findings[:40]))
    assert not findings, f"LAYOUTALG_SEED={seed}: {len(findings)} of {len(questions)} cases\n{first_findings}"
    assert not excess(counts), f"LAYOUTALG_SEED={seed}: the oracle, or the way it is asked, has changed"


#: Case, our answer, the DSL's, and how the pair counts: right answers that a judge once called wrong.
ONCE_MISJUDGED = [
    (
        Case("local_tile", ("S<2,3,-4> o 0 o ((16,6)):((1,0))", (48,), (1,))),
        "(((8,2),3)):(((1,136),0)) + 0",
        "(((8,2),3)):(((1,136),0)) + 0",
        "agree",
    ),
    (
        Case("local_partition", ("S<3,1,3> o 15 o 6:-3", "(1):(1)", 0)),
        "(6):(-3) + 15",
        "S<3,1,3> o 15 o (6):(-3) + 0",
        SIMPLER,
    ),
    (
        Case("local_partition", ("S<2,3,3> o 15 o 16:-1", "(2):(1)", 1)),
        "(8):(-2) + 14",
        "S<2,3,3> o 15 o (8):(-2) + -1",
        SIMPLER,
    ),
    (
        Case("local_tile", ("S<1,0,-2> o 40 o (4,6):(-1,8)", (4, 1), (0, 4))),
        "S<1,0,-2> o 72 o (4,1):(-1,0) + 0",
        "S<1,0,-2> o 40 o (4,1):(-1,0) + 32",
        STAYS_SWIZZLED,
    ),
]


@pytest.mark.parametrize(("case", "mine", "theirs", "kind"), ONCE_MISJUDGED)
def test_a_right_answer_that_was_once_called_wrong_is_right(case: Case, mine: str, theirs: str, kind: str) -> None:
    assert ours(case).text == mine
    assert compare(case, ours(case), Answer("ok", theirs)) == (kind, None)
    if oracle.available():
        assert evaluate([case])[0].text == theirs


def test_only_slices_may_differ_from_the_dsl_in_text() -> None:
    case = Case("composition", ("(4,6):(1,4)", "1:0"))
    assert compare(case, ours(case), Answer("ok", "1:5"))[0] == "agree"
    assert compare(Case("text", ("4:1",)), Answer("ok", "4:1"), Answer("ok", "(4):(1)"))[0] == "dsl wrong"
    kind, finding = compare(Case("left_inverse", ("4:1",)), Answer("ok", "4:1"), Answer("ok", "(4,1):(1,0)"))
    assert kind == "OTHER TEXT" and "not the DSL's text" in str(finding)
    assert set(SLICES) <= set(OPERATIONS)


def test_an_oracle_that_is_often_wrong_is_noticed() -> None:
    def counts_of(operation: str, **kinds: int) -> dict[tuple[str, str], Counter[str]]:
        return {(operation, "plain"): Counter({name.replace("_", " "): number for name, number in kinds.items()})}

    assert not excess(counts_of("coalesce", agree=60))
    assert excess(counts_of("coalesce", agree=59, dsl_wrong=1))
    assert not excess(counts_of("complement", agree=62, dsl_wrong=22))
    assert excess(counts_of("complement", agree=34, dsl_wrong=50))
    assert excess(counts_of("complement", both_refuse=84))
    assert excess(counts_of("slice_and_offset", agree=30, stays_swizzled=5))


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

    replies = list(run_isolated(["a", "sleep", "b"], work, each_s=0.3, batch=8))
    assert replies == [("ok", "a"), ("timeout", "no answer in 0.3 s"), ("ok", "b")]


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
