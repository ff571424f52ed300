"""Descriptor words to put to the hardware: drawn at random, or chosen to settle one question.

The words are random in everything that a word says, but keep what the tensor core may read inside a given part of
shared memory, by the steps that the fields are documented to take. Plain integers; no part of the libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from probes.instructions import Instruction

#: Bits of an sm90 word that belong to no field.
RESERVED = 0b11 << 14 | 0b11 << 30 | 0b111 << 46 | 0x3FF << 52

WINDOW = 1 << 18
_SPANS = {0: 16, 1: 128, 2: 64, 3: 32}


@dataclass(frozen=True, slots=True)
class Operand:
    """The operand of an instruction that is probed.

    Args:
        which: ``"A"`` or ``"B"``.
        instruction: the instruction.
    """

    which: str
    instruction: Instruction

    @property
    def rows(self) -> int:
        """Extent along M or N."""
        return 64 if self.which == "A" else self.instruction.n

    @property
    def shape(self) -> tuple[int, int]:
        """(MN, K) extents in elements."""
        return self.rows, self.instruction.k

    @property
    def mn_major(self) -> bool:
        """Whether M or N is the contiguous dimension."""
        return self.instruction.a_mn if self.which == "A" else self.instruction.b_mn


def encode_word(start: int, leading: int, stride: int, *, base: int = 0, code: int = 0, reserved: int = 0) -> int:
    """Put an sm90 word together; addresses and offsets in bytes.

    >>> hex(encode_word(0x400, 16, 1024, code=1))
    '0x4000004000010040'
    """
    fields = (start & 0x3FFFF) >> 4 | (leading & 0x3FFFF) >> 4 << 16 | (stride & 0x3FFFF) >> 4 << 32
    return fields | base << 49 | code << 62 | reserved & RESERVED


def steps(operand: Operand, code: int) -> tuple[int, int, int]:
    """How many LBO and SBO steps an operand takes beyond the first, and the bytes that the rest of its walk spans."""
    span, size = _SPANS[code], operand.instruction.element_bytes
    rows, k = operand.shape
    if not operand.mn_major:
        return (1 if code == 0 else 0), rows // 8 - 1, 8 * span + 32
    pieces = -(-rows * size // span) - 1
    groups = k // 8 - 1
    return (groups, pieces, 128) if code == 0 else (pieces, groups, 8 * span)


def draw(operand: Operand, random: Random, low: int, high: int) -> int:
    """A random word whose reads stay in [low, high)."""
    code = random.randrange(4)
    leading_steps, stride_steps, rest = steps(operand, code)
    room = (high - low - rest - 256) // 16
    share = random.random()
    leading = 16 * _extent(random, int(room * share), leading_steps)
    stride = 16 * _extent(random, int(room * (1 - share)), stride_steps)
    reach = leading_steps * leading + stride_steps * stride + rest + 128
    grain = random.choice((1024, 1024, 256, 128, 16, 16))
    first = -(-low // grain)
    start = grain * random.randint(first, max(first, (high - reach) // grain))
    base = random.choice((0, random.randrange(8)))
    reserved = random.choice((0, random.getrandbits(64)))
    return encode_word(start, leading, stride, base=base, code=code, reserved=reserved)


def _extent(random: Random, room: int, count: int) -> int:
    """A step in 16-byte units, ``count`` of which fit ``room`` units; any at all if none is taken."""
    most = 0x3FFF if count == 0 else min(0x3FFF, max(0, room // count))
    usual = [step for step in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256) if step <= most]
    kind = random.randrange(4)
    if kind == 0:
        return random.choice(usual)
    return random.randint(0, most) if kind == 1 else random.randint(0, max(1, most) >> random.randrange(6))


def draw_wrapping(operand: Operand, random: Random, low: int, high: int) -> int:
    """A random word with negative steps: offsets near 2**18, so that start + offset passes the end of the window."""
    while True:
        code = random.randrange(4)
        leading_steps, stride_steps, rest = steps(operand, code)
        if leading_steps + stride_steps == 0:
            continue
        room = (high - low - rest - 256) // 16
        share = random.random()
        leading = 16 * _extent(random, int(room * share), leading_steps) if leading_steps else 0
        stride = 16 * _extent(random, int(room * (1 - share)), stride_steps) if stride_steps else 0
        back_leading, back_stride = random.choice(((True, True), (True, False), (False, True)))
        below = leading_steps * leading * back_leading + stride_steps * stride * back_stride
        above = leading_steps * leading * (not back_leading) + stride_steps * stride * (not back_stride)
        first, last = -(-(low + below) // 16), (high - above - rest - 128) // 16
        if below == 0 or last < first:
            continue
        start = 16 * random.randint(first, last)
        return encode_word(start, -leading if back_leading else leading, -stride if back_stride else stride, code=code)


@dataclass(frozen=True, slots=True)
class Question:
    """Words put to one operand to settle one question.

    Args:
        name: of the question.
        text: the question, in a line.
        operand: what reads the words.
        words: groups of words; where the answer is yes, the words of a group are read alike.
    """

    name: str
    text: str
    operand: Operand
    words: tuple[tuple[int, ...], ...]


def questions(low: int) -> list[Question]:
    """The questions on which sources disagree, for an f16 operand of 64 x 16 (128B, 64B and 32B rows all occur).

    Args:
        low: first address that the words may read.
    """
    a, a_mn, b, b_mn = (
        Operand("A", Instruction("f16", 16)),
        Operand("A", Instruction("f16", 16, a_mn=True)),
        Operand("B", Instruction("f16", 64, a_in_registers=True)),
        Operand("B", Instruction("f16", 64, a_in_registers=True, b_mn=True)),
    )
    at = -(-low // 1024) * 1024
    shifts = (0, 16, 32, 64, 96, 112, 128, 240, 1024 + 368)
    strides = {1: 1024, 2: 512, 3: 256}

    def ignored_leading(shift: int, code: int) -> tuple[int, ...]:
        fields = (0, 1, 2, 8, 64, 512, 0x3FFF)
        return tuple(encode_word(at + shift, 16 * field, strides[code], code=code) for field in fields)

    def each_bit(make: Callable[[int], int]) -> tuple[int, ...]:
        return (make(0), *(make(1 << bit) for bit in range(64) if RESERVED >> bit & 1), make(RESERVED))

    def plain(code: int) -> Callable[[int], int]:
        return lambda bits: encode_word(at, 128 if code == 0 else 16, strides.get(code, 256), code=code, reserved=bits)

    def above_the_pattern(code: int) -> tuple[tuple[int, ...], ...]:
        # A pattern repeats after as many lines as it has: 8, 4, 2 of 128B, 64B, 32B; without one, after a single line.
        lines = {0: 1, 1: 8, 2: 4, 3: 2}[code]
        return tuple(
            tuple(encode_word(at + shift, 2048, 1024, base=base, code=code) for base in range(first, 8, lines))
            for shift in (0, 16, 384, 1024 + 368)
            for first in range(lines)
        )

    above = tuple(group for code in (0, 2, 3) for group in above_the_pattern(code))
    leading = tuple(ignored_leading(shift, code) for code in (1, 2, 3) for shift in shifts)
    bits = tuple(each_bit(plain(code)) for code in range(4))
    # Base offset b at a start b rows into the pattern reads like base offset 0 at the pattern's start, moved b rows.
    bases = tuple(
        (encode_word(at + 128 * row, 16, 1024, base=base, code=code),)
        for code in (1, 2, 3)
        for row in (0, 3)
        for base in range(8)
    )
    return [
        Question("lbo_swizzled_k_a", "Is the LBO of a swizzled K-major A ignored, at any start?", a, leading),
        Question("lbo_swizzled_k_b", "Is the LBO of a swizzled K-major B ignored, at any start?", b, leading),
        Question("reserved_bits_k", "Are bits 14-15, 30-31, 46-48 and 52-61 ignored, K-major?", a, bits),
        Question("reserved_bits_mn", "Are bits 14-15, 30-31, 46-48 and 52-61 ignored, MN-major?", a_mn, bits),
        Question("base_offset", "Does the base offset act for 32B, 64B and 128B, by subtraction?", a, bases),
        *(
            Question(
                f"base_offset_above_{name}", "Are base-offset bits above the swizzle's pattern ignored?", one, above
            )
            for name, one in (("k_a", a), ("mn_a", a_mn), ("k_b", b), ("mn_b", b_mn))
        ),
        Question(
            "bit_table",
            "Does 0x0010000002001000 mean start 0x10000, LBO 8192, SBO 0, no swizzle (bit 52 ignored)?",
            a,
            ((0x0010000002001000, encode_word(0x10000, 8192, 0)),),
        ),
    ]


@dataclass(frozen=True, slots=True)
class Border:
    """One word that reads at, or beyond, a border.

    Args:
        name: what is beyond.
        operand: what reads the word.
        word: the word.
        shared_bytes: dynamic shared memory that the block has.
    """

    name: str
    operand: Operand
    word: int
    shared_bytes: int


def window_questions(seed: int, low: int, high: int) -> list[Border]:
    """Words at the borders of a block's shared memory, and words whose start + offset reaches 2**18.

    Those of the second kind read inside the block's shared memory if the sum is taken modulo 2**18. Twice: the first
    by a small step forwards over the border, the others by steps of almost 2**18, which would be steps backwards.

    Args:
        low, high: dynamic shared memory of a block that has as much as can be.
    """
    a = Operand("A", Instruction("f16", 16))
    whole, part = high - low, 0x10000
    made = [
        Border("the last 256 bytes", a, encode_word(high - 256, 128, 0), whole),
        Border("16 bytes past the end", a, encode_word(high - 240, 128, 0), whole),
        Border("from the end on", a, encode_word(high, 128, 0), whole),
        Border("from address 0 on, the system's part", a, encode_word(0, 128, 0), whole),
        Border("the last 256 bytes of a part", a, encode_word(low + part - 256, 128, 0), part),
        Border("from the end of a part on", a, encode_word(low + part, 128, 0), part),
        Border("128 KiB past the end of a part", a, encode_word(low + part + 0x20000, 128, 0), part),
        Border("from the end of all on, the block having a part", a, encode_word(high, 128, 0), part),
    ]
    two_groups = Operand("B", Instruction("f16", 16, a_in_registers=True))
    for start, stride in ((0x38000, 0xA000), (0x38000, 0x9000), (0x20000, 0x23000)):
        made.append(Border("a step over 2**18", two_groups, encode_word(start, 128, stride), whole))
    operands = [a, Operand("A", Instruction("f16", 16, a_mn=True)), Operand("A", Instruction("e4m3", 32))]
    operands += [
        Operand("B", Instruction("f16", 256, a_in_registers=True, b_mn=True)),
        Operand("B", Instruction("tf32", 64, a_in_registers=True)),
        Operand("B", Instruction("f16", 64)),
    ]
    for operand in operands:
        random = Random(f"{seed} window {operand.which} {operand.instruction.name}")
        for _ in range(6):
            made.append(
                Border("steps of almost 2**18", operand, draw_wrapping(operand, random, low + 2048, high), whole)
            )
    return made
