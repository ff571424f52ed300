"""Tensor memory has one protocol: its doors, lines, events and a PTX text, blame the same events."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

from descriptors import check_events, check_ptx
from descriptors.check.events import End, Event, Relinquish
from descriptors.check.sequence import breaches
from descriptors.tmem.allocations import Alloc, Dealloc

#: What a CTA does: allocations by name and columns, names that are freed, the permit that is given up.
Sequence = list[tuple[str, str, int]]
LEGAL, ILLEGAL = (32, 64, 128, 256, 512), (0, 16, 48, 96, 300, 576, 1024)
INCREASE: Sequence = [("alloc", "a", 128), ("dealloc", "a", 128), ("alloc", "b", 256), ("alloc", "c", 256)]


def sequences(number: int) -> Iterator[Sequence]:
    """Random sequences, half of them of legal sizes alone; what is freed is live, but for columns that nobody has."""
    random = Random(19)
    for i in range(number):
        live: dict[str, int] = {}
        made: Sequence = []
        for name in "abcdefgh"[: random.randint(2, 8)]:
            sizes = LEGAL if i % 2 or random.random() < 0.7 else ILLEGAL
            columns = random.choice(sizes)
            made.append(("alloc", name, columns))
            live[name] = columns
            while live and random.random() < 0.45:
                gone = random.choice(sorted(live))
                made.append(("dealloc", gone, live.pop(gone)))
            if random.random() < 0.05:
                made.append(("dealloc", "nobody", 7))
            if random.random() < 0.08:
                made.append(("relinquish", "", 0))
        yield made


def of_lines(sequence: Sequence) -> set[int]:
    lines = [f"{kind} {name} {columns}" if name else kind for kind, name, columns in sequence]
    return {found.number for found in check_events(lines).findings}


def of_events(sequence: Sequence) -> set[int]:
    made: dict[str, type[Alloc] | type[Dealloc]] = {"alloc": Alloc, "dealloc": Dealloc}
    events: list[Event] = [made[kind](columns) if kind in made else Relinquish() for kind, _, columns in sequence]
    return {one.index for one in breaches([*events, End()])}


_PTX = {
    "alloc": "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], {};",
    "dealloc": "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, {};",
    "relinquish": "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
}


def of_ptx(sequence: Sequence) -> set[int]:
    """What the protocol blames a text for, its end apart: where it frees anything, another path may free the rest."""
    code = "\n".join(_PTX[kind].format(columns) for kind, _, columns in sequence)
    report = check_ptx(f".version 8.8\n.target sm_100a\n.entry k() {{\n.shared .b32 s;\n{code}\nret; }}")
    told = {found.line - 5 for found in report.findings if found.rule.name.startswith("tcgen05")}
    return told - {len(sequence)}


def test_an_allocation_may_not_be_larger_than_any_before_it_freed_or_not() -> None:
    assert of_lines(INCREASE) == of_events(INCREASE) == {2, 3, 4}
    assert of_ptx(INCREASE) == {2, 3}


def test_an_illegal_size_is_blamed_once_and_bounds_nothing() -> None:
    sequence: Sequence = [("alloc", "a", 48), ("alloc", "b", 64), ("dealloc", "a", 48), ("dealloc", "b", 64)]
    assert of_lines(sequence) == of_events(sequence) == of_ptx(sequence) == {0}


def test_of_three_allocations_each_is_held_against_all_before_it() -> None:
    for sizes in product(LEGAL, repeat=3):
        sequence: Sequence = []
        for name, columns in zip("abc", sizes, strict=True):
            sequence += [("alloc", name, columns), ("dealloc", name, columns)]
        wanted = {2 * i for i in (1, 2) if sizes[i] > min(sizes[:i])}
        assert of_lines(sequence) == of_events(sequence) == of_ptx(sequence) == wanted, sizes


def test_all_doors_blame_the_same_events_of_two_thousand_sequences() -> None:
    for sequence in sequences(2000):
        blamed = of_lines(sequence)
        assert blamed == of_events(sequence), sequence
        assert blamed - {len(sequence)} == of_ptx(sequence), sequence
