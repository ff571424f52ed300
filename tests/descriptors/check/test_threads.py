"""Which threads run an instruction, against each way in which compilers and people write an election."""

from __future__ import annotations

import pytest

from descriptors.check.inspection import check_ptx
from descriptors.check.paths import path_undecided
from descriptors.check.ptx.constant_folding import fold, observed
from descriptors.check.ptx.ptx_module import parse

MMA = "tcgen05.mma.cta_group::1.kind::f16 [t], x, y, i, 0;"
WAIT = "tcgen05.wait::ld.sync.aligned;"
ELECT = "elect.sync _|p, -1;"
AS_A_NUMBER = (
    "mov.b32 n, 0; {{ .reg .b32 rx; .reg .pred px; elect.sync rx|px, -1; @px mov.s32 n, 1; }} setp.ne.s32 p, n, 0;"
)


def told(body: str, head: str = ".reqntid 128") -> list[str]:
    text = f".version 8.8\n.target sm_100a\n.entry k() {head} {{\n{body}\nret; }}\n"
    names = [one.rule.name for one in check_ptx(text).errors]
    function = parse(text).functions[0]
    left = path_undecided(function, fold(function, {}, observed(function)), {})
    issue = [one for one in left if "thread" in one[2]]
    return [name for name in names if name.endswith(("elect", "aligned"))] + ["open"] * len(issue)


@pytest.mark.parametrize(
    "chosen",
    [
        ELECT,
        AS_A_NUMBER.replace("{{", "{").replace("}}", "}"),
        "mov.u32 n, %tid.x; setp.eq.u32 p, n, 0;",
        "mov.u32 n, %tid.x; and.b32 n2, n, 31; setp.eq.u32 p, n2, 5;",
        "mov.u32 n, %laneid; setp.lt.u32 p, n, 1;",
        f"{ELECT} mov.u32 n, %tid.x; setp.lt.u32 w, n, 32; and.pred p0, p, w; and.pred p, p0, w;".replace(
            "_|p,", "_|pe,"
        ).replace("p0, p,", "p0, pe,"),
        "ld.param.u32 m, [z]; setp.ne.u32 q, m, 0; elect.sync _|e, -1; and.pred p, q, e;",
    ],
)
def test_one_thread_may_multiply_and_a_warp_may_not_wait_in_it(chosen: str) -> None:
    assert told(f"{chosen} @p {MMA}") == []
    assert told(f"{chosen} @!p bra L; {MMA} L:") == []
    assert told(f"{chosen} @p {WAIT}") == ["tcgen05-aligned"]


@pytest.mark.parametrize(
    "chosen",
    [
        "mov.u32 n, %tid.x; setp.lt.u32 p, n, 32;",
        "mov.u32 n, %tid.x; shr.u32 m, n, 5; shfl.sync.idx.b32 w, m, 0, 31, -1; setp.eq.u32 p, w, 2;",
        "ld.param.u32 n, [z]; setp.ne.u32 p, n, 0;",
    ],
)
def test_a_warp_may_wait_and_not_multiply(chosen: str) -> None:
    assert told(f"{chosen} @p {MMA}") == ["tcgen05-elect"]
    assert told(f"{chosen} @p {WAIT}") == []


def test_what_is_not_traced_is_left_open() -> None:
    chosen = "mov.u32 n, %tid.x; ld.shared.u32 m, [n]; setp.eq.u32 p, m, 0;"
    assert told(f"{chosen} @p {MMA}") == ["open"] == told(f"{chosen} @p {WAIT}")


def test_a_warpgroup_must_not_be_parted() -> None:
    fence = "wgmma.fence.sync.aligned;"
    assert told(f"mov.u32 n, %tid.x; setp.lt.u32 p, n, 128; @p {fence}", ".reqntid 256") == []
    assert told(f"mov.u32 n, %tid.x; setp.lt.u32 p, n, 64; @p {fence}", ".reqntid 256") == ["wgmma-aligned"]
    assert told(f"{ELECT} @p {fence}") == ["wgmma-aligned"]
