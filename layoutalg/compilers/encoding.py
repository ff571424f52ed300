"""Layouts as other compilers write them, read: which compiler, which tensor, and the layout that it is in CuTe's form.

A text is what a dump or a print has: the line of an attribute and the type of a tensor, the ``repr`` of a class with
the extents behind it, a whole line of code. The layout follows CuTe: of shared memory, coordinates to offsets in
elements, with a mode for each dimension (stages before them come last); of tensor memory, coordinates to
``lane * 2**21 / bits + column``, as CuTe's pointers count; of registers, (thread, value) to the index of an element,
first mode fastest, lanes below warps.

Source: as ``layoutalg.compilers.triton``, ``mosaic`` and ``tilelang``.

>>> text = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}> 128x64xf16"
>>> print(encoding_span(text)[0])
nvmma_shared of Triton, 128x64xf16 in shared memory: S<3,3,3> o 0 o (128,64):(64,1)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from layoutalg.algebra.rearrange import append
from layoutalg.analysis.linear_layout import LinearLayout, from_linear_layout
from layoutalg.compilers.mosaic import tiled
from layoutalg.compilers.padded import padded
from layoutalg.compilers.syntax import Node, Reader, Tensor, tensor_before, tensor_behind
from layoutalg.compilers.tilelang import registers, shared, tilelang_match
from layoutalg.compilers.triton import GLUON, from_gluon, linear_layout, product_of, rank_of, space_of
from layoutalg.drawing.shown import Shown
from layoutalg.errors import LayoutError, NotationError, brief
from layoutalg.fragments.fragment import Fragment
from layoutalg.frozen import fix, frozen
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, need_layout, need_plain
from layoutalg.tuples.int_tuple import safe_text

_SPACES = {"rmem": "registers", "smem": "shared memory", "tmem": "tensor memory"}
#: The most characters of a text: a dump of a kernel with all its attributes.
_MOST_TYPED = 1 << 18

_TRITON = r"#(?:ttn?g|triton_gpu|triton_nvidia_gpu)\.\w"
_TRITON_START = re.compile(_TRITON)
_ALIAS = re.compile(rf"#(\w+)\s*=\s*(?={_TRITON})")
_TYPE = re.compile(r"(?<![\w.])(?:tensor|(?:!ttg\.)?memdesc)<(?=\s*\d)")
_CLASS = re.compile(rf"(?<!\w)(?:\w+\.)*({'|'.join(GLUON)})(?=\()")
_TRANSFORM = re.compile(r"(?<!\w)(?:\w+\.)*([A-Za-z]\w*Transform)(?=\()")
#: Element types by the names that Python has for them, in the DSL's spelling.
_TYPES = {"bfloat16": "bf16", "float16": "f16", "float32": "f32", "tfloat32": "tf32", "int8": "i8", "uint8": "i8"}
_TYPES |= {"float8_e4m3fn": "f8E4M3FN", "float8e4nv": "f8E4M3FN", "float8_e5m2": "f8E5M2", "float8e5": "f8E5M2"}


@frozen
class Encoding(Shown):
    """A layout as another compiler wrote it.

    Args:
        name: of the attribute or class, as in ``nvmma_shared``.
        compiler: ``Triton``, ``Mosaic GPU`` or ``TileLang``.
        space: ``rmem``, ``smem`` or ``tmem``.
        shape: extents of the tensor, stages first.
        layout: in CuTe's form, as the module says.
        type: of an element, as it was written, or ``""``.
        bits: width of an element; None where the text does not say it.

    Raises:
        LayoutError: if one is no such thing.
    """

    name: str
    compiler: str
    space: str
    shape: tuple[int, ...]
    layout: AnyLayout
    type: str
    bits: int | None

    def __init__(
        self,
        name: str,
        compiler: str,
        space: str,
        shape: tuple[int, ...],
        layout: AnyLayout,
        type: str = "",
        bits: int | None = None,
    ) -> None:
        texts = all(isinstance(one, str) for one in (name, compiler, space, type))
        if (
            not texts
            or space not in _SPACES
            or not isinstance(shape, tuple)
            or (bits is not None and not isinstance(bits, int))
        ):
            raise LayoutError(
                "Encoding: must have names, rmem, smem or tmem, extents and bits, found "
                f"{', '.join(map(safe_text, (name, compiler, space, shape, type, bits)))}"
            )
        fix(self, name=name, compiler=compiler, space=space, shape=shape, type=type, bits=bits)
        fix(self, layout=need_layout(layout, "Encoding"))

    def fragment(self) -> Fragment:
        """Who holds what of a tensor in registers; of three dimensions and more the second and later ones across.

        Raises:
            LayoutError: if it lies elsewhere.

        >>> text = "#ttg.linear<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [], block = []}> 2x4"
        >>> print(encoding_span(text)[0].fragment())
        linear: 2x4, ((2,2),2):((4,1),2)
        """
        if self.space != "rmem":
            raise LayoutError(f"Encoding: a fragment must lie in registers, found {_SPACES[self.space]}; {self}")
        return Fragment(self.name, (self.shape[0], product_of(self.shape[1:])), need_plain(self.layout, "Encoding"))

    def _drawn(self) -> tuple[Any, ...]:
        return (self.fragment() if self.space == "rmem" else self.layout,)

    def __str__(self) -> str:
        extents = "x".join([*map(str, self.shape), *([self.type] if self.type else [])])
        return f"{self.name} of {self.compiler}, {extents} in {_SPACES[self.space]}: {self.layout}"


def encoding_span(text: str, shape: tuple[int, ...] | None = None) -> tuple[Encoding, int, int] | None:
    """What :func:`layoutalg.parse_encoding` reads, with its first character and the one behind its last.

    >>> encoding_span("select(SwizzledSharedLayout(8, 1, 8, [1, 0]) 8x64, [1, 0])")[1:]
    (7, 49)
    """
    if not isinstance(text, str):
        raise NotationError(f"notation: must be a text, found {safe_text(text)}")
    if (printed := tilelang_match(text)) is not None:
        return _tilelang(printed), printed.start(), printed.end()
    if (starts := list(_TRANSFORM.finditer(text))) and _short_enough(text):
        return _mosaic(text, [match.start() for match in starts], shape)
    if (_TRITON_START.search(text) or ("#" in text and _TYPE.search(text))) and _short_enough(text):
        return _triton(text, shape)
    if (start := _CLASS.search(text)) and _short_enough(text):
        reader = Reader(text, start.start(1))
        node, of_class = from_gluon(reader.value())
        _check_last(_CLASS, text, reader.position)
        if of_class is not None and tensor_behind(text, reader.position) is None:
            return _of_node(node, of_class, "Triton"), start.start(), reader.position
        tensor, end = _tensor(text, start.start(), reader.position, shape, node.name)
        return _of_node(node, tensor, "Triton"), start.start(), end
    return None


def _check_last(encoding: re.Pattern[str], text: str, position: int) -> None:
    """Refuse a text with another encoding behind the first: one of them would not be read."""
    if (other := encoding.search(text, position)) is not None:
        raise NotationError(
            f"notation: one encoding must be meant, found another: {brief(text[other.start() :])}", text
        )


def _short_enough(text: str) -> bool:
    if len(text) > _MOST_TYPED:
        raise NotationError(f"notation: a text must have at most {_MOST_TYPED} characters, found {len(text)}")
    return True


def dump_encodings(text: str) -> Iterator[tuple[str, Encoding | LayoutError]]:
    """Every tensor of a dump of Triton, once: its type as it is written, and its layout or why there is none.

    Raises:
        LayoutError: if an attribute or a type is misspelt.

    >>> dump = "#a = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
    >>> for type_text, encoding in dump_encodings(f"{dump} %1 = alloc : !ttg.memdesc<8x8xf32, #a, #smem>"):
    ...     print(type_text, encoding.layout)
    !ttg.memdesc<8x8xf32, #a, #smem> (8,8):(8,1)
    """
    for type_text, (encoding, node, tensor, _, _) in _types(text, _aliases(text)).items():
        try:
            yield type_text, _of_node(encoding, _allocated(node, tensor), "Triton")
        except LayoutError as error:
            yield type_text, error


def _aliases(text: str) -> dict[str, Node]:
    """The attributes that a dump gives a name."""
    aliases: dict[str, Node] = {}
    for match in _ALIAS.finditer(text):
        aliases[match[1]] = Reader(text, match.end(), aliases).value()
    return aliases


def _types(text: str, aliases: dict[str, Node]) -> dict[str, tuple[Node, Node, Tensor, int, int]]:
    """The types of a dump that have an encoding: this, the type, the extents, and where the type stands."""
    found: dict[str, tuple[Node, Node, Tensor, int, int]] = {}
    for match in _TYPE.finditer(text):
        reader = Reader(text, match.start(), aliases)
        node = reader.value()
        tensor, encoding = (*node.items[:2], None, None)[:2]
        if isinstance(tensor, Tensor) and isinstance(encoding, Node):
            start, end = match.start(), reader.position
            found.setdefault(text[start:end], (encoding, node, tensor, start, end))
    return found


def _triton(text: str, shape: tuple[int, ...] | None) -> tuple[Encoding, int, int]:
    """The one tensor of a text in MLIR."""
    aliases = _aliases(text)
    found = _types(text, aliases)
    if len(found) > 1:
        raise NotationError(f"notation: one tensor must be meant, found {len(found)}: {'; '.join(found)[:400]}")
    if found:
        encoding, node, tensor, start, end = next(iter(found.values()))
        return _of_node(encoding, _allocated(node, tensor), "Triton"), start, end
    if len(aliases) > 1:
        names = ", ".join(f"#{name}" for name in aliases)
        raise NotationError(
            f"notation: which tensor is meant must be said, found the attributes {names}; give its type as the dump "
            "has it, as tensor<128x64xf16, #blocked>"
        )
    begin = _ALIAS.search(text) or _TRITON_START.search(text)
    if begin is None:
        raise NotationError(f"notation: a type must have extents and an encoding, found {brief(text)}")
    reader = Reader(text, begin.end() if aliases else begin.start())
    node = reader.value()
    _check_last(_TRITON_START, text, reader.position)
    tensor, end = _tensor(text, begin.start(), reader.position, shape, node.name)
    return _of_node(node, tensor, "Triton"), begin.start(), end


def _allocated(node: Node, tensor: Tensor) -> Tensor:
    """The tensor of a type, unless it is a part of a larger allocation along a dimension of the encoding."""
    last = node.items[-1]
    if not isinstance(last, Tensor) or len(node.items) < 3 or last.shape[-len(tensor.shape) :] == tensor.shape:
        return tensor
    if len(last.shape) < len(tensor.shape) or node.name.endswith("tensor"):
        return tensor
    whole = "x".join(map(str, last.shape))
    raise NotationError(
        f"memdesc: must be a whole tile, found {'x'.join(map(str, tensor.shape))} of an allocation of {whole}; give "
        f"the type of the allocation, and take the part of its layout with local_tile"
    )


def _of_node(node: Node, tensor: Tensor, compiler: str) -> Encoding:
    """The layout of an attribute for a tensor."""
    name, space = node.name.rpartition(".")[2], space_of(node)
    if not space:
        known = ", ".join(sorted({name for name, _ in GLUON.values()}))
        undefined = f"; give the line that defines #{node.name} too" if not node.fields and "." not in node.name else ""
        raise NotationError(f"notation: an encoding must be one of {known}, found {node.name}{undefined}")
    width = node.fields.get("elementBitWidth")
    if width is not None and tensor.bits not in (None, width):
        raise NotationError(f"{name}: elementBitWidth must be that of {tensor.type}, {tensor.bits}, found {width}")
    bits = width if type(width) is int else tensor.bits
    if space == "tmem" and bits is None:
        raise NotationError(f"{name}: the type of an element must be known, found none; give it, as in 128x128xf32")
    rank = len(tensor.shape) if space == "rmem" else rank_of(node, tensor.shape)
    if rank > len(tensor.shape):
        raise NotationError(f"{name}: the tensor must have {rank} dimensions, found {len(tensor.shape)}")
    stages, shape = tensor.shape[: len(tensor.shape) - rank], tensor.shape[len(tensor.shape) - rank :]
    layout, reach = _placed(node, shape, bits)
    for extent in reversed(stages):
        layout, reach = append(layout, Layout(extent, reach)), reach * extent
    return Encoding(name, compiler, space, tensor.shape, layout, tensor.type, bits)


def _placed(node: Node, shape: tuple[int, ...], bits: int | None) -> tuple[AnyLayout, int]:
    """The layout of a tensor without stages; and where, in memory, the next one may begin."""
    if node.name.endswith("padded_shared"):
        return padded(node, shape)
    linear = linear_layout(node, shape, bits)
    return _registers(linear) if space_of(node) == "rmem" else _memory(linear, bits)


def _registers(linear: LinearLayout) -> tuple[AnyLayout, int]:
    """(thread, value) to the index of an element: the bits of a lane below those of a warp."""
    bases = dict(linear.bases)
    both = [("thread", (*bases["lane"], *bases["warp"])), ("value", bases["register"])]
    return from_linear_layout(LinearLayout(both, linear.out_dims)), 0


def _memory(linear: LinearLayout, bits: int | None) -> tuple[AnyLayout, int]:
    """Coordinates to offsets, the first place where an element lies in several; and the next free offset."""
    places = linear.in_dims()
    inverse = linear.pseudoinvert()
    if "col" in places and bits:  # lanes lie a power of two of columns apart, as CuTe counts them
        inverse = LinearLayout(inverse.bases, {"col": (1 << 21) // bits, "row": places["row"]})
    return from_linear_layout(inverse), places.get("col") or places["offset"]


def _mosaic(text: str, starts: Sequence[int], shape: tuple[int, ...] | None) -> tuple[Encoding, int, int]:
    nodes, start, end = [], starts[0], 0
    for place in starts:
        # What stands between two transforms, or before the first of a list, would be one that is misspelt.
        if re.search(r",\s*\Z" if place == start else r"[^\s,]", text[end:place]):
            raise NotationError(
                f"notation: transforms must follow one another, found {brief(text[end:place])}", text, end
            )
        reader = Reader(text, place)
        nodes.append(reader.value())
        end = reader.position
    if re.match(r"\s*,\s*[\w.]+\s*\(", text[end:]):
        raise NotationError(f"notation: a transform must be one that is known, found {brief(text[end:])}", text, end)
    begin, close = re.search(r"[\[(]\s*\Z", text[:start]), re.compile(r"\s*,?\s*[\])]").match(text, end)
    if begin and close:  # of the tuple of all transforms
        start, end = begin.start(), close.end()
    tensor, end = _tensor(text, start, end, shape, nodes[0].name)
    layout, name = tiled(nodes, tensor.shape, tensor.bits), ", ".join(node.name for node in nodes)
    return Encoding(name, "Mosaic GPU", "smem", tensor.shape, layout, tensor.type, tensor.bits), start, end


def _tilelang(printed: re.Match[str]) -> Encoding:
    if printed["fragment"]:
        extents, held = registers(printed)
        return Encoding("Fragment", "TileLang", "rmem", extents, held)
    extents, layout = shared(printed)
    tensor = _typed(Tensor(extents, ""), printed.string[printed.end() :])
    return Encoding("Layout", "TileLang", "smem", extents, layout, tensor.type, tensor.bits)


def _tensor(text: str, start: int, end: int, shape: tuple[int, ...] | None, name: str) -> tuple[Tensor, int]:
    """The tensor that a text says beside an encoding, behind it or before; and where both end."""
    short, found = name.rpartition(".")[2], tensor_behind(text, end)
    if found is None and (before := tensor_before(text[:start])) is not None:
        found = before, end
    if found is None and shape is not None:
        found = Tensor(shape, ""), end
    if found is None:
        raise NotationError(
            f"{short}: the extents of the tensor must be known, found none; give them behind it, as 128x64xf16, or "
            f"the type of the dump; text = {brief(text)}"
        )
    tensor, end = found
    if not 0 < product_of(tensor.shape) <= 1 << 30 or min(tensor.shape) < 1:
        raise NotationError(f"{short}: extents must be positive, and not too many, found {tensor.shape}")
    return (tensor if tensor.type else _typed(tensor, text[:start] + " " + text[end:])), end


def _typed(tensor: Tensor, text: str) -> Tensor:
    """A tensor with the element type that the text around it names."""
    names = "|".join(sorted({*_TYPES, *_TYPES.values()}, key=len, reverse=True))
    word = re.search(rf"(?<![a-zA-Z0-9_])(?:\w+\.)?({names})(?![a-zA-Z0-9_])", text)
    return Tensor(tensor.shape, _TYPES.get(word[1], word[1]) if word else "")
