"""Checks of the descriptors of a multiplication: instruction descriptors, and shared-memory descriptors.

An instruction descriptor is compared with the instruction that uses it: kind, cta_group, .ws, .sp, location of A.
``decode_idesc`` assumes suitable values for what the descriptor does not store; here the instruction gives these
values. For a shared-memory descriptor, the instruction gives type, major and shape, so all checks of ``decode`` apply.
The start address may be unknown; if other bits are unknown, only the known fields are checked. ``k_steps`` compares the
descriptors of one accumulation. An assembler does not check descriptors, because they may be in registers.
Source: PTX ISA 9.1, tcgen05.mma (.ashift, .sp); the rows of ``smem.instructions.tables``; as
``descriptors.smem.debug.decode``.

Invariant: a descriptor made by ``idesc`` has no violation if it is used with the same parameters.

>>> from descriptors.smem.instructions.idesc import idesc
>>> shapes = [(cta_group, m, n) for cta_group, m in ((1, 64), (1, 128), (2, 128), (2, 256)) for n in range(32, 257, 32)]
>>> words = [(idesc("bf16", m=m, n=n, cta_group=cta_group), cta_group) for cta_group, m, n in shapes]
>>> any(complaints(word, Use("f16", cta_group=cta_group)) for word, cta_group in words)
False

Invariant: a descriptor that is derived for an operand has no finding.

>>> from descriptors import derive
>>> word = derive((128, 64), "bf16", "K", "128B", (128, 16)).descriptor.encode()
>>> operand = SmemOperand("A", "sm100", "bf16", "K", (128, 16), Known(word, START_FREE))
>>> list(smem_findings(operand))
[]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal

from descriptors.check.ptx.known_bits import Known
from descriptors.errors import DescriptorError
from descriptors.smem.debug.decode import decode
from descriptors.smem.debug.warnings import Remark, pattern_contradiction
from descriptors.smem.instructions.idesc import (
    RUBIN_DESCRIPTORS,
    DecodedInstruction,
    Instruction,
    decode_idesc,
    extent_of,
    illegal,
)
from descriptors.smem.operands.canonical import is_read, walked
from descriptors.smem.operands.forms import LEADING, STRIDE
from descriptors.smem.operands.operand import SwizzleMode, as_major
from descriptors.smem.words.bitfield import UnknownCode
from descriptors.smem.words.descriptor import Arch, smem_word, start_mask
from descriptors.targets import has, has_wgmma, holders
from layoutalg.frozen import contents, frozen


@frozen
class Use:
    """The qualifiers and operands of a ``tcgen05.mma`` that an instruction descriptor must agree with.

    Args:
        kind: as in ``KindRow``.
        cta_group: 1 or 2.
        sparse: whether it is ``.sp``.
        ws: whether it is ``.ws``.
        a_source: location of A, ``smem`` or ``tmem``.
        ashift: whether A is shifted.
        scale_vector: number of elements that share a scale factor; None for a kind without scale factors.
        target: the ``.target`` of the module; "" for any.
    """

    kind: str
    cta_group: int = 1
    sparse: bool = False
    ws: bool = False
    a_source: str = "smem"
    ashift: bool = False
    scale_vector: int | None = None
    target: str = ""

    @property
    def arch(self) -> str:
        """The architecture of the descriptor format; sm107 and later ones have their own format for some kinds."""
        return word_arch(self.target) if self.kind in RUBIN_DESCRIPTORS else "sm100"


def word_arch(target: str) -> str:
    """Return the architecture of the descriptor format of a target; sm100 if the target is not known.

    >>> word_arch("sm_107f"), word_arch("sm_103a"), word_arch("")
    ('sm107', 'sm100', 'sm100')
    """
    return "sm107" if has("wide descriptor", target) else "sm100"


def instruction_of(decoded: DecodedInstruction, use: Use) -> Instruction | None:
    """Return the instruction that a descriptor and its use describe; None if a field has an undefined code."""
    values = {name: value for name, value in decoded.values if not name.startswith("k_is_") and name != "sparse"}
    if any(isinstance(value, UnknownCode) for value in values.values()):
        return None
    d_dtype = values.pop("d_dtype", "f32")
    return Instruction(
        kind=use.kind,
        k=extent_of(use.kind, dict(decoded.values), use.sparse, decoded.arch),
        arch=decoded.arch,
        d_dtype=d_dtype,
        sparse=use.sparse,
        ws=use.ws,
        cta_group=use.cta_group,
        a_source=use.a_source,
        scale_vector=use.scale_vector,
        **values,
    )


def complaints(word: int, use: Use) -> list[str]:
    """Return the violations of an instruction descriptor in its use, by the lenient rules.

    Args:
        word: the 32-bit descriptor.
        use: the instruction that uses it.

    Raises:
        FieldError: if ``word`` is not a 32-bit integer.
        ChoiceError: if the kind does not exist.

    >>> complaints(0x04200490, Use("f16", cta_group=2))[0].partition(";")[0]
    'M is 64, but must be 128 or 256'
    """
    decoded = decode_idesc(word, use.kind, use.arch)
    values = dict(decoded.values)
    violations = [f"{name} has {value}" for name, value in values.items() if isinstance(value, UnknownCode)]
    if decoded.unknown_bits:
        violations.append(f"reserved bits are set: {decoded.unknown_bits:#010x}")
    if decoded["sparse"] != use.sparse:
        meaning, qualifier = ("sparse", "no .sp") if decoded["sparse"] else ("dense", ".sp")
        violations.append(f"bit 2 means {meaning}, but the instruction has {qualifier}")
    if values.get("k_is_96") and use.target and not has("K = 96", use.target):
        violations.append(
            f"bit 31 (K 96) is set, which {use.target} does not support; supported by {holders('K = 96')}"
        )
    context = {name: value for name, value in contents(use).items() if name not in ("kind", "ashift", "target")}
    violations += illegal(use.kind, values, arch=use.arch, **context)
    if use.ashift and values["m"] not in (128, 256):
        violations.append(f"M is {values['m']}, but .ashift needs 128 or 256")
    return violations


# A kernel has few instruction descriptors, and very many multiplications.
_complaints = lru_cache(maxsize=4096)(complaints)


def common_complaints(words: Sequence[int], use: Use) -> tuple[list[str], bool]:
    """Return the violations that all possible descriptors share, and True if one of them has another violation.

    >>> common_complaints((0x08200490, 0x08202490), Use("f16")), common_complaints((0x08200490, 0), Use("f16"))[1]
    (([], False), True)
    """
    violations_by_word = [_complaints(word, use) for word in words]
    common = [
        violation
        for violation in (violations_by_word[0] if violations_by_word else [])
        if all(violation in violations for violations in violations_by_word)
    ]
    return common, any(violation not in common for violations in violations_by_word for violation in violations)


_ALL = (1 << 64) - 1
#: All bits except those of the start address, and the two bits above it that belong to no field.
START_FREE = _ALL & ~0xFFFF
#: Kinds of remarks that are certain mistakes, and kinds that are about the start, reported only if that is known.
_MISTAKES = ("invalid-swizzle-code", "illegal-operand", "repeated-rows")
_OF_THE_START = ("pattern-start", "memory")


@frozen
class SmemOperand:
    """An operand in shared memory of one instruction.

    Args:
        matrix: ``A`` or ``B``.
        arch: ``sm90`` or ``sm100``.
        dtype: the element type in shared memory.
        major: ``K`` or ``MN``.
        shape: MN and K that the instruction reads from the memory of one CTA.
        word: the known bits of the descriptor.
        shifts: right shifts, in bits, that are applied to addresses of variables in the computation of the descriptor.
        variables: names of these variables.
    """

    matrix: Literal["A", "B"]
    arch: Arch
    dtype: str
    major: Literal["K", "MN"]
    shape: tuple[int, int]
    word: Known
    shifts: tuple[int, ...] = ()
    variables: tuple[str, ...] = ()

    @property
    def resolved(self) -> bool:
        """Whether the descriptor is known except for the start address."""
        return self.word.mask & START_FREE == START_FREE

    @property
    def known_fields(self) -> tuple[str, ...]:
        """The fields whose bits are known, without the start address."""
        fields = smem_word(self.arch).fields[1:]
        return tuple(field.name for field in fields if self.word.mask & field.mask == field.mask)

    @property
    def start_known(self) -> bool:
        """Whether the start address is known."""
        bits = start_mask(self.arch)
        return self.word.mask & bits == bits

    @property
    def checked(self) -> bool:
        """Whether enough of the descriptor is known for a check: all bits, or at least swizzle and SBO."""
        return self.resolved or {"swizzle", STRIDE} <= set(self.known_fields)


def field_value(operand: SmemOperand, name: str) -> Any:
    """Return the value of a field of the descriptor, addresses and offsets in bytes; None if it is not known.

    >>> operand = SmemOperand("A", "sm90", "bf16", "K", (64, 16), Known(0x4000004000000000, 0xFFFFFFFF00000000))
    >>> [field_value(operand, name) for name in ("stride_byte_offset", "leading_byte_offset", "version")]
    [1024, None, None]
    """
    fields = {field.name: field for field in smem_word(operand.arch).fields}
    if name not in fields or operand.word.mask & fields[name].mask != fields[name].mask:
        return None
    return smem_word(operand.arch).decode(operand.word.value & (START_FREE | start_mask(operand.arch)))[name]


#: Types that are read as other types, with the number of elements per element of these: b1 as bytes.
_READ_AS = {"b1": ("u8", 8)}


def read_as(dtype: str, shape: tuple[int, int]) -> tuple[str, tuple[int, int]]:
    """Return the type and extents of an operand for the read model; single bits are read as bytes.

    >>> read_as("b1", (64, 256)), read_as("bf16", (64, 16))
    (('u8', (64, 32)), ('bf16', (64, 16)))
    """
    name, elements = _READ_AS.get(dtype, (dtype, 1))
    return name, (shape[0], shape[1] // elements)


def smem_findings(operand: SmemOperand) -> Iterator[tuple[str, str]]:
    """Yield the findings about the descriptor of an operand: rule and fact.

    If the descriptor is known in part, only findings that hold for all values of the other bits are reported.
    """
    yield from _start_findings(operand)
    if not operand.checked or not operand.dtype:
        return
    phase = _pattern_mask(operand)
    start_is_known, phase_is_known = operand.start_known, operand.word.mask & phase == phase
    fields, word_text = smem_word(operand.arch), word_shown(operand.word, operand.arch)
    word = operand.word.value & (START_FREE | (0xFFFF if start_is_known else phase if phase_is_known else 0))
    version = fields["version"].mask if not has_wgmma(operand.arch) else 0
    if version and operand.word.mask & version == version and not word & version:
        # Compilers emit such descriptors, so the rest is checked as if the version were right.
        yield "word-version", f"the descriptor of {operand.matrix} has 0 in bits [46,49); it is {word_text}"
        word |= fields.encode() & version
    elif operand.word.mask & version != version:
        word = word & ~version | fields.encode() & version
    remarks_by_word: list[dict[tuple[str, str], Remark]] = []
    for completed in _complete_words(word, operand):
        remarks = _remarks(completed, operand.arch, *_read_model_arguments(operand))
        remarks_by_word.append({(remark.kind, remark.field): remark for remark in remarks or ()})
    for kind, remark in (remarks_by_word[0] if remarks_by_word else {}).items():
        is_decided = start_is_known or (phase_is_known and remark.kind == "pattern-start")
        if remark.kind in _OF_THE_START and (not is_decided or remark.field in ("start_address", "base_offset")):
            continue
        if all(kind in others for others in remarks_by_word):
            subject = f"{remark.field or 'descriptor'} of {operand.matrix}"
            yield _rule_of(remark), f"{subject}: {remark.text}; the descriptor is {word_text}"


def _pattern_mask(operand: SmemOperand) -> int:
    """Return the bits of the start address that give the position in the swizzle pattern."""
    mode = field_value(operand, "swizzle")
    return mode.period_bytes // 16 - 1 if isinstance(mode, SwizzleMode) else 0


def unplaced(operand: SmemOperand) -> bool:
    """Return whether the base offset is right only for some start addresses, and the start is not known."""
    base, phase = field_value(operand, "base_offset"), _pattern_mask(operand)
    return bool(base) and base % (phase // 8 + 1) > 0 and operand.word.mask & phase != phase


def misplaced(operand: SmemOperand) -> str:
    """Return why the base offset contradicts the start, if both are known; "" if it does not.

    >>> misplaced(SmemOperand("A", "sm90", "bf16", "K", (64, 16), Known(0x4002004000010000, START_FREE))) == ""
    True
    """
    phase = _pattern_mask(operand)
    if operand.word.mask & phase != phase or not field_value(operand, "base_offset"):
        return ""
    return pattern_contradiction(operand.word.value & (START_FREE | phase), operand.arch)


def start_alignment(operand: SmemOperand) -> int:
    """Return the alignment in bytes that the start of an operand needs and its computation does not show, else 0.

    >>> words = [Known(1 << 62, ~units) for units in (0, 63, 0x3FC0)]
    >>> [start_alignment(SmemOperand("A", "sm90", "bf16", "K", (64, 16), word)) for word in words]
    [0, 1024, 0]
    """
    phase = _pattern_mask(operand)
    return 0 if operand.word.mask & phase == phase else (phase + 1) * 16


def bytes_off_the_grid(operand: SmemOperand) -> int:
    """Return the bytes from the beginning of a swizzle pattern to the start, if the base offset is 0; 0 within a row.

    >>> words = [Known(1 << 62 | units, -1) for units in (2, 8)]
    >>> [bytes_off_the_grid(SmemOperand("A", "sm90", "bf16", "K", (64, 16), word)) for word in words]
    [0, 128]
    """
    mode, phase = field_value(operand, "swizzle"), _pattern_mask(operand)
    if (
        not isinstance(mode, SwizzleMode)
        or operand.word.mask & phase != phase
        or field_value(operand, "base_offset") != 0
    ):
        return 0
    distance = (operand.word.value & phase) * 16
    return distance if distance >= mode.span_bytes else 0


def _read_model_arguments(operand: SmemOperand) -> tuple[str, Literal["K", "MN"], tuple[int, int]]:
    dtype, shape = read_as(operand.dtype, operand.shape)
    return dtype, operand.major, shape


def unreadable(operand: SmemOperand) -> bool:
    """Return whether the read model does not support the operand, so that its descriptor is not checked."""
    return (
        operand.checked
        and bool(operand.dtype)
        and _remarks(operand.word.value & START_FREE, operand.arch, *_read_model_arguments(operand)) is None
    )


@lru_cache(maxsize=4096)
def _remarks(
    word: int, arch: Arch, dtype: str, major: Literal["K", "MN"], shape: tuple[int, int]
) -> tuple[Remark, ...] | None:
    try:
        return decode(word, arch, dtype=dtype, major=major, shape=shape).warnings
    except DescriptorError:
        return None


def _complete_words(word: int, operand: SmemOperand) -> Iterator[int]:
    """Yield the possible descriptors of an operand; an unknown LBO has the values that tiles of some sizes have."""
    leading = smem_word(operand.arch)[LEADING]
    if not leading.mask & ~operand.word.mask:
        yield word
        return
    word &= ~leading.mask
    mode = field_value(operand, "swizzle")
    if isinstance(mode, SwizzleMode) and not is_read(walked(as_major(operand.major), mode), LEADING):
        yield word | 1 << leading.low
        return
    stride = (word & smem_word(operand.arch)[STRIDE].mask) >> smem_word(operand.arch)[STRIDE].low
    for units in dict.fromkeys((*(1 << n for n in range(13)), stride, 2 * stride, 4 * stride, 8 * stride)):
        yield word | units << leading.low & leading.mask


def word_shown(word: Known, arch: Arch) -> str:
    """Return a descriptor in hexadecimal, with ``?`` for unknown digits, and 0 for an unknown start address.

    >>> partly, without_start = Known(0x4000004000000000, 0xFFFFFFFF00000000), Known(1 << 62, START_FREE)
    >>> word_shown(partly, "sm90"), word_shown(without_start, "sm90")
    ('0x40000040????0000', '0x4000000000000000')
    """
    mask, start = word.mask | 0xFFFF, start_mask(arch)
    value = word.value if word.mask & start == start else word.value & START_FREE
    digits = (f"{value >> low & 15:x}" if mask >> low & 15 == 15 else "?" for low in range(60, -1, -4))
    return f"0x{''.join(digits)}"


def _rule_of(remark: Remark) -> str:
    if remark.kind in ("unknown-bits", "version"):
        return "word-unused-bits" if remark.kind == "unknown-bits" else "word-version"
    return "word-smem" if remark.kind in _MISTAKES else "word-suspect"


def _start_findings(operand: SmemOperand) -> Iterator[tuple[str, str]]:
    """Yield a finding if the start is a shared-memory address that is shifted by a wrong number of bits."""
    expected_shift = smem_word(operand.arch)["start_address"].unit.bit_length() - 1
    if operand.shifts and expected_shift not in operand.shifts:
        shifts_text = " or ".join(map(str, operand.shifts))
        fact = f"the start of {operand.matrix} is an address shifted right by {shifts_text} bits"
        yield "word-start", f"{fact}; the field is in units of {1 << expected_shift} bytes"
