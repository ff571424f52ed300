"""Quantities as roles: banks in groups of four, others modulo 8; a legend that names what there is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from layoutalg.pictures.plates import role_tables

tables = st.lists(st.lists(st.none() | st.integers(0, 31), min_size=1, max_size=5), min_size=1, max_size=5)


@given(tables)
def test_two_banks_have_one_role_exactly_if_they_are_of_one_group(table: list[list[int | None]]) -> None:
    (roles,), legend = role_tables("bank", [table])
    pairs = {
        (bank, role) for row, filled in zip(table, roles, strict=True) for bank, role in zip(row, filled, strict=True)
    }
    assert all(role == (None if bank is None else f"c{bank // 4}") for bank, role in pairs)
    assert [role for role, _ in legend] == sorted({role for _, role in pairs if role})


def test_a_legend_names_the_numbers_of_a_kind_and_says_where_it_stops() -> None:
    _, legend = role_tables("thread", [[[0, 8, 16, 24, 1]]])
    assert legend == (("c0", "T0, T8, T16, \u2026"), ("c1", "T1"))
    assert role_tables("bank", [[[0, 31]]])[1] == (("c0", "banks 0\u20133"), ("c7", "banks 28\u201331"))
    assert role_tables("slice", [[[2, 10]]])[1] == (("c2", "slice 2, 10"),)


def test_an_order_runs_over_all_tables_at_once() -> None:
    roles, legend = role_tables("offset", [[[0]], [[7]]])
    assert roles == [(("r0",),), (("r7",),)]
    assert len(legend) == 2


def test_without_numbers_there_is_no_colour_and_no_legend() -> None:
    assert role_tables("none", [[[None]]]) == ([((None,),)], ())
    assert role_tables("offset", [[[(0, 1)]]]) == ([((None,),)], ())
