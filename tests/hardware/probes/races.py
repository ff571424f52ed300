"""The race probe: how often is a kernel wrong that leaves out one step of the protocol of ``wgmma``?

One kernel, compiled once whole and once for each step left out. A round stores new operands by ordinary stores, issues
eight ``wgmma`` and compares every accumulator with the value that all of them must have. The assembler's own word on
each kernel is kept beside the count: it mends some of them while it assembles.

    python -m probes.races --out FOLDER [--rounds 2000]
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from probes.build import build, compiler_says
from probes.cuda import Device, provenance
from probes.runner import main_of, write_json

EVIDENCE = "races"

#: Name of the kernel, and what it leaves out.
LEFT_OUT = {
    "nothing": "nothing",
    "proxy_fence": "fence.proxy.async between ordinary stores of the operands and wgmma",
    "wait": "wgmma.wait_group before the accumulators are read",
    "commit": "wgmma.commit_group: wait_group 0 follows the wgmma at once",
    "fence": "wgmma.fence between the accumulators' first values and the first wgmma",
    "wait_for_one": "half a wait: wait_group 1 where the newest group is read",
    "copy_nothing": "nothing; cp.async brings the operands",
    "copy_proxy_fence": "fence.proxy.async between cp.async of the operands and wgmma",
    "copy_rendezvous": "bar.sync between cp.async of the operands and wgmma: a thread waits for its own copies",
    "stage": "wgmma.wait_group before the operands are written again",
}


def repairs(told: str) -> dict[str, list[str]]:
    """The assembler's codes by kernel, out of what it printed.

    >>> repairs("ptxas info : (C7519) warpgroup.arrive is injected in around line 7 in function 'race_fence'")
    {'fence': ['C7519']}
    """
    found: dict[str, list[str]] = {}
    for code, name in re.findall(r"\((C75\d\d)\).*?'race_(\w+)'", told):
        codes = found.setdefault(name, [])
        if code not in codes:
            codes.append(code)
    return found


def operands() -> np.ndarray:
    """Operands of every value that a round may have, as the kernels copy them: A of 1 to 3, then B of 1 to 5."""
    rows = [np.full(64 * 16, value, np.float16) for value in (1, 2, 3, 1, 2, 3, 4, 5)]
    return np.concatenate(rows)


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it; its status is 1 if the kernel that leaves nothing out is wrong."""
    facts = provenance(device, " ".join(["scripts/probe_wgmma races", *sys.argv[1:]]))
    module = device.load(build("races")["races"])
    mended = repairs(compiler_says("races"))
    blocks, rows = 4 * 132, []
    table = device.upload(operands())
    for name, left in LEFT_OUT.items():
        out = device.upload(np.zeros(2, np.uint64))
        module.kernel(f"race_{name}", 32768).launch(blocks, 128, out, options.rounds, options.seed, table)
        device.synchronize()
        accumulators, rounds = (int(count) for count in out.get(np.uint64, (2,)))
        done = blocks * options.rounds
        rows.append(
            {"left_out": left, "assembler": mended.get(name, []), "rounds": done, "wrong_rounds": rounds,
             "accumulators": done * 64 * 64, "wrong_accumulators": accumulators}
        )  # fmt: skip
        print(f"{name}: {rounds:,} of {done:,} rounds wrong {' '.join(mended.get(name, []))}")
    out_folder = Path(options.out)
    out_folder.mkdir(parents=True, exist_ok=True)
    write_json(out_folder / f"{EVIDENCE}.json", {**facts, "kernels": rows})
    return 1 if rows[0]["wrong_rounds"] else 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="probe_wgmma races", description=__doc__.split("\n")[0])
    made.add_argument("--out", default="build/evidence", help="folder for the evidence")
    made.add_argument("--rounds", type=int, default=2000, help="rounds of each of 528 blocks")
    made.add_argument("--seed", type=int, default=1, help="which operands the rounds begin with")
    return made


def main(arguments: Iterable[str] | None = None) -> int:
    """Entry point."""
    return main_of(parser(), run, arguments)


if __name__ == "__main__":
    sys.exit(main())
