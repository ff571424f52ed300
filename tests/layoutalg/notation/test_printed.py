"""What CuTe prints of a tensor is read as the layout in it, and what else it says is kept.

The texts of the DSL are what `print` of a tensor, of its type and of a slice writes in version 4.8.1; those of C++
follow the print functions of CuTe's pointers.
"""

from __future__ import annotations

import pytest
from each import each

from layoutalg import NotationError, Pointer, Swizzle, evaluate, parse_layout, parse_pointer

S = Swizzle(3, 4, 3)
TILE = "((_8,_16),(_64,_2)):((_64,_512),(_1,_8192))"
PRINTED = [
    (
        f"Sw<3,4,3> o smem_ptr[16b](0x7f2a00000400) o {TILE}",
        "S<3,3,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))",
        Pointer(16, "smem", 0x7F2A00000400, swizzle=S),
    ),
    (f"Sw<3,4,3>_smem_ptr[8b](0x400) o {TILE}", f"S<3,4,3> o 0 o {TILE}", Pointer(8, "smem", 0x400, swizzle=S)),
    ("Sw<3,4,3> o smem_ptr[4b](unset) o 8:1", "S<3,5,3> o 0 o 8:1", Pointer(4, "smem", swizzle=S)),
    ("Sw<2,4,3> o smem_ptr[32b](0x210) o 8:1", "S<2,2,3> o 4 o 8:1", Pointer(32, "smem", 0x210, "", Swizzle(2, 4, 3))),
    ("smem_ptr[16b](unset) o (_8,_64):(_64,_1)", "(8,64):(64,1)", Pointer(16, "smem")),
    ("smem_ptr[16b](0x400) o Sw<3,3,3> o _0 o (8,64):(64,1)", "S<3,3,3> o (8,64):(64,1)", Pointer(16, "smem", 0x400)),
    ("Sw<0,4,3> o smem_ptr[128b](unset) o 8:1", "S<0,0,3> o 0 o 8:1", Pointer(128, "smem", None, "", Swizzle(0, 4, 3))),
    ("gmem_ptr[32b](0x7f00) o (4,8):(8,1)", "(4,8):(8,1)", Pointer(32, "gmem", 0x7F00)),
    ("ptr[16b](0x7ffd4) o (4,8):(8,1)", "(4,8):(8,1)", Pointer(16, "", 0x7FFD4)),
    ("tmem_ptr[32b](0x0010.0040) o (128,64):(65536,1)", "(128,64):(65536,1)", Pointer(32, "tmem", 0x100040)),
    (
        "tensor<ptr<bf16, smem, align<1024>, S<3,4,3>> o ((8,16),(64,2)):((64,512),(1,8192))>",
        "S<3,3,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))",
        Pointer(16, "smem", None, "bf16", S),
    ),
    (
        "tensor<ptr<bf16, smem, align<1024>> o S<3,4,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))>",
        "S<3,4,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))",
        Pointer(16, "smem", None, "bf16"),
    ),
    (
        "tensor<ptr<f8E4M3FN, gmem, align<16>> o (64,32):(64,1)>",
        "(64,32):(64,1)",
        Pointer(8, "gmem", None, "f8E4M3FN"),
    ),
    ("tensor<ptr<f32, rmem, align<32>> o (4,8):(1,4)>", "(4,8):(1,4)", Pointer(32, "rmem", None, "f32")),
    (
        '!cute.memref<bf16, smem, align<1024>, S<3,4,3>, "((8,2),(64,2)):((64,512),(1,1024))">',
        "S<3,3,3> o 0 o ((8,2),(64,2)):((64,512),(1,1024))",
        Pointer(16, "smem", None, "bf16", S),
    ),
    ("tensor<ptr<bf16, dsmem, align<16>> o (8,64):(64,1)>", "(8,64):(64,1)", Pointer(16, "dsmem", None, "bf16")),
    ('!cute.memref<f32, cmem, "8:1">', "8:1", Pointer(32, "cmem", None, "f32")),
    (
        "tensor<ptr<bf16, smem, align<1024>> o S<2,4,-3 o 16 o (8,64):(64,1)>",
        "S<2,4,-3> o 16 o (8,64):(64,1)",
        Pointer(16, "smem", None, "bf16"),
    ),
    ("tensor<(0,0) o (8,64):(1@0,1@1)>", "(8,64):(1@0,1@1)", None),
    ('!cute.coord_tensor<"((0,0),0)", "((4,2),8):((1@0@0,1@1@0),1@1)">', "((4,2),8):((1@0@0,1@1@0),1@1)", None),
    ("tensor<(4,-32) o (4,16):(1@0,1@1)>", "S<0,0,0> o (4,-32) o (4,16):(1@0,1@1)", None),
    ('!cute.coord_tensor<"(4,-32)", "(4,16):(1@0,1@1)">', "S<0,0,0> o (4,-32) o (4,16):(1@0,1@1)", None),
    ("tensor<48 o (16):(1)>", "S<0,0,0> o 48 o (16):(1)", None),
    ('!cute.layout<"(512,256):(256,1)">', "(512,256):(256,1)", None),
    ('!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">', "S<3,4,3> o 0 o (8,64):(64,1)", None),
]  # fmt: skip


