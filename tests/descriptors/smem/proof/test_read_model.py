"""The read model: against what Hopper GPUs read (recorded, no GPU needed), against a second one, and its errors."""

from __future__ import annotations

import hashlib
import json
import sys
from array import array
from itertools import chain
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from places import VECTORS
from read_arrays import read_arrays

from descriptors.errors import DescriptorError
from descriptors.smem.operands.operand import Major, as_element_type
from descriptors.smem.proof.addresses import evidence
from descriptors.smem.proof.read_model import WINDOWS, Rows, read_addresses, read_rows
from descriptors.smem.words.descriptor import window_bytes

HOPPER = VECTORS / "hopper"
SIZES = {"f16": 2, "bf16": 2, "tf32": 4, "e4m3": 1, "e5m2": 1, "s8": 1, "u8": 1}


def digest(rows: Rows) -> int:
    data = array("I", chain.from_iterable(rows))
    if sys.byteorder == "big":
        data.byteswap()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def load(path: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((HOPPER / path).read_text())
    return loaded


def operand(row: dict[str, Any]) -> dict[str, Any]:
    """What `read_addresses` has to know of an operand as the evidence names it."""
    rows, mn = (64, row["a_mn"]) if row["operand"] == "A" else (row["n"], row["b_mn"])
    shape = (rows, 32 // SIZES[row["dtype"]])
    return {"arch": "sm90", "dtype": row["dtype"], "major": "MN" if mn else "K", "shape": shape}


def word(start: int, leading: int, stride: int, *, base: int = 0, sm90: int = 0, sm100: int | None = None) -> int:
    fields = start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | base << 49
    return fields | (sm90 << 62 if sm100 is None else sm100 << 61 | 1 << 46)


class TestAgainstHopper:
    def test_every_element_of_every_recorded_word_is_read_where_the_gpu_read_it(self) -> None:
        with np.load(HOPPER / "h200" / "wgmma_reads.npz") as recorded:
            operands = [operand(row) for row in json.loads(str(recorded["operands"]))]
            words, digests, series = (recorded[name].tolist() for name in ("word", "digest", "series"))
        wrong = [
            hex(one)
            for one, want, number in zip(words, digests, series, strict=True)
            if digest(read_rows(one, **operands[number])) != want
        ]
        assert wrong == []
        assert len(words) > 20_000

    def test_the_recorded_words_cover_every_type_major_and_n(self) -> None:
        with np.load(HOPPER / "h200" / "wgmma_reads.npz") as recorded:
            rows = json.loads(str(recorded["operands"]))
        probed = {(row["operand"], row["dtype"], row["a_mn"] if row["operand"] == "A" else row["b_mn"]) for row in rows}
        majors = [(dtype, mn) for dtype in SIZES for mn in ((False, True) if dtype in ("f16", "bf16") else (False,))]
        assert probed == {(which, *one) for which in "AB" for one in majors}
        tabulated = {row["question"]: row for row in load("refused_by_ptxas.json")["rows"]}
        for dtype in SIZES:
            probed_n = {row["n"] for row in rows if row["dtype"] == dtype and row["operand"] == "B"}
            assert probed_n == set(tabulated[f"{dtype}: N"]["accepted"])

    def test_a_second_gpu_read_every_word_alike(self) -> None:
        report = load("h100/wgmma_repeat.json")
        assert "H100" in report["gpu"]
        assert report["words"] == load("h200/wgmma_reads.json")["words"]
        assert report["words_read_otherwise_than_recorded"] == 0

    def test_whole_maps_are_the_measured_ones(self) -> None:
        with np.load(HOPPER / "h200" / "wgmma_maps.npz") as maps:
            names = [name for name in maps if name != "provenance"]
            assert len(names) == 8
            for name in names:
                major, text = name.split()
                addresses = read_addresses(int(text, 0), arch="sm90", dtype="f16", major=major, shape=(64, 16))
                assert (addresses == maps[name]).all()

    @pytest.mark.parametrize("question", load("h200/wgmma_questions.json")["questions"], ids=lambda row: row["name"])
    def test_words_that_settle_a_question_are_read_as_measured(self, question: dict[str, Any]) -> None:
        assert question["every_group_is_read_alike"]
        for group in question["groups"]:
            for text, want in zip(group["words"], group["digests"], strict=True):
                assert digest(read_rows(int(text, 0), **operand(question))) == int(want, 0)

    def test_a_second_gpu_gives_every_question_the_same_answer(self) -> None:
        first, second = (load(f"{gpu}/wgmma_questions.json") for gpu in ("h200", "h100"))
        assert "H100" in second["gpu"] and second["questions"] == first["questions"]

    def test_bits_of_the_base_offset_above_the_pattern_are_not_read(self) -> None:
        """K-major and MN-major, A and B: 64B with and without bit 51, 32B with any of bits 50 and 51, none with any."""
        rows = [one for one in load("h200/wgmma_questions.json")["questions"] if "above" in one["name"]]
        assert [(one["operand"], one["a_mn"] or one["b_mn"]) for one in rows] == [
            ("A", False), ("A", True), ("B", False), ("B", True)
        ]  # fmt: skip
        for one in rows:
            assert one["every_group_is_read_alike"]
            words = [int(word, 0) for group in one["groups"] for word in group["words"]]
            assert {(word >> 62, word >> 49 & 7) for word in words} == {
                (code, b) for code in (0, 2, 3) for b in range(8)
            }

    def test_the_base_offset_acts_for_every_swizzle_modulo_its_rows(self) -> None:
        (question,) = [one for one in load("h200/wgmma_questions.json")["questions"] if one["name"] == "base_offset"]
        maps: dict[tuple[int, int], set[str]] = {}
        for group in question["groups"]:
            one = int(group["words"][0], 0)
            maps.setdefault((one >> 62, one & 0x3FFF), set()).update(group["digests"])
        assert sorted((code, len(seen)) for (code, _), seen in maps.items()) == [
            (1, 8), (1, 8), (2, 4), (2, 4), (3, 2), (3, 2)
        ]  # fmt: skip

    @pytest.mark.parametrize("gpu", ["h100", "h200"])
    def test_a_walk_beyond_the_window_faults_on_the_gpu(self, gpu: str) -> None:
        rows = load(f"{gpu}/wgmma_window.json")["rows"]
        beyond = [row for row in rows if "2**18" in row["question"]]
        assert len(beyond) == 39
        for row in beyond:
            assert read_addresses(int(row["word"], 0), **operand(row)).max() >= WINDOWS["sm90"]
            assert row["outcome"] == "CUDA_ERROR_ILLEGAL_ADDRESS"


def test_reserved_bits_of_an_sm90_word_change_nothing() -> None:
    plain = word(0x400, 128, 1024, sm90=1)
    reserved = 0b11 << 14 | 0b11 << 30 | 0b111 << 46 | 0x3FF << 52
    addresses = [
        read_addresses(one, arch="sm90", dtype="bf16", major="MN", shape=(64, 16)) for one in (plain, plain | reserved)
    ]
    assert (addresses[0] == addresses[1]).all()


def test_the_32_byte_atoms_of_sm100_are_permuted_by_rows_of_four() -> None:
    addresses = read_addresses(word(0, 4096, 512, sm100=1), arch="sm100", dtype="tf32", major="MN", shape=(64, 8))
    for i in range(64):
        for k in range(8):
            linear = i // 32 * 4096 + i % 32 * 4 + k % 4 * 128 + k // 4 * 512
            assert addresses[i, k] == linear ^ (linear >> 7 & 3) << 5


def test_two_packed_elements_share_a_byte_and_differ_in_bits() -> None:
    arguments: dict[str, Any] = {"arch": "sm100", "dtype": "e2m1", "major": "K", "shape": (8, 64)}
    bytes_, bits = (np.array(read_rows(word(0, 16, 256, sm100=6), **arguments, in_bits=one)) for one in (False, True))
    assert (bytes_[:, ::2] == bytes_[:, 1::2]).all()
    assert (bits // 8 == bytes_).all()
    assert (bits[:, 1::2] == bits[:, ::2] + 4).all()
    assert len(np.unique(bits)) == bits.size


@pytest.mark.parametrize(("dtype", "width"), [("e2m3", 6), ("e3m2", 6), ("e2m1_unpacksmem", 4)])
def test_a_container_holds_16_elements_at_its_front(dtype: str, width: int) -> None:
    arguments: dict[str, Any] = {"arch": "sm100", "dtype": dtype, "major": "K", "shape": (16, 64)}
    one = word(0x400, 16, 512, sm100=4)
    places, bits = (np.array(read_rows(one, **arguments, in_bits=bits)) for bits in (False, True))
    as_bytes = read_rows(one, **{**arguments, "dtype": "e4m3"})
    assert (places == as_bytes).all()
    assert (bits == places // 16 * 128 + places % 16 * width).all()


def test_whole_byte_types_have_bit_addresses_eight_times_their_byte_addresses() -> None:
    arguments: dict[str, Any] = {"arch": "sm90", "dtype": "bf16", "major": "MN", "shape": (64, 16)}
    one = word(0x800, 2048, 1024, sm90=2)
    assert (np.array(read_rows(one, **arguments, in_bits=True)) == 8 * read_addresses(one, **arguments)).all()


def test_the_evidence_is_named_for_what_it_is() -> None:
    tf32 = as_element_type("tf32")
    assert evidence("sm90", tf32, Major.K) == "measured on a Hopper GPU"
    assert evidence("sm90", tf32, Major.MN) == "no wgmma instruction reads such an operand"
    assert evidence("sm100", tf32, Major.MN) == "documented, not measured on a Blackwell GPU"
    assert evidence("sm107", tf32, Major.MN).endswith("not measured on a Rubin GPU")


@each(
    ("change", "message"),
    [
        ({"arch": "sm80"}, "supported: sm90, sm100"),
        ({"dtype": "f32"}, "supported: f16"),
        ({"major": "L"}, "supported: K, MN"),
        ({"shape": (64, 0)}, "an extent is "),
        ({"shape": (64,)}, "shape is not two extents"),
        ({"shape": (1 << 17, 1)}, "an extent is "),
        ({"shape": (1 << 16, 1 << 16)}, "the shape has 4294967296 elements, more than 268435456"),
        ({"shape": (1 << 16, 16), "word": word(0, 16, 0x3FFF0, sm90=1)}, "beyond the limit 0x10000000"),
        ({"word": -1}, "word is "),
        ({"word": 1 << 64}, "word is "),
        ({"word": 1.5}, "word is "),
        ({"arch": "sm100"}, "the version of the sm100 word 0x4000004000010000 is 0, not 1"),
        (
            {"arch": "sm100", "word": word(0, 0, 0, sm100=0) | 1 << 52},
            "needs swizzle 128B, but is used with another swizzle, with rows of 16",
        ),
        (
            {"arch": "sm100", "word": word(0, 0, 0, sm100=1) | 1 << 52},
            "needs swizzle 128B, but is used with another swizzle, with rows of 12",
        ),
        ({"arch": "sm100", "word": word(0, 0, 0, sm100=2) | 1 << 52, "major": "MN"}, "a K-major operand, but is used "),
        ({"arch": "sm100", "word": word(0, 0, 0, sm100=2, base=1) | 1 << 52}, "but is used with base offset 1"),
        (
            {"arch": "sm100", "word": word(0, 16, 0, sm100=2) | 1 << 52},
            "needs an LBO that is a multiple of 128, but is used with an LBO that is 16 bytes off",
        ),
        (
            {"arch": "sm100", "word": word(0, 0, 0, sm100=2) | 1 << 52, "shape": (64, 25)},
            "needs at most 48 bytes of K, but is used with 50 bytes of K",
        ),
        (
            {"arch": "sm100", "word": [word(0, 0, 0, sm100=2) | mode << 52 for mode in (0, 1)]},
            "the 2 words do not differ in the start address only",
        ),
        ({"arch": "sm100", "word": word(0, 0, 0, sm100=3)}, "swizzle code is 3, not 0, 1, 2, 4 or 6"),
    ],
)
def test_bad_input_is_refused_with_the_reason(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"arch": "sm90", "dtype": "bf16", "major": "K", "shape": (64, 16)}
    arguments = {"word": word(0, 16, 1024, sm90=1), **arguments, **change}
    with pytest.raises(DescriptorError) as caught:
        read_addresses(arguments.pop("word"), **arguments)
    assert message in str(caught.value)


def test_the_judge_and_what_it_judges_agree_on_the_window() -> None:
    assert {name: window_bytes(name) for name in WINDOWS} == WINDOWS


def test_a_word_is_read_as_one_of_sm100_unless_another_architecture_is_named() -> None:
    word, operand = 0x4000404000010000, {"dtype": "bf16", "major": "K", "shape": (64, 16)}
    assert read_rows(word, **operand) == read_rows(word, "sm100", **operand)  # type: ignore[arg-type]
    assert (read_addresses(word, **operand) == read_addresses(word, "sm100", **operand)).all()  # type: ignore[arg-type]


@given(
    one=st.integers(0, 2**64 - 1),
    arch=st.sampled_from(["sm90", "sm100"]),
    dtype=st.sampled_from(["f16", "tf32", "e4m3", "e2m3", "e2m1_unpacksmem", "e2m1"]),
    major=st.sampled_from(["K", "MN"]),
    shape=st.tuples(st.integers(1, 40), st.integers(1, 70)),
    in_bits=st.booleans(),
)
def test_any_word_is_read_as_the_second_model_reads_it_or_refused(
    one: int, arch: Any, dtype: str, major: str, shape: tuple[int, int], in_bits: bool
) -> None:
    if arch == "sm100":  # most words have another version, a swizzle that is none, or a line that is none
        one = one & ~(7 << 46 | 1 << 52) | 1 << 46
    walk: dict[str, Any] = {"dtype": dtype, "major": major, "shape": shape, "in_bits": in_bits}
    try:
        rows = read_rows(one, arch, **walk)
    except DescriptorError as error:
        assert arch == "sm100" and "the swizzle code is" in str(error)
        return
    assert rows == read_arrays(one, arch, **walk).tolist()


@given(start=st.integers(0, 63), line=st.integers(0, 31), k=st.integers(1, 96))
def test_an_absolute_leading_address_is_read_as_the_second_model_reads_it(start: int, line: int, k: int) -> None:
    one = 2 << 61 | 1 << 52 | 1 << 46 | 64 << 32 | 8 * line << 16 | start
    walk: dict[str, Any] = {"dtype": "e2m1", "major": "K", "shape": (24, k), "in_bits": True}
    assert read_rows(one, "sm100", **walk) == read_arrays(one, "sm100", **walk).tolist()


@each("in_bits", [False, True])
@each("dtype", ["bf16", "e4m3", "e2m1", "e2m3", "e2m1_unpacksmem"])
@each(("major", "shape"), [("MN", (64, 16)), ("K", (9, 37))])
def test_several_words_are_read_one_by_one_into_one_array(
    major: str, shape: tuple[int, int], dtype: str, in_bits: bool
) -> None:
    walk: dict[str, Any] = {"dtype": dtype, "major": major, "shape": shape, "in_bits": in_bits}
    words = [word(16 * i, 64, 1024, sm90=1) for i in range(3)]
    addresses = read_addresses(words, "sm90", **walk)
    assert addresses.tolist() == [read_rows(one, "sm90", **walk) for one in words]
