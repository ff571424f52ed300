"""Draw any answer as a picture. ``picture`` is the public function; a gallery is several pictures as one.

Invariant: a picture depends only on its arguments, so that two pictures of the same arguments are equal byte for byte.

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
    """The options of the pictures of a derivation, with the names of the arguments of :func:`picture`."""

    stage: int = 0
    subtile: Pair = (0, 0)
    base: int = 0
    colour: str = "order"
    lanes: Lanes = Lanes()


#: The function that makes each kind of picture of a derivation.
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

#: The pictures of other answers, by the type of the answer.
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
    """Return an answer as a picture, which can be text, SVG, TikZ or a page, can be saved, and is shown by a notebook.

    Args:
        answer: a derivation; or a decoded descriptor, a comparison, a plan of tensor copies, a verification, a shift
            convolution, the plan of a main loop, a swizzle, or a content or transfer of tensor memory. These have one
            picture each, and the other arguments do not apply to them.
        kind: for a derivation: ``levels`` (the default), ``tile``, ``atoms``, ``chunks``, ``advance``, ``banks``,
            ``word``, ``boxes`` or ``swizzle``.
        stage: stage of the tile.
        subtile: the subtile that is enlarged, or whose descriptor is drawn.
        base: for ``advance`` and ``word``: address of the tile in bytes.
        colour: for ``tile``: ``order``, ``bank``, ``atom``, ``subtile`` or ``chunk``.
        access: for ``banks``: layout from (threads, values) to an index into the tile; the rows of a chunk if left
            out.
        access_bytes: bytes that a thread moves at once.
        number: index of the access to draw, among the accesses of the threads.

    Raises:
        DescriptorError: if there is no such kind, stage, subtile or access, or too many parts would be drawn.
        ChoiceError: for an unknown kind or color mode.

    >>> from descriptors import derive
    >>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
    >>> print(picture(d, "advance").text().splitlines()[0])
    16 subtiles, one descriptor: only the start address moves
    """
    make = next((OTHERS[base_type] for base_type in type(answer).__mro__ if base_type in OTHERS), None)
    if make is not None:
        if kind is not None:
            raise DescriptorError(f"picture: kind is {brief(kind)}, but only a derivation has several kinds")
        return make(answer)
    if not isinstance(answer, Derivation):
        known = ", ".join(sorted(answer_type.__name__ for answer_type in (Derivation, *OTHERS)))
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
        as_integer(index, f"picture: {name} of the subtile", maximum=extent - 1)
        for index, name, extent in zip(subtile, ("mn", "k"), a.subtile_grid, strict=True)
    )
    return mn, k


_STYLE = (
    ":root{color-scheme:light dark}body{margin:24px auto;padding:0 20px;max-width:1320px;"
    "font-family:ui-sans-serif,system-ui,sans-serif}section{margin:0 0 40px}h1{font-size:20px}h2{font-size:15px}"
)


@frozen
class Gallery(Picture):
    """Several pictures with their names.

    Args:
        title: the title of the gallery.
        pictures: name and picture of each entry.
    """

    title: str
    pictures: tuple[tuple[str, Picture], ...]

    def scene(self) -> Scene:
        """Draw the pictures one below the other."""
        figure, y = Figure(), 0.0
        for _, entry in self.pictures:
            scene = entry.scene()
            figure.place(scene, 0, y)
            y += scene.height + 12
        return figure.scene(self.title, " ".join(entry.scene().description for _, entry in self.pictures))

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return the texts of the pictures one after the other."""
        return "\n\n\n".join(entry.text(color=color, width=width) for _, entry in self.pictures)

    def record(self) -> dict[str, Any]:
        """Return the numbers of each picture, by name."""
        return {name: entry.record() for name, entry in self.pictures}

    def html(self) -> str:
        """Return a document that contains every picture and needs no other file."""
        parts = "".join(
            f'<section id="{escape(name)}"><h2>{escape(name)}</h2>{entry._repr_html_()}</section>\n'
            for name, entry in self.pictures
        )
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            f"{PAGE_MARK.decode()}<title>{escape(self.title)}</title><style>{_STYLE}</style></head>\n"
            f"<body><h1>{escape(self.title)}</h1>\n{parts}</body></html>\n"
        )
