"""The picture of an operand: a cell is right, wrong or mixed."""

from __future__ import annotations

from descriptors.smem.proof.mismatch import Picture, picture


def test_the_picture_marks_each_cell_right_wrong_or_mixed() -> None:
    wrong = [[False] * 128 for _ in range(64)]
    for i, k in ((0, 1), (62, 126), (62, 127), (63, 126), (63, 127)):
        wrong[i][k] = True
    marks = picture(wrong)
    assert marks.block == (2, 2)
    assert (len(marks.rows), {len(row) for row in marks.rows}) == (32, {64})
    assert marks.rows[0] == "x" + "." * 63
    assert marks.rows[31] == "." * 63 + "X"
    assert set("".join(marks.rows[1:31])) == {"."}
    text = str(marks).splitlines()
    assert text[0] == "mn \\ k  0       16      32      48      64      80      96      112"
    assert text[1] == "     0  " + marks.rows[0]
    assert text[-1] == "each character is 2x2 elements: '.' correct, 'x' partly wrong, 'X' wrong"


def test_the_margin_holds_the_longest_row_number() -> None:
    text = str(Picture((".", "x"), (10_000_000, 1))).splitlines()
    assert text[:3] == ["  mn \\ k  0", "       0  .", "10000000  x"]
