"""What ``--check`` asks: whether NVIDIA's own compiler, through the CuTe DSL, writes the word that was derived."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from descriptors import oracle
from descriptors.derivation.parts.derivation import Derivation
from descriptors.operands.swizzled import plain
from descriptors.oracle.words import WordRequest, descriptor_words
from descriptors.text import word_text
from layoutalg.cli.console import NotThereError


def check(d: Derivation) -> tuple[str, dict[str, Any]]:
    """The DSL's word of the same tile beside ours: a line for a person, and plain data.

    Both are words of a first subtile at address 0; bits that change nothing may differ.

    Raises:
        NotThereError: if the CuTe DSL is not installed, or breaks.
    """
    if not oracle.available():
        raise NotThereError(f"--check: {oracle.MISSING}")
    asked = WordRequest(d.element.name, str(d.major), str(d.swizzle), str(plain(d.smem_tile)), d.mma, d.arch)
    if d.crossing is not None:
        column = (d.mma[0], d.element.per_16_bytes)
        asked = replace(asked, mma=column, arch="sm103", columns=(0, 0))
    try:
        (answer,) = descriptor_words([asked])
    except oracle.OracleError as error:
        raise NotThereError(f"--check: {error}") from error
    ours = d.descriptor.at(0).encode()
    agrees = answer.word is not None and not (answer.word ^ ours) & ~d.dont_care_mask()
    theirs = None if answer.word is None else word_text(answer.word)
    told = {"agrees": agrees, "status": answer.status, "word": theirs, "ours": word_text(ours), "text": answer.text}
    return _line(told, differ=answer.word != ours), told


def _line(told: dict[str, Any], *, differ: bool) -> str:
    by = f"CuTe DSL {oracle.version()}"
    if told["word"] is None:
        return f"{by}: no word to compare with, {told['status']}: {' '.join(str(told['text']).split())}"
    if not told["agrees"]:
        return f"{by}: different, it writes {told['word']} where {told['ours']} is derived"
    return f"{by}: the same word{', but for bits that change nothing: ' + told['word'] if differ else ''}"
