"""Summarize a tile for the page: the descriptor and its fields, the derivation steps, the subtiles, the commands.

The commands print what the page shows: one derives the tile, one draws its picture, one compares a changed descriptor.

Invariants: the descriptor is that of the chosen subtile, and the table of subtiles contains its start address. The
command of a question derives the descriptor in the answer to that question.

>>> from descriptors.show.explorer.question import question, view
>>> q = question({"cell": "70,21"})
>>> page = summary(q, view(q))
>>> page["word"], page["subtiles"]["starts"][1][1]
('0x4000404000010202', 8224)
>>> print(derive_command(question({"tile": "128x64", "cell": "3,20"})))
descriptors derive --dtype bf16 --major K --swizzle 128B --tile 128x64 --mma 64x16
"""

from __future__ import annotations

from math import prod
from shlex import join
from typing import Any

from descriptors.show.explorer.question import Question, is_pattern_assumed, own_word, word_fields
from descriptors.show.stages.view import View
from descriptors.smem.derivation.derivation_text import layout_steps
from descriptors.smem.derivation.explanation import explain, names
from descriptors.smem.instructions.transpose import transpose_note
from descriptors.text import extents_text, word_text

#: The largest number of subtiles whose start addresses are listed.
MOST_LISTED = 512


def summary(q: Question, view: View) -> dict[str, Any]:
    """Return the text parts of the answer about the tile and the chosen subtile."""
    d = view.derivation
    word = own_word(view)
    stages = len(d.tile) > 2
    few = view.anatomy.subtile_grid[0] * view.anatomy.subtile_grid[1] <= MOST_LISTED
    return {
        "summary": f"{extents_text(d.tile)} {d.element} {d.major}-major {d.swizzle}, mma {extents_text(d.mma)}, "
        f"{d.arch}",
        "word": word_text(word),
        "first": word_text(d.descriptor_at(view.base).encode()),
        "fields": word_fields(view, word),
        "tile": list(d.tile),
        "extents": list(view.anatomy.extents),
        "stages": prod(d.tile[2:]),
        "mma": list(d.mma),
        "major": str(d.major),
        "swizzle": str(d.swizzle),
        "names": list(names(d)),
        "layout": str(d.smem_tile),
        "explained": explain(d),
        "transposed": transpose_note(d.arch) if d.transposed else "",
        "steps": steps(view),
        "subtiles": {
            "grid": list(view.anatomy.subtile_grid),
            "chosen": list(view.subtile),
            "starts": [list(row) for row in d.offsets_bytes(view.stage if stages else None)] if few else [],
        },
        "commands": commands(q, view),
    }


def steps(view: View) -> list[dict[str, Any]]:
    """Return the five derivation steps, each with a title and its lines.

    >>> from descriptors import derive
    >>> [step["title"][:18] for step in steps(View(derive((64, 64), "bf16", "K", "128B", (64, 16))))][::2]
    ['The shared-memory ', 'The same in 16-byt', 'The start of each ']
    """
    d = view.derivation
    titled = []
    for lines in layout_steps(d):
        head, *rest = lines
        titled.append({"title": head.split(". ", 1)[1], "lines": rest})
    titled.append(
        {
            "title": "The start of each subtile from the first, in 16-byte units",
            "lines": [f"   advance      {d.advance}", f"   {d.advance_report(view.base)}"],
        }
    )
    return titled


#: The color modes that ``descriptors draw tile`` also supports.
_COLOURS_OF_DRAW = ("order", "bank", "atom", "subtile", "chunk")


def commands(q: Question, view: View) -> list[dict[str, str]]:
    """Return the commands that print what the page shows, each with its purpose."""
    i, j = view.subtile
    lines = [("the derivation of the tile", derive_command(q))]
    subtile = f"{i},{j},{q.stage}" if len(view.derivation.tile) > 2 else f"{i},{j}"
    lines.append(("the descriptor of this subtile", f"{derive_command(q)} --subtile {subtile}"))
    kind = {"tile": "tile", "atom": "atoms", "banks": "banks", "memory": "chunks"}.get(q.tab)
    if kind is not None:
        extra = [*(["--stage", str(q.stage)] if q.stage else [])]
        if kind == "tile" and q.colour in _COLOURS_OF_DRAW:
            extra += ["--colour-by", q.colour]
        if kind == "banks":
            extra += ["--subtile", f"{i},{j}"]
            if q.lanes.strip():
                extra += ["--access", q.lanes, "--access-bytes", str(q.access_bytes)]
        lines.append(("the picture", join(["descriptors", "draw", kind, *_operand(q), *extra, "-o", f"{kind}.svg"])))
    if view.word is not None:
        lines.append(("the comparison of the descriptor", diff_command(view, view.word)))
    return [{"what": purpose, "line": line} for purpose, line in lines]


def derive_command(q: Question) -> str:
    """Return the command that derives the tile of a question."""
    return join(["descriptors", "derive", *_operand(q)])


def diff_command(view: View, word: int) -> str:
    """Return the command that compares a descriptor with the chosen subtile.

    >>> from descriptors import derive
    >>> view = View(derive((64, 16), "bf16", "K", "32B", (64, 16)))
    >>> print(diff_command(view, 1))
    descriptors diff 0x0000000000000001 'S<1,3,3> o 0 o ((8,8),(16,1)):((16,128),(1,0))' --arch sm100 --dtype bf16 \
--major K --shape 64x16 --subtile 0,0 --base 0
    """
    d = view.derivation
    subtile = ",".join(map(str, (*view.subtile, *view.anatomy.stage_coordinate)))
    options = [word_text(word), str(d.smem_tile), "--arch", d.arch, "--dtype", d.element.name, "--major", str(d.major)]
    options += ["--shape", extents_text(d.mma), "--subtile", subtile, "--base", str(view.base)]
    if view.base and not is_pattern_assumed(view, word):
        options += ["--pattern-start", str(view.base)]
    return join(["descriptors", "diff", *options])


def _operand(q: Question) -> list[str]:
    """Return the options that describe the operand."""
    options = ["--dtype", q.dtype]
    explicit = bool(q.layout.strip())
    for name in ("major", "swizzle"):
        if value := getattr(q, name):
            options += [f"--{name}", value]
    options += ["--layout", q.layout] if explicit else ["--tile", extents_text(q.tile)]
    if q.mma:
        options += ["--mma", q.mma if isinstance(q.mma, str) else extents_text(q.mma)]
    if q.order and not explicit:
        options += ["--order", ",".join(map(str, q.order))]
    if q.arch != "sm100" or isinstance(q.mma, str):  # an instruction name alone also implies an architecture
        options += ["--arch", q.arch]
    if q.operand:
        options += ["--operand", q.operand]
    if explicit and q.unit != "elements":
        options += ["--unit", q.unit]
    return options + (["--base", str(q.base)] if q.base else [])
