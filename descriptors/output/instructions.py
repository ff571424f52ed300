"""Instructions and their descriptors, told to a person and as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from descriptors.text import table


def kind_lines(arch: str, kind: str) -> list[str]:
    """What there is to know of one kind: types, shapes, operands, scale factors, and the sources by number.

    >>> print(kind_lines("sm90", "tf32")[3])
    shape       cta_group 1  dense   K 8   M 64  N 8..256 step 8  [1]
    """
    from descriptors.instructions import tables as shapes
    from descriptors.instructions.rows import Row, spell
    from descriptors.instructions.rules import kind_row

    known = kind_row(arch, kind)
    sources: dict[str, int] = {}

    def cited(row: Row) -> str:
        return f"[{sources.setdefault(row.source, len(sources) + 1)}]"

    def disputed(row: Row) -> str:
        return f"lenient only [{sources.setdefault(row.disputed, len(sources) + 1)}]" if row.disputed else cited(row)

    mine: list[list[Any]] = [
        [row for row in rows if (row.arch, row.kind) == (arch, kind)]
        for rows in (shapes.TYPES, shapes.SHAPES, shapes.TRANSPOSED_B, shapes.OPERANDS, shapes.SCALES)
    ]
    types, extents, transposed, operands, scales = mine
    negations = "A and B can be negated" if known.negate else "no negation"
    parts = [
        [f"{arch} kind {kind}: targets {known.targets} {cited(known)}"],
        [f"options     {negations}; {'results can saturate' if known.saturate else 'no saturation'}"],
        table(("types     ", f"{_or(row.a)} x {_or(row.b)} -> {_or(row.d)}", disputed(row)) for row in types),
        table(_shape_cells(row, disputed(row)) for row in extents),
        table(("8-bit B MN", f"cta_group {row.cta_group}", f"N {spell(row.n)}", disputed(row)) for row in transposed),
        table(
            ("operand   ", _or(row.dtypes), f"{row.major}-major", _or(map(str, row.swizzles)), disputed(row))
            for row in operands
        ),
        table(
            (
                "scale     ",
                row.dtype,
                f"vector {row.vector}",
                row.name,
                f"ids {_or(map(str, row.ids))}",
                f"K {_or(map(str, row.k))}",
                disputed(row),
            )
            for row in scales
        ),
    ]
    return [*(line for part in parts for line in part), *(f"[{number}] {text}" for text, number in sources.items())]


def _or(names: Iterable[str]) -> str:
    return "/".join(names)


def _shape_cells(row: Any, note: str) -> tuple[str, ...]:
    from descriptors.instructions.rows import spell

    form = f"{'sparse' if row.sparse else 'dense'}{' .ws' if row.ws else ''}"
    extents = f"K {row.k}", f"M {spell(row.m)}", f"N {spell(row.n)}"
    return ("shape     ", f"cta_group {row.cta_group}", form, *extents, note)


def arch_lines(arch: str) -> list[str]:
    """The kinds of an architecture, a line each, and the shapes of ``tcgen05.cp`` where it has them.

    >>> print(arch_lines("sm90")[-1])
    b1    b1                sm_90a
    """
    from descriptors.instructions import tables as shapes
    from descriptors.instructions.rules import kind_row

    kind_row(arch, "f16")
    lines = table((row.kind, " ".join(row.dtypes), row.targets) for row in shapes.KINDS if row.arch == arch)
    copies = [row for row in shapes.COPIES if row.arch == arch]
    return lines + table(("tcgen05.cp", row.shape, " or ".join(row.multicast) or "no multicast") for row in copies)


def records(arch: str, kind: str | None) -> dict[str, list[dict[str, Any]]]:
    """Every row of an architecture, or of one of its kinds, as plain data.

    >>> records("sm90", "b1")["SHAPES"][0]["k"]
    256
    """
    from descriptors.instructions import tables as shapes
    from descriptors.instructions.rules import kind_row

    kind_row(arch, kind or "f16")
    names = ("KINDS", "TYPES", "SHAPES", "TRANSPOSED_B", "OPERANDS", "SCALES", "COPIES")
    chosen = {name: [row for row in getattr(shapes, name) if row.arch == arch] for name in names}
    return {
        name: [_plain(row) for row in rows if kind is None or getattr(row, "kind", None) == kind]
        for name, rows in chosen.items()
    }


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, Enum) else value


def idesc_lines(word: int, kind: str) -> list[str]:
    """An instruction descriptor: the word, its fields, and what is wrong with it.

    >>> print(idesc_lines(0x08200490, "f16")[0])
    0x08200490  sm100 instruction descriptor of kind f16
    """
    from descriptors.instructions.idesc import decode_idesc
    from descriptors.words.instruction import word_of

    read = decode_idesc(word, kind)
    return [
        f"{read.word:#010x}  {word_of(kind).name}",
        *table(("bits", "field", "value") if row is None else row for row in (None, *read.rows())),
        *(f"warning: {warning}" for warning in read.warnings),
    ]


def idesc_record(word: int, kind: str) -> dict[str, Any]:
    """The same as plain data.

    >>> idesc_record(0x08200490, "f16")["fields"]["n"]
    128
    """
    from descriptors.instructions.idesc import decode_idesc

    read = decode_idesc(word, kind)
    values = {name: value if isinstance(value, int) else str(value) for name, value in read.values}
    warnings, unknown = list(read.warnings), f"{read.unknown_bits:#010x}"
    return {"kind": kind, "word": f"{read.word:#010x}", "fields": values, "unknown_bits": unknown, "warnings": warnings}
