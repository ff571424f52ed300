"""Layouts of ``tcgen05.mma`` accumulators in tensor memory: element (m, n) of a CTA -> lane and column.

An f16 accumulator also has one element per cell, in its low half. M and N are those of the instruction. With
``cta_group`` 2, CTA v holds the M/2 rows that start at row v M/2, and all of N.
Source: PTX ISA 9.1, tcgen05 data path layouts A to G; CUTLASS ``mma_traits_sm100.hpp``, ``tmem_frg``, ``tmem_frg_ws``.

Invariant: each element has its own cell, and an accumulator has N columns divided by the parts of its arrangement.

>>> known = ((64, 1, False), (128, 1, False), (128, 2, False), (256, 2, False), (32, 1, True), (64, 1, True))
>>> for m, pair, ws in known:
...     d = accumulator(m, 64, cta_group=pair, ws=ws)
...     cells = [d.cell(row, n) for row in range(m // pair) for n in range(64)]
...     assert len(set(cells)) == len(cells) and d.columns * datapath_of(m, pair, ws, False)[0].parts == 64
"""

from __future__ import annotations

from descriptors.errors import DescriptorError, advised, as_flag, as_integer, brief
from descriptors.smem.instructions.facts import TypeRow
from descriptors.smem.instructions.legality import check_shape
from descriptors.smem.instructions.rules import Legality, as_arch, as_mode, kind_row, rows_of, rows_read, type_name
from descriptors.smem.operands.operand import choose
from descriptors.tmem.geometry import DOCUMENTED, NVIDIA
from descriptors.tmem.tmem_fragment import (
    FOURS,
    FULL,
    HALF,
    PAIRS,
    Datapath,
    TmemFragment,
    column_step,
    lane_step,
    need_columns,
    spread,
)
from layoutalg import Layout, append, composition

#: Accumulator types and their bits.
ACCUMULATORS = {"f32": 32, "s32": 32, "f16": 16}

#: (cta_group, .ws, M) -> arrangement and PTX's letter. Sparse with cta_group 2 and M 128 has its own arrangement.
_PATHS: dict[tuple[int, bool, int], tuple[Datapath, str]] = {
    (1, False, 128): (FULL, "D"),
    (1, False, 64): (HALF, "F"),
    (2, False, 256): (FULL, "A"),
    (2, False, 128): (PAIRS, "B"),
    (1, True, 128): (FULL, "D"),
    (1, True, 64): (PAIRS, "E"),
    (1, True, 32): (FOURS, "G"),
}
_SPARSE_PAIR = (HALF, "C")


def datapath_of(m: int, cta_group: int, ws: bool, sparse: bool) -> tuple[Datapath, str]:
    """Return the arrangement of an instruction's rows, and PTX's letter for it.

    Raises:
        DescriptorError: if no instruction has this M.

    >>> [datapath_of(*form, False)[1] for form in ((64, 1, False), (128, 2, False), (32, 1, True))]
    ['F', 'B', 'G']
    """
    if sparse and (cta_group, ws, m) == (2, False, 128):
        return _SPARSE_PAIR
    path = _PATHS.get((cta_group, ws, m))
    if path is None:
        legal = " or ".join(
            str(legal_m) for pair, stationary, legal_m in sorted(_PATHS) if (pair, stationary) == (cta_group, ws)
        )
        form = f"cta_group {brief(cta_group)}{' .ws' if ws else ''}"
        supported = f"; supported: M {legal}" if legal else ""
        raise DescriptorError(f"accumulator: no instruction with {form} has M {brief(m)}{supported}")
    return path


