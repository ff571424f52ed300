"""Operations that do not order memory accesses, accesses beyond shared memory, and waits for lanes that never come."""

from __future__ import annotations

import pytest
from small_kernels import report, rules, verdict

WAIT = "WAIT: mbarrier.try_wait.parity{order}.shared::cta.b64 %p4, [b], 0;\n@!%p4 bra WAIT;\n"

STORE_AND_ARRIVE = """@%p3 bra WAIT;
st.shared.b32 [%r2], %r1;
{fence}
mbarrier.arrive{order}.shared::cta.b64 _, [b];
ret;
"""
LOAD = "{fence}\nld.shared.b32 %r5, [%r2];\nret;"


@pytest.mark.parametrize(
    ("arrival", "release", "wait", "acquire", "ordered"),
    [
        ("", "", "", "", True),
        (".release.cta", "", ".acquire.cta", "", True),
        (".relaxed.cta", "", "", "", False),
        ("", "", ".relaxed.cta", "", False),
        (".relaxed.cta", "fence.acq_rel.cta;", "", "", True),
        (".relaxed.cta", "membar.cta;", ".relaxed.cta", "fence.sc.cta;", True),
        (".relaxed.cta", "fence.acq_rel.cta;", ".relaxed.cta", "", False),
        ("", "", ".relaxed.cta", "fence.acq_rel.cta;", True),
    ],
)
def test_a_relaxed_arrival_or_wait_orders_nothing_without_a_fence(
    arrival: str, release: str, wait: str, acquire: str, ordered: bool
) -> None:
    store = STORE_AND_ARRIVE.format(fence=release, order=arrival)
    body = store.replace("st.shared.b32 [%r2], %r1;", "@!%p2 st.shared.b32 [%r2], %r1;\nbar.warp.sync -1;")
    checked = report(body + WAIT.format(order=wait) + LOAD.format(fence=acquire), count=32)
    assert rules(checked) == (set() if ordered else {"reuse-order"})


@pytest.mark.parametrize(("order", "ordered"), [("", True), (".relaxed.cta", False)])
def test_a_relaxed_wait_does_not_show_the_bytes_of_a_copy(order: str, ordered: bool) -> None:
    copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 64, [b];"
    issue = f"@%p1 bra WAIT;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 64;\n{copy}\n"
    checked = report(issue + WAIT.format(order=order) + LOAD.format(fence=""))
    assert rules(checked) == (set() if ordered else {"reuse-order"})


def test_a_bar_warp_sync_waits_for_lanes_that_execute_another_one() -> None:
    both = "@%p2 bra A;\nbar.warp.sync -1;\nbra B;\nA: bar.warp.sync -1;\nB: ret;"
    assert report(both, threads=32).verdict == "clean"
    twice = both.replace("bra B;", "bar.warp.sync -1;\nmbarrier.arrive.shared.b64 _, [b];\nbra B;")
    spins = twice.replace("B: ret;", f"{WAIT.format(order='')}B: ret;")
    checked = report(spins, threads=32)
    assert verdict(checked, "barriers") == "incomplete"
    assert "31 of the 32 lanes for which it waits never execute one" in str(checked)


@pytest.mark.parametrize(("offset", "error"), [(232448 - 64, False), (232448 - 32, True), (1 << 20, True)])
def test_an_access_must_be_in_shared_memory(offset: int, error: bool) -> None:
    copy = f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+{offset}], [%rd1], 64, [b];"
    issue = f"@%p1 bra WAIT;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 64;\n{copy}\n"
    checked = report(f"{issue}{WAIT.format(order='')}ret;")
    assert rules(checked) == ({"reuse-bounds"} if error else set())


@pytest.mark.parametrize(("mask", "error"), [(1, False), (3, False), (4, True), (7, True)])
def test_a_multicast_names_ctas_of_the_cluster(mask: int, error: bool) -> None:
    copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
    issue = f"""mov.u32 %r6, %cluster_ctarank;
setp.ne.or.u32 %p5, %r6, 0, %p1;
@!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], {64 if mask & 1 else 0};
mov.b16 %rs1, {mask};
@!%p5 {copy} [%r2], [%rd1], 64, [b], %rs1;
"""
    if mask & 2:
        issue = issue.replace(f"[b], {64 if mask & 1 else 0}", "[b], 64")
    body = (
        ".reg .b16 %rs<4>;\n" + issue + WAIT.format(order="") + "barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;"
    )
    init = """setp.ne.u32 %p1, %r1, 0;
@!%p1 mbarrier.init.shared.b64 [b], {count};
fence.mbarrier_init.release.cluster;
barrier.cluster.arrive;
barrier.cluster.wait;
"""
    checked = report(body, init=init, cluster=2)
    assert ("reuse-bounds" in rules(checked)) == error


@pytest.mark.parametrize(("fence", "order", "seen"), [
    ("fence.mbarrier_init.release.cluster;", ".relaxed", True), ("", ".relaxed", False), ("", "", True),
])  # fmt: skip
def test_a_relaxed_arrival_of_a_cluster_publishes_an_init_only_after_a_fence(
    fence: str, order: str, seen: bool
) -> None:
    init = f"""setp.ne.u32 %p1, %r1, 0;
@!%p1 mbarrier.init.shared.b64 [b], {{count}};
{fence}
barrier.cluster.arrive{order}.aligned;
barrier.cluster.wait.aligned;
"""
    body = (
        """mov.u32 %r6, %cluster_ctarank;
xor.b32 %r6, %r6, 1;
mapa.shared::cluster.u32 %r7, b, %r6;
@!%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7];
"""
        + WAIT.format(order=".acquire.cluster")
        + "barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;"
    )
    checked = report(body, init=init, cluster=2)
    assert rules(checked) == (set() if seen else {"barrier-init-seen"})


@pytest.mark.parametrize(("scope", "ordered"), [("cluster", True), ("cta", False)])
def test_an_arrival_at_another_cta_needs_the_scope_of_the_cluster(scope: str, ordered: bool) -> None:
    init = """setp.ne.u32 %p1, %r1, 0;
@!%p1 mbarrier.init.shared.b64 [b], {count};
fence.mbarrier_init.release.cluster;
barrier.cluster.arrive;
barrier.cluster.wait;
"""
    body = f"""mov.u32 %r6, %cluster_ctarank;
setp.ne.u32 %p5, %r6, 0;
mapa.shared::cluster.u32 %r7, b, 0;
mapa.shared::cluster.u32 %r8, s, 0;
@!%p5 bra WAIT;
@!%p1 st.shared::cluster.b32 [%r8], %r1;
@!%p1 mbarrier.arrive.release.{scope}.shared::cluster.b64 _, [%r7];
bra END;
{WAIT.format(order=".acquire.cluster")}ld.shared.b32 %r9, [%r2];
END: barrier.cluster.arrive;
barrier.cluster.wait;
ret;"""
    checked = report(body, init=init, cluster=2)
    assert rules(checked) == (set() if ordered else {"reuse-order"})


def test_an_arrival_that_must_not_complete_the_phase_is_an_error_if_it_does() -> None:
    body = "@%p1 bra WAIT;\nmbarrier.arrive.noComplete.shared::cta.b64 %rd5, [b], 1;\n" + WAIT.format(order="") + "ret;"
    assert rules(report(body)) == {"barrier-count"}
    second = body.replace("WAIT:", "mbarrier.arrive.shared::cta.b64 _, [b];\nWAIT:")
    assert not rules(report(second, count=2))
