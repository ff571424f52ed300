"""Kernels that hand stages through mbarriers: the right ones are clean in all that a run decides, and each fault is
told by its rule."""

from __future__ import annotations

from functools import partial

import pytest
from kernels import kernels
from ring_kernels import IDESC, SM100_WORD, ring_sm90, ring_sm100, stored_sm90

from descriptors import check_ptx, explain_ptx
from descriptors.check.kernel_text import tell_story

RUN = ("barriers", "bytes", "proxies", "reuse", "tensor memory")


@pytest.mark.parametrize("stages", [1, 2, 3, 5])
@pytest.mark.parametrize("ring", [ring_sm90, ring_sm100, partial(ring_sm100, scaled=True)])
def test_a_right_ring_is_clean_in_all_that_a_run_decides(ring: object, stages: int) -> None:
    report = check_ptx(ring(stages))  # type: ignore[operator]
    assert [(one.line, one.rule.name, one.found) for one in report.errors] == []
    held = {one.property: one.verdict for one in report.properties}
    assert {held[name] for name in RUN} <= {"clean", "absent"}, report.undecided
    assert held["barriers"] == held["bytes"] == held["reuse"] == "clean"


COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
TENSOR_COPY = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"

#: What is put for what, and by which rules it may be told.
SM90 = {
    "count of the full barriers doubled": (("[smem+49152], 1;", "[smem+49152], 2;"), {"barrier-hang"}),
    "count of an empty barrier halved": (
        ("[smem+49216], 128;", "[smem+49216], 64;"), {"barrier-count", "barrier-hang"},
    ),
    "count of an empty barrier doubled": (("[smem+49216], 128;", "[smem+49216], 256;"), {"barrier-hang"}),
    "no init of a barrier": (("mbarrier.init.shared::cta.b64 [smem+49152], 1;", ""), {"barrier-init"}),
    "an init by all threads": (("@pi bra READY;", ""), {"barrier-init-seen"}),
    "an init by a thread of each warp": (
        ("setp.ne.u32 pi, t, 0;", "and.b32 at, t, 31;\nsetp.ne.u32 pi, at, 0;"), {"barrier-init-seen"},
    ),
    "no rendezvous after init": (("bar.sync 0;", ""), {"barrier-init-seen"}),
    "half of the bytes expected": (("[full], 16384;", "[full], 8192;"), {"barrier-hang", "reuse-order"}),
    "twice the bytes expected": (("[full], 16384;", "[full], 32768;"), {"barrier-hang"}),
    "a copy left out": ((f"{COPY} [at+8192], [g], 8192, [full];", ""), {"barrier-hang"}),
    "a copy twice": (
        (f"{COPY} [at], [g], 8192, [full];", f"{COPY} [at], [g], 8192, [full];\n" * 2),
        {"reuse-order", "barrier-hang"},
    ),
    "a copy into the other operand": (("[at+8192], [g]", "[at], [g]"), {"reuse-order", "reuse-unwritten"}),
    "no wait for the slot": (("@!pw bra SLOT;", ""), {"reuse-order"}),
    "no wait for the data": (("@!pw bra DATA;", ""), {"reuse-order", "reuse-unwritten"}),
    "the producer begins with parity 0": (("mov.u32 parity, 1;", "mov.u32 parity, 0;"), {"barrier-hang"}),
    "the consumer begins with parity 1": (
        ("CONSUMER: mov.u32 parity, 0;", "CONSUMER: mov.u32 parity, 1;"), {"reuse-order", "barrier-hang"},
    ),
    "a parity that never turns": (("xor.b32 parity, parity, turn;", ""), {"barrier-hang", "reuse-order"}),
    "no arrival at the empty barrier": (("mbarrier.arrive.shared::cta.b64 _, [empty];", ""), {"barrier-hang"}),
    "an arrival before the wait for the group": (
        (
            "wgmma.wait_group.sync.aligned 0;\nmbarrier.arrive.shared::cta.b64 _, [empty];",
            "mbarrier.arrive.shared::cta.b64 _, [empty];\nwgmma.wait_group.sync.aligned 0;",
        ),
        {"reuse-order"},
    ),
    "a group left in flight": (
        ("wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;"), {"reuse-order"},
    ),
    "the consumer makes a round more": (
        ("CONSUME: setp.ge.u32 pd, k, n;", "CONSUME: setp.gt.u32 pd, k, n;"), {"barrier-hang"},
    ),
    "stages that overlap": (("mad.lo.u32 at, stage, 16384, 0;", "mad.lo.u32 at, stage, 8192, 0;"), {"reuse-order"}),
}  # fmt: skip

