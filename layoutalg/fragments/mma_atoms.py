"""MMA atoms: one instruction, and which of its threads has which elements of A, B and C.

Law: element k of row m of A meets element k of row n of B in element (m, n) of C.
Source: CUTLASS ``include/cute/atom/mma_traits_sm80.hpp``, ``mma_traits_sm90_gmma.hpp`` (MMA_Traits).

>>> atom = mma_atom("mma.m16n8k16.f16")
>>> atom.shape_mnk, atom.threads
((16, 8, 16), 32)
"""

from __future__ import annotations

from typing import Literal

from layoutalg.errors import LayoutError
from layoutalg.fragments.families import numbers
from layoutalg.fragments.fragment import need_thread_values
from layoutalg.fragments.names import fragment
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import size
from layoutalg.tuples.frozen import Value
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int


class MmaAtom(Value):
    """One MMA instruction: its shape, and which thread has which elements of A, B and C.

    Args:
        shape_mnk: M, N and K.
        a, b, c: (thread, value) to an index into M x K, N x K, M x N, first mode fastest.

    Raises:
        LayoutError: if one of them is something else.

    >>> print(mma_atom("mma.m16n8k8.tf32").b)
    ((4,8),2):((8,1),32)
    """

    __slots__ = ("shape_mnk", "a", "b", "c")
    shape_mnk: tuple[int, int, int]
    a: Layout
    b: Layout
    c: Layout

    def __init__(self, shape_mnk: tuple[int, int, int], a: Layout, b: Layout, c: Layout) -> None:
        if type(shape_mnk) is not tuple or len(shape_mnk) != 3:
            raise LayoutError(f"MmaAtom: the shape must be M, N and K, found {safe_text(shape_mnk)}")
        extents = tuple([as_int(extent, "MmaAtom: an extent") for extent in shape_mnk])
        if min(extents) < 1:
            raise LayoutError(f"MmaAtom: extents must be positive, found {extents}")
        held = [need_thread_values(one, "MmaAtom") for one in (a, b, c)]
        self.fix(shape_mnk=extents, a=held[0], b=held[1], c=held[2])

    @property
    def threads(self) -> int:
        """How many threads issue it together."""
        return int(size(self.c[0]))


def mma_atom(name: str, a_source: Literal["smem", "rmem"] = "smem") -> MmaAtom:
    """The atom of an instruction, by the name of its fragments without the operand.

    Args:
        name: ``mma.m16n8k16.f16``, ``wgmma.m64n128k16``; the type as in :func:`layoutalg.fragment`.
        a_source: of ``wgmma``, where A lies; from shared memory every thread has all of A, as it has of B.

    Raises:
        LayoutError: if there is no such instruction.

    >>> print(mma_atom("wgmma.m64n8k16").a)
    (128,(64,16)):(0,(1,64))
    """
    head, shape, *dtype = [*str(name).strip().split("."), ""][:3] if isinstance(name, str) else ["", ""]
    end = f".{dtype[0]}" if dtype and dtype[0] else ""
    if head not in ("mma", "wgmma") or not isinstance(a_source, str) or a_source not in ("smem", "rmem"):
        raise LayoutError(
            "mma_atom: must be an instruction as mma.m16n8k16.f16 or wgmma.m64n128k16, A in smem or rmem, found "
            f"{safe_text(name)}, {safe_text(a_source)}"
        )
    c = fragment(f"{head}.{shape}.C").layout
    a = fragment(f"{head}.{shape}.A{end}").layout
    m, n, k = numbers(shape)
    if head == "mma":
        return MmaAtom((m, n, k), a, fragment(f"{head}.{shape}.B{end}").layout, c)
    return MmaAtom((m, n, k), a if a_source == "rmem" else _whole(m, k), _whole(n, k), c)


def _whole(rows: int, columns: int) -> Layout:
    """An operand in shared memory: all of it, for each thread of a warpgroup."""
    return Layout((128, (rows, columns)), (0, (1, rows)))
