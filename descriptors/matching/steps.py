"""Where rows and columns of an operand must begin, in words: for those who wrote them.

A row is one index along MN, a column one along K, whichever of them is contiguous. The canonical forms count 16-byte
units; here they are elements again, and the distances bytes.

Law: a mode whose steps are all one step has no break, and any other has one at the first index that lies elsewhere.

>>> from layoutalg import parse_layout, size
>>> for text in ("(4,2):(8,32)", "(4,2):(8,64)", "(2,3,4):(1,2,9)"):
...     mode = parse_layout(text)
...     at, step, found = first_break(mode)
...     apart = [i for i in range(size(mode)) if mode(i) != i * mode(1)]
...     assert apart[:1] == ([at] if found != at * step else []) and (not apart or mode(at) == found), text
"""

from __future__ import annotations

from typing import Any

from descriptors.frozen import frozen
from descriptors.operands.operand import ElementType, Major
from descriptors.text import bits_text, counted
from layoutalg import Layout, coalesce, flatten

#: Bytes of the unit that the canonical forms count in.
UNIT_BYTES = 16


@frozen
class Axis:
    """A dimension of an operand as the user counts it.

    Args:
        noun: what one index is called.
        dimension: ``"MN"`` or ``"K"``.
        per: how many of them one coordinate of the canonical form is.

    >>> rows = Axis("row", "MN", 1)
    >>> Axis("column", "K", 8).named(1), rows.named(0, 8), rows.named(4)
    ('columns 8 to 15', 'rows 0 to 7', 'row 4')
    """

    noun: str
    dimension: str
    per: int

    def named(self, first: Any, many: int = 1) -> str:
        """Coordinates from one on, by name; ``first`` may hold symbols."""
        start, count = first * self.per, many * self.per
        return f"{self.noun} {start}" if count == 1 else f"{self.noun}s {start} to {start + count - 1}"

    def counted(self, many: Any) -> str:
        """So many coordinates.

        >>> Axis("column", "K", 8).counted(2)
        '16 columns'
        """
        return counted(many * self.per, self.noun)


def axis_of(mode: int, major: Major, element: ElementType | None) -> Axis:
    """What a mode of an operand in 16-byte units counts; without the element type, pieces along the contiguous one.

    >>> axis_of(1, Major.K, None)
    Axis(noun='16-byte piece', dimension='K', per=1)
    """
    noun, dimension = ("column", "K") if mode else ("row", "MN")
    if mode != major.contiguous_mode:
        return Axis(noun, dimension, 1)
    return Axis(noun, dimension, element.per_16_bytes) if element else Axis("16-byte piece", dimension, 1)


def first_break(mode: Layout, step: Any = None) -> tuple[Any, Any, Any]:
    """The first index of a mode that does not lie where one step repeated has it: (index, step, its offset).

    Args:
        mode: a mode of a layout.
        step: the step; that from index 0 to 1 if left out.

    Of a mode without a break it is the end of the first run, or index 1 with another step than the one asked for.

    >>> from layoutalg import parse_layout
    >>> first_break(parse_layout("(4,2):(8,64)")), first_break(parse_layout("8:4"), 8)
    ((4, 8, 64), (1, 8, 4))
    """
    first, *others = flatten(coalesce(mode))
    step = first.stride if step is None else step
    if first.stride != step or not others:
        return 1, step, first.stride
    return first.shape, step, others[0].stride


def bytes_text(units: Any, bits: int = 128) -> str:
    """A distance in bytes, counted in a unit of some bits; symbols in it are left as they stand.

    >>> bytes_text(64), bytes_text(3, 4), bytes_text(2, 4)
    ('1024 bytes', '12 bits', '1 byte')
    """
    return bits_text(units * bits) if bits % 8 else counted(units * (bits // 8), "byte")


def begins(axis: Axis, many: int, at: Any, must: Any, found: Any, reason: str, bits: int = 128) -> str:
    """Where a part of an operand must begin, and where it does.

    Args:
        axis: the dimension.
        many: coordinates that a part has.
        at: number of the part.
        must: what must lie between it and the first one, in a unit of so many bits.
        found: what does.
        reason: why it must.
        bits: of the unit.

    >>> begins(Axis("row", "MN", 1), 8, 2, 128, 256, "as one field holds the step")
    'rows 16 to 23 of MN must begin 2048 bytes after rows 0 to 7, as one field holds the step, found 4096 bytes'
    """
    part, first = axis.named(at * many, many), axis.named(0, many)
    distance, other = bytes_text(must, bits), bytes_text(found, bits)
    return f"{part} of {axis.dimension} must begin {distance} after {first}, {reason}, found {other}"
