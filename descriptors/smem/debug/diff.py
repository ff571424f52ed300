"""A word against a layout: which elements the tensor core reads from elsewhere, and the word that would be right.

The layout is the claim about where the elements lie, the word what the tensor core is told. The word that would be
right is derived from the layout by its canonical form, and proved before it is offered.

If the address of the layout is not given, ``place_layout`` alone decides which address is assumed, and if the start
address of the word can be judged.

Invariant: whatever the word, the right word reads the layout.

>>> tile = "S<3,3,3> o 0 o (64,16):(64,1)"
>>> found = [diff(1 << 62 | 16 << stride, tile, "sm90", dtype="bf16", major="K") for stride in range(32, 40)]
>>> [one.ok for one in found]
[False, False, True, False, False, False, False, False]
>>> all(diff(one.right_word, tile, "sm90", dtype="bf16", major="K").ok for one in found)
True

Invariant: without a base, a word is ``same`` only if it is ``same`` with base 0, or starts the layout at an aligned
address.

>>> starts = [diff(1 << 62 | 64 << 32 | start, "S<3,3,3> o 0 o (64,64):(64,1)", "sm90", dtype="bf16", major="K",
...                shape=(64, 16), subtile=(0, 1)).verdict for start in (0, 2, 4, 64, 66)]
>>> starts
['different', 'same', 'different', 'different', 'undecided']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import gcd
from operator import ne, sub
from typing import Any, Literal, TypeAlias

from descriptors.errors import Advice, DescriptorError, LayoutError, advised, as_integer, brief
from descriptors.smem.debug.candidates import Fit, as_shape, fitted, operand_of
from descriptors.smem.debug.warnings import Remark, read_warnings
from descriptors.smem.derivation.crossing import CrossingOperand, crossing_operand
from descriptors.smem.instructions.legality import operand_extents, operand_refusal, split_refusal
from descriptors.smem.operands.explicit import Given, Unit, as_unit, base_of, explicit_tile, swizzled_readings
from descriptors.smem.operands.forms import form
from descriptors.smem.operands.match import matched_steps, partition
from descriptors.smem.operands.operand import (
    LINE_BYTES,
    ElementType,
    Major,
    MajorName,
    SwizzleMode,
    SwizzleName,
    as_element_type,
    as_major,
    major_of,
)
from descriptors.smem.operands.swizzled import parts, pattern_warning, plain, start_of
from descriptors.smem.proof.addresses import address_bits, address_unit, evidence, fetched_rows, stored_rows, unread
from descriptors.smem.proof.mismatch import Mismatch, Picture, first_mismatches, picture
from descriptors.smem.proof.read_model import Rows
from descriptors.smem.words.descriptor import (
    Arch,
    architecture,
    assumed_architecture,
    smem_word,
    window_bytes,
    with_version,
)
from descriptors.targets import generation
from descriptors.text import Told, counted, extents_text, tuple_text
from layoutalg import ComposedLayout, Layout, cosize, size
from layoutalg.frozen import frozen


@frozen
class Change:
    """A field of the word that must change.

    Args:
        field: its name.
        found: its value in the word, in bytes where it is an address.
        right: the value that reads the layout.
    """

    field: str
    found: Any
    right: Any

    def __str__(self) -> str:
        return f"{self.field} {self.found} -> {self.right}"


@frozen
class Assumption:
    """A value that was not given and is assumed.

    Args:
        sentence: the assumption, with {} in the place of the parameter.
        parameter: the parameter of ``diff`` that replaces the assumption; "" if none does.

    >>> Assumption("the tile starts at 0x0 ({} checks it)", "base").text(lambda name: f"--{name}")
    'the tile starts at 0x0 (--base checks it)'
    """

    sentence: str
    parameter: str = ""

    def text(self, name_of: Callable[[str], str] = str) -> str:
        """Return the sentence; ``name_of`` returns the name that the reader knows for a parameter."""
        return self.sentence.format(name_of(self.parameter))

    def __str__(self) -> str:
        return self.text()


#: What a comparison comes to.
Verdict: TypeAlias = Literal["same", "different", "undecided"]


@frozen
class Placement:
    """An address that is assumed for a layout if the caller does not give one.

    Args:
        base: address of the layout's offset 0, in bytes.
        start_is_open: whether the start address cannot be judged: it is right for a tile at ``base``, but an advance
            that is wrong by a multiple of the tile's alignment gives the same word.
        fits: whether a tile may start where the word puts it; if not, ``base`` is the lowest address that is allowed.
        alignment: what the address of a tile is a multiple of, in bytes.
    """

    base: int
    start_is_open: bool = False
    fits: bool = True
    alignment: int = 16


def place_layout(implied: Sequence[int], offset: int, *, alignment: int, lowest: int, highest: int) -> Placement:
    """Decide which address is assumed for a layout if the caller gives none, and if the start address stays open.

    A word contains the address of its operand and not that of the tile. With base 0 every start address can be judged.
    An address of the tile that the word implies is accepted only if a tile may start there. For the first operand of a
    tile that address is named in the answer. For another operand it proves nothing: an advance that is wrong by a
    multiple of the alignment implies an aligned address as well.

    Args:
        implied: addresses of the layout's offset 0 that the word implies, the best one first.
        offset: where the operand begins in the layout, in bytes.
        alignment: what the address of a tile is a multiple of, counted from ``lowest``.
        lowest: the address that is assumed where the word implies none: 0, or where the swizzle pattern starts.
        highest: the highest address at which the layout fits the address window.

    >>> place_layout([0], 32, alignment=1024, lowest=0, highest=200000)
    Placement(base=0, start_is_open=False, fits=True, alignment=1024)
    >>> place_layout([32], 32, alignment=1024, lowest=0, highest=200000)
    Placement(base=0, start_is_open=False, fits=False, alignment=1024)
    >>> place_layout([1024], 32, alignment=1024, lowest=0, highest=200000).start_is_open
    True
    >>> place_layout([1024], 0, alignment=1024, lowest=0, highest=200000).start_is_open
    False
    """
    for base in implied:
        if base == lowest or (0 <= base <= highest and (base - lowest) % alignment == 0):
            return Placement(base, offset != 0 and base != lowest, alignment=alignment)
    return Placement(lowest, fits=False, alignment=alignment)


@frozen
class Diff(Told):
    """A word compared with a layout, element by element.

    Args:
        word: the word.
        arch: ``"sm90"`` or ``"sm100"``.
        element: the element type.
        major: the contiguous dimension that the instruction is told.
        shape: extents (MN, K) of the operand, in elements.
        layout: the operand's layout, in elements; that of the whole tile where operands cross atoms.
        base: address of the layout's offset 0, in bytes.
        differing: elements that are read from elsewhere.
        mismatches: the first of those, one of each run that is off by the same distance.
        picture: where they are in the operand.
        right_word: a word that reads the layout, or None; the word itself if nothing differs, with the version that PTX
            requires. Of several that do, which
            begin elsewhere with another base offset, the one whose base offset says where the pattern starts.
        right_major: the major that it takes.
        changes: the fields in which the right word differs from the word, those that change nothing left out.
        illegal: why no instruction reads such an operand though a word describes it; "" if one does.
        reason: why there is no such word; "" if there is one.
        pattern_start: an address where the swizzle pattern starts, in bytes.
        subtile: coordinate of the operand in the layout, counted in operands.
        offset: where the operand begins, from the layout's offset 0, in bytes, before the swizzle.
        placement: how ``base`` was found; None if it was given, or printed with the layout.
        whole: whether ``shape`` was assumed: one instruction reads the whole layout.
        reads: extents that the instruction reads, if these are more than ``shape``; else None.
        pattern_assumed: whether ``pattern_start`` was assumed for a tile that does not start where a pattern starts.
        other: a subtile that the start address is right for, and the address of the tile; None if there is none, or the
            start address is not in doubt.
        unreadable: why the word has no documented meaning, so that it was not compared; "" if it has one.
        swizzle: the swizzle mode of the layout.
    """

    word: int
    arch: Arch
    element: ElementType
    major: Major
    shape: tuple[int, int]
    layout: Layout | ComposedLayout
    base: int
    differing: int
    mismatches: tuple[Mismatch, ...]
    picture: Picture
    right_word: int | None
    right_major: Major | None
    changes: tuple[Change, ...]
    illegal: str
    reason: str
    pattern_start: int = 0
    subtile: tuple[int, ...] = ()
    offset: int = 0
    placement: Placement | None = None
    whole: bool = False
    reads: tuple[int, int] | None = None
    other: tuple[tuple[int, ...], int] | None = None
    pattern_assumed: bool = False
    unreadable: str = ""
    swizzle: SwizzleMode = SwizzleMode.NONE

    @property
    def verdict(self) -> Verdict:
        """``"same"``, ``"different"``, or ``"undecided"`` where the elements agree but something remains open."""
        if self.differing:
            return "different"
        return "undecided" if self.open_questions else "same"

    @property
    def ok(self) -> bool:
        """Whether the word is proved to read every element from where the layout stores it."""
        return self.verdict == "same"

    @property
    def open_questions(self) -> tuple[str, ...]:
        """The reasons why an agreement of all compared elements does not prove the word; () if it does."""
        return self.questions()

    def questions(self, name_of: Callable[[str], str] = str) -> tuple[str, ...]:
        """Return the open questions; ``name_of`` as in ``Assumption.text``."""
        questions = []
        if self.placement is not None and self.placement.start_is_open:
            start = smem_word(self.arch).decode(self.word)["start_address"]
            decides = f"{name_of('base')} decides"
            questions.append(
                f"start_address {start:#x} is right only if the tile starts at {self.base:#x}; if it starts at "
                f"{self.pattern_start:#x}, {start - self.base + self.pattern_start:#x} is right; {decides}"
            )
        if self.reads is not None:
            questions.append(
                f"the instruction reads {extents_text(self.reads)}, of which only {extents_text(self.shape)} were "
                "compared"
            )
        elif self.whole and (refusal := _extents_refusal(self.arch, self.element, self.shape)):
            questions.append(refusal)
        return (*questions, self.illegal) if self.illegal else tuple(questions)

    @property
    def doubt(self) -> str:
        """The open questions in one line; of a refused operand without the reason, which the text notes below."""
        return self._doubt(str)

    def _doubt(self, name_of: Callable[[str], str]) -> str:
        questions = self.questions(name_of)
        return "; and ".join(split_refusal(text)[0] if text == self.illegal else text for text in questions)

    @property
    def evidence(self) -> str:
        """How what the tensor core reads for the word is known."""
        if self.illegal or (
            self.whole and self.reads is None and _extents_refusal(self.arch, self.element, self.shape)
        ):
            return unread(self.arch)
        values = smem_word(self.arch).decode(self.word)
        return evidence(self.arch, self.element, self.major, absolute=bool(values.get("lbo_mode")))

    @property
    def warnings(self) -> tuple[Remark, ...]:
        """The warnings of ``read_warnings``, and of a pattern that starts with the tile."""
        warned = read_warnings(self.word, self.arch, self.element, self.major, self.reads or self.shape)
        text = pattern_warning(self.pattern_start, self.swizzle, at_tile=self.pattern_start == self.base)
        return (*warned, Remark("pattern-start", "", text)) if text else warned

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions about values that were not given: the address of the tile, and the extents of one operand."""
        assumed = []
        if self.placement is not None and not self.placement.start_is_open:
            assumed.append(Assumption(f"the tile starts at {self.base:#x} ({{}} checks it)", "base"))
        if self.pattern_assumed:
            pattern = f"a swizzle pattern starts at {self.pattern_start:#x} ({{}} checks it)"
            assumed.append(Assumption(pattern, "pattern_start"))
        if self.whole and not _extents_refusal(self.arch, self.element, self.shape):
            whole = extents_text(self.shape)
            if self.shape in operand_extents(self.arch, self.element, sparse=False):
                assumed.append(Assumption(f"one instruction reads all {whole} ({{}} names what it reads)", "shape"))
            else:
                part = f"{whole} is one operand, of which an instruction reads a part ({{}} names the part)"
                assumed.append(Assumption(part, "shape"))
        elif not self.whole and self.reads is None and self.shape not in self._dense_extents():
            sparse = f"the instruction is sparse, because no dense one reads {extents_text(self.shape)}"
            assumed.append(Assumption(sparse))
        return tuple(assumed)

    def _dense_extents(self) -> frozenset[tuple[int, int]]:
        """Return the extents that dense instructions read; those that are compared if no instruction reads these."""
        read = operand_extents(self.arch, self.element)
        return operand_extents(self.arch, self.element, sparse=False) if self.shape in read else frozenset({self.shape})

    @property
    def start_notes(self) -> tuple[str, ...]:
        """The reason why no implied base was accepted, and the subtile that the start address is right for."""
        if self.placement is None or (self.placement.fits and not self.placement.start_is_open):
            return ()
        notes, start = [], smem_word(self.arch).decode(self.word)["start_address"]
        if not self.placement.fits:
            aligned = f"no tile at a multiple of {self.placement.alignment} bytes"
            notes.append(f"{aligned} has the compared operand, {self.offset} bytes behind its start, at {start:#x}")
        if self.other is not None:
            at, base = self.other
            notes.append(f"{start:#x} is the start of subtile {tuple_text(at)} of a tile at {base:#x}")
        return tuple(notes)

    @property
    def headline(self) -> str:
        """The answer in one line, with the compared subtile and the assumptions."""
        return self.summary()

    def summary(self, name_of: Callable[[str], str] = str) -> str:
        """Return the headline; ``name_of`` as in ``Assumption.text``."""
        elements, verdict = counted(self.shape[0] * self.shape[1], "element"), self.verdict
        compared = "" if self.whole else f"; compared: subtile {tuple_text(self.subtile)}, {extents_text(self.shape)}"
        assumptions = ", ".join(assumption.text(name_of) for assumption in self.assumptions)
        assumed = compared + (f"; assumed: {assumptions}" if assumptions else "")
        if self.unreadable:
            return f"different: {self.unreadable}; what such a word reads is not documented{assumed}"
        if verdict == "different":
            are = "is" if self.differing == 1 else "are"
            return f"different: {self.differing} of {elements} {are} read from elsewhere{assumed}"
        agreement = f"the word reads all {elements} from where the layout stores them"
        if verdict == "undecided":
            return f"undecided: {agreement}, but {self._doubt(name_of)}{assumed}"
        return f"same: {agreement}{assumed}"


