"""The integer instructions of PTX: decoding of opcodes, and the function that each computes.

``TABLE`` has one row per operation. ``decode`` turns an opcode into an ``IntegerOperation``, and ``exact`` returns its
meaning as a function on bits, compiled once per operation. Every analysis of integers starts from these two: execution
computes exact values, ``known_results`` known bits, ``execution.drift`` the change per loop period, ``conditions`` the
meaning of predicates, and ``threads`` a value per thread. If all operands are known, an analysis uses the exact
meaning. It may add refinements for other operands; an operation that it does not refine has an unknown result. So a
new instruction is one row.

A value is its unsigned bits; operands may have more bits than the type, which are ignored. Only opcodes that PTX allows
are decoded, with all their qualifiers: ``add.s32`` is, ``add.sat.s32``, ``add.f32`` and ``add.b32`` are not.
Source: PTX ISA 9.1, Integer Arithmetic, Logic and Shift, Comparison and Selection, Data Movement and Conversion
Instructions; Operand Size Exceeding Instruction-Type Size.

Invariant: the sum of a number and its negative is 0 for every width.

>>> def compute(opcode, *values): return exact(decode(opcode))(*values)
>>> [compute(f"add.s{bits}", 5, compute(f"neg.s{bits}", 5)) for bits in (16, 32, 64)]
[0, 0, 0]

Invariant: a wide product is the product of the signed numbers.

>>> compute("mul.wide.s32", 2**32 - 2, 16) == 2**64 - 32
True
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

#: What an operation computes: bits of the operands in, those of the result out; None where PTX leaves it undefined.
Computation: TypeAlias = Callable[..., "int | None"]

#: The bits of the widest register that holds an integer, and those of a register with a shift amount or a selector.
_WIDEST, _LOW = (1 << 64) - 1, (1 << 32) - 1
#: The largest position and length of a bit field. PTX does not define ``bfe`` and ``bfi`` beyond it, and an H100 does
#: not take larger values modulo 256.
_LAST_BIT = 255


class IntegerOperation(NamedTuple):
    """A decoded integer opcode.

    Args:
        name: the operation, such as ``mul``: the key of its row in the table.
        mode: its qualifiers before the type: the part of a product, the direction and mode of a funnel shift, the type
            that ``cvt`` converts to. Of ``setp``, the comparison, under its name for signed types.
        type: the instruction type, such as ``s32``.
        bits: the width of the type.
        signed: whether the type is signed.
        logic: the operation by which ``setp`` joins its result with a predicate; "" if it does not.
    """

    name: str
    mode: str
    type: str
    bits: int
    signed: bool
    logic: str = ""

    @property
    def row(self) -> Row:
        """The row of the table."""
        return TABLE[self.name]

    @property
    def operands(self) -> int:
        """The number of operands after the result."""
        return self.row.operands + bool(self.logic)

    @property
    def result_bits(self) -> int:
        """The width of the result; ``cvt`` extends its result to the widest register."""
        if self.name in _RESULT_BITS:
            return _RESULT_BITS[self.name]
        return 2 * self.bits if self.mode == "wide" else self.bits

    @property
    def mask(self) -> int:
        """All bits of the result."""
        return (1 << self.result_bits) - 1

    def number(self) -> Callable[[int], int]:
        """Return the function from the bits of an operand to the number that they are in this type."""
        return _number(self.type)

    def opposite(self) -> IntegerOperation:
        """Return the comparison of the second predicate of ``setp p|q``.

        >>> exact(decode("setp.lt.s32").opposite())(1, 2)
        0
        """
        return self._replace(mode=_OPPOSITE[self.mode])


class Row(NamedTuple):
    """An operation of the table.

    Args:
        operands: how many operands follow the result.
        types: the types that it may have, by its mode.
        compiled: from the decoded opcode to its exact meaning.
        rearranged: how many leading operands it only rearranges: if the operands after those are fixed, each bit of the
            result depends on at most one bit of each of these.
        absorbing: how many leading operands make the result 0 if they are 0.
    """

    operands: int
    types: Mapping[str, frozenset[str]]
    compiled: Callable[[IntegerOperation], Computation]
    rearranged: int = 0
    absorbing: int = 0


@lru_cache(maxsize=4096)
def decode(opcode: str, *, floats: bool = False) -> IntegerOperation | None:
    """Return the integer operation of an opcode; None if it is not one.

    Args:
        opcode: with all its qualifiers.
        floats: whether to include operations that copy the bits of floating-point numbers, such as ``mov.f32``.

    >>> decode("mul.wide.u16")
    IntegerOperation(name='mul', mode='wide', type='u16', bits=16, signed=False, logic='')
    >>> decode("setp.lo.and.u32").mode
    'lt'
    >>> [decode(name) for name in ("add.sat.s32", "add.f32", "bfe.b32", "adds", "mul.s32", "setp.lt.b32")]
    [None, None, None, None, None, None]
    """
    name, _, rest = opcode.partition(".")
    mode, _, kind = rest.rpartition(".")
    row = TABLE.get(name)
    if row is None or kind not in row.types.get(mode, ()) or (kind in _FLOATS and not floats):
        return None
    return make_operation(name, mode, kind)


def make_operation(name: str, mode: str, kind: str) -> IntegerOperation:
    """Return an operation of the table with a type of any width, such as ``s4``.

    >>> exact(make_operation("add", "", "u4"))(9, 9)
    2
    """
    logic = ""
    if name == "setp":
        mode, _, logic = mode.partition(".")
        mode = _OF_UNSIGNED.get(mode, mode)
    return IntegerOperation(name, mode, kind, width(kind), kind[0] == "s", logic)


def width(kind: str) -> int:
    """Return the number of bits of a type.

    >>> width("u16"), width("pred")
    (16, 1)
    """
    return 1 if kind == "pred" else int(kind[1:])


@lru_cache(maxsize=4096)
def exact(operation: IntegerOperation) -> Computation:
    """Return the meaning of an operation, as a function on the bits of its operands.

    >>> exact(decode("shl.b32"))(1, 40), exact(decode("shf.l.wrap.b32"))(0x80000000, 1, 1)
    (0, 3)
    """
    return operation.row.compiled(operation)


def signed(value: int, bits: int) -> int:
    """Return the number that some bits are in two's complement.

    >>> signed(0xFF, 8), signed(0x7F, 8)
    (-1, 127)
    """
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


# -- the meaning of each operation


def _number(kind: str) -> Callable[[int], int]:
    low, sign = (1 << width(kind)) - 1, 1 << width(kind) - 1 if kind[0] == "s" else 0
    return lambda value: ((value & low) ^ sign) - sign


def _copy(operation: IntegerOperation) -> Computation:
    mask = operation.mask
    return lambda a: a & mask


def _convert(operation: IntegerOperation) -> Computation:
    number, result = operation.number(), _number(operation.mode)
    return lambda a: result(number(a)) & _WIDEST


def _select(operation: IntegerOperation) -> Computation:
    mask = operation.mask
    return lambda a, b, condition: (a if condition else b) & mask


def _add(operation: IntegerOperation) -> Computation:
    mask = operation.mask
    return lambda a, b: (a + b) & mask


def _subtract(operation: IntegerOperation) -> Computation:
    mask = operation.mask
    return lambda a, b: (a - b) & mask


def _multiply(operation: IntegerOperation) -> Computation:
    number, mask = operation.number(), operation.mask
    if operation.mode == "lo":
        return lambda a, b: a * b & mask
    shift = operation.bits if operation.mode == "hi" else 0
    return lambda a, b: number(a) * number(b) >> shift & mask


def _multiply_add(operation: IntegerOperation) -> Computation:
    product, mask = _multiply(operation), operation.mask
    return lambda a, b, c: (product(a, b) + c) & mask


def _numeric(compute: Callable[..., int | None]) -> Callable[[IntegerOperation], Computation]:
    """Return the meaning of an operation on numbers.

    Args:
        compute: from the width of the type and the numbers that the operands are to the result, of any width.
    """

    def compiled(operation: IntegerOperation) -> Computation:
        bits, number, mask = operation.bits, operation.number(), operation.mask

        def run(*values: int) -> int | None:
            result = compute(bits, *map(number, values))
            return None if result is None else result & mask

        return run

    return compiled


def _quotient(bits: int, a: int, b: int) -> int | None:
    """Return the quotient, rounded toward zero; None if it is undefined or has no room in a signed type."""
    if not b or (b == -1 and a == -1 << bits - 1):
        return None
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(bits: int, a: int, b: int) -> int | None:
    quotient = _quotient(bits, a, b)
    return None if quotient is None else a - quotient * b


def _bitwise(operation: IntegerOperation) -> Computation:
    logic, mask = LOGIC[operation.name], operation.mask
    return lambda a, b: logic(a, b) & mask


def _shift_left(operation: IntegerOperation) -> Computation:
    bits, mask = operation.bits, operation.mask
    return lambda a, by: 0 if by & _LOW >= bits else a << (by & _LOW) & mask


def _shift_right(operation: IntegerOperation) -> Computation:
    number, bits, mask = operation.number(), operation.bits, operation.mask
    return lambda a, by: number(a) >> min(by & _LOW, bits) & mask


def _funnel_shift(operation: IntegerOperation) -> Computation:
    bits, mask = operation.bits, operation.mask
    left, wraps = operation.mode.startswith("l"), operation.mode.endswith("wrap")

    def shift(low: int, high: int, by: int) -> int:
        by = by & bits - 1 if wraps else min(by & _LOW, bits)
        both = (high & mask) << bits | low & mask
        return (both << by >> bits if left else both >> by) & mask

    return shift


def _extract(operation: IntegerOperation) -> Computation:
    number, is_signed, mask = operation.number(), operation.signed, operation.mask

    def extract(a: int, position: int, length: int) -> int | None:
        position, length = position & _LOW, length & _LOW
        if max(position, length) > _LAST_BIT:
            return None
        field = number(a) >> position & (1 << length) - 1
        sign = 1 << length >> 1 if is_signed else 0
        return (field ^ sign) - sign & mask

    return extract


def _insert(operation: IntegerOperation) -> Computation:
    mask = operation.mask

    def insert(source: int, into: int, position: int, length: int) -> int | None:
        position, length = position & _LOW, length & _LOW
        if max(position, length) > _LAST_BIT:
            return None
        hole = (1 << length) - 1 << position & mask
        return into & mask & ~hole | source << position & hole

    return insert


def _permute(operation: IntegerOperation) -> Computation:
    def permute(a: int, b: int, selector: int) -> int:
        both, result = (b & _LOW) << 32 | a & _LOW, 0
        for place in range(4):
            code = selector >> 4 * place & 0xF
            byte = both >> 8 * (code & 7) & 0xFF
            byte = (0xFF if byte >> 7 else 0) if code & 8 else byte
            result |= byte << 8 * place
        return result

    return permute


def _look_up(operation: IntegerOperation) -> Computation:
    mask = operation.mask

    def look_up(a: int, b: int, c: int, table: int) -> int:
        result = 0
        for row in range(8):
            if table >> row & 1:
                result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
        return result & mask

    return look_up


def _highest_bit(operation: IntegerOperation) -> Computation:
    number, bits, mask = operation.number(), operation.bits, operation.mask
    is_shift = operation.mode == "shiftamt"

    def find(a: int) -> int:
        value = number(a)
        place = (~value if value < 0 else value).bit_length() - 1
        return (bits - 1 - place if is_shift and place >= 0 else place) & mask

    return find


def _compare(operation: IntegerOperation) -> Computation:
    number, compare = operation.number(), _COMPARISONS[operation.mode]
    if not operation.logic:
        return lambda a, b: int(compare(number(a), number(b)))
    logic = LOGIC[operation.logic]
    return lambda a, b, predicate: logic(int(compare(number(a), number(b))), predicate & 1)


# -- the table

#: The operations that join two predicates.
LOGIC: Mapping[str, Callable[[int, int], int]] = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
#: The value of one predicate that decides alone what two are joined to.
DECIDES: Mapping[str, int] = {"and": 0, "or": 1}
_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}
_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
#: The comparisons that only unsigned types have, with their general names.
_OF_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
#: The width of results that differs from that of the type.
_RESULT_BITS = {"cvt": 64, "setp": 1, "popc": 32, "clz": 32, "bfind": 32}

_UNSIGNED, _SIGNED = frozenset("u16 u32 u64".split()), frozenset("s16 s32 s64".split())
_INTEGERS, _BITS, _PREDICATE = _UNSIGNED | _SIGNED, frozenset("b16 b32 b64".split()), frozenset(["pred"])
_FLOATS, _BYTES = frozenset("f16 f32 f64".split()), frozenset("u8 s8".split())
_B32, _WIDE, _NARROW = frozenset(["b32"]), frozenset(["b32", "b64"]), frozenset("u16 s16 u32 s32".split())
_FIELD = frozenset("u32 s32 u64 s64".split())
_SPACES = "const global local param param::entry shared shared::cta shared::cluster".split()
_PARTS = {"lo": _INTEGERS, "hi": _INTEGERS, "wide": _NARROW}
_COMPARED = {
    **dict.fromkeys(("eq", "ne"), _INTEGERS | _BITS),
    **dict.fromkeys(("lt", "le", "gt", "ge"), _INTEGERS),
    **dict.fromkeys(_OF_UNSIGNED, _UNSIGNED),
}

TABLE: Mapping[str, Row] = {
    "mov": Row(1, {"": _INTEGERS | _BITS | _PREDICATE | _FLOATS | {"b128"}}, _copy, rearranged=1),
    # An address keeps its bits: in an execution, addresses of different state spaces do not overlap.
    "cvta": Row(1, {f"{to}{space}": frozenset(["u32", "u64"]) for to in ("", "to.") for space in _SPACES}, _copy),
    "cvt": Row(1, dict.fromkeys(_INTEGERS | _BYTES, _INTEGERS | _BYTES), _convert, rearranged=1),
    "selp": Row(3, {"": _INTEGERS | _BITS | _FLOATS}, _select, rearranged=2),
    "add": Row(2, {"": _INTEGERS}, _add),
    "sub": Row(2, {"": _INTEGERS}, _subtract),
    "mul": Row(2, _PARTS, _multiply, absorbing=2),
    "mad": Row(3, _PARTS, _multiply_add),
    "div": Row(2, {"": _INTEGERS}, _numeric(_quotient)),
    "rem": Row(2, {"": _INTEGERS}, _numeric(_remainder)),
    "min": Row(2, {"": _INTEGERS}, _numeric(lambda bits, a, b: min(a, b))),
    "max": Row(2, {"": _INTEGERS}, _numeric(lambda bits, a, b: max(a, b))),
    "neg": Row(1, {"": _SIGNED}, _numeric(lambda bits, a: -a)),
    "abs": Row(1, {"": _SIGNED}, _numeric(lambda bits, a: abs(a))),
    "and": Row(2, {"": _BITS | _PREDICATE}, _bitwise, rearranged=2, absorbing=2),
    "or": Row(2, {"": _BITS | _PREDICATE}, _bitwise, rearranged=2),
    "xor": Row(2, {"": _BITS | _PREDICATE}, _bitwise, rearranged=2),
    "not": Row(1, {"": _BITS | _PREDICATE}, _numeric(lambda bits, a: ~a), rearranged=1),
    "cnot": Row(1, {"": _BITS}, _numeric(lambda bits, a: int(a == 0))),
    "popc": Row(1, {"": _WIDE}, _numeric(lambda bits, a: a.bit_count())),
    "clz": Row(1, {"": _WIDE}, _numeric(lambda bits, a: bits - a.bit_length())),
    "brev": Row(1, {"": _WIDE}, _numeric(lambda bits, a: int(f"{a:0{bits}b}"[::-1], 2)), rearranged=1),
    "bfind": Row(1, {"": _FIELD, "shiftamt": _FIELD}, _highest_bit),
    "shl": Row(2, {"": _BITS}, _shift_left, rearranged=1, absorbing=1),
    "shr": Row(2, {"": _BITS | _INTEGERS}, _shift_right, rearranged=1),
    "shf": Row(3, dict.fromkeys(("l.wrap", "l.clamp", "r.wrap", "r.clamp"), _B32), _funnel_shift, rearranged=2),
    "bfe": Row(3, {"": _FIELD}, _extract, rearranged=1),
    "bfi": Row(4, {"": _WIDE}, _insert, rearranged=2),
    "prmt": Row(3, {"": _B32}, _permute, rearranged=2),
    "lop3": Row(4, {"": _B32}, _look_up, rearranged=3),
    "setp": Row(2, {f"{test}{logic}": types for test, types in _COMPARED.items()
                    for logic in ("", ".and", ".or", ".xor")}, _compare),
}  # fmt: skip
