"""Checks that the descriptors of one accumulation advance from K block to K block of one tile.

A descriptor determines the layout of its operand: the canonical form of major and swizzle, with LBO and SBO as strides.
It therefore determines which lines of shared memory an instruction reads, and which part of K is in each line. The
lines of a swizzled K-major operand are rows of MN with several K blocks side by side; other lines are rows of K. Two
instructions of one accumulation read different K blocks of a tile. The possible advances are:

* *along a line* (K-major): whole K blocks, up to the end of the line;
* *to other lines*: either no line is a line of another instruction, or all are, with another K block;
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
...     operand = SmemOperand("B", "sm90", "bf16", major, (64, 16), Known(d.descriptor.encode(), START_FREE))
...     assert not wrong_steps(lines_of(operand), [start for start in d.offsets_bytes()[0]], None)

Invariant: an advance into rows that another instruction reads as other rows is not accepted.

>>> d = derive((64, 128), "bf16", "MN", "128B", (64, 16), arch="sm90")
>>> operand = SmemOperand("B", "sm90", "bf16", "MN", (64, 16), Known(d.descriptor.encode(), START_FREE))
>>> [fault.text for fault in wrong_steps(lines_of(operand), [0, 1024], None)]
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
        dense: bytes from the K of one instruction to the next if K is dense; 0 if the descriptor does not determine it.
    """

    starts: tuple[tuple[int, int], ...]
    span: int
    rows: int
    block: int
    dense: int


def lines_of(operand: SmemOperand) -> Lines | None:
    """Return the lines that an instruction reads of an operand; None if the descriptor does not determine them.

    >>> from descriptors.check.ptx.known_bits import Known
    >>> word = Known(0x4000004000010000, START_FREE)
    >>> sorted(lines_of(SmemOperand("A", "sm90", "bf16", "K", (16, 16), word)).starts)[7:10]
    [(896, 0), (1024, 0), (1152, 0)]
    """
    mode, lbo, sbo = (field_value(operand, name) for name in ("swizzle", LEADING, STRIDE))
    if not isinstance(mode, SwizzleMode) or field_value(operand, "lbo_mode"):
        return None
    try:
        return _compute_lines(mode, lbo, sbo, operand.dtype, operand.major, operand.shape)
    except DescriptorError:  # a type that no operand has
        return None


