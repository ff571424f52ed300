#!/usr/bin/env python3
"""Write tests/vectors/advance_widths.json: how wide two faces are, by whose characters widths are judged.

Usage: python scripts/make_widths.py DejaVuSans.ttf Inter-Regular.otf DejaVuSans-Bold.ttf Inter-SemiBold.otf

Bold text has the weight 600, for which DejaVu Sans has its bold face and Inter its semibold one. The characters are
those from space to tilde; the widths thousandths of the size of the font.
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402

FILE = ROOT / "tests" / "vectors" / "advance_widths.json"


def widths(font: bytes) -> list[float]:
    """The advance width of each character, out of the tables of an OpenType font."""
    count = struct.unpack_from(">H", font, 4)[0]
    records = [struct.unpack_from(">4sIII", font, 12 + 16 * i) for i in range(count)]
    tables = {tag.decode(): offset for tag, _, offset, _ in records}
    em = struct.unpack_from(">H", font, tables["head"] + 18)[0]
    last = struct.unpack_from(">H", font, tables["hhea"] + 34)[0] - 1
    glyphs = [_glyph(font, _segments(font, tables["cmap"]), code) for code in range(32, 127)]
    advances = [struct.unpack_from(">H", font, tables["hmtx"] + 4 * min(glyph, last))[0] for glyph in glyphs]
    return [round(1000 * one / em, 3) for one in advances]


def _segments(font: bytes, cmap: int) -> int:
    """Where the subtable of format 4 begins, which every font for the web has."""
    for i in range(struct.unpack_from(">H", font, cmap + 2)[0]):
        start = cmap + struct.unpack_from(">HHI", font, cmap + 4 + 8 * i)[2]
        if struct.unpack_from(">H", font, start)[0] == 4:
            return int(start)
    raise SystemExit("make_widths: a font must have a character map of format 4")


def _glyph(font: bytes, start: int, code: int) -> int:
    double = struct.unpack_from(">H", font, start + 6)[0]
    for place in range(start + 14, start + 14 + double, 2):
        if code <= struct.unpack_from(">H", font, place)[0]:
            break
    places = [place + 2 + double * (i + 1) for i in range(3)]
    first, delta, far = (struct.unpack_from(">H", font, one)[0] for one in places)
    if far:
        return int(struct.unpack_from(">H", font, places[2] + far + 2 * (code - first))[0] + delta) & 0xFFFF
    return int(code + delta) & 0xFFFF


def main(arguments: list[str]) -> int:
    """Write the file; the exit status."""
    if len(arguments) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    faces = [widths(Path(one).read_bytes()) for one in arguments]
    content = {
        "command": "scripts/make_widths.py",
        "fonts": [Path(one).name for one in arguments],
        "plain": faces[:2],
        "bold": faces[2:],
    }
    FILE.write_text(json.dumps(content) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    end(main, sys.argv[1:])