SM100 = {
    "no wait for the result": (("@!pw bra RESULT;", ""), {"tcgen05-order", "tcgen05-unwritten"}),
    "no commit for the result": (("LAST: " + COMMIT + " [smem+73856];", "LAST:"), {"barrier-hang"}),
    "no commit for the slot": ((f"{COMMIT} [empty];", ""), {"barrier-hang"}),
    "a wait for the data left out": (("@!pw bra DATA;", ""), {"reuse-order", "reuse-unwritten"}),
    "no columns": (("[smem+73864], 64;", "[smem+73864], 32;"), {"tcgen05-unallocated"}),
    "no rendezvous after the allocation": (("WAITED: bar.sync 0;", "WAITED:"), {"reuse-order", "tcgen05-unallocated"}),
    "an accumulator that is never begun": (("setp.ne.u32 pd, k, 0;", "setp.eq.u32 pd, k, k;"), {"tcgen05-unwritten"}),
    "16 lanes a warp": (("shl.b32 r, r, 21;", "shl.b32 r, r, 20;"), {"tcgen05-warp"}),
    "freed before it is read": (("END: bar.sync 0;", "END:"), {"tcgen05-dealloc-early", "tcgen05-unallocated"}),
    "all threads of a warp multiply": (("setp.ne.u32 pe, t, 160;", "setp.lt.u32 pe, t, 160;"), {"tcgen05-elect"}),
    "the reader begins with parity 1": (
        ("[smem+73856], 0;", "[smem+73856], 1;"),
        {"tcgen05-order", "tcgen05-unwritten"},
    ),
}

CP = "tcgen05.cp.cta_group::1.32x128b.warpx4"
SCALED = {
    "no copy of the factors of A": ((f"{CP} [d+64], x;", ""), {"tcgen05-unwritten"}),
    "the factors of B beside their columns": ((f"{CP} [d+68], x;", f"{CP} [d+72], x;"), {"tcgen05-unwritten"}),
    "factors from where nothing is": (("add.u32 lo, at, 24576;", "add.u32 lo, at, 92160;"), {"reuse-unwritten"}),
    "columns behind those that are allocated": ((f"{CP} [d+68], x;", f"{CP} [d+128], x;"), {"tcgen05-unallocated"}),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALED)
def test_a_fault_of_a_ring_with_scale_factors_is_told(name: str) -> None:
    (old, new), rules = SCALED[name]
    right = ring_sm100(scaled=True)
    assert right.count(old) == 1
    assert {one.rule.name for one in check_ptx(right.replace(old, new)).errors} & rules


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@!pw bra DATA;", ""),
        (f"{COMMIT} [empty];", f"{COMMIT} [empty];\n{CP} [d+72], x;"),
    ],
    ids=["the factors have not come", "the next come before the copy has read these"],
)
def test_a_copy_of_scale_factors_reads_its_stage(old: str, new: str) -> None:
    """What orders it is what orders the multiplications beside it; a commit covers what came before it."""
    right = ring_sm100(scaled=True)
    assert right.count(old) == 1 and check_ptx(right).verdict == "clean"
    found = [one for one in check_ptx(right.replace(old, new)).errors if one.rule.name == "reuse-order"]
    assert any("tcgen05.cp" in one.found for one in found)


@pytest.mark.parametrize("name", SM90)
def test_a_fault_of_a_ring_is_told(name: str) -> None:
    (old, new), rules = SM90[name]
    right = ring_sm90()
    assert right.count(old) >= 1
    wrong = {one.rule.name for one in check_ptx(right.replace(old, new)).errors}
    assert wrong & rules, wrong


