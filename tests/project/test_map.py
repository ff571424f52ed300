"""The map of the rooms is what the table and the docstrings say."""

from __future__ import annotations

import subprocess
import sys

from places import ROOT
from rooms import FLOORS


def test_the_page_is_up_to_date_and_names_every_module() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/make_map.py", "--check"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stdout) == (0, "docs/map.md is up to date\n")
    page = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
    for module in FLOORS:
        path = module.replace(".", "/")
        assert any(f"{path}{end}" in page for end in (".py", "/__init__.py", "/`")) or module.endswith("__main__"), (
            module
        )
