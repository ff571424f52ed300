"""Tokens of the notation: each where it stands in the text, and no sign of the text without one."""

import re

import pytest
from hypothesis import given
from strategies import any_layouts

from layoutalg import NotationError
from layoutalg.notation.tokens import tokenize


@given(any_layouts)
def test_each_token_stands_at_its_position_and_together_they_are_the_text(layout):
    text = f" {layout} "
    tokens = tokenize(text)
    assert "".join(token.text for token in tokens) == text.replace(" ", "")
    assert all(text.startswith(token.text, token.position) for token in tokens)
    assert [token.position for token in tokens] == sorted(token.position for token in tokens)


@given(any_layouts)
def test_the_numbers_of_a_layout_are_its_integer_tokens(layout):
    numbers = [int(token.text) for token in tokenize(str(layout)) if token.kind == "int"]
    assert numbers == [int(number) for number in re.findall(r"-?\d+", str(layout))]


@pytest.mark.parametrize(("text", "position"), [("8:1 ;", 4), ("(8,4)$", 5), ("#8", 0)])
def test_a_sign_that_is_in_no_notation_is_pointed_at(text, position):
    with pytest.raises(NotationError) as caught:
        tokenize(text)
    assert caught.value.position == position
