"""Plates of layouts: before and after an operation a cell keeps its colour."""

from __future__ import annotations

from typing import Any

from each import each
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_layouts

from layoutalg import Layout, draw, evaluate, size, zipped_divide
from layoutalg.pictures.quantities import COLOURS


def roles_by_offset(picture: Any, first: int, last: int | None) -> dict[int, set[str]]:
    roles_of: dict[int, set[str]] = {}
    for panel in picture.plate().panels[first:last]:
        for offsets, roles in zip(panel.grid.cells, panel.roles, strict=True):
            for offset, role in zip(offsets, roles, strict=True):
                roles_of.setdefault(offset, set()).add(role)
    return roles_of


@each("colour", ["offset", "block", "mode", "thread", "value"])
@each("operation", ["zipped_divide", "tiled_divide", "flat_divide", "logical_divide"])
def test_a_cell_has_the_colour_that_its_offset_has_after(colour: str, operation: str) -> None:
    before = Layout((8, 16), (16, 1))
    picture = draw(evaluate(f"{operation}({before}, (4,8))"), colour, before=before)
    was, became = roles_by_offset(picture, 0, 1), roles_by_offset(picture, 1, None)
    assert was == became
    assert all(len(roles) == 1 for roles in was.values())


def test_by_default_the_colour_of_before_and_after_is_the_tile() -> None:
    before = Layout((4, 4))
    picture = draw(zipped_divide(before, (2, 2)), before=before)
    assert picture.colour == "mode"
    assert picture.plate().title == "The same cells, before and after"
    assert [sorted({role for row in panel.roles for role in row if role}) for panel in picture.plate().panels] == [
        ["c0", "c1", "c2", "c3"]
    ] * 2


def test_a_cell_that_is_gone_has_no_colour() -> None:
    picture = draw(Layout((2, 2)), before=Layout((2, 4)))
    assert picture.plate().panels[0].roles == (("c0", "c1", None, None), ("c0", "c1", None, None))


def test_slices_of_rank_four_stand_as_their_modes_run() -> None:
    assert draw(Layout((2, 2, 3, 5))).plate().stacked == 3
    assert draw(Layout((2, 2, 3))).plate().stacked == 0


def test_a_colour_that_nothing_has_is_not_told() -> None:
    plate = draw(evaluate("make_identity_layout((3,4))")).plate()
    assert plate.caption == "A cell holds the coordinate that the layout gives."
    assert plate.legend == ()


@given(any_layouts, st.sampled_from([colour for colour in COLOURS if colour != "bank"]))
def test_any_layout_that_can_be_drawn_is_drawn_in_every_colour(layout: Any, colour: str) -> None:
    total = size(layout)
    if type(total) is int and total <= 64:
        assert draw(layout, colour).svg().startswith("<svg")
