"""Triton's encodings as linear layouts: which thread holds each element of a tensor, or its offset in shared memory.

An encoding tiles a tensor. Its bases along a dimension are consecutive; those of the first input are the fastest. If
the tensor is larger than the encoding, each thread holds more of it, or the shared-memory box is repeated. If it is
smaller, positions beyond the tensor hold its first elements again (a basis of zeros). A layout for several thread
blocks is the layout of one block if each block has the whole tensor. It is refused if the blocks share the tensor.

Invariant: a layout has the bases that Triton's ``to_linear_layout`` returns (``tests/vectors/triton.json``, 3.9.0).

Source: Triton ``include/triton/Dialect/TritonGPU/IR/TritonGPUAttrDefs.td``,
``include/triton/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUAttrDefs.td``,
``lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp``, ``python/triton/experimental/gluon/language/_layouts.py``.

>>> from layoutalg.compilers.syntax import Reader
>>> blocked = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>"
>>> print(linear_layout(Reader(blocked).value(), (16, 8)))
 - register=1 -> (0, 1)
 - lane=1 -> (0, 2)
   lane=2 -> (0, 4)
   lane=4 -> (1, 0)
   lane=8 -> (2, 0)
   lane=16 -> (4, 0)
 - warp=1 -> (8, 0)
where out dims are: [dim0 (size 16), dim1 (size 8)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from layoutalg.analysis.linear_layout import LinearLayout
from layoutalg.compilers.syntax import Fields, Node, Tensor, extents_text, field_text, is_power

#: The most elements of a tensor-map box along one dimension. Triton divides larger shared-memory tiles.
_BOX = 256

_CGA = "CGALayout CTAsPerCGA CTASplitNum CTAOrder"
_BASES = ("register", "lane", "warp")


class Tiling:
    """Bases of a linear layout, with the extent that they cover along each dimension.

    Args:
        rank: the number of dimensions.
    """

    def __init__(self, rank: int) -> None:
        self.reach = [1] * rank
        self.bases: dict[str, list[tuple[int, ...]]] = {}

    def along(self, name: str, dim: int, count: int) -> None:
        """Add bases of an input along a dimension, so that they reach ``count`` times as far as before."""
        rows = self.bases.setdefault(name, [])
        for _ in range(count.bit_length() - 1):
            rows.append(self._unit(dim, self.reach[dim]))
            self.reach[dim] *= 2

    def still(self, name: str, count: int) -> None:
        """Add bases of zeros, so that ``count`` positions of an input hold the same elements."""
        zeros = (0,) * len(self.reach)
        self.bases.setdefault(name, []).extend([zeros] * (count.bit_length() - 1))

    def add(self, name: str, rows: Iterable[tuple[int, ...]]) -> None:
        """Add bases to an input without changing the extents that are covered."""
        self.bases.setdefault(name, []).extend(rows)

    def fit(self, name: str, order: Sequence[int], shape: Sequence[int]) -> None:
        """Extend the bases of an input, dimension by dimension, to cover a tensor; set bases beyond the tensor to 0."""
        for dim in order:
            if self.reach[dim] < shape[dim]:
                self.along(name, dim, shape[dim] // self.reach[dim])
        for rows in self.bases.values():
            rows[:] = [
                tuple(part if part < extent else 0 for part, extent in zip(row, shape, strict=True)) for row in rows
            ]

    def linear(self, names: Iterable[str], shape: Sequence[int]) -> LinearLayout:
        """Return the linear layout with an input for each name, also for one without bases."""
        sizes = {f"dim{dim}": extent for dim, extent in enumerate(shape)}
        return LinearLayout([(name, self.bases.get(name, [])) for name in names], sizes)

    def _unit(self, dim: int, value: int) -> tuple[int, ...]:
        return tuple(value if i == dim else 0 for i in range(len(self.reach)))


def _check_one_block(fields: Fields, rank: int) -> None:
    """Refuse a tensor that several thread blocks share; a tensor that each block has whole is accepted."""
    bases = fields.bases("CGALayout", rank)
    split = [number for number in fields.get("CTASplitNum", ()) if number != 1]
    if any(any(row) for row in bases) or split:
        field = f"CGALayout = {[list(row) for row in bases]}" if bases else "CTASplitNum"
        fields.refuse(
            f"several thread blocks share the tensor ({field}); give the extents of the part of one block, without "
            "CGALayout and CTASplitNum"
        )


def _check_rank(fields: Fields, rank: int, shape: Sequence[int]) -> None:
    if rank != len(shape):
        fields.refuse(f"the tensor is {extents_text(shape)}, and the encoding has {rank} dimensions")


# Registers ------------------------------------------------------------------------------------------------------------


def _blocked(node: Node, shape: Sequence[int]) -> Tiling:
    fields = Fields(node, f"sizePerThread threadsPerWarp warpsPerCTA order {_CGA}")
    return _in_order(fields, shape, None)


def _in_order(fields: Fields, shape: Sequence[int], whole: int | None) -> Tiling:
    """Return the tiling of a blocked encoding in which each thread has all elements along the dimension ``whole``."""
    order = fields.order()
    _check_rank(fields, len(order), shape)
    _check_one_block(fields, len(order))
    tiling = Tiling(len(order))
    for name, key in zip(_BASES, ("sizePerThread", "threadsPerWarp", "warpsPerCTA"), strict=True):
        counts = fields.powers(key, len(order))
        for dim in order:
            if dim != whole:
                tiling.along(name, dim, counts[dim])
            elif name == "register":
                tiling.along(name, dim, max(shape[dim], counts[dim]))
            else:
                tiling.still(name, counts[dim])
    tiling.fit("register", order, shape)
    return tiling


def _mma_fields(node: Node, shape: Sequence[int]) -> tuple[Fields, int, tuple[int, ...]]:
    """Return the fields of an MMA encoding, its version, and its number of warps along each dimension."""
    fields = Fields(node, f"versionMajor versionMinor warpsPerCTA instrShape {_CGA}")
    version = fields.number("versionMajor", (2, 3))
    warps = fields.powers("warpsPerCTA", len(fields.numbers("warpsPerCTA")))
    if not 2 <= len(warps) <= (3 if version == 2 else 2):
        fields.refuse(
            f"warpsPerCTA is {field_text(warps)} for version {version}; supported: 2 dimensions, "
            "and for version 2 also 3, the first of a batch"
        )
    _check_rank(fields, len(warps), shape)
    _check_one_block(fields, len(warps))
    return fields, version, warps


def _nvidia_mma(node: Node, shape: Sequence[int]) -> Tiling:
    fields, version, warps = _mma_fields(node, shape)
    rank = len(shape)
    m, n, order = rank - 2, rank - 1, tuple(reversed(range(rank)))
    instruction = fields.numbers("instrShape")
    if version == 2 and instruction != (1,) * (rank - 2) + (16, 8):
        supported = [*(1,) * (rank - 2), 16, 8]
        fields.refuse(f"instrShape is {field_text(instruction)}; supported for version 2: {supported}")
    if version == 3 and (len(instruction) != 3 or instruction[0] != 16 or not is_power(instruction[1] // 8 or 0)):
        fields.refuse(
            f"instrShape is {field_text(instruction)}; supported for version 3: [16, N, K] with N = 8, 16, 32, ..."
        )
    tiling = Tiling(rank)
    tiling.along("register", n, 2)
    tiling.along("lane", n, 4)
    tiling.along("lane", m, 8)
    tiling.along("register", m, 2)
    if version == 3:
        tiling.along("register", n, instruction[1] // 8)
    for dim in order if version == 2 else (m, n):
        tiling.along("warp", dim, warps[dim])
    tiling.fit("register", order, shape)
    return tiling


def _dot_op(node: Node, shape: Sequence[int]) -> Tiling:
    fields = Fields(node, "opIdx parent kWidth")
    operand = fields.number("opIdx", (0, 1))
    parent = fields.get("parent")
    k = len(shape) - (1 if operand == 0 else 2)
    if isinstance(parent, Node) and _short(parent) == "blocked" and k >= 0:
        inner = Fields(parent, f"sizePerThread threadsPerWarp warpsPerCTA order {_CGA}")
        return _in_order(inner, shape, k)
    if not isinstance(parent, Node) or _short(parent) != "nvidia_mma":
        fields.refuse(f"the parent is {field_text(parent)}; supported: #ttg.nvidia_mma, #ttg.blocked")
    _, version, warps = _mma_fields(parent, shape)
    if version == 3 and operand == 1:
        fields.refuse("opIdx is 1, and B of version 3 is in shared memory; supported: 0")
    rank = len(shape)
    other = rank - 2 if operand == 0 else rank - 1  # M of A, N of B
    tiling = Tiling(rank)
    tiling.along("register", k, fields.number("kWidth"))
    tiling.along("lane", k, 4)
    tiling.along("lane", other, 8)
    for dim in (other, k) if operand == 0 else (k,):
        tiling.along("register", dim, 2)
    for dim in reversed(range(rank)) if version == 2 else (rank - 2, rank - 1):
        # Warps that differ along the mode that the operand lacks hold the same elements of it.
        if dim == k:
            tiling.still("warp", warps[dim])
        else:
            tiling.along("warp", dim, warps[dim])
    tiling.fit("register", (k, other, *range(rank - 2)), shape)
    return tiling


def _slice(node: Node, shape: Sequence[int]) -> Tiling:
    fields = Fields(node, "dim parent")
    parent, dim = fields.get("parent"), fields.get("dim")
    if type(dim) is not int or not 0 <= dim <= len(shape):
        fields.refuse(f"dim is {field_text(dim)}, which is not in [0,{len(shape)}]")
    if not isinstance(parent, Node) or _short(parent) not in _REGISTERS:
        fields.refuse(f"the parent is {field_text(parent)}; supported: {', '.join(_REGISTERS)}")
    whole = _REGISTERS[_short(parent)](parent, [*shape[:dim], 1, *shape[dim:]])
    tiling = Tiling(len(shape))
    for name, rows in whole.bases.items():
        kept = [row[:dim] + row[dim + 1 :] for row in rows]
        tiling.add(name, [row for row in kept if any(row)] if name == "register" else kept)
    return tiling


def _linear(node: Node, shape: Sequence[int]) -> Tiling:
    fields = Fields(node, "register lane warp block")
    rank = len(shape)
    tiling = Tiling(rank)
    for name in _BASES:
        tiling.add(name, fields.bases(name, rank))
    _check_block_bases(fields, rank)
    rows = [row for name in _BASES for row in tiling.bases[name]]
    for dim in range(rank):
        tiling.reach[dim] = 1 << max((row[dim] for row in rows), default=0).bit_length()
        if tiling.reach[dim] > shape[dim] and not all(is_power(row[dim]) for row in rows if row[dim]):
            fields.refuse(f"dimension {dim} has {shape[dim]} elements, and the bases reach {tiling.reach[dim]}")
    firsts = [next(dim for dim in range(rank) if row[dim]) for row in tiling.bases["register"] if any(row)]
    tiling.fit("register", list(dict.fromkeys([*firsts, *reversed(range(rank))])), shape)
    return tiling


def _check_block_bases(fields: Fields, rank: int) -> None:
    if any(map(any, fields.bases("block", rank))):
        fields.refuse(
            f"several thread blocks share the tensor, block = {field_text(fields.get('block'))}; supported: "
            "block bases of zeros"
        )


_REGISTERS: dict[str, Callable[[Node, Sequence[int]], Tiling]] = {
    "blocked": _blocked,
    "nvidia_mma": _nvidia_mma,
    "dot_op": _dot_op,
    "slice": _slice,
    "linear": _linear,
}


# Shared memory --------------------------------------------------------------------------------------------------------


def _nvmma_shared(node: Node, shape: Sequence[int]) -> Tiling:
    fields = Fields(node, f"swizzlingByteWidth transposed elementBitWidth fp4Padded rank {_CGA}")
    rank, width = len(shape), fields.number("swizzlingByteWidth", (0, 32, 64, 128))
    bits, padded = fields.number("elementBitWidth", (8, 16, 32, 64)), fields.flag("fp4Padded")
    _check_one_block(fields, rank)
    if padded and (bits, width) != (8, 128):
        fields.refuse(
            f"fp4Padded is set for {bits}-bit elements and a swizzle of {width} bytes; supported: 8 bits, 128 bytes"
        )
    minor = tuple(range(rank)) if fields.flag("transposed") else tuple(reversed(range(rank)))
    if rank > 2 and fields.flag("transposed"):
        fields.refuse(f"transposed is true for {rank} dimensions; supported: at most 2 dimensions")
    columns, tiling = minor[0], Tiling(rank)
    if not width:
        for dim in minor:
            tiling.along("offset", dim, min(shape[dim], _BOX))
        tiling.fit("offset", tuple(reversed(range(rank))), shape)
        return tiling
    tile = width * 8 // bits // (2 if padded else 1)
    if rank < 2 or shape[columns] < tile or product_of(shape) // shape[columns] < 8:
        fields.refuse(
            f"the tensor is {extents_text(shape)}, and the smallest tile with a swizzle of {width} bytes has 8 rows of "
            f"{tile} elements along dimension {columns}"
        )
    _swizzled_rows(tiling, minor, tile, (128 // bits, 128 // width, width // 16), padded)
    for dim in minor[1:]:
        if tiling.reach[dim] < min(shape[dim], _BOX):
            tiling.along("offset", dim, min(shape[dim], _BOX) // tiling.reach[dim])
    if tiling.reach[minor[1]] > shape[minor[1]] or (rank > 2 and max(shape[:-1]) > _BOX):
        fields.refuse(
            f"the tensor is {extents_text(shape)}; supported: 8 rows or more along dimension {minor[1]}, and with "
            f"three dimensions at most {_BOX} along each dimension but the last"
        )
    tiling.fit("offset", range(rank), shape)
    return tiling


def _swizzled_rows(
    tiling: Tiling, minor: Sequence[int], columns: int, swizzle: tuple[int, int, int], padded: bool
) -> None:
    """Add the eight rows of a swizzle pattern, whose columns move by 16 bytes every ``per_phase`` rows."""
    vector, per_phase, phases = swizzle
    vector = vector // 2 if padded else vector
    if padded:  # 8 bytes with two elements each are followed by 8 bytes of padding
        tiling.along("offset", minor[0], 8)
        tiling.still("offset", 2)
    tiling.along("offset", minor[0], columns // tiling.reach[minor[0]])
    rows = [[0] * len(minor) for _ in range(3)]
    for bit, row in enumerate(rows):
        row[minor[1]], row[minor[0]] = 1 << bit, vector * ((1 << bit) // per_phase % phases)
    tiling.add("offset", map(tuple, rows))
    tiling.reach[minor[1]] = 8


def product_of(shape: Sequence[int]) -> int:
    """Return the product of extents."""
    total = 1
    for extent in shape:
        total *= extent
    return total


def _swizzled_shared(node: Node, shape: Sequence[int]) -> Tiling:
    fields = Fields(node, f"vec perPhase maxPhase order {_CGA}")
    order = fields.order()
    vector, per_phase, phases = (fields.number(name) for name in ("vec", "perPhase", "maxPhase"))
    _check_rank(fields, len(order), shape)
    _check_one_block(fields, len(order))
    tiling = Tiling(len(order))
    tiling.along("offset", order[0], shape[order[0]])
    if len(order) > 1:
        for bit in range(shape[order[1]].bit_length() - 1):
            row = [0] * len(order)
            row[order[1]] = 1 << bit
            row[order[0]] = vector * ((1 << bit) // per_phase % phases) % shape[order[0]]
            tiling.add("offset", [tuple(row)])
        tiling.reach[order[1]] = shape[order[1]]
    tiling.fit("offset", order, shape)
    return tiling


def _shared_linear(node: Node, shape: Sequence[int]) -> Tiling:
    fields = Fields(node, "offset block alignment")
    tiling = Tiling(len(shape))
    tiling.add("offset", fields.bases("offset", len(shape)))
    _check_block_bases(fields, len(shape))
    reach = [1 << max(row[dim] for row in tiling.bases["offset"]).bit_length() for dim in range(len(shape))]
    if reach != list(shape):
        fields.refuse(f"the tensor is {extents_text(shape)}, and the bases cover {extents_text(reach)}")
    return tiling


_SHARED: dict[str, Callable[[Node, Sequence[int]], Tiling]] = {
    "nvmma_shared": _nvmma_shared,
    "swizzled_shared": _swizzled_shared,
    "shared_linear": _shared_linear,
}


# Tensor memory --------------------------------------------------------------------------------------------------------


def _tensor_memory(node: Node, shape: Sequence[int], bits: int) -> Tiling:
    fields = Fields(
        node, f"blockM blockN colStride unpacked twoCTAs fp4Padded CTASplitM CTASplitN cgaLayout CTAMode {_CGA}"
    )
    if fields.flag("twoCTAs") or fields.flag("fp4Padded") or fields.get("CTAMode", "") not in ("", "DEFAULT"):
        fields.refuse("twoCTAs, CTAMode or fp4Padded is set; supported: the layout of one thread block without padding")
    if any(fields.get(name, 1) != 1 for name in ("CTASplitM", "CTASplitN")) or fields.get("cgaLayout", ()):
        fields.refuse(
            "several thread blocks share the tensor (CTASplitM, CTASplitN or cgaLayout); supported: the layout of one "
            "thread block"
        )
    _check_rank(fields, 2, shape)
    _check_one_block(fields, 2)
    rows, columns = fields.number("blockM", (64, 128)), fields.number("blockN")
    if shape[0] < rows or shape[1] < columns:
        fields.refuse(f"the tensor is {extents_text(shape)}, which is smaller than the block of {rows}x{columns}")
    tiling = Tiling(2)
    tiling.along("row", 0, min(rows, 16 if rows == 64 else 128))
    tiling.still("col", _column_stride(fields, bits))
    tiling.along("col", 1, columns)
    if rows == 64:  # a block uses half of the lanes; a second block, if there is one, uses the other half
        tiling.along("row", 0, 4)
        upper, tiling.bases["row"] = tiling.bases["row"][4:], tiling.bases["row"][:4]
        uncovered = next((dim for dim in (0, 1) if tiling.reach[dim] < shape[dim]), None)
        tiling.still("row", 2) if uncovered is None else tiling.along("row", uncovered, 2)
        tiling.add("row", upper)
    tiling.fit("col", (0, 1), shape)
    return tiling


def _column_stride(fields: Fields, bits: int) -> int:
    """Return the number of columns, each as wide as an element, that one element takes."""
    if "colStride" in fields.node.fields:
        return fields.number("colStride")
    return max(1, 32 // bits) if fields.flag("unpacked") else 1


def _scales(node: Node, shape: Sequence[int], bits: int) -> Tiling:
    fields = Fields(node, f"CTASplitM CTASplitN {_CGA}")
    _check_rank(fields, 2, shape)
    _check_one_block(fields, 2)
    if bits != 8 or any(fields.get(name, 1) != 1 for name in ("CTASplitM", "CTASplitN")):
        problem = "have CTASplitM or CTASplitN" if bits == 8 else f"have {bits} bits"
        fields.refuse(f"the scale factors {problem}; supported: 8 bits in one thread block")
    tiling = Tiling(2)
    tiling.along("row", 0, 32)
    tiling.still("row", 4)  # the four warps of a warpgroup hold the same scale factors
    tiling.along("col", 1, 4)
    tiling.along("col", 0, max(2, shape[0] // 32))
    tiling.fit("col", (0, 1), shape)
    return tiling


_TENSOR_MEMORY: dict[str, Callable[[Node, Sequence[int], int], Tiling]] = {
    "tensor_memory_encoding": _tensor_memory,
    "tensor_memory_scales_encoding": _scales,
}


def _short(node: Node) -> str:
    """Return the name of an attribute without its dialect; "" for an undefined alias."""
    return node.name.rpartition(".")[2] if "." in node.name else ""


def space_of(node: Node) -> str:
    """Return the memory of an encoding: ``rmem``, ``smem`` or ``tmem``; ``""`` if the encoding is not supported."""
    for table, space in ((_REGISTERS, "rmem"), (_SHARED, "smem"), (_TENSOR_MEMORY, "tmem")):
        if _short(node) in table:
            return space
    return "smem" if _short(node) == "padded_shared" else ""


def rank_of(node: Node, shape: Sequence[int]) -> int:
    """Return the number of dimensions of an encoding of shared or tensor memory; earlier dimensions are stages."""
    order = node.fields.get("order", ())
    if _short(node) == "nvmma_shared":
        rank = node.fields.get("rank", len(node.fields.get("CTAsPerCGA", (1, 1))))
        return rank if type(rank) is int and 0 < rank <= len(shape) else len(shape)
    if _short(node) == "swizzled_shared" and type(order) is tuple:
        return len(order)
    return 2 if _short(node) in _TENSOR_MEMORY else len(shape)


def linear_layout(node: Node, shape: Sequence[int], bits: int | None = None) -> LinearLayout:
    """Return the linear layout of an encoding for a tensor, in one thread block.

    Args:
        node: the encoding.
        shape: extents of the tensor, powers of two.
        bits: width of an element; used for tensor memory.

    Returns:
        a map from ``register``, ``lane`` and ``warp``, from ``offset`` in elements, or from ``col`` in elements and
        ``row``, to ``dim0``, ``dim1``, ...

    Raises:
        NotationError: if a field is missing, unknown or not supported; the message contains its name.
    """
    name = _short(node)
    if not all(map(is_power, shape)):
        Fields(Node(node.name, {}, (), node.position), "").refuse(
            f"the extents {extents_text(shape)} are not all powers of two"
        )
    if name in _REGISTERS:
        return _REGISTERS[name](node, shape).linear(_BASES, shape)
    if name in _SHARED:
        return _SHARED[name](node, shape).linear(("offset",), shape)
    return _TENSOR_MEMORY[name](node, shape, bits or 32).linear(("col", "row"), shape)


#: Gluon's classes: the attribute of each, and its arguments in order with the fields of the attribute.
GLUON: dict[str, tuple[str, str]] = {
    "BlockedLayout": (
        "blocked",
        "size_per_thread=sizePerThread threads_per_warp=threadsPerWarp warps_per_cta=warpsPerCTA order=order "
        "cga_layout=CGALayout",
    ),
    "SliceLayout": ("slice", "dim=dim parent=parent"),
    "DistributedLinearLayout": (
        "linear",
        "reg_bases=register lane_bases=lane warp_bases=warp block_bases=block shape=shape",
    ),
    "DotOperandLayout": ("dot_op", "operand_index=opIdx parent=parent k_width=kWidth"),
    "NVMMADistributedLayout": (
        "nvidia_mma",
        "version=version warps_per_cta=warpsPerCTA instr_shape=instrShape cga_layout=CGALayout",
    ),
    "NVMMASharedLayout": (
        "nvmma_shared",
        "swizzle_byte_width=swizzlingByteWidth element_bitwidth=elementBitWidth rank=rank transposed=transposed "
        "fp4_padded=fp4Padded cga_layout=CGALayout",
    ),
    "SwizzledSharedLayout": (
        "swizzled_shared",
        "vec=vec per_phase=perPhase max_phase=maxPhase order=order cga_layout=CGALayout",
    ),
    "SharedLinearLayout": ("shared_linear", "offset_bases=offset block_bases=block alignment=alignment"),
    "PaddedSharedLayout": (
        "padded_shared",
        "interval_padding_pairs=intervals offset_bases=offset cga_layout=block shape=shape",
    ),
    "TensorMemoryLayout": (
        "tensor_memory_encoding",
        "block=block col_stride=colStride cga_layout=CGALayout two_ctas=twoCTAs fp4_padded=fp4Padded",
    ),
    "TensorMemoryScalesLayout": ("tensor_memory_scales_encoding", "cga_layout=CGALayout"),
}


def from_gluon(node: Node) -> tuple[Node, Tensor | None]:
    """Convert a Gluon class to an attribute, and return the tensor's shape if the class contains it.

    Raises:
        NotationError: if an argument is unknown, or there are too many.
    """
    name, arguments = GLUON[node.name]
    pairs = [pair.partition("=")[::2] for pair in arguments.split()]
    fields = Fields(node, " ".join(python for python, _ in pairs))
    if len(node.items) > len(pairs):
        fields.refuse(f"there are {len(node.items)} arguments, more than the {len(pairs)} of the class")
    values = dict(zip((python for python, _ in pairs), node.items, strict=False))
    if repeated := set(values) & set(node.fields):
        fields.refuse(f"the argument {min(repeated)} is present twice")
    values |= node.fields
    renamed = {mlir: values[python] for python, mlir in pairs if python in values and values[python] is not None}
    for inner in [value for value in renamed.values() if isinstance(value, Node) and value.name in GLUON]:
        renamed["parent"] = from_gluon(inner)[0]
    for pair, (first, second) in (("version", ("versionMajor", "versionMinor")), ("block", ("blockM", "blockN"))):
        if pair in renamed and name in ("nvidia_mma", "tensor_memory_encoding"):
            if type(renamed[pair]) is not tuple or len(renamed[pair]) != 2:
                fields.refuse(f"{pair} is {field_text(renamed[pair])}, which is not a pair of numbers")
            renamed[first], renamed[second] = renamed.pop(pair)
    shape = renamed.pop("shape", None) if name == "linear" else renamed.get("shape")
    whole = type(shape) is tuple and all(type(extent) is int for extent in shape)
    return Node(f"ttg.{name}", renamed, (), node.position), Tensor(shape, "") if whole and shape else None
