"""TileLang's layouts as it prints them: the places that its own code maps elements to."""

from __future__ import annotations

import json

import pytest
from each import each
from places import VECTORS

from layoutalg import LayoutError, evaluate, parse_encoding, size

RECORD = json.loads((VECTORS / "tilelang.json").read_text(encoding="utf-8"))
FRAGMENT = RECORD["fragments"][0]["text"]


@each("case", RECORD["layouts"], ids=lambda one: f"{one['dtype']} {one['text'][:60]}")
def test_elements_lie_where_tilelang_maps_them(case):
    layout = evaluate(case["text"])
    assert [layout(tuple(at)) for at, _ in case["places"]] == [offset for _, offset in case["places"]]


@each("case", RECORD["fragments"], ids=lambda one: one["text"][:60])
def test_threads_hold_what_tilelang_maps_to_them(case):
    encoding = parse_encoding(case["text"])
    assert encoding is not None and encoding.space == "rmem"
    for (row, column), thread, (value,) in case["holders"]:
        assert encoding.fragment().element(thread, value) == (row, column)
    holders = [encoding.layout(i) for i in range(size(encoding.layout))]
    assert sorted(holders) == sorted(
        list(range(size(tuple(case["shape"])))) * (len(holders) // size(tuple(case["shape"])))
    )


@each(
    ("text", "said"),
    [
        ("Layout((4, 4) -> (64,), transform: (_i, _j) -> (_i * _j * _j,))", "a layout with at most one swizzle"),
        ("Layout((4, 4) -> (16,), transform: (_i, _j) -> (_i * 4 + _k,))",
         "'_k' is not supported; supported: coordinates"),
        ("Layout((4, 4) -> (16,), transform: (_i, _j) -> (_i // 0,))", "cannot be evaluated: a division by 0"),
        ("Layout((4, 4) -> (16,), transform: (_i,) -> (_i,))", "has 1 coordinates, and the layout has 2 dimensions"),
        ("Layout((4, 4) -> (16,), transform: (_i, _j) -> (__import__('os').getpid(),))",
         "is not supported; supported: coordinates"),
        ("Layout((4096, 4096) -> (16777216,), transform: (_i, _j) -> (_i * 4096 + _j,))",
         "has 16777216 elements; supported: 1 to 1048576"),
        ("Layout((4, 4) -> (16,), transform: (_i, _j) -> (_i * 2 + _j + 1,))", "a layout with at most one swizzle"),
        ("Layout((4, 4) -> (8,), transform: (_i, _j) -> (_i * 4 + _j,))", "an index is 15, which is not in [0,8)"),
        (FRAGMENT.replace("_j // 2", "0"), "values of all threads hold an element"),
    ],
)  # fmt: skip
def test_what_is_no_layout_is_refused(text: str, said: str) -> None:
    with pytest.raises(LayoutError) as error:
        evaluate(text)
    assert said in str(error.value)
