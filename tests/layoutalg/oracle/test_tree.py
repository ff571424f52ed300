"""The syntax tree of an expression: what was written, before anything is evaluated."""

from __future__ import annotations

import json
import re
from inspect import Parameter, signature
from typing import Any

import pytest
from hypothesis import given
from strategies import any_layouts

from layoutalg import LayoutError, NotationError
from layoutalg.notation.expression import OPERATIONS, operations
from layoutalg.oracle.expressions import OPTIONS, SIGNS, SymbolError, operations_of, syntax

TREES = [
    ("5", 5),
    ("(8,_)", [8, None]),
    ("True", True),
    ("4:1", {":": [4, 1]}),
    ("(4:1)", {"( )": [{":": [4, 1]}]}),
    ("(4:1,)", [{":": [4, 1]}]),
    ("<4:1>", [{":": [4, 1]}]),
    ("S<3,4,3> o 8:1", {"o": [{"S<>": [3, 4, 3]}, 0, {":": [8, 1]}]}),
    ("Sw<3,4,3> o smem_ptr[16b](unset) o 8:1", {"o": [{"S<>": [3, 3, 3]}, 0, {":": [8, 1]}]}),
    ("mma.m16n8k16.C", {":": [[[4, 8], [2, 2]], [[32, 1], [16, 8]]]}),
    ("E(0, 1)", {"E": [0, 1]}),
    ("size(8:1)", {"size": [{":": [8, 1]}]}),
    ("size(value=8:1)", {"size": [{":": [8, 1]}]}),
    ("local_partition(8:1, proj=1, index=0, tiler=2:1)", {"local_partition": [{":": [8, 1]}, {":": [2, 1]}, 0, 1]}),
    ("make_layout((4,8), stride=(8,1))", {"make_layout": [[4, 8], [8, 1]]}),
    ("coalesce(8:1)[0](3)", {"()": [{"[]": [{"coalesce": [{":": [8, 1]}]}, 0]}, 3]}),
]


@pytest.mark.parametrize(("source", "tree"), TREES)
def test_a_tree_holds_what_was_written(source: str, tree: Any) -> None:
    assert syntax(source) == tree
    assert json.loads(json.dumps(tree)) == tree


@given(any_layouts)
def test_signs_and_names_aside_a_text_and_its_tree_hold_the_same_numbers(layout: Any) -> None:
    numbers = re.compile(r"-?\d+")
    assert numbers.findall(json.dumps(syntax(f"coalesce({layout})"))) == numbers.findall(str(layout))


def test_what_the_algebra_refuses_is_a_tree_all_the_same() -> None:
    assert list(operations_of(syntax("composition((4,6,8):(2,3,5), 6:3)"))) == ["composition", ":", ":"]
    assert syntax("S<2,0,1>(7)") == {"()": [{"S<>": [2, 0, 1]}, 7]}
    assert syntax("size(size(4:1))(3)")["()"][1] == 3


@pytest.mark.parametrize("source", ["coalesce((4,8)", "nothing(4:1)", "4:1 5", "size(4:1", "(4:1)[_]"])
def test_what_is_no_expression_has_no_tree(source: str) -> None:
    with pytest.raises(NotationError):
        syntax(source)


def test_an_operation_has_the_parameters_that_it_has() -> None:
    with pytest.raises(LayoutError, match=r"size: missing a required argument: 'value'"):
        syntax("size()")


def test_the_arguments_of_every_operation_are_in_the_order_of_its_parameters_however_they_were_written() -> None:
    for name, function in operations().items():
        parameters = {key: part for key, part in signature(function).parameters.items() if key not in OPTIONS}
        if any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in parameters.values()):
            continue
        numbers = dict(zip(parameters, range(1, len(parameters) + 1), strict=True))
        by_name = ", ".join(f"{parameter}={number}" for parameter, number in reversed(numbers.items()))
        assert syntax(f"{name}({by_name})") == {name: list(numbers.values())}


@pytest.mark.parametrize("source", ["(8*m,64):(64,1)", "8:n", "(4,8):(m@0,1@1)", "size(m)"])
def test_symbols_have_no_tree(source: str) -> None:
    with pytest.raises(SymbolError, match=r"syntax: .* is not a number, and the CuTe DSL has no symbols"):
        syntax(source)


def test_no_operation_bears_the_name_of_a_sign() -> None:
    assert not set(SIGNS) & {name for names in OPERATIONS.values() for name in names}
