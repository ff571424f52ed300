"""Tensors made by the CuTe DSL, and what it prints of them: the texts that `layoutalg.notation.printed` has to read.

The worker's half: tensors made while tracing, and their texts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from layoutalg.oracle.dsl.algebra import Work, build, traced
from layoutalg.oracle.service import Status, ask, read


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor in memory.

    Attributes:
        type: name of the element type in the module ``cutlass``.
        space: ``generic gmem smem rmem tmem dsmem cmem``.
        layout: in elements, in CuTe notation.
        swizzle: of the byte addresses: bits, base, shift; or None.
        align: of its address, in bytes; None says nothing about it.
    """

    type: str
    space: str
    layout: str
    swizzle: tuple[int, int, int] | None = None
    align: int | None = None


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The tensor whose elements are their own coordinates, from a start on.

    Attributes:
        shape: its extents.
        start: the coordinate of its first element.
    """

    shape: tuple[int, ...]
    start: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Prints:
    """What the DSL prints.

    Attributes:
        status: ``ok``; ``rejected``; ``crashed``; ``timeout``.
        bits: width of an element; 0 of coordinates.
        tensors: the tensor, and its type.
        pointers: its pointer, and the type of that; none of coordinates.
        layouts: its layout, and the type of that.
        text: the reason where there is no tensor.
    """

    status: Status
    bits: int = 0
    tensors: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    text: str = ""


def prints(tensors: Iterable[Tensor | Coordinates], *, each_s: float = 20.0) -> list[Prints]:
    """Return what the DSL prints of every tensor, in order.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.

    >>> from layoutalg.oracle import available
    >>> tile = Tensor("BFloat16", "smem", "(8,64):(64,1)", (3, 4, 3), 1024)
    >>> text = "tensor<ptr<bf16, smem, align<1024>, S<3,4,3>> o (8,64):(64,1)>"
    >>> prints([tile])[0].tensors[0] == text if available() else True
    True
    """
    questions = [asdict(tensor) for tensor in tensors]
    return [
        _prints(reply.value) if reply.status == "ok" else Prints(reply.status, text=str(reply.value))
        for reply in ask("dsl_tensors", questions, each_s=each_s, batch=200)
    ]


def _prints(value: dict[str, Any]) -> Prints:
    tensors, pointers, layouts = (tuple(value[name]) for name in ("tensors", "pointers", "layouts"))
    return Prints("ok", value["bits"], tensors, pointers, layouts)


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
