"""How kernels of sm100 store C: their own text runs on this machine, with tensor memory, shared memory and the copy
engine as their definitions say; and nvcc takes all of it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from gemm_plans import compiled, made, need_nvcc, together

from descriptors import Plan, check_ptx
from descriptors.gemm.accumulators import TensorColumns
from descriptors.gemm.programs.emit_plan import emit_plan
from descriptors.tmem.accumulator_model import tcgen05_cells

exhaustive = pytest.mark.exhaustive
PLANS: dict[str, dict[str, Any]] = {
    "bf16": {"instruction": "m128n32k16", "dtype": "bf16", "tile": (256, 96, 64), "stages": 2, "c_dtype": "bf16"},
    "f32": {"instruction": "m128n256k16", "dtype": "bf16", "tile": (128, 256, 64), "stages": 2, "store": "tma"},
    "half of the lanes": {
        "instruction": "m64n32k16", "dtype": "bf16", "tile": (128, 64, 64), "stages": 2, "c_dtype": "e4m3",
        "arch": "sm100",
    },
    "f16": {
        "instruction": "m64n48k16", "dtype": "f16", "d_dtype": "f16", "tile": (64, 48, 64), "stages": 2, "store": "tma",
        "arch": "sm100",
    },
    "s32": {"instruction": "m128n64k32", "dtype": "s8", "tile": (128, 64, 64), "stages": 2, "store": "tma"},
    "s32 from registers": {"instruction": "m128n32k32", "dtype": "s8", "tile": (256, 64, 64), "stages": 2},
    "f16 from registers": {
        "instruction": "m64n32k16", "dtype": "f16", "d_dtype": "f16", "tile": (64, 32, 64), "arch": "sm100",
    },
    "pair": {
        "instruction": "m256n64k32", "dtype": "e4m3", "tile": (512, 128, 128), "stages": 2, "cta_group": 2,
        "c_dtype": "f16",
    },
    "pair of 128": {
        "instruction": "m128n64k16", "dtype": "bf16", "tile": (128, 128, 64), "stages": 2, "cta_group": 2,
        "c_dtype": "e5m2",
    },
    "turns": {
        "instruction": "m128n48k16", "dtype": "bf16", "tile": (128, 48, 64), "stages": 2, "accumulators": 2,
        "c_dtype": "bf16",
    },
    "shared columns": {
        "instruction": "m128n256k64", "dtype": "e2m1", "tile": (128, 256, 256), "kind": "mxf4", "accumulators": 2,
        "c_dtype": "bf16",
    },
    "parts": {"instruction": "m128n32k16", "dtype": "bf16", "tile": (128, 64, 64), "stages": 2, "splits": 3},
    "parts in turns": {
        "instruction": "m128n16k16", "dtype": "bf16", "tile": (128, 16, 64), "stages": 2, "accumulators": 2,
        "splits": 2, "c_dtype": "f16",
    },
    "terms": {
        "instruction": "m128n32k16", "dtype": "bf16", "tile": (128, 64, 64), "stages": 2, "store": "tma",
        "terms": ("bias", "row-scales", "alpha-beta"),
    },
    "terms from registers": {
        "instruction": "m64n16k16", "dtype": "bf16", "tile": (128, 32, 64), "stages": 2, "arch": "sm100",
        "terms": ("bias", "alpha-beta"),
    },
    "terms of a pair in turns": {
        "instruction": "m128n64k16", "dtype": "bf16", "tile": (128, 64, 64), "stages": 2, "cta_group": 2,
        "accumulators": 2, "store": "tma", "terms": ("row-scales",),
    },
    "a convolution in turns": {
        "instruction": "m128n64k16", "dtype": "bf16", "tile": (128, 64, 64), "stages": 2, "accumulators": 2,
        "c_dtype": "bf16", "convolution": {"activations": (1, 17, 19, 72), "filters": (72, 3, 3), "padding": 1},
    },
    "a convolution in turns from registers": {
        "instruction": "m64n32k16", "dtype": "bf16", "tile": (128, 32, 64), "stages": 2, "accumulators": 2,
        "arch": "sm100", "convolution": {"activations": (2, 13, 11, 72), "filters": (51, 3, 3), "padding": 1},
    },
    "a convolution": {
        "instruction": "m128n64k16", "dtype": "bf16", "tile": (128, 64, 128), "stages": 2, "splits": 2,
        "c_dtype": "bf16", "terms": ("bias",),
        "convolution": {"activations": (1, 9, 9, 72), "filters": (40, 3, 3), "padding": 1},
    },
}  # fmt: skip


@need_nvcc
def test_kernels_and_hosts_compile_without_a_warning(tmp_path: Path) -> None:
    texts = {f"k_{name.replace(' ', '_')}": emit_plan(made(one), "cuda") for name, one in PLANS.items()}
    assert compiled(together(texts), "sm100", tmp_path, "-c") == ""


@exhaustive  # the checker reads programs of the same parts in test_programs_checked
@need_nvcc
@pytest.mark.parametrize("name", ["parts in turns", "half of the lanes", "pair of 128"])
def test_our_checker_finds_nothing(name: str, tmp_path: Path) -> None:
    one = made(PLANS[name])
    assert compiled(emit_plan(one, "cuda"), "sm100", tmp_path, "-ptx") == ""
    boxes = [f"{side.tma.box[0]}x{side.tma.box[1]}x{side.derivation.element.name}" for side in (one.a, one.b)]
    report = check_ptx((tmp_path / "a.out").read_text(), tensor_maps=dict(zip("01", boxes, strict=True)))
    assert (report.findings, report.unresolved) == ((), ())


@need_nvcc
def test_lanes_that_no_accumulator_has_must_not_be_stored(tmp_path: Path) -> None:
    text = emit_plan(made(PLANS["f16"]), "cuda")
    assert "if (lane < PIECE_ROWS)" in text
    assert compiled(text.replace("if (lane < PIECE_ROWS)", ""), "sm100", tmp_path, "-ptx") == ""
    report = check_ptx((tmp_path / "a.out").read_text())
    assert {one.rule.name for one in report.errors} == {"tcgen05-unwritten"} or "lanes 16 to 31" in str(report), report


# The text run here ----------------------------------------------------------------------------------------------------

HARNESS = r"""
#include <ucontext.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>
#define __device__
#define __forceinline__ inline
#define __grid_constant__
struct Index { uint32_t x, y, z; };
struct Written { uint32_t at, of[4]; };
struct Box { uint32_t from; int column, row, part; };

