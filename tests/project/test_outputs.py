"""What the commands print, byte for byte, for a broad list of command lines: nothing changes without being seen."""

from __future__ import annotations

import json
import sys
from typing import Any

from each import each
from places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from make_outputs import COMMANDS, FILE, outcome

RECORDED = json.loads(FILE.read_text(encoding="utf-8"))


def test_the_record_is_of_these_command_lines() -> None:
    assert [entry["command"] for entry in RECORDED] == COMMANDS
    assert {entry["status"] for entry in RECORDED} == {0, 1, 2}


@each("entry", RECORDED, ids=lambda entry: entry["command"][:80])
def test_a_command_line_prints_what_it_printed(entry: dict[str, Any]) -> None:
    assert outcome(entry["command"]) == entry
