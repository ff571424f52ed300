"""Compare a descriptor with a layout: find the elements that are read from other addresses, and the right descriptor.

The layout defines where the elements are stored, and the word defines where the tensor core reads them. The right word
is derived from the layout by its canonical form, and verified before it is returned.

If the caller does not pass the address of the layout, ``place_layout`` decides which address is assumed, and whether
the start address of the word can be checked.

Invariant: the right word reads the layout, for every compared word.

>>> tile = "S<3,3,3> o 0 o (64,16):(64,1)"
>>> words = [1 << 62 | 16 << stride for stride in range(32, 40)]
>>> differences = [diff(word, tile, "sm90", dtype="bf16", major="K") for word in words]
>>> [difference.ok for difference in differences]
[False, False, True, False, False, False, False, False]
>>> all(diff(difference.right_word, tile, "sm90", dtype="bf16", major="K").ok for difference in differences)
True

Invariant: without a base, a word is ``same`` only if it is ``same`` with base 0, or if the layout starts at an aligned
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
        field: the name of the field.
        found: its value in the word; addresses are in bytes.
        right: the value that reads the layout.
    """

    field: str
    found: Any
    right: Any

    def __str__(self) -> str:
        return f"{self.field} {self.found} -> {self.right}"


@frozen
class Assumption:
    """A value that is assumed because the caller did not pass it.

    Args:
        sentence: the assumption, with {} in the place of the parameter.
        parameter: the parameter of ``diff`` that replaces the assumption; "" if none does.

    >>> Assumption("the tile starts at 0x0 ({} checks it)", "base").text(lambda name: f"--{name}")
    'the tile starts at 0x0 (--base checks it)'
    """

    sentence: str
    parameter: str = ""

    def text(self, name_of: Callable[[str], str] = str) -> str:
        """Return the sentence; ``name_of`` returns the name of a parameter in the output."""
        return self.sentence.format(name_of(self.parameter))

    def __str__(self) -> str:
        return self.text()


#: The result of a comparison.
Verdict: TypeAlias = Literal["same", "different", "undecided"]


@frozen
class Placement:
    """An address that is assumed for a layout if the caller does not give one.

    Args:
        base: address of the layout's offset 0, in bytes.
        start_is_open: whether the start address cannot be checked: it is right for a tile at ``base``, but an advance
            that is wrong by a multiple of the tile's alignment gives the same word.
        fits: whether a tile may start at the address that the word implies; if not, ``base`` is the lowest allowed
            address.
        alignment: the alignment of a tile, in bytes.
    """

    base: int
    start_is_open: bool = False
    fits: bool = True
    alignment: int = 16


