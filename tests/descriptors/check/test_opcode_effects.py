"""The table of opcodes: what a run executes has a handler, and what nobody knows leaves a kernel undecided."""

from __future__ import annotations

import pytest
from kernels import kernels

from descriptors.check.execution.dispatch import execution
from descriptors.check.execution.integers import integer_handler
from descriptors.check.execution.program import EVENTS
from descriptors.check.inspection import check_ptx
from descriptors.check.instruction_syntax import forms
from descriptors.check.kernel_report import Report
from descriptors.check.opcode_effects import OPCODES, Effect, effect_of
from descriptors.check.ptx.ptx_module import parse

#: Opcodes that a run executes by their order in the text, or judges without executing them.
_ELSEWHERE = {"wgmma.fence", "call", "tcgen05.fence", "tcgen05.relinquish_alloc_permit", "tcgen05.wait"}


def kernel(instruction: str) -> str:
    ring = "elect.sync _|q, -1; @q mbarrier.init.shared.b64 [b], 1; bar.sync 0;\n"
    fill = "@q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [b+128], [x], 16, [b];\n"
    expect = "@q mbarrier.arrive.expect_tx.shared.b64 _, [b], 16;\n"
    use = f"{expect}{fill}L: mbarrier.try_wait.parity.shared.b64 w, [b], 0; @!w bra L;\n"
    regs = ".reg .pred q, w; .reg .b32 r; .reg .b64 x;\n"
    head = ".version 8.8\n.target sm_90a\n.shared .align 128 .b64 b[64];\n.entry k() .reqntid 32 {\n"
    return f"{head}{regs}{ring}{use}st.shared.u32 [b+384], 0;\n{instruction}\nret; }}\n"


def verdicts(report: Report) -> dict[str, str]:
    return {one.property: one.verdict for one in report.properties}


def test_each_opcode_of_the_record_is_in_the_table() -> None:
    opcodes = {one.opcode for text in kernels().values() for f in parse(text).functions for one in f.code}
    assert not [one for one in opcodes if "does not know" in effect_of(one).reason]


def test_each_form_that_the_checker_accepts_is_in_the_table() -> None:
    names = set(forms()) - {"fence.proxy"}  # whose proxy is the next word
    assert not [one for one in names if "does not know" in effect_of(one).reason or "unknown" in effect_of(one).reason]


def test_what_a_run_executes_has_a_handler() -> None:
    held = [name for name, one in OPCODES.items() if one.effect is Effect.EXECUTED and name.startswith(EVENTS)]
    assert len(held) > 30
    assert not [name for name in held if name not in _ELSEWHERE and execution(name).handler is integer_handler(name)]


@pytest.mark.parametrize(
    ("instruction", "properties"),
    [
        ("griddepcontrol.wait;", {"barriers"}),
        ("griddepcontrol.launch_dependents;", {"barriers"}),
        ("atom.shared.add.u32 r, [b+256], 1;", {"reuse", "proxies"}),
        ("red.add.u32 [x], 1;", {"reuse", "proxies"}),
        ("st.bulk.weak.shared::cta [b+256], 8, 0;", {"reuse", "proxies"}),
        ("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [x], r, [x];", {"barriers"}),
        ("frobnicate.sync.b32 r, r;", {"barriers"}),
        ("wgmma.frobnicate.sync.aligned;", {"barriers"}),
        ("call vendor;", {"barriers"}),
    ],
)
def test_what_is_not_modeled_leaves_its_properties_undecided(instruction: str, properties: set[str]) -> None:
    before, after = check_ptx(kernel("")), check_ptx(kernel(instruction))
    there = {name for name in properties if verdicts(before)[name] != "absent"}
    line = next(n for n, one in enumerate(kernel(instruction).split("\n"), 1) if one == instruction)
    assert verdicts(before)["barriers"] == "clean" and there
    for name in there:
        assert verdicts(after)[name] == "incomplete"
        assert any(one.line == line and one.property == name for one in after.undecided)


@pytest.mark.parametrize(
    "instruction",
    ["atom.global.add.u32 r, [x], 1;", "red.relaxed.gpu.global.add.u32 [x], 1;", "nanosleep.u32 20;",
     "prefetch.global.L2 [x];", "membar.gl;", "call vprintf;"],
)  # fmt: skip
def test_what_has_no_effect_leaves_a_kernel_clean(instruction: str) -> None:
    assert verdicts(check_ptx(kernel(instruction))) == verdicts(check_ptx(kernel("")))
