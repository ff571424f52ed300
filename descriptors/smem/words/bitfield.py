"""Words made of bit fields: declared once as data, encoded and decoded by one generic pair of functions.

The only shifts and masks of the package live here. A field says where its bits are and what one step of its stored
number is worth (``unit=16``: the word holds 16-byte units, the caller sees bytes), or which meanings its codes have.
Laws, for every word ``w`` and every map of legal values ``v``::

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
    """A stored code that names nothing, kept so that decoding loses no bit.

    >>> print(UnknownCode(5))
    invalid code 5
    """

    code: int

    def __str__(self) -> str:
        return f"invalid code {self.code}"


@frozen
class Field:
    """One field of a word.

    Args:
        name: name of the value, a Python identifier.
        low: position of its lowest bit.
        bits: width in bits.
        unit: what one stored step is worth; 16 for an address stored as ``address >> 4``.
        codes: pairs (meaning, stored code) where the field is an enumeration; empty for a number.
        default: value that encoding takes when none is given.

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
        """The largest value the field holds, in the caller's unit.

        >>> Field("start_address", low=0, bits=14, unit=16).limit
        262128
        """
        return ((1 << self.bits) - 1) * self.unit

    def store(self, value: Any, where: str = "field") -> int:
        """The number that the word keeps for ``value``.

        Args:
            value: in the caller's unit, or one of the meanings in ``codes``.
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
            raise FieldError(f"{where}: {self.name} must be an integer, found {brief(value)}", self.name)
        limit = ((1 << self.bits) - 1) * unit
        if not 0 <= number <= limit:
            raise FieldError(f"{where}: {self.name} must lie in [0, {limit}], found {brief(number)}", self.name)
        if number % unit:
            raise FieldError(f"{where}: {self.name} must be a multiple of {unit}, found {number}", self.name)
        return number // unit

    def load(self, number: int) -> Any:
        """The value that a stored number stands for; an ``UnknownCode`` where no meaning has that code."""
        if self.codes:
            return next((meaning for meaning, code in self.codes if code == number), UnknownCode(number))
        return number * self.unit


@frozen
class Word:
    """A machine word: its name, its width in bits, and its fields, which must not overlap.

    Raises:
        FieldError: when two fields overlap, or one reaches beyond the word.

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
                "Word: name, bits and fields must be a text, an integer and a tuple, found "
                f"{brief(self.name)}, {brief(self.bits)}, {brief(self.fields)}",
                brief(self.name),
            )
        covered = 0
        for field in self.fields:
            if not isinstance(field, Field):
                raise FieldError(f"Word: a field must be a Field, found {brief(field)}", self.name)
            if field.low < 0 or field.bits < 1 or field.low + field.bits > self.bits:
                raise FieldError(
                    f"{self.name}: {field.name} must lie in {self.bits} bits, found {span(field)}", field.name
                )
            if field.mask & covered:
                raise FieldError(f"{self.name}: fields must not overlap, found {field.name} {span(field)}", field.name)
            covered |= field.mask

    def __getitem__(self, name: str) -> Field:
        for field in self.fields:
            if field.name == name:
                return field
        raise ChoiceError(f"{self.name}: a field", name, [field.name for field in self.fields])

    def encode(self, values: Mapping[str, Any] | None = None, /, **by_name: Any) -> int:
        """The word whose fields have the given values; a field not named takes its default.

        Raises:
            FieldError: if a value is out of range or not a multiple of its field's unit.
            ChoiceError: for a name that is no field, or a meaning that has no code.
        """
        all_values = {**(values or {}), **by_name}
        for name in all_values:
            self[name]  # an unknown name is an error, not a silent no-op
        return sum(
            field.store(all_values.get(field.name, field.default), self.name) << field.low for field in self.fields
        )

    def decode(self, word: int) -> dict[str, Any]:
        """The value of every field, in the order of declaration; bits outside the fields are in ``unknown_bits``.

        Raises:
            FieldError: if ``word`` is no integer of this word's width.
        """
        number = self._check(word)
        return {field.name: field.load((number & field.mask) >> field.low) for field in self.fields}

    def unknown_bits(self, word: int) -> int:
        """The set bits of ``word`` that belong to no field.

        >>> hex(Word("example", 32, (Field("rows", 0, 6),)).unknown_bits(0x8003))
        '0x8000'
        """
        return self._check(word) & ~self.mask(field.name for field in self.fields)

    def mask(self, names: Iterable[str]) -> int:
        """All bits of the named fields: what to ignore when two words are compared without those fields."""
        return sum({self[name].mask for name in names})

    def _check(self, word: int) -> int:
        return Field(self.name, 0, self.bits)._number(word, "decode", 1)


def span(field: Field) -> str:
    """The bits of a field in the half-open notation of the documents.

    >>> span(Field("start_address", low=0, bits=14))
    '[0,14)'
    """
    return f"[{field.low},{field.low + field.bits})"


def field_cells(field: Field, number: int, value: Any) -> tuple[str, str]:
    """What a field is worth and what the word holds, as two cells of a table.

    >>> field_cells(Field("stride_byte_offset", low=32, bits=14, unit=16), 64, 1024)
    ('1024 bytes', '64 x 16 bytes')
    """
    if field.unit > 1:
        return counted(value, "byte"), f"{number} x {field.unit} bytes"
    return str(value), f"code {number}" if field.codes else str(number)


def field_kinds(words: Iterable[Word], kind: object = None) -> tuple[dict[str, object], ...]:
    """Return the types of the fields of any of some words, as ``layoutalg.cli.schema`` writes types.

    Args:
        words: the words; those with fields of the same names have one type.
        kind: the type of each field; that of its values if it is left out.
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
