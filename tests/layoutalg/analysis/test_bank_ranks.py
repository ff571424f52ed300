"""Wavefronts by rank: those of the bank model, counted address by address."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from layoutalg import LayoutError, Swizzle
from layoutalg.analysis.banks import access, wavefronts
from layoutalg.analysis.f2_layouts import to_f2
from layoutalg.analysis.f2_matrix import F2Matrix
from layoutalg.analysis.swizzle_search import conflicts_by_rank, wavefronts_by_rank


@st.composite
def linear_accesses(draw: Any, bits: int = 12) -> tuple[F2Matrix, int, bool]:
    """A matrix from lanes to aligned addresses, the bytes of an access, and whether it is a store."""
    width = draw(st.sampled_from((1, 2, 4, 8, 16)))
    top = (1 << bits) // width
    one = st.one_of(st.integers(0, top - 1), st.sampled_from((0, *(1 << b for b in range(top.bit_length() - 1)))))
    columns = draw(st.lists(one, max_size=5))
    return F2Matrix([column * width for column in columns], bits), width, draw(st.booleans())


@given(linear_accesses(), st.integers(0, 255), st.sampled_from([(32, 4), (32, 4), (16, 4), (8, 8), (2, 4), (1, 2)]))
def test_wavefronts_by_rank_are_wavefronts_by_enumeration(linear, constant, memory):
    matrix, width, store = linear
    lanes = [matrix(lane) ^ constant * width for lane in range(1 << len(matrix.columns))]
    enumerated = access(lanes, width, *memory, store=store)
    assert wavefronts_by_rank(matrix, width, *memory, store=store) == enumerated.wavefronts
    assert conflicts_by_rank(matrix, width, *memory, store=store) == enumerated.conflicts


@given(linear_accesses(), st.sampled_from([Swizzle(3, 4, 3), Swizzle(2, 4, 3), Swizzle(1, 4, 3), Swizzle(2, 5, 2)]))
def test_a_swizzle_of_the_addresses_multiplies_the_matrix(linear, swizzle):
    matrix, width, store = linear
    lanes = [swizzle(matrix(lane)) for lane in range(1 << len(matrix.columns))]
    product = to_f2(swizzle, matrix.rows) @ matrix
    assert wavefronts_by_rank(product, width, store=store) == wavefronts(lanes, width, store=store)


@pytest.mark.parametrize(
    ("matrix", "arguments"),
    [
        (F2Matrix((4,)), (3,)),
        (F2Matrix((32,)), (32,)),
        (F2Matrix((4,)), (8,)),
        (F2Matrix((4,)), (4, 31)),
        (F2Matrix((4,)), (4, 32, 3)),
        (F2Matrix((4,)), (4, 0)),
        (F2Matrix([4 << bit for bit in range(6)]), (4,)),
    ],
)
def test_what_ranks_cannot_answer_is_a_typed_error(matrix, arguments):
    with pytest.raises(LayoutError, match="banks: "):
        wavefronts_by_rank(matrix, *arguments)