// The lanes take turns on one thread of this machine: each runs until it waits at a barrier, and the order of the lanes
// is another in every round, so that what a barrier is missing for is seen.
struct Lane {
  ucontext_t context;
  bool ended = false;
  Index thread, block;
  uint32_t tile, turn, part;
  std::vector<Written> written;
  std::deque<Box> boxes;
  std::vector<char> stack = std::vector<char>(1 << 18);
};
static std::vector<Lane> lanes(128);
static Lane* self;
static ucontext_t scheduler;
#define threadIdx self->thread
#define blockIdx self->block
#define tile_now self->tile
#define turn_now self->turn
#define part_now self->part
struct Barrier {
  uint32_t lanes, arrived = 0, phase = 0;
  void wait() {
    const uint32_t before = phase;
    if (++arrived == lanes) arrived = 0, ++phase;
    while (phase == before) swapcontext(&self->context, &scheduler);
  }
};
static Index gridDim;
struct CUtensorMap {};
static float __uint_as_float(uint32_t bits) { float made; std::memcpy(&made, &bits, 4); return made; }
static uint32_t __float_as_uint(float value) { uint32_t made; std::memcpy(&made, &value, 4); return made; }
@constants@
constexpr uint32_t kRows = @rows@, kColumns = @columns@, kSets = @sets@, kParts = @parts@;
constexpr uint32_t kBytesOf = @bytes@, kPieceRows = @piece_rows@, kLine = @line@, kXor = @xor@;
static uint32_t shift;  // of every number that tensor memory holds
static Barrier barriers[4] = {{32}, {32}, {32}, {32}}, all = {128};
static void __syncwarp() { barriers[threadIdx.x / 32].wait(); }

