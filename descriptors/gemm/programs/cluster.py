"""The parts of a program for sm90 that a cluster changes: who copies what for whom, and whom a free stage is told to.

Each CTA copies its share of the boxes to every CTA that needs them; so before it fills a stage again, it waits for the
warps of all of those, and they arrive at its barrier from afar.

Law: without a cluster nothing of it is in the text.

>>> parts = texts((1, 1))
>>> [name for name, text in parts.items() if "cluster_sync" in text or "mapa" in text or "multicast" in text]
[]
"""

from __future__ import annotations

import re


def texts(cluster: tuple[int, int], *, sparse: bool = False) -> dict[str, str]:
    """What stands at each place of the template.

    Args:
        cluster: CTAs along M and along N.
        sparse: whether A has half of K.

    >>> "multicast::cluster" in texts((2, 1))["copy_box"]
    True
    """
    many = cluster != (1, 1)
    return {
        "copy_box": (f"{_SENT}\n{_TOGETHER}" if many else _COPIED).removesuffix("\n"),
        "copies": "\n".join(
            _boxes(name, mn, cluster, sparse and name == "A") for name, mn in (("A", "row"), ("B", "column"))
        ),
        "first": "blockIdx.x / CTAS" if many else "blockIdx.x",
        "stride": "gridDim.x / CTAS" if many else "gridDim.x",
        "own_tile": _OWN_TILE if many else "",
        "masks": _MASKS if many else "",
        "tile_m": "SPAN_M" if many else "TILE_M",
        "tile_n": "SPAN_N" if many else "TILE_N",
        "arrivals": "4 * WARPGROUPS * PEERS" if many else "4 * WARPGROUPS",
        "attribute": " __cluster_dims__(CTAS, 1, 1)" if many else "",
        "all_there": "cluster_sync();" if many else "__syncthreads();",
        "before_the_end": _END if many else "",
        "blocks": _CLUSTERS if many else "const int blocks = tiles < processors ? tiles : processors;",
    }


def constants(cluster: tuple[int, int]) -> list[str]:
    """What the plan says of a cluster; nothing of none."""
    if cluster == (1, 1):
        return []
    return [
        f"constexpr int CLUSTER_M = {cluster[0]}, CLUSTER_N = {cluster[1]}, CTAS = CLUSTER_M * CLUSTER_N;",
        "constexpr int SPAN_M = TILE_M * CLUSTER_M, SPAN_N = TILE_N * CLUSTER_N;  // of the tiles of a cluster",
        "constexpr int PEERS = CLUSTER_M + CLUSTER_N - 1;  // that take copies from a CTA, itself among them",
    ]


def release_statement(stage: str, cluster: tuple[int, int], when: str = "") -> str:
    """The statement by which a warp says that it has read a stage.

    >>> release_statement("stage", (1, 1))
    'if (thread % 32 == 0) barrier_arrive(base + BARRIERS + 8 * (STAGES + stage));'
    """
    barrier = f"base + BARRIERS + 8 * (STAGES + {stage})"
    if cluster == (1, 1):
        return f"if ({when}{' && ' if when else ''}thread % 32 == 0) barrier_arrive({barrier});"
    return f"{f'if ({when}) ' if when else ''}release({barrier}, thread);"


def _boxes(name: str, mn: str, cluster: tuple[int, int], halved: bool) -> str:
    low, size, depth = name.lower(), "M" if name == "A" else "N", "(TILE_K / 2)" if halved else "TILE_K"
    body = (
        f"        const int mn = {mn} * TILE_{size} + {low}_box_mn(box), k = step * {depth} + {low}_box_k(box);\n"
        f"        copy_box(base + {name}_BASE + stage * {name}_STAGE_BYTES + {low}_box_at(box), map_{low}, "
        f"{name}_MN_MAJOR ? mn : k, {name}_MN_MAJOR ? k : mn,\n                 $full);\n"
    )
    return box_loop(name, body, cluster)


