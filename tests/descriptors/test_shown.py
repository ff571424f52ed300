"""`str`, `repr` and the page of a value are functions of the value: nothing depends on what else was imported."""

from __future__ import annotations

import json
import os
import sys
from enum import Enum
from subprocess import run
from typing import Any

import pytest
from places import ROOT
from rooms import modules

import descriptors

D = "of('smem.derivation.derive').derive((128, 64), 'bf16', 'MN', '64B', (64, 16))"
CROSSING = "of('smem.derivation.derive').derive((128, 768), 'e2m1', 'K', '128B', (128, 96), arch='sm103', cta_group=2)"
WORD = "of('smem.debug.decode').decode(0x4000404000010000, 'sm100', dtype='bf16', major='K')"
DIFF = "of('smem.debug.diff').diff(32 << 32, 'S<3,3,3> o 0 o (64,16):(64,1)', 'sm90', dtype='bf16', major='K')"
CANDIDATES = "of('smem.debug.candidates').candidates('(64,16):(64,1)', 'bf16')"
TMA = f"of('smem.tma.tma_planner').tma_plan({D})"
COPIED = "of('tmem.copied').tmem_copied((128, 64), 'bf16', '128B', '128x256b')"
ACCUMULATOR = "of('tmem.accumulator').accumulator(128, 8)"
SHIFT = "of('tmem.shift_convolution').shift_convolution(2, 3, 20, 16, 16, (1, 3), (0, 1))"
VIEWS = "of('tmem.shift_views').shift_views((1, 3, 20, 16), (16, 1, 3), stride=(1, 2))"
PTX = "'.version 8.8\\n.target sm_90a\\n.entry k() { wgmma.fence.sync.aligned; ret; }'"
PLAN = "of('gemm.planner').plan('m64n8k16', 'bf16', tile=(64, 8, 16), stages=1)"
CHAIN = (
    "of('gemm.chain_notation').chain(['tma type=bf16 extents=64x64 strides=128 box=64x8 swizzle=128B', "
    "'layout S<2,3,3> o 0 o (8,64):(64,1)'], tile=(8, 64)).verify()"
)
MAP = "of('smem.words.tensor_map').tensor_map('bf16', 8, (64, 8), (128,), (64, 8), swizzle='128B')"
CHECK = "of('smem.tma.map_check')."
SURVEY = "of('sweep.search').survey((64, 64), 'bf16', (64, 16), major='K')"

