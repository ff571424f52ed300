"""A derivation told to a person, and the same record for a program.

``tell`` explains every step in words: the layout in CuTe notation, what each of its modes is, then the descriptor field
by field and the offset of every subtile. ``as_record`` holds the same facts as plain data for JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from descriptors.atoms import canonical_atom
from descriptors.bitfield import span
from descriptors.canonical import LEADING, STRIDE, plain
from descriptors.operand import Major, SwizzleMode
from descriptors.record import Derivation, Table
from layoutalg import ComposedLayout, Layout, flatten, size

#: Columns of the advance table on one line.
_COLUMNS = 16


def tell(derivation: Derivation) -> str:
    """The whole derivation as a person would explain it, in lines that need no terminal.

    >>> from descriptors import derive
    >>> story = tell(derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16)))
    >>> print(story.splitlines()[0])
    Shared-memory descriptor (sm100) of an operand: bf16, K-major, swizzle 128B, 64x16 out of a 128x128 tile
    """
    d = derivation
    title = (
        f"Shared-memory descriptor ({d.arch}) of an operand: {d.element}, {d.major}-major, swizzle {d.swizzle}, "
        f"{_times(d.mma)} out of a {_times(d.tile)} tile\n"
        "MN is M of an A operand and N of a B operand."
    )
    parts = (_tile(d), _partition(d), _recast(d), _canonical(d), _advance(d), _descriptor(d), _offsets(d))
    return "\n\n".join([title, *("\n".join(part) for part in parts)])


def as_record(derivation: Derivation) -> dict[str, Any]:
    """The whole derivation as plain data: layouts as notation, shape and stride; fields in bytes; words in hex.

    >>> from descriptors import derive
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> as_record(d)["descriptor"]["word"]
    '0x4000404000010000'
    """
    d = derivation
    word, encoded = d.descriptor.word, d.descriptor.encode()
    values = word.decode(encoded)
    return {
        "arch": d.arch,
        "dtype": d.element.name,
        "major": str(d.major),
        "swizzle": str(d.swizzle),
        "tile": d.tile,
        "mma": d.mma,
        "order": d.order,
        "atom": _layout_record(d.atom),
        "smem_tile": _layout_record(d.smem_tile),
        "partitioned": _layout_record(d.partitioned),
        "recast": _layout_record(d.recast),
        "canonical": {**_layout_record(d.canonical), "form": str(d.match.form)},
        "advance": _layout_record(d.advance),
        "descriptor": {
            "fields": {
                field.name: str(values[field.name]) if field.codes else values[field.name] for field in word.fields
            },
            "stored": {field.name: (encoded & field.mask) >> field.low for field in word.fields},
            "dont_care": d.dont_care,
            "dont_care_mask": f"0x{d.dont_care_mask():016x}",
            "word": word_text(encoded),
        },
        "alignment_bytes": d.swizzle.alignment_bytes,
        "offsets_bytes": d.offsets_bytes(),
    }


def word_text(word: int) -> str:
    """A 64-bit word in hexadecimal, all sixteen digits.

    >>> word_text(0x10000)
    '0x0000000000010000'
    """
    return f"0x{word:016x}"


def _layout_record(layout: Layout | ComposedLayout) -> dict[str, Any]:
    inner = plain(layout)
    swizzle = str(layout.outer) if isinstance(layout, ComposedLayout) else None
    return {"text": str(layout), "shape": inner.shape, "stride": inner.stride, "swizzle": swizzle}


def _tile(d: Derivation) -> Iterator[str]:
    names = ("MN", "K", "stage")
    yield f"1. The shared-memory tile: one canonical atom, repeated over {_times(d.tile)} {d.element} elements"
    name, width = canonical_atom(d.major, d.swizzle).name, _bits(d.element.storage_bits)
    yield f"   atom         {d.atom}   {name}, in elements of {width}"
    yield f"   smem_tile    {d.smem_tile}"
    labels = (("in an atom", "atoms"), ("in an atom", "atoms"), ("stages",))
    yield from _modes(zip(names, plain(d.smem_tile), labels, strict=False), d.element.storage_bits)
    first = sorted(range(len(d.order)), key=d.order.__getitem__)
    yield f"   Atoms are stacked along {', then along '.join(names[i] for i in first)}."
    if isinstance(d.atom, ComposedLayout):
        yield f"   {d.atom.outer} then permutes element offsets; on byte addresses it is {d.swizzle.swizzle}."


def _partition(d: Derivation) -> Iterator[str]:
    yield f"2. The tile cut into what one MMA instruction reads: zipped_divide by ({d.mma[0]},{d.mma[1]})"
    yield f"   partitioned  {d.partitioned}"
    yield from _halves(plain(d.partitioned), d.element.storage_bits)


def _recast(d: Derivation) -> Iterator[str]:
    yield f"3. The same in 16-byte units, the unit of the descriptor: {d.element.per_16_bytes} elements recast to one"
    yield f"   recast       {d.recast}"
    yield from _halves(plain(d.recast), 128)


def _halves(partitioned: Layout, unit_bits: int) -> Iterator[str]:
    operand, rest = partitioned
    names = ("operand MN", "operand K", "subtiles MN", "subtiles K", "stages")
    yield from _modes(((name, mode, ()) for name, mode in zip(names, (*operand, *rest), strict=False)), unit_bits)


def _canonical(d: Derivation) -> Iterator[str]:
    roles = {d.match.form.leading: f": LBO, the {LEADING}", d.match.form.stride: f": SBO, the {STRIDE}"}
    rows: list[tuple[str, Layout, tuple[str, ...]]] = []
    yield f"4. One operand in the canonical form {d.match.form}, in 16-byte units: logical_divide"
    yield f"   canonical    {d.canonical}"
    for i, name in enumerate(("MN", "K")):
        rows.append((f"{name} chunk", d.canonical[i][0], ()))
        rows.append((f"{name} rest", d.canonical[i][1], ()))
    yield f"   A chunk is {_chunk(d)}; the descriptor tells the steps from chunk to chunk."
    for line, path in zip(_modes(rows, 128), ((0, 0), (0, 1), (1, 0), (1, 1)), strict=True):
        yield line + roles.get(path, "")


def _chunk(d: Derivation) -> str:
    """The piece of an operand that the hardware finds its way in by itself."""
    rows = d.match.form.chunk
    if d.major is Major.K:
        return f"{rows[0]} rows of 16 bytes, {d.swizzle.span_bytes} bytes apart"
    if d.swizzle is SwizzleMode.NONE:
        return f"16 bytes along MN by {rows[1]} k"
    return f"a swizzle atom, {d.swizzle.span_bytes} bytes along MN by {rows[1]} k"


def _advance(d: Derivation) -> Iterator[str]:
    yield "5. From the first subtile to the others: what to add to the start-address field, in 16-byte units"
    yield f"   advance      {d.advance}"
    yield f"   {size(d.advance)} subtiles share one descriptor but for its start address, the lowest field of the word."


def _descriptor(d: Derivation) -> Iterator[str]:
    word, encoded, notes = d.descriptor.word, d.descriptor.encode(), _meanings(d)
    values = word.decode(encoded)
    yield "Descriptor of the first subtile, for a tile at address 0"
    rows = [("field", "bits", "value", "in the word", "")]
    for field in word.fields:
        stored = (encoded & field.mask) >> field.low
        value = f"{values[field.name]} bytes" if field.unit > 1 else str(values[field.name])
        kept = f"{stored} x 16 bytes" if field.unit > 1 else f"code {stored}" if field.codes else str(stored)
        rows.append((field.name, span(field), value, kept, notes.get(field.name, "")))
    yield from _align(rows, "<<>><")
    yield f"   word  {word_text(encoded)}"
    yield (
        f"   The tile must start at a multiple of {d.swizzle.alignment_bytes} bytes"
        + ("." if d.swizzle is SwizzleMode.NONE else ", where the swizzle pattern starts: base_offset is 0 only then.")
    )


def _meanings(d: Derivation) -> dict[str, str]:
    """What each field says about this operand, and whether the hardware looks at it."""
    rows = 4 if d.swizzle is SwizzleMode.B128_BASE32B else 8
    if d.major is Major.K:
        leading, stride = "step to the next 16 bytes along K", "step to the next 8 rows along MN"
    elif d.swizzle is SwizzleMode.NONE:
        leading, stride = "step to the next 8 k", "step to the next 16 bytes along MN"
    else:
        leading, stride = "step to the next atom along MN", f"step to the next {rows} k"
    notes = {"start_address": "moves from subtile to subtile", LEADING: leading, STRIDE: stride}
    for name in d.dont_care:
        notes[name] += (
            "; unused in this mode" if name in d.match.form.unread else "; never taken, the operand ends before it"
        )
    return notes


def _offsets(d: Derivation) -> Iterator[str]:
    yield "Start address of subtile (mn, k) relative to the first, in bytes"
    yield from offset_table(d.offsets_bytes())


def offset_table(table: Table, title: str = "") -> Iterator[str]:
    """Lines of a table of offsets, mn down and k across; a table for each stage where there are stages.

    >>> print("\\n".join(offset_table(((0, 32), (8192, 8224)))))
       mn \\ k     0     1
            0     0    32
            1  8192  8224
    """
    assert isinstance(table, tuple)
    first = table[0]
    if isinstance(first, tuple) and isinstance(first[0], tuple):
        for stage in range(len(first[0])):
            yield f"   stage {stage}"
            yield from offset_table(tuple(tuple(cell[stage] for cell in row) for row in table))  # type: ignore[union-attr,index]
        return
    columns = len(first) if isinstance(first, tuple) else 1
    for start in range(0, columns, _COLUMNS):
        stop = min(start + _COLUMNS, columns)
        rows = [("mn \\ k", *map(str, range(start, stop)))]
        for i, row in enumerate(table):
            assert isinstance(row, tuple)
            rows.append((str(i), *map(str, row[start:stop])))
        yield from _align(rows, ">" * len(rows[0]))


def _align(rows: Sequence[tuple[str, ...]], sides: str) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True))
        yield ("   " + "  ".join(cells)).rstrip()


def _modes(rows: Iterable[tuple[str, Layout, tuple[str, ...]]], unit_bits: int) -> Iterator[str]:
    """Lines that name each mode and say how many of what it counts, and how far apart they lie."""
    told = [(f"  {name}", str(mode), _steps(mode, unit_bits, labels)) for name, mode, labels in rows]
    yield from _align(told, "<<<")


def _steps(mode: Layout, unit_bits: int, labels: tuple[str, ...]) -> str:
    """A mode in words; ``labels`` name its parts where there are as many."""
    parts = list(flatten(mode))
    texts = []
    for i, part in enumerate(parts):
        label = f" {labels[i]}" if len(labels) == len(parts) and labels[i] else ""
        if size(part) == 1:
            label = label.removesuffix("s")
        apart = f", {_bits(_stride(part) * unit_bits)} apart" if size(part) > 1 else ""
        texts.append(f"{size(part)}{label}{apart}")
    return "; ".join(texts)


def _stride(part: Layout) -> int:
    stride = part(1)
    assert isinstance(stride, int)
    return stride


def _bits(bits: int) -> str:
    return f"{bits // 8} bytes" if bits % 8 == 0 else f"{bits} bits"


def _times(extents: tuple[int, ...]) -> str:
    return "x".join(map(str, extents))
