"""How many registers a thread of a kernel may have, by its directives.

Source: PTX ISA 9.1, Performance-Tuning Directives (.maxnreg, .maxntid, .reqntid, .minnctapersm), setmaxnreg; the CUDA
programming guide: 65,536 registers a multiprocessor, given in eights, at most 255 a thread.

Law: more threads a CTA never give a thread more registers.

>>> from itertools import pairwise
>>> given = [registers(f".entry k() .maxntid {32 * warps}, 1, 1") for warps in range(1, 33)]
>>> all(a >= b for a, b in pairwise(given)), given[11], given[15], given[31]
(True, 168, 128, 64)
"""

from __future__ import annotations

import re
from math import prod

from descriptors.ptx.module import Function

#: What ptxas needs beside the registers of one multiplication or of all that are in flight (C7602, C7512: tried).
REST = 26
#: Registers of a multiprocessor, the most a thread can name, the step in which they are given.
ALL, MOST, STEP = 65536, 255, 8

_THREADS = re.compile(r"\.(?:maxntid|reqntid)\s+(\d{1,6}(?:\s*,\s*\d{1,6}){0,2})")
_SHARED = re.compile(r"\.minnctapersm\s+(\d{1,6})")
_MOST = re.compile(r"\.maxnreg\s+(\d{1,6})")


def registers(head: str) -> int:
    """Registers that a thread may have, by the directives in the head of a kernel.

    >>> [registers(f".entry k() {one}") for one in ("", ".maxnreg 128", ".reqntid 128 .minnctapersm 4")]
    [255, 128, 128]
    """
    found = [MOST]
    if most := _MOST.search(head):
        found.append(int(most[1]))
    if threads := _THREADS.search(head):
        shared = _SHARED.search(head)
        many = prod(int(n) for n in threads[1].split(",")) * (int(shared[1]) if shared else 1)
        found.append(ALL // max(1, many) // STEP * STEP)
    return min(found)


def allowed(function: Function) -> int:
    """Registers that a thread of a function may come to have: ``setmaxnreg`` gives more while it runs.

    >>> from descriptors.ptx.module import parse
    >>> body = ".entry k() .maxntid 384 { setmaxnreg.inc.sync.aligned.u32 240; ret; }"
    >>> allowed(parse(f".version 8.8\\n{body}").functions[0])
    240
    """
    given = [one.operands[0] for one in function.code if one.opcode.startswith("setmaxnreg") and one.operands]
    return max([registers(function.head), *(n for n in given if isinstance(n, int) and n <= MOST)])
