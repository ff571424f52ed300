"""Decode a descriptor word: every field with its meaning, the warnings, and the comparison with expected values.

Invariant: the fields and the unknown bits have every bit of the word:
``smem_word(arch).encode(fields) | unknown_bits == word``.
Source: ``words.descriptor`` for the fields, ``warnings`` for the warnings.

>>> from descriptors.smem.words.descriptor import WORDS
>>> words = [0x4000404000010000 ^ 3 << bit for bit in range(63)]
>>> cases = [(arch, decode(word, arch)) for arch in WORDS for word in words]
>>> all(WORDS[arch].encode({row.name: row.value for row in d.fields}) | d.unknown_bits == d.word for arch, d in cases)
True

Invariant: an expectation is met if and only if the field has the expected value.

>>> from descriptors import derive
>>> word = derive((64, 64), "bf16", "K", "128B", (64, 16)).words()[0][0]
>>> [each.met for each in expectations(decode(word, "sm100"), ["stride_byte_offset=1024", "swizzle=64B"])]
[True, False]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from descriptors.errors import ChoiceError, DescriptorError, as_integer, brief
from descriptors.smem.debug.warnings import Reading, Remark, as_extents, elsewhere, notes, reading_of, warnings
from descriptors.smem.operands.canonical import is_read, step_meaning, walked
from descriptors.smem.operands.forms import BASE, LEADING, STRIDE, form
from descriptors.smem.operands.operand import (
    ElementType,
    Major,
    MajorName,
    SwizzleMode,
    as_element_type,
    as_major,
    as_swizzle_mode,
)
from descriptors.smem.words.bitfield import Field, UnknownCode
from descriptors.smem.words.descriptor import Arch, architecture, assumed_architecture, smem_word
from descriptors.targets import has_tcgen05, holders
from descriptors.text import Told, word_text
from layoutalg.frozen import frozen, replace


@frozen
class DecodedField:
    """A field of a decoded word.

    Args:
        field: the declaration of the field.
        stored: the number in the word.
        value: the value of that number: bytes, a plain number, a swizzle mode, or an ``UnknownCode``.
        meaning: what the field means for the operand, as text.
        dont_care: whether the field has no effect for this operand.
    """

    field: Field
    stored: int
    value: Any
    meaning: str
    dont_care: bool

    @property
    def name(self) -> str:
        """The name of the field."""
        return self.field.name


@frozen
class Decoded(Told):
    """A decoded shared-memory descriptor.

    Args:
        arch: ``"sm90"`` or ``"sm100"``.
        word: the 64 bits.
        fields: every field, lowest first.
        unknown_bits: the set bits that belong to no field.
        warnings: probable mistakes.
        notes: facts that are unusual, but not mistakes.
        operand: the operand as far as it is known, for the title.

    >>> word = decode(0x4000404000010000, "sm100", dtype="bf16", major="K")
    >>> word["stride_byte_offset"], word["swizzle"], word.dont_care
    (1024, SwizzleMode.B128, ('leading_byte_offset',))
    """

    arch: Arch
    word: int
    fields: tuple[DecodedField, ...]
    unknown_bits: int
    warnings: tuple[Remark, ...]
    notes: tuple[Remark, ...]
    operand: str

    def __getitem__(self, name: str) -> Any:
        for field in self.fields:
            if field.name == name:
                return field.value
        raise ChoiceError("decode: a field", name, [field.name for field in self.fields])

    @property
    def dont_care(self) -> tuple[str, ...]:
        """The fields without effect for this operand, as far as it is known."""
        return tuple(field.name for field in self.fields if field.dont_care)

    @property
    def absolute(self) -> bool:
        """Whether the leading byte offset is an address (LBO mode 1, for K = 96)."""
        return has_tcgen05(self.arch) and bool(self["lbo_mode"])

    @property
    def headline(self) -> str:
        """The descriptor in one line."""
        operand = f" of an operand: {self.operand}" if self.operand else ""
        return f"{word_text(self.word)}: {self.arch} shared-memory descriptor{operand}"


def decode(
    word: int,
    arch: Arch | None = None,
    *,
    dtype: str | ElementType | None = None,
    major: Major | MajorName | None = None,
    shape: tuple[int, int] | None = None,
) -> Decoded:
    """Decode every field of a shared-memory descriptor, and report probable mistakes.

    Each fact about the operand allows more statements: its major determines the meaning of the two offsets, its type
    whether an instruction reads it, and its shape which strides have an effect and whether elements share an address.

    Args:
        word: the 64-bit word.
        arch: ``"sm90"``, ``"sm100"``, ``"sm103"``, ``"sm107"`` or ``"sm110"``; by default from the version bits.
        dtype: the element type, if known.
        major: the contiguous dimension, if known.
        shape: extents (MN, K) that one instruction reads, in elements, if known.

    Raises:
        DescriptorError: if the word is not an integer of 64 bits, or the shape is not two extents.
        ChoiceError: for an unknown name.

    >>> decoded = decode(0x0010000002001000, "sm90")
    >>> decoded["start_address"], decoded["leading_byte_offset"], decoded["stride_byte_offset"], decoded["swizzle"]
    (65536, 8192, 0, SwizzleMode.NONE)
    >>> print(decoded.warnings[0])
    bit 52 belongs to no field and is ignored (measured on a Hopper GPU); the swizzle has bits [62,64)
    """
    number = as_integer(word, "decode: a word", maximum=2**64 - 1)
    name = architecture(assumed_architecture(number) if arch is None else arch, "decode")
    element = None if dtype is None else as_element_type(dtype)
    contiguous = None if major is None else as_major(major)
    extents = None if shape is None else as_extents(shape, "decode: shape", "decode: an extent")
    layout = smem_word(name)
    reading = replace(reading_of(number, name), element=element, major=contiguous, shape=extents)
    return Decoded(
        arch=name,
        word=number,
        fields=tuple(_field(field, reading) for field in layout.fields),
        unknown_bits=reading.unknown_bits,
        warnings=warnings(reading),
        notes=notes(reading),
        operand=_known_of(reading),
    )


def _field(field: Field, reading: Reading) -> DecodedField:
    number = (reading.word & field.mask) >> field.low
    idle, meaning = field.name in _dont_care(reading), _meaning(field.name, reading)
    if idle and field.name == BASE:
        meaning += "; there is no pattern without a swizzle"
    elif idle and field.name == LEADING and reading.absolute:
        meaning += "; K ends in its own line, so that it is not read"
    elif idle:
        unread = field.name == LEADING and reading.leading_is_read is False
        meaning += "; CUTLASS writes 16 bytes, others 0" if unread else "; never taken, the operand ends before it"
    return DecodedField(field, number, reading.values[field.name], meaning, idle)


def _dont_care(reading: Reading) -> tuple[str, ...]:
    """Return the fields without effect: not read for the form, or a stride beyond the end of the operand."""
    if reading.major is None or not isinstance(reading.mode, SwizzleMode):
        return ()
    try:
        canonical = form(reading.major, reading.mode)
    except DescriptorError:  # there is no such form, as a warning states
        return ()
    idle = set(canonical.unread)
    if reading.absolute:
        idle = {LEADING} if reading.crosses is False else set()
    if reading.shape and reading.element:
        units = list(reading.shape)
        mode = reading.major.contiguous_mode
        units[mode] = -(-units[mode] // reading.element.per_16_bytes)
        for name, path in canonical.steps:
            if units[path[0]] <= canonical.chunk[path[0]] and not (name == LEADING and reading.absolute):
                idle.add(name)
    return tuple(idle)


def _meaning(name: str, reading: Reading) -> str:
    """Return the meaning of a field for the operand, for both majors if the major is not known."""
    if name == "lbo_mode" and reading.absolute:
        return f"1 for an absolute leading address: K = 96 of {holders('K = 96')}"
    if name == "swizzle":
        return f"the same code is {elsewhere(reading.arch, reading.code)}" if reading.code else ""
    if name not in (LEADING, STRIDE):
        return f"1 in every {reading.arch} word" if name == "version" else _MEANINGS[name]
    if name == LEADING and reading.absolute:
        return "absolute address of the line of 128 bytes in which K goes on"
    if not isinstance(reading.mode, SwizzleMode):
        return ""
    texts = {major: _step(name, major, reading.mode) for major in Major if reading.major in (None, major)}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{major}-major: {text}" for major, text in texts.items())


def _step(name: str, major: Major, mode: SwizzleMode) -> str:
    canonical = walked(major, mode)
    return step_meaning(canonical, name) if is_read(canonical, name) else "not read"


_MEANINGS = {
    "start_address": "where the operand starts",
    "base_offset": "lines of 128 bytes by which the swizzle pattern is shifted",
    "lbo_mode": "0 for a relative leading offset",
    "row_half": "which half of a row of 48 bytes of a compressed B is read: bytes 0 to 23, or 24 to 47",
}


def _known_of(reading: Reading) -> str:
    """The operand as far as it is known, for the title."""
    parts = [
        str(reading.element) if reading.element else "",
        f"{reading.major}-major" if reading.major else "",
        f"{reading.shape[0]}x{reading.shape[1]}" if reading.shape else "",
    ]
    return " ".join(filter(None, parts))


__all__ = ["Decoded", "DecodedField", "Remark", "UnknownCode", "decode"]


@frozen
class Expectation:
    """The comparison of a field of a word with an expected value.

    Args:
        field: name of the field.
        expected: the expected value, in bytes for an address or offset.
        found: the actual value.
    """

    field: str
    expected: Any
    found: Any

    @property
    def met(self) -> bool:
        """Whether the field has the expected value."""
        return bool(self.expected == self.found)

    def __str__(self) -> str:
        if self.met:
            return f"as expected: {self.field} {self.found}"
        return f"not as expected: {self.field} is {self.found}, expected {self.expected}"


def expectations(decoded: Decoded, expected: Iterable[str]) -> tuple[Expectation, ...]:
    """Compare a decoded word with expected values.

    Args:
        decoded: the decoded word.
        expected: texts, each the name of a swizzle or ``FIELD=NUMBER``, in bytes for an address or offset.

    Raises:
        ChoiceError: if the word has no such field, or there is no such swizzle.
        DescriptorError: if a value is not a number.

    >>> from descriptors import decode
    >>> for expectation in expectations(decode(0x4000004000010040, "sm90"), ["64B", "stride_byte_offset=1024"]):
    ...     print(expectation)
    not as expected: swizzle is 128B, expected 64B
    as expected: stride_byte_offset 1024
    """
    return tuple(_expectation(decoded, text) for text in expected)


def _expectation(decoded: Decoded, text: str) -> Expectation:
    field, equals, value = text.partition("=")
    if not equals or field == "swizzle":
        return Expectation("swizzle", as_swizzle_mode(value or text), decoded["swizzle"])
    actual = decoded[field]
    try:
        return Expectation(field, int(value[:20], 0), actual)
    except ValueError:
        raise DescriptorError(f"decode: the expected {field} is {brief(value)}, which is not a number") from None
