r"""Execute integer instructions: arithmetic, comparisons and packing, lane by lane.

The result of an unknown value is unknown, unless another operand decides alone: a product with 0, an ``and`` with 0, a
selection. A value computed only from floating-point parameters and constants is as constant as they are.

Source: PTX ISA 9.1, setp; mov (packing); ``ptx.integer_instructions`` defines the operations.

Invariant: an operand that decides alone decides, whatever the other operand is.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "ld.global.u32 a, [g]; and.b32 b, a, 0; add.u32 c, a, 1; st.shared.b32 [s], b; st.shared.b32 [s+4], c;"
>>> launch = Launch((4, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
>>> machine = Machine(program(parse(f".version 8.8\n.entry k() {{ {body} ret; }}").functions[0]), launch, execution)
>>> machine.run()
>>> [machine.fragments[0].registers[name] for name in "bc"]
[0, Unknown(why=<Cause.GLOBAL: 'a value loaded from global memory'>, line=2)]
"""

from __future__ import annotations

from functools import lru_cache

from descriptors.check.execution.fragment import Fragment
from descriptors.check.execution.lanes import Cause, Unknown, Value, map_lanes
from descriptors.check.execution.machine import Handler, Machine, short_opcode
from descriptors.check.execution.origins import carry_moved
from descriptors.check.execution.program import Step
from descriptors.check.ptx.integer_instructions import DECIDES, LOGIC, IntegerOperation, decode, exact
from descriptors.check.ptx.ptx_module import Instruction, targets
from descriptors.check.ptx.ptx_operands import Operand, Pair, Vector

#: Instructions whose result is not a function of their operands.
_IMPURE = ("ld", "atom", "red", "tcgen05", "wgmma", "mma")
#: Instructions that scale a result by a factor, or check whether the factor is 0.
_SCALES = ("mul.f", "mul.rn.f", "setp.eq.f", "setp.equ.f", "setp.ne", "setp.neu")


@lru_cache(maxsize=4096)
def integer_handler(opcode: str) -> Handler:
    """Return the handler of an instruction that is no event: an integer instruction, or one whose result is data."""
    operation = decode(opcode)
    if opcode.startswith("setp."):
        return _compare_data if operation is None else _comparing(operation)
    compute = unknown_result if operation is None else _computing(operation)
    return _moving(operation, compute) if opcode.startswith("mov.") else compute


