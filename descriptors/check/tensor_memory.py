"""Checks of tensor memory over a whole kernel: columns beyond an allocation, uninitialized cells, overlapping operands.

An address that is based on the result of an allocation must stay in its columns. The accumulator, an A in tensor
memory, and the scale factors must not overlap. An accumulator that is added to must have been written by a
multiplication without enable-input-d, a store or a copy; so must scale factors.
Source: PTX ISA 9.1, tcgen05.alloc; tcgen05.mma, enable-input-d; Scale Factor A and B layouts in Tensor Memory.

Invariant: an accumulator that is added to is reported if no instruction initializes it, and not if one may do so.

>>> from descriptors.check.events import Cells
>>> add, make = (Issue("mma", cells=Cells("t", 0, 64), adds=adds) for adds in (True, False))
>>> [violation.rule.name for _, violation in unwritten({0: [add]}, lambda i, others: False)]
['tcgen05-unwritten']
>>> list(unwritten({0: [make], 1: [add]}, lambda i, others: not others))
[]
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

_Findings: TypeAlias = Iterator[tuple[int, Broken | Doubt]]
_Events: TypeAlias = Mapping[int, list[Event]]
_PROPERTY = "tensor memory"


def memory_findings(events: _Events, cells: TensorCells, conditions: Conditions) -> _Findings:
    """Yield the violations and doubts about the tensor memory of a function.

    Args:
        events: the events of its instructions.
        cells: the cells that they read and write.
        conditions: its definitions and paths.
    """
    yield from _access_findings(events, cells)
    yield from _overlap_findings(events, cells)
    yield from unwritten(events, lambda index, others: conditions.comes(index, others))
    yield from _scales_unwritten(events, cells)


def _access_findings(events: _Events, cells: TensorCells) -> _Findings:
    """Yield accesses beyond the columns of their allocation, and one doubt if some accesses are not known."""
    sizes: dict[str, set[int | None]] = {}
    for index, row in events.items():
        for event in row:
            if isinstance(event, Alloc):
                size = event.columns if event.is_legal else None  # an illegal size is reported once
                for base, offset in cells.slot(index):
                    sizes.setdefault(f"{base}+{offset}", set()).add(size)
    unknown_index = 0
    for index, row in events.items():
        for accessed in (accessed for event in row for accessed in _all_cells(event)):
            known_sizes = sizes.get(accessed.name, {None}) if accessed is not None else {None}
            size = next(iter(known_sizes)) if len(known_sizes) == 1 else None
            if accessed is None or size is None or accessed.column is None:
                unknown_index = unknown_index or index
            elif (end := accessed.column + (accessed.columns or 1)) > size:
                reached = accessed if accessed.columns else f"column {end - 1}"
                fact = f"the access touches {reached}, but the allocation has {size} columns"
                yield index, broken("tcgen05-unallocated", fact)
            elif accessed.columns is None:
                unknown_index = unknown_index or index
    if unknown_index:
        why = "an address, an extent or the size of the allocation is not known"
        decides = (
            "addresses that are the result of the allocation plus a constant, and a constant instruction descriptor"
        )
        yield unknown_index, Doubt(_PROPERTY, "whether all accessed columns are allocated", why, decides)


def _all_cells(event: Event) -> Iterator[Cells | None]:
    if isinstance(event, Issue | Load | Store):
        yield event.cells
    if isinstance(event, Issue) and event.reads is not None:
        yield event.reads


def _overlap_findings(events: _Events, cells: TensorCells) -> _Findings:
    """Yield multiplications whose accumulator, A, scale factors and lookup table overlap."""
    for index, row in events.items():
        for event in row:
            if not isinstance(event, Issue) or event.operation != "mma":
                continue
            parts = [("D", event.cells), ("A", event.reads), *zip(("SFA", "SFB"), cells.scales(index), strict=False)]
            parts.append(("the lookup table of B", cells.table(index)))
            known_parts = [(name, part) for name, part in parts if part is not None]
            for (first_name, first), (second_name, second) in combinations(known_parts, 2):
                if first.meets(second):
                    yield (
                        index,
                        broken("tcgen05-overlap", f"{second_name} in {second} overlaps {first_name} in {first}"),
                    )


def unwritten(events: _Events, comes: Callable[[int, frozenset[int]], bool]) -> _Findings:
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
    reported: set[tuple[bool | None, Cells | None]] = set()
    for index, event in issued:
        if event.adds is False or (event.adds, event.cells) in reported:
            continue
        writers = [*stored, *((i, e) for i, e in issued if e.adds is not True)]
        before = frozenset(i for i, e in writers if may_meet(e.cells, event.cells) and i != index)
        if event.adds and not before:
            reported.add((event.adds, event.cells))
            fact = "this tcgen05.mma adds to an accumulator that no instruction initializes"
            yield index, broken("tcgen05-unwritten", fact)
        elif comes(index, before):
            reported.add((event.adds, event.cells))
            why = "a path to it does not write the accumulator"
            if event.adds is None:
                why = "its enable-input-d is a predicate whose first value is not known"
            decides = "enable-input-d false, as a constant, in the first tcgen05.mma"
            yield index, Doubt(_PROPERTY, "whether the accumulator is written before it is added to", why, decides)


def _scales_unwritten(events: _Events, cells: TensorCells) -> _Findings:
    if any(
        isinstance(e, Store) or (isinstance(e, Issue) and e.operation == "cp") for row in events.values() for e in row
    ):
        return
    for index, product in cells.products.items():
        if isinstance(product.view, TensorMma) and product.view.block_scaled:
            fact = "no tcgen05.cp or tcgen05.st writes the scale factors of this tcgen05.mma"
            yield index, broken("tcgen05-unwritten", fact)
            return
