"""A selection holds the rows of its architecture and kind, all of them, in the order of the tables."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from descriptors.errors import ChoiceError
from descriptors.smem.instructions import tables
from descriptors.smem.instructions.rules import select_rows
from descriptors.targets import tensor_arches

KINDS = [(row.arch, row.kind) for row in tables.KINDS]
NAMES = [field.name for field in fields(select_rows("sm90")) if field.name not in ("arch", "kind")]


@pytest.mark.parametrize("name", NAMES)
def test_every_row_is_selected_once_in_the_order_of_its_table(name: str) -> None:
    rows = [row for row in getattr(tables, name.upper()) if getattr(row, "k", 0) not in (96, (96,))]  # of later targets
    by_arch = [row for arch in ("sm90", "sm100") for row in getattr(select_rows(arch), name)]
    assert by_arch == sorted(rows, key=lambda row: row.arch, reverse=True)
    for arch, kind in KINDS:
        own = [row for row in rows if (row.arch, getattr(row, "kind", None)) == (arch, kind)]
        assert list(getattr(select_rows(arch, kind), name)) == own


@pytest.mark.parametrize(("arch", "kind"), [("sm80", None), ("sm90", "mxf4"), ("sm100", "f8")])
def test_what_is_in_no_table_is_an_error_that_lists_what_is(arch: str, kind: Any) -> None:
    with pytest.raises(ChoiceError) as caught:
        select_rows(arch, kind)
    choices = [row.kind for row in tables.KINDS if row.arch == arch] if kind else tensor_arches()
    assert set(caught.value.choices) == set(choices)
