"""Copies that a cluster shares: cut, dealt out, and proved with the product as any others."""

from __future__ import annotations

from itertools import product

import pytest
from each import each

from descriptors import DescriptorError, plan
from descriptors.gemm.multicast import as_cluster, masks
from descriptors.gemm.schedule import traffic

CLUSTERS = [(2, 1), (1, 2), (2, 2), (4, 1), (1, 4), (4, 2), (8, 1)]


@each("cluster", CLUSTERS)
@each("majors", ["KK", "KM", "MM"])
def test_the_shares_of_all_ctas_are_the_tile(cluster: tuple[int, int], majors: str) -> None:
    a_major, b_major = ("MN" if one == "M" else "K" for one in majors)
    arguments = {"tile": (128, 128, 64), "stages": 2, "a_major": a_major, "b_major": b_major, "arch": "sm90"}
    alone, loop_plan = (plan("m64n128k16", "bf16", cluster=one, **arguments) for one in (None, cluster))  # type: ignore[arg-type]
    for side, whole, ctas in ((loop_plan.a, alone.a, cluster[1]), (loop_plan.b, alone.b, cluster[0])):
        assert (side.ctas, side.own_boxes * ctas) == (ctas, len(side.boxes))
        assert side.transaction_bytes == whole.transaction_bytes
        places = sorted(box.offset_bytes for box in side.boxes)
        assert places == [i * side.tma.box_bytes for i in range(len(places))]
        assert all(place % 128 == 0 for place in places)
    shared = traffic(loop_plan)
    assert shared.copied_bytes == 16384 // cluster[1] + 16384 // cluster[0]
    assert shared.read_bytes == traffic(alone).read_bytes


@each("cluster", [(1, 1), *CLUSTERS, (2, 4), (3, 2)])
def test_a_mask_names_the_ctas_that_work_on_the_same_rows(cluster: tuple[int, int]) -> None:
    ctas = {x + cluster[0] * y: (x, y) for x, y in product(range(cluster[0]), range(cluster[1]))}
    for index, name in enumerate("AB"):
        for at, mask in enumerate(masks("A" if name == "A" else "B", cluster)):
            named = {place for rank, place in ctas.items() if mask >> rank & 1}
            assert named == {place for place in ctas.values() if place[index] == at}
            assert mask >> len(ctas) == 0


def test_a_cut_that_no_box_allows_is_refused_with_the_way_out() -> None:
    with pytest.raises(DescriptorError, match=r"8 CTAs cannot share the copies of B evenly; a box of 2.* with 8 steps"):
        plan("m64n8k16", "bf16", tile=(64, 8, 16), stages=1, cluster=(8, 1))


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        ((3,), r"the cluster is \(3,\), not CTAs along M x CTAs along N"),
        ((0, 1), r"the cluster is \(0, 1\), not CTAs along M x CTAs along N"),
        ((4, 4), "the cluster 4x4 has 16 CTAs, more than the 8 that every GPU supports"),
        ("2x1", "the cluster is '2x1', not CTAs along M x CTAs along N"),
    ],
)
def test_a_cluster_is_two_numbers(cluster: object, said: str) -> None:
    with pytest.raises(DescriptorError, match=said):
        as_cluster(cluster, 1)  # type: ignore[arg-type]


def test_a_pair_is_a_cluster_of_its_own() -> None:
    with pytest.raises(
        DescriptorError,
        match=r"cluster 2x1 is not supported with cta_group 2; the pair of CTAs is the cluster.*use cluster=None",
    ):
        plan("m256n64k16", "bf16", tile=(256, 64, 64), cta_group=2, cluster=(2, 1))
