"""The parser of CuTe notation: ``((8,16),(64,2)):((64,512),(1,8192))``, ``S<3,4,3> o 0 o (8,64):(64,1)``.

The parser creates the values while it reads, without a syntax tree. The grammar, with ``o`` right-associative::

    value  = atom ["o" value ["o" value]]
    atom   = part [":" part]
    part   = number | basis | "_" | swizzle | "(" [value {"," value}] ")" | "<" value {"," value} ">"
    basis  = number "@" integer {"@" integer}
    number = ["-"] term {("+" | "-") term}          term = factor {"*" factor}
    factor = integer | symbol ["**" integer]

``str`` of a value is the notation that the CuTe DSL prints. The parser also accepts the notation of C++
(``Sw<3,4,3>``, ``(_8,_64):(_64,_1)``, tilers in ``<...>``) and C++ types (:mod:`layoutalg.notation.cpp_types`). A
symbol is a name for a positive integer (``(8*m,64):(64,1)``); a sum must contain a symbol. Parentheses around one
layout group it (write ``(4:1,)`` for a tiler of one mode); parentheses around integers are a tuple. A tensor as CuTe
prints it is read as its layout (:mod:`layoutalg.notation.printed`).

Invariant: ``parse_layout(str(x)) == x`` for every layout, composed layout and swizzle. A subclass of :class:`Parser`
may change the values that are created and the meaning of names, but does not change the grammar above.

>>> for text in ("((8,16),(64,2)):((64,512),(1,8192))", "S<3,4,3> o 0 o (8,64):(64,1)", "(4,8):(1@0,1@1)", "8*m:1"):
...     assert str(parse_layout(text)) == text
>>> Parser("(8,_64)").parse_all(), Parser("S<3,4,3> o 0 o 4:1").parse_all()
((8, 64), ComposedLayout(Swizzle(3, 4, 3), 0, Layout(4, 1)))
"""

from __future__ import annotations

from typing import Any, NoReturn

from layoutalg.errors import NotationError
from layoutalg.layouts.composed import MOST_LEVELS, ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.notation.cpp_types import from_cpp
from layoutalg.notation.printed import as_notation
from layoutalg.notation.tokens import Token, quoted, tokenize
from layoutalg.tuples.int_tuple import Coord, IntTuple, congruent, safe_text, tuple_depth
from layoutalg.tuples.leaf import LIMIT, MAX_DEPTH, Polynomial
from layoutalg.tuples.scaled_basis import ScaledBasis

#: Names that cannot be symbols.
_WORDS = frozenset({"o", "None", "True", "False"})


