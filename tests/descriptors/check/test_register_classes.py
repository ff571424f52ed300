"""Classes of operands' registers, and forms of ldmatrix and stmatrix, against the assembler's verdicts."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from places import VECTORS

from descriptors.check.inspection import check_ptx
from descriptors.check.register_classes import TAKES

RECORD = json.loads((VECTORS / "protocol_ptxas.json").read_text(encoding="utf-8"))
CLASSES = ("b8", "b16", "u16", "f16", "f16x2", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", "b128", "pred")
TARGETS = ("sm_80", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_103a", "sm_120", "sm_120a", "sm_120f")
REGISTERS = ".reg .b32 r<12>; .reg .f32 f<8>; .reg .b64 d<8>; .reg .pred q<4>; .reg .{kind} x<8>;"


def forms(body: str, target: str, kind: str = "b32") -> list[str]:
    text = f".version 8.8\n.target {target}\n.entry k() {{\n{REGISTERS.format(kind=kind)}\n{body}\nret;\n}}\n"
    return [f"{one.rule.name}: {one.found}" for one in check_ptx(text).errors if one.rule.name.startswith("form-")]


@pytest.mark.parametrize("case", RECORD["classes"], ids=lambda case: f"{case['case']}: {case['body'].split()[0]}")
def test_a_class_is_taken_where_the_assembler_takes_it(case: dict[str, Any]) -> None:
    ours = " ".join(kind for kind in CLASSES if not forms(case["body"], case["target"], kind))
    assert {ours} == set(case["taken"].values())


def test_every_operand_of_the_table_was_asked_of_the_assembler() -> None:
    later = {"the mask of 32 CTAs", "the lookup table in tensor memory"}  # of PTX 9.4: forms_ptxas.json has them
    assert TAKES.keys() - later <= {case["case"] for case in RECORD["classes"]}


@pytest.mark.parametrize("case", RECORD["matrices"], ids=lambda case: str(case["body"]))
def test_a_move_of_matrices_is_taken_where_the_assembler_takes_it(case: dict[str, Any]) -> None:
    def told(target: str) -> bool:
        beside = "wgmma.fence.sync.aligned;"  # so that the kernel is one that is looked at
        return any(not re.search("wgmma", one) for one in forms(f"{beside}\n{case['body']}", target))

    ours = " ".join(target for target in TARGETS if not told(target))
    assert {ours} == set(case["taken"].values())


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            "tcgen05.mma.cta_group::1.kind::f16 [r1], d1, [r3], r2, q1;",
            "form-operands: B is not a register with a desc",
        ),
        (
            "tcgen05.mma.cta_group::1.kind::f16 [r1], r3, d2, r2, q1;",
            "form-class: r3 is in .b32, but the descriptor of A must be in",
        ),
        (
            "tcgen05.mma.cta_group::1.kind::f16 [r1], d1, r3, r2, q1;",
            "form-class: r3 is in .b32, but the descriptor of B must be in",
        ),
        (
            "tcgen05.mma.cta_group::1.kind::f16 [r1], d1, d2, d3, q1;",
            "form-class: d3 is in .b64, but the instruction descriptor must be in",
        ),
        (
            "tcgen05.mma.cta_group::1.kind::f16 [r1], d1, d2, r2, r3;",
            "form-class: r3 is in .b32, but enable-input-d must be in",
        ),
        (
            "tcgen05.mma.cta_group::1.kind::f16 [r1], d1, d2, r2, !r3;",
            "form-class: r3 is in .b32, but enable-input-d must be in",
        ),
        (
            "tcgen05.mma.cta_group::1.kind::f16 [d3], d1, d2, r2, q1;",
            "form-class: d3 is in .b64, but D in tensor memory must be in",
        ),
        (
            "tcgen05.mma.cta_group::1.kind::f16 [r1], d1, d2, r2, {d0,d1,d2,d3}, q1;",
            "form-class: d0 is in .b64, but the mask of output lanes must be in",
        ),
        (
            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {q1}, [r1];",
            "form-class: q1 is in .pred, but the registers must be in",
        ),
        (
            "tcgen05.cp.cta_group::1.128x256b [r1], r2;",
            "form-class: r2 is in .b32, but the descriptor of the copy must be in",
        ),
    ],
)
def test_an_operand_of_another_class_is_told_once(body: str, told: str) -> None:
    (found,) = forms(body, "sm_100a")
    assert found.startswith(told)


def test_scale_d_is_a_predicate() -> None:
    body = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0,f1,f2,f3}, d1, d2, r1, 1, 1, 0, 0;"
    assert forms(body, "sm_90a") == ["form-class: r1 is in .b32, but scale-d must be in .pred"]
    assert forms(body.replace("r1", "!q1"), "sm_90a") == []


def test_a_name_that_is_declared_nowhere_is_not_judged() -> None:
    assert forms("tcgen05.cp.cta_group::1.128x256b [a], b;", "sm_100a") == []


def test_a_register_of_a_block_has_the_class_that_it_has_there() -> None:
    body = "tcgen05.cp.cta_group::1.128x256b [r1], r2;"
    assert forms(f"{{ .reg .b64 r<4>; .reg .b32 a; {body.replace('r1', 'a')} }}", "sm_100a") == []
