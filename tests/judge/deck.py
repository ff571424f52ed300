"""A deck that draws the arguments of a case: layouts, tilers, shapes and paths of every awkward kind, as text."""

from __future__ import annotations

from typing import Any

import corpus
import judge as J

MOST = 96


class Deck:
    """Draws arguments; layouts come as text, which is all that the DSL's side and the judge get to see."""

    def __init__(self, source: corpus.Source) -> None:
        self.source = source

    def one_in(self, number: int) -> bool:
        return self.source.integer(1, number) == 1

    def layout(self, most: int = MOST, **options: Any) -> Any:
        return corpus.layout(self.source, most, **options)

    def any(self, most: int = MOST) -> Any:
        return corpus.any_layout(self.source, most)

    def tame(self, most: int = MOST) -> Any:
        """A layout of strides that form a chain of multiples, or a swizzled one: what real tiles look like."""
        if self.one_in(3):
            return corpus.composed(self.source, most, ("compact", "permuted"))
        return self.layout(most, kinds=("compact", "permuted", "gapped"))

    def shape(self, most: int = MOST) -> Any:
        return corpus.shape(self.source, most)

    def identity(self) -> tuple[Any, str]:
        """A shape and the layout that maps its coordinates to themselves."""
        shape = corpus.nested(self.source, corpus.extents(self.source, 48))
        return shape, f"{text_of(shape)}:{basis_of(shape)}" if isinstance(shape, tuple) else f"{shape}:1"

    def tiler(self, target: Any, keep: bool = False) -> Any:
        """A tiler of a layout: a layout on the whole, an integer, or a tuple by mode, nested where modes are."""
        size = J.count(target.shape)
        style = self.source.integer(0, 9)
        if style == 0:
            return str(corpus.indexer(self.source, size))
        if style <= 2:
            return str(_as_layout(corpus.tile_of(self.source, size)))
        tuple_ = corpus.tiler(self.source, target, keep)
        return tuple(self._item(item, mode) for item, mode in zip(tuple_, modes_of(target.shape), strict=False))

    def _item(self, item: Any, mode: Any) -> Any:
        if isinstance(mode, tuple) and mode and self.one_in(2):
            return tuple(self._item(corpus.tile_of(self.source, J.count(part)), part) for part in mode)
        return item if item is None or isinstance(item, int) else str(item)

    def by_mode(self, target: Any) -> tuple[Any, ...]:
        """Integers by mode that divide where they can, all modes named."""
        return tuple(self.source.pick(corpus.divisors(J.count(mode))) for mode in modes_of(target.shape))

    def path(self, shape: Any) -> Any:
        """A path to a mode of a shape, of one step or more."""
        path: list[int] = []
        while isinstance(shape, tuple) and shape and (not path or self.one_in(2)):
            path.append(self.source.integer(0, len(shape) - 1))
            shape = shape[path[-1]]
        return tuple(path) or (0,)


def modes_of(shape: Any) -> tuple[Any, ...]:
    return shape if isinstance(shape, tuple) else (shape,)


def _as_layout(tile: Any) -> Any:
    return f"{tile}:1" if isinstance(tile, int) else tile


def text_of(shape: Any) -> str:
    return f"({','.join(map(text_of, shape))})" if isinstance(shape, tuple) else str(shape)


def basis_of(shape: Any, path: tuple[int, ...] = ()) -> str:
    if isinstance(shape, tuple):
        return f"({','.join(basis_of(mode, (*path, k)) for k, mode in enumerate(shape))})"
    return "@".join(["1", *map(str, reversed(path))])
