#!/usr/bin/env python3
"""Write tests/vectors/pictures.json: size and checksums of every kind of picture of every kind of operand.

Usage: python scripts/make_pictures.py [--check]     --check only compares, and exits 1 if the file is out of date

A picture that changes fails a test, and is to be looked at before this is run: ``descriptors draw`` shows it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib"), str(ROOT / "tests" / "judge")]

from drawn_operands import OPERANDS, fingerprints  # noqa: E402
from ended import end  # noqa: E402
from generated import write_or_check  # noqa: E402

FILE = ROOT / "tests" / "vectors" / "pictures.json"


def main(arguments: list[str]) -> int:
    """Write or compare the file; the exit status."""
    content = {"command": "scripts/make_pictures.py", "pictures": {name: fingerprints(name) for name in OPERANDS}}
    return write_or_check(FILE, json.dumps(content, indent=1) + "\n", "make_pictures.py", __doc__, arguments)


if __name__ == "__main__":
    end(main, sys.argv[1:])
