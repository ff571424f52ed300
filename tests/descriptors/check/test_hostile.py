"""Hostile texts are answered or refused in bounded memory: each runs in a process that may use 2 GiB."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from ring_kernels import ring_sm90

from descriptors import DescriptorError, check_ptx
from descriptors.check import run_report
from descriptors.check.ptx.ptx_module import NAME_LETTERS
from descriptors.gemm.contract import MOST_DEPTH, MOST_KEY, check_contract, read

HEAD = ".version 8.8\n.target sm_90a\n.shared .align 8 .b8 b[8];\n"
INIT = "elect.sync _|e, -1; @e mbarrier.init.shared.b64 [b], 1; bar.sync 0; mov.u32 t, %tid.x; setp.eq.u32 p, t, 77;"
MEMORY = 2 << 30


def kernel(body: str, directives: str = "", name: str = "k") -> str:
    return f".entry {name}() {directives} {{\n{INIT}\n{body}\nret;\n}}\n"


HOSTILE = {
    "threads": HEAD + kernel("", ".reqntid 1024, 1024, 64"),
    "most threads": HEAD + kernel("", ".maxntid 999999999, 99999, 9999"),
    "CTAs": HEAD + kernel("", ".reqnctapercluster 99999"),
    "branches": HEAD + kernel("\n".join(f"@p bra q{i};\nq{i}:" for i in range(6000))),
    "branches to one label": HEAD + kernel("\n".join("@p bra END;\nadd.u32 t, t, 1;" for _ in range(6000)) + "\nEND:"),
    "alignment": HEAD + f".shared .align {'9' * 5000} .b8 s[4];\n" + kernel("st.shared.b32 [s], 1;"),
    "extents": HEAD + f".shared .b8 s{'[4096]' * 3000};\n" + kernel("st.shared.b32 [s], 1;"),
    "version": HEAD.replace("8.8", f"{'9' * 5000}.7") + kernel(""),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_answered_in_bounded_memory(name: str, tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(HOSTILE[name])
    done = subprocess.run(
        [sys.executable, "-m", "descriptors", "check", str(file)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1, 2) and "Traceback" not in done.stderr, done.stderr[-300:]
    assert len(done.stdout) + len(done.stderr) < 100_000


@pytest.mark.parametrize(
    "directive", [".reqntid 1024, 1024, 64", ".maxntid 2048", ".reqnctapercluster 17", ".reqntid 0"]
)
def test_a_launch_that_no_gpu_has_is_not_decided_and_the_directive_is_named(directive: str) -> None:
    report = check_ptx(HEAD + kernel("", directive))
    assert {one.verdict for one in report.properties if one.property == "barriers"} == {"incomplete"}
    assert any(directive.split()[0] in one.why for one in report.undecided)


def test_kernels_beyond_the_steps_of_a_file_are_not_executed_and_not_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + "".join(kernel("", ".reqntid 32", name) for name in ("first", "second"))
    assert not any("not executed" in one.what for one in check_ptx(text).undecided)
    monkeypatch.setattr(run_report, "FILE_LIMIT", 1)
    report = check_ptx(text)
    assert {one.function for one in report.undecided if "not executed" in one.what} == {"second"}
    assert {one.property: one.verdict for one in report.properties}["barriers"] == "incomplete"


def test_a_name_that_is_too_long_is_refused_in_a_short_line() -> None:
    with pytest.raises(DescriptorError, match="has more than 65536 characters") as refused:
        check_ptx(HEAD + kernel("", name="k" * (NAME_LETTERS + 1)))
    assert len(str(refused.value)) < 200 and "line 4" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[operand.a]\na = " + "9" * 10_000, "a number in the TOML file has more than"),
        ("[operand.a]\na = " + "[" * 900, "are nested more than"),
        ("[operand.a]\na = " + "{a=" * 3000, "are nested more than"),
        ("[operand.a.expect]\n" + ".".join(["a"] * (MOST_DEPTH + 1)) + " = 1", "are nested more than"),
        ("[operand.a]\n" + ".".join(["a"] * MOST_KEY) + " = 1", "a key has more than"),
        ("[plan.a]\n", "are missing"),
    ],
)
def test_a_hostile_toml_is_refused_in_a_short_line(text: str, reason: str) -> None:
    with pytest.raises(DescriptorError, match=reason) as refused:
        check_contract(text)
    assert len(str(refused.value)) < 300


def test_ordinary_toml_is_read() -> None:
    assert read('[operand.a]\ntile = [[1, 2], [3, 4]]\nwords.1.3 = "a.b"\n')["operand"]["a"]["words"]["1"]["3"] == "a.b"


def test_an_address_beyond_the_shared_memory_of_the_cluster_ends_no_check() -> None:
    """The bits above an address are the rank of a CTA, and here there is none of that rank."""
    assert check_ptx(ring_sm90(1).replace("[at+8192]", "[at+999999999]")).verdict == "wrong"
