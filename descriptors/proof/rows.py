"""The two sides of a proof as rows of plain integers: where a layout stores the elements, and where a word reads them.

The same numbers as those of :mod:`descriptors.proof.addresses`, as nested lists. They are computed with numpy where that
is loaded already, or where the operand is so large that loading it pays; in plain Python else, so that a proof of an
ordinary tile loads no numpy and needs none.

Law: whichever computes them, the rows are the same.

>>> from descriptors.operands.operand import as_element_type
>>> from descriptors.proof.addresses import stored_addresses
>>> from layoutalg import Swizzle
>>> tile, bf16 = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((64, 64), (64, 1))), as_element_type("bf16")
>>> stored_rows(tile, bf16) == plain_stored(tile, bf16) == stored_addresses(tile, bf16).tolist()
True
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from descriptors.operands.operand import ElementType, Major
from descriptors.proof.addresses import address_bits, fetched_addresses, placed, stored_addresses
from descriptors.proof.read_rows import Rows, read_rows
from layoutalg import ComposedLayout, Layout, offset_table, size

#: Elements from which on it is quicker to import numpy than to do without.
MANY = 1 << 16


def arrays_pay(elements: int) -> bool:
    """Whether so many elements are better compared with numpy: it is here, and loaded already or worth it.

    >>> arrays_pay(64) == ("numpy" in sys.modules)
    True
    """
    if "numpy" in sys.modules:
        return sys.modules["numpy"] is not None
    return elements > MANY and find_spec("numpy") is not None


def stored_rows(
    layout: Layout | ComposedLayout, element: ElementType, *, base: int = 0, pattern_start: int = 0
) -> Any:
    """The address of every element of a layout: ``stored_addresses`` as nested lists, its arguments and its errors.

    >>> from descriptors.operands.operand import as_element_type
    >>> stored_rows(Layout((2, 4), (64, 1)), as_element_type("bf16"), base=0x400)
    [[1024, 1026, 1028, 1030], [1152, 1154, 1156, 1158]]
    """
    if arrays_pay(size(layout)):
        return stored_addresses(layout, element, base=base, pattern_start=pattern_start).tolist()
    return plain_stored(layout, element, base=base, pattern_start=pattern_start)


def fetched_rows(
    words: Sequence[int], *, arch: str, element: ElementType, major: Major, shape: tuple[int, int]
) -> list[Rows]:
    """The addresses from which each word reads: ``fetched_addresses`` as nested lists, its arguments and its errors.

    >>> from descriptors.operands.operand import as_element_type
    >>> told = {"arch": "sm90", "element": as_element_type("bf16"), "major": Major.K}
    >>> fetched_rows([1 << 62, 1 << 62 | 2], **told, shape=(8, 16))[1][1][:2]
    [176, 178]
    """
    if arrays_pay(len(words) * shape[0] * shape[1]):
        return list(fetched_addresses(words, arch=arch, element=element, major=major, shape=shape).tolist())
    return plain_fetched(words, arch=arch, element=element, major=major, shape=shape)


def plain_stored(
    layout: Layout | ComposedLayout, element: ElementType, *, base: int = 0, pattern_start: int = 0
) -> Any:
    """``stored_rows`` in plain Python, whatever the size."""
    shifted, scale, added = placed(layout, element, base, pattern_start)
    return _scaled(offset_table(shifted), scale, added)


def plain_fetched(
    words: Sequence[int], *, arch: str, element: ElementType, major: Major, shape: tuple[int, int]
) -> list[Rows]:
    """``fetched_rows`` in plain Python, whatever the size."""
    return read_rows(words, arch, dtype=element, major=major, shape=shape, in_bits=address_bits(element) == 1)


def _scaled(table: Any, scale: int, added: int) -> Any:
    if table and isinstance(table[0], list):
        return [_scaled(row, scale, added) for row in table]
    return [one * scale + added for one in table]
