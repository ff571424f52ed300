#!/usr/bin/env python3
"""Write tests/vectors/errata_ptxas.json: what NVIDIA's assembler says of the cases of the pages of errata.

Usage: python scripts/make_errata_ptxas.py [PTXAS...]      default: the ptxas on the path; needs no GPU
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "judge"), str(ROOT / "scripts" / "lib")]

from assembler import CASES, FRAME, RECORD, is_asked, ptx_of, verdict, version  # noqa: E402
from ended import end  # noqa: E402


def main(assemblers: list[str]) -> int:
    tools = {version(one): one for one in assemblers or ["ptxas"]}
    rows = [
        {
            "case": name,
            "target": target,
            **({"ptx_version": ptx_of(name)} if ptx_of(name) != "9.0" else {}),
            "body": body,
            "ptxas": {key: verdict(tool, name) for key, tool in tools.items() if is_asked(key, name)},
        }
        for name, (target, body) in CASES.items()
    ]
    facts = {"tool": "ptxas", "versions": list(tools), "command": "python scripts/make_errata_ptxas.py PTXAS..."}
    text = json.dumps({**facts, "ptx_version": "9.0", "frame": FRAME, "rows": rows}, indent=1)
    RECORD.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {RECORD.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    end(main, sys.argv[1:])
