"""Text and JSON records of tensor-memory loads and stores: their registers and cells, and the elements they load.

Invariant: text and record contain the same number of registers, and the text has a line for each load.

>>> from descriptors.tmem.accumulator import accumulator
>>> from descriptors.tmem.moves import tmem_move
>>> from descriptors.tmem.reductions import tmem_reduction
>>> from descriptors.tmem.readout import readout
>>> move, reduction = tmem_move("16x256b.x2"), tmem_reduction("32x32b.x2.max.f32")
>>> f"{record_move(move)['registers']} registers" in tell_move(move)
True
>>> f"{record_reduction(reduction)['registers']} registers" in tell_reduction(reduction)
True
>>> read = readout(accumulator(128, 64), "16x256b.x4")
>>> len(record_readout(read)["loads"]) == sum(line.lstrip()[0].isdigit() for line in tell_readout(read).splitlines())
True
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.records import Record, Row, attributes, each, within
from descriptors.text import aligned, counted, tuple_text
from descriptors.tmem.fragment_text import DIGIT, digits, tell_fragment
from descriptors.tmem.geometry import BELIEVED, DOCUMENTED, weakest
from descriptors.tmem.moves import TmemMove
from descriptors.tmem.readout import Readout
from descriptors.tmem.reductions import TmemReduction


def tell_move(move: TmemMove) -> str:
    """Return the text of a load or store.

    >>> from descriptors.tmem.moves import tmem_move
    >>> print(tell_move(tmem_move("32x32b.x2")).splitlines()[0])
    tcgen05.ld.sync.aligned.32x32b.x2.b32: 2 registers a thread, 32 lanes, 2 columns
    """
    counts = f"{counted(move.registers, 'register')} a thread, {move.lanes} lanes, {counted(move.columns, 'column')}"
    _, *rest = tell_fragment(move.cells).splitlines()
    offset = [f"   offset   {move.offset} columns between the two halves"] if move.shape == "16x32bx2" else []
    return "\n".join([f"{move.ptx}: {counts}", *rest[:1], *offset, *rest[2:]])


#: The record of a load or store.
record_move = Record(
    "Move",
    **attributes(TmemMove, "ptx registers lanes columns"),
    offset=Row((int, None), lambda move: move.offset if move.shape == "16x32bx2" else None),
    layout=Row(str, "cells.layout"),
    digits=Row([DIGIT], lambda move: digits(move.cells)),
    evidence=Row(str, "cells.evidence"),
)


def tell_reduction(reduction: TmemReduction) -> str:
    """Return the text of a reducing or compressing load.

    >>> from descriptors.tmem.reductions import tmem_reduction
    >>> print(tell_reduction(tmem_reduction("32x32b.x2.max.f32")).splitlines()[0])
    tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32: 3 registers a thread, the last the max of 2 columns
    """
    if reduction.compressed:
        return "\n".join([reduction.headline, *_tell_compressed(reduction)])
    loads = tell_move(reduction.move).splitlines()
    digits = [line for line in tell_fragment(reduction.over).splitlines() if line.startswith("   every ")]
    over = f"   result   (thread, column) -> {reduction.over.layout}, lane << 16 | column"
    targets = f"   targets  {', '.join(reduction.targets)}"
    grades = [
        f"   known    registers: {reduction.move.cells.evidence}",
        f"   known    result: {reduction.over.evidence}",
    ]
    return "\n".join([reduction.headline, *loads[1:-1], over, *digits, targets, *grades])


def _tell_compressed(load: TmemReduction) -> list[str]:
    """Return the lines about a compressing load: its metadata, the values that it keeps, and the evidence."""
    size = f"{'absolute ' * load.absolute}{'greatest' if load.operation == 'max' else 'least'}"
    bits = "data register d has bits [2(d%16), 2(d%16)+2) of register d/16"
    kept = f"2i and 2i+1 are the two {size} of columns 4i to 4i+3, in their order"
    rows = [
        ("of", f"(thread, column) -> {load.over.layout}, lane << 16 | column"),
        ("metadata", f"{counted(load.metadata, 'register')}: {bits}"),
        ("data", f"{load.move.num // 2} registers: {kept}"),
    ]
    if load.reduces:
        rows.append(("result", f"one register: the {load.operation} of {load.move.num} columns"))
    rows += [("targets", ", ".join(load.targets)), ("known", f"numbers of registers: {DOCUMENTED}")]
    rows += [("known", f"their order and the bits: {BELIEVED}")]
    return aligned(rows, indent=3)


#: The record of a reducing or compressing load.
record_reduction = Record(
    **within("move", **record_move.rows) | {"ptx": Row(str), "registers": Row(int)},
    operation={"max", "min"},
    type=Row(str, "dtype"),
    qualifiers=Row([{"abs", "NaN"}], lambda load: ["abs"] * load.absolute + ["NaN"] * load.nan),
    **attributes(TmemReduction, "reduced_over=over.layout compressed reduces metadata targets"),
    result_evidence=Row(str, lambda load: BELIEVED if load.compressed else load.over.evidence),
)


#: The record of one load of a warp, with its first element.
LOAD = Record(
    **each(int, "warp lane column", shown=True),
    origin=Row([int], label="origin", text=lambda load: tuple_text(load.origin)),
)


def tell_readout(readout: Readout) -> str:
    """Return the text of a readout.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> from descriptors.tmem.readout import readout
    >>> print(*tell_readout(readout(accumulator(64, 8), "16x256b")).splitlines()[:4], sep="\\n")
    tcgen05.ld.sync.aligned.16x256b.x1.b32 of an accumulator of 64x8 f32, cta_group 1
       registers  4 a thread; 1 load a warp
       elements   (thread, value) -> (m, n): ((4,8),(2,2)):((2@1,1@0),(1@1,8@0)), from the origin of a load
       thread 1   (0,2) (0,3) (8,2) (8,3)
    """
    move, each = readout.move, len(readout.loads) // 4
    values = "value" if not move.packed else "value, two a register"
    rows: list[tuple[object, object]] = [
        ("registers", f"{move.registers} a thread; {counted(each, 'load')} a warp"),
        ("elements", f"(thread, {values}) -> (m, n): {readout.elements}, from the origin of a load"),
        ("thread 1", _first_elements(readout)),
    ]
    if readout.threads < 32:
        rows.append(("threads", f"0 to {readout.threads - 1} hold elements, the others nothing"))
    rows.append(("known", readout.evidence))
    head = f"{move.ptx} of an {readout.fragment.what}"
    table = aligned(LOAD.table(readout.loads), ">", indent=3)
    return "\n".join([head, *aligned(rows, indent=3), *table])


#: The record of a readout.
record_readout = Record(
    "Readout",
    **attributes(TmemMove, "ptx", "move"),
    of=Row(str, "fragment.what"),
    **attributes(TmemMove, "registers", "move"),
    **attributes(Readout, "threads values elements"),
    loads=[LOAD],
    evidence=str,
)


def _first_elements(readout: Readout) -> str:
    """Return the first elements of thread 1 after the first load."""
    first = [tuple_text(readout.element(readout.loads[0], 1, value)) for value in range(min(readout.values, 8))]
    return " ".join(first) + (" ..." if readout.values > 8 else "")


def tell_readouts(readouts: Sequence[Readout]) -> str:
    """Return the text of all shapes that read an accumulator.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> from descriptors.tmem.readout import readouts
    >>> print(tell_readouts(readouts(accumulator(128, 8))).splitlines()[0])
    tcgen05.ld of an accumulator of 128x8 f32, cta_group 1
    """
    head = f"tcgen05.ld of an {readouts[0].fragment.what}"
    return "\n".join([head, *aligned(SHAPE.table(readouts), indent=3), f"   known  {_weakest(readouts)}"])


def _name(readout: Readout) -> str:
    """Return the name of the load as ``descriptors tmem ld`` accepts it."""
    return f"{readout.move.shape}.x{readout.move.num}{'.pack::16b' if readout.move.packed else ''}"


def _weakest(readouts: Sequence[Readout]) -> str:
    """Return the weakest grade of evidence of some readouts."""
    return weakest(*(readout.evidence for readout in readouts))


#: The record of a load shape that reads a fragment.
SHAPE = Record(
    load=Row(str, _name, "load"),
    registers=Row(int, "move.registers", "registers"),
    loads_per_warp=Row(int, lambda readout: len(readout.loads) // 4, "loads a warp"),
    threads=Row(int, label="threads"),
    elements=Row(str, label="(thread, value) -> (m, n)"),
)
#: The record of all shapes.
record_readouts = Record(
    "Readouts",
    of=Row(str, lambda readouts: readouts[0].fragment.what),
    loads=Row([SHAPE], "."),
    evidence=Row(str, _weakest),
)
