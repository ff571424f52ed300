"""A derivation, step by step, with its proof.

``tell`` explains every step in words: the layout in CuTe notation, what each of its modes is, then the descriptor field
by field and the offset of every subtile. ``record`` holds the same facts as plain data.

Law: every word, layout and offset that the data has stands in the text too.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> told, story = record(d), tell(d)
>>> all(str(step) in story for step in (d.atom, d.smem_tile, d.partitioned, d.recast, d.canonical, d.advance))
True
>>> told["descriptor"]["word"] in story and all(str(offset) in story for row in d.offsets_bytes() for offset in row)
True
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from descriptors import text
from descriptors.output.tiles import advance, proof
from descriptors.output.tiles.explanation import names, step_meanings, unread_because
from descriptors.output.tiles.layout_steps import layout_steps
from descriptors.output.tiles.subtiles import MOST_LISTED, subtile_table, words_record
from descriptors.output.words.fields import field_cells, number_or_text
from descriptors.output.words.pages import page
from descriptors.smem.derivation.crossing import LINE, PIECES
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.proved import Proof
from descriptors.smem.derivation.verify import Report
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.operands.swizzled import plain
from descriptors.smem.words.bitfield import span
from descriptors.text import aligned, counted, extents_text, word_text
from layoutalg import ComposedLayout, Layout, Swizzle, size


@text.tell.register(Derivation)
def tell(derivation: Derivation, base: int = 0, report: Report | Proof | None = None) -> str:
    """The whole derivation as a person would explain it, in lines that need no terminal.

    Args:
        derivation: what ``derive`` returned.
        base: address of the tile, in bytes.
        report: what ``proved`` or ``verify`` returned, for a last line.

    >>> from descriptors import derive
    >>> story = tell(derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16)))
    >>> print(story.splitlines()[0])
    Shared-memory descriptor (sm100) of an operand: bf16, K-major, swizzle 128B, 64x16 out of a 128x128 tile
    """
    d = derivation
    parts = [*layout_steps(d), _advance(d, base), _descriptor(d, base), _offsets(d)]
    told = [] if report is None else [proof.tell(report)]
    return "\n\n".join([_title(d), *("\n".join(part) for part in parts), *told])


@text.html.register(Derivation)
def _html(d: Derivation) -> str:
    return page(tell(d), [("descriptor of the first subtile", _fields(d, 0))], text.image(d))


def _title(d: Derivation) -> str:
    """What is derived, and which way round it is."""
    what = {None: "an operand", "A": "an A operand", "B": "a B operand"}[d.operand]
    title = (
        f"Shared-memory descriptor ({d.arch}) of {what if d.instruction == 'mma' else d.instruction}: {d.element}, "
        f"{d.major}-major, swizzle {d.swizzle}, {extents_text(d.mma)} out of a {extents_text(d.tile)} tile"
    )
    if d.operand is None and d.instruction == "mma":
        title += "\nMN is M of an A operand and N of a B operand."
    return title


def record(derivation: Derivation, base: int = 0, report: Report | Proof | None = None) -> dict[str, Any]:
    """The whole derivation as plain data: layouts as notation, shape and stride; fields in bytes; words in hex.

    Args:
        derivation: what ``derive`` returned.
        base: address of the tile, in bytes.
        report: what ``proved`` or ``verify`` returned.

    >>> from descriptors import derive
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> record(d)["descriptor"]["word"]
    '0x4000404000010000'
    """
    d = derivation
    return {
        "arch": d.arch,
        "operand": d.operand,
        "instruction": d.instruction,
        "dtype": d.element.name,
        "major": str(d.major),
        "swizzle": str(d.swizzle),
        "tile": d.tile,
        "mma": d.mma,
        "order": d.order,
        "transposed": d.transposed,
        "atom": _layout_record(d.atom),
        "smem_tile": _layout_record(d.smem_tile),
        "partitioned": _layout_record(d.partitioned),
        "recast": _layout_record(d.recast),
        "canonical": {**_layout_record(d.canonical), "form": str(d.match.form)},
        "advance": _layout_record(d.advance),
        "descriptor": _descriptor_record(d, base),
        "alignment_bytes": d.swizzle.alignment_bytes,
        "base": base,
        "reach": advance.record(d.advance_report(base)),
        "offsets_bytes": d.offsets_bytes(),
        **({} if d.crossing is None else {"crossing": _crossing_record(d)}),
        "words": words_record(d, base),
        "proof": None if report is None else proof.record(report),
    }


def _descriptor_record(d: Derivation, base: int) -> dict[str, Any]:
    word, encoded = d.descriptor.word, d.descriptor_at(base).encode()
    values = word.decode(encoded)
    return {
        "fields": {field.name: number_or_text(values[field.name]) for field in word.fields},
        "stored": {field.name: (encoded & field.mask) >> field.low for field in word.fields},
        "dont_care": d.dont_care,
        "dont_care_mask": word_text(d.dont_care_mask()),
        "word": word_text(encoded),
    }


def _crossing_record(d: Derivation) -> dict[str, Any]:
    """Where operands that cross atoms go on."""
    assert d.crossing is not None
    return {"lines": _layout_record(d.crossing.lines), "lines_bytes": d.lines_bytes()}


def _layout_record(layout: Layout | ComposedLayout) -> dict[str, Any]:
    if isinstance(layout, ComposedLayout) and not isinstance(layout.outer, Swizzle):
        # No one shape and stride is this function; those of the columns stand in its text.
        return {"text": str(layout), "shape": layout.shape, "stride": None, "swizzle": None}
    inner = plain(layout)
    swizzle = str(layout.outer) if isinstance(layout, ComposedLayout) else None
    return {"text": str(layout), "shape": inner.shape, "stride": inner.stride, "swizzle": swizzle}


def _advance(d: Derivation, base: int) -> Iterator[str]:
    yield "5. From the first subtile to the others: what to add to the start-address field, in 16-byte units"
    yield f"   advance      {d.advance}"
    many = size(d.advance)
    if d.crossing is not None:
        yield f"   Operand k begins at column {PIECES}*k; the right part says which, the left part where a column lies."
        yield f"   lines        {d.crossing.lines}   from line of 128 bytes along K to where it lies"
        yield (
            f"   The last column of operand k lies in line ({PIECES}*k + {PIECES - 1})//{LINE}, whose address is LBO: "
            "absolute, so that it moves with the tile."
        )
        yield f"   {counted(many, 'subtile')} share one descriptor but for these two fields."
        yield f"   Tile at {base}: {d.advance_report(base)}."
        return
    share = (
        "has one descriptor: its start address is" if many == 1 else "share one descriptor but for its start address,"
    )
    yield f"   {counted(many, 'subtile')} {share} the lowest field of the word."
    yield f"   Tile at {base}: {d.advance_report(base)}."


def _descriptor(d: Derivation, base: int) -> Iterator[str]:
    yield f"Descriptor of the first subtile, for a tile at address {base}"
    yield from aligned(_fields(d, base), "<<>><", indent=3)
    yield f"   word  {word_text(d.descriptor_at(base).encode())}"
    if d.transposed:
        from descriptors.smem.instructions.transpose import transpose_note  # of MN-major operands alone

        yield f"   {transpose_note(d.arch, d.operand)}"
    starts = ", where the swizzle pattern starts: base_offset is 0 only then."
    if d.crossing is not None:
        starts = ": base_offset must be 0 where LBO is an address."
    aligned_to = f"   The tile must start at a multiple of {d.swizzle.alignment_bytes} bytes"
    yield aligned_to + ("." if d.swizzle is SwizzleMode.NONE else starts)


def _fields(d: Derivation, base: int) -> list[tuple[str, ...]]:
    """The table of the fields, its heading first."""
    first, notes = d.descriptor_at(base), _meanings(d)
    word, encoded = first.word, first.encode()
    values = word.decode(encoded)
    rows: list[tuple[str, ...]] = [("field", "bits", "value", "in the word", "")]
    for field in word.fields:
        stored = (encoded & field.mask) >> field.low
        cells = field_cells(field, stored, values[field.name])
        rows.append((field.name, span(field), *cells, notes.get(field.name, "")))
    return rows


def _meanings(d: Derivation) -> dict[str, str]:
    """What each field says about this operand, and whether the hardware looks at it."""
    notes = {"start_address": "moves from subtile to subtile"}
    if d.crossing is not None:
        notes["lbo_mode"] = "LBO is an absolute address; sm_103a alone"
    for name, meaning in step_meanings(d).items():
        because = unread_because(d, name)
        notes[name] = f"{meaning}; {because}" if because else meaning
    return notes


def _offsets(d: Derivation) -> Iterator[str]:
    mn, k = (name.lower() for name in names(d))
    yield f"Start address of subtile ({mn}, {k}) relative to the first, in bytes"
    if size(d.advance) > MOST_LISTED:
        yield f"   {size(d.advance)} subtiles are too many to list."
    else:
        yield from subtile_table(d.offsets_bytes(), mn)
        if d.crossing is not None:
            yield f"Line in which K goes on of subtile ({mn}, {k}) relative to that of the first, in bytes"
            yield from subtile_table(d.lines_bytes(), mn)
