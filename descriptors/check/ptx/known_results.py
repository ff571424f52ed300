"""The known bits of the result of an integer instruction, from the known bits of its operands.

``rule`` evaluates the table of ``integer_instructions`` over known bits. If all operands are constants, the exact
meaning gives the result. An operation that only rearranges bits is evaluated with all unknown bits 0 and with all of
them 1, and what agrees is known. ``_REFINED`` has the operations about which more can be said: carries, the largest
value, and the distance from a base. Nothing is known of the result of any other operation.

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

#: A function that returns what is known of the result from what is known of the operands.
Rule: TypeAlias = Callable[[Sequence[Known]], Known]
_Refinement: TypeAlias = Callable[[IntegerOperation, Sequence[Known]], Known]


@lru_cache(maxsize=4096)
def rule(operation: IntegerOperation) -> Rule | None:
    """Return the rule of an operation; None if nothing is known of its result, whatever the operands.

    >>> from descriptors.check.ptx.integer_instructions import decode
    >>> rule(decode("shf.l.wrap.b32"))([Known(0x80000000, ALL), NOTHING, exactly(1)]).mask & 3
    1
    """
    if operation.name == "cvta" or operation.mask > ALL:  # the bits of a generic address are not known
        return None
    refined = _REFINED.get(operation.name, _rearranged if operation.row.rearranged else _unknown)
    return partial(_result, operation, exact(operation), refined)


def _result(
    operation: IntegerOperation, compute: Computation, refined: _Refinement, operands: Sequence[Known]
) -> Known:
    if len(operands) != operation.operands:
        return NOTHING
    if all(one.mask == ALL for one in operands):
        result = compute(*[one.value for one in operands])
        return NOTHING if result is None else Known(result, ALL)
    return refined(operation, operands)


def _unknown(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    return NOTHING


def _rearranged(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    """Evaluate an operation that rearranges bits at the extremes of its unknown bits.

    A bit of the result depends on at most one bit of each operand, so that the extremes show all its values.
    """
    compute, count = exact(operation), operation.row.rearranged
    controls = [one.constant(32) for one in operands[count:]]
    if None in controls:
        return NOTHING
    extremes = [{one.value, one.value | ALL & ~one.mask} for one in operands[:count]]
    least, most = ALL, 0
    for values in product(*extremes):
        result = compute(*values, *controls)
        if result is None:
            return NOTHING
        least, most = least & result, most | result
    mask = ALL & ~(least ^ most)
    return Known(least & mask, mask)


def _of_two(combine: Callable[[Known, Known, int], Known]) -> _Refinement:
    """Return the rule of an operation of two operands that have the width of the type."""

    def refined(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
        return combine(*_narrowed(operation, operands), operation.bits)

    return refined


def _negate(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    return subtract(exactly(0), narrow(operands[0], operation.bits), operation.bits)


def _absolute(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    one, sign = narrow(operands[0], operation.bits), 1 << (operation.bits - 1)
    if not one.mask & sign:
        return NOTHING
    return subtract(exactly(0), one, operation.bits) if one.value & sign else one


def _copy(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    return narrow(operands[0], operation.bits)


def _convert(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    """Convert between integers; a signed result is extended to the widest register."""
    one, bits = operands[0], width(operation.mode)
    one = extend(one, operation.bits, 64) if operation.signed else narrow(one, operation.bits)
    return extend(one, bits, 64) if operation.mode[0] == "s" else narrow(one, bits)


def _select(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    a, b = _narrowed(operation, operands)
    chosen = operands[2].constant(1)
    return merge([a, b]) if chosen is None else a if chosen else b


def _shift_right(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    by, one = operands[1].constant(32), narrow(operands[0], operation.bits)
    if by is None:
        return NOTHING if operation.signed else below(largest(one))
    if operation.signed and not one.mask & ~one.value & 1 << (operation.bits - 1):
        return _rearranged(operation, operands)
    return shift_right(one, by, operation.bits)


def _multiply(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    a, b = _narrowed(operation, operands)
    if operation.mode == "lo":
        return multiply(a, b, operation.bits)
    if operation.mode == "hi":
        return NOTHING if operation.signed else below(largest(a) * largest(b) >> operation.bits)
    bits = 2 * operation.bits
    if operation.signed:
        a, b = (narrow(extend(one, operation.bits, bits), bits) for one in (a, b))
    return multiply(a, b, bits)


def _multiply_add(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    product_rule = rule(operation._replace(name="mul"))
    return NOTHING if product_rule is None else add(product_rule(operands[:2]), operands[2], operation.result_bits)


def _divide(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    """Divide by a number that is not 0, if no operand is negative."""
    a, b = _narrowed(operation, operands)
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
    a, b = _narrowed(operation, operands)
    is_less = _holds(operation, "lt", a, b)
    return merge([a, b]) if is_less is None else a if is_less == (operation.name == "min") else b


def _extract(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    """Extract a field; an unsigned one keeps its distance from a base, modulo its length."""
    position, length = operands[1].constant(32), operands[2].constant(32)
    if operation.signed or position is None or not length or max(position, length) > 255:
        return _rearranged(operation, operands)
    one = shift_right(narrow(operands[0], operation.bits), position, operation.bits)
    return modulo(one, length) if length < operation.bits else one


def _count_ones(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    return below(largest(narrow(operands[0], operation.bits)).bit_count())


def _count_zeros(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    return below(operation.bits - narrow(operands[0], operation.bits).value.bit_length())


def _compare(operation: IntegerOperation, operands: Sequence[Known]) -> Known:
    holds = _holds(operation, operation.mode, *_narrowed(operation, operands))
    result = below(1) if holds is None else exactly(holds)
    return _JOINED[operation.logic](result, narrow(operands[2], 1), 1) if operation.logic else result


def _narrowed(operation: IntegerOperation, operands: Sequence[Known]) -> tuple[Known, Known]:
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


def _range(operation: IntegerOperation, one: Known) -> tuple[int, int]:
    """Return the least and the largest number that a value may be."""
    free, sign = ALL & ~one.mask, 1 << (operation.bits - 1)
    if not operation.signed:
        return one.value, one.value | free
    least, most = (one.value | free & sign), (one.value | free & ~sign)
    return (least ^ sign) - sign, (most ^ sign) - sign


_JOINED = {"and": both, "or": either, "xor": differ}

_REFINED: dict[str, _Refinement] = {
    "mov": _copy,
    "cvt": _convert,
    "selp": _select,
    "add": _of_two(add),
    "sub": _of_two(subtract),
    "neg": _negate,
    "abs": _absolute,
    "mul": _multiply,
    "mad": _multiply_add,
    "div": _divide,
    "rem": _divide,
    "min": _extreme,
    "max": _extreme,
    "and": _of_two(both),
    "or": _of_two(either),
    "shr": _shift_right,
    "bfe": _extract,
    "popc": _count_ones,
    "clz": _count_zeros,
    "setp": _compare,
}
