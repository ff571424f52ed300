"""The oracle's own reader of CuTe notation: what is read is written as it was, as `layoutalg` writes it too."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from strategies import any_layouts

from layoutalg.oracle.service import Affine, Composed, Swizzling, read, write


@given(any_layouts)
def test_what_layoutalg_writes_is_read_and_written_as_it_was(layout: Any) -> None:
    assert write(read(str(layout))) == str(layout)


@given(any_layouts)
def test_the_parts_that_are_read_are_those_of_the_layout(layout: Any) -> None:
    term = read(str(layout))
    if isinstance(term, Composed):
        assert isinstance(term.outer, Swizzling)
        assert (term.outer.bits, term.outer.base, term.outer.shift) == (
            layout.outer.bits, layout.outer.base, layout.outer.shift,
        )  # fmt: skip
        assert term.offset == layout.offset
        term, layout = term.inner, layout.inner
    assert isinstance(term, Affine)
    assert (term.shape, term.stride) == (layout.shape, layout.stride)


@pytest.mark.parametrize("text", ["", "8", "(8,4):(1,8", "8:1 o", "(8, 4):(1, 8)", "_8:_1", "S<1,2>", "8:1:2"])
def test_what_the_dsl_does_not_print_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read(text)
