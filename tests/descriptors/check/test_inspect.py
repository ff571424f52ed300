"""The checker on whole kernels: silent on what compilers made, and on mutants of it it says what is wrong."""

from __future__ import annotations

import random
import time
from collections import Counter
from contextlib import suppress
from functools import cache
from textwrap import fill

import pytest
from kernels import Mutant, kernels, mutants
from seeds import seed_of_this_run

from descriptors.check.inspection import check_ptx
from descriptors.check.kernel_report import Report
from descriptors.check.rules import ALL_RULES
from descriptors.errors import DescriptorError

#: Mutants of these are tried by the test; ``scripts/try_mutant_kernels.py`` tries those of all.
TRIED = (
    "product_f16_128x128x64_nt_sm90", "product_f8e5_128x64x64_nt_sm90", "attention_64x64x64_sm90",
    "product_bf16_64x64x64_nt_sm100", "attention_64x64x64_sm100", "scaled_e2m1_64_sm100",
)  # fmt: skip


@cache
def report(name: str) -> Report:
    return check_ptx(kernels()[name])


def test_there_are_at_least_thirty_kernels_of_both_families() -> None:
    assert len(kernels()) >= 30
    assert {report(name).target for name in kernels()} == {"sm_90a", "sm_100a"}


@pytest.mark.parametrize("name", sorted(kernels()))
def test_a_kernel_of_a_compiler_has_no_error_and_every_word_is_resolved_or_told(name: str) -> None:
    found = report(name)
    assert found.multiplications >= 2
    assert [(one.line, one.rule.name, one.found) for one in found.errors] == []
    assert found.resolved + len(found.unresolved) == found.words
    if not name.startswith("nvcc"):  # whose words are made at run time
        assert found.unresolved == ()


def told(mutant: Mutant) -> bool:
    """Whether one of the rules of a mutant is told more often than of the kernel."""
    before = Counter(one.rule.name for one in report(mutant.kernel).findings)
    after = Counter(one.rule.name for one in check_ptx(mutant.text).findings)
    return any(after[rule] > before[rule] for rule in mutant.rules)


def test_nearly_all_mutants_are_told_each_by_its_rule(capsys: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(seed_of_this_run())
    found: Counter[str] = Counter()
    missed: list[tuple[str, str]] = []
    for name in TRIED:
        sorts: dict[str, list[Mutant]] = {}
        for mutant in mutants(name, kernels()[name]):
            sorts.setdefault(mutant.sort, []).append(mutant)
        for sort, held in sorts.items():
            if told(draw.choice(held)):
                found[sort] += 1
            else:
                missed.append((sort, name))
    number = found.total() + len(missed)
    lost = Counter(sort for sort, _ in missed)
    with capsys.disabled():
        rows = (f"{sort} {found[sort]}/{found[sort] + lost[sort]}" for sort in dict.fromkeys([*found, *lost]))
        print(f"\nmutants told by their rule: {found.total()} of {number} ({len(found)} sorts)")
        print(fill("; ".join(rows), 118, initial_indent="  ", subsequent_indent="  "))
    assert number > 180 and len(found) > 60
    assert found.total() >= 0.95 * number, missed


def test_rules_of_mutants_are_rules() -> None:
    named = {rule for name in TRIED for mutant in mutants(name, kernels()[name]) for rule in mutant.rules}
    assert named <= ALL_RULES.keys()


def test_time_and_findings_grow_with_the_text() -> None:
    name = "product_f16_128x128x64_nt_sm90"
    head, body = kernels()[name].split(".visible .entry", 1)
    many = head + "".join(f".visible .entry{body.replace('product', f'product{i}')}" for i in range(12))
    begun = time.perf_counter()
    found = check_ptx(many)
    spent = time.perf_counter() - begun
    assert found.multiplications == 12 * report(name).multiplications and not found.errors
    assert many.count("\n") / spent > 1000  # a bound for a machine that is busy; scripts/bench.py measures


@pytest.mark.parametrize(
    "text", ["", "\x00" * 1000, "hello", "{" * 99, ".version 8.8\n.entry k() { bra L; }", "a" * 10**6]
)
def test_garbage_is_refused_or_has_no_findings(text: str) -> None:
    try:
        assert check_ptx(text).findings == ()
    except DescriptorError as error:
        assert str(error).startswith("ptx: ")


@pytest.mark.parametrize("case", range(6))
def test_a_kernel_with_lines_torn_out_is_checked_or_refused_and_never_breaks(case: int) -> None:
    draw = random.Random(seed_of_this_run() + case)
    lines = kernels()["product_bf16_64x64x64_nt_sm100"].split("\n")
    for _ in range(3):
        torn = list(lines)
        for _ in range(draw.randrange(1, 8)):
            place = draw.randrange(len(torn))
            torn[place] = draw.choice(
                ["", torn[place][: draw.randrange(1 + len(torn[place]))], torn[place] * 2, "}", ";"]
            )
        with suppress(DescriptorError):
            check_ptx("\n".join(torn))
