"""The table of formulas: LBO, SBO and the steps of the start address for every kind of shared-memory operand.

Each row is one ``derive_symbolic`` of a tile of ``a*m`` by ``b*k`` elements, with ``a`` and ``b`` the least numbers for
which everything is decided: whole atoms and whole operands. Written with the extents of the tile itself, MN = a*m and
K = b*k in elements, the formulas no longer depend on that choice.

Law: written in the extents of the tile or in multiples of its unit, a formula gives the same number.

>>> from layoutalg import substitute
>>> for row in formulas()[::16]:
...     formula, (a, b) = row.derivation.stride_byte_offset, row.unit
...     number = substitute(formula, {"m": 3, "k": 5})
...     assert substitute(row.in_extents(formula), {"MN": 3 * a, "K": 5 * b}) == number, row
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm
from typing import Any

from descriptors.frozen import frozen
from descriptors.smem.derivation.basis import verdict_for_all
from descriptors.smem.derivation.symbolic import SymbolicDerivation, derive_symbolic
from descriptors.smem.instructions.legality import check_operand
from descriptors.smem.instructions.rules import IllegalError
from descriptors.smem.instructions.tables import K_BITS
from descriptors.smem.operands.operand import Major, SwizzleMode

#: One element type for each width, and the kind of instruction that reads it.
_WIDTHS = {32: ("tf32", "tf32"), 16: ("bf16", "f16"), 8: ("e4m3", "f8f6f4"), 4: ("e2m1", "mxf4")}

_ORDERS = {"MN": (0, 1), "K": (1, 0)}


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