// Tensor memory: the number of the element that a cell has, or none, of the tile and the set that is read.
static std::vector<int64_t> cells;
static uint32_t held(uint32_t lane, uint32_t column) {
  const int64_t local = column < 1024 ? cells[lane * 1024 + column] : -1;
  if (local < 0) return 0xdeadbeef;
  const uint32_t down = (kRows + TILE_M - 1) / TILE_M, across = (kColumns + TILE_N - 1) / TILE_N;
  const uint32_t own = TILE_M / CTA_GROUP;
  const uint64_t row = tile_now % down * TILE_M + blockIdx.x % CTA_GROUP * own + local / TILE_N;
  const uint64_t column_ = tile_now / down % across * TILE_N + local % TILE_N;
  const uint32_t value = (row * kColumns + column_ + part_now) >> shift;
  return @cell@;
}
template <size_t N>
static void load(uint32_t (&v)[N], uint32_t from) {
  for (uint32_t i = 0; i < N; ++i)
    v[i] = held((from >> 16) + threadIdx.x % 32, (from & 0xffff) + i - turn_now % kSets * kStepOfSets);
}

// Shared memory as threads and as the copy engine see it: it sees what they wrote once they have said so.
static std::vector<uint8_t> taken(1 << 18);
static void put(uint32_t at, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  self->written.push_back({at, {a, b, c, d}});
}
static void published() {
  for (const Written& one : self->written) std::memcpy(&taken[one.at], one.of, 16);
  self->written.clear();
}

// C, and how often each element is stored. Boxes are taken as late as they may be.
static std::vector<uint32_t> C(size_t{kParts} * kRows * kColumns), count(C.size());
static void take(size_t left) {
  std::deque<Box>& boxes = self->boxes;
  for (; boxes.size() > left; boxes.pop_front()) {
    const Box one = boxes.front();
    for (uint32_t r = 0; r < kPieceRows; ++r)
      for (uint32_t c = 0; c < kLine / kBytesOf; ++c) {
        const uint64_t row = one.row + r, column = one.column + c;
        if (row >= kRows || column >= kColumns) continue;
        const uint32_t at = one.from + r * kLine + c * kBytesOf;
        const size_t to = (one.part * size_t{kRows} + row) * kColumns + column;
        C[to] = 0;
        std::memcpy(&C[to], &taken[at ^ ((at >> 7 & kXor) << 4)], kBytesOf);
        ++count[to];
      }
  }
}
static void store_box(const CUtensorMap*, uint32_t from, int column, int row, int part = 0) {
  self->boxes.push_back({from, column, row, part});
}
[[maybe_unused]] static uint32_t pair(float low, float high) {
  const uint32_t bits = kBytesOf * 8, mask = (1u << bits) - 1;
  return (static_cast<uint32_t>(low) & mask) | (static_cast<uint32_t>(high) & mask) << bits;
}
template <class T>
static void direct(uint32_t* base, size_t at, T value) {
  std::memcpy(&base[at], &value, sizeof(T));
  ++count[at];
}
[[maybe_unused]] static uint32_t __ushort_as_half(uint16_t bits) { return bits; }
static void barrier_wait(uint32_t, uint32_t) {}
static void fence_after() {}
static void set_free(uint32_t, uint32_t) {}

@functions@