@advised
def diff(
    word: int,
    layout: Given,
    arch: Arch | None = None,
    *,
    dtype: str | ElementType,
    major: Major | MajorName,
    shape: tuple[int, int] | None = None,
    subtile: tuple[int, ...] | None = None,
    base: int | None = None,
    pattern_start: int | None = None,
    unit: Unit = "elements",
    swizzle: SwizzleMode | SwizzleName | None = None,
    alignment: int = 16,
) -> Diff:
    """Compare what the tensor core reads for a word with a layout, and find the word that reads the layout.

    The layout is taken as the place where the elements are stored: a plain layout without ``swizzle`` is stored
    exactly so, and with one the swizzle is applied to its offsets.

    Args:
        word: the 64-bit descriptor.
        layout: modes (MN, K), further ones are stages: plain, a swizzle after a plain layout, or notation of either.
        arch: ``"sm90"``, ``"sm100"``, ``"sm103"``, ``"sm107"`` or ``"sm110"``; by default from the version bits.
        dtype: name of the element type.
        major: the contiguous dimension that the instruction is told, ``"K"`` or ``"MN"``.
        shape: extents (MN, K) that one instruction reads, in elements; the whole of both modes if left out, which the
            headline then says. If no instruction reads a part of that, or such an operand at all, the verdict is
            ``"undecided"``.
        subtile: coordinate of the operand in the layout, counted in operands; the first if left out.
        base: address of the layout's offset 0, in bytes. If left out, it is that of the pointer that CuTe printed, or
            else assumed by ``place_layout``: the address that the start address implies if a tile may start there,
            else 0. For an operand that begins at the layout's offset 0 the verdict is then ``"same"`` under the
            condition that the headline names. For another operand it is ``"undecided"`` unless the implied address
            is 0, because a wrong advance may imply an aligned address too. A start address that implies a negative or
            misaligned address is compared with base 0, and differs.
        pattern_start: an address where the swizzle pattern starts, in bytes; of a swizzled layout a multiple of 128, as
            the base offset counts rows of 128 bytes. If left out it is 0, because the swizzle of TMA and CuTe takes
            absolute addresses; a word of a tile that starts elsewhere in the pattern may also be right for a pattern
            that starts with the tile, as ``derive`` places it, and the headline then says so.
        unit: what the layout's offsets and swizzle count, as in ``explicit.UNITS``.
        swizzle: name of the swizzle mode that is applied to a plain layout; a layout with a swizzle of its own must
            have this one.
        alignment: what an assumed address of the layout is a multiple of, in bytes, beside what the swizzle needs.

    Raises:
        NotCanonicalError: if the layout has a swizzle that is none of the hardware's.
        DescriptorError: if an argument is malformed, or the layout has another swizzle.
        LayoutError: if the notation is wrong.

    >>> found = diff(1 << 62 | 32 << 32, "S<3,3,3> o 0 o (64,16):(64,1)", arch="sm90", dtype="bf16", major="K")
    >>> found.differing, *map(str, found.changes)
    (896, 'stride_byte_offset 512 -> 1024')
    """
    number = as_integer(word, "diff: the word", maximum=2**64 - 1)
    name = architecture(assumed_architecture(number) if arch is None else arch)
    element, contiguous = as_element_type(dtype), as_major(major_of(swizzle, major))
    multiple = as_integer(alignment, "diff: alignment", minimum=1)
    tile, mode = explicit_tile(layout, element, swizzle, as_unit(unit))
    extents, at = as_shape(shape, tile), _subtile(subtile, tile)
    operand, part = _operand(tile, mode, element, extents, at, name)
    values, window = smem_word(name).decode(number), window_bytes(name)
    first = part.first if part else parts(operand)[2] * element.storage_bits // 8
    reads: dict[str, Any] = {"arch": name, "element": element, "major": contiguous}
    readings = [(operand, mode)]
    if swizzle is None and mode is SwizzleMode.NONE and not _has_form(operand, mode, element):
        readings += [one for one in swizzled_readings(operand, element) if _has_form(*one, element)]
    own_mode = readings[-1][1]
    pattern = _pattern_start(0 if pattern_start is None else pattern_start, own_mode, window)
    placement, base = None, base_of(layout) if base is None else base
    if base is None:
        implied = [int(values["start_address"]) - first]
        # One row is enough, and a layout that is too large is refused below.
        if isinstance(row := _fetched(number, reads, (1, extents[1])), list):
            first_read = row[0][0] * address_bits(element) // 8
            implied.insert(0, _unswizzled(first_read, mode, pattern) - first)
        placement = place_layout(
            implied,
            first,
            alignment=max(own_mode.alignment_bytes, multiple),
            lowest=pattern,
            highest=window - _end_bytes(tile, element),
        )
    place = _address("base", base, window) if placement is None else placement.base
    rows = (
        part.addresses(place, pattern, window)
        if part
        else stored_rows(operand, element, base=place, pattern_start=pattern, window=window)
    )
    fetched = _fetched(number, reads, extents)
    moved = pattern_start is None and own_mode is not SwizzleMode.NONE and place % own_mode.period_bytes != 0
    if moved and not part and isinstance(fetched, list) and rows != fetched:
        with_tile = stored_rows(operand, element, base=place, pattern_start=place, window=window)
        if with_tile == fetched:
            rows, pattern = with_tile, place
    if part:
        right, reason = _right_across(part, name, place, pattern, absolute=bool(values["lbo_mode"]))
    else:
        right, reason = _right_word([one for one, _ in readings], element, contiguous, mode, name, place, pattern)
    mismatches, unreadable = tuple[Mismatch, ...](), ""
    if isinstance(fetched, list):
        wrong = [list(map(ne, *pair)) for pair in zip(rows, fetched, strict=True)]
        mismatches = _first_of_runs(rows, fetched, contiguous, element)
    else:
        wrong = [[True] * extents[1] for _ in rows]
        unreadable = why_unreadable(fetched)
    return Diff(
        word=number,
        arch=name,
        element=element,
        major=contiguous,
        shape=extents,
        layout=operand,
        base=place,
        differing=sum(map(sum, wrong)),
        mismatches=mismatches,
        picture=picture(wrong),
        right_word=right.descriptor.encode() if right else None,
        right_major=right.match.form.major if right else None,
        changes=_changes(number, right) if right else (),
        illegal=_refusal(right, name, element, None if shape is None else extents),
        reason=reason,
        pattern_start=pattern,
        subtile=at,
        offset=first,
        placement=placement,
        whole=shape is None,
        pattern_assumed=moved,
        other=_other_operand(tile, element, extents, int(values["start_address"]), placement, pattern),
        unreadable=unreadable,
        swizzle=own_mode,
    )


