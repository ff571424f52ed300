r"""Find rings: consecutive mbarriers that are used alike, and the operations of each warp on them.

The result describes one run with its launch; a warp is a producer by what it does. An mbarrier that the kernel
invalidates before its end is part of a ring as well. An address that is initialized again holds another mbarrier.

Source: this project; the operations are those of PTX ISA 9.1, mbarrier.

Invariant: every mbarrier of a CTA is in one ring.

>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.execution.runs import run
>>> from descriptors.check.ptx.ptx_module import parse
>>> init = "mbarrier.init.shared.b64 [b], 2; mbarrier.init.shared.b64 [b+8], 2; bar.sync 0;"
>>> body = f"{init} mbarrier.arrive.shared.b64 _, [b]; mbarrier.arrive.shared.b64 _, [b+8]; ret;"
>>> launch = Launch((1, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"b": 0}, {}, {})
>>> result = run(program(parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]), launch)
>>> [(ring.place, ring.stages, ring.count, [use.what for use in ring.uses]) for ring in rings(result.machine)]
[('[b]', 2, 2, ['arrivals'])]
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.check.execution.launch import RANK, address_text
from descriptors.check.execution.machine import Machine
from descriptors.check.execution.mbarrier import Mbarrier
from layoutalg.frozen import frozen, replace

#: The operation of an instruction that waits.
WAITS = "waits"
#: Operations on an mbarrier, by prefix of the opcode; the first prefix that matches decides.
_OPERATIONS = (
    ("mbarrier.test_wait", WAITS),
    ("mbarrier.try_wait", WAITS),
    ("mbarrier.expect_tx", "bytes expected"),
    ("mbarrier.arrive.expect_tx", "bytes expected"),
    ("mbarrier.arrive_drop.expect_tx", "bytes expected"),
    ("mbarrier.", "arrivals"),
    ("cp.async.mbarrier", "arrivals of copies"),
    ("tcgen05.commit", "commits"),
    ("clusterlaunchcontrol", "requests of a tile"),
    ("cp", "copies"),
)


def operation_of(opcode: str) -> str:
    """Return what an instruction does with the mbarrier that it names."""
    return next(what for head, what in _OPERATIONS if opcode.startswith(head))


@frozen
class Use:
    """An operation of some warps on the mbarriers of a ring.

    Args:
        what: the operation.
        warps: numbers of the warps in the CTA.
        lines: lines of the instructions.
        ctas: the CTAs of the warps.
    """

    what: str
    warps: tuple[int, ...]
    lines: tuple[int, ...]
    ctas: tuple[int, ...] = (0,)


@frozen
class Ring:
    """Consecutive mbarriers that are used alike.

    Args:
        place: address of the first, as text.
        stages: number of mbarriers.
        count: arrivals per phase.
        bytes: expected bytes of its phases; several if they differ.
        uses: operations on them.
    """

    place: str
    stages: int
    count: int
    bytes: tuple[int, ...]
    uses: tuple[Use, ...]


def rings(machine: Machine) -> list[Ring]:
    """Return the rings of a run, as the first CTA of the cluster has them."""
    rings_found: list[Ring] = []
    last_barrier: tuple[int, Mbarrier] | None = None
    users = machine.barriers.users()
    for barrier in ring_barriers(machine):
        address = barrier.address
        uses = tuple(_uses(machine, users.get((address, barrier.life), {})))
        is_alike = (
            last_barrier is not None and address - last_barrier[0] == 8 and barrier.count == last_barrier[1].count
        )
        if is_alike and _who(uses) == _who(rings_found[-1].uses):
            previous = rings_found.pop()
            pairs = zip(previous.uses, uses, strict=True)
            merged = tuple(_merged(use, other) for use, other in pairs)
            size = tuple(sorted({*previous.bytes, *_expected(barrier)}))
            rings_found.append(replace(previous, stages=previous.stages + 1, bytes=size, uses=merged))
        else:
            place = address_text(address, machine.launch._replace(cluster=(1, 1, 1)))
            rings_found.append(Ring(place, 1, barrier.count, _expected(barrier), uses))
        last_barrier = address, barrier
    return rings_found


def _who(uses: tuple[Use, ...]) -> list[tuple[str, tuple[int, ...]]]:
    return [(use.what, use.warps) for use in uses]


def _expected(barrier: Mbarrier) -> tuple[int, ...]:
    sums = {sum(size for _, size in phase.expected) for phase in barrier.ended}
    return tuple(sorted(sums - {0}))


def ring_barriers(machine: Machine) -> list[Mbarrier]:
    """Return the mbarriers of the first CTA, less those that were initialized again before anything used them.

    The first mbarrier of each address comes first, in the order of the addresses; then the second of each, and so on.
    """
    used = {(touch.address, touch.life) for touch in machine.barriers.touches}
    of_address: dict[int, list[Mbarrier]] = {}
    for barrier in sorted(machine.barriers.ever(), key=lambda barrier: (barrier.address, barrier.life)):
        if not barrier.address >> RANK:
            of_address.setdefault(barrier.address, []).append(barrier)
    numbered: list[tuple[int, int, Mbarrier]] = []
    for address, barriers in of_address.items():
        used_barriers = [barrier for barrier in barriers if (address, barrier.life) in used] or barriers[-1:]
        numbered += [(number, address, barrier) for number, barrier in enumerate(used_barriers)]
    return [barrier for _, _, barrier in sorted(numbered, key=lambda entry: entry[:2])]


def _uses(machine: Machine, users: dict[int, set[tuple[int, int]]]) -> Iterator[Use]:
    """Yield the uses of one mbarrier, by operation."""
    lines_of_uses: dict[tuple[str, tuple[int, ...]], list[int]] = {}
    ctas: dict[tuple[str, tuple[int, ...]], set[int]] = {}
    code = machine.program.function.code
    for place, used in sorted(users.items()):
        key = operation_of(code[place].opcode), tuple(sorted({warp for _, warp in used}))
        lines_of_uses.setdefault(key, []).append(code[place].line)
        ctas.setdefault(key, set()).update(cta for cta, _ in used)
    for (what, warps), lines in sorted(lines_of_uses.items()):
        yield Use(what, warps, tuple(lines), tuple(sorted(ctas[what, warps])))


def _merged(use: Use, other: Use) -> Use:
    """Return what the same warps do with two mbarriers."""
    lines, ctas = ({*getattr(use, name), *getattr(other, name)} for name in ("lines", "ctas"))
    return replace(use, lines=tuple(sorted(lines)), ctas=tuple(sorted(ctas)))
