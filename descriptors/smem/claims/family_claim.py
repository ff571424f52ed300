"""State the claim that formulas hold for tiles of every size, as four queries that a solver decides quickly.

With symbols for the sizes, a single query would combine products of unknowns, quotients and bits, which solvers do not
decide. Four queries suffice:

- *walk*, over the integers: before the exclusive-or, start + read offset equals base + offset in the tile. Coordinates
  are sums of digits, and the values of quotients and remainders are assumed, digit by digit. The symbols are unbounded.
- *lemmas*, over the integers: the quotients and remainders have the values that *walk* assumes. All divisors are
  numbers.
- *swizzle*, in bit vectors: the tile's swizzle, on elements, is the exclusive-or of the read model, on every address.
- *window*, over the integers: if the tile is within the window, every start address, LBO and SBO fits its 14 bits.

Together they imply that every word reads its operand: an address is the exclusive-or of the same sum on both sides.
Units of 16 bytes stay whole, because start, LBO and SBO are multiples of 16.

Invariant: *lemmas* covers every quotient and remainder that *walk* uses.

>>> from layoutalg import symbol
>>> m, k = symbol("m"), symbol("k")
>>> modes = (((8, 8 * m), (8, 64)), ((8, 2 * k), (1, 512 * m)))
>>> advance = ((m, 64), (k, 128 * m))
>>> family = Family(("m", "k"), modes, None, Swizzle(16, 0, 4, 8), 64 * m, 8, advance, ("leading", "stride"))
>>> walk, lemmas, *_ = family_questions(Operand("sm100", "bf16", "K", (64, 16)), family)
>>> assumed = [line[9:-12] for line in walk.premises.splitlines() if line.endswith("; a lemma")]
>>> len(assumed), all(lemma in lemmas.denial for lemma in assumed)
(8, True)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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

#: Integers and products of unknowns. The queries have no uninterpreted functions, but with this logic z3 decides them
#: 60 times faster.
_LOGIC = "UFNIA"


class Family(NamedTuple):
    """A family of tiles of every size, and the formulas of their words.

    Args:
        symbols: the names of the symbols, which are positive integers.
        modes: the modes of the tile, in elements: MN, K, then stages.
        swizzle: (bits, base, shift) on elements, or None.
        pattern: the swizzle of the word.
        leading, stride: LBO and SBO, in 16-byte units.
        advance: the offsets from operand to operand, a mode for each mode of the tile, in 16-byte units.
        read: names of the fields that are read: ``"leading"`` and ``"stride"``.
    """

    symbols: tuple[str, ...]
    modes: tuple[Mode, ...]
    swizzle: tuple[int, int, int] | None
    pattern: Swizzle
    leading: Any
    stride: Any
    advance: tuple[Mode, ...]
    read: tuple[str, ...]


class _Coordinate(NamedTuple):
    """The coordinate of an element in its operand along MN or K, split into periods as the read model does.

    Args:
        name: the term of the coordinate.
        extent: elements of an operand.
        period: along the contiguous mode, the elements in 16 bytes (K-major) or in a row of the swizzle (MN-major);
            along the other mode, the rows of an atom.
        scale: along the contiguous mode, the address units of an element; 1 along the other mode.
    """

    name: str
    extent: int
    period: int
    scale: int

    @property
    def part(self) -> str:
        """The number of periods before the element."""
        return _I.part(_I.product(self.name, self.scale), self.scale * self.period)

    @property
    def rest(self) -> str:
        """The position of the element in its period, in address units along the contiguous mode."""
        return _I.rest(_I.product(self.name, self.scale), self.scale * self.period)


def _coordinates(operand: Operand, pattern: Swizzle) -> tuple[_Coordinate, _Coordinate]:
    """Return the coordinates along MN and K."""
    k_major = operand.major == "K"
    span, rows = (16, 8) if k_major else (pattern.width, pattern.rows)
    along, across = (span * 8 // operand.bits, operand.units), (rows, 1)
    mn, k = (across, along) if k_major else (along, across)
    return _Coordinate("element-0", operand.shape[0], *mn), _Coordinate("element-1", operand.shape[1], *k)


class _Index(NamedTuple):
    """An index of a mode of the tile, split into digits.

    Args:
        weights: the weight of each digit.
        names: the names of the digits.
        end: the extent of the mode; 0 if it contains a symbol.
        coordinate: the coordinate of the element in its operand; None for modes after K, along which an operand has one
            element.
    """

    weights: tuple[int, ...]
    names: tuple[str, ...]
    end: int
    coordinate: _Coordinate | None

    @property
    def extent(self) -> int:
        """Elements of an operand along the mode."""
        return self.coordinate.extent if self.coordinate else 1

    def sum(self, low: int, high: int | None = None) -> str:
        """Return the digits of weights from ``low`` to below ``high``, in multiples of ``low``."""
        chosen = [
            _I.product(name, weight // low)
            for name, weight in zip(self.names, self.weights, strict=True)
            if weight >= low and (high is None or weight < high)
        ]
        return _I.sum(*chosen)

    def ranges(self) -> list[str]:
        """Return the conditions on the digits."""
        ends = [high // low for low, high in pairwise((*self.weights, self.end))]
        return [_I.within(name, end) if end else _I.least(0, name) for name, end in zip(self.names, ends, strict=True)]


def family_questions(operand: Operand, family: Family) -> tuple[Question, ...]:
    """Return the four questions.

    Args:
        operand: the operand that an instruction reads.
        family: the tiles and the formulas of their words.

    Raises:
        DescriptorError: if an extent other than the last of a mode contains a symbol, or the extents that split an
            index do not divide each other.
    """
    mn, k = _coordinates(operand, family.pattern)
    indices = _indices(family, [mn, k, *[None] * (len(family.modes) - 2)])
    lemmas = _lemmas(family, indices)
    constants = [*family.symbols, "base", *(name for index in indices for name in index.names)]
    head = "\n".join([*(f"(declare-const {name} Int)" for name in constants), _index_definitions(indices)])
    ranges = [
        *(_I.least(1, name) for name in family.symbols),
        *(condition for index in indices for condition in index.ranges()),
    ]
    asserted = "\n".join(f"(assert {condition})" for condition in ranges)
    assumed = "\n".join(f"(assert (= {term} {digits})) ; a lemma" for term, digits in lemmas)
    walk = f"{head}\n{_definitions(operand, family, _walk(operand, family.pattern, mn, k))}\n{asserted}\n{assumed}"
    wrong = either([f"(not (= {term} {digits}))" for term, digits in lemmas])
    return (
        Question("walk", _LOGIC, walk, "(not (= fetched stored))", _TEXTS["walk"], vacuous=True),
        Question("lemmas", _LOGIC, f"{head}\n{asserted}", wrong, _TEXTS["lemmas"]),
        Question("swizzle", "QF_BV", _swizzle(operand, family), "(not (= stored fetched))", _TEXTS["swizzle"]),
        _window(operand, family),
    )


_TEXTS = {
    "walk": "Does start + read offset differ from base + offset in the tile for an element, before the exclusive-or?",
    "lemmas": "Does a quotient or a remainder differ from the value of its digits?",
    "swizzle": "Does the tile's swizzle differ from the exclusive-or of the read model for an address?",
    "window": "Is there a tile in the window whose start address, LBO or SBO does not fit into its field?",
}


def _indices(family: Family, coordinates: Sequence[_Coordinate | None]) -> list[_Index]:
    """Return the digits of the index of every mode, split as the tile, the read model, the operand and the advance
    split it.
    """
    indices = []
    for x, (mode, moves, coordinate) in enumerate(zip(family.modes, family.advance, coordinates, strict=True)):
        extent = coordinate.extent if coordinate else 1
        cuts = {1, extent, *_cuts(mode, 1), *_cuts(moves, extent)}
        if coordinate and coordinate.period < extent:
            cuts.add(coordinate.period)
        weights = tuple(sorted(cuts))
        if any(high % low for low, high in pairwise(weights)):
            raise DescriptorError(f"claim: the extents {weights} that split an index do not divide each other")
        names = tuple(f"{'rcs'[min(x, 2)]}{'' if x < 3 else x}_{t}" for t in range(len(weights)))
        extent = prod(size for size, _ in leaves(*mode))
        indices.append(_Index(weights, names, extent if isinstance(extent, int) else 0, coordinate))
    return indices


def _cuts(mode: Mode, unit: int) -> list[int]:
    """Return the weights at which a mode splits its index."""
    weights, below = list[int](), unit
    for extent, _ in list(leaves(*mode))[:-1]:
        if not isinstance(extent, int):
            raise DescriptorError(f"claim: an extent other than the last one of the mode {mode[0]} contains a symbol")
        below *= extent
        weights.append(below)
    return weights


def _lemmas(family: Family, indices: Sequence[_Index]) -> list[tuple[str, str]]:
    """Return the quotients and remainders of the definitions, with their values as sums of digits."""
    lemmas = dict[str, str]()
    for x, (mode, moves, index) in enumerate(zip(family.modes, family.advance, indices, strict=True)):
        lemmas |= _divisions(f"index-{x}", mode[0], 1, index)
        lemmas |= _divisions(f"operand-{x}", moves[0], index.extent, index)
    for index in indices:
        if coordinate := index.coordinate:
            period, extent = coordinate.period, coordinate.extent
            lemmas[coordinate.part] = index.sum(period, extent) if period < extent else "0"
            lemmas[coordinate.rest] = _I.product(coordinate.scale, index.sum(1, min(period, extent)))
    return list(lemmas.items())


def _divisions(term: str, shape: Any, unit: int, index: _Index) -> dict[str, str]:
    """Return the quotients and remainders that a mode computes from a term that counts ``unit`` of an index."""
    lemmas, below = dict[str, str](), unit
    *inner, _ = leaves(shape, shape)
    for extent, _ in inner:
        lemmas[_I.rest(_I.part(term, below // unit), extent)] = index.sum(below, below * extent)
        below *= extent
    if below != unit:
        lemmas[_I.part(term, below // unit)] = index.sum(below)
    return lemmas


def _index_definitions(indices: Sequence[_Index]) -> str:
    """Define the indices of element (r, c) of operand (i, j, ...), as sums of digits."""
    lines = list[str]()
    for x, index in enumerate(indices):
        lines.append(f"(define-fun index-{x} () Int {index.sum(1)}) ; along mode {x} of the tile")
        lines.append(f"(define-fun operand-{x} () Int {index.sum(index.extent)}) ; number of the operand along it")
        if index.coordinate:
            element = index.sum(1, index.extent)
            lines.append(
                f"(define-fun {index.coordinate.name} () Int {element}) ; number of the element in the operand"
            )
    return "\n".join(lines)


def _definitions(operand: Operand, family: Family, walk: str) -> str:
    """Define where element (r, c) of operand (i, j, ...) is stored, and where it is read, before the exclusive-or."""
    offsets = [mode_term(*mode, f"index-{x}", _I) for x, mode in enumerate(family.modes)]
    starts = [mode_term(*moves, f"operand-{x}", _I) for x, moves in enumerate(family.advance)]
    half = "half bytes" if operand.half else "bytes"
    sixteen = operand.counted(16)
    begins = _I.product(2, "base") if operand.half else "base"
    lines = [
        "; the layout as CuTe defines it, in elements",
        f"(define-fun offset () Int {_I.sum(*offsets)})",
        f"(define-fun stored () Int {_I.sum(begins, _I.product(operand.units, 'offset'))}) ; in {half}",
        "; the words: start, LBO and SBO, whose fields count 16 bytes",
        f"(define-fun start () Int {_I.sum(begins, _I.product(sixteen, _I.sum(*starts)))})",
        f"(define-fun leading () Int {_I.product(sixteen, family.leading)})",
        f"(define-fun stride () Int {_I.product(sixteen, family.stride)})",
        "; the read address as in the PTX manual",
        f"(define-fun fetched () Int {walk})",
    ]
    return "\n".join(lines)


def _walk(operand: Operand, pattern: Swizzle, mn: _Coordinate, k: _Coordinate) -> str:
    """Return the term of the address from which an element is read, before the exclusive-or."""
    sixteen, width = operand.counted(16), operand.counted(pattern.width)
    if operand.major == "K":
        piece = sixteen if pattern.bits else "leading"
        return _I.sum(
            "start", _I.product(mn.part, "stride"), _I.product(mn.rest, width), k.rest, _I.product(k.part, piece)
        )
    further, down = ("leading", "stride") if pattern.bits else ("stride", "leading")
    return _I.sum("start", _I.product(mn.part, further), mn.rest, _I.product(k.rest, width), _I.product(k.part, down))


def _swizzle(operand: Operand, family: Family) -> str:
    """Return the definitions of the addresses of an offset after both swizzles."""
    bits, place = family.pattern.bits, family.pattern.place + operand.half
    tile_swizzle = swizzle_term(family.swizzle, "x") if family.swizzle else "x"
    line = f"(bvand (bvlshr a {BITS.number(7 + operand.half)}) {BITS.number((1 << bits) - 1)})"
    read_swizzle = f"(bvxor a (bvshl {line} {BITS.number(place)}))"
    limit, unit = operand.counted(2 * WINDOW) // operand.units, "half bytes" if operand.half else "bytes"
    return "\n".join(
        [
            "(define-sort N () (_ BitVec 32))",
            "(declare-const x N) ; the offset of an element from address 0, in elements",
            f"(define-fun a () N {BITS.product('x', operand.units)}) ; the offset in {unit}",
            f"(assert {BITS.below('x', limit)}) ; so that all values fit into 32 bits",
            f"(define-fun stored () N {BITS.product(tile_swizzle, operand.units)})",
            f"(define-fun fetched () N {read_swizzle})",
        ]
    )


def _window(operand: Operand, family: Family) -> Question:
    """Return the query about the fields.

    Every symbol is written as a sum of non-negative numbers, so that all terms have the same sign.
    """
    steps = [
        (f"o{x}_{t}", extent, step)
        for x, moves in enumerate(family.advance)
        for t, (extent, step) in enumerate(leaves(*moves))
        if extent != 1
    ]
    summands = _summands(family.symbols, [(name, extent) for name, extent, _ in steps])
    bound = {name for names in summands.values() for name in names}
    free = [(name, extent) for name, extent, _ in steps if name not in bound]
    fields = [("start", _I.sum("base", *(_I.product(name, step) for name, _, step in steps)))]
    fields += [(name, _I.number(getattr(family, name))) for name in family.read]
    size = [extent for mode in family.modes for extent, _ in leaves(*mode)]
    total = f"(* {' '.join(map(_I.number, [operand.bits, *size]))})"
    premises = "\n".join(
        [
            *(f"(declare-const {name} Int)" for name in ("base", *(name for name, _ in free))),
            *_symbol_definitions(summands),
            *(f"(assert {_I.within(name, extent)})" for name, extent in free),
            "; products of non-negative numbers are non-negative; with these facts the rest is linear",
            *(f"(assert (<= 0 (* {' '.join(chosen)})))" for chosen in _products(list(summands.values()))),
            f"; the tile is in the window of {WINDOW} bytes; base counts 16 bytes, the size of the tile counts bits",
            f"(assert (and (<= 0 base) (<= (+ (* 128 base) {total}) {8 * WINDOW})))",
            *(f"(define-fun {name} () Int {term})" for name, term in fields),
        ]
    )
    denial = f"(not {both([_I.within(name, 1 << 14) for name, _ in fields])})"
    return Question("window", _LOGIC, premises, denial, _TEXTS["window"], vacuous=True)


def _summands(symbols: Sequence[str], indices: Sequence[tuple[str, Any]]) -> dict[str, list[str]]:
    """Return the numbers whose sum plus 1 is each symbol: the first index below it, if there is one, and a slack."""
    first = dict[str, str]()
    for name, extent in indices:
        if str(extent) in symbols:
            first.setdefault(str(extent), name)
    summands = {symbol: [name, f"slack-{symbol}"] for symbol, name in first.items()}
    return summands | {symbol: [f"slack-{symbol}"] for symbol in symbols if symbol not in first}


def _symbol_definitions(summands: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for symbol, names in summands.items():
        yield from (f"(declare-const {name} Int)\n(assert (<= 0 {name}))" for name in names)
        yield f"(define-fun {symbol} () Int {_I.sum(*names, 1)}) ; a positive integer"


def _products(groups: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the products of one number from each of two or more groups."""
    return [
        chosen
        for count in range(2, len(groups) + 1)
        for selected in combinations(groups, count)
        for chosen in product(*selected)
    ]
