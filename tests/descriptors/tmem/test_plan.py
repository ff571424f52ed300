"""Columns: parts one after the other, a power of two, and a refusal that says what does not fit."""

from __future__ import annotations

import random
from typing import Any

import pytest
from seeds import seed_of_this_run

from descriptors import DescriptorError
from descriptors.tmem.columns import Part, plan_columns


def test_random_parts_never_overlap_and_lie_as_they_must() -> None:
    rng = random.Random(seed_of_this_run())
    for _ in range(200):
        parts = [Part(f"P{i}", rng.randrange(1, 100), rng.choice([1, 1, 4, 32])) for i in range(rng.randrange(1, 5))]
        try:
            plan = plan_columns(parts)
        except DescriptorError:
            assert sum(part.columns + part.align - 1 for part in parts) > 512
            continue
        columns = [column for part in plan.parts for column in range(part.column, part.column + part.columns)]
        assert len(set(columns)) == len(columns) and max(columns) + 1 == plan.used <= plan.allocate
        assert all(part.column % part.align == 0 for part in plan.parts)
        assert plan.allocate & plan.allocate - 1 == 0 and (plan.allocate == 32 or plan.allocate < 2 * plan.used)
        assert plan.ctas * plan.allocate == 512


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        ([], {}, "the plan has no parts"),
        (
            [Part("D0", 256), Part("D1", 256), Part("SFA", 4)],
            {},
            "the parts need 516 columns, sm100 has 512; D0 256, D1 256, SFA 4",
        ),
        ([Part("D", 256)], {"ctas": 3}, "3 CTAs need 768 columns, an SM has 512; D 256 columns"),
        ([Part("D", 256)], {"ctas": 17}, "CTAs is "),
        ([Part("D", 513)], {}, "need 513 columns, .*; D 513 columns; an exclusive allocation of sm107 has 576"),
        ([Part("D", 513)], {"arch": "sm110"}, "the parts need 513 columns, sm110 has 512"),
        ([Part("D", 577)], {"arch": "sm107"}, "the parts need 577 columns, sm107 has 576"),
        ([Part("D", 544)], {"arch": "sm107", "ctas": 2}, "2 CTAs need 1088 columns, an SM has 512"),
        ([Part("D", 32)], {"arch": "sm120"}, "sm120"),
    ],
)
def test_what_does_not_fit_is_refused(parts: list[Part], options: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        plan_columns(parts, **options)


def test_beyond_512_columns_an_allocation_is_the_least_multiple_of_32_and_alone() -> None:
    plans = [plan_columns([Part("D", columns)], arch="sm107") for columns in range(513, 577)]
    assert [plan.allocate for plan in plans] == [32 * (1 + (columns - 1) // 32) for columns in range(513, 577)]
    assert {(plan.ctas, plan.exclusive) for plan in plans} == {(1, True)}


def test_a_part_is_found_by_its_name() -> None:
    plan = plan_columns([Part("D", 8), Part("E", 1, 4)])
    assert plan.part("E").column == 8
    with pytest.raises(DescriptorError, match="'A' is not a part of this plan; its parts: D, E"):
        plan.part("A")
