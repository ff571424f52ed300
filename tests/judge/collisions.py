"""Texts of a scene that touch one another or leave it, by the table of widths: what no picture may have."""

from __future__ import annotations

from collections.abc import Iterator

from layoutalg import Figure, Scene

#: How far letters rise above their baseline and reach below it, as a share of their size.
UP, DOWN = 0.74, 0.12

Placed = tuple[float, float, float, float, str]


def placed(scene: Scene) -> Iterator[Placed]:
    """Every text of a scene: left, top, right, bottom and the words; turned ones as they stand."""
    for shape in scene.shapes:
        if type(shape).__name__ != "Text":
            continue
        size, anchor = shape.size, {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.anchor]  # type: ignore[attr-defined]
        for x, y, word in shape.items:  # type: ignore[attr-defined]
            wide = Figure.width_of(word, size, mono=shape.mono, bold=shape.bold)  # type: ignore[attr-defined]
            if shape.turn % 180:  # type: ignore[attr-defined]
                yield x - UP * size, y - wide / 2, x + UP * size, y + wide / 2, word
            else:
                yield x - anchor * wide, y - UP * size, x + (1 - anchor) * wide, y + DOWN * size, word


def outside(scene: Scene) -> list[str]:
    """The words that leave the canvas."""
    return [w for a, b, c, d, w in placed(scene) if a < 0 or b < 0 or c > scene.width or d > scene.height]


def overlapping(scene: Scene) -> list[tuple[str, str]]:
    """Pairs of words that cover a place together."""
    texts = sorted(placed(scene))
    found = []
    for number, (_, top, right, bottom, word) in enumerate(texts):
        for left, above, _, below, other in texts[number + 1 :]:
            if left >= right:
                break
            if above < bottom and top < below:
                found.append((word, other))
    return found
