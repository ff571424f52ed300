"""What a page says of a tile beside its picture: the word and its fields, the steps, the subtiles, the commands.

Law: the word that is told is that of the chosen subtile, and the table of subtiles has its start.

>>> from descriptors.explorer.parts.asked import view
>>> from descriptors.explorer.parts.question import question
>>> q = question({"cell": "70,21"})
>>> found = told(q, view(q))
>>> found["word"], found["subtiles"]["starts"][1][1]
('0x4000404000010202', 8224)
"""

from __future__ import annotations

from typing import Any

from descriptors.explorer.parts.commands import commands
from descriptors.explorer.parts.edited import own_word, word_fields
from descriptors.explorer.parts.question import Question
from descriptors.output.tiles.explanation import explain, names
from descriptors.output.tiles.layout_steps import layout_steps
from descriptors.proof import read_model
from descriptors.stages.view import View
from descriptors.text import word_text
from descriptors.words.transpose import transpose_note

#: The most subtiles whose starts a page lists.
MOST_LISTED = 512


def told(q: Question, view: View) -> dict[str, Any]:
    """Everything in words about the tile and the chosen subtile."""
    d = view.derivation
    word = own_word(view)
    stages = len(d.tile) > 2
    few = view.anatomy.subtile_grid[0] * view.anatomy.subtile_grid[1] <= MOST_LISTED
    return {
        "headline": d.headline,
        "word": word_text(word),
        "first": word_text(d.descriptor_at(view.base).encode()),
        "fields": word_fields(view, word),
        "tile": list(d.tile),
        "extents": list(view.anatomy.extents),
        "stages": int(_count(d.tile[2:])),
        "mma": list(d.mma),
        "major": str(d.major),
        "swizzle": str(d.swizzle),
        "names": list(names(d)),
        "layout": str(d.smem_tile),
        "explained": explain(d),
        "transposed": transpose_note(d.arch) if d.transposed else "",
        "evidence": read_model.evidence(
            arch=d.arch, dtype=d.element, major=d.major, absolute=d.descriptor.leading_is_absolute
        ),
        "steps": steps(view),
        "subtiles": {
            "grid": list(view.anatomy.subtile_grid),
            "chosen": list(view.subtile),
            "starts": [list(row) for row in d.offsets_bytes(view.stage if stages else None)] if few else [],
        },
        "commands": commands(q, view),
    }


def steps(view: View) -> list[dict[str, Any]]:
    """The five steps: a heading, and the lines that explain each.

    >>> from descriptors import derive
    >>> [one["title"][:18] for one in steps(View(derive((64, 64), "bf16", "K", "128B", (64, 16))))][::2]
    ['The shared-memory ', 'The same in 16-byt', 'The start of each ']
    """
    d = view.derivation
    found = []
    for lines in layout_steps(d):
        head, *rest = lines
        found.append({"title": head.split(". ", 1)[1], "lines": rest})
    found.append(
        {
            "title": "The start of each subtile from the first, in 16-byte units",
            "lines": [f"   advance      {d.advance}", f"   {d.advance_report(view.base)}"],
        }
    )
    return found


def _count(extents: tuple[int, ...]) -> int:
    found = 1
    for one in extents:
        found *= one
    return found
