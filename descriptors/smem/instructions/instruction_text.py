"""Instructions, told: the fields of an instruction descriptor, the tables of what is legal, and the table of targets.

Invariant: a line for every field of the word, and the fields of the data, written again, are the word.

>>> from descriptors import decode_idesc, idesc
>>> told = decode_idesc(idesc("bf16", m=128, n=256, b_major="MN"), "f16")
>>> all(name in tell_idesc(told) for name in record_idesc(told)["fields"])
True
>>> word_text(word_of("f16").encode(dict(told.values)), 32) == record_idesc(told)["word"]
True

Invariant: the data of an architecture's kinds, put together, are all rows of the tables but those of K 96, which sm100
lacks.

>>> from descriptors.smem.instructions import tables
>>> from descriptors.smem.instructions.rules import select_rows
>>> told = [record_selection(select_rows(row.arch, row.kind)) for row in tables.KINDS]
>>> counts = {name: sum(len(one[name]) for one in told) for name in ("TYPES", "SHAPES", "OPERANDS", "SCALES")}
>>> later = {name: sum(getattr(row, "k", 0) in (96, (96,)) for row in getattr(tables, name)) for name in counts}
>>> all(count == len(getattr(tables, name)) - later[name] for name, count in counts.items())
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from descriptors.records import ARCH, HALF, Option, Record, Row, attributes, evidence_row
from descriptors.smem.instructions.facts import (
    CopyRow,
    KindRow,
    OperandRow,
    ScaleRow,
    ShapeRow,
    TransposedRow,
    TypeRow,
    spell,
)
from descriptors.smem.instructions.idesc import INSTRUCTION_DESCRIPTORS, RUBIN_DESCRIPTORS, DecodedInstruction, word_of
from descriptors.smem.instructions.rules import Selection, dense_k
from descriptors.smem.words.bitfield import field_kinds
from descriptors.targets import FEATURES, Architecture, has
from descriptors.text import aligned, counted, known_line, word_text

#: The note on a row: the number of its source, or of who disputes it.
_Note = Callable[[Any], str]


def tell_idesc(instruction: DecodedInstruction) -> str:
    """An instruction descriptor for a person.

    >>> from descriptors import decode_idesc
    >>> print(tell_idesc(decode_idesc(0x08200490, "f16")).splitlines()[0])
    0x08200490  sm100 instruction descriptor of kind f16
    """
    word = word_of(instruction.kind, instruction.arch)
    title = f"{word_text(instruction.word, word.bits)}  {word.name}"
    warnings = (f"warning: {warning}" for warning in instruction.warnings)
    rows = aligned([("bits", "field", "value"), *instruction.rows()])
    return "\n".join([title, *rows, *warnings, *known_line(instruction.arch)])


def _word_of(instruction: DecodedInstruction, value: int) -> str:
    """Return a number in hexadecimal, as wide as the word of an instruction."""
    return word_text(value, word_of(instruction.kind, instruction.arch).bits)


#: An instruction descriptor as plain data.
record_idesc = Record(
    "InstructionWord",
    kind=str,
    word=Row(HALF, lambda instruction: _word_of(instruction, instruction.word)),
    fields=Row(
        lambda: field_kinds([*INSTRUCTION_DESCRIPTORS.values(), *RUBIN_DESCRIPTORS.values()]),
        lambda instruction: dict(instruction.values),
    ),
    unknown_bits=Row(HALF, lambda instruction: _word_of(instruction, instruction.unknown_bits)),
    warnings=[str],
    evidence=evidence_row()._replace(optional=False),
    check=Row("Oracle", Option("check"), optional=True),
)


def _reads(row: Architecture) -> str:
    """Return the name of the instructions of an architecture."""
    return {"sm90": "wgmma", "sm100": "tcgen05"}.get(row.tables, "mma.sync")


def _columns(row: Architecture) -> str:
    """Return the columns of tensor memory that one allocation may have."""
    wide = f", exclusive {row.exclusive_columns}" if row.exclusive_columns > row.columns else ""
    return f"{row.columns}{wide}" if row.columns else "none"


#: An architecture, and the features that its target has.
ARCHITECTURE = Record(
    "Architecture",
    number=int,
    name=Row(ARCH, label="arch"),
    title=Row(str, label="chip"),
    ptx=Row(str, label="PTX"),
    tables=Row(str, label="instructions", text=_reads),
    static_shared=int,
    shared=Row(int, label="shared memory"),
    columns=Row(int, label="columns", text=_columns),
    exclusive_columns=int,
    known=Row(str, label="known"),
    follows=str,
    target=str,
    features=Row([str], lambda row: [name for name in FEATURES if has(name, row.target)]),
)
#: The table of targets as plain data.
record_architectures = Record(architectures=Row([ARCHITECTURE], "."))


def tell_architectures(rows: Sequence[Architecture]) -> str:
    """The table of targets for a person: a line for each architecture.

    >>> from descriptors.targets import ARCHITECTURES
    >>> [line.split()[0] for line in tell_architectures(ARCHITECTURES).splitlines()[2:4]]
    ['sm100', 'sm103']
    """
    return "\n".join(aligned(ARCHITECTURE.table(rows)))


def tell_selection(selection: Selection) -> str:
    """The rows for a person: of one kind all that there is to know, of an architecture a line for each kind.

    >>> from descriptors.smem.instructions.rules import select_rows
    >>> print(tell_selection(select_rows("sm90", "tf32")).splitlines()[3])
    shape       cta_group 1  dense   K 8   M 64  N 8..256 step 8  A smem/rmem  [1]
    >>> print(tell_selection(select_rows("sm90")).splitlines()[-1])
    b1    b1                sm_90a
    """
    lines = _arch_lines(selection) if selection.kind is None else _kind_lines(selection)
    return "\n".join([*lines, *known_line(selection.arch)])


def _arch_lines(selection: Selection) -> Iterator[str]:
    """A line for each kind, then the shapes of ``tcgen05.cp`` where the architecture has them."""
    yield from aligned((row.kind, " ".join(row.dtypes), row.targets) for row in selection.kinds)
    yield from aligned(
        ("tcgen05.cp", row.shape, " or ".join(row.multicast) or "no multicast") for row in selection.copies
    )


def _kind_lines(selection: Selection) -> Iterator[str]:
    """All tables of one kind, and at the end the sources by their numbers, in the order of their first mention."""
    sources: dict[str, int] = {}

    def cited(source: str) -> str:
        return f"[{sources.setdefault(source, len(sources) + 1)}]"

    def note(row: Any) -> str:
        return f"lenient only {cited(row.disputed)}" if row.disputed else cited(row.source)

    (kind,) = selection.kinds
    yield f"{kind.arch} kind {kind.kind}: targets {kind.targets} {cited(kind.source)}"
    negations = "A and B can be negated" if kind.negate else "no negation"
    yield f"options     {negations}; {'results can saturate' if kind.saturate else 'no saturation'}"
    for rows in _tables(selection, note):
        yield from aligned(rows)
    yield from (f"[{number}] {source}" for source, number in sources.items())


def _tables(selection: Selection, note: _Note) -> Iterator[list[tuple[str, ...]]]:
    """The cells of each table of one kind."""
    s = selection
    wider = any(row.k > dense_k(s.arch, row.kind) * (1 + row.sparse) for row in s.shapes)
    narrow = {row: " of the least K" * (wider and not row.wide) for row in s.types}
    yield [("types     ", f"{_or(row.a)} x {_or(row.b)} -> {_or(row.d)}{narrow[row]}", note(row)) for row in s.types]
    yield [_shape_cells(row, note) for row in s.shapes]
    yield [_transposed_cells(row, note) for row in s.transposed_b]
    yield [
        (
            "operand   ",
            _or(row.dtypes),
            f"{row.major}-major",
            _or(map(str, row.swizzles)),
            *_DERIVED_AS.get(row.dtypes, ()),
            note(row),
        )
        for row in s.operands
    ]
    yield [_scale_cells(row, note) for row in s.scales]


#: Operand types whose descriptors are derived for another type, with the remark that says so.
_DERIVED_AS: dict[tuple[str, ...], tuple[str, ...]] = {("b1",): ("derive it as u8 with K / 8",)}


def _shape_cells(row: ShapeRow, note: _Note) -> tuple[str, ...]:
    form = f"{'sparse' if row.sparse else 'dense'}{' .ws' if row.ws else ''}"
    extents = f"K {row.k}", f"M {spell(row.m)}", f"N {spell(row.n)}"
    return ("shape     ", f"cta_group {row.cta_group}", form, *extents, f"A {_or(row.a_source)}", note(row))


def _transposed_cells(row: TransposedRow, note: _Note) -> tuple[str, ...]:
    form = "" if row.sparse is None else " sparse" if row.sparse else " dense"
    extents = f"M {spell(row.m)}, N {spell(row.n)}" if row.m else f"N {spell(row.n)}"
    place = f", A {row.a_source[0]}" if len(row.a_source) == 1 else ""
    return ("8-bit B MN", f"cta_group {row.cta_group}{form}", f"{extents}{place}", note(row))


def _scale_cells(row: ScaleRow, note: _Note) -> tuple[str, ...]:
    ids, depths = f"ids {_or(map(str, row.ids))}", f"K {_or(map(str, row.k))}"
    depths += f", {counted(row.factors, 'factor')} a row" if row.factors else ""
    return ("scale     ", row.dtype, f"vector {row.vector}", row.name, ids, depths, note(row))


def _or(names: Iterable[str]) -> str:
    return "/".join(names)


def _table(row: Any, source: str, **rows: Row) -> Row:
    """Return the row for a table of instructions, whose keys are the fields of its rows."""
    return Row([Record(**attributes(row, " ".join(row.__match_args__)) | rows)], source)


#: The rows as plain data, by the name of their table, and how those of sm100 are known.
record_selection = Record(
    "Instructions",
    KINDS=_table(KindRow, "kinds"),
    TYPES=_table(TypeRow, "types"),
    SHAPES=_table(ShapeRow, "shapes", a_source=Row([{"rmem", "smem", "tmem"}])),
    TRANSPOSED_B=_table(TransposedRow, "transposed_b"),
    OPERANDS=_table(OperandRow, "operands"),
    SCALES=_table(ScaleRow, "scales"),
    COPIES=_table(CopyRow, "copies"),
    evidence=evidence_row(),
)
