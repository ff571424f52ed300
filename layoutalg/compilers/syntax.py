"""The syntax in which compilers write attributes: MLIR's, and Python's ``repr`` of a class.

Both are a name with fields: ``#ttg.blocked<{order = [1, 0]}>`` and ``BlockedLayout(order=[1, 0])``. A name of an
attribute may stand for one (``#shared = #ttg...``), and a type has an attribute in it, behind the extents and the type
of an element. Grammar::

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
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from layoutalg.errors import NotationError, brief

#: Levels of brackets: a slice of a slice of an operand of an MMA has six.
_MOST_LEVELS = 24

_TOKENS = re.compile(
    r"\s*(?:(?P<dims>\d+(?:x\d+)*x!?[A-Za-z][\w.]*(?:<[^<>]*>)?|\d+(?:x\d+)+)|(?P<int>-?\d+)"
    r"|(?P<name>[#!]?[A-Za-z_][\w.]*)|(?P<mark>->|[<>{}()\[\],=:+]))",
    re.ASCII,
)
_WORDS: dict[str, Any] = {"true": True, "false": False, "True": True, "False": False, "None": None}


class Node(NamedTuple):
    """A name with what stands in its brackets.

    Args:
        name: without the ``#``.
        fields: what stands behind a name and ``=``.
        items: what stands without one, in order.
        position: where the name begins in the text.
    """

    name: str
    fields: dict[str, Any]
    items: tuple[Any, ...]
    position: int


class Tensor(NamedTuple):
    """Extents, and the name of an element type, ``""`` where there is none: ``128x64xf16``."""

    shape: tuple[int, ...]
    type: str

    @property
    def bits(self) -> int | None:
        """Width of an element; None without a type; of a pointer 64."""
        digits = re.match(r"[a-zA-Z]+(\d{1,3})", self.type)
        return 64 if self.type.startswith("!") else int(digits[1]) if digits else None


class Reader:
    """A reader of the grammar, from one position of a text on.

    Args:
        text: the text.
        position: where a value begins.
        aliases: what a ``#name`` without brackets stands for.

    Raises:
        NotationError: where the text is none of the grammar.
    """

    def __init__(self, text: str, position: int = 0, aliases: Mapping[str, Any] | None = None) -> None:
        self.text, self.position, self.aliases = text, position, aliases or {}
        self.levels = 0

    def fail(self, what: str) -> NoReturn:
        """Refuse the text at this position."""
        there = self.text[self.position : self.position + 20].strip()
        place = f"{there!r} at position {self.position}" if there else "the end of the text"
        raise NotationError(f"notation: expected {what}, found {place}", self.text, self.position)

    def _peek(self) -> re.Match[str] | None:
        return _TOKENS.match(self.text, self.position)

    def take(self, mark: str) -> bool:
        """Read a mark, if it comes next."""
        token = self._peek()
        if token is None or token["mark"] != mark:
            return False
        self.position = token.end()
        return True

    def expect(self, mark: str) -> None:
        """Read a mark, or refuse."""
        if not self.take(mark):
            self.fail(repr(mark))

    def value(self) -> Any:
        """Read a value: a number, a truth value, a word, a tuple, a dict, a :class:`Node` or a :class:`Tensor`."""
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
        for inner in [one for one in items if isinstance(one, dict)]:
            if set(inner) & set(fields):
                self.fail("each field once before this")
            fields = {**inner, **fields}
        name = name.rpartition(".")[2] if close == ")" else name.lstrip("#!")
        return Node(name, fields, tuple(one for one in items if not isinstance(one, dict)), start)

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
                continue  # a dict behind a list has no comma before it
            if not self.take(","):
                self.expect(close)
                break
        return fields, tuple(items)

    def _pair(self, value: Any) -> Any:
        """A value, or the pair of an interval and its padding: ``64:+8``."""
        if not self.take(":"):
            return value
        self.expect("+")
        return value, self.value()


def _tensor(dims: str) -> Tensor:
    extents = re.match(r"\d+(?:x\d+)*", dims)
    assert extents is not None
    numbers = tuple(int(one[:13]) for one in extents[0].split("x"))
    return Tensor(numbers, dims[extents.end() + 1 :])


def tensor_behind(text: str, position: int) -> tuple[Tensor, int] | None:
    """The extents that come next in a text, in any of the forms people write, and where they end.

    >>> tensor_behind("on 128x64xf16", 0), tensor_behind("(128, 64)", 0), tensor_behind("nothing", 0)
    ((Tensor(shape=(128, 64), type='f16'), 13), (Tensor(shape=(128, 64), type=''), 9), None)
    """
    match = _BEHIND.match(text, position)
    return None if match is None else (_of_match(match), match.end())


def tensor_before(text: str) -> Tensor | None:
    """The extents that a text ends with, but for names and what opens brackets: ``alloc(f16, [128, 64], layout=``.

    >>> tensor_before("SMEM((128, 64), bfloat16, transforms=(")
    Tensor(shape=(128, 64), type='')
    """
    matches = list(_BEFORE.finditer(text))
    return _of_match(matches[-1]) if matches and _OPENING.fullmatch(text, matches[-1].end()) else None


def _of_match(match: re.Match[str]) -> Tensor:
    """The extents of one of the patterns below."""
    if match["words"]:
        return _tensor(match["words"])
    if alone := match.groupdict().get("alone"):
        return Tensor((int(alone),), "")
    return Tensor(tuple(int(one) for one in re.findall(r"\d+", match["listed"])), "")


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
    """The fields of a node, each read once, so that one that nobody knows is refused by its name.

    Raises:
        NotationError: as its methods say.
    """

    def __init__(self, node: Node, known: str) -> None:
        self.node, self.known = node, known.split()
        for name in node.fields:
            if name not in self.known:
                self.refuse(f"a field must be one of {', '.join(self.known)}", name)

    def refuse(self, rule: str, found: object) -> NoReturn:
        """Refuse the node; ``rule`` says what must hold."""
        value = found if isinstance(found, str) else brief(found)
        raise NotationError(f"{self.node.name.rpartition('.')[2]}: {rule}, found {value}", position=self.node.position)

    def get(self, name: str, otherwise: Any = ...) -> Any:
        """A field as it was read.

        Raises:
            NotationError: if it is not there, and nothing stands for it.
        """
        if name in self.node.fields:
            return self.node.fields[name]
        if otherwise is ...:
            self.refuse(f"{name} must be there", ", ".join(self.node.fields) or "no field")
        return otherwise

    def number(self, name: str, choices: tuple[int, ...] | None = None, otherwise: Any = ...) -> int:
        """A field that is a number, one of ``choices``; without them a power of two."""
        value = self.get(name, otherwise)
        rule = f"one of {', '.join(map(str, choices))}" if choices else "a power of two"
        if type(value) is not int or (value not in choices if choices else not is_power(value)):
            self.refuse(f"{name} must be {rule}", value)
        return int(value)

    def flag(self, name: str) -> bool:
        """A field that is true or false, false where it is not there."""
        value = self.get(name, False)
        if not isinstance(value, bool):
            self.refuse(f"{name} must be true or false", value)
        return value

    def numbers(self, name: str, rank: int | None = None) -> tuple[int, ...]:
        """A field that is a list of numbers, one for each dimension."""
        value = self.get(name)
        if type(value) is not tuple or not value or not all(type(one) is int for one in value):
            self.refuse(f"{name} must be a list of numbers", value)
        if rank is not None and len(value) != rank:
            self.refuse(f"{name} must have {rank} numbers, one for each dimension", value)
        return value

    def powers(self, name: str, rank: int) -> tuple[int, ...]:
        """A list of powers of two."""
        value = self.numbers(name, rank)
        if not all(map(is_power, value)):
            self.refuse(f"{name} must be powers of two", value)
        return value

    def order(self, name: str = "order") -> tuple[int, ...]:
        """A permutation of the dimensions, the fastest first."""
        value = self.numbers(name)
        if sorted(value) != list(range(len(value))):
            self.refuse(f"{name} must have each dimension from 0 on once", value)
        return value

    def bases(self, name: str, rank: int | None) -> list[tuple[int, ...]]:
        """A list of bases, each of as many numbers as there are dimensions."""
        value = self.get(name, ())
        rows = value if type(value) is tuple else (None,)
        for row in rows:
            if type(row) is not tuple or not row or not all(type(one) is int and one >= 0 for one in row):
                self.refuse(f"{name} must be a list of bases, [[0, 1], [0, 2]]", value)
            if len(row) != (rank or len(rows[0])):
                self.refuse(f"{name} must have {rank or len(rows[0])} numbers in each basis", row)
        return list(rows)


def is_power(value: object) -> bool:
    """Whether something is a power of two.

    >>> is_power(8), is_power(0), is_power("8")
    (True, False, False)
    """
    return type(value) is int and value > 0 and value & (value - 1) == 0
