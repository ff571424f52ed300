"""The table of formulas as text: every column as wide as its widest cell, and two spaces more."""

from __future__ import annotations

from descriptors.sweep.formulas import LEGEND, formulas, record_formulas, write_table

ROWS = formulas()


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    lines = write_table(ROWS).splitlines()
    head, rows = lines[0], lines[1 : len(ROWS) + 1]
    assert lines[len(ROWS) + 1 :] == ["", *LEGEND]
    names = ["major", "swizzle", "first", "bits", "tile of", "mma", "LBO", "SBO", "steps along MN", "steps along K"]
    starts, at = [], 0
    for name in names:
        at = head.index(name, at)
        starts.append(at)
        at += len(name)
    assert starts[0] == 0
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        cells = [line[start:end] for line in [head, *rows]]
        assert all(cell[:1] not in ("", " ") for cell in cells)
        assert all(line[start - 2 : start] in ("", "  ") for line in [head, *rows])
        if end is not None:
            assert max(len(cell.rstrip()) for cell in cells) == end - start - 2
    assert not [line for line in lines if line != line.rstrip()]


def test_each_line_has_the_numbers_of_its_record() -> None:
    for line, row in zip(write_table(ROWS).splitlines()[1:], record_formulas(ROWS), strict=False):
        cells = [cell for cell in line.split("  ") if cell.strip()]
        mma, unit = (f"{pair[0]}x{pair[1]}" for pair in (row["mma"], row["tile_multiple"]))
        assert [cell.strip() for cell in cells[:6]] == [
            *(row["major"], row["swizzle"], "MN" if row["order"] == (0, 1) else "K", str(row["bits"])),
            *(unit, mma),
        ]
        for name, cell in zip(("leading_byte_offset", "stride_byte_offset"), cells[6:8], strict=True):
            assert cell.strip() in (row[name], f"({row[name]})", "-")
            assert (cell.strip() == row[name]) == (name not in row["dont_care"])
