r"""Execute copies: ``cp.async``, bulk copies of shared memory, and the answers of ``clusterlaunchcontrol``.

A ``cp.async`` is complete when its group is waited for, and a bulk copy into shared memory when the phase of its
mbarrier ends. A bulk copy out of shared memory has read it when its group is waited for. The text does not give the
size of a tensor copy, which is the box in its tensor map; the machine gets the inferred size.

Source: PTX ISA 9.1, cp.async, cp.async.mbarrier.arrive, cp.async.bulk, cp.async.bulk.tensor, cp.reduce.async.bulk,
clusterlaunchcontrol.try_cancel, query_cancel; their completion mechanisms.

Invariant: a store over the bytes of a copy is ordered if the group of the copy was waited for.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> def violated_rules(left):
...     copy = "cp.async.ca.shared.global [s], [g], 16; cp.async.commit_group;"
...     body = f"mov.b64 g, 0; {copy} cp.async.wait_group {left}; st.shared.b32 [s], 1; ret;"
...     launch = Launch((1, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
...     machine = Machine(program(parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]), launch, execution)
...     machine.run()
...     return [witness.rule for witness in machine.notes.wrong.values()]
>>> violated_rules(0), violated_rules(1)
([], ['reuse-order'])
"""

from __future__ import annotations

from functools import lru_cache

from descriptors.check.execution.accesses import (
    BULK_COPY,
    THREAD_COPY,
    Operation,
    check_access,
    check_async_read,
    check_async_write,
    check_mask,
    runs_of,
)
from descriptors.check.execution.barrier_events import arrive_at, find_barrier, finish_arrival
from descriptors.check.execution.fragment import Fragment
from descriptors.check.execution.knowledge import Access
from descriptors.check.execution.launch import PARAMETERS, RANK, multicast, of_cta
from descriptors.check.execution.machine import Handler, Machine, items_of
from descriptors.check.execution.mbarrier import Box, Landing
from descriptors.check.execution.memory_events import lane_addresses
from descriptors.check.execution.origins import carry_bulk, carry_copied
from descriptors.check.execution.outcomes import Stop
from descriptors.check.execution.program import Program, Step
from descriptors.check.ptx.ptx_operands import Address, Operand, Vector, names

# -- cp.async


