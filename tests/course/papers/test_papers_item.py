"""Items are proved before they are handed out: a wrong key is an error, a degenerate draft is drawn again."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from descriptors.errors import DescriptorError
from papers.item import DRAFT, Kind, make, proved_item

KIND = Kind("double", 1, 1, lambda rng: None)


def test_a_key_that_its_judge_does_not_take_is_an_error() -> None:
    with pytest.raises(DescriptorError, match="the solution of an item alone must pass, found that it is 3 at index 1"):
        proved_item(KIND, replace(DRAFT, solution="2:3"), 1)


def test_a_starter_that_passes_is_an_error() -> None:
    with pytest.raises(DescriptorError, match="found that 2:4 passes too"):
        proved_item(KIND, replace(DRAFT, starter="2:4"), 1)


@pytest.mark.parametrize(
    "slips",
    [
        (("2:4", "right by mistake"), *DRAFT.slips),
        DRAFT.slips[:2],
        (*DRAFT.slips[:2], ("2 : 2", "the same once more")),
        (*DRAFT.slips[:2], ("2:?", "left open")),
        (*DRAFT.slips[:2], ("((", "no layout")),
    ],
)
def test_a_degenerate_draft_is_no_item(slips: tuple[tuple[str, str], ...]) -> None:
    assert proved_item(KIND, replace(DRAFT, slips=slips), 1) is None


def test_a_mistake_that_happens_to_be_right_is_left_out() -> None:
    item = proved_item(KIND, replace(DRAFT, slips=(*DRAFT.slips, ("(2,1):(4,9)", "right in another form"))), 1)
    assert item is not None
    assert [answer for answer, _, _ in item.exercise.wrong] == ["2:2", "4:2", "2:3"]


def test_it_is_drawn_again_until_there_is_one() -> None:
    drafts = iter([None, replace(DRAFT, slips=()), DRAFT])
    assert make(replace(KIND, draft=lambda rng: next(drafts)), Random(1)).exercise.solution == "2:4"


def test_the_mistake_behind_an_answer_is_known_however_it_is_spaced() -> None:
    item = proved_item(KIND, DRAFT, 1)
    assert item is not None
    assert item.exercise.mistake(" 2 : 2 ") == "the extent is taken for the stride"
    assert item.exercise.mistake("7:7") is None