@each(("text", "layout", "pointer"), PRINTED)
def test_a_printed_tensor_is_its_layout_in_elements_and_what_was_said_of_it(
    text: str, layout: str, pointer: Pointer | None
) -> None:
    assert parse_layout(text) == evaluate(text) == parse_layout(layout)
    assert parse_pointer(text) == pointer


@pytest.mark.parametrize("prefix", ["", "!cute."])
def test_a_pointer_alone_is_read_and_is_no_layout(prefix: str) -> None:
    text = f"{prefix}ptr<bf16, smem, align<1024>, S<3,4,3>>"
    assert parse_pointer(text) == Pointer(16, "smem", None, "bf16", S)
    with pytest.raises(NotationError, match="the end of the text"):
        parse_layout(text)


def test_a_tensor_of_coordinates_gives_the_coordinates_from_where_it_begins() -> None:
    tile = parse_layout("tensor<(4,32) o (4,16):(1@0,1@1)>")
    assert tile(1, 2) == (5, 34)  # type: ignore[operator, comparison-overlap]


@each("bits", [4, 8, 16, 32])
@each("address", [0, 0x400, 0x410, 0x7F0, 0x13F0])
def test_the_layout_gives_the_addresses_that_the_swizzled_pointer_has(bits: int, address: int) -> None:
    """CuTe's own: the swizzle permutes the byte address of every element."""
    plain = parse_layout("(8,4):(256,32)")
    text = f"Sw<3,4,3> o smem_ptr[{bits}b]({address:#x}) o {plain}"
    layout, pointer = parse_layout(text), parse_pointer(text)
    assert pointer is not None
    assert pointer.base is not None
    for index in range(32):
        assert pointer.base + layout(index) * bits // 8 == S(address + plain(index) * bits // 8)  # type: ignore[operator]


@each(
    ("text", "message"),
    [
        (
            "Sw<1,0,3> o smem_ptr[16b](unset) o 8:1",
            "S<1,0,3> on byte addresses does not move whole elements of 16",
        ),
        ("Sw<3,4,3> o smem_ptr[16b](0x401) o 8:1", "S<3,4,3> at address 1025 does not move whole elements of 16 bits"),
        ("Sw<3,4,3> o smem_ptr[6b](unset) o 8:1", "whole elements of 6 bits"),
        (
            "raw_ptr(0x0400: bf16, smem, align<1024>) o 8:1",
            "raw_ptr, which cute.printf prints",
        ),
        ("smem_ptr[16b](0x400) o ", "the end of the text"),
        ("smem_ptr[0b](0x400) o 8:1", "Pointer: bits is 0, which is not positive"),
        ("Sw<3,4,3> o smem_ptr[16b](0x400) o (8,64):(64,,1)", "found ',' at position 46"),
    ],
)
def test_what_no_layout_of_elements_is_in_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^(notation|Pointer): ") as caught:
        parse_layout(text)
    assert message in str(caught.value)


def test_an_expression_takes_what_c_prints_wherever_a_layout_stands() -> None:
    assert evaluate("size(smem_ptr[16b](unset) o (_8,_64):(_64,_1))") == 512
    with pytest.raises(NotationError):
        parse_pointer(8)  # type: ignore[arg-type]
    assert parse_pointer("(8*ptr,64):(64,1)") is None


@each(
    ("text", "layout"),
    [
        ("tensor<ptr<bf16, gmem> o (?{div=8},64):(64,1)>", "(8*a,64):(64,1)"),
        ("tensor<(?{div=16},4) o (16,4):(1@0,1@1)>", "S<0,0,0> o (16*a,4) o (16,4):(1@0,1@1)"),
        ('!cute.memref<bf16, gmem, "(?,64):(?{i64},1)">', "(a,64):(b,1)"),
        ("(?,?{i32 div=4}):(?,1)", "(a,4*b):(c,1)"),
        ("ArithTuple(_0,_32) o (_64,_16):(_1@0,_1@1)", "S<0,0,0> o (0,32) o (64,16):(1@0,1@1)"),
        ("ArithTuple(0,0) o ((_64,_16),2):((_1@0,_1@1),64@0)", "((64,16),2):((1@0,1@1),64@0)"),
        ("ptr[32b]((nil)) o (_4,_8):(_8,_1)", "(4,8):(8,1)"),
    ],
)
def test_numbers_known_at_run_time_are_symbols_and_coordinates_are_origins(text: str, layout: str) -> None:
    assert evaluate(text) == evaluate(layout)
