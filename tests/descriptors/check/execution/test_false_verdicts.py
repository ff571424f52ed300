"""Small kernels at the edges of a verdict: correct ones draw no error, and faulty ones are not clean."""

from __future__ import annotations

import pytest
from places import ROOT
from ring_kernels import ring_sm90
from small_kernels import FRAME, INIT, report, rules, verdict

from descriptors import check_ptx
from descriptors.check.kernel_report import Report

# -- the lanes of a warp at a release

OWN_PLACE = "shl.b32 %r3, %r4, 2;\nadd.u32 %r3, %r3, %r2;\n"
STORE_OUT = """cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], {size};
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
"""
ARRIVE_LANE_0 = "@!%p2 mbarrier.arrive.shared.b64 _, [b];"


def handed_over(between: str, arrive: str = ARRIVE_LANE_0, count: int = 1, size: int = 128) -> Report:
    """The lanes of warp 0 store, and tell warp 1, whose lane 0 copies what they stored."""
    body = f"""{OWN_PLACE}@%p3 bra CONSUMER;
st.shared.b32 [%r3], %r1;
fence.proxy.async.shared::cta;
{between}
{arrive}
bra.uni END;
CONSUMER: mbarrier.try_wait.parity.shared.b64 %p4, [b], 0;
@!%p4 bra CONSUMER;
@%p2 bra END;
{STORE_OUT.format(size=size)}END: ret;"""
    return report(body, count=count)


@pytest.mark.parametrize("arrive", [ARRIVE_LANE_0, "@%p2 bra END;\nmbarrier.arrive.shared.b64 _, [b];"])
def test_a_lane_does_not_tell_of_the_stores_of_other_lanes(arrive: str) -> None:
    assert rules(handed_over("", arrive)) == {"reuse-order"}
    part = "setp.gt.u32 %p6, %r4, 15;\n@%p6 bra PART;\nbar.warp.sync 0xffff;\nPART:"
    assert rules(handed_over(part, arrive)) == {"reuse-order"}
    for barrier in ("bar.warp.sync -1;", "bar.sync 1, 32;", "bar.warp.sync -1;\nelect.sync %r9|%p5, -1;"):
        assert verdict(handed_over(barrier, arrive)) == "clean", barrier


@pytest.mark.parametrize("meet", ["elect.sync %r9|%p5, -1;", "shfl.sync.idx.b32 %r9, %r1, 0, 31, -1;"])
def test_a_meeting_of_lanes_that_orders_no_memory_decides_nothing(meet: str) -> None:
    held = handed_over(meet)
    assert not held.errors and verdict(held) == "incomplete"
    assert any("no memory barrier" in row.why for row in held.undecided)


def test_lanes_that_all_tell_tell_of_all_stores() -> None:
    assert verdict(handed_over("", "mbarrier.arrive.shared.b64 _, [b];", 32)) == "clean"
    apart = f"{ARRIVE_LANE_0}\n@%p2 mbarrier.arrive.shared.b64 _, [b];"
    assert verdict(handed_over("", apart, 32)) == "clean"


def test_a_lane_tells_of_its_own_store() -> None:
    alone = handed_over("", size=16)
    assert rules(alone) == {"reuse-order"}
    text = """shl.b32 %r3, %r4, 4;
add.u32 %r3, %r3, %r2;
@%p3 bra CONSUMER;
st.shared.v4.b32 [%r3], {%r1, %r1, %r1, %r1};
fence.proxy.async.shared::cta;
@!%p2 mbarrier.arrive.shared.b64 _, [b];
bra.uni END;
CONSUMER: mbarrier.try_wait.parity.shared.b64 %p4, [b], 0;
@!%p4 bra CONSUMER;
@%p2 bra END;
"""
    one, two = (report(f"{text}{STORE_OUT.format(size=size)}END: ret;") for size in (16, 32))
    assert verdict(one) == "clean" and rules(two) == {"reuse-order"}