def unknown_result(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute an instruction whose result is data."""
    unknown = _unknown_result(machine, fragment, step.instruction)
    for name in targets(step.instruction):
        machine.set(fragment, name, unknown)


def _unknown_result(machine: Machine, fragment: Fragment, instruction: Instruction) -> Unknown:
    if instruction.opcode.startswith(("ld", "atom")):
        return Unknown(Cause.GLOBAL, instruction.line)
    constant = _constant_result(machine, fragment, instruction)
    return constant or Unknown(f"the result of {short_opcode(instruction)}", instruction.line)


def _constant_result(machine: Machine, fragment: Fragment, instruction: Instruction) -> Unknown | None:
    """Return the unknown constant that is computed only from floating-point parameters and constants; None otherwise.

    A factor of a product, or the other operand of a comparison, may be from global memory; then so is the result.
    """
    if instruction.opcode.startswith(_IMPURE) or len(instruction.operands) < 2:
        return None
    causes = {Cause.PARAMETER, Cause.GLOBAL} if instruction.opcode.startswith(_SCALES) else {Cause.PARAMETER}
    values = [machine.value(fragment, operand) for operand in instruction.operands[1:]]
    if not all(type(v) is int or (isinstance(v, Unknown) and v.why in causes) for v in values):
        return None
    unknown = [v for v in values if isinstance(v, Unknown)]
    return next((v for v in unknown if v.why is Cause.GLOBAL), unknown[0] if unknown else None)


def _assume_nonzero(machine: Machine, fragment: Fragment, instruction: Instruction) -> int | None:
    """Evaluate a comparison of a global-memory value with 0, assuming that no such value is 0."""
    if not machine.launch.content or not instruction.opcode.startswith("setp") or len(instruction.operands) != 3:
        return None
    values, test = [machine.value(fragment, operand) for operand in instruction.operands[1:]], instruction.qualifiers[1]
    unknown = [v for v in values if isinstance(v, Unknown) and v.why is Cause.GLOBAL]
    if len(unknown) != 1 or 0 not in values or test not in ("eq", "equ", "ne", "neu"):
        return None
    return int(test.startswith("ne"))


def _computing(operation: IntegerOperation) -> Handler:
    """Return the handler of an instruction with one result."""
    compute, operands, absorbing = exact(operation), operation.operands, operation.row.absorbing
    selects = operation.name == "selp"

    def execute(machine: Machine, fragment: Fragment, step: Step) -> None:
        instruction = step.instruction
        if len(instruction.operands) != operands + 1 or not isinstance(instruction.operands[0], str):
            unknown_result(machine, fragment, step)
            return
        target, *read = instruction.operands
        values = [machine.value(fragment, operand) for operand in read]
        if absorbing and 0 in values[:absorbing] and any(type(v) is Unknown for v in values):
            machine.set(fragment, target, 0)
            return
        if selects and type(values[2]) is int:
            values[:2] = [values[0 if values[2] else 1]] * 2
        machine.set(fragment, target, map_lanes(compute, values, fragment.lane_count, instruction.line))

    return execute


def _comparing(operation: IntegerOperation) -> Handler:
    """Return the handler of ``setp``: a predicate, optionally combined with another, and optionally its opposite."""
    plain = operation._replace(logic="")
    compare, opposite, operands = exact(plain), exact(plain.opposite()), operation.operands

    def execute(machine: Machine, fragment: Fragment, step: Step) -> None:
        if len(step.instruction.operands) != operands + 1:
            _compare_data(machine, fragment, step)
            return
        target, *read = step.instruction.operands
        values = [machine.value(fragment, operand) for operand in read]
        for name, compute in zip(_predicates(target), (compare, opposite), strict=False):
            result = map_lanes(compute, values[:2], fragment.lane_count)
            if operation.logic:
                result = _joined(operation.logic, result, values[2], fragment.lane_count)
            machine.set(fragment, name, result)

    return execute


def _compare_data(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute a ``setp`` of values that are data."""
    zero, unknown = (
        _assume_nonzero(machine, fragment, step.instruction),
        _unknown_result(machine, fragment, step.instruction),
    )
    results: tuple[Value, Value] = (unknown, unknown) if zero is None else (zero, 1 - zero)
    for name, result in zip(_predicates(step.instruction.operands[0]), results, strict=False):
        machine.set(fragment, name, result)


def _predicates(target: Operand) -> tuple[Operand, ...]:
    """Return the predicates that ``setp`` writes: one, or also its opposite."""
    return (target.first, target.second) if isinstance(target, Pair) else (target,)


def _joined(logic: str, plain: Value, other: Value, lanes: int) -> Value:
    """Combine a predicate with another; one that decides alone decides."""
    if logic in DECIDES and DECIDES[logic] in (other, plain):
        return DECIDES[logic]
    return map_lanes(LOGIC[logic], [plain, other], lanes)


def _moving(operation: IntegerOperation | None, copy: Handler) -> Handler:
    """Return the handler of ``mov``: of a register, or between a register and a vector of its parts."""

    def execute(machine: Machine, fragment: Fragment, step: Step) -> None:
        instruction = step.instruction
        carry_moved(machine, fragment, step)
        vectors = [operand for operand in instruction.operands if isinstance(operand, Vector)]
        if len(instruction.operands) != 2 or not vectors:
            copy(machine, fragment, step)
            value = machine.value(fragment, instruction.operands[-1])
            if isinstance(value, Unknown) and value.why is Cause.ACCUMULATOR:
                machine.set(fragment, instruction.operands[0], value)
            return
        target, source = instruction.operands
        if operation is None:
            for name in targets(instruction):
                machine.set(fragment, name, Unknown("data", instruction.line))
            return
        bits = operation.bits // len(vectors[0].items)
        low = (1 << bits) - 1
        if isinstance(source, Vector):
            values = [machine.value(fragment, item) for item in source.items]
            packed = map_lanes(
                lambda *parts: sum((v & low) << bits * n for n, v in enumerate(parts)), values, fragment.lane_count
            )
            machine.set(fragment, target, packed)
        elif isinstance(target, Vector):
            value = machine.value(fragment, source)
            for place, item in enumerate(target.items):
                machine.set(
                    fragment, item, map_lanes(lambda a, by=bits * place: a >> by & low, [value], fragment.lane_count)
                )

    return execute
