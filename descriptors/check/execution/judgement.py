"""A kernel judged by running it: what goes wrong in a run, and what no run could look at.

A kernel is run for several sizes, once to learn what its copies bring and once more with it. Scalar parameters are the
size that the run is for, so that loops make 0, 1, 2 and more rounds; pointers lead nowhere near shared memory; the grid
is one CTA, or one cluster, so that a kernel that takes tile after tile takes all.
Source: as the rules. That a few counts of rounds stand for all is not claimed: a verdict names those that were run.

Law: a loop that waits for what nobody tells is found, and where it waits.

>>> from descriptors.check.ptx.ptx_module import parse
>>> def of(count):
...     made = f"mbarrier.init.shared.b64 [b], {count}; mbarrier.arrive.shared.b64 _, [b];"
...     wait = "L: mbarrier.try_wait.parity.shared.b64 p, [b], 0; @!p bra L; ret;"
...     text = f".version 8.8\\n.shared .b64 b;\\n.entry k() .reqntid 32 {{ {made} {wait} }}"
...     return [(one.rule, one.found) for one in judge(parse(text).functions[0], text).witnesses]
>>> of(32), of(33)
([], [('barrier-hang', 'found [b], in phase 0 with 32 of 33 arrivals')])
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import NamedTuple

from descriptors.check.execution.barrier_events import BARRIERS, place_name
from descriptors.check.execution.copy_sizes import infer
from descriptors.check.execution.machine import Fragment, Handler, Launch, Machine, Stop, Witness
from descriptors.check.execution.mbarrier import Mbarrier, Phase
from descriptors.check.execution.memory_events import MEMORY
from descriptors.check.execution.program import Program, program
from descriptors.check.execution.tensor_events import TENSOR
from descriptors.check.ptx.ptx_module import Function, directive

HANDLERS: Mapping[str, Handler] = {**BARRIERS, **MEMORY, **TENSOR}
#: What scalar parameters are, run by run: rounds of a loop over K in tiles of 64 are a few, and odd and even.
SIZES = (256, 448)
#: One scalar parameter after the other is large, and all others are small, so that every loop makes many rounds.
LARGE, LITTLE, MOST = 1024, 128, 8
#: Sizes with less rounds than a ring has stages: kernels that are never called so may be wrong there.
SMALL = (64, 1)
#: Steps after which a run is given up.
BUDGET = 75_000
#: Steps of all runs after which no other is begun.
LIMIT = 120_000
#: Why a run is given up.
_STOPPED = "stopped after"


class Blind(NamedTuple):
    """Something that a run could not look at.

    Args:
        properties: what is not decided by it.
        line: of the instruction.
        what: what it is.
        why: where its value comes from.
    """

    properties: tuple[str, ...]
    line: int
    what: str
    why: str


class Judgement(NamedTuple):
    """What the runs of a kernel found.

    Args:
        witnesses: what is wrong.
        blind: what was not looked at.
        sizes: what scalar parameters were in the runs that came to their end.
        launch: how it was started.
        assumed: what of that the text does not say.
        steps: steps of all runs.
    """

    witnesses: tuple[Witness, ...]
    blind: tuple[Blind, ...]
    sizes: tuple[str, ...]
    launch: Launch
    assumed: tuple[str, ...]
    steps: int


ALL = ("barriers", "bytes", "proxies", "reuse")
_SHARED = re.compile(
    r"\.shared\s+(?:\.attribute\([^)]*\)\s*)?(?:\.align\s+(\d+)\s+)?\.[bsuf](\d+)\s+([\w$]+)\s*((?:\[\s*\d*\s*\])*)"
)
_CLUSTERS = tuple([(x, n // x, 1) for n in (1, 2, 4, 8, 16) for x in (2, 4, 1, 8) if n % x == 0 and n // x < 8])


def shared_variables(text: str) -> dict[str, int]:
    """Where shared variables lie: those of a known size first, the extern ones behind them, at 1,024 bytes.

    >>> shared_variables(".shared .align 8 .b8 a[24]; .extern .shared .align 16 .b8 b[];")
    {'a': 0, 'b': 1024}
    """
    found: dict[str, int] = {}
    outer: list[str] = []
    place = 0
    for one in _SHARED.finditer(text):
        extents = re.findall(r"\[\s*(\d*)\s*\]", one[4])
        if extents and not extents[0]:
            outer.append(one[3])
            continue
        align = max(16, int(one[1] or 1))
        place = -(-place // align) * align
        found[one[3]] = place
        place += int(one[2]) // 8 * prod(int(extent) for extent in extents)
    place = -(-place // 1024) * 1024
    return found | dict.fromkeys(outer, place)


def _dimensions(head: str, name: str) -> tuple[int, int, int] | None:
    found = (*directive(head, name), 1, 1)
    return (found[0], found[1], found[2]) if len(found) > 2 else None


def judge(function: Function, text: str) -> Judgement:
    """What running a kernel finds.

    Args:
        function: the kernel.
        text: the PTX that it stands in, for its shared variables.
    """
    made = program(function)
    variables = shared_variables(text)
    threads = _dimensions(function.head, "reqntid") or _dimensions(function.head, "maxntid")
    assumed = [] if threads else ["128 threads a CTA"]
    threads = threads or (128, 1, 1)
    cluster = _dimensions(function.head, "reqnctapercluster")
    clusters: tuple[tuple[int, int, int], ...] = (cluster,) if cluster else _CLUSTERS
    if cluster is None and not _clustered(function):
        clusters = ((1, 1, 1),)
    elif cluster is None and any(".cta_group::2" in one.opcode for one in function.code):
        clusters = tuple(one for one in _CLUSTERS if prod(one) > 1)
    runs: list[tuple[Launch, Machine, Stop | None]] = []
    right: list[tuple[Launch, Machine, Stop | None]] = []
    steps = 0
    for shape in clusters:
        launch, machine, stop = _shaped(made, threads, shape, variables)
        steps += machine.count
        if stop is not None and stop.why.startswith(_STOPPED):
            machine, stop = _run(made, launch._replace(size=SMALL[0]))
            steps += machine.count
        runs.append((launch, machine, stop))
        if not machine.hung and (stop is None or (stop.what != "an mbarrier" and not stop.why.startswith(_STOPPED))):
            right.append(runs[-1])
        if len(right) == SHAPES or steps > LIMIT or (right and prod(shape) == 1):
            break
    told: list[Judgement] = []
    for launch, machine, _ in right or runs[:1]:
        unsure = [f"clusters of {'x'.join(map(str, launch.cluster))}"] if len(clusters) > 1 else []
        told.append(_judged(made, launch, machine, assumed + unsure))
        steps += told[-1].steps
        if told[-1].sizes and not told[-1].witnesses and not any(row.what == _SHAPE for row in told[-1].blind):
            return told[-1]
        if steps > 2 * LIMIT:
            break
    return told[0] if len(told) >= len(right) else _shapeless(told[0], function.line)


#: What is open where the launch alone says it.
_SHAPE = "the shape of the cluster"
#: Shapes of a cluster that are looked at, of those with which a kernel comes to its end: what is wrong is so with all.
SHAPES = 2


def _shapeless(told: Judgement, line: int) -> Judgement:
    """A judgement with a shape of the cluster that may not be the launch's."""
    row = Blind(ALL, line, _SHAPE, "the launch says it")
    return told._replace(witnesses=(), blind=(*told.blind, row)) if told.witnesses else told


