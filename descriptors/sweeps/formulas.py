"""The table of formulas: LBO, SBO and the steps of the start address for every kind of shared-memory operand.

Each row is one ``derive_symbolic`` of a tile of ``a*m`` by ``b*k`` elements, with ``a`` and ``b`` the least numbers for
which everything is decided: whole atoms and whole operands. Written with the extents of the tile itself, MN = a*m and
K = b*k in elements, the formulas no longer depend on that choice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import lcm
from typing import Any

from descriptors.derivation.symbolic import SymbolicDerivation, derive_symbolic, offsets_of
from descriptors.instructions.operands import check_operand
from descriptors.instructions.rules import IllegalError
from descriptors.instructions.tables import K_BITS
from descriptors.operands.operand import ELEMENT_TYPES, Major, SwizzleMode, choose
from descriptors.text import table

#: One element type for each width, and the kind of instruction that reads it.
_WIDTHS = {32: ("tf32", "tf32"), 16: ("bf16", "f16"), 8: ("e4m3", "f8f6f4"), 4: ("e2m1", "mxf4")}

_ORDERS = {"MN": (0, 1), "K": (1, 0)}

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


@dataclass(frozen=True, slots=True)
class FormulaRow:
    """One row of the table.

    Args:
        first: the dimension along which atoms are stacked first.
        unit: extents (a, b) of which the tile's are multiples, in elements.
        derivation: the closed forms in m and k, for a tile of a*m by b*k.

    >>> row = formulas()[0]
    >>> print(row.derivation.major, row.derivation.swizzle, row.first, row.unit, row.derivation.leading_byte_offset)
    K none MN (64, 8) 1024*m
    """

    first: str
    unit: tuple[int, int]
    derivation: SymbolicDerivation

    def in_extents(self, value: Any) -> Any:
        """A formula in m and k as a sympy expression in the tile's extents MN and K, in elements."""
        from sympy import Symbol, sympify

        m, k = (Symbol(name, positive=True, integer=True) for name in "mk")
        mn, depth = (Symbol(name, positive=True, integer=True) for name in ("MN", "K"))
        return sympify(value).subs({m: mn / self.unit[0], k: depth / self.unit[1]})


def formulas() -> tuple[FormulaRow, ...]:
    """Every row: major x swizzle x stacking order x width of the elements, as far as sm100 reads such operands.

    An operand is two atoms or 64 elements of MN, whichever is more, and the 256 bits of K of a dense instruction.
    Every operand that ``wgmma`` reads is among them: its words differ, the offsets do not.
    """
    return tuple(_rows())


def _rows() -> Iterator[FormulaRow]:
    for major in Major:
        for mode in SwizzleMode:
            for first, order in _ORDERS.items():
                for bits, (dtype, kind) in _WIDTHS.items():
                    try:
                        check_operand("sm100", kind, dtype, major, mode)
                        yield _row(major, mode, first, order, dtype, bits)
                    except IllegalError:
                        continue


def _row(major: Major, mode: SwizzleMode, first: str, order: tuple[int, int], dtype: str, bits: int) -> FormulaRow:
    span = mode.span_bytes * 8 // bits
    atom = (8, span) if major is Major.K else (span, 8)
    mma = (max(64, 2 * atom[0]), K_BITS // bits)
    unit = lcm(atom[0], mma[0]), lcm(atom[1], mma[1])
    tile = f"{unit[0]}*m", f"{unit[1]}*k"
    # The operand is one that some instruction reads as A or as B; which shapes those are is another table's matter.
    return FormulaRow(first, unit, derive_symbolic(tile, dtype, major, mode, mma, order, legality="off"))


def write_table(rows: tuple[FormulaRow, ...] | None = None, format: str = "text") -> str:
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
    unit, mma = ("x".join(map(str, pair)) for pair in (row.unit, d.mma))
    return str(d.major), str(d.swizzle), row.first, str(d.element.storage_bits), unit, mma, *offsets, *steps.values()


def _text(rows: tuple[FormulaRow, ...]) -> str:
    lines = table([_HEAD, *(_cells(row, str, " x ") for row in rows)])
    return "\n".join([*lines, "", *LEGEND])


def _markdown(rows: tuple[FormulaRow, ...]) -> str:
    cells = [_HEAD, ("---",) * len(_HEAD), *(_cells(row, _code, " × ") for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _code(formula: Any) -> str:
    return f"`{formula}`"


def _latex(rows: tuple[FormulaRow, ...]) -> str:
    from sympy import latex

    def show(formula: Any) -> str:
        # MN is one name; without the roman type it would read as M times N.
        names = {symbol: rf"\mathrm{{{symbol}}}" for symbol in formula.free_symbols}
        return f"${latex(formula, symbol_names=names)}$"

    cells = [_HEAD, *(_cells(row, show, r" $\times$ ") for row in rows)]
    lines = [" & ".join(row).replace("_", r"\_") + r" \\" for row in cells]
    columns = "l" * len(_HEAD)
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", lines[0], r"\hline", *lines[1:], r"\end{tabular}"])


def _json(rows: tuple[FormulaRow, ...]) -> str:
    return json.dumps([_record(row) for row in rows])


def _record(row: FormulaRow) -> dict[str, Any]:
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


#: How the table is written.
TABLE_WRITERS: Mapping[str, Callable[[tuple[FormulaRow, ...]], str]] = {
    "text": _text,
    "markdown": _markdown,
    "latex": _latex,
    "json": _json,
}
