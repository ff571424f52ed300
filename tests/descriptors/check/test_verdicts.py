"""The verdict of each property: green only where somebody looked, and what was not decided is named."""

from __future__ import annotations

import re

import pytest
from kernels import kernels
from places import ROOT

from descriptors.check import inspection, run_report
from descriptors.check.execution.configuration import Configuration
from descriptors.check.inspection import check_ptx
from descriptors.check.kernel_report import Judgement, Report, Scope, Undecided, chosen, finding
from descriptors.check.kernel_text import WIDTH, record_report, tell_report
from descriptors.check.ptx.ptx_module import Module
from descriptors.check.rules import PROPERTIES, RULES

HEAD = ".version 8.8\n.target sm_90a\n.entry k() {\n"
#: Words that are constants: 64 by 16 of f16, K-major, 128B.
A = "mov.b64 x, 0x4000004000010000; mov.b64 y, 0x4000004000010000;\n"
MMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 0;\n"
#: The next K block of both: one step of its own leaves no doubt of the major.
NEXT = f"add.s64 x, x, 2; add.s64 y, y, 2; {MMA}"
RIGHT = f"{A}wgmma.fence.sync.aligned;\n{MMA}{NEXT}wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
#: A loop of wgmma over operands that nothing in the text writes.
PIPELINE = (ROOT / "docs" / "kernels" / "pipeline.ptx").read_text(encoding="utf-8")


def check(body: str) -> Report:
    return check_ptx(f"{HEAD}{body}ret;\n}}\n")


def verdicts(report: Report) -> dict[str, str]:
    return {one.property: one.verdict for one in report.properties}


def closing(report: Report, name: str = "k.ptx") -> list[str]:
    """Return the verdict and the table that end the text of a report, with single spaces between the columns."""
    text = tell_report(report, name)
    return [re.sub("  +", " ", line).strip() for line in text[text.rindex(f"{name}: ") :].splitlines()]


def test_every_rule_is_of_one_property_and_every_report_has_a_verdict_of_each() -> None:
    assert {rule.property for rule in RULES.values()} <= set(PROPERTIES)
    assert tuple(one.property for one in check(RIGHT).properties) == PROPERTIES


def test_what_was_looked_at_is_clean_and_what_is_not_there_absent() -> None:
    found = check(RIGHT)
    wanted = {"forms": "clean", "words": "clean", "order": "clean", "reuse": "incomplete"}
    assert verdicts(found) == {name: wanted.get(name, "absent") for name in PROPERTIES}
    assert found.verdict == "incomplete"
    assert closing(found) == [
        "k.ptx: sm_90a, 2 MMA instructions: 1 property incomplete",
        "property result checked details",
        "forms clean 5 of 5 instructions",
        "words clean 4 of 4 descriptor words",
        "order clean 5 of 5 instructions",
        *(f"{name} not used" for name in ("tensor memory", "barriers", "bytes", "proxies")),
        "reuse incomplete 2 of 2 asynchronous operations 1 undecided",
        "k was not executed: it does not write shared memory or wait for a barrier",
    ]


