"""The strip of lines: the inverse of the tile."""

from __future__ import annotations

from dataclasses import replace

import pytest
from derived import K_128, MN_64

from descriptors import derive
from descriptors.show.stages.tile_stage import lines
from descriptors.show.stages.view import View


@pytest.mark.parametrize("swizzled", [True, False])
@pytest.mark.parametrize("arguments", [K_128, MN_64], ids=["K", "MN"])
def test_the_chosen_element_is_marked_where_it_lies(arguments: dict[str, object], swizzled: bool) -> None:
    view = View(derive(**arguments), cell=(70, 21), swizzled=swizzled)  # type: ignore[arg-type]
    stage = lines(view)
    u, v = view.anatomy.unit
    memory = stage.grids[-1]
    assert memory.cells is not None
    piece = 70 // u * u, 21 // v * v
    places = [(i, j) for i, row in enumerate(memory.cells) for j, at in enumerate(row) if at == piece]
    assert [(one.x, one.y) for one in stage.marks[-1:]] == [memory.box(*place)[:2] for place in places]
    assert len(places) == 1


def test_a_later_stage_lies_further_on() -> None:
    view = View(derive((128, 64, 4), "bf16", "K", "128B", (64, 16)))
    first, third = lines(view).text, lines(replace(view, stage=2)).text
    assert first.split()[0] == "0x0000"
    assert third.split()[0] == "0x8000"
