"""Decide whether the registers that one instruction or copy leaves are the registers that the next one takes.

Two questions are answered by enumeration of all threads and values:

- *a product after a product*: the accumulators D of one MMA become operand A (or B) of the next. Columns of D are the k
  of A. Give each column of D its *owner vector*: for each row, the thread that has the element; and the same for the
  columns of A. If the vectors agree column by column, no value moves. If they agree after a permutation sigma, nothing
  moves either: column k of A is column sigma(k) of D, and row k of B must be row sigma(k) of B. The product is the
  same, because a sum over k has no order. Otherwise values move between threads.
- *the same tile*: the values that threads hold after a copy are those that a second copy or instruction takes.

``ldmatrix`` and ``stmatrix`` with ``.trans`` move a tile whose rows in memory are the columns of the MMA's operand.

The smaller tile is repeated until both tiles have the same extents: along rows for further groups of threads, then as
further values, rows first. Operand B of several warps is the same for each warp.

Invariant: ``sigma`` is a permutation, and each thread has every element that it takes; where values move, the thread in
``sources`` has the element.

Source: PTX ISA 9.1, matrix fragments of mma and wgmma; the rule is proved for each answer by the enumeration.

>>> print(feeds("mma.m16n8k16.C", "mma.m16n8k16.A.bf16").answer)
same
>>> fp8 = feeds("wgmma.m64n32k32.C", "wgmma.m64n32k32.A.e4m3")
>>> fp8.answer, fp8.register_order[:8]
('same after relabelling k', (0, 1, 4, 5, 2, 3, 6, 7))
>>> fp8.sigma[:16]
(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import lcm
from typing import Any, TypeAlias

from layoutalg.errors import LayoutError
from layoutalg.fragments.families import MMA_TYPES, SPARSE_MMA_TYPES, WGMMA_TYPES
from layoutalg.fragments.fragment import Fragment, need_thread_values
from layoutalg.fragments.fragment_names import fragment, is_name
from layoutalg.fragments.tiled_copy import TiledCopy
from layoutalg.fragments.tiled_mma import TiledMma
from layoutalg.frozen import frozen
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import size
from layoutalg.tuples.int_tuple import safe_text

#: The descriptions of registers: the name of a fragment, a fragment, a tiled copy, a tiled MMA, or a TV layout.
Registers: TypeAlias = str | Fragment | TiledCopy | TiledMma | Layout
#: For each thread and value, the row and column of the element.
Table: TypeAlias = list[list[tuple[int, int]]]

#: The answers, from the best to the worst: those of a product after a product, then those of the same tile.
SAME, RELABEL, RELABEL_ROWS = "same", "same after relabelling k", "same after relabelling rows"
SHUFFLES, SHARED = "needs shuffles", "through shared memory"
REORDERED, QUADS, WARPS, ACROSS = "same elements, other order", "within quads", "within warps", "across warps"

#: The most elements of the two tiles together.
_MOST_ELEMENTS = 1 << 20
#: Bits of types that follow the name of a tensor memory fragment, of which several fit a cell.
_CELL_TYPES = {"f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "f32": 32, "b32": 32}


@frozen
class Held:
    """Registers of a group of threads, as a tile and its elements.

    Args:
        name: their name in messages and texts.
        rows: rows of the tile.
        columns: columns of the tile.
        table: for each thread and value, row and column of the element.
        role: A or B for an operand of an MMA, D for accumulators, "" for anything else.
        dtype: the type of an element in PTX's name, or "".
        bits: bits of an element in a register, or 0 if they are not known.
    """

    name: str
    rows: int
    columns: int
    table: tuple[tuple[tuple[int, int], ...], ...]
    role: str
    dtype: str
    bits: int


@frozen
class Feed:
    """The answer of :func:`feeds`.

    Args:
        first: the available registers.
        second: the required registers.
        answer: one of the constants of this module: ``same``, ``same after relabelling k``, ...
        register_order: for each value of the second, the value of the first that it is, if this is one order for all
            threads; else ().
        sigma: for each column k of the second, the column of the first that it is; () unless k is relabelled.
        row_order: the same for rows; () unless rows are relabelled.
        rows: rows of the stretch that was compared.
        columns: columns of the stretch.
        repeats: how often the stretch is repeated along the columns of the first.
        threads: number of threads.
        reach: how far the missing elements move without relabelling: "" if all are there, ``quads``, ``warps`` or
            ``CTA``.
        stay: for each thread, the number of values that it already has without relabelling.
        sources: for each thread, pairs of another thread and the number of values that come from it.
        shuffles: the least number of shuffles of 32 bits that move the missing values; 0 if shuffles do not suffice.
        transposed: whether the first is taken transposed: B[k][n] = D[n][k].
    """

    first: Held
    second: Held
    answer: str
    register_order: tuple[int, ...]
    sigma: tuple[int, ...]
    row_order: tuple[int, ...]
    rows: int
    columns: int
    repeats: int
    threads: int
    reach: str
    stay: tuple[int, ...]
    sources: tuple[tuple[tuple[int, int], ...], ...]
    shuffles: int
    transposed: bool

    @property
    def values(self) -> int:
        """Number of values of a thread in the stretch."""
        return len(self.second.table[0])

    @property
    def scale_counts(self) -> tuple[int, ...]:
        """Numbers of k that a scale factor of the second may have; () unless its elements are packed e2m1."""
        packed = self.second.dtype == "e2m1" and self.second.bits == 4
        return (16, 32) if packed and not self.columns % 32 else ()

    def scale_blocks(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Return the columns of the first that share a scale factor, for factors of ``count`` k each.

        Raises:
            LayoutError: if ``count`` does not divide the columns.

        >>> feeds("mma.m16n8k64.C", "mma.m16n8k64.A.e2m1").scale_blocks(16)[0]
        (0, 1, 8, 9, 16, 17, 24, 25, 2, 3, 10, 11, 18, 19, 26, 27)
        """
        order = self.sigma or tuple(range(self.columns))
        if count < 1 or self.columns % count:
            raise LayoutError(f"scale_blocks: factors of {count} k do not divide {self.columns} columns")
        return tuple(order[start : start + count] for start in range(0, self.columns, count))

    def __str__(self) -> str:
        from importlib import import_module  # the text contains code, and the code follows from the answer

        text: str = import_module("layoutalg.fragments.feed_text").tell_feed(self)
        return text


