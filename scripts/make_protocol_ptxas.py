#!/usr/bin/env python3
"""Bring tests/vectors/protocol_ptxas.json up to date: what versions of NVIDIA's assembler say of its cases.

Usage: python scripts/make_protocol_ptxas.py VERSION=PTXAS...      as 13.0=/usr/local/bin/ptxas; needs no GPU

The cases stay as they are; the verdicts of the versions that are named are asked for again. A case whose PTX is newer
than an assembler keeps its other verdicts alone.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402

RECORD = ROOT / "tests" / "vectors" / "protocol_ptxas.json"
#: What stands around the body of a case of tcgen05.
FRAME = """.version {version}
.target {target}
.address_size 64
.visible .entry k(.param .u64 p) {{
 .shared .align 1024 .b8 sm[1024];
 .reg .b32 r<400>; .reg .b64 d<8>; .reg .pred q<4>;
 ld.param.u64 d0,[p]; mov.u64 d1,d0; mov.u64 d2,d0; cvt.u32.u64 r1,d0; mov.u32 r2,r1; mov.u32 r3,r1; mov.u32 r4,r1;
 setp.ne.u32 q1,r1,0; mov.u32 r9, sm;
 {body}
 ret;
}}
"""


#: What stands around an instruction of which one operand is in ``x0`` and so on, registers of a class.
CLASS_FRAME = """.version 8.8
.target {target}
.address_size 64
.visible .entry k() {{
 .reg .b32 r<12>; .reg .f32 f<8>; .reg .b64 d<8>; .reg .pred q<4>; .reg .{kind} x<8>;
 {body}
 ret;
}}
"""
#: The classes that are asked for, and the targets of instructions that move matrices.
CLASSES = ("b8", "b16", "u16", "f16", "f16x2", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", "b128", "pred")
TARGETS = ("sm_80", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_103a", "sm_120", "sm_120a", "sm_120f")


def taken(tool: str, texts: dict[str, str]) -> list[str]:
    """The names of the texts that an assembler takes."""
    found = {name: verdict(tool, text) for name, text in texts.items()}
    return [name for name, one in found.items() if one is not None and one["accepted"]]


def class_texts(case: dict[str, Any]) -> dict[str, str]:
    """The texts of an operand in registers of each class."""
    return {kind: CLASS_FRAME.format(target=case["target"], kind=kind, body=case["body"]) for kind in CLASSES}


def target_texts(case: dict[str, Any]) -> dict[str, str]:
    """The texts of an instruction for each target."""
    return {target: CLASS_FRAME.format(target=target, kind="b32", body=case["body"]) for target in TARGETS}


def verdict(tool: str, text: str) -> dict[str, Any] | None:
    """What an assembler says of a text; None where it does not know its version of PTX."""
    target = re.search(r"\.target (\w+)", text)
    assert target
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.ptx"
        path.write_text(text, encoding="utf-8")
        line = [tool, f"-arch={target[1]}", str(path), "-o", str(path.with_suffix(".cubin"))]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    if "Unsupported .version" in output or "is not defined for option" in output:
        return None
    return {"accepted": done.returncode == 0, "codes": sorted(set(re.findall(r"\((C\d+)\)", output)))}


def text_of(case: dict[str, Any], frame: str) -> str:
    """The PTX of a case: its own text, or what stands in the frame of the record, or in that of tcgen05."""
    return str(case["ptx"]) if "ptx" in case else (frame if "directives" in case else FRAME).format(**case)


def main(tools: list[str]) -> int:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    for version, tool in (tool.split("=", 1) for tool in tools):
        for case in [*record["wgmma"], *record["serialized"], *record["tcgen05"]]:
            if answer := verdict(tool, text_of(case, record["frame"])):
                case["ptxas"][version] = answer
        for case in record["classes"]:
            case["taken"][version] = " ".join(taken(tool, class_texts(case)))
        for case in record["matrices"]:
            case["taken"][version] = " ".join(taken(tool, target_texts(case)))
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {RECORD.name}")
    return 0


if __name__ == "__main__":
    end(main, sys.argv[1:])
