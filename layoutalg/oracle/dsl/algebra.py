"""Part of `layoutalg.oracle.expressions` that runs in the worker: converts plain data to DSL values and calls the DSL.

Many cases share one trace. An exception of one case does not affect the others, and the trace ends before the DSL
compiles it. Each operation calls the DSL's function of the same name. Exceptions are operations for which the DSL has a
method, another name (``upcast`` is ``recast_layout``) or only a function of tensors: ``local_tile`` and
``local_partition`` receive a tensor whose iterator is the integer 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from layoutalg.frozen import frozen
from layoutalg.oracle.service import Affine, Basis, Composed, Swizzling, read, write

__all__ = ["Work", "build", "operations", "prepare", "show", "traced"]

#: A function that answers a list of questions and reports a status and a value for each.
Work: TypeAlias = Callable[[list[Any], Callable[[str, object], None]], None]

# Functions of ``cutlass.cute`` that are called with unchanged arguments.
# fmt: off
_SAME = [
    "append", "blocked_product", "ceil_div", "composition", "crd2idx", "filter", "flat_divide",
    "flat_product", "flatten", "group_modes", "increment_coord", "is_congruent", "is_weakly_congruent",
    "leading_dim", "left_inverse", "logical_divide", "logical_product", "make_composed_layout", "make_identity_layout",
    "make_layout_like", "make_layout_tv", "make_ordered_layout", "max_common_layout", "max_common_vector", "nullspace",
    "prepend", "product", "product_each", "raked_product", "recast_layout", "right_inverse", "shape_div",
    "tiled_divide", "tiled_product", "zipped_divide", "zipped_product",
]
# fmt: on
_IDENTITY = re.compile(r"^S<0,-?\d+,-?\d+> o 0 o ")


class _TraceEnd(Exception):
    """The end of a trace in which all cases have been answered."""


@frozen
class _LayoutAndOffset:
    """A layout and a separate offset."""

    layout: Any
    offset: Any


def prepare() -> Work:
    """Import the DSL and return the function that answers a batch of ``(operation, arguments)``."""
    from cutlass import cute

    functions = operations(cute)

    def answer(question: Any) -> str:
        operation, arguments = question
        if operation not in functions:
            raise NotImplementedError(f"the DSL has no {operation}")
        return show(cute, functions[operation](*(_value(cute, argument) for argument in arguments)))

    return traced(cute, answer)


def traced(cute: Any, answer: Callable[[Any], object]) -> Work:
    """Return a function that answers a batch of questions in one trace, each with ``answer``."""

    def work(questions: list[Any], report: Callable[[str, object], None]) -> None:
        def trace() -> None:
            for question in questions:
                value: object
                try:
                    status, value = "ok", answer(question)
                except Exception as error:  # noqa: BLE001 - any exception is the DSL's way to reject a case
                    status, value = "rejected", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
                report(status, value)
            raise _TraceEnd

        cute.jit(trace)()

    return work


def _value(cute: Any, argument: Any) -> Any:
    """Convert plain data to a DSL value: texts become layouts, JSON lists become tuples."""
    if isinstance(argument, list):
        return tuple(_value(cute, item) for item in argument)
    return build(cute, read(argument)) if isinstance(argument, str) else argument


def build(cute: Any, term: object) -> Any:
    """Convert a parsed term to a DSL value."""
    match term:
        case Affine(shape, stride):
            return cute.make_layout(shape, stride=_strides(cute, stride))
        case Swizzling(bits, base, shift):
            return cute.make_swizzle(bits, base, shift)
        case Composed(outer, offset, inner):
            return cute.make_composed_layout(build(cute, outer), offset, build(cute, inner))
    raise TypeError(f"no value for {term}")


def _strides(cute: Any, stride: Any) -> Any:
    if isinstance(stride, tuple):
        return tuple(_strides(cute, item) for item in stride)
    return cute.ScaledBasis(stride.value, list(stride.mode)) if isinstance(stride, Basis) else stride


def show(cute: Any, value: Any) -> str:
    """Return the text of a result, with printing errors of the DSL such as ``S<2,4,-3`` corrected.

    A composed layout without concrete layouts, such as ``x:x o 0 o x:x``, has the text that the DSL prints.
    """
    if isinstance(value, _LayoutAndOffset):
        return f"{show(cute, value.layout)} + {show(cute, value.offset)}"
    if isinstance(value, cute.Tensor):
        return f"{show(cute, value.layout)} + {show(cute, value.iterator)}"
    if isinstance(value, tuple | list):
        return f"({','.join(show(cute, item) for item in value)})"
    text = str(value)
    if " o " in text and "x" not in text:
        text = _IDENTITY.sub("", write(read(text)))
    return text


def operations(cute: Any) -> dict[str, Callable[..., Any]]:
    """Return the DSL's functions for operations by name, with parameters in the order of `layoutalg`."""
    same = {name: getattr(cute, name) for name in _SAME}
    return same | _with_modes(cute) | _slices(cute) | _adapted(cute)


