"""Parse tiled copies and tiled MMAs as CuTe prints them, in C++ and in the DSL.

The text has lines of a name, a colon and a value. The names in C++ are ``Tiler_MN``, ``TiledLayoutTV``,
``ValLayoutSrc``, ``ValLayoutDst`` and ``ValLayoutRef``; those in the DSL are ``Tiler MN``, ``TV Layout tiled``,
``TV Layout Src`` and ``TV Layout Dst``. The DSL does not print the reference. If source and destination of an atom
differ, the reference is then the register side, which is the one in which the values of a thread are not contiguous.

Invariant: the text that CuTe prints for a tiled copy or MMA of this package is read as an equal one.
Source: CUTLASS ``include/cute/atom/copy_atom.hpp``, ``mma_atom.hpp`` (print); the CuTe DSL 4.8.1, ``str``.

>>> text = '''Tiled Copy
...   Tiler MN:        (4:1,8:1)
...   TV Layout tiled: ((2,4),4):((16,1),4)
... Copy Atom
...   ThrID:           1:0
...   TV Layout Src:   (1,4):(0,1)
...   TV Layout Dst:   (1,4):(0,1)
...   Value type:      f16'''
>>> print(tiled_print(text))
a tiled copy: 8 threads, 4 values each, 4 of them at once; tile (4,8)
   S, D  ((2,4),4):((16,1),4)
   (thread, value) to an index into the tile, first mode fastest
"""

from __future__ import annotations

from typing import Any

from layoutalg.errors import NotationError, brief
from layoutalg.fragments.tiled_copy import CopyAtom, TiledCopy, make_tiled_copy
from layoutalg.fragments.tiled_mma import MmaAtom, TiledMma, make_tiled_mma
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import need_plain, size
from layoutalg.notation.parser import Parser
from layoutalg.tuples.int_tuple import flatten_tuple

#: Words that the text of a tiled copy or MMA contains, for a quick check.
_SIGNS = ("TiledCopy", "Tiled Copy", "TiledMMA", "Tiled MMA")
#: The key of each line by its name in C++ or the DSL, in lower case without blanks and underscores.
_NAMES = dict(
    pair.split("=")
    for pair in (
        "tilermn=tiler tiledlayouttv=tiled tvlayouttiled=tiled vallayoutsrc=source tvlayoutsrc=source "
        "vallayoutdst=destination tvlayoutdst=destination vallayoutref=reference thrlayoutvmnk=threads "
        "permutationmnk=permutation shapemnk=shape layoutatv=a layoutbtv=b layoutctv=c tvlayouta=a tvlayoutb=b "
        "tvlayoutc=c"
    ).split()
)


def tiled_print(text: object) -> TiledCopy | TiledMma | None:
    """Return the tiled copy or MMA that CuTe printed, or None if the text is something else.

    Raises:
        NotationError: if a line is missing or repeated, or a value is not supported.
        LayoutError: if the parts do not fit together.
    """
    if not isinstance(text, str) or "\n" not in text or not any(sign in text for sign in _SIGNS):
        return None
    lines = _parse_lines(text)
    if any(sign in text for sign in _SIGNS[:2]):
        return _make_copy(lines)
    return _make_mma(lines)


def _parse_lines(text: str) -> dict[str, Any]:
    """Return the values of all lines by key."""
    values: dict[str, Any] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        key = _NAMES.get(name.replace(" ", "").replace("_", "").lower())
        if not colon or key is None:
            continue
        if key in values:
            raise NotationError(
                f"notation: the text has the line {name.strip()} twice; only one tiled copy or MMA can be read", text
            )
        values[key] = Parser(value.strip()).parse_all()
    return values


def _need(lines: dict[str, Any], *keys: str) -> list[Any]:
    """Return the values of some lines.

    Raises:
        NotationError: if a line is missing.
    """
    shown = {key: name for name, key in _NAMES.items() if not name.startswith("vallayout")}
    for key in keys:
        if key not in lines:
            raise NotationError(f"notation: the line {shown[key]} of the tiled copy or MMA is missing")
    return [lines[key] for key in keys]


def _make_copy(lines: dict[str, Any]) -> TiledCopy:
    tiler, tiled, source, destination = _need(lines, "tiler", "tiled", "source", "destination")
    reference = lines.get("reference", destination if source == destination else None)
    if reference is None:
        sides = [side for side in (source, destination) if not _is_contiguous(side)]
        if len(sides) != 1:
            raise NotationError(
                f"notation: the reference of the copy atom is unknown, because its source {source} and its destination "
                f"{destination} differ; C++ prints the reference as ValLayoutRef"
            )
        reference = sides[0]
    return make_tiled_copy(CopyAtom(source, destination, reference), tiled, _tilers(tiler))


def _is_contiguous(layout: Any) -> bool:
    """Check if the values of each thread are contiguous, as they are on the memory side of a copy."""
    values = need_plain(layout, "notation")[1]
    return int(size(values)) > 1 and flatten_tuple(values.stride)[0] == 1 and len(flatten_tuple(values.shape)) == 1


def _tilers(value: Any) -> tuple[Any, ...]:
    """Return a tile by its modes. A layout n:1 becomes its extent n, because the DSL prints an extent as n:1."""
    modes = value if type(value) is tuple else (value,)
    return tuple(
        mode.shape if isinstance(mode, Layout) and mode.stride == 1 and type(mode.shape) is int else mode
        for mode in modes
    )


def _make_mma(lines: dict[str, Any]) -> TiledMma:
    threads, permutation, shape, a, b, c = _need(lines, "threads", "permutation", "shape", "a", "b", "c")
    layout = need_plain(threads, "notation")
    if len(layout) != 4 or type(shape) is not tuple or len(shape) != 3:
        raise NotationError(
            f"notation: the MMA has threads {brief(threads)} and shape {brief(shape)}, which are not of the forms "
            f"V, M, N, K and M, N, K"
        )
    count = int(size(layout[0]))
    strides = flatten_tuple(layout.stride)[-3:]
    if (count > 1 and layout[0].stride != 1) or any(type(d) is not int or d % count for d in strides):
        raise NotationError(f"notation: the threads of an atom are not consecutive in {layout}")
    atoms = Layout(tuple(int(size(layout[mode])) for mode in (1, 2, 3)), tuple(d // count for d in strides))
    return make_tiled_mma(MmaAtom(shape, a, b, c), atoms, _tilers(permutation))