@pytest.mark.parametrize(
    "text", [f"{HEAD}{RIGHT}ret;\n}}\n", PIPELINE, PIPELINE.replace("or.b64 %rd5", "xor.b64 %rd5")]
)
def test_a_kernel_that_is_not_run_has_the_verdicts_of_its_runs(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    left_out = check_ptx(text)
    monkeypatch.setattr(run_report, "_is_idle", lambda function: False)
    executed = check_ptx(text)
    assert executed.launches and not left_out.launches
    assert (left_out.findings, left_out.undecided) == (executed.findings, executed.undecided)
    assert left_out.properties == executed.properties


def test_a_word_that_is_not_known_leaves_the_words_incomplete_and_is_told_with_the_reason() -> None:
    found = check(RIGHT.replace("mov.b64 y, 0x4000004000010000;", "ld.param.b64 y, [p];"))
    assert verdicts(found)["words"] == "incomplete" and found.verdict == "incomplete"
    left, other = [one for one in found.undecided if one.property == "words"]
    assert (left.line, left.what, left.function) == (6, "descriptor of B", "k") and "swizzle" in left.why
    assert (other.line, other.what) == (7, "descriptor of B")
    assert any(line.startswith("words incomplete 2 of 4 descriptor words") for line in closing(found))
    assert f"k.ptx:6: undecided[words]: descriptor of B: {left.why}" in tell_report(found, "k.ptx")


def test_an_error_makes_its_own_property_wrong_and_no_other() -> None:
    found = check(RIGHT.replace("wgmma.commit_group.sync.aligned;\n", "") + "st.global.f32 [q], a;\n")
    assert found.verdict == "wrong"
    assert verdicts(found)["order"] == "wrong" and verdicts(found)["words"] == "clean"
    assert "order 1 error 4 of 4 instructions" in closing(found) and "0 errors" not in tell_report(found)


def test_warnings_leave_a_property_clean_and_are_counted() -> None:
    found = check(RIGHT.replace("wgmma.wait", "mov.f32 z, a;\nwgmma.wait"))
    assert [one.rule.name for one in found.findings] == ["wgmma-copied"]
    assert verdicts(found)["order"] == "clean" and "order clean 5 of 5 instructions 1 warning" in closing(found)


def test_what_is_left_out_does_not_look_clean() -> None:
    found = check("wgmma.wait_group.sync.aligned -1; // descriptors: ignore form-immediate\n")
    assert (found.left_out, found.verdict) == (1, "clean")
    assert closing(found)[0].endswith(": clean, 1 left out") and "1 left out" in closing(found)[2]
    other = chosen(check("wgmma.wait_group.sync.aligned -1;\n"), without=["form-immediate"])
    assert closing(other) == closing(found)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("", "not checked: sm_90a code without tensor-core instructions"),
        (
            "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {a}, {b}, {c}, {d};\n" * 3,
            "not checked: sm_90a code without tensor-core instructions (3 instructions)",
        ),
    ],
)  # fmt: skip
def test_where_there_is_nothing_to_look_at_nothing_is_clean(body: str, told: str) -> None:
    found = check(body)
    assert found.verdict == "incomplete" and "clean" not in verdicts(found).values()
    assert closing(found) == [f"k.ptx: {told}"]
    assert "\x1b[32m" not in tell_report(found, color=True)


def test_multiplications_of_one_warp_beside_those_of_a_warpgroup_are_named() -> None:
    found = check(RIGHT + "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {a}, {b}, {c}, {d};\n" * 2)
    assert verdicts(found)["forms"] == "incomplete"
    assert "forms incomplete 5 of 7 instructions 1 undecided" in closing(found)
    assert "k.ptx:10: undecided[forms]: 2 wmma instructions: not checked" in tell_report(found, "k.ptx")


def test_stores_are_counted_where_the_asynchronous_proxy_reads_what_they_write() -> None:
    stores = (
        "st.shared.b32 [s], r;\nst.global.b32 [g], r;\nst.b32 [u], r;\nstmatrix.sync.aligned.x1.shared.b16 [s], {r};\n"
    )
    assert [one.number for one in check(RIGHT + stores).properties if one.property == "proxies"] == [3]
    assert verdicts(check(stores))["proxies"] == "absent"


def test_a_second_judge_hands_in_scopes_findings_and_what_he_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(module: Module, text: str, known: Configuration, _: object) -> Judgement:
        assert text and known == Configuration()
        assert module.target == "sm_90a"
        scopes = (Scope("barriers", 2, "mbarrier", 2), Scope("bytes", 4, "bulk copy", 3), Scope("reuse", 1, "stage", 1))
        left = (Undecided("bytes", 5, "the box of a copy", "a tensor map of the host", "--tensormap"),)
        return Judgement(scopes, left, (finding(6, "tcgen05-parity", "this wait has parity 0 in every iteration"),))

    monkeypatch.setattr(inspection, "EXECUTION", run)
    found = check(RIGHT)
    held = verdicts(found)
    assert [held[name] for name in PROPERTIES[4:]] == ["wrong", "incomplete", "absent", "clean", "absent"]
    assert found.verdict == "wrong" and [one.line for one in found.errors] == [6]
    line = "5: undecided[bytes]: the box of a copy: a tensor map of the host"
    assert f"{line}\n    help: to decide this, the check needs --tensormap" in str(found)


