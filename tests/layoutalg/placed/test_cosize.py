"""How far a composed layout reaches: searched, or proved, up to a limit and not beyond."""

from __future__ import annotations

import pytest

import layoutalg as la
from layoutalg import ComposedLayout, Layout, LayoutError, Swizzle, UndecidedError
from layoutalg.placed import cosize


def test_a_swizzled_range_is_searched_up_to_the_limit_and_not_beyond() -> None:
    swizzle = Swizzle(1, 30, 1)  # reads bit 31
    found = la.right_inverse(ComposedLayout(swizzle, 0, Layout(2**31 + 2**22)))
    assert la.size(found) == 2**31
    with pytest.raises(UndecidedError, match="right_inverse: must look at 4194305 offsets, more than 4194304"):
        la.right_inverse(ComposedLayout(swizzle, 0, Layout(2**31 + 2**22 + 1)))


def test_a_composed_layout_is_measured_up_to_the_limit_of_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cosize, "_MOST_OFFSETS", 8)
    assert la.cosize(ComposedLayout(Swizzle(1, 0, 1), 1, Layout(8, 3))) == 24
    with pytest.raises(LayoutError, match="must have at most 8 elements to be enumerated, found 9"):
        la.cosize(ComposedLayout(Swizzle(1, 0, 1), 1, Layout(9, 3)))
