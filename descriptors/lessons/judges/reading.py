"""What a student typed, as a value of the algebra.

Law: what is read is written as it was.

>>> print(layout_of("(4,8):(8,1)"))
(4,8):(8,1)
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from layoutalg import ComposedLayout, Layout, Swizzle, evaluate, parse_int_tuple, size


def layout_of(text: str) -> Layout | ComposedLayout:
    """A layout.

    Raises:
        DescriptorError: if it is something else.
        LayoutError: if it cannot be read.
    """
    value = evaluate(text)
    if not isinstance(value, (Layout, ComposedLayout)):
        raise DescriptorError(f"answer: it must be a layout, as (4,8):(8,1), found {text}")
    return value


def swizzle_of(text: str) -> Swizzle:
    """A swizzle; it raises as :func:`layout_of` does.

    >>> print(swizzle_of("S<3,4,3>"))
    S<3,4,3>
    """
    value = evaluate(text)
    if not isinstance(value, Swizzle):
        raise DescriptorError(f"answer: it must be a swizzle, as S<3,4,3>, found {text}")
    return value


def numbers_of(text: str, count: int) -> tuple[int, ...] | str:
    """As many integers as are asked for, with commas between; else what is wrong with them.

    Raises:
        LayoutError: if they cannot be read.

    >>> numbers_of("3, 4", 2), numbers_of("3", 2)
    ((3, 4), 'has 1 numbers, must have 2')
    """
    typed = text.strip().replace("[", "(").replace("]", ")").rstrip(",")
    read = parse_int_tuple(typed if typed.startswith("(") else f"({typed})")
    mine = read if isinstance(read, tuple) else (read,)
    if len(mine) != count:
        return f"has {len(mine)} numbers, must have {count}"
    whole = [one for one in mine if isinstance(one, int)]
    return tuple(whole) if len(whole) == count else f"must be numbers with commas between, found {text[:40]}"


def counts_of(layout: Layout | ComposedLayout) -> tuple[int, ...]:
    """How many coordinates each mode has.

    Raises:
        DescriptorError: if an extent is a symbol.

    >>> counts_of(layout_of("((2,4),(2,4)):((1,4),(2,16))"))
    (8, 8)
    """
    shape = layout.shape
    return tuple(_number(size(mode), layout) for mode in (shape if isinstance(shape, tuple) else (shape,)))


def offset_of(layout: Layout | ComposedLayout, *coordinate: int) -> int:
    """What a layout gives at a coordinate or an index.

    Raises:
        DescriptorError: if it is no number, but a coordinate or a symbol.

    >>> offset_of(layout_of("(4,8):(8,1)"), 2, 3)
    19
    """
    return _number(layout(*coordinate), layout)


def _number(value: object, layout: Layout | ComposedLayout) -> int:
    if type(value) is not int:
        raise DescriptorError(f"answer: a layout must be of numbers, found {value} in {layout}")
    return value
