"""Tables of formulas: LBO, SBO and the steps of the start address for every kind of shared-memory operand.

Each row is one ``derive_symbolic`` of a tile of ``a*m`` by ``b*k`` elements, where ``a`` and ``b`` are the smallest
numbers that give whole atoms and whole operands. In terms of the extents of the tile, MN = a*m and K = b*k elements,
the formulas do not depend on that choice.

Invariant: a formula gives the same number in terms of the extents of the tile and in multiples of its unit.

>>> from layoutalg import substitute
>>> for row in formulas()[::16]:
...     formula, (a, b) = row.derivation.stride_byte_offset, row.unit
...     number = substitute(formula, {"m": 3, "k": 5})
...     assert substitute(row.in_extents(formula), {"MN": 3 * a, "K": 5 * b}) == number, row

Invariant: in every format, each row of the table has as many columns as its head.

>>> rows = formulas()[:48:16]
>>> {line.count("|") - 1 for line in write_table(rows, "markdown").splitlines()} == {len(_HEAD)}
True
>>> len(tell_formulas(rows).split("\\n\\n")[0].splitlines()) == 1 + len(rows) == 1 + len(record_formulas(rows))
True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import lcm
from typing import Any

from descriptors.records import PAIR, Record, Row, attributes, each
from descriptors.smem.derivation.basis import verdict_for_all
from descriptors.smem.derivation.symbolic import SymbolicDerivation, derive_symbolic, offsets_of
from descriptors.smem.instructions.legality import check_operand
from descriptors.smem.instructions.rules import IllegalError
from descriptors.smem.instructions.tables import K_BITS
from descriptors.smem.operands.operand import DTYPES, ELEMENT_TYPES, Major, SwizzleMode, choose
from descriptors.text import DOCUMENTED, aligned, counted, extents_text
from layoutalg.frozen import frozen

#: One element type for each width, and the kind of instruction that reads it.
_WIDTHS = {32: ("tf32", "tf32"), 16: ("bf16", "f16"), 8: ("e4m3", "f8f6f4"), 4: ("e2m1", "mxf4")}

_ORDERS = {"MN": (0, 1), "K": (1, 0)}

#: The columns.
_HEAD = ("major", "swizzle", "first", "bits", "tile of", "mma", "LBO", "SBO", "steps along MN", "steps along K")

#: What the columns mean, a sentence each.
LEGEND = (
    "An operand has 64 elements along MN, or two atoms if that is more, and 256 bits along K.",
    "first: the dimension along which atoms are stacked first.",
    "tile of: what the extents of the tile are multiples of, in elements; mma: what one instruction reads.",
    "LBO, SBO: the leading and stride byte offset, in bytes, with MN and K the tile's extents in elements.",
    "steps: of the start address from operand to operand, count x bytes, fastest first.",
    "A value in parentheses is not read in that mode; - is a step that is never taken.",
    f"Of sm100: {DOCUMENTED}.",
)


@frozen
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

    def is_proved(self) -> bool:
        """Whether its formulas hold for all m and k, and at every aligned base: the theorem asked (``basis``).

        >>> all(row.is_proved() for row in formulas())
        True
        """
        return verdict_for_all(self.derivation)

    def in_extents(self, value: Any) -> Any:
        """A formula in m and k as a sympy expression in the tile's extents MN and K, in elements."""
        from sympy import Symbol, sympify

        m, k = (Symbol(name, positive=True, integer=True) for name in "mk")
        mn, depth = (Symbol(name, positive=True, integer=True) for name in ("MN", "K"))
        return sympify(value).subs({m: mn / self.unit[0], k: depth / self.unit[1]})


def formulas() -> tuple[FormulaRow, ...]:
    """Return all rows: major x swizzle x stacking order x element width, as far as sm100 reads such operands.

    An operand is two atoms or 64 elements of MN, whichever is more, and the 256 bits of K of a dense instruction.
    The words of ``wgmma`` differ, the offsets do not.
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


def write_table(rows: Sequence[FormulaRow] | None = None, format: str = "text") -> str:
    """Return the table as text.

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
        span = f"{show(row.in_extents(step.extent))}{times}{show(row.in_extents(step.bytes))}"
        steps[step.dimension] += f", {span}" if steps[step.dimension] else span
    unit, mma = map(extents_text, (row.unit, d.mma))
    return str(d.major), str(d.swizzle), row.first, str(d.element.storage_bits), unit, mma, *offsets, *steps.values()


def tell_formulas(rows: Sequence[FormulaRow]) -> str:
    """Return the table as text, with the meaning of its columns."""
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


def _steps(row: FormulaRow) -> list[tuple[str, str, str]]:
    """Return the steps of a row as texts."""
    return [
        (step.dimension, str(row.in_extents(step.extent)), str(row.in_extents(step.bytes)))
        for step in row.derivation.steps
    ]


def _same_width(row: FormulaRow) -> list[str]:
    """Return the element types that are as wide as the type of a row."""
    bits = row.derivation.element.storage_bits
    return [name for name, element in ELEMENT_TYPES.items() if element.storage_bits == bits]


#: A row of the table as plain data, formulas as text.
FORMULA = Record(
    "Formula",
    **attributes(SymbolicDerivation, "major swizzle order", "derivation"),
    bits=Row(int, "derivation.element.storage_bits"),
    dtypes=Row([DTYPES], _same_width),
    tile_multiple=Row(PAIR, "unit"),
    mma=Row(PAIR, "derivation.mma"),
    leading_byte_offset=Row(str, lambda row: row.in_extents(row.derivation.leading_byte_offset)),
    stride_byte_offset=Row(str, lambda row: row.in_extents(row.derivation.stride_byte_offset)),
    dont_care=Row([str], "derivation.dont_care"),
    steps=Row([each(str, "dimension extent bytes")], _steps),
    evidence=Row(str, lambda row: DOCUMENTED),
)
#: The family of tiles and of bases that a row is proved for.
ROW_PROOF = Record(
    proved=Row(bool, lambda row: row.is_proved()),
    family=Row([str], lambda row: list(map(str, row.derivation.tile))),
    base_multiple=Row(int, "derivation.swizzle.alignment_bytes"),
)


def record_formulas(rows: Sequence[FormulaRow]) -> list[dict[str, Any]]:
    """Return the table as plain data, with formulas as text.

    >>> record_formulas(formulas()[:1])[0]["leading_byte_offset"]
    '16*MN'
    """
    return list(map(FORMULA, rows))


def tell_proof(rows: Sequence[FormulaRow]) -> str:
    """Return the result of the theorem for the rows, in one line.

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
    return {"proof": list(map(ROW_PROOF, rows))}


def _json(rows: Sequence[FormulaRow]) -> str:
    return json.dumps(record_formulas(rows))


#: How the table is written.
TABLE_WRITERS: Mapping[str, Callable[[Sequence[FormulaRow]], str]] = {
    "text": tell_formulas,
    "markdown": _markdown,
    "latex": _latex,
    "json": _json,
}
