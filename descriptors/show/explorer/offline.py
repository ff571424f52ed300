"""Every element of a state, packed: what a page that nobody answers needs, so that each of them can be chosen in it.

The sentences about an address are kept once, their numbers in a column each, the words of the subtiles in a list, all
of it compressed. Law: what was packed, filled in, is what the inspector says of every element.

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

#: The most elements and the most subtiles that are kept.
MOST_ELEMENTS, MOST_SUBTILES = 1 << 16, 256
#: What of the words about a subtile is its own.
OWN = ("word", "fields", "commands")


def packed_elements(q: Question, view: View) -> str:
    """Everything about all elements of a view, as text that a browser can unpack; "" where they are too many."""
    (mn, k), (rows, columns) = view.anatomy.extents, view.anatomy.subtile_grid
    if mn * k > MOST_ELEMENTS or rows * columns > MOST_SUBTILES:
        return ""
    places = addresses(view)
    elements = [places.numbers(cell) for cell in product(range(mn), range(k))]
    packed = {
        "extents": [mn, k],
        "columns": {name: _column([one[name] for one in elements]) for name in elements[0]},
        "sentences": sentences(view),
        "subtiles": [[_subtile(q, view, (i, j)) for j in range(columns)] for i in range(rows)],
        "marks": _marks(view),
    }
    return b64encode(compress(json.dumps(packed, separators=(",", ":")).encode(), 9)).decode("ascii")


def unpacked(text: str) -> dict[str, Any]:
    """What was kept, as a browser unpacks it."""
    data: dict[str, Any] = json.loads(decompress(b64decode(text)))
    return data


def _column(values: Sequence[int]) -> Any:
    """Numbers of all elements, row by row; one number where they are all alike."""
    return values[0] if len(set(values)) == 1 else list(values)


def _subtile(q: Question, view: View, at: tuple[int, int]) -> dict[str, Any]:
    """The words about one subtile."""
    cell = at[0] * view.derivation.mma[0], at[1] * view.derivation.mma[1]
    looked = replace(view, cell=cell, word=None)
    told_subtile = summary(replace(q, cell=cell, word="", edit=()), looked)
    return {name: told_subtile[name] for name in OWN} | {"concerned": field_elements(looked)}


def _marks(view: View) -> dict[str, list[list[Any]]]:
    """What is framed around an element on each tab: a role, extents whose multiples the block begins at, and where:
    on the tile, or on places of memory.
    """
    a = view.anatomy
    levels = [["subtile", *view.derivation.mma], ["atom", *a.atom_extents]][: 2 if a.atom_grid[0] else 1]
    piece, cell, place = ["piece", *a.unit], ["cell", 1, 1], ["piece", *a.unit, "memory"]
    tile = [*levels, piece, cell, place]
    return {"tile": tile, "memory": tile, "atom": [piece, cell], "banks": [["cell", *a.unit, "memory"]]}
