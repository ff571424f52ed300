"""The sparse probes without a GPU: what is found of a warpgroup by the rules and of another one; what was recorded."""

from __future__ import annotations

import doctest
import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from each import each
from places import ROOT

from descriptors import plan
from descriptors.gemm.programs.sm90_kernel import kernel
from descriptors.gemm.sparse_model import wgmma_places, wgmma_selected
from layoutalg import fragment
from probes import fragments, main_loops, sparse, sparse_products
from probes.build import sparse_instructions
from probes.held import NUMBERS
from probes.instructions import Instruction

HOPPER = ROOT / "tests" / "vectors" / "hopper"


def test_the_examples_run() -> None:
    assert doctest.testmod(sparse).failed == 0


@cache
def number_of(dtype: str) -> Any:
    return np.vectorize({pattern: number for number, pattern in enumerate(NUMBERS[dtype][1])}.__getitem__)


def rows_of(stored: np.ndarray, rows: int, row_bytes: int, dtype: str) -> np.ndarray:
    """The numbers of an operand in core matrices."""
    lines = stored.reshape(rows // 8, row_bytes // 16, 8, 16).swapaxes(1, 2).reshape(rows, row_bytes)
    return number_of(dtype)(np.ascontiguousarray(lines).view(f"u{NUMBERS[dtype][0] // 8}"))


def warpgroup_by_the_rules(one: Instruction, *, other_selector: bool = False) -> sparse.Issue:
    """A warpgroup that multiplies, in numpy; or one that reads the metadata of the threads that it should not."""
    bits = NUMBERS[one.dtype][0]
    selector = (one.selector or 0) ^ other_selector
    held = fragment(f"wgmma.sp.m64n8k{one.k}.A.{one.dtype}")
    places = np.array([held.element(t, v) for t in range(128) for v in range(held.values)])

    def a_of(image: np.ndarray, registers: np.ndarray) -> np.ndarray:
        if not one.a_in_registers:
            return rows_of(image[: sparse.A_BYTES], 64, 32, one.dtype)
        fields = registers.reshape(128, -1)[..., None] >> (np.arange(32 // bits) * bits).astype(np.uint32)
        a = np.zeros((64, one.k // 2), np.int64)
        a[places[:, 0], places[:, 1]] = number_of(one.dtype)((fields & (1 << bits) - 1).reshape(-1))
        return a

    def issue(cases: np.ndarray, images: np.ndarray, a: np.ndarray, metadata: np.ndarray) -> np.ndarray:
        stored = [a_of(image, registers) for image, registers in zip(images, a, strict=True)]
        b_bytes = slice(sparse.A_BYTES, sparse.A_BYTES + 64 * one.n)
        b = [rows_of(image[b_bytes], one.n, 64, one.dtype) for image in images]
        found = np.zeros((len(cases), 64, one.n), np.int64)
        for d, (i, e) in zip(found, cases, strict=True):
            dense = np.zeros((64, one.k), np.int64)
            np.put_along_axis(dense, wgmma_selected(metadata[e], bits, selector), stored[i], 1)
            d[:] = dense @ b[i].T
        return found

    return issue


SOME = [one for dtype in ("bf16", "tf32", "s8") for one in sparse_instructions(dtype)]


@each("one", SOME, ids=lambda one: one.name)
def test_what_the_probe_finds_of_a_warpgroup_by_the_rules_is_what_the_rules_say(one: Instruction) -> None:
    issue = warpgroup_by_the_rules(one)
    if not one.a_in_registers:
        assert (sparse.registers(one, issue) == sparse.by_the_rules(sparse.name_of(one, "registers"))).all()
        for what, some in sparse.code_sets(one).items():
            assert (sparse.codes(one, issue, some) == sparse.by_the_rules(sparse.name_of(one, what))).all()
    else:
        assert (sparse.elements(one, issue) == sparse.by_the_rules(sparse.name_of(one, "elements"))).all()
    elements, wrong = sparse.products(one, issue, 4)
    assert (elements, wrong) == (4 * 64 * one.n, 0)


def test_another_warpgroup_is_found_to_be_another() -> None:
    one = Instruction("bf16", 32, selector=0)
    issue = warpgroup_by_the_rules(one, other_selector=True)
    assert (sparse.registers(one, issue) != sparse.by_the_rules(sparse.name_of(one, "registers"))).any()
    assert sparse.products(one, issue, 2)[1] > 0
    with pytest.raises(RuntimeError, match="four bits must move one group"):
        sparse.registers(one, lambda cases, *_: np.arange(len(cases) * 2048).reshape(-1, 64, 32))


def test_what_a_hopper_gpu_does_is_what_the_rules_say() -> None:
    """Every table that was recorded, by its digest; the tables themselves where they are kept."""
    facts = json.loads((HOPPER / "h200" / "sparse.json").read_text())
    assert (facts["cases_that_differ_from_the_rules"], facts["different"]) == (0, [])
    tables = {row["name"]: row for row in facts["tables"]}
    assert list(tables) == sparse.every_case()
    with np.load(HOPPER / "h200" / "sparse.npz") as recorded:
        for name, row in tables.items():
            rule = sparse.by_the_rules(name)
            assert (row["sha256"], tuple(row["shape"])) == (fragments.digest(rule), rule.shape), name
            assert (recorded[name] == rule).all(), name


@pytest.mark.parametrize("dtype", ["f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"])
def test_the_model_of_the_product_takes_the_bits_that_a_hopper_gpu_took(dtype: str) -> None:
    """The recorded tables, against the places that the model has, which is not what the probe compares with."""
    with np.load(HOPPER / "h200" / "sparse.npz") as recorded:
        for one in (one for one in sparse.every_instruction() if one.dtype == dtype):
            table = recorded[sparse.name_of(one, "registers")]
            group, stored = sparse.groups_of(one)
            thread, bit = wgmma_places(8 * one.element_bytes, one.selector or 0)
            row, j = np.meshgrid(np.arange(64), np.arange(one.k // 2), indexing="ij")
            said = table[thread, bit // 4]
            assert (said == np.stack([row, j // stored * group], 2)).all()
            assert (table >= 0).all(2).sum() == 64 * one.k // group


RECORDS = {
    registers: json.loads((HOPPER / "h200" / f"sparse_products{'_registers' * registers}.json").read_text("utf-8"))
    for registers in (False, True)
}


@pytest.mark.parametrize(("registers", "count"), [(False, 24), (True, 32)])
def test_every_sparse_program_was_right_and_every_control_wrong(registers: bool, count: int) -> None:
    rows = RECORDS[registers]["programs"]
    assert len(rows) == count
    for row in rows:
        assert main_loops.right(row)
        assert row["packed_products_that_differ"] == [0, 0]
        assert row["of_spoiled_metadata_that_differ"] > 0
    seed = RECORDS[registers]["seed"]
    assert [row["plan"] for row in rows] == sparse_products.drawn(count, seed, registers=registers)
    assert sum("twin" in row for row in rows) == count // 4
    assert {row["plan"].get("a_source") for row in rows} == {"registers" if registers else None}
    assert {(row["plan"]["dtype"], row["plan"]["b_dtype"]) for row in rows} == {
        one[:2] for one in sparse_products.TYPES
    }


@each("row", [row for record in RECORDS.values() for row in record["programs"]], ids=lambda row: row["program"])
def test_the_sparse_program_that_ran_is_the_one_that_is_emitted(row: dict[str, Any]) -> None:
    made = plan(**row["plan"], verify=False)
    assert main_loops.digest(kernel(made)) == row["program"]
    assert [tuple(size) for size in row["products"]] == main_loops.sizes(made)


def test_every_case_has_a_rule() -> None:
    names = sparse.every_case()
    assert len(names) == len(set(names)) > 40
    assert all(sparse.by_the_rules(name).size for name in names)
