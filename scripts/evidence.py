#!/usr/bin/env python3
"""Counts what the recorded evidence holds: measurements on GPUs, divergences, CuTe IR's tests, conformance cases.

python3 scripts/evidence.py
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402

VECTORS = ROOT / "tests" / "vectors"


def record(gpu: str, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((VECTORS / "hopper" / gpu / f"{name}.json").read_text(encoding="utf-8"))
    return content


def measurements(gpu: str) -> list[str]:
    """One line per measurement of one GPU, with the date of its record."""
    lines = []
    reads = VECTORS / "hopper" / gpu / "wgmma_reads.json"
    if reads.exists():
        d = record(gpu, "wgmma_reads")
        differ = d["words_that_differ_from_the_model"]
        lines.append(
            f"{d['date']}  wgmma: {d['words']:,} descriptor words, {d['elements']:,} elements read; "
            f"{differ} words differ"
        )
    else:
        d = record(gpu, "wgmma_repeat")
        differ = d["words_read_otherwise_than_recorded"]
        lines.append(f"{d['date']}  wgmma: {d['words']:,} descriptor words read again; {differ} differ from the record")
    d = record(gpu, "gemm_derived")
    lines.append(
        f"{d['date']}  products from derived layouts and words: {d['products']:,}; {len(d['wrong_products'])} wrong; "
        f"{d['controls_run']:,} faulty descriptors, {len(d['controls_that_passed'])} undetected"
    )
    d = record(gpu, "main_loops")
    rows, twins = d["programs"], [row for row in d["programs"] if "twin" in row]
    lines.append(
        f"{d['date']}  programs emitted from plans: {len(rows):,}, "
        f"{sum(row['elements'] for row in rows):,} elements of products; "
        f"{sum(not row['exact'] for row in rows)} wrong; {len(twins)} faulty ones, "
        f"{sum(not row['twin_fails'] for row in twins)} undetected"
    )
    d = record(gpu, "tma_derived")
    lines.append(f"{d['date']}  TMA plans: {d['tiles']:,} tiles, {d['elements']:,} elements; {d['failed']} tiles wrong")
    d = record(gpu, "fragments")
    differ = d["cases_that_differ_from_the_rules"]
    lines.append(
        f"{d['date']}  register fragments: {d['cases']:,}, {d['entries']:,} entries; {differ} differ from the rules"
    )
    d = record(gpu, "bank_wavefronts")
    differ = d["patterns_that_differ_from_the_model"]
    lines.append(f"{d['date']}  bank model: {d['patterns']:,} access patterns under ncu; {differ} differ")
    if (VECTORS / "hopper" / gpu / "matrix_wavefronts.json").exists():
        d = record(gpu, "matrix_wavefronts")
        differ = d["patterns_that_differ_from_the_model"]
        lines.append(
            f"{d['date']}  bank model of ldmatrix and stmatrix: {d['patterns']:,} patterns under ncu; {differ} differ"
        )
    return lines


def main() -> None:
    for directory in sorted((VECTORS / "hopper").iterdir(), reverse=True):
        if not directory.is_dir():
            continue
        d = record(directory.name, "gemm_derived")
        print(f"{d['gpu']}, driver {d['driver']}")
        for line in measurements(directory.name):
            print(f"  {line}")
    divergences = json.loads((VECTORS / "divergences.json").read_text(encoding="utf-8"))
    conformance = json.loads((VECTORS / "conformance.json").read_text(encoding="utf-8"))
    rows, cases = divergences["rows"], conformance["cases"]
    refused = sum("refused" in case for case in cases)
    text = sum(all(one.startswith(("agrees", "not ")) for one in row["peers"].values()) for row in rows)
    wrong = sum(any("wrong: " in one for one in row["peers"].values()) for row in rows)
    print(
        f"docs/divergences.md: {len(rows)} rows of inputs on which implementations of the algebra differ: {text} only "
        f"in the text; in {wrong}, an implementation contradicts its own documentation"
    )
    print(f"tests/vectors/cute_ir.json: {cute_ir_counts()}")
    print(f"tests/vectors/conformance.json: {len(cases):,} cases, {refused} of them refused, with the reason")
    for who, counted in conformance["asked"].items():
        print(f"  {counted['version']}: {agreement(cases, who)}")


def cute_ir_counts() -> str:
    """Return the counts of the recorded CuTe IR tests as text."""
    from cute_ir import read_cases, table

    counts, _ = table(read_cases())
    total = {kind: sum(n for (of, _), n in counts.items() if of == kind) for kind in ("static", "dynamic")}
    agree = {kind: counts[kind, "same"] + counts[kind, "same function"] for kind in total}
    samples, wrong = counts["dynamic", "same for numbers"], sum(counts[kind, "different"] for kind in total)
    return (
        f"NVIDIA's CuTe IR tests: {agree['static']} of {total['static']} static results agree; of {total['dynamic']} "
        f"with run-time numbers, {agree['dynamic']} agree for all numbers and {samples} for samples of them; "
        f"{wrong} wrong"
    )


def agreement(cases: list[dict[str, Any]], who: str) -> str:
    """Return the counts of an implementation as text; a refusal agrees with a refusal of the suite."""
    number = Counter((case[who], "refused" in case) for case in cases)
    functions, refusals = number["same", False] + number["form", False], number["same", True]
    parts = {
        "different answers": number["other", False],
        "answered, but the suite refuses": number["other", True],
        "refused, but the suite answers": number["refused", False],
        "crashed": number["crash", False] + number["crash", True],
    }
    others = ", ".join(f"{count:,} {what}" for what, count in parts.items() if count)
    agree = f"{functions + refusals:,} agree ({functions:,} answers, {refusals:,} refusals)"
    return f"{agree}, {others}"


if __name__ == "__main__":
    end(main)
