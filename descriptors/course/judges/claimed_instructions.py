"""Judges of counterexamples to sentences on which instructions there are, and on what their words and registers hold.

The judge is the table of instructions, read strictly: each row has its source.

Law: what a sentence allows itself is no counterexample to it, and what no instruction takes is none either.

>>> [types(mine, "sm90", "f8", [["e4m3", "e4m3", "f32"]]) for mine in ("e4m3 e4m3 f16", "e4m3 e4m3 f32")]
[None, 'is what the sentence says itself']
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from descriptors.course.judges.typed import integers_of, parts_of
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


def extent_n(answer: str, arch: str, kind: str, taken: bool, lowest: int, step: int) -> str | None:
    """An N that an instruction does not take though a sentence says so, or takes though it says not.

    Args:
        answer: the number.
        arch, kind: of the instruction.
        taken: whether instructions must take it.
        lowest, step: the N in question: those from the lowest on, up to 256, by this step.
    """
    (n,) = integers_of(answer, 1)
    if not lowest <= n <= 256 or n % step:
        return f"must be a multiple of {step} from {lowest} to 256, found {n}"
    wrong = _refusal(lambda: check_shape(arch, kind, m=64, n=n))
    if taken:
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


def instruction(answer: str, kind: str, wanted: dict[str, str]) -> str | None:
    """An instruction descriptor whose fields have some meanings, and in which nothing is illegal."""
    (word,) = integers_of(answer, 1)
    if not 0 <= word < 1 << 32:
        return f"must have 32 bits, found {answer}"
    found = decode_idesc(word, kind)
    for name, meaning in wanted.items():
        if str(found[name]) != meaning:
            return f"has {name} {found[name]}, must have {meaning}"
    told = found.warnings[0] if found.warnings else ""
    if found.unknown_bits:
        told = "a bit of no field is set"
    return f"is no legal instruction: {told}" if told else None


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
    held = named_fragment(f"wgmma.m64n{n}k16.D").values
    if said != held:
        return f"says {said} registers for N = {n}, where 128 threads hold 64 x {n} elements"
    return None if said * divisor != 64 * n else "is what the sentence says itself"


def _names(answer: str, count: int, form: str) -> tuple[str, ...]:
    names = parts_of(answer)
    if len(names) != count:
        raise DescriptorError(f"answer: it must be {form}, found {answer[:40]!r}")
    return names


def _refusal(asked: Callable[[], object]) -> str | None:
    try:
        asked()
    except LayoutError as error:  # which says what would be right, too
        found = str(error).rpartition(", found ")[2].partition(";")[0]
        return f"is nothing that such an instruction takes: {found}"
    return None


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "types": types,
    "extent n": extent_n,
    "scale": scale,
    "majors": majors,
    "instruction": instruction,
    "code": code,
    "registers": registers,
}
