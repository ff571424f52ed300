#!/usr/bin/env python3
"""Build the distribution, and run the whole suite from the wheel, in an empty environment, no checkout on the path.

scripts/release.py [FOLDER] [--tag TAG] [--python PYTHON] [--no-suite] [-- PYTEST ARGUMENTS]      into FOLDER, or dist

An sdist and a wheel are built of the checkout as it stands. Then an environment is made elsewhere, by PYTHON or by the
one that runs this, the wheel is installed into it with its test tools, the sdist is unpacked beside it, and its tests
run with the packages of the wheel, the exhaustive ones too: PYTHONSAFEPATH keeps the folder they run in off the path.
Nothing is published; with --tag the version must be that of the tag. Exit status: 0 if all passed, 1 if not, 2 if it
could not be built or installed, or the tag is another.
"""

import argparse
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402

#: What the suite reads: tests, and every page whose examples run; the packages' own examples are those of the wheel.
SUITE = ("tests", "course", "README.md", "docs/cookbook.md", "docs/learn.md", "docs/map.md", "docs/pictures.md",
         "docs/tensor-memory.md", "--pyargs", "layoutalg", "descriptors")  # fmt: skip

#: How it is run: an empty choice of marks leaves out nothing, so that the tests that enumerate for minutes run too.
HOW = ("-n", "auto", "--dist", "worksteal", "-m", "")


def run(*command: str | Path, **options: object) -> int:
    """Run a command, and show it as it is run."""
    print("+", *command, flush=True)
    return subprocess.run([str(word) for word in command], check=False, **options).returncode  # type: ignore[call-overload]


def built(folder: Path) -> tuple[Path, Path] | None:
    """The sdist and the wheel; None if they could not be built."""
    with TemporaryDirectory() as place:
        tools = Path(place) / "tools"
        if run(sys.executable, "-m", "venv", tools) or run(
            python_of(tools), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "build"
        ):
            return None
        if run(python_of(tools), "-m", "build", "--outdir", folder, ROOT):
            return None
    return newest(folder, "*.tar.gz"), newest(folder, "*.whl")


def newest(folder: Path, pattern: str) -> Path:
    """The file that was written last."""
    return max(folder.glob(f"layoutalg-{pattern}"), key=lambda one: one.stat().st_mtime)


def python_of(environment: Path) -> Path:
    """The interpreter of an environment."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def passes(sdist: Path, wheel: Path, python: str, more: list[str]) -> int:
    """Install the wheel into an empty environment and run the tests of the sdist there."""
    with TemporaryDirectory() as place:
        fresh, unpacked = Path(place) / "environment", Path(place) / "sources"
        if run(python, "-m", "venv", fresh) or run(
            python_of(fresh), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[test,course]"
        ):
            return 2
        with tarfile.open(sdist) as archive:
            archive.extractall(unpacked, filter="data")
        (sources,) = unpacked.iterdir()
        words = {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONWARNDEFAULTENCODING": "1"}
        words.pop("PYTHONPATH", None)
        status = run(python_of(fresh), "-c", WHERE, cwd=sources, env=words)
        return status or run(python_of(fresh), "-m", "pytest", *HOW, *SUITE, *more, cwd=sources, env=words)


#: Refuses packages that are not those of the wheel.
WHERE = "import layoutalg, descriptors; assert all('site-packages' in one.__file__ for one in (layoutalg, descriptors))"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    parser.add_argument("--tag", help="as v1.2.3")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--no-suite", action="store_true")
    parser.add_argument("pytest", nargs="*")
    given = parser.parse_args(arguments)
    files = built(given.folder.resolve())
    if files is None:
        return 2
    for one in files:
        print(f"{one.name}: {one.stat().st_size} bytes")
    version = files[1].name.split("-")[1]
    if given.tag not in (None, f"v{version}"):
        print(f"the tag must be v{version}, found {given.tag}", file=sys.stderr)
        return 2
    return 0 if given.no_suite else min(2, passes(*files, given.python, given.pytest))


if __name__ == "__main__":
    end(main, sys.argv[1:])
