r"""The shift of a shared-memory address in the computation of the start field of a descriptor.

The field is in units of 16 bytes, so an address must be shifted right by 4 bits. Starting with the register of a
descriptor, the definitions are followed back over moves, sums, masks and shifts. Each path that ends at the name of a
variable gives the shift of that address. If there is no such path, the result is empty.
Source: PTX ISA 9.1, matrix descriptors (matrix-start-address); data movement, logic and shift instructions.

Invariant: the result is the sum of the right shifts minus the left shifts on a path.

>>> from descriptors.check.ptx.ptx_module import parse
>>> def of(body): return Shifts(parse(f".version 8.8\n.entry k() {{ mov.b32 %a, smem; {body} }}").functions[0])("%w")
>>> of("shr.u32 %b, %a, 4; and.b32 %c, %b, 16383; cvt.u64.u32 %w, %c;")
(4,)
>>> of("bfe.u32 %b, %a, 3, 15; mov.b64 %w, {%b, 7};")
(3,)
>>> of("shl.b32 %b, %a, 14; shr.u32 %w, %b, 18;"), of("ld.shared.b32 %w, [%a];")
((4,), ())
"""

from __future__ import annotations

from descriptors.check.ptx.ptx_module import Function, Instruction
from descriptors.check.ptx.ptx_operands import Operand, Vector, names

#: Instructions that keep the bit positions of some operands, with the indices of these operands.
_SAME = {
    "mov": (1,), "cvt": (1,), "cvta": (1,), "shfl": (1,), "and": (1, 2), "or": (1, 2), "add": (1, 2), "sub": (1,),
    "selp": (1, 2), "mad": (3,),
}  # fmt: skip
#: Largest number of steps back.
MOST = 400


class Shifts:
    """The shifts of addresses of variables in the computation of registers of a function.

    Args:
        function: the function.
    """

    def __init__(self, function: Function) -> None:
        self.code = function.code
        self.where = function.writes
        self.addresses_by_register: dict[str, frozenset[tuple[str, int]]] = {}

    def __call__(self, register: str) -> tuple[int, ...]:
        """Return the different shifts for a register in ascending order."""
        return tuple(sorted({shift for _, shift in self._reached(register)}))

    def variables(self, register: str) -> tuple[str, ...]:
        """Return the names of the variables whose addresses a register is computed from, in alphabetical order."""
        return tuple(sorted({name for name, _ in self._reached(register)}))

    def _reached(self, register: str) -> frozenset[tuple[str, int]]:
        if register not in self.addresses_by_register:
            self.addresses_by_register[register] = self._trace_back(register)
        return self.addresses_by_register[register]

    def _trace_back(self, register: str) -> frozenset[tuple[str, int]]:
        waiting, visited, reached = [(register, 0)], {(register, 0)}, set[tuple[str, int]]()
        while waiting and len(visited) < MOST:
            name, shift = waiting.pop()
            for index in self.where.get(name, ()):
                for step in _sources(self.code[index], name):
                    after = (step[0], shift + step[1])
                    if self._is_variable(self.code[index], step[0]):
                        reached.add(after)
                    elif after not in visited:
                        visited.add(after)
                        waiting.append(after)
        return frozenset(reached) if len(visited) < MOST else frozenset()

    def _is_variable(self, instruction: Instruction, name: str) -> bool:
        """Return whether an instruction takes the address of a variable."""
        return instruction.opcode.startswith(("mov.", "cvta.")) and name not in self.where and not name.startswith("%")


def _sources(instruction: Instruction, target: str) -> list[tuple[str, int]]:
    """Return the registers and variables from which a result is computed, each with its right shift."""
    name, operands = instruction.opcode.partition(".")[0], instruction.operands
    if (
        name in ("shr", "bfe", "shl")
        and len(operands) > 2
        and isinstance(operands[1], str)
        and isinstance(operands[2], int)
    ):
        return [(operands[1], -operands[2] if name == "shl" else operands[2])]
    if isinstance(operands[0], Vector) and target not in names(operands[0])[:1]:
        return []
    registers = [_lowest_register(operands[place]) for place in _SAME.get(name, ()) if place < len(operands)]
    return [(register, 0) for register in registers if register]


def _lowest_register(operand: Operand) -> str:
    """Return the register with the lowest bits of an operand; "" for a number."""
    if isinstance(operand, Vector):
        return _lowest_register(operand.items[0]) if operand.items else ""
    return operand if isinstance(operand, str) else ""
