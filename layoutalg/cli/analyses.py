"""Analyses of a layout as a command answers with them: bank wavefronts, a matrix, bases, a swizzle; text and data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from layoutalg.analysis.banks import Access
from layoutalg.analysis.f2_matrix import F2Matrix
from layoutalg.analysis.linear_layout import LinearLayout
from layoutalg.analysis.swizzle_search import swizzle_mode
from layoutalg.layouts.swizzle import Swizzle

#: Accesses that are listed; the others are counted.
_LISTED = 64


def tell_accesses(accesses: Sequence[Access], store: bool) -> str:
    """Accesses for a person: the total, then the wavefronts of each access, phase by phase.

    >>> from layoutalg import Layout, accesses
    >>> print(tell_accesses(accesses(Layout((8, 64), (64, 1)), Layout((8, 8), (1, 8)), 2, 16), store=False))
    1 load access of a warp: 8 wavefronts, 7 of them for bank conflicts
      warp 0, value 0: 8 = 8
    """
    return "\n".join(_access_lines(accesses, store))


def tell_served(found: Sequence[tuple[str, bool, Sequence[Access]]]) -> str:
    """Several kinds of accesses for a person, each under what it was called by; one kind is told alone.

    Args:
        found: for each kind how it was written, whether it stores, and its accesses.
    """
    told = [tell_accesses(accesses, store) for _, store, accesses in found]
    if len(told) == 1:
        return told[0]
    return "\n".join(f"{text}: {lines}" for (text, _, _), lines in zip(found, told, strict=True))


def record_served(found: Sequence[tuple[str, bool, Sequence[Access]]]) -> dict[str, Any]:
    """Several kinds of accesses as plain data: the totals of all, and in each row which kind it is of."""
    told = record_accesses([one for _, _, accesses in found for one in accesses])
    kinds = [(text, store) for text, store, accesses in found for _ in accesses]
    rows = [row | {"access": text, "store": store} for row, (text, store) in zip(told["accesses"], kinds, strict=True)]
    return told | {"accesses": rows}


def _access_lines(accesses: Sequence[Access], store: bool) -> Iterator[str]:
    kind, times = "store" if store else "load", "access" if len(accesses) == 1 else "accesses"
    total, conflicts = _totals(accesses)
    waves = "wavefront" if total == 1 else "wavefronts"
    yield f"{len(accesses)} {kind} {times} of a warp: {total} {waves}, {conflicts} of them for bank conflicts"
    for one in accesses[:_LISTED]:
        phases = " + ".join(map(str, one.phase_wavefronts))
        yield f"  warp {one.warp}, value {one.value}: {phases} = {one.wavefronts}"
    if len(accesses) > _LISTED:
        yield f"  ... and {len(accesses) - _LISTED} more (--json has them all)"


def _totals(accesses: Sequence[Access]) -> tuple[int, int]:
    return sum(one.wavefronts for one in accesses), sum(one.conflicts for one in accesses)


def record_accesses(accesses: Sequence[Access]) -> dict[str, Any]:
    """Accesses as plain data, all of them."""
    wavefronts, conflicts = _totals(accesses)
    rows = [
        {"warp": one.warp, "value": one.value, "addresses": one.addresses, "phase_wavefronts": one.phase_wavefronts}
        for one in accesses
    ]
    return {"wavefronts": wavefronts, "conflicts": conflicts, "accesses": rows}


def tell_matrix(matrix: F2Matrix) -> str:
    """A matrix over GF(2) for a person, and how often each value is reached.

    >>> print(tell_matrix(F2Matrix((1, 2, 2))))
    1 . .
    . 1 1
    2 bits of the offset from 3 bits of the index, lowest first; rank 2: each offset is reached 2 times
    """
    columns, rank = len(matrix.columns), matrix.rank()
    reached = "injective" if rank == columns else f"each offset is reached {1 << columns - rank} times"
    sizes = f"{matrix.rows} bits of the offset from {columns} bits of the index, lowest first"
    return f"{matrix}\n{sizes}; rank {rank}: {reached}"


def record_matrix(matrix: F2Matrix) -> dict[str, Any]:
    """A matrix over GF(2) as plain data."""
    return {"columns": matrix.columns, "rows": matrix.rows, "rank": matrix.rank()}


def tell_linear(linear: LinearLayout) -> str:
    """A linear layout for a person, as Triton prints it."""
    return str(linear)


def record_linear(linear: LinearLayout) -> dict[str, Any]:
    """A linear layout as plain data: its bases by the names of the dimensions."""
    return dict(linear.triton_bases())


def tell_swizzle(swizzle: Swizzle, element_bytes: int, modes: Sequence[str]) -> str:
    """A swizzle on byte addresses for a person, what it is on elements, and which mode of tensor cores.

    Args:
        swizzle: the smallest that frees all accesses.
        element_bytes: bytes of an element.
        modes: the modes that free them too.

    >>> tell_swizzle(Swizzle(3, 4, 3), 2, ["128B"])
    'S<3,4,3> on byte addresses; S<3,3,3> on elements of 2 bytes; this is 128B'
    """
    elements, mode = _on_elements(swizzle, element_bytes), swizzle_mode(swizzle)
    told = f"{swizzle} on byte addresses" + (f"; {elements} on elements of {element_bytes} bytes" if elements else "")
    if mode == "none":
        return f"{told}: none is needed"
    if mode:
        return f"{told}; this is {mode}"
    return f"{told}; this is no mode of tensor cores, {' and '.join(modes) or 'none of which'} would do"


def record_swizzle(swizzle: Swizzle, element_bytes: int, modes: Sequence[str]) -> dict[str, Any]:
    """A swizzle on byte addresses as plain data; no ``elements`` where their size is no power of 2."""
    told = {"bytes": str(swizzle), "elements": _on_elements(swizzle, element_bytes)}
    return told | {"mode": swizzle_mode(swizzle), "modes": list(modes)}


def _on_elements(swizzle: Swizzle, element_bytes: int) -> str | None:
    if element_bytes & (element_bytes - 1):
        return None
    return f"S<{swizzle.bits},{swizzle.base - (element_bytes.bit_length() - 1)},{swizzle.shift}>"
