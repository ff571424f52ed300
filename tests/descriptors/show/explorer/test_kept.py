"""What a frozen page keeps, filled in, is what the inspector says of every element."""

from __future__ import annotations

from typing import Any

import pytest
from derived import derivations
from hypothesis import given
from hypothesis import strategies as st

from descriptors.show.explorer.inspector import addresses, fill, inspect
from descriptors.show.explorer.offline import packed_elements, unpacked
from descriptors.show.explorer.question import question, view
from descriptors.show.explorer.tile_summary import summary
from descriptors.show.stages.view import View
from descriptors.smem.derivation.derivation import Derivation


@given(d=derivations(), data=st.data())
def test_an_element_lies_where_the_layout_has_it(d: Derivation, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, d.tile[0] - 1)), data.draw(st.integers(0, d.tile[1] - 1))
    numbers = addresses(View(d)).numbers(cell)
    bits = d.smem_tile(*cell, *(0 for _ in d.tile[2:])) * d.element.storage_bits
    assert (numbers["after"], numbers["after_half"]) == (bits // 8, bits % 8 // 4)
    assert numbers["start"] == d.descriptor.start_address + d.offset_of(numbers["subtile_mn"], numbers["subtile_k"])


@pytest.mark.parametrize(
    "body",
    [
        {"tile": "64x64"},
        {"tile": "64x64", "major": "MN", "swizzle": "64B", "base": "0x2000"},
        {"tile": "64x64x3", "stage": 2, "swizzle": "none", "banks": 16},
        {"tile": "64x256", "dtype": "e2m1", "mma": "64x64"},
    ],
)
def test_every_element_is_told_as_the_inspector_tells_it(body: dict[str, Any]) -> None:
    q = question(body)
    packed = unpacked(packed_elements(q, view(q)))
    (mn, k), columns, said = packed["extents"], packed["columns"], packed["sentences"]
    for cell in [(i, j) for i in range(0, mn, 5) for j in range(0, k, 7)]:
        at = question(body | {"cell": list(cell)})
        known, words = inspect(view(at)), summary(at, view(at))
        number = cell[0] * k + cell[1]
        values = {name: one[number] if isinstance(one, list) else one for name, one in columns.items()}
        own = packed["subtiles"][values["subtile_mn"]][values["subtile_k"]]
        values["word"] = own["word"]
        assert [[name, fill(one, values)] for name, one in said["facts"]] == known["facts"]
        assert fill(said["formula"], values) == known["formula"]
        assert own["fields"] == words["fields"]
        assert own["word"] == words["word"]


def test_too_many_elements_are_not_kept() -> None:
    q = question({"tile": "512x256", "dtype": "e4m3", "mma": "64x32"})
    assert packed_elements(q, view(q)) == ""
