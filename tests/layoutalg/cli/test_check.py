"""`eval --check` says whether the CuTe DSL makes the same of an expression, and with which status it ends."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from places import ROOT
from refusals import refusal

from layoutalg import LayoutError, evaluate, oracle
from layoutalg.cli import check
from layoutalg.cli.check import agreement
from layoutalg.cli.command import main
from layoutalg.installation import pip_install
from layoutalg.oracle.expressions import Answer

needs_oracle = pytest.mark.skipif(not oracle.available(), reason="the CuTe DSL is not installed")

NESTED = "coalesce(zipped_divide(((8,16),(64,2)):((64,512),(1,8192)), (64,16)))"
SLICE = "local_partition(S<3,1,3> o 15 o 6:-3, (1):(1), 0)"
CARRY = "composition((4,6,8):(2,3,5), 6:3)"
TIES = "make_ordered_layout((2,3,4), (0,0,0))"
SWIZZLED_SLICE = "slice_and_offset((_,10,_), S<3,3,4> o 0 o (8,16,16):(256,1,16))"


#: What the DSL is asked here, with what is said of its answer; one that crashes it is its own child's end.
SAME = [
    (NESTED, "the same"),
    ("composition((8,8):(8,1), 1:5)", "the same function, written 1:1"),
    (SLICE, "the same offsets, written (S<3,1,3> o 15 o (6):(-3),0)"),
    # The DSL takes the layout first, CuTe C++ the coordinate; both orders are accepted here.
    ("slice_((8,64):(64,1), (_,3))", "the same"),
    ("slice_((_,3), (8,64):(64,1))", "the same"),
    ("dice((4,8):(1,4), (_,1))", "the same"),
    ("dice((_,1), (4,8):(1,4))", "the same"),
    ("tile_to_shape((8,8):(8,1), (16,16))", "the same"),
]
DIVERGING = [
    (TIES, "(2,3,4):(1,1,1)", "make_ordered_layout: row 56"),
    (CARRY, "(2,3):(6,3)", "composition: rows 1 to 5"),
    (SWIZZLED_SLICE, "(S<3,3,4> o 8 o (8,16):(256,16),10)", "slice_and_offset: rows 69 and 70"),
]
NO_VALUE = [
    ("right_inverse(S<3,4,3> o 0 o (8,64):(64,1))", "rejected: TypeError: Expected input of type Layout"),
    ("composition((4,8):(8,1), S<1,0,1>)", "crashed: SIGSEGV"),
]
BOTH_REFUSE = "composition((5,3):(7,1), 7:1)"
SHOWN = {
    page: re.findall(
        r'^\$ layoutalg eval "([^"]*)" --check\n((?:(?!\$ |```).*\n)*)',
        (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    for page in ("learn", "cookbook")
}


def checked_line(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["eval", *arguments, "--check"])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A DSL that is installed, or looks so."""
    monkeypatch.setattr(oracle, "available", lambda: True)
    monkeypatch.setattr(oracle, "version", lambda: "4.8.1")


