"""The picture of a plan: the numbers that are drawn are the plan's, every text lies inside, two of them are equal."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest
from each import each
from gemm_plans import BLACKWELL, HOPPER, made

from descriptors import picture
from descriptors.cli.command import main
from descriptors.show.pictures.main_loop_picture import MainLoopPicture, rows_of
from descriptors.text import word_text
from layoutalg.drawing.shapes import Arrow, Box

PLANS = [*HOPPER.values(), *BLACKWELL.values()]


@each("arguments", PLANS)
def test_what_is_drawn_is_what_the_plan_has(arguments: dict[str, object]) -> None:
    one = made(arguments)
    picture = MainLoopPicture(one)
    record = picture.record()
    for side in (one.a, one.b):
        rows = [[word_text(side.word_at(i, k, 0)) for k in range(len(side.k_steps))] for i in range(len(side.mn_steps))]
        assert record["words"][side.matrix] == ([] if side.matrix == "A" and one.loads else rows)
    parts = sorted(record["memory"], key=lambda row: row[2])
    assert all(a[2] + a[3] <= b[2] for a, b in pairwise(parts))
    assert parts[-1][2] + parts[-1][3] <= one.budget.capacity
    assert sum(row[3] for row in parts) == one.stages * one.budget.stage_bytes
    svg = picture.svg()
    for side in (one.a, one.b):
        if record["words"][side.matrix]:
            assert record["words"][side.matrix][0][0] in svg and f">+ {side.k_steps[-1]}<" in svg
    assert f"tile {min(one.stages + 1, 7)}" in svg
    text = picture.text()
    assert all(str(row[2]) in text for row in parts)


def test_labels_below_a_bar_cover_no_other_and_no_leader_runs_through_one() -> None:
    rng = random.Random(11)
    for _ in range(300):
        lefts = sorted(rng.uniform(0, 300) for _ in range(rng.randint(1, 5)))
        labels = [(x, x, x + rng.uniform(40, 90)) for x in lefts]
        rows = rows_of(labels)
        for (x, left, right), row in zip(labels, rows, strict=True):
            for (down, begin, end), at in zip(labels, rows, strict=True):
                if (x, row) != (down, at):
                    assert row != at or right <= begin or end <= left
                    assert at >= row or not begin < x < end


def test_a_tile_of_many_blocks_is_no_wider_than_the_others() -> None:
    for arguments in (
        {"instruction": "m64n8k16", "dtype": "bf16", "tile": (256, 128, 128), "arch": "sm90"},
        {"instruction": "m128n64k64", "dtype": "e2m1", "tile": (128, 64, 1024), "kind": "mxf4"},
    ):
        assert MainLoopPicture(made(arguments)).scene().width < 1200


def test_every_text_lies_on_the_picture() -> None:
    scene = MainLoopPicture(made(BLACKWELL["nvf4"])).scene()
    inside = [shape.bounds() for shape in scene.shapes]
    assert all(x >= 0 and y >= 0 and right <= scene.width and foot <= scene.height for x, y, right, foot in inside)


def test_the_command_writes_it_and_the_public_door_gives_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "plan m64n128k16 bf16 --arch sm90 --tile 128x128x64 --stages 4 --b-major MN --draw"
    assert main([*line.split(), str(tmp_path / "a.svg")]) == 0
    captured = capsys.readouterr()
    assert "proved: " in captured.out and f"wrote {tmp_path / 'a.svg'}" in captured.out
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == picture(made(HOPPER["mn"])).svg() + "\n"
    assert main("plan bf16 --arch sm90 --tile 128x128x64 --draw a.svg".split()) == 2
    assert "--draw cannot be combined with a --tile without an INSTRUCTION" in capsys.readouterr().err


@each("arguments", PLANS)
def test_arrows_begin_and_end_where_the_events_are(arguments: dict[str, object]) -> None:
    """A barrier is full when a copy ends, and what waits for it begins; empty when a multiplication ends."""
    one = made(arguments)
    shapes = MainLoopPicture(one).scene().shapes
    arrows = [shape for shape in shapes if isinstance(shape, Arrow) and shape.head]
    top, bottom = min(shape.points[0][1] for shape in arrows), max(shape.points[1][1] for shape in arrows)
    boxes = [shape for shape in shapes if isinstance(shape, Box) and shape.height == 40 and shape.radius == 4]
    copies = [box for box in boxes if box.y + box.height == top]
    products = [box for box in boxes if abs(box.y - bottom) <= 1]
    assert len(copies) == len(products) == min(one.stages + 2, 8)
    full = {_ends(shape.points[0][0], shape.points[1][0]) for shape in arrows if shape.role == "good"}
    assert full == {_ends(copy.x + copy.width, product.x) for copy, product in zip(copies, products, strict=True)}
    empty = {_ends(shape.points[0][0], shape.points[1][0]) for shape in arrows if shape.role == "bad"}
    freed = zip(products, copies[one.stages :], strict=False)
    assert empty == {_ends(product.x + product.width, copy.x) for product, copy in freed}
    assert all(begin < end for begin, end in full)
    assert all(begin <= end + 6.01 for begin, end in empty)  # boxes stand 6 pixels apart


def _ends(begin: float, end: float) -> tuple[float, float]:
    return round(begin, 3), round(end, 3)


@pytest.mark.parametrize("shared", [False, True])
def test_output_tiles_in_turn_begin_once_their_set_is_free_and_are_read_once_they_are_done(shared: bool) -> None:
    asked = BLACKWELL["mx pair" if shared else "nvf4"]
    drawn = MainLoopPicture(made(asked | {"accumulators": 2}))
    slots = drawn.record()["turns"]
    for tile, (begin, done, free, end) in enumerate(slots):
        assert begin < done < free <= end and (free < end) is shared
        if tile:
            assert begin >= slots[tile - 1][1] and done >= slots[tile - 1][3]
        if tile >= (1 if shared else 2):
            assert begin >= slots[tile - (1 if shared else 2)][2]
    assert (
        "Output tiles in alternating accumulators" in drawn.svg()
        and "turns" not in MainLoopPicture(made(asked)).record()
    )
