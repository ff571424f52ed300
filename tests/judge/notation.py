"""Values in comparable form: CuTe notation, with the strides of extent-1 modes written 0, as they are never used."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from layoutalg.laws.points import Composite, point

IDENTITY = SimpleNamespace(bits=0, base=4, shift=3)


def plain_text(shape: Any, stride: Any) -> str:
    """Notation of a plain layout; a stride may be a point."""
    return f"{_shape_text(shape)}:{_stride_text(shape, stride)}"


def _shape_text(shape: Any) -> str:
    return "(" + ",".join(map(_shape_text, shape)) + ")" if isinstance(shape, tuple) else str(shape)


def _stride_text(shape: Any, stride: Any) -> str:
    if isinstance(shape, tuple):
        return "(" + ",".join(_stride_text(s, d) for s, d in zip(shape, stride, strict=True)) + ")"
    step = 0 if shape == 1 else stride if isinstance(stride, tuple) else point(stride)
    if isinstance(step, tuple):
        return _term_text(*step[0]) if step else "0"
    return str(step)


def _term_text(path: tuple[int, ...], coefficient: int) -> str:
    return "@".join([str(coefficient), *map(str, reversed(path))])


def normal(value: Any) -> str:
    """Notation of a layout, swizzle or composed layout."""
    if hasattr(value, "bits"):
        return f"S<{value.bits},{value.base},{value.shift}>"
    if hasattr(value, "inner"):
        outer = normal(value.outer)
        bracketed = f"({outer})" if hasattr(value.outer, "inner") else outer
        return f"{bracketed} o {spelt(value.offset)} o {normal(value.inner)}"
    return plain_text(value.shape, value.stride)


def spelt(value: Any) -> str:
    """Any answer as text: :func:`normal` for layouts, a basis stride as 2@1@0, and tuples of all that."""
    if hasattr(value, "shape") or hasattr(value, "bits"):
        return normal(value)
    if hasattr(value, "mode"):
        return _term_text(value.mode, value.value)
    return f"({','.join(map(spelt, value))})" if isinstance(value, tuple) else str(value)


def essential(value: Any) -> Any:
    """A value without what changes no offset: a swizzle of no bits goes, or is written S<0,4,3> where it must stay."""
    if isinstance(value, tuple):
        return tuple(map(essential, value))
    if hasattr(value, "bits"):
        return value if value.bits else IDENTITY
    if hasattr(value, "inner"):
        outer, rest = essential(value.outer), essential(value.inner)
        return rest if outer is IDENTITY and value.offset == 0 else Composite(outer, value.offset, rest)
    return value
