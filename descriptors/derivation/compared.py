"""A tile and its words compared in plain Python, subtile by subtile: what ``verify`` does of ordinary tiles.

Law: it finds the elements that the comparison by arrays finds, in the same order.

>>> from dataclasses import replace
>>> from descriptors import derive
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16), verify=False)
>>> wrong = replace(d, descriptor=replace(d.descriptor, stride_byte_offset=512))
>>> for one in (d, wrong):
...     words = list(numbers(one.words()))
...     print([(at, sum(map(sum, unequal(*pair)))) for at, *pair in by_subtile(one, 0, words)][:2])
[((0, 0), 0), ((0, 1), 0)]
[((0, 0), 896), ((0, 1), 896)]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from operator import ne

from descriptors.derivation.parts.derivation import Derivation
from descriptors.derivation.parts.table import numbers
from descriptors.errors import DescriptorError
from descriptors.operands.swizzled import parts
from descriptors.proof.addresses import plain_fetched, plain_stored
from descriptors.proof.walk_model import Rows
from descriptors.text import tuple_text
from layoutalg import ComposedLayout, Layout, Swizzle, make_layout, size

__all__ = ["by_subtile", "numbers", "unequal"]


def by_subtile(d: Derivation, base: int, words: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Rows, Rows]]:
    """Each subtile's coordinate, where its elements are stored, and from where its word reads them.

    The tile is cut into blocks of consecutive coordinates, not by the algebra's divide: that is one of the steps which
    this proves.

    Args:
        d: the derivation.
        base: address of the tile, in bytes, where its swizzle pattern starts.
        words: of every subtile, in the order of their coordinates.

    Raises:
        DescriptorError: if there is not a word for each operand.
    """
    rows, swizzle, offset = parts(d.smem_tile)
    modes = list(rows)
    (mn, k), stages = d.mma, [size(mode) for mode in modes[2:]]
    high, wide = size(modes[0]), size(modes[1])
    if high % mn or wide % k or size(rows) != len(words) * mn * k:
        found = f"{len(words)} words for operands {tuple_text(d.mma)}"
        raise DescriptorError(f"verify: a word must stand for each operand, found {found}; smem_tile = {d.smem_tile}")
    tables = {at: _stored(d, base, modes, at, swizzle, offset) for at in product(*map(range, stages))}
    read = plain_fetched(words, arch=d.arch, element=d.element, major=d.major, shape=d.mma)
    grid = product(range(high // mn), range(wide // k), *map(range, stages))
    for (i, j, *stage), fetched in zip(grid, read, strict=True):
        whole = tables[tuple(stage)]
        yield (i, j, *stage), [row[j * k : (j + 1) * k] for row in whole[i * mn : (i + 1) * mn]], fetched


def _stored(
    d: Derivation, base: int, modes: list[Layout], stage: tuple[int, ...], swizzle: Swizzle | None, offset: int
) -> Rows:
    """Where the elements of one stage are: ``rows[mn][k]``."""
    moved = offset + sum(mode(one) for mode, one in zip(modes[2:], stage, strict=True))
    tile = ComposedLayout(swizzle or Swizzle(0, 4, 3), moved, make_layout(*modes[:2]))
    found: Rows = plain_stored(tile, d.element, base=base, pattern_start=base)
    return found


def unequal(stored: Rows, fetched: Rows) -> list[list[bool]]:
    """Whether each element is read from elsewhere; nothing at all where all are right."""
    if stored == fetched:
        return []
    return [list(map(ne, *pair)) for pair in zip(stored, fetched, strict=True)]