def test_a_copy_that_nothing_waits_for_before_the_exit_is_undecided() -> None:
    """A consumer that makes one iteration fewer leaves the last copies in flight."""
    right, old = ring_sm90(), "CONSUME: setp.ge.u32 pd, k, n;"
    assert right.count(old) == 1
    report = check_ptx(right.replace(old, "CONSUME: add.u32 r, k, 1;\nsetp.ge.u32 pd, r, n;"))
    assert not report.errors and report.verdict == "incomplete"
    undecided = [row.what for row in report.undecided if row.property == "reuse"]
    assert undecided == ["a bulk load that nothing waits for before its CTA exits"] * 2


@pytest.mark.parametrize("name", SM100)
def test_a_fault_of_a_ring_with_tensor_memory_is_told(name: str) -> None:
    (old, new), rules = SM100[name]
    right = ring_sm100()
    assert right.count(old) >= 1
    wrong = {one.rule.name for one in check_ptx(right.replace(old, new)).errors}
    assert wrong & rules, wrong


@pytest.mark.parametrize(
    ("idesc", "verdict"),
    [
        (IDESC, "clean"),
        (IDESC ^ 1 << 10, "incomplete"),  # B in f16, A in bf16: the CuTe DSL has one type for both
        (IDESC & ~(9 << 7), "clean"),  # both in f16
    ],
)
def test_an_instruction_descriptor_on_which_sources_disagree_is_undecided(idesc: int, verdict: str) -> None:
    report = check_ptx(ring_sm100().replace(f"mov.u32 w, {IDESC};", f"mov.u32 w, {idesc};"))
    assert not report.errors and report.verdict == verdict
    assert all(row.why.startswith("sources disagree on bf16 by f16 into f32: ") for row in report.undecided)


#: The word of A, less its start, in the block-scaled kernel of the record.
SCALED_A = "-9223371899382267904"


def test_words_without_a_version_are_run_as_those_with_it() -> None:
    """Compilers in use leave the version of an sm100 word 0; what its operands are read from is the same."""
    bare = ring_sm100().replace(str(SM100_WORD), str(SM100_WORD & ~(7 << 46)))
    held = {one.property: one.verdict for one in check_ptx(bare).properties}
    assert held["reuse"] == held["barriers"] == "clean" and held["proxies"] == "absent"
    (old, new), rules = SM100["a wait for the data left out"]
    assert {one.rule.name for one in check_ptx(bare.replace(old, new)).errors} & rules


def test_what_is_not_seen_of_one_operand_hides_nothing_of_the_others() -> None:
    """Of a word of no version that there is it is not known what it reads; where scale factors lie is."""
    fence, scaled = "fence.proxy.async.shared::cta;", kernels()["scaled_e2m1_64_sm100"]
    assert scaled.count(fence) == 1 and scaled.count(SCALED_A) == 2
    report = check_ptx(scaled.replace(fence, ""))
    assert "proxy-fence" in {one.rule.name for one in report.errors}
    report = check_ptx(scaled.replace(fence, "").replace(SCALED_A, str(int(SCALED_A) | 2 << 46)))
    assert {one.property for one in report.undecided} == {"proxies", "reuse"}
    assert {one.property: one.verdict for one in report.properties}["tensor memory"] == "clean"


def test_ordinary_stores_of_an_operand_need_a_fence_of_the_proxy() -> None:
    store = "st.shared.v4.b32 [at], {t, t, t, t};\n"
    body = ring_sm90(1).replace("CONSUMER: ", "CONSUMER: mov.u32 at, smem;\nmad.lo.u32 at, t, 64, at;\n" + "".join(
        store.replace("[at]", f"[at+{16 * i}]") for i in range(4)
    ))  # fmt: skip
    plain = body.replace(f"{COPY} [at], [g], 8192, [full];", "").replace("[full], 16384;", "[full], 8192;")
    bar = "bar.sync 1, 128;\n"
    words = "CONSUME: setp.ge.u32 pd, k, n;"
    fenced = plain.replace(words, "fence.proxy.async.shared::cta;\n" + bar + words, 1)
    assert "proxy-fence" in {one.rule.name for one in check_ptx(plain.replace(words, bar + words, 1)).errors}
    assert [one.rule.name for one in check_ptx(fenced.replace("bra CONSUME;", "bra AGAIN;").replace(
        words, "AGAIN: setp.ge.u32 pd, k, n;").replace("CONSUME:", "")).errors] == []  # fmt: skip