static void storing() {
  [[maybe_unused]] static CUtensorMap map_c;
  [[maybe_unused]] uint32_t* c = C.data();
  const uint32_t smem = 0, tmem = 0, warp = threadIdx.x / 32, lane = threadIdx.x % 32, rank = blockIdx.x % CTA_GROUP;
  (void)smem, (void)tmem, (void)lane, (void)rank;
  constexpr uint32_t rows = kRows, columns = kColumns, depth = kParts * TILE_K;
  (void)rows, (void)columns, (void)depth;
@terms@
@tile@
@body@
}

static void run_lane() {
  for (blockIdx.z = 0; blockIdx.z < gridDim.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
        storing();
        // Shared memory is another CTA's now.
        self->boxes.clear();
        self->written.clear();
        all.wait();
      }
  self->ended = true;
}

int main(int, char** arguments) {
  shift = std::atoi(arguments[1]);
  cells.resize(size_t{128} * 1024);
  std::fread(cells.data(), 8, cells.size(), stdin);
  gridDim = {@grid@};
  for (Lane& one : lanes) {
    one.thread = {static_cast<uint32_t>(&one - lanes.data()), 0, 0};
    getcontext(&one.context);
    one.context.uc_stack.ss_sp = one.stack.data(), one.context.uc_stack.ss_size = one.stack.size();
    one.context.uc_link = &scheduler;
    makecontext(&one.context, run_lane, 0);
  }
  size_t left = lanes.size();
  for (size_t round = 0; left > 0; ++round)
    for (size_t i = 0; i < lanes.size(); ++i) {
      self = &lanes[round % 2 ? lanes.size() - 1 - i : i];
      if (self->ended) continue;
      swapcontext(&scheduler, &self->context);
      left -= self->ended;
    }
  std::fwrite(C.data(), 4, C.size(), stdout);
  std::fwrite(count.data(), 4, count.size(), stdout);
}
"""

ASM = {
    r'asm volatile\("cp\.async\.bulk\.wait_group\.read (\d+);" ::: "memory"\)': r"take(\1)",
    r'asm volatile\("fence\.proxy\.async\.shared::cta;" ::: "memory"\)': "published()",
    r'asm volatile\(\s*"st\.shared\.v4\.b32 \[%0\], \{%1, %2, %3, %4\};"\s*::(.*?) : "memory"\);': None,
}


def replaced(text: str) -> str:
    """The text with calls of the harness for its assembly; none is left."""
    for pattern, by in ASM.items():
        if by is not None:
            text = re.sub(pattern, by, text)
            continue
        text = re.sub(
            pattern,
            lambda found: (
                "put(" + re.sub(r'"r"\((.*)\)$', r"\1", re.sub(r'\),\s*"r"\(', ", ", found[1].strip())) + ");"
            ),
            text,
            flags=re.DOTALL,
        )
    return re.sub(r"c\[(static_cast<size_t>\(.*?)\] = (.*);", r"direct(c, \1, \2);", text)


def function(text: str, name: str) -> str:
    found = re.search(rf"^(template [^\n]*\n)?__device__ [^\n]* {name}\(.*?^\}}\n", text, re.DOTALL | re.MULTILINE)
    return found[0] if found else ""


def built(one: Plan, text: str, folder: Path, extents: tuple[int, int] | None = None) -> Callable[[int], Any]:
    """Compile the text of a plan, and return a function that runs it.

    The function takes a number of bits. It returns C, where each place has the number of its element, shifted right by
    that many bits, and how often each place is written.
    """
    held, epilogue, loop = one.accumulators, one.epilogue, one.asked
    assert isinstance(held, TensorColumns)
    m, n = extents or (2 * loop.tile[0], 2 * loop.tile[1])
    turns, parts, staged = held.sets > 1, epilogue.splits, epilogue.staged
    body = text[text.index("} else if (warp < 4) {") : text.index("  __syncwarp();\n  together();")]
    body = replaced(body[body.index("\n") : body.rindex("}")])
    if turns:
        part = "tile / (tiles_m * tiles_n)" if parts > 1 else "0"
        body = re.sub(r"barrier_wait\(smem \+ DONE.*", f"tile_now = tile, turn_now = turn, part_now = {part};", body)
        setup = re.search(r"  const uint32_t tiles_m = .*?, k_tiles = .*?;\n", text, re.DOTALL)
        assert setup is not None
        tile = f"{setup[0]}  (void)k_tiles, (void)tiles_n;"
    else:
        tile = (
            "  const uint32_t tile_m = blockIdx.x / CTA_GROUP, tile_n = blockIdx.y, part = blockIdx.z;\n"
            "  tile_now = tile_m + tile_n * ((kRows + TILE_M - 1) / TILE_M), turn_now = 0, part_now = part;"
        )
    constants = re.findall(r"^constexpr (?:int|bool) .*|^using TypeC.*|^using Register.*", text, re.MULTILINE)
    constants = [re.sub(r"__half|__nv_\w+", "float", line) for line in constants]
    struct = re.search(r"^struct Terms \{.*?^\};\n", text, re.DOTALL | re.MULTILINE)
    names = ("piece_at", "word", "finished", "finish", "store_rows")
    functions = "\n".join([struct[0] if struct else "", *(replaced(function(text, name)) for name in names)])
    down, across = -(-m // loop.tile[0]), -(-n // loop.tile[1])
    grid = f"3 * CTA_GROUP, 1, 1" if turns else f"{down} * CTA_GROUP, {across}, {parts}"  # noqa: F541 - both are texts of C
    terms = (
        "  static float scales[kRows], bias[kColumns];\n"
        "  for (uint32_t i = 0; i < kRows; ++i) scales[i] = 1 + i % 3;\n"
        "  for (uint32_t i = 0; i < kColumns; ++i) bias[i] = i % 5;\n"
        "  static std::vector<TypeC> before(size_t{kRows} * kColumns);\n"
        "  for (size_t i = 0; i < before.size(); ++i) before[i] = TypeC(i % 7);\n"
        "  all.wait();\n  Terms terms;\n  terms.m = kRows, terms.n = kColumns;\n"
    )
    given = {"row-scales": "terms.row_scales = scales;", "bias": "terms.bias = bias;",
             "alpha-beta": "terms.alpha = 2, terms.beta = 3, terms.before = before.data();"}  # fmt: skip
    terms += "  " + " ".join(given[name] for name in epilogue.terms) + "\n"
    if not epilogue.terms or parts > 1:
        terms = ""
    cell = {"f32": "__float_as_uint(static_cast<float>(value))", "s32": "value", "f16": "value & 0xffff"}[loop.d]
    size = 4 if staged is None else staged.row_bytes // staged.columns
    places = {
        "constants": "\n".join(constants) + ("" if turns else "\nconstexpr int SET_STEP = 0;")
        + "\nconstexpr uint32_t kStepOfSets = SET_STEP;",
        "rows": m, "columns": n, "sets": held.sets, "parts": parts, "bytes": size,
        "piece_rows": staged.rows if staged else 0, "line": staged.row_bytes if staged else 16,
        "xor": 0 if staged is None else {128: 7, 64: 3, 32: 1, 16: 0}[staged.row_bytes],
        "cell": cell, "functions": functions, "terms": terms, "tile": tile, "body": body, "grid": grid,
    }  # fmt: skip
    unit = HARNESS
    for name, value in places.items():
        unit = unit.replace(f"@{name}@", str(value))
    (folder / "store.cpp").write_text(unit)
    done = subprocess.run(
        ["g++", "-std=c++17", "-O1", "-w", "-o", "store", "store.cpp"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:3000]
    table = np.full((128, 1024), -1, dtype=np.int64)
    rows, columns = loop.extents[0] // loop.cta_group, loop.extents[1]
    at = tcgen05_cells(loop.extents[0], columns, loop.cta_group)
    for index, first in enumerate(held.firsts):
        i, j = index % loop.blocks[0], index // loop.blocks[0]
        down_, across_ = np.ogrid[:rows, :columns]
        table[at[..., 0], first + at[..., 1]] = (i * rows + down_) * loop.tile[1] + j * columns + across_

    def run(shift: int) -> Any:
        command = [folder / "store", str(shift)]
        done = subprocess.run(command, input=table.tobytes(), capture_output=True, check=True, cwd=folder)
        c, count = np.frombuffer(done.stdout, "<u4").reshape(2, parts, m, n)
        return c, count

    return run


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
@each("name", PLANS)
def test_every_element_goes_where_it_belongs(name: str, tmp_path: Path) -> None:
    one = made(PLANS[name])
    epilogue, text = one.epilogue, emit_plan(one, "cuda")
    extents = None
    if one.implicit is not None:
        extents = (one.implicit.convolution.pixels, one.implicit.convolution.filters)
    else:  # tiles end beyond C, whose rows are whole 16 bytes where boxes store it
        extents = (2 * one.asked.tile[0] - 5, 2 * one.asked.tile[1] - (13 if epilogue.staged is None else 16))
    size = 4 if epilogue.staged is None else epilogue.staged.row_bytes // epilogue.staged.columns
    run = built(one, text, tmp_path, extents)
    for shift in range(0, 18, 8 * size) if size < 4 else [0]:
        c, count = run(shift)
        assert (count == 1).all(), (count.min(), count.max())
        parts, m, n = c.shape
        wanted = np.arange(m * n).reshape(1, m, n) + np.arange(parts).reshape(parts, 1, 1) >> shift
        if epilogue.terms and parts == 1:
            row, column = np.ogrid[:m, :n]
            wanted = wanted.astype(np.float64)
            wanted *= 1 + row % 3 if "row-scales" in epilogue.terms else 1
            if "alpha-beta" in epilogue.terms:
                wanted = 2 * wanted + 3 * (np.arange(m * n).reshape(1, m, n) % 7)
            wanted = wanted + (column % 5 if "bias" in epilogue.terms else 0)
        if size == 4 and one.asked.d == "f32":
            assert (c.view("<f4") == wanted).all()
        else:
            bits = 16 if one.asked.d == "f16" else 8 * size
            assert (c == (wanted.astype(np.int64) & (1 << bits) - 1)).all()


SPOILT = {
    "a piece is not waited for": ("f32", "wait_group.read 1", "wait_group.read 2"),
    "no fence": ("f32", 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");\n    __sync', "__sync"),
    "no wait at the end": ("f32", "wait_group.read 0", "wait_group.read 1"),
    "another swizzle": ("f32", "at & 0x380u", "at & 0x180u"),
    "one piece for all": ("turns", "slot ^= 1", "slot ^= 0"),
    "a place for each tile": ("turns", "const uint32_t free =", "slot = 0;\n      const uint32_t free ="),
    "warps in each other's place": ("bf16", "warp * (2 * PIECE_BYTES)", "warp * PIECE_BYTES"),
    "all lanes of a half": ("half of the lanes", "if (lane < PIECE_ROWS)", ""),
}  # fmt: skip


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
@each("name", SPOILT)
def test_a_text_that_is_spoilt_gives_another_c(name: str, tmp_path: Path) -> None:
    which, before, after = SPOILT[name]
    one = made(PLANS[which])
    text = emit_plan(one, "cuda")
    assert before in text
    c, count = built(one, text.replace(before, after), tmp_path)(0)
    m, n = c.shape[1:]
    size = one.epilogue.staged.row_bytes // one.epilogue.staged.columns  # type: ignore[union-attr]
    wanted = np.arange(m * n).reshape(1, m, n)
    right = c.view("<f4") == wanted if size == 4 else c == (wanted & (1 << 8 * size) - 1)
    assert not right.all() or not (count == 1).all()
