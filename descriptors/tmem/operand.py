"""Where an A operand lies in tensor memory: K-major, packed, element (m, k) of b bits at column ``k b / 32``.

One instruction reads 256 bits of each row, 8 columns; the next K step is the address plus 8. With ``cta_group`` 2 and
M 128 the rows are there twice: lanes 64 to 127 repeat rows 0 to 63. B never lies in tensor memory.
Source: CUTLASS ``mma_traits_sm100.hpp``, ``tmem_frg`` with the element as its own store (NVIDIA's code); PTX ISA 9.1
for elements of 4 and 6 bits of the f8f6f4 kinds, which take a byte each. Where in that byte their bits are is not
settled, nor is how the rows of A lie for the ``.ws`` form: CUTLASS has no such instruction, and its fragment of that
form is the accumulator's.

Law: a row is as dense as its elements, so that a K step of an instruction is 8 columns whatever the type.

>>> for dtype, k in (("tf32", 8), ("bf16", 16), ("e4m3", 32), ("s8", 32)):
...     a = operand_a(128, 2 * k, dtype)
...     assert a.columns == 16 and a.cell(5, k) == (5, 8, 0), dtype
"""

from __future__ import annotations

from descriptors.errors import DescriptorError, as_flag, as_integer, brief
from descriptors.instructions.rules import kind_of
from descriptors.instructions.tables import DENSE_K
from descriptors.operands.operand import as_element_type
from descriptors.tmem.accumulator import datapath_of
from descriptors.tmem.datapaths import FULL, PAIRS, spread
from descriptors.tmem.evidence import DOCUMENTED, NVIDIA
from descriptors.tmem.fragment import TmemFragment, checked, lane_step
from layoutalg import Layout, append


def operand_a(
    m: int, k: int, dtype: str, *, cta_group: int = 1, sparse: bool = False, ws: bool = False
) -> TmemFragment:
    """The A operand of one CTA, as a layout (m, k), or (m, k, copy) where its rows are there twice.

    Args:
        m: M of the instruction, over both CTAs where ``cta_group`` is 2.
        k: K of the tile, in stored elements: one or more K steps of an instruction.
        dtype: the element type, as ``derive`` names it.
        cta_group: 1 or 2.
        sparse: whether zeros are left out; K then counts what is stored. Their metadata lie elsewhere.
        ws: whether the weight-stationary form is meant, which is refused.

    Raises:
        DescriptorError: if no instruction reads such an operand from tensor memory, or it does not fit.

    >>> print(operand_a(128, 64, "f16").layout, operand_a(128, 16, "f16", cta_group=2).layout)
    (128,64):(131072,1) (64,16,2):(131072,1,8388608)
    """
    element = as_element_type(dtype)
    pair = as_integer(cta_group, "operand_a: cta_group", minimum=1, maximum=2)
    if as_flag(ws, "operand_a: ws"):
        rule = (
            "operand_a: A of the .ws form must lie in shared memory, for no source says which rows a lane of it holds"
        )
        raise DescriptorError(f"{rule}, found tensor memory; M = {brief(m)}")
    path, letter = datapath_of(
        as_integer(m, "operand_a: M", minimum=1, maximum=512), pair, False, as_flag(sparse, "operand_a: sparse")
    )
    step = DENSE_K["sm100", kind_of("sm100", element)]
    depth = as_integer(k, "operand_a: K", minimum=1, maximum=1 << 14)
    if depth % step:
        raise DescriptorError(f"operand_a: K must be a multiple of {step}, found {depth}; dtype = {element}")
    bits = element.storage_bits
    if path is PAIRS:
        rows = spread(FULL, depth, bits, bits)
        layout = append(Layout((64, rows[1].shape), (lane_step(bits), 1)), Layout(2, 64 * lane_step(bits)))
        modes: tuple[str, ...] = ("m", "k", "copy")
    else:
        layout, modes = spread(path, depth, bits, bits), ("m", "k")
    what = f"A operand of {m}x{depth} {element}, cta_group {pair}{' sparse' if sparse else ''}"
    evidence = NVIDIA if element.bits == bits and letter != "C" else DOCUMENTED
    return checked(TmemFragment(what, modes, layout, bits, f"rows as in layout {letter}", evidence))
