"""List the swizzle modes and majors that fit a layout, and the reasons why the others do not.

A layout has the same meaning everywhere: a plain layout without a swizzle is stored as written; with a swizzle, the
swizzle is applied to its offsets. A candidate with a swizzle is therefore stored differently from the plain layout, and
states its layout (``Fit.layout``). A swizzled layout fits its own mode at most.

Invariant: every candidate that fits was verified: the read model of its word was compared with its layout, element by
element.

>>> from descriptors import diff
>>> fits = [each for each in candidates("(64,16):(16,1)", "bf16", arch="sm90") if each.fit is not None]
>>> [(str(each.major), str(each.swizzle)) for each in fits]
[('K', '32B')]
>>> all(diff(each.fit.descriptor.encode(), each.fit.layout, "sm90", dtype="bf16", major=each.major).ok for each in fits)
True

Invariant: the word of a fit reads the layout of the fit, including the swizzle.

>>> from descriptors.smem.debug.read import read
>>> from descriptors.smem.operands.operand import as_element_type
>>> fit = fitted(Layout((64, 16), (64, 1)), as_element_type("bf16"), Major.K, SwizzleMode.B128, "sm100", base=1024)
>>> addresses = read(fit.descriptor.encode(), dtype="bf16", major="K", shape=(64, 16)).addresses
>>> addresses == tuple(tuple(1024 + 2 * fit.layout(i, k) for k in range(16)) for i in range(64))
True
"""

from __future__ import annotations

from descriptors.errors import DescriptorError, LayoutError, NotCanonicalError, advised
from descriptors.smem.debug.warnings import as_extents
from descriptors.smem.instructions.legality import operand_refusal
from descriptors.smem.operands.canonical import Match
from descriptors.smem.operands.explicit import Given, Unit, as_unit, explicit_tile, swizzled_readings
from descriptors.smem.operands.forms import form
from descriptors.smem.operands.match import matched_steps, partition
from descriptors.smem.operands.operand import (
    LINE_BYTES,
    ElementType,
    Major,
    SwizzleMode,
    SwizzleName,
    as_element_type,
)
from descriptors.smem.operands.swizzled import parts, plain, swizzle_on_elements
from descriptors.smem.proof.addresses import address_unit, fetched_rows, stored_rows
from descriptors.smem.proof.mismatch import first_mismatches
from descriptors.smem.words.descriptor import Arch, SmemDescriptor, architecture, window_bytes
from descriptors.text import tuple_text, word_text
from layoutalg import ComposedLayout, Layout, Swizzle, make_layout, size
from layoutalg.frozen import frozen


@frozen
class Fit:
    """A canonical form that an operand has, and its descriptor.

    Args:
        match: the operand in canonical form.
        descriptor: the descriptor.
        layout: the operand in elements, with the swizzle.
    """

    match: Match
    descriptor: SmemDescriptor
    layout: Layout | ComposedLayout


def fitted(
    operand: Layout | ComposedLayout,
    element: ElementType,
    major: Major,
    mode: SwizzleMode,
    arch: Arch,
    *,
    base: int = 0,
    pattern_start: int = 0,
) -> Fit:
    """Return the descriptor of an operand in one form, after verifying it with the read model.

    Args:
        operand: modes (MN, K) in elements; its swizzle, if it has one, is replaced by that of ``mode``.
        element: the element type.
        major: the contiguous dimension.
        mode: the swizzle mode.
        arch: ``"sm90"`` or ``"sm100"``.
        base: address of the layout's offset 0, in bytes.
        pattern_start: an address where the swizzle pattern starts, in bytes.

    Raises:
        NotCanonicalError: if the operand does not have the form.
        DescriptorError: if no word of this architecture reads it.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> fit = fitted(Layout((64, 16), (64, 1)), as_element_type("bf16"), Major.K, SwizzleMode.B128, "sm100")
    >>> print(fit.layout, hex(fit.descriptor.encode()))
    S<3,3,3> o 0 o (64,16):(64,1) 0x4000404000010000
    """
    rows, _, offset = parts(operand)
    canonical = form(major, mode)
    shape = (size(rows, mode=[0]), size(rows, mode=[1]))
    steps = matched_steps(rows, shape, element, canonical).match
    layout: Layout | ComposedLayout = rows
    if offset or mode is not SwizzleMode.NONE:
        layout = ComposedLayout(swizzle_on_elements(mode, element), offset, rows)
    shifted = pattern_start % mode.alignment_bytes
    descriptor = SmemDescriptor(
        arch,
        steps.leading_byte_offset,
        steps.stride_byte_offset,
        mode,
        start_address=base + offset * element.storage_bits // 8,
        base_offset=0 if mode is SwizzleMode.NONE else shifted // LINE_BYTES % 8,
    )
    stored_at = stored_rows(layout, element, base=base, pattern_start=pattern_start, window=window_bytes(arch))
    fetched = fetched_rows([descriptor.encode()], arch=arch, element=element, major=major, shape=shape)[0]
    if stored_at != fetched:
        wrong = first_mismatches(stored_at, fetched, unit=address_unit(element), most=1)[0]
        raise DescriptorError(
            f"canonical: the word does not read the layout, {wrong}; layout = {layout}, form = {canonical}"
        )
    return Fit(steps, descriptor, layout)


