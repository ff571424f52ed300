#!/usr/bin/env python3
"""Write tests/vectors/descriptors.json: a conformance suite for shared-memory descriptors, for any implementation.

Usage: python scripts/make_descriptor_conformance.py [--check | --mark]

--check only compares, and exits 1 if the file is out of date. --mark asks Coq and the CuTe DSL about each row again; it
needs both, and takes some minutes. Without it, their marks stay as they are in the file.

The tiles are random from a fixed seed. A row has what `derive` returns, and is written only if the read model reads
each element of the tile from where the layout stores it. docs/conformance.md describes how to run the file.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "judge"), str(ROOT / "scripts" / "lib")]

from corpus import SeededSource  # noqa: E402
from ended import end  # noqa: E402
from generated import write_or_check  # noqa: E402

from descriptors import Derivation, DescriptorError, TmaError, derive, proved, tma_plan  # noqa: E402
from descriptors.smem.derivation.verdict import judge  # noqa: E402
from descriptors.smem.operands.operand import ELEMENT_TYPES, SwizzleMode  # noqa: E402
from descriptors.text import word_text  # noqa: E402

FILE = ROOT / "tests" / "vectors" / "descriptors.json"
SEED = "shared-memory descriptors, 1"
#: Number of rows, and the largest share of them that are refused.
ROWS, REFUSED = 3000, 0.25

_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
_NUMBERS, _TEXTS = {"type": "array", "items": _NUMBER}, {"type": "array", "items": _TEXT}
_HEX = {"type": "string", "pattern": "^0x[0-9a-f]{16}$"}
_ASKED = {
    "arch": {"enum": ["sm90", "sm100", "sm103", "sm107"]}, "dtype": {"enum": sorted(ELEMENT_TYPES)},
    "major": {"enum": ["K", "MN"]}, "swizzle": {"enum": [str(mode) for mode in SwizzleMode]}, "tile": _NUMBERS,
    "mma": _NUMBERS, "order": _NUMBERS, "base": _NUMBER,
}  # fmt: skip
_ANSWER = {
    "layout": _TEXT, "lbo": _NUMBER, "sbo": _NUMBER, "word": _HEX, "last": _HEX, "ignored": _HEX, "advance": _TEXT,
    "tma": {"type": "object"}, "read_model": {"enum": ["measured", "documented", "none"]}, "confirmed": _TEXTS,
    "dsl": {"enum": ["same", "other", "refused", "unasked"]},
}  # fmt: skip


def _row(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


#: The JSON Schema of a row: with descriptors, or refused.
SCHEMA = {"oneOf": [_row(_ASKED | _ANSWER), _row(_ASKED | {"refused": _TEXT, "reason": _TEXT})]}

HEADER: dict[str, Any] = {
    "name": "Conformance suite for shared-memory matrix descriptors (wgmma, tcgen05)",
    "version": 1,
    "documentation": "docs/conformance.md",
    "rows": {
        "tile": "extents MN, K, then stages if there are any, in elements; order is the rank of each in tile_to_shape",
        "mma": "extents MN, K that one instruction reads, in elements",
        "base": "address of the tile in bytes; the swizzle pattern starts there",
        "layout": "the tile in CuTe notation, in elements",
        "lbo, sbo": "leading and stride byte offset; an address plus base for K = 96 (LBO mode 1)",
        "word, last": "descriptor of the first and of the last subtile",
        "ignored": "bits of the descriptor that have no effect for this operand; compare without them",
        "advance": "layout from a subtile to the offset of its start address, in units of 16 bytes",
        "tma": "box extents (fastest first) and number of copies of a plan of tensor copies, or why there is none",
        "read_model": "if the addresses that the hardware reads are measured on a GPU, or documented by PTX only",
        "confirmed": "who confirms the row; see below",
        "dsl": "if the CuTe DSL writes the same descriptor at address 0, apart from ignored bits",
        "refused, reason": "there is no descriptor, or no instruction that reads it; an implementation may refuse less",
    },
    "confirmed": {
        "walk": "the read model reads each element of the tile, at its address, from where the layout stores it",
        "theorem": "a theorem in Python shows the same for all sizes",
        "coq": "Coq accepts the certificate: the theorem about this tile and these descriptors",
        "dsl": "the CuTe DSL writes the same descriptor",
    },
    "schema of a row": SCHEMA,
}


def random_tile(source: SeededSource) -> dict[str, Any]:
    """Return the arguments of a tile: mostly whole atoms and operands, sometimes not."""
    arch = source.pick(("sm90", "sm100", "sm100", "sm103", "sm107"))
    if source.integer(0, 24) == 0:
        crossing = {"arch": source.pick(("sm103", "sm107")), "dtype": "e2m1", "major": "K", "swizzle": "128B"}
        tile = (128 * source.integer(1, 2), 768)
        return crossing | {"tile": tile, "mma": (128, 96), "order": (0, 1), "base": 1024 * source.integer(0, 4)}
    dtypes = sorted(ELEMENT_TYPES) if arch != "sm90" else ("bf16", "e4m3", "e5m2", "f16", "s8", "tf32", "u8", "e2m1")
    element = ELEMENT_TYPES[source.pick(dtypes)]
    major, mode = source.pick(("K", "K", "MN")), source.pick(list(SwizzleMode))
    if mode is SwizzleMode.B128_BASE32B and source.integer(0, 3):  # tf32, MN-major, is the only combination
        element, major = ELEMENT_TYPES["tf32"], "MN"
        arch = "sm100" if arch == "sm90" else arch
    line, k = mode.span_bytes * 8 // element.storage_bits, 256 // element.storage_bits
    mn = source.pick((64, 64, 128)) if arch == "sm90" else source.pick((64, 128, 128, 256))
    blocks, wide = source.integer(1, 4), line if major == "MN" else 1
    tile = [max(mn, wide) * source.integer(1, 2), max(k, line if major == "K" else 1) * blocks]
    if source.integer(0, 11) == 0:
        tile[source.integer(0, 1)] += source.pick((8, 16, 24, -8))
    order = source.pick(((0, 1), (1, 0)))
    if source.integer(0, 2) == 0:
        tile, order = [*tile, source.integer(2, 4)], (*order, 2)
    base = source.pick((0, 0, 0, 1024, 2048, 0x4000, 128, 0x880, 16))
    return {
        "arch": arch, "dtype": element.name, "major": major, "swizzle": str(mode), "tile": tuple(tile),
        "mma": (mn, k), "order": order, "base": base,
    }  # fmt: skip


def derivation_of(row: dict[str, Any]) -> Derivation:
    """Derive the tile of a row."""
    return derive(
        tuple(row["tile"]), row["dtype"], row["major"], row["swizzle"], tuple(row["mma"]), arch=row["arch"],
        order=tuple(row["order"]), verify=False,
    )  # fmt: skip


def answer_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the answer for a tile, proved with the read model, or the reason why there is none."""
    try:
        d = derivation_of(row)
        first = d.descriptor_at(row["base"])
        proof = proved(d, base=row["base"], walk=True)
        words = d.words(row["base"])
    except DescriptorError as error:
        return {"refused": type(error).__name__, "reason": _fact(error)}
    assert "walk" in proof.by
    last: Any = words
    while not isinstance(last, int):
        last = last[-1]
    return {
        "layout": str(d.smem_tile),
        "lbo": d.descriptor.leading_byte_offset,
        "sbo": d.descriptor.stride_byte_offset,
        "word": word_text(first.encode()),
        "last": word_text(last),
        "ignored": word_text(d.dont_care_mask()),
        "advance": str(d.advance),
        "tma": _copies(d),
        "read_model": judge(d, row["base"], proof).grade,
        "confirmed": list(proof.by),
        "dsl": "unasked",
    }