@lru_cache(maxsize=1024)
def _compute_lines(
    mode: SwizzleMode, lbo: int | None, sbo: int | None, dtype: str, major: Literal["K", "MN"], shape: tuple[int, int]
) -> Lines | None:
    form = walked(as_major(major), mode)
    units, extent = _line_extents(form, dtype, shape)
    strides: dict[tuple[int, int], int | None] = {form.leading: lbo, form.stride: sbo}
    strides |= {path: 16 * step for path, step in form.fixed}
    swizzled, k_major = mode is not SwizzleMode.NONE, form.major is Major.K
    starts = [(0, 0)]
    for (dimension, part), count in extent.items():
        step = strides.get((dimension, part)) if count > 1 else 0
        if step is None:
            return None
        k = 0 if dimension == 0 else form.chunk[1] if part else 1
        starts = [(start + step * i, row + k * i) for start, row in starts for i in range(count)]
    block = units[1] * 16 if swizzled and k_major else 0
    last = strides.get((1, 1))
    count = -(-units[1] // form.chunk[1])
    dense = count * last if last and count > 1 and not block else 0
    span = mode.span_bytes
    return None if block > span else Lines(tuple(starts), span, form.rows if swizzled else 1, block, dense)


def _line_extents(form: Form, dtype: str, shape: tuple[int, int]) -> tuple[list[int], dict[tuple[int, int], int]]:
    """Return MN and K of an operand in units of 16 bytes, and how many steps its lines take along each path."""
    dtype, extents = read_as(dtype, shape)
    contiguous, units = form.major.contiguous_mode, list(extents)
    units[contiguous] = -(-units[contiguous] // as_element_type(dtype).per_16_bytes)
    extent = {(i, 0): min(units[i], form.chunk[i]) for i in (0, 1)}
    extent |= {(i, 1): -(-units[i] // form.chunk[i]) for i in (0, 1)}
    if form.mode is not SwizzleMode.NONE:  # a line is one unit
        extent[contiguous, 1 if form.major is Major.K else 0] = 1
    return units, extent


def _read_bits(operand: SmemOperand) -> int:
    """Return the bits outside of the start address that change how an operand is read; all bits if that is not known.

    >>> from descriptors.check.ptx.known_bits import Known
    >>> word = Known(0x4000004000010000, START_FREE)
    >>> hex(START_FREE ^ _read_bits(SmemOperand("A", "sm90", "bf16", "K", (16, 16), word)))
    '0x3fff0000'
    """
    mode = field_value(operand, "swizzle")
    if not isinstance(mode, SwizzleMode) or field_value(operand, "lbo_mode"):
        return START_FREE
    try:
        form = walked(as_major(operand.major), mode)
        _, extent = _line_extents(form, operand.dtype, operand.shape)
    except DescriptorError:  # a type that no operand has
        return START_FREE
    unread = {name for name, path in form.steps if extent[path] == 1} | {*form.unread}
    return START_FREE & ~sum(field.mask for field in smem_word(operand.arch).fields if field.name in unread)


def wrong_steps(lines: Lines, starts: Sequence[int], first: int | None) -> list[Fault]:
    """Return the invalid steps between the start addresses of one operand in an accumulation.

    Args:
        lines: the lines that each instruction reads.
        starts: start of each instruction in bytes, relative to one of them.
        first: offset of that one in its line, in bytes; None if not known. Then the offset with the fewest faults is
            assumed.
    """
    if not lines.block:
        return list(_across_lines(lines, starts))
    offsets = [first] if first is not None else range(0, lines.span, lines.block)
    faults_by_place = [list(_along_line(lines, [place + start for start in starts])) for place in offsets]
    return min(faults_by_place, key=_rank_faults)


def _rank_faults(faults: list[Fault]) -> tuple[int, int]:
    return sum(fault.kind != "word-suspect" for fault in faults), len(faults)


def _along_line(lines: Lines, starts: Sequence[int]) -> Iterator[Fault]:
    """Yield the invalid steps of an operand whose K blocks are side by side in a line."""
    span, block = lines.span, lines.block
    chunks: dict[int, list[int]] = {}
    for number, start in enumerate(starts):
        inside, moved = start % span, start - starts[0]
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
            chunks.setdefault(start - inside, []).append(number)
    yield from _line_chunk_faults(lines, starts, chunks)


def _line_chunk_faults(lines: Lines, starts: Sequence[int], chunks: dict[int, list[int]]) -> Iterator[Fault]:
    """Yield the invalid steps from some lines to others, which may overlap only if all K blocks slide."""
    span, blocks_per_line = lines.span, lines.span // lines.block
    blocks = {chunk: {starts[n] % span // lines.block for n in numbers} for chunk, numbers in chunks.items()}
    main = max(blocks, key=lambda chunk: len(blocks[chunk]), default=0)
    for chunk in blocks:
        moved = chunk - main
        if not moved:
            continue
        overlapping = [other for other in blocks if other != chunk and _overlap(lines, other, chunk)]
        numbers = [number for number in chunks[chunk] if chunk != main]
        row = moved % (lines.rows * span) // span
        destination = f"to row {row} of a pattern of {lines.rows}" if row else f"{abs(moved) // span} rows along MN"
        if main in overlapping or any(abs(other - main) <= abs(moved) for other in overlapping):
            is_complete = all(len(blocks[other]) == blocks_per_line for other in (chunk, *overlapping))
            for number in numbers:
                text = (
                    f"advances by {starts[number] - starts[0]} bytes, {destination}, into lines of another instruction"
                )
                yield Fault(number, "slides" if is_complete else "word-advance", text)
        elif row:
            text = f"advances by {starts[numbers[0]] - starts[0]} bytes, {destination}"
            yield Fault(numbers[0], "word-suspect", text)
        elif blocks[chunk] != blocks[main] and blocks[chunk] != set(range(len(blocks[chunk]))):
            text = f"advances by {starts[numbers[0]] - starts[0]} bytes, to K block {min(blocks[chunk])} of new rows"
            yield Fault(numbers[0], "word-suspect", text)


@lru_cache(maxsize=4096)
def _line_starts(lines: Lines) -> frozenset[int]:
    return frozenset(start for start, _ in lines.starts)


def _overlap(lines: Lines, first: int, second: int) -> bool:
    return not _line_starts(lines).isdisjoint(at + second - first for at in _line_starts(lines))


def _across_lines(lines: Lines, starts: Sequence[int]) -> Iterator[Fault]:
    """Yield the invalid steps of an operand whose lines are rows of K or parts of them."""
    rows_by_line: dict[int, tuple[int, int]] = {}
    accepted: list[int] = []
    related: dict[int, int] = {}
    for number, start in enumerate(starts):
        moved = start - starts[0]
        if start in accepted:
            continue
        if moved % lines.span:
            yield Fault(
                number,
                "word-advance",
                f"advances by {moved} bytes, which is not a whole number of lines of {lines.span} bytes",
            )
            continue
        known_lines = [(rows_by_line[start + line], row) for line, row in lines.starts if start + line in rows_by_line]
        if any(row != known_row for (_, known_row), row in known_lines):
            text = f"advances by {moved} bytes, to rows of K that are other rows of K for another instruction"
            yield Fault(number, "word-advance", text)
            continue
        if known_lines:
            related[number] = known_lines[0][0][0]
        elif moved % (lines.rows * lines.span):
            yield Fault(
                number,
                "word-suspect",
                f"advances by {moved} bytes, into a pattern of {lines.rows * lines.span} bytes",
            )
        rows_by_line |= {start + line: (number, row) for line, row in lines.starts}
        accepted.append(start)
    yield from _sliding_faults(starts, related, len(accepted))
    yield from _uneven_faults(lines, starts, accepted)


def _sliding_faults(starts: Sequence[int], related: dict[int, int], count: int) -> Iterator[Fault]:
    """Yield the steps to columns of MN that another instruction reads."""
    is_even = bool(related) and count % (count - len(related)) == 0
    for number in related:
        text = f"advances by {starts[number] - starts[0]} bytes along MN, to columns that another instruction reads"
        yield Fault(number, "slides" if is_even else "word-advance", text)


def _uneven_faults(lines: Lines, starts: Sequence[int], accepted: list[int]) -> Iterator[Fault]:
    """Yield steps that skip K blocks: runs of equal steps must have equal lengths, except the last."""
    places = sorted(set(accepted))
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
    >>> [(index, fact) for index, _, fact in advance_findings(steps)]
    [(2, 'A advances by 5 units of 16 bytes, not a whole number of K blocks of 32 bytes')]
    """
    slid: dict[str, list[tuple[int, str]]] = {}
    for matrix in ("A", "B"):
        row = [(step.index, operand) for step in chain for operand in step.operands if operand.matrix == matrix]
        yield from _differing_fields(matrix, row)
        for index, fault in _step_faults(row):
            if fault.kind == "slides":
                slid.setdefault(matrix, []).append((index, fault.text))
            else:
                yield index, fault.kind, f"{matrix} {fault.text}"
    for matrix, faults in slid.items():
        rule = "word-advance" if len(slid) == 2 else "word-suspect"
        yield from ((index, rule, f"{matrix} {text}") for index, text in faults)
    yield from _pair_findings(chain)


def replace_offset(operand: SmemOperand, offset: int) -> SmemOperand:
    """Return the operand with another offset of its descriptor from the base."""
    return replace(operand, word=operand.word._replace(offset=offset))


def _differing_fields(matrix: str, row: list[tuple[int, SmemOperand]]) -> Iterator[tuple[int, str, str]]:
    """Yield the descriptors of an operand whose fields or major differ from those of the first instruction."""
    for (_, before), (index, after) in zip(row[:1] * (len(row) - 1), row[1:], strict=True):
        compared = before.word.mask & after.word.mask & _read_bits(before)
        changed = (before.word.value ^ after.word.value) & compared
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
    >>> operand = SmemOperand("A", "sm90", "bf16", "K", (64, 16), word)
    >>> row = [(0, operand), (1, replace_offset(operand, 2)), (2, replace(operand, word=word._replace(base="s")))]
    >>> [[(index, start) for index, _, start in group] for group in places(row)]
    [[(0, 0), (1, 32)], [(2, 0)]]
    """
    groups: list[list[tuple[int, SmemOperand, int]]] = []
    by_base: dict[str, list[list[tuple[int, SmemOperand, int]]]] = {}  # the groups of each base
    for index, operand in row:
        keys = [operand.word.base] * bool(operand.word.base) + [""] * operand.start_known
        candidates = [
            group for key in keys for group in by_base.get(key, []) if distance(group[0][1], operand) is not None
        ]
        first = min(candidates, key=lambda group: group[0][0], default=None)
        if first is None:
            groups.append([(index, operand, 0)])
            for key in keys:
                by_base.setdefault(key, []).append(groups[-1])
        elif _read_alike(first[0][1], operand):
            first.append((index, operand, 16 * (distance(first[0][1], operand) or 0)))
    return groups


def _step_faults(row: list[tuple[int, SmemOperand]]) -> Iterator[tuple[int, Fault]]:
    """Yield the invalid steps of one operand, with the index of the instruction, for each base on its own."""
    for group in places(row):
        lines = lines_of(group[0][1])
        if lines is None:
            continue
        first = _offset_in_line(group[0][1], lines)
        if lines.block and (first or 0) % lines.block:
            text = f"starts {first} bytes into a row, which is not a whole number of K blocks of {lines.block} bytes"
            yield group[0][0], Fault(0, "word-suspect", text)
        for fault in wrong_steps(lines, [start for _, _, start in group], first):
            yield group[fault.number][0], fault
        if lines.block:
            yield from (
                (group[0][0], fault) for fault in _gap_faults(group[0][1], lines, [start for _, _, start in group])
            )


def _gap_faults(operand: SmemOperand, lines: Lines, starts: Sequence[int]) -> Iterator[Fault]:
    """Yield a fault if groups of rows have the distance of a wider swizzle, and the bytes in between are not read."""
    stride, group = field_value(operand, STRIDE) or 0, lines.rows * lines.span
    wider = [mode for mode in SwizzleMode if mode.swizzle and lines.rows * mode.span_bytes == stride > group]
    if not (wider and operand.shape[0] > lines.rows):
        return
    if not any(abs(start - starts[0]) // lines.span * lines.span % stride for start in starts):
        text = f"has {stride} bytes from one group of {lines.rows} rows to the next, but a group has {group} bytes"
        note = f"with swizzle {wider[0]} it has {stride}, and no instruction reads the bytes in between"
        yield Fault(0, "word-suspect", f"{text}; {note}")


def _read_alike(first: SmemOperand, second: SmemOperand) -> bool:
    changed = (first.word.value ^ second.word.value) & first.word.mask & second.word.mask & _read_bits(first)
    return first.major == second.major and first.shape == second.shape and first.dtype == second.dtype and not changed


def _offset_in_line(operand: SmemOperand, lines: Lines) -> int | None:
    """Return the offset of the start of an operand in its line, in bytes; None if it is not known."""
    bits = max(lines.span // 16 - 1, 0)
    return 16 * (operand.word.value & bits) if operand.word.mask & bits == bits else None


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


def _pair_findings(chain: list[Step]) -> Iterator[tuple[int, str, str]]:
    """Yield instructions whose A and B are at different K blocks, or which read the same as another instruction."""
    seen_keys: set[tuple[str, tuple[int | None, ...]]] = set()
    occupied: set[tuple[int | None, ...]] = set()
    first: Step | None = None
    table: list[tuple[Step, list[int | None]]] = []
    for step in chain:
        if not step.operands:
            continue
        if first is None or len(step.operands) != len(first.operands):
            first = step
        moved = [distance(a, b) for a, b in zip(first.operands, step.operands, strict=True)]
        if None in moved or not all(_read_alike(a, b) for a, b in zip(first.operands, step.operands, strict=True)):
            continue
        key = (step.elsewhere, tuple(moved))
        if key in seen_keys:
            yield (
                step.index,
                "word-repeated",
                f"an earlier instruction of this accumulation reads the same {_matrix_names(step)}",
            )
        elif len(step.operands) == 1 and key[1] in occupied:
            fact = (
                f"an earlier instruction of this accumulation reads the same {step.operands[0].matrix} with another A"
            )
            yield step.index, "word-repeated", fact
        seen_keys.add(key)
        occupied.add(key[1])
        table.append((step, moved))
    yield from _k_block_findings(table)


def _matrix_names(step: Step) -> str:
    return " and ".join(operand.matrix for operand in step.operands) if not step.elsewhere else "A and B"


def _k_block_findings(table: list[tuple[Step, list[int | None]]]) -> Iterator[tuple[int, str, str]]:
    pairs = [(step, [16 * m for m in moved if m is not None]) for step, moved in table if len(moved) == 2]
    if len(pairs) < 2:
        return
    lines = [lines_of(operand) for operand in pairs[0][0].operands]
    blocks_per_line = [row.span // row.block if row is not None and row.block else 0 for row in lines]
    comparable = 0 not in blocks_per_line and len({row.span for row in lines if row is not None}) == 1
    for step, moved in pairs if comparable else ():
        blocks = [_k_block(row, offset) for row, offset in zip(lines, moved, strict=True)]
        a, b = (block if block is None else block % min(blocks_per_line) for block in blocks)
        if a is not None and b is not None and a != b:
            fact = f"A is at K block {a} of its row and B at K block {b}, counted from the first instruction"
            yield step.index, "word-advance", fact
    yield from _order_findings(pairs, lines)


def _k_block(lines: Lines | None, moved: int) -> int | None:
    """Return the K block in its line that an operand reads, relative to the first instruction."""
    if lines is None or not lines.block or lines.span <= lines.block or moved % lines.block:
        return None
    return moved // lines.block % (lines.span // lines.block)


def _order_findings(
    pairs: list[tuple[Step, list[int]]], lines: Sequence[Lines | None]
) -> Iterator[tuple[int, str, str]]:
    """Yield instructions with operands of two majors that do not advance together along K.

    If one operand advances, the other must too; with equal steps both must visit K in the same order.
    """
    if None in lines or {bool(row.block) for row in lines if row is not None} != {True, False}:
        return
    places = [[moved[side] for _, moved in pairs] for side in (0, 1)]
    visits = [set(Counter(column).values()) for column in places]
    for side, matrix in enumerate("AB"):
        if len(visits[side]) > 1 and visits[1 - side] == {1}:
            begun = {place: n for n, place in reversed([*enumerate(places[side])])}
            numbers = [n for n, place in enumerate(places[side]) if begun[place] < n]
            fact = f"{matrix} is at the K block of an earlier instruction, but {'BA'[side]} is not"
            yield from ((pairs[number][0].index, "word-advance", fact) for number in numbers)
    steps = [{b - a for a, b in pairwise(sorted(set(values)))} for values in places]
    if visits == [{1}, {1}] and all(len(step_set) == 1 for step_set in steps):
        ranks = [{place: rank for rank, place in enumerate(sorted(column))} for column in places]
        for step, moved in pairs:
            a, b = (ranks[side][moved[side]] for side in (0, 1))
            if a != b:
                yield (
                    step.index,
                    "word-advance",
                    f"A is at K block {a} and B at K block {b} of those that the accumulation reads",
                )