def feeds(first: Registers, second: Registers, *, transposed: bool = False, fixed_k: bool = False) -> Feed:
    """Decide whether the registers of ``first`` are those that ``second`` takes, and which values move.

    Args:
        first: what threads have: the name of a fragment (``mma.m16n8k16.C``), a fragment, a tiled copy (its D), a tiled
            MMA (its C), or a layout (thread, value) to the index of an element.
        second: what threads take: as ``first``; of a tiled copy its S, of a tiled MMA its A.
        transposed: for operand B, whether it is the transpose of the accumulators: B[k][n] = D[n][k].
        fixed_k: whether the k of the other operand cannot be permuted, so that the answer does not relabel it.

    Raises:
        LayoutError: if an argument describes no registers, or the two do not have the same elements.

    >>> feeds("mma.m16n8k16.C", "mma.m16n8k16.B.f16", transposed=True).register_order
    (0, 1, 4, 5, 2, 3, 6, 7)
    >>> feeds("mma.m16n8k16.C", "mma.m16n8k16.B.f16").answer
    'needs shuffles'
    """
    have, need = held(first, "D"), held(second, "S")
    chained = have.role == "D" and need.role in ("A", "B")
    if have.role != need.role and "" in (have.role, need.role):
        # An instruction with .trans moves a tile that is stored transposed: its rows are the columns of the MMA's tile.
        have, need = (_turned(side) if ".trans" in side.name else side for side in (have, need))
    if chained and need.role == "B" and not transposed:
        have = _turned(have)
    elif transposed and not (chained and need.role == "B"):
        raise LayoutError(
            f"feeds: {need.name} is not operand B after accumulators; only B can be the transpose of accumulators"
        )
    repeats = 1
    if chained:
        have, repeats = _one_stretch(have, need)
    have, need = _matched(have, need, chained, shared=chained and need.role == "B" and not transposed)
    return _decide(have, need, chained, repeats, transposed, fixed_k)


