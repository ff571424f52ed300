"""Forms of tcgen05 against the assembler's verdicts: what is accepted has no finding, what is refused has one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from places import VECTORS

from descriptors.check.inspection import forms_of
from descriptors.check.ptx.ptx_module import parse

CASES = json.loads((VECTORS / "protocol_ptxas.json").read_text(encoding="utf-8"))["tcgen05"]


def forms(body: str, target: str = "sm_100a", version: str = "8.8") -> list[str]:
    """What is found about the form of each instruction: the rule, and what was found."""
    text = f".version {version}\n.target {target}\n.entry k() {{\n {body}\n ret;\n}}\n"
    module = parse(text)
    return [f"{one.rule.name}: {one.found}" for one in forms_of(module.functions[0], module)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["case"]))
def test_a_form_is_taken_where_the_assembler_takes_it(case: dict[str, Any]) -> None:
    told = forms(case["body"], case["target"], case["version"])
    assert {not told} == {found["accepted"] for found in case["ptxas"].values()}, told


def test_the_record_has_forms_of_either_verdict() -> None:
    accepted = sum(case["ptxas"]["13.5"]["accepted"] for case in CASES)
    assert 25 <= accepted <= len(CASES) - 25


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("tcgen05.ld.sync.aligned.32x32b.x2.b32 {a,b,c}, [t];", "form-registers: found 3 registers of 2 as operand 1"),
        (
            "tcgen05.ld.sync.aligned.32x32b.x3.b32 {a,b,c}, [t];",
            "form-shape: found .x3, where this form of tcgen05.ld has "
            "one of .x1, .x2, .x4, .x8, .x16, .x32, .x64, .x128",
        ),
        (
            "tcgen05.st.sync.aligned.16x32bx2.x1.b32 [t], 1, {a, b};",
            "form-registers: found 2 registers of 1 as operand 3",
        ),
        (
            "tcgen05.mma.cta_group::3.kind::f16 [t], a, b, i, p;",
            "form-qualifier: found .cta_group::3, which tcgen05.mma does not have",
        ),
        (
            "tcgen05.mma.cta_group::1.kind::f16.sync.b32 [t], a, b, i, p;",
            "form-qualifier: found .sync .b32, which tcgen05.mma does not have",
        ),
        ("tcgen05.mma.cta_group::1.kind::f16.kind::f16 [t], a, b, i, p;", "form-qualifier: found two .kind"),
        ("tcgen05.mma.kind::f16 [t], a, b, i, p;", "form-qualifier: found no .cta_group::1 or .cta_group::2"),
        (
            "tcgen05.alloc.cta_group::1.sync.aligned.global.b32 [s], 32;",
            "form-qualifier: found .global, which tcgen05.alloc does not have so",
        ),
        (
            "tcgen05.alloc.cta_group::1.sync.aligned.b32 s, 32;",
            "form-operands: found no address in brackets as operand 1",
        ),
        (
            "tcgen05.dealloc.cta_group::1.sync.aligned.b32 [s], 32;",
            "form-operands: found an address in brackets as operand 1",
        ),
        (
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one [m];",
            "form-qualifier: found none of .b64 for tcgen05.commit",
        ),
        (
            "tcgen05.st.sync.aligned.aligned.32x32b.x1.b32 [t], {a};",
            "form-qualifier: found .aligned 2 times, which tcgen05.st does not have so",
        ),
        (
            "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned.b32;",
            "form-qualifier: found .b32, which tcgen05.relinquish_alloc_permit does not have so",
        ),
        (
            "tcgen05.fence::after_thread_sync.sync.aligned;",
            "form-qualifier: found .aligned, .sync, which tcgen05.fence::after_thread_sync does not have so",
        ),
        ("tcgen05.frob;", "form-qualifier: found tcgen05.frob"),
        ("tcgen05.wait::mma.sync.aligned;", "form-qualifier: found tcgen05.wait::mma.sync.aligned"),
        ("tcgen05.fence::all;", "form-qualifier: found tcgen05.fence::all"),
        (
            "tcgen05.alloc.sync.aligned.b32 [s], 32;",
            "form-qualifier: found none of .cta_group::1, .cta_group::2 for tcgen05.alloc",
        ),
        (
            "tcgen05.commit.cta_group::1.b64 [m];",
            "form-qualifier: found none of .mbarrier::arrive::one for tcgen05.commit",
        ),
        (
            "tcgen05.mma.cta_group::1.kind::f64 [t], x, y, i, p;",
            "form-qualifier: found .kind::f64",
        ),
        (
            "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [t], x, y, i, [s], [u], p;",
            "form-qualifier: found scale vector none; kind mxf4nvf4 has 2X, 4X, block16, block32",
        ),
        (
            "tcgen05.mma.cta_group::1.kind::f16.collector::b0::fill [t], x, y, i, p;",
            "form-qualifier: found .collector::b0::fill of kind f16",
        ),
    ],
)
def test_what_is_wrong_is_told(body: str, told: str) -> None:
    assert told in forms(body)


def test_targets_of_a_family_have_less() -> None:
    assert forms("tcgen05.shift.cta_group::1.down [t];", "sm_100f")[0].startswith("form-target")
    assert forms("tcgen05.mma.cta_group::1.kind::i8 [t], x, y, i, p;", "sm_103a")[0].startswith("form-target")
    scaled = "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.{} [t], x, y, i, [s], [u], p;"
    assert forms(scaled.format("scale_vec::2X"), "sm_100f")[0].startswith("form-target")
    assert forms(scaled.format("block32"), "sm_100f") == []


def test_every_independent_fault_of_one_multiplication_is_reported() -> None:
    told = forms("tcgen05.mma.cta_group::1.kind::f16.block_scale.collector::b0::fill [t], x, y, i;")
    assert [one.partition(":")[0] for one in told] == ["form-operands"] + ["form-qualifier"] * 2
    told = forms("tcgen05.mma.ws.cta_group::2.kind::f64 [t], x, y, i, p;")
    assert {"form-qualifier: found .kind::f64", "form-qualifier: found .cta_group::2 with .ws"} <= set(told)
    assert "form-qualifier: found no .kind" in forms("tcgen05.mma.cta_group::1 [t], x, y, i, p;")
