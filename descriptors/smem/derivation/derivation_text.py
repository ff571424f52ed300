"""Print a derivation and its proof as text, and convert them into plain data.

Invariant: the text has every word, layout and offset that the data has.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> record, story = record_derivation(d), story_derivation(d)
>>> all(str(step) in story for step in (d.atom, d.smem_tile, d.partitioned, d.recast, d.canonical, d.advance))
True
>>> record["descriptor"]["word"] in story and all(str(offset) in story for row in d.offsets_bytes() for offset in row)
True

Invariant: ``fits_field`` and ``fits_memory`` agree with the numbers of the same record.

>>> tiles = [derive((128, 64 * n), "bf16", "K", "128B", (64, 16), capacity=None, verify=False) for n in (4, 15, 17)]
>>> records = [record_reach(d.advance_report()) for d in tiles]
>>> all(record["fits_field"] == (record["highest_start"] < 1 << 18) for record in records)
True
>>> [(record["fits_memory"], record["end"] <= 227 * 1024) for record in records]
[(True, True), (False, False), (False, False)]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from typing import Any

from descriptors.answers import Table, plain_data
from descriptors.records import WORD, Named, Option, Record, Row, attributes, each, within
from descriptors.smem.derivation.advance import AdvanceReport
from descriptors.smem.derivation.crossing import LINE, PIECES
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.explanation import SHORT, chunk_meaning, names, step_meanings, unread_because
from descriptors.smem.derivation.proved import Proof
from descriptors.smem.derivation.subtile_words import MOST_LISTED, subtile_table, words_record
from descriptors.smem.derivation.verdict import VERDICT, judge, proof_lines
from descriptors.smem.derivation.verify import Report
from descriptors.smem.operands.atoms import atoms_of, canonical_atom
from descriptors.smem.operands.forms import LEADING, STRIDE
from descriptors.smem.operands.operand import DTYPES, SwizzleMode
from descriptors.smem.operands.swizzled import plain, stored_text
from descriptors.smem.words.bitfield import field_cells, span
from descriptors.smem.words.descriptor import FIELDS, MNEMONICS, STORED
from descriptors.targets import generation, holders
from descriptors.text import aligned, bits_text, counted, extents_text, some, tuple_text, word_text
from layoutalg import ComposedLayout, Layout, Swizzle, flatten, size


def tell_derivation(d: Derivation, base: int = 0, report: Report | Proof | None = None, because: str = "") -> str:
    """Return the summary of a derivation: the word, its fields, the advances, the alignment and the verdict.

    Args:
        d: the result of ``derive``.
        base: address of the tile, in bytes.
        report: the result of ``proved`` or ``verify``, for the last lines.
        because: why the architecture was assumed; "" if it was given.

    >>> from descriptors import derive
    >>> print(tell_derivation(derive((128, 128), "bf16", "K", "128B", (64, 16))))
    word       0x4000404000010000  first 64x16 of a 128x128 bf16 tile at address 0
    arch       sm100 (tcgen05): documented, not measured on a Blackwell GPU
    LBO        16 bytes, field 1: unused in this mode
    SBO        1024 bytes, field 64: step to the next 8 rows along MN
    swizzle    128B, code 2
    major      K: bit 15 (A) or bit 16 (B) of idesc is 0
    next K     add 0, 2, 4, 6, 1024, 1026, 1028, 1030 to the word, one for each 16 of K
    next MN    add 0, 512 to the word, one for each 64 of MN
    alignment  1024 bytes; for a tile at address a add a / 16 to the word
    """
    lines = aligned(_head(d, base, because, proved=report is not None))
    return "\n".join([*lines, *judge(d, base, report).lines])


def _head(d: Derivation, base: int, because: str, *, proved: bool) -> Iterator[tuple[str, str]]:
    """Yield the rows of the summary."""
    from descriptors.smem.instructions.transpose import transpose_bit  # pictures do not need the instructions

    first = d.descriptor_at(base)
    word, encoded = first.word, first.encode()
    what = f"first {extents_text(d.mma)} of a {extents_text(d.tile)} {d.element} tile at address {base}"
    yield "word", f"{word_text(encoded)}  {what}"
    if not d.order:  # an explicit layout: state which swizzle the proof applies to it
        yield "stored as", stored_text(d.smem_tile, d.element)
    assumed = f", assumed, {because}" if because else ""
    known = judge(d, base).evidence
    yield (
        "arch",
        f"{d.arch} ({MNEMONICS[generation(d.arch)] if d.instruction == 'mma' else d.instruction}){assumed}"
        + ("" if proved else f": {known}"),
    )
    meanings = step_meanings(d)
    for name in (LEADING, STRIDE):
        field = (encoded & word[name].mask) >> word[name].low
        yield SHORT[name], f"{getattr(first, name)} bytes, field {field}: {unread_because(d, name) or meanings[name]}"
    yield "swizzle", f"{d.swizzle}, code {(encoded & word['swizzle'].mask) >> word['swizzle'].low}"
    if d.instruction == "mma":
        yield "major", f"{d.major}: {transpose_bit(d.arch, d.operand, brief=True)} is {int(d.transposed)}"
    else:
        yield "major", f"{d.major}"
    yield from _next_rows(d)
    multiple, moves = f"{d.swizzle.alignment_bytes} bytes", base == 0 and d.crossing is None
    yield "alignment", f"{multiple}; for a tile at address a add a / 16 to the word" if moves else multiple


def _next_rows(d: Derivation) -> Iterator[tuple[str, str]]:
    """Yield the numbers to add to the word for the other subtiles, along K, along MN and along the stages."""
    (mn, k), modes = names(d), tuple[Layout | ComposedLayout, ...](d.advance)
    stages = ["stage"] if len(modes) == 3 else [f"stage {i}" for i in range(len(modes) - 2)]
    each = [f"one for each {extent} of {name}" for extent, name in zip(d.mma, (mn, k), strict=True)]
    rows = [(k, modes[1], each[1]), (mn, modes[0], each[0])]
    rows += [(name, mode, "one for each stage") for name, mode in zip(stages, modes[2:], strict=True)]
    for name, mode, what in rows:
        if size(mode) > 1:
            yield f"next {name}", f"add {some(_ends(mode))} to the word, {what}"
        if d.crossing is not None and name == k:
            yield "", f"and {some([d.crossing.line_bytes(i) // 16 for i in range(size(mode))])} to its field LBO"


def _ends(mode: Layout | ComposedLayout) -> list[object]:
    """Return the offsets of a mode to print: the first eight, and the last."""
    count = size(mode)
    return [mode(i) for i in (*range(min(count, 8)), *([count - 1] if count > 8 else []))]


def story_derivation(d: Derivation, base: int = 0, report: Report | Proof | None = None, because: str = "") -> str:
    """Return the summary, followed by every step of the derivation.

    Args:
        d, base, report, because: as in ``tell_derivation``.

    >>> from descriptors import derive
    >>> story = story_derivation(derive((128, 128), "bf16", "K", "128B", (64, 16)))
    >>> print(story.splitlines()[10])
    Shared-memory descriptor (sm100) of an operand: bf16, K-major, swizzle 128B, 64x16 out of a 128x128 tile
    """
    parts = [*layout_steps(d), _advance(d, base), _descriptor(d, base), _offsets(d)]
    return "\n\n".join([tell_derivation(d, base, report, because), _title(d), *("\n".join(part) for part in parts)])


def tables_derivation(d: Derivation) -> list[Table]:
    """Return the table of the descriptor's fields."""
    return [("descriptor of the first subtile", _field_rows(d, 0))]


