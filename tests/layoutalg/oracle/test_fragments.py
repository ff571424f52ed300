"""Register fragments, tiled MMAs and tiled copies beside the CuTe DSL's own, asked live."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from dsl import comparable
from dsl_fragments import fragments
from seeds import seeds_of

from layoutalg import Layout, fragment, make_layout_tv, offsets, parse_layout, size
from layoutalg.fragments.fragment_names import names
from layoutalg.fragments.tiled_copy import (
    copy_atom,
    make_tiled_copy_A,
    make_tiled_copy_B,
    make_tiled_copy_C,
    make_tiled_copy_tv,
)
from layoutalg.fragments.tiled_mma import TiledMma, make_tiled_mma, mma_atom
from layoutalg.oracle import available

pytestmark = pytest.mark.skipif(not available(), reason="nvidia-cutlass-dsl is not installed")


def same(first: Any, second: Any) -> bool:
    """Whether two layouts have the same sizes of modes and are the same function."""
    counts = [[int(size(one, mode=[i])) for i in range(len(one))] for one in (first, second)]
    numbers = [np.array(offsets(one)).reshape(-1, order="F") for one in (first, second)]
    return counts[0] == counts[1] and bool((numbers[0] == numbers[1]).all())


def answers(questions: list[dict[str, Any]], target: str = "sm_90a") -> list[Any]:
    replies = fragments(questions, target=target)
    assert [reply for reply in replies if reply.status != "ok"] == []
    return [reply.value for reply in replies]


# Atoms ----------------------------------------------------------------------------------------------------------------

WARP = [
    "m16n8k8.f16",
    "m16n8k16.f16",
    "m16n8k16.bf16",
    "m16n8k4.tf32",
    "m16n8k8.tf32",
    "m16n8k16.e4m3",
    "m16n8k32.e5m2",
]
GROUP = [f"m64n{n}k16.{dtype}" for n in (8, 24, 64, 136, 256) for dtype in ("f16", "bf16")]
GROUP += [f"m64n{n}k32.{dtype}" for n in (8, 64, 256) for dtype in ("e4m3", "e5m2", "s8", "u8")]


def test_mma_and_wgmma_have_the_fragments_of_the_dsl() -> None:
    questions = [{"ask": "mma", "name": f"mma.{one}"} for one in WARP]
    questions += [
        {"ask": "mma", "name": f"wgmma.{one}", "a_source": source} for one in GROUP for source in ("smem", "rmem")
    ]
    for question, answer in zip(questions, answers(questions), strict=True):
        atom = mma_atom(question["name"], a_source=question.get("a_source", "smem"))  # type: ignore[arg-type]
        for theirs, ours in zip("ABC", (atom.a, atom.b, atom.c), strict=True):
            assert same(parse_layout(answer[theirs]), ours), (question, theirs)


CTAS = [
    (name, pair)
    for pair in (1, 2)
    for m in (64 * pair, 128 * pair)
    for n in (32, 256)
    for name in (f"m{m}n{n}k16.bf16", f"m{m}n{n}k8.tf32")
]


def test_the_ctas_of_tcgen05_mma_have_what_the_dsl_says() -> None:
    asked: list[dict[str, Any]] = [{"ask": "mma", "name": f"tcgen05.{name}", "cta_group": pair} for name, pair in CTAS]
    for question, answer in zip(asked, answers(asked, "sm_100a"), strict=True):
        atom = mma_atom(question["name"], cta_group=question["cta_group"])
        for theirs, ours in zip("ABC", (atom.a, atom.b, atom.c), strict=True):
            assert same(parse_layout(answer[theirs]), ours), (question, theirs)


def test_block_scaled_mma_has_the_fragments_of_the_dsl() -> None:
    (answer,) = answers([{"ask": "mma", "name": "mma.m16n8k64.e2m1"}], "sm_120a")
    for operand in "ABC":
        assert same(parse_layout(answer[operand]), fragment(f"mma.m16n8k64.{operand}").layout)


def test_ldmatrix_and_stmatrix_are_the_copies_of_the_dsl() -> None:
    copies = [f"{head}.x{n}{end}" for head in ("ldmatrix", "stmatrix") for n in (1, 2, 4) for end in ("", ".trans")]
    for name, answer in zip(copies, answers([{"ask": "copy", "name": name} for name in copies]), strict=True):
        atom = copy_atom(name)
        assert same(parse_layout(answer["source"]), atom.source), name
        assert same(parse_layout(answer["destination"]), atom.destination), name


def test_tcgen05_ld_and_st_are_the_copies_of_the_dsl() -> None:
    """The DSL numbers the cells of an instruction lane by lane; packed, it counts pairs of columns."""
    moves = [name for name in names() if name.startswith("tcgen05")]
    replies = answers([{"ask": "copy", "name": name} for name in moves], "sm_100a")
    for name, value in zip(moves, replies, strict=True):
        theirs = parse_layout(value["destination" if ".ld." in name else "source"])
        one, packed = fragment(name), "pack" in name
        columns = one.shape[1] // (2 if packed else 1)
        assert size(theirs) * (2 if packed else 1) == size(one.layout)
        for thread in range(32):
            for register in range(one.values // (2 if packed else 1)):
                lane, column = one.element(thread, register * (2 if packed else 1))
                assert theirs(thread, register) == columns * lane + column // (2 if packed else 1), name


# Tiled ----------------------------------------------------------------------------------------------------------------

ATOMS = ["mma.m16n8k16.f16", "mma.m16n8k8.tf32", "mma.m16n8k32.e4m3", "wgmma.m64n16k16.f16"]


def tiled_question(random: Random) -> tuple[dict[str, Any], TiledMma]:
    name = random.choice(ATOMS)
    m, n, k = mma_atom(name).shape_mnk
    counts = [random.choice([1, 2, 4]) for _ in range(2)] + [random.choice([1, 1, 2])]
    order = random.sample(range(3), 3)
    strides, step = [0, 0, 0], 1
    for mode in order:
        strides[mode], step = step, step * counts[mode]
    atoms = Layout(tuple(counts), tuple(strides))
    permutation: Any = None
    if random.random() < 0.5:
        permutation = [None, None, None]
        mode = random.randrange(2)
        reach = (m, n)[mode] * counts[mode]
        permutation[mode] = random.choice(
            [
                2 * reach,
                f"({reach // counts[mode]},{counts[mode]},2):(1,{2 * reach // counts[mode]},{reach // counts[mode]})",
            ]
        )
    extents = tuple((m, n, k)[i] * counts[i] * 4 for i in range(3))
    side = extents[0] * extents[1] * extents[2]
    del side
    rows = 4 * max(m * counts[0], n * counts[1])
    columns = 4 * max(n * counts[1], k * counts[2])
    layout = random.choice([f"({rows},{columns}):({columns},1)", f"({rows},{columns}):(1,{rows})"])
    tiled = make_tiled_mma(
        name,
        atoms,
        None
        if permutation is None
        else tuple(parse_layout(one) if isinstance(one, str) else one for one in permutation),
    )
    threads = random.sample(range(int(size(tiled.thr_layout_vmnk))), 4)
    question = {"ask": "tiled_mma", "name": name, "atoms": str(atoms), "permutation": permutation}
    return {**question, "layout": layout, "threads": threads}, tiled


def leaves_the_tile(theirs: Any, tiled: TiledMma, operand: str) -> bool:
    """The DSL's known wrong answer: where atoms lie along K, its C of the second group lies behind the tile."""
    m, n, _ = tiled.tile_mnk
    outside = int(np.array(offsets(theirs)).max()) >= m * n
    return operand == "C" and int(size(tiled.atom_layout[2])) > 1 and outside


