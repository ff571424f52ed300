#!/usr/bin/env python3
"""Write the tables of descriptor.hpp, between its two marks, from the tables of the package.

Usage: python scripts/make_header.py [--check]      --check only compares, and exits 1 if the header is out of date
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from generated import write_or_check  # noqa: E402

from descriptors.smem.instructions.facts import ShapeRow  # noqa: E402
from descriptors.smem.instructions.rules import rows_of  # noqa: E402
from descriptors.smem.operands.operand import ELEMENT_TYPES, LATER_TYPES, SwizzleMode  # noqa: E402
from descriptors.smem.words.descriptor import smem_word, window_bytes  # noqa: E402
from descriptors.targets import has_tcgen05, tensor_arches  # noqa: E402

HEADER = ROOT / "descriptors/smem/emitters/descriptor.hpp"
TCGEN05 = tuple(filter(has_tcgen05, tensor_arches()))
FIRST, LAST = (
    "// Tables written by scripts/make_header.py: begin\n",
    "// Tables written by scripts/make_header.py: end\n",
)


class Range(NamedTuple):
    """Extents from ``first`` to ``last`` in equal steps."""

    first: int
    last: int
    step: int


class Instruction(NamedTuple):
    """What the extents of an instruction depend on."""

    arch: str
    kind: str
    ctas: int
    sparse: bool
    k_bits: int


def extents() -> dict[Instruction, tuple[tuple[int, ...], tuple[Range, ...]]]:
    """Return M of A and N of B that one CTA's shared memory holds, of the shapes that all sources allow."""
    rows: defaultdict[Instruction, list[ShapeRow]] = defaultdict(list)
    for arch in tensor_arches():
        for row in rows_of("SHAPES", arch):
            if not row.disputed and row.kind != "b1":
                rows[Instruction(arch, row.kind, row.cta_group, row.sparse, row.k * bits(arch, row.kind))].append(row)
    return {
        key: (
            tuple(sorted({m // key.ctas for row in group for m in row.m})),
            tuple(ranges(sorted({n // key.ctas for row in group for n in row.n}))),
        )
        for key, group in rows.items()
    }


def bits(arch: str, kind: str) -> int:
    """Return the bits of an element of a kind in shared memory."""
    types = ELEMENT_TYPES | LATER_TYPES
    (width,) = {types[name].storage_bits for row in rows_of("KINDS", arch, kind) for name in row.dtypes}
    return width


def ranges(values: list[int]) -> Iterator[Range]:
    """Split increasing numbers into ranges, as long as possible, the first ones first."""
    while values:
        step = values[1] - values[0] if len(values) > 1 else values[0]
        length = next((i for i in range(1, len(values)) if values[i] - values[i - 1] != step), len(values))
        yield Range(values[0], values[length - 1], step)
        values = values[length:]


def shapes() -> Iterator[str]:
    """Write the rows of legal shapes; architectures and kinds with the same extents share a row."""
    by_kinds: defaultdict[tuple, list[str]] = defaultdict(list)
    for key, (m, n) in extents().items():
        by_kinds[key.kind, key.ctas, key.sparse, key.k_bits // (1 + key.sparse), m, n].append(key.arch)
    rows: defaultdict[tuple, list[str]] = defaultdict(list)
    for (kind, *rest), arches in by_kinds.items():
        rows[tuple(arches), *rest].append(kind)
    for (arches, ctas, sparse, k_bits, m, n), kinds in rows.items():
        for one in n:
            where = "tcgen05" if arches == TCGEN05 else names("Arch", arches)
            start = f"{where}, {names('Kind', kinds)}, {ctas}, {str(sparse).lower()}, {k_bits}"
            yield f"      {{{start}, {{{', '.join(map(str, m))}}}, {one.first}, {one.last}, {one.step}}},\n"


def names(enum: str, members: Iterable[str]) -> str:
    """Write a set of members of an enumeration of the header."""
    return f"set({', '.join(f'{enum}::{member}' for member in members)})"


def codes(arch: str) -> str:
    """Write the codes of the swizzle field, in the order of the header; -1 where there is none."""
    known = dict(smem_word(arch)["swizzle"].codes)
    return ", ".join(str(known.get(mode, -1)) for mode in SwizzleMode)


def lookup(comment: str, name: str, enum: str, kind: str, values: Iterable[object]) -> str:
    """Write a function that looks its argument up in a table of its own, as device code needs it."""
    argument = enum.lower()
    return (
        f"// {comment}\n"
        f"LAYOUTALG_FUNCTION {kind} {name}({enum} {argument}) {{\n"
        f"  constexpr {kind} values[] = {{{', '.join(map(str, values))}}};\n"
        f"  return values[static_cast<int>({argument})];\n"
        "}\n\n"
    )


def swizzle_codes() -> str:
    """Write the codes of the swizzle field by architecture and mode."""
    rows = "".join(f"      {{{codes(arch)}}},  // {arch}\n" for arch in tensor_arches())
    return (
        "// The code of the swizzle in the descriptor; -1 where there is none.\n"
        "LAYOUTALG_FUNCTION int swizzle_code(Arch arch, Swizzle swizzle) {\n"
        f"  constexpr int values[][{len(SwizzleMode)}] = {{\n{rows}  }};\n"
        "  return values[static_cast<int>(arch)][static_cast<int>(swizzle)];\n"
        "}\n\n"
    )


def tables() -> str:
    """Write all tables of the header."""
    types = [*ELEMENT_TYPES.values(), *LATER_TYPES.values()]
    rows = list(shapes())
    return (
        lookup("Bits of an element in shared memory.", "bits_of", "Type", "uint32_t", (t.storage_bits for t in types))
        + lookup(
            "Bytes that a start address can name.",
            "window_bytes",
            "Arch",
            "uint32_t",
            map(window_bytes, tensor_arches()),
        )
        + swizzle_codes()
        + "// The shapes that all sources allow; M and N are those of one CTA.\n"
        f"struct LegalShapes {{ Shapes rows[{len(rows)}]; }};\n\n"
        "LAYOUTALG_FUNCTION LegalShapes legal_shapes() {\n"
        f"  constexpr uint32_t tcgen05 = {names('Arch', TCGEN05)};\n"
        f"  return {{{{\n{''.join(rows)}  }}}};\n"
        "}\n"
    )


def main(arguments: list[str]) -> int:
    """Write or check the header."""
    text = HEADER.read_text(encoding="utf-8")
    before, _, rest = text.partition(FIRST)
    _, _, after = rest.partition(LAST)
    return write_or_check(HEADER, f"{before}{FIRST}{tables()}{LAST}{after}", "make_header.py", __doc__, arguments)


if __name__ == "__main__":
    end(main, sys.argv[1:])
