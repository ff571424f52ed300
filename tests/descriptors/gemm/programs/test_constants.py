"""The numbers of an emitted program, read as C++ does, are those of the plan."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest
from each import each

from descriptors import plan
from descriptors.gemm.accumulators import Registers
from descriptors.gemm.plan import Plan
from descriptors.gemm.programs.sm90_kernel import constants, step_function
from layoutalg import offsets
from probes.main_loops import drawn

PLANS = drawn(20, 3)


def text_of(loop_plan: Plan) -> str:
    assert isinstance(loop_plan.accumulators, Registers)
    return constants(loop_plan)


def function(text: str, name: str) -> Callable[..., int]:
    """A constexpr function of the text, as Python: integers are not negative, so that ``/`` is ``//``."""
    match = re.search(rf"constexpr \w+ {name}\(([^)]*)\) \{{(.*?)\}}\n", text + "\n", re.DOTALL)
    assert match is not None, name
    names, body = [part.split()[-1] for part in match[1].split(", ")], match[2]
    table = re.search(r"all\[\] = \{(.*?)\}", body)
    if table:
        numbers = [int(number) for number in table[1].split(", ")]
        return numbers.__getitem__
    (said,) = re.findall(r"return (.*?);", body)
    return lambda *given: int(eval(said.replace("/", "//"), dict(zip(names, given, strict=True))))  # noqa: S307  # our own text


def number(text: str, name: str) -> int:
    match = re.search(rf"\b{name} = (0x[0-9a-f]+|\d+)", text)
    assert match is not None, name
    return int(match[1], 0)


@each("arguments", PLANS, ids=lambda one: one["instruction"] + one["dtype"])
def test_a_word_and_its_steps_give_the_words_of_the_derivation(arguments: dict[str, object]) -> None:
    loop_plan = plan(**arguments, verify=False)  # type: ignore[arg-type]
    text = text_of(loop_plan)
    for side in (loop_plan.a, loop_plan.b):
        name, low = side.matrix, side.matrix.lower()
        if f"{name}_WORD" not in text:
            assert (name, loop_plan.asked.a_source) == ("A", "rmem")
            continue
        mn, k = function(text, f"{low}_mn_step"), function(text, f"{low}_k_step")
        for stage in range(loop_plan.stages):
            for i in range(len(side.mn_steps)):
                for j in range(len(side.k_steps)):
                    start = (number(text, f"{name}_BASE") + stage * number(text, f"{name}_STAGE_BYTES")) // 16
                    word = number(text, f"{name}_WORD") + start + mn(i) + k(j)
                    assert word == side.derivation.word(i, j, stage, side.base)


@each("arguments", PLANS, ids=lambda one: one["instruction"] + one["dtype"])
def test_boxes_land_where_the_copies_of_the_plan_do(arguments: dict[str, object]) -> None:
    loop_plan = plan(**arguments, verify=False)  # type: ignore[arg-type]
    text = text_of(loop_plan)
    assert number(text, "STAGE_BYTES") == loop_plan.transaction_bytes
    for side in (loop_plan.a, loop_plan.b):
        low = side.matrix.lower()
        at = [function(text, f"{low}_box_{name}") for name in ("mn", "k", "at")]
        placed = [tuple(one(i) for one in at) for i in range(number(text, f"{side.matrix}_BOXES"))]
        assert placed == [(*box.origin, box.offset_bytes) for box in side.boxes]


@pytest.mark.parametrize("arguments", PLANS[:8], ids=lambda one: one["instruction"] + one["dtype"])
def test_rows_and_columns_are_those_of_the_fragment(arguments: dict[str, object]) -> None:
    loop_plan = plan(**arguments, verify=False)  # type: ignore[arg-type]
    text, accumulators = text_of(loop_plan), loop_plan.accumulators
    assert isinstance(accumulators, Registers)
    row, column = function(text, "d_row"), function(text, "d_column")
    elements = offsets(accumulators.fragment.layout)
    for thread in range(128):
        for value in range(accumulators.fragment.values):
            assert row(thread, value) + 64 * column(thread, value) == elements[thread, value]
            if value % 2 == 0:  # what store_two takes for granted
                assert column(thread, value + 1) == column(thread, value) + 1


def test_steps_are_a_product_or_a_table() -> None:
    chooser = random.Random(5)
    for _ in range(200):
        steps = [chooser.randrange(5) * i for i in range(chooser.randrange(1, 5))]
        step_at = function(step_function("steps", steps), "steps")
        assert [step_at(i) for i in range(len(steps))] == steps
