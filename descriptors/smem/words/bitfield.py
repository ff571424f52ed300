"""Encode and decode words that consist of bit fields, which are declared as data.

A ``Field`` declares the position of its bits and its unit (with ``unit=16``, the word stores 16-byte units and the
caller sees bytes), or the meanings of its codes.

Invariants, for every word ``w`` and every map of legal values ``v``::

    word.decode(word.encode(v)) == v          (names left out of v get their defaults)
    word.encode(word.decode(w)) | word.unknown_bits(w) == w

>>> word = Word("example", 10, (Field("rows", 0, 3), Field("address", 4, 5, unit=16)))
>>> values = [{"rows": rows, "address": 16 * step} for rows in range(8) for step in range(32)]
>>> all(word.decode(word.encode(v)) == v for v in values)
True
>>> all(word.encode(word.decode(w)) | word.unknown_bits(w) == w for w in range(1 << 10))
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index as _index
from typing import Any

from descriptors.errors import ChoiceError, FieldError, brief
from descriptors.text import counted
from layoutalg.frozen import frozen


@frozen
class UnknownCode:
    """A stored code without a meaning. Decoding keeps it, so that no bit is lost.

    >>> print(UnknownCode(5))
    invalid code 5
    """

    code: int

    def __str__(self) -> str:
        return f"invalid code {self.code}"


@frozen
class Field:
    """A field of a word.

    Args:
        name: name of the value, a Python identifier.
        low: position of the lowest bit.
        bits: width in bits.
        unit: value of one stored unit; 16 for an address stored as ``address >> 4``.
        codes: pairs (meaning, stored code) of an enumeration; empty for a number.
        default: the value that ``encode`` uses if none is given.

    >>> stride = Field("stride_byte_offset", low=32, bits=14, unit=16)
    >>> stride.store(1024), stride.load(64)
    (64, 1024)
    """

    name: str
    low: int
    bits: int
    unit: int = 1
    codes: tuple[tuple[Any, int], ...] = ()
    default: Any = 0

    @property
    def mask(self) -> int:
        """The bits of the word that belong to this field.

        >>> hex(Field("version", low=46, bits=3).mask)
        '0x1c00000000000'
        """
        return ((1 << self.bits) - 1) << self.low

    @property
    def limit(self) -> int:
        """The largest value that the field can store, in the caller's unit.

        >>> Field("start_address", low=0, bits=14, unit=16).limit
        262128
        """
        return ((1 << self.bits) - 1) * self.unit

    def store(self, value: Any, where: str = "field") -> int:
        """Return the number that the word stores for ``value``.

        Args:
            value: a number in the caller's unit, or one of the meanings in ``codes``.
            where: name of the word, for the error message.

        Raises:
            FieldError: if a number is out of range or not a multiple of the unit.
            ChoiceError: if a meaning has no code.
        """
        if isinstance(value, UnknownCode):
            return self._number(value.code, where, 1)
        if self.codes:
            for meaning, code in self.codes:
                if meaning == value:
                    return code
            raise ChoiceError(f"{where}: {self.name}", value, [str(meaning) for meaning, _ in self.codes])
        return self._number(value, where, self.unit)

    def _number(self, value: Any, where: str, unit: int) -> int:
        try:
            number = None if isinstance(value, bool) else _index(value)
        except TypeError:
            number = None
        if number is None:
            raise FieldError(f"{where}: {self.name} is {brief(value)}, which is not an integer", self.name)
        limit = ((1 << self.bits) - 1) * unit
        if not 0 <= number <= limit:
            raise FieldError(f"{where}: {self.name} is {brief(number)}, which is not in [0, {limit}]", self.name)
        if number % unit:
            raise FieldError(f"{where}: {self.name} is {number}, which is not a multiple of {unit}", self.name)
        return number // unit

    def load(self, number: int) -> Any:
        """Return the value of a stored number, or an ``UnknownCode`` if no meaning has that code."""
        if self.codes:
            return next((meaning for meaning, code in self.codes if code == number), UnknownCode(number))
        return number * self.unit


@frozen
class Word:
    """A word format: its name, its width in bits, and its fields, which must not overlap.

    Raises:
        FieldError: if two fields overlap, or a field exceeds the word.

    >>> word = Word("example", 32, (Field("rows", 0, 6), Field("address", 8, 14, unit=16)))
    >>> hex(word.encode(rows=3, address=0x100))
    '0x1003'
    >>> word.decode(0x1003)
    {'rows': 3, 'address': 256}
    """

    name: str
    bits: int
    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and isinstance(self.bits, int) and isinstance(self.fields, tuple)):
            raise FieldError(
                f"Word: name {brief(self.name)}, bits {brief(self.bits)} and fields {brief(self.fields)} are not a "
                "text, an integer and a tuple",
                brief(self.name),
            )
        covered = 0
        for field in self.fields:
            if not isinstance(field, Field):
                raise FieldError(f"Word: {brief(field)} is not a Field", self.name)
            if field.low < 0 or field.bits < 1 or field.low + field.bits > self.bits:
                raise FieldError(f"{self.name}: {field.name} {span(field)} is not within {self.bits} bits", field.name)
            if field.mask & covered:
                raise FieldError(f"{self.name}: {field.name} {span(field)} overlaps another field", field.name)
            covered |= field.mask

    def __getitem__(self, name: str) -> Field:
        for field in self.fields:
            if field.name == name:
                return field
        raise ChoiceError(f"{self.name}: a field", name, [field.name for field in self.fields])

    def encode(self, values: Mapping[str, Any] | None = None, /, **by_name: Any) -> int:
        """Return the word with these field values; other fields have their defaults.

        Raises:
            FieldError: if a value is out of range or not a multiple of its field's unit.
            ChoiceError: for an unknown field name, or a meaning that has no code.
        """
        all_values = {**(values or {}), **by_name}
        for name in all_values:
            self[name]  # raises for an unknown name
        return sum(
            field.store(all_values.get(field.name, field.default), self.name) << field.low for field in self.fields
        )

    def decode(self, word: int) -> dict[str, Any]:
        """Return the value of every field, in the order of declaration.

        ``unknown_bits`` returns the bits outside the fields.

        Raises:
            FieldError: if ``word`` is not an integer of this width.
        """
        number = self._check(word)
        return {field.name: field.load((number & field.mask) >> field.low) for field in self.fields}

    def unknown_bits(self, word: int) -> int:
        """Return the set bits of ``word`` that belong to no field.

        >>> hex(Word("example", 32, (Field("rows", 0, 6),)).unknown_bits(0x8003))
        '0x8000'
        """
        return self._check(word) & ~self.mask(field.name for field in self.fields)

    def mask(self, names: Iterable[str]) -> int:
        """Return all bits of the named fields."""
        return sum({self[name].mask for name in names})

    def _check(self, word: int) -> int:
        return Field(self.name, 0, self.bits)._number(word, "decode", 1)


def span(field: Field) -> str:
    """Return the bits of a field as a half-open interval, as text.

    >>> span(Field("start_address", low=0, bits=14))
    '[0,14)'
    """
    return f"[{field.low},{field.low + field.bits})"


def field_cells(field: Field, number: int, value: Any) -> tuple[str, str]:
    """Return the value of a field and its stored number, as two cells of a table.

    >>> field_cells(Field("stride_byte_offset", low=32, bits=14, unit=16), 64, 1024)
    ('1024 bytes', '64 x 16 bytes')
    """
    if field.unit > 1:
        return counted(value, "byte"), f"{number} x {field.unit} bytes"
    return str(value), f"code {number}" if field.codes else str(number)


def field_kinds(words: Iterable[Word], kind: object = None) -> tuple[dict[str, object], ...]:
    """Return the types of the fields of some words, in the notation of ``layoutalg.cli.schema``.

    Args:
        words: the words; those with the same field names share one type.
        kind: the type of each field; None for the type of its values.
    """
    alike: dict[tuple[str, ...], list[Word]] = {}
    for word in words:
        alike.setdefault(tuple(field.name for field in word.fields), []).append(word)
    return tuple(
        {name: kind or _value_kind([word[name] for word in group]) for name in names} for names, group in alike.items()
    )


def _value_kind(fields: Sequence[Field]) -> object:
    """Return the type of the values of a field: numbers, or the meanings of codes, some of which are invalid."""
    meanings = {meaning for field in fields for meaning, _ in field.codes} or {0}
    plain = type(next(iter(meanings)))
    return plain if plain in (bool, int) else ({str(meaning) for meaning in meanings}, "^invalid code [0-9]+$")
