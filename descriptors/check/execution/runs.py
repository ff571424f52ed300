r"""Runs of a kernel: addresses of its variables, shape of its cluster, and the parameters of each launch.

Scalar parameters have the size that a run is for, so that loops make 0, 1, 2 and more iterations. Pointers lead far
away from shared memory. The grid is one CTA or one cluster, so that a persistent kernel processes all tiles. A kernel
is run once to infer the sizes of its copies, and then with these sizes.

Source: PTX ISA 9.1, Performance-Tuning Directives (reqntid, maxntid), Cluster Dimension Directives; State Spaces.

Invariant: a branch that depends on a floating-point parameter is run both ways.

>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> compare = "ld.param.f32 f, [x]; setp.gt.f32 p, f, 0f00000000;"
>>> body = f"{compare} @p bra L; mbarrier.init.shared.b64 [b], 1; L: bar.sync 0; ret;"
>>> launch = Launch((32, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"b": 0}, {}, {})
>>> both = runs(program(parse(f".version 8.8\n.entry k(.param .f32 x) {{ {body} }}").functions[0]), launch)
>>> [len(result.machine.barriers) for result in both]
[0, 1]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import prod
from typing import NamedTuple

from descriptors.check.execution.bounded_loops import bounded_loops, main_parameters
from descriptors.check.execution.configuration import MOST_CTAS, MOST_THREADS, Configuration
from descriptors.check.execution.copy_sizes import infer_sizes
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

#: Cluster shapes that are tried if the text gives none.
CLUSTERS = tuple([(x, n // x, 1) for n in (1, 2, 4, 8, 16) for x in (2, 4, 1, 8) if n % x == 0 and n // x < 8])

#: What is assumed if neither the text nor the user gives the threads of a CTA, or if the text gives only a maximum.
ASSUMED_THREADS, MAXIMAL_THREADS = "128 threads per CTA", "the most threads that .maxntid allows"

#: Largest size and address of a shared variable; the rank of the CTA is in the address bits above.
_LARGEST, _FARTHEST = 1 << 40, 1 << 23

_SHARED = re.compile(
    r"\.shared\s+(?:\.attribute\([^)]*\)\s*)?(?:\.align\s+(\d+)\s+)?(?:\.v([248])\s*)?\.(?:bf|[bsuf])(\d+)(x2)?\s+"
    r"([^;={}]*)"
)


class Run(NamedTuple):
    """A run that is over: the machine at its end, and the stop; None if the run came to its end."""

    machine: Machine
    stop: Stop | None

    @property
    def endless(self) -> bool:
        """Whether the run was stopped after its budget of steps."""
        return self.stop is not None and self.stop.reason is Reason.ENDLESS


def run(kernel: Program, launch: Launch, budget: int = BUDGET) -> Run:
    """Run a kernel once."""
    machine = Machine(kernel, launch, execution, budget)
    try:
        machine.run()
    except Stop as stop:
        return Run(machine, stop)
    return Run(machine, None)


def runs(kernel: Program, launch: Launch) -> Iterator[Run]:
    """Yield a run, or one run for each way of the branches that depend on floating-point parameters."""
    outcome = run(kernel, launch)
    if outcome.stop is None or outcome.stop.fork < 0 or len(launch.choices) >= FORKS:
        yield outcome
        return
    for way in (True, False):
        yield from runs(kernel, launch._replace(choices={**launch.choices, outcome.stop.fork: way}))


class Trial(NamedTuple):
    """The run that infers the sizes of copies.

    Args:
        launch: how the kernel is launched.
        run: the run at its end.
        assumed: the properties of the launch that the text does not give.
        clustered: whether the cluster shape is one of them.
        steps: steps of this run, and of those that were stopped before it.
        stop: why the kernel cannot continue without assumptions about global memory; None if it makes none.
        cut: runs that were stopped before it.
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
        """The unknown scalar parameters, by name and offset."""
        return [key for key in self.run.machine.notes.scalars if key not in self.launch.scalars]

    @property
    def free(self) -> list[tuple[str, int]]:
        """The first ``MOST`` unknown scalar parameters."""
        return self.all_free[:MOST]

    @property
    def through(self) -> bool:
        """Whether the kernel runs to its end, or at least to a value that no cluster shape would determine."""
        stop = self.run.stop
        return not self.run.machine.hung and (stop is None or stop.reason is Reason.VALUE)


