"""What is answered of sm100 says that nobody measured it, in its text and in its data; what is answered of sm90 not."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from descriptors.cli import main
from descriptors.gemm.programs.emit_plan import PLAN_LANGUAGES

#: As every page and grade has it.
KNOWN = "documented, not measured on a Blackwell GPU"

_TILE = "--dtype bf16 --major K --swizzle 128B --tile 128x128 --mma 64x16"
ANSWERS = {
    "decode 0x4000404000010000 --arch sm100": "decode 0x4000004000010000 --arch sm90",
    "candidates --tile 128x64 --swizzle 64B --major MN --mma 64x16 --dtype bf16 --arch sm100": (
        "candidates --tile 128x64 --swizzle 64B --major MN --mma 64x16 --dtype bf16 --arch sm90"
    ),
    "idesc --a bf16 --m 128 --n 256": None,
    "decode-idesc 0x08400490 --kind f16": None,
    "shapes --arch sm100": "shapes --arch sm90",
    "shapes --arch sm100 --kind mxf4nvf4": "shapes --arch sm90 --kind f16",
    "formulas": None,
    "draw word 0x4000404000010000": "draw word 0x4000004000010000 --arch sm90",
    f"draw levels {_TILE} --arch sm100": f"draw levels {_TILE} --arch sm90",
    f"draw diff 0x4000402000010000 {_TILE} --arch sm100": f"draw diff 0x4000002000010000 {_TILE} --arch sm90",
    f"derive {_TILE} --arch sm100 --subtile 0,1": f"derive {_TILE} --arch sm90 --subtile 0,1",
    f"diff 0x4000404000010000 {_TILE} --arch sm100": f"diff 0x4000004000010000 {_TILE} --arch sm90",
    f"diff 0x4000402000010000 {_TILE} --arch sm100": f"diff 0x4000002000010000 {_TILE} --arch sm90",
    f"tma {_TILE} --arch sm100": f"tma {_TILE} --arch sm90",
}  # fmt: skip

_SYMBOLS = '--dtype bf16 --major K --swizzle 128B --tile "64*m x 64*k" --mma 64x16 --symbolic'
#: Answers of one form: texts without data beside them, and code, whose comment may be broken into lines.
TEXTS = [
    *(f"derive {_TILE} {other}" for other in ("--explain", "--words")),
    *(f"derive {_TILE} --emit {language}" for language in ("cuda", "header", "ptx", "cutedsl", "python")),
    *(f"derive {_SYMBOLS} --format {form}" for form in ("text", "latex", "python", "json")),
    f'emit cuda "a: {_TILE}"',
]


def printed(capsys: pytest.CaptureFixture[str], line: str) -> str:
    assert main(shlex.split(line)) in (0, 1)
    return capsys.readouterr().out


@pytest.mark.parametrize("line", ANSWERS)
def test_text_and_data_say_so(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert KNOWN in printed(capsys, line)
    as_json = " --format json" if line == "formulas" else " --json"
    assert KNOWN in printed(capsys, line + as_json)


@pytest.mark.parametrize("line", TEXTS)
def test_texts_say_so(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert KNOWN in printed(capsys, f"{line} --arch sm100")
    assert "Blackwell GPU" not in printed(capsys, f"{line} --arch sm90")


@pytest.mark.parametrize("language", PLAN_LANGUAGES)
def test_programs_say_so(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In a line of their own, which is a comment."""
    line = f"plan m{{}}n128k16 bf16 --tile 128x128x64 --stages 2 --emit {language}"
    program = printed(capsys, line.format(128))
    assert {one.lstrip() for one in program.splitlines() if KNOWN in one} <= {f"// known: {KNOWN}", f"# known: {KNOWN}"}
    assert KNOWN in program and "Blackwell GPU" not in printed(capsys, line.format(64))


@pytest.mark.parametrize("line", [line for line in ANSWERS.values() if line])
def test_of_hopper_they_do_not(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Blackwell" not in printed(capsys, line) + printed(capsys, line + " --json")


@pytest.mark.parametrize(("target", "opcode"), [("sm_100a", "tcgen05.wait::ld"), ("sm_90a", "wgmma.fence")])
def test_kernels(target: str, opcode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(f".version 8.8\n.target {target}\n.entry k() {{ {opcode}.sync.aligned; ret; }}")
    for command in ("check", "explain"):
        text = " ".join(printed(capsys, f"{command} {path}").split()).replace("Known: d", "known: d")
        record = printed(capsys, f"{command} {path} --json")
        assert (KNOWN in text, KNOWN in record) == (target != "sm_90a",) * 2
        assert json.loads(record)