def test_a_ring_without_multiplications_is_run_too() -> None:
    """What reads the stages there are ordinary loads."""
    lines = ring_sm90().splitlines()
    load = "mad.lo.u32 r, t, 64, at;\nld.shared.v4.b32 {q0, q1, q2, q3}, [r];"
    first = next(i for i, line in enumerate(lines) if line.startswith("wgmma.commit"))
    plain = "\n".join(
        load if i == first else line for i, line in enumerate(lines) if i == first or not line.startswith("wgmma.")
    )
    held = {one.property: one.verdict for one in check_ptx(plain).properties}
    assert held["barriers"] == held["bytes"] == held["reuse"] == "clean" and held["words"] == "absent"
    for old, new in (("@!pw bra DATA;", ""), ("@!pw bra SLOT;", "")):
        assert {one.rule.name for one in check_ptx(plain.replace(old, new)).errors} == {"reuse-order"}


def test_two_copies_of_unknown_bytes_into_one_place_are_in_no_order() -> None:
    """Whatever a box is, it has 16 bytes."""
    right = ring_sm90().replace(f"{COPY} [at], [g], 8192, [full];", f"{TENSOR_COPY} [at], [x, {{k, k}}], [full];")
    right = right.replace(f"{COPY} [at+8192], [g], 8192, [full];", f"{TENSOR_COPY} [at+8192], [g, {{k, k}}], [full];")
    right = right.replace("mov.u32 k, 0;", "mov.u32 k, 0;\nadd.u64 x, g, 128;", 1)
    assert [one.rule.name for one in check_ptx(right).errors] == []
    one = f"{TENSOR_COPY} [at], [x, {{k, k}}], [full];"
    assert "reuse-order" in {e.rule.name for e in check_ptx(right.replace(one, f"{one}\n{one}")).errors}


@pytest.mark.parametrize("shared", [False, True], ids=["of global memory", "of shared memory"])
def test_a_branch_round_what_nobody_else_sees_stops_no_run(shared: bool) -> None:
    """Data decide whether something is stored: into global memory that is nobody's matter here."""
    what = "mbarrier.arrive.shared::cta.b64 _, [smem+49152];" if shared else "st.global.b32 [g+512], r;"
    text = ring_sm90().replace(
        "STORE:", f"STORE:\nld.global.u32 r, [g];\nsetp.eq.u32 pd, r, 7;\n@pd bra PAST;\n{what}\nPAST:"
    )
    assert {one.property for one in check_ptx(text).undecided} == ({*RUN[:4]} if shared else set())


def test_what_assumed_integers_bring_about_is_not_decided() -> None:
    """The rounds of a loop are loaded, by all threads from one place."""
    right = ring_sm90().replace("shr.u32 n, n, 6;", "").replace("ld.param.u64 g, [k_param_1];", "")
    right = right.replace(
        "ld.param.u32 n, [k_param_0];", "ld.param.u64 g, [k_param_1];\nld.global.u32 n, [g];\nshr.u32 n, n, 6;"
    )
    report = check_ptx(right)
    assert not report.errors and report.verdict == "incomplete"
    assert any("global memory" in one.why for one in report.undecided if one.property == "barriers")
    assert any("assumes integers in global memory" in note for note in report.notes)
    faulty = check_ptx(right.replace("@!pw bra SLOT;", ""))
    assert not faulty.errors
    assert any(one.what == "reuse-order with assumed data" for one in faulty.undecided)
    # A wait that never ends may be the data's fault: they are what a kernel is for.
    hung = check_ptx(right.replace("mbarrier.arrive.shared::cta.b64 _, [empty];", ""))
    assert not hung.errors and hung.verdict == "incomplete"


def test_what_a_run_cannot_decide_is_told_with_its_reason() -> None:
    text = ring_sm90().replace("shr.u32 n, n, 6;", "ld.global.u32 n, [g];").replace("ld.param.u64 g, [k_param_1];", "")
    text = text.replace("ld.param.u32 n, [k_param_0];", "ld.param.u64 g, [k_param_1];")
    report = check_ptx(text)
    assert report.verdict == "incomplete" and not report.errors
    assert any(one.property == "barriers" and "global memory" in one.why for one in report.undecided)


FREE = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 d, 64;"


