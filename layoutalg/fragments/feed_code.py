"""PTX that turns the registers of one instruction into those of the next: conversions, shuffles, matrix moves.

``d0, d1, ...`` are the registers that a thread has: one for each value, or for each pair of f16 accumulators. ``a0, a1,
...`` (``b0, b1, ...`` for operand B) are the registers that the next instruction takes.

Invariant: the instructions compute the registers that :class:`Feed` describes; the tests execute them for all threads.

Source: PTX ISA 9.1, cvt, cvt.pack, mov, shfl.sync, prmt, movmatrix, stmatrix, ldmatrix.

>>> from layoutalg.fragments.feeds import feeds
>>> print(*feed_code(feeds("mma.m16n8k8.C", "mma.m16n8k8.A.bf16")), sep="\\n")
cvt.rn.bf16x2.f32 a0, d1, d0;
cvt.rn.bf16x2.f32 a1, d3, d2;
"""

from __future__ import annotations

from collections.abc import Sequence

from layoutalg.fragments.feeds import RELABEL, RELABEL_ROWS, SAME, SHUFFLES, Feed, Held, Table, compare_tables
from layoutalg.fragments.fragment_names import fragment

#: The instruction that converts two accumulators to one register of 32, 16 or 8 bits, by the type of the result.
_PAIRS = {
    "f16": "cvt.rn.f16x2.f32", "bf16": "cvt.rn.bf16x2.f32",
    "e4m3": "cvt.rn.satfinite.e4m3x2.f32", "e5m2": "cvt.rn.satfinite.e5m2x2.f32",
    "e2m1": "cvt.rn.satfinite.e2m1x2.f32",
}  # fmt: skip
#: The same for integers. The operand in front of the last is the pair of the upper elements, which is moved up.
_PACKS = {"s8": "cvt.pack.sat.s8.s32.b32", "u8": "cvt.pack.sat.u8.s32.b32",
          "s4": "cvt.pack.sat.s4.s32.b32", "u4": "cvt.pack.sat.u4.s32.b32"}  # fmt: skip
