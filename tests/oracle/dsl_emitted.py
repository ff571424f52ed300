"""What this package writes for the CuTe DSL, run by the CuTe DSL; and the boxes of the DSL's own tensor copies.

Emitted functions run twice: in a host function, natively on the CPU, with coordinates that are known only then; and in
a kernel, traced with constant coordinates and compiled, its words read out of the PTX. The boxes come from
``make_tiled_tma_atom``, which looks for the largest copy that a layout in shared memory allows. No GPU is needed.

The worker's half: runs emitted functions, and asks for the box of a tensor copy.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from descriptors.oracle.dsl.words import STORE, SWIZZLES, TARGETS, TYPES
from layoutalg.frozen import frozen
from layoutalg.oracle.service import Affine, Status, ask, read


@frozen
class Run:
    """Emitted functions and what to call them with.

    Attributes:
        text: what ``emit(..., "cutedsl", name)`` wrote.
        name: the prefix of its identifiers.
        cases: pairs of a tile's address and the coordinate of a subtile.
        arch: ``sm100`` or ``sm90``.
    """

    text: str
    name: str
    cases: tuple[tuple[int, tuple[int, ...]], ...]
    arch: str = "sm100"


@frozen
class RunAnswer:
    """The words that the functions gave, a word a case.

    Attributes:
        status: ``ok``; ``rejected``; ``crashed``; ``timeout``.
        dynamic: from the host function.
        static: from the PTX of the kernel.
        text: the reason where there are none.
    """

    status: Status
    dynamic: tuple[int, ...] = ()
    static: tuple[int, ...] = ()
    text: str = ""


@frozen
class BoxRequest:
    """A tile in shared memory that a tensor copy shall fill.

    Attributes:
        dtype: element type, as for ``descriptors.oracle.words``.
        major: ``K`` or ``MN``.
        swizzle: ``none``, ``32B``, ``64B``, ``128B`` or ``128B_BASE32B``.
        layout: the tile (MN, K) in CuTe notation, in elements, without its swizzle.
        tile: its extents.
    """

    dtype: str
    major: str
    swizzle: str
    layout: str
    tile: tuple[int, int]


@frozen
class BoxAnswer:
    """The box of the DSL's copy.

    Attributes:
        status: ``ok``; ``rejected``; ``crashed``; ``timeout``.
        box: extents in elements, fastest first, under ``ok``.
        modes: for each, which dimension of the tensor it runs along: 0 for MN, 1 for K.
        text: the reason where there is no box.
    """

    status: Status
    box: tuple[int, ...] = ()
    modes: tuple[int, ...] = ()
    text: str = ""


def run_emitted(runs: Iterable[Run], *, each_s: float = 120.0) -> list[RunAnswer]:
    """Run emitted functions and return the words they give.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.

    >>> from descriptors import derive
    >>> from descriptors.smem.emitters.emit import emit
    >>> from descriptors.oracle import available
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> run = Run(emit(d, "cutedsl", "a"), "a", ((0x400, (1, 4)),))
    >>> answer = run_emitted([run])[0] if available() else RunAnswer("ok", (0x4000404000010640,), (0x4000404000010640,))
    >>> hex(answer.dynamic[0]), hex(answer.static[0])
    ('0x4000404000010640', '0x4000404000010640')
    """
    questions = [{"task": "run", **asdict(run)} for run in runs]
    return [
        RunAnswer("ok", _numbers(reply.value["dynamic"]), _numbers(reply.value["static"]))
        if reply.status == "ok"
        else RunAnswer(reply.status, text=str(reply.value))
        for reply in ask("dsl_emitted", questions, each_s=each_s, batch=8)
    ]


def copy_boxes(requests: Iterable[BoxRequest], *, each_s: float = 60.0) -> list[BoxAnswer]:
    """Return the box that the DSL's tensor copy has for each tile.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.

    >>> from descriptors.oracle import available
    >>> request = BoxRequest("bf16", "K", "128B", "((8,16),(64,2)):((64,512),(1,8192))", (128, 128))
    >>> copy_boxes([request])[0].box if available() else (64, 128)
    (64, 128)
    """
    questions = [{"task": "box", **asdict(request)} for request in requests]
    return [
        BoxAnswer("ok", tuple(reply.value["box"]), tuple(reply.value["modes"]))
        if reply.status == "ok"
        else BoxAnswer(reply.status, text=str(reply.value))
        for reply in ask("dsl_emitted", questions, each_s=each_s, batch=64)
    ]


def _numbers(values: Iterable[Any]) -> tuple[int, ...]:
    return tuple(int(value, 16) for value in values)


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
    namespace: dict[str, Any] = {}
    exec(compile(question["text"], "<emitted>", "exec"), namespace)  # noqa: S102 - running that text is the question
    first, subtile = namespace[f"{question['name']}_first"], namespace[f"{question['name']}_subtile"]

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

    arguments = np.array([[address, *coordinate] for address, coordinate in cases], dtype=np.uint32)
    words = np.zeros(len(cases), dtype=np.uint64)

    def host(source: Any, sink: Any) -> None:
        for i, (_, coordinate) in enumerate(cases):
            sink[i] = word(source[i, 0], [source[i, 1 + j] for j in range(len(coordinate))])

    run: Any = cute.jit(host)
    run(from_dlpack(arguments), from_dlpack(words))
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
    copies: list[str] = []

    def trace(tensor: Any) -> None:
        rows = cute.make_layout(term.shape, stride=term.stride)
        swizzle = cute.make_swizzle(*SWIZZLES[question["swizzle"]])
        tile = rows if question["swizzle"] == "none" else cute.make_composed_layout(swizzle, 0, rows)
        atom, _ = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), tensor, tile, tuple(question["tile"]))
        copies.append(str(atom.type))
        raise _Traced

    dtype = getattr(cutlass, TYPES[question["dtype"]])
    order = (1, 0) if question["major"] == "K" else (0, 1)
    tensor = cute.runtime.make_fake_compact_tensor(dtype, _TENSOR, stride_order=order)
    with suppress(_Traced):
        cute.compile(cute.jit(trace), tensor, options="--gpu-arch sm_100a")
    basis = _BASIS.search(copies[0])
    if basis is None:
        raise ValueError(f"the type of a copy must name its basis, found {copies[0]}")
    modes = [int(stride.partition("@")[2]) for stride in basis[2].split(",")]
    return {"box": [int(extent) for extent in basis[1].split(",")], "modes": modes}
