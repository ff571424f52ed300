"""The probes without a GPU: their cases, their evidence, and what they say where no GPU is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import ROOT

from descriptors import tensor_map
from descriptors.smem.proof.read_model import read_addresses
from probes import banks, boxes, cuda, descriptor, documented, gemm, patterns, runner, tma, words
from probes.build import kernel_name, probed_instructions, units
from probes.cases import Case
from probes.instructions import TYPES, Instruction, legal_n

HOPPER = ROOT / "tests" / "vectors" / "hopper"
LOW, HIGH = 0x400, 0x400 + 232448


def load(path: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((HOPPER / path).read_text())
    return loaded


def sorted_cases(cases: Iterable[Case]) -> list[Case]:
    """The cases in the order in which the probe runs them: by instruction."""
    return [case for batch in gemm.batches(cases) for case in batch]


class TestEvidence:
    @pytest.mark.parametrize("gpu", ["h100", "h200"])
    def test_every_file_names_its_gpu_driver_date_and_command(self, gpu: str) -> None:
        files = sorted((HOPPER / gpu).glob("*.json"))
        assert len(files) > 8
        for path in files:
            facts = json.loads(path.read_text())
            assert gpu.upper() in facts["gpu"]
            assert facts["driver"][0].isdigit()
            assert facts["date"].startswith("20")
            assert facts["command"].startswith(("scripts/probe_wgmma ", "scripts/bench_gemm "))

    @pytest.mark.parametrize("gpu", ["h100", "h200"])
    def test_every_product_was_right_and_no_wrong_word_passed(self, gpu: str) -> None:
        for name in ("gemm", "gemm_derived"):
            facts = load(f"{gpu}/{name}.json")
            assert facts["wrong_products"] == []
            assert facts["controls_that_passed"] == []
            assert facts["controls_run"] == 2 * facts["products"] > 0
        assert facts["products"] >= 3000

    def test_b1_products_are_right_with_the_words_of_u8_tiles(self) -> None:
        """The recorded words are those that `derive` gives today for u8 tiles with an eighth of K."""
        from probes.derived import b1_cases

        facts = load("h200/gemm_b1.json")
        assert (facts["products"], facts["wrong_products"], facts["controls_that_passed"]) == (200, [], [])
        with np.load(HOPPER / "h200" / "gemm_b1.npz") as recorded:
            rows, keys = json.loads(str(recorded["rows"])), recorded["keys"].tolist()
        for row, key, case in zip(rows[::10], keys[::10], sorted_cases(b1_cases())[::10], strict=True):
            assert row["name"] == case.name
            sides = [(one.word, runner.digest(one.addresses)) for one in (case.a, case.b)]
            assert key == [value for pair in sides for value in pair]

    @pytest.mark.parametrize("gpu", ["h100", "h200"])
    def test_every_tile_arrived_where_it_must(self, gpu: str) -> None:
        for name in ("tma_tiles", "tma_derived", "tma_many"):
            assert load(f"{gpu}/{name}.json")["failed"] == 0
        rounded = load(f"{gpu}/tma_tiles.json")["copied_as_tfloat32"]
        assert rounded["nearest, ties to even"] == rounded["values"] > rounded["nearest, ties away from zero"]

    def test_rows_shorter_than_the_span_lie_a_span_apart(self) -> None:
        facts, cases = load("h200/tma_short.json"), list(tma.short_cases())
        assert (facts["failed"], facts["tiles"], facts["controls_run"]) == (0, len(cases), len(cases))
        assert facts["elements"] == sum(case.addresses.size for case in cases)
        spans = {1: 32, 2: 64, 3: 128}
        assert all(case.boxes.box[0] * case.boxes.element_bits // 8 < spans[case.boxes.swizzle] for case in cases)

    def test_element_strides_take_rows_and_count_them_as_the_model_says(self) -> None:
        """The last row of a box counts too, where the extent is no multiple; dimension 0 has no stride."""
        facts, cases = load("h100/tma_strided.json"), list(tma.strided_cases())
        assert (facts["failed"], facts["tiles"]) == (0, len(cases))
        for case in cases:
            boxes = case.boxes
            strides, box = boxes.strides_bytes, boxes.box
            one = tensor_map(9, 0, boxes.shape, strides, box, boxes.element_strides, swizzle=boxes.swizzle)
            assert (one.refusals(), one.transaction_bytes) == ((), boxes.arriving)
            assert one.landing_extents[::-1] == case.addresses.shape

    @pytest.mark.parametrize("gpu", ["h100", "h200"])
    def test_a_box_must_begin_at_a_multiple_of_16_bytes_of_the_fast_dimension(self, gpu: str) -> None:
        rows = load(f"{gpu}/tma_origin.json")["rows"]
        for row in rows:
            column = int(row["name"].split()[-1])
            assert ("ILLEGAL_INSTRUCTION" in row.get("error", "")) == (column * 2 % 16 != 0)

    def test_what_was_measured_is_still_what_is_derived(self) -> None:
        """Every twelfth recorded product: the same words, the same address maps, from today's derivations."""
        from probes.derived import side

        with np.load(HOPPER / "h200" / "gemm_derived.npz") as recorded:
            rows, keys = json.loads(str(recorded["rows"])), recorded["keys"].tolist()
        for row, key in list(zip(rows, keys, strict=True))[::12]:
            found, start = [], gemm.FIRST
            for facts in (row["a"], row["b"]):
                one = side(_tuples({**facts, "rank": 0}), start)
                assert one is not None
                found += [one.word, runner.digest(one.addresses)]
                start = -(-(int(one.addresses.max()) + 4) // 1024) * 1024
            assert found == key

    def test_the_tiles_that_were_copied_are_still_what_is_planned(self) -> None:
        from probes.derived import side

        with np.load(HOPPER / "h200" / "tma_derived.npz") as recorded:
            rows, keys = json.loads(str(recorded["rows"])), recorded["address_digest"].tolist()
        for row, key in list(zip(rows, keys, strict=True))[::12]:
            one = side(_tuples(row), tma.FIRST)
            assert one is not None
            assert one.boxes is not None
            addresses = one.addresses.T if row["major"] == "MN" else one.addresses
            assert runner.digest(addresses) == key


def _tuples(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in facts.items()}


class TestWords:
    @pytest.mark.parametrize("dtype", TYPES)
    def test_random_words_read_within_the_part_of_shared_memory_that_is_theirs(self, dtype: str) -> None:
        from random import Random

        random = Random(0)
        for which, one in probed_instructions(dtype):
            operand = words.Operand(which, one)
            read = descriptor.model(operand, words.draw(operand, random, LOW + descriptor.OWN_BYTES, HIGH))
            assert read.min() >= LOW + descriptor.OWN_BYTES
            assert read.max() < HIGH

    def test_random_words_differ_in_every_field(self) -> None:
        from random import Random

        operand, random = words.Operand("A", Instruction("f16", 16)), Random(0)
        drawn = [words.draw(operand, random, LOW, HIGH) for _ in range(400)]
        for low, bits in ((0, 14), (16, 14), (32, 14), (49, 3), (62, 2)):
            assert len({one >> low & ((1 << bits) - 1) for one in drawn}) >= min(1 << bits, 60)
        assert any(one & words.RESERVED for one in drawn)

    def test_kernels_are_named_apart(self) -> None:
        names = [kernel_name(*one) for dtype in TYPES for one in probed_instructions(dtype)]
        assert len(names) == len(set(names))
        assert set(units()) == {
            "banks",
            "base",
            "im2col",
            "races",
            "tma",
            "fragments_mma",
            "fragments_matrix",
            "sparse_warps",
            "gemm_b1",
        } | {f"{kind}_{t}" for kind in ("descriptor", "gemm", "fragments", "sparse") for t in TYPES}

    def test_every_legal_n_is_probed_for_every_type(self) -> None:
        for dtype in TYPES:
            assert {one.n for which, one in probed_instructions(dtype) if which == "B"} == set(legal_n(dtype))


class TestCases:
    def test_the_plain_products_are_read_where_they_lie(self) -> None:
        for case in list(documented.gemm_cases())[::5]:
            one = case.instruction
            for side, mn, inst in ((case.a, one.a_mn, 64), (case.b, one.b_mn, one.n)):
                table = side.words()
                for i, k in np.ndindex(*table.shape):
                    read = read_addresses(
                        int(table[i, k]),
                        arch="sm90",
                        dtype=one.dtype,
                        major="MN" if mn else "K",
                        shape=(inst, one.k),
                    )
                    assert (read == side.addresses[i * inst : (i + 1) * inst, k * one.k : (k + 1) * one.k]).all()

    @pytest.mark.parametrize("source", ["plain", "derived"])
    def test_tiles_land_where_their_cases_say(self, source: str) -> None:
        from probes.derived import tma_cases

        cases = list(tma.plain_cases())[::4] if source == "plain" else list(tma_cases(25))
        for case in cases:
            assert landed(case) == 0

    def test_wrong_words_are_wrong_in_one_field(self) -> None:
        case = next(documented.gemm_cases())
        right, stride, code = gemm.Batch([case], 0, control=True).wrong_words(case)
        assert ((right ^ stride) & ~np.uint64(0x3FFF << 32) == 0).all()
        assert ((right ^ code) >> np.uint64(62) != 0).all()

    @pytest.mark.parametrize("dtype", TYPES)
    def test_integers_are_encoded_exactly(self, dtype: str) -> None:
        values = gemm.integers(dtype, (64, 64), np.random.default_rng(0))
        encoded = gemm.encode(dtype, values)
        assert encoded.shape == (64, 64, TYPES[dtype][0])
        for value in np.unique(values):
            assert len(np.unique(encoded[values == value], axis=0)) == 1
        assert len(np.unique(encoded.reshape(-1, encoded.shape[-1]), axis=0)) == len(np.unique(values))

    def test_bank_patterns_are_aligned_and_of_every_kind(self) -> None:
        made = patterns.patterns()
        assert len(made) > 1000
        for one in made:
            assert len(one.offsets) == 32
            assert all(offset == -1 or (offset % one.access_bytes == 0 <= offset) for offset in one.offsets)
        assert {(one.op, one.access_bytes) for one in made} == {
            (op, n) for op in ("load", "store") for n in (1, 2, 4, 8, 16)
        }


def landed(case: tma.Case) -> int:
    """Bytes that a copy engine by the documents would leave elsewhere than the case says."""
    size, one = case.boxes.element_bits // 8, case.boxes
    matrix = np.random.default_rng(1).integers(0, 256, (*case.matrix, case.unit_bytes), np.uint8)
    shared = np.full(tma.ROOM, tma.POISON, np.uint8)
    index = np.arange(int(np.prod(one.box)))
    strides = (size, *one.strides_bytes)
    for place in one.places:
        source, rest = np.zeros_like(index), index
        for dimension, extent in enumerate(one.box):
            source += (place[dimension] + rest % extent) * strides[dimension]
            rest = rest // extent
        target = documented.permute(place[-1] + index * size, one.swizzle) - tma.FIRST
        for byte in range(size):
            shared[target + byte] = matrix.reshape(-1)[source + byte]
    want = np.full(tma.ROOM, tma.POISON, np.uint8)
    rows, columns = case.addresses.shape
    tile = matrix[case.origin[0] : case.origin[0] + rows, case.origin[1] : case.origin[1] + columns]
    for byte in range(case.unit_bytes):
        want[case.addresses - tma.FIRST + byte] = tile[..., byte]
    return int((want != shared).sum())


@pytest.mark.parametrize("probe", ["descriptor", "banks", "tma", "gemm", "fragments", "repeat"])
def test_without_a_gpu_a_probe_says_so_in_a_line_and_exits_with_status_3(probe: str) -> None:
    environment = {**os.environ, "PYTHON": sys.executable, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [str(ROOT / "scripts" / "probe_wgmma"), probe], capture_output=True, text=True, env=environment, timeout=60
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1
    assert "a Hopper GPU is needed, found none" in done.stderr


def test_an_unknown_probe_is_refused_with_status_2() -> None:
    done = subprocess.run([str(ROOT / "scripts" / "probe_wgmma"), "teapot"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "found 'teapot'" in done.stderr


def test_evidence_is_written_a_row_a_line(tmp_path: Path) -> None:
    content = {"gpu": "none", "rows": [{"a": 1}, {"a": 2}], "empty": []}
    runner.write_json(tmp_path / "x.json", content)
    text = (tmp_path / "x.json").read_text()
    assert json.loads(text) == content
    assert len(text.splitlines()) == 8


def test_a_matrix_is_handed_to_the_driver_fastest_dimension_first() -> None:
    made = boxes.boxes_of_matrix(2, (100, 64), (8, 32), 2, ((3, 16, 2048),))
    assert (made.shape, made.strides_bytes, made.box, made.places) == ((64, 100), (128,), (32, 8), ((16, 3, 2048),))
    assert made.arriving == 512
    assert made.table().tolist() == [[16, 3, 0, 0, 0, 2048]]


def test_the_counters_are_read_from_the_profilers_table() -> None:
    text = '==PROF== x\n"ID","Kernel Name"\n"","unit"\n"0","load_4(const int *)"\n"1","load_8"\n==PROF== bye\n'
    assert [row["Kernel Name"].split("(")[0] for row in banks.read_counters(text)] == ["load_4", "load_8"]
    with pytest.raises(RuntimeError, match="must print a table"):
        banks.read_counters("nothing")


def test_a_tensor_map_lies_on_a_64_byte_boundary() -> None:
    import ctypes

    assert ctypes.addressof(cuda.aligned_tensor_map()) % 64 == 0
