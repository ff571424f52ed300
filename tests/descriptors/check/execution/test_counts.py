"""What is said of all counts of rounds, held against runs of each count: where larger ones are said to follow, none of
them hangs or races, and where a count is wrong that nobody would try, it is told or nothing is said of all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random

import pytest
from ring_kernels import ring_sm90, ring_sm100

from descriptors import check_ptx
from descriptors.check.execution.configuration import Configuration
from descriptors.check.execution.drift import FIXED, Drift, Moving, drift_of
from descriptors.check.execution.evidence import witnesses
from descriptors.check.execution.program import program
from descriptors.check.execution.runs import run, trials
from descriptors.check.kernel_report import Report
from descriptors.check.ptx.integer_instructions import decode, exact
from descriptors.check.ptx.ptx_module import Instruction, parse

#: Rounds up to which every count is run alone.
MOST = 25
FOLLOWS = re.compile(
    r"valid for every multiple of (\d+) of k_param_0(?: from (\d+) on)? \(behavior repeats every(?: (\d+))? iteration"
)


def follows(report: Report) -> tuple[int, int, int] | None:
    """The step, the first value and the rounds of a period, where a report says that all larger values follow."""
    found = FOLLOWS.search(" ".join(report.notes))
    return (int(found[1]), int(found[2] or found[1]), int(found[3] or 1)) if found else None


def wrong(text: str, counts: range) -> list[int]:
    """The counts of rounds at which a kernel hangs, races or does not come to its end, each run alone."""
    made = program(parse(text).functions[0])
    launch = trials(made, text, Configuration())[0][0].launch._replace(sizes={})
    runs = {count: run(made, launch._replace(size=64 * count)) for count in counts}
    return [count for count, one in runs.items() if one.stop is not None or any(witnesses(one))]


@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("ring", [ring_sm90, ring_sm100])
def test_a_right_ring_is_right_at_every_count_and_a_period_is_two_turns_of_the_ring(ring: object, stages: int) -> None:
    text = ring(stages)  # type: ignore[operator]
    assert follows(check_ptx(text)) == (64, 64, 2 * stages)
    assert wrong(text, range(1, 4 * stages + 2)) == []  # two periods and a round


@pytest.mark.exhaustive
@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("ring", [ring_sm90, ring_sm100])
def test_a_right_ring_is_right_at_every_count(ring: object, stages: int) -> None:
    assert wrong(ring(stages), range(1, MOST)) == []  # type: ignore[operator]


LOOP = "PRODUCE: setp.ge.u32 pd, k, n;"
SLOT = "@!pw bra SLOT;"
BEGIN = "CONSUMER: mov.u32 parity, 0;"

#: What is put for what, and at which counts of rounds the ring of three is wrong by it.
SPOILT = {
    "the producer makes a round more": ((LOOP, "PRODUCE: setp.gt.u32 pd, k, n;"), set()),
    "the consumer makes a round more": (
        ("CONSUME: setp.ge.u32 pd, k, n;", "CONSUME: setp.gt.u32 pd, k, n;"), set(range(1, MOST)),
    ),
    "one count alone makes one arrival less": (
        ("CONSUME: setp.ge.u32 pd, k, n;", "CONSUME: setp.eq.u32 pd, n, 5;\n@pd bra STORE;\nsetp.ge.u32 pd, k, n;"),
        {5},
    ),
    "no slot is waited for from round 21 on": (
        (SLOT, f"setp.gt.u32 pi, k, 20;\nor.pred pw, pw, pi;\n{SLOT}"), set(range(22, MOST)),
    ),
    "counts that are no multiple of the stages lack a round": (
        (BEGIN, f"{BEGIN}\nrem.u32 r, n, 3;\nsetp.ne.u32 pi, r, 0;\n@pi add.u32 n, n, 1;"),
        {n for n in range(1, MOST) if n % 3},
    ),
    "a round less of the producer at one count": (
        (LOOP, f"setp.eq.u32 pd, n, 23;\n@pd sub.u32 n, n, 1;\n{LOOP}"), {23},
    ),
    "the producer rounds up where the consumer rounds down": (
        (BEGIN, f"{BEGIN}\nadd.u32 n, n, 1;\nshr.u32 n, n, 1;\nshl.b32 n, n, 1;"),
        {n for n in range(1, MOST) if n % 2},
    ),
    "the consumer is bounded by another product": (
        (BEGIN, f"{BEGIN}\nmul.hi.u32 n, n, 0x40000000;\nshl.b32 n, n, 2;"),
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILT)
def test_what_is_said_of_all_counts_holds_at_each(name: str) -> None:
    (old, new), counts = SPOILT[name]
    right = ring_sm90()
    assert right.count(old) == 1
    text = right.replace(old, new)
    at = set(wrong(text, range(1, MOST)))
    assert counts is None or at == counts
    report = check_ptx(text)
    told = follows(report)
    if told is not None:
        step, start, _ = told
        assert not at & set(range(start // 64, MOST, step // 64))
    if any(count * 64 in (256, 448, 1024) for count in at) or name.startswith("one count"):
        assert report.errors
    if not at:  # a copy may be in flight at the end
        assert {row.property for row in report.properties if row.verdict == "incomplete"} <= {"reuse"}


def test_a_parameter_that_is_said_is_followed_no_further() -> None:
    assert not FOLLOWS.search(" ".join(check_ptx(ring_sm90(2), parameters={"k_param_0": 320}).notes))


def test_larger_values_follow_from_where_nothing_is_wrong_any_more() -> None:
    """With one round the consumer waits for a second that nobody copies."""
    text = ring_sm90(2).replace("CONSUMER: mov.u32 parity, 0;", "CONSUMER: mov.u32 parity, 0;\nmax.u32 n, n, 2;")
    assert wrong(text, range(1, 12)) == [1]
    report = check_ptx(text)
    assert follows(report) == (64, 128, 4)
    assert {one.property for one in report.undecided} >= {"barriers"}


#: Divisions as compilers write them: of what, by what, and the instructions, each of what came before it.
DIVISIONS: dict[str, tuple[int, list[tuple[str, int | str, int | str]]]] = {
    "3, unsigned": (3, [("mul.hi.u32", "x", 0xAAAAAAAB), ("shr.u32", "", 1)]),
    "3, signed": (3, [("mul.hi.s32", "x", 0x55555556)]),
    "5, unsigned": (5, [("mul.hi.u32", "x", 0xCCCCCCCD), ("shr.u32", "", 2)]),
    "5, signed": (5, [("mul.hi.s32", "x", 0x66666667), ("shr.s32", "", 1)]),
    "7, signed": (7, [("mul.hi.s32", "x", 0x92492493), ("add.s32", "", "x"), ("shr.s32", "", 2)]),
    "6, in 64 bits": (6, [("mul.wide.u32", "x", 0xAAAAAAAB), ("shr.u64", "", 34)]),
    "3, of 16 bits": (3, [("cvt.u16.u32", "x", ""), ("mul.wide.u16", "", -21845), ("shr.u32", "", 17)]),
    "no division": (3, [("mul.hi.u32", "x", 0x55555555)]),
}


def steps(rows: Sequence[tuple[str, int | str, int | str]], x: int, drift: Moving) -> Iterator[tuple[int, Moving]]:
    """What each instruction makes of a number, and how that is said to move."""
    value, moving = x, drift
    for opcode, first, second in rows:
        pairs = [
            (x, drift) if one == "x" else (value, moving) if one == "" else (one, FIXED) for one in (first, second)
        ]
        pairs = pairs[: 1 if opcode.startswith("cvt") else 2]
        values, drifts = [one for one, _ in pairs], [one for _, one in pairs]
        moving = drift_of(Instruction(1, opcode, ("d", *"ab"[: len(pairs)])), values, drifts)
        value = exact(decode(opcode))(*values)
        yield value, moving


@pytest.mark.parametrize("name", DIVISIONS)
def test_a_division_by_a_constant_moves_by_whole_numbers_where_periods_are_multiples_of_it(name: str) -> None:
    divisor, rows = DIVISIONS[name]
    room, random = 1 << (15 if "16" in name else 31), Random(7)
    followed = 0
    for x in range(2 * divisor):
        for by in (divisor, 4 * divisor, divisor + 1):
            *_, (value, moving) = steps(rows, x, Drift(by, 0))
            if not isinstance(moving, Drift):
                continue
            followed += by % divisor == 0
            most = (room - 1 - x) // by
            for many in {*range(min(most, 9)), most, *(random.randrange(most) for _ in range(20))}:
                *_, (other, _) = steps(rows, x + by * many, FIXED)
                assert other - value == moving.past * many, (x, by, many)
    assert followed == (0 if name == "no division" else 4 * divisor)


@pytest.mark.parametrize(("lanes", "drift"), [((3, 3), FIXED), ((-5, 3), None), ((3, -5), None), ((-5, -5), None)])
def test_the_sign_of_a_value_is_fixed_if_no_lane_changes_it(lanes: tuple[int, ...], drift: Moving) -> None:
    sign = Instruction(1, "shr.s32", ("d", "a", "b"))
    for bits in (32, 64):
        value = tuple(number & ((1 << bits) - 1) for number in lanes)
        assert drift_of(sign, [value, 31], [Drift(6, 0), FIXED]) == drift
