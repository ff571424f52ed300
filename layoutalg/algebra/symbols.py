"""Layouts with symbols in them: put numbers in, and prove two of them equal for all numbers.

Law of :func:`substitute`: it commutes with every operation of the algebra that decides for symbols, as functions of the
index: ``substitute(op(x), v)`` and ``op(substitute(x, v))`` have the same size and the same offsets. (The symbolic
result may keep a mode that turns out to have extent 1, or two that turn out to be one.)

>>> from layoutalg import coalesce, parse_layout
>>> layout = parse_layout("(8,4*m):(1,8)")
>>> print(coalesce(layout), coalesce(substitute(layout, {"m": 3})) == substitute(coalesce(layout), {"m": 3}))
32*m:1 True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product as cartesian
from typing import Any, overload

from layoutalg.algebra.coalesce import coalesce
from layoutalg.errors import LayoutError, UndecidedError
from layoutalg.frozen import arguments, fix, frozen
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, LayoutKind, need_layout, size
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import Integer, IntTuple, check_depth, flatten_tuple, safe_text
from layoutalg.tuples.leaf import Polynomial, as_leaf
from layoutalg.tuples.scaled_basis import ScaledBasis

#: Values that are tried for each symbol, how many offsets are compared for each choice, and for all together.
_TRIED = (1, 2, 3, 4, 5, 7, 8)
_MOST_TRIED = 512
_MOST_COMPARED = 1 << 14
_MOST_OFFSETS = 1 << 19


@overload
def substitute(value: LayoutKind, values: Mapping[Any, Integer]) -> LayoutKind: ...
@overload
def substitute(value: Swizzle, values: Mapping[Any, Integer]) -> Swizzle: ...
@overload
def substitute(value: IntTuple, values: Mapping[Any, Integer]) -> IntTuple: ...
def substitute(value: Any, values: Mapping[Any, Any]) -> Any:
    """A layout, int tuple or number with numbers (or other expressions) in place of symbols.

    Args:
        value: a layout, plain or composed; an int tuple; a polynomial or an integer.
        values: by symbol (sympy's) or by name: positive integers, or expressions in positive integer symbols. Symbols
            left out stay.

    Raises:
        LayoutError: if a value is not positive, or the result is no layout.

    >>> from layoutalg import parse_layout
    >>> print(substitute(parse_layout("(8*m,64):(64,1)"), {"m": 4}))
    (32,64):(64,1)
    """
    if not isinstance(values, Mapping):
        raise LayoutError(f"substitute: the values must be a mapping from symbols, found {safe_text(values)}")
    check_depth(value, "substitute")
    replacements: dict[str, Any] = {}
    for symbol, replacement in values.items():
        replacements[str(symbol)] = as_leaf(replacement, f"substitute: the value of {symbol}")
        if replacements[str(symbol)] < 1:
            raise LayoutError(f"substitute: the value of {symbol} must be positive, found {replacements[str(symbol)]}")
    return _replaced(value, replacements)


def _replaced(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, Layout):
        return Layout(_replaced(value.shape, values), _replaced(value.stride, values))
    if isinstance(value, ComposedLayout):
        return ComposedLayout(
            _replaced(value.outer, values), _replaced(value.offset, values), _replaced(value.inner, values)
        )
    if isinstance(value, tuple):
        return tuple([_replaced(item, values) for item in value])
    if isinstance(value, ScaledBasis):
        return ScaledBasis(_replaced(value.value, values), value.mode)
    return value.substitute(values) if isinstance(value, Polynomial) else value


def symbols_of(value: AnyLayout | Swizzle | IntTuple) -> list[str]:
    """The names of the symbols in a layout, int tuple or number, sorted.

    >>> from layoutalg import parse_layout
    >>> symbols_of(parse_layout("(8*m,64*k):(64,1)"))
    ['k', 'm']
    """
    check_depth(value, "symbols_of")
    return sorted({name for number in _polynomials(value) for name in number.symbols()})


def _polynomials(value: object) -> Iterator[Polynomial]:
    """Every number with symbols in a value; a swizzle has none."""
    if isinstance(value, Polynomial):
        yield value
    elif isinstance(value, ScaledBasis):
        yield from _polynomials(value.value)
    elif isinstance(value, (Layout, ComposedLayout)):
        yield from _polynomials(arguments(value))
    elif isinstance(value, tuple):
        for item in value:
            yield from _polynomials(item)


@frozen
class Proof:
    """The answer of :func:`prove`: true if the identity holds for all values of the symbols.

    Attributes:
        proved: whether it does.
        counterexample: if not, values of the symbols for which it does not.
        index: an index where the two differ then; None where their sizes do.
        found: the two offsets there, or the two sizes.
    """

    proved: bool
    counterexample: tuple[tuple[str, int], ...]
    index: int | None
    found: tuple[Any, ...]

    def __init__(
        self,
        proved: bool,
        counterexample: tuple[tuple[str, int], ...] = (),
        index: int | None = None,
        found: tuple[Any, ...] = (),
    ) -> None:
        fix(self, proved=proved, counterexample=counterexample, index=index, found=found)

    def __bool__(self) -> bool:
        return self.proved

    def __str__(self) -> str:
        if self.proved:
            return "proved for all values"
        where = ", ".join(f"{name} = {number}" for name, number in self.counterexample) or "any values"
        what = "the sizes are" if self.index is None else f"at index {self.index} the offsets are"
        return f"not equal: for {where} {what} {safe_text(self.found[0])} and {safe_text(self.found[1])}"


def prove(a: AnyLayout, b: AnyLayout) -> Proof:
    """Whether two layouts are the same function of the index, of the same size, for all values of their symbols.

    Equal coalesced forms prove it; otherwise numbers are tried for the symbols until two offsets differ.

    Raises:
        UndecidedError: if the forms differ, yet no numbers tried tell the two layouts apart.

    >>> from layoutalg import parse_layout
    >>> print(prove(parse_layout("(8,m):(1,8)"), parse_layout("8*m:1")))
    proved for all values
    >>> print(prove(parse_layout("(8,m):(1,8)"), parse_layout("(8,m):(1,4*m)")))
    not equal: for m = 3 at index 8 the offsets are 8 and 12
    """
    need_layout(a, "prove")
    need_layout(b, "prove")
    if coalesce(a) == coalesce(b):
        return Proof(True)
    names = sorted({*symbols_of(a), *symbols_of(b)})
    tries = 0
    offsets_left = _MOST_OFFSETS
    for numbers in cartesian(_TRIED, repeat=len(names)):
        tries += 1
        if tries > _MOST_TRIED or offsets_left <= 0:
            break
        values = dict(zip(names, numbers, strict=True))
        one, other = substitute(a, values), substitute(b, values)
        offsets_left -= min(size(one), _MOST_COMPARED)
        difference = _difference(one, other)
        if difference is not None:
            return Proof(False, tuple(values.items()), *difference)
    if not names and size(a) <= _MOST_COMPARED:
        return Proof(True)
    raise UndecidedError(
        f"prove: no difference was found for {tries} choices of {', '.join(names) or 'no symbols'}, yet the coalesced "
        f"forms are {coalesce(a)} and {coalesce(b)}"
    )


def _difference(a: AnyLayout, b: AnyLayout) -> tuple[int | None, tuple[Any, ...]] | None:
    """Where two layouts without symbols differ, as far as is compared."""
    if size(a) != size(b):
        return None, (size(a), size(b))
    for index in range(min(size(a), _MOST_COMPARED)):
        if a(index) != b(index):
            return index, (a(index), b(index))
    for index in sorted({*_steps(a), *_steps(b)}):
        if a(index) != b(index):
            return index, (a(index), b(index))
    return None


def _steps(layout: AnyLayout) -> Iterator[int]:
    """The index of the first step along each mode: where layouts that differ in a stride differ."""
    index = 1
    for extent in flatten_tuple(layout.shape):
        if extent > 1:
            yield index
        index *= extent
