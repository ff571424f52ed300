"""A layout may be pasted: an expression, or what CuTe printed; what a print says is held against what is asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from descriptors import DescriptorError, candidates, derive, diff, match
from descriptors.cli.command import main
from descriptors.smem.operands.operand import as_element_type
from layoutalg import Layout

TILE = "((_8,_16),(_64,_2)):((_64,_512),(_1,_8192))"
WORD = 0x4000404000010000
ASKED: dict[str, Any] = {"dtype": "bf16", "mma": (64, 16)}
PRINTS = [
    f"Sw<3,4,3> o smem_ptr[16b](0x7f2a00000400) o {TILE}",
    f"Sw<3,4,3>_smem_ptr[16b](0x400) o {TILE}",
    f"Sw<3,4,3> o smem_ptr[16b](unset) o {TILE}",
    "tensor<ptr<bf16, smem, align<1024>, S<3,4,3>> o ((8,16),(64,2)):((64,512),(1,8192))>",
]
SLICE = "local_tile(S<3,3,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192)), (128,32), (0,1))"


@pytest.mark.parametrize("text", PRINTS)
@pytest.mark.parametrize("unit", ["elements", "cute"])
def test_a_printed_tile_has_the_descriptor_of_the_tile(text: str, unit: Any) -> None:
    d = derive(layout=text, unit=unit, **ASKED)
    assert d.descriptor.encode() == WORD
    assert d.smem_tile == derive(tile=(128, 128), major="K", swizzle="128B", **ASKED).smem_tile


def test_the_printed_address_is_the_base_unless_another_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["derive", "--dtype", "bf16", "--mma", "64x16", "--json", "--layout", PRINTS[0]]
    bases = []
    for more in ([], ["--base", "0x2000"]):
        assert main([*command, *more]) == 0
        bases.append(json.loads(capsys.readouterr().out)["base"])
    assert bases == [0x400, 0x2000]
    small = "Sw<3,4,3> o smem_ptr[16b](0x7f2a00000400) o (64,16):(64,1)"
    assert diff(WORD + 0x40, small, dtype="bf16", major="K").ok
    assert diff(WORD, small, dtype="bf16", major="K").base == 0x400
    assert diff(WORD, small, dtype="bf16", major="K", base=0).ok


@pytest.mark.parametrize(
    ("text", "dtype", "unit", "message"),
    [
        (PRINTS[0], "e4m3", "cute", "printed layout has elements of 16 bits, but dtype is e4m3, of 8 bits"),
        (PRINTS[3], "f16", "cute", "printed layout has bf16 of 16 bits, but dtype is f16, of 16 bits"),
        (PRINTS[0], "bf16", "bytes", "unit is bytes, but a printed tensor has unit cute"),
        ("gmem_ptr[16b](0x400) o (64,64):(64,1)", "bf16", "elements", "the layout is in gmem, not in shared memory"),
    ],
)
def test_what_a_print_says_must_not_contradict_what_is_asked(text: str, dtype: str, unit: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        derive(layout=text, dtype=dtype, unit=unit, mma=(64, 16))


@pytest.mark.parametrize(
    ("type_name", "dtype"),
    [("f8E4M3FN", "e4m3"), ("f8E5M2", "e5m2"), ("i8", "s8"), ("i8", "u8"), ("f4E2M1FN", "e2m1"), ("tf32", "tf32")],
)
def test_the_dsl_names_of_the_types_are_known(type_name: str, dtype: str) -> None:
    width = 1024 // as_element_type(dtype).storage_bits
    text = f"tensor<ptr<{type_name}, smem, align<1024>, S<3,4,3>> o (64,{width}):({width},1)>"
    assert match(text, dtype).stride_byte_offset == 1024


def test_any_expression_is_a_layout_and_so_is_what_eval_prints() -> None:
    evaluated = "(S<3,3,3> o 32 o (128,32):(64,1),0)"
    for text in (SLICE, evaluated):
        assert derive(layout=text, **ASKED).descriptor.encode() == WORD + 4
    assert match("coalesce((64,16):(64,1))", "bf16", "K", "128B") == match("(64,16):(64,1)", "bf16", "K", "128B")
    assert diff(WORD, "select((16,64):(1,64), (1,0))", dtype="bf16", major="K").layout == Layout((64, 16), (64, 1))
    assert candidates(SLICE, "bf16", shape=(64, 16))[0].usable
