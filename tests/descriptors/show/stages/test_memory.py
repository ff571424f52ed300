"""The strip of lines: the inverse of the tile."""

from __future__ import annotations

from dataclasses import replace

import pytest
from derived import K_128, MN_64

from descriptors import derive
from descriptors.show.stages.bank_stage import memory
from descriptors.show.stages.view import View


@pytest.mark.parametrize("swizzled", [True, False])
@pytest.mark.parametrize("arguments", [K_128, MN_64], ids=["K", "MN"])
def test_the_chosen_element_is_marked_where_it_lies(arguments: dict[str, object], swizzled: bool) -> None:
    view = View(derive(**arguments), cell=(70, 21), swizzled=swizzled)  # type: ignore[arg-type]
    stage = memory(view)
    assert len(stage.marks) == 1
    u, v = view.anatomy.unit
    cells = stage.grids[0].cells
    assert cells is not None
    assert (70 // u * u, 21 // v * v) in [at for row in cells for at in row]


def test_a_later_stage_lies_further_on() -> None:
    view = View(derive((128, 64, 4), "bf16", "K", "128B", (64, 16)))
    first, third = memory(view).text, memory(replace(view, stage=2)).text
    assert first.split()[0] == "0x0000"
    assert third.split()[0] == "0x8000"
