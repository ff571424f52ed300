"""Shared memory executed: ordinary loads and stores, copies of a thread, and bulk copies in and out.

What an ordinary store leaves is kept byte by byte where it is known, since roles of warps and addresses of tensor
memory go through shared memory. Of a bulk tensor copy the text does not say the bytes: the box is in the tensor map.
Source: PTX ISA 9.1, ld, st, ldmatrix, stmatrix, cp.async, cp.async.bulk, cp.async.bulk.tensor, cp.reduce.async.bulk;
their completion mechanisms and proxies.

Law: what is stored is loaded, by whatever width.

>>> from descriptors.check.execution.machine import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "st.shared.b32 [s+4], 0x12345678; ld.shared.b8 a, [s+6]; ld.shared.u16 c, [s+4]; st.shared.b32 [s], a;"
>>> launch = Launch((32, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
>>> held = Machine(program(parse(f".version 8.8\\n.entry k() {{ {body} ret; }}").functions[0]), launch, MEMORY)
>>> held.run()
>>> [hex(held.fragments[0].registers[name]) for name in "ac"]
['0x34', '0x5678']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from descriptors.check.execution.barrier_events import arrived, barrier_at
from descriptors.check.execution.knowledge import Access
from descriptors.check.execution.lanes import Unknown, Value, lane_values, together
from descriptors.check.execution.machine import (
    LOCAL,
    PARAMETER,
    PARAMETERS,
    RANK,
    Fragment,
    Handler,
    Machine,
    Stop,
    items_of,
    of_cta,
)
from descriptors.check.execution.mbarrier import Landing
from descriptors.check.execution.program import Step
from descriptors.check.ptx.ptx_operands import Address, Operand, Vector

_WIDTH = re.compile(r"[busf](\d+)\Z|bf?16x?2?\Z")
_WINDOW = 1 << 32


def _bytes(step: Step) -> int:
    """Bytes that a lane loads or stores."""
    many = next((int(w[1]) for w in step.instruction.qualifiers if w in ("v2", "v4", "v8")), 1)
    found = _WIDTH.match(step.instruction.qualifiers[-1])
    return many * (int(found[1]) if found and found[1] else 16) // 8


def _addresses(machine: Machine, one: Fragment, step: Step, operand: Operand) -> list[int] | None:
    """The shared addresses of the executing lanes; None where one is not known, or is none of shared memory."""
    values = lane_values(machine.value(one, operand), one.many)
    if any(type(v) is Unknown for v in values):
        if "shared" in step.instruction.opcode or step.instruction.opcode.startswith(("ldmatrix", "stmatrix")):
            unknown = next(v for v in values if isinstance(v, Unknown))
            machine.skipped.setdefault(step.place, f"an address that depends on {unknown.why}, line {unknown.line}")
        return None
    numbers = [v for v in values if isinstance(v, int) and v < _WINDOW]
    return numbers if len(numbers) == len(values) else None


def _runs(starts: Iterable[int], size: int) -> Iterator[tuple[int, int]]:
    """Pieces of one size as runs of bytes."""
    low = high = -1
    for start in sorted(set(starts)):
        if start <= high:
            high = max(high, start + size)
            continue
        if high >= 0:
            yield low, high
        low, high = start, start + size
    if high >= 0:
        yield low, high


def touch(
    machine: Machine, one: Fragment, step: Step, runs: Iterable[tuple[int, int]], access: Access, *, writes: bool
) -> None:
    """An ordinary access of shared memory by the threads of a fragment."""
    if machine.launch.sizes is None:
        return
    for start, end in runs:
        clashes = (machine.shared.write if writes else machine.shared.read)(start, end, access, one.known)
        for clash in clashes:
            machine.clash(step, "reuse-order", clash, _told(access, clash.earlier, writes, clash.wrote))


def _told(later: Access, earlier: Access, writes: bool, wrote: bool) -> str:
    verb = "written" if wrote else "read"
    return f"found {later.kind} of bytes that {earlier.kind} in line {earlier.line} has {verb}, with nothing between"


def _store(machine: Machine, one: Fragment, step: Step) -> bool | None:
    operands = step.instruction.operands
    places = _addresses(machine, one, step, operands[0])
    if places is None:
        return None
    size = _bytes(step)
    items = items_of(operands[1])
    access = machine.access(one, step, "a store", generic=True)
    if not _same(machine, one, places, items, size // len(items)):
        touch(machine, one, step, _runs(places, size), access, writes=True)
    for number, item in enumerate(items):
        values = lane_values(machine.value(one, item), one.many)
        width = size // len(items)
        for place, value in zip(places, values, strict=True):
            for byte in range(width):
                at = place + number * width + byte
                if isinstance(value, int):
                    machine.bytes[at] = value >> 8 * byte & 0xFF
                else:
                    machine.bytes.pop(at, None)
    return None


def _same(machine: Machine, one: Fragment, places: list[int], items: tuple[Operand, ...], width: int) -> bool:
    """Whether a store changes nothing: each warp of a CTA may store the same word."""
    for number, item in enumerate(items):
        for place, value in zip(places, lane_values(machine.value(one, item), one.many), strict=True):
            if not isinstance(value, int):
                return False
            at = place + number * width
            if any(machine.bytes.get(at + byte) != value >> 8 * byte & 0xFF for byte in range(width)):
                return False
    return True


def _local(machine: Machine, one: Fragment, step: Step, operand: Operand) -> int | None:
    """A place in local memory, if that is where an address leads."""
    value = machine.value(one, operand)
    return value if isinstance(value, int) and LOCAL <= value < PARAMETERS else None


def _local_store(machine: Machine, one: Fragment, step: Step, place: int) -> None:
    source = step.instruction.operands[1]
    items = items_of(source)
    width = _bytes(step) // len(items)
    for number, item in enumerate(items):
        value = machine.value(one, item)
        for byte in range(width):
            at = (one.cta, one.warp, place + number * width + byte)
            if isinstance(value, int):
                machine.local[at] = value >> 8 * byte & 0xFF
            else:
                machine.local.pop(at, None)


def _local_load(machine: Machine, one: Fragment, step: Step, place: int) -> None:
    target = step.instruction.operands[0]
    items = items_of(target)
    width = _bytes(step) // len(items)
    for number, item in enumerate(items):
        parts = [machine.local.get((one.cta, one.warp, place + number * width + byte)) for byte in range(width)]
        known = [part << 8 * byte for byte, part in enumerate(parts) if part is not None]
        unknown = Unknown("a value loaded from local memory", step.instruction.line)
        machine.set(one, item, sum(known) if len(known) == width else unknown)


def _load(machine: Machine, one: Fragment, step: Step) -> bool | None:
    operands = step.instruction.operands
    target = operands[0]
    items = items_of(target)
    places = _addresses(machine, one, step, operands[1])
    size = _bytes(step)
    width = size // len(items)
    if places is None:
        for item in items:
            machine.set(one, item, Unknown("a value loaded from memory", step.instruction.line))
        return None
    touch(machine, one, step, _runs(places, size), machine.access(one, step, "a load"), writes=False)
    unknown = Unknown("a value loaded from shared memory", step.instruction.line)
    signed = step.instruction.qualifiers[-1].startswith("s")
    for number, item in enumerate(items):
        row: list[int | Unknown] = []
        for place in places:
            parts = [machine.bytes.get(place + number * width + byte) for byte in range(width)]
            if any(part is None for part in parts):
                row.append(unknown)
                continue
            value = sum(part << 8 * byte for byte, part in enumerate(parts) if part is not None)
            row.append(
                value if not signed or not value >> (8 * width - 1) else value - (1 << 8 * width) & 0xFFFFFFFFFFFFFFFF
            )
        machine.set(one, item, together(row))
    return None


def _generic_load(machine: Machine, one: Fragment, step: Step) -> bool | None:
    """``ld`` without a state space, of parameters, or of what is not followed."""
    words = step.instruction.qualifiers
    if "param" in words:
        return _parameter(machine, one, step)
    if any(w in words for w in ("global", "const")):
        return _unknown(machine, one, step)
    if (place := _local(machine, one, step, step.instruction.operands[1])) is not None:
        _local_load(machine, one, step, place)
        return None
    if "local" in words:
        return _unknown(machine, one, step)
    return _load(machine, one, step)


def _generic_store(machine: Machine, one: Fragment, step: Step) -> bool | None:
    words = step.instruction.qualifiers
    if any(w in words for w in ("global", "param")):
        return None
    if (place := _local(machine, one, step, step.instruction.operands[0])) is not None:
        _local_store(machine, one, step, place)
        return None
    if "local" in words:
        return None
    return _store(machine, one, step)


def _unknown(machine: Machine, one: Fragment, step: Step) -> bool | None:
    target = step.instruction.operands[0]
    for item in items_of(target):
        machine.set(one, item, Unknown("a value loaded from global memory", step.instruction.line))
    return None


#: Where a pointer in a parameter points: far from shared memory, and far from one another.
_POINTERS, _APART = 1 << 44, 1 << 36


def _parameter(machine: Machine, one: Fragment, step: Step) -> bool | None:
    """A parameter: of 64 bits a pointer, of 32 the size that the run is for."""
    target, operand = step.instruction.operands[:2]
    items = items_of(target)
    kind = step.instruction.qualifiers[-1]
    offset = operand.offset if isinstance(operand, Address) else 0
    name = operand.base if isinstance(operand, Address) else ""
    at = machine.value(one, operand)
    if isinstance(at, int) and at >= PARAMETERS:
        # One parameter has one value, by whatever register it is reached.
        name, offset = machine.program.names[at - PARAMETERS >> 16], at - PARAMETERS & 0xFFFF
    for number, item in enumerate(items):
        value: Value
        if kind.startswith("f"):
            value = Unknown(PARAMETER, step.instruction.line)
        elif kind.endswith("64"):
            place = sum(map(ord, name)) * 64 + offset // 8 + number
            value = _POINTERS + place * _APART
        elif kind.endswith("32"):
            key = (name, offset + 4 * number)
            value = machine.scalars[key] = machine.launch.scalars.get(key, machine.launch.size)
        else:
            value = machine.launch.size & ((1 << int(kind[1:])) - 1)
        machine.set(one, item, value)
    return None


def _matrix(machine: Machine, one: Fragment, step: Step) -> bool | None:
    """``ldmatrix`` and ``stmatrix``: eight lanes a matrix say where its rows of 16 bytes are."""
    words, operands = step.instruction.qualifiers, step.instruction.operands
    stores = words[0] == "stmatrix"
    operand = operands[0] if stores else operands[1]
    many = next((int(w[1:]) for w in words if w in ("x1", "x2", "x4")), 1)
    places = _addresses(machine, one, step, operand)
    if not stores:
        _set_all(machine, one, operands[0], Unknown("a value loaded from shared memory", step.instruction.line))
    if places is None:
        return None
    access = machine.access(one, step, "stmatrix" if stores else "ldmatrix", generic=stores)
    touch(machine, one, step, _runs(places[: 8 * many], 16), access, writes=stores)
    return None


def _set_all(machine: Machine, one: Fragment, target: Operand, value: Value) -> None:
    for item in items_of(target):
        machine.set(one, item, value)


# -- copies of a thread (cp.async)

#: What a copy of a thread is called.
COPY = "cp.async"


def _thread_copy(machine: Machine, one: Fragment, step: Step) -> bool | None:
    operands = step.instruction.operands
    places = _addresses(machine, one, step, operands[0])
    if places is None:
        return None
    size = operands[2] if len(operands) > 2 and isinstance(operands[2], int) else 16
    bit = machine.fresh()
    access = Access(bit, step.instruction.line, COPY, generic=True)
    touch(machine, one, step, _runs(places, size), access, writes=True)
    one.groups["cp"][-1] |= 1 << bit
    return None


def _commit(kind: str) -> Handler:
    def commit(machine: Machine, one: Fragment, step: Step) -> bool | None:
        one.groups[kind].append(0)
        return None

    return commit


def _wait_groups(kind: str) -> Handler:
    def wait(machine: Machine, one: Fragment, step: Step) -> bool | None:
        words = step.instruction.qualifiers
        groups = one.groups[kind]
        if "wait_all" in words:
            left = 0
            groups.append(0)
        else:
            left = machine.known(one, step.instruction.operands[0], step, "the groups of a wait")
        closed = groups[:-1]
        over, kept = (closed, []) if not left else (closed[:-left], closed[-left:])
        for bits in over:
            one.known |= bits
        one.groups[kind] = [*kept, groups[-1]]
        one.epoch = -1
        return None

    return wait


def _copies_arrive(machine: Machine, one: Fragment, step: Step) -> bool | None:
    """``cp.async.mbarrier.arrive``: an arrival when the copies of the thread so far have come."""
    value = machine.known(one, step.instruction.operands[0], step, "the address of an mbarrier")
    barrier = barrier_at(machine, one, step, value)
    bits = 0
    for group in one.groups["cp"]:
        bits |= group
    barrier.learn(one.known | bits, one.published)
    one.epoch = -1
    if "noinc" in step.instruction.qualifiers:
        arrived(machine, step, barrier, barrier.arrive(one.many))
    return None


# -- bulk copies


def _bulk(machine: Machine, one: Fragment, step: Step) -> bool | None:
    words = step.instruction.qualifiers
    if "prefetch" in words:
        return None
    spaces = [word for word in words if word in ("global", "shared::cta", "shared::cluster")]
    if spaces[0] == "global":
        return _bulk_out(machine, one, step)
    return (_bulk_in if spaces[1] == "global" else _bulk_across)(machine, one, step)


def _each_place(machine: Machine, one: Fragment, step: Step, operand: Operand, what: str) -> list[int]:
    values = lane_values(machine.value(one, operand), one.many)
    for value in values:
        if isinstance(value, Unknown):
            raise Stop(step.instruction.line, what, f"{value.why}, line {value.line}")
    return [value for value in values if isinstance(value, int)]


#: The fewest bytes that a bulk copy moves.
LEAST = 16


def _bulk_in(machine: Machine, one: Fragment, step: Step) -> bool | None:
    """From global into shared memory: an mbarrier is told when the bytes have come."""
    words, operands = step.instruction.qualifiers, step.instruction.operands
    tensor = "tensor" in words
    size: int | None = None
    rest = list(operands)
    target, source = rest[0], rest[1]
    rest = rest[2:]
    if not tensor:
        value = machine.value(one, rest.pop(0))
        size = value if isinstance(value, int) else None
    barrier_operand = next((o for o in rest if isinstance(o, Address)), None)
    if barrier_operand is None:
        raise Stop(step.instruction.line, "a bulk copy", "an operand that is no mbarrier")
    after = rest[rest.index(barrier_operand) + 1 :]
    after = [o for o in after if not isinstance(o, Vector)]
    ctas = None
    if "multicast::cluster" in words and after:
        mask = machine.known(one, after[0], step, "the CTAs of a multicast")
        ctas = [rank for rank in range(machine.ctas) if mask >> rank & 1]
    name = _map_name(machine, one, source) if tensor else ("bytes", step.place)
    size = (machine.launch.sizes or {}).get(name) if tensor else size
    places = _each_place(machine, one, step, target, "where a bulk copy goes")
    barriers = _each_place(machine, one, step, barrier_operand, "the address of an mbarrier")
    for place, address in zip(places, barriers, strict=True):
        for rank in ctas if ctas is not None else [place >> RANK]:
            own = of_cta(place, rank)
            # Of a pair the CTA is told whose number is as odd as that of the mbarrier's.
            pair = rank & ~1 | address >> RANK & 1 if "cta_group::2" in words else rank
            at = address if ctas is None else of_cta(address, pair)
            _one_in(machine, one, step, own, at, name, size)
    return None


def _one_in(
    machine: Machine, one: Fragment, step: Step, place: int, address: int, name: object, size: int | None
) -> None:
    bit = machine.fresh()
    access = Access(bit, step.instruction.line, "a bulk copy")
    if machine.launch.sizes is not None:
        # Of a box that is not known the least are 16 bytes.
        for clash in machine.shared.write(place, place + (size or LEAST), access, one.known):
            machine.clash(step, "reuse-order", clash, _told(access, clash.earlier, True, clash.wrote))
    for byte in range(place, place + min(size or 0, 64)):
        machine.bytes.pop(byte, None)
    barrier = barrier_at(machine, one, step, address)
    barrier.learn(one.known | 1 << bit, one.published)
    one.epoch = -1
    machine.copies.append((step.place, name, place))
    if size is not None:
        arrived(machine, step, barrier, barrier.complete(size))
    else:
        barrier.land(Landing(step.instruction.line, name, place, bit))


def _map_name(machine: Machine, one: Fragment, source: Operand) -> object:
    """What names the tensor map of a copy: where it lies, or the instruction's own register."""
    value = machine.value(one, Address(source.base, source.offset)) if isinstance(source, Address) else 0
    return value if isinstance(value, int) else ("unnamed", str(source.base) if isinstance(source, Address) else "")


