"""Multiplications executed: ``wgmma`` of a warpgroup, and ``tcgen05`` with its tensor memory.

A ``wgmma`` is one operation of four warps, which reads when the last of them has issued it. The operations of
``tcgen05`` that a thread issues are in order among themselves; all else is in order by commits, waits and barriers.
Source: PTX ISA 9.1, wgmma, Asynchronous operations; tcgen05, Memory Consistency Model; Tensor Memory Allocation.

Law: an operand is read where its word says, and a word with another start elsewhere by as much.

>>> runs = operand_runs(0x4000004000010000, "sm90", "bf16", "K", (64, 16), 0)
>>> operand_runs(0x4000004000010000 + 0x40, "sm90", "bf16", "K", (64, 16), 0) == [(a + 1024, b + 1024) for a, b in runs]
True
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from descriptors.check.execution.barrier_events import arrived, barrier_at
from descriptors.check.execution.knowledge import Access, Segments
from descriptors.check.execution.lanes import Unknown
from descriptors.check.execution.machine import RANK, Fragment, Handler, Machine, _origin, of_cta
from descriptors.check.execution.memory_events import _set_all, _wait_groups, asynchronous_read
from descriptors.check.execution.program import Step
from descriptors.check.ptx.multiplications import TensorMma, tensor_mma, wgmma
from descriptors.check.ptx.ptx_operands import Address, Vector
from descriptors.errors import DescriptorError
from descriptors.smem.instructions.idesc import decode_idesc
from descriptors.smem.proof.read_model import read_rows
from descriptors.smem.words.bitfield import UnknownCode
from descriptors.tmem.accumulator import accumulator
from descriptors.tmem.copies import tmem_copy
from descriptors.tmem.geometry import COLUMNS
from descriptors.tmem.moves import tmem_move
from descriptors.tmem.operand_cells import operand_a

#: Bytes after which every swizzle pattern repeats.
_PATTERN = 1024
_WARPGROUP = 4
#: Bytes in which a swizzle moves pieces about, by its code: what is read of a line is taken as the line.
_LINES = {"sm90": {1: 128, 2: 64, 3: 32}, "sm100": {1: 128, 2: 128, 4: 64, 6: 32}}
#: Lanes that are followed as one.
GROUP = 16


@lru_cache(maxsize=512)
def footprint(word: int, arch: str, dtype: str, major: str, shape: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """The bytes that an operand is read from, as runs, counted from the start address rounded down to 1,024.

    >>> footprint(0x4000004000010000, "sm90", "bf16", "K", (64, 16))
    ((0, 8192),)
    """
    rows = read_rows(word, arch, dtype=dtype, major=major, shape=shape)
    line = _LINES[arch].get(word >> (62 if arch == "sm90" else 61), 16)
    lines = sorted({address // line for row in rows for address in row})
    runs: list[tuple[int, int]] = []
    for number in lines:
        if runs and runs[-1][1] == number * line:
            runs[-1] = (runs[-1][0], (number + 1) * line)
        else:
            runs.append((number * line, (number + 1) * line))
    return tuple(runs)


def operand_runs(
    word: int, arch: str, dtype: str, major: str, shape: tuple[int, int], rank: int
) -> list[tuple[int, int]] | None:
    """The bytes of shared memory that an operand is read from; None where the word describes none."""
    start = (word & 0x3FFF) << 4
    low = start % _PATTERN
    try:
        runs = footprint(word & ~0x3FFF | low >> 4, arch, dtype, major, shape)
    except DescriptorError:
        return None
    base = start - low | rank << RANK
    return [(base + a, base + b) for a, b in runs]


# -- wgmma


def whole(machine: Machine, one: Fragment, step: Step, rule: str) -> None:
    """Tell where only some lanes of a warp execute what all of them must."""
    lanes = machine.alive[one.cta, one.warp]
    if one.many < len(lanes):
        machine.tell(rule, step, f"found {one.many} of {len(lanes)} threads of a warp")


def _wgmma(machine: Machine, one: Fragment, step: Step) -> bool | None:
    whole(machine, one, step, "wgmma-aligned")
    view = wgmma(step.instruction)
    if view is None:
        return None
    group = (one.cta, one.warp // _WARPGROUP, one.sequence)
    one.sequence += 1
    held = machine.warpgroups.get(group)
    if held is None:
        held = machine.warpgroups[group] = [machine.fresh(), 0, 0, 0]
        machine.issuing[held[0]] = group[:2]
    held[1] += 1
    held[2] |= one.known
    held[3] |= one.published
    one.groups["wgmma"][-1] |= 1 << held[0]
    words = []
    for operand in (view.a, view.b):
        if isinstance(operand, Vector):
            words.append(-1)
            continue
        value = machine.value(one, operand)
        words.append(value if isinstance(value, int) else -2)
        if not isinstance(value, int):
            machine.skipped.setdefault(step.place, f"a descriptor that depends on {_origin(value)}")
    if held[1] < min(_WARPGROUP, machine.warps):
        return None
    del machine.warpgroups[group], machine.issuing[held[0]]
    machine.behind[held[0]] = held[2], held[3]
    machine.wake(("wgmma", *group[:2]))
    access = Access(held[0], step.instruction.line, "a multiplication")
    m, n, k = view.shape
    sides = (
        ("A", words[0], view.types[1], view.a_transposed, (m, k // (1 + view.sparse))),
        ("B", words[1], view.types[2], view.b_transposed, (n, k)),
    )
    for _, word, dtype, transposed, shape in sides:
        if word >= 0:
            runs = operand_runs(word, "sm90", dtype, "MN" if transposed == 1 else "K", shape, one.cta)
            _read(machine, one, step, runs, access, held[2], held[3])
    return None


def _read(
    machine: Machine,
    one: Fragment,
    step: Step,
    runs: list[tuple[int, int]] | None,
    access: Access,
    known: int,
    published: int,
    padded: bool = False,
) -> None:
    if runs is None:
        machine.skipped.setdefault(step.place, "a descriptor that describes no operand")
        return
    if machine.launch.sizes is None:
        machine.footprints.update(runs)
        return
    asynchronous_read(machine, one, step, runs, access, known, published)
    for start, end in runs if not padded else ():
        for low, high, writer in machine.shared.rows(start, end):
            machine.filled |= writer is not None
            if writer is None:
                machine.unwritten.setdefault(step.place, (low, high))


def _wgmma_wait(machine: Machine, one: Fragment, step: Step) -> bool | None:
    """A wait ends when all four warps have issued what it covers; then it is known what they knew."""
    left = machine.known(one, step.instruction.operands[0], step, "the groups of a wait")
    closed = one.groups["wgmma"][:-1]
    over = closed[: len(closed) - left] if left else closed
    bits = [bit for group in over for bit in _bits(group)]
    if any(bit in machine.issuing for bit in bits):
        return machine.park(one, ("wgmma", one.cta, one.warp // _WARPGROUP), f"{step.place}:a wgmma of four warps")
    for bit in bits:
        known, published = machine.behind.get(bit, (0, 0))
        one.known |= known
        one.published |= published
    return _WAIT_GROUPS(machine, one, step)


def _bits(group: int) -> list[int]:
    found = []
    while group:
        lowest = group & -group
        found.append(lowest.bit_length() - 1)
        group ^= lowest
    return found


_WAIT_GROUPS = _wait_groups("wgmma")


def _wgmma_commit(machine: Machine, one: Fragment, step: Step) -> bool | None:
    one.groups["wgmma"].append(0)
    return None


# -- tcgen05


@lru_cache(maxsize=256)
def _cells_of_a(m: int, k: int, dtype: str, cta_group: int, sparse: bool, lane: int) -> tuple[frozenset[int], int]:
    """The groups of lanes that A in tensor memory is in, and its columns."""
    held = operand_a(m, k, dtype, cta_group=cta_group, sparse=sparse)
    lanes = {(held.cell(row, 0, *([0] * (len(held.modes) - 2))).lane + lane) // GROUP for row in range(m // cta_group)}
    if len(held.modes) > 2:
        lanes |= {group + 4 for group in lanes}
    return frozenset(group for group in lanes if group < 8), held.columns


@lru_cache(maxsize=256)
def _cells(m: int, n: int, dtype: str, cta_group: int, ws: bool, sparse: bool, lane: int) -> tuple[frozenset[int], int]:
    """The groups of lanes that an accumulator is in, and its columns."""
    try:
        held = accumulator(m, n, dtype, cta_group=cta_group, ws=ws, sparse=sparse, legality="lenient")
    except (DescriptorError, TypeError):
        return frozenset(), 0
    lanes, columns = set(), 0
    for row in range(m // cta_group):
        for column in {0, n // 2 - 1, n // 2, n - 1}:
            cell = held.cell(row, column)
            lanes.add((cell.lane + lane) // GROUP)
            columns = max(columns, cell.column + 1)
    return frozenset(group for group in lanes if group < 8), columns


_COPY = re.compile(r"\d+x\d+b\Z")


@lru_cache(maxsize=16)
def _cells_of_copy(name: str) -> tuple[frozenset[int], int]:
    """The groups of lanes that a copy writes whole, and its columns."""
    copy = tmem_copy(name)
    lanes = {copy.cells.cell(row, 0, number).lane for row in range(copy.rows) for number in range(copy.copies)}
    whole_ = {lane // GROUP for lane in lanes if all(lane // GROUP * GROUP + i in lanes for i in range(GROUP))}
    return frozenset(whole_), copy.columns


def _unseen(machine: Machine, step: Step, why: str) -> None:
    """Something about tensor memory that the run does not see."""
    machine.unseen.setdefault(step.place, why)
    machine.tensor_unknown = True


def _segments(machine: Machine, cta: int, group: int) -> Segments:
    held = machine.tensor.get((cta, group))
    if held is None:
        held = machine.tensor[cta, group] = Segments()
    return held


def _touch(
    machine: Machine,
    step: Step,
    cta: int,
    groups: Iterable[int],
    columns: tuple[int, int],
    access: Access,
    known: int,
    *,
    writes: bool,
    fresh: bool = False,
) -> None:
    """An access of tensor memory."""
    low, high = columns
    rule = "tcgen05-order"
    for group in groups:
        memory = _segments(machine, cta, group)
        if not writes and not fresh:
            for _, _, writer in memory.rows(low, high):
                if writer is None:
                    machine.tell("tcgen05-unwritten", step, f"found {access.kind} of columns that nothing wrote")
                    break
        clashes = memory.write(low, high, access, known) if writes else memory.read(low, high, access, known)
        for clash in clashes:
            verb = "written" if clash.wrote else "read"
            machine.clash(
                step,
                rule,
                clash,
                f"found {access.kind} of columns that {clash.earlier.kind} in line {clash.earlier.line} has {verb}, "
                "with nothing that waits for it",
            )
    live = machine.allocated.get(cta, [])
    if any(a <= low and high <= b for a, b in live):
        return
    for a, b, gone in machine.freed.get(cta, []):
        if a <= low and high <= b:
            found = f"found {access.kind} of columns that line {gone.line} frees, with nothing that orders the two"
            machine.tell("tcgen05-dealloc-early", step, found, gone.line)
            return
    held = ", ".join(f"{a} to {b - 1}" for a, b in live) or "none"
    machine.tell("tcgen05-unallocated", step, f"found columns {low} to {high - 1}, with {held} allocated")


def _place(machine: Machine, one: Fragment, step: Step, operand: object) -> tuple[int, int] | None:
    """Lane and column of an address of tensor memory."""
    if not isinstance(operand, Address):
        return None
    value = machine.value(one, operand)
    if not isinstance(value, int):
        _unseen(machine, step, f"an address that depends on {_origin(value)}")
        return None
    return value >> 16 & 0x7F, value & 0x1FF


def _alloc(machine: Machine, one: Fragment, step: Step) -> bool | None:
    operands = step.instruction.operands
    whole(machine, one, step, "tcgen05-aligned")
    columns = machine.known(one, operands[1], step, "the columns of an allocation")
    live = machine.allocated.setdefault(one.cta, [])
    place = 0
    for low, high in sorted(live):
        if place + columns <= low:
            break
        place = max(place, high)
    if place + columns > COLUMNS:
        return machine.park(one, ("tmem", one.cta), f"{step.place}:columns of tensor memory")
    live.append((place, place + columns))
    machine.freed[one.cta] = [
        row for row in machine.freed.get(one.cta, []) if row[1] <= place or row[0] >= place + columns
    ]
    for group in range(8):
        _segments(machine, one.cta, group).clear(place, place + columns)
    slot = machine.value(one, operands[0])
    if isinstance(slot, int):
        access = machine.access(one, step, "the address that tcgen05.alloc stores", generic=True)
        for clash in machine.shared.write(slot, slot + 4, access, one.known):
            machine.clash(
                step, "reuse-order", clash, f"found a store of the address over bytes of line {clash.earlier.line}"
            )
        for byte in range(4):
            machine.bytes[slot + byte] = place >> 8 * byte & 0xFF
    return None


def _dealloc(machine: Machine, one: Fragment, step: Step) -> bool | None:
    operands = step.instruction.operands
    whole(machine, one, step, "tcgen05-aligned")
    value, columns = machine.value(one, operands[0]), machine.value(one, operands[1])
    if not isinstance(value, int) or not isinstance(columns, int):
        machine.skipped.setdefault(step.place, f"an address that depends on {_origin(value)}")
        return None
    low, live = value & 0x1FF, machine.allocated.setdefault(one.cta, [])
    if (low, low + columns) not in live:
        held = ", ".join(f"{a} to {b - 1}" for a, b in live) or "none"
        machine.tell(
            "tcgen05-dealloc-unknown", step, f"found columns {low} to {low + columns - 1}, with {held} allocated"
        )
        return None
    access = Access(machine.fresh(), step.instruction.line, "the deallocation")
    for group in range(8):
        for clash in _segments(machine, one.cta, group).write(low, low + columns, access, one.known):
            user = f"{clash.earlier.kind} in line {clash.earlier.line}"
            found = f"found columns that {user} is at, with nothing that waits for it"
            machine.clash(step, "tcgen05-dealloc-early", clash, found)
        _segments(machine, one.cta, group).clear(low, low + columns)
    live.remove((low, low + columns))
    machine.freed.setdefault(one.cta, []).append((low, low + columns, access))
    machine.wake(("tmem", one.cta))
    return None


def _load(machine: Machine, one: Fragment, step: Step) -> bool | None:
    words, operands = step.instruction.qualifiers, step.instruction.operands
    stores = words[1] == "st"
    whole(machine, one, step, "tcgen05-aligned")
    operand = next((o for o in operands if isinstance(o, Address)), None)
    if not stores:
        _set_all(machine, one, operands[0], Unknown("a value loaded from tensor memory", step.instruction.line))
    place = _place(machine, one, step, operand)
    if place is None:
        return None
    shape = next((w for w in words if w[:2] in ("32", "16") and "b" in w), "32x32b")
    num = next((w for w in words if w[0] == "x" and w[1:].isdigit()), "x1")
    packed = next((f".{w}" for w in words if w.endswith("pack::16b")), "")
    halves = next((o for o in operands if isinstance(o, int)), None)
    try:
        move = tmem_move(
            f"{shape}.{num}{packed}", words[1] if stores else "ld", offset=halves if "bx2" in shape else None
        )
    except DescriptorError:
        _unseen(machine, step, "a shape of no load or store")
        return None
    lane, column = place
    groups = range(lane // GROUP, (lane + move.lanes + GROUP - 1) // GROUP)
    bit = machine.fresh()
    access = Access(bit, step.instruction.line, "tcgen05.st" if stores else "tcgen05.ld", ordered=_thread(one, 2))
    pieces = [(column, column + move.columns)]
    if halves is not None and "bx2" in shape and halves >= move.num:
        pieces = [(column, column + move.num), (column + halves, column + halves + move.num)]
    for piece in pieces:
        _touch(machine, step, one.cta, groups, piece, access, one.known, writes=stores)
    if stores:
        one.stores |= 1 << bit
    else:
        one.loads |= 1 << bit
        one.loaded[step.place] = one.loaded.get(step.place, 0) | 1 << bit
    return None


def _thread(one: Fragment, kind: int, pair: bool = False) -> int:
    """A number for what one warp's instructions of a kind are in order by; those of a pair of CTAs are one's."""
    return ((one.cta & ~1 if pair else one.cta) << 16 | one.warp << 4 | kind) + 1


def _wait(machine: Machine, one: Fragment, step: Step) -> bool | None:
    whole(machine, one, step, "tcgen05-aligned")
    if "wait::ld" in step.instruction.opcode:
        one.known |= one.loads
        one.loads = 0
    else:
        one.known |= one.stores
        one.stores = 0
    one.epoch = -1
    return None


def _issue(machine: Machine, one: Fragment, step: Step) -> Access:
    """An asynchronous operation of a thread, which its next commit covers."""
    bit = machine.fresh()
    one.issued |= 1 << bit
    one.issued_known |= one.known
    one.issued_published |= one.published
    kind = {"mma": "a multiplication", "cp": "tcgen05.cp", "shift": "tcgen05.shift"}[step.instruction.qualifiers[1]]
    pair = "cta_group::2" in step.instruction.qualifiers
    return Access(bit, step.instruction.line, kind, ordered=_thread(one, 1, pair))


def _mma(machine: Machine, one: Fragment, step: Step) -> bool | None:
    view = tensor_mma(step.instruction)
    if view is None:
        return None
    if one.many > 1:
        machine.tell("tcgen05-elect", step, f"found {one.many} threads of a warp that issue it")
    access = _issue(machine, one, step)
    number = machine.value(one, view.idesc) if isinstance(view.idesc, str | int) else Unknown("no register")
    values = []
    for operand in (view.a, view.b):
        value = machine.value(one, operand) if not isinstance(operand, Address) else -1
        values.append(value if isinstance(value, int) else -2)
        if isinstance(value, Unknown):
            machine.skipped.setdefault(step.place, f"a descriptor that depends on {_origin(value)}")
    if not isinstance(number, int):
        machine.skipped.setdefault(step.place, f"an instruction descriptor that depends on {_origin(number)}")
        machine.tensor_unknown = True
        return None
    try:
        read = decode_idesc(number & 0xFFFFFFFF, view.kind)
        fields = dict(read.values)
        m, n = int(fields["m"]), int(fields["n"])
        if not m or not n or any(isinstance(value, UnknownCode) for value in fields.values()):
            raise ValueError
    except (DescriptorError, KeyError, TypeError, ValueError):
        machine.skipped.setdefault(step.place, "an instruction descriptor that describes no instruction")
        machine.tensor_unknown = True
        return None
    group = view.cta_group or 1
    ranks = [one.cta] if group == 1 else [one.cta & ~1, one.cta | 1]
    if group == 2 and one.cta % 2:
        _unseen(machine, step, "a second CTA of the pair issues it too, where one is to issue for both")
        ranks = [one.cta]
    _operands(machine, one, step, view, fields, values, ranks, access)
    _accumulate(machine, one, step, view, fields, (m, n), ranks, access)
    return None


_CONTAINERS = {"e2m1": "e2m1_unpacksmem"}


def _operands(
    machine: Machine,
    one: Fragment,
    step: Step,
    view: TensorMma,
    fields: dict[str, object],
    values: list[int],
    ranks: list[int],
    access: Access,
) -> None:
    k = 96 if fields.get("k_is_96") else view.k * (1 + view.sparse)
    sides = (("a", values[0], fields["m"], k // (1 + view.sparse)), ("b", values[1], fields["n"], k))
    for name, word, extent, depth in sides:
        if word < 0:
            continue
        dtype = str(fields.get(f"{name}_dtype", ""))
        if view.kind.endswith("f8f6f4"):
            dtype = _CONTAINERS.get(dtype, dtype)
        major = "MN" if str(fields.get(f"{name}_major")) == "MN" else "K"
        for rank in ranks if rank_exists(machine, ranks) else [one.cta]:
            runs = operand_runs(word, "sm100", dtype, major, (int(str(extent)) // (view.cta_group or 1), depth), rank)
            _read(
                machine,
                one,
                step,
                runs,
                access,
                one.known,
                one.published,
                padded="e2m1" in dtype or "e3m2" in dtype or ("e2m3" in dtype),
            )


def rank_exists(machine: Machine, ranks: list[int]) -> bool:
    """Whether the CTAs of a pair are in the cluster that runs.

    >>> rank_exists.__name__
    'rank_exists'
    """
    return max(ranks) < machine.ctas


def _accumulate(
    machine: Machine,
    one: Fragment,
    step: Step,
    view: TensorMma,
    fields: dict[str, object],
    shape: tuple[int, int],
    ranks: list[int],
    access: Access,
) -> None:
    place = _place(machine, one, step, view.d)
    enable = machine.value(one, view.enable) if not isinstance(view.enable, int) else view.enable
    if place is not None:
        lane, column = place
        m, n = shape
        groups, columns = _cells(
            m, n, str(fields.get("d_dtype", "f32")), view.cta_group or 1, view.ws, view.sparse, lane
        )
        if not groups:
            _unseen(machine, step, "an accumulator of no instruction")
            return
        for rank in ranks if rank_exists(machine, ranks) else [one.cta]:
            span = (column, column + columns)
            if enable == 1:
                _touch(machine, step, rank, groups, span, access._replace(kind="an addition"), one.known, writes=False)
            _touch(machine, step, rank, groups, span, access, one.known, writes=True)
    if isinstance(view.a, Address) and (at := _place(machine, one, step, view.a)) is not None:
        depth = (96 if fields.get("k_is_96") else view.k * (1 + view.sparse)) // (1 + view.sparse)
        dtype = str(fields.get("a_dtype"))
        if view.kind.endswith("f8f6f4"):
            dtype = _CONTAINERS.get(dtype, dtype)
        try:
            groups, columns = _cells_of_a(shape[0], depth, dtype, view.cta_group or 1, view.sparse, at[0])
        except DescriptorError:
            _unseen(machine, step, "A of no instruction")
            return
        for rank in ranks if rank_exists(machine, ranks) else [one.cta]:
            _touch(machine, step, rank, groups, (at[1], at[1] + columns), access, one.known, writes=False)
    if view.scales:
        _unseen(machine, step, "which cells scale factors are read from")


def _copy(machine: Machine, one: Fragment, step: Step) -> bool | None:
    access = _issue(machine, one, step)
    if one.many > 1:
        machine.tell("tcgen05-elect", step, f"found {one.many} threads of a warp that issue it")
    if step.instruction.qualifiers[1] == "shift":
        return None
    place = _place(machine, one, step, step.instruction.operands[0])
    if place is None:
        return None
    words = step.instruction.qualifiers
    machine.skipped.setdefault(step.place, "what it reads of shared memory is not followed")
    name = next((w for w in words if _COPY.match(w)), "")
    multicast = next((w for w in words if w.startswith("warpx")), "")
    try:
        groups, columns = _cells_of_copy(f"{name}.{multicast}" if multicast else name)
    except DescriptorError:
        _unseen(machine, step, "a shape of no copy")
        return None
    if place[0] or not groups:
        _unseen(machine, step, "lanes that are followed in groups of 16 alone")
    for rank in [one.cta] if "cta_group::1" in words else [one.cta & ~1, one.cta | 1]:
        span = (place[1], place[1] + columns)
        _touch(machine, step, rank, groups, span, access, one.known, writes=True)
    return None


def _commit(machine: Machine, one: Fragment, step: Step) -> bool | None:
    operands = step.instruction.operands
    address = machine.known(one, operands[0], step, "the address of an mbarrier")
    ranks = None
    if any(w.startswith("multicast") for w in step.instruction.qualifiers) and len(operands) > 1:
        mask = machine.known(one, operands[1], step, "the CTAs of a commit")
        ranks = [rank for rank in range(machine.ctas) if mask >> rank & 1]
    for rank in ranks if ranks is not None else [address >> RANK]:
        barrier = barrier_at(machine, one, step, of_cta(address, rank))
        barrier.learn(one.issued | one.issued_known, one.issued_published)
        arrived(machine, step, barrier, barrier.arrive(one.many))
    if one.many > 1:
        machine.tell("tcgen05-elect", step, f"found {one.many} threads of a warp that issue it")
    return None


def _nothing(machine: Machine, one: Fragment, step: Step) -> bool | None:
    return None


TENSOR: dict[str, Handler] = {
    "wgmma.mma_async": _wgmma,
    "wgmma.commit_group": _wgmma_commit,
    "wgmma.wait_group": _wgmma_wait,
    "wgmma.fence": _nothing,
    "tcgen05.alloc": _alloc,
    "tcgen05.dealloc": _dealloc,
    "tcgen05.ld": _load,
    "tcgen05.st": _load,
    "tcgen05.wait::ld": _wait,
    "tcgen05.wait::st": _wait,
    "tcgen05.mma": _mma,
    "tcgen05.cp": _copy,
    "tcgen05.shift": _copy,
    "tcgen05.commit": _commit,
}
