"""The proofs of scripts/bench.py: the theorem beside the comparison of every element, and a row of the atlas."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

#: Tiles that are proved both ways.
TILES = ((64, 64), (128, 128), (256, 256))


def seconds(function: Callable[[], Any], repeats: int, rounds: int) -> float:
    """Seconds of processor for one call: the median over the repeats."""
    function()
    samples = []
    gc.collect()
    for _ in range(repeats):
        begun = time.process_time()
        for _ in range(rounds):
            function()
        samples.append((time.process_time() - begun) / rounds)
    return statistics.median(samples)


def measure_proofs(repeats: int) -> dict[str, Any]:
    """Both proofs of the same derivations, in turns; a row of the atlas; and proved tiles a second of one core."""
    from descriptors import derive, verify
    from descriptors.derivation.basis import verdict
    from descriptors.derivation.proved import proved
    from descriptors.sweeps.atlas import row_of
    from descriptors.sweeps.strict import Tally, kinds, prove_all

    tiles = []
    for tile in TILES:
        d = derive(tile, "bf16", "K", "128B", (64, 16), verify=False)
        tiles.append(
            {
                "tile": tile,
                "theorem": seconds(lambda d=d: verdict(d), repeats, 2000),  # type: ignore[misc]
                "with its claim": seconds(lambda d=d: proved(d), repeats, 1000),  # type: ignore[misc]
                "comparison": seconds(lambda d=d: verify(d), repeats, 50),  # type: ignore[misc]
            }
        )
    point = {"tile": (128, 128), "dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}
    row = seconds(lambda: row_of(point, True), repeats, 200)
    chosen = list(islice(kinds(), 3, None, 120))
    begun = time.process_time()
    total = sum(prove_all(chosen), Tally())
    spent = time.process_time() - begun
    return {
        "tiles": tiles,
        "atlas row": row,
        "points": total.points,
        "proved": total.proved,
        "points a second": total.points / spent,
        "proved a second": total.proved / spent,
    }


def told(found: dict[str, Any]) -> Iterator[str]:
    """The lines of the report."""
    for row in found["tiles"]:
        ratio = row["comparison"] / row["theorem"]
        yield (
            f"proof of a {row['tile'][0]} x {row['tile'][1]} tile: {1e6 * row['theorem']:.1f} us by the theorem, "
            f"{1e6 * row['with its claim']:.1f} us with its family; {1e6 * row['comparison']:.0f} us element by "
            f"element, {ratio:.0f}x"
        )
    yield f"a row of the atlas, derived, proved and written down: {1e6 * found['atlas row']:.0f} us"
    rates = f"{found['points a second']:.0f} points a second, of them {found['proved a second']:.0f} proved"
    yield f"strict lattice, one core: {rates} (the others have no descriptor)"
