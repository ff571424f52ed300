"""Instructions outside the tables, put to the assembler: which does ``ptxas`` refuse? Needs no GPU.

python -m probes.refused FILE
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from probes.instructions import TYPES, Instruction, legal_n
from probes.runner import write_json


def ptx(one: Instruction, *, transposes: bool | None = None, m: int = 64) -> str:
    """A PTX module of that one instruction, legal or not.

    Args:
        one: the instruction.
        transposes: whether the two major immediates are written; default: where the type has them.
        m: the M to write.
    """
    kind, register = ("s32", "r") if one.integer else ("f32", "f")
    count = max(one.n // 2, 1)
    d = ", ".join(f"%{register}{i}" for i in range(count))
    tail = "p" if one.integer else "p, 1, 1"
    if TYPES.get(one.dtype, (0, False))[1] if transposes is None else transposes:
        tail += f", {int(one.a_mn)}, {int(one.b_mn)}"
    opcode = one.opcode.replace("m64", f"m{m}")
    moves = "\n".join(f"mov.{kind} %{register}{i}, {'0' if one.integer else '0f00000000'};" for i in range(count))
    return f"""
.version 8.0
.target sm_90a
.address_size 64
.visible .entry probe(.param .u64 a) {{
.reg .pred p;
.reg .b64 %w;
.reg .{kind} %{register}<{count}>;
ld.param.u64 %w, [a];
setp.ne.b64 p, %w, 0;
{moves}
wgmma.fence.sync.aligned;
{opcode} {{{d}}}, %w, %w, {tail};
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
ret;
}}
"""


def refusal(text: str) -> str | None:
    """The first error of ``ptxas``, without its place in the file; None if it accepts the module."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "one.ptx"
        source.write_text(text)
        command = ["ptxas", "-arch=sm_90a", "-o", str(Path(folder) / "one.cubin"), str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    found = re.search(r"error\s*:\s*(.*)", done.stdout + done.stderr)
    return found.group(1) if found else "refused"


def questions() -> list[dict[str, Any]]:
    """Every N up to 272 in steps of 4 for each type, transposed operands, other M, 4-bit integers."""
    rows: list[dict[str, Any]] = []
    for dtype in TYPES:
        accepted = [n for n in range(4, 273, 4) if refusal(ptx(Instruction(dtype, n))) is None]
        rows.append({"question": f"{dtype}: N", "accepted": accepted, "as_tabulated": accepted == legal_n(dtype)})
    for dtype in ("tf32", "e4m3", "s8"):
        one = Instruction(dtype, 64, a_mn=True, b_mn=True)
        rows.append({"question": f"{dtype}: MN-major operands", "refusal": refusal(ptx(one, transposes=True))})
    for m in (32, 128):
        rows.append({"question": f"f16: M = {m}", "refusal": refusal(ptx(Instruction("f16", 64), m=m))})
    text = ptx(Instruction("s8", 64)).replace("k32.s32.s8.s8", "k64.s32.s4.s4")
    rows.append({"question": "s4 operands", "refusal": refusal(text)})
    return rows


def main() -> int:
    """Ask, and write the answers."""
    version = subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True).stdout
    release = re.search(r"V[0-9.]+", version)
    facts = {"gpu": None, "tool": f"ptxas {release.group() if release else version}", "arch": "sm_90a"}
    rows = questions()
    write_json(Path(sys.argv[1]), {**facts, "command": "python -m probes.refused FILE", "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