@pytest.mark.parametrize("seed", seeds_of("test_tiled_mmas_partition_as_the_dsl_does"))
def test_tiled_mmas_partition_as_the_dsl_does(seed: int) -> None:
    random = Random(seed)
    cases = [tiled_question(random) for _ in range(16)]
    for (question, tiled), answer in zip(cases, answers([question for question, _ in cases]), strict=True):
        layout = parse_layout(question["layout"])
        assert isinstance(layout, Layout)
        assert comparable(str(tiled.thr_layout_vmnk)) == comparable(answer["vmnk"])
        for operand in "ABC":
            ours, theirs = getattr(tiled, f"thrfrg_{operand}")(layout), parse_layout(answer[f"thrfrg_{operand}"])
            assert same(ours, theirs), (question, operand)
            assert comparable(str(ours)) == comparable(str(theirs))
            tv, its = tiled.tv_layout(operand), parse_layout(answer[f"tv_{operand}"])  # type: ignore[arg-type]
            assert same(tv, its) or leaves_the_tile(its, tiled, operand), (question, operand)
            for thread, (text, offset) in zip(question["threads"], answer[f"partition_{operand}"], strict=True):
                mine, start = getattr(tiled, f"partition_{operand}")(layout, thread)
                assert start == int(offset)
                assert same(mine, parse_layout(text))
                assert comparable(str(mine)) == comparable(text)


