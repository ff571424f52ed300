"""Slices whose swizzle folded into their strides: they are read by the word that the whole tile gives them."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seeds import seeds_of

from descriptors.errors import DescriptorError, NotCanonicalError
from descriptors.smem.derivation.derive import derive
from descriptors.smem.operands.explicit import swizzled_readings
from descriptors.smem.operands.operand import ELEMENT_TYPES
from descriptors.smem.proof.read_model import read_rows
from layoutalg import Layout, LayoutError, coalesce, from_offsets, local_tile, parse_layout, size

TYPES = {"bf16": 16, "e4m3": 8, "tf32": 32, "e2m1": 4}
SPANS = {"none": 16, "32B": 32, "64B": 64, "128B": 128, "128B_BASE32B": 128}


# Laws


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(-9, 9)), min_size=1, max_size=4))
def test_a_layout_comes_back_from_its_offsets(modes: list[tuple[int, int]]) -> None:
    layout = Layout(tuple(n for n, _ in modes), tuple(d for _, d in modes))
    offsets = [layout(i) for i in range(size(layout))]
    own = from_offsets(offsets)
    assert own is not None and [own(i) for i in range(size(own))] == offsets
    assert size(coalesce(own)) == size(layout)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=12).map(lambda tail: [0, *tail]))
def test_offsets_without_a_layout_have_none(offsets: list[int]) -> None:
    layout = from_offsets(offsets)
    assert layout is None or [layout(i) for i in range(size(layout))] == offsets


@pytest.mark.parametrize("text", ["(8,8):(1,72)", "(8,(2,4,8)):(1,(56,144,512))", "(8,16):(1,8)", "(16,16):(1,100)"])
def test_every_reading_is_the_same_function(text: str) -> None:
    rows: Any = parse_layout(text)
    for reading, _ in swizzled_readings(rows, ELEMENT_TYPES["bf16"]):
        assert [reading(i) for i in range(size(rows))] == [rows(i) for i in range(size(rows))]


# Judge: the read model of the word that the whole tile has for the slice


def random_slice(rng: random.Random) -> tuple[dict[str, Any], tuple[int, int], tuple[int, int], tuple[int, int]]:
    """A tile, an operand in it, operands a slice, and the coordinate of the slice."""
    dtype = rng.choice(list(TYPES))
    major = "K" if dtype == "e2m1" else rng.choice(["K", "MN"])
    swizzle = rng.choice([one for one in SPANS if major == "MN" or one != "128B_BASE32B"])
    across, along = rng.choice([8, 16, 32]), rng.choice([1, 2]) * SPANS[swizzle] * 8 // TYPES[dtype]
    whole = 128 // TYPES[dtype]
    mn, k = (rng.choice([n for n in range(1, across + 1) if across % n == 0]) for _ in range(2))
    piece = rng.choice([n for n in range(whole, along + 1, whole) if along % n == 0])
    tile, mma = ((across, along), (mn, piece)) if major == "K" else ((along, across), (piece, k))
    counts = [extent // part for extent, part in zip(tile, mma, strict=True)]
    group = [rng.choice([n for n in range(1, count + 1) if count % n == 0]) for count in counts]
    where = [rng.randrange(count // n) for count, n in zip(counts, group, strict=True)]
    arguments = {
        "tile": tile,
        "dtype": dtype,
        "major": major,
        "swizzle": swizzle,
        "order": rng.choice([(0, 1), (1, 0)]),
    }
    return arguments, mma, (group[0], group[1]), (where[0], where[1])


@pytest.mark.parametrize("seed", seeds_of("test_a_slice_of_a_tile_that_has_words_has_a_word_for_each_operand"))
def test_a_slice_of_a_tile_that_has_words_has_a_word_for_each_operand(seed: int) -> None:
    rng = random.Random(seed)
    assert sum(is_read_alike(*random_slice(rng)) for _ in range(200)) > 100


def is_read_alike(
    arguments: dict[str, Any], mma: tuple[int, int], group: tuple[int, int], where: tuple[int, int]
) -> bool:
    """Whether there is such a slice; its words must read what those of the whole tile do."""
    try:
        whole = derive(**arguments, mma=mma, legality="off")
        part = local_tile(whole.smem_tile, (mma[0] * group[0], mma[1] * group[1]), where)
    except (DescriptorError, LayoutError):
        return False  # the tile itself has no word, or the algebra no such slice
    words = derive(layout=part, dtype=arguments["dtype"], major=arguments["major"], mma=mma, legality="off").words()
    walk = {"arch": "sm100", "dtype": arguments["dtype"], "major": arguments["major"], "shape": mma}
    for i, j in product(range(group[0]), range(group[1])):
        right = whole.words()[where[0] * group[0] + i][where[1] * group[1] + j]
        assert read_rows(words[i][j], **walk, in_bits=True) == read_rows(right, **walk, in_bits=True)
    return True


def test_sixteen_byte_columns_of_a_swizzled_tile_are_derived_and_tell_their_mode() -> None:
    tile = derive(tile=(64, 64), dtype="bf16", major="MN", swizzle="128B", mma=(64, 16)).smem_tile
    d = derive(layout=local_tile(tile, (8, 64), (3, 0)), dtype="bf16", mma=(8, 16))
    assert (str(d.swizzle), str(d.major), d.descriptor.start_address) == ("128B", "MN", 48)
    assert d.descriptor.stride_byte_offset == 1024


def test_an_instruction_that_exists_decides_between_two_readings() -> None:
    tile = derive(tile=(64, 8), dtype="tf32", major="MN", swizzle="128B_BASE32B", mma=(32, 8)).smem_tile
    d = derive(layout=local_tile(tile, (8, 8), (1, 0)), dtype="tf32", major="MN", mma=(8, 8))
    assert str(d.swizzle) == "128B_BASE32B"


def test_a_plain_layout_that_no_mode_reads_is_refused_as_what_it_is() -> None:
    with pytest.raises(NotCanonicalError, match="MN-major none"):
        derive(layout="(8,16):(1,100)", dtype="bf16", major="MN", mma=(8, 16), legality="off")
    with pytest.raises(DescriptorError):
        derive(layout="(8,16):(1,72)", dtype="bf16", major="MN", swizzle="none", mma=(8, 16), legality="off")


def test_a_layout_that_no_shared_memory_holds_is_refused_without_a_search() -> None:
    with pytest.raises(NotCanonicalError):
        derive(layout=Layout((2**30, 2**30), (2**30, 1)), dtype="bf16", major="K", mma=(64, 16), capacity=None)
