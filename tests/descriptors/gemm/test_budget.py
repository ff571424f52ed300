"""Shared memory by stages: the most that fit, and what one more would need."""

from __future__ import annotations

import re

import pytest

from descriptors import DescriptorError
from descriptors.gemm.budget import BARRIER_BYTES, budget


@pytest.mark.parametrize("size", [1024, 9216, 16384, 49152, 100_000])
def test_as_many_stages_as_fit_and_no_more(size: int) -> None:
    loop_plan = budget((("A", size), ("B", 2048)), 1, extra=16)
    most, each = loop_plan.most_stages, size + 2048 + BARRIER_BYTES
    assert most * each + 16 <= 232448 < (most + 1) * each + 16
    assert int(re.findall(r"needs (\d+)", loop_plan.limit)[0]) == (most + 1) * each + 16 - 232448
    if most < 64:
        budget((("A", size), ("B", 2048)), most, extra=16)
        with pytest.raises(DescriptorError, match=f"^plan: {most + 1} stages need") as caught:
            budget((("A", size), ("B", 2048)), most + 1, extra=16)
        assert [dict(one.changes) for one in caught.value.proposals] == [{"stages": most}]


def test_the_number_of_stages_is_told_as_people_say_it() -> None:
    limits = {budget((("A", size),), 1).limit.split(" stage")[0].split(": ")[1] for size in range(2000, 120_000, 100)}
    assert {"a 2nd", "a 3rd", "a 4th", "an 8th", "an 11th", "a 12th", "a 22nd"} <= limits


@pytest.mark.parametrize("stages", [0, -1, 65, "2", True])
def test_a_number_of_stages_that_is_none_is_refused(stages: int) -> None:
    with pytest.raises(DescriptorError, match=r"^plan: stages is "):
        budget((("A", 16),), stages)
