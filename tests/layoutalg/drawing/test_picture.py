"""Pictures of a layout: what a notebook shows, or the notation where a table is too large."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layoutalg import ComposedLayout, Layout, Picture, Swizzle, UndecidedError, draw, size, symbol
from layoutalg.drawing import html, text

extents = st.recursive(
    st.integers(1, 4), lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=4
)


small_layouts = (
    st.lists(extents, min_size=1, max_size=3).map(lambda modes: Layout(tuple(modes))).filter(lambda x: size(x) <= 256)
)


def test_a_large_layout_shows_its_notation_instead() -> None:
    shown = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((128, 128), (128, 1)))._repr_html_()
    assert shown == "<code>S&lt;3,4,3&gt; o 0 o (128,128):(128,1)</code> (16384 elements)"


@given(small_layouts)
def test_a_picture_shows_the_tables_of_its_layout(layout: Layout) -> None:
    picture = draw(layout)
    assert picture == Picture(layout)
    assert str(picture) == picture.text() == text.table(layout)
    assert picture.text(color=True, max_rows=2, max_columns=3, max_grids=1, width=40) == text.table(
        layout, 2, 3, 1, 40, True
    )
    assert picture.html() == picture._repr_html_() == layout._repr_html_() == html.table(layout)


def test_a_notebook_shows_the_notation_of_a_layout_with_symbols() -> None:
    assert Layout((8 * symbol("m"), 64))._repr_html_() == "<code>(8*m,64):(1,8*m)</code> (512*m elements)"
    with pytest.raises(UndecidedError):
        str(draw(Layout(symbol("m"))))