def _title(d: Derivation) -> str:
    """Return the title: the operand, its type, its layout and the tile."""
    what = {None: "an operand", "A": "an A operand", "B": "a B operand"}[d.operand]
    title = (
        f"Shared-memory descriptor ({d.arch}) of {what if d.instruction == 'mma' else d.instruction}: {d.element}, "
        f"{d.major}-major, swizzle {d.swizzle}, {extents_text(d.mma)} out of a {extents_text(d.tile)} tile"
    )
    if d.operand is None and d.instruction == "mma":
        title += "\nMN is M of an A operand and N of a B operand."
    return title


#: Nested tuples of integers.
INTEGERS = Named("Integers", (int, ["Integers"]))


def _is_swizzled(layout: Layout | ComposedLayout) -> bool:
    """Return whether a layout is a swizzle after a plain layout."""
    return isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle)


def _stride_of(layout: Layout | ComposedLayout) -> object:
    """Return the stride of a layout; None if only its columns have strides, which its text shows."""
    return plain(layout).stride if isinstance(layout, Layout) or _is_swizzled(layout) else None


#: A layout: its notation, its shape and stride, and its swizzle.
LAYOUT = Record(
    "LayoutText",
    text=Row(str, "."),
    shape=INTEGERS,
    stride=Row((INTEGERS, None), _stride_of),
    swizzle=Row((str, None), lambda layout: layout.outer if _is_swizzled(layout) else None),
)
#: The range of the subtiles as plain data, with ``fits_field`` and ``fits_memory``.
record_reach = Record(
    **attributes(AdvanceReport, "base subtiles lowest_start highest_start last end capacity highest_base named"),
    **attributes(AdvanceReport, "fits_field fits_memory"),
)
#: The result of ``verify`` and the result of ``proved``, as plain data.
COMPARED = Record(**attributes(Report, "ok elements subtiles evidence beyond warnings"))
PROVED = Record(
    "Proof",
    family=Row(([str], None), lambda proof: list(proof.family) or None),
    no_family=Row((str, None), lambda proof: proof.alone or None),
    base_multiple=Row((int, None), lambda proof: proof.step or None),
    by=Row([{"theorem", "walk"}], lambda proof: list(proof.by)),
    **attributes(Proof, "ok elements subtiles evidence beyond warnings"),
)


