"""The layouts of a derivation in words: the tile, its operands, units of 16 bytes, the canonical form, mode by mode.

Law: each step tells its layout in CuTe notation, and one line for each of its modes.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> tile, parts, units, canonical = layout_steps(d)
>>> print(tile[3])
     MN  (8,16):(64,512)  8 in an atom, 128 bytes apart; 16 atoms, 1024 bytes apart
>>> [str(layout) in lines[1] for lines, layout in ((parts, d.partitioned), (units, d.recast), (canonical, d.canonical))]
[True, True, True]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, repeat

from descriptors.output.tiles.explanation import chunk_meaning, names
from descriptors.smem.derivation.crossing import PIECES
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.atoms import atoms_of, canonical_atom
from descriptors.smem.operands.forms import LEADING, STRIDE
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.operands.swizzled import plain
from descriptors.text import aligned, bits_text, extents_text, tuple_text
from layoutalg import ComposedLayout, Layout, flatten, size


def layout_steps(d: Derivation) -> list[list[str]]:
    """The lines of steps 1 to 4: the tile, what one instruction reads of it, in 16-byte units, in the canonical form.

    >>> from descriptors import derive
    >>> steps = layout_steps(derive((128, 128), "bf16", "K", "128B", (64, 16)))
    >>> [step[0][:2] for step in steps]
    ['1.', '2.', '3.', '4.']
    """
    return [list(step(d)) for step in (_tile, _partition, _recast, _canonical)]


def _tile(d: Derivation) -> Iterator[str]:
    dims = chain(names(d), repeat("stage"))
    if d.order:
        tile = extents_text(d.tile)
        yield f"1. The shared-memory tile: one canonical atom, repeated over {tile} {d.element} elements"
        known = {one.in_elements(d.element): one.name for one in reversed(atoms_of(d.major, d.swizzle))}
        name = known.get(d.atom, canonical_atom(d.major, d.swizzle).name)
        width = bits_text(d.element.storage_bits)
        yield f"   atom         {d.atom}   {name}, in elements of {width}"
        labels: Iterable[tuple[str, ...]] = chain((("in an atom", "atoms"),) * 2, repeat(("stages",)))
    else:
        yield f"1. The shared-memory tile: the layout given, {extents_text(d.tile)} {d.element} elements"
        labels = repeat(())
    yield f"   smem_tile    {d.smem_tile}"
    yield from _modes(zip(dims, plain(d.smem_tile), labels, strict=False), d.element.storage_bits)
    if d.order:
        order = sorted(range(len(d.order)), key=d.order.__getitem__)
        yield f"   Atoms are stacked along {', then along '.join((*names(d), 'stage')[i] for i in order)}."
    if isinstance(d.smem_tile, ComposedLayout) and d.swizzle is not SwizzleMode.NONE:
        yield f"   {d.smem_tile.outer} then permutes element offsets; on byte addresses it is {d.swizzle.swizzle}."


def _partition(d: Derivation) -> Iterator[str]:
    reader = "MMA instruction" if d.instruction == "mma" else d.instruction
    if d.crossing is None:
        yield f"2. The tile cut into what one {reader} reads: zipped_divide by {tuple_text(d.mma)}"
    else:
        column = (d.mma[0], d.element.per_16_bytes)
        yield f"2. The tile cut into columns of 16 bytes: zipped_divide by {tuple_text(column)}"
        yield f"   One {reader} reads {PIECES} of them, here and there across two swizzle atoms: no part repeats."
    yield f"   partitioned  {d.partitioned}"
    yield from _halves(d, plain(d.partitioned), d.element.storage_bits)


def _recast(d: Derivation) -> Iterator[str]:
    yield f"3. The same in 16-byte units, the unit of the descriptor: {d.element.per_16_bytes} elements recast to one"
    yield f"   recast       {d.recast}"
    yield from _halves(d, plain(d.recast), 128)


def _halves(d: Derivation, partitioned: Layout, unit_bits: int) -> Iterator[str]:
    operand, rest = partitioned
    told = [f"{part} {name}" for part in ("operand", "subtiles") for name in names(d)]
    modes = zip(chain(told, repeat("stages")), (*operand, *rest), repeat(()), strict=False)
    yield from _modes(modes, unit_bits)


def _canonical(d: Derivation) -> Iterator[str]:
    roles = {d.match.form.leading: f": LBO, the {LEADING}", d.match.form.stride: f": SBO, the {STRIDE}"}
    if d.crossing is not None:
        del roles[d.match.form.leading]  # it is no step, but an address
    rows: list[tuple[str, Layout, tuple[str, ...]]] = []
    one = "operand" if d.crossing is None else "column"
    yield f"4. One {one} in the canonical form {d.match.form}, in 16-byte units: logical_divide"
    yield f"   canonical    {d.canonical}"
    for i, name in enumerate(names(d)):
        rows.append((f"{name} chunk", d.canonical[i][0], ()))
        rows.append((f"{name} rest", d.canonical[i][1], ()))
    yield f"   A chunk is {chunk_meaning(d)}; the descriptor tells the steps from chunk to chunk."
    for line, path in zip(_modes(rows, 128), ((0, 0), (0, 1), (1, 0), (1, 1)), strict=True):
        yield line + roles.get(path, "")


def _modes(rows: Iterable[tuple[str, Layout, tuple[str, ...]]], unit_bits: int) -> Iterator[str]:
    """Lines that name each mode and say how many of what it counts, and how far apart they lie."""
    told = [(f"  {name}", str(mode), _mode_in_words(mode, unit_bits, labels)) for name, mode, labels in rows]
    yield from aligned(told, indent=3)


def _mode_in_words(mode: Layout, unit_bits: int, labels: tuple[str, ...]) -> str:
    """A mode in words; ``labels`` name its parts where there are as many."""
    parts = list(flatten(mode))
    texts = []
    for i, part in enumerate(parts):
        label = f" {labels[i]}" if len(labels) == len(parts) and labels[i] else ""
        if size(part) == 1:
            label = label.removesuffix("s")
        apart = f", {bits_text(_stride(part) * unit_bits)} apart" if size(part) > 1 else ""
        texts.append(f"{size(part)}{label}{apart}")
    return "; ".join(texts)


def _stride(part: Layout) -> int:
    stride = part(1)
    assert isinstance(stride, int)
    return stride