def operand_of(
    tile: Layout | ComposedLayout, shape: tuple[int, int], subtile: tuple[int, ...]
) -> Layout | ComposedLayout:
    """Return the operand of a subtile of a tile, as a layout with modes (MN, K).

    Args:
        tile: modes (MN, K, stages...), plain or a swizzle after a plain layout.
        shape: extents (MN, K) of an operand, in elements.
        subtile: coordinate (mn, k, stages...) among the operands.

    Raises:
        DescriptorError: if the shape does not divide the tile, or there is no such subtile.

    >>> print(operand_of(Layout((128, 64), (64, 1)), (64, 16), (1, 2)))
    S<0,4,3> o 4128 o (64,16):(64,1)
    """
    rows, swizzle, offset = parts(tile)
    operand, rest = partition(rows, shape)
    extents = tuple(size(mode) for mode in rest)
    if len(subtile) != len(extents) or not all(0 <= at < extent for at, extent in zip(subtile, extents, strict=True)):
        raise DescriptorError(
            f"operand: subtile {tuple_text(subtile)} is not one of the {tuple_text(extents)} subtiles; tile = {tile}"
        )
    start, modes = offset + rest(*subtile), make_layout(*operand)
    if swizzle is None and not start:
        return modes
    return ComposedLayout(swizzle or Swizzle(0, 4, 3), start, modes)  # S<0,4,3>: none, as CuTe writes it


def as_shape(shape: object, tile: Layout | ComposedLayout) -> tuple[int, int]:
    """Return the extents (MN, K) of an operand: ``shape``, or by default the first two extents of the tile.

    Raises:
        DescriptorError: if the tile has fewer than two modes, or the shape is not two extents.

    >>> as_shape(None, Layout(((8, 8), 16), ((64, 512), 1)))
    (64, 16)
    """
    rows = plain(tile)
    if not isinstance(rows.shape, tuple) or len(rows) < 2:
        raise DescriptorError(f"operand: the layout {tile} does not have the modes (MN, K, ...)")
    if shape is None:
        return size(rows, mode=[0]), size(rows, mode=[1])
    return as_extents(shape, "operand: a shape", "operand: an extent")


@frozen
class Candidate:
    """A major and a swizzle mode, and whether a layout fits it.

    Args:
        major: the contiguous dimension.
        swizzle: the swizzle mode.
        fit: the form and its descriptor, or None.
        reason: why the layout does not fit; "" if it does.
        illegal: why no instruction reads such an operand although the layout fits; "" if one does.
        applied: whether the candidate applies its swizzle to a plain layout, which changes where elements are stored.
        summary: the reason in rows, columns and bytes, without layouts; "" if there is no shorter reason.
    """

    major: Major
    swizzle: SwizzleMode
    fit: Fit | None
    reason: str
    illegal: str
    applied: bool = False
    summary: str = ""

    @property
    def usable(self) -> bool:
        """Whether the layout fits and an instruction reads it."""
        return self.fit is not None and not self.illegal

    def __str__(self) -> str:
        name = f"{self.major}-major {self.swizzle}"
        if self.fit is None:
            return f"{name}: no; {self.summary or self.reason}"
        descriptor = self.fit.descriptor
        offsets = f"LBO {descriptor.leading_byte_offset}, SBO {descriptor.stride_byte_offset}"
        verdict = f"fits, but {self.illegal}" if self.illegal else "fits"
        stored = f"{'if ' if self.applied else ''}stored as {self.fit.layout}"
        return f"{name}: {verdict}; {offsets}, word {word_text(descriptor.encode())}, {stored}"


