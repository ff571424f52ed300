"""Parse tiled copies, tiled MMAs and their atoms as CuTe prints them, in C++ and in the DSL.

A print has a heading, such as ``TiledCopy``, and lines of a name, a colon and a value. The names in C++ are
``Tiler_MN``, ``TiledLayoutTV``, ``ValLayoutSrc``, ``ValLayoutDst`` and ``ValLayoutRef``; those in the DSL are
``Tiler MN``, ``TV Layout tiled``, ``TV Layout Src`` and ``TV Layout Dst``. The lines may be comments (``//`` or ``#``)
and may end with a remark. A text may contain several prints, with labels between them, or an expression around a print.

The DSL does not print the reference of a copy atom. If source and destination differ, the reference follows from the
two: for tensor memory it is the side on which all threads have all elements. For ``ldmatrix`` and ``stmatrix`` it is
the registers; the other side is memory, where the values of a thread are contiguous or several threads have one row.

Invariant: the text that CuTe prints for a tiled copy or MMA of this package is read as an equal one.
Source: CUTLASS ``include/cute/atom/copy_atom.hpp``, ``mma_atom.hpp`` (print), ``copy_traits_sm75.hpp``,
``copy_traits_sm100.hpp`` (RefLayout); the CuTe DSL 4.8.1, ``str``.

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

from collections.abc import Iterator
from math import isqrt
from typing import Any, NamedTuple, TypeAlias

from layoutalg.errors import NotationError, brief
from layoutalg.fragments.copy_atoms import CopyAtom
from layoutalg.fragments.tiled_copy import TiledCopy, make_tiled_copy
from layoutalg.fragments.tiled_mma import MmaAtom, TiledMma, make_tiled_mma
from layoutalg.layouts.cosize import cosize
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import need_plain, size
from layoutalg.notation.parser import Parser
from layoutalg.tuples.int_tuple import flatten_tuple

#: What a print describes.
Printed: TypeAlias = TiledCopy | TiledMma | CopyAtom | MmaAtom

#: Words of which each print contains one, for a quick check.
_SIGNS = ("Copy", "MMA", "Tiler")
#: For each value: its name in C++ and in the DSL; the names of lines that are not needed.
_NAMES = {
    "tiler": ("Tiler_MN", "Tiler MN"),
    "tiled": ("TiledLayout_TV", "TV Layout tiled"),
    "source": ("ValLayoutSrc", "TV Layout Src"),
    "destination": ("ValLayoutDst", "TV Layout Dst"),
    "reference": ("ValLayoutRef", "TV Layout Ref"),
    "threads": ("ThrLayoutVMNK", "Thr Layout VMNK"),
    "permutation": ("PermutationMNK", "Permutation MNK"),
    "shape": ("Shape_MNK", "Shape MNK"),
    "a": ("LayoutA_TV", "TV Layout A"),
    "b": ("LayoutB_TV", "TV Layout B"),
    "c": ("LayoutC_TV", "TV Layout C"),
    "ignored": ("ThrID", "ThrIdx", "Thr VMNK", "TiledThr", "TiledVal", "TiledShape_MNK"),
    "type": ("ValueType", "Value type"),
}
_KEYS = {name.replace(" ", "").replace("_", "").lower(): key for key, names in _NAMES.items() for name in names}
#: A heading at the end of a line, and a line with a value. Marks of comments may precede both.
_HEADING = r"(?P<before>.*?)(?<![A-Za-z0-9_])(?P<heading>(?:Tiled|Thr)[ _]?(?:Copy|MMA)|(?:Copy|MMA)[ _]Atom):?\s*$"
_LINE = r"(?P<before>[\s/#*|>]*)(?P<name>[A-Za-z][A-Za-z_ ]*?)\s*:(?P<value>.*)$"
_REMARK = r"\s(?://|#|/\*).*"
#: Blanks and marks of comments.
_MARKS = " \t\r\n/#*|>"


class Passage(NamedTuple):
    """A part of a text: a print, or the text between two prints.

    Args:
        start: position of its first character.
        end: position after its last character.
        lines: the values of a print by key; None for text between prints.
        text: the text of the passage.
    """

    start: int
    end: int
    lines: dict[str, Any] | None
    text: str

    def value(self) -> Printed:
        """Return what the print describes.

        Raises:
            NotationError: if a line is missing, or a value is not supported.
            LayoutError: if the parts do not fit together.
        """
        lines = self.lines or {}
        if "tiler" in lines or "tiled" in lines:
            return _make_copy(lines)
        if "threads" in lines or "permutation" in lines:
            return _make_mma(lines)
        if "source" in lines or "destination" in lines:
            return _make_copy_atom(lines)
        if set(lines) & {"shape", "a", "b", "c"}:
            return _make_mma_atom(lines)
        raise NotationError(f"notation: the print {brief(self.text.strip())} has a heading and no layouts")


def tiled_print(text: object) -> Printed | None:
    """Return what CuTe printed, if the text is one print; None if it is something else.

    Raises:
        NotationError: if a line is missing or repeated, or a value is not supported.
        LayoutError: if the parts do not fit together.
    """
    prints = [passage for passage in passages(text) if passage.lines is not None]
    return prints[0].value() if len(prints) == 1 and not is_around(passages(text)) else None


def passages(text: object) -> list[Passage]:
    """Return the prints in a text and the texts between them, in order; [] if there is no print.

    Raises:
        NotationError: if a value of a print is not in the notation, or a line is repeated.

    >>> passages("(8,8):(8,1)")
    []
    >>> [passage.lines is None for passage in passages("atom: Copy_Atom\\n  ValLayoutSrc: (1,8):(0,1)\\nnext")]
    [True, False, True]
    """
    if not isinstance(text, str) or "\n" not in text or not any(sign in text for sign in _SIGNS):
        return []
    parts: list[Passage] = []
    end = 0
    for segment in _join(text, list(_segments(text))):
        if text[end : segment.start].strip(_MARKS):
            parts.append(Passage(end, segment.start, None, text[end : segment.start]))
        parts.append(Passage(segment.start, segment.end, segment.lines, text[segment.start : segment.end]))
        end = segment.end
    if parts and text[end:].strip(_MARKS):
        parts.append(Passage(end, len(text), None, text[end:]))
    return parts


def is_around(parts: list[Passage]) -> bool:
    """Return whether the text around prints is an expression of which the prints are operands.

    >>> is_around(passages("size(Copy_Atom\\n  ValLayoutSrc: (1,8):(0,1)\\n)"))
    True
    """
    if not parts:
        return False
    before = parts[0].text.rstrip() if parts[0].lines is None else ""
    after = parts[-1].text.lstrip() if parts[-1].lines is None else ""
    return before.endswith(("(", ",", "=", "[")) or after.startswith((",", ")", "(", "[", "."))


def is_line_of_print(line: str, inside: bool) -> bool:
    """Return whether a line is the heading of a print, or one of its lines if it follows another.

    Args:
        line: the line.
        inside: whether the line before it belongs to a print.

    >>> is_line_of_print("gC: Tiled Copy", False), is_line_of_print("  Tiler MN: (8:1,8:1)", True)
    (True, True)
    """
    import re

    bare = _without_remark(line)
    if re.match(_HEADING, bare, re.ASCII):
        return True
    match = re.match(_LINE, bare, re.ASCII)
    return inside and match is not None and _key(match["name"]) is not None


class _Segment(NamedTuple):
    """A heading with the lines that follow it, or lines without a heading (an empty heading)."""

    start: int
    end: int
    heading: str
    lines: dict[str, Any]

    @property
    def kind(self) -> str:
        """The heading, or the one that belongs to the lines."""
        if self.heading:
            return self.heading
        if set(self.lines) & {"tiler", "tiled"}:
            return "tiledcopy"
        if set(self.lines) & {"threads", "permutation"}:
            return "tiledmma"
        return "mmaatom" if set(self.lines) & {"shape", "a", "b", "c"} else "copyatom"


def _segments(text: str) -> Iterator[_Segment]:
    """Yield every heading with its lines."""
    import re  # imported here for the reason given in tokens.py

    segment: _Segment | None = None
    position = 0
    for line in text.splitlines(keepends=True):
        bare = _without_remark(line)
        if match := re.match(_HEADING, bare, re.ASCII):
            if segment is not None:
                yield segment
            heading = match["heading"].replace(" ", "").replace("_", "").lower()
            segment = _Segment(position + match.start("heading"), position + len(line.rstrip()), heading, {})
        elif (match := re.match(_LINE, bare, re.ASCII)) and (key := _key(match["name"])):
            start = position + match.start("name")
            segment = segment or _Segment(start, start, "", {})
            if key in segment.lines and key not in ("ignored", "type"):
                raise NotationError(
                    f"notation: the print has the line {match['name']} twice, without a heading such as Tiled Copy "
                    "between them",
                    text,
                    start,
                )
            first = position + match.start("value")
            value, length = _parse_line(key, match["value"], text, first)
            goes_on = match["value"][length:].lstrip().startswith((",", ")", "(", "[", "."))  # as an expression
            end = first + length if goes_on else position + len(line.rstrip())
            segment = _Segment(segment.start, end, segment.heading, {**segment.lines, key: value})
            if goes_on:
                yield segment
                segment = None
        elif bare.strip(_MARKS) and segment is not None:
            yield segment
            segment = None
        position += len(line)
    if segment is not None:
        yield segment


def _join(text: str, segments: list[_Segment]) -> Iterator[_Segment]:
    """Yield the prints: a tiled copy or MMA with its atom, which may be printed before it, and atoms alone."""

    def follows(number: int, kind: str) -> bool:
        """Return whether the next segment has a heading and follows without other text between them."""
        if number + 1 >= len(segments) or segments[number + 1].kind != kind:
            return False
        return not text[segments[number].end : segments[number + 1].start].strip(_MARKS)

    number = 0
    while number < len(segments):
        first = number
        family = "copy" if "copy" in segments[number].kind else "mma"
        lines: dict[str, Any] = {}
        for kind in (f"{family}atom", f"thr{family}", f"tiled{family}"):
            if segments[number].kind != kind:
                continue
            after = {f"{family}atom": (f"thr{family}", f"tiled{family}"), f"thr{family}": (f"tiled{family}",)}
            follower = next((name for name in after.get(kind, ()) if follows(number, name)), None)
            if kind == f"{family}atom" and follower is not None:
                last = (
                    number + 2 if follower == f"thr{family}" and follows(number + 1, f"tiled{family}") else number + 1
                )
                if segments[last].kind != f"tiled{family}" or follows(last, f"{family}atom"):
                    break  # the copy has an atom of its own
            if follower is None:
                break
            lines |= segments[number].lines
            number += 1
        if segments[number].kind == f"tiled{family}" and follows(number, f"{family}atom"):
            lines |= segments[number].lines
            number += 1
        yield _Segment(
            segments[first].start, segments[number].end, segments[first].heading, {**lines, **segments[number].lines}
        )
        number += 1


def _without_remark(line: str) -> str:
    """Return a line without its last remark; the marks of a comment at its beginning stay."""
    import re

    mark = re.match(r"[\s/#*|>]*", line)
    start = mark.end() if mark else 0
    return line[:start] + re.sub(_REMARK, "", line[start:].rstrip())


def _key(name: str) -> str | None:
    return _KEYS.get(name.replace(" ", "").replace("_", "").lower())


def _parse_line(key: str, value: str, text: str, position: int) -> tuple[Any, int]:
    """Return the value of a line, and the number of characters that it has.

    Args:
        key: the key of the line.
        value: the characters after the colon.
        text: the whole text, for messages.
        position: position of the value in the text.
    """
    if key == "type":
        import re

        word = re.match(r"\s*[\w:]+", value, re.ASCII)
        return None, word.end() if word else 0
    try:
        parser = Parser(value)
        parsed = parser.parse_value()
    except NotationError as error:
        raise NotationError(str(error), text, position + error.position) from None
    last = parser.tokens[parser.next - 1]
    return parsed, last.position + len(last.text)


def _need(lines: dict[str, Any], kind: str, *keys: str) -> list[Any]:
    """Return the values of some lines.

    Raises:
        NotationError: if a line is missing.
    """
    for key in keys:
        if key not in lines:
            cpp, dsl = _NAMES[key]
            raise NotationError(f"notation: the print of {kind} has no line {cpp} (C++) or {dsl} (DSL)")
    return [lines[key] for key in keys]


def _make_copy_atom(lines: dict[str, Any]) -> CopyAtom:
    source, destination = _need(lines, "a copy atom", "source", "destination")
    return CopyAtom(source, destination, lines.get("reference") or _reference(source, destination))


def _make_copy(lines: dict[str, Any]) -> TiledCopy:
    tiler, tiled, source, destination = _need(lines, "a tiled copy", "tiler", "tiled", "source", "destination")
    atom = CopyAtom(source, destination, lines.get("reference") or _reference(source, destination))
    return make_tiled_copy(atom, tiled, _tilers(tiler))


def _reference(source: Any, destination: Any) -> Any:
    """Return the side of an atom that the layout of a tiled copy refers to; see the module.

    Raises:
        NotationError: if the two sides do not determine it.
    """
    if source == destination:
        return source
    for is_memory, reference_is_memory in ((_has_all, True), (_is_shared, False), (_is_contiguous, False)):
        memory = [is_memory(side) for side in (source, destination)]
        if memory.count(True) == 1:
            return (source, destination)[memory.index(reference_is_memory)]
    raise NotationError(
        f"notation: the reference of the copy atom is unknown, because its source {source} and its destination "
        f"{destination} differ; C++ prints the reference as ValLayoutRef"
    )


def _has_all(layout: Any) -> bool:
    """Check if every thread has every element, as in tensor memory."""
    threads = need_plain(layout, "notation")[0]
    return int(size(threads)) > 1 and not any(flatten_tuple(threads.stride))


def _is_shared(layout: Any) -> bool:
    """Check if several threads have the same elements, as the threads of ``ldmatrix.x1`` with the address of a row."""
    threads = need_plain(layout, "notation")[0]
    modes = zip(flatten_tuple(threads.shape), flatten_tuple(threads.stride), strict=True)
    return any(extent != 1 and stride == 0 for extent, stride in modes)


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


def _make_mma_atom(lines: dict[str, Any]) -> MmaAtom:
    a, b, c = _need(lines, "an MMA atom", "a", "b", "c")
    return MmaAtom(lines.get("shape") or _shape_of(a, b, c), a, b, c)


def _shape_of(a: Any, b: Any, c: Any) -> tuple[int, int, int]:
    """Return M, N and K of an atom from the sizes of its operands: M x K, N x K and M x N.

    Raises:
        NotationError: if there are no such extents.
    """
    mk, nk, mn = (int(cosize(need_plain(layout, "notation"))) for layout in (a, b, c))
    m = isqrt(mk * mn // nk)
    if m * m * nk != mk * mn or mk % m or mn % m:
        raise NotationError("notation: the print of an MMA atom has no line Shape_MNK, and its layouts do not imply it")
    return m, mn // m, mk // m


def _make_mma(lines: dict[str, Any]) -> TiledMma:
    threads, permutation = _need(lines, "a tiled MMA", "threads", "permutation")
    atom = _make_mma_atom(lines)
    layout = need_plain(threads, "notation")
    if len(layout) != 4:
        raise NotationError(f"notation: the MMA has threads {brief(threads)}, which are not of the form V, M, N, K")
    count = int(size(layout[0]))
    strides = flatten_tuple(layout.stride)[-3:]
    if (count > 1 and layout[0].stride != 1) or any(type(d) is not int or d % count for d in strides):
        raise NotationError(f"notation: the threads of an atom are not consecutive in {layout}")
    atoms = Layout(tuple(int(size(layout[mode])) for mode in (1, 2, 3)), tuple(d // count for d in strides))
    return make_tiled_mma(atom, atoms, _tilers(permutation))
