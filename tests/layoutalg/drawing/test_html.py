"""The table in HTML: well formed, and every offset in its place."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from layoutalg import Layout, size
from layoutalg.drawing import html_table as html
from layoutalg.drawing.grid import drawing

extents = st.recursive(
    st.integers(1, 4), lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=4
)


small_layouts = (
    st.lists(extents, min_size=1, max_size=3).map(lambda modes: Layout(tuple(modes))).filter(lambda x: size(x) <= 256)
)


class _Cells(HTMLParser):
    """Collects cells, and checks that every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.widths: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.widths.append(0)
        if tag in ("td", "th"):
            self.widths[-1] += int(dict(attrs).get("colspan") or 1)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] == "td":
            self.cells.append(data)


@given(small_layouts)
def test_the_html_table_is_well_formed_and_holds_every_offset(layout: Layout) -> None:
    parser = _Cells()
    parser.feed(layout._repr_html_())
    assert parser.open == []
    if len(drawing(layout).grids) <= 16:
        assert sorted(map(int, parser.cells)) == sorted(layout(index) for index in range(size(layout)))


def test_html_header_rows_span_the_same_columns() -> None:
    parser = _Cells()
    parser.feed(html.table(Layout(((2, 2), (2, 3)))))
    assert set(parser.widths[:2]) == {2 + 6}
