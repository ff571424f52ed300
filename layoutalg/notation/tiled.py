"""Tiled copies and tiled MMAs as CuTe prints them, in C++ and in the DSL: lines of a name, a colon and a value.

C++ prints ``Tiler_MN``, ``TiledLayoutTV``, ``ValLayoutSrc``, ``ValLayoutDst``, ``ValLayoutRef``; the DSL ``Tiler MN``,
``TV Layout tiled``, ``TV Layout Src``, ``TV Layout Dst``, and no reference. Of an atom whose source and destination
differ the reference is then the side of the registers: the one that is not a row of values side by side for each
thread. Law: what a tiled copy or MMA of this package is printed as by CuTe is read as an equal one.
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

#: What a text has that is one of these, told quickly.
_SIGNS = ("TiledCopy", "Tiled Copy", "TiledMMA", "Tiled MMA")
#: The names of both, without blanks and underscores, as one.
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
    """The tiled copy or MMA that CuTe printed, or None if the text is something else.

    Raises:
        NotationError: if a line is missing, or says what is read nowhere here.
        LayoutError: if the parts do not fit one another.
    """
    if not isinstance(text, str) or "\n" not in text or not any(sign in text for sign in _SIGNS):
        return None
    lines = _lines(text)
    if any(sign in text for sign in _SIGNS[:2]):
        return _copy(lines)
    return _mma(lines)


def _lines(text: str) -> dict[str, Any]:
    """The values of all lines by their names."""
    values: dict[str, Any] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        key = _NAMES.get(name.replace(" ", "").replace("_", "").lower())
        if not colon or key is None:
            continue
        if key in values:
            raise NotationError(f"notation: one tiled copy or MMA must be printed, found {name.strip()} twice", text)
        values[key] = Parser(value.strip()).parse_all()
    return values


def _need(lines: dict[str, Any], *keys: str) -> list[Any]:
    shown = {key: name for name, key in _NAMES.items() if not name.startswith("vallayout")}
    for key in keys:
        if key not in lines:
            raise NotationError(f"notation: the print must have all its lines, found none of {shown[key]}")
    return [lines[key] for key in keys]


def _copy(lines: dict[str, Any]) -> TiledCopy:
    tiler, tiled, source, destination = _need(lines, "tiler", "tiled", "source", "destination")
    reference = lines.get("reference", destination if source == destination else None)
    if reference is None:
        rows = [one for one in (source, destination) if not _is_rows(one)]
        if len(rows) != 1:
            raise NotationError(
                "notation: the reference of the copy's atom must be known, found a source and a destination that "
                f"differ, {source} and {destination}; C++ prints it, as ValLayoutRef"
            )
        reference = rows[0]
    return make_tiled_copy(CopyAtom(source, destination, reference), tiled, _tilers(tiler))


def _is_rows(layout: Any) -> bool:
    """Whether each thread has values side by side: what threads point at in memory."""
    values = need_plain(layout, "notation")[1]
    return int(size(values)) > 1 and flatten_tuple(values.stride)[0] == 1 and len(flatten_tuple(values.shape)) == 1


def _tilers(value: Any) -> tuple[Any, ...]:
    """A tile by its modes; a layout that begins at 0 without gaps as its extent, as the DSL writes numbers."""
    modes = value if type(value) is tuple else (value,)
    return tuple(
        mode.shape if isinstance(mode, Layout) and mode.stride == 1 and type(mode.shape) is int else mode
        for mode in modes
    )


def _mma(lines: dict[str, Any]) -> TiledMma:
    threads, permutation, shape, a, b, c = _need(lines, "threads", "permutation", "shape", "a", "b", "c")
    layout = need_plain(threads, "notation")
    if len(layout) != 4 or type(shape) is not tuple or len(shape) != 3:
        raise NotationError(
            f"notation: an MMA must have threads V, M, N, K and a shape M, N, K, found {brief(threads)}"
        )
    count = int(size(layout[0]))
    strides = flatten_tuple(layout.stride)[-3:]
    if (count > 1 and layout[0].stride != 1) or any(type(one) is not int or one % count for one in strides):
        raise NotationError(f"notation: the threads of an atom must follow one another, found {layout}")
    atoms = Layout(tuple(int(size(layout[mode])) for mode in (1, 2, 3)), tuple(one // count for one in strides))
    return make_tiled_mma(MmaAtom(shape, a, b, c), atoms, _tilers(permutation))