@pytest.mark.parametrize("copy", [False, True], ids=["st.shared", "cp.async"])
def test_a_lane_that_issues_a_copy_does_not_know_the_stores_of_others(copy: bool) -> None:
    fill = "st.shared.b32 [%r3], %r1;"
    if copy:
        fill = "cp.async.ca.shared.global [%r3], [%rd1], 4;\ncp.async.wait_all;"
    body = f"{OWN_PLACE}{fill}\nfence.proxy.async.shared::cta;\n{{}}\n@%p1 bra END;\n"
    body += f"{STORE_OUT.format(size=128)}END: ret;"
    assert rules(report(body.replace("{}", ""), threads=32)) == {"reuse-order"}
    assert not rules(report(body.replace("{}", "bar.warp.sync -1;"), threads=32))


def test_a_lane_does_not_tell_that_other_lanes_have_read() -> None:
    body = f"""{OWN_PLACE}mov.u32 %r10, 0;
@%p3 bra PRODUCER;
LOOP: mbarrier.try_wait.parity.shared.b64 %p4, [b], %r10;
@!%p4 bra LOOP;
ld.shared.b32 %r11, [%r3];
SYNC
@!%p2 mbarrier.arrive.shared.b64 _, [b2];
xor.b32 %r10, %r10, 1;
setp.ne.u32 %p5, %r10, 0;
@%p5 bra LOOP;
bra.uni END;
PRODUCER: @%p2 bra END;
COPY
SLOT: mbarrier.try_wait.parity.shared.b64 %p4, [b2], 0;
@!%p4 bra SLOT;
COPY
END: ret;"""
    expect = "mbarrier.arrive.expect_tx.shared.b64 _, [b], 128;\n"
    copy = f"{expect}cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 128, [b];"
    body = body.replace("COPY", copy)
    assert rules(report(body.replace("SYNC", ""))) == {"reuse-order"}
    assert verdict(report(body.replace("SYNC", "bar.warp.sync -1;"))) == "clean"


# -- stores of one place

LOAD = "ld.global.u32 %r5, [%rd1];\n"


def test_two_warps_may_store_the_same_loaded_value() -> None:
    store = f"{LOAD}st.shared.u32 [%r2], %r5;\nbar.sync 0;\n"
    # A copy makes the kernel one of which reuse is looked at.
    copy = f"fence.proxy.async.shared::cta;\nbar.sync 0;\n@%p1 bra END;\n{STORE_OUT.format(size=16)}END: ret;"
    fill = "st.shared.v2.u32 [%r2+4], {%r2, %r2};\nst.shared.u32 [%r2+12], %r2;\n"
    assert verdict(report(fill + store + copy)) == "clean"
    computed = f"{LOAD}mov.b32 %f5, %r5;\nadd.f32 %f5, %f5, %f5;\nst.shared.f32 [%r2], %f5;\nbar.sync 0;\n"
    unknown = report(fill + computed + copy)
    assert not unknown.errors and verdict(unknown) == "incomplete"
    differing = "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd1, %rd1, %rd2;\n" + store
    assert not report(fill + differing + copy).errors
    two = "shr.u32 %r9, %r1, 5;\nst.shared.u32 [%r2], %r9;\nbar.sync 0;\n"
    assert rules(report(fill + two + copy)) == {"reuse-order"}
    # Two instructions are no replicated store.
    apart = f"{LOAD}@%p3 bra OTHER;\nst.shared.u32 [%r2], %r5;\nbra.uni PAST;\nOTHER: add.u32 %r5, %r5, 1;\n"
    assert "reuse-order" in rules(report(f"{fill}{apart}st.shared.u32 [%r2], %r5;\nPAST: bar.sync 0;\n{copy}"))


def test_lanes_of_a_warp_may_store_one_value_to_one_word_and_no_two() -> None:
    store = "@%p3 bra PAST;\nst.shared.u32 [%r2], {};\nPAST: bar.sync 0;\nret;"
    different, same = report(store.replace("{}", "%r1")), report(store.replace("{}", "%r2"))
    assert rules(different) == {"reuse-order"} and not rules(same)
    assert "lanes 0 and 1" in different.errors[0].found


# -- barriers


