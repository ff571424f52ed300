"""Plates are data: equal ones have equal records, and nested axes ask for the borders of their blocks."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layoutalg import E, Layout, draw, symbol
from layoutalg.drawing.grid import Axis
from layoutalg.drawing.plate import Mark, Panel, extents, label, levels_of

extents_of = st.recursive(st.integers(1, 4), lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple))


@given(extents_of, extents_of)
def test_the_borders_of_nested_blocks_nest(rows: object, columns: object) -> None:
    down, across = Axis.of(rows, 0, None), Axis.of(columns, 1, None)
    levels = levels_of(down, across)
    assert len(levels) <= 3
    for level in levels:
        assert level.rows or level.columns
        assert down.size % (level.rows or 1) == across.size % (level.columns or 1) == 0
    for inner, outer in pairwise(levels):
        assert not outer.rows or (outer.rows % inner.rows == 0 and outer.rows > inner.rows)
        assert not outer.columns or (outer.columns % inner.columns == 0 and outer.columns > inner.columns)
    assert len({level.role for level in levels}) == len(levels)


def test_a_flat_table_has_no_borders_inside() -> None:
    assert levels_of(Axis.of(8, 0, None), Axis.of((64, 1), 1, None)) == ()


@pytest.mark.parametrize(
    "layout", [Layout((2, (2, 2))), Layout((2, 3), (E(0), E(1))), Layout((2, 2, 2)), Layout((2, 3), (symbol("m"), 1))]
)
def test_a_record_is_plain_data_and_says_where_everything_stands(layout: Layout) -> None:
    record = draw(layout).record()
    assert json.loads(json.dumps(record)) == record
    assert record == draw(layout).record()
    panel = record["panels"][-1]
    assert len(panel["cells"]) == len(panel["roles"]) == panel["rows"]["shown"]
    assert {len(row) for row in panel["cells"]} == {len(row) for row in panel["roles"]} == {panel["columns"]["shown"]}


def test_marks_and_levels_are_in_the_record() -> None:
    panel = draw(Layout((4, 4)), levels=[(2, 2)]).plate().panels[0]
    marked = Panel(panel.grid, panel.roles, panel.levels, (Mark(0, 2, 2, 1),))
    assert marked.record()["marks"] == [{"row": 0, "column": 2, "rows": 2, "columns": 1, "role": "subtile"}]
    assert [level["name"] for level in marked.record()["levels"]] == ["2 \u00d7 2"]
    assert marked.cells == 16


def test_a_block_is_named_by_the_directions_in_which_it_divides() -> None:
    assert [extents(*block) for block in ((8, 64), (4, 0), (0, 2))] == ["8 \u00d7 64", "4 rows", "2 columns"]


def test_a_cell_writes_what_it_holds_and_nothing_where_that_is_none() -> None:
    assert [label(cell) for cell in (None, 7, "T0 V1", (1, 2))] == ["", "7", "T0 V1", "(1,2)"]
