"""What the box draws by itself, without an operand: any swizzle, any layout of rows and columns, a tiled copy.

Whatever is set of a picture stands behind the notation, as ``key=value``, so that it is part of what was pasted. Law:
a drawing has a control for each thing that can be set, with the value that it has.

>>> [(key, value) for key, _, value, _ in swizzle_drawing(Swizzle(2, 4, 3), {})["drawing"]["controls"]][:2]
[('swizzle', '2,4,3'), ('grid', '2x2')]
>>> options_of("S<2,4,3> at=1,2 label=CMmRn")
('S<2,4,3>', {'at': (1, 2), 'label': 'CMmRn'})
"""

from __future__ import annotations

import re
from typing import Any

from descriptors.errors import DescriptorError, brief
from descriptors.show.stages.copy_stage import TracedCopy, traced_copy
from descriptors.show.stages.swizzle_stage import LABELS, Swizzled, swizzled
from descriptors.smem.operands.swizzled import parts
from descriptors.text import extents_text
from layoutalg import (
    ComposedLayout,
    CopyAtom,
    Layout,
    Swizzle,
    TiledCopy,
    coalesce,
    evaluate,
    flatten,
    make_tiled_copy,
    make_tiled_copy_tv,
    rank,
    size,
)
from layoutalg.frozen import replace

#: What is set of a picture.
_SET = "swizzle|block|grid|at|label|swizzled|tensor"
#: A tiled copy, as CuTe and the DSL print it, or as it is made.
TILED_COPY = re.compile(r"TiledLayout_TV|TV Layout tiled|make_tiled_copy(?:_tv)?\(", re.ASCII)
_MAKER = re.compile(r"make_tiled_copy(_tv)?\(\s*\W?([\w.]+)\W?\s*,(.*)\)", re.ASCII | re.DOTALL)
_COPY_LINES = {"tile": "Tiler[ _]MN", "threads": "TiledLayout_TV|TV Layout tiled", "reference": "ValLayoutRef",
               "source": "ValLayoutSrc|TV Layout Src", "destination": "ValLayoutDst|TV Layout Dst"}  # fmt: skip


def copy_drawing(pasted: str, bits: int) -> tuple[TiledCopy, dict[str, Any]]:
    """A tiled copy, and its picture: its two sides, what one thread reads and where it lands.

    Args:
        pasted: what CuTe or the DSL printed, or a call of ``make_tiled_copy``.
        bits: of an element, where that is not printed.

    Raises:
        DescriptorError: if a line is missing; as ``TracedCopy``.
        LayoutError: if it is no tiled copy.
    """
    text, options = options_of(pasted.strip())
    tensor = re.search(r"\stensor=(.*)", pasted)
    copy, bits = _copy_of(text, bits)
    memory = evaluate(tensor[1]) if tensor else None
    if memory is not None and not isinstance(memory, (Layout, ComposedLayout)):
        raise DescriptorError(
            f"explore: tensor must be a layout of rows and columns, found {brief(tensor and tensor[1])}"
        )
    traced = TracedCopy(copy, bits, memory, options.get("at", (0, 0)))
    controls = [["at", "thread, value", ",".join(map(str, traced.at)), []],
                ["tensor", "tensor in memory", str(memory or ""), []]]  # fmt: skip
    drawing = {"notation": text, "controls": controls}
    return copy, {"picture": traced_copy(traced).record(), "drawing": drawing, "facts": "\n".join(traced.facts())}


