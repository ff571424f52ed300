"""What copies, fragments and their names ask of memory, held against each thread's own values, byte by byte."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from each import each

from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    Swizzle,
    TiledCopy,
    access,
    accesses,
    draw,
    evaluate,
    find_swizzle,
    fragment,
    make_tiled_copy_A,
    make_tiled_copy_C,
    make_tiled_copy_tv,
    make_tiled_mma,
    size,
)
from layoutalg.cli.options import access_of

TENSORS = [
    Layout((64, 64), (64, 1)),
    Layout((64, 64), (512, 1)),
    ComposedLayout(Swizzle(3, 3, 3), 0, Layout((64, 64), (64, 1))),
]
MMA = make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1))
COPIES = {
    "rows": make_tiled_copy_tv(8, Layout((16, 8), (8, 1)), Layout((1, 8))),
    "halves": make_tiled_copy_tv(4, Layout((4, 16), (16, 1)), Layout((4, 4), (4, 1))),
    "x4": make_tiled_copy_A("ldmatrix.x4", MMA),
    "x2": make_tiled_copy_A("ldmatrix.x2", MMA),
}


def bytes_of_thread(copy: TiledCopy, tensor: Layout | ComposedLayout, thread: int) -> Iterator[int]:
    """The bytes that a thread reads, of elements of two bytes."""
    mine, offset = copy.partition_S(tensor, thread)
    for i in range(size(mine)):
        where = mine(i) + offset if isinstance(mine, Layout) else mine(i)
        yield from (2 * where, 2 * where + 1)


@each("tensor", TENSORS, ids=str)
@each("name", COPIES)
def test_the_lanes_of_a_copy_access_what_their_threads_read(name: str, tensor: Layout) -> None:
    copy, by_thread = COPIES[name], dict[int, list[int]]()
    for one in copy.accesses(tensor, 2):
        for lane, address in enumerate(one.addresses):
            assert address is not None
            mine = by_thread.setdefault(32 * one.warp + lane, [])
            mine.extend(range(address, address + one.access_bytes))
    assert len({len(one) for one in by_thread.values()}) == 1
    for thread, read in by_thread.items():
        assert sorted(read) == sorted(bytes_of_thread(copy, tensor, thread)), thread
    assert max(by_thread) % 32 == (15 if name == "x2" else 31)


def test_a_copy_that_writes_has_the_accesses_of_its_destination() -> None:
    copy, tensor = make_tiled_copy_C("stmatrix.x2", MMA), Layout((32, 16), (16, 1))
    stored = copy.accesses(tensor, 2, store=True)
    assert {one.access_bytes for one in stored} == {16}
    assert {len(one.addresses) for one in stored} == {16}
    rows = [address for one in stored for address in one.addresses if address is not None]
    assert sorted(rows) == [16 * i for i in range(64)]


@each("step", [2, 4, 6, 8, 32, 128])
@each("base", [0, 2, 30])
def test_sectors_are_those_of_all_bytes(step: int, base: int) -> None:
    one = access([base + step * lane for lane in range(32)], 2)
    touched = {byte // 32 for address in one.addresses for byte in (address, address + 1) if address is not None}
    accessed = {byte for address in one.addresses if address is not None for byte in (address, address + 1)}
    assert (one.sectors, one.efficiency) == (len(touched), len(accessed) / (32 * len(touched)))


def test_lanes_that_share_bytes_or_take_no_part_ask_for_no_more() -> None:
    assert (access([0] * 32, 16).sectors, access([0] * 32, 16).efficiency) == (1, 0.5)
    assert (access([None, 64], 4).sectors, access([None] * 4, 4).sectors) == (1, 0)


@each("text", ["ldmatrix.x4", "stmatrix.x2.trans", "mma.m16n8k16.C", "mma.m16n8k16.C@4B,load", "wgmma.m64n64k16.D@4B"])
def test_a_name_is_the_same_access_in_python_and_in_the_command(text: str) -> None:
    tile = Layout((64, 64), (64, 1))
    typed = access_of(text, tile, 2, None, False, "banks")
    assert accesses(tile, text, 2) == accesses(tile, typed.lanes, 2, typed.access_bytes, store=typed.store)
    assert find_swizzle(tile, text, 2) == find_swizzle(tile, [typed], 2)


def test_several_names_and_fragments_are_one_question() -> None:
    tile = Layout((64, 64), (64, 1))
    both = find_swizzle(tile, ["ldmatrix.x4", fragment("stmatrix.x4")], 2)
    swizzled = ComposedLayout(Swizzle(both.bits, both.base - 1, both.shift), 0, tile)
    assert both.bits
    assert not [one for name in ("ldmatrix.x4", "stmatrix.x4") for one in accesses(swizzled, name, 2) if one.conflicts]
    assert accesses(tile, COPIES["rows"].fragment("S"), 2, 16)[0].wavefronts == 4


@each("ask", [lambda text: accesses(Layout((8, 8)), text, 2), lambda text: find_swizzle(Layout((8, 8)), text, 2)])
def test_a_layout_in_words_is_told_how_to_become_one(ask: object) -> None:
    with pytest.raises(LayoutError, match=r"is not a layout or the name of a fragment.*evaluate\(\) makes a layout"):
        ask("(8,8):(1,8)")  # type: ignore[operator]
    with pytest.raises(LayoutError, match=r"did you mean ldmatrix\.x4"):
        ask("ldmatrix.x8")  # type: ignore[operator]


@each("value", [MMA, *COPIES.values(), fragment("mma.m16n8k16.C"), access([16 * i for i in range(32)], 16)], ids=repr)
def test_each_has_a_text_a_page_and_a_picture(value: object) -> None:
    page = value._repr_html_()  # type: ignore[attr-defined]
    assert str(value) != repr(value)
    assert "<img" in page
    assert str(value).splitlines()[0] in page
    assert draw(value).svg().startswith("<svg")  # type: ignore[arg-type]


def test_what_is_too_large_to_be_drawn_has_a_page_all_the_same() -> None:
    huge = make_tiled_copy_tv(1, Layout((1024, 1)), Layout((1, 1024)))
    page = huge._repr_html_()
    assert "<img" not in page and "a tiled copy: 1024 threads" in page


def test_the_picture_of_a_copy_says_who_has_what() -> None:
    cells = draw(COPIES["x4"]).record()["panels"][0]["cells"]
    held = COPIES["x4"].fragment("D")
    for thread in range(32):
        for value in range(held.values):
            row, column = held.element(thread, value)
            assert cells[row][column].startswith(f"T{thread} V{value}")


def test_the_picture_of_an_access_has_each_lane_at_its_bank() -> None:
    one = access([160 * lane for lane in range(16)] + [None] * 16, 8)
    cells = draw(one).record()["panels"][0]["cells"]
    lines = sorted({160 * lane // 128 for lane in range(16)})
    for lane in range(16):
        for word in (0, 1):
            line, bank = divmod((160 * lane + 4 * word) // 4, 32)
            assert cells[lines.index(line)][bank] == f"T{lane} V{word}"
    assert sum(cell is not None for row in cells for cell in row) == 32


def test_names_are_drawn_as_the_fragments_that_they_are() -> None:
    name = "mma.m16n8k16.C"
    assert draw(name).svg() == draw(fragment(name)).svg()
    assert draw(Layout((16, 8)), thread_values=name) == draw(Layout((16, 8)), thread_values=fragment(name))
    with pytest.raises(LayoutError, match=r"evaluate\(\) makes a layout of its text"):
        draw("(4,8):(8,1)")
    assert draw(evaluate("(4,8):(8,1)")) == draw(Layout((4, 8), (8, 1)))