@pytest.fixture
def set_answer(there: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets the answer of a DSL that is there."""
    return lambda status, text: monkeypatch.setattr(check, "evaluate_expressions", lambda _: [Answer(status, text)])


@pytest.fixture(scope="module")
def answers() -> dict[str, Answer]:
    """What the DSL answers to all that is asked here, in one round: to start it takes longer than to ask it."""
    if not oracle.available():
        pytest.skip("the CuTe DSL is not installed")
    documented = [expression for lines in SHOWN.values() for expression, _ in lines]
    questions = [*(row[0] for row in [*SAME, *DIVERGING, *NO_VALUE]), BOTH_REFUSE, *documented]
    return dict(zip(questions, check.evaluate_expressions(questions), strict=True))


@pytest.fixture
def dsl(answers: dict[str, Answer], monkeypatch: pytest.MonkeyPatch) -> None:
    """The command, asking a DSL that has answered."""
    monkeypatch.setattr(check, "evaluate_expressions", lambda asked: [answers[expression] for expression in asked])


@needs_oracle
def test_the_command_asks_the_dsl_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert checked_line(capsys, NESTED)[1].splitlines()[1:] == [f"CuTe DSL {oracle.version()}: the same"]


@pytest.mark.usefixtures("dsl")
@pytest.mark.parametrize(("expression", "line"), SAME)
def test_where_the_dsl_agrees_the_status_is_0_and_how_is_said(
    expression: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = checked_line(capsys, expression)
    assert (status, err) == (0, "")
    assert out.splitlines()[1:] == [f"CuTe DSL {oracle.version()}: {line}"]


@pytest.mark.usefixtures("dsl")
@pytest.mark.parametrize(("expression", "theirs", "row"), DIVERGING)
def test_a_known_divergence_is_told_with_both_answers_and_its_rows(
    expression: str, theirs: str, row: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = checked_line(capsys, expression)
    assert (status, err) == (1, "")
    line = out.splitlines()[-1]
    assert line.startswith(f"CuTe DSL {oracle.version()}: different, it gives {theirs} where ")
    assert line.endswith(f"; docs/divergences.md has known differences of {row}")
    assert ("the algebra gives (2,3,4):(1,2,6)" in line) == (expression == TIES)
    assert ("refused: composition: the result is not a layout: the stride of a(3*i)" in line) == (expression == CARRY)


def test_a_value_that_the_dsl_alone_has_is_in_the_json_beside_the_refusal(
    set_answer: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    set_answer("ok", "(2,3):(6,3)")
    status, out, err = checked_line(capsys, CARRY, "--json")
    data = json.loads(out)
    assert (status, err, data["error"]["type"]) == (1, "", "NotDivisibleError")
    assert (data["check"]["agrees"], data["check"]["value"], data["check"]["how"]) == (False, "(2,3):(6,3)", None)


@pytest.mark.usefixtures("dsl")
@pytest.mark.parametrize("page", SHOWN)
def test_the_pages_show_what_the_command_prints(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Apart from the other outputs of the pages, for those are there without the DSL."""
    assert len(SHOWN[page]) == {"learn": 3, "cookbook": 1}[page]
    for expression, output in SHOWN[page]:
        assert checked_line(capsys, expression)[1] == output.replace("4.8.1", str(oracle.version()))


@pytest.mark.usefixtures("dsl")
def test_what_both_refuse_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = checked_line(capsys, BOTH_REFUSE)
    assert (status, out.count("\n")) == (2, 1) and refusal(err)
    assert out.startswith(f"CuTe DSL {oracle.version()}: also refuses it, rejected: MLIRError: ")
    assert err.startswith(
        "layoutalg eval: error: composition: the result is not a layout: the stride of a(1*i) changes at"
    )


@pytest.mark.usefixtures("dsl")
@pytest.mark.parametrize(("expression", "reason"), NO_VALUE)
def test_where_the_dsl_has_no_value_the_status_is_1(
    expression: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = checked_line(capsys, expression)
    assert (status, err) == (1, "")
    assert f": no value to compare with, {reason}" in out.splitlines()[1]


@pytest.mark.parametrize(
    ("expression", "answer", "status", "line"),
    [
        ("size(4:1)", ("ok", "4"), 0, "the same"),
        ("size(4:1)", ("ok", "5"), 1, "different, it gives 5 where the algebra gives 4"),
        ("(2,4):(1,2)", ("ok", "8:1"), 0, "the same function, written 8:1"),
        ("8:1", ("ok", "(0,2):(1,4)"), 1, "different, it gives (0,2):(1,4) where the algebra gives 8:1"),
        ("8:1", ("ok", "9:1"), 1, "different, it gives 9:1 where the algebra gives 8:1"),
        ("8:1", ("timeout", "no answer\nin 20 s"), 1, "no value to compare with, timeout: no answer in 20 s"),
        ("8:1", ("crashed", "SIGFPE"), 1, "no value to compare with, crashed: SIGFPE"),
        ("(4,8):(0,2)", ("rejected", "TypeError: no"), 1, "no value to compare with, rejected: TypeError: no"),
        ("upcast(8:3, 2)", ("crashed", "SIGFPE"), 2, "no value to compare with, crashed: SIGFPE"),
        ("upcast(8:3, 2)", ("rejected", "no"), 2, "also refuses it, rejected: no"),
        (
            "slice_(S<2,3,3> o 15 o 16:1, _)", ("ok", "S<2,3,3> o 15 o 16:1 + 1"), 0,
            "the same slice except for a constant offset, which a slice leaves out: (S<2,3,3> o 15 o 16:1,1)",
        ),
        (
            "slice_and_offset((_,), (8):(1))", ("ok", "(8):(1) + 1"), 1,
            "different, it gives ((8):(1),1) where the algebra gives ((8):(1),0); docs/divergences.md has known "
            "differences of slice_and_offset: rows 69 and 70",
        ),
        (
            "S<1,0,30> o 0 o 2000000:1", ("ok", "S<0,0,0> o 0 o 2000000:1"), 1,
            "another text, S<0,0,0> o 0 o 2000000:1, and not compared: show: the layout has 2000000 elements, "
            "more than 1048576; larger layouts are not compared",
        ),
        ("((1024,1024),8):((1024,1),1048576)", ("ok", "(1024,(1024,8)):(1024,(1,1048576))"), 0, "the same function"),
    ],
)  # fmt: skip
def test_the_line_and_the_status_are_those_of_the_answer(
    expression: str,
    answer: tuple[str, str],
    status: int,
    line: str,
    set_answer: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    set_answer(*answer)
    code, out, err = checked_line(capsys, expression)
    assert code == status and (refusal(err) if status == 2 else not err)
    assert out.splitlines()[-1].startswith(f"CuTe DSL 4.8.1: {line}")
    code, out, err = checked_line(capsys, expression, "--json")
    data = json.loads(out)
    assert (code, err, data["schema"], data["check"]["status"]) == (status, "", 1, answer[0])
    assert data["check"]["agrees"] == (status == 0 or "refuses" in line) == (data["check"]["how"] is not None)
    if status < 2:
        assert data["text"] == data["check"]["ours"]
    else:
        assert (data["error"]["type"], data["check"]["ours"]) == ("NotDivisibleError", None)


def test_symbols_are_beyond_the_dsl(there: None, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = checked_line(capsys, "(8*m,64):(64,1)")
    assert (status, err) == (1, "")
    assert out.splitlines()[1] == (
        "CuTe DSL 4.8.1: no value to compare with, not asked: it has no symbols for positive integers, as in 8*m"
    )


def test_where_the_dsl_is_missing_the_status_is_3_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(oracle, "available", lambda: False)
    line = f"--check: the CuTe DSL is not installed; {pip_install('oracle')} adds it"
    status, out, err = checked_line(capsys, "size(4:1)")
    assert (status, out, refusal(err)) == (3, "", line)
    status, out, err = checked_line(capsys, "size(4:1)", "--json")
    assert (status, err) == (3, "")
    error = json.loads(out)["error"]
    assert (error["type"], error["message"]) == ("NotThereError", line)


def test_an_oracle_that_breaks_is_one_line_and_status_3(
    set_answer: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: list[str]) -> list[Answer]:
        raise oracle.OracleError("the worker\nwas lost")

    set_answer("ok", "4")
    monkeypatch.setattr(check, "evaluate_expressions", broken)
    assert checked_line(capsys, "size(4:1)") == (3, "", "layoutalg eval: error: --check: the worker was lost\n")


@pytest.mark.parametrize("expression", ["coalesce((4,8)", "size()", "size(4:1)(3)", "f2(4:1)"])
def test_what_is_no_expression_is_bad_input_and_nobody_is_asked(
    expression: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "evaluate_expressions", lambda _: pytest.fail("asked"))
    status, out, err = checked_line(capsys, expression)
    assert (status, out) == (2, "") and refusal(err)


def test_tuples_agree_part_by_part_and_too_large_layouts_are_not_compared() -> None:
    ours, theirs = evaluate("((2,4):(1,2), 8:1)"), evaluate("(8:1, (2,4):(1,2))")
    assert agreement(ours, theirs) == "function"
    assert agreement(ours, evaluate("(8:1, 8:2)")) is None
    assert agreement(evaluate("(8:1, 3)"), evaluate("(S<0,0,0> o 1 o 8:1, 2)")) == "sum"
    assert agreement(evaluate("(8:1, 3)"), evaluate("(4:1, 3)")) is None
    assert agreement(evaluate("4:1"), 4) is None
    # A tuple is neither the layout of its parts as modes, nor a number.
    assert agreement(evaluate("(2:1, 4:2)"), evaluate("(2,4):(1,2)")) is None
    assert agreement(evaluate("(2,4):(1,2)"), evaluate("(2:1, 4:2)")) is None
    assert agreement(evaluate("(1, 2)"), 2) is None
    assert agreement(2, evaluate("(1, 2)")) is None
    with pytest.raises(LayoutError, match="larger layouts are not compared"):
        agreement(evaluate("S<1,0,30> o 0 o 2000000:1"), evaluate("S<0,0,0> o 0 o 2000000:1"))
