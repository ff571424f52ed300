"""The distribution: what is in it, how large it is, and that it harms no other that is installed beside it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from each import each
from places import ROOT

from builder.notebooks import notebook
from descriptors.course.catalog import lessons
from layoutalg import __version__, oracle

#: What the packages import at first.
IMPORTED = "import sys; was = set(sys.modules); import layoutalg, descriptors; print(*sorted(set(sys.modules) - was))"
#: What another distribution of that name has at its top level.
OTHER = "theirs = True\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built by its backend."""
    pytest.importorskip("hatchling", reason="hatchling is of the extra `test`")
    place = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (made,) = place.glob("*.whl")
    return made


def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_has_what_is_ours_and_nothing_else(wheel: Path) -> None:
    assert wheel.name == f"layoutalg-{__version__}-py3-none-any.whl"
    top = {name.split("/")[0] for name in names(wheel)}
    apart = {f"layoutalg-{__version__}.{one}" for one in ("dist-info", "data")}
    assert top == {"layoutalg", "layoutalg-packages", "layoutalg.pth", *apart}
    data = {name.partition(".data/data/")[2] for name in names(wheel)} - {""}
    assert data == {"include/layoutalg/descriptor.hpp", "share/cmake/layoutalg/layoutalg-config.cmake"}
    assert not [name for name in names(wheel) if "__pycache__" in name or "/tests/" in name]
    assert {"layoutalg/py.typed", "layoutalg-packages/descriptors/py.typed"} <= set(names(wheel))
    # Lessons and the page are most of it.
    assert wheel.stat().st_size < 2 << 20


def installed(wheel: Path, place: Path) -> Path:
    """A folder as pip leaves it; the other distribution is there already."""
    (place / "descriptors").mkdir()
    (place / "descriptors" / "__init__.py").write_text(OTHER)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    return place


def says(place: Path, program: str) -> subprocess.CompletedProcess[str]:
    """A program in a process that has the folder as its site-packages, and no checkout on its path."""
    words = {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": ""}
    checkout = "sys.path[:] = [one for one in sys.path if not os.path.isdir(os.path.join(one, 'descriptors', 'smem'))]"
    head = f"import os, site, sys\n{checkout}\nsite.addsitedir({str(place)!r})\n"
    return subprocess.run(
        [sys.executable, "-c", head + program], cwd=place, env=words, capture_output=True, text=True, check=False
    )


def test_beside_another_distribution_of_that_name_both_work(wheel: Path, tmp_path: Path) -> None:
    place = installed(wheel, tmp_path)
    assert (place / "descriptors" / "__init__.py").read_text() == OTHER  # no file of theirs is ours
    theirs = says(place, "import descriptors; print(descriptors.theirs)")
    assert theirs.stdout == "True\n", theirs.stderr
    word = ["decode", "0x4000004000010000", "--arch", "sm90"]
    for run in (
        f"from layoutalg.cli import descriptors; descriptors({word!r})",
        "from layoutalg.cli import main; main(['course', '--help'])",
    ):
        done = says(place, run)
        assert done.returncode == 0 and ("sm90" in done.stdout or "lessons" in done.stdout), done.stderr


@pytest.mark.skipif(not oracle.available(), reason="nvidia-cutlass-dsl is not installed")
def test_beside_another_distribution_of_that_name_the_dsl_is_asked_by_our_code(wheel: Path, tmp_path: Path) -> None:
    place = installed(wheel, tmp_path)
    line = "derive --dtype bf16 --major K --swizzle 128B --tile 64x64 --mma 64x16 --arch sm90 --check".split()
    done = says(place, f"from layoutalg.cli import descriptors; sys.exit(descriptors({line!r}))")
    assert (done.returncode, done.stderr) == (0, "")


def test_alone_both_packages_are_found(wheel: Path, tmp_path: Path) -> None:
    place = installed(wheel, tmp_path)
    (place / "descriptors" / "__init__.py").unlink()
    (place / "descriptors").rmdir()
    done = says(
        place, "import descriptors, layoutalg; print(descriptors.__file__); print(descriptors.derive, layoutalg.Layout)"
    )
    assert done.stdout.startswith(str(place / "layoutalg-packages")), done.stdout + done.stderr


def test_a_notebook_that_installs_the_wheel_while_it_runs_finds_both(wheel: Path, tmp_path: Path) -> None:
    pytest.importorskip("nbformat", reason="nbformat is of the extra `course`")
    cells = ["".join(cell["source"]) for cell in json.loads(notebook(lessons()[0]))["cells"]]
    (at,) = (k for k, cell in enumerate(cells) if "%pip" in cell)
    # A process that runs already reads no .pth file that pip brings.
    unpacked = f"import zipfile; zipfile.ZipFile({str(wheel)!r}).extractall({str(tmp_path)!r})  # "
    done = says(tmp_path, cells[at].replace("%pip", f"{unpacked}%pip") + f"\n{cells[at + 1]}\nprint(check('1.1', '?'))")
    assert done.returncode == 0 and done.stdout, done.stderr


def test_what_is_imported_at_first_is_little() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    modules = done.stdout.split()
    assert len(modules) < 40, modules
    assert not {"numpy", "sympy", "click"} & set(modules)


def test_the_version_is_said_once_and_repeated_where_it_must() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == __version__ and cited["license"] == "Apache-2.0"
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None and newest[1] == __version__


@each("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_each_step_of_a_workflow_is_a_script_that_a_person_can_run(path: Path) -> None:
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    ours = [word for run in runs for word in run.split() if word.startswith("scripts/")]
    assert ours and all((ROOT / word).is_file() for word in ours)
    others = [run for run in runs if "scripts/" not in run]
    assert all(run.startswith(("sudo apt-get", "python -m pip install")) for run in others), others  # what they need
