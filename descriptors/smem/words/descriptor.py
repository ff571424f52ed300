"""The shared-memory descriptor word of sm90 (``wgmma``), of sm100 and of sm107 (``tcgen05``), its fields in bytes.

Every field position of sm90 is that of PTX ISA 9.1 (wgmma, matrix descriptor format), of CUTLASS
``include/cute/arch/mma_sm90_desc.hpp`` and of the CuTe DSL's ``WgmmaSmemDesc``. Measured on an H200: bits 14-15, 30-31,
46-48 and 52-61 belong to no field, and setting them changes nothing. Every field position of sm100 is that of PTX ISA
9.1, Table 40 (tcgen05 shared memory descriptor), of CUTLASS ``include/cute/arch/mma_sm100_desc.hpp`` and of the CuTe
DSL's ``Tcgen05SmemDesc``. CUTLASS draws ``version`` two bits wide where PTX and the DSL draw three; the value 1 reads
the same in both.

sm107 has 15 bits for the start and for LBO, windows of 2**19 bytes, and bit 53, which half of a row of 48 bytes of a
compressed B is read. Below 2**18 its words are those of sm100; what lies above no word of sm100 holds, and is refused
where NVIDIA's builder drops the bit in silence. Source: CuTe DSL 4.8.1, ``sm107_make_umma_smem_desc``, compiled on a
CPU; bit 53: PTX ISA 9.4, tcgen05 shared memory descriptor (Table 49). Which architecture reads which of the three words
says the table of targets.

Law: the word of another start differs in that field alone, where it is 16-byte units added to the word.

>>> one = SmemDescriptor("sm100", 16, 1024, SwizzleMode.B128)
>>> all(one.at(16 * step).encode() == one.encode() + step for step in range(0, 1 << 14, 99))
True

Law: a code is that of the mode whose rows and swizzle the read model, which has positions and codes of its own, walks.

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

Law: the window, all that a start address can name, is what the field can hold, and all shared memory lies in it.

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


#: Codes of the swizzle field; 3, 5 and 7 name nothing.
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


#: That of sm107.
SM107_DESCRIPTOR = Word(
    "sm107 shared-memory descriptor",
    64,
    tuple(
        Field(one.name, one.low, 15, one.unit) if one.name in ("start_address", "leading_byte_offset") else one
        for one in SM100_DESCRIPTOR.fields[:-1]
    )
    + (Field("row_half", low=53, bits=1), SM100_DESCRIPTOR.fields[-1]),
)


#: The name of an architecture of the table of targets.
Arch: TypeAlias = str

#: The descriptor words, by the architecture that had them first.
WORDS: Mapping[str, Word] = {"sm90": SM90_DESCRIPTOR, "sm100": SM100_DESCRIPTOR, "sm107": SM107_DESCRIPTOR}

#: What the instructions that read them are called, by generation.
MNEMONICS: Mapping[str, str] = {"sm90": "wgmma", "sm100": "tcgen05"}

#: Shared memory that one thread block can use on any of them (CUDA C++ Programming Guide, compute capabilities).
SMEM_BYTES = 227 * 1024

#: What a start-address field of 14 bits can name (PTX ISA 9.1, matrix descriptor: matrix-descriptor-encode, 18 bits).
WINDOW_BYTES = 1 << 18


def architecture(value: object, where: str = "derive") -> Arch:
    """The architecture with this name, whose instructions read descriptors: ``"sm107"`` for ``"sm_107a"``.

    Args:
        value: the name, in either case of letters.
        where: the operation, for the error message.

    Raises:
        ChoiceError: if there is none.
        DescriptorError: for an architecture that reads no descriptors.
    """
    return tensor_architecture(value, where)


@lru_cache(maxsize=1 << 6)
def word_format(arch: Arch) -> str:
    """The architecture that first had the words of this one: a key of ``WORDS``.

    >>> [word_format(name) for name in ("sm90", "sm103", "sm107")]
    ['sm90', 'sm100', 'sm107']
    """
    return targets.architecture(arch).words


def smem_word(arch: Arch) -> Word:
    """The descriptor word of an architecture.

    >>> smem_word("sm107")["row_half"].low, smem_word("sm103") is SM100_DESCRIPTOR
    (53, True)
    """
    return WORDS[word_format(arch)]


def with_version(word: int, arch: Arch) -> int:
    """Return a word with the version that PTX requires, if its version bits are 0.

    Kernels in use leave the version of sm100 words 0 (Triton 3.5.0), so their elements are compared as those of a word
    with the version. What the hardware reads for version 0 is not measured.

    >>> hex(with_version(0x4000004000010000, "sm100")), hex(with_version(0x4000004000010000, "sm90"))
    ('0x4000404000010000', '0x4000004000010000')
    """
    versions = [field for field in smem_word(arch).fields if field.name == "version"]
    return word | smem_word(arch).encode() if any(not word & field.mask for field in versions) else word


def start_mask(arch: Arch) -> int:
    """Return the bits of a descriptor that hold the start address.

    >>> hex(start_mask("sm100")), hex(start_mask("sm107"))
    ('0x3fff', '0x7fff')
    """
    return smem_word(arch)["start_address"].mask


def window_bytes(arch: Arch) -> int:
    """What the start address of its words can name, in bytes.

    >>> window_bytes("sm100") == WINDOW_BYTES, window_bytes("sm107") == 2 * WINDOW_BYTES
    (True, True)
    """
    start = smem_word(arch)["start_address"]
    return start.limit + start.unit


def assumed_architecture(word: int | None = None, m: int | None = None) -> Arch:
    """The architecture that is meant where none is named: by the version of a word, or by M of an instruction.

    Every ``wgmma`` has M 64; of a ``tcgen05.mma`` with M 64 one has to say that it is sm100.

    Args:
        word: a descriptor word, if there is one.
        m: M of the instruction, if one is named.

    >>> assumed_architecture(word=0x4000404000010000), assumed_architecture(m=64), assumed_architecture(m=128)
    ('sm100', 'sm90', 'sm100')
    """
    if word is not None:
        version = SM100_DESCRIPTOR["version"]
        return "sm100" if (word & version.mask) >> version.low == 1 else "sm90"
    return "sm90" if m == 64 else "sm100"


@frozen
class SmemDescriptor:
    """What a tensor core is told about one operand in shared memory.

    Args:
        arch: an architecture with descriptors: ``"sm90"``, ``"sm100"``, ``"sm107"``, ...
        start_address: shared-memory address of the operand's first element, in bytes.
        leading_byte_offset: step of the canonical form's leading mode, in bytes.
        stride_byte_offset: step of the canonical form's stride mode, in bytes.
        swizzle: the swizzle mode.
        base_offset: rows by which the swizzle pattern starts before its natural alignment, 0 to 7.
        leading_is_absolute: whether the leading byte offset is no step but the shared-memory address of the line of 128
            bytes in which K goes on; sm100 and sm107 have the bit (``lbo_mode``), for K = 96 on sm_103a and sm_107a.
        row_half: which half of a row of 48 bytes of a compressed B is read; sm107 alone has the bit.

    Law: ``smem_word(arch).decode(d.encode())`` gives back every field.

    Raises:
        ChoiceError: if the architecture or the swizzle mode is unknown.
        DescriptorError: if the leading byte offset of an sm90 descriptor shall be absolute.

    Source: as ``sm90`` and ``sm100``.

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
        # What is typed already stays: a descriptor that ``at`` moves is not looked up again.
        if type(self.arch) is not str or self.arch not in WORDS:
            object.__setattr__(self, "arch", architecture(self.arch))
        object.__setattr__(self, "swizzle", as_swizzle_mode(self.swizzle))
        if as_flag(self.leading_is_absolute, "descriptor: leading_is_absolute") and has_wgmma(self.arch):
            raise DescriptorError(
                f"descriptor: an absolute leading byte offset must have arch sm100, found {self.arch}"
            )

    @property
    def word(self) -> Word:
        """The bit fields of this architecture's word."""
        return smem_word(self.arch)

    def encode(self) -> int:
        """The 64-bit word.

        Raises:
            FieldError: if an offset is no multiple of 16 bytes or too large for its field.
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
                told = f"{error}: the words of {targets.holders('wide descriptor')} have 15 bits there"
                raise FieldError(told, error.field) from None
            raise
        return word | self.word["lbo_mode"].mask if self.leading_is_absolute else word

    def at(self, start_address: int) -> SmemDescriptor:
        """The same descriptor for an operand that starts elsewhere, in bytes.

        The hardware reads the address modulo 2**18, on sm107 2**19; the field may never carry into its neighbour.
        """
        return replace(self, start_address=start_address)


#: The types of the fields of some descriptor: their values, and their stored numbers.
FIELDS = Named("Fields", lambda: field_kinds(WORDS.values()))
STORED = Named("Stored", lambda: field_kinds(WORDS.values(), int))
