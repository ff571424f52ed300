"""What holds for every member of a list or a table, asked of every member and not of one that stands for it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields, is_dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import pytest
from each import each
from rooms import modules

import descriptors
import layoutalg
from descriptors import TmaError, derive, tma_plan
from descriptors.smem.operands.operand import ELEMENT_TYPES, SwizzleMode
from descriptors.smem.proof.read_model import read_rows
from descriptors.smem.tma import tma_planner as planner
from descriptors.smem.words.tensor_map import SWIZZLES
from layoutalg import Layout, LayoutError

WHOLE_BYTES = sorted(name for name, element in ELEMENT_TYPES.items() if element.bits % 8 == 0)


@each("major", ["K", "MN"])
@each("dtype", WHOLE_BYTES)
def test_a_type_of_whole_bytes_has_bit_addresses_eight_times_its_byte_addresses(dtype: str, major: str) -> None:
    arguments: dict[str, Any] = {"arch": "sm90", "dtype": dtype, "major": major, "shape": (64, 16)}
    word = 0x80 | 128 << 16 | 64 << 32 | 2 << 62
    assert read_rows(word, **arguments, in_bits=True) == [
        [8 * one for one in row] for row in read_rows(word, **arguments)
    ]


@each("dtype", sorted(ELEMENT_TYPES))
def test_the_elements_of_a_row_lie_as_far_apart_as_the_type_says(dtype: str) -> None:
    element = ELEMENT_TYPES[dtype]
    word = 64 << 32 | 1 << 46  # sm100, no swizzle
    row = read_rows(word, "sm100", dtype=dtype, major="K", shape=(8, element.per_16_bytes), in_bits=True)[0]
    steps = {b - a for a, b in pairwise(row)}
    assert steps == {element.bits}
    assert element.storage_bits * element.per_16_bytes == 128


ON_HOPPER = {"none", "32B", "64B", "128B"}


@pytest.mark.parametrize("swizzle", sorted(map(str, SwizzleMode)))
def test_a_copy_with_each_swizzle_is_known_as_measured_or_as_documented(swizzle: str) -> None:
    tile = {"dtype": "tf32", "major": "MN", "swizzle": swizzle, "mma": (32, 8), "order": (0, 1), "arch": "sm100"}
    plan = tma_plan(derive((128, 64), **tile, legality="off", verify=False))  # type: ignore[arg-type]
    measured = swizzle in ON_HOPPER
    assert plan.evidence == ("measured on a Hopper GPU" if measured else "documented, not measured on a Blackwell GPU")
    assert plan.swizzle is not None and SWIZZLES[plan.swizzle][1] == plan.swizzle_code
    if not measured:
        with pytest.raises(TmaError, match=f"sm90 has no tensor map with {plan.swizzle_name}"):
            planner._check(plan, "sm90")


@each("dtype", sorted(ELEMENT_TYPES))
def test_a_copy_of_each_type_is_known_as_measured_or_as_documented(dtype: str) -> None:
    per_16 = ELEMENT_TYPES[dtype].per_16_bytes
    tile = {"dtype": dtype, "major": "K", "swizzle": "128B", "mma": (8, per_16), "arch": "sm100"}
    plan = tma_plan(derive((64, 8 * per_16), **tile, legality="off", verify=False))  # type: ignore[arg-type]
    measured = dtype in {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"}
    assert plan.evidence == ("measured on a Hopper GPU" if measured else "documented, not measured on a Blackwell GPU")


NESTED: Any = reduce(lambda value, _: (value,), range(65), 4)


@pytest.mark.parametrize("kind", ["divide", "product"])
@pytest.mark.parametrize("form", ["logical", "zipped", "tiled", "flat"])
def test_every_divide_and_product_refuses_a_tiler_that_is_too_deep(form: str, kind: str) -> None:
    operation = f"{form}_{kind}"
    with pytest.raises(LayoutError, match=f"^{operation}: the tiler has more than 64 levels of nesting"):
        getattr(layoutalg, operation)(Layout((8, 8)), NESTED)


@pytest.mark.parametrize("package", [layoutalg, descriptors], ids=lambda package: package.__name__)
def test_every_lazy_name_is_there_the_first_time_it_is_asked_for(package: Any) -> None:
    names = sorted(package._HOMES)
    lines = [
        f"import {package.__name__} as package, sys",
        f"for name in {names!r}:",
        "    found = getattr(package, name)",
        f"    home = sys.modules['{package.__name__}.' + package._HOMES[name]]",
        "    assert found is not None and found is getattr(home, name) and found is getattr(package, name), name",
        f"assert {names!r} == [name for name in dir(package) if name in package._HOMES]",
    ]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, env=environment, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("package", [layoutalg, descriptors], ids=lambda package: package.__name__)
def test_a_name_that_a_package_does_not_have_is_an_attribute_error(package: Any) -> None:
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'nothing'"):
        package.nothing  # noqa: B018


def values() -> list[type]:
    """Every dataclass of the package."""
    from importlib import import_module

    values_ = []
    for name in modules():
        if (
            name.startswith(("descriptors.", "layoutalg.oracle."))
            and not name.endswith("__main__")
            and ".oracle.dsl" not in name
        ):
            module = import_module(name)
            classes = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == name]
            values_ += filter(is_dataclass, classes)
    return values_  # type: ignore[return-value]


@each("value", values(), ids=lambda value: value.__qualname__)
def test_every_value_is_frozen_and_slotted(value: Any) -> None:
    assert value.__dataclass_params__.frozen
    assert "__slots__" in vars(value)
    assert set(value.__slots__) <= {field.name for field in fields(value)}


@each("name", [name for name, source in modules().items() if "\n@dataclass" in source])
def test_every_dataclass_is_written_as_frozen_and_slotted(name: str) -> None:
    """Those of the oracle's children too, which cannot be imported where the CuTe DSL is not installed."""
    written = [
        line.strip()
        for line in modules()[name].splitlines()
        if line.strip().startswith(("@dataclass(", "@dataclass\n"))
    ]
    assert all(line.startswith("@dataclass(frozen=True, slots=True") for line in written)
