"""The commands check and explain: as a compiler writes, as JSON, as SARIF; what is no PTX is refused in a line."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernels import kernels
from refusals import refusal

from descriptors.check import rules
from descriptors.check.rules import ALL_RULES
from descriptors.cli.command import main

GOOD = "product_f16_128x128x64_nt_sm90"
HEAD = ".version 8.7\n.target sm_90a\n.entry k() {\n"
BAD = HEAD + "wgmma.wait_group.sync.aligned -1;\nret;\n}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kernel.ptx"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(list(arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_a_good_kernel_ends_with_0(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(kernels()[GOOD])
    status, out, _ = run(capsys, "check", str(file))
    assert status == 0
    head, _, *rows = out[out.rindex(f"{file}: ") :].splitlines()
    assert head == f"{file}: sm_90a, 8 MMA instructions: 2 properties incomplete"
    results = {line[2:17].strip(): line[17:29].strip() for line in rows[:8]}
    clean = dict.fromkeys(("forms", "words", "order", "barriers", "reuse"), "clean")
    assert results == clean | {"tensor memory": "not used", "bytes": "incomplete", "proxies": "incomplete"}
    assert " ".join(" ".join(rows[8:]).split()) == (
        "product was executed with 128 threads, one CTA; scalar parameters, one execution for each value: "
        "product_param_5 = 256, 1024, 448, 64, 1, 128, "
        "192, 320, 384, 512, 576, 640, 704, 768, 832, 896, 960; valid for every multiple of 64 of "
        "product_param_5 (behavior repeats every 6 iterations)"
    )


def test_an_error_ends_with_1_and_is_told_as_a_compiler_does(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(BAD)
    status, out, _ = run(capsys, "check", str(file))
    assert status == 1
    assert out.splitlines()[0] == f"{file}:4: error[form-immediate]: operand 1 is -1, which is less than 0"
    rule = ALL_RULES["form-immediate"]
    assert out.splitlines()[2:4] == [f"    note: {rule.demands} ({rule.source})", "    help: correct the immediate"]


def test_json_and_sarif_have_the_same_findings(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(BAD)
    status, out, _ = run(capsys, "check", str(file), "--json")
    (finding,) = json.loads(out)["findings"]
    assert (status, finding["line"], finding["rule"], finding["level"]) == (1, 4, "form-immediate", "error")
    status, out, _ = run(capsys, "check", str(file), "--sarif")
    run_ = json.loads(out)["runs"][0]
    assert run_["results"][0]["ruleId"] == run_["tool"]["driver"]["rules"][0]["id"] == "form-immediate"
    assert run_["results"][0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 4}


def test_remarks_can_be_left_out(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(kernels()["attention_64x64x64_sm100"])
    status, out, _ = run(capsys, "check", str(file), "--errors")
    assert status == 0 and "asks[" not in out and "error[" not in out
    assert len(run(capsys, "check", str(file))[1].splitlines()) > 3


def test_levels_and_rules_are_asked_for(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(BAD)
    status, out, _ = run(capsys, "check", str(file), "--level", "asks")
    assert status == 0 and out.splitlines()[0].endswith(": clean, 1 left out")
    assert run(capsys, "check", str(file), "--level", "asks", "--level", "error")[0] == 1
    assert run(capsys, "check", str(file), "--rule", "form-immediate")[0] == 1
    assert run(capsys, "check", str(file), "--ignore", "form-immediate")[0] == 0
    status, out, err = run(capsys, "check", str(file), "--rule", "form-imediate")
    assert (status, out) == (2, "") and "(did you mean form-immediate?)" in refusal(err)


def test_all_rules_are_listed_without_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "check", "--rules")
    assert status == 0 and {line.split()[0] for line in out.splitlines()} == ALL_RULES.keys()


@pytest.mark.parametrize("text", [("--rules",), ("--explain", "wgmma-wait")])
@pytest.mark.parametrize("output", ["--json", "--sarif"])
def test_a_list_of_rules_is_text_and_no_other_format(
    capsys: pytest.CaptureFixture[str], text: tuple[str, ...], output: str
) -> None:
    for arguments in ((*text, output), (output, *text)):
        status, out, err = run(capsys, "check", *arguments)
        assert status == 2 and f"{text[0]} and {output} cannot be combined" in out + err


def test_every_rule_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for name, rule in ALL_RULES.items():
        status, out, _ = run(capsys, "check", "--explain", name)
        assert status == 0 and out.startswith(f"{name}: {rule.demands}\n")
        assert all(words in out for words in (rule.fix, rule.source, rule.evidence))
    status, out, err = run(capsys, "check", "--explain", "wgmma-wiat")
    assert (status, out) == (2, "") and "(did you mean wgmma-wait?)" in refusal(err)


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The distribution as it is once its metadata name the site."""
    place = tmp_path / "layoutalg-9.dist-info"
    place.mkdir()
    head = "Metadata-Version: 2.1\nName: layoutalg\nVersion: 9\n"
    (place / "METADATA").write_text(
        f"{head}Project-URL: Source, https://a.example\nProject-URL: Documentation, https://b.example/\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    rules.site.cache_clear()
    yield
    rules.site.cache_clear()


def test_a_site_that_is_not_published_is_not_linked(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(BAD)
    rule = json.loads(run(capsys, "check", str(file), "--sarif")[1])["runs"][0]["tool"]["driver"]["rules"][0]
    assert "helpUri" not in rule and "level    error: an assembler" in rule["help"]["text"]
    assert "http" not in run(capsys, "check", "--explain", "form-immediate")[1]


@pytest.mark.usefixtures("published")
def test_a_published_site_is_linked_from_sarif_and_the_terminal(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(BAD)
    page = "https://b.example/rules/form-immediate.html"
    rule = json.loads(run(capsys, "check", str(file), "--sarif")[1])["runs"][0]["tool"]["driver"]["rules"][0]
    assert rule["helpUri"] == page
    assert run(capsys, "check", "--explain", "form-immediate")[1].splitlines()[-1] == f"page     {page}"
    plain, lit = (run(capsys, "check", str(file), *more)[1] for more in ((), ("--color",)))
    assert "http" not in plain and f"\x1b]8;;{page}\x1b\\[form-immediate]\x1b]8;;\x1b\\" in lit


def test_findings_of_one_rule_are_told_three_times_and_counted(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    waits = "tcgen05.wait::ld.sync.aligned; " * 6  # in a branch that one thread takes
    body = f"elect.sync _|p, -1; @!p bra L; {waits} L: ret;"
    file.write_text(f".version 8.8\n.target sm_100a\n.entry k() .reqntid 32 {{ {body} }}\n".replace("; ", ";\n"))
    short, whole = (run(capsys, "check", str(file), *more)[1] for more in ((), ("--all",)))
    many = whole.count("[tcgen05-aligned]")
    assert many > 4 and short.count("[tcgen05-aligned]") == 1
    assert f"; {many} times, lines " in short


def test_a_terminal_is_shown_colours_and_nothing_else(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(BAD)
    plain, lit = (run(capsys, "check", str(file), *more)[1] for more in ((), ("--color",)))
    assert "\x1b" not in plain and "\x1b[1;31merror\x1b[0m" in lit
    assert re.sub(r"\x1b\[[\d;]*m", "", lit) == plain


def test_the_story_is_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(kernels()[GOOD])
    status, out, _ = run(capsys, "explain", str(file))
    assert status == 0
    assert "64x128x16, together 64x128x64" in out and "at most 2 groups in flight" in out
    record = json.loads(run(capsys, "explain", str(file), "--json")[1])
    assert record["kernels"][0]["accumulations"][0]["shape"] == [64, 128, 16]


@pytest.mark.parametrize("command", ["check", "explain"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe\x00", "because it is not UTF-8 text"),
        (b"\x7fELF\x02\x01\x01", "is machine code, not PTX; use `cuobjdump -ptx`"),
        (b".version 8.7\n.entry k() " + b"{" * 1000, "more than 64 blocks are nested"),
        (b"hello", "the statement 'hello' does not end with a semicolon"),
        (b"", "this is not PTX: it begins with '', not with .version"),
        (b" " * ((32 << 20) + 1), "is longer than 33554432 bytes"),
    ],
)
def test_what_is_no_ptx_is_refused_in_one_line(
    command: str, content: bytes, words: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_bytes(content)
    status, out, err = run(capsys, command, str(file))
    assert status == 2 and not out
    assert words in refusal(err)


def test_a_file_that_is_not_there_and_one_that_does_not_compile(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "check", str(file))[0] == 2
    source = file.with_suffix(".cu")
    source.write_text("this is no C++")
    status, _, err = run(capsys, "check", str(source))
    assert status in (2, 3) and refusal(err)


def fake_nvcc(folder: Path, body: str) -> None:
    """A compiler on the path that does what a line of shell says; ``$7`` is the file that it has to write."""
    tool = folder / "nvcc"
    tool.write_text(f"#!/bin/sh\n{body}\n")
    tool.chmod(0o755)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (
            "echo 'k.cu(3): warning #1: odd' >&2; echo 'k.cu(7): error: no such name' >&2; exit 2",
            2,
            "k.cu(7): error: no",
        ),
        ("exit 1", 2, "; 'no output'"),
        ("exit 0", 2, "; 'no output'"),
        (None, 3, "nvcc is not on the path; pass the PTX of the .cu file instead"),
    ],
)
def test_what_a_compiler_says_is_told_in_one_line(
    body: str | None, status: int, words: str, file: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    source = file.with_suffix(".cu")
    source.write_text("__global__ void k() {}")
    if body is not None:
        fake_nvcc(file.parent, body)
    monkeypatch.setenv("PATH", f"{file.parent}:/bin" if body is not None else str(file.parent))
    exit_status, out, err = run(capsys, "check", str(source))
    assert (exit_status, out) == (status, "") and words in refusal(err)


def test_a_compiler_is_given_the_target_and_the_folders_of_headers(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = file.with_suffix(".cu")
    source.write_text("__global__ void k() {}")
    lines = 'for last; do :; done; printf \'.version 8.7\\n.target sm_90a\\n// %s\\n\' "$*" > "$last"'
    fake_nvcc(file.parent, f'{lines}; echo "$*" > {file.parent}/asked')
    monkeypatch.setenv("PATH", f"{file.parent}:/bin")
    assert run(capsys, "check", str(source), "--gpu-arch", "sm_100a", "-I", "a", "-I", "b")[0] == 0
    arguments = (file.parent / "asked").read_text().split()
    assert "-arch=sm_100a" in arguments and [one for one in arguments if one.startswith("-I")] == ["-Ia", "-Ib"]


def test_standard_input_is_read(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    status, out, _ = run(capsys, "check", "-")
    assert status == 1 and out.startswith("<stdin>:4: error[form-immediate]: ")
