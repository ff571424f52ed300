"""The benchmark of emitted programs without a GPU: which products it times, how it is built, what it writes."""

from __future__ import annotations

import argparse
import json
import lzma
import os
import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from statistics import geometric_mean
from types import ModuleType
from typing import Any

import pytest
from each import each
from places import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "lib"))
try:
    from bench_products import FITTED, STEP, drawn
finally:
    sys.path.pop(0)

H200 = ROOT / "tests" / "vectors" / "hopper" / "h200"
#: The products of the times that the constants of the time model were fitted to.
FIT = {
    tuple(json.loads(line)["problem"])
    for line in lzma.decompress((H200 / "tile_times.jsonl.xz").read_bytes()).decode().splitlines()[1:]
}


@pytest.fixture(name="bench")
def _bench() -> ModuleType:
    """The script as a module."""
    loader = SourceFileLoader("bench_gemm", str(ROOT / "scripts" / "bench_gemm"))
    spec = spec_from_loader("bench_gemm", loader)
    assert spec is not None
    module, path = module_from_spec(spec), list(sys.path)
    try:
        loader.exec_module(module)
    finally:
        sys.path[:] = path
    return module


def test_the_default_products_are_exactly_those_of_the_fit() -> None:
    assert set(FITTED) == FIT and len(FITTED) == 17


@each("step", sorted(STEP.values()))
def test_drawn_products_are_other_ones_of_every_form(step: int) -> None:
    for seed in range(50):
        found = drawn(seed, 25, step)
        assert len(set(found)) == 25 and not set(found) & FIT
        assert all(extent % step == 0 for product in found for extent in product)
        assert all(m == n == k for m, n, k in found[::5])
        for tall, wide, deep in zip(found[2::5], found[3::5], found[4::5], strict=True):
            assert tall[0] > 2 * tall[1] and wide[1] > 2 * wide[0] and deep[2] > 2 * max(deep[:2])


def test_some_drawn_rows_begin_off_128_bytes() -> None:
    assert any(extent % 64 for product in drawn(20261123) for extent in product)


def _fake_nvcc(folder: Path, program: str) -> None:
    """Put an nvcc into the folder whose programs are this shell script."""
    folder.mkdir()
    nvcc = folder / "nvcc"
    copies = f"while [ $# -gt 0 ]; do [ $1 = -o ] && to=$2; shift; done\ncp {folder}/program $to\n"
    for path, text in ((nvcc, copies), (folder / "program", program)):
        path.write_text(f"#!/bin/sh\n{text}")
        path.chmod(0o755)


def test_a_program_that_fails_has_no_row_and_the_others_are_written(
    bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    row = (
        '{"m": %s, "n": %s, "k": %s, "us": 2.2, "tflops": 121.2, "cublas_f32_tflops": 120.0, '
        '"cublas_tflops": 101.0, "difference": 0}'
    )
    _fake_nvcc(tmp_path / "bin", f"[ $2 = 256 ] && exit 3\nprintf '{row}' $2 $3 $4\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(bench, "Device", lambda: None)
    monkeypatch.setattr(bench, "provenance", lambda device, command: {"gpu": "none", "command": command})
    monkeypatch.setattr(bench, "cublas_path", lambda: "/none/libcublas.so.13")
    path = tmp_path / "found" / "rows.json"
    problems = ["512x512x512", "256x512x512"]
    monkeypatch.setattr(
        sys, "argv", ["bench_gemm", "--problems", *problems, "--dtypes", "bf16", "e4m3", "--json", str(path)]
    )
    assert bench.main() == 2
    record = json.loads(path.read_text(encoding="utf-8"))
    found = [(one["dtype"], one["c"], one["m"], one["us"], one["expected_us"] > 0) for one in record["rows"]]
    assert found == [(*types, 512, 2.2, True) for types in (("bf16", "f32"), ("bf16", "bf16"), ("e4m3", "bf16"))]
    assert capfd.readouterr().err.count("256x512x512") == 3
    shown = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "bench_gemm"), "--show", str(path)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "e4m3 into bf16, all: 1 products, 120% of cuBLAS" in shown
    assert "bf16 into f32, all: 1 products, 101% of cuBLAS" in shown


def test_what_the_readme_says_of_cublas_is_what_the_records_hold(bench: ModuleType) -> None:
    page = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    (table,) = re.findall(r"We measured the programs that.*?`scripts/bench_gemm", page)
    wanted = []
    for gpu, name, dtype, c in (
        ("h200", "bench_gemm_drawn", "bf16", "f32"),
        ("h200", "bench_gemm_drawn", "bf16", "bf16"),
        ("h200", "bench_gemm_drawn", "e4m3", "bf16"),
        ("h200", "bench_gemm", "bf16", "f32"),
        ("h100", "bench_gemm", "bf16", "f32"),
    ):
        record = json.loads((H200.parent / gpu / f"{name}.json").read_text(encoding="utf-8"))
        rows = [row for row in record["rows"] if (bench.dtype_of(row), row["c"]) == (dtype, c)]
        assert len(rows) == (20 if name.endswith("drawn") else 17)
        shares = sorted(map(bench.ratio, rows))
        wanted.append((f"{geometric_mean(shares):.0%}", f"{shares[0]:.0%}", f"{shares[-1]:.0%}"))
    figures = re.findall(r"(\d+) % \((\d+) to (\d+) %\)", table)
    assert [tuple(f"{number}%" for number in row) for row in figures] == wanted


def test_no_recorded_product_of_the_drawn_ones_was_in_the_fit() -> None:
    record = json.loads((H200 / "bench_gemm_drawn.json").read_text(encoding="utf-8"))
    for dtype, step in STEP.items():
        found = {(row["m"], row["n"], row["k"]) for row in record["rows"] if row["dtype"] == dtype}
        assert found == set(drawn(20261123, step=step)) and not found & FIT


def test_each_type_is_timed_with_its_types_of_c(bench: ModuleType) -> None:
    given = argparse.Namespace(dtypes=["bf16", "e4m3"], drawn=7, problems=None)
    wanted: list[Any] = bench.products(given)
    assert len(wanted) == 60 and {(one.dtype, one.c) for one in wanted} == {
        ("bf16", "f32"), ("bf16", "bf16"), ("e4m3", "bf16"),
    }  # fmt: skip
    assert [one.problem for one in wanted if one.dtype == "e4m3"] == drawn(7, step=16)
