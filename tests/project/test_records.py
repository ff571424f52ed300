"""The table of records in docs/records.md, compared with the record files and with what ``probe_wgmma repeat`` runs."""

from __future__ import annotations

import json
import lzma
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from places import ROOT

HOPPER = ROOT / "tests" / "vectors" / "hopper"
#: Records of a line of ``repeat`` where they are not named by the probe or by --name.
RECORDS_OF = {
    "descriptor": {"wgmma_reads", "wgmma_questions", "wgmma_maps"},
    "tma": {"tma_tiles"},
    "banks": {"bank_wavefronts"},
}


def repeated() -> set[str]:
    """The records that ``scripts/probe_wgmma repeat`` makes again."""
    text = (ROOT / "scripts" / "probe_wgmma").read_text(encoding="utf-8")
    (lines,) = re.findall(r"<<'LINES'\n(.*?)^LINES$", text, re.MULTILINE | re.DOTALL)
    found = set[str]()
    for line in lines.splitlines():
        probe, *options = line.split()
        if "--repeat" in options:
            found.add("wgmma_repeat")
        elif "--name" in options:
            found.add(options[options.index("--name") + 1])
        else:
            variants = [one.removeprefix("--") for one in options if one in ("--promoted", "--registers", "--engine")]
            found |= {"_".join([probe, *variants])} if variants else RECORDS_OF.get(probe, {probe})
    return found


def test_the_table_says_of_each_record_which_gpu_made_it_and_whether_it_is_repeated() -> None:
    page = (ROOT / "docs" / "records.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `(\w+)` \| (yes|no) \| (yes|no) \| (yes|no) \|$", page, re.MULTILINE)
    files = {gpu: {path.name.split(".")[0] for path in (HOPPER / gpu).iterdir()} for gpu in ("h200", "h100")}
    again = repeated()
    words = {True: "yes", False: "no"}
    names = sorted(files["h200"] | files["h100"])
    assert table == [(name, words[name in files["h200"]], words[name in files["h100"]], words[name in again])
                     for name in names]  # fmt: skip
    assert again <= set(names)


def test_where_both_gpus_have_a_record_the_page_names_those_that_were_drawn_by_another_seed() -> None:
    page = " ".join((ROOT / "docs" / "records.md").read_text(encoding="utf-8").split())
    (sentence,) = re.findall(r"the same command made it, except that (.*?) were drawn by another seed", page)
    differ = set()
    for path in (HOPPER / "h100").iterdir():
        other = HOPPER / "h200" / path.name
        if other.exists() and path.suffix != ".npz":
            commands = {re.sub(r" --(?:out|json) \S+| --seed 1\b", "", head(one)["command"]) for one in (path, other)}
            differ |= {path.name.split(".")[0]} if len(commands) > 1 else set()
    assert set(re.findall(r"`(\w+)`", sentence)) == differ


def head(path: Path) -> dict[str, Any]:
    """The facts of a record: the GPU, driver, date and command."""
    if path.suffix == ".xz":
        facts: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()).decode().splitlines()[0])
    else:
        facts = json.loads(path.read_text(encoding="utf-8"))
    return facts


def test_the_evidence_has_the_date_of_each_record() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "evidence.py")]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for gpu in ("h200", "h100"):
        loops = head(HOPPER / gpu / "main_loops.json")
        name = re.escape(f"{loops['gpu']}, driver {loops['driver']}\n")
        (part,) = re.findall(rf"^{name}((?:  .*\n)+)", text, re.MULTILINE)
        found = {what: date for date, what in re.findall(r"^  (\d{4}-\d\d-\d\d)  ([^:]+):", part, re.MULTILINE)}
        assert len(found) == len(part.splitlines())
        assert found["programs emitted from plans"] == loops["date"]
        assert found["products from derived layouts and words"] == head(HOPPER / gpu / "gemm_derived.json")["date"]
        assert found["TMA plans"] == head(HOPPER / gpu / "tma_derived.json")["date"]
