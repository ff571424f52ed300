"""The order of issue: every wait has who arrives for it, and tensor memory is used as its guardrails demand."""

from __future__ import annotations

from descriptors import check_events, plan
from descriptors.gemm.schedule import events, order


def test_hopper_fences_multiplies_commits_waits() -> None:
    steps = [one.what for one in order(plan("m64n64k16", "bf16", tile=(128, 64, 64), stages=2, verify=False))]
    positions = [next(i for i, one in enumerate(steps) if word in one) for word in
                 ("expect_tx", "bulk.tensor", "parity full", "wgmma.fence", "x wgmma", "commit_group", "wait_group",
                  "arrive empty")]  # fmt: skip
    assert positions == sorted(positions)


def test_blackwell_allocates_copies_multiplies_commits_waits_loads_frees() -> None:
    loop_plan = plan("m128n64k64", "e2m1", tile=(128, 64, 256), kind="mxf4", stages=2, verify=False)
    steps = [one.what for one in order(loop_plan)]
    positions = [next(i for i, one in enumerate(steps) if word in one) for word in
                 ("alloc", "parity full", "x tcgen05.cp", "x tcgen05.mma", "commit empty", "commit done", "parity done",
                  "tcgen05.ld", "wait::ld", "dealloc")]  # fmt: skip
    assert positions == sorted(positions)


def test_the_guardrails_find_nothing_and_would_find_something() -> None:
    for arguments in (
        {},
        {"tile": (128, 512, 64)},
        {"tile": (128, 256, 64), "instruction": "m64n256k16", "arch": "sm100"},
    ):
        loop_plan = plan(
            **{"instruction": "m128n256k16", "dtype": "bf16", "tile": (128, 256, 64), **arguments}, verify=False
        )
        lines = events(loop_plan)
        assert check_events(lines).ok
        assert not check_events(lines[:-1]).ok
    assert events(plan("m64n64k16", "bf16", tile=(64, 64, 64), verify=False)) == []