def _fetched(word: int, reads: Mapping[str, Any], shape: tuple[int, int]) -> Rows | DescriptorError:
    """Return the addresses that the tensor core reads for a word; the reason if the word has no meaning."""
    try:
        return fetched_rows([with_version(word, reads["arch"])], **reads, shape=shape)[0]
    except DescriptorError as error:
        return error


def why_unreadable(refusal: DescriptorError) -> str:
    """Return why a word has no meaning, from the refusal of the read model: a word that reads no element at all."""
    return str(refusal).removeprefix("read_addresses: ").partition(";")[0]


#: The most operands of a tile among which the one is searched that a start address is right for.
_MOST_OPERANDS = 1 << 12


def _other_operand(
    tile: Layout | ComposedLayout, element: ElementType, shape: tuple[int, int], start: int,
    placement: Placement | None, lowest: int,
) -> tuple[tuple[int, ...], int] | None:  # fmt: skip
    """Find the operand of a tile that begins at a start address, for a tile at the lowest or at an aligned address."""
    if placement is None or (placement.fits and not placement.start_is_open):
        return None
    rows, _, offset = parts(tile)
    try:
        rest = partition(rows, shape)[1]
    except DescriptorError:  # operands that cross atoms
        return None
    if size(rest) > _MOST_OPERANDS:
        return None
    begins = {
        at: (offset + rest(*at)) * element.storage_bits // 8 for at in product(*(range(size(one)) for one in rest))
    }
    bases = {at: start - first for at, first in begins.items()}
    at_lowest = [at for at, base in bases.items() if base == lowest]
    aligned = [at for at, base in bases.items() if base >= lowest and (base - lowest) % placement.alignment == 0]
    others = at_lowest or (aligned if placement.alignment > 16 and not placement.fits else [])
    return (others[0], bases[others[0]]) if others else None


