"""Where ``tcgen05.mma`` leaves its accumulator: element (m, n) of a CTA's share -> lane and column.

An accumulator of f16 takes a cell an element too, in its low half. M and N are those of the instruction; with
``cta_group`` 2 each CTA holds M/2 rows, CTA v those from v M/2 on, and all of N.
Source: PTX ISA 9.1, tcgen05 data path layouts A to G; CUTLASS ``mma_traits_sm100.hpp``, ``tmem_frg``, ``tmem_frg_ws``.

Law: elements have cells of their own, and an accumulator has N columns, as often as its arrangement does not fold N.

>>> known = ((64, 1, False), (128, 1, False), (128, 2, False), (256, 2, False), (32, 1, True), (64, 1, True))
>>> for m, pair, ws in known:
...     d = accumulator(m, 64, cta_group=pair, ws=ws)
...     places = [d.cell(row, n) for row in range(m // pair) for n in range(64)]
...     assert len(set(places)) == len(places) and d.columns * datapath_of(m, pair, ws, False)[0].parts == 64
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

#: Types of an accumulator, and their bits.
ACCUMULATORS = {"f32": 32, "s32": 32, "f16": 16}

#: (cta_group, .ws, M): arrangement and PTX's letter. A sparse pair with M 128 has one of its own.
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
    """The arrangement of an instruction's rows, and PTX's letter for it.

    Raises:
        DescriptorError: if no instruction has such an M.

    >>> [datapath_of(*asked, False)[1] for asked in ((64, 1, False), (128, 2, False), (32, 1, True))]
    ['F', 'B', 'G']
    """
    if sparse and (cta_group, ws, m) == (2, False, 128):
        return _SPARSE_PAIR
    path = _PATHS.get((cta_group, ws, m))
    if path is None:
        legal = " or ".join(
            str(one) for pair, stationary, one in sorted(_PATHS) if (pair, stationary) == (cta_group, ws)
        )
        form = f"cta_group {brief(cta_group)}{' .ws' if ws else ''}"
        raise DescriptorError(f"accumulator: M must be {legal or 'that of an instruction'}, found {brief(m)}; {form}")
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
    """The accumulator of one CTA, as a layout (m, n) or (m, n, M tiles, N tiles).

    Args:
        m: M of the instruction, over both CTAs where ``cta_group`` is 2.
        n: N of the instruction.
        dtype: ``f32``, ``s32`` or ``f16``; 16-bit results lie in the low halves of the cells.
        cta_group: 1 or 2.
        ws: whether the weight-stationary form is meant.
        sparse: whether A is stored without its zeros.
        kind: the kind of the instruction, for its legality; the first that has such accumulators if left out.
        a_source: where A lies, ``smem`` or ``tmem``, likewise.
        tiles: accumulators along M and N that are kept at once, M first.
        interleaved: whether a second tile of M 64 takes the lanes that the first leaves free, 16 on; else the next
            columns, as CUTLASS has it where A lies in tensor memory too.
        legality: how the tables of instructions are read, as in ``derive``.
        arch: the architecture.

    Raises:
        IllegalError: if there is no such instruction.
        DescriptorError: if an argument is malformed, or the tiles do not fit tensor memory.

    >>> print(accumulator(128, 256, cta_group=2).layout)
    (64,(128,2)):(65536,(1,4194304))
    >>> accumulator(64, 128, tiles=(2, 1)).columns, accumulator(64, 128, tiles=(2, 1), interleaved=False).columns
    (128, 256)
    """
    bits = choose("accumulator: dtype", dtype, ACCUMULATORS)
    pair = as_integer(cta_group, "accumulator: cta_group", minimum=1, maximum=2)
    ws, sparse = as_flag(ws, "accumulator: ws"), as_flag(sparse, "accumulator: sparse")
    m, n = (as_integer(one, f"accumulator: {name}", minimum=1, maximum=512) for one, name in ((m, "M"), (n, "N")))
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
    """Return the kind of the instruction: the one that was given, or the first with accumulators of a type.

    Raises:
        DescriptorError: if the kind has no such accumulators, or no kind of the architecture has.
    """
    of, name = as_arch(arch), type_name(dtype)
    if kind is not None:
        kind = kind_row(of, kind).kind
    rows: list[TypeRow] = rows_of("TYPES", of, kind)
    fitting = [row.kind for row in rows_read(rows, legality) if name in row.d]
    if not fitting and (legality != "off" or kind is None):
        legal = ", ".join(dict.fromkeys(one for row in rows_read(rows, legality) for one in row.d))
        whose = of if kind is None else f"kind {kind}"
        raise DescriptorError(f"accumulator: dtype is {name}, which {whose} does not have; {whose} has {legal}")
    return fitting[0] if kind is None else kind


def _tiles(tiles: object) -> tuple[int, int]:
    if not isinstance(tiles, (tuple, list)) or len(tiles) != 2:
        raise DescriptorError(f"accumulator: tiles must be two numbers (M, N), found {brief(tiles)}")
    along_m, along_n = (as_integer(one, "accumulator: a number of tiles", minimum=1, maximum=512) for one in tiles)
    return along_m, along_n


def _tile_steps(path: Datapath, columns: int, bits: int, counts: tuple[int, int], interleaved: bool) -> Layout:
    """The layout (M tile, N tile): lanes that are free first, then columns."""
    step = columns * column_step(bits)
    if path is HALF and interleaved:
        if counts[0] > 1 and counts[0] % 2:
            raise DescriptorError(f"accumulator: interleaved tiles along M must be 1 or even, found {counts[0]}")
        along = Layout((2, 1 << 10), (16 * lane_step(bits), step))
    else:
        along = Layout(1 << 11, step)
    tiles = composition(along, Layout(counts))
    assert isinstance(tiles, Layout)
    return tiles