def test_a_wait_for_the_cluster_needs_one_arrival() -> None:
    arrive, wait = "barrier.cluster.arrive;\n", "barrier.cluster.wait;\n"
    assert rules(report(f"{wait}ret;")) == {"barrier-cluster"}
    assert rules(report(f"{arrive}{wait}{wait}ret;")) == {"barrier-cluster"}
    assert "barrier-cluster" in rules(report(f"{arrive}{arrive}{wait}ret;"))
    assert not rules(report(f"{arrive}{wait}{arrive}{wait}ret;"))


@pytest.mark.parametrize("number", ["0", "1, 64"])
def test_an_aligned_barrier_on_both_sides_of_a_branch_must_not_split_a_warp(number: str) -> None:
    barrier = f"bar.sync {number};"
    body = f"setp.lt.u32 %p1, %r4, 16;\n@%p1 bra OTHER;\n{barrier}\nbra.uni END;\nOTHER: {barrier}\nEND: ret;"
    assert rules(report(body)) == {"barrier-aligned"}
    assert not rules(report(body.replace("bar.sync", "barrier.sync")))
    assert not rules(report(body.replace("%r4, 16", "%r1, 32")))


@pytest.mark.parametrize(
    "access",
    ["st.shared.b32 [%r5+4], %r1;", "ld.shared.b32 %r6, [%r5];", "st.shared.v4.b32 [%r5+-8], {%r1, %r1, %r1, %r1};"],
)
def test_a_live_mbarrier_is_accessed_by_mbarrier_instructions_alone(access: str) -> None:
    body = f"mov.u32 %r5, b;\nINVAL\n@!%p1 {access}\nret;"
    assert rules(report(body.replace("INVAL", ""))) == {"barrier-storage"}
    inval = "@!%p1 mbarrier.inval.shared.b64 [b];\n@!%p1 mbarrier.inval.shared.b64 [b2];"
    assert not rules(report(body.replace("INVAL", inval)))


def test_a_copy_must_not_land_on_a_live_mbarrier() -> None:
    copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd1], 16, [b];"
    body = f"mov.u32 %r5, b;\n@%p1 bra END;\nmbarrier.arrive.expect_tx.shared.b64 _, [b], 16;\n{copy}\nEND: ret;"
    assert "barrier-storage" in rules(report(body))
    assert "barrier-storage" not in rules(report(body.replace("mov.u32 %r5, b;", "mov.u32 %r5, s;")))


@pytest.mark.parametrize("commit", ["", "cp.async.bulk.commit_group;"])
def test_a_bulk_store_that_nothing_waits_for_is_not_decided(commit: str) -> None:
    """Kernels in use end so; the manual does not say that the store has read shared memory by then."""
    body = f"{OWN_PLACE}st.shared.b32 [%r3], %r4;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n@%p1 bra END;\n"
    store = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 128;\n"
    wait = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read {};\n"
    for behind in (commit, wait.replace("{}", "1")):
        one = report(f"{body}{store}{behind}\nEND: ret;")
        assert not one.errors and verdict(one) == "incomplete"
        assert any("before its CTA exits" in row.what for row in one.undecided)
    assert verdict(report(f"{body}{store}{wait.replace('{}', '0')}END: ret;")) == "clean"


def test_a_bulk_store_is_done_if_its_thread_waits_after_lanes_met() -> None:
    """One lane stores, the lanes meet, and the same lane waits behind a second branch."""
    body = f"{OWN_PLACE}st.shared.b32 [%r3], %r4;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
    store = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 128;\ncp.async.bulk.commit_group;\n"
    wait = "cp.async.bulk.wait_group.read 0;\n"
    assert verdict(report(f"{body}@%p1 bra MET;\n{store}MET: @%p1 bra END;\n{wait}END: ret;")) == "clean"
    assert verdict(report(f"{body}@%p1 bra MET;\n{store}MET: @%p1 bra END;\nEND: ret;")) == "incomplete"


# -- tensor memory

ALLOCATE = """tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32;
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
PAST: bar.sync 0;
ld.shared.b32 %r12, [s];
mov.u32 %r20, 1;
"""
FREE = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r12, 32;\nEND: ret;"


