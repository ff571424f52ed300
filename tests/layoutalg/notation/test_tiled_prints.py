"""Tiled copies and MMAs as CuTe prints them, in C++ and in the DSL."""

from __future__ import annotations

import json
from typing import Any

import pytest
from each import each
from places import VECTORS

from layoutalg import (
    CopyAtom,
    Layout,
    LayoutError,
    TiledCopy,
    copy_atom,
    evaluate,
    make_tiled_copy_A,
    make_tiled_copy_B,
    make_tiled_copy_C,
    make_tiled_copy_tv,
    make_tiled_mma,
)
from layoutalg.notation.expression import entries

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
        ("TiledCopy\n  Tiler_MN: (_16,_8)\n", "has no line TiledLayout_TV (C++) or TV Layout tiled (DSL)"),
        (
            RECORD["cpp"]["mma"].replace("(_32,_2,_2,_1):(_1,_32,_64,_0)", "(_32,_2):(_1,_32)"),
            "not of the form V, M, N, K",
        ),
        (RECORD["cpp"]["mma"].replace("_64,_0", "_65,_0"), "the threads of an atom are not consecutive"),
        (RECORD["dsl"]["copy"].replace("Copy Atom\n", "  Tiler MN: (1,1)\n"), "has the line Tiler MN twice"),
        ("partition_X(" + RECORD["dsl"]["copy"] + ", (64,64):(64,1), 5)", "'partition_X' is not an operation"),
        (
            "size(" + RECORD["dsl"]["copy"] + ")",
            "size: a tiled copy: 128 threads, 8 values each, 8 of them at once is not a",
        ),
        ("flatten(" + RECORD["cpp"]["mma"] + ")", "is not a layout; supported operations are those of copies and MMAs"),
        (RECORD["dsl"]["copy"] + "\nx = (8,:1\n" + RECORD["dsl"]["mma"], "between the prints"),
        (RECORD["dsl"]["copy"].replace("TV Layout Dst:   (1,8):(0,1)", "TV Layout Dst:   (2,4):(4,1)"), "ValLayoutRef"),
    ],
)
def test_a_print_that_is_not_whole_is_refused(text: str, said: str) -> None:
    with pytest.raises(LayoutError) as error:
        evaluate(text)
    assert said in str(error.value)


#: Prints of the DSL 4.8.1 whose memory side is the one with a stride of 0 among its threads.
X1 = {
    "ldmatrix.x1": "Copy Atom\n  ThrID: 32:1\n  TV Layout Src: ((8,4),8):((8,0),1)\n  TV Layout Dst: (32,2):(2,1)\n",
    "stmatrix.x1": "Copy Atom\n  ThrID: 32:1\n  TV Layout Src: (32,2):(2,1)\n  TV Layout Dst: ((8,4),8):((8,0),1)\n",
}


@each(("name", "text"), X1.items())
def test_a_print_of_an_atom_alone_is_the_atom_with_its_reference(name: str, text: str) -> None:
    atom = evaluate(text)
    assert isinstance(atom, CopyAtom) and atom == copy_atom(name)


def test_the_reference_of_tensor_memory_is_the_memory_as_cpp_prints_it() -> None:
    text = "Copy_Atom\n ThrID: _32:_1\n ValLayoutSrc: (_32,_128):(_0,_1)\n ValLayoutDst: (_32,_4):(_4,_1)\n"
    assert evaluate(text).reference == evaluate(f"{text} ValLayoutRef: (_32,_128):(_0,_1)\n").reference


@each("mark", ["// ", "# ", " * ", "\t"])
def test_a_print_in_comments_with_remarks_is_the_same_print(mark: str) -> None:
    plain = RECORD["cpp"]["wgmma"]
    lines = [f"{mark}{line}      // remark ({number}): of the line" for number, line in enumerate(plain.splitlines())]
    assert evaluate("\n".join(lines)) == evaluate(plain)


def test_an_operation_around_a_print_is_done() -> None:
    for text in (RECORD["dsl"]["copy"], RECORD["cpp"]["copy"], f"\n{RECORD['cpp']['copy']}\n"):
        copy, tensor = evaluate(text), Layout((64, 64), (64, 1))
        assert evaluate(f"partition_S({text}, (64,64):(64,1), 5)") == copy.partition_S(tensor, 5)
        assert evaluate(f"thrfrg_D({text}, (64,64):(64,1))") == copy.thrfrg_D(tensor)
        assert evaluate(f"owners({text}, (3,9), D)") == copy.owners((3, 9), "D")


def test_every_print_and_tensor_of_a_text_is_listed_with_its_label() -> None:
    text = f"mma: {RECORD['cpp']['mma']}\ngA : (8,8):(8,1)\ncopy\n{RECORD['dsl']['copy']}\n{X1['ldmatrix.x1']}"
    listed = entries(text)
    assert [label for label, _ in listed] == ["mma", "gA", "copy", ""]
    assert [type(value).__name__ for _, value in listed] == ["TiledMma", "Layout", "TiledCopy", "CopyAtom"]
    assert evaluate(text) == tuple(value for _, value in listed)


def test_an_atom_before_its_copy_belongs_to_it_and_an_atom_before_a_whole_copy_stands_alone() -> None:
    lines = RECORD["cpp"]["copy"].splitlines(keepends=True)
    atom = next(i for i, line in enumerate(lines) if "Copy_Atom" in line)
    tiled, alone = "".join(lines[:atom]), "".join(lines[atom:]).rstrip("\n") + "\n"
    assert evaluate(f"{alone}ThrCopy\n  ThrIdx: 0\n{tiled}") == evaluate(RECORD["cpp"]["copy"])
    assert [type(value).__name__ for value in evaluate(f"{alone}{RECORD['cpp']['copy']}")] == ["CopyAtom", "TiledCopy"]


def test_the_shape_of_an_mma_follows_from_its_operands() -> None:
    text = "\n".join(line for line in RECORD["cpp"]["wgmma"].splitlines() if "Shape_MNK" not in line)
    assert evaluate(text) == evaluate(RECORD["cpp"]["wgmma"])


def test_the_slice_of_a_thread_is_the_mma_that_is_printed_with_it() -> None:
    mma = RECORD["cpp"]["mma"]
    assert evaluate(f"ThrMMA\n  Thr VMNK: (_3,_0,_1,_0)\n{mma}") == evaluate(mma)
    assert evaluate(f"ThrCopy\n  ThrIdx: 3\n{RECORD['cpp']['copy']}") == evaluate(RECORD["cpp"]["copy"])