def box_loop(name: str, body: str, cluster: tuple[int, int]) -> str:
    """The loop over the boxes of an operand that a CTA copies.

    Args:
        name: ``A`` or ``B``.
        body: its statements; ``$full`` is the barrier, and of a cluster the mask.
        cluster: CTAs along M and along N.
    """
    if cluster == (1, 1):
        head = (
            f"#pragma unroll({name}_BOXES <= 4 ? {name}_BOXES : 1)\n"
            f"      for (int box = 0; box < {name}_BOXES; ++box) {{\n"
        )
        return head + body.replace("$full", "full") + "      }"
    share = f"{name}_BOXES / CLUSTER_{'N' if name == 'A' else 'M'}"
    head = (
        f"      for (int i = 0; i < {share}; ++i) {{\n"
        f"        const int box = rank {'/' if name == 'A' else '%'} CLUSTER_M * ({share}) + i;\n"
    )
    return head + body.replace("$full", f"full, {name.lower()}_mask") + "      }"


def copy_functions(text: str, cluster: tuple[int, int]) -> str:
    """Functions that copy, and what else a cluster needs.

    Args:
        text: of functions whose ``$parameter``, ``$multicast``, ``$mask_...`` and ``$input`` are those of a multicast.
        cluster: CTAs along M and along N.
    """
    many = cluster != (1, 1)
    values = [r"(\$mask_)(\d)", r", %\2" if many else ""], [r"\$parameter", ", uint32_t mask" if many else ""]
    more = ([r"\$multicast", ".multicast::cluster" if many else ""],
            [r"\$input", ', "h"(static_cast<uint16_t>(mask))' if many else ""])  # fmt: skip
    for pattern, value in (*values, *more):
        text = re.sub(pattern, value, text)
    return f"{text}\n{_TOGETHER}" if many else text


_COPIED = """\
__device__ __forceinline__ void copy_box(uint32_t to, const CUtensorMap* map, int inner, int outer, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(inner), "r"(outer), "r"(barrier)
      : "memory");
}
"""
_SENT = """\
// To the same place of every CTA of the mask, and to the barrier there.
__device__ __forceinline__ void copy_box(uint32_t to, const CUtensorMap* map, int inner, int outer, uint32_t barrier,
                                         uint32_t mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(inner), "r"(outer), "r"(barrier), "h"(static_cast<uint16_t>(mask))
      : "memory");
}
"""
_TOGETHER = """\
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

// A warp arrives at this barrier in every CTA that copies to this one: those of its row, and those of its column. What
// it has read is in registers or multiplied, so the arrival need order nothing at cluster scope: that would be a membar
// for each, and took a third to two thirds of the speed.
__device__ __forceinline__ void release(uint32_t barrier, int thread) {
  const int lane = thread % 32, rank = blockIdx.x % CTAS, x = rank % CLUSTER_M, y = rank / CLUSTER_M;
  const int other = lane - CLUSTER_N + (lane - CLUSTER_N >= x);
  const int peer = lane < CLUSTER_N ? x + CLUSTER_M * lane : other + CLUSTER_M * y;
  if (lane < PEERS)
    asm volatile(
        "{\\n"
        ".reg .b32 there;\\n"
        "mapa.shared::cluster.u32 there, %0, %1;\\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\\n"
        "}\\n" ::"r"(barrier),
        "r"(peer)
        : "memory");
}
"""
_OWN_TILE = """\
    const int rank = blockIdx.x % CTAS;
    row = row * CLUSTER_M + rank % CLUSTER_M;
    column = column * CLUSTER_N + rank / CLUSTER_M;
"""
_MASKS = """\
    const uint32_t a_mask = ((1 << CTAS) - 1) / ((1 << CLUSTER_M) - 1) << rank % CLUSTER_M;
    const uint32_t b_mask = ((1 << CLUSTER_M) - 1) << rank / CLUSTER_M * CLUSTER_M;
"""
_END = """\
  // No CTA ends while another may still copy to it, or arrive at its barriers.
  cluster_sync();
"""
_CLUSTERS = "const int blocks = CTAS * (tiles < processors / CTAS ? tiles : processors / CTAS);"