@pytest.mark.parametrize("free", ["", f"setp.gt.u32 pi, n, 5;\n@pi bra OUT;\n{FREE}"], ids=["nowhere", "on one way"])
def test_columns_that_are_held_at_the_end_are_an_error(free: str) -> None:
    right = ring_sm100()
    assert FREE in right
    assert {one.rule.name for one in check_ptx(right.replace(FREE, free)).errors} == {"tcgen05-dealloc-missing"}


#: Each of two CTAs tells the other, waits to be told, and tells once more, to be waited for by nobody.
PEERS = """
.version 8.8
.target sm_90a
.address_size 64
.entry k() .reqntid 32 .reqnctapercluster 2, 1, 1
{
.reg .pred p;
.reg .b32 a, rank, there;
.shared .align 8 .b64 b[2];
mov.u32 a, b;
mbarrier.init.shared::cta.b64 [a], 32;
mbarrier.init.shared::cta.b64 [a+8], 32;
fence.mbarrier_init.release.cluster;
barrier.cluster.arrive;
barrier.cluster.wait;
wgmma.fence.sync.aligned;
mov.u32 rank, %cluster_ctarank;
xor.b32 rank, rank, 1;
mapa.shared::cluster.u32 there, a, rank;
mbarrier.arrive.shared::cluster.b64 _, [there];
L: mbarrier.try_wait.parity.shared::cta.b64 p, [a], 0;
@!p bra L;
END
ret;
}
"""
LAST = "mbarrier.arrive.shared::cluster.b64 _, [there+8];"
MEET = "barrier.cluster.arrive;\nbarrier.cluster.wait;"


@pytest.mark.parametrize(
    ("end", "rules"),
    [("", []), (LAST, ["barrier-exit"]), (f"{LAST}\n{MEET}", []), (f"{MEET}\n{LAST}", ["barrier-exit"])],
)
def test_a_cta_lives_until_the_arrivals_of_others_have_come(end: str, rules: list[str]) -> None:
    assert [one.rule.name for one in check_ptx(PEERS.replace("END", end)).errors] == rules


@pytest.mark.parametrize(("old", "new", "found"), [
    ("[a], 32;", "[a], 64;", "this wait of CTA 0 on its own mbarrier at [b] never completes: "
     "phase 0 has 32 of 64 arrivals; CTA 1 also waits at this line"),
    ("barrier.cluster.wait;", "barrier.cluster.wait;\nsetp.eq.u32 p, rank, 1;\n@p bra STUCK;",
     "this wait of CTA 0 on its own mbarrier at [b] never completes: phase 0 has 0 of 32 arrivals"),
    ("END", f"END\nsetp.eq.u32 p, rank, 1;\n@p bra STUCK;\n{MEET}\n",
     "of CTA 1 on the barrier of the cluster never completes: 32 of 64 threads arrived"),
])  # fmt: skip
def test_a_hang_of_a_cluster_names_the_cta_that_waits(old: str, new: str, found: str) -> None:
    text = PEERS.replace("mov.u32 rank, %cluster_ctarank;\n", "").replace(
        "mov.u32 a, b;", "mov.u32 a, b;\nmov.u32 rank, %cluster_ctarank;"
    )
    stuck = "STUCK: mbarrier.try_wait.parity.shared::cta.b64 p, [a+8], 0;\n@!p bra STUCK;\nret;"
    assert old in text
    text = text.replace(old, new, 1).replace("END", "").replace("ret;", f"ret;\n{stuck}", 1)
    (hang,) = check_ptx(text).errors
    assert found in hang.found


def test_the_story_of_a_cluster_names_the_ctas_that_use_its_mbarriers() -> None:
    text = tell_story(explain_ptx(PEERS.replace("END", "")))
    assert "mbarriers of CTA 0 in an execution (32 threads, a cluster of 2x1x1" in text
    assert "arrivals by warp 0 of CTA 1, line " in text and "waits by warp 0 of CTA 0, line " in text
    assert " of CTA" not in tell_story(explain_ptx(ring_sm90(2)))


