"""Checks of tensor memory over a whole kernel: columns beyond an allocation, uninitialized cells, overlapping operands.

An address that is based on the result of an allocation must stay in its columns. The accumulator, an A in tensor
memory, and the scale factors must not overlap. An accumulator that is added to must have been written by a
multiplication without enable-input-d, a store or a copy; so must scale factors.
Source: PTX ISA 9.1, tcgen05.alloc; tcgen05.mma, enable-input-d; Scale Factor A and B layouts in Tensor Memory.

Invariant: an accumulator that is added to is reported if no instruction initializes it, and not if one may do so.

>>> from descriptors.check.events import Cells
>>> add, make = (Issue("mma", cells=Cells("t", 0, 64), adds=adds) for adds in (True, False))
>>> [one.rule.name for _, one in unwritten({0: [add]}, lambda i, others: False)], list(unwritten({0: [make], 1: [add]},
...     lambda i, others: not others))
(['tcgen05-unwritten'], [])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import TypeAlias

from descriptors.check.events import Cells, Event, Issue, Load, Store
from descriptors.check.ptx.conditions import Conditions
from descriptors.check.ptx.multiplications import TensorMma
from descriptors.check.rules import Broken, Doubt, broken
from descriptors.check.tcgen05 import may_meet
from descriptors.check.tensor_cells import TensorCells
from descriptors.tmem.allocations import Alloc

_Found: TypeAlias = Iterator[tuple[int, Broken | Doubt]]
_Events: TypeAlias = Mapping[int, list[Event]]
_OF = "tensor memory"


def memory_findings(events: _Events, cells: TensorCells, conditions: Conditions) -> _Found:
    """Yield the violations and doubts about the tensor memory of a function.

    Args:
        events: the events of its instructions.
        cells: the cells that they read and write.
        conditions: its definitions and paths.
    """
    yield from _columns(events, cells)
    yield from _beside(events, cells)
    yield from unwritten(events, lambda index, others: conditions.comes(index, others))
    yield from _scales_unwritten(events, cells)


def _columns(events: _Events, cells: TensorCells) -> _Found:
    """Yield accesses beyond the columns of their allocation, and one doubt if some accesses are not known."""
    sizes: dict[str, set[int | None]] = {}
    for index, row in events.items():
        for event in row:
            if isinstance(event, Alloc):
                size = event.columns if event.is_legal else None  # an illegal size is reported once
                for base, offset in cells.slot(index):
                    sizes.setdefault(f"{base}+{offset}", set()).add(size)
    left = 0
    for index, row in events.items():
        for touched in (each for event in row for each in _all_cells(event)):
            held = sizes.get(touched.name, {None}) if touched is not None else {None}
            size = next(iter(held)) if len(held) == 1 else None
            if touched is None or size is None or touched.column is None:
                left = left or index
            elif (end := touched.column + (touched.columns or 1)) > size:
                reached = touched if touched.columns else f"column {end - 1}"
                fact = f"the access touches {reached}, but the allocation has {size} columns"
                yield index, broken("tcgen05-unallocated", fact)
            elif touched.columns is None:
                left = left or index
    if left:
        why = "an address, an extent or the size of the allocation is not known"
        decides = (
            "addresses that are the result of the allocation plus a constant, and a constant instruction descriptor"
        )
        yield left, Doubt(_OF, "whether all accessed columns are allocated", why, decides)


def _all_cells(event: Event) -> Iterator[Cells | None]:
    if isinstance(event, Issue | Load | Store):
        yield event.cells
    if isinstance(event, Issue) and event.reads is not None:
        yield event.reads


def _beside(events: _Events, cells: TensorCells) -> _Found:
    """Yield multiplications whose accumulator, A, scale factors and lookup table overlap."""
    for index, row in events.items():
        for event in row:
            if not isinstance(event, Issue) or event.operation != "mma":
                continue
            parts = [("D", event.cells), ("A", event.reads), *zip(("SFA", "SFB"), cells.scales(index), strict=False)]
            parts.append(("the lookup table of B", cells.table(index)))
            known = [(name, part) for name, part in parts if part is not None]
            for (one, first), (other, second) in combinations(known, 2):
                if first.meets(second):
                    yield index, broken("tcgen05-overlap", f"{other} in {second} overlaps {one} in {first}")


def unwritten(events: _Events, comes: Callable[[int, frozenset[int]], bool]) -> _Found:
    """Yield multiplications that add to an accumulator that was not written before.

    Args:
        events: the events of the instructions of a function.
        comes: returns whether a path from the start reaches an instruction without passing some others.
    """
    issued = [(i, e) for i, row in events.items() for e in row if isinstance(e, Issue) and e.operation == "mma"]
    stored = [
        (i, e) for i, row in events.items() for e in row
        if isinstance(e, Store) or (isinstance(e, Issue) and e.operation == "cp")
    ]  # fmt: skip
    told: set[tuple[bool | None, Cells | None]] = set()
    for index, event in issued:
        if event.adds is False or (event.adds, event.cells) in told:
            continue
        writers = [*stored, *((i, e) for i, e in issued if e.adds is not True)]
        before = frozenset(i for i, e in writers if may_meet(e.cells, event.cells) and i != index)
        if event.adds and not before:
            told.add((event.adds, event.cells))
            fact = "this tcgen05.mma adds to an accumulator that no instruction initializes"
            yield index, broken("tcgen05-unwritten", fact)
        elif comes(index, before):
            told.add((event.adds, event.cells))
            why = "a path to it does not write the accumulator"
            if event.adds is None:
                why = "its enable-input-d is a predicate whose first value is not known"
            decides = "enable-input-d false, as a constant, in the first tcgen05.mma"
            yield index, Doubt(_OF, "whether the accumulator is written before it is added to", why, decides)


def _scales_unwritten(events: _Events, cells: TensorCells) -> _Found:
    if any(
        isinstance(e, Store) or (isinstance(e, Issue) and e.operation == "cp") for row in events.values() for e in row
    ):
        return
    for index, one in cells.products.items():
        if isinstance(one.view, TensorMma) and one.view.block_scaled:
            fact = "no tcgen05.cp or tcgen05.st writes the scale factors of this tcgen05.mma"
            yield index, broken("tcgen05-unwritten", fact)
            return
