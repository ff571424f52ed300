"""Checks that the descriptors of one accumulation advance from K block to K block of one tile.

A descriptor determines the layout of its operand: the canonical form of major and swizzle, with LBO and SBO as strides.
It therefore determines which lines of shared memory an instruction reads, and which part of K is in each line. The
lines of a swizzled K-major operand are rows of MN with several K blocks side by side; other lines are rows of K. Two
instructions of one accumulation read different K blocks of a tile. The possible advances are:

* *along a line* (K-major): whole K blocks, up to the end of the line;
* *to other lines*: either none of them is a line of another instruction, or all are, with another K block;
* *to the same lines as other rows* is not an advance along K. A convolution does this with all of its K blocks, and
  with one operand only, since the other has the weights. Everything else is a mistake.

Operands whose start address is not known are not checked. A case that may be intended is reported as suspect.
Source: the forms of ``descriptors.smem.operands.forms``, and the advance that ``derive`` computes from them.

Invariant: the advances that ``derive`` computes are accepted for every layout.

>>> from descriptors import derive
>>> from descriptors.check.ptx.known_bits import Known
>>> tiles = (("K", "128B", (0, 1)), ("K", "32B", (1, 0)), ("MN", "64B", (1, 0)), ("MN", "none", (0, 1)))
>>> for major, swizzle, order in tiles:
...     d = derive((64, 128), "bf16", major, swizzle, (64, 16), order, "sm90")
...     one = SmemOperand("B", "sm90", "bf16", major, (64, 16), Known(d.descriptor.encode(), START_FREE))
...     assert not wrong_steps(lines_of(one), [start for start in d.offsets_bytes()[0]], None)

Invariant: an advance into rows that another instruction reads as other rows is not accepted.

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
from descriptors.smem.operands.forms import LEADING, STRIDE, Form
from descriptors.smem.operands.operand import Major, SwizzleMode, as_element_type, as_major
from descriptors.smem.words.descriptor import smem_word, start_mask
from descriptors.text import counted
from layoutalg.frozen import frozen, replace


@frozen
class Step:
    """The operands of one multiplication of an accumulation.

    Args:
        index: index of the instruction.
        operands: A and B, as far as they are in shared memory.
        elsewhere: name of an A that is not in shared memory: registers, or an address in tensor memory.
    """

    index: int
    operands: tuple[SmemOperand, ...]
    elsewhere: str = ""


#: The rule of an invalid step, or "slides" for a step that one of the two operands may have.
Kind: TypeAlias = Literal["word-advance", "word-suspect", "slides"]


class Fault(NamedTuple):
    """An invalid step: the number of the instruction in its accumulation, the rule, and a predicate of the operand."""

    number: int
    kind: Kind
    text: str


@frozen
class Lines:
    """The lines of shared memory that one instruction reads, before the swizzle, which acts inside of a line.

    Args:
        starts: offset of each line from the start in bytes, and its row of K (0 if K runs along the line).
        span: bytes of a line.
        rows: number of lines of a swizzle pattern.
        block: bytes of a K block in a line; 0 if MN runs along the line.
        dense: bytes from the K of one instruction to the next if K is dense; 0 if the descriptor does not tell.
    """

    starts: tuple[tuple[int, int], ...]
    span: int
    rows: int
    block: int
    dense: int


def lines_of(one: SmemOperand) -> Lines | None:
    """Return the lines that an instruction reads of an operand; None if the descriptor does not determine them.

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
    wanted = walked(as_major(major), mode)
    units, extent = _extents(wanted, dtype, shape)
    strides: dict[tuple[int, int], int | None] = {wanted.leading: lbo, wanted.stride: sbo}
    strides |= {path: 16 * step for path, step in wanted.fixed}
    swizzled, k_major = mode is not SwizzleMode.NONE, wanted.major is Major.K
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


