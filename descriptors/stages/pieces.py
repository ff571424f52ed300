"""The pieces of 16 bytes of a tile, each with the number that colours it.

Law: whatever the colour, each piece has a number; by column it is the piece's own place along the contiguous dimension.

>>> from descriptors import derive
>>> view = View(derive((128, 128), "bf16", "K", "128B", (64, 16)), colour="column")
>>> [row[:3] for row in kinds(view)[:2]]
[[0, 1, 2], [0, 1, 2]]
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from descriptors.operands.operand import Major
from descriptors.operands.swizzled import parts
from descriptors.pictures.parts.tiles import TilePicture
from descriptors.proof.addresses import address_bits, fetched_rows, stored_rows
from descriptors.stages.view import PIECE, View
from layoutalg import Figure

Numbers = list[list[int]]


def places(view: View) -> Numbers:
    """Where each piece of the stage lies, in bytes from the start of the tile."""
    return view.anatomy.pieces(swizzled=view.swizzled)


def column_of(view: View, row: int, column: int) -> int:
    """The place of a piece along the contiguous dimension, which counts 16 bytes."""
    return column if view.derivation.major is Major.K else row


def kinds(view: View) -> Numbers:
    """The number that colours each piece: rows of pieces along MN, columns along K."""
    if view.colour == "bank":
        units = view.line_bytes // PIECE
        return [[one // PIECE % units for one in row] for row in places(view)]
    if view.colour == "column":
        grid = view.anatomy.extents[0] // view.anatomy.unit[0], view.anatomy.extents[1] // view.anatomy.unit[1]
        return [[column_of(view, i, j) for j in range(grid[1])] for i in range(grid[0])]
    if view.colour == "wrong":
        return wrong(view)
    found: Numbers = TilePicture(view.derivation, view.colour, view.stage).record()["kinds"]
    return found


def wrong(view: View) -> Numbers:
    """1 for each piece of the chosen subtile of which the view's word reads an element elsewhere, else 0."""
    (mn, k), (u, v) = view.anatomy.extents, view.anatomy.unit
    marked = [[0] * (k // v) for _ in range(mn // u)]
    for i, j in misread(view):
        marked[i // u][j // v] = 1
    return marked


def misread(view: View) -> list[tuple[int, int]]:
    """The elements (MN, K) of the tile that the view's word reads from elsewhere than where they are stored."""
    if view.word is None:
        return []
    d, (high, deep), (i, j) = view.derivation, view.derivation.mma, view.subtile
    whole = stored_rows(d.smem_tile, d.element, base=view.base, pattern_start=view.base)
    block = [row[j * deep : (j + 1) * deep] for row in whole[i * high : (i + 1) * high]]
    for stage in view.anatomy.stage_coordinate:
        block = [[one[stage] for one in row] for row in block]
    read = fetched_rows([view.word], arch=d.arch, element=d.element, major=d.major, shape=d.mma)[0]
    return [(i * high + a, j * deep + b) for a, b in product(range(high), range(deep)) if block[a][b] != read[a][b]]


def element_address(view: View) -> tuple[int, int]:
    """Where the chosen element lies before the swizzle and after it, in the unit of ``address_bits``, from the tile on.

    >>> from descriptors import derive
    >>> element_address(View(derive((128, 128), "bf16", "K", "128B", (64, 16)), cell=(11, 21)))
    (1450, 1434)
    """
    d = view.derivation
    rows, swizzle, offset = parts(d.smem_tile)
    at = rows((*view.cell, *view.anatomy.stage_coordinate))
    assert isinstance(at, int)
    unit = d.element.storage_bits // address_bits(d.element)
    before = offset + at
    return before * unit, (swizzle(before) if swizzle else before) * unit


def roles(view: View, numbers: Sequence[Sequence[int]]) -> list[list[str | None]]:
    """What each piece is filled with."""
    if view.colour in ("order", "subtile"):
        count = max(map(max, numbers)) + 1
        return [[Figure.step(one, count) for one in row] for row in numbers]
    if view.colour == "wrong":
        return [["c7" if one else "r1" for one in row] for row in numbers]
    return [[Figure.kind(one) for one in row] for row in numbers]
