"""The rows of the tables that speak of one architecture, or of one kind of its instructions.

Law: a row is in the selection if and only if it is in its table with that ``arch`` and, where one is asked for, that
``kind``; the order is the table's.
Source: the rows, each with its own.

>>> from descriptors.instructions.rules import ARCHES
>>> chosen = [row for arch in ARCHES for row in select_rows(arch).kinds]
>>> chosen == list(tables.KINDS)
True
>>> sum(len(select_rows(row.arch, row.kind).shapes) for row in chosen) == len(tables.SHAPES)
True
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from descriptors.frozen import frozen
from descriptors.instructions import tables
from descriptors.instructions.rows import CopyRow, KindRow, OperandRow, ScaleRow, ShapeRow, TransposedRow, TypeRow
from descriptors.instructions.rules import kind_row

_R = TypeVar("_R")


@frozen
class Selection:
    """Rows of every table; the names are those of the tables.

    Args:
        arch: ``"sm90"`` or ``"sm100"``.
        kind: the kind of instruction; None for all of them.
    """

    arch: str
    kind: str | None
    kinds: tuple[KindRow, ...]
    types: tuple[TypeRow, ...]
    shapes: tuple[ShapeRow, ...]
    transposed_b: tuple[TransposedRow, ...]
    operands: tuple[OperandRow, ...]
    scales: tuple[ScaleRow, ...]
    copies: tuple[CopyRow, ...]


def select_rows(arch: str, kind: str | None = None) -> Selection:
    """What the tables say of an architecture, or of one of its kinds.

    Raises:
        ChoiceError: for an architecture or a kind that is not in the tables.

    >>> [row.k for row in select_rows("sm90", "b1").shapes]
    [256]
    """
    arch = kind_row(arch, "f16" if kind is None else kind).arch

    def chosen(rows: Iterable[_R]) -> tuple[_R, ...]:
        return tuple(row for row in rows if _speaks_of(row, arch, kind))

    return Selection(
        arch=arch,
        kind=kind,
        kinds=chosen(tables.KINDS),
        types=chosen(tables.TYPES),
        shapes=chosen(tables.SHAPES),
        transposed_b=chosen(tables.TRANSPOSED_B),
        operands=chosen(tables.OPERANDS),
        scales=chosen(tables.SCALES),
        copies=chosen(tables.COPIES),
    )


def _speaks_of(row: Any, arch: str, kind: str | None) -> bool:
    # A copy is of no kind, so that none is chosen with one.
    return bool(row.arch == arch and kind in (None, getattr(row, "kind", "")))
