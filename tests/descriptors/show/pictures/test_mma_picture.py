"""The picture of a main loop of ``mma.sync``: what lies where in shared memory, and whose each part of C is."""

from __future__ import annotations

from typing import Any

from each import each

from descriptors import mma_plan
from descriptors.show.pictures.mma_picture import MmaPicture
from layoutalg import offsets

PLANS: list[dict[str, Any]] = [
    {"instruction": "mma.m16n8k16", "dtype": "bf16", "tile": (64, 96, 64), "b_major": "MN"},
    {"instruction": "mma.m16n8k32", "dtype": "s8", "tile": (32, 32, 64), "a_major": "MN"},
    {"instruction": "mma.m16n8k64", "dtype": "e2m1", "tile": (64, 64, 128)},
]


@each("asked", PLANS, ids=str)
def test_a_cell_names_what_begins_there_and_a_matrix_has_a_row_in_every_column(asked: dict[str, Any]) -> None:
    one = mma_plan(**asked, verify=False)
    picture = MmaPicture(one)
    lines = picture.record()["memory"]
    for side in (one.a, one.b):
        places = offsets(side.layout) * side.bytes
        cells = [(i, j, *cell) for i, row in enumerate(lines[side.matrix]) for j, cell in enumerate(row)]
        for i, j, name, _ in cells:
            mn, k = map(int, name.split(","))
            assert places[mn, k // side.packed] == 128 * i + 16 * j
        first = [j for _, j, _, matrix in cells if matrix == 0]
        assert side.by_element or sorted(first) == list(range(8))
    assert picture.scene().width < 1300


def test_every_warp_has_as_much_of_c() -> None:
    one = mma_plan("mma.m16n8k16", "bf16", tile=(96, 64, 32), warps=(3, 2), verify=False)
    warps = [warp for row in MmaPicture(one).record()["warps"] for warp in row]
    assert {warps.count(warp) for warp in range(6)} == {4} and len(warps) == 24
    stored = one.store_elements[::32, 0, 0, 0]  # the first value of each warp's first lane
    assert [MmaPicture(one).record()["warps"][at % 96 // 16][at // 96 // 16] for at in stored] == list(range(6))
