"""The machine that executes the integers of a cluster: threads that branch, wait and meet again.

A warp is a *fragment*, its lanes with one program counter; a branch that its lanes decide differently makes two, which
are one again where the ways meet, or go on alone if one of them waits for ever. What a register holds that the text
does not say is unknown, with the reason: a branch on it whose ways hold no event but stores, loads and fences is passed
over, and those are told as not seen; one that parameters of floating point decide is run both ways; before any other
the run stops, and says where.
What two fragments know is what waiting told them, so one schedule is enough: what is in no order then is in none. Lanes
that meet again behind a branch know what either of them knew, which the manual does not promise without bar.warp.sync:
compilers count on it, and a missing one is not seen. A wait that fails twice in a row is parked until its barrier's
phase ends. Where nobody can go on, copies whose bytes the text does not say are taken to have come, then lanes that
wait for others of their warp go on without them; where that helps nobody, the kernel hangs.
Source: PTX ISA 9.1, Thread Hierarchy; Special Registers; Parallel Synchronization and Communication Instructions; the
way of emulating the integers of each warp is Weft's (Sharma, Bauer, Aiken 2015).

Law: lanes that a branch takes apart are one again where its ways meet, each with what it computed.

>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "mov.u32 a, %tid.x; setp.lt.u32 p, a, 3; @p bra L; add.u32 a, a, 100; L: st.shared.b32 [s], a; ret;"
>>> launch = Launch((4, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
>>> held = Machine(program(parse(f".version 8.8\\n.entry k() {{ {body} }}").functions[0]), launch, {})
>>> held.run()
>>> [(one.lanes, one.registers["a"]) for one in held.fragments]
[((0, 1, 2, 3), (0, 1, 2, 103))]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple

from descriptors.check.execution.arithmetic import comparison, operation, type_of
from descriptors.check.execution.knowledge import Access, Clash, Segments
from descriptors.check.execution.lanes import Unknown, Value, each, lane_values, of_lanes, together
from descriptors.check.execution.mbarrier import Mbarrier
from descriptors.check.execution.program import Program, Step
from descriptors.check.ptx.ptx_module import Instruction
from descriptors.check.ptx.ptx_operands import Address, Negated, Operand, Pair, Vector

WARP = 32
#: Bits of a shared address below the rank of its CTA.
RANK = 24
#: Where a value comes from that is the same all over a run, whatever it is.
PARAMETER = "a parameter of floating point"
#: Where the local memory of a thread begins, among generic addresses.
LOCAL = 1 << 40
#: Where parameters lie.
PARAMETERS = 1 << 42


def of_cta(address: int, rank: int) -> int:
    """The same shared address in the CTA of a rank.

    >>> hex(of_cta(0x2000010, 1))
    '0x1000010'
    """
    return address & ~(0xFF << RANK) | rank << RANK


def items_of(operand: Operand) -> tuple[Operand, ...]:
    """The operands of a vector, or the one that it is.

    >>> items_of(Vector(("a", "b"))), items_of("a")
    (('a', 'b'), ('a',))
    """
    return operand.items if isinstance(operand, Vector) else (operand,)


class Launch(NamedTuple):
    """How a kernel is started.

    Args:
        threads: of a CTA, along x, y, z.
        cluster: CTAs of a cluster, along x, y, z; they are the grid's first.
        grid: CTAs of the grid, along x, y, z.
        size: what a 32-bit parameter is that is not named.
        scalars: what others are, by name and offset.
        variables: addresses of shared variables.
        sizes: bytes of a copy, by what names its tensor map; None for a run that is to learn them.
        choices: which way branches go that parameters of floating point decide, by their instruction.
    """

    threads: tuple[int, int, int]
    cluster: tuple[int, int, int]
    grid: tuple[int, int, int]
    size: int
    scalars: Mapping[tuple[str, int], int]
    variables: Mapping[str, int]
    sizes: Mapping[object, int] | None
    choices: Mapping[int, bool]


class Stop(Exception):
    """The run cannot go on: the line, the value that is not known, why, and the branch that may go either way."""

    def __init__(self, line: int, what: str, why: str, fork: int = -1) -> None:
        super().__init__(f"line {line}: {what}: {why}")
        self.line, self.what, self.why, self.fork = line, what, why, fork


class Witness(NamedTuple):
    """Something wrong that the run came to.

    Args:
        rule: of the table.
        place: of the instruction.
        found: what was found.
        other: the line of the other event; 0 for none.
    """

    rule: str
    place: int
    found: str
    other: int = 0


class _Join:
    """Where the ways of a branch meet again: the lanes that are to come, and the fragments that have."""

    __slots__ = ("arrived", "dead", "lanes", "pc")

    def __init__(self, pc: int, lanes: set[int]) -> None:
        self.pc, self.lanes, self.dead = pc, lanes, False
        self.arrived: list[Fragment] = []


class Fragment:
    """Lanes of a warp that go one way.

    Args:
        cta: rank of its CTA in the cluster.
        warp: number of its warp.
        lanes: numbers of its lanes, in order.
    """

    def __init__(self, cta: int, warp: int, lanes: tuple[int, ...]) -> None:
        self.cta, self.warp, self.lanes = cta, warp, lanes
        self.registers: dict[str, Value] = {}
        self.pc = 0
        self.joins: tuple[_Join, ...] = ()
        self.known = self.published = 0
        self.epoch = -1
        self.active: list[int] | None = None  # places of the lanes that a guard lets through
        self.failed: tuple[int, int] = (-1, -1)
        self.blocked = ""
        self.done = False
        self.groups: dict[str, list[int]] = {"wgmma": [0], "bulk": [0], "cp": [0]}  # open group last
        self.issued = 0  # tcgen05 operations of this thread, as bits
        self.issued_known = self.issued_published = 0
        self.loads = self.stores = 0  # tcgen05.ld and st that no wait covers yet
        self.loaded: dict[int, int] = {}  # tcgen05.ld whose registers nothing used yet
        self.sequence = 0  # wgmma issued so far
        self.cluster_phase = 0

    @property
    def many(self) -> int:
        """Lanes that execute the instruction at hand."""
        return len(self.lanes) if self.active is None else len(self.active)


Handler = Callable[["Machine", Fragment, Step], "bool | None"]


class Machine:
    """A cluster that executes a kernel.

    Args:
        program: the kernel.
        launch: how it is started.
        handlers: what executes an event, by the beginning of its opcode, the longest first.
        budget: steps after which the run is given up.
    """

    def __init__(
        self, program: Program, launch: Launch, handlers: Mapping[str, Handler], budget: int = 2_000_000
    ) -> None:
        self.program, self.launch, self.budget = program, launch, budget
        self.steps = program.steps
        self.count = 0
        self.ctas = launch.cluster[0] * launch.cluster[1] * launch.cluster[2]
        threads = launch.threads[0] * launch.threads[1] * launch.threads[2]
        self.warps = (threads + WARP - 1) // WARP
        self.runnable: deque[Fragment] = deque()
        self.alive: dict[tuple[int, int], set[int]] = {}
        self.fragments: list[Fragment] = []
        for cta in range(self.ctas):
            for warp in range(self.warps):
                lanes = tuple(range(min(WARP, threads - warp * WARP)))
                self.alive[cta, warp] = set(lanes)
                one = Fragment(cta, warp, lanes)
                self.fragments.append(one)
                self.runnable.append(one)
        self.waiting: dict[object, list[Fragment]] = {}
        self.joins: list[_Join] = []
        self.bits = 0
        self.barriers: dict[int, Mbarrier] = {}
        self.every_barrier: list[Mbarrier] = []
        self.rendezvous: dict[object, Rendezvous] = {}
        self.shared = Segments()
        self.bytes: dict[int, int] = {}
        self.tensor: dict[tuple[int, int], Segments] = {}
        self.allocated: dict[int, list[tuple[int, int]]] = {}
        self.found: dict[tuple[str, int, int], Witness] = {}
        self.skipped: dict[int, str] = {}
        self.warpgroups: dict[tuple[int, int, int], list[int]] = {}  # wgmma that not all four warps have issued
        self.issuing: dict[int, tuple[int, int]] = {}  # their bits, and the warpgroup
        self.behind: dict[int, tuple[int, int]] = {}  # what a wgmma that was issued came after
        self.copies: list[tuple[int, object, int]] = []
        self.footprints: set[tuple[int, int]] = set()
        self.hung = False
        self.unwritten: dict[int, tuple[int, int]] = {}
        self.freed: dict[int, list[tuple[int, int, Access]]] = {}
        self.unseen: dict[int, str] = {}  # what of tensor memory the run does not see
        self.tensor_unknown = False
        self.filled = False  # whether something wrote bytes of an operand
        self.local: dict[tuple[int, int, int], int] = {}
        self.cancels: dict[int, int] = {}
        self.scalars: dict[tuple[str, int], int] = {}
        self._handlers = [_handler(step.instruction, handlers) for step in self.steps]

    # -- values

    def value(self, one: Fragment, operand: Operand) -> Value:
        """What an operand holds, for the lanes that execute."""
        if isinstance(operand, int):
            return operand
        if isinstance(operand, str):
            found = one.registers.get(operand)
            if found is None:
                found = self._named(one, operand)
            if one.active is not None and type(found) is tuple:
                return of_lanes(found, one.active)
            return found
        if isinstance(operand, Negated):
            return each(lambda a: a ^ 1, [self.value(one, operand.name)], one.many)
        if isinstance(operand, Address):
            base = self.value(one, operand.base) if operand.base else 0
            offset = operand.offset
            return each(lambda a: a + offset & 0xFFFFFFFFFFFFFFFF, [base], one.many) if offset else base
        return Unknown("an operand that is not read")

    def _named(self, one: Fragment, name: str) -> Value:
        """A name that is no register with a value: a special register, or a variable."""
        launch = self.launch
        if name.startswith("%"):
            stem, _, axis = name[1:].partition(".")
            place = "xyz".find(axis) if axis else 0
            if stem == "tid":
                width, height = launch.threads[0], launch.threads[1]
                numbers = [one.warp * WARP + lane for lane in one.lanes]
                step, extent = ((1, width), (width, height), (width * height, 1 << 10))[place]
                return together([number // step % extent for number in numbers])
            if stem == "laneid":
                return together(one.lanes)
            if stem in ("ntid", "nctaid"):
                return (launch.threads if stem == "ntid" else launch.grid)[place]
            if stem == "warpid":
                return one.warp
            rank, (x, y, _) = one.cta, launch.cluster
            if stem in ("ctaid", "cluster_ctaid"):
                return (rank % x, rank // x % y, rank // x // y)[place]
            fixed = {
                "cluster_ctarank": rank,
                "cluster_nctarank": self.ctas,
                "cluster_nctaid": launch.cluster[place],
                "clusterid": 0,
                "nclusterid": max(1, launch.grid[place] // launch.cluster[place]),
                "is_explicit_cluster": 1,
                "smid": rank,
                "nwarpid": self.warps,
                "gridid": 0,
            }
            if stem in fixed:
                return fixed[stem]
            if stem.startswith("lanemask_"):
                return together([_lane_mask(stem[9:], lane) for lane in one.lanes])
            if stem == "total_smem_size" or stem == "dynamic_smem_size":
                return 227 << 10
        if name in launch.variables:
            return launch.variables[name] | one.cta << RANK
        if name in self.program.parameters:
            return PARAMETERS + (self.program.parameters[name] << 16)
        if name in self.program.function.variables:
            return LOCAL + (list(self.program.function.variables).index(name) << 20)
        return Unknown(f"{name}, which nothing writes")

    def known(self, one: Fragment, operand: Operand, step: Step, what: str) -> int:
        """A value that all lanes must share and the run needs.

        Raises:
            Stop: if it is not known, or differs between lanes.
        """
        value = self.value(one, operand)
        if type(value) is int:
            return value
        if type(value) is Unknown:
            raise Stop(step.instruction.line, what, _origin(value))
        raise Stop(step.instruction.line, what, "a value that differs between the lanes of a warp")

    def set(self, one: Fragment, name: Operand, value: Value) -> None:
        """Write a register, in the lanes that execute."""
        if not isinstance(name, str) or name == "_":
            return
        if one.active is not None and len(one.active) < len(one.lanes):
            before = list(
                lane_values(one.registers.get(name, Unknown(f"{name}, which nothing writes")), len(one.lanes))
            )
            for place, number in zip(one.active, lane_values(value, len(one.active)), strict=True):
                before[place] = number
            value = together(before)
        one.registers[name] = value

    # -- accesses

    def access(self, one: Fragment, step: Step, kind: str, *, generic: bool = False) -> Access:
        """An ordinary access of a fragment: all between two tellings are one bit."""
        if one.epoch < 0:
            one.epoch = self.fresh()
            one.known |= 1 << one.epoch
        return Access(one.epoch, step.instruction.line, kind, generic)

    def fresh(self) -> int:
        """A bit for an access."""
        self.bits += 1
        return self.bits - 1

    def clash(self, step: Step, rule: str, clash: Clash, found: str) -> None:
        """Tell of two accesses without order, once for each pair of instructions."""
        self.tell(rule, step, found, clash.earlier.line)

    def tell(self, rule: str, step: Step, found: str, other: int = 0) -> None:
        """Tell of something wrong."""
        self.found.setdefault((rule, step.place, other), Witness(rule, step.place, found, other))

    # -- running

    def run(self) -> None:
        """Run to the end, or to where the run cannot go on.

        Raises:
            Stop: if it depends on what is not known.
        """
        while True:
            while self.runnable:
                self._advance(self.runnable.popleft())
            if not self._settle():
                break
        live = [one for one in self.fragments if not one.done]
        if live:
            self.hung = True

    def _settle(self) -> bool:
        """What happens where nobody can go on; whether anything does."""
        ended = [barrier.address for barrier in self.barriers.values() if barrier.settle()]
        if ended:
            for address in ended:
                self.wake(("m", address))
            return True
        for key in [key for key in self.waiting if isinstance(key, tuple) and key[0] == "warp" and self.waiting[key]]:
            for one in self.waiting.pop(key):
                one.registers["\0alone"] = 1
                self.resume(one)
            return True
        for join in self.joins:
            if join.arrived and not join.dead:
                join.dead = True
                for one in join.arrived:
                    one.joins = tuple(held for held in one.joins if held is not join)
                    self.resume(one)
                self.joins = [held for held in self.joins if not held.dead]
                return True
        return False

    def park(self, one: Fragment, key: object, why: str) -> bool:
        """Let a fragment wait until somebody wakes who waits for this."""
        one.blocked = why
        self.waiting.setdefault(key, []).append(one)
        return True

    def wake(self, key: object) -> None:
        """Let all go on that wait for this."""
        for one in self.waiting.pop(key, ()):
            self.resume(one)

    def resume(self, one: Fragment) -> None:
        """Let a fragment go on."""
        one.blocked = ""
        self.runnable.append(one)

    def _advance(self, one: Fragment) -> None:
        """Execute a fragment until it waits, ends or branches."""
        steps, handlers = self.steps, self._handlers
        while True:
            if one.joins and one.pc == one.joins[-1].pc and self._meet(one):
                return
            if one.pc >= len(steps):
                self._end(one, list(range(len(one.lanes))))
                return
            step = steps[one.pc]
            self.count += 1
            if self.count > self.budget:
                raise Stop(step.instruction.line, "a run that does not end", f"stopped after {self.budget} steps")
            handler, instruction = handlers[one.pc], step.instruction
            if step.place in self.program.uses:
                for load in self.program.uses[step.place]:
                    one.known |= one.loaded.pop(load, 0)
            if instruction.predicate and handler is not _branch and handler is not _leave:
                if not self._guarded(one, step, handler):
                    one.pc += 1
                    continue
                if handler(self, one, step):
                    return
                one.active = None
                one.pc += 1
            elif handler(self, one, step):
                return
            else:
                one.pc += 1

    def _guarded(self, one: Fragment, step: Step, handler: Handler) -> bool:
        """Whether some lane executes a guarded instruction; the fragment is left with those lanes active."""
        value = self.value(one, step.instruction.predicate)
        negated = step.instruction.negated
        if type(value) is int:
            return bool(value) != negated
        if type(value) is tuple and not any(type(v) is Unknown for v in value):
            places = [place for place, v in enumerate(value) if bool(v) != negated]
            if len(places) < len(one.lanes):
                one.active = places
            return bool(places)
        unknown = _first_unknown(value, len(one.lanes))
        if handler is _compute or handler is _unknown_result:
            for name in _results(step.instruction):
                one.registers[name] = unknown
        elif step.instruction.opcode.startswith(("st.", "ld.", "stmatrix", "ldmatrix", "call", "trap", "cp.async.c")):
            for name in _results(step.instruction):
                one.registers[name] = unknown
            self.skipped.setdefault(step.place, f"a guard that depends on {_origin(unknown)}")
        else:
            raise Stop(step.instruction.line, f"the guard of {_short(step.instruction)}", _origin(unknown))
        return False

    def _meet(self, one: Fragment) -> bool:
        """At the end of a branch: whether the fragment waits for the other lanes, or is taken up by them."""
        join = one.joins[-1]
        if join.dead:
            one.joins = one.joins[:-1]
            return bool(one.joins and one.pc == one.joins[-1].pc and self._meet(one))
        join.arrived.append(one)
        one.blocked = "join"
        self._complete(join)
        return True

    def _complete(self, join: _Join) -> None:
        if join.dead or sum(len(one.lanes) for one in join.arrived) < len(join.lanes) or not join.arrived:
            return
        join.dead = True
        self.joins = [one for one in self.joins if one is not join]
        self.resume(self.merged(join.arrived, join))

    def merged(self, parts: list[Fragment], join: _Join | None) -> Fragment:
        """Fragments at one place as one: where a join is, with the registers that are read behind it alone."""
        first = parts[0]
        first.joins = tuple(held for held in first.joins if held is not join)
        if len(parts) == 1:
            return first
        order = sorted((lane, number, place) for number, p in enumerate(parts) for place, lane in enumerate(p.lanes))
        registers: dict[str, Value] = {}
        live = None if join is None else self.program.live.get(join.pc)
        for name in {name for part in parts for name in part.registers if live is None or name in live}:
            values = [part.registers.get(name) for part in parts]
            head = values[0]
            if type(head) is int and all(v == head for v in values):
                registers[name] = head
                continue
            unset = Unknown(f"{name}, which not every way writes")
            rows = [lane_values(unset if v is None else v, len(p.lanes)) for v, p in zip(values, parts, strict=True)]
            registers[name] = together([rows[number][place] for _, number, place in order])
        for other in parts[1:]:
            first.known |= other.known
            first.published |= other.published
            first.issued |= other.issued
            first.issued_known |= other.issued_known
            first.issued_published |= other.issued_published
            first.loads |= other.loads
            first.stores |= other.stores
            first.sequence = max(first.sequence, other.sequence)
            first.cluster_phase = max(first.cluster_phase, other.cluster_phase)
            first.loaded = {**first.loaded, **other.loaded}
            for kind, rows_ in other.groups.items():
                first.groups[kind] = _aligned(first.groups[kind], rows_)
            other.done = True
        self.fragments = [one for one in self.fragments if not (one.done and one in parts)]
        first.epoch = -1
        first.lanes = tuple(lane for lane, _, _ in order)
        first.registers = registers
        return first

    def split(self, one: Fragment, places: list[int], pc: int, meeting: int | None) -> Fragment:
        """Take some lanes of a fragment apart, to go on elsewhere; both are one again where the ways meet."""
        other = Fragment(one.cta, one.warp, tuple(one.lanes[place] for place in places))
        kept = [place for place in range(len(one.lanes)) if place not in set(places)]
        other.registers = {n: of_lanes(v, places) if type(v) is tuple else v for n, v in one.registers.items()}
        one.registers = {n: of_lanes(v, kept) if type(v) is tuple else v for n, v in one.registers.items()}
        for name in (
            "known",
            "published",
            "issued",
            "issued_known",
            "issued_published",
            "loads",
            "stores",
            "sequence",
            "cluster_phase",
        ):
            setattr(other, name, getattr(one, name))
        other.loaded = dict(one.loaded)
        other.groups = {kind: list(rows) for kind, rows in one.groups.items()}
        one.epoch = -1
        other.pc = pc
        if meeting is not None:
            join = _Join(meeting, {*one.lanes})
            self.joins.append(join)
            one.joins = (*one.joins, join)
        other.joins = one.joins
        one.lanes = tuple(one.lanes[place] for place in kept)
        self.fragments.append(other)
        self.runnable.append(other)
        return other

    def _end(self, one: Fragment, places: list[int]) -> None:
        """Lanes end."""
        gone = {one.lanes[place] for place in places}
        self.alive[one.cta, one.warp] -= gone
        for join in one.joins:
            join.lanes -= gone
        if len(places) == len(one.lanes):
            one.done = True
        else:
            kept = [place for place in range(len(one.lanes)) if place not in set(places)]
            one.registers = {n: of_lanes(v, kept) if type(v) is tuple else v for n, v in one.registers.items()}
            one.lanes = tuple(one.lanes[place] for place in kept)
        for join in one.joins:
            self._complete(join)
        for key in list(self.rendezvous):
            self.rendezvous[key].check(self)

    def live_lanes(self, cta: int | None = None) -> int:
        """Lanes that have not ended, of a CTA or of all."""
        return sum(len(lanes) for (number, _), lanes in self.alive.items() if cta is None or number == cta)


class Rendezvous:
    """A barrier at which threads of a CTA, or of a cluster, meet: who came, who waits, and what they told.

    Args:
        key: what names it.
        target: how many threads meet there; None for all that live.
        cta: of which CTA; None for the cluster.
    """

    def __init__(self, key: object, target: int | None, cta: int | None) -> None:
        self.key, self.target, self.cta = key, target, cta
        self.came = self.phase = self.known = self.published = 0
        self.waiters: list[Fragment] = []

    def check(self, machine: Machine) -> None:
        """End the phase if all have come."""
        wanted = machine.live_lanes(self.cta) if self.target is None else self.target
        if not self.came or self.came < wanted:
            return
        self.came, self.phase = self.came - wanted, self.phase + 1
        for one in _warps(machine, self.waiters):
            one.known |= self.known
            one.published |= self.published
            one.pc += 1
            one.active = None
            machine.resume(one)
        self.waiters = []


def _warps(machine: Machine, waiters: list[Fragment]) -> list[Fragment]:
    """Those that waited, the fragments of a warp at one place as one again."""
    groups: dict[tuple[int, int, int, tuple[_Join, ...]], list[Fragment]] = {}
    for one in waiters:
        groups.setdefault((one.cta, one.warp, one.pc, one.joins), []).append(one)
    return [machine.merged(parts, None) for parts in groups.values()]


def _aligned(one: list[int], other: list[int]) -> list[int]:
    """Groups of two fragments as one's: the newest with the newest."""
    size = max(len(one), len(other))
    rows = [[0] * (size - len(held)) + held for held in (one, other)]
    return [a | b for a, b in zip(*rows, strict=True)]


