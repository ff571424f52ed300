"""Faults of the emitted ring of stages: one step of its protocol spoilt, each as a change of the program's text.

The programs are those of ``descriptors plan --emit cuda``; a change is looked for in them, and must be there once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from descriptors import plan
from descriptors.gemm.programs.sm90_kernel import kernel

#: The plans whose programs are spoilt.
PLANS: dict[str, dict[str, Any]] = {
    "ring": {"stages": 4},
    "cluster": {"stages": 4, "cluster": (2, 1)},
}


#: The boxes of the tensor maps of A and B of each plan.
BOXES = {"ring": {"0": "64x128xbf16", "1": "64x128xbf16"}, "cluster": {"0": "64x128xbf16", "1": "64x64xbf16"}}


class Fault(NamedTuple):
    """One change.

    Args:
        name: what it is called.
        plan: of which of :data:`PLANS`.
        what: in words.
        changes: texts and what stands in their place; each text is there once.
    """

    name: str
    plan: str
    what: str
    changes: tuple[tuple[str, str], ...] = ()


_FULL = "const uint32_t full = base + BARRIERS + 8 * stage;\n      barrier_wait(full, parity);"
_EMPTY = "barrier_wait(full + 8 * STAGES, parity);"
_LATE = "if (before >= 0) free_stage(base, before, thread);"
_LOOP_ARRIVAL = f"{_LATE}\n      before = stage;"
_LAST_ARRIVAL = f"{_LATE}\n    int row, column;"
_EXPECT = "barrier_expect(full, STAGE_BYTES);"
_WAIT_1 = 'asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");'
_WAIT_0 = 'asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");'
_FULL_INIT = "barrier_init(base + BARRIERS + 8 * stage, 1);"
_EMPTY_INIT = "barrier_init(base + BARRIERS + 8 * (STAGES + stage), 4 * WARPGROUPS"
_CONSUMER = "uint32_t parity = 0;"
_OWN_ARRIVAL = "free_stage(base, stage, thread);"
_NEXT = "if (++stage == STAGES) stage = 0, parity ^= 1;\n    }\n  }\n}"
_TURN = "stage = 0, parity ^= 1;\n    }\n    asm"
_ROUNDS = "int before = -1;\n    for (int step = 0; step < steps; ++step)"
_B_STAGE = "base + B_BASE + stage * B_STAGE_BYTES + b_box_at"
_B_MASK = "const uint32_t b_mask = ((1 << CLUSTER_M) - 1) << rank / CLUSTER_M * CLUSTER_M;"
_END = "cluster_sync();\n}\n"

FAULTS = (
    Fault("right", "ring", "nothing"),
    Fault("full-wait", "ring", "no wait for a stage to be full", ((_FULL, _FULL.split("\n")[0]),)),
    Fault(
        "full-wait-late",
        "ring",
        "the wait for a stage to be full comes after its multiplications",
        ((_FULL, _FULL.split("\n")[0]), (_WAIT_1, f"barrier_wait(full, parity);\n      {_WAIT_1}")),
    ),
    Fault("empty-wait", "ring", "no wait for a stage to be empty", ((_EMPTY, ""),)),
    Fault(
        "empty-wait-late",
        "ring",
        "the wait for a stage to be empty comes after its copies",
        ((_EMPTY, ""), (_NEXT, f"barrier_wait(full + 8 * STAGES, parity);\n      {_NEXT}")),
    ),
    Fault("bytes-halved", "ring", "half the bytes expected", ((_EXPECT, "barrier_expect(full, STAGE_BYTES / 2);"),)),
    Fault("bytes-doubled", "ring", "twice the bytes expected", ((_EXPECT, "barrier_expect(full, STAGE_BYTES * 2);"),)),
    Fault("bytes-gone", "ring", "an arrival that expects no bytes", ((_EXPECT, "barrier_arrive(full);"),)),
    Fault("expected-twice", "ring", "bytes expected twice, so two arrivals", ((_EXPECT, _EXPECT * 2),)),
    Fault("copy-gone", "ring", "B is not copied", (("box < B_BOXES; ++box", "box < 0; ++box"),)),
    Fault(
        "copy-in-next",
        "ring",
        "B is copied into the next stage",
        ((_B_STAGE, _B_STAGE.replace("stage *", "(stage + 1) % STAGES *")),),
    ),
    Fault("full-count", "ring", "the full barrier counts 2", ((_FULL_INIT, _FULL_INIT.replace("1)", "2)")),)),
    Fault("empty-count-more", "ring", "the empty barrier counts one warp more", ((_EMPTY_INIT, f"{_EMPTY_INIT} + 1"),)),
    Fault(
        "empty-count-half", "ring", "the empty barrier counts half the warps", ((_EMPTY_INIT, f"{_EMPTY_INIT} / 2"),)
    ),
    Fault("init-gone", "ring", "the empty barriers are not initialised", ((f"{_EMPTY_INIT});", ""),)),
    Fault("init-unseen", "ring", "no __syncthreads after the barriers' init", (("__syncthreads();", ""),)),
    Fault(
        "arrival-gone",
        "ring",
        "no stage is released",
        ((_LOOP_ARRIVAL, "before = stage;"), (_LAST_ARRIVAL, "int row, column;")),
    ),
    Fault(
        "last-arrival-gone", "ring", "the last stage of a tile is not released", ((_LAST_ARRIVAL, "int row, column;"),)
    ),
    Fault(
        "released-early",
        "ring",
        "a stage is released while it is read",
        ((_LOOP_ARRIVAL, f"{_OWN_ARRIVAL}\n      before = stage;"), (_LAST_ARRIVAL, "int row, column;")),
    ),
    Fault("wait-gone", "ring", "no wait for the multiplications before a stage is released", ((_WAIT_1, ""),)),
    Fault("last-wait-gone", "ring", "no wait for the multiplications before the result is stored", ((_WAIT_0, ""),)),
    Fault(
        "parity-constant",
        "ring",
        "the consumer never flips the parity that it waits for",
        ((_CONSUMER, f"const {_CONSUMER}"), (_TURN, _TURN.replace(", parity ^= 1", ""))),
    ),
    Fault(
        "parity-turned",
        "ring",
        "the producer starts with the other parity",
        (("uint32_t parity = 1;", "uint32_t parity = 0;"),),
    ),
    Fault(
        "round-more",
        "ring",
        "the consumer runs one iteration more than the producer",
        ((_ROUNDS, _ROUNDS.replace("< steps", "< steps + 1")),),
    ),
    Fault("right-cluster", "cluster", "nothing, in clusters of two CTAs"),
    Fault(
        "cluster-init-unseen",
        "cluster",
        "no cluster barrier after the init",
        (("  cluster_sync();\n  if", "  __syncthreads();\n  if"),),
    ),
    Fault("cluster-end", "cluster", "a CTA ends while another still arrives at it", ((_END, "}\n"),)),
    Fault(
        "cluster-count",
        "cluster",
        "the empty barrier counts only the arrivals of its own CTA",
        (("4 * WARPGROUPS * PEERS", "4 * WARPGROUPS"),),
    ),
    Fault(
        "cluster-own-release",
        "cluster",
        "a stage is released only in the own CTA",
        (("mapa.shared::cluster.u32 there, %0, %1;", "mov.b32 there, %0;"),),
    ),
    Fault(
        "cluster-mask",
        "cluster",
        "B is copied only to the own CTA",
        ((_B_MASK, "const uint32_t b_mask = 1 << rank;"),),
    ),
)


def source(fault: Fault) -> str:
    """The emitted program with the fault in it.

    Raises:
        RuntimeError: if a text that is changed is not there once.
    """
    text = kernel(plan("m64n128k16", "bf16", tile=(128, 128, 64), arch="sm90", verify=False, **PLANS[fault.plan]))
    for old, new in fault.changes:
        if text.count(old) != 1:
            raise RuntimeError(
                f"faults: {fault.name}: what it changes must be there once, found {text.count(old)}: {old}"
            )
        text = text.replace(old, new)
    return text
