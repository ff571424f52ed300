"""Change of a value per loop period: for each period that is past, and for each that is still ahead.

A loop that is run at one count stands for larger counts if it does the same there: its values are those of the run,
changed by whole periods. A value is ``v + past * i + ahead * l`` after ``i`` periods with ``l`` periods to come. A
bound changes by both alike, a counter only by the first, and a stage, a parity or an address by neither. For each
integer operation a rule gives the exact drift of its result for all ``i`` and ``l`` from 0 on, or None if it is not
followed; an operation without a rule is not followed. Numbers have unlimited width in these rules; ``most_periods``
returns for how many periods an instruction has the same result with the width of its type.

Compilers divide by a constant with the high half of a product and a shift. The high half alone does not change by a
whole number per period: it is a ``Part``, which becomes whole again by the shift if no period before an overflow
carries.

Source: PTX ISA 9.1, Integer Arithmetic, Logic and Shift, Comparison Instructions; the rules are this project's.

Invariant: a result changes as the values of its operands do, for any number of periods.

>>> from descriptors.check.ptx.integer_instructions import exact
>>> from descriptors.check.ptx.ptx_module import Instruction
>>> def check(opcode, first, drift, second):
...     result = drift_of(Instruction(1, opcode, ("d", "a", "b")), [first, second], [drift, FIXED])
...     return result and {exact(decode(opcode))(first + drift.past * i, second) - result.past * i for i in range(9)}
>>> check("add.s32", 5, Drift(6, 0), 3), check("shr.u32", 67, Drift(64, 0), 5), check("shr.u32", 67, Drift(6, 0), 5)
({8}, {2}, None)

Invariant: a comparison is followed if its result is the same in all periods.

>>> compare = Instruction(1, "setp.lt.s32", ("p", "k", "n"))
>>> [drift_of(compare, [7, 9], [Drift(6, 0), Drift(6, by)]) for by in (6, -6)]
[Drift(past=0, ahead=0), None]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor
from typing import NamedTuple, TypeAlias

from descriptors.check.execution.lanes import Unknown, Value, lane_values
from descriptors.check.ptx.integer_instructions import DECIDES, IntegerOperation, decode, signed, width
from descriptors.check.ptx.ptx_module import Instruction


class Drift(NamedTuple):
    """Change of a value per loop period.

    Args:
        past: change for each period that is past.
        ahead: change for each period that is still ahead.
    """

    past: int
    ahead: int

    def __neg__(self) -> Drift:
        return Drift(-self.past, -self.ahead)

    def plus(self, other: Drift) -> Drift:
        """Return the drift of a sum."""
        return Drift(self.past + other.past, self.ahead + other.ahead)

    def times(self, factor: int) -> Drift:
        """Return the drift of a multiple."""
        return Drift(self.past * factor, self.ahead * factor)

    def over(self, divisor: int) -> Drift | None:
        """Return the drift of a quotient; None if it is not whole."""
        if self.past % divisor or self.ahead % divisor:
            return None
        return Drift(self.past // divisor, self.ahead // divisor)


class Part(NamedTuple):
    """Drift of the integral part of a fraction: ``floor(v + rest + past * i + ahead * l)``.

    Args:
        past, ahead: as in ``Drift``, but fractions.
        rest: the largest fractional part beside the value.
        most: the largest number of periods before the numerator overflows.
    """

    past: Fraction
    ahead: Fraction
    rest: Fraction
    most: int

    def integral_part(self) -> Drift | None:
        """Return the integral part of the drift, or None if the fraction can carry into it."""
        steps = floor(self.past), floor(self.ahead)
        fraction = max(self.past - steps[0], self.ahead - steps[1])
        return Drift(*steps) if self.rest + fraction * self.most < 1 else None


#: The drift of a constant.
FIXED = Drift(0, 0)
#: A drift; None if it is not followed.
Moving: TypeAlias = "Drift | Part | None"


def drift_of(instruction: Instruction, values: Sequence[Value], drifts: Sequence[Moving]) -> Moving:
    """Return the drift of the result of an integer instruction; all its results have the same.

    Args:
        instruction: the instruction.
        values: values of its operands, without the result.
        drifts: drifts of the same operands.
    """
    if all(drift == FIXED for drift in drifts):
        return FIXED
    name, operation = instruction.opcode.partition(".")[0], decode(instruction.opcode)
    if any(type(value) is Unknown for value in values):
        decides = name in ("selp", "setp") or (operation is not None and operation.row.absorbing)
        return None if decides else FIXED  # the result is unknown in all periods, if no operand decides alone
    if any(type(value) is tuple and Unknown in map(type, value) for value in values):
        return None
    if name == "selp":
        return _selection_drift(values, drifts)
    if operation is None:
        return None
    if name == "setp":
        return _comparison_drift(operation, values, drifts)
    if any(drift is None for drift in drifts):
        return None
    if any(isinstance(drift, Part) for drift in drifts):
        return _part_drift(operation, values, drifts)
    operands = _Operands(operation, list(values), [drift for drift in drifts if isinstance(drift, Drift)])
    rule = _RULES.get(name)
    if rule is None or len(values) != operation.operands or (operation.bits < 32 and not operands.all_fit()):
        return None
    return rule(operands)


#: Operations whose result modulo a power of two depends only on the operands modulo the same power.
_WRAPPING = {"mov", "cvta", "add", "sub", "neg", "not", "shl", "and", "or", "xor", "bfe"}


def most_periods(instruction: Instruction, values: Sequence[Value], drifts: Sequence[Moving]) -> int | None:
    """Return the largest number of periods in which no operand of an instruction overflows; None if it does not matter.

    An overflow does not matter to an operation such as an addition, which is exact modulo a power of two.

    Args:
        instruction, values, drifts: as for ``drift_of``.

    >>> counter = Drift(1 << 23, 0)
    >>> most_periods(Instruction(1, "setp.lt.s32", ("p", "a", "b")), [0, 0], [counter, FIXED])
    255
    >>> most_periods(Instruction(1, "shl.b32", ("d", "a", "b")), [0, 16], [counter, FIXED])
    """
    name, operation = instruction.opcode.partition(".")[0], decode(instruction.opcode)
    if operation is None or name in _WRAPPING or (name in ("mul", "mad") and operation.mode == "lo"):
        return None
    bits = operation.bits
    if name == "cvt":
        bits = min(bits, width(operation.mode))
        source = drifts[0]
        if bits < 32 and not (isinstance(source, Drift) and _fits(values[0], source, bits)):
            return None  # the bits that remain do not change
    rows = [
        _max_periods(value, drift, bits)
        for value, drift in zip(values, drifts, strict=True)
        if isinstance(drift, Drift) and drift != FIXED
    ]
    return min(rows, default=None)


class _Operands(NamedTuple):
    """The operands of an instruction, and their drifts.

    Args:
        operation: the operation of the instruction.
        values: values of the operands.
        drifts: drifts of the operands.
    """

    operation: IntegerOperation
    values: list[Value]
    drifts: list[Drift]

    def constant(self, place: int) -> int | None:
        """Return an operand that is one constant number, as its type represents it; None otherwise."""
        value = self.values[place]
        if self.drifts[place] != FIXED or not isinstance(value, int):
            return None
        return signed(value & (1 << self.operation.bits) - 1, self.operation.bits)

    def all_non_negative(self) -> bool:
        """Check that all changing operands are non-negative, which unsigned ones must be to change in one direction."""
        bits, pairs = self.operation.bits, zip(self.values, self.drifts, strict=True)
        return self.operation.signed or all(_is_non_negative(value, drift, bits) for value, drift in pairs)

    def all_fit(self) -> bool:
        """Check that no operand is negative or overflows the type."""
        return all(_fits(v, d, self.operation.bits) for v, d in zip(self.values, self.drifts, strict=True))

    def split_constant(self) -> tuple[Drift, int] | None:
        """Return the drift of one of two operands and the constant value of the other; None if both change."""
        for place in (0, 1):
            if (number := self.constant(1 - place)) is not None:
                return self.drifts[place], number
        return None


def _is_non_negative(value: Value, drift: Drift, bits: int) -> bool:
    rows = lane_values(value, 1)
    return drift == FIXED or (min(drift) >= 0 and not any(isinstance(v, int) and v >> (bits - 1) & 1 for v in rows))


def _fits(value: Value, drift: Drift, bits: int) -> bool:
    return _is_non_negative(value, drift, bits) and (
        drift == FIXED or not any(isinstance(v, int) and v >> bits for v in lane_values(value, 1))
    )


def _same(operands: _Operands) -> Moving:
    return operands.drifts[0]


def _converted(operands: _Operands) -> Moving:
    bits = min(operands.operation.bits, width(operands.operation.mode))
    if bits >= 32:
        return operands.drifts[0] if operands.all_non_negative() else None
    if bits == 16 and _fits(operands.values[0], operands.drifts[0], 16):
        return operands.drifts[0]
    return FIXED if operands.drifts[0].over(1 << bits) is not None else None


def _product(operands: _Operands) -> Moving:
    parts = operands.split_constant()
    if parts is None:
        return None
    (drift, number), mode = parts, operands.operation.mode
    if mode != "lo" and not operands.operation.signed:
        number &= (1 << operands.operation.bits) - 1
    if mode == "hi":
        return _high(operands, drift, number)
    return drift.times(number) if mode == "lo" or operands.all_non_negative() else None


def _high(operands: _Operands, drift: Drift, number: int) -> Moving:
    """Return the drift of the high half of a product of non-negative numbers that no period makes too large."""
    bits, place = operands.operation.bits, int(operands.drifts[0] == FIXED)
    if not _is_non_negative(operands.values[place], drift, bits) or max(drift) <= 0:
        return None
    products = [v * number for v in lane_values(operands.values[place], 1) if isinstance(v, int)]
    rest = max((Fraction(v % (1 << bits), 1 << bits) for v in products), default=Fraction(0))
    factor = Fraction(number, 1 << bits)
    return _integral_if_possible(
        Part(drift.past * factor, drift.ahead * factor, rest, _max_periods(operands.values[place], drift, bits))
    )


def _max_periods(value: Value, drift: Drift, bits: int) -> int:
    """Return the largest number of periods before a value overflows a signed type."""
    numbers = [signed(v & (1 << bits) - 1, bits) for v in lane_values(value, 1) if isinstance(v, int)]
    greatest = max(map(abs, numbers), default=0)
    return ((1 << (bits - 1)) - 1 - greatest) // max(map(abs, drift))


def _integral_if_possible(part: Part) -> Moving:
    integral = part.integral_part()
    return part if integral is None else integral


def _part_drift(operation: IntegerOperation, values: Sequence[Value], drifts: Sequence[Moving]) -> Moving:
    """Return the drift of a fraction that is shifted or has a number added."""
    name, bits = operation.name, operation.bits
    part, other = drifts[0], drifts[1] if len(drifts) > 1 else FIXED
    if name == "add" and isinstance(part, Drift):
        part, other = other, part
    if not isinstance(part, Part) or not isinstance(other, Drift):
        return None
    if name == "mov":
        return part
    if name == "add":
        return part._replace(past=part.past + other.past, ahead=part.ahead + other.ahead)
    shift = values[1] if name == "shr" and len(values) > 1 else None
    if not isinstance(shift, int) or not 0 <= shift < bits:
        return None
    numbers = [signed(v & (1 << bits) - 1, bits) for v in lane_values(values[0], 1) if isinstance(v, int)]
    if min(numbers, default=0) < 0 or min(part.past, part.ahead) < 0:
        return None
    rest = max(((v % (1 << shift) + part.rest) / (1 << shift) for v in numbers), default=part.rest)
    return _integral_if_possible(Part(part.past / (1 << shift), part.ahead / (1 << shift), rest, part.most))


def _product_sum(operands: _Operands) -> Moving:
    product = _product(operands)
    return product.plus(operands.drifts[2]) if isinstance(product, Drift) else None


def _left(operands: _Operands) -> Moving:
    shift = operands.constant(1)
    return None if shift is None or not 0 <= shift < 64 else operands.drifts[0].times(1 << shift)


def _right(operands: _Operands) -> Moving:
    """Return the drift of a right shift: of a sign, of a quotient, or of the quotient in a division by a constant."""
    shift, operation = operands.constant(1), operands.operation
    if shift == operation.bits - 1 and operation.signed:
        signs = [
            _constant_result(operation, "lt", pair, [operands.drifts[0], FIXED])
            for pair in _lane_pairs([operands.values[0], 0])
        ]
        return None if None in signs else FIXED
    if shift is None or not 0 <= shift < 64 or not operands.all_non_negative():
        return None
    drift = operands.drifts[0]
    quotient = drift.over(1 << shift)
    if quotient is not None or not _is_non_negative(operands.values[0], drift, operation.bits) or max(drift) <= 0:
        return quotient
    # The high half of a division's product: the bits below never carry into the quotient before an overflow.
    rest = max(Fraction(v % (1 << shift), 1 << shift) for v in lane_values(operands.values[0], 1) if isinstance(v, int))
    periods = _max_periods(operands.values[0], drift, operation.bits)
    return Part(Fraction(drift.past, 1 << shift), Fraction(drift.ahead, 1 << shift), rest, periods).integral_part()


def _masked(operands: _Operands) -> Moving:
    """Return the drift of an ``and``.

    Low bits are constant if periods are multiples of the power of two above them; high bits change like the number.
    """
    parts = operands.split_constant()
    if parts is None:
        return None
    drift, mask = parts
    if mask >= 0:
        return FIXED if drift.over(1 << mask.bit_length()) is not None else None
    below = -mask
    return drift if below & below - 1 == 0 and drift.over(below) is not None else None


def _joined(operands: _Operands) -> Moving:
    """Return the drift of an ``or`` or ``xor`` with low bits, if periods change only higher bits."""
    parts = operands.split_constant()
    if parts is None or parts[1] < 0:
        return None
    return parts[0] if parts[0].over(1 << parts[1].bit_length()) is not None else None


def _quotient(operands: _Operands) -> Moving:
    return None if (divisor := _divisor(operands)) is None else operands.drifts[0].over(divisor)


def _remainder(operands: _Operands) -> Moving:
    divisor = _divisor(operands)
    return FIXED if divisor is not None and operands.drifts[0].over(divisor) is not None else None


def _divisor(operands: _Operands) -> int | None:
    """Return the constant positive divisor of a value that is never negative; None otherwise."""
    divisor = operands.constant(1)
    return (
        divisor
        if divisor is not None
        and divisor > 0
        and _is_non_negative(operands.values[0], operands.drifts[0], operands.operation.bits)
        else None
    )


def _extreme(operands: _Operands) -> Moving:
    if not operands.all_non_negative():
        return None
    comparison = "le" if operands.operation.name == "min" else "ge"
    chosen = {
        _constant_result(operands.operation, comparison, pair, operands.drifts) for pair in _lane_pairs(operands.values)
    }
    return operands.drifts[0 if True in chosen else 1] if chosen in ({True}, {False}) else None


def _field(operands: _Operands) -> Moving:
    """Return the drift of a ``bfe`` of bits below those that periods change."""
    place, size = operands.constant(1), operands.constant(2)
    if place is None or size is None or min(place, size) < 0 or place + size > 64:
        return None
    return FIXED if operands.drifts[0].over(1 << (place + size)) is not None else None


_RULES: dict[str, Callable[[_Operands], Moving]] = {
    "mov": _same,
    "cvt": _converted,
    "cvta": _same,
    "add": lambda operands: operands.drifts[0].plus(operands.drifts[1]),
    "sub": lambda operands: operands.drifts[0].plus(-operands.drifts[1]),
    "neg": lambda operands: -operands.drifts[0],
    "not": lambda operands: -operands.drifts[0],
    "mul": _product,
    "mad": _product_sum,
    "shl": _left,
    "shr": _right,
    "and": _masked,
    "or": _joined,
    "xor": _joined,
    "div": _quotient,
    "rem": _remainder,
    "min": _extreme,
    "max": _extreme,
    "bfe": _field,
}


# -- comparisons


def _lane_pairs(values: Sequence[Value]) -> list[tuple[int, int]]:
    """Return the pairs of the first two operands, lane by lane."""
    lanes = max(len(value) if isinstance(value, tuple) else 1 for value in values[:2])
    first, second = (lane_values(value, lanes) for value in values[:2])
    return list({(a, b) for a, b in zip(first, second, strict=True) if isinstance(a, int) and isinstance(b, int)})


def _constant_result(
    operation: IntegerOperation, comparison: str, pair: tuple[int, int], drifts: Sequence[Drift]
) -> bool | None:
    """Return the result of a comparison if it is the same in all periods; None if it changes."""
    a, b = map(operation.number(), pair)
    apart, moves = a - b, drifts[0].plus(-drifts[1])
    if comparison in ("gt", "ge"):
        comparison, apart, moves = {"gt": "lt", "ge": "le"}[comparison], -apart, -moves
    if comparison in ("eq", "ne"):
        if moves == FIXED:
            return (apart == 0) == (comparison == "eq")
        grows = (apart > 0 and min(moves) >= 0) or (apart < 0 and max(moves) <= 0)
        return comparison == "ne" if grows else None
    holds = apart < 0 or (apart == 0 and comparison == "le")
    return holds if (max(moves) <= 0 if holds else min(moves) >= 0) else None


def _comparison_drift(operation: IntegerOperation, values: Sequence[Value], drifts: Sequence[Moving]) -> Moving:
    """Return the drift of ``setp``: fixed if its result, or that of the combination, is the same in all periods."""
    if len(values) != operation.operands or any(drift != FIXED for drift in drifts[2:]):
        return None
    if operation.logic in DECIDES and values[2] == DECIDES[operation.logic]:
        return FIXED
    first, second = drifts[:2]
    if not isinstance(first, Drift) or not isinstance(second, Drift):
        return None
    if not _Operands(operation, list(values[:2]), [first, second]).all_non_negative():
        return None
    results = [_constant_result(operation, operation.mode, pair, (first, second)) for pair in _lane_pairs(values)]
    return None if None in results else FIXED


def _selection_drift(values: Sequence[Value], drifts: Sequence[Moving]) -> Moving:
    """Return the drift of ``selp``: that of the selected operand, if the same one is selected in all periods."""
    if len(values) != 3 or drifts[2] != FIXED:
        return None
    chosen = {0 if predicate else 1 for predicate in lane_values(values[2], 1) if isinstance(predicate, int)}
    selected = {drifts[index] for index in chosen}
    return selected.pop() if len(selected) == 1 else None
