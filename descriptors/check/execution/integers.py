"""Instructions on integers executed: arithmetic, comparisons and packing, lane by lane.

What is computed of a value that is not known is not known either, but where an operand decides alone: a product with
0, an ``and`` with 0, a selection. Of floating point parameters and constants alone, what is computed is as constant as
they are.
Source: PTX ISA 9.1, setp; mov (packing); the operations themselves are those of ``arithmetic``.

Law: what decides alone decides, whatever the other is.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "ld.global.u32 a, [g]; and.b32 b, a, 0; add.u32 c, a, 1; st.shared.b32 [s], b; st.shared.b32 [s+4], c;"
>>> launch = Launch((4, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
>>> held = Machine(program(parse(f".version 8.8\\n.entry k() {{ {body} ret; }}").functions[0]), launch, execution)
>>> held.run()
>>> [held.fragments[0].registers[name] for name in "bc"]
[0, Unknown(why=<Cause.GLOBAL: 'a value loaded from global memory'>, line=2)]
"""

from __future__ import annotations

from descriptors.check.execution.arithmetic import comparison, operation, type_of
from descriptors.check.execution.fragment import Fragment
from descriptors.check.execution.lanes import Cause, Unknown, Value, each
from descriptors.check.execution.machine import Handler, Machine, short
from descriptors.check.execution.origins import carry_moved
from descriptors.check.execution.program import Step
from descriptors.check.ptx.ptx_module import Instruction, targets
from descriptors.check.ptx.ptx_operands import Pair, Vector

#: Instructions whose result is no function of their operands.
_IMPURE = ("ld", "atom", "red", "tcgen05", "wgmma", "mma")
#: What scales a result by a number, and asks whether there is anything to scale.
_SCALES = ("mul.f", "mul.rn.f", "setp.eq.f", "setp.equ.f", "setp.ne", "setp.neu")
_LOGIC = {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}
#: Of these 0 makes 0, in one of the first so many operands.
_ZEROS = {"and": 2, "mul": 2, "shl": 1}
#: The value of one predicate that decides alone.
_ABSORBING = {"and": 0, "or": 1}


def integer_handler(opcode: str) -> Handler:
    """What executes an instruction that is no event: one on integers, or one whose result is data."""
    name = opcode.partition(".")[0]
    if name == "setp":
        return _compare
    if name == "mov":
        return _move
    return unknown_result if operation(opcode) is None else _compute


def unknown_result(machine: Machine, one: Fragment, step: Step) -> None:
    """An instruction whose result is data."""
    unknown = _result_of(machine, one, step.instruction)
    for name in targets(step.instruction):
        machine.set(one, name, unknown)


def _result_of(machine: Machine, one: Fragment, instruction: Instruction) -> Unknown:
    if instruction.opcode.startswith(("ld", "atom")):
        return Unknown(Cause.GLOBAL, instruction.line)
    found = _of_parameters(machine, one, instruction)
    return found or Unknown(f"what {short(instruction)} computes", instruction.line)


def _of_parameters(machine: Machine, one: Fragment, instruction: Instruction) -> Unknown | None:
    """What is computed of parameters of floating point and constants alone is as constant as they are.

    A factor of a product, or what a number is compared with, may be from global memory too: then so is the result.
    """
    if instruction.opcode.startswith(_IMPURE) or len(instruction.operands) < 2:
        return None
    causes = {Cause.PARAMETER, Cause.GLOBAL} if instruction.opcode.startswith(_SCALES) else {Cause.PARAMETER}
    values = [machine.value(one, operand) for operand in instruction.operands[1:]]
    if not all(type(v) is int or (isinstance(v, Unknown) and v.why in causes) for v in values):
        return None
    unknown = [v for v in values if isinstance(v, Unknown)]
    return next((v for v in unknown if v.why is Cause.GLOBAL), unknown[0] if unknown else None)


