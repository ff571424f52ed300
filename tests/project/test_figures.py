"""The recorded figures, read back as files: sizes, type, colours. No code of the pictures is asked.

What a file paints is put together here from its rectangles and its style sheet, so that a legend is compared with the
cells as a reader sees them, fills upon fills and opacities included, on light and on dark paper.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

FIGURES = sorted((Path(__file__).resolve().parents[2] / "docs" / "figures").glob("*.svg"))
PAPER = {"light": (255.0, 255.0, 255.0), "dark": (13.0, 17.0, 23.0)}
#: The column of a README, in pixels, and the least and the largest type that is read in it.
COLUMN, LEAST, MOST = 888, 9, 20
#: Width and height of the samples of legends and of the fields of a word.
SAMPLES = {("20", "13"), ("18", "13")}

Colour = tuple[float, float, float]
Painted = tuple[float, float, float, float, str, float]

figure = pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)


def _elements(path: Path) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(path.read_text(encoding="utf-8")).iter())


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _colours(source: str, theme: str) -> dict[str, tuple[Colour, float]]:
    """The colour and the opacity of every class that fills."""
    colours = {}
    for name, value, opacity in re.findall(r"\.la \.(f-\w+)\{fill:(#\w{6})(?:;fill-opacity:([\d.]+))?\}", source):
        dark = re.search(rf"\.la \.{name}\{{fill:light-dark\(#\w{{6}},(#\w{{6}})\)\}}", source)
        assert dark is not None, name
        text = value if theme == "light" else dark.group(1)
        colours[name] = (
            (float(int(text[1:3], 16)), float(int(text[3:5], 16)), float(int(text[5:7], 16))),
            float(opacity or 1),
        )
    return colours


def _filled(path: Path) -> tuple[list[Painted], list[Painted]]:
    """Every filled rectangle in the order of painting (x, y, sizes, class, opacity), and which are samples."""
    painted: list[Painted] = []
    samples: list[Painted] = []
    for element in _elements(path):
        role = next((one for one in element.get("class", "").split() if one.startswith("f-")), None)
        if role is None or _name(element) not in ("rect", "path"):
            continue
        if _name(element) == "path":
            opacity = float(element.get("opacity", "1"))
            for x, y, wide, high in re.findall(
                r"M([-\d.]+) ([-\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z", element.get("d", "")
            ):
                painted.append((float(x), float(y), float(wide), float(high), role, opacity))
            continue
        size = element.get("width", ""), element.get("height", "")
        x, y = float(element.get("x", "0")), float(element.get("y", "0"))
        one = x, y, float(size[0]), float(size[1]), role, float(element.get("fill-opacity", "1"))
        painted.append(one)
        if size in SAMPLES and element.get("rx") == "2":
            samples.append(one)
    return painted, samples


def _seen(
    x: float, y: float, painted: list[Painted], colours: dict[str, tuple[Colour, float]], paper: Colour
) -> Colour:
    """What a reader sees at a point."""
    seen = paper
    for left, top, wide, high, role, opacity in painted:
        if left < x < left + wide and top < y < top + high:
            colour, own = colours[role]
            share = opacity * own
            seen = tuple(share * new + (1 - share) * old for new, old in zip(colour, seen, strict=True))  # type: ignore[assignment]
    return round(seen[0], 1), round(seen[1], 1), round(seen[2], 1)


@figure
def test_a_figure_has_a_size_and_its_type_can_be_read_in_a_column(path: Path) -> None:
    root = _elements(path)[0]
    wide, high = float(root.get("width", "")), float(root.get("height", ""))
    assert root.get("viewBox") == f"0 0 {wide:g} {high:g}"
    shrunk = min(1.0, COLUMN / wide)
    sizes = {float(element.get("font-size", "0")) for element in _elements(path) if _name(element) == "text"}
    assert min(sizes) * shrunk >= LEAST and max(sizes) * shrunk <= MOST, sizes


@figure
@pytest.mark.parametrize("theme", PAPER)
def test_a_legend_has_the_colours_of_the_cells(path: Path, theme: str) -> None:
    source = path.read_text(encoding="utf-8")
    colours = _colours(source, theme)
    painted, samples = _filled(path)
    body = [one for one in painted if one not in samples]
    shown = {_seen(x, y, body, colours, PAPER[theme]) for one in body for x, y in _points(one)}
    explained = {one: _middle(one, samples, colours, PAPER[theme]) for one in samples}
    for sample, colour in explained.items():
        assert colour in shown, f"nothing has the colour of the sample {sample}"
    kinds = {one[4] for one in samples if re.match(r"f-c\d", one[4])}
    if not kinds:
        return
    for cell in body:
        if re.match(r"f-c\d", cell[4]):
            colour = _middle(cell, body, colours, PAPER[theme])
            assert colour in explained.values() or _covered(cell, body), f"no sample has the colour of {cell}"


def _points(one: Painted) -> list[tuple[float, float]]:
    """Places in a rectangle, a few pixels apart in a long one."""
    x, y, wide, high, *_ = one
    shares = [0.04, 0.96, *(i / 40 for i in range(1, 40))] if wide > 200 else [0.04, 0.96]
    return [(x + wide * a, y + high * b) for a in shares for b in (0.04, 0.96)]


def _middle(one: Painted, painted: list[Painted], colours: dict[str, tuple[Colour, float]], paper: Colour) -> Colour:
    """What is seen in a corner of a rectangle, where its number is not."""
    x, y, wide, high, *_ = one
    return _seen(x + wide * 0.04, y + high * 0.04, painted, colours, paper)


def _covered(one: Painted, painted: list[Painted]) -> bool:
    """Whether something else is painted over its corner."""
    x, y = one[0] + one[2] * 0.04, one[1] + one[3] * 0.04
    later = painted[painted.index(one) + 1 :]
    return any(a < x < a + wide and b < y < b + high for a, b, wide, high, *_ in later)


@figure
def test_numbers_of_one_figure_have_one_radix(path: Path) -> None:
    """A whole word is its own name; what else is hexadecimal stands in a figure without decimal addresses."""
    texts = [element.text or "" for element in _elements(path) if _name(element) in ("text", "tspan")]
    numbers = {text for text in texts if re.fullmatch(r"(0x)?[0-9a-f]+", text)}
    hexadecimal = {text for text in numbers if text.startswith("0x") and len(text) < 18}
    decimal = {text for text in numbers if text.isdecimal() and int(text) >= 100}
    assert not (hexadecimal and decimal), (sorted(hexadecimal)[:4], sorted(decimal)[:4])
