"""The registers of a CTA: what it is launched with, and whether ``setmaxnreg`` finds as many."""

from __future__ import annotations

import pytest

from descriptors.check.execution.register_pool import launch_registers
from descriptors.check.inspection import check_ptx
from descriptors.check.kernel_report import Report
from descriptors.check.ptx.ptx_module import parse

#: Directives, and the registers that ptxas 13.0 reports for a kernel whose counts are 40 and 240; None: it ignores
#: setmaxnreg (C7508).
PTXAS = {
    ".reqntid 384": None,
    ".maxntid 384": None,
    "": None,
    ".maxntid 384 .minnctapersm 1": 168,
    ".reqntid 352 .minnctapersm 1": 168,
    ".reqntid 416 .minnctapersm 1": 128,
    ".reqntid 256 .minnctapersm 2": 128,
    ".reqntid 128 .minnctapersm 1": 240,
    ".reqntid 160 .minnctapersm 1": 240,
    ".maxnreg 168": 168,
    ".maxnreg 128 .reqntid 384": 128,
    ".maxnreg 255 .reqntid 384": 240,
    ".maxnreg 64 .reqntid 384 .minnctapersm 1": 64,
    ".maxnreg 200 .maxntid 384 .minnctapersm 1": 168,
}


def kernel(directives: str, body: str) -> str:
    return f""".version 8.8
.target sm_90a
.entry k() {directives}
{{
.reg .pred p; .reg .b32 t, w;
mov.u32 t, %tid.x;
setp.lt.u32 p, t, 128;
{body}
ret;
}}
"""


def split(few: str, more: str) -> str:
    """What the first warpgroup does, and what the others do."""
    return f"@p bra L;\n{more}\nbra E;\nL: {few}\nE:"


def change(way: str, count: int) -> str:
    return f"setmaxnreg.{way}.sync.aligned.u32 {count};"


def outcome(report: Report) -> tuple[str, list[str]]:
    verdict = next(one.verdict for one in report.properties if one.property == "barriers")
    return verdict, [one.rule.name for one in report.errors]


@pytest.mark.parametrize("directives", PTXAS)
def test_registers_at_launch_are_those_of_ptxas(directives: str) -> None:
    text = kernel(directives, split(change("dec", 40), change("inc", 240)))
    assert launch_registers(parse(text).functions[0]) == PTXAS[directives]


@pytest.mark.parametrize(("count", "verdict"), [(232, "clean"), (240, "wrong")])
def test_the_counts_that_were_measured_on_a_gpu(count: int, verdict: str) -> None:
    text = kernel(".reqntid 384 .minnctapersm 1", split(change("dec", 40), change("inc", count)))
    found = outcome(check_ptx(text))
    assert found == (verdict, ["barrier-registers"] if verdict == "wrong" else [])


@pytest.mark.parametrize("threads", [256, 384, 512])
@pytest.mark.parametrize("few", [24, 56, 104])
def test_an_increase_ends_where_the_sum_is_at_most_that_of_the_launch(threads: int, few: int) -> None:
    at_launch = 65536 // threads // 8 * 8
    for more in range(at_launch, 257, 8):
        if few > at_launch:
            continue
        text = kernel(f".reqntid {threads} .minnctapersm 1", split(change("dec", few), change("inc", more)))
        at = min(at_launch, max(few, more))
        fits = few * 128 + more * (threads - 128) <= at * threads
        assert outcome(check_ptx(text))[0] == ("clean" if fits else "wrong"), (threads, few, more)


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        (split("", change("inc", 200)), ["barrier-registers"]),  # nobody gives registers back
        (split("bar.sync 1, 256;\n" + change("dec", 24), change("inc", 200) + "\nbar.sync 1, 256;"),
         ["barrier-registers"]),  # who would give them back waits for who takes them
        (split(change("dec", 24), change("inc", 200)), []),
        (split(change("dec", 136), change("inc", 200)), ["barrier-registers", "barrier-registers"]),
        (split(change("dec", 24), f"{change('inc', 136)}\nbar.sync 2, 128;\n{change('inc', 120)}"),
         ["barrier-registers"]),  # to less than what it has
        (split(f"{change('dec', 24)}\nbar.sync 1, 128;\n{change('inc', 64)}", change("inc", 192)), []),
        (split(f"{change('dec', 24)}\nbar.sync 1, 128;\n{change('inc', 72)}", change("inc", 192)),
         ["barrier-registers"]),
    ],
)  # fmt: skip
def test_orders_of_taking_and_giving_back(body: str, rules: list[str]) -> None:
    report = check_ptx(kernel(".reqntid 256 .maxnreg 128", body))
    assert outcome(report) == ("wrong" if rules else "clean", rules)


def test_an_increase_before_the_decrease_waits_for_it() -> None:
    later = f"bar.sync 1, 128;\nbar.sync 1, 128;\n{change('dec', 24)}"
    assert outcome(check_ptx(kernel(".reqntid 256 .maxnreg 128", split(later, change("inc", 232)))))[0] == "clean"


@pytest.mark.parametrize("guard", ["t, 32", "t, 96"])
def test_all_warps_of_a_warpgroup_change_alike(guard: str) -> None:
    body = f"setp.lt.u32 p, {guard};\n@!p bra E;\n{change('dec', 40)}\nE:"
    assert outcome(check_ptx(kernel(".reqntid 128 .minnctapersm 2", body))) == ("wrong", ["barrier-registers-group"])


def test_roles_of_one_warpgroup_may_change_in_several_places() -> None:
    body = f"setp.lt.u32 p, t, 32;\n@!p bra L;\n{change('dec', 40)}\nbra E;\nL: {change('dec', 40)}\nE:"
    assert outcome(check_ptx(kernel(".reqntid 128 .minnctapersm 2", body)))[0] == "clean"


def test_without_a_limit_in_the_text_nothing_is_decided() -> None:
    report = check_ptx(kernel(".reqntid 384", split(change("dec", 40), change("inc", 240))))
    assert outcome(report) == ("incomplete", [])
    assert {one.line for one in report.undecided if one.property == "barriers"} == {9, 11}