def trials(kernel: Program, text: str, config: Configuration) -> tuple[list[Trial], int]:
    """Return the first runs, and the steps of all of them.

    There is one for each of the first cluster shapes that run to the end. If none does, the run of the first shape is
    returned. If one CTA does, no other shape is tried.

    Args:
        kernel: the kernel.
        text: the PTX that contains the kernel, for its shared variables.
        config: the values of the launch that the user gave.
    """
    head = kernel.function.head
    if why := unlaunchable(kernel.function, config):
        raise DescriptorError(f"check: {brief(kernel.function.name)} cannot be launched: {why}")
    threads = config.threads or _dimensions(head, "reqntid")
    assumed = () if threads else (MAXIMAL_THREADS if _dimensions(head, "maxntid") else ASSUMED_THREADS,)
    threads = threads or _dimensions(head, "maxntid")
    shapes = (config.cluster,) if config.cluster else _clusters(kernel.function)
    scalars, boxes, rows = config.scalars(kernel.names), config.boxes(kernel.names), config.rows(kernel.names)
    variables, threads = shared_variables(text), threads or (128, 1, 1)
    tried: list[Trial] = []
    for shape in shapes:
        launch = Launch(threads, shape, shape, SIZES[0], scalars, variables, None, {}, boxes, box_rows=rows)
        launch = launch._replace(box_types=config.types(kernel.names))
        shape_assumed = (f"clusters of {'x'.join(map(str, shape))}",) if len(shapes) > 1 else ()
        # If assumed data do not lead to the end in one shape, they do not in the others.
        is_hopeless = any(trial.steps > BUDGET and not trial.launch.content for trial in tried)
        tried.append(_try_shape(kernel, launch, (*assumed, *shape_assumed), len(shapes) > 1, content=not is_hopeless))
        through, steps = [trial for trial in tried if trial.through], sum(trial.steps for trial in tried)
        endless = tried[-1].run.endless  # no shape makes a loop shorter
        if len(through) == SHAPES or steps > LIMIT or endless or (through and prod(shape) == 1):
            break
    return through or tried[:1], steps


def _try_shape(kernel: Program, launch: Launch, assumed: tuple[str, ...], clustered: bool, *, content: bool) -> Trial:
    """Try a cluster shape; if integers from global memory stop the run, try again with assumed ``content``."""
    first, cut = _learn_sizes(kernel, launch)
    steps = sum(run.machine.count for run in (*cut, first))
    if not content or first.stop is None or first.stop.cause is not Cause.GLOBAL:
        return Trial(launch, first, assumed, clustered, steps, None, cut)
    assuming, given_up = _learn_sizes(kernel, launch._replace(content=True))
    more_steps = sum(run.machine.count for run in (*given_up, assuming))
    if assuming.endless or assuming.machine.hung or assuming.machine.count > WORTH:
        return Trial(launch, first, assumed, clustered, steps + more_steps, None, cut)
    assumed = (*assumed, "integers in global memory")
    return Trial(launch._replace(content=True), assuming, assumed, clustered, steps + more_steps, first.stop, given_up)


