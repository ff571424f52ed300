"""Upper bounds of the widths of texts, from a table of advance widths; no font is needed.

The width of a character is the larger of its widths in DejaVu Sans and Inter, which are among the widest sans-serif
fonts. Characters of the monospaced font are 0.61 em wide. A character without an entry is as wide as the widest letter.

>>> width("offset", 10) < width("offset", 10, mono=True) < width("OFFSET", 10, bold=True)
True
"""

from __future__ import annotations

#: Advance widths of the characters from space to tilde, in thousandths of the size of the font.
_PLAIN = (
    *(318, 401, 460, 838, 640, 951, 780, 275, 391, 391, 500, 838, 318, 461, 318, 357, 637, 637, 637, 637, 643, 637),
    *(637, 637, 637, 637, 337, 337, 838, 838, 838, 531, 1000, 685, 687, 728, 771, 632, 587, 775, 752, 295, 543, 656),
    *(563, 890, 753, 788, 635, 788, 695, 638, 643, 742, 685, 989, 686, 665, 686, 391, 357, 391, 838, 500, 500, 613),
    *(635, 559, 635, 616, 361, 635, 634, 278, 278, 580, 278, 975, 634, 612, 635, 635, 412, 523, 393, 634, 592, 818),
    *(592, 592, 542, 637, 363, 637, 838),
)
_BOLD = (
    *(349, 457, 521, 838, 696, 1002, 873, 307, 458, 458, 544, 838, 380, 466, 380, 379, 696, 696, 696, 696, 696, 696),
    *(696, 696, 696, 696, 400, 400, 838, 838, 838, 581, 1000, 774, 763, 744, 831, 684, 684, 821, 837, 373, 561, 775),
    *(638, 996, 837, 851, 733, 851, 771, 721, 683, 813, 774, 1104, 771, 725, 726, 458, 379, 458, 838, 500, 500, 675),
    *(716, 593, 716, 679, 436, 716, 712, 343, 343, 666, 343, 1042, 712, 688, 716, 716, 494, 596, 479, 712, 652, 924),
    *(646, 652, 583, 712, 366, 712, 838),
)
_OTHERS = {"\u00d7": 838, "\u2013": 660, "\u00b7": 380, "\u2192": 1000, "\u202f": 200, "\u2026": 1000, "\u00b1": 838}
_OTHER = 1000
_MONO = 610
_FIRST = 32


def width(text: str, size: float, *, mono: bool = False, bold: bool = False) -> float:
    """Return an upper bound of the width of a line of text, in pixels.

    Args:
        text: one line.
        size: size of the font, in pixels.
        mono: whether the font is monospaced.
        bold: whether the font is bold; this does not change the width of a monospaced font.

    >>> width("1024", 10, mono=True)
    24.4
    """
    if mono:
        return len(text) * _MONO * size / 1000
    table = _BOLD if bold else _PLAIN
    return sum(_advance(character, table) for character in text) * size / 1000


def _advance(character: str, table: tuple[int, ...]) -> int:
    place = ord(character) - _FIRST
    return table[place] if 0 <= place < len(table) else _OTHERS.get(character, _OTHER)


def wrapped(text: str, room: float, size: float, *, mono: bool = False, bold: bool = False) -> list[str]:
    """Break a text into lines of at most ``room`` pixels, at spaces, or inside a word that is longer than a line.

    >>> wrapped("the offsets of a layout", 60, 10)
    ['the offsets', 'of a layout']
    >>> wrapped("0123456789", 31, 10, mono=True)
    ['01234', '56789']
    """

    def fits(line: str) -> bool:
        return width(line, size, mono=mono, bold=bold) <= room

    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if fits(longer):
            lines[-1:] = [longer]
            continue
        lines.append("")
        for character in word:
            if lines[-1] and not fits(lines[-1] + character):
                lines.append("")
            lines[-1] += character
    return [line for line in lines if line] or [""]
