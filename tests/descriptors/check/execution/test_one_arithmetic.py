"""Two readings of the integer instructions hold each other: bits that are known of a result, and the exact result.

The first folds what is known in part and is slow, the second is what a run computes lane by lane. Whatever values fit
what is known of the operands, the exact result fits what is known of the result; of constants it is the result. A third
reading, which judges the first, shares no line with either: ``ptx_interpreter``.
"""

from __future__ import annotations

import random
from itertools import product

import pytest
from seeds import seed_of_this_run

from descriptors.check.ptx import known_results
from descriptors.check.ptx.integer_instructions import Computation, decode, exact
from descriptors.check.ptx.known_bits import ALL, Known


def rule(opcode: str) -> known_results.Rule | None:
    """What is known of the result of an opcode; None where that is nothing."""
    decoded = decode(opcode)
    return None if decoded is None else known_results.rule(decoded)


def operation(opcode: str) -> Computation | None:
    """The exact result of an opcode; None where it is none of integers."""
    decoded = decode(opcode)
    return None if decoded is None else exact(decoded)


TYPES = [f"{letter}{bits}" for letter, bits in product("bus", (8, 16, 32, 64))] + ["pred"]
#: Instructions by the number of their operands, as both are asked for with each type.
NAMES = {
    1: "mov cvta not cnot neg abs popc clz brev bfind bfind.shiftamt".split()
    + [f"cvt.{to}" for to in TYPES if to[0] in "us"],
    2: "add sub mul.lo mul.hi mul.wide div rem min max and or xor shl shr".split(),
    3: "mad.lo mad.hi mad.wide selp bfe prmt shf.l.wrap shf.l.clamp shf.r.wrap shf.r.clamp".split(),
    4: "bfi lop3".split(),
}
OPCODES = {f"{name}.{kind}": many for many, names in NAMES.items() for name in names for kind in TYPES}
BOTH = {opcode: many for opcode, many in OPCODES.items() if rule(opcode) and operation(opcode)}
#: Operands at which something changes.
CORNERS = (0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 1 << 15, 1 << 31, 1 << 63)


def drawn(draw: random.Random) -> int:
    value = draw.choice([draw.choice(CORNERS), draw.getrandbits(5), draw.getrandbits(16), draw.getrandbits(64)])
    return draw.choice([value, ~value]) & ALL


def partly(draw: random.Random, value: int) -> Known:
    """What may be known of a value: all, most, or some of its bits."""
    mask = draw.choice([ALL, ALL & ~draw.getrandbits(4), ALL & ~(1 << draw.randrange(64)), draw.getrandbits(64)])
    return Known(value & mask, mask)


@pytest.mark.parametrize("opcode", BOTH)
def test_the_exact_result_is_within_what_is_known_of_it(opcode: str) -> None:
    draw = random.Random(f"{seed_of_this_run()} {opcode}")
    known, computed = rule(opcode), operation(opcode)
    assert known and computed
    complete = 0
    for _ in range(120):
        values = [drawn(draw) for _ in range(BOTH[opcode])]
        if opcode.startswith("selp"):
            values[2] &= 1
        if opcode.startswith(("bfe", "bfi")) and draw.randrange(8):
            values[-2:] = [value & 0xFF for value in values[-2:]]
        result = computed(*values)
        folded = known([Known(value, ALL) for value in values])
        complete += folded.mask == ALL
        for one in (folded, known([partly(draw, value) for value in values])):
            assert result is None or result & one.mask == one.value, (values, one)
            assert result is not None or one.mask != ALL, values
    assert complete > 60


@pytest.mark.parametrize("how", "eq ne lt le gt ge lo ls hi hs".split())
@pytest.mark.parametrize("kind", TYPES[:-1])
def test_a_comparison_holds_where_it_is_known_to(how: str, kind: str) -> None:
    opcode = f"setp.{how}.{kind}"
    known, computed = rule(opcode), operation(opcode)
    assert bool(known) == bool(computed)
    draw = random.Random(f"{seed_of_this_run()} {opcode}")
    for _ in range(60 if known else 0):
        values = [drawn(draw), drawn(draw)]
        values[1] = draw.choice([values[0], values[1]])
        assert known and computed
        assert known([Known(value, ALL) for value in values]).constant(1) == computed(*values), values
        one = known([partly(draw, value) for value in values])
        assert computed(*values) & one.mask == one.value, values


def test_what_is_folded_is_executed() -> None:
    """The other way there are instructions that are executed alone: nothing would be gained by folding them."""
    assert {opcode for opcode in OPCODES if rule(opcode) and not operation(opcode)} == set()
    assert len(BOTH) > 150


@pytest.mark.parametrize("opcode", ["shf.b32", "shf.l.b32", "mul.u32", "bfe", "cvt", "prmt.b32.f4e", "lop3.and.b32"])
def test_what_no_instruction_is_has_no_operation(opcode: str) -> None:
    assert operation(opcode) is None