def _of_content(machine: Machine, one: Fragment, instruction: Instruction) -> int | None:
    """Whether a number from global memory is 0, where it is assumed that none there is."""
    if not machine.launch.content or not instruction.opcode.startswith("setp") or len(instruction.operands) != 3:
        return None
    values, test = [machine.value(one, operand) for operand in instruction.operands[1:]], instruction.qualifiers[1]
    unknown = [v for v in values if isinstance(v, Unknown) and v.why is Cause.GLOBAL]
    if len(unknown) != 1 or 0 not in values or test not in ("eq", "equ", "ne", "neu"):
        return None
    return int(test.startswith("ne"))


def _compute(machine: Machine, one: Fragment, step: Step) -> None:
    """An instruction with one result."""
    instruction = step.instruction
    name, operands = instruction.opcode.partition(".")[0], instruction.operands
    compute = operation(instruction.opcode)
    if compute is None or len(operands) < 2 or not isinstance(operands[0], str):
        unknown_result(machine, one, step)
        return
    values = [machine.value(one, operand) for operand in operands[1:]]
    if name in _ZEROS and 0 in values[: _ZEROS[name]] and any(type(v) is Unknown for v in values):
        machine.set(one, operands[0], 0)
        return
    if name == "selp" and type(values[2]) is int:
        values[:2] = [values[0 if values[2] else 1]] * 2
    try:
        machine.set(one, operands[0], each(compute, values, one.many, instruction.line))
    except TypeError:  # more or less operands than the instruction has
        unknown_result(machine, one, step)


def _compare(machine: Machine, one: Fragment, step: Step) -> None:
    """``setp``: a predicate, perhaps joined with another, and perhaps its opposite."""
    instruction = step.instruction
    compare, operands = comparison(instruction.opcode), instruction.operands
    logic = next((word for word in instruction.qualifiers[2:-1] if word in _LOGIC), "")
    values = [machine.value(one, operand) for operand in operands[1:]]
    result: Value
    opposite: Value
    if compare is None or len(values) != 2 + bool(logic):
        nought = _of_content(machine, one, instruction)
        result = opposite = _result_of(machine, one, instruction)
        if nought is not None:
            result, opposite = nought, 1 - nought
    else:
        result = each(lambda a, b: int(compare(a, b)), values[:2], one.many)
        opposite = each(lambda a: a ^ 1, [result], one.many)
        if logic:
            result, opposite = (_joined(logic, plain, values[2], one.many) for plain in (result, opposite))
    target = operands[0]
    if isinstance(target, Pair):
        machine.set(one, target.first, result)
        machine.set(one, target.second, opposite)
    else:
        machine.set(one, target, result)


def _joined(logic: str, plain: Value, other: Value, lanes: int) -> Value:
    """A predicate and another: one that decides alone decides."""
    absorbing = _ABSORBING.get(logic)
    if absorbing is not None and absorbing in (other, plain):
        return absorbing
    return each(_LOGIC[logic], [plain, other], lanes)


def _move(machine: Machine, one: Fragment, step: Step) -> None:
    """``mov``: of a register, or between one and a vector of its parts."""
    instruction = step.instruction
    carry_moved(machine, one, step)
    if len(instruction.operands) != 2 or not any(isinstance(operand, Vector) for operand in instruction.operands):
        _compute(machine, one, step)
        return
    target, source = instruction.operands
    kind = type_of(instruction.qualifiers[-1])
    if kind is None:
        for name in targets(instruction):
            machine.set(one, name, Unknown("data", instruction.line))
    elif isinstance(source, Vector):
        bits = kind[1] // len(source.items)

        def packed(*parts: int) -> int:
            return sum((part & (1 << bits) - 1) << bits * place for place, part in enumerate(parts))

        machine.set(one, target, each(packed, [machine.value(one, item) for item in source.items], one.many))
    elif isinstance(target, Vector):
        bits = kind[1] // len(target.items)
        value = machine.value(one, source)
        for place, item in enumerate(target.items):
            part = each(lambda a, by=bits * place: a >> by & (1 << bits) - 1, [value], one.many)
            machine.set(one, item, part)
