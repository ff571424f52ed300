"""Declare the keys of answers: each key once, with its type, its source and, if tables show it, its label.

The plain data of an answer, its JSON Schema and the tables of its text follow from one declaration. A type is written
in the notation of ``layoutalg.cli.schema``, or is another declaration, an enumeration, or a function that returns a
type. A new key of an answer needs one row.

Invariant: a record has the keys of its declared type, in the same order.

>>> from collections import namedtuple
>>> Step, Tile = namedtuple("Step", "base columns"), namedtuple("Tile", "step note")
>>> step = Record("Step", word=Row(HALF, "base", "word"), columns=Row(int, label="columns"))
>>> offset = Row(int, lambda tile: tile.step.base * 16)
>>> tile = Record("Tile", step=step, offset=offset, note=Row(str, optional=True))
>>> tile(Tile(Step(64, 8), None))
{'step': {'word': '0x00000040', 'columns': 8}, 'offset': 1024}
>>> types = {}
>>> notation(tile, types), types["Tile"]
('Tile', {'step': 'Step', 'offset': <class 'int'>, 'note?': <class 'str'>})
>>> from descriptors.text import aligned
>>> aligned(step.table([Step(64, 8)]))
['word        columns', '0x00000040  8']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import EnumMeta
from types import FunctionType, NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin, get_type_hints

from descriptors.answers import plain_data
from descriptors.text import known_record, word_text

#: The type of a key.
Kind: TypeAlias = Any
#: The source of a value: an attribute of the answer, with dots for attributes of attributes; a function of the answer;
#: or an option.
Source: TypeAlias = "str | Callable[[Any], Any] | Option"

#: The type of a row that only tables show.
TEXT = object()

#: Types that several answers use: words of 64 and of 32 bits, architectures, pairs, triples.
WORD, HALF, ARCH = "^0x[0-9a-f]{16}$", "^0x[0-9a-f]{8}$", "^sm[0-9]+$"
PAIR, TRIPLE, UNIT = [int, int], [int, int, int], {"bit", "byte"}
_BITS = {WORD: 64, HALF: 32}


class Option(NamedTuple):
    """A value that is not part of the answer; the caller passes it as a keyword argument.

    Args:
        name: name of the keyword argument.
        default: the value if the caller passes none.
    """

    name: str
    default: Any = None


class Named(NamedTuple):
    """A type with a name, which becomes a definition in a JSON Schema.

    Args:
        name: name of the type.
        kind: the type.
    """

    name: str
    kind: Kind

    def __call__(self, answer: Any, **options: Any) -> dict[str, Any]:
        """Return an answer as plain data, according to the first declaration that it fits."""
        declaration: Record = _alternative(self.kind, answer)
        return declaration(answer, **options)


class Row(NamedTuple):
    """A key of an answer.

    Args:
        kind: the type. A number whose type is a word is written in hexadecimal.
        source: source of the value; by default the attribute with the name of the key, "." for the answer itself. The
            items of a tuple are selected in order or by number.
        label: heading of the column of a table; "" if tables do not show the key.
        text: function of the answer that returns the cell of a table; by default the plain data.
        optional: whether the key is omitted if the value is None or an empty tuple.
    """

    kind: Kind
    source: Source = ""
    label: str = ""
    text: Callable[[Any], object] | None = None
    optional: bool = False


class Record:
    """The declaration of an answer; calling it returns the answer as plain data.

    Args:
        name: name of the type in a JSON Schema; "" for a type that is written inline.
        fits: function that returns whether an answer has this type, if a key has one of several types.
        rows: the rows by key. A type alone is a row without a label.
    """

    __slots__ = ("fits", "name", "rows")

    def __init__(
        self, name: str = "", fits: Callable[[Any], bool] = lambda answer: True, /, **rows: Kind | Row
    ) -> None:
        self.name, self.fits, self.rows = name, fits, {key: _row(kind) for key, kind in rows.items()}

    def __call__(self, answer: Any, **options: Any) -> dict[str, Any]:
        """Return an answer as plain data.

        Args:
            answer: the answer from which the values are read.
            options: values of the rows whose source is an option, and values that replace those of keys.

        Raises:
            TypeError: if an option is neither a key nor the source of a row.
        """
        if unknown := options.keys() - self.rows.keys() - self._options():
            raise TypeError(f"record: this answer has no option {', '.join(sorted(unknown))}")
        data = {}
        for position, (key, row) in enumerate(self.rows.items()):
            if row.kind is not TEXT:
                value = options[key] if key in options else _value(answer, row.source or key, position, options)
                if not (row.optional and (value is None or value == ())):
                    data[key] = _data(row.kind, value)
        return data

    def _options(self) -> set[str]:
        """Return the names of the options of all rows."""
        return {row.source.name for row in self.rows.values() if isinstance(row.source, Option)}

    def table(self, answers: Iterable[Any], number: str = "") -> list[tuple[object, ...]]:
        """Return the rows of a table with one line per answer, starting with the labels.

        Args:
            answers: the answers.
            number: label of a first column with line numbers; "" for no such column.
        """
        columns = [(key, row) for key, row in self.rows.items() if row.label]
        lines: list[tuple[object, ...]] = [tuple(row.label for _, row in columns)]
        lines += [tuple(_cell(answer, key, row) for key, row in columns) for answer in answers]
        return [(number, *lines[0]), *((i, *line) for i, line in enumerate(lines[1:]))] if number else lines


def each(kind: Kind, keys: str, *, shown: bool = False) -> dict[str, Row]:
    """Return rows of one type whose keys are attributes of the answer.

    Args:
        kind: the type.
        keys: the keys, separated by spaces.
        shown: whether tables have a column for each key.

    >>> list(each(int, "rows columns", shown=True).values()) == [Row(int, label="rows"), Row(int, label="columns")]
    True
    """
    return {key: Row(kind, label=key if shown else "") for key in keys.split()}


def attributes(owner: type, keys: str, path: str = "") -> dict[str, Row]:
    """Return rows for attributes of the answer, with the types of their annotations.

    Args:
        owner: the class of the answer, or of one of its parts.
        keys: the keys, separated by spaces; KEY=ATTRIBUTE if the attribute has another name, with dots for attributes
            of attributes.
        path: attribute of the answer that is the part; "" for attributes of the answer itself.

    >>> from descriptors.smem.operands.canonical import Match
    >>> notation(Record(**attributes(Match, "canonical=layout dont_care")), {})
    {'canonical': <class 'str'>, 'dont_care': [<class 'str'>]}
    """
    rows = {}
    for key, _, source in (word.partition("=") for word in keys.split()):
        rows[key] = Row(_annotated(owner, source or key), f"{path}.{source or key}" if path else source)
    return rows


def _annotated(owner: type, path: str) -> Callable[[], Kind]:
    """Return a function that looks up the type of an attribute, when a schema needs it."""

    def kind() -> Kind:
        hint: Any = owner
        for name in path.split("."):
            attribute = getattr(hint, name, None)
            getter = getattr(attribute, "fget", None) or getattr(attribute, "func", None)
            hint = get_type_hints(getter)["return"] if getter else get_type_hints(hint)[name]
        return _kind_of(hint, name)

    return kind


def _kind_of(hint: Any, key: str) -> Kind:
    """Return the type of a key for an annotation; a value that JSON does not have is a text."""
    origin, arguments = get_origin(hint), get_args(hint)
    if key == "arch":
        return ARCH
    if origin is Literal:
        return set(arguments)
    if origin in (Union, UnionType):
        kinds = [None if argument is NoneType else _kind_of(argument, key) for argument in arguments]
        several = tuple(kind for i, kind in enumerate(kinds) if kind not in kinds[:i])
        return several if len(several) > 1 else several[0]
    if origin is tuple:
        return [_kind_of(argument, key) for argument in arguments if argument is not ...]
    return hint if hint in (bool, int, float, str) or isinstance(hint, EnumMeta) else str


def within(path: str, /, **rows: Kind | Row) -> dict[str, Row]:
    """Return rows whose values are read from one part of the answer.

    >>> rows = within("derivation", major=str, size=Row(int, lambda derivation: derivation.tile[0]))
    >>> rows["major"].source
    'derivation.major'
    """
    return {key: _inner(path, key, _row(kind)) for key, kind in rows.items()}


def _row(kind: Kind | Row) -> Row:
    """Return a row, also for a type alone."""
    return kind if isinstance(kind, Row) else Row(kind)


def _inner(path: str, key: str, row: Row) -> Row:
    """Return the row of a part as a row of the answer."""
    source = row.source or key
    if isinstance(source, str):
        return row._replace(source=path if source == "." else f"{path}.{source}")
    return row._replace(source=lambda answer: _value(_value(answer, path), source))


def evidence_row(path: str = "arch") -> Row:
    """Return the row for the evidence of facts about an architecture; answers about ``sm90`` leave it out.

    Args:
        path: the attribute of the answer that is the architecture.
    """
    return Row(str, lambda answer: known_record(_value(answer, path)).get("evidence"), optional=True)


def notation(kind: Kind, types: dict[str, Kind]) -> Kind:
    """Return a type in the notation of ``layoutalg.cli.schema``.

    Args:
        kind: the type.
        types: receives every named type that it uses.
    """
    if isinstance(kind, Record):
        rows = {f"{key}{'?' * row.optional}": row.kind for key, row in kind.rows.items() if row.kind is not TEXT}
        keys = {key: notation(row_kind, types) for key, row_kind in rows.items()}
        if kind.name:
            types[kind.name] = keys
        return kind.name or keys
    if isinstance(kind, Named):
        if kind.name not in types:
            types[kind.name] = notation(kind.kind, types)
        return kind.name
    if isinstance(kind, EnumMeta):
        return set(map(str, kind))
    if isinstance(kind, FunctionType):
        return notation(kind(), types)
    if isinstance(kind, dict):
        return {key: notation(row.kind if isinstance(row, Row) else row, types) for key, row in kind.items()}
    if isinstance(kind, (list, tuple)):
        return type(kind)(notation(item, types) for item in kind)
    return kind


def _value(answer: Any, source: Source, position: int = 0, options: Mapping[str, Any] | None = None) -> Any:
    """Return the value of a row; None as soon as a part of the answer is None."""
    if isinstance(source, Option):
        return (options or {}).get(source.name, source.default)
    if callable(source):
        return source(answer)
    if source == ".":
        return answer
    for name in source.split("."):
        if answer is None:
            return None
        if isinstance(answer, Mapping):
            answer = answer.get(name)
        elif isinstance(answer, tuple) and not hasattr(answer, "_fields"):
            answer = answer[int(name) if name.isdigit() else position]
        else:
            answer = getattr(answer, name)
    return answer


def _data(kind: Kind, value: Any) -> Any:
    """Return a value of a type as plain data."""
    if isinstance(kind, Named):
        return _data(kind.kind, value)
    if isinstance(kind, tuple):
        return _data(_alternative(kind, value), value)
    if value is None:
        return None
    if isinstance(kind, Record):
        return kind(value)
    if isinstance(kind, dict):
        return {key: _data(kind[str], item) for key, item in value.items()} if str in kind else Record(**kind)(value)
    if isinstance(kind, list):
        items = [_data(kind[min(i, len(kind) - 1)], item) for i, item in enumerate(value)]
        return tuple(items) if isinstance(value, tuple) and isinstance(kind[0], type) else items
    if isinstance(kind, str) and kind in _BITS and isinstance(value, int):
        return word_text(value, _BITS[kind])
    return plain_data(value)


def _alternative(kinds: tuple[Kind, ...], value: Any) -> Kind:
    """Return the first of several types that a value can have."""
    return next((kind for kind in kinds if kind is not None and _fits(kind, value)), None)


def _fits(kind: Kind, value: Any) -> bool:
    """Return whether a value can have a type."""
    if isinstance(kind, Record) and isinstance(value, Mapping):
        return all(key in value for key, row in kind.rows.items() if not row.optional)
    if isinstance(kind, dict) and isinstance(value, Mapping):
        return all(key in value for key in kind if key is not str)
    return not isinstance(kind, Record) or kind.fits(value)


def _cell(answer: Any, key: str, row: Row) -> object:
    """Return what a table shows for a key."""
    return row.text(answer) if row.text else _data(row.kind, _value(answer, row.source or key))
