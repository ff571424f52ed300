"""The worker's half of `layoutalg.oracle.tensors`: tensors made while tracing, and their texts."""

from __future__ import annotations

from typing import Any

from layoutalg.oracle.dsl.algebra import Work, build, traced
from layoutalg.oracle.service import read

__all__ = ["prepare"]


def prepare() -> Work:
    """Import the DSL and return the function that answers a batch of tensors."""
    from cutlass import cute

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        return _coordinates(cute, question) if "start" in question else _tensor(cute, question)

    return traced(cute, answer)


def _tensor(cute: Any, question: dict[str, Any]) -> dict[str, Any]:
    import cutlass

    dtype = getattr(cutlass, question["type"])
    aligned = {} if question["align"] is None else {"assumed_align": question["align"]}
    pointer = cute.make_ptr(dtype, cutlass.Int64(0), cute.AddressSpace[question["space"]], **aligned)
    if question["swizzle"] is not None:
        pointer = cute.recast_ptr(pointer, cute.make_swizzle(*question["swizzle"]), dtype=dtype)
    tensor = cute.make_tensor(pointer, build(cute, read(question["layout"])))
    return {"bits": dtype.width, "pointers": _both(pointer), **_texts(tensor)}


def _coordinates(cute: Any, question: dict[str, Any]) -> dict[str, Any]:
    whole = cute.make_identity_tensor(tuple(question["shape"]))
    return {"bits": 0, "pointers": [], **_texts(cute.domain_offset(tuple(question["start"]), whole))}


def _texts(tensor: Any) -> dict[str, list[str]]:
    return {"tensors": _both(tensor), "layouts": _both(tensor.layout)}


def _both(value: Any) -> list[str]:
    """A value as the DSL prints it, and its type."""
    return [str(value), str(value.type)]
