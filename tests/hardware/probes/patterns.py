"""Access patterns of one warp to shared memory, for the bank probe: 32 byte offsets, -1 for a lane that stays out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

LANES = range(32)
OUT = -1
#: The patterns stay below this offset.
LIMIT = 32768


@dataclass(frozen=True, slots=True)
class Pattern:
    """One access.

    Args:
        name: what it is.
        op: ``"load"`` or ``"store"``; ``"ldmatrix"`` or ``"stmatrix"``, both x4, of a row of 16 bytes a lane.
        access_bytes: bytes that each lane reads or writes.
        offsets: byte offset of each lane in shared memory, a multiple of ``access_bytes``; -1 for an inactive lane.
    """

    name: str
    op: str
    access_bytes: int
    offsets: tuple[int, ...]


def swizzled(offset: int, bits: int, base: int, shift: int) -> int:
    """Swizzle<bits, base, shift> of a byte offset, on its own so that the probe shares nothing with the library."""
    return offset ^ ((offset >> (base + shift) & ((1 << bits) - 1)) << base)


#: The examples A to E of the article "Decoding Swizzle<B,M,S>", section 5: bits, base, shift.
EXAMPLES = {"A": (0, 4, 3), "B": (1, 4, 3), "C": (2, 4, 3), "D": (3, 4, 3), "E": (2, 5, 2)}


def _examples(size: int) -> Iterator[tuple[str, list[int]]]:
    """A column of 16-byte units, row by row of 128 bytes: 8 lanes, and 32 lanes over four tiles; and the atom in order.

    The atom of example B is 8 rows of 32 bytes, of C 8 of 64, of D and E 8 of 128, stored one after the other; its
    column is one core matrix.
    """
    for name, (bits, base, shift) in EXAMPLES.items():
        for lanes in (8, 32):
            for unit in (0, 1, 5):
                rows = [swizzled(128 * lane + 16 * unit, bits, base, shift) if lane < lanes else OUT for lane in LANES]
                yield f"example {name}: unit {unit} of {lanes} rows of 128 bytes", rows
        width = {"A": 16, "B": 32, "C": 64, "D": 128, "E": 128}[name]
        for unit in range(0, width // 16, 2 if width == 128 else 1):
            rows = [swizzled(width * lane + 16 * unit, bits, base, shift) if lane < 8 else OUT for lane in LANES]
            yield f"example {name}: core matrix {unit} of the 8 x {width} byte atom", rows


def _regular(size: int) -> Iterator[tuple[str, list[int]]]:
    for stride in (0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 48, 64):
        yield f"stride {stride}", [stride * size * lane for lane in LANES]
    for group in (1, 2, 4, 8, 16, 32):
        for step in (size, 128, 128 + size):
            yield f"lane // {group} by {step} bytes", [lane // group * step for lane in LANES]
            yield f"lane % {group} by {step} bytes", [lane % group * step for lane in LANES]
    for bits in (1, 2, 3):
        for row in (128, 256):
            column = [swizzled(row * lane, bits, 4, 3) for lane in LANES]
            yield f"S<{bits},4,3> column, rows of {row} bytes", column


def _random(size: int, random: Random) -> Iterator[tuple[str, list[int]]]:
    def anywhere(window: int) -> Callable[[], int]:
        return lambda: random.randrange(max(1, window // size)) * size

    for window in (64, 128, 256, 512, 1024, 2048, 4096, 16384):
        for _ in range(4):
            draw = anywhere(window)
            yield f"random in {window} bytes", [draw() for _ in LANES]
    for _ in range(4):
        order = random.sample(LANES, 32)
        yield "permutation of consecutive", [lane * size for lane in order]
    for distance in (1, 2, 4, 8, 16):
        for window in (256, 1024, 4096):
            draw = anywhere(window)
            leader = [draw() for _ in LANES]
            yield f"lanes i and i^{distance} alike, in {window} bytes", [leader[lane & ~distance] for lane in LANES]
    for few in (2, 3, 5):
        draw = anywhere(8192)
        some = [draw() for _ in range(few)]
        yield f"{few} places", [random.choice(some) for _ in LANES]


def _masked(size: int, random: Random) -> Iterator[tuple[str, list[int]]]:
    masks: list[tuple[str, set[int]]] = [
        ("one lane", {random.randrange(32)}),
        ("no lane of the second half", set(range(16))),
        ("no lane of the first half", set(range(16, 32))),
        ("even lanes", set(range(0, 32, 2))),
        ("odd lanes", set(range(1, 32, 2))),
        ("lanes 0-1 of every four", {lane for lane in LANES if lane % 4 < 2}),
        ("lanes 0-3 of every eight", {lane for lane in LANES if lane % 8 < 4}),
        ("lanes 0-7 of every sixteen", {lane for lane in LANES if lane % 16 < 8}),
        ("one of every eight", set(range(0, 32, 8))),
        ("two lanes of different halves", {random.randrange(16), 16 + random.randrange(16)}),
    ]
    masks += [(f"{count} lanes at random", set(random.sample(LANES, count))) for count in (3, 6, 12, 20, 28)]
    for name, mask in masks:
        for window in (size * 32, 1024, 8192):
            offsets = [random.randrange(window // size) * size for _ in LANES]
            yield f"{name}, random in {window} bytes", [offsets[lane] if lane in mask else OUT for lane in LANES]
        yield f"{name}, consecutive", [size * lane if lane in mask else OUT for lane in LANES]
        yield f"{name}, 128 bytes apart", [128 * lane if lane in mask else OUT for lane in LANES]


def _alike(size: int, random: Random, distance: int, window: int) -> list[int]:
    """Offsets within a window, lanes i and i^distance at the same."""
    leader = [random.randrange(window // size) * size for _ in LANES]
    return [leader[lane & ~distance] for lane in LANES]


def _paired(size: int, random: Random, distance: int, window: int) -> Iterator[tuple[str, list[int]]]:
    """Lanes i and i^distance alike or inactive in part of the warp, or in all of it but for one lane."""
    text = f"i and i^{distance} in {window} bytes"
    for _ in range(3):
        offsets = _alike(size, random, distance, window)
        offsets[random.randrange(32)] = random.randrange(window // size) * size
        yield f"{text}: alike but for one lane", offsets
    for part in (8, 16):
        for number in range(32 // part):
            alike, free = _alike(size, random, distance, window), _alike(size, random, 0, window)
            mixed = [alike[lane] if lane // part == number else free[lane] for lane in LANES]
            yield f"{text}: alike in lanes {number * part} to {number * part + part - 1}", mixed
    alike, free = _alike(size, random, distance, window), _alike(size, random, 0, window)
    out = set(random.sample(LANES, 12))
    yield f"{text}: alike, 12 lanes inactive", [OUT if lane in out else alike[lane] for lane in LANES]
    half = [OUT if lane & distance and lane < 16 else free[lane] for lane in LANES]
    yield f"{text}: one of two inactive in lanes 0 to 15", half
    either = {lane: lane ^ random.choice((0, distance)) for lane in LANES if not lane & distance}
    yield f"{text}: one of two inactive", [free[lane] if lane in either.values() else OUT for lane in LANES]


def _mixed(size: int, random: Random, window: int) -> Iterator[tuple[str, list[int]]]:
    """Some lanes alike at distance 1, others at distance 2."""
    pair = (_alike(size, random, 1, window), _alike(size, random, 2, window))
    for block in (4, 8, 16):
        yield (
            f"blocks of {block} alike at 1 and 2 in turn, in {window} bytes",
            [pair[lane // block % 2][lane] for lane in LANES],
        )
    chosen = [random.choice(pair) for _ in range(8)]
    yield f"blocks of 4 alike at 1 or 2, in {window} bytes", [chosen[lane // 4][lane] for lane in LANES]


def _two_phases(size: int, random: Random) -> Iterator[tuple[str, list[int]]]:
    """What decides whether phases are served together."""
    for window in (512, 2048, 8192):
        for distance in (1, 2):
            yield from _paired(size, random, distance, window)
        yield from _mixed(size, random, window)
    for other in range(1, 32, 3):
        pair = random.sample(range(0, 8192, size), 2)
        yield f"lanes 0 and {other} alone", [pair[lane > 0] if lane in (0, other) else OUT for lane in LANES]


def patterns(seed: int = 1) -> list[Pattern]:
    """Every pattern of the probe, loads and stores of 1, 2, 4, 8 and 16 bytes a lane."""
    made = []
    for op in ("load", "store"):
        for size in (1, 2, 4, 8, 16):
            random = Random(f"{seed} {op} {size}")
            kinds = [*_regular(size), *_random(size, random), *_masked(size, random)]
            if size >= 8:
                kinds += _two_phases(size, random)
            if size == 16:
                kinds += _examples(size)
            if size == 1:
                kinds = kinds[::4]
            made += [Pattern(name, op, size, tuple(offsets)) for name, offsets in kinds]
    Random(seed).shuffle(made)  # so that a run cut short still has every kind
    return made


def matrix_patterns(seed: int = 1) -> list[Pattern]:
    """Every pattern of ``ldmatrix.x4`` and ``stmatrix.x4``: those of 16 bytes a lane in which all lanes take part."""
    made = []
    for op in ("ldmatrix", "stmatrix"):
        random = Random(f"{seed} {op}")
        kinds = [*_regular(16), *_random(16, random), *_two_phases(16, random), *_examples(16)]
        made += [Pattern(name, op, 16, tuple(offsets)) for name, offsets in kinds if OUT not in offsets]
    Random(seed).shuffle(made)
    return made
