"""How a kernel is started and run: where its variables lie, the shape of its cluster, and its parameters, run by run.

Scalar parameters are the size that a run is for, so that loops make 0, 1, 2 and more rounds; pointers lead nowhere near
shared memory; the grid is one CTA, or one cluster, so that a kernel that takes tile after tile takes all. A kernel is
run once to learn what its copies bring, and then with it.
Source: PTX ISA 9.1, Performance-Tuning Directives (reqntid, maxntid), Cluster Dimension Directives; State Spaces.

Law: a branch that a parameter of floating point decides is run both ways.

>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> of_parameter = "ld.param.f32 f, [x]; setp.gt.f32 p, f, 0f00000000;"
>>> body = f"{of_parameter} @p bra L; mbarrier.init.shared.b64 [b], 1; L: bar.sync 0; ret;"
>>> launch = Launch((32, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"b": 0}, {}, {})
>>> found = runs(program(parse(f".version 8.8\\n.entry k(.param .f32 x) {{ {body} }}").functions[0]), launch)
>>> [len(one.machine.barriers) for one in found]
[0, 1]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import prod
from typing import NamedTuple

from descriptors.check.execution.bounded_loops import bounded_loops, main_parameters
from descriptors.check.execution.configuration import MOST_CTAS, MOST_THREADS, Configuration
from descriptors.check.execution.copy_sizes import infer
from descriptors.check.execution.dispatch import execution
from descriptors.check.execution.lanes import Cause
from descriptors.check.execution.launch import Launch
from descriptors.check.execution.machine import Machine
from descriptors.check.execution.outcomes import Reason, Stop
from descriptors.check.execution.program import Program
from descriptors.check.execution.run_policy import (
    BUDGET,
    FORKS,
    LARGE,
    LIMIT,
    LITTLE,
    MOST,
    SHAPES,
    SIZES,
    SMALL,
    WORTH,
)
from descriptors.check.ptx.ptx_module import Function, declarators, directive
from descriptors.check.ptx.ptx_operands import number
from descriptors.errors import DescriptorError, brief

#: Shapes of a cluster that are tried, where the text says none.
CLUSTERS = tuple([(x, n // x, 1) for n in (1, 2, 4, 8, 16) for x in (2, 4, 1, 8) if n % x == 0 and n // x < 8])

#: The largest size of a shared variable, and the last address of one: above are the ranks of CTAs.
_LARGEST, _FARTHEST = 1 << 40, 1 << 23

_SHARED = re.compile(
    r"\.shared\s+(?:\.attribute\([^)]*\)\s*)?(?:\.align\s+(\d+)\s+)?(?:\.v([248])\s*)?\.(?:bf|[bsuf])(\d+)(x2)?\s+"
    r"([^;={}]*)"
)


class Run(NamedTuple):
    """A run that is over: the machine as it was left, and why it stopped; None for one that came to its end."""

    machine: Machine
    stop: Stop | None

    @property
    def endless(self) -> bool:
        """Whether it was given up after so many steps."""
        return self.stop is not None and self.stop.reason is Reason.ENDLESS


def run(made: Program, launch: Launch, budget: int = BUDGET) -> Run:
    """A kernel run once."""
    machine = Machine(made, launch, execution, budget)
    try:
        machine.run()
    except Stop as stop:
        return Run(machine, stop)
    return Run(machine, None)


def runs(made: Program, launch: Launch) -> Iterator[Run]:
    """A run, or one for each way that it may take."""
    one = run(made, launch)
    if one.stop is None or one.stop.fork < 0 or len(launch.choices) >= FORKS:
        yield one
        return
    for way in (True, False):
        yield from runs(made, launch._replace(choices={**launch.choices, one.stop.fork: way}))


class Trial(NamedTuple):
    """The run that learns what copies bring.

    Args:
        launch: how the kernel is started.
        run: as it ended.
        assumed: what of the launch the text does not say.
        clustered: whether the shape of the cluster is among that.
        steps: of this run, and of those that were given up for it.
        stop: why the kernel cannot go on without what is assumed of global memory; None where nothing is.
        cut: runs that were given up for it.
    """

    launch: Launch
    run: Run
    assumed: tuple[str, ...]
    clustered: bool
    steps: int
    stop: Stop | None = None
    cut: tuple[Run, ...] = ()

    @property
    def all_free(self) -> list[tuple[str, int]]:
        """The scalar parameters that are not known, by name and offset."""
        return [key for key in self.run.machine.notes.scalars if key not in self.launch.scalars]

    @property
    def free(self) -> list[tuple[str, int]]:
        """The first few of them."""
        return self.all_free[:MOST]

    @property
    def through(self) -> bool:
        """Whether the kernel comes to its end so, or at least to a value that no shape of a cluster would tell."""
        stop = self.run.stop
        return not self.run.machine.hung and (stop is None or stop.reason is Reason.VALUE)


def trials(made: Program, text: str, known: Configuration) -> tuple[list[Trial], int]:
    """The first runs: of the shapes of a cluster that a kernel gets through, the first few; and the steps of all.

    Where it gets through none, the first shape stands for all; where it does as one CTA, no other is tried.

    Args:
        made: the kernel.
        text: the PTX that it stands in, for its shared variables.
        known: what is known of the launch.
    """
    head = made.function.head
    if why := unlaunchable(made.function, known):
        raise DescriptorError(f"check: {brief(made.function.name)} cannot be launched: {why}")
    threads = known.threads or _dimensions(head, "reqntid") or _dimensions(head, "maxntid")
    assumed = () if threads else ("128 threads a CTA",)
    shapes = (known.cluster,) if known.cluster else _clusters(made.function)
    scalars, boxes, rows = known.scalars(made.names), known.boxes(made.names), known.rows(made.names)
    variables, threads = shared_variables(text), threads or (128, 1, 1)
    held: list[Trial] = []
    for shape in shapes:
        launch = Launch(threads, shape, shape, SIZES[0], scalars, variables, None, {}, boxes, box_rows=rows)
        shaped = (f"clusters of {'x'.join(map(str, shape))}",) if len(shapes) > 1 else ()
        # Where assumed data lead to no end in one shape, they do in the others.
        in_vain = any(one.steps > BUDGET and not one.launch.content for one in held)
        held.append(_trial(made, launch, (*assumed, *shaped), len(shapes) > 1, content=not in_vain))
        through, steps = [one for one in held if one.through], sum(one.steps for one in held)
        endless = held[-1].run.endless  # no shape makes a loop shorter
        if len(through) == SHAPES or steps > LIMIT or endless or (through and prod(shape) == 1):
            break
    return through or held[:1], steps


def _trial(made: Program, launch: Launch, assumed: tuple[str, ...], clustered: bool, *, content: bool) -> Trial:
    """A shape tried; where integers from global memory stop the run, once more with ``content`` assumed of them."""
    one, cut = _learnt(made, launch)
    steps = sum(held.machine.count for held in (*cut, one))
    if not content or one.stop is None or one.stop.cause is not Cause.GLOBAL:
        return Trial(launch, one, assumed, clustered, steps, None, cut)
    other, given_up = _learnt(made, launch._replace(content=True))
    more = sum(held.machine.count for held in (*given_up, other))
    if other.endless or other.machine.hung or other.machine.count > WORTH:
        return Trial(launch, one, assumed, clustered, steps + more, None, cut)
    assumed = (*assumed, "integers in global memory")
    return Trial(launch._replace(content=True), other, assumed, clustered, steps + more, one.stop, given_up)


def _learnt(made: Program, launch: Launch) -> tuple[Run, tuple[Run, ...]]:
    """The run that comes farthest, of a small size if one does not end, and those that were given up for it."""
    one = max(runs(made, launch), key=lambda one: (one.stop is None, one.machine.count))
    cut: list[Run] = []
    for size in SMALL:
        if not one.endless:
            break
        cut.append(one)
        one = run(made, launch._replace(size=size), BUDGET // 2)
    return one, tuple(cut)


def launches(made: Program, first: Trial) -> Iterator[Launch]:
    """How a kernel is started after that: the parameters that bound its main loop are the first that are large."""
    launch, base = with_sizes(first), first.run.machine.launch.size
    yield launch._replace(size=base)
    if not first.run.machine.notes.reads and not launch.content:
        return  # nothing that differs from launch to launch is read
    bounding = bounding_parameters(made, first)
    for key in bounding:
        yield with_large(launch, key, LARGE, min(base, LITTLE))
    if base == SIZES[0] and first.run.machine.count * (SIZES[1] / SIZES[0]) ** len(bounding) <= BUDGET:
        yield launch._replace(size=SIZES[1])
    for key in first.free:
        if key not in bounding:
            yield with_large(launch, key, LARGE, min(base, LITTLE))
    for size in SMALL:
        if size != base:
            yield launch._replace(size=size)


def bounding_parameters(made: Program, first: Trial) -> list[tuple[str, int]]:
    """The free parameters that bound loops with operations, those of the main loop first."""
    reads = first.run.machine.notes.reads
    bounds = {key for loop in bounded_loops(made) for place in loop.bounds for key in reads.get(place, ())}
    return [key for key in main_parameters(made, reads, first.all_free) if key in bounds][:MOST]


def with_large(launch: Launch, key: tuple[str, int], value: int, others: int) -> Launch:
    """A launch in which one scalar parameter has a value, and those that are not known have another."""
    return launch._replace(size=others, scalars={**launch.scalars, key: value})


def with_sizes(first: Trial) -> Launch:
    """A launch with what its first run learnt of tensor copies: their bytes, and where they begin."""
    machine = first.run.machine
    return first.launch._replace(sizes=box_sizes(machine), sources=frozenset(machine.notes.sources))


def box_sizes(machine: Machine) -> Mapping[object, int]:
    """The bytes of the tensor copies of a run, by what names their boxes, as far as they can be told."""
    places: dict[object, set[int]] = {}
    for _, name, place in machine.notes.copies:
        places.setdefault(name, set()).add(place)
    starts = {place for row in places.values() for place in row}
    starts |= {one.address for one in machine.barriers.ever()} | set(machine.launch.variables.values())
    phases = [phase for barrier in machine.barriers.ever() for phase in barrier.ended]
    return infer(phases, places, sorted(starts), machine.notes.footprints)


def shared_variables(text: str) -> dict[str, int]:
    """Where shared variables lie: those of a known size first, the extern ones behind them, at 1,024 bytes.

    >>> shared_variables(".shared .align 8 .b8 a[24]; .extern .shared .align 16 .b8 b[];")
    {'a': 0, 'b': 1024}
    """
    found: dict[str, int] = {}
    outer: list[str] = []
    place = 0
    for name, (align, size) in shared_sizes(text).items():
        if not size:
            outer.append(name)
            continue
        place = -(-place // max(16, align)) * max(16, align)
        found[name] = place
        place = min(place + size, _FARTHEST)
    place = -(-place // 1024) * 1024
    return found | dict.fromkeys(outer, place)


def shared_sizes(text: str) -> dict[str, tuple[int, int]]:
    """Alignment and bytes of each shared variable; 0 bytes for one whose size the launch gives.

    A size above 2 to the 40th is that number, and an alignment above 1 MiB is 1 MiB: no GPU has so much.

    >>> shared_sizes(".shared .align 8 .b8 a[24]; .shared .b64 c; .extern .shared .align 16 .b8 b[];")
    {'a': (8, 24), 'c': (1, 8), 'b': (16, 0)}
    >>> shared_sizes(".shared .b32 x<2>, y[0x10]; .shared .align 16 .v4.b32 z;")
    {'x0': (1, 4), 'x1': (1, 4), 'y': (1, 64), 'z': (16, 16)}
    """
    found: dict[str, tuple[int, int]] = {}
    for one in _SHARED.finditer(text):
        element = _whole(one[3]) // 8 * int(one[2] or 1) * (2 if one[4] else 1)
        for name, extents in declarators(one[5]):
            size = element
            for extent in re.findall(r"\[\s*(0[xX][0-9a-fA-F]+|\d*)U?\s*\]", extents):
                size = min(size * _whole(extent or "0"), _LARGEST)
            found[name] = max(1, min(_whole(one[1] or "1"), 1 << 20)), size
    return found


def _whole(digits: str) -> int:
    """Return a whole number, or the largest size where it has more digits than that."""
    return min(number(digits), _LARGEST) if len(digits) < 20 else _LARGEST


def unlaunchable(function: Function, known: Configuration) -> str:
    """Say why no GPU launches a kernel as its directives demand; "" where one may.

    Source: CUDA programming guide, Compute Capabilities: 1024 threads a block; clusters of up to 16 blocks.

    >>> from descriptors.check.ptx.ptx_module import parse
    >>> for head in (".reqntid 1024, 1024, 64", ".maxntid 256", ".reqnctapercluster 99999", ".reqntid 0"):
    ...     unlaunchable(parse(f".version 8.8\\n.entry k() {head} {{ ret; }}").functions[0], Configuration())
    '.reqntid says 67108864 threads, where a CTA has 1 to 1024'
    ''
    '.reqnctapercluster says 99999 CTAs, where a cluster has 1 to 16'
    '.reqntid says 0 threads, where a CTA has 1 to 1024'
    """
    rows = [
        ("reqntid", known.threads, MOST_THREADS, "threads", "a CTA"),
        ("maxntid", known.threads, MOST_THREADS, "threads", "a CTA"),
        ("reqnctapercluster", known.cluster, MOST_CTAS, "CTAs", "a cluster"),
    ]
    for name, given, most, unit, where in rows:
        extents = () if given else directive(function.head, name)
        many = prod(extents)
        if extents and not 1 <= many <= most:
            return f".{name} says {many if many < _LARGEST else 'too many'} {unit}, where {where} has 1 to {most}"
    return ""


def _dimensions(head: str, name: str) -> tuple[int, int, int] | None:
    found = (*directive(head, name), 1, 1)
    return (found[0], found[1], found[2]) if len(found) > 2 else None


def _clusters(function: Function) -> tuple[tuple[int, int, int], ...]:
    """The shapes that the cluster of a kernel may have: one, if the text says it, or does nothing with another CTA."""
    cluster = _dimensions(function.head, "reqnctapercluster")
    if cluster:
        return (cluster,)
    opcodes = [one.opcode for one in function.code]
    if any("cta_group::2" in opcode for opcode in opcodes):
        return tuple(shape for shape in CLUSTERS if prod(shape) > 1)
    of_cluster = (o.startswith(("mapa", "barrier.cluster")) or "multicast::cluster" in o for o in opcodes)
    return CLUSTERS if any(of_cluster) else CLUSTERS[:1]
