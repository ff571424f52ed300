"""Which swizzle modes and majors fit a layout, and why each of the others does not.

A plain layout says where elements lie before a swizzle, so that any mode may fit whose rows are as the layout has them;
a swizzled layout fits its own mode at most. Law: every candidate that fits was proved, its word read by the read model
against the layout with that mode's swizzle, element by element.

>>> from descriptors import diff
>>> fits = [one for one in candidates("(64,16):(16,1)", "bf16", arch="sm90") if one.fit is not None]
>>> [(str(one.major), str(one.swizzle)) for one in fits]
[('K', '32B')]
>>> all(diff(one.fit.descriptor.encode(), one.fit.layout, "sm90", dtype="bf16", major=one.major).ok for one in fits)
True
"""

from __future__ import annotations

from descriptors.debug.fit import Fit, as_shape, fitted, illegal_because, operand_of
from descriptors.errors import LayoutError, NotCanonicalError
from descriptors.frozen import frozen
from descriptors.operands.explicit import Given, Unit, as_unit, explicit_tile
from descriptors.operands.operand import ElementType, Major, SwizzleMode, as_element_type
from descriptors.operands.swizzled import parts, plain
from descriptors.text import word_text
from descriptors.words.descriptor import Arch, architecture
from layoutalg import ComposedLayout, Layout


@frozen
class Candidate:
    """A major and a swizzle mode, and whether a layout fits it.

    Args:
        major: the contiguous dimension.
        swizzle: the swizzle mode.
        fit: the form and its descriptor, or None.
        reason: why the layout does not fit; "" if it does.
        illegal: why no instruction reads such an operand though the layout fits; "" if one does.
    """

    major: Major
    swizzle: SwizzleMode
    fit: Fit | None
    reason: str
    illegal: str

    @property
    def usable(self) -> bool:
        """Whether the layout fits and an instruction reads it."""
        return self.fit is not None and not self.illegal

    def __str__(self) -> str:
        name = f"{self.major}-major {self.swizzle}"
        if self.fit is None:
            return f"{name}: no; {self.reason}"
        descriptor = self.fit.descriptor
        offsets = f"LBO {descriptor.leading_byte_offset}, SBO {descriptor.stride_byte_offset}"
        verdict = f"fits, but no instruction reads it ({self.illegal})" if self.illegal else "fits"
        return f"{name}: {verdict}; {offsets}, word {word_text(descriptor.encode())}"


def candidates(
    layout: Given,
    dtype: str | ElementType,
    *,
    shape: tuple[int, int] | None = None,
    arch: Arch = "sm100",
    unit: Unit = "elements",
) -> tuple[Candidate, ...]:
    """Try every major and swizzle mode on a layout.

    Args:
        layout: modes (MN, K), further ones are stages; plain, a swizzle after a plain one, or notation of either.
        dtype: name of the element type.
        shape: extents (MN, K) that one instruction reads, in elements; the whole of both modes if left out.
        arch: ``"sm90"`` or ``"sm100"``.
        unit: what the layout's offsets and swizzle count, as in ``explicit.UNITS``.

    Returns:
        A candidate for each major and mode, those that fit first.

    Raises:
        NotCanonicalError: if the layout has a swizzle that is none of the hardware's.
        DescriptorError: if an argument is malformed, or the shape does not divide the layout.
        LayoutError: if the notation is wrong.

    >>> for candidate in candidates("(64,16):(64,1)", "bf16", arch="sm90")[:2]:
    ...     print(candidate)  # doctest: +ELLIPSIS
    K-major 128B: fits; LBO 16, SBO 1024, word 0x4000004000010000
    K-major none: no; canonical: row 1 of MN must begin 16 bytes after row 0, ..., found 128 bytes; ...
    """
    name, element = architecture(arch), as_element_type(dtype)
    tile, own = explicit_tile(layout, element, unit=as_unit(unit))
    given = None if parts(tile)[1] is None else own
    operand = operand_of(tile, as_shape(shape, tile), (0,) * len(plain(tile)))
    found = []
    for major in Major:
        for mode in SwizzleMode:
            fit, reason = None, _other_swizzle(operand, given, major, mode)
            if not reason:
                try:
                    fit = fitted(operand, element, major, mode, name)
                except LayoutError as error:
                    reason = str(error)
            found.append(
                Candidate(major, mode, fit, reason, illegal_because(name, element, major, mode) if fit else "")
            )
    return tuple(sorted(found, key=lambda candidate: (candidate.fit is None, not candidate.usable)))


def _other_swizzle(operand: Layout | ComposedLayout, own: SwizzleMode | None, major: Major, mode: SwizzleMode) -> str:
    """Why the swizzle that a layout has rules a mode out; "" for a plain layout, which any swizzle may follow."""
    if own is None or own is mode:
        return ""
    return str(
        NotCanonicalError(
            form=f"{major}-major {mode}", mode=None, expected=str(mode), found=str(own), layout=str(operand)
        )
    )
