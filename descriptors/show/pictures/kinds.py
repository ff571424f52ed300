"""Any answer as a picture: the public door, ``picture``, the kinds that a derivation can be drawn as, and galleries.

A gallery is several pictures as one: below one another, or as a page that holds them all.
Law: what a picture is of depends on its arguments alone, so that two of them are equal byte for byte.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> all(picture(d, kind).svg() == picture(d, kind).svg() for kind in KINDS)
True
>>> levels = picture(d, "levels")
>>> Gallery("two", (("a", levels), ("b", levels))).scene().height > 2 * levels.scene().height
True
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from descriptors.errors import ChoiceError, DescriptorError, as_integer, brief
from descriptors.gemm.mma_plan import MmaPlan
from descriptors.gemm.plan import Plan
from descriptors.show.pictures.advance_picture import AdvancePicture
from descriptors.show.pictures.anatomy import Anatomy, Pair
from descriptors.show.pictures.atom_picture import AtomsPicture
from descriptors.show.pictures.bank_picture import BanksPicture, Lanes
from descriptors.show.pictures.box_picture import BoxesPicture
from descriptors.show.pictures.cell_picture import CellsPicture, Held
from descriptors.show.pictures.chunk_picture import ChunksPicture
from descriptors.show.pictures.column_picture import ColumnsPicture, Shared
from descriptors.show.pictures.difference_picture import DifferencePicture
from descriptors.show.pictures.level_picture import LevelsPicture
from descriptors.show.pictures.main_loop_picture import MainLoopPicture
from descriptors.show.pictures.mma_picture import MmaPicture
from descriptors.show.pictures.proof_picture import ProofPicture
from descriptors.show.pictures.shift_picture import ShiftPicture
from descriptors.show.pictures.swizzle_picture import SwizzlePicture
from descriptors.show.pictures.tile_picture import TilePicture
from descriptors.show.pictures.word_picture import WordPicture, word_of
from descriptors.smem.debug.decode import Decoded
from descriptors.smem.debug.diff import Diff
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.verify import Report
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.tma.tma_plan import TmaPlan
from descriptors.smem.tma.tma_planner import tma_plan
from descriptors.tmem.block_scaled import BlockScaled
from descriptors.tmem.columns import ColumnPlan
from descriptors.tmem.copied import Copied
from descriptors.tmem.copies import TmemCopy
from descriptors.tmem.moves import TmemMove
from descriptors.tmem.readout import Readout
from descriptors.tmem.reductions import TmemReduction
from descriptors.tmem.scale_factors import ScaleFactors
from descriptors.tmem.shift_convolution import ShiftConvolution
from descriptors.tmem.tmem_fragment import TmemFragment
from layoutalg import Figure, Layout, Picture, Scene, Swizzle
from layoutalg.files import PAGE_MARK
from layoutalg.frozen import frozen


@frozen
class Options:
    """What of a tile is drawn; the names are those of :func:`picture`."""

    stage: int = 0
    subtile: Pair = (0, 0)
    base: int = 0
    colour: str = "order"
    lanes: Lanes = Lanes()


#: The kinds of pictures of a derivation, and how each is made.
KINDS: dict[str, Callable[[Derivation, Options], Picture]] = {
    "levels": lambda d, o: LevelsPicture(d, o.stage, o.subtile),
    "tile": lambda d, o: TilePicture(d, o.colour, o.stage),
    "atoms": lambda d, o: AtomsPicture(d, o.stage),
    "chunks": lambda d, o: ChunksPicture(d, o.stage, o.subtile),
    "advance": lambda d, o: AdvancePicture(d, o.stage, o.base),
    "banks": lambda d, o: BanksPicture(d, o.stage, o.subtile, o.lanes),
    "word": lambda d, o: word_of(d, *o.subtile, o.stage, o.base),
    "boxes": lambda d, o: BoxesPicture(tma_plan(d, rank=2), o.stage),
    "swizzle": lambda d, o: SwizzlePicture(d.swizzle),
}

#: What else is drawn, by its type.
OTHERS: dict[type, Callable[[Any], Picture]] = {
    Decoded: WordPicture,
    Diff: DifferencePicture,
    TmaPlan: BoxesPicture,
    Report: ProofPicture,
    ShiftConvolution: ShiftPicture,
    Plan: MainLoopPicture,
    MmaPlan: MmaPicture,
    **dict.fromkeys((SwizzleMode, Swizzle), SwizzlePicture),
    ColumnPlan: ColumnsPicture,
    BlockScaled: ColumnsPicture,
    **dict.fromkeys((TmemFragment, TmemMove, TmemReduction, TmemCopy, Copied, ScaleFactors, Readout), CellsPicture),
}


def picture(
    answer: Derivation
    | Decoded
    | Diff
    | TmaPlan
    | Report
    | ShiftConvolution
    | Plan
    | MmaPlan
    | SwizzleMode
    | Swizzle
    | Held
    | Shared,
    kind: str | None = None,
    *,
    stage: int = 0,
    subtile: tuple[int, int] = (0, 0),
    base: int = 0,
    colour: str = "order",
    access: Layout | None = None,
    access_bytes: int = 16,
    number: int = 0,
) -> Picture:
    """An answer as a picture: with a text, an SVG, a TikZ picture and a page; it can be saved, and a notebook shows it.

    Args:
        answer: a derivation; or a decoded word, a comparison, a plan of tensor copies, a proof, a convolution with
            shifts, the plan of a main loop, a swizzle, what tensor memory holds or is moved there, which have one
            picture each and take no further arguments.
        kind: of a derivation: ``levels`` (the default), ``tile``, ``atoms``, ``chunks``, ``advance``, ``banks``,
            ``word``, ``boxes`` or ``swizzle``.
        stage: which stage of the tile.
        subtile: which subtile is enlarged, or whose word is drawn.
        base: address of the tile in bytes, of ``advance`` and ``word``.
        colour: of ``tile``: ``order``, ``bank``, ``atom``, ``subtile`` or ``chunk``.
        access: of ``banks``: (threads, values) to an index into the tile; the rows of a chunk if left out.
        access_bytes: bytes that a thread moves at once.
        number: which of the accesses that the threads make.

    Raises:
        DescriptorError: if there is no such kind, stage, subtile or access, or it has too many parts to be drawn.
        ChoiceError: for a name that is none of those above.

    >>> from descriptors import derive
    >>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
    >>> print(picture(d, "advance").text().splitlines()[0])
    16 subtiles, one descriptor: only the start address moves
    """
    make = next((OTHERS[one] for one in type(answer).__mro__ if one in OTHERS), None)
    if make is not None:
        if kind is not None:
            raise DescriptorError(f"picture: kind is {brief(kind)}, but only a derivation has several kinds")
        return make(answer)
    if not isinstance(answer, Derivation):
        known = ", ".join(sorted(one.__name__ for one in (Derivation, *OTHERS)))
        raise DescriptorError(f"picture: the operand is {brief(answer)}, which cannot be drawn; supported: {known}")
    name = "levels" if kind is None else kind
    if not isinstance(name, str) or name not in KINDS:
        raise ChoiceError("picture: kind", name, KINDS)
    which = as_integer(stage, "picture: the stage")
    anatomy = Anatomy(answer, which)
    _ = anatomy.stage_coordinate  # refuses a stage that the tile does not have
    lanes = Lanes(access, access_bytes, as_integer(number, "picture: the number of an access"))
    return KINDS[name](
        answer, Options(which, _subtile(anatomy, subtile), as_integer(base, "picture: the base address"), colour, lanes)
    )


def _subtile(a: Anatomy, subtile: object) -> Pair:
    if not isinstance(subtile, (tuple, list)) or len(subtile) != 2:
        raise DescriptorError(f"picture: the subtile is {brief(subtile)}, which is not two numbers (mn, k)")
    mn, k = (
        as_integer(one, f"picture: {name} of the subtile", maximum=extent - 1)
        for one, name, extent in zip(subtile, ("mn", "k"), a.subtile_grid, strict=True)
    )
    return mn, k


_STYLE = (
    ":root{color-scheme:light dark}body{margin:24px auto;padding:0 20px;max-width:1320px;"
    "font-family:ui-sans-serif,system-ui,sans-serif}section{margin:0 0 40px}h1{font-size:20px}h2{font-size:15px}"
)


@frozen
class Gallery(Picture):
    """Pictures with their names.

    Args:
        title: of all.
        pictures: the name and the picture of each.
    """

    title: str
    pictures: tuple[tuple[str, Picture], ...]

    def scene(self) -> Scene:
        """One below the other."""
        figure, y = Figure(), 0.0
        for _, one in self.pictures:
            scene = one.scene()
            figure.place(scene, 0, y)
            y += scene.height + 12
        return figure.scene(self.title, " ".join(one.scene().description for _, one in self.pictures))

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """One after the other."""
        return "\n\n\n".join(one.text(color=color, width=width) for _, one in self.pictures)

    def record(self) -> dict[str, Any]:
        """The numbers of each, by its name."""
        return {name: one.record() for name, one in self.pictures}

    def html(self) -> str:
        """A document that holds every picture and needs no other file."""
        parts = "".join(
            f'<section id="{escape(name)}"><h2>{escape(name)}</h2>{one._repr_html_()}</section>\n'
            for name, one in self.pictures
        )
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            f"{PAGE_MARK.decode()}<title>{escape(self.title)}</title><style>{_STYLE}</style></head>\n"
            f"<body><h1>{escape(self.title)}</h1>\n{parts}</body></html>\n"
        )
