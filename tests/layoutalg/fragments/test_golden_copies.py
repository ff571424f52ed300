"""Tiled copies, tiled MMAs, tiles and partitions as the CuTe DSL computes them, question by question.

A question is one result of one recorded case, such as the partition by S of one tensor, or the TV layout of A. It is
right if the two agree at every recorded thread and every value. Where the DSL contradicts itself (its partition of the
identity tensor names other elements) or its layout leaves the tile, its result is not used.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from each import each
from places import VECTORS

import layoutalg as la
from layoutalg import LayoutError, evaluate, parse_layout, size
from layoutalg.tuples.int_tuple import text

RECORD = json.loads(lzma.decompress((VECTORS / "copies.json.xz").read_bytes()))
BITS = {
    "f64": 64,
    "f32": 32,
    "tf32": 32,
    "s32": 32,
    "f16": 16,
    "bf16": 16,
    "e4m3": 8,
    "e5m2": 8,
    "i8": 8,
    "u8": 8,
    "e2m1": 4,
}

#: The name of a question, and a function that returns whether our answer is the recorded one.
Question = tuple[str, Callable[[], bool]]


def atom_name(atom: dict[str, Any]) -> str:
    """The name of an atom as people write it."""
    if atom["op"] in ("universal", "cp.async"):
        return f"{atom['op']}.{atom['bits']}"
    if atom["op"].startswith("tcgen05"):
        return f"{atom['op']}.{atom['shape']}.x{atom['x']}"
    return f"{atom['op']}.x{atom['x']}{'.trans' * atom['trans']}"


def copy_atom(atom: dict[str, Any]) -> la.CopyAtom:
    return la.copy_atom(atom_name(atom), BITS[atom["type"]])


def tilers(values: list[Any]) -> tuple[Any, ...]:
    return tuple(evaluate(value) if isinstance(value, str) else value for value in values)


def tiled_mma(case: dict[str, Any]) -> la.TiledMma:
    """The tiled MMA of a case."""
    m, n, k = case["shape"]
    head = {"mma.sync": "mma", "wgmma": "wgmma", "tcgen05.mma": "tcgen05"}[case["op"]]
    kind = case["type"].replace("i8", "s8")
    atom = la.mma_atom(f"{head}.m{m}n{n}k{k}.{kind}", case.get("a_source") or "smem", case.get("cta_group") or 1)
    atoms = evaluate(case["atoms"])
    permutation = case["permutation"]
    return la.make_tiled_mma(atom, atoms, None if permutation is None else tilers(permutation))  # type: ignore[arg-type]


def tiled_copy(case: dict[str, Any], kind: str) -> la.TiledCopy:
    """The tiled copy of a case."""
    atom = copy_atom(case["atom"])
    match kind:
        case "tiled_copy_tv":
            return la.make_tiled_copy_tv(atom, parse_layout(case["thr"]), parse_layout(case["val"]))  # type: ignore[arg-type]
        case "tiled_copy":
            return la.make_tiled_copy(atom, parse_layout(case["layout_tv"]), tilers(case["tiler"]))  # type: ignore[arg-type]
        case "tiled_copy_mma":
            return getattr(la, f"make_tiled_copy_{case['side']}")(atom, tiled_mma(case["mma"]))  # type: ignore[no-any-return]
        case "tiled_copy_C_atom":
            return la.make_tiled_copy_C_atom(atom, tiled_mma(case["mma"]))
        case "tiled_copy_SD":
            first = tiled_copy(case["first"], case["first"]["make"])
            return getattr(la, f"make_tiled_copy_{case['side']}")(atom, first)  # type: ignore[no-any-return]
    return la.make_cotiled_copy(atom, parse_layout(case["atom_tv"]), parse_layout(case["data"]))  # type: ignore[arg-type]


def values_of(layout: Any) -> list[Any]:
    """The values of a layout at all indices."""
    return [layout(i) for i in range(int(size(layout)))]


def same_function(ours: Any, text: str) -> bool:
    """Whether a layout has the modes of a text at the top level, and its values."""
    theirs: Any = parse_layout(text)
    if ours == theirs:
        return True
    return [size(mode) for mode in ours] == [size(mode) for mode in theirs] and values_of(ours) == values_of(theirs)


def _flat_terms(value: Any, rank: int) -> tuple[int, ...]:
    """A sum of basis elements as a tuple of numbers."""
    if isinstance(value, int):
        return (0,) * rank
    if isinstance(value, tuple):
        return tuple(int(part) for part in value) + (0,) * (rank - len(value))
    point = [0] * rank
    for term in str(value).strip("()").split("+"):
        number, _, mode = term.partition("@")
        point[int(mode)] += int(number)
    return tuple(point)


def points_of(layout: Any, offset: Any, rank: int) -> list[tuple[int, ...]]:
    start = _flat_terms(tuple(offset) if isinstance(offset, list) else offset, rank)
    return [tuple(a + b for a, b in zip(_flat_terms(value, rank), start, strict=True)) for value in values_of(layout)]


def same_partition(ours: tuple[Any, Any], theirs: dict[str, Any]) -> bool:
    """Whether two partitions have the same top-level extents and the same elements."""
    layout: Any = parse_layout(theirs["layout"])
    mine, offset = ours
    start = tuple(theirs["offset"]) if isinstance(theirs["offset"], list) else theirs["offset"]
    if mine == layout and (offset == start or _flat_terms(offset, 5) == _flat_terms(start, 5)):
        return True
    if [size(mode) for mode in mine] != [size(mode) for mode in layout]:
        return False
    if isinstance(theirs["offset"], list):
        rank = len(theirs["offset"])
        return points_of(mine, offset, rank) == points_of(layout, theirs["offset"], rank)
    return [v + offset for v in values_of(mine)] == [v + theirs["offset"] for v in values_of(layout)]


def identity(tensor: Any) -> Any:
    return la.make_identity_layout(tuple(int(size(mode)) for mode in tensor))


def of_threads(partition: Callable[[Any, int], Any], tensor: Any, rows: list[dict[str, Any]]) -> bool:
    return all(same_partition(partition(tensor, row["thread"]), row) for row in rows)


def questions(row: dict[str, Any]) -> Iterator[Question]:
    """Every question of a case."""
    case, dsl = row["case"], row["dsl"]
    kind, skipped = case["kind"], {*row.get("contradictions", ()), *row.get("leaves_the_tile", ())}
    if kind == "copy_atom":
        yield "source", lambda: same_function(copy_atom(case["atom"]).source, dsl["src"])
        yield "destination", lambda: same_function(copy_atom(case["atom"]).destination, dsl["dst"])
        yield "print", lambda: same_function(evaluate(dsl["print"]).source, dsl["src"])
        yield (
            "reference",
            lambda: values_of(evaluate(dsl["print"]).reference) == values_of(copy_atom(case["atom"]).reference),
        )
    elif kind == "tiled_mma":
        yield from mma_questions(case, dsl, skipped)
    elif kind == "local_tile":
        tensor: Any = parse_layout(case["tensor"])
        arguments = (tuple(case["tiler"]), tuple(case["coord"]), None if case["proj"] is None else tuple(case["proj"]))
        if "tile" not in skipped:
            yield "tile", lambda: same_partition(la.local_tile(tensor, *arguments), dsl["tile"])
        yield "coordinates", lambda: same_partition(la.local_tile(identity(tensor), *arguments), dsl["coordinates"])
    elif kind == "local_partition":
        tensor, threads = parse_layout(case["tensor"]), parse_layout(case["thr"])
        for name, whole in (("parts", tensor), ("coordinates", identity(tensor))):
            if name not in skipped:
                yield (
                    name,
                    lambda whole=whole, name=name: of_threads(  # type: ignore[misc]
                        lambda layout, thread: la.local_partition(layout, threads, thread), whole, dsl[name]
                    ),
                )
    elif kind == "tma_partition":
        yield from tma_questions(case, dsl)
    else:
        yield from copy_questions(row, case, dsl, skipped)


def mma_questions(case: dict[str, Any], dsl: dict[str, Any], skipped: set[str]) -> Iterator[Question]:
    @cache
    def make() -> la.TiledMma:
        return tiled_mma(case["mma"])

    yield (
        "threads",
        lambda: same_function(make().thr_layout_vmnk, dsl["thr_layout_vmnk"]) and make().size == dsl["size"],
    )
    yield "tile", lambda: list(make().tile_mnk) == dsl["tile_mnk"]
    for operand in "ABC":
        if f"partition_{operand}" not in dsl:
            continue
        tensor: Any = parse_layout(case["tensors"][operand]["layout"])
        yield (
            f"tv {operand}",
            lambda o=operand: same_function(  # type: ignore[misc]
                getattr(make().atom, o.lower()), dsl[f"tv_{o}"]
            ),
        )
        yield (
            f"coordinates {operand}",
            lambda o=operand, t=tensor: of_threads(  # type: ignore[misc]
                getattr(make(), f"partition_{o}"), identity(t), dsl[f"coordinates_{o}"]
            ),
        )
        shape = tuple(int(size(mode)) for mode in tensor)[:2]
        if f"partition_shape_{operand}" in dsl:
            yield (
                f"partition shape {operand}",
                lambda o=operand, s=shape: (  # type: ignore[misc]
                    text(getattr(make(), f"partition_shape_{o}")(s)) == dsl[f"partition_shape_{o}"]
                ),
            )
        if operand in skipped:
            continue
        yield (
            f"tv of the tile {operand}",
            lambda o=operand: same_function(  # type: ignore[misc]
                make().tv_layout(o), dsl[f"tv_tiled_{o}"]
            ),
        )
        yield (
            f"partition {operand}",
            lambda o=operand, t=tensor: of_threads(  # type: ignore[misc]
                getattr(make(), f"partition_{o}"), t, dsl[f"partition_{o}"]
            ),
        )
        yield (
            f"print, partition {operand}",
            lambda o=operand, t=tensor: of_threads(  # type: ignore[misc]
                getattr(evaluate(dsl["print"]), f"partition_{o}"), t, dsl[f"partition_{o}"]
            ),
        )


def copy_questions(
    row: dict[str, Any], case: dict[str, Any], dsl: dict[str, Any], skipped: set[str]
) -> Iterator[Question]:
    if row.get("too_few_values") or skipped & {"S", "D"}:
        return
    tensor: Any = parse_layout(case["tensor"])

    @cache
    def make() -> la.TiledCopy:
        return tiled_copy(case, case["kind"])

    if "make_layout_tv" in dsl:
        yield (
            "make_layout_tv",
            lambda: (
                same_function(make().layout_tv, dsl["make_layout_tv"][1])
                and list(make().tiler) == list(evaluate(dsl["make_layout_tv"][0]))
            ),
        )
    yield "tiled layout", lambda: same_function(make().layout_tv, dsl["layout_tv_tiled"])
    yield "source layout", lambda: same_function(make().layout_src_tv_tiled, dsl["layout_src_tv_tiled"])
    yield "destination layout", lambda: same_function(make().layout_dst_tv_tiled, dsl["layout_dst_tv_tiled"])
    yield "size", lambda: make().size == dsl["size"]
    yield "text", lambda: str(make()).startswith("a tiled copy")
    for side in "SD":
        for name, whole in ((side, tensor), (f"{side}_coordinates", identity(tensor))):
            yield (
                name,
                lambda s=side, n=name, w=whole: of_threads(  # type: ignore[misc]
                    getattr(make(), f"partition_{s}"), w, dsl[n]
                ),
            )
        yield (
            f"print, {side}",
            lambda s=side: of_threads(  # type: ignore[misc]
                getattr(evaluate(dsl["print"]), f"partition_{s}"), tensor, dsl[s]
            ),
        )
    for name in ("retile", "retile_of_fragment"):
        for entry in dsl.get(name, ()):
            yield name, lambda e=entry: same_partition((make().retile(parse_layout(e["of"])), 0), e)  # type: ignore[misc, arg-type]


def tma_questions(case: dict[str, Any], dsl: dict[str, Any]) -> Iterator[Question]:
    tensor: Any = parse_layout(dsl["tma_tensor"]["layout"])
    smem: Any = parse_layout(case["smem"])
    atom = evaluate(dsl["atom"]["print"])
    tile = tuple(case["cta_tiler"])

    def tiles() -> tuple[Any, Any]:
        return la.local_tile(tensor, tile, (None, None))

    yield "tiles", lambda: same_partition(tiles(), dsl["tiles"])
    for part in dsl["parts"]:

        def parts(cta: int = part["cta"]) -> Any:
            grouped = la.group_modes(smem, 0, 2), la.group_modes(tiles()[0], 0, 2)
            return la.tma_partition(atom, cta, la.Layout(case["multicast"]), *grouped)

        yield "gmem", lambda p=part, f=parts: same_partition(f()[1], p["gmem"])  # type: ignore[misc]
        yield "smem", lambda p=part, f=parts: same_layout(f()[0], p["smem"]["layout"])  # type: ignore[misc]


def same_layout(ours: tuple[Any, Any], text: str) -> bool:
    """Whether a partition of shared memory is a layout; the DSL does not print the offset of a plain one."""
    layout, offset = ours
    theirs: Any = parse_layout(text)
    if [size(mode) for mode in layout] != [size(mode) for mode in theirs]:
        return False
    plain = isinstance(theirs, la.Layout)
    return [layout(i) + (0 if plain else offset) for i in range(int(size(layout)))] == values_of(theirs)


CASES = [row for row in RECORD["cases"] if row["status"] == "ok"]
KINDS = sorted({row["case"]["kind"] for row in CASES})

#: Questions that are refused, and why: CuTe rounds up a tensor that the tile does not divide, and the DSL repeats
#: elements if a copy has fewer values than its atom, which C++ refuses.
TILE_DOES_NOT_DIVIDE = "tile does not divide the tensor"
TOO_FEW_VALUES = "too few values"
#: By kind of case: right answers, answers refused for each reason. Nothing else is refused, and nothing is wrong.
TABLE: dict[str, tuple[int, dict[str, int]]] = {
    "copy_atom": (172, {}),
    "cotiled_copy": (178, {}),
    "local_partition": (70, {TILE_DOES_NOT_DIVIDE: 14}),
    "local_tile": (48, {TILE_DOES_NOT_DIVIDE: 16}),
    "tiled_copy": (322, {}),
    "tiled_copy_C_atom": (39, {}),
    "tiled_copy_SD": (238, {TOO_FEW_VALUES: 60}),
    "tiled_copy_mma": (657, {TILE_DOES_NOT_DIVIDE: 24}),
    "tiled_copy_tv": (1471, {TILE_DOES_NOT_DIVIDE: 144}),
    "tiled_mma": (1469, {TILE_DOES_NOT_DIVIDE: 36}),
    "tma_partition": (166, {TILE_DOES_NOT_DIVIDE: 41}),
}


def reason(row: dict[str, Any], error: LayoutError) -> str:
    """Why a question is refused."""
    message = str(error)
    if "too few values" in message:
        return TOO_FEW_VALUES
    rounded = not row["case"].get("divides", True) or row["case"]["kind"] == "tma_partition" or "divide" in message
    return TILE_DOES_NOT_DIVIDE if rounded else message


@each("kind", KINDS)
def test_every_answer_is_the_dsls_or_is_refused_for_a_known_reason(kind: str) -> None:
    right, wrong, refused = 0, [], Counter[str]()
    for row in CASES:
        if row["case"]["kind"] != kind:
            continue
        for name, question in questions(row):
            try:
                if question():
                    right += 1
                else:
                    wrong.append((row["id"], name))
            except LayoutError as error:
                refused[reason(row, error)] += 1
    assert not wrong
    assert (right, dict(refused)) == TABLE[kind]
