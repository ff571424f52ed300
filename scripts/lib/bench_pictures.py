"""Pictures in scripts/bench.py: time and bytes of an SVG, and of tensor-layouts with matplotlib where both exist."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

#: Tiles by name: shape and stride under S<3,3,3>, and whether the peer, which may take minutes, draws it too.
TILES: dict[str, tuple[Any, Any, bool]] = {
    "8 x 64, numbered": ((8, 64), (64, 1), True),
    "32 x 32, numbered": ((32, 32), (32, 1), True),
    "128 x 128": (((8, 16), (64, 2)), ((64, 512), (1, 8192)), False),
    "512 x 512": (((8, 64), (64, 8)), ((64, 512), (1, 32768)), False),
}


def measure_pictures(repeats: int) -> list[dict[str, Any]]:
    """Seconds, by the median, and bytes of a picture of each tile coloured by bank."""
    from layoutalg import ComposedLayout, Layout, Swizzle, draw

    rows = []
    for name, (shape, stride, both) in TILES.items():
        tile = ComposedLayout(Swizzle(3, 3, 3), 0, Layout(shape, stride))
        row: dict[str, Any] = {"picture": name, **_timed(lambda: draw(tile, "bank", element_bytes=2).svg(), repeats)}  # noqa: B023
        theirs = _peer(shape, stride) if both else None
        row["tensor-layouts"] = _timed(theirs, 1) if theirs else None
        rows.append(row)
    return [*rows, *_of_descriptors(repeats)]


def _of_descriptors(repeats: int) -> Iterator[dict[str, Any]]:
    """The four levels and the banks of the tile of the articles, and the largest tile piece by piece."""
    from descriptors import derive, picture

    tile = derive((128, 128), "bf16", "K", "128B", (64, 16), verify=False)
    large = derive((512, 512), "bf16", "K", "128B", (64, 16), capacity=None, verify=False)
    drawings = {
        "four levels of 128 x 128": lambda: picture(tile, "levels").svg(),
        "banks of 128 x 128": lambda: picture(tile, "banks").svg(),
        "512 x 512 in pieces of 16 bytes, by banks": lambda: picture(large, "tile", colour="bank").svg(),
    }
    for name, draw in drawings.items():
        yield {"picture": name, **_timed(draw, repeats), "tensor-layouts": None}


def _timed(draw: Callable[[], str], repeats: int) -> dict[str, Any]:
    samples, text = [], ""
    for _ in range(repeats):
        started = time.perf_counter()
        text = draw()
        samples.append(time.perf_counter() - started)
    return {"seconds": statistics.median(samples), "bytes": len(text.encode())}


def _peer(shape: Any, stride: Any) -> Callable[[], str] | None:
    """The same tile as tensor-layouts draws it; ``None`` where it or matplotlib is not installed."""
    try:
        import matplotlib
        import tensor_layouts as tl
        from tensor_layouts.viz import draw_layout
    except ImportError:
        return None
    matplotlib.use("Agg")
    tile = tl.ComposedLayout(tl.Swizzle(3, 3, 3), tl.Layout(shape, stride))

    def draw(layout: Any = tile) -> str:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "tile.svg"
            draw_layout(layout, filename=str(path), colorize=True)
            return path.read_text(encoding="utf-8")

    draw(tl.Layout((2, 2), (2, 1)))  # matplotlib reads its fonts for the first picture
    return draw


def report_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The measurements in lines."""
    for row in rows:
        theirs = row["tensor-layouts"]
        beside = ""
        if theirs:
            beside = (
                f"; tensor-layouts {1e3 * theirs['seconds']:.0f} ms ({theirs['seconds'] / row['seconds']:.0f}x), "
                f"{theirs['bytes'] / 1e3:.0f} KB ({theirs['bytes'] / row['bytes']:.0f}x)"
            )
        yield f"SVG of {row['picture']}: {1e3 * row['seconds']:.1f} ms, {row['bytes'] / 1e3:.1f} KB{beside}"