def place_layout(implied: Sequence[int], offset: int, *, alignment: int, lowest: int, highest: int) -> Placement:
    """Decide which address is assumed for a layout, and whether the start address of the word can be checked.

    A word contains the address of its operand, not that of the tile. With base 0 every start address can be checked. An
    address that the word implies is accepted only if a tile may start there. For the first operand of a tile, the
    answer states this address. For another operand it proves nothing, because an advance that is wrong by a multiple of
    the alignment also implies an aligned address.

    Args:
        implied: addresses of the layout's offset 0 that the word implies, the best one first.
        offset: the distance of the operand from the layout's offset 0, in bytes.
        alignment: the alignment of a tile, counted from ``lowest``.
        lowest: the address to assume if the word implies none: 0, or the start of the swizzle pattern.
        highest: the highest address at which the layout fits into the address window.

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
        major: the contiguous dimension, as set in the instruction.
        shape: extents (MN, K) of the operand, in elements.
        layout: the operand's layout, in elements; the layout of the whole tile if operands cross atoms.
        base: address of the layout's offset 0, in bytes.
        differing: number of elements that are read from another address.
        mismatches: the first such elements, one for each run with the same distance.
        picture: the positions of these elements in the operand.
        right_word: a word that reads the layout, or None; the word itself, with the version that PTX requires, if
            nothing differs. If several words with different base offsets do, it is the one whose base offset matches
            the start of the pattern.
        right_major: the major with which the right word reads the layout.
        changes: the fields in which the right word differs from the word, without fields that have no effect.
        illegal: why no instruction reads such an operand although a word describes it; "" if one does.
        reason: why there is no right word; "" if there is one.
        pattern_start: an address where the swizzle pattern starts, in bytes.
        subtile: coordinate of the operand in the layout, counted in operands.
        offset: the distance of the operand from the layout's offset 0, in bytes, before the swizzle.
        placement: how ``base`` was chosen; None if it was passed, or printed with the layout.
        whole: whether ``shape`` was assumed, so that one instruction reads the whole layout.
        reads: extents that the instruction reads, if these are more than ``shape``; else None.
        pattern_assumed: whether ``pattern_start`` was assumed for a tile that does not start where a pattern starts.
        other: a subtile for which the start address is right, and the address of the tile; None if there is none, or
            the start address is certain.
        unreadable: why the word has no documented meaning and was not compared; "" if it has one.
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
        """The verdict: ``"same"``, ``"different"``, or ``"undecided"`` if the elements agree but a question is open."""
        if self.differing:
            return "different"
        return "undecided" if self.open_questions else "same"

    @property
    def ok(self) -> bool:
        """Whether the word is proved to read every element from where the layout stores it."""
        return self.verdict == "same"

    @property
    def open_questions(self) -> tuple[str, ...]:
        """The reasons why the word is not proved although all compared elements agree; () if it is proved."""
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
        """The open questions in one line; the reason of a refusal is in the text below."""
        return self._doubt(str)

    def _doubt(self, name_of: Callable[[str], str]) -> str:
        questions = self.questions(name_of)
        return "; and ".join(split_refusal(text)[0] if text == self.illegal else text for text in questions)

    @property
    def evidence(self) -> str:
        """The evidence for the addresses that the tensor core reads for the word."""
        if self.illegal or (
            self.whole and self.reads is None and _extents_refusal(self.arch, self.element, self.shape)
        ):
            return unread(self.arch)
        values = smem_word(self.arch).decode(self.word)
        return evidence(self.arch, self.element, self.major, absolute=bool(values.get("lbo_mode")))

    @property
    def warnings(self) -> tuple[Remark, ...]:
        """The warnings of ``read_warnings``, and a warning about a pattern that starts with the tile."""
        remarks = read_warnings(self.word, self.arch, self.element, self.major, self.reads or self.shape)
        text = pattern_warning(self.pattern_start, self.swizzle, at_tile=self.pattern_start == self.base)
        return (*remarks, Remark("pattern-start", "", text)) if text else remarks

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions about values that were not passed: the address of the tile, and the extents of an operand."""
        assumed = []
        if self.placement is not None and not self.placement.start_is_open:
            assumed.append(Assumption(f"the tile starts at {self.base:#x} ({{}} checks it)", "base"))
        if self.pattern_assumed:
            pattern = f"a swizzle pattern starts at {self.pattern_start:#x} ({{}} checks it)"
            assumed.append(Assumption(pattern, "pattern_start"))
        if self.whole and not _extents_refusal(self.arch, self.element, self.shape):
            extents = extents_text(self.shape)
            if self.shape in operand_extents(self.arch, self.element, sparse=False):
                assumed.append(Assumption(f"one instruction reads all {extents} ({{}} names what it reads)", "shape"))
            else:
                part = f"{extents} is one operand, of which an instruction reads a part ({{}} names the part)"
                assumed.append(Assumption(part, "shape"))
        elif not self.whole and self.reads is None and self.shape not in self._dense_extents():
            sparse = f"the instruction is sparse, because no dense one reads {extents_text(self.shape)}"
            assumed.append(Assumption(sparse))
        return tuple(assumed)

    def _dense_extents(self) -> frozenset[tuple[int, int]]:
        """Return the extents that dense instructions read; the compared extents if no instruction reads these."""
        read = operand_extents(self.arch, self.element)
        return operand_extents(self.arch, self.element, sparse=False) if self.shape in read else frozenset({self.shape})

    @property
    def start_notes(self) -> tuple[str, ...]:
        """The reason why no implied base was accepted, and the subtile for which the start address is right."""
        if self.placement is None or (self.placement.fits and not self.placement.start_is_open):
            return ()
        notes, start = [], smem_word(self.arch).decode(self.word)["start_address"]
        if not self.placement.fits:
            aligned = f"no tile at a multiple of {self.placement.alignment} bytes"
            notes.append(f"{aligned} has the compared operand, {self.offset} bytes behind its start, at {start:#x}")
        if self.other is not None:
            subtile, base = self.other
            notes.append(f"{start:#x} is the start of subtile {tuple_text(subtile)} of a tile at {base:#x}")
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
    """Compare the addresses that the tensor core reads for a word with a layout, and find the word that reads the
    layout.

    The layout states where the elements are stored. A plain layout without ``swizzle`` is not swizzled; with
    ``swizzle``, the swizzle is applied to its offsets.

    Args:
        word: the 64-bit descriptor.
        layout: a layout with modes (MN, K) and stages, plain or swizzled, or its notation.
        arch: ``"sm90"``, ``"sm100"``, ``"sm103"``, ``"sm107"`` or ``"sm110"``; by default from the version bits.
        dtype: name of the element type.
        major: the contiguous dimension as set in the instruction, ``"K"`` or ``"MN"``.
        shape: extents (MN, K) that one instruction reads, in elements. The default is the whole layout; the headline
            states this assumption. If no instruction reads such an operand or a part of it, the verdict is
            ``"undecided"``.
        subtile: coordinate of the operand in the layout, counted in operands; default: the first.
        base: address of the layout's offset 0, in bytes. The default is the address of the pointer that CuTe printed,
            or else the address that ``place_layout`` assumes: the one that the start address implies if a tile may
            start there, else 0. For an operand at the layout's offset 0, the verdict ``"same"`` then depends on the
            assumption in the headline. For another operand the verdict is ``"undecided"`` unless the implied address
            is 0, because a wrong advance may also imply an aligned address. A start address that implies a negative or
            misaligned address is compared with base 0, and differs.
        pattern_start: an address where the swizzle pattern starts, in bytes; for a swizzled layout a multiple of 128,
            because the base offset counts rows of 128 bytes. The default is 0, because the swizzles of TMA and CuTe
            use absolute addresses. If the tile starts inside the pattern, a word is also right for a pattern that
            starts with the tile, as in ``derive``, and the headline states this.
        unit: the unit of the layout's offsets and swizzle, as in ``explicit.UNITS``.
        swizzle: name of the swizzle mode to apply to a plain layout; a swizzled layout must have this mode.
        alignment: additional alignment of an assumed address of the layout, in bytes.

    Raises:
        NotCanonicalError: if the hardware does not have the swizzle of the layout.
        DescriptorError: if an argument is malformed, or the layout has another swizzle.
        LayoutError: if the notation is wrong.

    >>> difference = diff(1 << 62 | 32 << 32, "S<3,3,3> o 0 o (64,16):(64,1)", arch="sm90", dtype="bf16", major="K")
    >>> difference.differing, *map(str, difference.changes)
    (896, 'stride_byte_offset 512 -> 1024')
    """
    number = as_integer(word, "diff: the word", maximum=2**64 - 1)
    name = architecture(assumed_architecture(number) if arch is None else arch)
    element, contiguous = as_element_type(dtype), as_major(major_of(swizzle, major))
    multiple = as_integer(alignment, "diff: alignment", minimum=1)
    tile, mode = explicit_tile(layout, element, swizzle, as_unit(unit))
    extents, coordinate = as_shape(shape, tile), _subtile(subtile, tile)
    operand, part = _operand(tile, mode, element, extents, coordinate, name)
    values, window = smem_word(name).decode(number), window_bytes(name)
    first = part.first if part else parts(operand)[2] * element.storage_bits // 8
    reads: dict[str, Any] = {"arch": name, "element": element, "major": contiguous}
    readings = [(operand, mode)]
    if swizzle is None and mode is SwizzleMode.NONE and not _has_form(operand, mode, element):
        readings += [reading for reading in swizzled_readings(operand, element) if _has_form(*reading, element)]
    own_mode = readings[-1][1]
    pattern = _pattern_start(0 if pattern_start is None else pattern_start, own_mode, window)
    placement, base = None, base_of(layout) if base is None else base
    if base is None:
        implied = [int(values["start_address"]) - first]
        # One row is sufficient; a layout that is too large is refused below.
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
        right, reason = _right_word(
            [reading for reading, _ in readings], element, contiguous, mode, name, place, pattern
        )
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
        subtile=coordinate,
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
    """Return the reason why a word has no meaning, from the error of the read model."""
    return str(refusal).removeprefix("read_addresses: ").partition(";")[0]


