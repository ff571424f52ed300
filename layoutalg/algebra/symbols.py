"""Substitute the symbols of layouts, and prove that two layouts are equal for all values of their symbols.

Invariant: :func:`substitute` commutes with every operation of the algebra that does not raise an
:class:`UndecidedError`: ``substitute(op(x), v)`` and ``op(substitute(x, v))`` have the same size and the same offset at
every index. (The symbolic result may have more modes: after the substitution, a mode may have extent 1, or two modes
could be joined.)

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

#: The values that are tried for each symbol.
_TRIED = (1, 2, 3, 4, 5, 7, 8)
#: The most combinations of values that are tried.
_MOST_TRIED = 512
#: The most offsets that are compared for one combination, and for all combinations.
_MOST_COMPARED = 1 << 14
_MOST_OFFSETS = 1 << 19


@overload
def substitute(value: LayoutKind, values: Mapping[Any, Integer]) -> LayoutKind: ...
@overload
def substitute(value: Swizzle, values: Mapping[Any, Integer]) -> Swizzle: ...
@overload
def substitute(value: IntTuple, values: Mapping[Any, Integer]) -> IntTuple: ...
def substitute(value: Any, values: Mapping[Any, Any]) -> Any:
    """Replace the symbols of a layout, int tuple or number by numbers or other expressions.

    Args:
        value: a layout, plain or composed; an int tuple; a polynomial or an integer.
        values: positive integers, or expressions in positive integer symbols, by symbol (of sympy) or by name. Other
            symbols do not change.

    Raises:
        LayoutError: if a value is not positive, or the result is not a valid layout.

    >>> from layoutalg import parse_layout
    >>> print(substitute(parse_layout("(8*m,64):(64,1)"), {"m": 4}))
    (32,64):(64,1)
    """
    if not isinstance(values, Mapping):
        raise LayoutError(f"substitute: {safe_text(values)} is not a mapping from symbols to values")
    check_depth(value, "substitute: the tuple")
    replacements: dict[str, Any] = {}
    for symbol, replacement in values.items():
        number = as_leaf(replacement, f"substitute: the value of {symbol}")
        if number < 1:
            raise LayoutError(f"substitute: the value of {symbol} is {number}, which is not positive")
        replacements[str(symbol)] = number
    return _replace(value, replacements)


def _replace(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, Layout):
        return Layout(_replace(value.shape, values), _replace(value.stride, values))
    if isinstance(value, ComposedLayout):
        return ComposedLayout(
            _replace(value.outer, values), _replace(value.offset, values), _replace(value.inner, values)
        )
    if isinstance(value, tuple):
        return tuple([_replace(item, values) for item in value])
    if isinstance(value, ScaledBasis):
        return ScaledBasis(_replace(value.value, values), value.mode)
    return value.substitute(values) if isinstance(value, Polynomial) else value


def symbols_of(value: AnyLayout | Swizzle | IntTuple) -> list[str]:
    """Return the sorted names of the symbols in a layout, int tuple or number.

    >>> from layoutalg import parse_layout
    >>> symbols_of(parse_layout("(8*m,64*k):(64,1)"))
    ['k', 'm']
    """
    check_depth(value, "symbols_of: the tuple")
    return sorted({name for number in _polynomials(value) for name in number.symbols()})


def _polynomials(value: object) -> Iterator[Polynomial]:
    """Yield every polynomial in a value; a swizzle has none."""
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
    """The result of :func:`prove`, which is true if the two layouts are equal for all values of the symbols.

    Attributes:
        proved: whether they are equal.
        counterexample: if not, values of the symbols for which they differ.
        index: an index at which the offsets differ for these values; None if the sizes differ.
        found: the two offsets at this index, or the two sizes.
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
        values = ", ".join(f"{name} = {number}" for name, number in self.counterexample) or "any values"
        subject = "the sizes are" if self.index is None else f"at index {self.index} the offsets are"
        return f"not equal: for {values} {subject} {safe_text(self.found[0])} and {safe_text(self.found[1])}"


def prove(a: AnyLayout, b: AnyLayout) -> Proof:
    """Decide if two layouts have the same size and are the same function of the index for all values of their symbols.

    Equal coalesced forms prove it. Otherwise, numbers are tried for the symbols until two offsets differ.

    Raises:
        UndecidedError: if the coalesced forms differ, but no difference was found for the numbers that were tried.

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
        a_numbers, b_numbers = substitute(a, values), substitute(b, values)
        offsets_left -= min(size(a_numbers), _MOST_COMPARED)
        difference = _find_difference(a_numbers, b_numbers)
        if difference is not None:
            return Proof(False, tuple(values.items()), *difference)
    if not names and size(a) <= _MOST_COMPARED:
        return Proof(True)
    raise UndecidedError(
        f"prove: cannot decide whether the layouts are equal: the coalesced forms differ, but no difference was found "
        f"for {tries} choices of {', '.join(names) or 'no symbols'}; the coalesced forms are {coalesce(a)} and "
        f"{coalesce(b)}"
    )


def _find_difference(a: AnyLayout, b: AnyLayout) -> tuple[int | None, tuple[Any, ...]] | None:
    """Return the first index at which two layouts without symbols differ, and both offsets, or None.

    For sizes that differ, return None and the sizes. Large layouts are only compared in part.
    """
    if size(a) != size(b):
        return None, (size(a), size(b))
    for index in range(min(size(a), _MOST_COMPARED)):
        if a(index) != b(index):
            return index, (a(index), b(index))
    for index in sorted({*_mode_indices(a), *_mode_indices(b)}):
        if a(index) != b(index):
            return index, (a(index), b(index))
    return None


def _mode_indices(layout: AnyLayout) -> Iterator[int]:
    """Yield the index of the first step along each mode, at which layouts with different strides differ."""
    index = 1
    for extent in flatten_tuple(layout.shape):
        if extent > 1:
            yield index
        index *= extent
