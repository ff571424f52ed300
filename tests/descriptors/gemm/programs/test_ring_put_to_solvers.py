"""The ring of barriers of an emitted main loop, for any number of stages: put to z3 and cvc5.

The step from tile to tile is taken from the instructions that are emitted, the wait from PTX: a try_wait for a parity
succeeds if the phase that ended last has it. Tile t = q*S + r of S stages is the q-th one of stage r.
"""

from __future__ import annotations

import re

from descriptors.gemm.programs.inner_loop_ptx import next_stage
from descriptors.smem.claims.question import Question
from descriptors.smem.claims.solver import ask

#: What the instructions mean, of registers that hold small numbers; predicates are 0 or 1.
MEANING = {
    "add.u32": "(+ {1} {2})",
    "setp.eq.u32": "(ite (= {1} {2}) 1 0)",
    "selp.b32": "(ite (= {3} 1) {1} {2})",
    "xor.b32": "(ite (= {1} {2}) 0 1)",
}

STATE = """
(declare-const S Int) (assert (<= 1 S))
(declare-const q Int) (declare-const r Int) (assert (<= 0 q)) (assert (and (<= 0 r) (< r S)))
(define-fun t () Int (+ (* q S) r))
(define-fun stage () Int r)
(define-fun parity () Int (mod q 2))
"""


def after(stages: str, lines: list[str]) -> dict[str, str]:
    """The registers after instructions, as terms of the state before them."""
    values = {"stage": "stage", "parity": "parity"}
    for line in lines:
        name, *operands = re.split(r"[ ,]+", line.rstrip(";"))
        if name not in MEANING or operands[0] == "%tile":
            continue
        terms = [values.get(one.lstrip("%"), one) for one in operands]
        values[operands[0].lstrip("%")] = MEANING[name].format(*terms)
    assert stages in values["stage"]
    return values


def question(premises: str, denial: str) -> Question:
    return Question("ring", "UFNIA", STATE + premises, denial, "Is it wrong?")


def step(lines: list[str]) -> Question:
    """Whether the next tile is another than t + 1, or its stage or parity are no stage and parity of it."""
    values = after("S", lines)
    wrapped = "(ite (= (+ r 1) S) 1 0)"
    right = (
        f"(and (<= 0 {values['stage']}) (< {values['stage']} S) (= (+ t 1) (+ (* (+ q {wrapped}) S) {values['stage']}))"
        f" (= {values['parity']} (mod (+ q {wrapped}) 2)))"
    )
    return question("", f"(not {right})")


def test_the_emitted_step_goes_round_a_ring_of_any_number_of_stages(solver: str) -> None:
    lines = next_stage("S", "loop")  # type: ignore[arg-type]  # a symbol in place of the number
    assert ask(step(lines), solver).outcome == "unsat"
    assert ask(step(lines).premises_alone, solver).outcome == "sat"
    for good, bad in (("selp.b32 %flip, 1, 0", "selp.b32 %flip, 0, 0"), ("%stage, 1;", "%stage, 2;"),
                      ("selp.b32 %stage, 0,", "selp.b32 %stage, 1,")):  # fmt: skip
        spoilt = [line.replace(good, bad) for line in lines]
        assert spoilt != lines and ask(step(spoilt), solver).outcome == "sat"


def test_a_wait_for_a_parity_is_for_the_phase_that_is_meant_if_nobody_is_two_phases_off(solver: str) -> None:
    """The consumer of tile t waits for the (q+1)-th filling of its stage, the producer for the q-th emptying."""
    declared = "(declare-const ended Int) (assert (<= 0 ended))\n"
    filled = f"{declared}(define-fun passes () Bool (not (= (mod ended 2) parity)))\n"
    emptied = f"{declared}(define-fun passes () Bool (not (= (mod ended 2) (ite (= parity 0) 1 0))))\n"
    for waits, meant in ((filled, "(+ q 1)"), (emptied, "q")):
        close = f"(assert (or (= ended {meant}) (= (+ ended 1) {meant})))"
        wrong = f"(not (= passes (= ended {meant})))"
        assert ask(question(waits + close, wrong), solver).outcome == "unsat"
        assert ask(question(waits + close, "passes"), solver).outcome == "sat"
        assert ask(question(waits + f"(assert (= (+ ended 2) {meant}))", "passes"), solver).outcome == "sat"