def _learn_sizes(kernel: Program, launch: Launch) -> tuple[Run, tuple[Run, ...]]:
    """Return the run that gets farthest, with a small size if it does not end, and the runs stopped before it."""
    farthest = max(runs(kernel, launch), key=lambda candidate: (candidate.stop is None, candidate.machine.count))
    cut: list[Run] = []
    for size in SMALL:
        if not farthest.endless:
            break
        cut.append(farthest)
        farthest = run(kernel, launch._replace(size=size), BUDGET // 2)
    return farthest, tuple(cut)


def launches(kernel: Program, first: Trial) -> Iterator[Launch]:
    """Yield the further launches of a kernel: parameters that bound its main loop are large first."""
    launch, base = with_sizes(first), first.run.machine.launch.size
    yield launch._replace(size=base)
    if not first.run.machine.notes.reads and not launch.content:
        return  # the kernel reads nothing that differs between launches
    bounding = bounding_parameters(kernel, first)
    for key in bounding:
        yield with_parameter(launch, key, LARGE, min(base, LITTLE))
    if base == SIZES[0] and first.run.machine.count * (SIZES[1] / SIZES[0]) ** len(bounding) <= BUDGET:
        yield launch._replace(size=SIZES[1])
    for key in first.free:
        if key not in bounding:
            yield with_parameter(launch, key, LARGE, min(base, LITTLE))
    for size in SMALL:
        if size != base:
            yield launch._replace(size=size)


def bounding_parameters(kernel: Program, first: Trial) -> list[tuple[str, int]]:
    """Return the free parameters that bound loops with operations, those of the main loop first."""
    reads = first.run.machine.notes.reads
    bounds = {key for loop in bounded_loops(kernel) for place in loop.bounds for key in reads.get(place, ())}
    return [key for key in main_parameters(kernel, reads, first.all_free) if key in bounds][:MOST]


def with_parameter(launch: Launch, key: tuple[str, int], value: int, others: int) -> Launch:
    """Return a launch with a value for one scalar parameter, and another value for those that are unknown."""
    return launch._replace(size=others, scalars={**launch.scalars, key: value})


def with_sizes(first: Trial) -> Launch:
    """Return a launch with what the first run inferred: bytes of tensor copies, and start addresses of bulk stores."""
    machine = first.run.machine
    return first.launch._replace(sizes=box_sizes(machine), sources=frozenset(machine.notes.sources))


def box_sizes(machine: Machine) -> Mapping[object, int]:
    """Infer the bytes of the tensor copies of a run, by the keys of their boxes, where possible."""
    places: dict[object, set[int]] = {}
    for _, name, place in machine.notes.copies:
        places.setdefault(name, set()).add(place)
    starts = {place for starts_of_map in places.values() for place in starts_of_map}
    starts |= {barrier.address for barrier in machine.barriers.ever()} | set(machine.launch.variables.values())
    phases = [phase for barrier in machine.barriers.ever() for phase in barrier.ended]
    return infer_sizes(phases, places, sorted(starts), machine.notes.footprints)


def shared_variables(text: str) -> dict[str, int]:
    """Return the addresses of shared variables: first those of known size, then the extern ones.

    Without variables of known size, the extern ones are at the start of shared memory, which is a multiple of 1024.
    After such variables, they are aligned as they are declared.

    >>> shared_variables(".shared .align 8 .b8 a[24]; .extern .shared .align 16 .b8 b[];")
    {'a': 0, 'b': 32}
    """
    addresses: dict[str, int] = {}
    outer: list[str] = []
    place = 0
    outer_align = 16
    for name, (align, size) in shared_sizes(text).items():
        if not size:
            outer.append(name)
            outer_align = max(outer_align, align)
            continue
        place = -(-place // max(16, align)) * max(16, align)
        addresses[name] = place
        place = min(place + size, _FARTHEST)
    return addresses | dict.fromkeys(outer, -(-place // outer_align) * outer_align)


def shared_sizes(text: str) -> dict[str, tuple[int, int]]:
    """Return alignment and bytes of each shared variable; 0 bytes if the launch gives the size.

    A size above 2 to the 40th is reported as that number, and an alignment above 1 MiB as 1 MiB: no GPU has as much.

    >>> shared_sizes(".shared .align 8 .b8 a[24]; .shared .b64 c; .extern .shared .align 16 .b8 b[];")
    {'a': (8, 24), 'c': (1, 8), 'b': (16, 0)}
    >>> shared_sizes(".shared .b32 x<2>, y[0x10]; .shared .align 16 .v4.b32 z;")
    {'x0': (1, 4), 'x1': (1, 4), 'y': (1, 64), 'z': (16, 16)}
    """
    sizes: dict[str, tuple[int, int]] = {}
    for match in _SHARED.finditer(text):
        element = _capped(match[3]) // 8 * int(match[2] or 1) * (2 if match[4] else 1)
        for name, extents in declarators(match[5]):
            size = element
            for extent in re.findall(r"\[\s*(0[xX][0-9a-fA-F]+|\d*)U?\s*\]", extents):
                size = min(size * _capped(extent or "0"), _LARGEST)
            sizes[name] = max(1, min(_capped(match[1] or "1"), 1 << 20)), size
    return sizes


def _capped(digits: str) -> int:
    """Return a whole number, or the largest size where it has more digits than that."""
    return min(number(digits), _LARGEST) if len(digits) < 20 else _LARGEST


def unlaunchable(function: Function, config: Configuration) -> str:
    r"""Return why no GPU launches a kernel as its directives require; "" if one may.

    Source: CUDA programming guide, Compute Capabilities: 1024 threads a block; clusters of up to 16 blocks.

    >>> from descriptors.check.ptx.ptx_module import parse
    >>> for head in (".reqntid 1024, 1024, 64", ".maxntid 256", ".reqnctapercluster 99999", ".reqntid 0"):
    ...     unlaunchable(parse(f".version 8.8\n.entry k() {head} {{ ret; }}").functions[0], Configuration())
    '.reqntid gives 67108864 threads, but a CTA has 1 to 1024'
    ''
    '.reqnctapercluster gives 99999 CTAs, but a cluster has 1 to 16'
    '.reqntid gives 0 threads, but a CTA has 1 to 1024'
    """
    limits = [
        ("reqntid", config.threads, MOST_THREADS, "threads", "a CTA"),
        ("maxntid", config.threads, MOST_THREADS, "threads", "a CTA"),
        ("reqnctapercluster", config.cluster, MOST_CTAS, "CTAs", "a cluster"),
    ]
    for name, is_given, largest, unit, group in limits:
        extents = () if is_given else directive(function.head, name)
        count = prod(extents)
        if extents and not 1 <= count <= largest:
            return f".{name} gives {count if count < _LARGEST else 'too many'} {unit}, but {group} has 1 to {largest}"
    return ""


def _dimensions(head: str, name: str) -> tuple[int, int, int] | None:
    extents = (*directive(head, name), 1, 1)
    return (extents[0], extents[1], extents[2]) if len(extents) > 2 else None


def _clusters(function: Function) -> tuple[tuple[int, int, int], ...]:
    """Return the possible cluster shapes: one if the text gives it, or if the kernel never accesses another CTA."""
    cluster = _dimensions(function.head, "reqnctapercluster")
    if cluster:
        return (cluster,)
    opcodes = [instruction.opcode for instruction in function.code]
    if any("cta_group::2" in opcode for opcode in opcodes):
        return tuple(shape for shape in CLUSTERS if prod(shape) > 1)
    of_cluster = (o.startswith(("mapa", "barrier.cluster")) or "multicast::cluster" in o for o in opcodes)
    return CLUSTERS if any(of_cluster) else CLUSTERS[:1]
