"""What a word was meant to say, beside what it says: field by field, for whoever knows only some of them.

>>> from descriptors import decode, derive
>>> word = derive((64, 64), "bf16", "K", "128B", (64, 16)).words()[0][0]
>>> [one.met for one in expectations(decode(word, "sm100"), ["stride_byte_offset=1024", "swizzle=64B"])]
[True, False]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from descriptors.debug.decode import Decoded
from descriptors.errors import DescriptorError, brief
from descriptors.frozen import frozen
from descriptors.operands.operand import as_swizzle_mode


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
    found = decoded[field]
    try:
        return Expectation(field, int(value[:20], 0), found)
    except ValueError:
        raise DescriptorError(f"decode: an expected {field} must be a number, found {brief(value)}") from None
