"""How far the start address of a tile's subtiles moves.

Law: the two verdicts say what the numbers beside them say.

>>> from descriptors import derive
>>> tiles = [derive((128, 64 * n), "bf16", "K", "128B", (64, 16), capacity=None, verify=False) for n in (4, 15, 17)]
>>> told = [record(d.advance_report()) for d in tiles]
>>> all(one["fits_field"] == (one["highest_start"] < 1 << 18) for one in told)
True
>>> all(one["fits_memory"] == (one["end"] <= 227 * 1024) for one in told), {one["fits_memory"] for one in told}
(True, {False, True})
"""

from __future__ import annotations

from typing import Any

from descriptors.frozen import contents
from descriptors.smem.derivation.advance import AdvanceReport


def tell(report: AdvanceReport) -> str:
    """Where the subtiles start and end for a person, in one line."""
    return str(report)


def record(report: AdvanceReport) -> dict[str, Any]:
    """The same as plain data, with both verdicts.

    >>> from descriptors import derive
    >>> record(derive((128, 128), "bf16", "K", "128B", (64, 16)).advance_report())["fits_field"]
    True
    """
    return {**contents(report), "fits_field": report.fits_field, "fits_memory": report.fits_memory}