@pytest.mark.parametrize(
    ("lane", "decided"),
    [
        ("", False),
        ("shl.b32 %r13, %r1, 16;\nand.b32 %r13, %r13, 0x600000;\nadd.u32 %r12, %r12, %r13;", True),
    ],
)
def test_each_warp_stores_to_the_quarter_of_its_own(lane: str, decided: bool) -> None:
    """Four warps that leave the quarter out of the address store to other lanes, and so do those that write it.

    Sources disagree on an address without the quarter, so that it is undecided.
    """
    use = """mov.u32 %r14, %r12;
LANE
tcgen05.st.sync.aligned.32x32b.x2.b32 [%r12], {%r20, %r20};
tcgen05.wait::st.sync.aligned;
tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r21, %r22}, [%r12];
tcgen05.wait::ld.sync.aligned;
bar.sync 0;
mov.u32 %r12, %r14;
@%p3 bra END;
""".replace("LANE", lane)
    one = report(f"@%p3 bra PAST;\n{ALLOCATE}{use}{FREE}", threads=128, target="sm_100a")
    assert not one.errors, one.errors
    why = "warp 1 names lane 0, and sources disagree whether this means lane 32 of its quarter"
    assert {row.why for row in one.undecided if row.property == "tensor memory"} == (set() if decided else {why})
    assert verdict(one, "tensor memory") == ("clean" if decided else "incomplete")


@pytest.mark.parametrize(
    "use",
    [
        "add.u32 %r6, %r21, %r22;",
        "setp.eq.u32 %p5, %r4, 0;\n@%p5 st.global.v2.b32 [%rd1], {%r21, %r22};",
        "ld.param.u32 %r7, [p1];\nsetp.eq.u32 %p5, %r7, 0;\n@%p5 bra P;\nst.global.v2.b32 [%rd1], {%r21, %r22};\nP:",
    ],
)
def test_a_load_whose_registers_are_read_is_no_error_at_the_deallocation(use: str) -> None:
    load = """tcgen05.st.sync.aligned.32x32b.x2.b32 [%r12], {%r20, %r20};
tcgen05.wait::st.sync.aligned;
tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r21, %r22}, [%r12];
"""
    one = report(f"{ALLOCATE}{load}{use}\n{FREE}", threads=32, target="sm_100a")
    assert not one.errors and "tcgen05-wait-ld" in {row.rule.name for row in one.findings}
    assert rules(report(f"{ALLOCATE}{load}{FREE}", threads=32, target="sm_100a")) == {"tcgen05-dealloc-early"}


# -- a mask in braces


def test_the_mask_of_a_multicast_is_read_in_braces_too() -> None:
    name = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
    body = f"""mov.u32 %r6, %cluster_ctarank;
setp.eq.u32 %p5, %r6, 0;
@!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [b], 16;
barrier.cluster.arrive;
barrier.cluster.wait;
mov.u16 %rs1, 3;
or.pred %p6, %p1, %p5;
@%p1 bra WAIT;
@!%p5 bra WAIT;
{name} [%r2], [%rd1], 16, [b], {{%rs1}};
WAIT: mbarrier.try_wait.parity.shared.b64 %p4, [b], 0;
@!%p4 bra WAIT;
barrier.cluster.arrive;
barrier.cluster.wait;
ret;"""
    text = FRAME.format(body=INIT.format(count=1) + body, threads=64, target="sm_90a", cluster="")
    text = text.replace(".reg .pred", ".reg .b16 %rs<4>;\n.reg .pred")
    right, plain = check_ptx(text, cluster=(2,)), check_ptx(text.replace("{%rs1}", "%rs1"), cluster=(2,))
    assert not plain.errors and not right.errors
    assert rules(check_ptx(text.replace("%rs1, 3", "%rs1, 1"), cluster=(2,))) == {"barrier-hang"}


# -- the phase in which an arrival lands

