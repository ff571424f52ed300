"""How a value moves with the count of rounds: by so much for each period made, and for each that is still to come.

A loop that is run at one count stands for larger ones if what it does is the same there: its values are then the ones
that were run, moved by whole periods. A value is ``v + past * i + ahead * l``, with ``i`` periods made and ``l`` to
come; a bound moves by both alike, a counter by the first alone, and a stage, a parity or an address by neither. Of each
integer instruction a rule says how its result moves, exactly and for all ``i`` and ``l`` from 0 on, or that it is not
followed (None). Numbers are those of no width: what is found holds as long as no counter overflows.
Source: PTX ISA 9.1, Integer Arithmetic, Logic and Shift, Comparison Instructions; the rules are ours.

Law: a value moves as the values of its operands do, whatever the periods.

>>> from descriptors.check.execution.arithmetic import operation
>>> from descriptors.check.ptx.ptx_module import Instruction
>>> def law(opcode, first, drift, second):
...     result = drift_of(Instruction(1, opcode, ("d", "a", "b")), [first, second], [drift, FIXED])
...     return result and {operation(opcode)(first + drift.past * i, second) - result.past * i for i in range(9)}
>>> law("add.s32", 5, Drift(6, 0), 3), law("shr.u32", 67, Drift(64, 0), 5), law("shr.u32", 67, Drift(6, 0), 5)
({8}, {2}, None)

Law: a comparison is followed where no period changes it.

>>> compare = Instruction(1, "setp.lt.s32", ("p", "k", "n"))
>>> [drift_of(compare, [7, 9], [Drift(6, 0), Drift(6, by)]) for by in (6, -6)]
[Drift(past=0, ahead=0), None]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from descriptors.check.execution.arithmetic import signed, type_of
from descriptors.check.execution.lanes import Unknown, Value, lane_values
from descriptors.check.ptx.ptx_module import Instruction


class Drift(NamedTuple):
    """How a value moves.

    Args:
        past: by so much for each period that lies behind.
        ahead: by so much for each that is still to come.
    """

    past: int
    ahead: int

    def __neg__(self) -> Drift:
        return Drift(-self.past, -self.ahead)

    def plus(self, other: Drift) -> Drift:
        """How the sum of two values moves."""
        return Drift(self.past + other.past, self.ahead + other.ahead)

    def times(self, factor: int) -> Drift:
        """How a multiple moves."""
        return Drift(self.past * factor, self.ahead * factor)

    def over(self, divisor: int) -> Drift | None:
        """How a quotient moves; None where periods are not whole multiples of the divisor."""
        if self.past % divisor or self.ahead % divisor:
            return None
        return Drift(self.past // divisor, self.ahead // divisor)


#: The drift of what does not move.
FIXED = Drift(0, 0)
#: How something moves; None where that is not followed.
Moving: TypeAlias = "Drift | None"


def drift_of(instruction: Instruction, values: Sequence[Value], drifts: Sequence[Moving]) -> Moving:
    """How the result of an integer instruction moves.

    Args:
        instruction: it; all of its results move alike.
        values: of its operands, without the result.
        drifts: of the same.
    """
    if all(drift == FIXED for drift in drifts):
        return FIXED
    name, *words = instruction.opcode.split(".")
    unknown = _unknown(name, values)
    if unknown is not None:
        return FIXED if unknown else None
    if name == "selp":
        return _selected(values, drifts)
    if name == "setp":
        return _compared(words, values, drifts)
    if any(drift is None for drift in drifts):
        return None
    kind, rule = type_of(words[-1]) if words else None, _RULES.get(name)
    if kind is None or rule is None or kind[1] < 32:
        return None
    return rule(_Operands(words, kind, list(values), [drift for drift in drifts if drift is not None]))


def _unknown(name: str, values: Sequence[Value]) -> bool | None:
    """Whether the result is unknown in all periods, as one of the operands is; None where none is."""
    kinds = [type(value) for value in values]
    if Unknown in kinds:
        return name not in ("and", "mul", "shl", "selp", "setp")
    if any(type(v) is tuple and any(type(one) is Unknown for one in v) for v in values):
        return False
    return None


class _Operands(NamedTuple):
    """The operands of an instruction, and how they move.

    Args:
        words: what follows the name of its opcode.
        kind: whether it is of signed numbers, and of how many bits.
        values: the operands.
        drifts: of the same.
    """

    words: list[str]
    kind: tuple[bool, int]
    values: list[Value]
    drifts: list[Drift]

    def constant(self, place: int) -> int | None:
        """An operand that is one number and does not move, as its type has it."""
        value = self.values[place]
        if place >= len(self.values) or self.drifts[place] != FIXED or not isinstance(value, int):
            return None
        return signed(value & (1 << self.kind[1]) - 1, self.kind[1])

    def natural(self) -> bool:
        """Whether what moves are numbers from 0 on, as those of no sign must be to move in one direction."""
        is_signed, bits = self.kind
        return is_signed or all(_natural(v, d, bits) for v, d in zip(self.values, self.drifts, strict=True))

    def one_moves(self) -> tuple[Drift, int] | None:
        """Of two operands the one that moves, and the number that the other is; None where both move."""
        for place in (0, 1):
            if (number := self.constant(1 - place)) is not None:
                return self.drifts[place], number
        return None


def _natural(value: Value, drift: Drift, bits: int) -> bool:
    rows = lane_values(value, 1)
    return drift == FIXED or (min(drift) >= 0 and not any(isinstance(v, int) and v >> (bits - 1) & 1 for v in rows))


def _same(of: _Operands) -> Moving:
    return of.drifts[0]


def _converted(of: _Operands) -> Moving:
    bits = [kind[1] for word in of.words if (kind := type_of(word)) is not None]
    if min(bits) >= 32:
        return of.drifts[0] if of.natural() else None
    return FIXED if of.drifts[0].over(1 << min(bits)) is not None else None


def _sum(of: _Operands) -> Moving:
    return None if len(of.words) > 1 else of.drifts[0].plus(of.drifts[1])


def _difference(of: _Operands) -> Moving:
    return None if len(of.words) > 1 else of.drifts[0].plus(-of.drifts[1])


def _product(of: _Operands) -> Moving:
    parts = of.one_moves()
    if parts is None or of.words[0] not in ("lo", "wide") or not (of.words[0] == "lo" or of.natural()):
        return None
    return parts[0].times(parts[1])


def _product_sum(of: _Operands) -> Moving:
    product = _product(of)
    return None if product is None else product.plus(of.drifts[2])


def _left(of: _Operands) -> Moving:
    by = of.constant(1)
    return None if by is None or not 0 <= by < 64 else of.drifts[0].times(1 << by)


def _right(of: _Operands) -> Moving:
    by = of.constant(1)
    if by == of.kind[1] - 1 and of.kind[0]:
        return FIXED if _stable("lt", of.kind, _rows([of.values[0], 0])[0], [of.drifts[0], FIXED]) is not None else None
    return of.drifts[0].over(1 << by) if by is not None and 0 <= by < 64 and of.natural() else None


def _masked(of: _Operands) -> Moving:
    """Low bits do not move where periods are multiples of what lies above them; the others move as all."""
    parts = of.one_moves()
    if parts is None:
        return None
    drift, mask = parts
    if mask >= 0:
        return FIXED if drift.over(1 << mask.bit_length()) is not None else None
    below = -mask
    return drift if below & below - 1 == 0 and drift.over(below) is not None else None


def _joined(of: _Operands) -> Moving:
    """``or`` and ``xor`` with low bits, above which periods lie."""
    parts = of.one_moves()
    if parts is None or parts[1] < 0:
        return None
    return parts[0] if parts[0].over(1 << parts[1].bit_length()) is not None else None


def _quotient(of: _Operands) -> Moving:
    return None if (by := _divisor(of)) is None else of.drifts[0].over(by)


def _remainder(of: _Operands) -> Moving:
    by = _divisor(of)
    return FIXED if by is not None and of.drifts[0].over(by) is not None else None


def _divisor(of: _Operands) -> int | None:
    """The divisor of what is never negative."""
    by = of.constant(1)
    return by if by is not None and by > 0 and _natural(of.values[0], of.drifts[0], of.kind[1]) else None


def _extreme(sign: int) -> Callable[[_Operands], Moving]:
    def rule(of: _Operands) -> Moving:
        if not of.natural():
            return None
        signs = {_stable("le" if sign < 0 else "ge", of.kind, row, of.drifts) for row in _rows(of.values)}
        return of.drifts[0 if True in signs else 1] if signs in ({True}, {False}) else None

    return rule


def _field(of: _Operands) -> Moving:
    """``bfe`` of bits above which periods lie."""
    place, size = of.constant(1), of.constant(2)
    if place is None or size is None or min(place, size) < 0 or place + size > 64:
        return None
    return FIXED if of.drifts[0].over(1 << (place + size)) is not None else None


_RULES: dict[str, Callable[[_Operands], Moving]] = {
    "mov": _same,
    "cvt": _converted,
    "cvta": _same,
    "add": _sum,
    "sub": _difference,
    "neg": lambda of: -of.drifts[0],
    "not": lambda of: -of.drifts[0],
    "mul": _product,
    "mad": _product_sum,
    "shl": _left,
    "shr": _right,
    "and": _masked,
    "or": _joined,
    "xor": _joined,
    "div": _quotient,
    "rem": _remainder,
    "min": _extreme(-1),
    "max": _extreme(1),
    "bfe": _field,
}


# -- comparisons


def _rows(values: Sequence[Value]) -> list[tuple[int, int]]:
    """The two first operands, lane by lane."""
    lanes = max(len(value) if isinstance(value, tuple) else 1 for value in values[:2])
    first, second = (lane_values(value, lanes) for value in values[:2])
    return list({(a, b) for a, b in zip(first, second, strict=True) if isinstance(a, int) and isinstance(b, int)})


_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def _stable(compare: str, kind: tuple[bool, int], row: tuple[int, int], drifts: Sequence[Drift]) -> bool | None:
    """What a comparison says in all periods; None where that changes."""
    is_signed, bits = kind
    a, b = (one & (1 << bits) - 1 for one in row)
    if is_signed:
        a, b = signed(a, bits), signed(b, bits)
    apart, moves = a - b, drifts[0].plus(-drifts[1])
    compare = _UNSIGNED.get(compare, compare)
    if compare in ("gt", "ge"):
        compare, apart, moves = {"gt": "lt", "ge": "le"}[compare], -apart, -moves
    if compare in ("eq", "ne"):
        if moves == FIXED:
            return (apart == 0) == (compare == "eq")
        grows = (apart > 0 and min(moves) >= 0) or (apart < 0 and max(moves) <= 0)
        return compare == "ne" if grows else None
    if compare not in ("lt", "le"):
        return None
    holds = apart < 0 or (apart == 0 and compare == "le")
    return holds if (max(moves) <= 0 if holds else min(moves) >= 0) else None


def _compared(words: list[str], values: Sequence[Value], drifts: Sequence[Moving]) -> Moving:
    """``setp``: fixed where it is the same in all periods, alone or by what it is joined with."""
    kind = type_of(words[-1])
    joined = words[1] if len(words) > 2 and words[1] in ("and", "or", "xor") else ""
    if joined and len(values) > 2 and drifts[2] != FIXED:
        return None
    if joined in ("and", "or") and values[2:] == [int(joined == "or")]:
        return FIXED
    first, second = drifts[:2]
    if kind is None or first is None or second is None:
        return None
    if not _Operands(words, kind, list(values[:2]), [first, second]).natural():
        return None
    told = [_stable(words[0], kind, row, (first, second)) for row in _rows(values)]
    return None if None in told else FIXED


def _selected(values: Sequence[Value], drifts: Sequence[Moving]) -> Moving:
    """``selp``: as what is selected, where that is the same in all periods."""
    if len(values) != 3 or drifts[2] != FIXED:
        return None
    ways = {0 if one else 1 for one in lane_values(values[2], 1) if isinstance(one, int)}
    kept = {drifts[way] for way in ways}
    return kept.pop() if len(kept) == 1 else None
