"""Read what a command prints on standard error when it refuses its input.

>>> refusal("descriptors plan: error: N is 100\\n  note: N is 8 to 256\\n  help: use 96\\n")
'N is 100; N is 8 to 256; use 96'
"""

from __future__ import annotations

import re


def refusal(err: str) -> str:
    """Return the fact, the notes and the ways out, separated by semicolons.

    Raises:
        AssertionError: if the text is not one refusal.
    """
    first, *rest = err.removesuffix("\n").split("\n")
    fact = re.fullmatch(r".+?: error: (.+)", first)
    assert fact and err.endswith("\n") and err.replace("\n", "").isprintable(), err
    parts = [re.fullmatch(r"  (?:note|help): (.+)", line) for line in rest]
    assert all(parts), err
    return "; ".join([fact[1], *(part[1] for part in parts if part)])


def refuses(err: str, sentence: str) -> bool:
    """Whether a refusal contains a sentence; commands leave out the operation that opens the message of an error."""
    text = refusal(err)
    operation, colon, rest = sentence.partition(": ")
    return sentence in text or bool(colon and operation.replace(" ", "").isalpha() and text.startswith(rest))
