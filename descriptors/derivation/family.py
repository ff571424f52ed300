"""The family of a tile: every tile of the same atoms, instruction and order, of any size, proved at once.

The extents are ``a*m`` and ``b*k``, with a and b the least numbers of whole atoms and whole operands, and the stages
``s``. What is proved are the closed forms of ``symbolic``; a tile is of the family if its extents are such multiples
and the closed forms, with its numbers, are the offsets of its descriptor.

Law: a family's offsets, for the numbers of a tile, are those that ``derive`` gives it.

>>> from descriptors import derive
>>> for tile in ((64, 64), (128, 192), (64, 64, 3)):
...     d = derive(tile, "bf16", "K", "128B", (64, 16), verify=False)
...     print(" x ".join(family_of(d)))
64*m x 64*k
64*m x 64*k
64*m x 64*k x s
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import lcm
from typing import Any, NamedTuple

from descriptors.derivation.basis import verdict_for_all
from descriptors.derivation.parts.crossing import is_48_bytes_of_k
from descriptors.derivation.parts.derivation import Derivation
from descriptors.derivation.symbolic import derive_symbolic
from descriptors.errors import DescriptorError
from descriptors.matching.forms import LEADING, STRIDE
from descriptors.operands.atoms import atom_in_elements
from descriptors.operands.operand import ELEMENT_TYPES, ElementType, Major, SwizzleMode
from descriptors.operands.swizzled import plain
from descriptors.words.descriptor import Arch
from layoutalg import ComposedLayout, Layout, LayoutError, size, substitute, symbol, symbols_of

#: The symbols of a family, as its extents have them.
_NAMES = "mks"


class Family(NamedTuple):
    """A proved family.

    Args:
        tile: the extents, as they are written.
        unit: what those of MN and K are multiples of, in elements.
        atom: the atom that its tiles are made of, in elements.
        offsets: LBO and SBO in bytes, as a function of the numbers m, k and s.
    """

    tile: tuple[str, ...]
    unit: tuple[int, int]
    atom: Layout | ComposedLayout
    offsets: Callable[[tuple[int, ...]], tuple[int, int]]


def family_of(d: Derivation) -> tuple[str, ...]:
    """The extents of the family that a tile is of, if that is proved; () of a tile that is not, or is of none.

    Law: whatever the numbers m, k and s, the words of such a tile read it, as far as their fields can hold them.

    >>> from descriptors import derive
    >>> family_of(derive(layout="S<3,3,3> o 0 o (64,64):(64,1)", dtype="bf16", mma=(64, 16)))
    ()
    """
    if not d.order:
        return ()
    found = _family(d.element.name, d.major is Major.K, d.swizzle.value, d.mma, d.order, d.arch)
    if found is None or (found.atom is not d.atom and found.atom != d.atom):
        return ()
    (a, b), (mn, k, *stages) = found.unit, d.tile
    if mn % a or k % b:
        return ()
    leading, stride = found.offsets((mn // a, k // b, *stages))
    told = d.descriptor
    right = (leading, stride) == (told.leading_byte_offset, told.stride_byte_offset)
    return found.tile if right or _right_where_read(d, leading, stride) else ()


def why_alone(d: Derivation) -> str:
    """Why a tile is of no proved family, in words.

    >>> from descriptors import derive
    >>> why_alone(derive(layout="S<3,3,3> o 0 o (64,64):(64,1)", dtype="bf16", mma=(64, 16)))
    'an explicit layout does not say how it grows'
    """
    if not d.order:
        return "an explicit layout does not say how it grows"
    if d.atom != atom_in_elements(d.major, d.swizzle, d.element):
        return "closed forms are of the canonical atom of a mode, and this is another"
    return "its words are those of no closed form that is proved for every size"


def _right_where_read(d: Derivation, leading: int, stride: int) -> bool:
    """Whether the offsets of a derivation that somebody reads are these."""
    read = d.descriptor
    return all(
        name in d.dont_care or mine == theirs
        for name, mine, theirs in (
            (LEADING, leading, read.leading_byte_offset),
            (STRIDE, stride, read.stride_byte_offset),
        )
    )


@lru_cache(maxsize=1 << 7)
def _family(
    dtype: str, is_k: bool, mode: str, mma: tuple[int, int], order: tuple[int, ...], arch: Arch
) -> Family | None:
    """The family, proved; None where there is none, or it is not decided."""
    major, swizzle, element = (Major.K if is_k else Major.MN), SwizzleMode(mode), ELEMENT_TYPES[dtype]
    try:
        atom = atom_in_elements(major, swizzle, element)
        a, b = (lcm(size(extent), part) for extent, part in zip(plain(atom), mma, strict=True))
        tile = (a * symbol("m"), b * symbol("k"), symbol("s"))[: len(order)]
        if is_48_bytes_of_k(element, major, swizzle, mma):
            offsets = _of_columns(tile, element, mma, order)
        else:
            made = derive_symbolic(tile, dtype, major, swizzle, mma, order, arch, legality="off")
            offsets = (made.leading_byte_offset, made.stride_byte_offset) if verdict_for_all(made) else None
    except (DescriptorError, LayoutError):
        return None
    if offsets is None:
        return None
    leading, stride = map(_formula, offsets)
    return Family(tuple(map(str, tile)), (a, b), atom, lambda numbers: (leading(numbers), stride(numbers)))


def _of_columns(
    tile: tuple[Any, ...], element: ElementType, mma: tuple[int, int], order: tuple[int, ...]
) -> tuple[Any, Any] | None:
    """LBO, the line that the first operand lies in, and SBO of operands that cross atoms, if they are proved."""
    from descriptors.derivation.columns_for_all import columns_for_all, hold_for_all  # of K = 96 alone

    stored, cut = columns_for_all(tile, element, mma, order)
    return (0, cut.match.stride_byte_offset) if cut and hold_for_all(stored, cut, element, mma) else None


def _formula(value: Any) -> Callable[[tuple[int, ...]], int]:
    """An offset as a function of m, k and s; it is asked for few numbers, and often for the same."""
    if type(value) is int:
        return lambda numbers: value
    names = symbols_of(value)
    places = [_NAMES.index(name) for name in names]

    @lru_cache(maxsize=1 << 8)
    def known(*given: int) -> int:
        found: int = substitute(value, dict(zip(names, given, strict=True)))
        return found

    return lambda numbers: known(*[numbers[i] for i in places])
