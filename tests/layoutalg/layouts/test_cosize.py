"""How far a composed layout reaches: searched, or proved, up to a limit and not beyond."""

from __future__ import annotations

import sys

import pytest

import layoutalg as la
from layoutalg import ComposedLayout, Layout, LayoutError, Swizzle, UndecidedError
from layoutalg.layouts import cosize


def test_a_swizzled_range_is_searched_up_to_the_limit_and_not_beyond() -> None:
    swizzle = Swizzle(1, 30, 1)  # reads bit 31
    inverse = la.right_inverse(ComposedLayout(swizzle, 0, Layout(2**31 + 2**22)))
    assert la.size(inverse) == 2**31
    with pytest.raises(UndecidedError, match=r"right_inverse: cannot decide .* of 4194305 offsets, more than 4194304"):
        la.right_inverse(ComposedLayout(swizzle, 0, Layout(2**31 + 2**22 + 1)))


def test_a_composed_layout_is_measured_up_to_the_limit_of_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cosize, "_MOST_OFFSETS", 8)
    assert la.cosize(ComposedLayout(Swizzle(1, 0, 1), 1, Layout(8, 3))) == 24
    with pytest.raises(LayoutError, match="has 9 elements, and at most 8 are enumerated"):
        la.cosize(ComposedLayout(Swizzle(1, 0, 1), 1, Layout(9, 3)))


@pytest.mark.parametrize(
    "inner", [Layout(2**40), Layout((8, 2**37), (2**37, 1)), Layout((2**20, 1, 2**20), (1, 7, 2**20))]
)
def test_swizzled_offsets_without_a_gap_are_measured_without_looking_at_them(inner: Layout) -> None:
    assert la.cosize(ComposedLayout(Swizzle(3, 4, 3), 0, inner)) == 2**40


def test_a_gap_or_a_part_of_a_block_is_looked_at() -> None:
    for inner in (Layout(2**25, 2), Layout((2**20, 2**20), (1, 2**21)), Layout(2**40 + 1)):
        with pytest.raises(LayoutError, match="elements, and at most 16777216 are enumerated"):
            la.cosize(ComposedLayout(Swizzle(3, 4, 3), 0, inner))


@pytest.mark.parametrize(
    "text", ["S<3,4,3> o 0 o (8,64):(64,1)", "S<1,0,1> o 5 o (3,(2,2)):(7,(-1,9))", "S<2,0,2> o 1 o 1:0"]
)
def test_a_composed_layout_is_measured_without_numpy(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a browser; by the definition."""
    layout = la.evaluate(text)
    reach = [0, *(layout(i) for i in range(la.size(layout)))]
    expected = max(reach) - min(reach) + 1
    assert la.cosize(layout) == expected
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert la.cosize(layout) == expected
