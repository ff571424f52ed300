"""The columns of a CTA: what lies where, what to allocate, how many CTAs fit an SM.

Law: text and data have the same columns.

>>> from descriptors.tmem.columns import tmem_plan
>>> made = tmem_plan(128, 8, 64, "e2m1", scale_dtype="ue4m3")
>>> told = [line.split()[1] for line in tell(made).splitlines()[2:5]]
>>> told == [f"[{part['column']},{part['column'] + part['columns']})" for part in record(made)["parts"]]
True
"""

from __future__ import annotations

from typing import Any

from descriptors import text
from descriptors.text import aligned
from descriptors.tmem.columns import ColumnPlan


@text.tell.register(ColumnPlan)
def tell(plan: ColumnPlan) -> str:
    """A plan for a person.

    >>> from descriptors.tmem.columns import tmem_plan
    >>> print(*tell(tmem_plan(128, 256, 64)).splitlines()[-2:], sep="\\n")
       allocate 256 columns; 2 CTAs an SM
       known    NVIDIA's code, evaluated; not measured on a Blackwell GPU
    """
    rows: list[tuple[object, ...]] = [("part", "columns", "lane", "what")]
    for part in plan.parts:
        what = part.fragment.what if part.fragment is not None else ""
        rows.append((part.name, f"[{part.column},{part.column + part.columns})", part.lane, what))
    notes = [f"   note     {note}" for note in plan.notes]
    ctas = "1 CTA" if plan.ctas == 1 else f"{plan.ctas} CTAs"
    lines = [f"Tensor memory of a CTA: {plan.used} of 512 columns used", *aligned(rows, indent=3), *notes]
    return "\n".join([*lines, f"   allocate {plan.allocate} columns; {ctas} an SM", f"   known    {plan.evidence}"])


def record(plan: ColumnPlan) -> dict[str, Any]:
    """A plan as plain data.

    >>> from descriptors.tmem.columns import tmem_plan
    >>> record(tmem_plan(128, 256, 64))["allocate"]
    256
    """
    return {
        "used": plan.used,
        "allocate": plan.allocate,
        "ctas_per_sm": plan.ctas,
        "parts": [
            {
                "name": part.name,
                "column": part.column,
                "columns": part.columns,
                "lane": part.lane,
                "layout": None if part.fragment is None else str(part.fragment.layout),
                "evidence": None if part.fragment is None else part.fragment.evidence,
            }
            for part in plan.parts
        ],
        "notes": list(plan.notes),
        "evidence": plan.evidence,
    }
