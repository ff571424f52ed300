"""Forms of wgmma: shapes and types against our tables, registers, immediates, transposes."""

from __future__ import annotations

import pytest

from descriptors.check.inspection import check_ptx
from descriptors.check.instruction_forms import registers_of_d
from descriptors.smem.instructions.tables import SHAPES


def forms(body: str, target: str = "sm_90a") -> list[str]:
    text = f".version 8.7\n.target {target}\n.entry k() {{\n {body}\n ret;\n}}\n"
    return [f"{one.rule.name}: {one.found}" for one in check_ptx(text).errors if one.rule.name.startswith("form-")]


def mma(shape: str, types: str, tail: str, d: int, a: str = "x") -> str:
    registers = ",".join(f"f{i}" for i in range(d))
    return f"wgmma.mma_async.sync.aligned.{shape}.{types} {{{registers}}}, {a}, y, {tail};"


KINDS = {
    "f16": ("f32.f16.f16", "p, 1, 1, 0, 0"),
    "tf32": ("f32.tf32.tf32", "p, 1, 1"),
    "f8": ("f16.e4m3.e5m2", "p, 1, -1"),
    "i8": ("s32.s8.u8", "p"),
    "b1": ("s32.b1.b1.and.popc", "p"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_n_is_legal_where_the_tables_have_it(kind: str) -> None:
    types, tail = KINDS[kind]
    row = next(row for row in SHAPES if (row.arch, row.kind, row.sparse) == ("sm90", kind, False))
    for n in range(4, 265, 4):
        d = registers_of_d((64, n, row.k), types.partition(".")[0])
        assert (not forms(mma(f"m64n{n}k{row.k}", types, tail, d))) == (n in row.n), n


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (mma("m64n8k16", "f32.f16.f16", "p, 1, 1, 0, 0", 3), "form-registers: found 3 for D, which has 4"),
        (mma("m64n8k16", "f32.f16.f16", "p, 1, 1, 0", 4, "{a,b,c}"), "form-registers: found 3 for A, which has 4"),
        (mma("m64n8k16", "f32.f16.f16", "p, 1, 1, 0", 4), "form-operands: found 7 operands"),
        (mma("m64n8k16", "f32.f16.bf16", "p, 1, 1, 0, 0", 4), "form-types: found f16 by bf16 into f32"),
        (mma("m64n8k16", "f32.f16.f16", "2, 1, 1, 0, 0", 4), "form-immediate: found scale-d 2"),
        (mma("m64n8k16", "f32.f16.f16", "p, 0, 1, 0, 0", 4), "form-immediate: found imm-scale 0"),
        (mma("m64n8k16", "f32.f16.f16", "p, 1, 1, 0, 2", 4), "form-immediate: found imm-trans 2"),
        (mma("m64n8k8", "f32.tf32.tf32", "p, 1, 1, 0, 1", 4), "form-transpose: found 2 transposes of tf32"),
        (mma("m64n8k256", "s32.b1.b1.xor.popc", "p", 4), "form-qualifier: found .xor.popc, and b1 has .and.popc alone"),
        (mma("m64n8k32", "s32.s4.s4", "p", 4), "form-types: found s4"),
        ("wgmma.wait_group.sync.aligned -1;", "form-immediate: found -1, which must be from 0 on"),
        ("wgmma.wait_group.sync.aligned r1;", "form-immediate: found no number as operand 1"),
        ("wgmma.fence;", "form-qualifier: found none of .sync and none of .aligned for wgmma.fence"),
        ("wgmma.frob.sync.aligned;", "form-qualifier: found wgmma.frob"),
        ("wgmma.fence.sync.aligned 1;", "form-operands: found 1 operands where there are 0"),
    ],
)
def test_what_is_wrong_is_told(body: str, told: str) -> None:
    assert any(one.startswith(told) for one in forms(body)), forms(body)


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        (mma("m64n12k16", "f32.f16.f16", "p, 1, 1, 0", 6), ["form-shape", "form-operands"]),
        (mma("m64n12k16", "f32.f16.bf16", "2, 1, 3, 0, 0", 6), ["form-types", "form-shape"] + ["form-immediate"] * 2),
        (mma("m64n8k256", "s32.b1.b1.xor.popc", "p, 1", 4), ["form-qualifier", "form-operands"]),
        (mma("m64n12k32", "s32.s4.s4", "p, 1", 4), ["form-types", "form-operands"]),
    ],
)
def test_every_independent_fault_of_one_instruction_is_reported(body: str, rules: list[str]) -> None:
    assert [one.partition(":")[0] for one in forms(body)] == rules


def test_every_extent_of_a_shape_that_is_illegal_is_reported() -> None:
    told = forms(mma("m48n12k16", "f32.f16.f16", "p, 1, 1, 0, 0", 6))
    assert told == ["form-shape: found m48n12k16: M must be 64; N must be 8..256 step 8"]


@pytest.mark.parametrize("target", ["sm_90", "sm_100a", "sm_120a", "sm_80"])
def test_wgmma_is_of_sm_90a_alone(target: str) -> None:
    assert forms("wgmma.fence.sync.aligned;", target)[0].startswith(f"form-target: found {target}")


def test_a_sparse_multiplication_has_metadata_and_selector() -> None:
    body = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {a,b,c,d}, x, y, m, 0, p, 1, 1, 0, 0;"
    assert forms(body) == []
    assert forms(body.replace("m, 0, ", "")) == ["form-operands: found 8 operands"]


@pytest.mark.parametrize(
    ("selector", "types", "k", "ok"),
    [
        (1, "f32.f16.f16", 32, True), (2, "f32.f16.f16", 32, False), (1, "f32.tf32.tf32", 16, True),
        (0, "f32.e4m3.e4m3", 64, True), (1, "f32.e4m3.e4m3", 64, False), (1, "s32.s8.s8", 64, False),
    ],
)  # fmt: skip
def test_a_selector_is_one_that_the_type_has(selector: int, types: str, k: int, ok: bool) -> None:
    """As ptxas takes and refuses them."""
    tail = "p" if "s8" in types else "p, 1, 1, 0, 0" if "f16" in types else "p, 1, 1"
    body = f"wgmma.mma_async.sp.sync.aligned.m64n8k{k}.{types} {{a,b,c,d}}, x, y, m, {selector}, {tail};"
    assert (forms(body) == []) is ok
    assert any("sp-meta" in one for one in forms(body.replace(" m,", " 7,")))
