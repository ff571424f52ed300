"""The protocol over control flow, against three versions of an assembler: what each says, and why they differ."""

from __future__ import annotations

import json
from typing import Any

import pytest
from places import VECTORS

from descriptors.check.inspection import check_ptx

CASES = json.loads((VECTORS / "protocol_ptxas.json").read_text(encoding="utf-8"))["wgmma"]

#: What we say of a case, and where no version of ptxas does, or some do and we do not, the reason.
OURS: dict[str, tuple[set[str], str]] = {
    "ok: fence mma mma commit wait0 read": (set(), ""),
    "no fence": ({"wgmma-fence"}, ""),
    "no commit": ({"wgmma-commit"}, "ptxas never reports a missing commit"),
    "no wait, read": ({"wgmma-wait"}, ""),
    "no commit, no wait": ({"wgmma-wait"}, ""),
    "wait 1, two groups (f then g), read f": (set(), ""),
    "the second group committed after its read": ({"wgmma-commit"}, "ptxas never reports a missing commit"),
    "acc read between mma and commit": ({"wgmma-wait"}, ""),
    "acc written between two mma, no fence": ({"wgmma-wait"}, "a constant: ptxas takes another register in silence"),
    "acc written, then fence": (set(), ""),
    "acc written after wait, no second fence": ({"wgmma-fence"}, ""),
    "A regs ok": (set(), ""),
    "in flight across a loop": (set(), "C7519 is of the unrolled loop: one shape on one accumulator needs no fence"),
    "acc read in loop, wait 1": ({"wgmma-wait-count"}, ""),
    "call inside": ({"wgmma-call"}, ""),
    "divergent wait": ({"wgmma-aligned"}, ""),
    "scale-d predicate": (set(), ""),
    "tf32 with trans (illegal)": ({"form-transpose"}, ""),
    "b1 and popc": (set(), ""),
    "s8 n40 (illegal)": ({"form-shape", "wgmma-start"}, ""),
    "s8 n256": ({"wgmma-start"}, "ptxas does not mind that nothing wrote the accumulator"),
    "wait in one branch only": ({"wgmma-wait"}, ""),
}

#: What an assembler, too, could know: what only a run decides is not its matter.
PROPERTIES = ("forms", "words", "order", "tensor memory")


def test_every_case_on_record_has_our_verdict() -> None:
    assert [case["case"] for case in CASES] == list(OURS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["case"]))
def test_our_verdict_is_that_of_ptxas_or_there_is_a_reason(case: dict[str, Any]) -> None:
    rules, reason = OURS[case["case"]]
    # An assembler looks at no word, and those of some of these cases are the same ones again.
    told = {one.rule.name for one in check_ptx(case["ptx"]).findings if one.rule.property in PROPERTIES}
    assert told - {"word-repeated"} == rules
    spoken = [not found["accepted"] or bool(found["codes"]) for found in case["ptxas"].values()]
    assert bool(reason) == (any(spoken) != bool(rules)), spoken


def test_what_an_assembler_refuses_is_an_error_of_form() -> None:
    for case in CASES:
        refused = {not found["accepted"] for found in case["ptxas"].values()}
        forms = any(one.rule.name.startswith("form-") for one in check_ptx(case["ptx"]).errors)
        assert refused == {forms}, case["case"]


HEAD = ".version 8.7\n.target sm_90a\n.entry k() {\n"
FENCE, COMMIT = "wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;"
MMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 0;"
TWO = MMA.replace("{a,b,c,d}", "{e,f,g,h}")
READ = "st.global.f32 [q], a;"


def wait(pending: int) -> str:
    return f"wgmma.wait_group.sync.aligned {pending};"


def rules(*body: str) -> list[tuple[int, str]]:
    """Line of the body, from 0, and rule of each finding."""
    text = HEAD + "\n".join(body) + "\nret;\n}\n"
    return [(one.line - 4, one.rule.name) for one in check_ptx(text).findings]


def test_a_pipeline_keeps_a_group_in_flight_over_the_back_edge() -> None:
    body = [FENCE, "L:", FENCE, MMA, COMMIT, wait(1), "@p bra L;", wait(0), READ]
    assert rules(*body) == []
    assert rules(*body[:-2], READ) == [(7, "wgmma-wait-count")]