ONE_ARRIVAL = "@!%p2 mbarrier.arrive.shared.b64 _, [b];"
OF_WARP_0, OF_WARP_1 = (f"@{guard} bra PAST{n};\n{ONE_ARRIVAL}\nPAST{n}:" for n, guard in enumerate(("%p3", "!%p3")))
WAIT_BOTH = "WAIT: mbarrier.try_wait.parity.shared.b64 %p4, [b], 1;\n@!%p4 bra WAIT;\nret;"


@pytest.mark.parametrize(
    ("arrivals", "expected"),
    [
        (ONE_ARRIVAL, "incomplete"),  # of two warps, each of which ends a phase: in either order
        (f"{OF_WARP_0}\n{OF_WARP_1}", "incomplete"),
        (f"{OF_WARP_0}\nbar.sync 0;\n{OF_WARP_1}", "clean"),
        (f"@%p1 bra PAST;\n{ONE_ARRIVAL}\n{ONE_ARRIVAL}\nPAST:", "clean"),  # of one thread, in its order
    ],
)
def test_an_arrival_in_a_phase_behind_the_first_is_ordered_after_the_phase_before(arrivals: str, expected: str) -> None:
    one = report(f"{arrivals}\n{WAIT_BOTH}")
    assert not one.errors and verdict(one, "barriers") == expected


def test_who_waited_for_a_phase_may_arrive_in_the_next() -> None:
    """Two warps hand an mbarrier to each other, and a copy ends each phase of the other one."""
    body = """mov.u32 %r5, 0;
AGAIN: @%p3 bra CONSUMER;
@%p1 bra NEXT;
FILL: mbarrier.arrive.expect_tx.shared.b64 _, [b], 128;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 128, [b];
EMPTY: mbarrier.try_wait.parity.shared.b64 %p4, [b2], %r5;
@!%p4 bra EMPTY;
bra NEXT;
CONSUMER: mbarrier.try_wait.parity.shared.b64 %p4, [b], %r5;
@!%p4 bra CONSUMER;
@!%p2 mbarrier.arrive.shared.b64 _, [b2];
NEXT: add.u32 %r5, %r5, 1;
setp.lt.u32 %p5, %r5, 2;
@%p5 bra AGAIN;
ret;"""
    assert verdict(report(body), "barriers") == "clean"
    late = body.replace("EMPTY: mbarrier", "bra NEXT;\nEMPTY: mbarrier")
    assert verdict(report(late), "barriers") != "clean"


# -- what comes behind a wait that never ends

ONE_LANE_WAITS = """@%p1 bra JOIN;
WAIT: mbarrier.try_wait.parity.shared.b64 %p4, [b], 0;
@!%p4 bra WAIT;
JOIN: bar.warp.sync -1;
bar.sync 0;
ret;"""


@pytest.mark.parametrize("meeting", ["bar.warp.sync -1;", "nop;"])
def test_lanes_that_wait_for_a_lane_that_hangs_find_nothing_behind_it(meeting: str) -> None:
    hung = report(ONE_LANE_WAITS.replace("bar.warp.sync -1;", meeting), threads=32)
    assert [(one.rule.name, one.instruction) for one in hung.errors] == [
        ("barrier-hang", "mbarrier.try_wait.parity.shared.b64")
    ]


def test_lanes_that_meet_no_others_at_an_aligned_barrier_are_found_if_nothing_hangs() -> None:
    assert rules(report("@%p1 bra JOIN;\nbar.sync 0;\nret;\nJOIN: bar.sync 0;\nret;", threads=32)) == {
        "barrier-aligned"
    }


def test_a_hang_is_reported_of_the_cta_that_came_least_far() -> None:
    body = """mov.u32 %r6, %cluster_ctarank;
setp.eq.u32 %p5, %r6, 0;
mov.u32 %r5, 0;
@%p1 bra END;
@%p5 mbarrier.arrive.shared.b64 _, [b];
WAIT: mbarrier.try_wait.parity.shared.b64 %p4, [b], %r5;
@!%p4 bra WAIT;
xor.b32 %r5, %r5, 1;
bra WAIT;
END: ret;"""
    text = FRAME.format(body=INIT.format(count=1) + body, threads=64, target="sm_90a", cluster="")
    (hang,) = check_ptx(text, cluster=(2,)).errors
    assert hang.found == (
        "this wait of CTA 1 on its own mbarrier at [b] never completes: phase 0 has 0 of 1 arrivals; "
        "CTA 0 also waits at this line"
    )


