r"""Check each access of shared memory against the earlier accesses of the same bytes.

An ordinary access belongs to the threads of a fragment and knows what they know. An asynchronous access knows what was
known when it was issued. The writes of the bytes that it reads must be complete then. Ordinary stores among them must
be *published* by a proxy fence. A run that infers the sizes of copies (``sizes`` is None) checks nothing; it only
records which bytes are read.

Source: PTX ISA 9.1, Memory Consistency Model (Proxies), Async proxy; fence.proxy.async.

Invariant: the asynchronous proxy reads the bytes of an ordinary store only after a fence.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> def violated_rules(fence):
...     copy = "cp.async.bulk.global.shared::cta.bulk_group [g], [s], 16;"
...     body = f"mov.b64 g, 0; st.shared.b32 [s], 1; {fence} {copy} ret;"
...     launch = Launch((1, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
...     machine = Machine(program(parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]), launch, execution)
...     machine.run()
...     return [witness.rule for witness in machine.notes.wrong.values()]
>>> violated_rules("fence.proxy.async.shared::cta;"), violated_rules("")
([], ['proxy-fence'])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from descriptors.check.execution.fragment import Fragment
from descriptors.check.execution.knowledge import Access
from descriptors.check.execution.lanes import origin_text
from descriptors.check.execution.launch import RANK, address_text
from descriptors.check.execution.machine import Machine
from descriptors.check.execution.program import Step
from descriptors.check.ptx.ptx_operands import Address, Operand, Vector
from descriptors.smem.debug.warnings import pattern_contradiction
from descriptors.smem.words.descriptor import Arch
from descriptors.text import counted, word_text

#: Ranges of bytes: start, and end after the last byte.
Runs = Iterable[tuple[int, int]]
#: Kind of the access of a ``cp.async``, and of a bulk copy.
THREAD_COPY = "cp.async"
BULK_COPY = "a bulk copy"


def _certain() -> bool:
    return False


class Operation(NamedTuple):
    """An asynchronous operation.

    Args:
        access: its access.
        known: accesses that are known to be complete when it is issued.
        published: those of them that a proxy fence follows.
    """

    access: Access
    known: int
    published: int


def runs_of(starts: Iterable[int], size: int) -> Iterator[tuple[int, int]]:
    """Yield pieces of one size as ranges of bytes, with adjacent pieces joined.

    >>> list(runs_of([16, 0, 4, 4], 4))
    [(0, 8), (16, 20)]
    """
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


def check_access(
    machine: Machine,
    fragment: Fragment,
    step: Step,
    runs: Runs,
    access: Access,
    *,
    writes: bool,
    is_doubtful: Callable[[], bool] = _certain,
) -> None:
    """Check an ordinary access by the threads of a fragment.

    Args:
        machine: the machine.
        fragment: the threads.
        step: the instruction.
        runs: the bytes.
        access: the access.
        writes: whether it writes.
        is_doubtful: returns whether other threads may have stored the same value by the same instruction.
    """
    runs = list(runs)
    check_storage(machine, step, runs, access)
    for start, _ in runs:
        if start >> RANK != fragment.cta:
            machine.notes.reach(step.place, start >> RANK, access.bit)
    if machine.launch.sizes is not None:
        _check_order(machine, step, runs, access, fragment.known, writes=writes, is_doubtful=is_doubtful)


def check_mask(machine: Machine, step: Step, mask: int) -> None:
    """Report a mask of CTAs that names a CTA which the cluster does not have."""
    absent = [rank for rank in range(machine.ctas, mask.bit_length()) if mask >> rank & 1]
    if absent:
        fact = f"the mask {mask:#x} names CTA {absent[0]}, but the cluster has {counted(machine.ctas, 'CTA')}"
        machine.report("reuse-bounds", step, fact)


def check_storage(machine: Machine, step: Step, runs: Runs, access: Access) -> None:
    """Report an access beyond shared memory, or of bytes that a live mbarrier has."""
    for start, end in runs:
        _check_bounds(machine, step, start, end, access)
        if (barrier := machine.barriers.overlapping(start, end)) is not None:
            place = address_text(barrier.address, machine.launch)
            fact = f"{access.this} accesses bytes of the live mbarrier at {place}; its init is in line {barrier.line}"
            machine.report("barrier-storage", step, fact, barrier.line)


def _check_bounds(machine: Machine, step: Step, start: int, end: int, access: Access) -> None:
    """Report an access beyond the shared memory of a CTA."""
    limit, place = machine.program.shared_bytes, start & (1 << RANK) - 1
    if place + end - start > limit:
        fact = f"{access.this} accesses byte {place + end - start - 1} of shared memory, but a CTA has {limit} bytes"
        machine.report("reuse-bounds", step, fact)


def check_async_write(machine: Machine, fragment: Fragment, step: Step, runs: Runs, access: Access) -> None:
    """Check a write by the asynchronous proxy that a fragment issues."""
    runs = list(runs)
    check_storage(machine, step, runs, access)
    _check_order(machine, step, runs, access, machine.release_set(fragment)[0], writes=True)


def check_async_read(machine: Machine, step: Step, runs: Runs, operation: Operation) -> None:
    """Check a read by the asynchronous proxy: the writes must be complete and, if they are ordinary, published."""
    if machine.launch.sizes is None:
        return
    access, known, published = operation
    for start, end in runs:
        _check_bounds(machine, step, start, end, access)
        _check_order(machine, step, [(start, end)], access, known, writes=False)
        for _, _, writer in machine.memory.shared.writers_in(start, end):
            if writer is not None and writer.generic and known >> writer.bit & 1 and not published >> writer.bit & 1:
                rule = "proxy-fence-copy" if writer.kind == THREAD_COPY else "proxy-fence"
                written = f"bytes that {writer.kind} in line {writer.line} wrote"
                fact = f"{access.this} reads {written}, without a proxy fence in between"
                machine.report(rule, step, fact, writer.line, writer.iteration)


def _check_order(
    machine: Machine,
    step: Step,
    runs: Runs,
    access: Access,
    known: int,
    *,
    writes: bool,
    is_doubtful: Callable[[], bool] = _certain,
) -> None:
    """Report earlier accesses that are not ordered before this one."""
    for start, end in runs:
        for clash in (machine.memory.shared.write if writes else machine.memory.shared.read)(start, end, access, known):
            earlier = clash.earlier
            fact = clash.fact(access, "bytes", writes=writes)
            missing, loose = machine.lanes.missing(earlier.bit, known)
            if missing < 0:
                if clash.wrote and (earlier.kind, earlier.line) == (access.kind, access.line) and is_doubtful():
                    machine.notes.doubts.setdefault(step.place, _ONE_VALUE)
                else:
                    machine.report_clash(step, "reuse-order", clash, f"{fact}; nothing orders the two accesses")
            elif (
                not (loose and step.place in machine.notes.doubts)
                and ("reuse-order", step.place, earlier.line) not in machine.notes.wrong
                and machine.lanes.lacks(earlier.bit, missing, clash.place, clash.end, wrote=clash.wrote)
            ):
                if loose:
                    pair = f"{access.kind} and {earlier.kind} by other lanes in line {earlier.line}"
                    machine.notes.doubts.setdefault(step.place, (f"the order of {pair}", _LOOSE))
                else:
                    machine.report_clash(step, "reuse-order", clash, f"{fact}; {_OTHER_LANES}")


#: Undecided accesses, and why.
_ONE_VALUE = ("a store by several warps", "whether all of them store the same value is not known")
_LOOSE = "the lanes of its warp met in an instruction that is no memory barrier, and not in bar.warp.sync"
#: Why an access by several lanes of one warp is not ordered as a whole.
_OTHER_LANES = "only some lanes of the warp signaled their part of the earlier access, without a bar.warp.sync before"


def descriptor_of(machine: Machine, fragment: Fragment, step: Step, operand: Operand) -> int | None:
    """Return the descriptor in a register of a multiplication; None if it is unknown, or the operand is another one."""
    if isinstance(operand, Vector | Address):  # A in registers or in tensor memory
        return None
    value = machine.value(fragment, operand)
    if isinstance(value, int):
        return value
    machine.note_skipped(step, f"its descriptor depends on {origin_text(value)}")
    return None


def read_operand(machine: Machine, step: Step, runs: Runs | None, operation: Operation, *, padded: bool) -> None:
    """Record that a multiplication reads an operand.

    Args:
        machine: the machine.
        step: the multiplication.
        runs: ranges of bytes; None if the descriptor describes no operand.
        operation: the multiplication as an asynchronous operation.
        padded: whether some of the bytes need not be written.
    """
    if runs is None:
        machine.note_skipped(
            step, "the bytes that it reads are not known, because its descriptors do not determine them"
        )
        return
    if machine.launch.sizes is None:
        machine.notes.footprints.update(runs)
        return
    check_async_read(machine, step, runs, operation)
    if padded and any(writer for run in runs for _, _, writer in machine.memory.shared.writers_in(*run)):
        machine.notes.filled = True
    else:
        _note_unwritten(machine, step, runs)


def check_patterns(machine: Machine, step: Step, words: Mapping[str, tuple[int, Runs | None]], arch: Arch) -> None:
    """Report base offsets that contradict the start, of operands that tensor copies filled.

    A tensor copy permutes by the address, so the swizzle pattern of its tile starts at a multiple of its period.

    Args:
        machine: the machine.
        step: the multiplication.
        words: descriptor and ranges of bytes of each operand, by matrix.
        arch: the architecture of the descriptors.
    """
    if machine.launch.sizes is None:
        return
    wrong: dict[str, str] = {}
    copies: list[Access] = []
    for matrix, (word, runs) in words.items():
        fact = pattern_contradiction(word, arch)
        if fact and (fillers := _tensor_copies(machine, runs or ())):
            wrong[f"{word_text(word)} of {matrix}"] = fact
            copies += fillers
    if wrong:
        fact = f"the base offset in {' and '.join(wrong)} contradicts the start address; {next(iter(wrong.values()))}"
        line, iteration = copies[0].line, copies[0].iteration
        machine.report("word-smem", step, f"{fact}; tensor copies fill the tile, line {line}", line, iteration)


def _tensor_copies(machine: Machine, runs: Runs) -> list[Access]:
    """Return the accesses that wrote some bytes, if all of them are tensor copies; else none."""
    lines = {machine.program.function.code[place].line for place, _, _ in machine.notes.copies}
    writers = [writer for run in runs for _, _, writer in machine.memory.shared.writers_in(*run)]
    copies = [writer for writer in writers if writer and writer.kind == BULK_COPY and writer.line in lines]
    return copies if len(copies) == len(writers) else []


def _note_unwritten(machine: Machine, step: Step, runs: Runs) -> None:
    """Record the bytes that were not written."""
    for start, end in runs:
        for low, high, writer in machine.memory.shared.writers_in(start, end):
            if writer is None:
                machine.notes.unwritten.setdefault(step.place, (low, high))
            else:
                machine.notes.filled = True
