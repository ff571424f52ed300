"""The table of the arguments of `derive`: the functions that take them take the same, and leave out the same."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

import pytest

from descriptors import derive, derive_symbolic, search, survey
from descriptors.errors import ChoiceError, DescriptorError
from descriptors.smem.derivation.arguments import ARGUMENTS, Argument, names
from descriptors.smem.derivation.request import Reader, reader, request

#: The functions of an operand, and which of their own arguments are none of `derive`.
FUNCTIONS: dict[Callable[..., Any], set[str]] = {
    derive: set(),
    reader: {"where"},
    request: {"by"},
    Reader: {"element", "extents", "matrix"},
    derive_symbolic: set(),
    search: {"stages", "smem", "producer", "pad", "contiguous"},
    survey: {"stages", "smem", "producer", "pad", "contiguous"},
}
#: A value of each kind that is none.
WRONG = {"extents": "x", "positions": "x", "instruction": 1.5, "name": "nonsense", "integer": 1.5, "flag": 1}


def defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """The arguments that may be left out, and what they then are."""
    parameters = signature(function).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not Parameter.empty}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_every_function_of_an_operand_has_the_arguments_and_the_defaults_of_the_table(
    function: Callable[..., Any],
) -> None:
    own = FUNCTIONS[function]
    assert set(signature(function).parameters) - own <= set(ARGUMENTS)
    own_defaults = {name: value for name, value in defaults(function).items() if name not in own and name != "capacity"}
    if own_defaults.get("arch", "") is None:  # the architecture that the instruction's name states, else the default
        own_defaults["arch"] = reader(None, "bf16", (64, 16)).arch
    assert own_defaults == {name: ARGUMENTS[name].default for name in own_defaults}


def test_each_argument_is_taken_by_the_function_of_its_taker() -> None:
    takers = {"reader": (reader, {"where"}), "request": (request, {"by"}), "symbolic": (derive_symbolic, set())}
    for taker, (function, own) in takers.items():
        assert set(names(taker)) == set(signature(function).parameters) - own  # type: ignore[arg-type]
    assert {*names("reader"), *names("request"), *names("proof")} == set(signature(derive).parameters)


def test_derive_alone_has_the_capacity_of_shared_memory() -> None:
    assert defaults(derive)["capacity"] == "arch" and ARGUMENTS["capacity"].default is None
    assert defaults(request)["capacity"] is None


CHECKED = [row for row in ARGUMENTS.values() if row.name in defaults(derive) and row.kind in WRONG]


@pytest.mark.parametrize("row", CHECKED, ids=lambda row: row.name)
def test_a_value_of_another_kind_is_refused_and_a_name_with_its_choices(row: Argument) -> None:
    arguments = {"tile": (128, 64), "dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}
    if row.name == "cp":
        del arguments["mma"]
    with pytest.raises(DescriptorError) as error:
        derive(**{**arguments, row.name: WRONG[row.kind]})  # type: ignore[arg-type]
    if row.kind == "name" and row.name not in ("atom", "kind"):  # whose names depend on the other arguments
        assert isinstance(error.value, ChoiceError) and tuple(error.value.choices) == row.choices
