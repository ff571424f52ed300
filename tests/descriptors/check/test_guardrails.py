"""Each rule on the use of tensor memory has a sequence that breaks it and nothing else, and one that does not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from each import each
from places import VECTORS

from descriptors import DescriptorError
from descriptors.check.event_report import check_events
from descriptors.check.rules import GUARDRAILS
from descriptors.tmem.geometry import DOCUMENTED, NVIDIA

PTXAS = json.loads((VECTORS / "tmem_ptxas.json").read_text(encoding="utf-8"))

#: Sequences by the rule that they break; the events of one are parted by semicolons.
BROKEN = {
    "phase": "alloc d 32; relinquish; alloc e 32; dealloc e; dealloc d",
    "granularity": "alloc d 48; dealloc d 48",
    "columns": "alloc d 32; mma d 64; dealloc d",
    "deallocation": "alloc d 32; dealloc d; dealloc d",
    "warp": "alloc d 32; ld d@32 32x32b.x8 warp 0; dealloc d",
    "bounds": "alloc d 512; cp d+508@32 32x128b.warpx4; dealloc d",
    "datapath": "alloc d 32; ld d@8 16x64b.x1 warp 0; dealloc d",
    "idesc": "alloc d 32; mma d 32 sparse idesc 0x8080490; dealloc d",
    "size increases": "alloc d 32; alloc e 64; dealloc d; dealloc e",
    "waits for ever": "alloc d 256; alloc e 256; alloc f 32; dealloc d; dealloc e; dealloc f",
    "never deallocated": "alloc d 32; relinquish",
}
CLEAN = [
    "alloc d 512; relinquish; mma d 256; ld d@96 32x32b.x128 warp 7; dealloc d 512",
    "alloc d 64; alloc s 32; cp s 32x128b.warpx4; cp s+4 32x128b.warpx4; mma d 64; dealloc s 32; dealloc d 64",
    "alloc d 32; dealloc d; alloc d 32; ld d@16 16x256b.x4 warp 0; st d 16x64b.x1.unpack::16b warp 4; dealloc d",
    "alloc d 32; mma d 32 sparse idesc 0x8080494; mma d@16 8; shift d@32; dealloc d",
]


def rules(sequence: str) -> list[str]:
    return [found.rule for found in check_events(sequence.split("; ")).findings]


@each("rule", GUARDRAILS)
def test_a_sequence_that_breaks_a_rule_is_told_that_rule_alone(rule: str) -> None:
    assert rules(BROKEN[rule]) == [rule]


@pytest.mark.parametrize("sequence", CLEAN)
def test_a_clean_sequence_has_no_finding(sequence: str) -> None:
    assert rules(sequence) == []


@pytest.mark.parametrize(
    ("sequence", "told"),
    [
        ("alloc d 32; dealloc d 64", "64 columns are deallocated, but 32 were allocated"),
        ("dealloc d 32", "d is not allocated"),
        ("mma d 32", "the address is in d, which was never allocated"),
        ("alloc d 32; dealloc d; mma d 32", "the address is in d, which was deallocated"),
        ("alloc d 32; ld d@128 32x32b.x1; dealloc d", "the lane is 128, beyond the last lane 127"),
        (
            "alloc d 512; mma d+256 512; dealloc d",
            "the access reaches column 767 of d, beyond the last possible column 511",
        ),
        ("alloc d 32; mma d@8 8; dealloc d", "the lane of an operand of tcgen05.mma is 8, not 0 or 16"),
        ("alloc d 32; shift d@16; dealloc d", "the lane of tcgen05.shift is 16, which is not a multiple of 32"),
        (
            "alloc d 32; mma d 32 idesc 0x8080494; dealloc d",
            "bit 2 of the instruction descriptor means sparse, but the instruction is dense",
        ),
        (
            "alloc d 32; mma d 16 idesc 0x08410490; dealloc d",
            "the accumulator has 16 columns, but N 256 needs 256, 128 or 64",
        ),
    ],
)
def test_a_finding_states_the_fact(sequence: str, told: str) -> None:
    assert check_events(sequence.split("; ")).findings[0].told == told


@each("case", PTXAS["allocations"], ids=lambda case: str(case["asked"]))
def test_a_number_of_columns_is_legal_where_the_assembler_takes_it(case: dict[str, Any]) -> None:
    found = rules(f"alloc d {case['asked']}; dealloc d {case['asked']}")
    assert ("granularity" not in found) == case["accepted"]


@pytest.mark.parametrize("case", PTXAS["sequences"], ids=lambda case: case["asked"])
def test_what_the_assembler_does_not_see_is_found_here(case: dict[str, Any]) -> None:
    assert case["accepted"] and rules(case["asked"])


def test_grades_of_rules() -> None:
    assert sum(rule.evidence != DOCUMENTED for rule in GUARDRAILS.values()) == 8  # the run-time checks
    assert GUARDRAILS["phase"].evidence == NVIDIA and GUARDRAILS.keys() == BROKEN.keys()


def test_a_name_stands_for_one_allocation_and_sequences_have_an_end() -> None:
    with pytest.raises(DescriptorError, match="d is allocated twice"):
        check_events(["alloc d 32", "alloc d 32"])
    with pytest.raises(DescriptorError, match="more than 10000 events"):
        check_events(["relinquish"] * 10_001)


def test_a_report_says_its_gist() -> None:
    report = check_events(CLEAN[0].split("; "))
    assert report.headline == "nothing wrong in 5 events, at most 512 columns at once"
    assert check_events(["alloc d 32"]).headline.startswith(
        "1 finding in 1 event: the kernel ends while the 32 columns of d"
    )
