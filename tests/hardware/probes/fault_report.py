"""What is said of each fault, in words: by products that a GPU got wrong, by compute-sanitizer, and by the checker.

The first two are read from records, so that none of it needs a GPU; the checker reads the PTX that nvcc makes now.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from descriptors import check_ptx
from probes.fault_cases import BOXES, FAULTS, Fault
from probes.fault_programs import EVIDENCE, TOOL_PATIENCE, TOOLS, ptx


def counts(runs: list[dict[str, Any]]) -> str:
    """Runs in words.

    >>> end = {"launches": 50, "wrong_elements": 9, "ended": "end"}
    >>> counts([{**end, "wrong_launches": 50}]), counts([{**end, "wrong_launches": 0}, {**end, "wrong_launches": 2}])
    ('all products wrong', '2 of 100 products wrong')
    """
    launches, wrong = (sum(one[key] for one in runs) for key in ("launches", "wrong_launches"))
    ends = {one["ended"] for one in runs}
    if "hang" in ends:
        return "hangs" if wrong == 0 else "wrong products, then hangs"
    if ends != {"end"}:
        return "the launch fails"
    share = "all" if wrong == launches else f"{wrong:,} of {launches:,}"
    return f"{share} products wrong" if wrong else f"{launches:,} products right"


def mended(row: dict[str, Any]) -> str:
    """The same, and what the assembler did about the fault."""
    codes = ", ".join(row["assembler"])
    return counts(row["runs"]) + (f" (the assembler fixes it: {codes})" if codes else "")


def sanitizer_says(row: dict[str, Any]) -> str:
    """Both tools in words; a tool that does not end has no message of what hangs.

    >>> sanitizer_says({"racecheck": {"errors": 0, "message": ""}, "synccheck": {"errors": None, "message": ""}})
    'no end'
    """
    said = [f"{tool}: {row[tool]['message']}" for tool in TOOLS if row[tool]["errors"]]
    if said:
        return "; ".join(re.sub(r"(Barrier error detected\. |Error: )|\.$| between.*", "", one).lower() for one in said)
    return "no end" if any(row[tool]["errors"] is None for tool in TOOLS) else "nothing"


def checker_says(fault: Fault, folder: Path) -> str:
    """Errors that ``descriptors check`` has of the twin's PTX, or what it does not decide."""
    report = check_ptx(ptx(fault, folder), tensor_maps=BOXES[fault.plan])
    rules = sorted({one.rule.name for one in report.errors})
    left = sorted({one.property for one in report.undecided})
    return ", ".join(f"`{one}`" for one in rules) or (f"not decided: {', '.join(left)}" if left else "clean")


def table(records: Path) -> Iterator[tuple[str, ...]]:
    """Each fault that was recorded: what it is, what the GPU did, what compute-sanitizer says, and what the checker."""
    product, tools = (
        {row["fault"]: row for row in json.loads((records / name).read_text(encoding="utf-8"))["faults"]}
        for name in (f"{EVIDENCE}.json", f"{EVIDENCE}_sanitizer.json")
    )
    with tempfile.TemporaryDirectory(prefix="faults-") as scratch:
        for fault in FAULTS:
            yield (
                fault.what,
                mended(product[fault.name]),
                sanitizer_says(tools[fault.name]),
                checker_says(fault, Path(scratch)),
            )


def summary(rows: list[tuple[str, ...]]) -> str:
    """Return how many of the faults each tool reports.

    >>> rows = [("nothing", "right", "nothing", "clean"), ("a wait", "hangs", "no end", "`barrier-hang`")]
    >>> print(summary(rows))
    Of 1 fault, `descriptors check` reports 1. Racecheck and synccheck of compute-sanitizer report 0; for 1 neither
    ended within 30 seconds (without them, 1 of these kernels hangs too)
    """
    faults = [row for row in rows if not row[0].startswith("nothing")]
    ours = sum(row[3].startswith("`") for row in faults)
    endless = [row for row in faults if row[2] == "no end"]
    theirs = len(faults) - len(endless) - sum(row[2] == "nothing" for row in faults)
    hanging = sum(row[1] == "hangs" for row in endless)
    return (
        f"Of {len(faults)} fault{'s' * (len(faults) > 1)}, `descriptors check` reports {ours}. Racecheck and synccheck "
        f"of compute-sanitizer report {theirs}; for {len(endless)} neither ended within {TOOL_PATIENCE} seconds "
        f"(without them, {hanging} of these kernels hang{'s' * (hanging == 1)} too)"
    )
