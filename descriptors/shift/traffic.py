"""What shifting saves: rows of activations copied from shared to tensor memory, with it and without.

A tile of 128 lanes takes 128 rows for the first tap of a filter row and 4 for each tap after it, one a quarter, instead
of 128 for each; a row is 32 bytes, one K step.

Law: a filter of one tap saves nothing, one of many 31 parts of 32.

>>> table((1,))[0].saved, all(1 - one.rows / one.plain < 31 / 32 for one in table(range(1, 999)))
(0.0, True)
"""

from __future__ import annotations

from collections.abc import Iterable

from descriptors.frozen import frozen
from descriptors.tmem.geometry import LANES, QUARTER

#: Bytes of a row of one K step: 8 columns.
ROW_BYTES = 32
#: Numbers of taps that a table shows beside those of a filter.
TAPS = (1, 3, 5, 7, 9, 11)


@frozen
class Traffic:
    """Rows for a filter row of so many taps, one tile and one K step.

    Args:
        taps: S.
        rows: loaded and refreshed.
        plain: loaded without shifts.
    """

    taps: int
    rows: int
    plain: int

    @property
    def saved(self) -> float:
        """The share that is saved, 0 to 1."""
        return 1 - self.rows / self.plain


def table(taps: Iterable[int] = TAPS) -> tuple[Traffic, ...]:
    """The rows for filters of some widths.

    >>> [(one.rows, one.plain) for one in table((3, 5))]
    [(136, 384), (144, 640)]
    """
    return tuple(Traffic(s, LANES + LANES // QUARTER * (s - 1), LANES * s) for s in taps)