class Parser:
    """A recursive-descent parser of the grammar above. A subclass may add parts by overriding :meth:`parse_name`."""

    def __init__(self, text: str) -> None:
        self.text = from_cpp(text)
        self.tokens = tokenize(as_notation(self.text))
        self.next = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.next]

    def take(self, mark: str) -> bool:
        """Read ``mark`` if it is the next token, and return whether it was."""
        if self.token.kind != "end" and self.token.text == mark:
            self.next += 1
            return True
        return False

    def expect(self, mark: str) -> None:
        """Read ``mark``.

        Raises:
            NotationError: if it is not the next token.
        """
        if not self.take(mark):
            self.fail(repr(mark))

    def fail(self, expected: str, way_out: str = "") -> NoReturn:
        """Raise a NotationError that names what is expected, and the next token."""
        token = self.token
        actual = f"{token.text[:20]!r} at position {token.position}" if token.kind != "end" else "the end of the text"
        raise NotationError(
            f"notation: expected {expected}, found {actual}; text = {quoted(self.text, token.position)}{way_out}",
            self.text,
            token.position,
        )

    def reject(self, fact: str, way_out: str = "") -> NoReturn:
        """Raise a NotationError that states a fact about the text before the next token."""
        token = self.token
        place = f"position {token.position}" if token.kind != "end" else "the end of the text"
        raise NotationError(
            f"notation: {fact}, at {place}; text = {quoted(self.text, token.position)}{way_out}",
            self.text,
            token.position,
        )

    def parse_all(self) -> Any:
        """Read one value that is the whole text."""
        value = self.parse_value()
        if self.token.kind != "end":
            self.fail("the end of the text", _WAYS_OUT.get(self.token.text, ""))
        if type(value) is tuple and tuple_depth(value) > MAX_DEPTH:
            self.reject(_TOO_DEEP)
        return value

    def parse_value(self) -> Any:
        """Read a value: an int tuple, a tiler, a layout, a swizzle or a composed layout."""
        self.depth += 1
        if self.depth > MAX_DEPTH + MOST_LEVELS:  # the levels of a shape, inside those of composed layouts
            self.reject(_TOO_DEEP)
        value = self.parse_atom()
        if self.take("o"):
            middle = self.parse_atom()
            if self.take("o"):
                value = self.composed(value, middle, self.parse_value())
            else:
                value = self.composed(value, 0, middle)
        self.depth -= 1
        return value

    def parse_atom(self) -> Any:
        """Read a value without a composition at its top level."""
        start = self.next
        value = self.parse_part()
        return self.layout(value, self.parse_part(), start) if self.take(":") else value

    # Constructors, which a subclass overrides to create other values.

    def layout(self, shape: Any, stride: Any, start: int) -> Any:
        """Return the layout of a shape and a stride; ``start`` is the number of the first token of the shape."""
        for part, name in ((shape, "shape"), (stride, "stride")):
            if part is None or not is_int_tuple(part):
                self.next = start
                self.reject(f"the {name} of a layout is not made of integers")
        if not congruent(shape, stride):
            self._check_parentheses()
        return Layout(shape, stride)

    def _check_parentheses(self) -> None:
        """Check that each parenthesis is closed, since a missing one makes shape and stride look incongruent."""
        unclosed: list[Token] = []
        for token in self.tokens:
            if token.text == "(":
                unclosed.append(token)
            elif token.text == ")" and unclosed:
                unclosed.pop()
        if unclosed:
            position = unclosed[-1].position
            raise NotationError(
                f"notation: the '(' at position {position} is not closed; text = {quoted(self.text, position)}",
                self.text,
                position,
            )

    def swizzle(self, bits: int, base: int, shift: int) -> Any:
        """Return the swizzle of three numbers."""
        return Swizzle(bits, base, shift)

    def composed(self, outer: Any, offset: Any, inner: Any) -> Any:
        """Return the composed layout of a function, an offset and a layout."""
        if not is_int_tuple(offset):
            raise NotationError(
                f"notation: {safe_text(offset)}, the middle part of a composed layout, is not an offset; "
                f"text = {quoted(self.text)}",
                self.text,
            )
        return ComposedLayout(outer, offset, inner)

    def grouped(self, value: Any) -> Any:
        """Return the value of parentheses around one value: the value if it is a layout, else a tuple of one."""
        return value if self.is_function(value) else (value,)

    def is_function(self, value: Any) -> bool:
        """Check if a value is a layout or a swizzle."""
        return isinstance(value, (Layout, ComposedLayout, Swizzle))

    # Parts of the grammar

    def parse_part(self) -> Any:
        """Read an integer, a basis stride, ``_``, a swizzle, a tuple, or a name that a subclass supports."""
        token = self.token
        if token.kind == "int" or token.text == "-" or self._at_symbol():
            return self._number()
        if token.kind == "swizzle":
            return self._swizzle()
        if token.kind == "name":
            return self.parse_name()
        if self.take("_"):
            return None
        if self.take("("):
            return self._items(")")
        if self.take("<"):
            return self._items(">", tiler=True)
        return self.fail(_PART)

    def parse_name(self) -> Any:
        """Read a part that begins with a name; the notation itself supports only ``None``."""
        if self.take("None"):
            return None
        self.fail(_PART)

    def integer(self) -> int:
        """Read one integer, which may have the underscore of a C++ static integer."""
        if self.token.kind != "int":
            self.fail("an integer")
        digits = self.token.text.replace("_", "")
        if len(digits) > 20 or abs(int(digits)) > LIMIT:
            self.reject(f"the number {digits if len(digits) <= 20 else digits[:17] + '...'} {_TOO_LARGE}")
        self.next += 1
        return int(digits)

    def _at_symbol(self) -> bool:
        """Check if the next token is the name of a symbol."""
        return self.token.kind == "name" and self.is_symbol(self.token.text)

    def is_symbol(self, name: str) -> bool:
        """Check if a name is the name of a symbol; a subclass excludes the names that it supports."""
        return name not in _WORDS and "." not in name

    def _sum(self) -> Any:
        total = -self._term() if self.take("-") else self._term()
        while True:
            signed = self.token.kind == "int" and self.token.text[0] in "+-" and not isinstance(total, int)
            if self.take("+") or signed:  # the tokens of "m+3" are m and +3
                total = total + self._term()
            elif self.take("-"):
                total = total - self._term()
            else:
                return total

    def _term(self) -> Any:
        result = self._factor()
        while self.take("*"):
            result = result * self._factor()
            if isinstance(result, int) and abs(result) > LIMIT:
                self.reject(f"the product {_TOO_LARGE}")
        return result

    def _factor(self) -> Any:
        if not self._at_symbol():
            return self.integer()
        symbol = Polynomial.symbol(self.token.text)
        self.next += 1
        if self.token.text == "*" and self.tokens[self.next + 1].text == "*":
            self.next += 2
            power = self.integer()
            if not 0 <= power <= MAX_DEPTH:
                self.reject(f"the exponent {power} is not in [0,{MAX_DEPTH}]")
            return symbol**power
        return symbol

    def _number(self) -> Any:
        value = self._sum()
        path = []
        while self.take("@"):
            path.append(self.integer())
        return ScaledBasis(value, tuple(reversed(path))) if path else value

    def _swizzle(self) -> Any:
        self.next += 1
        numbers = [self.integer()]
        for _ in range(2):
            if not self.take(","):
                self.reject("a swizzle has three numbers, S<bits,base,shift>")
            numbers.append(self.integer())
        # The DSL 4.8.1 prints a swizzle with a negative shift without its closing bracket.
        if not self.take(">") and not (numbers[2] < 0 and (self.token.kind == "end" or self.token.text == "o")):
            self.fail("'>'")
        return self.swizzle(*numbers)

    def _items(self, close: str, tiler: bool = False) -> Any:
        items = []
        comma = tiler
        while not self.take(close):
            items.append(self.parse_value())
            if not self.take(","):
                self.expect(close)
                break
            comma = True
        return self.grouped(items[0]) if len(items) == 1 and not comma else tuple(items)


