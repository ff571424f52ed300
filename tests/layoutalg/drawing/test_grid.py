"""Pictures show the offsets of the layout, each in its place, and say what they leave out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from layoutalg import ComposedLayout, E, Layout, Swizzle, size
from layoutalg.drawing import text_table as text
from layoutalg.drawing.grid import drawing

extents = st.recursive(
    st.integers(1, 4), lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=4
)
small_layouts = (
    st.lists(extents, min_size=1, max_size=3).map(lambda modes: Layout(tuple(modes))).filter(lambda x: size(x) <= 256)
)


@given(small_layouts)
def test_every_offset_stands_in_its_row_and_column(layout: Layout) -> None:
    picture = drawing(layout)
    cells = [cell for grid in picture.grids for row in zip(*grid.cells, strict=True) for cell in row]
    assert cells == [layout(index) for index in range(size(layout))]


def test_basis_strides_show_coordinates() -> None:
    assert "(1,2)" in text.table(Layout((2, 3), (E(0), E(1))))


def test_a_swizzled_layout_shows_the_swizzled_offsets() -> None:
    tile = ComposedLayout(Swizzle(1, 0, 1), 0, Layout((2, 2), (2, 1)))
    assert drawing(tile).grids[0].cells == ((0, 1), (3, 2))


def test_a_large_layout_is_cut_and_says_so() -> None:
    table = text.table(Layout((1000, 10**12)), max_rows=4, width=60)
    assert table.splitlines()[-1] == "shown: 4 of 1000 rows, 8 of 1000000000000 columns"
    assert max(map(len, table.splitlines())) <= 60


def test_many_slices_are_cut_without_walking_through_them() -> None:
    assert "8 of 1000000000000 tables" in text.table(Layout((2, 2, 10**12)))
