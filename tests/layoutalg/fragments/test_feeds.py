"""Registers of one instruction and of the next: PTX's formulas, recorded pairs, and the code, executed."""

from __future__ import annotations

import json
import lzma
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from each import each
from places import VECTORS

from layoutalg import Feed, Layout, LayoutError, evaluate, feeds, make_tiled_copy_A, make_tiled_mma, parse_layout
from layoutalg.cli.command import main
from layoutalg.fragments.feed_code import declarations, feed_code, shared_memory_path

RECORD = json.loads(lzma.decompress((VECTORS / "copies.json.xz").read_bytes()))
PTXAS = shutil.which("ptxas")
Place = tuple[int, int]


# The tables of PTX ISA 9.1, chapter mma and wgmma, written down once more: lane and value to row and column.


def accumulators(t: int, v: int) -> Place:
    """D of m16n8 and, warp by warp, of wgmma: v is counted over the tiles of 8 columns."""
    return 16 * (t // 32) + t % 32 // 4 + 8 * (v // 2 % 2), 8 * (v // 4) + 2 * (t % 4) + v % 2


def operand_a(bits: int) -> Callable[[int, int], Place]:
    """A with elements of 4 to 32 bits: registers hold adjacent columns; rows r, r + 8, then the next columns."""
    unit = 32 // bits

    def place(t: int, v: int) -> Place:
        register, i = divmod(v, unit)
        return 16 * (t // 32) + t % 32 // 4 + 8 * (register % 2), 4 * unit * (register // 2) + unit * (t % 4) + i

    return place


def operand_b(bits: int) -> Callable[[int, int], Place]:
    """B as (n, k)."""
    unit = 32 // bits
    return lambda t, v: (t // 4, 4 * unit * (v // unit) + unit * (t % 4) + v % unit)


def f64_d(t: int, v: int) -> Place:
    return t // 4, 2 * (t % 4) + v


def f64_a(t: int, v: int) -> Place:
    return t // 4, 4 * v + t % 4


#: First, second, threads, formula of D, formula of A, expected answer.
CHAINS: list[tuple[str, str, int, Callable[[int, int], Place], Callable[[int, int], Place], str]] = [
    ("mma.m16n8k16.C", "mma.m16n8k16.A.f16", 32, accumulators, operand_a(16), "same"),
    ("mma.m16n8k8.C", "mma.m16n8k8.A.bf16", 32, accumulators, operand_a(16), "same"),
    ("wgmma.m64n64k16.C", "wgmma.m64n64k16.A.f16", 128, accumulators, operand_a(16), "same"),
    ("wgmma.m64n32k16.C", "mma.m16n8k16.A.bf16", 128, accumulators, operand_a(16), "same"),
    ("mma.m16n8k32.C", "mma.m16n8k32.A.e4m3", 32, accumulators, operand_a(8), "same after relabelling k"),
    ("mma.m16n8k32.C", "mma.m16n8k32.A.s8", 32, accumulators, operand_a(8), "same after relabelling k"),
    ("wgmma.m64n64k32.C", "wgmma.m64n64k32.A.e5m2", 128, accumulators, operand_a(8), "same after relabelling k"),
    ("mma.m16n8k8.C", "mma.m16n8k8.A.tf32", 32, accumulators, operand_a(32), "same after relabelling k"),
    ("wgmma.m64n8k8.C", "wgmma.m64n8k8.A.tf32", 128, accumulators, operand_a(32), "same after relabelling k"),
    ("mma.m16n8k64.C", "mma.m16n8k64.A.e2m1", 32, accumulators, operand_a(4), "same after relabelling k"),
    ("mma.m16n8k64.C", "mma.m16n8k64.A.s4", 32, accumulators, operand_a(4), "same after relabelling k"),
    ("mma.m8n8k4.C", "mma.m8n8k4.A.f64", 32, f64_d, f64_a, "same after relabelling k"),
]


@each(("first", "second", "threads", "d", "a", "answer"), CHAINS)
def test_a_product_of_products_is_right_with_the_registers_and_the_k_of_the_answer(
    first: str, second: str, threads: int, d: Any, a: Any, answer: str
) -> None:
    feed = feeds(first, second)
    assert feed.answer == answer and feed.threads == threads and len(set(feed.register_order)) == feed.values
    sigma = feed.sigma or tuple(range(feed.columns))
    assert sorted(sigma) == list(range(feed.columns))
    random_ = random.Random(7)
    p = [[random_.randrange(-8, 8) for _ in range(feed.columns)] for _ in range(feed.rows)]
    b = [[random_.randrange(-8, 8) for _ in range(3)] for _ in range(feed.columns)]
    held = [[p[r][c] for r, c in (d(t, v) for v in range(feed.values))] for t in range(threads)]
    as_a = [[0] * feed.columns for _ in range(feed.rows)]
    for t in range(threads):
        for u, v in enumerate(feed.register_order):
            row, k = a(t, u)
            as_a[row][k] = held[t][v]
    for row in range(feed.rows):
        for n in range(3):
            product = sum(as_a[row][k] * b[sigma[k]][n] for k in range(feed.columns))
            assert product == sum(p[row][k] * b[k][n] for k in range(feed.columns))


NAMES: dict[str, tuple[str, str, dict[str, bool]]] = {
    "sm80 f16": ("mma.m16n8k16.C", "mma.m16n8k16.A.f16", {}),
    "sm89/sm120 fp8": ("mma.m16n8k32.C", "mma.m16n8k32.A.e4m3", {}),
    "sm90 wgmma 16 bit": ("wgmma.m64n16k16.C", "wgmma.m64n16k16.A.bf16", {}),
    "sm90 wgmma tf32": ("wgmma.m64n8k8.C", "wgmma.m64n8k8.A.tf32", {}),
    "sm80 f64": ("mma.m8n8k4.C", "mma.m8n8k4.A.f64", {}),
    "sm80 transposed, as B": ("mma.m16n8k16.C", "mma.m16n8k16.B.f16", {"transposed": True}),
    "sm100 tensor memory": ("tcgen05.ld.32x32b.x32", "tcgen05.st.32x32b.x16.f16", {}),
}


@each("row", RECORD["fragments"])
def test_recorded_fragments_have_their_answer(row: dict[str, Any]) -> None:
    first, second, options = NAMES[row["name"]]
    feed = feeds(first, second, **options)
    assert feed.answer == row["answer"] and list(feed.sigma or range(feed.columns)) == row["sigma"]
    order = row["register_order"]
    assert list(feed.register_order[: len(order)]) == order


@each("row", RECORD["compare"])
def test_recorded_pairs_of_layouts_have_their_answer(row: dict[str, Any]) -> None:
    feed = feeds(parse_layout(row["first"]), parse_layout(row["second"]))  # type: ignore[arg-type]
    assert feed.answer == row["answer"] and feed.values == row["values_of_second"]
    stay = row["elements_that_stay"]
    assert (min(feed.stay), max(feed.stay), sum(feed.stay)) == (
        (min(stay), max(stay), sum(stay)) if isinstance(stay, list) else (stay["least"], stay["most"], stay["sum"])
    )
    order = row.get("register_order")
    assert list(feed.register_order) == (order if isinstance(order, list) else list(range(feed.values))
                                         if feed.answer == "same" else [])  # fmt: skip


def test_a_copy_feeds_the_mma_that_it_was_made_of() -> None:
    mma = make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1))
    assert feeds(make_tiled_copy_A("ldmatrix.x4", mma), mma).answer == "same"
    assert feeds(mma, make_tiled_mma("mma.m16n8k16.f16", (2, 1, 1))).answer != "same"


def test_what_cannot_be_relabelled_is_shuffled_within_quads() -> None:
    feed = feeds("wgmma.m64n32k32.C", "wgmma.m64n32k32.A.e4m3", fixed_k=True)
    assert (feed.answer, feed.reach, feed.shuffles) == ("needs shuffles", "quads", 4)
    assert feed.stay[:4] == (8, 0, 0, 8)
    assert [[thread for thread, _ in pairs] for pairs in feed.sources[:4]] == [[1], [2, 3], [0, 1], [2]]


def test_scores_as_b_that_are_not_transposed_go_through_movmatrix_or_shared_memory() -> None:
    feed = feeds("mma.m16n8k16.C", "mma.m16n8k16.B.bf16")
    assert (feed.answer, feed.reach) == ("needs shuffles", "warps")
    assert "movmatrix" in "".join(feed_code(feed))
    assert shared_memory_path(feed) == ("stmatrix.x2", "ldmatrix.x2.trans")
    assert "movmatrix" in str(feed) and "stmatrix.x2, then ldmatrix.x2.trans" in str(feed)


def test_accumulators_of_a_warpgroup_reach_the_b_of_each_warp_through_shared_memory() -> None:
    feed = feeds("wgmma.m64n16k16.C", "mma.m16n8k16.B.bf16")
    assert (feed.answer, feed.reach, feed.columns) == ("through shared memory", "CTA", 64)
    assert shared_memory_path(feed)[1] == "ldmatrix.x4.trans"
    assert feeds("wgmma.m64n16k16.C", "mma.m16n8k16.B.bf16", transposed=True).answer == "same"


def test_scale_factors_belong_to_the_columns_after_relabelling() -> None:
    blocks = feeds("mma.m16n8k64.C", "mma.m16n8k64.A.e2m1").scale_blocks(16)
    assert blocks[0] == (0, 1, 8, 9, 16, 17, 24, 25, 2, 3, 10, 11, 18, 19, 26, 27)
    assert sorted(column for block in blocks for column in block) == list(range(64))


@each(
    ("first", "second", "said"),
    [
        ("(4,8):(8,1)", "(4,8):(16,1)", "does not have"),
        ("mma.m16n8k16.C", "(32,8):(8,1)", "has indices up to"),
        ("8", "mma.m16n8k16.C", "describes no registers"),
        ("mma.m16n8k16.X", "mma.m16n8k16.C", "no operand X"),
    ],
)
def test_registers_that_do_not_belong_together_are_refused(first: str, second: str, said: str) -> None:
    with pytest.raises(LayoutError) as error:
        feeds(*(text if text.startswith("mma") else evaluate(text) for text in (first, second)))
    assert said in str(error.value)


@each(
    ("load", "operand", "answer", "order"),
    [
        ("ldmatrix.x4", "mma.m16n8k16.A.f16", "same", range(8)),
        ("ldmatrix.x2.8x16", "mma.m16n8k16.B.f16", "same", range(4)),
        ("ldmatrix.x2.trans.16x8", "mma.m16n8k16.B.f16", "same", range(4)),
        ("ldmatrix.x4.trans", "mma.m16n8k16.A.f16", "same elements, other order", (0, 1, 4, 5, 2, 3, 6, 7)),
        ("ldmatrix.x4.trans", "mma.m16n8k16.B.f16", "same", range(8)),
        ("ldmatrix.x4.16x32.b8", "mma.m16n8k32.A.e4m3", "same", range(16)),
    ],
)
def test_ldmatrix_loads_an_operand_as_it_is_stored(load: str, operand: str, answer: str, order: Any) -> None:
    """With .trans, rows in memory are k, as of an operand that is MN-major."""
    feed = feeds(load, operand)
    assert feed.answer == answer and feed.register_order == tuple(order)


@each(("store", "first"), [("stmatrix.x2", "mma.m16n8k16.C"), ("stmatrix.x2.trans.8x16", "mma.m16n8k16.C")])
def test_stmatrix_stores_accumulators_by_rows_or_by_columns(store: str, first: str) -> None:
    assert feeds(first, store).answer == "same"


def test_only_b_after_accumulators_can_be_transposed() -> None:
    with pytest.raises(LayoutError, match="only B can be the transpose"):
        feeds("mma.m16n8k16.C", "mma.m16n8k16.A.f16", transposed=True)


# The code, assembled and executed. A register is a list of 8 nibbles; a nibble is (value of D, number of the nibble).

CODES: list[tuple[str, str, dict[str, bool], str]] = [
    ("mma.m16n8k16.C", "mma.m16n8k16.A.bf16", {}, "sm_80"),
    ("mma.m16n8k16.C.f16", "mma.m16n8k16.A.f16", {}, "sm_80"),
    ("mma.m16n8k32.C", "mma.m16n8k32.A.e4m3", {}, "sm_89"),
    ("mma.m16n8k32.C", "mma.m16n8k32.A.s8", {}, "sm_80"),
    ("mma.m16n8k64.C", "mma.m16n8k64.A.u4", {}, "sm_80"),
    ("mma.m16n8k64.C", "mma.m16n8k64.A.e2m1", {}, "sm_120a"),
    ("mma.m16n8k8.C", "mma.m16n8k8.A.tf32", {}, "sm_80"),
    ("mma.m8n8k4.C", "mma.m8n8k4.A.f64", {}, "sm_80"),
    ("wgmma.m64n32k32.C", "wgmma.m64n32k32.A.e4m3", {}, "sm_90a"),
    ("mma.m16n8k16.C", "mma.m16n8k16.B.f16", {"transposed": True}, "sm_80"),
    ("mma.m16n8k16.C", "mma.m16n8k16.B.f16", {}, "sm_80"),
    ("mma.m16n8k32.C", "mma.m16n8k32.B.e4m3", {}, "sm_89"),
    ("mma.m16n8k8.C", "mma.m16n8k8.B.tf32", {}, "sm_80"),
    ("mma.m16n8k32.C", "mma.m16n8k32.A.e4m3", {"fixed_k": True}, "sm_89"),
    ("mma.m16n8k32.C", "mma.m16n8k32.A.s8", {"fixed_k": True}, "sm_80"),
    ("wgmma.m64n32k32.C", "wgmma.m64n32k32.A.e5m2", {"fixed_k": True}, "sm_90a"),
    ("mma.m16n8k8.C", "mma.m16n8k8.A.tf32", {"fixed_k": True}, "sm_80"),
    ("mma.m16n8k32.C", "mma.m16n8k32.B.e4m3", {"transposed": True, "fixed_k": True}, "sm_89"),
]


@pytest.mark.skipif(PTXAS is None, reason="the judge is ptxas")
@each(("first", "second", "options", "target"), CODES)
def test_the_code_assembles(first: str, second: str, options: dict[str, bool], target: str, tmp_path: Path) -> None:
    feed = feeds(first, second, **options)
    body = "\n".join([*declarations(feed), *feed_code(feed)])
    path = tmp_path / "feed.ptx"
    path.write_text(f".version 8.8\n.target {target}\n.address_size 64\n.entry k() {{\n{body}\nret;\n}}\n")
    command = [str(PTXAS), f"-arch={target}", "-o", str(path.with_suffix(".cubin")), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@each(("first", "second", "options", "target"), CODES)
def test_the_code_leaves_in_each_register_what_the_second_takes(
    first: str, second: str, options: dict[str, bool], target: str
) -> None:
    feed = feeds(first, second, **options)
    code = feed_code(feed)
    assert code
    letter = feed.second.role.lower()
    for warp in range(0, feed.threads, 32):
        lanes = Warp(feed, warp)
        for line in code:
            lanes.execute(line)
        bits = 64 if feed.second.dtype == "f64" else feed.second.bits
        for lane in range(32):
            nibbles = [
                nibble
                for number in range(feed.values * bits // max(32, bits))
                for nibble in lanes.registers[lane][f"{letter}{number}"]
            ]
            sigma = feed.sigma or tuple(range(feed.columns))
            wanted = [((r, sigma[k]), part) for r, k in feed.second.table[warp + lane] for part in range(bits // 4)]
            assert nibbles == wanted


class Warp:
    """32 lanes that execute the instructions of :func:`feed_code`; written from PTX's text of each instruction."""

    def __init__(self, feed: Feed, first: int) -> None:
        self.bits = 64 if feed.second.dtype == "f64" else feed.second.bits
        self.halves = feed.first.dtype == "f16"
        self.places = feed.first.table[first : first + 32]
        self.registers: list[dict[str, Any]] = [{} for _ in range(32)]

    def element(self, lane: int, name: str) -> list[Any]:
        """The nibbles of a value of D after its conversion."""
        place = self.places[lane][int(name[1:])]
        return [(place, part) for part in range(self.bits // 4)]

    def value(self, lane: int, text: str) -> Any:
        if text == "%laneid":
            return lane
        if text in self.registers[lane]:
            return self.registers[lane][text]
        if re.fullmatch(r"d\d+", text):
            if self.halves:
                number = 2 * int(text[1:])
                return self.element(lane, f"d{number}") + self.element(lane, f"d{number + 1}")
            return self.element(lane, text)
        return int(text, 0)

    def execute(self, line: str) -> None:
        opcode, _, rest = line.rstrip(";").partition(" ")
        if "{" in rest:
            target, group = rest.split(", ", 1)
            operands = [target, *group.strip("{}").split(", ")]
        else:
            operands = rest.split(", ")
        results = [self.result(opcode, lane, operands[1:]) for lane in range(32)]
        if opcode.startswith("movmatrix"):
            results = self.transposed([self.value(lane, operands[1]) for lane in range(32)])
        for lane in range(32):
            self.registers[lane][operands[0]] = results[lane]

    def result(self, opcode: str, lane: int, operands: list[str]) -> Any:
        values = [self.value(lane, operand) for operand in operands]
        head = opcode.split(".")[0]
        if opcode.startswith("cvt.pack"):
            upper, lower, above = values
            low = [*lower, *upper]
            return [*low, *(above if isinstance(above, list) else [None] * 8)][:8]
        if head == "cvt":
            return values[0] if len(values) == 1 else [*values[1], *values[0]]
        if opcode == "mov.b32" and len(values) > 1:
            return [nibble for part in values for nibble in part]
        if opcode == "mov.b32" and values == [0]:
            return [None] * 8
        if head == "mov":
            return values[0]
        if head == "shr":
            return values[0] >> values[1]
        if head == "and":
            return values[0] & values[1]
        if head == "shl":
            return values[0] << values[1]
        if head == "xor":
            return values[0] ^ values[1]
        if head == "setp":
            return values[0] != values[1]
        if head == "selp":
            return values[0] if values[2] else values[1]
        if head == "prmt":
            both = [*values[0], *values[1]]
            chosen = [values[2] >> 4 * byte & 7 for byte in range(4)]
            return [both[2 * byte + part] for byte in chosen for part in (0, 1)]
        if head == "shfl":
            return self.registers[values[1]][operands[0]]
        assert head == "movmatrix", opcode
        return None

    @staticmethod
    def transposed(registers: list[list[Any]]) -> list[list[Any]]:
        """Lane t has row t/4 and columns 2(t%4), 2(t%4) + 1 of a matrix of 16-bit elements, before and after."""
        elements = {(t // 4, 2 * (t % 4) + i): registers[t][4 * i : 4 * i + 4] for t in range(32) for i in (0, 1)}
        return [[n for i in (0, 1) for n in elements[2 * (t % 4) + i, t // 4]] for t in range(32)]


def test_the_command_prints_the_answer_and_its_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["feeds", "wgmma.m64n32k32.C", "wgmma.m64n32k32.A.e4m3"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("same after relabelling k: no values move between threads")
    assert "d0 d1 d4 d5 d2 d3 d6 d7" in text and "at least 4 of 32 bits a lane" in text
    assert main(["feeds", "mma.m16n8k16.C", "mma.m16n8k16.B.bf16", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["load"] == "ldmatrix.x2.trans"
    assert main(["feeds", "mma.m16n8k64.C", "mma.m16n8k64.A.e2m1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scale_blocks_16"][0][:4] == [0, 1, 8, 9]
    assert main(["same", "mma.m16n8k32.C", "mma.m16n8k32.A.e4m3"]) == 1
    assert "layoutalg feeds" in capsys.readouterr().out


def test_layouts_of_one_tile_are_compared_by_their_elements() -> None:
    first, second = Layout((32, (2, 2)), (2, (64, 1))), Layout((32, (2, 2)), (2, (1, 64)))
    assert feeds(first, second).register_order == (0, 2, 1, 3)
    assert feeds(first, Layout((32, 4), (4, 1))).answer == "within warps"
