"""Sentences below a picture's title: what a cell is, what is written in it, what its colour means.

>>> sentences("offset", "bank", 2, few=True)
'A cell holds its offset; its colour is the group of four banks in which it lies, at 2 bytes an element.'
>>> sentences("offset", "none", None, few=False)
"A cell is an element; a number is the offset of a block's first cell."
"""

from __future__ import annotations

_HELD = {
    "offset": "its offset",
    "image": "the coordinate that the layout gives",
    "index": "its index",
    "coord": "its coordinate",
    "bank": "its bank of shared memory",
    "block": "the number of its block",
    "mode": "its position in mode 1, of higher ranks in the modes after it",
    "thread": "the thread and the value that hold it",
    "value": "the value that holds it",
}
_FIRST = {
    "image": "the coordinate",
    "offset": "the offset",
    "index": "the index",
    "coord": "the coordinate",
    "bank": "the bank",
    "block": "the block",
    "mode": "the position in mode 1, of higher ranks in the modes after it",
    "thread": "the thread and value",
    "value": "the value",
}
_COLOUR = {
    "offset": "deepens with the offset",
    "bank": "is the group of four banks in which it lies",
    "block": "is its block",
    "mode": "is its position in mode 1",
    "slice": "is its slice",
    "thread": "is the thread that holds it",
    "value": "is the value that holds it",
}


def sentences(label: str, colour: str, element_bytes: int | None, *, few: bool) -> str:
    """One sentence on cells.

    Args:
        label, colour: the quantities.
        element_bytes: bytes of an element, where banks are shown.
        few: whether each cell is numbered, or at most each block.
    """
    parts = []
    if few:
        parts.append("A cell is an element" if label == "none" else f"A cell holds {_HELD[label]}")
    else:
        parts.append("A cell is an element")
        if label != "none":
            parts.append(f"a number is {_FIRST[label]} of a block's first cell")
    if colour != "none":
        told = f"its colour {_COLOUR[colour]}" if few else f"a cell's colour {_COLOUR[colour]}"
        parts.append(told)
    text = "; ".join(parts)
    if "bank" in (label, colour) and element_bytes is not None:
        text += f", at {element_bytes} byte{'s' * (element_bytes != 1)} an element"
    return text + "."


def tables(rows: int, columns: int, count: int, notation: str, was: str = "") -> str:
    """What a reader who does not see the picture is told first.

    >>> tables(4, 8, 1, "(4,8):(8,1)")
    'A table of 4 rows and 8 columns for (4,8):(8,1): mode 0 runs down, mode 1 across.'
    """
    many = "A table" if count == 1 else f"{count} tables"
    after = f" after {was}" if was else ""
    return f"{many} of {rows} rows and {columns} columns for {notation}{after}: mode 0 runs down, mode 1 across."
