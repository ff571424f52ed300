"""The rows of docs/divergences.md that the oracle tells are those of the page, no more and no fewer."""

from __future__ import annotations

import json
from collections import defaultdict

from places import ROOT

from layoutalg.oracle.expressions import ROWS, rows_of

DATA = json.loads((ROOT / "tests" / "vectors" / "divergences.json").read_text(encoding="utf-8"))


def differs(cell: str) -> bool:
    return cell not in ("agrees", "not offered", "not measured") and not cell.startswith("agrees, as ")


def test_every_row_in_which_the_dsl_differs_is_told_of_its_operations_and_no_other() -> None:
    differing = defaultdict(set)
    for row in DATA["rows"]:
        if differs(row["peers"]["CuTe DSL"]):
            for case in row["cases"]:
                differing[case["operation"].replace("call", "()")].add(row["row"])
    assert {name: tuple(sorted(rows)) for name, rows in differing.items()} == ROWS


def test_runs_of_rows_are_told_as_such() -> None:
    assert rows_of(["()"]) == "a call: rows 64, 66 and 76"
    assert rows_of(["nullspace"]) == "nullspace: row 33"
    assert rows_of(["composition", "composition", "recast_layout"]) == (
        "composition: rows 1 to 5; recast_layout: rows 49 to 53"
    )
    assert rows_of([]) == rows_of(["size", ":", "o"]) == ""
