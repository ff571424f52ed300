"""One fault of an operand, or of a qualifier, has one finding."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from kernel_kinds import KINDS
from kernels import mutants, tried
from places import VECTORS

from descriptors import check_ptx
from descriptors.check import inspection, run_report
from descriptors.check.execution import judgement
from descriptors.check.kernel_report import Judgement
from descriptors.check.ptx.ptx_module import Function

RECORD = json.loads((VECTORS / "forms_ptxas.json").read_text(encoding="utf-8"))
_RANGE = re.compile(r"%([a-z]+)(\d+)\.\.%\1(\d+)")
#: What a row of the record is about; its kernel is no program, so that other rules may find something in any row.
ABOUT = ("forms", "tensor memory", "words")
Words = tuple[str | None, ...]


def text_of(body: str, target: str) -> str:
    spelled = _RANGE.sub(lambda m: ",".join(f"%{m[1]}{n}" for n in range(int(m[2]), int(m[3]) + 1)), body)
    return str(RECORD["frame"]).format(version=RECORD["version"], target=target, body=spelled)


@cache
def errors_of(body: str, target: str) -> Counter[str]:
    """The errors in a row of the record, by rule."""
    errors = check_ptx(text_of(body, target)).errors
    return Counter(one.rule.name for one in errors if one.rule.property in ABOUT)


def words_of(body: str) -> Words:
    """The qualifiers and operands of an instruction, each a word."""
    opcode, _, operands = body.rstrip(";").partition(" ")
    return *re.split(r"\.(?=\D)", opcode), " ", *re.findall(r"(?:[\[{][^\]]*[\]}]|[^,\s])+", operands)


def alike() -> Iterator[tuple[str, str, set[str]]]:
    """Two instructions of the record that differ in one word, and the targets on which only the second is accepted."""
    rows = [row for row in RECORD["rows"] if row["body"].count(";") == 1]
    near: dict[Words, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        words = words_of(row["body"])
        for place in range(len(words)):
            near[*words[:place], None, *words[place + 1 :]].append(row)
    for same in near.values():
        for wrong in same:
            for right in same:
                if targets := set(right["taken"].split()) - set(wrong["taken"].split()):
                    yield wrong["body"], right["body"], targets


def test_an_instruction_with_one_wrong_word_has_one_finding() -> None:
    new: dict[tuple[str, str], list[Counter[str]]] = defaultdict(list)
    for wrong, right, targets in alike():
        for target in targets:
            if not errors_of(wrong, target)["form-target"]:  # a word of another target may be wrong in itself as well
                new[wrong, target].append(errors_of(wrong, target) - errors_of(right, target))
    assert len(new) > 2000
    several = [(key, best) for key, rows in new.items() if (best := min(rows, key=Counter.total)).total() > 1]
    assert not several, several[:5]
    assert not [key for key in new if not errors_of(*key)]


#: Changes of more than one operand: of the whole target, of a limit of all instructions.
WHOLE = ("target without wgmma", "target without tcgen05", "too few registers")


@pytest.mark.parametrize("name", ["docs_pipeline", "emitted_inner_sm90", "product_f8e5_128x64x64_nt_sm100"])
def test_a_kernel_with_one_wrong_operand_has_one_finding(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "EXECUTION", lambda *_: Judgement(()))
    kernel = tried()[name]
    before = Counter(one.rule.name for one in check_ptx(kernel).errors)
    several = []
    for kind in KINDS["forms"]:
        for mutant in mutants(name, kernel, "forms", kind, 1):
            new = Counter(one.rule.name for one in check_ptx(mutant.text).errors) - before
            if kind.name not in WHOLE and new.total() != 1:
                several.append((kind.name, new))
    assert not several


MMA = "tcgen05.mma.cta_group::1.kind::f16 [d], da, db, w, pd;"


def one_descriptor(step: int, change: int) -> str:
    """A ring of sm100 with other bits in the instruction descriptor of one of its four K steps."""
    before, *parts = tried()["ring_sm100_2"].split(MMA)
    rows = [(MMA if number != step else MMA.replace("w,", f"{135267472 ^ change},")) for number in range(len(parts))]
    return before + "".join(row + part for row, part in zip(rows, parts, strict=True))


@pytest.mark.parametrize(("change", "fact"), [
    ((8 ^ 16) << 17, "the instruction descriptor has N 128, but N 64 in"),
    ((8 ^ 4) << 24, "the instruction descriptor has M 64, but M 128 in"),
    (1 << 4, "the instruction descriptor has D in f16, but D in f32 in"),
])  # fmt: skip
@pytest.mark.parametrize("step", range(4))
def test_one_wrong_instruction_descriptor_of_an_accumulation_is_one_error(step: int, change: int, fact: str) -> None:
    text = one_descriptor(step, change)
    (error,) = check_ptx(text).errors
    assert error.rule.name == "word-accumulation" and error.fact.startswith(fact)
    line = text.split("\n")[error.line - 1]
    assert str(135267472 ^ change) in line


def test_a_descriptor_with_a_smaller_n_is_not_clean() -> None:
    """It may be meant: the other columns of D get nothing of this K step."""
    report = check_ptx(one_descriptor(2, (8 ^ 4) << 17))
    (row,) = report.undecided
    assert not report.errors and row.property == "words" and "N 32, but N 64 in" in row.why


def test_a_wrong_descriptor_hides_no_other_fault() -> None:
    wait = next(one for one in one_descriptor(2, 0).split("\n") if "[full], parity" in one)
    text = one_descriptor(2, (8 ^ 16) << 17).replace(wait, "setp.eq.u32 pw, t, t;")
    found = {one.rule.name for one in check_ptx(text).errors}
    assert "word-accumulation" in found and "reuse-order" in found


def test_only_the_kernels_whose_descriptors_differ_are_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    other = (
        ".shared .align 8 .b8 other_barrier[8];\n.entry other() .reqntid 32 {\n.reg .pred e, p;\n"
        "elect.sync _|e, -1;\n@e mbarrier.init.shared.b64 [other_barrier], 33;\nbar.sync 0;\n"
        "mbarrier.arrive.shared.b64 _, [other_barrier];\n"
        "L: mbarrier.try_wait.parity.shared.b64 p, [other_barrier], 0;\n@!p bra L;\nret;\n}\n"
    )
    runs: list[str] = []

    def judge(function: Function, *rest: Any) -> Any:
        runs.append(function.name)
        return judgement.judge(function, *rest)

    monkeypatch.setattr(run_report, "judge", judge)
    alone = check_ptx(one_descriptor(2, (8 ^ 16) << 17)).errors
    runs.clear()
    both = check_ptx(one_descriptor(2, (8 ^ 16) << 17) + other).errors
    assert runs.count("other") == 1 and len(runs) == 3
    assert [one for one in both if one.function != "other"] == list(alone)
    assert [one.rule.name for one in both if one.function == "other"] == ["barrier-hang"]


def test_a_limit_of_registers_is_one_error_of_a_kernel() -> None:
    text = tried()["ring_sm90_K_2"].replace(".reqntid", ".maxnreg 40 .reqntid")
    (error,) = check_ptx(text).errors
    assert error.rule.name == "form-limit"
    assert error.found.startswith(
        "a thread may have 40 registers, but m64n64k16 into f32 needs 58; 4 instructions, lines "
    )
