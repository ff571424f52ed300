"""Tables over the subtiles of a tile, nested as its modes are: numbers for each subtile, and the sums they come from.

Law: a table of sums has at every place the sum of one step of each mode.

>>> table = sums([[0, 8], [0, 1, 2]], 100)
>>> all(table[i][j] == 100 + 8 * i + j for i in range(2) for j in range(3))
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from math import prod
from typing import Any, NamedTuple, TypeAlias

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.text import tuple_text
from layoutalg import ComposedLayout, Layout, size

#: A number for each subtile: ``grid[mn][k]``.
Grid: TypeAlias = tuple[tuple[int, ...], ...]

#: The most subtiles that a table lists; a tile in shared memory has fewer.
MOST_SUBTILES = 1 << 18

#: A nested table, of a tile with any number of stages: a number, or a tuple of tables.
Table: TypeAlias = int | tuple["Table", ...]


def stage_bytes(modes: Sequence[Layout | ComposedLayout], stage: int | Sequence[int]) -> int:
    """Where a stage starts, in bytes; its number counts along the modes, the first fastest.

    Args:
        modes: of the advance, those of the stages.
        stage: its number, or its coordinate.

    Raises:
        DescriptorError: if there is no such stage.

    >>> stage_bytes([Layout(2, 64), Layout(3, 256)], 3), stage_bytes([Layout(2, 64), Layout(3, 256)], (1, 1))
    (5120, 5120)
    """
    coordinate = isinstance(stage, (tuple, list))
    at = [as_integer(one, "derive: a stage") for one in (stage if isinstance(stage, (tuple, list)) else (stage,))]
    each = [size(mode) for mode in modes]
    extents = each if coordinate else [prod(each)]
    if not modes or len(at) != len(extents) or not all(one < extent for one, extent in zip(at, extents, strict=True)):
        found = f"{brief(stage)}; stages = {tuple_text(each)}"
        raise DescriptorError(f"derive: a stage must be one of the tile's, found {found}")
    where = at
    if not coordinate:
        number, where = at[0], []
        for extent in each:
            where.append(number % extent)
            number //= extent
    return sum(16 * mode(one) for mode, one in zip(modes, where, strict=True))


def sums(steps: Sequence[Sequence[int]], start: int) -> Table:
    """A table of the sums of one step of each mode, the first mode outermost."""
    found: Any = [start]
    for mode in steps:
        if len(mode) != 1 or mode[0]:
            found = [one + step for one in found for step in mode]
    for mode in reversed(steps[1:]):  # so many at a time are a row
        found = zip(*[iter(found)] * len(mode), strict=True)
    return tuple(found) if steps else start


class Offsets(NamedTuple):
    """Every offset of a mode, the least of them and the greatest; none of a mode that has more than a table lists."""

    listed: tuple[int, ...]
    lowest: int
    highest: int


@lru_cache(maxsize=1 << 10)
def offsets_of(shape: Any, stride: Any) -> Offsets:
    """Every offset of a mode of a layout, by its extents and strides.

    Law: they are the values of the layout, which takes longer to ask one by one.

    >>> offsets_of((4, 2), (2, 1024)).listed == tuple(map(Layout((4, 2), (2, 1024)), range(8)))
    True
    """
    found: list[int] = [0]
    for n, d in zip(shape, stride, strict=True) if type(shape) is tuple else ((shape, stride),):
        if type(n) is not tuple and n * len(found) > MOST_SUBTILES:
            return Offsets((), 0, 0)
        steps = offsets_of(n, d).listed if type(n) is tuple else [x * d for x in range(n)]
        found = [one + step for step in steps for one in found]
    return Offsets(tuple(found), min(found), max(found)) if 0 < len(found) <= MOST_SUBTILES else Offsets((), 0, 0)


def mapped(function: Callable[..., int], *tables: Table) -> Table:
    """A table of what a function gives for the numbers at the same place of tables of one form.

    >>> mapped(lambda a, b: a + b, ((1, 2), (3, 4)), ((10, 20), (30, 40)))
    ((11, 22), (33, 44))
    """
    if isinstance(tables[0], int):
        return function(*tables)
    rows = [table for table in tables if isinstance(table, tuple)]
    return tuple(mapped(function, *row) for row in zip(*rows, strict=True))


def numbers(table: Table) -> list[int]:
    """The numbers of a table, in order.

    >>> numbers(((1, 2), (3, 4)))
    [1, 2, 3, 4]
    """
    found: list[Any] = [table]
    while found and isinstance(found[0], tuple):  # one level at a time: a table is as deep in every place
        found = list(chain.from_iterable(found))
    return found
