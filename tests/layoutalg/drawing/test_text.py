"""The table in text: every offset in its place, with or without colour."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from layoutalg import Layout, size
from layoutalg.drawing import text_table as text

extents = st.recursive(
    st.integers(1, 4), lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=4
)


small_layouts = (
    st.lists(extents, min_size=1, max_size=3).map(lambda modes: Layout(tuple(modes))).filter(lambda x: size(x) <= 256)
)


@given(small_layouts)
def test_the_text_table_holds_every_offset_after_its_edge(layout: Layout) -> None:
    table = text.table(layout, None, None, None)
    after_edge = " ".join(line.partition("|")[2] for line in table.splitlines())
    assert sorted(map(int, re.findall(r"\d+", after_edge))) == sorted(layout(index) for index in range(size(layout)))


def test_a_nested_mode_has_one_line_of_coordinates_for_each_leaf() -> None:
    assert text.table(Layout(((2, 2), (2, 2)), ((1, 4), (2, 8)))).splitlines() == [
        "((2,2),(2,2)):((1,4),(2,8))",
        "",
        "      [1,1]     0       1",
        "      [1,0]     0  1    0  1",
        "[0,1] [0,0]  +-------+------",
        "    0     0  |  0  2 |  8 10",
        "          1  |  1  3 |  9 11",
        "             +-------+------",
        "    1     0  |  4  6 | 12 14",
        "          1  |  5  7 | 13 15",
    ]


def test_rank_one_is_a_single_row() -> None:
    assert text.table(Layout(4, 3)).splitlines()[2:] == ["[0]    0 1 2 3", "     +--------", "     | 0 3 6 9"]


def test_rank_three_is_a_table_for_each_slice_titled_like_it() -> None:
    table = text.table(Layout((2, 2, (1, 3))))
    assert [line for line in table.splitlines() if line.startswith("(_")] == ["(_,_,0)", "(_,_,1)", "(_,_,2)"]


def test_colour_wraps_the_same_characters() -> None:
    layout = Layout((4, 8), (8, 1))
    colored = text.table(layout, color=True)
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == text.table(layout)


def test_the_widest_of_several_tables_decides_how_many_columns_a_line_holds() -> None:
    lines = text.table(Layout((1, 30, 2), (1, 1, 1000000)), width=60).splitlines()
    assert max(map(len, lines)) <= 60
    assert [line.count("100000") for line in lines if line.startswith(("[1]", "  0  |"))] == [0, 0, 0, 6]
