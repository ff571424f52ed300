"""Parse chains: each link is a text of a noun, its value and options NAME=VALUE; a TOML file has the links of each leg.

    tensor LAYOUT [address=BYTES]
    convolution NxHxWxC filters=KxRxS [stride=HxW] [dilation=HxW] [padding=HxW] [operand=A|B] [row=N] [tap=R,S]
        [channel=N] [address=BYTES]
    tma TENSOR-MAP [boxes=X,Y@ADDRESS;...] [base=BYTES] [origin=X,Y] [major=K|MN]
    bulk BYTES [from=ADDRESS] [to=ADDRESS]
    layout LAYOUT [base=BYTES] [unit=elements|bytes|cute] [swizzle=none|32B|64B|128B|128B_BASE32B]
    word [WORD] [mma=RxC] [advance=LAYOUT] [major=K|MN] [sparse=1]
    ldmatrix.xN...[.RxC], stmatrix.xN... [warps=RxC] [tiling=blocked|raked] [pointers=LAYOUT]
    fragment NAME|LAYOUT [warps=RxC] [tiling=blocked|raked]
    load, store [NAME|LAYOUT] [warps=RxC] [tiling=blocked|raked] [threads=LAYOUT values=LAYOUT]
    accumulator MxN [dtype=f32] [cta_group=1] [ws=1] [columns=0,256]
    tcgen05.ld.SHAPE.xN, tcgen05.st... [column=N] [offset=N]
    tcgen05.cp.SHAPE [WORD] [advance=LAYOUT] [columns=0,4] [major=K|MN] [blocks=N]
    cells LAYOUT
    factors POINTER,POINTER... [count=1] [each=1] [halves=1] [group=4]
    convert TYPE
    shift BITS

Invariant: an option that is given twice, or that the link does not have, is refused.

>>> chain(["layout (8,8):(8,1) base=0 base=16"], tile="8x8")
Traceback (most recent call last):
descriptors.errors.DescriptorError: chain: link 1: base is given twice, as 0 and 16
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from descriptors.errors import ChoiceError, DescriptorError, LayoutError, as_flag, brief
from descriptors.gemm.chain import Chain, Leg, Link, product_legs
from descriptors.gemm.contract import read
from descriptors.gemm.memory_links import (
    FARTHEST,
    BulkCopy,
    ConvolutionTensor,
    SharedLayout,
    TensorCopy,
    TensorLayout,
    Words,
)
from descriptors.gemm.register_links import (
    MOST_VALUES,
    Conversion,
    FragmentLink,
    MatrixMove,
    Shift,
    ThreadCopy,
    tiled_fragment,
)
from descriptors.gemm.tensor_links import Accumulators, CellCopy, Cells, FactorReads, TensorMove, tensor_move
from descriptors.smem.operands.explicit import as_unit
from descriptors.smem.operands.operand import ElementType, as_element_type, as_major, as_swizzle_mode, choose
from descriptors.smem.tma.convolution import convolution
from descriptors.smem.tma.map_notation import ARGUMENTS, parse_tensor_map
from descriptors.smem.words.tensor_map import TensorMap
from descriptors.targets import tensor_architecture
from descriptors.tmem.copies import tmem_copy
from layoutalg import ComposedLayout, Fragment, Layout, TiledCopy, fragment

#: Types of results that are not operand types, mapped to an operand type of the same width.
_RESULTS = {"f32": "tf32", "s32": "tf32", "u32": "tf32", "b32": "tf32", "b16": "bf16", "b8": "u8"}
#: The keys of a TOML file.
_KEYS = ("dtype", "d_dtype", "tile", "instruction", "arch", "links", "A", "B", "D")
_MAP_NAMES = {name.casefold() for pair in ARGUMENTS.items() for name in pair}


def chain(
    links: Sequence[object] | Mapping[str, Sequence[object]],
    *,
    tile: str | Sequence[int],
    dtype: str | ElementType = "bf16",
    d_dtype: str = "f32",
    instruction: str | None = None,
    arch: str = "",
) -> Chain:
    """Return a chain of links.

    Args:
        links: the links in order, as texts or as values: a ``TensorMap``, a ``Layout`` of shared memory, a
            ``Fragment``, or a ``TiledCopy`` (a load if a layout or tensor is before it, else a store). Or a mapping of
            leg names ``A``, ``B`` and ``D`` to such links.
        tile: rows and columns for a single leg; M, N and K for several legs.
        dtype: element type of A and B, or at the beginning of a single leg.
        d_dtype: element type at the beginning of D.
        instruction: shape of the instruction, such as ``m64n128k16``; it gives the blocks of descriptors without
            ``mma=``.
        arch: the architecture; by default the one that the descriptors imply.

    Returns:
        The chain; its method ``verify()`` returns the verdict.

    Raises:
        DescriptorError: if a text is not a link; the message has its number.

    >>> print(chain(["tcgen05.ld.32x32b.x8"], tile="128x8", dtype="f32").legs[0].links[0])
    tcgen05.ld.32x32b.x8
    """
    arch = "" if isinstance(arch, str) and not arch else tensor_architecture(arch, "chain")
    shape = _instruction(instruction)
    if not isinstance(links, Mapping):
        extents = _extents("tile", tile, 2)
        block = (shape[0], shape[2]) if shape else None
        return Chain((_leg("", links, extents, _element(dtype), block),), arch)
    m, n, k = _extents("tile", tile, 3)
    kinds = {"A": ((m, k), dtype, 0), "B": ((n, k), dtype, 1), "D": ((m, n), d_dtype, 0)}
    legs = []
    for name, texts in links.items():
        if name not in kinds:
            raise ChoiceError("chain: a leg", name, kinds)
        extents, kind, side = kinds[name]
        legs.append(_leg(name, texts, extents, _element(kind), (shape[side], shape[2]) if shape else None))
    if not legs:
        raise DescriptorError("chain: there are no links")
    _check_blocks(legs)
    return Chain(tuple(legs), arch, product_legs(legs))


def _check_blocks(legs: Sequence[Leg]) -> None:
    """Check that one instruction can multiply the blocks of A, B and D.

    Raises:
        DescriptorError: if the blocks of A and B have different K, or those of B and D different N.
    """
    blocks = {leg.name: link.mma for leg in legs for link in leg.links if isinstance(link, Words)}
    if {"A", "B"} <= blocks.keys() and blocks["A"][1] != blocks["B"][1]:
        (_, a_k), (_, b_k) = blocks["A"], blocks["B"]
        raise DescriptorError(f"chain: one instruction reads {a_k} elements of K from A and {b_k} from B")
    results = [link for leg in legs if leg.name == "D" for link in leg.links[:1] if isinstance(link, FragmentLink)]
    match = re.match(r"wgmma\.m\d+n(\d+)k", str(results[0])) if results else None
    if match and "B" in blocks and blocks["B"][0] != int(match[1]):
        raise DescriptorError(
            f"chain: N of {results[0]} is {match[1]}, but an instruction reads {blocks['B'][0]} rows of B"
        )


def parse_chain(text: str) -> Chain:
    r"""Parse a chain from TOML: ``tile``, and either ``links`` or some of ``A``, ``B`` and ``D``, each a list of texts.

    Raises:
        DescriptorError: if the text is not TOML, a key is unknown or missing, or a link is wrong as for `chain`.

    >>> toml = 'dtype = "bf16"\ntile = "64x16"\nlinks = ["layout (64,16):(16,1)", "ldmatrix.x4 warps=4x1"]'
    >>> print(parse_chain(toml).verify().headline)
    incomplete: link 2, ldmatrix.x4, no later link says where the elements must be
    """
    if not isinstance(text, str):
        raise DescriptorError(f"chain: the file is {brief(text)}, not text")
    table = read(text, "chain")
    for key in table:
        if key not in _KEYS:
            raise ChoiceError("chain: a key of the file", key, _KEYS)
    legs: dict[str, Any] = {name: table[name] for name in ("A", "B", "D") if name in table}
    if bool(legs) is ("links" in table) or "tile" not in table:
        keys = ", ".join(table) or "no keys"
        raise DescriptorError(
            f"chain: the file has {keys}, and not exactly tile with either links or some of A, B and D"
        )
    for name, links in (legs or {"links": table["links"]}).items():
        if not isinstance(links, list) or not all(isinstance(link, str) for link in links):
            raise DescriptorError(f"chain: {name} is {brief(links)}, not a list of texts")
    options = {key: table[key] for key in ("dtype", "d_dtype", "instruction", "arch") if key in table}
    for name, value in options.items():
        if not isinstance(value, str):
            raise DescriptorError(f"chain: {name} is {brief(value)}, not text")
    return chain(legs or table["links"], tile=table["tile"], **options)


def _leg(
    name: str, links: Sequence[object], tile: tuple[int, ...], element: ElementType, block: tuple[int, int] | None
) -> Leg:
    if isinstance(links, (str, bytes)) or not isinstance(links, Sequence) or not links:
        raise DescriptorError(f"chain: links is {brief(links)}, not a list of links")
    read_links: list[Link] = []
    for number, link in enumerate(links, 1):
        try:
            read_links.append(_link(link, read_links, block))
        except LayoutError as error:
            place = f"{name + ', ' if name else ''}link {number}"
            raise DescriptorError(f"chain: {place}: {error}") from None
    if tile[0] * tile[1] > MOST_VALUES:
        raise DescriptorError(f"chain: the tile of {tile[0]}x{tile[1]} has more than {MOST_VALUES} elements")
    return Leg(name, (tile[0], tile[1]), element, tuple(read_links))


def _link(link: object, before: Sequence[Link], block: tuple[int, int] | None) -> Link:
    """Return the link for a text or a value.

    Args:
        link: the text or value.
        before: the links before it.
        block: rows and columns of the block that the instruction reads; None if no instruction was given.
    """
    match link:
        case Fragment():
            return FragmentLink(link)
        case TiledCopy():
            return ThreadCopy(_direction(before), FragmentLink(link.fragment("D")))
        case Layout() | ComposedLayout():
            return SharedLayout(link)
        case TensorMap():
            return TensorCopy(link)
    if not isinstance(link, str):
        if callable(getattr(link, "steps", None)) and hasattr(link, "noun"):
            return link  # type: ignore[return-value]  # a link
        raise DescriptorError(f"{brief(link)} is not a link")
    noun, argument, options = _split(link)
    head = "matrix" if noun.split(".")[0] in ("ldmatrix", "stmatrix") else noun.split(".")[0]
    if head not in _LINKS:
        names = [*(name for name in _LINKS if name not in ("matrix", "tcgen05")), "ldmatrix.x4", "tcgen05.ld.32x32b.x8"]
        raise ChoiceError("a link", noun, names)
    build, allowed_options = _LINKS[head]
    if head == "tma":
        allowed_options = (*allowed_options, *ARGUMENTS)
    for name in options:
        if name not in allowed_options and not (head == "tma" and name.casefold() in _MAP_NAMES):
            raise ChoiceError(f"{noun}: an option", name, allowed_options)
    return build(noun, argument, options, before, block)


def _direction(before: Sequence[Link]) -> str:
    """Return ``"load"`` if a layout or a tensor is before the link, else ``"store"``."""
    last = next((link for link in reversed(before) if not isinstance(link, Conversion)), None)
    return "load" if isinstance(last, (SharedLayout, TensorLayout)) else "store"


def _split(text: str) -> tuple[str, str, dict[str, str]]:
    """Split the text of a link into noun, value and options."""
    head, *rest = re.split(r"\s+(?=[A-Za-z_0-9]+=)", text.strip())
    noun, _, argument = head.partition(" ")
    options: dict[str, str] = {}
    for part in rest:
        name, _, value = part.partition("=")
        if name in options:
            first, second = (brief(text, 40).strip("'") for text in (options[name], value))
            raise DescriptorError(f"{name} is given twice, as {first} and {second}")
        options[name] = value.strip()
    return noun, argument.strip(), options


def _tensor(_: str, argument: str, options: dict[str, str], __: object, ___: object) -> Link:
    return TensorLayout(
        _required(argument, "tensor", "a layout, (row,column) to elements"), _number(options, "address")
    )


def _convolution(_: str, argument: str, options: dict[str, str], __: object, ___: object) -> Link:
    pairs: dict[str, Any] = {
        name: _one_or_two(name, options[name]) for name in ("stride", "dilation", "padding") if name in options
    }
    filters = _extents("filters", options.get("filters", ""), 3)
    layer = convolution(_extents("convolution", argument, 4), filters, **pairs)
    r, s = (*_one_or_two("tap", options.get("tap", "0,0")), 0)[:2]
    operand = choose("convolution: operand", options.get("operand", "A"), {"A": False, "B": True})
    row, channel, address = (_number(options, name) for name in ("row", "channel", "address"))
    if r >= layer.taps[0] or s >= layer.taps[1]:
        raise DescriptorError(f"convolution: tap {r},{s} is not one of {layer.taps[0]}x{layer.taps[1]} taps; {layer}")
    return ConvolutionTensor(layer, operand, row, r * layer.taps[1] + s, channel, address)


def _copy(_: str, argument: str, options: dict[str, str], __: object, ___: object) -> Link:
    arguments = " ".join(f"{name}={value}" for name, value in options.items() if name.casefold() in _MAP_NAMES)
    tensor_map = parse_tensor_map(
        _required(f"{argument} {arguments}".strip(), "tma", "a tensor map, type=bf16 extents=...")
    )
    boxes = [box.split("@") for box in options.get("boxes", "").split(";") if box.strip()]
    if any(len(box) != 2 for box in boxes):
        raise DescriptorError(f"tma: boxes {options['boxes'][:60]} is not written like 0,0@0;64,0@0x4000")
    places = tuple((_signed("boxes", coordinates), _int("boxes", address)) for coordinates, address in boxes)
    origin = _signed("origin", options["origin"]) if "origin" in options else ()
    return TensorCopy(tensor_map, places, _number(options, "base"), origin, as_major(options.get("major", "K")))


def _layout(_: str, argument: str, options: dict[str, str], __: object, ___: object) -> Link:
    unit = as_unit(options.get("unit", "elements"))
    swizzle = str(as_swizzle_mode(options["swizzle"])) if "swizzle" in options else ""
    text = _required(argument, "layout", "a layout, (row,column) to elements")
    return SharedLayout(text, _number(options, "base"), unit, swizzle)


def _word(
    _: str, argument: str, options: dict[str, str], before: Sequence[Link], block: tuple[int, int] | None
) -> Words:
    mma = _extents("mma", options["mma"], 2) if "mma" in options else block
    if mma is None:
        raise DescriptorError("word: mma is missing, what one instruction reads; write it like mma=64x16")
    layout = next((link for link in reversed(before) if isinstance(link, SharedLayout)), None)
    word = _int("word", argument.replace("'", "").replace("_", "")) if argument else None
    major = as_major(options["major"]) if "major" in options else None
    sparse = bool(_number(options, "sparse"))
    return Words(word, (mma[0], mma[1]), _advance(options.get("advance")), major, layout, sparse=sparse)


def _advance(text: str | None) -> str | tuple[tuple[int, ...], tuple[int, ...]] | None:
    if text is None or ";" not in text:
        return text
    rows, _, columns = text.partition(";")
    return _signed("advance", rows), _signed("advance", columns)


def _matrix(noun: str, argument: str, options: dict[str, str], _: object, __: object) -> Link:
    fragment(noun)
    _check_no_value(noun, argument)
    return MatrixMove(noun, _groups(options), options.get("pointers"), _raked(options))


def _fragment(_: str, argument: str, options: dict[str, str], __: object, ___: object) -> Link:
    form = "a name, or (thread, value) to row + rows * column"
    return FragmentLink(_required(argument, "fragment", form), _groups(options), _raked(options))


def _thread_copy(noun: str, argument: str, options: dict[str, str], _: object, __: object) -> Link:
    if "threads" in options or "values" in options:
        if argument:
            raise DescriptorError(f"{noun}: a fragment is given, and threads= or values= too")
        if not {"threads", "values"} <= options.keys():
            raise DescriptorError(f"{noun}: only one of threads= and values= is given")
        tiled = tiled_fragment(options["threads"], options["values"])
        return ThreadCopy(noun, FragmentLink(tiled, _groups(options) or (1, 1), _raked(options)))
    return ThreadCopy(noun, FragmentLink(argument, _groups(options), _raked(options)) if argument else None)


def _accumulator(_: str, argument: str, options: dict[str, str], __: object, ___: object) -> Link:
    m, n = _extents("accumulator", argument, 2)
    columns = _signed("columns", options["columns"]) if "columns" in options else ()
    pair = _int("cta_group", options.get("cta_group", "1"))
    ws = as_flag(bool(_number(options, "ws")), "accumulator: ws")
    accumulators = Accumulators((m, n), options.get("dtype", "f32"), pair, ws, columns)
    assert accumulators.fragment  # raises an error if the accumulator does not exist
    return accumulators


def _tensor_move(noun: str, argument: str, options: dict[str, str], before: Sequence[Link], _: object) -> Link:
    copies = noun.startswith("tcgen05.cp")
    for name in options:
        if (name in ("column", "offset")) is copies:  # all other options are those of copies
            raise DescriptorError(f"{noun} has no option {name}")
    if copies:
        columns = _signed("columns", options["columns"]) if "columns" in options else ()
        copy = tmem_copy(noun.removeprefix("tcgen05.cp."))
        return CellCopy(copy, _word(noun, argument, options, before, (1, 1)), columns, _number(options, "blocks"))
    _check_no_value(noun, argument)
    offset = _int("offset", options["offset"]) if "offset" in options else None
    return TensorMove(tensor_move(noun, offset), _int("column", options["column"]) if "column" in options else None)


def _factors(_: str, argument: str, options: dict[str, str], __: object, ___: object) -> Link:
    pointers = _required(
        argument, "factors", "pointers like 0x80,0x80000080; of several blocks of rows with ; between them"
    )
    blocks = tuple(_signed("factors", block) for block in pointers.split(";"))
    count, each, group = (max(1, _int(name, options.get(name, usual))) for name, usual in _OF_FACTORS.items())
    return FactorReads(blocks, count, each, bool(_number(options, "halves")), group)


#: Numeric options of a link ``factors`` and their defaults.
_OF_FACTORS = {"count": "1", "each": "1", "group": "4"}


def _bulk(_: str, argument: str, options: dict[str, str], __: object, ___: object) -> Link:
    return BulkCopy(
        _int("bulk", _required(argument, "bulk", "a number of bytes")), *(_number(options, n) for n in ("from", "to"))
    )


def _cells(_: str, argument: str, options: dict[str, str], __: object, ___: object) -> Link:
    return Cells(_required(argument, "cells", "a layout, (row,column) to lane << 16 | column in elements"))


def _convert(_: str, argument: str, options: dict[str, str], __: object, ___: object) -> Link:
    return Conversion(_element(argument))


def _shift(_: str, argument: str, options: dict[str, str], __: object, ___: object) -> Link:
    return Shift(_int("shift", argument))


#: The function that builds a link, and its options, by the first part of the noun.
_LINKS: Mapping[str, tuple[Callable[..., Link], tuple[str, ...]]] = {
    "tensor": (_tensor, ("address",)),
    "convolution": (
        _convolution,
        ("filters", "stride", "dilation", "padding", "operand", "row", "tap", "channel", "address"),
    ),
    "tma": (_copy, ("boxes", "base", "origin", "major")),
    "bulk": (_bulk, ("from", "to")),
    "layout": (_layout, ("base", "unit", "swizzle")),
    "word": (_word, ("mma", "advance", "major", "sparse")),
    "matrix": (_matrix, ("warps", "tiling", "pointers")),
    "fragment": (_fragment, ("warps", "warpgroups", "tiling")),
    "load": (_thread_copy, ("warps", "warpgroups", "tiling", "threads", "values")),
    "store": (_thread_copy, ("warps", "warpgroups", "tiling", "threads", "values")),
    "accumulator": (_accumulator, ("dtype", "cta_group", "ws", "columns")),
    "tcgen05": (_tensor_move, ("column", "offset", "columns", "advance", "major", "blocks")),
    "cells": (_cells, ()),
    "factors": (_factors, ("count", "each", "halves", "group")),
    "convert": (_convert, ()),
    "shift": (_shift, ()),
}


def _element(name: object) -> ElementType:
    return as_element_type(_RESULTS.get(name, name) if isinstance(name, str) else name)


def _instruction(name: str | None) -> tuple[int, int, int] | None:
    if name is None:
        return None
    text = name.casefold() if isinstance(name, str) else ""
    match = re.fullmatch(r"m(\d{1,3})n(\d{1,3})k(\d{1,3})", text, re.ASCII)
    if match is None:
        raise DescriptorError(f"chain: instruction {brief(name)} is not written like m64n128k16")
    return int(match[1]), int(match[2]), int(match[3])


def _groups(options: dict[str, str]) -> tuple[int, int] | None:
    counts = [options[name] for name in ("warps", "warpgroups") if name in options]
    if not counts:
        return None
    rows, columns = _extents("warps", counts[0], 2)
    return rows, columns


def _raked(options: dict[str, str]) -> bool:
    tiling = options.get("tiling", "blocked")
    if tiling not in ("blocked", "raked"):
        raise ChoiceError("tiling", tiling, ("blocked", "raked"))
    return tiling == "raked"


def _extents(subject: str, value: object, count: int) -> tuple[int, ...]:
    numbers = value
    if isinstance(value, str) and re.fullmatch(r"\d{1,9}([x,]\d{1,9})*", value.strip("()")):
        numbers = [int(number) for number in re.split("[x,]", value.strip("()"))]
    if (
        not isinstance(numbers, Sequence)
        or isinstance(numbers, str)
        or len(numbers) != count
        or not all(type(number) is int and 0 < number <= 1 << 20 for number in numbers)
    ):
        example = {2: "128x64", 3: "128x128x64"}.get(count, "8x56x56x64")
        raise DescriptorError(f"chain: {subject} {brief(value)} is not {count} extents like {example}")
    return tuple(numbers)


def _signed(subject: str, text: str) -> tuple[int, ...]:
    return tuple(_int(subject, number, signed=True) for number in text.strip().strip("()").split(","))


def _one_or_two(subject: str, text: str) -> tuple[int, ...]:
    """Return one number, or the numbers along H and W."""
    return tuple(_int(subject, number) for number in re.split("[x,]", text.strip("() ")))


def _number(options: dict[str, str], name: str) -> int:
    return _int(name, options.get(name, "0"))


def _int(subject: str, text: str, *, signed: bool = False) -> int:
    bare = text.strip()
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}|\d{1,20}" + (r"|-\d{1,20}" if signed else ""), bare, re.ASCII):
        number = int(bare, 16) if bare[:2].casefold() == "0x" else int(bare)
        if subject == "word" or abs(number) < FARTHEST:
            return number
    raise DescriptorError(f"{subject} {brief(text)} is not a number below {FARTHEST}")


def _required(argument: str, noun: str, form: str) -> str:
    if not argument:
        raise DescriptorError(f"{noun}: its value is missing; write {form} after it")
    return argument


def _check_no_value(noun: str, argument: str) -> None:
    if argument:
        raise DescriptorError(f"{noun}: {argument[:60]} is not an option like NAME=VALUE")
