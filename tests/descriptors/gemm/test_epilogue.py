"""Stores of C: every element of a piece goes where the copy engine takes it from, and what is asked for is there."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from each import each

from descriptors import DescriptorError, ProofError, plan, record, tell
from descriptors.gemm.epilogue import BITS, RESULTS, Pieces
from descriptors.gemm.programs.sm90_kernel import kernel
from descriptors.gemm.schedule import order
from layoutalg import wavefronts
from layoutalg.frozen import replace

PLANS: list[dict[str, Any]] = [
    {"instruction": f"m64n{n}k{k}", "dtype": a, "d_dtype": d, "tile": (128, n, 2 * k), "c_dtype": c, "store": "tma"}
    for a, k, ds in (("bf16", 16, ("f32",)), ("f16", 16, ("f32", "f16")), ("s8", 32, ("s32",)))
    for d in ds
    for c in RESULTS[d]
    for n in (16, 32, 96, 256)
]
TENSOR: list[dict[str, Any]] = [
    {"instruction": f"m{m}n{n}k{k}", "dtype": a, "d_dtype": d, "tile": (2 * m, n, 2 * k), "c_dtype": c, "store": "tma"}
    | {"cta_group": pair, "stages": 2}
    for m, pair in ((64, 1), (128, 1), (128, 2), (256, 2))
    for a, k, ds in (("bf16", 16, ("f32",)), ("f16", 16, ("f16",)), ("s8", 32, ("s32",)))
    for d in ds
    for c in RESULTS[d]
    for n in (32, 96, 224)
    if a != "s8" or n != 224 or m != 64
]


@each("arguments", PLANS, ids=lambda one: f"{one['instruction']} {one['d_dtype']} {one['c_dtype']}")
def test_the_product_is_right_through_shared_memory(arguments: dict[str, Any]) -> None:
    plan(**arguments, arch="sm90")  # proved, or refused


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_the_product_of_sm100_is_right_through_shared_memory(step: int) -> None:
    for arguments in TENSOR[::step]:
        plan(**arguments, arch="sm100")  # proved, or refused


@each("arguments", TENSOR, ids=lambda one: f"{one['instruction']} {one['cta_group']} {one['c_dtype']}")
def test_a_warp_of_sm100_has_the_rows_of_its_lanes(arguments: dict[str, Any]) -> None:
    """Four warps, two pieces each; a lane writes whole 16 bytes, and eight lanes reach all banks once."""
    made = plan(**arguments, arch="sm100", verify=False)
    staged = made.epilogue.staged
    m, pair = made.asked.extents[0], made.asked.cta_group
    assert staged is not None and staged.pieces == 8 and staged.rows == (16 if m == 64 else 32)
    assert staged.base % 1024 == 0 and staged.base >= made.b.base + made.stages * made.b.stage_bytes
    assert made.budget.used <= made.budget.capacity and made.budget.used >= staged.base + staged.bytes
    bytes_ = staged.element_bytes(None)
    for lane in range(0, staged.rows, 8):
        for first in range(0, staged.columns, 128 // BITS[staged.type]):
            assert wavefronts([int(bytes_[lane + i, first]) for i in range(8)], 16) == 1
    legs = [leg for leg in made.chain.legs if leg.name.startswith("D")]
    assert sum(leg.tile[0] * leg.tile[1] for leg in legs) == made.asked.tile[0] // pair * made.asked.tile[1]


@each("change", ["neighbours", "swizzle", "threads"])
def test_pieces_that_lie_elsewhere_than_the_copy_engine_takes_them_are_refuted(change: str) -> None:
    right = Pieces.element_bytes
    moved = {
        "neighbours": lambda one, of: right(one, of) ^ 2,
        "swizzle": lambda one, of: right(replace(one, writers=1), of) ^ (right(one, of) >> 7 & 1) << 4,
        "threads": lambda one, of: np.roll(right(one, of), 4, axis=0),
    }[change]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pieces, "element_bytes", moved)
        with pytest.raises(ProofError, match="its operands are read right, the accumulator is not"):
            plan("m64n64k16", "bf16", tile=(64, 64, 32), c_dtype="bf16", arch="sm90")
        with pytest.raises(ProofError, match="its operands are read right, the accumulator is not"):
            plan("m128n64k16", "bf16", tile=(128, 64, 32), c_dtype="bf16", accumulators=2)


def test_a_plan_whose_pieces_overlap_the_operands_is_not_one() -> None:
    made = plan("m64n256k16", "bf16", tile=(128, 256, 64), store="tma", arch="sm90", verify=False)
    assert made.epilogue.staged.base >= made.b.base + made.stages * made.b.stage_bytes
    assert made.barriers == made.epilogue.staged.base + made.epilogue.staged.bytes
    assert made.budget.used <= made.budget.capacity
    assert replace(made.epilogue, staged=None).staged_bytes == 0


def test_matrix_stores_of_a_piece_have_no_bank_conflict() -> None:
    staged = plan("m64n64k16", "bf16", tile=(64, 64, 32), c_dtype="bf16", arch="sm90").epilogue.staged
    # Eight rows of 16 bytes, as a matrix of stmatrix has them: where the threads that name them point.
    for first in range(0, 64, 16):
        for lane in range(0, 128, 8):
            rows = [staged.pointer(lane + i) for i in range(8)]
            assert wavefronts([2 * staged.layout((row, first + column)) for row, column in rows], 16) == 1


REFUSED = [
    ({"terms": "bias,gelu"}, "'gelu'"),
    (
        {"terms": ["bias"], "dtype": "f16", "d_dtype": "f16"},
        "the accumulators are f16, and terms need f32 accumulators",
    ),
    ({"c_dtype": "bf16", "store": "registers"}, "use store='tma'"),
    ({"splits": 2, "store": "registers"}, "use store='tma'"),
    ({"c_dtype": "s32"}, "C is s32, .* f32 accumulators .*; supported: f32, bf16, f16, e4m3, e5m2"),
    ({"splits": 65}, "splits"),
    (
        {"d_dtype": "f16", "dtype": "f16", "splits": 2},
        "the accumulators are f16, and splits needs f32 or s32 accumulators",
    ),
    (
        {"c_dtype": "e4m3", "instruction": "m64n8k16", "tile": (64, 8, 32)},
        "a row of an accumulator is 8 elements of e4m3, 8 bytes",
    ),
    (
        {"store": "tma", "smem": 20000},
        "B 8192, barriers 16.; C through shared memory needs 16384 bytes",
    ),
    (
        {"c_dtype": "bf16", "convolution": {"activations": (1, 9, 9, 72), "filters": (30, 3, 3), "padding": 1}},
        "30 filters make a row of C 60 bytes of bf16; .*, such as 32 filters$",
    ),
    (
        {"store": "tma", "convolution": {"activations": (1, 9, 9, 72), "filters": (30, 3, 3), "padding": 1}},
        "30 filters make a row of C 120 bytes of f32; .*, such as 32 filters; use store='registers'$",
    ),
    ({"arch": "sm100", "instruction": "m128n8k16", "tile": (128, 8, 64), "c_dtype": "e5m2"}, "one load gives a thread"),
    (
        {"arch": "sm100", "instruction": "m128n16k16", "tile": (128, 16, 64), "c_dtype": "e5m2", "cta_group": 2},
        r"8 elements of e5m2, 8 bytes; .*; use instruction=\(128, 32, 16\), tile=\(128, 32, 64\)",
    ),
]


@each("row", REFUSED, ids=lambda row: row[1])
def test_what_there_is_not_is_refused_with_the_way_out(row: tuple[dict[str, Any], str]) -> None:
    arguments = {"instruction": "m64n64k16", "dtype": "bf16", "tile": (64, 64, 64), "arch": "sm90"} | row[0]
    with pytest.raises(DescriptorError, match=row[1]):
        plan(**arguments)


def test_the_order_of_issue_has_all_that_stores_c() -> None:
    made = plan("m128n64k16", "bf16", tile=(128, 64, 64), terms="bias", splits=3, arch="sm100", verify=False)
    steps = [(one.who, one.what) for one in order(made)]
    last = [what for who, what in steps if who == "epilogue"][-5:]
    assert last[0] == "cp.async.bulk.wait_group.read 1" and last[-1] == "cp.async.bulk.wait_group.read 0"
    assert last[2:4] == ["fence.proxy.async.shared::cta", "cp.async.bulk.tensor.3d.global ..."]
    assert ("add_parts", "parts -> C") in steps and "bias to each sum" not in str(steps)
    plain = order(plan("m128n64k16", "bf16", tile=(128, 64, 64), terms="bias", verify=False))
    assert [one.what for one in plain if one.who == "epilogue"][-2:] == ["bias to each sum", "registers -> C"]


def test_text_and_data_name_the_pieces() -> None:
    made = plan("m64n64k16", "bf16", tile=(64, 64, 64), c_dtype="bf16", splits=3, arch="sm90")
    assert "3 parts along K" in tell(made) and "C at 131072" in tell(made)
    kept = json.loads(json.dumps(record(made)))["epilogue"]
    assert kept["c"] == "bf16" and kept["splits"] == 3 and kept["staged"]["type"] == "f32"


def test_terms_stand_in_their_order_where_a_sum_is_whole() -> None:
    for more in ({}, {"store": "tma"}, {"splits": 2}):
        made = plan("m64n64k16", "bf16", tile=(64, 64, 64), terms="bias, row-scales,alpha-beta", arch="sm90", **more)
        text = kernel(made)
        places = [text.index(word) for word in ("*= terms.row_scales[x]", "*= terms.alpha", "+= terms.bias[y]")]
        assert places == sorted(places)
        # A part along K is no sum yet: its terms are added once, with the parts.
        assert ("total = finished(total" in text) == ("splits" in more) == ("d[block][value] = finished(" not in text)
        assert "with row-scales and alpha-beta and bias" in tell(made)


def test_what_is_not_asked_for_is_not_in_the_text() -> None:
    plain = kernel(plan("m64n64k16", "bf16", tile=(64, 64, 64), arch="sm90", verify=False))
    staged = kernel(plan("m64n64k16", "bf16", tile=(64, 64, 64), store="tma", arch="sm90", verify=False))
    for word in ("stmatrix", "add_parts", "int part", "PIECE", "bulk_group", "Terms"):
        assert word not in plain
    assert "store_two" not in staged and "int part" not in staged and "stmatrix" not in staged
