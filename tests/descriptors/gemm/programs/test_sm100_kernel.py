"""Whole kernels of sm100: nvcc takes them; their words, columns and stores are those of the plan; nobody ran them."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from gemm_plans import BLACKWELL, compiled, made, need_nvcc, pointers, together

from descriptors import DescriptorError, Plan, check_ptx, expand, unpack_metadata
from descriptors.gemm.accumulators import TensorColumns
from descriptors.gemm.plan_metadata import Metadata
from descriptors.gemm.programs.emit_plan import emit_plan
from descriptors.gemm.programs.plan_constants import number_code
from descriptors.smem.instructions.rules import type_name
from layoutalg.frozen import replace

PLANS = [pytest.param(one, id=name) for name, one in BLACKWELL.items()]


@need_nvcc
def test_the_kernels_compile_without_a_warning(tmp_path: Path) -> None:
    texts = {re.sub(r"\W", "_", name): emit_plan(made(asked), "cuda") for name, asked in BLACKWELL.items()}
    assert len(texts) == len(BLACKWELL)
    assert compiled(together({f"k_{name}": text for name, text in texts.items()}), "sm100", tmp_path) == ""


@need_nvcc
@pytest.mark.parametrize(
    "name", ["pair", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("nvf4", "sparse nvf4"))]
)
def test_the_host_program_compiles_and_our_checker_finds_nothing(name: str, tmp_path: Path) -> None:
    text = emit_plan(made(BLACKWELL[name]), "cuda")
    assert compiled(text, "sm100", tmp_path, "-c", "-keep") == ""
    report = check_ptx((tmp_path / "a.ptx").read_text())
    assert (report.findings, report.unresolved) == ((), ())


@each("arguments", PLANS)
def test_the_head_says_that_nobody_ran_it(arguments: dict[str, Any]) -> None:
    one = made(arguments)
    head = [f"// {one.headline}.", "// known: documented, not measured on a Blackwell GPU"]
    assert emit_plan(one, "cuda").splitlines()[:2] == head


@each("arguments", PLANS)
def test_every_instruction_has_the_words_and_columns_of_the_plan(arguments: dict[str, Any]) -> None:
    one = made(arguments)
    accumulators, text = one.accumulators, emit_plan(one, "cuda")
    assert isinstance(accumulators, TensorColumns)
    first = {low: re.search(rf"{low} = placed\((0x\w+)ull, smem, s \* (\d+)\)", text) for low in "ab"}
    calls = re.findall(r"multiply\(tmem \+ (\d+), a \+ (\d+), b \+ (\d+), (0x\w+)u(.*), (\w+)\);", text)
    m, n, k = one.asked.blocks
    blocks = [(i, j, q) for q in range(k) for j in range(n) for i in range(m)]
    assert len(calls) == len(blocks)
    for (column, a, b, idesc, factors, more), (i, j, q) in zip(calls, blocks, strict=True):
        assert (int(column), more) == (accumulators.firsts[j * m + i], "1" if q else "t")
        assert int(idesc, 16) == one.line.idescs[q]
        for match, by, side, mn in ((first["a"], a, one.a, i), (first["b"], b, one.b, j)):
            assert match is not None
            for s in range(one.stages):
                assert int(match[1], 16) + s * int(match[2]) + int(by) == side.word_at(mn, q, s)
        assert tuple(int(pointer, 16) for pointer in re.findall(r"0x[0-9a-f]+", factors)) == pointers(one, i, j, q)


SPARSE = [name for name in BLACKWELL if name.startswith("sparse")]


def as_written(text: str, one: Plan) -> Plan:
    """A plan that does what a text says: its words, steps, columns, selectors and pointers are those of the text."""
    calls = re.findall(r"multiply\(tmem \+ (\d+), a \+ (\d+), b \+ (\d+), (0x\w+)u, tmem \+ (\d+)(.*), \w+\);", text)
    copied = re.findall(r"copy_metadata\(tmem \+ (\d+), placed\((0x\w+)ull, smem, s \* (\d+)\)\);", text)
    places = re.findall(r"(\w) = placed\((0x\w+)ull, smem, s \* (\d+)\)", text)
    words = {low: (int(word, 16), int(step)) for low, word, step in places}
    m, n, _ = one.asked.blocks
    firsts, sides = calls[:: m * n], []
    for side, at in ((one.a, 1), (one.b, 2)):
        word, step = words[side.matrix.lower()]
        along_k = tuple(int(call[at]) - int(calls[0][at]) for call in firsts)
        along_mn = tuple(int(call[at]) for call in (calls[:m] if at == 1 else calls[: m * n : m]))
        stages = tuple(step * s for s in range(one.stages))
        sides.append(replace(side, word=word, k_steps=along_k, mn_steps=along_mn, stage_steps=stages))

    class Written(Metadata):
        def place(self, k: int) -> tuple[int, int]:
            return int(firsts[k][4]), 0

        @property
        def block_columns(self) -> int:
            return int(calls[1][4]) - int(calls[0][4]) if m > 1 else 0

        def copies(self, stage: int = 0) -> tuple[tuple[int, int], ...]:
            return tuple((int(word, 16) + stage * int(step), int(column)) for column, word, step in copied)

    assert one.metadata is not None
    fields = {name: getattr(one.metadata, name) for name in ("packed", "layout", "packs", "column", "base", "blocks")}
    scales = one.scales
    if scales is not None:
        said = [[int(x, 16) for x in re.findall(r"0x[0-9a-f]+", call[5])] for call in firsts]
        scales = replace(scales, pointers=tuple((a, b) for a, b in said))
    line = replace(one.line, idescs=tuple(int(call[3], 16) for call in firsts))
    return replace(one, a=sides[0], b=sides[1], line=line, metadata=Written(**fields), scales=scales)


@each("name", SPARSE)
def test_what_the_text_says_of_a_sparse_a_is_the_product(name: str) -> None:
    one = made(BLACKWELL[name])
    text = emit_plan(one, "cuda")
    proof = as_written(text, one).verify(seed=5)
    assert proof.ok, str(proof)
    assert one.metadata is not None
    (m, n, k), step = one.asked.blocks, 4 * one.metadata.packs
    columns = [one.metadata.place(q)[0] for q in range(k)]
    said = [int(x) for x in re.findall(r"0x\w+u, tmem \+ (\d+)\b", text)]
    assert said == [columns[q] + i * step for q in range(k) for _ in range(n) for i in range(m)]
    spoilt = re.sub(rf"(0x\w+u, tmem \+ ){columns[-1]}\b", rf"\g<1>{columns[0]}", text)
    assert spoilt != text and not as_written(spoilt, one).verify(seed=5).ok
    if one.asked.a.storage_bits >= 16:
        odd = f"{one.line.idescs[1]:#010x}u"
        assert not as_written(text.replace(odd, f"{one.line.idescs[0]:#010x}u"), one).verify(seed=5).ok


@each("name", SPARSE)
def test_a_sparse_a_is_copied_with_its_metadata(name: str) -> None:
    """Boxes of A begin at half of K; those of metadata are a stage's part of the 128 rows of each CTA, in order."""
    one = made(BLACKWELL[name])
    text, k_tiles, t, pair = emit_plan(one, "cuda"), 5, 3, one.asked.cta_group
    assert one.metadata is not None
    at_k = [d.mode for d in one.a.tma.dimensions].index(1)
    for box, call in zip(one.a.boxes, re.findall(r"&map_a, (.*), full\)", text), strict=True):
        assert call.split(", ")[at_k] == f"t * (TILE_K / 2) + {box.origin[1]}"
    boxes = re.findall(r"copy_box\(smem \+ (\d+) \+ s \* (\d+), &map_e, 0, (.*), full\);", text)
    rows = int(re.findall(r"E_BOX_ROWS = (\d+);", text)[0])
    landed = [int(base) + 128 * i for base, _, _ in boxes for i in range(rows)]
    assert landed == list(range(one.metadata.base, one.metadata.base + one.metadata.bytes, 128))
    blocks = one.asked.blocks[0]
    count = one.metadata.bytes // blocks // 128
    for rank, tile_m in product(range(pair), range(2)):
        names = {"tile_m": tile_m, "CTA_GROUP": pair, "rank": rank, "k_tiles": k_tiles, "t": t}
        taken = [eval(at, names.copy()) + i for _, _, at in boxes for i in range(rows)]  # noqa: S307 - our own text
        firsts = [(((tile_m * pair + rank) * blocks + m) * k_tiles + t) * count for m in range(blocks)]
        assert taken == [first + i for first in firsts for i in range(count)]


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
@each("name", SPARSE)
def test_the_host_stores_what_its_metadata_say(name: str, tmp_path: Path) -> None:
    """Its own lines, compiled without a GPU: A as it is stored and its codes give the A that is multiplied plainly."""
    one = made(BLACKWELL[name])
    text = emit_plan(one, "cuda")
    helpers = text[text.index("inline void put(") : text.index("template <class T>\nT* on_device")]
    body = text[text.index("  uint32_t state = 1;") : text.index("  TypeC* c = nullptr;")]
    constants = re.findall(r"^constexpr (?:int|bool|uint32_t) .*|^inline size_t .*", text, re.MULTILINE)
    (tmp_path / "a.cpp").write_text(
        "#include <cstddef>\n#include <cstdint>\n#include <cstdio>\n#include <vector>\nusing CUtensorMap = int;\n"
        + "\n".join(constants)
        + f"\n{helpers}"
        "template <class T> int on_device(const std::vector<T>& v) {\n"
        "  const uint64_t size = v.size() * sizeof(T);\n"
        "  std::fwrite(&size, 8, 1, stdout), std::fwrite(v.data(), 1, size, stdout);\n  return 0;\n}\n"
        "int map_of_a(int, int, int) { return 0; }\nint map_of_b(int, int, int) { return 0; }\n"
        "int map_of_rows(const char*, const std::vector<uint8_t>& bytes, int) { return on_device(bytes); }\n"
        f"int main() {{\n{body}\n  on_device(a);\n}}\n"
    )
    subprocess.run(["g++", "-std=c++17", "-w", "-o", "a", "a.cpp"], check=True, cwd=tmp_path)
    left, written = subprocess.run([tmp_path / "a"], check=True, capture_output=True).stdout, list[bytes]()
    while left:
        size = int.from_bytes(left[:8], "little")
        written.append(left[8 : 8 + size])
        left = left[8 + size :]
    a, _, e, *_, plain = written
    m, k = 2 * one.asked.tile[0], (2 * one.stages + 1) * one.asked.tile[2]
    assert one.metadata is not None
    packed = one.metadata.packed
    words = np.frombuffer(e, "<u4").reshape(m // 128, k // packed.covered, 128, 4)
    bits = np.unpackbits(np.frombuffer(a, np.uint8), bitorder="little").reshape(-1, one.asked.a.bits).astype(np.int64)
    codes = (bits << np.arange(one.asked.a.bits)).sum(1)
    of_code = {number_code(type_name(one.asked.a), x): x for x in range(-3, 4)}
    stored = np.vectorize(of_code.__getitem__)(codes)
    stored = stored.reshape(k // 2, m).T if one.a.transposed else stored.reshape(m, k // 2)
    dense = np.frombuffer(plain, "<i4").reshape(m, k)
    assert (expand(stored, unpack_metadata(words, one.asked.a, "sm100"), one.asked.a) == dense).all()
    assert len(np.unique(words)) > 100 and 0.35 < (dense != 0).mean() < 0.5


@each("arguments", PLANS)
def test_the_copies_of_both_ctas_bring_every_row_of_b_to_the_block_that_multiplies_it(
    arguments: dict[str, Any],
) -> None:
    """Each box of the text begins at a row of the tile; the CTA's own rows there are its half of an N block."""
    one = made(arguments)
    begin = re.search(r"b_row = tile_n \* TILE_N \+ rank \* (\d+);", emit_plan(one, "cuda"))
    boxes = re.findall(r"copy_box\(b_to \+ (\d+), &map_b, (.*), full\);", emit_plan(one, "cuda"))
    assert begin is not None and len(boxes) == len(one.b.boxes)
    n, pair, rows_landed = one.asked.extents[1], one.asked.cta_group, dict[tuple[int, int], int]()
    for rank in range(pair):
        for box, (offset, at) in zip(one.b.boxes, boxes, strict=True):
            assert int(offset) == box.offset_bytes
            row = int(begin[1]) * rank + int(re.search(r"b_row \+ (\d+)", at)[1])  # type: ignore[index]
            for i in range(next(d.box * d.step for d in one.b.tma.dimensions if d.mode == 0)):
                rows_landed[rank, box.origin[0] + i] = row + i
    half = n // pair
    assert rows_landed == {
        (rank, x): x // half * n + rank * half + x % half
        for rank in range(pair)
        for x in range(one.b.derivation.tile[0])
    }


@each("arguments", PLANS)
def test_every_element_of_the_tile_is_stored_once_from_where_the_plan_has_it(arguments: dict[str, Any]) -> None:
    """The lines are read as C reads them, for every lane and register; a load's cells come from the plan's layout."""
    one = made(arguments)
    accumulators, text = one.accumulators, emit_plan(one, "cuda")
    assert isinstance(accumulators, TensorColumns)
    begin = re.search(r"const uint32_t row = (.*), column = (.*);", text)
    assert begin is not None
    of_load = r"load\(v, tmem \+ \(warp << 21\) \+ (\d+)\);\n(.*?)c\[static_cast<size_t>\(([^;]*)\] ="
    lines = re.findall(of_load, text, re.DOTALL)
    fragment, n, scale = accumulators.readout.fragment, one.asked.extents[1], 32 // accumulators.readout.fragment.bits
    rows, seen = one.asked.extents[0] // one.asked.cta_group, set()
    c = {"tile_m": 0, "tile_n": 0, "rank": 0, "TILE_M": 0, "TILE_N": 0, "columns": 1 << 20}
    for address, before, at in lines:
        lanes = re.search(r"lane < (\d+)", before)
        code = compile("(" + at.replace("/", "//"), "<line>", "eval")
        for warp, lane in product(range(4), range(int(lanes[1]) if lanes else 32)):
            space = {**c, "warp": warp, "lane": lane}
            space["row"], space["column"] = (
                eval(term.replace("/", "//"), space.copy())  # noqa: S307 - our own text
                for term in begin.groups()
            )
            for i in range(accumulators.readout.values):
                row, column = divmod(eval(code, {**space, "i": i}), 1 << 20)  # noqa: S307 - our own text
                seen.add((row, column))
                cell = ((int(address) >> 16) + 32 * warp + lane, (int(address) & 0xFFFF) + i)
                block = accumulators.firsts[column // n * one.asked.blocks[0] + row // rows]
                lane_and_column = fragment.layout(row % rows, column % n) // scale
                assert (lane_and_column >> 16, block + (lane_and_column & 0xFFFF)) == cell
    assert len(seen) == one.asked.tile[0] // one.asked.cta_group * one.asked.tile[1]


def test_codes_are_those_of_the_types() -> None:
    import numpy as np

    for value in range(-3, 4):
        assert number_code("f16", value) == int(np.float16(value).view(np.uint16))
        assert number_code("tf32", value) == int(np.float32(value).view(np.uint32))
        assert number_code("bf16", value) == number_code("tf32", value) >> 16
        assert number_code("e5m2", value) == number_code("f16", value) >> 8
    # OCP formats: sign, exponent, mantissa; 1 is the bias, 2 one more, 3 = 1.5 x 2.
    assert [number_code("e4m3", value) for value in (1, 2, 3, -3)] == [
        0b0_0111_000,
        0b0_1000_000,
        0b0_1000_100,
        0b1_1000_100,
    ]
    assert [number_code("e2m3", value) for value in (1, 2, 3)] == [0b0_01_000, 0b0_10_000, 0b0_10_100]
    assert [number_code("e3m2", value) for value in (1, 2, 3)] == [0b0_011_00, 0b0_100_00, 0b0_100_10]
    assert [number_code("e2m1", value) for value in (0, 1, 2, 3)] == [0, 0b0_01_0, 0b0_10_0, 0b0_10_1]


def test_a_name_that_is_no_identifier_is_refused() -> None:
    with pytest.raises(DescriptorError, match=r"^emit: name .* is not an identifier"):
        emit_plan(made(BLACKWELL["f16"]), "cuda", "2")


TURNS = {
    "own": {"instruction": "m64n64k16", "dtype": "bf16", "tile": (128, 64, 64), "arch": "sm100"},
    "shared": {"instruction": "m128n256k64", "dtype": "e2m1", "tile": (128, 256, 256), "kind": "mxf4"},
    "pair": {"instruction": "m128n128k32", "dtype": "e4m3", "tile": (128, 256, 128), "cta_group": 2},
}


@need_nvcc
def test_kernels_that_take_tiles_in_turn_compile_without_a_warning(tmp_path: Path) -> None:
    texts = {f"k_{name}": emit_plan(made(one | {"accumulators": 2}), "cuda") for name, one in TURNS.items()}
    assert compiled(together(texts), "sm100", tmp_path) == ""


@each("name", TURNS)
def test_each_set_is_stored_whole_and_freed_once_its_shared_columns_are_read(name: str) -> None:
    """The loads of each branch, as they stand in the text: every element once, from its cell of the set."""
    one = made(TURNS[name] | {"accumulators": 2})
    accumulators, text = one.accumulators, emit_plan(one, "cuda")
    assert isinstance(accumulators, TensorColumns) and f"SET_STEP = {accumulators.step};" in text
    body = text[text.index("} else if (warp < 4)") : text.index("  __syncwarp();\n  together();")]
    branches = body.split("} else {") if "turn % 2 == 0" in body else [body, body]
    frees = 1 if accumulators.shared else 2
    assert f"FREES = {frees}," in text and len(branches) == 2
    fragment, scale = accumulators.readout.fragment, 32 // accumulators.readout.fragment.bits
    (m, n, _), pair = one.asked.extents, one.asked.cta_group
    for number, branch in enumerate(branches):
        begin = branch.index("set_free(free, lane)")
        assert branch.count("set_free(free, lane)") == 1
        seen, late = set(), set()
        for match in re.finditer(
            r"load\(v, set \+ (\d+)\);[\s\S]*?size_t>\(row \+ (\d+)\) \* columns \+ column \+ (\d+)", branch
        ):
            place, row, column = (int(match[i]) for i in (1, 2, 3))
            block = accumulators.firsts[column // n * one.asked.blocks[0] + row // (m // pair)]
            for i in range(accumulators.readout.values):
                cell = fragment.layout(row % (m // pair), (column + i) % n) // scale
                assert block + (cell & 0xFFFF) == (place & 0xFFFF) + i
                seen.add((row, column + i))
                if match.start() > begin:
                    late.add((place & 0xFFFF) + i + number * accumulators.step)
        across = 2 if (m, pair) == (128, 2) else 1  # half of the warps have the other half of N
        assert len(seen) * across == n * len(accumulators.firsts)
        assert not late & set(accumulators.shared) and bool(late) is bool(accumulators.shared)


def test_an_inner_loop_takes_no_tiles_in_turn() -> None:
    with pytest.raises(
        DescriptorError, match="an inner loop with two sets of accumulators is not supported; use language='cuda'"
    ):
        emit_plan(made(TURNS["own"] | {"accumulators": 2}), "ptx")
    assert "D_SET_COLUMNS 128u" in emit_plan(made(TURNS["own"] | {"accumulators": 2}), "header")
