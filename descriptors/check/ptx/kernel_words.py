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
>>> made = [(cta_group, m, n) for cta_group, m in ((1, 64), (1, 128), (2, 128), (2, 256)) for n in range(32, 257, 32)]
>>> words = [(idesc("bf16", m=m, n=n, cta_group=cta_group), cta_group) for cta_group, m, n in made]
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


def instruction_of(read: DecodedInstruction, use: Use) -> Instruction | None:
    """Return the instruction that a descriptor and its use describe; None if a field has an undefined code."""
    values = {name: value for name, value in read.values if not name.startswith("k_is_") and name != "sparse"}
    if any(isinstance(value, UnknownCode) for value in values.values()):
        return None
    d_dtype = values.pop("d_dtype", "f32")
    return Instruction(
        kind=use.kind,
        k=extent_of(use.kind, dict(read.values), use.sparse, read.arch),
        arch=read.arch,
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
    'M must be 128, 256, not 64'
    """
    read = decode_idesc(word, use.kind, use.arch)
    values = dict(read.values)
    told = [f"{name} has {value}" for name, value in values.items() if isinstance(value, UnknownCode)]
    if read.unknown_bits:
        told.append(f"reserved bits are set: {read.unknown_bits:#010x}")
    if read["sparse"] != use.sparse:
        told.append(
            f"bit 2 means {'sparse' if read['sparse'] else 'dense'}, but the instruction has {_sp(use.sparse)}.sp"
        )
    if values.get("k_is_96") and use.target and not has("K = 96", use.target):
        told.append(f"bit 31 (K 96) is set, which {use.target} does not support; supported by {holders('K = 96')}")
    of_use = {name: value for name, value in contents(use).items() if name not in ("kind", "ashift", "target")}
    told += illegal(use.kind, values, arch=use.arch, **of_use)
    if use.ashift and values["m"] not in (128, 256):
        told.append(f"M is {values['m']}, but .ashift needs 128 or 256")
    return told


# A kernel has few instruction descriptors, and very many multiplications.
_complaints = lru_cache(maxsize=4096)(complaints)


def common_complaints(words: Sequence[int], use: Use) -> tuple[list[str], bool]:
    """Return the violations that all possible descriptors share, and whether one of them has another violation.

    >>> common_complaints((0x08200490, 0x08202490), Use("f16")), common_complaints((0x08200490, 0), Use("f16"))[1]
    (([], False), True)
    """
    each = [_complaints(word, use) for word in words]
    told = [one for one in (each[0] if each else []) if all(one in other for other in each)]
    return told, any(one not in told for other in each for one in other)


def _sp(sparse: bool) -> str:
    return "" if sparse else "no "


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
        word: what is known of the descriptor.
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
        """Whether enough of the descriptor is known for a check: all of it, or at least swizzle and SBO."""
        return self.resolved or {"swizzle", STRIDE} <= set(self.known_fields)


def field_value(one: SmemOperand, name: str) -> Any:
    """Return the value of a field of the descriptor, addresses and offsets in bytes; None if it is not known.

    >>> one = SmemOperand("A", "sm90", "bf16", "K", (64, 16), Known(0x4000004000000000, 0xFFFFFFFF00000000))
    >>> field_value(one, "stride_byte_offset"), field_value(one, "leading_byte_offset"), field_value(one, "version")
    (1024, None, None)
    """
    fields = {field.name: field for field in smem_word(one.arch).fields}
    if name not in fields or one.word.mask & fields[name].mask != fields[name].mask:
        return None
    return smem_word(one.arch).decode(one.word.value & (START_FREE | start_mask(one.arch)))[name]


#: Types that are read as other types, with the number of elements per element of these: b1 as bytes.
_READ_AS = {"b1": ("u8", 8)}


def read_as(dtype: str, shape: tuple[int, int]) -> tuple[str, tuple[int, int]]:
    """Return the type and extents of an operand for the read model; single bits are read as bytes.

    >>> read_as("b1", (64, 256)), read_as("bf16", (64, 16))
    (('u8', (64, 32)), ('bf16', (64, 16)))
    """
    name, many = _READ_AS.get(dtype, (dtype, 1))
    return name, (shape[0], shape[1] // many)


def smem_findings(one: SmemOperand) -> Iterator[tuple[str, str]]:
    """Yield the findings about the descriptor of an operand: rule and fact.

    If the descriptor is known in part, only findings that hold for all values of the other bits are reported.
    """
    yield from _of_the_address(one)
    if not one.checked or not one.dtype:
        return
    phase = _phase(one)
    started, phased = one.start_known, one.word.mask & phase == phase
    fields, shown = smem_word(one.arch), word_shown(one.word, one.arch)
    word = one.word.value & (START_FREE | (0xFFFF if started else phase if phased else 0))
    version = fields["version"].mask if not has_wgmma(one.arch) else 0
    if version and one.word.mask & version == version and not word & version:
        # Compilers emit such descriptors, so the rest is checked as if the version were right.
        yield "word-version", f"descriptor {shown} of {one.matrix} has 0 in bits [46,49)"
        word |= fields.encode() & version
    elif one.word.mask & version != version:
        word = word & ~version | fields.encode() & version
    told: list[dict[tuple[str, str], Remark]] = []
    for whole in _completions(word, one):
        remarks = _remarks(whole, one.arch, *_read(one))
        told.append({(remark.kind, remark.field): remark for remark in remarks or ()})
    for kind, remark in (told[0] if told else {}).items():
        known = started or (phased and remark.kind == "pattern-start")
        if remark.kind in _OF_THE_START and (not known or remark.field in ("start_address", "base_offset")):
            continue
        if all(kind in other for other in told):
            yield _rule(remark), f"descriptor {shown} of {one.matrix}: {remark}"


def _phase(one: SmemOperand) -> int:
    """Return the bits of the start address that give the position in the swizzle pattern."""
    mode = field_value(one, "swizzle")
    return mode.period_bytes // 16 - 1 if isinstance(mode, SwizzleMode) else 0


def unplaced(one: SmemOperand) -> bool:
    """Return whether the base offset is right only for some start addresses, and the start is not known."""
    base, phase = field_value(one, "base_offset"), _phase(one)
    return bool(base) and base % (phase // 8 + 1) > 0 and one.word.mask & phase != phase


def misplaced(one: SmemOperand) -> str:
    """Return why the base offset contradicts the start, if both are known; "" if it does not.

    >>> misplaced(SmemOperand("A", "sm90", "bf16", "K", (64, 16), Known(0x4002004000010000, START_FREE))) == ""
    True
    """
    phase = _phase(one)
    if one.word.mask & phase != phase or not field_value(one, "base_offset"):
        return ""
    return pattern_contradiction(one.word.value & (START_FREE | phase), one.arch)


def start_alignment(one: SmemOperand) -> int:
    """Return the alignment in bytes that the start of an operand needs and its computation does not show, else 0.

    >>> words = [Known(1 << 62, ~units) for units in (0, 63, 0x3FC0)]
    >>> [start_alignment(SmemOperand("A", "sm90", "bf16", "K", (64, 16), word)) for word in words]
    [0, 1024, 0]
    """
    phase = _phase(one)
    return 0 if one.word.mask & phase == phase else (phase + 1) * 16


def bytes_off_the_grid(one: SmemOperand) -> int:
    """Return the bytes from the beginning of a swizzle pattern to the start, if the base offset is 0; 0 within a row.

    >>> words = [Known(1 << 62 | units, -1) for units in (2, 8)]
    >>> [bytes_off_the_grid(SmemOperand("A", "sm90", "bf16", "K", (64, 16), word)) for word in words]
    [0, 128]
    """
    mode, phase = field_value(one, "swizzle"), _phase(one)
    if not isinstance(mode, SwizzleMode) or one.word.mask & phase != phase or field_value(one, "base_offset") != 0:
        return 0
    behind = (one.word.value & phase) * 16
    return behind if behind >= mode.span_bytes else 0


def _read(one: SmemOperand) -> tuple[str, Literal["K", "MN"], tuple[int, int]]:
    dtype, shape = read_as(one.dtype, one.shape)
    return dtype, one.major, shape


def unreadable(one: SmemOperand) -> bool:
    """Return whether the read model does not support the operand, so that its descriptor is not checked."""
    return one.checked and bool(one.dtype) and _remarks(one.word.value & START_FREE, one.arch, *_read(one)) is None


@lru_cache(maxsize=4096)
def _remarks(
    word: int, arch: Arch, dtype: str, major: Literal["K", "MN"], shape: tuple[int, int]
) -> tuple[Remark, ...] | None:
    try:
        return decode(word, arch, dtype=dtype, major=major, shape=shape).warnings
    except DescriptorError:
        return None


def _completions(word: int, one: SmemOperand) -> Iterator[int]:
    """Yield the possible descriptors of an operand; an unknown LBO has the values that tiles of some sizes have."""
    leading = smem_word(one.arch)[LEADING]
    if not leading.mask & ~one.word.mask:
        yield word
        return
    word &= ~leading.mask
    mode = field_value(one, "swizzle")
    if isinstance(mode, SwizzleMode) and not is_read(walked(as_major(one.major), mode), LEADING):
        yield word | 1 << leading.low
        return
    stride = (word & smem_word(one.arch)[STRIDE].mask) >> smem_word(one.arch)[STRIDE].low
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


def _rule(remark: Remark) -> str:
    if remark.kind in ("unknown-bits", "version"):
        return "word-unused-bits" if remark.kind == "unknown-bits" else "word-version"
    return "word-smem" if remark.kind in _MISTAKES else "word-suspect"


def _of_the_address(one: SmemOperand) -> Iterator[tuple[str, str]]:
    """Yield a finding if the start is a shared-memory address that is shifted by a wrong number of bits."""
    right = smem_word(one.arch)["start_address"].unit.bit_length() - 1
    if one.shifts and right not in one.shifts:
        by = " or ".join(map(str, one.shifts))
        fact = f"the start of {one.matrix} is an address shifted right by {by} bits"
        yield "word-start", f"{fact}; the field is in units of {1 << right} bytes"
