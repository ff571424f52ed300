"""Merged rectangles cover every cell once, with its role, and are few where cells repeat."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from layoutalg.drawing.figure import merged

roles = st.sampled_from(["c0", "c1", "c2", None])
tables = st.integers(0, 9).flatmap(
    lambda across: st.lists(st.lists(roles, min_size=across, max_size=across), max_size=9)
)
ragged = st.lists(st.lists(roles, max_size=6), max_size=6)


@given(tables | ragged)
def test_every_cell_with_a_role_is_covered_once_and_by_that_role(rows: list[list[str | None]]) -> None:
    painted: dict[tuple[int, int], str] = {}
    for role, blocks in merged(rows).items():
        for column, row, wide, high in blocks:
            assert wide > 0
            assert high > 0
            for cell in ((i, j) for i in range(row, row + high) for j in range(column, column + wide)):
                assert cell not in painted, "covered twice"
                painted[cell] = role
    assert painted == {(i, j): role for i, row in enumerate(rows) for j, role in enumerate(row) if role is not None}


def test_rows_that_repeat_are_one_rectangle_a_run() -> None:
    assert merged([["c0", "c1"]] * 5) == {"c0": [(0, 0, 1, 5)], "c1": [(1, 0, 1, 5)]}
    assert merged([["c0"] * 4] * 3 + [[None] * 4] + [["c0"] * 4]) == {"c0": [(0, 0, 4, 3), (0, 4, 4, 1)]}


def test_roles_and_their_rectangles_stand_in_one_order() -> None:
    blocks = merged([["c2", "c0", "c2"], ["c0", "c2", "c0"]])
    assert list(blocks) == ["c0", "c2"]
    assert blocks["c2"] == [(0, 0, 1, 1), (2, 0, 1, 1), (1, 1, 1, 1)]
