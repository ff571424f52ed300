"""A word against a layout: which elements the tensor core reads from elsewhere, and the word that would be right.

The layout is the claim about where the elements lie, the word what the tensor core is told. The word that would be
right is derived from the layout by its canonical form, and proved before it is offered.

Law: whatever the word, the right word reads the layout.

>>> tile = "S<3,3,3> o 0 o (64,16):(64,1)"
>>> found = [diff(1 << 62 | 16 << stride, tile, "sm90", dtype="bf16", major="K") for stride in range(32, 40)]
>>> [one.ok for one in found]
[False, False, True, False, False, False, False, False]
>>> all(diff(one.right_word, tile, "sm90", dtype="bf16", major="K").ok for one in found)
True
"""

from __future__ import annotations

from operator import ne, sub
from typing import Any

from descriptors.errors import DescriptorError, LayoutError, as_integer, brief
from descriptors.smem.debug.candidates import Fit, as_shape, fitted, illegal_because, operand_of
from descriptors.smem.derivation.crossing import CrossingOperand, crossing_operand
from descriptors.smem.operands.explicit import Given, Unit, as_unit, base_of, explicit_tile
from descriptors.smem.operands.operand import (
    ElementType,
    Major,
    MajorName,
    SwizzleMode,
    as_element_type,
    as_major,
)
from descriptors.smem.operands.swizzled import parts, plain
from descriptors.smem.proof.addresses import address_unit, fetched_rows, stored_rows
from descriptors.smem.proof.mismatch import Mismatch, Picture, first_mismatches, picture
from descriptors.smem.proof.read_model import Rows
from descriptors.smem.words.descriptor import Arch, architecture, smem_word, window_bytes
from descriptors.targets import generation
from descriptors.text import Told, counted
from layoutalg import ComposedLayout, Layout
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
        right_word: a word that reads the layout, or None; the word itself if nothing differs. Of several that do, which
            begin elsewhere with another base offset, the one whose base offset says where the pattern starts.
        right_major: the major that it takes.
        changes: the fields in which the right word differs from the word, those that change nothing left out.
        illegal: why no instruction reads such an operand though a word describes it; "" if one does.
        reason: why there is no such word; "" if there is one.
        pattern_start: an address where the swizzle pattern starts, in bytes.
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

    @property
    def ok(self) -> bool:
        """Whether every element is read from where the layout stores it."""
        return not self.differing

    @property
    def headline(self) -> str:
        """The answer in one line."""
        elements = self.shape[0] * self.shape[1]
        if self.ok:
            return f"same: the word reads all {counted(elements, 'element')} from where the layout stores them"
        are = "is" if self.differing == 1 else "are"
        return f"different: {self.differing} of {counted(elements, 'element')} {are} read from elsewhere"


