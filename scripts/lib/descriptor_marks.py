"""Ask Coq, with a certificate, and the CuTe DSL, with its descriptor, to confirm the rows of the descriptor suite."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from coq import compile_proofs, run_coq

from descriptors import Derivation, oracle
from descriptors.oracle.words import WordRequest, descriptor_words
from descriptors.smem.claims.certificate import certificate
from descriptors.smem.operands.swizzled import plain
from layoutalg.frozen import replace

#: The architectures of the DSL's words.
_DSL = ("sm90", "sm100", "sm103")
_BATCH = 100


def coq_marks(rows: list[tuple[Derivation, int]]) -> list[bool]:
    """Return if Coq accepts the certificate of each tile at its address."""
    compile_proofs()
    marks = list[bool]()
    with TemporaryDirectory() as folder:
        for first in range(0, len(rows), _BATCH):
            part = rows[first : first + _BATCH]
            marks += (
                [True] * len(part)
                if _accepted(part, Path(folder))
                else [_accepted([row], Path(folder)) for row in part]
            )
    return marks


def _accepted(rows: list[tuple[Derivation, int]], folder: Path) -> bool:
    """Compile the certificates as modules of one file."""
    texts = [certificate(d, base).partition("Open Scope Z_scope.\n") for d, base in rows]
    modules = [
        f"Module C{i}.\n{body.partition('Print Assumptions')[0]}End C{i}.\n" for i, (_, _, body) in enumerate(texts)
    ]
    path = folder / "Certificates.v"
    path.write_text("".join([*texts[0][:2], *modules]), encoding="utf-8")
    return run_coq(path).returncode == 0


def dsl_marks(rows: list[Derivation]) -> list[str]:
    """Return what the CuTe DSL answers for each tile at address 0: ``same``, ``other``, ``refused`` or ``unasked``."""
    supported = [d for d in rows if d.arch in _DSL]
    answers = iter(descriptor_words([_question(d) for d in supported]))
    marks = list[str]()
    for d in rows:
        if d.arch not in _DSL:
            marks.append("unasked")
            continue
        word = next(answers).word
        same = word is not None and not (word ^ d.descriptor.encode()) & ~d.dont_care_mask()
        marks.append("same" if same else "refused" if word is None else "other")
    return marks


def _question(d: Derivation) -> WordRequest:
    """Return the question for the first operand of a tile."""
    question = WordRequest(d.element.name, str(d.major), str(d.swizzle), str(plain(d.smem_tile)), d.mma, d.arch)
    if d.crossing is None:
        return question
    return replace(question, mma=(d.mma[0], d.element.per_16_bytes), arch="sm103", columns=(0, 0))


def versions() -> dict[str, str]:
    """Return the versions of both tools."""
    coq = subprocess.run(["coqc", "--print-version"], capture_output=True, text=True, check=True).stdout.split()[0]
    return {"coq": f"Coq {coq}", "dsl": f"CuTe DSL {oracle.version()}"}