@pytest.mark.parametrize(
    ("whole", "torn"),
    [
        ("wait_group.sync.aligned 0;", "wait_group.sync.aligned;"),
        ("selp.b32 stage, 0, stage, pn;", "selp.b32 stage, 0, stage;"),
        ("ld.param.u32 n, [k_param_0];", "ld.param.u32 n;"),
        (f"{COPY} [at], [g], 8192, [full];", f"{COPY};"),
    ],
)
def test_an_instruction_without_its_operands_leaves_the_run_open(whole: str, torn: str) -> None:
    assert whole in ring_sm90(2)
    report = check_ptx(ring_sm90(2).replace(whole, torn))
    held = {one.property: one.verdict for one in report.properties}
    assert held["barriers"] == held["bytes"] == held["reuse"] == "incomplete"


@pytest.mark.parametrize("stages", [2, 3])
def test_a_fault_is_told_with_its_round_and_that_of_the_event_before(stages: int) -> None:
    """A stage of which nobody waits is written again in the first round that has no stage of its own."""
    (old, new), _ = SM90["no wait for the slot"]
    report = check_ptx(ring_sm90(stages).replace(old, new))
    moment = next(one.moment for one in report.errors if one.rule.name == "reuse-order")
    assert moment is not None and moment.parameters == "k_param_0 = 256"
    assert (moment.round, moment.other_round, moment.rounds) == (stages + 1, 1, 256 // 64)
    assert f"iteration {stages + 1} of 4, after line {moment.other_line} in iteration 1" in str(report)


def test_a_wait_that_never_ends_is_told_with_its_round_and_what_told_its_mbarrier_last() -> None:
    """Who takes one round more than there are waits in that round, and the last copies were those before."""
    (old, new), _ = SM90["the consumer makes a round more"]
    text = ring_sm90(3).replace(old, new)
    (one,) = check_ptx(text).errors
    assert one.rule.name == "barrier-hang" and one.moment is not None
    # Of three stages the fifth round has the second, which the second round filled last.
    assert (one.moment.round, one.moment.rounds, one.moment.other_round) == (5, 0, 2)
    assert text.splitlines()[one.moment.other_line - 1].startswith("cp.async.bulk")


@pytest.mark.parametrize("ring", [ring_sm90, ring_sm100])
def test_lanes_of_one_warp_that_all_initialise_an_mbarrier_are_told(ring: object) -> None:
    """The manual leaves it undefined to initialise a live mbarrier; what they write is the same, so it is no error."""
    right = ring(1)  # type: ignore[operator]
    one = "setp.ne.u32 pi, t, 0;"
    assert right.count(one) == 1
    report = check_ptx(right.replace(one, "setp.ge.u32 pi, t, 32;"))
    told = {found.rule.name: found.found for found in report.findings}
    assert told["barrier-init-again"] == "32 threads of a warp execute this init" and not report.errors
    assert any("valid for every" in note for note in report.notes)
    assert "barrier-init-again" not in {found.rule.name for found in check_ptx(right).findings}


def test_an_mbarrier_that_is_initialised_once_more_is_told_unless_it_was_invalidated() -> None:
    init = "mbarrier.init.shared::cta.b64 [smem+16384], 1;"
    right, end = ring_sm90(1), "mbarrier.inval.shared::cta.b64 [smem+16384];\n"
    assert right.count(init) == 1
    for between, rules in (("", {"barrier-init-again"}), (end, set())):
        twice = right.replace(init, f"{init}\n{between}{init}")
        assert {found.rule.name for found in check_ptx(twice).findings} == rules


def test_a_bulk_store_of_a_tensor_reads_what_one_stretch_of_code_filled() -> None:
    """Its box is in no text: the thread that issues it stored the first bytes, and others the rest."""
    plain = "cp.async.bulk.global.shared::cta.bulk_group [g], [smem+16384], 16384;"
    tensor = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [g, {k, k}], [smem+16384];"
    meet = "fence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.ne.u32 pi, t, 0;"
    right = stored_sm90().replace(plain, tensor)
    assert right.count(tensor) == right.count(meet) == 1 and not check_ptx(right).errors
    found = check_ptx(right.replace(meet, meet.replace("bar.sync 0;\n", ""))).errors
    assert "reuse-order" in {one.rule.name for one in found}
    assert "proxy-fence" in {one.rule.name for one in check_ptx(right.replace(meet, meet[31:])).errors}
    # Of two stores of halves each reads its own, and a thread may go on to the other half.
    half = tensor.replace("16384", "24576")
    assert not check_ptx(right.replace(tensor, f"{tensor}\n{half}")).errors
