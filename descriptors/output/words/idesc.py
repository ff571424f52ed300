"""A decoded instruction descriptor: the word, its fields, and what is wrong with it.

Law: a line for every field of the word, and the fields of the data, written again, are the word.

>>> from descriptors import decode_idesc, idesc
>>> told = decode_idesc(idesc("bf16", m=128, n=256, b_major="MN"), "f16")
>>> all(name in tell(told) for name in record(told)["fields"])
True
>>> word_text(word_of("f16").encode(dict(told.values)), 32) == record(told)["word"]
True
"""

from __future__ import annotations

from typing import Any

from descriptors.output.words.fields import number_or_text
from descriptors.smem.instructions.idesc import DecodedInstruction, word_of
from descriptors.text import aligned, word_text


def tell(instruction: DecodedInstruction) -> str:
    """An instruction descriptor for a person.

    >>> from descriptors import decode_idesc
    >>> print(tell(decode_idesc(0x08200490, "f16")).splitlines()[0])
    0x08200490  sm100 instruction descriptor of kind f16
    """
    word = word_of(instruction.kind)
    title = f"{word_text(instruction.word, word.bits)}  {word.name}"
    warnings = (f"warning: {warning}" for warning in instruction.warnings)
    return "\n".join([title, *aligned([("bits", "field", "value"), *instruction.rows()]), *warnings])


def record(instruction: DecodedInstruction) -> dict[str, Any]:
    """An instruction descriptor as plain data.

    >>> from descriptors import decode_idesc
    >>> record(decode_idesc(0x08200490, "f16"))["fields"]["n"]
    128
    """
    bits = word_of(instruction.kind).bits
    return {
        "kind": instruction.kind,
        "word": word_text(instruction.word, bits),
        "fields": {name: number_or_text(value) for name, value in instruction.values},
        "unknown_bits": word_text(instruction.unknown_bits, bits),
        "warnings": list(instruction.warnings),
    }