def _extents_refusal(arch: Arch, element: ElementType, shape: tuple[int, int]) -> str:
    """Return why no instruction reads operands that divide a shape; "" if one does."""
    legal = operand_extents(arch, element)
    if not legal or any(shape[0] % mn == 0 and shape[1] % k == 0 for mn, k in legal):
        return ""
    least = gcd(*(mn for mn, _ in legal)), gcd(*(k for _, k in legal))
    uneven = [
        f"{name} {extent} is not a multiple of {step}"
        for name, extent, step in zip(("MN", "K"), shape, least, strict=True)
        if extent % step
    ]
    because = " and ".join(uneven) or f"the smallest operand is {extents_text(min(legal))}"
    return f"no {arch} instruction reads {extents_text(shape)}, or operands that divide it: {because}"


def _end_bytes(tile: Layout | ComposedLayout, element: ElementType) -> int:
    """Return the distance from a layout's offset 0 to its end, in bytes."""
    try:
        return (start_of(tile) + cosize(plain(tile))) * element.storage_bits // 8
    except LayoutError:  # beyond 64 bits
        return 1 << 64


def _has_form(operand: Layout | ComposedLayout, mode: SwizzleMode, element: ElementType) -> bool:
    """Check if an operand has the canonical form of a swizzle mode, K-major or MN-major."""
    rows = parts(operand)[0]
    for major in Major:
        try:
            matched_steps(rows, (size(rows[0]), size(rows[1])), element, form(major, mode))
        except LayoutError:
            continue
        return True
    return False


