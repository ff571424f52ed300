"""The landing model says what CUTLASS's traits say, with no code of the layouts."""

from __future__ import annotations

import pytest
from tmem_maps import rows

from descriptors import ChoiceError
from descriptors.tmem.landing_model import COPY_SHAPES, landing
from layoutalg import parse_layout

_NAMES = {
    "128x256b": "128dp256bit",
    "128x128b": "128dp128bit",
    "64x128b.warpx2::02_13": "2x64dp128bitlw0213",
    "64x128b.warpx2::01_23": "2x64dp128bitlw0123",
    "32x128b.warpx4": "4x32dp128bit",
}


@pytest.mark.parametrize("name", _NAMES)
def test_the_lanes_are_those_of_cutlass(name: str) -> None:
    """By CuTe's text of the destination: its modes are rows, bits, and copies; of 01_23 rows are two modes."""
    row = next(row for row in rows("CP") if row["name"] == f"{_NAMES[name]} cta_group1")
    place = parse_layout(row["cute"].split("; ")[0])
    for r, word, (lane, column) in landing(name, lane=0, column=0):
        halves = (r % 32, 32 * word, r // 32) if name.endswith("01_23") else (r, 32 * word)
        copies = COPY_SHAPES[name][2](r)
        where = (*halves, copies.index(lane)) if len(copies) > 1 else halves
        assert place(*where) == lane << 21 | column << 5


def test_the_address_moves_all_cells() -> None:
    for name in COPY_SHAPES:
        at = landing(name, lane=0, column=0)
        assert [(r, w, (lane + 1, column + 2)) for r, w, (lane, column) in at] == landing(name, lane=1, column=2)


def test_there_are_no_other_copies() -> None:
    with pytest.raises(ChoiceError, match=r"tcgen05.cp: the shape is .*not supported.*supported: 128x256b"):
        landing("64x128b", lane=0, column=0)
