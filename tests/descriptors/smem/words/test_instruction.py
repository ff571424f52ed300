"""The instruction descriptors: every field where the PTX ISA has it, every code, and no bit lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptors.smem.instructions.idesc import INSTRUCTION_DESCRIPTORS, decode_idesc, idesc, word_of
from descriptors.smem.instructions.rules import kind_row, type_name
from descriptors.smem.words.bitfield import UnknownCode, span

PLAIN = ("f16", "tf32", "f8f6f4", "i8")


KINDS = tuple(INSTRUCTION_DESCRIPTORS)


@pytest.mark.parametrize("kind", PLAIN)
def test_fields_of_the_plain_kinds_are_where_the_ptx_isa_has_them(kind: str) -> None:
    bits = {field.name: span(field) for field in word_of(kind).fields}
    assert bits == {
        "sparsity_selector": "[0,2)",
        "sparse": "[2,3)",
        "saturate": "[3,4)",
        "d_dtype": "[4,6)",
        "a_dtype": "[7,10)",
        "b_dtype": "[10,13)",
        "negate_a": "[13,14)",
        "negate_b": "[14,15)",
        "a_major": "[15,16)",
        "b_major": "[16,17)",
        "n": "[17,23)",
        "m": "[24,29)",
        "max_shift": "[30,32)",
    }


@pytest.mark.parametrize("kind", ["mxf8f6f4", "mxf4", "mxf4nvf4"])
def test_fields_of_the_block_scaled_kinds_are_where_the_ptx_isa_has_them(kind: str) -> None:
    bits = {field.name: span(field) for field in word_of(kind).fields}
    assert bits.pop("k_is_96", None) == (None if kind == "mxf8f6f4" else "[31,32)")
    assert bits == {
        "sparse": "[2,3)",
        "sfb_id": "[4,6)",
        "a_dtype": "[7,10)",
        "b_dtype": "[10,13)" if kind == "mxf8f6f4" else "[10,12)",
        "negate_a": "[13,14)",
        "negate_b": "[14,15)",
        "a_major": "[15,16)",
        "b_major": "[16,17)",
        "n": "[17,23)",
        "scale_dtype": "[23,24)",
        "m": "[27,29)",
        "sfa_id": "[29,31)",
    }


@pytest.mark.parametrize(
    ("kind", "codes"),
    [
        ("f16", {"f16": 0, "bf16": 1}),
        ("tf32", {"tf32": 2}),
        ("f8f6f4", {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}),
        ("i8", {"u8": 0, "s8": 1}),
        ("mxf8f6f4", {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}),
        ("mxf4", {"e2m1": 1}),
        ("mxf4nvf4", {"e2m1": 1}),
    ],
)
def test_type_codes_are_those_of_the_kind(kind: str, codes: dict[str, int]) -> None:
    assert dict(word_of(kind)["a_dtype"].codes) == dict(word_of(kind)["b_dtype"].codes) == codes
    assert set(codes) == set(map(type_name, kind_row("sm100", kind).dtypes))


@pytest.mark.parametrize(("columns", "code"), [(0, 0), (8, 1), (16, 2), (32, 3)])
def test_the_shift_of_the_weight_stationary_form_is_given_in_columns(columns: int, code: int) -> None:
    assert idesc("f16", m=32, n=64, ws=True, max_shift=columns) >> 30 == code


@pytest.mark.parametrize("kind", KINDS)
def test_every_code_of_every_field_survives_the_round_trip(kind: str) -> None:
    word = word_of(kind)
    for field in word.fields:
        for code in range(1 << field.bits):
            raw = code << field.low
            assert word.encode(word.decode(raw)) == raw
            assert word.unknown_bits(raw) == 0


@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
def test_decoding_loses_no_bit(kind: str, raw: int) -> None:
    decoded = decode_idesc(raw, kind)
    assert word_of(kind).encode(dict(decoded.values)) | decoded.unknown_bits == raw
    assert bool(decoded.unknown_bits) == any("reserved bits" in warning for warning in decoded.warnings)
    for name, value in decoded.values:
        assert isinstance(value, UnknownCode) == (f"{name} has {value}" in decoded.warnings)


def test_bits_of_no_field_are_the_reserved_ones() -> None:
    def reserved(kind: str) -> list[int]:
        return [bit for bit in range(32) if word_of(kind).unknown_bits(1 << bit)]

    assert reserved("f16") == reserved("i8") == [6, 23, 29]
    assert reserved("mxf8f6f4") == [0, 1, 3, 6, 24, 25, 26, 31]
    assert reserved("mxf4") == [0, 1, 3, 6, 12, 24, 25, 26]