#: Expressions that make a value, by no more than the modules that they name.
VALUES = (
    *(D, f"{D}.match", f"{D}.match.form", f"{D}.descriptor", f"{D}.descriptor.word", f"{D}.descriptor.word.fields[0]"),
    *(f"{D}.advance_report()", f"{D}.element", f"{CROSSING}.crossing", f"of('smem.derivation.verify').verify({D})"),
    *(f"of('smem.derivation.proved').proved({D})", "of('smem.operands.atoms').canonical_atom('K', '64B')"),
    "of('smem.derivation.symbolic').derive_symbolic(('64*m', '64*k'), 'bf16', 'K', '128B', (64, 16))",
    *(WORD, f"{WORD}.fields[0]", "of('smem.words.bitfield').UnknownCode(5)", DIFF, f"{DIFF}.changes[0]"),
    f"of('smem.claims.claim').claim({D})",
    *(f"{DIFF}.mismatches[0]", f"{DIFF}.picture", f"{CANDIDATES}[0]", f"{CANDIDATES}[0].fit"),
    "of('smem.debug.decode').decode(0x0010000002001000, 'sm90').warnings[0]",
    "of('smem.debug.read').read(0x4000404000010000, 'sm100', dtype='bf16', major='K', shape=(2, 16))",
    "of('smem.instructions.idesc').decode_idesc(0x08200490, 'f16')",
    *("of('smem.instructions.rules').select_rows('sm90', 'b1')", TMA, f"{TMA}.boxes[0]", f"{TMA}.dimensions[0]"),
    *(ACCUMULATOR, "of('tmem.columns').tmem_plan(128, 8, 64)", COPIED, f"{COPIED}.verify()"),
    *("of('tmem.copies').tmem_copy('4x256b')", "of('tmem.copies').widened_copy('128x256b.b8x16.b6x16_p32')"),
    *("of('tmem.moves').tmem_move('16x256b.x2')", "of('tmem.reductions').tmem_reduction('32x32b.x2.max.f32')"),
    *(f"of('tmem.readout').readout({ACCUMULATOR}, '32x32b')", "of('tmem.scale_factors').scale_factors(128, 64, 16)"),
    *("of('tmem.block_scaled').block_scaled(128, 8, 64, 'e4m3')", SHIFT, f"{SHIFT}.verify()"),
    *(VIEWS, f"{VIEWS}.verify()", "of('smem.tma.convolution').convolution((1, 9, 9, 16), (8, 3, 3))"),
    "of('check.event_report').check_events(['alloc d 48', 'dealloc d'])",
    *(f"of('check.inspection').check_ptx({PTX})", f"of('check.story').explain_ptx({PTX})"),
    *(
        f"{PLAN}.chain",
        f"{PLAN}.chain.verify()",
        f"{CHAIN}.legs[0].links[1].first",
        "of('gemm.problem').propose_tiles('bf16', (512, 512, 512), top=1)",
    ),
    *(PLAN, f"{PLAN}.a.tma", f"{PLAN}.verify()", "of('gemm.planner').propose('bf16', tile=(64, 8, 16), arch='sm90')"),
    "of('gemm.planner').plan('m128n16k16', 'bf16', tile=(128, 16, 64), stages=2)",
    "of('gemm.mma_planner').mma_plan('mma.m16n8k16', 'bf16', tile=(64, 64, 32))",
    *(MAP, f"{MAP}.refusals()[0]", f"{CHECK}map_changes({MAP}, {MAP})"),
    f"{CHECK}box_check({MAP}, '(8,64):(64,1)', major='K')",
    f"{CHECK}word_check({MAP}, 0x4000404000010000, major='K')",
    "of('smem.words.tensor_map').Im2colWindow((0,), (-1,), 64, 8)",
    *(SURVEY, f"{SURVEY}.findings[0]", f"{SURVEY}.refusals[0]", "of('sweep.formulas').formulas()[0]"),
    *("of('sweep.lattice').lattice('64:128:64x64')", "of('sweep.atlas').Summary({'proved': 1}, 0, 9, 0.1)"),
)

#: What each value shows, asked in a process that has its engines alone, then in one that has imported everything.
SHOWN = """
import json, os, sys
from importlib import import_module
expressions, every = json.load(sys.stdin)
values = [eval(one, {"of": lambda name: import_module("descriptors." + name)}) for one in expressions]
assert not [name for name in sys.modules if name.endswith("_text") or name.startswith("descriptors.show")]
for before in ((), every):
    for name in before:
        import_module(name)
    for value in values:
        if not os.fork():
            page = value._repr_html_() if hasattr(value, "_repr_html_") else None
            print(json.dumps([f"{type(value).__module__}.{type(value).__name__}", str(value), repr(value), page]))
            sys.stdout.flush()
            os._exit(0)
        os.wait()
"""


@pytest.fixture(scope="module")
def representations() -> dict[str, list[Any]]:
    if not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    every = [name for name in modules() if ".dsl" not in name and not name.endswith("__main__")]
    request = json.dumps([VALUES, every])
    done = run([sys.executable, "-c", SHOWN], input=request, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stderr == ""
    pairs = [json.loads(line) for line in done.stdout.splitlines()]
    return {name: pairs[i :: len(VALUES)] for i, name in enumerate(VALUES)}


def test_a_value_shows_itself_alike_whatever_is_imported(representations: dict[str, list[Any]]) -> None:
    assert [name for name, (alone, among_all) in representations.items() if alone != among_all] == []


def test_every_public_class_of_values_is_looked_at(representations: dict[str, list[Any]]) -> None:
    public = [one for name in dir(descriptors) if isinstance(one := getattr(descriptors, name), type)]
    values = {one for one in public if not issubclass(one, (Enum, Exception, str))}  # a name is a str
    values -= {base for one in values for base in one.__mro__[1:]}  # of which there are no values
    assert {f"{one.__module__}.{one.__name__}" for one in values} <= {
        one[0] for both in representations.values() for one in both
    }