def _lane_mask(which: str, lane: int) -> int:
    below = (1 << lane) - 1
    full = 0xFFFFFFFF
    return {"eq": 1 << lane, "lt": below, "le": below | 1 << lane, "gt": full & ~(below | 1 << lane)}.get(
        which, full & ~below
    )


def _origin(value: Value) -> str:
    return f"{value.why}{f', line {value.line}' if value.line else ''}" if type(value) is Unknown else "a value"


def _first_unknown(value: Value, lanes: int) -> Unknown:
    return next(v for v in lane_values(value, lanes) if isinstance(v, Unknown))


def _short(one: Instruction) -> str:
    return ".".join(one.qualifiers[:3])


def _results(one: Instruction) -> list[str]:
    """The registers that an instruction writes."""
    if not one.operands:
        return []
    match one.operands[0]:
        case str() as name:
            return [name]
        case Pair(first, second):
            return [first, second]
        case Vector(items):
            return [item for item in items if isinstance(item, str)]
    return []


# -- what is no event


def _handler(one: Instruction, handlers: Mapping[str, Handler]) -> Handler:
    name = one.opcode
    if name.startswith("bra"):
        return _branch
    if name.startswith("brx"):
        return _table_branch
    if name.startswith(("ret", "exit")):
        return _leave
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        found = handlers.get(".".join(parts[:size]))
        if found is not None:
            return found
    if parts[0] in ("setp", "mov", "ld", "set") or operation(name) is not None:
        return _compute
    return _unknown_result


