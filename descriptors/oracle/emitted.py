"""What this package writes for the CuTe DSL, run by the CuTe DSL; and the boxes of the DSL's own tensor copies.

Emitted functions run twice: in a host function, natively on the CPU, with coordinates that are known only then; and in
a kernel, traced with constant coordinates and compiled, its words read out of the PTX. The boxes come from
``make_tiled_tma_atom``, which looks for the largest copy that a layout in shared memory allows. No GPU is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from descriptors.frozen import frozen
from layoutalg.oracle.service import Status, ask

__all__ = ["BoxAnswer", "BoxRequest", "Run", "RunAnswer", "copy_boxes", "run_emitted"]


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
        RunAnswer("ok", _words(reply.value["dynamic"]), _words(reply.value["static"]))
        if reply.status == "ok"
        else RunAnswer(reply.status, text=str(reply.value))
        for reply in ask("descriptors.oracle.dsl.emitted", questions, each_s=each_s, batch=8)
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
        for reply in ask("descriptors.oracle.dsl.emitted", questions, each_s=each_s, batch=64)
    ]


def _words(values: Iterable[Any]) -> tuple[int, ...]:
    return tuple(int(value, 16) for value in values)
