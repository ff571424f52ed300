"""Plans of GEMM and convolution main loops, their proofs, and the programs that are written from them."""

#: The modules that other wings may import, and what they provide. From the other modules of this wing, they import only
#: the public names of `descriptors`.
INTERFACE = {
    "accumulators": "the registers or columns of accumulators",
    "budget": "the size of the barriers of a stage",
    "contract": "expected values in TOML and their reports",
    "epilogue": "how C is stored",
    "mma_operand": "the operands of a main loop of mma.sync",
    "mma_planner": "the proof of a main loop of mma.sync",
    "plan_arguments": "the arguments of all planners, as a table",
    "plan_operands": "the operands of a main loop",
    "plan_request": "the checked arguments of a plan",
    "planner": "the proof of a plan",
    "programs.emit_plan": "the languages of a plan",
    "programs.shift_ptx": "a shift convolution in PTX",
}
