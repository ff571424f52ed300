"""CuTe notation, read: ``((8,16),(64,2)):((64,512),(1,8192))``, ``S<3,4,3> o 0 o (8,64):(64,1)``; writing is ``str``.

Each word becomes a value as soon as it is read. The grammar, with ``o`` right-associative::

    value  = atom ["o" value ["o" value]]
    atom   = part [":" part]
    part   = number | basis | "_" | swizzle | "(" [value {"," value}] ")" | "<" value {"," value} ">"
    basis  = number "@" integer {"@" integer}
    number = ["-"] term {("+" | "-") term}          term = factor {"*" factor}
    factor = integer | symbol ["**" integer]

``str`` gives what the CuTe DSL prints. Reading takes that back, and C++'s spelling as well (``Sw<3,4,3>``,
``(_8,_64):(_64,_1)``, tilers in ``<...>``). A symbol is a name for a positive integer (``(8*m,64):(64,1)``); a sum
needs one in it. A parenthesis around one layout groups it (write ``(4:1,)`` for a tiler of one mode); around integers
it is a tuple. What CuTe prints of a tensor is read as the layout in it (:mod:`layoutalg.notation.printed`).

Laws: ``parse_layout(str(x)) == x`` for every layout, composed layout and swizzle; a subclass of :class:`Parser` changes
what is made of what was read, or what a name means, and never the grammar.

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
from layoutalg.notation.printed import as_notation
from layoutalg.notation.tokens import Token, quoted, tokenize
from layoutalg.tuples.int_tuple import Coord, IntTuple, safe_text, tuple_depth
from layoutalg.tuples.leaf import LIMIT, MAX_DEPTH, Polynomial
from layoutalg.tuples.scaled_basis import ScaledBasis

#: Names that are no symbols.
_WORDS = frozenset({"o", "None", "True", "False"})


class Parser:
    """A recursive-descent reader of the grammar above; a subclass may add parts by overriding :meth:`parse_name`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(as_notation(text))
        self.next = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        """The token to be read next."""
        return self.tokens[self.next]

    def take(self, mark: str) -> bool:
        """Read ``mark`` if it comes next."""
        if self.token.kind != "end" and self.token.text == mark:
            self.next += 1
            return True
        return False

    def expect(self, mark: str) -> None:
        """Read ``mark``, or raise."""
        if not self.take(mark):
            self.fail(f"expected {mark!r}")

    def fail(self, what: str) -> NoReturn:
        """Raise a NotationError at the token to be read next."""
        token = self.token
        place = f"{token.text[:20]!r} at position {token.position}" if token.kind != "end" else "the end of the text"
        raise NotationError(f"notation: {what}, found {place}; text = {quoted(self.text)}", self.text, token.position)

    def parse_all(self) -> Any:
        """Read one value that takes up the whole text."""
        value = self.parse_value()
        if self.token.kind != "end":
            self.fail("expected the end of the text")
        if type(value) is tuple and tuple_depth(value) > MAX_DEPTH:
            self.fail(f"nesting must not exceed {MAX_DEPTH} levels")
        return value

    def parse_value(self) -> Any:
        """Read a value: an int tuple, a tiler, a layout, a swizzle or a composed layout."""
        self.depth += 1
        if self.depth > MAX_DEPTH + MOST_LEVELS:  # a shape's own levels inside those of composed layouts
            self.fail(f"nesting must not exceed {MAX_DEPTH} levels")
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
        """Read a value without a composition sign at its top."""
        start = self.next
        value = self.parse_part()
        return self.layout(value, self.parse_part(), start) if self.take(":") else value

    # What is made of what was read: a subclass that makes something else of it overrides these.

    def layout(self, shape: Any, stride: Any, start: int) -> Any:
        """The layout of a shape and a stride, whose first token is ``start``."""
        for part in (shape, stride):
            if part is None or not is_int_tuple(part):
                self.next = start
                self.fail("a layout must be a shape and a stride of integers")
        return Layout(shape, stride)

    def swizzle(self, bits: int, base: int, shift: int) -> Any:
        """The swizzle of three numbers."""
        return Swizzle(bits, base, shift)

    def composed(self, outer: Any, offset: Any, inner: Any) -> Any:
        """The composed layout of a function, an offset and a layout."""
        if not is_int_tuple(offset):
            raise NotationError(
                f"notation: the middle of a composed layout must be an offset, found {safe_text(offset)}; "
                f"text = {quoted(self.text)}",
                self.text,
            )
        return ComposedLayout(outer, offset, inner)

    def grouped(self, value: Any) -> Any:
        """What parentheses around one value are: the value if it is a layout, else a tuple of one."""
        return value if self.is_function(value) else (value,)

    def is_function(self, value: Any) -> bool:
        """Whether a value is a layout or a swizzle."""
        return isinstance(value, (Layout, ComposedLayout, Swizzle))

    # The parts ----------------------------------------------------------------------------------------------------

    def parse_part(self) -> Any:
        """Read an integer, a basis stride, ``_``, a swizzle, a tuple, or whatever a subclass makes of a name."""
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
        return self.fail("expected a number, '(', 'S<' or '_'")

    def parse_name(self) -> Any:
        """Read a part that begins with a name; the notation itself knows only ``None``."""
        if self.take("None"):
            return None
        self.fail("expected a number, '(', 'S<' or '_'")

    def integer(self) -> int:
        """Read one integer, which may carry the underscore of a C++ static integer."""
        if self.token.kind != "int":
            self.fail("expected an integer")
        digits = self.token.text.replace("_", "")
        if len(digits) > 20 or abs(int(digits)) > LIMIT:
            self.fail("a number must fit 64 bits")
        self.next += 1
        return int(digits)

    def _at_symbol(self) -> bool:
        """Whether the next token is the name of a symbol."""
        return self.token.kind == "name" and self.is_symbol(self.token.text)

    def is_symbol(self, name: str) -> bool:
        """Whether a name stands for a symbol; a subclass takes out the names that it knows."""
        return name not in _WORDS and "." not in name

    def _sum(self) -> Any:
        total = -self._term() if self.take("-") else self._term()
        while True:
            signed = self.token.kind == "int" and self.token.text[0] in "+-" and not isinstance(total, int)
            if self.take("+") or signed:  # "m+3" comes as the tokens m and +3
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
                self.fail("a product of numbers must fit 64 bits")
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
                self.fail(f"an exponent must lie in [0,{MAX_DEPTH}]")
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
            self.expect(",")
            numbers.append(self.integer())
        # The DSL 4.8.1 prints a swizzle of negative shift without its closing bracket.
        if not self.take(">") and not (numbers[2] < 0 and (self.token.kind == "end" or self.token.text == "o")):
            self.fail("expected '>'")
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


