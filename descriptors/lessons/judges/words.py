"""Judges of descriptor words: what a tensor core would read with them.

Law: the word that is derived is right, and with one bit more it is told which elements come from elsewhere.

>>> tile = ((64, 64), "bf16", "K", "128B", (64, 16))
>>> word("0x4000004000010000", *tile)
>>> word("0x4000002000010000", *tile)
'reads 896 of 1024 elements from elsewhere: stride_byte_offset 512 -> 1024'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from descriptors.debug.diff import diff
from descriptors.derivation.derive import derive
from descriptors.derivation.parts.derivation import Derivation
from descriptors.operands.operand import MajorName, as_major, as_swizzle_mode
from layoutalg import parse_int_tuple, product


def word(answer: str, *tile: Any) -> str | None:
    """A descriptor word that makes the tensor core read the first operand of a tile, element for element."""
    derived = _derived(*tile)
    try:
        number = int(answer, 0)
    except ValueError:
        return f"must be a number, as 0x4000004000010000, found {answer}"
    told = diff(
        number,
        derived.smem_tile,
        "sm90",
        dtype=derived.element,
        major=derived.major,
        shape=derived.mma,
        base=0,
    )
    if not told.differing:
        return None
    changes = "; ".join(str(change) for change in told.changes)
    return f"reads {told.differing} of {product(derived.mma)} elements from elsewhere: {changes}"


def field(answer: str, name: str, *tile: Any) -> str | None:
    """A field of that word, in bytes."""
    right, mine = getattr(_derived(*tile).descriptor, name), parse_int_tuple(answer)
    if mine == right:
        return None
    unit = " (that is the field in units of 16 bytes)" if isinstance(mine, int) and mine * 16 == right else ""
    return f"says {answer} bytes, which is not the {name.replace('_', ' ')}{unit}"


def _derived(tile: tuple[int, int], dtype: str, major: MajorName, swizzle: str, mma: tuple[int, int]) -> Derivation:
    return derive(tile, dtype, as_major(major), as_swizzle_mode(swizzle), mma, arch="sm90")


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {"word": word, "field": field}
