"""The cells of tensor memory that ``tcgen05`` instructions read and write, as far as the text has them.

An address is the result of an allocation plus columns and lanes. Sums are followed through the registers that compute
them. A value that is shifted left by at least 16 bits changes only the lane; by at least 21 bits, only the quarter of
lanes, which the warp determines. The instruction descriptor gives the extent of an accumulator, and the shape that of
a load, store or copy.
Source: PTX ISA 9.1, Tensor Memory Addressing; Data path layout organization; ``descriptors.tmem``, proved there.

Invariant: cells of one allocation meet only if they share a column and a lane.

>>> from layoutalg.frozen import replace
>>> low, high = Cells("t", 0, 64, lanes_of(0, 16)), Cells("t", 0, 64, lanes_of(16, 16))
>>> low.meets(high), low.meets(replace(low, column=63)), low.meets(replace(low, column=64)), low.meets(Cells("u", 0, 9))
(False, True, False, None)
"""

from __future__ import annotations

from collections.abc import Mapping

from descriptors.check.events import ALL_LANES, Cells
from descriptors.check.execution.footprints import move_of
from descriptors.check.ptx.conditions import Conditions
from descriptors.check.ptx.constant_folding import Values, fold
from descriptors.check.ptx.control_flow import Block
from descriptors.check.ptx.known_bits import Known
from descriptors.check.ptx.multiplications import Multiplication, TensorMma, multiplications
from descriptors.check.ptx.ptx_module import Function
from descriptors.check.ptx.ptx_operands import Address, Operand
from descriptors.errors import DescriptorError
from descriptors.tmem.accumulator import datapath_of
from descriptors.tmem.copies import tmem_copy
from layoutalg import size
from layoutalg.frozen import frozen

#: Largest number of definitions that are followed one after the other.
DEPTH = 16
_COLUMN_BITS, _QUARTER_BIT = 16, 21


def lanes_of(first: int, count: int) -> int:
    """Return a number of lanes from a first one on, in every quarter, one bit each.

    >>> hex(lanes_of(0, 16))
    '0xffff0000ffff0000ffff0000ffff'
    """
    low = ((1 << count) - 1) << first % 32
    return sum((low & 0xFFFFFFFF) << 32 * quarter for quarter in range(4)) if count < 32 else ALL_LANES


@frozen
class _Sum:
    """An address as a base and an offset.

    Args:
        root: the base: a register that the function does not define, an allocation, or "" for the number 0.
        column: columns from the base; None if not known.
        lane: lanes from the base, modulo a quarter; None if not known.
    """

    root: str
    column: int | None = 0
    lane: int | None = 0


