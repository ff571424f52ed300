"""Follow every element of a tile through a kernel, link by link, and compare each link with the one before it.

A chain has legs: A and B from global memory to the operand that an instruction multiplies, and D from the accumulator
back to global memory. Some links state where the elements of the tile are (a layout, a fragment). Other links move
elements (a tensor copy, a descriptor, ``ldmatrix``). The chain follows each element through the moves. Where a link
states the location of the elements, each element must have been moved there. The report of a leg has the first element
that was not, with both locations.

After a wrong link, the chain continues with the locations that this link states, so that it also checks the later links
against their neighbors. The verdict is ``proved`` if every link was compared with its neighbor for every element, and
``incomplete`` if some links were not, which the report names. The chain checks neither when a copy completes nor the
arithmetic of the product.

>>> from descriptors.gemm.chain_notation import chain
>>> links = ["tma type=bf16 extents=512x256 strides=1024 box=64x128 swizzle=128B",
...          "layout S<2,3,3> o 0 o (128,64):(64,1)", "word 0x4000004000010000 mma=64x16 advance=(2,4):(512,2)"]
>>> report = chain(links, tile="128x64", dtype="bf16").verify()
>>> report.verdict, len(report.legs[0].wrong)  # neither neighbor agrees with the layout
('wrong', 2)
>>> print(report.legs[0].links[1].first)
tma puts (4,0) at byte 0x240, layout has it at byte 0x200, where (4,32) is
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    """The interface of every link.

    Attributes:
        noun: the word that begins a link of this kind.
        verbs: the verbs of messages about an element that the link leaves somewhere, and that it expects somewhere.
    """

    @property
    def noun(self) -> str: ...  # noqa: D102
    @property
    def verbs(self) -> tuple[str, str]: ...  # noqa: D102
    def steps(self, tile: Tile) -> Iterator[Home | Move]: ...  # noqa: D102


@frozen
class Leg:
    """The path of one tile through memories.

    Args:
        name: a name such as ``A``, ``B`` or ``D``; "" for a chain with a single leg.
        tile: rows and columns: MN x K, or M x N for D.
        element: the element type at the first link.
        links: the links, in order.
    """

    name: str
    tile: tuple[int, int]
    element: ElementType
    links: tuple[Link, ...]


@frozen
class Disagreement:
    """The first element that two links have at different locations.

    Args:
        element: coordinate of the element in the tile.
        left, right: names of the two links.
        lies: the location where the left link leaves the element, as text; "" if there is none.
        expected: where the right link expects the element, as text.
        other: the element at that location; "" if there is none.
        text: both locations in one sentence.
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
    """The verdict on a link.

    Args:
        name: name of the link.
        text: the link as text.
        verdict: ``begins`` for the first link; ``proved`` if it agrees with the link before it; ``moves`` if it only
            moves elements, which the next link is compared with; ``wrong``; ``incomplete`` if it was not decided or not
            reached.
        compared: number of elements that were compared.
        differing: number of compared elements that are elsewhere.
        first: the first of these elements.
        because: the reason for ``incomplete``; for a wrong link, why its descriptor has no meaning.
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
    """The verdict on a leg.

    Args:
        name: name of the leg.
        tile: rows and columns.
        elements: number of elements of the tile that exist: all, or those inside the tensor.
        links: the verdict on each link.
        sharing: number of elements that share an address with another element and so cannot be distinguished.
    """

    name: str
    tile: tuple[int, int]
    elements: int
    links: tuple[LinkReport, ...]
    sharing: int = 0

    @property
    def wrong(self) -> tuple[int, ...]:
        """Indices of the wrong links."""
        return tuple(i for i, link in enumerate(self.links) if link.verdict == "wrong")

    @property
    def open(self) -> tuple[int, ...]:
        """Indices of the links that are not decided, which include a last link that moves or only begins."""
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
        legs: the verdict on each leg.
        missing: names of the legs that were not given although others were.
        evidence: how the behavior of the moving links is known.
        warnings: warnings about descriptors, such as set bits that belong to no field.
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
        """Whether the verdict is ``proved``."""
        return self.verdict == "proved"

    @property
    def headline(self) -> str:
        """The answer in one line."""
        missing = f"; not given: {', '.join(self.missing)}" if self.missing else ""
        for leg in self.legs:
            if leg.wrong:
                link, more = leg.links[leg.wrong[0]], sum(len(leg.wrong) for leg in self.legs) - 1
                place = f"{_at(leg, leg.wrong[0])}{f', and {more} more' if more else ''}"
                why = link.because or link.first
                return f"wrong: {place}: {why}; {link.differing} of {link.compared} elements{missing}"
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
    """Yield what was proved, once for adjacent legs that are alike: ``A of CTA 0, of CTA 1 ...``."""
    for (first, proved), alike in groupby(legs, lambda leg: (leg.name.partition(" ")[0], _proved(leg))):
        names = [leg.name for leg in alike]
        name = ", ".join(some_texts([names[0], *(other.removeprefix(f"{first} ") for other in names[1:])], 4))
        if proved:
            yield f"{name} {proved}" if name else proved


def _proved(leg: LegReport) -> str:
    """Return the number of proved elements and the links that they go through; "" if no element was compared."""
    compared = [i for i, link in enumerate(leg.links) if link.verdict == "proved"]
    if not compared:
        return ""
    names = ", ".join(link.name for link in leg.links[: compared[-1] + 1])
    tile_elements = leg.tile[0] * leg.tile[1]
    count = (
        counted(tile_elements, "element")
        if leg.elements == tile_elements
        else f"{leg.elements} of {tile_elements} elements, which are there,"
    )
    shared = f", of which {leg.sharing} share an address with another one," if leg.sharing else ""
    return f"{count}{shared} through {names}"


def _at(leg: LegReport, index: int) -> str:
    return f"{leg.name + ', ' if leg.name else ''}link {index + 1}, {leg.links[index].name}"


@frozen
class Chain:
    """The links of one or several legs.

    Args:
        legs: the legs.
        arch: the architecture, such as ``sm90`` or ``sm100``; "" if it was not given.
        missing: names of the legs that a whole product has and this chain does not.
    """

    legs: tuple[Leg, ...]
    arch: str = ""
    missing: tuple[str, ...] = ()

    def verify(self) -> ChainReport:
        """Follow every element along every leg.

        Raises:
            DescriptorError: if a link is not possible: a tensor map that the driver rejects, a fragment that does not
                cover the tile, a link that takes elements from another memory than the one that they are in.

        >>> from descriptors.gemm.chain_notation import chain
        >>> print(chain(["layout (8,8):(8,1)", "ldmatrix.x1", "fragment mma.m8n8k16.C"], tile="8x8").verify().headline)
        proved: 64 elements through layout, ldmatrix.x1, mma.m8n8k16.C
        """
        walks = [_Walk(leg, self.arch) for leg in self.legs]
        reports = tuple(walk.report() for walk in walks)
        remarks = list(dict.fromkeys(remark for walk in walks for remark in walk.remarks))
        compared = any(link.compared for leg in reports for link in leg.links)
        usual = "measured on a Hopper GPU" if compared else "nothing was compared"
        warnings = tuple(warning for walk in walks for warning in walk.warnings)
        return ChainReport(reports, self.missing, "; ".join(remarks) or usual, warnings)


class _Author(NamedTuple):
    """The link that left the elements where they are: its name and its verb."""

    name: str
    verb: str


class _Walk:
    """The walk along one leg: where the elements are after each link, and which link left them there."""

    def __init__(self, leg: Leg, arch: str) -> None:
        self.leg = leg
        self.tile = Tile(*leg.tile, leg.element, arch)
        self.carried: Any = None
        self.remarks: list[str] = []
        self.warnings: list[str] = []
        self.author = _Author("", "")
        #: For every element, the first element at the same address; None if all addresses are different.
        self.stored_with: Any = None

    def report(self) -> LegReport:
        """Return the verdict on the leg, link by link."""
        reports: list[LinkReport] = []
        reason = ""
        for index, link in enumerate(self.leg.links):
            if reason:
                reports.append(LinkReport(_name(link), str(link), "incomplete", because=reason))
                continue
            try:
                after = self._after(index)
                with self._located(index):
                    reports.append(self._link(index, link, after))
            except UndecidedLinkError as error:
                reports.append(LinkReport(_name(link), str(link), "incomplete", because=str(error)))
                reason = f"not reached, because {_name(link)} is not decided"
        elements = 0 if self.carried is None else int(self.carried.sum())
        return LegReport(self.leg.name, self.leg.tile, elements, tuple(reports), self._shared())

    @contextmanager
    def _located(self, index: int) -> Iterator[None]:
        """Add the number and the noun of a link to the errors of a block."""
        try:
            yield
        except UndecidedLinkError:
            raise
        except LayoutError as error:
            place, noun = f"{self.leg.name + ', ' if self.leg.name else ''}link {index + 1}", self.leg.links[index].noun
            raise DescriptorError(f"chain: {place}, {noun}: {str(error).removeprefix(f'{noun}: ')}") from None

    def _link(self, index: int, link: Link, after: Home | None) -> LinkReport:
        """Follow the elements through one link, and return the verdict on it.

        Args:
            index: position of the link in its leg.
            link: the link.
            after: where the next link states that the elements are in memory; None if it does not.
        """
        tile = replace(self.tile, after=after)
        remark = getattr(link, "remark", None)
        if remark is not None and remark(tile):
            self.remarks.append(remark(tile))
        if isinstance(link, Words):
            place = f"{self.leg.name + ', ' if self.leg.name else ''}link {index + 1}"
            self.warnings += [f"{place}, {_name(link)}: {warning}" for warning in link.warnings(tile)]
        # If a link has a move and then a home, the home judges the move.
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
            wrong, was_compared = self._compared(step)
            compared, verdict = compared + int(was_compared.sum()), "wrong" if verdict == "wrong" else "proved"
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
        """Take the locations of a home as those of the elements, with which the next link is compared."""
        import numpy as np

        is_carried = self.carried[home.elements]
        _, first, sharing = np.unique(home.places[is_carried], return_index=True, return_inverse=True)
        if len(first) < len(sharing) and home.space in (SHARED, GLOBAL):
            elements = home.elements[is_carried]
            self.stored_with = np.arange(self.tile.size) if self.stored_with is None else self.stored_with
            self.stored_with[elements] = self.stored_with[elements[first][sharing]]
        contents = Contents.of(home.space, home.places[is_carried], home.elements[is_carried])
        self.tile = replace(self.tile, contents=contents)

    def _contents(self, move: Move) -> Contents:
        contents = self.tile.contents
        if contents is None or contents.space != move.source:
            reason = f"{self.author.name} leaves them in {contents.space}" if contents else "no link before it has any"
            raise DescriptorError(f"it takes elements from {move.source}, but {reason}")
        return contents

    def _compared(self, home: Home) -> tuple[Numbers, Numbers]:
        """Return which locations of a home have another element than the home states, and which were compared."""
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
        is_compared = self.carried[home.elements]
        if (self.carried & ~covered).any():
            missing = int(np.flatnonzero(self.carried & ~covered)[0])
            raise DescriptorError(f"it does not have element {self.tile.named(missing)} of the tile")
        wrong: Numbers = (self._stored_as(contents.at(home.places)) != self._stored_as(home.elements)) & is_compared
        return wrong, is_compared

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
        """Describe the first element that is elsewhere; for a link that moves elements, where it takes it from."""
        import numpy as np

        indices = np.flatnonzero(wrong)
        index = indices[np.argmin(home.elements[indices])]
        element, expected, contents = int(home.elements[index]), int(home.places[index]), self.tile.contents
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
        name, content = self.tile.named(element), f"{self.tile.named(other)} is" if other >= 0 else "no element is"
        moved = f"{self.author.name} {self.author.verb} {name} {left}"
        if lies is None:
            moved = f"{self.author.name} leaves {name} nowhere in {space}"
        text = f"{moved}, {_name(link)} {link.verbs[1]} it {right}, where {content}"
        other_name = self.tile.named(other) if other >= 0 else ""
        return Disagreement(divmod(element, columns), self.author.name, _name(link), left, right, other_name, text)

    def _nowhere(self, link: Link, element: int, before: Contents) -> Disagreement:
        """Describe an element that a link does not move at all."""
        lies, columns = before.where(element), self.tile.columns
        left = "" if lies is None else f"{preposition(before.space)} {place_text(before.space, lies, columns)}"
        name = self.tile.named(element)
        moved = f"{self.author.name} {self.author.verb} {name} {left}"
        if lies is None:
            moved = f"{self.author.name} leaves {name} nowhere in {before.space}"
        text = f"{moved}, {_name(link)} does not move it"
        return Disagreement(divmod(element, columns), self.author.name, _name(link), left, "", "", text)

    def _after(self, index: int) -> Home | None:
        """Return where the next link states that the elements are in memory; None if it does not."""
        for number, link in enumerate(self.leg.links[index + 1 :], index + 1):
            if not isinstance(link, Conversion):
                memory = getattr(link, "memory", None)
                with self._located(number):
                    home: Home | None = memory(self.tile) if memory else None
                return home
        return None

    def _pass(self, link: Link, tile: Tile) -> None:
        """Record what the next link needs to know about this one."""
        if not isinstance(link, Conversion):
            self.author = _Author(_name(link), link.verbs[0])
        memory = getattr(link, "memory", None)
        if memory is not None:
            self.tile = replace(self.tile, before=memory(tile))
        if isinstance(link, Conversion):
            self.tile = replace(self.tile, element=link.element)


def _name(link: Link) -> str:
    """Return the name of a link in messages: the own name of an instruction or a fragment, else the noun."""
    own = str(link).partition(" ")[0]
    named = link.noun in ("ldmatrix", "tcgen05", "copy") or (link.noun == "fragment" and own[:1].isalpha())
    return own if named else link.noun


def product_legs(legs: Sequence[Leg]) -> tuple[str, ...]:
    """Return which of A, B and D are not among the legs."""
    return tuple(name for name in ("A", "B", "D") if name not in [leg.name for leg in legs])