def diff(
    word: int,
    layout: Given,
    arch: Arch = "sm100",
    *,
    dtype: str | ElementType,
    major: Major | MajorName,
    shape: tuple[int, int] | None = None,
    subtile: tuple[int, ...] | None = None,
    base: int | None = None,
    pattern_start: int = 0,
    unit: Unit = "elements",
) -> Diff:
    """Compare what the tensor core reads for a word with a layout, and find the word that reads the layout.

    Args:
        word: the 64-bit descriptor.
        layout: modes (MN, K), further ones are stages: plain, a swizzle after a plain layout, or notation of either.
        arch: ``"sm90"`` or ``"sm100"``.
        dtype: name of the element type.
        major: the contiguous dimension that the instruction is told, ``"K"`` or ``"MN"``.
        shape: extents (MN, K) that one instruction reads, in elements; the whole of both modes if left out.
        subtile: coordinate of the operand in the layout, counted in operands; the first if left out.
        base: address of the layout's offset 0, in bytes. If left out that of the pointer that CuTe printed, if it says
            one; else the layout lies so that the operand's first element, before the swizzle, is where the word
            starts: then no start address is wrong.
        pattern_start: an address where the swizzle pattern starts, in bytes: 0 where the swizzle takes absolute
            addresses, as those of TMA and CuTe do.
        unit: what the layout's offsets and swizzle count, as in ``explicit.UNITS``.

    Raises:
        NotCanonicalError: if the layout has a swizzle that is none of the hardware's.
        DescriptorError: if an argument is malformed, or the word has no meaning.
        LayoutError: if the notation is wrong.

    >>> found = diff(1 << 62 | 32 << 32, "S<3,3,3> o 0 o (64,16):(64,1)", arch="sm90", dtype="bf16", major="K")
    >>> found.differing, *map(str, found.changes)
    (896, 'stride_byte_offset 512 -> 1024')
    """
    name, element, contiguous = architecture(arch), as_element_type(dtype), as_major(major)
    number = as_integer(word, "diff: the word", maximum=2**64 - 1)
    tile, mode = explicit_tile(layout, element, unit=as_unit(unit))
    extents = as_shape(shape, tile)
    operand, part = _operand(tile, mode, element, extents, _subtile(subtile, tile), name)
    base_option, values = base_of(layout) if base is None else base, smem_word(name).decode(number)
    first = part.first if part else parts(operand)[2] * element.storage_bits // 8
    window = window_bytes(name)
    place = _base(base_option, first, operand, values, window)
    pattern = _address("pattern_start", pattern_start, window)
    rows = (
        part.addresses(place, pattern, window)
        if part
        else stored_rows(operand, element, base=place, pattern_start=pattern, window=window)
    )
    fetched = fetched_rows([number], arch=name, element=element, major=contiguous, shape=extents)[0]
    wrong = [list(map(ne, *pair)) for pair in zip(rows, fetched, strict=True)]
    if part:
        right, reason = _right_across(part, name, place, pattern, absolute=bool(values["lbo_mode"]))
    else:
        right, reason = _right_word(operand, element, contiguous, mode, name, place, pattern)
    return Diff(
        word=number,
        arch=name,
        element=element,
        major=contiguous,
        shape=extents,
        layout=operand,
        base=place,
        differing=sum(map(sum, wrong)),
        mismatches=_first_of_runs(rows, fetched, contiguous, element),
        picture=picture(wrong),
        right_word=right.descriptor.encode() if right else None,
        right_major=right.match.form.major if right else None,
        changes=_changes(number, right) if right else (),
        illegal=illegal_because(name, element, right.match.form.major, right.match.form.mode) if right else "",
        reason=reason,
        pattern_start=pattern,
    )


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


def _base(
    base_option: object, first: int, operand: Layout | ComposedLayout, values: dict[str, Any], window: int
) -> int:
    """Address of the layout's offset 0: as given, or so that the operand starts where the word does."""
    if base_option is not None:
        return _address("base", base_option, window)
    base = int(values["start_address"]) - first
    if base < 0:
        raise DescriptorError(
            f"diff: the word must start at {first} or later, the operand's offset in the layout, found "
            f"{values['start_address']}; layout = {operand}"
        )
    return base


def _address(what: str, value: object, window: int) -> int:
    address = as_integer(value, f"diff: {what}", maximum=window - 1)
    if address % 16:
        raise DescriptorError(f"diff: {what} must be a multiple of 16 bytes, found {address}")
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
    operand: Layout | ComposedLayout,
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
    """
    reason, window = "", window_bytes(arch)
    own = stored_rows(operand, element, base=base, pattern_start=pattern_start, window=window)
    for contiguous in sorted(Major, key=lambda one: one is not major):
        for other_mode in sorted(SwizzleMode, key=lambda one: one is not mode):
            try:
                fit = fitted(operand, element, contiguous, other_mode, arch, base=base, pattern_start=pattern_start)
            except LayoutError as error:
                reason = reason or str(error)
                continue
            moved_rows = stored_rows(fit.layout, element, base=base, pattern_start=pattern_start, window=window)
            if moved_rows == own:
                return fit, ""
    return None, reason


def _changes(word: int, right: Fit) -> tuple[Change, ...]:
    fields = right.descriptor.word
    own, correct = fields.decode(word), fields.decode(right.descriptor.encode())
    names = [field.name for field in fields.fields if field.name not in right.match.dont_care]
    return tuple(Change(name, own[name], correct[name]) for name in names if own[name] != correct[name])