@advised
def accumulator(
    m: int,
    n: int,
    dtype: str = "f32",
    *,
    cta_group: int = 1,
    ws: bool = False,
    sparse: bool = False,
    kind: str | None = None,
    a_source: str = "smem",
    tiles: tuple[int, int] = (1, 1),
    interleaved: bool = True,
    legality: Legality = "strict",
    arch: str = "sm100",
) -> TmemFragment:
    """Return the accumulator of one CTA, as a layout (m, n) or (m, n, M tiles, N tiles).

    Args:
        m: M of the instruction, over both CTAs if ``cta_group`` is 2.
        n: N of the instruction.
        dtype: ``f32``, ``s32`` or ``f16``; 16-bit results are in the low halves of the cells.
        cta_group: 1 or 2.
        ws: whether the instruction is weight-stationary (``.ws``).
        sparse: whether A is stored without its zeros.
        kind: the instruction kind, for the legality check; by default the first kind with such accumulators.
        a_source: memory of A, ``smem`` or ``tmem``, for the legality check.
        tiles: number of accumulators along M and along N that are kept at once, M first.
        interleaved: whether a second tile with M 64 uses the lanes that the first leaves free, 16 lanes further; else
            it uses the next columns, as CUTLASS does if A is in tensor memory too.
        legality: how strictly the instruction tables are read, as in ``derive``.
        arch: the architecture.

    Raises:
        IllegalError: if the instruction does not exist.
        DescriptorError: if an argument is malformed, or the tiles do not fit tensor memory.

    >>> print(accumulator(128, 256, cta_group=2).layout)
    (64,(128,2)):(65536,(1,4194304))
    >>> accumulator(64, 128, tiles=(2, 1)).columns, accumulator(64, 128, tiles=(2, 1), interleaved=False).columns
    (128, 256)
    """
    bits = choose("accumulator: dtype", dtype, ACCUMULATORS)
    pair = as_integer(cta_group, "accumulator: cta_group", minimum=1, maximum=2)
    ws, sparse = as_flag(ws, "accumulator: ws"), as_flag(sparse, "accumulator: sparse")
    m, n = (as_integer(size, f"accumulator: {name}", minimum=1, maximum=512) for size, name in ((m, "M"), (n, "N")))
    kind = _kind(dtype, kind, arch, as_mode(legality))
    check_shape(
        arch, kind, m=m, n=n, cta_group=pair, ws=ws, sparse=sparse, a_source=a_source, legality=as_mode(legality)
    )  # fmt: skip
    path, letter = datapath_of(m, pair, ws, sparse)
    layout = spread(path, n, bits, 32)
    modes: tuple[str, ...] = ("m", "n")
    counts = _tiles(tiles)
    if counts != (1, 1):
        rest = _tile_steps(path, n // path.parts, bits, counts, as_flag(interleaved, "accumulator: interleaved"))
        layout, modes = append(append(layout, rest[0]), rest[1]), ("m", "n", "M tile", "N tile")
    what = f"accumulator of {m}x{n} {dtype}, cta_group {pair}{' .ws' if ws else ''}{' sparse' if sparse else ''}"
    evidence = DOCUMENTED if (path, letter) == _SPARSE_PAIR else NVIDIA
    return need_columns(TmemFragment(what, modes, layout, bits, f"layout {letter} ({path.name})", evidence))


def _kind(dtype: str, kind: str | None, arch: str, legality: Legality) -> str:
    """Return the instruction kind: the given one, or the first kind with accumulators of a type.

    Raises:
        DescriptorError: if the kind, or every kind of the architecture, has no such accumulators.
    """
    arch_name, name = as_arch(arch), type_name(dtype)
    if kind is not None:
        kind = kind_row(arch_name, kind).kind
    rows: list[TypeRow] = rows_of("TYPES", arch_name, kind)
    fitting = [row.kind for row in rows_read(rows, legality) if name in row.d]
    if not fitting and (legality != "off" or kind is None):
        legal = ", ".join(dict.fromkeys(d_type for row in rows_read(rows, legality) for d_type in row.d))
        owner = arch_name if kind is None else f"kind {kind}"
        raise DescriptorError(f"accumulator: dtype is {name}, which {owner} does not have; {owner} has {legal}")
    return fitting[0] if kind is None else kind


def _tiles(tiles: object) -> tuple[int, int]:
    if not isinstance(tiles, (tuple, list)) or len(tiles) != 2:
        raise DescriptorError(f"accumulator: tiles is {brief(tiles)}, which is not two numbers (M, N)")
    along_m, along_n = (as_integer(count, "accumulator: a number of tiles", minimum=1, maximum=512) for count in tiles)
    return along_m, along_n


def _tile_steps(path: Datapath, columns: int, bits: int, counts: tuple[int, int], interleaved: bool) -> Layout:
    """Return the layout (M tile, N tile): free lanes first, then columns."""
    step = columns * column_step(bits)
    if path is HALF and interleaved:
        if counts[0] > 1 and counts[0] % 2:
            raise DescriptorError(
                f"accumulator: tiles has {counts[0]} along M, which is odd; interleaved tiles are 1 or an even number"
            )
        along = Layout((2, 1 << 10), (16 * lane_step(bits), step))
    else:
        along = Layout(1 << 11, step)
    tiles = composition(along, Layout(counts))
    assert isinstance(tiles, Layout)
    return tiles