def _shaped(
    made: Program, threads: tuple[int, int, int], shape: tuple[int, int, int], variables: Mapping[str, int]
) -> tuple[Launch, Machine, Stop | None]:
    """The run of a kernel with one shape of its cluster that comes farthest."""
    launch = Launch(threads, shape, shape, SIZES[0], {}, variables, None, {})
    return launch, *max(_runs(made, launch), key=lambda run: (run[1] is None, run[0].count))


def _clustered(function: Function) -> bool:
    """Whether a kernel does what only CTAs of a cluster do."""
    return any(
        one.opcode.startswith(("mapa", "barrier.cluster"))
        or "multicast::cluster" in one.opcode
        or "cta_group::2" in one.opcode
        for one in function.code
    )


#: Branches that parameters of floating point decide, both ways of which are run.
FORKS = 3


def _runs(made: Program, launch: Launch) -> Iterator[tuple[Machine, Stop | None]]:
    """A run, or one for each way that it may take."""
    machine, stop = _run(made, launch)
    if stop is None or stop.fork < 0 or len(launch.choices) >= FORKS:
        yield machine, stop
        return
    for way in (True, False):
        yield from _runs(made, launch._replace(choices={**launch.choices, stop.fork: way}))


def _run(made: Program, launch: Launch) -> tuple[Machine, Stop | None]:
    machine = Machine(made, launch, HANDLERS, BUDGET)
    try:
        machine.run()
    except Stop as stop:
        return machine, stop
    return machine, None


