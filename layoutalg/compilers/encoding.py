"""Parser of the layouts that other compilers print, which converts them to CuTe layouts.

A text is a part of a dump or print: the line of an attribute and the type of a tensor, the ``repr`` of a class followed
by the extents, or a whole line of code. The layout follows CuTe:

- shared memory: coordinates to offsets in elements, with a mode for each dimension; stages, which are the first
  dimensions of the text, are the last modes;
- tensor memory: coordinates to ``lane * 2**21 / bits + column``, as in CuTe's pointers;
- registers: (thread, value) to the index of an element, first mode fastest; lanes are faster than warps.

Source: see ``layoutalg.compilers.triton``, ``mosaic`` and ``tilelang``.

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
from layoutalg.compilers.mosaic import TRANSFORMS, tiled
from layoutalg.compilers.padded import padded
from layoutalg.compilers.syntax import Node, Reader, Tensor, extents_text, tensor_before, tensor_behind
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
#: The most characters of a text, enough for the dump of a kernel with all its attributes.
_MOST_TYPED = 1 << 18

_TRITON = r"#(?:ttn?g|triton_gpu|triton_nvidia_gpu)\.\w"
_TRITON_START = re.compile(_TRITON)
_ALIAS = re.compile(rf"#(\w+)\s*=\s*(?={_TRITON})")
_TYPE = re.compile(r"(?<![\w.])(?:tensor|(?:!ttg\.)?memdesc)<(?=\s*\d)")
_CLASS = re.compile(rf"(?<!\w)(?:\w+\.)*({'|'.join(GLUON)})(?=\()")
_TRANSFORM = re.compile(r"(?<!\w)(?:\w+\.)*([A-Za-z]\w*Transform)(?=\()")
#: Element types in the spelling of the CuTe DSL, by their Python names.
_TYPES = {"bfloat16": "bf16", "float16": "f16", "float32": "f32", "tfloat32": "tf32", "int8": "i8", "uint8": "i8"}
_TYPES |= {"float8_e4m3fn": "f8E4M3FN", "float8e4nv": "f8E4M3FN", "float8_e5m2": "f8E5M2", "float8e5": "f8E5M2"}


@frozen
class Encoding(Shown):
    """A layout that another compiler printed.

    Args:
        name: attribute or class, such as ``nvmma_shared``.
        compiler: ``Triton``, ``Mosaic GPU`` or ``TileLang``.
        space: ``rmem``, ``smem`` or ``tmem``.
        shape: extents of the tensor, stages first.
        layout: the CuTe layout, as described in the module.
        type: element type as in the text, or ``""``.
        bits: width of an element; None if the text does not contain it.

    Raises:
        LayoutError: if an argument has another type or the space is unknown.
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
        texts = all(isinstance(text, str) for text in (name, compiler, space, type))
        if (
            not texts
            or space not in _SPACES
            or not isinstance(shape, tuple)
            or (bits is not None and not isinstance(bits, int))
        ):
            raise LayoutError(
                f"Encoding: {', '.join(map(safe_text, (name, compiler, space, shape, type, bits)))} are not a name, a "
                "compiler, a space (rmem, smem or tmem), extents, a type and bits"
            )
        fix(self, name=name, compiler=compiler, space=space, shape=shape, type=type, bits=bits)
        fix(self, layout=need_layout(layout, "Encoding"))

    def fragment(self) -> Fragment:
        """Return the fragment of a tensor in registers; its columns are the second and all later dimensions.

        Raises:
            LayoutError: if the tensor is not in registers.

        >>> text = "#ttg.linear<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [], block = []}> 2x4"
        >>> print(encoding_span(text)[0].fragment())
        linear: 2x4, ((2,2),2):((4,1),2)
        """
        if self.space != "rmem":
            raise LayoutError(f"Encoding: the tensor is in {_SPACES[self.space]}, not in registers; {self}")
        return Fragment(self.name, (self.shape[0], product_of(self.shape[1:])), need_plain(self.layout, "Encoding"))

    def _drawn(self) -> tuple[Any, ...]:
        return (self.fragment() if self.space == "rmem" else self.layout,)

    def __str__(self) -> str:
        extents = "x".join([*map(str, self.shape), *([self.type] if self.type else [])])
        return f"{self.name} of {self.compiler}, {extents} in {_SPACES[self.space]}: {self.layout}"


def encoding_span(text: str, shape: tuple[int, ...] | None = None) -> tuple[Encoding, int, int] | None:
    """Return the encoding that :func:`layoutalg.parse_encoding` reads, with its first index and the index after it.

    >>> encoding_span("select(SwizzledSharedLayout(8, 1, 8, [1, 0]) 8x64, [1, 0])")[1:]
    (7, 49)
    """
    if not isinstance(text, str):
        raise NotationError(f"notation: {safe_text(text)} is not a string")
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
    """Refuse a text with another encoding after the first, because only one can be read."""
    if (other := encoding.search(text, position)) is not None:
        raise NotationError(f"notation: the text has a second encoding, {brief(text[other.start() :])}", text)


