"""Which columns of tensor memory what goes to, and how many a kernel must allocate.

Parts follow one another in the order given, each at the next column that is a multiple of its alignment; an
allocation is a power of two, 32 at least; an SM holds as many CTAs as have their columns free at once.
Source: PTX ISA 9.1, tcgen05.alloc; CuTe DSL 4.8.1 ``get_num_tmem_alloc_cols`` (NVIDIA's code): the sum of the parts,
rounded up.

Law: parts do not overlap, each is aligned, and what is allocated is the least power of two that holds them.

>>> wanted = [Part(name, columns, align) for name, columns, align in (("D0", 96, 1), ("D1", 96, 1), ("E", 5, 4))]
>>> made = plan_columns(wanted)
>>> [(part.name, part.column) for part in made.parts], made.used, made.allocate, made.ctas
([('D0', 0), ('D1', 96), ('E', 192)], 197, 256, 2)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from descriptors.errors import DescriptorError, as_integer
from descriptors.frozen import frozen
from descriptors.text import Told
from descriptors.tmem.evidence import NVIDIA, weakest
from descriptors.tmem.fragment import TmemFragment
from descriptors.tmem.geometry import COLUMNS, LEAST_COLUMNS


@frozen
class Part:
    """Something that takes columns.

    Args:
        name: ``D``, ``A``, ``SFA``, ``SFB``, ``E``, with a number where there are several.
        columns: how many.
        align: what its first column must be a multiple of.
        column: its first column, from the start of the allocation.
        lane: its first lane, 16 where it shares the columns of another.
        fragment: what lies there, where that is known.
    """

    name: str
    columns: int
    align: int = 1
    column: int = 0
    lane: int = 0
    fragment: TmemFragment | None = None


@frozen
class ColumnPlan(Told):
    """The columns of a CTA.

    Args:
        parts: what lies where, in the order of the columns.
        allocate: columns to allocate.
        notes: what else there is to know.
    """

    parts: tuple[Part, ...]
    allocate: int
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return f"{self.used} columns used, {self.allocate} allocated, {self.ctas} CTAs an SM"

    @property
    def used(self) -> int:
        """Columns up to the last that holds something."""
        return max(part.column + part.columns for part in self.parts)

    @property
    def ctas(self) -> int:
        """CTAs whose columns an SM can hold at once."""
        return COLUMNS // self.allocate

    @property
    def evidence(self) -> str:
        """How it is known, all in all."""
        return weakest(NVIDIA, *(part.fragment.evidence for part in self.parts if part.fragment is not None))

    def part(self, name: str) -> Part:
        """The part of a name.

        Raises:
            DescriptorError: if there is none.
        """
        for part in self.parts:
            if part.name == name:
                return part
        known = ", ".join(part.name for part in self.parts)
        raise DescriptorError(f"tmem plan: a part must be one of {known}, found {name!r}")


def plan_columns(wanted: Iterable[Part], *, ctas: int = 1, notes: Iterable[str] = ()) -> ColumnPlan:
    """Give each part its columns.

    Args:
        wanted: the parts, in order; one with a lane shares the columns of the part before it.
        ctas: CTAs that must fit an SM at once.
        notes: what else there is to know.

    Raises:
        DescriptorError: if they do not fit; it says what takes how many.

    >>> plan_columns([Part("D", 256), Part("SFA", 4), Part("SFB", 8)]).allocate
    512
    >>> plan_columns([Part("D", 256), Part("SFA", 16)], ctas=2)
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: tmem plan: 2 CTAs must fit 512 columns, find 512 each; D 256, SFA 16 columns
    """
    count = as_integer(ctas, "tmem plan: CTAs", minimum=1, maximum=COLUMNS // LEAST_COLUMNS)
    placed: list[Part] = []
    end = 0
    for part in wanted:
        start = placed[-1].column if part.lane and placed else -(-end // part.align) * part.align
        placed.append(replace(part, column=start))
        end = max(end, start + part.columns)
    if not placed:
        raise DescriptorError("tmem plan: there must be a part, found none")
    taken = ", ".join(f"{part.name} {part.columns}" for part in placed if not part.lane)
    if end > COLUMNS:
        raise DescriptorError(f"tmem plan: the parts must fit {COLUMNS} columns, need {end}; {taken} columns")
    allocate = max(LEAST_COLUMNS, 1 << (end - 1).bit_length())
    if allocate * count > COLUMNS:
        found = f"find {allocate} each; {taken} columns"
        raise DescriptorError(f"tmem plan: {count} CTAs must fit {COLUMNS} columns, {found}")
    return ColumnPlan(tuple(placed), allocate, tuple(notes))
