"""The table of targets: one row is an architecture, and whatever is asked of it reads that row."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

from descriptors.targets import ARCHITECTURES, FEATURES, has, spelled, tensor_arches

#: A chip that there is not, which follows sm107; the table has one row more before anything else is imported.
_ROW = """
from descriptors import targets
targets.ARCHITECTURES += (targets.Architecture(
    130, "sm130", "Nobody's", "9.9", "sm100", 232448, 400000, 512, 640, "made up, measured by nobody", follows="sm107",
),)
from descriptors.cli import main
"""


def asked(*commands: str) -> str:
    """What commands print, one after the other, where the table has that row; each must end with status 0."""
    lines = [f"assert main({command.split()!r}) == 0, {command!r}" for command in commands]
    code = "\n".join([_ROW, *lines])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_row_that_is_added_is_read_by_legality_shapes_words_plans_and_emitted_programs() -> None:
    printed = asked(
        "shapes --arch sm_130a",
        "shapes --arch sm130 --kind ti16",
        "idesc --a e4m3 --m 128 --n 128 --k 64 --arch sm130",
        "decode 0x4000404000014000 --arch sm130",
        "derive --dtype bf16 --major K --swizzle 128B --tile 128x128 --mma 128x16 --arch sm130",
        "tmem plan --a e2m1 --scale-dtype ue4m3 --m 256 --n 256 --k 256 --accumulators 2 --cta-group 2 --arch sm130",
        "plan m256n256k128 e2m1 --tile 256x512x256 --cta-group 2 --scale-dtype ue4m3 --arch sm130 --smem 400000",
        "plan m128n128k64 e4m3 --tile 128x128x256 --arch sm130 --emit ptx",
    )
    for told in (
        "sm_130a, sm_130f", "sm130 kind ti16", "0x28200010  sm107", "[0,15)", "arch       sm130 (tcgen05)",
        "allocate 576 columns", "592 columns used, 608 to allocate", "of 400000 bytes", "proved: 256x512x256 product",
        ".version 9.9\n.target sm_130a", "known: made up, measured by nobody",
    ):  # fmt: skip
        assert told in printed, told
    assert "Rubin" not in printed and "Blackwell" not in printed


def test_a_row_that_is_added_is_known_to_the_checker_and_to_the_pages(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(asked("plan m128n128k64 e4m3 --tile 128x128x256 --arch sm130 --emit ptx"), encoding="utf-8")
    printed = " ".join(asked(f"check {path}").split())
    assert "sm_130a, 4 MMA instructions:" in printed and "known: made up, measured by nobody" in printed
    assert "words clean 12 of 12 descriptor words order clean" in printed
    printed = asked("shapes --arch all")
    assert re.search(r"^sm130 +Nobody's +9.9 +tcgen05 +400000 +512, exclusive 640 +made up", printed, re.MULTILINE)


def test_what_follows_another_has_its_features_and_is_named_with_it() -> None:
    for one in FEATURES:
        assert has(one, "sm_121a") == has(one, "sm_120a") and has(one, "sm_121f") == has(one, "sm_120f")
    assert spelled("120af") == "sm_120a, sm_120f, sm_121a, sm_121f"


@pytest.mark.parametrize("row", ARCHITECTURES, ids=lambda row: row.name)
def test_the_page_of_sources_says_how_each_architecture_is_known(row: object) -> None:
    page = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    assert row.target in page and row.known in page  # type: ignore[attr-defined]


def test_only_hopper_is_called_measured() -> None:
    assert [row.name for row in ARCHITECTURES if "not measured" not in row.known] == ["sm90"]
    assert tensor_arches() == ("sm90", "sm100", "sm103", "sm107", "sm110")
