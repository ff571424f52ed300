"""A swizzle by itself: its tables hold every piece once, in the order of published tables."""

from __future__ import annotations

import pytest

from descriptors import SwizzleMode, picture
from descriptors.cli import main
from descriptors.errors import DescriptorError
from descriptors.show.pictures.swizzle_picture import SwizzlePicture
from layoutalg import Swizzle

#: Rows 0 to 3 of what lies at each place, as the tables of "CuTe swizzle" articles have them.
LINES = {
    "none": "01234567 01234567 01234567 01234567",
    "32B": "01234567 10325476 01234567 10325476",
    "64B": "01234567 10325476 23016745 32107654",
    "128B": "01234567 10325476 23016745 32107654",
    "128B_BASE32B": "0123 1032 2301 3210",
}


@pytest.mark.parametrize("mode", SwizzleMode)
def test_every_line_holds_each_piece_once_where_the_swizzle_puts_it(mode: SwizzleMode) -> None:
    picture = SwizzlePicture(mode)
    swizzle, unit = mode.swizzle or Swizzle(0, 4, 3), picture.unit_bytes
    for line, row in enumerate(picture.lines()):
        assert sorted(row) == list(range(128 // unit))
        for place, piece in enumerate(row):
            assert swizzle(128 * line + unit * piece) == 128 * line + unit * place
    assert " ".join("".join(map(str, row)) for row in picture.lines()[:4]) == LINES[str(mode)]


@pytest.mark.parametrize("mode", SwizzleMode)
def test_the_rows_of_an_atom_fill_its_lines(mode: SwizzleMode) -> None:
    rows = SwizzlePicture(mode).rows()
    names = [name for row in rows for name in row]
    assert sorted(names) == sorted(f"CM{m}R{n}" for m in range(mode.span_bytes // 16) for n in range(8))


def test_tables_of_core_matrices_as_they_are_published() -> None:
    assert SwizzlePicture(SwizzleMode.B32).rows()[1] == (
        *("CM1R4", "CM0R4", "CM1R5", "CM0R5", "CM1R6", "CM0R6", "CM1R7", "CM0R7"),
    )  # fmt: skip
    assert SwizzlePicture(SwizzleMode.B64).rows()[3] == (
        *("CM3R6", "CM2R6", "CM1R6", "CM0R6", "CM3R7", "CM2R7", "CM1R7", "CM0R7"),
    )  # fmt: skip


def test_the_ruler_names_the_bits_of_the_swizzle() -> None:
    assert SwizzlePicture(SwizzleMode.B128).bit_names() == "....YYYZZZbbbb"
    assert SwizzlePicture(SwizzleMode.B128_BASE32B).bit_names() == ".....YYZZbbbbb"
    assert SwizzlePicture(SwizzleMode.NONE).bit_names() == "..........bbbb"


@pytest.mark.parametrize(
    "swizzle", [Swizzle(3, 4, 4), Swizzle(2, 3, 2), Swizzle(1, 2, 1), Swizzle(2, 4, -3), Swizzle(2, 6, 4)]
)
def test_any_swizzle_has_its_lines(swizzle: Swizzle) -> None:
    one = SwizzlePicture(swizzle)
    unit, long = 1 << swizzle.base, one.line_bytes
    count = long // unit
    for line, row in enumerate(one.lines()):
        for place, piece in enumerate(row):
            if piece >= 0:
                source = piece * unit if swizzle.shift < 0 else line * long + piece * unit
                assert swizzle(source) == line * long + place * unit
    moved = {piece for row in one.lines() for piece in row}
    assert len(moved - {-1}) == (
        count if swizzle.shift > 0 else sum(piece >= 0 for row in one.lines() for piece in row)
    )
    assert picture(swizzle) == one


def test_core_matrices_lie_in_order_without_the_swizzle() -> None:
    one = SwizzlePicture(Swizzle(3, 4, 4))
    before = [name for row in one.rows(swizzled=False) for name in row]
    assert before == [f"CM{m}R{n}" for n in range(8) for m in range(8)]
    assert sorted(name for row in one.rows() for name in row if name) == sorted(before)
    assert SwizzlePicture(Swizzle(2, 3, 2)).rows() == ()


def test_the_command_draws_any_swizzle(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", "swizzle", "--swizzle", "Swizzle<3,4,4>"]) == 0
    assert ". . . Y Y Y . Z Z Z b b b b" in capsys.readouterr().out
    with pytest.raises(DescriptorError, match="at most 16 pieces"):
        SwizzlePicture(Swizzle(5, 4, 6)).scene()
