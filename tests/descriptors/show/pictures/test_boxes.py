"""Boxes: they cover the tile once, and land where the plan says."""

from __future__ import annotations

import pytest
from drawn import read
from drawn_operands import OPERANDS
from each import each

from descriptors import DescriptorError, TmaError, tma_plan
from descriptors.show.pictures.box_picture import BoxesPicture
from descriptors.show.pictures.panels import spaced


@each("rank", [2, 3])
@each("name", OPERANDS)
def test_boxes_cover_every_element_of_the_tile_once(name: str, rank: int) -> None:
    try:
        plan = tma_plan(OPERANDS[name], rank)
    except TmaError:
        return
    record = BoxesPicture(plan).record()
    (mn, k), times = record["tile"], {}
    for box in record["boxes"]:
        (i, j), (high, wide) = box["origin"], box["extents"]
        for at in ((a, b) for a in range(i, i + high, 8) for b in range(j, j + wide, 8)):
            times[at] = times.get(at, 0) + 1
    assert set(times) == {(a, b) for a in range(0, mn, 8) for b in range(0, k, 8)}
    assert set(times.values()) == {1}


def test_each_box_says_where_it_lands() -> None:
    plan = tma_plan(OPERANDS["MN 64B"])
    words = [word for _, _, word, _ in read(BoxesPicture(plan).svg()).texts]
    assert [f"at {spaced(box.offset_bytes)}" for box in plan.boxes] == [
        word for word in words if word.startswith("at ")
    ]


def test_a_stage_that_is_not_there_is_refused() -> None:
    with pytest.raises(DescriptorError, match="the plan has no stage 3; supported: 0 to 2"):
        BoxesPicture(tma_plan(OPERANDS["four bits, stages"]), 3).scene()
