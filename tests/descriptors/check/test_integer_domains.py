"""Every operation of the table of integer instructions, in every domain, against an interpreter that shares no code.

The exact meaning is compared with ``ptx_interpreter``, at the widths of PTX and at small ones, where operands are
enumerated. Each domain is then compared with the exact meaning: what it says of a result must be so for all operands
that it may have been said of. A domain that says nothing of an operation is right.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import pytest
from ptx_interpreter import Program, Thread, signed
from seeds import seed_of_this_run

from descriptors.check.execution.drift import FIXED, Drift, drift_of
from descriptors.check.ptx.conditions import Condition, Conditions
from descriptors.check.ptx.control_flow import blocks
from descriptors.check.ptx.integer_instructions import TABLE, IntegerOperation, decode, exact, make_operation, width
from descriptors.check.ptx.known_bits import ALL, Known
from descriptors.check.ptx.known_results import rule
from descriptors.check.ptx.ptx_module import Instruction, parse

#: Operations without an independent definition: the address of another state space is a convention of each domain.
LEFT_OUT = {"cvta"}
#: Operations whose definition fixes the width.
ONE_WIDTH = {"prmt", "lop3", "shf"}
#: Operations of which ``drift`` follows some operands.
FOLLOWED = set("mov cvt selp add sub neg not mul mad shl shr and or xor div rem min max bfe setp".split())
SMALL = 4
OPCODES = sorted(
    ".".join(filter(None, (name, mode, kind)))
    for name, row in TABLE.items()
    for mode, kinds in row.types.items()
    for kind in kinds
    if name not in LEFT_OUT and kind != "b128"
)


def small_operations() -> Iterator[tuple[str, IntegerOperation]]:
    """Each operation and mode, on types that are so narrow that operands can be enumerated."""
    for name, row in TABLE.items():
        modes = row.types if name not in LEFT_OUT | ONE_WIDTH else {}
        for mode, kinds in modes.items():
            for kind in sorted({f"{kind[0]}{SMALL}" for kind in kinds if kind[0] in "bus"}):
                narrow = f"{mode[0]}{SMALL - 1}" if name == "cvt" and width(mode) < 32 else mode
                opcode = ".".join(filter(None, (name, narrow, kind)))
                yield opcode, make_operation(name, narrow, kind)


# The order of the sets in the table differs from worker to worker.
SMALL_OPERATIONS = dict(sorted(small_operations(), key=lambda item: item[0]))
OPERATIONS = {opcode: decode(opcode, floats=True) for opcode in OPCODES} | SMALL_OPERATIONS
#: Operands at which something changes.
CORNERS = (0, 1, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 1 << 15, 1 << 31, 1 << 63)


def judge(opcode: str, operands: int) -> Thread:
    """The interpreter, ready to execute an opcode on registers that are wider than it needs."""
    first = "%p|%q" if opcode.startswith("setp") else "%d"
    registers = ", ".join([first, *(f"%a{place}" for place in range(operands))])
    return Thread(
        Program(f".reg .b64 %d; .reg .pred %p, %q; .reg .b64 %a<4>; {opcode} {registers};"), random.Random(1), {}, {}
    )


def draw_value(draw: random.Random) -> int:
    value = draw.choice([draw.choice(CORNERS), draw.getrandbits(5), draw.getrandbits(16), draw.getrandbits(64)])
    return draw.choice([value, ~value]) & ALL


@pytest.mark.parametrize("opcode", OPERATIONS)
def test_the_exact_meaning_is_that_of_the_manual(opcode: str) -> None:
    operation, draw = OPERATIONS[opcode], random.Random(f"{seed_of_this_run()} {opcode}")
    assert operation is not None
    thread, compute = judge(opcode, operation.operands), exact(operation)
    opposite = exact(operation.opposite()) if operation.name == "setp" else None
    for _ in range(150):
        values = [draw_value(draw) for _ in range(operation.operands)]
        if operation.name == "selp":
            values[2] &= 1
        if operation.name == "setp" and draw.randrange(2):
            values[1] = values[0]
        expected = thread.results(values)
        found = None if expected is None else [compute(*values), *([opposite(*values)] if opposite else [])]
        assert found == expected and (expected is not None or compute(*values) is None), values


@pytest.mark.parametrize("opcode", [opcode for opcode, one in SMALL_OPERATIONS.items() if one.operands < 3])
def test_the_exact_meaning_at_a_small_width_is_that_of_the_manual_for_all_operands(opcode: str) -> None:
    operation = SMALL_OPERATIONS[opcode]
    thread, compute = judge(opcode, operation.operands), exact(operation)
    for values in product(range(1 << SMALL), repeat=operation.operands):
        expected = thread.results(list(values))
        assert compute(*values) == (expected and expected[0]), values


# -- known bits


def possible(one: Known, bits: int) -> list[int]:
    """Every value that an operand may have, which has only so many bits."""
    free = [1 << bit for bit in range(bits) if not one.mask >> bit & 1]
    return [one.value + sum(chosen) for chosen in product(*((0, bit) for bit in free))]


def draw_known(draw: random.Random, bits: int) -> Known:
    mask = ALL & ~draw.choice([0, draw.getrandbits(bits), 1 << draw.randrange(bits), draw.getrandbits(bits)])
    return Known(draw.getrandbits(bits) & mask, mask)


def drawn_operands(operation: IntegerOperation, draw: random.Random) -> list[Known]:
    """Operands of few unknown bits, those that control a rearrangement as often known as not."""
    operands, rearranged = [], operation.row.rearranged
    for place in range(operation.operands):
        bits = 1 if (operation.name, place) in (("selp", 2), ("setp", 2)) else SMALL
        known = draw_known(draw, bits)
        if rearranged and place >= rearranged and draw.randrange(2):
            known = Known(known.value, ALL)
        operands.append(known)
    return operands


@pytest.mark.parametrize("opcode", SMALL_OPERATIONS)
def test_known_bits_are_those_of_all_results(opcode: str) -> None:
    operation, draw = SMALL_OPERATIONS[opcode], random.Random(f"{seed_of_this_run()} {opcode}")
    known, compute, row = rule(operation), exact(operation), operation.row
    assert known is not None
    for _ in range(60):
        operands = drawn_operands(operation, draw)
        results = {compute(*values) for values in product(*(possible(one, SMALL) for one in operands))}
        found = known(operands)
        assert all(result is None or result & found.mask == found.value for result in results), operands
        if None not in results and len(results) == 1 and all(one.mask == ALL for one in operands):
            assert found == Known(results.pop(), ALL), operands
        elif row.rearranged and all(one.mask == ALL for one in operands[row.rearranged :]):
            least, most = ALL, 0
            for result in results:
                least, most = least & (result or 0), most | (result or 0)
            assert found.mask == ALL & ~(least ^ most), operands  # as sharp as bits can be


@pytest.mark.parametrize("opcode", [opcode for opcode in OPCODES if opcode.split(".")[0] in ONE_WIDTH])
def test_known_bits_at_a_fixed_width_are_those_of_the_results(opcode: str) -> None:
    operation, draw = decode(opcode), random.Random(f"{seed_of_this_run()} {opcode}")
    assert operation is not None
    known, compute = rule(operation), exact(operation)
    assert known is not None
    for _ in range(60):
        masks = [draw.choice([ALL, draw.getrandbits(64), ALL & ~(1 << draw.randrange(32))]) for _ in "ab"]
        masks += [ALL] * (operation.operands - 2)
        values = [
            draw.getrandbits(8) if operation.name == "lop3" and n == 3 else draw_value(draw) for n in range(len(masks))
        ]
        found = known([Known(value & mask, mask) for value, mask in zip(values, masks, strict=True)])
        for _ in range(8):
            others = [value & mask | draw.getrandbits(64) & ~mask for value, mask in zip(values, masks, strict=True)]
            result = compute(*others)
            assert result is not None and result & found.mask == found.value, (values, masks)


@pytest.mark.parametrize("opcode", [opcode for opcode, one in SMALL_OPERATIONS.items() if one.row.absorbing])
def test_an_operand_that_decides_alone_makes_zero(opcode: str) -> None:
    operation = SMALL_OPERATIONS[opcode]
    for values in product(range(1 << SMALL), repeat=operation.operands):
        assert exact(operation)(*values) == 0 or 0 not in values[: operation.row.absorbing]


# -- drift

#: How a value may move in a test, mostly by multiples of what masks and shifts leave.
MOVES = (
    FIXED,
    FIXED,
    Drift(1, 0),
    Drift(3, 3),
    Drift(8, 0),
    Drift(64, 64),
    Drift(0, 16),
    Drift(-4, 0),
    Drift(1 << 16, 0),
)


def moved(value: int, drift: Drift, periods: tuple[int, int]) -> int:
    return value + drift.past * periods[0] + drift.ahead * periods[1]


def draw_moving(operation: IntegerOperation, draw: random.Random) -> tuple[list[int], list[Drift]]:
    """Operands of which the first moves, and others may."""
    values, drifts = [], []
    for place in range(operation.operands):
        value = draw.choice([draw.randrange(9), draw.randrange(100), 1 << draw.randrange(operation.bits)])
        drift = draw.choice(MOVES) if place == 0 else draw.choice([FIXED, FIXED, drifts[0], draw.choice(MOVES)])
        if (operation.name, place) in (("selp", 2), ("setp", 2)):
            value, drift = value & 1, FIXED
        elif place and operation.name == "bfe":
            value, drift = draw.randrange(5), FIXED
        elif operation.signed and not draw.randrange(4):
            value = -value
        values.append(value)
        drifts.append(drift)
    return values, drifts


@pytest.mark.parametrize("opcode", [opcode for opcode in OPCODES if decode(opcode)])
def test_a_result_moves_as_it_is_said_to_while_nothing_overflows(opcode: str) -> None:
    operation, draw = decode(opcode), random.Random(f"{seed_of_this_run()} {opcode}")
    assert operation is not None
    compute, followed, instruction = exact(operation), 0, Instruction(1, opcode, ("d",) * (operation.operands + 1))
    room = numbers(operation.type)
    result_type = operation.mode if operation.name == "cvt" else f"{operation.type[0]}{operation.result_bits}"
    for _ in range(300):
        values, drifts = draw_moving(operation, draw)
        drift = drift_of(instruction, [value & ALL for value in values], drifts)
        first = compute(*values)
        if not isinstance(drift, Drift) or drifts == [FIXED] * len(drifts) or first is None:
            continue
        if result_type[0] == "s":
            first = signed(first, width(result_type))
        for periods in product((0, 1, 2, 5), repeat=2):
            others = [moved(value, one, periods) for value, one in zip(values, drifts, strict=True)]
            expected = moved(first, drift, periods)
            if all(value in room for value in (*values, *others)) and expected in numbers(result_type):
                followed += periods != (0, 0)
                result = compute(*others)
                assert result is not None
                assert (result - expected) % (1 << width(result_type)) == 0, (values, drifts, drift, periods)
    assert followed > 30 or operation.name not in FOLLOWED or operation.bits < 32


def numbers(kind: str) -> range:
    """The numbers of a type."""
    half = 1 << width(kind) - 1
    return range(-half, half) if kind[0] == "s" else range(2 * half)


# -- conditions


def draw_conditions(draw: random.Random) -> str:
    """A body that computes predicates from two registers, each written once."""
    lines, predicates, numbers = ["mov.u32 k0, 3;"], ["p0"], ["a", "b", "k0", "0", "3", "-1"]
    lines.append("setp.eq.s32 p0, a, b;")
    for place in range(1, 12):
        kind = draw.choice(["s32", "u32", "b32"])
        names = (
            ["eq", "ne"]
            if kind == "b32"
            else ["eq", "ne", "lt", "le", "gt", "ge", *(["lo", "ls", "hi", "hs"] if kind == "u32" else [])]
        )
        p, q = (draw.choice(["", "!"]) + draw.choice(predicates) for _ in "pq")
        x, y = (draw.choice(numbers) for _ in "xy")
        lines.append(
            draw.choice(
                [
                    f"setp.{draw.choice(names)}.{kind} p{place}, {x}, {y};",
                    f"{draw.choice(['and', 'or', 'xor'])}.pred p{place}, {p.strip('!')}, {q.strip('!')};",
                    f"not.pred p{place}, {p.strip('!')};",
                    f"selp.b32 k{place}, {draw.choice('013')}, {draw.choice('013')}, {p.strip('!')};"
                    f" setp.{draw.choice(['eq', 'ne'])}.s32 p{place}, k{place}, {draw.choice('013')};",
                    f"mov.pred p{place}, {p.strip('!')};",
                ]
            )
        )
        predicates.append(f"p{place}")
    return " ".join(lines + [f"@{name} st.shared.b32 [s], {name[1:]};" for name in predicates])


def value_of(condition: Condition, registers: dict[str, int]) -> int:
    """What a condition is where registers have values."""
    match condition:
        case ("register", name):
            return registers[name]
        case ("constant", value):
            return int(value)
        case ("not", inner):
            return 1 - value_of(inner, registers)
        case ("and", a, b):
            return value_of(a, registers) & value_of(b, registers)
        case ("or", a, b):
            return value_of(a, registers) | value_of(b, registers)
        case ("selp", a, b, chosen):
            return value_of(a if value_of(chosen, registers) else b, registers)
    test, kind, a, b = condition
    x, y = (value_of(one, registers) & 0xFFFFFFFF for one in (a, b))
    if kind[0] == "s":
        x, y = signed(x, 32), signed(y, 32)
    return int({"eq": x == y, "lt": x < y, "le": x <= y}[test])


@pytest.mark.parametrize("case", range(20))
def test_a_condition_is_what_the_predicate_is(case: int) -> None:
    draw = random.Random(f"{seed_of_this_run()} {case}")
    body = draw_conditions(draw)
    function = parse(f".version 8.8\n.entry k() {{ .reg .pred p<12>; .reg .b32 a, b, k<12>; {body} ret; }}").functions[
        0
    ]
    conditions = Conditions(function, blocks(function))
    guards = [(one.predicate, conditions.guard(index)) for index, one in enumerate(function.code) if one.predicate]
    assert len(guards) == 12
    program = Program(f".reg .pred p<12>; .reg .b32 a, b, k<12>; .shared .align 4 .b8 s[4]; {body} ret;")
    for _ in range(12):
        thread, line = Thread(program, random.Random(draw.getrandbits(32)), {}, {}), program.lines[0]
        choices = (0, 1, 3, 0xFFFFFFFF, 1 << 31, draw.getrandbits(32))
        for name in "ab":
            thread.cell(name, line)[1] = draw.choice(choices)
        thread.run(999, lambda _at, _thread: None)
        registers = {name: cell[1] for name, cell in line.scopes[0].items() if isinstance(cell, list)}
        for name, condition in guards:
            assert value_of(condition, registers) == registers[name], (name, condition, registers)


@pytest.mark.parametrize(
    "body",
    [
        "mov.b64 {a, b}, x; setp.eq.s32 p, a, b;",  # the halves of a register differ
        "setp.eq.bf16 p, h, h;",  # a number that is none is not equal to itself
    ],
)
def test_a_comparison_that_is_not_of_the_same_integers_does_not_always_hold(body: str) -> None:
    function = parse(f".version 8.8\n.entry k() {{ {body} @p ret; ret; }}").functions[0]
    assert Conditions(function, blocks(function)).guard(len(function.code) - 2)[0] != "constant"
