"""What an integer instruction makes of what is known of its operands, by its whole opcode.

An opcode is folded only if its name and each of its qualifiers are known here: ``add.s32`` is, ``add.sat.s32`` and
``add.f32`` are not. A rule takes the operands after the result, each as many bits as it has, and its answer has zeros
above the width of its type; a predicate has one bit. What an instruction leaves open, as a division by zero, is not
known.
Source: PTX ISA 9.1: Integer Arithmetic, Logic and Shift, Comparison and Selection, Data Movement and Conversion
Instructions; Operand Size Exceeding Instruction-Type Size (what a conversion leaves in a wider register).

Law: of operands that are known all is known, of an opcode that is not in the table nothing is.

>>> [rule(name)([exactly(12), exactly(3)]).value for name in ("add.s32", "shr.u32", "xor.b32", "mul.wide.u16")]
[15, 1, 15, 36]
>>> [rule(name) for name in ("add.sat.s32", "add.f32", "bfe.b32", "adds", "mul.s32")]
[None, None, None, None, None]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import TypeAlias

from descriptors.check.ptx.known_bits import (
    ALL,
    NOTHING,
    Known,
    add,
    below,
    both,
    by_table,
    differ,
    either,
    exactly,
    extend,
    insert,
    largest,
    merge,
    modulo,
    multiply,
    narrow,
    shift_left,
    shift_right,
    subtract,
)

#: From what is known of the operands to what is known of the result.
Rule: TypeAlias = Callable[[Sequence[Known]], Known]
#: A rule of some width, of signed values or not.
_Typed: TypeAlias = Callable[[Sequence[Known], int, bool], Known]


@lru_cache(maxsize=4096)
def rule(opcode: str) -> Rule | None:
    """What an opcode computes; None for one that is not folded.

    Args:
        opcode: with all its qualifiers.

    >>> rule("shf.l.wrap.b32")([exactly(0x80000000), exactly(1), exactly(1)]).value
    3
    """
    name, _, kind = opcode.rpartition(".")
    made = _TYPED.get(name)
    letter, digits = kind[:1], kind[1:]
    if made is not None and digits in ("16", "32", "64", "red") and (kind == "pred" or digits != "red"):
        function, allowed = made
        bits = 1 if kind == "pred" else int(digits)
        if ("p" if bits == 1 else letter + digits) in _ALLOWED[allowed]:
            return partial(_typed, function, bits, letter == "s")
    if name.startswith("setp."):
        return _setp(name.split(".")[1:], kind)
    return _conversion(opcode)


def _typed(function: _Typed, bits: int, signed: bool, read: Sequence[Known]) -> Known:
    return function(read, bits, signed)


# The types that an instruction may have: u, s, b with 16, 32, 64 bits, and p.
_INTEGERS = frozenset("u16 s16 u32 s32 u64 s64".split())
_BITS = frozenset("b16 b32 b64".split())
_ALLOWED = {
    "integer": _INTEGERS,
    "signed": frozenset("s16 s32 s64".split()),
    "narrow": frozenset("u16 s16 u32 s32".split()),
    "bits": _BITS,
    "logic": _BITS | {"p"},
    "shift": _BITS | _INTEGERS,
    "any": _BITS | _INTEGERS | {"p", "f16", "f32", "f64"},
    "chosen": _BITS | _INTEGERS | {"f16", "f32", "f64"},
    "field": frozenset("u32 s32 u64 s64".split()),
    "b32": frozenset(["b32"]),
    "wide": frozenset(["b32", "b64"]),
}


def _add(read: Sequence[Known], bits: int, signed: bool) -> Known:
    return add(read[0], read[1], bits)


def _subtract(read: Sequence[Known], bits: int, signed: bool) -> Known:
    return subtract(narrow(read[0], bits), narrow(read[1], bits), bits)


def _both(read: Sequence[Known], bits: int, signed: bool) -> Known:
    return both(narrow(read[0], bits), narrow(read[1], bits), bits)


def _either(read: Sequence[Known], bits: int, signed: bool) -> Known:
    return either(narrow(read[0], bits), narrow(read[1], bits), bits)


def _differ(read: Sequence[Known], bits: int, signed: bool) -> Known:
    return differ(read[0], read[1], bits)


def _inverse(read: Sequence[Known], bits: int, signed: bool) -> Known:
    return differ(read[0], exactly(-1, bits), bits)


def _same(read: Sequence[Known], bits: int, signed: bool) -> Known:
    return narrow(read[0], bits)


def _negative(read: Sequence[Known], bits: int, signed: bool) -> Known:
    return subtract(exactly(0), narrow(read[0], bits), bits)


def _absolute(read: Sequence[Known], bits: int, signed: bool) -> Known:
    one = narrow(read[0], bits)
    sign = 1 << (bits - 1)
    if not one.mask & sign:
        return NOTHING
    return subtract(exactly(0), one, bits) if one.value & sign else one


def _left(read: Sequence[Known], bits: int, signed: bool) -> Known:
    by = read[1].constant(32)
    return NOTHING if by is None else shift_left(read[0], by, bits)


def _right(read: Sequence[Known], bits: int, signed: bool) -> Known:
    by, one = read[1].constant(32), narrow(read[0], bits)
    if by is None:
        return below(largest(one)) if not signed else NOTHING
    if not signed or one.mask & ~one.value & 1 << (bits - 1):
        return shift_right(one, by, bits)
    by = min(by, bits - 1)
    return narrow(extend(shift_right(one, by, bits), bits - by, bits), bits)


def _low_product(read: Sequence[Known], bits: int, signed: bool) -> Known:
    return multiply(narrow(read[0], bits), narrow(read[1], bits), bits)


def _wide_product(read: Sequence[Known], bits: int, signed: bool) -> Known:
    if signed:
        a, b = (narrow(extend(one, bits, 2 * bits), 2 * bits) for one in read[:2])
        return multiply(a, b, 2 * bits)
    return multiply(narrow(read[0], bits), narrow(read[1], bits), 2 * bits)


def _high_product(read: Sequence[Known], bits: int, signed: bool) -> Known:
    a, b = narrow(read[0], bits), narrow(read[1], bits)
    if a.mask == b.mask == ALL:
        return exactly(_number(a, bits, signed) * _number(b, bits, signed) >> bits, bits)
    return NOTHING if signed else below(largest(a) * largest(b) >> bits)


def _low_sum(read: Sequence[Known], bits: int, signed: bool) -> Known:
    return add(_low_product(read, bits, signed), read[2], bits)


def _wide_sum(read: Sequence[Known], bits: int, signed: bool) -> Known:
    return add(_wide_product(read, bits, signed), read[2], 2 * bits)


def _high_sum(read: Sequence[Known], bits: int, signed: bool) -> Known:
    return add(_high_product(read, bits, signed), read[2], bits)


def _number(one: Known, bits: int, signed: bool) -> int:
    """The number that a constant is."""
    return one.value - (1 << bits) if signed and one.value >> (bits - 1) else one.value


def _divided(read: Sequence[Known], bits: int, signed: bool) -> tuple[Known, Known] | None:
    """The operands of a division, if they are not negative, and the second is not zero."""
    a, b = narrow(read[0], bits), narrow(read[1], bits)
    sign = 1 << (bits - 1) if signed else 0
    return None if (a.value | ~a.mask | b.value | ~b.mask) & sign or not b.value else (a, b)


def _quotient(read: Sequence[Known], bits: int, signed: bool) -> Known:
    if found := _divided(read, bits, signed):
        a, b = found
        by = b.constant(64)
        if by is not None and by & (by - 1) == 0:
            return shift_right(a, by.bit_length() - 1, bits)
        return exactly(a.value // b.value) if a.mask == b.mask == ALL else below(largest(a) // b.value)
    parts = _signed_parts(read, bits)
    return NOTHING if parts is None or not signed else exactly(parts[0], bits)


def _remainder(read: Sequence[Known], bits: int, signed: bool) -> Known:
    if found := _divided(read, bits, signed):
        a, b = found
        by = b.constant(64)
        if by is not None and by & (by - 1) == 0:
            return both(a, exactly(by - 1), bits)
        return exactly(a.value % b.value) if a.mask == b.mask == ALL else below(min(largest(a), largest(b) - 1))
    parts = _signed_parts(read, bits)
    return NOTHING if parts is None or not signed else exactly(parts[1], bits)


def _signed_parts(read: Sequence[Known], bits: int) -> tuple[int, int] | None:
    """Quotient, rounded to zero, and remainder of two constants; None where the instruction leaves them open."""
    a, b = narrow(read[0], bits), narrow(read[1], bits)
    if a.mask != ALL or b.mask != ALL or not b.value:
        return None
    x, y = _number(a, bits, True), _number(b, bits, True)
    if y == -1:  # which the least number has no quotient by
        return None
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return quotient, x - quotient * y


def _least(read: Sequence[Known], bits: int, signed: bool) -> Known:
    a, b = narrow(read[0], bits), narrow(read[1], bits)
    less = _compared("lt", a, b, bits, signed)
    return merge([a, b]) if less is None else a if less else b


def _most(read: Sequence[Known], bits: int, signed: bool) -> Known:
    a, b = narrow(read[0], bits), narrow(read[1], bits)
    less = _compared("lt", a, b, bits, signed)
    return merge([a, b]) if less is None else b if less else a


def _selected(read: Sequence[Known], bits: int, signed: bool) -> Known:
    which = read[2].constant(1)
    if which is not None:
        return narrow(read[0 if which else 1], bits)
    return merge([narrow(read[0], bits), narrow(read[1], bits)])


def _field(read: Sequence[Known], bits: int, signed: bool) -> Known:
    """``bfe``: position and length are taken modulo 256; above the highest bit there are zeros, or the sign."""
    position, length = read[1].constant(8), read[2].constant(8)
    if position is None or length is None:
        return NOTHING
    one = narrow(read[0], bits)
    if length == 0:
        return exactly(0)
    if not signed:
        return modulo(shift_right(one, position, bits), length) if length < bits else shift_right(one, position, bits)
    position = min(position, bits - 1)
    length = min(length, bits - position)
    return narrow(extend(shift_right(one, position, bits), length, bits), bits)


def _inserted(read: Sequence[Known], bits: int, signed: bool) -> Known:
    position, length = read[2].constant(8), read[3].constant(8)
    if position is None or length is None:
        return NOTHING
    return insert(read[0], read[1], position, length, bits)


def _permuted(read: Sequence[Known], bits: int, signed: bool) -> Known:
    """``prmt``: each four bits of the selector choose a byte of eight, or its sign."""
    selector, made = read[2].constant(16), exactly(0)
    if selector is None:
        return NOTHING
    eight = insert(read[1], narrow(read[0], 32), 32, 32, 64)
    for place in range(4):
        nibble = selector >> 4 * place & 15
        byte = narrow(shift_right(eight, 8 * (nibble & 7), 64), 8)
        if nibble & 8:
            byte = narrow(extend(narrow(shift_right(byte, 7, 8), 1), 1, 8), 8)
        made = insert(byte, made, 8 * place, 8, 32)
    return made


def _by_table(read: Sequence[Known], bits: int, signed: bool) -> Known:
    table = read[3].constant(8)
    return NOTHING if table is None else by_table(table, read[:3], bits)


def _funnel(left: bool, wrap: bool, read: Sequence[Known], bits: int, signed: bool) -> Known:
    by = read[2].constant(32)
    if by is None:
        return NOTHING
    by = by & 31 if wrap else min(by, 32)
    whole = insert(read[1], narrow(read[0], 32), 32, 32, 64)
    return narrow(shift_right(whole, 32 - by if left else by, 64), 32)


def _counted_ones(read: Sequence[Known], bits: int, signed: bool) -> Known:
    one = narrow(read[0], bits)
    return exactly(one.value.bit_count()) if one.mask == ALL else below(largest(one).bit_count())


def _counted_zeros(read: Sequence[Known], bits: int, signed: bool) -> Known:
    one = narrow(read[0], bits)
    return exactly(bits - one.value.bit_length()) if one.mask == ALL else below(bits - one.value.bit_length())


def _reversed(read: Sequence[Known], bits: int, signed: bool) -> Known:
    one = narrow(read[0], bits)
    return exactly(int(f"{one.value:0{bits}b}"[::-1], 2)) if one.mask == ALL else NOTHING


_TYPED: dict[str, tuple[_Typed, str]] = {
    "add": (_add, "integer"),
    "sub": (_subtract, "integer"),
    "neg": (_negative, "signed"),
    "abs": (_absolute, "signed"),
    "mul.lo": (_low_product, "integer"),
    "mul.hi": (_high_product, "integer"),
    "mul.wide": (_wide_product, "narrow"),
    "mad.lo": (_low_sum, "integer"),
    "mad.hi": (_high_sum, "integer"),
    "mad.wide": (_wide_sum, "narrow"),
    "div": (_quotient, "integer"),
    "rem": (_remainder, "integer"),
    "min": (_least, "integer"),
    "max": (_most, "integer"),
    "and": (_both, "logic"),
    "or": (_either, "logic"),
    "xor": (_differ, "logic"),
    "not": (_inverse, "logic"),
    "shl": (_left, "bits"),
    "shr": (_right, "shift"),
    "mov": (_same, "any"),
    "selp": (_selected, "chosen"),
    "bfe": (_field, "field"),
    "bfi": (_inserted, "wide"),
    "prmt": (_permuted, "b32"),
    "lop3": (_by_table, "b32"),
    "shf.l.wrap": (partial(_funnel, True, True), "b32"),
    "shf.l.clamp": (partial(_funnel, True, False), "b32"),
    "shf.r.wrap": (partial(_funnel, False, True), "b32"),
    "shf.r.clamp": (partial(_funnel, False, False), "b32"),
    "popc": (_counted_ones, "wide"),
    "clz": (_counted_zeros, "wide"),
    "brev": (_reversed, "wide"),
}

_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_ORDER = ("lt", "le", "gt", "ge")
_JOINED: dict[str, _Typed] = {"and": _both, "or": _either, "xor": _differ}


def _setp(words: list[str], kind: str) -> Rule | None:
    """A comparison of integers, and perhaps with a predicate: ``setp.lt.u32``, ``setp.ne.and.b64``."""
    if not 1 <= len(words) <= 2 or kind not in _BITS | _INTEGERS:
        return None
    how, joined = words[0], _JOINED.get(words[-1]) if len(words) == 2 else None
    if kind[0] == "u":
        how = _UNSIGNED.get(how, how)
    known = how in ("eq", "ne") or (how in _ORDER and kind[0] != "b")
    if not known or (len(words) == 2 and joined is None):
        return None
    return partial(_comparison, how, joined, int(kind[1:]), kind[0] == "s")


def _comparison(how: str, joined: _Typed | None, bits: int, signed: bool, read: Sequence[Known]) -> Known:
    found = _compared(how, narrow(read[0], bits), narrow(read[1], bits), bits, signed)
    made = below(1) if found is None else exactly(found)
    return made if joined is None else joined([made, read[2]], 1, False)


def opposite(opcode: str) -> Rule | None:
    """What the second predicate of ``setp p|q`` has.

    >>> opposite("setp.lt.s32")([exactly(1), exactly(2)]).value
    0
    """
    words = opcode.split(".")
    other = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
    other |= {"lo": "hs", "hs": "lo", "hi": "ls", "ls": "hi"}
    return rule(".".join([words[0], other.get(words[1], ""), *words[2:]])) if words[0] == "setp" else None


def _compared(how: str, a: Known, b: Known, bits: int, signed: bool) -> bool | None:
    """Whether a comparison holds; None where it may and may not."""
    if how in ("eq", "ne"):
        if (a.value ^ b.value) & a.mask & b.mask:
            return how == "ne"
        return how == "eq" if a.mask == b.mask == ALL else None
    if how in ("gt", "le"):
        a, b = b, a
    # now whether a is less, or, of ge and le, whether it is not
    low, most = _range(a, bits, signed)
    least, high = _range(b, bits, signed)
    less = True if most < least else False if low >= high else None
    return less if how in ("lt", "gt") or less is None else not less


def _range(one: Known, bits: int, signed: bool) -> tuple[int, int]:
    """The least and the largest value that there may be."""
    free, sign = ALL & ~one.mask, 1 << (bits - 1)
    if not signed:
        return one.value, one.value | free
    least, most = (one.value | free & sign), (one.value | free & ~sign)
    return (least ^ sign) - sign, (most ^ sign) - sign


_INTEGER = {f"{letter}{bits}": (letter == "s", bits) for letter in "us" for bits in (8, 16, 32, 64)}


def _conversion(opcode: str) -> Rule | None:
    words = opcode.split(".")
    if len(words) != 3 or words[0] != "cvt" or words[1] not in _INTEGER or words[2] not in _INTEGER:
        return None
    return partial(_converted, *_INTEGER[words[1]], *_INTEGER[words[2]])


def _converted(to_signed: bool, to: int, signed: bool, bits: int, read: Sequence[Known]) -> Known:
    """A conversion between integers; its result is as wide as a register may be, and a signed one extended so far."""
    one = extend(read[0], bits, 64) if signed else narrow(read[0], bits)
    return extend(one, to, 64) if to_signed else narrow(one, to)
