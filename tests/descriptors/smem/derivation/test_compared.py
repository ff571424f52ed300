"""The comparison in plain Python against that by arrays: the same elements, in the same order."""

from __future__ import annotations

import dataclasses
import sys

import pytest
from derived import K_128, MN_64, derivations
from hypothesis import given
from hypothesis import strategies as st

from descriptors import derive, verify
from descriptors.errors import DescriptorError
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.verify import Report
from layoutalg import Layout


def plainly(d: Derivation, **bases: tuple[int, ...]) -> Report:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["descriptors.smem.derivation.verify"], "arrays_pay", lambda elements: False)
        return verify(d, **bases)


@given(d=derivations(), field=st.sampled_from(["stride_byte_offset", "leading_byte_offset", "base_offset"]))
def test_a_wrong_field_gives_the_same_report(d: Derivation, field: str) -> None:
    wrong = 3 if field == "base_offset" else getattr(d.descriptor, field) + 16
    changed = dataclasses.replace(d, descriptor=dataclasses.replace(d.descriptor, **{field: wrong}))
    for one in (d, changed):
        assert plainly(one, bases=(0, 2048)) == verify(one, bases=(0, 2048))


@pytest.mark.parametrize("tile", [(2048, 1024), (64, 16384)])
def test_what_words_can_name_of_a_tile_of_any_size_is_compared(tile: tuple[int, int]) -> None:
    d = derive(**{**K_128, "tile": tile, "capacity": None, "verify": False})
    report = plainly(d)
    assert report == verify(d)
    assert report.ok and report.beyond


def test_stages_are_compared_each_with_its_words() -> None:
    d = derive(**{**MN_64, "tile": (128, 64, 3), "order": (1, 0, 2)}, verify=False)
    assert str(plainly(d)) == "proved: 24576 elements in 24 subtiles"
    assert isinstance(d.advance, Layout) and isinstance(d.advance.stride, tuple)
    late = dataclasses.replace(d, advance=Layout(d.advance.shape, (*d.advance.stride[:2], (0, 256))))
    assert not verify(late).ok
    assert plainly(late).mismatches == verify(late).mismatches
    assert {one.subtile[2] for one in plainly(late).mismatches} <= {1, 2}


def test_a_missing_word_is_refused() -> None:
    d = derive(**K_128, verify=False)
    fewer = dataclasses.replace(d, smem_tile=derive(**{**K_128, "tile": (64, 128)}, verify=False).smem_tile)
    with pytest.raises(DescriptorError, match="a word must stand for each operand, found 16 words"):
        plainly(fewer)
