"""Programs of ``mma.sync``: their numbers are the plan's, NVIDIA's compiler takes them, our checker finds nothing."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import pytest
from each import each
from gemm_plans import need_nvcc

from descriptors import DescriptorError, check_ptx, emit_plan, mma_plan
from descriptors.gemm.mma_operand import MmaOperand
from descriptors.smem.tma.tma_plan import TmaPlan
from layoutalg import offsets
from probes.mma_loops import SPOILT, drawn, on_hopper, twin

PLANS = [*drawn(8, 9), *drawn(3, 9, engine=True)]
#: One of each target and way: copies by threads and by the engine, scale factors, elements that ldmatrix widens.
COMPILED: dict[str, dict[str, Any]] = {
    "80": {"instruction": "mma.m16n8k16", "dtype": "bf16", "tile": (64, 96, 48), "b_major": "MN", "c_dtype": "f16"},
    "80 bytes": {"instruction": "mma.m16n8k32", "dtype": "s8", "tile": (32, 32, 64), "a_major": "MN", "stages": 2},
    "89": {"instruction": "mma.m16n8k32", "dtype": "e4m3", "b_dtype": "e5m2", "tile": (64, 64, 64)},
    "120a": {"instruction": "mma.m16n8k16", "dtype": "f16", "d_dtype": "f16", "tile": (64, 64, 64), "arch": "sm120"},
    "120a nvf4": {"instruction": "mma.m16n8k64", "dtype": "e2m1", "tile": (64, 64, 128), "scale_vector": 16},
    "120a mixed": {
        "instruction": "mma.m16n8k32", "dtype": "e4m3", "b_dtype": "e2m1", "tile": (64, 64, 128), "scale_vector": 32,
    },
    "121a": {"instruction": "mma.m16n8k32", "dtype": "e3m2", "tile": (32, 32, 128), "arch": "sm121"},
}  # fmt: skip
#: Copies by threads and by the copy engine; the others run with the exhaustive tests.
FIRST = ("80", "120a", "120a mixed")


def function(text: str, name: str) -> Callable[..., int]:
    """A constexpr function of the text, as Python: integers are not negative, so that ``/`` is ``//``."""
    match = re.search(rf"constexpr \w+ {name}\(([^)]*)\) \{{(.*?)\}}\n", text, re.DOTALL)
    assert match is not None, name
    names = [part.split()[-1] for part in match[1].split(", ")]
    at = re.search(r"const uint32_t at = (.*?);", match[2])
    (said,) = re.findall(r"return (.*?);", match[2])
    plain, swizzled = (
        re.sub(r"\b(0x[0-9a-f]+|\d+)u\b", r"\1", one).replace("/", "//") for one in (at[1] if at else "0", said)
    )

    def called(*given: int) -> int:
        known = dict(zip(names, given, strict=True))
        return int(eval(swizzled, known | {"at": eval(plain, known)}))  # noqa: S307  # our own text

    return called


def number(text: str, name: str) -> int:
    match = re.search(rf"\b{name} = (\d+)", text)
    assert match is not None, name
    return int(match[1])


@each("asked", PLANS, ids=str)
def test_who_copies_loads_and_stores_what_is_the_plans(asked: dict[str, Any]) -> None:
    one = mma_plan(**asked, verify=False)
    text = emit_plan(one, "cuda")
    for side in (one.a, one.b):
        low = side.matrix.lower()
        table, byte = offsets(side.layout) * side.bytes, function(text, f"{low}_byte")
        assert all(byte(mn, k) == table[mn, k] for mn in range(0, side.tile[0], 3) for k in range(side.tile[1]))
        assert number(text, f"{side.matrix}_BASE") == side.base
        held = side.load_elements("D" if side.by_element else "S")
        values = range(held.shape[1]) if side.by_element else [None]
        pair = [function(text, f"{low}_load_{name}") for name in ("mn", "k")]
        for thread in range(one.asked.threads):
            for value in values:
                given = (thread,) if value is None else (thread, value)
                mn, k = (part(*given) for part in pair)
                assert mn + side.tile[0] * k == held[thread, value or 0, 0, 0]
        _copies(text, side)
    places = one.store_elements[:, :4, 0, 0]
    row, column = (function(text, f"d_{name}") for name in ("row", "column"))
    m = one.asked.tile[0]
    assert all(row(t, v) + m * column(t, v) == places[t, v] for t in range(one.asked.threads) for v in range(4))