#: The largest number of operands in the search for the one to which a start address belongs.
_MOST_OPERANDS = 1 << 12


def _other_operand(
    tile: Layout | ComposedLayout, element: ElementType, shape: tuple[int, int], start: int,
    placement: Placement | None, lowest: int,
) -> tuple[tuple[int, ...], int] | None:  # fmt: skip
    """Find the operand of a tile that begins at a start address, for a tile at the lowest or an aligned address."""
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
        coordinate: (offset + rest(*coordinate)) * element.storage_bits // 8
        for coordinate in product(*(range(size(mode)) for mode in rest))
    }
    bases = {coordinate: start - first for coordinate, first in begins.items()}
    at_lowest = [coordinate for coordinate, base in bases.items() if base == lowest]
    aligned = [
        coordinate
        for coordinate, base in bases.items()
        if base >= lowest and (base - lowest) % placement.alignment == 0
    ]
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
    """Return whether an operand has the canonical form of a swizzle mode, K-major or MN-major."""
    rows = parts(operand)[0]
    for major in Major:
        try:
            matched_steps(rows, (size(rows[0]), size(rows[1])), element, form(major, mode))
        except LayoutError:
            continue
        return True
    return False


def _unswizzled(address: int, mode: SwizzleMode, pattern_start: int) -> int:
    """Return an address before the swizzle; a swizzle is its own inverse."""
    if mode.swizzle is None:
        return address
    start = pattern_start % mode.period_bytes - mode.period_bytes  # so that the distance is not negative
    return start + int(mode.swizzle(address - start))


