"""The plans of a tile: a table, the command of each, and why the other instructions do not do.

Law: a row of the table is a plan, and its command gives that plan.

>>> from descriptors.gemm.planner import propose
>>> found = propose("bf16", tile=(64, 16, 32), arch="sm90", top=2)
>>> [line in tell(found) for line in map(command, found.plans)]
[True, True]
"""

from __future__ import annotations

from typing import Any

from descriptors import text
from descriptors.gemm.accumulators import Registers
from descriptors.gemm.plan import Plan
from descriptors.gemm.planner import Proposals
from descriptors.gemm.schedule import read_bytes
from descriptors.text import aligned, extents_text

#: Refusals that are listed; the others are counted.
_LISTED = 12


@text.tell.register(Proposals)
def tell(found: Proposals) -> str:
    """Proposals for a person.

    Args:
        found: what ``propose`` returned.

    >>> from descriptors.gemm.planner import propose
    >>> print(tell(propose("bf16", tile=(64, 16, 32), arch="sm90", top=1)).splitlines()[0])
    5 plans of a tile of 64x16x32, ranked by the shared memory that a stage reads, then by stages
    """
    lines = [f"{found.headline.split(',')[0]}, ranked by the shared memory that a stage reads, then by stages"]
    rows: list[tuple[str, ...]] = [("instruction", "CTAs", "A", "B", "stages", "bytes", "accumulators", "read a stage")]
    rows += [_row(one) for one in found.plans]
    lines += ["", *aligned(rows, indent=3), "", "Proved, and told whole by"]
    lines += [f"   {command(one)}" for one in found.plans]
    if found.fitting > len(found.plans):
        lines.append(f"   {found.fitting - len(found.plans)} more fit (--top shows them)")
    if found.refused:
        lines += ["", "Refused"]
        lines += [f"   {name}: {reason}" for name, reason in found.refused[:_LISTED]]
    if len(found.refused) > _LISTED:
        lines.append(f"   and {len(found.refused) - _LISTED} more (--json has them)")
    lines.append(f"   {found.others} legal shapes do not divide the tile" if found.others else "")
    return "\n".join(lines).rstrip()


def _row(one: Plan) -> tuple[str, ...]:
    sides = [f"{side.derivation.major}-major {side.derivation.swizzle}" for side in (one.a, one.b)]
    held = one.accumulators
    place = f"{held.registers} registers" if isinstance(held, Registers) else f"{held.plan.allocate} columns"
    stages = f"{one.stages} of {one.budget.most_stages}"
    used, read = str(one.budget.used), f"{read_bytes(one)} bytes"
    return one.asked.name, str(one.asked.cta_group), *sides, stages, used, place, read


def command(one: Plan) -> str:
    """The command that tells a plan whole.

    >>> from descriptors.gemm.planner import plan
    >>> command(plan("m64n16k16", "bf16", tile=(64, 16, 32), stages=2, verify=False))
    'descriptors plan m64n16k16 bf16 --arch sm90 --tile 64x16x32 --stages 2 --a-swizzle 64B --b-swizzle 64B'
    """
    asked = one.asked
    words = ["descriptors plan", asked.name, asked.a.name, f"--arch {asked.arch} --tile {extents_text(asked.tile)}"]
    words.append(f"--stages {one.stages}")
    words += [f"--b-dtype {asked.b.name}"] if asked.b != asked.a else []
    words += [f"--d-dtype {asked.d}"] if asked.d not in ("f32", "s32") else []
    words += [f"--{name}-major MN" for name, side in (("a", one.a), ("b", one.b)) if side.transposed]
    words += [f"--{name}-swizzle {side.derivation.swizzle}" for name, side in (("a", one.a), ("b", one.b))]
    words += [f"--cta-group {asked.cta_group}"] if asked.cta_group == 2 else []
    words += (
        [f"--kind {asked.kind} --scale-dtype {asked.scale[0]} --scale-vector {asked.scale[1]}"] if asked.scale else []
    )
    return " ".join(words)


def record(found: Proposals) -> dict[str, Any]:
    """Proposals as plain data.

    Args:
        found: what ``propose`` returned.

    >>> from descriptors.gemm.planner import propose
    >>> record(propose("bf16", tile=(64, 16, 32), arch="sm90", top=1))["plans"][0]["read_bytes"]
    5120
    """
    return {
        "tile": found.tile,
        "fitting": found.fitting,
        "plans": [
            {
                "instruction": one.asked.name,
                "cta_group": one.asked.cta_group,
                "majors": {side.matrix: str(side.derivation.major) for side in (one.a, one.b)},
                "swizzles": {side.matrix: str(side.derivation.swizzle) for side in (one.a, one.b)},
                "stages": one.stages,
                "most_stages": one.budget.most_stages,
                "used": one.budget.used,
                "read_bytes": read_bytes(one),
                "command": command(one),
            }
            for one in found.plans
        ],
        "refused": [{"instruction": name, "reason": reason} for name, reason in found.refused],
        "others": found.others,
    }
