"""Rows are the same whichever way they are computed; and without numpy every proof, comparison and word is the same."""

from __future__ import annotations

import json
import subprocess
import sys

from derived import derivations
from hypothesis import given
from places import ROOT

from descriptors.smem.derivation.advance import numbers
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.proof.addresses import (
    MANY,
    arrays_pay,
    fetched_addresses,
    fetched_rows,
    plain_fetched,
    plain_stored,
    stored_addresses,
    stored_rows,
)

#: Everything that has a plain twin, and its answer as data.
PROGRAM = """
import json, sys
if sys.argv[1] == "without":
    sys.modules["numpy"] = None
elif sys.argv[1] == "with":
    import numpy
from descriptors import candidates, decode, derive, diff, read, record, verify
d = derive((128, 64, 2), "bf16", "MN", "64B", (64, 16))
crossing = derive((128, 768), "e2m1", "K", "128B", (128, 96), kind="mxf4", cta_group=2)
beyond = derive((1024, 1024), "bf16", "K", "128B", (64, 16), capacity=None, verify=False)
wrong = diff(d.word(0, 1, stage=1) ^ 1 << 33, d.smem_tile, dtype="bf16", major="MN", shape=d.mma, subtile=(0, 1, 1))
across = diff(crossing.words()[0][3], crossing.smem_tile, dtype="e2m1", major="K", shape=(128, 96), subtile=(0, 2))
answers = [
    verify(d, bases=(0, 0x1080)), verify(crossing), verify(beyond), wrong, across,
    candidates("(64,16):(16,1)", "bf16"), decode(1 << 62 | 8 << 32, "sm90", dtype="bf16", major="K", shape=(64, 16)),
    read(d.word(0, 0), dtype="bf16", major="MN", shape=(64, 16)),
]
print(json.dumps([record(one) for one in answers]))
print("numpy" in sys.modules and sys.modules["numpy"] is not None, file=sys.stderr)
"""


@given(derivations())
def test_both_sides_are_the_same_by_arrays_and_in_plain_python(d: Derivation) -> None:
    stored = stored_addresses(d.smem_tile, d.element, base=1024, pattern_start=1024).tolist()
    assert plain_stored(d.smem_tile, d.element, base=1024, pattern_start=1024) == stored
    assert stored_rows(d.smem_tile, d.element, base=1024, pattern_start=1024) == stored
    words, told = list(numbers(d.words(1024))), {"arch": d.arch, "element": d.element, "major": d.major, "shape": d.mma}
    fetched = fetched_addresses(words, **told).tolist()  # type: ignore[arg-type]
    assert plain_fetched(words, **told) == fetched == fetched_rows(words, **told)  # type: ignore[arg-type]


def test_numpy_is_used_where_it_is_loaded() -> None:
    import numpy  # noqa: F401

    assert arrays_pay(1) and arrays_pay(MANY + 1)


def answers(how: str) -> tuple[list[object], str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, cwd=ROOT, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr.strip()


def test_every_answer_is_the_same_with_numpy_and_without() -> None:
    with_it, loaded = answers("with")
    without, absent = answers("without")
    assert (loaded, absent) == ("True", "False")
    assert without == with_it


def test_a_large_tile_is_proved_by_arrays_though_nobody_loaded_them() -> None:
    assert answers("as it comes")[1] == "True"