def _branch(machine: Machine, one: Fragment, step: Step) -> bool | None:
    instruction = step.instruction
    target = machine.program.at(str(instruction.operands[-1]))
    goal = len(machine.steps) if target is None else target
    if step.place in machine.program.idle:
        one.pc = (machine.program.meeting(step.block) or 0) - 1
        return None
    if not instruction.predicate:
        one.pc = goal - 1
        return None
    value = machine.value(one, instruction.predicate)
    if type(value) is int:
        if bool(value) != instruction.negated:
            one.pc = goal - 1
        return None
    if type(value) is tuple and not any(type(v) is Unknown for v in value):
        taken = [place for place, v in enumerate(value) if bool(v) != instruction.negated]
        if len(taken) == len(one.lanes):
            one.pc = goal - 1
        elif taken:
            machine.split(one, taken, goal, machine.program.meeting(step.block))
        return None
    return _unknown_branch(machine, one, step, value)


def _unknown_branch(machine: Machine, one: Fragment, step: Step, value: Value) -> bool | None:
    """A branch on what is not known: passed over if nothing happens on its ways."""
    unknown = _first_unknown(value, len(one.lanes))
    region, meeting = machine.program.region(step.block), machine.program.meeting(step.block)
    if region.hard or meeting is None:
        if unknown.why != PARAMETER:
            raise Stop(step.instruction.line, "a branch", _origin(unknown))
        if step.place not in machine.launch.choices:
            raise Stop(step.instruction.line, "a branch", _origin(unknown), step.place)
        if machine.launch.choices[step.place]:
            target = machine.program.at(str(step.instruction.operands[-1]))
            one.pc = (len(machine.steps) if target is None else target) - 1
        return None
    for index in region.soft:
        machine.skipped.setdefault(index, f"a branch on {_origin(unknown)}")
    for name in region.written:
        one.registers[name] = unknown
    one.pc = meeting - 1
    return None