def _unswizzled(address: int, mode: SwizzleMode, pattern_start: int) -> int:
    """Undo the swizzle of an address; a swizzle is its own inverse."""
    if mode.swizzle is None:
        return address
    start = pattern_start % mode.period_bytes - mode.period_bytes  # so that the distance is not negative
    return start + int(mode.swizzle(address - start))


def _subtile(subtile: object, tile: Layout | ComposedLayout) -> tuple[int, ...]:
    rank = len(plain(tile))
    if subtile is None:
        return (0,) * rank
    if not isinstance(subtile, (tuple, list)) or len(subtile) != rank:
        raise DescriptorError(f"diff: subtile must be a coordinate of {rank} modes, found {brief(subtile)}")
    return tuple(as_integer(at, "diff: a coordinate of subtile") for at in subtile)


def _operand(
    tile: Layout | ComposedLayout, mode: SwizzleMode, element: ElementType, shape: tuple[int, int],
    at: tuple[int, ...], arch: Arch,
) -> tuple[Layout | ComposedLayout, CrossingOperand | None]:  # fmt: skip
    """The operand as a layout; of a tile whose operands cross atoms the tile, and which part of it the operand is."""
    try:
        return operand_of(tile, shape, at), None
    except DescriptorError:
        part = crossing_operand(tile, mode, element, shape, at) if generation(arch) == "sm100" else None
        if part is None:
            raise
    return tile, part


