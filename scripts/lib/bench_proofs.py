"""The proofs of scripts/bench.py: the theorem beside the comparison of every element, and a row of the atlas."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any

from turns import Call, in_turns, seconds

#: Tiles that are proved both ways.
TILES = ((64, 64), (128, 128), (256, 256))


@contextmanager
def without_numpy() -> Iterator[None]:
    """As where numpy is not installed, in a browser, or not loaded: then elements are compared in plain Python."""
    kept: Any = sys.modules.get("numpy")
    sys.modules["numpy"] = None  # type: ignore[assignment]  # what an import takes for "there is none"
    try:
        yield
    finally:
        if kept is None:
            del sys.modules["numpy"]
        else:
            sys.modules["numpy"] = kept


def measure_proofs(repeats: int, every: int = 120) -> dict[str, Any]:
    """Both proofs of the same derivations, in turns; a row of the atlas; and proved tiles a second of one core.

    The theorem holds at every base; the comparison is made at one, and at each from which the tile fits the window.
    Of the lattice every so many kinds are proved.
    """
    from strict import Tally, kinds, prove_all

    from descriptors import derive, verify
    from descriptors.smem.derivation.basis import verdict
    from descriptors.smem.derivation.proved import proved
    from descriptors.smem.words.descriptor import WINDOW_BYTES
    from descriptors.sweep.atlas import row_of

    tiles = []
    for tile in TILES:
        d = derive(tile, "bf16", "K", "128B", (64, 16), capacity=None, verify=False)
        bases = tuple(range(0, WINDOW_BYTES - 2 * tile[0] * tile[1] + 1, d.swizzle.alignment_bytes))
        calls: dict[str, Call] = {
            "words": d.words,
            "theorem": partial(verdict, d),
            "with its claim": partial(proved, d),
            "comparison": partial(verify, d),
        }
        samples = [dict(zip(calls, row, strict=True)) for row in in_turns(list(calls.values()), repeats, 0.01)]
        row: dict[str, Any] = {name: statistics.median(one[name] for one in samples) for name in samples[0]}
        row["ratio"] = statistics.median(one["comparison"] / one["theorem"] for one in samples)
        beyond = [(one["comparison"] - one["words"]) / (one["theorem"] - one["words"]) for one in samples]
        everywhere = statistics.median(seconds(partial(verify, d, bases=bases), 1) for _ in range(repeats))
        row |= {"at every base": everywhere, "ratio of the claim": everywhere / row["with its claim"]}
        with without_numpy():
            row["plain"] = statistics.median(seconds(partial(verify, d), 1) for _ in range(repeats))
        tiles.append({"tile": tile, "bases": len(bases), **row, "ratio beyond the words": statistics.median(beyond)})
    point = {"tile": (128, 128), "dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}
    row_of(point, True)
    atlas_row = statistics.median(seconds(partial(row_of, point, True), 200) for _ in range(repeats))
    sampled, rates = list(islice(kinds(), 3, None, every)), []
    for _ in range(max(1, repeats // 3)):
        begun = time.process_time()
        total = sum(prove_all(sampled), Tally())
        spent = time.process_time() - begun
        rates.append((total.points / spent, total.proved / spent))
    return {
        "tiles": tiles,
        "atlas row": atlas_row,
        "points": total.points,
        "proved": total.proved,
        "points a second": statistics.median(rate[0] for rate in rates),
        "proved a second": statistics.median(rate[1] for rate in rates),
    }


def report_lines(measures: dict[str, Any]) -> Iterator[str]:
    """The lines of the report."""
    for row in measures["tiles"]:
        words, theorem, claim = (f"{1e6 * row[name]:.1f} us" for name in ("words", "theorem", "with its claim"))
        extents = " x ".join(map(str, row["tile"]))
        yield (
            f"proof of a {extents} tile: {theorem} by the theorem, {words} of it for the words; {claim} with its "
            f"family; {1e6 * row['comparison']:.0f} us element by element, {row['ratio']:.0f}x; "
            f"{row['ratio beyond the words']:.0f}x beyond the words; "
            f"{1e3 * row['plain']:.1f} ms without numpy, {row['plain'] / row['theorem']:.0f}x"
        )
        yield (
            f"  what that claims, element by element: at {row['bases']} bases {1e3 * row['at every base']:.1f} ms, "
            f"{row['ratio of the claim']:.0f}x the theorem with its family"
        )
    yield f"a row of the atlas, derived, proved and written down: {1e6 * measures['atlas row']:.0f} us"
    rates = f"{measures['points a second']:.0f} points a second, of them {measures['proved a second']:.0f} proved"
    yield f"strict lattice, one core: {rates} (the others have no descriptor)"