def _bulk_across(machine: Machine, one: Fragment, step: Step) -> bool | None:
    """From the shared memory of one CTA into that of another."""
    operands = step.instruction.operands
    size = machine.known(one, operands[2], step, "the bytes of a copy")
    for place, address in zip(
        _each_place(machine, one, step, operands[0], "where a bulk copy goes"),
        _each_place(machine, one, step, operands[3], "the address of an mbarrier"),
        strict=True,
    ):
        _one_in(machine, one, step, place, address, ("bytes", step.place), size)
    return None


def _bulk_out(machine: Machine, one: Fragment, step: Step) -> bool | None:
    """From shared into global memory: read until a wait for its group."""
    words, operands = step.instruction.qualifiers, step.instruction.operands
    tensor = "tensor" in words
    source = operands[1]
    size: int | None
    if tensor:
        name = ("out", _map_name(machine, one, operands[0]))
        size = (machine.launch.sizes or {}).get(name)
    else:
        value = machine.value(one, operands[2])
        name, size = ("out", step.place), value if isinstance(value, int) else None
    for place in _each_place(machine, one, step, source, "what a bulk copy reads"):
        bit = machine.fresh()
        one.groups["bulk"][-1] |= 1 << bit
        access = Access(bit, step.instruction.line, "a bulk store")
        asynchronous_read(machine, one, step, [(place, place + (size or LEAST))], access, one.known, one.published)
        machine.copies.append((step.place, name, place))
    return None


