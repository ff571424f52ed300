"""Widening copies: bytes out of packed elements, by the text of the manual; what it does not say is not answered."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from each import each
from places import VECTORS

from descriptors import DescriptorError
from descriptors.tmem.copied import tmem_copied
from descriptors.tmem.copies import WIDENING_FORMATS, tmem_copies, widened_copy
from descriptors.tmem.geometry import BELIEVED, DOCUMENTED

PTXAS = json.loads((VECTORS / "tmem_ptxas.json").read_text(encoding="utf-8"))["widening"]


@each("case", PTXAS, ids=lambda case: case["asked"])
def test_a_format_exists_where_the_assembler_takes_it(case: dict[str, Any]) -> None:
    try:
        widened = widened_copy(case["asked"])
    except DescriptorError:
        assert not case["accepted"]
    else:
        assert case["accepted"] and widened.ptx() == f"tcgen05.cp.cta_group::1.{case['asked']}"


@each("name", WIDENING_FORMATS)
@each("plain", tmem_copies(), ids=lambda one: one.name)
def test_an_element_becomes_the_byte_of_its_number(plain: Any, name: str) -> None:
    widened, bits = widened_copy(f"{plain.name}.{name}"), WIDENING_FORMATS[name][0]
    assert (widened.element_bits, widened.padding) == {"4": (4, 8), "6": (6, 4)}[name[7]]
    assert widened.headline.endswith(f": {bits} bits an element, {16 - 2 * bits} bytes of each 16 are padding")
    for row, element in np.ndindex(plain.rows, plain.bits // 8):
        assert widened.source(row, element) == row * plain.bits + element // 16 * 128 + element % 16 * bits
        for copy in range(plain.copies):
            assert widened.cells.cell(row, element, copy) == plain.cells.cell(row, 8 * element, copy)
    assert widened.cells.evidence == (BELIEVED if plain.name == "4x256b" else DOCUMENTED)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: widened_copy("128x256b"), "'128x256b' is not the name of a widening copy, such as 128x256b.b8x16.b4x"),
        (lambda: widened_copy(None), "None is not the name of a widening copy"),  # type: ignore[arg-type]
        (lambda: widened_copy("128x256b.b8x16"), "supported: b8x16.b4x16_p64, b8x16.b6x16_p32"),
        (lambda: widened_copy("64x128b.b8x16.b4x16_p64"), "multicast is absent, but must be warpx2::02_13"),
        (
            lambda: tmem_copied((128, 32), "e4m3", "none", "128x256b.b8x16.b4x16_p64"),
            "multicast is b8x16.b4x16_p64, but must be absent",
        ),
    ],
)
def test_what_is_no_widening_copy_is_refused(call: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        call()
