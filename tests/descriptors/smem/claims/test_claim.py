"""Claims as texts: they stand alone, share nothing with what they judge, and refuse what they cannot state."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from derived import K_128
from rooms import imports, ours

from descriptors import DescriptorError, claim, derive, derive_symbolic, diff
from descriptors.smem.claims import solver as room
from descriptors.smem.claims.claim import claims_text
from descriptors.smem.claims.question import every
from descriptors.smem.claims.solver import Answer, ask, element_of, record_answer, tell_answer

#: What writes a statement: definitions alone.
STATEMENTS = "terms layout_terms walk_terms question tile_claim family_claim".split()


@pytest.mark.parametrize("module", STATEMENTS)
def test_a_statement_shares_no_code_with_what_it_judges(module: str) -> None:
    taken = {name for name, _ in imports(f"descriptors.smem.claims.{module}") if ours(name)}
    assert taken <= {"descriptors.errors", *(f"descriptors.smem.claims.{one}" for one in STATEMENTS)}


def test_the_text_says_what_is_claimed_and_what_the_answers_mean() -> None:
    text = claim(derive(**K_128)).smt2()
    head = text.split("(set-option")[0]
    for words in ("128 x 128 bf16, K-major, swizzle 128B", "S<3,3,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))",
                  "unsat:", "sat:", "every address that is a multiple of 1024", "Expected: unsat sat"):  # fmt: skip
        assert words in head
    assert "(define-fun mode-0 ((x N)) N (bvadd (bvmul (bvurem x (_ bv8 32)) (_ bv64 32))" in text
    assert max(map(len, (line for line in text.splitlines() if line.startswith(";")))) <= 120


def test_the_text_is_read_by_the_programs_of_the_solvers(tmp_path: Path) -> None:
    """The file as it is written, with all its questions, through the program and the parser of the package."""
    text = claims_text(
        [claim(derive(**K_128)), claim(derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16)))]
    )
    expected = "unsat sat unsat sat unsat unsat unsat sat"
    file = tmp_path / "claim.smt2"
    file.write_text(text)
    z3 = pytest.importorskip("z3")
    program = shutil.which("z3") or Path(z3.__file__).parents[1] / "bin" / "z3"
    if Path(program).exists():
        done = subprocess.run([program, file], capture_output=True, text=True, check=True)
        assert " ".join(done.stdout.split()) == expected
    pytest.importorskip("cvc5")
    assert " ".join(room._cvc5(text, 60).split()) == expected


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (17, "17 is not a derivation, closed forms or a diff"),
        (
            diff(0x4010404000000000, derive((128, 768), "e2m1", "K", "128B", (128, 96), legality="off").smem_tile,
                 dtype="e2m1", major="K", shape=(128, 96)),
            "the operand crosses atoms, so it has no layout",
        ),
        (derive((64, 1 << 25), "bf16", "K", "none", (64, 16), capacity=None, verify=False), "which are not all below"),
    ],
)  # fmt: skip
def test_what_makes_no_claim_is_refused(answer: Any, complaint: str) -> None:
    with pytest.raises(DescriptorError, match=complaint):
        claim(answer)


@pytest.mark.parametrize(
    ("tile", "first_line"),
    [
        (("64*m", "64*k"), "The words of every tile 64*m x 64*k read their subtiles, for all positive integers k, m"),
        ((64, 64), "The words of the tile 64 x 64 read their subtiles"),
    ],
)
def test_the_heading_claims_every_size_only_for_a_tile_with_symbols(tile: Any, first_line: str) -> None:
    found = claims_text([claim(derive_symbolic(tile, "bf16", "K", "128B", (64, 16)))])
    assert found.splitlines()[0] == f"; {first_line}"


def test_a_base_that_no_tile_can_have_is_refused() -> None:
    with pytest.raises(DescriptorError, match="multiple of 128"):
        claim(derive(**K_128), base=64)
    with pytest.raises(DescriptorError, match=r"the base address is .*, which is not an integer"):
        claim(derive(**K_128), base="0x400")  # type: ignore[arg-type]


def test_without_a_solver_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "find_spec", lambda _: None)
    (question,) = claim(derive(**K_128)).questions
    with pytest.raises(DescriptorError, match=r"neither z3 nor cvc5 is installed; use `pip install z3-solver`.*--smt2"):
        ask(question)


def test_an_answer_names_the_element_its_subtile_and_the_address() -> None:
    values = {"base": 1024, "i": 0, "j": 2, "s0": 1, "r": 8, "c": 3, "stored": 64, "(read word r c)": 48, "word": 5}
    assert str(element_of(Answer("z3", "sat", values), "bf16")) == (
        "element (8,3) of subtile (0,2,1) of a tile at 0x400 is stored at byte 0x40, read at byte 0x30"
    )
    assert element_of(Answer("z3", "sat", values), "e2m1").expected == 256  # bits: half bytes are counted
    assert tell_answer(Answer("cvc5", "unknown", {}), "bf16").startswith("cvc5: unknown, not decided")
    assert record_answer(Answer("z3", "sat", values), "bf16")["element"]["coordinate"] == (8, 3)


def test_a_question_of_premises_follows_where_nothing_might_meet_them() -> None:
    family = claim(derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16)))
    assert [(one.name, one.expected) for one in every(family.questions)] == [
        ("walk", "unsat"), ("premises of walk", "sat"), ("lemmas", "unsat"), ("swizzle", "unsat"),
        ("window", "unsat"), ("premises of window", "sat"),
    ]  # fmt: skip


def test_a_solver_finds_a_word_for_a_layout_or_says_that_there_is_none(solver: str) -> None:
    tile = "S<3,3,3> o 0 o (64,16):(64,1)"
    readable = diff(1 << 62 | 32 << 32, tile, "sm90", dtype="bf16", major="K", base=1024)
    word = room.word_that_reads(readable, solver)
    assert word is not None and diff(word, tile, "sm90", dtype="bf16", major="K", base=1024).ok
    padded = diff(1 << 62, "(64,16):(72,1)", "sm90", dtype="bf16", major="K")
    assert padded.right_word is None and room.word_that_reads(padded, solver) is None
