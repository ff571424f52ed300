"""What the fragments hold, in words: a row for each family, with where it is published and who checked it.

Law: every name that :func:`layoutalg.fragments.names.names` lists belongs to the family that :func:`family_of` gives.

>>> family_of("mma.m16n8k16.D.f32").tile, family_of("wgmma.m64n8k16.A").threads
('M x 8', 128)
"""

from __future__ import annotations

from layoutalg.tuples.frozen import Value


class Family(Value):
    """What all fragments of one instruction and operand have in common, in words.

    Args:
        form: how their names are written; what stands in brackets may be left out.
        tile: rows x columns of the tile.
        threads: how many threads hold it.
        holds: the rule.
        source: where it is published.
        grade: who checked it, the strongest: what a GPU holds, or NVIDIA's own headers.
    """

    __slots__ = ("form", "tile", "threads", "holds", "source", "grade")
    form: str
    tile: str
    threads: int
    holds: str
    source: str
    grade: str

    def __init__(self, form: str, tile: str, threads: int, holds: str, source: str, grade: str) -> None:
        self.fix(form=form, tile=tile, threads=threads, holds=holds, source=source, grade=grade)


_WGMMA = "PTX ISA 9.1, wgmma register fragments; CUTLASS mma_traits_sm90_gmma.hpp"
_MMA = "PTX ISA 9.1, matrix fragments for mma; CUTLASS mma_traits_sm80.hpp, mma_traits_sm89.hpp, mma_traits_sm90.hpp"
_BLOCKS = "PTX ISA 9.1, block scaling for mma.sync; CUTLASS mma_traits_sm120.hpp"
_MATRIX = "PTX ISA 9.1, ldmatrix, stmatrix; CUTLASS copy_traits_sm75.hpp, copy_traits_sm90.hpp"
_TENSOR = "PTX ISA 9.1, tcgen05.ld, tcgen05.st; CUTLASS copy_traits_sm100.hpp"
_CODE = "NVIDIA code"
_MEASURED = "measured on Hopper"
_MEASURED_WGMMA = "measured on Hopper; b1 is PTX's text"
_MEASURED_MMA = "measured on Hopper; e2m1 and 8-bit floats with K 16 are NVIDIA's code, e2m3 and e3m2 PTX's text"

#: What there is, in the order in which it is listed.
FAMILIES = (
    Family(
        "wgmma.m64nNkK.D[.TYPE]", "64 x N", 128,
        "value v of lane t, warp w: row 16w + t/4 + 8(v/2 % 2), column 8(v/4) + 2(t%4) + v%2", _WGMMA, _MEASURED_WGMMA,
    ),
    Family(
        "wgmma.m64nNkK.A[.TYPE]", "64 x K", 128,
        "E = K/8 a register; register r of lane t, warp w: row 16w + t/4 + 8(r%2), column 4E(r/2) + E(t%4) and on",
        _WGMMA, _MEASURED_WGMMA,
    ),
    Family(
        "mma.mMn8kK.A[.TYPE]", "M x K", 32,
        "E = 32/bits a register; register r of lane t: row t/4 + 8(r%2), column 4E(r/2) + E(t%4) and on (M 16)",
        _MMA, _MEASURED_MMA,
    ),
    Family(
        "mma.mMn8kK.B[.TYPE]", "8 x K", 32,
        "register r of lane t: row (n) t/4, column (k) 4Er + E(t%4) and on", _MMA, _MEASURED_MMA,
    ),
    Family(
        "mma.mMn8kK.C[.TYPE]", "M x 8", 32,
        "value v of lane t: row t/4 + 8(v/2), column 2(t%4) + v%2; D is the same", _MMA, _MEASURED,
    ),
    Family(
        "mma.m16n8kK.SFA[.TYPE]", "16 x K", 32,
        "factor of row t/4 + 8(t%2) for each k; thread selector 0 takes those of lanes t%4 of 0 and 1", _BLOCKS, _CODE,
    ),
    Family(
        "mma.m16n8kK.SFB[.TYPE]", "8 x K", 32,
        "factor of column t/4 for each k; thread selector 0 takes those of lanes t%4 of 0", _BLOCKS, _CODE,
    ),
    *(
        Family(
            f"{name}.xN[.trans][.RxC][.TYPE]", "R x C", 32,
            "register j of lane t: matrix j (down, then across), row t/4, 4 bytes from 4(t%4) on; .trans (16 bits): "
            "rows 2(t%4) and one on, column t/4", _MATRIX, _MEASURED,
        )
        for name in ("ldmatrix", "stmatrix")
    ),
    *(
        Family(
            f"tcgen05.{name}.SHAPE.xN[.{pack}16b]", "lanes x columns", 32,
            "cell (lane, column) of register r of lane t, from the address on: 32x32b (t, r); 16x64b (t/4 + 8(t%2), "
            "t/2 % 2 + 2r); 16x128b (t/4 + 8(r%2), t%4 + 4(r/2)); 16x256b (t/4 + 8(r/2 % 2), 2(t%4) + r%2 + 8(r/4)); "
            "16x32bx2 (t%16, N(t/16) + r); 16b: the low halves of columns 2c and 2c + 1", _TENSOR, _CODE,
        )
        for name, pack in (("ld", "pack"), ("st", "unpack"))
    ),
)  # fmt: skip


def family_of(name: str) -> Family:
    """The family of a fragment, by its name.

    >>> family_of("ldmatrix.x4.trans").form
    'ldmatrix.xN[.trans][.RxC][.TYPE]'
    """
    head, *words = name.split(".")
    wanted = head if head.endswith("matrix") else f"{head}.{words[0]}" if head == "tcgen05" else f"{head} {words[1]}"
    return next(one for one in FAMILIES if _key(one.form) == wanted.replace(" D", " C"))


def _key(form: str) -> str:
    head, *words = form.split("[")[0].split(".")
    found = head if head.endswith("matrix") else f"{head}.{words[0]}" if head == "tcgen05" else f"{head} {words[1]}"
    return found.replace(" D", " C")
