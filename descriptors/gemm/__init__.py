"""One instruction and its main loop, whole, and the programs written from it."""

#: The open modules of this wing, and what they give other wings. From its other modules, other wings import only the
#: public names of `descriptors`.
INTERFACE = {
    "accumulators": "where the accumulators are",
    "budget": "the bytes of an mbarrier",
    "contract": "contracts in TOML and their reports",
    "epilogue": "how C is stored",
    "mma_operand": "the operands of a main loop of mma.sync",
    "mma_planner": "the proof of a main loop of mma.sync",
    "plan_arguments": "the arguments of all planners, as a table",
    "plan_operands": "the operands of a main loop",
    "plan_request": "the checked arguments of a plan",
    "planner": "the proof of a plan",
    "programs.emit_plan": "the languages of a plan",
    "programs.shift_ptx": "a convolution by shifts in PTX",
}
