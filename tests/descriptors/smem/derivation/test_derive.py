"""From a tile to its descriptors: the word tells the tensor core where every element of the tile is."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from derived import ALGEBRA, derive_or_none, tiles
from each import each
from hypothesis import given
from hypothesis import strategies as st

import descriptors
import layoutalg
from descriptors import DescriptorError, IllegalError, NotCanonicalError, derive, plain
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import Major
from descriptors.smem.proof.read_model import read_rows
from layoutalg import LayoutError, offsets, size

GOOD: dict[str, Any] = {"tile": (128, 128), "dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}


def bits_read(d: Derivation, word: int) -> Any:
    """Where the tensor core reads each element of an operand, as a bit address."""
    names: dict[str, Any] = {"arch": d.arch, "dtype": d.element.name, "major": str(d.major), "shape": d.mma}
    in_bits = d.element.storage_bits < 8
    return np.array(read_rows(word, **names, in_bits=in_bits)) * (1 if in_bits else 8)


@given(arguments=tiles(), data=st.data())
def test_the_descriptor_of_each_subtile_reads_the_elements_of_the_swizzled_tile(
    arguments: dict[str, Any], data: st.DataObject
) -> None:
    d = derive_or_none(arguments)
    if d is None:
        return
    bits = np.asarray(offsets(d.smem_tile)).reshape(d.tile) * d.element.storage_bits
    rows, columns = (d.tile[i] // d.mma[i] for i in (0, 1))
    m, k = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    base = data.draw(st.integers(0, 3)) * d.swizzle.alignment_bytes
    start = base + d.offsets_bytes()[m][k]
    part = bits[m * d.mma[0] : (m + 1) * d.mma[0], k * d.mma[1] : (k + 1) * d.mma[1]]
    assert (bits_read(d, d.descriptor.at(start).encode()) == part + base * 8).all()


@given(arguments=tiles())
def test_every_step_holds_the_same_tile(arguments: dict[str, Any]) -> None:
    d = derive_or_none(arguments)
    if d is None:
        return
    assert size(d.smem_tile) == size(d.partitioned) == size(d.recast) * d.element.per_16_bytes
    assert size(d.canonical) * size(d.advance) == size(d.recast)
    tile, partitioned, recast = plain(d.smem_tile), plain(d.partitioned), plain(d.recast)
    # The first element of every subtile is at the same place in each step, in that step's unit.
    for m in range(size(d.advance[0])):
        for k in range(size(d.advance[1])):
            element = tile(m * d.mma[0], k * d.mma[1])
            assert partitioned(0, (m, k)) == element
            assert recast(0, (m, k)) * d.element.per_16_bytes == element
            assert d.offsets_bytes()[m][k] * 8 == element * d.element.storage_bits


def test_the_default_order_stacks_the_contiguous_dimension_last() -> None:
    assert derive(**GOOD).order == (0, 1)
    assert derive(**{**GOOD, "major": "MN"}).order == (1, 0)
    assert derive(**{**GOOD, "major": "MN", "order": (0, 1)}).order == (0, 1)


def test_the_stacking_order_decides_the_step_to_the_next_atom() -> None:
    mn_first = derive(**{**GOOD, "major": "MN", "swizzle": "64B", "order": (0, 1)})
    assert str(plain(mn_first.smem_tile)) == "((32,4),(8,16)):((1,256),(32,1024))"
    assert (mn_first.descriptor.leading_byte_offset, mn_first.descriptor.stride_byte_offset) == (512, 2048)


def test_a_pipelined_tile_advances_through_its_stages() -> None:
    d = derive(**{**GOOD, "tile": (128, 64, 4)})
    assert d.descriptor.encode() == 0x4000404000010000
    assert d.offsets_bytes()[1][2] == (8256, 24640, 41024, 57408)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({}, 0x4000404000010000),
        ({"arch": "sm90"}, 0x4000004000010000),
        ({"major": "MN", "swizzle": "64B"}, 0x8000402002000000),
        ({"major": "MN", "swizzle": "64B", "arch": "sm90"}, 0x8000002002000000),
        ({"swizzle": "none"}, 0x0000400800800000),
        ({"dtype": "e2m1", "mma": (64, 64), "tile": (128, 256)}, 0x4000404000010000),
        ({"dtype": "tf32", "major": "MN", "swizzle": "128B_BASE32B", "mma": (64, 8)}, 0x2000402004000000),
    ],
)
def test_known_words(arguments: dict[str, Any], word: int) -> None:
    assert hex(derive(**{**GOOD, **arguments}).descriptor.encode()) == hex(word)


def test_a_container_type_is_laid_out_as_a_type_of_eight_bits() -> None:
    words = {
        derive(**{**GOOD, "dtype": name, "mma": (64, 32)}).descriptor.encode()
        for name in ("e4m3", "e2m3", "e3m2", "e2m1_unpacksmem", "s8")
    }
    assert len(words) == 1


def test_the_text_of_a_derivation_is_the_expression_that_makes_it() -> None:
    names = {name: getattr(face, name) for face in (layoutalg, descriptors) for name in dir(face)}
    for arguments in ({}, {"major": "MN", "swizzle": "none"}):
        d = derive(**{**GOOD, **arguments})
        assert eval(repr(d), names) == d  # noqa: S307 - our own text


@each(
    ("wrong", "message"),
    [
        (
            {"tile": (128, 100)},
            "derive: tile K is 100, which is not a multiple of the instruction's K (16); ",
        ),
        (
            {"mma": (64, 24)},
            "derive: tile K is 128, which is not a multiple of the instruction's K (24); tile = (128,128), ",
        ),
        ({"mma": (256, 16)}, "derive: tile MN is 128, which is not a multiple of the instruction's MN (256); "),
        ({"mma": (64, 4)}, "derive: the instruction's K is 4, which is not a multiple of 8 bf16 elements (16 bytes); "),
        (
            {"tile": (120, 128), "mma": (12, 16)},
            "canonical: MN has 12 rows, which is not a multiple of 8; in 16-byte units mode (0) has extent 12, "
            "expected an extent that is a multiple of 8; ",
        ),
        (
            {"mma": (64, 128)},
            "canonical: columns 64 to 71 of K begin 16384 bytes after columns 0 to 7, where swizzle 128B has 128 "
            "bytes; in 16-byte units mode (1,1) has (8,2):(1,1024), expected a single stride; ",
        ),
        ({"dtype": "bf17"}, "operand: dtype is 'bf17', which is not supported (did you mean bf16?)"),
        ({"major": "L"}, "operand: major is 'L', which is not supported; supported: K, MN"),
        (
            {"swizzle": "256B"},
            "operand: swizzle is '256B', which is not supported; supported: none, 32B, 64B, 128B, 128B_BASE32B",
        ),
        (
            {"arch": "sm80"},
            "derive: arch is 'sm80', which is not supported; supported: sm90, sm100, sm103, sm107, sm110",
        ),
        ({"order": (0, 0)}, "derive: order (0,0) is not a permutation of 0..1"),
        ({"order": (0, 1, 2)}, "derive: order (0, 1, 2) does not have one position for each of 2 modes"),
        ({"swizzle": "128B_BASE32B"}, "canonical: swizzle 128B_BASE32B has no K-major form, "),
        ({"operand": "C"}, "derive: operand is 'C', which is not supported; supported: A, B"),
        ({"legality": "loose"}, "legality is 'loose', which is not supported; supported: strict, lenient, off"),
        ({"tile": None}, "derive: neither a tile nor a layout is given"),
        (
            {"mma": None},
            "derive: mma is missing: (MN, K) that one instruction reads, or its name, like m64n128k16, with",
        ),
        ({"layout": "(128,128):(128,1)"}, "derive: both a tile and a layout are given"),
        ({"cp": "128x256b"}, "derive: both mma and cp are given; "),
        ({"mma": None, "cp": "128x512b"}, "derive: cp is '128x512b', which is not supported"),
        ({"mma": None, "cp": "128x256b", "arch": "sm90"}, "derive: sm90 has no tcgen05.cp; "),
        ({"capacity": 1024}, "derive: the tile needs 32768 bytes, but a CTA has 1024 bytes of shared memory; "),
        ({"capacity": "all"}, "derive: capacity is 'all', which is not an integer"),
        ({"tile": (1024, 128)}, "derive: the tile needs 262144 bytes, but a CTA has 232448 bytes of shared memory; "),
        (
            {"tile": (2**60, 2**60)},
            "derive: the tile needs more than 2**121 bytes, ",
        ),
        (
            {"tile": (10**400, 64)},
            "derive: tile extent 0 is a number of 1329 bits, but the maximum is 9223372036854775807",
        ),
        ({"tile": (0, 64)}, "derive: tile extent 0 is 0, but the minimum is 1"),
        ({"tile": "128x128"}, "derive: tile '128x128' is not (MN, K) or (MN, K, stages)"),
        ({"tile": (128,)}, "derive: tile (128,) is not (MN, K) or (MN, K, stages)"),
        (
            {"mma": (64, 16, 1)},
            "derive: mma (64, 16, 1) is not (MN, K); an instruction M x N x K is given by name, like ",
        ),
        ({"dtype": None}, "operand: dtype is missing; supported: f16, bf16, tf32, "),
        ({"major": None}, "operand: major is missing; supported: K, MN"),
        ({"swizzle": None}, "operand: swizzle is missing; supported: none, 32B, 64B, 128B, 128B_BASE32B"),
        (
            {"major": "MN", "swizzle": "128B_BASE32B", "arch": "sm90"},
            "sm90 shared-memory descriptor: swizzle is 128B_BASE32B, which is not supported; supported: none",
        ),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_a_wrong_argument_is_refused_with_the_reason(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError) as caught:
        derive(**{**GOOD, **ALGEBRA, **wrong})
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@each(
    ("wrong", "message"),
    [
        (
            {"mma": (64, 128)},
            "legality: no sm100 instruction reads a 64x128 bf16 operand; A is 32x16, 64x16 or 128x16, B is Nx16 ",
        ),
        (
            {"mma": (64, 128), "operand": "A"},
            "legality: no sm100 instruction reads a 64x128 bf16 operand A; A is 32x16, 64x16 or 128x16; ",
        ),
        (
            {"mma": (32, 16), "operand": "A", "arch": "sm90"},
            "legality: no sm90 instruction reads a 32x16 bf16 operand A; A is 64x16; ",
        ),
        (
            {"mma": (8, 16), "operand": "A"},
            "legality: no sm100 instruction reads a 8x16 bf16 operand A; A is 32x16, 64x16 or 128x16; ",
        ),
        (
            {"dtype": "tf32", "mma": (64, 8), "major": "MN"},
            "legality: swizzle is 128B, but must be 128B_BASE32B; for sm100",
        ),
        (
            {"dtype": "e4m3", "mma": (64, 32), "major": "MN", "arch": "sm90"},
            "legality: major is MN, but must be K; for sm90 f8 e4m3",
        ),
        ({"dtype": "e2m1", "mma": (64, 64), "major": "MN", "tile": (256, 128)}, "legality: major is MN, but must be K"),
        (
            {"swizzle": "128B_BASE32B"},
            "legality: swizzle is 128B_BASE32B, but must be none, 32B, 64B or 128B; for sm100 f16",
        ),
        ({"kind": "tf32"}, "legality: dtype is bf16, but must be tf32; "),
        ({"cta_group": 3}, "derive: cta_group is 3, but the maximum is 2"),
        ({"cta_group": 2, "arch": "sm90"}, "legality: cta_group is 2, but must be 1"),
        ({"major": "MN", "mma": None, "cp": "128x256b"}, "derive: tcgen05.cp.128x256b reads K-major tiles only, "),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_what_no_instruction_reads_is_refused_unless_legality_is_off(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError) as caught:
        derive(**{**GOOD, **wrong})
    assert str(caught.value).startswith(message)


def test_an_operand_of_b_may_have_what_one_of_a_may_not() -> None:
    assert derive(**{**GOOD, "mma": (8, 16), "operand": "B"}) == dataclasses.replace(
        derive(**{**GOOD, "mma": (8, 16)}), operand="B"
    )


def test_lenient_takes_what_one_source_allows() -> None:
    wide = {"dtype": "e2m3", "major": "MN", "mma": (128, 32)}
    with pytest.raises(IllegalError) as caught:
        derive(**{**GOOD, **wide})
    assert caught.value.lenient
    assert derive(**{**GOOD, **wide, "legality": "lenient"}).major is Major.MN


def test_the_mode_that_fails_is_an_attribute_of_the_error() -> None:
    with pytest.raises(NotCanonicalError) as caught:
        derive(**{**GOOD, "mma": (64, 128), "legality": "off"})
    assert (caught.value.mode, caught.value.expected) == ((1, 1), "a single stride")


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**400), 10**400),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.lists(st.one_of(st.integers(-3, 300), st.integers(2**60, 2**70), st.none(), st.floats()), max_size=4),
    st.tuples(st.integers(0, 300), st.integers(0, 300)),
    st.dictionaries(st.integers(), st.integers(), max_size=2),
    st.sampled_from([object(), print, (10**5000, 10**5000), [[]], ((128,), (128,)), {1, 2}, np.int64(3), np.ones(2)]),
)


NAMES = (
    "tile dtype major swizzle mma order arch layout unit operand cp kind cta_group sparse legality capacity verify atom"
).split()


@given(name=st.sampled_from(NAMES), value=junk)
def test_no_argument_whatever_gives_anything_but_a_derivation_or_a_typed_error(name: str, value: Any) -> None:
    try:
        derive(**{**GOOD, name: value, **({"tile": None} if name == "layout" else {})})
    except LayoutError as error:
        assert 0 < len(str(error)) < 600


@pytest.mark.parametrize(
    ("layout", "word", "offsets"),
    [
        ("S<3,5,3> o 0 o (128,192):(256,1)", 0x4000404000010000, ((0, 48),)),
        ("S<2,5,3> o 0 o (128,96):(128,1)", 0x8000402000010000, ((0,),)),
        ("((8,16),(32,3)):((32,256),(1,4096))", 0x400800800000, ((0,),)),
    ],
)
def test_48_bytes_of_k_are_derived_where_they_lie_in_one_swizzled_row(layout: str, word: int, offsets: Any) -> None:
    d = derive(layout=layout, dtype="e2m1", mma=(128, 96), kind="mxf4nvf4", cta_group=2, arch="sm103")
    assert hex(d.words()[0][0]) == hex(word) and d.offsets_bytes() == offsets
