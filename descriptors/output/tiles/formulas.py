"""The table of formulas: for a person, for a page in Markdown, for LaTeX and for a program (JSON).

Law: in every row of the table, and in every format, there are as many columns as in its head.

>>> rows = formulas()[:48:16]
>>> {line.count("|") - 1 for line in write_table(rows, "markdown").splitlines()} == {len(_HEAD)}
True
>>> len(tell(rows).split("\\n\\n")[0].splitlines()) == 1 + len(rows) == 1 + len(record(rows))
True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from descriptors.smem.derivation.symbolic import offsets_of
from descriptors.smem.operands.operand import ELEMENT_TYPES, choose
from descriptors.sweep.formulas import FormulaRow, formulas
from descriptors.text import aligned, counted, extents_text

#: The columns.
_HEAD = ("major", "swizzle", "first", "bits", "tile of", "mma", "LBO", "SBO", "steps along MN", "steps along K")

#: What the columns mean, a sentence each.
LEGEND = (
    "first: the dimension along which atoms are stacked first.",
    "tile of: what the extents of the tile are multiples of, in elements; mma: what one instruction reads.",
    "LBO, SBO: the leading and stride byte offset, in bytes, with MN and K the tile's extents in elements.",
    "steps: of the start address from operand to operand, count x bytes, fastest first.",
    "A value in parentheses is not read in that mode; - is a step that is never taken.",
)


def write_table(rows: Sequence[FormulaRow] | None = None, format: str = "text") -> str:
    """The table as text.

    Args:
        rows: the rows; every one if left out.
        format: ``"text"``, ``"markdown"``, ``"latex"`` (booktabs is not needed) or ``"json"``.

    Raises:
        ChoiceError: for another format.

    >>> print(*write_table(formulas()[:1]).splitlines()[1].split()[:11])
    K none MN 32 64x8 64x8 16*MN 128 MN/64 x 1024
    """
    writer = choose("formulas: format", format, TABLE_WRITERS)
    return writer(formulas() if rows is None else rows)


def _cells(row: FormulaRow, show: Callable[[Any], str], times: str) -> tuple[str, ...]:
    """One row of text; ``show`` writes a formula."""
    d = row.derivation
    offsets = []
    for name, value in offsets_of(d):
        formula = show(row.in_extents(value))
        offsets.append("-" if name in d.match.idle else f"({formula})" if name in d.dont_care else formula)
    steps = {"MN": "", "K": ""}
    for step in d.steps:
        told = f"{show(row.in_extents(step.extent))}{times}{show(row.in_extents(step.bytes))}"
        steps[step.dimension] += f", {told}" if steps[step.dimension] else told
    unit, mma = map(extents_text, (row.unit, d.mma))
    return str(d.major), str(d.swizzle), row.first, str(d.element.storage_bits), unit, mma, *offsets, *steps.values()


def tell(rows: Sequence[FormulaRow]) -> str:
    """The table for a person, and what its columns mean."""
    return "\n".join([*aligned([_HEAD, *(_cells(row, str, " x ") for row in rows)]), "", *LEGEND])


def _markdown(rows: Sequence[FormulaRow]) -> str:
    table = [_HEAD, ("---",) * len(_HEAD), *(_cells(row, _marked, " × ") for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in table)


def _marked(formula: Any) -> str:
    return f"`{formula}`"


def _latex(rows: Sequence[FormulaRow]) -> str:
    from sympy import latex

    def show(formula: Any) -> str:
        # MN is one name; without the roman type it would read as M times N.
        names = {symbol: rf"\mathrm{{{symbol}}}" for symbol in formula.free_symbols}
        return f"${latex(formula, symbol_names=names)}$"

    table = [_HEAD, *(_cells(row, show, r" $\times$ ") for row in rows)]
    lines = [" & ".join(row).replace("_", r"\_") + r" \\" for row in table]
    columns = "l" * len(_HEAD)
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", lines[0], r"\hline", *lines[1:], r"\end{tabular}"])


def record(rows: Sequence[FormulaRow]) -> list[dict[str, Any]]:
    """The table as plain data, formulas as text.

    >>> record(formulas()[:1])[0]["leading_byte_offset"]
    '16*MN'
    """
    return [_row_record(row) for row in rows]


def tell_proof(rows: Sequence[FormulaRow]) -> str:
    """What the theorem says of the rows, in one line.

    >>> print(tell_proof(formulas()))
    proved: 50 rows, each for all sizes of the tile and any base that is a multiple of its alignment
    """
    wrong = [row for row in rows if not row.is_proved()]
    if wrong:
        names = "; ".join(" ".join(_cells(row, str, " x ")[:4]) for row in wrong)
        return f"disproved: {len(wrong)} of {counted(len(rows), 'row')}: {names}"
    holds = "for all sizes of the tile and any base that is a multiple of its alignment"
    return f"proved: {counted(len(rows), 'row')}, each {holds}"


def record_proof(rows: Sequence[FormulaRow]) -> dict[str, Any]:
    """The same as plain data: for each row the family of tiles and of bases that it is proved for.

    >>> record_proof(formulas()[:1])["proof"]
    [{'proved': True, 'family': ['64*m', '8*k'], 'base_multiple': 16}]
    """
    return {
        "proof": [
            {
                "proved": row.is_proved(),
                "family": list(map(str, row.derivation.tile)),
                "base_multiple": row.derivation.swizzle.alignment_bytes,
            }
            for row in rows
        ]
    }


def _row_record(row: FormulaRow) -> dict[str, Any]:
    d = row.derivation
    return {
        "major": str(d.major),
        "swizzle": str(d.swizzle),
        "order": d.order,
        "bits": d.element.storage_bits,
        "dtypes": [name for name, one in ELEMENT_TYPES.items() if one.storage_bits == d.element.storage_bits],
        "tile_multiple": row.unit,
        "mma": d.mma,
        **{name: str(row.in_extents(value)) for name, value in offsets_of(d)},
        "dont_care": d.dont_care,
        "steps": [
            {
                "dimension": step.dimension,
                "extent": str(row.in_extents(step.extent)),
                "bytes": str(row.in_extents(step.bytes)),
            }
            for step in d.steps
        ],
    }


def _json(rows: Sequence[FormulaRow]) -> str:
    return json.dumps(record(rows))


#: How the table is written.
TABLE_WRITERS: Mapping[str, Callable[[Sequence[FormulaRow]], str]] = {
    "text": tell,
    "markdown": _markdown,
    "latex": _latex,
    "json": _json,
}
