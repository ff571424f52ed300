"""The known bits of the result of an integer instruction, from the known bits of its operands.

``rule`` evaluates the table of ``integer_instructions`` over known bits. If all operands are constants, the exact
meaning gives the result. An operation that only rearranges bits is evaluated with all unknown bits 0 and with all of
them 1, and the bits that agree are known. ``_REFINED`` has the operations about which more can be said: carries, the
largest value, and the distance from a base. The result of any other operation is unknown.

Operands have as many bits as their registers; a result has zeros above the width of its type, and a predicate is one
bit.

Invariant: if all operands are known, the result is known.

>>> from descriptors.check.ptx.integer_instructions import decode
>>> opcodes = "add.s32", "shr.u32", "xor.b32", "mul.wide.u16"
>>> [rule(decode(opcode))([exactly(12), exactly(3)]).value for opcode in opcodes]
[15, 1, 15, 36]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import TypeAlias

from descriptors.check.ptx.integer_instructions import Computation, IntegerOperation, exact, width
from descriptors.check.ptx.known_bits import (
    ALL,
    NOTHING,
    Known,
    add,
    below,
    both,
    differ,
    either,
    exactly,
    extend,
    largest,
    merge,
    modulo,
    multiply,
    narrow,
    shift_right,
    subtract,
)

#: A function that returns the known bits of the result from those of the operands.
Rule: TypeAlias = Callable[[Sequence[Known]], Known]
_Refinement: TypeAlias = Callable[[IntegerOperation, Sequence[Known]], Known]


@lru_cache(maxsize=4096)
def rule(operation: IntegerOperation) -> Rule | None:
    """Return the rule of an operation; None if its result is unknown for all operands.

    >>> from descriptors.check.ptx.integer_instructions import decode
    >>> rule(decode("shf.l.wrap.b32"))([Known(0x80000000, ALL), NOTHING, exactly(1)]).mask & 3
    1
    """
    if operation.name == "cvta" or operation.mask > ALL:  # the bits of a generic address are not known
        return None
    refined = _REFINED.get(operation.name, _evaluate_extremes if operation.row.rearranged else _unknown)
    return partial(_result, operation, exact(operation), refined)


def _result(
    operation: IntegerOperation, compute: Computation, refined: _Refinement, operands: Sequence[Known]
) -> Known:
    if len(operands) != operation.operands:
        return NOTHING
    if all(operand.mask == ALL for operand in operands):
        result = compute(*[operand.value for operand in operands])
        return NOTHING if result is None else Known(result, ALL)
    return refined(operation, operands)


def _unknown(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    return NOTHING


def _evaluate_extremes(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    """Evaluate an operation that rearranges bits at the extremes of its unknown bits.

    A bit of the result depends on at most one bit of each operand, so that the extremes show all its values.
    """
    compute, count = exact(operation), operation.row.rearranged
    controls = [operand.constant(32) for operand in operands[count:]]
    if None in controls:
        return NOTHING
    extremes = [{operand.value, operand.value | ALL & ~operand.mask} for operand in operands[:count]]
    least, most = ALL, 0
    for values in product(*extremes):
        result = compute(*values, *controls)
        if result is None:
            return NOTHING
        least, most = least & result, most | result
    mask = ALL & ~(least ^ most)
    return Known(least & mask, mask)


def _binary_rule(combine: Callable[[Known, Known, int], Known]) -> _Refinement:
    """Return the rule of an operation of two operands that have the width of the type."""

    def refined(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
        return combine(*_narrow_two(operation, operands), operation.bits)

    return refined


def _negate(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    return subtract(exactly(0), narrow(operands[0], operation.bits), operation.bits)


def _absolute(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    operand, sign = narrow(operands[0], operation.bits), 1 << (operation.bits - 1)
    if not operand.mask & sign:
        return NOTHING
    return subtract(exactly(0), operand, operation.bits) if operand.value & sign else operand


def _copy(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    return narrow(operands[0], operation.bits)


def _convert(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    """Convert between integers; a signed result is extended to the widest register."""
    operand, bits = operands[0], width(operation.mode)
    operand = extend(operand, operation.bits, 64) if operation.signed else narrow(operand, operation.bits)
    return extend(operand, bits, 64) if operation.mode[0] == "s" else narrow(operand, bits)


def _select(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    a, b = _narrow_two(operation, operands)
    chosen = operands[2].constant(1)
    return merge([a, b]) if chosen is None else a if chosen else b


def _shift_right(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    amount, operand = operands[1].constant(32), narrow(operands[0], operation.bits)
    if amount is None:
        return NOTHING if operation.signed else below(largest(operand))
    if operation.signed and not operand.mask & ~operand.value & 1 << (operation.bits - 1):
        return _evaluate_extremes(operation, operands)
    return shift_right(operand, amount, operation.bits)


def _multiply(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    a, b = _narrow_two(operation, operands)
    if operation.mode == "lo":
        return multiply(a, b, operation.bits)
    if operation.mode == "hi":
        return NOTHING if operation.signed else below(largest(a) * largest(b) >> operation.bits)
    bits = 2 * operation.bits
    if operation.signed:
        a, b = (narrow(extend(factor, operation.bits, bits), bits) for factor in (a, b))
    return multiply(a, b, bits)


def _multiply_add(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    product_rule = rule(operation._replace(name="mul"))
    return NOTHING if product_rule is None else add(product_rule(operands[:2]), operands[2], operation.result_bits)


def _divide(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    """Divide by a number that is not 0, if no operand is negative."""
    a, b = _narrow_two(operation, operands)
    sign = 1 << (operation.bits - 1) if operation.signed else 0
    if (a.value | ~a.mask | b.value | ~b.mask) & sign or not b.value:
        return NOTHING
    is_quotient, power = operation.name == "div", b.mask == ALL and b.value & (b.value - 1) == 0
    if power and is_quotient:
        return shift_right(a, b.value.bit_length() - 1, operation.bits)
    if power:
        return both(a, exactly(b.value - 1), operation.bits)
    return below(largest(a) // b.value if is_quotient else min(largest(a), largest(b) - 1))


def _extreme(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    a, b = _narrow_two(operation, operands)
    is_less = _holds(operation, "lt", a, b)
    return merge([a, b]) if is_less is None else a if is_less == (operation.name == "min") else b


def _extract(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    """Extract a field; an unsigned one keeps its distance from a base, modulo its length."""
    position, length = operands[1].constant(32), operands[2].constant(32)
    if operation.signed or position is None or not length or max(position, length) > 255:
        return _evaluate_extremes(operation, operands)
    field = shift_right(narrow(operands[0], operation.bits), position, operation.bits)
    return modulo(field, length) if length < operation.bits else field


def _count_ones(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    return below(largest(narrow(operands[0], operation.bits)).bit_count())


def _count_zeros(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    return below(operation.bits - narrow(operands[0], operation.bits).value.bit_length())


def _compare(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    holds = _holds(operation, operation.mode, *_narrow_two(operation, operands))
    result = below(1) if holds is None else exactly(holds)
    return _JOINED[operation.logic](result, narrow(operands[2], 1), 1) if operation.logic else result


def _narrow_two(operation: IntegerOperation, operands: Sequence[Known]) -> tuple[Known, Known]:
    return narrow(operands[0], operation.bits), narrow(operands[1], operation.bits)


def _holds(operation: IntegerOperation, comparison: str, a: Known, b: Known) -> bool | None:
    """Return whether a comparison holds; None if it may and may not."""
    if comparison in ("eq", "ne"):
        if (a.value ^ b.value) & a.mask & b.mask:
            return comparison == "ne"
        return comparison == "eq" if a.mask == b.mask == ALL else None
    if comparison in ("gt", "le"):
        a, b = b, a
    # now compute whether a is less; for ge and le the result is negated below
    low, most = _range(operation, a)
    least, high = _range(operation, b)
    is_less = True if most < least else False if low >= high else None
    return is_less if comparison in ("lt", "gt") or is_less is None else not is_less


def _range(operation: IntegerOperation, operand: Known) -> tuple[int, int]:
    """Return the least and the largest number that a value may be."""
    free, sign = ALL & ~operand.mask, 1 << (operation.bits - 1)
    if not operation.signed:
        return operand.value, operand.value | free
    least, most = (operand.value | free & sign), (operand.value | free & ~sign)
    return (least ^ sign) - sign, (most ^ sign) - sign


_JOINED = {"and": both, "or": either, "xor": differ}

_REFINED: dict[str, _Refinement] = {
    "mov": _copy,
    "cvt": _convert,
    "selp": _select,
    "add": _binary_rule(add),
    "sub": _binary_rule(subtract),
    "neg": _negate,
    "abs": _absolute,
    "mul": _multiply,
    "mad": _multiply_add,
    "div": _divide,
    "rem": _divide,
    "min": _extreme,
    "max": _extreme,
    "and": _binary_rule(both),
    "or": _binary_rule(either),
    "shr": _shift_right,
    "bfe": _extract,
    "popc": _count_ones,
    "clz": _count_zeros,
    "setp": _compare,
}
