"""The kernels that the checker is tried on, and mutants of them: each with one thing wrong, and the rules that say so.

The kernels are what compilers made of the project's own sources (``scripts/make_kernels.py``), the rings that are
written here, and what a plan emits. A mutant is one with one thing changed, of a kind of ``kernel_kinds``.
"""

from __future__ import annotations

import json
import lzma
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from kernel_changes import statements
from kernel_kinds import Kind
from places import ROOT, VECTORS
from ring_kernels import ring_sm90, ring_sm100, stored_sm90

from descriptors import DescriptorError, check_ptx, plan
from descriptors.check.kernel_report import Report
from descriptors.gemm.programs.emit_plan import emit_plan

RECORD = VECTORS / "kernels.json.xz"

#: Kernels of compilers that mutants are made of: small ones, of every style that the record has.
RECORDED = (
    "attention_64x64x64_sm100", "attention_64x64x64_sm90",
    "dsl_f16_BFloat16_128x256_MN_cta1_sm100", "dsl_f16_BFloat16_256x128_K_cta2_sm100",
    "dsl_f16_Float16_64x64_K_cta1_sm100",
    "dsl_i8_Int8_128x128_K_cta1_sm100",
    "dsl_tf32_TFloat32_128x64_K_cta1_sm100", "gathered_f16_64x64x64_sm90", "gathered_f8_64x64x64_sm100",
    "product_bf16_128x64x32_nn_sm100", "product_bf16_128x64x32_nn_sm90", "product_bf16_64x64x64_nt_sm100",
    "product_bf16_64x64x64_nt_sm90",
    "product_f32_128x128x32_nt_sm90", "product_f8e5_128x64x64_nt_sm100",
    "product_f8e5_128x64x64_nt_sm90", "scaled_e2m1_64_sm100",
)  # fmt: skip
#: Plans of which kernels are emitted: those of ``--emit ptx``, and those of ``--emit cuda``, which nvcc compiles.
_PLANS: dict[str, dict[str, Any]] = {
    "sm90": {"instruction": "m64n64k16", "dtype": "bf16", "tile": (64, 64, 64)},
    "sm90_MN": {
        "instruction": "m64n64k16", "dtype": "bf16", "tile": (64, 128, 64), "b_major": "MN", "a_source": "registers",
    },
    "sm100": {"instruction": "m128n64k16", "dtype": "bf16", "tile": (128, 64, 64)},
    "sm100_nvf4": {
        "instruction": "m128n128k64", "dtype": "e2m1", "tile": (128, 128, 256), "kind": "mxf4nvf4", "scale_vector": 16,
    },
}  # fmt: skip


@cache
def record() -> dict[str, Any]:
    """What the script wrote: tools, and the PTX of every kernel by name."""
    found: dict[str, Any] = json.loads(lzma.decompress(RECORD.read_bytes()))
    return found


def kernels() -> dict[str, str]:
    """The PTX of every kernel of the record."""
    held: dict[str, str] = record()["kernels"]
    return held


def emitted(name: str, form: str) -> str:
    """The kernel of a plan, as PTX or CUDA."""
    return emit_plan(plan(**_PLANS[name], stages=2, verify=False), form)


@cache
def tried() -> dict[str, str]:
    """The right kernels that mutants are made of, one statement a line."""
    texts = {
        **{f"ring_sm90_K_{stages}": ring_sm90(stages) for stages in (2, 3)},
        "ring_sm90_MN_3": ring_sm90(3, major="MN"),
        "ring_sm90_registers_3": ring_sm90(3, a="registers"),
        **{f"ring_sm100_{stages}": ring_sm100(stages) for stages in (2, 3)},
        "ring_stored_sm90": stored_sm90(),
        "docs_pipeline": (ROOT / "docs" / "kernels" / "pipeline.ptx").read_text(encoding="utf-8"),
        **{f"emitted_inner_{name}": emitted(name, "ptx") for name in _PLANS},
        **{name: kernels()[name] for name in RECORDED},
    }
    return {name: statements(text) for name, text in texts.items()}


@dataclass(frozen=True)
class Mutant:
    """A kernel with one thing wrong.

    Attributes:
        property: what it breaks.
        kind: what was done to it.
        kernel: the name of the kernel.
        text: the PTX.
    """

    property: str
    kind: Kind
    kernel: str
    text: str


def mutants(name: str, text: str, property_: str, kind: Kind, most: int, seed: int = 1) -> Iterator[Mutant]:
    """At most so many mutants of a kind, drawn from all of a kernel."""
    if not re.search(kind.kernels, name):
        return
    lines = text.split("\n")
    draw = random.Random(f"{seed} {name} {kind.name}")
    places = [i for i, line in enumerate(lines) if re.search(kind.where, line)]
    made = 0
    for place in draw.sample(places, len(places)):
        changed = list(kind.change(lines, place))
        if changed and made < most:
            made += 1
            yield Mutant(property_, kind, name, "\n".join(draw.choice(changed)))


#: What is said of a mutant, best first.
OUTCOMES = ("its rule", "another", "not decided", "clean")


def outcome(mutant: Mutant, before: Report) -> str:
    """What a check says of a mutant, beside what it says of the right kernel: one of ``OUTCOMES``."""
    try:
        report = check_ptx(mutant.text)
    except DescriptorError:
        return "another"
    except Exception as error:  # noqa: BLE001 - what breaks the checker is an outcome, and the worst
        return f"broke: {type(error).__name__}"
    told = Counter(one.rule.name for one in report.findings) - Counter(one.rule.name for one in before.findings)
    if any(rule in told for rule in mutant.kind.rules):
        return "its rule"
    if told:
        return "another"
    verdict = next(one.verdict for one in report.properties if one.property == mutant.property)
    return "not decided" if verdict == "incomplete" else "clean"