def _judged(made: Program, launch: Launch, machine: Machine, assumed: list[str]) -> Judgement:
    sizes = _sizes(machine)
    witnesses: dict[tuple[str, int], Witness] = {}
    blind: dict[tuple[int, str], Blind] = {}
    done: list[str] = []
    steps = machine.count
    singles = [(LITTLE, {key: LARGE}) for key in list(machine.scalars)[:MOST]]
    for size, scalars in (*[(size, {}) for size in SIZES], *singles, *[(size, {}) for size in SMALL]):
        runs = list(_runs(made, launch._replace(size=size, scalars=scalars, sizes=sizes, choices={})))
        for machine, stop in runs:
            steps += machine.count
            _gather(made, machine, stop, size in SMALL, witnesses, blind)
        stops = [stop for _, stop in runs if stop is not None]
        if not stops:
            done.append(f"each {LARGE} in turn" if scalars else str(size))
        elif not all(stop.why.startswith(_STOPPED) for stop in stops):
            break
        elif done:
            blind = {key: row for key, row in blind.items() if not row.why.startswith(_STOPPED)}
        if steps > LIMIT:
            break
    found = Judgement(tuple(witnesses.values()), tuple(blind.values()), tuple(done), launch, tuple(assumed), steps)
    unsure = any("clusters" in one for one in assumed)
    if unsure and any(w.rule in ("barrier-hang", "barrier-init") for w in witnesses.values()):
        return _shapeless(found, made.function.line)
    return found


def _gather(
    made: Program,
    machine: Machine,
    stop: Stop | None,
    small: bool,
    witnesses: dict[tuple[str, int], Witness],
    blind: dict[tuple[int, str], Blind],
) -> None:
    """What one run says: of a small one that something is wrong there is a doubt, for it may never be launched so."""
    found = [*machine.found.values()]
    if stop is None:
        found += _hangs(machine) if machine.hung else (*_unread(machine), *_leaks(machine))
    for witness in _decided(machine, found):
        if (witness.rule, witness.place) in witnesses:
            continue
        if small:
            line, other = made.function.code[witness.place].line, f", line {witness.other}" if witness.other else ""
            why = f"{witness.found}{other}, where scalar parameters are {machine.launch.size}"
            row = Blind(_OF[witness.rule.partition("-")[0]], line, f"{witness.rule} of a launch with few rounds", why)
            blind.setdefault((line, witness.rule), row)
        else:
            witnesses[witness.rule, witness.place] = witness
            if witness.rule == "proxy-fence-copy":
                line = made.function.code[witness.place].line
                why = "the manual asks for a fence; Triton 3.5.0 left it out and 3.9.0 has it"
                blind.setdefault((line, "cp.async"), Blind(("proxies",), line, "what cp.async wrote", why))
    for row in _blind(made, machine, stop):
        blind.setdefault((row.line, row.what), row)


_OF = {
    "barrier": ("barriers",),
    "bytes": ("bytes",),
    "proxy": ("proxies",),
    "reuse": ("reuse",),
    "tcgen05": ("tensor memory",),
    "wgmma": ("order",),
}


def _decided(machine: Machine, found: Iterable[Witness]) -> Iterator[Witness]:
    """What is wrong whatever a run does not know."""
    open_ = _has_open_copies(machine)
    for one in found:
        if one.rule == "tcgen05-unwritten" and machine.tensor_unknown:
            continue
        if open_ and one.rule in ("proxy-fence", "proxy-fence-copy", "reuse-unwritten"):
            continue
        yield one


def _by_map(name: object) -> bool:
    """Whether a copy into shared memory has the bytes of a box, which its tensor map says."""
    return not isinstance(name, tuple) or name[0] == "unnamed"


def _has_open_copies(machine: Machine) -> bool:
    """Whether the bytes of some copy could not be told."""
    return any(_by_map(name) and name not in (machine.launch.sizes or {}) for _, name, _ in machine.copies)


def _phases(machine: Machine) -> Iterator[Phase]:
    for barrier in (*machine.every_barrier, *machine.barriers.values()):
        yield from barrier.ended


def _sizes(machine: Machine) -> dict[object, int]:
    """The bytes of the copies of a run, as far as they can be told."""
    places: dict[object, set[int]] = {}
    for _, name, place in machine.copies:
        if _by_map(name):
            places.setdefault(name, set()).add(place)
    starts = {place for row in places.values() for place in row}
    starts |= set(machine.barriers) | set(machine.launch.variables.values())
    return infer(_phases(machine), places, sorted(starts), machine.footprints)


