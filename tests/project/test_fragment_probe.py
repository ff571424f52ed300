"""The fragment probe without a GPU: what it would find of a warp that follows the rules, and of one that does not."""

from __future__ import annotations

import doctest
import hashlib
import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from each import each
from places import ROOT

from layoutalg import fragment, wavefronts
from probes import fragments, held, sparse_warps
from probes.fragments import by_the_rules, digest, every_case, image, meetings, packed
from probes.held import NUMBERS, Mma, SparseMma, every_mma, every_sparse_mma
from probes.patterns import matrix_patterns

HOPPER = ROOT / "tests" / "vectors" / "hopper"


@pytest.mark.parametrize("module", [fragments, held, sparse_warps])
def test_the_examples_run(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


def unpacked(words: np.ndarray, dtype: str) -> np.ndarray:
    """The small numbers in registers, which ``packed`` put there."""
    bits, patterns = NUMBERS[dtype]
    each = max(1, 32 // bits)
    fields = words[..., None] >> (np.arange(each) * bits).astype(words.dtype)
    fields = (fields & words.dtype.type((1 << bits) - 1)).reshape(*words.shape[:-1], -1)
    return np.vectorize({pattern: number for number, pattern in enumerate(patterns)}.__getitem__)(fields)


def warp_by_the_rules(one: Mma, *, swapped: bool = False) -> fragments.Issue:
    """A warp that multiplies, in numpy, with registers as the rules have them; or with two rows of D swapped."""
    m, n, k = one.extents
    places = {}
    for operand, dtype in (("A", one.dtype), ("B", one.dtype), ("D", one.accumulator)):
        held_by = fragment(f"mma.{one.shape}.{operand}.{dtype}")
        places[operand] = np.array([held_by.element(t, v) for t in range(32) for v in range(held_by.values)])
    if swapped:
        rows = places["D"][:, 0]
        places["D"][:, 0] = np.select([rows == 0, rows == 1], [1, 0], rows)

    def matrix(operand: str, words: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
        made = np.zeros((len(words), *shape), np.int64)
        made[:, places[operand][:, 0], places[operand][:, 1]] = unpacked(words, one.dtype).reshape(len(words), -1)
        return made

    def issue(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        product = np.einsum("imk,jnk->ijmn", matrix("A", a, (m, k)), matrix("B", b, (n, k)))
        return product[:, :, places["D"][:, 0], places["D"][:, 1]].reshape(-1, 32, one.values("D"))

    return issue


SMALL = [one for one in every_mma() if one.extents[2] <= 32]


@each("one", SMALL, ids=lambda one: one.name)
def test_what_the_probe_finds_of_a_warp_by_the_rules_is_what_the_rules_say(one: Mma) -> None:
    found = meetings(one, warp_by_the_rules(one))
    assert (found == by_the_rules(f"mma.{one.shape} {one.dtype} {one.accumulator}")).all()


def test_another_warp_is_found_to_be_another() -> None:
    one = Mma("m16n8k8", "f16", "f32")
    found = meetings(one, warp_by_the_rules(one, swapped=True))
    assert digest(found) != digest(by_the_rules("mma.m16n8k8 f16 f32"))
    with pytest.raises(RuntimeError, match="must reach 8 accumulators"):
        meetings(one, lambda a, b: np.ones((len(a) * len(b), 32, 4), np.int64))


def test_an_image_holds_rows_in_core_matrices() -> None:
    a, b = np.zeros((64, 16), int), np.zeros((8, 16), int)
    a[9, 10], b[3, 1] = 2, 3
    words = image(a, b, "f16").view(np.uint16)
    assert np.nonzero(words)[0].tolist() == [(256 + 16 + 128 + 4) // 2, (2048 + 3 * 16 + 2) // 2]
    assert words[(256 + 16 + 128 + 4) // 2] == 0x4000


@each("dtype", NUMBERS)
def test_small_numbers_survive_registers(dtype: str) -> None:
    numbers = np.arange(64).reshape(2, 32) % len(NUMBERS[dtype][1])
    assert (unpacked(packed(numbers, dtype), dtype) == numbers).all()
    assert all(first != second for first, second in pairwise(NUMBERS[dtype][1]))


def test_every_case_has_a_rule() -> None:
    names = every_case()
    assert len(names) == len(set(names)) > 100
    for name in names[::5]:
        assert by_the_rules(name).size


@pytest.mark.parametrize("gpu", ["h100", "h200"])
def test_what_hopper_gpus_hold_is_what_the_rules_say(gpu: str) -> None:
    """Every table that was recorded, by its digest."""
    facts = json.loads((HOPPER / gpu / "fragments.json").read_text())
    assert (facts["cases_that_differ_from_the_rules"], facts["different"]) == (0, [])
    tables = {row["name"]: row for row in facts["tables"]}
    assert list(tables) == every_case()
    for name, row in tables.items():
        rule = by_the_rules(name)
        assert (row["sha256"], tuple(row["shape"])) == (digest(rule), rule.shape), name


# Sparse warps ---------------------------------------------------------------------------------------------------------


def sparse_warp_by_the_rules(one: SparseMma) -> sparse_warps.Issue:
    """A warp that multiplies with metadata as the rules have them, in numpy."""
    read, (_, _, k) = sparse_warps.by_the_rules(one), one.mma.extents

    def matrix(operand: str, words: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
        places = sparse_warps.fragment_of(one, operand)
        made = np.zeros((len(words), *shape), np.int64)
        made[:, places[:, 0], places[:, 1]] = unpacked(words, one.mma.dtype).reshape(len(words), -1)
        return made

    def issue(cases: np.ndarray, a: np.ndarray, b: np.ndarray, metadata: np.ndarray) -> np.ndarray:
        codes = np.zeros((len(metadata), 16, k // one.group), np.uint32)
        for thread, nibble in np.argwhere(read[..., 0] >= 0):
            row, first = read[thread, nibble]
            codes[:, row, first // one.group] = metadata[:, thread] >> np.uint32(4 * nibble) & 0xF
        stored, other = matrix("A", a, (16, k // 2)), matrix("B", b, (8, k))
        dense = sparse_warps.with_zeros(stored[cases[:, 0]], codes[cases[:, 2]], one.group)
        places = sparse_warps.fragment_of(one, "D")
        product = np.einsum("imk,ink->imn", dense, other[cases[:, 1]])
        return product[:, places[:, 0], places[:, 1]].reshape(len(cases), 32, 4)

    return issue


@each("one", every_sparse_mma()[:36:5], ids=lambda one: one.name)
def test_what_the_probe_finds_of_a_sparse_warp_is_what_the_rules_say(one: SparseMma) -> None:
    issue = sparse_warp_by_the_rules(one)
    assert (sparse_warps.registers(one, issue) == sparse_warps.by_the_rules(one)).all()
    assert sparse_warps.products(one, issue, 2)[1] == 0


def test_a_sparse_warp_of_another_selector_is_found_to_be_another() -> None:
    one, other = every_sparse_mma()[:2]
    found = sparse_warps.registers(one, sparse_warp_by_the_rules(other))
    assert (found != sparse_warps.by_the_rules(one)).any()
    assert sparse_warps.products(one, sparse_warp_by_the_rules(other), 2)[1] > 0


def test_what_a_hopper_gpu_does_with_metadata_of_warps_is_what_the_rules_say() -> None:
    """Every selector that the GPU takes; those of f16 with K 32 that name no threads are illegal instructions."""
    facts = json.loads((HOPPER / "h100" / "sparse_warps.json").read_text())
    rows = {row["name"]: row for row in facts["rows"]}
    assert list(rows) == [one.name for one in every_sparse_mma()]
    assert facts["refused"] == [name for name in rows if "m16n8k32 f16 f32 selector" in name and name[-1] in "23"]
    for one in every_sparse_mma():
        if one.name not in facts["refused"]:
            table = np.ascontiguousarray(sparse_warps.by_the_rules(one), dtype="<i4")
            assert rows[one.name]["sha256"] == hashlib.sha256(table.tobytes()).hexdigest(), one.name
            assert (rows[one.name]["wrong"], rows[one.name]["elements"]) == (0, 64 * 16 * 8)


def test_the_recorded_tables_have_the_recorded_digests() -> None:
    facts = json.loads((HOPPER / "h200" / "fragments.json").read_text())
    with np.load(HOPPER / "h200" / "fragments.npz") as recorded:
        assert {row["name"]: row["sha256"] for row in facts["tables"]} == {
            name: digest(recorded[name]) for name in recorded if name != "provenance"
        }


def test_what_hopper_gpus_count_for_matrices_is_a_matrix_a_phase() -> None:
    """Every count of ``ldmatrix.x4`` and ``stmatrix.x4`` that was recorded: 16 bytes a lane, eight rows a phase."""
    facts = json.loads((HOPPER / "h200" / "matrix_wavefronts.json").read_text())
    with np.load(HOPPER / "h200" / "matrix_wavefronts.npz") as recorded:
        assert len(recorded["wavefronts"]) == facts["patterns"] > 300
        for offsets, counted in zip(recorded["offsets"].tolist(), recorded["wavefronts"].tolist(), strict=True):
            assert wavefronts(offsets, 16, store=True) == counted


def test_patterns_of_matrices_are_whole_rows_of_every_lane() -> None:
    made = matrix_patterns()
    assert len(made) > 300
    assert {one.op for one in made} == {"ldmatrix", "stmatrix"}
    assert all(len(one.offsets) == 32 and all(o >= 0 and o % 16 == 0 for o in one.offsets) for one in made)
    assert max(max(one.offsets) for one in made) + 16 <= 65536