def _table_branch(machine: Machine, one: Fragment, step: Step) -> bool | None:
    labels = machine.program.function.tables.get(str(step.instruction.operands[-1]))
    value = machine.value(one, step.instruction.operands[0])
    if type(value) is not int or labels is None:
        why = _origin(value) if type(value) is not tuple else "a value that differs between the lanes of a warp"
        raise Stop(step.instruction.line, "a branch by a table", why)
    if value >= len(labels):
        raise Stop(step.instruction.line, "a branch by a table", f"place {value} of {len(labels)}")
    target = machine.program.at(labels[value])
    one.pc = (len(machine.steps) if target is None else target) - 1
    return None


def _leave(machine: Machine, one: Fragment, step: Step) -> bool | None:
    instruction = step.instruction
    places = list(range(len(one.lanes)))
    if instruction.predicate:
        value = machine.value(one, instruction.predicate)
        values = lane_values(value, len(one.lanes))
        if any(type(v) is Unknown for v in values):
            raise Stop(
                instruction.line, "the guard of a return", _origin(next(v for v in values if type(v) is Unknown))
            )
        places = [place for place, v in enumerate(values) if bool(v) != instruction.negated]
        if not places:
            return None
    machine._end(one, places)
    return one.done or None


def _unknown_result(machine: Machine, one: Fragment, step: Step) -> bool | None:
    """An instruction whose result is data."""
    instruction = step.instruction
    what = (
        "a value loaded from global memory"
        if instruction.opcode.startswith(("ld", "atom"))
        else (f"what {_short(instruction)} computes")
    )
    unknown = _of_parameters(machine, one, instruction) or Unknown(what, instruction.line)
    for name in _results(instruction):
        machine.set(one, name, unknown)
    return None


