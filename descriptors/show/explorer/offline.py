"""Pack the answers about all elements of a state, so that a page without an engine can show any of them.

The sentences about an address are stored once, with a column for each of their numbers and a list of the descriptors
of the subtiles, and compressed.

Invariant: the unpacked sentences with their numbers are what the inspector reports for every element.

>>> from descriptors.show.explorer.question import question, view
>>> q = question({"tile": "64x64"})
>>> elements = unpacked(packed_elements(q, view(q)))
>>> elements["columns"]["after"][11 * 64 + 21], elements["subtiles"][0][1]["word"]
(1434, '0x4000404000010002')
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from itertools import product
from typing import Any
from zlib import compress, decompress

from descriptors.show.explorer.highlights import field_elements
from descriptors.show.explorer.inspector import addresses, sentences
from descriptors.show.explorer.question import Question
from descriptors.show.explorer.tile_summary import summary
from descriptors.show.stages.view import View
from layoutalg.frozen import replace

#: The largest numbers of elements and of subtiles that are packed.
MOST_ELEMENTS, MOST_SUBTILES = 1 << 16, 256
#: The keys of a summary that differ from subtile to subtile.
OWN = ("word", "fields", "commands")


def packed_elements(q: Question, view: View) -> str:
    """Return the answers about all elements of a view as text that a browser can unpack; "" if there are too many."""
    (mn, k), (rows, columns) = view.anatomy.extents, view.anatomy.subtile_grid
    if mn * k > MOST_ELEMENTS or rows * columns > MOST_SUBTILES:
        return ""
    places = addresses(view)
    elements = [places.numbers(cell) for cell in product(range(mn), range(k))]
    packed = {
        "extents": [mn, k],
        "columns": {name: _column([numbers[name] for numbers in elements]) for name in elements[0]},
        "sentences": sentences(view),
        "subtiles": [[_subtile(q, view, (i, j)) for j in range(columns)] for i in range(rows)],
        "marks": _marks(view),
    }
    return b64encode(compress(json.dumps(packed, separators=(",", ":")).encode(), 9)).decode("ascii")


def unpacked(text: str) -> dict[str, Any]:
    """Unpack the text as a browser does."""
    data: dict[str, Any] = json.loads(decompress(b64decode(text)))
    return data


def _column(values: Sequence[int]) -> Any:
    """Return the numbers of all elements, row by row, or one number if they are equal."""
    return values[0] if len(set(values)) == 1 else list(values)


def _subtile(q: Question, view: View, subtile: tuple[int, int]) -> dict[str, Any]:
    """Return the parts of the summary that belong to one subtile."""
    cell = subtile[0] * view.derivation.mma[0], subtile[1] * view.derivation.mma[1]
    subtile_view = replace(view, cell=cell, word=None)
    subtile_summary = summary(replace(q, cell=cell, word="", edit=()), subtile_view)
    return {name: subtile_summary[name] for name in OWN} | {"concerned": field_elements(subtile_view)}


def _marks(view: View) -> dict[str, list[list[Any]]]:
    """Return the frames around an element for each tab.

    A frame is a role and the extents of a block, which begins at multiples of them. "memory" at the end means that the
    frame is on cells of memory instead of cells of the tile.
    """
    a = view.anatomy
    levels = [["subtile", *view.derivation.mma], ["atom", *a.atom_extents]][: 2 if a.atom_grid[0] else 1]
    piece, cell, place = ["piece", *a.unit], ["cell", 1, 1], ["piece", *a.unit, "memory"]
    tile = [*levels, piece, cell, place]
    return {"tile": tile, "memory": tile, "atom": [piece, cell], "banks": [["cell", *a.unit, "memory"]]}
