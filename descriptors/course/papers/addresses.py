"""Items of lessons 9 and 10: where a swizzle leads an address, its three numbers, its unit, the smallest that helps.

Law: of a picture of bits the key is the swizzle that was drawn.

>>> from random import Random
>>> from descriptors.course.papers.item import make
>>> make(KINDS[1], Random(1)).exercise.solution
'S<1,5,3>'
"""

from __future__ import annotations

from random import Random

from descriptors.course.papers.item import Draft, Kind, below, listed, pick, spoken, unknown
from layoutalg import Swizzle, wavefronts


def address(rng: Random) -> Draft | None:
    """Where a swizzle leads three addresses."""
    swizzle = pick(rng, (Swizzle(3, 4, 3), Swizzle(2, 4, 3), Swizzle(1, 4, 3)))
    given = sorted(16 * (1 + below(rng, 127)) for _ in range(3))
    right = [swizzle(a) for a in given]
    if len(set(given)) < 3 or any(map(int.__eq__, given[:2], right)):
        return None
    b, m, s = swizzle.bits, swizzle.base, swizzle.shift
    bits = f"{m + s} to {m + s + b - 1}" if b > 1 else f"{m + s}"
    one = given[0]
    return Draft(
        ask=f"The byte addresses to which `{swizzle}` leads the addresses {spoken(given)}, as three numbers.",
        judge="numbers",
        operands=tuple(f"({swizzle})({a})" for a in given),
        starter=unknown(3),
        hints=(
            "Write the address in binary; the lowest bit is bit 0.",
            f"Bit{'s' * (b > 1)} {bits} {'are' if b > 1 else 'is'} XORed onto the bit{'s' * (b > 1)} {s} lower.",
            f"In {one} bits {m + s} and up are {one >> (m + s)}, those from {m} up are {one >> m}.",
        ),
        solution=listed(right),
        why=f"The {b} bits from {m + s} up are XORed onto those from {m} up; the others stay.",
        slips=(
            (listed(given), "the addresses are taken to stay"),
            (listed(a ^ (a >> (m + s) & (2**b - 1)) for a in given), "the XOR goes to the lowest bits"),
            (listed(a + ((a >> (m + s) & (2**b - 1)) << m) for a in given), "the bits are added, not XORed"),
            (listed(a ^ ((a >> m & (2**b - 1)) << (m + s)) for a in given), "the XOR goes upward"),
            (listed(Swizzle(b, m - 1, s)(a) for a in given), "the unit is taken for two bytes, not one"),
            (listed(right[:2]), "one address is left out"),
        ),
    )


def numbers(rng: Random) -> Draft:
    """The three numbers of a swizzle from the bits that it changes."""
    b, m = 1 + below(rng, 3), below(rng, 6)
    s = b + below(rng, 3)
    right = Swizzle(b, m, s)
    pairs = spoken(f"bit {m + k} by bit {m + s + k}" for k in range(b))
    return Draft(
        ask=f"The swizzle `S<B,M,S>` in which an address is changed, by XOR, like this: {pairs}; and nothing else is.",
        judge="same map",
        operands=(str(right), 2 << m + s + b),
        starter="S<?,?,?>",
        hints=(
            "B is how many bits are changed.",
            "M is the lowest bit that is changed.",
            f"S is the distance from a bit that is changed to the bit that changes it: {m + s} - {m}.",
        ),
        solution=str(right),
        why=f"{b} bit{'s' * (b > 1)} from bit {m} up, changed by those {s} higher.",
        slips=(
            (f"S<{b},{m},{m + s}>", "S is taken for the place of the upper bits, not their distance"),
            (f"S<{b},{m + s},{s}>", "M is taken for the lowest bit that changes others"),
            (f"S<{b},{s},{max(m, b)}>", "M and S are exchanged"),
            (f"S<{b},{m + 1},{s}>", "bits are counted from 1"),
            (f"S<{b},{m},{-s}>", "the bits change those above them"),
            (f"S<{m + b},{m},{m + b + s}>", "B is taken for the end of the bits"),
        ),
    )


