"""Operations whose result is one text by definition: numbers, coordinates, and rearrangements of modes."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import judge as J
from support_oracle_laws import modes

from descriptors.oracle.reader import Affine, Basis, Composed, read, write, write_tuple


def _of_layout(rearrange: Callable[..., tuple[Any, Any]]) -> Callable[..., str]:
    """An operation on a layout from one on its shape and stride; a composed layout changes its rightmost layout."""

    def text(source: str, *arguments: Any) -> str:
        term = read(source)
        inner = term.inner if isinstance(term, Composed) else term
        changed = Affine(*rearrange(inner.shape, inner.stride, *arguments))
        return write(Composed(term.outer, term.offset, changed) if isinstance(term, Composed) else changed)

    return text


def _shape(x: Any, mode: Any = ()) -> Any:
    shape = read(x).shape if isinstance(x, str) else x
    for step in [mode] if isinstance(mode, int) else mode:
        shape = modes(shape)[step]
    return shape


def _get(shape: Any, stride: Any, mode: Any) -> tuple[Any, Any]:
    for step in [mode] if isinstance(mode, int) else mode:
        shape, stride = modes(shape)[step], modes(stride)[step]
    return shape, stride


def _select(shape: Any, stride: Any, chosen: Any) -> tuple[Any, Any]:
    return tuple(modes(shape)[k] for k in chosen), tuple(modes(stride)[k] for k in chosen)


def _flatten(shape: Any, stride: Any) -> tuple[Any, Any]:
    if not isinstance(shape, tuple):
        return shape, stride
    return tuple(J.leaves(shape)), tuple(J.leaves(stride))


def _extended(front: bool) -> Callable[..., tuple[Any, Any]]:
    def extended(shape: Any, stride: Any, element: str, up_to_rank: int | None = None) -> tuple[Any, Any]:
        more = read(element)
        assert isinstance(more, Affine)
        missing = 1 if up_to_rank is None else max(0, up_to_rank - len(modes(shape)))
        if not missing:
            return shape, stride
        shapes, strides = (more.shape,) * missing, (more.stride,) * missing
        if front:
            return (*shapes, *modes(shape)), (*strides, *modes(stride))
        return (*modes(shape), *shapes), (*modes(stride), *strides)

    return extended


def _group(shape: Any, stride: Any, begin: int, end: int = -1) -> tuple[Any, Any]:
    if not isinstance(shape, tuple):
        return (shape,), (stride,)  # a leaf is the tuple of itself

    def grouped(items: tuple[Any, ...]) -> tuple[Any, ...]:
        last = len(items) if end == -1 else end
        return (*items[:begin], items[begin:last], *items[last:])

    return grouped(modes(shape)), grouped(modes(stride))


def _cosize(x: str, mode: Any = ()) -> str:
    """The reach of a layout; of a composed layout, one more than its largest offset."""
    term = read(x)
    inner = term.inner if isinstance(term, Composed) else term
    part = Affine(*_get(inner.shape, inner.stride, mode))
    if isinstance(term, Composed):
        return str(1 + max(J.values(Composed(term.outer, term.offset, part))))
    return str(1 + sum((extent - 1) * abs(step) for extent, step in J.pairs(part)))


def _depth(shape: Any) -> int:
    return 1 + max(map(_depth, shape), default=0) if isinstance(shape, tuple) else 0


def _congruent(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_congruent, a, b))
    return not isinstance(a, tuple) and not isinstance(b, tuple)


def _weakly_congruent(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_weakly_congruent, a, b))
    return not isinstance(a, tuple)


def _coordinate(point: Any, like: Any, path: tuple[int, ...] = ()) -> Any:
    """A point of a basis layout as a coordinate of the nesting of its codomain."""
    if isinstance(like, tuple):
        return tuple(_coordinate(point, item, (*path, k)) for k, item in enumerate(like))
    return dict(point or ()).get(path, 0)


def _call(source: str, coordinate: Any) -> str:
    term = read(source)
    if isinstance(coordinate, tuple):
        coordinate = J.rank_of(coordinate, term.shape)
    value = J.at(term, coordinate)
    basis = isinstance(term, Affine) and any(isinstance(step, Basis) for step in J.leaves(term.stride))
    return write_tuple(_coordinate(value, term.shape)) if basis else str(value)


def _idx2crd(index: Any, shape: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(map(_idx2crd, index, shape))
    if not isinstance(shape, tuple):
        return index
    digits = J.digits(index, [J.count(mode) for mode in shape])
    return tuple(map(_idx2crd, digits, shape))


def _leading(shape: Any, stride: Any) -> Any:
    """Path of the first leaf of stride 1 and an extent other than 1; an integer at the top, else a tuple."""

    def search(extents: Any, steps: Any, path: tuple[int, ...]) -> tuple[int, ...] | None:
        if isinstance(extents, tuple):
            found = (search(e, s, (*path, k)) for k, (e, s) in enumerate(zip(extents, steps, strict=True)))
            return next((hit for hit in found if hit is not None), None)
        return (path or (0,)) if steps == 1 and extents != 1 else None

    path = search(shape, stride, ())
    return path[0] if path is not None and len(path) == 1 else path


def _compact(shape: Any, at: int = 1) -> Any:
    if not isinstance(shape, tuple):
        return at
    strides = []
    for mode in shape:
        strides.append(_compact(mode, at))
        at *= J.count(mode)
    return tuple(strides)


def _identity(shape: Any, path: tuple[int, ...] = ()) -> Any:
    if isinstance(shape, tuple):
        return tuple(_identity(mode, (*path, k)) for k, mode in enumerate(shape))
    return Basis(1, path) if path else 1


def _concatenate(*layouts: str) -> str:
    terms: list[Any] = [read(layout) for layout in layouts]
    return write(Affine(tuple(term.shape for term in terms), tuple(term.stride for term in terms)))


#: The text each of these operations must give, strides of extent-1 modes aside.
TEXTS: dict[str, Callable[..., str]] = {
    "text": lambda source: source,
    "call": _call,
    "crd2idx": lambda coordinate, source: _call(source, coordinate),
    "idx2crd": lambda index, shape: write_tuple(_idx2crd(index, shape)),
    "size": lambda x, mode=(): str(J.count(_shape(x, mode))),
    "rank": lambda x, mode=(): str(len(modes(_shape(x, mode)))),
    "depth": lambda x, mode=(): str(_depth(_shape(x, mode))),
    "product": lambda x: str(prod(J.leaves(x))),
    "cosize": _cosize,
    "leading_dim": lambda shape, stride: write_tuple(_leading(shape, stride)),
    "is_congruent": lambda a, b: str(_congruent(_shape(a), _shape(b))),
    "is_weakly_congruent": lambda a, b: str(_weakly_congruent(_shape(a), _shape(b))),
    "get": _of_layout(_get),
    "select": _of_layout(_select),
    "flatten": _of_layout(_flatten),
    "append": _of_layout(_extended(front=False)),
    "prepend": _of_layout(_extended(front=True)),
    "group_modes": _of_layout(_group),
    "make_layout": lambda shape, stride=None: write(Affine(shape, _compact(shape) if stride is None else stride)),
    "concatenate": _concatenate,
    "make_identity_layout": lambda shape: write(Affine(shape, _identity(shape))),
    "make_composed_layout": lambda outer, offset, inner: f"{outer} o {offset} o {inner}",
    "E": lambda mode: write_tuple(Basis(1, (mode,) if isinstance(mode, int) else mode)),
}
