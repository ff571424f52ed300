"""The kinds of nested tuples, as types: what a shape, a stride and a coordinate may hold.

Each is a leaf or a tuple of its own kind, to any depth. Offsets and sizes are typed ``int``: with symbols they are
polynomials, which compute like one.

>>> from layoutalg import E, Layout
>>> shape, stride = (4, (2, 3)), (E(0), (E(1), 0))  # a Shape, a Stride
>>> print(Layout(shape, stride))
(4,(2,3)):(1@0,(1@1,0))
"""

from __future__ import annotations

from typing import TypeAlias

from layoutalg.tuples.basis import ScaledBasis
from layoutalg.tuples.polynomial import Integer, Polynomial

#: Extents: positive integers.
Shape: TypeAlias = int | Polynomial | tuple["Shape", ...]

#: Strides: integers of any sign, or basis strides.
Stride: TypeAlias = int | Polynomial | ScaledBasis | tuple["Stride", ...]

#: A place in a shape: an index, or a tuple with an index for each mode.
Index: TypeAlias = int | Polynomial | tuple["Index", ...]

#: A coordinate: an index, or ``None`` for a mode that is kept.
Coord: TypeAlias = int | Polynomial | tuple["Coord", ...] | None

#: A nested tuple of any of these numbers.
IntTuple: TypeAlias = int | Polynomial | ScaledBasis | tuple["IntTuple", ...]

__all__ = ["Coord", "Index", "IntTuple", "Integer", "Shape", "Stride"]
