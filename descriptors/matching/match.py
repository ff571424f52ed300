"""The matcher's public door: does a layout, as it stands, have the canonical form that a descriptor can tell?

``canonical.match_form`` works on an operand in 16-byte units; this takes the layout in its own unit, swizzled or not.

Law: a swizzle that the layout brings along and the same one named beside a plain layout make one match.

>>> swizzled = {"32B": "S<1,3,3> o 0 o (64,16):(16,1)", "128B": "S<3,3,3> o 0 o (64,16):(64,1)"}
>>> all(match(text, "bf16") == match(text.split(" o ")[2], "bf16", swizzle=mode) for mode, text in swizzled.items())
True
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.matching.canonical import Match, match_form
from descriptors.matching.forms import form
from descriptors.matching.partition import in_16_bytes, partition
from descriptors.operands.explicit import Given, Unit, as_unit, contiguous_major, explicit_tile
from descriptors.operands.operand import (
    ElementType,
    Major,
    MajorName,
    SwizzleMode,
    SwizzleName,
    as_element_type,
    as_major,
    major_of,
)
from descriptors.operands.swizzled import plain
from layoutalg import size


def match(
    layout: Given,
    dtype: str | ElementType,
    major: Major | MajorName | None = None,
    swizzle: SwizzleMode | SwizzleName | None = None,
    *,
    unit: Unit = "elements",
) -> Match:
    """The canonical form of an operand's layout, with its leading and stride byte offsets.

    Law: LBO and SBO, put into the form, give back the layout.

    Args:
        layout: what one instruction reads, modes (MN, K): plain, or after a swizzle; its notation; or a pair with an
            offset.
        dtype: name of the element type.
        major: ``"K"`` or ``"MN"``; told by the layout if left out.
        swizzle: the swizzle mode; told by the layout if left out.
        unit: what the layout counts: ``"elements"``, ``"bytes"``, or ``"cute"`` for elements with a swizzle on bytes.

    Raises:
        NotCanonicalError: naming the nearest form, the mode that fails, what is expected there and what was found.
        DescriptorError: if it is no layout of two modes, or an argument is unknown.

    Source: as ``canonical``.

    >>> found = match("(64,16):(64,1)", "bf16", "K", "128B")
    >>> print(found.layout, found.leading_byte_offset, found.stride_byte_offset, found.dont_care)
    ((8,8),(1,2)):((8,64),(0,1)) 16 1024 ('leading_byte_offset',)
    """
    element = as_element_type(dtype)
    tile, mode = explicit_tile(layout, element, swizzle, as_unit(unit))
    rows = plain(tile)
    if len(rows) != 2:
        raise DescriptorError(f"canonical: an operand must be a layout of two modes (MN,K), found {tile}")
    said = major_of(swizzle, major)
    contiguous = contiguous_major(rows, element) if said is None else as_major(said)
    whole = partition(rows, (size(rows, mode=[0]), size(rows, mode=[1])))
    wanted = form(contiguous, mode)
    return match_form(plain(in_16_bytes(whole, element, wanted))[0], wanted, element)
