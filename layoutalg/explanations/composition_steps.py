"""The steps of ``coalesce`` and ``composition``.

A composition takes the modes of B one by one. A mode ``n:t`` of B visits every t-th index of A; where these indices
leave a mode of A, the stride changes, so that the mode of B splits there. At the end the modes are added, which is
right only if no sum of their indices carries from one mode of A into the next.

Invariant: each step composes A with one mode of B, and its result is the layout of the offsets that A has there.

>>> from layoutalg import explain
>>> for step in explain("composition((4,8):(8,1), (8,2):(2,16))").steps[0].steps:
...     print(step.formula or step.condition)
composition((4,8):(8,1), 8:2) = (2,4):(16,1)
composition((4,8):(8,1), 2:16) = 2:4
2*1 = 2 < 4
composition((4,8):(8,1), (8,2):(2,16)) = ((2,4),2):((16,1),4)
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from layoutalg.explanations.step import Board, NotExplainedError, by_mode, listed, need_numbers, through_inner
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.flat import from_flat
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.number_composition import coalesced
from layoutalg.layouts.plain_composition import ExtendedLayout
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import flatten_tuple, unflatten

#: The most offsets that a sentence lists.
_MOST_LISTED = 8


def explain_coalesce(board: Board, layout: Any, target_profile: Any = None) -> Any:
    """Explain :func:`layoutalg.coalesce`."""
    if isinstance(layout, ComposedLayout):
        return through_inner(board, "coalesce", layout, *([] if target_profile is None else [target_profile]))
    need_numbers(layout)
    if type(target_profile) is tuple and target_profile:
        return by_mode(board, "coalesce", layout, target_profile)
    shape, stride = flatten_tuple(layout.shape), flatten_tuple(layout.stride)
    if not shape:
        raise NotExplainedError
    current = layout
    if type(layout.shape) is tuple and layout.shape != shape:
        current = board.write("Write the modes in a row.", "", (layout,), Layout(shape, stride))
    modes = list(zip(shape, stride, strict=True))
    merged: list[tuple[int, int]] = []
    for position, (s, d) in enumerate(modes):
        rest = modes[position + 1 :]
        if s == 1:
            sentence = f"Drop the mode 1:{d}: its only coordinate is 0."
        elif merged and merged[-1][0] * merged[-1][1] == d:
            n, step = merged.pop()
            sentence = f"Join {n}:{step} and {s}:{d}: {n} * {step} = {d}, so the second continues the first."
            merged.append((n * s, step))
        else:
            merged.append((s, d))
            continue
        flat = [*merged, *rest]
        result = from_flat([n for n, _ in flat], [step for _, step in flat])
        current = board.write(sentence, "", (current,), result)
    pairs = list(pairwise(merged))
    if pairs or not board.steps:
        sentence = "No other neighbors join." if board.steps else "No two neighbors join, so the layout stays as it is."
        condition = ", ".join(f"{n} * {step} = {n * step} != {d}" for (n, step), (_, d) in pairs)
        board.write(sentence if pairs else "It has one mode, so it stays as it is.", condition=condition)
    return from_flat([n for n, _ in merged], [step for _, step in merged])


def explain_composition(board: Board, a: Any, b: Any) -> Any:
    """Explain :func:`layoutalg.composition`."""
    if isinstance(a, ComposedLayout):
        return through_inner(board, "composition", a, b)
    if isinstance(a, Swizzle) and isinstance(b, (Layout, ComposedLayout)):
        sentence = "A swizzle is not a layout, so it stays in front: the result is the function i -> S(B(i))."
        return board.write(sentence, "composition", (a, b), ComposedLayout(a, 0, b))
    if b is None:
        return a
    if type(b) is tuple:
        need_numbers(a)
        return by_mode(board, "composition", a, b, rest=False)
    if type(b) is int and b > 0:
        board.write(f"The integer {b} stands for the layout {b}:1.")
        b = Layout(b, 1)
    need_numbers(a, b)
    if not flatten_tuple(b.shape) or not flatten_tuple(a.shape):
        raise NotExplainedError
    return _Composition(board, a, b).result()


class _Composition:
    """The explanation of a composition of two layouts of integers."""

    def __init__(self, board: Board, a: Layout, b: Layout) -> None:
        self.board, self.a, self.b = board, a, b
        self.extents, self.strides = coalesced(flatten_tuple(a.shape), flatten_tuple(a.stride))
        self.flat = from_flat(self.extents, self.strides)
        self.function = ExtendedLayout(self.extents, self.strides)
        self.indices: list[tuple[int, int]] = []  # each mode of the result as a mode of the index into A

    def result(self) -> Layout:
        if self.flat != self.a:
            self.board.write("Coalesce A, so that each end of a mode matters.", "", (self.a,), self.flat)
        leaves = list(zip(flatten_tuple(self.b.shape), flatten_tuple(self.b.stride), strict=True))
        if len(self.extents) == 1:
            return self._scaled(leaves)
        pieces = [self._leaf(n, t, alone=len(leaves) == 1) for n, t in leaves]
        if sum(n > 1 and t != 0 for n, t in leaves) > 1:
            self._add_up()
        if len(leaves) == 1 and type(self.b.shape) is not tuple:
            return pieces[0]
        result = Layout(
            unflatten([piece.shape for piece in pieces], self.b.shape),
            unflatten([piece.stride for piece in pieces], self.b.shape),
        )
        return self.board.write(  # type: ignore[no-any-return]
            "Put the modes together in the nesting of B.", "composition", (self.a, self.b), result
        )

    def _scaled(self, leaves: list[tuple[int, int]]) -> Layout:
        """Explain the composition with a layout of one mode, which multiplies the strides of B."""
        d = self.strides[0]
        strides = [d * t if n != 1 else 0 for n, t in leaves]
        stride = strides[0] if type(self.b.shape) is not tuple else unflatten(strides, self.b.shape)
        result = Layout(self.b.shape, stride)
        sentence = f"A has the single stride {d}, so the strides of B are multiplied by {d}."
        return self.board.write(sentence, "composition", (self.a, self.b), result)  # type: ignore[no-any-return]

    def _leaf(self, n: int, t: int, *, alone: bool) -> Layout:
        """Explain one mode of B, and return its part of the result."""
        name = f"B = {n}:{t}" if alone else f"The mode {n}:{t} of B"
        if n == 1 or t == 0:
            result = Layout(n, 0)
            why = "has only the index 0" if n == 1 else "stays at index 0"
            return self._write(f"{name} {why}: stride 0.", n, t, result)
        inner = self.board.board()
        visits = f"visits every {_ordinal(t)} index of A, {n} times" if t > 0 else f"goes through A in steps of {t}"
        visits = f"visits the first {n} indices of A" if t == 1 else visits
        extents: list[int] = []
        strides: list[int] = []
        rest, step = n, t
        while rest > 1:
            count = self.function.first_jump(step, rest)
            if count is not None and rest % count:
                self.board.steps += inner.steps
                self._fail_leaf(n, t, count * (n // rest))
            count = count or rest
            d = self.function(step)
            sentence = self._reason(rest, step, count)
            inner.write(sentence, "composition", (self.flat, Layout(count, step)), Layout(count, d))
            self.indices.append((count, step))
            extents.append(count)
            strides.append(d)
            rest //= count
            step *= count
        own = self.indices[-len(extents) :]
        carry = self.function.first_carry(own) if len(own) > 1 else None
        if carry is not None:
            self.board.steps += inner.steps
            self._fail_carry(own, carry)
        if len(extents) == 1:
            return self._write(f"{name} {visits}. {inner.steps[0].text}", n, t, Layout(n, strides[0]))
        result = Layout(tuple(extents), tuple(strides))
        sentence = (
            f"{name} {visits}. It splits into {listed([f'{s}:{d}' for s, d in zip(extents, strides, strict=True)])}."
        )
        return self.board.group(  # type: ignore[no-any-return]
            sentence, "composition", (self.flat, Layout(n, t)), result, inner
        )

    def _write(self, sentence: str, n: int, t: int, result: Layout) -> Layout:
        return self.board.write(sentence, "composition", (self.flat, Layout(n, t)), result)  # type: ignore[no-any-return]

    def _reason(self, n: int, step: int, count: int) -> str:
        """Return why the first ``count`` of n steps have one stride: the mode of A they are in, or their offsets."""
        if step < 0:
            return self._offsets(step, count, n)
        t, mode = step, 0
        last = len(self.extents) - 1
        skipped = []
        while mode < last and t % self.extents[mode] == 0:
            skipped.append(f"{self.extents[mode]}:{self.strides[mode]}")
            t //= self.extents[mode]
            mode += 1
        s, d = self.extents[mode], self.strides[mode]
        goes = f"A step of {step} goes around {listed(skipped)} and makes {_steps(t)} in {s}:{d}" if skipped else ""
        if mode == last and count == n:
            start = goes or f"The steps are in the last mode, {s}:{d}"
            beyond = " The last mode of A continues beyond its extent." if t * (n - 1) >= s else ""
            return f"{start}: stride {t} * {d} = {t * d}.{beyond}"
        if t * (n - 1) < s and count == n:
            start = f"{goes}, and" if goes else "All indices stay in the mode"
            tail = f"all {n} stay in it" if goes else f"{s}:{d}"
            return f"{start} {tail}: stride {t} * {d} = {t * d}."
        if mode < last and s % t == 0 and count == s // t:
            return f"{f'{goes}. ' if goes else ''}{_steps(count)} of {t} fill {s}:{d}: stride {t} * {d} = {t * d}."
        return self._offsets(step, count, n)

    def _offsets(self, step: int, count: int, n: int) -> str:
        span = f"for the first {count}" if count < n else "throughout"
        return f"{self._listed(step, count + 2, n)}: the stride is {self.function(step)} {span}."

    def _listed(self, step: int, shown: int, n: int) -> str:
        """Return a list of the first offsets along n steps."""
        values = [str(self.function(step * x)) for x in range(min(n, shown, _MOST_LISTED))]
        return f"The offsets A({step}*i) are {', '.join(values)}{', ...' if n > len(values) else ''}"

    def _fail_leaf(self, n: int, t: int, index: int) -> None:
        self.board.fail(
            f"{self._listed(t, index + 2, n)}. Their stride changes at i = {index}, so {index} must divide {n}.",
            f"{n} mod {index} = 0",
        )

    def _add_up(self) -> None:
        """Explain whether the offsets of the modes add up to the offset of the sum of their indices."""
        modes = [(n, t) for n, t in self.indices if n > 1 and t != 0]
        conditions = []
        boundary = 1
        clean = min(t for _, t in modes) > 0
        for s in self.extents[:-1]:
            boundary *= s
            terms = [(t % boundary, n - 1) for n, t in modes if t % boundary]
            total = sum(r * x for r, x in terms)
            clean = clean and total < boundary
            conditions.append(f"{' + '.join(f'{r}*{x}' for r, x in terms) or '0'} = {total} < {boundary}")
        ends = "the end of a mode" if len(conditions) == 1 else "the end of any mode"
        if clean:
            self.board.write(
                f"Together, the modes do not carry over {ends} of A, so their offsets add up.",
                condition=", ".join(conditions),
            )
            return
        carry = self.function.first_carry(self.indices)
        if carry is None:
            self.board.write("The indices of the modes may carry in A, but their offsets still add up everywhere.")
            return
        self._fail_carry(self.indices, carry)

    def _fail_carry(self, indices: list[tuple[int, int]], carry: tuple[int, ...]) -> None:
        """Write that the offsets of the modes do not add up at a coordinate."""
        pairs = [(x, t) for x, (_, t) in zip(carry, indices, strict=True) if x * t]
        steps = [x * t for x, t in pairs]
        values = [x * self.function(t) for x, t in pairs]
        index = " + ".join(map(str, steps))
        self.board.fail(
            f"Together, the modes carry over the end of a mode of A: A({index}) = A({sum(steps)}) = "
            f"{self.function(sum(steps))}, but {' + '.join(f'A({step})' for step in steps)} = {sum(values)}. In a "
            "layout, the offsets of the modes add up.",
            f"{' + '.join(map(str, values))} = {self.function(sum(steps))}",
        )


def _ordinal(number: int) -> str:
    """Return a number as a position: ``3rd``.

    >>> [_ordinal(n) for n in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"
