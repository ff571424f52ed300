"""The claim that formulas hold for tiles of every size, as four questions, each of which a solver decides at once.

With symbols for the sizes one question would be products of unknowns, quotients and bits together, which no solver
decides. Four are enough:

- *walk*, over the integers: before the exclusive-or, start + walk is base + offset in the tile. Coordinates are sums of
  digits, and what quotients and remainders come to is assumed, digit by digit. The symbols are unbounded.
- *lemmas*, over the integers: the quotients and remainders are what *walk* assumes. All divisors are numbers.
- *swizzle*, in bit vectors: the tile's swizzle, on elements, is the exclusive-or of the walk, on any address.
- *window*, over the integers: if the tile lies in the window, every start address, LBO and SBO fits its 14 bits.

Together they say that every word reads its operand: an address is the exclusive-or of the same sum on both sides.
Chunks of 16 bytes stay whole, for start, LBO and SBO are multiples of 16 by what their fields count.

Law: every quotient and remainder that *walk* uses is one that *lemmas* asks about.

>>> from layoutalg import symbol
>>> m, k = symbol("m"), symbol("k")
>>> modes = (((8, 8 * m), (8, 64)), ((8, 2 * k), (1, 512 * m)))
>>> advance = ((m, 64), (k, 128 * m))
>>> family = Family(("m", "k"), modes, None, Swizzle(16, 0, 4, 8), 64 * m, 8, advance, ("leading", "stride"))
>>> walk, lemmas, *_ = family_questions(Operand("sm100", "bf16", "K", (64, 16)), family)
>>> assumed = [line[9:-12] for line in walk.premises.splitlines() if line.endswith("; a lemma")]
>>> len(assumed), all(one in lemmas.denial for one in assumed)
(8, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise, product
from math import prod
from typing import Any, NamedTuple

from descriptors.errors import DescriptorError
from descriptors.smem.claims.layout_terms import leaves, mode_term, swizzle_term
from descriptors.smem.claims.question import Question
from descriptors.smem.claims.terms import BITS, INTEGERS, both, either
from descriptors.smem.claims.tile_claim import WINDOW, Mode
from descriptors.smem.claims.walk_terms import Operand, Swizzle

_I = INTEGERS

#: Of integers and products of unknowns. There are no uninterpreted functions in it; z3 takes its ways for those, which
#: decide these questions in a sixtieth of the time.
_LOGIC = "UFNIA"


class Family(NamedTuple):
    """Tiles of every size, and what is said of their words.

    Args:
        symbols: the names of the symbols, which are positive integers.
        modes: of the tile, in elements: MN, K, then stages.
        swizzle: (bits, base, shift) on elements; None for none.
        pattern: the swizzle that the word names.
        leading, stride: LBO and SBO, as their fields count them, in 16 bytes.
        advance: from operand to operand, a mode for each of the tile's, in 16 bytes.
        read: names of the fields that are read, ``"leading"`` and ``"stride"``.
    """

    symbols: tuple[str, ...]
    modes: tuple[Mode, ...]
    swizzle: tuple[int, int, int] | None
    pattern: Swizzle
    leading: Any
    stride: Any
    advance: tuple[Mode, ...]
    read: tuple[str, ...]


class _Index(NamedTuple):
    """An index taken apart: weights and names of its digits, and its end; 0 where only a symbol says that."""

    weights: tuple[int, ...]
    names: tuple[str, ...]
    end: int

    def sum(self, low: int, high: int | None = None) -> str:
        """The digits of weights from ``low`` to below ``high``, in multiples of ``low``."""
        chosen = [
            _I.product(name, weight // low)
            for name, weight in zip(self.names, self.weights, strict=True)
            if weight >= low and (high is None or weight < high)
        ]
        return _I.sum(*chosen)

    def ranges(self) -> list[str]:
        """What is known of the digits."""
        ends = [high // low for low, high in pairwise((*self.weights, self.end))]
        return [_I.within(name, end) if end else _I.least(0, name) for name, end in zip(self.names, ends, strict=True)]


def family_questions(one: Operand, family: Family) -> tuple[Question, ...]:
    """The four questions.

    Args:
        one: what an instruction reads.
        family: the tiles, and what is said of their words.

    Raises:
        DescriptorError: if an extent other than the last of a mode holds a symbol, or the extents that cut an index do
            not divide each other.
    """
    indices = _indices(one, family)
    lemmas = _lemmas(one, family, indices)
    constants = [*family.symbols, "base", *(name for index in indices for name in index.names)]
    head = "\n".join([*(f"(declare-const {name} Int)" for name in constants), _coordinates(one, indices)])
    ranges = [*(_I.least(1, name) for name in family.symbols), *(one for index in indices for one in index.ranges())]
    known = "\n".join(f"(assert {condition})" for condition in ranges)
    assumed = "\n".join(f"(assert (= {term} {digits})) ; a lemma" for term, digits in lemmas)
    walk = f"{head}\n{_definitions(one, family)}\n{known}\n{assumed}"
    wrong = either([f"(not (= {term} {digits}))" for term, digits in lemmas])
    return (
        Question("walk", _LOGIC, walk, "(not (= fetched stored))", _ASKED["walk"], vacuous=True),
        Question("lemmas", _LOGIC, f"{head}\n{known}", wrong, _ASKED["lemmas"]),
        Question("swizzle", "QF_BV", _swizzle(one, family), "(not (= stored fetched))", _ASKED["swizzle"]),
        _window(one, family),
    )


_ASKED = {
    "walk": "Is start + walk anywhere another number than base + offset in the tile, before the exclusive-or?",
    "lemmas": "Is a quotient or a remainder another number than its digits say?",
    "swizzle": "Is the tile's swizzle anywhere another permutation than the exclusive-or of the walk?",
    "window": "Is there a tile in the window with a start address, an LBO or an SBO that its field cannot hold?",
}


def _indices(one: Operand, family: Family) -> list[_Index]:
    """The digits of every mode's index: cut where the tile, the walk, the operand and the advance cut it."""
    per = 16 * 8 // one.bits
    found = []
    for x, (mode, moves) in enumerate(zip(family.modes, family.advance, strict=True)):
        extent = one.shape[x] if x < 2 else 1
        cuts = {1, extent, *_cuts(mode, 1), *_cuts(moves, extent)}
        if x < 2:
            along, across = ({per}, {8}) if one.major == "K" else _mn_cuts(one, family)
            cuts |= {cut for cut in (along if (x == 1) == (one.major == "K") else across) if cut < extent}
        weights = tuple(sorted(cuts))
        if any(high % low for low, high in pairwise(weights)):
            raise DescriptorError(f"claim: extents that cut an index must divide each other, found {weights}")
        names = tuple(f"{'rcs'[min(x, 2)]}{'' if x < 3 else x}_{t}" for t in range(len(weights)))
        whole = prod(size for size, _ in leaves(*mode))
        found.append(_Index(weights, names, whole if isinstance(whole, int) else 0))
    return found