def _subtile(subtile: object, tile: Layout | ComposedLayout) -> tuple[int, ...]:
    rank = len(plain(tile))
    if subtile is None:
        return (0,) * rank
    if not isinstance(subtile, (tuple, list)) or len(subtile) != rank:
        raise DescriptorError(f"diff: subtile is {brief(subtile)}, which is not a coordinate of {rank} modes")
    return tuple(as_integer(index, "diff: a coordinate of subtile") for index in subtile)


def _operand(
    tile: Layout | ComposedLayout, mode: SwizzleMode, element: ElementType, shape: tuple[int, int],
    coordinate: tuple[int, ...], arch: Arch,
) -> tuple[Layout | ComposedLayout, CrossingOperand | None]:  # fmt: skip
    """Return the layout of an operand; for operands that cross atoms, the layout of the tile and the part of the
    operand.
    """
    try:
        return operand_of(tile, shape, coordinate), None
    except DescriptorError:
        part = crossing_operand(tile, mode, element, shape, coordinate) if generation(arch) == "sm100" else None
        if part is None:
            raise
    return tile, part


def _right_across(
    part: CrossingOperand, arch: Arch, base: int, pattern_start: int, *, absolute: bool
) -> tuple[Fit | None, str]:
    """Return the word that reads an operand that crosses atoms; None and the reason if there is none."""
    try:
        return Fit(*part.described(arch, base, pattern_start, absolute=absolute), part.tile), ""
    except DescriptorError as error:
        return None, str(error)


def _address(name: str, value: object, window: int) -> int:
    address = as_integer(value, f"diff: {name}", maximum=window - 1)
    if address % 16:
        raise DescriptorError(f"diff: {name} is {address}, which is not a multiple of 16 bytes")
    return address


def _pattern_start(value: object, mode: SwizzleMode, window: int) -> int:
    """Return a pattern start, and check that a descriptor can represent it."""
    address = _address("pattern_start", value, window)
    if mode is not SwizzleMode.NONE and address % LINE_BYTES:
        below = address // LINE_BYTES * LINE_BYTES
        raise DescriptorError(
            f"diff: pattern_start is {address}, which is not a multiple of {LINE_BYTES} bytes, the unit of base_offset",
            proposals=[Advice({"pattern_start": start}) for start in (below, below + LINE_BYTES)],
        )
    return address


def _first_of_runs(layout_rows: Rows, fetched: Rows, major: Major, element: ElementType) -> tuple[Mismatch, ...]:
    """Return the first mismatch of each run: neighbors have the same distance, because 16 bytes are read together."""
    off = [list(map(sub, *pair)) for pair in zip(fetched, layout_rows, strict=True)]
    across: list[list[Any]] = [[None, *row[:-1]] for row in off]
    before = across if major is Major.K else [[None] * len(off[0]), *off[:-1]]
    first = [
        [
            address if distance == previous else address + distance
            for address, distance, previous in zip(*rows, strict=True)
        ]
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
    """Return the word that reads the layout, if possible with the given major; None and the reason if there is none.

    A word with another swizzle mode may read the operand if its swizzle moves no element of it. Each word is verified
    with the swizzle of its mode, so the layout must be compared once more here.

    Args:
        readings: the operand, then other layouts with the same offsets.
    """
    reason, window = "", window_bytes(arch)
    own = stored_rows(readings[0], element, base=base, pattern_start=pattern_start, window=window)
    tries = product(readings, sorted(Major, key=lambda each: each is not major), _modes_from(mode))
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
    """Return all swizzle modes, the given one first."""
    return sorted(SwizzleMode, key=lambda each: each is not mode)


def _refusal(right: Fit | None, arch: Arch, element: ElementType, extents: tuple[int, int] | None) -> str:
    """Return why no instruction reads the operand of the right word; "" if one does, or there is no such word."""
    return operand_refusal(arch, element, right.match.form.major, right.match.form.mode, extents) if right else ""


def _changes(word: int, right: Fit) -> tuple[Change, ...]:
    fields = right.descriptor.word
    own, correct = fields.decode(word), fields.decode(right.descriptor.encode())
    names = [field.name for field in fields.fields if field.name not in right.match.dont_care]
    return tuple(Change(name, own[name], correct[name]) for name in names if own[name] != correct[name])
