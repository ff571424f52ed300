"""State the claim that words read a tile with numbers, as one query in bit vectors.

The query is: is there an address of the tile, an operand and an element of it that the tensor core does not read from
where the layout stores it? The layout follows CuTe's definition (``layout_terms``), and the read addresses the manual
(``walk_terms``). Neither uses the derivation of the word.

Invariant: the query denies that each element is read from where it is stored; its premises alone are satisfiable.

>>> operand, tile = Operand("sm90", "bf16", "K", (8, 16)), Tile(((8, 64), (16, 1)), 0, (3, 3, 3))
>>> question = tile_question(operand, tile, 0x4000004000010000, Moves(((1, 0), (1, 0))), Domain(1024))
>>> question.expected, question.premises_alone.expected, question.values[:5]
('unsat', 'sat', ('base', 'i', 'j', 'r', 'c'))
>>> [text.count("(") == text.count(")") for text in (question.script, question.premises_alone.script)]
[True, True]
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from descriptors.errors import DescriptorError
from descriptors.smem.claims.layout_terms import leaves, mode_term, reach, swizzle_term
from descriptors.smem.claims.question import Question
from descriptors.smem.claims.terms import BITS, both, remark
from descriptors.smem.claims.walk_terms import Operand, fields, walk

#: Number of bytes that a start address can address.
WINDOW = 1 << 18
#: Bound of the numbers whose sums and products stay within 32 bits.
_LARGEST = 1 << 30

#: A mode: its shape and stride.
Mode = tuple[Any, Any]


class Tile(NamedTuple):
    """A tile with numbers.

    Args:
        modes: MN, K, then stages, in elements.
        offset: offset of the first element, before the swizzle.
        swizzle: (bits, base, shift) on elements, or None.
    """

    modes: tuple[Mode, ...]
    offset: int = 0
    swizzle: tuple[int, int, int] | None = None

    @property
    def reach(self) -> tuple[int, int]:
        """The smallest and the largest offset of an element, before the swizzle."""
        low, high = reach(*zip(*self.modes, strict=True)) if self.modes else (0, 0)
        return self.offset + low, self.offset + high


class Moves(NamedTuple):
    """The changes of the words from operand to operand, in units of 16 bytes.

    Args:
        start: modes of the start address, one for each mode of the tile, as functions of the operand's index.
        third: whether the index along K counts 16-byte pieces, of which operand k begins at piece 3*k.
        lines: mode from a line of 128 bytes along K to its offset, for an absolute LBO; None if LBO is constant.
    """

    start: tuple[Mode, ...]
    third: bool = False
    lines: Mode | None = None


class Domain(NamedTuple):
    """The addresses that the claim covers.

    Args:
        step: the tile's address may change by multiples of this number of bytes.
        at: the address of the tile to which the first word belongs.
        pattern: address where the swizzle pattern starts for a tile at ``at``, in bytes; None if it starts with the
            tile, in which case the words have the corresponding base offset.
    """

    step: int
    at: int = 0
    pattern: int | None = 0


def tile_question(
    operand: Operand, tile: Tile, word: int, moves: Moves, domain: Domain, *, ignored: int = 0
) -> Question:
    """Return the query whether words read a tile.

    Args:
        operand: the operand that an instruction reads.
        tile: the tile.
        word: the first word, for a tile at the address ``domain.at``.
        moves: the changes of the word from operand to operand.
        domain: the addresses of the tile.
        ignored: bits of the word that may have any value.

    Raises:
        DescriptorError: if the operand does not divide the tile, or its offsets are too large for 32 bits.
    """
    counts = _counts(operand, tile)
    low, high = tile.reach
    if max(high, -low) * operand.units >= _LARGEST:
        raise DescriptorError(
            f"claim: the tile has offsets {low} to {high}, which are not all below {_LARGEST // operand.units} elements"
        )
    names = ("i", "j", *(f"s{x}" for x in range(len(counts) - 2)))
    premises = [
        "(define-sort N () (_ BitVec 32)) ; numbers: no sum or product below leaves 32 bits",
        "(define-sort Word () (_ BitVec 64))",
        *(f"(declare-const {name} N)" for name in ("base", *names, "r", "c")),
        "(declare-const ignored Word)",
        _stored(operand, tile, names, domain),
        fields(operand),
        walk(operand),
        _words(operand, word, moves, names, ignored, domain),
        _assumptions(operand, counts, names, domain, _fits(operand, tile, domain)),
        "; 6. The question: is an element read from another address?",
    ]
    values = ("base", *names, "r", "c", "stored", "(read word r c)", "word")
    return Question("words", "QF_BV", "\n".join(premises), _DENIAL, _TEXT, values, vacuous=True)


_DENIAL = "(or (not fits) (not (meaningful word)) (not (= (read word r c) stored)))"
_TEXT = "Is there an element of an operand that is read from another address than where the tile stores it?"


def _counts(operand: Operand, tile: Tile) -> list[int]:
    """Return the number of operands along each mode."""
    sizes = [prod(extent for extent, _ in leaves(*mode)) for mode in tile.modes]
    extents = (*operand.shape, *(1 for _ in sizes[2:]))
    if len(sizes) < 2 or any(size % extent for size, extent in zip(sizes, extents, strict=True)):
        raise DescriptorError(f"claim: the tile's extents {tuple(sizes)} are not multiples of {operand.shape}")
    return [size // extent for size, extent in zip(sizes, extents, strict=True)]


def _fits(operand: Operand, tile: Tile, domain: Domain) -> tuple[int, int] | None:
    """Return the smallest and the largest address of the tile within the window; None if it does not fit."""
    low, high = tile.reach
    first, last = max(0, -(low * operand.bits // 8)), operand.window - -(-(high + 1) * operand.bits // 8)
    first += (domain.at - first) % domain.step
    return (first, last) if first <= last else None


def _stored(operand: Operand, tile: Tile, names: Sequence[str], domain: Domain) -> str:
    """Return the definitions of the address where the tile stores element (r, c) of operand (i, j, ...)."""
    rows = BITS.sum(BITS.product("i", operand.shape[0]), "r")
    columns = BITS.sum(BITS.product("j", operand.shape[1]), "c")
    lines = [remark("1. The layout as CuTe defines it, in elements: index div and mod the shape, times the strides.")]
    lines += [f"(define-fun mode-{x} ((x N)) N {mode_term(*mode, 'x', BITS)})" for x, mode in enumerate(tile.modes)]
    indices = [rows, columns, *names[2:]]
    parts = [f"(mode-{x} {index})" for x, index in enumerate(indices)]
    lines.append(f"(define-fun offset () N {BITS.sum(tile.offset, *parts)})")
    counted = "addresses count half bytes" if operand.half else "addresses count bytes"
    begins = BITS.product("base", 2) if operand.half else "base"
    pattern = domain.pattern
    if tile.swizzle is None:
        lines.append(f"(define-fun stored () N {BITS.sum(begins, BITS.product('offset', operand.units))}) ; {counted}")
        return "\n".join(lines)
    bits, base, shift = tile.swizzle
    lines.append(
        f"; Its swizzle S<{bits},{base},{shift}>: bits {base + shift} up of an offset, xored into bits {base} up."
    )
    lines.append(f"(define-fun swizzled ((x N)) N {swizzle_term(tile.swizzle, 'x')})")
    per_element = BITS.part(begins, operand.units)
    if pattern is None:
        body = BITS.sum(begins, BITS.product("(swizzled offset)", operand.units))
        why = "the pattern starts with the tile"
    else:
        moved = pattern % 1024 and operand.counted(1024 - pattern % 1024)
        absolute = f"(swizzled {BITS.sum(per_element, moved // operand.units, 'offset')})"
        body = BITS.product(absolute, operand.units)
        body = f"(bvsub {body} {BITS.number(moved)})" if moved else body
        why = f"the pattern starts at {pattern}" if pattern else "on absolute addresses"
    lines.append(f"(define-fun stored () N {body}) ; {counted}; {why}")
    return "\n".join(lines)


def _words(operand: Operand, word: int, moves: Moves, names: Sequence[str], ignored: int, domain: Domain) -> str:
    """Return the definitions of the word of operand (i, j, ...) for a tile at ``base``."""
    indices = [BITS.product(name, 3) if moves.third and name == "j" else name for name in names]
    terms = [mode_term(*mode, index, BITS) for mode, index in zip(moves.start, indices, strict=True)]
    begins = [BITS.part("base", 16), *([-(domain.at // 16)] if domain.at else [])]
    wide, top = operand.address_bits, operand.address_bits - 1
    start = BITS.sum(f"((_ zero_extend {32 - wide}) ((_ extract {top} 0) first))", *begins, *terms)
    lines = [
        remark(f"4. The words: the first, for a tile at address {domain.at}, and its changes, in units of 16 bytes."),
        f"(define-fun mask () Word #x{ignored:016x}) ; bits that may have any value",
        f"(define-fun first () Word (bvxor #x{word:016x} (bvand ignored mask)))",
        f"(define-fun units () N {start})",
    ]
    fits, upper = [BITS.below("units", 1 << wide)], f"((_ extract 63 {wide}) first)"
    if moves.lines is not None:
        line = BITS.part(BITS.sum(BITS.product("j", 3), 2), 8)
        others = [term for x, term in enumerate(terms) if x != 1]
        own = BITS.sum(
            f"((_ zero_extend {32 - wide}) ((_ extract {16 + top} 16) first))",
            *begins,
            mode_term(*moves.lines, line, BITS),
            *others,
        )
        lines.append(f"(define-fun line () N {own}) ; LBO: the line that has the last of 3 pieces of K")
        fits.append(BITS.below("line", 1 << wide))
        between = f"((_ extract 15 {wide}) first)"
        upper = f"((_ extract 63 {16 + wide}) first) ((_ extract {top} 0) line) {between}"
    lines.append(f"(define-fun fits () Bool {both(fits)}) ; so that additions do not carry into other fields")
    moved = f"(concat {upper} ((_ extract {top} 0) units))"
    if domain.pattern is None:
        rows = "((_ zero_extend 61) ((_ extract 9 7) base))"
        moved = f"(bvor {moved} (bvshl {rows} (_ bv49 64)))"
        lines.append("; The pattern starts with the tile: base offset = base div 128 mod 8.")
    lines.append(f"(define-fun word () Word {moved})")
    return "\n".join(lines)


def _assumptions(
    operand: Operand, counts: Sequence[int], names: Sequence[str], domain: Domain, bounds: tuple[int, int] | None
) -> str:
    """Return the assertions of the domain: addresses of the tile, operands and elements."""
    ends = [*zip(names, counts, strict=True), ("r", operand.shape[0]), ("c", operand.shape[1])]
    lines = ["; 5. The domain: the address of the tile, the operand, and the element of the operand."]
    lines.append(f"(assert (= {BITS.rest('base', domain.step)} {BITS.number(domain.at % domain.step)}))")
    if bounds is not None:
        first, last = bounds
        lines.append(
            f"(assert {BITS.least(first, 'base', last)}) ; the tile is in the window of {operand.window} bytes"
        )
    else:
        lines.append("; The tile is larger than the window: only operands that a start address can reach.")
        lines += [f"(assert {BITS.below('base', operand.window)})", "(assert fits)"]
    lines += [f"(assert {BITS.below(name, end)})" for name, end in ends]
    return "\n".join(lines)