#: What to write instead of a text that goes on with one of these marks.
_WAYS_OUT = {
    "(": "; write ((4,8):(8,1))(2,3) with parentheses around a layout to apply it to a coordinate",
    "[": "; write ((4,8):(8,1))[0] with parentheses around a layout to get a mode",
    ",": "; write (4,8):(8,1) with parentheses around each tuple",
}
#: Parts of messages.
_PART = "a number, '(', 'S<' or '_'"
_TOO_DEEP = f"the nesting has more than {MAX_DEPTH} levels"
_TOO_LARGE = "is beyond the limit of 2**63 - 1"


def is_int_tuple(value: Any) -> bool:
    """Check if a value is an integer, a symbol, a basis stride or None, or a tuple of these."""
    if type(value) is tuple:
        return all(map(is_int_tuple, value))
    return value is None or isinstance(value, (int, ScaledBasis, Polynomial))


def parse_layout(text: str) -> Layout | ComposedLayout | Swizzle:
    """Return the layout, composed layout or swizzle of a text in CuTe notation.

    Raises:
        NotationError: if the text is not in the notation, or denotes another value.
        LayoutError: if the layout is not valid, for example if shape and stride are not congruent.

    >>> parse_layout("Sw<3,4,3> o _0 o (_8,_64):(_64,_1)")
    ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))
    >>> print(parse_layout("((8,16),(64,2)):((64,512),(1,8192))"))
    ((8,16),(64,2)):((64,512),(1,8192))
    """
    value = Parser(text).parse_all()
    if isinstance(value, (Layout, ComposedLayout, Swizzle)):
        return value
    raise NotationError(
        f"notation: {safe_text(value)} is not a layout; a layout is written shape:stride or S<b,m,s> o offset o "
        f"layout; text = {quoted(text)}",
        text,
    )


def parse_int_tuple(text: str) -> IntTuple | Coord:
    """Return the nested tuple of integers of a text, with ``None`` for ``_``, a mode that is kept.

    Raises:
        NotationError: if the text denotes another value.

    >>> parse_int_tuple("(8,(_,64))")
    (8, (None, 64))
    """
    value: IntTuple | Coord = Parser(text).parse_all()
    if not is_int_tuple(value):
        raise NotationError(f"notation: {safe_text(value)} is not a tuple of integers", text)
    return value
