"""Where the subtiles of a tile lie, and where K goes on in those that cross atoms, relative to the first, in bytes.

Law: a table and its cells say the same, and a chosen stage is its part of the table.

>>> from descriptors import derive
>>> d = derive((128, 64, 3), "bf16", "K", "128B", (64, 16))
>>> whole, last = d.offsets_bytes(), d.offsets_bytes(stage=2)
>>> all(whole[1][k][2] == last[1][k] == d.offset_of(1, k, 2) for k in range(4))
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from descriptors.derivation.parts.crossing import Crossing
from descriptors.derivation.parts.table import MOST_SUBTILES, Grid, Offsets, offsets_of, stage_bytes, sums
from descriptors.errors import DescriptorError, as_integer
from descriptors.text import Told
from layoutalg import ComposedLayout, Layout, size


class PlacedSubtiles(Told):
    """A derivation as far as places go: of step 5, and of operands that cross atoms, every cell and whole tables."""

    __slots__ = ()
    advance: Layout | ComposedLayout
    crossing: Crossing | None

    @property
    def headline(self) -> str:
        """The answer in one line."""
        raise NotImplementedError

    def offsets_bytes(self, stage: int | Sequence[int] | None = None) -> Grid:
        """Start address of every subtile relative to the first, in bytes: ``grid[mn][k]``.

        Of a tile with stages, ``grid[mn][k]`` is a tuple over the stages unless one is chosen; the type cannot say so.

        Args:
            stage: the stage whose subtiles are wanted: its number, or its coordinate where stages have several modes.

        Raises:
            DescriptorError: if there are more subtiles than any shared memory holds, or no such stage.

        >>> from descriptors import derive
        >>> derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16)).offsets_bytes()[1]
        (8192, 8224, 8256, 8288, 24576, 24608, 24640, 24672)
        >>> staged = derive(tile=(128, 64, 3), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
        >>> staged.offsets_bytes()[0][1], staged.offsets_bytes(stage=2)[0][1]
        ((32, 16416, 32800), 32800)
        """
        steps, start = self._steps(stage)
        return cast(Grid, sums([[16 * step for step in mode.listed] for mode in steps], 16 * start))

    def lines_bytes(self, stage: int | Sequence[int] | None = None) -> Grid:
        """Where K goes on, of operands that cross atoms: the line of every subtile relative to that of the first.

        In bytes, in the shape of ``offsets_bytes``: the line of 128 bytes in which the operand's last 16 bytes of K
        lie in its first row, which is its own line where K does not go on in another. The words hold it as an absolute
        address.

        Args:
            stage: as in ``offsets_bytes``.

        Raises:
            DescriptorError: if no operand of the tile crosses atoms, or as ``offsets_bytes``.

        >>> from descriptors import derive
        >>> d = derive((128, 768), "e2m1", "K", "128B", (128, 96), kind="mxf4", cta_group=2)
        >>> d.offsets_bytes()[0][:4], d.lines_bytes()[0][:4]
        ((0, 48, 96, 16400), (0, 0, 16384, 16384))
        """
        if self.crossing is None:
            raise DescriptorError(f"derive: only operands that cross atoms go on in other lines, found {self.headline}")
        steps, start = self._steps(stage)
        rows, lines, *stages = [[16 * step for step in mode.listed] for mode in steps]
        return cast(Grid, sums([rows, [self._line(k) for k in range(len(lines))], *stages], 16 * start))

    def offset_of(self, mn: int, k: int, stage: int | Sequence[int] = 0) -> int:
        """Start address of one subtile relative to the first, in bytes: one cell of ``offsets_bytes``.

        Args:
            mn, k, stage: as ``word`` has them.

        Raises:
            DescriptorError: if there is no such subtile.

        >>> from descriptors import derive
        >>> derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16)).offset_of(1, 4)
        24576
        """
        modes = self._modes
        at = [
            as_integer(one, f"derive: {name} of a subtile", maximum=size(mode) - 1)
            for one, name, mode in ((mn, "mn", modes[0]), (k, "k", modes[1]))
        ]
        start = stage_bytes(modes[2:], stage) if len(modes) > 2 or stage != 0 else 0
        return 16 * sum(mode(one) for mode, one in zip(modes[:2], at, strict=True)) + start

    def line_of(self, mn: int, k: int, stage: int | Sequence[int] = 0) -> int:
        """Where K goes on of one subtile: one cell of ``lines_bytes``, in bytes; 0 where no operand crosses atoms.

        Args:
            mn, k, stage: as ``word`` has them.

        Raises:
            DescriptorError: if there is no such subtile.

        >>> from descriptors import derive
        >>> derive((128, 768), "e2m1", "K", "128B", (128, 96), kind="mxf4", cta_group=2).line_of(0, 5)
        32768
        """
        start = self.offset_of(mn, k, stage)
        return 0 if self.crossing is None else start - self.offset_of(0, k) + self._line(k)

    @property
    def _modes(self) -> tuple[Layout | ComposedLayout, ...]:
        return tuple(self.advance)

    def _line(self, k: int) -> int:
        """Where operand k along K goes on, relative to the first."""
        return 0 if self.crossing is None else 16 * (self.crossing.goes_on(k) - self.crossing.goes_on(0))

    def _steps(self, stage: int | Sequence[int] | None) -> tuple[list[Offsets], int]:
        """The offsets of the subtiles along each mode, and what the stage adds that was chosen, in 16-byte units.

        A layout is the sum of its modes: each is walked once, not once for every step of those before it.
        """
        steps, many = list[Offsets](), 1
        if isinstance(self.advance, Layout):
            shape: Any = self.advance.shape
            stride: Any = self.advance.stride
            steps = list(map(offsets_of, shape, stride))
        elif size(self.advance) <= MOST_SUBTILES:
            steps = [Offsets(one, min(one), max(one)) for one in map(_values, self._modes)]
        for mode in steps:
            many *= len(mode.listed)
        if not steps or not 0 < many <= MOST_SUBTILES:
            raise DescriptorError(f"derive: a table must list at most {MOST_SUBTILES} subtiles, found {self.advance}")
        if stage is None:
            return steps, 0
        return steps[:2], stage_bytes(self._modes[2:], stage) // 16


def _values(mode: Layout | ComposedLayout) -> tuple[int, ...]:
    return tuple([mode(i) for i in range(size(mode))])
