#!/usr/bin/env python3
"""Write tests/vectors/tmem_ptxas.json: the forms of tcgen05.ld, ld.red, st, cp, alloc, shift that ptxas takes.

Usage: python scripts/make_tmem_ptxas.py PTXAS

Of ld and st, every shape, number and packing is tried with 1, 2, 4, ... 128 registers, and those that are taken are
kept. What ptxas does not see is there too: sequences that break the rules of allocation, all of which it takes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402

FILE = ROOT / "tests" / "vectors" / "tmem_ptxas.json"
FRAME = """.version 9.0
.target {target}
.address_size 64
.visible .entry probe(.param .u64 p) {{
.shared .align 16 .b8 memory[16];
.reg .b32 %r<400>;
.reg .f32 %f<400>;
.reg .b64 %d<4>;
ld.param.u64 %d0, [p];
mov.u64 %d1, %d0;
cvt.u32.u64 %r1, %d0;
mov.u32 %r9, memory;
{body}
ret;
}}
"""
MOVE_SHAPES = ("32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2")
COPIES = ("128x256b", "4x256b", "128x128b", "64x128b", "32x128b")
MULTICASTS = ("", ".warpx2::02_13", ".warpx2::01_23", ".warpx4")
WIDENED = (".b8x16.b4x16_p64", ".b8x16.b6x16_p32", ".b8x16")
QUALIFIERS = ("", ".abs", ".NaN", ".abs.NaN", ".pack::16b")
TYPES = ("f32", "u32", "s32", "b32", "f16")
TARGETS = ("sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f", "sm_120a")
ALLOC = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r9], {};"
RELINQUISH = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
SEQUENCES = {
    "alloc d 32; relinquish; alloc e 32": [ALLOC.format(32), RELINQUISH, ALLOC.format(32)],
    "alloc d 32; alloc e 64": [ALLOC.format(32), ALLOC.format(64)],
    "dealloc d 32": ["tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;"],
    "alloc d 32": [ALLOC.format(32)],
}


#: Shifts, and multiplications with A in tensor memory; ``MASK`` stands for so many words of disable-output-lane.
SHIFTS = {
    "shift": "tcgen05.shift.cta_group::1.down [%r1];",
    "shift, a pair": "tcgen05.shift.cta_group::2.down [%r1];",
    "shift without .down": "tcgen05.shift.cta_group::1 [%r1];",
    "shift .up": "tcgen05.shift.cta_group::1.up [%r1];",
}
PRODUCT = "tcgen05.mma.cta_group::{group}.kind::{kind} [%r1], [%r2], %d1, %r3, {{{words}}}, {enable};"


def accepted(ptxas: str, body: str, target: str = "sm_100a") -> bool:
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "probe.ptx"
        source.write_text(FRAME.format(body=body, target=target))
        command = [ptxas, f"-arch={target}", str(source), "-o", f"{scratch}/probe.cubin"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def move(direction: str, shape: str, num: int, packed: bool, registers: int) -> str:
    qualifier = {"ld": ".pack::16b", "st": ".unpack::16b"}[direction] if packed else ""
    register_list = "{" + ", ".join(f"%r{i + 20}" for i in range(registers)) + "}"
    offset = f", {num * (1 + packed)}" if shape == "16x32bx2" else ""
    name = f"tcgen05.{direction}.sync.aligned.{shape}.x{num}{qualifier}.b32"
    return f"{name} {register_list}, [%r1]{offset};" if direction == "ld" else f"{name} [%r1]{offset}, {register_list};"


def moves(ptxas: str) -> list[dict[str, Any]]:
    rows = []
    for direction, shape, shift, packed in product(("ld", "st"), MOVE_SHAPES, range(8), (False, True)):
        num = 1 << shift
        counts = [c for c in (num // 2, num, 2 * num, 4 * num) if 1 <= c <= 128]
        counts_taken = [c for c in counts if accepted(ptxas, move(direction, shape, num, packed, c))]
        qualifier = {"ld": ".pack::16b", "st": ".unpack::16b"}[direction] if packed else ""
        rows.append({"asked": f"{direction} {shape}.x{num}{qualifier}", "registers": counts_taken})
    return rows


def reductions(ptxas: str) -> list[dict[str, Any]]:
    rows = []
    cases = [(shape, num, "max", "", "f32", "sm_103a") for shape, num in product(MOVE_SHAPES, (1, 2, 4, 128))]
    cases += [("32x32b", 4, *how, "sm_103a") for how in product(("min", "max", "add"), QUALIFIERS, TYPES)]
    cases += [("32x32b", 4, "max", "", "f32", target) for target in TARGETS]
    for shape, num, operation, qualifiers, dtype, target in dict.fromkeys(cases):
        name = f"{shape}.x{num}.{operation}{qualifiers}.{dtype}"
        bank = "%f" if dtype.startswith("f") else "%r"
        register_list = "{" + ", ".join(f"{bank}{i + 20}" for i in range(num)) + "}"
        offset = f", {num}" if shape == "16x32bx2" else ""
        body = f"tcgen05.ld.red.sync.aligned.{name} {register_list}, {bank}5, [%r1]{offset};"
        rows.append({"asked": name, "target": target, "accepted": accepted(ptxas, body, target)})
    return rows


def shifts(ptxas: str) -> list[dict[str, Any]]:
    rows = [{"asked": name, "accepted": accepted(ptxas, body)} for name, body in SHIFTS.items()]
    for kind, group, count in product(("f16", "tf32", "f8f6f4", "i8"), (1, 2), (4, 8)):
        words = ", ".join(f"%r{10 + i}" for i in range(count))
        body = PRODUCT.format(group=group, kind=kind, words=words, enable="q")
        case_text = f"mma kind::{kind}, cta_group {group}, A in tensor memory, {count} mask words"
        rows.append({"asked": case_text, "accepted": accepted(ptxas, f".reg .pred q;\nsetp.ne.u32 q, %r1, 0;\n{body}")})
    return rows


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    (ptxas,) = arguments
    version_text = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    version = (re.findall(r"V[\d.]+", version_text) or ["?"])[0]
    copies = [
        {"asked": f"{shape}{cast}", "accepted": accepted(ptxas, f"tcgen05.cp.cta_group::1.{shape}{cast} [%r1], %d1;")}
        for shape, cast in product(COPIES, MULTICASTS)
    ]
    widening = [
        {"asked": one, "accepted": accepted(ptxas, f"tcgen05.cp.cta_group::1.{one} [%r1], %d1;")}
        for one in (f"{shape}{cast}{form}" for shape, cast, form in product(COPIES, MULTICASTS, WIDENED))
    ]
    sizes = (0, 16, 32, 48, 64, 96, 128, 256, 512, 576, 1024)
    allocations = [{"asked": size, "accepted": accepted(ptxas, ALLOC.format(size))} for size in sizes]
    sequences = [{"asked": name, "accepted": accepted(ptxas, "\n".join(body))} for name, body in SEQUENCES.items()]
    head = {
        "tool": "ptxas",
        "version": version,
        "target": "sm_100a",
        "command": "python scripts/make_tmem_ptxas.py PTXAS",
    }
    parts = {
        "moves": moves(ptxas),
        "reductions": reductions(ptxas),
        "copies": copies,
        "widening": widening,
        "allocations": allocations,
        "sequences": sequences,
        "shifts": shifts(ptxas),
    }
    lines = [f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in cases) + "\n]" for name, cases in parts.items()]
    FILE.write_text(json.dumps(head)[:-1] + ",\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"wrote {FILE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    end(main, sys.argv[1:])