def _short_enough(text: str) -> bool:
    if len(text) > _MOST_TYPED:
        raise NotationError(f"notation: the text has {len(text)} characters; supported: at most {_MOST_TYPED}")
    return True


def dump_encodings(text: str) -> Iterator[tuple[str, Encoding | LayoutError]]:
    """Yield every tensor type of a Triton dump once, with its encoding or the error that explains why there is none.

    Raises:
        LayoutError: if an attribute or a type cannot be parsed.

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
    """Return the attributes of a dump that have an alias, by alias."""
    aliases: dict[str, Node] = {}
    for match in _ALIAS.finditer(text):
        aliases[match[1]] = Reader(text, match.end(), aliases).value()
    return aliases


def _types(text: str, aliases: dict[str, Node]) -> dict[str, tuple[Node, Node, Tensor, int, int]]:
    """Return the types of a dump that have an encoding: the encoding, type, extents, first index and index after it."""
    types: dict[str, tuple[Node, Node, Tensor, int, int]] = {}
    for match in _TYPE.finditer(text):
        reader = Reader(text, match.start(), aliases)
        node = reader.value()
        tensor, encoding = (*node.items[:2], None, None)[:2]
        if isinstance(tensor, Tensor) and isinstance(encoding, Node):
            start, end = match.start(), reader.position
            types.setdefault(text[start:end], (encoding, node, tensor, start, end))
    return types


def _triton(text: str, shape: tuple[int, ...] | None) -> tuple[Encoding, int, int]:
    """Return the encoding of the only tensor of an MLIR text."""
    aliases = _aliases(text)
    types = _types(text, aliases)
    if len(types) > 1:
        raise NotationError(f"notation: the text has {len(types)} tensors; {'; '.join(types)[:400]}; give one of them")
    if types:
        encoding, node, tensor, start, end = next(iter(types.values()))
        return _of_node(encoding, _allocated(node, tensor), "Triton"), start, end
    if len(aliases) > 1:
        names = ", ".join(f"#{name}" for name in aliases)
        raise NotationError(
            f"notation: the text has the attributes {names} and no tensor; give the type of one from the dump, as "
            "tensor<128x64xf16, #blocked>"
        )
    begin = _ALIAS.search(text) or _TRITON_START.search(text)
    if begin is None:
        raise NotationError(f"notation: the type in {brief(text)} has no extents or no encoding")
    reader = Reader(text, begin.end() if aliases else begin.start())
    node = reader.value()
    _check_last(_TRITON_START, text, reader.position)
    tensor, end = _tensor(text, begin.start(), reader.position, shape, node.name)
    return _of_node(node, tensor, "Triton"), begin.start(), end


def _allocated(node: Node, tensor: Tensor) -> Tensor:
    """Return the tensor of a type; refuse a part of a larger allocation along a dimension of the encoding."""
    last = node.items[-1]
    if not isinstance(last, Tensor) or len(node.items) < 3 or last.shape[-len(tensor.shape) :] == tensor.shape:
        return tensor
    if len(last.shape) < len(tensor.shape) or node.name.endswith("tensor"):
        return tensor
    raise NotationError(
        f"memdesc: the type is the part {extents_text(tensor.shape)} of an allocation of {extents_text(last.shape)}; "
        "give the type of the allocation, and select the part of its layout with local_tile"
    )


def _of_node(node: Node, tensor: Tensor, compiler: str) -> Encoding:
    """Return the encoding of an attribute and a tensor."""
    name, space = node.name.rpartition(".")[2], space_of(node)
    if not space:
        if not node.fields and "." not in node.name:
            raise NotationError(f"notation: #{node.name} is not defined; give the line that defines #{node.name} too")
        known = ", ".join(sorted({name for name, _ in GLUON.values()}))
        raise NotationError(f"notation: {node.name} is not a supported encoding; supported: {known}")
    width = node.fields.get("elementBitWidth")
    if width is not None and tensor.bits not in (None, width):
        raise NotationError(f"{name}: elementBitWidth is {width}, and {tensor.type} has {tensor.bits} bits")
    bits = width if type(width) is int else tensor.bits
    if space == "tmem" and bits is None:
        raise NotationError(f"{name}: the type of an element is unknown; give it, as in 128x128xf32")
    rank = len(tensor.shape) if space == "rmem" else rank_of(node, tensor.shape)
    if rank > len(tensor.shape):
        raise NotationError(f"{name}: the encoding has {rank} dimensions, and the tensor {extents_text(tensor.shape)}")
    stages, shape = tensor.shape[: len(tensor.shape) - rank], tensor.shape[len(tensor.shape) - rank :]
    layout, stride = _stage_layout(node, shape, bits)
    for extent in reversed(stages):
        layout, stride = append(layout, Layout(extent, stride)), stride * extent
    return Encoding(name, compiler, space, tensor.shape, layout, tensor.type, bits)


def _stage_layout(node: Node, shape: tuple[int, ...], bits: int | None) -> tuple[AnyLayout, int]:
    """Return the layout of one stage of a tensor, and in memory the offset of the next stage."""
    if node.name.endswith("padded_shared"):
        return padded(node, shape)
    linear = linear_layout(node, shape, bits)
    return _registers(linear) if space_of(node) == "rmem" else _memory(linear, bits)


def _registers(linear: LinearLayout) -> tuple[AnyLayout, int]:
    """Return (thread, value) to the index of an element; lanes are faster than warps."""
    bases = dict(linear.bases)
    both = [("thread", (*bases["lane"], *bases["warp"])), ("value", bases["register"])]
    return from_linear_layout(LinearLayout(both, linear.out_dims)), 0


def _memory(linear: LinearLayout, bits: int | None) -> tuple[AnyLayout, int]:
    """Return coordinates to offsets, the first offset of an element that has several, and the next free offset."""
    sizes = linear.in_dims()
    inverse = linear.pseudoinvert()
    if "col" in sizes and bits:  # the stride of a lane in CuTe's pointers is a power of two of columns
        inverse = LinearLayout(inverse.bases, {"col": (1 << 21) // bits, "row": sizes["row"]})
    return from_linear_layout(inverse), sizes.get("col") or sizes["offset"]


def _mosaic(text: str, starts: Sequence[int], shape: tuple[int, ...] | None) -> tuple[Encoding, int, int]:
    nodes, start, end = [], starts[0], 0
    for position in starts:
        # Text between two transforms, or before the first of a list, is probably a misspelled transform.
        if re.search(r",\s*\Z" if position == start else r"[^\s,]", text[end:position]):
            raise NotationError(
                f"notation: the text next to a transform, {brief(text[end:position])}, is not a transform", text, end
            )
        reader = Reader(text, position)
        nodes.append(reader.value())
        end = reader.position
    if re.match(r"\s*,\s*[\w.]+\s*\(", text[end:]):
        raise NotationError(
            f"notation: the text after a transform, {brief(text[end:])}, is not a transform; supported: "
            f"{', '.join(TRANSFORMS)}",
            text,
            end,
        )
    begin, close = re.search(r"[\[(]\s*\Z", text[:start]), re.compile(r"\s*,?\s*[\])]").match(text, end)
    if begin and close:  # the brackets of the tuple of all transforms
        start, end = begin.start(), close.end()
    tensor, end = _tensor(text, start, end, shape, nodes[0].name)
    layout, name = tiled(nodes, tensor.shape, tensor.bits), ", ".join(node.name for node in nodes)
    return Encoding(name, "Mosaic GPU", "smem", tensor.shape, layout, tensor.type, tensor.bits), start, end


def _tilelang(printed: re.Match[str]) -> Encoding:
    if printed["fragment"]:
        extents, thread_values = registers(printed)
        return Encoding("Fragment", "TileLang", "rmem", extents, thread_values)
    extents, layout = shared(printed)
    tensor = _typed(Tensor(extents, ""), printed.string[printed.end() :])
    return Encoding("Layout", "TileLang", "smem", extents, layout, tensor.type, tensor.bits)


def _tensor(text: str, start: int, end: int, shape: tuple[int, ...] | None, name: str) -> tuple[Tensor, int]:
    """Return the tensor that a text contains after or before an encoding, and the index after both."""
    short, match = name.rpartition(".")[2], tensor_behind(text, end)
    if match is None and (before := tensor_before(text[:start])) is not None:
        match = before, end
    if match is None and shape is not None:
        match = Tensor(shape, ""), end
    if match is None:
        raise NotationError(
            f"{short}: the extents of the tensor are unknown; give them after it, as 128x64xf16, or give the type in "
            f"the dump; text = {brief(text)}"
        )
    tensor, end = match
    if not 0 < product_of(tensor.shape) <= 1 << 30 or min(tensor.shape) < 1:
        raise NotationError(
            f"{short}: the extents {extents_text(tensor.shape)} are not positive, or have more than {1 << 30} elements"
        )
    return (tensor if tensor.type else _typed(tensor, text[:start] + " " + text[end:])), end


def _typed(tensor: Tensor, text: str) -> Tensor:
    """Return a tensor with the element type that the text around it contains."""
    names = "|".join(sorted({*_TYPES, *_TYPES.values()}, key=len, reverse=True))
    word = re.search(rf"(?<![a-zA-Z0-9_])(?:\w+\.)?({names})(?![a-zA-Z0-9_])", text)
    return Tensor(tensor.shape, _TYPES.get(word[1], word[1]) if word else "")
