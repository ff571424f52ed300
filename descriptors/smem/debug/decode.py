"""From a word back to what it says, field by field in bytes: what counts, what looks wrong, and what was meant.

Law: the fields and the unknown bits hold every bit of the word, so that nothing of it is lost:
``SMEM_DESCRIPTOR.encode(fields) | unknown_bits == word``.
Source: the words are those of ``sm90`` and ``sm100``; the rules those of ``warnings``.

>>> from descriptors.smem.words.descriptor import WORDS
>>> words = [0x4000404000010000 ^ 3 << bit for bit in range(63)]
>>> found = [(arch, decode(word, arch)) for arch in WORDS for word in words]
>>> all(WORDS[arch].encode({row.name: row.value for row in d.fields}) | d.unknown_bits == d.word for arch, d in found)
True

Law: of what a word was meant to say, by whoever knows only some of its fields, just that is met which it says.

>>> from descriptors import derive
>>> word = derive((64, 64), "bf16", "K", "128B", (64, 16)).words()[0][0]
>>> [one.met for one in expectations(decode(word, "sm100"), ["stride_byte_offset=1024", "swizzle=64B"])]
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
    """One field of a decoded word.

    Args:
        field: where it is and how it is stored.
        stored: the number in the word.
        value: what that stands for: bytes, a plain number, a swizzle mode, or an ``UnknownCode``.
        meaning: what it says about the operand, in words.
        dont_care: whether it changes nothing for this operand.
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
    """A shared-memory descriptor word, read.

    Args:
        arch: ``"sm90"`` or ``"sm100"``.
        word: the 64 bits.
        fields: every field, lowest first.
        unknown_bits: the set bits that belong to no field.
        warnings: what is probably a mistake.
        notes: what surprises, and is right.
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
        """The fields that change nothing for this operand, as far as it is known."""
        return tuple(field.name for field in self.fields if field.dont_care)

    @property
    def absolute(self) -> bool:
        """Whether the leading byte offset is an address: LBO mode 1, of K = 96."""
        return has_tcgen05(self.arch) and bool(self["lbo_mode"])

    @property
    def headline(self) -> str:
        """The answer in one line."""
        of = f" of an operand: {self.operand}" if self.operand else ""
        return f"{word_text(self.word)}: {self.arch} shared-memory descriptor{of}"


def decode(
    word: int,
    arch: Arch | None = None,
    *,
    dtype: str | ElementType | None = None,
    major: Major | MajorName | None = None,
    shape: tuple[int, int] | None = None,
) -> Decoded:
    """Every field of a shared-memory descriptor word, with what looks wrong about it.

    The more is known of the operand, the more can be said: its major decides what the two offsets mean, its type
    whether an instruction reads it, its shape which steps are taken and whether two elements share an address.

    Args:
        word: the 64-bit word.
        arch: ``"sm90"`` or ``"sm100"``; by the version bits of the word if left out.
        dtype: the element type, if known.
        major: the contiguous dimension, if known.
        shape: extents (MN, K) that one instruction reads, in elements, if known.

    Raises:
        DescriptorError: if the word is no integer of 64 bits, or a shape is given that is not two extents.
        ChoiceError: on an unknown name.

    Source: as ``sm90`` and ``sm100``.

    >>> found = decode(0x0010000002001000, "sm90")
    >>> found["start_address"], found["leading_byte_offset"], found["stride_byte_offset"], found["swizzle"]
    (65536, 8192, 0, SwizzleMode.NONE)
    >>> print(found.warnings[0])
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
    """Fields that change nothing: not read for the form, or a step past the end of the operand."""
    if reading.major is None or not isinstance(reading.mode, SwizzleMode):
        return ()
    try:
        canonical = form(reading.major, reading.mode)
    except DescriptorError:  # no such form: a remark says so
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
    """What a field says about this operand, in words; both readings where the major is not known."""
    if name == "lbo_mode" and reading.absolute:
        return f"1 for an absolute leading address: K = 96 of {holders('K = 96')}"
    if name == "swizzle":
        return f"{reading.code} means {elsewhere(reading.arch, reading.code)}" if reading.code else ""
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
    """One field of a word as it was meant.

    Args:
        field: its name.
        expected: the value it was meant to have, in bytes where it is an address.
        found: the value it has.
    """

    field: str
    expected: Any
    found: Any

    @property
    def met(self) -> bool:
        """Whether the word says what was meant."""
        return bool(self.expected == self.found)

    def __str__(self) -> str:
        if self.met:
            return f"as expected: {self.field} {self.found}"
        return f"not as expected: {self.field} must be {self.expected}, is {self.found}"


def expectations(decoded: Decoded, expected: Iterable[str]) -> tuple[Expectation, ...]:
    """Each of these beside what a word says.

    Args:
        decoded: the word.
        expected: the name of a swizzle, or ``FIELD=NUMBER``, in bytes where the field is an address.

    Raises:
        ChoiceError: if the word has no such field, or there is no such swizzle.
        DescriptorError: if a number is none.

    >>> from descriptors import decode
    >>> for one in expectations(decode(0x4000004000010040, "sm90"), ["64B", "stride_byte_offset=1024"]):
    ...     print(one)
    not as expected: swizzle must be 64B, is 128B
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
        raise DescriptorError(f"decode: an expected {field} must be a number, found {brief(value)}") from None
