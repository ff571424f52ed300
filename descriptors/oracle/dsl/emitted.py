"""The worker's half of `descriptors.oracle.emitted`: runs emitted functions, and asks for the box of a tensor copy."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from descriptors.oracle.dsl.names import STORE, SWIZZLES, TARGETS, TYPES
from layoutalg.oracle.service import Affine, read

__all__ = ["prepare"]

_BASIS = re.compile(r'tma_gbasis = <"\(([\d,]+)\):\(([\d,@]+)\)">')
# Extents of the tensor that the copies read from: larger than any tile in shared memory.
_TENSOR = (1 << 14, 1 << 14)


class _Traced(Exception):
    """The answer is known; nothing needs to be compiled."""


def prepare() -> Callable[[list[Any], Callable[[str, object], None]], None]:
    """Import the DSL and return the function that answers questions of both tasks."""
    from cutlass import cute  # noqa: F401 - imported once here, for every child to inherit

    tasks = {"run": _run, "box": _box}

    def work(questions: list[Any], report: Callable[[str, object], None]) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            os.chdir(scratch)  # the DSL leaves its PTX in the working directory
            for question in questions:
                try:
                    report("ok", tasks[question["task"]](question))
                except Exception as error:  # noqa: BLE001 - any exception is the DSL's way to refuse
                    text = " ".join(re.sub(r"\x1b\[\d+m", "", str(error)).split())[:300]
                    report("rejected", f"{type(error).__name__}: {text}")
            os.chdir("/")

    return work


def _run(question: dict[str, Any]) -> dict[str, list[str]]:
    """Words by a host function with dynamic coordinates, and by a kernel with constant ones."""
    made: dict[str, Any] = {}
    exec(compile(question["text"], "<emitted>", "exec"), made)  # noqa: S102 - running that text is the question
    first, subtile = made[f"{question['name']}_first"], made[f"{question['name']}_subtile"]

    def word(address: Any, coordinate: list[Any]) -> Any:
        return subtile(first(address), *coordinate)

    cases = question["cases"]
    return {
        "dynamic": [f"{one:#018x}" for one in _dynamic(word, cases)],
        "static": [f"{one:#018x}" for one in _static(word, cases, question["arch"])],
    }


def _dynamic(word: Callable[[Any, list[Any]], Any], cases: list[Any]) -> list[int]:
    import numpy as np
    from cutlass import cute
    from cutlass.cute.runtime import from_dlpack

    asked = np.array([[address, *coordinate] for address, coordinate in cases], dtype=np.uint32)
    words = np.zeros(len(cases), dtype=np.uint64)

    def host(source: Any, sink: Any) -> None:
        for i, (_, coordinate) in enumerate(cases):
            sink[i] = word(source[i, 0], [source[i, 1 + j] for j in range(len(coordinate))])

    run: Any = cute.jit(host)
    run(from_dlpack(asked), from_dlpack(words))
    return [int(one) for one in words]


def _static(word: Callable[[Any, list[Any]], Any], cases: list[Any], arch: str) -> list[int]:
    import cutlass
    from cutlass import cute

    def kernel(sink: Any) -> None:
        for i, (address, coordinate) in enumerate(cases):
            sink[i] = word(address, coordinate)

    launched: Any = cute.kernel(kernel)

    def host(sink: Any) -> None:
        launched(sink).launch(grid=[1, 1, 1], block=[1, 1, 1])

    sink = cute.runtime.make_fake_compact_tensor(cutlass.Uint64, (len(cases),))
    ptx = cute.compile(cute.jit(host), sink, options=f"--gpu-arch {TARGETS[arch]} --keep-ptx").__ptx__
    stores = {int(offset or 0) // 8: int(value, 0) % 2**64 for offset, value in STORE.findall(ptx)}
    return [stores[i] for i in range(len(cases))]


def _box(question: dict[str, Any]) -> dict[str, list[int]]:
    """The box of ``make_tiled_tma_atom``, out of the type of the atom; the trace is abandoned there."""
    import cutlass
    from cutlass import cute
    from cutlass.cute.nvgpu import cpasync

    term = read(question["layout"])
    if not isinstance(term, Affine):
        raise TypeError(f"the tile must be a layout without swizzle, found {question['layout']}")
    found: list[str] = []

    def trace(tensor: Any) -> None:
        rows = cute.make_layout(term.shape, stride=term.stride)
        swizzle = cute.make_swizzle(*SWIZZLES[question["swizzle"]])
        tile = rows if question["swizzle"] == "none" else cute.make_composed_layout(swizzle, 0, rows)
        atom, _ = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), tensor, tile, tuple(question["tile"]))
        found.append(str(atom.type))
        raise _Traced

    dtype = getattr(cutlass, TYPES[question["dtype"]])
    order = (1, 0) if question["major"] == "K" else (0, 1)
    tensor = cute.runtime.make_fake_compact_tensor(dtype, _TENSOR, stride_order=order)
    with suppress(_Traced):
        cute.compile(cute.jit(trace), tensor, options="--gpu-arch sm_100a")
    basis = _BASIS.search(found[0])
    if basis is None:
        raise ValueError(f"the type of a copy must name its basis, found {found[0]}")
    modes = [int(stride.partition("@")[2]) for stride in basis[2].split(",")]
    return {"box": [int(extent) for extent in basis[1].split(",")], "modes": modes}
