"""The checker on whole kernels: silent on what compilers made, and on mutants of it it says what is wrong."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache

import pytest
from kernel_kinds import KINDS, TRIED_KINDS
from kernels import RECORDED, kernels, mutants, outcome, tried
from places import ROOT, VECTORS
from seeds import seed_of_this_run

from descriptors.check.inspection import check_ptx
from descriptors.check.kernel_report import Report
from descriptors.check.ptx.ptx_module import parse
from descriptors.check.rules import ALL_RULES, PROPERTIES
from descriptors.errors import DescriptorError

#: Mutants of these are tried by the test; ``scripts/try_mutant_kernels.py`` tries those of all.
TRIED = (
    "ring_sm90_K_2", "ring_sm90_MN_3", "ring_sm90_registers_3", "ring_sm100_2", "ring_stored_sm90",
    "dsl_f16_Float16_64x64_K_cta1_sm100", "product_bf16_64x64x64_nt_sm90", "emitted_inner_sm100",
)  # fmt: skip
#: The kinds of which the record calls mutants clean, as docs/checking-evidence.md says.
CLEAN: set[str] = set()


@cache
def report(name: str) -> Report:
    return check_ptx(kernels()[name])


def test_there_are_at_least_thirty_kernels_of_both_families() -> None:
    assert len(kernels()) >= 30
    assert {parse(text).target for text in kernels().values()} == {"sm_90a", "sm_100a"}


def cases() -> Iterator[object]:
    """Yield the kernels of compilers; those of which a smaller one of the same style is checked are exhaustive."""
    for name in sorted(kernels()):
        small = name in RECORDED or name.startswith("nvcc")
        yield pytest.param(name, id=name, marks=() if small else pytest.mark.exhaustive)


def assert_right(name: str, found: Report) -> None:
    assert found.multiplications >= 2
    assert [(one.line, one.rule.name, one.found) for one in found.errors] == []
    assert found.resolved + len(found.unresolved) == found.words
    if not name.startswith("nvcc"):  # whose words are made at run time
        assert found.unresolved == ()


@pytest.mark.parametrize("name", list(cases()))
def test_a_kernel_of_a_compiler_has_no_error_and_every_word_is_resolved_or_told(name: str) -> None:
    assert_right(name, report(name))


@pytest.mark.exhaustive
def test_one_product_of_cute_has_no_error_and_every_word_is_resolved() -> None:
    """The fastest of the three of its file, which take most of a minute together."""
    head, _, product, _ = re.split(r"(?m)^(?=\.visible \.entry)", kernels()["cute_products_sm90"])
    assert_right("cute", check_ptx(head + product))


@cache
def right(name: str) -> Report:
    return check_ptx(tried()[name])


@cache
def recorded() -> list[tuple[str, str, set[str]]]:
    """Kernel and kind of the mutants of the record, and what was said of them."""
    held = json.loads((VECTORS / "mutant_kernels.json").read_text(encoding="utf-8"))["kernels"]
    return [(name, kind, set(said)) for name, kinds in held.items() for kind, said in kinds.items()]


@pytest.mark.parametrize("drawn", [12, pytest.param(48, marks=pytest.mark.exhaustive)])
def test_no_mutant_is_called_clean(drawn: int) -> None:
    """But for those of the record, and those that the record has as none, since an assembler says so."""
    left = {(name, kind) for name, kind, said in recorded() if said & {"none", "clean"}}
    draw = random.Random(seed_of_this_run())
    asked = [(name, group, kind) for name in TRIED for group, kinds in KINDS.items() for kind in kinds]
    said: Counter[str] = Counter()
    clean: list[tuple[str, str]] = []
    for name, group, kind in draw.sample(asked, len(asked)):
        if said.total() < drawn and (name, kind.name) not in left:
            for mutant in mutants(name, tried()[name], group, kind, 1):
                told = outcome(mutant, right(name))
                said[told] += 1
                clean += [(name, kind.name)] if told == "clean" else []
    assert clean == []
    assert said["its rule"] > 0.7 * drawn, said


def test_rules_of_mutants_are_rules_and_kinds_have_names_of_their_own() -> None:
    kinds = [kind for of_property in KINDS.values() for kind in of_property]
    assert {rule for kind in kinds for rule in kind.rules} <= ALL_RULES.keys()
    assert len({kind.name for kind in kinds}) == len(kinds) > 250
    assert {*KINDS, "fragments"} == set(PROPERTIES)  # whose kernels stand in execution/test_warp_mma.py


def test_the_record_of_mutants_is_of_the_kinds_that_there_are() -> None:
    claimed = {kind.name for kinds in KINDS.values() for kind in kinds}
    assert {kind for _, kind, _ in recorded()} <= {kind.name for kinds in TRIED_KINDS.values() for kind in kinds}
    assert {kind for _, kind, said in recorded() if "clean" in said and kind in claimed} == CLEAN
    assert sum("its rule" in said for _, _, said in recorded()) > 1200


def test_the_page_shows_the_record_of_mutants() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "try_mutant_kernels.py"), "--docs", "--check"]
    assert "is up to date" in subprocess.run(command, capture_output=True, text=True, check=False).stdout


def test_findings_grow_with_the_text() -> None:
    name = "product_f16_128x32x128_nn_sm90"
    head, body = kernels()[name].split(".visible .entry", 1)
    many = head + "".join(f".visible .entry{body.replace('product', f'product{i}')}" for i in range(4))
    found = check_ptx(many)
    assert found.multiplications == 4 * report(name).multiplications and not found.errors


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
