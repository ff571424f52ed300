"""The proof of a convolution with shifts: how many outputs were compared, and what if one shift moves the other.

Law: text and data count the same.

>>> from descriptors.tmem.shift_convolution import Outcome
>>> proof = ShiftProof(8, 2, "all", Outcome(0), Outcome(3, (0, 1, 2, 0, 5, 6)))
>>> print(tell(proof))
if one tcgen05.shift moves its own quarter alone: 3 of 8 outputs wrong, the first (n,p,q,filter) = (0,1,2,0): 5 for 6
proved: 8 outputs equal those of the definition, by 2 multiplications simulated on whole numbers
>>> record(proof)["otherwise"]["wrong"]
3
"""

from __future__ import annotations

from typing import Any

from descriptors import text
from descriptors.text import counted, tuple_text
from descriptors.tmem.shift_convolution import Outcome, ShiftProof


@text.tell.register(ShiftProof)
def tell(proof: ShiftProof) -> str:
    """A proof for a person."""
    by = f"by {counted(proof.multiplications, 'multiplication')} simulated on whole numbers"
    moved = "its own quarter alone" if proof.quarters == "all" else "every quarter"
    told = [f"if one tcgen05.shift moves {moved}: {_wrong(proof.otherwise, proof.outputs)}"]
    if proof.ok:
        told.append(f"proved: {counted(proof.outputs, 'output')} equal those of the definition, {by}")
    else:
        told.append(f"wrong: {_wrong(proof.outcome, proof.outputs)}; {by}")
    return "\n".join(told)


def _wrong(outcome: Outcome, outputs: int) -> str:
    if outcome.first is None:
        return f"no output of {outputs} wrong"
    *place, found, wanted = outcome.first
    count = f"{outcome.wrong} of {counted(outputs, 'output')} wrong"
    return f"{count}, the first (n,p,q,filter) = {tuple_text(place)}: {found} for {wanted}"


def record(proof: ShiftProof) -> dict[str, Any]:
    """A proof as plain data."""
    return {
        "ok": proof.ok,
        "outputs": proof.outputs,
        "multiplications": proof.multiplications,
        "quarters": proof.quarters,
        "wrong": _outcome(proof.outcome),
        "otherwise": _outcome(proof.otherwise),
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    first = None
    if outcome.first is not None:
        *place, found, wanted = outcome.first
        first = {"output": place, "found": found, "must_be": wanted}
    return {"wrong": outcome.wrong, "first": first}
