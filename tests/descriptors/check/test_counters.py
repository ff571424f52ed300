"""Counters against the loop that they count, run; and what is no counter."""

from __future__ import annotations

import pytest

from descriptors.check.ptx.constant_folding import fold
from descriptors.check.ptx.ptx_module import parse

LOOP = "mov.u32 %z, {start}; mov.u32 %s, %z; L: st.use %s; add.s32 %t, %s, {by}; {test} {select} bra L;"


def known(body: str) -> tuple[int, int]:
    function = parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]
    index = next(i for i, one in enumerate(function.code) if one.opcode == "st.use")
    found = fold(function, {}, [index])[index]["%s"]
    return found.value, found.mask & 0xFFFF


@pytest.mark.parametrize(
    ("start", "by", "test", "select", "values"),
    [
        (0, 1, "setp.gt.s32 %p, %t, 2;", "selp.b32 %s, 0, %t, %p;", {0, 1, 2}),
        (0, 1, "setp.eq.s32 %p, %t, 4;", "selp.b32 %s, 0, %t, %p;", {0, 1, 2, 3}),
        (8, 8, "setp.lt.u32 %p, %t, 64;", "selp.b32 %s, %t, 8, %p;", set(range(8, 64, 8))),
        (0, 2, "setp.eq.s32 %p, %t, 6;", "selp.b32 %s, 0, %t, %p;", {0, 2, 4}),
        (3, 1, "setp.ge.s32 %p, %t, 4;", "selp.b32 %s, 1, %t, %p;", {3, 1, 2}),
    ],
)
def test_a_counter_is_known_as_far_as_its_values_agree(
    start: int, by: int, test: str, select: str, values: set[int]
) -> None:
    value, mask = known(LOOP.format(start=start, by=by, test=test, select=select))
    agreed = [bit for bit in range(16) if len({n >> bit & 1 for n in values}) == 1]
    assert [bit for bit in range(16) if mask >> bit & 1] == agreed
    assert all(n & mask == value for n in values)


@pytest.mark.parametrize(
    "body",
    [
        LOOP.format(start=0, by=1, test="setp.gt.s32 %p, %t, %n;", select="selp.b32 %s, 0, %t, %p;"),
        LOOP.format(start=0, by=1, test="setp.gt.s32 %p, %t, 1000;", select="selp.b32 %s, 0, %t, %p;"),
        LOOP.format(start=0, by=-1, test="setp.gt.s32 %p, %t, 2;", select="selp.b32 %s, 0, %t, %p;"),
        LOOP.format(start="%n", by=1, test="setp.gt.s32 %p, %t, 2;", select="selp.b32 %s, 0, %t, %p;"),
        LOOP.format(start=0, by=1, test="setp.gt.s32 %p, %n, 2;", select="selp.b32 %s, 0, %t, %p;"),
    ],
)
def test_what_is_no_counter_is_not_known(body: str) -> None:
    assert known(body) == (0, 0)


def test_a_counter_under_a_guard_has_the_values_of_one_without() -> None:
    select = "@%q selp.b32 %s, 0, %t, %p;"
    assert known(LOOP.format(start=0, by=1, test="setp.gt.s32 %p, %t, 2;", select=select)) == (0, 0xFFFC)