def _fact(error: DescriptorError) -> str:
    """Return the first part of a message, which is the fact; a semicolon in parentheses does not end it."""
    return re.split(r"; (?![^(]*\))", str(error))[0]


def _copies(d: Derivation) -> dict[str, Any]:
    try:
        plan = tma_plan(d)
    except TmaError as error:
        return {"refused": _fact(error)}
    return {"box": list(plan.box), "copies": len(plan.boxes)}


def suite() -> list[dict[str, Any]]:
    """Return all rows, without duplicates and without the marks of Coq and the DSL."""
    keys, rows, refused, attempt = set[str](), list[dict[str, Any]](), 0, 0
    while len(rows) < ROWS:
        attempt += 1
        row: dict[str, Any] = json.loads(json.dumps(random_tile(SeededSource(f"{SEED}/{attempt}"))))
        if (key := json.dumps(row)) in keys:
            continue
        answer = answer_of(row)
        if "refused" in answer:
            if refused >= ROWS * REFUSED:
                continue
            refused += 1
        keys.add(key)
        rows.append(row | answer)
    return rows


def marked(rows: list[dict[str, Any]], *, ask: bool) -> dict[str, str]:
    """Give the rows the marks of Coq and the DSL, and return their versions: asked now, or those of the file."""
    answered = [row for row in rows if "refused" not in row]
    if ask:
        from descriptor_marks import coq_marks, dsl_marks, versions

        derivations = [derivation_of(row) for row in answered]
        coq = coq_marks([(d, row["base"]) for d, row in zip(derivations, answered, strict=True)])
        for row, by_coq, by_dsl in zip(answered, coq, dsl_marks(derivations), strict=True):
            row["dsl"] = by_dsl
            row["confirmed"] += ["coq"] * by_coq + ["dsl"] * (by_dsl == "same")
        return versions()
    current = json.loads(FILE.read_text(encoding="utf-8"))
    rows_before = {_question(row): row for row in current["cases"]}
    for row in answered:
        before = rows_before.get(_question(row), {"confirmed": [], "dsl": "unasked"})
        row["dsl"] = before["dsl"]
        row["confirmed"] += [name for name in before["confirmed"] if name in ("coq", "dsl")]
    versions_before: dict[str, str] = current["asked"]
    return versions_before


def _question(row: dict[str, Any]) -> str:
    return json.dumps([row[name] for name in _ASKED])


def render(rows: list[dict[str, Any]], versions: dict[str, str]) -> str:
    """Return the file: a readable header, then one row per line."""
    counts = Counter(name for row in rows for name in row.get("confirmed", ["refused"]))
    header = HEADER | {
        "seed": SEED,
        "asked": versions,
        "cases in all": len(rows),
        "counts": dict(sorted(counts.items())),
    }
    head = json.dumps(header, indent=2)[:-2]
    return f'{head},\n  "cases": [\n' + ",\n".join("    " + json.dumps(row) for row in rows) + "\n  ]\n}\n"


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"], ["--mark"]):
        print(__doc__, file=sys.stderr)
        return 2
    rows = suite()
    versions = marked(rows, ask=arguments == ["--mark"])
    return write_or_check(
        FILE,
        render(rows, versions),
        "make_descriptor_conformance.py",
        __doc__,
        [] if arguments == ["--mark"] else arguments,
    )


if __name__ == "__main__":
    end(main, sys.argv[1:])
