"""Warnings and notes about a descriptor word: rules that check one field each.

A warning is about a probable mistake. A note explains a value that is right but surprising. Each rule is a function of
the word and of the known properties of its operand; ``warnings`` and ``notes`` list all rules. Swizzle modes have three
numberings: one for each architecture, and one for tensor maps.
Source: PTX ISA 9.1, matrix descriptors of wgmma and tcgen05; what sm90 ignores was measured on a Hopper GPU.

Invariant: a word of ``derive`` has no warnings; if a bit outside the fields is inverted, it has one.

>>> from descriptors import decode, derive
>>> word = derive((128, 64), "bf16", "K", "128B", (64, 16), arch="sm90").descriptor.encode()
>>> len(decode(word, "sm90").warnings), [bool(decode(word ^ 1 << bit, "sm90").warnings) for bit in (14, 30, 46, 52)]
(0, [True, True, True, True])

Invariant: a group of rows is as long as the period of the swizzle pattern, and a numbering agrees with the bit layout
of its word.

>>> all(group_bytes(mode) == mode.period_bytes for mode in SwizzleMode if mode.swizzle is not None)
True
>>> from descriptors.smem.words.descriptor import MNEMONICS, smem_word
>>> all(smem_word(arch)["swizzle"].load(code) is mode for arch in MNEMONICS for code, mode in NUMBERINGS[arch].items())
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.smem.instructions.legality import check_operand
from descriptors.smem.instructions.rules import kind_of
from descriptors.smem.operands.canonical import is_read, walked
from descriptors.smem.operands.forms import LEADING, STRIDE, form
from descriptors.smem.operands.operand import LINE_BYTES, ElementType, Major, SwizzleMode
from descriptors.smem.proof.addresses import address_bits, fetched_rows
from descriptors.smem.words.bitfield import UnknownCode
from descriptors.smem.words.descriptor import (
    SM90_SWIZZLE_CODES,
    SM100_DESCRIPTOR,
    SM100_SWIZZLE_CODES,
    Arch,
    smem_word,
)
from descriptors.smem.words.tensor_map import SWIZZLES as TENSOR_MAP_SWIZZLES
from descriptors.targets import architecture, generation, has_tcgen05, has_wgmma, holders
from layoutalg.frozen import frozen, replace

#: The numbers of the swizzle modes in the three places that number them, each its own way.
NUMBERINGS: Mapping[str, Mapping[int, SwizzleMode]] = {
    "sm90": {code: mode for mode, code in SM90_SWIZZLE_CODES},
    "sm100": {code: mode for mode, code in SM100_SWIZZLE_CODES},
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
        """Whether the leading byte offset is an address: LBO mode 1, of K = 96."""
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
    """Return the meanings of a swizzle code in the other numberings.

    >>> elsewhere("sm90", 1)
    '128B_BASE32B in sm100, 32B in a TMA tensor map'
    """
    others = {place: codes.get(code) for place, codes in NUMBERINGS.items() if place != generation(arch)}
    return ", ".join(f"{mode or 'undefined'} in {place}" for place, mode in others.items())


#: The bits that every sm100 word has set, and no sm90 word needs.
_SM100_VERSION = SM100_DESCRIPTOR.encode()

#: Bytes of eight rows of a swizzled atom: the step to the next eight where atoms lie side by side.
_EIGHT_ROWS = {mode: group_bytes(mode) for mode in (SwizzleMode.B32, SwizzleMode.B64, SwizzleMode.B128)}


@frozen
class Remark:
    """A warning or a note about a word.

    Args:
        kind: name of the rule.
        field: name of the field; "" for bits outside all fields.
        text: the text of the remark.
    """

    kind: str
    field: str
    text: str

    def __str__(self) -> str:
        return f"{self.field}: {self.text}" if self.field else self.text


def warnings(word: Reading) -> tuple[Remark, ...]:
    """Return the remarks about probable mistakes."""
    rules = (
        _swizzle_code,
        _illegal_operand,
        _marks_of_the_other_arch,
        _unknown_bits,
        _misplaced_line,
        _short_steps,
        _across_rows,
        _memory,
        _unshifted,
        _pattern,
    )
    return tuple(remark for rule in rules for remark in rule(word))


def bit_warnings(word: int, arch: Arch) -> tuple[Remark, ...]:
    """Return the warnings about the version of a word and about set bits outside all fields.

    >>> print(*bit_warnings(0x4000404040010000, "sm90"), sep="\\n")
    bits [46,49) hold 1, the version of an sm100 word; an sm90 word has none
    bits 30, 46 belong to no field and are ignored (measured on a Hopper GPU)
    """
    reading = reading_of(word, arch)
    return (*_marks_of_the_other_arch(reading), *_unknown_bits(reading))


def pattern_contradiction(word: int, arch: Arch) -> str:
    """Return why the base offset of a word contradicts its start address; "" if it does not, or if it is 0.

    >>> pattern_contradiction(0x4002004000010000, "sm90")
    'with 1 the pattern starts 128 bytes after a multiple of 1024; the start address is 0 after one'
    >>> pattern_contradiction(0x4002004000010008, "sm90")
    ''
    """
    reading = reading_of(word, arch)
    remarks = _pattern(reading) if reading.values["base_offset"] else ()
    return next((remark.text for remark in remarks if remark.field == "base_offset"), "")


def read_warnings(
    word: int, arch: Arch, element: ElementType, major: Major, shape: tuple[int, int]
) -> tuple[Remark, ...]:
    """Return the warnings of ``bit_warnings``, and a warning if the operand ends beyond shared memory.

    Args:
        word: the 64 bits.
        arch: the architecture.
        element: the element type.
        major: the contiguous dimension.
        shape: extents (MN, K) that one instruction reads, in elements.
    """
    reading = replace(reading_of(word, arch), element=element, major=major, shape=shape)
    return (*bit_warnings(word, arch), *_memory(reading))


def reading_of(word: int, arch: Arch) -> Reading:
    """Return a word with its fields; the properties of its operand are unknown."""
    layout = smem_word(arch)
    values = layout.decode(word)
    field = layout["swizzle"]
    code = (word & field.mask) >> field.low
    return Reading(arch, word, values, values["swizzle"], code, layout.unknown_bits(word))


def notes(word: Reading) -> tuple[Remark, ...]:
    """Return the remarks about values that are right but surprising."""
    return tuple(remark for rule in (_inside_an_atom, _single_column, _base_offset, _absolute) for remark in rule(word))


def _swizzle_code(word: Reading) -> Iterator[Remark]:
    base = generation(word.arch)
    own = {mode: code for code, mode in NUMBERINGS[base].items()}
    others = (codes.get(word.code) for place, codes in NUMBERINGS.items() if place != base)
    modes_elsewhere = [mode for mode in dict.fromkeys(others) if mode in own and mode is not word.mode]
    other = f"code {word.code} is {elsewhere(word.arch, word.code)}"
    codes = "".join(f"; {mode} is {own[mode]} in {word.arch}" for mode in modes_elsewhere if mode)
    if isinstance(word.mode, UnknownCode):
        yield Remark("invalid-swizzle-code", "swizzle", f"code {word.code} is undefined in {word.arch}; {other}{codes}")
        return
    narrow = not (word.element and word.element.storage_bits == 32)
    if word.mode is SwizzleMode.B128_BASE32B and (narrow or word.major is Major.K):
        text = f"{word.mode} is only for 32-bit MN-major operands; {other}{codes}"
        yield Remark("illegal-operand" if word.major is Major.K else "other-numbering", "swizzle", text)
        return
    # The step of a dense tile is eight rows, so it reveals the intended row width. If LBO is the size of an atom of the
    # word's own mode, as in an MN-major tile stacked along MN first, that mode is intended.
    stride = word.values[STRIDE]
    for mode in modes_elsewhere if word.values[LEADING] != word.group_bytes else ():
        if mode in _EIGHT_ROWS and _EIGHT_ROWS[mode] == stride != _EIGHT_ROWS.get(word.mode):
            text = f"{word.mode}, but a {STRIDE} of {stride} bytes is 8 rows of {mode}; {other}"
            yield Remark("other-numbering", "swizzle", f"{text}: if {mode} was meant, its code is {own[mode]}")


def _illegal_operand(word: Reading) -> Iterator[Remark]:
    if word.element is None or not isinstance(word.mode, SwizzleMode):
        return
    try:
        kind = kind_of(word.arch, word.element)
        if word.major is not None:
            check_operand(word.arch, kind, word.element, word.major, word.mode, legality="lenient")
    except DescriptorError as error:
        yield Remark("illegal-operand", "swizzle", f"no instruction reads this operand: {error}")


def _marks_of_the_other_arch(word: Reading) -> Iterator[Remark]:
    if has_tcgen05(word.arch):
        version = word.values["version"]
        if version != 1:
            text = f"PTX requires 1 in an {word.arch} word, found {version}"
            if version == 0:
                text += ", as in an sm90 word; kernels in use leave it 0 (Triton 3.5.0), and it is read here as 1 (not "
                text += "measured)"
            yield Remark("version", "version", text)
    elif word.unknown_bits & SM100_DESCRIPTOR["version"].mask == _SM100_VERSION:
        yield Remark("other-arch", "", "bits [46,49) hold 1, the version of an sm100 word; an sm90 word has none")


def _misplaced_line(word: Reading) -> Iterator[Remark]:
    """Yield a warning for each violation of the conditions of an absolute leading address."""
    if not word.absolute:
        return
    rule = f"1 makes {LEADING} an absolute address, which only K = 96 of {holders('K = 96')} reads:"
    line, base = word.values[LEADING], word.values["base_offset"]
    for wrong, text in (
        (word.mode is not SwizzleMode.B128, f"swizzle must be 128B, is {word.mode}"),
        (word.major is Major.MN, "major must be K, is MN"),
        (base != 0, f"base_offset must be 0, is {base}"),
        (line % LINE_BYTES != 0, f"it must be a multiple of {LINE_BYTES}, where a line begins, is {line}"),
        (word.element is not None and word.element.storage_bits != 4, f"dtype must be e2m1, is {word.element}"),
    ):
        if wrong:
            yield Remark("absolute-leading", "lbo_mode", f"{rule} {text}")


def _unknown_bits(word: Reading) -> Iterator[Remark]:
    if not word.unknown_bits:
        return
    many = word.unknown_bits.bit_count() > 1
    text = f"bit{'s' if many else ''} {_ranges(word.unknown_bits)} belong{'' if many else 's'} to no field"
    if has_wgmma(word.arch):
        text += " and are ignored" if many else " and is ignored"
        text += " (measured on a Hopper GPU)"
        if word.mode is SwizzleMode.NONE and word.unknown_bits >> 52:
            text += "; the swizzle has bits [62,64)"
    else:
        text += "; PTX wants 0 there"
    yield Remark("unknown-bits", "", text)


def _short_steps(word: Reading) -> Iterator[Remark]:
    if word.element and word.major and word.shape:
        yield from _repeated(word, word.shape)
        return
    for name in (STRIDE, LEADING):
        step, group = word.values[name], word.group_bytes
        # The hardware may read LBO of a swizzled operand, depending on the major.
        if step >= group or (name == LEADING and (word.absolute or not word.leading_is_read)):
            continue
        if name == LEADING and _may_be_single_column(word):  # has a note
            continue
        effect = "all groups are read from the same bytes" if step == 0 else "groups overlap"
        rows = group // word.width
        text = f"{step}, so {effect}: a group of {rows} rows has {group} bytes (harmless if the operand has one group)"
        yield Remark("repeated-rows", name, text)


def _may_be_single_column(word: Reading) -> bool:
    """Return whether a word is that of a ``tcgen05.cp`` of rows of 16 bytes, in which CuTe sets LBO to 16."""
    unswizzled = has_tcgen05(word.arch) and word.mode is SwizzleMode.NONE and word.major is not Major.MN
    return unswizzled and word.values[LEADING] == 16 and word.values[STRIDE] >= word.group_bytes


def _single_column(word: Reading) -> Iterator[Remark]:
    if _may_be_single_column(word) and not (word.element and word.major and word.shape):
        text = "16 is right for rows of 16 bytes, as tcgen05.cp copies them; the groups of a wider operand overlap"
        yield Remark("single-column", LEADING, text)


def _across_rows(word: Reading) -> Iterator[Remark]:
    inside, reach = _row_reach(word)
    if reach > word.width:
        text = (
            f"{inside} bytes into a row of {word.width} bytes, of which the operand takes {reach - inside}: the last "
            f"{reach - word.width} are read from the next row; right only for a tile that starts at this address"
        )
        yield Remark("across-rows", "start_address", text)


def _row_reach(word: Reading) -> tuple[int, int]:
    """Return the bytes from the beginning of a swizzled row to the start of the operand, and to the end of its part.

    Both are 0 if the start is at the beginning of a row, or if the operand is not known.
    """
    swizzled = isinstance(word.mode, SwizzleMode) and word.mode is not SwizzleMode.NONE
    if not (swizzled and word.element and word.major and word.shape) or word.absolute:
        return 0, 0
    inside = word.values["start_address"] % word.width
    extent = word.shape[word.major.contiguous_mode] * word.element.storage_bits // 8
    return (inside, inside + min(extent, word.width)) if inside else (0, 0)


def _places(word: Reading) -> set[int]:
    """Return the addresses that are read, in the unit of ``address_bits``; empty if the operand is not known."""
    if not (word.element and word.major and word.shape):
        return set()
    try:
        rows = fetched_rows([word.word], arch=word.arch, element=word.element, major=word.major, shape=word.shape)
    except DescriptorError:  # a word without a meaning has other remarks
        return set()
    return {place for row in rows[0] for place in row}


def _repeated(word: Reading, shape: tuple[int, int]) -> Iterator[Remark]:
    """Yield a warning with the number of elements that share an address, by the read model."""
    elements, places = shape[0] * shape[1], _places(word)
    if 0 < len(places) < elements:
        steps = [f"{STRIDE} {word.values[STRIDE]}"]
        steps += [f"{LEADING} {word.values[LEADING]}"] if word.leading_is_read else []
        text = f"{elements} elements are read from {len(places)} places ({', '.join(steps)})"
        read = (STRIDE, LEADING) if word.leading_is_read else (STRIDE,)
        wrong = [name for name in read if _repeats(word, name, shape)]
        yield Remark("repeated-rows", wrong[0] if len(wrong) == 1 else "", text)


def _repeats(word: Reading, name: str, shape: tuple[int, int]) -> bool:
    """Return whether elements share an address even if the operand has only one group along the other step."""
    assert word.element is not None and word.major is not None and isinstance(word.mode, SwizzleMode)
    canonical, extents = walked(word.major, word.mode), list(shape)
    for other, (mode, *_) in canonical.steps:
        if other != name:
            unit = word.element.per_16_bytes if mode == word.major.contiguous_mode else 1
            extents[mode] = min(extents[mode], canonical.chunk[mode] * unit)
    part = (extents[0], extents[1])
    return len(_places(replace(word, shape=part))) < part[0] * part[1]


def _unshifted(word: Reading) -> Iterator[Remark]:
    group = word.group_bytes
    if word.mode is not SwizzleMode.NONE and group and word.values[STRIDE] == 16 * group:
        text = f"the word holds {group}, which are {16 * group} bytes: the field counts 16 bytes"
        yield Remark("unshifted", STRIDE, f"{text}; a step of {group} bytes is stored as {group // 16}")


def _pattern(word: Reading) -> Iterator[Remark]:
    if not isinstance(word.mode, SwizzleMode) or word.mode is SwizzleMode.NONE:
        return
    start, base, period = word.values["start_address"], word.values["base_offset"], word.mode.period_bytes
    lines = period // LINE_BYTES
    line, shifted = start // LINE_BYTES % lines, base % lines
    if shifted and shifted != line:
        text = f"with {base} the pattern starts {shifted * LINE_BYTES} bytes after a multiple of {period}"
        yield Remark("pattern-start", "base_offset", f"{text}; the start address is {start % period} after one")
    elif not shifted and start % period >= word.width:
        text = (
            f"{start} is no multiple of {period}: right for a part of a tile that starts at one; a tile that starts "
            f"here needs another address"
        )
        text += f", or base_offset {start // LINE_BYTES % 8}" if start % LINE_BYTES == 0 else ""
        yield Remark("pattern-start", "start_address", text)


def _memory(word: Reading) -> Iterator[Remark]:
    places = _places(word)
    if places and word.element:
        yield from memory_warnings(max(places) * address_bits(word.element), word.element, word.arch)
    elif word.values["start_address"] >= (most := architecture(word.arch).shared):
        yield Remark("memory", "start_address", f"beyond the {most} bytes that a thread block can have")


def memory_warnings(last_place: int, element: ElementType, arch: Arch) -> tuple[Remark, ...]:
    """Return the warning of an operand that ends beyond the shared memory of a thread block; () if it does not.

    Args:
        last_place: the highest address of an element that is read, in bits.
        element: the element type.
        arch: the architecture.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> print(*memory_warnings(8 * 232446, as_element_type("bf16"), "sm90"))
    <BLANKLINE>
    >>> print(*memory_warnings(8 * 232448, as_element_type("bf16"), "sm90"))
    start_address: the operand is read up to byte 232450, beyond the 232448 that a thread block can have
    """
    end, most = -(-(last_place + element.storage_bits) // 8), architecture(arch).shared
    text = f"the operand is read up to byte {end}, beyond the {most} that a thread block can have"
    return (Remark("memory", "start_address", text),) if end > most else ()


def _inside_an_atom(word: Reading) -> Iterator[Remark]:
    if not isinstance(word.mode, SwizzleMode) or word.mode is SwizzleMode.NONE:
        return
    inside = word.values["start_address"] % word.mode.period_bytes
    if 0 < inside < word.width and _row_reach(word)[1] <= word.width:
        text = f"{inside} bytes into the first row of an atom, as an advance along the row is"
        yield Remark("inside-an-atom", "start_address", f"{text}: the swizzle takes the absolute address")


def _absolute(word: Reading) -> Iterator[Remark]:
    if word.absolute:
        text = (
            f"1 makes {LEADING} an absolute address: it must move with the tile, and only {holders('K = 96')} read it"
        )
        yield Remark("absolute-leading", "lbo_mode", text)


def _base_offset(word: Reading) -> Iterator[Remark]:
    if word.mode is SwizzleMode.NONE and word.values["base_offset"]:
        yield Remark("unused-base-offset", "base_offset", "changes nothing without a swizzle")


def _ranges(bits: int) -> str:
    """Return the set bits as numbers and half-open ranges.

    >>> _ranges(0b1011_0000)
    '[4,6), 7'
    """
    parts, low = [], 0
    while bits >> low:
        if bits >> low & 1:
            high = low
            while bits >> high & 1:
                high += 1
            parts.append(str(low) if high == low + 1 else f"[{low},{high})")
            low = high
        low += 1
    return ", ".join(parts)
