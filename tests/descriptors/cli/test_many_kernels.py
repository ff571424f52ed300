"""Many kernels at once: folders, files that cannot be checked, baselines, SARIF of all in one run."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from kernels import kernels
from refusals import refusal

from descriptors.cli.check import Progress
from descriptors.cli.command import main

HEAD = ".version 8.7\n.target sm_90a\n.entry {} () {{\n"
BAD = HEAD.format("k") + "wgmma.wait_group.sync.aligned -1;\nret;\n}\n"
EMPTY = HEAD.format("k") + "ret;\n}\n"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main([str(one) for one in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two kernels with a folder of a third in it, and what is none."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.ptx").write_text(BAD)
    (tmp_path / "b.ptx").write_text(kernels()["product_f16_128x32x128_nn_sm90"])
    (tmp_path / "deep" / "c.ptx").write_text(BAD.replace("\n", "\n\n", 2))
    (tmp_path / "notes.txt").write_text("none")
    return tmp_path


def test_a_folder_is_all_kernels_inside_and_each_file_is_checked_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(capsys, "check", folder, folder / "a.ptx", folder / "deep" / ".." / "b.ptx")
    assert status == 1 and out.splitlines()[-1] == "3 files: 2 with errors, 1 incomplete. 2 errors."
    assert [out.count(f"{folder / name}:") > 0 for name in ("a.ptx", "b.ptx", "deep/c.ptx", "notes.txt")] == [
        True, True, True, False,
    ]  # fmt: skip


def test_a_file_that_cannot_be_checked_stops_no_other_and_the_status_is_the_worst(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "aa.ptx").write_text("hello")
    status, out, _ = run(capsys, "check", folder, folder / "gone.ptx")
    assert status == 2
    assert out.splitlines()[-1] == "5 files: 2 with errors, 1 incomplete, 2 not checked. 2 errors."
    assert f"{folder / 'aa.ptx'}: error: the statement 'hello' does not end with a semicolon" in out
    assert f"{folder / 'gone.ptx'}: error: " in out and " does not exist\n" in out
    told = json.loads(run(capsys, "check", folder, "--json")[1])["files"]
    assert [one.get("verdict", one.get("error", {}).get("type")) for one in told] == [
        "wrong", "incomplete", "wrong", "DescriptorError",
    ]  # fmt: skip


def test_a_folder_without_a_kernel_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "check", tmp_path)
    assert status == 2 and out.splitlines() == [
        f"{tmp_path}: error: the folder has no .ptx file",
        "1 file: 1 not checked.",
    ]


def test_sources_of_a_folder_are_compiled_where_there_is_a_compiler_and_told_else(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "k.cu").write_text("")
    monkeypatch.setenv("PATH", str(folder))
    told = " ".join(run(capsys, "check", folder)[1].split())
    assert told.endswith("1 .cu file skipped: nvcc is not on the path.")
    tool = folder / "nvcc"
    tool.write_text(f'#!/bin/sh\nfor last; do :; done\n/bin/cat {folder}/a.ptx > "$last"\n')
    tool.chmod(0o755)
    status, out, _ = run(capsys, "check", folder)
    assert status == 1 and out.splitlines()[-1] == "4 files: 3 with errors, 1 incomplete. 3 errors."


def test_strict_wants_everything_decided(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, status in (("b.ptx", 0), ("deep", 1)):
        assert run(capsys, "check", folder / name)[0] == status
        assert run(capsys, "check", folder / name, "--strict")[0] == 1
    (folder / "empty.ptx").write_text(EMPTY)
    assert [run(capsys, "check", folder / "empty.ptx", *more)[0] for more in ((), ("--strict",))] == [0, 1]


def test_a_baseline_keeps_known_findings_quiet_where_lines_move_and_new_ones_fail(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = folder / "known.json"
    status, out, _ = run(capsys, "check", folder, "--write-baseline", known)
    assert (status, out) == (0, f"wrote {known}: 2 findings and 10 not decided of 3 files\n")
    status, out, _ = run(capsys, "check", folder, "--baseline", known)
    assert status == 0 and out.splitlines()[-1] == "3 files: 1 incomplete, 2 clean. 2 in the baseline."
    (folder / "a.ptx").write_text(BAD.replace("wgmma", "\n\n\nwgmma"))
    status, out, _ = run(capsys, "check", folder / "a.ptx", "--baseline", known)
    assert status == 0 and out.splitlines()[0].endswith(": clean, 1 in the baseline")
    assert json.loads(run(capsys, "check", folder / "a.ptx", "--baseline", known, "--json")[1])["known"] == 1
    (folder / "a.ptx").write_text(BAD.replace("wgmma", "wgmma.wait_group.sync.aligned -1;\nwgmma"))
    status, out, _ = run(capsys, "check", folder / "a.ptx", "--baseline", known)
    assert status == 1 and out.count("[form-immediate]") == 1 and "a.ptx:5: error[" in out
    (folder / "a.ptx").write_text(BAD.replace(" -1;", " -2;"))
    assert run(capsys, "check", folder / "a.ptx", "--baseline", known)[0] == 1


def test_strict_takes_what_a_baseline_left_open_and_nothing_else(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known, file = folder / "known.json", folder / "b.ptx"
    run(capsys, "check", folder, "--write-baseline", known)
    status, out, _ = run(capsys, "check", folder, "--baseline", known, "--strict")
    assert status == 0 and "undecided[" in out
    file.write_text(file.read_text().replace("ret;", "st.shared.b32 [%r999999], %r2;\n\tret;"))
    assert [run(capsys, "check", file, "--baseline", known, *more)[0] for more in ((), ("--strict",))] == [0, 1]


@pytest.mark.parametrize("content", ["{}", "", "[1]", "[" * 100_000, '{"descriptors baseline": 1, "findings": [{}]}'])
def test_what_is_no_baseline_is_neither_read_nor_overwritten(
    content: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = folder / "other.json"
    other.write_text(content)
    for option in ("--baseline", "--write-baseline"):
        status, out, err = run(capsys, "check", folder / "a.ptx", option, other)
        assert (status, out, other.read_text()) == (2, "", content) and refusal(err)
    for name in (folder, folder / "a.ptx", folder / "no" / "such"):
        assert run(capsys, "check", folder / "a.ptx", "--write-baseline", name)[0] == 2
    assert (folder / "a.ptx").read_text() == BAD


def test_a_baseline_is_not_written_of_files_that_cannot_be_checked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, "check", folder, folder / "gone.ptx", "--write-baseline", folder / "known.json")
    assert (status, out) == (2, "") and "no baseline was written" in err
    assert not (folder / "known.json").exists()


def test_sarif_of_many_files_is_one_run_whose_fingerprints_outlive_moved_lines(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def results() -> list[dict[str, Any]]:
        (run_,) = json.loads(run(capsys, "check", folder, folder / "gone.ptx", "--sarif")[1])["runs"]
        assert run_["invocations"][0]["executionSuccessful"] is False
        assert [one["properties"]["verdict"] for one in run_["artifacts"]] == ["wrong", "incomplete", "wrong"]
        notes = run_["invocations"][0]["toolExecutionNotifications"]
        assert {one["level"] for one in notes} == {"none", "note", "error"}  # none: what was executed
        found: list[dict[str, Any]] = run_["results"]
        return found

    (folder / "a.ptx").write_text(BAD.replace("wgmma", "wgmma.wait_group.sync.aligned -1;\nwgmma"))
    before = results()
    (folder / "a.ptx").write_text(BAD.replace("wgmma", "\n\nwgmma.wait_group.sync.aligned -1;\nwgmma"))
    prints, moved = ([one["partialFingerprints"] for one in row] for row in (before, results()))
    assert prints == moved and len({str(one) for one in prints[:2]}) == 2
    assert before[0]["locations"] != results()[0]["locations"]


def test_a_sarif_location_is_a_reference_whatever_the_name_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "n \x1b[31m#%.ptx"
    file.write_text(BAD)
    (run_,) = json.loads(run(capsys, "check", file, "--sarif")[1])["runs"]
    uri = run_["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == f"{tmp_path}/n%20%1B%5B31m%23%25.ptx"


K_MAJOR = "--dtype bf16 --major K --swizzle 128B --tile 64x64 --mma 64x16".split()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["check", "{}"], True),
        (["check", "{}", "gone"], True),
        (["check", "{}x"], True),
        (["explain", "{}"], False),
        (["explore", *K_MAJOR, "--html", "{}.html"], True),
        (["draw", "levels", *K_MAJOR, "-o", "{}.svg"], True),
    ],
)
def test_no_escape_sequence_of_a_name_reaches_the_terminal(
    words: list[str], told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "n\x1b]0;pwn\x07.ptx"
    file.write_text(BAD)
    _, out, err = run(capsys, *(word.format(file) for word in words))
    assert "\x1b" not in out + err and "\x07" not in out + err
    assert ("n\\x1b]0;pwn\\x07" in out + err) == told


class Terminal(io.StringIO):
    """Standard error of a person."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("patience", "shown"), [(0.0, True), (1e9, False)])
def test_a_terminal_is_told_how_far_a_long_check_is(
    patience: float, shown: bool, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal()
    monkeypatch.setattr(Progress, "PATIENCE", patience)
    monkeypatch.setattr("sys.stderr", screen)
    main(["check", str(folder)])
    assert ("2 of 3 files: " in screen.getvalue()) == shown
    assert not shown or screen.getvalue().endswith("\r\x1b[K")
    screen.truncate(0)
    main(["check", str(folder / "a.ptx")])
    assert not screen.getvalue().strip("\0")


def test_a_contract_goes_without_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "check", tmp_path / "a.toml", tmp_path / "b.ptx")
    assert status == 2 and "a .toml file cannot be checked together with kernels" in err


def test_sarif_of_a_file_that_cannot_be_checked_is_sarif(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "check", "--sarif", tmp_path / "no.ptx")
    (invocation,) = json.loads(out)["runs"][0]["invocations"]
    assert status == 2 and not invocation["executionSuccessful"]
    assert "does not exist" in invocation["toolExecutionNotifications"][0]["message"]["text"]
