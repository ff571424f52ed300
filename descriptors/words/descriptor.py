"""The shared-memory descriptor of either architecture, its fields in bytes.

Law: the word of another start differs in that field alone, where it is 16-byte units added to the word.

>>> one = SmemDescriptor("sm100", 16, 1024, SwizzleMode.B128)
>>> all(one.at(16 * step).encode() == one.encode() + step for step in range(0, 1 << 14, 99))
True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from descriptors.errors import DescriptorError, as_flag
from descriptors.frozen import frozen, replace
from descriptors.operands.operand import SwizzleMode, as_swizzle_mode, choose
from descriptors.words import sm90, sm100
from descriptors.words.bitfield import Word

#: The architectures by name.
Arch: TypeAlias = Literal["sm90", "sm100"]

#: The descriptor word of each architecture.
WORDS: Mapping[Arch, Word] = {"sm90": sm90.SMEM_DESCRIPTOR, "sm100": sm100.SMEM_DESCRIPTOR}


def architecture(value: object, where: str = "derive") -> Arch:
    """The architecture with this name: ``"sm90"`` (wgmma) or ``"sm100"`` (tcgen05).

    Args:
        value: the name, in either case of letters.
        where: the operation, for the error message.

    Raises:
        ChoiceError: if there is none.
    """
    return choose(f"{where}: arch", value, _ARCHES)


_ARCHES: Mapping[str, Arch] = {name: name for name in WORDS}


@frozen
class SmemDescriptor:
    """What a tensor core is told about one operand in shared memory.

    Args:
        arch: ``"sm90"`` or ``"sm100"``.
        start_address: shared-memory address of the operand's first element, in bytes.
        leading_byte_offset: step of the canonical form's leading mode, in bytes.
        stride_byte_offset: step of the canonical form's stride mode, in bytes.
        swizzle: the swizzle mode.
        base_offset: rows by which the swizzle pattern starts before its natural alignment, 0 to 7.
        leading_is_absolute: whether the leading byte offset is no step but the shared-memory address of the line of 128
            bytes in which K goes on; sm100 alone has the bit (``lbo_mode``), for K = 96 on sm_103a.

    Law: ``WORDS[arch].decode(d.encode())`` gives back every field.

    Raises:
        ChoiceError: if the architecture or the swizzle mode is unknown.
        DescriptorError: if the leading byte offset of an sm90 descriptor shall be absolute.

    Source: as ``sm90`` and ``sm100``.

    >>> d = SmemDescriptor("sm100", leading_byte_offset=16, stride_byte_offset=1024, swizzle="128B")
    >>> hex(d.encode()), hex(d.at(64).encode())
    ('0x4000404000010000', '0x4000404000010004')
    """

    arch: Arch
    leading_byte_offset: int
    stride_byte_offset: int
    swizzle: SwizzleMode
    start_address: int = 0
    base_offset: int = 0
    leading_is_absolute: bool = False

    def __post_init__(self) -> None:
        # What is typed already stays: a descriptor that ``at`` moves is not looked up again.
        arch: object = self.arch
        if type(arch) is not str or arch not in WORDS:
            object.__setattr__(self, "arch", architecture(arch))
        object.__setattr__(self, "swizzle", as_swizzle_mode(self.swizzle))
        if as_flag(self.leading_is_absolute, "descriptor: leading_is_absolute") and self.arch != "sm100":
            raise DescriptorError(
                f"descriptor: an absolute leading byte offset must have arch sm100, found {self.arch}"
            )

    @property
    def word(self) -> Word:
        """The bit fields of this architecture's word."""
        return WORDS[self.arch]

    def encode(self) -> int:
        """The 64-bit word.

        Raises:
            FieldError: if an offset is no multiple of 16 bytes or too large for its field.
            ChoiceError: if the architecture has no code for the swizzle mode.
        """
        word = self.word.encode(
            start_address=self.start_address,
            leading_byte_offset=self.leading_byte_offset,
            stride_byte_offset=self.stride_byte_offset,
            base_offset=self.base_offset,
            swizzle=self.swizzle,
        )
        return word | self.word["lbo_mode"].mask if self.leading_is_absolute else word

    def at(self, start_address: int) -> SmemDescriptor:
        """The same descriptor for an operand that starts elsewhere, in bytes.

        The hardware reads the address modulo 2**18; the field is never allowed to carry into its neighbour.
        """
        return replace(self, start_address=start_address)
