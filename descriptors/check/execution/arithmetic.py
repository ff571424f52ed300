"""What integer instructions of PTX compute, bit by bit: a value is its unsigned bits.

An instruction is taken by its name *and* its type: what is not written here, as all of floating point, has no
operation, and its result is not known. This is what a run computes, lane by lane, some million times a kernel; what is
folded of values that are known in part (``ptx.integer_instructions``) takes tens of times as long, and a test holds
one against the other.
Source: PTX ISA 9.1, Integer Arithmetic, Logic and Shift, Comparison and Selection, Data Movement and Conversion
Instructions.

Law: a number and its negative add to nothing, whatever the width.

>>> [operation(f"add.s{bits}")(5, operation(f"neg.s{bits}")(5)) for bits in (16, 32, 64)]
[0, 0, 0]

Law: a wide product is the product of the signed numbers.

>>> operation("mul.wide.s32")(2**32 - 2, 16) == 2**64 - 32
True
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

#: What an operation computes: unsigned bits of the operands in, those of the result out; None where nothing is defined.
Computation = Callable[..., "int | None"]

#: The bits of the widest register that holds an integer.
_WIDEST = (1 << 64) - 1
_TYPE = re.compile(r"([bus])(8|16|32|64|128)\Z")
_LOGIC: dict[str, Callable[[int, int], int]] = {
    "and": int.__and__,
    "or": int.__or__,
    "xor": int.__xor__,
}
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": int.__eq__,
    "ne": int.__ne__,
    "lt": int.__lt__,
    "le": int.__le__,
    "gt": int.__gt__,
    "ge": int.__ge__,
    "lo": int.__lt__,
    "ls": int.__le__,
    "hi": int.__gt__,
    "hs": int.__ge__,
}


def signed(value: int, bits: int) -> int:
    """The number that these bits are in two's complement.

    >>> signed(0xFF, 8), signed(0x7F, 8)
    (-1, 127)
    """
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def type_of(name: str) -> tuple[bool, int] | None:
    """Whether an integer type is signed, and its bits; None for any other.

    >>> type_of("s32"), type_of("pred"), type_of("f32")
    ((True, 32), (False, 1), None)
    """
    if name == "pred":
        return False, 1
    found = _TYPE.match(name)
    return (found[1] == "s", int(found[2])) if found else None


@lru_cache(maxsize=1024)
def operation(opcode: str) -> Computation | None:
    """The operation of an opcode; None where it is none of integers.

    >>> operation("add.f32") is None, operation("add.sat.s32") is None, operation("shl.b32")(1, 40)
    (True, True, 0)
    """
    name, *words = opcode.split(".")
    kind = type_of(words[-1]) if words else None
    maker = _MAKERS.get(name)
    return None if kind is None or maker is None else maker(words, *kind)


def comparison(opcode: str) -> Callable[[int, int], bool] | None:
    """The comparison of a ``setp`` or ``set``; None where it is not one of integers.

    >>> comparison("setp.lt.s32")(2**32 - 1, 0), comparison("setp.lt.u32")(2**32 - 1, 0)
    (True, False)
    """
    words = opcode.split(".")
    kind, compare = type_of(words[-1]), _COMPARE.get(words[1])
    if kind is None or compare is None:
        return None
    is_signed, bits = kind
    if is_signed:
        return lambda a, b: compare(signed(_low(a, bits), bits), signed(_low(b, bits), bits))
    return lambda a, b: compare(_low(a, bits), _low(b, bits))


def _low(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def _number(is_signed: bool, bits: int) -> Callable[[int], int]:
    """Bits as the number that they stand for."""
    mask = (1 << bits) - 1
    if is_signed:
        return lambda value: signed(value & mask, bits)
    return lambda value: value & mask


def _plain(words: list[str], allowed: frozenset[str] = frozenset()) -> bool:
    return all(word in allowed for word in words[:-1])


def _sum(sign: int) -> Callable[[list[str], bool, int], Computation | None]:
    def make(words: list[str], is_signed: bool, bits: int) -> Computation | None:
        mask = (1 << bits) - 1
        return (lambda a, b: (a + sign * b) & mask) if _plain(words) else None

    return make


def _product(words: list[str], is_signed: bool, bits: int, add: bool = False) -> Computation | None:
    part = words[0]
    if part not in ("lo", "hi", "wide") or len(words) != 2:
        return None
    value, shift = _number(is_signed, bits), bits if part == "hi" else 0
    mask = (1 << (2 * bits if part == "wide" else bits)) - 1
    if add:
        return lambda a, b, c: ((value(a) * value(b) >> shift) + c) & mask
    return lambda a, b: value(a) * value(b) >> shift & mask


def _product_sum(words: list[str], is_signed: bool, bits: int) -> Computation | None:
    return _product(words, is_signed, bits, add=True)


def _quotient(remainder: bool) -> Callable[[list[str], bool, int], Computation | None]:
    def make(words: list[str], is_signed: bool, bits: int) -> Computation | None:
        value, mask = _number(is_signed, bits), (1 << bits) - 1

        def divide(a: int, b: int) -> int | None:
            top, bottom = value(a), value(b)
            if not bottom:
                return None
            result = abs(top) // abs(bottom)
            result = -result if (top < 0) != (bottom < 0) else result
            return (top - result * bottom if remainder else result) & mask

        return divide if _plain(words) else None

    return make


def _extreme(choose: Callable[..., int]) -> Callable[[list[str], bool, int], Computation | None]:
    def make(words: list[str], is_signed: bool, bits: int) -> Computation | None:
        value, mask = _number(is_signed, bits), (1 << bits) - 1
        return (lambda *read: choose(map(value, read)) & mask) if _plain(words) else None

    return make


def _bitwise(name: str) -> Callable[[list[str], bool, int], Computation | None]:
    logic = _LOGIC[name]

    def make(words: list[str], is_signed: bool, bits: int) -> Computation | None:
        mask = (1 << bits) - 1
        return lambda a, b: logic(a, b) & mask

    return make


def _shift_left(words: list[str], is_signed: bool, bits: int) -> Computation | None:
    mask = (1 << bits) - 1
    return lambda a, by: 0 if by & 0xFFFFFFFF >= bits else a << (by & 0xFFFFFFFF) & mask


def _shift_right(words: list[str], is_signed: bool, bits: int) -> Computation | None:
    value, mask = _number(is_signed, bits), (1 << bits) - 1
    return lambda a, by: value(a) >> min(by & 0xFFFFFFFF, bits) & mask


def _funnel(words: list[str], is_signed: bool, bits: int) -> Computation | None:
    if len(words) != 3 or words[0] not in ("l", "r") or words[1] not in ("wrap", "clamp") or words[2] != "b32":
        return None
    left, wrap = words[0] == "l", words[1] == "wrap"

    def shift(low: int, high: int, by: int) -> int:
        by = by & 31 if wrap else min(by & 0xFFFFFFFF, 32)
        both = (high & 0xFFFFFFFF) << 32 | low & 0xFFFFFFFF
        return both << by >> 32 & 0xFFFFFFFF if left else both >> by & 0xFFFFFFFF

    return shift


def _extract(words: list[str], is_signed: bool, bits: int) -> Computation | None:
    mask = (1 << bits) - 1

    def field(a: int, position: int, length: int) -> int:
        position, length = position & 0xFF, length & 0xFF
        found = (a & mask) >> position & ((1 << length) - 1)
        top = min(position + length - 1, bits - 1)
        if is_signed and length and a >> top & 1:
            width = max(0, min(length, bits - position))
            found |= mask & ~((1 << width) - 1)
        return found & mask

    return field if _plain(words) else None


def _insert(words: list[str], is_signed: bool, bits: int) -> Computation | None:
    mask = (1 << bits) - 1

    def field(source: int, into: int, position: int, length: int) -> int:
        hole = ((1 << (length & 0xFF)) - 1) << (position & 0xFF) & mask
        return into & mask & ~hole | source << (position & 0xFF) & hole

    return field


def _permute(words: list[str], is_signed: bool, bits: int) -> Computation | None:
    def permute(a: int, b: int, selector: int) -> int:
        both, result = (b & 0xFFFFFFFF) << 32 | a & 0xFFFFFFFF, 0
        for place in range(4):
            code = selector >> 4 * place & 0xF
            byte = both >> 8 * (code & 7) & 0xFF
            byte = (0xFF if byte >> 7 else 0) if code & 8 else byte
            result |= byte << 8 * place
        return result

    return permute if words == ["b32"] else None


def _table(words: list[str], is_signed: bool, bits: int) -> Computation | None:
    mask = (1 << bits) - 1

    def look_up(a: int, b: int, c: int, table: int) -> int:
        rows = ((a if n & 4 else ~a) & (b if n & 2 else ~b) & (c if n & 1 else ~c) for n in range(8) if table >> n & 1)
        result = 0
        for row in rows:
            result |= row
        return result & mask

    return look_up if words == ["b32"] else None


def _unary(compute: Callable[[int, int], int]) -> Callable[[list[str], bool, int], Computation | None]:
    """An operation of one operand, handed the number that it stands for and its bits."""

    def make(words: list[str], is_signed: bool, bits: int) -> Computation | None:
        value, mask = _number(is_signed, bits), (1 << bits) - 1
        return (lambda a: compute(value(a), bits) & mask) if _plain(words) else None

    return make


def _highest_bit(words: list[str], is_signed: bool, bits: int) -> Computation | None:
    value = _number(is_signed, bits)

    def find(a: int) -> int:
        number = value(a)
        place = (~number if number < 0 else number).bit_length() - 1
        return (bits - 1 - place if "shiftamt" in words and place >= 0 else place) & 0xFFFFFFFF

    return find


def _convert(words: list[str], is_signed: bool, bits: int) -> Computation | None:
    to = type_of(words[-2]) if len(words) == 2 else None
    if to is None:
        return None
    value, result = _number(is_signed, bits), _number(*to)
    return lambda a: result(value(a)) & _WIDEST  # a register may be wider than a signed type, which is extended so far


def _copied(words: list[str], is_signed: bool, bits: int) -> Computation | None:
    mask = (1 << bits) - 1
    return lambda a: a & mask


def _choose(words: list[str], is_signed: bool, bits: int) -> Computation | None:
    mask = (1 << bits) - 1
    return lambda a, b, condition: (a if condition else b) & mask


_MAKERS: dict[str, Callable[[list[str], bool, int], Computation | None]] = {
    "mov": _copied,
    "cvta": _copied,
    "cvt": _convert,
    "selp": _choose,
    "add": _sum(1),
    "sub": _sum(-1),
    "mul": _product,
    "mad": _product_sum,
    "div": _quotient(False),
    "rem": _quotient(True),
    "min": _extreme(min),
    "max": _extreme(max),
    "and": _bitwise("and"),
    "or": _bitwise("or"),
    "xor": _bitwise("xor"),
    "not": _unary(lambda a, bits: ~a),
    "cnot": _unary(lambda a, bits: int(a == 0)),
    "neg": _unary(lambda a, bits: -a),
    "abs": _unary(lambda a, bits: abs(a)),
    "popc": _unary(lambda a, bits: (a & ((1 << bits) - 1)).bit_count()),
    "clz": _unary(lambda a, bits: bits - a.bit_length()),
    "brev": _unary(lambda a, bits: int(f"{a:0{bits}b}"[::-1], 2)),
    "bfind": _highest_bit,
    "shl": _shift_left,
    "shr": _shift_right,
    "shf": _funnel,
    "bfe": _extract,
    "bfi": _insert,
    "prmt": _permute,
    "lop3": _table,
}
