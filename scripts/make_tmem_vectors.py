#!/usr/bin/env python3
"""Write tests/vectors/tmem.json: what CUTLASS's own layouts of tensor memory say, evaluated on a host.

Usage: python scripts/make_tmem_vectors.py CUTLASS_INCLUDE CUDA_INCLUDE

The folders are those of the headers: `include` of CUTLASS (also in the wheel `nvidia-cutlass`), and of a CUDA toolkit.
Needs g++, no GPU. Each row has CuTe's own text of the layout, and a SHA-256 of the map that CuTe computes from it:
little-endian 32-bit words, (lane, column, bit) an entry, the layout's first mode fastest; of `tcgen05.ld` and `st` an
entry a half of a register, the thread fastest; of `tcgen05.cp` (lane, column, bit, source bit) an entry. Small maps
are there in full. The maps of scale factors in memory are byte offsets.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from struct import pack
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402

FILE = ROOT / "tests" / "vectors" / "tmem.json"
SOURCE = ROOT / "scripts" / "lib" / "tmem" / "maps.cpp"

#: Maps of at most so many entries are kept in full.
SMALL = 64

FRAGMENTS = """
float uint32_t 1 Interleaved: 64x8 64x64 64x256 128x8 128x64 128x256
half_t uint32_t 1 Interleaved: 64x64 128x64
int32_t uint32_t 1 Interleaved: 128x32
float int32_t 1 NonInterleaved: 64x64
float uint32_t 2 Interleaved: 64x32 64x256 128x32 128x256
half_t uint32_t 2 Interleaved: 64x64 128x64
half_t half_t 1 NonInterleaved: 128x16 128x64 64x16
tfloat32_t tfloat32_t 1 NonInterleaved: 128x8
int8_t int8_t 1 NonInterleaved: 128x32
float_e4m3_t float_e4m3_t 1 NonInterleaved: 64x32
half_t half_t 2 Duplicated: 64x16
half_t half_t 2 Interleaved: 128x16
"""
TILED = """
float uint32_t 1 Interleaved 64x64 2 2
float uint32_t 1 Interleaved 64x64 4 1
float int32_t 1 NonInterleaved 64x64 2 2
float uint32_t 1 Interleaved 128x64 2 2
float uint32_t 2 Interleaved 64x64 2 2
"""
STATIONARY = "float 32 64, float 32 256, float 64 64, float 64 256, float 128 64, half_t 32 64, half_t 64 64"
SCALES = """
32 1 1 true 128: 1 4
32 2 1 true 128: 1 2
16 4 1 true 128: 1 4
16 4 1 true 256: 1
32 1 1 false 128: 1
16 4 1 false 128: 1
16 4 1 false 256: 1
16 4 1 false 64: 1
16 4 1 false 32: 1
16 4 2 false 256: 1
32 1 2 false 256: 4
"""
TWICE = "16 4 256 1, 16 4 128 1, 32 1 256 4, 16 4 256 2, 16 4 128 2, 32 2 256 6"
METADATA = """
tmem_e_frg tfloat32_t 128 16 2 1
tmem_e_frg half_t 128 32 1 1
tmem_e_frg half_t 128 32 1 4
tmem_e_frg uint8_t 128 64 1 1
tmem_e_frg uint8_t 128 64 1 2
tmem_e_frg float_e2m1_t 128 128 0 1
tmem_e_frg_ws half_t 64 32 1 1
tmem_e_frg_ws half_t 32 32 1 1
"""
MEMORY = "16 128 64, 32 128 128, 16 256 128, 32 256 256, 16 384 256"
SHARED = """
16 4 2 SM100_MMA_MXF4_2x1SM_SS 128 256 64
16 4 2 SM100_MMA_MXF4_2x1SM_SS 128 256 256
32 2 2 SM100_MMA_MXF4_2x1SM_SS 128 256 256
16 4 1 SM100_MMA_MXF4_SS 128 192 128
"""
COPIES = "128dp256bit 128dp128bit 4dp256bit 4x32dp128bit 2x64dp128bitlw0213 2x64dp128bitlw0123"


def cases() -> Iterator[str]:
    """The lines of C++ that name every case."""
    for line in FRAGMENTS.strip().splitlines():
        head, shapes = line.split(": ")
        value, store, pair, mode = head.split()
        for shape in shapes.split():
            yield f"FRAGMENT({value}, {store}, {pair}, {mode}, {shape.replace('x', ', ')})"
    for line in TILED.strip().splitlines():
        value, store, pair, mode, shape, tm, tn = line.split()
        yield f"FRAGMENT({value}, {store}, {pair}, {mode}, {shape.replace('x', ', ')}, _{tm}{{}}, _{tn}{{}})"
    for one in STATIONARY.split(", "):
        yield f"STATIONARY({', '.join(one.split())})"
    for line in SCALES.strip().splitlines():
        head, tiles = line.split(": ")
        for count in tiles.split():
            yield f"SCALES({', '.join(head.split())}, {count}, ScaleFactorDuplicated4by1)"
    for one in TWICE.split(", "):
        vector, factors, mn, count = one.split()
        yield f"SCALES({vector}, {factors}, 2, false, {mn}, {count}, ScaleFactorDuplicated2by2)"
    for line in METADATA.strip().splitlines():
        yield f"METADATA({', '.join(line.split())})"
    for one in MEMORY.split(", "):
        yield f"MEMORY({', '.join(one.split())})"
    for line in SHARED.strip().splitlines():
        yield f"SHARED({', '.join(line.split())})"
    yield from (f'copy<SM100_UTCCP_{one}_{n}cta>("{one} cta_group{n}");' for one in COPIES.split() for n in (1, 2))
    for name in moves():
        yield f'move<SM100_TMEM_{name}>("{name}");'


def moves() -> Iterator[str]:
    """Every `tcgen05.ld` and `st` atom of CuTe."""
    for direction in ("LOAD", "STORE"):
        for lanes, bits, most in ((16, 256, 32), (16, 128, 64), (16, 64, 128), (16, 32, 128), (32, 32, 128)):
            for shift in range(most.bit_length()):
                for packed in ("", "_16b"):
                    yield f"{direction}_{lanes}dp{bits}b{1 << shift}x{packed}"


def row(line: str) -> dict[str, Any]:
    """A line that the program printed, as a row of the file."""
    kind, name, layout, bits, numbers = line.split("|")
    unit, addresses = int(bits), [int(number) for number in numbers.split()]
    if kind in ("SFG", "SFS"):
        entries = [(address,) for address in addresses]
    elif kind == "CP":
        entries = [(*place(to), source) for to, source in zip(addresses[::2], addresses[1::2], strict=True)]
    else:
        entries = [place(address * unit if unit else address // 2) for address in addresses]
    digest = hashlib.sha256(b"".join(pack(f"<{len(one)}I", *one) for one in entries)).hexdigest()
    text = re.sub(r"_(?=-?\d)", "", layout)
    content = {"kind": kind, "name": " ".join(name.split()), "cute": text, "bits": unit, "count": len(entries)}
    return content | {"sha256": digest} | ({"entries": entries} if len(entries) <= SMALL else {})


def place(address: int) -> tuple[int, int, int]:
    """Lane, column and bit of an address in bits."""
    return address >> 21, address >> 5 & 0xFFFF, address & 31


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    cutlass, cuda = arguments
    version = re.findall(r"#define CUTLASS_\w+ (\d+)", (Path(cutlass) / "cutlass" / "version.h").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "cases.inc").write_text("\n".join(cases()))
        program = f"{scratch}/maps"
        options = ["-std=c++17", "-O0", "-w", f"-I{scratch}", f"-I{cutlass}", f"-I{cuda}", f"-I{cuda}/cccl"]
        subprocess.run(["g++", *options, str(SOURCE), "-o", program], check=True)
        output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    head = {"tool": "CUTLASS C++", "version": ".".join(version[:3]), "command": "python scripts/make_tmem_vectors.py"}
    rows = ",\n".join(json.dumps(row(line)) for line in output.splitlines())
    FILE.write_text(f'{json.dumps(head)[:-1]}, "rows": [\n{rows}\n]}}\n', encoding="utf-8")
    print(f"wrote {FILE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    end(main, sys.argv[1:])