def _mn_cuts(one: Operand, family: Family) -> tuple[set[int], set[int]]:
    width = family.pattern.width * 8 // one.bits
    return {width}, {family.pattern.rows}


def _cuts(mode: Mode, unit: int) -> list[int]:
    """The weights at which a mode cuts its index."""
    found, below = list[int](), unit
    for extent, _ in list(leaves(*mode))[:-1]:
        if not isinstance(extent, int):
            raise DescriptorError(f"claim: only the last extent of a mode may hold a symbol, found {mode[0]}")
        below *= extent
        found.append(below)
    return found


def _lemmas(one: Operand, family: Family, indices: Sequence[_Index]) -> list[tuple[str, str]]:
    """Quotients and remainders of the definitions, with the digits that they come to."""
    found = dict[str, str]()
    for x, (mode, moves, index) in enumerate(zip(family.modes, family.advance, indices, strict=True)):
        extent = one.shape[x] if x < 2 else 1
        for term, shape, unit in ((f"index-{x}", mode[0], 1), (f"operand-{x}", moves[0], extent)):
            below, own = unit, list(leaves(shape, shape))
            for number, (size, _) in enumerate(own):
                quotient = _I.part(term, below // unit)
                if number == len(own) - 1:
                    if below != unit:
                        found[quotient] = index.sum(below)
                    break
                found[_I.rest(quotient, size)] = index.sum(below, below * size)
                below *= size
    for x, index in zip((0, 1), indices, strict=False):
        along = (x == 1) == (one.major == "K")
        element = f"element-{x}"
        if along:
            span = 16 if one.major == "K" else family.pattern.width
            cut, b = span * 8 // one.bits, _I.product(element, one.units)
            term, whole = b, one.counted(span)
            scale = one.units
        else:
            cut = 8 if one.major == "K" else family.pattern.rows
            term, whole, scale = element, cut, 1
        end = one.shape[x]
        high = index.sum(cut, end) if cut < end else "0"
        found[_I.part(term, whole)] = high
        found[_I.rest(term, whole)] = _I.product(scale, index.sum(1, min(cut, end)))
    return list(found.items())


def _coordinates(one: Operand, indices: Sequence[_Index]) -> str:
    """The indices of element (r, c) of operand (i, j, ...), as sums of digits."""
    lines = list[str]()
    for x, index in enumerate(indices):
        extent = one.shape[x] if x < 2 else 1
        lines.append(f"(define-fun index-{x} () Int {index.sum(1)}) ; of the tile's mode {x}")
        lines.append(f"(define-fun operand-{x} () Int {index.sum(extent)}) ; which operand along it")
        if x < 2:
            lines.append(f"(define-fun element-{x} () Int {index.sum(1, extent)}) ; which element of that")
    return "\n".join(lines)


def _definitions(one: Operand, family: Family) -> str:
    """Where element (r, c) of operand (i, j, ...) is stored, and where it is read, before the exclusive-or."""
    offsets = [mode_term(*mode, f"index-{x}", _I) for x, mode in enumerate(family.modes)]
    starts = [mode_term(*moves, f"operand-{x}", _I) for x, moves in enumerate(family.advance)]
    half = "half bytes" if one.half else "bytes"
    sixteen = one.counted(16)
    begins = _I.product(2, "base") if one.half else "base"
    lines = [
        "; the layout as CuTe defines it, in elements",
        f"(define-fun offset () Int {_I.sum(*offsets)})",
        f"(define-fun stored () Int {_I.sum(begins, _I.product(one.units, 'offset'))}) ; in {half}",
        "; the words: start, LBO and SBO, whose fields count 16 bytes",
        f"(define-fun start () Int {_I.sum(begins, _I.product(sixteen, _I.sum(*starts)))})",
        f"(define-fun leading () Int {_I.product(sixteen, family.leading)})",
        f"(define-fun stride () Int {_I.product(sixteen, family.stride)})",
        "; the walk as the manual has it",
        f"(define-fun fetched () Int {_walk(one, family)})",
    ]
    return "\n".join(lines)


def _walk(one: Operand, family: Family) -> str:
    sixteen, width = one.counted(16), one.counted(family.pattern.width)
    if one.major == "K":
        b, r = _I.product("element-1", one.units), "element-0"
        return _I.sum(
            "start",
            _I.product(_I.part(r, 8), "stride"),
            _I.product(_I.rest(r, 8), width),
            _I.rest(b, sixteen),
            _I.product(_I.part(b, sixteen), sixteen if family.pattern.bits else "leading"),
        )
    b, c, rows = _I.product("element-0", one.units), "element-1", family.pattern.rows
    further, down = ("leading", "stride") if family.pattern.bits else ("stride", "leading")
    return _I.sum(
        "start",
        _I.product(_I.part(b, width), further),
        _I.rest(b, width),
        _I.product(_I.rest(c, rows), width),
        _I.product(_I.part(c, rows), down),
    )


def _swizzle(one: Operand, family: Family) -> str:
    """For any offset in elements: its place in units of addresses is permuted alike by both."""
    bits, place = family.pattern.bits, family.pattern.place + one.half
    mine = swizzle_term(family.swizzle, "x") if family.swizzle else "x"
    line = f"(bvand (bvlshr a {BITS.number(7 + one.half)}) {BITS.number((1 << bits) - 1)})"
    theirs = f"(bvxor a (bvshl {line} {BITS.number(place)}))"
    limit = one.counted(2 * WINDOW) // one.units
    return "\n".join(
        [
            "(define-sort N () (_ BitVec 32))",
            "(declare-const x N) ; the offset of an element from address 0, in elements",
            f"(define-fun a () N {BITS.product('x', one.units)}) ; the same in {'half bytes' if one.half else 'bytes'}",
            f"(assert {BITS.below('x', limit)}) ; so that nothing leaves 32 bits",
            f"(define-fun stored () N {BITS.product(mine, one.units)})",
            f"(define-fun fetched () N {theirs})",
        ]
    )


def _window(one: Operand, family: Family) -> Question:
    """With every symbol as its index plus 1 plus what is left, all terms are sums of products of one sign."""
    bound, names, lines, starts, size = set[str](), list[str](), list[str](), list[str](), list[Any]()
    groups = dict[str, list[str]]()
    for x, (mode, moves) in enumerate(zip(family.modes, family.advance, strict=True)):
        size += [extent for extent, _ in leaves(*mode)]
        for t, (extent, step) in enumerate(leaves(*moves)):
            if extent == 1:
                continue
            name = f"o{x}_{t}"
            starts.append(_I.product(name, step))
            if isinstance(extent, int):
                names.append(name)
                lines.append(f"(assert {_I.within(name, extent)})")
            elif str(extent) in family.symbols and str(extent) not in bound:
                bound.add(str(extent))
                groups[str(extent)] = [name, f"slack-{extent}"]
            else:
                names.append(name)
                lines.append(f"(assert (and (<= 0 {name}) (< {name} {_I.number(extent)})))")
    for symbol in family.symbols:
        groups.setdefault(symbol, [f"slack-{symbol}"])
    head = [f"(declare-const {name} Int)" for name in ("base", *names)]
    for symbol, parts in groups.items():
        head += [f"(declare-const {part} Int)\n(assert (<= 0 {part}))" for part in parts]
        head.append(f"(define-fun {symbol} () Int {_I.sum(*parts, 1)}) ; a positive integer")
    products = [f"(assert (<= 0 (* {' '.join(chosen)})))" for chosen in _products(list(groups.values()))]
    total = f"(* {' '.join(map(_I.number, [one.bits, *size]))})"
    fields = [("start", _I.sum("base", *starts))]
    fields += [(name, _I.number(getattr(family, name))) for name in family.read]
    premises = "\n".join(
        [
            *head,
            *lines,
            "; what is never negative, so that the rest is linear: products of numbers that are not",
            *products,
            f"; the tile lies in the window of {WINDOW} bytes; its address, base, counts 16 bytes, its size bits",
            f"(assert (and (<= 0 base) (<= (+ (* 128 base) {total}) {8 * WINDOW})))",
            *(f"(define-fun {name} () Int {term})" for name, term in fields),
        ]
    )
    denial = f"(not {both([_I.within(name, 1 << 14) for name, _ in fields])})"
    return Question("window", _LOGIC, premises, denial, _ASKED["window"], vacuous=True)


def _products(groups: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Products of one number of each of two or more groups."""
    return [
        chosen
        for count in range(2, len(groups) + 1)
        for some in combinations(groups, count)
        for chosen in product(*some)
    ]