def asynchronous_read(
    machine: Machine,
    one: Fragment,
    step: Step,
    runs: Iterable[tuple[int, int]],
    access: Access,
    known: int,
    published: int,
) -> None:
    """A read by the asynchronous proxy: what wrote the bytes must be done, and published if it was ordinary."""
    if machine.launch.sizes is None:
        return
    for start, end in runs:
        for clash in machine.shared.read(start, end, access, known):
            machine.clash(step, "reuse-order", clash, _told(access, clash.earlier, False, clash.wrote))
        for _, _, writer in machine.shared.rows(start, end):
            if writer is not None and writer.generic and known >> writer.bit & 1 and not published >> writer.bit & 1:
                found = (
                    f"found {access.kind} of bytes that {writer.kind} in line {writer.line} has written, and no fence"
                )
                machine.tell("proxy-fence-copy" if writer.kind == COPY else "proxy-fence", step, found, writer.line)


def _map_shared(machine: Machine, one: Fragment, step: Step) -> bool | None:
    """``mapa``: an address of shared memory as that of another CTA."""
    operands = step.instruction.operands
    address, rank = machine.value(one, operands[1]), machine.value(one, operands[2])
    if isinstance(address, int) and isinstance(rank, int):
        machine.set(one, operands[0], of_cta(address, rank))
    elif isinstance(address, Unknown) or isinstance(rank, Unknown):
        machine.set(one, operands[0], address if isinstance(address, Unknown) else rank)
    else:
        rows = zip(lane_values(address, one.many), lane_values(rank, one.many), strict=True)
        machine.set(
            one,
            operands[0],
            together([of_cta(a, r) if isinstance(a, int) and isinstance(r, int) else Unknown("mapa") for a, r in rows]),
        )
    return None


