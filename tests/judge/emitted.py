"""Derivations whose code is emitted in every language, and the words that it must give, for every subtile."""

from __future__ import annotations

from itertools import product
from typing import Any

from hypothesis import strategies as st

from descriptors import Derivation, DescriptorError, derive
from descriptors.smem.emitters.emit import emit
from layoutalg import ComposedLayout, Layout, Swizzle, size

ALGEBRA: dict[str, Any] = {"legality": "off", "verify": False}
BF16: dict[str, Any] = {"dtype": "bf16", "mma": (64, 16), **ALGEBRA}

#: Advances of every kind: nested, with stages before and between, not powers of two, idle, far, one subtile.
CASES: dict[str, dict[str, Any]] = {
    "kmajor": {"tile": (128, 128), "major": "K", "swizzle": "128B", **BF16},
    "mnmajor": {"tile": (128, 128), "major": "MN", "swizzle": "64B", **BF16},
    "staged": {"tile": (128, 64, 4), "major": "K", "swizzle": "64B", "arch": "sm90", **BF16},
    "woven": {"tile": (192, 96, 3), "major": "K", "swizzle": "32B", "order": (0, 2, 1), **BF16},
    "backward": {"tile": (192, 192, 2), "major": "MN", "swizzle": "none", "order": (1, 2, 0), **BF16},
    "alone": {"tile": (64, 16), "major": "K", "swizzle": "none", **BF16},
    "bytes": {"tile": (256, 384), "major": "K", "swizzle": "128B", "dtype": "e4m3", "mma": (128, 32), **ALGEBRA},
    "nibbles": {"tile": (128, 512), "major": "K", "swizzle": "128B", "dtype": "e2m1", "mma": (128, 64), **ALGEBRA},
    "words": {"tile": (96, 64), "major": "MN", "swizzle": "128B_BASE32B", "dtype": "tf32", "mma": (32, 8), **ALGEBRA},
    "slice_": {
        "layout": ComposedLayout(Swizzle(3, 3, 3), 16 + 64 * 64, Layout((64, (16, 3)), (64, (1, 16)))),
        **BF16,
    },
    "stages2": {
        "layout": Layout(((8, 8), (16, 2), 2, 3), ((16, 128), (1, 1024), 6144, 2048)),
        **ALGEBRA,
        "dtype": "u8",
        "mma": (64, 32),
    },
    "across": {"tile": (128, 768), "major": "K", "swizzle": "128B", "dtype": "e2m1", "mma": (128, 96), **ALGEBRA},
    "ring": {
        "tile": (128, 1536, 2),
        "major": "K",
        "swizzle": "128B",
        "dtype": "e2m1",
        "mma": (64, 96),
        "order": (1, 0, 2),
        **ALGEBRA,
    },
    "thirds": {"layout": Layout(((8, 3, 5), (8, 2)), ((8, 128, 1024), (1, 64))), **BF16, "mma": (8, 16)},
}


def made(name: str) -> Derivation:
    return derive(**CASES[name])


def addresses(d: Derivation) -> list[int]:
    """Where a tile may lie: at the start, further on, and in another block of the cluster."""
    step = d.swizzle.alignment_bytes
    return [0, step, 7 * step, 0x1000000 + 3 * step]


def questions(d: Derivation) -> list[tuple[int, tuple[int, ...]]]:
    coordinates = list(product(*(range(size(mode)) for mode in d.advance)))
    return [(address, coordinate) for address in addresses(d) for coordinate in coordinates]


def expected(d: Derivation) -> list[int]:
    tables = {address: d.words(address & 0x3FFFF) for address in addresses(d)}
    words = []
    for address, coordinate in questions(d):
        word: Any = tables[address]
        for index in coordinate:
            word = word[index]
        words.append(word)
    return words


def run(text: str) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(text, space)  # noqa: S102 - code that runs is what is tested
    return space


def by_python(d: Derivation, name: str = "operand") -> list[int]:
    space = run(emit(d, "python", name))
    first, subtile = space[f"{name}_first"], space[f"{name}_subtile"]
    return [subtile(first(address), *coordinate) for address, coordinate in questions(d)]


@st.composite
def derivations(draw: st.DrawFn) -> Derivation:
    major, swizzle = draw(st.sampled_from(["K", "MN"])), draw(st.sampled_from(["none", "32B", "64B", "128B"]))
    span = {"none": 8, "32B": 16, "64B": 32, "128B": 64}[swizzle]
    unit = (8, span) if major == "K" else (span, 8)
    counts = [draw(st.integers(1, 6)) for _ in range(2)]
    parts = [unit[i] * draw(st.sampled_from([n for n in (1, 2, 3, 4) if counts[i] % n == 0])) for i in (0, 1)]
    extents = [unit[i] * counts[i] for i in (0, 1)] + draw(st.lists(st.integers(1, 3), max_size=1))
    if major == "K":
        parts[1] = draw(st.sampled_from([n for n in (8, 16, 32, 64) if parts[1] % n == 0]))
    order = draw(st.permutations(range(len(extents))))
    given_: dict[str, Any] = {"tile": extents, "major": major, "swizzle": swizzle, "mma": parts, "order": tuple(order)}
    try:
        return derive(dtype="bf16", arch=draw(st.sampled_from(["sm90", "sm100"])), capacity=None, **given_, **ALGEBRA)
    except DescriptorError:
        return draw(st.nothing())