#: The whole derivation as plain data: layouts as notation, shape and stride; fields in bytes; words in hexadecimal.
DERIVATION = Record(
    "Derivation",
    **attributes(Derivation, "arch operand instruction"),
    dtype=Row(DTYPES, "element"),
    **attributes(Derivation, "major swizzle tile mma order transposed"),
    **each(LAYOUT, "atom smem_tile partitioned recast"),
    canonical=Row(
        Record(**within("canonical", **LAYOUT.rows | {"stride": Row(INTEGERS)}), form=Row(str, "match.form")), "."
    ),
    advance=LAYOUT,
    descriptor=Row(
        Record(fields=FIELDS, stored=STORED, dont_care=[str], dont_care_mask=WORD, word=WORD), Option("descriptor")
    ),
    alignment_bytes=Row(int, "swizzle.alignment_bytes"),
    base=Row(int, Option("base")),
    reach=Row(record_reach, Option("reach")),
    offsets_bytes=Row(INTEGERS, lambda d: d.offsets_bytes()),
    crossing=Row(
        Record(lines=Row(LAYOUT, "crossing.lines"), lines_bytes=Row(INTEGERS, lambda d: d.lines_bytes())),
        lambda d: None if d.crossing is None else d,
        optional=True,
    ),
    words=Row(Named("Words", (WORD, ["Words"])), Option("words")),
    proof=Row(lambda: (PROVED, None), Option("proof")),
    verdict=Row(VERDICT, Option("verdict")),
    check=Row("Oracle", Option("check"), optional=True),
)


def record_derivation(derivation: Derivation, base: int = 0, report: Report | Proof | None = None) -> dict[str, Any]:
    """Return the whole derivation as plain data: layouts as notation, shape and stride; fields in bytes; words in hex.

    Args:
        derivation: the result of ``derive``.
        base: address of the tile, in bytes.
        report: the result of ``proved`` or ``verify``.

    >>> from descriptors import derive
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> record_derivation(d)["descriptor"]["word"]
    '0x4000404000010000'
    """
    d = derivation
    return DERIVATION(
        d,
        base=base,
        descriptor=_descriptor_parts(d, base),
        reach=d.advance_report(base),
        words=words_record(d, base),
        proof=None if report is None else record_proof(report),
        verdict=judge(d, base, report),
    )


