"""Register fragments, tiled MMAs and tiled copies of the CuTe DSL: which thread has what, as the DSL prints it.

No GPU is needed. A question names an instruction as ``layoutalg.fragment`` does; the answer is a layout's text.

Law: the DSL's fragments are those of ``layoutalg.fragment``.

>>> from layoutalg.oracle import available
>>> question = {"ask": "mma", "name": "mma.m16n8k16.f16"}
>>> fragments([question])[0].value["C"] if available() else "((4,8),(2,2)):((32,1),(16,8))"
'((4,8),(2,2)):((32,1),(16,8))'
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from layoutalg.oracle.service import Reply, ask

__all__ = ["fragments"]


def fragments(questions: Iterable[dict[str, Any]], *, target: str = "sm_90a") -> list[Reply]:
    """The DSL's answer to every question, in order.

    Args:
        questions: plain data with ``ask``, one of

            - ``mma``: ``name`` (``mma.m16n8k16.f16``, ``wgmma.m64n8k16.f16``), ``a_source`` (smem or rmem): the layouts
              of A, B and C;
            - ``copy``: ``name`` (``ldmatrix.x4``, ``tcgen05.ld.32x32b.x2``): source and destination, in elements of
              16 bits for matrices, in cells for tensor memory;
            - ``tiled_mma``: ``name``, ``atoms`` (text of a layout), ``permutation`` (three numbers, texts of layouts or
              None), ``layout`` (text), ``threads`` (numbers): what each operand's thrfrg and partitions are;
            - ``tv``: ``threads`` and ``values`` (texts): what make_layout_tv gives;
            - ``tiled_copy``: ``name`` (or a number of elements), ``threads`` and ``values``, or ``of`` (A, B, C),
              ``mma`` and the parts of a tiled MMA; ``layout`` and ``numbers``: what each thread's partitions are.
        target: what the DSL believes to compile for.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.

    >>> from layoutalg.oracle import available
    >>> question = {"ask": "tv", "threads": "(2,3):(3,1)", "values": "(2,2):(2,1)"}
    >>> fragments([question])[0].value["layout"] if available() else "((3,2),(2,2)):((8,2),(4,1))"
    '((3,2),(2,2)):((8,2),(4,1))'
    """
    return ask("layoutalg.oracle.dsl.fragments", list(questions), each_s=60.0, batch=200, target=target)
