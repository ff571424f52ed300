"""Questions as a page, an address or a person writes them."""

from __future__ import annotations

from typing import Any

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from records import JSON

from descriptors import DescriptorError
from descriptors.show.explorer.question import LONGEST, Question, question, requested_parts


@each(
    ("body", "field", "value"),
    [
        ({"tile": "128x64"}, "tile", (128, 64)),
        ({"tile": [128, 64, 4]}, "tile", (128, 64, 4)),
        ({"tile": " 128 x 64 "}, "tile", (128, 64)),
        ({"mma": "m64n128k16"}, "mma", "m64n128k16"),
        ({"mma": ""}, "mma", ()),
        ({"order": ""}, "order", ()),
        ({"order": "1,0"}, "order", (1, 0)),
        ({"base": "0x400"}, "base", 1024),
        ({"base": "0064"}, "base", 64),
        ({"slot": "-1"}, "slot", -1),
        ({"swizzled": "0"}, "swizzled", False),
        ({"swizzled": True}, "swizzled", True),
        ({"edit": {"version": "2", "base_offset": "1"}}, "edit", (("base_offset", "1"), ("version", "2"))),
    ],
)
def test_what_people_type_is_understood(body: dict[str, Any], field: str, value: object) -> None:
    parsed = question(body)
    assert getattr(parsed, field) == value
    assert question(parsed.state()) == parsed


@each(
    ("body", "message"),
    [
        (None, "the question is None, which is not a JSON object"),
        ([], "the question is [], which is not a JSON object"),
        ({"tiles": 1}, "a key of a question is "),
        ({"tile": 5}, "tile is 5, which is not 1 to 4 numbers such as 128x64"),
        ({"tile": {"a": 1}}, "tile is {'a': 1}, which is not 1 to 4 numbers such as 128x64"),
        ({"tile": [1, 2, 3, 4, 5]}, "tile is [1, 2, 3, 4, 5], which is not 1 to 4 numbers such as 128x64"),
        ({"tile": [True, 2]}, "tile is [True, 2], which is not 1 to 4 numbers such as 128x64"),
        ({"cell": "3"}, "cell is [3], which is not two numbers (MN, K)"),
        ({"dtype": 7}, "dtype is 7, which is not a text"),
        ({"dtype": None}, "dtype is None, which is not a text"),
        ({"layout": "x" * (LONGEST + 1)}, f"layout has {LONGEST + 1} characters, but the maximum is {LONGEST}"),
        ({"base": "ten"}, "base is 'ten', which is not an integer"),
        ({"stage": 1.5}, "stage is 1.5, which is not an integer"),
        ({"stage": True}, "stage is True, which is not an integer"),
        ({"swizzled": "maybe"}, "swizzled is 'maybe', which is not true or false"),
        ({"edit": "x"}, "edit is 'x', which is not a JSON object"),
        ({"edit": {"version": 3}}, "edit of version is 3, which is not a text"),
        ({"tab": "roof"}, "supported: tile, memory"),
    ],
)
def test_what_is_no_question_is_refused_in_a_sentence(body: Any, message: str) -> None:
    with pytest.raises(DescriptorError) as caught:
        question(body)
    assert message in str(caught.value)


@given(st.sampled_from(Question.__slots__), JSON)
def test_any_value_of_any_key_is_read_or_refused(key: str, value: object) -> None:
    try:
        parsed = question({key: value})
    except DescriptorError as error:
        assert str(error).startswith("explore: ")
    else:
        assert question(parsed.state()) == parsed


@pytest.mark.parametrize("want", ["told", None, ["nothing"], [["told"]], [{}], ["told"] * 20])
def test_parts_that_there_are_not_are_refused(want: object) -> None:
    with pytest.raises(DescriptorError, match="explore: "):
        requested_parts({"want": want})