def test_two_accumulators_in_turns_are_told_apart() -> None:
    body = [FENCE, "L:", MMA, COMMIT, TWO, COMMIT, wait(1), READ, FENCE, "@p bra L;", wait(0), "st.global.f32 [q], e;"]
    assert rules(*body) == []
    assert (7, "wgmma-wait-count") in rules(*[line.replace("aligned 1", "aligned 2") for line in body])


def test_a_fence_on_one_of_two_paths_is_none() -> None:
    assert rules("@p bra L;", FENCE, "L:", MMA) == [(3, "wgmma-fence")]


def test_a_fence_before_a_loop_that_writes_the_accumulator_is_not_enough() -> None:
    body = [FENCE, "L:", MMA, COMMIT, wait(0), "mul.f32 a, a, a;", "@p bra L;"]
    assert rules(*body) == [(2, "wgmma-fence")]


def test_a_copy_is_followed_to_where_it_is_read() -> None:
    body = [FENCE, MMA, COMMIT, "mov.b32 z, a;", "st.global.f32 [q], z;", wait(0)]
    assert rules(*body) == [(3, "wgmma-copied"), (4, "wgmma-wait")]


def test_code_that_no_path_reaches_is_not_judged() -> None:
    assert rules("ret;", MMA, READ) == []


def test_a_guard_on_a_multiplication_is_a_remark() -> None:
    assert rules(FENCE, "@p " + FENCE) == [(1, "wgmma-divergent")]


TENSOR = ".version 8.8\n.target sm_100a\n.entry k() .reqntid 1 {\n"
ALLOC = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 64;"
FREE = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 t, 64;"
PRODUCT = "tcgen05.mma.cta_group::1.kind::f16 [t], x, y, i, p;"
DONE = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [m];"
POLL = "W: mbarrier.try_wait.parity.shared::cta.b64 w, [m], 0; @!w bra W;"
LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r}, [t]; tcgen05.wait::ld.sync.aligned;"
AFTER = "tcgen05.fence::after_thread_sync;"


def tensor_rules(*body: str) -> list[str]:
    return [one.rule.name for one in check_ptx(TENSOR + "\n".join(body) + "\nret;\n}\n").findings]


def test_the_order_of_a_tcgen05_kernel() -> None:
    whole = [ALLOC, PRODUCT, DONE, POLL, AFTER, LOAD, FREE]
    assert tensor_rules(*whole) == []
    missing = {
        0: ["tcgen05-unallocated", "tcgen05-dealloc-unknown"],
        2: ["tcgen05-commit"],
        3: ["tcgen05-wait"],
        4: ["tcgen05-fence-after"],
        6: ["tcgen05-dealloc-missing"],
    }
    for number, told in missing.items():
        assert tensor_rules(*whole[:number], *whole[number + 1 :]) == told, number


def test_a_branch_around_both_the_product_and_its_wait_is_no_breach() -> None:
    assert tensor_rules(ALLOC, "@q bra L;", PRODUCT, DONE, "L: @q bra M;", POLL, AFTER, "M:", LOAD, FREE) == []


def test_a_wait_on_another_mbarrier_is_no_wait() -> None:
    known = "mov.b32 m, v; mov.b32 o, v; add.s32 n, o, 8;"
    text = TENSOR.replace(".entry", ".shared .align 8 .b8 v[64];\n.entry")
    told = {}
    for name in ("m", "n"):
        body = [ALLOC, known, PRODUCT, DONE, POLL.replace("[m]", f"[{name}]"), AFTER, LOAD, FREE]
        findings = check_ptx(text + "\n".join(body) + "\nret;\n}\n").findings
        told[name] = [one.rule.name for one in findings if one.rule.property in PROPERTIES]
    assert told == {"m": [], "n": ["tcgen05-wait"]}


def test_all_instructions_have_one_cta_group() -> None:
    rules = tensor_rules(ALLOC, PRODUCT, DONE.replace("::1.", "::2.", 1), POLL, AFTER, LOAD, FREE)
    assert "tcgen05-cta-group" in rules, rules
