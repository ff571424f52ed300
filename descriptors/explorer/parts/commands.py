"""The command line that gives what a page shows: one for the tile, one for its picture, one for a changed word.

Law: the command of a question derives the word that the question's answer has.

>>> from descriptors.explorer.parts.question import question
>>> print(derive_command(question({"tile": "128x64", "cell": "3,20"})))
descriptors derive --dtype bf16 --major K --swizzle 128B --tile 128x64 --mma 64x16
"""

from __future__ import annotations

from shlex import join

from descriptors.explorer.parts.question import Question
from descriptors.stages.view import View
from descriptors.text import extents_text, word_text

#: The colours that the command ``draw tile`` has too.
_DRAWN = ("order", "bank", "atom", "subtile", "chunk")


def commands(q: Question, view: View) -> list[dict[str, str]]:
    """Commands for what is shown, each with what it gives."""
    i, j = view.subtile
    found = [("the whole story", derive_command(q))]
    at = f"{i},{j},{q.stage}" if len(view.derivation.tile) > 2 else f"{i},{j}"
    found.append(("the word of this subtile", f"{derive_command(q)} --subtile {at}"))
    kind = {"tile": "tile", "atom": "atoms", "banks": "banks", "memory": "chunks"}.get(q.tab)
    if kind is not None:
        extra = [*(["--stage", str(q.stage)] if q.stage else [])]
        if kind == "tile" and q.colour in _DRAWN:
            extra += ["--colour", q.colour]
        if kind == "banks":
            extra += ["--subtile", f"{i},{j}"]
            if q.lanes.strip():
                extra += ["--access", q.lanes, "--access-bytes", str(q.access_bytes)]
        found.append(("the picture", join(["descriptors", "draw", kind, *_operand(q), *extra, "-o", f"{kind}.svg"])))
    if view.word is not None:
        found.append(("the comparison of the word", diff_command(view, view.word)))
    return [{"what": what, "line": line} for what, line in found]


def derive_command(q: Question) -> str:
    """The command that derives the tile of a question."""
    return join(["descriptors", "derive", *_operand(q)])


def diff_command(view: View, word: int) -> str:
    """The command that compares a word with the chosen subtile.

    >>> from descriptors import derive
    >>> view = View(derive((64, 16), "bf16", "K", "32B", (64, 16)))
    >>> print(diff_command(view, 1))
    descriptors diff 0x0000000000000001 'S<1,3,3> o 0 o ((8,8),(16,1)):((16,128),(1,0))' --arch sm100 --dtype bf16 \
--major K --shape 64x16 --subtile 0,0 --base 0
    """
    d = view.derivation
    subtile = ",".join(map(str, (*view.subtile, *view.anatomy.stage_coordinate)))
    told = [word_text(word), str(d.smem_tile), "--arch", d.arch, "--dtype", d.element.name, "--major", str(d.major)]
    told += ["--shape", extents_text(d.mma), "--subtile", subtile, "--base", str(view.base)]
    return join(["descriptors", "diff", *told, *(["--pattern-start", str(view.base)] if view.base else [])])


def _operand(q: Question) -> list[str]:
    """The options that name the operand."""
    told = ["--dtype", q.dtype]
    explicit = bool(q.layout.strip())
    for name in ("major", "swizzle"):
        if value := getattr(q, name):
            told += [f"--{name}", value]
    told += ["--layout", q.layout] if explicit else ["--tile", extents_text(q.tile)]
    if q.mma:
        told += ["--mma", q.mma if isinstance(q.mma, str) else extents_text(q.mma)]
    if q.order and not explicit:
        told += ["--order", ",".join(map(str, q.order))]
    if q.arch != "sm100" or isinstance(q.mma, str):  # a name says an architecture too
        told += ["--arch", q.arch]
    if q.operand:
        told += ["--operand", q.operand]
    if explicit and q.unit != "elements":
        told += ["--unit", q.unit]
    return told + (["--base", str(q.base)] if q.base else [])