def _right_across(
    part: CrossingOperand, arch: Arch, base: int, pattern_start: int, *, absolute: bool
) -> tuple[Fit | None, str]:
    """The word that reads an operand that crosses atoms; or why there is none."""
    try:
        return Fit(*part.described(arch, base, pattern_start, absolute=absolute), part.tile), ""
    except DescriptorError as error:
        return None, str(error)


def _address(what: str, value: object, window: int) -> int:
    address = as_integer(value, f"diff: {what}", maximum=window - 1)
    if address % 16:
        raise DescriptorError(f"diff: {what} must be a multiple of 16 bytes, found {address}")
    return address


def _pattern_start(value: object, mode: SwizzleMode, window: int) -> int:
    """Return a pattern start, refused where no descriptor can name it."""
    address = _address("pattern_start", value, window)
    if mode is not SwizzleMode.NONE and address % LINE_BYTES:
        below = address // LINE_BYTES * LINE_BYTES
        raise DescriptorError(
            f"diff: pattern_start must be a multiple of {LINE_BYTES} bytes, which base_offset counts, found {address}",
            proposals=[Advice({"pattern_start": start}) for start in (below, below + LINE_BYTES)],
        )
    return address


def _first_of_runs(layout_rows: Rows, fetched: Rows, major: Major, element: ElementType) -> tuple[Mismatch, ...]:
    """The first mismatches that are not just the next element of one before: 16 bytes move together at least."""
    off = [list(map(sub, *pair)) for pair in zip(fetched, layout_rows, strict=True)]
    across: list[list[Any]] = [[None, *row[:-1]] for row in off]
    before = across if major is Major.K else [[None] * len(off[0]), *off[:-1]]
    first = [
        [there if here == last else there + here for there, here, last in zip(*rows, strict=True)]
        for rows in zip(layout_rows, off, before, strict=True)
    ]
    return tuple(first_mismatches(layout_rows, first, unit=address_unit(element)))