#: What a request for another tile is answered with, in a run: so many tiles, and then none.
TILES = 2


def _cancel(machine: Machine, one: Fragment, step: Step) -> bool | None:
    """``clusterlaunchcontrol.try_cancel``: another CTA's work, if there is some left."""
    operands = step.instruction.operands
    asked = machine.cancels.get(step.place, 0) + 1
    machine.cancels[step.place] = asked
    answer = asked if asked <= TILES else 0
    place = machine.known(one, operands[0], step, "where an answer goes")
    address = machine.known(one, operands[1], step, "the address of an mbarrier")
    everywhere = any(w.startswith("multicast") for w in step.instruction.qualifiers)
    for rank in range(machine.ctas) if everywhere else [place >> RANK]:
        own = of_cta(place, rank)
        bit = machine.fresh()
        access = Access(bit, step.instruction.line, "an answer of clusterlaunchcontrol")
        for clash in machine.shared.write(own, own + 16, access, one.known):
            machine.clash(step, "reuse-order", clash, _told(access, clash.earlier, True, clash.wrote))
        for byte in range(16):
            machine.bytes[own + byte] = answer >> 8 * byte & 0xFF
        barrier = barrier_at(machine, one, step, of_cta(address, rank))
        barrier.learn(one.known | 1 << bit, one.published)
        arrived(machine, step, barrier, barrier.complete(16))
    return None