def test_make_layout_tv_gives_what_the_dsl_gives() -> None:
    pairs = [("(4,8):(8,1)", "(2,4):(4,1)"), ("(2,3):(3,1)", "(2,2):(2,1)"), ("(32,4):(1,32)", "(1,8):(0,1)")]
    pairs += [("(16,8):(8,1)", "(8,1):(1,0)"), ("((2,4),8):((1,16),2)", "(4,2):(1,4)"), ("128:1", "4:1")]
    questions = [{"ask": "tv", "threads": threads, "values": values} for threads, values in pairs]
    for (threads, values), answer in zip(pairs, answers(questions), strict=True):
        tiler, layout = make_layout_tv(parse_layout(threads), parse_layout(values))  # type: ignore[arg-type]
        assert str(layout) == answer["layout"]
        assert str(tiler) == answer["tiler"]


COPIES = [
    ("A", "ldmatrix.x4"),
    ("A", "ldmatrix.x2"),
    ("B", "ldmatrix.x2"),
    ("B", "ldmatrix.x1"),
    ("C", "stmatrix.x2"),
    ("A", 2),
    ("C", 2),
]


def test_tiled_copies_partition_as_the_dsl_does() -> None:
    common = {"ask": "tiled_copy", "mma": "mma.m16n8k16.f16", "permutation": None, "layout": "(128,64):(64,1)"}
    numbers = [0, 5, 37, 127]
    questions = [
        {**common, "name": name, "of": which, "atoms": "(2,2,1):(1,2,0)", "numbers": numbers} for which, name in COPIES
    ]
    threads, values = "(16,8):(8,1)", "(1,8):(0,1)"
    plain = [{**common, "name": n, "threads": threads, "values": values, "numbers": numbers} for n in (8, 4, 1)]
    replies = answers(questions + plain)
    mma, layout = make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1)), parse_layout(common["layout"])
    makers = {"A": make_tiled_copy_A, "B": make_tiled_copy_B, "C": make_tiled_copy_C}
    copies = [makers[which](name, mma) for which, name in COPIES]
    copies += [make_tiled_copy_tv(n, parse_layout(threads), parse_layout(values)) for n in (8, 4, 1)]  # type: ignore[arg-type]
    for copy, answer, question in zip(copies, replies, questions + plain, strict=True):
        for side in "SD":
            for number, (text, offset) in zip(numbers, answer[side], strict=True):
                mine, start = getattr(copy, f"partition_{side}")(layout, number)
                assert start == int(offset)
                assert same(mine, parse_layout(text)), (question, side)
                assert comparable(str(mine)) == comparable(text)
