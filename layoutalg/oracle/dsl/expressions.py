"""Part of `layoutalg.oracle.expressions` that runs in the worker: evaluates a syntax tree with the DSL, inside out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layoutalg.oracle.dsl.algebra import Work, is_layout, operations, show, traced

__all__ = ["prepare"]


def prepare() -> Work:
    """Import the DSL and return the function that answers a batch of trees."""
    from cutlass import cute

    functions = operations(cute) | _constructors(cute) | _signs(cute)

    def value(tree: Any) -> Any:
        if isinstance(tree, list):
            return tuple(map(value, tree))
        if not isinstance(tree, dict):
            return tree
        ((name, parts),) = tree.items()
        if name not in functions:
            raise NotImplementedError(f"the DSL has no {name}")
        return functions[name](*map(value, parts))

    return traced(cute, lambda tree: show(cute, value(tree)))


def _constructors(cute: Any) -> dict[str, Callable[..., Any]]:
    """Return the constructors of layouts by their names in expressions."""

    def make_layout(*parts: Any) -> Any:
        first = parts[0] if parts else None
        if is_layout(cute, first):
            return cute.make_layout(parts)
        if isinstance(first, tuple) and first and all(is_layout(cute, part) for part in first):
            return cute.make_layout(first)
        shape, stride = (*parts, None)[:2]
        return cute.make_layout(shape, stride=stride)

    def basis(*mode: Any) -> Any:
        return cute.E(list(mode[0]) if len(mode) == 1 and isinstance(mode[0], tuple) else list(mode))

    return {
        "Layout": make_layout,
        "make_layout": make_layout,
        "ComposedLayout": cute.make_composed_layout,
        "Swizzle": cute.make_swizzle,
        "E": basis,
    }


def _signs(cute: Any) -> dict[str, Callable[..., Any]]:
    """Return the functions for the symbols of the notation."""

    def image(function: Any, *coordinate: Any) -> Any:
        argument: Any = coordinate[0] if len(coordinate) == 1 else coordinate
        if is_layout(cute, function):
            return function(argument)
        # A swizzle cannot be called in the DSL: compose it with the identity layout.
        return cute.crd2idx(argument, cute.make_composed_layout(function, 0, cute.make_layout(argument + 1)))

    def grouped(value: Any) -> Any:
        return (value,) if isinstance(value, (int, tuple, cute.ScaledBasis)) or value is None else value

    return {
        ":": lambda shape, stride: cute.make_layout(shape, stride=stride),
        "S<>": cute.make_swizzle,
        "o": cute.make_composed_layout,
        "@": lambda value, mode: cute.ScaledBasis(value, list(mode)),
        "()": image,
        "[]": lambda layout, index: cute.get(layout, mode=[index]),
        "( )": grouped,
    }
