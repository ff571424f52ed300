"""``--smt2`` and ``--symbolic``: the same text as in Python, one answer at a time, the way out without a solver."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from descriptors import claim, derive, derive_symbolic, diff
from descriptors.cli.command import main
from descriptors.smem.claims import solver as room
from descriptors.smem.claims.certificate import certificate

TILE = ["--dtype", "bf16", "--major", "K", "--swizzle", "128B", "--mma", "64x16"]
LAYOUT = "S<3,3,3> o 0 o (64,16):(64,1)"
DIFF = ["--arch", "sm90", "--dtype", "bf16", "--major", "K"]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(list(arguments))
    return status, capsys.readouterr().out


def test_the_commands_write_what_python_writes(capsys: pytest.CaptureFixture[str]) -> None:
    d = derive((128, 64), "bf16", "K", "128B", (64, 16))
    assert printed(capsys, "derive", *TILE, "--tile", "128x64", "--smt2") == (0, claim(d).smt2())
    off = claim(d, base=0x80).smt2()
    assert printed(capsys, "derive", *TILE, "--tile", "128x64", "--base", "0x80", "--smt2") == (0, off)
    family = claim(derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16))).smt2()
    assert printed(capsys, "derive", *TILE, "--tile", "64*m x 64*k", "--symbolic", "--smt2") == (0, family)
    word = claim(diff(0x4000002000010000, LAYOUT, "sm90", dtype="bf16", major="K")).smt2()
    assert printed(capsys, "diff", "0x4000002000010000", LAYOUT, *DIFF, "--smt2") == (0, word)


def test_of_several_each_is_a_claim_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = printed(capsys, "formulas", "--swizzle", "64B", "--bits", "16", "--smt2")
    assert (status, text.count("Expected: unsat sat unsat unsat unsat sat"), text.count("(reset)")) == (0, 4, 23)
    plan = ["plan", "m64n128k16", "bf16", "--arch", "sm90", "--tile", "128x128x64", "--smt2"]
    assert printed(capsys, *plan)[1].count("All words of a tile read their subtiles") == 2
    assert printed(capsys, *plan, "--a", "registers")[1].count("All words of a tile read their subtiles") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["derive", *TILE, "--tile", "128x64", "--smt2", "--json"],
        ["derive", *TILE, "--tile", "128x64", "--smt2", "--words"],
        ["formulas", "--smt2", "--prove"],
        ["formulas", "--smt2", "--format", "json"],
        ["diff", "0x4000002000010000", LAYOUT, *DIFF, "--smt2", "--symbolic"],
        ["diff", "0x4000002000010000", LAYOUT, *DIFF, "--smt2", "--json"],
        ["plan", "bf16", "--tile", "128x128x64", "--smt2"],
        ["plan", "m64n128k16", "bf16", "--tile", "128x128x64", "--smt2", "--json"],
    ],
)
def test_the_text_is_an_answer_of_its_own(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert "--smt2" in said.err + said.out  # JSON where that was asked for


def test_a_solver_shows_an_element_of_a_wrong_word(
    solver: str, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(room, "installed", lambda: (solver,))
    status, text = printed(capsys, "diff", "0x4000002000010000", LAYOUT, *DIFF, "--symbolic")
    assert status == 1 and f"\n{solver}: sat, element (" in text
    status, text = printed(capsys, "diff", "0x4000004000010000", LAYOUT, *DIFF, "--symbolic")
    assert status == 0 and f"\n{solver}: unsat, every element is read from its address, also if" in text
    status, text = printed(capsys, "diff", "0x4000002000010000", LAYOUT, *DIFF, "--symbolic", "--json")
    answer = json.loads(text)["symbolic"]
    assert (status, answer["outcome"]) == (1, "sat") and answer["element"]["expected"] != answer["element"]["found"]


def test_without_a_solver_the_way_out_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(room, "installed", tuple)
    assert main(["diff", "0x4000004000010000", LAYOUT, *DIFF, "--symbolic"]) == 2
    assert "`pip install z3-solver` or `pip install cvc5`" in capsys.readouterr().err


@pytest.mark.parametrize(("tile", "family"), [("64x64", False), ("64*m x 64", True)])
def test_a_claim_speaks_of_a_family_only_if_the_tile_has_symbols(
    tile: str, family: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--dtype", "bf16", "--major", "K", "--swizzle", "128B", "--tile", tile, "--mma", "64x16"]
    assert main(["derive", *options, "--symbolic", "--smt2"]) == 0
    text = capsys.readouterr().out
    assert [word in text for word in ("positive integers", "every such tile", "the model is a size")] == [family] * 3


def test_a_certificate_is_written_beside_the_answer_and_never_over_a_foreign_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, line = tmp_path / "a.v", ["derive", *TILE, "--tile", "128x64"]
    status, text = printed(capsys, *line, "--base", "0x400", "--certificate", str(path))
    assert status == 0 and f"note: wrote {path}" in text.splitlines()
    d = derive((128, 64), "bf16", "K", "128B", (64, 16))
    assert path.read_text() == certificate(d, 0x400, str(path))
    assert printed(capsys, *line, "--certificate", str(path))[0] == 0  # a certificate may be replaced
    assert path.read_text() == certificate(d, 0, str(path))
    path.write_text("Theorem of_the_user : True.\n")
    assert main([*line, "--certificate", str(path)]) == 2
    assert f"{path} exists and was not written by this program" in capsys.readouterr().err
    assert path.read_text() == "Theorem of_the_user : True.\n"
    assert main([*line, "--certificate", str(tmp_path / "no" / "a.v")]) == 2
    assert "--certificate cannot write" in capsys.readouterr().err
    assert main([*line, "--certificate", "-"]) == 2
    assert "the name - does not end in .v" in capsys.readouterr().err


def test_closed_forms_have_no_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["derive", *TILE, "--tile", "64*m x 64*k", "--symbolic", "--certificate", str(tmp_path / "a.v")]
    assert main(line) == 2
    assert "--certificate cannot be combined with --symbolic" in capsys.readouterr().err
