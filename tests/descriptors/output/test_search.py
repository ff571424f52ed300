"""What a search found, as a table."""

from __future__ import annotations

from descriptors.output.search import table


def test_a_table_of_nothing_is_its_heading() -> None:
    assert len(table(())) == 1