def test_the_table_has_eighty_columns_and_notes_break_at_words() -> None:
    for name in ("product_f16_128x128x64_nt_sm90", "attention_64x64x64_sm100"):
        found = check_ptx(kernels()[name])
        lines = tell_report(found, "k.ptx").splitlines()
        last = lines[max(i for i, line in enumerate(lines) if line.startswith("k.ptx: ")) :]
        assert len(last) > 1 and all(len(line) <= WIDTH for line in last)
        assert all(line.startswith("  ") for line in last[1:])


def test_plain_data_has_every_verdict_and_everything_undecided() -> None:
    found = check(RIGHT.replace("mov.b64 y, 0x4000004000010000;", "ld.param.b64 y, [p];"))
    told = record_report(found)
    assert told["verdict"] == "incomplete" and list(told["properties"]) == list(PROPERTIES)
    assert told["properties"]["words"]["verdict"] == "incomplete"
    assert told["result"] == "incomplete"
    assert {name: row["result"] for name, row in told["properties"].items()} == {
        **dict.fromkeys(PROPERTIES, "not used"), "forms": "clean", "words": "incomplete", "order": "clean",
        "reuse": "incomplete",
    }  # fmt: skip
    assert (told["properties"]["words"]["looked_at"], told["properties"]["words"]["number"]) == (2, 4)
    assert [one["property"] for one in told["undecided"]] == ["words", "reuse", "words"]


def test_a_finding_has_its_fact_notes_and_help_as_keys() -> None:
    wrong = check("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [t], x, y, i, [s], [u], p;\n")
    row = next(row for row in record_report(wrong)["findings"] if "scale vector" in row["fact"])
    fact, note = "kind mxf4nvf4 is used with the scale vector (none)", "it has 2X, 4X, block16, block32"
    assert (row["fact"], row["notes"], row["help"]) == (fact, [note], row["fix"]) and row["found"] == f"{fact}; {note}"


def test_a_file_without_tensor_core_instructions_is_not_checked() -> None:
    told = record_report(check(""))
    assert (told["result"], told["verdict"]) == ("not checked", "incomplete")


def test_findings_and_open_things_that_say_the_same_are_one_line() -> None:
    bad = "wgmma.wait_group.sync.aligned -1;\n"
    text = tell_report(check(bad * 100), "k.ptx")
    assert "operand 1 is -1, which is less than 0; 100 times, lines 4..103\n" in text
    assert text.count("[form-immediate]") == 1
    assert tell_report(check(bad * 100), "k.ptx", everything=True).count("[form-immediate]") == 100
    unknown = check(f"wgmma.fence.sync.aligned;\n{MMA * 20}")
    assert tell_report(unknown, "k.ptx").count("undecided[words]: descriptor of A") == 1
    assert "; 20 times, lines 5..24" in tell_report(unknown, "k.ptx")


def test_nothing_of_a_text_reaches_a_terminal_as_a_command() -> None:
    bad = "\x1b[31m"
    left = Undecided("words", 4, bad, bad, bad)
    found = Report(bad, (bad,), 0, 0, 0, (), (finding(3, "form-shape", bad, bad),), (), (left,))
    text = tell_report(found, f"n{bad}x.ptx")
    assert "\x1b" not in text and text.startswith("n\\x1b[31mx.ptx:3: error[form-shape]: ")


@pytest.mark.parametrize(("a", "verdict"), [("{%a0, %a1, %a2, %a3}", "incomplete"), ("%a", "absent")])
def test_fragments_of_a_wgmma_that_takes_a_from_registers_are_not_clean(a: str, verdict: str) -> None:
    tail = ", 1, 1, 1, 0, 0;" if a == "%a" else ", 1, 1, 1, 0;"
    body = f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, {a}, %b{tail} ret;"
    report = check_ptx(f".version 8.8\n.target sm_90a\n.entry k() .reqntid 128 {{ {body} }}")
    assert next(row.verdict for row in report.properties if row.property == "fragments") == verdict
    told = [(row.what, row.why) for row in report.undecided if row.property == "fragments"]
    wanted = [("A in registers of 1 wgmma", "which elements the fragments hold is not checked")]
    assert told == (wanted if verdict == "incomplete" else [])
