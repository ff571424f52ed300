"""`tcgen05.ld.red`: every form that the assembler takes, no other; the registers of the plain load and one more."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from each import each
from places import VECTORS

from descriptors import DescriptorError
from descriptors.tmem.geometry import BELIEVED, DOCUMENTED
from descriptors.tmem.moves import tmem_move
from descriptors.tmem.reductions import tmem_reduction

PTXAS = json.loads((VECTORS / "tmem_ptxas.json").read_text(encoding="utf-8"))["reductions"]


@each("case", PTXAS, ids=lambda case: f"{case['asked']} {case['target']}")
def test_a_reduction_exists_where_the_assembler_takes_it(case: dict[str, Any]) -> None:
    try:
        reduction = tmem_reduction(case["asked"], target=case["target"])
    except DescriptorError:
        assert not case["accepted"]
    else:
        assert case["accepted"] and reduction.ptx == f"tcgen05.ld.red.sync.aligned.{case['asked']}"


def test_the_record_has_forms_of_both_verdicts() -> None:
    assert {case["accepted"] for case in PTXAS} == {True, False} and len(PTXAS) > 80


def test_a_result_is_of_the_columns_that_the_thread_loads() -> None:
    for name, offset in (("32x32b.x8", None), ("16x32bx2.x4", 100)):
        reduction, plain = tmem_reduction(f"{name}.min.s32", offset=offset), tmem_move(name, offset=offset)
        assert reduction.move == plain and reduction.registers == plain.registers + 1
        for thread in range(32):
            cells = [plain.cells.cell(thread, register, 0) for register in range(plain.registers)]
            assert cells == [reduction.over.cell(thread, column) for column in range(plain.num)]
    assert (reduction.over.cell(0, 3), reduction.over.cell(16, 0)) == ((0, 3, 0), (0, 100, 0))


def test_what_two_threads_of_a_lane_reduce_is_only_believed() -> None:
    assert tmem_reduction("32x32b.x2.max.f32").over.evidence == DOCUMENTED
    assert tmem_reduction("16x32bx2.x2.max.f32").over.evidence == BELIEVED


@each(
    ("arguments", "message"),
    [
        (("32x32b.x8",), "'32x32b.x8' is not the name of a reducing load, such as 32x32b.x8.max.f32"),
        ((None,), "None is not the name of a reducing load"),
        (("32x32b.x8.max",), "the type is 'max', which is not supported; supported: f32, u32, s32"),
        (("32x32b.x8.add.f32",), "the operation is 'add', which is not supported; supported: min, max"),
        (("32x32b.x8.max.abs.u32",), "u32 does not have the qualifiers abs; it has none"),
        (("32x32b.x8.max.abs.abs.f32",), "a qualifier of abs.abs occurs twice"),
        (("16x256b.x8.max.f32",), "the shape is '16x256b', which is not supported"),
        (("32x32b.x1.max.f32",), "a reducing load needs at least x2, this one has x1; 32x32b.x1"),
        (("32x32b.x2.pack::16b.max.f32",), "a reducing load does not support .pack::16b; 32x32b.x2"),
        (("32x32b.x256.max.f32",), ".32x32b has no .x256; supported: x1, x2, x4"),
        (
            ("32x32b.x2.max.f32", "sm_100a"),
            "the target is 'sm_100a', which is not supported; supported: sm_103a",
        ),
        (("32x32b.x2.max.sp::2:4.f32",), "a compressing load needs at least x4, this one has x2"),
        (("16x32bx2.x8.max.sp::2:4.f32",), "the shape is '16x32bx2', which is not supported; supported: 32x32b"),
        (("32x32b.x8.max.sp::2:4.s32",), "a compressing load does not support s32, only f32"),
        (("32x32b.x8.max.sp::2:4.NaN.f32",), ".NaN without .red is not supported"),
        (
            ("32x32b.x8.max.sp::2:4.f32", "sm_107f"),
            "the target is 'sm_107f', which is not supported; supported: sm_107a",
        ),
    ],
)
def test_what_is_no_reduction_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        tmem_reduction(arguments[0], target=arguments[1] if len(arguments) > 1 else None)


FORMS = json.loads((VECTORS / "forms_ptxas.json").read_text(encoding="utf-8"))["rows"]
COMPRESSING = [row for row in FORMS if "spcompress" in row["body"] and "sm_107a" in row["taken"]]


@each("row", COMPRESSING, ids=lambda row: row["body"].partition("{")[0])
def test_a_load_that_compresses_has_the_registers_that_the_assembler_takes(row: dict[str, str]) -> None:
    opcode, rest = row["body"].split(maxsplit=1)
    words = opcode.split(".")
    name = ".".join([*["red"] * ("red" in words), *words[words.index("32x32b") :]])
    made = tmem_reduction(name, target="sm_107a")
    assert sorted(made.ptx.split(".")) == sorted(words)
    places = rest.partition("[")[0]
    each = r"%[rf](\d+)\.\.%[rf](\d+)"  # of floats they may have registers of their own
    spelled = re.sub(each, lambda m: ",".join(["%r"] * (int(m[2]) - int(m[1]) + 1)), places)
    assert made.registers == len(re.findall("%[rf]", spelled))
    assert made.metadata == len(re.findall("%[rf]", spelled.partition("}")[0]))


def test_the_record_has_loads_that_compress() -> None:
    assert len(COMPRESSING) > 5


def test_a_target_that_has_it_is_no_matter() -> None:
    assert tmem_reduction("32x32b.x2.max.f32", target="sm_103a") == tmem_reduction("32x32b.x2.max.f32")
