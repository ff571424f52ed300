"""Colors, fonts and line widths of all pictures. Other modules use only the names of *roles*.

A role is the purpose of a shape: ``c0`` to ``c7`` distinguish eight kinds, ``r0`` to ``r7`` are an order (first to last
in memory), ``tile atom subtile chunk`` are the borders of nested levels, ``ink muted accent bad good`` are for text and
arrows, ``hair rule`` are thin lines on any fill, ``faint glow beam`` are backgrounds, and ``paper`` is the background
of the picture.

The eight kinds are four hues in two lightnesses; the hue is the number of the kind modulo 4. A search chose them so
that two kinds have a distance of at least 0.07 in OKLab with normal, protan, deutan and tritan vision, in light and
dark mode, and ``ink`` on each of them has a contrast of at least 4.5.

>>> INKS["c0"].light, INKS["c0"].dark, kind(11)
('#b7c3ee', '#242b4c', 'c3')
"""

from __future__ import annotations

from layoutalg.errors import LayoutError, brief
from layoutalg.frozen import frozen


@frozen
class Ink:
    """The colors of a role in light and dark mode, their opacity, and their number in a terminal.

    Args:
        light: color in light mode, ``#rrggbb``.
        dark: color in dark mode, ``#rrggbb``.
        opacity: from 0 to 1.
        terminal: the nearest of a terminal's 256 colors, if the role fills cells.

    >>> INKS["hair"].opacity
    0.15
    """

    light: str
    dark: str
    opacity: float = 1.0
    terminal: int | None = None


#: All roles and their colors.
INKS: dict[str, Ink] = {
    "c0": Ink("#b7c3ee", "#242b4c", terminal=153),
    "c1": Ink("#b5f2f4", "#004749", terminal=159),
    "c2": Ink("#f8eabc", "#44380d", terminal=230),
    "c3": Ink("#ecb8b2", "#3c1613", terminal=224),
    "c4": Ink("#7c8dd9", "#495489", terminal=104),
    "c5": Ink("#06adb2", "#0e797d", terminal=37),
    "c6": Ink("#bfa54a", "#635108", terminal=178),
    "c7": Ink("#d27770", "#91514b", terminal=174),
    "r0": Ink("#f3f8fd", "#101b28", terminal=231),
    "r1": Ink("#e3eefa", "#132437", terminal=255),
    "r2": Ink("#d2e4f6", "#162d46", terminal=189),
    "r3": Ink("#c0d9f2", "#193755", terminal=153),
    "r4": Ink("#adceee", "#1d4165", terminal=117),
    "r5": Ink("#99c2e9", "#214b75", terminal=111),
    "r6": Ink("#85b5e3", "#255686", terminal=75),
    "r7": Ink("#70a8dd", "#2a6197", terminal=69),
    "tile": Ink("#1b1f24", "#e6edf3"),
    "atom": Ink("#0b62a8", "#6cb6ff"),
    "subtile": Ink("#c01733", "#ff7b8a"),
    "chunk": Ink("#59626c", "#9aa4af"),
    "ink": Ink("#1b1f24", "#f0f3f6"),
    "muted": Ink("#59626c", "#9aa4af"),
    "accent": Ink("#0b62a8", "#6cb6ff"),
    "bad": Ink("#c01733", "#ff7b8a"),
    "good": Ink("#1a7f37", "#57d364"),
    "hair": Ink("#000000", "#ffffff", 0.15),
    "rule": Ink("#000000", "#ffffff", 0.48),
    "faint": Ink("#e9ecef", "#21262d", terminal=254),
    "glow": Ink("#c01733", "#ff7b8a", 0.25),
    "beam": Ink("#c01733", "#ff7b8a", 0.07),
    "paper": Ink("#ffffff", "#0d1117", terminal=231),
}

#: Number of kinds that can be distinguished, and of steps of an order.
KINDS = 8

#: The line widths of the borders of nested levels in pixels, outermost first.
BORDERS = {"tile": 2.6, "atom": 1.7, "subtile": 2.4, "chunk": 1.2}

#: The additional width of the line in the color of the paper below a border, so that the border is visible on any fill.
CASING = 2.0

SANS = "ui-sans-serif,system-ui,Inter,'Segoe UI',Roboto,'DejaVu Sans',sans-serif"
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"


def kind(number: int) -> str:
    """Return the role of a kind. There are eight; higher numbers repeat them."""
    return f"c{number % KINDS}"


def step(position: int, count: int) -> str:
    """Return the role of a position in an order of ``count`` positions.

    >>> step(0, 64), step(63, 64), step(0, 1)
    ('r0', 'r7', 'r0')
    """
    return f"r{min(position * KINDS // max(count, 1), KINDS - 1)}"


def ink(role: str) -> Ink:
    """Return the colors of a role.

    Raises:
        LayoutError: if there is no such role.

    >>> ink("good").light
    '#1a7f37'
    """
    colours = INKS.get(role)
    if colours is None:
        raise LayoutError(f"canvas: {brief(role)} is not a role; supported: {', '.join(INKS)}")
    return colours
