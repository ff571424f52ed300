"""Write the address that the tensor core reads for an element and any 64-bit word, in SMT-LIB 2, by the PTX manual.

The address of element (r, c), with r along M or N, c along K, s bytes per element and W bytes per row (16, 32, 64 or
128, by the swizzle), is::

    K-major    b = c*s   start + r div 8 * SBO + r mod 8 * W + b mod 16 + b div 16 * 16    swizzled
                         start + r div 8 * SBO + r mod 8 * 16 + b mod 16 + b div 16 * LBO  without swizzle
    MN-major   b = r*s   start + b div W * LBO + b mod W + c mod 8 * W + c div 8 * SBO     swizzled
                         start + b div 16 * SBO + b mod 16 + c mod 8 * 16 + c div 8 * LBO  without swizzle
    address xor (address div 128 - base offset) mod 2**B * 16       B = 1, 2, 3 of 32B, 64B, 128B

128B with 32-byte atoms (sm100): 4 rows of c instead of 8, and address xor (address div 128 - base offset) mod 4 * 32.
With LBO mode 1 (sm100, K = 48 bytes), LBO is the address of the line of 128 bytes in which K continues.
Source: PTX ISA 9.1, "Matrix descriptor format" of ``wgmma`` and ``tcgen05``, "Asynchronous warpgroup level matrix
shared memory layout", "Shared memory layout and canonical layouts", "Absolute address mode for K dimension being 48B".

Addresses count half bytes for elements of 4 bits, and bytes for all others. Narrow elements in containers of 16 bytes
count as bytes.

Invariant: parentheses are balanced, and for every operand each swizzle of its architecture has a case.

>>> for arch, dtype, major in (("sm90", "bf16", "K"), ("sm100", "e2m1", "K"), ("sm100", "tf32", "MN")):
...     text = walk(Operand(arch, dtype, major, (64, 16)))
...     assert text.count("(") == text.count(")") and text.count("(= (code w)") >= len(CODES[arch]) - 1, arch
"""

from __future__ import annotations

from typing import NamedTuple

from descriptors.errors import ChoiceError
from descriptors.smem.claims.terms import BITS, remark

#: Storage bits of an element, by its type; a narrow element in a container counts as 8 bits.
STORED_BITS = {
    "f16": 16, "bf16": 16, "s1z4m11": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "e2m3": 8, "e3m2": 8,
    "e2m1_unpacksmem": 8, "e2m1": 4,
}  # fmt: skip


class Swizzle(NamedTuple):
    """A swizzle of the hardware: bytes of a row, number and position of the changed bits, rows of c of an atom."""

    width: int
    bits: int
    place: int
    rows: int


NONE, ROWS_32, ROWS_64 = Swizzle(16, 0, 4, 8), Swizzle(32, 1, 4, 8), Swizzle(64, 2, 4, 8)
ROWS_128 = Swizzle(128, 3, 4, 8)
ATOMS_32 = Swizzle(128, 2, 5, 4)
#: The swizzle of each code: bits [62,64) of a word of sm90, [61,64) of one of sm100 and of sm107.
CODES = {
    "sm90": {0: NONE, 1: ROWS_128, 2: ROWS_64, 3: ROWS_32},
    "sm100": {0: NONE, 1: ATOMS_32, 2: ROWS_128, 4: ROWS_64, 6: ROWS_32},
}
CODES["sm107"] = CODES["sm100"]
#: Bits of the start address and of LBO in a word.
ADDRESS_BITS = {"sm90": 14, "sm100": 14, "sm107": 15}