def _with_modes(cute: Any) -> dict[str, Callable[..., Any]]:
    """Return the operations whose mode is a list in the DSL."""

    def path(mode: Any) -> list[int]:
        return [mode] if isinstance(mode, int) else list(mode)

    def moded(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, mode=None: function(x) if mode is None else function(x, mode=path(mode))

    return {
        "size": moded(cute.size),
        "cosize": moded(cute.cosize),
        "rank": moded(cute.rank),
        "depth": lambda x, mode=None: cute.depth(x if mode is None else cute.get(x, mode=path(mode))),
        "get": lambda x, mode: x if mode is None else cute.get(x, mode=path(mode)),
        "select": lambda x, modes: cute.select(x, mode=path(modes)),
    }


def _slices(cute: Any) -> dict[str, Callable[..., Any]]:
    """Return slices and the operations that return a layout and an offset; two of them exist only for tensors."""

    def tensor(layout: Any) -> Any:
        return cute.make_tensor(0, layout)

    def slice_and_offset(coordinate: Any, source: Any) -> Any:
        return _LayoutAndOffset(*cute.slice_and_offset(coordinate, source))

    def partition(layout: Any, tiler: Any, index: int, proj: Any = 1) -> Any:
        from cutlass import Int32

        return cute.local_partition(tensor(layout), tiler, Int32(index), proj)

    return {
        "slice_": _layout_first(cute, cute.slice_),
        "dice": _layout_first(cute, cute.dice),
        "slice_and_offset": slice_and_offset,
        "local_tile": lambda layout, tiler, coordinate, proj=None: cute.local_tile(
            tensor(layout), tiler, coordinate, proj
        ),
        "local_partition": partition,
    }


def _layout_first(cute: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a layout and a coordinate that accepts them in either order, as `layoutalg` does."""

    def ordered(first: Any, second: Any) -> Any:
        return function(second, first) if is_layout(cute, second) else function(first, second)

    return ordered


def is_layout(cute: Any, value: Any) -> bool:
    """Return whether a value of the DSL is a layout, plain or composed."""
    return isinstance(value, (cute.Layout, cute.ComposedLayout))


def _arithmetic(name: str) -> Callable[..., Any]:
    """Return an operation on tuples that the DSL's dialect has, but no function of `cutlass.cute`."""

    def calculate(a: Any, b: Any) -> Any:
        from cutlass._mlir.dialects import cute as dialect
        from cutlass.cute.core import _pack_int_tuple, _unpack_x_tuple

        return _unpack_x_tuple(getattr(dialect, name)(_pack_int_tuple(a), _pack_int_tuple(b)))

    return calculate


def _adapted(cute: Any) -> dict[str, Callable[..., Any]]:
    """Return the operations that have another name, keyword parameters or a method in the DSL."""

    def coalesce(layout: Any, target_profile: Any = None) -> Any:
        return cute.coalesce(layout) if target_profile is None else cute.coalesce(layout, target_profile=target_profile)

    def filter_zeros(layout: Any, target_profile: Any = None) -> Any:
        profile = {} if target_profile is None else {"target_profile": target_profile}
        return cute.filter_zeros(layout, **profile)

    def tile_to_shape(atom: Any, shape: Any, order: Any = None) -> Any:
        if order is None:  # the DSL has no default; that of CuTe C++ is the first mode fastest
            order = tuple(range(len(shape))) if isinstance(shape, tuple) else 0
        return cute.tile_to_shape(atom, shape, order)

    return {
        "coalesce": coalesce,
        "filter_zeros": filter_zeros,
        "tile_to_shape": tile_to_shape,
        "idx2crd": lambda index, shape: cute.idx2crd(index, shape.shape if is_layout(cute, shape) else shape),
        "complement": lambda layout, cotarget=1: cute.complement(layout, cotarget),
        "tuple_add": _arithmetic("tuple_add"),
        "tuple_sub": _arithmetic("tuple_sub"),
        "with_shape": lambda layout, shape: cute.composition(layout, cute.make_layout(shape)),
        "make_layout": lambda shape, stride=None: cute.make_layout(shape, stride=stride),
        "concatenate": lambda *layouts: cute.make_layout(layouts),
        "call": lambda layout, coordinate: layout(coordinate),
        "text": lambda value: value,
        "upcast": lambda layout, factor: cute.recast_layout(factor, 1, layout),
        "downcast": lambda layout, factor: cute.recast_layout(1, factor, layout),
        "E": lambda mode: cute.E(list(mode) if isinstance(mode, tuple) else mode),
    }