def held(registers: Registers, side: str) -> Held:
    """Return registers as a tile and its elements.

    Args:
        registers: see :func:`feeds`.
        side: S or D, the side of a tiled copy; for a tiled MMA, S stands for operand A and D for C.
    """
    if isinstance(registers, TiledCopy):
        return _of_fragment(registers.fragment("S" if side == "S" else "D"), "", "", 0)
    if isinstance(registers, TiledMma):
        registers = registers.fragment("A" if side == "S" else "C")
    if isinstance(registers, Fragment):
        if not is_name(registers.name):  # of a tiled MMA or copy
            role = {"A of": "A", "B of": "B", "C of": "D"}.get(registers.name[:4], "")
            return _of_fragment(registers, role, "", 32 if role == "D" else _bits_together(registers))
        registers = registers.name
    if isinstance(registers, str):
        return _of_name(registers)
    if not isinstance(registers, Layout):
        raise LayoutError(
            f"feeds: {safe_text(registers)} describes no registers; supported: the name of a fragment, a fragment, a "
            "tiled copy, a tiled MMA, and a layout (thread, value) to the index of an element"
        )
    layout = need_thread_values(registers, "feeds")
    _need_few(int(size(layout)), str(layout))
    threads, values = int(size(layout[0])), int(size(layout[1]))
    table = tuple(tuple((layout(t, v), 0) for v in range(values)) for t in range(threads))
    rows = 1 + max(row for thread in table for row, _ in thread)
    return Held(str(layout), rows, 1, table, "", "", 0)


def _bits_together(of: Fragment) -> int:
    """Return the bits of an element, of which a register of 32 bits has those that are adjacent in a row."""
    together = 1
    while together < min(of.values, 32):
        (row, column), (first_row, first_column) = of.element(0, together), of.element(0, 0)
        if (row, column) != (first_row, first_column + together):
            break
        together += 1
    return 32 // together if 32 % together == 0 else 0


def _of_name(name: str) -> Held:
    """Return the registers of a named fragment."""
    head, *words = name.strip().split(".")
    if head == "tcgen05" and words[-1:] and words[-1] in _CELL_TYPES:
        dtype = words.pop()
        return _of_cells(fragment(".".join([head, *words])), dtype)
    named = fragment(name)
    words = named.name.split(".")[1:]
    if head == "tcgen05":
        return _of_cells(named, "b32" if words[0] == "st" else "f32")
    if head.endswith("matrix"):
        return _of_fragment(named, "", "", 16)
    sparse = words[0] == "sp"
    shape, operand, *types = words[1:] if sparse else words
    dtype = types[-1] if types else ""
    if operand in ("C", "D"):
        return _of_fragment(named, "D", dtype, 16 if dtype == "f16" else 64 if dtype == "f64" else 32)
    table = SPARSE_MMA_TYPES if sparse else MMA_TYPES
    if head == "wgmma":
        k = int(shape.partition("k")[2])
        types_of = WGMMA_TYPES.get(k, "")
        bits = 256 // k * (1 + sparse) if k else 0
    else:
        widths = table.get(shape, {})
        bits = next((width for width, kinds in widths.items() if dtype in kinds.split()), 0) or next(iter(widths), 0)
        types_of = widths.get(bits, "")
    return _of_fragment(named, operand if operand in ("A", "B") else "", dtype or types_of.split(" ")[0], bits)