class Operand(NamedTuple):
    """The properties of an operand on which the read address depends besides the word.

    Args:
        arch: the architecture: ``"sm90"``, ``"sm100"`` or ``"sm107"``.
        dtype: name of the element type.
        major: ``"K"`` or ``"MN"``.
        shape: extents (MN, K) in elements.
    """

    arch: str
    dtype: str
    major: str
    shape: tuple[int, int]

    @property
    def bits(self) -> int:
        """Bits that an element takes up.

        Raises:
            ChoiceError: if there is no such type.
        """
        if self.dtype not in STORED_BITS:
            raise ChoiceError("claim: dtype", self.dtype, tuple(STORED_BITS))
        return STORED_BITS[self.dtype]

    @property
    def address_bits(self) -> int:
        """Bits of the start address and of LBO."""
        return ADDRESS_BITS[self.arch]

    @property
    def window(self) -> int:
        """The size of the memory that a start address can reach, in bytes."""
        return 16 << self.address_bits

    @property
    def half(self) -> int:
        """1 if addresses count half bytes, otherwise 0."""
        return int(self.bits == 4)

    @property
    def units(self) -> int:
        """The address units of an element: bytes, or 1 half byte."""
        return self.bits // (4 if self.half else 8)

    def counted(self, bytes_: int) -> int:
        """Convert bytes to address units."""
        return bytes_ << self.half

    @property
    def may_cross(self) -> bool:
        """Whether LBO may be an absolute address: K has 48 bytes in rows of 128 bytes."""
        return self.arch != "sm90" and self.major == "K" and self.shape[1] * self.bits == 48 * 8


def fields(operand: Operand) -> str:
    """Return the definitions of the fields of a word, in address units."""
    code = 62 if operand.arch == "sm90" else 61
    sixteen = BITS.number(operand.counted(16))
    wide = operand.address_bits
    widths = "Start, LBO and SBO are 14 bits" if wide == 14 else f"Start and LBO are {wide} bits, SBO 14"
    lines = [
        remark(
            f"2. The fields of a 64-bit word. {widths} that count 16 bytes.\n"
            f"(PTX ISA 9.1, matrix descriptor of {'wgmma' if operand.arch == 'sm90' else 'tcgen05'})"
        ),
        *(
            f"(define-fun {name} ((w Word)) N "
            f"(bvmul {sixteen} ((_ zero_extend {32 - bits}) ((_ extract {low + bits - 1} {low}) w))))"
            for name, low, bits in (("start", 0, wide), ("leading", 16, wide), ("stride", 32, 14))
        ),
        "(define-fun base-offset ((w Word)) N ((_ zero_extend 29) ((_ extract 51 49) w)))",
        f"(define-fun code ((w Word)) N ((_ zero_extend {32 - (64 - code)}) ((_ extract 63 {code}) w)))",
    ]
    if operand.arch != "sm90":
        lines.append("(define-fun absolute ((w Word)) Bool (= ((_ extract 52 52) w) #b1))")
    return "\n".join(lines)


def walk(operand: Operand) -> str:
    """Return the definitions of ``meaningful``, whether a word is valid, and of ``(read w r c)``, the read address."""
    codes = CODES[operand.arch]
    body = _case(operand, codes[0])
    for code, swizzle in list(codes.items())[1:]:
        body = f"(ite (= (code w) {BITS.number(code)}) {_case(operand, swizzle)}\n    {body})"
    if operand.may_cross:
        body = f"(ite (absolute w) (across w r c)\n    {body})"
    return "\n".join(
        [
            remark("3. The read model: the address that is read for element (r, c), by the PTX manual."),
            _permuted(operand),
            _rows(operand),
            *([_across(operand)] if operand.may_cross else []),
            _meaningful(operand),
            f"(define-fun read ((w Word) (r N) (c N)) N\n    {body})",
        ]
    )


def _case(operand: Operand, swizzle: Swizzle) -> str:
    if not swizzle.bits:
        return "(plain w r c)"
    width = BITS.number(operand.counted(swizzle.width))
    rows = f" {BITS.number(swizzle.rows)}" if operand.major == "MN" else ""
    mask, place = BITS.number((1 << swizzle.bits) - 1), BITS.number(swizzle.place + operand.half)
    return f"(permuted w (rows w r c {width}{rows}) {mask} {place})"


def _permuted(operand: Operand) -> str:
    line = BITS.number(7 + operand.half)
    return (
        "(define-fun permuted ((w Word) (a N) (mask N) (place N)) N\n"
        f"  (bvxor a (bvshl (bvand (bvsub (bvlshr a {line}) (base-offset w)) mask) place)))"
    )


