"""The line that is handed in: read as it was made, whatever a word processor does to it, and no slip is overlooked."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from descriptors.course.progress import Receipt, read_receipt
from descriptors.errors import DescriptorError

NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters=";"), min_size=1, max_size=20
)
SOLVED = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 12)).map(lambda at: f"{at[0]}.{at[1]}"), max_size=40)
LINE = str(Receipt("Ada Löwe 4711", ("1.1", "1.2", "1.3", "5.2", "12.1")))


@given(NAMES, SOLVED)
def test_a_line_is_read_as_it_was_made(name: str, solved: list[str]) -> None:
    receipt = Receipt(name, tuple(solved))
    assert read_receipt(str(receipt)) == receipt
    assert set(receipt.solved) == set(solved) and len(str(receipt).splitlines()) == 1


@given(st.integers(0, len(LINE) - 1), st.sampled_from("0123456789abcXYZ -.;"))
def test_one_sign_changed_is_noticed(place: int, sign: str) -> None:
    slip = LINE[:place] + sign + LINE[place + 1 :]
    try:
        receipt = read_receipt(slip)
    except DescriptorError as error:
        assert "\n" not in str(error)
    else:
        assert (receipt.name.casefold(), receipt.solved) == ("ada löwe 4711", read_receipt(LINE).solved)


@pytest.mark.parametrize(
    "changed",
    [
        LINE.lower(),
        f"  4711,{LINE} , 2026",
        LINE.replace("-", "\u2013"),
        LINE.replace(" ", "\u00a0"),
        LINE.replace("ö", "o\u0308"),
        f'"{LINE}"',
        LINE[:-9] + LINE[-9:].replace("0", "O").replace("1", "l").replace("-", " "),
    ],
)
def test_what_programs_and_hands_do_to_a_line_is_taken_back(changed: str) -> None:
    assert read_receipt(changed).solved == ("1.1", "1.2", "1.3", "5.2", "12.1")


@pytest.mark.parametrize(
    "other", [LINE.replace("4711", "4712"), LINE.replace("5.2", "5.2-4"), LINE.replace("1.1-3 ", "")]
)
def test_another_name_or_more_exercises_are_noticed(other: str) -> None:
    assert other != LINE
    with pytest.raises(DescriptorError, match="does not belong to this name and these exercises"):
        read_receipt(other)


@pytest.mark.parametrize(
    "text", ["", "Ada 1.1", "layoutalg-1; Ada; 1.1", "layoutalg-1; Ada; one; 0000-0000", "\x00" * 99]
)
def test_what_is_no_line_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(DescriptorError) as refusal:
        read_receipt(text)
    assert len(str(refusal.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["", "  ", "a;b", "x" * 61, "\x07"])
def test_a_name_that_would_break_the_line_is_refused(name: str) -> None:
    with pytest.raises(DescriptorError, match="is not 1 to 60 characters on one line"):
        Receipt(name, ())


@given(NAMES, NAMES)
def test_two_names_have_two_checksums(one: str, other: str) -> None:
    assume(Receipt(one, ()).name.casefold() != Receipt(other, ()).name.casefold())
    assert Receipt(one, ("1.1",)).checksum != Receipt(other, ("1.1",)).checksum
