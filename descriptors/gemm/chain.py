"""The chain of a kernel's data: every link, from global memory to global memory, proved against its neighbour.

A chain has legs: A and B from global memory to the operand that an instruction multiplies, D from the accumulator back
to global memory. A link either has the elements of the tile somewhere, a layout, a fragment, or moves what lies
somewhere, a tensor copy, a word, ``ldmatrix``. The elements are followed one by one, as they are moved, whatever they
are called; where a link says where it has them, each must lie there. The first that does not is told with both ends.

A link that is wrong is taken at its word from there on, so that every other one is judged too, against its neighbour.
``proved``: every link was compared with its neighbour, for every element. ``incomplete``: some were not, which are
named. What the chain does not look at: when a copy is done, and whether the numbers are added up right.

>>> from descriptors.gemm.chain_notation import chain
>>> links = ["tma type=bf16 extents=512x256 strides=1024 box=64x128 swizzle=128B",
...          "layout S<2,3,3> o 0 o (128,64):(64,1)", "word 0x4000004000010000 mma=64x16 advance=(2,4):(512,2)"]
>>> report = chain(links, tile="128x64", dtype="bf16").verify()
>>> report.verdict, len(report.legs[0].wrong)  # the layout, which neither neighbour has
('wrong', 2)
>>> print(report.legs[0].links[1].first)
tma puts (4,0) at byte 0x240, layout has it at byte 0x200, where (4,32) lies
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from descriptors.errors import DescriptorError, LayoutError
from descriptors.gemm.memory_links import UndecidedLinkError, Words
from descriptors.gemm.places import GLOBAL, SHARED, Contents, Home, Move, Tile, place_text, preposition
from descriptors.gemm.register_links import Conversion
from descriptors.smem.instructions.legality import split_refusal
from descriptors.smem.operands.operand import ElementType
from descriptors.text import Told, counted, some_texts
from layoutalg.frozen import frozen, replace

if TYPE_CHECKING:
    from descriptors.gemm.places import Numbers


class Link(Protocol):
    """What every link has.

    Attributes:
        noun: what it is called.
        verbs: what it does to an element, said of what it leaves and of what it takes.
    """

    @property
    def noun(self) -> str: ...  # noqa: D102
    @property
    def verbs(self) -> tuple[str, str]: ...  # noqa: D102
    def steps(self, tile: Tile) -> Iterator[Home | Move]: ...  # noqa: D102


@frozen
class Leg:
    """One way of a tile through memories.

    Args:
        name: ``A``, ``B``, ``D``; "" of a chain that is one leg.
        tile: rows and columns: MN x K, of D M x N.
        element: the type of its elements where it begins.
        links: in order.
    """

    name: str
    tile: tuple[int, int]
    element: ElementType
    links: tuple[Link, ...]


@frozen
class Disagreement:
    """The first element that two links have at different places.

    Args:
        element: its coordinate in the tile.
        left, right: names of the links.
        lies: where the left one leaves it, as text; "" if nowhere.
        expected: where the right one has it, or takes it from.
        other: the element that lies there; "" if none does.
        text: both ends in one sentence.
    """

    element: tuple[int, int]
    left: str
    right: str
    lies: str
    expected: str
    other: str
    text: str

    def __str__(self) -> str:
        return self.text


@frozen
class LinkReport:
    """What was found at a link.

    Args:
        name: what it is called.
        text: what it is.
        verdict: ``begins``; ``proved``, against what stands before it; ``moves`` what the next one is held against;
            ``wrong``; ``incomplete`` where it was not decided, or not reached.
        compared: elements that were compared.
        differing: how many of them lie elsewhere.
        first: the first of those.
        because: why it is incomplete; of a wrong link, why its word has no meaning.
    """

    name: str
    text: str
    verdict: str
    compared: int = 0
    differing: int = 0
    first: Disagreement | None = None
    because: str = ""


@frozen
class LegReport:
    """What was found along a leg.

    Args:
        name: of the leg.
        tile: rows and columns.
        elements: of the tile that are there where the leg begins: all, or what is inside of the tensor.
        links: what was found at each.
        sharing: number of elements that share an address with another one, so that they cannot differ.
    """

    name: str
    tile: tuple[int, int]
    elements: int
    links: tuple[LinkReport, ...]
    sharing: int = 0

    @property
    def wrong(self) -> tuple[int, ...]:
        """The numbers of the links that are wrong, from 0."""
        return tuple(i for i, link in enumerate(self.links) if link.verdict == "wrong")

    @property
    def open(self) -> tuple[int, ...]:
        """The numbers of those that nothing decided: also the last one, if it moves and nothing says where to."""
        last = len(self.links) - 1
        return tuple(
            i
            for i, link in enumerate(self.links)
            if link.verdict == "incomplete" or (i == last and link.verdict in ("moves", "begins"))
        )


@frozen
class ChainReport(Told):
    """The verdict on a chain.

    Args:
        legs: each way of it.
        missing: legs that were not given where others were.
        evidence: how what links move is known.
        warnings: set bits of words that belong to no field.
    """

    legs: tuple[LegReport, ...]
    missing: tuple[str, ...] = ()
    evidence: str = "measured on a Hopper GPU"
    warnings: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """``proved``, ``wrong`` or ``incomplete``."""
        if any(leg.wrong for leg in self.legs):
            return "wrong"
        return "incomplete" if any(leg.open for leg in self.legs) else "proved"

    @property
    def ok(self) -> bool:
        """Whether all of it is proved."""
        return self.verdict == "proved"

    @property
    def headline(self) -> str:
        """The answer in one line."""
        missing = f"; not given: {', '.join(self.missing)}" if self.missing else ""
        for leg in self.legs:
            if leg.wrong:
                link, more = leg.links[leg.wrong[0]], sum(len(one.wrong) for one in self.legs) - 1
                which = f"{_at(leg, leg.wrong[0])}{f', and {more} more' if more else ''}"
                why = link.because or link.first
                return f"wrong: {which}: {why}; {link.differing} of {link.compared} elements{missing}"
        proved = "; ".join(_together(self.legs))
        undecided = [
            f"{_at(leg, i)}, {split_refusal(leg.links[i].because)[0] or _UNANSWERED}"
            for leg in self.legs
            for i in leg.open
        ]
        if undecided:
            return f"incomplete: {'; '.join(undecided)}{'; proved: ' if proved else ''}{proved}{missing}"
        return f"proved: {proved}{missing}"


_UNANSWERED = "no later link says where the elements must be"


def _together(legs: Sequence[LegReport]) -> Iterator[str]:
    """What was proved, said once of legs that follow one another and are alike: ``A of CTA 0, of CTA 1 ...``."""
    for (first, said), alike in groupby(legs, lambda leg: (leg.name.partition(" ")[0], _proved(leg))):
        names = [leg.name for leg in alike]
        name = ", ".join(some_texts([names[0], *(one.removeprefix(f"{first} ") for one in names[1:])], 4))
        if said:
            yield f"{name} {said}" if name else said


def _proved(leg: LegReport) -> str:
    """How many elements, through which links; "" if none was compared."""
    compared = [i for i, link in enumerate(leg.links) if link.verdict == "proved"]
    if not compared:
        return ""
    names = ", ".join(link.name for link in leg.links[: compared[-1] + 1])
    whole = leg.tile[0] * leg.tile[1]
    count = (
        counted(whole, "element") if leg.elements == whole else f"{leg.elements} of {whole} elements, which are there,"
    )
    shared = f", of which {leg.sharing} share an address with another one," if leg.sharing else ""
    return f"{count}{shared} through {names}"


def _at(leg: LegReport, index: int) -> str:
    return f"{leg.name + ', ' if leg.name else ''}link {index + 1}, {leg.links[index].name}"


@frozen
class Chain:
    """Links in order, of one leg or of several.

    Args:
        legs: each way.
        arch: ``sm90`` or ``sm100``; "" if nobody said it.
        missing: legs that a whole product has and this chain has not.
    """

    legs: tuple[Leg, ...]
    arch: str = ""
    missing: tuple[str, ...] = ()

    def verify(self) -> ChainReport:
        """Follow every element along every leg.

        Raises:
            DescriptorError: if a link cannot be: a map that the driver refuses, a fragment that does not cover the
                tile, a link that takes from another memory than the one before it leaves the elements in.

        >>> from descriptors.gemm.chain_notation import chain
        >>> print(chain(["layout (8,8):(8,1)", "ldmatrix.x1", "fragment mma.m8n8k16.C"], tile="8x8").verify().headline)
        proved: 64 elements through layout, ldmatrix.x1, mma.m8n8k16.C
        """
        walks = [_Walk(leg, self.arch) for leg in self.legs]
        reports = tuple(walk.report() for walk in walks)
        remarks = list(dict.fromkeys(one for walk in walks for one in walk.remarks))
        compared = any(link.compared for leg in reports for link in leg.links)
        usual = "measured on a Hopper GPU" if compared else "nothing was compared"
        warnings = tuple(one for walk in walks for one in walk.warnings)
        return ChainReport(reports, self.missing, "; ".join(remarks) or usual, warnings)


class _Author(NamedTuple):
    """Who left the elements where they are."""

    name: str
    verb: str


class _Walk:
    """One leg, walked: where the elements are, and who left them there."""

    def __init__(self, leg: Leg, arch: str) -> None:
        self.leg = leg
        self.tile = Tile(*leg.tile, leg.element, arch)
        self.carried: Any = None
        self.remarks: list[str] = []
        self.warnings: list[str] = []
        self.author = _Author("", "")
        #: For every element the first one that is stored at the same address; None where all have their own.
        self.stored_with: Any = None

    def report(self) -> LegReport:
        """What was found, link by link."""
        reports: list[LinkReport] = []
        reason = ""
        for index, link in enumerate(self.leg.links):
            if reason:
                reports.append(LinkReport(_name(link), str(link), "incomplete", because=reason))
                continue
            try:
                reports.append(self._link(index, link))
            except UndecidedLinkError as error:
                reports.append(LinkReport(_name(link), str(link), "incomplete", because=str(error)))
                reason = f"not reached, because {_name(link)} is not decided"
            except LayoutError as error:
                where = f"{self.leg.name + ', ' if self.leg.name else ''}link {index + 1}"
                raise DescriptorError(f"chain: {where}, {link.noun}: {error}") from None
        elements = 0 if self.carried is None else int(self.carried.sum())
        return LegReport(self.leg.name, self.leg.tile, elements, tuple(reports), self._shared())

    def _link(self, index: int, link: Link) -> LinkReport:
        tile = replace(self.tile, after=self._after(index))
        remark = getattr(link, "remark", None)
        if remark is not None and remark(tile):
            self.remarks.append(remark(tile))
        if isinstance(link, Words):
            where = f"{self.leg.name + ', ' if self.leg.name else ''}link {index + 1}"
            self.warnings += [f"{where}, {_name(link)}: {warning}" for warning in link.warnings(tile)]
        # A move is judged by the home that the link itself has behind it, if it has one.
        compared, first, differing, verdict = 0, None, 0, "moves"
        last: tuple[Move, Contents] | None = None
        for step in link.steps(tile):
            if isinstance(step, Move):
                before = self._contents(step)
                last = (step, before)
                self.tile = replace(self.tile, contents=before.moved(step))
                continue
            if self.carried is None:
                verdict = "begins"
                self._begin(step)
                continue
            wrong, kept = self._compared(step)
            compared, verdict = compared + int(kept.sum()), "wrong" if verdict == "wrong" else "proved"
            if wrong.any():
                verdict, differing = "wrong", differing + int(wrong.sum())
                first = first or self._disagreement(link, step, wrong, last)
            self._settle(step)
            last = None
        if verdict == "begins" and last is not None:
            verdict = "moves"
        elif last is not None and verdict == "proved":
            verdict = "moves" if self._is_last(index) else "proved"
        self._pass(link, tile)
        text, unread, because = getattr(link, "text", None), getattr(link, "unread", None), ""
        if verdict == "wrong" and isinstance(link, Words):
            because = link.unreadable(tile)
        if unread is not None and verdict != "wrong" and (because := unread(tile)):
            verdict = "incomplete"
            self.remarks.append("not measured, because no instruction reads such an operand")
        return LinkReport(_name(link), text(tile) if text else str(link), verdict, compared, differing, first, because)

    def _is_last(self, index: int) -> bool:
        return index == len(self.leg.links) - 1

    def _begin(self, home: Home) -> None:
        import numpy as np

        self.carried = np.zeros(self.tile.size, dtype=bool)
        self.carried[home.elements] = True
        self._check_inside()
        self._settle(home)

    def _check_inside(self) -> None:
        if not self.carried.any():
            raise DescriptorError("the whole tile is outside the tensor")

    def _settle(self, home: Home) -> None:
        """Take a home at its word: what the next link is held against."""
        import numpy as np

        kept = self.carried[home.elements]
        _, first, sharing = np.unique(home.places[kept], return_index=True, return_inverse=True)
        if len(first) < len(sharing) and home.space in (SHARED, GLOBAL):
            elements = home.elements[kept]
            self.stored_with = np.arange(self.tile.size) if self.stored_with is None else self.stored_with
            self.stored_with[elements] = self.stored_with[elements[first][sharing]]
        contents = Contents.of(home.space, home.places[kept], home.elements[kept])
        self.tile = replace(self.tile, contents=contents)

    def _contents(self, move: Move) -> Contents:
        contents = self.tile.contents
        if contents is None or contents.space != move.source:
            found = f"{self.author.name} leaves them in {contents.space}" if contents else "no link before it has any"
            raise DescriptorError(f"it takes elements from {move.source}, but {found}")
        return contents

    def _compared(self, home: Home) -> tuple[Numbers, Numbers]:
        """Which places of a home hold another element than they must, and which were looked at."""
        import numpy as np

        contents = self.tile.contents
        assert contents is not None
        if contents.space != home.space:
            raise DescriptorError(
                f"it has elements in {home.space}, but {self.author.name} leaves them in {contents.space}"
            )
        covered = np.zeros(self.tile.size, dtype=bool)
        covered[home.elements] = True
        if home.clips:
            self.carried &= covered
            self._check_inside()
        kept = self.carried[home.elements]
        if (self.carried & ~covered).any():
            gone = int(np.flatnonzero(self.carried & ~covered)[0])
            raise DescriptorError(f"it does not have element {self.tile.named(gone)} of the tile")
        wrong: Numbers = (self._stored_as(contents.at(home.places)) != self._stored_as(home.elements)) & kept
        return wrong, kept

    def _stored_as(self, elements: Numbers) -> Numbers:
        """Return each element, or the first of those that share its address; -1 stays -1."""
        import numpy as np

        return elements if self.stored_with is None else np.where(elements < 0, -1, self.stored_with[elements])

    def _shared(self) -> int:
        """Return the number of elements that share their address with another one."""
        import numpy as np

        if self.stored_with is None:
            return 0
        counts = np.unique(self.stored_with, return_counts=True)[1]
        return int(counts[counts > 1].sum())

    def _disagreement(self, link: Link, home: Home, wrong: Any, last: tuple[Move, Contents] | None) -> Disagreement:
        """The first element that lies elsewhere: of a link that moves, what it takes for it."""
        import numpy as np

        places = np.flatnonzero(wrong)
        at = places[np.argmin(home.elements[places])]
        element, expected, contents = int(home.elements[at]), int(home.places[at]), self.tile.contents
        assert contents is not None
        space, word = home.space, "from" if link.verbs[1] in ("takes", "reads") else preposition(home.space)
        if last is not None:
            move, before = last
            reached = np.flatnonzero(move.leaves == expected)
            if not len(reached):
                return self._nowhere(link, element, before)
            space, contents, expected, word = move.source, before, int(move.takes[reached[-1]]), "from"
        other = int(contents.at(np.array([expected]))[0])
        lies, columns = contents.where(element), self.tile.columns
        left = "" if lies is None else f"{preposition(space)} {place_text(space, lies, columns)}"
        right = f"{word} {place_text(space, expected, columns)}"
        name, there = self.tile.named(element), f"{self.tile.named(other)} lies" if other >= 0 else "nothing lies"
        begins = f"{self.author.name} {self.author.verb} {name} {left}"
        if lies is None:
            begins = f"{self.author.name} leaves {name} nowhere in {space}"
        text = f"{begins}, {_name(link)} {link.verbs[1]} it {right}, where {there}"
        other_name = self.tile.named(other) if other >= 0 else ""
        return Disagreement(divmod(element, columns), self.author.name, _name(link), left, right, other_name, text)

    def _nowhere(self, link: Link, element: int, before: Contents) -> Disagreement:
        """An element that a link does not move at all."""
        lies, columns = before.where(element), self.tile.columns
        left = "" if lies is None else f"{preposition(before.space)} {place_text(before.space, lies, columns)}"
        name = self.tile.named(element)
        begins = f"{self.author.name} {self.author.verb} {name} {left}"
        if lies is None:
            begins = f"{self.author.name} leaves {name} nowhere in {before.space}"
        text = f"{begins}, {_name(link)} does not move it"
        return Disagreement(divmod(element, columns), self.author.name, _name(link), left, "", "", text)

    def _after(self, index: int) -> Home | None:
        """Where the next link has the elements in memory."""
        following = next((one for one in self.leg.links[index + 1 :] if not isinstance(one, Conversion)), None)
        memory = getattr(following, "memory", None)
        home: Home | None = memory(self.tile) if memory else None
        return home

    def _pass(self, link: Link, tile: Tile) -> None:
        """What the next link knows of this one."""
        if not isinstance(link, Conversion):
            self.author = _Author(_name(link), link.verbs[0])
        memory = getattr(link, "memory", None)
        if memory is not None:
            self.tile = replace(self.tile, before=memory(tile))
        if isinstance(link, Conversion):
            self.tile = replace(self.tile, element=link.element)


def _name(link: Link) -> str:
    """What a link is called: an instruction and a fragment by their own names."""
    own = str(link).partition(" ")[0]
    named = link.noun in ("ldmatrix", "tcgen05", "copy") or (link.noun == "fragment" and own[:1].isalpha())
    return own if named else link.noun


def product_legs(legs: Sequence[Leg]) -> tuple[str, ...]:
    """Which of A, B and D of a product no leg is."""
    return tuple(name for name in ("A", "B", "D") if name not in [leg.name for leg in legs])
