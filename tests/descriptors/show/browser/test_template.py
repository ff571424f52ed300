"""Places of a text are filled in once, and a place without a part is noticed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptors.show.browser.folder import fill_template


@given(st.text(), st.text())
def test_parts_stand_in_their_places_whatever_they_hold(one: str, two: str) -> None:
    assert fill_template("a{{x}}b{{y}}{{x}}c", {"x": one, "y": two, "z": "none"}) == f"a{one}b{two}{one}c"


def test_a_place_without_a_part_is_no_page() -> None:
    with pytest.raises(KeyError, match="roof"):
        fill_template("{{roof}}", {"floor": ""})
