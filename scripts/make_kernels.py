#!/usr/bin/env python3
"""Write tests/vectors/kernels.json.xz: PTX that compilers made of the project's own kernels, for the checker.

Usage: python scripts/make_kernels.py FOLDER      packs the .ptx files of a folder, without their debug data

The files are made without a GPU: by `python scripts/lib/ptx_kernels/compile_triton.py FOLDER` (after `pip install
triton`), by `compile_dsl.py` beside it, by `nvcc` from `cute_products.cu` beside it, as its head says, and by
`nvcc -ptx` from the sources that `python -m probes.build` makes (`tests/hardware` on the path).
"""

from __future__ import annotations

import json
import lzma
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402

TARGET = ROOT / "tests" / "vectors" / "kernels.json.xz"
#: Sections of debug data, lines that say where code came from, and comments.
_DEBUG = re.compile(r"^\s*\.section\b[^{]*\{[^}]*\}|^[ \t]*\.(?:loc|file)\b[^\n]*\n|[ \t]*//[^\n]*", re.MULTILINE)


def stripped(text: str) -> str:
    """A PTX text without debug data, comments and empty lines."""
    lines = (line.rstrip() for line in _DEBUG.sub("", text).split("\n"))
    return "\n".join(line for line in lines if line) + "\n"


def main(arguments: list[str]) -> int:
    kernels = {
        path.stem: path.read_text(encoding="utf-8") for one in arguments for path in sorted(Path(one).glob("*.ptx"))
    }
    if len(arguments) != 1 or not kernels:
        print(__doc__, file=sys.stderr)
        return 2
    record = {
        "tool": "triton 3.5.0; CuTe DSL 4.8.1 (names that begin with dsl); nvcc 13.0 (names that begin with nvcc), "
        "with the headers of nvidia-cutlass 4.2.0 (names that begin with cute)",
        "command": "python scripts/make_kernels.py FOLDER",
        "kernels": {name: stripped(text) for name, text in kernels.items()},
    }
    TARGET.write_bytes(lzma.compress(json.dumps(record, indent=0).encode(), preset=9))
    print(f"wrote {TARGET.name}: {len(kernels)} kernels, {TARGET.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    end(main, sys.argv[1:])
