"""Which threads run an instruction, against each way in which compilers and people write an election."""

from __future__ import annotations

import pytest

from descriptors.check.inspection import check_ptx
from descriptors.check.paths import path_undecided
from descriptors.check.ptx.constant_folding import fold, observed
from descriptors.check.ptx.control_flow import blocks
from descriptors.check.ptx.ptx_module import parse
from descriptors.check.threads import Threads

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


#: Opcodes, and how a judge computes them of two signed numbers of 32 bits.
COMPUTED = {
    "shr.s32": lambda a, b: a >> b,
    "min.s32": min,
    "max.s32": max,
    "div.s32": lambda a, b: int(a / b),
    "rem.s32": lambda a, b: a - int(a / b) * b,
    "mul.hi.s32": lambda a, b: a * b >> 32,
    "mul.wide.s32": lambda a, b: a * b,
    "sub.s32": lambda a, b: a - b,
}


@pytest.mark.parametrize("opcode", COMPUTED)
def test_a_number_that_is_made_of_that_of_a_thread_is_what_the_thread_has(opcode: str) -> None:
    body = (
        f"mov.u32 t, %tid.x; sub.s32 a, t, 40; {opcode} b, a, 3; cvt.s64.s32 c, b; setp.lt.s64 p, c, -2; @p ret; ret;"
    )
    function = parse(f".version 8.8\n.entry k() .reqntid 64 {{ {body} }}").functions[0]
    threads, last = Threads(function, blocks(function)), len(function.code) - 1
    results = [COMPUTED[opcode](thread - 40, 3) for thread in range(64)]
    bits = 64 if "wide" in opcode else 32
    assert threads.value("b", last) == tuple(result & (1 << bits) - 1 for result in results)
    assert threads.value("p", last) == tuple(int(result < -2) for result in results)


def test_a_predicate_of_a_thread_and_one_that_is_not_known_differ_from_thread_to_thread() -> None:
    body = "mov.u32 t, %tid.x; setp.lt.u32 a, t, 5; ld.param.u32 m, [z]; setp.ne.u32 b, m, 0; xor.pred p, a, b;"
    function = parse(f".version 8.8\n.entry k() .reqntid 64 {{ {body} @p ret; ret; }}").functions[0]
    assert set(Threads(function, blocks(function)).value("p", len(function.code) - 2)) == {"open"}
