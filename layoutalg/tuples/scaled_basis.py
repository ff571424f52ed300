"""Basis strides, with which a layout maps to coordinates instead of offsets.

``E(0)`` and ``E(1)`` are the unit vectors of the first and the second mode, and ``E(1, 0)`` is that of mode 0 inside
mode 1. A layout with such strides maps a coordinate to a coordinate; the identity layout of (4,8) is
``(4,8):(1@0,1@1)``. With basis strides, the algebra operates on coordinates: the divided identity layout gives the
coordinate of each element of each tile.

Invariant: ``make_identity_layout(shape)(c) == c`` for every coordinate c of the shape.
Source: CUTLASS ``include/cute/numeric/arithmetic_tuple.hpp`` (ScaledBasis); the CuTe DSL's ``E`` and ``ScaledBasis``.

>>> from layoutalg import make_identity_layout
>>> identity = make_identity_layout((4, (2, 3)))
>>> all(identity(i, (j, k)) == (i, (j, k)) for i in range(4) for j in range(2) for k in range(3))
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from layoutalg.errors import LayoutError
from layoutalg.frozen import fix, frozen
from layoutalg.tuples.leaf import MAX_DEPTH, as_int, as_leaf
from layoutalg.tuples.polynomial import Integer

#: The most modes of a coordinate on one level. It bounds the memory that a coordinate takes.
MOST_MODES = 1 << 12


@frozen
class ScaledBasis:
    """A stride that is ``value`` times the unit vector of the mode at path ``mode``, outermost mode first.

    Args:
        value: number of steps along that mode.
        mode: path to the mode, an int or a sequence of ints; ``(1, 0)`` is mode 0 of mode 1.

    Raises:
        LayoutError: if the value or an entry of the path is not an integer, if an entry is negative or not below 4096,
            or if the path is empty or longer than 64.

    >>> 3 * ScaledBasis(1, (1, 0))
    ScaledBasis(3, (1, 0))
    >>> print(ScaledBasis(3, (1, 0)))
    3@0@1
    """

    value: Integer
    mode: tuple[int, ...]

    def __init__(self, value: Integer, mode: int | Iterable[int]) -> None:
        if isinstance(mode, int):
            path: tuple[Any, ...] = (mode,)
        else:
            try:
                path = tuple(mode)
            except TypeError:
                path = (mode,)
        path = tuple(as_int(part, "ScaledBasis: a mode") for part in path)
        if not 0 < len(path) <= MAX_DEPTH or min(path) < 0:
            raise LayoutError(
                f"ScaledBasis: {path} is not a path to a mode; a path has 1 to {MAX_DEPTH} non-negative integers"
            )
        if max(path) >= MOST_MODES:  # a coordinate has an entry for every mode before this one
            raise LayoutError(f"ScaledBasis: mode {max(path)} is not below {MOST_MODES}")
        fix(self, value=as_leaf(value, "ScaledBasis: the value"), mode=path)

    def __mul__(self, factor: Integer) -> ScaledBasis:
        return ScaledBasis(self.value * factor, self.mode)

    __rmul__ = __mul__

    def __neg__(self) -> ScaledBasis:
        return ScaledBasis(-self.value, self.mode)

    def __str__(self) -> str:
        # The DSL writes the innermost mode first: E([1, 0]) is 1@0@1.
        return f"{self.value}@" + "@".join(str(part) for part in reversed(self.mode))


def is_zero(stride: object) -> bool:
    """Check if a stride is 0, or 0 times a unit vector.

    >>> is_zero(0), is_zero(ScaledBasis(0, 1)), is_zero(ScaledBasis(1, 1))
    (True, True, False)
    """
    return stride == 0 if type(stride) is int else isinstance(stride, ScaledBasis) and stride.value == 0


def E(*mode: int | Iterable[int]) -> ScaledBasis:
    """Return the unit vector of a mode: ``E(i)``, or ``E(i, j)`` and ``E([i, j])`` for mode j inside mode i.

    Raises:
        LayoutError: if the path is empty or has a negative entry.

    Source: the CuTe DSL's ``E``.

    >>> print(E(1), E(1, 0), E([1, 0]))
    1@1 1@0@1 1@0@1
    """
    if len(mode) == 1:
        return ScaledBasis(1, mode[0])
    return ScaledBasis(1, mode)  # type: ignore[arg-type]  # the constructor checks every part


#: A path to a mode, outermost first, and the coefficient of its unit vector.
VectorTerm: TypeAlias = tuple[tuple[int, ...], Integer]


@frozen
class Vector:
    """A sum of scaled unit vectors, from which a layout with basis strides makes a coordinate.

    ``terms`` are sorted by path and contain no zeros, so that equal sums compare equal; the empty sum equals 0.

    >>> Vector([((1,), 2), ((0,), 3), ((1,), -2)])
    Vector((((0,), 3),))
    """

    terms: tuple[VectorTerm, ...]

    def __init__(self, terms: Iterable[VectorTerm] = ()) -> None:
        totals: dict[tuple[int, ...], Any] = {}
        for path, value in terms:
            totals[path] = totals.get(path, 0) + value
        fix(self, terms=tuple(sorted([term for term in totals.items() if term[1]], key=_path)))

    @staticmethod
    def of(stride: Integer | ScaledBasis) -> Vector:
        """Return the vector of one stride; the int 0 is the zero vector.

        Raises:
            LayoutError: for another integer.
        """
        if isinstance(stride, ScaledBasis):
            return _vector(((stride.mode, stride.value),) if stride.value else ())
        if stride == 0:
            return _vector(())
        raise LayoutError(f"basis strides: integer stride {stride} is used beside basis strides; only 0 is possible")

    def __add__(self, other: Vector | int) -> Vector:
        # The only other summand is the 0 that a sum starts with.
        return Vector(self.terms + other.terms) if isinstance(other, Vector) else self

    __radd__ = __add__

    def __mul__(self, factor: Integer) -> Vector:
        return _vector(tuple([(path, value * factor) for path, value in self.terms]) if factor else ())

    __rmul__ = __mul__

    def __sub__(self, other: Vector | int) -> Vector:
        return self + other * -1 if isinstance(other, Vector) else self

    def __neg__(self) -> Vector:
        return self * -1

    def __eq__(self, other: object) -> bool:
        return self.terms == other.terms if isinstance(other, Vector) else other == 0 and not self.terms

    def __hash__(self) -> int:
        return hash(self.terms) if self.terms else hash(0)

    def __bool__(self) -> bool:
        return bool(self.terms)

    def as_stride(self) -> int | ScaledBasis:
        """Return this vector as a stride.

        Raises:
            LayoutError: if it is a sum of two or more unit vectors, which CuTe's strides cannot represent.
        """
        if not self.terms:
            return 0
        if len(self.terms) > 1:
            raise LayoutError(f"basis strides: {self} is not a multiple of one unit vector, so it is not a stride")
        ((path, value),) = self.terms
        return ScaledBasis(value, path)

    def __str__(self) -> str:
        return " + ".join(str(ScaledBasis(value, path)) for path, value in self.terms) or "0"

    def as_coordinate(self, paths: Iterable[tuple[int, ...]]) -> Any:
        """Return the vector as a nested coordinate with an entry for every path in ``paths``.

        Raises:
            LayoutError: if one path is the beginning of another one.

        >>> Vector([((0,), 3), ((1, 1), 2)]).as_coordinate([(0,), (1, 1)])
        (3, (0, 2))
        """
        values = dict(self.terms)
        return at_paths({path: values.get(path, 0) for path in paths}, 0)


def _path(term: VectorTerm) -> tuple[int, ...]:
    return term[0]


def _vector(terms: tuple[VectorTerm, ...]) -> Vector:
    """Return the vector of terms that are known to be in order and without zeros."""
    vector = object.__new__(Vector)
    _set_terms(vector, terms)
    return vector


_set_terms = Vector.__dict__["terms"].__set__


def at_paths(values: Mapping[tuple[int, ...], Any], missing: Any) -> Any:
    """Return the nested tuple that has each value at its path, and ``missing`` at each mode before them without one.

    Raises:
        LayoutError: if one path is the beginning of another one.

    >>> at_paths({(0,): 3, (2, 1): 2}, 0)
    (3, 0, (0, 2))
    """
    root: dict[int, Any] = {}
    for path, value in values.items():
        node = root
        for part in path[:-1]:
            node = node.setdefault(part, {})
            if not isinstance(node, dict):
                raise LayoutError(f"basis strides: mode {path[:-1]} is used both as a leaf and as a tuple")
        if path[-1] in node:
            raise LayoutError(f"basis strides: mode {path} is used both as a leaf and as a tuple")
        node[path[-1]] = value
    return _tuple_of(root, missing)


def _tuple_of(node: Any, missing: Any) -> Any:
    if not isinstance(node, dict):
        return node
    return tuple([_tuple_of(node.get(position, missing), missing) for position in range(max(node, default=-1) + 1)])