def _of_parameters(machine: Machine, one: Fragment, instruction: Instruction) -> Unknown | None:
    """What is computed of parameters of floating point and constants alone is as constant as they are."""
    if instruction.opcode.startswith(("ld", "atom", "red", "tcgen05", "wgmma", "mma")) or len(instruction.operands) < 2:
        return None
    values = [machine.value(one, operand) for operand in instruction.operands[1:]]
    unknown = next((v for v in values if type(v) is Unknown), None)
    same = all(type(v) is int or (type(v) is Unknown and v.why == PARAMETER) for v in values)
    return unknown if same and unknown is not None else None


def _compute(machine: Machine, one: Fragment, step: Step) -> bool | None:
    """An instruction on integers."""
    instruction = step.instruction
    name, operands = instruction.opcode.partition(".")[0], instruction.operands
    if name == "setp":
        return _compare(machine, one, instruction)
    if name == "mov" and len(operands) == 2 and (isinstance(operands[0], Vector) or isinstance(operands[1], Vector)):
        return _pack(machine, one, instruction)
    compute = operation(instruction.opcode)
    if compute is None or len(operands) < 2:
        return _unknown_result(machine, one, step)
    values = [machine.value(one, operand) for operand in operands[1:]]
    if name in ("and", "mul", "shl") and any(type(v) is Unknown for v in values) and 0 in values[: 1 + (name != "shl")]:
        result: Value = 0
    elif name == "selp" and type(values[2]) is int:
        result = each(compute, [values[0 if values[2] else 1]] * 2 + [values[2]], one.many, instruction.line)
    else:
        try:
            result = each(compute, values, one.many, instruction.line)
        except TypeError:
            return _unknown_result(machine, one, step)
    if isinstance(operands[0], str):
        machine.set(one, operands[0], result)
    else:
        return _unknown_result(machine, one, step)
    return None


