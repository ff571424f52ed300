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
        (None, "a question must be a JSON object, found None"),
        ([], "a question must be a JSON object, found []"),
        ({"tiles": 1}, "a key of a question is "),
        ({"tile": 5}, "tile must be numbers like 128x64, found 5"),
        ({"tile": {"a": 1}}, "tile must be numbers like 128x64"),
        ({"tile": [1, 2, 3, 4, 5]}, "tile must be numbers like 128x64"),
        ({"tile": [True, 2]}, "tile must be numbers like 128x64"),
        ({"cell": "3"}, "cell must be two numbers (MN, K), found [3]"),
        ({"dtype": 7}, "dtype must be a text, found 7"),
        ({"dtype": None}, "dtype must be a text, found None"),
        ({"layout": "x" * (LONGEST + 1)}, f"layout must have at most {LONGEST} characters, found {LONGEST + 1}"),
        ({"base": "ten"}, "base must be a number, found 'ten'"),
        ({"stage": 1.5}, "stage must be a number, found 1.5"),
        ({"stage": True}, "stage must be a number, found True"),
        ({"swizzled": "maybe"}, "swizzled must be true or false, found 'maybe'"),
        ({"edit": "x"}, "edit must be a JSON object of fields and values, found 'x'"),
        ({"edit": {"version": 3}}, "edit of version must be a text, found 3"),
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