def _descriptor_parts(d: Derivation, base: int) -> tuple[object, ...]:
    """Return the fields of the first descriptor, their stored numbers, the unread fields with their mask, the word."""
    word, encoded = d.descriptor.word, d.descriptor_at(base).encode()
    values = word.decode(encoded)
    stored = {field.name: (encoded & field.mask) >> field.low for field in word.fields}
    fields = {field.name: plain_data(values[field.name]) for field in word.fields}
    return fields, stored, d.dont_care, d.dont_care_mask(), encoded


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
    yield from aligned(_field_rows(d, base), "<<>><", indent=3)
    yield f"   word  {word_text(d.descriptor_at(base).encode())}"
    if d.transposed:
        from descriptors.smem.instructions.transpose import transpose_note  # needed for MN-major operands only

        yield f"   {transpose_note(d.arch, d.operand)}"
    starts = ", where the swizzle pattern starts: base_offset is 0 only then."
    if d.crossing is not None:
        starts = ": base_offset must be 0 where LBO is an address."
    aligned_to = f"   The tile must start at a multiple of {d.swizzle.alignment_bytes} bytes"
    yield aligned_to + ("." if d.swizzle is SwizzleMode.NONE else starts)


def _field_rows(d: Derivation, base: int) -> list[tuple[str, ...]]:
    """Return the table of the fields, with its heading first."""
    first, notes = d.descriptor_at(base), _meanings(d)
    word, encoded = first.word, first.encode()
    values = word.decode(encoded)
    rows: list[tuple[str, ...]] = [("field", "bits", "value", "in the word", "")]
    for field in word.fields:
        number = (encoded & field.mask) >> field.low
        cells = field_cells(field, number, values[field.name])
        rows.append((field.name, span(field), *cells, notes.get(field.name, "")))
    return rows


def _meanings(d: Derivation) -> dict[str, str]:
    """Return the meaning of each field for this operand, and whether the hardware ignores it."""
    notes = {"start_address": "moves from subtile to subtile"}
    if d.crossing is not None:
        notes["lbo_mode"] = f"LBO is an absolute address; {holders('K = 96')} alone"
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


def layout_steps(d: Derivation) -> list[list[str]]:
    """Return the lines of steps 1 to 4: the tile, its operands, the recast to 16-byte units and the canonical form.

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
        atom_names = {atom.in_elements(d.element): atom.name for atom in reversed(atoms_of(d.major, d.swizzle))}
        name = atom_names.get(d.atom, canonical_atom(d.major, d.swizzle).name)
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
    mode_names = [f"{part} {name}" for part in ("operand", "subtiles") for name in names(d)]
    modes = zip(chain(mode_names, repeat("stages")), (*operand, *rest), repeat(()), strict=False)
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
    """Yield a line for each mode with its name, its extent and its stride in bytes."""
    table = [(f"  {name}", str(mode), _mode_in_words(mode, unit_bits, labels)) for name, mode, labels in rows]
    yield from aligned(table, indent=3)


def _mode_in_words(mode: Layout, unit_bits: int, labels: tuple[str, ...]) -> str:
    """Describe a mode; ``labels`` name its parts if there are as many labels as parts."""
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


def tell_proof(report: Report | Proof) -> str:
    """Return the text of a proof: what was proved, the evidence of the model, and the tiles and bases it covers.

    >>> from descriptors import derive, verify
    >>> print(tell_proof(verify(derive((128, 128), "bf16", "K", "128B", (64, 16), arch="sm90"))))
    proved: 16384 elements in 16 subtiles (read model: measured on a Hopper GPU)
    >>> from descriptors import proved
    >>> print(tell_proof(proved(derive((128, 128), "bf16", "K", "128B", (64, 16), arch="sm90"))))
    proved: 16384 elements in 16 subtiles, by theorem (read model: measured on a Hopper GPU)
       for every tile 64*m x 64*k, any base that is a multiple of 1024
    """
    return "\n".join(proof_lines(report))


def tables_proof(_: Report | Proof) -> list[Table]:
    """Return no tables, because a proof is only a line or two."""
    return []


def record_proof(report: Report | Proof) -> dict[str, Any]:
    """Return a proof as plain data; a proof by the theorem has the tiles and the bases that it covers.

    >>> from descriptors import derive, proved
    >>> record_proof(proved(derive((128, 128), "bf16", "K", "128B", (64, 16))))["family"]
    ['64*m', '64*k']
    """
    return PROVED(report) if isinstance(report, Proof) else COMPARED(report)
