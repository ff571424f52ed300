"""Present the verdict on a chain: as a table of its links, or as plain data.

Invariant: text and data have the same verdict and the same links.

>>> from descriptors.gemm.chain_notation import chain
>>> links = ["layout (64,16):(16,1)", "ldmatrix.x4 warps=4x1", "fragment wgmma.m64n8k16.A"]
>>> report = chain(links, tile="64x16").verify()
>>> kept = record(report)
>>> tell(report).startswith(kept["verdict"]), all(link["name"] in tell(report) for link in kept["legs"][0]["links"])
(True, True)
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.gemm.chain import ChainReport, Disagreement, LegReport, LinkReport
from descriptors.records import Record, attributes
from descriptors.smem.instructions.legality import split_refusal
from descriptors.text import aligned, extents_text

#: The text for each verdict on a link.
_SAID = {
    "begins": "begins here",
    "proved": "agrees",
    "moves": "moves",
    "wrong": "disagrees",
    "incomplete": "not decided",
}


def tell(report: ChainReport) -> str:
    """Return a verdict as text: the answer, then every link, with both locations at each wrong link.

    >>> from descriptors.gemm.chain_notation import chain
    >>> print(tell(chain(["fragment mma.m16n8k16.C", "store", "tensor (16,8):(1,16)"], tile="16x8").verify()))
    proved: 128 elements through mma.m16n8k16.C, store, tensor
       16x8
       1  mma.m16n8k16.C                          begins here
       2  store           what each thread holds  moves
       3  tensor          (16,8):(1,16)           agrees
    known: measured on a Hopper GPU
    """
    lines = [report.headline]
    for leg in report.legs:
        lines += _leg_lines(leg)
    lines += [f"warning: {warning}" for warning in report.warnings]
    lines.append(f"known: {report.evidence}")
    return "\n".join(lines)


def _leg_lines(leg: LegReport) -> Iterator[str]:
    yield f"   {leg.name + ', ' if leg.name else ''}{extents_text(leg.tile)}"
    rows = [(str(i), link.name, _what(link), _said(link)) for i, link in enumerate(leg.links, 1)]
    for line, link in zip(aligned(rows, indent=3), leg.links, strict=True):
        yield line.rstrip()
        if link.first is not None:
            yield f"      {link.because or link.first}"
        elif reason := split_refusal(link.because)[1]:
            yield f"      note: {reason}"


def _what(link: LinkReport) -> str:
    """Return a link's text without its name."""
    return link.text.removeprefix(link.name).strip()


def _said(link: LinkReport) -> str:
    if link.verdict == "wrong":
        return f"disagrees: {link.differing} of {link.compared} elements"
    return _SAID[link.verdict] + (f": {split_refusal(link.because)[0]}" if link.because else "")


#: The first element at which two links disagree, as plain data.
FIRST = Record(element=[int], **attributes(Disagreement, "left right lies expected other text"))
#: A verdict as plain data.
record = Record(
    "Chain",
    verdict={"incomplete", "proved", "wrong"},
    headline=str,
    legs=[
        Record(
            name={"", "A", "B", "D"},
            **attributes(LegReport, "tile elements"),
            links=[
                Record(
                    **attributes(LinkReport, "name text"),
                    verdict={"begins", "incomplete", "moves", "proved", "wrong"},
                    **attributes(LinkReport, "compared differing"),
                    first=(FIRST, None),
                    because=str,
                )
            ],
        )
    ],
    **attributes(ChainReport, "missing evidence warnings"),
)
