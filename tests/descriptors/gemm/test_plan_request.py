"""What a plan is asked for: instructions as people say them, and the nearest legal ones."""

from __future__ import annotations

import pytest

from descriptors import DescriptorError, select_rows
from descriptors.gemm.plan_request import main_loop, named_instruction
from descriptors.smem.instructions.legality import nearest_extents


@pytest.mark.parametrize("said", ["m64n128k16", "M64N128K16", "wgmma.m64n128k16.f32", [64, 128, 16], (64, 128, 16)])
def test_an_instruction_is_known_however_it_is_said(said: object) -> None:
    assert named_instruction(said).extents == (64, 128, 16)


@pytest.mark.parametrize("said", ["64x128", "", None, 7, (64, 128), "m64n128k", "x" * 300])
def test_what_is_no_instruction_is_refused_in_one_line(said: object) -> None:
    with pytest.raises(DescriptorError, match=r"^plan: ") as error:
        named_instruction(said)
    assert "\n" not in str(error.value)


def test_the_architecture_is_the_one_that_has_such_an_instruction() -> None:
    assert main_loop("m64n64k16", "bf16", tile=(64, 64, 16)).arch == "sm90"
    assert main_loop("m128n64k16", "bf16", tile=(128, 64, 16)).arch == "sm100"
    assert main_loop("m64n64k16", "bf16", tile=(64, 64, 16), kind="f16").arch == "sm100"


def test_the_nearest_are_legal_and_none_is_nearer() -> None:
    legal = {(m, n) for row in select_rows("sm90", "i8").shapes if not row.sparse for m in row.m for n in row.n}
    for n in range(1, 300):
        near = nearest_extents("sm90", "i8", (64, n, 32), 1)
        assert {(m, x) for m, x, _ in near} <= legal
        least = min(abs(x - n) for _, x in legal)
        assert all(abs(x - n) == least for _, x, _ in near) and 1 <= len(near) <= 2


@pytest.mark.parametrize("cta_group", [0, 3, -1])
def test_an_instruction_is_of_one_cta_or_of_two(cta_group: int) -> None:
    with pytest.raises(DescriptorError, match=rf"^plan: cta_group is {cta_group}, but the m(?:in|ax)imum is [12]"):
        main_loop("m128n64k16", "bf16", tile=(128, 64, 16), cta_group=cta_group)