def _compare(machine: Machine, one: Fragment, instruction: Instruction) -> bool | None:
    compare, operands = comparison(instruction.opcode), instruction.operands
    words = instruction.qualifiers
    logic = next((w for w in words[2:-1] if w in ("and", "or", "xor")), "")
    values = [machine.value(one, operand) for operand in operands[1:]]
    first, second = (operands[0].first, operands[0].second) if isinstance(operands[0], Pair) else (operands[0], None)
    if compare is None or len(values) != 2 + bool(logic):
        result: Value = _of_parameters(machine, one, instruction) or Unknown(
            f"what {_short(instruction)} computes", instruction.line
        )
        opposite = result
    else:
        plain = each(lambda a, b: int(compare(a, b)), values[:2], one.many)
        result, opposite = plain, each(lambda a: a ^ 1, [plain], one.many)
        if logic:
            join = {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}[logic]
            third = values[2]
            absorbing = {"and": 0, "or": 1}.get(logic)
            result = (
                third if third == absorbing else plain if plain == absorbing else each(join, [plain, third], one.many)
            )
            opposite = each(join, [opposite, third], one.many)
    machine.set(one, first, result)
    if second is not None:
        machine.set(one, second, opposite)
    return None


def _pack(machine: Machine, one: Fragment, instruction: Instruction) -> bool | None:
    """``mov`` between a register and a vector of its parts."""
    target, source = instruction.operands
    kind = type_of(instruction.qualifiers[-1])
    if kind is None:
        for name in _results(instruction):
            machine.set(one, name, Unknown("data", instruction.line))
        return None
    if isinstance(source, Vector):
        bits = kind[1] // len(source.items)

        def joined(*parts: int) -> int:
            return sum((part & (1 << bits) - 1) << bits * place for place, part in enumerate(parts))

        machine.set(one, target, each(joined, [machine.value(one, item) for item in source.items], one.many))
    elif isinstance(target, Vector):
        bits = kind[1] // len(target.items)
        value = machine.value(one, source)
        for place, item in enumerate(target.items):
            part = each(lambda a, by=bits * place: a >> by & (1 << bits) - 1, [value], one.many)
            machine.set(one, item, part)
    return None
