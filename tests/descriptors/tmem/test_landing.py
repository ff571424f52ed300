"""The proof of the chain to tensor memory: what is right is proved, and each thing that can be wrong disproves it."""

from __future__ import annotations

import pytest
from each import each

from descriptors import DescriptorError
from descriptors.tmem.copied import tmem_copied
from descriptors.tmem.geometry import BELIEVED, DOCUMENTED
from descriptors.tmem.landing_proof import Step, prove_landing
from descriptors.tmem.scale_cells import scale_cells
from layoutalg import Layout

MEMORY = Layout(((32, 4), (16, 4)), ((16, 4), (0, 1)))
WORD = 0x0000400800010000


@pytest.mark.parametrize(
    ("memory", "copy", "step"),
    [
        (MEMORY, "32x128b.warpx4", Step(WORD + 1, 0)),
        (MEMORY, "32x128b.warpx4", Step(WORD + (1 << 32), 0)),
        (MEMORY, "32x128b.warpx4", Step(WORD, 1)),
        (Layout(((32, 4), (16, 4)), ((16, 1), (0, 4))), "32x128b.warpx4", Step(WORD, 0)),
        (Layout(((32, 4), (16, 4)), ((4, 128), (0, 1))), "32x128b.warpx4", Step(WORD, 0)),
        (MEMORY, "64x128b.warpx2::02_13", Step(WORD, 0)),
    ],
)
def test_a_chain_with_anything_changed_is_disproved(memory: Layout, copy: str, step: Step) -> None:
    right = prove_landing(MEMORY, 8, scale_cells(128, 64, 16), "32x128b.warpx4", [Step(WORD, 0)])
    wrong = prove_landing(memory, 8, scale_cells(128, 64, 16), copy, [step])
    assert right.ok and right.first is None and right.evidence == DOCUMENTED
    assert (
        not wrong.ok and wrong.first is not None and str(wrong).startswith(f"disproved: {wrong.wrong} of 8192 elements")
    )


def test_a_cell_that_nothing_is_copied_to_is_told() -> None:
    landing = prove_landing(MEMORY, 8, scale_cells(128, 64, 16), "32x128b.warpx4", [])
    assert str(landing).endswith("shall lie in lane 0, column 0, bit 0, which gets nothing")


def test_copies_must_stay_inside_tensor_memory() -> None:
    for step in (Step(WORD, 510), Step(WORD, 0, lane=1)):
        with pytest.raises(DescriptorError, match="writes beyond tensor memory"):
            prove_landing(MEMORY, 8, scale_cells(128, 64, 16), "32x128b.warpx4", [step])


def test_both_sides_have_one_shape() -> None:
    with pytest.raises(DescriptorError, match="the layouts in shared and in tensor memory have different shapes"):
        prove_landing(Layout((64, 64)), 8, scale_cells(128, 64, 16), "32x128b.warpx4", [Step(WORD, 0)])


@each("swizzle", ["none", "32B", "64B", "128B"])
@each("dtype", ["tf32", "bf16", "e4m3", "e2m1"])
@each(
    ("rows", "copy"),
    [(128, "128x256b"), (128, "128x128b"), (64, "64x128b.warpx2::01_23"), (32, "32x128b.warpx4"), (4, "4x256b")],
)
def test_a_tile_of_every_kind_lands_as_it_is_said(swizzle: str, dtype: str, rows: int, copy: str) -> None:
    k = {"tf32": 32, "bf16": 64, "e4m3": 128, "e2m1": 256}[dtype]
    landing = tmem_copied((rows, k), dtype, swizzle, copy).verify()
    assert landing.ok and landing.elements == rows * k


def test_a_proof_is_known_no_better_than_what_it_is_about() -> None:
    assert tmem_copied((4, 64), "bf16", "128B", "4x256b").verify().evidence == BELIEVED
