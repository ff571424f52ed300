"""Every proof, comparison and word is told without numpy, as a browser has none."""

from __future__ import annotations

import subprocess
import sys

from places import ROOT

#: Everything that looks at elements one by one.
PROGRAM = """
import sys
sys.modules["numpy"] = None
from descriptors import candidates, decode, derive, diff, read, record, verify
d = derive((128, 64, 2), "bf16", "MN", "64B", (64, 16))
crossing = derive((128, 768), "e2m1", "K", "128B", (128, 96), arch="sm103", cta_group=2)
beyond = derive((1024, 1024), "bf16", "K", "128B", (64, 16), capacity=None, verify=False)
wrong = diff(d.word(0, 1, stage=1) ^ 1 << 33, d.smem_tile, dtype="bf16", major="MN", shape=d.mma, subtile=(0, 1, 1))
across = diff(crossing.words()[0][3], crossing.smem_tile, dtype="e2m1", major="K", shape=(128, 96), subtile=(0, 2))
answers = [
    verify(d, bases=(0, 0x1080)), verify(crossing), verify(beyond), wrong, across,
    candidates("(64,16):(16,1)", "bf16"), decode(1 << 62 | 8 << 32, "sm90", dtype="bf16", major="K", shape=(64, 16)),
    read(d.word(0, 0), dtype="bf16", major="MN", shape=(64, 16)),
]
print([bool(record(one)) for one in answers])
print([one.ok for one in answers[:5]])
"""


def test_every_answer_about_elements_is_given_without_numpy() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=ROOT, check=False, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == [str([True] * 8), str([True, True, True, False, False])]
