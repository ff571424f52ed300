"""Closed forms put to z3 and cvc5: every row of the table of formulas, families with stages, right and spoilt."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from descriptors import claim, derive_symbolic, formulas
from descriptors.smem.claims.question import every
from descriptors.smem.claims.solver import ask
from descriptors.smem.derivation.basis import verdict_for_all
from descriptors.smem.derivation.symbolic import SymbolicDerivation
from descriptors.smem.operands.operand import SwizzleMode
from layoutalg import Layout
from layoutalg.frozen import replace


@cache
def families() -> tuple[SymbolicDerivation, ...]:
    """The rows of the table, and families with stages, of sm90, and of operands other than theirs."""
    more = [
        (("64*m", "64*k", "s"), "bf16", "K", "128B", (64, 16), (0, 1, 2), "sm90"),
        (("64*m", "64*k", "s"), "bf16", "MN", "128B", (64, 16), (1, 0, 2), "sm90"),
        (("96*m", "64", "4*s"), "f16", "K", "64B", (96, 16), (1, 0, 2), "sm90"),
        (("8*m", "32*k"), "e4m3", "K", "32B", (8, 32), (0, 1), "sm100"),
        (("64*m*n", "64"), "bf16", "K", "128B", (64, 16), (0, 1), "sm100"),
    ]
    rows = [row.derivation for row in formulas()]
    return (*rows, *(derive_symbolic(*one, legality="off") for one in more))  # type: ignore[arg-type]


def refuted(d: SymbolicDerivation, solver: str) -> list[str]:
    """The names of the questions that a solver answers otherwise than expected."""
    return [one.name for one in every(claim(d).questions) if ask(one, solver).outcome != one.expected]


def test_the_formulas_of_every_family_hold(solver: str) -> None:
    assert [d.tile for d in families() if refuted(d, solver)] == []
    assert all(map(verdict_for_all, families()))


def spoilt(d: SymbolicDerivation) -> dict[str, SymbolicDerivation]:
    """The same with an offset 16 bytes on, a step of the advance one unit on, or the swizzle of another mode."""
    match, (rows, columns, *stages) = d.match, zip(d.advance.shape, d.advance.stride, strict=True)
    shape, stride = rows
    longer = stride + 1 if not isinstance(stride, tuple) else (*stride[:-1], stride[-1] + 1)
    moved = [(shape, longer), columns, *stages]
    other = SwizzleMode.B64 if d.swizzle is not SwizzleMode.B64 else SwizzleMode.B32
    return {
        "leading_byte_offset": replace(d, match=replace(match, leading_byte_offset=d.leading_byte_offset + 16)),
        "stride_byte_offset": replace(d, match=replace(match, stride_byte_offset=d.stride_byte_offset + 16)),
        "advance": replace(d, advance=Layout(tuple(n for n, _ in moved), tuple(step for _, step in moved))),
        "swizzle": replace(d, swizzle=other),
    }


def test_a_spoilt_formula_is_refuted_unless_nobody_reads_it(solver: str) -> None:
    """Every fifth family; of what a solver says nothing is known to the theorem, and both say the same."""
    for d in families()[::5]:
        for name, wrong in spoilt(d).items():
            expected = [] if name in d.dont_care else ["swizzle"] if name == "swizzle" else ["walk"]
            found = [one for one in refuted(wrong, solver) if one != "window"]
            assert set(expected) <= set(found) and bool(expected) == bool(found), (d.tile, d.swizzle, name, found)
            assert verdict_for_all(wrong) is (not found), (d.tile, d.swizzle, name)


def test_every_extent_but_the_last_of_a_mode_is_a_number() -> None:
    d: Any = families()[0]
    symbol = d.tile[0]
    spoilt_tile = replace(
        d, smem_tile=Layout(((symbol, 8), *d.smem_tile.shape[1:]), ((1, symbol), *d.smem_tile.stride[1:]))
    )
    with pytest.raises(ValueError, match="an extent other than the last one of the mode"):
        claim(spoilt_tile)