def _right_word(
    readings: Sequence[Layout | ComposedLayout],
    element: ElementType,
    major: Major,
    mode: SwizzleMode,
    arch: Arch,
    base: int,
    pattern_start: int,
) -> tuple[Fit | None, str]:
    """The word that reads the layout, for the major given if possible; or why there is none.

    Another mode than the layout's own reads it too where the swizzle moves nothing in this operand. Each try is proved
    against the swizzle of its mode, so that the layout itself is compared once more here.

    Args:
        readings: the operand, then other layouts with the same offsets.
    """
    reason, window = "", window_bytes(arch)
    own = stored_rows(readings[0], element, base=base, pattern_start=pattern_start, window=window)
    tries = product(readings, sorted(Major, key=lambda one: one is not major), _modes_from(mode))
    for reading, contiguous, other_mode in tries:
        try:
            fit = fitted(reading, element, contiguous, other_mode, arch, base=base, pattern_start=pattern_start)
            moved_rows = stored_rows(fit.layout, element, base=base, pattern_start=pattern_start, window=window)
        except LayoutError as error:
            reason = reason or str(error)
            continue
        if moved_rows == own:
            return fit, ""
    return None, reason


def _modes_from(mode: SwizzleMode) -> list[SwizzleMode]:
    """Return all modes, one of them first."""
    return sorted(SwizzleMode, key=lambda one: one is not mode)


def _refusal(right: Fit | None, arch: Arch, element: ElementType, extents: tuple[int, int] | None) -> str:
    """Return why no instruction reads the operand of the right word; "" if one does, or there is no such word."""
    return operand_refusal(arch, element, right.match.form.major, right.match.form.mode, extents) if right else ""


def _changes(word: int, right: Fit) -> tuple[Change, ...]:
    fields = right.descriptor.word
    own, correct = fields.decode(word), fields.decode(right.descriptor.encode())
    names = [field.name for field in fields.fields if field.name not in right.match.dont_care]
    return tuple(Change(name, own[name], correct[name]) for name in names if own[name] != correct[name])
