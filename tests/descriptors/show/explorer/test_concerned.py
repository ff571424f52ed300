"""Which elements a field of a word concerns: the read model says it, and the canonical form knows it."""

from __future__ import annotations

import pytest
from derived import K_128, derivations
from hypothesis import given

from descriptors import derive
from descriptors.show.explorer.highlights import boxes, field_elements
from descriptors.show.stages.view import View
from descriptors.smem.derivation.derivation import Derivation


def counts(view: View, field: str) -> list[list[int]]:
    """The blocks of a field as a table."""
    high, wide = view.derivation.mma
    table = [[0] * wide for _ in range(high)]
    for count, row, column, rows, columns in field_elements(view)[field]["boxes"]:
        for i in range(row, row + rows):
            for k in range(column, column + columns):
                assert table[i][k] == 0, "blocks do not overlap"
                table[i][k] = count
    return table


@given(d=derivations())
def test_offsets_are_counted_as_the_canonical_form_counts_its_chunks(d: Derivation) -> None:
    view = View(d)
    chunks = view.anatomy.chunk_extents
    number = [[(i // chunks[0], k // chunks[1]) for k in range(d.mma[1])] for i in range(d.mma[0])]
    for field, path in (("leading_byte_offset", d.match.form.leading), ("stride_byte_offset", d.match.form.stride)):
        counted = counts(view, field)
        if field in d.dont_care:
            assert counted == [[0] * d.mma[1]] * d.mma[0], f"{field} is not read"
        else:
            assert counted == [[one[path[0]] for one in row] for row in number]
    assert counts(view, "start_address") == [[1] * d.mma[1]] * d.mma[0]


def test_what_no_element_depends_on_is_said() -> None:
    elements = field_elements(View(derive(**K_128)))
    assert elements["leading_byte_offset"] == {
        "boxes": [], "said": "leading_byte_offset: affects no element of the subtile",
    }  # fmt: skip
    assert elements["version"]["said"] == "version: the documents define no other value"


@pytest.mark.parametrize("table", [[[0, 0], [0, 0]], [[1, 2], [1, 2]], [[0, 1], [1, 0]], [[3]]])
def test_blocks_are_the_table_again(table: list[list[int]]) -> None:
    table_again = [[0] * len(table[0]) for _ in table]
    for count, row, column, rows, columns in boxes(table):
        for i in range(row, row + rows):
            table_again[i][column : column + columns] = [count] * columns
    assert table_again == table