def _extents(wanted: Form, dtype: str, shape: tuple[int, int]) -> tuple[list[int], dict[tuple[int, int], int]]:
    """Return MN and K of an operand in units of 16 bytes, and how many steps its lines take along each path."""
    dtype, extents = read_as(dtype, shape)
    contiguous, units = wanted.major.contiguous_mode, list(extents)
    units[contiguous] = -(-units[contiguous] // as_element_type(dtype).per_16_bytes)
    extent = {(i, 0): min(units[i], wanted.chunk[i]) for i in (0, 1)}
    extent |= {(i, 1): -(-units[i] // wanted.chunk[i]) for i in (0, 1)}
    if wanted.mode is not SwizzleMode.NONE:  # a line is one unit
        extent[contiguous, 1 if wanted.major is Major.K else 0] = 1
    return units, extent


def _read_bits(one: SmemOperand) -> int:
    """Return the bits outside of the start address that change how an operand is read; all bits if that is not known.

    >>> from descriptors.check.ptx.known_bits import Known
    >>> word = Known(0x4000004000010000, START_FREE)
    >>> hex(START_FREE ^ _read_bits(SmemOperand("A", "sm90", "bf16", "K", (16, 16), word)))
    '0x3fff0000'
    """
    mode = field_value(one, "swizzle")
    if not isinstance(mode, SwizzleMode) or field_value(one, "lbo_mode"):
        return START_FREE
    try:
        wanted = walked(as_major(one.major), mode)
        _, extent = _extents(wanted, one.dtype, one.shape)
    except DescriptorError:  # a type that no operand has
        return START_FREE
    unread = {name for name, path in wanted.steps if extent[path] == 1} | {*wanted.unread}
    return START_FREE & ~sum(field.mask for field in smem_word(one.arch).fields if field.name in unread)


def wrong_steps(lines: Lines, starts: Sequence[int], first: int | None) -> list[Fault]:
    """Return the invalid steps between the start addresses of one operand in an accumulation.

    Args:
        lines: the lines that each instruction reads.
        starts: start of each instruction in bytes, relative to one of them.
        first: offset of that one in its line, in bytes; None if not known. Then the offset with the fewest faults is
            assumed.
    """
    if not lines.block:
        return list(_across(lines, starts))
    places = [first] if first is not None else range(0, lines.span, lines.block)
    tried = [list(_along(lines, [place + one for one in starts])) for place in places]
    return min(tried, key=_badness)


def _badness(faults: list[Fault]) -> tuple[int, int]:
    return sum(one.kind != "word-suspect" for one in faults), len(faults)


def _along(lines: Lines, starts: Sequence[int]) -> Iterator[Fault]:
    """Yield the invalid steps of an operand whose K blocks are side by side in a line."""
    span, block = lines.span, lines.block
    sound: dict[int, list[int]] = {}
    for number, at in enumerate(starts):
        inside, moved = at % span, at - starts[0]
        if moved % block:
            units = counted(moved // 16, "unit")
            text = f"advances by {units} of 16 bytes, not a whole number of K blocks of {block} bytes"
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
    """Yield the invalid steps from some lines to others, which may overlap only if all K blocks slide."""
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
    """Yield the invalid steps of an operand whose lines are rows of K or parts of them."""
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
    """Yield the steps to columns of MN that another instruction reads."""
    whole = bool(related) and many % (many - len(related)) == 0
    for number in related:
        text = f"advances by {starts[number] - starts[0]} bytes along MN, to columns that another instruction reads"
        yield Fault(number, "slides" if whole else "word-advance", text)


def _uneven(lines: Lines, starts: Sequence[int], sound: list[int]) -> Iterator[Fault]:
    """Yield steps that skip K blocks: runs of equal steps must have equal lengths, except the last."""
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
    """Yield the descriptors of one accumulation that do not agree: index of the instruction, rule, and fact.

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
    """Return the operand with another offset of its descriptor from the base."""
    return replace(one, word=one.word._replace(offset=offset))


def _one_kind(matrix: str, row: list[tuple[int, SmemOperand]]) -> Iterator[tuple[int, str, str]]:
    """Yield the descriptors of an operand whose fields or major differ from those of the first instruction."""
    for (_, before), (index, after) in zip(row[:1] * (len(row) - 1), row[1:], strict=True):
        known = before.word.mask & after.word.mask & _read_bits(before)
        changed = (before.word.value ^ after.word.value) & known
        if changed and before.word.base == after.word.base:
            fields = [f.name for f in smem_word(after.arch).fields if f.mask & changed]
            values = [f"{name} {_shown_field(after, name)} instead of {_shown_field(before, name)}" for name in fields]
            differing = ", ".join(values) or "in bits of no field"
            fact = f"the descriptor of {matrix} differs from the one in the first instruction: {differing}"
            yield index, "word-advance", fact
        elif before.major != after.major and before.dtype == after.dtype and not changed:
            fact = f"{matrix} is {after.major}-major, but {before.major}-major in the first instruction"
            yield index, "word-transpose", fact


def _shown_field(operand: SmemOperand, name: str) -> str:
    """Return the value of a descriptor field as text."""
    value = field_value(operand, name)
    return "a partly unknown value" if value is None else str(value)


def places(row: list[tuple[int, SmemOperand]]) -> list[list[tuple[int, SmemOperand, int]]]:
    """Group operands by the base of their start addresses, each with its start in bytes relative to the first.

    Args:
        row: one operand of an accumulation, with the index of each instruction.

    >>> from descriptors.check.ptx.known_bits import Known
    >>> word = Known(0x4000004000010000, START_FREE, "r", 0)
    >>> one = SmemOperand("A", "sm90", "bf16", "K", (64, 16), word)
    >>> row = [(0, one), (1, replace_offset(one, 2)), (2, replace(one, word=word._replace(base="s")))]
    >>> [[(index, at) for index, _, at in group] for group in places(row)]
    [[(0, 0), (1, 32)], [(2, 0)]]
    """
    together: list[list[tuple[int, SmemOperand, int]]] = []
    by_base: dict[str, list[list[tuple[int, SmemOperand, int]]]] = {}  # the groups of each base
    for index, one in row:
        keys = [one.word.base] * bool(one.word.base) + [""] * one.start_known
        near = [held for key in keys for held in by_base.get(key, []) if distance(held[0][1], one) is not None]
        first = min(near, key=lambda held: held[0][0], default=None)
        if first is None:
            together.append([(index, one, 0)])
            for key in keys:
                by_base.setdefault(key, []).append(together[-1])
        elif _alike(first[0][1], one):
            first.append((index, one, 16 * (distance(first[0][1], one) or 0)))
    return together


def _steps(row: list[tuple[int, SmemOperand]]) -> Iterator[tuple[int, Fault]]:
    """Yield the invalid steps of one operand, with the index of the instruction, for each base on its own."""
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
    """Yield a fault if groups of rows have the distance of a wider swizzle, and the bytes in between are not read."""
    stride, group = field_value(one, STRIDE) or 0, lines.rows * lines.span
    wider = [mode for mode in SwizzleMode if mode.swizzle and lines.rows * mode.span_bytes == stride > group]
    if not (wider and one.shape[0] > lines.rows):
        return
    if not any(abs(at - starts[0]) // lines.span * lines.span % stride for at in starts):
        text = f"has {stride} bytes from one group of {lines.rows} rows to the next, but a group has {group} bytes"
        note = f"with swizzle {wider[0]} it has {stride}, and no instruction reads the bytes in between"
        yield Fault(0, "word-suspect", f"{text}; {note}")


def _alike(one: SmemOperand, other: SmemOperand) -> bool:
    changed = (one.word.value ^ other.word.value) & one.word.mask & other.word.mask & _read_bits(one)
    return one.major == other.major and one.shape == other.shape and one.dtype == other.dtype and not changed


def _begins(one: SmemOperand, lines: Lines) -> int | None:
    """Return the offset of the start of an operand in its line, in bytes; None if it is not known."""
    bits = max(lines.span // 16 - 1, 0)
    return 16 * (one.word.value & bits) if one.word.mask & bits == bits else None


def distance(before: SmemOperand, after: SmemOperand) -> int | None:
    """Return the distance from the start of one operand to that of another in 16-byte units; None if not known."""
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
    """Yield instructions whose A and B are at different K blocks, or which read the same as another instruction."""
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
    """Return the K block in its line that an operand reads, relative to the first instruction."""
    if lines is None or not lines.block or lines.span <= lines.block or moved % lines.block:
        return None
    return moved // lines.block % (lines.span // lines.block)


def _ranked(pairs: list[tuple[Step, list[int]]], lines: Sequence[Lines | None]) -> Iterator[tuple[int, str, str]]:
    """Yield instructions with operands of two majors that do not advance together along K.

    If one operand advances, the other must too; with equal steps both must visit K in the same order.
    """
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
