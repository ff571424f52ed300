"""The article "Blackwell MMA SMEM Descriptor", sections 3 and 4: every number, and the two scripts that print them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from places import ROOT

from descriptors import oracle
from descriptors.course.article import SW64_MNMAJOR, SW128_KMAJOR
from descriptors.course.claims import Claim, Example, oracle_claims
from descriptors.course.script import main

EXAMPLES = {"sw128_kmajor": SW128_KMAJOR, "sw64_mnmajor": SW64_MNMAJOR}
CLAIMS = [
    pytest.param(claim, id=f"{claim.section}-{claim.statement}")
    for example in EXAMPLES.values()
    for claim in example.claims(example.derive())
]


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_algebra_gives_the_articles_number(claim: Claim) -> None:
    assert claim.holds, claim


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_the_first_subtiles_word_is_the_known_one(example: Example) -> None:
    assert example.derive().descriptor.encode() == example.word


def test_the_table_of_section_3_4() -> None:
    assert SW128_KMAJOR.derive().offsets_bytes() == (
        (0, 32, 64, 96, 16384, 16416, 16448, 16480),
        (8192, 8224, 8256, 8288, 24576, 24608, 24640, 24672),
    )


def test_the_table_of_section_4_4() -> None:
    assert SW64_MNMAJOR.derive().offsets_bytes() == (
        (0, 1024, 2048, 3072, 4096, 5120, 6144, 7168),
        (16384, 17408, 18432, 19456, 20480, 21504, 22528, 23552),
    )


def test_the_figure_of_section_3_3_rows_of_a_chunk_zigzag_within_the_swizzled_row() -> None:
    recast = SW128_KMAJOR.derive().recast
    for row in range(64):
        for piece in range(2):
            assert recast((row, piece), 0) == row * 8 + (piece ^ row % 8)


def test_the_figure_of_section_4_3_atoms_lie_at_multiples_of_lbo_and_sbo() -> None:
    d = SW64_MNMAJOR.derive()
    for m in range(2):
        for k in range(2):
            start = m * d.descriptor.leading_byte_offset + k * d.descriptor.stride_byte_offset
            assert d.recast((4 * m, 8 * k), 0) * 16 == start


def test_a_claim_that_fails_is_told_with_both_values() -> None:
    assert str(Claim("3.3", "SBO in bytes", 1024, 512)) == "WRONG 3.3    SBO in bytes: 1024, DERIVED 512"


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_script_prints_its_example_and_every_number_holds(name: str) -> None:
    command = [sys.executable, f"scripts/{name}.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "WRONG" not in done.stdout
    assert hex(EXAMPLES[name].word)[2:] in done.stdout


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
@pytest.mark.skipif(not oracle.available(), reason="the CuTe DSL is not installed")
def test_the_cute_dsl_derives_the_same_layouts_and_compiles_the_same_word(example: Example) -> None:
    claims = list(oracle_claims(example))
    assert len(claims) == 6
    assert all(claim.holds for claim in claims), claims


def test_check_without_the_dsl_is_one_line_and_status_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(oracle, "available", lambda: False)
    assert main(SW128_KMAJOR, ["--check"]) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1


def test_any_other_argument_is_one_line_and_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(SW128_KMAJOR, ["--chekc"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
