#!/usr/bin/env python3
"""Record the words that the CuTe DSL makes of operands with K = 96 across swizzle atoms: tests/vectors/k96.json.

Each word is ``make_umma_smem_desc(src, layout, "k", next_src=...)`` with the two pieces of 16 bytes that NVIDIA's
example ``sm103_dense_blockscaled_gemm_persistent.py`` would name. Needs the CuTe DSL; no GPU.

Usage: python scripts/make_k96.py [--check]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402

from descriptors import oracle  # noqa: E402
from descriptors.oracle.words import WordRequest, descriptor_words  # noqa: E402

TARGET = ROOT / "tests" / "vectors" / "k96.json"

#: Tiles of lines of 128 bytes: extents, rows an instruction reads, order of stacking, layout in elements.
TILES = [
    ((128, 768), 128, (0, 1), "((8,16),(256,3)):((256,2048),(1,32768))"),
    ((128, 768), 128, (1, 0), "((8,16),(256,3)):((256,6144),(1,2048))"),
    ((64, 1536), 64, (0, 1), "((8,8),(256,6)):((256,2048),(1,16384))"),
    ((256, 768), 128, (0, 1), "((8,32),(256,3)):((256,2048),(1,65536))"),
]


def main() -> None:
    """Write the file, or with --check compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    text = json.dumps(_recorded(), indent=1) + "\n"
    if not parser.parse_args().check:
        TARGET.write_text(text, encoding="utf-8")
    elif TARGET.read_text(encoding="utf-8") != text:
        sys.exit(f"{TARGET.relative_to(ROOT)} is not what the CuTe DSL makes; scripts/make_k96.py writes it")


def _recorded() -> dict[str, object]:
    rows = []
    for tile, mn, order, layout in TILES:
        # Instruction j begins at piece 3j; its last piece, 3j + 2, lies in the buffer whose first piece is the next.
        columns = [(3 * j, (3 * j + 2) // 8 * 8) for j in range(tile[1] // 96)]
        answers = descriptor_words(
            [WordRequest("e2m1", "K", "128B", layout, (mn, 32), "sm103", one) for one in columns]
        )
        words = [f"{answer.word:#018x}" for answer in answers if answer.word is not None]
        rows.append(
            {"tile": tile, "mma": (mn, 96), "order": order, "layout": layout, "columns": columns, "words": words}
        )
    return {"tool": "CuTe DSL", "version": oracle.version(), "command": "scripts/make_k96.py", "tiles": rows}


if __name__ == "__main__":
    end(main)