def _blind(made: Program, machine: Machine, stop: Stop | None) -> Iterator[Blind]:
    if stop is not None:
        yield Blind(ALL, stop.line, stop.what, stop.why)
    code = made.function.code
    if machine.hung:
        line = min((code[one.place].line for one in _hangs(machine)), default=made.function.line)
        yield Blind(("bytes", "proxies", "reuse"), line, "what comes after", "a wait that never ends")
    for index, why in machine.unseen.items():
        yield Blind(("tensor memory",), code[index].line, ".".join(code[index].opcode.split(".")[:2]), why)
    if machine.unwritten and not machine.filled:
        line = code[min(machine.unwritten)].line
        yield Blind(("reuse",), line, "what the operands hold", "nothing in the text fills an operand")
    for index, why in machine.skipped.items():
        opcode = code[index].opcode
        of_tensor = opcode.startswith(("tcgen05.ld", "tcgen05.st", "tcgen05.dealloc"))
        where = ("tensor memory",) if of_tensor else ("proxies", "reuse")
        yield Blind(where, code[index].line, ".".join(opcode.split(".")[:2]), why)
    for index, name, _ in machine.copies:
        if not _by_map(name):
            continue
        size = (machine.launch.sizes or {}).get(name)
        what = "its tensor map is a parameter" + (
            f"; what is expected and read is consistent with {size} bytes" if size else ""
        )
        yield Blind(
            ("bytes",) if size else ("bytes", "proxies", "reuse"), code[index].line, "the box of a tensor copy", what
        )


def _hangs(machine: Machine) -> Iterator[Witness]:
    """The waits that never end, the first of each barrier."""
    told: set[str] = set()
    for one in machine.fragments:
        if one.done or not one.blocked or not one.blocked[0].isdigit() or one.blocked in told:
            continue
        told.add(one.blocked)
        index, _, what = one.blocked.partition(":")
        yield Witness("barrier-hang", int(index), _why(machine, one, what))


def _why(machine: Machine, one: Fragment, what: str) -> str:
    if what.isdigit() and (barrier := machine.barriers.get(int(what))) is not None:
        return f"found {place_name(machine, barrier.address)}, {_state(barrier)}"
    if what.startswith("barrier"):
        held = next((r for r in machine.rendezvous.values() if one in r.waiters), None)
        if held is not None:
            wanted = machine.live_lanes(held.cta) if held.target is None else held.target
            return f"found {what} with {held.came} of {wanted} threads"
    return f"found {what or 'threads'} that never come"


def _state(barrier: Mbarrier) -> str:
    parts = []
    if barrier.pending:
        parts.append(f"{barrier.count - barrier.pending} of {barrier.count} arrivals")
    if barrier.missing > 0:
        parts.append(f"{barrier.missing} bytes that no copy brings")
    elif barrier.missing < 0 or (barrier.landings and not barrier.missing):
        parts.append(f"{-barrier.missing or 'some'} bytes that nothing expects")
    return f"in phase {barrier.phase} with {', '.join(parts) or 'the other parity'}"


def _unread(machine: Machine) -> Iterator[Witness]:
    """Multiplications of bytes that nothing wrote, where all copies are known."""
    if _has_open_copies(machine):
        return
    if any(machine.program.function.code[i].opcode.startswith(("st", "cp")) for i in machine.skipped):
        return
    if not machine.filled:
        return
    for index, (low, high) in machine.unwritten.items():
        found = f"found {high - low} bytes from {place_name(machine, low)} that nothing wrote"
        yield Witness("reuse-unwritten", index, found)


def _leaks(machine: Machine) -> Iterator[Witness]:
    """Columns that are held at the end; where nothing is freed anywhere, reading alone tells it."""
    code = machine.program.function.code
    frees = [index for index, one in enumerate(code) if one.opcode.startswith("tcgen05.dealloc")]
    if not frees or any(index in machine.skipped for index in frees):
        return
    for live in machine.allocated.values():
        for low, high in live:
            place = next(index for index, one in enumerate(code) if one.opcode.startswith("tcgen05.alloc"))
            yield Witness("tcgen05-dealloc-missing", place, f"found columns {low} to {high - 1} held at the end")


def sorted_witnesses(rows: Iterable[Witness]) -> list[Witness]:
    """Witnesses in the order of the text.

    >>> sorted_witnesses([])
    []
    """
    return sorted(rows, key=lambda row: (row.place, row.rule, row.other))
