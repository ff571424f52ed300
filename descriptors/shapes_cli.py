"""The commands ``descriptors shapes``, ``idesc`` and ``decode-idesc``, and what they print as plain values.

``commands`` is for the group in ``descriptors.cli``, which also turns an error into one line and exit status 2.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import click

from descriptors.text import table

_LEGALITY = click.Choice(["strict", "lenient", "off"])
_MAJOR = click.Choice(["K", "MN"], case_sensitive=False)


def kind_lines(arch: str, kind: str) -> list[str]:
    """What there is to know of one kind: types, shapes, operands, scale factors, and the sources by number.

    >>> print(kind_lines("sm90", "tf32")[3])
    shape       cta_group 1  dense   K 8   M 64  N 8..256 step 8  [1]
    """
    from descriptors.instructions import tables as shapes
    from descriptors.instructions.rules import kind_row

    known = kind_row(arch, kind)
    sources: dict[str, int] = {}

    def cited(row: shapes.Row) -> str:
        return f"[{sources.setdefault(row.source, len(sources) + 1)}]"

    def disputed(row: shapes.Row) -> str:
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
        table(
            ("8-bit B MN", f"cta_group {row.cta_group}", f"N {shapes.spell(row.n)}", disputed(row))
            for row in transposed
        ),
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
    from descriptors.instructions.tables import spell

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


def as_word(text: str) -> int:
    """The number that a word is written as: hexadecimal, binary or decimal.

    Raises:
        DescriptorError: if it is none.

    >>> as_word("0x08200490") == as_word("136316048")
    True
    """
    from descriptors.errors import DescriptorError, brief

    try:
        return int(text, 0)
    except ValueError:
        raise DescriptorError(f"decode-idesc: a word must be a number like 0x08200490, found {brief(text)}") from None


@click.command()
@click.option("--arch", default="sm100", show_default=True, help="sm90 (wgmma) or sm100 (tcgen05).")
@click.option("--kind", help="f16 tf32 f8f6f4 i8 mxf8f6f4 mxf4 mxf4nvf4; on sm90 f16 tf32 f8 i8 b1.  [default: a list]")
@click.option("--json", "as_json", is_flag=True, help="Write the rows as JSON.")
def shapes(arch: str, kind: str | None, as_json: bool) -> None:
    """Show the legal instructions: types, shapes, majors, swizzles and scale factors, each with its source.

    \b
    descriptors shapes --arch sm100 --kind f16
    descriptors shapes --arch sm90

    Rows marked "lenient only" are what some source allows and another does not.
    """
    if as_json:
        click.echo(json.dumps(records(arch, kind)))
    else:
        click.echo("\n".join(kind_lines(arch, kind) if kind else arch_lines(arch)))


@click.command()
@click.option("--a", "a_dtype", required=True, help="Element type of A.")
@click.option("--b", "b_dtype", help="Element type of B.  [default: that of A]")
@click.option("--d", "d_dtype", help="Type of the accumulator: f32, f16, s32.  [default: f32, s32 for integers]")
@click.option("--m", required=True, type=int, help="M, over both CTAs where --cta-group is 2.")
@click.option("--n", required=True, type=int, help="N.")
@click.option("--k", type=int, help="K; only 96 need be said.")
@click.option("--kind", help="The kind.  [default: found from the types]")
@click.option("--cta-group", type=int, default=1, show_default=True, help="1 or 2.")
@click.option("--a-major", type=_MAJOR, default="K", show_default=True)
@click.option("--b-major", type=_MAJOR, default="K", show_default=True)
@click.option("--negate-a", is_flag=True)
@click.option("--negate-b", is_flag=True)
@click.option("--saturate", is_flag=True, help="Clamp integer results.")
@click.option("--sparse", is_flag=True, help="A is stored without its zeros.")
@click.option("--sparsity-selector", type=int, default=0, show_default=True)
@click.option("--ws", is_flag=True, help="The weight-stationary form.")
@click.option("--max-shift", type=int, default=0, show_default=True, help="0, 8, 16 or 32, with --ws.")
@click.option("--scale-dtype", help="ue8m0 or ue4m3, for the kinds with scale factors.")
@click.option("--scale-vector", type=int, help="Elements that share a scale factor: 16 or 32.")
@click.option("--sfa-id", type=int, default=0, show_default=True, help="Scale factor data id of A.")
@click.option("--sfb-id", type=int, default=0, show_default=True, help="Scale factor data id of B.")
@click.option("--legality", type=_LEGALITY, default="strict", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Write the word and its fields as JSON.")
def idesc(as_json: bool, **options: Any) -> None:
    """Build the instruction descriptor of a tcgen05.mma (sm100), checked to be a legal instruction.

    \b
    descriptors idesc --a bf16 --m 128 --n 256 --b-major MN
    descriptors idesc --a e2m1 --m 256 --n 256 --cta-group 2 --scale-dtype ue4m3
    """
    from descriptors.instructions.idesc import as_kind
    from descriptors.instructions.idesc import idesc as build

    word = build(**options)
    kind = as_kind(**{name: options[name] for name in ("a_dtype", "b_dtype", "kind", "scale_dtype", "scale_vector")})
    _show(word, kind, as_json)


@click.command("decode-idesc")
@click.argument("word")
@click.option("--kind", required=True, help="f16 tf32 f8f6f4 i8 mxf8f6f4 mxf4 mxf4nvf4: the word does not say it.")
@click.option("--json", "as_json", is_flag=True, help="Write the fields as JSON.")
def decode_idesc(word: str, kind: str, as_json: bool) -> None:
    """Name every field of an instruction descriptor (sm100) and warn of what is illegal.

    \b
    descriptors decode-idesc 0x08410490 --kind f16
    """
    _show(as_word(word), kind, as_json)


def _show(word: int, kind: str, as_json: bool) -> None:
    click.echo(json.dumps(idesc_record(word, kind)) if as_json else "\n".join(idesc_lines(word, kind)))


#: The commands that the group registers.
commands = [shapes, idesc, decode_idesc]
