"""Tiled copies and MMAs as CuTe prints them, in C++ and in the DSL."""

from __future__ import annotations

import json
from typing import Any

import pytest
from each import each
from places import VECTORS

from layoutalg import (
    Layout,
    LayoutError,
    TiledCopy,
    evaluate,
    make_tiled_copy_A,
    make_tiled_copy_B,
    make_tiled_copy_C,
    make_tiled_copy_tv,
    make_tiled_mma,
)

RECORD = json.loads((VECTORS / "tiled_prints.json").read_text(encoding="utf-8"))
PRINTS = [(kind, name, text) for kind in ("cpp", "dsl") for name, text in RECORD[kind].items()]


def ours(name: str) -> Any:
    """The same, made here."""
    mma = make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1))
    wide = make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1), (32, 32, 16))
    return {
        "copy": make_tiled_copy_tv(8, Layout((16, 8), (8, 1)), Layout((1, 8))),
        "mma": mma,
        "mma 32x32x16": wide,
        "ldmatrix.x4 A": make_tiled_copy_A("ldmatrix.x4", wide),
        "ldmatrix.x2 B": make_tiled_copy_B("ldmatrix.x2", mma),
        "stmatrix.x4 C": make_tiled_copy_C("stmatrix.x4", wide),
        "wgmma": make_tiled_mma("wgmma.m64n128k16", (2, 1, 1)),
        "tcgen05": make_tiled_mma("tcgen05.m128n64k16"),
    }[name]


@each(("kind", "name", "text"), PRINTS, ids=[f"{kind} {name}" for kind, name, _ in PRINTS])
def test_a_print_is_the_copy_or_mma_that_it_was_printed_of(kind: str, name: str, text: str) -> None:
    value, mine = evaluate(text), ours(name)
    if isinstance(mine, TiledCopy):
        pairs = [(value.partition_S, mine.partition_S), (value.partition_D, mine.partition_D)]
        extents = [int(tile) for tile in mine.tiler]
        threads = 128
    else:
        names = ("partition_A", "partition_B", "partition_C")
        pairs = [(getattr(value, one), getattr(mine, one)) for one in names]
        extents, threads = [], int(mine.thr_layout_vmnk.shape[0]) * 2
        assert value.tile_mnk == mine.tile_mnk
    for index, (theirs, here) in enumerate(pairs):
        i, j = ((0, 2), (1, 2), (0, 1))[index]
        rows, columns = extents or (mine.tile_mnk[i], mine.tile_mnk[j])
        tensor = Layout((2 * rows, columns), (columns, 1))
        for thread in range(0, threads if threads > 2 else 1, 7):
            (one, start), (other, begin) = theirs(tensor, thread), here(tensor, thread)
            assert start == begin and [one(v) for v in range(8)] == [other(v) for v in range(8)]


@each(
    ("text", "said"),
    [
        ("TiledCopy\n  Tiler_MN: (_16,_8)\n", "the line tvlayouttiled of the tiled copy or MMA is missing"),
        (
            RECORD["cpp"]["mma"].replace("(_32,_2,_2,_1):(_1,_32,_64,_0)", "(_32,_2):(_1,_32)"),
            "forms V, M, N, K and",
        ),
        (RECORD["cpp"]["mma"].replace("_64,_0", "_65,_0"), "the threads of an atom are not consecutive"),
        (RECORD["cpp"]["mma"] + RECORD["cpp"]["wgmma"], "twice"),
        (RECORD["dsl"]["copy"].replace("TV Layout Dst:   (1,8):(0,1)", "TV Layout Dst:   (2,4):(4,1)"), "ValLayoutRef"),
    ],
)
def test_a_print_that_is_not_whole_is_refused(text: str, said: str) -> None:
    with pytest.raises(LayoutError) as error:
        evaluate(text)
    assert said in str(error.value)
