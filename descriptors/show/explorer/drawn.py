"""Draw pasted text that is not an operand: any swizzle, any layout of rows and columns, a tiled copy.

The options of such a picture follow the notation as ``key=value``, so that they are part of the pasted text.

Invariant: a drawing has a control for each option, with its present value.

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

#: The options of a picture.
_SET = "swizzle|block|grid|at|label|swizzled|tensor"
#: A tiled copy as CuTe and the DSL print it, or a call that makes one.
TILED_COPY = re.compile(r"TiledLayout_TV|TV Layout tiled|make_tiled_copy(?:_tv)?\(", re.ASCII)
_MAKER = re.compile(r"make_tiled_copy(_tv)?\(\s*\W?([\w.]+)\W?\s*,(.*)\)", re.ASCII | re.DOTALL)
_COPY_LINES = {"tile": "Tiler[ _]MN", "threads": "TiledLayout_TV|TV Layout tiled", "reference": "ValLayoutRef",
               "source": "ValLayoutSrc|TV Layout Src", "destination": "ValLayoutDst|TV Layout Dst"}  # fmt: skip


def copy_drawing(pasted: str, bits: int) -> tuple[TiledCopy, dict[str, Any]]:
    """Return a tiled copy and its picture: both sides, and the elements of one thread.

    Args:
        pasted: a printed tiled copy of CuTe or the DSL, or a call of ``make_tiled_copy``.
        bits: bits of an element, if the text does not give them.

    Raises:
        DescriptorError: if a line is missing, or as ``TracedCopy``.
        LayoutError: if the text is not a tiled copy.
    """
    text, options = options_of(pasted.strip())
    tensor = re.search(r"\stensor=(.*)", pasted)
    copy, bits = _copy_of(text, bits)
    memory = evaluate(tensor[1]) if tensor else None
    if memory is not None and not isinstance(memory, (Layout, ComposedLayout)):
        raise DescriptorError(
            f"explore: tensor is {brief(tensor and tensor[1])}, which is not a layout of rows and columns"
        )
    traced = TracedCopy(copy, bits, memory, options.get("at", (0, 0)))
    controls = [["at", "thread, value", ",".join(map(str, traced.at)), []],
                ["tensor", "tensor in memory", str(memory or ""), []]]  # fmt: skip
    drawing = {"notation": text, "controls": controls}
    return copy, {"picture": traced_copy(traced).record(), "drawing": drawing, "facts": "\n".join(traced.facts())}


def _copy_of(text: str, bits: int) -> tuple[TiledCopy, int]:
    """Parse a tiled copy, and the bits of its elements if they are printed.

    The DSL does not print the reference layout, which is that of the registers. If the sides differ, it is not the
    side whose threads point at rows.

    Raises:
        DescriptorError: if a printed line is missing.
    """
    if call := _MAKER.search(text):
        atom = int(call[2]) if call[2].isdigit() else call[2]
        first, second = _both(evaluate(f"({call[3]})"))
        return (make_tiled_copy_tv if call[1] else make_tiled_copy)(atom, first, second), bits
    lines = {name: re.search(rf"(?:{label}):[ \t]*(\S[^\n]*)", text) for name, label in _COPY_LINES.items()}
    values = {name: evaluate(line[1].strip()) for name, line in lines.items() if line}
    if missing := [name for name in ("tile", "threads", "source", "destination") if name not in values]:
        raise DescriptorError(f"explore: the printed tiled copy has no line of its {missing[0]}")
    atom = CopyAtom(values["source"], values["destination"], values.get("reference", values["source"]))
    if "reference" not in values:
        modes_of = {side: coalesce(flatten(side[1])) for side in (atom.source, atom.destination)}
        atom = replace(atom, reference=max(modes_of, key=lambda side: (rank(modes_of[side]), -size(side[1]))))
    width = re.search(r"Value ?[tT]ype:\s*[a-zA-Z]*(\d+)", text)
    return TiledCopy(atom, values["threads"], values["tile"]), int(width[1]) if width else bits


def _both(values: Any) -> tuple[Any, Any]:
    if not isinstance(values, tuple) or len(values) != 2:
        raise DescriptorError(
            "explore: the arguments of the tiled copy are not supported; supported: an atom, a layout and a tile for "
            "make_tiled_copy, an atom and two layouts for make_tiled_copy_tv"
        )
    return values


def options_of(text: str) -> tuple[str, dict[str, Any]]:
    """Split pasted text into the notation and the options of its picture.

    Args:
        text: the pasted text, with options such as ``block=8x8 grid=2x3 at=11,5 label=CMmRn swizzled=no``.
    """
    pairs = re.findall(r"\s(block|grid|at)=(\d{1,4})[x,](\d{1,4})", text)
    options: dict[str, Any] = {name: (int(first), int(second)) for name, first, second in pairs}
    options |= dict(re.findall(r"\s(label)=(\w+)", text))
    if swizzled_option := re.search(r"\sswizzled=(yes|no)\b", text):
        options["is_moved"] = swizzled_option[1] == "yes"
    swizzle = re.search(r"\sswizzle=(\d+,\d+,-?\d+)", text)
    notation = re.split(rf"\s(?:{_SET})=", text, maxsplit=1)[0].strip()
    return f"Sw<{swizzle[1]}>" if swizzle else notation, options


def layout_drawing(text: str, options: dict[str, Any]) -> dict[str, Any]:
    """Draw a layout of rows and columns with its swizzle.

    Raises:
        DescriptorError: if the layout does not have two modes, or as ``Swizzled``.
        LayoutError: if the text is not a layout.
    """
    rows, swizzle, offset = parts(evaluate(text))
    if len(rows) != 2:
        raise DescriptorError(f"explore: the layout {rows} has no rows and columns; only two modes can be drawn")
    own = {key: value for key, value in options.items() if key != "grid"}
    return _drawn(Swizzled(swizzle or Swizzle(0, 0, 5), rows, offset, **own), text)


def swizzle_drawing(swizzle: Swizzle, options: dict[str, Any]) -> dict[str, Any]:
    """Draw a swizzle without a layout.

    Raises:
        DescriptorError: as ``Swizzled``.
    """
    return _drawn(Swizzled(swizzle, **options), str(swizzle))


def _drawn(swizzled_view: Swizzled, text: str) -> dict[str, Any]:
    """Return a picture without an operand and its controls: key, name, value and choices of each."""
    block, s = "" if swizzled_view.block == (0, 0) else extents_text(swizzled_view.packed), swizzled_view.swizzle
    controls: list[list[Any]] = [
        ["block", "packed block, rows x units", block, []],
        ["at", "unit", ",".join(map(str, swizzled_view.at)), []],
        ["label", "number", swizzled_view.label, list(LABELS)],
        ["swizzled", "swizzled", "yes" if swizzled_view.is_moved else "no", ["yes", "no"]],
    ]
    if swizzled_view.layout is None:
        across = swizzled_view.extents[1] // (swizzled_view.block[1] or 1 << s.bits)
        grid = ["grid", "grid of tiles", f"{swizzled_view.grid[0]}x{across}", []]
        controls = [["swizzle", "B, M, S", f"{s.bits},{s.base},{s.shift}", []], grid, *controls]
    drawing = {"notation": text, "controls": controls}
    return {"picture": swizzled(swizzled_view).record(), "drawing": drawing, "facts": "\n".join(swizzled_view.facts())}
