"""The quantities of cells, each against its definition."""

from __future__ import annotations

from typing import Any

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from layoutalg import E, Layout, LayoutError, crd2idx, size
from layoutalg.pictures.quantities import COLOURS, LABELS, Limits, Subject, holders, slices

extents = st.recursive(
    st.integers(1, 4), lambda inner: st.lists(inner, min_size=1, max_size=2).map(tuple), max_leaves=3
)
layouts = (
    st.lists(extents, min_size=2, max_size=4).map(lambda modes: Layout(tuple(modes))).filter(lambda x: size(x) <= 200)
)


def every(layout: Layout, subject: Subject, name: str) -> dict[tuple[int, ...], Any]:
    """A quantity of every cell, by its coordinate."""
    return {
        (i, j, *table.point): value
        for table in slices(layout, subject)
        for i, row in enumerate(table.quantity(name))
        for j, value in enumerate(row)
    }


@given(layouts)
def test_offset_index_and_coordinate_are_those_of_the_cell(layout: Layout) -> None:
    offsets, indices, coordinates = (every(layout, Subject(), name) for name in ("offset", "index", "coord"))
    assert len(offsets) == size(layout)
    for coordinate, offset in offsets.items():
        assert offset == layout(coordinate)
        assert indices[coordinate] == crd2idx(coordinate, layout.shape)
        assert coordinates[coordinate] == str(coordinate).replace(" ", "")


@given(layouts, st.sampled_from([1, 2, 4, 16]))
def test_a_bank_is_that_of_the_first_byte(layout: Layout, element_bytes: int) -> None:
    for coordinate, bank in every(layout, Subject(element_bytes), "bank").items():
        assert bank == layout(coordinate) * element_bytes % 128 // 4


@given(layouts)
def test_cells_of_one_block_share_all_but_the_innermost_coordinates(layout: Layout) -> None:
    blocks: dict[tuple[Any, ...], set[int]] = {}
    for table in slices(layout, Subject()):
        for i, row in enumerate(table.quantity("block")):
            for j, block in enumerate(row):
                blocks.setdefault((i // table.rows.block, j // table.columns.block, table.point), set()).add(block)
    assert all(len(found) == 1 for found in blocks.values())
    first = {found.pop() for (_, _, point), found in blocks.items() if not any(point)}
    assert first == set(range(len(first)))


def test_threads_and_values_are_rows_and_columns_or_those_of_the_map() -> None:
    own = every(Layout((4, 2)), Subject(), "thread"), every(Layout((4, 2)), Subject(), "value")
    assert all((own[0][i, j], own[1][i, j]) == (i, j) for i, j in own[0])
    of_each = tuple(holders(Layout((2, 2), (1, 4)), 8))
    assert every(Layout((2, 4)), Subject(holders=of_each), "holders_text") == {
        **{(i, j): None for i in range(2) for j in range(4)},
        (0, 0): "T0 V0",
        (1, 0): "T1 V0",
        (0, 2): "T0 V1",
        (1, 2): "T1 V1",
    }


def test_the_position_in_the_last_modes_is_the_column_or_the_slice() -> None:
    assert every(Layout((2, 3)), Subject(), "mode") == {(i, j): j for i in range(2) for j in range(3)}
    assert every(Layout((1, 1, 2, 3)), Subject(), "mode") == {
        (0, 0, i, j): i + 2 * j for i in range(2) for j in range(3)
    }


@pytest.mark.parametrize(
    ("layout", "element_bytes", "message"),
    [
        (
            Layout((2, 2)),
            None,
            "draw: banks depend on the bytes per element, which are unknown; give element_bytes=2",
        ),
        (
            Layout((2, 2), (E(0), E(1))),
            2,
            r"draw: \(0,0\) is not an offset, so that it has no bank; layout = \(2,2\):\(1@0,1@1\)",
        ),
    ],
)
def test_banks_need_bytes_and_offsets(layout: Layout, element_bytes: int | None, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        slices(layout, Subject(element_bytes))[0].quantity("bank")


@each("name", [*COLOURS, *LABELS])
def test_every_name_that_is_offered_is_a_quantity_of_every_rank(name: str) -> None:
    for layout in (Layout(()), Layout(4), Layout((4,)), Layout((2, 3)), Layout((2, 3, 2))):
        for table in slices(layout, Subject(2)):
            cells = table.quantity(name)
            assert len(cells) == table.rows.shown
            assert {len(row) for row in cells} == {table.columns.shown}


def test_limits_cut_rows_columns_and_slices_and_more_cells_than_most_are_refused() -> None:
    (one,) = slices(Layout((8, 8, 8)), Subject(), Limits(2, 3, 1))
    assert one.quantity("offset") == [[0, 8, 16], [1, 9, 17]]
    assert len(slices(Layout((8, 8, 8)), Subject(), most=512)) == 8
    with pytest.raises(LayoutError, match="8 rows of 8 columns in 8 tables, more than 511 cells; draw a slice"):
        slices(Layout((8, 8, 8)), Subject(), most=511)
