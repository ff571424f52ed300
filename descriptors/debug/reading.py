"""A word with all that is known of the operand that it describes, and the three ways to number swizzles.

Law: a group of rows is what the swizzle's pattern takes before it repeats, and a numbering is what its word says.

>>> all(group_bytes(mode) == mode.period_bytes for mode in SwizzleMode if mode.swizzle is not None)
True
>>> from descriptors.words.descriptor import WORDS
>>> all(WORDS[arch]["swizzle"].load(code) is mode for arch in WORDS for code, mode in NUMBERINGS[arch].items())
True
"""

from __future__ import annotations

from collections.abc import Mapping

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.frozen import frozen
from descriptors.matching.forms import LEADING, form
from descriptors.matching.meaning import is_read, walked
from descriptors.operands.operand import LINE_BYTES, ElementType, Major, SwizzleMode
from descriptors.words import sm90, sm100
from descriptors.words.bitfield import UnknownCode
from descriptors.words.descriptor import Arch
from descriptors.words.tensor_map import SWIZZLES as TENSOR_MAP_SWIZZLES

#: The numbers of the swizzle modes in the three places that number them, each its own way.
NUMBERINGS: Mapping[str, Mapping[int, SwizzleMode]] = {
    "sm90": {code: mode for mode, code in sm90.SWIZZLE_CODES},
    "sm100": {code: mode for mode, code in sm100.SWIZZLE_CODES},
    "a TMA tensor map": {code: mode for mode, (_, code) in TENSOR_MAP_SWIZZLES.items()},
}


@frozen
class Reading:
    """A word with all that is known about the operand it describes.

    Args:
        arch: ``"sm90"`` or ``"sm100"``.
        word: the 64 bits.
        values: its fields, in bytes where they are addresses.
        code: the stored number of the swizzle.
        unknown_bits: the set bits that belong to no field.
        element: the element type, if known.
        major: the contiguous dimension, if known.
        shape: extents (MN, K) of the operand in elements, if known.
    """

    arch: Arch
    word: int
    values: Mapping[str, int]
    mode: SwizzleMode | UnknownCode
    code: int
    unknown_bits: int
    element: ElementType | None = None
    major: Major | None = None
    shape: tuple[int, int] | None = None

    @property
    def width(self) -> int:
        """Bytes of a row that the hardware walks by itself; 0 for a code that names no swizzle."""
        return self.mode.span_bytes if isinstance(self.mode, SwizzleMode) else 0

    @property
    def group_bytes(self) -> int:
        """Bytes of a group of such rows: no step from group to group is smaller."""
        return group_bytes(self.mode) if isinstance(self.mode, SwizzleMode) else 0

    @property
    def absolute(self) -> bool:
        """Whether the leading byte offset is an address: LBO mode 1 of sm_103a."""
        return bool(self.values.get("lbo_mode", 0))

    @property
    def crosses(self) -> bool | None:
        """Whether K goes on at the absolute address; None where that takes the type and the shape to tell."""
        if not self.absolute or self.element is None or self.shape is None:
            return None if self.absolute else False
        bits = self.shape[1] * self.element.storage_bits
        return self.values["start_address"] % LINE_BYTES * 8 + bits > LINE_BYTES * 8

    @property
    def leading_is_read(self) -> bool | None:
        """Whether the leading byte offset is read; None where that takes the major, or a swizzle, to tell."""
        if self.absolute:
            return self.crosses
        if not isinstance(self.mode, SwizzleMode):
            return None
        majors = Major if self.major is None else (self.major,)
        answers = {is_read(walked(major, self.mode), LEADING) for major in majors}
        return answers.pop() if len(answers) == 1 else None


def group_bytes(mode: SwizzleMode) -> int:
    """Bytes of a group of rows of a swizzle mode, one after the other.

    >>> group_bytes(SwizzleMode.B64), group_bytes(SwizzleMode.B128_BASE32B)
    (512, 512)
    """
    # Every mode has an MN-major form, and its groups have as many rows as those of a K-major one.
    return mode.span_bytes * form(Major.MN, mode).rows


def as_extents(shape: object, what: str, each: str) -> tuple[int, int]:
    """The extents (MN, K) of an operand that a caller gave.

    Args:
        shape: what was given.
        what: the subject of the error message, for the whole.
        each: the same for one extent.

    Raises:
        DescriptorError: if it is not two positive integers up to 65536.

    >>> as_extents([64, 16], "decode: shape", "decode: an extent")
    (64, 16)
    """
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise DescriptorError(f"{what} must be two extents (MN, K), found {brief(shape)}")
    mn, k = (as_integer(extent, each, minimum=1, maximum=1 << 16) for extent in shape)
    return mn, k


def elsewhere(arch: str, code: int) -> str:
    """What a swizzle code of one architecture means in the other numberings.

    >>> elsewhere("sm90", 1)
    '128B_BASE32B in sm100, 32B in a TMA tensor map'
    """
    others = {place: codes.get(code) for place, codes in NUMBERINGS.items() if place != arch}
    return ", ".join(f"{mode or 'nothing'} in {place}" for place, mode in others.items())
