"""Shared-memory descriptors of sm90 (``wgmma``), sm100 and sm107 (``tcgen05``), with fields in bytes.

Source of sm90: PTX ISA 9.1 (wgmma, matrix descriptor format), CUTLASS ``include/cute/arch/mma_sm90_desc.hpp`` and the
CuTe DSL's ``WgmmaSmemDesc`` agree on every field position. Measured on an H200: bits 14-15, 30-31, 46-48 and 52-61
belong to no field, and setting them has no effect.
Source of sm100: PTX ISA 9.1, Table 40 (tcgen05 shared memory descriptor), CUTLASS
``include/cute/arch/mma_sm100_desc.hpp`` and the CuTe DSL's ``Tcgen05SmemDesc`` agree on every field position, except
that ``version`` has two bits in CUTLASS and three in PTX and the DSL. The value 1 reads the same in both.

sm107 has 15 bits for the start address and for LBO, which gives windows of 2**19 bytes, and bit 53, which selects the
half of a 48-byte row of a compressed B. Below 2**18 its words equal those of sm100. Higher addresses do not fit in a
word of sm100; they are an error here, while NVIDIA's builder drops the bit silently.
Source of sm107: CuTe DSL 4.8.1, ``sm107_make_umma_smem_desc``, compiled on a CPU; bit 53: PTX ISA 9.4, tcgen05 shared
memory descriptor (Table 49). The table of targets states which architecture reads which of the three formats.

Invariant: the words of two start addresses differ in that field only, by the number of 16-byte units between them.

>>> descriptor = SmemDescriptor("sm100", 16, 1024, SwizzleMode.B128)
>>> all(descriptor.at(16 * step).encode() == descriptor.encode() + step for step in range(0, 1 << 14, 99))
True

Invariant: for every swizzle code, the read model, which has its own field positions and codes, reads with the swizzle
of the mode.

>>> from descriptors.smem.proof.read_model import read_rows
>>> from layoutalg import Swizzle
>>> modes = [("sm90", SM90_DESCRIPTOR, {}, mode) for mode, _ in SM90_SWIZZLE_CODES]
>>> modes += [("sm100", SM100_DESCRIPTOR, {"version": 1}, mode) for mode, _ in SM100_SWIZZLE_CODES]
>>> modes += [("sm107", SM107_DESCRIPTOR, {"version": 1}, mode) for mode, _ in SM100_SWIZZLE_CODES]
>>> for arch, kind, more, mode in modes:
...     word = kind.encode(swizzle=mode, stride_byte_offset=8 * mode.span_bytes, **more)
...     rows, swizzle = [i * mode.span_bytes for i in range(32)], mode.swizzle or Swizzle(0, 4, 3)
...     read = read_rows(word, arch, dtype="u8", major="K", shape=(32, 16))
...     assert [row[0] for row in read] == [swizzle(row) for row in rows], mode

Invariant: the window is the range of the start-address field, and includes all shared memory.

>>> from descriptors.targets import ARCHITECTURES
>>> all(row.shared < window_bytes(row.name) == smem_word(row.name)["start_address"].limit + 16
...     for row in ARCHITECTURES if row.tables)
True
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

from descriptors import targets
from descriptors.errors import DescriptorError, FieldError, as_flag
from descriptors.records import Named
from descriptors.smem.operands.operand import SwizzleMode, as_swizzle_mode
from descriptors.smem.words.bitfield import Field, Word, field_kinds
from descriptors.targets import has_wgmma, tensor_architecture
from layoutalg.frozen import frozen, replace

#: Codes of the swizzle field.
SM90_SWIZZLE_CODES = (
    (SwizzleMode.NONE, 0),
    (SwizzleMode.B128, 1),
    (SwizzleMode.B64, 2),
    (SwizzleMode.B32, 3),
)

#: The 64-bit shared-memory descriptor; addresses and offsets in bytes.
SM90_DESCRIPTOR = Word(
    "sm90 shared-memory descriptor",
    64,
    (
        Field("start_address", low=0, bits=14, unit=16),
        Field("leading_byte_offset", low=16, bits=14, unit=16),
        Field("stride_byte_offset", low=32, bits=14, unit=16),
        Field("base_offset", low=49, bits=3),
        Field("swizzle", low=62, bits=2, codes=SM90_SWIZZLE_CODES, default=SwizzleMode.NONE),
    ),
)


#: Codes of the swizzle field; 3, 5 and 7 have no meaning.
SM100_SWIZZLE_CODES = (
    (SwizzleMode.NONE, 0),
    (SwizzleMode.B128_BASE32B, 1),
    (SwizzleMode.B128, 2),
    (SwizzleMode.B64, 4),
    (SwizzleMode.B32, 6),
)

#: The 64-bit shared-memory descriptor; addresses and offsets in bytes. ``lbo_mode`` 1 makes the leading offset an
#: absolute address, which only the K = 96 instructions of sm_103a and sm_107a use.
SM100_DESCRIPTOR = Word(
    "sm100 shared-memory descriptor",
    64,
    (
        Field("start_address", low=0, bits=14, unit=16),
        Field("leading_byte_offset", low=16, bits=14, unit=16),
        Field("stride_byte_offset", low=32, bits=14, unit=16),
        Field("version", low=46, bits=3, default=1),
        Field("base_offset", low=49, bits=3),
        Field("lbo_mode", low=52, bits=1),
        Field("swizzle", low=61, bits=3, codes=SM100_SWIZZLE_CODES, default=SwizzleMode.NONE),
    ),
)


#: The 64-bit shared-memory descriptor of sm107.
SM107_DESCRIPTOR = Word(
    "sm107 shared-memory descriptor",
    64,
    tuple(
        Field(field.name, field.low, 15, field.unit)
        if field.name in ("start_address", "leading_byte_offset")
        else field
        for field in SM100_DESCRIPTOR.fields[:-1]
    )
    + (Field("row_half", low=53, bits=1), SM100_DESCRIPTOR.fields[-1]),
)


#: The name of an architecture of the table of targets.
Arch: TypeAlias = str

#: The word formats, by the first architecture that has them.
WORDS: Mapping[str, Word] = {"sm90": SM90_DESCRIPTOR, "sm100": SM100_DESCRIPTOR, "sm107": SM107_DESCRIPTOR}

#: Names of the instructions that read descriptors, by generation.
MNEMONICS: Mapping[str, str] = {"sm90": "wgmma", "sm100": "tcgen05"}

#: Shared memory that a CTA can use, in bytes (CUDA C++ Programming Guide, compute capabilities).
SMEM_BYTES = 227 * 1024

#: Bytes that a 14-bit start address can address (PTX ISA 9.1, matrix descriptor: matrix-descriptor-encode, 18 bits).
WINDOW_BYTES = 1 << 18


def architecture(value: object, where: str = "derive") -> Arch:
    """Return the architecture with this name, such as ``"sm107"`` for ``"sm_107a"``.

    Args:
        value: the name, in upper or lower case.
        where: the operation, for the error message.

    Raises:
        ChoiceError: if there is no such architecture.
        DescriptorError: for an architecture without descriptors.
    """
    return tensor_architecture(value, where)


@lru_cache(maxsize=1 << 6)
def word_format(arch: Arch) -> str:
    """Return the first architecture with the word format of this one: a key of ``WORDS``.

    >>> [word_format(name) for name in ("sm90", "sm103", "sm107")]
    ['sm90', 'sm100', 'sm107']
    """
    return targets.architecture(arch).words


def smem_word(arch: Arch) -> Word:
    """Return the word format of an architecture.

    >>> smem_word("sm107")["row_half"].low, smem_word("sm103") is SM100_DESCRIPTOR
    (53, True)
    """
    return WORDS[word_format(arch)]


def with_version(word: int, arch: Arch) -> int:
    """Return a word with the version that PTX requires, if its version bits are 0.

    Existing kernels have sm100 descriptors with version 0 (Triton 3.5.0). Their elements are compared as if the version
    were set. What the hardware reads for version 0 is not measured.

    >>> hex(with_version(0x4000004000010000, "sm100")), hex(with_version(0x4000004000010000, "sm90"))
    ('0x4000404000010000', '0x4000004000010000')
    """
    versions = [field for field in smem_word(arch).fields if field.name == "version"]
    return word | smem_word(arch).encode() if any(not word & field.mask for field in versions) else word


def start_mask(arch: Arch) -> int:
    """Return the bits of a descriptor that store the start address.

    >>> hex(start_mask("sm100")), hex(start_mask("sm107"))
    ('0x3fff', '0x7fff')
    """
    return smem_word(arch)["start_address"].mask


def window_bytes(arch: Arch) -> int:
    """Return the number of bytes that a start address of an architecture can address.

    >>> window_bytes("sm100") == WINDOW_BYTES, window_bytes("sm107") == 2 * WINDOW_BYTES
    (True, True)
    """
    start = smem_word(arch)["start_address"]
    return start.limit + start.unit


def assumed_architecture(word: int | None = None, m: int | None = None) -> Arch:
    """Return the architecture to assume if none is given: by the version of a word, or by M of an instruction.

    Every ``wgmma`` has M 64. A ``tcgen05.mma`` with M 64 therefore needs an explicit architecture.

    Args:
        word: a descriptor word, or None.
        m: M of the instruction, or None.

    >>> assumed_architecture(word=0x4000404000010000), assumed_architecture(m=64), assumed_architecture(m=128)
    ('sm100', 'sm90', 'sm100')
    """
    if word is not None:
        version = SM100_DESCRIPTOR["version"]
        return "sm100" if (word & version.mask) >> version.low == 1 else "sm90"
    return "sm90" if m == 64 else "sm100"


@frozen
class SmemDescriptor:
    """A shared-memory descriptor: the address and layout of an operand in shared memory.

    Args:
        arch: an architecture with descriptors: ``"sm90"``, ``"sm100"``, ``"sm107"``, ...
        start_address: shared-memory address of the operand's first element, in bytes.
        leading_byte_offset: leading stride of the canonical form, in bytes.
        stride_byte_offset: the other stride of the canonical form, in bytes.
        swizzle: the swizzle mode.
        base_offset: rows by which the swizzle pattern starts before its natural alignment, 0 to 7.
        leading_is_absolute: whether the leading byte offset is the shared-memory address of the 128-byte line in which
            K continues, instead of a stride. sm100 and sm107 have this bit (``lbo_mode``), for K = 96 on sm_103a and
            sm_107a.
        row_half: which half of a 48-byte row of a compressed B is read; only sm107 has this bit.

    Invariant: ``smem_word(arch).decode(d.encode())`` returns every field.

    Raises:
        ChoiceError: if the architecture or the swizzle mode is unknown.
        DescriptorError: if the leading byte offset of an sm90 descriptor is absolute.

    >>> d = SmemDescriptor("sm100", leading_byte_offset=16, stride_byte_offset=1024, swizzle="128B")
    >>> hex(d.encode()), hex(d.at(64).encode())
    ('0x4000404000010000', '0x4000404000010004')
    >>> hex(SmemDescriptor("sm107", 16, 1024, "128B", start_address=1 << 18).encode())
    '0x4000404000014000'
    """

    arch: Arch
    leading_byte_offset: int
    stride_byte_offset: int
    swizzle: SwizzleMode
    start_address: int = 0
    base_offset: int = 0
    leading_is_absolute: bool = False
    row_half: int = 0

    def __post_init__(self) -> None:
        # Skip the lookup for a valid name, because ``at`` constructs many descriptors.
        if type(self.arch) is not str or self.arch not in WORDS:
            object.__setattr__(self, "arch", architecture(self.arch))
        object.__setattr__(self, "swizzle", as_swizzle_mode(self.swizzle))
        if as_flag(self.leading_is_absolute, "descriptor: leading_is_absolute") and has_wgmma(self.arch):
            raise DescriptorError(
                f"descriptor: {self.arch} has no absolute leading byte offset; it exists on sm100 and sm107"
            )

    @property
    def word(self) -> Word:
        """The word format of the architecture."""
        return smem_word(self.arch)

    def encode(self) -> int:
        """Return the 64-bit word.

        Raises:
            FieldError: if an address or offset is not a multiple of 16 bytes, or too large for its field.
            ChoiceError: if the architecture has no code for the swizzle mode.
        """
        half = {"row_half": self.row_half} if self.row_half else {}
        try:
            word = self.word.encode(
                start_address=self.start_address,
                leading_byte_offset=self.leading_byte_offset,
                stride_byte_offset=self.stride_byte_offset,
                base_offset=self.base_offset,
                swizzle=self.swizzle,
                **half,
            )
        except FieldError as error:
            beyond = {"start_address": self.start_address, "leading_byte_offset": self.leading_byte_offset}
            wider = range(window_bytes(self.arch), 2 * WINDOW_BYTES, 16)
            if targets.has_tcgen05(self.arch) and beyond.get(error.field) in wider:
                message = f"{error}; {targets.holders('wide descriptor')} has 15 bits for this field"
                raise FieldError(message, error.field) from None
            raise
        return word | self.word["lbo_mode"].mask if self.leading_is_absolute else word

    def at(self, start_address: int) -> SmemDescriptor:
        """Return the descriptor with another start address, in bytes.

        The hardware reads the address modulo 2**18, on sm107 modulo 2**19.
        """
        return replace(self, start_address=start_address)


#: The types of the fields of descriptors: of their values, and of their stored numbers.
FIELDS = Named("Fields", lambda: field_kinds(WORDS.values()))
STORED = Named("Stored", lambda: field_kinds(WORDS.values(), int))
