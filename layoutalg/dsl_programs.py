"""Names of the CuTe DSL, ``jit`` and ``make_swizzle``, with which a DSL program runs after a change of its import.

The DSL computes layouts while it traces a function, so its functions need a decorator. Here a layout is a value, and
the function runs as plain Python.

Invariant: a decorated function returns the same values as the function without the decorator.

>>> import layoutalg as cute
>>> @cute.jit
... def tile():
...     atom = cute.make_composed_layout(cute.make_swizzle(3, 4, 3), 0, cute.make_layout((8, 64), stride=(64, 1)))
...     return cute.tile_to_shape(atom, (128, 128), (0, 1))
>>> print(tile())
S<3,4,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from layoutalg.errors import LayoutError, brief
from layoutalg.layouts.swizzle import Swizzle

Function = TypeVar("Function", bound=Callable[..., object])


def jit(function: Function) -> Function:
    """Return the function itself: what the CuTe DSL must trace runs here as plain Python.

    Raises:
        LayoutError: if the operand is not callable. The options of the DSL's decorator are not supported.

    Source: CuTe DSL 4.8.1, ``cutlass.cute.jit``.

    >>> jit(len)("four")
    4
    """
    if not callable(function):
        raise LayoutError(f"jit: {brief(function)} is not a function")
    return function


def make_swizzle(b: int, m: int, s: int) -> Swizzle:
    """Return the swizzle ``S<b,m,s>``, as the function of this name in the CuTe DSL does.

    Args:
        b: number of bits of the field that changes.
        m: number of low bits left alone.
        s: distance from the field that changes up to the field that it is xored with; negative if that one is below.

    Raises:
        LayoutError: if the numbers do not describe a swizzle; see :class:`Swizzle`.

    Source: CuTe DSL 4.8.1, ``cutlass.cute.make_swizzle``.

    >>> print(make_swizzle(3, 4, 3))
    S<3,4,3>
    """
    return Swizzle(b, m, s)
