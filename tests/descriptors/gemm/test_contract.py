"""`descriptors check FILE.toml`: what holds, what does not, with line and key; every way to write the file wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from refusals import refuses

from descriptors import DescriptorError, derive, plan
from descriptors.cli.command import main
from descriptors.gemm.contract import check_contract, missing

A = """\
# the operands of a main loop
[operand.a]
dtype = "bf16"
major = "K"
swizzle = "128B"
tile = "128x64"
mma = "m64n128k16"
arch = "sm90"
operand = "A"

[operand.a.expect]
word = "0x4000004000010000"
"words.1.3" = 0x4000004000010206
layout = "S<3,3,3> o 0 o (128,64):(64,1)"
offsets = [[0, 32, 64, 96], [8192, 8224, 8256, 8288]]
transposed = false
stride_byte_offset = 1024
"""
PLAN = """\
[plan.gemm]
instruction = "m64n128k16"
dtype = "bf16"
tile = [128, 128, 64]
stages = 4
b_major = "MN"
"""


def test_what_holds_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.toml").write_text(A + PLAN + '[plan.gemm.expect.operands.B]\nword = "0x4000004002001000"\n')
    assert main(["check", str(tmp_path / "a.toml")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'a.toml'}: 7 values hold, of 2 sections\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "0x4000004000010000",
            "0x4000004000010001",
            "a.toml:12: operand.a: word is 0x4000004000010001; the derived value is 0x4000004000010000",
        ),
        ("0x4000004000010206", "7", "a.toml:13: operand.a: words.1.3 is 7; the derived value is 0x4000004000010206"),
        (
            "(128,64):(64,1)",
            "(128,64):(1,128)",
            "a.toml:14: operand.a: layout is S<3,3,3> o 0 o (128,64):(1,128); the derived value is "
            "S<3,3,3> o 0 o ((8,16),(64,1))",
        ),
        ("8256", "8257", "a.toml:15: operand.a: offsets[1][2] is 8257; the derived value is 8256"),
        (
            "96]",
            "96, 1]",
            "a.toml:15: operand.a: offsets[0] is [0, 32, 64, 96, 1]; the derived value is [0, 32, 64, 96]",
        ),
        ("false", "true", "a.toml:16: operand.a: transposed is True; the derived value is False"),
        ("= 1024", "= 512", "a.toml:17: operand.a: stride_byte_offset is 512; the derived value is 1024"),
        (
            '"128B"',
            '"64B"',
            "a.toml:12: operand.a: word is 0x4000004000010000; the derived value is 0x8000002000010000",
        ),
    ],
)
def test_a_wrong_value_is_told_with_its_line_and_the_right_one(
    old: str, new: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.toml").write_text(A.replace(old, new, 1))
    assert main(["check", str(tmp_path / "a.toml")]) == 1
    captured = capsys.readouterr()
    assert said in captured.out and captured.err == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = ", "check: the file is not TOML; Invalid value"),
        ("[operands.a]\ndtype = 1", "check: line 1: 'operands' is not a section [operand.NAME] or [plan.NAME]"),
        (
            A.replace("swizzle", "swizle"),
            "check: line 5: operand.a.swizle is not an argument of derive (did you mean sw",
        ),
        (
            A.replace("word =", "wrod ="),
            "check: line 12: operand.a.expect.wrod is not in the section's JSON, which has no wrod (did",
        ),
        (
            A.replace("words.1.3", "words.1.9"),
            "check: line 13: operand.a.expect.words.1.9 is not in the section's JSON, which has no 9",
        ),
        (A.replace("128x64", "100x64"), "check: line 2: [operand.a]: derive: "),
        (A.replace('dtype = "bf16"', ""), "check: line 2: [operand.a]: "),
        (
            A.replace('"bf16"', "1.5"),
            "check: line 3: operand.a.dtype is 1.5, not text, a number, true, false or a list",
        ),
        (PLAN, "check: the file has no table expect; --init writes one"),
        (
            PLAN.replace("= 4", "= 9") + "expect.tile = 1",
            "check: line 1: [plan.gemm]: plan: 9 stages need 295056 bytes",
        ),
        ("[operand]\na = 1", "check: [operand.a] is 1, not a table"),
        ("[operand.a]\nexpect = 1", "check: operand.a.expect is 1, not a table"),
        ("", "check: the file has no section [operand.NAME] or [plan.NAME]"),
    ],
)
def test_a_file_that_is_wrong_itself_is_one_line_and_status_2(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.toml").write_text(text)
    assert main(["check", str(tmp_path / "a.toml")]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and refuses(captured.err, said)


def test_init_writes_what_then_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = A.partition("\n[operand.a.expect]")[0] + "\n" + PLAN
    (tmp_path / "a.toml").write_text(bare)
    assert main(["check", str(tmp_path / "a.toml"), "--init"]) == 0
    written = capsys.readouterr().out
    assert check_contract(bare + written).ok and missing(bare + written) == ""
    loop_plan = plan("m64n128k16", "bf16", tile=(128, 128, 64), stages=4, b_major="MN")
    d = derive((128, 64), "bf16", "K", "128B", "m64n128k16", arch="sm90", operand="A")
    assert f'word = "{d.word(0, 0):#018x}"' in written and f'"operands.B.word" = "{loop_plan.b.word:#018x}"' in written


def test_json_has_every_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.toml").write_text(A.replace("= 1024", "= 512"))
    assert main(["check", str(tmp_path / "a.toml"), "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert (printed["ok"], printed["sections"], len(printed["values"])) == (False, 1, 6)
    wrong = {"section": "operand.a", "key": "stride_byte_offset", "line": 17, "ok": False, "file": 512, "derived": 1024}
    assert [one for one in printed["values"] if not one["ok"]] == [wrong]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("a.toml --strict", "--strict needs a kernel, not a .toml file"),
        ("a.toml no.toml --init", "--init writes TOML for one file"),
        ("a.toml --init --sarif", "--init writes TOML for one file"),
        ("a.toml --errors", "--errors needs a kernel, not a .toml file"),
        ("a.ptx --init", "--init needs a .toml file"),
        ("no.toml", "does not exist"),
    ],
)
def test_each_face_of_check_has_its_own_options(
    options: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text(A)
    assert main(["check", *options.split()]) == 2
    assert said in capsys.readouterr().err


def test_a_line_is_found_whatever_the_way_a_key_is_written() -> None:
    text = '[operand."a"]\ndtype="bf16"\nmajor="K"\nswizzle="128B"\ntile="64x64"\nmma="64x16"\nexpect . "word" = 1\n'
    (one,) = check_contract(text).values
    assert (one.section, one.line) == ("operand.a", 7)
    with pytest.raises(DescriptorError, match=r"check: line 3: operand.a.majr is not an argument of derive"):
        check_contract(text.replace("major", "majr"))


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A file that is right, one with a wrong value, one that is no TOML."""
    monkeypatch.chdir(tmp_path)
    texts = {"right.toml": A, "wrong.toml": A.replace("= 1024", "= 512"), "none.toml": "[operand"}
    for name, text in texts.items():
        Path(name).write_text(text)
    return list(texts)


def test_many_files_are_held_each(three: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert [main(["check", *three[:count]]) for count in (1, 2, 3)] == [0, 1, 2]
    lines = [line for line in capsys.readouterr().out.splitlines() if ".toml" in line][-4:]
    assert [line.partition(": ")[0] for line in lines] == ["right.toml", "wrong.toml:17", "wrong.toml", "none.toml"]
    assert lines[-1].startswith("none.toml: error: ")
    assert main(["check", *three, "--json"]) == 2
    files = json.loads(capsys.readouterr().out)["files"]
    assert [(one["file"], one.get("ok")) for one in files] == [(three[0], True), (three[1], False), (three[2], None)]


def test_a_value_that_is_wrong_is_an_annotation_of_its_line(
    three: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", three[0], "--sarif"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"] == []
    assert main(["check", *three, "--sarif"]) == 2
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (result,) = run["results"]
    (place,) = (one["physicalLocation"] for one in result["locations"])
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("wrong.toml", 17)
    assert "is 512; the derived value is 1024" in result["message"]["text"]
    assert result["ruleId"] in [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "none.toml"
