"""Random kernels that allocate and free tensor memory, against a judge that knows nothing of the checker.

Each fault is found, at its line and once, and nothing that only follows from it.
"""

from __future__ import annotations

from random import Random

import pytest
from seeds import seeds_of

from descriptors import check_ptx

#: What a kernel does, with a slot of shared memory and a register for each allocation: instruction, slot, columns.
Steps = list[tuple[str, int, int]]
LEGAL, ILLEGAL = (32, 64, 128, 256, 512), (0, 48, 96, 576)
WORDS = "cta_group::1.sync.aligned"
#: An mbarrier, so that the kernel is executed.
HEAD = """.version 8.8
.target sm_100a
.entry k() .reqntid 32 {
.shared .b64 bar;
.shared .b32 slot0; .shared .b32 slot1; .shared .b32 slot2; .shared .b32 slot3; .shared .b32 slot4;
.reg .b32 %r<9>; .reg .pred %p;
elect.sync _|%p, -1; @%p mbarrier.init.shared.b64 [bar], 1;
"""


def steps_of(random: Random) -> Steps:
    """Allocations that are freed, with a few faults."""
    steps: Steps = []
    sizes: dict[int, int] = {}
    for slot in range(random.randint(1, 4)):
        sizes[slot] = random.choice(ILLEGAL if random.random() < 0.15 else LEGAL[:2])
        steps.append(("alloc", slot, sizes[slot]))
        for old in list(sizes):
            if random.random() < 0.4:
                size = sizes.pop(old)
                steps.append(("dealloc", old, size if random.random() < 0.8 else random.choice(LEGAL)))
        if random.random() < 0.1:
            steps.append(("relinquish_alloc_permit", 0, 0))
    steps += [("dealloc", slot, size) for slot, size in sizes.items() if random.random() < 0.9]
    if all(kind != "dealloc" for kind, _, _ in steps):
        steps.append(("dealloc", *steps[0][1:]))
    # Where columns are given again an address is the new allocation's, so the last step alone is done twice.
    if steps[-1][0] == "dealloc" and random.random() < 0.2:
        steps.append(steps[-1])
    return [*steps, ("alloc", 4, 512)] if random.random() < 0.1 else steps


def kernel(steps: Steps) -> str:
    lines = {
        "alloc": "tcgen05.alloc.{w}.shared::cta.b32 [slot{s}], {n}; ld.shared.b32 %r{s}, [slot{s}];",
        "dealloc": "tcgen05.dealloc.{w}.b32 %r{s}, {n};",
        "relinquish_alloc_permit": "tcgen05.relinquish_alloc_permit.{w};",
    }
    body = "\n".join(lines[kind].format(w=WORDS, s=slot, n=columns) for kind, slot, columns in steps)
    return f"{HEAD}{body}\nret;\n}}\n"


def judged(steps: Steps) -> set[tuple[int, str]]:
    """The faults of a kernel, each with the step that it is found at, up to an allocation that waits for ever."""
    live: dict[int, tuple[int, int]] = {}  # step and columns of the allocation of a slot
    found, least, relinquished = set(), 512, False
    for step, (kind, slot, columns) in enumerate(steps):
        if kind == "alloc":
            found |= {(step, "alloc-relinquished")} if relinquished else set()
            found |= {(step, "alloc-size")} if columns not in LEGAL else set()
            found |= {(step, "alloc-order")} if columns in LEGAL and columns > least else set()
            live[slot] = step, columns
            if columns in LEGAL and sum(size for _, size in live.values() if size in LEGAL) > 512:
                return found | {(step, "alloc-full")}
            least = min(least, columns) if columns in LEGAL else least
        elif kind == "dealloc":
            freed = live.pop(slot, (0, None))[1]
            found |= {(step, "dealloc-unknown")} if freed not in (columns, *ILLEGAL) else set()
        relinquished |= kind == "relinquish_alloc_permit"
    return found | {(step, "dealloc-missing") for step, _ in live.values()}


@pytest.mark.parametrize("seed", seeds_of("test_each_fault_of_an_allocation_is_found_once"))
def test_each_fault_of_an_allocation_is_found_once(seed: int) -> None:
    random = Random(seed)
    for _ in range(60):
        steps = steps_of(random)
        wanted = judged(steps)
        last = max((step for step, name in wanted if name == "alloc-full"), default=len(steps))
        errors = [(one.line - HEAD.count("\n") - 1, one.rule.name) for one in check_ptx(kernel(steps)).errors]
        assert sorted(one for one in errors if one[0] <= last) == sorted(
            (step, f"tcgen05-{name}") for step, name in wanted
        ), kernel(steps)


_LOAD, _STORE = (f"tcgen05.{name}.sync.aligned" for name in ("ld", "st"))
#: Uses of an allocation of 32 columns, each with the rule that it breaks.
USES = {
    "{alloc} {store} {free}": "",
    "{alloc} {free} {store}": "unallocated",
    "{alloc} {store} {free} {load}": "unallocated",
    "{alloc} {store} {beyond} {free}": "unallocated",
    "{alloc} {load} {free}": "unwritten",
    "{alloc} {store} {early} {free}": "dealloc-early",
    "{alloc} @%p {store} {free}": "aligned",
}


@pytest.mark.parametrize(("uses", "rule"), USES.items())
def test_each_fault_of_a_use_is_found_once(uses: str, rule: str) -> None:
    body = uses.format(
        alloc=f"tcgen05.alloc.{WORDS}.shared::cta.b32 [slot0], 32; ld.shared.b32 %r0, [slot0]; mov.u32 %r1, 0;\n",
        store=f"{_STORE}.32x32b.x1.b32 [%r0], {{%r1}};\ntcgen05.wait::st.sync.aligned;\n",
        load=f"{_LOAD}.32x32b.x1.b32 {{%r2}}, [%r0];\ntcgen05.wait::ld.sync.aligned;\n",
        beyond=f"{_LOAD}.32x32b.x1.b32 {{%r2}}, [%r0+40];\ntcgen05.wait::ld.sync.aligned;\n",
        early=f"{_LOAD}.32x32b.x1.b32 {{%r2}}, [%r0];\n",
        free=f"tcgen05.dealloc.{WORDS}.b32 %r0, 32;\n",
    )
    errors = [one.rule.name for one in check_ptx(f"{HEAD}{body}ret;\n}}\n").errors]
    assert errors == [f"tcgen05-{rule}"] * bool(rule)
