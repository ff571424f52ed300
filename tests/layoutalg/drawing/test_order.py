"""Offsets as an order: monotone, from the first role to the last, over whatever numbers there are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from layoutalg import E, Layout
from layoutalg.drawing.grid import drawing
from layoutalg.drawing.plate import by_offset, integers, order, role_table


@given(st.sets(st.integers(-(10**20), 10**20), min_size=1))
def test_a_higher_offset_never_has_an_earlier_role(numbers: set[int]) -> None:
    roles, legend = order(numbers)
    assert [roles[number] for number in sorted(numbers)] == sorted(roles.values())
    assert roles[min(numbers)] == legend[0][0] == "r0"
    assert roles[max(numbers)] == legend[-1][0]
    assert str(max(numbers)) in legend[-1][1]


def test_no_numbers_have_no_roles() -> None:
    assert order([]) == ({}, ())
    assert integers([[[(1, 2), True, None, 3]]]) == {3}
    assert role_table([[3, True, (1,)]], {3: "r0", 1: "r1"}) == (("r0", None, None),)


def test_the_plate_of_a_layout_of_coordinates_is_not_coloured() -> None:
    plate = by_offset(drawing(Layout((2, 2), (E(0), E(1)))))
    assert plate.panels[0].roles == ((None, None), (None, None))
    assert plate.legend == ()
