"""Items of lesson 4: a composition that may not exist, and one to break.

Law: the kind that has no answer is answered by `none`.

>>> from random import Random
>>> from descriptors.course.papers.item import make
>>> [make(kind, Random(1)).exercise.solution for kind in KINDS[:2]]
['((3,2),3):((4,13),1)', 'none']
"""

from __future__ import annotations

from random import Random

from descriptors.course.papers.item import OR_NONE, Draft, Kind, pick, two
from layoutalg import Layout, LayoutError, composition, cosize, flatten, rank, size

_HINTS = (
    "Take b mode by mode, and write down the indices of a that it visits.",
    "Is the step from one offset to the next always the same, or the same in whole groups?",
)


def exists(rng: Random) -> Draft | None:
    """A composition in which a step of b leaves a mode of a at its end."""
    a, b = _pair(rng)
    right = composed(a, b)
    if cosize(b) > size(a) or right is None or rank(flatten(right)) <= rank(flatten(b)) or str(right) == str(b):
        return None
    visited = [b(i) for i in range(3)]
    return Draft(
        ask=_ask(a, b),
        judge="lawful",
        operands=("composition", str(a), str(b)),
        starter="?",
        hints=(*_HINTS, f"b begins {visited}, where a is {[a(i) for i in visited]}."),
        solution=str(right),
        why=f"The offsets are {[a(b(i)) for i in range(size(b))]}, and this layout has them in the modes of b.",
        slips=(
            (_naive(a, b), "the strides are multiplied, though b runs over the end of a's first mode"),
            ("none", "a step that leaves a mode at its end is taken for one that breaks it"),
            (str(b), "b is not led through a"),
            (_swapped(a, b), "b is applied last"),
            (f"{b.shape}:{_scaled(b, _last_stride(a))}".replace(" ", ""), "only the last stride of a is used"),
            (f"{size(b)}:{a(b(1))}", "the first step is taken for all of them"),
        ),
    )


def missing(rng: Random) -> Draft | None:
    """A composition that no layout is."""
    a, b = _pair(rng)
    if cosize(b) > size(a) or composed(a, b) is not None:
        return None
    values = [a(b(i)) for i in range(size(b))]
    shown = ", ".join(map(str, values))
    return Draft(
        ask=_ask(a, b),
        judge="lawful",
        operands=("composition", str(a), str(b)),
        starter="?",
        hints=(*_HINTS, f"Write down a(b(i)) for all {size(b)} indices, and the step between neighbours."),
        solution="none",
        why=f"a(b(i)) is {shown}. A step of b runs over the end of a mode of a in the middle, so that no strides fit.",
        slips=(
            (_naive(a, b), "the strides are multiplied, though b runs over the end of a's first mode"),
            (_rounded(a, b), "a quotient that is no integer is rounded, as published programs do"),
            (str(b), "b is not led through a"),
            (f"{size(b)}:{values[1]}", "the first step is taken for all of them"),
            (f"{b.shape}:{_scaled(b, _last_stride(a))}".replace(" ", ""), "only the last stride of a is used"),
        ),
    )


def broken(rng: Random) -> Draft | None:
    """A layout b to be found that has no composition with a."""
    m, n = pick(rng, (4, 6, 8, 9, 10)), pick(rng, (3, 4, 5, 6))
    a = Layout((m, n), (1, m + pick(rng, (1, 2, 3))))
    bad = [k for k in range(2, m) if m % k]
    good = [k for k in range(2, m) if m % k == 0]
    if not bad or not good:
        return None
    step = pick(rng, bad)
    count = next((c for c in range(2, m) if composed(a, Layout(c, step)) is None), None)
    if count is None or count * step > m * n:
        return None
    fits = good[0]
    return Draft(
        ask=f"A layout b for which a = `{a}` and b have no composition.",
        judge="no composition",
        operands=(str(a),),
        starter="?:?",
        hints=(
            f"The first mode has {m} coordinates. Which steps do not fit into {m}?",
            "Follow such a step over the end of the first mode: are the offsets still the same step apart?",
            f"{step} does not divide {m}: try a layout with that stride, long enough to leave the first mode.",
        ),
        solution=f"{count}:{step}",
        why=f"a at its indices is {[a(step * i) for i in range(count)]}: no single stride leads through all of them.",
        slips=(
            (f"{m // fits}:{fits}", "a step that divides the first mode stays inside it"),
            (f"{m * n // fits}:{fits}", "a step that divides the first mode leaves it at its end"),
            (f"{n}:{m}", "a step of the whole first mode moves in the second alone"),
            (f"2:{step}", "two elements are always a layout"),
            (str(Layout((m, n), (1, m))), "b is the identity of the indices"),
        ),
    )


def composed(a: Layout, b: Layout) -> Layout | None:
    """The composition, or None if there is none."""
    try:
        found = composition(a, b)
    except LayoutError:
        return None
    return found if isinstance(found, Layout) else None


def _pair(rng: Random) -> tuple[Layout, Layout]:
    """Two layouts, the second of which stays within the indices of the first."""
    m, n = pick(rng, (4, 6, 8, 9, 12)), pick(rng, (2, 3, 4, 6))
    a = Layout((m, n), pick(rng, ((n, 1), (1, m + 1), (1, m + 3), (2, 2 * m + 3), (3, 1))))
    step, total = pick(rng, (2, 3, 4, 6)), m * n
    longest = (total - 1) // step + 1
    if rng.random() < 0.6:
        return a, Layout(pick(rng, range(3, max(4, min(longest, 8) + 1))), step)
    count = pick(rng, range(2, max(3, min(longest, 6) + 1)))
    return a, Layout((count, 2 if step == 2 else 3), (step, 1))


def _ask(a: Layout, b: Layout) -> str:
    return f"The composition of a = `{a}` and b = `{b}`, that is the layout with the offsets a(b(i)). {OR_NONE}"


def _scaled(b: Layout, factor: int) -> int | tuple[int, ...]:
    return tuple(factor * d for d in b.stride) if isinstance(b.stride, tuple) else factor * b.stride  # type: ignore


def _first_stride(a: Layout) -> int:
    return a.stride[0]  # type: ignore


def _last_stride(a: Layout) -> int:
    return a.stride[-1]  # type: ignore


def _naive(a: Layout, b: Layout) -> str:
    return f"{b.shape}:{_scaled(b, _first_stride(a))}".replace(" ", "")


def _swapped(a: Layout, b: Layout) -> str:
    return str(composed(b, a) or b)


def _rounded(a: Layout, b: Layout) -> str:
    """What rounding up gives: part of the first mode, the rest of the second."""
    first, step = a.shape[0], b.stride if isinstance(b.stride, int) else b.stride[0]  # type: ignore
    total = size(b)
    inside = max(1, -(-first // step))  # type: ignore[operator]
    return two(inside, max(1, total // inside), _first_stride(a) * step, _last_stride(a))  # type: ignore[operator]


#: The kinds of this module; the two of a composition ask in the same words.
KINDS = (
    Kind("composition", 4, 2, exists),
    Kind("no composition", 4, 3, missing, none=True),
    Kind("break a composition", 4, 3, broken),
)
