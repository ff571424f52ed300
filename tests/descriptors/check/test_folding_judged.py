"""What is folded out of drawn programs is what a thread computes, by an interpreter that shares no code with it."""

from __future__ import annotations

import pytest
from folding import judged
from ptx_interpreter import Program, Thread
from ptx_programs import text
from seeds import seed_of_this_run

from descriptors.check.ptx.ptx_module import parse


@pytest.mark.parametrize("length", [12, 40])
def test_every_bit_that_is_known_is_what_a_thread_has(length: int) -> None:
    probes = telling = constant = 0
    for case in range(12):
        found = judged((seed_of_this_run(), case), length)
        assert not found.wrong, (case, found.wrong)
        probes, telling, constant = probes + found.probes, telling + found.telling, constant + found.constant
    assert telling > probes // 8 and constant > probes // 20  # somebody looked


def test_drawn_programs_are_read_whole() -> None:
    for case in range(20):
        made = text((seed_of_this_run(), case))
        (entry,) = (one for one in parse(made).functions if one.entry)
        assert all(entry.classes.get(name) for one in entry.code for name in one.operands if str(name).startswith("%r"))


def registers(body: str) -> dict[str, int]:
    """What the interpreter leaves in the registers of a body."""
    import random

    found: dict[str, int] = {}

    def watch(_: int, thread: Thread) -> None:
        for name, cell in thread.program.lines[-1].scopes[0].items():
            if isinstance(cell, list):
                found[name] = cell[1]

    Thread(Program(f".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h<9>; {body} ret;"), random.Random(1), {}, {}).run(
        99, watch
    )
    return found


@pytest.mark.parametrize(
    ("instruction", "value"),
    [
        # the examples of the manual, and what an assembler makes of the same lines
        ("mov.b32 %r1, 0x1122338f; cvt.s8.s32 %r0, %r1", 0xFFFFFF8F),
        ("mov.b32 %r1, 0x1122338f; cvt.u8.s32 %r0, %r1", 0x8F),
        ("mov.b32 %r1, 0x12345678; mov.b32 %r2, 0x9abcdef0; shf.l.wrap.b32 %r0, %r1, %r2, 36", 0xABCDEF01),
        ("mov.b32 %r1, 0x12345678; mov.b32 %r2, 0x9abcdef0; shf.r.clamp.b32 %r0, %r1, %r2, 36", 0x9ABCDEF0),
        ("mov.b32 %r1, 0x12345678; mov.b32 %r2, -1; shl.b32 %r0, %r1, %r2", 0),
        ("mov.b32 %r1, 0x44332211; prmt.b32 %r0, %r1, 0x77665588, 0xc530", 0xFF554411),
        ("lop3.b32 %r0, 0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0x80", 0xC000C000),
        ("bfe.s32 %r0, 0x00000f80, 7, 5", 0xFFFFFFFF),
        ("bfi.b32 %r0, 0xff, 0, 28, 8", 0xF0000000),
        ("mov.b32 %r1, -7; rem.s32 %r0, %r1, 4", 0xFFFFFFFD),
        ("add.sat.s32 %r0, 0x7fffffff, 1", 0x7FFFFFFF),
    ],
)
def test_the_judge_computes_what_is_known_otherwise(instruction: str, value: int) -> None:
    assert registers(f"{instruction};")["%r0"] == value
