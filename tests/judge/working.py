"""Seeded random calls in CuTe's working semantics: basis strides, broadcasts, overlaps and tiles that round up.

A call is an expression of the notation, so that the package, the laws and the CuTe DSL read the same text.
"""

from __future__ import annotations

from typing import Any

from corpus import Source

SIZES = (1, 1, 2, 3, 4, 6, 8)


def coordinates(source: Source, modes: int, axes: int = 2) -> str:
    """A layout whose strides are basis strides along a few modes of a coordinate, or 0."""
    shape = [source.integer(1, 5) for _ in range(modes)]
    strides = []
    for _ in range(modes):
        axis = source.integer(0, axes)
        path = f"{source.integer(0, 1)}@{axes}" if axis == axes else str(axis)
        strides.append("0" if source.integer(0, 5) == 0 else f"{source.pick(SIZES)}@{path}")
    return notation(shape, strides)


def numbers(source: Source, modes: int, strides: tuple[int, ...] = (0, 1, 1, 2, 3, 4, 6, 8, 12)) -> str:
    """A layout with integer strides that often repeats offsets."""
    shape = [source.integer(1, 5) for _ in range(modes)]
    return notation(shape, [source.pick(strides) for _ in range(modes)])


def notation(shape: list[int], strides: list[Any]) -> str:
    if len(shape) == 1:
        return f"{shape[0]}:{strides[0]}"
    return f"({','.join(map(str, shape))}):({','.join(map(str, strides))})"


def pair(source: Source, most: int) -> str:
    return f"({source.integer(1, most)},{source.integer(1, most)})"


def identity(source: Source) -> str:
    return f"{pair(source, 12)}:{source.pick(('(1@0,1@1)', '(1@1,1@0)'))}"


def tensor(source: Source) -> str:
    return f"{pair(source, 12)}:({source.pick((1, 3, 16))},{source.pick((1, 3, 16))})"


DIVIDES = ("logical_divide", "zipped_divide", "tiled_divide", "flat_divide")
PRODUCTS = ("logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product", "raked_product")


def call(source: Source) -> tuple[str, tuple[str, ...]]:
    """An operation, and its operands in notation; ``True`` as the last operand of a divide is its ``round_up``."""
    match source.integer(0, 9):
        case 0:
            return "left_inverse", (coordinates(source, source.integer(1, 4)),)
        case 1:
            return "right_inverse", (coordinates(source, source.integer(1, 4)),)
        case 2:
            cotarget = () if source.integer(0, 3) == 0 else (f"({pair(source, 12)[1:-1]},{pair(source, 3)})",)
            return "complement", (coordinates(source, source.integer(1, 3)), *cotarget)
        case 3 | 4:
            return "left_inverse", (numbers(source, source.integer(1, 4)),)
        case 5:
            return source.pick(DIVIDES), (identity(source), pair(source, 8), "True")
        case 6:
            tiler = source.pick((pair(source, 8), f"({numbers(source, 1, (1, 2, 3))},{source.integer(1, 8)})"))
            return source.pick(DIVIDES), (tensor(source), tiler, "True")
        case 7:
            order = source.pick(("(0,1)", "(1,0)"))
            return "tile_to_shape", (numbers(source, 2, (1, 2, 4, 8)), pair(source, 12), order, "True")
        case 8:
            target = source.pick((identity(source), tensor(source)))
            return "logical_divide", (target, coordinates(source, source.integer(1, 2), 1).replace("@1", "@0"), "True")
        case _:
            return source.pick(PRODUCTS), (coordinates(source, 2), f"{pair(source, 3)}:(1,{source.integer(1, 4)})")


def expression(operation: str, operands: tuple[str, ...]) -> str:
    """The call as an expression of ``layoutalg eval``."""
    *others, last = operands
    return f"{operation}({', '.join([*others, 'round_up=True' if last == 'True' else last])})"
