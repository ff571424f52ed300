"""Parities of waits in loops: one that never changes is told, and nothing that may be right."""

from __future__ import annotations

import pytest

from descriptors.check.inspection import check_ptx

HEAD = """.version 8.8
.target sm_100a
.shared .align 8 .b8 bars[64];
.entry k() {
mov.b32 m, bars; add.s32 o, m, 8; mov.b32 f, 0; mov.b32 c, 0;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 64;
"""
PRODUCT = "tcgen05.mma.cta_group::1.kind::f16 [t], x, y, i, p;"
COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [m];"
LOAD = (
    "tcgen05.fence::after_thread_sync; tcgen05.ld.sync.aligned.32x32b.x1.b32 {r}, [t]; tcgen05.wait::ld.sync.aligned;"
)
TURN = "xor.b32 f, f, 1;"


def wait(parity: str, place: str = "m", label: str = "W") -> str:
    return f"{label}: mbarrier.try_wait.parity.shared::cta.b64 w, [{place}], {parity}; @!w bra {label};"


def told(*body: str) -> bool:
    text = (
        HEAD
        + "\n".join(["L:", *body, "@q bra L;"])
        + "\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 t, 64;\nret;\n}\n"
    )
    return "tcgen05-parity" in {one.rule.name for one in check_ptx(text).findings}


@pytest.mark.parametrize("parity", ["0", "1", "c"])
def test_a_parity_that_never_changes_is_told(parity: str) -> None:
    assert told(PRODUCT, COMMIT, wait(parity), LOAD)


def test_a_parity_that_may_change_is_not() -> None:
    assert not told(PRODUCT, COMMIT, wait("f"), LOAD, TURN)
    assert not told(PRODUCT, COMMIT, wait("%r9"), LOAD)
    assert not told(PRODUCT, COMMIT, wait("0"), LOAD, PRODUCT, COMMIT, wait("1", label="V"), LOAD)


def test_what_may_end_other_phases_is_believed() -> None:
    for other in (
        "mbarrier.init.shared.b64 [m], 1;",
        "mbarrier.arrive.shared.b64 _, [o];",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [a], [b], 64, [o];",
        "call helper;",
    ):
        assert not told(PRODUCT, COMMIT, wait("0"), LOAD, other), other
    assert not told(PRODUCT, COMMIT, wait("0", place="[unknown]".strip("[]")), LOAD)


def test_a_wait_for_another_mbarrier_is_not_judged() -> None:
    assert not told(PRODUCT, COMMIT, wait("0", place="o"), LOAD)
    assert told(PRODUCT, COMMIT, wait("0", place="o"), wait("0", label="V"), LOAD)
