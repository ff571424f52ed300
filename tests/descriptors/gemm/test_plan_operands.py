"""Who holds which rows of a pair: every row once, by the halves of each instruction; boxes are cut where runs end."""

from __future__ import annotations

import pytest

from descriptors import DescriptorError, derive, tma_plan
from descriptors.gemm.plan_operands import row_of, run_of, within
from descriptors.gemm.plan_request import main_loop


@pytest.mark.parametrize(("n", "blocks"), [(16, 1), (32, 3), (256, 2)])
def test_an_instruction_has_its_first_half_from_cta_0_and_its_second_from_cta_1(n: int, blocks: int) -> None:
    one = main_loop(f"m256n{n}k16", "bf16", tile=(512, n * blocks, 64), cta_group=2)
    run, half = run_of(one, "B"), n // 2
    for block in range(blocks):
        rows = [row_of(block * half + x, cta, run) for cta in (0, 1) for x in range(half)]
        assert rows == list(range(block * n, (block + 1) * n))
    assert run_of(one, "A") == 256


def test_a_cta_alone_holds_all_rows_in_order() -> None:
    one = main_loop("m128n64k16", "bf16", tile=(256, 192, 64))
    assert [row_of(x, 0, run_of(one, "B")) for x in range(192)] == list(range(192))
    assert run_of(one, "A") == 256


def test_boxes_are_cut_between_runs_and_still_prove_themselves() -> None:
    whole = tma_plan(derive((96, 64), "bf16", "K", "64B", (32, 16), arch="sm100"), rank=2)
    for run in (8, 16, 32, 48, 96):
        parts = within(whole, run, "B")
        rows = next(one.box for one in parts.dimensions if one.mode == 0)
        assert run % rows == 0 and parts.verify() == whole.verify()
    assert within(whole, 96, "B") is whole


def test_a_box_that_cannot_be_cut_there_is_refused() -> None:
    whole = tma_plan(derive((128, 64), "bf16", "MN", "128B", (64, 16), arch="sm100"), rank=2)
    with pytest.raises(
        DescriptorError, match=r"a box of B has 64 rows, which cannot be cut into runs of 32 .* B is MN-major, swizz"
    ):
        within(whole, 32, "B")