@advised
def candidates(
    layout: Given,
    dtype: str | ElementType,
    *,
    shape: tuple[int, int] | None = None,
    arch: Arch = "sm100",
    unit: Unit = "elements",
    swizzle: SwizzleMode | SwizzleName | None = None,
) -> tuple[Candidate, ...]:
    """Try every major and swizzle mode on a layout.

    Invariant: with ``swizzle``, the candidates that fit have the words of ``derive``, and ``diff`` confirms them;
    without, this holds for the candidates that are not ``applied``.

    Args:
        layout: modes (MN, K, stages...): a plain layout, a swizzle after a plain layout, or the notation of either.
        dtype: name of the element type.
        shape: extents (MN, K) that one instruction reads, in elements; the default is the whole of both modes.
        arch: ``"sm90"``, ``"sm100"``, ``"sm103"``, ``"sm107"`` or ``"sm110"``.
        unit: unit of the layout's offsets and swizzle, as in ``explicit.UNITS``.
        swizzle: the swizzle mode to apply to a plain layout; None to try each mode.

    Returns:
        a candidate for each major and mode: those that fit first, and among these the ones that store the layout as
        written.

    Raises:
        NotCanonicalError: if the hardware does not have the layout's swizzle.
        DescriptorError: if an argument is malformed, or the shape does not divide the layout.
        LayoutError: if the notation is wrong.

    >>> for candidate in candidates("(64,16):(64,1)", "bf16", arch="sm90")[:2]:
    ...     print(candidate)  # doctest: +ELLIPSIS
    K-major 128B: fits; LBO 16, SBO 1024, word 0x4000004000010000, if stored as S<3,3,3> o 0 o (64,16):(64,1)
    K-major none: no; row 1 of MN begins 128 bytes after row 0, where a layout without swizzle has 16 bytes
    """
    name, element = architecture(arch), as_element_type(dtype)
    tile, own = explicit_tile(layout, element, swizzle, as_unit(unit))
    own_mode = None if swizzle is None and parts(tile)[1] is None else own
    operand = operand_of(tile, as_shape(shape, tile), (0,) * len(plain(tile)))
    extents = None if shape is None else as_shape(shape, tile)
    folded = {mode: reading for reading, mode in swizzled_readings(operand, element)} if own_mode is None else {}
    tries = []
    for major in Major:
        for mode in SwizzleMode:
            fit, applied, summary = None, False, ""
            reason = _other_swizzle(operand, own_mode, major, mode)
            if reason:
                summary = f"the layout has swizzle {own_mode}"
            # A swizzle that is part of the strides of a plain layout is stored as written; otherwise it is applied.
            for reading in () if reason and own_mode is not None else (folded.get(mode), operand):
                try:
                    fit = None if reading is None else fitted(reading, element, major, mode, name)
                except LayoutError as error:
                    reason, summary = str(error), ""
                    if isinstance(error, NotCanonicalError):
                        summary = "; ".join(filter(None, [error.why, error.way_out]))
                if fit:
                    applied = reading is operand and own_mode is None and mode is not SwizzleMode.NONE
                    break
            illegal = operand_refusal(name, element, major, mode, extents) if fit else ""
            if fit:
                reason = summary = ""
            tries.append(Candidate(major, mode, fit, reason, illegal, applied, summary))
    return tuple(sorted(tries, key=lambda each: (each.fit is None, not each.usable, each.applied)))


def _other_swizzle(operand: Layout | ComposedLayout, own: SwizzleMode | None, major: Major, mode: SwizzleMode) -> str:
    """Return why the swizzle of a layout excludes a mode; "" for a plain layout, for which any is possible."""
    if own is None or own is mode:
        return ""
    return str(
        NotCanonicalError(
            form=f"{major}-major {mode}", mode=None, expected=str(mode), found=str(own), layout=str(operand)
        )
    )
