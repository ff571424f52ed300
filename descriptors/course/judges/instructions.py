"""Judges of instructions: which there are, as counterexamples to sentences on them, and in which order they may stand.

The judge is the table of instructions, read strictly: each row has its source.

Law: what a sentence allows itself is no counterexample to it, and what no instruction takes is none either.

>>> [types(mine, "sm90", "f8", [["e4m3", "e4m3", "f32"]]) for mine in ("e4m3 e4m3 f16", "e4m3 e4m3 f32")]
[None, 'is what the sentence says itself']

A sequence is written with commas: ``fence, mma d, commit, wait 0, read d``. A name stands for the registers of one
accumulator. ``mma d`` begins a sum, ``mma+ d`` adds to one; ``write d`` is ordinary code that computes into it.

What the simulator finds first is the hint; any clean sequence that does what was asked is right.

>>> ordered("fence, mma d, commit, wait 0, read d", ["mma d", "read d"])
>>> ordered("mma d, commit, wait 0, read d", ["mma d", "read d"])[:60]
'breaks a rule at event 1, mma d: a wgmma.fence must stand be'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from descriptors.check.events import Commit, Event, Fence, Mma, Touch, Wait
from descriptors.check.sequence import first_broken
from descriptors.course.judges.answers import integers_of, parts_of
from descriptors.errors import DescriptorError
from descriptors.smem.instructions.idesc import decode_idesc, idesc
from descriptors.smem.instructions.legality import check_scale, check_shape, check_types
from descriptors.smem.words.bitfield import UnknownCode
from layoutalg import LayoutError
from layoutalg import fragment as named_fragment


def types(answer: str, arch: str, kind: str, said: Sequence[Sequence[str]]) -> str | None:
    """Types of A, B and D that an instruction takes together, though a sentence has others alone.

    Args:
        answer: three names.
        arch, kind: of the instruction.
        said: the triples of the sentence.
    """
    mine = _names(answer, 3, "three types, as e4m3 e4m3 f32")
    wrong = _refusal(lambda: check_types(arch, kind, *mine))
    return wrong or ("is what the sentence says itself" if list(mine) in [list(one) for one in said] else None)


def extent_n(answer: str, arch: str, kind: str, accepted: bool, lowest: int, step: int) -> str | None:
    """An N that an instruction does not take though a sentence says so, or takes though it says not.

    Args:
        answer: the number.
        arch, kind: of the instruction.
        accepted: whether instructions must take it.
        lowest, step: the N in question: those from the lowest on, up to 256, by this step.
    """
    (n,) = integers_of(answer, 1)
    if not lowest <= n <= 256 or n % step:
        return f"must be a multiple of {step} from {lowest} to 256, found {n}"
    wrong = _refusal(lambda: check_shape(arch, kind, m=64, n=n))
    if accepted:
        return wrong
    return None if wrong else f"has {n}, which such an instruction takes"


def scale(answer: str, kind: str, k: int, said: Sequence[Sequence[object]]) -> str | None:
    """A type of scale factors and how many elements share one, which instructions take though a sentence does not."""
    name, vector = _names(answer, 2, "a type and a number, as ue8m0 32")
    (number,) = integers_of(vector, 1)
    wrong = _refusal(lambda: check_scale(kind, name, number, k=k))
    return wrong or ("is what the sentence says itself" if [name, number] in [list(one) for one in said] else None)


def majors(answer: str, m: int, n: int) -> str | None:
    """A type, the major of A and the major of B of a legal ``tcgen05.mma``, not both of them K."""
    dtype, a, b = _names(answer, 3, "a type and two majors, as bf16 K K")
    if not {a, b} <= {"k", "mn"}:
        return "must say K or MN for A and for B"
    if (a, b) == ("k", "k"):
        return "has both operands K-major, as the sentence says"
    sides: dict[str, object] = {"a_major": a.upper(), "b_major": b.upper()}
    return _refusal(lambda: idesc(dtype, m=m, n=n, **sides))  # type: ignore[arg-type]


def instruction(answer: str, kind: str, meanings: dict[str, str]) -> str | None:
    """An instruction descriptor whose fields have some meanings, and in which nothing is illegal."""
    (word,) = integers_of(answer, 1)
    if not 0 <= word < 1 << 32:
        return f"must have 32 bits, found {answer}"
    fields = decode_idesc(word, kind)
    for name, meaning in meanings.items():
        if str(fields[name]) != meaning:
            return f"has {name} {fields[name]}, must have {meaning}"
    warning = fields.warnings[0] if fields.warnings else ""
    if fields.unknown_bits:
        warning = "a bit of no field is set"
    return f"is no legal instruction: {warning}" if warning else None


def code(answer: str, kind: str, name: str, base: int, low: int, said: Sequence[int]) -> str | None:
    """A code of a field that means something though a sentence leaves it out, or nothing though it has it."""
    (number,) = integers_of(answer, 1)
    if not 0 <= number <= 7:
        return f"must have three bits, found {number}"
    meaning = decode_idesc(base & ~(7 << low) | number << low, kind)[name]
    means = not isinstance(meaning, UnknownCode)
    if means == (number in said):
        return f"is {meaning}, as the sentence says" if means else "means nothing, as the sentence says"
    return None


def registers(answer: str, divisor: int) -> str | None:
    """N of a ``wgmma`` with M 64, and the registers of 32 bits that each thread has of its accumulator."""
    n, said = integers_of(answer, 2)
    wrong = _refusal(lambda: check_shape("sm90", "f16", m=64, n=n))
    if wrong:
        return wrong
    values = named_fragment(f"wgmma.m64n{n}k16.D").values
    if said != values:
        return f"says {said} registers for N = {n}, where 128 threads hold 64 x {n} elements"
    return None if said * divisor != 64 * n else "is what the sentence says itself"


def _names(answer: str, count: int, form: str) -> tuple[str, ...]:
    names = parts_of(answer)
    if len(names) != count:
        raise DescriptorError(f"answer: it must be {form}, found {answer[:40]!r}")
    return names


def _refusal(construct: Callable[[], object]) -> str | None:
    try:
        construct()
    except LayoutError as error:  # which says what would be right, too
        value = str(error).rpartition(", found ")[2].partition(";")[0]
        return f"is nothing that such an instruction takes: {value}"
    return None


_EVENT = re.compile(r"(fence|commit)|(wait) ([0-7])|(mma\+?|read|write) ([a-z][a-z0-9]{0,7})")
#: The longest sequence that is read.
LONGEST = 64


def ordered(answer: str, done: Sequence[str]) -> str | None:
    """A sequence that breaks no rule and does some things, in this order, whatever stands between them."""
    names = names_of(answer)
    rest = iter(names)
    missing = next((one for one in done if one not in rest), None)
    return f"does not do these in order: {', '.join(done)}; {missing} is missing" if missing else broken(names)


def inserted(answer: str, events: str) -> str | None:
    """The given sequence with one event put in, or some, so that it breaks no rule any more."""
    names, rest = names_of(answer), iter(names_of(answer))
    if not all(one in rest for one in names_of(events)):
        return "has lost an event, or changed the order of those that were given"
    return broken(names)


def overlapped(answer: str, read: str, flying: str, done: Sequence[str]) -> str | None:
    """A sequence in which one accumulator is read while another one is still in flight."""
    names = names_of(answer)
    wrong = ordered(answer, done)
    if wrong:
        return wrong
    early = [*names[: names.index(read)], flying]
    return None if broken(early) else f"has waited for everything: {flying} could stand before {read} as well"


def largest_wait(answer: str, before: str, after: str) -> str | None:
    """The largest N of a wait between two parts of a sequence with which no rule is broken."""
    (number,) = integers_of(answer, 1)
    if not 0 <= number <= 7:
        return f"must be 0 to 7, found {number}"
    tried = {n: broken([*names_of(before), f"wait {n}", *names_of(after)]) for n in range(8)}
    if tried[number]:
        return f"leaves too many groups in flight: {tried[number]}"
    larger = any(not tried[n] for n in range(number + 1, 8))
    return f"is safe, but waits for more than it must: wait {number} is not the largest" if larger else None


def names_of(text: str) -> list[str]:
    """The events of a sequence, each as it is written.

    Raises:
        DescriptorError: for one that there is not.
    """
    names = [" ".join(one.split()) for one in text.strip(" .").lower().split(",")]
    strange = [one for one in names if not _EVENT.fullmatch(one)]
    if strange or len(names) > LONGEST:
        raise DescriptorError(
            "answer: it must be events with commas (fence, mma d, mma+ d, commit, wait 0, read d, write d), "
            f"found {strange[0][:20]!r}"
            if strange
            else f"answer: at most {LONGEST} events, found {len(names)}"
        )
    return names


def events_of(names: Sequence[str]) -> list[Event]:
    """The events as the simulator takes them."""
    return [_event(name) for name in names]


def broken(names: Sequence[str]) -> str | None:
    """The first rule of grade error that a sequence breaks, in a sentence about the answer."""
    first = first_broken(events_of(names))
    if first is None:
        return None
    rule = first.broken
    return f"breaks a rule at event {first.index + 1}, {names[first.index]}: {rule.rule.demands}, {rule.found}"


def _event(name: str) -> Event:
    verb, _, what = name.partition(" ")
    match verb:
        case "fence":
            return Fence()
        case "commit":
            return Commit()
        case "wait":
            return Wait(int(what))
        case "read":
            return Touch((what,))
        case "write":
            return Touch((), (what,))
    return Mma((what,), shape="m64n8k16", adds=verb == "mma+")


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "types": types,
    "extent n": extent_n,
    "scale": scale,
    "majors": majors,
    "instruction": instruction,
    "code": code,
    "registers": registers,
    "ordered": ordered,
    "inserted": inserted,
    "overlapped": overlapped,
    "largest wait": largest_wait,
}