def _query(machine: Machine, one: Fragment, step: Step) -> bool | None:
    operands = step.instruction.operands
    value = machine.value(one, operands[1])
    if "is_canceled" in step.instruction.qualifiers:
        machine.set(one, operands[0], int(value != 0) if isinstance(value, int) else value)
        return None
    row = operands[0].items if isinstance(operands[0], Vector) else (operands[0],)
    place = {"x": 0, "y": 1, "z": 2}.get(step.instruction.qualifiers[2].rpartition("::")[2], 0)
    del place
    for number, item in enumerate(row):
        machine.set(one, item, (value * machine.ctas if number == 0 else 0) if isinstance(value, int) else value)
    return None


MEMORY: dict[str, Handler] = {
    "clusterlaunchcontrol.try_cancel": _cancel,
    "clusterlaunchcontrol.query_cancel": _query,
    "ld": _generic_load,
    "ld.shared": _load,
    "ld.shared::cta": _load,
    "ld.param": _parameter,
    "ld.param::entry": _parameter,
    "st": _generic_store,
    "st.shared": _store,
    "st.shared::cta": _store,
    "ldmatrix": _matrix,
    "stmatrix": _matrix,
    "cp.async": _thread_copy,
    "cp.async.commit_group": _commit("cp"),
    "cp.async.wait_group": _wait_groups("cp"),
    "cp.async.wait_all": _wait_groups("cp"),
    "cp.async.mbarrier": _copies_arrive,
    "cp.async.bulk": _bulk,
    "cp.async.bulk.commit_group": _commit("bulk"),
    "cp.async.bulk.wait_group": _wait_groups("bulk"),
    "cp.reduce.async.bulk": _bulk,
    "mapa": _map_shared,
}