class TensorCells:
    """The cells of tensor memory that the instructions of a function access.

    Args:
        function: the function.
        values: the known operands of its tensor-core instructions.
        variables: variables of the module.
        conditions: the conditions of the function, with the definitions of its registers.
        graph: its basic blocks.
    """

    def __init__(
        self, function: Function, values: Values, variables: Mapping[str, int], conditions: Conditions,
        graph: list[Block],
    ) -> None:  # fmt: skip
        self.code, self.values, self.conditions = function.code, values, conditions
        tensor_indices = function.having("tcgen05.")
        computing = self._behind(
            [
                name
                for i in tensor_indices
                for instruction in self.code[i].operands
                for name in _base_registers(instruction)
            ]
        )
        self.known = fold(function, variables, computing, graph) if computing else {}
        allocations = [i for i in tensor_indices if "alloc" in self.code[i].opcode]
        self.slots = {place for i in allocations for place in self.slot(i)}
        allocation_slots = [
            (i, place) for i in allocations if ".dealloc" not in self.code[i].opcode for place in self.slot(i)
        ]
        #: Slots that only one allocation writes, and only once.
        self.single = {
            f"{place[0]}+{place[1]}" for i, place in allocation_slots
            if [row[1] for row in allocation_slots].count(place) == 1 and not conditions.passes(i, i)
        }  # fmt: skip
        self.products = {product.index: product for product in multiplications(function, values)}
        self.round = {i for i in computing if conditions.passes(i, i)}

    def _behind(self, start: list[str]) -> list[int]:
        """Return the instructions that compute some registers, directly or through other registers."""
        computing: set[int] = set()
        waiting, visited = list(start), set(start)
        while waiting:
            for index in self.conditions.where.get(waiting.pop(), ()):
                instruction = self.code[index]
                computing.add(index)
                if instruction.opcode.startswith(("mov.", "add.", "or.", "sub.", "shl.", "and.", "selp.", "ld.shared")):
                    new_names = [
                        name
                        for operand in instruction.operands[1:]
                        for name in _base_registers(operand)
                        if name not in visited
                    ]
                    visited.update(new_names)
                    waiting.extend(new_names)
        return sorted(computing)

    def slot(self, index: int) -> list[tuple[str, int]]:
        """Return the place in shared memory to which an allocation writes its address."""
        return self._slot(index, self.values)

    def _slot(self, index: int, values: Values) -> list[tuple[str, int]]:
        """Return the place in shared memory that an instruction reads or writes: its base and offset."""
        instruction = self.code[index]
        place = next((operand for operand in instruction.operands if isinstance(operand, Address)), None)
        if place is None:
            return []
        value = values.get(index, {}).get(place.base)
        if value is not None and value.base:
            return [(value.base, value.offset + place.offset)]
        return [(f"&{place.base}", place.offset)] if place.base and value is None else []

    def at(self, operand: Operand | None, index: int) -> _Sum | None:
        """Return the address that an operand has; None if it is not known."""
        if isinstance(operand, int):
            return _constant(operand)
        if isinstance(operand, str):
            return self._register(operand, index, DEPTH)
        if not isinstance(operand, Address):
            return None
        return _add(self._register(operand.base, index, DEPTH), _constant(operand.offset))

    def _register(self, name: str, index: int, depth: int) -> _Sum | None:
        if not name:
            return _Sum("")
        value_bits = self.values.get(index, {}).get(name) or self.known.get(index, {}).get(name)
        if value_bits is not None and (value := value_bits.constant(32)) is not None:
            return _constant(value)
        places = self.conditions.where.get(name, ())
        if not places:
            return _Sum(name)
        if not depth or len(places) > 4:
            return None
        sums = [self._made(place, name, depth - 1) for place in places]
        first = sums[0]
        for other in sums[1:]:
            if first is None or other is None or first.root != other.root:
                return None
            column = first.column if first.column == other.column else None
            first = _Sum(first.root, column, first.lane if first.lane == other.lane else None)
        return first

    def _made(self, index: int, name: str, depth: int) -> _Sum | None:
        instruction = self.code[index]
        kind, operands = instruction.opcode.partition(".")[0], instruction.operands
        if instruction.opcode.startswith("ld.shared") and self.slots.intersection(self._slot(index, self.known)):
            return _Sum(min(f"{base}+{offset}" for base, offset in self._slot(index, self.known)))
        if kind == "mov" and len(operands) == 2 and isinstance(operands[1], str | int):
            return self._value(operands[1], index, depth)
        if kind in ("add", "or", "sub") and len(operands) == 3:
            a, b = (self._value(operand, index, depth) for operand in operands[1:])
            if kind == "sub":
                return _Sum(a.root, None, None) if a is not None else None
            if kind == "or" and not self._apart(operands[1], operands[2], index):
                return _Sum(a.root, None, None) if a is not None and b is not None and not b.root else None
            return _add(a, b)
        if kind == "selp" and len(operands) == 4:
            a, b = (self._value(operand, index, depth) for operand in operands[1:3])
            if a is None or b is None or a.root != b.root:
                return None
            return _Sum(a.root, a.column if a.column == b.column else None, a.lane if a.lane == b.lane else None)
        return None if index in self.round else _Sum(f"{name}@{index}")

    def _apart(self, a: Operand, b: Operand, index: int) -> bool:
        """Return whether an ``or`` is an addition, because one of its operands only has lanes."""
        bits = self.known.get(index, {})
        return any(
            isinstance(operand, str) and operand in bits and _low_zeros(bits[operand]) >= _COLUMN_BITS
            for operand in (a, b)
        )

    def _value(self, operand: Operand, index: int, depth: int) -> _Sum | None:
        if isinstance(operand, int):
            return _constant(operand)
        if not isinstance(operand, str):
            return None
        bits = self.known.get(index, {}).get(operand)
        if bits is not None and bits.constant(32) is None:
            if (zero_bits := _low_zeros(bits)) >= _QUARTER_BIT:
                return _Sum("")
            if zero_bits >= _COLUMN_BITS:
                return _Sum("", 0, None)
        return self._register(operand, index, depth)

    def cells(self, operand: Operand | None, index: int, columns: int | None, lanes: int | None) -> Cells | None:
        """Return the cells from an address on.

        Args:
            operand: the address.
            index: index of the instruction.
            columns: number of columns; None if not known.
            lanes: the lanes for an address with lane 0, one bit each; None if not known.
        """
        place = self.at(operand, index)
        if place is None:
            return None
        if lanes is None or place.lane is None:
            return Cells(place.root, place.column, columns, ALL_LANES)
        lanes_at_place = lanes << place.lane % 32 & ALL_LANES
        return Cells(place.root, place.column, columns, lanes_at_place)

    def result(self, index: int) -> Cells | None:
        """Return the cells of the accumulator of a multiplication."""
        product = self.products.get(index)
        if product is None or not isinstance(product.view, TensorMma):
            return self.cells(self.code[index].operands[0] if self.code[index].operands else None, index, None, None)
        columns, lanes = _accumulator_extent(product, product.view)
        return self.cells(product.view.d, index, columns, lanes)

    def factor(self, index: int) -> Cells | None:
        """Return the cells of A of a multiplication; None if A is in shared memory."""
        product = self.products.get(index)
        if product is None or not isinstance(product.view, TensorMma) or not product.view.in_tensor_memory:
            return None
        return self.cells(product.view.a, index, None if product.view.sparse else _PER_STEP, None)

    def scales(self, index: int) -> list[Cells | None]:
        """Return the cells of the scale factors of A and B of a multiplication."""
        product = self.products.get(index)
        if product is None or not isinstance(product.view, TensorMma) or not product.view.block_scaled:
            return []
        rows = (product.described.m, product.described.n) if product.described is not None else (None, None)
        pair = product.view.cta_group or 1
        sides = ((rows[0] or 0) // pair, rows[1] or 0)
        sides_of_factors = zip(product.view.scales, sides, strict=True)
        return [self.cells(place, index, -(-extent // 32) or None, None) for place, extent in sides_of_factors]

    def table(self, index: int) -> Cells | None:
        """Return the cells of the lookup table of a multiplication: two columns, one lane per 8 columns of N."""
        product = self.products.get(index)
        if product is None or not isinstance(product.view, TensorMma) or product.view.table is None:
            return None
        n = product.described.n if product.described is not None else 0
        return self.cells(product.view.table, index, 2, (1 << -(-n // 8)) - 1 or None)

    def moved(self, index: int) -> Cells | None:
        """Return the cells of a load or store, in every quarter."""
        instruction = self.code[index]
        place = next((o for o in instruction.operands if isinstance(o, Address)), None)
        move = move_of(instruction)
        if move is None:
            return self.cells(place, index, None, None)
        return self.cells(place, index, move.columns, lanes_of(0, move.lanes))

    def copied(self, index: int) -> Cells | None:
        """Return the cells that a copy writes."""
        instruction = self.code[index]
        words = [w for w in instruction.qualifiers[2:] if not w.startswith("cta_group") and w not in ("b8x16",)]
        try:
            copy = tmem_copy(".".join(w for w in words if not w.startswith(("b4x16", "b6x16"))))
        except DescriptorError:
            return self.cells(instruction.operands[0] if instruction.operands else None, index, None, None)
        return self.cells(instruction.operands[0], index, copy.columns, None)

    def allocation(self, index: int) -> str:
        """Return the slot of the allocation that an instruction makes or frees; "" if it is not unique."""
        instruction = self.code[index]
        if instruction.qualifiers[1] == "alloc":
            roots = [f"{base}+{offset}" for base, offset in self.slot(index)]
        else:
            place = self.at(instruction.operands[0], index) if instruction.operands else None
            roots = [place.root] if place is not None and place.column == 0 else []
        return roots[0] if len(roots) == 1 and roots[0] in self.single else ""


#: Columns of A that one instruction reads: 256 bits of each row.
_PER_STEP = 8


def _base_registers(operand: Operand) -> tuple[str, ...]:
    if isinstance(operand, Address):
        return (operand.base,) if operand.base else ()
    return (operand,) if isinstance(operand, str) else ()


def _constant(value: int) -> _Sum:
    return _Sum("", value & 0xFFFF, value >> _COLUMN_BITS & 0x7F)


def _add(a: _Sum | None, b: _Sum | None) -> _Sum | None:
    if a is None or b is None:
        return None
    if a.root and b.root:
        variables = [term for term in (a, b) if term.root.startswith("&")]
        return _Sum(variables[0].root, None, None) if len(variables) == 1 else None
    column = None if a.column is None or b.column is None else (a.column + b.column) & 0xFFFF
    return _Sum(a.root or b.root, column, None if a.lane is None or b.lane is None else a.lane + b.lane)


def _low_zeros(bits: Known) -> int:
    """Return the number of low bits that are known to be zero."""
    zeros = bits.mask & ~bits.value
    return (~zeros & zeros + 1).bit_length() - 1 if zeros + 1 < 1 << 64 else 64


def _accumulator_extent(product: Multiplication, view: TensorMma) -> tuple[int | None, int | None]:
    """Return the number of columns and the lanes of D for an address with lane 0; None for each if not known."""
    if product.described is None or not product.described.m or not product.described.n:
        return None, None
    try:
        path, _ = datapath_of(product.described.m, view.cta_group or 1, view.ws, view.sparse)
    except DescriptorError:
        return None, None
    rows = [path.rows(i) for i in range(size(path.rows))]
    lanes = sum(1 << row + part * path.part_lanes for part in range(path.parts) for row in rows)
    return product.described.n // path.parts, lanes