def _of_cells(cells: Fragment, dtype: str) -> Held:
    """Return the registers of a tensor memory access, whose cells of 32 bits contain one element or more."""
    bits = _CELL_TYPES[dtype]
    count = 32 // bits
    layout, rows = cells.layout, cells.shape[0]
    table = tuple(
        tuple(
            (layout(t, v) % rows, layout(t, v) // rows * count + i) for v in range(cells.values) for i in range(count)
        )
        for t in range(cells.threads)
    )
    role = "D" if cells.name.startswith("tcgen05.ld") else "A"
    name = cells.name if dtype in ("f32", "b32") else f"{cells.name}.{dtype}"
    return Held(name, rows, cells.shape[1] * count, table, role, dtype, bits)


def _of_fragment(of: Fragment, role: str, dtype: str, bits: int) -> Held:
    rows, columns = of.shape
    layout, threads = of.layout, of.threads
    _need_few(int(size(layout)), of.name)
    places = [layout(i) for i in range(int(size(layout)))]
    table = tuple(
        tuple((places[t + threads * v] % rows, places[t + threads * v] // rows) for v in range(of.values))
        for t in range(threads)
    )
    return Held(of.name, rows, columns, table, role, dtype, bits)


def _need_few(elements: int, name: str) -> None:
    if elements > _MOST_ELEMENTS:
        raise LayoutError(f"feeds: {name} has {elements} values, more than {_MOST_ELEMENTS}")


def _with_table(of: Held, rows: int, columns: int, table: Iterable[Iterable[tuple[int, int]]]) -> Held:
    return Held(of.name, rows, columns, tuple(tuple(row) for row in table), of.role, of.dtype, of.bits)


def _turned(of: Held) -> Held:
    """Return the transposed tile."""
    return _with_table(of, of.columns, of.rows, [[(c, r) for r, c in row] for row in of.table])


def _one_stretch(have: Held, need: Held) -> tuple[Held, int]:
    """Cut accumulators to the columns after which their pattern repeats, if these are whole operands.

    Returns:
        the accumulators of the first stretch, and the number of stretches.
    """
    for columns in range(need.columns, have.columns, need.columns):
        count = have.columns // columns
        values, surplus = divmod(len(have.table[0]), count)
        if have.columns % columns or surplus:
            continue
        if all(
            place == (row[v % values][0], row[v % values][1] + v // values * columns)
            for row in have.table
            for v, place in enumerate(row)
        ):
            return _with_table(have, have.rows, columns, [row[:values] for row in have.table]), count
    return have, 1


def _matched(have: Held, need: Held, chained: bool, shared: bool) -> tuple[Held, Held]:
    """Repeat both tiles until they have the same threads and extents.

    Args:
        have: the first registers.
        need: the second registers.
        chained: whether the question is about a product after a product.
        shared: whether each group of threads needs the same elements, as operand B of the MMA of each warp.

    Raises:
        LayoutError: if they do not have the same elements then.
    """
    plain_layouts = have.columns == need.columns == 1
    if not chained and (plain_layouts or (have.rows, have.columns) == (need.rows, need.columns)):
        return have, need
    if not chained and 1 in (have.columns, need.columns) and have.columns != need.columns:
        # A layout gives indices into the tile of the other, first mode fastest.
        named, plain = (have, need) if need.columns == 1 else (need, have)
        if plain.rows != named.rows * named.columns:
            raise LayoutError(
                f"feeds: {plain.name} has indices up to {plain.rows - 1}, and {named.name} has {named.rows} x "
                f"{named.columns} elements"
            )
        table = [[(i % named.rows, i // named.rows) for i, _ in row] for row in plain.table]
        plain = _with_table(plain, named.rows, named.columns, table)
        return (plain, need) if named is need else (have, plain)
    count, other = len(have.table), len(need.table)
    if max(count, other) % min(count, other):
        raise LayoutError(
            f"feeds: the {count} threads of {have.name} and the {other} threads of {need.name} do not divide each other"
        )
    have, need = (
        _by_threads(have, max(count, other), need.rows),
        _by_threads(need, max(count, other), 0 if shared else have.rows),
    )
    rows, columns = lcm(have.rows, need.rows), lcm(have.columns, need.columns)
    _need_few(rows * columns, f"the common tile of {have.name} and {need.name}")
    return _repeated(have, rows, columns), _repeated(need, rows, columns)


def _by_threads(of: Held, threads: int, rows: int) -> Held:
    """Repeat a tile for further groups of threads, along rows.

    Args:
        of: the tile.
        threads: number of threads afterwards.
        rows: rows of the other tile, of which each group has an equal part; 0 if each group has the same elements.
    """
    groups = threads // len(of.table)
    part = rows // groups
    if groups > 1 and part and rows % groups == 0 and part % of.rows == 0:
        of = _repeated(of, part, of.columns)
    step = of.rows if rows else 0
    table = [[(r + group * step, c) for r, c in row] for group in range(groups) for row in of.table]
    return _with_table(of, of.rows + step * (groups - 1), of.columns, table)


def _repeated(of: Held, rows: int, columns: int) -> Held:
    """Repeat a tile as further values of each thread, rows first."""
    origins = [(r, c) for c in range(0, columns, of.columns) for r in range(0, rows, of.rows)]
    return _with_table(
        of, rows, columns, [[(r + dr, c + dc) for dr, dc in origins for r, c in row] for row in of.table]
    )


def _decide(have: Held, need: Held, chained: bool, repeats: int, transposed: bool, fixed_k: bool) -> Feed:
    """Return the answer for two tiles with the same elements."""
    holders: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for thread, row in enumerate(have.table):
        for value, place in enumerate(row):
            holders[place].append((thread, value))
    missing = next((place for row in need.table for place in row if place not in holders), None)
    if missing is not None:
        raise LayoutError(
            f"feeds: {need.name} takes element {missing}, which {have.name} does not have; the tiles have "
            f"{need.rows} x {need.columns} and {have.rows} x {have.columns} elements"
        )
    sigma, row_order = tuple(range(need.columns)), tuple(range(need.rows))
    stay, sources, reach, shuffles = _moves(have, need, holders)
    answer = SAME
    if reach and chained:
        columns = () if fixed_k else _relabel(have, need, 1)
        rows = () if columns or fixed_k else _relabel(have, need, 0)
        sigma, row_order = columns or sigma, rows or row_order
        answer = RELABEL if columns else RELABEL_ROWS if rows else SHARED if reach == "CTA" else SHUFFLES
    elif reach:
        answer = {"quads": QUADS, "warps": WARPS, "CTA": ACROSS}[reach]
    order: tuple[int, ...] = ()
    if answer in (SAME, RELABEL, RELABEL_ROWS):
        orders = _orders(need, holders, sigma, row_order)
        order = orders[0] if all(own == orders[0] for own in orders) else ()
        if not chained and order != tuple(range(len(need.table[0]))):
            answer = REORDERED
    return Feed(
        have, need, answer, order, sigma if answer == RELABEL else (), row_order if answer == RELABEL_ROWS else (),
        need.rows, need.columns, repeats, len(need.table), reach, stay, sources, shuffles, transposed,
    )  # fmt: skip


def _orders(
    need: Held, holders: dict[tuple[int, int], list[tuple[int, int]]], sigma: Sequence[int], row_order: Sequence[int]
) -> list[tuple[int, ...]]:
    """Return for each thread the value of the first that each value of the second is."""
    orders = []
    for thread, row in enumerate(need.table):
        order: list[int] = []
        for u, (r, k) in enumerate(row):
            own = [value for owner, value in holders[row_order[r], sigma[k]] if owner == thread]
            order.append(u if u in own else min(own))
        orders.append(tuple(order))
    return orders


def compare_tables(
    have: Sequence[Sequence[tuple[int, int]]], need: Sequence[Sequence[tuple[int, int]]]
) -> tuple[int, ...]:
    """Return for each value that is needed the value that is there, if it is in the same thread in one order; else ().

    >>> compare_tables([[(0, 0), (0, 1)]], [[(0, 1), (0, 0)]])
    (1, 0)
    """
    if len(have) != len(need):
        return ()
    order: tuple[int, ...] = ()
    for own, wanted in zip(have, need, strict=True):
        position = {place: value for value, place in reversed(list(enumerate(own)))}
        if not all(place in position for place in wanted):
            return ()
        mine = tuple(position[place] for place in wanted)
        if order and mine != order:
            return ()
        order = mine
    return order


def _relabel(have: Held, need: Held, mode: int) -> tuple[int, ...]:
    """Return a permutation of rows (mode 0) or columns (mode 1) with which each thread has what it takes; () if none.

    Columns with equal owners are paired in order. If several threads have an element, columns are paired by a matching.
    """
    theirs, ours = _owner_vectors(have, mode), _owner_vectors(need, mode)
    queues: dict[Any, list[int]] = defaultdict(list)
    for j, vector in enumerate(theirs):
        queues[vector].append(j)
    paired: list[int] = []
    for vector in ours:
        queue = queues.get(vector)
        if not queue:
            break
        paired.append(queue.pop(0))
    else:
        return tuple(paired)
    if all(len(owners) < 2 for vector in theirs for owners in vector):
        return ()
    return _matching(
        [[j for j, vector in enumerate(theirs) if all(map(frozenset.issubset, needs, vector))] for needs in ours]
    )


def _owner_vectors(of: Held, mode: int) -> list[tuple[frozenset[int], ...]]:
    """Return for each row (mode 0) or column (mode 1) the threads that have its elements, in order."""
    length, across = (of.columns, of.rows) if mode else (of.rows, of.columns)
    owners: list[list[set[int]]] = [[set() for _ in range(across)] for _ in range(length)]
    for thread, row in enumerate(of.table):
        for r, c in row:
            owners[c if mode else r][r if mode else c].add(thread)
    return [tuple(map(frozenset, vector)) for vector in owners]


def _matching(choices: list[list[int]]) -> tuple[int, ...]:
    """Return a different choice for each list; () if there is none."""
    chosen: dict[int, int] = {}

    def place(number: int, tried: set[int]) -> bool:
        for choice in choices[number]:
            if choice not in tried:
                tried.add(choice)
                if choice not in chosen or place(chosen[choice], tried):
                    chosen[choice] = number
                    return True
        return False

    if len(choices) > 512 or not all(place(number, set()) for number in range(len(choices))):
        return ()
    by_number = {number: choice for choice, number in chosen.items()}
    return tuple(by_number[number] for number in range(len(choices)))


def _moves(
    have: Held, need: Held, holders: dict[tuple[int, int], list[tuple[int, int]]]
) -> tuple[tuple[int, ...], tuple[tuple[tuple[int, int], ...], ...], str, int]:
    """Return what stays in each thread, where the rest comes from, how far it moves, and the least shuffles."""
    stay: list[int] = []
    sources: list[tuple[tuple[int, int], ...]] = []
    incoming: list[dict[int, set[tuple[int, int]]]] = []
    outgoing: dict[int, set[tuple[int, int]]] = defaultdict(set)
    farthest, single = 0, True
    for thread, row in enumerate(need.table):
        wanted: dict[int, set[tuple[int, int]]] = defaultdict(set)
        counts: Counter[int] = Counter()
        for place in row:
            owners = [owner for owner, _ in holders[place]]
            if thread in owners:
                continue
            source = min(owners, key=lambda owner: (_distance(owner, thread), owner))
            farthest = max(farthest, _distance(source, thread))
            single = single and len(owners) == 1
            wanted[source].add(place)
            outgoing[source].add(place)
            counts[source] += 1
        stay.append(len(row) - sum(counts.values()))
        sources.append(tuple(sorted(counts.items())))
        incoming.append(wanted)
    bits = need.bits or 32
    registers = 0
    for wanted in incoming:
        if single:
            registers = max(registers, sum(-(-len(places) * bits // 32) for places in wanted.values()))
        else:
            registers = max(registers, -(-sum(map(len, wanted.values())) * bits // 32))
    if single:
        registers = max([registers, *(-(-len(places) * bits // 32) for places in outgoing.values())])
    reach = ("", "quads", "warps", "CTA")[farthest]
    return tuple(stay), tuple(sources), reach, registers if farthest in (1, 2) else 0


def _distance(owner: int, thread: int) -> int:
    """Return 0 for the same thread, 1 for a thread of the same quad, 2 of the same warp, 3 for any other."""
    if owner == thread:
        return 0
    return 1 if owner // 4 == thread // 4 else 2 if owner // 32 == thread // 32 else 3
