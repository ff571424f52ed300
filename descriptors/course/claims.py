"""Claims of a published text beside what the algebra derives, and the report that a script prints."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from descriptors.derivation.derivation import Derivation
from descriptors.derivation.derive import derive
from descriptors.operands.swizzled import plain
from descriptors.output.derivation import tell
from descriptors.text import word_text
from layoutalg import Layout


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the article.

    Args:
        section: where it stands.
        statement: what it is about.
        expected: the value as the article gives it.
        derived: the value out of the algebra.
    """

    section: str
    statement: str
    expected: Any
    derived: Any

    @property
    def holds(self) -> bool:
        """Whether both values agree; layouts by their notation."""
        return bool(self.expected == (str(self.derived) if isinstance(self.derived, Layout) else self.derived))

    def __str__(self) -> str:
        verdict = f"{self.expected}" if self.holds else f"{self.expected}, DERIVED {self.derived}"
        return f"{'ok   ' if self.holds else 'WRONG'} {self.section:<6} {self.statement}: {verdict}"


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: the arguments of its derivation, its claims, and the word that CuTe's compiler makes of it."""

    title: str
    arguments: dict[str, Any]
    claims: Callable[[Derivation], Iterator[Claim]]
    word: int

    def derive(self) -> Derivation:
        """Run the five steps.

        >>> from descriptors.course.article import SW128_KMAJOR
        >>> print(SW128_KMAJOR.derive().canonical)
        ((8,8),(1,2)):((8,64),(0,1))
        """
        return derive(**self.arguments)


def oracle_claims(example: Example) -> Iterator[Claim]:
    """The same derivation by NVIDIA's own code: layout by layout, then the word in the PTX of its compiler.

    Raises:
        OracleError: if the CuTe DSL is not installed, or broke as a tool.
    """
    from descriptors.oracle.algebra import Case, evaluate
    from descriptors.oracle.words import WordRequest, descriptor_words

    d = example.derive()
    form, bits = d.match.form, d.element.storage_bits
    steps = [
        ("tile_to_shape", Case("tile_to_shape", (str(d.atom), d.tile, d.order)), d.smem_tile),
        ("zipped_divide", Case("zipped_divide", (str(d.smem_tile), d.mma)), d.partitioned),
        ("recast_layout", Case("recast_layout", (128, bits, str(d.partitioned))), d.recast),
        ("logical_divide", Case("logical_divide", (str(plain(d.recast)[0]), form.chunk)), d.canonical),
    ]
    answers = evaluate(case for _, case, _ in steps)
    for (name, _, ours), answer in zip(steps, answers, strict=True):
        yield Claim("CuTe", name, answer.text, str(ours))
    request = WordRequest(d.element.name, str(d.major), str(d.swizzle), str(plain(d.smem_tile)), d.mma, d.arch)
    (compiled,) = descriptor_words([request])
    found = compiled.text if compiled.word is None else word_text(compiled.word)
    yield Claim("PTX", "descriptor word in the compiled PTX", found, word_text(d.descriptor.encode()))
    yield Claim("PTX", "and it is the known word", word_text(example.word), found)


def main(example: Example, arguments: Sequence[str] | None = None) -> int:
    """Print an example's derivation and check every number of it.

    Args:
        example: which one.
        arguments: command line: nothing, or ``--check`` to ask the CuTe DSL as well.

    Returns:
        exit status: 0 if everything holds, 1 if a number is wrong, 2 for another argument, 3 without a CuTe DSL.
    """
    from descriptors.oracle import OracleError, available

    given = list(sys.argv[1:] if arguments is None else arguments)
    if given not in ([], ["--check"]):
        print(f"the only argument is --check (compare with the CuTe DSL too), found {given[0]!r}", file=sys.stderr)
        return 2
    if given and not available():
        print("--check: the CuTe DSL is not installed; pip install 'layoutalg[oracle]' adds it", file=sys.stderr)
        return 3
    derivation = example.derive()
    print(example.title, tell(derivation), "Every number of the article:", sep="\n\n")
    claims = [*example.claims(derivation)]
    claims.append(Claim("word", "descriptor word", word_text(example.word), word_text(derivation.descriptor.encode())))
    failed = _report(claims)
    if given:
        print("\nThe same by the CuTe DSL:")
        try:
            failed += _report(list(oracle_claims(example)))
        except OracleError as error:
            print(f"--check: {error}", file=sys.stderr)
            return 3
    return 1 if failed else 0


def _report(claims: Sequence[Claim]) -> int:
    for claim in claims:
        print(claim)
    failed = sum(not claim.holds for claim in claims)
    print(f"{len(claims) - failed} of {len(claims)} hold")
    return failed