def _copies(text: str, side: MmaOperand) -> None:
    low = side.matrix.lower()
    if isinstance(side.fill, TmaPlan):
        boxes = [function(text, f"{low}_box_{name}") for name in ("mn", "k", "at")]
        if "all[]" not in text:
            said = [tuple(one(i) for one in boxes) for i in range(len(side.fill.boxes))]
            assert said == [(*box.origin, box.offset_bytes) for box in side.fill.boxes]
        return
    first, tile = side.fill_elements, side.tile[0]
    mn, k = (function(text, f"{low}_copy_{name}") for name in ("mn", "k"))
    apart = [number(text, f"{side.matrix}_APART_{name}") for name in ("MN", "K")]
    for thread, i, j in (
        (t, i, j) for t in range(len(first)) for i in range(first.shape[1]) for j in range(first.shape[2])
    ):
        assert mn(thread) + i * apart[0] + tile * (k(thread) + j * apart[1]) == first[thread, i, j]


@each("asked", PLANS, ids=str)
def test_every_program_can_be_spoilt_in_one_place(asked: dict[str, Any]) -> None:
    text = emit_plan(mma_plan(**asked, verify=False), "cuda")
    assert len({on_hopper(text), *(twin(on_hopper(text), kind) for kind in SPOILT)}) == 1 + len(SPOILT)
    assert max(map(len, text.splitlines())) <= 130


def _compiled(text: str, target: str, folder: Path, *forms: str) -> str:
    (folder / "a.cu").write_text(text)
    done = subprocess.run(
        ["nvcc", *forms, "-std=c++17", f"-arch=sm_{target}", "-Werror", "all-warnings", "-o", "a.out", "a.cu"],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    return done.stdout + done.stderr


@need_nvcc
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FIRST else pytest.mark.exhaustive) for name in COMPILED]
)
def test_nvidias_compiler_takes_it_and_the_checker_finds_nothing(name: str, tmp_path: Path) -> None:
    text = emit_plan(mma_plan(**COMPILED[name], verify=False), "cuda")
    target = name.split()[0]
    assert _compiled(text, target, tmp_path, "-cubin", "-keep") == ""
    one = mma_plan(**COMPILED[name], verify=False)
    sides = [side.fill for side in (one.a, one.b) if isinstance(side.fill, TmaPlan)]
    # What the copy engine widens has no notation of its own: those copies stay undecided.
    known = all(side.element.bits == side.element.storage_bits for side in sides)
    boxes = {str(i): f"{side.box[0]}x{side.box[1]}x{side.element}" for i, side in enumerate(sides) if known}
    report = check_ptx((tmp_path / "a.ptx").read_text(), tensor_maps=boxes)
    assert not report.findings
    assert report.multiplications and report.multiplications % prod(one.asked.blocks) == 0  # steps may be unrolled
    # Where registers come from is followed while nothing is computed of them, and not through tensor copies.
    followed = [part.verdict for part in report.properties if part.property != "fragments"]
    assert set(followed) <= {"clean", "absent", *(() if known else ("incomplete",))}


def test_only_a_kernel_is_written_of_warps() -> None:
    one = mma_plan("mma.m16n8k16", "bf16", tile=(32, 32, 32), verify=False)
    with pytest.raises(DescriptorError, match=r"a plan of mma.sync cannot be written as ptx; supported: cuda"):
        emit_plan(one, "ptx")
    with pytest.raises(DescriptorError, match=r"name .* is not an identifier"):
        emit_plan(one, "cuda", "a b")


def test_a_program_of_sm120_says_that_nobody_measured_it() -> None:
    one = mma_plan("mma.m16n8k64", "e2m1", tile=(32, 32, 128), verify=False)
    known = "// known: documented, not measured on a GPU of compute capability 12"
    assert emit_plan(one, "cuda").splitlines()[1] == known
    assert "known:" not in emit_plan(mma_plan("mma.m16n8k16", "bf16", tile=(32, 32, 32), verify=False), "cuda")
