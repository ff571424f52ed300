"""Convert the C++ types of CuTe values to layout notation, as source code writes them and as compilers print them.

``Layout<Shape<_8,_64>,Stride<_64,_1>>`` in a program is printed as ``cute::Layout<cute::tuple<cute::C<8>, ...>, ...>``
in a compiler's message. Both are replaced by ``(8,64):(64,1)``; the text around a type stays, so that a type may be an
operand of an expression. A message of a compiler is replaced by its only layout; the names of template parameters are
looked up in the message (``[with Shape = ...; Stride = ...]``).

A type with ``smem_ptr_flag_bits<16>`` and the type of a tensor become the text that ``print`` writes for the value,
since their swizzle is one of byte addresses (:mod:`layoutalg.notation.printed`).

Invariant: the notation of a type is what ``print`` of a value of that type writes, without the underscores.
Source: CUTLASS ``include/cute/layout.hpp``, ``layout_composed.hpp``, ``pointer_flagged.hpp``, ``numeric/int.hpp``; the
messages of g++ 12, nvcc 13.0 and clang.

>>> from_cpp("cute::Layout<cute::tuple<cute::C<8>, cute::C<64> >, cute::tuple<cute::C<64>, cute::C<1> > >")
'(8,64):(64,1)'
>>> from_cpp("zipped_divide(Layout<Shape<_8,_8>>{}, Tile<_4,_2>{})")
'zipped_divide((8,8):(1,8), (4,2))'
>>> from_cpp("error: no matching function for call to 'f(cute::Layout<cute::C<8>, cute::_1>&)'")
'8:1'
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

from layoutalg.errors import NotationError
from layoutalg.notation.tokens import quoted
from layoutalg.tuples.leaf import MAX_DEPTH

#: Bits of the element types of tensors, without their namespace.
_ELEMENT_BITS = {
    **dict.fromkeys(("double", "int64_t", "uint64_t"), 64),
    **dict.fromkeys(("float", "tfloat32_t", "int32_t", "uint32_t", "int", "unsigned int"), 32),
    **dict.fromkeys(("half_t", "bfloat16_t", "__half", "__nv_bfloat16", "int16_t", "uint16_t", "short"), 16),
    **dict.fromkeys(("float_e4m3_t", "float_e5m2_t", "float_ue8m0_t", "float_ue4m3_t"), 8),
    **dict.fromkeys(("int8_t", "uint8_t", "char", "signed char", "unsigned char", "byte"), 8),
    **dict.fromkeys(("__nv_fp8_e4m3", "__nv_fp8_e5m2"), 8),
    **dict.fromkeys(("float_e2m3_t", "float_e3m2_t"), 6),
    **dict.fromkeys(("float_e2m1_t", "int4b_t", "uint4b_t", "int4_t", "uint4_t"), 4),
    **dict.fromkeys(("uint128_t", "int128_t"), 128),
}

#: Types whose value is known only at run time.
_RUN_TIME = frozenset(
    (
        "int unsigned long short char size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t "
        "uint64_t"
    ).split()
)
_TUPLES = ("tuple", "Shape", "Stride", "Step", "Coord", "Tile", "ArithmeticTuple")
_INTEGERS = ("C", "Int", "constant", "integral_constant")
_WRAPPERS = ("ViewEngine", "ConstViewEngine")
_POINTERS = {"smem_ptr": "smem_", "gmem_ptr": "gmem_", "tmem_ptr": "tmem_", "rmem_ptr": "rmem_"}

#: The types that are layouts, in a message.
_LAYOUTS = ("Layout", "ComposedLayout", "Tensor", "Swizzle")
_NAMESPACE = r"(?:[A-Za-z_]\w*\s*::\s*)*"
_TEMPLATE = rf"(?<![\w.:]){_NAMESPACE}(?P<name>{'|'.join((*_LAYOUTS, *_TUPLES, *_INTEGERS, 'ScaledBasis', 'E'))})\s*<"
#: Other parts of a C++ expression: integers, functions that make tuples, orders of strides, the name of the package.
_REST = (
    rf"(?<![\w.:]){_NAMESPACE}_(?P<digits>\d+)\s*\{{\s*\}}|(?<![\w.:])cute\s*::\s*_(?P<qualified>\d+)\b"
    r"|(?<![\w.:])(?:cute\s*::\s*)?make_(?:shape|stride|coord|step|tile|tuple)\s*(?P<tuple>\()"
    rf"|(?<![\w.:]){_NAMESPACE}(?P<order>Layout(?:Left|Right)|Gen(?:Row|Col)Major)\s*(?:\{{\s*\}})?"
    r"|(?<![\w.:!])(?P<package>cute\s*(?:::|\.)\s*)(?=[a-z_]+\s*\()"
)
#: Strings of which a text with a C++ type or a name of the DSL contains at least one, for a quick check: ends of names.
_SIGNS = ("::", "{", "make_", "cute.", "t<", "r<", "e<", "d<", "p<", "s<", "C<", "E<")
#: The most parts of one type.
_MOST_PARTS = 1 << 14
#: Signs of a compiler's message: none of them is in an expression.
_MESSAGE = (
    r"^\s*\d*\s*\||\b(?:error|warning|note)\b|\bwith\s+\w+\s*=|\binstantiat|\brequired from|[‘’'\"&;]|\bconst\b"
    r"|\btypes? (?:are|is)\b"
)
_DEFINITION = r"(?:\bwith|;)\s+(?P<name>\w+)\s*=\s*(?P<type>[^;\]}]+)"


def from_cpp(text: str) -> str:
    """Return a text with each C++ type replaced by its notation; a compiler's message is replaced by its layout.

    Raises:
        NotationError: if a type has a part that is not known, or a message has several layouts.

    >>> from_cpp("ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag_bits<16>, Layout<Shape<_8,_64>, Stride<_64,_1>>>")
    'Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)'
    """
    if not isinstance(text, str) or not any(sign in text for sign in _SIGNS):
        return text
    if _pattern(_TEMPLATE).search(text) and _pattern(_MESSAGE).search(text):
        return _layout_of_message(text)
    return _replaced(text)


@cache
def _pattern(source: str) -> Any:
    return re.compile(source)


def _replaced(text: str, depth: int = 0) -> str:
    """Return an expression with its C++ parts replaced; ``depth`` is the number of tuples around it."""
    if depth > MAX_DEPTH:
        raise NotationError(f"notation: the nesting has more than {MAX_DEPTH} levels; text = {quoted(text)}", text)
    parts = []
    position = 0
    either = _pattern(f"{_TEMPLATE}|{_REST}")
    while (match := either.search(text, position)) is not None:
        parts.append(text[position : match.start()])
        position = match.end()
        if match["name"] is not None:
            value, position = _TypeReader(text).value(match.start())
            called = _pattern(r"\s*[(\[]").match(text, position)
            parts.append(f"({_notation(value)})" if called else _notation(value))
        elif match["tuple"] is not None:
            end = _closing(text, match.end())
            inside = _replaced(text[match.end() : end], depth + 1)
            parts.append(f"({inside}{'' if _has_comma(inside) or not inside.strip() else ','})")
            position = end + 1
        else:
            parts.append(match["digits"] or match["qualified"] or match["order"] or "")
    return "".join([*parts, text[position:]])


def _closing(text: str, start: int) -> int:
    """Return the position of the parenthesis that closes one before ``start``.

    Raises:
        NotationError: if there is none.
    """
    depth = 1
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if not depth:
            return position
    raise NotationError(
        f"notation: the '(' at position {start - 1} is not closed; text = {quoted(text, start - 1)}", text, start - 1
    )


def _has_comma(text: str) -> bool:
    """Check if a text has a comma outside of parentheses."""
    depth = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            return True
    return False


def _layout_of_message(text: str) -> str:
    """Return the notation of the only layout in a message.

    Raises:
        NotationError: if there is none, or several different ones.
    """
    names = {match["name"]: match.start("type") for match in _pattern(_DEFINITION).finditer(text)}
    layouts: dict[str, int] = {}
    position = 0
    while (match := _pattern(_TEMPLATE).search(text, position)) is not None:
        position = match.end()
        if match["name"] not in _LAYOUTS:
            continue
        try:
            value, position = _TypeReader(text, names).value(match.start())
        except _ParameterError:
            continue  # the declaration of a template, such as Layout<Shape, Stride>
        layouts.setdefault(_notation(value), match.start())
    layouts = {notation: start for notation, start in layouts.items() if ":" in notation} or layouts
    if len(layouts) == 1:
        return next(iter(layouts))
    if layouts:
        listed = "; ".join(f"{notation} at position {start}" for notation, start in layouts.items())
        raise NotationError(
            f"notation: the message has {len(layouts)} different layouts; {listed}; give one of them",
            text,
            min(layouts.values()),
        )
    raise NotationError(
        f"notation: the message names no layout with known extents; text = {quoted(text)}; give a message that has "
        "the type, such as Layout<tuple<C<8>>, tuple<C<1>>>",
        text,
    )


class _ParameterError(NotationError):
    """A type that contains the name of a template parameter."""


class _Text(str):
    """The notation of a part that is not an integer or a tuple."""

    __slots__ = ()


class _TypeReader:
    """A reader of one type at a position of a text. It returns integers, tuples, None for ``_``, and notation.

    Args:
        text: the text.
        names: positions of the types of template parameters, by name.
    """

    def __init__(self, text: str, names: dict[str, int] | None = None) -> None:
        self.text = text
        self.names = names or {}
        self.within: tuple[str, ...] = ()
        self.depth = 0
        self.parts = 0

    def reject(self, fact: str, position: int) -> NoReturn:
        """Raise the error for a part of the text."""
        raise NotationError(
            f"notation: {fact}, at position {position}; text = {quoted(self.text, position)}", self.text, position
        )

    def match(self, pattern: str, position: int) -> Any:
        """Return the match of a pattern after blanks."""
        return _pattern(rf"\s*{pattern}").match(self.text, position)

    def value(self, position: int) -> tuple[Any, int]:
        """Return the value of the type at a position, and where it ends."""
        self.depth += 1
        self.parts += 1  # a few names can stand for very many types
        if self.depth > MAX_DEPTH or self.parts > _MOST_PARTS:
            self.reject(f"the type has more than {MAX_DEPTH} levels or {_MOST_PARTS} parts", position)
        value, end = self._type(self._skip(position))
        self.depth -= 1
        if braces := self.match(r"(?:const\b)?\s*(?:\{\s*\}|\(\s*\))", end):
            end = braces.end()
        return value, end

    def _skip(self, position: int) -> int:
        """Return the position after blanks, qualifiers and namespaces."""
        return int(self.match(rf"(?:(?:const|typename|struct|class)\s+)*{_NAMESPACE}", position).end())

    def _type(self, start: int) -> tuple[Any, int]:
        if number := self.match(r"_?(?P<digits>\d+)\b|_(?!\w)", start):
            return (None if number["digits"] is None else int(number["digits"])), number.end()
        word = self.match(r"(?P<name>[A-Za-z_]\w*)", start)
        if word is None:
            self._reject_elided(start)
            self.reject(f"expected a C++ type, found {self._sample(start)}", start)
        name, end = word["name"], word.end()
        bracket = self.match("<", end)
        if bracket is None:
            return self._plain(name, start, end)
        end = bracket.end()
        if name in _INTEGERS:
            return self._constant(end)
        if name == "Swizzle":
            numbers, end = self._items(end, self._number)
            if len(numbers) not in (2, 3):
                self.reject(f"Swizzle has {len(numbers)} parameters instead of 3", start)
            return _Text(f"S<{','.join(map(str, [*numbers, *numbers[:1]][:3]))}>"), end
        if name in _TUPLES:
            items, end = self._items(end, self.value)
            return tuple(items), end
        if name == "E":
            path, end = self._items(end, self._number)
            return _basis(1, path), end
        if name == "smem_ptr_flag_bits":
            bits, end = self._items(end, self._number)
            return _Text(f"smem_ptr[{bits[0] if bits else 0}b](unset)"), end
        build = {"Layout": self._layout, "ComposedLayout": self._composed, "ScaledBasis": self._scaled_basis}.get(name)
        if build is not None:
            items, end = self._items(end, self.value)
            return build(items, start), end
        if name == "Tensor":
            return self._tensor(end)
        return self.reject(f"{name}<...> is not part of a layout", start)

    def _plain(self, name: str, start: int, end: int) -> tuple[Any, int]:
        """Return the value of a type without parameters."""
        if name in ("Underscore", "X"):
            return None, end
        if name == "smem_ptr_flag":
            return _Text("smem_ptr[1b](unset)"), end
        if name in self.names and name not in self.within:
            self.within += (name,)
            value, _ = self.value(self.names[name])
            self.within = self.within[:-1]
            return value, end
        if name in _RUN_TIME:
            words = self.match(r"(?:(?:unsigned|signed|long|short|int|char)\s*)*", start)
            kind = words[0].strip() or name
            raise NotationError(
                f"notation: {kind} at position {start} is a number that is only known at run time; text = "
                f"{quoted(self.text, start)}; write its value, or a symbol such as m, instead of {kind}",
                self.text,
                start,
            )
        raise _ParameterError(
            f"notation: {name[:40]!r} at position {start} is not an integer, a tuple or a layout; text = "
            f"{quoted(self.text, start)}",
            self.text,
            start,
        )

    def _items(self, position: int, read: Callable[[int], tuple[Any, int]]) -> tuple[list[Any], int]:
        """Read items up to the bracket that closes a list."""
        items: list[Any] = []
        if close := self.match(">", position):
            return items, close.end()
        while True:
            item, position = read(position)
            items.append(item)
            mark = self.match(r"(?P<mark>[,>])", position)
            if mark is None:
                self.reject(f"expected ',' or '>', found {self._sample(position)}", position)
            position = mark.end()
            if mark["mark"] == ">":
                return items, position

    def _number(self, position: int) -> tuple[int, int]:
        """Read an integer, possibly with a cast and a suffix."""
        number = self.match(r"(?:\(\s*\w[\w\s]*\)\s*)?(?P<number>-?\d{1,20})(?:[uUlL]{1,3})?(?!\w)", position)
        if number is None:
            truth = self.match(r"(?P<truth>true|false)\b", position)
            if truth is not None:
                return int(truth["truth"] == "true"), truth.end()
            self._reject_elided(position)
            self.reject(f"expected an integer, found {self._sample(position)}", position)
        return int(number["number"]), number.end()

    def _constant(self, position: int) -> tuple[int, int]:
        """Read the parameters of a static integer, possibly a type before the value."""
        kind = self.match(r"(?:unsigned |signed )?[A-Za-z_][\w\s:]*,", position)
        numbers, end = self._items(position if kind is None else kind.end(), self._number)
        if len(numbers) != 1:
            self.reject(f"a static integer has {len(numbers)} values", position)
        return numbers[0], end

    def _layout(self, items: list[Any], start: int) -> _Text:
        if len(items) not in (1, 2):
            self.reject(f"Layout has {len(items)} parameters instead of a shape and a stride", start)
        shape = items[0]
        stride = items[1] if len(items) == 2 else self._compact(shape, 1, start)[0]
        return _Text(f"{_notation(shape)}:{_notation(stride)}")

    def _compact(self, shape: Any, step: int, start: int) -> tuple[Any, int]:
        """Return the compact strides of a shape, first mode fastest, and the next stride."""
        if isinstance(shape, tuple):
            strides = []
            for mode in shape:
                stride, step = self._compact(mode, step, start)
                strides.append(stride)
            return tuple(strides), step
        if not isinstance(shape, int):
            self.reject("the shape of a layout is not made of integers", start)
        return (0 if shape == 1 else step), step * shape

    def _composed(self, items: list[Any], start: int) -> _Text:
        if len(items) != 3:
            self.reject(f"ComposedLayout has {len(items)} parameters instead of 3", start)
        outer, offset, inner = map(_notation, items)
        if offset.startswith("smem_ptr[") and outer.startswith("S<") and " o " not in outer:
            return _Text(f"Sw{outer[1:]} o {offset} o {inner}")
        if " o " in outer:
            outer = f"({outer})"
        return _Text(f"{outer} o {offset} o {inner}")

    def _scaled_basis(self, items: list[Any], start: int) -> _Text:
        if not items or not all(isinstance(item, int) for item in items):
            self.reject("ScaledBasis has parameters that are not integers", start)
        return _basis(items[0], items[1:])

    def _tensor(self, position: int) -> tuple[_Text, int]:
        """Read an engine and a layout; the pointer in the engine has the element type and the swizzle."""
        end = self._end_of_argument(position)
        engine = self.text[position:end]
        comma = self.match(",", end)
        if comma is None:
            self.reject(f"expected ',', found {self._sample(end)}", end)
        layout, end = self.value(comma.end())
        close = self.match(">", end)
        if close is None:
            self.reject(f"expected '>', found {self._sample(end)}", end)
        return _Text(self._pointer(engine, position) + _notation(layout)), close.end()

    def _end_of_argument(self, position: int) -> int:
        """Return where a template argument ends: at a comma or bracket of its own level."""
        depth = 0
        for place in range(position, len(self.text)):
            character = self.text[place]
            if depth == 0 and character in ",>":
                return place
            depth += {"<": 1, ">": -1}.get(character, 0)
        return self.reject("the '<' is not closed", position - 1)

    def _pointer(self, engine: str, position: int) -> str:
        """Return the notation of a tensor's pointer, as ``print`` writes it; "" if the element type is not known."""
        pointer = _pattern(r"(?P<element>[A-Za-z_]\w*(?: \w+)*)\s*\*").search(engine)
        element = " ".join(word for word in (pointer["element"] if pointer else "").split() if word != "const")
        space = next((short for name, short in _POINTERS.items() if name in engine), "")
        bits = _ELEMENT_BITS.get(element)
        swizzle = _pattern(r"\bSwizzle\s*<\s*(-?\d+)\s*,\s*(-?\d+)\s*,\s*(-?\d+)\s*>").search(engine)
        identity = swizzle is None or swizzle[1] == "0"
        if bits is None:
            if not identity:
                self.reject(f"the width of the element type {element} of a swizzled tensor is not known", position)
            return ""
        before = "" if identity or swizzle is None else f"Sw<{swizzle[1]},{swizzle[2]},{swizzle[3]}> o "
        return f"{before}{space}ptr[{bits}b](unset) o "

    def _reject_elided(self, position: int) -> None:
        """Reject the dots that a compiler prints in place of a type.

        Raises:
            NotationError: if there are dots.
        """
        if self.match(r"\[?\.\.\.\]?", position):
            raise NotationError(
                f"notation: the compiler left a type out at position {position}; text = "
                f"{quoted(self.text, position)}; pass -fno-elide-type to g++ or clang to print it",
                self.text,
                position,
            )

    def _sample(self, position: int) -> str:
        return (
            repr(self.text[position : position + 20].strip()) if self.text[position:].strip() else "the end of the text"
        )


def _basis(value: int, path: list[Any]) -> _Text:
    return _Text("".join([str(value), *(f"@{index}" for index in reversed(path))]))


def _notation(value: Any) -> str:
    """Return a value that was read as notation."""
    if isinstance(value, tuple):
        return f"({','.join(map(_notation, value))}{',' if len(value) == 1 else ''})"
    return "_" if value is None else str(value)
