"""Two names more that a program for the CuTe DSL is written with, so that it runs here with its import changed.

The DSL computes layouts while it traces a function, hence its decorator; here a layout is a value, and the function is
run as it stands. Law: a decorated function answers as the bare one does.

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
    """The function itself: what the CuTe DSL must trace to compute, runs as plain Python here.

    Raises:
        LayoutError: if it is given no function; the options of the DSL's decorator have no meaning here.

    Source: CuTe DSL 4.8.1, ``cutlass.cute.jit``.

    >>> jit(len)("four")
    4
    """
    if not callable(function):
        raise LayoutError(f"jit: the operand must be a function, found {brief(function)}")
    return function


def make_swizzle(b: int, m: int, s: int) -> Swizzle:
    """The swizzle ``S<b,m,s>``, under the name that the CuTe DSL has for it.

    Args:
        b: how many bits are changed.
        m: the lowest of them, in the unit of the offsets.
        s: how far above (below, if negative) the bits stand that they are changed by.

    Raises:
        LayoutError: if there is no such swizzle.

    Source: CuTe DSL 4.8.1, ``cutlass.cute.make_swizzle``.

    >>> print(make_swizzle(3, 4, 3))
    S<3,4,3>
    """
    return Swizzle(b, m, s)
