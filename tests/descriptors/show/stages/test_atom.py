"""One atom, element by element."""

from __future__ import annotations

from dataclasses import replace

import pytest
from derived import K_128, MN_64

from descriptors import derive
from descriptors.show.stages.atom_stage import atom
from descriptors.show.stages.view import View


@pytest.mark.parametrize("arguments", [K_128, MN_64], ids=["K", "MN"])
def test_every_number_is_the_offset_of_its_element(arguments: dict[str, object]) -> None:
    d = derive(**arguments)  # type: ignore[arg-type]
    stage = atom(View(d, cell=(70, 21)))
    grid = stage.grids[0]
    lines = stage.text.splitlines()
    for i in range(grid.rows):
        numbers = list(map(int, lines[i].split()))
        row = grid.origin[0] + i
        assert numbers[0] == row
        assert numbers[1 : 1 + grid.columns] == [d.smem_tile(row, grid.origin[1] + j) for j in range(grid.columns)]


def test_without_the_swizzle_the_numbers_run_on() -> None:
    stage = atom(replace(View(derive(**K_128)), swizzled=False))
    assert stage.text.splitlines()[1].split()[1:5] == ["64", "65", "66", "67"]


def test_a_layout_that_is_no_whole_atoms_shows_a_chunk() -> None:
    d = derive(layout="S<3,3,3> o 0 o (64,16):(64,1)", dtype="bf16", mma=(64, 16))
    stage = atom(View(d, cell=(9, 3)))
    assert "chunk" in stage.scene.title


def test_it_says_what_the_colour_is() -> None:
    view = View(derive(**K_128), banks=64)
    word = view.derivation.word(0, 0) ^ (1024 ^ 512) // 16 << 32
    views = [*(replace(view, colour=colour) for colour in ("order", "bank", "column")), replace(view, word=word)]
    said = [atom(one).said for one in views]
    assert [one.partition("; color: ")[2] for one in said] == [
        "their position in a line of 128 bytes.", "their position in a line of 256 bytes.",
        "the logical column of 16 bytes.", "",
    ]  # fmt: skip
