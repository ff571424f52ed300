"""Coordinates: the index and the coordinate undo one another, and what lies outside the shape is refused."""

from __future__ import annotations

import corpus
import judge
import pytest
from hypothesis import given
from strategies import drawn, shapes

from layoutalg import CoordinateError, LayoutError, crd2idx, idx2crd
from layoutalg.tuples.int_tuple import congruent, weakly_congruent


@given(shapes)
def test_idx2crd_counts_the_coordinates_colexicographically_and_crd2idx_undoes_it(shape):
    coordinates = [idx2crd(index, shape) for index in range(judge.count(shape))]
    assert all(congruent(coordinate, shape) for coordinate in coordinates)
    assert [judge.rank_of(coordinate, shape) for coordinate in coordinates] == list(range(len(coordinates)))
    assert [crd2idx(coordinate, shape) for coordinate in coordinates] == list(range(len(coordinates)))


@given(drawn(lambda source: (lambda shape: (shape, corpus.coordinate(source, shape)))(corpus.shape(source))))
def test_every_coordinate_of_a_coarser_profile_stands_for_one_natural_coordinate(case):
    shape, coordinate = case
    natural = idx2crd(coordinate, shape)
    assert congruent(natural, shape) and weakly_congruent(coordinate, natural)
    assert crd2idx(natural, shape) == crd2idx(coordinate, shape) == judge.rank_of(coordinate, shape)


@pytest.mark.parametrize("index", [-1, 32, 10**400])
def test_an_index_outside_the_shape_is_refused(index):
    with pytest.raises(LayoutError):
        idx2crd(index, (4, 8))
    with pytest.raises(LayoutError):
        crd2idx(index, (4, 8))


@pytest.mark.parametrize("coordinate", [(0, 8), (4, 0), (0, -1), (0, 0, 0), (0,), ((0, 0), 0), "x", (0, 1.5), True])
def test_a_coordinate_that_does_not_fit_the_shape_is_refused(coordinate):
    with pytest.raises(LayoutError):
        crd2idx(coordinate, (4, 8))


def test_a_coordinate_out_of_range_is_told_apart_from_other_errors():
    with pytest.raises(CoordinateError, match=r"9 is not in \[0,8\)"):
        crd2idx((1, 9), (4, 8))