def is_int_tuple(value: Any) -> bool:
    """Whether a value is an integer, a symbol, a basis stride or None, or a tuple of such."""
    if type(value) is tuple:
        return all(map(is_int_tuple, value))
    return value is None or isinstance(value, (int, ScaledBasis, Polynomial))


def parse_layout(text: str) -> Layout | ComposedLayout | Swizzle:
    """Read a layout, a composed layout or a swizzle from its notation.

    Raises:
        NotationError: if the text is not in the notation, or denotes something else.
        LayoutError: if it denotes no valid layout (shape and stride not congruent, a negative extent, ...).

    >>> parse_layout("Sw<3,4,3> o _0 o (_8,_64):(_64,_1)")
    ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))
    >>> print(parse_layout("((8,16),(64,2)):((64,512),(1,8192))"))
    ((8,16),(64,2)):((64,512),(1,8192))
    """
    value = Parser(text).parse_all()
    if isinstance(value, (Layout, ComposedLayout, Swizzle)):
        return value
    raise NotationError(
        f"notation: a layout is written shape:stride or S<b,m,s> o offset o layout, found {safe_text(value)}; "
        f"text = {quoted(text)}",
        text,
    )


def parse_int_tuple(text: str) -> IntTuple | Coord:
    """Read a nested tuple of integers, with ``_`` for a mode that is kept.

    Raises:
        NotationError: if the text denotes something else.

    >>> parse_int_tuple("(8,(_,64))")
    (8, (None, 64))
    """
    value: IntTuple | Coord = Parser(text).parse_all()
    if not is_int_tuple(value):
        raise NotationError(f"notation: expected a tuple of integers, found {safe_text(value)}", text)
    return value
