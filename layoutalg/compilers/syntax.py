"""Parser of the attributes that compilers print: MLIR attributes, and Python's ``repr`` of a class.

Both are a name with fields: ``#ttg.blocked<{order = [1, 0]}>`` and ``BlockedLayout(order=[1, 0])``. An alias can refer
to an attribute (``#shared = #ttg...``). A type contains an attribute after the extents and the element type. Grammar::

    value = integer | word | "#"name ["<" items ">"] | name "(" items ")" | extents "x" word
          | "[" items "]" | "(" items ")" | "{" items "}"
    items = [item {"," item}]          item = [name "="] value [":+" value]

Source: MLIR language reference, attributes and types; Triton ``TritonGPUAttrDefs.td`` for the forms without braces.

>>> node = Reader("#ttg.slice<{dim = 0, parent = #ttg.blocked<{order = [1, 0]}>}>").value()
>>> node.name, node.fields["parent"].fields
('ttg.slice', {'order': (1, 0)})
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from layoutalg.errors import NotationError, brief

#: The most levels of brackets. A slice of a slice of an MMA operand has six.
_MOST_LEVELS = 24

_TOKENS = re.compile(
    r"\s*(?:(?P<dims>\d+(?:x\d+)*x!?[A-Za-z][\w.]*(?:<[^<>]*>)?|\d+(?:x\d+)+)|(?P<int>-?\d+)"
    r"|(?P<name>[#!]?[A-Za-z_][\w.]*)|(?P<mark>->|[<>{}()\[\],=:+]))",
    re.ASCII,
)
_WORDS: dict[str, Any] = {"true": True, "false": False, "True": True, "False": False, "None": None}


class Node(NamedTuple):
    """A name with the contents of its brackets.

    Args:
        name: the name without the ``#``.
        fields: the values that follow a name and ``=``.
        items: the other values, in order.
        position: index of the first character of the name in the text.
    """

    name: str
    fields: dict[str, Any]
    items: tuple[Any, ...]
    position: int


class Tensor(NamedTuple):
    """The extents and the element type of a tensor such as ``128x64xf16``; the type may be ``""``."""

    shape: tuple[int, ...]
    type: str

    @property
    def bits(self) -> int | None:
        """Width of an element in bits; 64 for a pointer, None without a type."""
        digits = re.match(r"[a-zA-Z]+(\d{1,3})", self.type)
        return 64 if self.type.startswith("!") else int(digits[1]) if digits else None


class Reader:
    """A parser of the grammar that begins at a position of a text.

    Args:
        text: the text.
        position: index of the first character of a value.
        aliases: the value of each ``#name`` without brackets.

    Raises:
        NotationError: from its methods, if the text does not follow the grammar.
    """

    def __init__(self, text: str, position: int = 0, aliases: Mapping[str, Any] | None = None) -> None:
        self.text, self.position, self.aliases = text, position, aliases or {}
        self.levels = 0

    def fail(self, expected: str) -> NoReturn:
        """Refuse the text at this position.

        Raises:
            NotationError: always.
        """
        rest = self.text[self.position : self.position + 20].strip()
        actual = f"{rest!r} at position {self.position}" if rest else "the end of the text"
        raise NotationError(f"notation: expected {expected}, found {actual}", self.text, self.position)

    def _peek(self) -> re.Match[str] | None:
        return _TOKENS.match(self.text, self.position)

    def take(self, mark: str) -> bool:
        """Read a mark if it is the next token, and return whether it is."""
        token = self._peek()
        if token is None or token["mark"] != mark:
            return False
        self.position = token.end()
        return True

    def expect(self, mark: str) -> None:
        """Read a mark; refuse any other token."""
        if not self.take(mark):
            self.fail(repr(mark))

    def value(self) -> Any:
        """Read a value: a number, a boolean, a word, a tuple, a dict, a :class:`Node` or a :class:`Tensor`."""
        self.levels += 1
        if self.levels > _MOST_LEVELS:
            self.fail(f"at most {_MOST_LEVELS} levels of brackets")
        value = self._value()
        self.levels -= 1
        return value

    def _value(self) -> Any:
        token = self._peek()
        if token is None:
            self.fail("a value")
        if token["mark"]:
            return self._bracket()
        self.position = token.end()
        if token["dims"]:
            return _tensor(token["dims"])
        if token["int"]:
            if len(token["int"]) > 12:
                self.fail("a number of at most 12 digits before this")
            return int(token["int"])
        name = token["name"]
        if name in _WORDS:
            return _WORDS[name]
        if self.take("<"):
            return self._node(name, ">", token.start("name"))
        if self.take("("):
            return self._node(name, ")", token.start("name"))
        if name.startswith("#") and name[1:] in self.aliases:
            return self.aliases[name[1:]]
        return Node(name.lstrip("#"), {}, (), token.start("name")) if name.startswith("#") else name

    def _bracket(self) -> Any:
        for begin, close in ("[]", "()"):
            if self.take(begin):
                fields, items = self._items(close)
                if fields:
                    self.fail("values without names before this")
                return items
        self.expect("{")
        fields, items = self._items("}")
        return fields if not items else {**fields, "": items}

    def _node(self, name: str, close: str, start: int) -> Node:
        fields, items = self._items(close)
        for inner in [item for item in items if isinstance(item, dict)]:
            if set(inner) & set(fields):
                self.fail("each field once before this")
            fields = {**inner, **fields}
        name = name.rpartition(".")[2] if close == ")" else name.lstrip("#!")
        return Node(name, fields, tuple(item for item in items if not isinstance(item, dict)), start)

    def _items(self, close: str) -> tuple[dict[str, Any], tuple[Any, ...]]:
        fields: dict[str, Any] = {}
        items: list[Any] = []
        while not self.take(close):
            name = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)", re.ASCII).match(self.text, self.position)
            if name is None:
                items.append(self._pair(self.value()))
            elif name[1] in fields:
                self.fail("each field once")
            else:
                self.position = name.end()
                fields[name[1]] = self.value()
            token = self._peek()
            if token is not None and token["mark"] == "{":
                continue  # there is no comma between a list and a dict
            if not self.take(","):
                self.expect(close)
                break
        return fields, tuple(items)

    def _pair(self, value: Any) -> Any:
        """Return a value, or the pair of an interval and its padding (``64:+8``) if ``:`` follows the value."""
        if not self.take(":"):
            return value
        self.expect("+")
        return value, self.value()


def _tensor(dims: str) -> Tensor:
    extents = re.match(r"\d+(?:x\d+)*", dims)
    assert extents is not None
    numbers = tuple(int(digits[:13]) for digits in extents[0].split("x"))
    return Tensor(numbers, dims[extents.end() + 1 :])


def tensor_behind(text: str, position: int) -> tuple[Tensor, int] | None:
    """Return the extents that follow a position of a text, in any supported form, and the index after them.

    >>> tensor_behind("on 128x64xf16", 0), tensor_behind("(128, 64)", 0), tensor_behind("nothing", 0)
    ((Tensor(shape=(128, 64), type='f16'), 13), (Tensor(shape=(128, 64), type=''), 9), None)
    """
    match = _BEHIND.match(text, position)
    return None if match is None else (_of_match(match), match.end())


def tensor_before(text: str) -> Tensor | None:
    """Return the extents at the end of a text; names and opening brackets may follow, as in ``alloc([8, 64], layout=``.

    >>> tensor_before("SMEM((128, 64), bfloat16, transforms=(")
    Tensor(shape=(128, 64), type='')
    """
    matches = list(_BEFORE.finditer(text))
    return _of_match(matches[-1]) if matches and _OPENING.fullmatch(text, matches[-1].end()) else None


def _of_match(match: re.Match[str]) -> Tensor:
    """Return the extents in a match of ``_BEHIND`` or ``_BEFORE``."""
    if match["words"]:
        return _tensor(match["words"])
    if alone := match.groupdict().get("alone"):
        return Tensor((int(alone),), "")
    return Tensor(tuple(int(digits) for digits in re.findall(r"\d+", match["listed"])), "")


_WORDS_OR_LIST = (
    r"(?:(?<![\w.])(?P<words>\d+(?:x\d+)*x!?[A-Za-z][\w.]*|\d+(?:x\d+)+)(?!\w)"
    r"|[\[(]\s*(?P<listed>\d{1,12}(?:\s*,\s*\d{1,12})*)\s*,?\s*[\])]"
)
_BEHIND = re.compile(
    rf"[\s,;:)\]]*(?:(?:shape|on|of|for)\b\s*=?\s*)?{_WORDS_OR_LIST}|(?<!\w)(?P<alone>\d{{1,12}})\s*\Z)", re.ASCII
)
_BEFORE = re.compile(rf"{_WORDS_OR_LIST})", re.ASCII)
_OPENING = re.compile(r"[\w.\s,=(\[]*", re.ASCII)


class Fields:
    """The fields of a node, with checks of their values.

    Args:
        node: the node.
        known: the names of the supported fields, separated by spaces.

    Raises:
        NotationError: if the node has another field; from the methods, if a field has an unsupported value.
    """

    def __init__(self, node: Node, known: str) -> None:
        self.node, self.known = node, known.split()
        for name in node.fields:
            if name not in self.known:
                self.refuse(f"{name} is not a field; supported: {', '.join(self.known)}")

    def refuse(self, fact: str) -> NoReturn:
        """Refuse the node.

        Args:
            fact: what is the case; notes may follow after semicolons.

        Raises:
            NotationError: always.
        """
        raise NotationError(f"{self.node.name.rpartition('.')[2]}: {fact}", position=self.node.position)

    def get(self, name: str, default: Any = ...) -> Any:
        """Return a field.

        Raises:
            NotationError: if the field is missing and there is no default.
        """
        if name in self.node.fields:
            return self.node.fields[name]
        if default is ...:
            self.refuse(f"the field {name} is missing; fields: {', '.join(self.node.fields) or 'none'}")
        return default

    def number(self, name: str, choices: tuple[int, ...] | None = None) -> int:
        """Return a field that is one of ``choices``, or without choices a power of two."""
        value = self.get(name)
        if choices and (type(value) is not int or value not in choices):
            self.refuse(f"{name} is {field_text(value)}; supported: {', '.join(map(str, choices))}")
        if not choices and not is_power(value):
            self.refuse(f"{name} is {field_text(value)}, which is not a power of two")
        return int(value)

    def flag(self, name: str) -> bool:
        """Return a field that is true or false; false if it is missing."""
        value = self.get(name, False)
        if not isinstance(value, bool):
            self.refuse(f"{name} is {field_text(value)}, which is neither true nor false")
        return value

    def numbers(self, name: str, rank: int | None = None) -> tuple[int, ...]:
        """Return a field that is a list of numbers, with ``rank`` one for each dimension."""
        value = self.get(name)
        if type(value) is not tuple or not value or not all(type(number) is int for number in value):
            self.refuse(f"{name} is {field_text(value)}, which is not a list of numbers")
        if rank is not None and len(value) != rank:
            self.refuse(f"{name} is {field_text(value)}, which does not have {rank} numbers, one for each dimension")
        return value

    def powers(self, name: str, rank: int) -> tuple[int, ...]:
        """Return a field that is a list of powers of two."""
        value = self.numbers(name, rank)
        if not all(map(is_power, value)):
            self.refuse(f"{name} is {field_text(value)}, which are not all powers of two")
        return value

    def order(self, name: str = "order") -> tuple[int, ...]:
        """Return a field that is a permutation of the dimensions, the fastest first."""
        value = self.numbers(name)
        if sorted(value) != list(range(len(value))):
            self.refuse(f"{name} is {field_text(value)}, which does not contain each dimension from 0 on once")
        return value

    def bases(self, name: str, rank: int | None) -> list[tuple[int, ...]]:
        """Return a field that is a list of bases, each with one number for each dimension; empty if it is missing."""
        value = self.get(name, ())
        rows = value if type(value) is tuple else (None,)
        for row in rows:
            if type(row) is not tuple or not row or not all(type(part) is int and part >= 0 for part in row):
                self.refuse(f"{name} is {field_text(value)}, which is not a list of bases such as [[0, 1], [0, 2]]")
            if len(row) != (rank or len(rows[0])):
                self.refuse(f"the basis {field_text(row)} of {name} does not have {rank or len(rows[0])} numbers")
        return list(rows)


def extents_text(shape: Sequence[int]) -> str:
    """Return extents as compilers write them.

    >>> extents_text((128, 64))
    '128x64'
    """
    return "x".join(map(str, shape))


def field_text(value: object) -> str:
    """Return the value of a field as compilers write it, short enough for a message.

    >>> field_text(((0, 1), (0, 2))), field_text(Node("ttg.blocked", {}, (), 0))
    ('[[0, 1], [0, 2]]', '#ttg.blocked')
    """
    return f"#{value.name}" if isinstance(value, Node) else brief(_as_lists(value))


def _as_lists(value: object) -> object:
    return [_as_lists(item) for item in value] if type(value) is tuple else value


def is_power(value: object) -> bool:
    """Return whether a value is a power of two.

    >>> is_power(8), is_power(0), is_power("8")
    (True, False, False)
    """
    return type(value) is int and value > 0 and value & (value - 1) == 0