def _thread_copy(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute ``cp.async``: a write that is complete when the group of the thread is waited for."""
    target, _, *options = step.instruction.operands
    places = lane_addresses(machine, fragment, step, target)
    if places is None:
        return
    size = options[0] if options and isinstance(options[0], int) else 16
    if wrong := [place for place in places if place % size]:
        machine.report("fragment-address", step, f"address {wrong[0]:#x} is not a multiple of {size} bytes")
    carry_copied(machine, fragment, step, places, size)
    bit = machine.new_bit()
    access = Access(bit, step.instruction.line, THREAD_COPY, generic=True, iteration=machine.iteration(fragment, step))
    check_access(machine, fragment, step, runs_of(places, size), access, writes=True)
    fragment.groups.add("cp", bit)
    machine.lanes.record_copy(fragment, bit, places, size)


def _copies_arrive(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute ``cp.async.mbarrier.arrive``: an arrival when the earlier copies of the thread are complete."""
    address = machine.require_scalar(fragment, step.instruction.operands[0], step, "the address of an mbarrier")
    known, published = machine.release_set(fragment)
    known |= fragment.groups.all("cp")
    if "noinc" in step.instruction.qualifiers:
        arrive_at(machine, fragment, step, address, known, published)
    else:
        find_barrier(machine, fragment, step, address).learn(known, published)
    fragment.epoch = -1


# -- commit groups


def _commit(kind: str) -> Handler:
    def commit(machine: Machine, fragment: Fragment, step: Step) -> None:
        fragment.groups.commit(kind, fragment.mask)

    return commit


def _wait_groups(kind: str) -> Handler:
    def wait(machine: Machine, fragment: Fragment, step: Step) -> None:
        if "wait_all" in step.instruction.qualifiers:
            fragment.groups.commit(kind, fragment.mask)
            fragment.wait_groups(kind, 0)
        else:
            pending = machine.require_scalar(fragment, step.instruction.operands[0], step, "the groups of a wait")
            fragment.wait_groups(kind, pending)
        if "sync_restrict::proxy::async" in step.instruction.qualifiers:
            subject, why = "a wait_group of the async proxy", "its effect on ordinary accesses is not modeled"
            machine.notes.doubts.setdefault(step.place, (subject, why))

    return wait


# -- bulk copies

#: Least bytes of a bulk copy.
LEAST = 16


def _bulk(machine: Machine, fragment: Fragment, step: Step) -> None:
    words = step.instruction.qualifiers
    if "prefetch" in words:
        return
    spaces = [word for word in words if word in ("global", "shared::cta", "shared::cluster")]
    if spaces[0] == "global":
        _bulk_out(machine, fragment, step)
    elif "global" in spaces:
        _bulk_in(machine, fragment, step)
    else:
        _bulk_across(machine, fragment, step)


def _bulk_in(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute a copy from global into shared memory, which signals an mbarrier when it completes."""
    words, (target, source, *operands) = step.instruction.qualifiers, step.instruction.operands
    box, size = Box(False, step.place), None
    if "tensor" in words:
        box = _tensor_map_of(machine, fragment, source)
        size = machine.launch.bytes_of(box)
    else:
        value = machine.value(fragment, operands.pop(0))
        size = value if isinstance(value, int) else None
    barrier = next((o for o in operands if isinstance(o, Address)), None)
    if barrier is None:
        raise Stop(step.instruction.line, "no operand is an mbarrier", "a bulk copy")
    options = operands[operands.index(barrier) + 1 :]
    if "tensor" in words:  # im2col offsets; without a tensor map, the mask itself may be in braces
        options = [o for o in options if not isinstance(o, Vector)]
    mask = None
    if any(word.startswith("multicast::cluster") for word in words) and options:
        mask = machine.require_scalar(fragment, options[0], step, "the CTAs of a multicast")
        check_mask(machine, step, mask)
    for place, address in _routes(machine, fragment, step, target, barrier):
        parity = address >> RANK & 1
        destinations, barriers = (multicast(a, mask, machine.ctas) for a in (place, address))
        for destination, barrier_address in zip(destinations, barriers, strict=True):
            if mask is not None and "cta_group::2" in words:  # the signaled CTA of a pair has the operand's parity
                barrier_address = of_cta(barrier_address, barrier_address >> RANK & ~1 | parity)
            copy = Landing(step.instruction.line, box, destination, machine.new_bit())
            _deliver(machine, fragment, step, copy, barrier_address, size)
            if size is not None and "tensor" not in words:
                carry_bulk(machine, fragment, source, destination, size)


def _routes(
    machine: Machine, fragment: Fragment, step: Step, target: Operand, barrier: Operand
) -> list[tuple[int, int]]:
    """Return destination and mbarrier address of the copy of each executing thread."""
    places = machine.require_lanes(fragment, target, step, "the destination of a bulk copy")
    return list(zip(places, machine.require_lanes(fragment, barrier, step, "the address of an mbarrier"), strict=True))


def _deliver(machine: Machine, fragment: Fragment, step: Step, copy: Landing, address: int, size: int | None) -> None:
    """Complete a copy into shared memory and signal its mbarrier; if its size is unknown, when the phase must end."""
    if machine.launch.sizes is not None:
        access = Access(copy.issue, step.instruction.line, BULK_COPY, iteration=machine.iteration(fragment, step))
        check_async_write(machine, fragment, step, [(copy.place, copy.place + (size or LEAST))], access)
    machine.memory.bytes.forget(copy.place, min(size or LEAST, 64))
    if size is None:
        machine.memory.origins.clear()
    else:
        machine.memory.origins.forget(copy.place, size)
    machine.notes.load(step.place, copy.place >> RANK, copy.issue)
    for reached in {copy.place >> RANK: copy.place, address >> RANK: address}.values():
        if reached >> RANK != fragment.cta:
            machine.notes.reach(step.place, reached >> RANK, copy.issue)
    barrier = find_barrier(machine, fragment, step, address)
    known, published = machine.release_set(fragment)
    barrier.learn(known, published)
    barrier.note(copy.issue, is_copy=True)
    fragment.epoch = -1
    if copy.map.of_tensor_map:
        machine.notes.copies.append((step.place, copy.map, copy.place))
    if size is None:
        barrier.land(copy)
    else:
        finish_arrival(machine, step, barrier, barrier.complete(size))


def _tensor_map_of(machine: Machine, fragment: Fragment, source: Operand) -> Box:
    """Return the key of the box of a copy: the address of its tensor map, or the register that holds it."""
    if not isinstance(source, Address):
        return Box(True, 0)
    value = machine.value(fragment, source)
    if not isinstance(value, int):
        return Box(True, source.base)
    if value >> 16 in _narrow_parameters(machine.program):  # ``mov.b32`` cut its address, which ``cvta`` extends
        value += PARAMETERS
    return Box(True, value)


@lru_cache(maxsize=8)
def _narrow_parameters(kernel: Program) -> frozenset[int]:
    """Return the numbers of the parameters whose addresses the kernel takes with 32 bits."""
    moves = [instruction for instruction in kernel.function.code if instruction.opcode in ("mov.b32", "mov.u32")]
    return frozenset(
        kernel.parameters[name] for move in moves for name in names(move.operands[1]) if name in kernel.parameters
    )


def _bulk_across(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute a copy from the shared memory of one CTA into that of another."""
    target, _, bytes_, barrier, *_ = step.instruction.operands
    size = machine.require_scalar(fragment, bytes_, step, "the bytes of a copy")
    box = Box(False, step.place)
    for place, address in _routes(machine, fragment, step, target, barrier):
        _deliver(machine, fragment, step, Landing(step.instruction.line, box, place, machine.new_bit()), address, size)


def _stored_bytes(machine: Machine, place: int) -> int:
    """Return how many bytes from a place on were stored by one block of code, up to the start of another bulk store.

    The box of a tensor store is not in the text; kernels fill a tile of it between two branches.
    """
    if machine.launch.sizes is None:
        machine.notes.sources.add(place)
        return 0
    fixed = {barrier.address for barrier in machine.barriers} | set(machine.launch.variables.values())
    end = min(
        [address for address in machine.launch.sources | fixed if address > place] + [(place >> RANK) + 1 << RANK]
    )
    block, filled = -1, place
    for low, high, writer in machine.memory.shared.segments_from(place):
        if low > filled or filled >= end or writer is None or not writer.generic:
            break
        writer_block = machine.program.block_of(writer.line)
        if block not in (-1, writer_block):
            break
        block, filled = writer_block, high
    return max(filled - place, 0) if filled <= end else end - place


def _bulk_out(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute a copy from shared into global memory, which reads until its group is waited for."""
    _, source, *operands = step.instruction.operands
    tensor = "tensor" in step.instruction.qualifiers
    value = None if tensor else machine.value(fragment, operands[0])
    for place in machine.require_lanes(fragment, source, step, "the source of a bulk copy"):
        size = _stored_bytes(machine, place) if tensor else value if isinstance(value, int) else 0
        bit = machine.new_bit()
        fragment.groups.add("bulk", bit, fragment.mask)
        machine.notes.bulk_stores[step.place] = machine.notes.bulk_stores.get(step.place, 0) | 1 << bit
        access = Access(bit, step.instruction.line, "a bulk store", iteration=machine.iteration(fragment, step))
        operation = Operation(access, *machine.release_set(fragment))
        check_async_read(machine, step, [(place, place + (size or LEAST))], operation)


# -- answers to a request for another tile

#: Number of tiles that requests get in a run.
TILES = 2


def _cancel(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute ``clusterlaunchcontrol.try_cancel``: request the work of another CTA."""
    target, mbarrier, *_ = step.instruction.operands
    machine.requests[step.place] += 1
    request = machine.requests[step.place]
    place = machine.require_scalar(fragment, target, step, "the destination of an answer")
    address = machine.require_scalar(fragment, mbarrier, step, "the address of an mbarrier")
    everywhere = any(word.startswith("multicast") for word in step.instruction.qualifiers)
    for destination in multicast(place, (1 << machine.ctas) - 1 if everywhere else None, machine.ctas):
        kind, iteration = "an answer of clusterlaunchcontrol", machine.iteration(fragment, step)
        access = Access(machine.new_bit(), step.instruction.line, kind, iteration=iteration)
        check_async_write(machine, fragment, step, [(destination, destination + 16)], access)
        machine.notes.load(step.place, destination >> RANK, access.bit)
        machine.memory.bytes.store(destination, 16, request if request <= TILES else 0)
        barrier = find_barrier(machine, fragment, step, of_cta(address, destination >> RANK))
        known, published = machine.release_set(fragment)
        barrier.learn(known, published)
        barrier.note(access.bit, is_copy=True)
        finish_arrival(machine, step, barrier, barrier.complete(16))


def _query(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute ``clusterlaunchcontrol.query_cancel``: whether there is work, and its first CTA."""
    target, answer, *_ = step.instruction.operands
    value = machine.value(fragment, answer)
    if not isinstance(value, int):
        machine.set_items(fragment, target, value)
    elif "is_canceled" in step.instruction.qualifiers:
        machine.set(fragment, target, int(value != 0))
    else:
        for number, item in enumerate(items_of(target)):
            machine.set(fragment, item, 0 if number else value * machine.ctas)


COPIES: dict[str, Handler] = {
    "cp.async": _thread_copy,
    "cp.async.commit_group": _commit("cp"),
    "cp.async.wait_group": _wait_groups("cp"),
    "cp.async.wait_all": _wait_groups("cp"),
    "cp.async.mbarrier": _copies_arrive,
    "cp.async.bulk": _bulk,
    "cp.async.bulk.commit_group": _commit("bulk"),
    "cp.async.bulk.wait_group": _wait_groups("bulk"),
    "cp.reduce.async.bulk": _bulk,
    "clusterlaunchcontrol.try_cancel": _cancel,
    "clusterlaunchcontrol.query_cancel": _query,
}