@pytest.mark.parametrize(("columns", "apart"), [(256, True), (512, False), (128, False)])
def test_an_allocation_that_waits_for_columns_that_are_free_but_apart_is_not_decided(columns: int, apart: bool) -> None:
    allocate = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"
    free = "tcgen05.dealloc.cta_group::1.sync.aligned.b32"
    body = f"""{allocate} [s], 128;
ld.shared.b32 %r10, [s];
{allocate} [s], 256;
ld.shared.b32 %r11, [s];
{free} %r10, 128;
{allocate} [s], {columns};
ld.shared.b32 %r12, [s];
{free} %r11, 256;
{free} %r12, {columns};
ret;"""
    one = report(body, threads=32, target="sm_100a")
    assert (verdict(one, "barriers") == "incomplete") == apart
    assert not (apart and "barrier-hang" in rules(one))


# -- an event that a later wait counts, under a guard that depends on data

ON_DATA = """cvta.to.global.u64 %rd1, %rd1;
ld.global.b32 %r5, [%rd1];
setp.ne.u32 %p5, %r5, 0;
"""
COPY_TO_OWN_PLACE = "shl.b32 %r3, %r1, 4;\nadd.u32 %r3, %r3, %r2;\ncp.async.cg.shared.global [%r3], [%rd1], 16;\n"


@pytest.mark.parametrize(
    ("commits", "left"),
    [("@%p5 cp.async.commit_group;", 0), ("cp.async.commit_group;\n@%p5 cp.async.commit_group;", 1)],
)
def test_a_commit_that_depends_on_data_decides_nothing_about_what_a_wait_covers(commits: str, left: int) -> None:
    read = f"cp.async.wait_group {left};\nbar.sync 0;\nld.shared.b32 %r6, [s];\nret;"
    one = report(f"{ON_DATA}{COPY_TO_OWN_PLACE}{commits}\n{read}")
    assert not rules(one) and verdict(one) == "incomplete"


def test_a_remote_store_that_depends_on_data_decides_nothing_about_the_wait_for_its_bytes() -> None:
    store = "@%p5 st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r2], %r1, [b];"
    body = f"""{ON_DATA}@%p1 bra WAIT;
mbarrier.arrive.expect_tx.shared.b64 _, [b], 4;
{store}
WAIT: mbarrier.try_wait.parity.shared.b64 %p4, [b], 0;
@!%p4 bra WAIT;
ret;"""
    one = report(body)
    assert not rules(one) and verdict(one, "barriers") == "incomplete"


def test_a_wait_that_never_ends_and_those_that_wait_for_it_are_one_finding() -> None:
    (hang,) = check_ptx((ROOT / "docs" / "kernels" / "hang.ptx").read_text("utf-8")).errors
    cause = "this wait on the mbarrier at [smem+32768] never completes: phase 0 has 1 of 2 arrivals"
    also = "the wait in line 40 on the mbarrier at [smem+32832] never completes: phase 0 has 0 of 128 arrivals"
    assert hang.line == 94
    assert hang.found == f"{cause}; {also}"


def test_a_hang_with_an_assumed_number_of_threads_is_undecided() -> None:
    """A producer in thread 128 exists only if the launch has more threads than are assumed."""
    text = ring_sm90()
    directive = next(line for line in text.splitlines() if ".reqntid" in line)
    assert check_ptx(text).verdict == "clean"
    free = text.replace(directive, directive.replace(" .reqntid 160", ""))
    assert free != text and check_ptx(free, threads=(160,)).verdict == "clean"
    unknown = check_ptx(free)
    assert not unknown.errors and verdict(unknown, "barriers") == "incomplete"
    row = next(row for row in unknown.undecided if row.property == "barriers")
    assert row.what == "barrier-hang with an assumed number of threads" and "--threads" in row.decides
    assert rules(check_ptx(free, threads=(128,))) == {"barrier-hang"}
