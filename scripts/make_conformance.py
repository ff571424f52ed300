#!/usr/bin/env python3
"""Write tests/vectors/conformance.json: a conformance suite for CuTe layout algebra, for any implementation.

Usage: python scripts/make_conformance.py [--check | --mark INCLUDE]

--check only compares, and exits 1 if the file is out of date. --mark asks CuTe for each case too: the installed CuTe
DSL, and CuTe C++ with the headers of CUTLASS in the folder INCLUDE (the package nvidia-cutlass has them), g++ and the
CUDA toolkit of CUDA_HOME; a quarter of an hour. Without it the recorded answers of CuTe stay as they are.

Inputs are random from a fixed seed. Each answer is what this package gives, and is kept only after a judge that shares
no code with it (tests/judge/) has checked the post-condition by enumeration; each refusal is
kept only after the judge has found that no right answer exists. A case on which the two disagree stops the script.
docs/conformance.md says how to run the file.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "judge"), str(ROOT / "scripts" / "lib")]

import corpus  # noqa: E402
from cases import encode, run, spelled  # noqa: E402
from cute_marks import MARKS, counts, cpp_marks, cpp_version, dsl_marks, dsl_version, remark  # noqa: E402
from ended import end  # noqa: E402
from generated import write_or_check  # noqa: E402
from postconditions import REFUSED, TooLargeError, fault  # noqa: E402

from layoutalg import ComposedLayout, Layout, LayoutError, make_identity_layout, make_ordered_layout, size  # noqa: E402

FILE = ROOT / "tests" / "vectors" / "conformance.json"
SEED = "CuTe layout algebra, 1"
Source = corpus.Source
CHAINED = ("compact", "permuted", "gapped")

HEADER: dict[str, Any] = {
    "name": "Conformance suite for CuTe layout algebra",
    "version": 1,
    "documentation": "docs/conformance.md",
    "format": {
        "case": "one object a line: operation, operands, either answer, or refused (kind) and reason; then dsl and cpp",
        "string": "a layout, swizzle or composed layout in CuTe notation, e.g. S<3,4,3> o 0 o (8,64):(64,1)",
        "number": "an integer",
        "list": "a tuple: a shape, an order, a coordinate, a tiler of modes, or several results",
        "null": "None: a mode that is kept",
        "composed": "A o offset o B is the function c -> A(offset + B(c))",
        "refused": "no right answer of the definition's form exists; the kind is one of the kinds below",
    },
    "kinds": {
        "NotDivisibleError": "no layout is the function asked for: something does not divide",
        "NotInjectiveError": "two coordinates share an offset where they must not",
        "CoordinateError": "a coordinate lies outside the shape",
        "LayoutError": "the operands are outside the definition: a sign, a rank, None in a zipped divide, ...",
    },
    "how to run": [
        "For each case, call your implementation of the operation with the operands.",
        "Text level: your answer, printed in CuTe notation, equals the answer, strides of modes of extent 1 aside.",
        "Function level: your answer has the same extents at the top level and the same offset at every index.",
        "Where the case is refused, raise an error, or give no answer; any answer is wrong, but of left_inverse where "
        "the kind is NotDivisibleError: no left inverse has a mode for each stride, and one of another form may exist. "
        "Of a layout that is not injective, each quasi-inverse is right: layout(R(layout(i))) == layout(i) for all i.",
    ],
    "marks": MARKS,
    "operands": {
        "coalesce": ["layout", "profile?"],
        "composition": ["a", "b: layout, integer or tuple of tilers"],
        "complement": ["layout", "cotarget"],
        "divides and products": ["target or block", "tiler"],
        "tile_to_shape": ["atom", "shape", "order"],
        "make_ordered_layout": ["shape", "order: rank of each mode"],
        "recast_layout": ["new bits", "old bits", "layout"],
        "upcast, downcast": ["layout", "factor"],
        "slice_and_offset": ["coordinate", "layout"],
        "dice": ["layout", "coordinate"],
        "crd2idx": ["coordinate", "layout"],
        "idx2crd": ["index", "shape"],
        "local_tile": ["layout", "tiler", "tile"],
        "local_partition": ["layout", "layout of threads", "thread index"],
        "append, prepend": ["layout", "layout to add"],
        "group_modes": ["layout", "begin", "end"],
        "call": ["layout or swizzle", "coordinate"],
    },
}


def pair(source: Source) -> list[Any]:
    a = corpus.any_layout(source, 64) if source.integer(0, 3) == 3 else corpus.layout(source, 64)
    return [a, corpus.indexer(source, size(a), 48)]


def crowded(source: Source) -> list[Any]:
    """Modes that nearly continue one another, where carries and accidents happen."""
    shape = [source.pick((2, 3, 4, 6)) for _ in range(source.integer(2, 3))]
    stride = [source.integer(1, 3)]
    for extent in shape[:-1]:
        stride.append(max(0, stride[-1] * extent + source.pick((-1, 0, 1, 5))))
    b = [source.pick((2, 3, 4)) for _ in range(source.integer(1, 2))]
    return [Layout(tuple(shape), tuple(stride)), Layout(tuple(b), tuple(source.integer(1, 9) for _ in b))]


def with_tiler(source: Source) -> list[Any]:
    a = corpus.any_layout(source, 64)
    return [a, corpus.tiler(source, a)]


def divided(source: Source) -> list[Any]:
    if source.integer(0, 2):
        return with_tiler(source)
    a = corpus.any_layout(source, 64)
    return [a, corpus.tile_of(source, size(a))]


def multiplied(source: Source) -> list[Any]:
    block = corpus.any_layout(source, 32, CHAINED if source.integer(0, 3) else corpus.KINDS)
    style = source.integer(0, 4)
    if style == 0:
        return [block, source.integer(1, 8)]
    if style == 1:
        return [block, tuple(source.pick((2, 3, 1, 4)) for _ in range(source.integer(1, len(block))))]
    return [
        block,
        corpus.layout(source, 16, ("compact", "permuted") if style < 4 else ("gapped", "zeros", "arbitrary")),
    ]


def interleaved(source: Source) -> list[Any]:
    block, _ = multiplied(source)
    return [block, corpus.layout(source, 16, ("compact", "permuted"))]


def tiled_shape(source: Source) -> list[Any]:
    atom = corpus.any_layout(source, 32, CHAINED)
    shape = [size(mode) * source.integer(1, 4) for mode in atom] + [3] * source.integer(0, 1)
    if source.integer(0, 5) == 5:
        shape[0] += 1
    return [atom, tuple(shape), tuple(corpus.shuffled(source, len(shape)))]


def ordered(source: Source) -> list[Any]:
    shape = corpus.shape(source)
    return [shape, corpus.like([source.integer(0, 3) for _ in _leaves(shape)], shape)]


def recast(source: Source) -> list[Any]:
    n = source.pick((2, 4, 8, 3))
    layout = corpus.any_layout(source, 64)
    if isinstance(layout, Layout) and source.integer(0, 1):
        flat = [d * source.pick((1, n, n)) for d in _leaves(layout.stride)]
        layout = Layout(layout.shape, corpus.like(flat, layout.shape))
    return [layout, n]


def bits(source: Source) -> list[Any]:
    layout, _ = recast(source)
    new, old = source.pick((4, 8, 16, 32, 128)), source.pick((4, 8, 16, 32))
    return [new, old, layout]


def sliced(source: Source) -> list[Any]:
    layout = corpus.any_layout(source, 64)
    coordinate = corpus.coordinate(source, layout.shape, 4)
    if source.integer(0, 15) == 15:
        coordinate = tuple(size(mode) for mode in layout)
    return [coordinate, layout]


def diced(source: Source) -> list[Any]:
    layout = corpus.layout(source, 64)
    top = layout.shape if isinstance(layout.shape, tuple) else (layout.shape,)
    layout = Layout(top, layout.stride if isinstance(layout.stride, tuple) else (layout.stride,))
    return [layout, tuple(corpus.coordinate(source, mode, 4) for mode in top)]


def called(source: Source) -> list[Any]:
    if source.integer(0, 4) == 4:
        return [corpus.swizzle(source), source.integer(0, 400)]
    layout = corpus.any_layout(source, 64)
    return [layout, corpus.coordinate(source, layout.shape) if source.integer(0, 9) else size(layout)]


def located(source: Source) -> list[Any]:
    layout = corpus.any_layout(source, 64)
    return [corpus.coordinate(source, layout.shape), layout]


def whole_tiles(source: Source) -> tuple[Any, tuple[int, ...]]:
    layout = corpus.any_layout(source, 64)
    return layout, tuple(source.pick(corpus.divisors(size(mode))) for mode in layout)


def local_tile(source: Source) -> list[Any]:
    layout, tiler = whole_tiles(source)
    grid = [size(mode) // tile for mode, tile in zip(layout, tiler, strict=True)]
    return [layout, tiler, tuple(source.integer(0, n if source.integer(0, 15) == 15 else n - 1) for n in grid)]


def local_partition(source: Source) -> list[Any]:
    layout, tiler = whole_tiles(source)
    threads = make_ordered_layout(tiler, tuple(corpus.shuffled(source, len(tiler))))
    return [layout, threads, source.integer(0, size(threads) - 1)]


def grouped(source: Source) -> list[Any]:
    layout = corpus.any_layout(source, 64)
    return [layout, source.integer(0, len(layout) - 1), source.integer(1, len(layout))]


def profiled(source: Source) -> list[Any]:
    layout = corpus.any_layout(source, 64)
    return [layout] if source.integer(0, 2) else [layout, (1,) * source.integer(1, len(layout))]


def swizzled(source: Source) -> list[Any]:
    return [ComposedLayout(corpus.swizzle(source), 0, corpus.layout(source, 64, CHAINED))]


def coordinates(source: Source) -> list[Any]:
    """An identity layout, which maps to coordinates, with a layout or a tiler to index or divide it by."""
    identity = make_identity_layout(corpus.shape(source, 64))
    if source.integer(0, 1):
        return [identity, corpus.tiler(source, identity, keep=False)]
    tile = corpus.tile_of(source, size(identity))
    return [identity, Layout(tile) if isinstance(tile, int) else tile]


def common(source: Source) -> list[Any]:
    a = corpus.layout(source, 64, ("compact", "permuted", "gapped"))
    flat = _leaves(a.stride)
    mode = source.integer(0, len(flat) - 1)
    flat[mode] *= source.integer(1, 3)
    return [a, Layout(a.shape, corpus.like(flat, a.shape))]


def _leaves(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in _leaves(item)] if isinstance(value, tuple) else [value]


def one(kinds: tuple[str, ...] = corpus.KINDS) -> Callable[[Source], list[Any]]:
    return lambda source: [corpus.layout(source, 64, kinds)]


def any_one(source: Source) -> list[Any]:
    return [corpus.any_layout(source, 64)]


#: How many cases of each operation, and where their operands come from.
PLAN: list[tuple[str, int, Callable[[Source], list[Any]]]] = [
    ("call", 80, called),
    ("crd2idx", 40, located),
    ("idx2crd", 40, lambda source: (lambda shape: [corpus.coordinate(source, shape), shape])(corpus.shape(source))),
    ("size", 20, any_one),
    ("cosize", 60, any_one),
    ("coalesce", 160, profiled),
    ("filter", 50, any_one),
    ("filter_zeros", 40, any_one),
    ("flatten", 30, any_one),
    ("group_modes", 40, grouped),
    (
        "select",
        30,
        lambda source: (lambda a: [a, tuple(corpus.shuffled(source, len(a)))])(corpus.any_layout(source, 64)),
    ),
    ("append", 30, lambda source: [corpus.any_layout(source, 32), corpus.layout(source, 6)]),
    ("prepend", 30, lambda source: [corpus.any_layout(source, 32), corpus.layout(source, 6)]),
    ("make_ordered_layout", 80, ordered),
    ("make_layout_like", 40, one(("compact", "permuted", "gapped", "padded", "zeros"))),
    ("composition", 330, pair),
    ("composition", 150, crowded),
    ("composition", 120, with_tiler),
    ("composition", 50, coordinates),
    ("zipped_divide", 30, coordinates),
    ("complement", 120, lambda source: [corpus.layout(source, 64, CHAINED), source.integer(1, 120)]),
    ("complement", 80, lambda source: [corpus.layout(source, 64), source.integer(1, 120)]),
    ("right_inverse", 80, one()),
    ("left_inverse", 100, one()),
    ("right_inverse", 30, swizzled),
    ("left_inverse", 40, swizzled),
    ("nullspace", 40, one(("zeros", "compact"))),
    ("max_common_layout", 50, common),
    ("max_common_vector", 50, common),
    ("logical_divide", 170, divided),
    ("zipped_divide", 120, divided),
    ("tiled_divide", 70, divided),
    ("flat_divide", 70, divided),
    ("logical_product", 120, multiplied),
    ("zipped_product", 60, multiplied),
    ("tiled_product", 50, multiplied),
    ("flat_product", 50, multiplied),
    ("blocked_product", 70, interleaved),
    ("raked_product", 70, interleaved),
    ("tile_to_shape", 80, tiled_shape),
    ("upcast", 80, recast),
    ("downcast", 60, recast),
    ("recast_layout", 80, bits),
    ("slice_and_offset", 140, sliced),
    ("dice", 30, diced),
    ("local_tile", 50, local_tile),
    ("local_partition", 40, local_partition),
]


class DisagreementError(Exception):
    """The package and the judge disagree about a case."""


def case_of(operation: str, operands: list[Any]) -> dict[str, Any]:
    """The case of an operation on operands: the answer, or the reason why there is none, that the judge accepts."""
    data = [encode(operand) for operand in operands]
    case: dict[str, Any] = {"operation": operation, "operands": data}
    try:
        answer = run(operation, data)
        case["answer"] = encode(answer)
    except LayoutError as error:
        answer = REFUSED
        case |= {"refused": type(error).__name__, "reason": str(error)}
    wrong = fault(operation, tuple(operands), answer)
    if wrong:
        raise DisagreementError(f"{spelled(operation, data)}: {wrong}")
    return case


def suite() -> list[dict[str, Any]]:
    """All cases, none twice."""
    seen: set[str] = set()
    cases = []
    for number, (operation, wanted_count, generate) in enumerate(PLAN):
        count = attempt = 0
        while count < wanted_count:
            attempt += 1
            source = corpus.SeededSource(f"{SEED}/{number}/{operation}/{attempt}")
            operands = generate(source)
            key = json.dumps([operation, [encode(operand) for operand in operands]])
            if key in seen:
                continue
            seen.add(key)
            try:
                cases.append(case_of(operation, operands))
            except TooLargeError:
                continue
            count += 1
    return cases


def question(case: dict[str, Any]) -> str:
    """What a case asks."""
    return json.dumps([case["operation"], case["operands"]])


def marked(cases: list[dict[str, Any]], include: Path | None) -> dict[str, str]:
    """Give every case the marks of CuTe, and return who gave them: asked now, or those of the file."""
    if include is not None:
        cuda = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
        for case, dsl, cpp in zip(cases, dsl_marks(cases), cpp_marks(cases, include, cuda), strict=True):
            case |= dsl | cpp
        return {"dsl": dsl_version(), "cpp": cpp_version(include)}
    current = json.loads(FILE.read_text(encoding="utf-8"))
    known = {question(case): case for case in current["cases"]}
    for case in cases:
        for who in ("dsl", "cpp") if question(case) in known else ():
            case |= remark(case, who, known[question(case)])
    return {who: current["asked"][who]["version"] for who in ("dsl", "cpp")}


def render(cases: list[dict[str, Any]], asked: dict[str, str]) -> str:
    """The file: a readable header, then one case a line."""
    number: dict[str, int] = {}
    for case in cases:
        number[case["operation"]] = number.get(case["operation"], 0) + 1
    refused = sum("refused" in case for case in cases)
    header = HEADER | {
        "seed": SEED,
        "cases in all": len(cases),
        "of them refused": refused,
        "asked": {who: {"version": version, **counts(cases, who)} for who, version in asked.items()},
        "cases an operation": number,
    }
    head = json.dumps(header, indent=2, ensure_ascii=False)[:-2]
    lines = ",\n".join("    " + json.dumps(case, ensure_ascii=False) for case in cases)
    return f'{head},\n  "cases": [\n{lines}\n  ]\n}}\n'


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]) and (len(arguments) != 2 or arguments[0] != "--mark"):
        print(__doc__, file=sys.stderr)
        return 2
    include = Path(arguments[1]) if len(arguments) == 2 else None
    try:
        cases = suite()
        text = render(cases, marked(cases, include))
    except DisagreementError as error:
        print(f"make_conformance: {error}", file=sys.stderr)
        return 1
    return write_or_check(FILE, text, "make_conformance.py", __doc__, [] if include else arguments)


if __name__ == "__main__":
    end(main, sys.argv[1:])
