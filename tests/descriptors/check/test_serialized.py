"""What an assembler serializes for, against three versions of one: 74 kernels, each with one thing that matters."""

from __future__ import annotations

import json
from typing import Any

import pytest
from places import VECTORS

from descriptors.check.inspection import check_ptx
from descriptors.check.kernel_report import Finding
from descriptors.check.rules import ALL_RULES, Level

RECORD = json.loads((VECTORS / "protocol_ptxas.json").read_text(encoding="utf-8"))
CASES = RECORD["serialized"]

#: Which rules say what a message of ptxas 13.0 says.
MEANT = {
    "C7509": {"wgmma-call-kept", "wgmma-call"},
    "C7510": {"wgmma-call-kept", "wgmma-function", "wgmma-call"},
    "C7511": {"wgmma-registers"},
    "C7512": {"wgmma-registers"},
    "C7514": {"wgmma-stage", "wgmma-wait-count"},
    "C7515": {"wgmma-wait-count"},
    "C7518": {"wgmma-divergent"},
    "C7520": {"wgmma-divergent"},
    "C7602": {"form-limit"},
}
#: Messages of a fence or a wait that was put in: no loss by themselves.
REPAIRED = {"C7517", "C7519"}


def text_of(case: dict[str, Any]) -> str:
    return str(RECORD["frame"]).format(**{name: value for name, value in case.items() if isinstance(value, str)})


def findings(case: dict[str, Any]) -> tuple[Finding, ...]:
    """What the checker finds; of the runs two rounds will do, for what is serialized stands in the text."""
    return check_ptx(text_of(case), parameters={"n": 2}).findings


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["case"]))
def test_what_is_serialized_is_told_by_a_rule_that_means_it_and_nothing_else_is(case: dict[str, Any]) -> None:
    found = {one.rule for one in findings(case) if one.rule.property in ("forms", "words", "order")}
    names = {rule.name for rule in found}
    said = set(case["ptxas"]["13.0"]["codes"]) - REPAIRED
    assert all(MEANT[code] & names for code in said), (said, names)
    slow = {rule.name for rule in found if rule.level is Level.PERFORMANCE}
    assert slow <= {rule for code in said for rule in MEANT[code]} | ({"wgmma-registers"} if "C7602" in said else set())
    errors = {rule.name for rule in found if rule.level is Level.ERROR} - {"wgmma-aligned"}  # of which it says nothing
    assert said or not errors or case["case"].startswith("A written")


def test_versions_of_the_assembler_agree_but_for_two_messages() -> None:
    """13.5 calls C7520 C7519, and serializes where A is written in flight, which older ones leave as it stands."""
    for case in CASES:
        older, old, new = (set(case["ptxas"][version]["codes"]) - {"C7517"} for version in ("12.9", "13.0", "13.5"))
        assert older == old, case["case"]
        if case["case"].startswith("A written"):
            assert (old, new) == (set(), {"C7513"})
        elif "C7520" in old:
            assert new == {"C7519"}
        else:
            assert old - {"C7519"} == new, case["case"]


def test_each_message_and_each_rule_of_performance_has_a_case() -> None:
    said = {code for case in CASES for found in case["ptxas"].values() for code in found["codes"]}
    assert said >= MEANT.keys() - {"C7518"}
    slow = {rule.name for rule in ALL_RULES.values() if rule.level is Level.PERFORMANCE}
    for rule in slow:
        codes = {code for code, rules in MEANT.items() if rule in rules}
        meant = [case for case in CASES if codes & set(case["ptxas"]["13.0"]["codes"])]
        shortest = sorted(meant, key=lambda case: len(text_of(case)))
        assert any(rule in {one.rule.name for one in findings(case)} for case in shortest), rule


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("brx.idx r, T;", [5]),  # by the number of the thread
        ("@q brx.idx s, T;", [5]),
        ("brx.idx s, T;", []),
    ],
)
def test_a_branch_by_a_table_is_a_branch(body: str, told: list[int]) -> None:
    mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 0;"
    head = ".version 8.7\n.target sm_90a\n.entry k() { mov.u32 r, %laneid; setp.eq.u32 q, r, 1; ld.param.u32 s, [n];\n"
    text = f"{head}T: .branchtargets L, M;\n{body} L:\n{mma}\nwgmma.commit_group.sync.aligned; M: ret; }}\n"
    assert [one.line for one in check_ptx(text).findings if one.rule.name == "wgmma-divergent"] == [
        line + 1 for line in told
    ]
