"""The words of one accumulation against each other: each operand must step from K block to K block of one tile.

A word says how its operand lies: by the canonical form of its major and swizzle, with LBO and SBO for the free steps.
So it says which lines of shared memory an instruction reads, and which part of K is in each: of a swizzled K-major
operand rows of MN, in which K blocks lie side by side; else rows of K. Two instructions of one accumulation that read
one tile read K blocks of it that do not touch each other. What a step can be follows:

* *along a line* (K-major): whole K blocks, as far as the line goes;
* *to other lines*: none of them may be a line of another instruction, or they are the same ones, another K block;
* *to the same lines, other rows* is no step along K. A convolution slides so, over all of its K blocks, and one operand
  alone: the other holds its weights. Anything else is a mistake.

Of what starts in a place that is not known nothing is said, and where both readings are possible it is asked.
Source: the forms of ``descriptors.smem.operands.forms``, and what ``derive`` makes of them (its advance).

Law: the steps of what ``derive`` derives are taken, whatever the layout.

>>> from descriptors import derive
>>> from descriptors.check.ptx.known_bits import Known
>>> tiles = (("K", "128B", (0, 1)), ("K", "32B", (1, 0)), ("MN", "64B", (1, 0)), ("MN", "none", (0, 1)))
>>> for major, swizzle, order in tiles:
...     d = derive((64, 128), "bf16", major, swizzle, (64, 16), order, "sm90")
...     one = SmemOperand("B", "sm90", "bf16", major, (64, 16), Known(d.descriptor.encode(), START_FREE))
...     assert not wrong_steps(lines_of(one), [start for start in d.offsets_bytes()[0]], None)

Law: a step that reads what another instruction read is none.

>>> d = derive((64, 128), "bf16", "MN", "128B", (64, 16), arch="sm90")
>>> one = SmemOperand("B", "sm90", "bf16", "MN", (64, 16), Known(d.descriptor.encode(), START_FREE))
>>> [fault.text for fault in wrong_steps(lines_of(one), [0, 1024], None)]
['advances by 1024 bytes, to rows of K that are other rows of K for another instruction']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from descriptors.check.ptx.kernel_words import START_FREE, SmemOperand, field_value, read_as
from descriptors.errors import DescriptorError
from descriptors.smem.operands.canonical import walked
from descriptors.smem.operands.forms import LEADING, STRIDE
from descriptors.smem.operands.operand import Major, SwizzleMode, as_element_type, as_major
from descriptors.smem.words.descriptor import smem_word, start_mask
from layoutalg.frozen import frozen, replace


@frozen
class Step:
    """The operands of one multiplication of an accumulation, in the order in which they are issued.

    Args:
        index: of the instruction.
        operands: A and B, as far as they lie in shared memory.
        elsewhere: what names A where it lies elsewhere: registers, or an address in tensor memory.
    """

    index: int
    operands: tuple[SmemOperand, ...]
    elsewhere: str = ""


#: A rule's name, or "" for what only one of two operands may do.
Kind: TypeAlias = Literal["word-advance", "word-suspect", "slides"]


class Fault(NamedTuple):
    """A step that is none: the number of the instruction, the rule, and where it leads to."""

    number: int
    kind: Kind
    text: str


@frozen
class Lines:
    """What one instruction reads of an operand, before the swizzle, which moves nothing out of its line.

    Args:
        starts: of each line its offset from the start, in bytes, and its row of K; 0 where K runs along the line.
        span: bytes of a line.
        rows: lines of a swizzle pattern.
        block: bytes of K that lie along a line; 0 where MN lies along it.
        dense: bytes from one instruction's K to the next where one step has all of K; 0 if the word does not say.
    """

    starts: tuple[tuple[int, int], ...]
    span: int
    rows: int
    block: int
    dense: int


def lines_of(one: SmemOperand) -> Lines | None:
    """The lines that an instruction reads of an operand; None where the word does not say which.

    >>> from descriptors.check.ptx.known_bits import Known
    >>> word = Known(0x4000004000010000, START_FREE)
    >>> sorted(lines_of(SmemOperand("A", "sm90", "bf16", "K", (16, 16), word)).starts)[7:10]
    [(896, 0), (1024, 0), (1152, 0)]
    """
    mode, lbo, sbo = (field_value(one, name) for name in ("swizzle", LEADING, STRIDE))
    if not isinstance(mode, SwizzleMode) or field_value(one, "lbo_mode"):
        return None
    try:
        return _lines(mode, lbo, sbo, one.dtype, one.major, one.shape)
    except DescriptorError:  # a type that no operand has
        return None


@lru_cache(maxsize=1024)
def _lines(
    mode: SwizzleMode, lbo: int | None, sbo: int | None, dtype: str, major: Literal["K", "MN"], shape: tuple[int, int]
) -> Lines | None:
    dtype, extents = read_as(dtype, shape)
    wanted, element = walked(as_major(major), mode), as_element_type(dtype)
    contiguous = wanted.major.contiguous_mode
    units = list(extents)
    units[contiguous] = -(-units[contiguous] // element.per_16_bytes)
    strides: dict[tuple[int, int], int | None] = {wanted.leading: lbo, wanted.stride: sbo}
    strides |= {path: 16 * step for path, step in wanted.fixed}
    extent = {(i, 0): min(units[i], wanted.chunk[i]) for i in (0, 1)}
    extent |= {(i, 1): -(-units[i] // wanted.chunk[i]) for i in (0, 1)}
    swizzled, k_major = mode is not SwizzleMode.NONE, wanted.major is Major.K
    if swizzled:  # along a line nothing is counted
        extent[contiguous, 1 if k_major else 0] = 1
    starts = [(0, 0)]
    for (dimension, part), many in extent.items():
        step = strides.get((dimension, part)) if many > 1 else 0
        if step is None:
            return None
        k = 0 if dimension == 0 else wanted.chunk[1] if part else 1
        starts = [(at + step * i, row + k * i) for at, row in starts for i in range(many)]
    block = units[1] * 16 if swizzled and k_major else 0
    last = strides.get((1, 1))
    many = -(-units[1] // wanted.chunk[1])
    dense = many * last if last and many > 1 and not block else 0
    span = mode.span_bytes
    return None if block > span else Lines(tuple(starts), span, wanted.rows if swizzled else 1, block, dense)


def wrong_steps(lines: Lines, starts: Sequence[int], first: int | None) -> list[Fault]:
    """What is wrong with where the instructions of an accumulation start in one operand.

    Args:
        lines: what each of them reads.
        starts: where each starts, in bytes, counted from one of them.
        first: where that one starts in its line, in bytes; None where that is not known: then as it fits best.
    """
    if not lines.block:
        return list(_across(lines, starts))
    places = [first] if first is not None else range(0, lines.span, lines.block)
    tried = [list(_along(lines, [place + one for one in starts])) for place in places]
    return min(tried, key=_badness)


def _badness(faults: list[Fault]) -> tuple[int, int]:
    return sum(one.kind != "word-suspect" for one in faults), len(faults)


def _along(lines: Lines, starts: Sequence[int]) -> Iterator[Fault]:
    """Steps of an operand whose K blocks lie side by side in a line."""
    span, block = lines.span, lines.block
    sound: dict[int, list[int]] = {}
    for number, at in enumerate(starts):
        inside, moved = at % span, at - starts[0]
        if moved % block:
            text = f"advances by {moved // 16} units of 16 bytes, not a whole number of K blocks of {block} bytes"
            yield Fault(number, "word-advance", text)
        elif inside + block > span:
            yield Fault(
                number,
                "word-advance",
                f"advances by {moved} bytes, past the end of a row of {span} bytes",
            )
        else:
            sound.setdefault(at - inside, []).append(number)
    yield from _chunks(lines, starts, sound)


def _chunks(lines: Lines, starts: Sequence[int], chunks: dict[int, list[int]]) -> Iterator[Fault]:
    """Steps from one column of lines to another: other lines, or all K blocks of the same lines, slid."""
    span, many = lines.span, lines.span // lines.block
    held = {chunk: {starts[n] % span // lines.block for n in numbers} for chunk, numbers in chunks.items()}
    main = max(held, key=lambda chunk: len(held[chunk]), default=0)
    for chunk in held:
        moved = chunk - main
        if not moved:
            continue
        touched = [other for other in held if other != chunk and _touch(lines, other, chunk)]
        numbers = [number for number in chunks[chunk] if chunk != main]
        row = moved % (lines.rows * span) // span
        where = f"to row {row} of a pattern of {lines.rows}" if row else f"{abs(moved) // span} rows along MN"
        if main in touched or any(abs(other - main) <= abs(moved) for other in touched):
            whole = all(len(held[other]) == many for other in (chunk, *touched))
            for number in numbers:
                text = f"advances by {starts[number] - starts[0]} bytes, {where}, into lines of another instruction"
                yield Fault(number, "slides" if whole else "word-advance", text)
        elif row:
            text = f"advances by {starts[numbers[0]] - starts[0]} bytes, {where}"
            yield Fault(numbers[0], "word-suspect", text)
        elif held[chunk] != held[main] and held[chunk] != set(range(len(held[chunk]))):
            text = f"advances by {starts[numbers[0]] - starts[0]} bytes, to K block {min(held[chunk])} of new rows"
            yield Fault(numbers[0], "word-suspect", text)


@lru_cache(maxsize=4096)
def _rows(lines: Lines) -> frozenset[int]:
    return frozenset(at for at, _ in lines.starts)


def _touch(lines: Lines, one: int, other: int) -> bool:
    return not _rows(lines).isdisjoint(at + other - one for at in _rows(lines))


def _across(lines: Lines, starts: Sequence[int]) -> Iterator[Fault]:
    """Steps of an operand whose lines are rows of K, or pieces of them."""
    seen: dict[int, tuple[int, int]] = {}
    sound: list[int] = []
    related: dict[int, int] = {}
    for number, at in enumerate(starts):
        moved = at - starts[0]
        if at in sound:
            continue
        if moved % lines.span:
            yield Fault(
                number,
                "word-advance",
                f"advances by {moved} bytes, which is not a whole number of lines of {lines.span} bytes",
            )
            continue
        met = [(seen[at + line], row) for line, row in lines.starts if at + line in seen]
        if any(row != other for (_, other), row in met):
            text = f"advances by {moved} bytes, to rows of K that are other rows of K for another instruction"
            yield Fault(number, "word-advance", text)
            continue
        if met:
            related[number] = met[0][0][0]
        elif moved % (lines.rows * lines.span):
            yield Fault(
                number,
                "word-suspect",
                f"advances by {moved} bytes, into a pattern of {lines.rows * lines.span} bytes",
            )
        seen |= {at + line: (number, row) for line, row in lines.starts}
        sound.append(at)
    yield from _slides(starts, related, len(sound))
    yield from _uneven(lines, starts, sound)


def _slides(starts: Sequence[int], related: dict[int, int], many: int) -> Iterator[Fault]:
    """Instructions that read what another one reads, as other columns of MN."""
    whole = bool(related) and many % (many - len(related)) == 0
    for number in related:
        text = f"advances by {starts[number] - starts[0]} bytes along MN, to columns that another instruction reads"
        yield Fault(number, "slides" if whole else "word-advance", text)


def _uneven(lines: Lines, starts: Sequence[int], sound: list[int]) -> Iterator[Fault]:
    """Steps that leave K blocks out: runs of equal steps are as long as each other, but for the last."""
    places = sorted(set(sound))
    steps = [b - a for a, b in pairwise(places)]
    if not steps:
        return
    least, runs = min(steps), [1]
    for step in steps:
        if step == least:
            runs[-1] += 1
        else:
            runs.append(1)
    far = max(range(len(starts)), key=lambda number: starts[number])
    if len(runs) > 1 and (any(run != runs[0] for run in runs[:-1]) or runs[-1] > runs[0]):
        yield Fault(
            far,
            "word-suspect",
            f"advances by {starts[far] - starts[0]} bytes, in steps of {least} bytes and other steps",
        )
    elif len(runs) == 1 and lines.dense and least > lines.dense:
        text = f"advances by {least} bytes per step, but one instruction reads only {lines.dense} bytes of K"
        text += "; the start address of the descriptor is in units of 16 bytes" * (least == 16 * lines.dense)
        yield Fault(far, "word-suspect", text)


def advance_findings(chain: list[Step]) -> Iterator[tuple[int, str, str]]:
    """Where the words of one accumulation do not go together: the index of the instruction, the rule, what was found.

    >>> from descriptors.check.ptx.known_bits import Known
    >>> first = SmemOperand("A", "sm100", "bf16", "K", (128, 16), Known(0x4000404000010000, START_FREE, "r", 0))
    >>> steps = [Step(i, (replace_offset(first, by),)) for i, by in enumerate((0, 2, 5))]
    >>> [(index, found) for index, _, found in advance_findings(steps)]
    [(2, 'A advances by 5 units of 16 bytes, not a whole number of K blocks of 32 bytes')]
    """
    slid: dict[str, list[tuple[int, str]]] = {}
    for matrix in ("A", "B"):
        row = [(step.index, one) for step in chain for one in step.operands if one.matrix == matrix]
        yield from _one_kind(matrix, row)
        for index, fault in _steps(row):
            if fault.kind == "slides":
                slid.setdefault(matrix, []).append((index, fault.text))
            else:
                yield index, fault.kind, f"{matrix} {fault.text}"
    for matrix, found in slid.items():
        rule = "word-advance" if len(slid) == 2 else "word-suspect"
        yield from ((index, rule, f"{matrix} {text}") for index, text in found)
    yield from _together(chain)


def replace_offset(one: SmemOperand, offset: int) -> SmemOperand:
    """The same operand, its word so far from its base."""
    return replace(one, word=one.word._replace(offset=offset))


def _one_kind(matrix: str, row: list[tuple[int, SmemOperand]]) -> Iterator[tuple[int, str, str]]:
    """The fields that all words of an operand must have alike, and its major."""
    for (_, before), (index, after) in zip(row[:1] * (len(row) - 1), row[1:], strict=True):
        known = before.word.mask & after.word.mask & START_FREE
        changed = (before.word.value ^ after.word.value) & known
        if changed and before.word.base == after.word.base:
            names = [f.name for f in smem_word(after.arch).fields if f.mask & changed] or ["bits of no field"]
            fact = f"the descriptor of {matrix} has another {', '.join(names)} than in the first instruction"
            yield index, "word-advance", fact
        elif before.major != after.major and before.dtype == after.dtype and not changed:
            fact = f"{matrix} is {after.major}-major, but {before.major}-major in the first instruction"
            yield index, "word-transpose", fact


def places(row: list[tuple[int, SmemOperand]]) -> list[list[tuple[int, SmemOperand, int]]]:
    """Operands by what their starts are counted from, each with its start in bytes, counted from the first so counted.

    Args:
        row: one operand of an accumulation, by the index of the instruction.

    >>> from descriptors.check.ptx.known_bits import Known
    >>> word = Known(0x4000004000010000, START_FREE, "r", 0)
    >>> one = SmemOperand("A", "sm90", "bf16", "K", (64, 16), word)
    >>> row = [(0, one), (1, replace_offset(one, 2)), (2, replace(one, word=word._replace(base="s")))]
    >>> [[(index, at) for index, _, at in group] for group in places(row)]
    [[(0, 0), (1, 32)], [(2, 0)]]
    """
    together: list[list[tuple[int, SmemOperand, int]]] = []
    counted: dict[str, list[list[tuple[int, SmemOperand, int]]]] = {}  # the groups that a start may be counted from
    for index, one in row:
        keys = [one.word.base] * bool(one.word.base) + [""] * one.start_known
        near = [held for key in keys for held in counted.get(key, []) if distance(held[0][1], one) is not None]
        first = min(near, key=lambda held: held[0][0], default=None)
        if first is None:
            together.append([(index, one, 0)])
            for key in keys:
                counted.setdefault(key, []).append(together[-1])
        elif _alike(first[0][1], one):
            first.append((index, one, 16 * (distance(first[0][1], one) or 0)))
    return together


def _steps(row: list[tuple[int, SmemOperand]]) -> Iterator[tuple[int, Fault]]:
    """The wrong steps of one operand, by the index of the instruction; those counted from one base together."""
    for held in places(row):
        lines = lines_of(held[0][1])
        if lines is None:
            continue
        first = _begins(held[0][1], lines)
        if lines.block and (first or 0) % lines.block:
            text = f"starts {first} bytes into a row, which is not a whole number of K blocks of {lines.block} bytes"
            yield held[0][0], Fault(0, "word-suspect", text)
        for fault in wrong_steps(lines, [at for _, _, at in held], first):
            yield held[fault.number][0], fault
        if lines.block:
            yield from ((held[0][0], fault) for fault in _gaps(held[0][1], lines, [at for _, _, at in held]))


def _gaps(one: SmemOperand, lines: Lines, starts: Sequence[int]) -> Iterator[Fault]:
    """Groups of rows as far apart as those of a wider swizzle, with nothing between them that is read."""
    stride, group = field_value(one, STRIDE) or 0, lines.rows * lines.span
    wider = [mode for mode in SwizzleMode if mode.swizzle and lines.rows * mode.span_bytes == stride > group]
    if not (wider and one.shape[0] > lines.rows):
        return
    if not any(abs(at - starts[0]) // lines.span * lines.span % stride for at in starts):
        text = f"has {stride} bytes from one group of {lines.rows} rows to the next, but a group has {group} bytes"
        note = f"with swizzle {wider[0]} it has {stride}, and no instruction reads the bytes in between"
        yield Fault(0, "word-suspect", f"{text}; {note}")


def _alike(one: SmemOperand, other: SmemOperand) -> bool:
    changed = (one.word.value ^ other.word.value) & one.word.mask & other.word.mask & START_FREE
    return one.major == other.major and one.shape == other.shape and one.dtype == other.dtype and not changed


def _begins(one: SmemOperand, lines: Lines) -> int | None:
    """Where in its line an operand starts, in bytes; None where that is not known."""
    bits = max(lines.span // 16 - 1, 0)
    return 16 * (one.word.value & bits) if one.word.mask & bits == bits else None


def distance(before: SmemOperand, after: SmemOperand) -> int | None:
    """How far one operand starts behind another, in 16-byte units; None where that is not known."""
    a, b = before.word, after.word
    if a.base and a.base == b.base:
        moved = (b.offset - a.offset + (1 << 63)) % (1 << 64) - (1 << 63)  # words have 64 bits
        if abs(moved) > start_mask(before.arch):  # another field changed, or the start wrapped around
            return None
        return moved
    if before.start_known and after.start_known:
        return (b.value & start_mask(after.arch)) - (a.value & start_mask(before.arch))
    return None


def _together(chain: list[Step]) -> Iterator[tuple[int, str, str]]:
    """A and B of one instruction have to be at the same K block; and no two instructions at the same place."""
    seen: set[tuple[str, tuple[int | None, ...]]] = set()
    occupied: set[tuple[int | None, ...]] = set()
    first: Step | None = None
    table: list[tuple[Step, list[int | None]]] = []
    for step in chain:
        if not step.operands:
            continue
        if first is None or len(step.operands) != len(first.operands):
            first = step
        moved = [distance(a, b) for a, b in zip(first.operands, step.operands, strict=True)]
        if None in moved or not all(_alike(a, b) for a, b in zip(first.operands, step.operands, strict=True)):
            continue
        key = (step.elsewhere, tuple(moved))
        if key in seen:
            yield (
                step.index,
                "word-repeated",
                f"an earlier instruction of this accumulation reads the same {_named(step)}",
            )
        elif len(step.operands) == 1 and key[1] in occupied:
            fact = (
                f"an earlier instruction of this accumulation reads the same {step.operands[0].matrix} with another A"
            )
            yield step.index, "word-repeated", fact
        seen.add(key)
        occupied.add(key[1])
        table.append((step, moved))
    yield from _paired(table)


def _named(step: Step) -> str:
    return " and ".join(one.matrix for one in step.operands) if not step.elsewhere else "A and B"


def _paired(table: list[tuple[Step, list[int | None]]]) -> Iterator[tuple[int, str, str]]:
    pairs = [(step, [16 * m for m in moved if m is not None]) for step, moved in table if len(moved) == 2]
    if len(pairs) < 2:
        return
    lines = [lines_of(one) for one in pairs[0][0].operands]
    many = [one.span // one.block if one is not None and one.block else 0 for one in lines]
    alike = 0 not in many and len({one.span for one in lines if one is not None}) == 1
    for step, moved in pairs if alike else ():
        at = [_block(one, by) for one, by in zip(lines, moved, strict=True)]
        a, b = (one if one is None else one % min(many) for one in at)
        if a is not None and b is not None and a != b:
            fact = f"A is at K block {a} of its row and B at K block {b}, counted from the first instruction"
            yield step.index, "word-advance", fact
    yield from _ranked(pairs, lines)


def _block(lines: Lines | None, moved: int) -> int | None:
    """The K block inside of a line that an operand is at, counted from where it was."""
    if lines is None or not lines.block or lines.span <= lines.block or moved % lines.block:
        return None
    return moved // lines.block % (lines.span // lines.block)


def _ranked(pairs: list[tuple[Step, list[int]]], lines: Sequence[Lines | None]) -> Iterator[tuple[int, str, str]]:
    """Of two majors: neither stands while the other goes on, and by even steps both go through K in one order."""
    if None in lines or {bool(one.block) for one in lines if one is not None} != {True, False}:
        return
    places = [[moved[side] for _, moved in pairs] for side in (0, 1)]
    visits = [set(Counter(one).values()) for one in places]
    for side, matrix in enumerate("AB"):
        if len(visits[side]) > 1 and visits[1 - side] == {1}:
            begun = {place: n for n, place in reversed([*enumerate(places[side])])}
            numbers = [n for n, place in enumerate(places[side]) if begun[place] < n]
            fact = f"{matrix} is at the K block of an earlier instruction, but {'BA'[side]} is not"
            yield from ((pairs[number][0].index, "word-advance", fact) for number in numbers)
    steps = [{b - a for a, b in pairwise(sorted(set(one)))} for one in places]
    if visits == [{1}, {1}] and all(len(one) == 1 for one in steps):
        ranks = [{place: rank for rank, place in enumerate(sorted(one))} for one in places]
        for step, moved in pairs:
            a, b = (ranks[side][moved[side]] for side in (0, 1))
            if a != b:
                yield (
                    step.index,
                    "word-advance",
                    f"A is at K block {a} and B at K block {b} of those that the accumulation reads",
                )