#: Bits of a register that a packed type fills: e2m1 with K 32 has a byte for each element, which no conversion fills.
_PACKED_BITS = {"f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "e2m1": 4, "s8": 8, "u8": 8, "s4": 4, "u4": 4}


def feed_code(feed: Feed) -> list[str]:
    """Return the PTX instructions for one stretch; [] if no conversion or no code is known.

    Shuffles are emitted for elements of 8, 16 and 32 bits. Their number is printed by ``feeds``; it may be more than
    the least number.
    """
    if feed.first.role != "D" or feed.second.role not in ("A", "B"):
        return []
    if feed.answer in (SAME, RELABEL, RELABEL_ROWS) and feed.register_order:
        return _packed(feed.register_order, feed, feed.second.role.lower())
    if feed.answer == SHUFFLES:
        if movmatrix_works(feed):
            return _by_movmatrix(feed)
        return _by_shuffles(feed)
    return []


def shared_memory_path(feed: Feed) -> tuple[str, str]:
    """Return the ``stmatrix`` that stores what threads have and the ``ldmatrix`` that loads what they take; or "".

    Both are compared with the registers of all threads. The elements have the width of the second's.

    >>> from layoutalg.fragments.feeds import feeds
    >>> shared_memory_path(feeds("mma.m16n8k16.C", "mma.m16n8k16.B.f16"))
    ('stmatrix.x2', 'ldmatrix.x2.trans')
    """
    first, second = feed.first, feed.second
    if feed.second.role == "B" and not feed.transposed:  # memory has the rows of the accumulators
        first, second = _turned(first), _turned(second)
    return _matrix_instruction("stmatrix", first, second.bits), _matrix_instruction("ldmatrix", second, second.bits)


def _turned(registers: Held) -> Held:
    table = tuple(tuple((c, r) for r, c in row) for row in registers.table)
    return Held(
        registers.name, registers.columns, registers.rows, table, registers.role, registers.dtype, registers.bits
    )


def _matrix_instruction(head: str, registers: Held, bits: int) -> str:
    """Return the instruction that moves the registers of each warp, the widest first; "" if there is none."""
    suffix = {8: ".b8", 16: "", 32: ".f32"}.get(bits)
    if suffix is None or (head == "stmatrix" and bits == 32):
        return ""
    for count in (4, 2, 1):
        for trans in ("", ".trans") if bits == 16 else ("",):
            for down in (1, 2, 4):
                across = count // down
                if across * down != count:
                    continue
                tile = f".{8 * down}x{128 // bits * across}"
                if _covers(f"{head}.x{count}{trans}{tile}{suffix}", registers):
                    return f"{head}.x{count}{trans}"
    return ""


def _covers(name: str, registers: Held) -> bool:
    """Return whether repetitions of an instruction move exactly the registers of a tile, in any order of registers."""
    piece = fragment(name)
    rows, columns = piece.shape
    if (
        len(registers.table) % 32
        or registers.rows % rows
        or registers.columns % columns
        or len(registers.table[0]) % piece.values
    ):
        return False
    unit = [[piece.element(t, v) for v in range(piece.values)] for t in range(32)]
    for warp in range(0, len(registers.table), 32):
        table = registers.table[warp : warp + 32]
        remaining = [set(row) for row in table]
        while remaining[0]:
            r, c = min(remaining[0], key=lambda place: (place[1], place[0]))
            origin = (r - unit[0][0][0], c - unit[0][0][1])
            for own, row in zip(remaining, unit, strict=True):
                for dr, dc in row:
                    place = (origin[0] + dr, origin[1] + dc)
                    if place not in own:
                        return False
                    own.discard(place)
    return True


def movmatrix_works(feed: Feed) -> bool:
    """Return whether transposing each 8 x 8 matrix of packed elements gives what the second takes.

    >>> from layoutalg.fragments.feeds import feeds
    >>> movmatrix_works(feeds("mma.m16n8k16.C", "mma.m16n8k16.B.f16"))
    True
    """
    moved = _transposed_blocks(feed)
    return moved is not None and compare_tables(moved, feed.second.table) != ()


def _transposed_blocks(feed: Feed) -> Table | None:
    """Return the accumulators after ``movmatrix`` of each register; None if they are not 8 x 8 matrices of 16 bits."""
    if feed.second.bits != 16 or len(feed.first.table[0]) % 2:
        return None
    turned = feed.second.role == "B" and not feed.transposed
    moved: Table = []
    for thread, row in enumerate(feed.first.table):
        lane, places = thread % 32, []
        for value, place in enumerate(row):
            r, c = place[::-1] if turned else place
            if (r % 8, c % 8) != (lane // 4, 2 * (lane % 4) + value % 2):
                return None
            other = (r - r % 8 + c % 8, c - c % 8 + r % 8)
            places.append(other[::-1] if turned else other)
        moved.append(places)
    return moved


def _by_movmatrix(feed: Feed) -> list[str]:
    moved = _transposed_blocks(feed)
    order = compare_tables(moved, feed.second.table) if moved is not None else ()
    lines = _packed(range(len(feed.first.table[0])), feed, "p")
    if not lines:
        return []
    for number in range(len(order) // 2):
        lines.append(
            f"movmatrix.sync.aligned.m8n8.trans.b16 {feed.second.role.lower()}{number}, p{order[2 * number] // 2};"
        )
    return lines


def _packed(order: Sequence[int], feed: Feed, name: str) -> list[str]:
    """Return the conversions of accumulators in an order to registers ``name0, name1, ...``."""
    source, target = feed.first.dtype or _accumulators(feed.second.dtype), feed.second.dtype
    bits = feed.second.bits
    if source == "f64" and target == "f64":
        return [f"mov.f64 {name}{number}, d{value};" for number, value in enumerate(order)]
    if source == "f32" and target == "tf32":
        return [f"cvt.rna.tf32.f32 {name}{number}, d{value};" for number, value in enumerate(order)]
    if _PACKED_BITS.get(target) != bits or any(a + 1 != b for a, b in zip(order[::2], order[1::2], strict=True)):
        return []
    pairs = list(order[::2])
    if source == "f16" and target == "f16":
        return [f"mov.b32 {name}{number}, d{value // 2};" for number, value in enumerate(pairs)]
    together = 16 // bits  # pairs of a register
    lines = []
    for number in range(len(pairs) // together):
        group = pairs[number * together : (number + 1) * together]
        if source == "f32" and target in _PAIRS:
            parts = [f"{name}{number}"] if together == 1 else [f"h{number * together + i}" for i in range(together)]
            lines += [
                f"{_PAIRS[target]} {part}, d{value + 1}, d{value};" for part, value in zip(parts, group, strict=True)
            ]
            if together > 1:
                lines.append(f"mov.b32 {name}{number}, {{{', '.join(parts)}}};")
        elif source == "s32" and target in _PACKS:
            above = "0"
            for value in reversed(group):
                lines.append(f"{_PACKS[target]} {name}{number}, d{value + 1}, d{value}, {above};")
                above = f"{name}{number}"
        else:
            return []
    return lines


def _accumulators(target: str) -> str:
    """Return the type of accumulators whose name has no type."""
    return "f64" if target == "f64" else "s32" if target in _PACKS else "f32"


def _by_shuffles(feed: Feed) -> list[str]:
    """Return conversions, shuffles of packed registers, and the selection of bytes by lane."""
    bits = feed.second.bits
    lines = _packed(range(len(feed.first.table[0])), feed, "p")
    if not lines or bits not in (8, 16, 32):
        return []
    plan = _shuffle_plan(feed)
    if plan is None:
        return []
    registers, shuffles = plan
    lines.append("mov.u32 lane, %laneid;")
    lane_names: dict[tuple[int, ...], str] = {}
    names: dict[tuple[tuple[int, ...], int], str] = {}
    for lanes, register in shuffles:
        if lanes not in lane_names:
            lane_names[lanes] = f"s{len(lane_names)}"
            lines += _lane_function(lane_names[lanes], lanes)
        names[lanes, register] = f"x{len(names)}"
        lines.append(f"shfl.sync.idx.b32 {names[lanes, register]}, p{register}, {lane_names[lanes]}, 31, -1;")
    for number, pieces in enumerate(registers):
        target = f"{feed.second.role.lower()}{number}"
        lines.append(f"mov.b32 {target}, 0;")
        for key, selectors in pieces:
            lines += _select_bytes(target, names[key], selectors)
    return lines


def _shuffle_plan(
    feed: Feed,
) -> (
    tuple[
        list[list[tuple[tuple[tuple[int, ...], int], tuple[int, ...]]]],
        list[tuple[tuple[int, ...], int]],
    ]
    | None
):
    """Return for each register of the second the shuffled registers and the bytes that each lane takes of them.

    All warps do the same; None if they do not, or if an element comes from another warp.
    """
    unit, count = feed.second.bits // 8, 32 // feed.second.bits
    position = {place: (t, v) for t, row in enumerate(feed.first.table) for v, place in enumerate(row)}
    choices = []
    for thread, row in enumerate(feed.second.table):
        places = [position[place] for place in row]
        if any(owner // 32 != thread // 32 for owner, _ in places):
            return None
        choices.append([(owner % 32, value) for owner, value in places])
    if any(choices[thread] != choices[thread % 32] for thread in range(len(choices))):
        return None
    choices = choices[:32]
    registers: list[list[tuple[tuple[tuple[int, ...], int], tuple[int, ...]]]] = []
    shuffles: dict[tuple[tuple[int, ...], int], None] = {}
    for first in range(0, len(choices[0]), count):
        selectors: dict[tuple[tuple[int, ...], int], list[list[int]]] = {}
        for slot in range(count):
            lanes = tuple(lane[first + slot][0] for lane in choices)
            for lane, own in enumerate(choices):
                value = own[first + slot][1]
                key = (lanes, value // count)
                chosen = selectors.setdefault(key, [[0, 1, 2, 3] for _ in range(32)])[lane]
                for byte in range(unit):
                    chosen[slot * unit + byte] = 4 + value % count * unit + byte
        registers.append(
            [
                (key, tuple(sum(byte << 4 * i for i, byte in enumerate(lane)) for lane in table))
                for key, table in selectors.items()
            ]
        )
        shuffles |= dict.fromkeys(selectors)
    return registers, list(shuffles)


def _lane_function(name: str, lanes: tuple[int, ...]) -> list[str]:
    """Return instructions that compute the source lane of each lane: the lane, with some bits changed."""
    lines = [f"mov.u32 {name}, lane;"]
    for bit in range(5):
        mask = sum((((lane ^ source) >> bit) & 1) << lane for lane, source in enumerate(lanes))
        if mask:
            lines += [f"shr.u32 t, 0x{mask:08x}, lane;", "and.b32 t, t, 1;"]
            lines += [f"shl.b32 t, t, {bit};"] if bit else []
            lines.append(f"xor.b32 {name}, {name}, t;")
    return lines


def _select_bytes(target: str, source: str, selectors: tuple[int, ...]) -> list[str]:
    """Return instructions that replace bytes of a register by those of another, by a selector for each lane."""
    distinct = sorted(set(selectors))
    lines = [f"mov.u32 t, 0x{distinct[0]:04x};"]
    for selector in distinct[1:]:
        mask = sum(1 << lane for lane, own in enumerate(selectors) if own == selector)
        lines += [f"shr.u32 u, 0x{mask:08x}, lane;", "and.b32 u, u, 1;", "setp.ne.u32 q, u, 0;"]
        lines.append(f"selp.b32 t, 0x{selector:04x}, t, q;")
    return [*lines, f"prmt.b32 {target}, {target}, {source}, t;"]


def declarations(feed: Feed) -> list[str]:
    """Return the declarations of all registers that :func:`feed_code` names, for a program that contains the code.

    >>> from layoutalg.fragments.feeds import feeds
    >>> declarations(feeds("mma.m16n8k8.C", "mma.m16n8k8.A.bf16"))
    ['.reg .f32 d<4>;', '.reg .b32 a<2>;']
    """
    code = " ".join(feed_code(feed))
    source = feed.first.dtype or _accumulators(feed.second.dtype)
    kinds = {"f32": ".f32", "f64": ".f64", "s32": ".s32", "f16": ".b32"}
    values = len(feed.first.table[0]) // (2 if source == "f16" else 1)
    lines = [f".reg {kinds[source]} d<{values}>;"]
    count = len(feed.second.table[0]) * max(1, feed.second.bits) // 32 if source != "f64" else len(feed.second.table[0])
    lines.append(f".reg {'.f64' if source == 'f64' else '.b32'} {feed.second.role.lower()}<{count}>;")
    half = ".b8" if feed.second.bits == 4 else ".b16"
    for name, kind in (("h", half), ("p", ".b32"), ("x", ".b32"), ("s", ".b32")):
        numbers = _numbered(code, name)
        lines += [f".reg {kind} {name}<{max(numbers) + 1}>;"] if numbers else []
    if "lane" in code:
        lines += [".reg .b32 lane, t, u;", ".reg .pred q;"]
    return lines


def _numbered(code: str, name: str) -> set[int]:
    """Return the numbers of the registers with a name in a text."""
    import re

    return {int(number) for number in re.findall(rf"(?<![A-Za-z0-9_.]){name}(\d+)", code)}
