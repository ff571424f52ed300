"""Text in a terminal's 256 colours: the roles of cells, black on light, as in the other faces.

>>> painted("12", "c0"), painted("12", None)
('\\x1b[30;48;5;153m12\\x1b[0m', '12')
"""

from __future__ import annotations

from layoutalg.strokes.theme import ink


def painted(text: str, role: str | None) -> str:
    """A text on the ground of a role; as it is where the role is ``None`` or fills no cells."""
    colour = None if role is None else ink(role).terminal
    return text if colour is None else f"\x1b[30;48;5;{colour}m{text}\x1b[0m"
