"""An emitted program, read back: what its text does is what the plan proves."""

from __future__ import annotations

import re
from typing import Any

import pytest
from each import each

from descriptors import DescriptorError, plan
from descriptors.gemm.plan import BlackwellPlan, HopperPlan, Plan
from descriptors.gemm.programs.emit_plan import emit_plan
from descriptors.gemm.programs.sm90_kernel import kernel
from descriptors.gemm.programs.sm90_wgmma import instruction
from descriptors.gemm.thread_registers import RegisterBudget
from probes.main_loops import drawn

PLANS = [plan(**one, verify=False) for one in drawn(24, 4)]
LOADED = [one for one in PLANS if one.loads is not None]


def name_of(loop_plan: Plan) -> str:
    return loop_plan.headline


def assembly(text: str) -> str:
    """The one instruction of ``multiply``, its operands under the names of the plan's line."""
    body = re.sub(r"\n\s+", " ", text[text.index('"wgmma') : text.index(': "+')])
    line = "".join(re.findall(r'"(.*?)"', body)).removesuffix("\\n}\\n")
    bound = re.findall(r'"\+?[frl]"\((\w+)(?:\[(\d+)\])?\)', text[text.index(': "+') : text.index("}\n\n")])
    names = [f"%{name}{index}" if index else f"%{name}_desc" for name, index in bound]
    line = re.sub(r"%(\d+)", lambda found: names[int(found[1])], line)
    return re.sub(r"\bp([,;])", r"%p\1", line)


@each("loop_plan", PLANS, ids=name_of)
def test_the_instruction_is_the_line_of_the_plan(loop_plan: Plan) -> None:
    assert assembly(instruction(loop_plan)) == loop_plan.line.ptx


@each("loop_plan", PLANS, ids=name_of)
def test_nothing_of_the_template_is_left_open(loop_plan: Plan) -> None:
    text = kernel(loop_plan, "tile_product")
    assert "$" not in text
    assert len(re.findall(r"\btile_product\b<<<", text)) == 1
    assert text.count("{") == text.count("}")
    waits = re.findall(r"wait_group\.sync\.aligned (\d)", text)
    assert waits == (["0", "0"] if loop_plan.loads or loop_plan.stages == 1 else ["1", "0"])


def expression(text: str, name: str) -> Any:
    """What a C expression makes of its variables; integers are not negative."""
    return compile(re.sub(r"(\d)u\b", r"\1", text).replace("/", "//"), name, "eval")


def value(code: Any, **names: int) -> int:
    return int(eval(code, names))  # noqa: S307  # our own text


@each("loop_plan", LOADED, ids=name_of)
def test_a_thread_finds_every_element_of_a_stage(loop_plan: Plan) -> None:
    match = re.search(r"const uint32_t at = (.*?);\n  return (.*?);", kernel(loop_plan))
    assert match is not None
    at, place = expression(match[1], "at"), expression(match[2], "place")
    d = loop_plan.a.derivation
    for m in range(0, d.tile[0], 3):
        for k in range(d.tile[1]):
            place_bytes = value(place, at=value(at, row=m, column=k))
            assert place_bytes == d.smem_tile((m, k, 0)) * d.element.storage_bits // 8


@each("loop_plan", LOADED, ids=name_of)
def test_loads_are_those_of_the_plan(loop_plan: Plan) -> None:
    loads, text = loop_plan.loads, kernel(loop_plan)
    assert loads is not None
    match = re.search(r"from = tile \+ a_at\(rows \+ (.*?),\s+columns \+ (.*?)\);", text)
    assert match is not None
    row, column = expression(match[1], "row"), expression(match[2], "column")
    for thread in range(128):
        if loads.move.startswith("ldmatrix"):
            assert (value(row, thread=thread), value(column, thread=thread)) == loads.pointer(thread)
            continue
        for one in range(loads.fragment.values):
            place = value(row, thread=thread, value=one), value(column, thread=thread, value=one)
            assert place == loads.fragment.element(thread, one)


def test_both_ways_of_loading_are_drawn() -> None:
    assert {one.loads.move.split(".")[0] for one in LOADED if one.loads} == {"ldmatrix", "ld"}


@pytest.mark.parametrize("warpgroups", range(1, 9))
def test_registers_never_exceed_those_of_an_sm(warpgroups: int) -> None:
    budget = RegisterBudget(warpgroups)
    assert budget.pool <= 65536 and budget.used <= budget.pool
    assert all(one == 255 or one % 8 == 0 for one in (budget.launch, budget.copy, budget.multiply))


def test_a_plan_that_no_program_has_registers_for_is_refused_and_its_advice_is_accepted() -> None:
    asked = {"instruction": "m64n256k16", "dtype": "bf16", "tile": (192, 256, 64), "arch": "sm90", "verify": False}
    with pytest.raises(
        DescriptorError, match=r"needs 128 registers a thread and 26 others, a thread has 128"
    ) as caught:
        plan(**asked)
    assert caught.value.advice
    for one in caught.value.advice:
        assert kernel(plan(**asked | dict(one.changes)))


def test_a_name_is_an_identifier() -> None:
    with pytest.raises(DescriptorError, match="name 'a b' is not an identifier of at most 64 letters and digits"):
        kernel(PLANS[0], "a b")
    assert kernel(PLANS[0], "a" * 64)


@pytest.mark.parametrize(("shape", "kind", "opcode"), [
    ("m64n64k16", HopperPlan, "wgmma.mma_async"), ("m128n64k16", BlackwellPlan, "tcgen05.mma"),
])  # fmt: skip
def test_a_plan_is_written_with_the_instructions_of_its_kind(shape: str, kind: type[Plan], opcode: str) -> None:
    loop_plan = plan(shape, "bf16", tile=(128, 64, 64), verify=False)
    assert type(loop_plan) is kind
    for language in ("cuda", "ptx"):
        text = emit_plan(loop_plan, language)
        assert [name for name in ("wgmma.mma_async", "tcgen05.mma") if name in text] == [opcode]
