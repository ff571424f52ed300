"""The words of a kernel's multiplications, judged: instruction descriptors, and shared-memory descriptors that are
constants, but for where an operand starts.

An instruction descriptor is held against the instruction that it goes to: kind, cta_group, .ws, .sp, where A lies.
``decode_idesc`` reads a word alone and takes what it does not hold as it fits; here nothing is left to fit. Of a
shared-memory descriptor the instruction says the type, the major and the shape, so that all that ``decode`` can say is
said. Words of one accumulation that are counted from one base are held against each other: only where they start may
differ, by whole K blocks, and the same number of them for A and B. An assembler looks at no word: it may be in a
register.
Source: PTX ISA 9.1, tcgen05.mma (.ashift, .sp); the rows of ``smem.instructions.tables``; as
``descriptors.smem.debug.decode``.

Law: a word of ``idesc`` has no complaint where it is used as it was made.

>>> from descriptors.smem.instructions.idesc import idesc
>>> made = [(cta_group, m, n) for cta_group, m in ((1, 64), (1, 128), (2, 128), (2, 256)) for n in range(32, 257, 32)]
>>> words = [(idesc("bf16", m=m, n=n, cta_group=cta_group), cta_group) for cta_group, m, n in made]
>>> any(complaints(word, Use("f16", cta_group=cta_group)) for word, cta_group in words)
False

Law: a word that is derived for an operand has no finding.

>>> from descriptors import derive
>>> word = derive((128, 64), "bf16", "K", "128B", (128, 16)).descriptor.encode()
>>> operand = SmemOperand("A", "sm100", "bf16", "K", (128, 16), Known(word, START_FREE))
>>> list(smem_findings(operand))
[]
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from descriptors.check.known_bits import Known
from descriptors.smem.debug.decode import decode
from descriptors.smem.debug.warnings import Remark
from descriptors.smem.instructions.idesc import DecodedInstruction, Instruction, decode_idesc, illegal
from descriptors.smem.instructions.tables import DENSE_K
from descriptors.smem.words.bitfield import UnknownCode
from descriptors.smem.words.descriptor import WORDS, Arch
from layoutalg.frozen import contents, frozen


@frozen
class Use:
    """What the qualifiers and operands of a ``tcgen05.mma`` say.

    Args:
        kind: as in ``KindRow``.
        cta_group: 1 or 2.
        sparse: whether it is ``.sp``.
        ws: whether it is ``.ws``.
        a_source: where A lies, ``smem`` or ``tmem``.
        ashift: whether A is shifted.
        scale_vector: elements that share a scale factor; None for a kind without.
        target: the ``.target`` of the module; "" where any may be meant.
    """

    kind: str
    cta_group: int = 1
    sparse: bool = False
    ws: bool = False
    a_source: str = "smem"
    ashift: bool = False
    scale_vector: int | None = None
    target: str = ""


def instruction_of(read: DecodedInstruction, use: Use) -> Instruction | None:
    """The instruction that a word and its use are together; None where a field has a code that names nothing."""
    values = {name: value for name, value in read.values if name not in ("k_is_96", "sparse")}
    if any(isinstance(value, UnknownCode) for value in values.values()):
        return None
    wide = any(name == "k_is_96" and value for name, value in read.values)
    d_dtype = values.pop("d_dtype", "f32")
    return Instruction(
        kind=use.kind,
        k=96 if wide else DENSE_K["sm100", use.kind] * (1 + use.sparse),
        d_dtype=d_dtype,
        sparse=use.sparse,
        ws=use.ws,
        cta_group=use.cta_group,
        a_source=use.a_source,
        scale_vector=use.scale_vector,
        **values,
    )


def complaints(word: int, use: Use) -> list[str]:
    """What is illegal about a word where it is used so, leniently read.

    Args:
        word: the 32 bits.
        use: the instruction.

    Raises:
        FieldError: if ``word`` is no 32-bit integer.
        ChoiceError: if there is no such kind.

    >>> complaints(0x04200490, Use("f16", cta_group=2))[0].partition(";")[0]
    'M must be 128, 256, found 64'
    """
    read = decode_idesc(word, use.kind)
    values = dict(read.values)
    told = [f"{name} has {value}" for name, value in values.items() if isinstance(value, UnknownCode)]
    if read.unknown_bits:
        told.append(f"reserved bits are set: {read.unknown_bits:#010x}")
    if read["sparse"] != use.sparse:
        told.append(f"bit 2 says {'sparse' if read['sparse'] else 'dense'}, the instruction has {_sp(use.sparse)}.sp")
    if values.get("k_is_96") and use.target and not use.target.startswith("sm_103"):
        told.append(f"bit 31 (K 96) must be 0 but for targets of sm_103, found {use.target}")
    of_use = {name: value for name, value in contents(use).items() if name not in ("kind", "ashift", "target")}
    told += illegal(use.kind, values, **of_use)
    if use.ashift and values["m"] not in (128, 256):
        told.append(f"M must be 128 or 256 with .ashift, found {values['m']}")
    return told


def _sp(sparse: bool) -> str:
    return "" if sparse else "no "


_ALL = (1 << 64) - 1
#: All bits but those of where an operand starts, and the two above them that belong to no field.
START_FREE = _ALL & ~0xFFFF
#: Remarks that are certain mistakes; what is about the start of an operand is told only if that is known.
_MISTAKES = ("invalid-swizzle-code", "illegal-operand", "repeated-rows")
_OF_THE_START = ("pattern-start", "memory")


@frozen
class SmemOperand:
    """An operand in shared memory, as an instruction has it.

    Args:
        matrix: ``A`` or ``B``.
        arch: ``sm90`` or ``sm100``.
        dtype: the element type as it lies in shared memory.
        major: ``K`` or ``MN``.
        shape: MN and K that one CTA's instruction reads.
        word: what is known of the descriptor.
    """

    matrix: Literal["A", "B"]
    arch: Arch
    dtype: str
    major: Literal["K", "MN"]
    shape: tuple[int, int]
    word: Known

    @property
    def resolved(self) -> bool:
        """Whether the word is known but for where the operand starts."""
        return self.word.mask & START_FREE == START_FREE


def smem_findings(one: SmemOperand) -> Iterator[tuple[str, str]]:
    """What is wrong with the descriptor of an operand: the rule, and what was found."""
    if not one.resolved:
        return
    started = one.word.mask & 0x3FFF == 0x3FFF
    fields = WORDS[one.arch]
    word = one.word.value & (START_FREE | (0xFFFF if started else 0))
    if one.arch == "sm100" and not word & fields["version"].mask:
        # Such words are in use, so the rest of the word is judged as if they had the version.
        yield "word-version", f"found {word:#018x} for {one.matrix}, which has 0"
        word |= fields.encode() & fields["version"].mask
    for remark in _remarks(word, one.arch, one.dtype, one.major, one.shape):
        if remark.kind in _OF_THE_START and (not started or remark.field == "start_address"):
            continue
        yield _rule(remark), f"found {word:#018x} for {one.matrix}: {remark}"


@lru_cache(maxsize=4096)
def _remarks(
    word: int, arch: Arch, dtype: str, major: Literal["K", "MN"], shape: tuple[int, int]
) -> tuple[Remark, ...]:
    return decode(word, arch, dtype=dtype, major=major, shape=shape).warnings


def _rule(remark: Remark) -> str:
    if remark.kind in ("unknown-bits", "version"):
        return "word-unused-bits" if remark.kind == "unknown-bits" else "word-version"
    return "word-smem" if remark.kind in _MISTAKES else "word-suspect"


@frozen
class Step:
    """The operands of one multiplication of an accumulation, in the order in which they are issued.

    Args:
        index: of the instruction.
        operands: A and B, as far as they lie in shared memory.
    """

    index: int
    operands: tuple[SmemOperand, ...]


#: Bytes of K that an instruction reads of an operand, and the same in 16-byte units.
_K_BYTES, _K_UNITS = 32, 2


def advance_findings(chain: list[Step]) -> Iterator[tuple[int, str, str]]:
    """Where the words of one accumulation do not go together: the index of the instruction, the rule, what was found.

    >>> first = SmemOperand("A", "sm100", "bf16", "K", (128, 16), Known(0x4000404000010000, START_FREE, "r", 0))
    >>> steps = [Step(i, (replace_offset(first, by),)) for i, by in enumerate((0, 2, 5))]
    >>> [(index, found) for index, _, found in advance_findings(steps)]
    [(2, 'found A moved by 5 units of 16 bytes, which is no whole number of K blocks of 32 bytes')]
    """
    for matrix in ("A", "B"):
        row = [(step.index, one) for step in chain for one in step.operands if one.matrix == matrix]
        yield from _of_one_operand(matrix, row)
    yield from _of_both(chain)


#: Rows of MN that a swizzle pattern has.
ROWS = 8


def _inside(one: SmemOperand, moved: int) -> int:
    """The row of the swizzle pattern that a K-major operand comes to begin in; 0 if it begins where one begins."""
    span = getattr(_span(one), "span_bytes", 0)
    return moved % (ROWS * span) // span if span >= _K_BYTES else 0


def replace_offset(one: SmemOperand, offset: int) -> SmemOperand:
    """The same operand, its word so far from its base."""
    return SmemOperand(one.matrix, one.arch, one.dtype, one.major, one.shape, one.word._replace(offset=offset))


def _of_one_operand(matrix: str, row: list[tuple[int, SmemOperand]]) -> Iterator[tuple[int, str, str]]:
    for (_, before), (index, after) in zip(row[:1] * (len(row) - 1), row[1:], strict=True):
        if not before.resolved or not after.resolved or before.word.base != after.word.base:
            continue
        changed = (before.word.value ^ after.word.value) & START_FREE
        if changed:
            names = [f.name for f in WORDS[after.arch].fields if f.mask & changed] or ["bits of no field"]
            yield (
                index,
                "word-advance",
                f"found {matrix} with another {', '.join(names)} than the instruction before it",
            )
        moved = distance(before, after)
        if moved is not None and after.major == "K" and moved % _K_UNITS:
            text = f"found {matrix} moved by {moved} units of 16 bytes"
            yield index, "word-advance", f"{text}, which is no whole number of K blocks of {_K_BYTES} bytes"
        elif moved is not None and after.major == "K" and (inside := _inside(after, 16 * moved)):
            text = f"found {matrix} moved by {16 * moved} bytes, to row {inside} of a pattern of {ROWS}"
            yield index, "word-suspect", f"{text}; the word counts in 16 bytes, {moved} of them"


def distance(before: SmemOperand, after: SmemOperand) -> int | None:
    """How far one operand starts behind another, in 16-byte units; None where that is not known."""
    a, b = before.word, after.word
    if a.base and a.base == b.base:
        moved = b.offset - a.offset
        if abs(moved) >= 1 << 14:  # some other field is another, or the start went round
            return None
        return moved
    if a.mask & 0x3FFF == b.mask & 0x3FFF == 0x3FFF:
        return (b.value & 0x3FFF) - (a.value & 0x3FFF)
    return None


def _blocks(operand: SmemOperand, moved: int) -> int | None:
    """The K block inside of a row of the swizzle that an operand is at, counted from where it was."""
    mode = WORDS[operand.arch].decode(operand.word.value & START_FREE)["swizzle"]
    span = getattr(mode, "span_bytes", 0)
    if operand.major != "K" or span <= _K_BYTES:
        return None
    return moved // _K_UNITS % (span // _K_BYTES)


def _of_both(chain: list[Step]) -> Iterator[tuple[int, str, str]]:
    """A and B of one instruction have to be at the same K block; and no two instructions at the same place."""
    seen: set[tuple[int, int]] = set()
    first = next((step for step in chain if len(step.operands) == 2), None)
    for step in chain if first is not None else ():
        if first is None or len(step.operands) != 2 or not all(o.resolved for o in (*step.operands, *first.operands)):
            continue
        moved = [distance(a, b) for a, b in zip(first.operands, step.operands, strict=True)]
        if moved[0] is None or moved[1] is None or any(m % _K_UNITS for m in moved if m is not None):
            continue
        if (moved[0], moved[1]) in seen:
            yield step.index, "word-repeated", "found the same A and B as in an instruction before it"
        seen.add((moved[0], moved[1]))
        at = [_blocks(o, m) for o, m in zip(step.operands, moved, strict=True) if m is not None]
        spans = {_span(o) for o in step.operands}
        if None not in at and len(spans) == 1 and at[0] != at[1]:
            yield (
                step.index,
                "word-advance",
                f"found A at K block {at[0]} and B at {at[1]} of their rows, counted from the first",
            )


def _span(operand: SmemOperand) -> object:
    return WORDS[operand.arch].decode(operand.word.value & START_FREE)["swizzle"]
