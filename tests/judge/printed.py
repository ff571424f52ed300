"""The printed algorithms of a convolution on tensor cores, loop for loop, with their lines one by one put right.

Activations of 2 channels a step, square images, 3x3 filters, stride and dilation 1, padding 1. What an algorithm leaves
open is taken as it is best for it: activations in the padding and beyond the last image are 0, and a register file
or tensor memory holds 0 before it is written to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]
#: What writes the activations of (p, nq, r, s, c) into the lanes that the step before has left.
Lanes = Callable[[Array, int, int, int, int, int], None]
MMA_K, CHANNELS, PAD = 2, 4, 1


class Printed:
    """A convolution whose instruction takes some lanes of activations and some filters."""

    def __init__(self, images: int, width: int, lanes: int, filters: int) -> None:
        """Draw activations and filters."""
        source = np.random.default_rng(11)
        self.images, self.width, self.lanes, self.filters = images, width, lanes, filters
        self.a = source.integers(1, 99, (images, width, width, CHANNELS))
        self.w = source.integers(1, 99, (2 * filters, 3, 3, CHANNELS))

    def at(self, n: int, h: int, w: int, c: int) -> Array:
        """Activations of a K step."""
        inside = 0 <= n < self.images and 0 <= h < self.width and 0 <= w < self.width
        found: Array = self.a[n, h, w, c : c + MMA_K] if inside else np.zeros(MMA_K, np.int64)
        return found

    def place(self, at: int, h: int, c: int) -> Array:
        """Activations of a K step by their place in the rows h of all images, one behind the other."""
        return self.at(at // self.width, h, at % self.width, c)

    def direct(self) -> Array:
        """The definition: (n, p, q, filter)."""
        padded = np.pad(self.a, ((0, 0), (PAD, PAD), (PAD, PAD), (0, 0)))
        size = self.width
        taps = ((r, s) for r in range(3) for s in range(3))
        parts = [padded[:, r : r + size, s : s + size] @ self.w[:, r, s].T for r, s in taps]
        total: Array = np.sum(parts, axis=0)
        return total

    def loops(self, *, taps_inside: bool) -> Iterator[tuple[int, int, int]]:
        """(s, k, c) in the order of Algorithm 2, or of Algorithm 3, where s is the innermost."""
        ks, cs = range(0, 2 * self.filters, self.filters), range(0, CHANNELS, MMA_K)
        if taps_inside:
            yield from ((s, k, c) for k in ks for c in cs for s in range(3))
        else:
            yield from ((s, k, c) for s in range(3) for k in ks for c in cs)

    def run(self, write: Lanes, *, taps_inside: bool = True, masked: bool = False) -> Array:
        """The outputs, where ``write`` brings the activations; ``masked``: an output whose tap is padding is kept."""
        found = np.zeros((self.images, self.width, self.width, 2 * self.filters), np.int64)
        held = np.zeros((self.lanes, MMA_K), np.int64)
        for p, nq, r in np.ndindex(self.width, -(-self.images * self.width // self.lanes), 3):
            for s, k, c in self.loops(taps_inside=taps_inside):
                write(held, p, nq * self.lanes, r, s, c)
                product = held @ self.w[k : k + self.filters, r, s, c : c + MMA_K].T
                for m in range(self.lanes):
                    n, q = divmod(nq * self.lanes + m, self.width)
                    if n < self.images and not (masked and not 0 <= q - PAD + s < self.width):
                        found[n, p, q, k : k + self.filters] += product[m]
        return found

    def wrong(self, found: Array) -> str:
        """How many outputs differ from the definition, and the first of them."""
        wanted = self.direct()
        differ = np.argwhere(found != wanted)
        count = f"{len(differ)} of {wanted.size}"
        if not len(differ):
            return count
        n, p, q, k = (int(one) for one in differ[0])
        return f"{count}, first ({n},{p},{q},{k}) {found[n, p, q, k]} for {wanted[n, p, q, k]}"

    def padded(self, held: Array, p: int, nq: int, r: int, s: int, c: int, bound: int) -> None:
        """The loads of Algorithms 2 and 3: each lane by its own n, h and w."""
        for m in range(bound):
            n, q = divmod(nq + m, self.width)
            held[m] = self.at(n, p - PAD + r, q - PAD + s, c)

    def packed(self, held: Array, p: int, nq: int, r: int, s: int, c: int, bound: int) -> None:
        """The load of figure 7: places one after the other."""
        for m in range(bound):
            held[m] = self.place(nq + m - PAD + s, p - PAD + r, c)


def algorithm_2(one: Printed, bound: int) -> str:
    """Every tap loaded; the loop over lanes runs to ``bound``."""
    return one.wrong(one.run(lambda held, *at: one.padded(held, *at, bound), taps_inside=False))


def algorithm_3(one: Printed, *, at_once: bool = True, down: bool = False, packed: bool = False) -> str:
    """The first tap loaded, then row n of row n - 1 and a new row 0; or what is put right.

    ``at_once``: all rows move together, and not one after the other as in the printed loop. ``down``: row n takes row
    n + 1, and the last is new. ``packed``: images lie one behind the other without padding, with the mask of 3.b.
    """

    def write(held: Array, p: int, nq: int, r: int, s: int, c: int) -> None:
        load = one.packed if packed else one.padded
        if s == 0:
            load(held, p, nq, r, s, c, one.lanes)
            return
        before = held.copy()
        load(held, p, nq, r, s, c, one.lanes)
        last, new = (one.lanes - 1, held.copy()) if down else (0, held.copy())
        for m in range(one.lanes - 1) if down else range(1, one.lanes):
            held[m] = before[m + 1] if down else before[m - 1] if at_once else before[0]
        held[last] = new[last]

    return one.wrong(one.run(write, masked=packed))


def algorithm_3b(one: Printed, *, down: bool = False, start: int = -1) -> str:
    """As Algorithm 3 with a load of packed rows and the mask; the load of a tile that begins an image begins at column
    W + ``start`` of the image before: W - w for w = -1 as printed, which is W + 1, or W + w.
    """

    def write(held: Array, p: int, nq: int, r: int, s: int, c: int) -> None:
        h, (n, q) = p - PAD + r, divmod(nq, one.width)
        if s == 0:
            first = (n - 1) * one.width + one.width + start if q < PAD and n > 0 else nq - PAD
            held[:] = [one.place(first + m, h, c) for m in range(one.lanes)]
        elif down:
            held[:-1] = held[1:].copy()
            held[-1] = one.place(nq + one.lanes - 1 - PAD + s, h, c)
        else:
            held[1:] = held[:-1].copy()
            held[0] = one.at(n, h, q - PAD + s, c)

    return one.wrong(one.run(write, masked=True))


def printed_algorithm_2() -> str:
    """4 images of 9x9, 32 filters: 16 filters (MMA_M) by 32 outputs (MMA_N) an instruction; the first wrong output."""
    one = Printed(images=4, width=9, lanes=32, filters=16)
    return f"outputs wrong: up to MMA_M {algorithm_2(one, 16)}; up to MMA_N {algorithm_2(one, 32)}"


def printed_algorithm_3() -> str:
    """4 images of 9x9, 16 filters, 8 by 16 outputs an instruction: as printed, then one line after the other right."""
    one = Printed(images=4, width=9, lanes=16, filters=8)
    told = {
        "as printed": algorithm_3(one, at_once=False),
        "all rows at once": algorithm_3(one),
        "the other way": algorithm_3(one, down=True),
        "and packed, masked": algorithm_3(one, down=True, packed=True),
    }
    return "outputs wrong: " + "; ".join(f"{name} {found}" for name, found in told.items())


def printed_algorithm_3b() -> str:
    """8 images of 16x16, 8 filters, 4 by 64 outputs an instruction: a tile begins with an image."""
    one = Printed(images=8, width=16, lanes=64, filters=4)
    told = {
        "as printed": algorithm_3b(one, start=1),
        "the other way": algorithm_3b(one, down=True, start=1),
        "and from W + w": algorithm_3b(one, down=True, start=-1),
    }
    return "outputs wrong: " + "; ".join(f"{name} {found}" for name, found in told.items())
