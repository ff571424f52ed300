"""An SVG read back: which rectangle has which role, which text stands where. It imports no package of ours.

The grammar is that of the files the project writes, and no more: paths of ``M``, ``h``, ``v``, ``z``, texts and spans.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
_BOX = re.compile(r"M(-?[\d.]+) (-?[\d.]+)h(-?[\d.]+)v(-?[\d.]+)h(-?[\d.]+)z")

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Drawn:
    """What an SVG shows."""

    width: float
    height: float
    title: str
    description: str
    filled: tuple[tuple[str, Box], ...]
    texts: tuple[tuple[float, float, str, ElementTree.Element], ...]


def read(text: str) -> Drawn:
    """What an SVG shows; it fails where the text is no XML or holds a path of another form."""
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    named = [root.find(f"{SVG}title"), root.find(f"{SVG}desc")]
    assert root.attrib["aria-labelledby"].split() == [part.get("id") for part in named if part is not None]
    title, description = [(part.text or "") for part in named if part is not None]
    return Drawn(width, height, title, description, tuple(_filled(root)), tuple(_texts(root)))


def _filled(root: ElementTree.Element) -> Iterator[tuple[str, Box]]:
    for path in root.iter(f"{SVG}path"):
        role = path.attrib["class"]
        if path.get("shape-rendering") != "crispEdges":
            continue
        assert _BOX.sub("", path.attrib["d"]) == ""
        for x, y, wide, high, back in _BOX.findall(path.attrib["d"]):
            assert float(wide) == -float(back)
            yield role.removeprefix("f-"), (float(x), float(y), float(wide), float(high))


def _texts(root: ElementTree.Element) -> Iterator[tuple[float, float, str, ElementTree.Element]]:
    for text in root.iter(f"{SVG}text"):
        spans = list(text)
        y = float(text.get("y", "nan"))
        for item in spans or [text]:
            y = float(item.get("y", y))
            yield float(item.attrib["x"]), y, item.text or "", text


def cells(drawn: Drawn, x: float, y: float, width: float, height: float) -> dict[tuple[int, int], list[str]]:
    """The texts over each cell of a table whose upper left corner is (x, y), by row and column."""
    found: dict[tuple[int, int], list[str]] = {}
    for u, v, word, _ in drawn.texts:
        found.setdefault((int((v - y) // height), int((u - x) // width)), []).append(word)
    return found


def corner(drawn: Drawn) -> tuple[float, float]:
    """The upper left corner of all that is filled."""
    return min(x for _, (x, _, _, _) in drawn.filled), min(y for _, (_, y, _, _) in drawn.filled)
