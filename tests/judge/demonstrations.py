"""What a document claims, done in small, beside what is right: the demonstrations of docs/errata.md.

Each returns a sentence with both results, which the page shows and the test compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from printed import printed_algorithm_2, printed_algorithm_3, printed_algorithm_3b

Array = NDArray[np.int64]


class Convolution:
    """Square images by 3x3 filters, stride 1, padding 1, so that the output is as large as the input; one channel.

    The same row of every image, one behind the other, is the flat row. An instruction computes ``tile`` of its outputs,
    one a lane, from one activation a lane and one tap of the filters.
    """

    def __init__(self, images: int, width: int, filters: int, tile: int) -> None:
        """Draw the activations and the weights."""
        source = np.random.default_rng(7)
        self.images, self.width, self.filters, self.tile = images, width, filters, tile
        self.pad = 1
        self.activations = source.integers(1, 99, (images, width, width))
        self.weights = source.integers(1, 99, (filters, 3, 3))
        self.flat = images * width

    def at(self, n: int, h: int, w: int) -> int:
        """An activation, 0 in the padding."""
        inside = n < self.images and 0 <= h < self.width and 0 <= w < self.width
        return int(self.activations[n, h, w]) if inside else 0

    def padded(self, lane: int, h: int, s: int) -> int:
        """What output ``lane`` of the flat row multiplies with tap s."""
        return self.at(lane // self.width, h, lane % self.width - self.pad + s)

    def packed(self, place: int, h: int) -> int:
        """The activation at a place of the flat row, images one behind the other without padding."""
        return self.at(place // self.width, h, place % self.width) if 0 <= place < self.flat else 0

    def outside(self, lane: int, s: int) -> bool:
        """Whether output ``lane`` has tap s in the padding."""
        return not 0 <= lane % self.width - self.pad + s < self.width

    def direct(self) -> Array:
        """The definition: outputs by (output row, flat position, filter)."""
        found = np.zeros((self.width, self.flat, self.filters), np.int64)
        for p, lane, r, s in np.ndindex(self.width, self.flat, 3, 3):
            found[p, lane] += self.padded(lane, p - self.pad + r, s) * self.weights[:, r, s]
        return found

    def run(self, lanes: Callable[[int, int, int, list[int]], list[int]], masked: str = "kept") -> Array:
        """The outputs when ``lanes(first, h, s, before)`` gives the activations of the lanes at tap s.

        ``masked`` says what an output does at a tap in its padding: it is ``kept``, set to ``zero``, or ``written``.
        """
        found = np.zeros((self.width, self.flat, self.filters), np.int64)
        for p, first, r in np.ndindex(self.width, -(-self.flat // self.tile), 3):
            held: list[int] = []
            for s in range(3):
                held = lanes(first * self.tile, p - self.pad + r, s, held)
                for m in range(min(self.tile, self.flat - first * self.tile)):
                    lane = first * self.tile + m
                    if masked == "written" or not self.outside(lane, s):
                        found[p, lane] += held[m] * self.weights[:, r, s]
                    elif masked == "zero":
                        found[p, lane] = 0
        return found

    def wrong(self, found: Array) -> str:
        """How many outputs differ from the definition."""
        return f"{int((found != self.direct()).sum())} of {found.size}"

    def printed(self, first: int, h: int, s: int, before: list[int]) -> list[int]:
        """Algorithm 3 as printed: lane n takes what lane n - 1 had, the new one goes to lane 0."""
        if s == 0:
            return [self.padded(first + m, h, s) for m in range(self.tile)]
        return [self.padded(first, h, s), *before[:-1]]

    def drawn(self, first: int, h: int, s: int, before: list[int]) -> list[int]:
        """Figure 7: lane n takes what lane n + 1 had, the new one comes last."""
        if s == 0:
            return [self.packed(first + m - self.pad, h) for m in range(self.tile)]
        return [*before[1:], self.packed(first + self.tile - 1 + s - self.pad, h)]

    def quarters(self, first: int, h: int, s: int, before: list[int], new: tuple[int, ...]) -> list[int]:
        """As :meth:`drawn`, with the last lane of each 32 left as it was unless it is ``new``."""
        if s == 0:
            return self.drawn(first, h, s, before)
        after = [before[m] if m % 32 == 31 else before[m + 1] for m in range(self.tile)]
        for m in new:
            after[m] = self.packed(first + m + s - self.pad, h)
        return after


def direction_of_the_shift() -> str:
    """Two images of 9x9, one 3x3 filter, padding 1, 16 outputs an instruction; whole lanes move at once."""
    one = Convolution(images=2, width=9, filters=1, tile=16)
    assert (one.run(one.drawn) == one.direct()).all()
    return f"outputs wrong: as printed {one.wrong(one.run(one.printed))}, by figure 7 {one.wrong(one.run(one.drawn))}"


def masked_outputs() -> str:
    """The same convolution by figure 7: an output whose tap is padding is kept, set to zero, or written."""
    one = Convolution(images=2, width=9, filters=1, tile=16)
    zero, written = (one.wrong(one.run(one.drawn, masked)) for masked in ("zero", "written"))
    return f"outputs wrong: set to 0 {zero}, not masked {written}, kept {one.wrong(one.run(one.drawn))}"


def new_rows() -> str:
    """128 outputs an instruction, 8 images of 16x16; lanes 31, 63, 95 and 127 keep their activation in a shift."""
    one = Convolution(images=8, width=16, filters=1, tile=128)
    last = one.run(lambda first, h, s, before: one.quarters(first, h, s, before, (127,)))
    four = one.run(lambda first, h, s, before: one.quarters(first, h, s, before, (31, 63, 95, 127)))
    return f"outputs wrong: one new row {one.wrong(last)}, four {one.wrong(four)}"


def bound_of_the_loop() -> str:
    """Algorithm 2 with MMA_M = 4 filters, MMA_N = 6 outputs: what is not loaded is 0."""
    one = Convolution(images=2, width=9, filters=4, tile=6)

    def loaded(bound: int) -> Array:
        return one.run(lambda first, h, s, _: [one.padded(first + m, h, s) if m < bound else 0 for m in range(6)])

    return f"outputs wrong: up to MMA_M {one.wrong(loaded(4))}, up to MMA_N {one.wrong(loaded(6))}"


def padding_of_figure_6() -> str:
    """Height 9, three filter rows, stride 1: output rows, and the filter row that meets h = 0 at p = 0."""
    rows = [(pad, (9 + 2 * pad - 3) // 1 + 1, [r for r in range(3) if 0 - pad + r == 0]) for pad in (0, 1)]
    return "; ".join(f"padding {pad}: P = {p}, h = 0 is r = {r[0]}" for pad, p, r in rows)


def tiles(one: Array) -> Iterator[tuple[int, Array]]:
    """The tiles of 64 rows."""
    yield from ((m, one[64 * m : 64 * m + 64]) for m in range(len(one) // 64))


def one_accumulator() -> str:
    """128x16 outputs over K = 32 as tiles of 64x8x16: the printed loop, and one with an accumulator for each tile."""
    source = np.random.default_rng(5)
    a, b = source.integers(1, 9, (128, 32)), source.integers(1, 9, (16, 32))
    product = a @ b.T
    wanted = [product[64 * m : 64 * m + 64, 8 * n : 8 * n + 8] for m, n in np.ndindex(2, 2)]
    cut = [slice(0, 16), slice(16, 32)]
    printed = sum(rows[:, k] @ b[8 * m : 8 * m + 8, k].T for m, rows in tiles(a) for k in cut)
    right = [sum(rows[:, k] @ b[8 * n : 8 * n + 8, k].T for k in cut) for _, rows in tiles(a) for n in (0, 1)]
    as_printed = sum(np.array_equal(printed, tile) for tile in wanted)
    correct = sum(np.array_equal(found, tile) for found, tile in zip(right, wanted, strict=True))
    return f"tiles right: as printed {as_printed} of 4, with an accumulator a tile and B advanced by n {correct} of 4"


def last_column_of_an_image() -> str:
    """12 images 9 wide, one tap, no padding, 16 outputs a tile: the (image, column) where the load of a tile begins."""
    images, width, tile = 12, 9, 16
    firsts = [divmod(flat, width) for flat in range(0, images * width, tile)]
    told = []
    for name, bound in (("w >= W - 1", width - 1), ("w >= W", width)):
        begins = [(n + 1, w - width) if w >= bound else (n, w) for n, w in firsts]
        wrong = [pair for pair in zip(firsts, begins, strict=True) if pair[0] != pair[1]]
        shown = "".join(f", the first at {at} for {first}" for first, at in wrong[:1])
        told.append(f"by {name} {len(wrong)} of {len(firsts)}{shown}")
    return f"tiles that begin elsewhere: {'; '.join(told)}"


DEMONSTRATIONS: dict[str, Callable[[], str]] = {
    one.__name__: one
    for one in (
        direction_of_the_shift,
        printed_algorithm_2,
        printed_algorithm_3,
        printed_algorithm_3b,
        masked_outputs,
        new_rows,
        bound_of_the_loop,
        padding_of_figure_6,
        one_accumulator,
        last_column_of_an_image,
    )
}
