"""What an instruction of a pair takes: the rows of CTA 0, then those of CTA 1, instruction by instruction."""

from __future__ import annotations

import numpy as np
import pytest

from descriptors.proof.pair_model import joined


@pytest.mark.parametrize("instructions", [1, 2, 3])
def test_the_rows_of_an_instruction_are_together_and_cta_0_comes_first(instructions: int) -> None:
    held = [np.array([[100 * cta + 10 * i + r for i in range(instructions) for r in range(2)]]) for cta in (0, 1)]
    wanted = [100 * cta + 10 * i + r for i in range(instructions) for cta in (0, 1) for r in range(2)]
    assert joined(held, instructions, axis=1).tolist() == [wanted]


def test_one_cta_gives_its_rows_as_they_are() -> None:
    assert joined([np.arange(12)], 3, axis=0).tolist() == list(range(12))
