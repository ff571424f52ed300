"""Tiled MMAs: every element as often as the rule says, by enumeration; and the product that the threads make."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest
from each import each

from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    MmaAtom,
    Swizzle,
    TiledMma,
    make_tiled_mma,
    mma_atom,
    offsets,
    size,
    tile_to_shape,
)

MMAS = [
    make_tiled_mma("mma.m16n8k16.f16"),
    make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1)),
    make_tiled_mma("mma.m16n8k8.tf32", Layout((2, 2, 1), (2, 1, 0)), (None, Layout((8, 2, 2), (1, 16, 8)), None)),
    make_tiled_mma("mma.m8n8k4.f64", (2, 4, 1), (32, 32, 8)),
    make_tiled_mma("wgmma.m64n16k16", (2, 1, 1)),
]
EXTENTS = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}


def layout_of(mma: TiledMma, operand: str) -> Layout:
    i, j = EXTENTS[operand]
    return Layout((2 * mma.tile_mnk[i], 2 * mma.tile_mnk[j]), (2 * mma.tile_mnk[j], 1))


@each("mma", MMAS, ids=lambda mma: str(mma.thr_layout_vmnk))
@each("operand", "ABC")
def test_every_element_is_held_as_often_as_there_are_atoms_beside_it(mma: TiledMma, operand: str) -> None:
    layout, times_held = layout_of(mma, operand), Counter()
    for thread in range(int(size(mma.thr_layout_vmnk))):
        mine, offset = getattr(mma, f"partition_{operand}")(layout, thread)
        times_held.update((offset + offsets(mine)).ravel().tolist())
    registers = {"A": mma.atom.a, "B": mma.atom.b, "C": mma.atom.c}[operand]
    in_the_atom = Counter(offsets(registers).ravel().tolist())
    others = {"A": 1, "B": 0, "C": 2}[operand]
    times = next(iter(in_the_atom.values())) * int(size(mma.atom_layout[others]))
    assert times_held == Counter(dict.fromkeys(offsets(layout).ravel().tolist(), times))


@each("mma", MMAS, ids=lambda mma: str(mma.thr_layout_vmnk))
@each("operand", "ABC")
def test_tv_layout_says_of_the_tile_what_partitions_say(mma: TiledMma, operand: Any) -> None:
    i, j = EXTENTS[operand]
    tile = Layout((mma.tile_mnk[i], mma.tile_mnk[j]))
    tv = mma.tv_layout(operand)
    for thread in range(0, int(size(mma.thr_layout_vmnk)), 5):
        mine, offset = getattr(mma, f"partition_{operand}")(tile, thread)
        assert [tv(thread, value) for value in range(int(size(mine)))] == [
            offset + mine(value) for value in range(int(size(mine)))
        ]


def test_the_threads_of_a_warp_make_the_product() -> None:
    """One atom a warp: what each lane holds of A and B, put together by the atom, is what it holds of C."""
    mma, random = make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1)), Random(0)
    m, n, k = mma.tile_mnk
    a = np.array([[random.randrange(9) for _ in range(k)] for _ in range(m)])
    b = np.array([[random.randrange(9) for _ in range(k)] for _ in range(n)])
    c = np.zeros((m, n), int)
    atom = mma.atom
    for warp in range(4):
        parts = {}
        for operand, matrix, registers in (("A", a, atom.a), ("B", b, atom.b)):
            parts[operand] = np.zeros(int(size(registers)), int)
            for lane in range(32):
                mine, offset = getattr(mma, f"partition_{operand}")(Layout(matrix.shape, (k, 1)), 32 * warp + lane)
                for value in range(int(size(mine))):
                    parts[operand][registers(lane, value)] = matrix.reshape(-1)[offset + mine(value)]
        product = parts["A"].reshape(16, 16, order="F") @ parts["B"].reshape(8, 16, order="F").T
        for lane in range(32):
            mine, offset = mma.partition_C(Layout((m, n), (n, 1)), 32 * warp + lane)
            for value in range(int(size(mine))):
                c.reshape(-1)[offset + mine(value)] = product.reshape(-1, order="F")[atom.c(lane, value)]
    assert (c == a @ b.T).all()


def test_stages_are_kept_and_swizzles_stay() -> None:
    mma = make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1))
    tile = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((64, 64, 3), (64, 1, 4096)))
    mine, offset = mma.partition_A(tile, 37)
    assert len(mine) == 4
    plain, start = mma.partition_A(tile.inner, 37)
    values = [offset + mine(i) for i in range(int(size(mine)))]
    assert values == [Swizzle(3, 3, 3)(start + plain(i)) for i in range(int(size(plain)))]


def test_operands_in_shared_memory_are_whole_for_every_thread() -> None:
    atom = mma_atom("wgmma.m64n8k16.f16")
    assert (str(atom.a), str(atom.b), atom.threads) == ("(128,(64,16)):(0,(1,64))", "(128,(8,16)):(0,(1,8))", 128)
    assert mma_atom("wgmma.m64n8k16", a_source="rmem").a == Layout(((4, 8, 4), (2, 2, 2)), ((128, 1, 16), (64, 8, 512)))


def test_the_article_partitions_a_by_its_own_instruction() -> None:
    """Article "Blackwell MMA SMEM Descriptor", sections 2 and 3.2."""
    tile = tile_to_shape(Layout((8, 64), (64, 1)), (128, 128))
    mine, offset = make_tiled_mma("tcgen05.m64n128k16.bf16").partition_A(tile, 0)
    assert (str(mine), offset) == ("((64,16),2,(4,2)):((64,1),4096,(16,8192))", 0)


def test_the_ctas_of_a_pair_share_an_instruction() -> None:
    mma = make_tiled_mma(mma_atom("tcgen05.m256n64k16.f16", cta_group=2))
    for operand, extents, halves in (("A", (256, 16), 128), ("B", (64, 16), 32), ("C", (256, 64), 128)):
        layout = mma.tv_layout(operand)  # type: ignore[arg-type]
        rows = [{layout(cta, value) % extents[0] for value in range(size(layout[1]))} for cta in (0, 1)]
        assert rows == [set(range(halves)), set(range(halves, 2 * halves))], operand


@each(
    "make",
    [
        lambda: mma_atom("ldmatrix.x4"),
        lambda: mma_atom("tcgen05.m256n64k16"),
        lambda: mma_atom("tcgen05.m64n64k16", cta_group=2),
        lambda: mma_atom("tcgen05.m256n8k16", cta_group=2),
        lambda: mma_atom("tcgen05.m128n64k16.e4m3"),
        lambda: mma_atom("tcgen05.m128n64k16", cta_group=3),  # type: ignore[arg-type]
        lambda: mma_atom("mma.m16n8k16"),
        lambda: mma_atom("mma"),
        lambda: mma_atom(3),  # type: ignore[arg-type]
        lambda: mma_atom("wgmma.m64n8k16", a_source="gmem"),  # type: ignore[arg-type]
        lambda: make_tiled_mma("mma.m16n8k16.f16", (2, 2)),
        lambda: make_tiled_mma("mma.m16n8k16.f16", Layout((2, 2, 1), (2, 2, 0))),
        lambda: make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1), (None, None)),
        lambda: make_tiled_mma(MMAS[0]),  # type: ignore[arg-type]
        lambda: MMAS[0].partition_A(Layout((16, 16)), 32),
        lambda: MMAS[0].partition_A(Layout((16, 15)), 0),
        lambda: mma_atom("mma.m16n8k16.f16.junk.more"),
        lambda: mma_atom("wgmma.m64n8k16.f16.A"),
        lambda: MMAS[0].thrfrg_C(Layout(128)),
        lambda: MMAS[0].thrfrg_C(7),  # type: ignore[arg-type]
        lambda: MMAS[0].tv_layout("D"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_tiled_mma_is_refused(make: Any) -> None:
    with pytest.raises(LayoutError):
        make()


def test_atoms_are_values() -> None:
    atom = mma_atom("mma.m16n8k8.f16")
    assert atom == MmaAtom((16, 8, 8), atom.a, atom.b, atom.c)
    assert hash(make_tiled_mma(atom)) == hash(make_tiled_mma("mma.m16n8k8.f16"))