def elements(rng: Random) -> Draft:
    """A swizzle of bytes as one of elements."""
    b, (name, size) = 1 + below(rng, 3), pick(rng, (("bf16", 2), ("f16", 2), ("tf32", 4), ("f64", 8), ("f32", 4)))
    low, shift = 4 + below(rng, 2), pick(rng, (3, 4, 5))
    down = size.bit_length() - 1
    return Draft(
        ask=(
            f"`S<{b},{low},{shift}>` swizzles byte addresses. The swizzle of offsets counted in {name} "
            f"elements, of {size} "
            "bytes each, that moves every element to the same bytes."
        ),
        judge="in elements",
        operands=(f"S<{b},{low},{shift}>", size),
        starter="S<?,?,?>",
        hints=(
            f"The offset of element x in bytes is {size}*x: in binary its bits move up by {down}.",
            "So bits of an offset in elements lie lower than those of the address. Which of the three "
            "numbers is a place?",
            "B is a count and S a distance: they stay.",
        ),
        solution=f"S<{b},{low - down},{shift}>",
        why=f"{size} bytes an element: what is bit {low} of an address is bit {low - down} of an offset in elements.",
        slips=(
            (f"S<{b},{low},{shift}>", "the unit is not changed: bytes are taken for elements"),
            (f"S<{b},{low + down},{shift}>", "the bits are moved up, not down"),
            (f"S<{b},{low},{shift + 1}>", "the distance is changed, not the place"),
            (f"S<{b},{low - down},{max(b, shift - down)}>", "the distance is made smaller as well"),
            (f"S<{b},{max(0, low - size)},{shift}>", "the bytes of an element are taken for bits of the address"),
        ),
    )


def smallest(rng: Random) -> Draft | None:
    """The smallest swizzle with which a column is read without conflicts."""
    count = pick(rng, (4, 8, 16))
    lanes = 128 // count
    width, rows = pick(rng, (32, 64, 128, 256)), lanes * pick(rng, (1, 2, 4))
    every = rows // lanes
    if width < count or width * rows > 8192:
        return None
    low, step = count.bit_length() - 1, (width * every).bit_length() - 1
    bits = wavefronts([width * every * lane for lane in range(lanes)], count).bit_length() - 1  # those that meet
    if bits == 0:
        return None
    from_bit = max(7, step)
    right = f"S<{bits},{low},{from_bit - low}>"
    return Draft(
        ask=(
            f"A row-major tile of {rows} rows of {width} bytes. {lanes} lanes load {count} bytes each from "
            "its first column, "
            f"{'one row after another' if every == 1 else f'every {every} rows'}. The swizzle of byte "
            "addresses with the "
            "fewest bits with which this takes one turn."
        ),
        judge="smallest",
        operands=(f"({rows},{width}):({width},1)", 1, (f"{lanes}:{every}", count)),
        starter="S<?,?,?>",
        hints=(
            f"Lanes are {width * every} bytes apart; banks come again after 128 bytes. Which bits of the "
            "address differ "
            "between lanes that meet?",
            f"The {count} bytes of a lane must stay together: no bit below bit {low} may change.",
            f"{2**bits} lanes meet in a bank, which takes {bits} bit{'s' * (bits > 1)} to tell apart.",
        ),
        solution=right,
        why=(
            f"{bits} bits from bit {from_bit} up tell the lanes apart that meet; they are XORed onto those "
            f"from {low} up."
        ),
        slips=_misjudged(bits, low, from_bit),
    )


def _misjudged(bits: int, low: int, from_bit: int) -> tuple[tuple[str, str], ...]:
    return (
        (f"S<{bits},{low},{max(bits, from_bit - low - 1)}>", "the bits that are read lie one too low"),
        (f"S<{bits - 1},{low},{from_bit - low}>" if bits > 1 else f"S<0,{low},3>", "one bit is missing"),
        (f"S<{bits},{low - 1},{from_bit - low + 1}>", "a bit inside a lane's bytes is changed"),
        (f"S<{bits},{low},{from_bit - low + 4}>", "the bits that are read lie above those that differ"),
        (f"S<{bits},{low - 2},{from_bit - low}>", "the unit is taken for words, not bytes"),
        ("S<0,4,3>", "no bits are changed"),
    )


#: The kinds of this module.
KINDS = (
    Kind("address", 9, 2, address),
    Kind("bits", 9, 1, numbers),
    Kind("elements", 9, 3, elements),
    Kind("smallest swizzle", 10, 3, smallest),
)
