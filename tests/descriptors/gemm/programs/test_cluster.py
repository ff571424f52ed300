"""A program of a cluster: who copies what, to whom, and who waits for whom."""

from __future__ import annotations

import re
from itertools import product

import pytest

from descriptors import plan
from descriptors.gemm.multicast import masks
from descriptors.gemm.plan import Plan
from descriptors.gemm.programs.sm90_kernel import kernel

CLUSTERS = [(2, 1), (1, 2), (2, 2), (4, 1), (1, 4), (2, 4), (4, 2), (3, 1)]


def value(text: str, **names: int) -> int:
    """What a C expression is; integers are not negative where it divides."""
    return int(eval(text.replace("/", "//"), names))  # noqa: S307  # our own text


def named(text: str, name: str) -> str:
    match = re.search(rf"\b{name} = (.*?)(?:, \w+ =|;)", text)
    assert match is not None, name
    return match[1]


def planned(cluster: tuple[int, int]) -> Plan:
    """A plan of a cluster."""
    tile = (192, 192, 64) if 3 in cluster else (128, 128, 64)
    return plan("m64n64k16", "bf16", tile=tile, stages=2, cluster=cluster, arch="sm90", verify=False)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_masks_are_those_of_the_plan(cluster: tuple[int, int]) -> None:
    masks_text = kernel(planned(cluster))
    constants = {"CLUSTER_M": cluster[0], "CLUSTER_N": cluster[1], "CTAS": cluster[0] * cluster[1]}
    for x, y in product(*map(range, cluster)):
        rank = x + cluster[0] * y
        assert value(named(masks_text, "a_mask"), rank=rank, **constants) == masks("A", cluster)[x]
        assert value(named(masks_text, "b_mask"), rank=rank, **constants) == masks("B", cluster)[y]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_warp_arrives_once_at_every_cta_that_copies_to_its_own(cluster: tuple[int, int]) -> None:
    text = kernel(planned(cluster))
    other = named(text, "other").replace("(lane - CLUSTER_N >= x)", "int(lane - CLUSTER_N >= x)")
    near, far = re.search(r"peer = lane < CLUSTER_N \? (.*?) : (.*?);", text).groups()  # type: ignore[union-attr]
    sizes = {"CLUSTER_M": cluster[0], "CLUSTER_N": cluster[1]}
    for x, y in product(*map(range, cluster)):
        arrived = []
        for lane in range(sum(cluster) - 1):
            skipped = value(other, lane=lane, x=x, int=int, **sizes)  # type: ignore[arg-type]
            arrived.append(value(near if lane < cluster[1] else far, lane=lane, x=x, y=y, other=skipped, **sizes))
        senders = [p + cluster[0] * q for p, q in product(*map(range, cluster)) if p == x or q == y]
        assert sorted(arrived) == sorted(senders)


@pytest.mark.parametrize("cluster", CLUSTERS[:4])
def test_the_boxes_of_all_ctas_are_those_of_the_stage(cluster: tuple[int, int]) -> None:
    loop_plan = planned(cluster)
    text = kernel(loop_plan)
    constants = {"CLUSTER_M": cluster[0], "CLUSTER_N": cluster[1]}
    for side, same in ((loop_plan.a, 0), (loop_plan.b, 1)):
        name = side.matrix
        share, box = re.search(  # type: ignore[union-attr]
            rf"i < ({name}_BOXES / CLUSTER_\w); \+\+i\) {{\n\s+const int box = (.*?);", text
        ).groups()
        constants[f"{name}_BOXES"] = len(side.boxes)
        for row in range(cluster[same]):
            ranks = [x + cluster[0] * y for x, y in product(*map(range, cluster)) if (x, y)[same] == row]
            issued = [
                value(box, rank=rank, i=i, **constants) for rank in ranks for i in range(value(share, **constants))
            ]
            assert sorted(issued) == list(range(len(side.boxes)))


def test_a_program_without_a_cluster_has_nothing_of_one() -> None:
    alone = kernel(planned((1, 1)))
    assert "CTAS = 1;" in alone
    assert not re.search(r"CLUSTER|PEERS|multicast|mapa|cluster_sync|rank", alone)