def _rows(operand: Operand) -> str:
    """Return the definitions of the sums before the exclusive-or, without a swizzle and in rows of W bytes."""
    sixteen, eight = operand.counted(16), 8
    if operand.major == "K":
        b, row = BITS.product("c", operand.units), BITS.part("r", eight)
        rest = BITS.rest("r", eight)
        plain = BITS.sum("(start w)", BITS.product(row, "(stride w)"), BITS.product(rest, sixteen))
        rows = BITS.sum("(start w)", BITS.product(row, "(stride w)"), BITS.product(rest, "W"))
        within, pieces = BITS.rest("b", sixteen), BITS.part("b", sixteen)
        return "\n".join(
            [
                f"(define-fun plain ((w Word) (r N) (c N)) N (let ((b {b}))",
                f"  (bvadd {plain} {within} {BITS.product(pieces, '(leading w)')})))",
                f"(define-fun rows ((w Word) (r N) (c N) (W N)) N (let ((b {b}))",
                f"  (bvadd {rows} {within} {BITS.product(pieces, sixteen)})))",
            ]
        )
    b = BITS.product("r", operand.units)
    plain = BITS.sum(
        "(start w)",
        BITS.product(BITS.part("b", sixteen), "(stride w)"),
        BITS.rest("b", sixteen),
        BITS.product(BITS.rest("c", eight), sixteen),
        BITS.product(BITS.part("c", eight), "(leading w)"),
    )
    rows = BITS.sum(
        "(start w)",
        BITS.product(BITS.part("b", "W"), "(leading w)"),
        BITS.rest("b", "W"),
        BITS.product(BITS.rest("c", "n"), "W"),
        BITS.product(BITS.part("c", "n"), "(stride w)"),
    )
    return (
        f"(define-fun plain ((w Word) (r N) (c N)) N (let ((b {b}))\n  {plain}))\n"
        f"(define-fun rows ((w Word) (r N) (c N) (W N) (n N)) N (let ((b {b}))\n  {rows}))"
    )


def _across(operand: Operand) -> str:
    """Return the definition of the read address with LBO mode 1: from piece 8 of a line on, K continues in the line of
    LBO.
    """
    sixteen = operand.counted(16)
    piece = BITS.sum(BITS.rest(BITS.part("(start w)", sixteen), 8), BITS.part("b", sixteen))
    here = f"(bvadd (start w) {BITS.product(BITS.part('b', sixteen), sixteen)})"
    there = f"(bvadd (leading w) {BITS.product(f'(bvsub p {BITS.number(8)})', sixteen)})"
    down = BITS.sum(
        BITS.product(BITS.part("r", 8), "(stride w)"),
        BITS.product(BITS.rest("r", 8), operand.counted(128)),
        BITS.rest("b", sixteen),
    )
    return (
        "; LBO mode 1: piece p of 16 bytes of its line; from piece 8 on K goes on in the line at address LBO.\n"
        f"(define-fun across ((w Word) (r N) (c N)) N (let ((b {BITS.product('c', operand.units)}))\n"
        f"  (let ((p {piece})) (permuted w (bvadd {down}\n"
        f"    (ite {BITS.below('p', 8)} {here} {there})) {BITS.number(7)} {BITS.number(4 + operand.half)}))))"
    )


def _meaningful(operand: Operand) -> str:
    """Return the definition of a valid word: version, swizzle code and LBO mode of sm100. Every sm90 word is valid."""
    if operand.arch == "sm90":
        return "(define-fun meaningful ((w Word)) Bool true)"
    supported = " ".join(f"(= (code w) {BITS.number(code)})" for code in CODES[operand.arch])
    absolute = "(not (absolute w))"
    if operand.may_cross:
        line = f"(= {BITS.rest('(leading w)', operand.counted(128))} {BITS.number(0)})"
        absolute = f"(or {absolute} (and (= (code w) {BITS.number(2)}) (= (base-offset w) {BITS.number(0)}) {line}))"
    return (
        f"; A word of {operand.arch} has version 1, a swizzle code that is one; "
        "LBO mode 1 only where 48 bytes of K may cross.\n"
        f"(define-fun meaningful ((w Word)) Bool\n  (and (= ((_ extract 48 46) w) #b001) (or {supported}) {absolute}))"
    )