def _copy_of(text: str, bits: int) -> tuple[TiledCopy, int]:
    """A tiled copy, and the bits of its elements where they are printed.

    The DSL prints no reference, which is the side of registers: where the sides differ, not the one that points at
    rows.

    Raises:
        DescriptorError: if a line of what was printed is missing.
    """
    if made := _MAKER.search(text):
        atom = int(made[2]) if made[2].isdigit() else made[2]
        first, second = _both(evaluate(f"({made[3]})"))
        return (make_tiled_copy_tv if made[1] else make_tiled_copy)(atom, first, second), bits
    lines = {name: re.search(rf"(?:{label}):[ \t]*(\S[^\n]*)", text) for name, label in _COPY_LINES.items()}
    values = {name: evaluate(line[1].strip()) for name, line in lines.items() if line}
    if missing := [name for name in ("tile", "threads", "source", "destination") if name not in values]:
        raise DescriptorError(f"explore: a tiled copy must have all its lines, found none of its {missing[0]}")
    atom = CopyAtom(values["source"], values["destination"], values.get("reference", values["source"]))
    if "reference" not in values:
        modes_of = {one: coalesce(flatten(one[1])) for one in (atom.source, atom.destination)}
        atom = replace(atom, reference=max(modes_of, key=lambda one: (rank(modes_of[one]), -size(one[1]))))
    width = re.search(r"Value ?[tT]ype:\s*[a-zA-Z]*(\d+)", text)
    return TiledCopy(atom, values["threads"], values["tile"]), int(width[1]) if width else bits


def _both(values: Any) -> tuple[Any, Any]:
    if not isinstance(values, tuple) or len(values) != 2:
        raise DescriptorError(
            "explore: make_tiled_copy must have an atom, a layout and a tile; _tv an atom and two layouts"
        )
    return values


def options_of(text: str) -> tuple[str, dict[str, Any]]:
    """A notation, and what is set of its picture: ``block=8x8 grid=2x3 at=11,5 label=CMmRn swizzled=no``.

    Args:
        text: what was pasted.
    """
    pairs = re.findall(r"\s(block|grid|at)=(\d{1,4})[x,](\d{1,4})", text)
    options: dict[str, Any] = {name: (int(one), int(other)) for name, one, other in pairs}
    options |= dict(re.findall(r"\s(label)=(\w+)", text))
    if found := re.search(r"\sswizzled=(yes|no)\b", text):
        options["is_moved"] = found[1] == "yes"
    other = re.search(r"\sswizzle=(\d+,\d+,-?\d+)", text)
    notation = re.split(rf"\s(?:{_SET})=", text, maxsplit=1)[0].strip()
    return f"Sw<{other[1]}>" if other else notation, options


def layout_drawing(text: str, options: dict[str, Any]) -> dict[str, Any]:
    """The picture of a layout of rows and columns with its swizzle, as it is written.

    Raises:
        DescriptorError: if it has no rows and columns; as ``Swizzled``.
        LayoutError: if it is no layout.
    """
    rows, swizzle, offset = parts(evaluate(text))
    if len(rows) != 2:
        raise DescriptorError(f"explore: a layout to draw must have rows and columns, found {rows}")
    own = {key: value for key, value in options.items() if key != "grid"}
    return _drawn(Swizzled(swizzle or Swizzle(0, 0, 5), rows, offset, **own), text)


def swizzle_drawing(swizzle: Swizzle, options: dict[str, Any]) -> dict[str, Any]:
    """The picture of a swizzle alone.

    Raises:
        DescriptorError: as ``Swizzled``.
    """
    return _drawn(Swizzled(swizzle, **options), str(swizzle))


def _drawn(view_: Swizzled, text: str) -> dict[str, Any]:
    """A picture without an operand, and what can be set of it: key, name, value, and what it may be."""
    block, s = "" if view_.block == (0, 0) else extents_text(view_.packed), view_.swizzle
    controls: list[list[Any]] = [
        ["block", "packed block, rows x units", block, []],
        ["at", "unit", ",".join(map(str, view_.at)), []],
        ["label", "number", view_.label, list(LABELS)],
        ["swizzled", "swizzled", "yes" if view_.is_moved else "no", ["yes", "no"]],
    ]
    if view_.layout is None:
        across = view_.extents[1] // (view_.block[1] or 1 << s.bits)
        grid = ["grid", "grid of tiles", f"{view_.grid[0]}x{across}", []]
        controls = [["swizzle", "B, M, S", f"{s.bits},{s.base},{s.shift}", []], grid, *controls]
    drawing = {"notation": text, "controls": controls}
    return {"picture": swizzled(view_).record(), "drawing": drawing, "facts": "\n".join(view_.facts())}
