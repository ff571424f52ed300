"""How the scripts end: quietly and well where nobody reads any longer, and as they were told in every other case."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from each import each
from places import ROOT
from programs import unread

SCRIPTS = ROOT / "scripts"
MAIN = 'if __name__ == "__main__":\n'

#: Scripts that say much, and are done soon; ``--help`` stands for those that take their time.
LINES = [
    ["evidence.py"],
    ["bench_gemm", "--show", str(ROOT / "tests/vectors/hopper/h200/bench_gemm.json")],
    ["bench_growth.py", "--repeats", "1", "--least", "0"],
    ["bench.py", "--help"],
    ["bench_atlas.py", "--workers", "1", "--every", "5000"],
    ["attack.py", "api", "--cases", "2", "--json"],
    ["make_commands.py", "--check"],
    ["mutants.py", "--help"],
    ["build_course", "--help"],
    ["sw128_kmajor.py"],
]


def programs() -> list[Path]:
    """Every script in Python."""
    found = [path for path in SCRIPTS.iterdir() if path.is_file()]
    return [path for path in found if MAIN in path.read_text(encoding="utf-8")]


@each("line", LINES, ids=lambda line: line[0])
def test_a_reader_that_is_gone_is_no_error_of_a_script(line: list[str]) -> None:
    done = unread([sys.executable, str(SCRIPTS / line[0]), *line[1:]])
    assert done.returncode == 0
    assert not re.search(r"Traceback|BrokenPipe|Exception ignored", done.stderr), done.stderr


def test_every_script_ends_in_one_of_the_two_ways() -> None:
    assert len(programs()) >= 30
    for path in programs():
        text = path.read_text(encoding="utf-8")
        in_console = "from article import" in text
        assert in_console or "    end(main" in text.partition(MAIN)[2], path.name


#: The folder of a program need not be on the path.
FOUND = "import sys\nsys.path.insert(0, '.')\nfrom ended import end"
ENDINGS = [
    ("return None", 0, ""),
    ("return 3", 3, ""),
    ("sys.exit('no')", 1, "no\n"),
    ("raise BrokenPipeError('of a child')", 1, "BrokenPipeError: of a child\n"),
    ("return 1 / 0", 1, "ZeroDivisionError: division by zero\n"),
]


@pytest.mark.parametrize(("body", "status", "told"), ENDINGS)
def test_whoever_is_read_ends_as_it_says(body: str, status: int, told: str) -> None:
    program = f"{FOUND}\ndef main(word):\n    print(word)\n    {body}\nend(main, 'said')"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=SCRIPTS / "lib", check=False)
    assert (done.returncode, done.stdout.rstrip()) == (status, "said") and done.stderr.endswith(told)
    closed = subprocess.run(["bash", "-c", '"$@" >&-', "-", *command], cwd=SCRIPTS / "lib", check=False)
    assert closed.returncode == status


def test_a_bug_is_told_though_nobody_reads() -> None:
    program = f"{FOUND}\nend(lambda: print(1 / 0))"
    done = unread([sys.executable, "-c", program], cwd=SCRIPTS / "lib")
    assert done.returncode == 1 and done.stderr.endswith("ZeroDivisionError: division by zero\n")
