"""Fragments through shared memory: each element of a tile once, rows of 16 bytes, and the swizzles they need."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from each import each
from refusals import refusal

from layoutalg import AccessPattern, Layout, LayoutError, Swizzle, accesses, evaluate, find_swizzle, fragment, moves
from layoutalg.cli import main
from layoutalg.cli.options import access_of

TILES = [Layout((64, 64), (64, 1)), Layout((32, 128), (128, 1)), Layout((64, 32), (1, 64)), Layout((32, 64), (72, 1))]
NAMES = ["ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4", "ldmatrix.x4.trans", "stmatrix.x2", "ldmatrix.x4.32x8"]


@each("tile", TILES, ids=str)
@each("name", [*NAMES, "mma.m16n8k16.C", "mma.m16n8k16.A.f16"])
def test_every_element_of_the_tile_is_moved_once(name: str, tile: Layout) -> None:
    pattern = moves(fragment(name), tile, 2)
    elements = Counter()
    for one in accesses(tile, pattern.lanes, 2, pattern.access_bytes if tile.stride[0] != 1 or "matrix" in name else 2):
        for address in one.addresses:
            assert address is not None
            elements.update(range(address // 2, address // 2 + pattern.access_bytes // 2))
    assert elements == Counter(tile(i) for i in range(tile.shape[0] * tile.shape[1]))


def test_a_phase_of_ldmatrix_is_one_matrix() -> None:
    """Eight lanes at eight rows of 16 bytes; the first access is the first 16 x 16."""
    tile = Layout((64, 64), (64, 1))
    pattern = moves(fragment("ldmatrix.x4"), tile, 2)
    first = accesses(tile, pattern.lanes, 2, 16)[0]
    assert first.phases == tuple(tuple(range(8 * i, 8 * i + 8)) for i in range(4))
    rows = [(row, column) for column in (0, 8) for row in range(16)]
    assert list(first.addresses) == [2 * tile(row, column) for row, column in rows]
    assert first.phase_wavefronts == (8, 8, 8, 8)


def test_rows_of_16_bytes_run_along_the_contiguous_mode_whatever_the_element() -> None:
    for element_bytes, width in ((1, 16), (2, 8), (4, 4)):
        for tile in (Layout((64, 64), (64, 1)), Layout((64, 64), (1, 64))):
            pattern = moves(fragment("ldmatrix.x4"), tile, element_bytes)
            assert pattern.access_bytes == 16
            assert len(accesses(tile, pattern.lanes, element_bytes, 16)) == 64 * 64 // (32 * width)
            assert find_swizzle(tile, [pattern], element_bytes).bits == 3 - (element_bytes == 1)


def test_directions_and_widths_are_those_of_the_instruction() -> None:
    tile = Layout((64, 64), (64, 1))
    assert moves(fragment("stmatrix.x4"), tile, 2).store
    assert not moves(fragment("ldmatrix.x4"), tile, 2).store
    assert moves(fragment("mma.m16n8k16.D"), tile, 4).store
    assert not moves(fragment("mma.m16n8k16.B.f16"), tile, 2).store
    for name, width, store in (("ldmatrix.x4", 8, None), ("ldmatrix.x4", None, True), ("stmatrix.x1", 16, False)):
        with pytest.raises(LayoutError, match="rows of 16 bytes"):
            moves(fragment(name), tile, 2, width, store)


@pytest.mark.parametrize(
    ("name", "tile", "reason"),
    [
        (
            "ldmatrix.x4",
            Layout((8, 64), (64, 1)),
            "is 8x64, which is not a multiple of the 16x16 of ldmatrix.x4 (ldmatrix.x4.8x32 would fill it);",
        ),
        ("ldmatrix.x2", Layout((4, 64), (1, 4)), "is 4x64, which is not a multiple of the 8x16 of ldmatrix.x2"),
        ("mma.m16n8k16.C", Layout(128), "has 1 mode, not two"),
        ("tcgen05.ld.32x32b.x4", Layout((32, 4)), "is a fragment of tensor memory"),
        ("mma.m16n8k32.SFA", Layout((16, 32)), "is a fragment of scale factors"),
    ],
)
def test_what_cannot_move_a_tile_is_refused(name: str, tile: Layout, reason: str) -> None:
    with pytest.raises(LayoutError, match="moves: ") as refusal:
        moves(fragment(name), tile, 2)
    assert reason in str(refusal.value)


def test_the_swizzle_that_frees_ldmatrix_and_the_stores_is_a_mode(capsys: pytest.CaptureFixture[str]) -> None:
    stores = "((8,16),8):((512,1),64)@16B,store"
    arguments = ["--access", "ldmatrix.x4", "--access", stores, "--element-bytes", "2"]
    for columns, mode in ((64, "128B"), (32, "64B"), (16, "32B")):
        typed = [text.replace("512", str(8 * 64)) for text in arguments]
        typed[3] = f"(({columns // 8},{512 // columns}),8):(({8 * 64},1),64)@16B,store"
        assert main(["find-swizzle", f"(64,{columns}):({columns},1)", *typed]) == 0
        assert capsys.readouterr().out.endswith(f"; this is the {mode} swizzle\n")
    assert main(["find-swizzle", "(64,128):(128,1)", "--access", "ldmatrix.x4", "--element-bytes", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "schema": 1,
        "bytes": "S<3,4,4>",
        "elements": "S<3,3,4>",
        "mode": None,
        "modes": [],
    }
    assert main(["find-swizzle", "(64,72):(72,1)", "--access", "ldmatrix.x1", "--element-bytes", "2"]) == 0
    assert capsys.readouterr().out.endswith("on elements of 2 bytes: no swizzle is needed\n")


def test_an_access_says_its_width_and_direction_behind_it() -> None:
    tile = Layout((64, 64), (64, 1))
    layout = evaluate("(32,8):(1,64)")
    for text, width, store in (
        ("(32,8):(1,64)", 2, False),
        ("(32,8):(1,64)@16B", 16, False),
        ("(32,8):(1,64)@4b,store", 4, True),
        ("(32,8):(1,64) @ 8B , load", 8, False),
        ("(32,8):(1,64),store", 2, True),
    ):
        assert access_of(text, tile, 2, None, False, "banks") == AccessPattern(layout, width, store)
    assert access_of("(32,8):(1,64)", tile, 2, 16, True, "banks") == AccessPattern(layout, 16, True)
    assert access_of("ldmatrix.x4", tile, 2, 4, True, "banks") == moves(fragment("ldmatrix.x4"), tile, 2)
    assert access_of("mma.m16n8k16.A.f16@4B", tile, 2, None, True, "banks").store
    coordinates = access_of(
        "composition(make_identity_layout((64,64)), (32,8):(1,64))@16B", tile, 2, None, False, "banks"
    )
    assert coordinates.access_bytes == 16
    assert access_of("(32,8):(1@0,1@1)", tile, 2, None, False, "banks").access_bytes == 2


def test_banks_tells_each_access_apart(capsys: pytest.CaptureFixture[str]) -> None:
    tile = "S<3,3,3> o 0 o (64,64):(64,1)"
    both = ["--access", "ldmatrix.x4", "--access", "mma.m16n8k16.C@4B"]
    assert main(["banks", tile, *both, "--element-bytes", "2"]) == 0
    out = capsys.readouterr().out
    assert "ldmatrix.x4: 16 load accesses of a warp: 64 wavefronts, 0 of them for bank conflicts" in out
    assert "mma.m16n8k16.C@4B: 64 store accesses of a warp: 64 wavefronts, 0 of them" in out
    assert main(["banks", tile, *both, "--element-bytes", "2", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["wavefronts"], data["conflicts"], len(data["accesses"])) == (128, 0, 80)
    assert data["accesses"][0]["access"] == "ldmatrix.x4"
    assert not data["accesses"][0]["store"]
    assert data["accesses"][-1]["store"]
    assert main(["banks", "(64,64):(64,1)", "--access", "ldmatrix.x5", "--element-bytes", "2"]) == 2
    assert refusal(capsys.readouterr().err)


def test_swizzles_of_other_shifts_are_no_modes() -> None:
    tile = Layout((64, 128), (128, 1))
    assert find_swizzle(tile, [moves(fragment("ldmatrix.x4"), tile, 2)], 2) == Swizzle(3, 4, 4)
